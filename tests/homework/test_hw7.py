"""Homework 7: its inputs, its worked examples, its references against the library.

The rest: `test_banks.py` and `test_graded_class.py`.
"""

import math
import re

import pytest
import torch
from torch.testing import assert_close

from lectures_lib.analysis import perturbed_masking, probing
from lectures_lib.homework import find
from lectures_lib.tasks import sentence_bert, word_level
from tests.homework.bank import SEEDS, judged, key, questions, text
from tests.homework.students_hw7 import BELOW

RIGHT = {name.split(".")[1]: find(name).reference for name in questions("hw7")}


def cases(name):
    """The inputs of all seeds."""
    return [case for seed in SEEDS for case in key(f"hw7.{name}", seed).cases]


@pytest.mark.parametrize("answer", BELOW)
def test_a_probe_trained_wrongly_is_below_the_threshold_and_no_cause_is_invented(answer):
    verdict = judged("hw7.probe_layers", answer)
    assert (verdict.right, verdict.kind, verdict.mistake) == (False, "values", "")
    assert "at least 54 are needed" in verdict.message
    assert "zero_grad" in verdict.message


def test_an_answer_that_is_right_nine_times_of_ten_passes():
    for n_wrong in (6, 7):

        def answer(*args, n_wrong=n_wrong):
            said = RIGHT["probe_layers"](*args)
            return torch.cat([(said[:n_wrong] + 1) % 3, said[n_wrong:]])

        assert judged("hw7.probe_layers", answer).right == (n_wrong == 6)


def test_one_layer_knows_and_one_has_learned_by_heart():
    """What question 3 says of its hidden states, by the library's own probes: one is best on the
    training words, another on new ones.
    """
    for seed in SEEDS[:2]:
        states, labels, dev_states, dev_labels, asked = key("hw7.probe_layers", seed).cases[0].args
        n_classes = int(labels.max()) + 1
        train, dev = probing.Probed(states, labels), probing.Probed(dev_states, dev_labels)
        on_train = probing.layer_scores(train, train, n_classes)
        on_dev = probing.layer_scores(train, dev, n_classes)
        by_heart, good = on_train.index(max(on_train)), on_dev.index(max(on_dev))
        assert len({0, by_heart, good, len(states) - 1}) == 4
        assert on_train[by_heart] > 0.99
        assert on_dev[by_heart] < 0.5
        assert on_dev[good] > 0.85
        assert (
            max(score for layer, score in enumerate(on_dev) if layer != good) < on_dev[good] - 0.03
        )
        assert len(asked[0]) == len(dev_labels)


@pytest.mark.parametrize(
    ("name", "place"),
    [("control_labels", 0), ("control_labels", 1), ("best_tree", 1), ("word_attention", 1)],
)
def test_a_list_that_is_changed_is_noticed(name, place):
    def in_place(*args):
        result = RIGHT[name](*args)
        args[place].reverse()
        return result

    verdict = judged(f"hw7.{name}", in_place)
    assert (verdict.right, verdict.kind) == (False, "changed")


def test_inputs_are_not_square():
    """No two sizes that an answer might confuse agree by accident."""
    for name in ("mix_layers", "sentence_vectors"):
        assert all(len(set(case.args[0].shape)) == 3 for case in cases(name))
    for case in cases("PairClassifier"):
        (n, d_model), (m, _) = (part.shape for part in case.args)
        assert len({n, m, d_model, case.init["n_classes"]}) == 4
    for case in cases("ranking_loss"):
        assert len(set(case.args[0].shape)) == 2
    for case in cases("word_attention"):
        assert len({*case.args[0].shape, len(case.args[1])}) == 3


def test_no_two_links_have_the_same_score():
    for case in cases("best_tree"):
        impact, heads = case.args
        i, j = torch.triu_indices(len(heads), len(heads), offset=1)
        scores = (impact + impact.T)[i, j]
        assert scores.unique().shape == scores.shape


def test_paddings_are_longer_and_shorter_and_never_zero():
    for case in cases("sentence_vectors"):
        hidden, lengths = case.args
        assert lengths.max() == hidden.shape[1]
        assert lengths.min() < hidden.shape[1] or len(lengths) == 1
        assert (hidden != 0).all()


# ------------------------------------------------------------------- the references and the library


def test_the_mix_is_the_librarys():
    for case in cases("mix_layers"):
        states, w, gamma = case.args
        theirs = probing.ScalarMix(len(w))
        theirs.w.data, theirs.gamma.data = w, torch.tensor(gamma)
        mixed, centre = RIGHT["mix_layers"](states, w, gamma)
        assert_close(mixed, theirs(states).detach())
        assert centre.item() == pytest.approx(
            probing.centre_of_gravity(theirs.shares.detach()), abs=1e-5
        )


