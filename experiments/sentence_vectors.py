"""Do cosines of sentence vectors order pairs as people do (chapter 17)? STS-B by layer and pooling,
and before and after training.

    LECTURES_DATA=<mirror> python experiments/sentence_vectors.py
        ten minutes on two quiet cores; writes sentence_vectors.json
    python experiments/sentence_vectors.py --only margin in_batch
        some of the objectives only
    python experiments/sentence_vectors.py --smoke
        a hundredth of it, written nowhere
    python experiments/sentence_vectors.py --size full
        for a GPU; writes sentence_vectors_full.json

Correlations are with the 1,500 scores of the validation split. Three questions: which layer and
pooling of MiniLM, against static vectors and counted words; how alike two random sentences seem to
be; and what siamese training does for a body whose vectors are not yet good for this. No weights
fresh from pre-training can be had without a network. So the body is MiniLM cut off behind its first
layers: only behind its last one were sentence vectors ever compared in its own training. All
objectives see pairs of the same 5,749.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR

from lectures_lib import data, results
from lectures_lib.blocks.recording import record
from lectures_lib.metrics import pearson, spearman
from lectures_lib.models import minilm
from lectures_lib.tasks.sentence_bert import (
    POOLING,
    SentenceBert,
    Siamese,
    SiameseBatches,
    classification_loss,
    margin_loss,
    ranking_loss,
    regression_loss,
)
from lectures_lib.training import bert_schedule, fit

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
STATES = ("input", *(f"after_{i}" for i in range(6)))
TITLE = (
    "Cosines of sentence vectors against people's scores on STS-B (validation): layers and "
    "poolings, and siamese training"
)
N_CLASSES = 3


@dataclass(frozen=True)
class Size:
    """What differs between a CPU and a GPU.

    Args:
        steps, batch: of training.  rate: the highest learning rate.
        layers: how many of MiniLM's layers the body has.  embeddings: whether its embeddings are
            trained, too.
        seeds: of the repetitions.
    """

    steps: int
    batch: int
    rate: float
    layers: int
    embeddings: bool
    seeds: tuple[int, ...]


SIZES = {
    "cpu": Size(150, 16, 3e-4, 3, False, (0, 1, 2)),
    "full": Size(1440, 16, 1e-4, 3, True, (0, 1, 2, 3, 4)),
}


@dataclass(frozen=True)
class Objective:
    """A loss, and what it is told of a pair with this score (0 to 5): a label, or None for a pair
    that is left out.
    """

    loss: Callable[[Siamese, tuple], Tensor]
    label: Callable[[float], float | None]


OBJECTIVES = {
    "regression": Objective(regression_loss, lambda score: score / 5),
    "classification": Objective(
        classification_loss, lambda score: min(int(score / 5 * N_CLASSES), N_CLASSES - 1)
    ),
    "in_batch": Objective(ranking_loss, lambda score: 1 if score >= 4 else None),
    "margin": Objective(margin_loss, lambda score: int(score >= 3)),
}


def compare(u: Tensor, v: Tensor, scores: list[float]) -> dict[str, float]:
    """Correlations of the pairs' cosines with the scores, and the mean cosine of sentences that are
    no pair.
    """
    cosines = F.cosine_similarity(u, v)
    strangers = F.cosine_similarity(u, v.roll(len(v) // 2, dims=0))  # from far away in the file
    return {
        "spearman": spearman(cosines, scores),
        "pearson": pearson(cosines, scores),
        "random_pairs": strangers.mean().item(),
    }


@torch.no_grad()
def pooled_states(encoder: SentenceBert, texts: list[str]) -> dict[str, Tensor]:
    """For every pooling, the sentence vectors from MiniLM's seven states: (7, texts, d_model); and
    its pooler's.
    """
    rows = [encoder.ids(text) for text in texts]
    order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
    found = {
        name: torch.empty(len(STATES), len(texts), encoder.bert.config.d_model) for name in POOLING
    }
    found["pooler"] = torch.empty(1, len(texts), encoder.bert.config.d_model)
    for start in range(0, len(order), 32):
        places = order[start : start + 32]
        tokens, lengths = data.pad([rows[i] for i in places])
        with record(encoder.bert) as seen:
            encoded = encoder.bert(tokens.to(DEVICE), lengths=lengths.to(DEVICE))
        states = [state.cpu() for state in (seen["embeddings"], *seen.all("encoder.blocks.*"))]
        for name, pool in POOLING.items():
            found[name][:, places] = torch.stack([pool(state, lengths) for state in states])
        found["pooler"][0, places] = encoded.pooled.cpu()
    return found


def untrained(encoder: SentenceBert, pairs: list[dict], train: list[dict]) -> dict:
    """Layers and poolings, and the baselines: MiniLM's table of word-piece vectors, averaged; and
    TF-IDF of the words.
    """
    first, second, scores = ([pair[key] for pair in pairs] for key in ("first", "second", "score"))
    sides = [pooled_states(encoder, texts) for texts in (first, second)]
    found: dict = {name: {} for name in POOLING}
    for name in POOLING:
        for i, state in enumerate(STATES):
            if (name, state) == ("cls", "input"):
                continue  # the same for all sentences
            found[name][state] = compare(*(side[name][i] for side in sides), scores)
    found["pooler"] = compare(*(side["pooler"][0] for side in sides), scores)
    table = encoder.bert.embeddings.tokens.weight.detach().cpu()
    u, v = (
        torch.stack([table[encoder.ids(text)[1:-1]].mean(dim=0) for text in texts])
        for texts in (first, second)
    )
    found["static"] = compare(u, v, scores)
    found["tf_idf"] = compare(
        *tf_idf(first, second, [pair[key] for pair in train for key in ("first", "second")]), scores
    )
    return found


def tf_idf(first: list[str], second: list[str], corpus: list[str]) -> tuple[Tensor, Tensor]:
    """Counted words, rare ones counting for more, as weighted in the training split."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    counter = TfidfVectorizer(token_pattern=r"(?u)\b\w+\b").fit(corpus)
    return tuple(
        torch.from_numpy(counter.transform(texts).toarray()).float() for texts in (first, second)
    )


