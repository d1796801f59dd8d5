"""Question 8: what shuffling the words changes, with and without positions."""

from functools import partial

import torch
from torch import Generator, Tensor

from lectures_lib.blocks.positions import sinusoidal_positions as published_positions
from lectures_lib.homework.banks.hw1.attention import READY_MADE
from lectures_lib.homework.banks.inputs import normal, sizes
from lectures_lib.homework.questions import Case, Misconception, Question


def _order_cases(g: Generator) -> list[Case]:
    cases = []
    for kind in ("no positions", "sinusoidal positions", "learned positions"):
        n, d = sizes(g, 2, 4, 8)
        X, permutation = normal(g, n, d), _restless_permutation(g, n)
        positions = {
            "no positions": None,
            "sinusoidal positions": published_positions(n, d),
            "learned positions": normal(g, n, d),
        }[kind]
        args = (X, permutation) if positions is None else (X, permutation, positions)
        cases.append(
            Case(
                args, shows=f"{n} words of {d} numbers, shuffled to {permutation.tolist()}, {kind}"
            )
        )
    X, permutation = normal(g, n, 1), _restless_permutation(g, n)
    cases.append(
        Case(
            (X, permutation, normal(g, n, 1)),
            shows=(
                f"{n} words of a single number, shuffled to {permutation.tolist()}, with positions"
            ),
        )
    )
    return cases


def _restless_permutation(g: Generator, n: int) -> Tensor:
    """A permutation in which nobody keeps a seat, and which done twice is not undone."""
    seats = torch.arange(n)
    while True:
        permutation = torch.randperm(n, generator=g)
        if (permutation != seats).all() and (permutation[permutation] != seats).any():
            return permutation


def _attend(X: Tensor) -> Tensor:
    return (X @ X.T / X.shape[-1] ** 0.5).softmax(dim=-1) @ X


def order_effect(X: Tensor, permutation: Tensor, positions: Tensor | None = None) -> Tensor:
    """(n, d): row i is what shuffling the sentence changes in the output of word i."""
    positions = torch.zeros_like(X) if positions is None else positions
    in_order = _attend(X + positions)
    shuffled = _attend(X[permutation] + positions)
    return shuffled[permutation.argsort()] - in_order


def _order(
    X: Tensor,
    permutation: Tensor,
    positions: Tensor | None = None,
    undo: str = "inverse",
    where: str = "seats",
) -> Tensor:
    P = torch.zeros_like(X) if positions is None else positions
    if where == "seats":
        in_order, shuffled = _attend(X + P), _attend(X[permutation] + P)
    elif where == "words":
        in_order, shuffled = _attend(X + P), _attend((X + P)[permutation])
    elif where == "in order only":
        in_order, shuffled = _attend(X + P), _attend(X[permutation])
    elif where == "shuffled only":
        in_order, shuffled = _attend(X), _attend(X[permutation] + P)
    else:
        in_order, shuffled = _attend(X) + P, _attend(X[permutation]) + P
    back = {
        "inverse": permutation.argsort(),
        "not": torch.arange(len(X)),
        "twice": permutation,
        "flipped": permutation.flip(0),
        "from the back": torch.arange(len(X)).flip(0),
    }[undo]
    return shuffled[back] - in_order


def _order_sign_flipped(X: Tensor, permutation: Tensor, positions: Tensor | None = None) -> Tensor:
    return -order_effect(X, permutation, positions)


def _order_absolute(X: Tensor, permutation: Tensor, positions: Tensor | None = None) -> Tensor:
    return order_effect(X, permutation, positions).abs()


def _order_by_seat(X: Tensor, permutation: Tensor, positions: Tensor | None = None) -> Tensor:
    return order_effect(X, permutation, positions)[permutation]


def _order_other_way(X: Tensor, permutation: Tensor, positions: Tensor | None = None) -> Tensor:
    return order_effect(X, permutation.argsort(), positions)


def _order_against_the_input(
    X: Tensor, permutation: Tensor, positions: Tensor | None = None, placed: bool = False
) -> Tensor:
    P = torch.zeros_like(X) if positions is None else positions
    return _attend(X[permutation] + P)[permutation.argsort()] - (X + P if placed else X)


