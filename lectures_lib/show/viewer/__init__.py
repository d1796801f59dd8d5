"""The attention viewer: who looks at whom, in every head, under the reader's own pointer (chapter
3, and wherever weights are shown).

One self-contained piece of HTML. Without scripts it is a picture of one head (`static.py`); where
scripts may run, `viewer.js` takes over. It needs no kernel, no network and no other file, so it
works on the site, in Jupyter, on Colab and in VS Code alike.

    AttentionViewer(tokens, weights, layer=1, head=3, token="it", names={(1, 3): "previous token"})

The HTML follows from the input alone, to the byte: weights are stored in whole steps (see
`quantise`). Weights that a *model* computes may still differ in their last bits from CPU to CPU,
and one that lies at the edge of a step then lands on its other side. Tag a cell that shows a
trained model `nbval-ignore-output`, and assert what it shows.
"""

import base64
import html
import re
from collections.abc import Mapping, Sequence
from typing import Literal
from urllib.parse import quote

import numpy as np
import torch
from torch import Tensor

from lectures_lib.show.viewer.static import COLOURS, describe, picture
from lectures_lib.show.widget import embedded, source, style_of

__all__ = ["AttentionViewer", "quantise"]


def style() -> str:
    """The rules for what stands in the page, colours and all."""
    return style_of("attention-viewer", COLOURS, "viewer/theme.css")


def template() -> str:
    """The rules for what stands in the viewer's shadow, beside those of `style`."""
    return f"<style>\n{source('viewer/viewer.css')}</style>"


