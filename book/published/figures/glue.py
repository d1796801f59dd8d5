"""The pictures of GLUE's tables."""

import matplotlib.pyplot as plt

from lectures_lib.show.plots import BLUE, GREEN, GREY, ORANGE, RED
from published import Table
from published.figures.axes import SIZE, dots, legend_above, names_on


def sizes_of_tasks(table: Table) -> str:
    """Training examples on a logarithmic axis: by today's files, and in the paper."""
    _, ax = plt.subplots(figsize=(SIZE, 3.6))
    ys = names_on(ax, table["task"])
    ax.grid(visible=False)
    ax.hlines(ys, 300, table["examples"], color=GREY, linewidth=0.6)
    for label, colour in (("one sentence", ORANGE), ("a pair", BLUE)):
        here = [
            i
            for i, inputs in enumerate(table["inputs"])
            if (inputs == "one sentence") == (label == "one sentence")
        ]
        dots(
            ax,
            [table["examples"][i] for i in here],
            [ys[i] for i in here],
            color=colour,
            label=label,
            markersize=8,
        )
    in_paper = [thousands and 1000 * thousands for thousands in table["thousands"]]
    dots(
        ax,
        in_paper,
        ys,
        color="black",
        label="in the paper",
        marker="|",
        markersize=14,
        markeredgewidth=1.6,
    )
    for y, examples in zip(ys, table["examples"], strict=True):
        ax.annotate(
            f"{examples:,.0f}",
            (examples, y),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
        )
    ticks = {1e3: "1,000", 1e4: "10,000", 1e5: "100,000", 1e6: "1 million"}
    ax.set(
        xscale="log",
        xlim=(300, 3e6),
        xlabel="training examples",
        xticks=list(ticks),
        xticklabels=ticks.values(),
    )
    ax.minorticks_off()
    legend_above(ax, 3)
    return (
        "A dot for each task of GLUE on a logarithmic axis, from 635 training examples in WNLI and "
        "2,490 in RTE to 392,702 in MNLI. CoLA and SST-2 ask about one sentence, the others about "
        "a pair. Strokes for the paper's numbers go through all dots but WNLI's, which has none; "
        "QNLI's, at 108,000, and MRPC's, at 3,500, are a little off the dots at 104,743 and 3,668."
    )


def glue(table: Table) -> str:
    """A line for each task, a dot for each system."""
    tasks = [column for column in table.columns if column.name not in ("system", "average")]
    _, ax = plt.subplots(figsize=(SIZE, 4.2))
    ys = names_on(ax, [column.head for column in tasks])
    for row, colour in zip(table["system"], (GREY, GREEN, BLUE, ORANGE, RED), strict=True):
        values = table.row(row)
        dots(
            ax, [values[column.name] for column in tasks], ys, color=colour, label=row, markersize=6
        )
    ax.set_xlabel("test score × 100")
    legend_above(ax, 3)
    return (
        "For nine columns of GLUE, the scores of five systems as dots. BERT large is furthest "
        "right in every one, BERT base second in every one; the gap is widest in CoLA, where BERT "
        "large has 60.5 and the next other system 45.4."
    )


def leaderboard(table: Table) -> str:
    """The first of the list against BERT, task by task."""
    tasks = [column for column in table.columns if column.name not in ("rank", "model", "score")]
    first, bert = (
        dict(zip([c.name for c in table.columns], row, strict=True))
        for row in (table.rows[0], table.rows[6])
    )
    _, ax = plt.subplots(figsize=(SIZE, 4.6))
    ys = names_on(ax, [column.head for column in tasks])
    for y, column in zip(ys, tasks, strict=True):
        ax.plot(
            [float(bert[column.name]), float(first[column.name])], [y, y], color=GREY, linewidth=1.5
        )
    dots(ax, [float(bert[c.name]) for c in tasks], ys, color=ORANGE, label=bert["model"])
    dots(ax, [float(first[c.name]) for c in tasks], ys, color=BLUE, label=first["model"])
    ax.set_xlabel("test score × 100")
    legend_above(ax, 2)
    return (
        "For fourteen columns of the leaderboard, BERT large and the first of the list as two dots "
        "joined by a line. The lines are longest for WNLI, 65.1 against 97.9, and RTE, 70.1 "
        "against 93.6, and shortest for QQP's accuracy and SST-2."
    )
