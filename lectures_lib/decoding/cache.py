"""Decoding with a cache (chapter 9): a step computes the newest position alone, and each
self-attention keeps the keys and values of those before.

Why those stay right: with the causal mask a position looks back only. A later token changes no
earlier vector in any block, so no earlier key or value either.

    steps = TransformerWithCache(model)
    state = steps.start(source).state
    token = begin                                  # (batch,)
    for _ in range(20):
        logits, state, _ = steps.step(token, state)
        token = logits.argmax(dim=-1)              # greedy

A step may be compiled, `steps.step = torch.compile(steps.step, dynamic=True)`: slow to begin, then
faster, most of all where one sentence is written alone (`benchmarks/decoding.py`).

A language model's `start` reads the whole prompt at once (several new positions, with a causal mask
among them); from there on it is one token a step.

The models themselves know nothing of it. A step walks through the model's own layers, and where
`forward` would compute all keys and values anew, it uses those that were kept. What is kept is
changed in place: decode under `torch.no_grad()`, and go on from a state once (`select` copies).
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from lectures_lib.blocks.attention import MultiHeadAttention, causal_mask, padding_mask
from lectures_lib.blocks.layers import DecoderBlock, EncoderBlock
from lectures_lib.blocks.recording import record
from lectures_lib.checks.door import at_the_door
from lectures_lib.checks.tokens import check_lengths
from lectures_lib.decoding.protocol import Step
from lectures_lib.models.language_model import LanguageModel
from lectures_lib.models.transformer import Transformer

KeysValues = tuple[Tensor, Tensor]  # (batch, n_heads, n, d_k) and (batch, n_heads, n, d_v)


class KeyValueCache:
    """The keys and values of all positions that one self-attention has seen: a new position need
    not make them again.

    `extend` does what `K_of_all = torch.cat([K_so_far, K], dim=2)` would do, and the same for V.
    But a `cat` copies all that is kept, at every step. So K and V are tensors with empty positions
    at their end, and get more when those are used up (`_make_room`).
    """

    def __init__(self):
        self.K = self.V = None  # what is kept, and empty positions behind it
        self.n = 0  # how many positions are kept

    def extend(
        self, K: Float[Tensor, "batch n_heads new d_k"], V: Float[Tensor, "batch n_heads new d_v"]
    ) -> tuple[Float[Tensor, "batch n_heads n d_k"], Float[Tensor, "batch n_heads n d_v"]]:
        """Add the keys and values of the newest positions; returns those of all."""
        n = self.n + K.shape[2]
        self._make_room(n, K, V)
        self.K[:, :, self.n : n] = K
        self.V[:, :, self.n : n] = V
        self.n = n
        return self.K[:, :, :n], self.V[:, :, :n]

    def _make_room(self, n: int, K: Tensor, V: Tensor) -> None:
        """Room for n positions. Each time it is at least doubled, so it is seldom too small."""
        if self.K is None:
            self.K, self.V = K[:, :, :0], V[:, :, :0]  # no position yet
        if n > self.K.shape[2]:
            n_more = (0, 0, 0, n)  # nothing beside a vector's numbers, n behind the positions
            self.K, self.V = F.pad(self.K, n_more), F.pad(self.V, n_more)

    def select(self, rows: Int[Tensor, " kept"]) -> "KeyValueCache":
        """The cache of these rows of the batch, in this order; a row may come more than once. (In a
        beam, each hypothesis goes on from the past of the one that it continues.)
        """
        chosen = KeyValueCache()
        chosen.n = self.n
        if self.K is not None:
            chosen.K, chosen.V = select_rows((self.K, self.V), rows)
        return chosen


def select_rows(kept: KeysValues, rows: Int[Tensor, " kept"]) -> KeysValues:
    """The keys and values of these rows of the batch."""
    return kept[0].index_select(0, rows), kept[1].index_select(0, rows)


def attend_with_cache(
    attention: MultiHeadAttention,
    x: Float[Tensor, "batch new d_model"],
    cache: KeyValueCache,
    mask: Bool[Tensor, "..."] | None = None,
) -> Float[Tensor, "batch new d_model"]:
    """The newest positions x attend to all so far, themselves included. The cache is extended.

    A single position needs no mask, for what is kept lies in its past. Several at once, as those of
    a prompt, need a causal one among themselves.
    """
    K, V = cache.extend(*attention.keys_values(x))
    return attention.attend(x, K, V, mask)


def encoder_block_with_cache(
    block: EncoderBlock,
    x: Float[Tensor, "batch new d_model"],
    cache: KeyValueCache,
    mask: Bool[Tensor, "..."] | None = None,
) -> Float[Tensor, "batch new d_model"]:
    """`EncoderBlock.forward` for the newest positions only."""
    x = block.around_self_attention(
        x, lambda y: attend_with_cache(block.self_attention, y, cache, mask)
    )
    return block.around_feed_forward(x, block.feed_forward)


def decoder_block_with_cache(
    block: DecoderBlock,
    x: Float[Tensor, "batch new d_model"],
    cache: KeyValueCache,
    memory: KeysValues,
    memory_mask: Bool[Tensor, "..."] | None = None,
    mask: Bool[Tensor, "..."] | None = None,
) -> Float[Tensor, "batch new d_model"]:
    """`DecoderBlock.forward` for the newest positions only; the keys and values of the memory were
    made once, before the first step. The mask is self-attention's (see `attend_with_cache`).
    """
    x = block.around_self_attention(
        x, lambda y: attend_with_cache(block.self_attention, y, cache, mask)
    )
    x = block.around_cross_attention(x, block.cross_attention.attend, *memory, memory_mask)
    return block.around_feed_forward(x, block.feed_forward)


@dataclass
class TransformerState:
    """What is kept of a Transformer between two steps.

    Args:
        memory: each decoder block's keys and values of the encoder's output, made once.
        memory_mask: the source's padding mask; None where no source is padded.
        caches: each decoder block's keys and values of the target tokens so far.
        n_decoded: how many target tokens there are so far.
    """

    memory: list[KeysValues]
    memory_mask: Bool[Tensor, "batch 1 1 n_source"] | None
    caches: list[KeyValueCache]
    n_decoded: int = 0

    def select(self, rows: Int[Tensor, " kept"]) -> "TransformerState":
        """The state of these rows of the batch, in this order; a row may come more than once."""
        memory = [select_rows(kept, rows) for kept in self.memory]
        mask = None if self.memory_mask is None else self.memory_mask[rows]
        return TransformerState(
            memory, mask, [cache.select(rows) for cache in self.caches], self.n_decoded
        )


class TransformerWithCache(nn.Module):
    """A Transformer, decoded step by step (`protocol.StepModel`)."""

    def __init__(self, model: Transformer):
        super().__init__()
        self.model = model

    def start(
        self,
        source: Int[Tensor, "batch n_source"],
        source_lengths: Int[Tensor, " batch"] | None = None,
    ) -> Step:
        """Read the source, and make its keys and values for every block."""
        memory = self.model.encode(source, source_lengths)
        blocks = self.model.decoder.blocks
        keys_values = [block.cross_attention.keys_values(memory) for block in blocks]
        # without padding no mask: no step has to apply one
        padded = source_lengths is not None and int(source_lengths.min()) < source.shape[1]
        mask = padding_mask(source_lengths, source.shape[1]) if padded else None
        caches = [KeyValueCache() for _ in blocks]
        return Step(logits=None, state=TransformerState(keys_values, mask, caches))

    def step(
        self, tokens: Int[Tensor, " batch"], state: TransformerState, return_weights: bool = False
    ) -> Step:
        """Decode one more token of each sentence. The state is changed in place, and returned.

        With `return_weights`, the step's attention is that of every layer and head to the source,
        `(batch, n_layers, n_heads, n_source)`.

        Raises:
            ValueError: for more steps than the model has positions.
        """
        if return_weights:
            return self._step_with_weights(tokens, state)
        model = self.model
        if state.n_decoded == model.config.max_len:
            raise ValueError(
                f"{state.n_decoded} tokens are decoded, and the model has positions for no more"
            )
        place = model.positions.positions[state.n_decoded]  # (d_model,): the same for all sentences
        x = model.dropout(model.embedding(tokens[:, None]) + place)  # (batch, 1, d_model)
        for block, cache, memory in zip(
            model.decoder.blocks, state.caches, state.memory, strict=True
        ):
            x = decoder_block_with_cache(block, x, cache, memory, state.memory_mask)
        state.n_decoded += 1
        newest = model.decoder.norm(x[:, 0])  # (batch, d_model)
        return Step(model.logits(newest), state)

    def _step_with_weights(self, tokens: Int[Tensor, " batch"], state: TransformerState) -> Step:
        names = "blocks.*.cross_attention.weights"
        with record(self.model.decoder, names) as seen:
            logits, state, _ = self.step(tokens, state)
        return Step(logits, state, weights_of_newest(seen.all(names)))


@dataclass
class LanguageModelState:
    """What is kept of a language model between two steps.

    Args:
        caches: each block's keys and values of the tokens so far.
        lengths: how many tokens each text has so far, padding not counted.
        mask: which of the kept tokens are real; None where no prompt was padded.
        longest: no text is longer than this.
    """

    caches: list[KeyValueCache]
    lengths: Int[Tensor, " batch"]
    mask: Bool[Tensor, "batch 1 1 n"] | None
    longest: int

    def select(self, rows: Int[Tensor, " kept"]) -> "LanguageModelState":
        """The state of these texts, in this order; one may come more than once."""
        mask = None if self.mask is None else self.mask[rows]
        return LanguageModelState(
            [cache.select(rows) for cache in self.caches], self.lengths[rows], mask, self.longest
        )


class LanguageModelWithCache(nn.Module):
    """A left-to-right language model, decoded step by step (`protocol.StepModel`)."""

    def __init__(self, model: LanguageModel):
        super().__init__()
        self.model = model

    @at_the_door(lambda self, prompt, prompt_lengths=None: check_lengths(prompt_lengths, prompt))
    def start(
        self, prompt: Int[Tensor, "batch n"], prompt_lengths: Int[Tensor, " batch"] | None = None
    ) -> Step:
        """Read the prompts, padded on the right, and score what follows the last real token of
        each.
        """
        model, (batch, n) = self.model, prompt.shape
        lengths = (
            torch.full((batch,), n, device=prompt.device)
            if prompt_lengths is None
            else prompt_lengths
        )
        padded = int(lengths.min()) < n
        caches = [KeyValueCache() for _ in model.stack.blocks]
        x = model.dropout(model.positions(model.embedding(prompt)))
        for block, cache in zip(model.stack.blocks, caches, strict=True):
            x = encoder_block_with_cache(block, x, cache, causal_mask(n, prompt.device))
        last = model.stack.norm(x[torch.arange(batch, device=x.device), lengths - 1])
        mask = padding_mask(lengths, n) if padded else None
        return Step(
            model.embedding.scores(last),
            LanguageModelState(caches, lengths, mask, int(lengths.max())),
        )

    def step(
        self, tokens: Int[Tensor, " batch"], state: LanguageModelState, return_weights: bool = False
    ) -> Step:
        """Read one more token of each text. The state is changed in place, and returned.

        With `return_weights`, the step's attention is that of every layer and head to all tokens so
        far, `(batch, n_layers, n_heads, n)`.

        Raises:
            ValueError: where a text grows longer than the model has positions.
        """
        if return_weights:
            return self._step_with_weights(tokens, state)
        model, max_len = self.model, self.model.config.max_len
        if state.longest >= max_len:
            state.longest = int(state.lengths.max())  # the longest of before may have ended since
        if state.longest >= max_len:
            raise ValueError(
                f"a text has {max_len} tokens already, and the model has positions for no more"
            )
        if state.mask is not None:
            # the new token may be looked at, by all to come
            state.mask = F.pad(state.mask, (0, 1), value=True)
        # Each text goes on at its own position, wherever its padding made it end.
        places = model.positions.positions[state.lengths]  # (batch, d_model)
        x = model.dropout(model.embedding(tokens[:, None]) + places[:, None])  # (batch, 1, d_model)
        for block, cache in zip(model.stack.blocks, state.caches, strict=True):
            x = encoder_block_with_cache(block, x, cache, state.mask)
        state.lengths, state.longest = state.lengths + 1, state.longest + 1
        newest = model.stack.norm(x[:, 0])  # (batch, d_model)
        return Step(model.embedding.scores(newest), state)

    def _step_with_weights(self, tokens: Int[Tensor, " batch"], state: LanguageModelState) -> Step:
        names = "blocks.*.self_attention.weights"
        with record(self.model.stack, names) as seen:
            logits, state, _ = self.step(tokens, state)
        return Step(logits, state, weights_of_newest(seen.all(names)))


def weights_of_newest(
    weights: list[Float[Tensor, "batch n_heads 1 n"]],
) -> Float[Tensor, "batch n_layers n_heads n"]:
    """Each layer's attention weights as one tensor; they have one query, the newest position."""
    return torch.stack([of_layer[:, :, 0] for of_layer in weights], dim=1)