class AttentionViewer:
    """Attention weights to look at, with mouse, finger or keyboard.

    Args:
        tokens: the tokens that attend (the queries).
        weights: `(n_query, n_key)`, `(n_heads, n_query, n_key)` or `(n_layers, n_heads, n_query,
            n_key)`; each row sums to 1, or to 0 where a mask leaves a query nothing. Of a Hugging
            Face model: `torch.cat(output.attentions)`.
        keys: the tokens attended to, in cross-attention; None: the same tokens.
        title: a line above the viewer.
        layer: the layer shown first.  head: the head shown first. Counted from 0, as everywhere in
            Python.
        names: what is known of some heads, `{(layer, head): "previous token"}`; with one layer,
            `{head: …}` does too.
        token: the query chosen first, by its place or its text; None: the first that is not a
            special token such as [CLS].
        mode: the view shown first, "sentence" or "matrix".

    Raises:
        ValueError: where shapes and token counts disagree, a weight is not a number between 0 and
            1, a row sums to neither 0 nor 1, or what is chosen does not exist. The message states
            the numbers.
    """

    def __init__(
        self,
        tokens: Sequence[str],
        weights: Tensor | np.ndarray | Sequence,
        *,
        keys: Sequence[str] | None = None,
        title: str = "",
        layer: int = 0,
        head: int = 0,
        names: Mapping[tuple[int, int] | int, str] | None = None,
        token: int | str | None = None,
        mode: Literal["sentence", "matrix"] = "sentence",
    ):
        if mode not in ("sentence", "matrix"):
            raise ValueError(f'mode is "sentence" or "matrix", got {mode!r}')
        self.tokens = _token_list("tokens", tokens)
        self.keys = None if keys is None else _token_list("keys", keys)
        self.weights = _checked(
            weights, len(self.tokens), len(self.keys or self.tokens), keys is not None
        )
        self.title, self.mode = title, mode
        self.layer = _index("layer", layer, self.n_layers)
        self.head = _index("head", head, self.n_heads)
        self.names = self._checked_names(names or {})
        self.token = self._chosen(token)

    @property
    def n_layers(self) -> int:
        """How many layers there are to choose from."""
        return self.weights.shape[0]

    @property
    def n_heads(self) -> int:
        """How many heads each layer has."""
        return self.weights.shape[1]

    def __repr__(self) -> str:
        """What a terminal shows."""
        n_query, n_key = self.weights.shape[2:]
        return (
            f"AttentionViewer({n_query} queries × {n_key} keys, {self.n_layers} layers × "
            f"{self.n_heads} heads)"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows. The same input gives the same bytes."""
        how = {"style": style(), "script": source("viewer/viewer.js")}
        how["fallback"] = f"<template>{template()}</template>\n{self._fallback()}"
        return embedded("attention-viewer", "viewer", "attention", self._data(), **how)

    def _data(self) -> dict:
        """What the script reads."""
        return {
            "title": self.title,
            "queries": [label(token) for token in self.tokens],
            "keys": None if self.keys is None else [label(token) for token in self.keys],
            "layers": self.n_layers,
            "heads": self.n_heads,
            "layer": self.layer,
            "head": self.head,
            "token": self.token,
            "view": self.mode,
            "names": {
                f"{layer},{head}": text for (layer, head), text in sorted(self.names.items())
            },
            "weights": base64.b64encode(quantise(self.weights).tobytes()).decode(),
        }

    def _fallback(self) -> str:
        """The chosen head as an image. As an `<img>`, not inline: notebooks that are not trusted
        strip inline SVG but keep images.
        """
        weights = self.weights[self.layer, self.head]
        queries, keys = (
            [label(t) for t in self.tokens],
            [label(t) for t in self.keys or self.tokens],
        )
        heading = " · ".join(filter(None, [self.title, self._which_head()]))
        svg, width, height = picture(queries, keys, weights, self.token, heading)
        alt = html.escape(describe(queries, keys, weights, self.token, heading))
        # Inside a double-quoted attribute, an SVG with single quotes needs few characters encoded
        # and stays small.
        source = "data:image/svg+xml," + quote(svg, safe=" =:/;,.'()!*+@$?-_~|[]{}")
        return f'<img class="figure-card" src="{source}" width="{width}" height="{height}" alt="{alt}">'

    def _which_head(self) -> str:
        if self.n_layers * self.n_heads == 1:
            return self.names.get((0, 0), "")
        which = (
            f"head {self.head}" if self.n_layers == 1 else f"layer {self.layer}, head {self.head}"
        )
        name = self.names.get((self.layer, self.head))
        return f"{which}: {name}" if name else which

    def _checked_names(
        self, names: Mapping[tuple[int, int] | int, str]
    ) -> dict[tuple[int, int], str]:
        checked = {}
        for place, text in names.items():
            if isinstance(place, int) and self.n_layers > 1:
                raise ValueError(
                    f"there are {self.n_layers} layers: name a head as (layer, head), not as "
                    f"{place}"
                )
            layer, head = (0, place) if isinstance(place, int) else place
            checked[
                _index("layer in names", layer, self.n_layers),
                _index("head in names", head, self.n_heads),
            ] = text
        return checked

    def _chosen(self, token: int | str | None) -> int:
        if token is None:
            return next(
                (i for i, text in enumerate(self.tokens) if not re.fullmatch(r"\[.*\]|<.*>", text)),
                0,
            )
        if not isinstance(token, str):
            return _index("token", token, len(self.tokens))
        if token not in self.tokens:
            raise ValueError(
                f"token {token!r} is none of the {len(self.tokens)} tokens {self.tokens}"
            )
        return self.tokens.index(token)


def quantise(weights: np.ndarray) -> np.ndarray:
    """Weights as one byte each: thirds of a percent up to one half (0 … 150), whole percents above
    (151 … 200).

    Both steps are chosen so that no weight is shown as another whole percent than its own: the
    edges at k + ½ % stay edges.
    """
    return np.where(weights <= 0.5, np.rint(weights * 300), 100 + np.rint(weights * 100)).astype(
        np.uint8
    )


def label(token: str) -> str:
    """A token as it is shown: spaces and line breaks visible, nothing in it that XML forbids."""
    if not token.strip(" "):
        return "␣" * len(token) or "∅"
    shown = token.replace("\n", "⏎").replace("\t", "⇥").replace("\x7f", "␡")
    # Unicode's pictures of control characters
    shown = re.sub(r"[\x00-\x1f]", lambda match: chr(0x2400 + ord(match[0])), shown)
    return re.sub(r"[\x80-\x9f\ud800-\udfff\ufffe\uffff]", "\ufffd", shown)


def _token_list(what: str, tokens: Sequence[str]) -> list[str]:
    tokens = [tokens] if isinstance(tokens, str) else list(tokens)
    wrong = [token for token in tokens if not isinstance(token, str)]
    if wrong or not tokens:
        raise ValueError(
            f"{what} must be one string or more, got {wrong[0]!r}"
            if wrong
            else f"{what} is empty: 0 tokens"
        )
    return tokens


def _index(what: str, index: int, n: int) -> int:
    if not 0 <= index < n:
        raise ValueError(f"{what} must lie between 0 and {n - 1}, got {index}")
    return int(index)


def _checked(
    weights: Tensor | np.ndarray | Sequence, n_query: int, n_key: int, cross: bool
) -> np.ndarray:
    """The weights as `(n_layers, n_heads, n_query, n_key)` in double precision."""
    if isinstance(weights, Tensor):
        weights = weights.detach().to("cpu", torch.float64).numpy()
    weights = np.asarray(weights, dtype=np.float64)
    if not 2 <= weights.ndim <= 4 or weights.shape[-2:] != (n_query, n_key) or 0 in weights.shape:
        counts = f"{n_query} tokens and {n_key} keys" if cross else f"{n_query} tokens"
        raise ValueError(
            f"{counts} need weights of shape ([[layers,] heads,] {n_query}, {n_key}), got "
            f"{weights.shape}"
        )
    weights = weights.reshape((1,) * (4 - weights.ndim) + weights.shape)
    for wrong, what in ((~np.isfinite(weights), "not a finite number"), (weights < 0, "negative")):
        if wrong.any():
            place = tuple(int(i) for i in np.argwhere(wrong)[0])
            raise ValueError(
                f"{wrong.sum()} of {wrong.size} weights are {what}; the first is {weights[place]} "
                f"at {_place(place)}"
            )
    sums = weights.sum(axis=-1)
    wrong = (np.abs(sums - 1) > 0.01) & (sums > 1e-6)  # half precision moves a sum by up to 0.4 %
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        hint = " (transposed, or dropout still on?)" if sums.max() > 1.01 else ""
        raise ValueError(
            f"{wrong.sum()} of {wrong.size} rows sum to neither 0 nor 1; the first sums to "
            f"{sums[place]:.4f} at {_place(place)}{hint}"
        )
    return np.minimum(weights, 1.0)


def _place(place: tuple[int, ...]) -> str:
    return ", ".join(
        f"{what} {i}" for what, i in zip(("layer", "head", "query", "key"), place, strict=False)
    )
