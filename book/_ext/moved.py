"""Old addresses lead to the new places: where a section has moved to another page, the page where it
used to stand sends on whoever comes with its anchor.

Which sections these are stands in book/moved.yml. A server never sees what is behind the # of an
address, so a script has to do it, and only pages that have lost a section get one. Without scripts
a reader arrives at the top of the old page. A page that has another name now leaves a small one
behind, which sends on whoever comes, to the section that was asked for.
"""

import html
import json
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

FILE = Path(__file__).parents[1] / "moved.yml"
# Also when the anchor is typed or chosen on a page that is already open. What is replaced leaves no
# step behind that "back" would fall into again.
SCRIPT = """<script>{const moved=%s,go=()=>{let at=location.hash.slice(1);
try{at=decodeURIComponent(at)}catch{}
if(Object.hasOwn(moved,at)){const to=new URL(moved[at],location.href);
to.search=location.search;location.replace(to)}};
addEventListener("hashchange",go);go()}</script>"""
LEFT_BEHIND = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="robots" content="noindex">
<script>location.replace("{to}"+location.search+location.hash)</script>
<noscript><meta http-equiv="refresh" content="0; url={to}"></noscript></head>
<body><a href="{to}">{title}</a></body></html>
"""
logger = logging.getLogger(__name__)


@cache
def load(file: Path = FILE) -> dict[str, str]:
    """Old address: new address, each "page#anchor", or both "page". ValueError says which line is
    none of these.
    """
    told = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
    if not isinstance(told, dict):
        raise ValueError(f"{file.name} is no list of old: new")
    for old, new in told.items():
        for address in (old, new):
            page, sign, anchor = str(address).partition("#")
            whole = "#" not in f"{old}{new}"  # the page has another name
            if not (page and (whole or (sign and anchor))) or ".html" in page:
                raise ValueError(f"{file.name}: {address} is not page#anchor")
        if new in told:
            raise ValueError(f"{file.name}: {old} leads to {new}, which has moved on itself")
    return told


def of_page(page: str, moved: dict[str, str]) -> dict[str, str]:
    """The anchors that a page has lost, each with its new address."""
    return {old.partition("#")[2]: new for old, new in moved.items() if old.startswith(f"{page}#")}


def renamed(moved: dict[str, str]) -> dict[str, str]:
    """The pages that have another name now: old: new."""
    return {old: new for old, new in moved.items() if "#" not in old}


def script(places: dict[str, str]) -> str:
    """The script for a page's head. places: an old anchor, and the address that it now has, as seen
    from that page.
    """
    return SCRIPT % json.dumps(places, ensure_ascii=False).replace("<", "\\u003c")


def check(app: Sphinx, env: Any) -> None:
    """Warn, and so stop the build, where an old address is in use or a new one leads nowhere."""
    for old, new in renamed(load()).items():
        if old in env.found_docs or new not in env.found_docs:
            logger.warning("moved.yml: the page %s is there, or %s is not", old, new)
    for old, new in load().items():
        if "#" not in old:
            continue
        for address, wanted in ((old, False), (new, True)):
            page, _, anchor = address.partition("#")
            if page not in env.found_docs:
                logger.warning("moved.yml: there is no page %s", page)
            elif (anchor in env.course_told[page]["names"]) != wanted:
                logger.warning("moved.yml: %s is %s", address, "lost" if wanted else "a section")


def send_on(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Put the script into the head of a page that has lost sections."""
    places = {}
    for anchor, new in of_page(page, load()).items():
        target, _, place = new.partition("#")
        places[anchor] = f"{app.builder.get_relative_uri(page, target)}#{place}"
    if places:
        context["metatags"] = context.get("metatags", "") + script(places)


def leave_behind(app: Sphinx, exception: Exception | None) -> None:
    """At the old address of each page that has another name, a page that sends on."""
    if exception is not None or app.builder.format != "html":
        return
    for old, new in renamed(load()).items():
        title = html.escape(app.env.titles[new].astext())
        to = html.escape(app.builder.get_relative_uri(old, new), quote=True)
        path = Path(app.outdir, f"{old}.html")
        path.write_text(LEFT_BEHIND.format(title=title, to=to), encoding="utf-8")


def setup(app: Sphinx) -> dict:
    """Check them when all pages have been read, and send on from each page that is written."""
    app.connect("env-check-consistency", check)
    app.connect("build-finished", leave_behind)
    app.connect("html-page-context", send_on, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
