"""What is taken out of the theme, and what is changed in it."""

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
