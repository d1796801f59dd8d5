"""The pictures of BERT's other tasks, and of its features."""

import matplotlib.pyplot as plt

from lectures_lib.show.plots import BLUE, GREY, ORANGE
from published import Table
from published.figures.axes import SIZE, dots, legend_above, names_on


def beyond_glue(table: Table) -> str:
    """Before BERT, BERT and people, task by task."""
    _, ax = plt.subplots(figsize=(SIZE, 2.3))
    ys = names_on(ax, table["task"])
    for name, colour, label in (
        ("before", GREY, "best before"),
        ("bert", ORANGE, "BERT large"),
        ("people", BLUE, "people"),
    ):
        dots(ax, table[name], ys, color=colour, label=label, markersize=7)
    ax.set(xlabel="test score × 100", xlim=(75, 96), xticks=range(75, 96, 5))
    legend_above(ax, 3)
    return (
        "Three tasks with three dots each. BERT large is ahead of the best earlier system by 1.5 "
        "points on the first SQuAD, 5.1 on the second and 8.3 on SWAG. It is above people on the "
        "first only, 93.2 against 91.2."
    )


def features(table: Table) -> str:
    """Development F1, sorted into kinds."""
    rows = [i for i, dev in enumerate(table["dev"]) if dev is not None]
    _, ax = plt.subplots(figsize=(SIZE, 3.4))
    ys = names_on(ax, [table["system"][i] for i in rows])
    colours = {"before": GREY, "fine-tuned": BLUE, "features of BERT base": ORANGE}
    for kind, colour in colours.items():
        these = [
            (table["dev"][i], y) for i, y in zip(rows, ys, strict=True) if table["kind"][i] == kind
        ]
        dots(
            ax, [x for x, _ in these], [y for _, y in these], color=colour, label=kind, markersize=7
        )
    ax.set(xlim=(90.5, 97.5), xlabel="F1 on the development set")
    legend_above(ax, 3)
    return (
        "F1 on the development set for nine ways. Fine-tuned BERT large has 96.6 and base 96.4; of "
        "the fixed features the last four layers side by side come closest with 96.1, and the "
        "embeddings alone are far behind with 91.0."
    )
