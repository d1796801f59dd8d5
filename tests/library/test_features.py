"""Features: the right pieces of the right words from the right layers, equal to Hugging Face's;
combinations; nearest neighbours.
"""

import pytest
import torch
import torch.nn.functional as F
from sklearn.neighbors import KNeighborsClassifier
from torch.testing import assert_close
from transformers import AutoTokenizer, BertModel

from lectures_lib import data
from lectures_lib.analysis import features
from lectures_lib.analysis.features import COMBINATIONS, FeatureTagger, LayerCombination
from lectures_lib.blocks.recording import record
from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert, BertConfig
from lectures_lib.tasks.word_level import cut_words, word_states
from lectures_lib.tokenization import WordPiece

SENTENCES = [
    ["Photosynthesis", "turns", "light", "into", "sugar", "."],
    ["Ok"],
    ["Jane's", "@friend", "flew", "to", "Reykjavík", "!!!", "\u200d", "yesterday"],
    ["a"] * 40,
]


@pytest.fixture(scope="module")
def tokenizer():
    return WordPiece.load(minilm.checkpoint() / "vocab.txt")


@pytest.fixture(scope="module")
def real():
    return Bert.from_pretrained(minilm.checkpoint())


@pytest.fixture(scope="module")
def small():
    torch.manual_seed(0)
    return Bert(BertConfig(30_522, d_model=16, n_layers=4, n_heads=2, d_ff=32)).eval()


# ----------------------------------------------------------------------------------------- locating


def test_words_are_located_as_hugging_face_does(tokenizer):
    theirs = AutoTokenizer.from_pretrained(minilm.checkpoint())
    for words in [
        *SENTENCES[:2],
        ["Jane's", "@friend", "flew", "to", "Reykjavík", "!!!", "yesterday"],
        SENTENCES[3],
    ]:
        cut, expected = cut_words(tokenizer, words), theirs(words, is_split_into_words=True)
        assert cut.ids == expected["input_ids"]
        assert cut.places == [
            [i for i, word in enumerate(expected.word_ids()) if word == number]
            for number in range(len(words))
        ]


def test_a_word_that_cleaning_empties_is_unknown_and_no_word_shifts(tokenizer):
    cut = cut_words(tokenizer, SENTENCES[2])
    assert tokenizer.encode("\u200d") == []
    assert [cut.ids[i] for i in cut.places[6]] == [tokenizer.token_id("[UNK]")]
    assert [cut.ids[i] for i in cut.places[7]] == tokenizer.encode("yesterday")


def test_a_word_is_located_in_a_text(tokenizer):
    text = "Lightly lit by the light, photosynthesis works."
    for word in ("light", "photosynthesis", "Lightly", "."):
        cut = features.cut_text(tokenizer, text, word, text.index(word))
        assert cut.ids == tokenizer.pair(text).ids
        assert [[cut.ids[i] for i in places] for places in cut.places] == [tokenizer.encode(word)]
    assert [features.cut_text(tokenizer, "bank by bank", "bank", i).places for i in (0, 8)] == [
        [[1]],
        [[3]],
    ]


def test_both_ways_of_locating_agree(tokenizer, small):
    words = ["Photosynthesis", "turns", "light", "into", "sugar", "."]
    text = "Photosynthesis turns light into sugar ."
    of_list = features.word_vectors(small, [cut_words(tokenizer, words)])[0]
    for i, word in enumerate(words):
        in_text = features.cut_text(tokenizer, text, word, text.index(word))
        assert_close(features.word_vectors(small, [in_text])[0][:, 0], of_list[:, i])


@pytest.mark.mirror("leondz/wnut_17")
@pytest.mark.parametrize("split", ["validation", "test"])
def test_every_word_of_wnut_has_its_own_pieces(tokenizer, split):
    for example in data.load("entities", split, "real"):
        cut = cut_words(tokenizer, example["words"])
        assert [i for places in cut.places for i in places] == list(range(1, len(cut.ids) - 1))
        for word, places in zip(example["words"], cut.places, strict=True):
            assert [cut.ids[i] for i in places] == (tokenizer.encode(word) or [100])


# ------------------------------------------------------------------------------------------ vectors


