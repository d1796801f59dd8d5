"""The record of a run: results come back as they were, the last one counts, and a cut-off write
leaves nothing behind.
"""

import errno
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing

import pytest

from lectures_lib.files import write_whole, written_whole
from lectures_lib.homework.grader.grading.records import Records, Result, file_stem
from lectures_lib.homework.verdict import Verdict

RESULT = Result(
    "anna \ud800 ‮",
    ("anna.ipynb",),
    "abc",
    (
        Verdict("toy.double", False, "misconception", "You square.", "squares", "a vector"),
        Verdict("toy.Scale", True, "right"),
    ),
    "",
    ((3, "It ended the process."),),
    ("MultiheadAttention",),
    1.5,
    "Anna",
    {"canvas": "12"},
    "2026-10-12T23:59:00+02:00",
    ("anna (1).ipynb",),
)


def test_results_come_back_as_they_were(tmp_path):
    with Records(tmp_path) as records:
        assert records.get(RESULT.student) is None
        records.put(RESULT)
    with Records(tmp_path) as records:
        assert records.get(RESULT.student) == RESULT


def test_the_last_result_counts_and_all_are_kept(tmp_path):
    with Records(tmp_path) as records:
        for fingerprint in ("first", "second"):
            records.put(Result("ben", (), fingerprint))
        assert records.get("ben").fingerprint == "second"
        assert [student for student, _ in records.written()] == ["ben", "ben"]


def test_threads_may_write_at_the_same_time(tmp_path):
    with Records(tmp_path) as records:
        threads = [
            threading.Thread(target=records.put, args=(Result(f"student {i}", (), "x"),))
            for i in range(40)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(records.written()) == 40


def test_a_result_of_an_older_version_is_worked_out_anew(tmp_path):
    with Records(tmp_path) as records:
        records.put(Result("carl", (), "x"))
    with closing(sqlite3.connect(tmp_path / "results.sqlite")) as file, file:
        file.execute('UPDATE results SET result = \'{"student": "carl", "grade": 3}\'')
    with Records(tmp_path) as records:
        assert records.get("carl") is None


def full(fd):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "grades.csv"
    write_whole(path, "old")
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["grades.csv"], (
        "no half-written file is left"
    )


def test_two_processes_write_one_file(tmp_path):
    path = tmp_path / "grades.csv"
    theirs = f"from lectures_lib.files import write_whole; write_whole({str(path)!r}, 'theirs')"
    with written_whole(path) as draft:
        draft.write_text("ours")
        subprocess.run([sys.executable, "-c", theirs], check=True)
        assert path.read_text() == "theirs"
    assert path.read_text() == "ours"
    assert [each.name for each in tmp_path.iterdir()] == ["grades.csv"]


def test_two_threads_write_one_file(tmp_path):
    path = tmp_path / "grades.csv"
    with written_whole(path) as draft:
        draft.write_text("ours")
        other = threading.Thread(target=write_whole, args=(path, "theirs"))
        other.start()
        other.join()
        assert path.read_text() == "theirs"
    assert path.read_text() == "ours"
    assert [each.name for each in tmp_path.iterdir()] == ["grades.csv"]


def test_names_of_files_are_harmless_and_unique():
    names = ["../../etc/passwd", "a/b", "a b", "\n", "", "ü" * 300, "\ud800"]
    stems = [file_stem(name) for name in names]
    assert len(set(stems)) == len(names)
    assert all(len(stem) < 60 and "/" not in stem and stem.isascii() for stem in stems)


@pytest.mark.parametrize(
    "name", ["ada_lovelace", "Ada Lovelace_4711", "ada@example.org", "lovelaceada_12345", "a"]
)
def test_a_name_that_any_disk_can_hold_stays_as_it_is(name):
    assert file_stem(name) == name
    assert file_stem(name, shared=True) != name


def test_a_name_with_accents_is_read_and_a_name_that_looks_hashed_is_not_another_s():
    assert file_stem("Zoë Müller").startswith("Zoe_Muller-")
    hashed = file_stem("a/b")
    assert file_stem(hashed) != hashed and file_stem("con") != "con" and file_stem("a.") != "a."
