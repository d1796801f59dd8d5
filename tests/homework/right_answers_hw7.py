"""Right answers to homework 7, written as differently as students write: all of them must be
accepted.

`RIGHT_ANSWERS` maps a question's full name to its answers. Each stands alone.
"""

import math
from itertools import combinations

import torch
import torch.nn.functional as F
from torch import nn

# --------------------------------------------------------------------------------------- mix_layers


def mix_by_einsum(states, w, gamma):
    s = torch.softmax(w, dim=0)
    return torch.einsum("l,lwd->wd", gamma * s, states), s @ torch.arange(len(s), dtype=s.dtype)


def mix_by_loop(states, w, gamma):
    exponentials = [math.exp(x) for x in w.tolist()]
    total, centre = torch.zeros_like(states[0]), 0.0
    for layer, e in enumerate(exponentials):
        total += e / sum(exponentials) * states[layer]
        centre += layer * e / sum(exponentials)
    return gamma * total, torch.tensor(centre)


def mix_by_tensordot(states, w, gamma):
    s = (w - w.logsumexp(0)).exp()
    above = s.flip(0).cumsum(0)[:-1]  # Σ l s_l is the sum of the shares above each layer
    return torch.tensordot(s, states, dims=([0], [0])).mul(gamma), above.sum()


# ----------------------------------------------------------------------------------- control_labels


def control_by_list_of_types(words, labels, draws):
    types = list(dict.fromkeys(word.lower() for word in words))
    return [labels[int(draws[types.index(word.lower())] * len(labels))] for word in words]


def control_by_iterator(words, labels, draws):
    draw, known, found = iter(draws), {}, []
    for word in map(str.lower, words):
        label = known.get(word)
        if label is None:
            label = known[word] = labels[math.floor(next(draw) * len(labels))]
        found += [label]
    return found


def control_by_first_places(words, labels, draws):
    words = [word.lower() for word in words]
    firsts = [i for i, word in enumerate(words) if word not in words[:i]]
    drawn = {words[i]: labels[int(u * len(labels))] for i, u in zip(firsts, draws, strict=False)}
    return list(map(drawn.__getitem__, words))


# ------------------------------------------------------------------------------------- probe_layers


def probes_by_lbfgs(states, labels, dev_states, dev_labels, asked):
    n_classes, accuracies, probes = len(labels.unique()), [], []
    mean, deviation = states.mean(dim=1, keepdim=True), states.std(dim=1, keepdim=True)
    states, dev_states, asked = ((x - mean) / deviation for x in (states, dev_states, asked))
    for x, dev in zip(states, dev_states, strict=True):
        probe = nn.Linear(x.shape[1], n_classes)
        optimizer = torch.optim.LBFGS(
            probe.parameters(), max_iter=30, line_search_fn="strong_wolfe"
        )

        def closure(probe=probe, x=x, optimizer=optimizer):
            optimizer.zero_grad()
            loss = F.cross_entropy(probe(x), labels) + 1e-2 * probe.weight.square().sum()
            loss.backward()
            return loss

        optimizer.step(closure)
        accuracies.append((probe(dev).argmax(1) == dev_labels).float().mean().item())
        probes.append(probe)
    best = max(range(len(probes)), key=accuracies.__getitem__)
    return probes[best](asked[best]).argmax(1)


def probes_all_at_once(states, labels, dev_states, dev_labels, asked):
    """The probes of all layers as one tensor, trained by hand-made gradient descent."""
    n_states, n, d_model = states.shape
    mean, deviation = states.mean(1, keepdim=True), states.std(1, keepdim=True)
    x, dev, test = ((part - mean) / deviation for part in (states, dev_states, asked))
    targets = F.one_hot(labels).float()
    weight, bias = (
        torch.zeros(n_states, d_model, targets.shape[1]),
        torch.zeros(n_states, 1, targets.shape[1]),
    )
    for _ in range(150):
        error = (x @ weight + bias).softmax(-1) - targets
        weight -= 0.5 * x.mT @ error / n
        bias -= 0.5 * error.mean(1, keepdim=True)
    right = ((dev @ weight + bias).argmax(-1) == dev_labels).sum(-1)
    layer = right.argmax()
    return (test[layer] @ weight[layer] + bias[layer]).argmax(-1)


def probes_by_least_squares(states, labels, dev_states, dev_labels, asked):
    """A linear probe with another loss: least squares, solved at once."""
    targets = F.one_hot(labels).float()
    found = []
    for layer in range(len(states)):
        mean, deviation = states[layer].mean(0), states[layer].std(0)
        x, dev, test = (
            torch.cat([(part[layer] - mean) / deviation, torch.ones(part.shape[1], 1)], dim=1)
            for part in (states, dev_states, asked)
        )
        solution = torch.linalg.lstsq(x, targets).solution
        found.append(
            (
                (dev @ solution).argmax(1).eq(dev_labels).sum().item(),
                layer,
                (test @ solution).argmax(1),
            )
        )
    return max(found, key=lambda f: f[0])[2]


