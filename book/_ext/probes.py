"""The figure that reads a sentence by probes: chapter 16b's, one for the tags and one for labels drawn
at random, on each hidden state of MiniLM as a page fetches it, in 8 bits.

They are trained while the site is built, on the book's own sentences (`treebank`: book/datasheet.md,
CC BY 4.0), and asked about those of the test split.
"""

import json
from functools import cache
from typing import NamedTuple

import torch
from live_models import MADE, VOCABULARY, model, sentences
from safetensors.torch import save_file
from torch import Tensor

from lectures_lib import data, stored
from lectures_lib.analysis.probing import (
    Probe,
    Probed,
    control_labels,
    fit_probe,
    label_ids,
    probe_accuracy,
)
from lectures_lib.files import written_whole
from lectures_lib.models.bert import Bert, BertConfig
from lectures_lib.tasks.word_level import word_states
from lectures_lib.tokenization import WordPiece

EXAMPLES = [
    ["We watch the birds.", "Her watch is broken."],
    ["I know that she left.", "That bird sings."],
    ["They light candles.", "Turn on the light."],
    ["I saw him with a saw."],
    ["The old man the boats."],
]


class Asked(NamedTuple):
    """The words of some sentences.

    Args:
        words: as they are written.  tags: of each its part of speech.
        states: their vectors, (states, words, d_model).
    """

    words: list[str]
    tags: list[str]
    states: Tensor


def asked(body: Bert, tokenizer: WordPiece, *splits: str) -> Asked:
    """The words of these splits."""
    found = [sentence for split in splits for sentence in data.load("treebank", split)]
    words = [sentence["words"] for sentence in found]
    return Asked(
        [word for some in words for word in some],
        [tag for sentence in found for tag in sentence["upos"]],
        torch.cat(word_states(body, tokenizer, words), dim=1),
    )


def folded(probe: Probe) -> tuple[Tensor, Tensor]:
    """The probe of one state as one matrix, (classes, d_model), and one bias, in half precision:
    centre, scale and γ are in them.
    """
    weight = (probe.mix.gamma * probe.classify.weight / probe.scale[0]).detach().half()
    bias = probe.classify.bias.detach() - weight.float() @ probe.centre[0, 0]
    return weight.contiguous(), bias.half()


@cache
def probes() -> tuple[dict, str]:
    """The figure; the tags that its probes read in two sentences."""
    weights = sentences()["files"][0]
    body = stored.load_eight_bits(weights, BertConfig, Bert)
    tokenizer = WordPiece.load(VOCABULARY)
    learn, test = asked(body, tokenizer, "train", "validation"), asked(body, tokenizer, "test")
    tags = sorted({*learn.tags, *test.tags})
    real = label_ids([*learn.tags, *test.tags], tags)
    drawn = control_labels([*learn.words, *test.words], real)
    kept, right = {}, {}
    for task, labels in (("tag", real), ("control", drawn)):
        known, told = labels.split([len(learn.words), len(test.words)])
        right[task] = []
        for state in range(len(learn.states)):
            only = slice(state, state + 1)
            probe = fit_probe(Probed(learn.states[only], known), len(tags))
            right[task].append(round(probe_accuracy(probe, Probed(test.states[only], told)), 4))
            weight, bias = folded(probe)
            kept |= {f"{task}.{state}.weight": weight, f"{task}.{state}.bias": bias}
    met = zip(learn.words, drawn.tolist(), strict=False)
    config = {"tags": tags, "drawn": {word.lower(): label for word, label in met}}
    file = MADE / "probes.safetensors"
    with written_whole(file) as draft:
        save_file(kept, draft, metadata={"config": json.dumps(config)})
    options = {
        "title": "A sentence, read by probes",
        "models": [model("probes", weights, VOCABULARY, file)],
        "tags": tags,
        "right": right,
        "asked": len(test.words),
        "examples": EXAMPLES,
        "asks": [{"task": "probe", "text": text, "places": 5} for text in EXAMPLES[0]],
    }
    return options, example(body, tokenizer, kept, tags)


def example(body: Bert, tokenizer: WordPiece, kept: dict[str, Tensor], tags: list[str]) -> str:
    """What the probes for tags read in the first example, state by state."""
    lines = []
    for text in EXAMPLES[0]:
        words = tokenizer.known_tokens(tokenizer.encode(text))  # each is one piece
        (states,) = word_states(body, tokenizer, [words])
        read = [
            (x @ kept[f"tag.{i}.weight"].float().T + kept[f"tag.{i}.bias"].float()).argmax(dim=1)
            for i, x in enumerate(states)
        ]
        lines.append(f"{text} The tags, from state 0 to state {len(states) - 1}:")
        for place, word in enumerate(words):
            lines.append(f"{word}: {', '.join(tags[state[place]] for state in read)}")
    return "\n".join(lines)