def test_control_labels_are_the_librarys():
    """The same types, each with one label; and from the draws of the library's generator, the same
    labels.
    """
    words, labels = cases("control_labels")[0].args[:2]
    names = sorted(set(labels))
    ids = probing.label_ids(labels, names)
    generator = torch.Generator().manual_seed(3)
    draws = [
        (int(torch.randint(len(labels), (), generator=generator)) + 0.5) / len(labels)
        for _ in words
    ]
    theirs = [names[i] for i in probing.control_labels(words, ids, seed=3).tolist()]
    assert RIGHT["control_labels"](words, labels, draws) == theirs


def test_attention_between_words_is_the_librarys():
    for case in cases("word_attention"):
        assert_close(
            RIGHT["word_attention"](*case.args), word_level.attention_between_words(*case.args)
        )


def test_the_tree_is_the_librarys():
    for case in cases("best_tree"):
        impact, heads = case.args
        links, share = RIGHT["best_tree"](impact, heads)
        theirs = perturbed_masking.spanning_tree(impact)
        assert links == sorted(theirs)
        assert share == pytest.approx(
            perturbed_masking.uuas([theirs], [perturbed_masking.gold_edges(heads)])
        )


def test_pooling_is_the_librarys():
    for case in cases("sentence_vectors"):
        hidden, lengths = case.args
        for pooling, theirs in sentence_bert.POOLING.items():
            assert_close(
                RIGHT["sentence_vectors"](hidden, lengths, pooling), theirs(hidden, lengths)
            )


def test_scores_of_pairs_are_the_librarys():
    for case in cases("PairClassifier"):
        ours = RIGHT["PairClassifier"](**case.init)
        ours.load_state_dict(case.state)
        u, v = case.args
        for i, j in ((0, 0), (len(u) - 1, 0), (0, len(v) - 1)):
            assert_close(
                ours(u, v)[i, j],
                ours.W_t(sentence_bert.pair_features(u[i : i + 1], v[j : j + 1]))[0],
            )


def test_the_loss_without_copies_is_the_librarys():
    for case in cases("ranking_loss"):
        u, v, text, *scale = case.args
        if len(text.unique()) == len(text):
            assert_close(
                RIGHT["ranking_loss"](u, v, text, *scale),
                sentence_bert.in_batch_negatives(u, v, *scale),
            )


def test_the_loss_of_copies_can_become_0():
    """Perfect vectors with a text that occurs twice: what chapter 17 shows."""
    vectors = torch.eye(4)[[0, 0, 1, 2]]
    assert RIGHT["ranking_loss"](vectors, vectors, torch.tensor([5, 5, 6, 7])) < 1e-6
    assert sentence_bert.in_batch_negatives(vectors, vectors).item() == pytest.approx(
        math.log(2) / 2, abs=1e-6
    )


# ------------------------------------------------------------------------------ the worked examples


def section(question):
    """The text of a question."""
    return text("hw7").split(f"## Question {question}:")[1].split("## Question")[0]


def table(question):
    """The cells of a question's table, row by row, without marks and heading."""
    lines = [
        line
        for line in section(question).splitlines()
        if line.startswith("|") and not line.startswith("|---")
    ]
    return [[cell.strip(" *`") for cell in line.strip("|").split("|")] for line in lines][1:]


def test_the_worked_example_of_the_mix():
    states = torch.tensor([[4.0, 0], [0, 4], [8, 8]])[:, None]
    mixed, centre = RIGHT["mix_layers"](states, torch.tensor([0.25, 0.5, 0.25]).log(), 3.0)
    assert_close(mixed, torch.tensor([[9.0, 12]]))
    assert_close(centre, torch.tensor(1.0))


def test_the_worked_example_of_the_control_task():
    words, labels, told, control = map(list, zip(*table(2), strict=True))
    draws = [
        float(drawn[1]) for drawn in (re.match(r"(0\.\d+): number (\d)", t) for t in told) if drawn
    ]
    assert [int(u * 5) for u in draws] == [int(t[-1]) for t in told if t[-1].isdigit()]
    assert RIGHT["control_labels"](words, labels, draws) == control


