"""Question 6: what one step of training does to the vectors of skip-gram."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Generator, Tensor

from lectures_lib.homework.banks.inputs import normal, pick, sizes, whole
from lectures_lib.homework.questions import Case, Demand, Misconception, Question

STEP = "one step down the slope of the loss, all vectors in one go"
TWICE = "a word that is drawn twice, or is the neighbour or the word itself, moves for each"
FAR = "large products are no trouble"

Tables = tuple[Tensor, Tensor]
KINDS = {
    "plain": "",
    "twice": "one of them drawn twice",
    "hits": "the neighbour and the word itself among them",
    "single": "",
    "far": "products of -150 and 150",
    "sure": "products of 150 and -150",
}


def _cases(g: Generator) -> list[Case]:
    cases = []
    rates = pick(g, range(2, 19), len(KINDS))
    for rate, (kind, told) in zip(rates, KINDS.items(), strict=True):
        k, d = sizes(g, 2, 3, 7)
        k, vocab_size, rate = 1 if kind == "single" else k, whole(g, 12, 16), rate / 20
        word, near, *noise = pick(g, range(vocab_size), 2 + k)
        if kind == "plain":  # the tables' first and last rows are used
            word, near, *noise = _with_the_ends(word, near, noise, vocab_size)
        if kind == "twice":
            noise[0] = noise[2]
        if kind == "hits":
            noise[:2] = near, word
        tables = normal(g, 2, vocab_size, d)
        if kind == "far":  # a neighbour taken for impossible, a random word that it is sure of
            tables[0, word] = 1.0
            tables[1, near], tables[1, noise[0]] = -150 / d, 150 / d
        if kind == "sure":  # the other way round: nothing is left to learn from them
            tables[0, word] = 1.0
            tables[1, near], tables[1, noise[0]] = 150 / d, -150 / d
        shows = f"{k} random word{'s' * (k > 1)}" + f", {told}" * bool(told)
        shows += f"; {vocab_size} vectors of length {d} in each table, rate {rate:g}"
        demand = {"twice": TWICE, "hits": TWICE, "far": FAR, "sure": FAR}.get(kind, STEP)
        args = (*tables, word, near, torch.tensor(noise), rate)
        cases.append(Case(args, shows=shows, demands=(demand,)))
    return cases


def _with_the_ends(word: int, near: int, noise: list[int], vocab_size: int) -> list[int]:
    """The same words, all different, with the vocabulary's last as the word and its first drawn."""
    others = [i for i in (word, near, *noise) if i not in (0, vocab_size - 1)]
    others += [i for i in range(1, vocab_size - 1) if i not in others]
    return [vocab_size - 1, *others[: len(noise)], 0]


def _errors(scores: Tensor) -> Tensor:
    """What is asked for minus what is believed, (1 + k,): 1 - σ for the neighbour, which comes
    first, and 0 - σ for the others.
    """
    return _right(scores) - scores.sigmoid()


def _right(scores: Tensor) -> Tensor:
    return torch.eye(len(scores))[0]


def skip_gram_step(
    vectors: Tensor, near_vectors: Tensor, word: int, near: int, noise: Tensor, rate: float
) -> Tables:
    """Both tables after one step against the gradient of -log σ(v · v'_near) - Σ log σ(-v ·
    v'_noise).
    """
    return _step(vectors, near_vectors, word, near, noise, rate)


def _others(near: int, noise: Tensor) -> Tensor:
    return torch.cat([torch.tensor([near]), noise])


def _step(
    vectors: Tensor,
    near_vectors: Tensor,
    word: int,
    near: int,
    noise: Tensor,
    rate: float,
    errors: Callable[[Tensor], Tensor] = _errors,
    move_word: bool = True,
    move_others: bool = True,
) -> Tables:
    v, others = vectors[word], _others(near, noise)
    by = rate * errors(near_vectors[others] @ v)
    after, near_after = vectors.clone(), near_vectors.clone()
    if move_word:
        after[word] += by @ near_vectors[others]
    if move_others:
        near_after.index_add_(0, others, torch.outer(by, v))
    return after, near_after


