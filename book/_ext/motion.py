"""The figures of the page "Mechanisms in motion": no model, only a mechanism that the reader sets
going.

Each function gives what its script in book/live must know, and an example in words that the library
makes while the site is built: what stands there without scripts, and on paper.
"""

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
import torch
import torch.nn.functional as F
from live_models import VOCABULARY, address, part_of_pieces
from mixing import mixing
from scipy import stats

from lectures_lib import data
from lectures_lib.analysis import perturbed_masking
from lectures_lib.blocks.attention import scaled_dot_product_attention
from lectures_lib.blocks.layers import Residual
from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert
from lectures_lib.tasks.sentence_bert import cosines, in_batch_negatives
from lectures_lib.tokenization import WordPiece
from lectures_lib.training.pretraining import MaskingRates, mask_tokens

# Two directions in the plane of the vectors of three numbers whose mean is 0: LayerNorm leaves it
# nowhere, and changes nothing but lengths in it.
PLANE = torch.tensor([[1.0, -1.0, 0.0], [1.0, 1.0, -2.0]]) / torch.tensor([[2.0], [6.0]]).sqrt()
NAMES = ["the", "dog", "barks", "loudly"]
ANGLES = [20, 100, 190, 320]  # degrees, where their vectors point first
DRAWS, DRAW = 6, 4  # of random weights, and the one that is shown first
COLOURS = (  # beside those of every figure
    *("query", "key", "value", "mask", "encoder", "right"),
    *("series_1", "series_2", "series_4"),
)
PAIRS = [
    ("A man plays the guitar.", "Someone makes music."),
    ("Shares fell on Monday.", "The market lost value."),
    ("A dog runs in the snow.", "An animal plays in winter."),
    ("She is cooking soup.", "Dinner is being made."),
]
STARTS = [[15, 100, 200, 290], [130, 60, 320, 165]]  # degrees of the u and of the v
FIRST_WORD = 999  # of BERT's pieces; the ids below are special tokens and places left free
HIDDEN = "The cat sat on the mat because it was warm, and the dog slept by the door."
GATES = [0.5, 0.9, 0.99]
SENTENCES, LINKED = 6, range(6, 10)  # of the treebank, of so many words each
CHANCES = 300  # random tables, whose trees are counted
ACCURACIES, EXAMINED = (0.86, 0.84), [46, 80, 200, 872, 5000]
WRITTEN = ["<s>", "sieben", "und", "zwanzig", ",", "sechs", "hundert", "achtzig"]


@cache
def gate() -> tuple[dict, str]:
    """The figure with three gates; what is left after some words."""
    options = {"title": "What a gate keeps", "gates": GATES, "words": 6, "most": 100}
    said = [
        f"gate {z:4}: {z**6:.2f} after 6 words, half after {math.log(0.5) / math.log(z):.1f}"
        for z in GATES
    ]
    return options, "\n".join(["A number of the state is 1, all candidates are 0.", *said])


@cache
def filling() -> tuple[dict, str]:
    """The figure with a cache that fills; the counts after the last word."""
    n = len(WRITTEN)
    options = {"title": "A cache that fills", "words": WRITTEN}
    said = (
        f"{' '.join(WRITTEN)}: {n} steps.\nKeys (and as many values) computed in one "
        f"self-attention without a cache: {' + '.join(map(str, range(1, n + 1)))} = "
        f"{n * (n + 1) // 2}.\nWith a cache: {' + '.join(['1'] * n)} = {n}."
    )
    return options, said


