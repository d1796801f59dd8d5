"""The ViT that names garments: in the page "Type your own", beside the one that reads digits.

    LECTURES_DATA=… python experiments/drawn_garments.py
        about 20 minutes on one core; writes book/results/drawn_garments.json, the model that comes
        with the book and the ten pictures that a page shows
    LECTURES_DATA=… python experiments/drawn_garments.py --measure
        seconds: the model as it is stored, measured again

Its sizes are those of the ViT for digits, except that a patch has 7 × 7 pixels: 16 patches again,
three blocks, a third of the numbers and a fraction of the time of chapter 11b's ViT for
Fashion-MNIST (`images.py`), whose 49 patches are small. Trained on all 60,000 pictures, shifted and
mirrored as there; tested once on the 10,000 test pictures: as they are, moved, with a patch rubbed
out. And on ten garments drawn here with the page's brush, as outlines and filled with grey.
"""

import argparse
import base64
import json
import tempfile
import time
from itertools import pairwise
from pathlib import Path

import torch
from drawn_digits import RATE, WARMUP, loss
from images import SOURCES, new_vit, shifted_and_mirrored
from rounding import equal_labels
from torch import Tensor
from torch.optim.lr_scheduler import LambdaLR

from lectures_lib import data, results, stored
from lectures_lib.data import ImageBatch
from lectures_lib.data.strokes import brushed, displaced
from lectures_lib.files import write_whole
from lectures_lib.models.vit import ViT, ViTConfig
from lectures_lib.training import bert_schedule, fit

CONFIG = ViTConfig(28, 7, 1, 10, d_model=64, n_layers=3, n_heads=4, d_ff=128)
STEPS, BATCH = 18_000, 64
MOVES = (1, 2, 4)  # pixels, in each of the four directions
N_CHANGED = 1000  # test pictures that are moved, and lose each patch once
PEN, FILLING = 0.9, 0.6  # greys

SLEEVES = [(10, 4), (6, 6), (3, 22), (7, 23), (9, 12), (9, 25), (19, 25), (19, 12), (21, 23)]
SLEEVES += [(25, 22), (22, 6), (18, 4), (14, 6), (10, 4)]
SHORT = [(9, 4), (4, 7), (3, 12), (7, 13), (8, 10), (8, 24), (20, 24), (20, 10), (21, 13), (25, 12)]
SHORT += [(24, 7), (19, 4), (14, 6), (9, 4)]
# Of each class an outline on 28 × 28 pixels, closed, and further lines.
DRAWN = [
    [SHORT],
    [[(10, 3), (18, 3), (20, 25), (16, 25), (14, 10), (12, 25), (8, 25), (10, 3)]],
    [SLEEVES],
    [[(11, 2), (17, 2), (17, 9), (21, 26), (7, 26), (11, 9), (11, 2)]],
    [SLEEVES, [(14, 6), (14, 25)], [(10, 4), (12, 10), (14, 6), (16, 10), (18, 4)]],
    [
        [(2, 18), (10, 20), (18, 19), (26, 21), (26, 23), (2, 22), (2, 18)],
        [(6, 19), (11, 13), (15, 19)],
        [(18, 19), (22, 10), (25, 21)],
    ],
    [SLEEVES, [(14, 9), (14, 25)], [(10, 4), (14, 9), (18, 4)]],
    [[(2, 14), (2, 20), (26, 20), (26, 17), (17, 14), (12, 10), (8, 13), (2, 14)]],
    [[(4, 12), (24, 12), (24, 24), (4, 24), (4, 12)], [(9, 12), (10, 6), (18, 6), (19, 12)]],
    [[(6, 4), (14, 4), (15, 13), (25, 17), (25, 22), (6, 22), (6, 4)]],
]


def across(outline: list, y: float) -> list:
    """Strokes from side to side within a closed outline, at height y."""
    xs = sorted(
        x0 + (x1 - x0) * (y - y0) / (y1 - y0)
        for (x0, y0), (x1, y1) in pairwise(outline)
        if (y0 <= y) != (y1 <= y)
    )
    return [[(left, y), (right, y)] for left, right in zip(xs[::2], xs[1::2], strict=True)]


def drawing(lines: list, filled: bool) -> Tensor:
    """A garment of these lines, the first an outline, as the page's brush draws it."""
    image = torch.zeros(1, 28, 28)
    for stroke in [s for y in range(2, 27) for s in across(lines[0], y + 0.5)] if filled else []:
        image = brushed(image, stroke, FILLING)
    for line in lines:
        image = brushed(image, line, PEN)
    return image


