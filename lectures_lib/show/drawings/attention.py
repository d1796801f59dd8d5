"""Attention (chapter 2): a sentence becomes queries, keys and values; scores become weights, and
weights a mixture of values.
"""

import math

import torch
from torch import Tensor

from lectures_lib.blocks.attention import attention_weights, causal_mask
from lectures_lib.show.drawings.canvas import Canvas

WORDS = ("dog", "bites", "man")

# The chapter's own words and matrices: all else in both drawings is computed from them.
KINDS, TOLD = ("noun", "verb", "animal", "human"), ("animal", "human", "action")
X = torch.tensor([[1.0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 1]])
W_Q = torch.tensor([[0.0, 2], [2, 0], [0, 0], [0, 0]])
W_K = torch.tensor([[1.0, 0], [0, 1], [0, 0], [0, 0]])
W_V = torch.tensor([[0.0, 0, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0]])
Q, K, V = X @ W_Q, X @ W_K, X @ W_V
# What becomes of X: colour, letter, learned and computed matrix, width, what it does, its columns.
PROJECTIONS = (
    ("query", "Q", W_Q, Q, "*d*_k", "it asks", KINDS[:2]),
    ("key", "K", W_K, K, "*d*_k", "it offers", KINDS[:2]),
    ("value", "V", W_V, V, "*d*_v", "it tells", TOLD),
)


def blank(rows: int, columns: int) -> list[list[str]]:
    """Cells without numbers."""
    return [[""] * columns for _ in range(rows)]


def numbers(matrix: Tensor, spec: str = "") -> list[list[str]]:
    """A matrix's numbers as text; without a spec, whole ones and halves as short as they are."""
    return [[_number(value, spec) for value in row] for row in matrix.tolist()]


def _number(value: float, spec: str) -> str:
    if value == -math.inf:
        return "−∞"
    return (f"{value:{spec}}" if spec else f"{value:g}").replace("-", "−")


def _said(matrix: Tensor, spec: str = "") -> str:
    return "; ".join(
        f"{word}: {', '.join(row)}" for word, row in zip(WORDS, numbers(matrix, spec), strict=True)
    )


def steps() -> dict[str, Tensor]:
    """What `attention_steps` shows, step by step."""
    scores = Q @ K.T
    scaled = scores / math.sqrt(Q.shape[-1])
    masked = scaled.masked_fill(~causal_mask(len(WORDS)), -math.inf)
    weights = attention_weights(Q, K, causal_mask(len(WORDS)))
    return {
        "scores": scores,
        "scaled": scaled,
        "masked": masked,
        "weights": weights,
        "output": weights @ V,
    }


def queries_keys_values() -> Canvas:
    """X times three matrices gives Q, K and V."""
    told = {name: _said(matrix) for name, matrix in (("X", X), ("Q", Q), ("K", K), ("V", V))}
    drawing = Canvas(
        "queries_keys_values",
        720,
        516,
        "Queries, keys and values of a sentence of three words",
        f"On the left the matrix X, n by d model, with the columns {', '.join(KINDS)}. "
        f"{told['X']}. Three arrows lead from it to three matrices of parameters. X times W Q, d "
        f"model by d k, gives Q, n by d k: what each word asks. {told['Q']}. X times W K, also d "
        f"model by d k, gives K, n by d k: what each word offers. {told['K']}. X times W V, d "
        f"model by d v, gives V, n by d v, with the columns {', '.join(TOLD)}: what each word "
        f"tells. {told['V']}. A frame follows the row of the word bites: its row of Q, of K and "
        "of V is made from its row of X alone.",
        "One vector for each word comes in; three go out. The frame follows one word: its query, "
        "its key and its value are made from its own row of X and from nothing else.",
    )
    cell, high = (56, 24), 24
    x = drawing.matrix(
        54, 227, numbers(X), cell, shape="*n* × *d*_{model}", rows=WORDS, columns=KINDS
    )
    drawing.text(x.middle[0], x.y - 42, "*X*", size=19)
    drawing.frame(x.x, x.y + high, x.width, high)
    for i, (colour, letter, learned, made, width, says, columns) in enumerate(PROJECTIONS):
        middle = x.middle[1] + 170 * (i - 1)
        start = x.middle[1] + 14 * (i - 1)
        drawing.arrow(
            [(x.right + 8, start), (292, start), (292, middle), (306, middle)], colour, thick=2.5
        )
        drawing.circle(320, middle, 12, "×", colour)
        w = drawing.matrix(
            342,
            middle - 2 * high,
            numbers(learned),
            (26, high),
            colour,
            shape=f"*d*_{{model}} × {width}",
        )
        drawing.text(w.middle[0], w.y - 17, f"*W*^{letter}", colour, size=19)
        drawing.text(437, middle, "=", size=20)
        out = drawing.matrix(
            452,
            middle - 1.5 * high,
            numbers(made),
            cell,
            colour,
            shape=f"*n* × {width}",
            columns=columns,
        )
        drawing.text(out.middle[0], out.y - 40, f"*{letter}*", colour, size=19)
        drawing.frame(out.x, out.y + high, out.width, high)
        drawing.text(632, middle - 11, colour, colour, bold=True, anchor="start", size=16)
        drawing.text(632, middle + 11, says, anchor="start", size=14)
    return drawing


