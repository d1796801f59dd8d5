"""What every test shares: shapes checked in the library's signatures, one thread count, one
seed.
"""

import os
import pkgutil
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import matplotlib
import pytest
import torch
from beartype import BeartypeConf
from beartype.claw import beartype_package
from hypothesis import settings
from jaxtyping import config, install_import_hook

LIBRARY, HOMEWORK = Path(__file__).parent.parent / "lectures_lib", "lectures_lib.homework"

# not by MPLBACKEND: the notebooks' kernels would inherit that and draw nothing
matplotlib.use("agg")

# From here on, every call of the library checks its tensors' shapes against the signature: a wrong
# shape comment fails the suite. The homework's own signatures name no shapes; there types alone are
# checked, which takes a third of the time off its tests.
ROOMS = [name for _, name, _ in pkgutil.iter_modules([str(LIBRARY)], "lectures_lib.")]
install_import_hook([room for room in ROOMS if room != HOMEWORK], "beartype.beartype")
beartype_package(HOMEWORK, conf=BeartypeConf(is_random=False))  # a student's draws are untouched


# A change is tried on the same examples every time, and fails for what it did; the night looks for
# new ones.
settings.register_profile("change", derandomize=True)
settings.register_profile("night", derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "change"))


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
