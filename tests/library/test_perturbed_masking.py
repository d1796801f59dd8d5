"""Impacts equal a plain loop over Hugging Face's model; the tree builders find the best of all
trees; scores are the definition's.
"""

from copy import deepcopy
from itertools import product

import pytest
import torch
from torch.testing import assert_close

from lectures_lib.analysis.perturbed_masking import (
    chain,
    discounted,
    eisner,
    gold_edges,
    impact_matrix,
    linked_above_unlinked,
    not_punctuation,
    random_scores,
    spanning_tree,
    uuas,
)
from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert, BertConfig
from lectures_lib.tokenization import WordPiece

WORDS = ["The", "flightless", "birds", "ate", "."]


@pytest.fixture(scope="module")
def reader():
    folder = minilm.checkpoint()
    return Bert.from_pretrained(folder), WordPiece.load(folder / "vocab.txt")


@pytest.mark.parametrize("layer", [-1, 3])
@torch.no_grad()
def test_impacts_equal_a_plain_loop(reader, layer):
    from transformers import AutoModel
    from transformers.utils import logging

    logging.disable_progress_bar()
    theirs = AutoModel.from_pretrained(minilm.checkpoint()).eval()
    tokens = ["[CLS]", "the", "flight", "##less", "birds", "ate", ".", "[SEP]"]
    ids = [reader[1].token_id(token) for token in tokens]
    places = [[1], [2, 3], [4], [5], [6]]

    def vector(word, hidden_words):
        masked = torch.tensor([ids])
        for other in hidden_words:
            masked[0, places[other]] = reader[1].token_id("[MASK]")
        return (
            theirs(masked, output_hidden_states=True)
            .hidden_states[layer][0, places[word]]
            .mean(dim=0)
        )

    expected = torch.zeros(5, 5)
    for i, j in product(range(5), repeat=2):
        if i != j:
            expected[i, j] = (vector(i, [i]) - vector(i, [i, j])).norm()
    assert_close(impact_matrix(*reader, WORDS, layer, batch_size=4), expected, atol=2e-5, rtol=1e-4)


def test_before_the_first_layer_words_have_no_impact(reader):
    assert impact_matrix(*reader, WORDS, layer=0).max() < 1e-5


def all_trees(n):
    """Every tree over n words, from its Prüfer sequence."""
    for sequence in product(range(n), repeat=n - 2):
        degree = [1 + sequence.count(i) for i in range(n)]
        edges = set()
        for i in sequence:
            leaf = degree.index(1)
            edges.add((min(i, leaf), max(i, leaf)))
            degree[i] -= 1
            degree[leaf] -= 1
        edges.add(tuple(i for i in range(n) if degree[i] == 1))
        yield edges


def crosses(edges):
    return any(a < c < b < d for a, b in edges for c, d in edges)


def total(edges, scores):
    return sum((scores[a, b] + scores[b, a]).item() for a, b in edges)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_the_builders_find_the_best_of_all_trees(n):
    trees = list(all_trees(n))
    assert len(trees) == n ** (n - 2)  # Cayley
    for seed in range(4):
        scores = torch.randn(n, n, generator=torch.Generator().manual_seed(seed))
        best = max(trees, key=lambda edges: total(edges, scores))
        best_planar = max(
            (edges for edges in trees if not crosses(edges)), key=lambda edges: total(edges, scores)
        )
        assert spanning_tree(scores) == best
        assert eisner(scores) == best_planar


def test_spanning_tree_equals_networkx_on_more_words():
    networkx = pytest.importorskip("networkx")
    for seed in range(3):
        scores = torch.rand(25, 25, generator=torch.Generator().manual_seed(seed))
        graph = networkx.from_numpy_array((scores + scores.T).numpy())
        expected = networkx.maximum_spanning_tree(graph).edges
        assert spanning_tree(scores) == {(min(edge), max(edge)) for edge in expected}
        planar = eisner(scores)
        assert len(planar) == 24 and not crosses(planar)


def test_one_word_and_two():
    for build in (eisner, spanning_tree):
        assert build(torch.zeros(1, 1)) == set()
        assert build(torch.zeros(2, 2)) == {(0, 1)} == chain(2)


def test_a_large_score_hides_no_small_one():
    scores = torch.zeros(4, 4)
    scores[0, 1], scores[2, 3], scores[1, 2], scores[0, 2] = 2.0**26, 3, 2, 1
    for build in (eisner, spanning_tree):
        assert build(scores) == {(0, 1), (2, 3), (1, 2)}


