"""A Transformer learns to translate Multi30k's 29,000 image captions, from scratch (chapter 8).

    python experiments/multi30k.py
        a smoke run: minutes on two cores, to see that all works; nothing is written
    python experiments/multi30k.py --size cpu --runs <folder>
        both directions, 80 minutes of a core for each run; writes book/results/multi30k_cpu.json
        and the models of the first seed, which come with the book (`--seeds 0 1 2`: three runs)
    … the same command once more
        goes on where it was stopped, to the same weights; with other `--seeds`, these are added to
        those of the file
    python experiments/multi30k.py --size full --runs <folder>
        both directions, three seeds, on a GPU, into multi30k.json; not run so far

The captions come from the mirror that LECTURES_DATA names, or from the hub. Both languages share
one BPE vocabulary, learned on the training captions. What is tested is the mean of the last five
sets of weights (Vaswani et al. 2017, section 6.1), by beam search; beside it stand the last weights
alone, and greedy decoding, so that one sees what each is worth. BLEU is sacrebleu's, as written and
in lower case; the signatures are kept with the scores. The folder of runs keeps each run's
checkpoint, its last sets of weights and what was measured: directions can be trained side by side,
each started with its `--directions`; the results are written by a command that has both, from
what is in the folder.
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR

from lectures_lib import data, results, stored
from lectures_lib.decoding import beam, greedy
from lectures_lib.files import write_whole, written_whole
from lectures_lib.metrics import bleu, exact_match
from lectures_lib.models.transformer import Transformer, TransformerConfig
from lectures_lib.tasks.translation import Translator
from lectures_lib.tokenization import BPE
from lectures_lib.training import fit, transformer_schedule, translation_loss

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
SPECIALS = ["<pad>", "<s>", "</s>"]  # their ids are data.PAD, data.BOS and data.EOS
AVERAGED = 5
DIRECTIONS = ["en-de", "de-en"]
CASES = ("cased", "lowercase")


@dataclass(frozen=True)
class Size:
    """How large a model, for how long, on how much."""

    model: TransformerConfig
    steps: int
    evaluate_every: int
    max_tokens: int  # in a batch, source and target together
    warmup: int
    rate: float  # times the paper's schedule
    n_train: int | None
    n_test: int | None
    file: str | None = None  # in book/results
    stored: bool = False  # do its models come with the book?
    seeds: tuple[int, ...] = (0,)
    mixed_precision: str = "no"

    def of_a_run(self) -> dict[str, Any]:
        """What a single run depends on, as its file keeps it."""
        others = ("evaluate_every", "file", "stored", "seeds")
        return {name: value for name, value in asdict(self).items() if name not in others}


# Wu et al. (2021) found a small model best on so few sentences: 4 layers, width 128, feed-forward
# 256, 4 heads.
SMALLER = TransformerConfig(
    5_000, d_model=128, n_heads=4, n_layers=4, d_ff=256, dropout=0.2, pre_norm=True
)
SMALL = replace(TransformerConfig.SMALL, dropout=0.3, pre_norm=True)
SIZES = {
    "smoke": Size(
        replace(TransformerConfig.TINY, vocab_size=1_000), 150, 75, 2_048, 50, 0.5, 4_000, 50
    ),
    "cpu": Size(SMALLER, 8_000, 400, 4_096, 1_000, 1.0, None, None, "multi30k_cpu", True),
    "full": Size(
        SMALL,
        6_000,
        400,
        10_000,
        1_000,
        1.0,
        None,
        None,
        "multi30k",
        seeds=(0, 1, 2),
        mixed_precision="bf16",
    ),
}

Pairs = list[tuple[list[int], list[int]]]


def scores(hypotheses: list[str], references: list[str]) -> dict:
    """BLEU of translations, as written and in lower case, with the signatures."""
    return {
        name: tuple(bleu(hypotheses, references, lowercase=name == "lowercase")) for name in CASES
    }


def rounded(
    source: str, target: str, asked: list[str], references: list[str], before: dict[str, list[str]]
) -> dict:
    """What the model as it is stored scores, and the share of its translations that are those from
    before rounding, word for word.

    Args:
        source, target: its languages.  asked, references: the captions.
        before: what the trained model made of them, by the name of the search.
    """
    kept = Translator(
        stored.load_halves(
            stored.FOLDER / f"translator_{source}_{target}.safetensors",
            TransformerConfig,
            Transformer,
        ).to(DEVICE),
        BPE.load(stored.FOLDER / "translator.json"),
    )
    now = {search.__name__: kept(asked, search) for search in (greedy, beam)}
    return {
        "stored": scores(now["beam"], references)["cased"][0],
        "equal": {name: exact_match(now[name], before[name]) for name in now},
    }


class Snapshots:
    """The last sets of weights, in files: an interrupted run finds them again."""

    def __init__(self, folder: Path, name: str):
        self.folder, self.name = folder, name

    def add(self, step: int, model: nn.Module) -> None:
        """Keep these weights, and no more than `AVERAGED` in all."""
        with written_whole(self.folder / f"{self.name}_{step:07}.safetensors") as part:
            save_file(
                {
                    name: weight.detach().cpu().contiguous()
                    for name, weight in model.state_dict().items()
                },
                part,
            )
        for old in self.files()[:-AVERAGED]:
            old.unlink()

    def files(self) -> list[Path]:
        """The files, the oldest first."""
        return sorted(self.folder.glob(f"{self.name}_*.safetensors"))

    def mean(self) -> dict[str, Tensor]:
        """The mean of the sets."""
        sets = [load_file(file) for file in self.files()]
        return {
            name: torch.stack([weights[name] for weights in sets]).mean(dim=0) for name in sets[0]
        }


def measure(
    size: Size,
    captions: dict[str, list],
    subwords: BPE,
    source: str,
    target: str,
    seed: int,
    folder: Path,
) -> dict:
    """Train one translator and test it."""
    name = f"{source}_{target}_{seed}"
    measured, settings = folder / f"{name}.json", size.of_a_run()
    if found := results.kept_run(measured, settings):
        return found
    torch.manual_seed(seed)
    model = Transformer(replace(size.model, vocab_size=len(subwords))).to(DEVICE)
    translator = Translator(model, subwords)
    pairs = [translator.pair(c[source], c[target]) for c in captions["train"]]
    batches = data.Batches(pairs, data.pad_pairs, max_tokens=size.max_tokens, seed=seed)
    # section 5.3
    optimizer = torch.optim.Adam(model.parameters(), lr=size.rate, betas=(0.9, 0.98), eps=1e-9)
    scheduler = LambdaLR(optimizer, transformer_schedule(size.model.d_model, size.warmup))
    snapshots, begun = Snapshots(folder, name), time.perf_counter()
    asked, right = (
        {split: [caption[side] for caption in captions[split]] for split in ("validation", "test")}
        for side in (source, target)
    )

    def score(split: str, search: Callable) -> float:
        return scores(translator(asked[split], search), right[split])["cased"][0]

    def evaluate(model: nn.Module) -> dict[str, float]:
        step = scheduler.last_epoch
        snapshots.add(step, model)
        minutes = (time.perf_counter() - begun) / 60
        found = score("validation", greedy)
        print(
            f"  {source}-{target}, step {step}, {minutes:.1f} minutes: validation, greedy: "
            f"{found:.2f}",
            flush=True,
        )
        return {"bleu": found, "minutes": minutes}

    history = fit(
        model,
        batches,
        partial(translation_loss, smoothing=0.1),
        optimizer,
        scheduler,
        steps=size.steps,
        clip=1.0,
        mixed_precision=size.mixed_precision,
        evaluate=evaluate,
        evaluate_every=size.evaluate_every,
        checkpoint=folder / f"{name}.checkpoint",
        save_every=size.evaluate_every,
        resume=True,
        progress=False,
    )
    model.eval()
    last = {"last_greedy": score("test", greedy), "last_beam": score("test", beam)}
    model.load_state_dict(snapshots.mean())
    said = {search.__name__: translator(asked["test"], search) for search in (greedy, beam)}
    found = {
        "size": settings,
        "test": scores(said["beam"], right["test"]),
        "apart": last | {"mean_greedy": scores(said["greedy"], right["test"])["cased"][0]},
        "validation": {str(step): found["bleu"] for step, found in history.evaluations.items()},
        "n_parameters": sum(p.numel() for p in model.parameters()),
        "minutes": results.in_all([found["minutes"] for found in history.evaluations.values()]),
    }
    if size.stored and seed == 0:
        stored.save_translator(translator, source, target)
        found |= rounded(source, target, asked["test"], right["test"], said)
    print(
        f"{source}-{target}, seed {seed}: {found}; {asked['test'][0]!r} →",
        said["beam"][0],
    )
    write_whole(measured, json.dumps(found, indent=1))
    return found


def summary(
    runs: dict[int, dict], earlier: dict | None = None, seeds: Sequence[int] = ()
) -> tuple[dict, list[int]]:
    """The spread over the seeds, as it is written, and the seeds.

    Args:
        runs: what was measured, by the seed.
        earlier: what the file holds; its runs of other seeds are kept.  seeds: of those runs.

    Raises:
        ValueError: where the two are runs of different models, or were scored in different ways, or
            after other steps.
    """
    first = next(iter(runs.values()))
    fixed = {f"signature_{name}": first["test"][name][1] for name in CASES}
    fixed |= {"n_parameters": first["n_parameters"]}
    if other := {key: earlier[key] for key in fixed if earlier and earlier[key] != fixed[key]}:
        raise ValueError(f"the file holds runs with {other}: move it away first")
    one_by_one = {seed: numbers(run) for seed, run in runs.items()}
    kept = earlier and {name: earlier[name] for name in next(iter(one_by_one.values()))}
    found, of = results.together(one_by_one, kept, list(seeds))
    of_seed_0 = runs.get(0, earlier or {})
    stored_as = {name: of_seed_0[name] for name in ("stored", "equal") if name in of_seed_0}
    return found | fixed | stored_as, of


def numbers(run: dict) -> dict:
    """What of a run is spread over the seeds, as it is written."""
    return {name: run["test"][name][0] for name in CASES} | {
        "validation_by_step": run["validation"],
        "apart": run["apart"],
        "minutes": run["minutes"],
    }


def main() -> None:
    """Train, test, and write the file if the size is the full one."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", choices=SIZES, default="smoke")
    parser.add_argument(
        "--seeds",
        type=int,
        nargs="+",
        default=None,
        help="0 1 2 for the full size, 0 for the others",
    )
    parser.add_argument("--directions", nargs="+", choices=DIRECTIONS, default=DIRECTIONS)
    parser.add_argument(
        "--runs", type=Path, help="a folder: in FOLDER/size, runs are kept and taken up again"
    )
    arguments = parser.parse_args()
    size = SIZES[arguments.size]
    folder = results.folder_of_runs(arguments.runs, arguments.size)
    seeds = arguments.seeds or list(size.seeds)
    limits = {"train": size.n_train, "validation": size.n_test, "test": size.n_test}
    captions = {
        split: data.load("translation", split, source="real")[:limit]
        for split, limit in limits.items()
    }
    texts = [text for caption in captions["train"] for text in caption.values()]
    subwords = BPE.train(texts, size.model.vocab_size, SPECIALS)
    print(
        f"{len(captions['train'])} captions to train on, {len(subwords)} subwords, {DEVICE}",
        flush=True,
    )
    model = f"{size.model.n_layers} + {size.model.n_layers} layers, d_model {size.model.d_model}"
    title = (
        f"Multi30k, test 2016: sacrebleu of a Transformer trained from scratch ({model}), "
        f"{size.steps} steps"
    )
    record = size.file and results.to_add_to(size.file, title, size.of_a_run())
    record = record or {"results": {}, "seeds": []}
    measured, of = {}, seeds
    for direction in arguments.directions:
        source, target = direction.split("-")
        runs = {s: measure(size, captions, subwords, source, target, s, folder) for s in seeds}
        kept = record["results"].get(direction)
        measured[direction], of = summary(runs, kept, record["seeds"])
    # one direction alone would take the other's place
    if size.file is not None and measured.keys() >= set(DIRECTIONS):
        results.save(size.file, measured, title, of, settings=size.of_a_run())


if __name__ == "__main__":
    main()
