"""The feedback page and the class report in a browser: by day and by night, on a phone, with names
that would break a page.
"""

from dataclasses import replace

import pytest
from sitemap import ROOT

from lectures_lib.homework.grader.grading.own_code import Excerpt
from lectures_lib.homework.grader.grading.records import Result
from lectures_lib.homework.grader.grading.rules import Rules
from lectures_lib.homework.grader.reports import class_report, feedback
from lectures_lib.homework.questions import load
from lectures_lib.homework.verdict import LOST, Verdict

pytestmark = pytest.mark.browser
HW = load("hw1")
RULES = Rules(deadline="2026-11-01 12:00 UTC", late={"percent_per_day": 10.0})
NAMES = ["anna", "\u202eturned \u05d0\u05d1", "x" * 300, "<script>alert(1)</script>", "&amp;"]


def verdicts(shift: int) -> tuple[Verdict, ...]:
    """One verdict of each kind, handed round among the questions."""
    known = HW.questions[shift % 8].misconceptions[0]
    kinds = [
        Verdict("", True, "right"),
        Verdict(
            "",
            False,
            "misconception",
            known.diagnosis,
            known.name,
            "a batch",
            "The result differs in 3 of 4 values: [0] is 1, expected 2 …",
        ),
        Verdict(
            "",
            False,
            "raised",
            f"It raised ValueError in line 3, `{'y' * 200}`: " + "z" * 300,
            on="a batch",
        ),
        Verdict("", False, "time", LOST["time"], on="a batch"),
        Verdict("", False, "unfinished", "Not answered yet."),
    ]
    return tuple(
        replace(kinds[(i + shift) % len(kinds)], question=question.name)
        for i, question in enumerate(HW.questions)
    )


CLASS = [
    Result(
        name,
        (f"{name}.ipynb",),
        "",
        verdicts(i),
        cells=((3, "KeyError in line 1, `x`: 'a'"),),
        uses=("flash",),
        seconds=2.0,
        name=name,
    )
    for i, name in enumerate(NAMES)
]
LINES = (
    "def causal_mask(n):",
    "",
    "    # what may be seen ",
    "    ",
    "",
    "\tif True:",
    f"    \treturn {'torch.ones(n, n).tril().bool() & ' * 4}True",
    "",
)
CLASS += [Result("unread", ("unread.ipynb",), "", problem="The file is empty.")]
STUDENT = replace(
    CLASS[1],
    handed_in="2026-11-02T10:00:00+00:00",
    earlier=tuple(f"{name}.ipynb" for name in NAMES),
    code={HW.questions[0].name: (Excerpt(4, 1, LINES, told=7), Excerpt(4, 9, LINES[:1], told=9))},
)
PAGES = {
    "feedback": feedback.page(HW, STUDENT, RULES),
    "unread": feedback.page(HW, CLASS[-1]),
    "class": class_report.page(HW, CLASS, RULES),
    "nobody": class_report.page(HW, []),
}


@pytest.fixture(params=PAGES)
def source(request):
    return PAGES[request.param]


def test_axe_finds_nothing_and_a_phone_is_wide_enough(open_page):
    axe = (ROOT / "node_modules" / "axe-core" / "axe.min.js").read_text()
    for scheme in ("light", "dark"):
        page = open_page(color_scheme=scheme)
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
        page.evaluate(axe)
        found = page.evaluate("() => axe.run()")["violations"]
        assert not found, [(v["id"], [n["html"][:150] for n in v["nodes"]]) for v in found]
    page = open_page(width=390)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_it_needs_no_scripts(open_page):
    page = open_page(java_script_enabled=False)
    assert page.locator("h1").inner_text() == "Homework 1: Attention"


@pytest.mark.parametrize("source", ["feedback"], indirect=True)
@pytest.mark.parametrize("width", [390, 1200])
def test_one_s_code_is_copied_as_it_was_written(open_page, width):
    """Also where long lines go on below, and blank lines."""
    page = open_page(width=width)
    page.locator(".own").first.evaluate("one => { one.open = true }")
    code = page.locator(".own pre").first
    assert code.evaluate("one => one.scrollWidth <= one.clientWidth")
    code.evaluate("one => getSelection().selectAllChildren(one)")
    assert pasted(page) == "\n".join(LINES)


@pytest.mark.parametrize("source", ["feedback"], indirect=True)
def test_a_part_of_one_s_code_is_copied_as_it_was_written(open_page):
    """All but its last line, marked with the mouse."""
    page = open_page(width=1200)
    page.locator(".own").first.evaluate("one => { one.open = true }")
    page.locator(".own pre").first.scroll_into_view_if_needed()
    first, last = (page.locator(".own pre span").nth(i).bounding_box() for i in (0, 6))
    page.mouse.move(first["x"] + 49, first["y"] + first["height"] / 2)
    page.mouse.down()
    # step by step, as a hand moves: one leap may be answered late on a busy machine
    page.mouse.move(last["x"] + last["width"] - 1, last["y"] + last["height"] - 2, steps=10)
    page.mouse.up()
    assert pasted(page) == "\n".join(LINES[:-1])


def pasted(page):
    """What is selected, copied by the keyboard and put into a field: what another program gets."""
    page.keyboard.press("Control+C")
    page.evaluate(
        """() => {
            document.body.insertAdjacentHTML("beforeend", "<textarea aria-label='copy'></textarea>")
            document.querySelector("textarea").focus()
        }"""
    )
    page.keyboard.press("Control+V")
    return page.locator("textarea").input_value()
