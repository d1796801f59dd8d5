"""Right answers to homework 5, written as differently as students write: all of them must be
accepted.

`RIGHT_ANSWERS` maps a question's full name to its answers. Each stands alone.
"""

import math
from itertools import accumulate, chain, pairwise, zip_longest

import torch
import torch.nn.functional as F
from torch import nn

# --------------------------------------------------------------------------------------- pair_input


def pair_token_by_token(pairs, cls, sep, pad):
    rows = []
    for first, second in pairs:
        row = [(cls, 0)]
        for segment, sentence in enumerate((first, second)):
            if sentence is None:
                continue
            for token in sentence:
                row.append((token, segment))
            row.append((sep, segment))
        rows.append(row)
    n = max(map(len, rows))
    tokens, segments, positions = [], [], []
    for row in rows:
        while len(row) < n:
            row.append((pad, 0))
        tokens.append([token for token, _ in row])
        segments.append([segment for _, segment in row])
        positions.append([i for i, _ in enumerate(row)])
    return tokens, segments, positions


def pair_by_zip_longest(pairs, cls, sep, pad):
    tokens = [[cls] + a + [sep] + ([*b, sep] if b else []) for a, b in pairs]
    segments = [[0] * (len(a) + 2) + [1] * (len(b) + 1 if b else 0) for a, b in pairs]
    tokens = [list(row) for row in zip(*zip_longest(*tokens, fillvalue=pad), strict=True)]
    segments = [list(row) for row in zip(*zip_longest(*segments, fillvalue=0), strict=True)]
    return [tokens, segments, [list(range(len(row))) for row in tokens]]


def pair_filled_in(pairs, cls, sep, pad):
    """Full tables of padding first, then written over."""
    n = max(
        len(first) + 2 if second is None else len(first) + len(second) + 3
        for first, second in pairs
    )
    tokens = [[pad for _ in range(n)] for _ in pairs]
    segments = [[0 for _ in range(n)] for _ in pairs]
    for b, (first, second) in enumerate(pairs):
        end = len(first) + 2
        tokens[b][:end] = [cls, *first, sep]
        if second is not None:
            tokens[b][end : end + len(second) + 1] = [*second, sep]
            for i in range(end, end + len(second) + 1):
                segments[b][i] = 1
    return tokens, segments, [list(range(n))] * len(pairs)


# --------------------------------------------------------------------------------------- Embeddings


class EmbeddingsStepwise(nn.Module):
    def __init__(self, vocab_size, d_model, max_len, n_segments=2):
        super().__init__()
        self.norm = nn.LayerNorm(d_model, 1e-12)
        self.segments = nn.Embedding(n_segments, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.tokens = nn.Embedding(vocab_size, d_model)

    def forward(self, tokens, segments=None):
        batch, n = tokens.size()
        x = self.tokens(tokens)
        x = x + self.positions(torch.arange(n).unsqueeze(0).repeat(batch, 1))
        x = x + (self.segments.weight[0] if segments is None else self.segments(segments))
        return self.norm(x)


class EmbeddingsBySlices(nn.Module):
    def __init__(self, vocab_size, d_model, max_len, n_segments=2):
        super().__init__()
        self.tokens, self.positions, self.segments = (
            nn.Embedding(rows, d_model) for rows in (vocab_size, max_len, n_segments)
        )
        self.norm = nn.LayerNorm(d_model)
        self.norm.eps = 1e-12

    def forward(self, tokens, segments=None):
        segments = tokens * 0 if segments is None else segments
        return self.norm(
            self.tokens.weight[tokens]
            + self.positions.weight[: tokens.shape[-1]]
            + self.segments.weight[segments]
        )


class EmbeddingsOneHot(nn.Module):
    """Matrix products instead of looking up, and the norm by hand."""

    def __init__(self, vocab_size, d_model, max_len, n_segments=2):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.segments = nn.Embedding(n_segments, d_model)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, tokens, segments=None):
        if segments is None:
            segments = torch.zeros(tokens.shape, dtype=torch.long)
        tables = (self.tokens, self.positions, self.segments)
        numbers = (tokens, torch.arange(tokens.shape[1]).expand_as(tokens), segments)
        x = sum(
            F.one_hot(ids, len(table.weight)).float() @ table.weight
            for table, ids in zip(tables, numbers, strict=True)
        )
        x = x - x.mean(-1, keepdim=True)
        return (
            self.norm.weight * x / (x.pow(2).mean(-1, keepdim=True) + 1e-12).sqrt() + self.norm.bias
        )


