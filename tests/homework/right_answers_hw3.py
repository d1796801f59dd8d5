"""Right answers to homework 3, written as differently as students write: all of them must be
accepted.

`RIGHT_ANSWERS` maps a question's full name to its answers. Each stands alone, except that the last
question's use the model that the notebook gives.
"""

import heapq
import math
import re
from collections import Counter, defaultdict
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import nn

from lectures_lib.models.language_model import LanguageModel, LanguageModelConfig

# --------------------------------------------------------------------------------------- byte_pairs


def pairs_by_regular_expression(words, n_merges):
    """As in the paper of 2016: words as text, and a pattern that matches whole symbols only."""
    spelled = {" ".join(word): n for word, n in words.items()}
    merges = []
    for _ in range(n_merges):
        counts = defaultdict(int)
        for word, n in spelled.items():
            symbols = word.split()
            for i in range(len(symbols) - 1):
                counts[symbols[i], symbols[i + 1]] += n
        if not counts:
            return merges
        best = sorted(sorted(counts), key=counts.get, reverse=True)[0]
        merges.append(" ".join(best))
        pattern = re.compile(r"(?<!\S)" + re.escape(" ".join(best)) + r"(?!\S)")
        spelled = {pattern.sub("".join(best), word): n for word, n in spelled.items()}
    return merges


def pairs_with_counts_kept(words, n_merges):
    """Lists changed in place, and only the words that hold the pair counted anew."""
    rows = [(list(word), n) for word, n in words.items()]
    counts = Counter()
    for row, n in rows:
        for pair in pairwise(row):
            counts[pair] += n
    merges = []
    while len(merges) < n_merges and (most := max(counts.values(), default=0)) > 0:
        left, right = min(pair for pair in counts if counts[pair] == most)
        merges.append(f"{left} {right}")
        for row, n in rows:
            if left not in row:
                continue
            for pair in pairwise(row):
                counts[pair] -= n
            i = 0
            while i < len(row) - 1:
                if row[i] == left and row[i + 1] == right:
                    row[i : i + 2] = [left + right]
                i += 1
            for pair in pairwise(row):
                counts[pair] += n
    return merges


def pairs_recursively(words, n_merges):
    return _pairs_recursively([(tuple(word), n) for word, n in words.items()], n_merges)


def _pairs_recursively(rows, n_merges):
    counts = Counter()
    for row, n in rows:
        counts.update({pair: 0 for pair in pairwise(row)})
        for pair in pairwise(row):
            counts[pair] += n
    if n_merges == 0 or len(counts) == 0:
        return []
    best = heapq.nsmallest(1, ((-n, left, right) for (left, right), n in counts.items()))[0][1:]

    def merged(row):
        if len(row) < 2:
            return row
        return (
            (row[0] + row[1], *merged(row[2:])) if row[:2] == best else (row[0], *merged(row[1:]))
        )

    return [
        " ".join(best),
        *_pairs_recursively([(merged(row), n) for row, n in rows], n_merges - 1),
    ]


# -------------------------------------------------------------------------------------- word_pieces


def pieces_shrinking(word, vocabulary):
    pieces, rest = [], word
    while rest:
        piece = rest if not pieces else "##" + rest
        while piece not in vocabulary:
            piece = piece[:-1]
            if piece in ("", "#", "##"):
                return ["[UNK]"]
        pieces.append(piece)
        rest = rest[len(piece.removeprefix("##") if len(pieces) > 1 else piece) :]
    return pieces


def pieces_by_candidates(word, vocabulary):
    """Asks of all pieces of the vocabulary which one fits, and takes the longest."""
    at, found = 0, []
    while at < len(word):
        bare = (
            [p[2:] for p in vocabulary if p.startswith("##")]
            if at
            else [p for p in vocabulary if not p.startswith("##")]
        )
        fitting = [p for p in bare if p and word.startswith(p, at)]
        if not fitting:
            return ["[UNK]"]
        longest = max(fitting, key=len)
        found += ["##" * (at > 0) + longest]
        at += len(longest)
    return found


def pieces_recursively(word, vocabulary):
    known = set(vocabulary)

    def rest(start):
        if start == len(word):
            return []
        fits = [
            end
            for end in range(start + 1, len(word) + 1)
            if (word[start:end] if start == 0 else f"##{word[start:end]}") in known
        ]
        if not fits:
            return None
        behind = rest(fits[-1])
        return (
            None if behind is None else [("##" if start else "") + word[start : fits[-1]], *behind]
        )

    return rest(0) or ["[UNK]"]


