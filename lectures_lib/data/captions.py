"""Captions of photographs that nobody took, in German and English: written for this book, to read
what a translator makes of sentences like those it learned from (chapter 8b).

They were written before any translator had read one, and none was left out afterwards. They are
numbered from 0 to 100, so that place 5 of them, sorted by a score, is the fifth percentile.
"""

import json
from importlib.resources import files


def own_captions() -> list[dict[str, str]]:
    """The 101 pairs, dictionaries with the same sentence under "de" and "en".

    Raises:
        FileNotFoundError: where the package lacks its file.
    """
    lines = files("lectures_lib.data").joinpath("captions.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in lines.splitlines()]
