"""What differs between two values, told in words; nothing but exact plain types passes."""

import math
from collections import Counter

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lectures_lib.homework.compare.gradients import gradients_differ
from lectures_lib.homework.compare.predictions import too_few
from lectures_lib.homework.compare.values import Difference, difference
from lectures_lib.homework.inside.values import Foreign, plain

nan, inf = math.nan, math.inf


@pytest.mark.parametrize(
    "value",
    [
        torch.randn(2, 3),
        torch.tensor([nan, inf, -inf]),
        torch.tensor([True, False]),
        torch.zeros(0, 4),
        torch.tensor(3),
        1.5,
        nan,
        pytest.param(10**400, id="huge"),
        "text",
        None,
        True,
        [1, (2.0, "three")],
        {"a": torch.ones(2), 1: []},
    ],
)
def test_equal_values_do_not_differ(value):
    assert difference(plain(value), value) is None


def test_close_is_enough_for_numbers_but_not_for_booleans():
    assert difference(torch.tensor([1.00001]), torch.tensor([1.0])) is None
    assert difference(0.30000001, 0.3) is None
    assert difference(1.00005, 1.0) is None
    assert difference(1.00012, 1.0) is not None
    assert difference(1.0, inf) is not None
    assert difference((1, 2), [1, 2]) is None


@pytest.mark.parametrize(
    ("yours", "expected"),
    [
        (torch.ones(2).double(), torch.ones(2)),
        (torch.ones(2), torch.ones(2).double()),
        (torch.tensor([1, 2], dtype=torch.int32), torch.tensor([1, 2])),
        (torch.tensor([1, 0]), torch.tensor([1.0, 0.0])),
        (torch.tensor(3), 3),
        (torch.tensor(0.25), 0.25),
        (torch.tensor(True), True),
        (numpy.float64(0.25), 0.25),
        (numpy.float32(0.25), 0.25),
        (numpy.int32(3), 3),
        (numpy.bool_(True), True),
        (True, 1),
        (False, 0.0),
        (numpy.bool_(True), 1),
        (torch.tensor(True), 1),
        ([("a", "b", True), ("b", "a", False)], [("a", "b", 1), ("b", "a", 0)]),
        (torch.tensor([True, False]), torch.tensor([1, 0])),
        (torch.tensor([True, False]), torch.tensor([1.0, 0.0])),
        ({numpy.int64(1): numpy.int64(2)}, {1: 2}),
        ([numpy.int64(1), torch.tensor(2)], (1, 2)),
    ],
)
def test_right_values_count_whatever_carries_them(yours, expected):
    assert difference(plain(yours), expected) is None


def test_a_number_in_another_form_is_still_compared():
    assert difference(torch.tensor(0.5), 0.25).message == "The result is 0.5; expected 0.25."
    assert difference(False, 1).message == "The result is False; expected 1."
    assert difference([1, True], [1, 0]).kind == "values"
    assert difference(torch.tensor([True, True]), torch.tensor([1, 0])).kind == "values"
    assert difference(plain(numpy.float64(math.nan)), 1.0).kind == "nan"


@pytest.mark.parametrize(
    ("yours", "expected"),
    [
        (1, True),
        (0.0, False),
        (numpy.int64(1), True),
        (torch.tensor(1), True),
        ([1, 0], [True, False]),
        (torch.tensor([1, 0]), torch.tensor([True, False])),
        (torch.tensor([1.0, 0.0]), torch.tensor([True, False])),
        (torch.tensor([1, 0], dtype=torch.uint8), torch.tensor([True, False])),
    ],
)
def test_numbers_are_no_mask(yours, expected):
    """Right values, and `~mask` or `masked_fill` would not do with them what is meant."""
    assert difference(plain(yours), expected).kind in ("type", "dtype")


