"""Homework 7 answered wrongly, as students write it: each must get the name of its mistake.

`STUDENTS` maps a question's full name to {mistake: [answers]}. Each answer stands alone, but for
the helpers that some share. `BELOW` holds trained probes of which nobody can tell from their
predictions what is wrong with them.
"""

from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import nn

# --------------------------------------------------------------------------------------- mix_layers


def mix_raw(states, w, gamma):
    return gamma * (w[:, None, None] * states).sum(0), (torch.arange(len(w)) * w).sum()


def mix_normalised_by_sum(states, w, gamma):
    s = w / torch.sum(w)
    return gamma * torch.tensordot(s, states, dims=1), torch.sum(s * torch.arange(len(s)))


def mix_without_gamma(states, w, gamma):
    s = F.softmax(w, dim=0)
    return (s.view(-1, 1, 1) * states).sum(0), (s * torch.arange(len(s))).sum()


def mix_temperature(states, w, gamma):
    s = F.softmax(gamma * w, dim=0)
    return (s.view(-1, 1, 1) * states).sum(0), (s * torch.arange(len(s))).sum()


def mix_mean_of_weighted(states, w, gamma):
    s = F.softmax(w, dim=0)
    return gamma * (s.view(-1, 1, 1) * states).mean(0), (s * torch.arange(len(s))).sum()


def mix_from_one(states, w, gamma):
    s = F.softmax(w, dim=0)
    centre = torch.tensor(0.0)
    for i in range(len(s)):
        centre = centre + (i + 1) * s[i]
    return gamma * (s.view(-1, 1, 1) * states).sum(0), centre


def mix_scaled_shares(states, w, gamma):
    """gamma put into the shares, and they are used twice."""
    s = gamma * F.softmax(w, dim=0)
    return (s.view(-1, 1, 1) * states).sum(0), (s * torch.arange(len(s))).sum()


def mix_mean_layer_by_mean(states, w, gamma):
    s = F.softmax(w, dim=0)
    return gamma * (s.view(-1, 1, 1) * states).sum(0), (s * torch.arange(len(s))).mean()


def mix_unsummed(states, w, gamma):
    s = F.softmax(w, dim=0)
    return gamma * s.reshape(-1, 1, 1) * states, torch.arange(len(s)).float() @ s


# ----------------------------------------------------------------------------------- control_labels


def mix_softmax_of_nothing(states, w, gamma):
    shares = w[:, None, None].softmax(dim=-1)
    layers = torch.arange(len(w))[:, None, None]
    return gamma * (shares * states).sum(dim=0), (layers * shares).sum()


def mix_softmax_of_nothing_in_the_mix(states, w, gamma):
    mixed = gamma * (w[:, None, None].softmax(dim=-1) * states).sum(dim=0)
    return mixed, (torch.arange(len(w)) * w.softmax(dim=0)).sum()


def control_zip(words, labels, draws):
    return [labels[int(u * len(labels))] for word, u in zip(words, draws, strict=False)]


def control_case(words, labels, draws):
    known = {}
    for word in words:
        if word not in known:
            known[word] = labels[int(draws[len(known)] * len(labels))]
    return [known[word] for word in words]


def control_of_pairs(words, labels, draws):
    drawn, result = {}, []
    for pair in zip(map(str.lower, words), labels, strict=True):
        if pair not in drawn:
            drawn[pair] = labels[int(draws[len(drawn)] * len(labels))]
        result.append(drawn[pair])
    return result


def control_enumerate(words, labels, draws):
    known = {}
    for i, word in enumerate(words):
        if word.lower() not in known:
            known[word.lower()] = labels[int(draws[i] * len(labels))]
    return [known[word.lower()] for word in words]


def control_set_of_labels(words, labels, draws):
    classes, known = sorted(set(labels)), {}
    for word in words:
        if word.lower() not in known:
            known[word.lower()] = classes[int(draws[len(known)] * len(classes))]
    return [known[word.lower()] for word in words]


