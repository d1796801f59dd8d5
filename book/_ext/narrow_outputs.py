"""What a cell printed in columns, on a telephone: the columns stay, and nothing scrolls.

Where spaces between the columns are all that is too much, some are left out, and letters become a
little smaller. Where that is not enough, a line's last column goes on below itself if it is a
sentence; else each line is laid below in pieces, or, where the columns have a head, the table is, as
R prints a wide one: the names of its lines are repeated beside the columns that follow.

On a wide page, and in what is copied, nothing changes: the style sheet does it (`.bands`, `.gap`).
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from string import ascii_letters

from long_outputs import ALIGNED

FITS = 42  # columns of a telephone of 360 pixels
SMALL = 49  # the same in letters of 11 pixels
NAME = 20  # where a last column that goes on below itself begins, at most
GO_ON = 3  # by how much `.on` indents (narrow_code.py)
BELOW = 2  # by how much what is laid below is indented
ITEMS = 6  # columns of what is set word below word
NAMES = 0.5  # of a telephone's width, the most that names are given that are repeated
LETTERS = {*ascii_letters, " "}
FAR = 88  # of a wide page
ROOM = 31  # columns of the narrowest telephone


@dataclass(frozen=True)
class Laid:
    """Some lines, and how a telephone shows them; `cost` is less where they stay more as they are."""

    lines: tuple[str, ...]
    cost: float
    hidden: tuple[tuple[int, int], ...] = ()  # spaces that are left out
    hang: int = 0  # where the last column begins, if it goes on below itself
    pieces: tuple[tuple[int, int], ...] = ()  # of a line, each shown below the one before
    stacked: bool = False  # all lines' first pieces come first
    wraps: bool = False  # a line that is too long goes on below
    name: int = 0  # columns of a line's name


def printed(lines: list[str]) -> tuple[str, bool]:
    """What was printed in columns, as HTML, and whether its letters are small."""
    written = tuple(line.rstrip() for line in lines)
    usual, small = divided(written, FITS), divided(written, SMALL)
    smaller = cost(small) < cost(usual) - 0.1
    return "".join(map(marked_up, small if smaller else usual)), smaller


def cost(groups: tuple[Laid, ...]) -> float:
    """How far lines in these groups are from what was printed."""
    return sum(group.cost for group in groups)


def width(lines: tuple[str, ...]) -> int:
    """Columns of the longest line."""
    return max(map(len, lines), default=0)


def divided(lines: tuple[str, ...], limit: int) -> tuple[Laid, ...]:
    """The lines in groups whose columns go together, at the least cost."""
    best: list[tuple[Laid, ...]] = [()]
    for end in range(1, len(lines) + 1):
        ways = []
        for begin in range(end):
            laid = laid_out(lines[begin:end], limit)
            if laid and begin and alike(lines[begin - 1], lines[begin]):
                laid = replace(laid, cost=laid.cost + 2.5)  # a table is not torn
            if laid:
                ways.append((*best[begin], laid))
        best.append(min(ways, key=cost))
    return best[-1]


def alike(one: str, other: str) -> bool:
    """Whether two lines look like lines of one table."""
    if ALIGNED.search(one) and ALIGNED.search(other):
        return True
    same = sum(a == b != " " for a, b in zip(one, other, strict=False))
    return same > 0.3 * min(len(one), len(other)) > 0


def laid_out(lines: tuple[str, ...], limit: int) -> Laid | None:
    """Lines as one group, as cheaply as can be, or None where that cannot be."""
    lonely = 4 * all(line.startswith(" " * 6) for line in lines)  # a head without its table
    if width(lines) <= limit:
        return Laid(lines, 0.4 + lonely)
    if "" in lines:
        return None
    gaps = gutters(lines)
    in_columns = len(gaps) + 1 >= ITEMS
    likes = [False, *(alike(one, other) for one, other in pairwise(lines)), False]
    lost = sum(
        1 if in_columns or ALIGNED.search(line) or any(likes[i : i + 2]) else 0.2
        for i, line in enumerate(lines)
        if len(line) > limit
    )
    ways = [Laid(lines, 1 + lost + lonely, wraps=True)]
    for kept in (2, 1):
        hidden = left_out(gaps, kept)
        if seen(hidden, 0, width(lines)) <= limit:
            ways.append(Laid(lines, 0.6 - 0.1 * kept + lonely, hidden))
    if len(lines) > 1 and (inner := [gap for gap in gaps if gap[0] > 0]):
        ways += [*hanging(lines, inner), *in_pieces(lines, inner, limit)]
    return min(ways, key=lambda laid: laid.cost)


def left_out(gaps: list[tuple[int, int]], kept: int) -> tuple[tuple[int, int], ...]:
    """Of the spaces between columns those that are too many."""
    return tuple((begin + kept, end) for begin, end in gaps if end - begin > kept)


def seen(hidden: tuple[tuple[int, int], ...], begin: int, end: int) -> int:
    """How wide a part of a line is without what is left out."""
    return end - begin - sum(max(0, min(e, end) - max(b, begin)) for b, e in hidden)


def gutters(lines: tuple[str, ...]) -> list[tuple[int, int]]:
    """Where all lines have spaces that keep columns apart, and none is within brackets."""
    size = width(lines)
    padded = [line.ljust(size) for line in lines]
    free = "".join(" " if all(line[i] == " " for line in padded) else "x" for i in range(size))
    return [
        found.span()
        for found in re.finditer(" +", free)
        if found.start() == 0 or keeps_apart(lines, *found.span())
    ]


def keeps_apart(lines: tuple[str, ...], begin: int, end: int) -> bool:
    """Whether spaces are there for the columns: more than one, or one before or behind which a line
    is filled up, or all lines have the same letter.
    """
    told, lines = len(lines), tuple(line for line in lines if len(line) > end)
    if any(
        len(re.findall(r"[(\[{]", x[:end])) > len(re.findall(r"[)\]}]", x[:end])) for x in lines
    ):
        return False
    before, behind = {line[begin - 1] for line in lines}, {line[end] for line in lines}
    return len(lines) >= max(2, 0.4 * told) and (
        end - begin > 1 or " " in before | behind or len(before) == 1
    )


def hanging(lines: tuple[str, ...], gaps: list[tuple[int, int]]) -> list[Laid]:
    """The last column goes on below itself, if it begins early and has words or a list."""
    ways = []
    for hang in (end for _, end in gaps if GO_ON <= end <= NAME):
        later = sum(begin > hang for begin, _ in gaps)
        torn = sum(len(x) > FITS and bool(ALIGNED.search(x[hang:])) for x in lines)
        ways.append(Laid(lines, 1.5 + 0.4 * (later + torn), hang=hang))
    return ways


def in_pieces(lines: tuple[str, ...], gaps: list[tuple[int, int]], limit: int) -> list[Laid]:
    """Each line in pieces, the fewest that fit, cut where the columns are the furthest apart."""
    name = names_end(lines, gaps)
    names = [line[:name] for line in lines if line[:name].strip()]
    told_apart = len(names) == len(set(names)) and name + 2 <= NAMES * limit
    stacked = told_apart and has_a_head(lines, gaps)
    hidden = left_out(gaps, 2)
    if stacked and seen(hidden, gaps[-1][1], width(lines)) + name + 2 > limit:
        hidden = left_out(gaps, 1)
    indent = (name and name + 2) if stacked else BELOW
    edges = [0, *(end for _, end in gaps)]
    ends = [*(begin for begin, _ in gaps), width(lines)]
    best: list[tuple[float, tuple]] = [(0, ())]
    for last in range(len(edges)):
        ways = []
        for first in range(last + 1):
            before, pieces = best[first]
            room = limit - (indent if first else 0)
            over = seen(hidden, edges[first], ends[last]) > room
            if over and first < last:
                continue
            price = 1 + 0.5 * over + (bad_cut(lines, *gaps[first - 1]) if first else 0)
            ways.append((before + price, (*pieces, (edges[first], ends[last]))))
        best.append(min(ways, key=lambda way: way[0]))
    price, pieces = best[-1]
    price = 1.5 + 0.5 * price
    if not stacked:  # a name would be far from its column, a word from what stands below it
        price += lines[0].startswith("    ") + 2 * (len(edges) >= ITEMS and wordy(lines) > 0)
    if pieces[0][1] < 3:
        return []
    return [Laid(lines, price, hidden, pieces=pieces, stacked=stacked, name=name)]


def wordy(lines: tuple[str, ...]) -> int:
    """How many lines have no number."""
    return sum(not re.search(r"\d", line) for line in lines)


def bad_cut(lines: tuple[str, ...], begin: int, end: int) -> float:
    """How much a line's reader would mind that it is cut there."""
    lines = tuple(line for line in lines if len(line) > end)
    stops = {line[begin - 1] for line in lines}
    if stops <= set(",;"):
        return 0
    if end - begin > 1:
        numbers = all(line[end:].lstrip()[:1].isdigit() for line in lines)
        return 0.3 if numbers and stops <= LETTERS else 0.05
    if stops <= {":"}:
        return 0.1
    cut = [line[begin - 1 : end + 1] for line in lines]
    if len({part[-1] for part in cut}) > 1 and any(
        re.fullmatch(r"[^\W\d] [^\W\d]", x) for x in cut
    ):
        return 3  # between the words of a sentence
    return 0.1 if " " in stops or len(stops) > 1 else 1.2


