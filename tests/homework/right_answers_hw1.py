"""Right answers to homework 1, written as differently as students write: all of them must be
accepted.

`RIGHT_ANSWERS` maps a question's full name to its answers. Each stands alone: it uses torch and the
standard library only.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

# --------------------------------------------------------------------- scaled_dot_product_attention


def attention_einsum(Q, K, V):
    scores = torch.einsum("...qd,...kd->...qk", Q, K) * Q.size(-1) ** -0.5
    return torch.einsum("...qk,...kv->...qv", F.softmax(scores, dim=-1), V)


def attention_queries_scaled_first(Q, K, V):
    scores = (Q / math.sqrt(K.shape[-1])) @ K.mT
    shares = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    return (shares / shares.sum(dim=-1, keepdim=True)) @ V


def attention_query_by_query(Q, K, V):
    if Q.dim() > 2:
        return torch.stack(
            [attention_query_by_query(q, k, v) for q, k, v in zip(Q, K, V, strict=True)]
        )
    rows = []
    for q in Q:
        powers = [math.exp(float(q @ k) / math.sqrt(len(q))) for k in K]
        rows.append(sum(power / sum(powers) * v for power, v in zip(powers, V, strict=True)))
    return torch.stack(rows)


def attention_key_by_key(Q, K, V):
    """One pass over the keys, never storing the weights: the running sums are rescaled whenever a
    larger score turns up.
    """
    top = torch.full((*Q.shape[:-1], 1), -math.inf)
    total, output = torch.zeros_like(top), torch.zeros(*Q.shape[:-1], V.shape[-1])
    for j in range(K.shape[-2]):
        score = (Q * K[..., j : j + 1, :]).sum(dim=-1, keepdim=True) / math.sqrt(Q.shape[-1])
        new_top = torch.maximum(top, score)
        shrink, power = (top - new_top).exp(), (score - new_top).exp()
        total, output, top = (
            total * shrink + power,
            output * shrink + power * V[..., j : j + 1, :],
            new_top,
        )
    return output / total


# ----------------------------------------------------------------------------------- masked_softmax


def softmax_nan_to_num(scores, mask):
    return torch.softmax(torch.where(mask, scores, float("-inf")), dim=-1).nan_to_num(nan=0.0)


def softmax_by_hand(scores, mask):
    hidden = scores.masked_fill(~mask, -math.inf)
    top = hidden.amax(dim=-1, keepdim=True).clamp(min=torch.finfo(scores.dtype).min)
    powers = (hidden - top).exp()
    return powers / powers.sum(dim=-1, keepdim=True).clamp(min=1e-12)


def softmax_row_by_row(scores, mask):
    mask = mask.expand_as(scores).reshape(-1, scores.shape[-1])
    result = torch.zeros_like(scores).reshape(-1, scores.shape[-1])
    for row, (score, allowed) in enumerate(
        zip(scores.reshape(-1, scores.shape[-1]), mask, strict=True)
    ):
        if allowed.any():
            result[row, allowed] = score[allowed].softmax(dim=0)
    return result.reshape(scores.shape)


def softmax_lowest_number_then_mask(scores, mask):
    return (
        F.softmax(scores.masked_fill(mask.logical_not(), torch.finfo(scores.dtype).min), dim=-1)
        * mask
    )


def softmax_logsumexp(scores, mask):
    hidden = scores + torch.zeros_like(scores).masked_fill(~mask, -math.inf)
    return torch.where(mask, (hidden - hidden.logsumexp(dim=-1, keepdim=True)).exp(), 0.0)


# -------------------------------------------------------------------------------------- causal_mask


def causal_by_comparison(n, n_past=0):
    return torch.arange(n_past + n) <= torch.arange(n_past, n_past + n)[:, None]


def causal_by_lists(n, n_past=0):
    return torch.tensor([[j <= n_past + i for j in range(n_past + n)] for i in range(n)])


def causal_triu_negated(n, n_past=0):
    return torch.triu(torch.ones(n, n_past + n), diagonal=n_past + 1) == 0


def causal_last_rows(n, n_past=0):
    return torch.ones(n_past + n, n_past + n).tril().bool()[-n:]


def causal_recursive(n, n_past=0):
    if n == 0:
        return torch.zeros(0, n_past, dtype=torch.bool)
    above = causal_recursive(n - 1, n_past)
    above = torch.cat([above, torch.zeros(n - 1, 1, dtype=torch.bool)], dim=1)
    return torch.cat([above, torch.ones(1, n_past + n, dtype=torch.bool)])


# ------------------------------------------------------------------------------------- padding_mask


def padding_loops(lengths, n, side="right"):
    mask = torch.zeros(len(lengths), 1, 1, n, dtype=torch.bool)
    for b, length in enumerate(lengths.tolist()):
        if side == "left":
            mask[b, ..., n - length :] = True
        else:
            mask[b, ..., :length] = True
    return mask


def padding_flipped(lengths, n, side="right"):
    mask = torch.arange(n).view(1, 1, 1, n) < lengths.view(-1, 1, 1, 1)
    return mask.flip(-1) if side == "left" else mask


def padding_lists(lengths, n, side="right"):
    rows = [[True] * int(length) + [False] * (n - int(length)) for length in lengths]
    rows = [row[::-1] for row in rows] if side == "left" else rows
    return torch.tensor(rows).unsqueeze(1).unsqueeze(1)


def padding_pads_hidden(lengths, n, side="right"):
    pads = (n - lengths).reshape(-1, 1)
    steps = torch.arange(n).expand(len(lengths), n)
    padding = steps < pads if side == "left" else steps > n - 1 - pads
    return padding.logical_not()[:, None, None]


# -------------------------------------------------------------------------------------- split_heads


def split_chunks(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1), dim=-3)


def split_permute(x, n_heads):
    *batch, n, width = x.shape
    heads = x.contiguous().view(-1, n, n_heads, width // n_heads).permute(0, 2, 1, 3)
    return heads.reshape(*batch, n_heads, n, width // n_heads)


def split_slices(x, n_heads):
    width = x.size(-1) // n_heads
    out = torch.empty(*x.shape[:-2], n_heads, x.size(-2), width)
    for head in range(n_heads):
        out[..., head, :, :] = x[..., head * width : (head + 1) * width]
    return out


def split_einsum(x, n_heads):
    """Multiplying by pieces of the identity matrix selects each head's numbers."""
    select = torch.eye(x.shape[-1]).view(x.shape[-1], n_heads, -1)
    return torch.einsum("...nw,whd->...hnd", x, select)


