"""Words' vectors equal Hugging Face's, probes equal scikit-learn's, scores are those of the papers'
formulas; bad input is named.
"""

from copy import deepcopy

import pytest
import torch
from torch.testing import assert_close

from lectures_lib.analysis.probing import (
    Probe,
    Probed,
    ScalarMix,
    centre_of_gravity,
    control_labels,
    cumulative_scores,
    differential_scores,
    expected_layer,
    fit_probe,
    label_ids,
    layer_scores,
    most_frequent_labels,
    probe_accuracy,
    tags_and_places,
)
from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert, BertConfig
from lectures_lib.tasks.word_level import (
    attention_between_words,
    cut_words,
    word_attention,
    word_states,
)
from lectures_lib.tokenization import WordPiece

SENTENCES = [
    ["The", "flightless", "birds", "ate", "quinoa", "."],
    ["Yes", "!"],
    ["An", "unbelievably", "long-winded", "speech"],
]


@pytest.fixture(scope="module")
def reader():
    folder = minilm.checkpoint()
    return Bert.from_pretrained(folder), WordPiece.load(folder / "vocab.txt")


@pytest.fixture(scope="module")
def theirs():
    """What Hugging Face makes of the sentences: hidden states, attentions, and the word that each
    piece belongs to.
    """
    from transformers import AutoModel, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    model = AutoModel.from_pretrained(minilm.checkpoint(), attn_implementation="eager").eval()
    tokenizer = AutoTokenizer.from_pretrained(minilm.checkpoint())
    found = []
    for words in SENTENCES:
        inputs = tokenizer(words, is_split_into_words=True, return_tensors="pt")
        with torch.no_grad():
            output = model(**inputs, output_hidden_states=True, output_attentions=True)
        found.append(
            (torch.cat(output.hidden_states), torch.cat(output.attentions), inputs.word_ids(0))
        )
    return found


def test_word_states_are_the_means_of_hugging_faces_pieces(reader, theirs):
    for batch_size in (1, 3):
        for ours, (hidden, _, word_ids) in zip(
            word_states(*reader, SENTENCES, batch_size), theirs, strict=True
        ):
            n = max(i for i in word_ids if i is not None) + 1
            expected = [
                hidden[:, [p for p, word in enumerate(word_ids) if word == w]].mean(dim=1)
                for w in range(n)
            ]
            assert_close(ours, torch.stack(expected, dim=1), atol=1e-5, rtol=0)


def test_word_attention_sums_what_is_attended_to_and_averages_who_attends(reader, theirs):
    for ours, (_, weights, word_ids) in zip(
        word_attention(*reader, SENTENCES, 2), theirs, strict=True
    ):
        n = max(i for i in word_ids if i is not None) + 1
        places = [
            [0],
            *([p for p, word in enumerate(word_ids) if word == w] for w in range(n)),
            [len(word_ids) - 1],
        ]
        expected = torch.zeros(6, 12, n + 2, n + 2)
        for a, rows in enumerate(places):
            for b, columns in enumerate(places):
                expected[:, :, a, b] = weights[:, :, rows][..., columns].sum(dim=-1).mean(dim=-1)
        assert_close(ours, expected, atol=1e-5, rtol=0)
        assert_close(ours.sum(dim=-1), torch.ones(6, 12, n + 2))


def test_attention_between_words_by_hand():
    weights = torch.tensor([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.5, 0.1, 0.4]])
    # Pieces 1 and 2 are one word: it is attended to with 0.2 + 0.7, and attends to word 0 with (0.3
    # + 0.5) / 2.
    assert_close(
        attention_between_words(weights, [[0], [1, 2]]), torch.tensor([[0.1, 0.9], [0.4, 0.6]])
    )


def test_a_word_of_which_nothing_is_left_is_unknown(reader):
    tokenizer = reader[1]
    cut = cut_words(tokenizer, ["a", "\u200b", "b"])
    assert cut.ids[2] == tokenizer.token_id("[UNK]") and cut.places == [[1], [2], [3]]


def test_bad_sentences_are_refused(reader, shapes_unchecked):
    model, tokenizer = reader
    with pytest.raises(ValueError, match="a list of words is needed"):
        cut_words(tokenizer, "one string")
    with pytest.raises(ValueError, match=r"at least one, got \[\]"):
        word_states(model, tokenizer, [[]])
    with pytest.raises(ValueError, match=r"600 words are 602 pieces .* room for 512"):
        word_states(model, tokenizer, [["word"] * 600])
    with pytest.raises(ValueError, match="training mode"):
        word_states(Bert(BertConfig.TINY), tokenizer, [["word"]])
    with pytest.raises(ValueError, match=r"pieces among 0 … 2, got \[3\]"):
        attention_between_words(torch.eye(3), [[0], [3]])
    with pytest.raises(ValueError, match=r"got \[\]"):
        attention_between_words(torch.eye(3), [[0], []])


