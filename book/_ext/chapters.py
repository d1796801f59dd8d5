"""Two things that every chapter has: a set-up cell that is folded away, and sections that can be
linked to from anywhere.
"""

from docutils import nodes
from sphinx.application import Sphinx


def fold_setup(app: Sphinx, doctree: nodes.document) -> None:
    """Fold the cell with the tag "setup": a reader of the page need not see how a notebook installs
    its library.
    """
    for cell in doctree.findall(nodes.container):
        if "tag_setup" in cell["classes"]:
            cell.attributes.update(
                hide_mode="input",
                prompt_show="Show the set-up cell",
                prompt_hide="Hide the set-up cell",
            )


def add_anchors(app: Sphinx, doctree: nodes.document) -> None:
    """Let a section also be found under the name that GitHub and Jupyter give it, where Sphinx
    would choose another.

    "Why divide by √d_k?" is #why-divide-by-d_k there and #why-divide-by-d-k here; one link then
    works in both.
    """
    for section in doctree.findall(nodes.section):
        slug = section.get("slug")
        if slug and slug not in section["ids"] and slug not in doctree.ids:
            section["ids"].append(slug)


def setup(app: Sphinx) -> dict:
    """Do both when a page has been read."""
    app.connect("doctree-read", fold_setup)
    app.connect("doctree-read", add_anchors)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
