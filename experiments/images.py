"""A small ViT from scratch on Fashion-MNIST and CIFAR-10, a convolution beside it, and both in one
(chapter 11b).

    python experiments/images.py
        a smoke run: minutes on two cores, to see that all works; nothing is written
    python experiments/images.py --size cpu --runs FOLDER
        the same data sets and models, smaller, one seed, about fourteen hours of one core,
        to judge by their first steps; writes book/results/images_cpu.json; run again with the same
        folder, it goes on where it stopped
    … --size cpu --runs FOLDER --sources cifar10 --models hybrid
        these alone; what the file holds of others stays
    python experiments/images.py --size full
        both data sets, three models, three seeds, on a GPU; writes book/results/images.json
    … --size full --runs FOLDER --only fashion_mnist_vit_augmented_0
        one run alone, so that several can be trained side by side; nothing is written but in
        FOLDER, where the command without --only finds it

The images come from the mirror that LECTURES_DATA names, or from the hub. The last tenth of the
training images is kept for validation; the test images are looked at once, when training is over.
Augmented images are shifted by up to an eighth of their side, and half of them mirrored: a
convolution knows that neither changes what is seen, a ViT has to be shown.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR

from lectures_lib import data, results
from lectures_lib.data import ImageBatch
from lectures_lib.files import write_whole
from lectures_lib.models.vit import ViT, ViTConfig
from lectures_lib.training import bert_schedule, fit

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
SOURCES = {"fashion_mnist": "zalando-datasets/fashion_mnist", "cifar10": "uoft-cs/cifar10"}


@dataclass(frozen=True)
class Size:
    """How large a model, for how long, on how much."""

    model: ViTConfig
    steps: int
    batch: int
    n_train: int | None = None
    n_test: int | None = None
    sources: tuple[str, ...] = tuple(SOURCES)
    models: tuple[str, ...] = ("vit",)
    ways: tuple[str, ...] = ("plain", "augmented")  # plain: the ViT alone
    seeds: tuple[int, ...] = (0,)
    mixed_precision: str = "no"
    file: str | None = None  # in book/results

    def of_a_run(self) -> dict[str, Any]:
        """What a single run depends on, as its file keeps it."""
        names = ("model", "steps", "batch", "n_train", "n_test", "mixed_precision")
        return {name: value for name, value in asdict(self).items() if name in names}


SIZES = {
    "smoke": Size(
        replace(ViTConfig.SMALL, d_model=64, n_layers=2, d_ff=128, dropout=0.0),
        60,
        64,
        4_000,
        500,
        models=("vit", "hybrid", "cnn"),
    ),
    "cpu": Size(
        replace(ViTConfig.SMALL, d_model=96, n_layers=4, d_ff=192, dropout=0.0),
        18_000,
        128,
        models=("vit", "hybrid", "cnn"),
        ways=("augmented",),
        file="images_cpu",
    ),
    "full": Size(
        ViTConfig.SMALL,
        10_000,
        256,
        models=("vit", "hybrid", "cnn"),
        ways=("augmented",),
        seeds=(0, 1, 2),
        mixed_precision="bf16",
        file="images",
    ),
}
LEARNING_RATE, WEIGHT_DECAY = 1e-3, 0.05
NUMBERS = ("test", "validation", "minutes")


def new_vit(config: ViTConfig) -> ViT:
    """A ViT whose matrices, positions too, begin with Glorot and Bengio's uniform numbers: with
    them it learns faster at first (one try, 300 steps on Fashion-MNIST: 0.68 of the images right,
    with torch's own beginning 0.59).
    """
    model = ViT(config)
    for parameter in model.parameters():
        if parameter.dim() == 2:
            nn.init.xavier_uniform_(parameter)
    return model


def convolutions(n_channels: int, width: int = 32) -> nn.Sequential:
    """Four convolutions, with batch normalisation, that halve the image twice:
    (batch, n_channels, side, side) -> (batch, 2 · width, side / 4, side / 4). Chapter 11b writes
    the same.
    """
    layers = []
    for read, written, stride in (
        (n_channels, width, 1),
        (width, width, 2),
        (width, 2 * width, 1),
        (2 * width, 2 * width, 2),
    ):
        layers += [
            nn.Conv2d(read, written, 3, stride, padding=1, bias=False),
            nn.BatchNorm2d(written),
            nn.ReLU(),
        ]
    return nn.Sequential(*layers)


def small_cnn(n_channels: int, width: int = 32) -> nn.Module:
    """The four convolutions and a mean over what is left: the ordinary thing to do with such
    images.
    """
    mean = (nn.AdaptiveAvgPool2d(1), nn.Flatten())
    return nn.Sequential(convolutions(n_channels, width), *mean, nn.Linear(2 * width, 10))


def hybrid(config: ViTConfig, width: int = 32) -> nn.Module:
    """The same four convolutions, and a ViT that reads each place of what they leave as a patch, as
    many as patches of 4 × 4 pixels: the hybrid of Dosovitskiy et al. (2021, section 3.1).
    """
    side = config.image_size // 4
    places = replace(config, image_size=side, patch_size=1, n_channels=2 * width)
    return nn.Sequential(convolutions(config.n_channels, width), new_vit(places))


def new_model(name: str, config: ViTConfig) -> nn.Module:
    """The model of this name for images of the config's size."""
    if name == "cnn":
        return small_cnn(config.n_channels)
    return hybrid(config) if name == "hybrid" else new_vit(config)


def shifted_and_mirrored(images: Tensor, generator: torch.Generator) -> Tensor:
    """Each image moved by up to an eighth of its side in either direction, and half of them
    mirrored.
    """
    batch, _, height, width = images.shape
    room = height // 8
    padded = F.pad(images, (room, room, room, room))
    down, right = torch.randint(2 * room + 1, (2, batch), generator=generator)
    rows = (down[:, None] + torch.arange(height))[:, None, :, None]
    columns = (right[:, None] + torch.arange(width))[:, None, None, :]
    mirrored = torch.rand(batch, generator=generator) < 0.5
    columns = torch.where(mirrored[:, None, None, None], columns.flip(-1), columns)
    return padded[
        torch.arange(batch)[:, None, None, None],
        torch.arange(images.shape[1])[:, None, None],
        rows,
        columns,
    ]


def loss(model: nn.Module, batch: ImageBatch) -> Tensor:
    """Cross-entropy of the labels."""
    # pixels from -1 to 1, as the paper's code has them
    return F.cross_entropy(model(2 * batch.images - 1), batch.labels)


@torch.no_grad()
def accuracy(model: nn.Module, images: list[dict], batch: int = 500) -> float:
    """Share of the images that are named rightly."""
    device = next(model.parameters()).device
    parts: Iterator[ImageBatch] = (
        data.stack(images[i : i + batch]) for i in range(0, len(images), batch)
    )
    right = sum(
        int((model(2 * p.images.to(device) - 1).argmax(dim=-1).cpu() == p.labels).sum())
        for p in parts
    )
    return right / len(images)


def measure(
    size: Size,
    learn: list[dict],
    test: list[dict],
    name: str,
    augment: bool,
    seed: int,
    run: Path,
) -> dict:
    """Train one model and test it, or say what was measured when that was done. `run` is the name
    of its files, without their ending.

    Raises:
        ValueError: where a run of another size has that name.
    """
    measured, settings = run.with_suffix(".json"), size.of_a_run()
    if found := results.kept_run(measured, settings):
        return found
    torch.manual_seed(seed)
    n_validation = len(learn) // 10
    learn, validation = learn[:-n_validation], learn[-n_validation:]
    channels, side, _ = learn[0]["image"].shape
    model = new_model(name, replace(size.model, image_size=side, n_channels=channels))
    # numbers of one pixel side by side: a convolution is faster with them so, and gives the same
    model = model.to(DEVICE, memory_format=torch.channels_last)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY, fused=True
    )
    scheduler = LambdaLR(optimizer, bert_schedule(size.steps // 20, size.steps))
    # of a CPU the time it worked, so that other work beside it does not count
    clock = time.process_time if DEVICE.type == "cpu" else time.perf_counter
    begun = clock()

    def evaluate(model: nn.Module) -> dict[str, float]:
        found = accuracy(model, validation)
        minutes = (clock() - begun) / 60
        print(f"  step {scheduler.last_epoch}, {minutes:.1f} minutes: {found:.4f}", flush=True)
        return {"validation": found, "minutes": minutes}

    history = fit(
        model,
        data.ImageBatches(
            learn, size.batch, seed=seed, augment=shifted_and_mirrored if augment else None
        ),
        loss,
        optimizer,
        scheduler,
        steps=size.steps,
        clip=1.0,
        mixed_precision=size.mixed_precision,
        evaluate=evaluate,
        evaluate_every=max(1, size.steps // 20),
        checkpoint=run.with_suffix(".checkpoint"),
        save_every=max(1, size.steps // 20),
        resume=True,
        progress=False,
    )
    model.eval()
    found = {
        "size": settings,
        "test": accuracy(model, test),
        "validation": history.evaluations[size.steps]["validation"],
        "by_step": {str(step): at["validation"] for step, at in history.evaluations.items()},
        "n_parameters": sum(p.numel() for p in model.parameters()),
        "minutes": results.in_all([at["minutes"] for at in history.evaluations.values()]),
    }
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
        ValueError: where the two are runs of different models, or were looked at after other steps.
    """
    n_parameters = next(iter(runs.values()))["n_parameters"]
    if earlier and earlier["n_parameters"] != n_parameters:
        raise ValueError(
            f"the file's model has {earlier['n_parameters']} parameters, this one {n_parameters}: "
            f"move the file away first"
        )
    kept = (*NUMBERS, "by_step")
    found, of = results.together(
        {seed: {name: run[name] for name in kept} for seed, run in runs.items()},
        earlier and {name: earlier[name] for name in kept},
        list(seeds),
    )
    return found | {"n_parameters": n_parameters}, of


def main() -> None:
    """The size's data sets and models, with every seed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", choices=SIZES, default="smoke")
    parser.add_argument(
        "--runs", type=Path, help="a folder: where runs are kept, and taken up again"
    )
    parser.add_argument("--only", help="one run of the folder, such as cifar10_vit_augmented_0")
    parser.add_argument(
        "--seeds", type=int, nargs="+", help="other seeds than the size's; what the file has stays"
    )
    parser.add_argument(
        "--sources",
        choices=SOURCES,
        nargs="+",
        help="some of the data sets; of others the file stays",
    )
    parser.add_argument(
        "--models", choices=SIZES["full"].models, nargs="+", help="some of the models, likewise"
    )
    arguments = parser.parse_args()
    size = SIZES[arguments.size]
    for name in ("seeds", "sources", "models"):
        if asked := getattr(arguments, name):
            size = replace(size, **{name: tuple(asked)})
    names = [
        f"{source}_{name}_{way}_{seed}"
        for source, name, way, seed in product(size.sources, size.models, size.ways, size.seeds)
        if way == "augmented" or name == "vit"
    ]
    if arguments.only not in (None, *names):
        parser.error(f"there is no run {arguments.only!r} of this size; there are: {names}")
    folder = arguments.runs or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [arguments.only] if arguments.only else names
    title = (
        f"A ViT from scratch, {size.steps:,} steps of {size.batch} images: share of images "
        f"named rightly"
    )
    record = size.file and results.to_add_to(size.file, title, size.of_a_run())
    record = record or {"results": {}, "seeds": []}
    earlier, seeds_of = record["results"], record.get("seeds_of", {})
    measured = {source: dict(models) for source, models in earlier.items()}
    for source in size.sources:
        if not any(run.startswith(source) for run in wanted):
            continue
        learn, test = (data.load("images", split, SOURCES[source]) for split in ("train", "test"))
        print(learn.origin, flush=True)
        learn, test = learn[: size.n_train], test[: size.n_test]
        for name, way in product(size.models, size.ways):
            runs = {
                seed: measure(size, learn, test, name, way == "augmented", seed, folder / run)
                for seed in size.seeds
                if (run := f"{source}_{name}_{way}_{seed}") in wanted
            }
            print(f"{source}, {name}, {way}: {runs}", flush=True)
            if runs and not arguments.only:
                of = f"{source}_{name}_{way}"
                kept = earlier.get(source, {}).get(name, {}).get(way)
                found, seeds_of[of] = summary(runs, kept, seeds_of.get(of, record["seeds"]))
                measured.setdefault(source, {}).setdefault(name, {})[way] = found
    if size.file is not None and not arguments.only:
        seeds = sorted({*record["seeds"], *size.seeds})
        settings = {"settings": size.of_a_run(), "seeds_of": seeds_of}
        results.save(size.file, measured, title, seeds, **settings)


if __name__ == "__main__":
    main()
