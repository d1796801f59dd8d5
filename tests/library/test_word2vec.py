"""Skip-gram: pairs and losses equal to naive loops and to hand computations, draws in their
proportions, vectors that learn.
"""

import math

import pytest
import torch
import torch.nn.functional as F
from torch.testing import assert_close

from lectures_lib.data.words import WordVocabulary
from lectures_lib.models import word2vec
from lectures_lib.models.word2vec import SkipGram, SkipGramBatches, WordVectors
from lectures_lib.training import fit


def sigma(x):
    return 1 / (1 + math.exp(-x))


def flat(text):
    words = torch.tensor([i for sentence in text for i in sentence])
    return words, torch.tensor([number for number, sentence in enumerate(text) for _ in sentence])


# --------------------------------------------------------------------------------------------- loss


def test_loss_of_one_example_by_hand():
    v, near, noise = (
        torch.tensor([[1.0, 2.0]]),
        torch.tensor([[0.5, 0.25]]),
        torch.tensor([[[1.0, -1.0], [0.0, 0.5]]]),
    )
    # Dot products: 1.0 with what stood near, -1.0 and 1.0 with what did not.
    expected = -(math.log(sigma(1.0)) + math.log(sigma(1.0)) + math.log(sigma(-1.0)))
    assert word2vec.skip_gram_loss(v, near, noise).item() == pytest.approx(expected, abs=1e-6)
    assert expected == pytest.approx(0.3133 + 0.3133 + 1.3133, abs=1e-3)


def test_loss_of_a_fresh_model_is_k_plus_1_times_log_2():
    model = SkipGram(20, 8)
    batch = torch.arange(4), torch.arange(4, 8), torch.arange(8, 20).view(4, 3)
    assert model(*batch).item() == pytest.approx(4 * math.log(2), abs=1e-5)


def test_loss_and_gradient_equal_the_double_loop():
    model = SkipGram(12, 5)
    torch.nn.init.normal_(model.vectors)
    torch.nn.init.normal_(model.near)
    words, near, noise = torch.randint(12, (7,)), torch.randint(12, (7,)), torch.randint(12, (7, 3))
    total = 0.0
    for i in range(7):
        v = model.vectors[words[i]]
        total = total - torch.log(torch.sigmoid(v @ model.near[near[i]]))
        for j in range(3):
            total = total - torch.log(torch.sigmoid(-(v @ model.near[noise[i, j]])))
    expected = torch.autograd.grad(total / 7, [model.vectors, model.near])
    loss = model(words, near, noise)
    assert_close(loss, total / 7)
    assert_close(torch.autograd.grad(loss, [model.vectors, model.near]), expected)


def test_loss_is_a_logistic_regression():
    model = SkipGram(9, 4)
    torch.nn.init.normal_(model.near)
    words, near, noise = torch.randint(9, (5,)), torch.randint(9, (5,)), torch.randint(9, (5, 2))
    v = model.vectors[words]
    scores = torch.einsum("bd,bkd->bk", v, model.near[torch.cat([near[:, None], noise], dim=1)])
    answers = torch.tensor([1.0, 0.0, 0.0]).expand(5, 3)
    expected = F.binary_cross_entropy_with_logits(scores, answers, reduction="sum") / 5
    assert_close(model(words, near, noise), expected)


# -------------------------------------------------------------------------------------------- pairs


@pytest.mark.parametrize("seed", range(3))
def test_pairs_equal_the_double_loop(seed):
    torch.manual_seed(seed)
    text = [torch.randint(30, (int(n),)).tolist() for n in torch.randint(0, 12, (20,))]
    words, sentence = flat(text)
    reach = torch.randint(1, 5, words.shape)
    expected = []
    for i in range(len(words)):
        for j in range(len(words)):
            if i != j and sentence[i] == sentence[j] and abs(i - j) <= reach[i]:
                expected.append((int(words[i]), int(words[j])))
    looking, seen = word2vec.pairs(words, sentence, reach)
    assert sorted(zip(looking.tolist(), seen.tolist(), strict=True)) == sorted(expected)


