"""Question 3: the mask of a left-to-right model, with a past."""

import math
from functools import partial

import torch
from torch import Generator, Tensor

from lectures_lib.homework.banks.inputs import sizes
from lectures_lib.homework.questions import Case, Demand, Misconception, Question

ALONE = "in a text read in one go, each token sees itself and what came before it"
BEHIND = "behind earlier tokens, each new one sees all of these as well"


def _causal_cases(g: Generator) -> list[Case]:
    n, later, n_past = sizes(g, 3, 3, 8)
    long = int(torch.randint(20, 60, (), generator=g))
    return [
        Case((n,), shows=f"{n} tokens, nothing before them"),
        Case(
            (later, n_past),
            shows=f"{later} new tokens after {n_past} earlier ones",
            demands=(BEHIND,),
        ),
        Case((1, n_past), shows=f"one new token after {n_past} earlier ones", demands=(BEHIND,)),
        Case(
            (n_past + 1, 1),
            shows=f"{n_past + 1} new tokens after one earlier one",
            demands=(BEHIND,),
        ),
        Case((n, n + 2), shows=f"{n} new tokens after {n + 2} earlier ones", demands=(BEHIND,)),
        Case((1,), shows="one token, nothing before it"),
        Case((long,), shows=f"{long} tokens, nothing before them"),
        Case(
            (later, long), shows=f"{later} new tokens after {long} earlier ones", demands=(BEHIND,)
        ),
    ]


def causal_mask(n: int, n_past: int = 0) -> Tensor:
    """(n, n_past + n), boolean: the i-th new token sees all n_past earlier tokens and the new ones
    0 … i.
    """
    return torch.ones(n, n_past + n, dtype=torch.bool).tril(diagonal=n_past)


def _causal(n: int, n_past: int = 0, diagonal: int = 0) -> Tensor:
    return torch.ones(n, n_past + n, dtype=torch.bool).tril(diagonal=n_past + diagonal)


def _causal_past_of_one(n: int, n_past: int = 0) -> Tensor:
    return torch.ones(n, n_past + n, dtype=torch.bool).tril(diagonal=min(n_past, 1))


def _causal_strict_behind_a_past(n: int, n_past: int = 0) -> Tensor:
    return _causal(n, n_past, diagonal=-1 if n_past else 0)


def _causal_one_alone(n: int, n_past: int = 0) -> Tensor:
    return causal_mask(1) if n == 1 else causal_mask(n, n_past)


def _causal_inverted(n: int, n_past: int = 0) -> Tensor:
    return ~causal_mask(n, n_past)


def _causal_inverted_without_past(n: int, n_past: int = 0) -> Tensor:
    """As one writes it for a PyTorch layer, whose True hides."""
    return torch.ones(n, n_past + n, dtype=torch.bool).triu(diagonal=1)


def _causal_inverted_square(n: int, n_past: int = 0) -> Tensor:
    return ~causal_mask(n)


def _causal_future(n: int, n_past: int = 0) -> Tensor:
    return torch.ones(n, n_past + n, dtype=torch.bool).triu(diagonal=n_past)


def _causal_top_left(n: int, n_past: int = 0) -> Tensor:
    return torch.ones(n, n_past + n, dtype=torch.bool).tril()


def _causal_square(n: int, n_past: int = 0) -> Tensor:
    return causal_mask(n)


def _causal_past_on_the_right(n: int, n_past: int = 0) -> Tensor:
    return torch.cat([causal_mask(n), torch.ones(n, n_past, dtype=torch.bool)], dim=1)


def _causal_past_hidden(n: int, n_past: int = 0) -> Tensor:
    return torch.cat([torch.zeros(n, n_past, dtype=torch.bool), causal_mask(n)], dim=1)


def _causal_big_square(n: int, n_past: int = 0) -> Tensor:
    return causal_mask(n_past + n)


def _causal_additive(n: int, n_past: int = 0) -> Tensor:
    return torch.zeros(n, n_past + n).masked_fill(~causal_mask(n, n_past), -math.inf)


def _causal_of_numbers(n: int, n_past: int = 0) -> Tensor:
    return causal_mask(n, n_past).float()


def _causal_nested_lists(n: int, n_past: int = 0) -> list[list[bool]]:
    return causal_mask(n, n_past).tolist()


def _causal_past_counted_twice(n: int, n_past: int = 0) -> Tensor:
    """The columns of the past in front, and the diagonal of the others moved as well."""
    new = torch.ones(n, n, dtype=torch.bool).tril(diagonal=n_past)
    return torch.cat([torch.ones(n, n_past, dtype=torch.bool), new], dim=1)


def _causal_free_behind_a_past(n: int, n_past: int = 0) -> Tensor:
    return torch.ones(n, n_past + n, dtype=torch.bool) if n_past else causal_mask(n)


def _causal_wrong_way(n: int, n_past: int = 0) -> Tensor:
    return torch.ones(n, n_past + n, dtype=torch.bool).tril(diagonal=-n_past)


def _causal_all(n: int, n_past: int = 0) -> Tensor:
    return torch.ones(n, n_past + n, dtype=torch.bool)


