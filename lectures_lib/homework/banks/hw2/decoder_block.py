"""Question 5: the decoder block."""

from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from lectures_lib.blocks.attention import MultiHeadAttention
from lectures_lib.homework.banks.hw2.encoder_block import (
    different_heads,
    padding,
    some_sizes,
    some_state,
)
from lectures_lib.homework.banks.inputs import normal
from lectures_lib.homework.banks.mistakes import (
    ANEW,
    always_dropping,
    dropping,
    keeping,
    keeping_where_none,
    remembering,
)
from lectures_lib.homework.questions import Case, Demand, Misconception, Question

BLOCK = "where no source is padded: the three parts, and no word sees those behind it"
SOURCE = "padding in the source is hidden, and nothing else"

# a mask of the one fits the other
_AS_LONG = "padding in the source, which is as wide as the target"


def _decoder_cases(g: Generator) -> list[Case]:
    cases = []
    heads = different_heads(g)
    for i, kind in enumerate(
        (
            "no mask",
            "a mask that hides padding in the source",
            "one word on either side",
            _AS_LONG,
            "a long target",
        )
    ):
        padded = "padding" in kind
        (batch, n_target, n_source), init = some_sizes(g, 2, heads[i % 3])
        if kind == "one word on either side":
            batch, n_target, n_source = 1, 1, 1
        elif kind == _AS_LONG:
            batch, n_target = 1, n_source
        elif padded:
            batch = 3
        elif kind == "a long target":  # no mask of a fixed size is large enough
            batch, n_target = 1, 130
        x, memory = (
            2 * normal(g, batch, n_target, init["d_model"]),
            2 * normal(g, batch, n_source, init["d_model"]),
        )
        # One source is a single word, so that a causal mask on the source does not hide what
        # padding would.
        lengths = torch.tensor([1, n_source - 1, n_source])[torch.randperm(3, generator=g)]
        lengths = torch.tensor([n_source - 2]) if kind == _AS_LONG else lengths
        args = (x, memory, padding(lengths, n_source)) if padded else (x, memory)
        cases.append(
            Case(
                args,
                init=init,
                train=kind == "no mask",  # nothing drops out
                # The same object for a longer target: no mask may be kept from the first call.
                again=((normal(g, batch, n_target + 2, init["d_model"]), memory),)
                if kind == "no mask"
                else (),
                state=some_state(
                    g, init["d_model"], init["d_ff"], ("self_attention", "cross_attention")
                ),
                shows=(
                    f"x of shape {tuple(x.shape)}, memory of shape {tuple(memory.shape)}, "
                    f"{init['n_heads']} heads, {kind}"
                ),
                demands=(SOURCE if padded else BLOCK,),
            )
        )
    cases[1] = _anew(g, cases[1])
    return cases


def _anew(g: Generator, case: Case) -> Case:
    """The same object once more, with new inputs of the same sizes, then without a mask: nothing
    may be kept from an earlier call.
    """
    x, memory, mask = case.args

    def inputs():
        return 2 * normal(g, *x.shape), 2 * normal(g, *memory.shape)

    again = ((*inputs(), mask.roll(1, dims=0)), inputs())
    return replace(case, again=again, shows=f"{case.shows}{ANEW}, and without a mask")


class DecoderBlock(nn.Module):
    """Causal self-attention, cross-attention, feed-forward, post-norm; the wrong answers below
    change one of its small steps.
    """

    diagonal = 0

    def __init__(self, d_model: int, n_heads: int, d_ff: int):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads)
        self.cross_attention = MultiHeadAttention(d_model, n_heads)
        self.W_1, self.W_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm_1, self.norm_2, self.norm_3 = (nn.LayerNorm(d_model) for _ in range(3))

    def forward(self, x: Tensor, memory: Tensor, source_mask: Tensor | None = None) -> Tensor:
        """x (batch, n_target, d_model) and memory (batch, n_source, d_model) → like x."""
        x = self.norm_1(x + self.write(x, source_mask))
        x = self.norm_2(x + self.read(x, memory, source_mask))
        return self.norm_3(x + self.feed_forward(x))

    def causal(self, n: int, n_key: int) -> Tensor:
        """(n, n_key): position i sees positions 0 … i."""
        return torch.ones(n, n_key, dtype=torch.bool).tril(self.diagonal)

    def write(self, x, source_mask):
        """What have I written?"""
        return self.self_attention(x, mask=self.causal(x.shape[1], x.shape[1]))

    def read(self, x, memory, source_mask):
        """What does the source say?"""
        return self.cross_attention(x, memory, source_mask)

    def feed_forward(self, x):
        """What do I make of it?"""
        return self.W_2(F.relu(self.W_1(x)))


