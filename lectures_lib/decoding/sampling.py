"""Choosing the next token again and again: the likeliest one, or one drawn at random (chapter 9).

A `Transformer`, a `LanguageModel` and a `Seq2Seq` can be decoded, and whatever has the two methods
of `protocol.StepModel`.
"""

from collections.abc import Callable, Sequence
from numbers import Real
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from lectures_lib.checks.tensors import check_tensor
from lectures_lib.decoding.protocol import Running, StepModel, begin_decoding
from lectures_lib.decoding.stepwise import stepwise
from lectures_lib.modes import evaluating


class StepLook(NamedTuple):
    """What could be seen at one step: the likeliest next tokens, best first, and where the model
    looked. Of a sentence that has ended all probabilities, and all attention, are 0.
    """

    candidates: Int[Tensor, "batch k"]
    probabilities: Float[Tensor, "batch k"]
    attention: Float[Tensor, "batch *layers_and_heads n_source"] | None


class Decoded(NamedTuple):
    """A batch of decoded sentences. The begin token (or the prompt) is not among the tokens; behind
    a sentence's end stands `end` only.
    """

    tokens: Int[Tensor, "batch n"]
    lengths: Int[Tensor, " batch"]  # tokens before the end token
    scores: Float[Tensor, " batch"]  # log probability of all tokens, the end token included
    looks: list[StepLook]  # one a step, where asked for

    def sentences(self) -> list[list[int]]:
        """The token ids of each sentence, without its end token."""
        return [
            row[:length]
            for row, length in zip(self.tokens.tolist(), self.lengths.tolist(), strict=True)
        ]


def greedy(
    model: StepModel | nn.Module,
    source: Int[Tensor, "batch n_source"],
    source_lengths: Int[Tensor, " batch"] | None = None,
    *,
    end: int,
    max_len: int,
    begin: int | None = None,
    never: Sequence[int] = (),
    look: int = 0,
) -> Decoded:
    """The likeliest token at every step. Fast, and short-sighted: the likeliest sentence may begin
    with another one.

    Args:
        model: the model that decodes; its dropout is switched off meanwhile.
        source: what `model.start` reads: sentences to translate, or prompts to continue, padded on
            the right.
        source_lengths: how many tokens of each are real; None: all.
        end: the token that ends a sentence.
        max_len: the most tokens to decode; a sentence without an end by then is cut off.
        begin: the first token that the decoder reads. A translator needs one; a language model has
            its prompt.
        never: tokens never to choose, such as padding.
        look: note the `look` likeliest tokens of each step, and the attention, in `Decoded.looks`;
            0: none.

    Raises:
        ValueError: for a max_len below 1, a missing `begin`, a token that is not in the vocabulary,
            and what `model.start` refuses.
    """
    return decode_with(
        lambda log_probs: log_probs.argmax(dim=-1),
        model,
        source,
        source_lengths,
        end=end,
        max_len=max_len,
        begin=begin,
        never=never,
        look=look,
    )


def sample(
    model: StepModel | nn.Module,
    source: Int[Tensor, "batch n_source"],
    source_lengths: Int[Tensor, " batch"] | None = None,
    *,
    end: int,
    max_len: int,
    begin: int | None = None,
    never: Sequence[int] = (),
    look: int = 0,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
) -> Decoded:
    """A token drawn from the model's distribution at every step, after three changes to it, in this
    order.

    Args:
        temperature: the logits are divided by it: below 1 the likely get likelier, above 1 all get
            more alike.
        top_k: only the k likeliest tokens are kept (Fan et al. 2018).
        top_p: only the likeliest tokens that together reach probability p are kept (nucleus
            sampling, Holtzman et al. 2020).
        generator: where the randomness comes from; None: torch's own.
        model, source, source_lengths, end, max_len, begin, never, look: as in `greedy`. The scores
            and looks are the model's own, before the changes.

    Raises:
        ValueError: for a temperature, top_k or top_p out of range, and as `greedy` does.
    """
    if not temperature > 0:
        raise ValueError(
            f"the temperature must be above 0, got {temperature}; at 0 it would be greedy "
            f"decoding: use greedy"
        )

    def draw(log_probs: Tensor) -> Tensor:
        # log probabilities are logits too: softmax only asks for differences
        logits = log_probs / temperature
        logits = logits if top_k is None else keep_top_k(logits, top_k)
        logits = logits if top_p is None else keep_top_p(logits, top_p)
        return torch.multinomial(logits.softmax(dim=-1), 1, generator=generator)[:, 0]

    return decode_with(
        draw,
        model,
        source,
        source_lengths,
        end=end,
        max_len=max_len,
        begin=begin,
        never=never,
        look=look,
    )


