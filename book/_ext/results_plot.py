"""A small picture above a table of a results file that is a curve: one quantity at many steps."""

from typing import Any

import matplotlib.pyplot as plt
from docutils import nodes
from kept import result
from published_tables import picture
from results_layout import Block, is_spread, named

from lectures_lib.show.plots import BLUE, GREEN, PURPLE, RED


def is_curve(one: Block) -> bool:
    """Are the table's rows steps of training, and its columns the same quantity of one or more
    models?
    """
    keys = (*one.caption[-1:], *one.columns[0])
    return len(one.rows) > 1 and any(key.endswith("by_step") for key in keys)


def curves(name: str, one: Block) -> list[nodes.Node]:
    """The picture of a table, if it is a curve: the means, and a band from the smallest to the
    largest run.
    """
    if not is_curve(one):
        return []
    drawing = result(svg, name, one)
    return [nodes.raw("", drawing, format="html")]


def svg(name: str, one: Block) -> str:
    """The picture."""
    return picture(f"{name}-{'-'.join(one.caption)}", lambda: draw(one))


def draw(one: Block) -> str:
    """A line for each column; returns what it shows, in words."""
    many = len(one.columns) > 1
    figure, axes = plt.subplots(figsize=(5, 2.9 if many else 2.4))
    told = []
    for column, colour in zip(one.columns, (BLUE, RED, GREEN, PURPLE), strict=False):
        points = [(int(row[0]), one.cells[row, column][1]) for row in one.rows]
        steps = [step for step, _ in points]
        means = [at(value, "mean") for _, value in points]
        axes.plot(steps, means, color=colour, label=named(column))
        least = [at(value, "min") for _, value in points]
        most = [at(value, "max") for _, value in points]
        axes.fill_between(steps, least, most, color=colour, alpha=0.2, linewidth=0)
        told.append(
            f"{named(column)} {means[0]:.3g} at step {steps[0]:,}, {means[-1]:.3g} at {steps[-1]:,}"
        )
    axes.set_title("Line: mean. Band: from the smallest run to the largest.")
    axes.set_xlabel("step")
    if many:  # below the axes: no corner is free of lines on every page
        figure.legend(loc="outside lower left", ncols=2)
    return f"Curve of the table below it, {named(one.caption)}: {'; '.join(told).strip()}."


def at(value: Any, key: str) -> float:
    """A number of a measurement; of a single number, itself."""
    return value[key] if is_spread(value) else value