def control_sorted_types(words, labels, draws):
    words = [word.lower() for word in words]
    known = {word: labels[int(draws[i] * len(labels))] for i, word in enumerate(sorted(set(words)))}
    return [known[word] for word in words]


def control_real(words, labels, draws):
    known = {}
    for word, label in zip(words, labels, strict=True):
        if word.lower() not in known:
            known[word.lower()] = label
    return [known[word.lower()] for word in words]


def control_popped(words, labels, draws):
    rest, known = labels[:], {}
    for word in words:
        if word.lower() not in known:
            i = int(draws[len(known)] * len(rest))
            known[word.lower()] = rest[i]
            del rest[i]
    return [known[word.lower()] for word in words]


def control_of_types(words, labels, draws):
    types = []
    for word in words:
        if word.lower() not in types:
            types.append(word.lower())
    return [labels[int(u * len(labels))] for _, u in zip(types, draws, strict=False)]


# ------------------------------------------------------------------------------------- probe_layers


def trained(x, labels, steps=150, lr=0.05, zero=True, step=True):
    probe = nn.Linear(x.shape[1], int(labels.max()) + 1)
    optimizer = torch.optim.Adam(probe.parameters(), lr=lr)
    for _ in range(steps):
        loss = F.cross_entropy(probe(x), labels)
        if zero:
            optimizer.zero_grad()
        loss.backward()
        if step:
            optimizer.step()
    return probe


def standard(states, *others):
    mean, deviation = states.mean(dim=1, keepdim=True), states.std(dim=1, keepdim=True)
    return [(x - mean) / deviation for x in (states, *others)]


def right(probe, x, labels):
    return (probe(x).argmax(-1) == labels).sum().item()


def probes_each_set_by_itself(states, labels, dev_states, dev_labels, asked):
    """Every set of words gets its own mean and deviation."""
    best, said = -1, None
    for layer in range(len(states)):
        x, x_dev, x_asked = (
            (vectors[layer] - vectors[layer].mean(0)) / vectors[layer].std(0)
            for vectors in (states, dev_states, asked)
        )
        probe = nn.Linear(x.shape[1], int(labels.max()) + 1)
        optimizer = torch.optim.Adam(probe.parameters(), lr=0.05)
        for _ in range(100):
            optimizer.zero_grad()
            F.cross_entropy(probe(x), labels).backward()
            optimizer.step()
        if right(probe, x_dev, dev_labels) > best:
            best, said = right(probe, x_dev, dev_labels), probe(x_asked).argmax(-1)
    return said


def probes_by_training_accuracy(states, labels, dev_states, dev_labels, asked):
    states, asked = standard(states, asked)
    probes = [trained(x, labels) for x in states]
    best = max(range(len(probes)), key=lambda i: right(probes[i], states[i], labels))
    return probes[best](asked[best]).argmax(-1)


def probes_by_loss(states, labels, dev_states, dev_labels, asked):
    """The layer with the smallest loss after training."""
    states, asked = standard(states, asked)
    probes = [trained(x, labels) for x in states]
    losses = [
        F.cross_entropy(probe(x), labels).item() for probe, x in zip(probes, states, strict=True)
    ]
    best = losses.index(min(losses))
    return probes[best](asked[best]).argmax(-1)


def probe_of_the_last(states, labels, dev_states, dev_labels, asked):
    states, asked = standard(states, asked)
    return trained(states[-1], labels)(asked[-1]).argmax(-1)


def probe_of_the_first(states, labels, dev_states, dev_labels, asked):
    states, asked = standard(states, asked)
    return trained(states[0], labels)(asked[0]).argmax(-1)


def probes_say_dev(states, labels, dev_states, dev_labels, asked):
    said, most = None, -1
    for x, x_dev in zip(*standard(states, dev_states), strict=True):
        predicted = trained(x, labels)(x_dev).argmax(-1)
        if (hits := int((predicted == dev_labels).sum())) > most:
            said, most = predicted, hits
    return said


def probe_of_bias_only(states, labels, dev_states, dev_labels, asked):
    """The vectors are multiplied away."""
    return trained(0 * states[0], labels)(0 * asked[0]).argmax(-1)


