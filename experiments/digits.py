"""A small ViT on 8 × 8 digits, beside logistic regression and an SVM (chapters 11 and 11b).

    python experiments/digits.py
        five seeds, about ten minutes on one core; writes book/results/digits.json
    python experiments/digits.py --smoke
        a minute, to see that all works; nothing is written

All are trained on the same images and tested on the same 397. The ViT's recipe was chosen by a few
runs on the validation split; scikit-learn's models are as they come. With patches of 2 × 2: the
ViT, the same with something about its input changed, how it takes other input than it was trained
on, and whether attention rollout finds the patches that matter. With patches of 4 × 4, which is
faster: less and less to learn from. A seed decides the first weights, the order of the images, and
which images are kept where there are fewer. The file is written anew after every seed.
"""

import argparse
from collections.abc import Callable
from dataclasses import replace
from statistics import fmean

import torch
import torch.nn.functional as F
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from torch import Tensor
from torch.optim.lr_scheduler import LambdaLR

from lectures_lib import data, results
from lectures_lib.analysis.rollout import rollout
from lectures_lib.blocks.recording import record
from lectures_lib.data import ImageBatch
from lectures_lib.models.vit import ViT, ViTConfig, patches, unpatch
from lectures_lib.training import bert_schedule, fit

SEEDS = [0, 1, 2, 3, 4]
STEPS, BATCH, LEARNING_RATE, WEIGHT_DECAY, WARMUP = 600, 64, 1e-3, 0.05, 60
SIZES = (50, 100, 200, 400, 800, 1200)
Change = Callable[[Tensor], Tensor]


def loss(model: ViT, batch: ImageBatch) -> Tensor:
    """Cross-entropy of the labels."""
    return F.cross_entropy(model(batch.images), batch.labels)


