"""The models that pages fetch: the files that `lectures_lib.stored` reads, the largest in 8 bits. A
file's address has a digest of what is in it, so that a browser which has kept an older one never
takes it for the new, nor one that belongs to another model; and its size, by which the page knows
whether all of it has come.
"""

import hashlib
from functools import cache
from pathlib import Path

from kept import kept

from lectures_lib import stored
from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert
from lectures_lib.tokenization import BPE, WordPiece

MADE = Path(__file__).parents[2] / "_build" / "live"  # what is made for the site
VOCABULARY = minilm.checkpoint() / "vocab.txt"


def model(
    kind: str, weights: Path, vocabulary: Path | None = None, learned: Path | None = None
) -> dict:
    """What a page must know to fetch one, and where the files are now. `learned`: differences to
    the weights.
    """
    return {
        "kind": kind,
        "weights": address(weights),
        "vocabulary": vocabulary and address(vocabulary),
        "learned": learned and address(learned),
        "bytes": sum(file.stat().st_size for file in (weights, learned) if file),
        "files": [file for file in (weights, vocabulary, learned) if file],
    }


def address(file: Path) -> str:
    """Where a page fetches this file, seen from the folder of its scripts."""
    there = file.stat()
    return f"models/{file.name}?{digest(file, there.st_mtime_ns)}-{there.st_size}"


@cache
def digest(file: Path, changed: int) -> str:
    """Eight letters for what is in a file; remembered until it changes."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()[:8]


def addresses(one: dict) -> dict:
    """The same, without where the files are now."""
    return {key: one[key] for key in one if key != "files"}


@cache
def sentences() -> dict:
    """MiniLM as it is published: it also turns a question into a vector, on the page "Ask the
    book".
    """
    file = MADE / "minilm_8bit.safetensors"

    def make() -> bytes:
        MADE.mkdir(parents=True, exist_ok=True)
        stored.save_eight_bits(Bert.from_pretrained(minilm.checkpoint()), file)
        return digest(file, file.stat().st_mtime_ns).encode()

    made = kept("files", file.name, make)  # of the same model by the same programs
    if not file.exists() or digest(file, file.stat().st_mtime_ns).encode() != made:
        make()
    return model("sentences", file, VOCABULARY)


def adapted(task: str) -> dict:
    """MiniLM as a page fetches it, and what was learned for one task beside it."""
    (weights, vocabulary) = sentences()["files"]
    return model("adapted", weights, vocabulary, stored.FOLDER / f"{task}.safetensors")


def part_of_pieces(cut: WordPiece, text: str, *more: int) -> dict[int, str]:
    """The word pieces of a text and the special ones, by their ids: enough to cut it in the page.
    `more`: ids of others.
    """
    specials = map(cut.token_id, cut.vocabulary.specials)
    ids = sorted({*cut.encode(text), *specials, *more})
    return dict(zip(ids, cut.known_tokens(ids), strict=True))


def part_of_pairs(cut: BPE, text: str) -> dict:
    """The tokens of a text by their ids, and the merges that make them by their place in the
    order.
    """
    ids = sorted(set(cut.encode(text)))
    tokens, merges = cut.known_tokens(ids), {}
    makes = {merge.left + merge.right: i for i, merge in enumerate(cut.merges)}
    made = [token for token in tokens if token in makes]
    while made:
        place = makes[made.pop()]
        merge = merges[place] = cut.merges[place]
        made += [one for one in (merge.left, merge.right) if one in makes]
    return {
        "tokens": dict(zip(ids, tokens, strict=True)),
        "merges": {i: merges[i].line() for i in sorted(merges)},
        "specials": list(cut.vocabulary.specials),
    }