def test_no_pair_crosses_a_sentence_and_a_lone_word_has_none():
    looking, seen = word2vec.pairs(*flat([[1, 2], [3], [4, 5]]), torch.full((5,), 4))
    assert {*zip(looking.tolist(), seen.tolist(), strict=True)} == {(1, 2), (2, 1), (4, 5), (5, 4)}
    looking, seen = word2vec.pairs(torch.tensor([7]), torch.tensor([0]), torch.tensor([3]))
    assert len(looking) == len(seen) == 0
    looking, _ = word2vec.pairs(*(torch.zeros(0, dtype=torch.long) for _ in range(3)))
    assert len(looking) == 0


def test_probabilities_of_keeping_and_of_noise_by_hand():
    counts = torch.tensor([0, 900, 90, 10])
    # Shares 0.9, 0.09, 0.01; √(0.01 / share) = 0.1054, 0.3333, 1.
    assert_close(
        word2vec.keep_probabilities(counts, 0.01)[1:],
        torch.tensor([0.1054, 0.3333, 1.0]),
        atol=1e-4,
        rtol=0,
    )
    raised = [0.0, 900**0.75, 90**0.75, 10**0.75]
    assert_close(
        word2vec.noise_probabilities(counts), torch.tensor([x / sum(raised) for x in raised])
    )
    assert_close(word2vec.noise_probabilities(counts, power=1.0), counts / 1000)
    assert word2vec.noise_probabilities(counts, power=0.0).tolist() == pytest.approx(
        [0.0, 1 / 3, 1 / 3, 1 / 3]
    )


def test_draws_have_their_proportions():
    counts = [8000, 1500, 500]
    text = [[word] * n for word, n in enumerate(counts)]
    batches = SkipGramBatches(text, 3, window=1, k=4, threshold=0.05, batch_size=10_000)
    looking = torch.zeros(3)
    noise = torch.zeros(3)
    for batch in batches.epoch(0):
        looking += torch.bincount(batch.words, minlength=3)
        noise += torch.bincount(batch.noise.flatten(), minlength=3)
    kept = torch.tensor(counts) * word2vec.keep_probabilities(torch.tensor(counts), 0.05)
    # With a window of 1, n words in a row make 2 (n - 1) pairs.
    assert (looking / 2 - kept).abs().max() < 5 * (0.25 * max(counts)) ** 0.5
    shares = noise / noise.sum()
    assert (
        shares - word2vec.noise_probabilities(torch.tensor(counts))
    ).abs().max() < 5 * 0.5 / noise.sum().sqrt()


def test_near_words_count_for_more():
    text = [list(range(100)) for _ in range(200)]
    distances = torch.zeros(6)
    for batch in SkipGramBatches(text, 100, window=5, threshold=1.0).epoch(0):
        distances += torch.bincount((batch.words - batch.near).abs(), minlength=6)
    share = distances[1:] / distances[1]
    assert_close(share, torch.tensor([1.0, 0.8, 0.6, 0.4, 0.2]), atol=0.03, rtol=0)


def test_epochs_differ_and_can_be_made_again():
    text = [torch.randint(50, (9,)).tolist() for _ in range(60)]
    batches = SkipGramBatches(text, 50, threshold=0.01, batch_size=64)
    again = SkipGramBatches(text, 50, threshold=0.01, batch_size=64)
    for first, second in zip(batches.epoch(3), again.epoch(3), strict=True):
        assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))
    one, other = next(batches.epoch(0)), next(batches.epoch(1))
    assert not torch.equal(one.words, other.words)
    assert not torch.equal(
        one.noise,
        next(SkipGramBatches(text, 50, threshold=0.01, batch_size=64, seed=1).epoch(0)).noise,
    )


# ----------------------------------------------------------------------------------------- training


