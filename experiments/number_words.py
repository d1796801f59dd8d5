"""The translators of number words that come with the book: in chapter 8, and in the page "Type your
own".

    python experiments/number_words.py --runs <folder>
        three quarters of an hour of one core, a third of that with --seeds 0; writes
        book/results/number_words.json and the two models that come with the book. In the folder
        stand checkpoints, from which an interrupted run goes on
    python experiments/number_words.py --smoke
        seconds, to see that all works; nothing is written

The model is chapter 8's, from English into German, and so are its words. It is trained in three
ways: as in the chapter, 600 steps on 20,000 lists of one or two numbers; 12,000 steps on the same
lists; and 12,000 steps on 100,000 lists of one to four. The last one is stored, after its first
seed, and so is the chapter's after 160 of its 600 steps. Measured: the share of unseen lists of one
to six numbers that are translated without a mistake, greedily; for what is stored, before and after
the numbers are rounded to half precision. The minutes are those of the processor, without the
waiting for others.
"""

import argparse
import time
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import torch
from torch.optim.lr_scheduler import LambdaLR

from lectures_lib import data, decoding, metrics, results, stored
from lectures_lib.models.transformer import Transformer, TransformerConfig
from lectures_lib.training import bert_schedule, fit, translation_loss

SEEDS = [0, 1, 2]
BATCH, RATE, WARMUP, CLIP = 64, 3e-3, 60, 1.0
LENGTHS = [1, 2, 3, 4, 5, 6]  # numbers in a list
N_TEST = 500  # lists of each length; of one number there are fewer
EVERY = 1000  # steps between two looks at lists that are not trained on
HALF, LONG = stored.NUMBER_WORDS
Words = list[str]
Pairs = list[tuple[Words, Words]]


@dataclass(frozen=True)
class Recipe:
    """What a model is trained on, and for how long."""

    counts: tuple[int, ...]  # how many numbers a list may have
    size: int  # lists
    steps: int


RECIPES = {
    "minute": Recipe((1, 2), 20_000, 600),
    "more_steps": Recipe((1, 2), 20_000, LONG),
    "more_lists": Recipe((1, 2, 3, 4), 100_000, LONG),
}


@cache
def lists(split: str, counts: tuple[int, ...], size: int) -> Pairs:
    """Pairs of an English and a German list, cut into words."""
    pairs = data.number_words(split, counts=counts, size=size)
    return [tuple(data.number_tokens(pair[side]) for side in ("en", "de")) for pair in pairs]


@cache
def vocabulary() -> data.WordVocabulary:
    """The chapter's words."""
    recipe = RECIPES["minute"]
    pairs = lists("train", recipe.counts, recipe.size)
    return data.WordVocabulary.build(side for pair in pairs for side in pair)


def new() -> Transformer:
    """The chapter's model, with random weights."""
    sizes = {"d_model": 64, "n_heads": 4, "n_layers": 2, "d_ff": 256}
    return Transformer(TransformerConfig(len(vocabulary()), **sizes, dropout=0.0, pre_norm=True))


def translations(model: Transformer, pairs: Pairs) -> list[Words]:
    """What the model writes of the English lists, greedily."""
    sources = [vocabulary().encode(english, eos=True) for english, _ in pairs]
    longest = 2 * max(len(german) for _, german in pairs)
    found = decoding.greedy(
        model, *data.pad(sources), begin=data.BOS, end=data.EOS, max_len=longest
    )
    return [vocabulary().decode(sentence) for sentence in found.sentences()]


def right(model: Transformer, split: str = "test", size: int = N_TEST) -> dict[str, float]:
    """By the numbers in a list: the share of unseen lists translated without a mistake."""
    shares = {}
    for n in LENGTHS:
        pairs = lists(split, (n,), size)
        shares[str(n)] = metrics.exact_match(
            translations(model, pairs), [german for _, german in pairs]
        )
    return shares


