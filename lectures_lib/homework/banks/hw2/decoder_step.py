"""Question 2: one step of a recurrent decoder that looks with its new state (Luong et al. 2015)."""

import math
from dataclasses import replace

import torch
from torch import Generator, Tensor, nn

from lectures_lib.homework.banks.hw2.additive import sizes_of_one, some_lengths
from lectures_lib.homework.banks.inputs import normal, sizes
from lectures_lib.homework.banks.mistakes import (
    ANEW,
    always_dropping,
    dropping,
    keeping,
    remembering,
)
from lectures_lib.homework.questions import Case, Demand, Misconception, Question

MOVES = "with sources of one length, a step gives scores and the next state"
HIDES = "padding in the source gets no weight"
ONE = "one sentence, or a source of one word, keeps its dimensions"


def _step_cases(g: Generator) -> list[Case]:
    cases = []
    for kind in ("no padding", "some of them padded", "one sentence", "one word each"):
        batch, n, d_embedding, d_hidden = sizes(g, 4, 3, 8)
        batch, n = sizes_of_one(batch, n, kind)
        vocab_size = int(torch.randint(10, 15, (), generator=g))
        state = {
            "embedding.weight": normal(g, vocab_size, d_embedding),
            "gru.weight_ih": normal(g, 3 * d_hidden, d_embedding),
            "gru.weight_hh": normal(g, 3 * d_hidden, d_hidden),
            "gru.bias_ih": normal(g, 3 * d_hidden),
            "gru.bias_hh": normal(g, 3 * d_hidden),
            "W_c.weight": normal(g, d_hidden, 2 * d_hidden) / d_hidden**0.5,
            "W_c.bias": normal(g, d_hidden),
            "output.weight": normal(g, vocab_size, d_hidden),
            "output.bias": normal(g, vocab_size),
        }
        lengths = (
            some_lengths(g, batch, n) if kind == "some of them padded" else torch.full((batch,), n)
        )
        words = torch.randperm(vocab_size, generator=g)[:batch]
        longer = (
            words,
            torch.tanh(normal(g, batch, d_hidden)),
            2 * normal(g, batch, n + 1, d_hidden),
            lengths + 1,
        )
        cases.append(
            Case(
                (
                    words,
                    torch.tanh(normal(g, batch, d_hidden)),
                    normal(g, batch, n, d_hidden),
                    lengths,
                ),
                init={"vocab_size": vocab_size, "d_embedding": d_embedding, "d_hidden": d_hidden},
                state=state,
                again=(longer,) if kind == "no padding" else (),
                train=kind == "some of them padded",  # nothing drops out
                shows=f"{batch} sentences, sources of width {n}, "
                f"{kind}{', in training mode' if kind == 'some of them padded' else ''}; "
                f"d_embedding = {d_embedding}, d_hidden = {d_hidden}, {vocab_size} words",
                demands=(HIDES if "padded" in kind else ONE if kind.startswith("one") else MOVES,),
            )
        )
    cases[1] = _anew(g, cases[1])
    return cases


def _anew(g: Generator, case: Case) -> Case:
    """The same object once more, with new inputs of the same sizes: nothing may be kept from the
    first call.
    """
    words, hidden, states, lengths = case.args
    new = (
        (words + 1) % case.init["vocab_size"],
        torch.tanh(normal(g, *hidden.shape)),
        normal(g, *states.shape),
        lengths.roll(1),  # no two neighbours are alike
    )
    return replace(case, again=(new,), shows=case.shows + ANEW)


