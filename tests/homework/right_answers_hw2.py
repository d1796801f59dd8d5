"""Right answers to homework 2, written as differently as students write: all of them must be
accepted.

`RIGHT_ANSWERS` maps a question's full name to its answers. Each stands alone: it uses torch, the
standard library and the given `MultiHeadAttention` only.
"""

import itertools
import math

import torch
import torch.nn.functional as F
from torch import nn

from lectures_lib.blocks.attention import MultiHeadAttention

# ------------------------------------------------------------------------------- additive_attention


def additive_einsum(query, states, W_q, W_k, v, lengths):
    asked = torch.einsum("bq,hq->bh", query, W_q)
    offered = torch.einsum("bns,hs->bnh", states, W_k)
    scores = torch.einsum("h,bnh->bn", v, torch.tanh(asked.unsqueeze(1) + offered))
    padding = torch.arange(states.size(1)).expand(len(lengths), -1) >= lengths.unsqueeze(1)
    weights = F.softmax(scores.masked_fill(padding, float("-inf")), dim=1)
    return torch.einsum("bn,bns->bs", weights, states), weights


def additive_linear(query, states, W_q, W_k, v, lengths):
    n = states.shape[1]
    hidden = F.linear(query, W_q).unsqueeze(1).expand(-1, n, -1) + F.linear(states, W_k)
    scores = F.linear(hidden.tanh(), v[None]).squeeze(-1)
    for b, length in enumerate(lengths):
        scores[b, length:] = -math.inf
    weights = scores.softmax(-1)
    return torch.bmm(weights.unsqueeze(1), states).squeeze(1), weights


def additive_sentence_by_sentence(query, states, W_q, W_k, v, lengths):
    contexts, weights = [], torch.zeros(states.shape[:2])
    for b, n in enumerate(lengths.tolist()):
        powers = [
            math.exp(float(v @ torch.tanh(W_q @ query[b] + W_k @ states[b, j]))) for j in range(n)
        ]
        for j, power in enumerate(powers):
            weights[b, j] = power / sum(powers)
        contexts.append(sum(weights[b, j] * states[b, j] for j in range(n)))
    return torch.stack(contexts), weights


def additive_concatenated(query, states, W_q, W_k, v, lengths):
    """As in Bahdanau's appendix: one matrix for query and state, side by side."""
    pairs = torch.cat([query[:, None].expand(-1, states.shape[1], -1), states], dim=-1)
    scores = torch.tanh(pairs @ torch.cat([W_q, W_k], dim=1).T) @ v
    kept = torch.exp(scores - scores.amax(dim=1, keepdim=True)) * (
        torch.arange(states.shape[1])[None] < lengths[:, None]
    )
    weights = kept / kept.sum(dim=1, keepdim=True)
    return [(weights.unsqueeze(-1) * states).sum(dim=1), weights]


# -------------------------------------------------------------------------------------- DecoderStep


class StepEinsum(nn.Module):
    def __init__(self, vocab_size, d_embedding, d_hidden):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_embedding)
        self.gru = nn.GRUCell(d_embedding, d_hidden)
        self.W_c = nn.Linear(2 * d_hidden, d_hidden)
        self.output = nn.Linear(d_hidden, vocab_size)

    def forward(self, word, hidden, states, lengths):
        hidden = self.gru(self.embedding(word), hidden)
        scores = torch.einsum("bd,bnd->bn", hidden, states)
        padding = torch.arange(states.shape[1])[None, :] >= lengths[:, None]
        weights = torch.softmax(scores.masked_fill(padding, -math.inf), dim=-1)
        context = torch.einsum("bn,bnd->bd", weights, states)
        return self.output(torch.tanh(self.W_c(torch.cat((context, hidden), dim=1)))), hidden


class StepFusedAttention(StepEinsum):
    def forward(self, word, hidden, states, lengths):
        hidden = self.gru(self.embedding(word), hidden)
        mask = (torch.arange(states.shape[1]) < lengths[:, None])[:, None]
        context = F.scaled_dot_product_attention(
            hidden[:, None], states, states, attn_mask=mask, scale=1.0
        )
        return self.output(self.W_c(torch.cat([context[:, 0], hidden], dim=-1)).tanh()), hidden