def train(
    name: str, recipe: Recipe, seed: int, runs: Path | None, stop: int | None = None
) -> tuple[Transformer, dict]:
    """A model, the minutes that it took, and its curve: what it had right on the way. `stop`: after
    so many of the recipe's steps.
    """
    torch.manual_seed(seed)
    model, words = new(), vocabulary()
    encoded = [
        (words.encode(english, eos=True), words.encode(german, bos=True, eos=True))
        for english, german in lists("train", recipe.counts, recipe.size)
    ]
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE, betas=(0.9, 0.98))
    begun, looking = time.process_time(), 0.0

    def evaluate(model: Transformer) -> dict[str, float]:
        nonlocal looking
        before = time.process_time()
        found = right(model, "validation", 100)
        looking += time.process_time() - before
        minutes = (time.process_time() - begun - looking) / 60
        print(f"{name}, seed {seed}, {minutes:.2f} minutes: {found}", flush=True)
        return {"minutes": minutes, **found}

    kept = {}
    if runs:
        kept = {"checkpoint": runs / f"{name}_{seed}_{stop}.checkpoint", "resume": True}
    history = fit(
        model,
        data.Batches(encoded, data.pad_pairs, batch_size=BATCH, seed=seed),
        translation_loss,
        optimizer,
        LambdaLR(optimizer, bert_schedule(WARMUP, recipe.steps)),
        steps=stop or recipe.steps,
        clip=CLIP,
        evaluate=evaluate,
        evaluate_every=EVERY,
        save_every=EVERY,
        progress=False,
        **kept,
    )
    looks = {str(step): dict(found) for step, found in history.evaluations.items()}
    minutes = results.in_all([found.pop("minutes") for found in looks.values()])
    return model.eval(), {"minutes": minutes, "curve": looks}


def measured(name: str, seed: int, runs: Path | None) -> tuple[Transformer, dict, dict]:
    """A model, what is right of the test lists with its minutes, and its curve."""
    model, told = train(name, RECIPES[name], seed, runs)
    return model, {"right": right(model), "minutes": told["minutes"]}, told["curve"]


def rounded(model: Transformer, steps: int) -> dict:
    """Store a model: what of the test lists is right before and after, and the share of them whose
    translations stay as they were.
    """
    stored.save_number_words(model, vocabulary(), steps)
    stored.from_nothing._number_words.cache_clear()
    halves, _ = stored.number_words(steps)
    return {"single": right(model), "stored": right(halves), "equal": equal(model, halves)}


def equal(model: Transformer, other: Transformer) -> dict[str, float]:
    """By the numbers in a list: the share of unseen lists that two models translate alike."""
    unseen = {n: lists("test", (n,), N_TEST) for n in LENGTHS}
    return {
        str(n): metrics.exact_match(translations(other, pairs), translations(model, pairs))
        for n, pairs in unseen.items()
    }


def main() -> None:
    """Train, store, measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--runs", type=Path, help="the folder of the checkpoints")
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS, help="of the long runs")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.smoke:
        train("smoke", replace(RECIPES["minute"], steps=100), 0, None)
        return
    if options.runs:
        options.runs.mkdir(parents=True, exist_ok=True)
    found: dict = {}
    half, _ = train("half", RECIPES["minute"], 0, options.runs, stop=HALF)
    found[f"stored_{HALF}"] = rounded(half, HALF)
    for name in ("more_lists", "minute", "more_steps"):
        runs = []
        for seed in SEEDS if name == "minute" else options.seeds:
            model, told, curve = measured(name, seed, options.runs)
            runs.append(told)
            if (name, seed) == ("more_lists", 0):
                found[f"stored_{LONG}"], found["curve"] = rounded(model, LONG), curve
        found[name] = results.spreads(runs)
    found["parameters"] = sum(p.numel() for p in model.parameters())
    title = "Lists of number words, English to German: unseen ones without a mistake"
    results.save("number_words", found, title, options.seeds)


if __name__ == "__main__":
    main()
