"""How the numbers of a results file are laid out: a nest of dictionaries becomes small tables, each
with a caption, a row for each variant and a column for each thing measured.

Nothing is drawn here. A leaf is a number, a word or what `lectures_lib.results.spread` gives; lists
are curves for figures, and are left out.
"""

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

Path = tuple[str, ...]
ALIKE = 0.5  # rows stand in one table if they share at least so much of their columns
FEW_ROWS = 3  # a table of so few rows is put together with its like
MOST_ROWS = 30  # but not into one of more rows than this
MOST_SPREADS, MOST_NUMBERS = 7, 9  # columns that fit a page: of spreads, of single numbers
SINGLE_RUNS = ("by_seed", "by_size")  # keys of what the means are made of: folded away
NAMES = {
    "bilstm": "BiLSTM",
    "bpe": "BPE",
    "cnn": "CNN",
    "cpu": "CPU",
    "d": "dimensions",
    "de-en": "German to English",
    "en-de": "English to German",
    "exact": "exact match",
    "exact_match": "exact match",
    "f1": "F1",
    "face": "Face",
    "fine_tuned": "fine-tuned",
    "gb": "GB",
    "gib": "GiB",
    "gru": "GRU",
    "hugging": "Hugging",
    "matthews": "Matthews",
    "max_len": "longest input",
    "minilm": "MiniLM",
    "mnist": "MNIST",
    "n_all": "all parameters",
    "n_asked": "asked",
    "n_grams": "n-grams",
    "n_learned": "learned",
    "n_parameters": "parameters",
    "n_test": "tested on",
    "n_train": "trained on",
    "pearson": "Pearson",
    "rate_5": "5 % chosen",
    "skip_gram": "skip-gram",
    "spearman": "Spearman",
    "svm": "SVM",
    "tf_idf": "tf-idf",
    "to_cls": "to [CLS]",
    "to_sep": "to [SEP]",
    "vit": "ViT",
    "wordpiece": "WordPiece",
}


@dataclass(frozen=True)
class Block:
    """One table.

    Args:
        caption: the keys that all of it has in common.
        rows, columns: their keys; a row or column of no name is ().
        cells: the path and the leaf for each (row, column) that there is.
    """

    caption: Path
    rows: tuple[Path, ...]
    columns: tuple[Path, ...]
    cells: dict[tuple[Path, Path], tuple[Path, Any]]

    @property
    def single_runs(self) -> bool:
        """Is this what means elsewhere in the file are made of?"""
        return any(key in SINGLE_RUNS for key in self.caption)

    def turned(self) -> "Block":
        """Rows for columns."""
        cells = {(column, row): cell for (row, column), cell in self.cells.items()}
        return Block(self.caption, self.columns, self.rows, cells)


def is_spread(value: Any) -> bool:
    """Is it a measurement that was repeated?"""
    return isinstance(value, dict) and {"mean", "n"} <= value.keys()


def leaves(results: dict, path: Path = ()) -> list[tuple[Path, Any]]:
    """Every number of a nest of dictionaries, with the keys that lead to it."""
    found = []
    for key, value in results.items():
        if isinstance(value, dict) and not is_spread(value):
            found += leaves(value, (*path, key))
        elif not isinstance(value, list):
            found.append(((*path, key), value))
    return found


def blocks(results: dict) -> list[Block]:
    """The tables of a results file. Each leaf is in one of them."""
    found = joined(first_blocks(leaves(results)))
    return sorted(map(fitted, found), key=lambda block: block.single_runs)


def first_blocks(found: list[tuple[Path, Any]]) -> list[Block]:
    """Tables by the last two keys; rows whose columns differ too much stand apart."""
    rows: dict[tuple[Path, Path], dict[Path, tuple[Path, Any]]] = {}
    for path, value in found:
        place = (path[:-2], path[-2:-1])
        rows.setdefault(place, {})[path[-1:]] = (path, value)
    tables: list[tuple[Path, list[Path], dict]] = []
    for (caption, row), line in rows.items():
        for other, names, lines in tables:
            columns = {column for old in lines.values() for column in old}
            shared = len(columns & line.keys()) / len(columns | line.keys())
            if other == caption and row and names[0] and shared >= ALIKE:
                names.append(row)
                lines[row] = line
                break
        else:
            tables.append((caption, [row], {row: line}))
    return [block(caption, lines) for caption, _, lines in tables]


def block(caption: Path, lines: dict[Path, dict[Path, tuple[Path, Any]]]) -> Block:
    """A table of lines."""
    columns = dict.fromkeys(column for line in lines.values() for column in line)
    cells = {(row, column): cell for row, line in lines.items() for column, cell in line.items()}
    return Block(caption, tuple(lines), in_order(columns), cells)


def in_order(keys: Any) -> tuple[Path, ...]:
    """Numbers by their size; anything else as it came."""
    keys = tuple(keys)
    return tuple(sorted(keys, key=lambda key: int(key[0]))) if numeric(keys) else keys