def _only_the_sign(scores: Tensor) -> Tensor:
    return 2 * _right(scores) - 1


def _of_the_squares(scores: Tensor) -> Tensor:
    yes = scores.sigmoid()
    return _errors(scores) * yes * (1 - yes)


def _of_the_sigmoids(scores: Tensor) -> Tensor:
    """As if the loss were made of σ, and not of its logarithm."""
    yes = scores.sigmoid()
    return _only_the_sign(scores) * yes * (1 - yes)


def _near_by_its_share(scores: Tensor) -> Tensor:
    return torch.cat([scores[:1].sigmoid(), -scores[1:].sigmoid()])


def _noise_by_what_lacks(scores: Tensor) -> Tensor:
    return torch.cat([1 - scores[:1].sigmoid(), scores[1:].sigmoid() - 1])


def _both_the_wrong_way(scores: Tensor) -> Tensor:
    return torch.cat([scores[:1].sigmoid(), scores[1:].sigmoid() - 1])


def _all_pulled(scores: Tensor) -> Tensor:
    return torch.cat([1 - scores[:1].sigmoid(), scores[1:].sigmoid()])


def _exponentials(scores: Tensor) -> Tensor:
    return _right(scores) - scores.exp() / (1 + scores.exp())


def _summed_inside(scores: Tensor) -> Tensor:
    return torch.cat(
        [1 - scores[:1].sigmoid(), -scores[1:].sum().sigmoid().expand(len(scores) - 1)]
    )


def _mean_of_the_noise(scores: Tensor) -> Tensor:
    found = _errors(scores)
    return torch.cat([found[:1], found[1:] / (len(found) - 1)])


def _rate_forgotten(vectors, near_vectors, word, near, noise, rate):
    return _step(vectors, near_vectors, word, near, noise, 1.0)


def _word_by_the_neighbour(vectors, near_vectors, word, near, noise, rate):
    after, _ = _step(vectors, near_vectors, word, near, noise[:0], rate)
    return after, _step(vectors, near_vectors, word, near, noise, rate)[1]


def _tables_swapped(vectors, near_vectors, word, near, noise, rate):
    near_after, after = _step(near_vectors, vectors, word, near, noise, rate)
    return after, near_after


def _one_table(vectors, near_vectors, word, near, noise, rate):
    """The neighbours are looked up, and moved, in the table of the words."""
    v, others = vectors[word], _others(near, noise)
    by = rate * _errors(vectors[others] @ v)
    after = vectors.index_add(0, others, torch.outer(by, v))
    after[word] += by @ vectors[others]
    return after, near_vectors


def _looked_up_in_one(vectors, near_vectors, word, near, noise, rate):
    """Looked up there, and moved in their own."""
    v, others = vectors[word], _others(near, noise)
    by = rate * _errors(vectors[others] @ v)
    after = vectors.clone()
    after[word] += by @ vectors[others]
    return after, near_vectors.index_add(0, others, torch.outer(by, v))


def _noise_in_the_first(vectors, near_vectors, word, near, noise, rate):
    """The random words are looked up among the words, and moved in the other table."""
    v, others = vectors[word], _others(near, noise)
    theirs = torch.cat([near_vectors[near][None], vectors[noise]])
    by = rate * _errors(theirs @ v)
    after = vectors.clone()
    after[word] += by @ theirs
    return after, near_vectors.index_add(0, others, torch.outer(by, v))


def _word_first(vectors, near_vectors, word, near, noise, rate, anew=False):
    """The neighbours move by the moved v; `anew`: and by errors that were computed with it."""
    after, _ = _step(vectors, near_vectors, word, near, noise, rate)
    v, others = after[word], _others(near, noise)
    by = rate * _errors(near_vectors[others] @ (v if anew else vectors[word]))
    return after, near_vectors.index_add(0, others, torch.outer(by, v))


