"""The picture of the Vision Transformer's results."""

import matplotlib.pyplot as plt

from lectures_lib.show.plots import GREY, ORANGE, PURPLE, RED
from published import Table, deviation
from published.figures.axes import SIZE, legend_above, names_on


def vit(table: Table) -> str:
    """How far each Vision Transformer is from the convolutional network, task by task."""
    rows = [i for i, task in enumerate(table["task"]) if "TPU" not in task]
    _, ax = plt.subplots(figsize=(SIZE, 3.8))
    ys = names_on(ax, [table["task"][i] for i in rows])
    column = {c.name: i for i, c in enumerate(table.columns)}
    styles = {
        "h14": (RED, "ViT-H/14"),
        "l16": (ORANGE, "ViT-L/16"),
        "l16_i21k": (PURPLE, "ViT-L/16, ImageNet-21k"),
    }
    for shift, (name, (colour, label)) in zip((-0.22, 0.0, 0.22), styles.items(), strict=True):
        better = [table[name][i] - table["bit"][i] for i in rows]
        spread = [deviation(table.rows[i][column[name]]) for i in rows]
        ax.errorbar(
            better,
            [y + shift for y in ys],
            xerr=spread,
            fmt="o",
            markersize=4.5,
            color=colour,
            label=label,
        )
    ax.axvline(0, color=GREY, linewidth=1)
    ax.set_xlabel("points above BiT-L")
    legend_above(ax, 3)
    return (
        "For seven tasks, how many points three Vision Transformers are above BiT-L, with standard "
        "deviations. H/14 is above it everywhere; L/16 is above in five tasks, level on ImageNet "
        "ReaL and a hundredth below on VTAB; L/16 pre-trained on ImageNet-21k is below everywhere."
    )
