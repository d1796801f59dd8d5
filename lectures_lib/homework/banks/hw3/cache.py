"""Question 7: self-attention that remembers what it has read."""

import math
from dataclasses import replace
from typing import Any

import torch
from torch import Generator, Tensor, nn

from lectures_lib.homework.banks.inputs import normal, sizes, whole
from lectures_lib.homework.banks.mistakes import (
    ANEW,
    always_dropping,
    dropping,
    keeping,
    remembering,
)
from lectures_lib.homework.questions import Case, Demand, Misconception, Question

ONE = "one new token sees itself and all that came before"
SEVERAL = "of several new tokens, each sees those up to itself, with or without a past"

Past = tuple[Tensor, Tensor]  # keys and values, (batch, n_heads, n_past, d_head) each


def _cache_cases(g: Generator) -> list[Case]:
    cases = []
    for kind in ("start", "one", "some", "a single one"):
        while True:
            batch, n_heads, d_head, n, n_past = sizes(g, 5, 2, 7)
            if not cases or n_heads != cases[0].init["n_heads"]:
                break
        n = 1 if "one" in kind else n
        batch, n_past = (1, 1) if kind == "a single one" else (batch, n_past)
        d_model, max_len = n_heads * d_head, 26 + len(cases)  # also for one who keeps all texts
        state = {
            f"W_{name}.weight": 1.5 * normal(g, d_model, d_model) / d_model**0.5 for name in "QKV"
        }
        state["W_O.weight"] = normal(g, d_model, d_model) / d_model**0.5
        state["positions.weight"] = normal(g, max_len, d_model)
        past = (
            None
            if kind == "start"
            else (
                normal(g, batch, n_heads, n_past, d_head),
                normal(g, batch, n_heads, n_past, d_head),
            )
        )
        # Another text afterwards, and then the first call once more: a layer that keeps the past to
        # itself mixes the texts up.
        other = (
            normal(g, batch, n_heads, n_past, d_head),
            normal(g, batch, n_heads, n_past, d_head),
        )
        again = (
            ((normal(g, batch, n + 1, d_model), other), (normal(g, batch, 2, d_model),))
            if kind == "start"
            else ()
        )
        before = "nothing before them" if past is None else f"behind {n_past} earlier ones"
        cases.append(
            Case(
                (normal(g, batch, n, d_model),)
                if past is None and whole(g, 0, 1)
                else (normal(g, batch, n, d_model), past),
                init={"d_model": d_model, "n_heads": n_heads, "max_len": max_len},
                state=state,
                again=again,
                train=kind == "some",
                gradients="none",  # a layer for writing, which may well run below no_grad
                shows=f"{batch} texts, {n} new token{'s' * (n > 1)} each, {before}; "
                f"{n_heads} heads of {d_head}" + "; then two other texts" * bool(again),
                demands=(ONE if n == 1 else SEVERAL,),
            )
        )
    cases[2] = _anew(g, cases[2])
    return cases


def _anew(g: Generator, case: Case) -> Case:
    """The same object once more, with new inputs of the same sizes, then without a past: nothing
    may be kept from an earlier call.
    """
    x, (keys, values) = case.args
    new = normal(g, *x.shape), (normal(g, *keys.shape), normal(g, *values.shape))
    again = (new, (normal(g, *x.shape),))
    return replace(case, again=again, shows=f"{case.shows}{ANEW}, and without a past")