def names_end(lines: tuple[str, ...], gaps: list[tuple[int, int]]) -> int:
    """Where the names of the lines end: before the first column of numbers."""
    head, *rest = lines
    apart = [gap for gap in gaps if gap[1] - gap[0] > 1] or gaps
    if word_below_word(lines, gaps):
        return gaps[0][0] if rest[1:] else 0
    end = apart[0][0]
    for (_, begin), (stop, _) in pairwise(apart):
        if any(re.search(r"\d", line[begin:stop]) for line in rest) or head[begin:stop].strip():
            break
        end = stop
    return end


def word_below_word(lines: tuple[str, ...], gaps: list[tuple[int, int]]) -> bool:
    """Whether each word of a sentence has something below it."""
    whole = min(map(len, lines)) > 0.7 * width(lines)
    return whole and len(gaps) + 1 >= ITEMS and not re.search(r"\d", lines[0])


def has_a_head(lines: tuple[str, ...], gaps: list[tuple[int, int]]) -> bool:
    """Whether the columns' names stand above them, or words above words."""
    head, *rest = lines
    if word_below_word(lines, gaps):
        return True
    if len(lines) < 3 or wordy(tuple(rest)) > len(rest) / 3:
        return False
    if head.startswith("    "):
        return True
    apart = all(re.search(" {2}|^$", head[max(0, b - 1) : e + 1].strip("\n")) for b, e in gaps)
    return apart and not re.search(r"\d", head)


