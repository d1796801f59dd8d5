"""Homework 2 answered wrongly, as students write it: each must get the name of its mistake.

`STUDENTS` maps a question's full name to {mistake: [answers]}. Each answer stands alone, as those
in `right_answers_hw2.py`.
"""

import math
import warnings

import torch
import torch.nn.functional as F
from torch import nn

from lectures_lib.blocks.attention import MultiHeadAttention

# ------------------------------------------------------------------------------- additive_attention


def additive_without_tanh(query, states, W_q, W_k, v, lengths):
    scores = ((query @ W_q.T).unsqueeze(1) + states @ W_k.T) @ v
    mask = torch.arange(states.shape[1])[None] >= lengths[:, None]
    weights = F.softmax(scores.masked_fill(mask, float("-inf")), dim=-1)
    return torch.bmm(weights.unsqueeze(1), states).squeeze(1), weights


def additive_states_only(query, states, W_q, W_k, v, lengths):
    """The query left out: its scores differ by a number that is the same for all words."""
    scores = (states @ W_k.T) @ v
    weights = scores.masked_fill(
        torch.arange(states.shape[1]) >= lengths[:, None], -math.inf
    ).softmax(1)
    return (weights.unsqueeze(-1) * states).sum(1), weights


def additive_all_positions(query, states, W_q, W_k, v, lengths):
    hidden = torch.tanh(F.linear(query, W_q)[:, None] + F.linear(states, W_k))
    weights = torch.softmax(torch.einsum("bnh,h->bn", hidden, v), dim=-1)
    return torch.einsum("bn,bnd->bd", weights, states), weights


def additive_masked_late(query, states, W_q, W_k, v, lengths):
    _, weights = additive_all_positions(query, states, W_q, W_k, v, lengths)
    for b, length in enumerate(lengths):
        weights[b, length:] = 0
    return torch.einsum("bn,bnd->bd", weights, states), weights


def additive_inclusive(query, states, W_q, W_k, v, lengths):
    scores = torch.tanh((query @ W_q.T)[:, None] + states @ W_k.T) @ v
    words = torch.arange(states.shape[1]) <= lengths.view(-1, 1)
    weights = torch.where(words, scores, -1e9).softmax(dim=-1)
    return (weights[:, None] @ states).squeeze(1), weights


def additive_dim_zero(query, states, W_q, W_k, v, lengths):
    scores = torch.tanh((query @ W_q.T)[:, None] + states @ W_k.T) @ v
    words = torch.arange(states.shape[1]) < lengths.view(-1, 1)
    weights = F.softmax(torch.where(words, scores, -math.inf), dim=0)
    return (weights[:, None] @ states).squeeze(1), weights


def additive_keys_as_values(query, states, W_q, W_k, v, lengths):
    keys = states @ W_k.T
    scores = torch.tanh((query @ W_q.T)[:, None] + keys) @ v
    weights = scores.masked_fill(
        torch.arange(states.shape[1]) >= lengths[:, None], -math.inf
    ).softmax(1)
    return (weights.unsqueeze(-1) * keys).sum(1), weights


def additive_squeezed(query, states, W_q, W_k, v, lengths):
    scores = torch.tanh(torch.matmul((query @ W_q.T)[:, None] + states @ W_k.T, v))
    weights = scores.masked_fill(
        torch.arange(states.shape[1]) >= lengths[:, None], -math.inf
    ).softmax(1)
    return (weights.unsqueeze(-1) * states).sum(1), weights


# -------------------------------------------------------------------------------------- DecoderStep


class Step(nn.Module):
    """What the wrong steps below have in common."""

    def __init__(self, vocab_size, d_embedding, d_hidden):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_embedding)
        self.gru = nn.GRUCell(d_embedding, d_hidden)
        self.W_c = nn.Linear(2 * d_hidden, d_hidden)
        self.output = nn.Linear(d_hidden, vocab_size)

    def context(self, query, states, lengths):
        mask = (torch.arange(states.shape[1]) < lengths[:, None])[:, None]
        return F.scaled_dot_product_attention(query[:, None], states, states, mask, scale=1.0)[:, 0]


class StepBahdanausOrder(Step):
    def forward(self, word, hidden, states, lengths):
        context = self.context(hidden, states, lengths)
        hidden = self.gru(self.embedding(word), hidden)
        return self.output(torch.tanh(self.W_c(torch.cat([context, hidden], -1)))), hidden