# ------------------------------------------------------------------------------------ learning_rate


def rate_by_cases(steps_before, d_model, warmup):
    step = 1 + steps_before
    if step < warmup:
        return step / (warmup * math.sqrt(warmup * d_model))
    return 1 / math.sqrt(d_model * step)


def rate_by_logarithms(steps_before, d_model, warmup):
    step = math.log(steps_before + 1)
    return math.exp(-0.5 * math.log(d_model) + min(-0.5 * step, step - 1.5 * math.log(warmup)))


def rate_by_tensors(steps_before, d_model, warmup):
    step = torch.tensor(steps_before + 1.0, dtype=torch.float64)
    return (torch.minimum(step.rsqrt(), step * warmup**-1.5) / d_model**0.5).item()


# --------------------------------------------------------------------------- smoothed_cross_entropy


def smoothing_by_targets(logits, targets, epsilon, pad):
    q = (1 - epsilon) * F.one_hot(targets, logits.size(-1)) + epsilon / logits.size(-1)
    losses = -(q * torch.log_softmax(logits, -1)).sum(-1)
    real = (targets != pad).float()
    return (losses * real).sum() / real.sum()


def smoothing_by_divergence(logits, targets, epsilon, pad):
    """Kullback–Leibler divergence and the entropy of the target."""
    real = targets.ne(pad)
    logits, targets = logits[real], targets[real]
    q = torch.full_like(logits, epsilon / logits.shape[1])
    q[torch.arange(len(q)), targets] += 1 - epsilon
    return F.kl_div(logits.log_softmax(1), q, reduction="batchmean") - (q * q.log()).sum(1).mean()


def smoothing_place_by_place(logits, targets, epsilon, pad):
    losses = []
    for sentence, words in zip(logits, targets, strict=True):
        for scores, word in zip(sentence, words.tolist(), strict=True):
            if word != pad:
                log_probs = scores - torch.logsumexp(scores, 0)
                losses.append(-(1 - epsilon) * log_probs[word] - epsilon * log_probs.mean())
    return sum(losses) / len(losses)


# ------------------------------------------------------------------------------------------ nucleus


def nucleus_by_inverse_order(logits, p):
    values, order = torch.sort(logits, dim=-1, descending=True)
    total = F.softmax(values, dim=-1).cumsum(dim=-1)
    drop = torch.cat([torch.zeros_like(total[:, :1]), total[:, :-1]], dim=-1) >= p
    kept = values.masked_fill(drop, float("-inf")).softmax(dim=-1)
    return kept.gather(-1, order.argsort(dim=-1))


def nucleus_by_shifted_mask(logits, p):
    """As in many programs: mark what is above p, move the marks one to the right, never mark the
    first.
    """
    values, order = logits.sort(descending=True)
    remove = values.softmax(-1).cumsum(-1) > p
    remove[..., 1:] = remove[..., :-1].clone()
    remove[..., 0] = False
    logits = logits.masked_fill(remove.scatter(1, order, remove), -math.inf)
    return torch.softmax(logits, dim=1)


def nucleus_row_by_row(logits, p):
    result = torch.zeros_like(logits)
    for row, out in zip(torch.softmax(logits, -1).tolist(), result, strict=True):
        total, kept = 0.0, []
        for word in sorted(range(len(row)), key=row.__getitem__, reverse=True):
            kept.append(word)
            total += row[word]
            if total >= p:
                break
        for word in kept:
            out[word] = row[word] / total
    return result


def nucleus_by_comparing_all(logits, p):
    """What is likelier than each word, without sorting."""
    probs = logits.softmax(-1)
    likelier = (probs[:, None, :] > probs[:, :, None]).float()
    before = (likelier @ probs[:, :, None])[:, :, 0]
    kept = torch.where(before < p, probs, 0.0)
    return kept / kept.sum(-1, keepdim=True)


# -------------------------------------------------------------------------------------- beam_search


