"""What is asserted and printed must hold on processors that are not here: every notebook and the
library's tests on imitated ones.

python -m pytest tests/book/test_other_processors.py -m long -k "avx2 and 09"
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tools.processors import SETS

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted([*ROOT.glob("notebooks/*.ipynb"), *ROOT.glob("solutions/*.ipynb")])
OTHERS = [name for name, settings in SETS.items() if settings]


def pytest_under(name: str, *arguments: str) -> None:
    """A run of pytest on that imitated processor, which must pass."""
    run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(
        run, cwd=ROOT, env={**os.environ, **SETS[name]}, capture_output=True, text=True
    )
    assert done.returncode == 0, f"with {SETS[name]}:\n{done.stdout[-5000:]}"


@pytest.mark.long
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.parametrize("name", OTHERS)
def test_notebooks_hold(name, notebook):
    pytest_under(name, "--nbval", "--nbval-current-env", str(notebook))


@pytest.mark.long
@pytest.mark.parametrize("name", OTHERS)
def test_the_library_holds(name):
    pytest_under(
        name, "-m", "not long and not browser and not sandbox", "tests/library", "tests/book"
    )


def test_each_has_its_own_job_at_night():
    """All of them behind each other would not fit into one: it would be cut off unseen."""
    written = (ROOT / ".github/workflows/nightly.yml").read_text(encoding="utf-8")
    jobs = yaml.safe_load(written)["jobs"]
    assert jobs["processors"]["strategy"]["matrix"]["set"] == OTHERS
    env = jobs["processors"]["steps"][-1]["env"]
    made = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert len(env) == 4 and all(f"{name} ?= {value}\n" in made for name, value in env.items())
    (whole,) = (step for step in jobs["long"]["steps"] if step.get("run") == "make test-long")
    assert whole["env"]["PYTEST_ADDOPTS"] == f"--ignore={Path(__file__).relative_to(ROOT)}"


@pytest.mark.parametrize("name", OTHERS)
def test_torch_listens(name):
    """A misspelt setting would leave every processor as it is, and the tests above could not
    fail.
    """
    asked = SETS[name]["ATEN_CPU_CAPABILITY"]
    ask = [sys.executable, "-c", "import torch; print(torch.backends.cpu.get_cpu_capability())"]
    done = subprocess.run(
        ask, env={**os.environ, **SETS[name]}, capture_output=True, text=True, check=True
    )
    highest = ("DEFAULT", "AVX2", "AVX512")
    assert done.stdout.strip() in highest[: 1 + highest.index(asked.upper())]
