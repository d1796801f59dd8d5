"""Question 4: the encoder block, in both orders of norm and sum."""

from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from lectures_lib.blocks.attention import MultiHeadAttention
from lectures_lib.homework.banks.hw2.additive import some_lengths
from lectures_lib.homework.banks.inputs import mixed_mask, normal, sizes
from lectures_lib.homework.banks.mistakes import (
    ANEW,
    always_dropping,
    dropping,
    keeping,
    keeping_where_none,
    remembering,
)
from lectures_lib.homework.questions import Case, Demand, Misconception, Question


def different_heads(g: Generator) -> list[int]:
    """Three numbers of heads, so that none is always the same."""
    return sizes(g, 3, 2, 4)


def some_sizes(g: Generator, lengths: int, n_heads: int) -> tuple[list[int], dict[str, int]]:
    """A batch and `lengths` lengths, and the sizes of a block of so many heads; all different, so
    that no shape fits by accident.
    """
    d_head = {2: 3, 3: 4, 4: 2}[n_heads]
    d_model = n_heads * d_head
    batch, *others = int(torch.randint(2, 4, (), generator=g)), *sizes(g, lengths, 4, 9)
    if d_model in others:
        return some_sizes(g, lengths, n_heads)
    return [batch, *others], {
        "d_model": d_model,
        "n_heads": n_heads,
        "d_ff": d_model + int(torch.randint(3, 8, (), generator=g)),
    }


def some_state(
    g: Generator, d_model: int, d_ff: int, attentions: tuple[str, ...]
) -> dict[str, Tensor]:
    """Parameters of a block: far enough from where training starts that each one shows."""
    state = {
        f"{name}.W_{letter}.weight": 1.5 * normal(g, d_model, d_model) / d_model**0.5
        for name in attentions
        for letter in "QKVO"
    }
    state |= {
        "W_1.weight": normal(g, d_ff, d_model) / d_model**0.5,
        "W_1.bias": normal(g, d_ff),
        "W_2.weight": normal(g, d_model, d_ff) / d_ff**0.5,
        "W_2.bias": normal(g, d_model),
    }
    for i in range(1, len(attentions) + 2):
        state |= {
            f"norm_{i}.weight": 1 + 0.5 * normal(g, d_model),
            f"norm_{i}.bias": normal(g, d_model),
        }
    return state


def padding(lengths: Tensor, n: int) -> Tensor:
    """(batch, 1, 1, n), True for words."""
    return (torch.arange(n) < lengths[:, None])[:, None, None]


POST = "a block with its norms behind the residuals"
MASKED = "the mask reaches the attention"
PRE = "a block with its norms in front"


def _encoder_cases(g: Generator) -> list[Case]:
    cases = []
    kinds = (
        (False, "no mask"),
        (False, "a mask that hides padding"),
        (True, "a mask that hides padding"),
        (True, "one word"),
    )
    heads = different_heads(g)
    for i, (pre_norm, kind) in enumerate((*kinds, (False, "a mask for each head"))):
        padded = "padding" in kind
        (batch, n), init = some_sizes(g, 1, heads[i % 3])
        batch, n = (1, 1) if kind == "one word" else (batch, n)
        x = 2 * normal(g, batch, n, init["d_model"]) + 1
        args = (x, padding(some_lengths(g, batch, n), n)) if padded else (x,)
        args = (
            (x, mixed_mask(g, batch, init["n_heads"], n, n))
            if kind == "a mask for each head"
            else args
        )
        cases.append(
            Case(
                args,
                init=init | {"pre_norm": True} if pre_norm else init,
                state=some_state(g, init["d_model"], init["d_ff"], ("self_attention",)),
                demands=(MASKED,) * ("a mask" in kind) + (PRE,) * pre_norm,
                train=kind == "no mask",  # nothing drops out
                again=((normal(g, batch, n + 1, init["d_model"]),),) if kind == "no mask" else (),
                shows=f"{'pre' if pre_norm else 'post'}-norm, x of shape {tuple(x.shape)}, "
                f"{init['n_heads']} heads, d_ff = {init['d_ff']}, "
                f"{kind}",
            )
        )
    cases[-1] = _anew(g, cases[-1])
    return cases


