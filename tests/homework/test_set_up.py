"""Where the library cannot be installed, a homework's first cell says what failed and what to do."""

import importlib.util
import subprocess
import sys
import tomllib
from types import SimpleNamespace

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell

from lectures_lib.homework import names
from lectures_lib.homework.sealed_release import INSTALL, SET_UP
from tests.homework.bank import ROOT

SAID = """\
fatal: unable to access 'https://github.com/x/': Could not resolve host: github.com
ERROR: Failed to build 'lectures-lib' when git clone"""
NEEDED = '{"no_such_package": "no-such-package"}'


def set_up(name):
    """The source of a set-up cell: of a homework's student notebook, or of a sealed one."""
    if name == "sealed":
        return SET_UP.format(file="hw1_sealed.zip", address="", needed=NEEDED, install=INSTALL)
    (path,) = (ROOT / "exercises").glob(f"{name}_*.ipynb")
    cells = nbformat.read(path, as_version=4).cells
    return next(cell.source for cell in cells if "setup" in cell.metadata.get("tags", []))


@pytest.fixture
def without_library(tmp_path, monkeypatch):
    """No library is found, and pip fails as it does without a network."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    commands = []

    def run(command, **settings):
        commands.append(command)
        assert settings.pop("capture_output") and settings.pop("text") and not settings
        return subprocess.CompletedProcess(command, 1, "", "a line\n" * 30 + SAID)

    monkeypatch.setattr(subprocess, "run", run)
    return commands


@pytest.mark.parametrize("name", [*names(), "sealed"])
def test_a_failed_installation_says_what_and_what_to_do(name, without_library):
    with pytest.raises(RuntimeError) as failed:
        exec(set_up(name), {})
    told = str(failed.value)
    what = (
        "no-such-package"
        if name == "sealed"
        else "https://github.com/from-attention-to-bert/course"
    )
    assert f"pip could not install {what if name == 'sealed' else 'the course'}" in told
    for words in (what, sys.version.split()[0], "network", "On Colab", SAID):
        assert words in told
    assert len(told.splitlines()) <= 15
    ((executable, *_, last),) = without_library
    assert executable == sys.executable
    assert what in last


@pytest.mark.parametrize("name", ["hw1", "sealed"])
def test_the_pythons_it_names_are_those_that_the_package_takes(name):
    asked = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert asked["project"]["requires-python"] == ">=3.11,<3.14"
    assert "Python 3.11, 3.12 or 3.13" in set_up(name)


def test_a_successful_installation_says_nothing(without_library, monkeypatch, capsys):
    monkeypatch.setattr(
        subprocess, "run", lambda command, **settings: SimpleNamespace(returncode=0)
    )
    exec(set_up("hw1"), {})
    assert capsys.readouterr() == ("", "")


def test_the_last_thing_that_a_notebook_shows_is_the_message(without_library, capsys):
    InteractiveShell.instance().run_cell(set_up("hw1"))
    shown = capsys.readouterr().out
    InteractiveShell.clear_instance()
    assert "CalledProcessError" not in shown
    assert shown.rstrip().endswith(SAID.splitlines()[-1])
