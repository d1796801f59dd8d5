"""Folders and zips made to do harm: nothing is followed, filled or held up, and everybody else's
work is read.
"""

import contextlib
import io
import os
import random
import signal
import stat
import struct
import tracemalloc
import unicodedata
import warnings
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lectures_lib.homework.grader.submissions import archive, folder
from lectures_lib.homework.grader.submissions.collect import collect
from lectures_lib.homework.grader.submissions.names import LONGEST, distinct, shown
from lectures_lib.homework.notebook import MAX_BYTES, Unreadable, code_cells
from tests.homework.toy import notebook


@pytest.fixture(autouse=True)
def in_two_minutes():
    """A grader that hangs must not hang its tests."""

    def stop(*args):
        raise TimeoutError("reading took more than two minutes")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(120)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def inbox(tmp_path):
    """A folder with one honest submission."""
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "anna.ipynb").write_bytes(notebook("anna"))
    return tmp_path / "class"


def zipped(tmp_path, *entries, **options):
    """A zip of (name or ZipInfo, content) and one honest submission."""
    with (
        zipfile.ZipFile(
            tmp_path / "class.zip", "w", **{"compression": zipfile.ZIP_DEFLATED, **options}
        ) as file,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # of names that come twice
        for name, content in (("anna.ipynb", notebook("anna")), *entries):
            file.writestr(name, content)
    return tmp_path / "class.zip"


def refusals(source, **options):
    """{student: why their file is not read}; Anna's is read, always."""
    students = {each.student: each for each in collect(source, **options)}
    assert code_cells(students.pop("anna").read()) == ["anna"]
    return {student: refusal(submission) for student, submission in students.items()}


def in_little_memory(do, *args):
    """What `do` returns; it may not hold more than a file, and a copy of it, at a time."""
    tracemalloc.start()
    try:
        return do(*args)
    finally:
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert most < 2.5 * MAX_BYTES, f"{most >> 20} MB"


def refusal(submission):
    try:
        code_cells(submission.read())
    except Unreadable as error:
        return str(error)
    return "read"


# -------------------------------------------------------------------------------------- in a folder


def test_hostile_links_in_a_folder_are_not_followed(inbox, tmp_path):
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key.ipynb").write_bytes(notebook("secret"))
    (inbox / "file.ipynb").symlink_to(secret / "key.ipynb")
    (inbox / "folder").symlink_to(secret)
    (inbox / "circle").symlink_to(inbox)
    (inbox / "nowhere.ipynb").symlink_to(tmp_path / "nowhere")
    (inbox / "passwords.ipynb").symlink_to("/etc/passwd")
    told = refusals(inbox)
    assert sorted(told) == ["circle", "file", "folder", "nowhere", "passwords"]
    assert set(told.values()) == {folder.LINK}


def test_hostile_link_put_in_place_of_a_file_after_the_look_around(inbox, tmp_path):
    (inbox / "ben.ipynb").write_bytes(notebook("ben"))
    (tmp_path / "secret.ipynb").write_bytes(notebook("secret"))
    _, ben = collect(inbox)
    (inbox / "ben.ipynb").unlink()
    (inbox / "ben.ipynb").symlink_to(tmp_path / "secret.ipynb")
    assert "not an ordinary file" in refusal(ben)
    with pytest.raises(OSError, match="symbolic links"):
        os.open(inbox / "ben.ipynb", folder._FLAGS)


def test_hostile_pipes_and_devices_do_not_hold_up(inbox):
    os.mkfifo(inbox / "pipe.ipynb")
    os.mkfifo(inbox / "folder.ipynb.d")
    with contextlib.suppress(PermissionError):
        os.mknod(inbox / "zeros.ipynb", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    told = refusals(inbox)
    assert set(told) >= {"pipe", "folder.ipynb"}
    assert "not an ordinary file" in told["pipe"]
    assert "not an ordinary file" in told.get("zeros", "not an ordinary file")


def test_hostile_device_is_not_opened(inbox, monkeypatch):
    """Also where the test may not make one."""
    os.mkfifo(inbox / "pipe.ipynb")
    opened = []
    monkeypatch.setattr(folder.os, "open", lambda path, *flags: opened.append(path))
    with pytest.raises(Unreadable, match="not an ordinary file"):
        folder.head(inbox / "pipe.ipynb")
    assert opened == []


def test_hostile_sparse_file(inbox):
    with (inbox / "huge.ipynb").open("wb") as file:
        file.truncate(10 << 30)
    assert "larger than the 20 MB" in in_little_memory(refusals, inbox)["huge"]


def test_hostile_files_that_may_not_be_read(inbox, monkeypatch):
    for name in ("locked.ipynb", "gone.ipynb"):
        (inbox / name).write_bytes(notebook("x"))
    (inbox / "shut").mkdir()
    open_, scandir = os.open, os.scandir

    def refuse(path, *args):
        if "locked" in str(path) or "shut" in str(path):
            raise PermissionError(13, "Permission denied", str(path))
        return open_(path, *args)

    monkeypatch.setattr(folder.os, "open", refuse)  # as root, everything may be read
    monkeypatch.setattr(
        folder.os, "scandir", lambda path: refuse(path) if "shut" in str(path) else scandir(path)
    )
    submissions = {each.student: each for each in collect(inbox)}
    (inbox / "gone.ipynb").unlink()
    assert refusal(submissions["locked"]) == "The file could not be read (Permission denied)."
    assert refusal(submissions["gone"]) == "The file could not be read (No such file or directory)."
    assert refusal(submissions["shut"]) == "This folder could not be opened (Permission denied)."
    assert refusal(submissions["anna"]) == "read"


def test_hostile_folders_that_are_called_notebooks(inbox, tmp_path):
    (inbox / "ben.ipynb").mkdir()
    (inbox / "carl.ipynb").mkdir()
    (inbox / "carl.ipynb" / "carl.ipynb").write_bytes(notebook("carl"))
    (inbox / ".ipynb_checkpoints").mkdir()
    (inbox / ".ipynb_checkpoints" / "anna-checkpoint.ipynb").write_bytes(notebook("x"))
    assert refusals(inbox) == {"ben": folder.FOLDER, "carl": folder.FOLDER}
    entries = [
        ("ben.ipynb/", b""),
        ("carl.ipynb/carl.ipynb", notebook("x")),
        ("carl.ipynb/more/x.ipynb", b""),
    ]
    entries += [("x/.ipynb_checkpoints/anna-checkpoint.ipynb", notebook("x"))]
    assert refusals(zipped(tmp_path, *entries)) == {"ben": folder.FOLDER, "carl": folder.FOLDER}


def test_hostile_depth_of_folders(inbox):
    """Deeper than a path may be long."""
    handle = os.open(inbox, os.O_RDONLY)
    try:
        for _ in range(60):
            os.mkdir("d" * 100, dir_fd=handle)
            inner = os.open("d" * 100, os.O_RDONLY, dir_fd=handle)
            os.close(handle)
            handle = inner
    finally:
        os.close(handle)
    ((student, why),) = refusals(inbox).items()
    assert len(student) <= LONGEST
    assert why == "This folder could not be opened (File name too long)."


def test_hostile_number_of_files(inbox, tmp_path):
    (inbox / "flood").mkdir()
    for i in range(20_000):
        (inbox / "flood" / f"{i}.ipynb").touch()
    with pytest.raises(
        ValueError,
        match=r"20,00\d files or more; 20,000 of them lie in 'flood'. Up to 20,000 are read",
    ):
        collect(inbox)
    with pytest.raises(ValueError, match=r"20,001 files or more; 20,000 of them lie in 'flood'"):
        collect(
            zipped(
                tmp_path,
                *((f"flood/{i}.ipynb", b"") for i in range(20_000)),
                compression=zipfile.ZIP_STORED,
            )
        )


# ----------------------------------------------------------------------------------------- in a zip


def unix(name, mode):
    """An entry that was packed on Unix, with this kind of file and these permissions."""
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, mode << 16
    return info


def test_hostile_links_and_devices_in_a_zip(tmp_path):
    kinds = {
        "link": stat.S_IFLNK,
        "pipe": stat.S_IFIFO,
        "device": stat.S_IFCHR,
        "socket": stat.S_IFSOCK,
        "file": stat.S_IFREG,
        "bare": 0,
    }
    source = zipped(
        tmp_path,
        *((unix(f"{name}.ipynb", kind | 0o777), notebook("x")) for name, kind in kinds.items()),
    )
    told = refusals(source)
    assert told["link"] == folder.LINK
    assert all("not an ordinary file" in told[name] for name in ("pipe", "device", "socket"))
    assert told["file"] == told["bare"] == "read"


def test_hostile_paths_in_a_zip_are_only_names(tmp_path):
    names = [
        "../../../../tmp/slipped.ipynb",
        "..\\..\\windows.ipynb",
        "/absolute.ipynb",
        "C:\\drive.ipynb",
        "//server/share.ipynb",
        "../..",
    ]
    before = sorted(tmp_path.iterdir())
    found = {
        each.student: each
        for each in collect(zipped(tmp_path, *((name, notebook(name)) for name in names)))
    }
    assert sorted(found) == [".", "absolute", "anna", "drive", "share", "slipped", "windows"]
    assert code_cells(found["slipped"].read()) == ["../../../../tmp/slipped.ipynb"]
    assert found["slipped"].files == ("../../../../tmp/slipped.ipynb",)
    assert sorted(tmp_path.iterdir()) == [*before, tmp_path / "class.zip"]


def test_hostile_zip_bombs(tmp_path):
    """One that inflates, one in a zip in the zip, and one packed in a way that Python inflates
    without a limit.
    """
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("inner.ipynb", b" " * (MAX_BYTES * 3))
    bombs = [
        ("deflated.ipynb", b" " * (MAX_BYTES * 3)),
        ("nested.zip", inner.getvalue()),
        ("renamed.ipynb", inner.getvalue()),
    ]
    source = zipped(tmp_path, *bombs)
    with zipfile.ZipFile(source, "a") as file:
        for name, method in (("bz", zipfile.ZIP_BZIP2), ("xz", zipfile.ZIP_LZMA)):
            file.writestr(f"{name}.ipynb", b" " * (64 << 20), compress_type=method)
    told = in_little_memory(refusals, source)
    assert "larger than the 20 MB" in told["deflated"]
    assert told["nested"] == "This is a zip: nested.zip. Unpack it, and hand in the .ipynb file."
    assert "not text" in told["renamed"]
    assert "method 12" in told["bz"]
    assert "method 14" in told["xz"]


def test_hostile_overlapping_entries(tmp_path):
    """Many entries that share one piece of packed data, the way to a zip bomb that needs no zip
    within a zip.
    """
    source = zipped(tmp_path, ("kernel.ipynb", b" " * (1 << 20)), ("after.ipynb", notebook("x")))
    data = source.read_bytes()
    end = data.rindex(b"PK\x05\x06")
    records = [data[i:] for i in range(end) if data[i : i + 4] == b"PK\x01\x02"]
    kernel = next(record for record in records if record[46:].startswith(b"kernel.ipynb"))[
        : 46 + len("kernel.ipynb")
    ]
    copies = b"".join(kernel[:46] + f"copy{i:02d}.ipynb".encode() for i in range(10))
    tail = struct.pack(
        "<4s4H2LH",
        b"PK\x05\x06",
        0,
        0,
        13,
        13,
        end - data.index(b"PK\x01\x02") + len(copies),
        data.index(b"PK\x01\x02"),
        0,
    )
    source.write_bytes(data[:end] + copies + tail)
    told = refusals(source)
    assert told.pop("after") == "read"
    assert len(told) == 11
    assert all("shares its bytes" in why for why in told.values())


def test_hostile_entry_that_reaches_over_several():
    def info(offset, size):
        entry = zipfile.ZipInfo("x")
        entry.header_offset, entry.compress_size = offset, size
        return entry

    assert archive._overlapping([info(0, 1000), info(200, 10), info(100, 10), info(2000, 10)]) == {
        0,
        100,
        200,
    }
    assert archive._overlapping([info(0, 69), info(100, 69), info(200, 10)]) == set()


def test_hostile_damage_locks_and_lies(tmp_path):
    text = notebook("DAMAGE " * 30)
    source = zipped(
        tmp_path,
        ("broken.ipynb", text),
        ("stored.ipynb", text),
        ("locked.ipynb", text),
        ("size.ipynb", text),
    )
    data = bytearray(source.read_bytes())
    start = data.index(b"broken.ipynb") + 40
    data[start : start + 20] = bytes(b ^ 255 for b in data[start : start + 20])
    with zipfile.ZipFile(source) as file:
        central = {
            info.filename: data.index(info.filename.encode(), file.start_dir) - 46
            for info in file.infolist()
        }
    data[central["stored.ipynb"] + 16] ^= 1  # the checksum
    data[central["locked.ipynb"] + 8] |= 1  # "encrypted"
    data[central["size.ipynb"] + 24 : central["size.ipynb"] + 28] = struct.pack("<L", 10)
    source.write_bytes(data)
    told = refusals(source)
    assert all(
        "could not be taken out of the zip" in told[name] for name in ("broken", "stored", "size")
    )
    assert "locked with a password" in told["locked"]


def test_hostile_name_twice_in_one_zip(tmp_path):
    told = refusals(zipped(tmp_path, ("ben.ipynb", notebook("1")), ("ben.ipynb", notebook("2"))))
    assert "2 files from this student: ben.ipynb, ben.ipynb" in told["ben"]


def test_hostile_zips_that_are_none(tmp_path):
    """Cut, filled with something else, or changed at random places: refused in one sentence, or
    read as far as they are whole.
    """
    whole = zipped(
        tmp_path, ("ben.ipynb", notebook("ben")), ("dora/cy.ipynb", notebook("cy"))
    ).read_bytes()
    draw = random.Random(0)
    damaged = [
        whole[:-30],
        whole[:100],
        b"PK\x05\x06" + b"\x00" * 18,
        b"PK\x05\x06" + b"\xff" * 18,
        b"",
    ]
    for _ in range(300):
        bad = bytearray(whole)
        for _ in range(draw.randint(1, 6)):
            bad[draw.randrange(len(bad))] = draw.randrange(256)
        damaged.append(bytes(bad))
    refused = 0
    for data in damaged:
        (tmp_path / "class.zip").write_bytes(data)
        try:
            submissions = collect(tmp_path / "class.zip")
        except ValueError as error:
            refused += 1
            assert "class.zip" in str(error)
        else:
            for submission in submissions:
                refusal(submission)
    assert 5 <= refused < 300


# -------------------------------------------------------------------------------------------- names

NAMES = {
    "new\nline": "new\N{REPLACEMENT CHARACTER}line",
    "back\rwards": "back\N{REPLACEMENT CHARACTER}wards",
    "\x1b[31mred\x07": "\N{REPLACEMENT CHARACTER}[31mred\N{REPLACEMENT CHARACTER}",
    "anna\u202egpj": "anna\N{REPLACEMENT CHARACTER}gpj",
    "\u2066x\u2069\u200b\ufeff": "\N{REPLACEMENT CHARACTER}x" + 3 * "\N{REPLACEMENT CHARACTER}",
    "line\u2028end": "line\N{REPLACEMENT CHARACTER}end",
    "wide\u3000space": "wide space",
    " edges ": "edges",
    "x" * 250: "x" * 112 + "…",
    "ü" * 125: "ü" * 112 + "…",
}


@pytest.mark.parametrize("in_zip", [False, True], ids=["folder", "zip"])
def test_hostile_names_are_harmless_to_look_at(inbox, tmp_path, in_zip):
    for name in NAMES:
        with contextlib.suppress(OSError):  # 250 bytes of name are more than this disk takes
            (inbox / name).write_bytes(b"")
    found = collect(zipped(tmp_path, *((name, b"") for name in NAMES)) if in_zip else inbox)
    students = [each.student for each in found]
    assert len(students) == len(set(students)) == len(NAMES) + 1
    harmless = {student.rpartition("~")[0] for student in students if student != "anna"}
    assert harmless == set(NAMES.values())
    for each in found:
        for text in (each.student, *each.files, refusal(each)):
            assert_harmless(text)


def assert_harmless(text):
    assert not any(
        unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") for character in text
    ), repr(text)
    assert len(text) <= 3 * LONGEST
    text.encode()


def test_hostile_names_that_are_not_utf8(tmp_path):
    for name in (b"\xff\xfe.ipynb", b"\xfe\xff.ipynb", b"Zo\xeb.ipynb"):
        with open(os.fsencode(tmp_path) + b"/" + name, "wb") as file:
            file.write(notebook(str(name)))
    found = collect(tmp_path)
    assert len({each.student for each in found}) == 3
    assert sorted(code_cells(each.read())[0] for each in found) == sorted(
        map(str, (b"\xff\xfe.ipynb", b"\xfe\xff.ipynb", b"Zo\xeb.ipynb"))
    )
    for each in found:
        assert_harmless(each.student)


def test_hostile_long_names_in_a_zip(tmp_path):
    names = [
        "y" * 60_000,
        "ü" * 300,
        "z" * 299 + "1",
        "z" * 299 + "2",
        "/".join("d" * 200 for _ in range(50)) + "/deep",
    ]
    found = collect(zipped(tmp_path, *((f"{name}.ipynb", notebook("a")) for name in names)))
    assert len({each.student for each in found}) == 6
    for each in found:
        assert refusal(each) == "read"
        assert_harmless(each.student)
        assert_harmless(each.files[0])


def test_hostile_bytes_in_the_names_of_a_zip(tmp_path):
    """Bytes that are no UTF-8, in a name that claims to be."""
    source = zipped(tmp_path, ("bü.ipynb", notebook("x")))
    source.write_bytes(source.read_bytes().replace("bü".encode(), b"b\xff\xff"))
    with pytest.raises(ValueError, match="is damaged: its list of files cannot be read"):
        collect(source)


def test_hostile_name_that_looks_like_the_name_given_to_another(tmp_path):
    """Nobody becomes somebody else by guessing how a name will be shown."""
    hidden = "ben\u200b"
    forged = distinct([hidden])[hidden]
    found = collect(
        zipped(
            tmp_path,
            *(
                (f"{name}.ipynb", notebook(repr(name)))
                for name in (hidden, forged, "ben", shown(hidden))
            ),
        )
    )
    assert {
        each.student: code_cells(each.read())[0]
        for each in found
        if each.student in (forged, "ben", shown(hidden))
    } == {name: repr(name) for name in (forged, "ben", shown(hidden))}
    assert len({each.student for each in found}) == 5


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.text(max_size=150) | st.text(alphabet="a\u200b\u202e~ \n", max_size=5), max_size=12)
)
def test_hostile_names_stay_distinct(names):
    given = {unicodedata.normalize("NFC", name) for name in names}
    found = distinct(names)
    assert set(found) == given
    assert len(set(found.values())) == len(given)
    for name in found.values():
        assert name == name.strip() != ""
        assert len(name) <= LONGEST + 1
        assert not any(
            unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in name
        )
        assert not set(name) & set(
            "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
        )