class _NoCausalMask(DecoderBlock):
    def write(self, x, source_mask):
        return self.self_attention(x)


class _CausalInTrainingOnly(DecoderBlock):
    def write(self, x, source_mask):
        mask = self.causal(x.shape[1], x.shape[1]) if self.training else None
        return self.self_attention(x, mask=mask)


class _SeesTheNext(DecoderBlock):
    diagonal = 1


class _CannotSeeItself(DecoderBlock):
    diagonal = -1


class _CausalInverted(DecoderBlock):
    def causal(self, n, n_key):
        return torch.ones(n, n_key, dtype=torch.bool).triu(1)


class _LooksForwardOnly(DecoderBlock):
    def causal(self, n, n_key):
        return torch.ones(n, n_key, dtype=torch.bool).triu()


class _MemoryNormalised(DecoderBlock):
    """By norm_2, which is applied to the sum as well."""

    def read(self, x, memory, source_mask):
        return super().read(x, self.norm_2(memory), source_mask)


class _SourceMaskOnTheTarget(DecoderBlock):
    def write(self, x, source_mask):
        return self.self_attention(x, mask=source_mask)


class _SourceMaskWithTheCausal(DecoderBlock):
    def write(self, x, source_mask):
        causal = self.causal(x.shape[1], x.shape[1])
        return self.self_attention(x, mask=causal if source_mask is None else causal & source_mask)


class _SourceMaskIgnored(DecoderBlock):
    def read(self, x, memory, source_mask):
        return self.cross_attention(x, memory)


class _SourceMaskInverted(DecoderBlock):
    def read(self, x, memory, source_mask):
        return self.cross_attention(x, memory, None if source_mask is None else ~source_mask)


class _CausalOnTheSource(DecoderBlock):
    def read(self, x, memory, source_mask):
        causal = self.causal(x.shape[1], memory.shape[1])
        return self.cross_attention(
            x, memory, causal if source_mask is None else causal & source_mask
        )


class _SourceMaskWhereItFits(_SourceMaskWithTheCausal):
    def write(self, x, source_mask):
        return super().write(
            x,
            source_mask
            if source_mask is not None and source_mask.shape[-1] == x.shape[1]
            else None,
        )


class _CausalOnTheSourceUnlessMasked(DecoderBlock):
    def read(self, x, memory, source_mask):
        return self.cross_attention(
            x,
            memory,
            self.causal(x.shape[1], memory.shape[1]) if source_mask is None else source_mask,
        )


class _CausalOnTheSourceOnly(_CausalOnTheSource):
    """Instead of the padding mask, not in addition to it."""

    def read(self, x, memory, source_mask):
        return super().read(x, memory, None)


class _QueriesFromTheSource(DecoderBlock):
    def read(self, x, memory, source_mask):
        return self.cross_attention(memory, x, source_mask)


class _QueriesFromTheSourceUnmasked(DecoderBlock):
    def read(self, x, memory, source_mask):
        return self.cross_attention(memory, x)


class _MemoryForgotten(DecoderBlock):
    def read(self, x, memory, source_mask):
        return self.cross_attention(x)


class _CausalMemoryForgotten(DecoderBlock):
    def read(self, x, memory, source_mask):
        return self.cross_attention(x, mask=self.causal(x.shape[1], x.shape[1]))


class _OneAttentionTwice(DecoderBlock):
    def read(self, x, memory, source_mask):
        return self.self_attention(x, memory, source_mask)


class _AttentionsExchanged(DecoderBlock):
    def write(self, x, source_mask):
        return self.cross_attention(x, mask=self.causal(x.shape[1], x.shape[1]))

    def read(self, x, memory, source_mask):
        return self.self_attention(x, memory, source_mask)


