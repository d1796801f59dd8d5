"""The course's colours: one for each thing that is drawn again and again, in a light and a dark
scheme. The data is `palette.json`.

A name has two colours in each scheme: `line`, for strokes and for text (at least 4.5 : 1 against
the paper), and `soft`, a ground on which ink is read (at least 4.5 : 1). The hues are those of
Okabe and Ito, which colour-blind eyes tell apart, made darker or lighter until text in them can be
read. No drawing says with a colour alone what a reader must know: everything coloured is named as
well.

Who wants the same colours:

- a style sheet: `css()` defines `--c-query`, `--c-query-soft` and so on for both schemes, and a
  class `c-query` for text;
- a formula: KaTeX puts that class on a part of it, `\\htmlClass{c-query}{Q}`;
- matplotlib: `color=colour("query")`, `facecolor=colour("query", role="soft")`;
- a viewer or another script: the variables above, or `palette.json` itself.
"""

import json
from collections.abc import Iterable
from pathlib import Path

PALETTE: dict[str, dict[str, dict[str, str]]] = json.loads(
    (Path(__file__).parent / "palette.json").read_text(encoding="utf-8")
)

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
        role: "line" for strokes and text, "soft" for a ground under ink.

    Raises:
        ValueError: for what is not in the palette; the message lists what is.
    """
    if name not in PALETTE:
        raise ValueError(f"no colour is called {name!r}; the palette has {', '.join(PALETTE)}")
    if scheme not in PALETTE[name] or role not in PALETTE[name][scheme]:
        raise ValueError(
            f"a scheme is 'light' or 'dark' and a role 'line' or 'soft'; got {scheme!r} and "
            f"{role!r}"
        )
    return PALETTE[name][scheme][role]


def variables(names: Iterable[str], scheme: str) -> str:
    """The named colours as CSS variables: `--c-query:#0b61a8;--c-query-soft:#b9d7f7;…`."""
    return "".join(
        f"--c-{name}:{colour(name, scheme)};--c-{name}-soft:{colour(name, scheme, 'soft')};"
        for name in names
    )


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


def css() -> str:
    """All colours for a style sheet: the variables in both schemes, and for each a class that
    colours text.
    """
    light = f":root{{{variables(PALETTE, 'light')}}}\n"
    dark = f"@media screen{{{','.join(DARK)}{{{variables(PALETTE, 'dark')}}}}}\n"  # paper is white
    return (
        light + dark + "\n".join(f".c-{name}{{color:var(--c-{name})}}" for name in PALETTE) + "\n"
    )
