"""A procedure to walk through, one step at a time: buttons, a slider and the arrow keys, with no
kernel behind it (chapters 7 and 9).

    Stepper([pieces(["l", "o", "w"], marked=[0, 1]), pieces(["lo", "w"])], "Byte pairs",
    labels=["merge l and o", "done"])

Frames are real text, not pictures, so they can be read aloud, searched and copied. They are made
with the helpers below, which escape what they are given; a plain string is text too. Only what is
wrapped in `Html` by hand goes into the page as it is.

The HTML is self-contained and follows from the input alone, to the byte. Without scripts one frame
is there to read.
"""

import html
from collections.abc import Collection, Iterable, Mapping, Sequence

from lectures_lib.show.viewer import label as visible
from lectures_lib.show.widget import embedded, source, style_of

__all__ = ["Html", "Stepper", "bars", "beside", "join", "line", "note", "part", "pieces", "table"]


COLOURS = ("share", "control", "active")


def style() -> str:
    """Its rules, colours and all."""
    return style_of("stepper", COLOURS, "stepper.css")


class Html(str):
    """Markup, to be put into the page as it is. Every other string is text, and is escaped."""


def markup(content: str) -> Html:
    """The content itself if it is markup, else the text escaped."""
    return content if isinstance(content, Html) else Html(html.escape(whole(content)))


def whole(text: str) -> str:
    """The text without halves of characters (lone surrogates), which no page can hold: each becomes
    a question mark.
    """
    return text.encode("utf-8", "replace").decode()


def pieces(
    tokens: Sequence[str],
    marked: Collection[int] = (),
    shades: Sequence[float] | None = None,
    notes: Sequence[str] | None = None,
) -> Html:
    """Tokens side by side, each on its own ground.

    Args:
        tokens: the texts; spaces and line breaks are made visible.
        marked: indices of those with a frame around them.
        shades: how strongly each is coloured, 0 to 1: attention weights, for example.
        notes: a small text below each.

    Raises:
        ValueError: for shades or notes that are not as many as the tokens, or a shade outside 0 to
            1.
    """
    for name, values in (("shades", shades), ("notes", notes)):
        if values is not None and len(values) != len(tokens):
            raise ValueError(f"{len(tokens)} tokens need as many {name}, got {len(values)}")
    for shade in shades or ():
        _check_share("shade", shade)
    made = []
    for i, token in enumerate(tokens):
        begin = '<span class="st-piece st-marked"' if i in marked else '<span class="st-piece"'
        colour = f' style="--shade:{shades[i]:.3f}"' if shades is not None and shades[i] > 0 else ""
        below = f"<small>{markup(notes[i])}</small>" if notes is not None else ""
        made.append(f"{begin}{colour}><b>{html.escape(visible(token))}</b>{below}</span>")
    return Html(f'<span class="st-pieces">{"".join(made)}</span>')


def bars(shares: Mapping[str, float], marked: Collection[str] = ()) -> Html:
    """Named shares, 0 to 1, as horizontal bars with their percentages: a distribution over next
    words, for example.

    Raises:
        ValueError: for a share outside 0 to 1.
    """
    rows = []
    for name, share in shares.items():
        _check_share(f"share of {name!r}", share)
        percent = f"{100 * share:.0f}\u00a0%"
        begin = '<tr class="st-marked">' if name in marked else "<tr>"
        bar = f'<td><i style="--share:{share:.3f}"></i></td>'
        rows.append(
            f'{begin}<th scope="row">{html.escape(visible(name))}</th>{bar}<td '
            f'class="st-number">{percent}</td></tr>'
        )
    return Html(f'<table class="st-bars"><tbody>{"".join(rows)}</tbody></table>')