def share_right(model: ViT, pictures: ImageBatch) -> float:
    """Share of the pictures that are named rightly."""
    return (model(pictures.images).argmax(dim=-1) == pictures.labels).float().mean().item()


def rubbed_out(pictures: ImageBatch, side: int) -> ImageBatch:
    """Each picture once for every patch, without it."""
    images = pictures.images.repeat_interleave(16, dim=0)
    for i in range(16):
        top, left = i // 4 * side, i % 4 * side
        images[i::16, :, top : top + side, left : left + side] = 0
    return ImageBatch(images, pictures.labels.repeat_interleave(16))


def eight_bits(model: ViT) -> ViT:
    """The model, its matrices rounded as those are that a page fetches in 8 bits."""
    with tempfile.TemporaryDirectory() as folder:
        stored.save_eight_bits(model, Path(folder, "rounded"))
        return stored.load_eight_bits(Path(folder, "rounded"), ViTConfig, ViT)


@torch.no_grad()
def measured(model: ViT, test: ImageBatch) -> dict:
    """The stored model on test pictures, as they are and changed, and on drawings."""
    few = ImageBatch(test.images[:N_CHANGED], test.labels[:N_CHANGED])
    shifted = {
        str(far): [
            share_right(model, ImageBatch(displaced(few.images, far * x, far * y), few.labels))
            for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1))
        ]
        for far in MOVES
    }
    found = {
        "stored": {"test": share_right(model, test)},
        "eight_bits": {"test": share_right(eight_bits(model), test)},
        "moved": {far: sum(shares) / len(shares) for far, shares in shifted.items()},
        "first": {"pictures": N_CHANGED, "test": share_right(model, few)},
        "rubbed_out": share_right(model, rubbed_out(few, model.config.patch_size)),
    }
    for name, filled in (("outlines", False), ("filled", True)):
        said = model(torch.stack([drawing(lines, filled) for lines in DRAWN])).argmax(-1).tolist()
        right = sum(label == i for i, label in enumerate(said))
        found[name] = {"said": said, "right": right}
    return found


def keep_pictures(test: ImageBatch) -> None:
    """The first picture of each class in the test set, for the page; the bytes of its greys."""
    rows = [test.labels.tolist().index(label) for label in range(10)]
    greys = [(255 * test.images[row]).round().byte().flatten().numpy().tobytes() for row in rows]
    written = {"rows": rows, "greys": [base64.b64encode(one).decode() for one in greys]}
    write_whole(data.GARMENT_FILE, json.dumps(written, indent=1) + "\n")


def train(learn: list[dict]) -> tuple[ViT, float]:
    """A new model, and the minutes that it took."""
    torch.manual_seed(0)
    model = new_vit(CONFIG)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.05, fused=True)
    begun = time.perf_counter()
    fit(
        model,
        data.ImageBatches(learn, BATCH, seed=0, augment=shifted_and_mirrored),
        loss,
        optimizer,
        LambdaLR(optimizer, bert_schedule(WARMUP, STEPS)),
        steps=STEPS,
        progress=False,
    )
    return model.eval(), (time.perf_counter() - begun) / 60


def main() -> None:
    """Train and store, or leave what is stored; measure that."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--measure", action="store_true", help="do not train")
    only_measure = parser.parse_args().measure
    torch.set_num_threads(1)
    source = SOURCES["fashion_mnist"]
    test = data.stack(data.load("images", "test", source))
    if only_measure:
        kept = results.load("drawn_garments")["results"]
        found = {name: kept[name] for name in ("steps", "minutes", "n_parameters", "single")}
        equal = kept["stored"].get("equal")
    else:
        keep_pictures(test)
        model, minutes = train(data.load("images", "train", source))
        stored.save_halves(model, stored.FOLDER / "garments.safetensors")
        stored.garments.cache_clear()
        with torch.no_grad():
            found = {"single": {"test": share_right(model, test)}}
            equal = equal_labels(model, stored.garments(), test.images)
        n_parameters = sum(p.numel() for p in model.parameters())
        found |= {"steps": STEPS, "minutes": minutes, "n_parameters": n_parameters}
    found |= measured(stored.garments(), test)
    if equal is not None:  # files of before were not asked for it, and the model is gone
        found["stored"]["equal"] = equal
    print(found)
    results.save("drawn_garments", found, "A ViT for garments, on pictures and on drawings", [0])


if __name__ == "__main__":
    main()
