"""Question 5: a tree out of impacts, and how much of a treebank's tree is in it."""

from dataclasses import replace
from functools import partial
from itertools import combinations

import torch
from torch import Generator, Tensor

from lectures_lib.analysis.perturbed_masking import eisner
from lectures_lib.homework.banks.inputs import whole
from lectures_lib.homework.banks.telling import telling
from lectures_lib.homework.questions import Case, Demand, Misconception, Question

LINKS = "the links of the best tree, each as (i, j) with i < j, sorted"
SHARE = "the share of the treebank's links that are among them"

Edges = list[tuple[int, int]]


def _cases(g: Generator) -> list[Case]:
    """Each input twice: the links alone, and then their share."""
    cases = telling(g, _draw, best_tree, [mistake.answer for mistake in _MISTAKES])
    return [
        *(replace(case, part=0) for case in cases),
        *(replace(case, part=1, demands=(SHARE,)) for case in cases),
    ]


def _draw(g: Generator) -> list[Case]:
    cases = []
    for size in (None, None, None, 2):
        n = size or whole(g, 6, 9)
        order = torch.randperm(n, generator=g).tolist()
        # the root is not the last word, and the best tree links the two; the treebank does not
        if size is None and not cases:
            order.remove(n - 1)
            order.append(n - 1)
        heads = [0] * n
        for place in range(1, n):
            heads[order[place]] = order[whole(g, 0, place - 1)] + 1
        impact = torch.rand(n, n, generator=g)
        for word, head in enumerate(heads):
            if head:
                impact[word, head - 1] += 0.7 * torch.rand((), generator=g)
        if size is None and not cases:
            impact[n - 1, order[0]] += 2
            heads[n - 1] = order[1] + 1
        impact.fill_diagonal_(0)
        cases.append(
            Case(
                (impact, heads),
                shows=(
                    f"the impacts of {n} words; word {heads.index(0)}, counted from 0, is the root"
                ),
            )
        )
    return cases


def best_tree(impact: Tensor, heads: list[int]) -> tuple[Edges, float]:
    """The edges, sorted, and the share of the treebank's edges among them."""
    return _answer(impact, heads)


def _kruskal(scores: Tensor, circles: bool = False, turn: int = -1) -> Edges:
    n = len(scores)
    part = list(range(n))  # words with the same number are connected
    edges: Edges = []
    for i, j in sorted(combinations(range(n), 2), key=lambda edge: turn * scores[edge].item()):
        if len(edges) < n - 1 and (circles or part[i] != part[j]):
            edges.append((i, j))
            part = [part[i] if number == part[j] else number for number in part]
    return sorted(edges)


def _one_word_renumbered(scores: Tensor, second: bool = True) -> Edges:
    """Two parts are joined, and only one word is told."""
    n = len(scores)
    part = list(range(n))
    edges: Edges = []
    for i, j in sorted(combinations(range(n), 2), key=lambda edge: -scores[edge].item()):
        if len(edges) < n - 1 and part[i] != part[j]:
            edges.append((i, j))
            part[j if second else i] = part[i if second else j]
    return sorted(edges)


def _circles_of_three_avoided(scores: Tensor) -> Edges:
    """A link is left out if its ends have a neighbour in common, and only then."""
    n = len(scores)
    near: list[set[int]] = [set() for _ in range(n)]
    edges: Edges = []
    for i, j in sorted(combinations(range(n), 2), key=lambda edge: -scores[edge].item()):
        if len(edges) < n - 1 and not near[i] & near[j]:
            near[i].add(j)
            near[j].add(i)
            edges.append((i, j))
    return sorted(edges)


def _prim(scores: Tensor) -> Edges:
    """From what is connected to what is not, always the best link; in one direction if the scores
    have one.
    """
    inside, outside = [0], list(range(1, len(scores)))
    edges: Edges = []
    while outside:
        i, j = max(((i, j) for i in inside for j in outside), key=lambda edge: scores[edge].item())
        edges.append((min(i, j), max(i, j)))
        inside.append(j)
        outside.remove(j)
    return sorted(edges)


def _best_partners(scores: Tensor) -> Edges:
    own = scores.clone().fill_diagonal_(-1)
    return sorted({(min(i, j), max(i, j)) for i, j in enumerate(own.argmax(dim=1).tolist())})


def _best_before(scores: Tensor) -> Edges:
    return sorted((scores[i, :i].argmax().item(), i) for i in range(1, len(scores)))