class StepHiddenFirst(Step):
    def forward(self, word, hidden, states, lengths):
        hidden = self.gru(self.embedding(word), hidden)
        features = torch.cat([hidden, self.context(hidden, states, lengths)], dim=1)
        return self.output(self.W_c(features).tanh()), hidden


class StepNoLengths(Step):
    def forward(self, word, hidden, states, lengths):
        hidden = self.gru(self.embedding(word), hidden)
        weights = torch.einsum("bd,bnd->bn", hidden, states).softmax(dim=1)
        features = torch.cat([torch.einsum("bn,bnd->bd", weights, states), hidden], dim=1)
        return self.output(self.W_c(features).tanh()), hidden


class StepSoftmax(Step):
    def forward(self, word, hidden, states, lengths):
        hidden = self.gru(self.embedding(word), hidden)
        features = torch.cat([self.context(hidden, states, lengths), hidden], dim=1)
        return F.softmax(self.output(self.W_c(features).tanh()), dim=-1), hidden


class StepDefaultScale(Step):
    def forward(self, word, hidden, states, lengths):
        hidden = self.gru(self.embedding(word), hidden)
        mask = (torch.arange(states.shape[1]) < lengths[:, None])[:, None]
        context = F.scaled_dot_product_attention(hidden[:, None], states, states, mask)[:, 0]
        return self.output(self.W_c(torch.cat([context, hidden], dim=1)).tanh()), hidden


class StepKeepsOldState(Step):
    def forward(self, word, hidden, states, lengths):
        moved = self.gru(self.embedding(word), hidden)
        features = torch.cat([self.context(moved, states, lengths), moved], dim=1)
        return self.output(self.W_c(features).tanh()), hidden


class StepGruBackwards(Step):
    def forward(self, word, hidden, states, lengths):
        y = self.embedding(word)
        hidden = self.gru(hidden, y)
        features = torch.cat([self.context(hidden, states, lengths), hidden], dim=1)
        return self.output(self.W_c(features).tanh()), hidden


# --------------------------------------------------------------------------------------- layer_norm


def norm_of_everything(x, gamma, beta, eps=1e-5):
    return (x - x.mean()) / (x.var(correction=0) + eps).sqrt() * gamma + beta


def norm_torch_std(x, gamma, beta, eps=1e-5):
    # as in The Annotated Transformer
    return gamma * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps) + beta


def norm_torch_var(x, gamma, beta, eps=1e-5):
    return (x - x.mean(-1, keepdim=True)) * torch.rsqrt(
        x.var(-1, keepdim=True) + eps
    ) * gamma + beta


def norm_population_std(x, gamma, beta, eps=1e-5):
    return (
        gamma * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True, correction=0) + eps)
        + beta
    )


def norm_sentence(x, gamma, beta, eps=1e-5):
    return F.layer_norm(x, x.shape[1:], eps=eps) * gamma + beta


def norm_batch(x, gamma, beta, eps=1e-5):
    rows = x.reshape(-1, x.shape[-1])
    return F.batch_norm(rows, None, None, gamma, beta, training=True, eps=eps).reshape(x.shape)


def norm_dim_zero(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean(0)) / (x.var(0, unbiased=False) + eps).sqrt() + beta


def norm_plain(x, gamma, beta, eps=1e-5):
    return F.layer_norm(x, x.shape[-1:], None, None, eps)


def norm_rms(x, gamma, beta, eps=1e-5):
    return F.rms_norm(x, x.shape[-1:], gamma, eps) + beta


def norm_default_eps(x, gamma, beta, eps=1e-5):
    return F.layer_norm(x, x.shape[-1:], gamma, beta)


def norm_without_eps(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True, correction=0) + beta


# ------------------------------------------------------------------------------------- EncoderBlock


class Block(nn.Module):
    """What the wrong blocks below have in common."""

    def __init__(self, d_model, n_heads, d_ff, pre_norm=False):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads)
        self.W_1, self.W_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.pre_norm = pre_norm

    def ff(self, x):
        return self.W_2(F.relu(self.W_1(x)))


class BlockPaperOnly(Block):
    def forward(self, x, mask=None):
        x = self.norm_1(x + self.self_attention(x, x, mask))
        return self.norm_2(x + self.ff(x))


