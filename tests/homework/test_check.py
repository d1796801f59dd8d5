"""`check` names the mistake, in the student's own process."""

import bdb
import copy
import random
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from IPython.core.interactiveshell import InteractiveShell
from torch import nn

from lectures_lib.homework import WrongAnswer, check, find, names, sealed
from lectures_lib.homework.diagnosis import AnswerKey, run
from lectures_lib.homework.questions import Case
from tests.homework.toy import DOUBLE, SCALE, Scale, double, judged, question


def test_right_is_said_in_one_line(capsys):
    check(DOUBLE, lambda x: x + x)
    check(SCALE, Scale)
    assert (
        capsys.readouterr().out == "✓ toy.double: right (2 points)\n✓ toy.Scale: right (1 point)\n"
    )


def test_a_second_check_works_nothing_out_anew(monkeypatch):
    made = []
    monkeypatch.setattr(sealed, "AnswerKey", lambda *args: made.append(args) or AnswerKey(*args))
    for _ in range(2):
        check("hw1.causal_mask", find("hw1.causal_mask").reference)
    assert len(made) == 1


def unfinished(x):
    raise NotImplementedError("your answer here")


def stumbles(x):
    return x.no_such_method()


def forgets(x):
    x * 2


class NoSuper(nn.Module):
    def __init__(self, n):
        self.layer = nn.Linear(n, n)


def wants_a_gpu(x):
    raise AssertionError("Torch not compiled with CUDA enabled")


def greedy(x):
    return torch.empty(1 << 60, dtype=torch.uint8)


def in_place(x):
    x *= 2
    return x


def stays_in_the_debugger(x):
    raise bdb.BdbQuit


def exits(x):
    raise SystemExit


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (unfinished, "unfinished", "Not answered yet"),
        (stumbles, "raised", "`return x.no_such_method()`: 'Tensor' object"),
        (forgets, "type", "without `return`"),
        (wants_a_gpu, "raised", "CUDA enabled. There is no GPU here."),
        (greedy, "raised", "It asked for more memory than it may have."),
        (in_place, "changed", "(x) in place"),
        (exits, "raised", "SystemExit"),
        (stays_in_the_debugger, "raised", "stops in the debugger in line"),
        (lambda x: 2 * x[None], "shape", "expected (3,)"),
        (lambda x: (2 * x).long(), "values", "differs in 3 of 3"),
        (lambda x: x / 0, "nan", "infinite"),
        (lambda x: x * x, "misconception", "You made the mistake squares."),
        (lambda x: 3 * x, "values", "differs in 3 of 3 values"),
        (lambda x, y: x, "raised", "missing 1 required positional argument"),
    ],
)
def test_a_mistake_is_named(answer, kind, words):
    verdict = judged(DOUBLE, answer)
    assert (verdict.right, verdict.kind) == (False, kind)
    assert words in verdict.message
    assert kind in ("unfinished",) or verdict.on == "a vector of 3 numbers"


def test_an_open_question_is_told_and_raises_nothing(capsys):
    """So that "Run all" goes on to the next question."""
    check(DOUBLE, unfinished)
    assert capsys.readouterr().out == "… toy.double: not answered yet\n"


@pytest.mark.parametrize(
    ("given", "answer", "words"),
    [
        (
            torch.ones(2),
            lambda x: x.mul_(2),
            "(x) in place: whoever called it finds other values there than before. Work "
            "on a new tensor.",
        ),
        ([1, 2], lambda x: x.reverse() or x, "Work on a new list."),
        ({"a": 1}, lambda x: x.update(a=2) or x, "Work on a new dictionary."),
    ],
)
def test_what_is_changed_in_place_is_called_what_it_is(given, answer, words):
    asked = question("new", lambda x: answer(copy.deepcopy(x)), [Case((given,))])
    assert words in judged(asked, answer).message


def test_an_exception_s_kind_alone_names_no_mistake():
    """Others raise it too. Sizes in its message, or a wrong value for another input, are
    evidence.
    """
    cases = [Case(([1, 2],)), Case(([1, 2, 3],))]
    beyond = question("beyond", lambda x: x[-1], cases, (("past_the_end", lambda x: x[len(x)]),))
    assert judged(beyond, lambda x: x[7]).kind == "raised"
    second = question(
        "second",
        lambda x: x[-1],
        cases,
        (("always_the_third", lambda x: x[2]), ("first", lambda x: x[-3] if x[2:] else x[5])),
    )
    assert judged(second, lambda x: x[2]).kind == "raised"
    assert judged(second, lambda x: [*x][9] if len(x) == 2 else 1).mistake == "first"


