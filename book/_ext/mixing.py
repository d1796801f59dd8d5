"""The figure that mixes MiniLM's hidden states with weights of the reader's, and says how many nearest
neighbours of ambiguous words have the right meaning (chapter 15b).
"""

from collections.abc import Sequence
from functools import cache

import torch
import torch.nn.functional as F
from live_models import MADE, VOCABULARY, model

from lectures_lib import data
from lectures_lib.analysis import features
from lectures_lib.analysis.probing import Probed, fit_probe
from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert
from lectures_lib.tasks.word_level import cut_words
from lectures_lib.tokenization import WordPiece

EVEN = 1e-6  # cosines that differ by less are equal, as in the library
FULL = 40  # the largest weight that a state can be given


@cache
def occurrences() -> tuple[list[dict], torch.Tensor]:
    """The four words of the set `senses`, their occurrences by meaning; and MiniLM's vectors of
    each, (words, states, occurrences, 384).
    """
    bert, pieces = Bert.from_pretrained(minilm.checkpoint()), WordPiece.load(VOCABULARY)
    rows = [e for split in ("train", "validation", "test") for e in data.load("senses", split)]
    rows.sort(key=lambda e: (e["word"], e["sense"]))  # in one meaning they stay in their order
    cuts = [features.cut_text(pieces, e["text"], e["word"], e["index"]) for e in rows]
    vectors = torch.stack([one[:, 0] for one in features.word_vectors(bert, cuts)]).double()
    words, states = [], []
    for word in sorted({e["word"] for e in rows}):
        own = [i for i, e in enumerate(rows) if e["word"] == word]
        senses = sorted({rows[i]["sense"] for i in own})
        found = [
            {
                "text": rows[i]["text"],
                "index": rows[i]["index"],
                "sense": senses.index(rows[i]["sense"]),
                "place": cuts[i].places[0][0],
            }
            for i in own
        ]
        words.append({"word": word, "senses": senses, "found": found})
        states.append(vectors[own].transpose(0, 1))
    return words, torch.stack(states)


def mixed(states: torch.Tensor, weights: Sequence[float], unit: bool = False) -> torch.Tensor:
    """The vectors of a word's occurrences: the states' (states, n, d) with these weights; `unit`:
    each one first scaled to length 1.
    """
    states = F.normalize(states, dim=-1) if unit else states
    return torch.einsum("s,snd->nd", torch.tensor(weights, dtype=states.dtype), states)


def neighbours(word: dict, vectors: torch.Tensor) -> list[dict]:
    """Of each occurrence: which others are the nearest ("near"; several if they are equally near),
    and its largest cosine with one of its own meaning and of the other. An occurrence at the same
    place of its sentence is no neighbour (chapter 15).
    """
    places, senses = (
        torch.tensor([one[key] for one in word["found"]]) for key in ("place", "sense")
    )
    table = features.cosines_among(vectors)
    table = table.masked_fill(places[:, None] == places, -2)
    own = senses[:, None] == senses
    nearest = table >= table.amax(dim=1, keepdim=True) - EVEN
    return [
        {
            "near": nearest[i].nonzero().flatten().tolist(),
            "own": table[i, own[i]].max().item(),
            "other": table[i, ~own[i]].max().item(),
        }
        for i in range(len(table))
    ]


def right(word: dict, found: Sequence[dict]) -> float:
    """How many occurrences find their own meaning; where several are equally near, the share."""
    senses = [one["sense"] for one in word["found"]]
    return sum(
        sum(senses[j] == sense for j in one["near"]) / len(one["near"])
        for sense, one in zip(senses, found, strict=True)
    )


def products(states: torch.Tensor) -> bytes:
    """The inner products of all vectors of a word, in all states, word by word: the lower half of
    each table, its rows ordered by state, then by occurrence; in single precision.
    """
    tables = []
    for one in states:
        rows = one.flatten(0, 1)
        table = rows @ rows.T
        tables.append(table[tuple(torch.tril_indices(*table.shape))])
    return torch.cat(tables).numpy().astype("<f4").tobytes()


def shares_for_names() -> list[float]:
    """How much of each state is in the mix that chapter 15b trains to tag names."""
    bert, pieces = Bert.from_pretrained(minilm.checkpoint()), WordPiece.load(VOCABULARY)
    rows = data.load("entities", "train")
    seen = features.word_vectors(bert, [cut_words(pieces, e["words"]) for e in rows])
    labels = [label for e in rows for label in e["labels"]]
    names = sorted(set(labels))
    y = torch.tensor([names.index(label) for label in labels])
    return fit_probe(Probed(torch.cat(seen, dim=1), y), len(names)).mix.shares.tolist()


@cache
def mixing() -> tuple[dict, str]:
    """The figure with a mix of MiniLM's states; how many neighbours are right in some mixes."""
    words, states = occurrences()
    file = MADE / "senses.products"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(products(states))
    n, by_tagger = states.shape[1], shares_for_names()
    alike, alone = [FULL] * n, torch.eye(n).mul(FULL).int().tolist()
    presets = {
        "All alike": alike,
        "The last four": [0] * (n - 4) + [FULL] * 4,
        "As trained for names": [round(FULL * share / max(by_tagger)) for share in by_tagger],
    }
    found = [neighbours(word, mixed(one, alike)) for word, one in zip(words, states, strict=True)]
    options = {
        "title": "Mix the layers yourself",
        "words": words,
        "word": "light",
        "full": FULL,
        "presets": presets,
        "first": [
            [{k: v if k == "near" else round(v, 4) for k, v in row.items()} for row in rows]
            for rows in found
        ],
        "models": [model("products", file)],
    }
    lines = [
        f"{'right neighbours':22}" + "".join(f"{one['word']:>8}" for one in words) + "     all"
    ]
    lines[0] = lines[0].rstrip()
    for name, weights in {
        **{f"only state {i}": one for i, one in enumerate(alone)},
        **{name.lower(): one for name, one in presets.items()},
    }.items():
        counts = [
            right(word, neighbours(word, mixed(one, weights)))
            for word, one in zip(words, states, strict=True)
        ]
        lines.append(f"{name:22}" + "".join(f"{x:8.0f}" for x in (*counts, sum(counts))))
    return options, "\n".join(lines)
