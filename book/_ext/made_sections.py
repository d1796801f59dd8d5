"""Sections that a directive makes can be linked to as page.md#anchor, as headings can."""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment


def note(env: BuildEnvironment, anchor: str, title: str) -> None:
    """The page that is being read has a section with this address."""
    env.metadata[env.docname].setdefault("made_sections", {})[anchor] = (None, anchor, title)


def let_be_linked(app: Sphinx, doctree: nodes.document) -> None:
    """Put them beside the headings that MyST has found."""
    told_of = app.env.metadata[app.env.docname]
    if found := told_of.pop("made_sections", None):
        told_of["myst_slugs"] = {**told_of.get("myst_slugs", {}), **found}


def setup(app: Sphinx) -> dict:
    """Connect it."""
    app.connect("doctree-read", let_be_linked)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
