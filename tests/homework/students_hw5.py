"""Homework 5 answered wrongly, as students write it: each must get the name of its mistake.

`STUDENTS` maps a question's full name to {mistake: [answers]}. Each answer stands alone, but for
the classes that some share.
"""

from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import nn

# --------------------------------------------------------------------------------------- pair_input


def pair_without_the_end(pairs, cls, sep, pad):
    rows = [[cls, *a, sep, *b] if b else [cls, *a, sep] for a, b in pairs]
    segments = [[0] * (len(a) + 2) + [1] * len(b or []) for a, b in pairs]
    n = max(map(len, rows))
    return (
        [r + [pad] * (n - len(r)) for r in rows],
        [s + [0] * (n - len(s)) for s in segments],
        [list(range(n)) for _ in rows],
    )


def pair_sep_begins_the_second(pairs, cls, sep, pad):
    rows = [[cls, *a, sep, *b, sep] if b else [cls, *a, sep] for a, b in pairs]
    segments = [
        [0] * (len(a) + 1) + [1] * (len(b) + 2) if b else [0] * (len(a) + 2) for a, b in pairs
    ]
    n = max(map(len, rows))
    return (
        [r + [pad] * (n - len(r)) for r in rows],
        [s + [0] * (n - len(s)) for s in segments],
        [list(range(n)) for _ in rows],
    )


def pair_one_and_two(pairs, cls, sep, pad):
    """Segments 1 and 2; 0 is left for padding."""
    rows = [[cls, *a, sep, *b, sep] if b else [cls, *a, sep] for a, b in pairs]
    segments = [[1] * (len(a) + 2) + ([2] * (len(b) + 1) if b else []) for a, b in pairs]
    n = max(map(len, rows))
    return (
        [r + [pad] * (n - len(r)) for r in rows],
        [s + [0] * (n - len(s)) for s in segments],
        [list(range(n)) for _ in rows],
    )


def pair_enumerated_twice(pairs, cls, sep, pad):
    tokens, segments, positions = [], [], []
    for a, b in pairs:
        halves = [[cls, *a, sep]] + ([[*b, sep]] if b else [])
        tokens.append([t for half in halves for t in half])
        segments.append([s for s, half in enumerate(halves) for _ in half])
        positions.append([i for half in halves for i in range(len(half))])
    n = max(map(len, tokens))
    for t, s, p in zip(tokens, segments, positions, strict=True):
        while len(t) < n:
            t.append(pad)
            s.append(0)
            p.append(p[-1] + 1)
    # the padding's own positions count the places of the row
    positions = [
        p[: len(p) - t.count(pad)] + list(range(len(p) - t.count(pad), n))
        for p, t in zip(positions, tokens, strict=True)
    ]
    return tokens, segments, positions


def pair_zeros_for_padding(pairs, cls, sep, pad):
    rows = [[cls, *a, sep, *b, sep] if b else [cls, *a, sep] for a, b in pairs]
    segments = [[0] * (len(a) + 2) + [1] * (len(b) + 1 if b else 0) for a, b in pairs]
    n = max(map(len, rows))
    positions = [list(range(len(r))) + [0] * (n - len(r)) for r in rows]
    return (
        [r + [pad] * (n - len(r)) for r in rows],
        [s + [0] * (n - len(s)) for s in segments],
        positions,
    )


def pair_switch_at_sep(pairs, cls, sep, pad):
    """A counter that is raised behind each [SEP], through the padding."""
    n = max(len(a) + len(b or []) + (3 if b else 2) for a, b in pairs)
    tokens, segments = [], []
    for a, b in pairs:
        row = [cls, *a, sep] + ([*b, sep] if b else [])
        row += [pad] * (n - len(row))
        segment, numbers = 0, []
        for token in row:
            numbers.append(segment)
            if token == sep:
                segment += 1
        tokens.append(row)
        segments.append(numbers)
    return tokens, segments, [list(range(n)) for _ in pairs]


def pair_always_two_ends(pairs, cls, sep, pad):
    rows = [[cls, *a, sep, *(b or []), sep] for a, b in pairs]
    segments = [[0] * (len(a) + 2) + [1] * (len(b or []) + 1) for a, b in pairs]
    n = max(map(len, rows))
    return (
        [r + [pad] * (n - len(r)) for r in rows],
        [s + [0] * (n - len(s)) for s in segments],
        [list(range(n)) for _ in rows],
    )


def pair_ragged(pairs, cls, sep, pad):
    rows = [[cls, *a, sep, *b, sep] if b else [cls, *a, sep] for a, b in pairs]
    return (
        rows,
        [[0] * (len(a) + 2) + [1] * (len(b) + 1 if b else 0) for a, b in pairs],
        [list(range(len(r))) for r in rows],
    )


# --------------------------------------------------------------------------------------- Embeddings


class Embeddings(nn.Module):
    """What the wrong ones below have in common."""

    def __init__(self, vocab_size, d_model, max_len, n_segments=2):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.segments = nn.Embedding(n_segments, d_model)
        self.norm = nn.LayerNorm(d_model, eps=1e-12)


class EmbeddingsOrderless(Embeddings):
    def forward(self, tokens, segments=None):
        segments = torch.zeros_like(tokens) if segments is None else segments
        return self.norm(self.tokens(tokens) + self.segments(segments))


class EmbeddingsAddNumbers(Embeddings):
    """The segment's number itself is added; and segment 0's number is 0."""

    def forward(self, tokens, segments=None):
        segments = torch.zeros_like(tokens) if segments is None else segments
        return self.norm(
            self.tokens(tokens)
            + self.positions(torch.arange(tokens.shape[1]))
            + segments.unsqueeze(-1)
        )


class EmbeddingsSumOfNorms(Embeddings):
    def forward(self, tokens, segments=None):
        segments = torch.zeros_like(tokens) if segments is None else segments
        x = self.norm(self.tokens(tokens))
        x = x + self.norm(self.positions(torch.arange(tokens.size(1))))
        return x + self.norm(self.segments(segments))


