"""Question 7: what the classification objective looks at, for all pairs at once."""

from dataclasses import replace

import torch
from torch import Generator, Tensor, nn

from lectures_lib.homework.banks.inputs import normal, sizes
from lectures_lib.homework.banks.mistakes import (
    TRAINING,
    TWICE,
    always_dropping,
    dropping,
    remembering,
    squeezing,
)
from lectures_lib.homework.questions import Case, Demand, Misconception, Question

EACH = "each first sentence with each second one, three vectors side by side"
ALONE = "a single sentence on one side keeps its dimension"


def _more(g: Generator, n: int, m: int, d_model: int) -> tuple:
    """What the same object is called with later: other vectors in as many sentences, then other
    numbers of them.
    """
    return tuple(
        (normal(g, a, d_model), normal(g, b, d_model)) for a, b in ((n, m), (m + 1, n + 1))
    )


def _pairs_cases(g: Generator) -> list[Case]:
    cases = []
    for single in ("", "", "first", "second"):
        n, m, d_model, n_classes = sizes(g, 4, 2, 8)
        n, m = (1 if single == "first" else n), (1 if single == "second" else m)
        state = {"W_t.weight": normal(g, n_classes, 3 * d_model), "W_t.bias": normal(g, n_classes)}
        shows = (
            f"{n} first and {m} second sentence{'s' * (m > 1)}, vectors of {d_model} numbers, "
            f"{n_classes} classes"
        )
        twice = not single and not cases
        shows += TRAINING + TWICE + ", and on a third" if twice else ""
        cases.append(
            Case(
                (normal(g, n, d_model), normal(g, m, d_model)),
                init={"d_model": d_model, "n_classes": n_classes},
                state=state,
                shows=shows,
                train=twice,
                again=_more(g, n, m, d_model) if twice else (),
                demands=(ALONE if single else EACH,),
            )
        )
    return cases


class PairClassifier(nn.Module):
    """W_t (u, v, |u - v|); the wrong answers below change one of its small steps."""

    def __init__(self, d_model: int, n_classes: int):
        super().__init__()
        self.W_t = nn.Linear(3 * d_model, n_classes)

    def forward(self, u: Tensor, v: Tensor) -> Tensor:
        """(n, d_model), (m, d_model) → (n, m, n_classes)."""
        first, second = u[:, None].expand(-1, len(v), -1), v.expand(len(u), -1, -1)
        return self.outcome(self.W_t(torch.cat(self.parts(first, second), dim=-1)))

    def parts(self, u: Tensor, v: Tensor) -> list[Tensor]:
        """What is put one after the other."""
        return [u, v, (u - v).abs()]

    def outcome(self, scores: Tensor) -> Tensor:
        """What is returned."""
        return scores


class _Signed(PairClassifier):
    def parts(self, u, v):
        return [u, v, u - v]


class _SignedTurned(PairClassifier):
    def parts(self, u, v):
        return [u, v, v - u]


class _DifferenceWithoutGradient(PairClassifier):
    def parts(self, u, v):
        return [u, v, (u - v).abs().detach()]


class _Product(PairClassifier):
    def parts(self, u, v):
        return [u, v, u * v]


class _Squared(PairClassifier):
    def parts(self, u, v):
        return [u, v, (u - v) ** 2]


class _CutAt0(PairClassifier):
    def parts(self, u, v):
        return [u, v, (u - v).clamp(min=0)]


class _TurnedAndCutAt0(PairClassifier):
    def parts(self, u, v):
        return [u, v, (v - u).clamp(min=0)]


_CUT = (
    "Your third part is 0 where the difference is negative. Its absolute value is asked for: the "
    "same number without the sign."
)


class _DifferenceOfAbsolutes(PairClassifier):
    def parts(self, u, v):
        return [u, v, u.abs() - v.abs()]


class _OneDistance(PairClassifier):
    def parts(self, u, v):
        return [u, v, (u - v).norm(dim=-1, keepdim=True).expand_as(u)]


class _DifferenceFirst(PairClassifier):
    def parts(self, u, v):
        return [(u - v).abs(), u, v]


class _DifferenceBetween(PairClassifier):
    def parts(self, u, v):
        return [u, (u - v).abs(), v]


class _SecondFirst(PairClassifier):
    def parts(self, u, v):
        return [v, u, (u - v).abs()]


class _Units(PairClassifier):
    def parts(self, u, v):
        u, v = nn.functional.normalize(u, dim=-1), nn.functional.normalize(v, dim=-1)
        return [u, v, (u - v).abs()]


class _Probabilities(PairClassifier):
    def outcome(self, scores):
        return scores.softmax(dim=-1)


class _LogProbabilities(PairClassifier):
    def outcome(self, scores):
        return scores.log_softmax(dim=-1)


class _Sigmoid(PairClassifier):
    def outcome(self, scores):
        return scores.sigmoid()


class _Classes(PairClassifier):
    def outcome(self, scores):
        return scores.argmax(dim=-1)


