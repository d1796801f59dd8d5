"""Sealed homework: `check` judges without the bank, word for word as with it, and the bank cannot
be had from what is released.
"""

import functools
import http.server
import importlib
import json
import pickle
import shutil
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import nbformat
import pytest
from jaxtyping import config

from lectures_lib.homework import load, names, sealed_release
from lectures_lib.homework.checking import told
from lectures_lib.homework.diagnosis import PUBLIC_SEED, AnswerKey, run
from lectures_lib.homework.question_key import Sealed, unpacked
from lectures_lib.homework.sealed_release import release_sealed
from tests.homework import bank, sealed_student
from tests.homework.leaks import leaks, members

ROOT = bank.ROOT
every_homework = pytest.mark.parametrize("homework", names())
every_question = pytest.mark.parametrize(
    "name", [name for homework in names() for name in bank.questions(homework)]
)


@pytest.fixture(scope="module")
def made():
    """The keys as they were released, by question: a later release of the same homework takes
    them.
    """
    return {}


@pytest.fixture(scope="module")
def of_the_bank():
    """The bank's own keys from which these were made, by the question's full name."""
    return {}


@pytest.fixture(scope="module")
def released(tmp_path_factory, made, of_the_bank):
    """Gives the folder of a homework's sealed release. Annotations are not enforced meanwhile: an
    instructor's machine and a student's do not do that either, and exceptions would be others.
    """

    class Noted(AnswerKey):
        def __init__(self, question, seed):
            super().__init__(question, seed)
            of_the_bank[question.name] = self
            assert seed == PUBLIC_SEED

    @functools.cache
    def folder(homework):
        out = tmp_path_factory.mktemp(homework)
        config.update("jaxtyping_disable", True)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sealed_release, "AnswerKey", Noted)
            release_sealed(load(homework), ROOT / "solutions", out, made=made)
        config.update("jaxtyping_disable", False)
        return out

    return folder


def key(folder: Path, name: str) -> AnswerKey:
    """A question's key as it was released."""
    with zipfile.ZipFile(folder / f"{name.split('.')[0]}_sealed.zip") as package:
        return unpacked(package.read(f"lectures_lib/homework/keys/{name}.key"))


@every_homework
def test_every_question_is_sealed(homework, released):
    with zipfile.ZipFile(released(homework) / f"{homework}_sealed.zip") as package:
        keys = {Path(each).stem for each in package.namelist() if each.endswith(".key")}
    assert keys == set(bank.questions(homework))


@every_question
def test_each_mistake_is_told_word_for_word_as_with_the_bank(
    name, released, of_the_bank, shapes_unchecked
):
    """Called anew on the released inputs."""
    recorded = key(released(name.split(".")[0]), name)
    asked = of_the_bank[name]
    assert asked.question is bank.find(name)
    assert recorded.question.arguments == asked.question.arguments != ()
    assert len(asked.mistakes) >= 3
    for misconception, outcomes in asked.mistakes:
        verdict = recorded.verdict([run(misconception.answer, case) for case in recorded.cases])
        assert verdict.mistake == misconception.name
        assert told(verdict) == told(asked.verdict(outcomes))
    right = [run(asked.question.reference, case) for case in recorded.cases]
    assert recorded.verdict(right).right


@every_question
def test_its_functions_are_not_there(name, released):
    question = key(released(name.split(".")[0]), name).question
    functions = (question.cases, question.reference, *(m.answer for m in question.misconceptions))
    assert len({id(function) for function in functions}) == 1
    with pytest.raises(Sealed):
        question.reference()


@every_homework
def test_nothing_of_the_bank_can_be_had(homework, released):
    assert leaks(released(homework), homework) == []


def student_folder(place: Path, released: Path, homework: str, all_answers: bool) -> Path:
    """What a student has: the notebook, filled in, and the file; and answers to be tried: a right
    one to each question, or all that are kept, also the wrong ones.
    """
    place.mkdir()
    (notebook,) = released.glob(f"{homework}_*.ipynb")
    shutil.copy(released / f"{homework}_sealed.zip", place)
    nbformat.write(bank.filled_in(released, homework), place / notebook.name)
    answers = [importlib.import_module(f"tests.homework.right_answers_{homework}").__file__]
    if all_answers and homework in bank.with_students():
        answers.append(importlib.import_module(f"tests.homework.students_{homework}").__file__)
    text = "\n".join(Path(each).read_text(encoding="utf-8") for each in answers)
    if not all_answers:
        text += "\nRIGHT_ANSWERS = {name: given[:1] for name, given in RIGHT_ANSWERS.items()}\n"
    (place / "answers.py").write_text(text, encoding="utf-8")
    return place


def alone(*folders: Path) -> dict:
    """What `sealed_student` says of these folders, in a process that has nothing else."""
    command = [sys.executable, "-I", sealed_student.__file__, *map(str, folders)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folders[0])
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    "all_answers", [False, pytest.param(True, marks=pytest.mark.long)], ids=["some", "all"]
)
def test_alone_without_bank_network_and_pickle(all_answers, released, tmp_path):
    """The notebook runs from its first cell to its last; right answers are right, mistakes are
    named. By day for two homeworks: one takes nothing of the library, one its data.
    """
    tried = names() if all_answers else ["hw1", "hw6"]
    folders = [student_folder(tmp_path / each, released(each), each, all_answers) for each in tried]
    said = alone(*folders)
    for homework in tried:
        assert "failed" not in said[homework], said[homework]["failed"]
        right = said[homework]["right"]
        assert set(right) == set(bank.questions(homework))
        assert {verdict for verdicts in right.values() for verdict in verdicts} == {"right"}
        for name, mistakes in said[homework]["wrong"].items():
            for mistake, verdicts in mistakes.items():
                assert set(verdicts) == {mistake}, name
    assert any(said[homework]["wrong"] for homework in tried) == all_answers


