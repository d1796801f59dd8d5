"""The structural probe: distances in trees by hand, equal to a search; a probe finds trees that were
put into the vectors, and none in noise; bad input is named.
"""

import pytest
import torch
from torch.testing import assert_close

from lectures_lib.analysis.perturbed_masking import chain, spanning_tree
from lectures_lib.analysis.structural import (
    StructuralProbe,
    fit_structural_probe,
    probe_trees,
    structural_score,
    tree_distances,
)

FARMER = {(0, 1), (1, 2), (2, 4), (3, 4), (2, 7), (5, 7), (6, 7)}  # chapter 16c's sentence


def random_trees(number, seed=0, longest=9):
    """Trees over 4 to `longest` words, from random scores."""
    generator = torch.Generator().manual_seed(seed)
    sizes = torch.randint(4, longest + 1, (number,), generator=generator).tolist()
    return [spanning_tree(torch.rand(n, n, generator=generator)) for n in sizes]


def embedded(links, mix, noise=0.0):
    """Vectors in which a tree's distances are squared distances, mixed by a matrix: each word has
    the links between it and word 0.
    """
    n = len(links) + 1
    far = tree_distances(n, links)
    edges = sorted(links)
    below = torch.tensor(
        [
            [float((far[w, a] < far[w, b]) != (far[0, a] < far[0, b])) for a, b in edges]
            for w in range(n)
        ]
    )
    points = torch.zeros(n, len(mix))
    points[:, : len(edges)] = below
    return points @ mix + noise * torch.randn(n, len(mix))


def test_distances_in_a_tree_are_counted_by_links():
    far = tree_distances(8, FARMER)
    assert far[0, 1] == 1 and far[0, 2] == 2 and far[0, 3] == 4 and far[3, 6] == 4
    assert_close(far, far.T)
    assert_close(tree_distances(5, chain(5))[0], torch.arange(5.0))
    assert tree_distances(1, set()).tolist() == [[0.0]]


def test_the_probe_gives_squared_distances_behind_its_matrix():
    probe, h = StructuralProbe(6, 3), torch.randn(4, 6)
    with torch.no_grad():
        for i in range(4):
            for j in range(4):
                by_hand = ((h[i] - h[j]) @ probe.B.weight.T).square().sum()
                assert_close(probe(h)[i, j], by_hand)


def test_trees_that_are_in_the_vectors_are_found_and_in_noise_there_are_none():
    torch.manual_seed(0)
    trees, mix = random_trees(120), torch.randn(16, 16)
    states = [embedded(links, mix) for links in trees]
    probe = fit_structural_probe(states[:90], trees[:90], rank=16, steps=400)
    found = structural_score(probe, states[90:], trees[90:])
    noise = [torch.randn_like(x) for x in states]
    none = fit_structural_probe(noise[:90], trees[:90], rank=16, steps=400)
    by_luck = structural_score(none, noise[90:], trees[90:])
    assert found > 0.8 and by_luck < 0.45
    sizes = [len(tree) for tree in probe_trees(probe, states)]
    assert sizes == [len(links) for links in trees]


def test_the_same_seed_gives_the_same_probe_and_leaves_the_callers_numbers():
    trees = random_trees(5)
    states = [torch.randn(len(links) + 1, 8) for links in trees]
    torch.manual_seed(3)
    first = fit_structural_probe(states, trees, rank=2, steps=5)
    after = torch.rand(())
    torch.manual_seed(3)
    second = fit_structural_probe(states, trees, rank=2, steps=5)
    assert_close(first.B.weight, second.B.weight)
    torch.manual_seed(3)
    assert_close(torch.rand(()), after)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tree_distances(3, {(0, 1)}), "1 links do not connect all 3 words"),
        (lambda: tree_distances(3, {(0, 1), (1, 3)}), r"places 0 … 2, got \(1, 3\)"),
        (lambda: fit_structural_probe([], []), "got 0 sentences and 0 trees"),
        (lambda: fit_structural_probe([torch.ones(2, 4)], []), "got 1 sentences and 0 trees"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_probe_leaves_every_generator_as_it_was(monkeypatch):
    seeded = []
    monkeypatch.setattr(torch.cuda, "manual_seed_all", seeded.append)
    trees = random_trees(2)
    states = [torch.randn(len(tree) + 1, 4) for tree in trees]
    before = torch.get_rng_state()
    probe = fit_structural_probe(states, trees, rank=2, steps=1, rate=0.0, seed=5)
    assert torch.equal(torch.get_rng_state(), before) and not seeded, "nor the GPUs'"
    torch.manual_seed(5)
    assert_close(probe.B.weight, StructuralProbe(4, 2).B.weight)