def thinking() -> dict[str, list[float]]:
    """The chapter's two words by hand: what `thinking_machines` shows, line by line."""
    query, keys, values = torch.ones(64), torch.tensor([[1.75], [1.5]]).expand(2, 64), torch.eye(2)
    scores = keys @ query
    scaled = scores / math.sqrt(len(query))
    weights = scaled.softmax(dim=-1)
    return {
        "scores": scores.tolist(),
        "scaled": scaled.tolist(),
        "weights": weights.tolist(),
        "output": (weights @ values).tolist(),
    }


def thinking_machines() -> Canvas:
    """One query, two keys, two values: a column for each word, a line for each step."""
    made = thinking()
    scores, scaled = ([f"{x:g}" for x in made[name]] for name in ("scores", "scaled"))
    weights, output = ([f"{x:.2f}" for x in made[name]] for name in ("weights", "output"))
    drawing = Canvas(
        "thinking_machines",
        620,
        520,
        "The new vector of Thinking, step by step",
        "Two columns, one for each word that is looked at: Thinking and Machines. The query of "
        "Thinking is compared with the key of each. "
        f"Step 1, scores: {scores[0]} and {scores[1]}. "
        f"Step 2, divided by the root of 64, which is 8: {scaled[0]} and {scaled[1]}. "
        f"Step 3, softmax over the two: {weights[0]} and {weights[1]}, together 1. "
        "Step 4, each value, (1, 0) and (0, 1), is multiplied by its weight: "
        f"({output[0]}, 0) and (0, {output[1]}). "
        f"Step 5, the sum: the new vector of Thinking, ({output[0]}, {output[1]}).",
        "One query, two keys, two values. A column belongs to a word that is looked at; only "
        "softmax and the sum look at both columns.",
    )
    middles, ys = (340, 524), (64, 142, 214, 292, 384, 478)
    for middle, word, key in zip(middles, ("Thinking", "Machines"), ("1.75", "1.5"), strict=True):
        drawing.text(middle, 26, word, bold=True, size=17)
        drawing.box(middle - 74, ys[0] - 19, 148, 38, f"key: 64 times {key}", "key", size=14)
    drawing.box(24, ys[0] - 19, 220, 38, "query of Thinking: 64 ones", "query", size=14)
    says = ("scores: query · key", "divide by √64 = 8", "softmax over both", "weight times value")
    for i, text in enumerate((*says, "add"), start=1):
        drawing.step(24, ys[i], i, text)
    columns = zip(middles, scores, scaled, weights, ("1, 0", "0, 1"), strict=True)
    for i, (middle, score, smaller, weight, value) in enumerate(columns):
        for y in (ys[0] + 21, ys[1] + 21, ys[2] + 21):
            drawing.arrow([(middle, y), (middle, y + (40 if y < ys[1] else 34))], "neutral", 2)
        drawing.matrix(middle - 32, ys[1] - 17, [[score]], (64, 34), size=17)
        drawing.matrix(middle - 32, ys[2] - 17, [[smaller]], (64, 34), size=17)
        share = [[made["weights"][i]]]
        drawing.matrix(middle - 44, ys[3] - 20, [[weight]], (88, 40), shares=share, size=17)
        drawing.arrow([(middle, ys[3] + 22), (middle, ys[4] - 22)], "neutral", 2)
        product = [[weight, "0"] if i == 0 else ["0", weight]]
        drawing.matrix(middle - 50, ys[4] - 18, product, (50, 36), "value", size=16)
        drawing.text(middle + 12, ys[4] - 36, f"× ({value})", "value", anchor="start", size=14)
        foot = (407, 457)[i]
        drawing.arrow(
            [(middle, ys[4] + 20), (middle, ys[5] - 46), (foot, ys[5] - 46), (foot, ys[5] - 20)],
            "value",
            2,
        )
    drawing.line([(middles[0] + 48, ys[3]), (middles[1] - 48, ys[3])], "neutral", 2, dashed=True)
    drawing.text(432, ys[3] - 14, "together 1", "neutral", size=14)
    drawing.matrix(382, ys[5] - 18, [output], (50, 36), "value", size=16)
    drawing.text(370, ys[5], "*z*_1 =", "ink", anchor="end", size=18)
    return drawing


