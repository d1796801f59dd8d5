"""What is refused at the door, with what came and what is expected: sizes no model can have, lists
in place of tensors, and the like.

A function or a layer stands behind its check, `@at_the_door(check_…)`, so that its body is what the
course teaches and nothing else. Checks of shapes and types read no tensor. Those that read one
(token ids, lengths) do so on a CPU only, for a GPU would have to be waited for: what is wrong
there, the device says in its own words, or nobody does. A model that is being compiled or exported
is not checked at all: a check that compares sizes would fix them.
"""

from collections.abc import Callable, Iterable
from dataclasses import fields
from functools import wraps
from numbers import Integral, Real
from operator import index
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor, nn

SHARES = ("dropout", "attention_dropout")
POSITIVE = ("eps", "init_std")


def at_the_door(check: Callable[..., None]) -> Callable[[Callable], Callable]:
    """Decorator: call `check` with the same arguments first; what it raises, the caller sees. While
    compiling, nothing is checked.
    """

    def behind(function: Callable) -> Callable:
        @wraps(function)
        def checked(*args: Any, **options: Any) -> Any:
            if not torch.compiler.is_compiling():
                check(*args, **options)
            return function(*args, **options)

        return checked

    return behind


def can_be_read(tensor: Tensor) -> bool:
    """Whether a tensor's values can be looked at without waiting for another device."""
    return tensor.device.type == "cpu"


def check_config(config: Any, activations: Any = ()) -> None:
    """Refuse a configuration that no model can have: fields annotated `int` are sizes of 1 or more,
    dropouts shares, d_model fits n_heads.

    Args:
        config: a dataclass.
        activations: the names that its `activation` may have.

    Raises:
        TypeError: for a size or a share that is no number of its kind.
        ValueError: for one out of range, an unknown activation, or a d_model that n_heads does not
            divide.
    """
    for field in fields(config):
        value = getattr(config, field.name)
        if field.type in (int, "int"):
            check_size(field.name, value)
        elif field.name in SHARES and value is not None:
            check_share(field.name, value)
        elif field.name in POSITIVE and not (isinstance(value, Real) and value > 0):
            raise ValueError(f"{field.name} must be a number above 0, got {value!r}")
    if hasattr(config, "activation"):
        check_name("activation", config.activation, activations)
    if hasattr(config, "n_heads") and config.d_model % config.n_heads:
        raise ValueError(
            f"d_model = {config.d_model} cannot be divided into n_heads = {config.n_heads} equal "
            f"heads"
        )


def check_name(kind: str, name: Any, known: Iterable[str]) -> None:
    """Refuse a name that is not among those known."""
    if name not in known:
        raise ValueError(f"no {kind} named {name!r}; there are: {', '.join(known)}")


class Choices(dict):
    """A dictionary that says what there is when it is asked for something else."""

    def __init__(self, kind: str, entries: dict[str, Any]):
        super().__init__(entries)
        self.kind = kind

    def __missing__(self, name: Any) -> Any:
        check_name(self.kind, name, self)


def check_size(name: str, value: Any) -> None:
    """Refuse what is no whole number of at least 1."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be a whole number of at least 1, got {value!r}")
    if value < 1:
        raise ValueError(f"{name} must be at least 1, got {name} = {value}")


def check_numbers(**numbers: float | int) -> None:
    """Refuse numbers below 1, all of them named; a `clip` may be any number above 0."""
    if wrong := {
        name: number
        for name, number in numbers.items()
        if number < 1 and (name != "clip" or number <= 0)
    }:
        raise ValueError(
            f"must be at least 1 (clip: above 0): "
            f"{', '.join(f'{name} = {number}' for name, number in wrong.items())}"
        )


def check_share(name: str, value: Any) -> None:
    """Refuse what is no share between 0 and 1."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} is a share between 0 and 1, got {value!r}")
    if not 0 <= value <= 1:
        raise ValueError(f"{name} is a share between 0 and 1, got {name} = {value}")


