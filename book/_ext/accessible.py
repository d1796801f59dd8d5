"""Mends what stops readers who use a screen reader, where the theme or the notebook reader leaves
it out.

Its counterpart is the folder _templates: the search button says what stands on it, and the course's
name is in a landmark.
"""

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode, depart_HideCellInput, visit_HideCellInput
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


def visit_hidden_cell(translator, node: HideCodeCellNode) -> None:
    """A cell that can be unfolded is named by the words one sees ("Show the code"), not by
    others.
    """
    start = len(translator.body)
    visit_HideCellInput(translator, node)
    translator.body[start:] = [
        part.replace(' aria-label="Toggle hidden content"', "") for part in translator.body[start:]
    ]


def visit_entry(translator, node: nodes.entry) -> None:
    """An empty corner of a table heads nothing. Where a column has no head, the first cell of a line
    heads the others: else a screen reader has nothing to say before them.
    """
    HTML5Translator.visit_entry(translator, node)
    in_head = isinstance(node.parent.parent, nodes.thead)
    if in_head and not node.astext().strip():
        became("th", "td", translator)
    elif not in_head and heads_its_line(node):
        became("td", 'th scope="row"', translator)


def became(old: str, new: str, translator) -> None:
    """The cell that has just been begun is one of the other kind, at its end too."""
    translator.body[-1] = translator.body[-1].replace(f"<{old}", f"<{new}", 1)
    translator.context[-1] = translator.context[-1].replace(old, new.split()[0])


def heads_its_line(node: nodes.entry) -> bool:
    """Whether a cell is a line's first, says something, and stands in a table one of whose columns has
    no head.
    """
    head = next(node.parent.parent.parent.findall(nodes.thead), None)
    return (
        node.parent.index(node) == 0
        and bool(node.astext().strip())
        and head is not None
        and not all(entry.astext().strip() for entry in head.findall(nodes.entry))
    )


def visit_citation(translator, node: nodes.citation) -> None:
    """An entry of the references, without the roles that docutils gives it and that are no longer
    in use.
    """
    translator.body.append(translator.starttag(node, "div", CLASS="citation"))


def depart_citation(translator, node: nodes.citation) -> None:
    """Its end."""
    translator.body.append("</div>\n")


def setup(app: Sphinx) -> dict:
    """Replace the visitors of these three."""
    app.add_node(HideCodeCellNode, override=True, html=(visit_hidden_cell, depart_HideCellInput))
    app.add_node(nodes.entry, override=True, html=(visit_entry, HTML5Translator.depart_entry))
    app.add_node(nodes.citation, override=True, html=(visit_citation, depart_citation))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