@pytest.mark.parametrize(
    ("yours", "expected", "kind", "words"),
    [
        (None, torch.ones(2), "type", "A function without `return` gives None."),
        (torch.tensor([2.0]), 2.0, "type", ".item()"),
        (plain(numpy.ones(2)), torch.ones(2), "type", "is a numpy ndarray; expected a tensor"),
        (plain(i for i in [1]), [1], "type", "is a generator; expected a list of 1. A function"),
        (Foreign("a coroutine"), torch.ones(3), "type", "write `def`."),
        (plain(map(str, [1])), ["1"], "type", "`list(…)` makes a list"),
        (plain(numpy.linalg), [1], "type", "is a module; expected"),
        (1.0, torch.tensor(1.0), "type", "Leave out the `.item()`"),
        (1.0, torch.ones(2), "type", "expected a tensor of shape (2,)."),
        (torch.ones(2), [1.0, 1.0], "type", "`.tolist()` makes a list of it"),
        (
            torch.ones(2),
            (1, 1),
            "type",
            "a tuple of 2. `tuple(t.tolist())` makes one of a tensor t.",
        ),
        (torch.ones(2), [torch.zeros(2)], "type", "expected a list of 1."),
        (
            torch.ones(2),
            (torch.zeros(2), torch.ones(2)),
            "type",
            "expected a tuple of 2. It is element 1 of these.",
        ),
        (
            (torch.ones(2), torch.zeros(2, 2)),
            torch.ones(2),
            "type",
            "is a tuple of 2; expected a tensor of shape (2,). Element 0 of it is right: return",
        ),
        ([torch.zeros(2)], torch.ones(2), "type", "a list of 1; expected a tensor of shape (2,)."),
        (torch.ones(3, 2), torch.ones(2, 3), "shape", "the same sizes in another order"),
        (torch.ones(3, 3), torch.ones(2, 3), "shape", "has shape (3, 3); expected (2, 3)."),
        (torch.ones(2), torch.ones(2).long(), "dtype", "float32; expected int64"),
        (torch.ones(2).long(), torch.ones(2).bool(), "dtype", "int64; expected bool"),
        (torch.tensor([1.0, nan]), torch.ones(2), "nan", "NaN in 1 of 2 places, first at [1]"),
        (torch.tensor([1.0, inf]), torch.ones(2), "nan", "infinite in 1 of 2"),
        (
            torch.tensor([1.0, 3.0]),
            torch.ones(2),
            "values",
            "1 of 2 values, by up to 2: [1] is 3, expected 1.",
        ),
        (
            torch.tensor([[1.0, 3.0], [2.0, 4.0]]),
            torch.tensor([[1.0, 2.0], [3.0, 4.0]]),
            "values",
            "the transpose",
        ),
        (inf, 1.0, "nan", "inf"),
        pytest.param(10**400, 1.0, "values", "a very large integer", id="huge"),
        ("a", "b", "values", "'a'; expected 'b'"),
        ([1], [1, 2], "length", "1 elements; expected 2"),
        ([1, [2, 4]], [1, [2, 3]], "values", "`result[1]` is [2, 4]; expected [2, 3]."),
        (
            [[(0, 1), (1, 2)]],
            ([(0, 1), (0, 2)],),
            "values",
            "`result[0][1]` is (1, 2); expected (0, 2).",
        ),
        ([1, [*range(9), 0]], [1, [*range(9), 9]], "values", "`result[1][9]` is 0; expected 9"),
        (
            [1, 0, [1, 2, 3]],
            [1, 0, [1]],
            "length",
            "`result[2]` has 3 elements; expected 1: [1, 2, 3] instead of [1].",
        ),
        ([1, 2, 4], [1, 2, 3], "values", "The result is [1, 2, 4]; expected [1, 2, 3]."),
        (torch.tensor(inf), torch.tensor(1.0), "nan", "The result is infinite."),
        ({"a": 1}, {"b": 1}, "length", "lacks the key 'b' and has the key 'a'"),
        ({"a": 1}, {"a": 2}, "values", "`result['a']` is 1; expected 2."),
        ([1], {"a": 2}, "type", "a list of 1; expected a dictionary of 1"),
    ],
)
def test_a_difference_is_named(yours, expected, kind, words):
    found = difference(yours, expected)
    assert found.kind == kind
    assert words in found.message


@pytest.mark.parametrize("kind", [list, torch.tensor])
def test_a_share_of_predictions_is_enough(kind):
    expected = kind(list(range(10)))
    for n_wrong, enough in ((0, True), (2, True), (3, False), (10, False)):
        yours = kind([-1] * n_wrong + list(range(n_wrong, 10)))
        found = too_few(yours, expected, share=0.75)  # 7.5 of 10: eight
        assert (found is None) == enough
        if found:
            assert found == Difference(
                "values", f"{10 - n_wrong} of 10 predictions are right; at least 8 are needed."
            )


def test_predictions_must_be_of_the_right_kind_and_number():
    expected = [3, 1, 2, 1]
    assert too_few([3, 1, 2], expected, share=0.5).kind == "length"
    assert too_few("3121", expected, share=0.5).kind == "type"
    assert too_few([torch.tensor([3]), 1, 2, 1], expected, share=0.5).kind == "type"
    assert too_few([torch.tensor(3), 1, 0, 0], expected, share=0.5) is None
    assert too_few(torch.tensor([3.0, 1, 2, 1]), torch.tensor(expected), share=0.5).kind == "dtype"
    assert too_few([4, "1", None, 1], expected, share=0.5).message.startswith("1 of 4")


