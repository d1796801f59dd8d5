"""Homework 1 answered wrongly, as students write it: each must get the name of its mistake.

`STUDENTS` maps a question's full name to {mistake: [answers]}. Each answer stands alone, but for
the helpers that some share.
"""

import math
import warnings

import torch
import torch.nn.functional as F
from torch import nn


def queries_share_by_hand(Q, K, V):
    powers = torch.exp(torch.matmul(Q, K.transpose(-1, -2)) / K.size(-1) ** 0.5)
    return (powers / powers.sum(dim=-2, keepdim=True)) @ V


def keys_counted(Q, K, V):
    scores = torch.einsum("...id,...jd->...ij", Q, K)
    return F.softmax(scores / math.sqrt(scores.shape[-1]), dim=-1) @ V


def both_divided(Q, K, V):
    d_k = Q.shape[-1]
    return torch.softmax((Q / d_k**0.5) @ (K / d_k**0.5).transpose(-2, -1), dim=-1) @ V


def third_dimension(Q, K, V):
    scores = torch.matmul(Q, K.transpose(-2, -1)) / math.sqrt(Q.size(-1))
    return torch.matmul(torch.softmax(scores, dim=2), V)


def transposed_one_two(Q, K, V):
    return torch.softmax(torch.matmul(Q, K.transpose(1, 2)) / math.sqrt(Q.size(-1)), dim=-1) @ V


def capital_t(Q, K, V):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of K.T in more than two dimensions
        scores = torch.matmul(Q, K.T) / math.sqrt(K.size(-1))
    return F.softmax(scores, -1) @ V


def weights_scaled(Q, K, V):
    return torch.softmax(Q @ K.mT, -1) @ (V / math.sqrt(K.shape[-1]))


def hidden_scores_zero(scores, mask):
    return F.softmax(scores.masked_fill(mask == 0, 0.0), dim=-1)


def big_negative_number(scores, mask):
    return torch.where(mask, scores, torch.tensor(-1e9)).softmax(-1)


def hidden_weights_zero(scores, mask):
    return torch.softmax(scores, dim=-1).masked_fill(~mask, 0)


def exponentials(scores, mask):
    e = torch.where(mask, torch.exp(scores), 0.0)
    return e / e.sum(-1, keepdim=True)


def largest_of_all(scores, mask):
    e = torch.exp(scores - scores.max(-1, keepdim=True)[0]) * mask.float()
    return torch.nan_to_num(e / e.sum(-1, keepdim=True))


def minus_hundred(scores, mask):
    return F.softmax(scores.masked_fill(~mask, -100), dim=-1)


def true_hides(scores, mask):
    return torch.where(mask, float("-inf"), scores).softmax(dim=-1)


def nothing_about_empty_rows(scores, mask):
    penalty = torch.zeros(mask.shape).masked_fill_(mask.logical_not(), float("-inf"))
    return (scores + penalty).softmax(dim=-1)


def strictly_before(n, n_past=0):
    return torch.arange(n_past + n)[None, :] < torch.arange(n_past, n_past + n)[:, None]


def without_offset(n, n_past=0):
    return torch.arange(n)[:, None] >= torch.arange(n_past + n)[None]


def upper_triangle(n, n_past=0):
    return torch.triu(torch.ones(n, n_past + n), diagonal=n_past + 1).bool()


def whole_square(n, n_past=0):
    return torch.tril(torch.ones(n + n_past, n + n_past, dtype=torch.bool))


def additive_triu(n, n_past=0):
    return torch.triu(torch.full((n, n_past + n), -math.inf), diagonal=n_past + 1)


def up_to_the_length(lengths, n, side="right"):
    steps = torch.arange(n).repeat(len(lengths), 1)
    words = steps <= lengths[:, None] if side == "right" else steps >= (n - lengths)[:, None] - 1
    return words.reshape(-1, 1, 1, n)


def right_only(lengths, n, side="right"):
    return torch.stack([torch.arange(n) < length for length in lengths])[:, None, None]


