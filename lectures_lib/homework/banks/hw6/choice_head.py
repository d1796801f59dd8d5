"""Question 3: which of several endings? One number for each."""

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from lectures_lib.homework.banks.inputs import also_as_large, normal, sizes, whole
from lectures_lib.homework.banks.mistakes import TWICE, remembering, squeezing
from lectures_lib.homework.questions import Case, Demand, Misconception, Question

SCORES = "a score for each ending, from its [CLS] through the pooler"
DROPOUT = "in training mode, dropout at its rate and in its place"
SINGLE = "one beginning keeps its dimension"


def _head_cases(g: Generator) -> list[Case]:
    cases = []
    for kind in (
        "asked",
        "asked",
        "one beginning",
        "training",
        "training, weights in a diagonal",
        "training, tanh hardly bends",
        "training without dropout",
    ):
        # in training mode enough of each, so that a mask that several share shows in their sum
        few = 3 if kind.startswith("training") else 2
        (batch, choices, n), d_model = sizes(g, 3, few, 7), whole(g, 8, 11)
        batch, choices, n = (1, choices, 1) if kind == "one beginning" else (batch, choices, n)
        state = {
            "pooler.weight": 1.5 * normal(g, d_model, d_model) / d_model**0.5,
            "pooler.bias": normal(g, d_model),
            "head.weight": normal(g, 1, d_model),
            "head.bias": normal(g, 1),
        }
        shows = f"{batch} beginnings with {choices} endings each, {n} tokens, d_model = {d_model}"
        hidden = normal(g, batch, choices, n, d_model)
        # every tanh near 1, and all pull one way: what is dropped before it, or instead, shows in
        # mean and spread
        if kind == "training":
            state |= {
                "pooler.bias": 4 + 0.5 * normal(g, d_model),
                "head.weight": 0.5 + normal(g, 1, d_model).abs(),
                "head.bias": d_model + normal(g, 1).abs(),  # a score is not what its vector adds
            }
        # each number by itself: dropped before the pooler, it is dropped behind it, and twice makes
        # fewer
        if kind.endswith("diagonal"):
            hidden = 1 + hidden.abs()
            state |= {"pooler.weight": 4 * torch.eye(d_model), "pooler.bias": torch.zeros(d_model)}
            state["head.weight"] = 0.5 + normal(g, 1, d_model).abs()
        # there a number that is dropped before tanh, and one behind it, are the same; a share that
        # is not made up for is not
        if kind.endswith("hardly bends"):
            state["pooler.weight"] *= 0.05
            state["pooler.bias"] = 0.2 + 0.02 * normal(g, d_model)
            state["head.weight"] = 0.5 + normal(g, 1, d_model).abs()
        init = {"d_model": d_model, "dropout": 0.0 if kind.endswith("without dropout") else 0.3}
        train, twice = kind.startswith("training"), kind == "asked" and not cases
        again = ((normal(g, batch + 1, choices - 1, n + 1, d_model),),) if twice else ()
        shows += TWICE if twice else ""
        shows += f", in training mode with dropout = {init['dropout']}" if train else ""
        draws = (
            0
            if kind.endswith("without dropout") or not train
            else 300
            if kind.endswith("diagonal")
            else 200
        )
        demand = SINGLE if kind == "one beginning" else DROPOUT if train else SCORES
        cases.append(
            Case(
                (hidden,),
                init=init,
                state=state,
                shows=shows,
                train=train,
                draws=draws,
                again=again,
                demands=(demand,),
            )
        )
    return [also_as_large(g, case) if case.again else case for case in cases]


class ChoiceHead(nn.Module):
    """[CLS] of each ending through the pooler, dropout, and one number out of it. The wrong answers
    below change one of these.
    """

    def __init__(self, d_model: int, dropout: float):
        super().__init__()
        self.pooler = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(d_model, 1)

    def forward(self, hidden: Tensor) -> Tensor:
        """(batch, choices, n, d_model) → (batch, choices)."""
        return self.scores(self.drop(self.pooled(self.summary(hidden))))

    def summary(self, hidden):
        """The vector that stands for an ending."""
        return hidden[:, :, 0]

    def pooled(self, x):
        """What the pooler makes of it."""
        return torch.tanh(self.pooler(x))

    def drop(self, x):
        """Off when not training."""
        return self.dropout(x)

    def scores(self, x):
        """A number for each ending."""
        return self.head(x)[..., 0]