def numeric(keys: Any) -> bool:
    """Are these counts, such as steps or lengths?"""
    return all(len(key) == 1 and key[0].isdigit() for key in keys)


def joined(found: list[Block]) -> list[Block]:
    """Put small tables of one kind together, as long as there are any."""
    for i, one in enumerate(found):
        for place in range(len(one.caption)):
            alike = [other for other in found[i:] if same_but_one(one, other, place)]
            if len(alike) > 1 and len(one.rows) * len(alike) <= MOST_ROWS:
                rest = [other for other in found if other not in alike]
                return joined([*rest[:i], together(alike, place), *rest[i:]])
    return found


def same_but_one(one: Block, other: Block, place: int) -> bool:
    """Do two small tables of the same rows and columns differ in one key of their captions?"""
    without = tuple(key for i, key in enumerate(other.caption) if i != place)
    return (
        len(one.caption) == len(other.caption)
        and without == (*one.caption[:place], *one.caption[place + 1 :])
        and len(one.rows) <= FEW_ROWS
        and (one.rows, one.columns) == (other.rows, other.columns)
    )


def together(alike: list[Block], place: int) -> Block:
    """One table of them: the key in which they differ names the rows; what was a row becomes a part
    of the columns if these stay few, else of the rows.
    """
    first = alike[0]
    wide = 1 < len(first.rows) and len(first.rows) * len(first.columns) <= MOST_SPREADS
    caption = (*first.caption[:place], *first.caption[place + 1 :])
    caption += first.rows[0] if len(first.rows) == 1 else ()
    cells = {}
    for one in alike:
        key = (one.caption[place],)
        for (row, column), cell in one.cells.items():
            if len(first.rows) == 1:
                cells[key, column] = cell
            elif wide:
                cells[key, (*row, *column)] = cell
            else:
                cells[(*key, *row), column] = cell
    rows = in_order(dict.fromkeys(row for row, _ in cells))
    return Block(caption, rows, in_order(dict.fromkeys(column for _, column in cells)), cells)


def fitted(one: Block) -> Block:
    """The table as it fits a page: a single line of names becomes a list, and what is wider than a
    page and less high is turned.
    """
    spreads = any(is_spread(value) for _, value in one.cells.values())
    if len(one.rows) == 1 and one.rows[0] and not (numeric(one.columns) and one.caption):
        one = Block(
            (*one.caption, *one.rows[0]),
            ((),),
            one.columns,
            {((), column): cell for (_, column), cell in one.cells.items()},
        )
    most = MOST_SPREADS if spreads else MOST_NUMBERS
    words = any(isinstance(value, str) and len(value) > 20 for _, value in one.cells.values())
    too_wide = len(one.columns) > most or words
    if (too_wide and len(one.rows) < len(one.columns)) or (
        spreads and one.rows == ((),) and not numeric(one.columns)
    ):
        return one.turned()
    return one


def named(key: Path) -> str:
    """The name of a row, a column or a table for readers."""
    return ", ".join(map(word, key))


def titles(found: list[Block]) -> list[str]:
    """What stands above each table: what all of it has in common; where several have the same, with
    the names of what it holds.
    """
    alike = Counter(named(one.caption) for one in found)
    return [
        f"{title}: {held(one)}" if title and alike[title] > 1 else title
        for one in found
        for title in [named(one.caption)]
    ]


def held(one: Block) -> str:
    """The first names at a table's edge: of its columns, or of its rows where columns have none."""
    edge = one.rows if one.columns == ((),) or numeric(one.columns) else one.columns
    return ", ".join(map(named, edge[:3])) + (", …" if len(edge) > 3 else "")


def word(key: str) -> str:
    """A key as words: "peak_memory_gb" as "peak memory GB", "rate_0_001" as "rate 0.001"."""
    if "." in key:  # a function's name
        return key
    key = re.sub(r"^0(?=\d)", "", key)
    key = re.sub(r"_(\d)_(\d+)$", r"_\1.\2", key)
    return NAMES.get(key) or " ".join(NAMES.get(part, part) for part in key.split("_"))


def number(value: float | str) -> str:
    """Three digits that count, and all that stand before the point."""
    if isinstance(value, int) and abs(value) >= 10_000:
        return f"{value:,}"
    if not isinstance(value, float):
        return str(value)
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:#.3g}"


def told(value: Any, usual: int) -> tuple[str, str, str]:
    """A leaf for readers: mean with the median in brackets, the extremes, and the number of runs
    where it is not the usual one. Where all runs print the same, one number.
    """
    if not is_spread(value):
        return number(value), "", ""
    mean, median, least, most = (
        number(value.get(key, value["mean"])) for key in ("mean", "median", "min", "max")
    )
    runs = "" if value["n"] == usual else f"n = {value['n']}"
    if mean == median == least == most:
        return mean, "", runs
    return f"{mean} ({median})", f"{least} – {most}", runs


def usual_runs(results: dict) -> int:
    """How often most of a file's measurements were repeated; 0 if none was."""
    counts = [value["n"] for _, value in leaves(results) if is_spread(value)]
    return max(counts, key=counts.count, default=0)
