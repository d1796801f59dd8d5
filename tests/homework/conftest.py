"""Tests marked `sandbox` run where bubblewrap does. Elsewhere they are skipped and say so; in CI they fail."""

import os

import pytest

from lectures_lib.homework import bubblewrap

_why = {}


def pytest_runtest_setup(item):
    if item.get_closest_marker("sandbox") is None:
        return
    if "not" not in _why:
        try:
            bubblewrap.require()
            _why["not"] = ""
        except bubblewrap.Refused as refusal:
            _why["not"] = str(refusal)
    if not _why["not"]:
        return
    if os.environ.get("CI") == "true" or "not shut" in _why["not"]:
        pytest.fail(_why["not"])
    pytest.skip(_why["not"])