class EmbeddingsLateSegments(Embeddings):
    def forward(self, tokens, segments=None):
        x = self.norm(self.tokens(tokens) + self.positions.weight[: tokens.size(1)])
        return x + self.segments(torch.zeros_like(tokens) if segments is None else segments)


class EmbeddingsCat(Embeddings):
    def __init__(self, vocab_size, d_model, max_len, n_segments=2):
        super().__init__(vocab_size, d_model, max_len, n_segments)
        self.norm = nn.LayerNorm(d_model * 3, eps=1e-12)

    def forward(self, tokens, segments=None):
        segments = torch.zeros_like(tokens) if segments is None else segments
        positions = torch.arange(tokens.shape[1]).expand_as(tokens)
        return self.norm(
            torch.cat(
                [self.tokens(tokens), self.positions(positions), self.segments(segments)], dim=-1
            )
        )


class EmbeddingsTorchsEps(Embeddings):
    def __init__(self, vocab_size, d_model, max_len, n_segments=2):
        super().__init__(vocab_size, d_model, max_len, n_segments)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, tokens, segments=None):
        segments = torch.zeros_like(tokens) if segments is None else segments
        return self.norm(
            self.tokens(tokens)
            + self.positions(torch.arange(tokens.shape[1]))
            + self.segments(segments)
        )


class EmbeddingsOptionalSegments(Embeddings):
    def forward(self, tokens, segments=None):
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1]))
        if segments is not None:
            x = x + self.segments(segments)
        return self.norm(x)


class EmbeddingsScaled(Embeddings):
    def forward(self, tokens, segments=None):
        segments = torch.zeros_like(tokens) if segments is None else segments
        x = self.tokens(tokens) * self.tokens.embedding_dim**0.5
        return self.norm(
            x + self.positions(torch.arange(tokens.shape[1])) + self.segments(segments)
        )


class EmbeddingsOfRows(Embeddings):
    def forward(self, tokens, segments=None):
        segments = torch.zeros_like(tokens) if segments is None else segments
        rows = torch.arange(len(tokens)).unsqueeze(1)
        return self.norm(self.tokens(tokens) + self.positions(rows) + self.segments(segments))


class EmbeddingsCountedAnew(Embeddings):
    """Behind each change of segment, positions begin with 0 again: in the padding, too."""

    def forward(self, tokens, segments=None):
        segments = torch.zeros_like(tokens) if segments is None else segments
        rows = []
        for row in segments:
            runs = row.unique_consecutive(return_counts=True)[1]
            rows.append(torch.cat([torch.arange(int(run)) for run in runs]))
        x = self.tokens(tokens) + self.positions(torch.stack(rows)) + self.segments(segments)
        return self.norm(x)


class EmbeddingsOwnNorm(Embeddings):
    def forward(self, tokens, segments=None):
        segments = torch.zeros_like(tokens) if segments is None else segments
        positions = self.positions(torch.arange(tokens.shape[1]))
        x = self.tokens(tokens) + positions + self.segments(segments)
        variance, mean = torch.var_mean(x, dim=-1, keepdim=True)
        return (x - mean) * torch.rsqrt(variance + 1e-12) * self.norm.weight + self.norm.bias


class EmbeddingsOwnNormByStd(Embeddings):
    def forward(self, tokens, segments=None):
        segments = torch.zeros_like(tokens) if segments is None else segments
        positions = self.positions(torch.arange(tokens.shape[1]))
        x = self.tokens(tokens) + positions + self.segments(segments)
        x = (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-12)
        return x * self.norm.weight + self.norm.bias


# --------------------------------------------------------------------------------------- count_bert


def count_multiplications(vocab_size, d_model, n_layers, d_ff, max_len, n_segments, heads=False):
    norms = (1 + 2 * n_layers + heads) * 2 * d_model
    total = (
        (vocab_size + max_len + n_segments) * d_model
        + n_layers * (4 * d_model**2 + 2 * d_model * d_ff)
        + d_model**2
    )
    return total + norms + (d_model**2 + 2 * d_model if heads else 0)


def count_before_the_pooler(vocab_size, d_model, n_layers, d_ff, max_len, n_segments, heads=False):
    block = 4 * (d_model**2 + d_model) + 2 * d_model * d_ff + d_ff + d_model + 4 * d_model
    total = (vocab_size + max_len + n_segments + 2) * d_model + n_layers * block
    return total + (
        d_model**2 + d_model + 2 * d_model + vocab_size + 2 * d_model + 2 if heads else 0
    )


def count_sinusoids(vocab_size, d_model, n_layers, d_ff, max_len, n_segments, heads=False):
    d = d_model
    body = (
        (vocab_size + n_segments + 2) * d
        + n_layers * (4 * d * d + 2 * d * d_ff + 9 * d + d_ff)
        + d * d
        + d
    )
    return body + heads * (d * d + 5 * d + vocab_size + 2)


def count_whole_decoder(vocab_size, d_model, n_layers, d_ff, max_len, n_segments, heads=False):
    d = d_model
    body = (
        (vocab_size + max_len + n_segments + 2) * d
        + n_layers * (4 * d * d + 2 * d * d_ff + 9 * d + d_ff)
        + d * d
        + d
    )
    decoder = nn.Linear(d, vocab_size, device="meta")
    words = d * d + 3 * d + sum(p.numel() for p in decoder.parameters())
    return body + words + 2 * d + 2 if heads else body


def count_body_only(vocab_size, d_model, n_layers, d_ff, max_len, n_segments, heads=False):
    d = d_model
    return (
        (vocab_size + max_len + n_segments + 2) * d
        + n_layers * (4 * d * d + 2 * d * d_ff + 9 * d + d_ff)
        + d * d
        + d
    )


def count_front_without_norm(vocab_size, d_model, n_layers, d_ff, max_len, n_segments, heads=False):
    d = d_model
    body = (
        (vocab_size + max_len + n_segments) * d
        + n_layers * (4 * d * d + 2 * d * d_ff + 9 * d + d_ff)
        + d * d
        + d
    )
    return body + heads * (d * d + 5 * d + vocab_size + 2)