def cut_body(size: Size) -> SentenceBert:
    """MiniLM's first layers, with mean pooling."""
    encoder = SentenceBert.from_pretrained(minilm.checkpoint()).to(DEVICE)
    encoder.bert.encoder.blocks = encoder.bert.encoder.blocks[: size.layers]
    encoder.bert.pooler.requires_grad_(False)  # mean pooling does without
    encoder.bert.embeddings.requires_grad_(size.embeddings)
    return encoder


def train(
    encoder: SentenceBert, objective: Objective, pairs: list[dict], size: Size, seed: int
) -> None:
    """Siamese training, in place. Dropout stays off: there is little time to overfit."""
    labelled = [
        (pair, label) for pair in pairs if (label := objective.label(pair["score"])) is not None
    ]
    texts = [(pair["first"], pair["second"]) for pair, _ in labelled]
    batches = SiameseBatches(encoder, texts, [label for _, label in labelled], size.batch, seed)
    for module in encoder.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    torch.manual_seed(seed)  # of W_t
    model = Siamese(encoder, N_CLASSES if objective.loss is classification_loss else 0)
    optimizer = torch.optim.AdamW(
        [p for p in model.parameters() if p.requires_grad], lr=size.rate, weight_decay=0.01
    )
    schedule = LambdaLR(optimizer, bert_schedule(size.steps // 10, size.steps))
    fit(
        model,
        batches,
        objective.loss,
        optimizer,
        schedule,
        steps=size.steps,
        clip=1.0,
        progress=False,
    )


def main() -> None:
    """Everything; the file is written after each part."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", choices=SIZES, default="cpu")
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument(
        "--only",
        nargs="*",
        choices=OBJECTIVES,
        default=list(OBJECTIVES),
        help="the others are kept from the last run",
    )
    options = parser.parse_args()
    size, name = (
        SIZES[options.size],
        "sentence_vectors" if options.size == "cpu" else "sentence_vectors_full",
    )
    pairs, training = (data.load("similarity", split, "real") for split in ("validation", "train"))
    if options.smoke:
        pairs, training, size = (
            pairs[:60],
            training[:200],
            replace(size, steps=3, batch=4, seeds=(0, 1)),
        )
    first, second, scores = ([pair[key] for pair in pairs] for key in ("first", "second", "score"))

    def evaluate(encoder: SentenceBert) -> dict[str, float]:
        return compare(encoder.embed(first).cpu(), encoder.embed(second).cpu(), scores)

    if options.only == list(OBJECTIVES):
        encoder = SentenceBert.from_pretrained(minilm.checkpoint()).to(DEVICE)
        settings = {
            "layers": size.layers,
            "steps": size.steps,
            "pairs_seen": size.steps * size.batch,
        }
        measured = {
            "untrained": untrained(encoder, pairs, training),
            "settings": settings,
            "before": evaluate(cut_body(size)),
            "siamese": {},
        }
    else:
        measured = results.load(name)["results"]
    for objective_name in options.only:
        found = []
        for seed in size.seeds:
            encoder = cut_body(size)
            train(encoder, OBJECTIVES[objective_name], training, size, seed)
            found.append(evaluate(encoder))
            print(objective_name, seed, found[-1], flush=True)
        measured["siamese"][objective_name] = results.spreads(found)
        if not options.smoke:
            results.save(name, measured, TITLE, list(size.seeds))


if __name__ == "__main__":
    main()
