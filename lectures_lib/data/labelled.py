"""Small labelled sets written for this book, one file a task: enough to see a method work with no
network, and no benchmark.

How they were written, how many there are and what they cannot show: the datasheet,
`book/datasheet.md`. Chapters 14 to 17 read them.
"""

import json
from importlib.resources import files

from lectures_lib.data.hub import DataError

WRITTEN = (
    "sentiment",
    "acceptability",
    "entailment",
    "similarity",
    "choices",
    "entities",
    "questions",
    "treebank",
    "senses",
)


def examples(task: str, split: str) -> list[dict]:
    """The examples of one split of one of the sets in `WRITTEN`, in the order of the file.

    Args:
        task: the set's name.
        split: "train", "validation" or "test".

    Raises:
        ValueError: for a set that was not written.
        DataError: where the file did not come with the package.
    """
    if task not in WRITTEN:
        raise ValueError(f"no labelled set {task!r}; there is: {', '.join(WRITTEN)}")
    file = files("lectures_lib.data") / "labelled" / f"{task}.jsonl"
    if not file.is_file():
        raise DataError(
            f"this copy of lectures_lib has no data/labelled/{task}.jsonl: install the package "
            f"again"
        )
    rows = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return [
        {key: value for key, value in row.items() if key != "split"}
        for row in rows
        if row["split"] == split
    ]