def table(
    header: Sequence[str], rows: Iterable[Sequence[object]], marked: Collection[int] = ()
) -> Html:
    """A small table; numbers stand right, and the marked rows stand out.

    Raises:
        ValueError: for a row with more or fewer cells than the header.
    """
    lines = []
    for i, row in enumerate(rows):
        if len(row) != len(header):
            raise ValueError(f"row {i} has {len(row)} cells under a header of {len(header)}")
        begin = '<tr class="st-marked">' if i in marked else "<tr>"
        lines.append(begin + "".join(_cell(value) for value in row) + "</tr>")
    head = "".join(f'<th scope="col">{markup(name)}</th>' for name in header)
    return Html(f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>")


def note(text: str) -> Html:
    """Small grey text, such as a count behind a word."""
    return Html(f'<span class="st-note">{markup(text)}</span>')


def join(*contents: str) -> Html:
    """Contents one after the other: a word and its count on one line, or several parts in one
    frame.
    """
    return Html("".join(markup(content) for content in contents))


def line(*contents: str) -> Html:
    """Contents on one line, wrapped where the page is narrow."""
    return Html(
        f"<div "
        f'class="st-line">{"".join(f"<span>{markup(content)}</span>" for content in contents)}</div>'
    )


def part(heading: str, content: str) -> Html:
    """A part of a frame with a heading of its own; parts stand below each other."""
    return Html(
        f'<div class="st-part"><div '
        f'class="st-heading">{markup(heading)}</div>{markup(content)}</div>'
    )


def beside(*contents: str) -> Html:
    """Contents beside each other, the first with most of the room; below each other where the page
    is narrow.
    """
    return Html(
        f"<div "
        f'class="st-beside">{"".join(f"<div>{markup(content)}</div>" for content in contents)}</div>'
    )


class Stepper:
    """Frames shown one at a time.

    Args:
        frames: the contents, made with the helpers of this module; a plain string is shown as text.
        title: a line above.
        labels: what happens in each step, one short text a frame; shown above the frame and read
            out as it changes.
        alt: what the whole shows, in a sentence, for those who do not see it.
        start: the frame shown first, and the one that is there without scripts.

    Raises:
        ValueError: for no frames, labels that are not as many, or a start that is none of the
            frames.
    """

    def __init__(
        self,
        frames: Sequence[str],
        title: str,
        labels: Sequence[str] | None = None,
        alt: str = "",
        start: int = 0,
    ):
        if isinstance(frames, str) or not frames:
            raise ValueError(f"a stepper needs a list of one frame or more, got {frames!r:.40}")
        self.frames = [markup(frame) for frame in frames]
        self.labels = (
            [f"Step {i}" for i in range(1, len(frames) + 1)]
            if labels is None
            else [whole(label) for label in labels]
        )
        if len(self.labels) != len(self.frames):
            raise ValueError(
                f"{len(self.frames)} frames need as many labels, got {len(self.labels)}"
            )
        if not 0 <= start < len(self.frames):
            raise ValueError(f"start must lie between 0 and {len(self.frames) - 1}, got {start}")
        self.title, self.alt, self.start = whole(title), whole(alt), start

    def __repr__(self) -> str:
        """What a terminal shows."""
        return f"Stepper({self.title}: {len(self.frames)} frames)"

    def _repr_html_(self) -> str:
        """What a notebook shows. The same input gives the same bytes."""
        frames = [
            {"label": label, "html": frame}
            for label, frame in zip(self.labels, self.frames, strict=True)
        ]
        record = {"title": self.title, "alt": self.alt, "start": self.start, "frames": frames}
        return embedded(
            "stepper",
            "stepper",
            "frames",
            record,
            style=style(),
            fallback=self._fallback(),
            script=source("stepper.js"),
        )

    def _fallback(self) -> str:
        label, frame = self.labels[self.start], self.frames[self.start]
        return (
            f'<div class="st-box figure-card"><p class="st-title">{markup(self.title)}</p>\n<p '
            f'class="st-says">{markup(label)}</p>\n<div class="st-frame">{frame}</div></div>'
        )


def _cell(value: object) -> str:
    number = isinstance(value, int | float)
    content = value if isinstance(value, str) else str(value)
    return f'<td class="st-number">{content}</td>' if number else f"<td>{markup(content)}</td>"


def _check_share(name: str, share: float) -> None:
    if not 0 <= share <= 1:
        raise ValueError(f"a {name} must lie between 0 and 1, got {share}")
