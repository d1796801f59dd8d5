"""Homework 3 answered wrongly, as students write it: each must get the name of its mistake.

`STUDENTS` maps a question's full name to {mistake: [answers]}. Each answer stands alone, as those
in `right_answers_hw3.py`. `BELOW` holds trained models of which nobody can tell from their
predictions what is wrong with them.
"""

import math
from collections import Counter
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import nn

from lectures_lib.models.language_model import LanguageModel, LanguageModelConfig

# --------------------------------------------------------------------------------------- byte_pairs


def learned(words, n_merges, count, best, replace=None):
    spelled = [[list(word), n] for word, n in words.items()]
    merges = []
    for _ in range(n_merges):
        counts = count(spelled)
        if not counts:
            break
        a, b = best(counts)
        merges.append(a + " " + b)
        for row in spelled:
            if replace:
                row[0] = replace(row[0], a, b)
                continue
            i = 0
            while i + 1 < len(row[0]):
                if row[0][i] == a and row[0][i + 1] == b:
                    row[0][i : i + 2] = [a + b]
                i += 1
    return merges


def counted(spelled):
    counts = Counter()
    for symbols, n in spelled:
        for a, b in pairwise(symbols):
            counts[a, b] += n
    return counts


def alphabetical(counts):
    return min(counts, key=lambda pair: (-counts[pair], pair))


def pairs_of_types(words, n_merges):
    return learned(
        words, n_merges, lambda spelled: counted([(s, 1) for s, _ in spelled]), alphabetical
    )


def pairs_most_common(words, n_merges):
    return learned(words, n_merges, counted, lambda counts: counts.most_common(1)[0][0])


def pairs_largest(words, n_merges):
    return learned(
        words,
        n_merges,
        counted,
        lambda counts: sorted((n, pair) for pair, n in counts.items())[-1][1],
    )


def pairs_in_sets(words, n_merges):
    def count(spelled):
        counts = Counter()
        for symbols, n in spelled:
            for pair in {(symbols[i], symbols[i + 1]) for i in range(len(symbols) - 1)}:
                counts[pair] += n
        return counts

    return learned(words, n_merges, count, alphabetical)


def pairs_replaced(words, n_merges):
    return learned(
        words,
        n_merges,
        counted,
        alphabetical,
        lambda row, a, b: " ".join(row).replace(f"{a} {b}", a + b).split(),
    )


def pairs_unmerged(words, n_merges):
    counts = counted([(list(word), n) for word, n in words.items()])
    return [f"{a} {b}" for a, b in sorted(counts, key=lambda pair: (-counts[pair], pair))][
        :n_merges
    ]


def pairs_of_the_text(words, n_merges):
    text = "".join("".join([word] * n) for word, n in words.items())
    return learned({text: 1}, n_merges, counted, alphabetical)


def pairs_max_of_nothing(words, n_merges):
    spelled = {word: tuple(word) for word in words}
    merges = []
    for _ in range(n_merges):
        counts = counted([(spelled[word], n) for word, n in words.items()])
        top = max(counts.values())
        a, b = min(pair for pair in counts if counts[pair] == top)
        merges.append(f"{a} {b}")
        for word, symbols in spelled.items():
            row = []
            for symbol in symbols:
                if row and row[-1] == a and symbol == b:
                    row[-1] = a + b
                else:
                    row.append(symbol)
            spelled[word] = tuple(row)
    return merges


# -------------------------------------------------------------------------------------- word_pieces


def greedy_pieces(word, vocabulary, marked=True, unknown=lambda pieces: ["[UNK]"]):
    pieces, start = [], 0
    while start < len(word):
        end = len(word)
        while end > start:
            piece = word[start:end]
            if start and marked:
                piece = "##" + piece
            if piece in set(vocabulary):
                pieces.append(piece)
                break
            end -= 1
        if end == start:
            return unknown(pieces)
        start = end
    return pieces


def pieces_unmarked(word, vocabulary):
    return greedy_pieces(word, vocabulary, marked=False)


def pieces_marked_afterwards(word, vocabulary):
    first, *rest = greedy_pieces(word, vocabulary, marked=False)
    return [first, *("##" + piece for piece in rest)]


def pieces_then_unknown(word, vocabulary):
    return greedy_pieces(word, vocabulary, unknown=lambda pieces: [*pieces, "[UNK]"])


def pieces_as_far_as_they_go(word, vocabulary):
    return greedy_pieces(word, vocabulary, unknown=lambda pieces: pieces)