# ---- probes


def separable(n=300, states=3, d=8, classes=4, good=1, seed=0, rule=0):
    """Words whose label is plain to see in one hidden state, and in no other; words of one rule
    have the same classes.
    """
    centres = torch.randn(classes, d, generator=torch.Generator().manual_seed(rule)) * 3
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, classes, (n,), generator=generator)
    vectors = torch.randn(states, n, d, generator=generator)
    vectors[good] += centres[labels]
    return Probed(vectors, labels)


def test_the_scalar_mix_is_its_formula():
    mix, states = ScalarMix(3), torch.randn(3, 5, 7)
    assert_close(mix(states), states.mean(dim=0))  # fresh: equal shares, γ = 1
    with torch.no_grad():
        mix.w.copy_(torch.tensor([0.0, 1.0, 2.0]))
        mix.gamma.fill_(2.5)
    e = torch.tensor([1.0, 2.718281828, 7.389056099])
    s = e / e.sum()
    assert_close(mix.shares, s)
    assert_close(mix(states), 2.5 * (s[0] * states[0] + s[1] * states[1] + s[2] * states[2]))


def test_a_probe_of_one_state_equals_scikit_learn():
    from sklearn.linear_model import LogisticRegression

    train = separable(states=1, good=0)
    train.states.div_(2)
    l2 = 1e-2
    probe = fit_probe(train, 4, l2=l2, steps=300)
    x = (train.states[0] - train.states[0].mean(dim=0)) / train.states[0].std(dim=0, correction=0)
    # Ours is mean loss + l2 |W|²; theirs sum of losses + |W|² / (2 C).
    theirs = LogisticRegression(C=1 / (2 * l2 * len(x)), tol=1e-8, max_iter=2000).fit(
        x.numpy(), train.labels.numpy()
    )
    expected = torch.tensor(theirs.predict_proba(x.numpy())).float()
    # Both end a little beside the optimum; where depends on the processor (1e-4 to 3e-4 from each
    # other).
    assert_close(probe(train.states).softmax(dim=-1).detach(), expected, atol=1e-3, rtol=0)


def test_a_probe_finds_the_layer_that_knows():
    train, test = separable(seed=0), separable(seed=1)
    scores = layer_scores(train, test, 4)
    assert scores[1] > 0.95 and max(scores[0], scores[2]) < 0.4
    cumulative = cumulative_scores(train, test, 4)
    assert cumulative[0] == scores[0] and cumulative[1] > 0.9
    assert differential_scores(cumulative)[0] > 0.5
    probe = fit_probe(train, 4)
    assert probe.mix.shares.argmax() == 1
    assert (
        fit_probe(train, 4, l2_mix=0.0).mix.shares[1]
        > probe.mix.shares[1]
        > fit_probe(train, 4, l2_mix=1.0).mix.shares[1]
    )
    assert_close(
        fit_probe(train, 4, l2_mix=1000.0).mix.shares, torch.full((3,), 1 / 3), atol=1e-2, rtol=0
    )


def test_a_probe_comes_out_the_same_every_time_and_minds_no_scale():
    train, test = separable(), separable(seed=1)
    states = train.states * torch.tensor([100.0, 1.0, 0.01])[:, None, None] + 5
    scaled = Probed(states, train.labels)
    a, b, c = (fit_probe(words, 4) for words in (train, train, scaled))
    assert torch.equal(a.classify.weight, b.classify.weight)
    assert_close(a.mix.shares, c.mix.shares, atol=2e-2, rtol=0)
    assert probe_accuracy(a, test) == probe_accuracy(b, test)


def test_differential_scores_and_means_of_layers():
    # Tenney et al.: E = Σ l Δ_l / Σ Δ_l
    assert differential_scores([0.5, 0.7, 0.8]) == pytest.approx([0.2, 0.1])
    assert expected_layer([0.2, 0.1]) == pytest.approx((1 * 0.2 + 2 * 0.1) / 0.3)
    assert centre_of_gravity(torch.tensor([0.2, 0.3, 0.5])) == pytest.approx(0.3 + 1.0)


