"""Training, validation and test: the three splits, and which of them an example of ours is in."""

import zlib

SPLITS = ("train", "validation", "test")


def check_split(split: str) -> None:
    """Refuse another name. Raises ValueError."""
    if split not in SPLITS:
        raise ValueError(f"no split {split!r}; there is: {', '.join(SPLITS)}")


def split_by_checksum(name: str) -> str:
    """The split of an example with this name, the same in every run and whatever the others are: a
    tenth of all are for validation, a tenth for testing.
    """
    # Python's own hash() of strings differs from run to run; a checksum does not.
    return {0: "test", 1: "validation"}.get(zlib.crc32(name.encode()) % 10, "train")