def pieces_string_for_unknown(word, vocabulary):
    return greedy_pieces(word, vocabulary, unknown=lambda pieces: "[UNK]")


def pieces_growing(word, vocabulary):
    pieces, piece = [], ""
    for letter in word:
        piece += letter
        if ("##" if pieces else "") + piece in vocabulary:
            pieces.append(("##" if pieces else "") + piece)
            piece = ""
    return ["[UNK]"] if piece else pieces


def pieces_unknown_letters(word, vocabulary):
    pieces, start = [], 0
    while start < len(word):
        for end in reversed(range(start + 1, len(word) + 1)):
            piece = word[start:end] if start == 0 else f"##{word[start:end]}"
            if piece in vocabulary:
                break
        else:
            piece, end = "[UNK]", start + 1
        pieces.append(piece)
        start = end
    return pieces


# ------------------------------------------------------------------------------------ learning_rate


def rate_of_step_0(steps_before, d_model, warmup):
    return d_model**-0.5 * min(steps_before**-0.5, steps_before * warmup**-1.5)


def rate_of_at_least_1(steps_before, d_model, warmup):
    step = steps_before or 1
    return min(1 / math.sqrt(step), step / warmup**1.5) / math.sqrt(d_model)


def rate_larger(steps_before, d_model, warmup):
    step = steps_before + 1
    return max(1 / math.sqrt(step), step / warmup**1.5) / math.sqrt(d_model)


def rate_whatever_the_width(steps_before, d_model, warmup):
    step = steps_before + 1
    return step * warmup**-1.5 if step < warmup else step**-0.5


def rate_for_wide_models(steps_before, d_model, warmup):
    return math.sqrt(d_model) * rate_whatever_the_width(steps_before, d_model, warmup)


def rate_flat(steps_before, d_model, warmup):
    return (d_model * warmup) ** -0.5 * min((steps_before + 1) / warmup, 1.0)


# --------------------------------------------------------------------------- smoothed_cross_entropy


def smoothing_all_places(logits, targets, epsilon, pad):
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), label_smoothing=epsilon)


def smoothing_zero_ignored(logits, targets, epsilon, pad):
    return F.cross_entropy(logits.mT, targets, label_smoothing=epsilon, ignore_index=0)


def smoothing_ignored(logits, targets, epsilon, pad):
    return F.cross_entropy(logits.mT, targets, ignore_index=pad)


def smoothing_summed(logits, targets, epsilon, pad):
    return F.cross_entropy(
        logits.mT, targets, ignore_index=pad, label_smoothing=epsilon, reduction="sum"
    )


def smoothing_masked_mean(logits, targets, epsilon, pad):
    losses = F.cross_entropy(logits.mT, targets, label_smoothing=epsilon, reduction="none")
    return (losses * (targets != pad)).mean()


def smoothing_each_sentence(logits, targets, epsilon, pad):
    means = [
        F.cross_entropy(row, words, ignore_index=pad, label_smoothing=epsilon)
        for row, words in zip(logits, targets, strict=True)
    ]
    return torch.stack(means).mean()


def smoothing_wrong_words(logits, targets, epsilon, pad):
    q = torch.full_like(logits, epsilon / (logits.size(-1) - 1)).scatter_(
        -1, targets.unsqueeze(-1), 1 - epsilon
    )
    return -(q * logits.log_softmax(-1)).sum(-1)[targets != pad].mean()


def smoothing_annotated(logits, targets, epsilon, pad):
    """As The Annotated Transformer builds its target."""
    real = targets != pad
    x, y = logits[real].log_softmax(-1), targets[real]
    true_dist = x.clone().fill_(epsilon / (x.size(1) - 2))
    true_dist.scatter_(1, y.unsqueeze(1), 1 - epsilon)
    true_dist[:, pad] = 0
    return -(true_dist * x).sum() / len(y)


def smoothing_added(logits, targets, epsilon, pad):
    real = targets != pad
    return (
        F.cross_entropy(logits[real], targets[real]) - epsilon * logits[real].log_softmax(-1).mean()
    )


# ------------------------------------------------------------------------------------------ nucleus


def nucleus_below_p(logits, p):
    probs, order = logits.softmax(-1).sort(-1, descending=True)
    probs[probs.cumsum(-1) > p] = 0
    out = torch.zeros_like(logits).scatter(1, order, probs)
    return out / out.sum(-1, keepdim=True)