class CachedAttention(nn.Module):
    """Causal self-attention over new tokens and the keys and values of those before them."""

    hides, over = -math.inf, -1

    def __init__(self, d_model: int, n_heads: int, max_len: int):
        super().__init__()
        self.d_model, self.n_heads = d_model, n_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, d_model, bias=False)
        self.W_V = nn.Linear(d_model, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.positions = nn.Embedding(max_len, d_model)

    def forward(self, x: Tensor, past: Past | None = None) -> Any:
        """(batch, n, d_model) → the same shape, and the keys and values of all tokens so far:
        (output, (keys, values)).
        """
        n, n_past = x.shape[1], 0 if past is None else past[0].shape[2]
        x = x + self.positions.weight[self._first_position(n, n_past) :][:n]
        Q, K, V = self._heads(self.W_Q(x)), self._heads(self.W_K(x)), self._heads(self.W_V(x))
        new = K, V
        if past is not None:
            K, V = self._join(past, new)
        scores = Q @ K.transpose(-2, -1) / self._divisor()
        hidden = self._hidden(n, n_past)
        scores = scores if hidden is None else scores.masked_fill(hidden, self.hides)
        output = (scores.softmax(dim=self.over) @ V).transpose(1, 2).flatten(2)
        return self._answer(self._mixed(output, x), (K, V), new)

    def _mixed(self, output: Tensor, x: Tensor) -> Tensor:
        return self.W_O(output)

    def _heads(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def _divisor(self) -> float:
        return math.sqrt(self.d_model / self.n_heads)

    def _first_position(self, n: int, n_past: int) -> int:
        return n_past

    def _join(self, past: Past, new: Past) -> Past:
        return torch.cat([past[0], new[0]], dim=2), torch.cat([past[1], new[1]], dim=2)

    def _hidden(self, n: int, n_past: int) -> Tensor | None:
        """What may not be seen: (n, n_past + n), True where the key comes after the query."""
        return torch.ones(n, n_past + n, dtype=torch.bool).triu(diagonal=n_past + 1)

    def _answer(self, output: Tensor, all_of_it: Past, new: Past) -> Any:
        return output, all_of_it


class _PastForgotten(CachedAttention):
    def forward(self, x, past=None):
        n_past = 0 if past is None else past[0].shape[2]
        return _At(self, n_past)(x)


class _At:
    """The layer of another's weights, without a past, its first position here."""

    def __init__(self, layer, n_past):
        self.layer, self.n_past = layer, n_past

    def __call__(self, x):
        shift = (
            self.layer.positions.weight[self.n_past :][: x.shape[1]]
            - self.layer.positions.weight[: x.shape[1]]
        )
        return CachedAttention.forward(self.layer, x + shift)


class _PastForgottenAltogether(CachedAttention):
    def forward(self, x, past=None):
        return super().forward(x)


class _KeptInside(CachedAttention):
    """Ignores the past that it is given, and goes on from what its own calls have left."""

    kept: Past | None = None

    def forward(self, x, past=None):
        output, self.kept = super().forward(x, self.kept)
        return output, self.kept


class _KeptWhereNoneIsGiven(CachedAttention):
    """Takes the past that it is given, and where there is none what its own last call has left."""

    kept: Past | None = None

    def forward(self, x, past=None):
        kept = self.kept if self.kept is not None and len(self.kept[0]) == len(x) else None
        output, self.kept = super().forward(x, kept if past is None else past)
        return output, self.kept


class _PositionsRestart(CachedAttention):
    def _first_position(self, n, n_past):
        return 0


class _PositionsOneOff(CachedAttention):
    def _first_position(self, n, n_past):
        return n_past + 1


class _PositionsBehind(CachedAttention):
    def _first_position(self, n, n_past):
        return max(n_past - 1, 0)


class _NoPositions(CachedAttention):
    def forward(self, x, past=None):
        n_past = 0 if past is None else past[0].shape[2]
        return super().forward(x - self.positions.weight[n_past:][: x.shape[1]], past)


class _NoMask(CachedAttention):
    def _hidden(self, n, n_past):
        return None


class _MaskFromKey0(CachedAttention):
    def _hidden(self, n, n_past):
        return torch.ones(n, n_past + n, dtype=torch.bool).triu(diagonal=1)


class _MaskHidesItself(CachedAttention):
    """Only behind a past: without one the first token would see nothing."""

    def _hidden(self, n, n_past):
        return torch.ones(n, n_past + n, dtype=torch.bool).triu(diagonal=n_past if n_past else 1)


class _SquareMask(CachedAttention):
    """A mask (n, n) for n × (n_past + n) scores."""

    def _hidden(self, n, n_past):
        return torch.ones(n, n, dtype=torch.bool).triu(diagonal=1)


class _MaskWithoutPastOnly(CachedAttention):
    """One that goes token by token after the first call needs no mask; several at once do."""

    def _hidden(self, n, n_past):
        return None if n_past else super()._hidden(n, n_past)


class _NewFirst(CachedAttention):
    def _join(self, past, new):
        return super()._join(new, past)


class _NewFirstMaskToMatch(_NewFirst):
    def _hidden(self, n, n_past):
        hidden = super()._hidden(n, n_past)
        return torch.cat([hidden[:, n_past:], hidden[:, :n_past]], dim=1)


class _JoinedAlongHeads(CachedAttention):
    def _join(self, past, new):
        return torch.cat([past[0], new[0]], dim=1), torch.cat([past[1], new[1]], dim=1)


class _OldValuesForgotten(CachedAttention):
    def _join(self, past, new):
        return torch.cat([past[0], new[0]], dim=2), new[1]


class _OnlyNewReturned(CachedAttention):
    def _answer(self, output, all_of_it, new):
        return output, new


class _PastReturnedAsItWas(CachedAttention):
    def forward(self, x, past=None):
        output, everything = super().forward(x, past)
        return output, everything if past is None else past


class _OutputOnly(CachedAttention):
    def _answer(self, output, all_of_it, new):
        return output


class _ThreeThings(CachedAttention):
    def _answer(self, output, all_of_it, new):
        return output, *all_of_it


class _LastOutputOnly(CachedAttention):
    def _answer(self, output, all_of_it, new):
        return output[:, -1:], all_of_it


class _DividedByRootDModel(CachedAttention):
    def _divisor(self):
        return math.sqrt(self.d_model)


class _NotDivided(CachedAttention):
    def _divisor(self):
        return 1.0


class _HeadsByView(CachedAttention):
    def _heads(self, x):
        return x.reshape(x.shape[0], self.n_heads, x.shape[1], -1)


class _ValuesWithoutPositions(CachedAttention):
    def forward(self, x, past=None):
        n_past = 0 if past is None else past[0].shape[2]
        with_positions = x + self.positions.weight[n_past:][: x.shape[1]]
        Q, K, V = (
            self._heads(self.W_Q(with_positions)),
            self._heads(self.W_K(with_positions)),
            self._heads(self.W_V(x)),
        )
        if past is not None:
            K, V = self._join(past, (K, V))
        scores = (Q @ K.transpose(-2, -1) / self._divisor()).masked_fill(
            self._hidden(x.shape[1], n_past), -torch.inf
        )
        return self.W_O((scores.softmax(dim=-1) @ V).transpose(1, 2).flatten(2)), (K, V)


class _Interleaved(CachedAttention):
    """Head 0 takes every n_heads-th number; its output goes back to the same places."""

    def forward(self, x, past=None):
        n, n_past = x.shape[1], 0 if past is None else past[0].shape[2]
        x = x + self.positions.weight[n_past:][:n]
        Q, K, V = (
            W(x).unflatten(-1, (-1, self.n_heads)).movedim(-1, 1)
            for W in (self.W_Q, self.W_K, self.W_V)
        )
        if past is not None:
            K, V = self._join(past, (K, V))
        scores = (Q @ K.transpose(-2, -1) / self._divisor()).masked_fill(
            self._hidden(n, n_past), -torch.inf
        )
        return self.W_O((scores.softmax(dim=-1) @ V).movedim(1, -1).flatten(2)), (K, V)


class _KeysWithoutPositions(CachedAttention):
    """Positions reach the queries only."""

    def forward(self, x, past=None):
        n_past = 0 if past is None else past[0].shape[2]
        positions = self.positions.weight[n_past:][: x.shape[1]]
        Q, K, V = (
            self._heads(self.W_Q(x + positions)),
            self._heads(self.W_K(x)),
            self._heads(self.W_V(x)),
        )
        if past is not None:
            K, V = self._join(past, (K, V))
        scores = (Q @ K.transpose(-2, -1) / self._divisor()).masked_fill(
            self._hidden(x.shape[1], n_past), -torch.inf
        )
        return self.W_O((scores.softmax(dim=-1) @ V).transpose(1, 2).flatten(2)), (K, V)


_FORGOTTEN = (
    "The new tokens attend to each other only: the past that is given has no influence. Put the "
    "old keys and values in front of the new ones, torch.cat([old, new], dim=2), and let the new "
    "queries attend to all of them."
)
_OFF = (
    "Your positions are off by one. After n_past tokens, at positions 0 … n_past - 1, the first "
    "new one stands at position n_past."
)


class _MergedWithoutTranspose(CachedAttention):
    def forward(self, x, past=None):
        n, n_past = x.shape[1], 0 if past is None else past[0].shape[2]
        x = x + self.positions.weight[n_past:][:n]
        Q, K, V = self._heads(self.W_Q(x)), self._heads(self.W_K(x)), self._heads(self.W_V(x))
        if past is not None:
            K, V = self._join(past, (K, V))
        scores = Q @ K.transpose(-2, -1) / self._divisor()
        weights = scores.masked_fill(self._hidden(n, n_past), -torch.inf).softmax(dim=-1)
        return self.W_O((weights @ V).reshape(x.shape)), (K, V)


class _OnePosition(CachedAttention):
    def forward(self, x, past=None):
        n, n_past = x.shape[1], 0 if past is None else past[0].shape[2]
        places = self.positions.weight
        return super().forward(x + places[n_past] - places[n_past:][:n], past)


class _PositionsAtTheBeginning(CachedAttention):
    def forward(self, x, past=None):
        if past is not None:
            x = x - self.positions.weight[past[0].shape[2] :][: x.shape[1]]
        return super().forward(x, past)


class _PositionsOneOffBehindAPast(CachedAttention):
    def _first_position(self, n, n_past):
        return n_past + 1 if n_past else 0


class _PastHandedOn(CachedAttention):
    def _hidden(self, n, n_past):
        hidden = super()._hidden(n, n_past)
        hidden[:, :n_past] = True
        return hidden


class _ValuesFirst(CachedAttention):
    def _answer(self, output, all_of_it, new):
        return output, all_of_it[::-1]


class _PastCountedByHeads(CachedAttention):
    def forward(self, x, past=None):
        if past is None:
            return super().forward(x)
        n, places = x.shape[1], self.positions.weight
        other = places[past[0].shape[1] :][:n] - places[past[0].shape[2] :][:n]
        return super().forward(x + other, past)


class _CountsItself(CachedAttention):
    """How many tokens were read is kept in `self`."""

    seen = 0

    def _first_position(self, n, n_past):
        first, self.seen = self.seen, self.seen + n
        return first


class _MaskHidesItselfAlways(CachedAttention):
    def _hidden(self, n, n_past):
        return torch.ones(n, n_past + n, dtype=torch.bool).triu(diagonal=n_past)


class _MaskOneTooWide(CachedAttention):
    def _hidden(self, n, n_past):
        return torch.ones(n, n_past + n, dtype=torch.bool).triu(diagonal=n_past + 2)


class _MaskInverted(CachedAttention):
    def _hidden(self, n, n_past):
        return ~super()._hidden(n, n_past)


class _HiddenScoresZero(CachedAttention):
    hides = 0.0


class _SoftmaxOverQueries(CachedAttention):
    over = -2


class _WithoutWO(CachedAttention):
    def _mixed(self, output, x):
        return output


class _ResidualAdded(CachedAttention):
    """x with its positions, as it stands when the layer is done."""

    def _mixed(self, output, x):
        return x + self.W_O(output)


class _InterleavedOnTheWayIn(CachedAttention):
    """Head 0 takes every n_heads-th number; its output is laid down in one piece."""

    def _heads(self, x):
        return x.unflatten(-1, (-1, self.n_heads)).movedim(-1, 1)


_NOT_ITSELF = (
    "Your new tokens do not see themselves, at least behind a past; the first of a text would then "
    "see nothing at all, and get NaN. Token i sees the past and the new tokens up to and including "
    "i."
)
_EVERY_NTH = (
    "Your heads are interleaved: head 0 takes every n_heads-th number of a projection. It owns the "
    "first d_head of them: view as (batch, n, n_heads, d_head), in this order."
)

_MISTAKES = (
    Misconception("past_forgotten", _FORGOTTEN, _PastForgotten),
    Misconception(
        "past_kept_inside",
        "Your layer goes on from what it kept of its own earlier calls, and the past that it is "
        "given has no influence. The past of each text comes with the call, as an argument: the "
        "same layer reads several texts.",
        _KeptInside,
    ),
    Misconception(
        "past_kept_where_none_is_given",
        "Where no past is given, your layer takes the one of its own last call. No past means that "
        "a text begins: the same layer reads several texts, and must keep nothing of them to "
        "itself.",
        _KeptWhereNoneIsGiven,
    ),
    Misconception("past_forgotten", _FORGOTTEN, _PastForgottenAltogether),
    Misconception(
        "positions_restart",
        "Your positions start from 0 in every call, so every token that comes by itself thinks it "
        "is the first of the text. The new tokens stand behind the old ones: positions n_past … "
        "n_past + n - 1.",
        _PositionsRestart,
    ),
    Misconception("positions_off_by_one", _OFF, _PositionsOneOff),
    Misconception("positions_off_by_one", _OFF, _PositionsBehind),
    Misconception(
        "no_positions",
        "The position vectors are never added: the layer cannot tell word order. Add positions "
        "n_past … n_past + n - 1 to x first.",
        _NoPositions,
    ),
    Misconception(
        "positions_for_queries_only",
        "Only your queries know their positions. Add them to x first; queries, keys and values are "
        "all made from the sum.",
        _KeysWithoutPositions,
    ),
    Misconception(
        "values_without_positions",
        "Your values do not know their positions. Add them to x first; queries, keys and values "
        "are all made from the sum.",
        _ValuesWithoutPositions,
    ),
    Misconception(
        "interleaved",
        _EVERY_NTH,
        _Interleaved,
    ),
    Misconception(
        "no_mask",
        "Your new tokens see each other's future. One new token needs no mask, for it is the last; "
        "but several at once do: new token i may look at the past and at new tokens 0 … i.",
        _NoMask,
    ),
    Misconception(
        "no_mask_behind_a_past",
        "You mask only where there is no past. When several tokens come behind one, each must "
        "still not see those after it.",
        _MaskWithoutPastOnly,
    ),
    Misconception(
        "mask_aligned_at_key_0",
        "Your triangle begins at key 0, so the first new token sees one key, the oldest. It stands "
        "at position n_past and sees n_past + 1 keys: move the diagonal by n_past.",
        _MaskFromKey0,
    ),
    Misconception(
        "square_mask",
        "Your mask is (n, n), for the new tokens only, and does not fit the n × (n_past + n) "
        "scores. It needs n_past more columns on the left, all of which may be seen.",
        _SquareMask,
    ),
    Misconception(
        "cannot_see_itself",
        _NOT_ITSELF,
        _MaskHidesItself,
    ),
    Misconception("cannot_see_itself", _NOT_ITSELF, _MaskHidesItselfAlways),
    Misconception(
        "sees_the_next_token",
        "Your triangle is one diagonal too wide: each new token sees the one behind it. New token "
        "i sees the past and the new tokens 0 … i: tril(diagonal=n_past).",
        _MaskOneTooWide,
    ),
    Misconception(
        "mask_inverted",
        "Your mask works the wrong way round: it hides what may be seen, and a token that may see "
        "everything gets NaN. masked_fill fills where its mask is True: give it ~mask.",
        _MaskInverted,
    ),
    Misconception(
        "hidden_scores_are_zero",
        "A hidden key gets the score 0, and e⁰ = 1 still counts. Give it -∞ before the softmax.",
        _HiddenScoresZero,
    ),
    Misconception(
        "softmax_over_queries",
        "Your softmax is over the queries. For each query the weights of its *keys* sum to 1: "
        "dim=-1.",
        _SoftmaxOverQueries,
    ),
    Misconception(
        "w_o_forgotten",
        "Your cache is right, but W_O is missing: apply it to the heads side by side.",
        _WithoutWO,
    ),
    Misconception(
        "residual_added",
        "You add x to the output. The residual belongs to the block around this layer: return what "
        "W_O gives.",
        _ResidualAdded,
    ),
    Misconception(
        "interleaved",
        _EVERY_NTH,
        _InterleavedOnTheWayIn,
    ),
    Misconception(
        "new_keys_first",
        "You put the new keys before the old ones. The cache is in reading order, and the mask "
        "relies on it: torch.cat([old, new], dim=2).",
        _NewFirst,
    ),
    Misconception(
        "new_keys_first",
        "You put the new keys before the old ones. The cache is in reading order, and the mask "
        "relies on it: torch.cat([old, new], dim=2).",
        _NewFirstMaskToMatch,
    ),
    Misconception(
        "joined_along_heads",
        "You join old and new keys along dimension 1, which is the heads. (batch, n_heads, n, "
        "d_head): the tokens are dimension 2.",
        _JoinedAlongHeads,
    ),
    Misconception(
        "old_values_forgotten",
        "You join the keys but not the values: then there are weights for more tokens than there "
        "are values. Both grow.",
        _OldValuesForgotten,
    ),
    Misconception(
        "only_new_returned",
        "The output is right, but you return the keys and values of the new tokens only, and the "
        "next call will not know the rest. Return old and new together.",
        _OnlyNewReturned,
    ),
    Misconception(
        "cache_not_extended",
        "The output is right, but you return the past as it was: the next call will not know this "
        "one's tokens. Return old and new together.",
        _PastReturnedAsItWas,
    ),
    Misconception(
        "cache_not_returned",
        "You return the output only. Without the keys and values the next call has nothing to go "
        "on from: return output, (keys, values).",
        _OutputOnly,
    ),
    Misconception(
        "three_things_returned",
        "You return three things. Keys and values belong together, as they come in: return output, "
        "(keys, values).",
        _ThreeThings,
    ),
    Misconception(
        "last_output_only",
        "You return the output of the last new token only. The next layer needs all of them: "
        "(batch, n, d_model).",
        _LastOutputOnly,
    ),
    Misconception(
        "divided_by_root_d_model",
        "You divide by √d_model. A score is a sum over the d_head numbers of one head: divide by "
        "√d_head.",
        _DividedByRootDModel,
    ),
    Misconception("unscaled", "Your scores are not divided by √d_head.", _NotDivided),
    Misconception(
        "view_without_transpose",
        "Your heads are mixed up: a view straight to (batch, n_heads, n, d_head) gives whole "
        "tokens to a head. View as (batch, n, n_heads, d_head), then transpose.",
        _HeadsByView,
    ),
    Misconception(
        "heads_merged_without_transpose",
        "Your cache is right; your output is not: you lay (batch, n_heads, n, d_head) out as "
        "(batch, n, d_model) in one go, which mixes the tokens. Transpose heads and tokens first, "
        "then flatten the last two.",
        _MergedWithoutTranspose,
    ),
    Misconception(
        "new_tokens_at_one_position",
        "All new tokens of a call get the same position, n_past. They stand behind each other: at "
        "n_past, n_past + 1, …, n_past + n - 1.",
        _OnePosition,
    ),
    Misconception(
        "positions_at_the_beginning_only",
        "You add positions only where there is no past. Later tokens have a position, too: the "
        "first of them n_past.",
        _PositionsAtTheBeginning,
    ),
    Misconception(
        "positions_off_by_one",
        "Your positions are off by one. After n_past tokens, at positions 0 … n_past - 1, the "
        "first new one stands at position n_past.",
        _PositionsOneOffBehindAPast,
    ),
    Misconception(
        "past_not_looked_at",
        "You hand on all keys and values, and that is right; but your new tokens look only at each "
        "other. Put the old keys and values in front before you attend.",
        _PastHandedOn,
    ),
    Misconception(
        "values_before_keys",
        "You return the values first. The next call takes a pair (keys, values).",
        _ValuesFirst,
    ),
    Misconception(
        "tokens_counted_in_self",
        "You keep count of the tokens in `self`. The layer is called with other texts as well, and "
        "with a past that it has not read itself: n_past is told by the past alone, "
        "past[0].shape[2], or 0 without one.",
        _CountsItself,
    ),
    Misconception(
        "past_counted_along_the_heads",
        "You take the number of heads for n_past. Keys are (batch, n_heads, n_past, d_head): "
        "n_past is past[0].shape[2].",
        _PastCountedByHeads,
    ),
    keeping(CachedAttention, "past"),
    remembering(CachedAttention),
    dropping(CachedAttention),
    always_dropping(CachedAttention, 0.1),
)

CACHE = Question(
    name="hw3.CachedAttention",
    title="Attention with a memory",
    points=3,
    minutes=40,
    difficulty=3,
    chapter="09b_cache#a-cache-the-same-words-less-work",
    cases=_cache_cases,
    reference=CachedAttention,
    misconceptions=_MISTAKES,
    demands=(Demand(ONE, 2), Demand(SEVERAL, 1)),
)