def test_gold_edges_without_punctuation():
    # Well , the cat sleeps .   heads, counted from 1: Well → sleeps, ',' → Well, the → cat, cat →
    # sleeps
    heads, upos = [5, 1, 4, 5, 0, 5], ["INTJ", "PUNCT", "DET", "NOUN", "VERB", "PUNCT"]
    kept = not_punctuation(upos)
    assert kept == [0, 2, 3, 4]
    assert gold_edges(heads, kept) == {(0, 3), (1, 2), (2, 3)}
    assert gold_edges(heads) == {(0, 4), (0, 1), (2, 3), (3, 4), (4, 5)}


def test_uuas_is_over_all_edges_together():
    gold = [{(0, 1), (1, 2), (2, 3)}, {(0, 1)}]
    assert uuas([chain(4), {(0, 2)}], gold) == 3 / 4
    assert uuas(gold, gold) == 1
    assert uuas([{(0, 3), (0, 2), (0, 1)}, chain(2)], gold) == 2 / 4


def test_favouring_near_words():
    n = 6
    scores = random_scores(n, torch.Generator().manual_seed(0))
    assert eisner(discounted(scores + 0.1, 20.0)) == chain(n)
    assert_close(discounted(scores, 0.0), scores)
    assert discounted(scores, 2.0)[0, 3] == scores[0, 3] / 9


def test_linked_above_unlinked_is_the_area_under_the_curve():
    from sklearn.metrics import roc_auc_score

    generator = torch.Generator().manual_seed(0)
    # rounded: with ties
    impacts = [random_scores(n, generator).round(decimals=1) for n in (5, 7, 9)]
    gold = [eisner(random_scores(len(impact), generator)) for impact in impacts]
    for distance in (1, 2):
        pairs = [(k, i) for k, impact in enumerate(impacts) for i in range(len(impact) - distance)]
        scores = [
            (impacts[k][i, i + distance] + impacts[k][i + distance, i]).item() for k, i in pairs
        ]
        labels = [(i, i + distance) in gold[k] for k, i in pairs]
        assert linked_above_unlinked(impacts, gold, distance) == pytest.approx(
            roc_auc_score(labels, scores)
        )


def test_bad_input_is_refused(reader, shapes_unchecked):
    model, tokenizer = reader
    with pytest.raises(ValueError, match=r"at least 2 words \(got 1\)"):
        impact_matrix(model, tokenizer, ["one"])
    with pytest.raises(ValueError, match=r"a layer from -7 to 6 \(got 7\)"):
        impact_matrix(model, tokenizer, WORDS, layer=7)
    with pytest.raises(ValueError, match=r"is in training mode.* call model\.eval"):
        impact_matrix(Bert(BertConfig.TINY), tokenizer, WORDS)
    for build in (eisner, spanning_tree):
        with pytest.raises(ValueError, match=r"got shape \(2, 3\)"):
            build(torch.zeros(2, 3))
        with pytest.raises(ValueError, match="finite"):
            build(torch.tensor([[0.0, torch.nan], [0.0, 0.0]]))
    with pytest.raises(ValueError, match="word 1 is kept, but its governor, word 2, is not"):
        gold_edges([2, 0, 2], kept=[0, 2])
    with pytest.raises(ValueError, match="got 1 and 2 with 2 edges"):
        uuas([{(0, 1)}], [{(0, 1)}, {(0, 1)}])
    with pytest.raises(ValueError, match="got 1 and 1 with 0 edges"):
        uuas([set()], [set()])
    with pytest.raises(ValueError, match="at least 0, got -1"):
        discounted(torch.ones(2, 2), -1.0)
    with pytest.raises(ValueError, match="0 linked and 1 unlinked"):
        linked_above_unlinked([torch.ones(3, 3)], [{(0, 1), (1, 2)}], 2)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_a_model_of_another_precision_has_impacts_too(reader, dtype):
    model, tokenizer = reader
    expected = impact_matrix(model, tokenizer, WORDS)
    found = impact_matrix(deepcopy(model).to(dtype), tokenizer, WORDS)
    tolerance = 1e-4 if dtype == torch.float64 else 0.5
    assert_close(found, expected, atol=tolerance, rtol=tolerance)
