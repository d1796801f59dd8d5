"""What the translators that come with the book make of captions written for it, and which of them
chapter 8b shows: a rule chooses.

    python experiments/own_captions.py
        half a minute on one core; writes book/results/own_captions.json

Multi30k's captions are no part of this book. So 101 were written (`data.own_captions`), before a
translator read one. Sorted by the BLEU of their translations, those at the places 5, 50 and 95 of 0
to 100 are what is meant by bad, typical and good; with one neighbour on either side there are three
of each. Of captions with the same score the one that stands first in the file comes first.
"""

from collections.abc import Sequence

from lectures_lib import data, results, stored
from lectures_lib.metrics import bleu, exact_match

PLACES = {"bad": 5, "typical": 50, "good": 95}  # of 0 to 100
TITLE = "101 captions of this book and their translations by the models that come with it: BLEU"


def chosen(scores: Sequence[float]) -> dict[str, list[int]]:
    """Which captions are shown, by their numbers in the file."""
    order = sorted(range(len(scores)), key=scores.__getitem__)
    last = len(scores) - 1
    places = {kind: round(place * last / 100) for kind, place in PLACES.items()}
    return {kind: order[place - 1 : place + 2] for kind, place in places.items()}


def scored(source: str, target: str) -> tuple[dict[str, float], dict[str, list[int]]]:
    """One direction: the scores of all together, and which are shown."""
    captions = data.own_captions()
    wanted = [caption[target] for caption in captions]
    said = stored.translator(source, target)([caption[source] for caption in captions])
    each = [bleu([s], [w]).score for s, w in zip(said, wanted, strict=True)]
    shown = chosen(each)
    for kind, numbers in shown.items():
        for i in numbers:
            print(f"{kind:8} {each[i]:5.1f}  {said[i]} | {wanted[i]}")
    together = {"bleu": bleu(said, wanted).score, "word_for_word": exact_match(said, wanted)}
    return together, shown


def main() -> None:
    """Both directions."""
    found, shown = {}, {}
    for source, target in stored.DIRECTIONS:
        direction = f"{source}-{target}"
        found[direction], shown[direction] = scored(source, target)
    results.save("own_captions", found, TITLE, [0], shown=shown)


if __name__ == "__main__":
    main()
