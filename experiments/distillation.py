"""A student of half the depth learns to fill holes: from the hidden words, or from its teacher's
distributions (chapter 18b).

    LECTURES_DATA=<mirror> python experiments/distillation.py
        a smoke run: a minute, written nowhere
    python experiments/distillation.py --size cpu --runs FOLDER
        three seeds of two ways, ten minutes of a core; writes book/results/distillation.json after
        every seed
    … the same command once more
        goes on where it was stopped, to the same weights
    … with --ways softened, or both
        adds another way to the file: distributions at a temperature of 2 (which the file has), or
        words and distributions together

The teacher is MiniLM, trained further to fill holes (`fill_mask.py`). The student begins as a copy
of it with the first, third and fifth of its six layers (Sanh et al. 2019 take one layer out of
two). The ways differ in the loss alone: the same student, the same texts, holes and rates, and the
same chosen positions, at which one of them is told the word and the other the distribution.

The texts are WikiText-2's, which the teacher, too, was trained on. Asked are the words behind
[MASK] in its validation split: perplexity, the share that is right, and how often the student's
likeliest word is the teacher's.
"""

import argparse
import json
import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from fill_mask import HoleBatches, encoded, wikitext, words_only
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR

from lectures_lib import metrics, results, stored
from lectures_lib.files import write_whole
from lectures_lib.models.bert import BertForPreTraining, every_other_layer
from lectures_lib.modes import evaluating
from lectures_lib.training import bert_schedule, distillation_loss, fit
from lectures_lib.training.pretraining import PreTrainingBatch

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
TEMPERATURES = {"teacher": 1.0, "softened": 2.0, "both": 1.0}
WAYS = ("words", *TEMPERATURES)
TITLE = (
    "A student with three of MiniLM's six layers learns to fill holes, from the hidden words or "
    "from its teacher's distributions: held-out words behind [MASK] in WikiText-2"
)


@dataclass(frozen=True)
class Size:
    """How long, and on how much: steps of at most `max_tokens` tokens, inputs of at most
    `max_len`.
    """

    steps: int
    max_tokens: int
    max_len: int
    rate: float
    asked: int  # batches
    n_documents: int | None = None
    file: str | None = None  # in book/results


SIZES = {
    "smoke": Size(2, 256, 32, 3e-4, 2, 20),
    "cpu": Size(60, 1_024, 64, 3e-4, 20, 200, file="distillation"),
}


def loss_of(
    way: str, teacher: BertForPreTraining
) -> Callable[[nn.Module, PreTrainingBatch], Tensor]:
    """What a student that learns in this way is judged by, as `fit` takes it."""

    def from_teacher(student: nn.Module, batch: PreTrainingBatch) -> Tensor:
        read = (batch.tokens, batch.segments, batch.lengths)
        scores = student(*read, at=batch.chosen).words
        with torch.no_grad():
            teacher_scores = teacher(*read, at=batch.chosen).words
        loss = distillation_loss(scores, teacher_scores, TEMPERATURES[way])
        if way == "both":
            loss = loss + nn.functional.cross_entropy(scores, batch.original[batch.chosen])
        return loss

    return words_only if way == "words" else from_teacher


@torch.no_grad()
def scores_of(
    model: BertForPreTraining,
    asked: list[PreTrainingBatch],
    mask_id: int,
    by_teacher: list[int] | None = None,
) -> tuple[dict[str, float], list[int]]:
    """What is measured of a model at the holes, and what it says there.

    Args:
        by_teacher: what the teacher says; None: this is the teacher.
    """
    loss, right, said = 0.0, 0, []
    for batch in asked:
        batch = PreTrainingBatch(*(part.to(DEVICE) for part in batch))
        hidden = batch.chosen & (batch.tokens == mask_id)
        with evaluating(model):
            words = model(batch.tokens, batch.segments, batch.lengths, at=hidden).words
        loss += nn.functional.cross_entropy(words, batch.original[hidden], reduction="sum").item()
        right += int((words.argmax(dim=-1) == batch.original[hidden]).sum())
        said += words.argmax(dim=-1).tolist()
    return {
        "perplexity": math.exp(loss / len(said)),
        "accuracy": right / len(said),
        "as_teacher": metrics.exact_match(said, by_teacher or said),
    }, said


