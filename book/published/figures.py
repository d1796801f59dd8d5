"""A picture for each table that says more as one: functions of a table that draw and return the
words for those who cannot see it.

They are drawn while the site is built (_ext/published_tables.py), from the data alone.
"""

from collections.abc import Callable

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from published import Table, deviation

BLUE, ORANGE, GREEN, RED, PURPLE, GREY = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#d55e00",
    "#cc79a7",
    "#808080",
)
SIZE = 5.0  # inches wide, which is about the width of a phone: letters keep their size there
FIGURES: dict[str, Callable[[Table], str]] = {}


def figure(draw: Callable[[Table], str]) -> Callable[[Table], str]:
    """Register a function under its name."""
    FIGURES[draw.__name__] = draw
    return draw


def dots(ax: Axes, xs: list[float | None], ys: list[float], marker: str = "o", **style) -> None:
    """Dots where there is a value."""
    pairs = [(x, y) for x, y in zip(xs, ys, strict=True) if x is not None]
    ax.plot(*zip(*pairs, strict=True), linestyle="", marker=marker, **style)


def names_on(ax: Axes, names: list[str]) -> list[float]:
    """One line for each name, the first on top, with a thin rule to lead the eye; the heights of
    the lines.
    """
    ys = [float(i) for i in range(len(names))]
    ax.set(yticks=ys, yticklabels=names, ylim=(len(names) - 0.5, -0.5))
    ax.grid(axis="y", color=GREY, linewidth=0.4, alpha=0.5)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    return ys


def legend_above(ax: Axes, columns: int) -> None:
    """The names of the colours above the axes, where they hide nothing."""
    ax.legend(
        loc="lower center",
        bbox_to_anchor=(0.35, 1.0),
        ncols=columns,
        fontsize=9,
        handletextpad=0.4,
        columnspacing=1.2,
    )


@figure
def bleu(table: Table) -> str:
    """Quality over cost, a panel for each language."""
    _, axes = plt.subplots(2, 1, figsize=(SIZE, 6.4), sharex=True)
    for ax, language, title in zip(
        axes, ("de", "fr"), ("English to German", "English to French"), strict=True
    ):
        for system, kind, x, y in zip(
            table["system"], table["kind"], table[f"cost_{language}"], table[language], strict=True
        ):
            if x is None or y is None:
                continue
            colour = (
                ORANGE if system.startswith("Transformer") else GREY if kind == "ensemble" else BLUE
            )
            ax.plot(x, y, "o", color=colour)
            left = (system, kind, language) in {
                ("MoE", "single", "de"),
                ("ConvS2S", "ensemble", "de"),
                ("MoE", "single", "fr"),
                ("GNMT + RL", "single", "fr"),
            }
            below = kind == "ensemble" and system == "GNMT + RL"
            name = {"Deep-Att + PosUnk": "Deep-Att"}.get(system, system)
            ax.annotate(
                name,
                (x, y),
                xytext=(-6 if left else 6, -5 if below else 0),
                textcoords="offset points",
                ha="right" if left else "left",
                va="center",
                fontsize=9,
            )
        ax.set(xscale="log", ylabel="BLEU", title=title, xlim=(2e18, 6e21))
        ax.margins(y=0.12)
    axes[1].set_xlabel("training cost (operations)")
    return (
        "BLEU over training cost, a panel for each language. Into German both Transformers stand "
        "above all others, base furthest left. Into French base is lowest of all, and big is above "
        "the single systems and just below two ensembles that cost about fifty times as much."
    )


@figure
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


@figure
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


@figure
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


@figure
def pretraining_tasks(table: Table) -> str:
    """What is lost without one exercise or the other."""
    tasks = table.columns[1:]
    whole = [table[column.name][0] for column in tasks]
    _, ax = plt.subplots(figsize=(SIZE, 3.4))
    ys = names_on(ax, [column.head for column in tasks])
    for i, (name, colour, shift) in enumerate(
        zip(table["model"][1:], (BLUE, RED, ORANGE), (-0.2, 0.0, 0.2), strict=True), start=1
    ):
        lost = [table[column.name][i] - full for column, full in zip(tasks, whole, strict=True)]
        ax.barh([y + shift for y in ys], lost, height=0.18, color=colour, label=name)
    ax.axvline(0, color=GREY, linewidth=1)
    ax.set_xlabel("points against BERT base")
    legend_above(ax, 3)
    return (
        "Bars to the left from zero for five tasks: what three other pre-trainings lose against "
        "BERT base. Without NSP at most 3.5 points, on QNLI; left to right 9.2 on MRPC and 10.7 on "
        "SQuAD; with a BiLSTM on top 11.0 on MRPC, but only 3.6 on SQuAD."
    )