# ------------------------------------------------------------------------------- MultiHeadAttention


class HeadsOneByOne(nn.Module):
    """One small attention for each head, with its own rows of the weights, as the paper writes
    it.
    """

    def __init__(self, d_model, n_heads, d_head):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_head
        self.W_Q = nn.Linear(d_model, n_heads * d_head, bias=False)
        self.W_K = nn.Linear(d_model, n_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_model, n_heads * d_head, bias=False)
        self.W_O = nn.Linear(n_heads * d_head, d_model, bias=False)

    def forward(self, x, mask=None):
        if mask is None:
            mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool)
        mask = mask.expand(len(x), self.n_heads, x.shape[1], x.shape[1])
        heads = []
        for i in range(self.n_heads):
            own = slice(i * self.d_head, (i + 1) * self.d_head)
            Q, K, V = (
                x @ self.W_Q.weight[own].T,
                x @ self.W_K.weight[own].T,
                x @ self.W_V.weight[own].T,
            )
            scores = (Q @ K.transpose(1, 2)) / self.d_head**0.5
            heads.append(scores.masked_fill(~mask[:, i], -1e9).softmax(dim=-1) @ V)
        return self.W_O(torch.cat(heads, dim=-1))


class HeadsEinsum(nn.Module):
    """No transposes at all: einsum names the dimensions."""

    def __init__(self, d_model, n_heads, d_head):
        super().__init__()
        self.shape = (n_heads, d_head)
        for name in ("W_Q", "W_K", "W_V"):
            setattr(self, name, nn.Linear(d_model, n_heads * d_head, bias=False))
        self.W_O = nn.Linear(n_heads * d_head, d_model, bias=False)

    def forward(self, x, mask=None):
        q, k, v = (W(x).unflatten(-1, self.shape) for W in (self.W_Q, self.W_K, self.W_V))
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(self.shape[1])
        if mask is not None:
            scores = torch.where(mask, scores, -math.inf)
        heads = torch.einsum("bhqk,bkhd->bqhd", scores.softmax(-1), v)
        return self.W_O(heads.flatten(2))


class HeadsInTheBatch(nn.Module):
    """The heads folded into the batch, three-dimensional tensors and bmm, as in older code."""

    def __init__(self, d_model, n_heads, d_head):
        super().__init__()
        self.h, self.d = n_heads, d_head
        self.W_Q, self.W_K, self.W_V = (
            nn.Linear(d_model, n_heads * d_head, bias=False) for _ in range(3)
        )
        self.W_O = nn.Linear(n_heads * d_head, d_model, bias=False)

    def forward(self, x, mask=None):
        b, n, _ = x.shape

        def fold(y):
            return y.view(b, n, self.h, self.d).permute(0, 2, 1, 3).reshape(b * self.h, n, self.d)

        scores = torch.bmm(fold(self.W_Q(x)) / math.sqrt(self.d), fold(self.W_K(x)).transpose(1, 2))
        if mask is not None:
            scores = scores.masked_fill(
                mask.expand(b, self.h, n, n).reshape(b * self.h, n, n) == 0, float("-inf")
            )
        out = torch.bmm(F.softmax(scores, dim=2), fold(self.W_V(x)))
        return self.W_O(
            out.view(b, self.h, n, self.d)
            .permute(0, 2, 1, 3)
            .contiguous()
            .view(b, n, self.h * self.d)
        )


# ----------------------------------------------------------------------------- sinusoidal_positions