class _MeanOfTokens(ChoiceHead):
    def summary(self, hidden):
        return hidden.mean(dim=2)


class _MaxOfTokens(ChoiceHead):
    def summary(self, hidden):
        return hidden.amax(dim=2)


class _LastToken(ChoiceHead):
    def summary(self, hidden):
        return hidden[:, :, -1]


class _FirstEnding(ChoiceHead):
    """Token by token of the first ending: right only where there are as many tokens as endings."""

    def summary(self, hidden):
        return hidden[:, 0]


class _Unpooled(ChoiceHead):
    def pooled(self, x):
        return x


class _NoTanh(ChoiceHead):
    def pooled(self, x):
        return self.pooler(x)


class _Relu(ChoiceHead):
    def pooled(self, x):
        return F.relu(self.pooler(x))


class _Gelu(ChoiceHead):
    def pooled(self, x):
        return F.gelu(self.pooler(x))


class _Sigmoid(ChoiceHead):
    def pooled(self, x):
        return torch.sigmoid(self.pooler(x))


class _TanhFirst(ChoiceHead):
    def pooled(self, x):
        return self.pooler(torch.tanh(x))


class _AlwaysDropped(ChoiceHead):
    def drop(self, x):
        return F.dropout(x, self.dropout.p)


class _AlwaysDroppedInTheMiddle(ChoiceHead):
    def pooled(self, x):
        return torch.tanh(F.dropout(self.pooler(x), self.dropout.p))


class _AlwaysDroppedAtTheFront(ChoiceHead):
    def summary(self, hidden):
        return F.dropout(hidden, self.dropout.p)[:, :, 0]


class _AlwaysDroppedBeforeThePooler(ChoiceHead):
    def pooled(self, x):
        return super().pooled(F.dropout(x, self.dropout.p))


class _NeverDropped(ChoiceHead):
    def drop(self, x):
        return x


class _OtherRate(ChoiceHead):
    def __init__(self, d_model, dropout):
        super().__init__(d_model, 0.1)


class _Kept(ChoiceHead):
    """`dropout` is taken for the share that is kept."""

    def __init__(self, d_model, dropout):
        super().__init__(d_model, 1 - dropout)


class _DroppedInFront(ChoiceHead):
    def summary(self, hidden):
        return self.dropout(hidden[:, :, 0])

    def drop(self, x):
        return x


class _DroppedBeforeTanh(ChoiceHead):
    def pooled(self, x):
        return torch.tanh(self.dropout(self.pooler(x)))

    def drop(self, x):
        return x


class _DroppedScores(ChoiceHead):
    def scores(self, x):
        return self.dropout(super().scores(x))

    def drop(self, x):
        return x


class _NotMadeUpFor(ChoiceHead):
    """What is kept stays as it is."""

    def drop(self, x):
        keep = torch.rand_like(x) >= self.dropout.p
        return x * keep if self.training else x


class _VectorsDropped(ChoiceHead):
    """All numbers of a vector at once."""

    def drop(self, x):
        return F.dropout1d(x, self.dropout.p, self.training)


class _DroppedInFrontToo(ChoiceHead):
    def summary(self, hidden):
        return self.dropout(hidden[:, :, 0])


class _DroppedBeforeTanhToo(ChoiceHead):
    def pooled(self, x):
        return torch.tanh(self.dropout(self.pooler(x)))


class _TanhOfScores(ChoiceHead):
    def scores(self, x):
        return torch.tanh(super().scores(x))


class _Probabilities(ChoiceHead):
    def scores(self, x):
        return super().scores(x).softmax(dim=-1)


class _LogProbabilities(ChoiceHead):
    def scores(self, x):
        return super().scores(x).log_softmax(dim=-1)


class _OverTheBatch(ChoiceHead):
    def scores(self, x):
        return super().scores(x).softmax(dim=0)