def count_with(
    attention_biases=True,
    vectors_of_a_norm=2,
    pooler=True,
    with_heads=True,
    norms_in_front=1,
    last=0,
):
    """A count whose author has thought of these parts."""

    def answer(vocab_size, d_model, n_layers, d_ff, max_len, n_segments, heads=False):
        d, layer = d_model, d_model**2 + d_model
        attention = 4 * layer if attention_biases else 4 * d * d
        block = attention + 2 * d * d_ff + d_ff + d + 2 * vectors_of_a_norm * d
        front = (vocab_size + max_len + n_segments) * d + norms_in_front * 2 * d
        total = front + n_layers * block + last * 2 * d
        total += layer if pooler or (heads and with_heads) else 0
        return total + layer + 2 * d + vocab_size + 2 * d + 2 if heads else total

    return answer


# --------------------------------------------------------------------------------------- mask_words

SPECIAL = ("[CLS]", "[SEP]", "[PAD]")


def mask_each(tokens, chance, fate, others):
    read, chosen = list(tokens), []
    for i, token in enumerate(tokens):
        chosen.append(chance[i] < 0.15 and token not in SPECIAL)
        if chosen[i]:
            if fate[i] < 0.8:
                read[i] = "[MASK]"
            elif fate[i] < 0.9:
                read[i] = others[i]
    return read, chosen


def mask_no_pieces(tokens, chance, fate, others):
    read, chosen = list(tokens), []
    for i, token in enumerate(tokens):
        chosen.append(chance[i] < 0.15 and token not in SPECIAL and not token.startswith("##"))
        if chosen[i] and fate[i] < 0.9:
            read[i] = "[MASK]" if fate[i] < 0.8 else others[i]
    return read, chosen


def words_of(tokens):
    words = []
    for i, token in enumerate(tokens):
        if token.startswith("##"):
            words[-1].append(i)
        else:
            words.append([i])
    return words


def mask_specials_too(tokens, chance, fate, others):
    read, chosen = list(tokens), [False] * len(tokens)
    for word in words_of(tokens):
        if chance[word[0]] < 0.15:
            for i in word:
                chosen[i] = True
                if fate[i] < 0.9:
                    read[i] = "[MASK]" if fate[i] < 0.8 else others[i]
    return read, chosen


def mask_word_at_once(tokens, chance, fate, others):
    read, chosen = list(tokens), [False] * len(tokens)
    for word in words_of(tokens):
        first = word[0]
        if tokens[first] in SPECIAL or chance[first] >= 0.15:
            continue
        for i in word:
            chosen[i] = True
            if fate[first] < 0.8:
                read[i] = "[MASK]"
            elif fate[first] < 0.9:
                read[i] = others[i]
    return read, chosen


def mask_any(tokens, chance, fate, others):
    read, chosen = list(tokens), [False] * len(tokens)
    for word in words_of(tokens):
        if tokens[word[0]] not in SPECIAL and any(chance[i] < 0.15 for i in word):
            for i in word:
                chosen[i] = True
                read[i] = "[MASK]" if fate[i] < 0.8 else others[i] if fate[i] < 0.9 else tokens[i]
    return read, chosen


def mask_everything_chosen(tokens, chance, fate, others):
    read, chosen = list(tokens), [False] * len(tokens)
    for word in words_of(tokens):
        if tokens[word[0]] not in SPECIAL and chance[word[0]] < 0.15:
            for i in word:
                read[i], chosen[i] = "[MASK]", True
    return read, chosen


def mask_compared(tokens, chance, fate, others):
    """The second list by comparing before and after."""
    read = list(tokens)
    for word in words_of(tokens):
        if tokens[word[0]] not in SPECIAL and chance[word[0]] < 0.15:
            for i in word:
                read[i] = "[MASK]" if fate[i] < 0.8 else others[i] if fate[i] < 0.9 else tokens[i]
    return read, [old != new for old, new in zip(tokens, read, strict=True)]


def mask_two_ifs(tokens, chance, fate, others):
    read, chosen = list(tokens), [False] * len(tokens)
    for word in words_of(tokens):
        if tokens[word[0]] not in SPECIAL and chance[word[0]] < 0.15:
            for i in word:
                chosen[i] = True
                if fate[i] < 0.8:
                    read[i] = "[MASK]"
                if fate[i] < 0.9:
                    read[i] = others[i]
    return read, chosen


def mask_ten_per_cent_left(tokens, chance, fate, others):
    """As if the fates were: [MASK], and else the other token."""
    read, chosen = list(tokens), [False] * len(tokens)
    for word in words_of(tokens):
        if tokens[word[0]] not in SPECIAL and chance[word[0]] < 0.15:
            for i in word:
                chosen[i] = True
                read[i] = "[MASK]" if fate[i] < 0.8 else others[i]
    return read, chosen


def mask_writes_over(tokens, chance, fate, others):
    chosen = [False] * len(tokens)
    for word in words_of(tokens):
        if tokens[word[0]] not in SPECIAL and chance[word[0]] < 0.15:
            for i in word:
                chosen[i] = True
                if fate[i] < 0.9:
                    tokens[i] = "[MASK]" if fate[i] < 0.8 else others[i]
    return tokens, chosen


def mask_by_one_number(tokens, chance, fate, others):
    """0.15 · 0.8 and 0.15 · 0.9 on the same scale as 0.15."""
    read, chosen, number = [], [], 1.0
    for i, token in enumerate(tokens):
        if not token.startswith("##"):
            number = 1.0 if token in SPECIAL else chance[i]
        chosen.append(number < 0.15)
        read.append("[MASK]" if number < 0.12 else others[i] if number < 0.135 else token)
    return read, chosen


def mask_smallest(count):
    """The words with the smallest chances, so many."""

    def answer(tokens, chance, fate, others):
        words = [word for word in words_of(tokens) if tokens[word[0]] not in SPECIAL]
        words.sort(key=lambda word: chance[word[0]])
        read, chosen = list(tokens), [False] * len(tokens)
        for word in words[: count(0.15 * len(words))]:
            for i in word:
                chosen[i] = True
                if fate[i] < 0.9:
                    read[i] = "[MASK]" if fate[i] < 0.8 else others[i]
        return read, chosen

    return answer


