"""Whatever is handed in, reading it ends in cells or in a sentence to its author."""

import io
import json
import zipfile

import nbformat
import pytest

from lectures_lib.homework.notebook import MAX_BYTES, Unreadable, code_cells
from lectures_lib.homework.submissions.collect import collect
from tests.homework.toy import notebook


def test_cells_in_order_and_nothing_else():
    data = json.loads(notebook("a = 1", "b = 2"))
    data["cells"].insert(1, {"cell_type": "markdown", "source": "text"})
    data["cells"].append({"cell_type": "code", "source": ["c = 3\n", "d = 4"]})
    data["metadata"] = {"kernelspec": {"name": "no-such-kernel"}}
    assert code_cells(json.dumps(data).encode()) == ["a = 1", "b = 2", "c = 3\nd = 4"]


def test_stripped_metadata_and_a_byte_order_mark_do_not_matter():
    bare = {"nbformat": 4, "cells": [{"cell_type": "code", "source": "a = 1"}]}
    assert code_cells(b"\xef\xbb\xbf" + json.dumps(bare).encode()) == ["a = 1"]


def test_an_old_format_is_upgraded():
    cells = [nbformat.v3.new_code_cell(input="a = 1"), nbformat.v3.new_text_cell("markdown", source="text")]
    old = nbformat.v3.new_notebook(worksheets=[nbformat.v3.new_worksheet(cells=cells)])
    assert code_cells(json.dumps(old).encode()) == ["a = 1"]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (b"\x89PNG\r\n\x1a\n\x00\xff", "not text"),
        (b"\x00" * 100, "no notebook"),
        (notebook("a = 1")[:-20], "damaged or cut short"),
        (b"def f(x):\n    return x\n", "Is it a program"),
        (b"<!DOCTYPE html>", "Is it a program, or a page?"),
        (b"[]", "JSON, but no notebook"),
        (b"1", "JSON, but no notebook"),
        (b"{}", "JSON, but no notebook"),
        (b"[" * 100_000, "nested far too deep"),
        (b'{"nbformat": 4, "cells": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested far too deep"),
        (b'{"nbformat": 4}', "no list of cells"),
        (b'{"nbformat": 4, "cells": {"0": 1}}', "no list of cells"),
        (b'{"nbformat": 4, "cells": [1]}', "no list of cells"),
        (b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": {"a": 1}}]}', "not text"),
        (b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": ["a", 1]}]}', "not text"),
        (b'{"nbformat": 99, "cells": []}', "'99'; 4 is what"),
        (b'{"nbformat": [], "cells": []}', "format is '[]'"),
        (b'{"nbformat": 3, "worksheets": 7}', "could not be converted"),
        (b'{"nbformat": 4, "cells": [' + b"{}," * 1000 + b"{}]}", "1,001 cells"),
        (b"x" * (MAX_BYTES + 1), "larger than the 20 MB"),
    ],
    ids=range(22),
)
def test_hostile_files_are_refused_with_a_reason(data, words):
    with pytest.raises(Unreadable) as refusal:
        code_cells(data)
    assert words in str(refusal.value)


def test_a_folder(tmp_path):
    (tmp_path / "ben.ipynb").write_bytes(notebook("b"))
    (tmp_path / "anna.ipynb").write_bytes(notebook("a"))
    (tmp_path / ".DS_Store").write_bytes(b"x")
    (tmp_path / "carl.py").write_text("a = 1")
    (tmp_path / "link.ipynb").symlink_to("/etc/passwd")
    anna, ben, carl = collect(tmp_path)
    assert [anna.student, ben.student, carl.student] == ["anna", "ben", "carl"]
    assert code_cells(anna.read()) == ["a"]
    with pytest.raises(Unreadable, match=r"no notebook: carl.py"):
        carl.read()


def test_two_files_of_one_student_are_not_guessed_between(tmp_path):
    for folder in ("monday", "tuesday"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "anna.ipynb").write_bytes(notebook("a"))
    (anna,) = collect(tmp_path)
    with pytest.raises(Unreadable, match=r"2 files from this student: monday/anna.ipynb, tuesday/anna.ipynb"):
        anna.read()


def test_nothing_to_grade_is_said(tmp_path):
    with pytest.raises(FileNotFoundError):
        collect(tmp_path / "none")
    with pytest.raises(ValueError, match="contains no submissions"):
        collect(tmp_path)
    (tmp_path / "a.txt").write_text("text")
    with pytest.raises(ValueError, match="neither a folder nor a zip"):
        collect(tmp_path / "a.txt")


def test_hostile_zip(tmp_path):
    """Paths that lead out, entries that blow up, that are damaged, or that come twice."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("class/anna.ipynb", notebook("a"))
        archive.writestr("../../../../tmp/slipped.ipynb", notebook("s"))
        archive.writestr("..\\..\\windows.ipynb", notebook("w"))
        archive.writestr("/absolute.ipynb", notebook("r"))
        archive.writestr("bomb.ipynb", b" " * (MAX_BYTES * 3))
        archive.writestr("damaged.ipynb", notebook("DAMAGE " * 20))
        archive.writestr("__MACOSX/._anna.ipynb", b"x")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("class/anna.ipynb", notebook("another"))
    data = buffer.getvalue()
    start = data.index(b"damaged.ipynb") + 40
    (tmp_path / "class.zip").write_bytes(data[:start] + bytes(b ^ 255 for b in data[start : start + 20]) + data[start + 20 :])
    before = sorted(tmp_path.parent.iterdir())
    found = {submission.student: submission for submission in collect(tmp_path / "class.zip")}
    assert sorted(found) == ["absolute", "anna", "bomb", "damaged", "slipped", "windows"]
    assert code_cells(found["slipped"].read()) == ["s"]
    for student, words in (("anna", "2 files"), ("bomb", "larger than"), ("damaged", "out of the zip")):
        with pytest.raises(Unreadable, match=words):
            code_cells(found[student].read())
    assert sorted(tmp_path.parent.iterdir()) == before
    assert [path.name for path in tmp_path.iterdir()] == ["class.zip"]


def test_hostile_names_are_text(tmp_path):
    import os

    with open(os.fsencode(tmp_path) + b"/\xff\xfe.ipynb", "wb") as file:
        file.write(notebook("a"))
    (submission,) = collect(tmp_path)
    submission.student.encode()
    assert code_cells(submission.read()) == ["a"]