class BlockOverwrites(Block):
    def forward(self, x, mask=None):
        if self.pre_norm:
            x = self.norm_1(x)
            x = x + self.self_attention(x, mask=mask)
            x = self.norm_2(x)
            return x + self.ff(x)
        x = self.norm_1(x + self.self_attention(x, mask=mask))
        return self.norm_2(x + self.ff(x))


class BlockMaskSecond(Block):
    def forward(self, x, mask=None):
        if self.pre_norm:
            x = x + self.self_attention(self.norm_1(x), mask)
            return x + self.ff(self.norm_2(x))
        x = self.norm_1(x + self.self_attention(x, mask))
        return self.norm_2(x + self.ff(x))


class BlockTorchsMask(Block):
    def forward(self, x, mask=None):
        mask = None if mask is None else mask.logical_not()
        if self.pre_norm:
            x = x + self.self_attention(self.norm_1(x), mask=mask)
            return x + self.ff(self.norm_2(x))
        x = self.norm_1(x + self.self_attention(x, mask=mask))
        return self.norm_2(x + self.ff(x))


class BlockLinear(Block):
    def forward(self, x, mask=None):
        if self.pre_norm:
            x = x + self.self_attention(self.norm_1(x), mask=mask)
            return x + self.W_2(self.W_1(self.norm_2(x)))
        x = self.norm_1(x + self.self_attention(x, mask=mask))
        return self.norm_2(x + self.W_2(self.W_1(x)))


class BlockNoPlus(Block):
    def forward(self, x, mask=None):
        if self.pre_norm:
            return self.ff(self.norm_2(self.self_attention(self.norm_1(x), mask=mask)))
        return self.norm_2(self.ff(self.norm_1(self.self_attention(x, mask=mask))))


class BlockNormInside(Block):
    def forward(self, x, mask=None):
        if self.pre_norm:
            x = x + self.self_attention(self.norm_1(x), mask=mask)
            return x + self.ff(self.norm_2(x))
        x = x + self.norm_1(self.self_attention(x, mask=mask))
        return x + self.norm_2(self.ff(x))


# ------------------------------------------------------------------------------------- DecoderBlock


class Decoder(nn.Module):
    """What the wrong decoder blocks below have in common."""

    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attention, self.cross_attention = (
            MultiHeadAttention(d_model, n_heads),
            MultiHeadAttention(d_model, n_heads),
        )
        self.W_1, self.W_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm_1, self.norm_2, self.norm_3 = (
            nn.LayerNorm(d_model),
            nn.LayerNorm(d_model),
            nn.LayerNorm(d_model),
        )

    def ff(self, x):
        return self.W_2(F.relu(self.W_1(x)))

    def tril(self, x):
        return torch.tril(torch.ones(x.shape[1], x.shape[1])).bool()


class DecoderSeesAll(Decoder):
    def forward(self, x, memory, source_mask=None):
        x = self.norm_1(x + self.self_attention(x))
        x = self.norm_2(x + self.cross_attention(x, memory, source_mask))
        return self.norm_3(x + self.ff(x))


class DecoderTorchsTriu(Decoder):
    """The mask of nn.Transformer, where True hides."""

    def forward(self, x, memory, source_mask=None):
        hidden = torch.triu(torch.ones(x.shape[1], x.shape[1]), diagonal=1).bool()
        x = self.norm_1(x + self.self_attention(x, mask=hidden))
        x = self.norm_2(x + self.cross_attention(x, memory, source_mask))
        return self.norm_3(x + self.ff(x))


class DecoderOffByOne(Decoder):
    def forward(self, x, memory, source_mask=None):
        n = torch.arange(x.shape[1])
        x = self.norm_1(x + self.self_attention(x, mask=n <= n[:, None] + 1))
        x = self.norm_2(x + self.cross_attention(x, memory, source_mask))
        return self.norm_3(x + self.ff(x))


class DecoderMemoryAsks(Decoder):
    def forward(self, x, memory, source_mask=None):
        x = self.norm_1(x + self.self_attention(x, mask=self.tril(x)))
        x = self.norm_2(x + self.cross_attention(memory, x, source_mask))
        return self.norm_3(x + self.ff(x))


class DecoderForgetsSourceMask(Decoder):
    def forward(self, x, memory, source_mask=None):
        x = self.norm_1(x + self.self_attention(x, mask=self.tril(x)))
        x = self.norm_2(x + self.cross_attention(x, memory))
        return self.norm_3(x + self.ff(x))


