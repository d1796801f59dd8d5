"""Homework 6 answered rightly, as differently as students write: all of them must be accepted.

`RIGHT_ANSWERS` maps a question's full name to its answers. Each stands alone.
"""

import math
from itertools import chain, groupby

import torch
import torch.nn.functional as F
from torch import nn

# ----------------------------------------------------------------------------------------- fit_pair


def pair_by_slices(first, second, max_len):
    """How much of each stays is computed before anything is cut."""
    if second is None:
        tokens = ["[CLS]", *first[: max_len - 2], "[SEP]"]
        return tokens, [0] * len(tokens)
    room = max_len - 3
    n, m = len(first), len(second)
    if n + m > room:
        half = room // 2
        if n <= half:
            m = room - n
        elif m <= half:
            n = room - m
        else:
            n, m = room - half, half
    a, b = first[:n], second[:m]
    return ["[CLS]", *a, "[SEP]", *b, "[SEP]"], [0] * (n + 2) + [1] * (m + 1)


def pair_recursive(first, second, max_len):
    n, m = len(first), len(second) if second is not None else 0
    if n + m + (3 if second is not None else 2) > max_len:
        return (
            pair_recursive(first[:-1], second, max_len)
            if n > m
            else pair_recursive(first, second[:-1], max_len)
        )
    row = [("[CLS]", 0)] + [(token, 0) for token in first] + [("[SEP]", 0)]
    if second is not None:
        row += [(token, 1) for token in second] + [("[SEP]", 1)]
    return [token for token, _ in row], [segment for _, segment in row]


def pair_by_counting(first, second, max_len):
    lengths = [len(first), 0 if second is None else len(second)]
    while sum(lengths) + 2 + (second is not None) > max_len:
        lengths[1 if lengths[1] >= lengths[0] else 0] -= 1
    tokens, segments = ["[CLS]"], [0]
    for segment, sentence in enumerate([first] if second is None else [first, second]):
        for token in (*sentence[: lengths[segment]], "[SEP]"):
            tokens.append(token)
            segments.append(segment)
    return [tokens, segments]


# ------------------------------------------------------------------------------------- piece_labels


def labels_piece_by_piece(words, labels, max_len):
    tokens, targets = ["[CLS]"], [-100]
    for word, label in zip(words, labels, strict=True):
        for i, piece in enumerate(word):
            if len(tokens) == max_len - 1:
                break
            tokens.append(piece)
            targets.append(label if i == 0 else -100)
    return [*tokens, "[SEP]"], [*targets, -100]


def labels_by_word_numbers(words, labels, max_len):
    """As the fast tokenizers do it: the number of the word of each token, None for special ones."""
    tokens = ["[CLS]", *chain.from_iterable(words)]
    numbers = [None, *(w for w, word in enumerate(words) for _ in word)]
    tokens, numbers = [*tokens[: max_len - 1], "[SEP]"], [*numbers[: max_len - 1], None]
    targets, before = [], None
    for number in numbers:
        targets.append(-100 if number is None or number == before else labels[number])
        before = number
    return tokens, targets


def labels_filled_in(words, labels, max_len):
    """All -100 first; then a label where each word begins."""
    pieces = [piece for word in words for piece in word]
    del pieces[max_len - 2 :]
    targets = [-100] * (len(pieces) + 2)
    place = 1
    for word, label in zip(words, labels, strict=True):
        if place <= len(pieces):
            targets[place] = label
        place += len(word)
    return ["[CLS]", *pieces, "[SEP]"], targets


# --------------------------------------------------------------------------------------- ChoiceHead


class ChoicePlain(nn.Module):
    def __init__(self, d_model, dropout):
        super().__init__()
        self.head = nn.Linear(d_model, 1)
        self.pooler = nn.Linear(d_model, d_model)
        self.p = dropout

    def forward(self, hidden):
        x = self.pooler(hidden[..., 0, :]).tanh()
        x = F.dropout(x, self.p, training=self.training)
        return self.head(x)[..., 0]