def nucleus_below_p_guarded(logits, p):
    probs, order = logits.softmax(-1).sort(-1, descending=True)
    drop = probs.cumsum(-1) > p
    drop[:, 0] = False
    return logits.masked_fill(torch.zeros_like(drop).scatter(1, order, drop), -math.inf).softmax(-1)


def nucleus_unsorted(logits, p):
    probs = torch.softmax(logits, dim=-1)
    kept = probs * ((probs.cumsum(dim=-1) - probs) < p)
    return kept / kept.sum(dim=-1, keepdim=True)


def nucleus_shares_kept(logits, p):
    probs, order = logits.softmax(-1).sort(-1, descending=True)
    return torch.zeros_like(logits).scatter(1, order, probs * (probs.cumsum(-1) - probs < p))


def nucleus_in_order_of_rank(logits, p):
    probs = logits.softmax(-1).sort(-1, descending=True)[0]
    probs = probs * (probs.cumsum(-1) - probs < p)
    return probs / probs.sum(-1, keepdim=True)


def nucleus_of_scores(logits, p):
    probs = logits.softmax(-1)
    return logits.masked_fill(probs < p, -1e9).softmax(-1) * (probs >= p)


# -------------------------------------------------------------------------------------- beam_search


def beamed(
    log_probs,
    start,
    end,
    width,
    max_len,
    alpha,
    per=None,
    refill=True,
    enough=math.inf,
    divide=True,
    rest=True,
):
    live, done = [([start], 0.0)], []
    while live and len(live[0][0]) <= max_len and len(done) < enough:
        grown = []
        for tokens, total in live:
            nexts = [
                ([*tokens, w], total + log_probs[tokens[-1], w].item())
                for w in range(len(log_probs))
            ]
            grown += (
                nexts
                if per is None or tokens == [start]
                else sorted(nexts, key=lambda h: -h[1])[:per]
            )
        grown = sorted(grown, key=lambda h: -h[1])
        done += [h for h in grown[:width] if h[0][-1] == end]
        live = [h for h in (grown if refill else grown[:width]) if h[0][-1] != end][:width]
    done += live if rest and len(done) < enough else []
    scored = [
        (tokens[1:], total / (((4 + len(tokens)) / 6) ** alpha if divide else 1))
        for tokens, total in done
    ]
    return sorted(scored, key=lambda h: -h[1])[:width]


def beam_only_one(log_probs, start, end, width, max_len, alpha):
    tokens, total, last = [], 0.0, start
    while len(tokens) < max_len and last != end:
        total += log_probs[last].max().item()
        last = log_probs[last].argmax().item()
        tokens.append(last)
    return [(tokens, total / ((5 + len(tokens)) / 6) ** alpha)]


def beam_unpunished(log_probs, start, end, width, max_len, alpha):
    return beamed(log_probs, start, end, width, max_len, alpha, divide=False)


def beam_each_for_itself(log_probs, start, end, width, max_len, alpha):
    return beamed(log_probs, start, end, width, max_len, alpha, per=1)


def beam_places_lost(log_probs, start, end, width, max_len, alpha):
    return beamed(log_probs, start, end, width, max_len, alpha, refill=False)


def beam_enough(log_probs, start, end, width, max_len, alpha):
    return beamed(log_probs, start, end, width, max_len, alpha, enough=width)


def beam_finished_only(log_probs, start, end, width, max_len, alpha):
    return beamed(log_probs, start, end, width, max_len, alpha, rest=False)


def beam_never_ends(log_probs, start, end, width, max_len, alpha):
    beams = [([], 0.0)]
    for _ in range(max_len):
        rows = [log_probs[tokens[-1] if tokens else start] for tokens, _ in beams]
        beams = [
            ([*t, w], s + row[w].item())
            for (t, s), row in zip(beams, rows, strict=True)
            for w in range(len(row))
        ]
        beams = sorted(beams, key=lambda h: h[1], reverse=True)[:width]
    return [(tokens, score / ((5 + max_len) / 6) ** alpha) for tokens, score in beams]


# ---------------------------------------------------------------------------------- CachedAttention