def check_tensor(name: str, given: Any, optional: bool = False) -> None:
    """Refuse what is no tensor."""
    if not isinstance(given, Tensor) and not (optional and given is None):
        raise TypeError(
            f"{name} must be a tensor, got a {type(given).__name__}: write torch.tensor(…)"
        )


def check_whole_numbers(name: str, values: Any) -> None:
    """Refuse what is no tensor of whole numbers, such as a list, a mask, or numbers with a
    fraction.

    Raises:
        TypeError: for what is no tensor.
        ValueError: for a tensor of another type of numbers.
    """
    if not isinstance(values, Tensor):
        raise TypeError(
            f"{name} must be a tensor of whole numbers, got a {type(values).__name__}: write "
            f"torch.tensor(…)"
        )
    if values.dtype == torch.bool or values.is_floating_point() or values.is_complex():
        raise ValueError(
            f"{name} must be whole numbers, got {values.dtype} of shape {tuple(values.shape)}"
        )


def whole_numbers(ids: Iterable[int]) -> list[int]:
    """Ids as Python's numbers, from a list, an array or a tensor with one dimension.

    Raises:
        TypeError: for text, whose characters could be taken for numbers, or an id that is no whole
            number.
    """
    if isinstance(ids, str) or not isinstance(ids, Iterable):
        raise TypeError(f"token ids are needed, in a row; got a {type(ids).__name__}: {ids!r:.60}")
    found = ids.tolist() if hasattr(ids, "tolist") else list(ids)
    try:
        return [index(i) for i in ([found] if isinstance(found, int) else found)]
    except TypeError:
        raise TypeError(f"token ids are whole numbers in a row, got {found!r:.60}") from None


# ---------------------------------------------------------------------------------------- attention


def check_scores(Q: Tensor, K: Tensor, mask: Tensor | None = None) -> None:
    """Refuse queries, keys and a mask that do not go together.

    Raises:
        TypeError: for what is no tensor.
        ValueError: where widths differ, or the mask is not boolean, does not broadcast, or could be
            meant in two ways.
    """
    for name, given in (("Q", Q), ("K", K), ("the mask", mask)):
        check_tensor(name, given, optional=name == "the mask")
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(
            f"queries and keys must have the same width: Q is {tuple(Q.shape)}, K is "
            f"{tuple(K.shape)}"
        )
    if mask is None:
        return
    if mask.dtype != torch.bool:
        raise ValueError(f"a mask is boolean, True = may attend; this one is {mask.dtype}")
    scores = (*torch.broadcast_shapes(Q.shape[:-2], K.shape[:-2]), Q.shape[-2], K.shape[-2])
    fits = mask.dim() <= len(scores) and all(
        m in (1, s) for m, s in zip(mask.shape[::-1], scores[::-1], strict=False)
    )
    if fits and 2 < mask.dim() < len(scores):
        one = (
            f"mask[:, None], of shape {(len(mask), 1, *mask.shape[1:])}"
            if mask.dim() == 3
            else "all dimensions"
        )
        raise ValueError(
            f"a mask of shape {tuple(mask.shape)} for scores {scores} could be meant for each "
            f"sequence of the batch or for each head: for each sequence write {one}; for each head "
            f"mask[None]"
        )
    if not fits:
        raise ValueError(
            f"a mask of shape {tuple(mask.shape)} does not broadcast to the scores' {scores}"
        )


def check_attention(
    Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None = None, dropout: float = 0.0
) -> None:
    """Refuse queries, keys, values and a mask that do not go together: as `check_scores`, and where
    K and V differ in number.
    """
    check_tensor("Q", Q)
    check_tensor("K", K)
    check_tensor("V", V)
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(
            f"there must be one value for each key: K is {tuple(K.shape)}, V is {tuple(V.shape)}"
        )
    check_scores(Q, K, mask)