class ChoiceFlattened(nn.Module):
    """The endings of all beginnings in one long batch, as Hugging Face does it."""

    def __init__(self, d_model, dropout):
        super().__init__()
        self.pooler, self.drop, self.head = (
            nn.Linear(d_model, d_model),
            nn.Dropout(p=dropout),
            nn.Linear(d_model, 1),
        )

    def forward(self, hidden):
        batch, choices, n, d_model = hidden.shape
        flat = hidden.reshape(batch * choices, n, d_model)
        pooled = torch.tanh(self.pooler(flat[:, 0, :]))
        return self.head(self.drop(pooled)).view(batch, choices)


class ChoiceByLoop(nn.Module):
    def __init__(self, d_model, dropout):
        super().__init__()
        self.pooler = nn.Linear(d_model, d_model)
        self.head = nn.Linear(d_model, 1)
        self.dropout = nn.Dropout(dropout)

    def forward(self, hidden):
        scores = []
        for ending in hidden.unbind(dim=1):  # (batch, n, d_model)
            pooled = torch.tanh(ending[:, 0] @ self.pooler.weight.T + self.pooler.bias)
            scores.append(self.dropout(pooled) @ self.head.weight[0] + self.head.bias)
        return torch.stack(scores, dim=1)


# -------------------------------------------------------------------------------------- best_answer


def answer_by_max(start, end, first, last, longest, threshold):
    legal = [
        (i, j) for i in range(first, last + 1) for j in range(i, last + 1) if j - i + 1 <= longest
    ]
    best = max(legal, key=lambda pair: start[pair[0]] + end[pair[1]])
    if (start[best[0]] + end[best[1]]).item() > (start[0] + end[0]).item() + threshold:
        return best
    return 0, 0