def _anew(g: Generator, case: Case) -> Case:
    """The same object once more, with new inputs of the same sizes, then without a mask: nothing
    may be kept from an earlier call.
    """
    x, mask = case.args
    again = (
        (2 * normal(g, *x.shape) + 1, mixed_mask(g, *mask.shape)),
        (2 * normal(g, *x.shape) + 1,),
    )
    return replace(case, again=again, shows=f"{case.shows}{ANEW}, and without a mask")


class EncoderBlock(nn.Module):
    """Self-attention and feed-forward, each with a residual and a norm; the wrong answers below
    change one of its small steps.
    """

    def __init__(self, d_model: int, n_heads: int, d_ff: int, pre_norm: bool = False):
        super().__init__()
        self.pre_norm = pre_norm
        self.self_attention = MultiHeadAttention(d_model, n_heads)
        self.W_1, self.W_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """(batch, n, d_model) → (batch, n, d_model)."""
        x = self.around(x, lambda x: self.attend(x, mask), self.norm_1)
        return self.around(x, self.feed_forward, self.norm_2)

    def around(self, x, sublayer, norm):
        """The sublayer with its residual and its norm."""
        return x + sublayer(norm(x)) if self.pre_norm else norm(x + sublayer(x))

    def attend(self, x, mask):
        """The words look at each other."""
        return self.self_attention(x, mask=mask)

    def feed_forward(self, x):
        """Each word by itself."""
        return self.W_2(F.relu(self.W_1(x)))


class _AlwaysPostNorm(EncoderBlock):
    def around(self, x, sublayer, norm):
        return norm(x + sublayer(x))


class _AlwaysPreNorm(EncoderBlock):
    def around(self, x, sublayer, norm):
        return x + sublayer(norm(x))


class _PreAndPostExchanged(EncoderBlock):
    def around(self, x, sublayer, norm):
        return norm(x + sublayer(x)) if self.pre_norm else x + sublayer(norm(x))


class _NormOfTheSublayer(EncoderBlock):
    def around(self, x, sublayer, norm):
        return x + sublayer(norm(x)) if self.pre_norm else x + norm(sublayer(x))


class _RoadNormalised(EncoderBlock):
    def around(self, x, sublayer, norm):
        return norm(x) + sublayer(norm(x)) if self.pre_norm else norm(x + sublayer(x))


class _SecondRoadNormalised(EncoderBlock):
    def around(self, x, sublayer, norm):
        return (
            _RoadNormalised.around(self, x, sublayer, norm)
            if norm is self.norm_2
            else super().around(x, sublayer, norm)
        )


class _FirstRoadNormalised(EncoderBlock):
    def around(self, x, sublayer, norm):
        return (
            _RoadNormalised.around(self, x, sublayer, norm)
            if norm is self.norm_1
            else super().around(x, sublayer, norm)
        )


class _NormOnBothSides(EncoderBlock):
    def around(self, x, sublayer, norm):
        return norm(x + sublayer(norm(x))) if self.pre_norm else norm(x + sublayer(x))


class _NoResidual(EncoderBlock):
    def around(self, x, sublayer, norm):
        return sublayer(norm(x)) if self.pre_norm else norm(sublayer(x))


class _NoNorm(EncoderBlock):
    def around(self, x, sublayer, norm):
        return x + sublayer(x)


class _NoSecondResidual(EncoderBlock):
    def around(self, x, sublayer, norm):
        return (
            _NoResidual.around(self, x, sublayer, norm)
            if norm is self.norm_2
            else super().around(x, sublayer, norm)
        )