def measure(
    size: Size,
    way: str,
    seed: int,
    teacher: BertForPreTraining,
    batches: HoleBatches,
    look: Callable[[nn.Module], dict[str, float]],
    folder: Path,
) -> dict[str, float]:
    """One student, trained and asked; read where it was before."""
    kept, settings = folder / f"{way}_{seed}.json", asdict(size)
    if found := results.kept_run(kept, settings):
        return found["scores"]
    begun, student = time.perf_counter(), every_other_layer(teacher).to(DEVICE)
    learned = [
        p
        for name, p in student.named_parameters()
        if "pooler" not in name and not name.startswith("next_sentence")
    ]
    optimizer = torch.optim.AdamW(learned, lr=size.rate, betas=(0.9, 0.98), weight_decay=0.01)
    fit(
        student,
        batches,
        loss_of(way, teacher),
        optimizer,
        LambdaLR(optimizer, bert_schedule(size.steps // 20, size.steps)),
        steps=size.steps,
        clip=1.0,
        checkpoint=folder / f"{way}_{seed}.pt",
        save_every=20,
        resume=True,
        progress=False,
    )
    scores = look(student.eval())
    print(f"{way}, seed {seed}: {scores}, {time.perf_counter() - begun:.0f} s", flush=True)
    write_whole(kept, json.dumps({"size": settings, "scores": scores}))
    (folder / f"{way}_{seed}.pt").unlink()
    return scores


def main() -> None:
    """Every way with every seed, a seed at a time."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", choices=SIZES, default="smoke")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=["words", "teacher"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--runs", type=Path, help="a folder: in FOLDER/size, runs are kept")
    options = parser.parse_args()
    size = SIZES[options.size]
    folder = results.folder_of_runs(options.runs, options.size)
    if DEVICE.type == "cpu":
        torch.set_num_threads(1)
    teacher, tokenizer = stored.fill_mask()
    teacher = teacher.to(DEVICE)
    texts, held_out = (
        encoded(wikitext(split)[: size.n_documents], tokenizer) for split in ("train", "validation")
    )
    sizes = {"max_len": size.max_len, "max_tokens": size.max_tokens}
    asked = list(HoleBatches(held_out, tokenizer, **sizes, seed=99).epoch(0))[: size.asked]
    mask_id = tokenizer.token_id("[MASK]")
    of_teacher, said = scores_of(teacher, asked, mask_id)

    def look(model: BertForPreTraining) -> dict[str, float]:
        return scores_of(model, asked, mask_id, said)[0]

    cut = every_other_layer(teacher)
    measured = {
        "settings": {**asdict(size), "holes": len(said)},
        "parameters": {
            name: sum(p.numel() for p in model.parameters())
            for name, model in (("teacher", teacher), ("student", cut))
        },
        "untrained": {"teacher": of_teacher, "student": look(cut)},
    }
    for name in ("n_documents", "file"):
        del measured["settings"][name]
    print(measured, flush=True)
    record = size.file and results.to_add_to(size.file, TITLE, asdict(size))
    measured["trained"] = dict(record["results"]["trained"]) if record else {}
    seeds_of = dict(record["seeds_of"]) if record else {}
    found: dict[str, dict[int, dict]] = {way: {} for way in options.ways}
    for seed in options.seeds:
        for way in options.ways:
            batches = HoleBatches(texts, tokenizer, **sizes, seed=seed)
            found[way][seed] = measure(size, way, seed, teacher, batches, look, folder)
        for way in options.ways:
            measured["trained"][way], seeds_of[way] = results.together(
                found[way], measured["trained"].get(way), seeds_of.get(way, [])
            )
        if size.file is not None:
            every = sorted({seed for seeds in seeds_of.values() for seed in seeds})
            more = {"settings": asdict(size), "seeds_of": seeds_of}
            results.save(size.file, measured, TITLE, every, **more)


if __name__ == "__main__":
    main()