def check_heads(
    layer: Any,
    d_model: int,
    n_heads: int,
    *,
    d_k: int | None = None,
    dropout: float = 0.0,
    **others: Any,
) -> None:
    """Refuse sizes that no multi-head attention can have.

    Raises:
        ValueError: if d_k is not given and n_heads does not divide d_model, a size is below 1, or
            dropout is no share.
    """
    sizes = {"d_model": d_model, "n_heads": n_heads, "d_k": d_k} | {
        name: others.get(name) for name in ("d_v", "d_context")
    }
    if any(size is not None and size < 1 for size in sizes.values()):
        raise ValueError(f"every size must be at least 1, got {sizes}")
    if d_k is None and d_model % n_heads:
        raise ValueError(
            f"d_model = {d_model} cannot be divided into n_heads = {n_heads} equal heads; give d_k"
        )
    check_share("dropout", dropout)


def check_query_and_context(
    attention: Any, query: Tensor, context: Tensor | None = None, mask: Tensor | None = None
) -> None:
    """Refuse vectors that this multi-head attention cannot read.

    Raises:
        TypeError: for what is no tensor.
        ValueError: for another shape or width, or batches of different sizes. The message states
            them.
    """
    for name, x, width in (
        ("query", query, attention.W_Q.in_features),
        ("context", context, attention.W_K.in_features),
    ):
        x = query if x is None else x
        if not isinstance(x, Tensor):
            raise TypeError(
                f"{name} must be a tensor (batch, n, {width}), got a {type(x).__name__}"
            )
        if x.dim() != 3 or x.shape[-1] != width:
            hint = f"; for a single sequence write {name}[None]" if x.dim() == 2 else ""
            raise ValueError(
                f"{name} must be (batch, n, {width}), got a tensor of shape {tuple(x.shape)}{hint}"
            )
    if context is not None and len(context) != len(query):
        raise ValueError(
            f"one context for each query is needed: a batch of {len(query)} queries, and of "
            f"{len(context)} contexts"
        )


def check_some_positions(n: int, device: torch.device | None = None) -> None:
    """Refuse a causal mask of no positions."""
    if n < 1:
        raise ValueError(f"a causal mask needs at least one position, got n = {n}")


def check_cut(x: Tensor, n_heads: int) -> None:
    """Refuse vectors that cannot be cut into this many heads."""
    if x.dim() != 3:
        hint = "; for a single sequence write x[None]" if x.dim() == 2 else ""
        raise ValueError(
            f"vectors must be (batch, n, width), got a tensor of shape {tuple(x.shape)}{hint}"
        )
    if n_heads < 1 or x.shape[-1] % n_heads:
        raise ValueError(
            f"a width of {x.shape[-1]} cannot be cut into n_heads = {n_heads} equal pieces"
        )


def check_lengths_fit(lengths: Tensor, n: int) -> None:
    """Refuse lengths that no sequences of n positions can have.

    Raises:
        TypeError: for lengths that are no tensor.
        ValueError: for lengths that are no whole numbers in a row, or one below 0 or above n.
    """
    check_whole_numbers("lengths", lengths)
    if lengths.dim() != 1:
        raise ValueError(
            f"one length for each sequence is needed, in a row; got lengths of shape "
            f"{tuple(lengths.shape)}"
        )
    if (
        lengths.numel()
        and can_be_read(lengths)
        and not (0 <= int(lengths.min()) and int(lengths.max()) <= n)
    ):
        raise ValueError(f"lengths must lie between 0 and n = {n}, got {lengths.tolist()}")


# ------------------------------------------------------------------------------------------- tokens


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


def check_room(layer: Any, x: Tensor) -> None:
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


