"""At the foot of a page: the day of the last commit that changed it, and the way to all of them.

Git knows it. Where the book is built outside a checkout (from an archive, say), or from one that
has only the last commits, nothing is said: the day would be wrong.
"""

import subprocess
from datetime import date
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
COMMIT = "commit "  # before the day of each, which no file's name begins with


def git(root: Path, *arguments: str) -> str:
    """What git says; nothing where there is none, or it objects."""
    try:
        ran = subprocess.run(
            ["git", "-c", "core.quotepath=off", "-C", str(root), *arguments],
            capture_output=True,
            check=True,
            encoding="utf-8",
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return ran.stdout.strip()


def days(root: Path) -> dict[str, date]:
    """When each file of a checkout was changed last; nothing where its history is not whole."""
    asked = ("rev-parse", "--show-toplevel", "--is-shallow-repository")
    if git(root, *asked).splitlines() != [str(root), "false"]:
        return {}
    found: dict[str, date] = {}
    for line in git(root, "log", f"--format={COMMIT}%cs", "--name-only").splitlines():
        if line.startswith(COMMIT):
            day = date.fromisoformat(line.removeprefix(COMMIT))
        elif line:
            found.setdefault(line, day)
    return found


def remember(app: Sphinx) -> None:
    """Ask once, before the pages are divided among processes."""
    app.last_changed = days(ROOT)


def file_of(app: Sphinx, page: str) -> str:
    """A page's place in the checkout."""
    return Path(app.env.doc2path(page)).relative_to(app.srcdir).as_posix()


def day_of(app: Sphinx, page: str) -> date | None:
    """When it was changed last, if that is known."""
    return app.last_changed.get(file_of(app, page))


def tell(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Give the day and the address of the history to the template (_templates/last-updated.html)."""
    if doctree is None:
        return
    if day := day_of(app, page):
        file = file_of(app, page)
        options = app.config.html_theme_options
        context["changed"] = day.isoformat()
        context["changed_on"] = f"{day.day} {day:%B %Y}"
        context["history"] = (
            f"{options['repository_url']}/commits/{options['repository_branch']}/{file}"
        )


def setup(app: Sphinx) -> dict:
    """Before the pages are read, and when each is written."""
    app.connect("builder-inited", remember)
    app.connect("html-page-context", tell)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
