"""Names that any question may give, by what was found alone; and what the first page of a homework
rules out is refused by the check.
"""

import re
import warnings
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from lectures_lib.homework import check, find, load
from lectures_lib.homework.grader.grading import names as known_names
from lectures_lib.homework.grader.grading import rules
from lectures_lib.homework.questions import Case, Question, names
from lectures_lib.homework.verdict import EVERYWHERE, REMARK, Verdict
from tests.homework.bank import judged, key
from tests.homework.toy import TOY, question
from tests.homework.toy import judged as judged_toy
from tests.homework.toy_results import result

ROOT = Path(__file__).resolve().parents[2]


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
LOSS = question("double", double, [replace(A_CASE, gradients="values")])
TRAINED = question("double", double, [A_CASE], (("squares", lambda x: x**2),), trained=True)


def written_over(x):
    """Right, and backpropagation finds another number than exp had left there."""
    grown = (2 * x).exp()
    result = grown.log()
    grown[grown.isnan()] = 0
    return result


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
        (LOSS, lambda x: (2 * x).detach(), "no_gradient"),
        (LOSS, written_over, "written_over"),
        (LOSS, lambda x: torch.from_numpy(2 * x.numpy()), "by_numpy"),
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


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (double, ""),
        (lambda x: (2 * x).detach(), "no gradient at all flows back"),
        (written_over, "A line such as"),
        (lambda x: torch.from_numpy(2 * x.numpy()), "NumPy knows no gradients"),
        (lambda x: torch.tensor([[2 * v for v in row] for row in x.tolist()]), "no gradient"),
    ],
)
def test_a_function_that_no_gradient_gets_through_is_right_and_told_so(answer, words, capsys):
    verdict = judged_toy(TRAINED, answer)
    assert verdict.right and not verdict.mistake
    assert words in verdict.message and bool(words) == verdict.message.startswith(REMARK)
    check(TRAINED, answer)
    assert words in capsys.readouterr().out


def test_a_mistake_that_also_cuts_the_gradient_keeps_its_name():
    verdict = judged_toy(TRAINED, lambda x: (x**2).detach())
    assert verdict.mistake == "squares"


@pytest.mark.parametrize("name", rules.OF_THEMSELVES)
def test_right_values_that_stop_training_earn_half_unless_a_rule_says_otherwise(name):
    found = result(verdicts=(Verdict("toy.double", False, "gradient", "…", name),))
    assert rules.Rules().score(TOY, found).total == 1
    strict = rules.Rules(mistakes={"double": {name: 0}})
    assert strict.score(TOY, found).total == 0


def test_these_names_may_earn_part_of_the_points():
    known_names.check_mistake(load("hw1"), "hw1.causal_mask", "input_changed")
    with pytest.raises(ValueError, match="knows no mistake"):
        known_names.check_mistake(load("hw1"), "hw1.causal_mask", "input_changes")


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
        assert not key("hw6.ChoiceHead", seed).accepts(answer)
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
        assert not key("hw7.probe_layers", seed).accepts(vote)


@pytest.mark.parametrize("name", names())
def test_the_first_page_says_what_the_check_sees(name):
    """Which questions refuse a ready-made call, and which look at gradients."""
    (notebook,) = (ROOT / "solutions").glob(f"{name}_*.py")
    before, _, said = notebook.read_text(encoding="utf-8").partition("**What the check sees.**")
    rules = before.partition("**The rules.**")[2].replace("\n# ", " ")
    assert "an input that is changed in place makes an answer wrong. " in rules
    said = re.split(r"\n#?\n", said)[0].replace("\n# ", " ")
    questions = list(enumerate(load(name).questions, start=1))
    of = {
        "makes the answer wrong": lambda each: each.forbidden or each.required,
        "costs half": _looks_at_gradients,
        "costs nothing, and": lambda each: each.trained,
    }
    told = re.split(r"(?<=[.]) (?=[A-Z])", said)
    for words, holds in of.items():
        numbers = [n for sentence in told if words in sentence for n in _numbers(sentence)]
        assert numbers == [i for i, each in questions if holds(each)], words


def _numbers(text: str) -> list[int]:
    """The questions' numbers: "in question 3", "questions 1, 2 and 5"."""
    found = re.findall(r"questions? (\d(?:(?:, | and )\d)*)", text)
    return [int(number) for each in found for number in re.findall(r"\d", each)]


def _looks_at_gradients(asked: Question) -> bool:
    cases = asked.cases(torch.Generator().manual_seed(0))
    return any(case.looks_at_gradients != "none" for case in cases)


# a checked annotation looks at any outcome, which calls the mistake
def test_a_known_mistake_is_called_no_further_than_it_did_the_same(shapes_unchecked):
    called = []

    def tripled(x):
        called.append(len(x))
        return 3 * x

    asked = question("double", double, mistakes=(("tripled", tripled),))
    assert judged_toy(asked, lambda x: 5 * x).mistake == ""
    assert called == [3], "it did something else on the first vector"
    called.clear()
    assert judged_toy(asked, lambda x: 3 * x).mistake == "tripled"
    assert called == [3, 5]


def warned(x):
    warnings.warn("no spread", stacklevel=1)
    return 3 * x


def test_known_mistakes_warn_of_nothing(recwarn):
    """They are called beside an answer; what they warn of is not its author's business."""
    asked = question("double", double, mistakes=(("thrice", warned),))
    assert judged_toy(asked, lambda x: x + x + x).mistake == "thrice"
    assert not recwarn.list