def attention_steps() -> Canvas:
    """Scores, scaled, masked, softmax, and the weighted sum of the values, in numbers."""
    made = steps()
    shown = {"Q": (Q, ""), "K": (K, ""), "V": (V, "")}
    shown |= {
        name: (made[name], spec)
        for name, spec in (
            ("scores", ""),
            ("scaled", ".2f"),
            ("weights", ".2f"),
            ("output", ".2f"),
        )
    }
    said = {name: _said(matrix, spec) for name, (matrix, spec) in shown.items()}
    drawing = Canvas(
        "attention_steps",
        720,
        660,
        "Attention in five steps, with numbers, for the words dog, bites, man",
        f"The rows of Q are {said['Q']}; those of K are {said['K']}. "
        f"Step 1, scores: Q times K transposed, one row for each query and one column for each "
        f"key. {said['scores']}. Step 2, divided by the root of d k, which is 1.41 for d k equal "
        f"to 2. {said['scaled']}. "
        "Step 3, the causal mask: the scores of later words become minus infinity; dog keeps one "
        "score, bites two, man three. "
        f"Step 4, softmax of each row: the weights. {said['weights']}. Every row sums to 1. "
        f"Step 5, the weights times V, with the columns {', '.join(TOLD)}; its rows are "
        f"{said['V']}. The new vectors: "
        f"{said['output']}.",
        "From queries, keys and values to new vectors. Rows belong to the word that asks, columns "
        "to the word that is asked; every row of weights sums to 1, up to rounding.",
    )
    words = {"rows": WORDS, "columns": WORDS, "row_colour": "query", "column_colour": "key"}
    left, right, cell = 74, 528, (52, 30)

    drawing.step(24, 32, 1, "scores: every query with every key")
    q = drawing.matrix(
        left,
        84,
        numbers(Q),
        (40, 30),
        "query",
        shape="*Q*: *n* × *d*_k",
        rows=WORDS,
        row_colour="query",
    )
    drawing.text(206, q.middle[1], "·", size=24, bold=True)
    drawing.matrix(
        258,
        99,
        numbers(K.T),
        (46, 30),
        "key",
        shape="*K*^⊤: *d*_k × *n*",
        columns=WORDS,
        column_colour="key",
    )
    drawing.text(436, q.middle[1], "=", size=20)
    scores = drawing.matrix(
        right, 84, numbers(made["scores"]), cell, shape="*QK*^⊤: *n* × *n*", **words
    )

    drawing.arrow([(scores.middle[0], scores.bottom + 34), (scores.middle[0], 276)], thick=2.5)
    drawing.step(368, 242, 2, "divide by √*d*_k = 1.41")
    scaled = drawing.matrix(right, 312, numbers(made["scaled"], ".2f"), cell, **words)

    hidden = (made["masked"] == -math.inf).tolist()
    masked = drawing.matrix(left, 312, numbers(made["masked"], ".2f"), cell, hidden=hidden, **words)
    drawing.arrow(
        [(right - 66, scaled.middle[1]), (masked.right + 14, scaled.middle[1])], thick=2.5
    )
    drawing.step(312, scaled.middle[1] - 44, 3, "mask")
    drawing.text(355, scaled.middle[1] - 18, "no word sees a later one", size=14)

    drawing.arrow([(masked.middle[0], masked.bottom + 12), (masked.middle[0], 488)], thick=2.5)
    drawing.step(masked.middle[0] + 18, 442, 4, "softmax, row by row")
    weights = drawing.matrix(
        left,
        524,
        numbers(made["weights"], ".2f"),
        cell,
        shares=made["weights"].tolist(),
        shape="weights",
        **words,
    )
    drawing.text(239, weights.middle[1], "·", size=24, bold=True)
    v = drawing.matrix(
        294,
        524,
        numbers(V),
        (56, 30),
        "value",
        shape="*V*: *n* × *d*_v",
        rows=WORDS,
        columns=TOLD,
        row_colour="value",
    )
    drawing.text(476, v.middle[1], "=", size=20)
    drawing.matrix(
        right + 6,
        524,
        numbers(made["output"], ".2f"),
        (56, 30),
        "value",
        shape="new vectors: *n* × *d*_v",
        rows=WORDS,
        columns=TOLD,
    )
    drawing.step(430, 442, 5, "mix the values")
    return drawing
