"""Submissions as they come in, for tests: the same files in a folder and in a zip."""

import zipfile
from pathlib import Path

import pytest

both = pytest.mark.parametrize("zipped", [False, True], ids=["folder", "zip"])


def pack(place: Path, files: dict[str, bytes], zipped: bool) -> Path:
    """Put files into a folder or a zip below `place`; gives the folder or the zip."""
    if zipped:
        with zipfile.ZipFile(place / "class.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in files.items():
                archive.writestr(name, data)
        return place / "class.zip"
    for name, data in files.items():
        path = place / "class" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return place / "class"
