"""The ViT that reads drawn digits: in the page "Type your own", and in chapter 11b.

    python experiments/drawn_digits.py
        three minutes on one core; writes book/results/drawn_digits.json and the model that comes
        with the book

The model is the chapter's, trained on the data set's training and validation images; every image is
turned, scaled, slanted and shifted a little each time it is seen, for nobody draws as in the data
set. Tested on the 397 test images, and on ten digits drawn by hand here, of straight lines and
arcs.
"""

import time
from math import cos, radians, sin

import torch
import torch.nn.functional as F
from rounding import equal_labels
from torch import Tensor
from torch.optim.lr_scheduler import LambdaLR

from lectures_lib import data, results, stored
from lectures_lib.data import ImageBatch
from lectures_lib.data.strokes import digit_image
from lectures_lib.models.vit import ViT, ViTConfig
from lectures_lib.training import bert_schedule, fit

STEPS, BATCH, RATE, WARMUP = 3000, 64, 1e-3, 100
TURN, SLANT, SHIFT = 0.25, 0.25, 0.2  # radians, tangent, halves of the side: at most, either way


def arc(x: float, y: float, wide: float, high: float, begin: float, end: float) -> list:
    """Points on an ellipse around (x, y), from one angle to the other, in degrees."""
    angles = [radians(begin + (end - begin) * i / 24) for i in range(25)]
    return [(x + wide * cos(a), y + high * sin(a)) for a in angles]


# in a box about 10 high
DRAWN = [
    [arc(5, 5, 3.2, 5, 0, 360)],
    [[(3, 2), (5, 0), (5, 10)]],
    [[*arc(5, 2.5, 3, 2.5, 180, 400), (2, 10), (8, 10)]],
    [arc(4.5, 2.5, 3, 2.5, 200, 450) + arc(4.5, 7.5, 3.2, 2.5, -90, 160)],
    [[(5, 0), (1.5, 6.5), (8, 6.5)], [(6, 4), (6, 10)]],
    [[(8, 0), (3, 0), (2.7, 4.2), *arc(4.8, 7, 3, 3, -130, 140)]],
    [[(6.5, 0), (3, 5), *arc(5, 7.3, 2.6, 2.7, 200, 560)]],
    [[(2, 0), (8, 0), (4, 10)], [(3, 5), (7.5, 5)]],
    [arc(5, 2.5, 2.4, 2.5, 90, 450), arc(5, 7.5, 2.9, 2.5, -90, 270)],
    [[*arc(5, 2.8, 2.6, 2.8, 0, 360), (7.6, 2.8), (6.5, 10)]],
]


def varied(images: Tensor, generator: torch.Generator) -> Tensor:
    """Each image turned, scaled (by 0.85 to 1.2), slanted and shifted by chance."""

    def chance(most: float) -> Tensor:
        return (2 * torch.rand(len(images), generator=generator) - 1) * most

    turn, slant, right, down = chance(TURN), chance(SLANT), chance(SHIFT), chance(SHIFT)
    scale = 1.025 + chance(0.175)
    rows = [
        torch.stack([turn.cos() / scale, slant - turn.sin() / scale, right], dim=1),
        torch.stack([turn.sin() / scale, turn.cos() / scale, down], dim=1),
    ]
    grid = F.affine_grid(torch.stack(rows, dim=1), list(images.shape), align_corners=False)
    return F.grid_sample(images, grid, align_corners=False)


def loss(model: ViT, batch: ImageBatch) -> Tensor:
    """Cross-entropy of the labels."""
    return F.cross_entropy(model(batch.images), batch.labels)


@torch.no_grad()
def measured(model: ViT) -> dict:
    """Share of the test images named rightly, and what each of the drawn digits is taken for."""
    test = data.stack(data.load("images", "test"))
    right = model(test.images).argmax(dim=-1) == test.labels
    drawn = torch.stack([digit_image(strokes) for strokes in DRAWN])
    said = model(drawn).argmax(dim=-1).tolist()
    return {
        "test": right.float().mean().item(),
        "drawn": said,
        "drawn_right": sum(digit == i for i, digit in enumerate(said)),
    }


def main() -> None:
    """Train, store, measure what is stored."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    learn = [example for split in ("train", "validation") for example in data.load("images", split)]
    model = ViT(ViTConfig.DIGITS)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.05, fused=True)
    begun = time.perf_counter()
    fit(
        model,
        data.ImageBatches(learn, BATCH, seed=0, augment=varied),
        loss,
        optimizer,
        LambdaLR(optimizer, bert_schedule(WARMUP, STEPS)),
        steps=STEPS,
        progress=False,
    )
    minutes = (time.perf_counter() - begun) / 60
    before = measured(model.eval())
    stored.save_halves(model, stored.FOLDER / "digits.safetensors")
    stored.digits.cache_clear()
    after = measured(stored.digits())
    test = data.stack(data.load("images", "test")).images
    after["equal"] = equal_labels(model, stored.digits(), test)
    found = {"single": before, "stored": after, "steps": STEPS, "minutes": minutes}
    print(found)
    results.save("drawn_digits", found, "A ViT for drawn digits", [0])


if __name__ == "__main__":
    main()
