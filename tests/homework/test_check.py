"""`check` names the mistake, in the student's own process."""

import random

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from torch import nn

from lectures_lib.homework import WrongAnswer, check, find, names
from lectures_lib.homework.questions import Case
from tests.homework.toy import DOUBLE, SCALE, Scale, double, judged, question


def test_right_is_said_in_one_line(capsys):
    check(DOUBLE, lambda x: x + x)
    check(SCALE, Scale)
    assert capsys.readouterr().out == "✓ toy.double: right (2 points)\n✓ toy.Scale: right (1 point)\n"


def unfinished(x):
    raise NotImplementedError("your answer here")


def stumbles(x):
    return x.no_such_method()


def forgets(x):
    x * 2


def in_place(x):
    x *= 2
    return x


def exits(x):
    raise SystemExit


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (unfinished, "unfinished", "Not answered yet"),
        (stumbles, "raised", "`return x.no_such_method()`: 'Tensor' object"),
        (forgets, "type", "`return` missing"),
        (in_place, "changed", "argument 1"),
        (exits, "raised", "SystemExit"),
        (lambda x: 2 * x[None], "shape", "expected (3,)"),
        (lambda x: 2 * x.double(), "dtype", "float64"),
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


def test_not_the_function_but_its_result():
    with pytest.raises(WrongAnswer, match="without calling it"):
        check(DOUBLE, double(torch.ones(2)))


def test_a_mistake_in_one_case_only_is_found():
    verdict = judged(DOUBLE, lambda x: 2 * x if len(x) == 3 else x)
    assert verdict.on == "a vector of 5 numbers"


def test_mistakes_of_shape_and_by_exception_are_named_too():
    mistakes = (("flat", lambda x: x.flatten()), ("wrong_axis", lambda x: x.sum(dim=7)), ("nothing", lambda x: None))
    rows = question("rows", lambda x: x, [Case((torch.ones(2, 3),)), Case((torch.ones(3, 4),))], mistakes)
    assert judged(rows, lambda x: x.reshape(-1)).mistake == "flat"
    assert judged(rows, lambda x: torch.sum(x, 7)).mistake == "wrong_axis"
    assert judged(rows, lambda x: x.sum(dim=7, keepdim=True)).mistake == "wrong_axis"
    assert judged(rows, lambda x: x[7]).mistake == ""
    assert judged(rows, lambda x: None).mistake == "nothing"


def test_a_mistake_that_does_not_show_is_not_named():
    harmless = question("harmless", double, mistakes=(("none", lambda x: x + x),))
    assert judged(harmless, lambda x: 2 * x).right
    assert judged(harmless, lambda x: 3 * x).kind == "values"
    nearly = question("nearly", lambda x: 1.0, mistakes=(("rounded", lambda x: 1.00005),))
    assert judged(nearly, lambda x: 1.00012).kind == "values"


def test_a_share_of_predictions_is_enough_and_mistakes_need_as_many():
    def predictions(n_right, other):
        return lambda x: [i if i < n_right else other for i in range(10)]

    trained = question("trained", predictions(10, 0), mistakes=(("constant", lambda x: [-1] * 10),), share=0.8, below="Look at the loss.")
    assert judged(trained, predictions(8, -1)).right
    assert judged(trained, predictions(2, -1)).mistake == "constant"
    verdict = judged(trained, predictions(7, -1))
    assert (verdict.kind, verdict.mistake) == ("values", "")
    assert verdict.message == "7 of 10 predictions are right; at least 8 are needed. Look at the loss."
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
        (Adds, "differs in 3 of 3 values"),
        (Scale(3), "a class is asked for, and this is a Scale"),
    ],
)
def test_a_class_is_built_and_given_parameters(answer, words):
    assert words in judged(SCALE, answer).message


def test_a_class_is_called_in_evaluation_mode():
    assert judged(SCALE, DropsOut).right


def test_randomness_repeats_and_the_students_own_is_left_alone(shapes_unchecked):  # the shape checks draw random numbers too
    noise = question("noise", lambda x: torch.randn(3) + random.random())
    torch.manual_seed(5)
    random.seed(5)
    before = torch.get_rng_state(), random.getstate()
    assert judged(noise, lambda x: random.random() + torch.randn(3)).right
    assert torch.equal(before[0], torch.get_rng_state())
    assert before[1] == random.getstate()


def test_inputs_are_copies():
    key = question("seen", lambda x: x)
    verdict = judged(key, in_place)
    assert verdict.kind == "changed"
    assert judged(key, lambda x: x).right


def test_unknown_names_list_the_known_ones():
    assert "hw1" in names()
    with pytest.raises(KeyError, match=r"there is hw1"):
        check("hw99.softmax", double)
    with pytest.raises(KeyError, match=r"hw1 has no question 'hw1.nothing'; it has hw1.scaled_dot_product_attention"):
        find("hw1.nothing")
    with pytest.raises(KeyError):
        find("os.path")


def test_a_notebook_shows_the_message_and_no_traceback(capsys):
    shell = InteractiveShell()
    shell.push({"check": check, "DOUBLE": DOUBLE})
    shell.run_cell("check(DOUBLE, lambda x: x * x)")
    shown = capsys.readouterr().out
    named, on, differs = shown.splitlines()
    assert (named, on) == ("✗ toy.double: You made the mistake squares.", "  on: a vector of 3 numbers")
    assert differs.startswith("  The result differs in ") and ", expected " in differs
