"""The translators of dates that come with the book: in the page "Type your own", and in chapter 6.

    python experiments/dates.py --runs <folder>
        some minutes on one core; writes book/results/dates.json and the two models that come with
        the book. In the folder stand checkpoints, from which an interrupted run goes on
    python experiments/dates.py --smoke
        seconds, to see that all works; nothing is written

The model, the days and the two spellings are the chapter's, and the same 1,000 days are kept aside.
The chapter takes 400 steps; here one model takes 6,000, and another 150, as the chapter's novice
does. Measured, before and after the numbers are rounded to half precision: the share of those days
that are written without a mistake, in both spellings; the share of their letters that are right
with a teacher, and alone; and the same days two hundred years earlier. And how many of the days are
written after rounding as they were before.
"""

import argparse
import datetime
import random
import time
from functools import partial
from pathlib import Path

import torch
from torch import Tensor
from torch.optim.lr_scheduler import LambdaLR

from lectures_lib import decoding, results, stored
from lectures_lib.data.dates import (
    ALPHABET,
    BEGIN,
    END,
    DateBatches,
    date_pairs,
    seen_and_unseen,
    spellings,
    to_ids,
)
from lectures_lib.models.transformer import Transformer, TransformerConfig
from lectures_lib.training import bert_schedule, fit, translation_loss

BATCH, RATE, WARMUP, SEED = 64, 3e-3, 50, 0
EVERY = 500  # steps between two looks at the days that were kept aside
LENGTH = 11  # characters of an answer, with its end token
CONFIG = TransformerConfig(
    len(ALPHABET), d_model=64, n_heads=4, n_layers=1, d_ff=128, dropout=0.0, max_len=32
)
Days = list[datetime.date]


@torch.no_grad()
def written(model: Transformer, days: Days, spelling: int) -> Tensor:
    """What the model writes for these days, alone: (days, 11) letters."""
    source, lengths = to_ids([spellings(day)[spelling] for day in days])
    alone = decoding.greedy(model, source, lengths, begin=BEGIN, end=END, max_len=LENGTH).tokens
    return torch.nn.functional.pad(alone, (0, LENGTH - alone.shape[1]))


def equal(trained: Transformer, kept: Transformer, days: Days) -> float:
    """The share of the days, in both spellings, for which both models write the same."""
    same = [written(trained, days, s) == written(kept, days, s) for s in (0, 1)]
    return torch.cat(same).all(dim=1).double().mean().item()


@torch.no_grad()
def right(model: Transformer, days: Days, spelling: int) -> dict[str, Tensor]:
    """Which letters (days, 11) of these days are right, with a teacher and alone."""
    source, lengths = to_ids([spellings(day)[spelling] for day in days])
    target, _ = to_ids([f">{day.isoformat()}." for day in days])
    taught = model(source, target[:, :-1], lengths).argmax(dim=-1)
    alone = written(model, days, spelling)
    return {"with_a_teacher": taught == target[:, 1:], "alone": alone == target[:, 1:]}


@torch.no_grad()
def measured(model: Transformer, days: Days) -> dict:
    """Shares of days and of letters, and the loss of a letter with a teacher."""
    earlier = [day.replace(year=day.year - 200) for day in days if (day.month, day.day) != (2, 29)]
    by_spelling = [right(model, days, spelling) for spelling in (0, 1)]

    def whole(hits: Tensor) -> float:
        return hits.all(dim=1).float().mean().item()

    return {
        "day_first": whole(by_spelling[0]["alone"]),
        "month_first": whole(by_spelling[1]["alone"]),
        "letters": {
            way: torch.cat([found[way] for found in by_spelling]).float().mean().item()
            for way in by_spelling[0]
        },
        "loss": translation_loss(model, date_pairs(days, random.Random(1))).item(),
        "two_hundred_years_earlier": whole(right(model, earlier, 0)["alone"]),
    }


def train(steps: int, seen: Days, unseen: Days, runs: Path | None) -> tuple[Transformer, float]:
    """A model after so many steps, and the minutes that it took."""
    torch.manual_seed(SEED)
    model = Transformer(CONFIG)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    begun = time.perf_counter()

    def evaluate(model: Transformer) -> dict[str, float]:
        found = measured(model, unseen)
        minutes = (time.perf_counter() - begun) / 60
        print(f"{minutes:.1f} minutes: {found}", flush=True)
        return {"minutes": minutes}

    kept = {}
    if runs:
        kept = {"checkpoint": runs / f"dates_{steps}.checkpoint", "resume": True}
    history = fit(
        model,
        DateBatches(seen, BATCH, SEED),
        partial(translation_loss, smoothing=0.0),
        optimizer,
        LambdaLR(optimizer, bert_schedule(WARMUP, steps)),
        steps=steps,
        evaluate=evaluate,
        evaluate_every=EVERY,
        save_every=EVERY,
        progress=False,
        **kept,
    )
    clock = [found["minutes"] for found in history.evaluations.values()]
    return model.eval(), results.in_all(clock)


def main() -> None:
    """Train, store, measure what is stored."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--runs", type=Path, help="the folder of the checkpoints")
    options = parser.parse_args()
    torch.set_num_threads(1)
    seen, unseen = seen_and_unseen()
    if options.smoke:
        train(60, seen, unseen, None)
        return
    if options.runs:
        options.runs.mkdir(parents=True, exist_ok=True)
    found = {}
    for steps in stored.DATES:
        model, minutes = train(steps, seen, unseen, options.runs)
        before = measured(model, unseen)
        stored.save_halves(model, stored.FOLDER / f"dates_{steps}.safetensors")
        stored.dates.cache_clear()
        after = measured(stored.dates(steps), unseen)
        after["equal"] = equal(model, stored.dates(steps), unseen)
        found[f"steps_{steps}"] = {"single": before, "stored": after, "minutes": minutes}
    found["parameters"] = sum(p.numel() for p in model.parameters())
    results.save("dates", found, "Dates, letter by letter: 1,000 that were kept aside", [SEED])


if __name__ == "__main__":
    main()
