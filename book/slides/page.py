"""A deck as one HTML page for reveal.js."""

import html
from typing import Any

from pygments.formatters import HtmlFormatter

from . import pieces
from .chapter import Chapter

OPENING, AIMS, SUMMARY = 1, 2, 3  # minutes for the slides that every deck has
SHOWN = (
    "drawing",
    "figure",
    "widget",
    "code",
    "output",
    "table",
    "live",
)  # what may stand beside the points
LIGHT, DARK = "a11y-high-contrast-light", "a11y-high-contrast-dark"  # as in _config.yml


def notes(slide: dict[str, Any]) -> str:
    """What the speaker sees: minutes, what to say, where people stumble."""
    said = f"<p><b>{slide['minutes']} min.</b> {pieces.inline(slide['say'])}</p>"
    if "stumble" in slide:
        said += f"<p><b>Where people stumble:</b> {pieces.inline(slide['stumble'])}</p>"
    return f'<aside class="notes">{said}{slide.get("more", "")}</aside>'


def section(title: str, body: str, slide: dict[str, Any], kind: str) -> str:
    """One slide."""
    return (
        f'<section class="{kind}" data-timing="{round(60 * slide["minutes"])}">'
        f'<h2>{pieces.inline(title)}</h2>\n<div class="body">{body}</div>\n'
        f"{notes(slide)}</section>\n"
    )


def wide(chapter: Chapter, slide: dict[str, Any]) -> bool:
    """Whether what is shown goes below the points: long lines of code or print, a table, a picture
    twice as wide as high.
    """
    if "figure" in slide and pieces.proportions(chapter.figure(slide["figure"])) > 1.95:
        return True
    texts = [getattr(chapter, kind)(slide[kind]) for kind in ("code", "output") if kind in slide]
    longest = max((len(line) for text in texts for line in text.splitlines()), default=0)
    return "table" in slide or "live" in slide or longest > 50 or slide.get("below", False)


def shown(chapter: Chapter, slide: dict[str, Any], width: int, height: int) -> str:
    """The picture, widget, live figure, code, printed lines or table of a slide."""
    parts = []
    both = "code" in slide and "output" in slide
    if "drawing" in slide:
        parts.append(pieces.drawing(slide["drawing"]))
    if "figure" in slide:
        parts.append(pieces.figure(chapter.figure(slide["figure"]), height))
    if "widget" in slide:
        parts.append(pieces.widget(chapter.widget(slide["widget"])))
    if "live" in slide:
        parts.append(pieces.live(slide["live"], height - 150))  # its frame, title and button
    if "table" in slide:
        parts.append(pieces.prose(chapter.table(slide["table"])))
    code = chapter.code(slide["code"]) if "code" in slide else ""
    output = chapter.output(slide["output"]) if "output" in slide else ""
    texts = [text for text in (code, output) if text]
    lines = sum(len(text.splitlines()) for text in texts)
    room = height - 44 * (len(texts) - 1)  # a second box has its own padding
    if code:
        parts.append(pieces.code(code, pieces.fixed(code, lines, width, room)))
    if output:
        size = pieces.fixed(output, lines, width, room, largest=21 if code else 30)
        parts.append(pieces.printed(output, size, fragment=both))
    return "".join(parts)


def content(chapter: Chapter, slide: dict[str, Any]) -> str:
    """One slide of the deck's file."""
    title = slide["title"]
    if "predict" in slide:
        return section(
            title, pieces.predict(chapter, slide["predict"], slide.get("given", [])), slide, "asks"
        )
    text = pieces.points(slide["points"])
    if "formula" in slide:
        text = pieces.formula(chapter.formula(slide["formula"])) + text
    if not any(kind in slide for kind in SHOWN):
        return section(title, f'<div class="text">{text}</div>', slide, "words")
    below = wide(chapter, slide)
    room = 560
    if below:
        room -= 52 * len(slide["points"]) + (110 if "formula" in slide else 0)
    width = pieces.WIDTH - 130 if below else pieces.COLUMN
    thing = f'<div class="shown">{shown(chapter, slide, width, room)}</div>'
    kind = "below" if below else "beside"
    return section(title, f'<div class="text">{text}</div>{thing}', slide, kind)


def frame(
    chapter: Chapter, part: str, title: str, deck: dict[str, Any]
) -> tuple[list[str], list[str]]:
    """The slides that every deck has: two in front, two behind."""
    keys = "Keys: → on, S speaker view, F full screen, O overview, T light or dark"
    opening = (
        f'<section class="opening" data-timing="{60 * OPENING}">'
        f'<p class="part">{html.escape(part)}</p>'
        f"<h1>{html.escape(title)}</h1>"
        f'<p class="course"><a href="../notebooks/{chapter.path.stem}.html">'
        f'From Attention to BERT</a></p><p class="keys">{keys}</p>'
        + notes({"minutes": OPENING, "say": deck["say"]})
        + "</section>\n"
    )
    aims = section(
        "After this lecture you can",
        pieces.listed(chapter.goals),
        {"minutes": AIMS, "say": "Read them aloud once; come back to them at the end."},
        "list",
    )
    summary = section(
        "Summary",
        pieces.listed(chapter.summary),
        {"minutes": SUMMARY, "say": "Cover the list, let the room say it, then uncover it."},
        "list",
    )
    talk = chapter.discussion
    asked = "".join(f"<li>{pieces.inline(question)}</li>" for question, _ in talk)
    touched = "".join(f"<li>{pieces.inline(answer)}</li>" for _, answer in talk)
    discussion = section(
        "To talk about",
        f'<div class="text"><ol>{asked}</ol></div>',
        {
            "minutes": deck["discussion"],
            "say": "One of them is enough: two minutes in pairs, then the room. What is touched:",
            "more": f"<ol>{touched}</ol>",
        },
        "words",
    )
    return [opening, aims], [summary, discussion]


def minutes(deck: dict[str, Any]) -> float:
    """How long a lecture with this deck takes, the discussion included."""
    spoken = sum(slide["minutes"] for slide in deck["slides"])
    return OPENING + AIMS + spoken + SUMMARY + deck["discussion"]


def count(deck: dict[str, Any]) -> int:
    """How many slides it has, with the four that every deck has."""
    return len(deck["slides"]) + 4


def page(chapter: Chapter, part: str, title: str, deck: dict[str, Any]) -> str:
    """The whole page."""
    front, back = frame(chapter, part, title, deck)
    slides = [*front, *(content(chapter, slide) for slide in deck["slides"]), *back]
    return f"""<!doctype html>
<html lang="en" data-theme="light">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)}: slides</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="assets/reveal.css">
<link rel="stylesheet" href="assets/katex.min.css">
<link rel="stylesheet" href="assets/deck.css">
<script src="assets/theme.js"></script>
</head>
<body>
<main><div class="reveal"><div class="slides">
{"".join(slides)}</div></div></main>
<script src="assets/reveal.js"></script>
<script src="assets/notes.js"></script>
<script src="assets/deck.js"></script>
</body>
</html>
"""


def code_colours() -> str:
    """The style sheet of coloured code, light and dark."""
    rules = [
        HtmlFormatter(style=style).get_style_defs(f'html[data-theme="{scheme}"] pre.code')
        for scheme, style in (("light", LIGHT), ("dark", DARK))
    ]
    return "\n".join(line for rule in rules for line in rule.splitlines() if "pre.code ." in line)
