"""Wrong answers that once passed, or were told nothing that helps: each is
refused now, with a name if it has one.
"""

from pathlib import Path

import pytest
import yaml

from tests.homework.bank import NIGHT, answer_cells, find, judged, questions

ANSWERS = yaml.safe_load((Path(__file__).parent / "students_more.yml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "written", ANSWERS, ids=[f"{a['question']} {a['mistake']}" for a in ANSWERS]
)
def test_an_answer_is_refused_and_named(written):
    name = written["question"]
    homework = name.split(".")[0]
    given, _ = answer_cells(homework)[questions(homework).index(name)]
    space = {}
    exec(given, space)
    exec(written["answer"], space)
    for seed in (0, 3) if NIGHT and find(name).seconds <= 10 else (0,):
        verdict = judged(name, space[find(name).answer_name], seed)
        assert (verdict.right, verdict.mistake) == (False, written["mistake"]), verdict
