"""Where no script runs, a page is dark all the same for a reader whose system is.

A script chooses the theme, and a page without one says that it is light. So every rule for the dark
theme is written a second time, for the light one where the system is dark: those of the style
sheets into a file of its own, those that stand in a page into that page; both in <noscript>.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from sphinx.application import Sphinx

FILE = "_static/dark_without_scripts.css"
SHEETS = (
    "_static/styles/*.css",
    "_static/pygments.css",
    "_static/palette.css",
    "_static/course.css",
)
DARK = re.compile(r"""(?:html)?\[data-theme=["']?dark["']?\]""")
LIGHT = 'html[data-theme="light"]'
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
COMMA = re.compile(r",(?![^(\[]*[)\]])")  # not within brackets
STYLE = re.compile(r"<style[^>]*>(.*?)</style>", re.DOTALL)


def blocks(css: str) -> Iterator[tuple[str, str]]:
    """The head and the inside of everything in braces at the top."""
    start = depth = opened = 0
    for found in re.finditer(r"[{};]", css):
        at = found.start()
        if found[0] == "{":
            depth += 1
            opened = at if depth == 1 else opened
        elif found[0] == "}":
            depth -= 1
            if depth == 0:
                yield css[start:opened].strip(), css[opened + 1 : at]
                start = at + 1
        elif depth == 0:
            start = at + 1


def dark_rules(css: str) -> str:
    """The rules for the dark theme, for a page that says it is light."""
    kept = []
    for head, inside in blocks(COMMENT.sub("", css)):
        if head.startswith(("@media", "@supports")):
            if "print" not in head and (rules := dark_rules(inside)):
                kept.append(f"{head}{{{rules}}}")
            continue
        meant = [one.strip() for one in COMMA.split(head) if DARK.search(one)]
        if meant:
            kept.append(f"{','.join(DARK.sub(LIGHT, one) for one in meant)}{{{inside.strip()}}}")
    return "\n".join(kept)


def where_dark(rules: str) -> str:
    """Only where the system is dark; paper is white."""
    return f"@media screen and (prefers-color-scheme: dark) {{\n{rules}\n}}\n"


def write(app: Sphinx, exception: Exception | None) -> None:
    """Once the style sheets and the pages are as they stay."""
    if exception is not None or app.builder.format != "html":
        return
    site = Path(app.outdir)
    sheets = [path.read_text(encoding="utf-8") for one in SHEETS for path in site.glob(one)]
    (site / FILE).write_text(where_dark(dark_rules("\n".join(sheets))), encoding="utf-8")
    for page in site.glob("**/*.html"):
        text = page.read_text(encoding="utf-8")
        rules = "\n".join(filter(None, map(dark_rules, dict.fromkeys(STYLE.findall(text)))))
        if rules and FILE in text:
            style = f"<noscript><style>\n{where_dark(rules)}</style></noscript>\n</head>"
            page.write_text(text.replace("</head>", style, 1), encoding="utf-8")


def setup(app: Sphinx) -> dict:
    """After everything has been trimmed."""
    app.connect("build-finished", write, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