class StepGatesByHand(nn.Module):
    """The recurrent unit written out; its parameters keep their names in a module of their own."""

    class Cell(nn.Module):
        def __init__(self, d_in, d_hidden):
            super().__init__()
            self.weight_ih = nn.Parameter(torch.zeros(3 * d_hidden, d_in))
            self.weight_hh = nn.Parameter(torch.zeros(3 * d_hidden, d_hidden))
            self.bias_ih, self.bias_hh = (nn.Parameter(torch.zeros(3 * d_hidden)) for _ in range(2))

    def __init__(self, vocab_size, d_embedding, d_hidden):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_embedding)
        self.gru = self.Cell(d_embedding, d_hidden)
        self.W_c = nn.Linear(d_hidden * 2, d_hidden)
        self.output = nn.Linear(d_hidden, vocab_size)

    def forward(self, word, hidden, states, lengths):
        r_x, z_x, n_x = F.linear(
            self.embedding.weight[word], self.gru.weight_ih, self.gru.bias_ih
        ).chunk(3, dim=-1)
        r_h, z_h, n_h = F.linear(hidden, self.gru.weight_hh, self.gru.bias_hh).chunk(3, dim=-1)
        z = torch.sigmoid(z_x + z_h)
        new = (1 - z) * torch.tanh(n_x + torch.sigmoid(r_x + r_h) * n_h) + z * hidden
        context = torch.zeros_like(new)
        for b, n in enumerate(lengths):
            context[b] = (states[b, :n] @ new[b]).softmax(dim=0) @ states[b, :n]
        d = new.shape[-1]
        mixed = context @ self.W_c.weight[:, :d].T + new @ self.W_c.weight[:, d:].T + self.W_c.bias
        return self.output(mixed.tanh()), new


# --------------------------------------------------------------------------------------- layer_norm


def norm_var_mean(x, gamma, beta, eps=1e-5):
    variance, mean = torch.var_mean(x, dim=-1, keepdim=True, correction=0)
    return (x - mean) * torch.rsqrt(variance + eps) * gamma + beta


def norm_word_by_word(x, gamma, beta, eps=1e-5):
    words = []
    for word in x.reshape(-1, x.shape[-1]):
        mean = sum(word.tolist()) / len(word)
        variance = sum((number - mean) ** 2 for number in word.tolist()) / len(word)
        words.append(
            torch.tensor([(number - mean) / math.sqrt(variance + eps) for number in word.tolist()])
            * gamma
            + beta
        )
    return torch.stack(words).reshape(x.shape)


def norm_features_in_front(x, gamma, beta, eps=1e-5):
    features = x.movedim(-1, 0)
    features = features - features.sum(dim=0) / len(features)
    features = features / torch.sqrt(features.square().mean(dim=0) + eps)
    return torch.addcmul(beta, features.movedim(0, -1), gamma)


# ------------------------------------------------------------------------------------- EncoderBlock


class EncoderPlain(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, pre_norm=False):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads)
        self.W_1, self.W_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.pre_norm = pre_norm

    def forward(self, x, mask=None):
        if self.pre_norm:
            x = x + self.self_attention(self.norm_1(x), mask=mask)
            return x + self.W_2(torch.clamp(self.W_1(self.norm_2(x)), min=0))
        x = self.norm_1(x + self.self_attention(x, mask=mask))
        return self.norm_2(x + self.W_2(torch.clamp(self.W_1(x), min=0)))


class EncoderConvolution(EncoderPlain):
    """Feed-forward as two convolutions with kernel 1; a context that is named although it is x
    itself.
    """

    def sublayer(self, x, function, norm):
        return x + function(norm(x)) if self.pre_norm else norm(x + function(x))

    def convolve(self, x):
        hidden = F.conv1d(x.transpose(1, 2), self.W_1.weight[..., None], self.W_1.bias).relu()
        return F.conv1d(hidden, self.W_2.weight[..., None], self.W_2.bias).transpose(1, 2)

    def forward(self, x, mask=None):
        x = self.sublayer(x, lambda y: self.self_attention(y, y, mask), self.norm_1)
        return self.sublayer(x, self.convolve, self.norm_2)


