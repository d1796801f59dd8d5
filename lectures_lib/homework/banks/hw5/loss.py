"""Question 6: only what was chosen counts; the chosen places come as BERT's own code hands them
over.
"""

from functools import partial

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from lectures_lib.homework.banks.inputs import normal, sizes, whole
from lectures_lib.homework.questions import Case, Demand, Misconception, Question

CHOSEN = "the mean over the words that were chosen, each scored at its own position"
EMPTY = "empty places do not count, and what they hold does not matter"
SURE = "a word that the model rules out costs much, and not infinitely much"

# Numbers added to a probability either show beside this one with every seed, or with none.
_HARDLY = torch.tensor(3e-5)


def _scores(g: Generator, positions: Tensor, words: Tensor, n: int, vocab_size: int) -> Tensor:
    """(batch, n, vocab_size), in which no chosen word is very improbable."""
    while True:
        logits = 2 * normal(g, len(words), n, vocab_size)
        losses = _losses(_at(logits, positions), words)
        if losses.max() < 8:
            return logits


def _others(scores: Tensor, word: Tensor) -> Tensor:
    """The logarithm of what the exponentials of all other words' scores add up to."""
    return scores[torch.arange(len(scores)) != word].logsumexp(dim=0)


def _loss_cases(g: Generator) -> list[Case]:
    cases = []
    for full in (True, False):
        batch, k, n = sorted(sizes(g, 3, 3, 9))
        vocab_size = whole(g, 11, 15)
        counts = [k if full else k - 1 - (b + 1) % 2 for b in range(batch)]
        counts[0] = k
        if not full:
            counts[-1] = 1  # then the second place of that row is empty
        rows = [
            (torch.randperm(n - 1, generator=g)[:count] + 1).sort().values.tolist()
            for count in counts
        ]
        rows[-1] = rows[-1] if full else [n - 1]
        rows[0][0] = rows[1][0] = 0  # place 0 is a place like any other
        positions = torch.tensor([row + [0] * (k - len(row)) for row in rows])
        weights = torch.tensor([[1.0] * count + [0.0] * (k - count) for count in counts])
        words = torch.randint(1, vocab_size, (batch, k), generator=g)
        words[0, 0] = words[2, 0] = 0  # token 0 is a word like any other: at place 0, and elsewhere
        words = words * weights.long()
        shows = (
            f"{batch} rows of {n} tokens, {k} places for chosen ones, {int((weights == 0).sum())} "
            f"of the {batch * k} places empty"
        )
        logits = _scores(g, positions, words, n, vocab_size)
        # a loss far from the mean: left out, it is missed
        far = positions[-1, 0], words[-1, 0]
        logits[-1, *far] = _HARDLY.log() + _others(logits[-1, far[0]], far[1])
        logits[2:, 0, 0] -= 8  # and so are those of empty places: counted, they show
        # Of the weights' gradients nothing is asked: who turns them into booleans is right.
        cases.append(
            Case(
                (logits, positions, words, weights),
                shows=shows,
                gradients="values",
                gradients_of=("argument 1",),
                demands=(CHOSEN if full else EMPTY,),
            )
        )
    n, vocab_size = whole(g, 3, 9), whole(g, 11, 15)
    place, word = (
        torch.tensor([[whole(g, 1, n - 1)]]),
        torch.tensor([[whole(g, 1, vocab_size - 1)]]),
    )
    shows = f"a single row of {n} tokens, and a single place, for a chosen one"
    cases.append(
        Case((2 * normal(g, 1, n, vocab_size), place, word, torch.ones(1, 1)), shows=shows)
    )
    # The model is sure of another word, so much that no float32 holds the probability of the right
    # one.
    sure, places = 2 * normal(g, 2, n, vocab_size), torch.cat([place, place])
    words = torch.cat([word, word])
    sure[0, place.item(), (word.item() + 1) % vocab_size] += 200
    shows = (
        f"two rows of {n} tokens, a place in each for a chosen one; one score is 200 above the "
        f"others"
    )
    sure_of = Case((sure, places, words, torch.ones(2, 1)), shows=shows, demands=(SURE,))
    return [*cases, sure_of]


def masked_word_loss(logits: Tensor, positions: Tensor, words: Tensor, weights: Tensor) -> Tensor:
    """The mean of -log p over the chosen positions."""
    return _mean(_losses(_at(logits, positions), words), weights)