# ------------------------------------------------------- what these tests notice, were it not so


def _with(folder: Path, name: str, content: bytes, place: Path) -> Path:
    """A copy of hw1's release with a member more, or another in its place."""
    shutil.copytree(folder, place)
    path = place / "hw1_sealed.zip"
    files = dict(members(folder))
    with zipfile.ZipFile(path, "w") as archive:
        for member, kept in files.items():
            if member.startswith("hw1_sealed.zip/") and not member.endswith(name):
                archive.writestr(member.removeprefix("hw1_sealed.zip/"), kept)
        archive.writestr(name, content)
    return place


CAUSAL = (ROOT / "lectures_lib/homework/banks/hw1/causal.py").read_text(encoding="utf-8")
RENAMED = """
def look(m, gone=0):
    return torch.cat([torch.zeros(m, gone, dtype=torch.bool), causal_mask(m)], dim=1)
"""


def _secret() -> bytes:
    code = compile(CAUSAL, "causal", "exec")
    inner = next(c for c in code.co_consts if getattr(c, "co_name", "") == "causal_mask")
    return b'"' + inner.co_code + b'"'


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("lectures_lib/homework/banks/hw1/x.py", b"", "name of a bank"),
        ("lectures_lib/look.py", RENAMED.encode(), "defines a function with the body of causal.py"),
        ("lectures_lib/notes.md", CAUSAL.encode(), "holds the source of causal.py"),
        ("lectures_lib/notes.json", json.dumps(CAUSAL).encode(), "holds the source of causal.py"),
        ("lectures_lib/a.pkl", pickle.dumps([1]), "of a kind that is not released"),
        ("lectures_lib/a.json", pickle.dumps([1]), "is no text"),
        ("lectures_lib/a.md", b"### BEGIN SOLUTION", "holds '### BEGIN"),
    ],
)
def test_a_leak_is_noticed(name, content, words, released, tmp_path):
    changed = _with(released("hw1"), name, content, tmp_path / "changed")
    assert [told for told in leaks(changed, "hw1") if words in told]


def test_bytes_behind_a_key_are_noticed(released, tmp_path):
    path = "lectures_lib/homework/keys/hw1.causal_mask.key"
    whole = dict(members(released("hw1")))[f"hw1_sealed.zip/{path}"]
    changed = _with(released("hw1"), path, whole + _secret(), tmp_path / "changed")
    found = leaks(changed, "hw1")
    assert any("bytes beside text and tensors" in told for told in found)
    assert any("holds the bytecode of causal.py" in told for told in found)


# --------------------------------------------------------------------------- one file, on the web


@pytest.fixture
def published(released):
    """A function that serves hw1's sealed file, or other bytes in its place; its address."""
    servers = []

    def serve(content: bytes | None = None) -> str:
        file = (released("hw1") / "hw1_sealed.zip").read_bytes() if content is None else content

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.end_headers()
                self.wfile.write(file)

            def log_message(self, *words):
                pass

        servers.append(http.server.ThreadingHTTPServer(("localhost", 0), Handler))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        return f"http://localhost:{servers[-1].server_port}/hw1_sealed.zip"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


def set_up(notebook: Path, then: str) -> subprocess.CompletedProcess:
    """The notebook's set-up cell and a line more, in a process that starts beside it."""
    cells = nbformat.read(notebook, as_version=4).cells
    (cell,) = [each for each in cells if "setup" in each.metadata.get("tags", [])]
    command = [sys.executable, "-I", "-c", f"{cell.source}\n{then}"]
    return subprocess.run(command, capture_output=True, text=True, cwd=notebook.parent)


def test_the_notebook_alone_is_enough_where_the_file_is_published(published, made, tmp_path):
    notebook, package = release_sealed(
        load("hw1"), ROOT / "solutions", tmp_path, made=dict(made), address=published()
    )
    package.unlink()
    done = set_up(notebook, "print(lectures_lib.__file__)")
    assert str(tmp_path / "hw1_sealed") in done.stdout, done.stderr
    assert package.exists()


def test_what_is_no_zip_is_not_kept(published, made, tmp_path):
    address = published(b"<html>Please log in</html>")
    notebook, package = release_sealed(
        load("hw1"), ROOT / "solutions", tmp_path, made=dict(made), address=address
    )
    package.unlink()
    done = set_up(notebook, "")
    assert "hw1_sealed.zip could not be fetched: what came is no zip file" in done.stdout
    assert "Put it beside this notebook" in done.stderr
    assert not package.exists()


@pytest.mark.parametrize(
    "address",
    [
        "hw1_sealed.zip",
        "https://a.org/hw2_sealed.zip",
        'https://"/',
        "http://a.org/hw1_sealed.zip",
        "http://localhost.a.org/hw1_sealed.zip",
    ],
)
def test_an_address_is_one_of_the_file(address, tmp_path):
    with pytest.raises(ValueError, match="is no address of hw1_sealed"):
        release_sealed(load("hw1"), ROOT / "solutions", tmp_path, address=address)
