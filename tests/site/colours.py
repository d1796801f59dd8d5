"""The themes that a figure follows, and the colours that it then has."""

import re

from lectures_lib.show.contrast import contrast as of_names

# What the reader's system asks for, what the page says to it, and whether the page is dark then.
THEMES = [
    ("light", "", False),
    ("dark", "", False),  # the page's own theme decides, and it names none
    ("light", "document.documentElement.dataset.theme = 'dark'", True),
    ("dark", "document.documentElement.dataset.theme = 'light'", False),
    ("light", "document.body.dataset.jpThemeLight = 'false'", True),
    ("dark", "document.body.dataset.jpThemeLight = 'true'", False),
]


def colour(locator, what: str = "background-color") -> list[float]:
    """Red, green and blue of an element as it is drawn, from 0 to 255."""
    css = locator.evaluate(
        "(element, what) => getComputedStyle(element).getPropertyValue(what)", what
    )
    numbers = [float(n) for n in re.findall(r"[\d.]+", css)]
    return [255 * n for n in numbers[:3]] if css.startswith("color(") else numbers[:3]


def contrast(one: list[float], other: list[float]) -> float:
    """The contrast of two colours as WCAG defines it, from 1 to 21."""
    return of_names(*("#" + bytes(map(round, rgb)).hex() for rgb in (one, other)))