def marked_up(laid: Laid) -> str:
    """A group as HTML."""
    if laid.pieces:
        first = laid.lines[0]
        inside = "".join("".join(pieces_of(x, laid, x is first)) + "\n" for x in laid.lines)
        return f'<span class="bands">{inside}</span>'
    return "".join(line_of(line, laid) + "\n" for line in laid.lines)


def line_of(line: str, laid: Laid) -> str:
    """A line that stays one."""
    if not laid.hidden and len(line) > ROOM and (laid.wraps or laid.hang):
        own = len(line) - len(line.lstrip())
        indent = laid.hang - GO_ON if laid.hang else own
        kind = "on beyond" if laid.wraps and len(line) > FAR else "on"
        return f'<span class="{kind}" style="--in:{indent}">{html.escape(line)}</span>'
    return part_of(line, laid, 0, len(line))


def part_of(line: str, laid: Laid, done: int, last: int) -> str:
    """A part of a line, in which some spaces can be left out."""
    written = ""
    for begin, end in laid.hidden:
        begin, end = max(begin, done), min(end, last)
        if spaces := line[begin:end]:
            written += html.escape(line[done:begin]) + f'<span class="gap">{spaces}</span>'
            done = end
    return written + html.escape(line[done:last])


def pieces_of(line: str, laid: Laid, first: bool) -> Iterator[str]:
    """The pieces of a line; a piece that is laid below knows the name of its line."""
    done = 0
    for place, (begin, end) in enumerate(laid.pieces):
        if spaces := line[done:begin]:
            yield f'<span class="gap">{spaces}</span>'
        done = end
        text = line[begin:end]
        if not text.strip() and not laid.stacked:
            if text:
                yield f'<span class="gap">{text}</span>'
            continue
        told = ""
        if laid.stacked and place:
            name = line[: laid.name].ljust(laid.name + 2) if laid.name else ""
            told = f' style="order:{place}" data-name="{html.escape(name)}"'
        kind = "band" + " below" * (place > 0) + " next" * (first and laid.stacked and place > 0)
        yield f'<span class="{kind}"{told}>{part_of(line, laid, begin, min(end, len(line)))}</span>'
