"""`check` names the mistake, in the student's own process."""

import bdb
import copy

import pytest
import torch
import torch.nn.functional as F
from IPython.core.interactiveshell import InteractiveShell
from torch import nn

from lectures_lib.homework import WrongAnswer, check, find, names, question_key
from lectures_lib.homework.diagnosis import AnswerKey
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
    monkeypatch.setattr(
        question_key, "AnswerKey", lambda *args: made.append(args) or AnswerKey(*args)
    )
    for _ in range(2):
        check("hw1.causal_mask", find("hw1.causal_mask").reference)
    assert len(made) == 1


def unfinished(x):
    raise NotImplementedError("your answer here")


def stumbles(x):
    return x.no_such_method()


def forgets(x):
    x * 2


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


def in_front(x):
    x.insert(0, 1)
    return x


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


@pytest.mark.parametrize(
    ("answer", "kind", "mistake", "words"),
    [
        (lambda x: x.mul_(3), "values", "", "differs in 3 of 3 values"),
        (lambda x: x.mul_(x), "misconception", "squares", "You made the mistake squares."),
        (lambda x: x.mul_(2)[None], "shape", "", "expected (3,)"),
        (lambda x: print(x.mul_(2)), "type", "nothing_returned", "without `return`"),
    ],
)
def test_what_else_is_wrong_is_told_of_a_changed_input(answer, kind, mistake, words):
    verdict = judged(DOUBLE, answer)
    assert (verdict.kind, verdict.mistake) == (kind, mistake)
    assert words in verdict.message
    assert verdict.message.endswith(" It also changes its input (x) in place.")


def test_wrong_values_on_a_later_input_are_told_of_a_changed_input():
    cases = [Case((torch.ones(2),), shows="ones"), Case((torch.arange(3.0),), shows="others")]
    asked = question("new", lambda x: 2 * x, cases, (("one_more", lambda x: x + 1),))
    verdict = judged(asked, lambda x: x.add_(1))
    assert (verdict.mistake, verdict.on) == ("one_more", "others")
    assert judged(asked, lambda x: x.mul_(2)).mistake == "input_changed"


def test_a_mistake_that_changes_its_input_has_its_own_words():
    asked = question("new", lambda x: [*x, 1], [Case(([1, 2],))], (("longer", in_front),))
    assert judged(asked, in_front).message == "You made the mistake longer."
    assert judged(asked, lambda x: [1, *x]).mistake == ""


def test_what_one_call_changes_no_later_call_finds():
    shared = torch.arange(3)
    asked = question("new", lambda x: 2 * x, [Case((shared,), again=((shared,),))])
    assert judged(asked, lambda x: x.mul_(2)).mistake == "input_changed"


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


def test_a_mistake_that_is_only_a_forbidden_function_is_named():
    called = question(
        "double",
        double,
        mistakes=(("adds_by_name", lambda x: torch.add(x, x)),),
        forbidden=("torch.add",),
    )
    assert judged(called, lambda x: torch.add(x, x)).mistake == "adds_by_name"


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


def test_inputs_are_copies():
    key = question("seen", lambda x: x)
    assert "also changes its input" in judged(key, in_place).message
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