class _Turned(PairClassifier):
    def outcome(self, scores):
        return scores.transpose(0, 1)


class _ClassesInTheMiddle(PairClassifier):
    def outcome(self, scores):
        return scores.transpose(1, 2)


class _OneRow(PairClassifier):
    def outcome(self, scores):
        return scores.flatten(0, 1)


class _TwoVectors(PairClassifier):
    def __init__(self, d_model, n_classes):
        super().__init__(d_model, n_classes)
        self.W_t = nn.Linear(2 * d_model, n_classes)


class _FourVectors(PairClassifier):
    def __init__(self, d_model, n_classes):
        super().__init__(d_model, n_classes)
        self.W_t = nn.Linear(4 * d_model, n_classes)


class _NoBias(PairClassifier):
    def __init__(self, d_model, n_classes):
        super().__init__(d_model, n_classes)
        self.W_t = nn.Linear(3 * d_model, n_classes, bias=False)


class _BiasThreeTimes(PairClassifier):
    def outcome(self, scores):
        return scores + 2 * self.W_t.bias


class _FirstChangesFastest(PairClassifier):
    """All pairs, column by column, put into rows by a view."""

    def forward(self, u, v):
        return super().forward(u, v).transpose(0, 1).reshape(len(u), len(v), -1)


class _ViewedTheOtherWay(PairClassifier):
    """All pairs, row by row, put into a table (m, n) by a view."""

    def forward(self, u, v):
        return super().forward(u, v).reshape(len(v), len(u), -1)


class _ViewedTheOtherWayAndTurned(_ViewedTheOtherWay):
    def forward(self, u, v):
        return super().forward(u, v).transpose(0, 1)


class _BothRepeated(PairClassifier):
    """Both lists again and again, side by side."""

    def forward(self, u, v):
        first, second = u.repeat(len(v), 1), v.repeat(len(u), 1)
        return self.W_t(torch.cat(self.parts(first, second), dim=-1)).view(len(u), len(v), -1)


class _DroppedFeatures(PairClassifier):
    rate = 0.1

    def forward(self, u, v):
        first, second = u[:, None].expand(-1, len(v), -1), v.expand(len(u), -1, -1)
        features = torch.cat(self.parts(first, second), dim=-1)
        return self.W_t(nn.functional.dropout(features, self.rate, self.training))


class _MoreDroppedFeatures(_DroppedFeatures):
    rate = 0.5


class _SecondsKept(PairClassifier):
    """The second sentences of the first call, as long as there come as many."""

    def forward(self, u, v):
        if not hasattr(self, "seconds") or self.seconds.shape != v.shape:
            self.seconds = v
        return super().forward(u, self.seconds)


class _FirstsKept(PairClassifier):
    def forward(self, u, v):
        if not hasattr(self, "firsts") or self.firsts.shape != u.shape:
            self.firsts = u
        return super().forward(self.firsts, v)


class _PairedByPlace(PairClassifier):
    """Sentence i with sentence i, as far as there are both."""

    def forward(self, u, v):
        k = min(len(u), len(v))
        return self.W_t(torch.cat(self.parts(u[:k], v[:k]), dim=-1))


class _PairedByPlaceOrNot(PairClassifier):
    """The same without the cut: where n and m differ, torch says so."""

    def forward(self, u, v):
        return self.W_t(torch.cat(self.parts(u, v), dim=-1))


class _CatThenDifference(PairClassifier):
    """The vectors are put together first, unexpanded."""

    def forward(self, u, v):
        return self.W_t(torch.cat([u, v, torch.cdist(u, v)], dim=-1))


_SIGNED = (
    "Your third part is a difference with its sign. A linear layer that sees u and v can compute "
    "that itself, so it adds nothing; the absolute value |u - v| is what it cannot compute."
)
_ORDER = (
    "The parts are right, their order is not. W_t's columns belong to u, v and |u - v|, in this "
    "order: with another one, its numbers meet the wrong features."
)
_PARTS = (
    "Your W_t does not have 3 · d_model columns. It reads three vectors: u, v and |u - v|. With u "
    "and v alone (2 · d_model) it could not see how far they are apart; the product u · v, as a "
    "fourth part, is not asked for."
)
_VIEWED = (
    "Your pairs are all there and stand in other places: in your list the *second* sentence "
    "changes fastest (u.repeat_interleave, perhaps), and you view it as a table (m, n). Row by row "
    "it fills (n, m): .view(n, m, -1), and nothing is transposed."
)
_PLACE = (
    "You pair the first sentence with the first, the second with the second. Asked for is *every* "
    "u with *every* v. Give u the shape (n, 1, d_model) and v (1, m, d_model), and both broadcast, "
    "or expand, to (n, m, d_model)."
)
_PROBABILITIES = (
    "You return probabilities. Scores are asked for: the loss of training, F.cross_entropy, takes "
    "the softmax itself, and taken twice it is flattened."
)