def two_dimensional(lengths, n, side="right"):
    mask = torch.zeros(len(lengths), n, dtype=torch.bool)
    for b, length in enumerate(lengths):
        mask[b, :length] = True
    return mask if side == "right" else mask.flip(1)


def down_the_queries(lengths, n, side="right"):
    mask = two_dimensional(lengths, n, side)
    return mask.unsqueeze(1).unsqueeze(3)


def padding_true(lengths, n, side="right"):
    return two_dimensional(lengths, n, side).logical_not().view(-1, 1, 1, n)


def strict_on_the_left(lengths, n, side="right"):
    steps = torch.arange(n)
    words = steps < lengths[:, None] if side == "right" else steps > n - lengths[:, None]
    return words[:, None, None, :]


def heads_by_reshape(x, n_heads):
    *batch, n, width = x.shape
    return x.view(*batch, n_heads, n, width // n_heads)


def every_other_number(x, n_heads):
    return torch.stack([x[..., head::n_heads] for head in range(n_heads)], dim=-3)


def dims_one_and_two(x, n_heads):
    pieces = x.reshape(*x.shape[:-1], n_heads, x.shape[-1] // n_heads)
    return torch.swapaxes(pieces, 1, 2)


def stacked_behind(x, n_heads):
    return torch.stack(torch.chunk(x, n_heads, dim=-1), dim=-2)


class Student(nn.Module):
    """What the wrong layers below have in common."""

    def __init__(self, d_model, n_heads, d_head):
        super().__init__()
        self.d_model, self.h, self.d = d_model, n_heads, d_head
        for name in ("W_Q", "W_K", "W_V"):
            setattr(self, name, nn.Linear(d_model, n_heads * d_head, bias=False))
        self.W_O = nn.Linear(n_heads * d_head, d_model, bias=False)

    def cut(self, y):
        return y.view(*y.shape[:2], self.h, self.d).permute(0, 2, 1, 3)


class HeadsReshapedBack(Student):
    def forward(self, x, mask=None):
        q, k, v = self.cut(self.W_Q(x)), self.cut(self.W_K(x)), self.cut(self.W_V(x))
        scores = torch.einsum("bhid,bhjd->bhij", q, k) / self.d**0.5
        scores = scores if mask is None else scores.masked_fill(mask == 0, -1e9)
        out = torch.einsum("bhij,bhjd->bhid", F.softmax(scores, -1), v)
        return self.W_O(out.contiguous().view(x.shape[0], x.shape[1], self.h * self.d))


class RootOfDModel(Student):
    def forward(self, x, mask=None):
        q, k, v = self.cut(self.W_Q(x)), self.cut(self.W_K(x)), self.cut(self.W_V(x))
        scores = (q * self.d_model**-0.5) @ k.mT
        scores = scores if mask is None else torch.where(mask, scores, -1e9)
        return self.W_O((F.softmax(scores, -1) @ v).permute(0, 2, 1, 3).flatten(2))


class NoTransposeAtAll(Student):
    def forward(self, x, mask=None):
        b, n, _ = x.shape
        q, k, v = (W(x).view(b, self.h, n, self.d) for W in (self.W_Q, self.W_K, self.W_V))
        scores = q @ k.transpose(2, 3) / math.sqrt(self.d)
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        return self.W_O((torch.softmax(scores, 3) @ v).reshape(b, n, self.h * self.d))


class LastLayerMissing(Student):
    def forward(self, x, mask=None):
        q, k, v = self.cut(self.W_Q(x)), self.cut(self.W_K(x)), self.cut(self.W_V(x))
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return out.permute(0, 2, 1, 3).flatten(2)


class MaskNeverUsed(Student):
    def forward(self, x, mask=None):
        q, k, v = self.cut(self.W_Q(x)), self.cut(self.W_K(x)), self.cut(self.W_V(x))
        return self.W_O(F.scaled_dot_product_attention(q, k, v).permute(0, 2, 1, 3).flatten(2))


class OneProjectionTwice(Student):
    def forward(self, x, mask=None):
        q, kv = self.cut(self.W_Q(x)), self.cut(self.W_K(x))
        return self.W_O(
            F.scaled_dot_product_attention(q, kv, kv, attn_mask=mask).permute(0, 2, 1, 3).flatten(2)
        )


def thousand(n, d_model, start=0):
    rows = [
        [(start + p) / 1000 ** (2 * (c // 2) / d_model) for c in range(d_model)] for p in range(n)
    ]
    return torch.tensor(
        [[math.cos(a) if c % 2 else math.sin(a) for c, a in enumerate(row)] for row in rows]
    )


def halves(n, d_model, start=0):
    angles = torch.arange(start, start + n)[:, None] * torch.exp(
        -math.log(1e4) * torch.arange(0, d_model, 2) / d_model
    )
    return torch.cat([angles.sin(), angles.cos()[:, : d_model // 2]], dim=-1)


def column_in_exponent(n, d_model, start=0):
    table = torch.zeros(n, d_model)
    for p in range(n):
        for i in range(d_model):
            table[p, i] = (math.sin, math.cos)[i % 2]((start + p) / 10000 ** (i / d_model))
    return table


def twice_doubled(n, d_model, start=0):
    i = torch.arange(0, d_model, 2)
    angles = torch.arange(start, start + n)[:, None] / torch.pow(10000, 2 * i / d_model)
    table = torch.zeros(n, d_model)
    table[:, ::2], table[:, 1::2] = torch.sin(angles), torch.cos(angles)[:, : d_model // 2]
    return table


def even_only(n, d_model, start=0):
    angles = torch.arange(start, start + n).unsqueeze(1) * torch.exp(
        torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model)
    )
    table = torch.zeros(n, d_model)
    table[:, 0::2] = torch.sin(angles)
    table[:, 1::2] = torch.cos(angles)
    return table


def from_zero_always(n, d_model, start=0):
    angles = torch.arange(n)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angles.sin(), angles.cos()], -1).view(n, -1)[:, :d_model]


def reading(words):
    return F.softmax(words @ words.T / words.shape[1] ** 0.5, dim=1) @ words


def positions_shuffled_too(X, permutation, positions=None):
    words = X if positions is None else X + positions
    home = torch.zeros_like(words)
    home[permutation] = reading(words[permutation])
    return home - reading(words)


def seat_by_seat(X, permutation, positions=None):
    positions = 0 if positions is None else positions
    return reading(X[permutation] + positions) - reading(X + positions)


def permuted_again(X, permutation, positions=None):
    positions = 0 if positions is None else positions
    return reading(X[permutation] + positions).index_select(0, permutation) - reading(X + positions)


def original_shuffled(X, permutation, positions=None):
    positions = 0 if positions is None else positions
    return reading(X[permutation] + positions) - reading(X + positions)[permutation]


def original_minus_shuffled(X, permutation, positions=None):
    positions = 0 if positions is None else positions
    return reading(X + positions) - reading(X[permutation] + positions)[torch.argsort(permutation)]


def half_by_precedence(Q, K, V):
    d_k = Q.shape[-1]
    return F.softmax(Q @ K.mT / (d_k**1 / 2), dim=-1) @ V


def twice_by_precedence(Q, K, V):
    return F.softmax(Q @ K.mT / Q.shape[-1] ** 1 / 2, dim=-1) @ V


def nearly_zero(scores, mask):
    weights = F.softmax(scores.masked_fill(mask == 0, 1e-9), dim=-1)
    return torch.where(mask.any(-1, keepdim=True), weights, 0.0)


def as_wide_as_the_longest(lengths, n, side="right"):
    places = torch.arange(lengths.max())
    words = (
        places < lengths[:, None] if side == "right" else places >= lengths.max() - lengths[:, None]
    )
    return words[:, None, None]


def from_its_length_on(lengths, n, side="right"):
    places = torch.arange(n)
    return (places < lengths[:, None] if side == "right" else places >= lengths[:, None])[
        :, None, None
    ]


def sides_the_other_way(lengths, n, side="right"):
    places = torch.arange(n)
    return (places < lengths[:, None] if side == "left" else places >= n - lengths[:, None])[
        :, None, None
    ]


def batch_flipped(lengths, n, side="right"):
    words = torch.arange(n) < lengths[:, None]
    return (words if side == "right" else words.flip(0)).view(len(lengths), 1, 1, n)


def stacked_at_one(x, n_heads):
    return torch.stack(torch.chunk(x, n_heads, -1), 1)


class NearlyZero(RootOfDModel):
    """Hides with 1e-9 in place of -1e9."""

    def forward(self, x, mask=None):
        def cut(y):
            return y.unflatten(-1, (self.h, -1)).transpose(1, 2)

        Q, K, V = cut(self.W_Q(x)), cut(self.W_K(x)), cut(self.W_V(x))
        scores = Q @ K.mT / Q.shape[-1] ** 0.5
        scores = scores if mask is None else scores.masked_fill(mask == 0, 1e-9)
        return self.W_O((scores.softmax(-1) @ V).transpose(1, 2).flatten(2))


def width_made_even(n, d_model, start=0):
    width = d_model + d_model % 2
    angles = torch.arange(start, start + n)[:, None] / 10000 ** (torch.arange(0, width, 2) / width)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :d_model]


def arange_to_n(n, d_model, start=0):
    angles = torch.arange(start, n)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :d_model]


def without_attention(X, permutation, positions=None):
    P = torch.zeros_like(X) if positions is None else positions
    return (X[permutation] + P)[permutation.argsort()] - (X + P)


def seats_for_words(X, permutation, positions=None):
    P = torch.zeros_like(X) if positions is None else positions
    shuffled = torch.empty_like(X)
    shuffled[permutation] = X
    return reading(shuffled + P)[permutation] - reading(X + P)


def attention_root_cut_to_a_whole_number(Q, K, V):
    d_k = K.shape[-1]
    scores = Q @ K.transpose(-2, -1) / int(math.sqrt(d_k))
    return torch.softmax(scores, dim=-1) @ V


def softmax_finite_number_for_minus_infinity(scores, mask):
    filled = scores.masked_fill(~mask, -1e4)
    weights = torch.softmax(filled, dim=-1)
    return weights * mask.any(dim=-1, keepdim=True) * mask


def softmax_one_maximum_for_all_rows(scores, mask):
    filled = scores.masked_fill(~mask, float("-inf"))
    if not mask.any():
        return torch.zeros_like(scores)
    e = torch.exp(filled - filled.max())
    return e / e.sum(dim=-1, keepdim=True).clamp(min=1e-38)


def softmax_scores_clamped(scores, mask):
    e = torch.exp(scores.clamp(-80, 80)) * mask
    total = e.sum(dim=-1, keepdim=True)
    total = total.masked_fill(~mask.any(dim=-1, keepdim=True), 1.0)
    return e / total


def causal_diagonal_moved_by_one(n, n_past=0):
    diagonal = 1 if n_past else 0
    return torch.ones(n, n_past + n).tril(diagonal=diagonal).bool()


def causal_cannot_see_itself_behind_a_past(n, n_past=0):
    if n_past == 0:
        return torch.tril(torch.ones(n, n)) == 1
    keys = torch.arange(n_past + n)
    queries = torch.arange(n_past, n_past + n)
    return keys[None, :] < queries[:, None]


def padding_counted_from_the_longest(lengths, n, side="right"):
    positions = torch.arange(n)
    mask = (
        positions < lengths[:, None]
        if side == "right"
        else positions >= (lengths.max() - lengths)[:, None]
    )
    return mask[:, None, None]


def padding_batch_turned_over(lengths, n, side="right"):
    mask = torch.arange(n)[None, :] < lengths[:, None]
    if side == "left":
        mask = mask.flip(0, 1)
    return mask[:, None, None, :]


class HeadsScaledByDModelPerHead(nn.Module):
    def __init__(self, d_model, n_heads, d_head):
        super().__init__()
        self.n_heads = n_heads
        self.d_k = d_model / n_heads
        self.W_Q = nn.Linear(d_model, n_heads * d_head, bias=False)
        self.W_K = nn.Linear(d_model, n_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_model, n_heads * d_head, bias=False)
        self.W_O = nn.Linear(n_heads * d_head, d_model, bias=False)

    def forward(self, x, mask=None):
        Q, K, V = [
            W(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for W in (self.W_Q, self.W_K, self.W_V)
        ]
        scores = Q @ K.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        out = scores.softmax(dim=-1) @ V
        return self.W_O(out.transpose(1, 2).flatten(2))


class HeadsMaskedAfterSoftmax(nn.Module):
    def __init__(self, d_model, n_heads, d_head):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_head
        self.W_Q = nn.Linear(d_model, n_heads * d_head, bias=False)
        self.W_K = nn.Linear(d_model, n_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_model, n_heads * d_head, bias=False)
        self.W_O = nn.Linear(n_heads * d_head, d_model, bias=False)

    def forward(self, x, mask=None):
        batch, n, _ = x.shape
        Q = self.W_Q(x).view(batch, n, self.n_heads, -1).transpose(1, 2)
        K = self.W_K(x).view(batch, n, self.n_heads, -1).transpose(1, 2)
        V = self.W_V(x).view(batch, n, self.n_heads, -1).transpose(1, 2)
        weights = torch.softmax(Q @ K.mT / self.d_head**0.5, dim=-1)
        if mask is not None:
            weights = weights * mask
        out = (weights @ V).transpose(1, 2).reshape(batch, n, -1)
        return self.W_O(out)


class HeadsMaskKept(nn.Module):
    def __init__(self, d_model, n_heads, d_head):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_head
        self.mask = None
        self.W_Q = nn.Linear(d_model, n_heads * d_head, bias=False)
        self.W_K = nn.Linear(d_model, n_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_model, n_heads * d_head, bias=False)
        self.W_O = nn.Linear(n_heads * d_head, d_model, bias=False)

    def forward(self, x, mask=None):
        if mask is not None:
            self.mask = mask

        def split(y):
            return y.unflatten(-1, (self.n_heads, self.d_head)).transpose(1, 2)

        Q, K, V = split(self.W_Q(x)), split(self.W_K(x)), split(self.W_V(x))
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.d_head)
        if self.mask is not None:
            scores = scores.masked_fill(~self.mask, -1e9)
        return self.W_O((scores.softmax(-1) @ V).transpose(1, 2).flatten(-2))


class HeadsFirstHeadSMaskForAll(nn.Module):
    def __init__(self, d_model, n_heads, d_head):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_head
        self.W_Q = nn.Linear(d_model, n_heads * d_head, bias=False)
        self.W_K = nn.Linear(d_model, n_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_model, n_heads * d_head, bias=False)
        self.W_O = nn.Linear(n_heads * d_head, d_model, bias=False)

    def forward(self, x, mask=None):
        if mask is not None and mask.dim() == 4:
            mask = mask[:, 0]
        elif mask is not None and mask.dim() == 3:
            mask = mask[0]
        Q = self.W_Q(x).chunk(self.n_heads, dim=-1)
        K = self.W_K(x).chunk(self.n_heads, dim=-1)
        V = self.W_V(x).chunk(self.n_heads, dim=-1)
        heads = []
        for q, k, v in zip(Q, K, V, strict=False):
            scores = q @ k.transpose(1, 2) / math.sqrt(self.d_head)
            if mask is not None:
                scores = scores.masked_fill(~mask, float("-inf"))
            heads.append(scores.softmax(dim=-1) @ v)
        return self.W_O(torch.cat(heads, dim=-1))


class HeadsValuesSplitWithoutTranspose(nn.Module):
    def __init__(self, d_model, n_heads, d_head):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_head
        self.W_Q = nn.Linear(d_model, n_heads * d_head, bias=False)
        self.W_K = nn.Linear(d_model, n_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_model, n_heads * d_head, bias=False)
        self.W_O = nn.Linear(n_heads * d_head, d_model, bias=False)

    def forward(self, x, mask=None):
        b, n, _ = x.shape
        h, d = self.n_heads, self.d_head
        Q = self.W_Q(x).view(b, n, h, d).transpose(1, 2)
        K = self.W_K(x).view(b, n, h, d).transpose(1, 2)
        V = self.W_V(x).view(b, h, n, d)
        scores = Q @ K.transpose(2, 3) / math.sqrt(d)
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        z = scores.softmax(dim=-1) @ V
        return self.W_O(z.transpose(1, 2).reshape(b, n, h * d))


def positions_odd_width_ends_in_a_cosine(n, d_model, start=0):
    pos = torch.arange(start, start + n, dtype=torch.float32)[:, None]
    angles = pos / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    table = torch.zeros(n, d_model)
    table[:, 0::2] = angles.sin()
    table[:, 1::2] = angles[:, : d_model // 2].cos()
    if d_model % 2 == 1:
        table[:, -1] = angles[:, -1].cos()
    return table


class HeadsDropWeights(nn.Module):
    """As the library's: dropout on the weights, in training."""

    rate = 0.1

    def __init__(self, d_model, n_heads, d_head):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_head
        self.W_Q, self.W_K, self.W_V = (
            nn.Linear(d_model, n_heads * d_head, bias=False) for _ in range(3)
        )
        self.W_O = nn.Linear(n_heads * d_head, d_model, bias=False)
        self.drop = nn.Dropout(self.rate)

    def heads(self, x):
        return x.view(*x.shape[:2], self.n_heads, self.d_head).transpose(1, 2)

    def drop_weights(self, weights):
        return self.drop(weights)

    def forward(self, x, mask=None):
        Q, K, V = self.heads(self.W_Q(x)), self.heads(self.W_K(x)), self.heads(self.W_V(x))
        scores = Q @ K.mT / self.d_head**0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        out = self.drop_weights(scores.softmax(-1)) @ V
        return self.W_O(out.transpose(1, 2).reshape(*x.shape[:2], -1))


class HeadsDropHalf(HeadsDropWeights):
    rate = 0.5


class HeadsDropOutput(HeadsDropWeights):
    rate = 0.2

    def drop_weights(self, weights):
        return weights

    def forward(self, x, mask=None):
        return self.drop(super().forward(x, mask))


class HeadsDropByFlag(HeadsDropWeights):
    def drop_weights(self, weights):
        return F.dropout(weights, p=0.3, training=self.training)


class HeadsAlwaysDropWeights(HeadsDropWeights):
    """F.dropout drops unless it is told not to."""

    def drop_weights(self, weights):
        return F.dropout(weights, 0.1)


class HeadsAlwaysDropOutput(HeadsDropWeights):
    def drop_weights(self, weights):
        return weights

    def forward(self, x, mask=None):
        return F.dropout(super().forward(x, mask))


def infinity_as_a_factor(scores, mask):
    return F.softmax(scores + (1.0 - mask.float()) * float("-inf"), dim=-1)


def infinity_as_a_factor_and_zeros(scores, mask):
    weights = torch.softmax(scores + torch.logical_not(mask) * -math.inf, -1)
    nothing = mask.sum(-1, keepdim=True) == 0
    return torch.where(nothing.expand_as(weights), torch.zeros_like(weights), weights)


def empty_by_its_scores(scores, mask):
    allowed = torch.where(mask, scores, torch.zeros_like(scores))
    weights = scores.masked_fill(~mask, -math.inf).softmax(-1)
    weights[allowed.sum(-1) == 0] = 0
    return weights


STUDENTS = {
    "hw1.scaled_dot_product_attention": {
        "softmax_over_queries": [queries_share_by_hand],
        "scaled_by_number_of_keys": [keys_counted],
        "divided_by_d_k": [both_divided],
        "softmax_over_dim_2": [third_dimension],
        "keys_transposed_from_the_front": [transposed_one_two],
        "keys_transposed_altogether": [capital_t],
        "scaled_after_softmax": [weights_scaled],
        "half_for_the_root": [half_by_precedence, twice_by_precedence],
        "root_cut_to_a_whole_number": [attention_root_cut_to_a_whole_number],
    },
    "hw1.masked_softmax": {
        "minus_infinity_times_a_mask": [infinity_as_a_factor, infinity_as_a_factor_and_zeros],
        "emptiness_told_by_the_scores": [empty_by_its_scores],
        "hidden_scores_are_zero": [hidden_scores_zero, nearly_zero],
        "uniform_without_allowed_keys": [big_negative_number],
        "masked_after_softmax": [hidden_weights_zero],
        "exponentials_overflow": [exponentials],
        "renormalised_after_softmax": [largest_of_all],
        "finite_number_for_minus_infinity": [
            softmax_finite_number_for_minus_infinity,
            minus_hundred,
        ],
        "mask_inverted": [true_hides],
        "nan_without_allowed_keys": [nothing_about_empty_rows],
        "one_maximum_for_all_rows": [softmax_one_maximum_for_all_rows],
        "scores_clamped": [softmax_scores_clamped],
    },
    "hw1.causal_mask": {
        "cannot_see_itself": [strictly_before],
        "aligned_at_the_first_token": [without_offset],
        "inverted": [upper_triangle],
        "past_also_asks": [whole_square],
        "additive": [additive_triu],
        "diagonal_moved_by_one": [causal_diagonal_moved_by_one],
        "cannot_see_itself_behind_a_past": [causal_cannot_see_itself_behind_a_past],
    },
    "hw1.padding_mask": {
        "one_too_many": [up_to_the_length],
        "side_ignored": [right_only],
        "no_dimensions_for_heads_and_queries": [two_dimensional],
        "hides_queries": [down_the_queries],
        "inverted": [padding_true],
        "one_too_few_on_the_left": [strict_on_the_left],
        "padded_to_the_longest": [as_wide_as_the_longest],
        "left_from_length_on": [from_its_length_on],
        "sides_exchanged": [sides_the_other_way],
        "batch_turned_over": [padding_batch_turned_over, batch_flipped],
        "padding_counted_from_the_longest": [padding_counted_from_the_longest],
    },
    "hw1.split_heads": {
        "view_without_transpose": [heads_by_reshape],
        "interleaved": [every_other_number],
        "counted_from_the_front": [dims_one_and_two],
        "not_transposed": [stacked_behind],
        "heads_at_dimension_1": [stacked_at_one],
    },
    "hw1.MultiHeadAttention": {
        "merged_without_transpose": [HeadsReshapedBack],
        "scaled_by_root_d_model": [RootOfDModel],
        "never_transposed": [NoTransposeAtAll],
        "w_o_forgotten": [LastLayerMissing],
        "hidden_scores_are_zero": [NearlyZero],
        "mask_ignored": [MaskNeverUsed],
        "keys_used_as_values": [OneProjectionTwice],
        "scaled_by_d_model_per_head": [HeadsScaledByDModelPerHead],
        "masked_after_softmax": [HeadsMaskedAfterSoftmax],
        "mask_kept": [HeadsMaskKept],
        "first_head_s_mask_for_all": [HeadsFirstHeadSMaskForAll],
        "values_split_without_transpose": [HeadsValuesSplitWithoutTranspose],
        "dropout_added": [HeadsDropWeights, HeadsDropHalf, HeadsDropOutput, HeadsDropByFlag],
        "dropout_always": [HeadsAlwaysDropWeights, HeadsAlwaysDropOutput],
    },
    "hw1.sinusoidal_positions": {
        "base_1000": [thousand],
        "sines_then_cosines": [halves],
        "own_frequency_for_each_column": [column_in_exponent],
        "exponent_doubled": [twice_doubled],
        "odd_width_forgotten": [even_only],
        "start_ignored": [from_zero_always],
        "odd_width_made_even": [width_made_even],
        "stops_at_n": [arange_to_n],
        "odd_width_ends_in_a_cosine": [positions_odd_width_ends_in_a_cosine],
    },
    "hw1.order_effect": {
        "positions_move_with_the_words": [positions_shuffled_too],
        "shuffle_not_undone": [seat_by_seat],
        "shuffled_twice": [permuted_again],
        "rows_by_seat": [original_shuffled],
        "sign_flipped": [original_minus_shuffled],
        "positions_do_not_reach_attention": [without_attention],
        "permutation_read_the_other_way": [seats_for_words],
    },
}