def _best_after(scores: Tensor) -> Edges:
    n = len(scores)
    return sorted((i, i + 1 + scores[i, i + 1 :].argmax().item()) for i in range(n - 1))


def _path(scores: Tensor) -> Edges:
    """From the word reached last, always on to the best of those not yet reached."""
    at, left, edges = 0, set(range(1, len(scores))), []
    while left:
        best = max(sorted(left), key=lambda j: scores[at, j].item())
        edges.append((min(at, best), max(at, best)))
        left.remove(best)
        at = best
    return sorted(edges)


def _chain(scores: Tensor) -> Edges:
    return [(i, i + 1) for i in range(len(scores) - 1)]


def _star(scores: Tensor) -> Edges:
    centre = int(scores.sum(dim=1).argmax())
    return sorted((min(centre, i), max(centre, i)) for i in range(len(scores)) if i != centre)


def _both(impact: Tensor) -> Tensor:
    return impact + impact.T


def _upper(impact: Tensor) -> Tensor:
    return impact.triu() + impact.triu().T


def _lower(impact: Tensor) -> Tensor:
    return impact.tril() + impact.tril().T


def _gold(heads: list[int]) -> set[tuple[int, int]]:
    return {(min(i, head - 1), max(i, head - 1)) for i, head in enumerate(heads) if head}


def _share(edges: Edges, heads: list[int]) -> float:
    return len(set(edges) & _gold(heads)) / len(_gold(heads))


def _answer(impact, heads, both=_both, tree=_kruskal, share=_share, shown=lambda edges: edges):
    edges = tree(both(impact))
    return shown(edges), share(edges, heads)


def _root_counted(edges, heads):
    return len(set(edges) & _gold(heads)) / len(heads)


def _root_wraps(edges, heads):
    """The root's head is 0, and place 0 - 1 is the last word's."""
    gold = {
        (min(i, (head - 1) % len(heads)), max(i, (head - 1) % len(heads)))
        for i, head in enumerate(heads)
    }
    return len(set(edges) & gold) / (len(heads) - 1)


def _root_wraps_all(edges, heads):
    gold = {
        (min(i, (head - 1) % len(heads)), max(i, (head - 1) % len(heads)))
        for i, head in enumerate(heads)
    }
    return len(set(edges) & gold) / len(gold)


def _heads_from_0(edges, heads):
    gold = {(min(i, head), max(i, head)) for i, head in enumerate(heads) if head}
    return len(set(edges) & gold) / len(edges)


def _heads_from_0_as_a_set(edges, heads):
    """The same, divided by the number of links: a word that is its own head leaves one, too."""
    gold = {(min(i, head), max(i, head)) for i, head in enumerate(heads) if head}
    return len(set(edges) & gold) / len(gold)


def _one_way(edges, heads):
    """The treebank's edges as (word, governor), whichever is further left."""
    gold = {(i, head - 1) for i, head in enumerate(heads) if head}
    return len(set(edges) & gold) / len(gold)


def _other_way(edges, heads):
    gold = {(head - 1, i) for i, head in enumerate(heads) if head}
    return len(set(edges) & gold) / len(gold)


_ONE_DIRECTION = (
    "Your scores have one direction only: F[i, j] or F[j, i], whichever the loop happens on. The "
    "impact of j on i and that of i on j differ; the score of a link is their sum."
)
_GREEDY = (
    "Your links are those of each word to one that suits it best. (They also come out if you leave "
    "out a link because both its ends were *seen* in others before, connected or not.) That need "
    "not be a tree: two words may choose each other, and the sentence falls apart. Take links in "
    "the order of their scores and leave out those whose ends are connected already, directly or "
    "through other words."
)
_ONE_SIDE = (
    "Your links are those of each word to the best of the words before it, or of those behind it. "
    "That is a tree, but seldom the best: of one word's links two may be better than another's "
    "first. Take links in the order of their scores and leave out those whose ends are connected "
    "already, directly or through other words."
)
_RENUMBERED = (
    "When you join two parts, only one of the link's ends gets the other part's number. All words "
    "of its part belong to the new one: give them all the number, or a later link closes a circle."
)
_COMPARED = (
    "Your tree is right. But a link of yours, (i, j) with i < j, is compared with pairs of word "
    "and governor, and a governor may stand on either side. Links have no direction here: sort "
    "both ends of the treebank's links, too."
)


