"""No figure has colours of its own: whatever draws one takes them from the palette."""

import re
from pathlib import Path

import pytest

from lectures_lib.show import attention_lab, dial, error_table, palette, stepper, viewer

ROOT = Path(__file__).parents[2]
FOLDERS = (
    *("lectures_lib/show", "notebooks"),
    *("book/live", "book/_ext", "book/_static", "book/published", "book/slides", "book/figures"),
)
HEX = re.compile(r"(?<![\w&/#])#(?:[0-9a-f]{8}|[0-9a-f]{6}|[0-9a-f]{3,4})(?![\w-])", re.IGNORECASE)
FUNCTION = re.compile(r"\b(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch)\(")
NAMED = re.compile(
    r"(?:color|background|fill|stroke|border|outline|shadow)[\w-]*\s*:[^;{}]*?"
    r"\b(white|black|gr[ae]y|silver|red|green|blue|orange|yellow|purple|brown|pink|navy|teal)\b"
)
# What stays beside the palette, and why.
EXCEPTIONS = {
    "lectures_lib/show/plots.py": {
        "#fffffe": "paper, told by it from the white of a heat map",
        "#fffeff": "a ground that hides, told by it from both",
        "#000000": "a number on a square of a heat map",
        **dict.fromkeys(
            ("#f7fafe", "#cfe3fa", "#8fc1f4", "#083f70"),
            "the scale of shares, in the hue of a share",
        ),
        **dict.fromkeys(
            ("#5746af", "#a99ee2", "#d8d2f4", "#fbfbfd", "#f9d6a2", "#e6953a", "#8a4600"),
            "the scale of signs",
        ),
    },
    "book/_ext/heat_maps.py": {
        "#3d9be0": "the hue of the scale of shares",
        "#8a6fdb": "the hue of the scale of signs, below zero",
        "#d98a1e": "above zero",
        "#7c8894": "around zero",
        "#000000": "a number on a square",
    },
    "book/_ext/plots_in_both_themes.py": {
        "rgb(": "a colour of the palette, written so that `in_the_dark` passes over it"
    },
    "book/_static/course.css": {
        "#f6f8fa": "the ground of code",
        "#1b2129": "the same in the dark",
        "black": "a shadow",
    },
}


def of_the_palette() -> set[str]:
    """All its colours."""
    return {
        colour
        for schemes in palette.PALETTE.values()
        for roles in schemes.values()
        for colour in roles.values()
    }


def long(colour: str) -> str:
    """#FFF as #ffffff."""
    colour = colour.lower()
    return "#" + "".join(2 * digit for digit in colour[1:]) if len(colour) == 4 else colour


def written(path: Path) -> set[str]:
    """The colours that a source writes out."""
    text = path.read_text(encoding="utf-8")
    names = NAMED.findall(text) if path.suffix == ".css" else []
    return {*map(long, HEX.findall(text)), *FUNCTION.findall(text), *names}


def foreign() -> dict[str, set[str]]:
    """By file, what is not in the palette."""
    files = [
        path
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in (".py", ".js", ".css") and "__pycache__" not in path.parts
    ]
    assert len(files) > 200
    found = {path.relative_to(ROOT).as_posix(): written(path) - of_the_palette() for path in files}
    return {name: colours for name, colours in found.items() if colours}


def test_every_colour_of_a_figure_is_of_the_palette():
    assert foreign() == {name: set(reasons) for name, reasons in EXCEPTIONS.items()}


@pytest.mark.parametrize(
    ("name", "text", "colours"),
    [
        ("a.py", 'BLUE = "#0072B2"  # and #0B61A8', {"#0072b2"}),
        ("a.js", "context.fillStyle = `rgba(0, 0, 0, ${share})`;", {"rgba("}),
        ("a.css", "p { color: #fff; border: 1px solid red } /* red */", {"red"}),
        ("a.css", "p { background: light-dark(#fffffe, oklch(0.4 0 0)) }", {"#fffffe", "oklch("}),
        ("a.css", ".blue { color: transparent; mask-image: linear-gradient(black, red) }", set()),
        ("a.py", 'to_rgb(1); "05_encoder#add"; "&#039;"; "/page#abc"; "##bed"; lab_of(2)', set()),
    ],
)
def test_a_colour_is_seen_however_it_is_written(tmp_path, name, text, colours):
    path = tmp_path / name
    path.write_text(text)
    assert written(path) - of_the_palette() == colours


@pytest.mark.parametrize(
    "rules",
    [
        *(one.style for one in (attention_lab, dial, error_table, stepper)),
        lambda: viewer.style() + viewer.template(),
    ],
    ids=["lab", "dial", "table", "stepper", "viewer"],
)
def test_a_picture_brings_every_colour_that_it_uses_in_both_schemes(rules):
    light, dark = rules().split("@media screen", 1)
    used = set(re.findall(r"var\((--c-[\w-]+)", light + dark))
    assert "--c-frame" in used
    for scheme in (light, dark):
        assert used <= set(re.findall(r"(--c-[\w-]+):#", scheme))
