"""The picture of the models' sizes, for three tables."""

import matplotlib.pyplot as plt

from lectures_lib.show.plots import BLUE, GREY, ORANGE
from published import Table
from published.figures.axes import SIZE, legend_above, names_on

# attention layers for each of the paper's N: one in an encoder's block, two in a decoder's
STACKS = {"transformer_sizes": 3}


def parameters(table: Table) -> str:
    """Our count of the parameters, by parts, and the published number as a line across each bar."""
    attention_layers = STACKS.get(table.name, 1)
    feed_forward_layers = 2 if attention_layers > 1 else 1
    sizes = [table.row(name) for name in table["name"]]
    parts = []
    for size in sizes:
        attention = size["n_layers"] * attention_layers * 4 * size["d_model"] ** 2 / 1e6
        feed_forward = (
            size["n_layers"] * feed_forward_layers * 2 * size["d_model"] * size["d_ff"] / 1e6
        )
        parts.append((attention, feed_forward, size["counted"] - attention - feed_forward))
    _, ax = plt.subplots(figsize=(SIZE, 1.3 + 0.5 * len(sizes)))
    ys = names_on(ax, table["name"])
    left = [0.0] * len(sizes)
    for i, (label, colour) in enumerate(
        (("attention", BLUE), ("feed-forward", ORANGE), ("the rest", GREY))
    ):
        ax.barh(ys, [part[i] for part in parts], left=left, height=0.5, color=colour, label=label)
        left = [start + part[i] for start, part in zip(left, parts, strict=True)]
    for y, size in zip(ys, sizes, strict=True):
        ax.plot(
            [size["parameters"]] * 2,
            [y - 0.36, y + 0.36],
            color="black",
            linewidth=2,
            label="" if y else "published",
        )
    ax.set(xlabel="million parameters", xlim=(0, 1.08 * max(size["parameters"] for size in sizes)))
    ax.grid(visible=False, axis="y")
    legend_above(ax, 4)
    said = [
        f"{size['name']}: {size['counted']:.1f} million counted, {a:.0f} in attention, {f:.0f} in "
        f"feed-forward layers and {r:.0f} in the rest; published {size['parameters']:.0f}"
        for size, (a, f, r) in zip(sizes, parts, strict=True)
    ]
    return (
        "A bar for each model, our count cut into parts, and a line across it at the published "
        "number. " + ". ".join(said) + "."
    )
