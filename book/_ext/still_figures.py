"""Below a figure that a reader moves, where no script runs: that this is why it does not."""

import re

import page_body
from sphinx.application import Sphinx

MOVED = re.compile(
    r'<div class="(attention-viewer|attention-lab|stepper|dial)" data-.*?</div>\n(?=<script>)',
    re.DOTALL,
)
SHOWN = {"stepper": "here is one of its steps", "attention-viewer": "here is one head"}
LINE = '<noscript><p class="still-figure">This figure moves only with scripts; {}.</p></noscript>\n'


def told(body: str) -> str:
    """A page's HTML with the line below each such figure."""
    return MOVED.sub(
        lambda found: found[0] + LINE.format(SHOWN.get(found[1], "here is how it begins")), body
    )


def setup(app: Sphinx) -> dict:
    """When the figures stand on the page."""
    page_body.change(app, told, priority=940)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
