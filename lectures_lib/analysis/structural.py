"""The structural probe: does a linear map turn a model's vectors into points whose distances are
those of the sentence's tree (chapter 16c; Hewitt and Manning 2019)?

Two words of a tree are as far apart as there are links between them. The probe is one matrix B; the
distance that it gives two words is |B h_i - B h_j|², squared as in the paper's equation 1. It is
trained on sentences whose trees are known, and judged on others by the trees that it gives.
"""

from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lectures_lib.analysis.perturbed_masking import Edge, spanning_tree, uuas


def tree_distances(n: int, links: Iterable[Edge]) -> Float[Tensor, "n n"]:
    """How many links lie between any two of n words.

    Args:
        n: number of words.  links: of a tree, pairs of places counted from 0.

    Raises:
        ValueError: for links that do not connect all n words, or a place that is none of theirs.
    """
    links = list(links)
    if strange := [link for link in links if not all(0 <= place < n for place in link)]:
        raise ValueError(f"a link is a pair of places 0 … {n - 1}, got {strange[0]}")
    far = torch.full((n, n), float("inf")).fill_diagonal_(0)
    for i, j in links:
        far[i, j] = far[j, i] = 1
    for k in range(n):  # may a way lead over word k?
        far = torch.minimum(far, far[:, k : k + 1] + far[k])
    if far.isinf().any():
        raise ValueError(f"{len(links)} links do not connect all {n} words")
    return far


class StructuralProbe(nn.Module):
    """A linear map, and squared distances behind it."""

    def __init__(self, d_model: int, rank: int):
        super().__init__()
        self.B = nn.Linear(d_model, rank, bias=False)

    def forward(self, h: Float[Tensor, "words d_model"]) -> Float[Tensor, "words words"]:
        """How far apart any two words are."""
        mapped = self.B(h)
        return (mapped[:, None] - mapped).square().sum(dim=-1)


def fit_structural_probe(
    states: Sequence[Float[Tensor, "_ d_model"]],
    trees: Sequence[set[Edge]],
    rank: int = 32,
    steps: int = 50,
    rate: float = 1e-2,
    seed: int = 0,
) -> StructuralProbe:
    """Train a probe on sentences with known trees.

    The loss is the paper's: the mean over sentences of Σ |distance in the tree - distance given| /
    n². All sentences at once, by Adam, whose rate falls to 0 in a straight line.

    Args:
        states: each sentence's vectors, of one hidden state.  trees: its links.
        rank: numbers that a mapped vector has.
        steps, rate: Adam's.  seed: of the first B.

    Raises:
        ValueError: for sentences and trees that differ in number, no sentence, or a tree that does
            not connect its words.
    """
    if len(states) != len(trees) or not states:
        raise ValueError(
            f"one tree for each sentence, and at least one: got {len(states)} sentences and "
            f"{len(trees)} trees"
        )
    h, firsts, seconds, far, weights = torch.cat(list(states)), [], [], [], []
    start = 0
    for vectors, links in zip(states, trees, strict=True):
        n = len(vectors)
        i, j = torch.triu_indices(n, n, offset=1)
        firsts.append(start + i)
        seconds.append(start + j)
        far.append(tree_distances(n, links)[i, j])
        weights.append(torch.full((len(i),), 2 / n**2))
        start += n
    first, second, goal, weight = (torch.cat(x) for x in (firsts, seconds, far, weights))
    with torch.random.fork_rng(devices=[]):
        # not torch.manual_seed: it would seed the GPUs' generators, too
        torch.default_generator.manual_seed(seed)
        probe = StructuralProbe(h.shape[1], rank)
    optimizer = torch.optim.Adam(probe.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / steps)
    for _ in range(steps):
        mapped = probe.B(h)
        given = (mapped[first] - mapped[second]).square().sum(dim=-1)
        loss = (weight * (goal - given).abs()).sum() / len(states)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return probe.eval()


@torch.no_grad()
def probe_trees(
    probe: StructuralProbe, states: Sequence[Float[Tensor, "_ d_model"]]
) -> list[set[Edge]]:
    """The tree that links all words of a sentence by the shortest distances, for each sentence."""
    return [spanning_tree(-probe(vectors)) for vectors in states]


def structural_score(
    probe: StructuralProbe,
    states: Sequence[Float[Tensor, "_ d_model"]],
    trees: Sequence[set[Edge]],
) -> float:
    """The share of the links that the probe's trees have (UUAS)."""
    return uuas(probe_trees(probe, states), trees)
