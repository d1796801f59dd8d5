"""What every test shares: shapes checked in the library's signatures, one thread count, one
seed.
"""

import itertools
import os
from collections import Counter

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import matplotlib
import pytest
import torch
from hypothesis import settings
from jaxtyping import config

from tests import at_night, longest, shapes

# not by MPLBACKEND: the notebooks' kernels would inherit that and draw nothing
matplotlib.use("agg")

# From here on, every call of the library checks its tensors' shapes against the signature: a wrong
# shape comment fails the suite.
shapes.enforce("lectures_lib")


# A change is tried on the same examples every time, and fails for what it did; the night looks for
# new ones.
settings.register_profile("change", derandomize=True)
settings.register_profile("night", derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "change"))


def pytest_collection_modifyitems(items):
    """A long test may take its hours; what is left to the night is long as well; the longest files
    begin.
    """
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(pytest.mark.timeout(0))
    cases = [item.nodeid for item in items]
    for item, left in zip(items, at_night.left(cases, at_night.listed()), strict=True):
        if left:
            item.add_marker(pytest.mark.long)
    place = {name: at for at, name in enumerate(longest.LONGEST)}
    items.sort(key=lambda item: place.get(item.nodeid.partition("::")[0], len(place)))


def pytest_terminal_summary(terminalreporter):
    """Which files should begin, and do not yet."""
    seconds = Counter()
    for report in itertools.chain(*terminalreporter.stats.values()):
        if isinstance(report, pytest.TestReport) and "long" not in report.keywords:
            seconds[report.nodeid.partition("::")[0]] += report.duration
    for name in longest.missing(seconds):
        took = f"{name} took {seconds[name]:.0f} s"
        terminalreporter.line(f"{took}: it belongs into tests/longest.py, to begin early")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Tests of real data are skipped where LECTURES_DATA names no folder, or one without it."""
    from lectures_lib import data

    for mark in item.iter_markers("mirror"):
        folder = data.mirror()
        if folder is None:
            pytest.skip("no mirror of real data: LECTURES_DATA is not set")
        for hub_id in mark.args:
            if not (folder / hub_id).is_dir():
                pytest.skip(f"{folder}, which LECTURES_DATA names, has no {hub_id}")


@pytest.fixture(autouse=True)
def _repeatable():
    # torch.manual_seed without a GPU: milliseconds, and memory that is never freed
    torch.default_generator.manual_seed(0)
    torch.set_num_threads(1)  # two test processes share the machine's two cores


@pytest.fixture
def shapes_unchecked():
    """Switch the shape checks off: they answer before the library's own error messages, which are
    what is tested then.
    """
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", False)


@pytest.fixture
def one_process():
    """What several processes need to know of one another, for one."""
    distributed = torch.distributed
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    yield
    distributed.destroy_process_group()
