"""Question 5: scores for every word, from a vector and the token vectors once more."""

from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from lectures_lib.homework.banks.inputs import normal, sizes, whole
from lectures_lib.homework.banks.mistakes import (
    ANEW,
    TRAINING,
    TWICE,
    always_dropping,
    dropping,
    keeping,
    keeping_where_none,
    remembering,
    squeezing,
)
from lectures_lib.homework.questions import Case, Demand, Misconception, Question


def some_positions(g: Generator, batch: int, n: int) -> Tensor:
    """(batch, n), True at no, one or two positions of each row; another order row by row than
    column by column, other ends than inside.
    """
    while True:
        at = torch.stack([torch.randperm(n, generator=g) < b % 3 for b in range(batch)])
        ends_differ = (at[:, 0] != at[:, 1]).any() and (at[:, -1] != at[:, -2]).any()
        if ends_differ and (at.nonzero() != at.T.nonzero().flip(1)).any():
            return at


ALL = "scores at all positions"
SOME = "with `at`, scores at those positions only"


def _head_cases(g: Generator) -> list[Case]:
    cases = []
    one = ("all positions of one sentence, small weights", "one position of one sentence")
    for kind in ("all positions", "some positions", *one, "no position"):
        (batch, n), d_model, vocab_size = sizes(g, 2, 3, 7), whole(g, 8, 11), whole(g, 12, 15)
        batch = 1 if "one sentence" in kind else batch
        scale = 0.05 if kind.endswith("small weights") else 1.5
        state = {
            "dense.weight": scale * normal(g, d_model, d_model) / d_model**0.5,
            "dense.bias": scale * normal(g, d_model),
            "norm.weight": 1 + 0.5 * normal(g, d_model),
            "norm.bias": normal(g, d_model),
            "bias": normal(g, vocab_size),
        }
        args = (normal(g, batch, n, d_model), normal(g, vocab_size, d_model))
        if kind == "some positions":
            args = (*args, some_positions(g, batch, n))
        elif kind == "no position":
            args = (*args, torch.zeros(batch, n, dtype=torch.bool))
        elif kind.startswith("one position"):
            args = (*args, torch.randperm(n, generator=g)[None] == 0)
        twice = kind == "all positions"
        cases.append(
            Case(
                args,
                train=twice,
                again=((normal(g, batch + 1, n - 1, d_model), args[1]),) if twice else (),
                init={"d_model": d_model, "vocab_size": vocab_size},
                state=state,
                demands=(ALL if kind.startswith("all") else SOME,),
                shows=(
                    f"{kind}: hidden of shape {(batch, n, d_model)}, {vocab_size} "
                    f"tokens{TRAINING + TWICE if twice else ''}"
                ),
            )
        )
    cases[1] = _anew(g, cases[1])
    return cases


def _anew(g: Generator, case: Case) -> Case:
    """The same object once more, with new inputs of the same sizes, then for all positions: nothing
    may be kept from an earlier call.
    """
    hidden, token_vectors, at = case.args

    def inputs():
        return normal(g, *hidden.shape), normal(g, *token_vectors.shape)

    again = ((*inputs(), at.roll(1, dims=1)), inputs())
    return replace(case, again=again, shows=f"{case.shows}{ANEW}, and at all positions")


class WordHead(nn.Module):
    """A layer, GELU, a norm; then the token vectors. The wrong answers below change one of
    these.
    """

    def __init__(self, d_model: int, vocab_size: int):
        super().__init__()
        self.dense = nn.Linear(d_model, d_model)
        self.norm = nn.LayerNorm(d_model, eps=1e-12)
        self.bias = nn.Parameter(torch.zeros(vocab_size))

    def forward(self, hidden: Tensor, token_vectors: Tensor, at: Tensor | None = None) -> Tensor:
        """(batch, n, d_model) and (vocab_size, d_model) → (batch, n, vocab_size), or (k,
        vocab_size) at k positions.
        """
        return self.scores(self.features(self.asked(hidden, at)), token_vectors)

    def asked(self, hidden, at):
        """The vectors of the positions that are asked about."""
        return hidden if at is None else hidden[at]

    def features(self, hidden):
        """What is compared with the token vectors."""
        return self.norm(F.gelu(self.dense(hidden)))

    def scores(self, x, token_vectors):
        """The comparison."""
        return x @ token_vectors.T + self.bias