def two_worlds():
    """Sentences of two kinds whose words never meet; within a kind, words of a pair stand in the
    same places.
    """
    sentences = []
    for i in range(400):
        animal, food = ("cat", "dog")[i % 2], ("bread", "cheese")[i // 2 % 2]
        sentences += [[animal, "chases", "mice", "outside"], ["eat", food, "for", "lunch"]]
    return sentences


def trained(seed=0):
    sentences = two_worlds()
    vocabulary = WordVocabulary.build(sentences)
    torch.manual_seed(seed)
    model = SkipGram(len(vocabulary), 8)
    batches = SkipGramBatches(
        word2vec.encode(sentences, vocabulary),
        len(vocabulary),
        threshold=1.0,
        batch_size=256,
        seed=seed,
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    history = fit(model, batches, word2vec.batch_loss, optimizer, steps=150, progress=False)
    return WordVectors(vocabulary.words, model.vectors), history


def test_words_in_the_same_places_get_similar_vectors():
    vectors, history = trained()
    assert (
        history.losses[0] == pytest.approx(6 * math.log(2), abs=0.01)
        and history.losses[-1] < 0.7 * history.losses[0]
    )
    assert vectors.cosine("cat", "dog") > 0.8 > 0.4 > vectors.cosine("cat", "bread")
    assert vectors.nearest("bread", 1)[0][0] == "cheese" or vectors.cosine("bread", "cheese") > 0.8
    again, _ = trained()
    assert torch.equal(vectors.vectors, again.vectors)


def test_nearest_equals_a_loop_and_leaves_the_word_out():
    vectors = WordVectors("abcdef", torch.randn(6, 4))
    cosines = {
        word: F.cosine_similarity(vectors["c"], vectors[word], dim=0).item() for word in "abdef"
    }
    expected = sorted(cosines, key=cosines.get, reverse=True)
    found = vectors.nearest("c", 5)
    assert [word for word, _ in found] == expected
    assert [cosine for _, cosine in found] == pytest.approx(
        [cosines[word] for word in expected], abs=1e-6
    )
    assert vectors.nearest(2 * vectors["c"], 1)[0] == ("c", pytest.approx(1.0, abs=1e-6))
    assert vectors.cosine("a", "b") == pytest.approx(vectors.cosine("b", "a"))


def test_unknown_words_are_left_out():
    vocabulary = WordVocabulary(["a", "b"])
    assert word2vec.encode([["a", "x", "b"], ["x"]], vocabulary) == [[4, 5], []]
    assert word2vec.count([[4, 5], [4]], len(vocabulary)).tolist() == [0, 0, 0, 0, 2, 1]


# ---------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SkipGram(0), "vocab_size = 0, d = 100"),
        (lambda: SkipGram(5, 0), "vocab_size = 5, d = 0"),
        (lambda: SkipGramBatches([[0, 1]], 2, window=0), "window = 0, k = 5, batch_size = 1024"),
        (lambda: SkipGramBatches([[0, 1]], 2, k=0), "k = 0"),
        (lambda: SkipGramBatches([[], []], 2), "no words in these 2 sentences"),
        (lambda: SkipGramBatches([[0, 7]], 5), "from 0 to 7 in a vocabulary of 5, 0 … 4"),
        (lambda: SkipGramBatches([[0, -1]], 5), "from -1 to 0"),
        (
            lambda: SkipGramBatches([[0, 1, 2, 3]] * 25, 4),
            r"of 100 words in the text, threshold = 1e-05 leaves 0\.63 in an epoch on average",
        ),
        (lambda: word2vec.keep_probabilities(torch.tensor([1, 2]), 0.0), "above 0, got 0.0"),
        (lambda: WordVectors(["a"], torch.randn(2, 3)), "1 words, 2 vectors"),
        (
            lambda: WordVectors(["a", "b"], torch.randn(2, 3))["c"],
            "no vector for 'c' among these 2 words",
        ),
        (
            lambda: WordVectors(["a", "b"], torch.randn(2, 3)).nearest("a", 2),
            "between 1 and 1 .* n = 2",
        ),
        (lambda: WordVectors(["a", "b"], torch.randn(2, 3)).cosine("a", "z"), "no vector for 'z'"),
    ],
)
def test_bad_input_is_refused_with_numbers(call, message, shapes_unchecked):
    with pytest.raises(ValueError, match=message):
        call()


def test_an_epoch_without_pairs_stops_the_training():
    model = SkipGram(5, 4)
    batches = SkipGramBatches([[0], [1], [2]], 5, threshold=1.0)
    with pytest.raises(ValueError, match="epoch 0 of the data has no batches"):
        fit(
            model,
            batches,
            word2vec.batch_loss,
            torch.optim.Adam(model.parameters()),
            steps=1,
            progress=False,
        )