class _ReadsFirst(DecoderBlock):
    def forward(self, x, memory, source_mask=None):
        x = self.norm_1(x + self.read(x, memory, source_mask))
        x = self.norm_2(x + self.write(x, source_mask))
        return self.norm_3(x + self.feed_forward(x))


class _ReadsFirstNormsKept(DecoderBlock):
    def forward(self, x, memory, source_mask=None):
        x = self.norm_2(x + self.read(x, memory, source_mask))
        x = self.norm_1(x + self.write(x, source_mask))
        return self.norm_3(x + self.feed_forward(x))


class _NeverReads(DecoderBlock):
    def forward(self, x, memory, source_mask=None):
        x = self.norm_1(x + self.write(x, source_mask))
        return self.norm_3(x + self.feed_forward(x))


class _InputAsks(DecoderBlock):
    def forward(self, x, memory, source_mask=None):
        after = self.norm_1(x + self.write(x, source_mask))
        after = self.norm_2(after + self.read(x, memory, source_mask))
        return self.norm_3(after + self.feed_forward(after))


class _NoResidualAroundReading(DecoderBlock):
    def forward(self, x, memory, source_mask=None):
        x = self.norm_1(x + self.write(x, source_mask))
        x = self.norm_2(self.read(x, memory, source_mask))
        return self.norm_3(x + self.feed_forward(x))


class _NoResiduals(DecoderBlock):
    def forward(self, x, memory, source_mask=None):
        x = self.norm_1(self.write(x, source_mask))
        x = self.norm_2(self.read(x, memory, source_mask))
        return self.norm_3(self.feed_forward(x))


class _PreNorm(DecoderBlock):
    def forward(self, x, memory, source_mask=None):
        x = x + self.write(self.norm_1(x), source_mask)
        x = x + self.read(self.norm_2(x), memory, source_mask)
        return x + self.feed_forward(self.norm_3(x))


class _NormsExchanged(DecoderBlock):
    def forward(self, x, memory, source_mask=None):
        x = self.norm_1(x + self.write(x, source_mask))
        x = self.norm_3(x + self.read(x, memory, source_mask))
        return self.norm_2(x + self.feed_forward(x))


class _FirstNormsExchanged(DecoderBlock):
    def forward(self, x, memory, source_mask=None):
        x = self.norm_2(x + self.write(x, source_mask))
        x = self.norm_1(x + self.read(x, memory, source_mask))
        return self.norm_3(x + self.feed_forward(x))


class _RoadsFromTheInput(DecoderBlock):
    """All three sums add the block's input."""

    def forward(self, x, memory, source_mask=None):
        written = self.norm_1(x + self.write(x, source_mask))
        read = self.norm_2(x + self.read(written, memory, source_mask))
        return self.norm_3(x + self.feed_forward(read))


class _NoNormAroundReading(DecoderBlock):
    def forward(self, x, memory, source_mask=None):
        x = self.norm_1(x + self.write(x, source_mask))
        x = x + self.read(x, memory, source_mask)
        return self.norm_3(x + self.feed_forward(x))


class _NoRelu(DecoderBlock):
    def feed_forward(self, x):
        return self.W_2(self.W_1(x))


_QUERIES = (
    "Source and target have changed places: the source asks and the target is looked at, so there "
    "is an output for each *source* position. Queries come from the decoder, keys and values from "
    "the memory: self.cross_attention(x, memory, source_mask)."
)
_SOURCE_MASK = (
    "You use source_mask in the self-attention, where the target looks at itself. It is about "
    "source positions and belongs to cross-attention; self-attention gets the causal mask."
)
_ON_SOURCE = (
    "You hide part of the source with a causal mask. The source is all there before the first word "
    "is written: every target position may see all of it, except padding. Only *self*-attention is "
    "causal."
)
_EXCHANGED = (
    "Your two masks have changed places. The causal one is for the self-attention, where the "
    "target looks at itself; source_mask is for the cross-attention, where it looks at the source."
)
_FORGOTTEN = (
    "Your cross-attention looks at the target again: without a second argument MultiHeadAttention "
    "attends from x to x, and the source is never read. Give it the memory: "
    "self.cross_attention(x, memory, source_mask)."
)
_ORDER = (
    "You look at the source before you look at what is written. The order is: causal "
    "self-attention (norm_1), cross-attention (norm_2), feed-forward (norm_3)."
)
_DIRECTION = (
    "Your causal mask works the wrong way round: positions see the future, and the past is hidden. "
    "Position i may see 0 … i: True on and *below* the diagonal, torch.tril."
)


