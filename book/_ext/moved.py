"""Old addresses lead to the new places: where a section has moved to another page, the page where it
used to stand sends on whoever comes with its anchor.

Which sections these are stands in book/moved.yml. A server never sees what is behind the # of an
address, so a script has to do it, and only pages that have lost a section get one. Without scripts
a reader arrives at the top of the old page.
"""

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
logger = logging.getLogger(__name__)


@cache
def load(file: Path = FILE) -> dict[str, str]:
    """Old address: new address, each "page#anchor". ValueError says which line is none of these."""
    told = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
    if not isinstance(told, dict):
        raise ValueError(f"{file.name} is no list of old: new")
    for old, new in told.items():
        for address in (old, new):
            page, sign, anchor = str(address).partition("#")
            if not (page and sign and anchor) or ".html" in page:
                raise ValueError(f"{file.name}: {address} is not page#anchor")
        if new in told:
            raise ValueError(f"{file.name}: {old} leads to {new}, which has moved on itself")
    return told


def of_page(page: str, moved: dict[str, str]) -> dict[str, str]:
    """The anchors that a page has lost, each with its new address."""
    return {
        old.partition("#")[2]: new for old, new in moved.items() if old.partition("#")[0] == page
    }


def script(places: dict[str, str]) -> str:
    """The script for a page's head. places: an old anchor, and the address that it now has, as seen
    from that page.
    """
    return SCRIPT % json.dumps(places, ensure_ascii=False).replace("<", "\\u003c")


def check(app: Sphinx, env: Any) -> None:
    """Warn, and so stop the build, where an old address is in use or a new one leads nowhere."""
    for old, new in load().items():
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


def setup(app: Sphinx) -> dict:
    """Check them when all pages have been read, and send on from each page that is written."""
    app.connect("env-check-consistency", check)
    app.connect("html-page-context", send_on, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
