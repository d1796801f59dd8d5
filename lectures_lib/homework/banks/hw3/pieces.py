"""Question 2: reading a word as WordPiece does."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Generator

from lectures_lib.homework.banks.inputs import pick, whole
from lectures_lib.homework.banks.telling import telling
from lectures_lib.homework.questions import Case, Demand, Misconception, Question

LONGEST = "a word is cut into pieces, the longest that fits first"
UNKNOWN = "a word that this does not spell is one [UNK]"

_BEGINNINGS = ("un", "re", "over", "out", "mis", "under")
_STEMS = ("play", "read", "paint", "lock", "cook", "load", "print", "think")
_ENDINGS = ("able", "ings", "ness", "ers", "ment")


def _pieces_cases(g: Generator) -> list[Case]:
    def draw(g: Generator) -> list[Case]:
        beginning, stem, ending = (
            pick(g, parts, 1)[0] for parts in (_BEGINNINGS, _STEMS, _ENDINGS)
        )
        word = beginning + stem + ending
        letters = sorted(set(word))
        # Pieces that begin too early or end too late tempt those who go from the left, from the
        # right, or want few pieces.
        cut = whole(g, 1, len(stem) - 2)
        tempting = [
            beginning,
            beginning + stem[:cut],
            f"##{stem}",
            f"##{ending}",
            f"##{stem[-1]}{ending}",
            f"##{beginning}",
            stem,
        ]
        spelled = [
            *letters,
            *(f"##{letter}" for letter in letters),
            *tempting,
            *_substrings(g, word, 5),
        ]
        # No single letters in this one: the longest first piece leads to a dead end.
        trap = [
            beginning,
            beginning + stem[:cut],
            f"##{stem}",
            f"##{ending}",
            f"##{stem[cut:-1]}",
            ending,
        ]
        by_letter = [word[0], *(f"##{letter}" for letter in letters), f"##{stem}", f"##{ending}"]
        strange = pick(g, "qxzj", 1)[0]
        capital = [beginning.capitalize(), beginning, f"##{stem}", f"##{ending}"]
        continued = [f"##{beginning}", stem, f"##{stem}", f"##{ending}"]
        # nothing with ## fits behind the beginning, and the bare stem would
        unmarked = [beginning, stem, f"##{ending}"]
        place = whole(g, len(beginning) + 1, len(word) - 1)
        with_strange = word[:place] + strange + word[place:]
        return [
            Case(
                (word, _shuffled(g, spelled)),
                shows=f"the word {word!r}, all of its letters in the vocabulary",
            ),
            Case(
                (word, _shuffled(g, [*spelled, word])),
                shows=f"the word {word!r}, itself in the vocabulary",
            ),
            Case(
                (word, _shuffled(g, trap)),
                shows=f"the word {word!r}, with the vocabulary {sorted(set(trap))}",
                demands=(UNKNOWN,),
            ),
            Case(
                (word, _shuffled(g, by_letter)),
                shows=f"the word {word!r}, which begins with a piece of one letter",
            ),
            Case(
                (word.capitalize(), _shuffled(g, capital)),
                shows=f"the word {word.capitalize()!r}, with the vocabulary {sorted(capital)}",
            ),
            Case(
                (word, _shuffled(g, continued)),
                shows=f"the word {word!r}, with the vocabulary {sorted(continued)}",
                demands=(UNKNOWN,),
            ),
            Case(
                (word, _shuffled(g, unmarked)),
                shows=f"the word {word!r}, with the vocabulary {sorted(unmarked)}",
                demands=(UNKNOWN,),
            ),
            Case((word, [word]), shows=f"the word {word!r}, the only one in the vocabulary"),
            Case(
                (with_strange, _shuffled(g, spelled)),
                shows=f"the word {with_strange!r}, whose {strange!r} is in no piece",
                demands=(UNKNOWN,),
            ),
        ]

    return telling(g, draw, word_pieces, [mistake.answer for mistake in _MISTAKES])


def _substrings(g: Generator, word: str, count: int) -> list[str]:
    """Pieces that fit somewhere in the word, most of them marked as they would have to be there."""
    found = []
    for _ in range(count):
        start = whole(g, 0, len(word) - 3)
        piece = word[start : start + whole(g, 2, 5)]
        marked = (start > 0) != bool(torch.rand((), generator=g) < 0.25)
        found.append(f"##{piece}" if marked else piece)
    return found


def _shuffled(g: Generator, pieces: list[str]) -> list[str]:
    return pick(g, sorted(set(pieces)), len(set(pieces)))


def word_pieces(word: str, vocabulary: list[str]) -> list[str]:
    """From the left, always the longest piece that fits; ["[UNK]"] where none does."""
    return _read(word, vocabulary)


def _read(
    word: str,
    vocabulary: list[str],
    mark_first: bool = False,
    mark_rest: bool = True,
    write_marks: bool = True,
    shortest: bool = False,
    unknown: str = "word",
) -> list[str]:
    pieces: list[str] = []
    start = 0
    while start < len(word):
        prefix = "##" if (mark_rest if start else mark_first) else ""
        ends = range(start + 1, len(word) + 1) if shortest else range(len(word), start, -1)
        end = next((end for end in ends if prefix + word[start:end] in vocabulary), None)
        if end is None:
            if unknown == "word":
                return ["[UNK]"]
            if unknown == "rest":
                return [*pieces, "[UNK]"]
            if unknown == "nothing":
                return []
            if unknown == "what there is":
                return pieces
            if unknown == "letter":
                pieces.append("[UNK]")
            start += 1
            continue
        pieces.append((prefix if write_marks else "") + word[start:end])
        start = end
    return pieces


def _going_back(word: str, vocabulary: list[str]) -> list[str]:
    """The longest first, but another way is tried where that leads to a dead end."""
    found = _search(word, vocabulary, 0)
    return ["[UNK]"] if found is None else found


def _search(word: str, vocabulary: list[str], start: int) -> list[str] | None:
    if start == len(word):
        return []
    prefix = "##" if start else ""
    for end in range(len(word), start, -1):
        if prefix + word[start:end] in vocabulary:
            rest = _search(word, vocabulary, end)
            if rest is not None:
                return [prefix + word[start:end], *rest]
    return None


def _fewest(word: str, vocabulary: list[str]) -> list[str]:
    """As few pieces as possible; of several such ways the one whose first pieces are longer."""
    best: list[list[str] | None] = [None] * len(word) + [[]]
    for start in range(len(word) - 1, -1, -1):
        prefix = "##" if start else ""
        for end in range(len(word), start, -1):
            rest, piece = best[end], prefix + word[start:end]
            if (
                rest is not None
                and piece in vocabulary
                and (best[start] is None or len(rest) + 1 < len(best[start]))
            ):
                best[start] = [piece, *rest]
    return ["[UNK]"] if best[0] is None else best[0]


def _marked_or_not(word: str, vocabulary: list[str], written: str = "as found") -> list[str]:
    """Takes a piece without ## inside a word too."""
    pieces: list[str] = []
    start = 0
    while start < len(word):
        for end in range(len(word), start, -1):
            marked, plain = "##" + word[start:end], word[start:end]
            if (start and marked in vocabulary) or plain in vocabulary:
                as_found = marked if start and marked in vocabulary else plain
                pieces.append(marked if start and written == "marked" else as_found)
                start = end
                break
        else:
            return ["[UNK]"]
    return pieces