@figure
def masking(table: Table) -> str:
    """Three scores for each of six splits."""
    names = [
        f"{m:.0f} / {s:.0f} / {r:.0f}"
        for m, s, r in zip(table["mask"], table["same"], table["random"], strict=True)
    ]
    _, axes = plt.subplots(1, 3, figsize=(SIZE, 2.7), sharey=True)
    for ax, name, title, colour in zip(
        axes,
        ("mnli", "ner", "ner_features"),
        ("MNLI", "NER", "NER, fixed"),
        (BLUE, ORANGE, RED),
        strict=True,
    ):
        ys = names_on(ax, names)
        dots(ax, table[name], ys, color=colour)
        middle = sum(table[name]) / len(names)
        ax.set(xlim=(middle - 1.0, middle + 1.0), title=title)
        ax.xaxis.set_major_locator(plt.MultipleLocator(1.0))
        ax.tick_params(labelsize=9)
    axes[0].set_ylabel("[MASK] / same / random")
    return (
        "Three panels, each two points wide, with a dot for each of six splits. Fine-tuned, MNLI "
        "lies between 83.6 and 84.4 and NER between 94.8 and 95.4; from fixed features NER is "
        "lowest, 94.0, where every chosen word becomes [MASK]."
    )


@figure
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


@figure
def model_size(table: Table) -> str:
    """Accuracy over perplexity, along the sizes."""
    _, ax = plt.subplots(figsize=(SIZE, 3.6))
    for name, colour, label in (
        ("mnli", BLUE, "MNLI-m"),
        ("mrpc", ORANGE, "MRPC"),
        ("sst2", GREEN, "SST-2"),
    ):
        ax.plot(table["perplexity"], table[name], "o-", color=colour, label=label)
    sizes = zip(table["n_layers"], table["d_model"], table["n_heads"], strict=True)
    for i, (x, y, (layers, width, heads)) in enumerate(
        zip(table["perplexity"], table["sst2"], sizes, strict=True)
    ):
        name = f"{layers:.0f} × {width:,.0f}\n{heads:.0f} heads"
        ax.annotate(
            name,
            (x, y),
            xytext=(0, -9 if i % 2 else 9),
            textcoords="offset points",
            ha="center",
            va="top" if i % 2 else "bottom",
            fontsize=8,
        )
    ax.invert_xaxis()
    ax.set(
        xlabel="perplexity behind the holes, better to the right",
        ylabel="accuracy",
        ylim=(76, 97),
        yticks=range(76, 97, 4),
    )
    ax.margins(x=0.1)
    ax.legend(loc="lower right", fontsize=9)
    return (
        "Accuracy on MNLI, MRPC and SST-2 over perplexity, for six sizes from 3 blocks of width "
        "768 to 24 of 1,024. All three lines rise as the perplexity falls from 5.84 to 3.23, MNLI "
        "from 77.9 to 86.6."
    )


# attention layers for each of the paper's N: one in an encoder's block, two in a decoder's
STACKS = {"transformer_sizes": 3}


@figure
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


@figure
def pieces(table: Table) -> str:
    """Each system's answers as a row of boxes, a box for each piece, as wide as the piece is
    long.
    """
    titles = {"first": "health research institutes", "second": "asinine situation"}
    _, axes = plt.subplots(2, 1, figsize=(SIZE, 4.6))
    for ax, (name, title) in zip(axes, titles.items(), strict=True):
        answers = [answer.split("→")[-1].strip().split("|") for answer in table[name]]
        reference = "".join(answers[0])
        right = ["".join(answer) == reference for answer in answers]
        ys = names_on(
            ax,
            [
                f"{system} ✓" if i and right[i] else system
                for i, system in enumerate(table["system"])
            ],
        )
        for y, answer in zip(ys, answers, strict=True):
            colour = GREY if y == 0 else GREEN if right[int(y)] else RED
            start = 0.0
            for piece in answer:
                ax.barh(y, len(piece) - 0.25, left=start, height=0.7, color=colour, alpha=0.3)
                ax.text(
                    start + len(piece) / 2 - 0.12, y, piece, ha="center", va="center", fontsize=9
                )
                start += len(piece)
        ax.set(title=title, xticks=[], xlim=(0, 31))
        ax.spines["bottom"].set_visible(False)
        ax.grid(visible=False, axis="y")
    counts = dict(
        zip(table["system"], (answer.count("|") + 1 for answer in table["first"]), strict=True)
    )
    return (
        "What four systems wrote for two English phrases, one box for each piece, grey for the "
        "reference, green with a tick where the pieces join to it and red where they do not. The "
        "word for health research institutes is one piece from WDict, "
        f"{counts['C2-50k']} from C2-50k and {counts['BPE-60k']} each from BPE-60k and BPE-J90k; "
        f"only BPE-J90k's are green. Nobody's "
        "answer to asinine situation is."
    )


@figure
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


@figure
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
