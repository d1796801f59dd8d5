"""Lists of numbers, in English and German words: translation that needs no download (chapters 1, 8
and 9).

"twenty-five, seven" → "fünfundzwanzig, sieben". The list can be made as long as one likes, and
German says the last two digits the other way round: the two things that a translator with one
fixed-size memory finds hard. `num2words` writes the words.
"""

import random
import re
from functools import cache
from itertools import product

from lectures_lib.data.splits import check_split, split_by_checksum

# The German words that number words are built from, longest first, so that "hundert" is not read as
# "h", "und", "ert".
_SIMPLE = (
    "null eins ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf sechzehn siebzehn "
    "zwanzig dreißig sechzig siebzig"
)
_REGULAR = [
    stem + ending for stem in ("drei", "vier", "fünf", "acht", "neun") for ending in ("zehn", "zig")
]
GERMAN_PARTS = sorted(
    [*_SIMPLE.split(), *_REGULAR, "hundert", "tausend", "und"], key=len, reverse=True
)
_GERMAN = re.compile("|".join(GERMAN_PARTS))


def number_words(
    split: str = "train",
    *,
    counts: tuple[int, ...] = (1, 2, 3, 4),
    size: int | None = None,
    highest: int = 999,
    seed: int = 0,
) -> list[dict[str, str]]:
    """Lists of numbers from 0 to `highest`: as many of each length in `counts`, in random order.

    A list's own digits decide which split it belongs to: a tenth of all lists are for validation, a
    tenth for testing. So no list of one split is ever in another, whatever the other arguments.
    Training examples are drawn with repetition; those of the other splits all differ, and short
    lists run out: then all there are come.

    Args:
        split: "train", "validation" or "test".
        counts: how many numbers a list may have.
        size: how many examples; None: 20,000 for training, 1,000 for validation and for testing.
        highest: the largest number, at most 999,999.
        seed: another seed, other examples of the same split.

    Returns:
        Dictionaries with the list in English ("en") and German ("de").

    Raises:
        ValueError: for a split that does not exist, a length or size below 1, or a highest number
            out of range.
    """
    check_split(split)
    size = size if size is not None else (20_000 if split == "train" else 1_000)
    if not counts or min(counts) < 1 or size < 1 or not 9 <= highest <= 999_999:
        raise ValueError(
            f"lists of 1 number or more, a size of at least 1 and a highest number from 9 to "
            f"999,999 are needed, got counts = {counts}, size = {size}, highest = {highest}"
        )
    rng = random.Random(f"{split} {counts} {highest} {seed}")
    shares = [len(range(i, size, len(counts))) for i in range(len(counts))]
    lists = []
    for count, share in zip(counts, shares, strict=True):
        lists += _draw(split, count, share, highest, rng)
    rng.shuffle(lists)
    return [
        {language: ", ".join(_words(n, language) for n in numbers) for language in ("en", "de")}
        for numbers in lists
    ]


def number_tokens(text: str) -> list[str]:
    """The words that number words are made of, in either language; a comma is a token of its own.

    "twenty-five, seven" → twenty five , seven; "fünfundzwanzig, sieben" → fünf und zwanzig ,
    sieben. German writes a number in one word: left whole, each of the thousand numbers would be a
    word that has nothing to do with the others.
    """
    tokens = []
    for word in re.findall(r"\w+|,", text):
        parts = _GERMAN.findall(word)
        tokens += parts if "".join(parts) == word else [word]
    return tokens


def number_alignment(source: list[str], target: list[str]) -> list[set[int]]:
    """Which English words each German word translates: for every target token the positions of its
    source tokens.

    In the n-th number of the list, a word means the same word's n-th occurrence there: the first
    "sieben" of "siebenhundertsieben" is the hundreds'. "und" joins units and tens, which English
    joins by a hyphen: it belongs to both.

    Args:
        source: English tokens, as `number_tokens` gives them.  target: the German ones.

    Raises:
        ValueError: where the two do not say the same.
    """
    sources, targets = _items(source), _items(target)
    if len(sources) != len(targets):
        raise ValueError(
            f"{len(sources)} numbers in English, {len(targets)} in German: {' '.join(source)} | "
            f"{' '.join(target)}"
        )
    positions: list[set[int]] = [set() for _ in target]
    for english, german in zip(sources, targets, strict=True):
        # "one hundred and five": German has no word for this "and"
        free = [i for i in english if source[i] != "and"]
        for j in (j for j in german if target[j] != "und"):
            i = next((i for i in free if source[i] == _meaning(target[j])), None)
            if i is None:
                raise ValueError(
                    f"{target[j]!r} has no source: {' '.join(source)} | {' '.join(target)}"
                )
            free.remove(i)
            positions[j] = {i}
        for j in (j for j in german if target[j] == "und"):
            positions[j] = positions[j - 1] | positions[j + 1]
    return positions


def _items(tokens: list[str]) -> list[list[int]]:
    """The positions of each number's tokens; a comma goes with the number before it."""
    items: list[list[int]] = [[]]
    for i, token in enumerate(tokens):
        items[-1].append(i)
        if token == ",":
            items.append([])
    return items


@cache
def _dictionary() -> dict[str, str]:
    """German to English, for the words that numbers are made of."""
    numbers = [*range(21), *range(30, 100, 10)]
    joined = {"ein": "one", "hundert": "hundred", "tausend": "thousand", ",": ","}
    return {_words(n, "de"): _words(n, "en") for n in numbers} | joined


def _meaning(german: str) -> str | None:
    return _dictionary().get(german)


def _draw(
    split: str, count: int, share: int, highest: int, rng: random.Random
) -> list[tuple[int, ...]]:
    """`share` lists of `count` numbers that belong to a split; outside training all different, and
    fewer where there are no more.
    """
    distinct = split != "train"
    # so few that drawing would search long for one it does not have yet
    if distinct and (highest + 1) ** count <= 100 * share:
        mine = [
            numbers
            for numbers in product(range(highest + 1), repeat=count)
            if _split_of(numbers) == split
        ]
        rng.shuffle(mine)
        return mine[:share]
    drawn: list[tuple[int, ...]] = []
    seen: set[tuple[int, ...]] = set()
    while len(drawn) < share:
        numbers = tuple(rng.randint(0, highest) for _ in range(count))
        if _split_of(numbers) == split and not (distinct and numbers in seen):
            drawn.append(numbers)
            seen.add(numbers)
    return drawn


def _split_of(numbers: tuple[int, ...]) -> str:
    return split_by_checksum(repr(numbers))


@cache
def _words(n: int, language: str) -> str:
    try:
        from num2words import num2words
    except ModuleNotFoundError:
        raise ImportError(
            "number words are written by num2words, which is not installed here: pip install "
            "num2words"
        ) from None
    # "one thousand, two hundred": the comma is ours to use
    return num2words(n, lang=language).replace(",", "")