def _plain_where_nothing_else_fits(word: str, vocabulary: list[str]) -> list[str]:
    """Takes a piece without ## inside a word, but only where none with ## fits, however short."""
    pieces: list[str] = []
    start = 0
    while start < len(word):
        ends = range(len(word), start, -1)
        fits = [
            mark + word[start:end]
            for mark in (("##", "") if start else ("",))
            for end in ends
            if mark + word[start:end] in vocabulary
        ]
        if not fits:
            return ["[UNK]"]
        pieces.append(fits[0])
        start += len(fits[0].removeprefix("##"))
    return pieces


def _from_the_right(word: str, vocabulary: list[str]) -> list[str]:
    pieces: list[str] = []
    end = len(word)
    while end > 0:
        starts = (
            start for start in range(end) if ("##" if start else "") + word[start:end] in vocabulary
        )
        start = next(starts, None)
        if start is None:
            return ["[UNK]"]
        pieces.insert(0, ("##" if start else "") + word[start:end])
        end = start
    return pieces


def _looked_up_plain(word: str, vocabulary: list[str]) -> list[str]:
    """Looks for the bare letters everywhere, and writes the marks afterwards."""
    pieces = _read(word, vocabulary, mark_rest=False)
    return pieces[:1] + [f"##{piece}" for piece in pieces[1:]]


def _lower_case(word: str, vocabulary: list[str]) -> list[str]:
    return word_pieces(word.lower(), vocabulary)


