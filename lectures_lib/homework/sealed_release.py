"""From a question bank to a sealed release: the student notebook, and one file that lies beside it
and checks answers without the bank.

The file is a zip: the question keys as data (see `question_key`), the parts of the library that
`check` and the notebook import, and no bank.
"""

import functools
import importlib.metadata
import io
import json
import re
import warnings
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from torch import Tensor

from lectures_lib.files import write_whole, written_whole
from lectures_lib.homework import imports, question_key, release
from lectures_lib.homework.diagnosis import PUBLIC_SEED, AnswerKey, run
from lectures_lib.homework.inside import wire
from lectures_lib.homework.inside.values import Foreign, plain
from lectures_lib.homework.questions import Homework, Question
from lectures_lib.homework.set_up import install_and_tell
from lectures_lib.homework.text_answers import Asked
from lectures_lib.homework.verdict import Verdict

BANKS = "lectures_lib.homework.banks"
DATA = (".js", ".css", ".html", ".json", ".jsonl", ".md", ".safetensors")  # what modules read
SET_UP = """\
# Set-up: run this cell first. The file {file} checks your answers: it came with this
# notebook and lies beside it, or is fetched. Running the cell twice is harmless.
import importlib.util
import subprocess
import sys
import urllib.request
import zipfile
from pathlib import Path

SEALED, ADDRESS = Path("{file}"), "{address}"
if ADDRESS and not SEALED.exists():
    try:
        with urllib.request.urlopen(ADDRESS, timeout=60) as answer:
            fetched = answer.read()
        if not fetched.startswith(b"PK"):
            raise OSError("what came is no zip file")
        SEALED.write_bytes(fetched)
    except OSError as error:
        print(f"{{ADDRESS}} could not be fetched: {{error}}. Download it yourself.")
if not SEALED.exists() and "google.colab" in sys.modules:
    from google.colab import files

    print(f"Choose {{SEALED}} on your computer:")
    for content in files.upload().values():
        SEALED.write_bytes(content)
if SEALED.exists():
    with zipfile.ZipFile(SEALED) as package:
        package.extractall(SEALED.stem)
    sys.path.insert(0, str(Path(SEALED.stem).resolve()))
needed = {needed}
missing = [package for name, package in needed.items() if importlib.util.find_spec(name) is None]
if missing:
{install}
found = importlib.util.find_spec("lectures_lib")
if found is None or importlib.util.find_spec("lectures_lib.homework.banks"):
    raise ImportError(
        f"The checks of this homework are in {{SEALED}}. Put it beside this notebook, in "
        f"{{Path.cwd()}}, restart the kernel, and run this cell first."
    )

"""
INSTALL = install_and_tell(
    packages="*missing",
    what="{', '.join(missing)}",
    who="The course",
    network="Installing needs a network.",
    page="a page",
)


class Unsealable(Exception):
    """A question that cannot be kept as data. The message names it and tells why."""


def release_sealed(
    homework: Homework,
    solutions: Path,
    out: Path,
    graded_later: Iterable[str] = (),
    asked: Iterable[Asked] = (),
    made: dict[Question, bytes] | None = None,
    address: str = "",
) -> tuple[Path, Path]:
    """Write the student notebook of a homework, and the file that checks its answers: the same
    bytes for the same homework, every time. Return where they are.

    Args:
        homework: its questions.
        solutions: folder with the executed `<homework>_<name>.ipynb`.
        out: folder for both files.
        graded_later: full names of questions that are released without inputs and without a check.
        asked: further questions, to be answered in words.
        made: keys of earlier releases, to which this one's are added: what the folders of many
            students share is worked out once.
        address: where the file will be published; the notebook then fetches it by itself.

    Raises:
        ValueError: if the address is none of https (or of this machine) that ends in the file's
            name.
        FileNotFoundError: if there is not exactly one such notebook.
        KeyError: if the homework has no question that is to be graded later.
        Unreleasable: if notebook and bank disagree, or the notebook has no set-up cell.
        Unsealable: if questions cannot be kept as data; the message names all of them.
    """
    later = {homework[name].name for name in graded_later}
    solution = release.solution_of(homework, solutions)
    text = release.student_version(homework, solution.read_text(encoding="utf-8"), asked)
    student = nbformat.reads(text, as_version=4)
    package = out / f"{homework.name}_sealed.zip"
    if address and not re.fullmatch(
        rf"(?:https://|http://localhost[:/])[^\s\"\\{{}}]+/{package.name}", address
    ):
        raise ValueError(
            f"{address!r} is no address of {package.name}: it should be https://…/{package.name} "
            f"(what comes without encryption may be another's code)"
        )
    given = imports.behind([*_code(student), "import lectures_lib.homework"])
    _demand_no_bank(homework, given.modules)
    _set_up(student).source = _set_up_text(
        package.name, address, given.packages, _set_up(student).source
    )
    nbformat.validate(student)
    keys = _keys(homework, later, {} if made is None else made)
    content = _zipped(keys | _library(given.modules))
    out.mkdir(parents=True, exist_ok=True)
    with written_whole(package) as draft:
        draft.write_bytes(content)
    write_whole(out / solution.name, nbformat.writes(student) + "\n")
    return out / solution.name, package