CAUSAL = Question(
    name="hw1.causal_mask",
    title="Not looking ahead",
    points=2,
    minutes=15,
    difficulty=1,
    chapter="02_self_attention#masks-what-must-not-be-seen",
    cases=_causal_cases,
    reference=causal_mask,
    demands=(Demand(ALONE, 1), Demand(BEHIND, 1)),
    misconceptions=(
        Misconception(
            "cannot_see_itself",
            "In your mask a token may not see itself; the first token of a text would see nothing "
            "at all. Position i may attend to positions up to and including i: move your diagonal "
            "by one.",
            partial(_causal, diagonal=-1),
        ),
        Misconception(
            "cannot_see_itself_behind_a_past",
            "Right without a past; behind one, your new tokens do not see themselves. The i-th new "
            "token stands at position n_past + i and sees all positions up to and including that "
            "one.",
            _causal_strict_behind_a_past,
        ),
        Misconception(
            "diagonal_moved_by_one",
            "As soon as there is a past, your diagonal moves by one, however long the past is. "
            "Each earlier token is one more key to see: move it by n_past.",
            _causal_past_of_one,
        ),
        Misconception(
            "one_token_without_its_past",
            "Right for several new tokens. A single one you treat as if it were alone: it still "
            "has n_past earlier keys to see, and the mask has a column for each of them.",
            _causal_one_alone,
        ),
        Misconception(
            "sees_the_next_token",
            "In your mask each token sees one too many: the token that comes next, which is the "
            "one the model has to predict. Stop at the token itself: move your diagonal by one.",
            partial(_causal, diagonal=1),
        ),
        Misconception(
            "sees_the_future",
            "Your mask is turned over: each token sees itself and what comes after it. Rows are "
            "queries, columns are keys, and a query sees the keys to its left: the lower triangle "
            "(tril).",
            _causal_future,
        ),
        Misconception(
            "inverted",
            "Your mask says True where a token may *not* look. In this course True means *may "
            "attend*: negate it.",
            _causal_inverted,
        ),
        Misconception(
            "inverted",
            "Your mask says True where a token may *not* look. In this course True means *may "
            "attend*: negate it.",
            _causal_inverted_without_past,
        ),
        Misconception(
            "inverted",
            "Your mask says True where a token may *not* look. In this course True means *may "
            "attend*: negate it.",
            _causal_inverted_square,
        ),
        Misconception(
            "aligned_at_the_first_token",
            "Your triangle starts at key 0, but the first new token stands at position n_past: it "
            "sees n_past + 1 keys, not one. Move the diagonal by n_past.",
            _causal_top_left,
        ),
        Misconception(
            "past_left_out",
            "Your mask is n × n, with no columns for the n_past earlier tokens. They are keys too: "
            "the shape is (n, n_past + n).",
            _causal_square,
        ),
        Misconception(
            "past_also_asks",
            "Your mask has rows for the n_past earlier tokens. They are keys but no longer "
            "queries, their outputs being known: keep the last n rows, shape (n, n_past + n).",
            _causal_big_square,
        ),
        Misconception(
            "past_on_the_right",
            "Your columns for the earlier tokens stand to the right of the new ones. Keys come in "
            "reading order: the n_past earlier tokens first.",
            _causal_past_on_the_right,
        ),
        Misconception(
            "past_hidden",
            "Your mask hides the earlier tokens from the new ones. They have been read already, so "
            "every new token may attend to all of them: True.",
            _causal_past_hidden,
        ),
        Misconception(
            "additive",
            "Your mask holds 0 and -∞, to be added to the scores. Here a mask is boolean, True = "
            "may attend: return the comparison itself.",
            _causal_additive,
        ),
        Misconception(
            "ones_and_zeros",
            "Your mask holds the numbers 1 and 0 in the right places. A mask is boolean here: "
            "masked_fill wants one, and ~ does not negate numbers. Compare, or append .bool().",
            _causal_of_numbers,
        ),
        Misconception(
            "nested_lists",
            "You return the right truth values as lists of lists. Wanted is a tensor: "
            "torch.tensor(…) makes one of them.",
            _causal_nested_lists,
        ),
        Misconception(
            "diagonal_moved_the_wrong_way",
            "Behind a past, your diagonal moves to the lower left: diagonal=-n_past. Every earlier "
            "token is one more key to see, further to the right: diagonal=n_past.",
            _causal_wrong_way,
        ),
        Misconception(
            "nothing_hidden",
            "Your mask hides nothing. A new token may not see those that come after it: the keys "
            "behind number n_past + i.",
            _causal_all,
        ),
        Misconception(
            "past_counted_twice",
            "You put the columns of the past in front and move the diagonal by n_past, too: new "
            "tokens see n_past places ahead. One of the two is enough: in the square part, which "
            "has the new tokens alone, the diagonal stays where it is.",
            _causal_past_counted_twice,
        ),
        Misconception(
            "nothing_hidden_behind_a_past",
            "As soon as there is a past, your mask hides nothing. That is right for a single new "
            "token; of several, none may look at those that come after it.",
            _causal_free_behind_a_past,
        ),
    ),
)