def _others_first(vectors, near_vectors, word, near, noise, rate, anew=False):
    _, near_after = _step(vectors, near_vectors, word, near, noise, rate)
    v, others, after = vectors[word], _others(near, noise), vectors.clone()
    after[word] += (
        rate * _errors((near_after if anew else near_vectors)[others] @ v) @ near_after[others]
    )
    return after, near_after


def _near_looked_up_after_the_noise(vectors, near_vectors, word, near, noise, rate):
    """The random words move first, and the neighbour's error is that of the moved table."""
    v, others = vectors[word], _others(near, noise)
    by = rate * _errors(near_vectors[others] @ v)
    near_after = near_vectors.index_add(0, noise, torch.outer(by[1:], v))
    by[0] = rate * (1 - (near_after[near] @ v).sigmoid())
    after = vectors.clone()
    after[word] += by @ near_vectors[others]
    near_after[near] += by[0] * v
    return after, near_after


def _one_after_the_other(vectors, near_vectors, word, near, noise, rate, word_waits=False):
    """A step for each of the 1 + k; with `word_waits` the word moves at the end, as in the authors'
    code.
    """
    after, near_after, move = vectors.clone(), near_vectors.clone(), 0
    for i, other in enumerate(_others(near, noise).tolist()):
        v, theirs = (vectors if word_waits else after)[word].clone(), near_after[other].clone()
        by = rate * (float(i == 0) - (v @ theirs).sigmoid())
        near_after[other] += by * v
        move = move + by * theirs
        if not word_waits:
            after[word] += by * theirs
    if word_waits:
        after[word] += move
    return after, near_after


def _assigned(vectors, near_vectors, word, near, noise, rate):
    """Two additions to rows, of which each counts a row once."""
    v, others = vectors[word], _others(near, noise)
    by = rate * _errors(near_vectors[others] @ v)
    near_after = near_vectors.clone()
    near_after[near] += by[0] * v
    near_after[noise] += torch.outer(by[1:], v)
    return _step(vectors, near_vectors, word, near, noise, rate)[0], near_after


def _assigned_at_once(vectors, near_vectors, word, near, noise, rate):
    """One addition to rows: where the neighbour was drawn, its pull is lost."""
    v, others = vectors[word], _others(near, noise)
    by = rate * _errors(near_vectors[others] @ v)
    near_after = near_vectors.clone()
    for other, each in zip(others.tolist(), by, strict=True):
        near_after[other] = near_vectors[other] + each * v
    return _step(vectors, near_vectors, word, near, noise, rate)[0], near_after


def _each_once(vectors, near_vectors, word, near, noise, rate):
    return _step(vectors, near_vectors, word, near, noise.unique(), rate)


def _without(*left_out: str) -> Callable[..., Tables]:
    def answer(vectors, near_vectors, word, near, noise, rate):
        hidden = {"near": near, "word": word}
        kept = [i for i in noise.tolist() if i not in [hidden[name] for name in left_out]]
        return _step(vectors, near_vectors, word, near, torch.tensor(kept).long(), rate)

    return answer


def _all_words_pushed(vectors, near_vectors, word, near, noise, rate):
    words = torch.arange(len(vectors))
    return _step(vectors, near_vectors, word, near, words[words != near], rate)


def _whole_softmax(vectors, near_vectors, word, near, noise, rate):
    scores = near_vectors @ vectors[word]
    by = rate * (torch.eye(len(scores))[near] - scores.softmax(dim=0))
    after = vectors.clone()
    after[word] += by @ near_vectors
    return after, near_vectors + torch.outer(by, vectors[word])


def _along_itself(vectors, near_vectors, word, near, noise, rate):
    """Each vector is made longer or shorter, and not turned."""
    v, others = vectors[word], _others(near, noise)
    by = rate * _errors(near_vectors[others] @ v)
    after = vectors.clone()
    after[word] += by.sum() * v
    return after, near_vectors.index_add(0, others, by[:, None] * near_vectors[others])


