"""The course's colours, of all figures: one for each thing that is drawn again and again, in a light
and a dark scheme. The data is `palette.json`; a test refuses a colour of a figure that is not in it.

A name has in each scheme one to five colours:

- `line`, for strokes and for text: at least 4.5 : 1 against the paper (a `frame`, which says
  nothing, is paler);
- `soft`, a ground on which ink is read (at least 4.5 : 1);
- `edge`, around such a ground in a drawing: paler than the line, so that the eye goes to what is
  written there and not to its outline;
- `deep`, what has no text and is seen without an outline, on paper or on the soft ground; ink can
  be read on it, too;
- `mark`, for what is seen and not read, a curve or a bar: at least 3 : 1 against the paper.

What the names mean:

- `query`, `key`, `value`, `mask`, `encoder`, `decoder`, `residual`, `position`, `head_1` …: parts of
  a model. `prediction`: what a model says, and what it should say; `error`: what is wrong, and what
  is learnt from it.
- `share`: how much of something, from 0 to 1: an attention weight, a probability, a likeness. Its
  mark is the ground of a word with all of it, on which ink is read, too.
- `series_1` …: curves, bars and groups that have no other name. `neutral`: what they are compared
  with, and whatever has no name of its own; `quiet`: a curve or a bar that is not the point.
- `control`: what can be pressed or pulled, and is pressed; the page's links. `active`: what the
  reader points at or has chosen in a figure, and where the keyboard is; it has no hue.
- `right`: an answer that is right, beside `error`. `paper`, `ink`, `frame`: what all stand on.

The hues are those of Okabe and Ito, which colour-blind eyes tell apart, made darker or lighter until
text in them can be read. There are fewer hues than names: a query, a share and a control have the
same blue. No drawing says with a colour alone what a reader must know: everything coloured is named
as well.

Who wants the same colours:

- a style sheet: `schemes()` defines `--c-query`, `--c-query-soft`, `--c-share-mark` and so on for a
  part of a page in both schemes, `css()` for a whole one, with a class `c-query` for text;
- a formula: KaTeX puts that class on a part of it, `\\htmlClass{c-query}{Q}`;
- matplotlib: the constants of `show.plots`, or `color=colour("query")`;
- a script: the variables above, or `palette.json` itself.
"""

import json
from collections.abc import Container, Iterable
from pathlib import Path

PALETTE: dict[str, dict[str, dict[str, str]]] = json.loads(
    (Path(__file__).parent / "palette.json").read_text(encoding="utf-8")
)

CARD = (Path(__file__).parent / "card.css").read_text(encoding="utf-8")
ON_A_CARD = ("paper", "ink", "neutral", "frame")

# The site; JupyterLab; Colab; VS Code. Nothing here asks for the system's preference: the page's
# own theme decides.
DARK = (
    'html[data-theme="dark"]',
    'body[data-jp-theme-light="false"]',
    'html[theme="dark"]',
    "body.vscode-dark",
)


def colour(name: str, scheme: str = "light", role: str = "line") -> str:
    """A colour as `#rrggbb`.

    Args:
        name: what is drawn: "query", "key", "mask", … (the keys of `palette.json`).
        scheme: "light" or "dark".
        role: "line" for strokes and text, "soft" for a ground under ink, "edge" for what is around
            it, "deep" for what has no text, "mark" for curves and bars.

    Raises:
        ValueError: for what is not in the palette; the message lists what is.
    """
    if name not in PALETTE:
        raise ValueError(f"no colour is called {name!r}; the palette has {', '.join(PALETTE)}")
    if scheme not in PALETTE[name] or role not in PALETTE[name][scheme]:
        raise ValueError(
            f"a scheme is 'light' or 'dark' and a role of {name!r} one of "
            f"{', '.join(PALETTE[name]['light'])}; got {scheme!r} and {role!r}"
        )
    return PALETTE[name][scheme][role]


def variables(names: Iterable[str], scheme: str, wanted: Container[str] | None = None) -> str:
    """The named colours as CSS variables: `--c-query:#0b61a8;--c-query-soft:#b9d7f7;…`; of these
    only the `wanted`, such as `--c-query-soft`.
    """
    each = (
        (f"--c-{name}{'' if role == 'line' else f'-{role}'}", colour(name, scheme, role))
        for name in names
        for role in PALETTE[name][scheme]
    )
    return "".join(f"{name}:{value};" for name, value in each if wanted is None or name in wanted)


def schemes(part: str, names: Iterable[str]) -> str:
    """The named colours for one part of a page, in both schemes: what a figure needs that brings
    its own colours. `part` is a selector, such as ".attention-lab".
    """
    names = list(names)
    dark = ",".join(f"{theme} {part}" for theme in DARK)
    return (
        f"{part}{{color-scheme:light;{variables(names, 'light')}}}\n"
        f"@media screen{{{dark}{{color-scheme:dark;{variables(names, 'dark')}}}}}\n"
    )


def card(part: str, names: Iterable[str]) -> str:
    """The named colours for one part of a page, and the card that all figures stand on, whose own
    colours are among them: the class `figure-card`.
    """
    return schemes(part, dict.fromkeys((*ON_A_CARD, *names))) + CARD


def css() -> str:
    """All colours for a style sheet: the variables in both schemes, and for each a class that
    colours text.
    """
    light = f":root{{{variables(PALETTE, 'light')}}}\n"
    dark = f"@media screen{{{','.join(DARK)}{{{variables(PALETTE, 'dark')}}}}}\n"  # paper is white
    return (
        light + dark + "\n".join(f".c-{name}{{color:var(--c-{name})}}" for name in PALETTE) + "\n"
    )