class _EachByItself(ChoiceHead):
    def scores(self, x):
        return torch.sigmoid(super().scores(x))


class _Unsqueezed(ChoiceHead):
    def scores(self, x):
        return self.head(x)


class _FlatScores(ChoiceHead):
    def scores(self, x):
        return self.head(x).flatten()


class _Best(ChoiceHead):
    def scores(self, x):
        return super().scores(x).argmax(dim=-1)


class _Scrambled(ChoiceHead):
    """Endings and beginnings are exchanged, and put back by counting alone."""

    def scores(self, x):
        return super().scores(x.transpose(0, 1)).reshape(x.shape[0], x.shape[1])


class _NoBias(ChoiceHead):
    def scores(self, x):
        return x @ self.head.weight[0]


_TOKENS = (
    "You make one vector out of all tokens of an ending. BERT's pooler looks at [CLS] alone, the "
    "token at place 0: it has been trained to hold what the sentence is about."
)
_DROPOUT = (
    "Your dropout is never switched off. F.dropout(x, p) always drops, unless it is told "
    "training=self.training; an nn.Dropout made in __init__ knows by itself whether the model "
    "trains or is asked."
)
_RATE = (
    "Your dropout has another rate than the argument `dropout`, which is the probability that a "
    "number is dropped."
)
_ELSEWHERE = (
    "In training mode you drop at another place. Dropout stands once, between tanh and `head`."
)
_ACTIVATION = (
    "Behind the pooler's layer stands another function than tanh. The published weights were "
    "trained with tanh, and fit no other."
)
_PROBABILITIES = (
    "You return probabilities. Scores are asked for: F.cross_entropy takes the softmax over the "
    "endings itself, and would take it twice."
)


class _OneMask(ChoiceHead):
    """What is dropped for one ending is dropped for the others; `shared`: along which axes."""

    shared: tuple[int, ...] = (0, 1)

    def drop(self, x):
        one = [1 if axis in self.shared else size for axis, size in enumerate(x.shape)]
        return x * self.dropout(torch.ones(one))


class _OneMaskForAllEndings(_OneMask):
    shared = (1,)


class _OneMaskForTwoEndings(ChoiceHead):
    """The second ending's mask is the first one's; the others have their own."""

    def drop(self, x):
        mask = self.dropout(torch.ones_like(x))
        return x * torch.cat([mask[:, :1], mask[:, :1], mask[:, 2:]], dim=1)


_ONE_MASK = (
    "In training mode several endings share one dropout mask: what is dropped for one of them is "
    "dropped for the others. nn.Dropout on all vectors together draws anew for every number."
)