def keep_top_k(logits: Float[Tensor, "batch vocab"], k: int) -> Float[Tensor, "batch vocab"]:
    """The k largest logits of each row; all others become -∞. Where several equal the k-th, they
    all stay.

    Raises:
        TypeError: for logits that are no tensor.
        ValueError: for a k below 1.
    """
    check_tensor("logits", logits)
    if not isinstance(k, int) or k < 1:
        raise ValueError(f"top_k must be at least 1, got {k!r} (a whole number)")
    smallest_kept = logits.topk(min(k, logits.shape[-1]), dim=-1).values[..., -1:]
    return logits.masked_fill(logits < smallest_kept, -torch.inf)


def keep_top_p(logits: Float[Tensor, "batch vocab"], p: float) -> Float[Tensor, "batch vocab"]:
    """The fewest largest logits of each row whose probabilities sum to p or more; all others become
    -∞.

    Raises:
        TypeError: for logits that are no tensor.
        ValueError: for a p outside (0, 1].
    """
    check_tensor("logits", logits)
    if not isinstance(p, Real) or not 0 < p <= 1:
        raise ValueError(f"top_p must lie above 0 and not above 1, got {p!r}")
    largest_first, order = logits.sort(dim=-1, descending=True)
    probabilities = largest_first.softmax(dim=-1)
    # what the likelier tokens reach without this one
    before = probabilities.cumsum(dim=-1) - probabilities
    kept = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, order, before < p)
    return logits.masked_fill(~kept, -torch.inf)


@torch.no_grad()
def decode_with(
    choose: Callable[[Float[Tensor, "batch vocab"]], Int[Tensor, " batch"]],
    model: StepModel | nn.Module,
    source: Int[Tensor, "batch n_source"],
    source_lengths: Int[Tensor, " batch"] | None,
    *,
    end: int,
    max_len: int,
    begin: int | None = None,
    never: Sequence[int] = (),
    look: int = 0,
) -> Decoded:
    """The loop that greedy decoding and sampling share; `choose` takes the next tokens' log
    probabilities to one token a sentence.

    Log probabilities are made and added up in float32 at least, whatever the model computes in.
    """
    if not isinstance(look, int) or look < 0:
        raise ValueError(
            f"look says how many of the likeliest tokens are noted, 0 or more; got {look!r}"
        )
    model = stepwise(model)
    with evaluating(model):
        logits, state, attention = begin_decoding(
            model, source, source_lengths, begin, end, max_len, never, look > 0
        )
        finished = torch.zeros(len(logits), dtype=torch.bool, device=logits.device)
        running, scores = Running(model, state, len(logits)), 0.0
        tokens, looks = [], []
        while True:
            log_probs = log_probabilities(logits)
            if look:
                likeliest = log_probs.topk(min(look, log_probs.shape[-1]))
                # of a sentence that has ended nothing is asked any more
                probabilities = likeliest.values.exp().masked_fill(finished[:, None], 0.0)
                looks.append(StepLook(likeliest.indices, probabilities, attention))
            # What a finished sentence says is dropped: end token after end token, at no cost to its
            # score.
            chosen = choose(without(log_probs, never)).masked_fill(finished, end)
            scores = scores + log_probs.gather(1, chosen[:, None])[:, 0].masked_fill(finished, 0.0)
            tokens.append(chosen)
            finished = finished | (chosen == end)
            if len(tokens) == max_len or finished.all():
                tokens = torch.stack(tokens, dim=1)
                return Decoded(tokens, lengths_before(end, tokens), scores, looks)
            logits, attention = running.step(chosen, ~finished, return_weights=look > 0)


def log_probabilities(logits: Float[Tensor, "*batch vocab"]) -> Float[Tensor, "*batch vocab"]:
    """log softmax, in float32 at least: sums of bfloat16 numbers are off by whole nats after some
    ten tokens.
    """
    return logits.log_softmax(dim=-1, dtype=torch.promote_types(logits.dtype, torch.float32))


def without(
    log_probs: Float[Tensor, "batch vocab"], never: Sequence[int]
) -> Float[Tensor, "batch vocab"]:
    """The log probabilities, with -∞ for the tokens that must not be chosen."""
    if not never:
        return log_probs
    return log_probs.index_fill(1, torch.tensor(never, device=log_probs.device), -torch.inf)


def lengths_before(end: int, tokens: Int[Tensor, "*batch n"]) -> Int[Tensor, "*batch"]:
    """How many tokens stand before the first end token."""
    return ((tokens == end).cumsum(dim=-1) == 0).sum(dim=-1)
