"""The figure with a map of sentences: where MiniLM's vectors of the sentences in
book/live/sentence_map.yml lie along their first two principal components.

All vectors are those of MiniLM as a page fetches it, in 8 bits: a reader's own sentence comes
between them by the same numbers.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import torch
import yaml
from live_models import MADE, VOCABULARY, model, sentences
from safetensors.torch import save_file
from torch import Tensor

from lectures_lib import stored
from lectures_lib.models.bert import Bert, BertConfig
from lectures_lib.tasks.sentence_bert import SentenceBert, cosines
from lectures_lib.tokenization import WordPiece

TOPICS: dict[str, list[str]] = yaml.safe_load(
    (Path(__file__).parents[1] / "live" / "sentence_map.yml").read_text(encoding="utf-8")
)
COLOURS = tuple(f"series_{n}" for n in range(1, 9))  # beside those of every figure
EXAMPLES = [
    "The vet gave our dog an injection.",
    "The match was called off because of the snow.",
    "Parliament has passed the law.",
]


class Map(NamedTuple):
    """Where the axes come from and lead to.

    Args:
        mean: of the vectors, (d_model,).  axes: their first two principal components, of length 1,
            (2, d_model).  at: the places on the map, (n, 2).
        kept: the share of the variance that the two axes keep.
    """

    mean: Tensor
    axes: Tensor
    at: Tensor
    kept: float


def laid_out(vectors: Tensor) -> Map:
    """The map of vectors, (n, d_model). An axis could as well point the other way: its largest
    number is made positive.
    """
    mean = vectors.mean(dim=0)
    _, sizes, axes = torch.linalg.svd(vectors - mean, full_matrices=False)
    axes = axes[:2] * axes[:2].gather(1, axes[:2].abs().argmax(dim=1, keepdim=True)).sign()
    variance = sizes.square()
    return Map(mean, axes, (vectors - mean) @ axes.T, float(variance[:2].sum() / variance.sum()))


def neighbours(near: Tensor) -> Tensor:
    """For each row the nearest other one, by a table of how near each is to each."""
    return near.masked_fill(torch.eye(len(near), dtype=torch.bool), -torch.inf).argmax(dim=1)


@cache
def sentence_map() -> tuple[dict, str]:
    """The figure; the neighbours of some of its sentences."""
    weights = sentences()["files"][0]
    body = stored.load_eight_bits(weights, BertConfig, Bert)
    topics = [topic for topic, texts in TOPICS.items() for _ in texts]
    texts = [text for some in TOPICS.values() for text in some]
    vectors = SentenceBert(body, WordPiece.load(VOCABULARY)).embed(texts)
    laid, table = laid_out(vectors), cosines(vectors, vectors)
    near, beside = neighbours(table), neighbours(-torch.cdist(laid.at, laid.at))
    file = MADE / "sentence_map.safetensors"
    kept = {"vectors": vectors, "mean": laid.mean, "axes": laid.axes}
    halves = {name: tensor.half().contiguous() for name, tensor in kept.items()}
    save_file(halves, file, metadata={"config": json.dumps({"sentences": len(texts)})})

    def neighbour(of: int, nearest: Tensor) -> list:
        other = int(nearest[of])
        return [other, round(float(table[of, other]), 4)]

    points = [
        {
            "text": text,
            "topic": topic,
            "at": [round(x, 4) for x in place],
            "near": neighbour(i, near),
            "beside": neighbour(i, beside),
        }
        for i, (text, topic, place) in enumerate(zip(texts, topics, laid.at.tolist(), strict=True))
    ]
    options = {
        "title": "A map of sentences",
        "models": [model("sentence map", weights, VOCABULARY, file)],
        "topics": list(TOPICS),
        "points": points,
        "kept": laid.kept,
        "width": vectors.shape[1],
        "examples": EXAMPLES,
    }
    return options, example(points, laid.kept)


def example(points: list[dict[str, Any]], kept: float) -> str:
    """Of the first sentence of each topic, which lies nearest."""
    lines = [
        f"{len(points)} sentences, compared by 384 numbers each; two axes keep "
        f"{100 * kept:.0f} % of what sets them apart."
    ]
    for i, point in enumerate(points):
        if i and points[i - 1]["topic"] == point["topic"]:
            continue
        (other, cosine), (shown, apart) = point["near"], point["beside"]
        on_map = f"; on a flat map: {points[shown]['text']} ({apart:.2f})"
        lines.append(
            f"{point['topic']}: {point['text']} Nearest: {points[other]['text']} "
            f"({cosine:.2f}){on_map if shown != other else ''}"
        )
    return "\n".join(lines)