def test_control_labels_depend_on_the_type_only_and_look_like_the_real_ones():
    words = [f"w{i % 400}" for i in range(4000)] + ["The", "the", "THE"]
    labels = torch.tensor([0, 0, 0, 1] * 1000 + [2, 2, 2])
    control = control_labels(words, labels)
    assert len({*control[-3:].tolist()}) == 1
    assert all(
        torch.equal(control[:400], control[start : start + 400]) for start in range(0, 4000, 400)
    )
    # as often as among the real labels, 3 in 4
    assert 0.65 < (control[:400] == 0).float().mean() < 0.85
    assert torch.equal(control, control_labels(words, labels)) and not torch.equal(
        control, control_labels(words, labels, seed=1)
    )


def test_the_baseline_gives_each_word_its_most_frequent_label():
    labels = torch.tensor([1, 1, 0, 2])
    asked = most_frequent_labels(["a", "A", "a", "b"], labels, ["a", "b", "c"])
    assert asked.tolist() == [1, 2, 1]
    assert most_frequent_labels(["a"], labels[:1], ["c"], unknown=3).tolist() == [3]


def test_bad_probing_is_refused(shapes_unchecked):
    states, labels = torch.randn(2, 5, 3), torch.tensor([0, 1, 2, 1, 0])
    with pytest.raises(ValueError, match=r"states \(2, 5, 3\) and labels \(4,\)"):
        fit_probe(Probed(states, labels[:4]), 3)
    with pytest.raises(ValueError, match="labels are 0 … 1 for 2 classes, got 0 … 2"):
        fit_probe(Probed(states, labels), 2)
    with pytest.raises(ValueError, match="at least one word"):
        probe_accuracy(Probe(2, 3, 3), Probed(states[:, :0], labels[:0]))
    with pytest.raises(ValueError, match="at least 2 hidden states, got 1"):
        differential_scores([0.5])
    with pytest.raises(ValueError, match=r"sum to -0\.1000"):
        expected_layer([0.1, -0.2])
    with pytest.raises(ValueError, match=r"sum to 0\.5000"):
        centre_of_gravity(torch.tensor([0.25, 0.25]))
    with pytest.raises(ValueError, match="3 words and 5 labels"):
        control_labels(["a", "b", "c"], labels)
    with pytest.raises(ValueError, match="0 words and 5 labels"):
        most_frequent_labels([], labels, ["a"])
    with pytest.raises(ValueError, match="1 labels are none of the 2 names: VERB"):
        label_ids(["NOUN", "VERB"], ["NOUN", "DET"])


def test_tags_and_places_are_ones_among_zeros():
    names = ["ADJ", "DET", "NOUN"]
    (long, short) = tags_and_places([["DET", "ADJ", "NOUN"], ["NOUN"]], names, longest=4)
    assert long.tolist() == [
        [0, 1, 0, 1, 0, 0, 0],
        [1, 0, 0, 0, 1, 0, 0],
        [0, 0, 1, 0, 0, 1, 0],
    ]
    assert short.tolist() == [[0, 0, 1, 1, 0, 0, 0]]


def test_neighbours_tags_stand_beside_and_beyond_the_ends_are_zeros():
    (found,) = tags_and_places([["A", "B"]], ["A", "B"], longest=2, around=1)
    assert found.tolist() == [
        [0, 0, 1, 0, 0, 1, 1, 0],  # nothing, A, B; place 0
        [1, 0, 0, 1, 0, 0, 0, 1],  # A, B, nothing; place 1
    ]


def test_tags_and_places_refuse_what_has_no_number():
    with pytest.raises(ValueError, match="a sentence of 3 words, but places for 2"):
        tags_and_places([["A"] * 3], ["A"], longest=2)
    with pytest.raises(ValueError, match="1 labels are none of the 1 names: B"):
        tags_and_places([["B"]], ["A"], longest=2)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_words_of_a_model_of_another_precision_have_vectors_too(reader, dtype):
    model, tokenizer = reader
    found = word_states(deepcopy(model).to(dtype), tokenizer, SENTENCES)
    for states, expected in zip(found, word_states(model, tokenizer, SENTENCES), strict=True):
        tolerance = 1e-4 if dtype == torch.float64 else 0.2
        assert states.dtype == dtype
        assert_close(states.float(), expected, atol=tolerance, rtol=tolerance)


@pytest.mark.parametrize("read", [word_states, word_attention])
def test_batches_of_fewer_than_one_sentence_are_refused(reader, read):
    for size in (0, -1):
        with pytest.raises(ValueError, match="batch_size must be at least 1"):
            list(read(*reader, SENTENCES, batch_size=size))