def probes_untrained(states, labels, dev_states, dev_labels, asked):
    states, dev_states, asked = standard(states, dev_states, asked)
    probes = [trained(x, labels, steps=20, step=False) for x in states]
    best = max(range(len(probes)), key=lambda i: right(probes[i], dev_states[i], dev_labels))
    return probes[best](asked[best]).argmax(-1)


def probe_of_all_layers_averaged(states, labels, dev_states, dev_labels, asked):
    """The mean of the hidden states, large numbers and all."""
    return trained(states.mean(dim=0), labels, steps=30)(asked.mean(dim=0)).argmax(-1)


def probes_added_up(states, labels, dev_states, dev_labels, asked):
    """All layers have a say, by how often they are right."""
    total = 0
    for x, dev, ask in zip(states, dev_states, asked, strict=True):
        mean, deviation = x.mean(0), x.std(0)
        probe = nn.Linear(x.shape[1], int(labels.max()) + 1)
        optimizer = torch.optim.Adam(probe.parameters(), lr=0.05)
        for _ in range(100):
            loss = F.cross_entropy(probe((x - mean) / deviation), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        right = (probe((dev - mean) / deviation).argmax(-1) == dev_labels).float().mean()
        total = total + right * probe((ask - mean) / deviation)
    return total.argmax(-1)


BELOW = [probes_added_up]

# ----------------------------------------------------------------------------------- word_attention


def words_mean_mean(weights, places):
    rows = torch.stack([weights[:, p].mean(1) for p in places], dim=1)
    return torch.stack([rows[:, :, p].mean(2) for p in places], dim=2)


def words_sum_sum(weights, places):
    rows = torch.stack([weights[:, p].sum(1) for p in places], dim=1)
    return torch.stack([rows[:, :, p].sum(2) for p in places], dim=2)


def words_swapped(weights, places):
    rows = torch.stack([weights[:, p].sum(1) for p in places], dim=1)
    return torch.stack([rows[:, :, p].mean(2) for p in places], dim=2)


def words_first(weights, places):
    first = [p[0] for p in places]
    return weights[:, first][:, :, first]


def words_sum_then_normalise(weights, places):
    rows = torch.stack([weights[:, p].sum(1) for p in places], dim=1)
    both = torch.stack([rows[:, :, p].sum(2) for p in places], dim=2)
    return both / both.sum(dim=-1, keepdim=True)


def words_stacked_wrongly(weights, places):
    columns = torch.stack([weights[:, :, p].sum(2) for p in places], dim=2)
    return torch.stack([columns[:, p].mean(1) for p in places], dim=2)


def words_max(weights, places):
    columns = torch.stack([weights[:, :, p].max(2).values for p in places], dim=2)
    return torch.stack([columns[:, p].mean(1) for p in places], dim=1)


def words_one_row(weights, places):
    columns = torch.stack([weights[:, :, p].sum(2) for p in places], dim=2)
    return columns[:, [p[0] for p in places]]


# ---------------------------------------------------------------------------------------- best_tree


def gold(heads):
    return {(min(i, h - 1), max(i, h - 1)) for i, h in enumerate(heads) if h > 0}


def uuas(links, heads):
    return len(set(links) & gold(heads)) / (len(heads) - 1)


def prim(both):
    n, inside, links = len(both), [0], []
    while len(inside) < n:
        _, i, j = max(
            (both[i, j].item(), i, j) for i in inside for j in range(n) if j not in inside
        )
        links.append((min(i, j), max(i, j)))
        inside.append(j)
    return sorted(links)


def tree_top_links(impact, heads):
    n = len(heads)
    order = sorted(
        [(impact[i, j] + impact[j, i], i, j) for i in range(n) for j in range(i + 1, n)],
        key=lambda t: -t[0].item(),
    )
    links = sorted((i, j) for _, i, j in order[: n - 1])
    return links, uuas(links, heads)


def tree_upper(impact, heads):
    both = impact.triu()
    links = prim(both + both.T)
    return links, uuas(links, heads)


def tree_max(impact, heads):
    links = prim(torch.stack([impact, impact.T]).amax(0))
    return links, uuas(links, heads)


def tree_minimum(impact, heads):
    links = prim(-(impact + impact.T))
    return links, uuas(links, heads)


def tree_argmax(impact, heads):
    """Each word to the word that matters most to it."""
    links = set()
    for i in range(len(heads)):
        row = impact[i].clone()
        row[i] = -1
        j = row.argmax().item()
        links.add((min(i, j), max(i, j)))
    return sorted(links), uuas(links, heads)


def tree_path(impact, heads):
    both, n = impact + impact.T, len(heads)
    path = [0]
    while len(path) < n:
        path.append(
            max((j for j in range(n) if j not in path), key=lambda j: both[path[-1], j].item())
        )
    links = sorted(tuple(sorted(pair)) for pair in pairwise(path))
    return links, uuas(links, heads)


def tree_without_crossings(impact, heads):
    """Chapter 16's function, pasted."""
    scores = (impact + impact.T).tolist()
    n = len(scores)
    whole, bridged = {(i, i): (0, frozenset()) for i in range(n)}, {}

    def best(pairs):
        joined = [(left[0] + right[0], left[1] | right[1]) for left, right in pairs]
        return max(joined, key=lambda tree: tree[0])

    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            score, links = best((whole[i, k], whole[k + 1, j]) for k in range(i, j))
            bridged[i, j] = (score + scores[i][j], links | {(i, j)})
            whole[i, j] = best((bridged[i, k], whole[k, j]) for k in range(i + 1, j + 1))
    links = sorted(whole[0, n - 1][1])
    return links, uuas(links, heads)


def tree_numbers_from_1(impact, heads):
    links = prim(impact + impact.T)
    return [(i + 1, j + 1) for i, j in links], uuas(links, heads)


def tree_root_too(impact, heads):
    links = prim(impact + impact.T)
    pairs = {(min(i, h - 1), max(i, h - 1)) for i, h in enumerate(heads)}  # the root's is (-1, i)
    return links, len(set(links) & pairs) / len(pairs)


def tree_heads_as_they_are(impact, heads):
    links = prim(impact + impact.T)
    pairs = {tuple(sorted((i, h))) for i, h in enumerate(heads) if h != 0}
    return links, sum(link in pairs for link in links) / len(links)


def tree_word_and_head(impact, heads):
    links = prim(impact + impact.T)
    pairs = [(i, h - 1) for i, h in enumerate(heads) if h]
    return links, sum(pair in links for pair in pairs) / len(pairs)


def tree_in_order_of_scores(impact, heads):
    both = impact + impact.T
    links = prim(both)
    return sorted(links, key=lambda link: both[link].item(), reverse=True), uuas(links, heads)


# --------------------------------------------------------------------------------- sentence_vectors


def real_tokens(hidden, lengths):
    return (torch.arange(hidden.shape[1]) < lengths.unsqueeze(1)).unsqueeze(-1)


def vectors_without_lengths(hidden, lengths, pooling="mean", normalise=False):
    x = {"mean": hidden.mean(1), "max": hidden.max(1).values, "cls": hidden[:, 0]}[pooling]
    return F.normalize(x, dim=-1) if normalise else x


def vectors_zeros(hidden, lengths, pooling="mean", normalise=False):
    """Divided rightly, but a maximum with zeros in it."""
    hidden = hidden * real_tokens(hidden, lengths)
    x = {
        "mean": hidden.sum(1) / lengths[:, None],
        "max": hidden.max(1).values,
        "cls": hidden[:, 0],
    }[pooling]
    return F.normalize(x, dim=-1) if normalise else x


def vectors_divided_by_n(hidden, lengths, pooling="mean", normalise=False):
    mask = real_tokens(hidden, lengths)
    if pooling == "mean":
        x = torch.where(mask, hidden, 0.0).mean(1)
    else:
        x = torch.where(mask, hidden, -1e9).max(1).values if pooling == "max" else hidden[:, 0]
    return F.normalize(x, dim=-1) if normalise else x


def vectors_without_specials(hidden, lengths, pooling="mean", normalise=False):
    if pooling == "mean":
        x = torch.stack(
            [h[1 : n - 1].mean(0) for h, n in zip(hidden, lengths.tolist(), strict=True)]
        )
    elif pooling == "max":
        x = torch.stack([h[:n].amax(0) for h, n in zip(hidden, lengths.tolist(), strict=True)])
    else:
        x = hidden[:, 0]
    return F.normalize(x, dim=-1) if normalise else x


def vectors_last_for_cls(hidden, lengths, pooling="mean", normalise=False):
    rows = [h[:n] for h, n in zip(hidden, lengths.tolist(), strict=True)]
    x = torch.stack([{"mean": r.mean(0), "max": r.amax(0), "cls": r[-1]}[pooling] for r in rows])
    return F.normalize(x, dim=-1) if normalise else x


def vectors_normalised_in_the_batch(hidden, lengths, pooling="mean", normalise=False):
    rows = [h[:n] for h, n in zip(hidden, lengths.tolist(), strict=True)]
    x = torch.stack([{"mean": r.mean(0), "max": r.amax(0), "cls": r[0]}[pooling] for r in rows])
    return F.normalize(x, dim=0) if normalise else x


def vectors_unit_tokens(hidden, lengths, pooling="mean", normalise=False):
    if normalise:
        hidden = F.normalize(hidden, dim=-1)
    rows = [h[:n] for h, n in zip(hidden, lengths.tolist(), strict=True)]
    return torch.stack([{"mean": r.mean(0), "max": r.amax(0), "cls": r[0]}[pooling] for r in rows])


def vectors_unit_twice(hidden, lengths, pooling="mean", normalise=False):
    x = vectors_unit_tokens(hidden, lengths, pooling, normalise)
    return F.normalize(x, dim=-1) if normalise else x


def vectors_of_the_shortest(hidden, lengths, pooling="mean", normalise=False):
    hidden = hidden[:, : lengths.min()]
    x = {"mean": hidden.mean(1), "max": hidden.max(1).values, "cls": hidden[:, 0]}[pooling]
    return F.normalize(x, dim=-1) if normalise else x


def vectors_never_normalised(hidden, lengths, pooling="mean", normalise=False):
    rows = [h[:n] for h, n in zip(hidden, lengths.tolist(), strict=True)]
    return torch.stack([{"mean": r.mean(0), "max": r.amax(0), "cls": r[0]}[pooling] for r in rows])


def vectors_divided_by_one_norm(hidden, lengths, pooling="mean", normalise=False):
    rows = [h[:n] for h, n in zip(hidden, lengths.tolist(), strict=True)]
    x = torch.stack([{"mean": r.mean(0), "max": r.amax(0), "cls": r[0]}[pooling] for r in rows])
    return x / torch.norm(x) if normalise else x


# ----------------------------------------------------------------------------------- PairClassifier


class Pairs(nn.Module):
    """What the wrong ones below have in common."""

    def __init__(self, d_model, n_classes):
        super().__init__()
        self.W_t = nn.Linear(3 * d_model, n_classes)

    def both(self, u, v):
        return u.unsqueeze(1).expand(-1, v.shape[0], -1), v.unsqueeze(0).expand(u.shape[0], -1, -1)


class PairsSigned(Pairs):
    def forward(self, u, v):
        u, v = self.both(u, v)
        return self.W_t(torch.cat([u, v, u - v], -1))


class PairsProduct(Pairs):
    def forward(self, u, v):
        u, v = self.both(u, v)
        return self.W_t(torch.cat([u, v, u * v], -1))


class PairsSquared(Pairs):
    def forward(self, u, v):
        u, v = self.both(u, v)
        return self.W_t(torch.cat([u, v, (u - v).square()], -1))


class PairsDifferenceFirst(Pairs):
    def forward(self, u, v):
        u, v = self.both(u, v)
        return self.W_t(torch.cat([abs(u - v), u, v], -1))


class PairsProbabilities(Pairs):
    def forward(self, u, v):
        u, v = self.both(u, v)
        return torch.softmax(self.W_t(torch.cat([u, v, abs(u - v)], -1)), -1)


class PairsTurned(Pairs):
    def forward(self, u, v):
        return torch.stack([self.W_t(torch.cat([u, b.expand_as(u), (u - b).abs()], -1)) for b in v])


class PairsOfTwo(Pairs):
    def __init__(self, d_model, n_classes):
        super().__init__(d_model, n_classes)
        self.W_t = nn.Linear(d_model * 2, n_classes)

    def forward(self, u, v):
        return self.W_t(torch.cat(self.both(u, v), -1))


class PairsWithProduct(Pairs):
    def __init__(self, d_model, n_classes):
        super().__init__(d_model, n_classes)
        self.W_t = nn.Linear(d_model * 4, n_classes)

    def forward(self, u, v):
        u, v = self.both(u, v)
        return self.W_t(torch.cat([u, v, abs(u - v), u * v], -1))


class PairsUnbiased(Pairs):
    def __init__(self, d_model, n_classes):
        super().__init__(d_model, n_classes)
        self.W_t = nn.Linear(d_model * 3, n_classes, bias=False)

    def forward(self, u, v):
        u, v = self.both(u, v)
        return self.W_t(torch.cat([u, v, abs(u - v)], -1))


class PairsZipped(Pairs):
    def forward(self, u, v):
        return torch.stack(
            [self.W_t(torch.cat([a, b, abs(a - b)])) for a, b in zip(u, v, strict=False)]
        )


class PairsViewed(Pairs):
    def forward(self, u, v):
        n, m = len(u), len(v)
        a, b = u.repeat_interleave(m, dim=0), v.repeat(n, 1)
        return self.W_t(torch.cat([a, b, abs(a - b)], dim=-1)).view(m, n, -1)


class PairsViewedAndTurned(PairsViewed):
    def forward(self, u, v):
        return super().forward(u, v).transpose(0, 1)


class PairsFlat(Pairs):
    def forward(self, u, v):
        return torch.stack([self.W_t(torch.cat([a, b, abs(a - b)])) for a in u for b in v])


# ------------------------------------------------------------------------------------- ranking_loss


def cosines(u, v):
    return F.cosine_similarity(u.unsqueeze(1), v.unsqueeze(0), dim=-1)


def without_copies(scores, text):
    same = (text.unsqueeze(0) == text.unsqueeze(1)) & ~torch.eye(len(text)).bool()
    return torch.where(same, torch.tensor(-torch.inf), scores)


def ranking_plain(u, v, text, scale=20.0):
    return F.cross_entropy(scale * cosines(u, v), torch.arange(len(u)))


def ranking_copies_are_right(u, v, text, scale=20.0):
    p = F.softmax(scale * cosines(u, v), dim=-1)
    return -torch.log((p * (text[:, None] == text[None])).sum(-1)).mean()


def ranking_zeros(u, v, text, scale=20.0):
    scores = scale * cosines(u, v)
    for i in range(len(u)):
        for j in range(len(u)):
            if i != j and text[i] == text[j]:
                scores[i, j] = 0
    return F.cross_entropy(scores, torch.arange(len(u)))


def ranking_share_of_copies(u, v, text, scale=20.0):
    """Soft targets: the right answer and its copies share the probability."""
    same = (text[:, None] == text).float()
    return F.cross_entropy(scale * cosines(u, v), same / same.sum(dim=1, keepdim=True))


def ranking_copies_at_minus_1(u, v, text, scale=20.0):
    scores = scale * cosines(u, v)
    scores[(text[:, None] == text) & ~torch.eye(len(u), dtype=torch.bool)] = -1
    return F.cross_entropy(scores, torch.arange(len(u)))


def ranking_one_column_a_text(u, v, text, scale=20.0):
    texts = text.tolist()
    columns = sorted({texts.index(t) for t in texts})
    targets = torch.tensor([columns.index(texts.index(t)) for t in texts])
    return F.cross_entropy(scale * cosines(u, v)[:, columns], targets)


def ranking_same_vectors(u, v, text, scale=20.0):
    """Chapter 17's test for copies."""
    same = cosines(v, v) > 0.999
    same &= ~torch.eye(len(u), dtype=torch.bool)
    scores = (scale * cosines(u, v)).masked_fill(same, -torch.inf)
    return F.cross_entropy(scores, torch.arange(len(u)))


def ranking_equal_vectors(u, v, text, scale=20.0):
    same = (v[:, None] == v).all(dim=-1) & ~torch.eye(len(u), dtype=torch.bool)
    scores = (scale * cosines(u, v)).masked_fill(same, -torch.inf)
    return F.cross_entropy(scores, torch.arange(len(u)))


def ranking_log_kept_from_0(u, v, text, scale=20.0):
    p = without_copies(scale * cosines(u, v), text).softmax(dim=-1)
    return -torch.log(p.diagonal() + 1e-8).mean()


def ranking_unique(u, v, text, scale=20.0):
    kept = [i for i in range(len(text)) if (text[:i] == text[i]).sum() == 0]
    return F.cross_entropy(scale * cosines(u[kept], v[kept]), torch.arange(len(kept)))


def ranking_masked_out(u, v, text, scale=20.0):
    scores = scale * cosines(u, v)
    scores[text[:, None] == text[None, :]] = float("-inf")
    return F.cross_entropy(scores, torch.arange(len(u)))


def ranking_dots(u, v, text, scale=20.0):
    return F.cross_entropy(without_copies(scale * (u @ v.T), text), torch.arange(len(u)))


def ranking_unscaled(u, v, text, scale=20.0):
    return F.cross_entropy(without_copies(cosines(u, v), text), torch.arange(len(u)))


def ranking_temperature(u, v, text, scale=20.0):
    return F.cross_entropy(without_copies(cosines(u, v) / scale, text), torch.arange(len(u)))


def ranking_columns(u, v, text, scale=20.0):
    return F.cross_entropy(without_copies(scale * cosines(v, u), text), torch.arange(len(u)))


def ranking_clip(u, v, text, scale=20.0):
    scores, targets = without_copies(scale * cosines(u, v), text), torch.arange(len(u))
    return 0.5 * F.cross_entropy(scores, targets) + 0.5 * F.cross_entropy(scores.T, targets)


def ranking_softmax_first(u, v, text, scale=20.0):
    p = torch.softmax(without_copies(scale * cosines(u, v), text), dim=-1)
    return F.cross_entropy(p, torch.arange(len(u)))


def ranking_text_targets(u, v, text, scale=20.0):
    return F.cross_entropy(without_copies(scale * cosines(u, v), text), text)


def ranking_others_only(u, v, text, scale=20.0):
    scores = scale * cosines(u, v)
    loss = 0
    for i in range(len(u)):
        others = [j for j in range(len(u)) if text[j] != text[i]]
        loss = loss - torch.log(scores[i, i].exp() / scores[i, others].exp().sum())
    return loss / len(u)


STUDENTS = {
    "hw7.mix_layers": {
        "softmax_forgotten": [mix_raw],
        "divided_by_the_sum": [mix_normalised_by_sum],
        "gamma_forgotten": [mix_without_gamma],
        "gamma_in_the_softmax": [mix_temperature],
        "divided_by_the_states": [mix_mean_of_weighted],
        "layers_counted_from_1": [mix_from_one],
        "gamma_in_the_centre": [mix_scaled_shares],
        "mean_instead_of_sum": [mix_mean_layer_by_mean],
        "not_added_up": [mix_unsummed],
        "all_shares_1": [mix_softmax_of_nothing, mix_softmax_of_nothing_in_the_mix],
    },
    "hw7.control_labels": {
        "a_draw_for_each_word": [control_zip],
        "upper_case_is_another_type": [control_case],
        "draws_skipped": [control_enumerate],
        "drawn_from_the_classes": [control_set_of_labels],
        "types_sorted": [control_sorted_types],
        "real_labels_used": [control_real],
        "urn_gets_empty": [control_popped],
        "one_label_a_type": [control_of_types],
        "label_part_of_the_type": [control_of_pairs],
    },
    "hw7.probe_layers": {
        "words_asked_standardised_by_themselves": [probes_each_set_by_itself],
        "chosen_by_the_training_words": [probes_by_training_accuracy, probes_by_loss],
        "last_layer_taken": [probe_of_the_last],
        "embeddings_taken": [probe_of_the_first],
        "other_words_predicted": [probes_say_dev],
        "never_trained": [probes_untrained],
        "one_label_for_all": [probe_of_all_layers_averaged, probe_of_bias_only],
    },
    "hw7.word_attention": {
        "averaged_over_both": [words_mean_mean],
        "summed_over_both": [words_sum_sum],
        "rows_and_columns_swapped": [words_swapped],
        "first_pieces_only": [words_first],
        "rows_made_to_sum_to_1": [words_sum_then_normalise],
        "transposed": [words_stacked_wrongly],
        "largest_taken": [words_max],
        "first_piece_attends": [words_one_row],
    },
    "hw7.best_tree": {
        "circles_allowed": [tree_top_links],
        "one_direction": [tree_upper],
        "larger_of_both": [tree_max],
        "smallest_tree": [tree_minimum],
        "best_for_each_word": [tree_argmax],
        "a_path": [tree_path],
        "crossings_avoided": [tree_without_crossings],
        "words_counted_from_1": [tree_numbers_from_1],
        "root_counted": [tree_root_too],
        "heads_not_shifted": [tree_heads_as_they_are],
        "direction_compared": [tree_word_and_head],
        "not_sorted": [tree_in_order_of_scores],
    },
    "hw7.sentence_vectors": {
        "padding_nowhere_left_out": [vectors_without_lengths],
        "zeros_in_the_maximum": [vectors_zeros],
        "divided_by_all_places": [vectors_divided_by_n],
        "special_tokens_left_out": [vectors_without_specials],
        "last_token_for_cls": [vectors_last_for_cls],
        "normalised_along_the_batch": [vectors_normalised_in_the_batch],
        "normalised_before_pooling": [vectors_unit_tokens],
        "tokens_normalised_too": [vectors_unit_twice],
        "cut_to_the_shortest": [vectors_of_the_shortest],
        "not_normalised": [vectors_never_normalised],
        "divided_by_one_length": [vectors_divided_by_one_norm],
    },
    "hw7.PairClassifier": {
        "sign_kept": [PairsSigned],
        "product_instead_of_difference": [PairsProduct],
        "squared": [PairsSquared],
        "other_order": [PairsDifferenceFirst],
        "probabilities_returned": [PairsProbabilities],
        "first_and_second_swapped": [PairsTurned],
        "other_parts": [PairsOfTwo, PairsWithProduct],
        "bias_forgotten": [PairsUnbiased],
        "paired_by_place": [PairsZipped],
        "pairs_in_one_row": [PairsFlat],
        "viewed_the_other_way": [PairsViewed, PairsViewedAndTurned],
    },
    "hw7.ranking_loss": {
        "copies_are_wrong_answers": [ranking_plain],
        "copies_not_left_out_properly": [
            ranking_copies_are_right,
            ranking_zeros,
            ranking_copies_at_minus_1,
            ranking_share_of_copies,
        ],
        "copies_told_by_their_vectors": [ranking_same_vectors, ranking_equal_vectors],
        "left_out_of_all_rows": [ranking_one_column_a_text],
        "probability_kept_from_0": [ranking_log_kept_from_0],
        "pairs_thrown_away": [ranking_unique],
        "right_answer_left_out": [ranking_masked_out],
        "dot_products": [ranking_dots],
        "scale_forgotten": [ranking_unscaled],
        "divided_by_the_scale": [ranking_temperature],
        "columns_instead_of_rows": [ranking_columns],
        "both_ways": [ranking_clip],
        "softmax_twice": [ranking_softmax_first],
        "text_taken_for_the_place": [ranking_text_targets],
        "only_wrong_answers_below": [ranking_others_only],
    },
}
