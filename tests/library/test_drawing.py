"""A drawing becomes what the data set of digits holds."""

import pytest
import torch

from lectures_lib import data, stored
from lectures_lib.data.drawing import BLOCK, RADIUS, SIDE, digit_image


def test_a_vertical_line_fills_the_middle():
    image = digit_image([[(5.0, 0.0), (5.0, 9.0)]])
    assert image.shape == (1, 8, 8)
    assert torch.equal(image, image.flip(-1)) and torch.equal(image, image.flip(-2))
    assert (image[0, :, :3] == 0).all() and (image[0, 2:6, 3:5] >= 0.5).all()
    assert image.max() <= 1 and RADIUS < BLOCK < SIDE


def test_size_and_place_do_not_matter():
    strokes = [[(0.0, 0.0), (3.0, 1.0), (2.0, 8.0)], [(1.0, 1.0)]]
    elsewhere = [[(100 + 7 * x, 7 * y - 50) for x, y in stroke] for stroke in strokes]
    assert torch.equal(digit_image(strokes), digit_image(elsewhere))


def test_a_point_is_a_spot_in_the_middle():
    image = digit_image([[(3.0, 4.0)]])
    assert image[0, 3:5, 3:5].min() > 0 and image.sum() == image[0, 3:5, 3:5].sum()


def test_no_stroke_is_refused():
    with pytest.raises(ValueError, match="at least one point"):
        digit_image([])


def test_drawn_digits_are_as_dark_as_the_data_sets():
    two = [[(2.0, 2.5), (5.0, 0.0), (8.0, 2.5), (2.0, 10.0), (8.0, 10.0)]]
    mean = data.stack(data.load("images", "test")).images.mean()
    assert digit_image(two).mean() == pytest.approx(float(mean), abs=0.06)


def test_the_stored_model_reads_the_test_images():
    test = data.stack(data.load("images", "test"))
    with torch.no_grad():
        right = stored.digits()(test.images).argmax(dim=-1) == test.labels
    assert right.float().mean() > 0.93