class _SentencesLookedUp(WordHead):
    """at.nonzero()[:, 0]: only in which row each position lies."""

    def asked(self, hidden, at):
        return hidden if at is None else hidden[at.nonzero()[:, 0]]


class _NoTransform(WordHead):
    def features(self, hidden):
        return hidden


class _NormOnly(WordHead):
    def features(self, hidden):
        return self.norm(hidden)


class _NoGelu(WordHead):
    def features(self, hidden):
        return self.norm(self.dense(hidden))


class _Relu(WordHead):
    def features(self, hidden):
        return self.norm(F.relu(self.dense(hidden)))


class _Tanh(WordHead):
    def features(self, hidden):
        return self.norm(torch.tanh(self.dense(hidden)))


class _GeluByTanh(WordHead):
    def features(self, hidden):
        return self.norm(F.gelu(self.dense(hidden), approximate="tanh"))


class _NoNorm(WordHead):
    def features(self, hidden):
        return F.gelu(self.dense(hidden))


class _NormFirst(WordHead):
    def features(self, hidden):
        return F.gelu(self.norm(self.dense(hidden)))


class _PreNorm(WordHead):
    def features(self, hidden):
        return F.gelu(self.dense(self.norm(hidden)))


class _GeluFirst(WordHead):
    def features(self, hidden):
        return self.norm(self.dense(F.gelu(hidden)))


class _Residual(WordHead):
    def features(self, hidden):
        return self.norm(hidden + F.gelu(self.dense(hidden)))


class _DefaultEps(WordHead):
    def __init__(self, d_model, vocab_size):
        super().__init__(d_model, vocab_size)
        self.norm = nn.LayerNorm(d_model)


class _NoBias(WordHead):
    def scores(self, x, token_vectors):
        return x @ token_vectors.T


class _Softmax(WordHead):
    def scores(self, x, token_vectors):
        return super().scores(x, token_vectors).softmax(dim=-1)


class _LogSoftmax(WordHead):
    def scores(self, x, token_vectors):
        return super().scores(x, token_vectors).log_softmax(dim=-1)


class _Scaled(WordHead):
    def scores(self, x, token_vectors):
        return x @ token_vectors.T / x.shape[-1] ** 0.5 + self.bias


class _Cosine(WordHead):
    def scores(self, x, token_vectors):
        return F.normalize(x, dim=-1) @ F.normalize(token_vectors, dim=-1).T + self.bias


class _BestToken(WordHead):
    def scores(self, x, token_vectors):
        return super().scores(x, token_vectors).argmax(dim=-1)


class _AtIgnored(WordHead):
    def asked(self, hidden, at):
        return hidden


class _AtInverted(WordHead):
    def asked(self, hidden, at):
        return hidden if at is None else hidden[~at]


class _AtByColumns(WordHead):
    def asked(self, hidden, at):
        return hidden if at is None else hidden.transpose(0, 1)[at.T]


class _NoneTakenForAll(WordHead):
    """`at` without any True, taken for None."""

    def asked(self, hidden, at):
        return hidden if at is None or not at.any() else hidden[at]


class _FirstOfEachRow(WordHead):
    def asked(self, hidden, at):
        return hidden if at is None else hidden[torch.arange(len(hidden)), at.int().argmax(dim=1)]


class _NoBiasAt(WordHead):
    def forward(self, hidden, token_vectors, at=None):
        scores = super().forward(hidden, token_vectors, at)
        return scores if at is None else scores - self.bias


class _ElsewhereZero(WordHead):
    def forward(self, hidden, token_vectors, at=None):
        scores = super().forward(hidden, token_vectors)
        return scores if at is None else scores * at[..., None]


class _VectorsElsewhereZero(WordHead):
    def asked(self, hidden, at):
        return hidden if at is None else hidden * at[..., None]


class _OwnDecoder(WordHead):
    def __init__(self, d_model, vocab_size):
        super().__init__(d_model, vocab_size)
        self.decoder = nn.Linear(d_model, vocab_size, bias=False)


class _OwnDecoderWithBias(WordHead):
    def __init__(self, d_model, vocab_size):
        super().__init__(d_model, vocab_size)
        del self.bias
        self.decoder = nn.Linear(d_model, vocab_size)


