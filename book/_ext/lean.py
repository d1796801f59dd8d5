"""A page loads what it uses and no more, and nothing that keeps its text from being shown."""

import hashlib
import logging
import posixpath
import re
import subprocess
from functools import cache
from pathlib import Path

import plots_in_both_themes
from docutils import nodes
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from node import MODULES, NODE
from PIL import Image
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

SHEETS = ("_static/styles/*.css", "_static/basic.css", "_static/mystnb.*.css")
PRIVATE = re.compile("[\ue000-\uf8ff]")  # where an icon font keeps its icons
AS_WRITTEN = re.compile(
    r"(<pre\b.*?</pre>|<script\b.*?</script>|<style\b.*?</style>|<textarea\b.*?</textarea>)",
    re.DOTALL,
)
COMMENT, BLANK = re.compile("<!--.*?-->", re.DOTALL), re.compile(r"\n\s*\n")
# document.querySelectorAll(...).forEach(e=>{e.tabIndex=<scrolls>?0:-1})
MEASURING = re.compile(
    r"document\.querySelectorAll\([^()]*(?:\([^()]*\))?\)\.forEach\((\w)=>\{\1\.tabIndex=[^?{};]*\?0:-1\}\)"
)
# The theme's own marking of the section that is read begins by asking for the list.
MARKING = re.compile(r'document\.querySelector\("#pst-page-toc-nav"\)')
ICON = re.compile(r'content:"\\([ef][0-9a-f]{3})"')
# The style sheets that a page's head names, in a row; the way to the folder of one, and its name.
LINKS = re.compile(r'(?:\s*<link\b[^>]*\brel="stylesheet"[^>]*>)+')
SHEET = re.compile(r'href="([^"?]*?)_static/([^"?]+\.css)[^"]*"')
URL = re.compile(r"""url\((["']?)(?!data:|https?:|[/#])([^"')]+)\1\)""")
CHARSET = '@charset "UTF-8";'
WITHOUT_SCRIPTS = re.compile(r"<noscript><link\b[^>]*></noscript>")
OPTIONS = re.compile(r'<script src="[^"]*_static/documentation_options\.js[^"]*"></script>')


def defer_scripts(
    app: Sphinx, page: str, template: str, context: dict, doctree: nodes.document | None
) -> None:
    """Let every script file run after the page is shown. The order among them stays the same."""
    context["script_files"][:] = map(deferred, context["script_files"])


def deferred(script):
    """The same script tag with "defer", if it names a file."""
    name = getattr(script, "filename", None)
    # scripts inside the page read that one as they go
    if not name or "documentation_options" in name:
        return script
    return type(script)(name, priority=script.priority, **{**script.attributes, "defer": "defer"})


def visit_image(translator, node: nodes.image) -> None:
    """An image is fetched when it comes near the screen, and its place on the page is kept free
    until then.
    """
    path = Path(translator.builder.srcdir, node["uri"])
    if path.exists() and plots_in_both_themes.is_plot(path):
        name = translator.builder.images[node["uri"]]
        address = f"{translator.builder.imgpath}/{name}"
        translator.body.append(plots_in_both_themes.tags(node, path, address))
        return
    node.setdefault("loading", "lazy")
    HTML5Translator.visit_image(translator, node)
    if path.suffix == ".png" and path.exists():
        width, height = Image.open(path).size
        translator.body[-1] = translator.body[-1].replace(
            "<img ", f'<img width="{width}" height="{height}" ', 1
        )


def trim_styles(site: Path) -> None:
    """Take out of the style sheets every rule that no page and no script can use: nine tenths of
    the theme's.
    """
    program = [
        NODE,
        str(MODULES / "purgecss" / "bin" / "purgecss.js"),
        "--preserve-paths",
        "--output",
        ".",
    ]
    content = ["--content", "**/*.html", "_static/**/*.js"]
    subprocess.run(
        [*program, *content, "--css", *SHEETS], cwd=site, check=True, stdout=subprocess.DEVNULL
    )


def trim_pages(site: Path) -> None:
    """Take out what no reader sees: comments, such as a quoted number's marker, and blank lines.
    Code and scripts stay as they are.

    A page says that it is light; its first script chooses. Where no script runs, no colour would
    go with "auto".
    """
    for page in site.glob("**/*.html"):
        text = page.read_text(encoding="utf-8")
        parts = AS_WRITTEN.split(text.replace(' data-theme="auto"', ' data-theme="light"', 1))
        parts[::2] = [BLANK.sub("\n", COMMENT.sub("", part)) for part in parts[::2]]
        page.write_text("".join(parts), encoding="utf-8")


