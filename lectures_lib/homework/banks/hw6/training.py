"""Question 8: train a tagger on frozen features. Its predictions on words it has not seen are held
against a threshold.

No single state tells all classes apart: the first does not know 1 from 3 and 2 from 4, the last not
1 from 2 and 3 from 4; between them is noise. So it shows in the predictions which states were used.
Nothing is trained here: the answers below, right and wrong, are found by means and by linear
regression, and a trained model of the same states says nearly the same.
"""

import torch
from torch import Generator, Tensor

from lectures_lib.homework.banks.inputs import normal, whole
from lectures_lib.homework.questions import Case, Misconception, Question

UNLABELLED = -100
N_CLASSES, N_STATES, D_MODEL = 5, 5, 16
# how frequent the classes are: of each couple that a state confuses, one is much rarer
SHARES = (0.38, 0.30, 0.13, 0.13, 0.06)
N_WORDS, N_PIECES, N_ASKED = 600, 5, 120
NOISE = 0.12
FIRST_KNOWS, LAST_KNOWS = torch.tensor([0, 1, 2, 1, 2]), torch.tensor([0, 1, 1, 2, 2])


def _training_cases(g: Generator) -> list[Case]:
    n_words, n_asked = N_WORDS + whole(g, 0, 99), N_ASKED + whole(g, 0, 29)
    basis = [torch.linalg.qr(normal(g, D_MODEL, D_MODEL))[0][:3] for _ in range(2)]

    def states(kinds: Tensor) -> Tensor:
        found = NOISE * normal(g, N_STATES, len(kinds), D_MODEL)
        found[1:-1] *= 3
        found[0] += 2 * basis[0][FIRST_KNOWS[kinds]]
        found[-1] += 2 * basis[1][LAST_KNOWS[kinds]]
        return found

    def drawn(n: int) -> Tensor:
        counts = [round(share * n) for share in SHARES[1:]]
        kinds = torch.repeat_interleave(
            torch.arange(N_CLASSES), torch.tensor([n - sum(counts), *counts])
        )
        return kinds[torch.randperm(n, generator=g)]

    # Every word has pieces behind its first, which look like it and have no label: so many that
    # their class is a minority's.
    pieces = drawn(n_words).repeat_interleave(N_PIECES)
    labels = pieces.clone()
    labels[torch.arange(len(labels)) % N_PIECES != 0] = UNLABELLED
    shows = (
        f"{len(pieces)} pieces of {n_words} words, {N_STATES} hidden states, d_model = {D_MODEL}; "
        f"{n_asked} pieces to be tagged"
    )
    return [Case((states(pieces), labels, states(drawn(n_asked)), N_CLASSES), shows=shows)]


def train_tagger(states: Tensor, labels: Tensor, asked: Tensor, n_classes: int) -> Tensor:
    """(n_asked,): the class of each piece that is asked about: the one whose mean is nearest, all
    states side by side.
    """
    rows = _rows(states)
    means = torch.stack([rows[labels == c].mean(dim=0) for c in range(n_classes)])
    return torch.cdist(_rows(asked), means).argmin(dim=1)


def _of_one_state(states, labels, asked, n_classes, state):
    """Least squares on the class as a one-hot vector: where two classes look alike, the more
    frequent one wins.
    """
    kept = labels != UNLABELLED
    x, y = (
        _rows(states[state, None])[kept],
        torch.nn.functional.one_hot(labels[kept], n_classes).float(),
    )
    return (_rows(asked[state, None]) @ torch.linalg.lstsq(x, y).solution).argmax(dim=-1)


def _rows(states: Tensor) -> Tensor:
    """All states of a piece side by side, and a 1."""
    side_by_side = states.transpose(0, 1).flatten(1)
    return torch.cat([side_by_side, torch.ones(len(side_by_side), 1)], dim=1)


def _last_state(states, labels, asked, n_classes):
    return _of_one_state(states, labels, asked, n_classes, -1)


def _first_state(states, labels, asked, n_classes):
    return _of_one_state(states, labels, asked, n_classes, 0)


def _always_0(states, labels, asked, n_classes):
    return torch.zeros(asked.shape[1], dtype=torch.long)


def _counted_from_1(states, labels, asked, n_classes):
    return train_tagger(states, labels, asked, n_classes) + 1


def _without_class_0(states, labels, asked, n_classes):
    """What is left when the first class's scores are cut away."""
    return train_tagger(states, labels, asked, n_classes) - 1


def _training_pieces(states, labels, asked, n_classes):
    return train_tagger(states, labels, states, n_classes)


def _never_trained(states, labels, asked, n_classes):
    """A linear layer as it is made, all states side by side."""
    rows = asked.transpose(0, 1).flatten(1)
    return torch.nn.Linear(rows.shape[1], n_classes)(rows).argmax(dim=-1)


TRAINING = Question(
    name="hw6.train_tagger",
    title="A tagger on frozen features",
    points=3,
    minutes=20,
    difficulty=2,
    chapter="15b_which_layers#names",
    cases=_training_cases,
    reference=train_tagger,
    share=0.9,
    seconds=60.0,
    below="More cannot be seen from outside. The usual causes: the axes of `states` mixed by a "
    "reshape, so that a row holds numbers of several pieces; `asked` flattened in another order "
    "than `states`; labels left out, and not their pieces; an optimizer that never steps, or has "
    "other parameters than the model; too few steps; a learning rate that is much too high or too "
    "low. Print the loss: a tagger that works gets below 0.2.",
    misconceptions=(
        Misconception(
            "last_state_only",
            "Your tagger takes class 2 for class 1 and class 4 for class 3: these look alike in "
            "the last state, and it seems to know no other. No single state tells all classes "
            "apart. Use all of them, side by side or in a weighted sum.",
            _last_state,
        ),
        Misconception(
            "first_state_only",
            "Your tagger takes class 3 for class 1 and class 4 for class 2: these look alike in "
            "the first state, and it seems to know no other. No single state tells all classes "
            "apart. Use all of them, side by side or in a weighted sum.",
            _first_state,
        ),
        Misconception(
            "always_class_0",
            "All your predictions are 0. Perhaps you have turned the label -100 into a 0: four of "
            "five pieces have no label, and the tagger learns that they are all of class 0. Leave "
            "them out instead. Other causes: rows that hold numbers of several pieces (a reshape "
            "where a transpose was needed), a loss that has become NaN, or too little training.",
            _always_0,
        ),
        Misconception(
            "classes_counted_from_1",
            "Your predictions are 1 too high: classes are counted from 0.",
            _counted_from_1,
        ),
        Misconception(
            "classes_shifted_down",
            "Your predictions are 1 too low: the argmax is taken without the first class.",
            _without_class_0,
        ),
        Misconception(
            "training_pieces_tagged",
            "You return the classes of the pieces in `states`, with which you trained. Asked for "
            "are those of the pieces in `asked`.",
            _training_pieces,
        ),
        Misconception(
            "never_trained",
            "Your predictions are, at least nearly, those of a layer as it comes from nn.Linear: "
            "training has not changed it, or hardly, or another layer than the trained one "
            "answers. Is optimizer.step() called, has the optimizer the parameters of the layer "
            "that answers, and is the learning rate large enough (0.01 is)?",
            _never_trained,
        ),
    ),
)
