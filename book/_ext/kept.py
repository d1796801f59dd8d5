"""What takes long to make is kept in _build/kept, under a name that says what it was made of: the next
build takes it from there, unless something that it comes from has changed.

`tools/site.py` reads this file too, without any of the site's packages.
"""

import contextlib
import hashlib
import importlib.metadata
import os
import pickle
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "_build" / "kept"
DAYS = 30  # what no build has asked for in so long is thrown away
SEAL = 32  # bytes before what is kept: its number
NOT_OURS = {"__pycache__", ".pytest_cache"}


def digest(*parts: str | bytes) -> str:
    """One number for some texts, in this order."""
    made = hashlib.blake2b(digest_size=16)
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        made.update(len(content).to_bytes(8, "big") + content)
    return made.hexdigest()


def of_files(files: Iterable[Path]) -> str:
    """One number for files, their places and what is in them."""
    parts = []
    for file in sorted(files):
        parts += [file.relative_to(ROOT).as_posix(), file.read_bytes()]
    return digest(*parts)


def under(*folders: str) -> Iterable[Path]:
    """All files in these folders, or at these places, of the checkout."""
    for name in folders:
        place = ROOT / name
        if place.is_file():
            yield place
        for folder, inside, files in os.walk(place):
            inside[:] = [one for one in inside if one not in NOT_OURS]
            # an editor's link to nothing is no file
            yield from (path for file in files if (path := Path(folder, file)).is_file())


@cache
def programs() -> str:
    """One number for all that makes the site out of its pages: the library, with its models, the
    extensions and scripts, Python and the versions of all packages. Not for what chapters say: their
    sections (sections.jsonl).
    """
    files = under(
        *(
            "lectures_lib",
            "book/_ext",
            "book/figures",
            "book/live",
            "book/published",
            "book/slides",
        ),
        *("tools/sections.py", "constraints.txt", "package-lock.json"),
        # what figures are made from
        *("book/results/live_range.json", "book/results/masking_rates.json"),
    )
    packages = sorted(f"{one.name} {one.version}" for one in importlib.metadata.distributions())
    ours = of_files(file for file in files if file.name != "sections.jsonl")
    return digest(sys.version, *packages, ours)


@cache
def everything_else() -> str:
    """One number for all that a page may come from, besides the notebooks."""
    return digest(programs(), of_files(under("book", "tools", "_config.yml", "_toc.yml")))


def look_again() -> None:
    """Both numbers are asked of the files again."""
    programs.cache_clear()
    everything_else.cache_clear()


def kept(kind: str, made_of: str, make: Callable[[], bytes]) -> bytes:
    """What `make` gives, or gave when it was asked for with the same `made_of`. The programs count as
    a part of that. A damaged file is made anew.
    """
    file = FOLDER / kind / digest(programs(), made_of)
    try:
        seal, content = (whole := file.read_bytes())[:SEAL], whole[SEAL:]
        if seal == digest(content).encode():
            os.utime(file)
            return content
    except FileNotFoundError:
        pass
    content = make()
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f"{file.name}.{os.getpid()}.{threading.get_ident()}.draft")
    draft.write_bytes(digest(content).encode() + content)
    os.replace(draft, file)
    return content


def result(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function gives, which depends on nothing but what it is called with."""
    name = f"{function.__module__}.{function.__qualname__}"
    content = kept(
        function.__name__,
        digest(name, pickle.dumps(arguments)),
        lambda: pickle.dumps(function(*arguments)),
    )
    return pickle.loads(content)


@contextlib.contextmanager
def by_one_version() -> Iterator[None]:
    """A build: where the programs change before its end, nobody knows which version of them made what
    it kept, and that is thrown away again.
    """
    began, before = time.time(), programs()
    try:
        yield
    finally:
        look_again()
        if programs() != before:
            throw_away(lambda asked_for: asked_for > began - 1)  # a file's clock may lag behind


def forget(days: float = DAYS) -> None:
    """Throw away what no build has asked for in so many days."""
    throw_away(lambda asked_for: asked_for < time.time() - 86_400 * days)


def throw_away(is_one: Callable[[float], bool]) -> None:
    """The files that were last asked for at such a time."""
    for file in FOLDER.glob("*/*"):
        with contextlib.suppress(FileNotFoundError):  # another build was faster
            if is_one(file.stat().st_mtime):
                file.unlink()
