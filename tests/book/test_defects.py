"""The defects that `experiments/defects.py` puts into the library stand where the list says; it
runs by hand, and a change of the library moves them unseen.
"""

from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
DEFECTS = yaml.safe_load((ROOT / "experiments" / "defects.yml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda one: f"{one['file']}: {one['was']}"[:80])
def test_its_text_stands_once_and_its_tests_are_there(defect):
    text = (ROOT / defect["file"]).read_text(encoding="utf-8")
    assert text.count(defect["was"]) == 1
    assert defect["becomes"] != defect["was"]
    assert all((ROOT / path).exists() for path in defect["tests"].split())