class _MaskOfNumbers(DecoderBlock):
    def causal(self, n, n_key):
        return torch.ones(n, n_key).tril()


class _MaskKept(DecoderBlock):
    """The causal mask of the first call serves in all."""

    kept = None

    def causal(self, n, n_key):
        self.kept = super().causal(n, n_key) if self.kept is None else self.kept
        return self.kept


class _MaskAsContext(DecoderBlock):
    def write(self, x, source_mask):
        return self.self_attention(x, self.causal(x.shape[1], x.shape[1]))


class _MasksExchanged(DecoderBlock):
    def write(self, x, source_mask):
        return self.self_attention(x, mask=source_mask)

    def read(self, x, memory, source_mask):
        return self.cross_attention(x, memory, self.causal(x.shape[1], x.shape[1]))


class _MasksExchangedInShape(_MasksExchanged):
    def read(self, x, memory, source_mask):
        return self.cross_attention(x, memory, self.causal(x.shape[1], memory.shape[1]))


class _InputAddedTwice(DecoderBlock):
    def forward(self, x, memory, source_mask=None):
        written = self.norm_1(x + self.write(x, source_mask))
        read = self.norm_2(x + self.read(written, memory, source_mask))
        return self.norm_3(read + self.feed_forward(read))


class _NoResidualAroundFeedForward(DecoderBlock):
    def forward(self, x, memory, source_mask=None):
        x = self.norm_1(x + self.write(x, source_mask))
        x = self.norm_2(x + self.read(x, memory, source_mask))
        return self.norm_3(self.feed_forward(x))


class _NoResidualAroundWriting(DecoderBlock):
    def forward(self, x, memory, source_mask=None):
        x = self.norm_1(self.write(x, source_mask))
        x = self.norm_2(x + self.read(x, memory, source_mask))
        return self.norm_3(x + self.feed_forward(x))


class _OneNorm(DecoderBlock):
    def forward(self, x, memory, source_mask=None):
        x = self.norm_1(x + self.write(x, source_mask))
        x = self.norm_1(x + self.read(x, memory, source_mask))
        return self.norm_1(x + self.feed_forward(x))


class _Gelu(DecoderBlock):
    def feed_forward(self, x):
        return self.W_2(F.gelu(self.W_1(x)))


class _ReluLast(DecoderBlock):
    def feed_forward(self, x):
        return F.relu(self.W_2(self.W_1(x)))


class _ReluTwice(DecoderBlock):
    def feed_forward(self, x):
        return F.relu(self.W_2(F.relu(self.W_1(x))))


class _WrittenAddedAgain(DecoderBlock):
    def forward(self, x, memory, source_mask=None):
        x = self.norm_1(x + self.write(x, source_mask))
        read = self.norm_2(x + self.read(x, memory, source_mask))
        return self.norm_3(x + self.feed_forward(read))


class _NoFeedForward(DecoderBlock):
    def forward(self, x, memory, source_mask=None):
        x = self.norm_1(x + self.write(x, source_mask))
        return self.norm_2(x + self.read(x, memory, source_mask))


class _LastNormOnly(DecoderBlock):
    def forward(self, x, memory, source_mask=None):
        x = x + self.write(x, source_mask)
        x = x + self.read(x, memory, source_mask)
        return self.norm_3(x + self.feed_forward(x))


_RELU_PLACE = (
    "A ReLU comes after W_2. There is one only, between the two matrices; at the end, it would "
    "only ever let the layer add positive numbers."
)


