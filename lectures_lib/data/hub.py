"""Real data by its name on the Hugging Face hub: from a local mirror where one is named, else from
the hub itself.

A mirror is a folder with one file for each split, `<owner>/<name>[/<config>]/<split>.parquet`. The
environment variable LECTURES_DATA names it; unset, `datasets` fetches from the hub and keeps what
it fetched.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

# Data sets whose main branch holds a loading script, which `datasets` no longer runs. The hub keeps
# a converted copy beside it.
REVISIONS = dict.fromkeys(
    (
        "karpathy/tiny_shakespeare",
        "leondz/wnut_17",
        "universal-dependencies/universal_dependencies/en_ewt",
    ),
    "refs/convert/parquet",
)
REMEDY = "set LECTURES_DATA to a folder that holds it"


class DataError(RuntimeError):
    """Data that could not be had or read. The message says what to do about it."""


def mirror() -> Path | None:
    """The folder that LECTURES_DATA names; none where it is unset or empty."""
    named = os.environ.get("LECTURES_DATA")
    return Path(named) if named else None


def read_split(hub_id: str, split: str) -> tuple[Iterable[dict], str]:
    """The rows of one split, as dictionaries, and one line that says where they were read.

    Args:
        hub_id: "<owner>/<name>" or "<owner>/<name>/<config>".
        split: the split's name there.

    Raises:
        ImportError: without the package `datasets`.
        DataError: where the split is missing, damaged or out of reach.
    """
    try:
        import datasets
    except ModuleNotFoundError:
        raise ImportError(
            "real data is read by the package datasets, which is not installed here: pip install "
            "datasets"
        ) from None

    if folder := mirror():
        file = _in_mirror(folder, hub_id, split)
        try:
            rows = datasets.load_dataset("parquet", data_files={split: str(file)}, split=split)
        except (datasets.exceptions.DatasetGenerationError, OSError, ValueError) as error:
            raise DataError(
                f"{file} is damaged ({_first_line(error)}): copy it again, or {REMEDY}"
            ) from error
        return rows, f"{hub_id}, {split}, from the mirror that LECTURES_DATA names"

    owner, name, *config = hub_id.split("/")
    try:
        rows = datasets.load_dataset(
            f"{owner}/{name}", *config, split=split, revision=REVISIONS.get(hub_id)
        )
    # "Unknown split", "BuilderConfig not found", or: offline and nothing kept from before
    except ValueError as error:
        raise DataError(
            f"the hub's {hub_id} has no split {split!r} to be had ({_first_line(error)}): {REMEDY}"
        ) from error
    except (OSError, datasets.exceptions.DatasetsError) as error:
        offline = (
            "HF_HUB_OFFLINE is set: unset it"
            if os.environ.get("HF_HUB_OFFLINE", "0") not in ("", "0")
            else "connect to the network"
        )
        raise DataError(
            f"{hub_id} could not be fetched from the hub ({_first_line(error)}). {offline}, "
            f"{REMEDY}"
        ) from error
    return rows, f"{hub_id}, {split}, from the Hugging Face hub"


def name_classes(rows: Iterable[dict], columns: tuple[str, ...]) -> Iterator[dict]:
    """The rows, with the names that the table has for them instead of numbers in columns that hold
    lists of classes.
    """
    names = {column: rows.features[column].feature.names for column in columns}
    for row in rows:
        yield row | {column: [names[column][i] for i in row[column]] for column in columns}


def _in_mirror(folder: Path, hub_id: str, split: str) -> Path:
    if not folder.is_dir():
        raise DataError(
            f"LECTURES_DATA names {folder}, which is not a folder: correct it, or unset it to read "
            f"from the hub"
        )
    file = folder / hub_id / f"{split}.parquet"
    if not file.is_file():
        there = sorted(path.stem for path in file.parent.glob("*.parquet"))
        raise DataError(
            f"the mirror {folder} has no {hub_id}/{split}.parquet (there: "
            f"{', '.join(there) or 'nothing'}): add it, or unset LECTURES_DATA to read from the hub"
        )
    return file


def _first_line(error: BaseException) -> str:
    """What is said first by the error at the bottom of a chain of them."""
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error).partition("\n")[0] or type(error).__name__