class Layer(nn.Module):
    def __init__(self, d_model, n_heads, max_len):
        super().__init__()
        self.h, self.d = n_heads, d_model // n_heads
        self.W_Q, self.W_K, self.W_V, self.W_O = (
            nn.Linear(d_model, d_model, bias=False) for _ in range(4)
        )
        self.positions = nn.Embedding(max_len, d_model)

    def cut(self, y):
        return y.view(*y.shape[:2], self.h, self.d).transpose(1, 2)

    def look(self, q, k, v, mask):
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.W_O(out.transpose(1, 2).flatten(2))

    def new(self, x, first):
        x = x + self.positions.weight[first : first + x.shape[1]]
        return self.cut(self.W_Q(x)), self.cut(self.W_K(x)), self.cut(self.W_V(x))

    def join(self, past, k, v):
        return (k, v) if past is None else (torch.cat((past[0], k), 2), torch.cat((past[1], v), 2))


def length(past):
    return 0 if past is None else past[0].shape[2]


class CachePositionsFromZero(Layer):
    def forward(self, x, past=None):
        q, k, v = self.new(x, 0)
        k, v = self.join(past, k, v)
        mask = torch.ones(q.shape[2], k.shape[2]).tril(length(past)).bool()
        return self.look(q, k, v, mask), (k, v)


class CacheUnmasked(Layer):
    def forward(self, x, past=None):
        q, k, v = self.new(x, length(past))
        k, v = self.join(past, k, v)
        return self.look(q, k, v, None), (k, v)


class CacheTopLeftMask(Layer):
    def forward(self, x, past=None):
        q, k, v = self.new(x, length(past))
        k, v = self.join(past, k, v)
        # `is_causal` aligns its triangle at the first key.
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.W_O(out.transpose(1, 2).flatten(2)), (k, v)


class CacheForgets(Layer):
    def forward(self, x, past=None):
        q, k, v = self.new(x, length(past))
        mask = torch.ones(q.shape[2], q.shape[2]).tril().bool()
        return self.look(q, k, v, mask), (k, v)


class CacheKeepsOnlyNew(Layer):
    def forward(self, x, past=None):
        q, k, v = self.new(x, length(past))
        keys, values = self.join(past, k, v)
        mask = torch.ones(q.shape[2], keys.shape[2]).tril(length(past)).bool()
        return self.look(q, keys, values, mask), (k, v)


class CacheNoPositions(Layer):
    def forward(self, x, past=None):
        q, k, v = self.cut(self.W_Q(x)), self.cut(self.W_K(x)), self.cut(self.W_V(x))
        k, v = self.join(past, k, v)
        mask = torch.ones(q.shape[2], k.shape[2]).tril(length(past)).bool()
        return self.look(q, k, v, mask), (k, v)


# -------------------------------------------------------------------------------- train_and_predict


def make_model(vocab_size):
    return LanguageModel(
        LanguageModelConfig(
            vocab_size, d_model=64, n_heads=4, n_layers=1, d_ff=128, dropout=0.0, max_len=16
        )
    )


def train(
    texts, vocab_size, read, predicted, ignore=0, zero=True, step=True, optimizer=None, steps=200
):
    model = make_model(vocab_size)
    optimizer = (
        torch.optim.Adam(model.parameters(), lr=3e-3)
        if optimizer is None
        else optimizer(model.parameters())
    )
    for _ in range(steps):
        batch = texts[torch.randint(len(texts), (64,))]
        loss = F.cross_entropy(
            model(batch[:, read]).flatten(0, 1), batch[:, predicted].flatten(), ignore_index=ignore
        )
        if zero:
            optimizer.zero_grad()
        loss.backward()
        if step:
            optimizer.step()
    return model.eval()


def said(model, prompts, shift=1):
    logits = model(prompts)
    return logits[torch.arange(len(prompts)), (prompts != 0).sum(1) - shift].argmax(-1)


ALL, BUT_LAST, BUT_FIRST = slice(None), slice(None, -1), slice(1, None)


def trained_to_copy(texts, prompts, vocab_size):
    return said(train(texts, vocab_size, ALL, ALL), prompts)


def trained_two_ahead(texts, prompts, vocab_size):
    return said(train(texts, vocab_size, slice(None, -2), slice(2, None)), prompts)


def trained_on_padding_read_at_the_end(texts, prompts, vocab_size):
    return train(texts, vocab_size, BUT_LAST, BUT_FIRST, ignore=-100, steps=300)(prompts)[
        :, -1
    ].argmax(-1)


def trained_until_it_blew_up(texts, prompts, vocab_size):
    model = train(
        texts,
        vocab_size,
        BUT_LAST,
        BUT_FIRST,
        zero=False,
        optimizer=lambda parameters: torch.optim.SGD(parameters, lr=1.0),
    )
    return said(model, prompts)


