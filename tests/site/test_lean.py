"""What is taken out of the theme, and what is changed in it."""

import sys

import pytest
from sitemap import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import lean

MEASURING = (
    'x=()=>{document.querySelectorAll(["pre",".wide"].join(", ")).forEach(e=>'
    "{e.tabIndex=e.scrollWidth>e.clientWidth||e.scrollHeight>e.clientHeight?0:-1})}"
)


@pytest.fixture
def script(tmp_path):
    """Where the theme's script lies in a site."""
    file = tmp_path / "_static" / "scripts" / "pydata-sphinx-theme.js"
    file.parent.mkdir(parents=True)
    return file


def test_the_theme_measures_no_box(tmp_path, script):
    script.write_text(MEASURING)
    lean.take_out_measuring(tmp_path)
    assert script.read_text() == "x=()=>{void 0}"


@pytest.mark.parametrize("code", ["", MEASURING * 2])
def test_another_theme_is_no_longer_changed_unseen(tmp_path, script, code):
    script.write_text(code)
    with pytest.raises(ValueError, match=f"has {2 * bool(code)} places that measure boxes, 1 was"):
        lean.take_out_measuring(tmp_path)


def test_the_site_has_it(html):
    written = (html / "_static/scripts/pydata-sphinx-theme.js").read_text("utf-8")
    assert not lean.MEASURING.search(written)