def positions_loops(n, d_model, start=0):
    table = torch.zeros(n, d_model)
    for row in range(n):
        for i in range(0, d_model, 2):
            angle = (start + row) / 10000 ** (i / d_model)
            table[row, i] = math.sin(angle)
            if i + 1 < d_model:
                table[row, i + 1] = math.cos(angle)
    return table


def positions_exp_log(n, d_model, start=0):
    """As in much published code: the frequencies as exponentials of logarithms, all in float32."""
    position = torch.arange(start, start + n).unsqueeze(1)
    frequencies = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    table = torch.zeros(n, d_model)
    table[:, 0::2] = torch.sin(position * frequencies)
    table[:, 1::2] = torch.cos(position * frequencies[: d_model // 2])
    return table


def positions_quarter_turn(n, d_model, start=0):
    """cos(a) = sin(a + π/2)."""
    column = torch.arange(d_model)
    angle = torch.arange(start, start + n)[:, None] / 10000 ** ((column - column % 2) / d_model)
    return torch.sin(angle + column % 2 * math.pi / 2)


def positions_complex(n, d_model, start=0):
    """A clock hand is a complex number: every step multiplies it by e^(iω)."""
    step = torch.polar(
        torch.ones((d_model + 1) // 2), 10000 ** (-torch.arange(0, d_model, 2) / d_model)
    ).to(torch.complex128)
    hands = step ** torch.arange(start, start + n)[:, None]
    return torch.view_as_real(hands).flip(-1).reshape(n, -1)[:, :d_model].float()


# ------------------------------------------------------------------------------------- order_effect


def _reading(X):
    return torch.softmax(X @ X.T / math.sqrt(X.shape[1]), dim=1) @ X


def order_put_back(X, permutation, positions=None):
    positions = 0 if positions is None else positions
    shuffled = _reading(X[permutation] + positions)
    back = torch.empty_like(shuffled)
    back[permutation] = shuffled
    return back - _reading(X + positions)


def order_by_matrix(X, permutation, positions=None):
    P = torch.eye(len(X))[permutation]
    if positions is None:
        positions = torch.zeros(X.shape)
    return P.T @ _reading(P @ X + positions) - _reading(X + positions)


def order_positions_unshuffled(X, permutation, positions=None):
    """Equivariance used: leave the words where they are and let the positions move the other
    way.
    """
    if positions is None:
        return torch.zeros_like(X)
    inverse = torch.argsort(permutation)
    return _reading(X + positions[inverse]) - _reading(X + positions)


def order_word_by_word(X, permutation, positions=None):
    seats = permutation.tolist()
    P = torch.zeros_like(X) if positions is None else positions
    shuffled = _reading(torch.stack([X[word] + P[seat] for seat, word in enumerate(seats)]))
    return torch.stack(
        [shuffled[seats.index(word)] - row for word, row in enumerate(_reading(X + P))]
    )


class HeadsWithBuffers(nn.Module):
    """With buffers of its own, kept or not, and layers under a second name."""

    def __init__(self, d_model, n_heads, d_head):
        super().__init__()
        self.n_heads = n_heads
        self.projections = nn.ModuleDict(
            {name: nn.Linear(d_model, n_heads * d_head, bias=False) for name in "QKV"}
        )
        self.W_Q, self.W_K, self.W_V = (
            self.projections["Q"],
            self.projections["K"],
            self.projections["V"],
        )
        self.W_O = nn.Linear(n_heads * d_head, d_model, bias=False)
        self.register_buffer("scale", torch.tensor(float(d_head)).rsqrt())
        self.register_buffer("lowest", torch.tensor(-math.inf), persistent=False)

    def forward(self, x, mask=None):
        Q, K, V = (
            layer(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for layer in self.projections.values()
        )
        scores = Q @ K.mT * self.scale
        if mask is not None:
            scores = torch.where(mask, scores, self.lowest)
        return self.W_O((scores.softmax(-1) @ V).transpose(1, 2).flatten(2))


RIGHT_ANSWERS = {
    "hw1.scaled_dot_product_attention": (
        attention_einsum,
        attention_queries_scaled_first,
        attention_query_by_query,
        attention_key_by_key,
    ),
    "hw1.masked_softmax": (
        softmax_nan_to_num,
        softmax_by_hand,
        softmax_row_by_row,
        softmax_lowest_number_then_mask,
        softmax_logsumexp,
    ),
    "hw1.causal_mask": (
        causal_by_comparison,
        causal_by_lists,
        causal_triu_negated,
        causal_last_rows,
        causal_recursive,
    ),
    "hw1.padding_mask": (padding_loops, padding_flipped, padding_lists, padding_pads_hidden),
    "hw1.split_heads": (split_chunks, split_permute, split_slices, split_einsum),
    "hw1.MultiHeadAttention": (HeadsWithBuffers, HeadsOneByOne, HeadsEinsum, HeadsInTheBatch),
    "hw1.sinusoidal_positions": (
        positions_loops,
        positions_exp_log,
        positions_quarter_turn,
        positions_complex,
    ),
    "hw1.order_effect": (
        order_put_back,
        order_by_matrix,
        order_positions_unshuffled,
        order_word_by_word,
    ),
}
