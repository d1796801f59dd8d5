"""Decoding one token at a time: what a model must offer for it, and what it keeps from step to step
(chapter 9).

A model is asked for two methods, `start` and `step` (`StepModel`). What it remembers in between is
its own business (`StepState`): keys and values in a Transformer (the KV cache), hidden vectors in
an RNN. `decoding` knows no more of a model than this.
"""

from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any, NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


@runtime_checkable
class StepState(Protocol):
    """What a model remembers of each sentence of a batch between two steps."""

    def select(self, rows: Int[Tensor, " kept"]) -> "StepState":
        """A new state of these rows of the batch, in this order; a row may come more than once.
        Beam search needs it.
        """
        ...


class Step(NamedTuple):
    """What a model says after a step: the scores of the next token, the state to go on from, and
    where it looked.

    `start` gives no scores (None) where decoding begins with a token of its own, as a translator's
    does. `attention` is None unless asked for, and for a model without it.
    """

    logits: Float[Tensor, "batch vocab"] | None
    state: StepState
    attention: Float[Tensor, "batch *layers_and_heads n_source"] | None = None


@runtime_checkable
class StepModel(Protocol):
    """What decodes step by step: a model with its cache (`stepwise`), or a table of probabilities
    in a test.
    """

    def start(
        self,
        source: Int[Tensor, "batch n_source"],
        source_lengths: Int[Tensor, " batch"] | None = None,
    ) -> Step:
        """Read the source (a language model: the prompt), padded on the right."""
        ...

    def step(self, tokens: Int[Tensor, " batch"], state: Any, return_weights: bool = False) -> Step:
        """Read one more token of each sentence. It may change the state it is given, which must not
        be used again.
        """
        ...


class Running:
    """The rows of a batch that are still decoded. A row that has ended is read no further: it
    cannot outgrow the model's positions.

    Args:
        model: what decodes.
        state: that of all rows.
        n_rows: how many there are.
    """

    def __init__(self, model: StepModel, state: Any, n_rows: int):
        self.model, self.state, self.n_rows = model, state, n_rows
        self.rows = torch.arange(n_rows)  # those whose state is kept

    def step(
        self,
        tokens: Int[Tensor, " rows"],
        goes_on: Bool[Tensor, " rows"],
        parents: Int[Tensor, " rows"] | None = None,
        return_weights: bool = False,
    ) -> tuple[
        Float[Tensor, "rows vocab"], Float[Tensor, "rows *layers_and_heads n_source"] | None
    ]:
        """Read one more token of each row that goes on; for the others all scores, and all
        attention, are 0.

        Args:
            tokens: one for each row.  goes_on: which rows go on; a row that has ended stays so.
            parents: the row that each one continues; None: itself.
            return_weights: return the attention too.
        """
        rows = goes_on.nonzero()[:, 0]
        if parents is not None or len(rows) < len(self.rows):
            place = torch.zeros(self.n_rows, dtype=torch.long, device=rows.device)
            place[self.rows.to(rows.device)] = torch.arange(len(self.rows), device=rows.device)
            self.state = self.state.select(place[rows if parents is None else parents[rows]])
            self.rows = rows
        logits, self.state, attention = self.model.step(tokens[rows], self.state, return_weights)
        return self._of_all(logits), None if attention is None else self._of_all(attention)

    def _of_all(self, found: Tensor) -> Tensor:
        if len(found) == self.n_rows:
            return found
        return found.new_zeros(self.n_rows, *found.shape[1:]).index_copy(
            0, self.rows.to(found.device), found
        )


def begin_decoding(
    model: StepModel,
    source: Int[Tensor, "batch n_source"],
    source_lengths: Int[Tensor, " batch"] | None,
    begin: int | None,
    end: int,
    max_len: int,
    never: Sequence[int] = (),
    return_weights: bool = False,
) -> Step:
    """Read the source, then the begin token if there is one: the first scores.

    Raises:
        TypeError: for an end, a begin or a max_len that is no whole number, or a `never` that is
            not several of them.
        ValueError: for a max_len below 1, a model that needs a begin token and got none, or a token
            that is not in the vocabulary.
    """
    if not isinstance(never, Iterable):
        raise TypeError(f"never must be several tokens, got {never!r}; write [{never!r}]")
    numbers = {"end": end, "max_len": max_len} | ({} if begin is None else {"begin": begin})
    numbers |= {f"never[{i}]": token for i, token in enumerate(never)}
    if wrong := [
        f"{name} = {number!r}"
        for name, number in numbers.items()
        if not isinstance(number, Integral)
    ]:
        raise TypeError(f"tokens and lengths are whole numbers, got {', '.join(wrong)}")
    if max_len < 1:
        raise ValueError(f"at least one token must be decoded, got max_len = {max_len}")
    first = model.start(source, source_lengths)
    if begin is not None:
        tokens = torch.full((len(source),), begin, dtype=source.dtype, device=source.device)
        first = model.step(tokens, first.state, return_weights)
    if first.logits is None:
        raise ValueError("this model's decoder must be given a token to begin with: pass begin=…")
    vocab_size = first.logits.shape[-1]
    for name, token in (("end", end), *(("never", token) for token in never)):
        if not 0 <= token < vocab_size:
            raise ValueError(
                f"{name} = {token} is not in the vocabulary of {vocab_size} tokens, 0 … "
                f"{vocab_size - 1}"
            )
    return first