def check_asked(at: Any, tokens: Tensor) -> None:
    """Refuse what is no choice of these tokens' positions: zeros and ones would be taken for
    numbers of rows.

    Raises:
        ValueError: the message gives types and shapes.
    """
    if at is not None and not (
        isinstance(at, Tensor) and at.dtype == torch.bool and at.shape == tokens.shape
    ):
        what = (
            f"{at.dtype} of shape {tuple(at.shape)}"
            if isinstance(at, Tensor)
            else f"a {type(at).__name__}"
        )
        raise ValueError(
            f"at must be boolean, True where a word is asked for, of the tokens' shape "
            f"{tuple(tokens.shape)}; got {what}"
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


# ------------------------------------------------------------------------------------------- images


def check_images(images: Any, n_channels: int | None = None) -> None:
    """Refuse what is no batch of images, with this many channels if it is said how many.

    Raises:
        TypeError: for what is no tensor.
        ValueError: for another shape, or pixels that are no floating-point numbers. The message
            gives them.
    """
    if not isinstance(images, Tensor):
        raise TypeError(
            f"images must be a tensor (batch, channels, height, width), got a "
            f"{type(images).__name__}"
        )
    if images.dim() != 4:
        hint = "; for a single image write image[None]" if images.dim() == 3 else ""
        raise ValueError(
            f"images must be (batch, channels, height, width), got a tensor of shape "
            f"{tuple(images.shape)}{hint}"
        )
    if n_channels is not None and images.shape[1] != n_channels:
        raise ValueError(
            f"this model reads images of {n_channels} channels, got {images.shape[1]}: "
            f"{tuple(images.shape)}"
        )
    if n_channels is not None and not images.is_floating_point():
        raise ValueError(f"pixels must be floating-point numbers, from 0 to 1; got {images.dtype}")


def check_layers(stack: Any, n_layers: int, *others: Any, **options: Any) -> None:
    """Refuse a stack of no layers."""
    check_size("n_layers", n_layers)


def check_known(embedding: Any, tokens: Tensor) -> None:
    """Refuse ids that an embedding has no vector for."""
    check_tokens(tokens, len(embedding.weight))


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


def check_embedded(embeddings: Any, tokens: Tensor, segments: Tensor | None = None) -> None:
    """Refuse ids that one of BERT's three tables has no vector for."""
    check_tokens(tokens, len(embeddings.tokens.weight))
    check_segments(segments, tokens, len(embeddings.segments.weight))
    if tokens.shape[1] > len(embeddings.positions.weight):
        raise ValueError(
            f"a sequence of {tokens.shape[1]} tokens, but positions for only "
            f"{len(embeddings.positions.weight)}"
        )


def check_read(
    model: Any, tokens: Tensor, segments: Tensor | None = None, lengths: Tensor | None = None
) -> None:
    """Refuse texts that BERT cannot read."""
    check_lengths(lengths, tokens)


def check_read_and_asked(
    model: Any,
    tokens: Tensor,
    segments: Tensor | None = None,
    lengths: Tensor | None = None,
    at: Tensor | None = None,
) -> None:
    """Refuse questions about positions that are not there."""
    check_asked(at, tokens)


def check_low_rank(layer: Any, linear: Any, r: int, alpha: float | None = None) -> None:
    """Refuse a rank that no product beside this layer can have."""
    if not isinstance(linear, nn.Linear):
        raise TypeError(f"a LowRank stands beside an nn.Linear, got {type(linear).__name__}")
    check_size("r", r)
    if r > min(linear.weight.shape):
        raise ValueError(
            f"a layer from {linear.in_features} to {linear.out_features} numbers has a rank of at "
            f"most {min(linear.weight.shape)}, got r = {r}"
        )


def check_not_adapted(model: Any, r: int = 8, alpha: float | None = None) -> None:
    """Refuse a model whose layers have thin matrices beside them already."""
    adapted = [name for name, _ in model.bert.named_parameters() if name.endswith((".A", ".B"))]
    if adapted:
        raise ValueError(
            f"this model was adapted before ({len(adapted) // 2} layers): merge it first"
        )
