"""A measure gives the same number whatever holds what it measures, as a float; and says what it
cannot measure.
"""

import math

import numpy as np
import pytest
import torch

from lectures_lib.metrics import (
    accuracy,
    answer_f1,
    answer_scores,
    bio_errors,
    bleu,
    counts,
    entities,
    entity_scores,
    exact_answer,
    exact_match,
    matthews,
    pearson,
    perplexity,
    precision_recall_f1,
    spearman,
    token_accuracy,
)

HOLDERS = {
    "list": list,
    "tuple": tuple,
    "tensor": torch.tensor,
    "half": lambda x: (
        torch.tensor(x, dtype=torch.bfloat16) if isinstance(x[0], float) else torch.tensor(x)
    ),
    "grad": lambda x: (
        torch.tensor(x, requires_grad=True) if isinstance(x[0], float) else torch.tensor(x)
    ),
    "array": np.array,
    "list of tensors": lambda x: [torch.tensor(n) for n in x],
    "tuple of arrays": lambda x: tuple(np.array(n) for n in x),
    "list of numpy": lambda x: list(np.array(x)),
}
CLASSES = {
    "int": ([1, 0, 2, 1, 1, 0], [1, 0, 1, 1, 2, 0]),
    "bool": ([True, False, True, True], [True, True, False, True]),
}
CLASSES["float"] = ([1.0, 0.0, 2.0, 1.0], [1.0, 0.0, 1.0, 2.0])
MEASURES = [accuracy, matthews, pearson, spearman, exact_match, precision_recall_f1, counts]


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.__name__)
def test_whatever_holds_the_numbers(measure, kind, holder):
    predicted, right = CLASSES[kind]
    expected = measure(predicted, right)
    for first, second in (
        (HOLDERS[holder], HOLDERS[holder]),
        (list, HOLDERS[holder]),
        (HOLDERS[holder], tuple),
    ):
        found = measure(first(predicted), second(right))
        assert found == expected
        assert all(
            type(number) in (float, int)
            for number in (found if isinstance(found, tuple) else [found])
        )
        assert isinstance(found, (float, tuple))


def test_two_right_answers_are_no_correlation_of_two():
    assert matthews([torch.tensor(1), torch.tensor(0)], [torch.tensor(1), torch.tensor(0)]) == 1.0
    assert matthews(torch.tensor([1, 0, 2]), [1, 0, 1], positive=torch.tensor(1)) == matthews(
        [1, 0, 2], [1, 0, 1], positive=1
    )


@pytest.mark.parametrize(
    "hold",
    [
        list,
        tuple,
        torch.tensor,
        np.array,
        lambda x: [torch.tensor(row) for row in x],
        lambda x: [tuple(r) for r in x],
    ],
)
def test_sentences_of_tokens_in_whatever_holds_them(hold):
    a, b = [[1, 2, 3], [4, 5, 6]], [[1, 2, 3], [4, 5, 7]]
    for second in (list, hold):
        share = exact_match(hold(a), second(b))
        assert share == 0.5 and type(share) is float
    assert (
        token_accuracy(hold(a), hold(b)) == pytest.approx(5 / 6)
        and type(token_accuracy(hold(a), b)) is float
    )


def test_perplexity_takes_what_a_loss_is():
    for loss, n in (
        (torch.tensor(2.0), torch.tensor(4)),
        (np.float32(2), np.int64(4)),
        (2, 4),
        (torch.tensor([2.0]).sum(), 4),
    ):
        assert (
            perplexity(loss, n) == pytest.approx(math.exp(0.5))
            and type(perplexity(loss, n)) is float
        )
    assert perplexity(1e6, 1) == math.inf


@pytest.mark.usefixtures("shapes_unchecked")
def test_answers_and_names_in_arrays():
    assert answer_f1("Paris", ("Paris",)) == answer_f1("Paris", np.array(["Paris"])) == 1.0
    assert answer_scores(("a b",), [np.array(["b"])]) == answer_scores(["a b"], [["b"]])
    labels = ["B-x", "I-x", "O"]
    assert entities(np.array(labels)) == entities(tuple(labels)) == entities(labels)
    assert entity_scores([np.array(labels)], [tuple(labels)]) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: accuracy(torch.tensor(1), torch.tensor(1)), TypeError, "got a int"),
        (lambda: accuracy({1, 2}, [1, 2]), TypeError, "got a set"),
        (lambda: accuracy(None, [1, 2]), TypeError, "got a NoneType"),
        (lambda: accuracy(torch.zeros(2, 3), torch.zeros(2)), ValueError, r"got \[0.0, 0.0, 0.0\]"),
        (lambda: matthews(torch.zeros(3), torch.zeros(2)), ValueError, "got 3 and 2"),
        (lambda: pearson(["a", "b"], [1, 2]), TypeError, "numbers, got 'a'"),
        (lambda: exact_match(torch.zeros(2, 3), torch.zeros(3, 3)), ValueError, "got 2 and 3"),
        (
            lambda: token_accuracy(torch.ones(2, 3).long(), torch.ones(2, 1).long()),
            ValueError,
            r"\(2, 3\), targets \(2, 1\)",
        ),
        (lambda: token_accuracy([[1, 2], [3]], [[1, 2], [3]]), ValueError, "rows of one length"),
        (
            lambda: token_accuracy(torch.ones(2), torch.ones(2)),
            ValueError,
            "whole numbers; got torch.float32",
        ),
        (lambda: perplexity("many", 2), TypeError, "two numbers"),
        (lambda: perplexity(torch.ones(3), 2), TypeError, "two numbers"),
        (lambda: bleu([["a", "b"]], ["a b"]), TypeError, "hypothesis 0 must be text, got a list"),
        (lambda: bleu(["a b"], [["a b"]]), TypeError, "reference 0 must be text, got a list"),
        (
            lambda: answer_f1("Paris", "Paris"),
            ValueError,
            r"got the string 'Paris': write \['Paris'\]",
        ),
        (lambda: exact_answer("s", "Paris"), ValueError, "got the string 'Paris'"),
        (lambda: answer_f1(["Paris"], ["Paris"]), TypeError, "answer 0 must be text, got a list"),
        (
            lambda: answer_f1("Paris", [["Paris"]]),
            TypeError,
            "right answer 0 must be text, got a list",
        ),
        (
            lambda: answer_scores([None], [["Paris"]]),
            TypeError,
            "answer 0 must be text, got a NoneType",
        ),
        (lambda: entities("B-x"), ValueError, "got the string 'B-x'"),
        (lambda: bio_errors([1, 2]), TypeError, "label 0 must be text, got a int"),
        (lambda: entity_scores(["B-x"], ["B-x"]), ValueError, "got the string 'B-x'"),
    ],
)
@pytest.mark.usefixtures("shapes_unchecked")
def test_what_cannot_be_measured_is_said(call, error, message):
    with pytest.raises(error, match=message):
        call()