def _at(logits: Tensor, positions: Tensor) -> Tensor:
    return logits[torch.arange(len(logits))[:, None], positions]  # (batch, k, vocab_size)


def _losses(scores: Tensor, words: Tensor) -> Tensor:
    return F.cross_entropy(scores.transpose(1, 2), words, reduction="none")


def _mean(losses: Tensor, weights: Tensor, over: str = "chosen") -> Tensor:
    kept = losses * weights
    if over == "places":
        return kept.mean()
    if over == "sentences":
        return kept.sum() / len(kept)
    if over == "sentence means":
        return (kept.sum(dim=1) / weights.sum(dim=1)).mean()
    return kept.sum() if over == "nothing" else kept.sum() / weights.sum()


def _loss(logits, positions, words, weights, over="chosen"):
    return _mean(_losses(_at(logits, positions), words), weights, over)


def _log_of_softmax(logits, positions, words, weights):
    p = _at(logits, positions).softmax(dim=-1).gather(-1, words[..., None])[..., 0]
    return -p[weights.bool()].log().mean()


def _weights_do_nothing(logits, positions, words, weights):
    return _losses(_at(logits, positions), words).mean()


def _first_row_s_positions(logits, positions, words, weights):
    return masked_word_loss(logits, positions[:1].expand_as(positions), words, weights)


def _empty_places_summed(logits, positions, words, weights):
    return _losses(_at(logits, positions), words).sum() / weights.sum()


def _divided_by_the_tokens(logits, positions, words, weights):
    return _loss(logits, positions, words, weights, "nothing") / (logits.shape[0] * logits.shape[1])


def _zero_ignored(logits, positions, words, weights):
    return _mean(_losses(_at(logits, positions), words), (words != 0).float())


def _position_0_ignored(logits, positions, words, weights):
    return _mean(_losses(_at(logits, positions), words), (positions != 0).float())


def _double_zero_ignored(logits, positions, words, weights):
    return _mean(_losses(_at(logits, positions), words), ((positions != 0) | (words != 0)).float())


def _any_zero_ignored(logits, positions, words, weights):
    return _mean(_losses(_at(logits, positions), words), ((positions != 0) & (words != 0)).float())


def _scores_weighted(logits, positions, words, weights):
    return _losses(_at(logits, positions) * weights[..., None], words).mean()


def _scores_weighted_divided(logits, positions, words, weights):
    return _losses(_at(logits, positions) * weights[..., None], words).sum() / weights.sum()


def _inverted(logits, positions, words, weights):
    return _mean(_losses(_at(logits, positions), words), 1 - weights)


def _first_places(logits, positions, words, weights):
    return _mean(_losses(logits[:, : words.shape[1]], words), weights)


def _flat_positions(logits, positions, words, weights):
    return _mean(_losses(logits.flatten(0, 1)[positions], words), weights)


def _next_position(logits, positions, words, weights):
    return _mean(
        _losses(_at(logits, (positions + 1).clamp(max=logits.shape[1] - 1)), words), weights
    )


def _previous_position(logits, positions, words, weights):
    return _mean(_losses(_at(logits, positions - 1), words), weights)


def _softmax_twice(logits, positions, words, weights):
    return _mean(_losses(_at(logits, positions).softmax(dim=-1), words), weights)


def _viewed(logits, positions, words, weights):
    scores = _at(logits, positions)
    batch, k, vocab_size = scores.shape
    return _mean(
        F.cross_entropy(scores.reshape(batch, vocab_size, k), words, reduction="none"), weights
    )


def _log_of_mean(logits, positions, words, weights):
    p = _at(logits, positions).softmax(dim=-1).gather(-1, words[..., None])[..., 0]
    return -_mean(p, weights).log()


def _sign(logits, positions, words, weights):
    return -masked_word_loss(logits, positions, words, weights)


def _each(logits, positions, words, weights):
    return _losses(_at(logits, positions), words) * weights


_ZEROS = (
    "You find the empty places by the zeros in `positions` and `words`. A chosen word may have "
    "either 0, or both: token 0 at position 0. Which places are empty is told by the weights alone."
)
_WEIGHTED = (
    "You multiply the *scores* by the weights. Scores of 0 do not take a place out of the loss: "
    "their softmax is the same for all tokens, and each empty place costs log(vocab_size). "
    "Multiply the losses."
)