class DecoderCausalBoth(Decoder):
    def forward(self, x, memory, source_mask=None):
        x = self.norm_1(x + self.self_attention(x, mask=self.tril(x)))
        mask = torch.ones(x.shape[1], memory.shape[1], dtype=torch.bool).tril()
        mask = mask if source_mask is None else torch.logical_and(mask, source_mask)
        x = self.norm_2(x + self.cross_attention(x, memory, mask))
        return self.norm_3(x + self.ff(x))


class DecoderMaskAsSelfMask(Decoder):
    def forward(self, x, memory, source_mask=None):
        x = self.norm_1(x + self.self_attention(x, mask=source_mask))
        x = self.norm_2(x + self.cross_attention(x, memory, source_mask))
        return self.norm_3(x + self.ff(x))


class DecoderPreNorm(Decoder):
    def forward(self, x, memory, source_mask=None):
        y = self.norm_1(x)
        x = x + self.self_attention(y, mask=self.tril(y))
        x = x + self.cross_attention(self.norm_2(x), memory, source_mask)
        return x + self.ff(self.norm_3(x))


# ---------------------------------------------------------------------------------- teacher_forcing


def forcing_with_end(sentences, begin, end, pad):
    n = max(len(words) for words in sentences)
    read = [[begin, *words, end] + [pad] * (n - len(words)) for words in sentences]
    predict = [[*words, end] + [pad] * (n - len(words)) for words in sentences]
    return read, predict


def forcing_columns(sentences, begin, end, pad):
    n = max(len(words) for words in sentences) + 1
    predict = [[*words, end] + [pad] * (n - len(words) - 1) for words in sentences]
    return [[begin, *row[:-1]] for row in predict], predict


def forcing_unshifted(sentences, begin, end, pad):
    n = max(len(words) for words in sentences) + 1
    rows = [[*words, end] + [pad] * (n - len(words) - 1) for words in sentences]
    return rows, [row.copy() for row in rows]


def forcing_never_stops(sentences, begin, end, pad):
    n = max(len(words) for words in sentences)
    read = [[begin, *words[:-1]] for words in sentences]
    return [row + [pad] * (n - len(row)) for row in read], [
        words + [pad] * (n - len(words)) for words in sentences
    ]


def forcing_left(sentences, begin, end, pad):
    n = max(len(words) for words in sentences)
    gaps = [[pad] * (n - len(words)) for words in sentences]
    read = [[*gap, begin, *words] for gap, words in zip(gaps, sentences, strict=True)]
    return read, [[*gap, *words, end] for gap, words in zip(gaps, sentences, strict=True)]


def forcing_end_last(sentences, begin, end, pad):
    n = max(len(words) for words in sentences)
    rows = [words + [pad] * (n - len(words)) for words in sentences]
    return [[begin] + row for row in rows], [row + [end] for row in rows]  # noqa: RUF005


def forcing_ragged(sentences, begin, end, pad):
    return [[begin, *words] for words in sentences], [[*words, end] for words in sentences]


# ------------------------------------------------------------------------------------ sequence_loss


def loss_everything(logits, target, pad):
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), target.reshape(-1))


def loss_zero_ignored(logits, target, pad):
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), target.reshape(-1), ignore_index=0)


def loss_softmaxed(logits, target, pad):
    probabilities = F.softmax(logits, dim=-1)
    return F.cross_entropy(probabilities.flatten(0, 1), target.flatten(), ignore_index=pad)


def loss_mean_of_means(logits, target, pad):
    return torch.stack(
        [
            F.cross_entropy(scores, row, ignore_index=pad)
            for scores, row in zip(logits, target, strict=True)
        ]
    ).mean()


def loss_over_all(logits, target, pad):
    losses = F.cross_entropy(logits.transpose(1, 2), target, ignore_index=pad, reduction="none")
    return losses.mean()


def loss_sum(logits, target, pad):
    return F.cross_entropy(logits.transpose(1, 2), target, ignore_index=pad, reduction="sum")


def loss_as_language_models_do(logits, target, pad):
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), target[:, 1:].flatten(), ignore_index=pad)


def loss_view(logits, target, pad):
    return F.cross_entropy(
        logits.view(logits.shape[0], logits.shape[2], logits.shape[1]), target, ignore_index=pad
    )


# --------------------------------------------------------------------------------- count_parameters


