"""Homework 6 answered wrongly, as students write it: each must get the name of its mistake.

`STUDENTS` maps a question's full name to {mistake: [answers]}. Each answer stands alone, but for
the classes that some share.
"""

import torch
import torch.nn.functional as F
from torch import nn

# ----------------------------------------------------------------------------------------- fit_pair


def with_specials(a, b):
    """Tokens and segments of two finished sentences; b is None for a single one."""
    row = ["[CLS]", *a, "[SEP]"] + ([] if b is None else [*b, "[SEP]"])
    return row, [0] * (len(a) + 2) + [1] * (len(row) - len(a) - 2)


def pair_not_cut(first, second, max_len):
    return with_specials(first, second)


def pair_sliced_at_the_end(first, second, max_len):
    tokens, segments = with_specials(first, second)
    if len(tokens) > max_len:
        tokens, segments = tokens[:max_len], segments[:max_len]
    return tokens, segments


def pair_only_second(first, second, max_len):
    """As with truncation="only_second", and the first where there is no second."""
    if second is None:
        return with_specials(first[: max_len - 2], None)
    room = max_len - 3
    return with_specials(first[:room], second[: max(0, room - len(first))])


def pair_only_first(first, second, max_len):
    if second is None:
        return with_specials(first[: max_len - 2], None)
    room = max_len - 3
    second = second[:room]
    return with_specials(first[: room - len(second)], second)


def pair_half_each(first, second, max_len):
    if second is None:
        return with_specials(first[: max_len - 2], None)
    half = (max_len - 3) // 2
    return with_specials(first[:half], second[:half])