PAIRS = Question(
    name="hw7.PairClassifier",
    title="Every sentence with every other",
    points=2,
    minutes=15,
    difficulty=2,
    chapter="17_sentence_bert#three-ways-to-train",
    cases=_pairs_cases,
    reference=PairClassifier,
    misconceptions=(
        Misconception(
            "difference_without_gradient",
            "Your scores are right, but u and v learn nothing through the difference: it is "
            "computed below no_grad, or detached.",
            _DifferenceWithoutGradient,
        ),
        Misconception("sign_kept", _SIGNED, _Signed),
        Misconception("sign_kept", _SIGNED, _SignedTurned),
        Misconception(
            "product_instead_of_difference",
            "Your third part is the product u · v, number by number. The paper tried it, too, and "
            "got worse results; asked for is |u - v|.",
            _Product,
        ),
        Misconception("negative_differences_cut_off", _CUT, _CutAt0),
        Misconception("negative_differences_cut_off", _CUT, _TurnedAndCutAt0),
        Misconception(
            "squared",
            "Your third part is the squared difference. It is the absolute value of the "
            "difference, |u - v|.",
            _Squared,
        ),
        Misconception(
            "difference_of_absolutes",
            "Your third part is |u| - |v|. Take the difference first, and then the absolute value: "
            "|u - v|.",
            _DifferenceOfAbsolutes,
        ),
        Misconception(
            "one_distance",
            "Your third part is one number, the distance between the vectors. |u - v| is taken "
            "number by number, and is a vector of d_model.",
            _OneDistance,
        ),
        Misconception("other_order", _ORDER, _DifferenceFirst),
        Misconception("other_order", _ORDER, _DifferenceBetween),
        Misconception("other_order", _ORDER, _SecondFirst),
        Misconception(
            "normalised",
            "You bring the vectors to length 1 first. The classification objective takes them as "
            "they are; lengths of 1 belong to cosines.",
            _Units,
        ),
        Misconception("probabilities_returned", _PROBABILITIES, _Probabilities),
        Misconception("probabilities_returned", _PROBABILITIES, _Sigmoid),
        Misconception(
            "log_probabilities_returned",
            "You return log-probabilities. Scores are asked for, as they come out of W_t.",
            _LogProbabilities,
        ),
        Misconception(
            "classes_returned",
            "You return the best class. Scores are asked for: what has gone through argmax has no "
            "gradient.",
            _Classes,
        ),
        Misconception(
            "first_and_second_swapped",
            "Your result is turned: dimension 0 belongs to the second sentences. Entry [i, j] is "
            "for u[i] with v[j].",
            _Turned,
        ),
        Misconception(
            "classes_in_the_middle",
            "Your classes are in dimension 1. Entry [i, j] holds the scores of the classes: they "
            "come last.",
            _ClassesInTheMiddle,
        ),
        Misconception(
            "pairs_in_one_row",
            "Your pairs stand in one row, n · m of them. Keep the table: (n, m, n_classes).",
            _OneRow,
        ),
        Misconception("other_parts", _PARTS, _TwoVectors),
        Misconception("other_parts", _PARTS, _FourVectors),
        Misconception(
            "bias_forgotten",
            "Your W_t has no bias. The paper's has none, either; the question's has.",
            _NoBias,
        ),
        squeezing(PairClassifier),
        dropping(PairClassifier),
        replace(dropping(PairClassifier), answer=_DroppedFeatures),
        replace(dropping(PairClassifier), answer=_MoreDroppedFeatures),
        remembering(PairClassifier),
        replace(remembering(PairClassifier), answer=_SecondsKept),
        replace(remembering(PairClassifier), answer=_FirstsKept),
        Misconception(
            "bias_three_times",
            "Your bias is added three times, with each part once. The layer has one bias: add it "
            "to the sum of the three parts.",
            _BiasThreeTimes,
        ),
        Misconception(
            "first_changes_fastest",
            "Your pairs are all there and stand in other places: in your list the *first* sentence "
            "changes fastest (u.repeat, perhaps), and a view to (n, m) fills row by row, where the "
            "second does. Entry [i, j] is for u[i] with v[j].",
            _FirstChangesFastest,
        ),
        Misconception("viewed_the_other_way", _VIEWED, _ViewedTheOtherWay),
        Misconception("viewed_the_other_way", _VIEWED, _ViewedTheOtherWayAndTurned),
        Misconception(
            "both_repeated",
            "You repeat both lists as a whole and put them side by side: row k pairs u[k % n] with "
            "v[k % m]. In a table (n, m), row k is for u[k // m] with v[k % m]: repeat each u m "
            "times before the next (repeat_interleave), or expand both.",
            _BothRepeated,
        ),
        Misconception("paired_by_place", _PLACE, _PairedByPlace),
        Misconception("paired_by_place", _PLACE, _PairedByPlaceOrNot),
        Misconception("paired_by_place", _PLACE, _CatThenDifference),
        always_dropping(PairClassifier),
    ),
    demands=(Demand(EACH, 1.5), Demand(ALONE, 0.5)),
)