def sealed_key(question: Question) -> bytes:
    """A question as data, tried: the right answer passes and every mistake gets the verdict that
    the bank's own key gives.

    Raises:
        Unsealable: if an input or the right answer's value is no data, if they are too large, or
            if a verdict comes out otherwise.
    """
    asked = AnswerKey(question, PUBLIC_SEED)
    _demand_data(question, asked)
    try:
        data = question_key.packed(_recorded(asked))
    except wire.Garbled as error:
        raise Unsealable(f"{question.name}: its inputs and values are {error}") from None
    _demand_same_verdicts(asked, question_key.unpacked(data))
    return data


def _recorded(asked: AnswerKey) -> AnswerKey:
    """The key worked out anew on inputs as students get them: a view that was cut out of a larger
    tensor comes back as a tensor of its own.
    """
    question = asked.question
    given = question_key.packed(AnswerKey.recorded(question, asked.cases, [], []))
    cases = question_key.unpacked(given).cases
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a wrong answer warns of is nobody's business here
        right = [run(question.reference, case) for case in cases]
        mistakes = [(m, [run(m.answer, case) for case in cases]) for m in question.misconceptions]
    return AnswerKey.recorded(question, cases, right, mistakes)


def _keys(homework: Homework, later: set[str], made: dict[Question, bytes]) -> dict[str, bytes]:
    """The files of the questions' keys; those that are not made yet are added to `made`.

    Raises:
        Unsealable: with all that cannot be sealed, and how to release it all the same.
    """
    files, problems, names = {}, [], []
    for question in homework.questions:
        path = f"lectures_lib/homework/{question_key.FOLDER}/{question.name}{question_key.ENDING}"
        if question.name in later:
            files[path] = question_key.packed(AnswerKey.recorded(question, [], [], []))
            continue
        try:
            if question not in made:
                made[question] = sealed_key(question)
            files[path] = made[question]
        except Unsealable as error:
            problems.append(str(error))
            names.append(question.name)
    if problems:
        options = " ".join(f"--graded-later {name}" for name in names)
        raise Unsealable("\n".join([*problems, f"To release them without a check, add: {options}"]))
    return files


def _demand_data(question: Question, key: AnswerKey) -> None:
    """Inputs and right values are plain, and of kinds that a frame can hold."""
    for i, (case, right) in enumerate(zip(key.cases, key.right, strict=True), start=1):
        given = {f"argument {n}": value for n, value in enumerate(case.args, start=1)}
        given |= case.kwargs | {"init": case.init, "state": case.state, "again": case.again}
        values = {name: plain(value) for name, value in given.items()}
        for name, value in {**values, "what the right answer returns": right.value}.items():
            strange = _strange(value)
            if strange:
                raise Unsealable(
                    f"{question.name}, input {i} ({case.shows or 'no description'}): {name} is or "
                    f"holds {strange}. Only tensors, numbers, strings, None, and lists, tuples and "
                    f"dictionaries of them can be kept as data."
                )


def _strange(value: Any) -> str:
    """The first thing in a plain value that is no data, in words; "" if all is."""
    if isinstance(value, list | tuple):
        return next(filter(None, map(_strange, value)), "")
    if isinstance(value, dict):
        return _strange(list(value.values()))
    if isinstance(value, Tensor) and value.dtype not in wire.DTYPES:
        return f"a tensor of {value.dtype}"
    return value.kind if isinstance(value, Foreign) else ""


