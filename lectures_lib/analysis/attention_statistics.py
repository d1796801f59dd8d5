"""What attention heads do, counted over many sentences (chapter 16; Clark, Khandelwal, Levy and
Manning 2019, sections 3 and 4).

Two kinds of question. Where does a head look, whatever the words are: to the previous one, the
next, [CLS]? And does it follow grammar: from a word to its governor, for one relation? The second
answer means nothing without a baseline that knows no grammar either, such as "the governor is the
word two places on": the best *fixed offset* of each relation. A second one reads the tags and
nothing else: "the governor is the nearest noun to the right", the best *tag rule*.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from lectures_lib.checks.door import at_the_door

OFFSETS = tuple(offset for offset in range(-8, 9) if offset)


class HeadStatistics(NamedTuple):
    """Where each head looks, on average over the words (not [CLS], not [SEP]) that look.

    Args:
        previous, next, itself, cls, sep: the share of attention on each. `previous` is over words
            that have a word before them.
        entropy: of the rows, in nats; log n for a head that looks everywhere alike.
        distance: how many places away a word looks, by that part of its attention which goes to
            words.
    """

    previous: Float[Tensor, "layers heads"]
    next: Float[Tensor, "layers heads"]
    itself: Float[Tensor, "layers heads"]
    cls: Float[Tensor, "layers heads"]
    sep: Float[Tensor, "layers heads"]
    entropy: Float[Tensor, "layers heads"]
    distance: Float[Tensor, "layers heads"]


def head_statistics(sentences: Iterable[Float[Tensor, "layers heads _ _"]]) -> HeadStatistics:
    """The statistics over all words of all sentences.

    Args:
        sentences: each one's attention weights, from `word_level.word_attention` or between pieces;
            [CLS] first and [SEP] last.

    Raises:
        ValueError: where no sentence has two words, or rows do not sum to 1.
    """
    sums: dict[str, Tensor] = {}
    counts: dict[str, int] = {}
    for weights in sentences:
        n = weights.shape[-1] - 2
        if n < 2:
            continue
        rounding = torch.finfo(weights.dtype).eps
        # sums over many words are off by far in half precision
        weights = weights.to(torch.promote_types(weights.dtype, torch.float32))
        off = (weights.sum(dim=-1) - 1).abs().max().item()
        if off > max(1e-3, 4 * rounding):
            raise ValueError(
                f"each row of attention weights sums to 1; one of these is off by {off:.4f}"
            )
        of_words = weights[..., 1:-1, :]  # rows: the words; columns: everything
        among_words = of_words[..., 1:-1]
        place = torch.arange(n)
        far = (place[:, None] - place).abs().to(weights)
        found = {
            "previous": among_words.diagonal(-1, -2, -1),
            "next": among_words.diagonal(1, -2, -1),
            "itself": among_words.diagonal(0, -2, -1),
            "cls": of_words[..., 0],
            "sep": of_words[..., -1],
            "entropy": torch.special.entr(of_words).sum(dim=-1),
            "distance": (among_words * far).sum(dim=-1) / among_words.sum(dim=-1).clamp(min=1e-9),
        }
        for name, values in found.items():
            sums[name] = sums.get(name, 0) + values.sum(dim=-1)
            counts[name] = counts.get(name, 0) + values.shape[-1]
    if not sums:
        raise ValueError("no sentence with at least two words: there is nothing to count")
    return HeadStatistics(**{name: total / counts[name] for name, total in sums.items()})


class Parsed(NamedTuple):
    """A sentence with its tree, and the hits of all heads on it.

    Args:
        relations: of each word to its governor.
        upwards, downwards: whether a head finds each word's governor, as in `governor_hits`.
        offsets: for each word, how many places to the right its governor stands (negative: to the
            left); 0 for the root.
    """

    relations: list[str]
    upwards: Bool[Tensor, "layers heads words"]
    downwards: Bool[Tensor, "layers heads words"]
    offsets: list[int]


@at_the_door(lambda weights, governors: check_governors(governors, weights.shape[-1] - 2))
def governor_hits(
    weights: Float[Tensor, "layers heads n n"], governors: Sequence[int]
) -> Bool[Tensor, "2 layers heads words"]:
    """Does a head find the governors of the words? In two directions, as in Clark et al. (section
    4.2).

    Upwards: of all other words, the word attends most to its governor. Downwards: of all other
    words, it is the governor that attends most to the word. [CLS] and [SEP] are left out, and so is
    the word itself, which cannot be its own governor.

    Args:
        weights: between words, with [CLS] and [SEP], as `word_level.word_attention` gives them.
        governors: of each word, counted from 1; 0: the root, which has none and is never hit. (A
            treebank calls them heads.)

    Returns:
        The hits upwards, and the hits downwards.

    Raises:
        ValueError: where governors and weights disagree in number, or a governor is no word.
    """
    n = weights.shape[-1] - 2
    own = torch.eye(n, dtype=torch.bool)
    among_words = weights[..., 1:-1, 1:-1].masked_fill(own, -1.0)
    upwards = among_words.argmax(dim=-1)  # where the word looks
    downwards = among_words.argmax(dim=-2)  # who looks at the word
    return torch.stack([upwards, downwards]) == torch.tensor(governors) - 1  # root: -1


def parsed(
    weights: Float[Tensor, "layers heads n n"], governors: Sequence[int], relations: Sequence[str]
) -> Parsed:
    """The hits of all heads on one sentence. Raises ValueError as `governor_hits` does, or for
    relations that differ in number.
    """
    if len(governors) != len(relations):
        raise ValueError(f"{len(governors)} governors, but {len(relations)} relations")
    offsets = [governor - place if governor else 0 for place, governor in enumerate(governors, 1)]
    return Parsed(list(relations), *governor_hits(weights, governors), offsets)


class BestHead(NamedTuple):
    """The head that finds the governors of one relation best, beside the best fixed offset.

    Both were chosen on one set of sentences; the accuracies are those on another.
    """

    relation: str
    count: int  # words with this relation in the second set
    layer: int
    head: int
    direction: str  # "upwards": from the word to its governor; "downwards"
    accuracy: float
    offset: int
    offset_accuracy: float


def best_heads(
    choose: Sequence[Parsed], test: Sequence[Parsed], at_least: int = 20
) -> list[BestHead]:
    """For each relation the best head and the best fixed offset, the most frequent relation first.

    A model with 72 heads and two directions has 144 tries. The best of 144 coins looks good on the
    sentences it was chosen by; therefore it is tried on others.

    Args:
        choose: the sentences to choose by.  test: the sentences to report on.
        at_least: relations that are rarer in either set are left out; the root and punctuation are
            left out too.

    Raises:
        ValueError: where no relation is frequent enough.
    """
    found = []
    for relation in sorted(
        {relation for sentence in choose for relation in sentence.relations} - {"root", "punct"}
    ):
        up, down, offsets = relation_words(choose, relation)
        up_test, down_test, offsets_test = relation_words(test, relation)
        if min(len(offsets), len(offsets_test)) < at_least:
            continue
        tries = torch.stack([up, down]).mean(dim=-1)  # (2, layers, heads)
        direction, layer, head = torch.unravel_index(tries.argmax(), tries.shape)
        offset = max(OFFSETS, key=offsets.count)
        accuracy = (up_test, down_test)[direction][layer, head].mean().item()
        names = ("upwards", "downwards")[direction]
        share = offsets_test.count(offset) / len(offsets_test)
        found.append(
            BestHead(
                relation,
                len(offsets_test),
                layer.item(),
                head.item(),
                names,
                accuracy,
                offset,
                share,
            )
        )
    if not found:
        raise ValueError(
            f"no relation comes {at_least} times in both sets of {len(choose)} and {len(test)} "
            f"sentences"
        )
    return sorted(found, key=lambda best: -best.count)


def relation_words(sentences: Sequence[Parsed], relation: str) -> tuple[Tensor, Tensor, list[int]]:
    """The hits upwards and downwards (layers, heads, words), as 0 and 1, and the offsets, of all
    words with a relation.
    """
    which = [
        torch.tensor([found == relation for found in sentence.relations]) for sentence in sentences
    ]
    pairs = list(zip(sentences, which, strict=True))
    up, down = (
        torch.cat([getattr(s, name)[..., w] for s, w in pairs], dim=-1).float()
        for name in ("upwards", "downwards")
    )
    return (
        up,
        down,
        [
            offset
            for s, w in pairs
            for offset, is_it in zip(s.offsets, w.tolist(), strict=True)
            if is_it
        ],
    )


class TagRule(NamedTuple):
    """The governor is the nearest word with this tag, to the right (side 1) or left (side -1)."""

    tag: str
    side: int


def coarse_tags(sentence: Mapping[str, Sequence[str]]) -> list[str]:
    """A sentence's tags ("upos"), names counted as nouns."""
    return ["NOUN" if tag == "PROPN" else tag for tag in sentence["upos"]]