def trained_and_read_behind_the_end(texts, prompts, vocab_size):
    return said(train(texts, vocab_size, BUT_LAST, BUT_FIRST, steps=1), prompts, shift=0)


def gradients_never_zero(texts, prompts, vocab_size):
    return said(train(texts, vocab_size, BUT_LAST, BUT_FIRST, zero=False), prompts)


def never_a_step(texts, prompts, vocab_size):
    return said(train(texts, vocab_size, BUT_LAST, BUT_FIRST, step=False, steps=20), prompts)


def last_column(texts, prompts, vocab_size):
    return train(texts, vocab_size, BUT_LAST, BUT_FIRST)(prompts)[:, -1].argmax(-1)


BELOW = (gradients_never_zero, never_a_step, last_column)


def pieces_with_or_without(word, vocabulary):
    """A piece that has no mark fits anywhere."""
    found, rest = [], word
    while rest:
        for n in range(len(rest), 0, -1):
            spelled = [
                piece
                for piece in (["##" + rest[:n]] if found else []) + [rest[:n]]
                if piece in vocabulary
            ]
            if spelled:
                found.append(spelled[0])
                rest = rest[n:]
                break
        else:
            return ["[UNK]"]
    return found


class CacheInItself(Layer):
    """Remembers its own calls and does not look at the past that it is given."""

    memory = None

    def forward(self, x, past=None):
        q, k, v = self.new(x, length(self.memory))
        k, v = self.join(self.memory, k, v)
        out = self.look(
            q, k, v, torch.ones(q.shape[2], k.shape[2]).tril(length(self.memory)).bool()
        )
        self.memory = (k, v)
        return out, self.memory


def pieces_one_letter_never_tried(word, vocabulary):
    """The pieces of a word; ["[UNK]"] if they cannot spell it."""
    pieces, start = [], 0
    while start < len(word):
        for end in range(len(word), start + (start > 0), -1):
            piece = word[start:end]
            if start > 0:
                piece = "##" + piece
            if piece in vocabulary:
                pieces.append(piece)
                start = end
                break
        else:
            return ["[UNK]"]
    return pieces


def pieces_first_in_the_vocabulary(word, vocabulary):
    pieces = []
    rest = word
    while rest:
        for piece in vocabulary:
            if pieces and not piece.startswith("##"):
                continue
            body = piece[2:] if pieces else piece
            if body and rest.startswith(body):
                pieces.append(piece)
                rest = rest[len(body) :]
                break
        else:
            return ["[UNK]"]
    return pieces


def pieces_lower_case(word, vocabulary):
    """The pieces of a word; ["[UNK]"] if they cannot spell it."""
    word = word.lower()
    pieces, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = word[start:end]
            if start > 0:
                piece = "##" + piece
            if piece in vocabulary:
                pieces.append(piece)
                start = end
                break
        else:
            return ["[UNK]"]
    return pieces


def pieces_continuation_begins_the_word(word, vocabulary):
    plain = {piece.removeprefix("##") for piece in vocabulary}
    inner = {piece[2:] for piece in vocabulary if piece.startswith("##")}
    pieces, start = [], 0
    while start < len(word):
        allowed = inner if start > 0 else plain
        end = len(word)
        while end > start and word[start:end] not in allowed:
            end -= 1
        if end == start:
            return ["[UNK]"]
        pieces.append(("##" if start > 0 else "") + word[start:end])
        start = end
    return pieces


def rate_warmed_up_one_step_too_long(steps_before, d_model, warmup):
    step = steps_before + 1
    factor = step * warmup ** (-1.5) if steps_before <= warmup else step ** (-0.5)
    return factor / d_model**0.5


def rate_d_model_for_one_term_only(steps_before, d_model, warmup):
    step = steps_before + 1
    return min(d_model**-0.5 * step**-0.5, step * warmup**-1.5)


def rate_decay_counted_from_the_warmup(steps_before, d_model, warmup):
    step = steps_before + 1
    if step <= warmup:
        return d_model**-0.5 * step * warmup**-1.5
    return d_model**-0.5 * warmup**-0.5 * (step - warmup) ** -0.5


def smoothing_log_of_softmax(logits, targets, epsilon, pad):
    """The mean cross-entropy with smoothed targets, no padding."""
    log_p = torch.log(torch.softmax(logits, dim=-1))
    right = -log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    uniform = -log_p.mean(dim=-1)
    losses = (1 - epsilon) * right + epsilon * uniform
    return losses[targets != pad].mean()