def count_matrices(vocab_size, d_model, n_heads, d_ff, n_layers, tied=True):
    block = 4 * d_model**2 + 2 * d_model * d_ff
    norms = n_layers * 5 * 2 * d_model
    return (
        n_layers * (2 * block + 4 * d_model**2) + norms + (1 if tied else 3) * vocab_size * d_model
    )


def count_every_head(vocab_size, d_model, n_heads, d_ff, n_layers, tied=True):
    attention = n_heads * 4 * (d_model**2 + d_model)
    feed_forward = 2 * d_model * d_ff + d_ff + d_model
    stacks = n_layers * (3 * attention + 2 * feed_forward + 10 * d_model)
    return stacks + (1 if tied else 3) * vocab_size * d_model + vocab_size


def count_one_attention_each(vocab_size, d_model, n_heads, d_ff, n_layers, tied=True):
    block = 4 * (d_model**2 + d_model) + 2 * d_model * d_ff + d_ff + d_model + 4 * d_model
    return 2 * n_layers * block + (1 if tied else 3) * vocab_size * d_model + vocab_size


def count_ends_apart(vocab_size, d_model, n_heads, d_ff, n_layers, tied=True):
    stacks = n_layers * (12 * d_model**2 + 4 * d_model * d_ff + 2 * d_ff + 24 * d_model)
    return stacks + 3 * vocab_size * d_model + vocab_size


def count_no_b_2(vocab_size, d_model, n_heads, d_ff, n_layers, tied=True):
    stacks = n_layers * (12 * d_model**2 + 4 * d_model * d_ff + 2 * d_ff + 22 * d_model)
    return stacks + (1 if tied else 3) * vocab_size * d_model + vocab_size


def count_by_torchs_transformer(vocab_size, d_model, n_heads, d_ff, n_layers, tied=True):
    """Right but for the norm that torch puts at the end of each stack."""
    with torch.device("meta"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch remarks on an odd number of heads
        model = nn.Transformer(d_model, n_heads, n_layers, n_layers, d_ff, batch_first=True)
    return (
        sum(p.numel() for p in model.parameters())
        + (1 if tied else 3) * vocab_size * d_model
        + vocab_size
    )


def additive_square_matrices_untransposed(query, states, W_q, W_k, v, lengths):
    q = query @ W_q if W_q.shape[0] == W_q.shape[1] else query @ W_q.T
    e = torch.tanh(q[:, None] + states @ W_k.T) @ v
    mask = torch.arange(states.shape[1]) < lengths[:, None]
    alpha = torch.softmax(e.masked_fill(~mask, float("-inf")), dim=-1)
    return (alpha[:, None] @ states).squeeze(1), alpha


class StepFirstLengthForAll(nn.Module):
    def __init__(self, vocab_size, d_embedding, d_hidden):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_embedding)
        self.gru = nn.GRUCell(d_embedding, d_hidden)
        self.W_c = nn.Linear(2 * d_hidden, d_hidden)
        self.output = nn.Linear(d_hidden, vocab_size)

    def forward(self, word, hidden, states, lengths):
        hidden = self.gru(self.embedding(word), hidden)
        words = states[:, : int(lengths[0])]
        alpha = (words @ hidden[:, :, None]).squeeze(-1).softmax(dim=-1)
        context = (alpha[:, :, None] * words).sum(dim=1)
        f = torch.tanh(self.W_c(torch.cat([context, hidden], dim=-1)))
        return self.output(f), hidden


class StepLogProbabilitiesReturned(nn.Module):
    def __init__(self, vocab_size, d_embedding, d_hidden):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_embedding)
        self.gru = nn.GRUCell(d_embedding, d_hidden)
        self.W_c = nn.Linear(2 * d_hidden, d_hidden)
        self.output = nn.Linear(d_hidden, vocab_size)

    def forward(self, word, hidden, states, lengths):
        hidden = self.gru(self.embedding(word), hidden)
        e = (states * hidden[:, None]).sum(-1)
        mask = torch.arange(states.shape[1]) < lengths[:, None]
        alpha = e.masked_fill(~mask, float("-inf")).softmax(-1)
        context = (alpha[..., None] * states).sum(1)
        f = self.W_c(torch.cat([context, hidden], -1)).tanh()
        return self.output(f).log_softmax(-1), hidden