DECODER = Question(
    name="hw2.DecoderBlock",
    title="The decoder block",
    points=4,
    minutes=30,
    difficulty=3,
    chapter="06_decoder#the-decoder-block",
    cases=_decoder_cases,
    reference=DecoderBlock,
    misconceptions=(
        Misconception(
            "causal_in_training_only",
            "Right in training mode; after .eval() your self-attention sees the future. The mask "
            "does not depend on the mode: in training each position learned from those before it, "
            "and what it has learned to read must not change afterwards.",
            _CausalInTrainingOnly,
        ),
        Misconception(
            "no_causal_mask",
            "Your self-attention sees the future: there is no causal mask. In training the answer "
            "stands one position further on, and the model would learn to copy it. Let position i "
            "see 0 … i only.",
            _NoCausalMask,
        ),
        Misconception(
            "sees_the_next",
            "Your causal mask is off by one: position i sees position i + 1. After the shift that "
            "is the very word it is to predict. torch.tril without a second argument keeps the "
            "diagonal and what is below.",
            _SeesTheNext,
        ),
        Misconception(
            "cannot_see_itself",
            "Your causal mask hides each position from itself, and leaves the first one nothing to "
            "look at. Position i sees 0 … i, itself included.",
            _CannotSeeItself,
        ),
        Misconception("causal_mask_inverted", _DIRECTION, _CausalInverted),
        Misconception("causal_mask_inverted", _DIRECTION, _LooksForwardOnly),
        Misconception("source_mask_on_the_target", _SOURCE_MASK, _SourceMaskOnTheTarget),
        Misconception("source_mask_on_the_target", _SOURCE_MASK, _SourceMaskWithTheCausal),
        Misconception("source_mask_on_the_target", _SOURCE_MASK, _SourceMaskWhereItFits),
        Misconception(
            "source_mask_ignored",
            "Right without padding, but cross-attention looks at padded source positions: hand it "
            "source_mask. Without it a translation changes with its neighbours in the batch.",
            _SourceMaskIgnored,
        ),
        Misconception(
            "source_mask_inverted",
            "Cross-attention looks at the padding and hides the words. source_mask is True where "
            "it *may* attend: hand it on as it is.",
            _SourceMaskInverted,
        ),
        Misconception("causal_mask_on_the_source", _ON_SOURCE, _CausalOnTheSource),
        Misconception("causal_mask_on_the_source", _ON_SOURCE, _CausalOnTheSourceOnly),
        Misconception("causal_mask_on_the_source", _ON_SOURCE, _CausalOnTheSourceUnlessMasked),
        Misconception("queries_from_the_source", _QUERIES, _QueriesFromTheSource),
        Misconception("queries_from_the_source", _QUERIES, _QueriesFromTheSourceUnmasked),
        Misconception("memory_forgotten", _FORGOTTEN, _MemoryForgotten),
        Misconception("memory_forgotten", _FORGOTTEN, _CausalMemoryForgotten),
        Misconception("memory_forgotten", _FORGOTTEN, _NeverReads),
        Misconception(
            "one_attention_twice",
            "You use self_attention for both looks; cross_attention's matrices are never used. "
            "Looking at oneself and looking at the source are learned separately.",
            _OneAttentionTwice,
        ),
        Misconception(
            "attentions_exchanged",
            "Your two attentions have changed places: self_attention's matrices look at the "
            "source, cross_attention's at the target.",
            _AttentionsExchanged,
        ),
        Misconception("source_before_target", _ORDER, _ReadsFirst),
        Misconception("source_before_target", _ORDER, _ReadsFirstNormsKept),
        Misconception(
            "block_s_input_asks",
            "Cross-attention is asked by the block's *input*. Its queries come from what "
            "self-attention has made of it: the x that norm_1 returns.",
            _InputAsks,
        ),
        Misconception(
            "no_residual_around_cross_attention",
            "There is no way around your cross-attention: what the decoder has written is replaced "
            "by what the source says. All three sublayers *add* to x.",
            _NoResidualAroundReading,
        ),
        Misconception(
            "no_residual_around_self_attention",
            "There is no residual around the self-attention: its output takes the place of x. "
            "norm_1 gets the sum of the two.",
            _NoResidualAroundWriting,
        ),
        Misconception(
            "one_norm_for_all",
            "You use norm_1 at all three places; norm_2 and norm_3 are never used. Each has its "
            "own gain and shift.",
            _OneNorm,
        ),
        Misconception(
            "gelu_for_relu",
            "Your feed-forward layer uses GELU, as BERT and GPT do. The paper's, and this "
            "question's, uses ReLU.",
            _Gelu,
        ),
        Misconception("relu_after_w_2", _RELU_PLACE, _ReluLast),
        Misconception("relu_after_w_2", _RELU_PLACE, _ReluTwice),
        Misconception(
            "source_skipped_by_the_last_residual",
            "Your last residual adds what came out of the self-attention, past the reading. It "
            "adds what entered the feed-forward layer: y = norm_2(…), then norm_3(y + feed-forward "
            "of y).",
            _WrittenAddedAgain,
        ),
        Misconception(
            "feed_forward_forgotten",
            "The third step is missing: the feed-forward layer, W_2 max(0, W_1 x + b_1) + b_2, "
            "with its residual and norm_3.",
            _NoFeedForward,
        ),
        Misconception(
            "norm_3_only",
            "Your block has one norm, the last. In post-norm a norm follows each of the three "
            "sums.",
            _LastNormOnly,
        ),
        Misconception(
            "no_residuals",
            "There is no way around your sublayers: each one's output replaces x. All three *add* "
            "to x, norm(x + f(x)).",
            _NoResiduals,
        ),
        Misconception(
            "pre_norm",
            "Your block normalises before each sublayer, x + f(norm(x)). That is pre-norm; this "
            "question asks for the paper's order, norm(x + f(x)).",
            _PreNorm,
        ),
        Misconception(
            "memory_normalised",
            "You normalise `memory` before it is looked at, by norm_2. The encoder has done that "
            "already; norm_2 belongs to the sum behind cross-attention alone.",
            _MemoryNormalised,
        ),
        Misconception(
            "norms_exchanged",
            "norm_2 and norm_3 have changed places: norm_2 goes with cross-attention, norm_3 with "
            "the feed-forward layer.",
            _NormsExchanged,
        ),
        Misconception(
            "first_norms_exchanged",
            "norm_1 and norm_2 have changed places: norm_1 goes with self-attention, norm_2 with "
            "cross-attention.",
            _FirstNormsExchanged,
        ),
        Misconception(
            "roads_from_the_input",
            "Each of your sums adds the block's *input*. A residual adds what entered its own "
            "sublayer: the second sum begins with what norm_1 returns, the third with what norm_2 "
            "returns.",
            _RoadsFromTheInput,
        ),
        Misconception(
            "norm_2_forgotten",
            "Nothing is normalised after cross-attention: norm_2 is never used. Post-norm means "
            "one norm after each of the three sums.",
            _NoNormAroundReading,
        ),
        Misconception(
            "relu_forgotten",
            "Your feed-forward layer has no ReLU between its two matrices, and two matrices in a "
            "row are no more than one.",
            _NoRelu,
        ),
        Misconception(
            "mask_of_numbers",
            "Your causal mask holds the numbers 1 and 0. The attention given here wants a boolean "
            "one, True = may attend: torch.ones(n, n, dtype=torch.bool).tril().",
            _MaskOfNumbers,
        ),
        Misconception(
            "mask_kept_from_the_first_call",
            "Your block makes its causal mask when it is first called, and keeps it: the next "
            "target, which has another length, gets a mask that does not fit. Make it anew in each "
            "call, of x.shape[1].",
            _MaskKept,
        ),
        Misconception(
            "mask_given_as_context",
            "You hand the causal mask over as the second argument of the self-attention, which is "
            "the context to look at. Say which one it is: self.self_attention(x, mask=causal).",
            _MaskAsContext,
        ),
        Misconception("masks_exchanged", _EXCHANGED, _MasksExchanged),
        Misconception("masks_exchanged", _EXCHANGED, _MasksExchangedInShape),
        Misconception(
            "block_s_input_added_again",
            "Around the cross-attention you add the block's input once more. Each residual "
            "connection adds what went into its own sublayer: here the result of norm_1.",
            _InputAddedTwice,
        ),
        Misconception(
            "no_residual_around_feed_forward",
            "Both attentions have their residual, the feed-forward layer has none. It *adds* to "
            "what went into it.",
            _NoResidualAroundFeedForward,
        ),
        keeping(DecoderBlock, "memory"),
        keeping(DecoderBlock, "source_mask"),
        keeping_where_none(DecoderBlock, "source_mask"),
        remembering(DecoderBlock),
        dropping(DecoderBlock),
        always_dropping(DecoderBlock),
    ),
    demands=(Demand(BLOCK, 3), Demand(SOURCE, 1)),
)