CHOICE_HEAD = Question(
    name="hw6.ChoiceHead",
    title="Which ending?",
    points=3,
    minutes=20,
    difficulty=2,
    chapter="14_fine_tuning#a-choice-which-ending",
    cases=_head_cases,
    reference=ChoiceHead,
    misconceptions=(
        Misconception("not_cls", _TOKENS, _MeanOfTokens),
        Misconception("not_cls", _TOKENS, _MaxOfTokens),
        Misconception(
            "last_token",
            "You take the last token of each ending. [CLS], the summary, is the first.",
            _LastToken,
        ),
        Misconception(
            "tokens_of_the_first_ending",
            "hidden[:, 0] is not the first token: it is the first *ending*, with all its tokens. "
            "The axes are batch, choices, n, d_model; the tokens' is the third: hidden[:, :, 0].",
            _FirstEnding,
        ),
        Misconception(
            "pooler_forgotten",
            "The vector of [CLS] goes straight into `head`. Between them stands the pooler: a "
            "layer and tanh.",
            _Unpooled,
        ),
        Misconception(
            "tanh_forgotten",
            "tanh is missing behind the pooler's layer. Without it two linear layers follow one "
            "another, which together are one.",
            _NoTanh,
        ),
        Misconception("another_activation", _ACTIVATION, _Relu),
        Misconception("another_activation", _ACTIVATION, _Gelu),
        Misconception("another_activation", _ACTIVATION, _Sigmoid),
        Misconception(
            "tanh_too_early",
            "You apply tanh before the pooler's layer. First the layer, then tanh.",
            _TanhFirst,
        ),
        Misconception("dropout_never_off", _DROPOUT, _AlwaysDropped),
        Misconception("dropout_never_off", _DROPOUT, _AlwaysDroppedInTheMiddle),
        Misconception("dropout_never_off", _DROPOUT, _AlwaysDroppedAtTheFront),
        Misconception("dropout_never_off", _DROPOUT, _AlwaysDroppedBeforeThePooler),
        Misconception(
            "dropout_forgotten",
            "Right when nothing is dropped. In training mode your dropout is missing: it stands "
            "between tanh and `head`.",
            _NeverDropped,
        ),
        Misconception("dropout_of_another_rate", _RATE, _OtherRate),
        Misconception("dropout_of_another_rate", _RATE, _Kept),
        Misconception(
            "dropout_not_made_up_for",
            "In training mode you drop in the right place, and leave what is kept as it is: the "
            "sum then comes out too small. What is kept is divided by 1 - p; nn.Dropout does that.",
            _NotMadeUpFor,
        ),
        *(
            Misconception("dropout_elsewhere", _ELSEWHERE, answer)
            for answer in (_DroppedInFront, _DroppedBeforeTanh, _DroppedScores)
        ),
        *(
            Misconception(
                "dropped_twice",
                "In training mode you drop at a second place as well. Dropout stands once, between "
                "tanh and `head`.",
                answer,
            )
            for answer in (_DroppedInFrontToo, _DroppedBeforeTanhToo)
        ),
        Misconception(
            "tanh_of_the_scores",
            "You apply tanh to the scores, which keeps them between -1 and 1: the model could "
            "never be sure. It belongs behind the pooler.",
            _TanhOfScores,
        ),
        Misconception("probabilities_returned", _PROBABILITIES, _Probabilities),
        Misconception("probabilities_returned", _PROBABILITIES, _LogProbabilities),
        Misconception(
            "softmax_over_the_batch",
            "You take a softmax over the *beginnings*: the endings of different stories compete. "
            "And no softmax is asked for; the loss has it.",
            _OverTheBatch,
        ),
        Misconception(
            "each_ending_by_itself",
            "You squash each score with a sigmoid, as if several endings could be right. Exactly "
            "one is: the loss compares them by a softmax, and wants the scores as they are.",
            _EachByItself,
        ),
        Misconception(
            "last_axis_kept",
            "Your result has the shape (batch, choices, 1). The last axis holds one number; leave "
            "it out: (batch, choices).",
            _Unsqueezed,
        ),
        Misconception(
            "all_in_a_row",
            "You return the scores of all beginnings in one row. To compare the endings of one, "
            "the loss needs (batch, choices).",
            _FlatScores,
        ),
        Misconception(
            "best_returned",
            "You return the number of the best ending. All scores are asked for: training needs "
            "them.",
            _Best,
        ),
        Misconception(
            "beginnings_and_endings_mixed",
            "Your scores are right and stand in wrong places: you have exchanged two axes and gone "
            "back by a view or reshape, which only counts. nn.Linear works on the last axis, "
            "whatever stands before it: nothing has to be exchanged.",
            _Scrambled,
        ),
        Misconception("bias_forgotten", "The bias of `head` is missing from your scores.", _NoBias),
        squeezing(ChoiceHead),
        remembering(ChoiceHead),
        Misconception("one_dropout_mask", _ONE_MASK, _OneMask),
        Misconception("one_dropout_mask", _ONE_MASK, _OneMaskForAllEndings),
        Misconception("one_dropout_mask", _ONE_MASK, _OneMaskForTwoEndings),
        Misconception(
            "whole_vectors_dropped",
            "In training mode you drop whole vectors: a single draw for all numbers of an ending, "
            "as F.dropout1d makes it. Each number is dropped by itself: nn.Dropout.",
            _VectorsDropped,
        ),
    ),
    demands=(Demand(SCORES, 1.5), Demand(DROPOUT, 1), Demand(SINGLE, 0.5)),
)
