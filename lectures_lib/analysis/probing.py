"""Probes: what can be read off a model's vectors, layer by layer, by a classifier too weak to do
the work itself (chapter 16b).

The scalar mix is Peters et al.'s (2018, equation 1), cumulative and differential scores are Tenney,
Das and Pavlick's (2019, section 3), control tasks and selectivity Hewitt and Liang's (2019, section
2).
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from lectures_lib.checks.door import at_the_door


class Probed(NamedTuple):
    """Words to be labelled by a probe.

    Args:
        states: every word's vector in every hidden state, the embeddings first.
        labels: what is to be read off them.
    """

    states: Float[Tensor, "states words d_model"]
    labels: Int[Tensor, " words"]


class ScalarMix(nn.Module):
    """γ Σ s_l h_l, one vector made of a word's vectors in all hidden states; the shares s =
    softmax(w) are learned, and so is γ.
    """

    def __init__(self, n_states: int):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(n_states))  # all shares equal
        self.gamma = nn.Parameter(torch.ones(()))

    @property
    def shares(self) -> Float[Tensor, " states"]:
        """How much of each hidden state is in the mix; they sum to 1."""
        return self.w.softmax(dim=0)

    def forward(
        self, states: Float[Tensor, "states *words d_model"]
    ) -> Float[Tensor, "*words d_model"]:
        """The mix."""
        return self.gamma * torch.einsum("s,s...d->...d", self.shares, states)


class Probe(nn.Module):
    """A linear classifier of words, on a scalar mix of their hidden states; of a single state, the
    mix is that state times γ.
    """

    def __init__(self, n_states: int, d_model: int, n_classes: int):
        super().__init__()
        self.mix = ScalarMix(n_states)
        self.classify = nn.Linear(d_model, n_classes)
        nn.init.zeros_(self.classify.weight)
        nn.init.zeros_(self.classify.bias)
        self.register_buffer("centre", torch.zeros(n_states, 1, d_model))
        self.register_buffer("scale", torch.ones(n_states, 1, d_model))

    def forward(
        self, states: Float[Tensor, "states words d_model"]
    ) -> Float[Tensor, "words classes"]:
        """The scores of the classes."""
        return self.classify(self.mix((states - self.centre) / self.scale))


@at_the_door(lambda train, n_classes, *_, **__: check_probed(train, n_classes))
def fit_probe(
    train: Probed,
    n_classes: int,
    l2: float = 1e-2,
    l2_mix: float = 1e-2,
    steps: int = 60,
) -> Probe:
    """Train a probe on all words at once, by L-BFGS: no learning rate, no chance, the same result
    every time.

    Every number is first brought to mean 0 and variance 1 over the training words, layer by layer,
    so that no layer's share in the mix depends on how large its vectors happen to be. (This is
    still a linear probe.)

    Args:
        train: the words.
        n_classes: how many labels there are.
        l2: how much large weights cost: to the mean cross-entropy, l2 · |γ W|² is added.
        l2_mix: the same for unequal shares, l2_mix · |w|² (the λ of Peters et al. 2018, section
            3.2). At 0, the best state for the training words soon has all of the mix; large, all
            shares stay equal.
        steps: L-BFGS's; it stops earlier where nothing changes any more.

    Raises:
        ValueError: for no words, states and labels that differ in number, or a label that is not
            one of 0 … n_classes - 1.
    """
    n_states, _, d_model = train.states.shape
    probe = Probe(n_states, d_model, n_classes)
    spread = train.states.std(dim=1, keepdim=True, correction=0)
    probe.centre.copy_(train.states.mean(dim=1, keepdim=True))
    probe.scale.copy_(spread.clamp(min=1e-6))
    states = (train.states - probe.centre) / probe.scale
    search = {"history_size": 10, "line_search_fn": "strong_wolfe"}
    optimizer = torch.optim.LBFGS(probe.parameters(), max_iter=steps, **search)

    def loss() -> Tensor:
        optimizer.zero_grad()
        value = F.cross_entropy(probe.classify(probe.mix(states)), train.labels)
        # The price is on γ W, what is really multiplied: on W alone, γ would grow and
        # W shrink.
        price = (probe.mix.gamma * probe.classify.weight).square().sum()
        value = value + l2 * price + l2_mix * probe.mix.w.square().sum()
        value.backward()
        return value

    optimizer.step(loss)
    return probe.eval()


@torch.no_grad()
def probe_accuracy(probe: Probe, test: Probed) -> float:
    """The share of words that the probe labels right.

    Raises:
        ValueError: as in `fit_probe`.
    """
    check_probed(test, probe.classify.out_features)
    return (probe(test.states).argmax(dim=-1) == test.labels).float().mean().item()


def layer_scores(train: Probed, test: Probed, n_classes: int, **options: float) -> list[float]:
    """The accuracy of a probe on each hidden state alone. Options are `fit_probe`'s."""
    each = range(len(train.states))
    return [_score(train, test, slice(layer, layer + 1), n_classes, options) for layer in each]


