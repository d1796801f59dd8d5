"""The drawings of chapters 11 and 11b: pixels, patches and results are the data's and the library's."""

import ast
import re
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch.testing import assert_close

from lectures_lib import data
from lectures_lib.models.vit import interpolate_positions, patches
from lectures_lib.show.drawings import draw, vision
from tests.helpers.drawn import holds_in_order, texts, written

CHAPTER = Path(__file__).parents[2] / "notebooks" / "11b_attention_or_convolution.py"


@pytest.fixture(scope="module")
def digits():
    """The test images and their labels."""
    return data.stack(data.load("images", "test"))


@pytest.mark.parametrize(("digit", "label"), [(vision.ZERO, 0), (vision.THREE, 3)])
def test_digits_are_the_first_of_their_kind(digits, digit, label):
    images, labels = digits
    assert_close(vision.pixels(digit), images[labels == label][0, 0])


@pytest.mark.parametrize("size", [2, 4])
def test_patches_are_those_that_the_library_cuts(size):
    image = vision.pixels(vision.ZERO)
    assert_close(vision.cut(image, size).flatten(1), patches(image[None, None], size)[0])


@pytest.mark.parametrize("narrow", [False, True])
def test_the_followed_patch_is_shown_and_flattened(narrow):
    found = patches(vision.pixels(vision.ZERO)[None, None], 2)[0, vision.FOLLOWED]
    shown = texts(draw("image_to_class", narrow).svg())
    # the square first, then the row
    assert holds_in_order(shown, 2 * written(found, ".2f"))
    # a position for the class token and for each of the 16 patches, or for the first and the last
    places = [0, 1, 2, 3, 16] if narrow else range(17)
    assert [text for text in shown if text.isdigit()] == [str(i) for i in places]
    assert shown.count("…") == (5 if narrow else 0)


@pytest.mark.parametrize("name", ["image_to_class", "moved_digit"])
def test_every_pixel_with_ink_is_a_square(name):
    squares = re.findall(r"M[\d.]+ [\d.]+h[\d.]+v[\d.]+h-[\d.]+z", draw(name).svg())
    if name == "image_to_class":  # the image, its patches, and these once more, flattened
        inked = 3 * (vision.pixels(vision.ZERO) > 0).sum()
    else:  # each image, and its patches
        three = vision.pixels(vision.THREE)
        inked = 2 * sum((image > 0).sum() for image in (three, vision.moved(three)))
    assert len(squares) == inked


def test_moved_is_one_pixel_further_right_and_no_patch_with_ink_returns():
    image = vision.pixels(vision.THREE)
    moved = vision.moved(image)
    assert_close(moved[:, 1:], image[:, :-1])
    assert not moved[:, 0].any()
    before, after = vision.cut(image, 4).flatten(1), vision.cut(moved, 4).flatten(1)
    assert (before[:, None] != after[None]).any(dim=-1).all(), "as its caption says"


def test_patch_trap_cuts_as_permute_and_as_view_do():
    made = vision.patch_cells()
    image = made["image"].float()[None, None]
    assert_close(made["right"].float(), patches(image, 2)[0])
    assert_close(made["wrong"].float(), image.view(4, 4))
    for narrow in (False, True):
        shown = texts(draw("patch_trap", narrow).svg())
        for name in ("right", "wrong"):
            assert holds_in_order(shown, written(made[name]))
        # the image, and the line in memory
        assert (
            sum(
                holds_in_order(shown[i : i + 16], written(made["image"])) for i in range(len(shown))
            )
            >= 4
        )


def test_framed_in_memory_are_the_first_patchs_numbers():
    line = vision.patch_cells()["image"].flatten().tolist()
    assert vision.runs("right") == [(0, 2), (4, 2)] and vision.runs("wrong") == [(0, 4)]
    for name in ("right", "wrong"):
        first = vision.patch_cells()[name][0].tolist()
        framed = [n for start, long in vision.runs(name) for n in line[start : start + long]]
        assert framed == first


def test_positions_are_stretched_as_the_library_does():
    made = vision.stretched()
    of_class = torch.full((1, 1), 9.0)
    table = torch.cat([of_class, made["small"].reshape(16, 1)])
    wanted = interpolate_positions(table, 6, 6)
    assert wanted[0] == of_class
    assert_close(made["large"].reshape(36, 1), wanted[1:].clamp(0, 1))
    svg = draw("stretched_positions").svg()
    assert {"17 rows", "37 rows"} <= set(texts(svg))
    bars = re.findall(r"h[\d.]+v[\d.]+H", svg)
    assert len(bars) == sum((made[name] > 0).sum() for name in made)


def test_same_kernel_shows_the_chapters_stroke_and_torchs_results():
    made = {
        node.targets[0].id: ast.literal_eval(call.args[0])
        for node in ast.parse(CHAPTER.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign)
        for call in ast.walk(node.value)
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "torch.tensor"
    }
    assert (tuple(made["stroke"]), tuple(made["kernel"])) == (vision.STROKE, vision.KERNEL)
    results = vision.convolved()
    relus = {}
    for name, values in results.items():
        row = values["pixels"]
        by_hand = row[1:] - row[:-1]
        assert_close(values["found"], by_hand)
        relus[name] = F.relu(by_hand)
        for narrow in (False, True):
            shown = texts(draw("same_kernel", narrow).svg())
            for part in ("pixels", "found", "relu"):
                assert holds_in_order(shown, written(values[part]))
            for pair in row.view(3, 2):
                assert holds_in_order(shown, written(pair))
            assert shown.count(f"Σ {relus[name].sum():g}") == 2
    assert_close(relus["moved"], relus["as it is"].roll(1))


def test_marked_are_the_patches_that_differ():
    before, after = (vision.convolved()[name]["patches"] for name in ("as it is", "moved"))
    differ = (before != after).any(dim=1).sum().item()
    marked = re.findall(r'<rect [^>]*class="f-error ', draw("same_kernel").svg())
    assert len(marked) == 2 * differ == 4
    assert torch.equal(before[0], after[0])
