"""A page loads what it uses and no more, and nothing that keeps its text from being shown."""

import re
from pathlib import Path

from docutils import nodes
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from PIL import Image
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

PRIVATE = re.compile("[\ue000-\uf8ff]")  # where an icon font keeps its icons
ICON_RULE = re.compile(r'((?:\.fa-[\w-]+:before,?)+)\{content:"\\([0-9a-f]+)"')


def defer_scripts(app: Sphinx, page: str, template: str, context: dict, doctree: nodes.document | None) -> None:
    """Let every script file run after the page is shown. The order among them stays the same.

    Not on the search page, whose own scripts are not deferred and need these.
    """
    if page != "search":
        context["script_files"][:] = map(deferred, context["script_files"])


def deferred(script):
    """The same script tag with "defer", if it names a file."""
    name = getattr(script, "filename", None)
    if not name or "documentation_options" in name:  # scripts inside the page read that one as they go
        return script
    return type(script)(name, priority=script.priority, **{**script.attributes, "defer": "defer"})


def visit_image(translator, node: nodes.image) -> None:
    """An image is fetched when it comes near the screen, and its place on the page is kept free until then."""
    path = Path(translator.builder.srcdir, node["uri"])
    node.setdefault("loading", "lazy")
    HTML5Translator.visit_image(translator, node)
    if path.suffix == ".png" and path.exists():
        width, height = Image.open(path).size
        translator.body[-1] = translator.body[-1].replace("<img ", f'<img width="{width}" height="{height}" ', 1)


def icons_in_use(site: Path) -> set[int]:
    """The code points of the icons that the built pages, scripts and style sheets name."""
    theme = (site / "_static/styles/pydata-sphinx-theme.css").read_text()
    names = set()
    for file in [*site.rglob("*.html"), *site.glob("_static/scripts/*-theme.js")]:
        names |= set(re.findall(r"\bfa-[\w-]+", file.read_text()))
    in_html = {int(code, 16) for rules, code in ICON_RULE.findall(theme) if names & set(re.findall(r"fa-[\w-]+", rules))}
    in_theme = {ord(character) for character in PRIVATE.findall(theme)}
    ours = (site / "_static/styles/sphinx-book-theme.css").read_text()
    return in_html | in_theme | {int(code, 16) for code in re.findall(r"\\(f[0-9a-f]{3})", ours)}


def cut_icon_fonts(app: Sphinx, exception: Exception | None) -> None:
    """Keep of the theme's 300 KB of icons the thirty that are shown, and drop the files that no page asks for."""
    if exception is not None or app.builder.format != "html":
        return
    site = Path(app.outdir)
    icons = icons_in_use(site)
    for path in site.glob("_static/vendor/fontawesome/webfonts/*.woff2"):
        font = TTFont(path)
        subsetter = Subsetter(Options(layout_features=[]))
        subsetter.populate(unicodes=icons)
        subsetter.subset(font)
        font.flavor = "woff2"
        font.save(path)
    for unused in ("**/*.map", "scripts/fontawesome.js", "vendor/**/*.ttf"):
        for path in site.glob(f"_static/{unused}"):
            path.unlink()


def setup(app: Sphinx) -> dict:
    """Connect all three."""
    app.connect("html-page-context", defer_scripts, priority=900)
    app.connect("build-finished", cut_icon_fonts, priority=900)
    app.add_node(nodes.image, override=True, html=(visit_image, HTML5Translator.depart_image))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