def bundle_styles(site: Path) -> None:
    """Make one style sheet of those that a page's head names: nothing is drawn before the last of
    them has come, and each costs a way to the host and back. It stands behind the head's scripts,
    which would wait for it, and with them the page. What the first of them reads stands in the page.
    """
    static = site / "_static"
    options = (static / "documentation_options.js").read_text("utf-8").strip()
    for page in site.glob("**/*.html"):
        text = page.read_text(encoding="utf-8")
        links = LINKS.search(text)
        if not links or "_static/basic.css" not in links[0]:  # a deck's slides
            continue
        sheets = SHEET.findall(links[0])
        name = bundle(static, tuple(name for _, name in sheets))
        link = f'<link rel="stylesheet" href="{sheets[0][0]}_static/{name}"/>'
        last = "".join(WITHOUT_SCRIPTS.findall(text))
        text = WITHOUT_SCRIPTS.sub("", text.replace(links[0], "", 1))
        text = OPTIONS.sub(lambda _: f"<script>{options}</script>", text)
        page.write_text(text.replace("</head>", f"{link}\n{last}\n</head>", 1), encoding="utf-8")


@cache
def bundle(static: Path, names: tuple[str, ...]) -> str:
    """Write these style sheets as one, under a name that says what is in it; returns the name."""
    parts = [moved(static / name, posixpath.dirname(name)) for name in names]
    text = CHARSET + "\n" + "\n".join(parts)
    digest = hashlib.sha256(text.encode()).hexdigest()
    name = f"styles.{digest[:6]}.css"
    (static / name).write_text(text, encoding="utf-8")
    return f"{name}?v={digest[6:14]}"  # of this version for ever: tools/site.py


def moved(sheet: Path, folder: str) -> str:
    """A style sheet's text, whose addresses begin in this folder, as it stands outside of it."""
    text = sheet.read_text(encoding="utf-8").replace(CHARSET, "")
    return URL.sub(
        lambda url: f"url({url[1]}{posixpath.normpath(posixpath.join(folder, url[2]))}{url[1]})",
        text,
    )


def trim_icons(site: Path) -> None:
    """Keep in the theme's icon fonts, 300 KB, the thirty icons that the trimmed style sheets still
    name.
    """
    styles = "".join(
        sheet.read_text(encoding="utf-8") for sheet in site.glob("_static/styles/*.css")
    )
    icons = {ord(character) for character in PRIVATE.findall(styles)} | {
        int(code, 16) for code in ICON.findall(styles)
    }
    # one of the theme's packages lets every library tell its steps, here 170 lines of them
    logging.getLogger("fontTools").setLevel(logging.WARNING)
    for path in site.glob("_static/vendor/fontawesome/webfonts/*.woff2"):
        font = TTFont(path, recalcTimestamp=False)
        subsetter = Subsetter(Options(layout_features=[]))
        subsetter.populate(unicodes=icons)
        subsetter.subset(font)
        font.flavor = "woff2"
        font.save(path)


def take_out(site: Path) -> None:
    """Take out of the theme's script what one of ours does instead.

    The theme asks each box of a page in turn whether it scrolls, closed folds too, and tells it so,
    which makes a browser lay out the page again and again. `scrolls.js` does it with an observer.
    What it marks in a page's Contents is often not the section that is read (`contents.js`).

    Raises:
        ValueError: if the theme's script no longer has that place.
    """
    script = site / "_static" / "scripts" / "pydata-sphinx-theme.js"
    text = script.read_text(encoding="utf-8")
    for what, place, instead in (
        ("measure boxes", MEASURING, "void 0"),
        ("mark the section that is read", MARKING, "null"),
    ):
        text, found = place.subn(instead, text)
        if found != 1:
            raise ValueError(f"{script.name} has {found} places that {what}, 1 was expected")
    script.write_text(text, encoding="utf-8")


def trim(app: Sphinx, exception: Exception | None) -> None:
    """Once all pages are there: trim what they load, and drop the files that none of them asks
    for. (The sheets that are one now stay: dark_without_scripts.py reads them.)
    """
    if exception is not None or app.builder.format != "html":
        return
    site = Path(app.outdir)
    for unused in (
        "**/*.map",
        "scripts/fontawesome.js",
        "vendor/**/*.ttf",
        "searchtools.js",
        "language_data.js",
    ):
        for path in site.glob(f"_static/{unused}"):
            path.unlink()
    take_out(site)
    trim_pages(site)
    trim_styles(site)
    trim_icons(site)
    bundle_styles(site)


def setup(app: Sphinx) -> dict:
    """Connect them."""
    app.connect("html-page-context", defer_scripts, priority=900)
    app.connect("build-finished", trim, priority=900)
    app.add_node(nodes.image, override=True, html=(visit_image, HTML5Translator.depart_image))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
