"""Formulas are set by KaTeX while the site is built, so that a page loads no script for them.

One Node process runs for each process of the build and answers line by line. A formula that KaTeX does not
understand is a warning with its page, and so fails the build. KaTeX's style sheet is linked only on
pages that have formulas.
"""

import json
import os
import re
import subprocess
from functools import cache
from pathlib import Path

import typefaces
from attention_colours import coloured
from docutils import nodes
from kept import result
from node import MODULES, NODE
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.fileutil import copy_asset
from sphinx.util.math import get_node_equation_number

KATEX = MODULES / "katex"
STYLE = "katex/katex.min.css"
SERVER = """
const katex = require(process.argv[1]);
const strict = (code) => code === "htmlExtension" ? "ignore" : "error";
const trust = ({ command }) => command === "\\\\htmlClass";
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { tex, display } = JSON.parse(line);
  let answer;
  try { answer = { html: katex.renderToString(tex, { displayMode: display, strict, trust }) }; }
  catch (error) { answer = { error: error.message }; }
  console.log(JSON.stringify(answer));
});
"""
SHORT = 12  # letters of a formula that stands in one piece with what adjoins it
BEFORE, BEHIND = re.compile(r"[(\[“‘\"'–]+$"), re.compile(r"^[,.;:!?)\]”’\"'…%]+")
COMMAND = re.compile(r"\\(?:[A-Za-z]+|.)")
logger = logging.getLogger(__name__)


@cache
def node_process(of: int) -> subprocess.Popen:
    """The running KaTeX of the process with that number, for two that write at once would read each
    other's answers. It ends by itself when the build closes its input.
    """
    command = [NODE, "-e", SERVER, str(KATEX)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )


@cache
def render(tex: str, display: bool) -> dict[str, str]:
    """KaTeX's answer: {"html": …} or {"error": …}."""
    process = node_process(os.getpid())
    process.stdin.write(json.dumps({"tex": tex, "display": display}) + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def html(node: nodes.Element, page: str, display: bool) -> str:
    """The formula of a math node as HTML, and a warning where there is a mistake in it."""
    answer = render(coloured(node.astext(), page), display)
    if "error" in answer:
        logger.warning("formula: %s", answer["error"], location=node)
    return answer.get("html", "")


def hold_marks(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """No line begins with the comma behind a short formula, or ends with the bracket before it."""
    for formula in list(doctree.findall(nodes.math)):
        parent = formula.parent
        if isinstance(parent, nodes.title) or length(formula.astext()) >= SHORT:
            continue
        at = parent.index(formula)
        before = beside(parent, at - 1, BEFORE)
        behind = beside(parent, at + 1, BEHIND)
        if not before and not behind:
            continue
        if behind:
            parent[at + 1] = nodes.Text(parent[at + 1].removeprefix(behind))
        if before:
            parent[at - 1] = nodes.Text(parent[at - 1].removesuffix(before))
        pieces = nodes.Text(before), formula.deepcopy(), nodes.Text(behind)
        parent[at] = nodes.inline("", "", *pieces, classes=["whole"])


def beside(parent: nodes.Element, at: int, marks: re.Pattern) -> str:
    """The marks that stand right at a formula, in the text before or behind it."""
    if not 0 <= at < len(parent) or not isinstance(parent[at], nodes.Text):
        return ""
    found = marks.search(parent[at].astext())
    return found[0] if found else ""


def length(tex: str) -> int:
    """How many letters one sees of a formula, about: one for each command."""
    return len(re.sub(r"[\s{}^_]", "", COMMAND.sub("x", tex)))


def visit_inline(translator, node: nodes.math) -> None:
    """A formula in the running text."""
    translator.body.append(
        translator.starttag(node, "span", "")
        + html(node, translator.builder.current_docname, display=False)
        + "</span>"
    )
    raise nodes.SkipNode


def visit_display(translator, node: nodes.math_block) -> None:
    """A formula on a line of its own.

    The theme makes what has the class of its tables reachable by keyboard when it is too wide and
    has to be scrolled.
    """
    formula = html(node, translator.builder.current_docname, display=True)
    scroller = f'<div class="formula-scroll pst-scrollable-table-container">{formula}</div>'
    translator.body.append(translator.starttag(node, "div", CLASS="formula") + scroller)
    if node["number"]:
        translator.body.append(
            f'<span class="eqno">({get_node_equation_number(translator, node)})</span>'
        )
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def copy_katex(app: Sphinx, exception: Exception | None) -> None:
    """Put the style sheet and its fonts, in the one format that every browser reads, beside the
    pages: of each font what any page or script writes.
    """
    if exception is None and app.builder.format == "html":
        target = Path(app.outdir) / "_static" / "katex"
        copy_asset(KATEX / "dist" / "katex.min.css", target)
        (target / "fonts").mkdir(exist_ok=True)
        text = "".join(sorted(written(Path(app.outdir))))
        for font in (KATEX / "dist" / "fonts").glob("*.woff2"):
            (target / "fonts" / font.name).write_bytes(result(typefaces.cut, font, text))


def written(site: Path) -> set[str]:
    """Every letter of the site's pages and scripts."""
    return set().union(
        *(
            path.read_text(encoding="utf-8")
            for kind in ("html", "js")
            for path in site.rglob(f"*.{kind}")
        )
    )


def link_style(
    app: Sphinx, page: str, template: str, context: dict, doctree: nodes.document | None
) -> None:
    """Link KaTeX's style sheet on the pages that need it, and fetch its letters early where they
    stand in the first paragraph: the lines below would move when they come.
    """
    if doctree is not None and next(
        doctree.findall(lambda n: isinstance(n, nodes.math | nodes.math_block)), None
    ):
        app.add_css_file(STYLE)
        first = next(doctree.findall(nodes.paragraph), None)
        context["formula_first"] = first is not None and any(first.findall(nodes.math))


def setup(app: Sphinx) -> dict:
    """Register "katex" as a value of html_math_renderer."""
    app.add_html_math_renderer(
        "katex", inline_renderers=(visit_inline, None), block_renderers=(visit_display, None)
    )
    app.connect("doctree-resolved", hold_marks)
    app.connect("html-page-context", link_style)
    # when all scripts are there, and before `lean` trims the style sheets
    app.connect("build-finished", copy_katex, priority=890)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