def _zero_ignored_and_counted(logits, positions, words, weights):
    """ignore_index=0, and divided by all that were chosen."""
    return _loss(logits, positions, words, weights * (words != 0), "nothing") / weights.sum()


def _log_of_something_added(logits, positions, words, weights, more):
    p = _at(logits, positions).softmax(dim=-1).gather(-1, words[..., None])[..., 0]
    return _mean(-(p + more).log(), weights)


def _sigmoid(logits, positions, words, weights):
    p = _at(logits, positions).gather(-1, words[..., None])[..., 0].sigmoid()
    return _mean(-p.log(), weights)


def _softmax_over_positions(logits, positions, words, weights):
    return _mean(
        -_at(logits.log_softmax(dim=1), positions).gather(-1, words[..., None])[..., 0], weights
    )


def _softmax_over_chosen(logits, positions, words, weights):
    scores = _at(logits, positions).log_softmax(dim=1)
    return _mean(-scores.gather(-1, words[..., None])[..., 0], weights)


def _by_a_table(logits, positions, words, weights, empty=-100):
    """The words are written into a table of the text's places, an empty place's too: at place 0."""
    labels = torch.full(logits.shape[:2], -100)
    for b, (row, told, kept) in enumerate(zip(positions, words, weights, strict=True)):
        for i, word, weight in zip(row, told, kept, strict=True):
            labels[b, i] = word if weight else empty
    return F.cross_entropy(logits.transpose(1, 2), labels)


_ZERO_IGNORED = (
    "You leave out every place whose word is 0, with ignore_index=0 perhaps. Empty places hold a "
    "0, but 0 is also a token that may have been chosen. Which places are empty is told by the "
    "weights alone."
)
_FLOOR = (
    "You keep the probability from becoming 0, by adding a small number or by a lower limit. That "
    "also limits the loss: where the model is quite wrong, it should be large. F.cross_entropy and "
    "log_softmax need no such help."
)
_OVER_POSITIONS = (
    "Your softmax runs over the positions. At each position the words of the vocabulary compete: "
    "dim=-1."
)

