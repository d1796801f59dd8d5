"""Perturbed masking: which words matter to which, asked of the model without training anything
(chapter 16c; Wu et al. 2020).

Hide word i behind [MASK] and look at the vector that the model makes for it from the others. Hide
word j as well and look again. How far the vector has moved is the *impact* of j on i. If words that
belong together grammatically have most impact on one another, then the tree that connects all words
by the largest impacts should resemble the tree of a treebank.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations

import torch
from jaxtyping import Float
from torch import Tensor

from lectures_lib.analysis.attention_statistics import check_governors
from lectures_lib.models.bert import Bert
from lectures_lib.modes import check_at_rest
from lectures_lib.tasks.word_level import cut_words, hidden_states, indicator
from lectures_lib.tokenization import WordPiece

Edge = tuple[int, int]  # two words, counted from 0, the left one first


@torch.no_grad()
def impact_matrix(
    model: Bert, tokenizer: WordPiece, words: Sequence[str], layer: int = -1, batch_size: int = 64
) -> Float[Tensor, "words words"]:
    """The impact F[i, j] of word j on word i: |H_i(i hidden) - H_i(i and j hidden)| (section 2.2 of
    the paper, "Dist").

    A word of several pieces is hidden behind as many [MASK]s, and its vector is the mean of theirs.
    One reading of the sentence with i and j hidden serves both F[i, j] and F[j, i], so that n words
    take n + n (n - 1) / 2 readings.

    Args:
        model: in evaluation mode; it needs no head for masked words.  tokenizer: the model's own,
            with [MASK].
        words: the sentence.
        layer: whose vectors are compared: 0 the embeddings, 1 the first layer's output, …, -1 the
            last layer's (the paper's choice).
        batch_size: readings at once.

    Returns:
        The impacts, 0 on the diagonal; on the CPU wherever the model is.

    Raises:
        ValueError: for fewer than two words, a layer that does not exist, or a model in training
            mode.
    """
    n_states = model.config.n_layers + 1
    check_at_rest(model)
    if len(words) < 2 or not -n_states <= layer < n_states:
        raise ValueError(
            f"needed: at least 2 words (got {len(words)}) and a layer from {-n_states} to "
            f"{n_states - 1} (got {layer})"
        )
    cut = cut_words(tokenizer, words, model.config.max_len)
    n, mask = len(words), tokenizer.token_id("[MASK]")
    hidden_words = [(i,) for i in range(n)] + list(combinations(range(n), 2))
    inputs = torch.tensor([cut.ids]).repeat(len(hidden_words), 1)
    for row, chosen in enumerate(hidden_words):
        inputs[row, [place for word in chosen for place in cut.places[word]]] = mask
    means = indicator(cut.places, len(cut.ids), mean=True)
    vectors, device = [], next(model.parameters()).device
    for part in inputs.split(batch_size):
        lengths = torch.full((len(part),), len(cut.ids), device=device)
        hidden = hidden_states(model, part.to(device), lengths)[layer].cpu()
        vectors.append(means.to(hidden) @ hidden)
    vectors = torch.cat(vectors)  # (readings, words, d_model)
    impact = torch.zeros(n, n)
    for row, (i, j) in enumerate(hidden_words[n:], n):
        impact[i, j] = (vectors[i, i] - vectors[row, i]).norm()
        impact[j, i] = (vectors[j, j] - vectors[row, j]).norm()
    return impact


def spanning_tree(scores: Float[Tensor, "words words"]) -> set[Edge]:
    """The tree that connects all words with the largest sum of scores; an edge's score is that of
    both directions together.

    By scipy's minimum spanning tree (Kruskal), on scores turned around.

    Raises:
        ImportError: without the package `scipy`.
        ValueError: for scores that are not a square of finite numbers.
    """
    try:
        from scipy.sparse.csgraph import minimum_spanning_tree
    except ModuleNotFoundError:
        raise ImportError(
            "spanning trees are built by scipy, which is not installed here: pip install scipy"
        ) from None

    both = _both_directions(scores)
    cost = (both.max() + 1 - both).triu(1)  # above 0: scipy takes 0 for "no edge"
    found = minimum_spanning_tree(cost.numpy()).tocoo()
    return {
        (min(i, j), max(i, j)) for i, j in zip(found.row.tolist(), found.col.tolist(), strict=True)
    }


def eisner(scores: Float[Tensor, "words words"]) -> set[Edge]:
    """The same, but among trees without crossing edges, which those of English nearly always are
    (Eisner 1996).

    Two tables, filled from short stretches to long ones. `whole[i, j]` is the best tree over the
    words i … j, `bridged[i, j]` the best one in which i and j are linked. Without that link the
    latter falls into a tree over i … k and one over k + 1 … j; and any tree over i … j has a
    furthest word k that i is linked to. Scores have no direction here; Eisner's algorithm has, and
    four tables.

    Raises:
        ValueError: for scores that are not a square of finite numbers.
    """
    both = _both_directions(scores).double().tolist()
    n = len(both)
    whole: dict[Edge, tuple[float, frozenset[Edge]]] = {
        (i, i): (0.0, frozenset()) for i in range(n)
    }
    bridged: dict[Edge, tuple[float, frozenset[Edge]]] = {}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            score, edges = max(
                (_join(whole[i, k], whole[k + 1, j]) for k in range(i, j)), key=lambda tree: tree[0]
            )
            bridged[i, j] = (score + both[i][j], edges | {(i, j)})
            whole[i, j] = max(
                (_join(bridged[i, k], whole[k, j]) for k in range(i + 1, j + 1)),
                key=lambda tree: tree[0],
            )
    return set(whole[0, n - 1][1])


def chain(n: int) -> set[Edge]:
    """The baseline: every word linked to its neighbours."""
    return {(i, i + 1) for i in range(n - 1)}


def random_scores(n: int, generator: torch.Generator) -> Float[Tensor, "words words"]:
    """The other baseline: scores without meaning, for the same tree builders."""
    return torch.rand(n, n, generator=generator)


def gold_edges(governors: Sequence[int], kept: Sequence[int] | None = None) -> set[Edge]:
    """The edges of a treebank's tree, without directions.

    Args:
        governors: of each word, counted from 1; 0: the root.
        kept: the places of the words to keep, counted from 0 (see `not_punctuation`); they are
            numbered anew. None: all.

    Raises:
        ValueError: for a governor that is no word, or where a word is kept but its governor is not.
    """
    check_governors(governors, len(governors))
    kept = range(len(governors)) if kept is None else kept
    new = {place: i for i, place in enumerate(kept)}
    edges = {(place, governors[place] - 1) for place in kept if governors[place]}
    if lost := sorted((place, governor) for place, governor in edges if governor not in new):
        raise ValueError(
            f"word {lost[0][0] + 1} is kept, but its governor, word {lost[0][1] + 1}, is not"
        )
    return {(min(new[a], new[b]), max(new[a], new[b])) for a, b in edges}


def not_punctuation(upos: Sequence[str]) -> list[int]:
    """The places of the words that are no punctuation. How commas are attached is a convention;
    scores leave them out.
    """
    return [place for place, tag in enumerate(upos) if tag != "PUNCT"]


def uuas(predicted: Iterable[set[Edge]], gold: Iterable[set[Edge]]) -> float:
    """Undirected unlabelled attachment score: the share of the gold trees' edges that were found,
    over all sentences together.

    Raises:
        ValueError: for trees that differ in number, or no edges at all.
    """
    predicted, gold = list(predicted), list(gold)
    total = sum(map(len, gold))
    if len(predicted) != len(gold) or total == 0:
        raise ValueError(
            f"one tree for each gold tree, and at least one edge: got {len(predicted)} and "
            f"{len(gold)} with {total} edges"
        )
    return sum(len(p & g) for p, g in zip(predicted, gold, strict=True)) / total


def discounted(impact: Float[Tensor, "words words"], power: float) -> Float[Tensor, "words words"]:
    """F[i, j] / |i - j|^power: near words favoured. At 0 nothing changes, and with a large power
    the tree becomes the chain.

    Raises:
        ValueError: for a power below 0.
    """
    if power < 0:
        raise ValueError(f"the power is at least 0, got {power}")
    return impact / distances(len(impact)).clamp(min=1) ** power


def linked_above_unlinked(
    impacts: Sequence[Float[Tensor, "_ _"]], gold: Sequence[set[Edge]], distance: int
) -> float:
    """The chance that of two pairs of words equally far apart, one linked in the gold tree and one
    not, the linked one has more impact.

    0.5 says that the impact knows nothing beyond nearness, 1 that it knows all (it is the area
    under the ROC curve). In between it may know pairs, or only which words have much impact on all
    others. Impacts are those of both directions together.

    Raises:
        ValueError: where sentences and trees differ in number, or there are no linked or no
            unlinked pairs at this distance.
    """
    linked, unlinked = [], []
    for impact, edges in zip(impacts, gold, strict=True):
        both = impact + impact.T
        for i in range(len(both) - distance):
            (linked if (i, i + distance) in edges else unlinked).append(both[i, i + distance])
    if not linked or not unlinked:
        raise ValueError(
            f"at distance {distance} there are {len(linked)} linked and {len(unlinked)} unlinked "
            f"pairs; both are needed"
        )
    above = torch.stack(linked)[:, None] - torch.stack(unlinked)
    return ((above > 0).float() + 0.5 * (above == 0).float()).mean().item()


def distances(n: int) -> Tensor:
    """|i - j| for every pair of n words."""
    place = torch.arange(n)
    return (place[:, None] - place).abs()


def _join(
    left: tuple[float, frozenset[Edge]], right: tuple[float, frozenset[Edge]]
) -> tuple[float, frozenset[Edge]]:
    return left[0] + right[0], left[1] | right[1]


def _both_directions(scores: Tensor) -> Tensor:
    if (
        scores.ndim != 2
        or scores.shape[0] != scores.shape[1]
        or len(scores) < 1
        or not scores.isfinite().all()
    ):
        raise ValueError(
            f"scores are a square matrix of finite numbers, one row for each word; got shape "
            f"{tuple(scores.shape)}"
        )
    return (
        scores.double() + scores.double().T
    )  # in single precision a large score hides a small one
