"""The stepper's HTML: the same to the byte, safe with any text, self-contained, one frame to read
without scripts.
"""

import html
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from lectures_lib.show import stepper
from lectures_lib.show.stepper import (
    Html,
    Stepper,
    bars,
    beside,
    join,
    line,
    note,
    part,
    pieces,
    table,
)

HOSTILE = [
    "<script>alert(1)</script>",
    "</script>",
    "a & b &amp;",
    "\"'",
    "</style>",
    "</div>",
    "<!--",
    "\x00\x1b",
    "\ud83d",
    "",
    "\n",
    "👩‍🚀",
]
HOSTILE += ['" onmouseover="alert(1)', "<img src=x onerror=alert(1)>"]


class Page(HTMLParser):
    """What a browser would read: the elements with their attributes, and all text that is neither
    style nor script.
    """

    def __init__(self, source: str):
        super().__init__()
        self.elements, self.texts = [], []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.lasttag not in ("style", "script"):
            self.texts.append(data)


def record(shown: Stepper) -> dict:
    return json.loads(Page(shown._repr_html_()).elements[0][1]["data-frames"])


def example(text: str = "low") -> Stepper:
    frames = [
        beside(pieces([text, "b"], marked=[0], shades=[0.25, 0.0]), bars({text: 0.5})),
        table([text, "n"], [[text, 2]], marked=[0]),
    ]
    return Stepper([*frames, text], text, labels=[text, "second", "third"], alt=text)


def test_same_input_gives_the_same_bytes_and_other_input_another_id():
    first, again, other = (example(text)._repr_html_() for text in ("low", "low", "new"))
    assert first == again
    assert (
        re.search('data-stepper="(.*?)"', first)[1] != re.search('data-stepper="(.*?)"', other)[1]
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_can_break_out_of_the_html(text):
    source = example(text)._repr_html_()
    source.encode("utf-8")
    elements = Page(source).elements
    plain = Page(example()._repr_html_()).elements
    assert [(tag, set(attributes)) for tag, attributes in elements] == [
        (tag, set(attributes)) for tag, attributes in plain
    ]
    for frame, expected in zip(
        record(example(text))["frames"], record(example())["frames"], strict=True
    ):
        made, wanted = Page(frame["html"]).elements, Page(expected["html"]).elements
        assert [(tag, set(attributes)) for tag, attributes in made] == [
            (tag, set(attributes)) for tag, attributes in wanted
        ]


def test_a_plain_string_is_text_and_markup_is_markup():
    frames = record(Stepper(["a < b", Html("<em>c</em>")], "t"))["frames"]
    assert [frame["html"] for frame in frames] == ["a &lt; b", "<em>c</em>"]
    assert note("<") == '<span class="st-note">&lt;</span>'
    assert "<em>c</em>" in line(Html("<em>c</em>"))
    assert "&lt;em&gt;" in part("<em>", "x")
    assert join(Html("<em>c</em>"), "<") == "<em>c</em>&lt;"


@pytest.mark.parametrize("start", [0, 2])
def test_without_scripts_the_chosen_frame_is_there(start):
    shown = Stepper(
        ["one", "two", "three"], "Counting", labels=["first", "second", "third"], start=start
    )
    texts = "".join(Page(shown._repr_html_()).texts)
    assert ("one" in texts) == ("first" in texts) == (start == 0)
    assert ("three" in texts) == ("third" in texts) == (start == 2)
    assert "Counting" in texts
    assert record(shown)["start"] == start


def test_labels_may_be_left_out():
    assert [frame["label"] for frame in record(Stepper(["a", "b"], "t"))["frames"]] == [
        "Step 1",
        "Step 2",
    ]


def test_shares_become_widths_and_percentages():
    made = bars({"dog": 2 / 3, "cat": 0.0}, marked=["dog"])
    assert "--share:0.667" in made
    assert "67\u00a0%" in made
    assert "0\u00a0%" in made
    assert made.count("st-marked") == 1
    assert "--shade:0.500" in pieces(["a"], shades=[0.5], notes=["50 %"])


def test_nothing_is_fetched_and_the_script_leaves_no_globals():
    source = html.unescape(example()._repr_html_())
    assert not re.search(r"https?://|\bimport\b|fetch\(|url\(|<link|\bsrc=", source)
    folder = Path(stepper.__file__).parent
    script = (folder / "stepper.js").read_text()
    assert "</" not in script
    assert "<!--" not in script
    code = re.sub(r"^//.*\n", "", script, flags=re.M).strip()
    assert code.startswith("(() => {")
    assert code.endswith("})();")
    assert sum(len((folder / name).read_bytes()) for name in ("stepper.js", "stepper.css")) < 12_000


@pytest.mark.parametrize(
    ("wanted", "frames", "options"),
    [
        ("one frame or more, got \\[\\]", [], {}),
        ("one frame or more, got 'text'", "text", {}),
        ("2 frames need as many labels, got 1", ["a", "b"], {"labels": ["x"]}),
        ("start must lie between 0 and 1, got 2", ["a", "b"], {"start": 2}),
        ("start must lie between 0 and 1, got -1", ["a", "b"], {"start": -1}),
    ],
)
def test_bad_input_is_refused_with_its_numbers(wanted, frames, options):
    with pytest.raises(ValueError, match=wanted):
        Stepper(frames, "t", **options)


def test_bad_parts_are_refused_with_their_numbers():
    with pytest.raises(ValueError, match="2 tokens need as many shades, got 1"):
        pieces(["a", "b"], shades=[1.0])
    with pytest.raises(ValueError, match="2 tokens need as many notes, got 1"):
        pieces(["a", "b"], notes=["x"])
    with pytest.raises(ValueError, match=r"shade must lie between 0 and 1, got 1\.5"):
        pieces(["a"], shades=[1.5])
    with pytest.raises(ValueError, match=r"share of 'a' must lie between 0 and 1, got -1\.0"):
        bars({"a": -1.0})
    with pytest.raises(ValueError, match="row 1 has 1 cells under a header of 2"):
        table(["a", "b"], [[1, 2], [3]])