def train(config: ViTConfig, examples: list, seed: int, steps: int, positions: bool = True) -> ViT:
    """A ViT after `steps` steps on these examples; without positions, they are zero and stay so."""
    torch.manual_seed(seed)
    model = ViT(config)
    if not positions:
        model.positions.requires_grad_(False).zero_()
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    scheduler = LambdaLR(optimizer, bert_schedule(min(WARMUP, steps // 2), steps))
    fit(
        model,
        data.ImageBatches(examples, BATCH, seed=seed),
        loss,
        optimizer,
        scheduler,
        steps=steps,
        progress=False,
    )
    return model.eval()


@torch.no_grad()
def accuracy(model: ViT, test: ImageBatch, interpolate: bool = False) -> float:
    """Share of the images that are named rightly."""
    return (model(test.images, interpolate).argmax(dim=-1) == test.labels).float().mean().item()


@torch.no_grad()
def agreement(model: ViT, test: ImageBatch) -> dict[str, float]:
    """How far attention rollout, and plain ink, order an image's patches as the damage does that is
    done by blanking each of them.

    The mean rank correlation over the test images, among the patches with ink in them; damage is
    the fall of the right score.
    """
    with record(model, "encoder.blocks.*.self_attention.weights") as seen:
        scores = model(test.images)
    weights = seen.all("encoder.blocks.*.self_attention.weights")
    cut = patches(test.images, model.config.patch_size)
    falls = []
    for i in range(cut.shape[1]):
        blanked = cut.clone()
        blanked[:, i] = 0
        fall = scores - model(unpatch(blanked, model.config.patch_size, *test.images.shape[2:]))
        falls.append(fall.gather(1, test.labels[:, None])[:, 0])
    damage, ink = torch.stack(falls, dim=1), cut.mean(dim=-1)
    orders = {"rollout": rollout(weights)[:, 0, 1:], "ink": ink}
    rows = [(i, ink[i] > 0.1) for i in range(len(ink))]
    return {
        name: fmean(rank_correlation(order[i][inked], damage[i][inked]) for i, inked in rows)
        for name, order in orders.items()
    }


def rank_correlation(a: Tensor, b: Tensor) -> float:
    """The correlation of two lists' ranks."""
    ranks = torch.stack([a.argsort().argsort(), b.argsort().argsort()])
    return torch.corrcoef(ranks.float())[0, 1].item()


def likeness(model: ViT) -> dict[str, float]:
    """Mean cosine of the learned vectors of places beside or below each other, and of those four
    steps apart or more.
    """
    side = model.config.image_size // model.config.patch_size
    row, column = torch.arange(side**2) // side, torch.arange(side**2) % side
    steps = (row[:, None] - row).abs() + (column[:, None] - column).abs()
    positions = F.normalize(model.positions.detach()[1:], dim=-1)
    cosines = positions @ positions.T
    return {
        "neighbours": cosines[steps == 1].mean().item(),
        "far_apart": cosines[steps >= 4].mean().item(),
    }


def larger(test: ImageBatch, size: int) -> ImageBatch:
    """The same images, enlarged."""
    return ImageBatch(
        F.interpolate(test.images, size=(size, size), mode="bilinear", align_corners=False),
        test.labels,
    )


def viewed(images: Tensor, size: int = 2) -> Tensor:
    """Images whose right patches are what `view` without `permute` takes for patches of the given
    ones.
    """
    batch, _, height, width = images.shape
    return unpatch(images.reshape(batch, -1, size**2), size, height, width)


def shuffled_patches(images: Tensor, size: int = 2) -> Tensor:
    """Images whose patches have changed places, the same way in all of them."""
    cut = patches(images, size)
    order = torch.randperm(cut.shape[1], generator=torch.Generator().manual_seed(0))
    return unpatch(cut[:, order], size, *images.shape[2:])


def shuffled_pixels(images: Tensor) -> Tensor:
    """Images whose pixels have changed places, the same way in all of them."""
    return shuffled_patches(images, size=1)


CHANGES: dict[str, Change] = {
    "viewed": viewed,
    "shuffled_patches": shuffled_patches,
    "shuffled_pixels": shuffled_pixels,
}


def changed(examples: list, change: Change) -> list:
    """The same examples with every image changed."""
    return [{**example, "image": change(example["image"][None])[0]} for example in examples]


def subset(examples: list, n: int, seed: int) -> list:
    """n of the examples, others for every seed."""
    order = torch.randperm(len(examples), generator=torch.Generator().manual_seed(seed))
    return [examples[i] for i in order[:n]]


def by_scikit_learn(examples: list, test: ImageBatch) -> dict[str, float]:
    """Accuracy of logistic regression and of an SVM with a Gaussian kernel."""
    train = data.stack(examples)
    models = {"logistic_regression": LogisticRegression(max_iter=2000), "svm": SVC()}
    for model in models.values():
        model.fit(train.images.flatten(1).numpy(), train.labels.numpy())
    return {
        name: float(model.score(test.images.flatten(1).numpy(), test.labels.numpy()))
        for name, model in models.items()
    }


def main() -> None:
    """Everything with every seed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--smoke", action="store_true")
    smoke = parser.parse_args().smoke
    seeds, sizes, steps = (SEEDS[:1], SIZES[:1], 20) if smoke else (SEEDS, SIZES, STEPS)
    torch.set_num_threads(1)
    examples, tested = data.load("images"), data.load("images", "test")
    test = data.stack(tested)
    fine, coarse = ViTConfig.DIGITS, replace(ViTConfig.DIGITS, patch_size=4)

    # by experiment, then by model or size: one number for each seed
    scores: dict[str, dict[str, list]] = {}
    for done, seed in enumerate(seeds, start=1):
        model = train(fine, examples, seed, steps)
        ways = {"patches_of_2": accuracy(model, test)}
        ways["no_positions"] = accuracy(train(fine, examples, seed, steps, positions=False), test)
        for name, change in CHANGES.items():
            ways[name] = accuracy(
                train(fine, changed(examples, change), seed, steps),
                data.stack(changed(tested, change)),
            )
        found = {
            "all_images": ways,
            "agreement_with_damage": agreement(model, test),
            "likeness": likeness(model),
        }
        # The same model on images that it was not trained for.
        raw = ImageBatch(16 * test.images, test.labels)
        enlarged = {
            f"size_{size}": accuracy(model, larger(test, size), interpolate=True)
            for size in (10, 12, 16)
        }
        found["same_model"] = {"pixels_from_0_to_16": accuracy(model, raw), **enlarged}
        for n in sizes:
            kept = subset(examples, n, seed)
            vit = accuracy(train(coarse, kept, seed, steps), test)
            found[str(n)] = {"patches_of_4": vit, **by_scikit_learn(kept, test)}
        for experiment, named in found.items():
            print(
                seed,
                experiment,
                {name: f"{score:.3f}" for name, score in named.items()},
                flush=True,
            )
            for name, score in named.items():
                scores.setdefault(experiment, {}).setdefault(name, []).append(score)
        if not smoke:
            measured = {
                experiment: {name: results.spread(s) for name, s in named.items()}
                for experiment, named in scores.items()
            }
            title = (
                f"Handwritten digits, 8 × 8: share of the 397 test images named rightly ({STEPS} "
                f"steps)"
            )
            results.save("digits", measured, title, seeds[:done])


if __name__ == "__main__":
    main()
