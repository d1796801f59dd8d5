"""What is taken out of the theme, and what is changed in it."""

import hashlib
import logging
import shutil
import sys
from pathlib import Path

import pydata_sphinx_theme
import pytest
from fontTools.ttLib import TTFont
from sitemap import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import lean

MEASURING = (
    'x=()=>{document.querySelectorAll(["pre",".wide"].join(", ")).forEach(e=>'
    "{e.tabIndex=e.scrollWidth>e.clientWidth||e.scrollHeight>e.clientHeight?0:-1})}"
)
MARKING = ';y=()=>{const e=document.querySelector("#pst-page-toc-nav");if(!e)return;e.mark()}'


@pytest.fixture
def script(tmp_path):
    """Where the theme's script lies in a site."""
    file = tmp_path / "_static" / "scripts" / "pydata-sphinx-theme.js"
    file.parent.mkdir(parents=True)
    return file


def test_the_theme_measures_no_box_and_marks_no_section(tmp_path, script):
    script.write_text(MEASURING + MARKING)
    lean.take_out(tmp_path)
    assert script.read_text() == "x=()=>{void 0};y=()=>{const e=null;if(!e)return;e.mark()}"


@pytest.mark.parametrize(
    ("code", "found", "what"),
    [
        (MARKING, 0, "measure boxes"),
        (MEASURING * 2 + MARKING, 2, "measure boxes"),
        (MEASURING, 0, "mark the section"),
    ],
)
def test_another_theme_is_no_longer_changed_unseen(tmp_path, script, code, found, what):
    script.write_text(code)
    with pytest.raises(ValueError, match=f"has {found} places that {what}.*, 1 was"):
        lean.take_out(tmp_path)


def test_the_site_has_it(html):
    written = (html / "_static/scripts/pydata-sphinx-theme.js").read_text("utf-8")
    assert not lean.MEASURING.search(written)
    assert not lean.MARKING.search(written)


def test_icon_fonts_keep_the_icons_that_are_named_and_say_nothing(tmp_path, caplog):
    theme = Path(pydata_sphinx_theme.__file__).parent / "theme" / "pydata_sphinx_theme"
    fonts = "vendor/fontawesome/webfonts"
    shutil.copytree(theme / "static" / fonts, tmp_path / "_static" / fonts)
    (tmp_path / "_static" / "styles").mkdir()
    (tmp_path / "_static" / "styles" / "theme.css").write_text('.moon{content:"\\f186"}')
    with caplog.at_level(logging.INFO):
        lean.trim_icons(tmp_path)
    font = tmp_path / "_static" / fonts / "fa-solid-900.woff2"
    assert 0xF186 in TTFont(font).getBestCmap()
    assert font.stat().st_size < 5_000
    assert not caplog.records


PAGE = """<html data-content_root="../"><head>
<link href="../_static/basic.css" rel="stylesheet" />
<link rel="stylesheet" type="text/css" href="../_static/styles/theme.css?v=1" />
<script src="../_static/documentation_options.js?v=2"></script>
<script>DOCUMENTATION_OPTIONS.pagename = "one";</script>
<noscript><link rel="stylesheet" href="../_static/dark.css"/></noscript>
</head><body><p>Words</p></body></html>"""
DECK = (
    '<head><link rel="stylesheet" href="reveal.css"><link rel="stylesheet" href="deck.css"></head>'
)


@pytest.fixture
def bundled(tmp_path):
    """A site of two pages and a deck, after its style sheets were made one."""
    for name, text in {
        "_static/basic.css": "p{background:url(file.png)}",
        "_static/styles/theme.css": '@charset "UTF-8";@font-face{src:url("../vendor/a.woff2")}b{c:url(data:x)}',
        "_static/documentation_options.js": "const DOCUMENTATION_OPTIONS = {\n  VERSION: '', // of the book\n};\n",
        "book/one.html": PAGE,
        "book/two.html": PAGE.replace('"one"', '"two"'),
        "slides/deck.html": DECK,
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    lean.bundle_styles(tmp_path)
    return tmp_path


def test_a_page_loads_one_style_sheet_behind_its_scripts(bundled):
    (sheet,) = (bundled / "_static").glob("styles.*.css")
    head = (bundled / "book" / "one.html").read_text().split("</head>")[0]
    version = hashlib.sha256(sheet.read_bytes()).hexdigest()[6:14]
    link = f'<link rel="stylesheet" href="../_static/{sheet.name}?v={version}"/>'
    dark = '<noscript><link rel="stylesheet" href="../_static/dark.css"/></noscript>'
    assert head.endswith(f"{link}\n{dark}\n") and head.count("stylesheet") == 2
    options = "<script>const DOCUMENTATION_OPTIONS = {\n  VERSION: '', // of the book\n};</script>"
    assert head.index(options) < head.index("DOCUMENTATION_OPTIONS.pagename")
    assert sheet.name in (bundled / "book" / "two.html").read_text()
    assert (bundled / "slides" / "deck.html").read_text() == DECK


def test_the_one_style_sheet_says_what_the_many_said(bundled):
    (sheet,) = (bundled / "_static").glob("styles.*.css")
    assert sheet.read_text().split("\n") == [
        '@charset "UTF-8";',
        "p{background:url(file.png)}",
        '@font-face{src:url("vendor/a.woff2")}b{c:url(data:x)}',
    ]


def test_every_page_of_the_site_has_one(html):
    for page in [*html.glob("*/*.html"), html / "404.html"]:
        head = page.read_text("utf-8").split("</head>")[0]
        if "data-content_root" in head:
            assert head.count("/styles.") == 1 and "basic.css" not in head, page.name
            assert "documentation_options.js" not in head, page.name
