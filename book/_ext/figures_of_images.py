"""The figure with digits and garments that a reader draws, on a page below "Type your own"
(type_your_own.py).
"""

import base64
from functools import cache

import torch
from live_models import model
from torch import Tensor

from lectures_lib import data, stored
from lectures_lib.models.vit import ViT
from lectures_lib.tasks.sentence_bert import cosines

SHOWN = (2, 4, 9)  # digits whose first test image is offered
CLOTHES = (
    "The pictures are from Fashion-MNIST (Xiao, Rasul and Vollgraf 2017; © Zalando SE, MIT "
    "licence), where they are light on black: of each class the first in the test set. Press one "
    "again, and it is as it was."
)


def drawn(kind: str, vit: ViT, shades: int, examples: dict[str, Tensor]) -> dict:
    """What the figure must know of a kind of picture; "alike" are the cosines of every two patches'
    positions. The greys of an example are whole numbers, up to `shades`; they travel as bytes, in
    base64.
    """
    places = vit.positions.detach()[1:]  # 0 is the class token's
    greys = {name: (shades * image).round().byte() for name, image in examples.items()}
    return {
        "kind": kind,
        "side": vit.config.image_size,
        "shades": shades,
        "classes": list(vit.names or map(str, range(10))),
        "alike": [[round(value, 4) for value in row] for row in cosines(places, places).tolist()],
        "examples": [
            {"name": name, "image": base64.b64encode(grey.numpy().tobytes()).decode()}
            for name, grey in greys.items()
        ],
    }


@cache
def digits() -> tuple[dict, str]:
    """The figure with the ViTs that read digits and garments; one digit of the test set, and what
    it is taken for.
    """
    test = data.load("images", "test")
    first = {digit: next(one["image"] for one in test if one["label"] == digit) for digit in SHOWN}
    clothes = {data.GARMENTS[one["label"]]: one["image"] for one in data.ten_garments()}
    tests = {f"a test image: {digit}": image for digit, image in first.items()}
    kinds = [
        {"name": "A digit", **drawn("digit", stored.digits(), 16, tests)},
        {
            "name": "A garment",
            **drawn("garment", stored.garments(), 255, clothes),
            "pictured": True,
            "source": CLOTHES,
        },
    ]
    with torch.no_grad():
        said = int(stored.digits()(first[SHOWN[0]][None]).argmax())
    rows = ["".join(f"{'.:+#'[int(3.99 * grey)]} " for grey in row) for row in first[SHOWN[0]][0]]
    options = {
        "title": "A digit or a garment that you draw",
        "models": [
            model("images", stored.FOLDER / f"{name}.safetensors")
            for name in ("digits", "garments")
        ],
        "kinds": kinds,
        "asks": [{"task": "classify", "image": first[SHOWN[0]].flatten().tolist()}],
    }
    return options, "\n".join([*rows, f"→ {said}"])