# ----------------------------------------------------------------------------------- word_attention


def words_by_matrices(weights, places):
    one = torch.zeros(len(places), weights.shape[-1])
    for word, pieces in enumerate(places):
        one[word, pieces] = 1
    return (one / one.sum(1, keepdim=True)) @ weights @ one.T


def words_by_loops(weights, places):
    found = torch.zeros(len(weights), len(places), len(places))
    for h, head in enumerate(weights):
        for i, mine in enumerate(places):
            for j, theirs in enumerate(places):
                found[h, i, j] = sum(head[a, b] for a in mine for b in theirs) / len(mine)
    return found


def words_by_index_add(weights, places):
    word_of = torch.tensor([word for word, pieces in enumerate(places) for _ in pieces])
    pieces = torch.tensor([piece for pieces in places for piece in pieces])
    kept = weights[:, pieces][:, :, pieces]
    counts = torch.bincount(word_of)
    heads, n = len(weights), len(places)
    columns = torch.zeros(heads, len(pieces), n).index_add(2, word_of, kept)
    return torch.zeros(heads, n, n).index_add(1, word_of, columns) / counts[:, None]


# ---------------------------------------------------------------------------------------- best_tree


def tree_by_kruskal(impact, heads):
    n = len(impact)
    parent = list(range(n))

    def root(i):
        while parent[i] != i:
            i = parent[i]
        return i

    links = []
    order = sorted(
        ((float(impact[i, j] + impact[j, i]), i, j) for i in range(n) for j in range(i + 1, n)),
        reverse=True,
    )
    for _, i, j in order:
        if root(i) != root(j):
            parent[root(i)] = root(j)
            links.append((i, j))
    gold = [{i, head - 1} for i, head in enumerate(heads) if head != 0]
    return sorted(links), sum({i, j} in gold for i, j in links) / (n - 1)


def tree_by_cutting(impact, heads):
    """From all links down: the worst goes, unless the words would fall apart."""
    n, both = len(heads), impact + impact.t()
    links = sorted(combinations(range(n), 2), key=lambda link: both[link].item())

    def connected(links):
        reached, new = set(), {0}
        while new:
            reached |= new
            new = {b for i, j in links for a, b in ((i, j), (j, i)) if a in reached} - reached
        return len(reached) == n

    for link in list(links):
        rest = [other for other in links if other != link]
        if connected(rest):
            links = rest
    gold = set()
    for word, head in enumerate(heads, 1):
        if head:
            gold.add((min(word, head) - 1, max(word, head) - 1))
    return [list(link) for link in sorted(links)], len(gold.intersection(links)) / len(gold)


def tree_by_prim_with_tensors(impact, heads):
    both = impact + impact.T
    n = len(both)
    inside = torch.zeros(n, dtype=torch.bool)
    inside[n - 1] = True
    adjacent = torch.zeros(n, n, dtype=torch.bool)
    while not inside.all():
        allowed = inside[:, None] & ~inside
        place = torch.where(allowed, both, -math.inf).argmax().item()
        i, j = divmod(place, n)
        adjacent[min(i, j), max(i, j)] = inside[j] = True
    links = [tuple(link) for link in adjacent.nonzero().tolist()]
    found = sum(1 for i, h in enumerate(heads) if h and (adjacent[i, h - 1] or adjacent[h - 1, i]))
    return links, found / len(links)


# --------------------------------------------------------------------------------- sentence_vectors


def vectors_sentence_by_sentence(hidden, lengths, pooling="mean", normalise=False):
    vectors = []
    for sentence, n in zip(hidden, lengths.tolist(), strict=True):
        tokens = sentence[:n]
        x = {"mean": tokens.mean(0), "max": tokens.max(0).values, "cls": tokens[0]}[pooling]
        vectors.append(x / x.norm() if normalise else x)
    return torch.stack(vectors)


def vectors_by_weights(hidden, lengths, pooling="mean", normalise=False):
    real = (torch.arange(hidden.shape[1])[None] < lengths[:, None]).float()
    if pooling == "cls":
        pooled = hidden.select(1, 0)
    elif pooling == "max":
        pooled = torch.max(hidden - 1e9 * (1 - real)[..., None], dim=1)[0]
    else:
        pooled = torch.bmm((real / real.sum(1, keepdim=True)).unsqueeze(1), hidden).squeeze(1)
    return pooled / pooled.pow(2).sum(-1, keepdim=True).sqrt() if normalise else pooled


