"""Question 6: multi-head attention as a module."""

import math
from dataclasses import replace

import torch
from torch import Generator, Tensor, nn

from lectures_lib.homework.banks.hw1.attention import READY_MADE
from lectures_lib.homework.banks.hw1.padding import padding_mask
from lectures_lib.homework.banks.inputs import mixed_mask, normal, sizes
from lectures_lib.homework.banks.mistakes import (
    ANEW,
    always_dropping,
    dropping,
    keeping,
    remembering,
)
from lectures_lib.homework.questions import Case, Demand, Misconception, Question

PLAIN = "without a mask, the heads look and are put together"
MASKED = "a mask for all hides what it should, and no call keeps that of another"
OWN = "so does a mask of its own for each head"


def _heads_cases(g: Generator) -> list[Case]:
    cases = []
    kinds = (
        "no mask",
        "one mask (n, n) for all",
        "a mask (batch, 1, 1, n) that hides padding",
        "a mask for each head",
        "a single word",
    )
    for kind in kinds:
        while True:
            batch, n, n_heads, d_head = sizes(g, 4, 2, 7)
            d_model = int(torch.randint(5, 12, (), generator=g))
            divisors = [
                d_head**0.5,
                d_head / 2,
                d_head * 2,
                d_model**0.5,
                (n_heads * d_head) ** 0.5,
                (d_model / n_heads) ** 0.5,
                n_heads**0.5,
                1.0,
            ]
            unlike = len({round(divisor, 6) for divisor in divisors}) == len(divisors)
            unlike = unlike and 0 < d_model // n_heads != d_head
            # whose root would be no scale at all
            unlike = unlike and (kind != "no mask" or d_model // n_heads > 1)
            if unlike and n > 2 and d_model not in (batch, n, n_heads, d_head, n_heads * d_head):
                break
        if kind == "a single word":
            batch, n, n_heads = 1, 1, 1
        inner = n_heads * d_head
        # Spread out so that the scores, and with them the mistakes, are far from even.
        state = {
            f"W_{name}.weight": 1.5 * normal(g, inner, d_model) / d_model**0.5 for name in "QKV"
        }
        state["W_O.weight"] = normal(g, d_model, inner) / inner**0.5
        mask = None
        if kind.startswith("one"):
            mask = mixed_mask(g, n, n)
        elif "padding" in kind:
            mask = padding_mask(torch.randint(1, n, (batch,), generator=g), n)
        elif kind == "a mask for each head":
            mask = mixed_mask(g, batch, n_heads, n, n)
        x = normal(g, batch, n, d_model)
        # Called once more with other sizes: nothing may be kept from the first call.
        again = ((normal(g, batch + 1, n + 1, d_model),),) if kind == "no mask" else ()
        # And once without the mask of the first call.
        again = ((normal(g, batch, n, d_model),),) if kind.startswith("one") else again
        then = (
            ", then a longer one"
            if kind == "no mask"
            else f"{ANEW}, and without a mask"
            if again
            else ""
        )
        cases.append(
            Case(
                again=again,
                args=(x,) if mask is None else (x, mask),
                init={"d_model": d_model, "n_heads": n_heads, "d_head": d_head},
                state=state,
                train="padding" in kind,  # nothing drops out
                shows=f"x of shape {tuple(x.shape)}{then}, {n_heads} heads of {d_head} numbers, "
                + kind
                + (", in training mode" if "padding" in kind else ""),
                demands=(OWN if "each head" in kind else PLAIN if mask is None else MASKED,),
            )
        )
    # All is new in the second call, and as large as before: no argument may be kept.
    x, mask = cases[1].args
    new = normal(g, *x.shape), mixed_mask(g, *mask.shape)
    cases[1] = replace(cases[1], again=(new, *cases[1].again))
    return cases


class MultiHeadAttention(nn.Module):
    """Self-attention with n_heads heads of d_head numbers each; the wrong answers below change one
    of its small steps.
    """

    def __init__(self, d_model: int, n_heads: int, d_head: int):
        super().__init__()
        self.d_model, self.n_heads, self.d_head = d_model, n_heads, d_head
        self.W_Q = nn.Linear(d_model, n_heads * d_head, bias=False)
        self.W_K = nn.Linear(d_model, n_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_model, n_heads * d_head, bias=False)
        self.W_O = nn.Linear(n_heads * d_head, d_model, bias=False)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """(batch, n, d_model) → (batch, n, d_model)."""
        Q, K, V = (self.split(projected) for projected in self.project(x))
        scores = self.hide(Q @ K.transpose(-2, -1) / self.divisor(), mask)
        return self.mix(self.merge(self.normalise(scores) @ V))

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values of all heads, still side by side."""
        return self.W_Q(x), self.W_K(x), self.W_V(x)

    def split(self, x: Tensor) -> Tensor:
        """(batch, n, n_heads · d_head) → (batch, n_heads, n, d_head)."""
        return x.unflatten(-1, (self.n_heads, self.d_head)).transpose(1, 2)

    def divisor(self) -> float:
        """What the scores are divided by."""
        return math.sqrt(self.d_head)

    def hide(self, scores: Tensor, mask: Tensor | None) -> Tensor:
        """The scores, -∞ where the mask is False."""
        return scores if mask is None else scores.masked_fill(~mask, -math.inf)

    def normalise(self, scores: Tensor) -> Tensor:
        """Each query's weights."""
        return scores.softmax(dim=-1)

    def merge(self, x: Tensor) -> Tensor:
        """(batch, n_heads, n, d_head) → (batch, n, n_heads · d_head)."""
        return x.transpose(1, 2).flatten(start_dim=2)

    def mix(self, x: Tensor) -> Tensor:
        """W_O on the concatenated heads."""
        return self.W_O(x)


class _Unscaled(MultiHeadAttention):
    def divisor(self):
        return 1.0


class _ScaledByDModel(MultiHeadAttention):
    def divisor(self):
        return math.sqrt(self.d_model)


class _ScaledByAllHeads(MultiHeadAttention):
    def divisor(self):
        return math.sqrt(self.n_heads * self.d_head)


class _ScaledByDModelPerHead(MultiHeadAttention):
    def divisor(self):
        return math.sqrt(self.d_model / self.n_heads)


class _HalfForTheRoot(MultiHeadAttention):
    def divisor(self):
        return self.d_head / 2


class _TwiceForTheRoot(MultiHeadAttention):
    def divisor(self):
        return self.d_head * 2


class _WithoutWO(MultiHeadAttention):
    def mix(self, x):
        return x


class _MergedWithoutTranspose(MultiHeadAttention):
    def merge(self, x):
        batch, _, n, _ = x.shape
        return x.reshape(batch, n, -1)


class _SplitWithoutTranspose(MultiHeadAttention):
    def split(self, x):
        return x.reshape(x.shape[0], self.n_heads, -1, self.d_head)


class _ValuesSplitWithoutTranspose(MultiHeadAttention):
    def project(self, x):
        Q, K, V = super().project(x)
        return (
            Q,
            K,
            V.reshape(V.shape[0], self.n_heads, -1, self.d_head)
            .transpose(1, 2)
            .flatten(start_dim=2),
        )


class _NeverTransposed(_SplitWithoutTranspose, _MergedWithoutTranspose):
    pass


class _HeadsBesidePositions(MultiHeadAttention):
    """Scores between the heads of one position: attention that never leaves its position. Only
    possible without a mask.
    """

    def split(self, x):
        return x.unflatten(-1, (self.n_heads, self.d_head))

    def hide(self, scores, mask):
        return scores

    def merge(self, x):
        return x.flatten(start_dim=2)


class _Interleaved(MultiHeadAttention):
    def split(self, x):
        return x.unflatten(-1, (self.d_head, self.n_heads)).movedim(-1, 1)

    def merge(self, x):
        return x.movedim(1, -1).flatten(start_dim=2)


class _OneHead(MultiHeadAttention):
    def split(self, x):
        return x[:, None]

    def divisor(self):
        return math.sqrt(self.n_heads * self.d_head)


class _MaskIgnored(MultiHeadAttention):
    def hide(self, scores, mask):
        return scores


class _MaskGetsOneMoreAxis(MultiHeadAttention):
    def hide(self, scores, mask):
        return super().hide(scores, None if mask is None else mask.unsqueeze(1))


class _MaskInverted(MultiHeadAttention):
    def hide(self, scores, mask):
        return scores if mask is None else scores.masked_fill(mask, -math.inf)


class _MaskedAfterSoftmax(MultiHeadAttention):
    def forward(self, x, mask=None):
        Q, K, V = (self.split(projected) for projected in self.project(x))
        weights = self.normalise(Q @ K.transpose(-2, -1) / self.divisor())
        return self.mix(self.merge((weights if mask is None else weights * mask) @ V))


class _FirstHeadsMask(MultiHeadAttention):
    def hide(self, scores, mask):
        return super().hide(scores, mask[:, :1] if mask is not None and mask.dim() == 4 else mask)


class _MaskKept(MultiHeadAttention):
    kept: Tensor | None = None

    def hide(self, scores, mask):
        self.kept = self.kept if mask is None else mask
        return super().hide(scores, self.kept)


class _MaskMultiplied(MultiHeadAttention):
    def hide(self, scores, mask):
        return scores if mask is None else scores * mask


class _KeysAndValuesSwapped(MultiHeadAttention):
    def project(self, x):
        return self.W_Q(x), self.W_V(x), self.W_K(x)


class _QueriesAndKeysSwapped(MultiHeadAttention):
    def project(self, x):
        return self.W_K(x), self.W_Q(x), self.W_V(x)


class _KeysForValues(MultiHeadAttention):
    def project(self, x):
        return self.W_Q(x), self.W_K(x), self.W_K(x)


class _QueriesForKeys(MultiHeadAttention):
    def project(self, x):
        return self.W_Q(x), self.W_Q(x), self.W_V(x)


class _SoftmaxOverQueries(MultiHeadAttention):
    def normalise(self, scores):
        return scores.softmax(dim=-2).nan_to_num(0.0)


class _SoftmaxOverQueriesNaN(MultiHeadAttention):
    def normalise(self, scores):
        return scores.softmax(dim=-2)


class _SoftmaxOverHeads(MultiHeadAttention):
    def normalise(self, scores):
        return scores.softmax(dim=1).nan_to_num(0.0)


_OVER_QUERIES = (
    "Your softmax runs over the queries, so a query's weights do not sum to 1. Each query shares "
    "its attention among the keys, the last dimension: dim=-1."
)

_HALF = (
    "Your scores are divided by d_head / 2 or by 2 · d_head. In Python d_head ** 1/2 is (d_head ** "
    "1) / 2, and scores / d_head ** 1/2 divides by d_head and then by 2: powers come before "
    "divisions. Write d_head ** 0.5, or math.sqrt(d_head)."
)


class _Biases(MultiHeadAttention):
    def __init__(self, d_model, n_heads, d_head):
        super().__init__(d_model, n_heads, d_head)
        self.W_Q = nn.Linear(d_model, n_heads * d_head)
        self.W_K = nn.Linear(d_model, n_heads * d_head)
        self.W_V = nn.Linear(d_model, n_heads * d_head)
        self.W_O = nn.Linear(n_heads * d_head, d_model)


class _WidthSharedOut(MultiHeadAttention):
    def __init__(self, d_model, n_heads, d_head):
        super().__init__(d_model, n_heads, d_model // n_heads)


class _OneHeadScaledAsMany(_OneHead):
    def divisor(self):
        return math.sqrt(self.d_head)


class _Residual(MultiHeadAttention):
    def forward(self, x, mask=None):
        return x + super().forward(x, mask)


class _TorchsOwn(nn.MultiheadAttention):
    def __init__(self, d_model, n_heads, d_head):
        super().__init__(d_model, n_heads, bias=False, batch_first=True)


_WIDE = (
    "You attend once with all n_heads · d_head numbers: that is one wide head. Split queries, keys "
    "and values into n_heads heads first, each with its own softmax."
)


class _ScaledByTheHeads(MultiHeadAttention):
    def divisor(self):
        return math.sqrt(self.n_heads)


class _MaskAdded(MultiHeadAttention):
    def hide(self, scores, mask):
        return scores if mask is None else scores + mask


class _MergedInterleaved(MultiHeadAttention):
    def merge(self, x):
        return x.permute(0, 2, 3, 1).flatten(start_dim=2)


class _ScaledByWholeDModelPerHead(MultiHeadAttention):
    def divisor(self):
        return math.sqrt(self.d_model // self.n_heads)


class _InterleavedOnTheWayIn(MultiHeadAttention):
    """Head 0 takes every n_heads-th number; the heads are put side by side as they should."""

    def split(self, x):
        return x.unflatten(-1, (self.d_head, self.n_heads)).movedim(-1, 1)


class _QueriesForValues(MultiHeadAttention):
    def project(self, x):
        return self.W_Q(x), self.W_K(x), self.W_Q(x)


class _SoftmaxOverHeadsNaN(MultiHeadAttention):
    def normalise(self, scores):
        return scores.softmax(dim=1)


class _SoftmaxOverHeadsFinite(_SoftmaxOverHeadsNaN):
    def hide(self, scores, mask):
        return scores if mask is None else scores.masked_fill(~mask, -1e9)


class _WeightsTransposed(MultiHeadAttention):
    def normalise(self, scores):
        return scores.softmax(dim=-1).transpose(-2, -1)


_PER_HEAD = (
    "You divide the scores by √(d_model / n_heads). That is the width of a head where the heads "
    "share out d_model numbers; here it is given, and may be another: divide by √d_head."
)
_EVERY_NTH = (
    "Your heads are interleaved: head 0 takes every n_heads-th number of a projection. It owns the "
    "first d_head of them: cut the last dimension as (n_heads, d_head), in this order."
)
_OVER_HEADS = (
    "Your softmax runs over dim=1, the heads: they compete for each pair of words. Heads work "
    "independently; let the keys compete, dim=-1."
)

HEADS = Question(
    name="hw1.MultiHeadAttention",
    title="Multi-head attention",
    points=4,
    minutes=35,
    difficulty=3,
    chapter="03_multi_head_attention#all-heads-at-once",
    cases=_heads_cases,
    reference=MultiHeadAttention,
    forbidden=READY_MADE,
    misconceptions=(
        Misconception(
            "scaled_by_root_d_model",
            "You divide the scores by √d_model. Each score is a sum over one head's d_head "
            "products, so √d_head is what brings it back to variance 1.",
            _ScaledByDModel,
        ),
        Misconception(
            "scaled_by_all_heads",
            "You divide the scores by √(n_heads · d_head), the width of all heads together. Each "
            "head takes its dot products over its own d_head numbers: divide by √d_head.",
            _ScaledByAllHeads,
        ),
        Misconception(
            "scaled_by_d_model_per_head",
            _PER_HEAD,
            _ScaledByDModelPerHead,
        ),
        Misconception("scaled_by_d_model_per_head", _PER_HEAD, _ScaledByWholeDModelPerHead),
        Misconception(
            "unscaled",
            "Your scores are not divided by √d_head, so each head's softmax is too sharp. Divide "
            "them before the softmax.",
            _Unscaled,
        ),
        Misconception("half_for_the_root", _HALF, _HalfForTheRoot),
        Misconception("half_for_the_root", _HALF, _TwiceForTheRoot),
        Misconception(
            "w_o_forgotten",
            "You return the concatenated heads without W_O. The heads have worked separately; W_O "
            "mixes them and brings n_heads · d_head numbers back to d_model.",
            _WithoutWO,
        ),
        Misconception(
            "merged_without_transpose",
            "The heads are right, but they are merged by reshape alone, which strings one head's "
            "positions together. First transpose to (batch, n, n_heads, d_head), then flatten the "
            "last two dimensions.",
            _MergedWithoutTranspose,
        ),
        Misconception(
            "split_without_transpose",
            "You view the projections as (batch, n_heads, n, d_head) at once, which mixes the "
            "positions. View them as (batch, n, n_heads, d_head), then transpose(1, 2).",
            _SplitWithoutTranspose,
        ),
        Misconception(
            "values_split_without_transpose",
            "Your queries and keys are cut rightly, but the values are viewed as (batch, n_heads, "
            "n, d_head) at once, which mixes the positions. Cut all three alike: view as (batch, "
            "n, n_heads, d_head), then transpose(1, 2).",
            _ValuesSplitWithoutTranspose,
        ),
        Misconception(
            "never_transposed",
            'You split and merge the heads by view or reshape alone. The shapes fit, but a "head" '
            "then holds pieces of several positions: "
            "going in, view as (batch, n, n_heads, d_head) and transpose(1, 2); coming out, "
            "transpose(1, 2) and flatten.",
            _NeverTransposed,
        ),
        Misconception(
            "heads_attend_to_heads",
            "Your queries and keys are (batch, n, n_heads, d_head), so the *heads* of one position "
            "attend to each other and no word sees another. transpose(1, 2) before the dot "
            "products.",
            _HeadsBesidePositions,
        ),
        Misconception(
            "interleaved",
            _EVERY_NTH,
            _Interleaved,
        ),
        Misconception("interleaved", _EVERY_NTH, _InterleavedOnTheWayIn),
        Misconception(
            "one_wide_head",
            _WIDE,
            _OneHead,
        ),
        Misconception(
            "mask_ignored",
            "Right without a mask, but a mask changes nothing in your answer. Set the scores where "
            "it is False to -∞ before the softmax.",
            _MaskIgnored,
        ),
        Misconception(
            "mask_gets_one_more_axis",
            "You give every mask one more axis for the heads, with unsqueeze(1). Here a mask fits "
            "(batch, n_heads, n, n) as it is: (batch, 1, 1, n) has that axis already, and in front "
            "of (n, n) broadcasting adds what is missing by itself.",
            _MaskGetsOneMoreAxis,
        ),
        Misconception(
            "mask_inverted",
            "Your mask works the wrong way round: True hides. True means *may attend*: fill the "
            "scores with -∞ where the mask is False.",
            _MaskInverted,
        ),
        Misconception(
            "masked_after_softmax",
            "With a mask your weights do not sum to 1: the softmax shared the attention among all "
            "keys, and the share of the hidden ones was then thrown away. Hide the scores (with "
            "-∞) before the softmax.",
            _MaskedAfterSoftmax,
        ),
        Misconception(
            "first_head_s_mask_for_all",
            "You use the first head's mask for all heads. A mask may have a dimension for the "
            "heads, (batch, n_heads, n, n), and then each head has its own.",
            _FirstHeadsMask,
        ),
        Misconception(
            "mask_kept",
            "Your layer keeps the mask of an earlier call and uses it where none is given. The "
            "mask belongs to the sentences of one call: use the argument, and store nothing in "
            "forward.",
            _MaskKept,
        ),
        Misconception(
            "hidden_scores_are_zero",
            "A hidden key has the score 0 in your softmax, or a number next to it (1e-9 is not "
            "-1e9; a product with the mask is 0), and e⁰ = 1 still counts. Give it -∞.",
            _MaskMultiplied,
        ),
        Misconception(
            "keys_and_values_swapped",
            "Keys and values have changed places: W_K's output is averaged and W_V's is matched "
            "with the queries. Match with W_K x, average W_V x.",
            _KeysAndValuesSwapped,
        ),
        Misconception(
            "queries_and_keys_swapped",
            "Queries and keys have changed places, so your scores are transposed: W_Q makes the "
            "rows (who asks), W_K the columns (who is asked).",
            _QueriesAndKeysSwapped,
        ),
        Misconception(
            "keys_used_as_values",
            "You average the keys: W_V is never used. What a word is matched by (W_K x) and what "
            "it passes on (W_V x) are separate projections.",
            _KeysForValues,
        ),
        Misconception(
            "queries_used_as_keys",
            "Your keys are made with W_Q: W_K is never used. Then a word's score with another is "
            'the same both ways, and "it" asking about "cat" is "cat" asking about "it". Use W_K '
            "for the keys.",
            _QueriesForKeys,
        ),
        Misconception("softmax_over_queries", _OVER_QUERIES, _SoftmaxOverQueriesNaN),
        Misconception("softmax_over_queries", _OVER_QUERIES, _SoftmaxOverQueries),
        Misconception(
            "softmax_over_heads",
            _OVER_HEADS,
            _SoftmaxOverHeads,
        ),
        Misconception("softmax_over_heads", _OVER_HEADS, _SoftmaxOverHeadsNaN),
        Misconception("softmax_over_heads", _OVER_HEADS, _SoftmaxOverHeadsFinite),
        Misconception(
            "queries_used_as_values",
            "You average the queries: W_V is never used. What a word asks (W_Q x) and what it "
            "passes on (W_V x) are separate projections.",
            _QueriesForValues,
        ),
        Misconception(
            "weights_transposed",
            "You transpose the weights before they meet the values. A row of weights belongs to a "
            "query and sums to 1 over the keys: weights @ V as it is.",
            _WeightsTransposed,
        ),
        Misconception(
            "layers_with_biases",
            "Your linear layers have biases. The four matrices of this question have none: "
            "nn.Linear(…, bias=False).",
            _Biases,
        ),
        Misconception(
            "width_shared_out",
            "Your heads have d_model // n_heads numbers each. That is one choice; here the width "
            "of a head is given, d_head: W_Q, W_K and W_V lead to n_heads · d_head numbers.",
            _WidthSharedOut,
        ),
        Misconception("one_wide_head", _WIDE, _OneHeadScaledAsMany),
        Misconception(
            "residual_added",
            "You add x to the output. The residual connection belongs to the block around the "
            "attention; the attention itself returns what W_O makes of the heads.",
            _Residual,
        ),
        Misconception(
            "built_on_torch_s_own",
            "Your class is nn.MultiheadAttention under another name. It is out of bounds in this "
            "homework, and its parameters are others than the four that the question lists.",
            _TorchsOwn,
        ),
        Misconception(
            "scaled_by_root_n_heads",
            "You divide by √n_heads. How many numbers a dot product adds up is what counts, and "
            "that is d_head.",
            _ScaledByTheHeads,
        ),
        Misconception(
            "mask_added",
            "You add the mask to the scores as it is: True counts as 1 and False as 0, so hidden "
            "keys lose a little and keep some weight. Set their scores to -∞: "
            "masked_fill(~mask, -math.inf).",
            _MaskAdded,
        ),
        Misconception(
            "merged_number_by_number",
            "You put the heads' first numbers side by side, then their second ones. W_O expects "
            "the whole first head, then the second: before flattening, the dimensions must be "
            "(batch, n, n_heads, d_head).",
            _MergedInterleaved,
        ),
        keeping(MultiHeadAttention, "mask"),
        remembering(MultiHeadAttention),
        dropping(MultiHeadAttention),
        always_dropping(MultiHeadAttention),
    ),
    demands=(Demand(PLAIN, 2), Demand(MASKED, 1.5), Demand(OWN, 0.5)),
)