def test_not_the_function_but_its_result():
    with pytest.raises(WrongAnswer, match="without calling it"):
        check(DOUBLE, double(torch.ones(2)))


def test_a_mistake_in_one_case_only_is_found():
    verdict = judged(DOUBLE, lambda x: 2 * x if len(x) == 3 else x)
    assert verdict.on == "a vector of 5 numbers"


def test_mistakes_of_shape_and_by_exception_are_named_too():
    mistakes = (
        ("flat", lambda x: x.flatten()),
        ("wrong_axis", lambda x: x.sum(dim=7)),
        ("nothing", lambda x: x.numel() == 0 or None),
    )
    rows = question(
        "rows", lambda x: x, [Case((torch.ones(2, 3),)), Case((torch.ones(3, 4),))], mistakes
    )
    assert judged(rows, lambda x: x.reshape(-1)).mistake == "flat"
    assert judged(rows, lambda x: torch.sum(x, 7)).mistake == "wrong_axis"
    assert judged(rows, lambda x: x.sum(dim=7, keepdim=True)).mistake == "wrong_axis"
    assert judged(rows, lambda x: x[7]).mistake == ""
    assert judged(rows, lambda x: [None][0]).mistake == "nothing"


def test_a_mistake_that_does_not_show_is_not_named():
    harmless = question("harmless", double, mistakes=(("none", lambda x: x + x),))
    assert judged(harmless, lambda x: 2 * x).right
    assert judged(harmless, lambda x: 3 * x).kind == "values"
    nearly = question("nearly", lambda x: 1.0, mistakes=(("rounded", lambda x: 1.00005),))
    assert judged(nearly, lambda x: 1.00012).kind == "values"


def test_a_share_of_predictions_is_enough_and_mistakes_need_as_many():
    def predictions(n_right, other):
        return lambda x: [i if i < n_right else other for i in range(10)]

    trained = question(
        "trained",
        predictions(10, 0),
        mistakes=(("constant", lambda x: [-1] * 10),),
        share=0.8,
        below="Look at the loss.",
    )
    assert judged(trained, predictions(8, -1)).right
    assert judged(trained, predictions(2, -1)).mistake == "constant"
    verdict = judged(trained, predictions(7, -1))
    assert (verdict.kind, verdict.mistake) == ("values", "")
    assert (
        verdict.message == "7 of 10 predictions are right; at least 8 are needed. Look at the loss."
    )
    assert "Look" not in judged(trained, predictions(2, -1)).message
    assert "Look" not in judged(trained, lambda x: x).message


def test_an_exception_that_is_asked_for():
    def refuses(x):
        raise ValueError("no")

    asked = question("refuses", refuses)
    assert judged(asked, refuses).right
    assert "must raise ValueError here. It raised nothing" in judged(asked, double).message
    assert "It raised IndexError" in judged(asked, lambda x: x[99]).message


class Renamed(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weights = nn.Parameter(torch.ones(n))


class Crooked(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n, 1))


class DropsOut(Scale):
    def forward(self, x):
        return nn.functional.dropout(super().forward(x), 0.5, self.training)


class Adds(Scale):
    def forward(self, x):
        return x + self.weight


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Renamed, "missing: weight (3,); not asked for: weights (3,)"),
        (Crooked, "of another shape: weight is (3, 1) instead of (3,)"),
        (double, "a class is asked for, and this is a function"),
        (NoSuper, "__init__() call. Call `super().__init__()` in the first line"),
        (Adds, "differs in 3 of 3 values"),
        (Scale(3), "a class is asked for, and this is a Scale"),
    ],
)
def test_a_class_is_built_and_given_parameters(answer, words):
    assert words in judged(SCALE, answer).message


class Buffered(Scale):
    """Right: a buffer of its own, and the parameter under a second name."""

    def __init__(self, n):
        super().__init__(n)
        self.register_buffer("one", torch.ones(()))
        self.register_buffer("mask", torch.ones(n), persistent=False)
        self.also = self.weight

    def forward(self, x):
        return self.one * self.also * x