def test_vectors_equal_hugging_faces(tokenizer, real):
    theirs = BertModel.from_pretrained(minilm.checkpoint()).eval()
    texts = [cut_words(tokenizer, words) for words in SENTENCES]
    vectors = {how: features.word_vectors(real, texts, how) for how in features.PIECES}
    for i, text in enumerate(texts):
        with torch.no_grad():
            hidden = torch.stack(
                theirs(torch.tensor([text.ids]), output_hidden_states=True).hidden_states
            )[:, 0]
        for word, places in enumerate(text.places):
            first, last, mean = (
                hidden[:, places[0]],
                hidden[:, places[-1]],
                hidden[:, places].mean(dim=1),
            )
            for how, expected in (("first", first), ("last", last), ("mean", mean)):
                assert_close(vectors[how][i][:, word], expected, atol=1e-5, rtol=0)


def test_states_equal_what_the_model_notes_and_the_other_reader(tokenizer, small):
    cuts = [cut_words(tokenizer, words) for words in SENTENCES]
    others = word_states(small, tokenizer, SENTENCES)
    for cut, first, mean, other in zip(
        cuts,
        features.word_vectors(small, cuts),
        features.word_vectors(small, cuts, "mean"),
        others,
        strict=True,
    ):
        with torch.no_grad(), record(small) as seen:
            small(torch.tensor([cut.ids]))
        hidden = torch.stack([seen["embeddings"], *seen.all("encoder.blocks.*")])[:, 0]
        assert_close(first, hidden[:, [places[0] for places in cut.places]])
        assert_close(mean, other)
        assert not first.requires_grad


@pytest.mark.parametrize("max_tokens", [1, 30, 4096])
def test_batches_change_nothing(tokenizer, small, max_tokens):
    texts = [cut_words(tokenizer, words) for words in SENTENCES]
    together = features.word_vectors(small, texts, "mean", max_tokens=max_tokens)
    for text, words, vectors in zip(texts, SENTENCES, together, strict=True):
        assert vectors.shape == (5, len(words), 16)
        assert_close(vectors, features.word_vectors(small, [text], "mean")[0])


def test_only_the_states_asked_for(tokenizer, small):
    texts = [cut_words(tokenizer, words) for words in SENTENCES]
    every, some = (
        features.word_vectors(small, texts),
        features.word_vectors(small, texts, states=slice(-2, None)),
    )
    assert [vectors.shape[0] for vectors in some] == [2] * 4
    assert all(torch.equal(a[-2:], b) for a, b in zip(every, some, strict=True))


def test_the_model_stays_as_it_is(tokenizer, small):
    before = {name: weight.clone() for name, weight in small.state_dict().items()}
    features.word_vectors(small, [cut_words(tokenizer, SENTENCES[0])])
    assert all(torch.equal(weight, before[name]) for name, weight in small.state_dict().items())
    assert all(parameter.grad is None for parameter in small.parameters())


# ------------------------------------------------------------------------------------- combinations


def test_combinations_by_hand():
    states = torch.arange(7.0)[:, None].expand(7, 2)  # state i is (i, i)
    expected = {
        "embeddings": [0, 0],
        "second_to_last": [5, 5],
        "last": [6, 6],
        "weighted_last_four": [4.5, 4.5],
        "concat_last_four": [3, 3, 4, 4, 5, 5, 6, 6],
        "weighted_all": [3.5, 3.5],
    }
    assert expected.keys() == COMBINATIONS.keys()
    for name, vector in expected.items():
        combination = LayerCombination(name, 6, 2)
        assert_close(combination(states), torch.tensor(vector, dtype=torch.float))
        assert combination.width == len(vector)


def test_a_weighted_sum_finds_the_layer_that_matters():
    torch.manual_seed(0)
    states = torch.randn(5, 400, 6)
    combination, target = LayerCombination("weighted_all", 4, 6), 2 * states[3]
    optimizer = torch.optim.Adam(combination.parameters(), lr=0.1)
    for _ in range(150):
        optimizer.zero_grad()
        F.mse_loss(combination(states), target).backward()
        optimizer.step()
    # the embeddings are not in the sum
    assert combination.mix.shares.argmax() == 2 and combination.mix.shares[2] > 0.95
    assert combination.mix.gamma.item() == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("name", COMBINATIONS)
@pytest.mark.parametrize("d_lstm", [0, 8])
def test_a_tagger_ignores_padding(name, d_lstm):
    torch.manual_seed(0)
    tagger = FeatureTagger(LayerCombination(name, 4, 6), 3, d_lstm).eval()
    states, lengths = torch.randn(5, 3, 7, 6), torch.tensor([7, 2, 4])
    scores = tagger(states, lengths)
    assert scores.shape == (3, 7, 3)
    for row, n in enumerate(lengths.tolist()):
        assert_close(scores[row, :n], tagger(states[:, row : row + 1, :n])[0])


