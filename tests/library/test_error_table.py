"""The table of errors: all rows, escaped; numbers to sort by; the same bytes every time."""

import re
from fractions import Fraction

import numpy as np
import pytest
import torch

from lectures_lib.show.error_table import ErrorTable

COLUMNS = {
    "sentence": ["a <b>bold</b> claim", "fine"],
    "said": ["bad", "good"],
    "sure": [0.8765, 1.0],
    "words": [4, 1],
}


def test_every_row_is_there_escaped_and_marked():
    page = ErrorTable("Sentiment & more", COLUMNS, [True, False])._repr_html_()
    assert page.count("<tr") == 3 and page.count('<tr class="et-wrong">') == 1
    assert "a &lt;b&gt;bold&lt;/b&gt; claim" in page and "<b>bold" not in page
    assert "Sentiment &amp; more" in page
    assert '<td data-value="0.8765">0.88</td><td data-value="4">4</td>' in page
    assert "only what is wrong: 1 of 2" in page
    assert page.count('aria-sort="none"><button type="button">') == 4
    assert "http" not in page


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (np.int64(10), '<td data-value="10">10</td>'),
        (np.uint8(9), '<td data-value="9">9</td>'),
        (np.float32(0.5), '<td data-value="0.5">0.50</td>'),
        (np.array(0.25), '<td data-value="0.25">0.25</td>'),
        (torch.tensor(7), '<td data-value="7">7</td>'),
        (torch.tensor(0.125, requires_grad=True), '<td data-value="0.125">0.12</td>'),
        (Fraction(1, 4), '<td data-value="0.25">0.25</td>'),
        (1e-20, '<td data-value="1e-20">0.00</td>'),
        (float("nan"), '<td data-value="NaN">nan</td>'),
        (np.float32("nan"), '<td data-value="NaN">nan</td>'),
        (float("-inf"), '<td data-value="-Infinity">-inf</td>'),
        (torch.tensor(torch.inf), '<td data-value="Infinity">inf</td>'),
        (True, "<td>True</td>"),
        (np.True_, "<td>True</td>"),
        (torch.tensor(False), "<td>False</td>"),
        (np.str_("10"), "<td>10</td>"),
        (None, "<td>None</td>"),
        (torch.tensor([1, 2]), "<td>tensor([1, 2])</td>"),
        (np.array([3]), "<td>[3]</td>"),
    ],
)
def test_numbers_of_all_kinds_are_numbers_to_sort_by(cell, expected):
    page = ErrorTable("t", {"a": [cell]}, [True])._repr_html_()
    assert re.search(r"<tr class=\"et-wrong\">(.*)</tr>", page)[1] == expected


def test_the_same_table_gives_the_same_bytes_and_another_one_another_id():
    page = ErrorTable("t", COLUMNS, [True, False])._repr_html_()
    assert page == ErrorTable("t", COLUMNS, [True, False])._repr_html_()
    other = ErrorTable("t", COLUMNS, [False, False])._repr_html_()
    name = page.split('data-errors="')[1].split('"')[0]
    assert f'[data-errors="{name}"]:not' in page and name not in other
    assert ' id="' not in page, "the same table may stand on a page twice"


def test_the_text_form_counts():
    assert repr(ErrorTable("t", COLUMNS, [True, False])) == "t: 2 rows, 1 of them wrong"


@pytest.mark.parametrize(
    ("columns", "wrong", "message"),
    [
        ({}, [True], r"got lengths \{'\(wrong\)': 1\}"),
        ({"a": []}, [], "'a': 0"),
        ({"a": [1, 2], "b": [1]}, [True, True], "'a': 2, 'b': 1"),
        ({"a": [1, 2]}, [True], "'a': 2, '.wrong.': 1"),
    ],
)
def test_what_is_no_table_is_refused_with_its_numbers(columns, wrong, message):
    with pytest.raises(ValueError, match=message):
        ErrorTable("t", columns, wrong)