_FLIPPED = (
    "You bring the outputs home with flip, from the back to the front. That undoes no shuffle but "
    "the one that turned the sentence round. The seat of word i is permutation.argsort()[i]."
)
_INPUT = (
    "You subtract the words that went in, not what attention makes of them. Compare two outputs: "
    "the shuffled sentence's, brought back in order, minus that of the sentence in order."
)


def _order_not_compared(X: Tensor, permutation: Tensor, positions: Tensor | None = None) -> Tensor:
    positions = torch.zeros_like(X) if positions is None else positions
    return _attend(X[permutation] + positions)[permutation.argsort()]


def _order_difference_sent_home(
    X: Tensor, permutation: Tensor, positions: Tensor | None = None
) -> Tensor:
    return _order(X, permutation, positions, undo="not")[permutation.argsort()]


ORDER = Question(
    name="hw1.order_effect",
    title="What order changes",
    points=2,
    minutes=20,
    difficulty=2,
    chapter="04_order#what-the-model-without-positions-knows",
    cases=_order_cases,
    reference=order_effect,
    forbidden=READY_MADE,
    misconceptions=(
        Misconception(
            "positions_move_with_the_words",
            "Your answer is 0 whatever the positions: they are left out, or shuffled along with "
            "the words. Positions belong to the seats: shuffle X, then add positions as they are.",
            partial(_order, where="words"),
        ),
        Misconception(
            "shuffle_not_undone",
            "You subtract seat by seat, so different words are compared with each other. "
            "Self-attention moves its outputs along with its inputs: bring the shuffled outputs "
            "back to the words' order first, with [permutation.argsort()].",
            partial(_order, undo="not"),
        ),
        Misconception(
            "shuffled_twice",
            "You index with permutation a second time, which shuffles again and does not undo. "
            "Seat i holds word permutation[i]; the seat of word i is permutation.argsort()[i].",
            partial(_order, undo="twice"),
        ),
        Misconception(
            "permutation_read_the_other_way",
            "You read the permutation the other way round, as the seat to which word i moves. "
            "permutation[i] is the *word* that moves to seat i: the shuffled sentence is "
            "X[permutation], and permutation.argsort() brings it back.",
            _order_other_way,
        ),
        Misconception(
            "rows_by_seat",
            "Your differences are right, but row i belongs to the word in seat i of the shuffled "
            "sentence. Wanted is word i of the original: undo the shuffle with "
            "[permutation.argsort()] on the shuffled outputs.",
            _order_by_seat,
        ),
        Misconception(
            "sign_flipped",
            "Your sign is the other way round: wanted is the shuffled output minus the original "
            "one.",
            _order_sign_flipped,
        ),
        Misconception(
            "absolute_value",
            "You return absolute values; leave the sign: the shuffled output minus the original "
            "one.",
            _order_absolute,
        ),
        Misconception(
            "positions_on_the_original_only",
            "You add positions to the sentence in order but not to the shuffled one. Both readings "
            "have the same seats: add them to both.",
            partial(_order, where="in order only"),
        ),
        Misconception(
            "positions_on_the_shuffled_only",
            "You add positions to the shuffled sentence but not to the one in order. Both readings "
            "have the same seats: add them to both.",
            partial(_order, where="shuffled only"),
        ),
        Misconception(
            "positions_do_not_reach_attention",
            "What comes out is the difference of the positions themselves: they have no influence "
            "on who attends to whom. Add them to the words, then call attend on the sum.",
            partial(_order, where="outputs"),
        ),
        Misconception("compared_with_the_input", _INPUT, _order_against_the_input),
        Misconception(
            "compared_with_the_input", _INPUT, partial(_order_against_the_input, placed=True)
        ),
        Misconception(
            "difference_sent_home",
            "You subtract seat by seat and send the differences home: by then, different words "
            "have been compared. First bring the shuffled *outputs* back, "
            "[permutation.argsort()]; then subtract.",
            _order_difference_sent_home,
        ),
        *(
            Misconception("turned_round", _FLIPPED, partial(_order, undo=undo))
            for undo in ("flipped", "from the back")
        ),
        Misconception(
            "not_compared",
            "You return what each word gets in the shuffled sentence. Asked for is what changes: "
            "subtract what it gets in the original one.",
            _order_not_compared,
        ),
    ),
)
