"""Documents as lists of sentences: what BERT is pre-trained on (chapter 13).

Next-sentence prediction needs to know where a sentence ends and which document it belongs to.
"""

import re
from collections.abc import Iterable

from lectures_lib.data.manual import python_manual

# Behind a full stop, a question or an exclamation mark, before a capital letter, a quotation mark
# or a bracket.
_BOUNDARY = re.compile(r"(?<=[.!?])[\"')]?\s+(?=[A-Z\"'(`*])")
# WikiText's titles of articles; sections have more signs
_HEADING = re.compile(r"^ = [^=].*[^=] = \n?$")


def sentences(text: str, fewest_words: int = 4) -> list[str]:
    """The sentences of a text, found by their punctuation, white space made single.

    Left out are pieces of fewer than `fewest_words` words and those that are mostly no letters:
    code, tables, headings. A rule this simple also cuts behind abbreviations ("e.g. The"); for
    next-sentence prediction that does no harm.
    """
    found = []
    for paragraph in text.split("\n\n"):
        for piece in _BOUNDARY.split(" ".join(paragraph.split())):
            if len(piece.split()) >= fewest_words and sum(
                c.isalpha() or c == " " for c in piece
            ) >= 0.8 * len(piece):
                found.append(piece)
    return found


def manual_documents(
    split: str = "train", *, docstrings: bool = True, fewest: int = 2
) -> list[list[str]]:
    """Python's manual and docstrings (`python_manual`), each text as a list of sentences; texts of
    fewer than `fewest` are left out.
    """
    documents = [sentences(text) for text in python_manual(split, docstrings=docstrings)]
    return [document for document in documents if len(document) >= fewest]


def articles(lines: Iterable[str], fewest: int = 2) -> list[list[str]]:
    """WikiText's lines, gathered to articles, each as a list of sentences; articles of fewer than
    `fewest` are left out.
    """
    texts: list[list[str]] = [[]]
    for line in lines:
        if _HEADING.match(line):
            texts.append([])
        elif line.strip() and not line.startswith(" ="):
            texts[-1].append(line)
    documents = [sentences("\n\n".join(text)) for text in texts]
    return [document for document in documents if len(document) >= fewest]
