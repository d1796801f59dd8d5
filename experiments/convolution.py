"""What does a convolution know beforehand? A small CNN and a ViT on digits whose pixels have
changed places (chapter 11b).

    python experiments/convolution.py
        five seeds, five minutes on one core; writes book/results/convolution.json
    python experiments/convolution.py --smoke
        seconds, to see that all works; nothing is written

Both have about as many parameters and are trained as in `experiments/digits.py`, whose ViT with
patches of 4 × 4 on unchanged images this stands beside. Only the CNN's learning rate was chosen
anew, on the validation images. Shuffled means: every image's pixels in another order, the same for
all, so that no two neighbours are neighbours any more.
"""

import argparse
from collections.abc import Callable
from dataclasses import replace

import torch

# beside this file
from digits import BATCH, SEEDS, STEPS, WARMUP, WEIGHT_DECAY, changed, loss, shuffled_pixels, subset
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR

from lectures_lib import data, results
from lectures_lib.data import ImageBatch
from lectures_lib.models.vit import ViT, ViTConfig
from lectures_lib.training import bert_schedule, fit

SIZES = (100, 1200)


class CNN(nn.Module):
    """Three convolutions of 3 × 3, the last two with a stride of 2, and the mean over all
    places.
    """

    def __init__(self, channels: tuple[int, ...] = (32, 64, 128), n_classes: int = 10):
        super().__init__()
        layers, before = [], 1
        for i, after in enumerate(channels):
            layers += [nn.Conv2d(before, after, 3, stride=2 if i else 1, padding=1), nn.GELU()]
            before = after
        self.layers, self.head = nn.Sequential(*layers), nn.Linear(before, n_classes)

    def forward(self, images: Tensor) -> Tensor:
        """Logits (batch, classes) of images (batch, 1, height, width)."""
        return self.head(self.layers(images).mean(dim=(2, 3)))


def vit() -> ViT:
    """The ViT with patches of 4 × 4."""
    return ViT(replace(ViTConfig.DIGITS, patch_size=4))


def accuracy(
    make: Callable[[], nn.Module],
    examples: list,
    test: ImageBatch,
    seed: int,
    rate: float,
    steps: int,
) -> float:
    """Share of the test images that a model names rightly after training on the examples."""
    torch.manual_seed(seed)
    model = make()
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=WEIGHT_DECAY)
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
    with torch.no_grad():
        return (model.eval()(test.images).argmax(dim=-1) == test.labels).float().mean().item()


def main() -> None:
    """Every model, with pixels in place and shuffled, with every seed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--smoke", action="store_true")
    smoke = parser.parse_args().smoke
    seeds, sizes, steps = (SEEDS[:1], SIZES[:1], 20) if smoke else (SEEDS, SIZES, STEPS)
    torch.set_num_threads(1)
    examples, tested = data.load("images"), data.load("images", "test")
    mixed, test, mixed_test = (
        changed(examples, shuffled_pixels),
        data.stack(tested),
        data.stack(changed(tested, shuffled_pixels)),
    )
    runs = {
        "cnn": (CNN, examples, test, 3e-3),
        "cnn_shuffled_pixels": (CNN, mixed, mixed_test, 3e-3),
        "vit_shuffled_pixels": (vit, mixed, mixed_test, 1e-3),
    }
    scores: dict[str, dict[str, list]] = {str(n): {name: [] for name in runs} for n in sizes}
    for done, seed in enumerate(seeds, start=1):
        for n in sizes:
            for name, (make, of, asked, rate) in runs.items():
                scores[str(n)][name].append(
                    accuracy(make, subset(of, n, seed), asked, seed, rate, steps)
                )
                print(seed, n, name, f"{scores[str(n)][name][-1]:.3f}", flush=True)
        if not smoke:
            measured = {
                n: {name: results.spread(s) for name, s in named.items()}
                for n, named in scores.items()
            }
            measured["parameters"] = {
                "cnn": sum(p.numel() for p in CNN().parameters()),
                "vit": sum(p.numel() for p in vit().parameters()),
            }
            title = (
                f"Digits in order and with shuffled pixels: share of the 397 test images named "
                f"rightly ({STEPS} steps)"
            )
            results.save("convolution", measured, title, seeds[:done])


if __name__ == "__main__":
    main()