def cumulative_scores(train: Probed, test: Probed, n_classes: int, **options: float) -> list[float]:
    """The accuracies of probes that may mix the hidden states 0 … l, for each l (Tenney et al.
    2019, section 3.2).
    """
    each = range(len(train.states))
    return [_score(train, test, slice(0, layer + 1), n_classes, options) for layer in each]


@at_the_door(lambda cumulative: check_two_scores(cumulative))
def differential_scores(cumulative: Sequence[float]) -> list[float]:
    """What each layer brings beyond those below it: Δ_l = Score(0 … l) - Score(0 … l - 1), for l =
    1, 2, …

    Raises:
        ValueError: for fewer than two scores.
    """
    return [after - before for before, after in pairwise(cumulative)]


def centre_of_gravity(shares: Float[Tensor, " states"]) -> float:
    """Σ l · s_l, the mean layer of a scalar mix; layer 0 is the embeddings.

    Raises:
        ValueError: for shares that are negative or do not sum to 1.
    """
    if (shares < 0).any() or abs(shares.sum().item() - 1) > 1e-4:
        raise ValueError(
            f"shares are at least 0 and sum to 1; these sum to {shares.sum().item():.4f}, the "
            f"smallest is {shares.min():.4f}"
        )
    return (torch.arange(len(shares)).to(shares) * shares).sum().item()


@at_the_door(lambda differential: check_gains(differential))
def expected_layer(differential: Sequence[float]) -> float:
    """Σ l Δ_l / Σ Δ_l over l = 1, 2, …: at which layer, on average, a task is solved (Tenney et al.
    2019, section 3.2).

    A layer with a negative score pulls it away from itself: with much noise in the scores, this is
    no mean of layers any more.

    Raises:
        ValueError: where the scores do not sum to something positive.
    """
    gains = sum(layer * gain for layer, gain in enumerate(differential, start=1))
    return gains / sum(differential)


@at_the_door(lambda words, labels, *_, **__: check_one_each(words, labels))
def control_labels(
    words: Sequence[str], labels: Int[Tensor, " words"], seed: int = 0
) -> Int[Tensor, " words"]:
    """A control task: each word *type* gets a random label, the same wherever it stands (Hewitt and
    Liang 2019, section 2).

    The labels are drawn with the frequencies of the real ones, so that both tasks have the same
    classes in similar numbers. Vectors know nothing of them: what a probe gets right, it has
    learned by heart. Give it training and test words in one call: a word must have the same label
    in both.

    Args:
        words: in any case; "The" and "the" are one type.  labels: the real task's, one for each
            word.
        seed: of the draw.

    Raises:
        ValueError: for no words, or not one label for each.
    """
    generator = torch.Generator().manual_seed(seed)
    label_of = {}  # a type's, for good
    for word in words:
        if word.lower() not in label_of:
            place = torch.randint(len(labels), (), generator=generator)
            label_of[word.lower()] = labels[place].item()
    return torch.tensor([label_of[word.lower()] for word in words])