def _demand_same_verdicts(asked: AnswerKey, kept: AnswerKey) -> None:
    """What the right answer and each known mistake do is judged alike by the bank's key and by the
    one that was read back. They were called once for each.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answers = [("the right answer", asked.right)]
        answers += [(f"the mistake {m.name!r}", theirs) for m, theirs in asked.mistakes]
    for told, outcomes in answers:
        fresh, recorded = asked.verdict(outcomes), kept.verdict(outcomes)
        if fresh != recorded:
            raise Unsealable(
                f"{asked.question.name}: {told} is judged {_called(fresh)} by the bank and "
                f"{_called(recorded)} by the recorded values. Does it draw random numbers of its "
                f"own, or depend on how a tensor lies in memory?"
            )


def _called(verdict: Verdict) -> str:
    return repr(verdict.mistake or verdict.kind)


def _demand_no_bank(homework: Homework, modules: Iterable[str]) -> None:
    """None of the library's modules that go with the notebook is a bank, or holds an answer."""
    for module in sorted(modules):
        if f"{module}.".startswith(f"{BANKS}."):
            raise release.Unreleasable(f"the student notebook imports {module}: that is a bank")
    for question in homework.questions:
        for answer in (question.reference, *(m.answer for m in question.misconceptions)):
            home = getattr(getattr(answer, "func", answer), "__module__", None)
            if home in modules:
                raise release.Unreleasable(
                    f"{question.name}: an answer of the bank is defined in {home}, which the "
                    f"student notebook imports, so that it would go with it"
                )


def _code(notebook: NotebookNode) -> list[str]:
    """The code cells, but for what stands above `import lectures_lib` in the set-up cell."""
    set_up = _set_up(notebook)
    cells = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    return [_kept_lines(source) if source == set_up.source else source for source in cells]


def _set_up(notebook: NotebookNode) -> NotebookNode:
    """The set-up cell.

    Raises:
        Unreleasable: if there is not exactly one.
    """
    cells = [cell for cell in notebook.cells if "setup" in cell.metadata.get("tags", [])]
    if len(cells) != 1:
        raise release.Unreleasable(
            f"one code cell must have the tag 'setup', which installs the library; {len(cells)} do"
        )
    return cells[0]


def _kept_lines(source: str) -> str:
    """What stays of a set-up cell: from `import lectures_lib` on."""
    lines = source.splitlines()
    if "import lectures_lib" not in lines:
        raise release.Unreleasable(
            f"the set-up cell has no line `import lectures_lib`, from which it is kept:\n{source}"
        )
    return "\n".join(lines[lines.index("import lectures_lib") :])


def _set_up_text(file: str, address: str, packages: set[str], source: str) -> str:
    """The set-up cell of a sealed notebook: takes the library from the file, which lies beside it
    or is fetched.
    """
    projects = _projects()
    needed = {name: projects.get(name, [name])[0] for name in sorted(packages)}
    text = SET_UP.format(
        file=file, address=address, needed=json.dumps(needed, indent=4), install=INSTALL
    )
    return text + _kept_lines(source)


@functools.cache
def _projects() -> Mapping[str, list[str]]:
    """The names under which pip knows what can be imported here."""
    return importlib.metadata.packages_distributions()


def _library(modules: dict[str, Path]) -> dict[str, bytes]:
    """The modules' files, and the data that lies beside them, by their paths in the package."""
    paths = set(modules.values())
    for path in list(paths):
        if path.name == "__init__.py" and path.parent not in (
            imports.PACKAGE,
            *imports.PACKAGE.joinpath("homework").glob("**"),
        ):
            paths |= set(_data(path.parent))
    root = imports.PACKAGE.parent
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}


def _data(folder: Path) -> Iterable[Path]:
    """The data files of a package, also those in folders that are no packages."""
    for path in folder.iterdir():
        if path.is_file() and path.suffix in DATA:
            yield path
        elif path.is_dir() and not (path / "__init__.py").exists():
            yield from _data(path)


def _zipped(files: dict[str, bytes]) -> bytes:
    """A zip of these files, the same bytes every time."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return written.getvalue()