def answer_by_table(start, end, first, last, longest, threshold):
    """All sums in a table; what is not legal is -∞."""
    n = len(start)
    total = start[:, None] + end[None, :]
    i, j = torch.arange(n)[:, None], torch.arange(n)
    legal = (i >= first) & (j <= last) & (i <= j) & (j < i + longest)
    total = total.masked_fill(~legal, -math.inf)
    place = int(total.argmax())
    if total.max() <= start[0] + end[0] + threshold:
        return [0, 0]
    return [place // n, place % n]


def answer_in_the_text(start, end, first, last, longest, threshold):
    """Looked for in the text alone, and counted in the row at the end."""
    s, e = start[first : last + 1].tolist(), end[first : last + 1].tolist()
    best, i, j = -math.inf, 0, 0
    for length in range(1, longest + 1):
        for begin in range(len(s) - length + 1):
            score = s[begin] + e[begin + length - 1]
            if score > best:
                best, i, j = score, begin, begin + length - 1
    no_answer = start[0].item() + end[0].item()
    return (first + i, first + j) if best - no_answer > threshold else (0, 0)


# ---------------------------------------------------------------------------------------- entity_f1


def f1_by_mending_first(predicted, right):
    """A stray I becomes an O; after that every I goes on with a name."""

    def spans(labels):
        mended = []
        for i, label in enumerate(labels):
            before = mended[i - 1] if i else "O"
            mended.append("O" if label[0] == "I" and before[2:] != label[2:] else label)
        begins = [i for i, label in enumerate(mended) if label[0] == "B"]
        found = []
        for i in begins:
            j = i + 1
            while j < len(mended) and mended[j][0] == "I":
                j += 1
            found.append((mended[i][2:], i, j))
        return found

    hits = n_predicted = n_right = 0
    for p, r in zip(predicted, right, strict=True):
        p, r = spans(p), spans(r)
        n_predicted, n_right = n_predicted + len(p), n_right + len(r)
        hits += sum(name in r for name in p)
    if hits == 0:
        return 0.0
    precision, recall = hits / n_predicted, hits / n_right
    return 2 * precision * recall / (precision + recall)


def f1_by_numbering(predicted, right):
    """Every word gets the number of its name; then words are grouped by it."""

    def names(sentences):
        found, number = set(), 0
        for s, labels in enumerate(sentences):
            numbered, kind = [], ""
            for i, label in enumerate(labels):
                if label.startswith("B-"):
                    number, kind = number + 1, label[2:]
                elif label != f"I-{kind}":
                    kind = ""
                    continue
                numbered.append((number, kind, i))
            for (_, kind), group in groupby(numbered, key=lambda word: word[:2]):
                places = [i for _, _, i in group]
                found.add((s, kind, places[0], places[-1]))
        return found

    p, r = names(predicted), names(right)
    return 2 * len(p & r) / max(len(p) + len(r), 1)


def f1_by_one_long_row(predicted, right):
    """All sentences in one row, with an O between them."""

    def names(sentences):
        row = list(chain.from_iterable([*labels, "O"] for labels in sentences))
        names, i = [], 0
        while i < len(row):
            if row[i][0] != "B":
                i += 1
                continue
            begin, kind = i, row[i].split("-", 1)[1]
            i += 1
            while row[i] == "I-" + kind:
                i += 1
            names.append((begin, i, kind))
        return names

    p, r = names(predicted), names(right)
    true_positives = len(set(p).intersection(r))
    false_positives, false_negatives = len(p) - true_positives, len(r) - true_positives
    if true_positives == 0:
        return 0
    return true_positives / (true_positives + 0.5 * (false_positives + false_negatives))


# ----------------------------------------------------------------------------------- skip_gram_step


def step_by_loop(vectors, near_vectors, word, near, noise, rate):
    """A pull, then one push after the other, all with the old vectors."""
    v = vectors[word]
    new, new_near = vectors.clone(), near_vectors.clone()

    def move(other, wanted):
        share = rate * (wanted - 1 / (1 + torch.exp(-torch.dot(v, near_vectors[other]))))
        new[word] += share * near_vectors[other]
        new_near[other] += share * v

    move(near, 1)
    for other in noise.tolist():
        move(other, 0)
    return new, new_near


def step_by_gradients(vectors, near_vectors, word, near, noise, rate):
    """The gradient of the loss as two tables of zeros that are filled, then one subtraction."""
    v = vectors[word]
    good, bad = near_vectors[near], near_vectors[noise]
    lacks = torch.sigmoid(-(v @ good))
    too_much = torch.sigmoid(bad @ v)
    gradient, gradient_near = torch.zeros_like(vectors), torch.zeros_like(near_vectors)
    gradient[word] = -lacks * good + (too_much[:, None] * bad).sum(dim=0)
    gradient_near[near] = -lacks * v
    gradient_near.index_put_((noise,), too_much[:, None] * v, accumulate=True)
    return vectors - rate * gradient, near_vectors - rate * gradient_near


def step_by_counting(vectors, near_vectors, word, near, noise, rate):
    """How often each word of the vocabulary is asked about, and how often with a yes."""
    yes = F.one_hot(torch.tensor(near), len(near_vectors)).float()
    asked = yes + torch.bincount(noise, minlength=len(near_vectors))
    error = yes - asked * (near_vectors @ vectors[word]).sigmoid()
    one_row = F.one_hot(torch.tensor(word), len(vectors)).float()
    return (
        vectors + rate * torch.outer(one_row, error @ near_vectors),
        near_vectors + rate * torch.outer(error, vectors[word]),
    )


def step_in_python(vectors, near_vectors, word, near, noise, rate):
    """Lists of numbers, and no function of torch."""
    v = vectors[word].tolist()
    old, new_near = near_vectors.tolist(), near_vectors.tolist()
    new_v = list(v)
    for wanted, other in [(1, near)] + [(0, other) for other in noise.tolist()]:
        x = sum(a * b for a, b in zip(v, old[other], strict=True))
        g = rate * (wanted - 1 / (1 + math.exp(-x)))
        for i in range(len(v)):
            new_v[i] += g * old[other][i]
            new_near[other][i] += g * v[i]
    rows = vectors.tolist()
    rows[word] = new_v
    return torch.tensor(rows), torch.tensor(new_near)


# ----------------------------------------------------------------------------------------- LayerMix


class MixByLoop(nn.Module):
    def __init__(self, n_states):
        super().__init__()
        self.gamma = nn.Parameter(torch.tensor(1.0))
        self.w = nn.Parameter(torch.zeros(n_states))

    def forward(self, states):
        shares = F.softmax(self.w, dim=-1)
        return self.gamma * sum(share * state for share, state in zip(shares, states, strict=True))


class MixByBroadcasting(nn.Module):
    def __init__(self, n_states):
        super().__init__()
        self.w, self.gamma = nn.Parameter(torch.zeros(n_states)), nn.Parameter(torch.ones(()))

    def forward(self, states):
        weights = torch.softmax(self.w, 0).view(-1, 1, 1, 1)
        return (self.gamma * weights * states).sum(dim=0)


class MixOfOnes(MixByLoop):
    """All of w are alike, and not 0."""

    def __init__(self, n_states):
        super().__init__(n_states)
        self.w = nn.Parameter(torch.ones(n_states))


class MixByMatrix(nn.Module):
    """The softmax by hand, and a matrix product over the first axis."""

    def __init__(self, n_states):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(n_states))
        self.gamma = nn.Parameter(torch.ones([]))

    def forward(self, states):
        e = (self.w - self.w.max()).exp()
        mixed = (e / e.sum()) @ states.flatten(1)
        return mixed.view(states.shape[1:]) * self.gamma


