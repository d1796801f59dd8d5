"""A chapter begins with its picture: what is folded away before it stands in a row below it.

In the notebook the set-up cell, and the cells that prepare the picture, have to run first. On the
page they are grey bars, and whoever opens a chapter should see what it is about before them. Only
cells that show nothing move, and the code of the picture itself; the order among them stays.
"""

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.application import Sphinx

ROW = "lead-code"


def is_cell(node: nodes.Node) -> bool:
    """Whether this is a cell of code."""
    return isinstance(node, nodes.container) and node.get("nb_element") == "cell_code"


def outputs(cell: nodes.Element) -> list[nodes.Element]:
    """What a cell shows."""
    return [
        child
        for child in cell.children
        if isinstance(child, nodes.container) and child.get("nb_element") == "cell_code_output"
    ]


def shows_a_picture(cell: nodes.Element) -> bool:
    """Whether a figure, or a viewer's markup, is among what it shows."""
    return any(
        next(output.findall(lambda node: isinstance(node, (nodes.image, nodes.raw))), None)
        is not None
        for output in outputs(cell)
    )


def shows_nothing(cell: nodes.Element) -> bool:
    """Whether all that a cell has is folded."""
    return all(isinstance(child, HideCodeCellNode) for child in cell.children)


def move(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Put them below the first picture before the first section; a page without one stays."""
    title = next(doctree.findall(nodes.section), None)
    if not page.startswith("notebooks/") or title is None:
        return
    before = []
    for child in title.children:
        if isinstance(child, nodes.section):
            return
        if is_cell(child):
            if shows_a_picture(child):
                break
            if shows_nothing(child):
                before.append(child)
    else:
        return
    own = [fold for fold in child.children if isinstance(fold, HideCodeCellNode)]
    row = nodes.container(classes=[ROW])
    for cell in before:
        title.remove(cell)
        row += cell
    for fold in own:
        child.remove(fold)
        row += nodes.container("", fold, classes=["cell"])
    if row.children:
        title.insert(title.index(child) + 1, row)


def setup(app: Sphinx) -> dict:
    """When the page is written: by then the folds are made, and the order of cells has served
    everything else.
    """
    app.connect("doctree-resolved", move)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