def nearest_with_tag(tags: Sequence[str], rule: TagRule) -> list[int]:
    """For each word the place, counted from 0, of the nearest other word that the rule means; -1
    where there is none.

    Raises:
        ValueError: for a side that is neither 1 nor -1.
    """
    if rule.side not in (-1, 1):
        raise ValueError(f"the side is 1 (right) or -1 (left), got {rule.side}")
    found, last = [-1] * len(tags), -1
    order = range(len(tags))
    for place in order if rule.side < 0 else reversed(order):
        found[place] = last
        if tags[place] == rule.tag:
            last = place
    return found


def tag_rule_hits(
    rule: TagRule, sentences: Sequence[Mapping], relation: str
) -> Bool[Tensor, " words"]:
    """Whether the rule finds the governor of each word with this relation.

    Args:
        sentences: of a treebank, with "upos", "heads" (from 1; 0: the root) and "relations".
    """
    hits = []
    for sentence in sentences:
        guesses = nearest_with_tag(coarse_tags(sentence), rule)
        hits += [
            0 <= guess == head - 1
            for guess, head, name in zip(
                guesses, sentence["heads"], sentence["relations"], strict=True
            )
            if name == relation
        ]
    return torch.tensor(hits, dtype=torch.bool)


def best_tag_rule(sentences: Sequence[Mapping], relation: str) -> TagRule:
    """Of all tags and both sides the rule that finds most governors on these sentences.

    Raises:
        ValueError: where no word has this relation.
    """
    if not any(relation in sentence["relations"] for sentence in sentences):
        raise ValueError(f"no word of these {len(sentences)} sentences has the relation {relation}")
    tags = sorted({tag for sentence in sentences for tag in coarse_tags(sentence)})
    rules = [TagRule(tag, side) for tag in tags for side in (-1, 1)]
    return max(rules, key=lambda rule: int(tag_rule_hits(rule, sentences, relation).sum()))


def check_governors(governors: Sequence[int], n: int) -> None:
    """Refuse governors that are not those of n words.

    Raises:
        ValueError: the message gives both numbers, or the governor that is no word.
    """
    if len(governors) != n or n < 1:
        raise ValueError(
            f"one governor for each word, and at least one word: got {len(governors)} governors "
            f"for {n} words"
        )
    if wrong := [
        (place, governor)
        for place, governor in enumerate(governors, 1)
        if not 0 <= governor <= n or governor == place
    ]:
        place, governor = wrong[0]
        raise ValueError(
            f"the governor of word {place} is {governor}; it is another one of the words 1 … {n}, "
            f"or 0 for the root"
        )
