"""A drawing becomes what the data set of digits holds; a brush and an arrow change a picture."""

import pytest
import torch

from lectures_lib import data, stored
from lectures_lib.data.strokes import (
    BLOCK,
    BRUSH,
    EDGE,
    RADIUS,
    SIDE,
    brushed,
    digit_image,
    displaced,
)


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


def test_a_brush_is_soft_and_rubs_out():
    picture = torch.full((1, 28, 28), 0.2)
    line = brushed(picture, [(4.5, 14.5), (23.5, 14.5)], 0.9)
    column = line[0, :, 12]
    assert column[14] == pytest.approx(0.9) and torch.allclose(column, column.flip(0).roll(1))
    inside = (torch.arange(28) - 14).abs() < BRUSH + EDGE / 2
    assert torch.equal(column > 0.2, inside) and (column[inside] < 0.9).any()
    assert torch.equal(
        brushed(line, [(4.5, 14.5), (23.5, 14.5)], 0.0)[0, 14, 5:23], torch.zeros(18)
    )
    assert (brushed(picture, [(3.0, 3.0)], 0.9) > 0.2).sum() in (4, 12, 16)  # a spot
    assert (picture == 0.2).all()
    with pytest.raises(ValueError, match="at least one point"):
        brushed(picture, [], 0.9)


def test_a_moved_picture_loses_what_leaves_it():
    picture = torch.arange(1.0, 10).view(1, 3, 3)
    assert displaced(picture, 1, 0)[0].tolist() == [[0, 1, 2], [0, 4, 5], [0, 7, 8]]
    assert displaced(picture, 0, -2)[0].tolist() == [[7, 8, 9], [0, 0, 0], [0, 0, 0]]
    assert not displaced(picture, -3, 0).any()


def test_ten_garments_are_one_of_each_class_and_most_are_named():
    pictures = data.stack(data.ten_garments())
    assert pictures.labels.tolist() == list(range(10)) and pictures.images.shape == (10, 1, 28, 28)
    assert pictures.images.min() == 0 and 0.9 < pictures.images.max() <= 1
    vit = stored.garments()
    assert vit.names == data.GARMENTS
    with torch.no_grad():
        right = vit(pictures.images).argmax(dim=-1) == pictures.labels
    assert right.sum() >= 8
