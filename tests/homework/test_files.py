"""Whatever is handed in, reading it ends in cells or in a sentence to its author."""

import json

import nbformat
import pytest

from lectures_lib.homework import names
from lectures_lib.homework.grader.submissions import plain
from lectures_lib.homework.grader.submissions.collect import collect
from lectures_lib.homework.notebook import MAX_BYTES, Unreadable, code_cells
from tests.homework.packed import both, pack
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


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_an_editor_s_utf16_is_text_too(encoding):
    data = json.dumps(json.loads(notebook("größe = 'π'")), ensure_ascii=False)
    assert code_cells(data.encode(encoding)) == ["größe = 'π'"]


def test_an_old_format_is_upgraded():
    cells = [
        nbformat.v3.new_code_cell(input="a = 1"),
        nbformat.v3.new_text_cell("markdown", source="text"),
    ]
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
        (
            b"<<<<<<< HEAD\n{\n=======\n{ \n>>>>>>> main\n" + notebook("a = 1")[1:],
            "the marks of a merge",
        ),
        (notebook("a = 1").replace(b"{", b"{\n<<<<<<< HEAD\n", 1), "damaged or cut short"),
        (b"[]", "JSON, but no notebook"),
        (b"1", "JSON, but no notebook"),
        (b"{}", "JSON, but no notebook"),
        (b"[" * 100_000, "nested far too deep"),
        (
            b'{"nbformat": 4, "cells": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
            "nested far too deep",
        ),
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
    ids=range(24),
)
def test_hostile_files_are_refused_with_a_reason(data, words):
    with pytest.raises(Unreadable) as refusal:
        code_cells(data)
    assert words in str(refusal.value)


@both
def test_files_named_after_their_students(tmp_path, zipped):
    files = {
        "ben.ipynb": notebook("b"),
        "anna.IPYNB": notebook("a"),
        "carl.py": b"a = 1",
        "more/dora v2.ipynb": notebook("d"),
    }
    files |= {
        name: b"x"
        for name in (
            ".DS_Store",
            "__MACOSX/._anna.ipynb",
            ".ipynb_checkpoints/anna-checkpoint.ipynb",
            "more/Thumbs.db",
        )
    }
    found = collect(pack(tmp_path, files, zipped))
    assert found.kind == "plain"
    assert found.told == "4 submissions in 4 files, read as files named after their students."
    anna, ben, carl, dora = found
    assert [each.student for each in found] == ["anna", "ben", "carl", "dora v2"]
    assert (anna.files, dora.files) == (("anna.IPYNB",), ("more/dora v2.ipynb",))
    assert (anna.name, anna.ids, anna.handed_in, anna.earlier) == ("", {}, None, ())
    assert [code_cells(each.read()) for each in (anna, ben, dora)] == [["a"], ["b"], ["d"]]
    with pytest.raises(Unreadable, match=r"no notebook: carl.py"):
        carl.read()


@both
def test_an_ending_that_a_browser_has_added_does_not_matter(tmp_path, zipped):
    files = {
        "ada.ipynb.txt": notebook("a"),
        "ben.ipynb": notebook("b"),
        "ben (1).IPYNB.json": notebook("b1"),
        "carl.json": notebook("c"),
    }
    found = {s.student: s for s in collect(pack(tmp_path, files, zipped))}
    assert list(found) == ["ada", "ben", "carl"]
    assert code_cells(found["ada"].read()) == ["a"]
    assert code_cells(found["ben"].read()) == ["b1"]
    with pytest.raises(Unreadable, match=r"This is no notebook: carl\.json"):
        found["carl"].read()


@both
def test_two_files_of_one_student_are_not_guessed_between(tmp_path, zipped):
    files = {"monday/anna.ipynb": notebook("a"), "tuesday/anna.ipynb": notebook("b")}
    (anna,) = collect(pack(tmp_path, files, zipped))
    assert anna.files == ("monday/anna.ipynb", "tuesday/anna.ipynb")
    with pytest.raises(
        Unreadable,
        match=r"2 files from this student: monday/anna.ipynb, tuesday/anna.ipynb. Keep the one",
    ):
        anna.read()


@both
def test_folders_named_after_students_are_the_students(tmp_path, zipped):
    """As nbgrader, GitHub Classroom and many a script keep them; the file's name is everybody's."""
    files = {
        "ada lovelace/hw3.ipynb": notebook("ada"),
        "ada lovelace/notes.txt": b"please be kind",
        "submitted/ben/hw3/hw3_training_and_generating.ipynb": notebook("ben"),
        "submitted/ben/hw3/timestamp.txt": b"2026-11-26",
        "carl/hw3 (1).ipynb": notebook("carl, again"),
        "carl/hw3.ipynb": notebook("carl"),
        "dora/Homework 3.ipynb": notebook("dora"),
        "late/emmy.ipynb": notebook("emmy"),
        "late/hw3_felix.ipynb": notebook("felix"),
        "late/hw30.ipynb": notebook("another homework's number"),
        "hw3.ipynb": notebook("nobody's"),
    }
    found = {s.student: s for s in collect(pack(tmp_path, files, zipped), homework="hw3")}
    assert {student: code_cells(each.read())[0] for student, each in found.items()} == {
        "ada lovelace": "ada",
        "ben": "ben",
        "carl": "carl, again",
        "dora": "dora",
        "emmy": "emmy",
        "hw3": "nobody's",
        "hw30": "another homework's number",
        "hw3_felix": "felix",
    }
    assert found["carl"].earlier == ("carl/hw3.ipynb",)
    assert found["ben"].files == ("submitted/ben/hw3/hw3_training_and_generating.ipynb",)