def _towards_the_difference(vectors, near_vectors, word, near, noise, rate):
    """Each vector goes a part of the way to the other, or away from it."""
    v, others = vectors[word], _others(near, noise)
    by = rate * _errors(near_vectors[others] @ v)
    way, after = near_vectors[others] - v, vectors.clone()
    after[word] += by @ way
    return after, near_vectors.index_add(0, others, by[:, None] * -way)


def _changes_alone(vectors, near_vectors, word, near, noise, rate):
    after, near_after = _step(vectors, near_vectors, word, near, noise, rate)
    return after - vectors, near_after - near_vectors


def _by_autograd(vectors, near_vectors, word, near, noise, rate):
    tables = [table.detach().clone().requires_grad_() for table in (vectors, near_vectors)]
    v, others = tables[0][word], tables[1][_others(near, noise)]
    signs = _only_the_sign(others[:, 0])
    (-torch.nn.functional.logsigmoid(signs * (others @ v)).sum()).backward()
    return tuple(table.detach() - rate * table.grad for table in tables)


_MOST_WHERE_RIGHT = (
    "You move a vector most where the model is right already. σ(x) is the probability of *yes*: "
    "the neighbour is pulled by what lacks to 1, 1 - σ(x), and a random word pushed by what is too "
    "much, σ(x)."
)
_ORDER = (
    "You move one vector and compute with the moved one. A step takes all gradients at the *old* "
    "vectors: keep v and the rows of near_vectors as they were until everything is computed."
)
_ONCE = (
    "Right where all random words differ. A word that was drawn twice is pushed twice, and one "
    "that is the neighbour as well is pulled and pushed. `table[rows] += …` counts a row once, "
    "however often it is named; `table.index_add_(0, rows, …)`, or a loop, counts each time."
)
_PULLED = (
    "You pull the random words near as if they had stood there. For them the right answer "
    "is *no*: they are pushed away, by σ(v · v')."
)
_TABLES = (
    "There are two tables. The word itself is looked up, and moved, in `vectors`; its neighbour "
    "and the random words, which are somebody's neighbours, in `near_vectors`."
)
_DRAWN = (
    "You leave out random words that happen to be the neighbour, or the word itself. It is "
    "sensible, and the authors' code does it; in the loss here all k count as they were drawn."
)
_MEAN = (
    "You divide by the number of random words, or of all terms. The loss of one word is a *sum* of "
    "1 + k terms, so that more random words push harder."
)
_DIRECTION = (
    "The derivative of v · v' by v' is v, and by v it is v': each vector moves along the *other* "
    "one. Along itself it would only become longer or shorter; along the difference of the two it "
    "would go with another loss, of distances."
)
_SOFTMAX = (
    "You take a softmax, as if one of the words had to be chosen. Here each gets a yes or no by "
    "itself: sigmoids."
)


def _exponentials_of_minus(scores: Tensor) -> Tensor:
    """The random words by 1 - σ(-x), and σ by exponentials."""
    signed = torch.cat([scores[:1], -scores[1:]])
    lacks = 1 - signed.exp() / (1 + signed.exp())
    return torch.cat([lacks[:1], -lacks[1:]])


def _all_pushed(scores: Tensor) -> Tensor:
    return -scores.sigmoid()


def _scores_from_one_table(vectors, near_vectors, word, near, noise, rate):
    """The wrong table for the scores alone."""
    v, others = vectors[word], _others(near, noise)
    by = rate * _errors(vectors[others] @ v)
    after = vectors.clone()
    after[word] += by @ near_vectors[others]
    return after, near_vectors.index_add(0, others, torch.outer(by, v))


def _seen_through_views(vectors, near_vectors, word, near, noise, rate):
    """A step for each of the 1 + k, in which the other one meets the word as it has just moved:
    what `v = vectors[word]` does, a view.
    """
    after, near_after = vectors.clone(), near_vectors.clone()
    v = after[word]
    for i, other in enumerate(_others(near, noise).tolist()):
        theirs = near_after[other]
        v += rate * (float(i == 0) - (v @ theirs).sigmoid()) * theirs
        theirs += rate * (float(i == 0) - (v @ theirs).sigmoid()) * v
    return after, near_after