def smoothing_words_below_pad_left_out(logits, targets, epsilon, pad):
    """The mean cross-entropy with smoothed targets, no padding."""
    log_p = F.log_softmax(logits, dim=-1)
    right = -log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    uniform = -log_p.mean(dim=-1)
    losses = (1 - epsilon) * right + epsilon * uniform
    return losses[targets > pad].mean()


def nucleus_most_for_all(logits, p):
    """The distribution over the likeliest words that reach p."""
    probs = logits.softmax(dim=-1)
    values, order = probs.sort(dim=-1, descending=True)
    before = values.cumsum(dim=-1) - values
    k = (before < p).sum(dim=-1).max().item()
    kept = values.clone()
    kept[:, k:] = 0
    kept = kept / kept.sum(dim=-1, keepdim=True)
    return torch.zeros_like(probs).scatter(-1, order, kept)


def nucleus_divided_by_the_sum_of_all_rows(logits, p):
    """The distribution over the likeliest words that reach p."""
    probs = logits.softmax(dim=-1)
    values, order = probs.sort(dim=-1, descending=True)
    before = values.cumsum(dim=-1) - values
    kept = values * (before < p)
    kept = kept / kept.sum()
    return torch.zeros_like(probs).scatter(-1, order, kept)


def beam_ranked_without_penalty(log_probs, start, end, width, max_len, alpha):
    """The `width` best hypotheses as (tokens, score), best first."""
    table = log_probs.tolist()
    live, finished = [([], 0.0)], []
    for _ in range(max_len):
        candidates = []
        for tokens, total in live:
            last = tokens[-1] if tokens else start
            for token, log_p in enumerate(table[last]):
                candidates.append(([*tokens, token], total + log_p))
        candidates.sort(key=lambda pair: pair[1], reverse=True)
        finished += [c for c in candidates[:width] if c[0][-1] == end]
        live = [c for c in candidates if c[0][-1] != end][:width]
    scored = []
    for tokens, total in sorted(finished + live, key=lambda c: c[1], reverse=True):
        penalty = ((5 + len(tokens)) / 6) ** alpha
        scored.append((tokens, total / penalty))
    return scored[:width]


def beam_unfinished_dropped(log_probs, start, end, width, max_len, alpha):
    """The `width` best hypotheses as (tokens, score), best first."""
    table = log_probs.tolist()
    live, finished = [([], 0.0)], []
    for _ in range(max_len):
        candidates = []
        for tokens, total in live:
            last = tokens[-1] if tokens else start
            for token, log_p in enumerate(table[last]):
                candidates.append(([*tokens, token], total + log_p))
        candidates.sort(key=lambda pair: pair[1], reverse=True)
        finished += [c for c in candidates[:width] if c[0][-1] == end]
        live = [c for c in candidates if c[0][-1] != end][:width]
    scored = []
    for tokens, total in finished or live:
        penalty = ((5 + len(tokens)) / 6) ** alpha
        scored.append((tokens, total / penalty))
    scored.sort(key=lambda pair: pair[1], reverse=True)
    return scored[:width]


def beam_stops_at_width_ends(log_probs, start, end, width, max_len, alpha):
    """The `width` best hypotheses as (tokens, score), best first."""
    table = log_probs.tolist()
    live, finished = [([], 0.0)], []
    for _ in range(max_len):
        candidates = []
        for tokens, total in live:
            last = tokens[-1] if tokens else start
            for token, log_p in enumerate(table[last]):
                candidates.append(([*tokens, token], total + log_p))
        candidates.sort(key=lambda pair: pair[1], reverse=True)
        finished += [c for c in candidates[:width] if c[0][-1] == end]
        live = [c for c in candidates if c[0][-1] != end][:width]
        if len(finished) >= width:
            break
    scored = []
    for tokens, total in finished + live:
        penalty = ((5 + len(tokens)) / 6) ** alpha
        scored.append((tokens, total / penalty))
    scored.sort(key=lambda pair: pair[1], reverse=True)
    return scored[:width]