LOSS = Question(
    name="hw5.masked_word_loss",
    title="Only what was asked",
    points=3,
    minutes=20,
    difficulty=2,
    chapter="13_pretraining#two-losses-one-sum",
    cases=_loss_cases,
    reference=masked_word_loss,
    misconceptions=(
        Misconception(
            "weights_do_nothing",
            "Your weights do nothing: the result is the mean over all places, the empty ones too. "
            "A well-known trap: F.cross_entropy "
            'returns one number, a mean already, unless it is told reduction="none"; multiply one '
            "number by the weights, divide by their "
            "sum, and they have cancelled out.",
            _weights_do_nothing,
        ),
        Misconception(
            "divided_by_all_places",
            "You leave out the empty places and then divide by the number of all places: the more "
            "of them are empty, the smaller the loss. Divide by the sum of the weights.",
            partial(_loss, over="places"),
        ),
        Misconception(
            "empty_places_summed",
            "You divide by the number of chosen words, but your sum has the losses of the empty "
            "places in it, too. Multiply the losses by the weights before you sum them.",
            _empty_places_summed,
        ),
        Misconception(
            "divided_by_all_tokens",
            "You divide by the number of all tokens in the batch. Most of them were not asked "
            "about: divide by the sum of the weights.",
            _divided_by_the_tokens,
        ),
        Misconception(
            "mean_of_sentence_means",
            "You take each sentence's mean and then the mean of those. Every chosen word counts "
            "the same: sum over all of them, divide by how many there are in the batch.",
            partial(_loss, over="sentence means"),
        ),
        Misconception(
            "divided_by_the_sentences",
            "You divide the sum by the number of sentences. Divide by the number of chosen words, "
            "the sum of the weights.",
            partial(_loss, over="sentences"),
        ),
        Misconception(
            "summed",
            "You return the sum over the chosen words; the mean is asked for. How many are chosen "
            "is chance, and the size of a step would be chance with it.",
            partial(_loss, over="nothing"),
        ),
        Misconception(
            "token_0_ignored",
            _ZERO_IGNORED,
            _zero_ignored,
        ),
        Misconception(
            "position_0_ignored",
            "You leave out every place whose position is 0. Empty places hold a 0, but position 0 "
            "is also a place of the text, and its word may have been chosen. Which places are "
            "empty is told by the weights alone.",
            _position_0_ignored,
        ),
        Misconception("zeros_taken_for_empty", _ZEROS, _double_zero_ignored),
        Misconception("zeros_taken_for_empty", _ZEROS, _any_zero_ignored),
        Misconception("scores_weighted", _WEIGHTED, _scores_weighted),
        Misconception("scores_weighted", _WEIGHTED, _scores_weighted_divided),
        Misconception(
            "weights_inverted",
            "You count the empty places and leave out the chosen words. The weight is 1 where a "
            "word was chosen.",
            _inverted,
        ),
        Misconception(
            "first_positions_taken",
            "You compare the words with the scores at the *first* places of the text. They belong "
            "to the places that `positions` names: words[b, j] stood at positions[b, j].",
            _first_places,
        ),
        Misconception(
            "positions_in_the_flattened_batch",
            "You flatten the batch and then look up `positions` in it: all sentences get scores "
            "from the first. In the flattened batch, position i of sentence b has the number b · n "
            "+ i.",
            _flat_positions,
        ),
        Misconception(
            "first_row_s_positions_for_all",
            "You look up the first sentence's positions in every sentence. Each row has its own: "
            "logits[rows, positions], with rows of the shape (batch, 1).",
            _first_row_s_positions,
        ),
        Misconception(
            "shifted",
            "You take the scores from one position too early, as a left-to-right model needs it. "
            "BERT tells the word at the very place: nothing is shifted.",
            _previous_position,
        ),
        Misconception(
            "one_position_too_late",
            "You take the scores one position too late. Positions count from 0, with [CLS] at 0.",
            _next_position,
        ),
        Misconception(
            "softmax_twice",
            "You take the softmax and hand its result to a function that takes it again "
            "(F.cross_entropy does). Hand over the scores.",
            _softmax_twice,
        ),
        Misconception(
            "viewed_instead_of_transposed",
            "F.cross_entropy wants the vocabulary in dimension 1, and you brought it there by view "
            "or reshape, which mixes the scores of different places. Use transpose(1, 2), or "
            "flatten batch and places into one.",
            _viewed,
        ),
        Misconception(
            "log_of_the_mean",
            "You take the mean of the probabilities and then its logarithm. Each word has its own "
            "-log p; average those.",
            _log_of_mean,
        ),
        Misconception(
            "log_of_a_softmax",
            "Right for moderate scores. Here one is 200 above that of the right word, whose "
            "probability is then too small for a float32: it becomes 0, and its logarithm "
            "infinite. F.cross_entropy and log_softmax take both steps at once.",
            _log_of_softmax,
        ),
        Misconception(
            "sign_flipped",
            "Your loss has the wrong sign: a model that minimised it would learn to be wrong.",
            _sign,
        ),
        Misconception(
            "not_averaged",
            "You return a loss for each place. Training needs one number: the mean over the chosen "
            "words.",
            _each,
        ),
        Misconception("token_0_ignored", _ZERO_IGNORED, _zero_ignored_and_counted),
        *(
            Misconception(
                "probability_kept_from_0", _FLOOR, partial(_log_of_something_added, more=more)
            )
            for more in (1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6)
        ),
        Misconception(
            "sigmoid_for_softmax",
            "You make each score a probability by itself, with a sigmoid. The words compete: their "
            "probabilities sum to 1, by a softmax over the vocabulary.",
            _sigmoid,
        ),
        Misconception("softmax_over_positions", _OVER_POSITIONS, _softmax_over_positions),
        Misconception("softmax_over_positions", _OVER_POSITIONS, _softmax_over_chosen),
        Misconception(
            "chosen_word_wiped_out",
            "You leave out the word chosen at position 0 where its row has empty places. They hold "
            "position 0 as well: whoever writes into a table of labels for each row of the text "
            "writes there once more for each of them. Write only where the weight is 1.",
            _by_a_table,
        ),
        Misconception(
            "empty_places_ask_for_token_0",
            "In a row with empty places you ask for token 0 at position 0, whatever was chosen "
            "there. These two zeros stand in every empty place: whoever writes into a table of "
            "labels for each row of the text writes them, too. Write only where the weight is 1.",
            partial(_by_a_table, empty=0),
        ),
    ),
    demands=(Demand(CHOSEN, 1.5), Demand(EMPTY, 1), Demand(SURE, 0.5)),
)
