"""Modified Kneser–Ney smoothing: probabilities, the paper's formulas, what it is known for."""

import math
import random
from collections import Counter

import pytest
import torch

from lectures_lib.models.ngrams import KneserNey, discounts

TEXT = [random.Random(0).choice([0, 0, 0, 1, 1, 2, 3, 4, 5]) for _ in range(3_000)]


@pytest.mark.parametrize("order", [1, 2, 3, 5])
@pytest.mark.parametrize("context", [[], [0], [5, 5, 5, 5, 5], [6, 1], [3, 2, 1, 0]])
def test_the_probabilities_sum_to_one(order, context):
    """After contexts that were seen, that were not, and that hold a token never seen (6)."""
    model = KneserNey(TEXT, order, vocab_size=8)
    shares = [model.probability(context, token) for token in range(8)]
    assert math.isclose(sum(shares), 1, rel_tol=1e-9) and min(shares) > 0


def by_the_formulas(ids, context, token, order, vocab_size):
    """Chen and Goodman (1999), written down once more: every count from the text itself."""
    grams = [{tuple(ids[i : i + n]) for i in range(len(ids) - n + 1)} for n in range(order + 2)]

    def count(gram):
        if len(gram) == order:
            return sum(tuple(ids[i : i + order]) == gram for i in range(len(ids) - order + 1))
        return sum(longer[1:] == gram for longer in grams[len(gram) + 1])

    def taken_off(n):
        found = [count(gram) for gram in grams[n]]
        n1, n2, n3, n4 = (found.count(k) for k in (1, 2, 3, 4))
        if 0 in (n1, n2, n3, n4):
            return {1: 0.5, 2: 1.0, 3: 1.5}
        y = n1 / (n1 + 2 * n2)
        return {1: 1 - 2 * y * n2 / n1, 2: 2 - 3 * y * n3 / n2, 3: 3 - 4 * y * n4 / n3}

    def probability(context, n):
        if n == 0:
            return 1 / vocab_size
        context = tuple(context[len(context) - n + 1 :])
        after = {w: count((*context, w)) for w in range(vocab_size)}
        total, d = sum(after.values()), taken_off(n)
        shorter = probability(context[1:] if context else (), n - 1)
        if total == 0:
            return shorter
        gamma = sum(d[min(c, 3)] for c in after.values() if c) / total
        c = after[token]
        return (c - (d[min(c, 3)] if c else 0)) / total + gamma * shorter

    return probability(context, order)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_the_paper_s_formulas(order):
    """Against the formulas, on a text short enough to count everything anew each time."""
    ids, rng = TEXT[:120], random.Random(1)
    model = KneserNey(ids, order, vocab_size=6)
    for _ in range(25):
        context, token = [rng.randrange(6) for _ in range(4)], rng.randrange(6)
        expected = by_the_formulas(ids, context, token, order, 6)
        assert math.isclose(model.probability(context, token), expected, rel_tol=1e-9)


def test_the_discounts_by_hand():
    """4 grams seen once, 2 twice, 1 three times, 1 four times: Y = 4 / (4 + 2·2) = 1/2."""
    counts = [1, 1, 1, 1, 2, 2, 3, 4]
    table = Counter({(token,): count for token, count in enumerate(counts)})
    assert discounts(table) == pytest.approx((0, 1 - 2 / 4, 2 - 3 / 2 / 2, 3 - 4 / 2))


def test_a_frequent_word_of_one_context_is_not_expected_elsewhere():
    """York comes behind New only, and as often as the, which comes behind anything. Behind a word
    that was never followed by either, the is the better guess.
    """
    york, new, the, others = 0, 1, 2, range(3, 13)
    ids = [new, york] * 10 + [token for other in others for token in (other, the)]
    model = KneserNey(ids, 2, vocab_size=14)
    assert ids.count(york) == ids.count(the)
    assert model.probability([13], the) > 5 * model.probability([13], york)


def test_a_text_is_the_product_of_its_tokens():
    """`log_probabilities` asks for every token but the first, with all that stands before it."""
    model = KneserNey(TEXT, 3, vocab_size=6)
    ids = TEXT[:50]
    found = model.log_probabilities(ids)
    assert len(found) == 49
    assert found[0] == math.log(model.probability(ids[:1], ids[1]))
    assert found[30] == math.log(model.probability(ids[:31], ids[31]))


def test_a_longer_memory_helps_where_there_is_something_to_remember():
    """A text that repeats itself: the longer the grams, the surer the model."""
    ids = [0, 1, 2, 0, 1, 3] * 200
    loss = [-sum(KneserNey(ids[:900], n, 4).log_probabilities(ids[900:])) for n in (1, 2, 3, 4)]
    assert loss[0] > loss[1] > loss[2] > loss[3]


def test_what_cannot_be_counted():
    """A text shorter than one gram, and numbers below 1."""
    with pytest.raises(ValueError, match="at least 5 tokens is needed, got 4"):
        KneserNey([0, 1, 2, 3], 5, 4)
    with pytest.raises(ValueError, match="order"):
        KneserNey([0, 1, 2, 3], 0, 4)


def test_discounts_that_the_formulas_do_not_give():
    """A small table in which more grams stand four times than three: they would take off −7."""
    ids = [0, 1, *(token for token, times in ((2, 2), (3, 3)) for _ in range(times))]
    ids += [token for token in range(4, 9) for _ in range(4)]
    model = KneserNey(ids, 1, 20)
    assert model.discounts == [(0.0, 0.5, 1.0, 1.5)]
    assert sum(model.probability([], token) for token in range(20)) == pytest.approx(1)
    assert all(map(math.isfinite, model.log_probabilities(ids)))


@pytest.mark.parametrize("seed", range(30))
def test_every_small_text_can_be_counted(seed):
    rng = random.Random(seed)
    ids = [rng.choice(range(rng.randint(1, 8))) for _ in range(rng.randint(4, 60))]
    for order in (1, 2, 3):
        model = KneserNey(ids, order, 8)
        assert all(p <= 1e-9 for p in model.log_probabilities(ids))
        assert all(model.probability(ids[-1:], token) > 0 for token in range(8))


def test_nothing_has_probability_0():
    """A table whose formulas would take nothing off a count of three."""
    text = "002200021030310102120112301100012130303000101"
    model = KneserNey([int(token) for token in text], 2, 6)
    assert model.probability([0], 4) > 0


def test_a_text_in_a_tensor_is_counted_as_one_in_a_list():
    ours, theirs = KneserNey(torch.tensor(TEXT), 3, 8), KneserNey(TEXT, 3, 8)
    assert ours.counts == theirs.counts
    some = torch.tensor(TEXT[:40])
    assert ours.log_probabilities(some) == theirs.log_probabilities(TEXT[:40])
    assert ours.probability(some[:2], some[2]) == theirs.probability(TEXT[:2], TEXT[2])


@pytest.mark.parametrize(
    "asked",
    [
        lambda: KneserNey([0, 1, 8], 2, 8),
        lambda: KneserNey([0, 1, -1], 2, 8),
        lambda: KneserNey(TEXT, 2, 8).probability([0], 8),
        lambda: KneserNey(TEXT, 2, 8).probability([0], -1),
        lambda: KneserNey(TEXT, 2, 8).probability([8], 0),
        lambda: KneserNey(TEXT, 2, 8).log_probabilities([0, 8]),
    ],
)
def test_a_token_that_the_vocabulary_does_not_have_is_refused(asked):
    with pytest.raises(ValueError, match=r"token id (8|-1) is not among .* 8, 0 … 7"):
        asked()