# ----------------------------------------------------------------------------------------- WordHead


class Head(nn.Module):
    """What the wrong ones below have in common."""

    def __init__(self, d_model, vocab_size):
        super().__init__()
        self.dense = nn.Linear(d_model, d_model)
        self.norm = nn.LayerNorm(d_model, eps=1e-12)
        self.bias = nn.Parameter(torch.zeros(vocab_size))


class HeadUntied(nn.Module):
    def __init__(self, d_model, vocab_size):
        super().__init__()
        self.dense = nn.Linear(d_model, d_model)
        self.norm = nn.LayerNorm(d_model, eps=1e-12)
        self.decoder = nn.Linear(d_model, vocab_size)

    def forward(self, hidden, token_vectors, at=None):
        return self.decoder(self.norm(F.gelu(self.dense(hidden if at is None else hidden[at]))))


class HeadBare(Head):
    def forward(self, hidden, token_vectors, at=None):
        scores = hidden @ token_vectors.T + self.bias
        return scores if at is None else scores[at]


class HeadLinear(Head):
    def forward(self, hidden, token_vectors, at=None):
        scores = F.linear(self.norm(self.dense(hidden)), token_vectors, self.bias)
        return scores if at is None else scores[at]


class HeadRelu(Head):
    def forward(self, hidden, token_vectors, at=None):
        hidden = hidden if at is None else hidden[at]
        return self.norm(self.dense(hidden).clamp(min=0)) @ token_vectors.T + self.bias


class HeadUnbiased(Head):
    def forward(self, hidden, token_vectors, at=None):
        hidden = hidden if at is None else hidden[at]
        return self.norm(F.gelu(self.dense(hidden))).matmul(token_vectors.T)


class HeadUnnormalised(Head):
    def forward(self, hidden, token_vectors, at=None):
        hidden = hidden if at is None else hidden[at]
        return F.gelu(self.dense(hidden)) @ token_vectors.mT + self.bias


class HeadNormThenGelu(Head):
    def forward(self, hidden, token_vectors, at=None):
        hidden = hidden if at is None else hidden[at]
        return F.gelu(self.norm(self.dense(hidden))) @ token_vectors.mT + self.bias


class HeadProbabilities(Head):
    def forward(self, hidden, token_vectors, at=None):
        hidden = hidden if at is None else hidden[at]
        return F.softmax(
            self.norm(F.gelu(self.dense(hidden))) @ token_vectors.mT + self.bias, dim=-1
        )


class HeadEverywhere(Head):
    def forward(self, hidden, token_vectors, at=None):
        return self.norm(F.gelu(self.dense(hidden))) @ token_vectors.T + self.bias


class HeadWhere(Head):
    def forward(self, hidden, token_vectors, at=None):
        scores = self.norm(F.gelu(self.dense(hidden))) @ token_vectors.T + self.bias
        return scores if at is None else torch.where(at.unsqueeze(-1), scores, 0.0)


# --------------------------------------------------------------------------------- masked_word_loss


def chosen_scores(logits, positions):
    return logits[torch.arange(logits.shape[0]).unsqueeze(1), positions]


def loss_weights_cancel(logits, positions, words, weights):
    """The trap: a mean already, times weights, divided by their sum."""
    scores = chosen_scores(logits, positions)
    loss = F.cross_entropy(scores.reshape(-1, scores.shape[-1]), words.reshape(-1))
    return (loss * weights).sum() / weights.sum()


def loss_no_weights(logits, positions, words, weights):
    return F.cross_entropy(chosen_scores(logits, positions).transpose(1, 2), words)


def loss_mean_of_weighted(logits, positions, words, weights):
    losses = F.cross_entropy(
        chosen_scores(logits, positions).transpose(1, 2), words, reduction="none"
    )
    return (losses * weights).mean()


def loss_mean_per_row(logits, positions, words, weights):
    losses = F.cross_entropy(
        chosen_scores(logits, positions).transpose(1, 2), words, reduction="none"
    )
    return ((losses * weights).sum(1) / weights.sum(1)).mean()


def loss_ignore_zero(logits, positions, words, weights):
    return F.cross_entropy(
        chosen_scores(logits, positions).flatten(0, 1), words.flatten(), ignore_index=0
    )


def loss_sum(logits, positions, words, weights):
    losses = F.cross_entropy(
        chosen_scores(logits, positions).transpose(1, 2), words, reduction="none"
    )
    return torch.dot(losses.flatten(), weights.flatten())


def loss_first_k(logits, positions, words, weights):
    losses = F.cross_entropy(logits[:, : words.shape[1]].transpose(1, 2), words, reduction="none")
    return (losses * weights).sum() / weights.sum()


def loss_flat(logits, positions, words, weights):
    scores = logits.reshape(-1, logits.shape[-1])[positions.reshape(-1)]
    losses = F.cross_entropy(scores, words.reshape(-1), reduction="none")
    return (losses * weights.reshape(-1)).sum() / weights.sum()


def loss_zeroed_scores(logits, positions, words, weights):
    scores = chosen_scores(logits, positions) * weights.unsqueeze(-1)
    return F.cross_entropy(scores.transpose(1, 2), words)


def loss_softmaxed(logits, positions, words, weights):
    probabilities = chosen_scores(logits, positions).softmax(-1)
    losses = F.cross_entropy(probabilities.transpose(1, 2), words, reduction="none")
    return (losses * weights).sum() / weights.sum()


def loss_by_labels(logits, positions, words, weights):
    """Labels for the whole text: an empty place writes its -100 to position 0."""
    rows = torch.arange(len(logits))[:, None]
    labels = torch.full(logits.shape[:2], -100)
    labels[rows, positions] = torch.where(weights > 0, words, -100)
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten())


def loss_by_scattered_labels(logits, positions, words, weights):
    told = words.masked_fill(weights == 0, -100)
    labels = torch.full(logits.shape[:2], -100).scatter(1, positions, told)
    kept = labels != -100
    return F.cross_entropy(logits[kept], labels[kept])