class EmbeddingsWithNumbers(EmbeddingsStepwise):
    """The positions' numbers wait in a buffer, as in Hugging Face's BERT."""

    def __init__(self, vocab_size, d_model, max_len, n_segments=2):
        super().__init__(vocab_size, d_model, max_len, n_segments)
        self.register_buffer("position_ids", torch.arange(max_len)[None])

    def forward(self, tokens, segments=None):
        segments = torch.zeros_like(tokens) if segments is None else segments
        where = self.position_ids[:, : tokens.shape[1]]
        return self.norm(self.tokens(tokens) + self.positions(where) + self.segments(segments))


# --------------------------------------------------------------------------------------- count_bert


def count_by_building(vocab_size, d_model, n_layers, d_ff, max_len, n_segments, heads=False):
    """Not on paper, but with PyTorch's own layers, which hold no numbers on the device "meta"."""
    with torch.device("meta"):
        parts = [nn.Embedding(rows, d_model) for rows in (vocab_size, max_len, n_segments)] + [
            nn.LayerNorm(d_model)
        ]
        for _ in range(n_layers):
            parts += [nn.Linear(d_model, d_model) for _ in range(4)]
            parts += [
                nn.Linear(d_model, d_ff),
                nn.Linear(d_ff, d_model),
                nn.LayerNorm(d_model),
                nn.LayerNorm(d_model),
            ]
        parts.append(nn.Linear(d_model, d_model))
        if heads:
            parts += [nn.Linear(d_model, d_model), nn.LayerNorm(d_model), nn.Linear(d_model, 2)]
    return sum(p.numel() for part in parts for p in part.parameters()) + heads * vocab_size


def count_in_one_line(vocab_size, d_model, n_layers, d_ff, max_len, n_segments, heads=False):
    d = d_model
    body = (
        (vocab_size + max_len + n_segments + 2) * d
        + n_layers * (4 * d**2 + 2 * d * d_ff + 9 * d + d_ff)
        + d**2
        + d
    )
    return body + (d**2 + 5 * d + vocab_size + 2 if heads else 0)


def count_by_a_list_of_shapes(
    vocab_size, d_model, n_layers, d_ff, max_len, n_segments, heads=False
):
    block = (
        [(d_model, d_model), (d_model,)] * 4
        + [(d_model, d_ff), (d_ff,), (d_ff, d_model), (d_model,)]
        + [(d_model,)] * 4
    )
    shapes = [
        (vocab_size, d_model),
        (max_len, d_model),
        (n_segments, d_model),
        (d_model,),
        (d_model,),
    ]
    shapes += block * n_layers + [(d_model, d_model), (d_model,)]
    if heads:
        shapes += [
            (d_model, d_model),
            (d_model,),
            (d_model,),
            (d_model,),
            (vocab_size,),
            (2, d_model),
            (2,),
        ]
    return sum(math.prod(shape) for shape in shapes)


# --------------------------------------------------------------------------------------- mask_words


def mask_by_words(tokens, chance, fate, others):
    """First the words, as lists of places; then what becomes of each."""
    words = []
    for i, token in enumerate(tokens):
        if token[:2] == "##":
            words[-1].append(i)
        elif token not in {"[CLS]", "[SEP]", "[PAD]"}:
            words.append([i])
    read, chosen = list(tokens), [False] * len(tokens)
    for word in words:
        if chance[word[0]] >= 0.15:
            continue
        for i in word:
            chosen[i] = True
            if fate[i] < 0.8:
                read[i] = "[MASK]"
            elif fate[i] < 0.9:
                read[i] = others[i]
    return read, chosen


