"""Files that are written whole or not at all: checkpoints, results, tokenizers, grades."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_whole(path: str | Path) -> Iterator[Path]:
    """A draft to write to, beside `path`. When the block ends it takes that name; after an error
    the file of before is untouched.

    The draft is on the disk before the name points to it, else a power cut could leave a name
    without a file. Each thread of each process has its own, so that of two that write one file the
    later one's stays, whole; one that is killed meanwhile leaves its draft behind.
    """
    path = Path(path)
    draft = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}.draft")
    try:
        yield draft
        with open(draft, "r+b") as file:  # Windows flushes only what may be written
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def write_whole(path: str | Path, text: str) -> None:
    """Write a text so that nobody ever sees half of it. What UTF-8 cannot hold is written as an
    escape.
    """
    with written_whole(path) as draft:
        draft.write_text(text, encoding="utf-8", errors="backslashreplace", newline="")