def loss_by_labels_without_weights(logits, positions, words, weights):
    rows = torch.arange(len(logits))[:, None]
    labels = torch.full(logits.shape[:2], -100)
    labels[rows, positions] = words
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten())


# ------------------------------------------------------------------------------ next_sentence_pairs


def pairs_from_anywhere(documents, draws):
    pairs = []
    for document in documents:
        for i in range(len(document) - 1):
            coin, u, v = draws[len(pairs)]
            if coin < 0.5:
                pairs.append((document[i], document[i + 1], 0))
            else:
                other = documents[int(u * len(documents))]
                pairs.append((document[i], other[int(v * len(other))], 1))
    return pairs


def pairs_is_next(documents, draws):
    """1 for "is next", as the name suggests."""
    pairs = []
    for d, document in enumerate(documents):
        others = documents[:d] + documents[d + 1 :]
        for i in range(len(document) - 1):
            coin, u, v = draws[len(pairs)]
            other = others[int(u * len(others))]
            is_next = coin < 0.5
            pairs.append(
                (
                    document[i],
                    document[i + 1] if is_next else other[int(v * len(other))],
                    int(is_next),
                )
            )
    return pairs


def pairs_only_next(documents, draws):
    return [(a, b, 0) for document in documents for a, b in pairwise(document)]


def pairs_draw_by_sentence(documents, draws):
    """The sentence's number in its document, taken for the number of the draw."""
    pairs = []
    for d, document in enumerate(documents):
        others = [other for j, other in enumerate(documents) if j != d]
        for i in range(len(document) - 1):
            coin, u, v = draws[i]
            if coin < 0.5:
                pairs.append((document[i], document[i + 1], 0))
            else:
                other = others[int(u * len(others))]
                pairs.append((document[i], other[int(v * len(other))], 1))
    return pairs


def pairs_two_at_a_time(documents, draws):
    pairs = []
    for d, document in enumerate(documents):
        others = documents[:d] + documents[d + 1 :]
        for i in range(0, len(document) - 1, 2):
            coin, u, v = draws[len(pairs)]
            other = others[int(u * len(others))]
            pairs.append(
                (document[i], document[i + 1], 0)
                if coin < 0.5
                else (document[i], other[int(v * len(other))], 1)
            )
    return pairs


def pairs_one_row(documents, draws):
    sentences = [(sentence, d) for d, document in enumerate(documents) for sentence in document]
    pairs = []
    for i in range(len(sentences) - 1):
        first, d = sentences[i]
        coin, u, v = draws[i]
        if coin < 0.5:
            pairs.append((first, sentences[i + 1][0], 0))
        else:
            others = documents[:d] + documents[d + 1 :]
            other = others[int(u * len(others))]
            pairs.append((first, other[int(v * len(other))], 1))
    return pairs


def pairs_of_a_document(documents, draws):
    pairs, k = [], 0
    for d, document in enumerate(documents):
        others, of_this = documents[:d] + documents[d + 1 :], []
        for i in range(len(document) - 1):
            coin, u, v = draws[k]
            k += 1
            other = others[int(u * len(others))]
            of_this.append(
                (document[i], document[i + 1], 0)
                if coin < 0.5
                else (document[i], other[int(v * len(other))], 1)
            )
        pairs.append(of_this)
    return pairs


def pairs_heads_and_tails(documents, draws):
    pairs = []
    for d, document in enumerate(documents):
        others = documents[:d] + documents[d + 1 :]
        for i in range(len(document) - 1):
            coin, u, v = draws[len(pairs)]
            other = others[int(u * len(others))]
            pairs.append(
                (document[i], document[i + 1], 0)
                if coin > 0.5
                else (document[i], other[int(v * len(other))], 1)
            )
    return pairs


def pairs_beside_it(documents, draws):
    pairs = []
    for d, document in enumerate(documents):
        for i in range(len(document) - 1):
            coin, u, v = draws[len(pairs)]
            j = int(u * len(documents))
            if j == d:
                j = (j + 1) % len(documents)
            other = documents[j]
            pairs.append(
                (document[i], document[i + 1], 0)
                if coin < 0.5
                else (document[i], other[int(v * len(other))], 1)
            )
    return pairs


def pairs_the_one_before(documents, draws):
    pairs, k = [], 0
    for document in documents:
        for first, second in pairwise(document):
            coin, u, v = draws[k]
            k += 1
            j = int(u * len(documents))
            if documents[j] is document:
                j -= 1  # of the first document: the last
            if coin >= 0.5:
                second = documents[j][int(v * len(documents[j]))]
            pairs.append((first, second, int(coin >= 0.5)))
    return pairs


def pairs_from_the_next_on(documents, draws):
    pairs = []
    for d, document in enumerate(documents):
        others = documents[d + 1 :] + documents[:d]
        for i in range(len(document) - 1):
            coin, u, v = draws[len(pairs)]
            other = others[int(u * len(others))]
            second = document[i + 1] if coin < 0.5 else other[int(v * len(other))]
            pairs.append((document[i], second, int(coin >= 0.5)))
    return pairs


def pairs_flat_numbers(documents, draws):
    numbers = [number for draw in draws for number in draw]
    pairs, k = [], 0
    for d, document in enumerate(documents):
        others = documents[:d] + documents[d + 1 :]
        for first, second in pairwise(document):
            coin = numbers[k]
            k += 1
            if coin >= 0.5:
                u, v = numbers[k : k + 2]
                k += 2
                other = others[int(u * len(others))]
                second = other[int(v * len(other))]
            pairs.append((first, second, int(coin >= 0.5)))
    return pairs


def pairs_with_long_documents(documents, draws):
    pairs = []
    for document in documents:
        others = [other for other in documents if other is not document and len(other) >= 2]
        for first, second in pairwise(document):
            coin, u, v = draws[len(pairs)]
            if coin >= 0.5:
                other = others[int(u * len(others))]
                second = other[int(v * len(other))]
            pairs.append((first, second, int(coin >= 0.5)))
    return pairs