def sublayers(seed: int, n_blocks: int = 4, d_ff: int = 6) -> list[dict]:
    """Numbers for sublayers that work in the plane, by turns: the W_V of an attention whose queries
    and keys are the vectors themselves, and a feed-forward layer. To three digits.
    """
    generator = torch.Generator().manual_seed(seed)
    made = []
    for block in range(1, n_blocks + 1):
        angle = 0.2 + 0.5 * float(torch.rand((), generator=generator))
        W_V = torch.tensor(
            [[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]
        )
        made.append({"name": f"attention {block}", "W_V": W_V})
        shapes = {"W_1": (d_ff, 2), "b_1": (d_ff,), "W_2": (2, d_ff)}
        drawn = {name: torch.randn(s, generator=generator) / 2 for name, s in shapes.items()}
        made.append({"name": f"feed-forward {block}", **drawn})
    return [
        {
            k: v if isinstance(v, str) else v.double().round(decimals=3).tolist()
            for k, v in m.items()
        }
        for m in made
    ]


def words() -> list[list[float]]:
    """The words' vectors in the plane, of the length that LayerNorm gives."""
    angles = [math.radians(angle) for angle in ANGLES]
    return [
        [round(3**0.5 * math.cos(angle), 3), round(3**0.5 * math.sin(angle), 3)] for angle in angles
    ]


@torch.no_grad()
def travel(
    vectors: Sequence[Sequence[float]],
    layers: Sequence[dict],
    pre_norm: bool = False,
    residual: bool = True,
    scale: float = 1.0,
) -> list[torch.Tensor]:
    """The words' vectors (n, 2) in the plane before the first sublayer and behind each, by the
    library's attention and `Residual`.
    """
    around = Residual(3, pre_norm=pre_norm).double()
    plane = PLANE.double()
    x = torch.tensor(vectors, dtype=torch.float64) @ plane
    states = [x @ plane.T]
    for layer in layers:
        weights = {k: torch.tensor(v, dtype=torch.float64) for k, v in layer.items() if k != "name"}

        def says(x, weights=weights):
            flat = x @ plane.T
            if "W_V" in weights:
                return scale * scaled_dot_product_attention(x, x, flat @ weights["W_V"].T @ plane)
            inner = torch.relu(flat @ weights["W_1"].T + weights["b_1"])
            return scale * inner @ weights["W_2"].T @ plane

        if residual:
            x = around(x[None], says)[0]
        else:
            x = says(around.norm(x)) if pre_norm else around.norm(says(x))
        states.append(x @ plane.T)
    return states


def alike(x: torch.Tensor) -> float:
    """The mean cosine of every two rows of x."""
    table = F.cosine_similarity(x[:, None], x[None], dim=-1)
    return float(table[torch.ones_like(table).triu(1).bool()].mean())


@cache
def stream() -> tuple[dict, str]:
    """The figure with the residual stream; how alike the words are at the end."""
    draws, said = [sublayers(seed) for seed in range(DRAWS)], {}
    for name, settings in {
        "as in the paper (post-norm)": {},
        "pre-norm": {"pre_norm": True},
        "post-norm, without the plus signs": {"residual": False},
    }.items():
        end = travel(words(), draws[DRAW], **settings)[-1]
        said[name] = f"lengths {', '.join(f'{v:.2f}' for v in end.norm(dim=-1))}; "
        said[name] += f"mean cosine of every two {alike(end):.2f}"
    options = {
        "title": "A vector on its way through the layers",
        "names": NAMES,
        "words": words(),
        "draws": draws,
        "draw": DRAW,
    }
    head = f"“{' '.join(NAMES)}”, behind {len(draws[DRAW])} sublayers that are not trained:"
    return options, "\n".join([head, *(f"{name}: {text}" for name, text in said.items())])


@cache
def smoothing() -> tuple[dict, str]:
    """The figure with the loss over the probability of the right token; its numbers at three."""
    vocab, epsilon = 5, 0.1
    lines = []
    for right in (0.5, 0.92, 0.999):
        scores = torch.tensor([right, *[(1 - right) / (vocab - 1)] * (vocab - 1)]).log()
        losses = [F.cross_entropy(scores, torch.tensor(0), label_smoothing=e) for e in (0, epsilon)]
        lines.append(f"{right:<5g}  {losses[0]:.3f}  {losses[1]:.3f}")
    options = {
        "title": "Loss and label smoothing",
        "vocabularies": [3, 5, 10, 1000],
        "vocabulary": vocab,
        "smoothing": epsilon,
        "right": 0.7,
    }
    head = f"{vocab} tokens; probability of the right one, loss with ε = 0 and with ε = {epsilon}"
    return options, "\n".join([head, *lines])


def thrown(shape: torch.Size, words: range, generator: torch.Generator) -> dict[str, torch.Tensor]:
    """The dice that `mask_tokens` throws with this generator, by their names in book/live/dice.js."""
    return {
        "choice": torch.rand(shape, generator=generator),
        "fate": torch.rand(shape, generator=generator),
        "others": torch.randint(words.start, words.stop, shape, generator=generator),
    }


@cache
def dice() -> tuple[dict, str]:
    """The figure that throws dice for BERT's holes; one throw, and the shares of many."""
    pieces = WordPiece.load(VOCABULARY)
    tokens = torch.tensor([pieces.pair(HIDDEN).ids])
    ends = torch.tensor([pieces.token_id(name) for name in ("[CLS]", "[SEP]")])
    words, mask = range(FIRST_WORD, len(pieces)), pieces.token_id("[MASK]")
    generator = torch.Generator().manual_seed(0)
    many = tokens.expand(2000, -1)
    read = mask_tokens(many, torch.isin(many, ends), mask, words, generator=generator)
    n = read.chosen.sum()
    hidden, kept = read.tokens == mask, read.chosen & (read.tokens == many)
    # a throw that chooses three words, and each of the three things happens to one
    word = torch.tensor([name.isalpha() for name in pieces.known_tokens(tokens[0].tolist())])
    three = (read.chosen.sum(dim=1) == 3) & ((read.chosen & word).sum(dim=1) == 3)
    first = int((three & (hidden.sum(dim=1) == 1) & (kept.sum(dim=1) == 1)).nonzero()[0])
    dice = thrown(many.shape, words, generator.manual_seed(0))
    shown = zip(
        pieces.known_tokens(tokens[0].tolist()),
        pieces.known_tokens(read.tokens[first].tolist()),
        read.chosen[first].tolist(),
        strict=True,
    )
    said = " ".join(f"{now} (was {was})" if chosen else was for was, now, chosen in shown)
    options = {
        "title": "80/10/10: throw the dice",
        "sentence": HIDDEN,
        "vocabulary": address(VOCABULARY),
        "bytes": VOCABULARY.stat().st_size,
        "words": [words.start, words.stop],
        "rates": vars(MaskingRates()),
        "shows": [
            {
                "pieces": part_of_pieces(pieces, HIDDEN, *read.tokens[first].tolist()),
                "dice": {name: one[first].tolist() for name, one in dice.items()},
            }
        ],
    }
    shares = (
        f"chosen {n / (many.numel() - 2 * len(many)):.1%}; of these [MASK] {hidden.sum() / n:.1%}"
    )
    return options, f"{said}\n\n2,000 throws: {shares}, as it was {kept.sum() / n:.1%}".replace(
        "%", " %"
    )


@torch.enable_grad()
def pulled(
    degrees: Sequence[Sequence[float]], temperature: float, rate: float, steps: int
) -> list[tuple[torch.Tensor, float]]:
    """Gradient descent on the angles of points on a circle, by the library's in-batch negatives:
    before each step and at the end, the angles (2, n) of the u and the v in radians, and the loss.
    """
    angles = torch.tensor(degrees, dtype=torch.float64).deg2rad()
    found = []
    for _ in range(steps + 1):
        angles = angles.detach().requires_grad_()
        u, v = torch.stack([angles.cos(), angles.sin()], dim=-1)
        loss = in_batch_negatives(u, v, scale=1 / temperature)
        (slope,) = torch.autograd.grad(loss, angles)
        found.append((angles.detach(), loss.item()))
        angles = angles - rate * slope
    return found


def table(angles: torch.Tensor) -> torch.Tensor:
    """The cosine of each u with each v (n, n)."""
    return cosines(*torch.stack([angles.cos(), angles.sin()], dim=-1))


@cache
def pulling() -> tuple[dict, str]:
    """The figure with sentences on a circle; the loss and the cosines of partners on the way."""
    options = {
        "title": "Pulled together, pushed apart",
        "pairs": PAIRS,
        "angles": STARTS,
        "temperature": 0.2,
        "rate": 0.05,
    }
    way = pulled(STARTS, options["temperature"], options["rate"], 100)
    lines = [
        f"{n:3} steps: loss {loss:.3f}, cosines of partners "
        f"{', '.join(f'{cosine:.2f}' for cosine in table(angles).diag())}"
        for n, (angles, loss) in enumerate(way)
        if n in (0, 10, 30, 100)
    ]
    return options, "\n".join(lines)


def leads(n: int, first: float, second: float, differ: float) -> tuple[float, float, float]:
    """Two systems that are right on such shares of all sentences and differ on the share `differ`:
    in what share of all test sets of n sentences the first is ahead, level and behind.
    """
    only_first = (differ + first - second) / 2
    apart = np.arange(n + 1)[:, None]  # on how many sentences they differ
    wins = np.arange(n + 1)[None]
    likely = stats.binom.pmf(apart, n, differ) * stats.binom.pmf(wins, apart, only_first / differ)
    ahead, level, behind = (likely[np.sign(2 * wins - apart) == sign].sum() for sign in (1, 0, -1))
    return float(ahead), float(level), float(behind)


@cache
def examining() -> tuple[dict, str]:
    """The figure with two systems and one test; how often the better one is ahead."""
    first, second = ACCURACIES
    differ = round(first * (1 - second) + second * (1 - first), 2)  # if they share no difficulty
    options = {
        "title": "Two systems, one test",
        "first": first,
        "second": second,
        "differ": differ,
        "sizes": EXAMINED,
        "size": 80,
    }
    said = [
        f"Right on {first} and {second} of all sentences; they differ on {differ:.0%} of these."
    ]
    for n in EXAMINED[:-1]:
        ahead, level, behind = leads(n, first, second, differ)
        said.append(f"{n:4} sentences: ahead {ahead:.0%}, level {level:.0%}, behind {behind:.0%}")
    return options, "\n".join(said).replace("%", " %")


@cache
def linking() -> tuple[dict, str]:
    """The figure with trees of a table; how many of each tree's links are the treebank's. The first
    short sentences of the treebank's test split, and MiniLM's impacts of their words (chapter 16c).
    """
    model, pieces = Bert.from_pretrained(minilm.checkpoint()), WordPiece.load(VOCABULARY)
    generator = torch.Generator().manual_seed(0)
    sentences, said = [], []
    for sentence in data.load("treebank", "test"):
        kept = perturbed_masking.not_punctuation(sentence["upos"])
        if len(sentences) == SENTENCES or len(kept) not in LINKED:
            continue
        impact = perturbed_masking.impact_matrix(model, pieces, sentence["words"])[kept][:, kept]
        gold = perturbed_masking.gold_edges(sentence["heads"], kept)
        draws = [perturbed_masking.random_scores(len(kept), generator) for _ in range(CHANCES)]
        by_chance = sum(len(perturbed_masking.eisner(d) & gold) for d in draws) / CHANCES
        words = [sentence["words"][i] for i in kept]
        table = (impact + impact.T).double().round(decimals=2)
        sentences.append(
            {
                "words": words,
                "gold": sorted(gold),
                "impacts": table.tolist(),
                "by_chance": round(by_chance, 2),
            }
        )
        found = perturbed_masking.eisner(table / 2) & gold
        chain = perturbed_masking.chain(len(words)) & gold
        said.append(
            f"{' '.join(words)}: {len(gold)} links; the table's tree has {len(found)}, the "
            f"chain {len(chain)}, random numbers {by_chance:.1f} on average"
        )
    return {"title": "A tree out of a table", "sentences": sentences}, "\n".join(said)


# As in type_your_own.py: in the order of the page, and the address of each figure's section there.
FIGURES = {
    "gate": gate,
    "stream": stream,
    "smoothing": smoothing,
    "filling": filling,
    "dice": dice,
    "examining": examining,
    "mixing": mixing,
    "linking": linking,
    "pulling": pulling,
}
SECTIONS = {
    "what-a-gate-keeps": "gate",
    "a-vector-on-its-way": "stream",
    "too-sure": "smoothing",
    "a-cache-that-fills": "filling",
    "throw-the-dice": "dice",
    "two-systems-one-test": "examining",
    "mix-the-layers": "mixing",
    "a-tree-out-of-a-table": "linking",
    "together-and-apart": "pulling",
}
PAGE = "book/motion"