class WithoutCache(nn.Module):
    """A Transformer, decoded without a cache: every step runs the decoder over all tokens so far
    (chapter 9 counts the cost).
    """

    def __init__(self, model: Transformer):
        super().__init__()
        self.model = model

    def start(
        self,
        source: Int[Tensor, "batch n_source"],
        source_lengths: Int[Tensor, " batch"] | None = None,
    ) -> Step:
        """Read the source (`protocol.StepModel`)."""
        return Step(
            None, Prefix(self.model.encode(source, source_lengths), source_lengths, source[:, :0])
        )

    def step(
        self, tokens: Int[Tensor, " batch"], state: "Prefix", return_weights: bool = False
    ) -> Step:
        """Decode all tokens so far and one more. It shows no attention: `TransformerWithCache.step`
        does.
        """
        tokens = torch.cat([state.tokens, tokens[:, None]], dim=1)
        hidden = self.model.decode(tokens, state.memory, state.source_lengths)
        return Step(
            self.model.logits(hidden[:, -1]), Prefix(state.memory, state.source_lengths, tokens)
        )


@dataclass
class Prefix:
    """What decoding without a cache keeps between two steps: the encoder's output and the target
    tokens so far.
    """

    memory: Float[Tensor, "batch n_source d_model"]
    source_lengths: Int[Tensor, " batch"] | None
    tokens: Int[Tensor, "batch n_target"]

    def select(self, rows: Int[Tensor, " kept"]) -> "Prefix":
        """The prefixes of these rows of the batch, in this order; a row may come more than once."""
        lengths = None if self.source_lengths is None else self.source_lengths[rows]
        return Prefix(self.memory[rows], lengths, self.tokens[rows])