def vectors_by_nanmean(hidden, lengths, pooling="mean", normalise=False):
    padding = torch.stack([torch.arange(hidden.shape[1]) >= n for n in lengths])
    if pooling == "mean":
        pooled = torch.where(padding.unsqueeze(-1), torch.nan, hidden).nanmean(dim=1)
    elif pooling == "max":
        first = hidden[:, :1].expand_as(hidden)
        # padding repeats the first token
        pooled = torch.where(padding.unsqueeze(-1), first, hidden).amax(1)
    else:
        pooled = hidden[:, 0, :]
    if normalise:
        pooled = pooled / torch.linalg.vector_norm(pooled, dim=1)[:, None]
    return pooled


# ----------------------------------------------------------------------------------- PairClassifier


class PairsByLoop(nn.Module):
    def __init__(self, d_model, n_classes):
        super().__init__()
        self.W_t = nn.Linear(d_model * 3, n_classes, bias=True)

    def forward(self, u, v):
        return torch.stack(
            [torch.stack([self.W_t(torch.cat((a, b, torch.abs(a - b)))) for b in v]) for a in u]
        )


class PairsByParts(nn.Module):
    """The layer applied to the three parts by themselves: u and v need not be copied."""

    def __init__(self, d_model, n_classes):
        super().__init__()
        self.W_t = nn.Linear(3 * d_model, n_classes)

    def forward(self, u, v):
        of_u, of_v, of_both = self.W_t.weight.chunk(3, dim=1)
        return (
            (u @ of_u.T)[:, None] + v @ of_v.T + (u[:, None] - v).abs() @ of_both.T + self.W_t.bias
        )


class PairsByRepeating(nn.Module):
    def __init__(self, d_model, n_classes):
        super().__init__()
        self.n_classes = n_classes
        self.W_t = nn.Linear(3 * d_model, n_classes)

    def forward(self, u, v):
        n, m = len(u), len(v)
        u, v = u.repeat_interleave(m, dim=0), v.repeat(n, 1)
        distance = torch.maximum(u, v) - torch.minimum(u, v)
        return self.W_t(torch.hstack([u, v, distance])).view(n, m, self.n_classes)


# ------------------------------------------------------------------------------------- ranking_loss


def ranking_by_loops(u, v, text, scale=20.0):
    losses = []
    for i in range(len(u)):
        scores = [
            scale * F.cosine_similarity(u[i], v[j], dim=0)
            for j in range(len(v))
            if j == i or text[j] != text[i]
        ]
        own = scale * F.cosine_similarity(u[i], v[i], dim=0)
        losses.append(torch.logsumexp(torch.stack(scores), dim=0) - own)
    return torch.stack(losses).mean()


def ranking_by_exponentials(u, v, text, scale=20.0):
    cosines = (u @ v.T) / (u.norm(dim=1)[:, None] * v.norm(dim=1))
    largest = cosines.amax(dim=1, keepdim=True)
    e = torch.exp(scale * (cosines - largest))
    counts = (text.unsqueeze(1) != text.unsqueeze(0)).float() + torch.eye(len(u))
    logs = torch.log((e * counts).sum(dim=1)) + scale * largest.squeeze(1)
    return (logs - scale * cosines.diagonal()).mean()


def ranking_by_log_softmax(u, v, text, scale=20.0):
    scores = scale * F.cosine_similarity(u[:, None], v[None], dim=-1)
    same = text[:, None].eq(text[None]).fill_diagonal_(False)
    scores = torch.where(same, torch.full_like(scores, -1e9), scores)
    return -scores.log_softmax(1).diag().sum() / len(u)


RIGHT_ANSWERS = {
    "hw7.mix_layers": (mix_by_einsum, mix_by_loop, mix_by_tensordot),
    "hw7.control_labels": (control_by_list_of_types, control_by_iterator, control_by_first_places),
    "hw7.probe_layers": (probes_by_lbfgs, probes_all_at_once, probes_by_least_squares),
    "hw7.word_attention": (words_by_matrices, words_by_loops, words_by_index_add),
    "hw7.best_tree": (tree_by_kruskal, tree_by_cutting, tree_by_prim_with_tensors),
    "hw7.sentence_vectors": (vectors_sentence_by_sentence, vectors_by_weights, vectors_by_nanmean),
    "hw7.PairClassifier": (PairsByLoop, PairsByParts, PairsByRepeating),
    "hw7.ranking_loss": (ranking_by_loops, ranking_by_exponentials, ranking_by_log_softmax),
}
