"""Do cosines of MiniLM's means lose against counted words because they are means, or because the
counts let rare words weigh more (chapter 17)? STS-B with and without weights.

    LECTURES_DATA=<mirror> python experiments/sentence_weights.py
        two minutes on one core; book/results/sentence_weights.json
    LECTURES_DATA=<mirror> python experiments/sentence_weights.py --smoke
        a few pairs, to see that it runs; written nowhere

Spearman's correlation of cosines with the 1,500 scores of the validation split. "plain": every word
counts once for each time it occurs, every word piece's vector alike. "weighted": each with its
inverse document frequency, log((1 + N) / (1 + n)) + 1 where n of the N sentences of the training
split have it, as scikit-learn's TF-IDF has it. Nothing is drawn and nothing trained.
"""

import argparse
import math
from collections import Counter

import torch
from sentence_vectors import STATES, compare, tf_idf
from torch import Tensor

from lectures_lib import data, results
from lectures_lib.blocks.recording import record
from lectures_lib.models import minilm
from lectures_lib.tasks.sentence_bert import SentenceBert


def rarity(encoder: SentenceBert, texts: list[str]) -> Tensor:
    """Every word piece's inverse document frequency in these texts."""
    having = Counter(i for text in texts for i in set(encoder.ids(text)))
    size = len(encoder.bert.embeddings.tokens.weight)
    return torch.tensor([math.log((1 + len(texts)) / (1 + having[i])) + 1 for i in range(size)])


@torch.no_grad()
def weighted_means(encoder: SentenceBert, texts: list[str], weights: Tensor) -> dict[str, Tensor]:
    """Weighted means of the pieces' vectors, static ones and those of every state."""
    rows = [encoder.ids(text) for text in texts]
    names, table = ("static", *STATES), encoder.bert.embeddings.tokens.weight
    found = {name: torch.empty(len(texts), table.shape[1]) for name in names}
    order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
    for start in range(0, len(order), 32):
        places = order[start : start + 32]
        tokens, lengths = data.pad([rows[i] for i in places])
        with record(encoder.bert) as seen:
            encoder.bert(tokens, lengths=lengths)
        real = torch.arange(tokens.shape[1]) < lengths[:, None]
        inner = real & (tokens != tokens[0, 0]) & (tokens != rows[0][-1])  # no [CLS], no [SEP]
        states = [table[tokens], seen["embeddings"], *seen.all("encoder.blocks.*")]
        for name, state in zip(names, states, strict=True):
            of = weights[tokens] * (inner if name == "static" else real)
            found[name][places] = torch.einsum("bn,bnd->bd", of / of.sum(1, keepdim=True), state)
    return found


def counts(first: list[str], second: list[str], corpus: list[str]) -> tuple[Tensor, Tensor]:
    """Counted words, all alike."""
    from sklearn.feature_extraction.text import CountVectorizer

    counter = CountVectorizer(token_pattern=r"(?u)\b\w+\b").fit(corpus)
    return tuple(
        torch.from_numpy(counter.transform(texts).toarray()).float() for texts in (first, second)
    )


def main() -> None:
    """Both ways."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--smoke", action="store_true")
    few = 40 if parser.parse_args().smoke else None
    torch.set_num_threads(1)
    encoder = SentenceBert.from_pretrained(minilm.checkpoint())
    pairs, train = (
        list(data.load("similarity", split, "real"))[:few] for split in ("validation", "train")
    )
    corpus = [pair[side] for pair in train for side in ("first", "second")]
    first, second, scores = ([pair[key] for pair in pairs] for key in ("first", "second", "score"))
    rare = rarity(encoder, corpus)
    found = {}
    ways = {"plain": (torch.ones_like(rare), counts), "weighted": (rare, tf_idf)}
    for way, (weights, counted) in ways.items():
        sides = [weighted_means(encoder, texts, weights) for texts in (first, second)]
        vectors = {"counted": counted(first, second, corpus)}
        vectors |= {name: tuple(side[name] for side in sides) for name in sides[0]}
        found[way] = {name: compare(*uv, scores)["spearman"] for name, uv in vectors.items()}
        print(way, {name: round(score, 3) for name, score in found[way].items()}, flush=True)
    if not few:
        results.save(
            "sentence_weights",
            found,
            "Cosines against people's scores on STS-B (validation): counted words and means of "
            "MiniLM's vectors, all words alike and rare words weighing more",
            seeds=[],
        )


if __name__ == "__main__":
    main()