def _product(impact: Tensor) -> Tensor:
    return impact * impact.T


def _difference(impact: Tensor) -> Tensor:
    return impact - impact.T


def _absolute_difference(impact: Tensor) -> Tensor:
    return (impact - impact.T).abs()


def _grown(scores: Tensor) -> Edges:
    """As `_prim`, in the order and the direction in which the links were found."""
    inside, outside = [0], list(range(1, len(scores)))
    edges: Edges = []
    while outside:
        edges.append(
            max(((i, j) for i in inside for j in outside), key=lambda edge: scores[edge].item())
        )
        inside.append(edges[-1][1])
        outside.remove(edges[-1][1])
    return edges


def _as_grown(impact, heads):
    edges = _grown(_both(impact))
    return sorted(edges), _share(edges, heads)


def _in_the_order_of_growth(impact, heads):
    edges = [(min(edge), max(edge)) for edge in _grown(_both(impact))]
    return edges, _share(edges, heads)


def _root_linked_to_the_first(edges, heads):
    """No head is shifted, and the root's 0 is the first word."""
    gold = {(min(i, head), max(i, head)) for i, head in enumerate(heads)}
    return len(set(edges) & gold) / len(edges)


_UNSORTED = (
    "The links are right, but in the order in which you found them. Return them sorted, so that "
    "there is one right answer."
)
_SHIFT = (
    "Your tree is right. But the treebank counts words from 1 and your links count from 0: head 3 "
    "is the word with number 2."
)
_SUBTRACTED = (
    "You subtract F[j, i] from F[i, j]. What matters is how strong both are together: the score of "
    "a link is their *sum*."
)

