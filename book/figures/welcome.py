"""Draws the welcome page's picture from the real weights of one head, and writes down those of all
heads, which its reader can ask for (book/_static/welcome.js): python book/figures/welcome.py
"""

import json
from pathlib import Path

SENTENCE, ASKS = "the keys to the cabinet are on the table", "are"
LAYER, HEAD = 3, 1  # counted from 0, as everywhere in the book
# What can be chosen: a sentence, the word that asks first, and the layer and head that answer.
CHOICE = [
    (SENTENCE, ASKS, LAYER, HEAD),
    ("the boy who feeds the cats is ill", "is", 5, 2),
    ("the bank of the river was full of mud", "bank", 0, 4),
]
FILE = Path(__file__).with_suffix(".svg")
ALL_HEADS = Path(__file__).parents[1] / "_static" / "welcome.json"
FONT, SPACE, LINE = 23, 14, 205  # size of a letter, gap between words, height of the line of text
NUMBER = 14  # size of a weight
CAPTION = (
    f"<figcaption>How much of each word flows into “{ASKS}”, measured in one head of MiniLM, a "
    f"small trained BERT: layer {LAYER}, head {HEAD} (counted from 0).</figcaption>"
)
# what book/_static/welcome.js answers to; without scripts the style sheet hides it
CONTROLS = (
    '<div class="welcome-controls">\n<form class="welcome-own"><label for="welcome-own">Your own '
    'sentence, in English</label> <input id="welcome-own" maxlength="120" autocomplete="off" '
    'spellcheck="false" enterkeyhint="go" placeholder="the dog that chased the cats is tired"> '
    "<button>Read it</button> <output></output></form>\n"
    '<label>Or one of these <select autocomplete="off">'
    + "".join(f"<option>{sentence}</option>" for sentence, *_ in CHOICE)
    + '</select></label>\n<label>One of 72 heads <input type="range" min="0" max="71" '
    f'autocomplete="off" value="{12 * LAYER + HEAD}"> '
    f'<span class="welcome-head">layer {LAYER}, head {HEAD}</span>'
    '</label>\n<output class="welcome-said">Press another word: where does it look?'
    "</output>\n</div>"
)
LETTER = 12.2  # average width of a letter at this size


def weights() -> list[tuple[str, float]]:
    """Every word of the sentence with the weight that the asking word gives it."""
    from lectures_lib.models.minilm import read

    mini = read(SENTENCE)
    row = mini.weights[LAYER, HEAD, mini.tokens.index(ASKS)]
    # less [CLS] and [SEP], which get what is left
    return list(zip(mini.tokens, row.tolist(), strict=True))[1:-1]


def all_heads() -> list[dict]:
    """For each sentence of the choice its words and where they stand, what is shown of it first,
    and the shares in per cent, by layer, head, word that asks and word, without [CLS] and [SEP].
    """
    from lectures_lib.models.minilm import read

    found = []
    for sentence, asks, layer, head in CHOICE:
        mini = read(sentence)
        words = mini.tokens[1:-1]
        shares = (100 * mini.weights[:, :, 1:-1, 1:-1]).round().int().tolist()
        centres, width = places(words)
        begin = {"words": words, "asks": words.index(asks), "layer": layer, "head": head}
        found.append({**begin, "centres": centres, "width": width, "shares": shares})
    return found


def places(words: list[str]) -> tuple[list[int], int]:
    """The middle of each word on the line, and the line's width."""
    centres, x = [], 8.0
    for word in words:
        width = max(len(word) * LETTER, 40)  # room for the number below
        centres.append(round(x + width / 2))
        x += width + SPACE
    return centres, round(x)


def picture(words: list[tuple[str, float]]) -> str:
    """The words on a line, an arc from the asking word to each other that has a weight, as thick as
    the weight is large.
    """
    centres, width = places([word for word, _ in words])
    asks = centres[[word for word, _ in words].index(ASKS)]
    # in whole per cent, as welcome.json has them: what the script draws again shall not differ
    shares = [
        (centre, word, round(100 * weight))
        for centre, (word, weight) in zip(centres, words, strict=True)
    ]
    # the strongest lies on top
    arcs = [
        arc(asks, centre, share)
        for centre, word, share in sorted(shares, key=lambda one: one[2])
        if word != ASKS and share
    ]
    most = max(share for *_, share in shares)
    texts = [label(*one, strongest=one[2] == most) for one in shares]
    head = f'<svg viewBox="0 0 {width} {LINE + 38}" role="img" aria-labelledby="welcome-title">'
    strongest = max(words, key=lambda pair: pair[1])
    title = (
        f'<title id="welcome-title">Arcs from "{ASKS}" to other words; the thickest, '
        f'{strongest[1]:.2f}, to "{strongest[0]}".</title>'
    )
    return "\n".join(
        [
            '<figure class="picture welcome figure-card">',
            *('<div class="welcome-line">', head, title, *arcs, *texts, "</svg>", "</div>"),
            *(CONTROLS, CAPTION, "</figure>\n"),
        ]
    )


def arc(start: float, end: float, share: int) -> str:
    """A curve above the line of text, for a share in per cent."""
    height = 28 + abs(end - start) * 0.62
    top = LINE - 26
    curve = (
        f"M{start:.0f} {top}C{start:.0f} {top - height:.0f} {end:.0f} {top - height:.0f} {end:.0f} "
        f"{top}"
    )
    return (
        f'<path class="arc" d="{curve}" stroke-width="{1.2 + 0.09 * share:.2f}" '
        f'opacity="{0.25 + 0.0075 * share:.4f}"/>'
    )


def label(centre: float, word: str, share: int, strongest: bool) -> str:
    """A word, and below it its weight, if it has one."""
    kind = ' class="asks"' if word == ASKS else ' class="most"' if strongest else ""
    text = (
        f'<text{kind} x="{centre:.0f}" y="{LINE}" font-size="{FONT}" '
        f'text-anchor="middle">{word}</text>'
    )
    if not share:
        return text
    number = "muted most" if strongest else "muted"
    return (
        f'{text}<text class="{number}" x="{centre:.0f}" y="{LINE + 28}" font-size="{NUMBER}" '
        f'text-anchor="middle">{share / 100:.2f}</text>'
    )


if __name__ == "__main__":
    FILE.write_text(picture(weights()), encoding="utf-8")
    ALL_HEADS.write_text(json.dumps(all_heads(), separators=(",", ":")), encoding="utf-8")