def mask_by_accumulate(tokens, chance, fate, others):
    starts = list(
        accumulate(range(len(tokens)), lambda start, i: start if tokens[i].startswith("##") else i)
    )
    chosen = [
        chance[start] < 0.15 and tokens[start] not in ("[CLS]", "[SEP]", "[PAD]")
        for start in starts
    ]
    choices = zip(tokens, chosen, fate, others, strict=True)
    return [
        token if not c or f >= 0.9 else other if f >= 0.8 else "[MASK]"
        for token, c, f, other in choices
    ], chosen


def mask_with_tensors(tokens, chance, fate, others):
    begins = torch.tensor([not token.startswith("##") for token in tokens])
    special = torch.tensor([token in ("[CLS]", "[SEP]", "[PAD]") for token in tokens])
    place = torch.arange(len(tokens))
    start = torch.where(begins, place, 0).cummax(0).values
    fates = torch.tensor(fate, dtype=torch.float64)
    chosen = (torch.tensor(chance, dtype=torch.float64)[start] < 0.15) & ~special[start]
    what = chosen * (1 + (fates >= 0.8).int() + (fates >= 0.9).int())  # 0 and 3: it stays
    return [
        (token, "[MASK]", other, token)[w]
        for token, other, w in zip(tokens, others, what.tolist(), strict=True)
    ], chosen.tolist()


# ----------------------------------------------------------------------------------------- WordHead


class HeadPlain(nn.Module):
    def __init__(self, d_model, vocab_size):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(vocab_size))
        self.norm = nn.LayerNorm((d_model,), eps=1e-12)
        self.dense = nn.Linear(d_model, d_model)
        self.activation = nn.GELU()

    def forward(self, hidden, token_vectors, at=None):
        x = self.norm(self.activation(self.dense(hidden)))
        scores = F.linear(x, token_vectors, self.bias)
        return scores if at is None else scores[at]


class HeadByLoop(nn.Module):
    def __init__(self, d_model, vocab_size):
        super().__init__()
        self.dense = nn.Linear(d_model, d_model, bias=True)
        self.norm = nn.LayerNorm(d_model, eps=1e-12)
        self.bias = nn.parameter.Parameter(torch.zeros(vocab_size))

    def forward(self, hidden, token_vectors, at=None):
        if at is not None:
            chosen = [
                hidden[b, i] for b in range(at.shape[0]) for i in range(at.shape[1]) if at[b, i]
            ]
            hidden = torch.stack(chosen) if chosen else hidden[:0, 0]
        x = self.dense(hidden)
        x = self.norm(x * 0.5 * (1 + torch.erf(x / math.sqrt(2))))
        return torch.einsum("...d,vd->...v", x, token_vectors) + self.bias


class HeadFlattened(nn.Module):
    def __init__(self, d_model, vocab_size):
        super().__init__()
        self.dense, self.norm = nn.Linear(d_model, d_model), nn.LayerNorm(d_model, eps=1e-12)
        self.register_parameter("bias", nn.Parameter(torch.empty(vocab_size)))

    def forward(self, hidden, token_vectors, at=None):
        batch, n, d_model = hidden.shape
        rows = hidden.reshape(batch * n, d_model)
        if at is not None:
            rows = rows[at.flatten().nonzero().squeeze(1)]
        scores = torch.addmm(
            self.bias, self.norm(F.gelu(self.dense(rows))), token_vectors.transpose(0, 1)
        )
        return scores.view(batch, n, -1) if at is None else scores


class HeadInARow(nn.Module):
    """Layer, GELU and norm also as one chain, which holds the parameters a second time."""

    def __init__(self, d_model, vocab_size):
        super().__init__()
        self.dense = nn.Linear(d_model, d_model)
        self.norm = nn.LayerNorm(d_model, eps=1e-12)
        self.bias = nn.Parameter(torch.zeros(vocab_size))
        self.chain = nn.Sequential(self.dense, nn.GELU(), self.norm)

    def forward(self, hidden, token_vectors, at=None):
        hidden = hidden if at is None else hidden[at]
        return self.chain(hidden) @ token_vectors.T + self.bias