def test_the_worked_example_of_attention():
    rows = table(4)
    weights = torch.tensor([[float(cell) for cell in row[1:4]] for row in rows])
    expected = torch.tensor([[float(cell) for cell in row[6:8]] for row in rows[:2]])
    assert_close(RIGHT["word_attention"](weights[None], [[0], [1, 2]])[0], expected)


def test_the_worked_example_of_the_tree():
    impact = torch.zeros(4, 4)
    links = re.search(r"\| link \|(.+)\|\n", section(5))[1].split("|")
    for link, score in zip(links, table(5)[0][1:], strict=True):
        i, j = map(int, link.split("–"))
        impact[i, j], impact[j, i] = float(score) - 0.5, 0.5
    found, share = RIGHT["best_tree"](impact, [3, 3, 4, 0])
    assert str(found) in section(5)
    assert f"UUAS {share:.3f}" in section(5)


def test_the_worked_example_of_pooling():
    hidden, lengths = (
        torch.tensor([[[-1.0, 2], [-5, 6], [9, 9]], [[0.0, 0], [0, 0], [0, 0]]]),
        torch.tensor([2, 3]),
    )
    for pooling, expected in (("mean", [-3.0, 4]), ("max", [-1.0, 6]), ("cls", [-1.0, 2])):
        assert_close(RIGHT["sentence_vectors"](hidden, lengths, pooling)[0], torch.tensor(expected))
    assert_close(
        RIGHT["sentence_vectors"](hidden[:1], lengths[:1], "mean", normalise=True)[0],
        torch.tensor([-0.6, 0.8]),
    )


def test_the_worked_example_of_pairs():
    u, v = torch.tensor([[1.0, 4]]), torch.tensor([[3.0, 1]])
    model = RIGHT["PairClassifier"](2, 6)
    model.load_state_dict({"W_t.weight": torch.eye(6), "W_t.bias": torch.zeros(6)})
    assert model(u, v).tolist() == [[[1, 4, 3, 1, 2, 3]]]
    assert sum(p.numel() for p in RIGHT["PairClassifier"](4, 3).parameters()) == 39


def test_the_worked_example_of_the_loss():
    scores = torch.tensor(
        [[0.0 if cell == "left out" else float(cell) for cell in row[1:4]] for row in table(8)]
    )
    copies = torch.tensor([[cell == "left out" for cell in row[1:4]] for row in table(8)])
    told = [float(row[4].split("= ")[1]) for row in table(8)]
    assert copies.tolist() == [[False, True, False], [True, False, False], [False, False, False]]
    p = scores.masked_fill(copies, -torch.inf).softmax(dim=-1).diagonal()
    assert [round(x, 3) for x in p.tolist()] == told
    losses = -p.log()
    first, second, third = (f"{loss:.3f}" for loss in losses.tolist())
    assert (
        f"losses are {first}, {second} and {third}, their mean, before rounding, "
        f"{losses.mean().item():.3f}." in " ".join(section(8).split())
    )
    # The same by the reference: vectors of length 1 whose cosines are a third of these scores.
    corner = torch.eye(7)
    v = corner[[0, 0, 1]]
    part = torch.tensor([[2, 0], [1, 0], [0, 1]]) / 3
    u = torch.cat([part, torch.zeros(3, 5)], dim=1)
    u[range(3), [2, 3, 4]] = (1 - part.square().sum(dim=1)).sqrt()
    assert_close(RIGHT["ranking_loss"](u, v, torch.tensor([7, 7, 4]), 3.0), losses.mean())


@pytest.mark.parametrize(
    "standard",
    [
        lambda x: x,
        lambda x: torch.nn.functional.layer_norm(x, x.shape[-1:]),
        lambda x: (x - x.mean()) / x.std(),
    ],
)
def test_probes_without_standard_numbers_learn_nothing(standard):
    """As they are, normalised word by word, or with one mean for a layer: what tells the label is
    too small beside the rest.
    """

    def probe(states, labels, dev_states, dev_labels, asked):
        best, answer = -1, None
        for train, dev, test in zip(
            *([standard(x) for x in xs] for xs in (states, dev_states, asked)), strict=True
        ):
            layer = torch.nn.Linear(train.shape[-1], int(labels.max()) + 1)
            optimizer = torch.optim.Adam(layer.parameters(), lr=0.05)
            for _ in range(100):
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(layer(train), labels).backward()
                optimizer.step()
            right = (layer(dev).argmax(dim=-1) == dev_labels).sum()
            if right > best:
                best, answer = right, layer(test).argmax(dim=-1)
        return answer

    for seed in range(2):
        assert judged("hw7.probe_layers", probe, seed).mistake == "one_label_for_all"
