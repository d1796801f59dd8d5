"""Pictures that follow a slider without a break: shares of a softmax whose scores are multiplied or
divided (chapters 2 and 9), and positions as the hands of clocks (chapter 4).

    SoftmaxDial(scores, names, by="temperature", start=1.0)
    ClockDial(d_model=8)

The picture at the start is computed here, by the library; it also stands there without scripts. The
script beside this file computes the same at every place of the slider, in the reader's browser, and
a test holds the two equal.
"""

import html
import math
from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor

from lectures_lib.blocks.positions import frequencies, sinusoidal_positions
from lectures_lib.show.widget import embedded, source, style_of

COLOURS = ("share", "position", "control", "active")
MOST_BARS, MOST_CLOCKS = 12, 8  # more do not fit on a phone
KINDS = ("factor", "temperature")


class _Dial:
    """What both have: a title, a slider, and a picture as SVG."""

    title: str

    def _record(self) -> dict:
        raise NotImplementedError

    def _picture(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        """What a terminal shows."""
        return f"{type(self).__name__}({self.title})"

    def _repr_html_(self) -> str:
        """What a notebook shows. The same input gives the same bytes."""
        return embedded(
            "dial",
            "dial",
            "numbers",
            self._record(),
            style=style(),
            fallback=f'<div class="dl-box figure-card"><p class="dl-title">{html.escape(self.title)}</p>'
            f"{self._picture()}</div>",
            script=source("dial.js"),
        )


class SoftmaxDial(_Dial):
    """Bars: the shares that a softmax gives to scores, over what they are multiplied or divided by.

    Args:
        scores: one for each bar; at most `MOST_BARS`.
        names: below the bars.
        by: "factor" multiplies the scores, "temperature" divides them.
        least, most: the ends of the slider; of a temperature `least` is above 0.
        start: where the slider stands first.
        title: a line above.

    Raises:
        ValueError: for scores that are no row of numbers, names that do not fit, another `by`, or a
            start that is not between the ends.
    """

    def __init__(
        self,
        scores: Float[Tensor, " n"],
        names: Sequence[str],
        *,
        by: str = "factor",
        least: float = 0.0,
        most: float = 16.0,
        start: float = 1.0,
        title: str = "Softmax, sharper and flatter",
    ):
        if scores.dim() != 1 or not 2 <= len(scores) <= MOST_BARS or len(names) != len(scores):
            raise ValueError(
                f"from 2 to {MOST_BARS} scores, each with a name, can be shown; got scores of "
                f"shape {tuple(scores.shape)} and {len(names)} names"
            )
        if by not in KINDS:
            raise ValueError(f"scores are changed by one of {KINDS}, got {by!r}")
        if not least <= start <= most or (by == "temperature" and least <= 0):
            raise ValueError(
                f"the slider goes from {least} to {most} and begins at {start}: it must begin "
                f"between its ends, and a temperature is above 0"
            )
        self.scores = scores.double()
        self.names, self.by, self.title = list(names), by, title
        self.least, self.most, self.start = least, most, start

    def shares(self, value: float) -> Float[Tensor, " n"]:
        """The bars at one place of the slider."""
        scores = self.scores * value if self.by == "factor" else self.scores / value
        return scores.softmax(dim=-1)

    def _record(self) -> dict:
        return {
            "kind": "softmax",
            "scores": [round(score, 6) for score in self.scores.tolist()],
            "names": self.names,
            "by": self.by,
            "least": self.least,
            "most": self.most,
            "start": self.start,
            "title": self.title,
        }

    def _picture(self) -> str:
        rows = "".join(
            f'<tr><th scope="row">{html.escape(name)}</th><td>{share:.3f}</td></tr>'
            for name, share in zip(self.names, self.shares(self.start).tolist(), strict=True)
        )
        said = "scores times" if self.by == "factor" else "temperature"
        return f"<table><caption>Shares, {said} {self.start:g}</caption>{rows}</table>"


class ClockDial(_Dial):
    """Clocks: the sines and cosines of a position as the hands of d_model / 2 clocks.

    Args:
        d_model: numbers in a position's vector, even; at most twice `MOST_CLOCKS`.
        most: the last position of the slider.
        start: where it stands first.
        title: a line above.

    Raises:
        ValueError: for an odd or too large d_model, or a start that is none of the positions.
    """

    def __init__(
        self,
        d_model: int = 8,
        *,
        most: int = 200,
        start: int = 3,
        title: str = "A position as a row of clocks",
    ):
        if d_model % 2 or not 2 <= d_model <= 2 * MOST_CLOCKS:
            raise ValueError(
                f"d_model must be even and from 2 to {2 * MOST_CLOCKS} to be shown, got {d_model}"
            )
        if not 0 <= start <= most:
            raise ValueError(f"the slider goes from 0 to {most} and cannot begin at {start}")
        self.d_model, self.most, self.start, self.title = d_model, most, start, title

    def hands(self, position: int) -> Float[Tensor, "clocks 2"]:
        """The tip of each hand: sine to the right, cosine upwards."""
        return sinusoidal_positions(position + 1, self.d_model)[position].view(-1, 2)

    def _record(self) -> dict:
        return {
            "kind": "clocks",
            "frequencies": [float(f"{omega:.9g}") for omega in frequencies(self.d_model).tolist()],
            "most": self.most,
            "start": self.start,
            "title": self.title,
        }

    def _picture(self) -> str:
        rows = "".join(
            f'<tr><th scope="row">dimensions {2 * i}, {2 * i + 1}</th><td>{sine:.2f}</td>'
            f"<td>{cosine:.2f}</td><td>{math.degrees(omega):.2g}° a position</td></tr>"
            for i, ((sine, cosine), omega) in enumerate(
                zip(
                    self.hands(self.start).tolist(),
                    frequencies(self.d_model).tolist(),
                    strict=True,
                )
            )
        )
        return f"<table><caption>Position {self.start}: sine, cosine</caption>{rows}</table>"


def style() -> str:
    """Their rules, colours and all."""
    return style_of("dial", COLOURS, "dial.css")
