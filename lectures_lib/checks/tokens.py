"""Token ids, and what goes with them: lengths, segments, positions."""

from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from lectures_lib.checks.door import can_be_read
from lectures_lib.checks.tensors import check_whole_numbers


def check_tokens(tokens: Int[Tensor, "batch n"], vocab_size: int) -> None:
    """Refuse token ids that the vocabulary does not have, before an embedding fails without saying
    which.

    Raises:
        TypeError: for what is no tensor.
        ValueError: the message gives the first such id, its place and the vocabulary's size; or
            what came instead of token ids.
    """
    check_whole_numbers("token ids", tokens)
    if not can_be_read(tokens):
        return
    strange = (tokens < 0) | (tokens >= vocab_size)
    if strange.any():
        place = tuple(strange.nonzero()[0].tolist())
        where = f"row {place[0]}, position {place[1]}" if len(place) == 2 else f"at {place}"
        raise ValueError(
            f"token id {tokens[place]} ({where}) is not among the vocabulary's {vocab_size}, 0 … "
            f"{vocab_size - 1}"
        )


def check_known(embedding: Any, tokens: Tensor) -> None:
    """Refuse ids that an embedding has no vector for."""
    check_tokens(tokens, len(embedding.weight))


def check_lengths(lengths: Int[Tensor, " batch"] | None, tokens: Int[Tensor, "batch n"]) -> None:
    """Refuse empty sentences, and lengths that do not belong to these tokens.

    Raises:
        TypeError: for tokens or lengths that are no tensor.
        ValueError: the message gives the lengths and the tokens' shape.
    """
    check_whole_numbers("token ids", tokens)
    if lengths is not None:
        check_whole_numbers("lengths", lengths)
    if tokens.dim() != 2:
        hint = "; for a single sentence write tokens[None]" if tokens.dim() == 1 else ""
        raise ValueError(
            f"token ids must be (batch, n), got a tensor of shape {tuple(tokens.shape)}{hint}"
        )
    batch, n = tokens.shape
    if tokens.numel() == 0:
        raise ValueError(
            f"the sentences are empty: their tokens have the shape {tuple(tokens.shape)}"
        )
    if lengths is not None and lengths.shape != (batch,):
        raise ValueError(
            f"there must be one length for each of the {batch} sentences, got lengths of shape "
            f"{tuple(lengths.shape)}"
        )
    if (
        lengths is not None
        and can_be_read(lengths)
        and not (1 <= int(lengths.min()) and int(lengths.max()) <= n)
    ):
        raise ValueError(
            f"every sentence has 1 to {n} tokens (none may be empty), got lengths "
            f"{lengths.tolist()}"
        )


def check_source(model: Any, source: Tensor, source_lengths: Tensor | None = None) -> None:
    """Refuse sources that an encoder cannot read."""
    check_lengths(source_lengths, source)


def check_target(
    model: Any, target: Tensor, memory: Tensor, source_lengths: Tensor | None = None
) -> None:
    """Refuse targets that a decoder cannot read."""
    check_lengths(None, target)


def check_shift(target: Tensor, begin: int) -> None:
    """Refuse what cannot be shifted."""
    check_lengths(None, target)
    if not isinstance(begin, int):
        raise TypeError(f"begin must be a token id, a whole number; got {begin!r}")


def check_read(
    model: Any, tokens: Tensor, segments: Tensor | None = None, lengths: Tensor | None = None
) -> None:
    """Refuse texts that BERT cannot read, and a mask of real tokens where segments belong: Hugging
    Face's tokenizers give one of whole numbers.
    """
    check_lengths(lengths, tokens)
    if lengths is not None or not isinstance(segments, Tensor) or segments.dtype == torch.bool:
        return
    if segments.shape != tokens.shape or not can_be_read(segments):
        return
    if (segments[:, 0] == 1).all() and (segments.diff(dim=1) <= 0).all():
        raise ValueError(
            "segments begin with 0, as a text's first token belongs to its first sentence; these "
            "look like a mask of real tokens: say lengths=… in its place"
        )


def check_segments(
    segments: Int[Tensor, "batch n"] | None, tokens: Int[Tensor, "batch n"], n_segments: int
) -> None:
    """Refuse segment ids that the model has no vector for, or that do not belong to these tokens.

    Raises:
        TypeError: for what is no tensor.
        ValueError: the message gives the first such id and its place, or both shapes; or says what
            came instead of numbers.
    """
    if segments is None:
        return
    check_whole_numbers(
        "segments (0 or 1 for each token; how much is padding is said by lengths=…)", segments
    )
    if segments.shape != tokens.shape:
        raise ValueError(
            f"every token has one segment id: tokens are {tuple(tokens.shape)}, segments "
            f"{tuple(segments.shape)}"
        )
    if not can_be_read(segments):
        return
    strange = (segments < 0) | (segments >= n_segments)
    if strange.any():
        row, i = strange.nonzero()[0].tolist()
        raise ValueError(
            f"segment id {segments[row, i]} (row {row}, position {i}): this model has segments 0 "
            f"to {n_segments - 1}"
        )


def check_embedded(embeddings: Any, tokens: Tensor, segments: Tensor | None = None) -> None:
    """Refuse ids that one of BERT's three tables has no vector for."""
    check_tokens(tokens, len(embeddings.tokens.weight))
    check_segments(segments, tokens, len(embeddings.segments.weight))
    if tokens.shape[1] > len(embeddings.positions.weight):
        raise ValueError(
            f"a sequence of {tokens.shape[1]} tokens, but positions for only "
            f"{len(embeddings.positions.weight)}"
        )


def check_asked(at: Any, tokens: Tensor) -> None:
    """Refuse what is no choice of these tokens' positions: zeros and ones would be taken for
    numbers of rows.

    Raises:
        ValueError: the message gives types and shapes.
    """
    if at is not None:
        check_choice("at", "True where a word is asked for", at, tokens)


def check_choice(name: str, meaning: str, given: Any, tokens: Tensor) -> None:
    """Refuse what does not say of each of these tokens whether it is chosen.

    Raises:
        ValueError: the message gives types and shapes.
    """
    if isinstance(given, Tensor):
        if given.dtype == torch.bool and given.shape == tokens.shape:
            return
        what = f"{given.dtype} of shape {tuple(given.shape)}"
    else:
        what = f"a {type(given).__name__}"
    raise ValueError(
        f"{name} must be boolean, {meaning}, of the tokens' shape {tuple(tokens.shape)}; got {what}"
    )


def check_read_and_asked(
    model: Any,
    tokens: Tensor,
    segments: Tensor | None = None,
    lengths: Tensor | None = None,
    at: Tensor | None = None,
) -> None:
    """Refuse questions about positions that are not there."""
    check_asked(at, tokens)


def check_fits_positions(layer: Any, x: Tensor) -> None:
    """Refuse vectors that this layer's `positions` do not fit, in width or in number."""
    if x.dim() != 3 or x.shape[2] != layer.positions.shape[1]:
        raise ValueError(
            f"vectors must be (batch, n, {layer.positions.shape[1]}), got a tensor of shape "
            f"{tuple(x.shape)}"
        )
    if x.shape[1] > len(layer.positions):
        raise ValueError(
            f"a sequence of {x.shape[1]} tokens, but positions for only {len(layer.positions)}"
        )
