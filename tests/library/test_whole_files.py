"""Files are written whole or not at all, and are on the disk before their name points to them."""

import os

import pytest

from lectures_lib import files


def test_what_is_flushed_was_opened_to_be_written(tmp_path, monkeypatch):
    """Windows refuses to flush what was opened to be read."""
    flushed = []

    def fsync(number):
        flushed.append(os.write(number, b""))  # refused where the file may only be read

    monkeypatch.setattr(os, "fsync", fsync)
    files.write_whole(tmp_path / "a.txt", "whole\n")
    assert flushed == [0] and (tmp_path / "a.txt").read_bytes() == b"whole\n"


def test_after_an_error_the_file_of_before_is_there_and_no_draft(tmp_path):
    files.write_whole(tmp_path / "a.txt", "before")
    with pytest.raises(KeyboardInterrupt), files.written_whole(tmp_path / "a.txt") as draft:
        draft.write_text("half")
        raise KeyboardInterrupt
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "before"