def pair_half_each_if_needed(first, second, max_len):
    if second is None:
        return with_specials(first[: max_len - 2], None)
    room = max_len - 3
    if len(first) + len(second) > room:
        first, second = first[: room // 2], second[: room // 2]
    return with_specials(first, second)


def pair_pop_front(first, second, max_len):
    a, b = list(first), list(second or [])
    room = max_len - 3 if second else max_len - 2
    while len(a) + len(b) > room:
        if len(a) > len(b):
            a = a[1:]
        else:
            b = b[1:]
    return with_specials(a, b if second else None)


def pair_lists(cut):
    """Cut by `cut(first, second, room)`; a single sentence is treated rightly."""

    def fit_pair(first, second, max_len):
        if second is None:
            return with_specials(first[: max_len - 2], None)
        return with_specials(*cut(list(first), list(second), max_len - 3))

    return fit_pair


def by_loop(a, b, room, end=-1):
    while len(a) + len(b) > room:
        (a if len(a) > len(b) else b).pop(end)
    return a, b


def in_shares(a, b, room):
    total = len(a) + len(b)
    if total <= room:
        return a, b
    for_a = max(1, room * len(a) // total)
    return a[:for_a], b[: room - for_a]


def one_by_one(a, b, room):
    for k in range(max(0, len(a) + len(b) - room)):
        if len(a) == 1 or (k % 2 == 1 and len(b) > 1):
            b = b[:-1]
        else:
            a = a[:-1]
    return a, b


pair_fronts = pair_lists(lambda a, b, room: by_loop(a, b, room, end=0))
pair_two_halves = pair_lists(lambda a, b, room: (a[: room // 2], b[: room - room // 2]))
pair_shares = pair_lists(in_shares)
pair_second_slice = pair_lists(lambda a, b, room: (a, b[: room - len(a)]))
pair_second_to_0 = pair_lists(lambda a, b, room: (a, b[: max(0, room - len(a))]))
pair_in_turn = pair_lists(one_by_one)
pair_no_room = pair_lists(lambda a, b, room: by_loop(a, b, room + 3))
pair_room_for_two = pair_lists(lambda a, b, room: by_loop(a, b, room + 1))


def pair_greater_or_equal(first, second, max_len):
    a, b = list(first), list(second or [])
    room = max_len - 3 if second else max_len - 2
    while len(a) + len(b) > room:
        if len(a) >= len(b):
            a.pop()
        else:
            b.pop()
    return with_specials(a, b if second else None)


def pair_specials_forgotten(first, second, max_len):
    a, b = list(first), list(second or [])
    while len(a) + len(b) > max_len:
        (a if len(a) > len(b) else b).pop()
    return with_specials(a, b if second else None)


def pair_always_three(first, second, max_len):
    """Three special tokens, also around a single sentence."""
    a, b = first[:], second[:] if second else []
    while len(a) + len(b) + 3 > max_len:
        (a if len(a) > len(b) else b).pop()
    return with_specials(a, b if second else None)


def pair_old_segments(first, second, max_len):
    a, b = list(first), list(second or [])
    room = max_len - 3 if second else max_len - 2
    while len(a) + len(b) > room:
        (a if len(a) > len(b) else b).pop()
    tokens, _ = with_specials(a, b if second else None)
    segments = with_specials(first, second)[1]
    return tokens, segments[: len(tokens)]


def pair_one_segment(first, second, max_len):
    a, b = list(first), list(second or [])
    room = max_len - 3 if second else max_len - 2
    while len(a) + len(b) > room:
        (a if len(a) > len(b) else b).pop()
    tokens, _ = with_specials(a, b if second else None)
    return tokens, [0 for _ in tokens]


def pair_pops_what_it_gets(first, second, max_len):
    special = 3 if second is not None else 2
    while len(first) + (len(second) if second else 0) + special > max_len:
        if second is None or len(first) > len(second):
            first.pop()
        else:
            second.pop()
    return with_specials(first, second)


def pair_padded_to_max(first, second, max_len):
    a, b = list(first), list(second or [])
    room = max_len - 3 if second else max_len - 2
    while len(a) + len(b) > room:
        (a if len(a) > len(b) else b).pop()
    tokens, segments = with_specials(a, b if second else None)
    while len(tokens) < max_len:
        tokens.append("[PAD]")
        segments.append(0)
    return tokens, segments


# ------------------------------------------------------------------------------------- piece_labels


def labels_everywhere(words, labels, max_len):
    pieces = [piece for word in words for piece in word]
    targets = [label for word, label in zip(words, labels, strict=True) for _ in word]
    return ["[CLS]", *pieces[: max_len - 2], "[SEP]"], [-100, *targets[: max_len - 2], -100]


def labels_last_piece(words, labels, max_len):
    pieces, targets = [], []
    for word, label in zip(words, labels, strict=True):
        pieces.extend(word)
        targets.extend([-100] * (len(word) - 1))
        targets.append(label)
    return ["[CLS]", *pieces[: max_len - 2], "[SEP]"], [-100, *targets[: max_len - 2], -100]


def labels_zero(words, labels, max_len):
    tokens, targets = ["[CLS]"], [0]
    for word, label in zip(words, labels, strict=True):
        tokens += word
        targets += [label] + [0] * (len(word) - 1)
    return [*tokens[: max_len - 1], "[SEP]"], [*targets[: max_len - 1], 0]


def labels_zero_at_the_special(words, labels, max_len):
    pieces, targets = [], []
    for word, label in zip(words, labels, strict=True):
        for i, piece in enumerate(word):
            pieces.append(piece)
            targets.append(label if i == 0 else -100)
    return ["[CLS]", *pieces[: max_len - 2], "[SEP]"], [0, *targets[: max_len - 2], 0]


def labels_inner_only(words, labels, max_len):
    pieces, targets = [], []
    for word, label in zip(words, labels, strict=True):
        pieces += word
        targets += [label] + [-100] * (len(word) - 1)
    return ["[CLS]", *pieces[: max_len - 2], "[SEP]"], targets[: max_len - 2]


def labels_of_words(words, labels, max_len):
    """The labels as they are, filled up to the length of the tokens."""
    tokens = ["[CLS]", *[p for word in words for p in word][: max_len - 2], "[SEP]"]
    targets = [-100, *labels]
    targets = targets[: len(tokens) - 1]
    while len(targets) < len(tokens):
        targets.append(-100)
    return tokens, targets


def labels_all_tokens(words, labels, max_len):
    tokens, targets = ["[CLS]"], [-100]
    for word, label in zip(words, labels, strict=True):
        tokens += word
        targets += [label] + [-100] * (len(word) - 1)
    return [*tokens, "[SEP]"], [*targets, -100]


def labels_sliced_at_the_end(words, labels, max_len):
    tokens, targets = labels_all_tokens(words, labels, max_len)
    return tokens[:max_len], targets[:max_len]


def labels_max_len_pieces(words, labels, max_len):
    tokens, targets = labels_all_tokens(words, labels, max_len)
    return ["[CLS]", *tokens[1:-1][:max_len], "[SEP]"], [-100, *targets[1:-1][:max_len], -100]


def labels_whole_words(words, labels, max_len):
    tokens, targets = ["[CLS]"], [-100]
    for word, label in zip(words, labels, strict=True):
        if len(tokens) + len(word) + 1 > max_len:
            break
        tokens.extend(word)
        targets.extend([label] + [-100] * (len(word) - 1))
    return [*tokens, "[SEP]"], [*targets, -100]


def labels_behind_the_first_word(words, labels, max_len):
    pieces = words[0]
    for word in words[1:]:
        pieces += word
    targets = [
        label if i == 0 else -100
        for word, label in zip(words, labels, strict=True)
        for i, _ in enumerate(word)
    ]
    return ["[CLS]", *pieces[: max_len - 2], "[SEP]"], [-100, *targets[: max_len - 2], -100]


def labels_first_pieces_read(words, labels, max_len):
    tokens = ["[CLS]", *[word[0] for word in words][: max_len - 2], "[SEP]"]
    return tokens, [-100, *labels[: max_len - 2], -100]


def labels_only_short_words(words, labels, max_len):
    pieces, targets = [], []
    for word, label in zip(words, labels, strict=True):
        pieces += word
        targets += [label] if len(word) == 1 else [-100 for _ in word]
    return ["[CLS]", *pieces[: max_len - 2], "[SEP]"], [-100, *targets[: max_len - 2], -100]


# --------------------------------------------------------------------------------------- ChoiceHead


class Choice(nn.Module):
    """What the wrong ones below have in common."""

    def __init__(self, d_model, dropout):
        super().__init__()
        self.pooler = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(d_model, 1)
        self.p = dropout


class ChoiceMean(Choice):
    def forward(self, hidden):
        return self.head(self.dropout(torch.tanh(self.pooler(hidden.mean(2))))).squeeze(-1)


class ChoiceLast(Choice):
    def forward(self, hidden):
        return self.head(self.dropout(torch.tanh(self.pooler(hidden[..., -1, :])))).squeeze(-1)


class ChoiceWrongAxis(Choice):
    def forward(self, hidden):
        cls = hidden[:, 0, :]
        return self.head(self.dropout(torch.tanh(self.pooler(cls)))).squeeze(-1)


class ChoiceNoPooler(Choice):
    def forward(self, hidden):
        return self.head(self.dropout(hidden[:, :, 0])).squeeze(-1)


class ChoiceLinear(Choice):
    def forward(self, hidden):
        return self.head(self.dropout(self.pooler(hidden[:, :, 0]))).squeeze(-1)


class ChoiceRelu(Choice):
    def forward(self, hidden):
        return self.head(self.dropout(torch.relu(self.pooler(hidden[:, :, 0])))).squeeze(-1)


class ChoiceDropsAlways(Choice):
    def forward(self, hidden):
        x = torch.tanh(self.pooler(hidden[:, :, 0, :]))
        return self.head(F.dropout(x, p=self.p)).squeeze(-1)


class ChoiceFreshDropout(Choice):
    """A new layer in every call, and a new layer is in training mode."""

    def forward(self, hidden):
        x = torch.tanh(self.pooler(hidden[:, :, 0, :]))
        return self.head(nn.Dropout(self.p)(x)).squeeze(-1)


class ChoiceSoftmax(Choice):
    def forward(self, hidden):
        x = self.head(self.dropout(torch.tanh(self.pooler(hidden[:, :, 0]))))
        return F.softmax(x.squeeze(-1), dim=1)


class ChoiceLogSoftmax(Choice):
    def forward(self, hidden):
        x = self.head(self.dropout(torch.tanh(self.pooler(hidden[:, :, 0]))))
        return F.log_softmax(x.squeeze(-1), dim=1)


class ChoiceSigmoid(Choice):
    def forward(self, hidden):
        return torch.sigmoid(
            self.head(self.dropout(torch.tanh(self.pooler(hidden[:, :, 0])))).squeeze(-1)
        )


class ChoiceThreeAxes(Choice):
    def forward(self, hidden):
        return self.head(self.dropout(torch.tanh(self.pooler(hidden[:, :, 0]))))


class ChoiceFlat(Choice):
    def forward(self, hidden):
        cls = hidden.reshape(-1, *hidden.shape[2:])[:, 0]
        return self.head(self.dropout(torch.tanh(self.pooler(cls)))).reshape(-1)


class ChoiceDecides(Choice):
    def forward(self, hidden):
        return (
            self.head(self.dropout(torch.tanh(self.pooler(hidden[:, :, 0]))))
            .squeeze(-1)
            .argmax(dim=1)
        )


class ChoiceMixed(Choice):
    def forward(self, hidden):
        batch, choices, n, d_model = hidden.shape
        flat = hidden.transpose(0, 1).reshape(choices * batch, n, d_model)
        return self.head(self.dropout(torch.tanh(self.pooler(flat[:, 0])))).view(batch, choices)


# -------------------------------------------------------------------------------------- best_answer


def search(start, end, places, threshold, most=10**6):
    """The best pair among (i, j) of these places."""
    best, answer = -1e9, (0, 0)
    for i in places:
        for j in places:
            if i <= j < i + most and start[i] + end[j] > best:
                best, answer = float(start[i] + end[j]), (i, j)
    return answer if best > start[0] + end[0] + threshold else (0, 0)


def answer_two_argmaxes(start, end, first, last, longest, threshold):
    i = start[first : last + 1].argmax().item() + first
    j = end[first : last + 1].argmax().item() + first
    return (i, j) if start[i] + end[j] > start[0] + end[0] + threshold else (0, 0)


def answer_end_behind_the_best_start(start, end, first, last, longest, threshold):
    i = max(range(first, last + 1), key=lambda i: start[i])
    j = max(range(i, min(i + longest, last + 1)), key=lambda j: end[j])
    return (i, j) if start[i] + end[j] > start[0] + end[0] + threshold else (0, 0)


def answer_from_the_question(start, end, first, last, longest, threshold):
    return search(start, end, range(1, last + 1), threshold, longest)


def answer_to_the_padding(start, end, first, last, longest, threshold):
    return search(start, end, range(first, len(start)), threshold, longest)


def answer_range_of_last(start, end, first, last, longest, threshold):
    return search(start, end, range(first, last), threshold, longest)


def answer_difference(start, end, first, last, longest, threshold):
    """j - i may be as much as longest."""
    return search(start, end, range(first, last + 1), threshold, longest + 1)


def answer_strictly_shorter(start, end, first, last, longest, threshold):
    return search(start, end, range(first, last + 1), threshold, longest - 1)


def answer_of_any_length(start, end, first, last, longest, threshold):
    return search(start, end, range(first, last + 1), threshold)


def answer_without_threshold(start, end, first, last, longest, threshold):
    return search(start, end, range(first, last + 1), 0, longest)


def answer_threshold_for_cls(start, end, first, last, longest, threshold):
    return search(start, end, range(first, last + 1), -threshold, longest)


def answer_always(start, end, first, last, longest, threshold):
    return search(start, end, range(first, last + 1), -1e6, longest)


def answer_against_half_of_cls(start, end, first, last, longest, threshold):
    end = end.clone()
    end[0] = 0
    return search(start, end, range(first, last + 1), threshold, longest)


def answer_of_probabilities(start, end, first, last, longest, threshold):
    return search(
        start.softmax(dim=-1), end.softmax(dim=-1), range(first, last + 1), threshold, longest
    )


def answer_by_the_mean_of_its_tokens(start, end, first, last, longest, threshold):
    best, answer = start[0].item() + end[0].item() + threshold, (0, 0)
    for i in range(first, last + 1):
        for j in range(i, min(i + longest, last + 1)):
            score = (start[i] + end[j]).item() / (j - i + 1)
            if score > best:
                best, answer = score, (i, j)
    return answer


def answer_as_a_slice(start, end, first, last, longest, threshold):
    i, j = search(start, end, range(first, last + 1), threshold, longest)
    return (i, j + 1) if i else (0, 0)


def answer_in_the_context(start, end, first, last, longest, threshold):
    i, j = search(start, end, range(first, last + 1), threshold, longest)
    return (i - first, j - first) if i else (0, 0)


# ---------------------------------------------------------------------------------------- entity_f1


def spans(labels, stray=False):
    """(kind, first, behind the last) of each name."""
    found, i = [], 0
    while i < len(labels):
        if labels[i] == "O" or (labels[i][0] == "I" and not stray):
            i += 1
            continue
        kind, begin = labels[i][2:], i
        i += 1
        while i < len(labels) and labels[i] == f"I-{kind}":
            i += 1
        found.append((kind, begin, i))
    return found


def together(predicted, right, decode=spans):
    p = {(s, *name) for s, labels in enumerate(predicted) for name in decode(labels)}
    r = {(s, *name) for s, labels in enumerate(right) for name in decode(labels)}
    return p, r


def f1_accuracy(predicted, right):
    correct = sum(
        p == r for ps, rs in zip(predicted, right, strict=True) for p, r in zip(ps, rs, strict=True)
    )
    return correct / sum(map(len, right))


def f1_of_labels(predicted, right):
    """True and false positives counted word by word."""
    tp = fp = fn = 0
    for ps, rs in zip(predicted, right, strict=True):
        for p, r in zip(ps, rs, strict=True):
            tp += p == r != "O"
            fp += p != "O" and p != r
            fn += r != "O" and p != r
    return 2 * tp / (2 * tp + fp + fn) if tp else 0.0


def f1_begun_by_an_i(predicted, right):
    p, r = together(predicted, right, lambda labels: spans(labels, stray=True))
    return 2 * len(p & r) / (len(p) + len(r)) if p & r else 0.0


def f1_runs_of_a_kind(predicted, right):
    """A name is a run of the same kind, B or I."""

    def runs(labels):
        found, kind = [], ""
        for i, label in enumerate(labels):
            if kind and label[2:] == kind:
                found[-1][2] = i
                continue
            kind = label[2:] if label[0] == "B" else ""
            if kind:
                found.append([kind, i, i])
        return [tuple(name) for name in found]

    p, r = together(predicted, right, runs)
    return 2 * len(p & r) / (len(p) + len(r)) if p & r else 0.0


def f1_i_goes_on_with_anything(predicted, right):
    def names(labels):
        found, inside = [], False
        for i, label in enumerate(labels):
            if label[0] == "B":
                found.append([label[2:], i, i])
                inside = True
            elif label[0] == "I" and inside:
                found[-1][2] = i
            else:
                inside = False
        return [tuple(name) for name in found]

    p, r = together(predicted, right, names)
    return 2 * len(p & r) / (len(p) + len(r)) if p & r else 0.0


def f1_without_kinds(predicted, right):
    p, r = together(predicted, right, lambda labels: [name[1:] for name in spans(labels)])
    return 2 * len(p & r) / (len(p) + len(r)) if p & r else 0.0


def f1_of_each_sentence(predicted, right):
    scores = []
    for p, r in zip(predicted, right, strict=True):
        p, r = set(spans(p)), set(spans(r))
        scores.append(2 * len(p & r) / (len(p) + len(r)) if p & r else 0.0)
    return sum(scores) / len(scores)


def f1_sets_of_all(predicted, right):
    p, r = set(), set()
    for ps, rs in zip(predicted, right, strict=True):
        p.update(spans(ps))
        r.update(spans(rs))
    return 2 * len(p & r) / (len(p) + len(r)) if p & r else 0.0


def f1_precision(predicted, right):
    p, r = together(predicted, right)
    return len(p & r) / len(p) if p else 0.0


def f1_recall(predicted, right):
    p, r = together(predicted, right)
    return len(p & r) / len(r) if r else 0.0


def f1_jaccard(predicted, right):
    p, r = together(predicted, right)
    return len(p & r) / len(p | r)


def f1_beginnings(predicted, right):
    p, r = together(predicted, right, lambda labels: [name[:2] for name in spans(labels)])
    return 2 * len(p & r) / (len(p) + len(r)) if p & r else 0.0


# ----------------------------------------------------------------------------------- skip_gram_step


def step_with_autograd(vectors, near_vectors, word, near, noise, rate):
    """The loss as the chapter has it, and its gradient by torch."""
    v = vectors.detach().clone().requires_grad_(True)
    n = near_vectors.detach().clone().requires_grad_(True)
    loss = -F.logsigmoid(v[word] @ n[near]) - F.logsigmoid(-(n[noise] @ v[word])).sum()
    dv, dn = torch.autograd.grad(loss, (v, n))
    with torch.no_grad():
        return v - rate * dv, n - rate * dn


def step_up(vectors, near_vectors, word, near, noise, rate):
    """The gradient is right, and added."""
    v, good, bad = vectors[word], near_vectors[near], near_vectors[noise]
    p, q = torch.sigmoid(v @ good), torch.sigmoid(bad @ v)
    new, new_near = vectors.clone(), near_vectors.clone()
    new[word] += rate * ((p - 1) * good + q @ bad)
    new_near[near] += rate * (p - 1) * v
    for j, share in zip(noise, q, strict=True):
        new_near[j] += rate * share * v
    return new, new_near


class Step:
    """What the wrong ones below have in common: a share for the neighbour, one for each random
    word, and how they are applied.
    """

    def __new__(cls, vectors, near_vectors, word, near, noise, rate):
        v, good, bad = vectors[word], near_vectors[near], near_vectors[noise]
        pull, push = cls.shares(v @ good, bad @ v)
        new, new_near = vectors.clone(), near_vectors.clone()
        new[word] = v + rate * (pull * good - (push[:, None] * bad).sum(dim=0))
        new_near[near] += rate * pull * v
        for j, share in zip(noise.tolist(), push, strict=True):
            new_near[j] -= rate * share * v
        return new, new_near

    @staticmethod
    def shares(x, y):
        return 1 - torch.sigmoid(x), torch.sigmoid(y)


class StepAllPositive(Step):
    @staticmethod
    def shares(x, y):
        return torch.sigmoid(-x), -torch.sigmoid(-y)


class StepChainRuleHalfway(Step):
    """The minus sign inside of the last sigmoid is forgotten where it is derived."""

    @staticmethod
    def shares(x, y):
        return 1 - torch.sigmoid(x), 1 - torch.sigmoid(y)


class StepByProbability(Step):
    @staticmethod
    def shares(x, y):
        return torch.sigmoid(x), torch.sigmoid(y)


class StepHebb(Step):
    @staticmethod
    def shares(x, y):
        return torch.ones(()), torch.ones_like(y)


class StepLinear(Step):
    @staticmethod
    def shares(x, y):
        return 1 - x, y


class StepOfSquares(Step):
    """The gradient of (1 - σ)² / 2 and σ² / 2."""

    @staticmethod
    def shares(x, y):
        p, q = torch.sigmoid(x), torch.sigmoid(y)
        return (1 - p) * p * (1 - p), q * q * (1 - q)


class StepOfExponentials(Step):
    @staticmethod
    def shares(x, y):
        return 1 - x.exp() / (1 + x.exp()), y.exp() / (1 + y.exp())


class StepOfTheSum(Step):
    @staticmethod
    def shares(x, y):
        return 1 - torch.sigmoid(x), torch.sigmoid(y.sum()).repeat(len(y))


class StepSoftmax(Step):
    @staticmethod
    def shares(x, y):
        p = torch.cat([x.view(1), y]).softmax(dim=0)
        return 1 - p[0], p[1:]


class StepMeanOfNoise(Step):
    @staticmethod
    def shares(x, y):
        return 1 - torch.sigmoid(x), torch.sigmoid(y) / y.numel()


class StepNoNoise(Step):
    @staticmethod
    def shares(x, y):
        return 1 - torch.sigmoid(x), torch.zeros_like(y)


class StepNoNeighbour(Step):
    @staticmethod
    def shares(x, y):
        return torch.zeros(()), torch.sigmoid(y)


def step_in_place_of_old(vectors, near_vectors, word, near, noise, rate):
    """v is a view of the new table: once it has moved, the neighbours move by the moved one."""
    new, new_near = vectors.clone(), near_vectors.clone()
    v = new[word]
    p, q = torch.sigmoid(v @ new_near[near]), torch.sigmoid(new_near[noise] @ v)
    v += rate * ((1 - p) * new_near[near] - q @ new_near[noise])
    new_near[near] += rate * (1 - p) * v
    for j, share in zip(noise, q, strict=True):
        new_near[j] -= rate * share * v
    return new, new_near


def step_stochastic(vectors, near_vectors, word, near, noise, rate):
    """Every term is a step of its own."""
    new, new_near = vectors.clone(), near_vectors.clone()
    for j, label in [(near, 1.0), *((j, 0.0) for j in noise.tolist())]:
        v, u = new[word].clone(), new_near[j].clone()
        g = label - torch.sigmoid(v @ u)
        new[word] = v + rate * g * u
        new_near[j] = u + rate * g * v
    return new, new_near


def step_like_word2vec_c(vectors, near_vectors, word, near, noise, rate):
    """The authors' loop: the neighbours at once, the word at the end."""
    new, new_near = vectors.clone(), near_vectors.clone()
    v, buffer = vectors[word], torch.zeros(vectors.shape[1])
    for j, label in [(near, 1.0), *((j, 0.0) for j in noise.tolist())]:
        g = (label - torch.sigmoid(v @ new_near[j])) * rate
        buffer += g * new_near[j]
        new_near[j] += g * v
    new[word] += buffer
    return new, new_near


def step_rows_named_twice(vectors, near_vectors, word, near, noise, rate):
    v, good, bad = vectors[word], near_vectors[near], near_vectors[noise]
    p, q = torch.sigmoid(v @ good), torch.sigmoid(bad @ v)
    new, new_near = vectors.clone(), near_vectors.clone()
    new[word] += rate * ((1 - p) * good - q @ bad)
    new_near[near] += rate * (1 - p) * v
    new_near[noise] -= rate * q[:, None] * v
    return new, new_near


def step_of_a_set(vectors, near_vectors, word, near, noise, rate):
    return Step(vectors, near_vectors, word, near, torch.tensor(sorted(set(noise.tolist()))), rate)


def step_without_hits(vectors, near_vectors, word, near, noise, rate):
    return Step(vectors, near_vectors, word, near, noise[noise != near], rate)


def step_of_the_word(vectors, near_vectors, word, near, noise, rate):
    return Step(vectors, near_vectors, word, near, noise, rate)[0], near_vectors.clone()


def step_of_sigmoids(vectors, near_vectors, word, near, noise, rate):
    """The loss without its logarithms."""
    v, vectors, moved = vectors[word], vectors.clone(), near_vectors.clone()
    x, y = torch.sigmoid(v @ near_vectors[near]), torch.sigmoid(near_vectors[noise] @ v)
    pull, push = x * (1 - x), y * (1 - y)
    vectors[word] = v + rate * (pull * near_vectors[near] - push @ near_vectors[noise])
    moved[near] += rate * pull * v
    return vectors, moved.index_add(0, noise, -rate * push[:, None] * v)


def step_pulled_alone(vectors, near_vectors, word, near, noise, rate):
    v, vectors, moved = vectors[word], vectors.clone(), near_vectors.clone()
    pull, push = torch.sigmoid(-v @ near_vectors[near]), torch.sigmoid(near_vectors[noise] @ v)
    vectors[word] = v + rate * pull * near_vectors[near]
    moved[near] += rate * pull * v
    return vectors, moved.index_add(0, noise, -rate * push[:, None] * v)


def step_of_the_others(vectors, near_vectors, word, near, noise, rate):
    return vectors.clone(), Step(vectors, near_vectors, word, near, noise, rate)[1]


def step_tables_confused(vectors, near_vectors, word, near, noise, rate):
    return Step(near_vectors, vectors, word, near, noise, rate)[::-1]


def step_of_everybody(vectors, near_vectors, word, near, noise, rate):
    others = [i for i in range(len(vectors)) if i != near]
    return Step(vectors, near_vectors, word, near, torch.tensor(others), rate)


def step_own_direction(vectors, near_vectors, word, near, noise, rate):
    v, good, bad = vectors[word], near_vectors[near], near_vectors[noise]
    p, q = torch.sigmoid(v @ good), torch.sigmoid(bad @ v)
    new, new_near = vectors.clone(), near_vectors.clone()
    new[word] += rate * (1 - p - q.sum()) * v
    new_near[near] += rate * (1 - p) * good
    new_near.index_add_(0, noise, -rate * q[:, None] * bad)
    return new, new_near


def step_of_size_1(vectors, near_vectors, word, near, noise, rate):
    return Step(vectors, near_vectors, word, near, noise, 1)


def step_as_difference(vectors, near_vectors, word, near, noise, rate):
    new, new_near = Step(vectors, near_vectors, word, near, noise, rate)
    return new.sub(vectors), new_near.sub(near_vectors)


# ----------------------------------------------------------------------------------------- LayerMix


class Mix(nn.Module):
    """What the wrong ones below have in common."""

    def __init__(self, n_states):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(n_states))
        self.gamma = nn.Parameter(torch.ones(()))


class MixRawScores(Mix):
    def forward(self, states):
        return self.gamma * torch.einsum("i,i...->...", self.w, states)


class MixDivided(Mix):
    def forward(self, states):
        weights = self.w / self.w.sum()
        return self.gamma * torch.einsum("i,i...->...", weights, states)


class MixSigmoids(Mix):
    def forward(self, states):
        return self.gamma * torch.einsum("i,i...->...", self.w.sigmoid(), states)


class MixLastAxis(Mix):
    """(n_states, 1, 1, 1), and a softmax over the last axis."""

    def forward(self, states):
        weights = self.w.view(-1, 1, 1, 1).softmax(dim=-1)
        return self.gamma * (weights * states).sum(0)


class MixMean(Mix):
    def forward(self, states):
        return self.gamma * states.mean(dim=0)


class MixMeanOfWeighted(Mix):
    def forward(self, states):
        weights = self.w.softmax(0)[:, None, None, None]
        return self.gamma * (weights * states).mean(dim=0)


class MixWithoutGamma(Mix):
    def forward(self, states):
        return torch.tensordot(self.w.softmax(-1), states, dims=1)


class MixTemperature(Mix):
    def forward(self, states):
        return torch.tensordot((self.w * self.gamma).softmax(-1), states, dims=1)


class MixNotSummed(Mix):
    def forward(self, states):
        return self.gamma * states * self.w.softmax(-1).reshape(-1, 1, 1, 1)


class MixBest(Mix):
    def forward(self, states):
        return self.gamma * states[int(self.w.softmax(-1).argmax())]


class MixAddsGamma(Mix):
    def forward(self, states):
        return torch.tensordot(self.w.softmax(-1), states, dims=1) + self.gamma


# ------------------------------------------------------------------------------------- train_tagger


def trained(rows, labels, n_classes, steps=200, rate=0.01, **options):
    """A linear layer, trained on rows of features."""
    tagger = nn.Linear(rows.shape[1], n_classes)
    optimizer = torch.optim.Adam(tagger.parameters(), lr=rate)
    for _ in range(steps):
        loss = F.cross_entropy(tagger(rows), labels, **options)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return tagger.requires_grad_(False)


def tagger_of_the_last_state(states, labels, asked, n_classes):
    return trained(states[-1], labels, n_classes)(asked[-1]).argmax(dim=-1)


def tagger_of_the_embeddings(states, labels, asked, n_classes):
    return trained(states[0], labels, n_classes)(asked[0]).argmax(dim=-1)


def tagger_of_all_pieces(states, labels, asked, n_classes):
    """ "None" becomes class 0."""
    rows = states.transpose(0, 1).flatten(1)
    tagger = trained(rows, labels.clamp(min=0), n_classes)
    return tagger(asked.transpose(0, 1).flatten(1)).argmax(dim=-1)


def tagger_that_blows_up(states, labels, asked, n_classes):
    rows = states.transpose(0, 1).flatten(1)
    tagger = trained(rows * torch.inf, labels, n_classes, steps=2)
    return tagger(asked.transpose(0, 1).flatten(1)).argmax(dim=-1)


def tagger_at_the_rate_of_a_body(states, labels, asked, n_classes):
    rows = states.transpose(0, 1).flatten(1)
    tagger = trained(rows, labels, n_classes, rate=1e-5)
    return tagger(asked.transpose(0, 1).flatten(1)).argmax(dim=-1)


def tagger_from_1(states, labels, asked, n_classes):
    rows = states.transpose(0, 1).flatten(1)
    tagger = trained(rows, labels.where(labels < 0, labels + 1), n_classes + 1)
    return tagger(asked.transpose(0, 1).flatten(1)).argmax(dim=-1)


STUDENTS = {
    "hw6.fit_pair": {
        "not_cut": [pair_not_cut],
        "last_sep_cut_off": [pair_sliced_at_the_end],
        "one_sentence_pays": [
            pair_only_second,
            pair_only_first,
            pair_second_slice,
            pair_second_to_0,
        ],
        "half_of_the_room": [pair_half_each, pair_half_each_if_needed, pair_two_halves],
        "in_proportion": [pair_shares],
        "in_turn": [pair_in_turn],
        "beginning_cut_off": [pair_pop_front, pair_fronts],
        "tie_from_the_first": [pair_greater_or_equal],
        "special_tokens_not_counted": [
            pair_specials_forgotten,
            pair_always_three,
            pair_no_room,
            pair_room_for_two,
        ],
        "segments_before_cutting": [pair_old_segments],
        "all_in_one_segment": [pair_one_segment],
        "changed_in_place": [pair_pops_what_it_gets],
        "padded": [pair_padded_to_max],
    },
    "hw6.piece_labels": {
        "every_piece_labelled": [labels_everywhere],
        "last_piece_labelled": [labels_last_piece],
        "zero_for_nothing": [labels_zero, labels_zero_at_the_special],
        "special_tokens_without_labels": [labels_inner_only],
        "a_label_for_each_place": [labels_of_words],
        "not_cut": [labels_all_tokens],
        "last_sep_cut_off": [labels_sliced_at_the_end],
        "special_tokens_not_counted": [labels_max_len_pieces],
        "only_whole_words_kept": [labels_whole_words],
        "further_pieces_left_out": [labels_first_pieces_read],
        "first_word_made_longer": [labels_behind_the_first_word],
        "words_of_several_pieces_unlabelled": [labels_only_short_words],
    },
    "hw6.ChoiceHead": {
        "not_cls": [ChoiceMean],
        "last_token": [ChoiceLast],
        "tokens_of_the_first_ending": [ChoiceWrongAxis],
        "pooler_forgotten": [ChoiceNoPooler],
        "tanh_forgotten": [ChoiceLinear],
        "another_activation": [ChoiceRelu],
        "dropout_never_off": [ChoiceDropsAlways, ChoiceFreshDropout],
        "probabilities_returned": [ChoiceSoftmax, ChoiceLogSoftmax],
        "each_ending_by_itself": [ChoiceSigmoid],
        "last_axis_kept": [ChoiceThreeAxes],
        "all_in_a_row": [ChoiceFlat],
        "best_returned": [ChoiceDecides],
        "beginnings_and_endings_mixed": [ChoiceMixed],
    },
    "hw6.best_answer": {
        "each_by_itself": [answer_two_argmaxes],
        "greedy": [answer_end_behind_the_best_start],
        "outside_the_text": [answer_from_the_question, answer_to_the_padding],
        "last_token_left_out": [answer_range_of_last],
        "one_too_long": [answer_difference],
        "one_too_short": [answer_strictly_shorter],
        "any_length": [answer_of_any_length],
        "threshold_ignored": [answer_without_threshold],
        "threshold_subtracted": [answer_threshold_for_cls],
        "always_an_answer": [answer_always],
        "only_the_start_of_cls": [answer_against_half_of_cls],
        "probabilities_added": [answer_of_probabilities],
        "divided_by_the_length": [answer_by_the_mean_of_its_tokens],
        "end_is_behind_the_answer": [answer_as_a_slice],
        "counted_in_the_text": [answer_in_the_context],
    },
    "hw6.entity_f1": {
        "accuracy": [f1_accuracy],
        "words_counted": [f1_of_labels],
        "as_in_the_chapter": [f1_begun_by_an_i],
        "neighbours_merged": [f1_runs_of_a_kind],
        "kind_of_i_ignored": [f1_i_goes_on_with_anything],
        "kind_ignored": [f1_without_kinds],
        "mean_over_sentences": [f1_of_each_sentence],
        "sentences_thrown_together": [f1_sets_of_all],
        "precision": [f1_precision],
        "recall": [f1_recall],
        "share_of_all_names": [f1_jaccard],
        "only_beginnings_compared": [f1_beginnings],
    },
    "hw6.skip_gram_step": {
        "by_autograd": [step_with_autograd],
        "uphill": [step_up],
        "noise_pulled": [StepAllPositive],
        "moved_most_where_right": [StepChainRuleHalfway, StepByProbability],
        "always_the_same_move": [StepHebb],
        "sigmoid_forgotten": [StepLinear],
        "derivative_of_the_square": [StepOfSquares],
        "exponentials_too_large": [StepOfExponentials],
        "sum_inside_of_the_sigmoid": [StepOfTheSum],
        "softmax": [StepSoftmax],
        "mean_over_the_noise": [StepMeanOfNoise],
        "not_in_one_go": [step_in_place_of_old, step_stochastic, step_like_word2vec_c],
        "drawn_twice_counted_once": [step_rows_named_twice, step_of_a_set],
        "drawn_words_left_out": [step_without_hits],
        "only_the_word_moves": [step_of_the_word],
        "the_word_stays": [step_of_the_others],
        "logarithm_forgotten": [step_of_sigmoids],
        "word_moved_by_the_neighbour_alone": [step_pulled_alone],
        "one_table": [step_tables_confused],
        "noise_forgotten": [StepNoNoise],
        "neighbour_forgotten": [StepNoNeighbour],
        "all_words_pushed": [step_of_everybody],
        "along_another_direction": [step_own_direction],
        "rate_forgotten": [step_of_size_1],
        "changes_returned": [step_as_difference],
    },
    "hw6.LayerMix": {
        "softmax_forgotten": [MixRawScores, MixDivided, MixSigmoids],
        "softmax_of_a_single_number": [MixLastAxis],
        "plain_mean": [MixMean],
        "mean_of_the_weighted": [MixMeanOfWeighted],
        "gamma_forgotten": [MixWithoutGamma],
        "gamma_inside_of_the_softmax": [MixTemperature],
        "not_summed": [MixNotSummed],
        "best_state_only": [MixBest],
        "gamma_added": [MixAddsGamma],
    },
    "hw6.train_tagger": {
        "last_state_only": [tagger_of_the_last_state],
        "first_state_only": [tagger_of_the_embeddings],
        "always_class_0": [tagger_of_all_pieces, tagger_that_blows_up],
        "classes_counted_from_1": [tagger_from_1],
        "never_trained": [tagger_at_the_rate_of_a_body],
    },
}