class EncoderOwnAttention(nn.Module):
    """Nothing ready-made but linear layers: attention and norm written out."""

    class Attention(nn.Module):
        def __init__(self, d_model):
            super().__init__()
            self.W_Q, self.W_K, self.W_V, self.W_O = (
                nn.Linear(d_model, d_model, bias=False) for _ in range(4)
            )

    class Norm(nn.Module):
        def __init__(self, d_model):
            super().__init__()
            self.weight, self.bias = (
                nn.Parameter(torch.ones(d_model)),
                nn.Parameter(torch.zeros(d_model)),
            )

        def forward(self, x):
            x = x - x.mean(-1, keepdim=True)
            return self.weight * x / (x.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() + self.bias

    def __init__(self, d_model, n_heads, d_ff, pre_norm=False):
        super().__init__()
        self.n_heads, self.pre_norm = n_heads, pre_norm
        self.self_attention = self.Attention(d_model)
        self.W_1, self.W_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm_1, self.norm_2 = self.Norm(d_model), self.Norm(d_model)

    def attend(self, x, mask):
        a = self.self_attention
        Q, K, V = (
            W(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for W in (a.W_Q, a.W_K, a.W_V)
        )
        scores = Q @ K.mT / math.sqrt(Q.shape[-1])
        scores = scores if mask is None else scores.masked_fill(~mask, -math.inf)
        return a.W_O((scores.softmax(-1) @ V).transpose(1, 2).flatten(2))

    def forward(self, x, mask=None):
        before = (self.norm_1, self.norm_2) if self.pre_norm else (nn.Identity(), nn.Identity())
        after = (nn.Identity(), nn.Identity()) if self.pre_norm else (self.norm_1, self.norm_2)
        x = after[0](x + self.attend(before[0](x), mask))
        return after[1](x + self.W_2(torch.relu(self.W_1(before[1](x)))))


# ------------------------------------------------------------------------------------- DecoderBlock


class DecoderPlain(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads)
        self.cross_attention = MultiHeadAttention(d_model, n_heads)
        self.W_1, self.W_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm_1, self.norm_2, self.norm_3 = (
            nn.LayerNorm(d_model),
            nn.LayerNorm(d_model),
            nn.LayerNorm(d_model),
        )

    def forward(self, x, memory, source_mask=None):
        seats = torch.arange(x.shape[1])
        x = self.norm_1(x + self.self_attention(x, x, seats <= seats[:, None]))
        x = self.norm_2(x + self.cross_attention(x, context=memory, mask=source_mask))
        return self.norm_3(x + self.W_2(F.relu(self.W_1(x))))


class DecoderStepByStep(DecoderPlain):
    """One position after the other, each given only what is there already: no causal mask is needed
    then.
    """

    def forward(self, x, memory, source_mask=None):
        written = []
        for i in range(x.shape[1]):
            so_far, last = x[:, : i + 1], x[:, i : i + 1]
            y = self.norm_1(last + self.self_attention(last, so_far))
            y = self.norm_2(y + self.cross_attention(y, memory, source_mask))
            written.append(self.norm_3(y + self.W_2(torch.relu(self.W_1(y)))))
        return torch.cat(written, dim=1)


class DecoderFused(DecoderPlain):
    """The matrices taken out of the given attention, and torch's fused kernel in place of its
    forward.
    """

    def attend(self, attention, x, context, **options):
        heads = [
            projection(y).unflatten(-1, (attention.n_heads, -1)).transpose(1, 2)
            for projection, y in (
                (attention.W_Q, x),
                (attention.W_K, context),
                (attention.W_V, context),
            )
        ]
        return attention.W_O(
            F.scaled_dot_product_attention(*heads, **options).transpose(1, 2).flatten(2)
        )

    def forward(self, x, memory, source_mask=None):
        x = self.norm_1(x + self.attend(self.self_attention, x, x, is_causal=True))
        x = self.norm_2(x + self.attend(self.cross_attention, x, memory, attn_mask=source_mask))
        hidden = torch.einsum("bnd,fd->bnf", x, self.W_1.weight) + self.W_1.bias
        return self.norm_3(
            x + torch.einsum("bnf,df->bnd", hidden.clamp(min=0), self.W_2.weight) + self.W_2.bias
        )


# ---------------------------------------------------------------------------------- teacher_forcing


def forcing_longest(sentences, begin, end, pad):
    return (
        [
            list(row)
            for row in zip(
                *itertools.zip_longest(*([begin, *words] for words in sentences), fillvalue=pad),
                strict=True,
            )
        ],
        [
            list(row)
            for row in zip(
                *itertools.zip_longest(*([*words, end] for words in sentences), fillvalue=pad),
                strict=True,
            )
        ],
    )


def forcing_while(sentences, begin, end, pad):
    longest = 0
    for words in sentences:
        if len(words) > longest:
            longest = len(words)
    read, predict = [], []
    for words in sentences:
        row = [begin]
        row.extend(words)
        target = words.copy()
        target.append(end)
        while len(row) < longest + 1:
            row.append(pad)
            target.append(pad)
        read.append(row)
        predict.append(target)
    return read, predict


def forcing_whole_sequence(sentences, begin, end, pad):
    whole = [[begin, *words, end] for words in sentences]
    fill = max(len(row) for row in whole)
    return tuple(
        [row[part] + [pad] * (fill - len(row)) for row in whole]
        for part in (slice(None, -1), slice(1, None))
    )


def forcing_shifted_and_blanked(sentences, begin, end, pad):
    """The shift of a padded table, and then padding wherever there is nothing to predict."""
    n = max(len(words) for words in sentences) + 1
    predict = [(words + [end] + n * [pad])[:n] for words in sentences]
    shifted = [[begin, *row[:-1]] for row in predict]
    lengths = [len(words) + 1 for words in sentences]
    return [
        [
            [token if i < length else pad for i, token in enumerate(row)]
            for row, length in zip(shifted, lengths, strict=True)
        ],
        predict,
    ]


# ------------------------------------------------------------------------------------ sequence_loss


def loss_transposed(logits, target, pad):
    return F.cross_entropy(logits.transpose(1, 2), target, ignore_index=pad)


def loss_gather(logits, target, pad):
    log_p = torch.log_softmax(logits, dim=-1).gather(2, target.unsqueeze(2)).squeeze(2)
    words = target != pad
    return -(log_p * words).sum() / words.sum()


def loss_chosen_rows(logits, target, pad):
    words = target.ne(pad)
    return nn.CrossEntropyLoss()(logits[words], target[words])


def loss_word_by_word(logits, target, pad):
    losses = []
    for sentence, row in zip(logits, target, strict=True):
        for scores, token in zip(sentence, row, strict=True):
            if token != pad:
                losses.append(scores.logsumexp(dim=0) - scores[token])
    return sum(losses) / len(losses)


# --------------------------------------------------------------------------------- count_parameters


def count_added_up(vocab_size, d_model, n_heads, d_ff, n_layers, tied=True):
    total = 0
    for kind in ("encoder", "decoder"):
        for _ in range(n_layers):
            for _ in range(1 if kind == "encoder" else 2):
                total += 4 * d_model**2 + 4 * d_model
            total += d_model * d_ff + d_ff + d_ff * d_model + d_model
            total += 2 * d_model * (2 if kind == "encoder" else 3)
    for _ in range(1 if tied else 3):
        total += vocab_size * d_model
    return total + vocab_size


def count_formula(vocab_size, d_model, n_heads, d_ff, n_layers, tied=True):
    d = d_model
    return n_layers * (12 * d * d + 4 * d * d_ff + 2 * d_ff + 24 * d) + vocab_size * (
        (1 if tied else 3) * d + 1
    )


def count_by_head(vocab_size, d_model, n_heads, d_ff, n_layers, tied=True):
    d_k = d_model // n_heads
    attention = n_heads * 3 * (d_model * d_k + d_k) + (n_heads * d_k * d_model + d_model)
    feed_forward = (d_model + 1) * d_ff + (d_ff + 1) * d_model
    stacks = n_layers * (3 * attention + 2 * feed_forward + 5 * 2 * d_model)
    return stacks + vocab_size * d_model + (0 if tied else 2 * vocab_size * d_model) + vocab_size


def count_by_torch(vocab_size, d_model, n_heads, d_ff, n_layers, tied=True):
    with torch.device("meta"):
        encoder, decoder = (
            nn.TransformerEncoderLayer(d_model, n_heads, d_ff),
            nn.TransformerDecoderLayer(d_model, n_heads, d_ff),
        )
        ends = [nn.Linear(d_model, vocab_size)] + (
            [] if tied else [nn.Embedding(vocab_size, d_model) for _ in range(2)]
        )
    return sum(
        p.numel() * (n_layers if m in (encoder, decoder) else 1)
        for m in [encoder, decoder, *ends]
        for p in m.parameters()
    )


RIGHT_ANSWERS = {
    "hw2.additive_attention": (
        additive_einsum,
        additive_linear,
        additive_sentence_by_sentence,
        additive_concatenated,
    ),
    "hw2.DecoderStep": (StepEinsum, StepFusedAttention, StepGatesByHand),
    "hw2.layer_norm": (norm_var_mean, norm_word_by_word, norm_features_in_front),
    "hw2.EncoderBlock": (EncoderPlain, EncoderConvolution, EncoderOwnAttention),
    "hw2.DecoderBlock": (DecoderPlain, DecoderStepByStep, DecoderFused),
    "hw2.teacher_forcing": (
        forcing_longest,
        forcing_while,
        forcing_whole_sequence,
        forcing_shifted_and_blanked,
    ),
    "hw2.sequence_loss": (loss_transposed, loss_gather, loss_chosen_rows, loss_word_by_word),
    "hw2.count_parameters": (count_added_up, count_formula, count_by_head, count_by_torch),
}