def test_a_bilstm_tagger_looks_around_and_a_linear_one_does_not():
    torch.manual_seed(0)
    states = torch.randn(5, 1, 7, 6)
    changed = states.clone()
    changed[:, :, 5] += 1.0
    for d_lstm, moves in ((0, False), (8, True)):
        tagger = FeatureTagger(LayerCombination("last", 4, 6), 3, d_lstm).eval()
        assert torch.equal(tagger(states)[0, 2], tagger(changed)[0, 2]) is not moves


# ------------------------------------------------------------------------------- nearest neighbours


def test_nearest_neighbours_equal_scikit_learns():
    torch.manual_seed(0)
    vectors, labels = torch.randn(60, 5), [f"sense {i}" for i in torch.randint(3, (60,)).tolist()]
    train = torch.arange(60) < 40
    theirs = KNeighborsClassifier(1, metric="cosine").fit(vectors[train].numpy(), labels[:40])
    expected = theirs.score(vectors[~train].numpy(), labels[40:])
    may = ~train[:, None] & train[None, :]
    assert features.nearest_neighbour_accuracy(
        features.cosines_among(vectors), labels, may
    ) == pytest.approx(expected)


def test_ties_count_in_shares_and_nobody_is_its_own_neighbour():
    labels, others = ["a", "a", "b", "b"], ~torch.eye(4, dtype=torch.bool)
    assert features.nearest_neighbour_accuracy(torch.zeros(4, 4), labels, others) == pytest.approx(
        1 / 3
    )
    places = torch.tensor([3.0, 4.0, 3.0, 4.0])
    by_place = -(places[:, None] - places).abs()
    assert features.nearest_neighbour_accuracy(by_place, labels, others) == 0.0
    assert features.nearest_neighbour_accuracy(by_place, ["a", "b", "a", "b"], others) == 1.0
    # the first may have neighbours, the others are not asked
    only_first = others & (torch.arange(4) == 0)[:, None]
    assert features.nearest_neighbour_accuracy(
        torch.zeros(4, 4), labels, only_first
    ) == pytest.approx(1 / 3)


# ---------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda t, m: features.cut_text(t, "so light " * 300, "light", 3),
            "of 2700 characters is 602 pieces .* room for 512",
        ),
        (
            lambda t, m: features.cut_text(t, "so light", "light", 2),
            "character 2 of 'so light', but there stands ' ligh'",
        ),
        (lambda t, m: features.cut_text(t, "so light", "light", -5), "character -5"),
        (lambda t, m: features.cut_text(t, "so light", "", 3), "there stands ''"),
        (lambda t, m: features.cut_text(t, "a \u200d b", "\u200d", 2), "no piece of its own"),
        (lambda t, m: features.word_vectors(m, []), "no texts"),
        (
            lambda t, m: features.word_vectors(m, [cut_words(t, ["a"])], "cls"),
            "first, mean, last, got 'cls'",
        ),
        (lambda t, m: features.word_vectors(m, [cut_words(t, ["a"] * 600, max_len=700)]), "512"),
        (
            lambda t, m: features.word_vectors(Bert(m.config), [cut_words(t, ["a"])]),
            r"call model.eval\(\) first",
        ),
        (
            lambda t, m: LayerCombination("first", 6, 2),
            "no combination 'first'; there is: embeddings",
        ),
        (
            lambda t, m: LayerCombination("concat_last_four", 3, 2),
            "needs four layers, the model has 3",
        ),
        (
            lambda t, m: LayerCombination("last", 6, 2)(torch.zeros(6, 2)),
            "6 layers has 7 hidden states, got 6",
        ),
        (
            lambda t, m: features.nearest_neighbour_accuracy(
                torch.zeros(3, 3), ["a", "b"], torch.ones(2, 2, dtype=torch.bool)
            ),
            r"2 labels .* got \(3, 3\) and \(2, 2\)",
        ),
        (
            lambda t, m: features.nearest_neighbour_accuracy(
                torch.zeros(2, 2), ["a", "b"], torch.zeros(2, 2, dtype=torch.bool)
            ),
            "none of the 2",
        ),
    ],
)
def test_bad_input_is_refused_with_numbers(call, message, tokenizer, small, shapes_unchecked):
    with pytest.raises(ValueError, match=message):
        call(tokenizer, small)