# --------------------------------------------------------------------------------- masked_word_loss


def loss_by_gather(logits, positions, words, weights):
    scores = logits.gather(1, positions[:, :, None].expand(-1, -1, logits.shape[-1]))
    losses = -scores.log_softmax(-1).gather(-1, words.unsqueeze(-1)).squeeze(-1)
    return torch.sum(losses * weights) / torch.sum(weights)


def loss_by_loops(logits, positions, words, weights):
    losses = []
    for b in range(positions.shape[0]):
        for j in range(positions.shape[1]):
            if weights[b, j] == 1:
                scores = logits[b, positions[b, j]]
                losses.append(torch.logsumexp(scores, dim=0) - scores[words[b, j]])
    return torch.stack(losses).mean()


def loss_by_ignoring(logits, positions, words, weights):
    """As chapter 13 has it: a label for every token, and -100 where none was chosen."""
    labels = torch.full(logits.shape[:2], -100)
    for b, j in (weights > 0).nonzero().tolist():
        labels[b, positions[b, j]] = words[b, j]
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100)


# ------------------------------------------------------------------------------ next_sentence_pairs


def pairs_by_an_iterator(documents, draws):
    draw = iter(draws)
    found = []
    for number, document in enumerate(documents):
        for i in range(len(document) - 1):
            coin, u, v = next(draw)
            label = int(coin >= 0.5)
            second = document[i + 1]
            if label:
                others = [other for j, other in enumerate(documents) if j != number]
                chosen = others[math.floor(u * len(others))]
                second = chosen[math.floor(v * len(chosen))]
            found += [(document[i], second, label)]
    return found


def pairs_by_stepping_over(documents, draws):
    """The own document is stepped over by its number instead of being left out."""
    pairs, k = [], 0
    for d in range(len(documents)):
        for i in range(1, len(documents[d])):
            coin, u, v = draws[k]
            k += 1
            if coin < 0.5:
                pairs.append([documents[d][i - 1], documents[d][i], 0])
                continue
            other = int(u * (len(documents) - 1))
            if other >= d:
                other += 1
            pairs.append([documents[d][i - 1], documents[other][int(v * len(documents[other]))], 1])
    return pairs


def pairs_by_zip(documents, draws):
    neighbours = chain.from_iterable(
        ((d, *pair) for pair in pairwise(document)) for d, document in enumerate(documents)
    )

    def pair(d, first, successor, coin, u, v):
        if coin < 0.5:
            return first, successor, 0
        others = documents[:d] + documents[d + 1 :]
        other = others[int(u * len(others))]
        return first, other[int(v * len(other))], 1

    return [pair(*neighbour, *draw) for neighbour, draw in zip(neighbours, draws, strict=False)]


def pairs_with_truth_values(documents, draws):
    """True for a 1: what a comparison gives."""
    pairs = pairs_by_zip(documents, draws)
    return [
        (first, second, coin >= 0.5)
        for (first, second, _), (coin, *_) in zip(pairs, draws, strict=False)
    ]


RIGHT_ANSWERS = {
    "hw5.pair_input": (pair_token_by_token, pair_by_zip_longest, pair_filled_in),
    "hw5.Embeddings": (
        EmbeddingsStepwise,
        EmbeddingsBySlices,
        EmbeddingsOneHot,
        EmbeddingsWithNumbers,
    ),
    "hw5.count_bert": (count_by_building, count_in_one_line, count_by_a_list_of_shapes),
    "hw5.mask_words": (mask_by_words, mask_by_accumulate, mask_with_tensors),
    "hw5.WordHead": (HeadPlain, HeadByLoop, HeadFlattened, HeadInARow),
    "hw5.masked_word_loss": (loss_by_gather, loss_by_loops, loss_by_ignoring),
    "hw5.next_sentence_pairs": (
        pairs_by_an_iterator,
        pairs_by_stepping_over,
        pairs_by_zip,
        pairs_with_truth_values,
    ),
}