def test_a_message_does_not_give_the_answer_away():
    found = difference(torch.zeros(100), torch.arange(100.0))
    assert found.message.count("expected") == 3


class Liar(torch.Tensor):
    """Equal to everything, whatever is asked."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return True

    def __eq__(self, other):
        return True

    __hash__ = None


class LyingNumber(float):
    def __eq__(self, other):
        return True

    __hash__ = None


@pytest.mark.parametrize(
    "liar", [torch.ones(2).as_subclass(Liar), LyingNumber(1.0), [LyingNumber(1.0)]]
)
def test_hostile_types_of_the_students_own_are_never_asked(liar):
    value = plain(liar)
    assert isinstance(value if not isinstance(value, list) else value[0], Foreign)
    assert difference(value, torch.ones(2)) is not None
    assert difference(value, [1.0]) is not None


def test_parameters_named_tuples_and_sparse_tensors():
    assert plain(Counter("aab")) == {"a": 2, "b": 1}
    assert type(plain(torch.nn.Parameter(torch.ones(2)))) is torch.Tensor
    assert (
        difference(
            plain(torch.ones(2, 3).max(dim=0)), (torch.ones(3), torch.zeros(3, dtype=torch.int64))
        )
        is None
    )
    assert isinstance(plain(torch.eye(2).to_sparse()), Foreign)
    assert isinstance(plain(torch.ones(1).expand(10**9)), Foreign)


def test_hostile_nesting_ends(shapes_unchecked):
    endless = []
    endless += [endless, endless]
    plain(endless)


_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.just(torch.ones(2))
    | st.just(torch.eye(2).bool()),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        | st.tuples(inner, inner)
    ),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(_values, _values)
def test_any_two_values_compare(one, other):
    assert difference(one, one) is None
    found = difference(one, other)
    assert found is None or found.message


TABLE = torch.arange(1.0, 13).view(4, 3)


@pytest.mark.parametrize(
    ("name", "rows", "said"),
    [
        ("tokens.weight", [0], "row 0 of tokens.weight flows back from it: training would not "),
        ("tokens.weight", [0], "there. An nn.Embedding with padding_idx does this to a row."),
        ("words", [0, 2], "no gradient to rows 0, 2 of words flows back"),
    ],
)
def test_a_row_that_no_gradient_reaches_is_told(name, rows, said):
    cut = TABLE.clone()
    cut[rows] = 0
    found = gradients_differ({name: cut}, {name: TABLE})
    assert said in found.message and found.mistake == "no_gradient"
    assert ("padding_idx" in found.message) == (name == "tokens.weight")
    assert gradients_differ({name: cut}, {name: TABLE}, values=False) is None
    cut[rows] = 1e-3  # something arrives
    found = gradients_differ({name: cut}, {name: TABLE})
    assert f"from it to {name} is not" in found.message and not found.mistake


def test_rows_are_told_only_where_nothing_else_is_wrong():
    cut = TABLE * torch.tensor([[0.0], [1], [1], [1]])
    found = gradients_differ({"a": cut, "b": 2 * TABLE}, {"a": TABLE, "b": TABLE})
    assert "from it to a, b is not" in found.message and not found.mistake


ONE, TINY = torch.ones(2, 2), torch.full((2, 2), 1e-9)


@pytest.mark.parametrize(
    ("yours", "expected", "said"),
    [
        (0 * ONE, TINY, None),  # what another kernel leaves of a 0, in the reference
        (TINY, 0 * ONE, None),  # and in an answer
        (0 * ONE, 1e-3 * ONE, "no gradient to W_Q"),
        (1e-3 * ONE, 0 * ONE, "gradient that flows back from it to W_Q"),
        (torch.nan * ONE, TINY, "to W_Q"),
    ],
)
@pytest.mark.parametrize("values", [True, False])
def test_what_a_kernel_leaves_of_a_zero_is_no_gradient(yours, expected, said, values):
    """With one word to look at, the shares are 1 whatever the scores: queries get no gradient. One
    kernel says 0, another 1e-9.
    """
    found = gradients_differ({"W_V": ONE, "W_Q": yours}, {"W_V": ONE, "W_Q": expected}, values)
    assert (found is None) if said is None else (said in found.message)
