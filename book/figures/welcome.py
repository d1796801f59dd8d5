"""Draws the welcome page's picture from the real weights of one head: python
book/figures/welcome.py
"""

from pathlib import Path

SENTENCE, ASKS = "the keys to the cabinet are on the table", "are"
LAYER, HEAD = 3, 1  # counted from 0, as everywhere in the book
FILE = Path(__file__).with_suffix(".svg")
FONT, SPACE, LINE = 23, 14, 205  # size of a letter, gap between words, height of the line of text
CAPTION = (
    f"<figcaption>How much of each word goes into the model's picture of “{ASKS}”: MiniLM, layer "
    f"{LAYER}, head {HEAD}, both counted from 0.</figcaption>"
)
LETTER = 12.2  # average width of a letter at this size


def weights() -> list[tuple[str, float]]:
    """Every word of the sentence with the weight that the asking word gives it."""
    from lectures_lib.models.minilm import read

    mini = read(SENTENCE)
    row = mini.weights[LAYER, HEAD, mini.tokens.index(ASKS)]
    # less [CLS] and [SEP], which get what is left
    return list(zip(mini.tokens, row.tolist(), strict=True))[1:-1]


def picture(words: list[tuple[str, float]]) -> str:
    """The words on a line, an arc from the asking word to each other, as thick as its weight is
    large.
    """
    centres, x = [], 8.0
    for word, _ in words:
        width = max(len(word) * LETTER, 40)  # room for the number below
        centres.append(x + width / 2)
        x += width + SPACE
    asks = centres[[word for word, _ in words].index(ASKS)]
    arcs = [
        arc(asks, centre, weight)
        for centre, (word, weight) in zip(centres, words, strict=True)
        if word != ASKS
    ]
    texts = [
        label(centre, word, weight) for centre, (word, weight) in zip(centres, words, strict=True)
    ]
    head = f'<svg viewBox="0 0 {x:.0f} {LINE + 46}" role="img" aria-labelledby="welcome-title">'
    strongest = max(words, key=lambda pair: pair[1])
    title = (
        f'<title id="welcome-title">An arc from "{ASKS}" to every word; the thickest, '
        f'{strongest[1]:.2f}, to "{strongest[0]}".</title>'
    )
    return "\n".join(
        ['<figure class="picture">', head, title, *arcs, *texts, "</svg>", CAPTION, "</figure>\n"]
    )


def arc(start: float, end: float, weight: float) -> str:
    """A curve above the line of text."""
    height = 28 + abs(end - start) * 0.62
    top = LINE - 26
    curve = (
        f"M{start:.0f} {top}C{start:.0f} {top - height:.0f} {end:.0f} {top - height:.0f} {end:.0f} "
        f"{top}"
    )
    return (
        f'<path class="arc" d="{curve}" stroke-width="{1 + 15 * weight:.1f}" '
        f'opacity="{0.45 + 0.5 * weight:.2f}"/>'
    )


def label(centre: float, word: str, weight: float) -> str:
    """A word, and below it its weight."""
    kind = ' class="asks"' if word == ASKS else ""
    share = f"{weight:.2f}" if weight >= 0.005 else "0"
    return (
        f'<text{kind} x="{centre:.0f}" y="{LINE}" font-size="{FONT}" '
        f'text-anchor="middle">{word}</text><text class="muted" x="{centre:.0f}" y="{LINE + 28}" '
        f'font-size="18" text-anchor="middle">{share}</text>'
    )


if __name__ == "__main__":
    FILE.write_text(picture(weights()), encoding="utf-8")
