"""Images: the digits' splits, batches that can be made again, and Fashion-MNIST and CIFAR-10 from
the mirror.
"""

import pytest
import torch

from lectures_lib import data
from lectures_lib.training import Epochs


@pytest.fixture(scope="module")
def digits():
    return {split: data.load("images", split) for split in data.SPLITS}


def test_the_digits_are_split_once_and_for_all(digits):
    assert {split: len(examples) for split, examples in digits.items()} == {
        "train": 1200,
        "validation": 200,
        "test": 397,
    }
    everything = [example for examples in digits.values() for example in examples]
    # no image twice
    assert len({example["image"].numpy().tobytes() for example in everything}) == len(everything)
    # The first labels, so that another shuffle, or other images from scikit-learn, are noticed.
    assert [example["label"] for example in digits["train"][:8]] == [2, 8, 7, 9, 5, 9, 3, 4]
    for example in everything:
        assert example["image"].shape == (1, 8, 8) and example["image"].dtype == torch.float32
    stacked = data.stack(everything)
    assert stacked.images.min() == 0 and stacked.images.max() == 1
    assert stacked.labels.bincount().tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]


def test_every_image_comes_once_an_epoch_and_epochs_can_be_made_again(digits):
    batches = data.ImageBatches(digits["train"], 500, seed=3)
    assert isinstance(batches, Epochs)
    first = list(batches.epoch(1))
    assert [len(batch.labels) for batch in first] == [500, 500, 200]
    images = torch.cat([batch.images for batch in first])
    together = {
        (i.numpy().tobytes(), int(label))
        for b in first
        for i, label in zip(b.images, b.labels, strict=True)
    }
    assert together == {(e["image"].numpy().tobytes(), e["label"]) for e in digits["train"]}
    again = torch.cat([batch.images for batch in batches.epoch(1)])
    assert torch.equal(images, again)
    for other in (batches.epoch(2), data.ImageBatches(digits["train"], 500, seed=4).epoch(1)):
        assert not torch.equal(images, torch.cat([batch.images for batch in other]))


def test_what_augments_is_drawn_from_the_batchs_own_generator(digits):
    def brighter(images, generator):
        return images + torch.rand(len(images), 1, 1, 1, generator=generator)

    batches = data.ImageBatches(digits["validation"], 64, augment=brighter)
    first, again = ([batch.images for batch in batches.epoch(0)] for _ in range(2))
    plain = [batch.images for batch in data.ImageBatches(digits["validation"], 64).epoch(0)]
    assert torch.equal(torch.cat(first), torch.cat(again)) and not torch.equal(
        torch.cat(first), torch.cat(plain)
    )


def test_bad_images_are_refused(digits):
    with pytest.raises(ValueError, match="batch_size = 0"):
        data.ImageBatches(digits["test"], 0)
    with pytest.raises(ValueError, match=r"got 2 of sizes \[\(1, 8, 8\), \(3, 4, 4\)\]"):
        data.stack([digits["test"][0], {"image": torch.zeros(3, 4, 4), "label": 0}])
    with pytest.raises(ValueError, match="got 0 of sizes"):
        data.stack([])
    with pytest.raises(ValueError, match="no split 'dev'"):
        data.handwritten_digits("dev")


@pytest.mark.mirror("zalando-datasets/fashion_mnist", "uoft-cs/cifar10")
@pytest.mark.parametrize(
    ("source", "hub_id", "shape"),
    [
        ("real", "zalando-datasets/fashion_mnist", (1, 28, 28)),
        ("uoft-cs/cifar10", "uoft-cs/cifar10", (3, 32, 32)),
    ],
)
def test_real_images_from_the_mirror(source, hub_id, shape):
    examples = data.load("images", "test", source)
    assert (
        len(examples) == 10_000
        and examples.origin == f"{hub_id}, test, from the mirror that LECTURES_DATA names"
    )
    stacked = data.stack(examples)
    assert (
        stacked.images.shape == (10_000, *shape)
        and stacked.labels.bincount().tolist() == [1000] * 10
    )
    assert stacked.images.min() == 0 and stacked.images.max() == 1
    with pytest.raises(data.DataError, match=r"no .*/validation.parquet \(there: test, train\)"):
        data.load("images", "validation", source)