class _OwnDecoderAndBias(WordHead):
    def __init__(self, d_model, vocab_size):
        super().__init__(d_model, vocab_size)
        self.decoder = nn.Linear(d_model, vocab_size)


_TIED = (
    "Your head has a matrix `decoder` of its own. The scores are tied: a word's score is the "
    "product with the word's *own* vector, from the table that BERT reads with, which `forward` is "
    "given. Only the bias, one number for each token, is the head's."
)
_LAYER = (
    "The layer `dense` has no part in your scores. The vectors of the last block go through a "
    "layer, GELU and a norm before they are compared with the token vectors."
)
_ELSEWHERE = (
    "Elsewhere you write zeros and keep all positions, which saves nothing: a score for every "
    "token of the vocabulary is the dearest part of the model. With `at`, only those positions' "
    "vectors go through the head: a result of shape (k, vocab_size)."
)
_ORDER = (
    "The order is layer, GELU, norm: norm(gelu(dense(hidden))). You normalise earlier, so what "
    "meets the token vectors is not."
)


class _AnotherEps(WordHead):
    def __init__(self, d_model, vocab_size):
        super().__init__(d_model, vocab_size)
        self.norm = nn.LayerNorm(d_model, eps=1e-6)


class _TokenVectorsNormalised(WordHead):
    def scores(self, x, token_vectors):
        return x @ F.normalize(token_vectors, dim=-1).T + self.bias


class _BiasOfThreeDimensions(WordHead):
    def __init__(self, d_model, vocab_size):
        super().__init__(d_model, vocab_size)
        self.bias = nn.Parameter(torch.zeros(1, 1, vocab_size))


class _Stacked(WordHead):
    def asked(self, hidden, at):
        return hidden if at is None else torch.stack(list(hidden[at]))


class _CutOff(WordHead):
    def features(self, hidden):
        return self.norm(F.gelu(self.dense(hidden)).detach())


