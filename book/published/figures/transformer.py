"""The pictures of the Transformer's tables: translation, and subwords."""

import matplotlib.pyplot as plt

from lectures_lib.show.plots import BLUE, GREEN, GREY, ORANGE, RED
from published import Table
from published.figures.axes import SIZE, names_on


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