@pytest.mark.parametrize("homework", names())
def test_the_released_notebook_s_name_is_known_without_the_checkout(
    homework, monkeypatch, tmp_path
):
    """Installed, and in Gradescope's zip, there is no folder of notebooks."""
    (path,) = plain._CHECKOUT.glob(f"exercises/{homework}_*.ipynb")
    monkeypatch.setattr(plain, "_CHECKOUT", tmp_path)
    called = plain._called(homework)
    assert called(path.stem) and not called(f"{homework}_lovelace")


@both
def test_a_student_s_folder_has_the_same_name_however_many_there_are(tmp_path, zipped):
    (tmp_path / "one").mkdir()
    alone = collect(
        pack(tmp_path / "one", {"ada/hw1_attention.ipynb": notebook("a")}, zipped), homework="hw1"
    )
    class_ = {f"{name}/hw1_attention.ipynb": notebook(name) for name in ("ada", "ben")}
    together = collect(pack(tmp_path, class_, zipped), homework="hw1")
    assert [each.student for each in alone] == ["ada"]
    assert [each.student for each in together] == ["ada", "ben"]


@both
def test_folders_whose_files_have_any_name(tmp_path, zipped):
    files = {f"{name}/my work.ipynb": notebook(name) for name in ("ada", "ben")}
    files |= {"carl.ipynb": notebook("carl"), "ben/hw3/sketch.ipynb": notebook("x")}
    source = pack(tmp_path, files, zipped)
    found = collect(source, "folders", "hw3")
    assert (found.kind, [each.student for each in found]) == ("folders", ["ada", "ben", "carl"])
    assert found.told.endswith("read as folders named after their students.")
    with pytest.raises(Unreadable, match=r"2 files from this student: ben/hw3/sketch.ipynb, ben/"):
        found[1].read()
    (both_, *_) = [each for each in collect(source, homework="hw3") if each.student == "my work"]
    with pytest.raises(Unreadable, match=r"another student's, grade them with --kind folders"):
        both_.read()
    with pytest.raises(ValueError, match=r"named like ada_lovelace/hw3.ipynb; the first file is"):
        collect(pack(tmp_path / "flat", {"a.ipynb": notebook("a")}, False), "folders", "hw3")


@both
def test_a_second_download_counts_and_the_first_is_listed(tmp_path, zipped):
    files = {
        "anna.ipynb": notebook("1"),
        "anna (2).ipynb": notebook("3"),
        "late/anna(1).ipynb": notebook("2"),
    }
    (anna,) = collect(pack(tmp_path, files, zipped))
    assert code_cells(anna.read()) == ["3"]
    assert (anna.student, anna.files) == ("anna", ("anna (2).ipynb",))
    assert anna.earlier == ("anna.ipynb", "late/anna(1).ipynb")


@both
def test_numbers_in_names_are_no_second_downloads(tmp_path, zipped):
    """A student who is taken for another's second file would be lost."""
    names = ["group-1", "group-2", "group", "Kim (1)", "Kim (2)", "v1.2", "v1"]
    found = collect(pack(tmp_path, {f"{name}.ipynb": notebook(name) for name in names}, zipped))
    assert {each.student: code_cells(each.read())[0] for each in found} == {
        name: name for name in names
    }


@both
def test_a_notebook_counts_before_other_files(tmp_path, zipped):
    (anna,) = collect(
        pack(
            tmp_path,
            {"anna.ipynb": notebook("a"), "anna.pdf": b"%PDF", "anna.py": b"a = 1"},
            zipped,
        )
    )
    assert code_cells(anna.read()) == ["a"]
    assert anna.earlier == ()


@both
def test_accents_are_the_same_however_they_are_encoded(tmp_path, zipped):
    composed, apart = "Zo\u00eb", "Zoe\u0308"
    found = collect(
        pack(
            tmp_path,
            {f"{apart}.ipynb": notebook("1"), f"late/{composed} (1).ipynb": notebook("2")},
            zipped,
        )
    )
    assert [(each.student, each.earlier, code_cells(each.read())) for each in found] == [
        (composed, (f"{composed}.ipynb",), ["2"])
    ]


def test_a_macintosh_does_not_say_that_its_names_are_utf8(tmp_path):
    source = pack(tmp_path, {"Zoë.ipynb": notebook("a"), "plain.ipynb": notebook("b")}, zipped=True)
    data = bytearray(source.read_bytes())
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + at + 1] &= ~0x08
    source.write_bytes(data)
    assert [each.student for each in collect(source)] == ["Zoë", "plain"]


def test_nothing_to_grade_is_said(tmp_path):
    with pytest.raises(FileNotFoundError):
        collect(tmp_path / "none")
    with pytest.raises(ValueError, match="contains no submissions"):
        collect(tmp_path)
    (tmp_path / "a.txt").write_text("text")
    with pytest.raises(ValueError, match="neither a folder nor a zip"):
        collect(tmp_path / "a.txt")
    with pytest.raises(
        ValueError, match="no kind 'blackboard' of submissions; there is auto, plain, folders"
    ):
        collect(tmp_path, kind="blackboard")
