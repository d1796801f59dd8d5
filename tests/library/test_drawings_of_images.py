"""The drawings of chapters 11 and 11b: pixels, patches and results are the data's and the library's."""

import ast
import base64
import io
import re
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
import torch
import torch.nn.functional as F
from torch.testing import assert_close

from lectures_lib import data, stored
from lectures_lib.models.vit import interpolate_positions
from lectures_lib.models.vit import patches as library_patches
from lectures_lib.show.drawings import convolution, draw, patches
from lectures_lib.show.drawings.pixels import cut
from tests.helpers.drawn import holds_in_order, texts, written

CHAPTER = Path(__file__).parents[2] / "notebooks" / "11b_attention_or_convolution.py"


def test_three_is_the_first_of_the_test_images():
    images, labels = data.stack(data.load("images", "test"))
    assert_close(convolution.three(), images[labels == 3][0, 0])


@pytest.mark.parametrize(("image", "size"), [(convolution.three(), 4), (patches.garment(), 7)])
def test_patches_are_those_that_the_library_cuts(image, size):
    assert_close(cut(image, size).flatten(1), library_patches(image[None, None], size)[0])


def greys(svg: str) -> list[torch.Tensor]:
    """The pictures of a drawing, each with numbers from 0, nothing, to 1, ink."""
    found = re.findall(r'<image [^>]*href="data:image/png;base64,([^"]*)"', svg)
    made = [plt.imread(io.BytesIO(base64.b64decode(one)), format="png") for one in found]
    return [torch.from_numpy(one[..., -1]) for one in made]


@pytest.mark.parametrize("narrow", [False, True])
def test_the_garment_its_patches_and_the_followed_one_are_shown(narrow):
    whole, zoom, row, *words = greys(draw("image_to_class", narrow).svg())
    assert_close(whole, patches.garment())
    found = library_patches(patches.garment()[None, None], 7)[0]  # (16, 49)
    followed = found[patches.FOLLOWED]
    assert_close(zoom.flatten(), followed)
    assert_close(row, followed.expand(len(row), -1))
    shown = [0, patches.FOLLOWED, 15] if narrow else range(16)
    assert_close(torch.stack([word.flatten() for word in words]), found[list(shown)])


@pytest.mark.parametrize("narrow", [False, True])
def test_the_followed_patchs_numbers_and_every_position_are_shown(narrow):
    followed = library_patches(patches.garment()[None, None], 7)[0, patches.FOLLOWED]
    shown = texts(draw("image_to_class", narrow).svg())
    assert " ".join([*written(followed[:7], ".2f"), "…"]) in shown
    assert "flattened: 49 numbers" in shown
    # a position for the class token and for each of the 16 patches, or for those that are drawn
    places = [0, 1, 6, 16] if narrow else range(17)
    assert [text for text in shown if text.isdigit()] == [str(i) for i in places]
    assert shown.count("…") == (8 if narrow else 0)


def test_the_garments_class_is_what_the_stored_vit_says():
    vit = stored.garments()
    with torch.no_grad():
        said = vit.names[vit(patches.garment()[None, None]).argmax()]
    assert f"a {said}" in texts(draw("image_to_class").svg()) and said == patches.WORN


def test_a_pictures_ink_is_dark_on_paper_and_light_in_the_dark():
    svg = draw("image_to_class").svg()
    light, dark = svg.split("@media screen", 1)
    assert "invert" not in light and dark.count("image{filter:invert(1)}") == 1
    assert svg.count('image-rendering="pixelated"') == svg.count("<image ")
    assert "invert" not in draw("moved_digit").svg()


def test_every_pixel_with_ink_is_a_square():
    squares = re.findall(r"M[\d.]+ [\d.]+h[\d.]+v[\d.]+h-[\d.]+z", draw("moved_digit").svg())
    three = convolution.three()  # each image, and its patches
    inked = 2 * sum((image > 0).sum() for image in (three, convolution.moved(three)))
    assert len(squares) == inked


def test_moved_is_one_pixel_further_right_and_no_patch_with_ink_returns():
    image = convolution.three()
    moved = convolution.moved(image)
    assert_close(moved[:, 1:], image[:, :-1])
    assert not moved[:, 0].any()
    before, after = cut(image, 4).flatten(1), cut(moved, 4).flatten(1)
    assert (before[:, None] != after[None]).any(dim=-1).all(), "as its caption says"


def test_patch_trap_cuts_as_permute_and_as_view_do():
    made = patches.patch_cells()
    image = made["image"].float()[None, None]
    assert_close(made["right"].float(), library_patches(image, 2)[0])
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
    line = patches.patch_cells()["image"].flatten().tolist()
    assert patches.runs("right") == [(0, 2), (4, 2)] and patches.runs("wrong") == [(0, 4)]
    for name in ("right", "wrong"):
        first = patches.patch_cells()[name][0].tolist()
        framed = [n for start, long in patches.runs(name) for n in line[start : start + long]]
        assert framed == first


def test_positions_are_stretched_as_the_library_does():
    made = patches.stretched()
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
    assert (tuple(made["stroke"]), tuple(made["kernel"])) == (
        convolution.STROKE,
        convolution.KERNEL,
    )
    results = convolution.convolved()
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
    before, after = (convolution.convolved()[name]["patches"] for name in ("as it is", "moved"))
    differ = (before != after).any(dim=1).sum().item()
    marked = re.findall(r'<rect [^>]*class="f-error ', draw("same_kernel").svg())
    assert len(marked) == 2 * differ == 4
    assert torch.equal(before[0], after[0])