class _OneNormTwice(EncoderBlock):
    def around(self, x, sublayer, norm):
        return super().around(x, sublayer, self.norm_1)


class _OneNormTwiceInPreNorm(EncoderBlock):
    def around(self, x, sublayer, norm):
        return super().around(x, sublayer, self.norm_1 if self.pre_norm else norm)


class _NormsExchanged(EncoderBlock):
    def around(self, x, sublayer, norm):
        return super().around(x, sublayer, self.norm_2 if norm is self.norm_1 else self.norm_1)


class _SecondRoadFromTheInput(EncoderBlock):
    """The second residual adds the block's input instead of what attention handed on."""

    def forward(self, x, mask=None):
        after = self.around(x, lambda x: self.attend(x, mask), self.norm_1)
        if self.pre_norm:
            return x + self.feed_forward(self.norm_2(after))
        return self.norm_2(x + self.feed_forward(after))


class _SideBySideInPreNorm(EncoderBlock):
    def forward(self, x, mask=None):
        if not self.pre_norm:
            return super().forward(x, mask)
        return x + self.attend(self.norm_1(x), mask) + self.feed_forward(self.norm_2(x))


class _SideBySide(_SideBySideInPreNorm):
    def forward(self, x, mask=None):
        if self.pre_norm:
            return super().forward(x, mask)
        return self.norm_2(self.norm_1(x + self.attend(x, mask)) + self.feed_forward(x))


class _SideBySideOrFromTheInput(_SecondRoadFromTheInput):
    """In post-norm, feed-forward reads what attention made, and is added to the block's input."""

    def forward(self, x, mask=None):
        if not self.pre_norm:
            return super().forward(x, mask)
        return x + self.attend(self.norm_1(x), mask) + self.feed_forward(self.norm_2(x))


_SIDE_BY_SIDE = (
    "Both sublayers read the block's input, side by side, at least with pre-norm. Feed-forward "
    "comes second: it reads, and is added to, what attention has made of x."
)


class _NoRelu(EncoderBlock):
    def feed_forward(self, x):
        return self.W_2(self.W_1(x))


class _Gelu(EncoderBlock):
    def feed_forward(self, x):
        return self.W_2(F.gelu(self.W_1(x)))


class _ReluLast(EncoderBlock):
    def feed_forward(self, x):
        return F.relu(self.W_2(self.W_1(x)))


class _ReluTwice(EncoderBlock):
    def feed_forward(self, x):
        return F.relu(self.W_2(F.relu(self.W_1(x))))


class _NoFeedForward(EncoderBlock):
    def forward(self, x, mask=None):
        return self.around(x, lambda x: self.attend(x, mask), self.norm_1)


class _FeedForwardFirst(EncoderBlock):
    def forward(self, x, mask=None):
        x = self.around(x, self.feed_forward, self.norm_2)
        return self.around(x, lambda x: self.attend(x, mask), self.norm_1)


class _MaskIgnored(EncoderBlock):
    def attend(self, x, mask):
        return self.self_attention(x)


class _MaskForgottenInPreNorm(EncoderBlock):
    def attend(self, x, mask):
        return self.self_attention(x, mask=None if self.pre_norm else mask)


class _MaskInverted(EncoderBlock):
    def attend(self, x, mask):
        return self.self_attention(x, mask=None if mask is None else ~mask)


class _MaskAsContext(EncoderBlock):
    def attend(self, x, mask):
        return self.self_attention(x, mask)


class _BiasedAttention(EncoderBlock):
    def __init__(self, d_model, n_heads, d_ff, pre_norm=False):
        super().__init__(d_model, n_heads, d_ff, pre_norm)
        self.self_attention = MultiHeadAttention(d_model, n_heads, bias=True)


_RELU = (
    "Your feed-forward layer has no ReLU between its two matrices. Two matrices in a row are no "
    "more than one: W_2 max(0, W_1 x + b_1) + b_2."
)
_RELU_PLACE = (
    "A ReLU comes after W_2. There is one only, between the two matrices; at the end, it would "
    "only ever let the layer add positive numbers."
)