STUDENTS = {
    "hw5.pair_input": {
        "last_sep_forgotten": [pair_without_the_end],
        "first_sep_in_the_second_segment": [pair_sep_begins_the_second],
        "segments_counted_from_1": [pair_one_and_two],
        "positions_restart": [pair_enumerated_twice],
        "padding_has_position_0": [pair_zeros_for_padding],
        "padding_has_a_segment": [pair_switch_at_sep],
        "single_sentence_ends_twice": [pair_always_two_ends],
        "not_padded": [pair_ragged],
    },
    "hw5.Embeddings": {
        "positions_forgotten": [EmbeddingsOrderless],
        "segments_forgotten": [EmbeddingsAddNumbers],
        "normalised_one_by_one": [EmbeddingsSumOfNorms],
        "normalised_before_the_sum": [EmbeddingsLateSegments],
        "concatenated": [EmbeddingsCat],
        "default_epsilon": [EmbeddingsTorchsEps],
        "no_segment_vector_without_segments": [EmbeddingsOptionalSegments],
        "scaled_by_root_d_model": [EmbeddingsScaled],
        "positions_of_the_rows": [EmbeddingsOfRows],
        "positions_restart": [EmbeddingsCountedAnew],
        "unbiased_variance": [EmbeddingsOwnNorm, EmbeddingsOwnNormByStd],
    },
    "hw5.count_bert": {
        "biases_forgotten": [count_multiplications],
        "pooler_forgotten": [
            count_before_the_pooler,
            count_with(pooler=False, with_heads=False),
        ],
        "positions_forgotten": [count_sinusoids],
        "output_not_tied": [count_whole_decoder],
        "heads_ignored": [count_body_only],
        "embedding_norm_forgotten": [count_front_without_norm],
        "four_vectors_of_a_block_forgotten": [
            count_with(attention_biases=False),
            count_with(vectors_of_a_norm=0),
        ],
        "two_vectors_of_a_block_forgotten": [count_with(vectors_of_a_norm=1)],
        "pooler_only_with_heads": [count_with(pooler=False)],
        "norm_too_many": [count_with(last=1), count_with(norms_in_front=2)],
        "norm_for_each_table": [count_with(norms_in_front=3)],
    },
    "hw5.mask_words": {
        "piece_by_piece": [mask_each],
        "first_pieces_only": [mask_no_pieces],
        "special_tokens_chosen": [mask_specials_too],
        "one_fate_for_the_word": [mask_word_at_once],
        "any_piece_decides": [mask_any],
        "always_mask": [mask_everything_chosen],
        "only_changed_are_asked": [mask_compared],
        "masks_overwritten": [mask_two_ifs],
        "none_kept": [mask_ten_per_cent_left],
        "changed_in_place": [mask_writes_over],
        "fate_not_used": [mask_by_one_number],
        "smallest_chances_chosen": [mask_smallest(round), mask_smallest(int)],
    },
    "hw5.WordHead": {
        "not_tied": [HeadUntied],
        "layer_forgotten": [HeadBare],
        "gelu_forgotten": [HeadLinear],
        "relu_instead_of_gelu": [HeadRelu],
        "bias_forgotten": [HeadUnbiased],
        "norm_forgotten": [HeadUnnormalised],
        "normalised_too_early": [HeadNormThenGelu],
        "probabilities_returned": [HeadProbabilities],
        "at_ignored": [HeadEverywhere],
        "zeros_elsewhere": [HeadWhere],
    },
    "hw5.masked_word_loss": {
        "weights_do_nothing": [loss_weights_cancel, loss_no_weights],
        "divided_by_all_places": [loss_mean_of_weighted],
        "mean_of_sentence_means": [loss_mean_per_row],
        "token_0_ignored": [loss_ignore_zero],
        "summed": [loss_sum],
        "first_positions_taken": [loss_first_k],
        "positions_in_the_flattened_batch": [loss_flat],
        "scores_weighted": [loss_zeroed_scores],
        "softmax_twice": [loss_softmaxed],
        "chosen_word_wiped_out": [loss_by_labels, loss_by_scattered_labels],
        "empty_places_ask_for_token_0": [loss_by_labels_without_weights],
    },
    "hw5.next_sentence_pairs": {
        "own_document_drawn": [pairs_from_anywhere],
        "labels_swapped": [pairs_is_next],
        "always_next": [pairs_only_next],
        "draws_begin_again": [pairs_draw_by_sentence],
        "not_every_sentence": [pairs_two_at_a_time],
        "over_the_borders": [pairs_one_row],
        "a_list_for_each_document": [pairs_of_a_document],
        "coin_inverted": [pairs_heads_and_tails],
        "own_document_replaced": [pairs_beside_it, pairs_the_one_before],
        "others_from_the_next_on": [pairs_from_the_next_on],
        "numbers_used_up_one_by_one": [pairs_flat_numbers],
        "documents_of_one_sentence_left_out": [pairs_with_long_documents],
    },
}


# --------------------------------- wrong answers that leave something out; no name is asked of them


def pair_segments(segments_of, width_of=lambda rows: max(map(len, rows))):
    """Right tokens and positions; segments by another rule, and another width."""

    def answer(pairs, cls, sep, pad):
        tokens = [
            [cls, *first, sep, *([*second, sep] if second is not None else [])]
            for first, second in pairs
        ]
        width = width_of(tokens)
        segments = [
            segments_of(row, first, second, sep)
            for row, (first, second) in zip(tokens, pairs, strict=True)
        ]
        tokens = [row + [pad] * (width - len(row)) for row in tokens]
        segments = [row + [0] * (width - len(row)) for row in segments]
        return tokens, segments, [list(range(width)) for _ in pairs]

    return answer


def by_halves(row, first, second, sep):
    return [0] * (len(first) + 2) + [1] * (len(row) - len(first) - 2)


def by_belonging(row, first, second, sep):
    """A token of the first sentence is in segment 0, wherever it stands."""
    behind = row.index(sep)
    return [0 if i <= behind or token in first else 1 for i, token in enumerate(row)]


