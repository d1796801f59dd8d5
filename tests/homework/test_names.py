"""Names that any question may give, by what was found alone; and what the first page of a homework
rules out is refused by the check.
"""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from lectures_lib.homework import find, load
from lectures_lib.homework.diagnosis import EVERYWHERE
from lectures_lib.homework.grader.grading import names
from lectures_lib.homework.questions import Case
from tests.homework.bank import judged, key
from tests.homework.toy import judged as judged_toy
from tests.homework.toy import question


def double(x):
    return 2 * x


class Scale(nn.Module):
    def __init__(self, n: int):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(n))

    def forward(self, x):
        return self.weight * x


class NoSuper(nn.Module):
    def __init__(self, n):
        self.weight = nn.Parameter(torch.zeros(n))


class NoForward(Scale):
    forward = nn.Module.forward


class Renamed(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(n))


class CutOff(Scale):
    def forward(self, x):
        return self.weight.detach() * x


def classes(x):
    return x.argmax(dim=-1)


A_CASE = Case((torch.arange(1.0, 7).view(2, 3),))
A_CLASS = Case((torch.arange(1.0, 4),), init={"n": 3}, state={"weight": torch.ones(3)})
DOUBLE = question("double", double, [A_CASE])
CLASSES = question("classes", classes, [A_CASE], share=0.5)
SCALE = question("Scale", Scale, [A_CLASS])


@pytest.mark.parametrize(
    ("asked", "answer", "name"),
    [
        (DOUBLE, lambda x: x.mul_(2), "input_changed"),
        (DOUBLE, lambda x: print(end=""), "nothing_returned"),
        (DOUBLE, lambda x: (2 * x).cuda(), "needs_a_gpu"),
        (CLASSES, lambda x: x, "scores_returned"),
        (SCALE, NoSuper, "no_super_init"),
        (SCALE, NoForward, "no_forward"),
        (SCALE, Renamed, "other_parameters"),
        (SCALE, CutOff, "no_gradient"),
    ],
)
def test_what_was_found_has_a_name(asked, answer, name):
    if name == "needs_a_gpu" and torch.cuda.is_available():
        pytest.skip("there is one")
    verdict = judged_toy(asked, answer)
    assert (verdict.right, verdict.mistake) == (False, name), verdict
    assert name in EVERYWHERE


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (DOUBLE, lambda x: 3 * x),
        (DOUBLE, lambda x: [None]),
        (DOUBLE, lambda x: 1 / 0),
        (CLASSES, lambda x: -x),  # the largest numbers stand elsewhere
        (CLASSES, lambda x: 0 * classes(x)),
    ],
)
def test_what_is_wrong_in_another_way_gets_none_of_these(asked, answer):
    verdict = judged_toy(asked, answer)
    assert (verdict.right, verdict.mistake) == (False, ""), verdict


def test_these_names_may_earn_part_of_the_points():
    names.check_mistake(load("hw1"), "hw1.causal_mask", "input_changed")
    with pytest.raises(ValueError, match="knows no mistake"):
        names.check_mistake(load("hw1"), "hw1.causal_mask", "input_changes")


# ------------------------------------------------------------------------------- what is ruled out


class TorchsAttention(find("hw1.MultiHeadAttention").reference):
    """With the right parameters, and all the work left to PyTorch."""

    def forward(self, x, mask=None):
        Q, K, V = (self.split(projected) for projected in self.project(x))
        return self.mix(self.merge(F.scaled_dot_product_attention(Q, K, V, attn_mask=mask)))


def through_the_module(X, permutation, positions=None):
    """A head of nn.MultiheadAttention whose matrices change nothing."""
    d = X.shape[-1]
    module = nn.MultiheadAttention(d, 1, bias=False, batch_first=True)
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.eye(d).repeat(3, 1))
        module.out_proj.weight.copy_(torch.eye(d))
    P = torch.zeros_like(X) if positions is None else positions

    def attend(x):
        return module(x[None], x[None], x[None], need_weights=False)[0][0].detach()

    return attend(X[permutation] + P)[permutation.argsort()] - attend(X + P)