class EncoderRoadNormalised(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, pre_norm=False):
        super().__init__()
        self.pre_norm = pre_norm
        self.self_attention = MultiHeadAttention(d_model, n_heads)
        self.W_1 = nn.Linear(d_model, d_ff)
        self.W_2 = nn.Linear(d_ff, d_model)
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        if self.pre_norm:
            x = x + self.self_attention(self.norm_1(x), mask=mask)
            x = self.norm_2(x)
            return x + self.W_2(F.relu(self.W_1(x)))
        x = self.norm_1(x + self.self_attention(x, mask=mask))
        return self.norm_2(x + self.W_2(F.relu(self.W_1(x))))


class EncoderMaskForgottenInPreNorm(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, pre_norm=False):
        super().__init__()
        self.pre_norm = pre_norm
        self.self_attention = MultiHeadAttention(d_model, n_heads)
        self.W_1 = nn.Linear(d_model, d_ff)
        self.W_2 = nn.Linear(d_ff, d_model)
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)

    def feed_forward(self, x):
        return self.W_2(torch.relu(self.W_1(x)))

    def forward(self, x, mask=None):
        if not self.pre_norm:
            x = self.norm_1(x + self.self_attention(x, mask=mask))
            return self.norm_2(x + self.feed_forward(x))
        x = x + self.self_attention(self.norm_1(x))
        return x + self.feed_forward(self.norm_2(x))


class DecoderCausalMaskOnTheSource(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads)
        self.cross_attention = MultiHeadAttention(d_model, n_heads)
        self.W_1 = nn.Linear(d_model, d_ff)
        self.W_2 = nn.Linear(d_ff, d_model)
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.norm_3 = nn.LayerNorm(d_model)

    def forward(self, x, memory, source_mask=None):
        def causal(rows, columns):
            return torch.tril(torch.ones(rows, columns, dtype=torch.bool))

        if source_mask is None:
            source_mask = causal(x.shape[1], memory.shape[1])
        x = self.norm_1(x + self.self_attention(x, mask=causal(x.shape[1], x.shape[1])))
        x = self.norm_2(x + self.cross_attention(x, memory, source_mask))
        return self.norm_3(x + self.W_2(F.relu(self.W_1(x))))


class DecoderSourceMaskOnTheTarget(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads)
        self.cross_attention = MultiHeadAttention(d_model, n_heads)
        self.W_1 = nn.Linear(d_model, d_ff)
        self.W_2 = nn.Linear(d_ff, d_model)
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.norm_3 = nn.LayerNorm(d_model)

    def forward(self, x, memory, source_mask=None):
        n = x.shape[1]
        target_mask = torch.ones(n, n, dtype=torch.bool).tril()
        if source_mask is not None and source_mask.shape[-1] == n:
            target_mask = target_mask & source_mask
        x = self.norm_1(x + self.self_attention(x, mask=target_mask))
        x = self.norm_2(x + self.cross_attention(x, memory, source_mask))
        return self.norm_3(x + self.W_2(F.relu(self.W_1(x))))


def loss_padding_left_out_of_the_softmax(logits, target, pad):
    vocabulary = torch.arange(logits.shape[-1])
    logits = logits.masked_fill(vocabulary == pad, -1e9)
    return F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=pad)


def count_norm_squared(vocab_size, d_model, n_heads, d_ff, n_layers, tied=True):
    attention = 4 * (d_model * d_model + d_model)
    feed_forward = (d_model * d_ff + d_ff) + (d_ff * d_model + d_model)
    norm = d_model**2
    encoder = attention + feed_forward + 2 * norm
    decoder = 2 * attention + feed_forward + 3 * norm
    matrices = 1 if tied else 3
    return n_layers * (encoder + decoder) + matrices * vocab_size * d_model + vocab_size


def count_norms_of_one_layer(vocab_size, d_model, n_heads, d_ff, n_layers, tied=True):
    attention = 4 * d_model * (d_model + 1)
    feed_forward = 2 * d_model * d_ff + d_ff + d_model
    norms = 5 * 2 * d_model
    layers = n_layers * (3 * attention + 2 * feed_forward)
    matrix = vocab_size * d_model
    return layers + norms + (matrix if tied else 3 * matrix) + vocab_size