_TOO_LARGE = (
    "Right for moderate products. Here one is 150, exp(150) is more than a float32 can hold, and ∞ "
    "divided by ∞ is no number. torch.sigmoid is safe."
)

SKIP_GRAM = Question(
    name="hw6.skip_gram_step",
    title="Pulled near, pushed away",
    points=2,
    minutes=20,
    difficulty=2,
    chapter="15_features#one-vector-for-each-word",
    cases=_cases,
    reference=skip_gram_step,
    forbidden=("Tensor.backward", "torch.autograd.grad", "torch.autograd.forward_ad.make_dual"),
    misconceptions=(
        Misconception(
            "by_autograd",
            "The vectors are right, but autograd found the gradient. Here it is to be worked out "
            "on paper: log σ(x) has the derivative 1 - σ(x), and x = v · v' has v' and v.",
            _by_autograd,
        ),
        Misconception(
            "uphill",
            "Your vectors go the wrong way: after the step the loss is larger. A step goes "
            "*against* the gradient; the neighbour comes nearer, the random words move away.",
            partial(_step, errors=lambda x: -_errors(x)),
        ),
        Misconception("noise_pulled", _PULLED, partial(_step, errors=lambda x: 1 - x.sigmoid())),
        Misconception("noise_pulled", _PULLED, partial(_step, errors=_all_pulled)),
        Misconception(
            "moved_most_where_right", _MOST_WHERE_RIGHT, partial(_step, errors=_near_by_its_share)
        ),
        Misconception(
            "moved_most_where_right", _MOST_WHERE_RIGHT, partial(_step, errors=_noise_by_what_lacks)
        ),
        Misconception(
            "moved_most_where_right", _MOST_WHERE_RIGHT, partial(_step, errors=_both_the_wrong_way)
        ),
        Misconception(
            "always_the_same_move",
            "You move the vectors by the same share whatever the model believes. What it gets "
            "right already hardly moves them: the share is 1 - σ(v · v') for the neighbour and "
            "σ(v · v') for a random word.",
            partial(_step, errors=_only_the_sign),
        ),
        Misconception(
            "sigmoid_forgotten",
            "You compare the products themselves with 1 and 0. The loss is made of σ(v · v'), "
            "which lies between the two; its derivatives are 1 - σ and σ.",
            partial(_step, errors=lambda x: _right(x) - x),
        ),
        Misconception(
            "derivative_of_the_square",
            "Your moves have a further factor σ(x)(1 - σ(x)), the derivative of σ. The loss has a "
            "logarithm before it, and log σ(x) has the derivative 1 - σ(x): the factor cancels.",
            partial(_step, errors=_of_the_squares),
        ),
        Misconception(
            "logarithm_forgotten",
            "Your share of a move is σ(x)(1 - σ(x)), the derivative of σ. The loss has its "
            "*logarithm*, and log σ(x) has the derivative 1 - σ(x): that is left for the "
            "neighbour, and σ(x) for a random word.",
            partial(_step, errors=_of_the_sigmoids),
        ),
        Misconception(
            "exponentials_too_large",
            _TOO_LARGE,
            partial(_step, errors=_exponentials),
        ),
        Misconception(
            "sum_inside_of_the_sigmoid",
            "You add up the products of the random words before the sigmoid. Each is a question of "
            "its own, with an answer of its own.",
            partial(_step, errors=_summed_inside),
        ),
        Misconception(
            "softmax", _SOFTMAX, partial(_step, errors=lambda x: _right(x) - x.softmax(0))
        ),
        Misconception("softmax", _SOFTMAX, _whole_softmax),
        Misconception("mean_over_the_noise", _MEAN, partial(_step, errors=_mean_of_the_noise)),
        Misconception(
            "mean_over_the_noise", _MEAN, partial(_step, errors=lambda x: _errors(x) / len(x))
        ),
        Misconception("not_in_one_go", _ORDER, _word_first),
        Misconception("not_in_one_go", _ORDER, partial(_word_first, anew=True)),
        Misconception("not_in_one_go", _ORDER, _others_first),
        Misconception("not_in_one_go", _ORDER, partial(_others_first, anew=True)),
        Misconception("not_in_one_go", _ORDER, _near_looked_up_after_the_noise),
        Misconception("not_in_one_go", _ORDER, _one_after_the_other),
        Misconception("not_in_one_go", _ORDER, partial(_one_after_the_other, word_waits=True)),
        Misconception("drawn_twice_counted_once", _ONCE, _assigned),
        Misconception("drawn_twice_counted_once", _ONCE, _assigned_at_once),
        Misconception("drawn_twice_counted_once", _ONCE, _each_once),
        Misconception("drawn_words_left_out", _DRAWN, _without("near")),
        Misconception("drawn_words_left_out", _DRAWN, _without("near", "word")),
        Misconception(
            "only_the_word_moves",
            "You move the word's vector alone. The loss depends on the vectors of the neighbour "
            "and of the random words just as much: rows of `near_vectors` move, too.",
            partial(_step, move_others=False),
        ),
        Misconception(
            "the_word_stays",
            "The word's own vector does not move. It is in all 1 + k terms of the loss: its move "
            "is the sum of what all of them do to it.",
            partial(_step, move_word=False),
        ),
        Misconception(
            "word_moved_by_the_neighbour_alone",
            "The word's own vector is moved by the neighbour alone. It is in all 1 + k terms of "
            "the loss: each random word pushes it, too, and its move is the sum.",
            _word_by_the_neighbour,
        ),
        Misconception("one_table", _TABLES, _one_table),
        Misconception("one_table", _TABLES, _looked_up_in_one),
        Misconception("one_table", _TABLES, _tables_swapped),
        Misconception("one_table", _TABLES, _noise_in_the_first),
        Misconception(
            "noise_forgotten",
            "Nothing is pushed away. If all were only pulled near, the vectors would become alike "
            "and every answer yes; the random words are there to prevent it.",
            partial(_step, errors=lambda x: _errors(x) * _right(x)),
        ),
        Misconception(
            "neighbour_forgotten",
            "Nothing is pulled near: the neighbour that really stood there does not count.",
            partial(_step, errors=lambda x: _errors(x) * (1 - _right(x))),
        ),
        Misconception(
            "all_words_pushed",
            "You push every word of the vocabulary but the neighbour. That is what negative "
            "sampling saves: the k words that were drawn stand in for all.",
            _all_words_pushed,
        ),
        Misconception("along_another_direction", _DIRECTION, _along_itself),
        Misconception("along_another_direction", _DIRECTION, _towards_the_difference),
        Misconception(
            "rate_forgotten",
            "Your step is the whole gradient. It is multiplied by `rate` first.",
            _rate_forgotten,
        ),
        Misconception(
            "changes_returned",
            "You return by how much the vectors change. Asked for are the tables after the step: "
            "the old vectors plus the changes.",
            _changes_alone,
        ),
        Misconception("not_in_one_go", _ORDER, _seen_through_views),
        Misconception("drawn_words_left_out", _DRAWN, _without("word")),
        Misconception("one_table", _TABLES, _scores_from_one_table),
        Misconception(
            "neighbour_pushed",
            "You push the neighbour away, too, as if it had been drawn at random. It is pulled: by "
            "1 - σ(x), what lacks to 1.",
            partial(_step, errors=_all_pushed),
        ),
        Misconception(
            "exponentials_too_large", _TOO_LARGE, partial(_step, errors=_exponentials_of_minus)
        ),
    ),
    demands=(Demand(STEP, 1), Demand(TWICE, 0.5), Demand(FAR, 0.5)),
)