# ------------------------------------------------------------------------------------- train_tagger


def tagger_on_a_mix(states, labels, asked, n_classes):
    """A weighted sum of the states, learned together with a linear layer."""
    scores = torch.zeros(len(states), requires_grad=True)
    head = nn.Linear(states.shape[-1], n_classes)
    optimizer = torch.optim.Adam([scores, *head.parameters()], lr=0.05)

    def logits(x):
        return head(5 * torch.tensordot(scores.softmax(0), x, dims=1))

    for _ in range(200):
        optimizer.zero_grad()
        F.cross_entropy(logits(states), labels).backward()
        optimizer.step()
    return logits(asked).argmax(dim=1)


def tagger_on_first_and_last(states, labels, asked, n_classes):
    """Only labelled pieces, in small batches."""
    kept = labels >= 0
    x, y = torch.cat([states[0], states[-1]], dim=-1)[kept], labels[kept]
    model = nn.Linear(x.shape[1], n_classes)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for _ in range(20):
        for rows in torch.randperm(len(y)).split(64):
            loss = F.cross_entropy(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    model.eval()
    with torch.inference_mode():
        return model(torch.cat([asked[0], asked[-1]], dim=-1)).max(dim=1).indices.clone()


def tagger_with_a_hidden_layer(states, labels, asked, n_classes):
    x, y = states.permute(1, 0, 2).reshape(states.shape[1], -1), labels
    mlp = nn.Sequential(nn.Linear(x.shape[1], 32), nn.ReLU(), nn.Linear(32, n_classes))
    optimizer = torch.optim.SGD(mlp.parameters(), lr=0.2, momentum=0.9)
    for _ in range(100):
        loss = F.nll_loss(mlp(x).log_softmax(-1), y, ignore_index=-100)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return mlp(asked.permute(1, 0, 2).reshape(asked.shape[1], -1)).argmax(-1)


RIGHT_ANSWERS = {
    "hw6.fit_pair": (pair_by_slices, pair_recursive, pair_by_counting),
    "hw6.piece_labels": (labels_piece_by_piece, labels_by_word_numbers, labels_filled_in),
    "hw6.ChoiceHead": (ChoicePlain, ChoiceFlattened, ChoiceByLoop),
    "hw6.best_answer": (answer_by_max, answer_by_table, answer_in_the_text),
    "hw6.entity_f1": (f1_by_mending_first, f1_by_numbering, f1_by_one_long_row),
    "hw6.skip_gram_step": (step_by_loop, step_by_gradients, step_by_counting, step_in_python),
    "hw6.LayerMix": (MixByLoop, MixByBroadcasting, MixOfOnes, MixByMatrix),
    "hw6.train_tagger": (tagger_on_a_mix, tagger_on_first_and_last, tagger_with_a_hidden_layer),
}