class StepDropsFeatures(nn.Module):
    rate = 0.2

    def __init__(self, vocab_size, d_embedding, d_hidden):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_embedding)
        self.gru = nn.GRUCell(d_embedding, d_hidden)
        self.W_c = nn.Linear(2 * d_hidden, d_hidden)
        self.output = nn.Linear(d_hidden, vocab_size)
        self.dropout = nn.Dropout(self.rate)

    def read(self, word):
        return self.embedding(word)

    def score(self, features):
        return self.output(self.dropout(features))

    def forward(self, word, hidden, states, lengths):
        hidden = self.gru(self.read(word), hidden)
        scores = torch.einsum("bd,bnd->bn", hidden, states)
        scores[torch.arange(states.shape[1]) >= lengths[:, None]] = -math.inf
        context = torch.einsum("bn,bnd->bd", scores.softmax(dim=-1), states)
        return self.score(torch.tanh(self.W_c(torch.cat([context, hidden], dim=-1)))), hidden


class StepDropsWords(StepDropsFeatures):
    def read(self, word):
        return self.dropout(super().read(word))

    def score(self, features):
        return self.output(features)


class StepAlwaysDrops(StepDropsFeatures):
    def score(self, features):
        return self.output(F.dropout(features, self.rate))


class BlockAsInThePaper(nn.Module):
    """Dropout on what each sublayer returns, which the paper has and the question has not."""

    rate, attention_rate = 0.1, 0.0

    def __init__(self, d_model, n_heads, d_ff, pre_norm=False):
        super().__init__()
        self.pre_norm = pre_norm
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout=self.attention_rate)
        self.W_1, self.W_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def drop(self, x):
        return F.dropout(x, self.rate, self.training)

    def inside(self, x):
        return x

    def forward(self, x, mask=None):
        sublayers = (
            (self.norm_1, lambda x: self.self_attention(x, mask=mask)),
            (self.norm_2, lambda x: self.W_2(self.inside(torch.relu(self.W_1(x))))),
        )
        for norm, f in sublayers:
            x = x + self.drop(f(norm(x))) if self.pre_norm else norm(x + self.drop(f(x)))
        return x


class BlockDropsInTheMiddle(BlockAsInThePaper):
    def drop(self, x):
        return x

    def inside(self, x):
        return F.dropout(x, 0.3, self.training)


class BlockDropsWeights(BlockAsInThePaper):
    """In the library's attention, which can."""

    rate, attention_rate = 0.0, 0.1


class BlockAlwaysDrops(BlockAsInThePaper):
    def drop(self, x):
        return F.dropout(x, self.rate)


class DecoderAsInThePaper(nn.Module):
    rate, attention_rate = 0.1, 0.0

    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        rate = self.attention_rate
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout=rate)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, dropout=rate)
        self.W_1 = nn.Linear(d_model, d_ff)
        self.W_2 = nn.Linear(d_ff, d_model)
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.norm_3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(self.rate)

    def drop(self, x):
        return self.dropout(x)

    def forward(self, x, memory, source_mask=None):
        causal = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
        x = self.norm_1(x + self.drop(self.self_attention(x, mask=causal)))
        x = self.norm_2(x + self.drop(self.cross_attention(x, memory, source_mask)))
        return self.norm_3(x + self.drop(self.W_2(F.relu(self.W_1(x)))))


class DecoderDropsWeights(DecoderAsInThePaper):
    rate, attention_rate = 0.0, 0.2


class DecoderAlwaysDrops(DecoderAsInThePaper):
    def drop(self, x):
        return F.dropout(x)


def additive_product_squeezed(query, states, W_q, W_k, v, lengths):
    hidden = torch.tanh(query.unsqueeze(1) @ W_q.T + states @ W_k.T)
    scores = hidden @ v
    scores[torch.arange(states.size(1))[None] >= lengths[:, None]] = -math.inf
    weights = F.softmax(scores, dim=1)
    return torch.bmm(weights.unsqueeze(1), states).squeeze(), weights


def additive_scores_squeezed(query, states, W_q, W_k, v, lengths):
    scores = (torch.tanh((query @ W_q.T)[:, None] + states @ W_k.T) @ v[:, None]).squeeze()
    padding = torch.arange(states.shape[1])[None, :] >= lengths[:, None]
    weights = torch.softmax(scores.masked_fill(padding, -math.inf), dim=-1)
    return (weights[:, None] @ states)[:, 0], weights


