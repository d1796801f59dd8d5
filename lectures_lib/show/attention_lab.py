"""Attention with numbers that the reader changes: queries, keys and values go in, weights and
outputs follow at once; or the words' vectors and the three matrices go in, and all follows from
them (chapter 2).

    AttentionLab(Q, K, V, ["the", "cat", "sleeps"])
    AttentionLab.of_words(X, W_Q, W_K, W_V, ["the", "cat", "sleeps"])

The first picture is computed here, by the library's own attention; it is also what stands there
without scripts. The script beside this file computes the same in the reader's browser, and a test
holds the two equal on random numbers.
"""

import html
from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor

from lectures_lib.blocks.attention import attention_weights, causal_mask
from lectures_lib.show.widget import embedded, source, style_of

COLOURS = ("query", "key", "value", "mask", "share", "error", "control", "active")
MOST = 6  # tokens, and numbers in a vector: more do not fit on a phone
MATRICES = ("W_Q", "W_K", "W_V")


class AttentionLab:
    """Small matrices to play with.

    Args:
        Q, K: queries and keys.  V: values.
        tokens: whose they are, one a row.
        asked, told: what the numbers of a query or key, and of a value, mean: names of the columns;
            None: 1, 2, …
        causal: whether the future is masked at first.  scale: whether scores are divided by √d_k at
            first.
        title: a line above.

    Raises:
        ValueError: for matrices that do not fit each other or the tokens, names that are not as
            many as the columns, or more rows or columns than `MOST`.
    """

    def __init__(
        self,
        Q: Float[Tensor, "n d_k"],
        K: Float[Tensor, "n d_k"],
        V: Float[Tensor, "n d_v"],
        tokens: Sequence[str],
        *,
        asked: Sequence[str] | None = None,
        told: Sequence[str] | None = None,
        causal: bool = False,
        scale: bool = True,
        title: str = "Attention, with your numbers",
    ):
        sizes = {name: tuple(matrix.shape) for name, matrix in (("Q", Q), ("K", K), ("V", V))}
        if (
            any(len(size) != 2 or size[0] != len(tokens) for size in sizes.values())
            or Q.shape != K.shape
        ):
            raise ValueError(
                f"{len(tokens)} tokens need as many rows in each, and Q and K the same columns; "
                f"got {sizes}"
            )
        if (
            max(max(size) for size in sizes.values()) > MOST
            or min(min(size) for size in sizes.values()) < 1
        ):
            raise ValueError(f"from 1 to {MOST} rows and columns can be shown, got {sizes}")
        self.asked, self.told = _names("Q and K", asked, sizes["Q"]), _names("V", told, sizes["V"])
        self.Q, self.K, self.V = (matrix.double().round(decimals=2) for matrix in (Q, K, V))
        self.tokens, self.causal, self.scale, self.title = list(tokens), causal, scale, title
        self.made: dict[str, Tensor] = {}  # X, W_Q, W_K and W_V, where Q, K and V come from them
        self.features: list[str] = []  # the names of the columns of X

    @classmethod
    def of_words(
        cls,
        X: Float[Tensor, "n d_model"],
        W_Q: Float[Tensor, "d_model d_k"],
        W_K: Float[Tensor, "d_model d_k"],
        W_V: Float[Tensor, "d_model d_v"],
        tokens: Sequence[str],
        *,
        features: Sequence[str] | None = None,
        **as_above,
    ) -> "AttentionLab":
        """A lab in which the words and the matrices can be changed, too; Q = X W_Q, and so on.

        Args:
            X: the words' vectors.  W_Q, W_K, W_V: what makes queries, keys and values of them.
            tokens: the words, one a row of X.
            features: what the columns of X mean; None: 1, 2, …
            as_above: as for the class.

        Raises:
            ValueError: for matrices that do not fit X; and as the class does.
        """
        given = {"X": X, "W_Q": W_Q, "W_K": W_K, "W_V": W_V}
        sizes = {name: tuple(matrix.shape) for name, matrix in given.items()}
        if any(len(size) != 2 for size in sizes.values()) or any(
            sizes[name][0] != sizes["X"][1] for name in MATRICES
        ):
            raise ValueError(f"each matrix needs a row for each column of X; got {sizes}")
        if sizes["X"][1] > MOST:
            raise ValueError(f"up to {MOST} columns of X can be shown, got {sizes['X'][1]}")
        X, *matrices = (matrix.double().round(decimals=2) for matrix in given.values())
        lab = cls(*(X @ matrix for matrix in matrices), tokens, **as_above)
        lab.Q, lab.K, lab.V = (X @ matrix for matrix in matrices)  # not rounded
        lab.made = dict(zip(given, (X, *matrices), strict=True))
        lab.features = _names("the rows of X", features, sizes["X"])
        return lab

    def weights(self) -> Float[Tensor, "n n"]:
        """The attention weights of the first picture."""
        n, d_k = self.Q.shape
        Q = self.Q if self.scale else self.Q * d_k**0.5  # the division inside is undone
        return attention_weights(Q, self.K, causal_mask(n) if self.causal else None)

    def __repr__(self) -> str:
        """What a terminal shows."""
        return f"AttentionLab({self.title}: {len(self.tokens)} tokens)"

    def _repr_html_(self) -> str:
        """What a notebook shows. The same input gives the same bytes."""
        record = {name: getattr(self, name).tolist() for name in "QKV"}
        record |= {
            "tokens": self.tokens,
            "asked": self.asked,
            "told": self.told,
            "causal": self.causal,
            "scale": self.scale,
            "title": self.title,
        }
        if self.made:
            record |= {name: matrix.tolist() for name, matrix in self.made.items()}
            record["features"] = self.features
        return embedded(
            "attention-lab",
            "lab",
            "numbers",
            record,
            style=style(),
            fallback=self._fallback(),
            script=source("attention_lab.js"),
        )

    def _fallback(self) -> str:
        weights = self.weights()
        parts = (
            ("Weights", weights, self.tokens),
            ("Output", weights @ self.V, self.told),
        )
        tables = "".join(
            f'<div class="al-part">{_table(title, matrix, self.tokens, head)}</div>'
            for title, matrix, head in parts
        )
        return (
            f'<div class="al-box figure-card"><p class="al-title">{html.escape(self.title)}</p><div '
            f'class="al-row">{tables}</div></div>'
        )


def _names(matrix: str, names: Sequence[str] | None, size: tuple[int, ...]) -> list[str]:
    """The names of a matrix's columns.

    Raises:
        ValueError: where there are more or fewer than columns.
    """
    if names is None:
        return [str(c) for c in range(1, size[1] + 1)]
    if len(names) != size[1]:
        raise ValueError(f"{matrix} have {size[1]} columns, but {len(names)} have names: {names}")
    return list(names)


def _table(
    title: str, matrix: Float[Tensor, "rows columns"], rows: Sequence[str], head: Sequence[object]
) -> str:
    heads = "".join(f'<th scope="col">{html.escape(str(name))}</th>' for name in head)
    lines = "".join(
        f"<tr><th "
        f'scope="row">{html.escape(token)}</th>{"".join(f"<td>{number:.2f}</td>" for number in row)}</tr>'
        for token, row in zip(rows, matrix.tolist(), strict=True)
    )
    return f"<table><caption>{title}</caption><thead><tr><td></td>{heads}</tr></thead><tbody>{lines}</tbody></table>"


def style() -> str:
    """Its rules, colours and all."""
    return style_of("attention-lab", COLOURS, "attention_lab.css")