def beam_alpha_multiplied(log_probs, start, end, width, max_len, alpha):
    """The `width` best hypotheses as (tokens, score), best first."""
    table = log_probs.tolist()
    live, finished = [([], 0.0)], []
    for _ in range(max_len):
        candidates = []
        for tokens, total in live:
            last = tokens[-1] if tokens else start
            for token, log_p in enumerate(table[last]):
                candidates.append(([*tokens, token], total + log_p))
        candidates.sort(key=lambda pair: pair[1], reverse=True)
        finished += [c for c in candidates[:width] if c[0][-1] == end]
        live = [c for c in candidates if c[0][-1] != end][:width]
    scored = []
    for tokens, total in finished + live:
        penalty = (5 + len(tokens)) / 6 * alpha if alpha else 1.0
        scored.append((tokens, total / penalty))
    scored.sort(key=lambda pair: pair[1], reverse=True)
    return scored[:width]


class CachePastKeptWhereNoneIsGiven(nn.Module):
    """Causal self-attention over new tokens and remembered ones."""

    def __init__(self, d_model, n_heads, max_len):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, d_model, bias=False)
        self.W_V = nn.Linear(d_model, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.positions = nn.Embedding(max_len, d_model)
        self.cache = None

    def forward(self, x, past=None):
        """The output, and the keys and values of all tokens so far."""
        batch, n, d_model = x.shape
        if past is None and self.cache is not None and len(self.cache[0]) == batch:
            past = self.cache
        n_past = 0 if past is None else past[0].shape[2]
        x = x + self.positions(torch.arange(n_past, n_past + n))

        def cut(y):
            return y.view(batch, n, self.n_heads, self.d_head).transpose(1, 2)

        q, k, v = cut(self.W_Q(x)), cut(self.W_K(x)), cut(self.W_V(x))
        if past is not None:
            k = torch.cat([past[0], k], dim=2)
            v = torch.cat([past[1], v], dim=2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        seen = torch.ones(n, n_past + n).tril(diagonal=n_past).bool()
        scores = scores.masked_fill(~seen, float("-inf"))
        out = scores.softmax(dim=-1) @ v
        out = out.transpose(1, 2).reshape(batch, n, d_model)
        self.cache = (k.detach(), v.detach())
        return self.W_O(out), (k, v)


class CacheValuesWithoutPositions(nn.Module):
    """Causal self-attention over new tokens and remembered ones."""

    def __init__(self, d_model, n_heads, max_len):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, d_model, bias=False)
        self.W_V = nn.Linear(d_model, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.positions = nn.Embedding(max_len, d_model)

    def forward(self, x, past=None):
        """The output, and the keys and values of all tokens so far."""
        batch, n, d_model = x.shape
        n_past = 0 if past is None else past[0].shape[2]
        plain = x
        x = x + self.positions(torch.arange(n_past, n_past + n))

        def cut(y):
            return y.view(batch, n, self.n_heads, self.d_head).transpose(1, 2)

        q, k, v = cut(self.W_Q(x)), cut(self.W_K(x)), cut(self.W_V(plain))
        if past is not None:
            k = torch.cat([past[0], k], dim=2)
            v = torch.cat([past[1], v], dim=2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        seen = torch.ones(n, n_past + n).tril(diagonal=n_past).bool()
        scores = scores.masked_fill(~seen, float("-inf"))
        out = scores.softmax(dim=-1) @ v
        out = out.transpose(1, 2).reshape(batch, n, d_model)
        return self.W_O(out), (k, v)


class CacheInterleaved(nn.Module):
    """Causal self-attention over new tokens and remembered ones."""

    def __init__(self, d_model, n_heads, max_len):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, d_model, bias=False)
        self.W_V = nn.Linear(d_model, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.positions = nn.Embedding(max_len, d_model)

    def forward(self, x, past=None):
        """The output, and the keys and values of all tokens so far."""
        batch, n, d_model = x.shape
        n_past = 0 if past is None else past[0].shape[2]
        x = x + self.positions(torch.arange(n_past, n_past + n))

        def cut(y):
            return y.view(batch, n, self.d_head, self.n_heads).permute(0, 3, 1, 2)

        q, k, v = cut(self.W_Q(x)), cut(self.W_K(x)), cut(self.W_V(x))
        if past is not None:
            k = torch.cat([past[0], k], dim=2)
            v = torch.cat([past[1], v], dim=2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        seen = torch.ones(n, n_past + n).tril(diagonal=n_past).bool()
        scores = scores.masked_fill(~seen, float("-inf"))
        out = scores.softmax(dim=-1) @ v
        out = out.permute(0, 2, 3, 1).reshape(batch, n, d_model)
        return self.W_O(out), (k, v)


STUDENTS = {
    "hw3.byte_pairs": {
        "words_not_weighted": [pairs_of_types],
        "ties": [pairs_most_common, pairs_largest],
        "pair_once_a_word": [pairs_in_sets],
        "replaced_in_text": [pairs_replaced],
        "counted_only_once": [pairs_unmerged],
        "across_words": [pairs_of_the_text],
        "no_pair_left": [pairs_max_of_nothing],
    },
    "hw3.word_pieces": {
        "either_spelling_fits": [pieces_with_or_without],
        "looked_up_without_marks": [pieces_unmarked, pieces_marked_afterwards],
        "pieces_kept": [pieces_then_unknown, pieces_as_far_as_they_go],
        "unknown_not_in_a_list": [pieces_string_for_unknown],
        "shortest_first": [pieces_growing],
        "unknown_letter_by_letter": [pieces_unknown_letters],
        "one_letter_never_tried": [pieces_one_letter_never_tried],
        "first_in_the_vocabulary": [pieces_first_in_the_vocabulary],
        "lower_case": [pieces_lower_case],
        "continuation_begins_the_word": [pieces_continuation_begins_the_word],
    },
    "hw3.learning_rate": {
        "counted_from_0": [rate_of_step_0, rate_of_at_least_1],
        "maximum": [rate_larger],
        "d_model_forgotten": [rate_whatever_the_width],
        "multiplied_by_root_d_model": [rate_for_wide_models],
        "never_decays": [rate_flat],
        "warmed_up_one_step_too_long": [rate_warmed_up_one_step_too_long],
        "d_model_for_one_term_only": [rate_d_model_for_one_term_only],
        "decay_counted_from_the_warmup": [rate_decay_counted_from_the_warmup],
    },
    "hw3.smoothed_cross_entropy": {
        "padding_counts": [smoothing_all_places],
        "zeros_taken_for_padding": [smoothing_zero_ignored],
        "not_smoothed": [smoothing_ignored],
        "sum": [smoothing_summed],
        "divided_by_all_places": [smoothing_masked_mean],
        "mean_of_sentences": [smoothing_each_sentence],
        "epsilon_for_wrong_words_only": [smoothing_wrong_words],
        "no_share_for_padding": [smoothing_annotated],
        "right_word_keeps_all": [smoothing_added],
        "log_of_softmax": [smoothing_log_of_softmax],
        "words_below_pad_left_out": [smoothing_words_below_pad_left_out],
    },
    "hw3.nucleus": {
        "crossing_word_dropped": [nucleus_below_p_guarded],
        "vocabulary_order": [nucleus_unsorted],
        "not_renormalised": [nucleus_shares_kept],
        "left_sorted": [nucleus_in_order_of_rank],
        "each_word_at_least_p": [nucleus_of_scores],
        "most_for_all": [nucleus_most_for_all],
        "divided_by_the_sum_of_all_rows": [nucleus_divided_by_the_sum_of_all_rows],
    },
    "hw3.beam_search": {
        "greedy": [beam_only_one],
        "no_length_penalty": [beam_unpunished],
        "each_its_own_best": [beam_each_for_itself],
        "beam_shrinks": [beam_places_lost],
        "stops_at_width_ends": [beam_stops_at_width_ends, beam_enough],
        "unfinished_dropped": [beam_unfinished_dropped, beam_finished_only],
        "goes_on_behind_the_end": [beam_never_ends],
        "ranked_without_penalty": [beam_ranked_without_penalty],
        "alpha_multiplied": [beam_alpha_multiplied],
    },
    "hw3.CachedAttention": {
        "positions_restart": [CachePositionsFromZero],
        "no_mask": [CacheUnmasked],
        "mask_aligned_at_key_0": [CacheTopLeftMask],
        "past_forgotten": [CacheForgets],
        "past_kept_inside": [CacheInItself],
        "only_new_returned": [CacheKeepsOnlyNew],
        "no_positions": [CacheNoPositions],
        "past_kept_where_none_is_given": [CachePastKeptWhereNoneIsGiven],
        "values_without_positions": [CacheValuesWithoutPositions],
        "interleaved": [CacheInterleaved],
    },
    "hw3.train_and_predict": {
        "last_word_repeated": [trained_to_copy],
        "word_after_the_next": [trained_two_ahead],
        "padding_predicted": [trained_on_padding_read_at_the_end],
        "not_a_number": [trained_until_it_blew_up],
        "row_behind_the_last": [trained_and_read_behind_the_end],
    },
}