def _continuation_first(word: str, vocabulary: list[str], written: str = "plain") -> list[str]:
    """A piece with ## may begin the word too."""
    begins = {piece[2:] for piece in vocabulary if piece.startswith("##")}
    pieces = word_pieces(
        word, [*vocabulary, *(piece for piece in begins if word.startswith(piece))]
    )
    return (
        [f"##{pieces[0]}", *pieces[1:]]
        if written == "as found" and pieces[0] not in [*vocabulary, "[UNK]"]
        else pieces
    )


def _one_letter_never_tried(word: str, vocabulary: list[str]) -> list[str]:
    """The loop over a piece's end stops one too early, but at the beginning of the word."""
    return word_pieces(
        word, [piece for piece in vocabulary if len(piece) != 3 or not piece.startswith("##")]
    )


def _first_in_the_vocabulary(word: str, vocabulary: list[str]) -> list[str]:
    pieces: list[str] = []
    start = 0
    while start < len(word):
        prefix = "##" if start else ""
        fits = (
            p
            for p in vocabulary
            if len(p) > len(prefix)
            and p.startswith(prefix)
            and word.startswith(p[len(prefix) :], start)
        )
        piece = next(fits, None)
        if piece is None:
            return ["[UNK]"]
        pieces.append(piece)
        start += len(piece) - len(prefix)
    return pieces


def _not_in_a_list(word: str, vocabulary: list[str]) -> list[str] | str:
    pieces = word_pieces(word, vocabulary)
    return "[UNK]" if pieces == ["[UNK]"] else pieces


def _joined(word: str, vocabulary: list[str]) -> str:
    return " ".join(word_pieces(word, vocabulary))


def _rest_by(take: Callable[[str, str], str], word: str, vocabulary: list[str]) -> list[str]:
    """What a piece has spelled is taken away from the word by a method of strings that takes more
    than that.
    """
    pieces: list[str] = []
    while word:
        prefix = "##" if pieces else ""
        end = next((e for e in range(len(word), 0, -1) if prefix + word[:e] in vocabulary), None)
        if end is None:
            return ["[UNK]"]
        pieces.append(prefix + word[:end])
        word = take(word, word[:end])
    return pieces


def _stripped(word: str, piece: str) -> str:
    """`lstrip` takes letters, and not a piece."""
    return word.lstrip(piece)


def _replaced(word: str, piece: str) -> str:
    """Wherever else its letters stand, too."""
    return word.replace(piece, "")


def _whole_rest_never_tried(word: str, vocabulary: list[str]) -> list[str]:
    """The loop over a piece's end begins one too early: nothing ever spells the last letter."""
    return ["[UNK]"]


def _mark_not_looked_up(word: str, vocabulary: list[str]) -> list[str]:
    """Whether a piece has its ## in the vocabulary does not matter; it is written as it should."""
    bare = [piece.removeprefix("##") for piece in vocabulary]
    return word_pieces(word, [*bare, *(f"##{piece}" for piece in bare)])


_STRIPPED = (
    "What you take away from the word is not the piece alone. lstrip(piece) takes every letter "
    "that occurs in the piece, as long as there is one; replace(piece, '') takes the piece away "
    "wherever it stands. Go on behind it: word[len(piece):]."
)
_UNKNOWN = (
    "When nothing fits the rest of a word, you keep what you had found so far. BERT's rule is all "
    "or nothing: the *whole* word becomes "
    '["[UNK]"], and its first pieces are thrown away.'
)
_MARKS = (
    'You look for the rest of a word without ##. In the vocabulary "able" (which begins a word) '
    'and "##able" (which continues one) are two different pieces: from the second piece on, look '
    'for "##" + letters.'
)
_EITHER = (
    "Inside a word you also take a piece that has no ##. In the vocabulary a piece without the "
    "mark begins a word and fits nowhere else: "
    'from the second piece on, only "##" + letters counts.'
)
_CONTINUES = (
    "You let a piece with ## begin a word. The mark says that a piece continues one: the first "
    "piece stands in the vocabulary without it."
)
_OTHER_WAY = (
    "Where the longest piece leads to a dead end you find another way to cut the word. That is "
    "clever, but not WordPiece: it never goes "
    'back. The longest piece is taken, and if nothing fits the rest, the word is ["[UNK]"].'
)


def _joined_unless_unknown(word: str, vocabulary: list[str]) -> list[str] | str:
    pieces = word_pieces(word, vocabulary)
    return pieces if pieces == ["[UNK]"] else " ".join(pieces)


_JOINED = "Your pieces are right, but they are joined to one string. Return the list of them."