class Linear(nn.Module):
    """Right: layers registered once more in an nn.Sequential, before they get their own names."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.LayerNorm(3))
        self.dense, self.norm = self.layers[0], self.layers[2]

    def forward(self, x):
        return self.layers(x)


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.dense, self.norm = nn.Linear(2, 3), nn.LayerNorm(3)

    def forward(self, x):
        return self.norm(self.dense(x).relu())


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.dense, self.norm = nn.Linear(2, 3), nn.LayerNorm(3)
        self.norm.bias = self.dense.bias

    def forward(self, x):
        return self.norm(self.dense(x).relu())


STATE = {
    "dense.weight": torch.tensor([[1.0, 2], [3, 5], [7, 11]]),
    "dense.bias": torch.tensor([1.0, 2, 3]),
}
STATE |= {"norm.weight": torch.tensor([2.0, 3, 5]), "norm.bias": torch.tensor([7.0, 11, 13])}
LAYERS = question(
    "Plain", Plain, [Case((torch.tensor([[1.0, -2], [0.5, 1]]),), init={}, state=STATE)]
)


def test_parameters_count_whatever_else_is_registered():
    assert judged(SCALE, Buffered).right
    assert judged(LAYERS, Linear).right
    assert "under several names: dense.bias, norm.bias" in judged(LAYERS, Tied).message


class AsBuffer(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("weight", torch.ones(n))

    def forward(self, x):
        return self.weight * x


class Frozen(Scale):
    def __init__(self, n):
        super().__init__(n)
        self.weight.requires_grad_(False)


class Data(Scale):
    def forward(self, x):
        return self.weight.data * x


class Copied(Scale):
    def forward(self, x):
        return torch.tensor(self.weight.tolist()) * x


class NoGrad(Scale):
    @torch.no_grad()
    def forward(self, x):
        return self.weight * x


class CutOff(Scale):
    def forward(self, x):
        return self.weight * x.detach()


class Halves(Scale):
    def forward(self, x):
        return (self.weight * x + (self.weight * x).detach()) / 2


class Overwrites(Scale):
    def forward(self, x):
        root = (self.weight * x).exp()
        result = root.log()
        root.zero_()
        return result


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (AsBuffer, "a buffer, which training does not change, and no nn.Parameter: weight"),
        (Frozen, "no gradient to weight flows back"),
        (Data, "no gradient to weight flows back"),
        (Copied, "no gradient to weight flows back"),
        (NoGrad, "no gradient at all flows back"),
        (CutOff, "no gradient to x flows back"),
        (Halves, "the gradient that flows back from it to weight, x is not"),
        (Overwrites, "backpropagation through it fails. RuntimeError: one of the variables needed"),
    ],
)
def test_a_right_value_that_cannot_be_trained_is_wrong(answer, words):
    case = Case(
        (torch.arange(1.0, 4),), init={"n": 3}, state={"weight": torch.tensor([2.0, 3.0, 5.0])}
    )
    verdict = judged(question("Scale", Scale, [case]), answer)
    assert words in verdict.message
    assert judged(question("Scale", Scale, [replace(case, gradients="none")]), answer).right == (
        answer is not AsBuffer
    )
    reach = judged(question("Scale", Scale, [replace(case, gradients="reach")]), answer)
    assert reach.right == (answer is Halves)


def test_only_the_gradients_that_are_asked_for_are_compared():
    def detached(x, y):
        return x * y.detach()

    case = Case((torch.ones(3), torch.arange(1.0, 4)), gradients="values")
    product = question("product", lambda x, y: x * y, [case])
    assert judged(product, detached).kind == "gradient"
    assert judged(
        replace(product, cases=lambda g: [replace(case, gradients_of=("argument 1",))]), detached
    ).right
    assert (
        judged(
            replace(product, cases=lambda g: [replace(case, gradients_of=("argument 2",))]),
            detached,
        ).kind
        == "gradient"
    )


class Dropping(Scale):
    """Two of it that begin otherwise drop the same numbers."""

    def forward(self, x):
        return nn.functional.dropout(super().forward(x), 0.5, self.training)


class BeginsOtherwise(Dropping):
    def __init__(self, n):
        super().__init__(n)
        torch.randn(7)


def test_what_a_class_draws_to_begin_with_changes_nothing_later():
    case = Case(
        (torch.arange(1.0, 20),), init={"n": 19}, state={"weight": torch.ones(19)}, train=True
    )
    asked = question("Scale", Scale, [case], (("drops", Dropping),))
    assert judged(asked, BeginsOtherwise).mistake == "drops"


def test_a_mistake_that_is_only_a_forbidden_function_is_named():
    called = question(
        "double",
        double,
        mistakes=(("adds_by_name", lambda x: torch.add(x, x)),),
        forbidden=("torch.add",),
    )
    assert judged(called, lambda x: torch.add(x, x)).mistake == "adds_by_name"


def test_gradients_of_a_function_s_inputs():
    case = Case(
        (torch.arange(1.0, 4), [2 * torch.ones(3)]),
        {"scale": torch.tensor(2.0)},
        gradients="values",
    )
    asked = question("dot", lambda x, others, scale: (x * others[0]).sum() * scale, [case])
    assert judged(asked, lambda x, others, scale: scale * x @ others[0]).right
    assert (
        "no gradient to others[0] flows"
        in judged(asked, lambda x, others, scale: scale * x @ others[0].detach()).message
    )
    assert (
        "to scale flows"
        in judged(asked, lambda x, others, scale: scale.item() * x @ others[0]).message
    )
    assert (
        judged(asked, lambda x, others, scale: (scale * x.mul_(others[0])).sum()).kind == "changed"
    )


class Remembers(Scale):
    mask = None

    def forward(self, x):
        self.mask = torch.ones(len(x)) if self.mask is None else self.mask
        return self.mask * x


def test_the_same_object_is_called_again():
    case = Case(
        (torch.ones(3),),
        init={"n": 3},
        state={"weight": torch.ones(3)},
        again=((torch.ones(2),),),
        gradients="none",
    )
    scale = question("Scale", lambda **init: None, [case])
    scale = replace(
        scale,
        reference=type("Once", (Scale,), {"forward": lambda self, x: x * self.weight[: len(x)]}),
    )
    verdict = judged(scale, Remembers)
    assert verdict.kind == "raised"
    longer = replace(case, again=((2 * torch.ones(1),),))
    assert (
        "In call 2 of the same object"
        in judged(replace(scale, cases=lambda g: [longer]), Remembers).message
    )
    assert judged(
        replace(scale, cases=lambda g: [longer]),
        type("Twice", (Scale,), {"forward": lambda self, x: x * 1.0}),
    ).right


class Drops(nn.Module):
    """Right: dropout of rate p, then a sum of what is left."""

    def __init__(self, p):
        super().__init__()
        self.w, self.p = nn.Parameter(torch.ones(4)), p

    def forward(self, x):
        return F.dropout(x * self.w, self.p, self.training) + x


class DropsByHand(Drops):
    def forward(self, x):
        kept = (torch.rand(x.shape) >= self.p) / (1 - self.p) if self.training else 1.0
        return x + kept * self.w * x


class DropsRate(Drops):
    def __init__(self, p):
        super().__init__(0.1)


class DropsAll(Drops):
    def forward(self, x):
        return F.dropout(x * self.w + x, self.p, self.training)


class DropsAlways(Drops):
    def forward(self, x):
        return F.dropout(x * self.w, self.p) + x


class DropsUnscaled(Drops):
    def forward(self, x):
        return x * self.w * (torch.rand(x.shape) >= self.p if self.training else 1.0) + x


class DropsRows(Drops):
    def forward(self, x):
        return x * self.w * F.dropout(torch.ones(2, 1), self.p, self.training) + x


class DropsNothing(Drops):
    def forward(self, x):
        return x * self.w + x


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        (DropsByHand, True),
        (DropsRate, False),
        (DropsAll, False),
        (DropsAlways, False),
        (DropsUnscaled, False),
        (DropsNothing, False),
    ],
)
def test_dropout_is_seen_in_training_mode(answer, right):
    x = torch.tensor([[1.0, 2, 3, 4], [-1, 2, 0, 5]])
    asked = {"init": {"p": 0.4}, "state": {"w": torch.tensor([1.0, -2, 3, 4])}}
    cases = [
        Case((x,), **asked, train=True, draws=300),
        Case((x,), **asked),
        Case((x,), **asked | {"init": {"p": 0.0}}, train=True),
    ]
    asked = question("Drops", Drops, cases)
    assert judged(asked, Drops).right
    verdict = judged(asked, answer)
    assert verdict.right == right, verdict


def test_tools_that_a_question_rules_out_or_asks_for():
    def by_hand(x):
        return (x - x.mean(-1, keepdim=True)) / (
            x.var(-1, unbiased=False, keepdim=True) + 1e-5
        ).sqrt()

    asked = question(
        "norm",
        by_hand,
        [Case((torch.arange(12.0).view(3, 4) ** 2,))],
        forbidden=("F.layer_norm", "torch.layer_norm"),
    )
    assert judged(asked, by_hand).right
    for cheat in (
        nn.LayerNorm(4),
        lambda x: F.layer_norm(x, (4,)),
        lambda x: torch.layer_norm(x, (4,)),
    ):
        assert judged(asked, cheat).kind == "forbidden"
    assert "F.layer_norm, which this question rules out" in judged(asked, nn.LayerNorm(4)).message
    conv = lambda x: F.conv1d(x[None, None], torch.ones(1, 1, 2))[0, 0]  # noqa: E731
    asked = question("sums", conv, [Case((torch.arange(5.0),))], required=("F.conv1d", "F.conv2d"))
    assert judged(asked, lambda x: nn.Conv1d(1, 1, 2)(x[None, None])[0, 0]).kind == "values"
    assert judged(asked, lambda x: F.conv1d(x[None], torch.ones(1, 1, 2))[0]).right
    assert "never calls F.conv1d or F.conv2d" in judged(asked, lambda x: x[1:] + x[:-1]).message


def test_a_class_is_called_in_evaluation_mode():
    assert judged(SCALE, DropsOut).right


# the shape checks draw random numbers too
def test_randomness_repeats_and_the_students_own_is_left_alone(shapes_unchecked):
    noise = question("noise", lambda x: torch.randn(3) + random.random())
    torch.manual_seed(5)
    random.seed(5)
    before = torch.get_rng_state(), random.getstate()
    assert judged(noise, lambda x: random.random() + torch.randn(3)).right
    assert torch.equal(before[0], torch.get_rng_state())
    assert before[1] == random.getstate()


@pytest.fixture
def restored():
    yield
    torch.set_default_dtype(torch.float32)


class Layer(nn.Module):
    """A layer whose parameters have the default dtype."""

    def __init__(self, n):
        super().__init__()
        self.layer = nn.Linear(n, 2)

    def forward(self, x):
        return self.layer(x)


def test_another_default_dtype_makes_no_right_answer_wrong(restored):
    state = {"layer.weight": torch.ones(2, 3), "layer.bias": torch.ones(2)}
    case = Case((torch.ones(4, 3),), init={"n": 3}, state=state)
    key = AnswerKey(question("layer", Layer, [case]), seed=0)
    torch.set_default_dtype(torch.float64)  # as a cell of a notebook does
    assert key.verdict([run(Layer, case) for case in key.cases]).right
    assert torch.get_default_dtype() is torch.float64


def test_inputs_are_drawn_with_the_usual_dtype(restored):
    torch.set_default_dtype(torch.float64)
    asked = replace(question("drawn", double), cases=_drawn)
    assert AnswerKey(asked, seed=0).cases[0].args[0].dtype is torch.float32


def _drawn(generator):
    return [Case((torch.randn(3, generator=generator),))]


def test_an_answer_that_sets_the_default_dtype_leaves_it_as_it_was(restored):
    def sets(x):
        torch.set_default_dtype(torch.float64)
        return 2 * x

    assert judged(question("sets", double), sets).right
    assert torch.get_default_dtype() is torch.float32


def test_inputs_are_copies():
    key = question("seen", lambda x: x)
    verdict = judged(key, in_place)
    assert verdict.kind == "changed"
    assert judged(key, lambda x: x).right


def test_unknown_names_list_the_known_ones():
    assert "hw1" in names()
    with pytest.raises(KeyError, match=r"there is hw1"):
        check("hw99.softmax", double)
    with pytest.raises(
        KeyError,
        match=r"hw1 has no question 'hw1.nothing'; it has hw1.scaled_dot_product_attention",
    ):
        find("hw1.nothing")
    with pytest.raises(KeyError):
        find("os.path")


def test_a_notebook_shows_the_message_and_no_traceback(capsys):
    shell = InteractiveShell()
    shell.push({"check": check, "DOUBLE": DOUBLE})
    shell.run_cell("check(DOUBLE, lambda x: x * x)")
    shown = capsys.readouterr().out
    named, on, differs, by_hand = shown.splitlines()
    assert (named, on) == (
        "✗ toy.double: You made the mistake squares.",
        "  on: a vector of 3 numbers",
    )
    assert differs.startswith("  The result differs in ") and ", expected " in differs
    assert by_hand.endswith('bad = example("toy.double")')