class DecoderStep(nn.Module):
    """Read a word, move on, look at the source, score the next word. The wrong answers below change
    one of these.
    """

    def __init__(self, vocab_size: int, d_embedding: int, d_hidden: int):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_embedding)
        self.gru = nn.GRUCell(d_embedding, d_hidden)
        self.W_c = nn.Linear(2 * d_hidden, d_hidden)
        self.output = nn.Linear(d_hidden, vocab_size)

    def forward(
        self, word: Tensor, hidden: Tensor, states: Tensor, lengths: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The scores of the next word (batch, vocab_size) and the new state (batch, d_hidden)."""
        new = self.move(self.embedding(word), hidden)
        context = self.look(self.asks(new, hidden), states, lengths)
        features = self.combine(context, new)
        return self.hand_out(self.scores(features, new), new, hidden, features)

    def move(self, y: Tensor, hidden: Tensor) -> Tensor:
        """The new state."""
        return self.gru(y, hidden)

    def asks(self, new: Tensor, hidden: Tensor) -> Tensor:
        """The state that looks."""
        return new

    def look(self, query: Tensor, states: Tensor, lengths: Tensor) -> Tensor:
        """The source's states, averaged with weights that come from dot products."""
        words = torch.arange(states.shape[1]) < lengths[:, None]
        weights = self.weights((states @ query[:, :, None])[:, :, 0], words)
        return (weights[:, None] @ states)[:, 0]

    def weights(self, scores: Tensor, words: Tensor) -> Tensor:
        """How much each word is looked at."""
        return scores.masked_fill(~words, -math.inf).softmax(dim=-1)

    def combine(self, context: Tensor, new: Tensor) -> Tensor:
        """What was seen and what is known, in one vector."""
        return torch.tanh(self.W_c(torch.cat([context, new], dim=-1)))

    def scores(self, features: Tensor, new: Tensor) -> Tensor:
        """A score for every word of the vocabulary."""
        return self.output(features)

    def hand_out(
        self, logits: Tensor, new: Tensor, hidden: Tensor, features: Tensor
    ) -> tuple[Tensor, Tensor]:
        """What is returned."""
        return logits, new


class _OldStateLooks(DecoderStep):
    def asks(self, new, hidden):
        return hidden


class _StateForgotten(DecoderStep):
    def move(self, y, hidden):
        return self.gru(y)


class _ArgumentsSwapped(DecoderStep):
    def move(self, y, hidden):
        return self.gru(hidden, y)


class _PaddingIgnored(DecoderStep):
    def weights(self, scores, words):
        return scores.softmax(dim=-1)


class _MaskedAfterSoftmax(DecoderStep):
    def weights(self, scores, words):
        return scores.softmax(dim=-1) * words


class _PaddingScoresZero(DecoderStep):
    def weights(self, scores, words):
        return (scores * words).softmax(dim=-1)


class _MaskInverted(DecoderStep):
    def weights(self, scores, words):
        return scores.masked_fill(words, -math.inf).softmax(dim=-1)


class _FirstLengthForAll(DecoderStep):
    def look(self, query, states, lengths):
        return super().look(query, states, lengths[:1])


class _SoftmaxOverBatch(DecoderStep):
    def weights(self, scores, words):
        return scores.masked_fill(~words, -math.inf).softmax(dim=0)


class _Scaled(DecoderStep):
    def look(self, query, states, lengths):
        return super().look(query / query.shape[-1] ** 0.5, states, lengths)


class _StateBeforeContext(DecoderStep):
    def combine(self, context, new):
        return super().combine(new, context)


class _TanhForgotten(DecoderStep):
    def combine(self, context, new):
        return self.W_c(torch.cat([context, new], dim=-1))


class _TanhBeforeWc(DecoderStep):
    def combine(self, context, new):
        return self.W_c(torch.tanh(torch.cat([context, new], dim=-1)))


class _ContextNeverUsed(DecoderStep):
    def scores(self, features, new):
        return self.output(new)


class _Probabilities(DecoderStep):
    def scores(self, features, new):
        return self.output(features).softmax(dim=-1)


class _LogProbabilities(DecoderStep):
    def scores(self, features, new):
        return self.output(features).log_softmax(dim=-1)


class _OldStateReturned(DecoderStep):
    def hand_out(self, logits, new, hidden, features):
        return logits, hidden


class _FeaturesReturned(DecoderStep):
    def hand_out(self, logits, new, hidden, features):
        return logits, features


class _StateFirst(DecoderStep):
    def hand_out(self, logits, new, hidden, features):
        return new, logits


class _StateNotReturned(DecoderStep):
    def forward(self, word, hidden, states, lengths):
        return super().forward(word, hidden, states, lengths)[0]


_PROBABILITIES = (
    "You return probabilities, not scores. Leave the softmax to whoever uses the scores: the loss "
    "(F.cross_entropy) takes it itself, and taking it twice flattens everything."
)


class _OldStateCombined(DecoderStep):
    def forward(self, word, hidden, states, lengths):
        new = self.move(self.embedding(word), hidden)
        features = self.combine(self.look(new, states, lengths), hidden)
        return self.scores(features, new), new


class _WholeGRU(DecoderStep):
    def __init__(self, vocab_size, d_embedding, d_hidden):
        super().__init__(vocab_size, d_embedding, d_hidden)
        self.gru = nn.GRU(d_embedding, d_hidden)


class _NoBiasInWc(DecoderStep):
    def __init__(self, vocab_size, d_embedding, d_hidden):
        super().__init__(vocab_size, d_embedding, d_hidden)
        self.W_c = nn.Linear(2 * d_hidden, d_hidden, bias=False)


class _OneTooMany(DecoderStep):
    def look(self, query, states, lengths):
        return super().look(query, states, lengths + 1)


class _ReluForTanh(DecoderStep):
    def combine(self, context, new):
        return torch.relu(self.W_c(torch.cat([context, new], dim=-1)))


class _ContextScored(DecoderStep):
    def combine(self, context, new):
        return context


class _ScoresSqueezed(DecoderStep):
    def look(self, query, states, lengths):
        words = torch.arange(states.shape[1]) < lengths[:, None]
        weights = self.weights((states @ query[:, :, None]).squeeze(), words)
        return (weights[:, None] @ states).squeeze(1)


class _ContextSqueezed(DecoderStep):
    def look(self, query, states, lengths):
        words = torch.arange(states.shape[1]) < lengths[:, None]
        weights = self.weights((states @ query[:, :, None]).squeeze(-1), words)
        return (weights[:, None] @ states).squeeze()


class _BothSqueezed(DecoderStep):
    def look(self, query, states, lengths):
        words = torch.arange(states.shape[1]) < lengths[:, None]
        weights = self.weights((states @ query[:, :, None]).squeeze(), words)
        return (weights[:, None] @ states).squeeze()


_SQUEEZED = (
    "Right, but for a batch of one sentence, or a source of one word: a bare squeeze() takes away "
    "every dimension of size 1, those of the batch and of the words, too. Name the one that is "
    "meant: squeeze(-1) for the scores, squeeze(1) for the context."
)


STEP = Question(
    name="hw2.DecoderStep",
    title="A word at a time",
    points=3,
    minutes=25,
    difficulty=2,
    chapter="01_bottleneck#three-ways-to-score",
    cases=_step_cases,
    reference=DecoderStep,
    misconceptions=(
        Misconception(
            "old_state_looks",
            "You look with the old state. That is Bahdanau's order (look, then move). Here, as in "
            "Luong's paper, the decoder moves first: it is the *new* state, the one that has read "
            "the word, that asks.",
            _OldStateLooks,
        ),
        *(
            Misconception("axes_of_size_1_squeezed_away", _SQUEEZED, answer)
            for answer in (_ScoresSqueezed, _ContextSqueezed, _BothSqueezed)
        ),
        Misconception(
            "state_forgotten",
            "Your recurrent unit does not get the old state, so it starts from zeros at every step "
            "and remembers nothing: self.gru(y, hidden).",
            _StateForgotten,
        ),
        Misconception(
            "gru_arguments_swapped",
            "nn.GRUCell takes the input first and the state second; you call it the other way "
            "round: self.gru(y, hidden), with y the word's vector.",
            _ArgumentsSwapped,
        ),
        Misconception(
            "padding_ignored",
            "Right without padding, but padded positions of the source get weight. Give positions "
            "lengths[b] and later the score -∞ before the softmax.",
            _PaddingIgnored,
        ),
        Misconception(
            "masked_after_softmax",
            "Your weights do not sum to 1 where there is padding: its share was thrown away after "
            "the softmax. Set its scores to -∞ *before* the softmax, and the words share all of "
            "it.",
            _MaskedAfterSoftmax,
        ),
        Misconception(
            "padding_scores_zero",
            "You give padding the score 0, and e⁰ = 1 still counts. Use -∞, whose exponential is "
            "0.",
            _PaddingScoresZero,
        ),
        Misconception(
            "mask_inverted",
            "You look at the padding and hide the words: the mask works the wrong way round. "
            "Position j of sentence b is a word if j < lengths[b]; the *others* get -∞.",
            _MaskInverted,
        ),
        Misconception(
            "first_length_for_all",
            "You hide the padding of all sentences by the length of the first. Each has its own: "
            "sentence b has words at positions below lengths[b].",
            _FirstLengthForAll,
        ),
        Misconception(
            "softmax_over_batch",
            "Your softmax runs over the batch: sentences compete with each other. The positions of "
            "one source share its attention: dim=-1.",
            _SoftmaxOverBatch,
        ),
        Misconception(
            "scaled",
            "You divide the dot products by √d_hidden. That is the Transformer's scaled score; "
            "Luong's dot score has no divisor.",
            _Scaled,
        ),
        Misconception(
            "state_before_context",
            "You concatenate [h; c]. The parameters that are loaded expect the context first, as "
            "in the formula: [c; h].",
            _StateBeforeContext,
        ),
        Misconception(
            "tanh_forgotten",
            "There is no tanh around W_c [c; h]. Without it W_c and the output layer are two "
            "matrices in a row, which is no more than one.",
            _TanhForgotten,
        ),
        Misconception(
            "tanh_before_w_c",
            "Your tanh is taken before W_c instead of after it: the formula is tanh(W_c [c; h]).",
            _TanhBeforeWc,
        ),
        Misconception(
            "relu_for_tanh",
            "You mix with ReLU, as the Transformer's feed-forward layer does. Luong's decoder uses "
            "tanh: f = tanh(W_c [c; h']).",
            _ReluForTanh,
        ),
        Misconception(
            "context_scored_alone",
            "You give the context itself to the output layer. What the decoder knows, its new "
            "state, has to be mixed in before: f = tanh(W_c [c; h']).",
            _ContextScored,
        ),
        Misconception(
            "context_never_used",
            "Your scores are made from the state alone: whatever was looked at is never used. The "
            "output layer reads tanh(W_c [c; h]).",
            _ContextNeverUsed,
        ),
        Misconception("probabilities_returned", _PROBABILITIES, _Probabilities),
        Misconception(
            "log_probabilities_returned",
            "You return log-probabilities, not scores. Return what the output layer gives: the "
            "logarithm of a softmax is the business of whoever uses the scores, and the loss "
            "(F.cross_entropy) takes it itself.",
            _LogProbabilities,
        ),
        Misconception(
            "old_state_returned",
            "The scores are right, but you hand back the old state: at the next step the decoder "
            "would not know that this word was read. Return the new one.",
            _OldStateReturned,
        ),
        Misconception(
            "features_returned_as_state",
            "The scores are right, but you return tanh(W_c [c; h]) as the state. In this decoder "
            "it serves the output only; the state is what the recurrent unit gave.",
            _FeaturesReturned,
        ),
        Misconception(
            "state_first",
            "Both parts are right, in the wrong order: return the scores first, then the new "
            "state.",
            _StateFirst,
        ),
        Misconception(
            "state_not_returned",
            "The scores are right, but the new state is asked for as well: without it there is no "
            "next step. Return (scores, state).",
            _StateNotReturned,
        ),
        Misconception(
            "old_state_combined",
            "Next to the context you put the *old* state into W_c. The state that looked is the "
            "new one, and it is the new one that joins the context: [context; new].",
            _OldStateCombined,
        ),
        Misconception(
            "gru_for_gru_cell",
            "Your gru is an nn.GRU, which reads whole sequences. Its parameters are called "
            "weight_ih_l0 and so on. One step is taken by nn.GRUCell(d_embedding, d_hidden).",
            _WholeGRU,
        ),
        Misconception(
            "w_c_without_bias",
            "Your W_c has no bias; the question lists one. nn.Linear has it unless it is told "
            "otherwise.",
            _NoBiasInWc,
        ),
        Misconception(
            "one_too_many",
            "One padded place too many is looked at. Places are counted from 0, so a sentence of 3 "
            "words has them at the places 0, 1 and 2: place < length, not ≤.",
            _OneTooMany,
        ),
        *(keeping(DecoderStep, name) for name in ("word", "hidden", "states", "lengths")),
        remembering(DecoderStep),
        dropping(DecoderStep),
        always_dropping(DecoderStep),
    ),
    demands=(Demand(MOVES, 1.5), Demand(HIDES, 1), Demand(ONE, 0.5)),
)