@at_the_door(lambda words, labels, *_, **__: check_one_each(words, labels))
def most_frequent_labels(
    words: Sequence[str],
    labels: Int[Tensor, " words"],
    asked: Sequence[str],
    unknown: int | None = None,
) -> Int[Tensor, " asked"]:
    """A baseline that knows words only: each is given the label that it had most often in training.

    Args:
        words, labels: the training words.  asked: the words to label.
        unknown: the label of a word that was not among them; None: the most frequent label of all.

    Raises:
        ValueError: for no training words, or not one label for each.
    """
    counts: dict[str, Counter[int]] = {}
    for word, label in zip(words, labels.tolist(), strict=True):
        counts.setdefault(word.lower(), Counter())[label] += 1
    rest = Counter(labels.tolist()).most_common(1)[0][0] if unknown is None else unknown
    return torch.tensor(
        [
            counts[word.lower()].most_common(1)[0][0] if word.lower() in counts else rest
            for word in asked
        ]
    )


def tags_and_places(
    sentences: Sequence[Sequence[str]], names: Sequence[str], longest: int, around: int = 0
) -> list[Float[Tensor, "_ numbers"]]:
    """A baseline's vectors: each word's tag and its place in the sentence, a 1 for each among
    zeros. What a probe reads off these, it can read off any vectors that hold tag and place.

    Args:
        sentences: the tags of each one's words.  names: all tags there are.
        longest: so many places there are.
        around: the tags of so many neighbours on each side are in a word's vector too; beyond the
            sentence's ends, zeros.

    Raises:
        ValueError: for a tag that is none of the names, or a sentence with more words than places.
    """
    found = []
    for tags in sentences:
        n = len(tags)
        if n > longest:
            raise ValueError(f"a sentence of {n} words, but places for {longest}")
        padded = F.pad(
            F.one_hot(label_ids(tags, names), len(names)).float(), (0, 0, around, around)
        )
        parts = [padded[shift : shift + n] for shift in range(2 * around + 1)]
        found.append(torch.cat([*parts, torch.eye(longest)[:n]], dim=1))
    return found


def label_ids(labels: Sequence[str], names: Sequence[str]) -> Int[Tensor, " words"]:
    """Labels as numbers: their places among the names.

    Raises:
        ValueError: for a label that is none of the names.
    """
    places = {name: i for i, name in enumerate(names)}
    if strange := sorted(set(labels) - set(names)):
        raise ValueError(
            f"{len(strange)} labels are none of the {len(places)} names: {', '.join(strange)}"
        )
    return torch.tensor([places[label] for label in labels])


def check_two_scores(cumulative: Sequence[float]) -> None:
    """Refuse what has no difference. Raises ValueError with the number of scores."""
    if len(cumulative) < 2:
        raise ValueError(
            f"a difference needs the scores of at least 2 hidden states, got {len(cumulative)}"
        )


def check_gains(differential: Sequence[float]) -> None:
    """Refuse scores without a mean place. Raises ValueError with their sum."""
    if (total := sum(differential)) <= 0:
        raise ValueError(
            f"the layers above the embeddings bring nothing: their differential scores sum to "
            f"{total:.4f}"
        )


def check_one_each(words: Sequence[str], labels: Int[Tensor, " words"]) -> None:
    """Refuse words without labels, and labels without words.

    Raises:
        ValueError: the message gives both numbers.
    """
    if not words or len(words) != len(labels):
        raise ValueError(
            f"one label for each word, and at least one, got {len(words)} words and {len(labels)} "
            f"labels"
        )


def check_probed(words: Probed, n_classes: int) -> None:
    """Refuse what a probe cannot be trained or tried on.

    Raises:
        ValueError: the message gives the shapes, or the label that does not exist.
    """
    states, labels = words
    if (
        states.ndim != 3
        or labels.ndim != 1
        or states.shape[1] != len(labels)
        or states.numel() == 0
    ):
        shapes = f"states {tuple(states.shape)} and labels {tuple(labels.shape)}"
        raise ValueError(
            f"a probe takes states (states, words, d_model) and one label for each word, and at "
            f"least one word; got {shapes}"
        )
    if int(labels.min()) < 0 or int(labels.max()) >= n_classes:
        raise ValueError(
            f"labels are 0 … {n_classes - 1} for {n_classes} classes, got {int(labels.min())} … "
            f"{int(labels.max())}"
        )


def _score(train: Probed, test: Probed, layers: slice, n_classes: int, options: dict) -> float:
    probe = fit_probe(Probed(train.states[layers], train.labels), n_classes, **options)
    return probe_accuracy(probe, Probed(test.states[layers], test.labels))
