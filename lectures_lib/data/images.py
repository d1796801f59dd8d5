"""Images with their labels: scikit-learn's handwritten digits, Fashion-MNIST and CIFAR-10 (chapter
11).

An image is a tensor (channels, height, width) of numbers from 0, black, to 1. The digits come with
scikit-learn and need no download: 1,797 images of 8 × 8 grey pixels.
"""

import base64
import json
import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from lectures_lib.data.splits import check_split

N_TRAIN, N_VALIDATION = 1200, 200  # of the digits; the other 397 are the test split

# The classes of Fashion-MNIST, in the order of their labels.
GARMENTS = (
    *("T-shirt", "trouser", "pullover", "dress", "coat"),
    *("sandal", "shirt", "sneaker", "bag", "ankle boot"),
)
GARMENT_FILE = Path(__file__).with_name("garments.json")


def ten_garments() -> list[dict[str, Any]]:
    """Ten pictures of Fashion-MNIST that come with the library, the first of each class in the test
    set (Xiao, Rasul and Vollgraf 2017; MIT licence, in garments.md).

    Returns:
        Dictionaries with the "image" (1, 28, 28) and its "label", 0 to 9.
    """
    kept = json.loads(GARMENT_FILE.read_text(encoding="utf-8"))["greys"]
    greys = torch.tensor([list(base64.b64decode(one)) for one in kept]) / 255
    return [{"image": image.view(1, 28, 28), "label": label} for label, image in enumerate(greys)]


def handwritten_digits(split: str = "train") -> list[dict[str, Any]]:
    """Scikit-learn's digits (Alpaydin and Kaynak 1998), shuffled once and for all: 1,200 for
    training, 200 and 397 for the others.

    Returns:
        Dictionaries with the "image" (1, 8, 8) and its "label", 0 to 9.

    Raises:
        ValueError: for a split that does not exist.
        ImportError: without scikit-learn.
    """
    check_split(split)
    try:
        from sklearn.datasets import load_digits
    except ModuleNotFoundError:
        raise ImportError(
            "the digits come with scikit-learn, which is not installed here: pip install "
            "scikit-learn"
        ) from None
    digits = load_digits()
    order = list(range(len(digits.target)))
    random.Random(0).shuffle(order)
    ends = {
        "train": (0, N_TRAIN),
        "validation": (N_TRAIN, N_TRAIN + N_VALIDATION),
        "test": (N_TRAIN + N_VALIDATION, None),
    }
    # the file's pixels go from 0 to 16
    images = torch.tensor(digits.images / 16, dtype=torch.float32)[:, None]
    return [
        {"image": images[i], "label": int(digits.target[i])} for i in order[slice(*ends[split])]
    ]


def labelled_image(row: dict[str, Any]) -> dict[str, Any]:
    """An example from a row of the hub's tables, where an image is one of Pillow's, named "image"
    or "img".
    """
    pixels = np.array(row["image"] if "image" in row else row["img"])
    grey = pixels.ndim == 2
    image = torch.from_numpy(pixels[None] if grey else pixels.transpose(2, 0, 1)).float() / 255
    return {"image": image, "label": int(row["label"])}


class ImageBatch(NamedTuple):
    """Images and their labels."""

    images: Float[Tensor, "batch channels height width"]
    labels: Int[Tensor, " batch"]

    @property
    def n_targets(self) -> int:
        """How many images there are: what the batch's loss is the mean of."""
        return len(self.labels)


def stack(examples: Sequence[dict[str, Any]]) -> ImageBatch:
    """Examples as one batch.

    Raises:
        ValueError: for no examples, or images of different sizes.
    """
    sizes = {tuple(example["image"].shape) for example in examples}
    if len(sizes) != 1:
        raise ValueError(
            f"images of one size make a batch, got {len(examples)} of sizes {sorted(sizes)}"
        )
    return ImageBatch(
        torch.stack([e["image"] for e in examples]), torch.tensor([e["label"] for e in examples])
    )


class ImageBatches:
    """Cuts images into batches, shuffled anew for every epoch, always the same way for the same
    seed and epoch.

    Args:
        examples: dictionaries with "image" and "label".
        batch_size: how many images in a batch; what is left over at an epoch's end makes a smaller
            one.
        seed: decides every order.
        augment: changes a batch's images before they are trained on, with the generator it is
            given: each batch's own.

    Raises:
        ValueError: for no examples, images of different sizes, or a batch size below 1.
    """

    def __init__(
        self,
        examples: Sequence[dict[str, Any]],
        batch_size: int,
        *,
        seed: int = 0,
        augment: Callable[[Tensor, torch.Generator], Tensor] | None = None,
    ):
        if not isinstance(batch_size, int) or batch_size < 1:
            raise ValueError(f"a batch has at least one image, got batch_size = {batch_size!r}")
        self.all, self.batch_size, self.seed, self.augment = (
            stack(examples),
            batch_size,
            seed,
            augment,
        )

    def epoch(self, number: int) -> Iterator[ImageBatch]:
        """The batches of epoch 0, 1, 2, …; each is made when it is asked for."""
        for make in self.makers(number):
            yield make()

    def makers(self, number: int) -> Iterator[Callable[[], ImageBatch]]:
        """For each batch of an epoch a function that makes it: of several processes, each makes
        only its own.
        """
        chance = f"seed {self.seed}, epoch {number}"
        order = torch.randperm(len(self.all.labels), generator=_generator(chance))
        for i, rows in enumerate(order.split(self.batch_size)):
            yield partial(self._make, rows, f"{chance}, batch {i}")

    def _make(self, rows: Tensor, chance: str) -> ImageBatch:
        images = self.all.images[rows]
        if self.augment is not None:
            images = self.augment(images, _generator(chance))
        return ImageBatch(images, self.all.labels[rows])


def _generator(chance: str) -> torch.Generator:
    return torch.Generator().manual_seed(random.Random(chance).getrandbits(32))
