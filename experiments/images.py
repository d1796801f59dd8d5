"""A small ViT from scratch on Fashion-MNIST and CIFAR-10 (chapter 11).

    python experiments/images.py
        a smoke run: minutes on two cores, to see that all works; nothing is written
    python experiments/images.py --size full
        both data sets, with and without augmentation, three seeds, on a GPU; writes
        book/results/images.json

The images come from the mirror that LECTURES_DATA names, or from the hub. The last tenth of the
training images is kept for validation; the test images are looked at once, when training is over.
Augmented images are shifted by up to an eighth of their side, and half of them mirrored: a
convolution knows that neither changes what is seen, a ViT has to be shown.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.optim.lr_scheduler import LambdaLR

from lectures_lib import data, results
from lectures_lib.data import ImageBatch
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
    seeds: tuple[int, ...] = (0,)
    mixed_precision: str = "no"
    file: str | None = None  # in book/results


SIZES = {
    "smoke": Size(
        replace(ViTConfig.SMALL, d_model=64, n_layers=2, d_ff=128, dropout=0.0), 60, 64, 4_000, 500
    ),
    "full": Size(
        ViTConfig.SMALL, 20_000, 256, seeds=(0, 1, 2), mixed_precision="bf16", file="images"
    ),
}
LEARNING_RATE, WEIGHT_DECAY = 1e-3, 0.05


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


def loss(model: ViT, batch: ImageBatch) -> Tensor:
    """Cross-entropy of the labels."""
    # pixels from -1 to 1, as the paper's code has them
    return F.cross_entropy(model(2 * batch.images - 1), batch.labels)


@torch.no_grad()
def accuracy(model: ViT, images: list[dict], batch: int = 500) -> float:
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
    size: Size, learn: list[dict], test: list[dict], augment: bool, seed: int
) -> dict[str, float]:
    """Train one ViT and test it."""
    torch.manual_seed(seed)
    n_validation = len(learn) // 10
    learn, validation = learn[:-n_validation], learn[-n_validation:]
    channels, side, _ = learn[0]["image"].shape
    model = ViT(replace(size.model, image_size=side, n_channels=channels)).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    history = fit(
        model,
        data.ImageBatches(
            learn, size.batch, seed=seed, augment=shifted_and_mirrored if augment else None
        ),
        loss,
        optimizer,
        LambdaLR(optimizer, bert_schedule(size.steps // 20, size.steps)),
        steps=size.steps,
        clip=1.0,
        mixed_precision=size.mixed_precision,
        evaluate=lambda model: {"validation": accuracy(model, validation)},
        evaluate_every=max(1, size.steps // 10),
        progress=False,
    )
    model.eval()
    return {
        "test": accuracy(model, test),
        "validation": history.evaluations[size.steps]["validation"],
    }


def main() -> None:
    """Both data sets, with and without augmentation, with every seed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", choices=SIZES, default="smoke")
    size = SIZES[parser.parse_args().size]
    measured: dict[str, dict] = {}
    for name, hub_id in SOURCES.items():
        learn, test = (data.load("images", split, hub_id) for split in ("train", "test"))
        print(learn.origin, flush=True)
        learn, test = learn[: size.n_train], test[: size.n_test]
        for way, augment in {"plain": False, "augmented": True}.items():
            runs = [measure(size, learn, test, augment, seed) for seed in size.seeds]
            print(f"{name}, {way}: {runs}", flush=True)
            measured.setdefault(name, {})[way] = {
                split: results.spread([run[split] for run in runs]) for split in runs[0]
            }
        if size.file is not None:
            title = (
                f"A ViT from scratch, {size.steps:,} steps of {size.batch} images: share of images "
                f"named rightly"
            )
            results.save(size.file, measured, title, list(size.seeds))


if __name__ == "__main__":
    main()
