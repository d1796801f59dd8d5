"""The addresses of a chapter's sections on the site, for tests that check where a link leads."""

import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import sections  # noqa: E402


@cache
def anchors(page: str) -> frozenset[str]:
    """The anchors of all sections of "notebooks/NN_name.ipynb" that have text, by the rule that
    also feeds the book's search.
    """
    return frozenset(
        section["anchor"] for section in sections.sections((ROOT / page).with_suffix(".py"))
    )


def lost(see: str) -> str:
    """What is wrong with "notebooks/NN_name.ipynb#section" or "book/page.md", in words; empty if it
    leads somewhere.
    """
    page, _, anchor = see.partition("#")
    if not (ROOT / page).exists():
        return f"there is no page {page}"
    if page.startswith("notebooks/") and anchor not in anchors(page):
        return f"{page} has no section {anchor!r}; it has: {', '.join(sorted(anchors(page)))}"
    if not page.startswith("notebooks/") and anchor:
        return f"only sections of chapters can be named, not {see}"
    return ""