STUDENTS = {
    "hw2.additive_attention": {
        "axis_of_size_1_lost": [additive_product_squeezed, additive_scores_squeezed],
        "query_has_no_say": [additive_without_tanh, additive_states_only],
        "padding_ignored": [additive_all_positions],
        "masked_after_softmax": [additive_masked_late],
        "one_too_many": [additive_inclusive],
        "softmax_over_batch": [additive_dim_zero],
        "projected_states_averaged": [additive_keys_as_values],
        "tanh_after_v": [additive_squeezed],
        "square_matrices_untransposed": [additive_square_matrices_untransposed],
    },
    "hw2.DecoderStep": {
        "old_state_looks": [StepBahdanausOrder],
        "state_before_context": [StepHiddenFirst],
        "padding_ignored": [StepNoLengths],
        "probabilities_returned": [StepSoftmax],
        "scaled": [StepDefaultScale],
        "old_state_returned": [StepKeepsOldState],
        "gru_arguments_swapped": [StepGruBackwards],
        "first_length_for_all": [StepFirstLengthForAll],
        "log_probabilities_returned": [StepLogProbabilitiesReturned],
        "dropout_added": [StepDropsFeatures, StepDropsWords],
        "dropout_always": [StepAlwaysDrops],
    },
    "hw2.layer_norm": {
        "over_everything": [norm_of_everything],
        "unbiased_variance": [norm_torch_std, norm_torch_var],
        "eps_outside_the_root": [norm_population_std],
        "over_the_whole_sentence": [norm_sentence],
        "batch_normalisation": [norm_batch],
        "over_the_batch": [norm_dim_zero],
        "neither_gain_nor_shift": [norm_plain],
        "mean_not_subtracted": [norm_rms],
        "eps_not_the_one_given": [norm_default_eps],
        "eps_forgotten": [norm_without_eps],
    },
    "hw2.EncoderBlock": {
        "pre_norm_ignored": [BlockPaperOnly],
        "road_normalised": [EncoderRoadNormalised, BlockOverwrites],
        "mask_taken_for_context": [BlockMaskSecond],
        "mask_inverted": [BlockTorchsMask],
        "relu_forgotten": [BlockLinear],
        "no_residual": [BlockNoPlus],
        "sublayer_normalised_not_sum": [BlockNormInside],
        "mask_forgotten_in_pre_norm": [EncoderMaskForgottenInPreNorm],
        "dropout_added": [BlockAsInThePaper, BlockDropsInTheMiddle, BlockDropsWeights],
        "dropout_always": [BlockAlwaysDrops],
    },
    "hw2.DecoderBlock": {
        "no_causal_mask": [DecoderSeesAll],
        "causal_mask_inverted": [DecoderTorchsTriu],
        "sees_the_next": [DecoderOffByOne],
        "queries_from_the_source": [DecoderMemoryAsks],
        "source_mask_ignored": [DecoderForgetsSourceMask],
        "causal_mask_on_the_source": [DecoderCausalMaskOnTheSource, DecoderCausalBoth],
        "source_mask_on_the_target": [DecoderSourceMaskOnTheTarget, DecoderMaskAsSelfMask],
        "pre_norm": [DecoderPreNorm],
        "dropout_added": [DecoderAsInThePaper, DecoderDropsWeights],
        "dropout_always": [DecoderAlwaysDrops],
    },
    "hw2.teacher_forcing": {
        "end_is_read": [forcing_with_end],
        "end_is_read_in_shorter_sentences": [forcing_columns],
        "not_shifted": [forcing_unshifted],
        "end_forgotten": [forcing_never_stops],
        "padded_on_the_left": [forcing_left],
        "end_behind_the_padding": [forcing_end_last],
        "not_padded": [forcing_ragged],
    },
    "hw2.sequence_loss": {
        "padding_counted": [loss_everything],
        "padding_is_always_0": [loss_zero_ignored],
        "softmax_twice": [loss_softmaxed],
        "mean_of_sentence_means": [loss_mean_of_means],
        "divided_by_all_positions": [loss_over_all],
        "summed": [loss_sum],
        "shifted_again": [loss_as_language_models_do],
        "viewed_instead_of_transposed": [loss_view],
        "padding_left_out_of_the_softmax": [loss_padding_left_out_of_the_softmax],
    },
    "hw2.count_parameters": {
        "biases_forgotten": [count_matrices],
        "multiplied_by_the_heads": [count_every_head],
        "cross_attention_forgotten": [count_one_attention_each],
        "tied_embeddings_counted_again": [count_ends_apart],
        "third_norm_forgotten": [count_no_b_2],
        "final_norms_counted": [count_by_torchs_transformer],
        "norm_squared": [count_norm_squared],
        "norms_of_one_layer": [count_norms_of_one_layer],
    },
}