HEAD = Question(
    name="hw5.WordHead",
    title="Which word was here?",
    points=3,
    minutes=20,
    difficulty=2,
    chapter="13_pretraining#two-losses-one-sum",
    cases=_head_cases,
    reference=WordHead,
    demands=(Demand(ALL, 2), Demand(SOME, 1)),
    misconceptions=(
        Misconception("not_tied", _TIED, _OwnDecoder),
        Misconception("not_tied", _TIED, _OwnDecoderWithBias),
        Misconception("not_tied", _TIED, _OwnDecoderAndBias),
        Misconception("layer_forgotten", _LAYER, _NoTransform),
        Misconception("layer_forgotten", _LAYER, _NormOnly),
        Misconception(
            "gelu_forgotten",
            "GELU is missing between the layer and the norm. Without it the layer and the token "
            "matrix would be nearly one linear map, and the layer would add little.",
            _NoGelu,
        ),
        Misconception(
            "relu_instead_of_gelu",
            "You use ReLU. BERT uses GELU, here as in its blocks: F.gelu.",
            _Relu,
        ),
        Misconception(
            "tanh_instead_of_gelu",
            "You use tanh. That is the pooler's; the head for words has GELU: F.gelu.",
            _Tanh,
        ),
        Misconception(
            "gelu_approximated",
            "Your GELU is the approximation by a tanh. It is close, but here F.gelu(x) itself is "
            "asked for, as in the published BERT.",
            _GeluByTanh,
        ),
        Misconception(
            "norm_forgotten",
            "The norm after GELU is missing. GELU's output has a mean above 0 and any size; the "
            "norm brings it to the scale that the token vectors are compared on.",
            _NoNorm,
        ),
        Misconception("normalised_too_early", _ORDER, _NormFirst),
        Misconception("normalised_too_early", _ORDER, _PreNorm),
        Misconception(
            "gelu_before_the_layer",
            "You apply GELU to `hidden` and then the layer. First the layer, then GELU, then the "
            "norm.",
            _GeluFirst,
        ),
        Misconception(
            "residual_added",
            "You add `hidden` to what the layer made of it. That is how a block does it; the head "
            "has no residual.",
            _Residual,
        ),
        Misconception(
            "default_epsilon",
            "Right, but for the ε of the norm: PyTorch's default is 1e-5, BERT's is 1e-12. It "
            "shows on this input, where the layer's weights are small, as they are when training "
            "begins: nn.LayerNorm(d_model, eps=1e-12).",
            _DefaultEps,
        ),
        Misconception(
            "bias_forgotten",
            "The bias is missing: a number for each token is added to its score. It learns first, "
            "and what it learns is how frequent the word is.",
            _NoBias,
        ),
        Misconception(
            "probabilities_returned",
            "You return probabilities. Scores are asked for: the loss takes the softmax itself.",
            _Softmax,
        ),
        Misconception(
            "log_probabilities_returned",
            "You return log-probabilities. Scores are asked for: the loss takes the softmax "
            "itself.",
            _LogSoftmax,
        ),
        Misconception(
            "scaled",
            "You divide by √d_model, as attention does. Here the product goes into the score as it "
            "is.",
            _Scaled,
        ),
        Misconception(
            "cosine",
            "You bring both vectors to length 1, which makes their product the cosine. The plain "
            "product is asked for.",
            _Cosine,
        ),
        Misconception(
            "at_ignored",
            "Right without `at`, and the same with it. Where `at` is given, scores are asked for "
            "at its True positions only, row by row: (k, vocab_size).",
            _AtIgnored,
        ),
        Misconception("zeros_elsewhere", _ELSEWHERE, _ElsewhereZero),
        Misconception("zeros_elsewhere", _ELSEWHERE, _VectorsElsewhereZero),
        Misconception(
            "whole_sentences_looked_up",
            "For each position asked about you return the scores of its whole sentence: "
            "at.nonzero() has a column for the sentence and one for the position, and you use the "
            "first alone. hidden[at] uses both.",
            _SentencesLookedUp,
        ),
        Misconception(
            "at_inverted",
            "You take the positions where `at` is False. It is True where scores are asked for.",
            _AtInverted,
        ),
        Misconception(
            "no_position_taken_for_all",
            "Right where `at` is True somewhere. Where it is True nowhere, no scores are asked "
            "for, (0, vocab_size), and you return those of all positions: only `at is None` means "
            "all. hidden[at] needs no exception.",
            _NoneTakenForAll,
        ),
        Misconception(
            "first_position_of_each_row",
            "With `at` you take one position of each sentence, the first that is True (argmax, "
            "perhaps). A sentence may have none or several: hidden[at] takes all that are True.",
            _FirstOfEachRow,
        ),
        Misconception(
            "bias_forgotten_with_at",
            "Right without `at`. With it the bias is missing: the same scores are asked for, only "
            "at fewer positions.",
            _NoBiasAt,
        ),
        Misconception(
            "column_by_column",
            "The scores are right and in another order: they are asked for row by row, first all "
            "positions of the first sentence, then the second's. hidden[at] gives that order.",
            _AtByColumns,
        ),
        Misconception(
            "best_token_returned",
            "You return the token with the highest score. The scores of *all* tokens are asked "
            "for: training needs them.",
            _BestToken,
        ),
        squeezing(WordHead),
        dropping(WordHead),
        remembering(WordHead),
        keeping(WordHead, "token_vectors"),
        keeping(WordHead, "at"),
        keeping_where_none(WordHead, "at"),
        Misconception(
            "epsilon_of_a_millionth",
            "Right, but for the ε of the norm: yours is 1e-6, BERT's is 1e-12. It shows on this "
            "input, where the layer's weights are small, as they are when training begins.",
            _AnotherEps,
        ),
        Misconception(
            "token_vectors_normalised",
            "You bring the token vectors to length 1 before you compare. They are taken as they "
            "are: a word's score is the product with its own vector.",
            _TokenVectorsNormalised,
        ),
        Misconception(
            "bias_with_more_dimensions",
            "Your bias has dimensions of size 1 in front. It is one number for each token of the "
            "vocabulary, (vocab_size,), and broadcasts by itself.",
            _BiasOfThreeDimensions,
        ),
        Misconception(
            "nothing_to_stack",
            "Right where a position is asked about. Where `at` is False everywhere there is "
            "nothing for torch.stack to stack, and it stops; hidden[at] has the shape (0, d_model) "
            "then, and the result is one of shape (0, vocab_size).",
            _Stacked,
            by_exception=True,
        ),
        Misconception(
            "cut_off_before_the_norm",
            "Right, but the layer would never learn: you detach what it makes (or compute it below "
            "no_grad), and no gradient reaches it, nor the model below.",
            _CutOff,
        ),
        always_dropping(WordHead),
    ),
)