_ROAD = (
    "In pre-norm you add to the *normalised* x: norm(x) + f(norm(x)), as x = norm(x) before both "
    "uses does. Only the side road is normalised, the road is left alone: x + f(norm(x))."
)


class _NormOfTheSublayerInPreNorm(EncoderBlock):
    def around(self, x, sublayer, norm):
        return x + norm(sublayer(x)) if self.pre_norm else norm(x + sublayer(x))


class _SecondRoadFromTheInputInPreNorm(_SecondRoadFromTheInput):
    def forward(self, x, mask=None):
        block = _SecondRoadFromTheInput if self.pre_norm else EncoderBlock
        return block.forward(self, x, mask)


class _NoSecondResidualInPostNorm(_NoSecondResidual):
    def around(self, x, sublayer, norm):
        block = EncoderBlock if self.pre_norm else _NoSecondResidual
        return block.around(self, x, sublayer, norm)


class _MaskForgottenInPostNorm(EncoderBlock):
    def attend(self, x, mask):
        return self.self_attention(x, mask=mask if self.pre_norm else None)


class _NoFirstResidual(EncoderBlock):
    def around(self, x, sublayer, norm):
        block = _NoResidual if norm is self.norm_1 else EncoderBlock
        return block.around(self, x, sublayer, norm)


class _SecondRoadFromTheInputInPostNorm(_SecondRoadFromTheInput):
    def forward(self, x, mask=None):
        block = EncoderBlock if self.pre_norm else _SecondRoadFromTheInput
        return block.forward(self, x, mask)


class _FeedForwardOfTheInputInPostNorm(EncoderBlock):
    def forward(self, x, mask=None):
        if self.pre_norm:
            return super().forward(x, mask)
        return self.norm_2(self.norm_1(x + self.attend(x, mask)) + self.feed_forward(x))


class _NoSecondNormInPreNorm(EncoderBlock):
    def around(self, x, sublayer, norm):
        if self.pre_norm and norm is self.norm_2:
            return x + sublayer(x)
        return super().around(x, sublayer, norm)


class _NoSecondNormInPostNorm(EncoderBlock):
    def around(self, x, sublayer, norm):
        if not self.pre_norm and norm is self.norm_2:
            return x + sublayer(x)
        return super().around(x, sublayer, norm)


class _SecondNormAtTheEndToo(EncoderBlock):
    def around(self, x, sublayer, norm):
        after = super().around(x, sublayer, norm)
        return norm(after) if self.pre_norm and norm is self.norm_2 else after


class _OnlyQueriesNormalised(EncoderBlock):
    def forward(self, x, mask=None):
        if not self.pre_norm:
            return super().forward(x, mask)
        x = x + self.self_attention(self.norm_1(x), x, mask)
        return self.around(x, self.feed_forward, self.norm_2)


