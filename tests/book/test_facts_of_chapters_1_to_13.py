"""What chapters 1 to 13 say in words about measured numbers, held against the files of results."""

import re
from pathlib import Path

import pytest

from lectures_lib import results

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


@pytest.mark.parametrize(("direction", "into"), [("de-en", "English"), ("en-de", "German")])
def test_what_beam_and_averaging_add_to_the_translator(direction, into):
    page = " ".join((NOTEBOOKS / "08_training.py").read_text("utf-8").replace("\n#", "\n").split())
    least, most, both = re.search(
        rf"adds (\d\.\d) to (\d\.\d) points, and both together .*?(\d\.\d) into {into}", page
    ).groups()
    found = results.load("multi30k_cpu")["results"][direction]
    plain = found["apart"]["last_greedy"]["mean"]
    gains = [found["apart"][name]["mean"] - plain for name in ("last_beam", "mean_greedy")]
    assert all(float(least) - 0.05 <= gain <= float(most) + 0.05 for gain in gains)
    assert found["cased"]["mean"] - plain == pytest.approx(float(both), abs=0.05)
    assert found["cased"]["n"] == 3