def by_belonging_to_the_second(row, first, second, sep):
    behind = row.index(sep)
    return [1 if second and (i > behind or token in second) else 0 for i, token in enumerate(row)]


def by_the_last_place(row, first, second, sep):
    """Where a token stands is asked of the list, which names the first such place."""
    return [
        0
        if row.index(token) <= len(first) + 1 and token != sep
        else 1
        if second and i > len(first) + 1
        else 0
        for i, token in enumerate(row)
    ]


def pair_width_of_pairs(pairs, cls, sep, pad):
    """The width is that of the longest pair; a single sentence is thought to be shorter."""
    width = max([len(a) + len(b) + 3 for a, b in pairs if b is not None] or [len(pairs[0][0]) + 2])
    return pair_segments(by_halves, lambda rows: width)(pairs, cls, sep, pad)


def pair_fixed_pad(pairs, cls, sep, pad):
    return pair_segments(by_halves)(pairs, cls, sep, "[PAD]")


def pair_fixed_cls(pairs, cls, sep, pad):
    return pair_segments(by_halves)(pairs, "[CLS]", sep, pad)


def pair_fixed_sep(pairs, cls, sep, pad):
    return pair_segments(by_halves)(pairs, cls, "[SEP]", pad)


class EmbeddingsWithoutToken0(Embeddings):
    """Token 0 is taken for padding, and gets no vector."""

    def forward(self, tokens, segments=None):
        segments = torch.zeros_like(tokens) if segments is None else segments
        positions = self.positions(torch.arange(tokens.shape[1]))
        return self.norm(
            self.tokens(tokens) * (tokens != 0)[..., None] + positions + self.segments(segments)
        )


class EmbeddingsSegmentsFromTheFirstRow(Embeddings):
    def forward(self, tokens, segments=None):
        segments = torch.zeros_like(tokens) if segments is None else segments[:1].expand_as(tokens)
        positions = self.positions(torch.arange(tokens.shape[1]))
        return self.norm(self.tokens(tokens) + positions + self.segments(segments))


class EmbeddingsSegmentsNeverFall(Embeddings):
    """Behind a token of segment 1 everything is thought to be in segment 1, the padding too."""

    def forward(self, tokens, segments=None):
        segments = torch.zeros_like(tokens) if segments is None else segments.cummax(dim=1).values
        positions = self.positions(torch.arange(tokens.shape[1]))
        return self.norm(self.tokens(tokens) + positions + self.segments(segments))


class EmbeddingsAtLeastTwoRows(Embeddings):
    def forward(self, tokens, segments=None):
        segments = torch.zeros_like(tokens) if segments is None else segments
        positions = self.positions(torch.arange(tokens.shape[1]))
        return self.norm(
            self.tokens(tokens).squeeze() + positions + self.segments(segments).squeeze()
        )


class EmbeddingsTwoSegments(Embeddings):
    """Any segment but 0 is the second."""

    def forward(self, tokens, segments=None):
        segments = torch.zeros_like(tokens) if segments is None else segments.clamp(max=1)
        positions = self.positions(torch.arange(tokens.shape[1]))
        return self.norm(self.tokens(tokens) + positions + self.segments(segments))


def count_bert_without(**fixed):
    """A count that puts its own number in the place of an argument."""

    def count(vocab_size, d_model, n_layers, d_ff, max_len, n_segments, heads=False):
        s = (
            dict(
                vocab_size=vocab_size,
                n_layers=n_layers,
                d_ff=d_ff,
                max_len=max_len,
                n_segments=n_segments,
                heads=heads,
            )
            | fixed
        )
        d, layer = d_model, d_model**2 + d_model
        body = (s["vocab_size"] + s["max_len"] + s["n_segments"] + 2) * d + layer
        body += s["n_layers"] * (4 * layer + 2 * d * s["d_ff"] + s["d_ff"] + 5 * d)
        return body + (layer + 4 * d + s["vocab_size"] + 2) * s["heads"]

    return count


def masked_words(
    begins=lambda token: not token.startswith("##"),
    low=lambda c: c < 0.15,
    hit=lambda f: f < 0.8,
):
    """mask_words with other rules for what begins a word, and what is low."""

    def answer(tokens, chance, fate, others):
        read, chosen, on = [], [], False
        for i, token in enumerate(tokens):
            if begins(token):
                on = low(chance[i]) and token not in ("[CLS]", "[SEP]", "[PAD]")
            chosen.append(on)
            read.append(
                "[MASK]" if on and hit(fate[i]) else others[i] if on and fate[i] < 0.9 else token
            )
        return read, chosen

    return answer


def mask_by_the_word(tokens, chance, fate, others):
    """What was decided for a word holds wherever the word stands."""
    decided, read, chosen, on = {}, [], [], False
    for i, token in enumerate(tokens):
        if not token.startswith("##"):
            on = decided.setdefault(
                token, chance[i] < 0.15 and token not in ("[CLS]", "[SEP]", "[PAD]")
            )
        chosen.append(on)
        read.append(
            "[MASK]" if on and fate[i] < 0.8 else others[i] if on and fate[i] < 0.9 else token
        )
    return read, chosen


def mask_by_the_piece_before(tokens, chance, fate, others):
    """A piece asks for the chance of the piece before it."""
    read, chosen = [], []
    for i, token in enumerate(tokens):
        of = i - 1 if token.startswith("##") else i
        on = chance[of] < 0.15 and token not in ("[CLS]", "[SEP]", "[PAD]")
        chosen.append(on)
        read.append(
            "[MASK]" if on and fate[i] < 0.8 else others[i] if on and fate[i] < 0.9 else token
        )
    return read, chosen


def mask_two_pieces(tokens, chance, fate, others):
    """The third piece of a word is left as it is."""
    read, chosen = masked_words()(tokens, chance, fate, others)
    for i in range(2, len(tokens)):
        if tokens[i].startswith("##") and tokens[i - 1].startswith("##"):
            read[i], chosen[i] = tokens[i], False
    return read, chosen


def mask_with_the_first_other(tokens, chance, fate, others):
    return masked_words()(tokens, chance, fate, [others[0]] * len(others))