_MISTAKES = (
    Misconception(
        "circles_allowed",
        "You take the n - 1 largest scores. Among them there may be a circle, and then some word "
        "is connected to nothing. Leave out a link whose two ends are connected already, directly "
        "or through other words.",
        partial(_answer, tree=partial(_kruskal, circles=True)),
    ),
    Misconception("one_direction", _ONE_DIRECTION, partial(_answer, both=_upper)),
    Misconception("one_direction", _ONE_DIRECTION, partial(_answer, both=_lower)),
    Misconception(
        "one_direction", _ONE_DIRECTION, partial(_answer, both=lambda impact: impact, tree=_prim)
    ),
    Misconception(
        "one_direction", _ONE_DIRECTION, partial(_answer, both=lambda impact: impact.T, tree=_prim)
    ),
    Misconception(
        "larger_of_both",
        "Your score is the larger of F[i, j] and F[j, i]. It is their sum.",
        partial(_answer, both=lambda impact: torch.maximum(impact, impact.T)),
    ),
    Misconception(
        "smallest_tree",
        "Your tree has the *smallest* sum of scores. What is called a minimum spanning tree starts "
        "from costs; impacts are the opposite of costs: turn the order around.",
        partial(_answer, tree=partial(_kruskal, turn=1)),
    ),
    Misconception("one_word_renumbered", _RENUMBERED, partial(_answer, tree=_one_word_renumbered)),
    Misconception(
        "one_word_renumbered",
        _RENUMBERED,
        partial(_answer, tree=partial(_one_word_renumbered, second=False)),
    ),
    Misconception("best_for_each_word", _GREEDY, partial(_answer, tree=_best_partners)),
    Misconception(
        "best_for_each_word",
        _GREEDY,
        partial(_answer, both=lambda impact: impact, tree=_best_partners),
    ),
    Misconception("best_on_one_side", _ONE_SIDE, partial(_answer, tree=_best_before)),
    Misconception("best_on_one_side", _ONE_SIDE, partial(_answer, tree=_best_after)),
    Misconception(
        "only_circles_of_three_avoided",
        "You leave out a link if its ends are connected through *one* other word. They may be "
        "connected through several, and then a longer circle closes: keep for each word the part "
        "of the sentence that it belongs to, or grow one tree from word 0.",
        partial(_answer, tree=_circles_of_three_avoided),
    ),
    Misconception(
        "a_path",
        "You always go on from the word that was added last: that is a path, in which no word has "
        "more than two links. The next link may start from *any* word that is in the tree already.",
        partial(_answer, tree=_path),
    ),
    Misconception(
        "crossings_avoided",
        "Your tree is the best of those without crossings, as chapter 16c looks for it. Here links "
        "may cross: only the scores decide, and that no circle closes.",
        partial(_answer, tree=lambda scores: sorted(eisner(scores))),
    ),
    Misconception(
        "neighbours_linked",
        "You link each word to the next. That is the baseline, and it looks at no impact.",
        partial(_answer, tree=_chain),
    ),
    Misconception(
        "one_word_in_the_middle",
        "You link all words to one. The tree with the largest sum may branch anywhere.",
        partial(_answer, tree=_star),
    ),
    Misconception(
        "words_counted_from_1",
        "Your links are right, but counted from 1. In the treebank's heads words are counted from "
        "1; the links that you return count from 0, as Python does.",
        partial(_answer, shown=lambda edges: [(i + 1, j + 1) for i, j in edges]),
    ),
    Misconception(
        "larger_end_first",
        "Your links are written with the larger end first. Write (i, j) with i < j.",
        partial(_answer, shown=lambda edges: [(j, i) for i, j in edges]),
    ),
    Misconception(
        "both_directions_listed",
        "You list each link twice, as (i, j) and as (j, i). It has no direction; once is enough, "
        "with i < j.",
        partial(_answer, shown=lambda edges: sorted(edges + [(j, i) for i, j in edges])),
    ),
    Misconception(
        "not_sorted",
        _UNSORTED,
        lambda impact, heads: (
            sorted(best_tree(impact, heads)[0], key=lambda edge: -_both(impact)[edge].item()),
            best_tree(impact, heads)[1],
        ),
    ),
    Misconception(
        "root_counted",
        "Your tree is right. But you divide by the number of words: n words have n - 1 links, and "
        "the root, whose head is 0, has none to be found.",
        partial(_answer, share=_root_counted),
    ),
    Misconception(
        "root_linked_to_the_last_word",
        "Your tree is right. But the root's head is 0, and 0 - 1 is -1, which in Python is the "
        "*last* place: you give the treebank a link between the root and the last word. The root "
        "has none; leave it out.",
        partial(_answer, share=_root_wraps),
    ),
    Misconception(
        "root_linked_to_the_last_word",
        "Your tree is right. But the root's head is 0, and 0 - 1 is -1, which in Python is the "
        "*last* place: you give the treebank a link between the root and the last word. The root "
        "has none; leave it out.",
        partial(_answer, share=_root_wraps_all),
    ),
    Misconception(
        "heads_not_shifted",
        _SHIFT,
        partial(_answer, share=_heads_from_0),
    ),
    Misconception("heads_not_shifted", _SHIFT, partial(_answer, share=_heads_from_0_as_a_set)),
    Misconception("direction_compared", _COMPARED, partial(_answer, share=_one_way)),
    Misconception("direction_compared", _COMPARED, partial(_answer, share=_other_way)),
    Misconception(
        "counted_not_divided",
        "Your tree is right. The second result is a *share*: divide the number of links found by "
        "that of the treebank's.",
        partial(_answer, share=lambda edges, heads: len(set(edges) & _gold(heads))),
    ),
    Misconception(
        "directions_multiplied",
        "You multiply F[i, j] and F[j, i]. The score of a link is their *sum*.",
        partial(_answer, both=_product),
    ),
    Misconception("directions_subtracted", _SUBTRACTED, partial(_answer, both=_difference)),
    Misconception(
        "directions_subtracted", _SUBTRACTED, partial(_answer, both=_difference, tree=_prim)
    ),
    Misconception(
        "directions_subtracted", _SUBTRACTED, partial(_answer, both=_absolute_difference)
    ),
    Misconception(
        "as_the_tree_grew",
        "Your links are right, but written as the tree grew: from the word that was in it to the "
        "one that came. Write each as (i, j) with i < j, before you sort and compare.",
        _as_grown,
    ),
    Misconception("not_sorted", _UNSORTED, _in_the_order_of_growth),
    Misconception("heads_not_shifted", _SHIFT, partial(_answer, share=_root_linked_to_the_first)),
    Misconception(
        "percent",
        "Your tree is right. The share is asked for as a number from 0 to 1, not in per cent.",
        partial(_answer, share=lambda edges, heads: 100 * _share(edges, heads)),
    ),
)

TREE = Question(
    name="hw7.best_tree",
    title="A tree from impacts",
    points=3,
    minutes=25,
    difficulty=3,
    chapter="16c_trees#perturbed-masking",
    cases=_cases,
    reference=best_tree,
    misconceptions=_MISTAKES,
    demands=(Demand(LINKS, 2), Demand(SHARE, 1)),
)