def smoothed_by_torch(logits, targets, epsilon, pad):
    return F.cross_entropy(
        logits.flatten(0, 1), targets.flatten(), ignore_index=pad, label_smoothing=epsilon
    )


class OfTheLibrary(nn.CrossEntropyLoss):
    def __call__(self, logits, targets, epsilon, pad):
        loss = nn.CrossEntropyLoss(ignore_index=pad, label_smoothing=epsilon)
        return loss(logits.flatten(0, 1), targets.flatten())


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        (
            "hw1.scaled_dot_product_attention",
            lambda Q, K, V: F.scaled_dot_product_attention(Q, K, V),
        ),
        ("hw1.MultiHeadAttention", TorchsAttention),
        ("hw1.order_effect", through_the_module),
        ("hw3.smoothed_cross_entropy", smoothed_by_torch),
        ("hw3.smoothed_cross_entropy", OfTheLibrary()),
    ],
)
def test_what_the_first_page_rules_out_is_refused(name, answer):
    for seed in (0, 3):
        verdict = judged(name, answer, seed)
        assert (verdict.right, verdict.kind) == (False, "forbidden"), verdict


def test_cross_entropy_without_the_argument_is_welcome():
    def by_parts(logits, targets, epsilon, pad):
        flat, right = logits.flatten(0, 1), targets.flatten()
        even = -flat.log_softmax(dim=-1)[right != pad].mean()
        loss = F.cross_entropy(flat, right, ignore_index=pad, label_smoothing=0.0)
        return (1 - epsilon) * loss + epsilon * even

    assert judged("hw3.smoothed_cross_entropy", by_parts).right


# ----------------------------------------------------------------------- two that were once accepted


class OneMask(nn.Module):
    """One dropout mask for the whole batch."""

    def __init__(self, d_model, dropout):
        super().__init__()
        self.p = dropout
        self.pooler, self.head = nn.Linear(d_model, d_model), nn.Linear(d_model, 1)

    def forward(self, hidden):
        x = torch.tanh(self.pooler(hidden[:, :, 0]))
        if self.training and self.p > 0:
            x = x * (torch.rand(x.shape[-1]) >= self.p).float() / (1 - self.p)
        return self.head(x)[..., 0]


class OneForEachEnding(OneMask):
    """A mask for each ending, the same in every beginning."""

    def forward(self, hidden):
        x = torch.tanh(self.pooler(hidden[:, :, 0]))
        if self.training and self.p > 0:
            x = x * (torch.rand(x.shape[1:]) >= self.p).float() / (1 - self.p)
        return self.head(x)[..., 0]


@pytest.mark.parametrize("answer", [OneMask, OneForEachEnding])
def test_a_dropout_mask_that_is_shared_is_seen(answer):
    for seed in range(4):
        assert not judged("hw6.ChoiceHead", answer, seed).right
    assert judged("hw6.ChoiceHead", OneMask).mistake == "one_dropout_mask"


def test_a_sum_over_all_layers_is_not_the_best_layer():
    def vote(states, labels, dev_states, dev_labels, asked):
        total = 0
        for x, dev, ask in zip(states, dev_states, asked, strict=True):
            mean, deviation = x.mean(dim=0), x.std(dim=0)
            probe = nn.Linear(x.shape[1], int(labels.max()) + 1)
            optimizer = torch.optim.Adam(probe.parameters(), lr=0.05)
            for _ in range(100):
                loss = F.cross_entropy(probe((x - mean) / deviation), labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            said = probe((dev - mean) / deviation).argmax(dim=-1)
            total = total + (said == dev_labels).float().mean() * probe((ask - mean) / deviation)
        return total.argmax(dim=-1)

    for seed in range(3):
        assert key("hw7.probe_layers", seed).accepts(find("hw7.probe_layers").reference)
        assert not judged("hw7.probe_layers", vote, seed).right