_MISTAKES = (
    Misconception(
        "shortest_first",
        "You take the shortest piece that fits: mostly single letters. Try the longest first, the "
        "whole rest of the word, and drop letters from its end until a piece is in the vocabulary.",
        partial(_read, shortest=True),
    ),
    Misconception("looked_up_without_marks", _MARKS, partial(_read, mark_rest=False)),
    Misconception("looked_up_without_marks", _MARKS, _looked_up_plain),
    Misconception("either_spelling_fits", _EITHER, _marked_or_not),
    Misconception("either_spelling_fits", _EITHER, _plain_where_nothing_else_fits),
    Misconception("either_spelling_fits", _EITHER, partial(_marked_or_not, written="marked")),
    Misconception(
        "marks_not_written",
        "You find the right pieces and then drop their ##. The mark is part of the piece's name: "
        "without it nobody could tell where the next word begins.",
        partial(_read, write_marks=False),
    ),
    Misconception(
        "first_piece_marked",
        "You look for the first piece with ## too. The mark says that a piece *continues* a word; "
        "the first one does not.",
        partial(_read, mark_first=True),
    ),
    Misconception("continuation_begins_the_word", _CONTINUES, _continuation_first),
    Misconception(
        "continuation_begins_the_word", _CONTINUES, partial(_continuation_first, written="as found")
    ),
    Misconception(
        "lower_case",
        "You put the word into lower case first. Some of BERT's tokenizers do so before they look "
        "for pieces; here the word is read as it is, capitals included.",
        _lower_case,
    ),
    Misconception(
        "one_letter_never_tried",
        "Inside a word you never try a piece of a single letter, ## and one more: your loop over "
        "the piece's end stops one too early.",
        _one_letter_never_tried,
    ),
    Misconception("more_than_the_piece_taken_away", _STRIPPED, partial(_rest_by, _stripped)),
    Misconception("more_than_the_piece_taken_away", _STRIPPED, partial(_rest_by, _replaced)),
    Misconception(
        "always_unknown",
        "Every word is unknown to you. Does your loop over the piece's end try the whole rest of "
        "the word? Its last letter stands at number len(word) - 1, so the first end to try is "
        "len(word).",
        _whole_rest_never_tried,
    ),
    Misconception("either_spelling_fits", _EITHER, _mark_not_looked_up),
    Misconception(
        "first_in_the_vocabulary",
        "You take the first piece of the vocabulary that fits. Its order says nothing: of all that "
        "fit, the longest is taken.",
        _first_in_the_vocabulary,
    ),
    Misconception("pieces_kept", _UNKNOWN, partial(_read, unknown="rest")),
    Misconception("pieces_kept", _UNKNOWN, partial(_read, unknown="what there is")),
    Misconception(
        "unknown_letter_by_letter",
        "You put an [UNK] in place of the letter where nothing fits, and go on behind it. BERT's "
        "rule is all or nothing: the *whole* "
        'word becomes ["[UNK]"].',
        partial(_read, unknown="letter"),
    ),
    Misconception(
        "letters_skipped",
        "You skip a letter where nothing fits and go on as if it were not there: other letters are "
        "then spelled than the word has. The "
        'whole word becomes ["[UNK]"].',
        partial(_read, unknown="skip"),
    ),
    Misconception(
        "nothing_for_unknown",
        "For a word that cannot be spelled you return an empty list, so the word vanishes from the "
        'text. Return ["[UNK]"].',
        partial(_read, unknown="nothing"),
    ),
    Misconception("another_way_found", _OTHER_WAY, _going_back),
    Misconception("another_way_found", _OTHER_WAY, _fewest),
    Misconception(
        "from_the_right",
        "You cut from the end of the word. WordPiece goes from left to right: the longest piece "
        "with which the word *begins*, then the longest with which the rest begins.",
        _from_the_right,
    ),
    Misconception(
        "unknown_not_in_a_list",
        'For an unknown word you return the string "[UNK]". The function returns a list in all '
        'cases: ["[UNK]"]. A string in its '
        "place is taken apart into five letters by the next loop.",
        _not_in_a_list,
    ),
    Misconception(
        "joined",
        _JOINED,
        _joined,
    ),
    Misconception("joined", _JOINED, _joined_unless_unknown),
)

PIECES = Question(
    name="hw3.word_pieces",
    title="The longest piece first",
    points=2,
    minutes=15,
    difficulty=1,
    chapter="07b_wordpiece#the-longest-piece-that-fits",
    cases=_pieces_cases,
    reference=word_pieces,
    misconceptions=_MISTAKES,
    demands=(Demand(LONGEST, 1), Demand(UNKNOWN, 1)),
)