class HeadSqueezed(Head):
    def forward(self, hidden, token_vectors, at=None):
        hidden = hidden.squeeze() if at is None else hidden[at].squeeze()
        return self.norm(F.gelu(self.dense(hidden))) @ token_vectors.T + self.bias


class HeadOneRow(Head):
    """With `at`, a single row of scores is returned as a vector."""

    def forward(self, hidden, token_vectors, at=None):
        hidden = hidden if at is None else hidden[at]
        scores = self.norm(F.gelu(self.dense(hidden))) @ token_vectors.T + self.bias
        return scores.squeeze(0)


class HeadOneInEachRow(Head):
    """The first position of each row that is asked about."""

    def forward(self, hidden, token_vectors, at=None):
        hidden = hidden if at is None else hidden[torch.arange(len(at)), at.int().argmax(dim=1)]
        return self.norm(F.gelu(self.dense(hidden))) @ token_vectors.T + self.bias


def loss_with(mask):
    """masked_word_loss that finds the empty places in its own way."""

    def answer(logits, positions, words, weights):
        scores = logits[torch.arange(len(logits))[:, None], positions]
        losses = F.cross_entropy(scores.transpose(1, 2), words, reduction="none")
        kept = mask(positions, words, weights).float()
        return (losses * kept).sum() / kept.sum()

    return answer


def loss_squeezed(logits, positions, words, weights):
    scores = logits[torch.arange(len(logits))[:, None], positions].squeeze()
    losses = F.cross_entropy(scores.transpose(1, 2), words.squeeze(), reduction="none")
    return (losses * weights).sum() / weights.sum()


def loss_of_the_first_row_s_count(logits, positions, words, weights):
    return loss_with(lambda p, w, weights: weights[:1].expand_as(weights))(
        logits, positions, words, weights
    )


def loss_all_but_the_last(logits, positions, words, weights):
    """At most one place of a row is thought to be empty."""

    def kept(positions, words, weights):
        kept = torch.ones_like(weights)
        kept[:, -1] = weights[:, -1]
        return kept

    return loss_with(kept)(logits, positions, words, weights)


def neighbours_with(
    successor=lambda d, i: d[i + 1],
    others=lambda ds, n: ds[:n] + ds[n + 1 :],
    at=lambda u, m: int(u * m),
):
    """next_sentence_pairs that looks for the successor, or for the other documents, in its own
    way.
    """

    def answer(documents, draws):
        pairs = []
        for number, document in enumerate(documents):
            for i in range(len(document) - 1):
                coin, u, v = draws[len(pairs)]
                if coin < 0.5:
                    pairs.append((document[i], successor(document, i), 0))
                else:
                    among = others(documents, number)
                    other = among[at(u, len(among))]
                    pairs.append((document[i], other[at(v, len(other))], 1))
        return pairs

    return answer


def neighbours_of_long_documents(documents, draws):
    """Documents of one sentence are left out, of those to draw from too."""
    return neighbours_with()([d for d in documents if len(d) > 1], draws)


def neighbours_a_pair_for_each_text(documents, draws):
    """A pair that was there before is left out."""
    return list(dict.fromkeys(neighbours_with()(documents, draws)))


CAUGHT = {
    "hw5.pair_input": [
        pair_segments(by_belonging),
        pair_segments(by_belonging_to_the_second),
        pair_segments(by_the_last_place),
        pair_segments(by_halves, lambda rows: len(rows[0])),
        pair_segments(by_halves, lambda rows: len(rows[-1])),
        pair_segments(by_halves, lambda rows: max(map(len, rows[:2]))),
        pair_width_of_pairs,
        pair_fixed_pad,
        pair_fixed_cls,
        pair_fixed_sep,
    ],
    "hw5.Embeddings": [
        EmbeddingsWithoutToken0,
        EmbeddingsSegmentsFromTheFirstRow,
        EmbeddingsSegmentsNeverFall,
        EmbeddingsAtLeastTwoRows,
        EmbeddingsTwoSegments,
    ],
    "hw5.count_bert": [
        *(
            count_bert_without(**{name: n})
            for name, n in (
                ("vocab_size", 30_522),
                ("n_layers", 12),
                ("d_ff", 3072),
                ("heads", True),
            )
        ),
        *(
            count_bert_without(**{name: n})
            for name, n in (("max_len", 512), ("n_segments", 2), ("heads", False))
        ),
    ],
    "hw5.mask_words": [
        masked_words(begins=lambda token: not token.startswith("#")),
        masked_words(begins=lambda token: "##" not in token),
        masked_words(low=lambda c: 0 < c < 0.15),
        masked_words(hit=lambda f: 0 < f < 0.8),
        mask_by_the_word,
        mask_by_the_piece_before,
        mask_two_pieces,
        mask_with_the_first_other,
    ],
    "hw5.WordHead": [HeadSqueezed, HeadOneRow, HeadOneInEachRow],
    "hw5.masked_word_loss": [
        loss_with(lambda positions, words, weights: positions != 0),
        loss_with(lambda positions, words, weights: (positions != 0) | (words != 0)),
        loss_with(lambda positions, words, weights: (positions != 0) & (words != 0)),
        loss_with(lambda positions, words, weights: words != 0),
        loss_with(lambda positions, words, weights: torch.ones_like(weights)),
        loss_squeezed,
        loss_of_the_first_row_s_count,
        loss_all_but_the_last,
    ],
    "hw5.next_sentence_pairs": [
        neighbours_with(
            others=lambda documents, number: [d for d in documents if d != documents[number]]
        ),
        neighbours_with(
            others=lambda documents, number: (
                documents[: documents.index(documents[number])] + documents[number + 1 :]
            )
        ),
        neighbours_with(successor=lambda document, i: document[document.index(document[i]) + 1]),
        neighbours_with(at=lambda u, m: min(round(u * m), m - 1)),
        neighbours_with(at=lambda u, m: int(u * (m - 1))),
        neighbours_of_long_documents,
        neighbours_a_pair_for_each_text,
    ],
}