def beam_by_tensors(log_probs, start, end, width, max_len, alpha):
    vocab = log_probs.shape[0]
    tokens, scores = torch.empty(1, 0, dtype=torch.long), torch.zeros(1)
    finished = []
    for n in range(max_len):
        last = tokens[:, -1] if n else torch.tensor([start])
        totals = (scores[:, None] + log_probs[last]).flatten()
        best = totals.argsort(descending=True)
        grown = torch.cat([tokens[best // vocab], (best % vocab)[:, None]], dim=1)
        totals, ended = totals[best], grown[:, -1] == end
        for i in ended[:width].nonzero()[:, 0].tolist():
            finished.append((grown[i].tolist(), totals[i].item()))
        tokens, scores = grown[~ended][:width], totals[~ended][:width]
    finished += zip(tokens.tolist(), scores.tolist(), strict=True)
    ranked = [(t, score / math.pow((5 + len(t)) / 6, alpha)) for t, score in finished]
    return sorted(ranked, key=lambda pair: -pair[1])[:width]


def beam_with_heapq(log_probs, start, end, width, max_len, alpha):
    alive = [(0.0, (start,))]
    done = []
    for _ in range(max_len):
        grown = [
            (s + log_probs[t[-1], w].item(), (*t, w))
            for s, t in alive
            for w in range(log_probs.size(1))
        ]
        done.extend(c for c in heapq.nlargest(width, grown) if c[1][-1] == end)
        alive = heapq.nlargest(width, (c for c in grown if c[1][-1] != end))
    # One token more stands in the tuples here: the start.
    best = heapq.nlargest(width, ((s / ((4 + len(t)) / 6) ** alpha, t) for s, t in done + alive))
    return [(list(t[1:]), s) for s, t in best]


def beam_by_steps_of_dictionaries(log_probs, start, end, width, max_len, alpha):
    rows = log_probs.double().tolist()
    beam, results = {(): 0.0}, {}
    while max_len:
        max_len -= 1
        candidates = {}
        for tokens, total in beam.items():
            previous = tokens[-1] if tokens else start
            candidates.update(
                {(*tokens, word): total + rows[previous][word] for word in range(len(rows))}
            )
        order = sorted(candidates, key=candidates.get)[::-1]
        results.update(
            {tokens: candidates[tokens] for tokens in order[:width] if tokens[-1] == end}
        )
        beam = {tokens: candidates[tokens] for tokens in [o for o in order if o[-1] != end][:width]}
    results.update(beam)
    penalised = {
        tokens: total * (6 / (len(tokens) + 5)) ** alpha for tokens, total in results.items()
    }
    return [
        [list(tokens), penalised[tokens]]
        for tokens in sorted(penalised, key=penalised.get, reverse=True)[:width]
    ]


# ---------------------------------------------------------------------------------- CachedAttention


class Student(nn.Module):
    def __init__(self, d_model, n_heads, max_len):
        super().__init__()
        self.h = n_heads
        for name in ("W_Q", "W_K", "W_V", "W_O"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))
        self.positions = nn.Embedding(max_len, d_model)

    def cut(self, y):
        b, n, d = y.shape
        return y.reshape(b, n, self.h, d // self.h).permute(0, 2, 1, 3)


class CacheFused(Student):
    def forward(self, x, past=None):
        old = past[0].size(2) if past else 0
        x = x + self.positions.weight[old : old + x.size(1)]
        q, k, v = self.cut(self.W_Q(x)), self.cut(self.W_K(x)), self.cut(self.W_V(x))
        if past:
            k, v = (torch.cat(both, dim=-2) for both in zip(past, (k, v), strict=True))
        place = torch.arange(k.size(2))
        mask = place[None, :] <= place[old:, None]
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.W_O(out.permute(0, 2, 1, 3).flatten(2)), (k, v)


class CacheTokenByToken(Student):
    """One new token after the other, so that no mask is needed."""

    def forward(self, x, past=None):
        outputs = []
        for i in range(x.shape[1]):
            n_past = 0 if past is None else past[0].shape[2]
            token = x[:, i : i + 1] + self.positions(torch.tensor([n_past]))
            q, k, v = (self.cut(W(token)) for W in (self.W_Q, self.W_K, self.W_V))
            past = (
                (k, v) if past is None else (torch.cat([past[0], k], 2), torch.cat([past[1], v], 2))
            )
            weights = F.softmax(q @ past[0].mT / q.shape[-1] ** 0.5, dim=-1)
            outputs.append(self.W_O((weights @ past[1]).transpose(1, 2).reshape(token.shape)))
        return torch.cat(outputs, dim=1), past


class CacheHeadByHead(Student):
    def forward(self, x, past=None):
        if past is None:
            past = (self.cut(x)[:, :, :0], self.cut(x)[:, :, :0])  # empty, of the right shape
        n_past, n = past[0].shape[2], x.shape[1]
        x = x + self.positions(n_past + torch.arange(n))
        q, k, v = (torch.stack(W(x).chunk(self.h, -1), 1) for W in (self.W_Q, self.W_K, self.W_V))
        keys, values = torch.cat((past[0], k), 2), torch.cat((past[1], v), 2)
        future = torch.zeros(n, n_past + n).masked_fill(
            torch.ones(n, n_past + n).triu(n_past + 1) > 0, -1e9
        )
        out = []
        for head in range(self.h):
            scores = torch.einsum("bid,bjd->bij", q[:, head], keys[:, head]) * q.shape[-1] ** -0.5
            out.append((scores + future).softmax(-1) @ values[:, head])
        return [self.W_O(torch.cat(out, -1)), [keys, values]]


# -------------------------------------------------------------------------------- train_and_predict


def make_model(vocab_size):
    return LanguageModel(
        LanguageModelConfig(
            vocab_size, d_model=64, n_heads=4, n_layers=1, d_ff=128, dropout=0.0, max_len=16
        )
    )


def trained_by_epochs(texts, prompts, vocab_size):
    """A shuffled loader, AdamW, and -100 for the padding."""
    model = make_model(vocab_size)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
    loader = torch.utils.data.DataLoader(texts, batch_size=32, shuffle=True)
    criterion = nn.CrossEntropyLoss()
    for _ in range(12):
        for batch in loader:
            model.zero_grad()
            targets = batch[:, 1:].masked_fill(batch[:, 1:] == 0, -100)
            criterion(model(batch[:, :-1]).transpose(1, 2), targets).backward()
            optimizer.step()
    with torch.no_grad():
        return torch.stack([model(row[row != 0][None])[0, -1].argmax() for row in prompts])


def trained_by_log_probabilities(texts, prompts, vocab_size):
    """The loss by hand, gradients clipped, the learning rate warmed up; the logits cut instead of
    the input.
    """
    model = make_model(vocab_size).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 50))
    for step in range(300):
        batch = texts[(torch.arange(64) + 64 * step) % len(texts)]
        log_probs = model(batch)[:, :-1].log_softmax(-1)
        losses = -log_probs.gather(-1, batch[:, 1:, None]).squeeze(-1)
        real = batch[:, 1:] > 0
        loss = losses.masked_select(real).mean()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()
    lengths = prompts.ne(0).sum(1)
    logits = model.eval()(prompts)
    return (
        logits.gather(1, (lengths - 1)[:, None, None].expand(-1, 1, vocab_size))
        .squeeze(1)
        .argmax(1)
    )


def trained_on_all_at_once(texts, prompts, vocab_size):
    """All sentences in every step."""
    model = make_model(vocab_size)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(70):
        loss = F.cross_entropy(
            model(texts[:, :-1]).reshape(-1, vocab_size), texts[:, 1:].reshape(-1), ignore_index=0
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    last = (prompts != 0).long().cumsum(1).argmax(1)
    return model(prompts).argmax(-1)[torch.arange(len(prompts)), last]


class CacheWithBuffers(CacheFused):
    """With a buffer for the mask, as in nanoGPT, and below no_grad: it only writes."""

    def __init__(self, d_model, n_heads, max_len):
        super().__init__(d_model, n_heads, max_len)
        self.register_buffer("tril", torch.ones(max_len, max_len).tril())

    @torch.no_grad()
    def forward(self, x, past=None):
        return super().forward(x, past)


RIGHT_ANSWERS = {
    "hw3.byte_pairs": (pairs_by_regular_expression, pairs_with_counts_kept, pairs_recursively),
    "hw3.word_pieces": (pieces_shrinking, pieces_by_candidates, pieces_recursively),
    "hw3.learning_rate": (rate_by_cases, rate_by_logarithms, rate_by_tensors),
    "hw3.smoothed_cross_entropy": (
        smoothing_by_targets,
        smoothing_by_divergence,
        smoothing_place_by_place,
    ),
    "hw3.nucleus": (
        nucleus_by_inverse_order,
        nucleus_by_shifted_mask,
        nucleus_row_by_row,
        nucleus_by_comparing_all,
    ),
    "hw3.beam_search": (beam_by_tensors, beam_with_heapq, beam_by_steps_of_dictionaries),
    "hw3.CachedAttention": (CacheFused, CacheTokenByToken, CacheHeadByHead, CacheWithBuffers),
    "hw3.train_and_predict": (
        trained_by_epochs,
        trained_by_log_probabilities,
        trained_on_all_at_once,
    ),
}
