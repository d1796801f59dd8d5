"""The drawings of chapter 9: their numbers are the chapter's, and the library's choices."""

import ast
import math
from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

from lectures_lib.decoding import keep_top_k, keep_top_p
from lectures_lib.show.drawings import draw, writing
from tests.helpers.drawn import holds_in_order, texts

CHAPTER = Path(__file__).parents[2] / "notebooks" / "09_generating.py"


def in_chapter(name: str) -> object:
    """What the chapter gives a name, where that is written out (or a tensor of it)."""
    for node in ast.parse(CHAPTER.read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            value = node.value
            return ast.literal_eval(value.args[0] if isinstance(value, ast.Call) else value)
    raise LookupError(name)


def test_numbers_are_the_chapters():
    assert in_chapter("FIRST") == writing.FIRST
    assert in_chapter("SECOND") == writing.SECOND
    assert in_chapter("WHEN") == writing.WHEN
    assert tuple(in_chapter("NAMES")) == writing.NAMES
    for name in ("unsure", "sure"):
        assert tuple(in_chapter(name.upper())) == writing.FORECASTS[name]


def test_tree_shows_each_report_and_they_sum_to_1():
    assert sum(writing.reports().values()) == pytest.approx(1)
    shown = texts(draw("weather_tree").svg())
    assert all(f"{share:.3f}" in shown for share in writing.reports().values())
    assert writing.likeliest_each_time() == ("heavy", "rain")
    assert writing.likeliest_of_all() == ("light", "rain")


@pytest.mark.parametrize("narrow", [False, True])
def test_frame_of_the_tree_is_around_the_likeliest_report(narrow):
    drawing = draw("weather_tree", narrow)
    frame = next(part for part in drawing.parts if 'fill="none"' in part and "<rect" in part)
    top, high = (float(frame.split(f'{name}="')[1].split('"')[0]) for name in ("y", "height"))
    within = writing.height(writing.likeliest_of_all(), 62 if narrow else 60)
    assert top < within < top + high
    others = [report for report in writing.reports() if report != writing.likeliest_of_all()]
    heights = [writing.height(report, 62 if narrow else 60) for report in others]
    assert not any(top < y < top + high for y in heights)


def test_beam_keeps_what_beam_search_of_the_chapter_keeps():
    tree = ast.parse(CHAPTER.read_text())
    defined = [n for n in tree.body if getattr(n, "name", "") in ("following", "beam")]
    names = {"math": math, "FIRST": writing.FIRST, "SECOND": writing.SECOND, "WHEN": writing.WHEN}
    exec(compile(ast.Module(defined, []), "chapter", "exec"), names)
    for i, (found, kept) in enumerate(writing.beam_steps(), 1):
        wide = names["beam"](names["following"], 2, steps=i)
        assert [words for _, words in wide] == list(kept)
        assert [math.exp(score) for score, _ in wide] == pytest.approx(list(kept.values()))
        before = {words[:-1] for words in found}
        assert before == ({()} if i == 1 else set(writing.beam_steps()[i - 2][1]))


def test_both_that_are_kept_in_the_end_come_from_one_and_a_branch_dies():
    (_, first), (_, second), (third, last) = writing.beam_steps()
    assert next(iter(first)) == ("heavy",) and ("heavy", "rain") in second
    assert {words[:2] for words in last} == {("light", "rain")}
    assert {words[0] for words in third} == {"heavy", "light"}


@pytest.mark.parametrize("narrow", [False, True])
def test_beam_greys_what_is_dropped_and_leads_to_every_extension(narrow):
    steps = writing.beam_steps()
    dropped = sum(len(found) - len(kept) for found, kept in steps)
    svg = draw("growing_beam", narrow).svg()
    assert svg.count("stroke-dasharray") == dropped == 7
    assert svg.count("<polygon") == sum(len(kept) for _, kept in steps[1:]) == 4
    assert svg.count('class="s-neutral" fill="none"') == 6  # to what was dropped after word 1
    for found, _ in steps:
        for words, share in found.items():
            spec = ".1f" if len(words) == 1 else ".3f"
            assert holds_in_order(texts(svg), [" ".join(words), f"{share:{spec}}"])


@pytest.mark.parametrize("name", writing.FORECASTS)
def test_what_is_kept_is_what_the_library_keeps(name):
    logits = torch.tensor([writing.FORECASTS[name]]).log()
    by_k, by_p = writing.kept_shares(logits[0].exp())
    assert_close(by_k, keep_top_k(logits, writing.TOP_K).softmax(dim=-1)[0])
    assert_close(by_p, keep_top_p(logits, writing.TOP_P).softmax(dim=-1)[0])


def test_table_shows_shares_sums_and_what_is_kept():
    shown = texts(draw("top_k_and_top_p").svg())
    assert holds_in_order(shown, ["0.30", "0.30", "0.42", "0.36", "0.24", "0.54"])
    assert holds_in_order(shown, ["0.86", "0.86", "0.91", "1.00", "0.06", "0.92", "0.06"])
    assert [writing.kept(name) for name in writing.FORECASTS] == [[3, 4], [3, 1]]
