"""Features: the right pieces of the right words from the right layers, equal to Hugging Face's; combinations; nearest neighbours."""

import os
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from sklearn.neighbors import KNeighborsClassifier
from torch.testing import assert_close
from transformers import AutoTokenizer, BertModel

from lectures_lib import data, features, minilm
from lectures_lib.bert import Bert, BertConfig
from lectures_lib.features import COMBINATIONS, FeatureTagger, LayerCombination, ScalarMix
from lectures_lib.tokenization import WordPiece

MIRROR = Path(os.environ.get("LECTURES_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data" / "hub")
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


# ---------------------------------------------------------------------------------------------------------------- locating


def test_words_are_located_as_hugging_face_does(tokenizer):
    theirs = AutoTokenizer.from_pretrained(minilm.checkpoint())
    for words in [*SENTENCES[:2], ["Jane's", "@friend", "flew", "to", "Reykjavík", "!!!", "yesterday"], SENTENCES[3]]:
        located, expected = features.locate_words(tokenizer, words), theirs(words, is_split_into_words=True)
        assert located.ids == expected["input_ids"]
        of_word = [[i for i, word in enumerate(expected.word_ids()) if word == number] for number in range(len(words))]
        assert [list(range(*span)) for span in located.spans] == of_word


def test_a_word_that_cleaning_empties_is_unknown_and_no_word_shifts(tokenizer):
    located = features.locate_words(tokenizer, SENTENCES[2])
    assert tokenizer.encode("\u200d") == []
    start, end = located.spans[6]
    assert located.ids[start:end] == [tokenizer.token_id("[UNK]")]
    start, end = located.spans[7]
    assert located.ids[start:end] == tokenizer.encode("yesterday")


def test_a_word_is_located_in_a_text(tokenizer):
    text = "Lightly lit by the light, photosynthesis works."
    for word in ("light", "photosynthesis", "Lightly", "."):
        located = features.locate_in_text(tokenizer, text, word, text.index(word))
        ((start, end),) = located.spans
        assert located.ids == tokenizer.pair(text).ids
        assert located.ids[start:end] == tokenizer.encode(word)
    first, second = (features.locate_in_text(tokenizer, "bank by bank", "bank", i).spans[0] for i in (0, 8))
    assert first == (1, 2) and second == (3, 4)


def test_both_ways_of_locating_agree(tokenizer, small):
    words = ["Photosynthesis", "turns", "light", "into", "sugar", "."]
    text = "Photosynthesis turns light into sugar ."
    of_list = features.word_vectors(small, [features.locate_words(tokenizer, words)])[0]
    for i, word in enumerate(words):
        in_text = features.locate_in_text(tokenizer, text, word, text.index(word))
        assert_close(features.word_vectors(small, [in_text])[0][:, 0], of_list[:, i])


@pytest.mark.mirror
@pytest.mark.parametrize("split", ["validation", "test"])
def test_every_word_of_wnut_has_its_own_pieces(tokenizer, monkeypatch, split):
    if not MIRROR.is_dir():
        pytest.skip(f"no mirror of real data: LECTURES_DATA is not set, and there is no {MIRROR}")
    monkeypatch.setenv("LECTURES_DATA", str(MIRROR))
    for example in data.load("entities", split, "real"):
        located = features.locate_words(tokenizer, example["words"])
        assert located.spans[0][0] == 1 and located.spans[-1][1] == len(located.ids) - 1
        assert all(a[1] == b[0] for a, b in zip(located.spans, located.spans[1:], strict=False))
        for word, (start, end) in zip(example["words"], located.spans, strict=True):
            assert located.ids[start:end] == (tokenizer.encode(word) or [100])


# ----------------------------------------------------------------------------------------------------------------- vectors


def test_vectors_equal_hugging_faces(tokenizer, real):
    theirs = BertModel.from_pretrained(minilm.checkpoint()).eval()
    texts = [features.locate_words(tokenizer, words) for words in SENTENCES]
    vectors = {how: features.word_vectors(real, texts, how) for how in features.PIECES}
    for i, text in enumerate(texts):
        with torch.no_grad():
            hidden = torch.stack(theirs(torch.tensor([text.ids]), output_hidden_states=True).hidden_states)[:, 0]
        for word, (start, end) in enumerate(text.spans):
            for how, expected in (("first", hidden[:, start]), ("last", hidden[:, end - 1]), ("mean", hidden[:, start:end].mean(dim=1))):
                assert_close(vectors[how][i][:, word], expected, atol=1e-5, rtol=0)


def test_states_equal_what_the_model_notes(small):
    tokens, lengths = torch.randint(5, 1000, (3, 9)), torch.tensor([9, 4, 6])
    with torch.no_grad():
        _, seen = small(tokens, lengths=lengths, return_intermediates=True)
    expected = [seen["input"], *(seen[f"block_{i}"]["after_feed_forward"] for i in range(4))]
    states = features.hidden_states(small, tokens, lengths)
    for row, n in enumerate(lengths.tolist()):
        assert_close(states[:, row, :n], torch.stack(expected)[:, row, :n])
    assert not states.requires_grad


@pytest.mark.parametrize("max_tokens", [1, 30, 4096])
def test_batches_change_nothing(tokenizer, small, max_tokens):
    texts = [features.locate_words(tokenizer, words) for words in SENTENCES]
    together = features.word_vectors(small, texts, "mean", max_tokens=max_tokens)
    for text, words, vectors in zip(texts, SENTENCES, together, strict=True):
        assert vectors.shape == (5, len(words), 16)
        assert_close(vectors, features.word_vectors(small, [text], "mean")[0])


def test_only_the_states_asked_for(tokenizer, small):
    texts = [features.locate_words(tokenizer, words) for words in SENTENCES]
    every, some = features.word_vectors(small, texts), features.word_vectors(small, texts, states=slice(-2, None))
    assert [vectors.shape[0] for vectors in some] == [2] * 4
    assert all(torch.equal(a[-2:], b) for a, b in zip(every, some, strict=True))


def test_the_model_stays_as_it_is(tokenizer, small):
    before = {name: weight.clone() for name, weight in small.state_dict().items()}
    features.word_vectors(small, [features.locate_words(tokenizer, SENTENCES[0])])
    assert all(torch.equal(weight, before[name]) for name, weight in small.state_dict().items())
    assert all(parameter.grad is None for parameter in small.parameters())


# ------------------------------------------------------------------------------------------------------------ combinations


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


def test_a_scalar_mix_by_hand_and_its_gradient():
    mix, states = ScalarMix(3), torch.randn(3, 4, 5)
    with torch.no_grad():
        mix.scores.copy_(torch.tensor([1.0, 2.0, 0.5]))
        mix.gamma.fill_(3.0)
    e = torch.tensor([1.0, 2.0, 0.5]).exp()
    expected = 3.0 * sum(weight * state for weight, state in zip(e / e.sum(), states, strict=True))
    assert_close(mix(states), expected)
    assert mix.weights.sum().item() == pytest.approx(1.0)
    mix(states).square().mean().backward()
    assert mix.scores.grad.abs().min() > 0 and mix.gamma.grad.abs() > 0


def test_a_scalar_mix_finds_the_layer_that_matters():
    torch.manual_seed(0)
    states = torch.randn(5, 400, 6)
    mix, target = ScalarMix(5), 2 * states[3]
    optimizer = torch.optim.Adam(mix.parameters(), lr=0.1)
    for _ in range(150):
        optimizer.zero_grad()
        F.mse_loss(mix(states), target).backward()
        optimizer.step()
    assert mix.weights.argmax() == 3 and mix.weights[3] > 0.95
    assert mix.gamma.item() == pytest.approx(2.0, abs=0.1)


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


# ------------------------------------------------------------------------------------------------------ nearest neighbours


def test_nearest_neighbours_equal_scikit_learns():
    torch.manual_seed(0)
    vectors, labels = torch.randn(60, 5), [f"sense {i}" for i in torch.randint(3, (60,)).tolist()]
    train = torch.arange(60) < 40
    theirs = KNeighborsClassifier(1, metric="cosine").fit(vectors[train].numpy(), labels[:40])
    expected = theirs.score(vectors[~train].numpy(), labels[40:])
    may = ~train[:, None] & train[None, :]
    assert features.nearest_neighbour_accuracy(features.cosines(vectors), labels, may) == pytest.approx(expected)


def test_ties_count_in_shares_and_nobody_is_its_own_neighbour():
    labels, others = ["a", "a", "b", "b"], ~torch.eye(4, dtype=torch.bool)
    assert features.nearest_neighbour_accuracy(torch.zeros(4, 4), labels, others) == pytest.approx(1 / 3)
    places = torch.tensor([3.0, 4.0, 3.0, 4.0])
    by_place = -(places[:, None] - places).abs()
    assert features.nearest_neighbour_accuracy(by_place, labels, others) == 0.0
    assert features.nearest_neighbour_accuracy(by_place, ["a", "b", "a", "b"], others) == 1.0
    only_first = others & (torch.arange(4) == 0)[:, None]  # the first may have neighbours, the others are not asked
    assert features.nearest_neighbour_accuracy(torch.zeros(4, 4), labels, only_first) == pytest.approx(1 / 3)


# --------------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t, m: features.locate_words(t, []), r"at least one word is needed, got \[\]"),
        (lambda t, m: features.locate_words(t, "two words"), "got 'two words'"),
        (lambda t, m: features.locate_words(t, ["word"] * 511), "513 pieces .* max_len = 512"),
        (lambda t, m: features.locate_in_text(t, "so light", "light", 2), "character 2 of 'so light', but there stands ' ligh'"),
        (lambda t, m: features.locate_in_text(t, "so light", "light", -5), "character -5"),
        (lambda t, m: features.locate_in_text(t, "so light", "", 3), "there stands ''"),
        (lambda t, m: features.locate_in_text(t, "a \u200d b", "\u200d", 2), "no piece of its own"),
        (lambda t, m: features.word_vectors(m, []), "no texts"),
        (lambda t, m: features.word_vectors(m, [features.locate_words(t, ["a"])], "cls"), "first, mean, last, got 'cls'"),
        (lambda t, m: features.word_vectors(m, [features.locate_words(t, ["a"] * 600, max_len=700)]), "512"),
        (lambda t, m: features.hidden_states(Bert(m.config), torch.tensor([[5]])), r"call model.eval\(\) first \(its dropout is 0.1\)"),
        (lambda t, m: ScalarMix(0), "at least one hidden state .* got 0"),
        (lambda t, m: ScalarMix(3)(torch.zeros(4, 2, 2)), "weights for 3 states, got 4"),
        (lambda t, m: LayerCombination("first", 6, 2), "no combination 'first'; there is: embeddings"),
        (lambda t, m: LayerCombination("concat_last_four", 3, 2), "needs four layers, the model has 3"),
        (lambda t, m: LayerCombination("last", 6, 2)(torch.zeros(6, 2)), "6 layers has 7 hidden states, got 6"),
        (
            lambda t, m: features.nearest_neighbour_accuracy(torch.zeros(3, 3), ["a", "b"], torch.ones(2, 2, dtype=torch.bool)),
            r"2 labels .* got \(3, 3\) and \(2, 2\)",
        ),
        (
            lambda t, m: features.nearest_neighbour_accuracy(torch.zeros(2, 2), ["a", "b"], torch.zeros(2, 2, dtype=torch.bool)),
            "none of the 2",
        ),
    ],
)
def test_bad_input_is_refused_with_numbers(call, message, tokenizer, small, shapes_unchecked):
    with pytest.raises(ValueError, match=message):
        call(tokenizer, small)
