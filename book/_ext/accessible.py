"""Mends what stops readers who use a screen reader, where the theme or the notebook reader leaves it out.

Its counterpart is the folder _templates: the search button says what stands on it, and the course's name is in a landmark.
"""

from myst_nb.sphinx_ import HideCodeCellNode, depart_HideCellInput, visit_HideCellInput
from sphinx.application import Sphinx


def visit_hidden_cell(translator, node: HideCodeCellNode) -> None:
    """A cell that can be unfolded is named by the words one sees ("Show code cell source"), not by others."""
    start = len(translator.body)
    visit_HideCellInput(translator, node)
    translator.body[start:] = [part.replace(' aria-label="Toggle hidden content"', "") for part in translator.body[start:]]


def setup(app: Sphinx) -> dict:
    """Replace the notebook reader's own visitor."""
    app.add_node(HideCodeCellNode, override=True, html=(visit_hidden_cell, depart_HideCellInput))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