ENCODER = Question(
    name="hw2.EncoderBlock",
    title="The encoder block",
    points=3,
    minutes=25,
    difficulty=2,
    chapter="05_encoder#the-block",
    cases=_encoder_cases,
    reference=EncoderBlock,
    demands=(Demand(POST, 1), Demand(MASKED, 1), Demand(PRE, 1)),
    misconceptions=(
        Misconception(
            "pre_norm_ignored",
            "Your block is right with post-norm and does the same with pre_norm=True. There each "
            "norm moves to the side road: x + f(norm(x)).",
            _AlwaysPostNorm,
        ),
        Misconception("sublayers_side_by_side", _SIDE_BY_SIDE, _SideBySideInPreNorm),
        Misconception("sublayers_side_by_side", _SIDE_BY_SIDE, _SideBySide),
        Misconception("sublayers_side_by_side", _SIDE_BY_SIDE, _SideBySideOrFromTheInput),
        Misconception(
            "always_pre_norm",
            "Your block always normalises *before* a sublayer, x + f(norm(x)). That is pre-norm; "
            "without pre_norm=True the order is the paper's, norm(x + f(x)).",
            _AlwaysPreNorm,
        ),
        Misconception(
            "pre_and_post_exchanged",
            "You have the two orders the wrong way round. Pre-norm: the norm comes before the "
            "sublayer, x + f(norm(x)). Post-norm: after the sum, norm(x + f(x)).",
            _PreAndPostExchanged,
        ),
        Misconception(
            "sublayer_normalised_not_sum",
            "In post-norm you normalise what the sublayer returns and then add x. The norm stands "
            "on the road itself, *after* the sum: norm(x + f(x)).",
            _NormOfTheSublayer,
        ),
        Misconception("road_normalised", _ROAD, _RoadNormalised),
        Misconception("road_normalised", _ROAD, _SecondRoadNormalised),
        Misconception("road_normalised", _ROAD, _FirstRoadNormalised),
        Misconception(
            "mask_forgotten_in_pre_norm",
            "Right with post-norm, but with pre_norm=True your attention gets no mask. Both orders "
            "hand it on: self.self_attention(self.norm_1(x), mask=mask).",
            _MaskForgottenInPreNorm,
        ),
        Misconception(
            "mask_forgotten_in_post_norm",
            "Right with pre-norm; with post-norm your attention does not get the mask. Pass it on "
            "in both orders.",
            _MaskForgottenInPostNorm,
        ),
        Misconception(
            "no_residual_around_attention",
            "There is no residual around the attention: its output takes the place of x. Add it "
            "to x.",
            _NoFirstResidual,
        ),
        Misconception(
            "input_added_again_in_post_norm",
            "With post-norm, your second residual adds the block's input. It adds what came out "
            "of the first half: y = norm_1(x + attention), then norm_2(y + feed-forward of y).",
            _SecondRoadFromTheInputInPostNorm,
        ),
        Misconception(
            "input_enters_the_feed_forward_layer",
            "With post-norm, your feed-forward layer gets the block's input. It gets what came out "
            "of the first half: y = norm_1(x + attention), then norm_2(y + feed-forward of y).",
            _FeedForwardOfTheInputInPostNorm,
        ),
        Misconception(
            "norm_2_forgotten_in_pre_norm",
            "Right with post-norm; with pre-norm your feed-forward layer gets x as it is. It gets "
            "norm_2(x).",
            _NoSecondNormInPreNorm,
        ),
        Misconception(
            "norm_2_forgotten_in_post_norm",
            "Right with pre-norm; with post-norm the second sum goes through no norm. What is "
            "returned is norm_2(x + feed-forward of x).",
            _NoSecondNormInPostNorm,
        ),
        Misconception(
            "norm_2_at_the_end_too",
            "With pre-norm, you put the second sum through norm_2 once more. The norm stands "
            "before the sublayer only; the road, x, is not normalised.",
            _SecondNormAtTheEndToo,
        ),
        Misconception(
            "only_queries_normalised",
            "With pre-norm, your queries come from norm_1(x), but keys and values from x as it is. "
            "All three come from the normalised vectors: self_attention(norm_1(x), mask=mask).",
            _OnlyQueriesNormalised,
        ),
        Misconception(
            "norm_on_both_sides",
            "In pre-norm you normalise twice, before the sublayer and after the sum. The norm "
            "moves to the side road, it is not doubled: x + f(norm(x)).",
            _NormOnBothSides,
        ),
        Misconception(
            "no_residual",
            "There is no way around your sublayers: each one's output replaces x. Add it to x "
            "instead. Without the plus sign, layer after layer of averages makes all words alike.",
            _NoResidual,
        ),
        Misconception(
            "no_residual_around_feed_forward",
            "Attention has its residual, the feed-forward layer has none. Both sublayers *add* to "
            "x.",
            _NoSecondResidual,
        ),
        Misconception(
            "no_norm",
            "Your residuals are right, but the norms are never used: norm_1 goes with attention, "
            "norm_2 with the feed-forward layer.",
            _NoNorm,
        ),
        Misconception(
            "one_norm_twice",
            "You use norm_1 at both places; norm_2 is never used. Each has its own gain and shift.",
            _OneNormTwice,
        ),
        Misconception(
            "one_norm_twice_in_pre_norm",
            "Right with post-norm. With pre_norm=True you use norm_1 at both places: in front of "
            "the feed-forward layer it is norm_2.",
            _OneNormTwiceInPreNorm,
        ),
        Misconception(
            "norms_exchanged",
            "Your two norms have changed places: norm_1 goes with attention, norm_2 with the "
            "feed-forward layer.",
            _NormsExchanged,
        ),
        Misconception(
            "second_road_from_the_input",
            "Your second residual adds the block's *input*; what attention found out is lost on "
            "the road. The second sublayer adds to what the first one handed on.",
            _SecondRoadFromTheInput,
        ),
        Misconception("relu_forgotten", _RELU, _NoRelu),
        Misconception(
            "gelu_for_relu",
            "Your feed-forward layer uses GELU, as BERT does. The Transformer of 2017, and this "
            "question, use ReLU.",
            _Gelu,
        ),
        Misconception("relu_after_w_2", _RELU_PLACE, _ReluLast),
        Misconception("relu_after_w_2", _RELU_PLACE, _ReluTwice),
        Misconception(
            "feed_forward_forgotten",
            "Your block ends after attention. The second sublayer is missing: W_2 max(0, W_1 x + "
            "b_1) + b_2, with a residual and norm_2.",
            _NoFeedForward,
        ),
        Misconception(
            "feed_forward_first",
            "Your sublayers stand in the wrong order: first the words look at each other "
            "(attention, norm_1), then each works by itself (feed-forward, norm_2).",
            _FeedForwardFirst,
        ),
        Misconception(
            "mask_ignored",
            "Right without a mask, but padding is looked at: hand the mask on, "
            "self.self_attention(x, mask=mask).",
            _MaskIgnored,
        ),
        Misconception(
            "mask_inverted",
            "Your mask works the wrong way round. True means *may attend*, in this question as in "
            "MultiHeadAttention: hand it on as it is. (nn.MultiheadAttention wants the opposite.)",
            _MaskInverted,
        ),
        Misconception(
            "mask_taken_for_context",
            "You call self.self_attention(x, mask). Its second argument is the *context*, what x "
            "is to look at; the mask must be named: self.self_attention(x, mask=mask).",
            _MaskAsContext,
        ),
        Misconception(
            "attention_with_biases",
            "Your attention has biases, for which the question names no parameters: "
            "MultiHeadAttention(d_model, n_heads) has none.",
            _BiasedAttention,
        ),
        Misconception(
            "norm_behind_the_sublayer_in_pre_norm",
            "Post-norm is right. In pre-norm you normalise what the sublayer returns: "
            "x + norm(f(x)). It is what goes *into* it that is normalised: x + f(norm(x)).",
            _NormOfTheSublayerInPreNorm,
        ),
        Misconception(
            "input_added_again_in_pre_norm",
            "Post-norm is right. In pre-norm your second sum adds the block's input; the road "
            "leads on from the first sum, and it is that which the feed-forward layer is added to.",
            _SecondRoadFromTheInputInPreNorm,
        ),
        Misconception(
            "residual_forgotten_in_post_norm",
            "Pre-norm is right. In post-norm your second norm gets what the feed-forward layer "
            "returns, without what went into it: norm(x + f(x)).",
            _NoSecondResidualInPostNorm,
        ),
        keeping(EncoderBlock, "mask"),
        keeping_where_none(EncoderBlock, "mask"),
        remembering(EncoderBlock),
        dropping(EncoderBlock),
        always_dropping(EncoderBlock),
    ),
)
