"""Links over words: each is drawn above all that it spans, in its colour."""

import matplotlib.pyplot as plt
import pytest

from lectures_lib.show.word_links import draw_links, write_words

TREE = [(1, 0), (1, 2), (2, 4), (3, 4), (2, 7), (5, 7), (7, 6)]


def heights(below=False):
    """How far from the words each link runs."""
    _, ax = plt.subplots()
    draw_links(ax, TREE, ["black"] * len(TREE), below=below)
    found = [line.get_ydata()[1] for line in ax.lines]
    plt.close()
    return dict(zip(TREE, found, strict=True))


def test_a_link_runs_above_those_that_it_spans():
    over = heights()
    assert over[2, 7] > over[2, 4] > over[3, 4] == over[1, 0] > 0
    assert over[2, 7] > over[5, 7] > over[7, 6]


def test_below_is_the_mirror_image():
    over, under = heights(), heights(below=True)
    assert all(under[link] == -over[link] for link in TREE)


def test_words_stand_at_their_numbers_and_links_have_colours():
    _, ax = plt.subplots()
    write_words(ax, ["a", "b", "c"], top=2.0, bottom=-1.0)
    draw_links(ax, [(0, 2), (1, 0)], ["red", "blue"])
    assert [text.get_text() for text in ax.texts] == ["a", "b", "c"]
    assert [text.get_position()[0] for text in ax.texts] == [0, 1, 2]
    assert [line.get_color() for line in ax.lines] == ["red", "blue"]
    plt.close()


def test_one_colour_for_each_link():
    _, ax = plt.subplots()
    with pytest.raises(ValueError, match="zip"):
        draw_links(ax, [(0, 1), (1, 2)], ["red"])
    plt.close()
