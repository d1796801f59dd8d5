"""The page of checked claims: every row is computed again, and a row that says something else, or
cannot be computed, is noticed.
"""

import re
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from runpy import run_path

import pytest

from tests.helpers.chapter_anchors import lost

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "book"))
import claims  # noqa: E402

RECORD = claims.read()
ROWS = {claim.id: claim for claim in RECORD["claims"]}
MODULES = sorted(path.stem for path in (ROOT / "book" / "claims").glob("[a-z]*.py"))
NEEDS_MIRROR = pytest.mark.mirror("nyu-mll/glue")


def computed():
    """The rows with a check; those that read real data are marked."""
    return [
        pytest.param(claim, id=claim.id, marks=NEEDS_MIRROR if claim.needs else [])
        for claim in ROWS.values()
        if claim.check
    ]


@pytest.mark.parametrize("claim", computed())
def test_the_row_prints_what_its_check_computes(claim):
    assert claims.differences(claim) == []


def test_without_real_data_the_command_leaves_its_rows_out_and_says_so(monkeypatch, capsys):
    monkeypatch.delenv("LECTURES_DATA", raising=False)
    needing = [claim.id for claim in ROWS.values() if claim.needs]
    monkeypatch.setattr(sys, "argv", ["claims", "binary-bits", *needing])
    with pytest.raises(SystemExit) as ended:
        run_path(str(ROOT / "book" / "claims"), run_name="__main__")
    assert not ended.value.code
    said = [line.partition(" ")[::2] for line in capsys.readouterr().out.splitlines()]
    assert {name for name, rest in said if "not computed" in rest} == set(needing) != set()
    assert len(said) == len(needing) + 1


@pytest.mark.parametrize("claim", ROWS.values(), ids=ROWS)
def test_a_row_is_complete(claim):
    assert claims.problems(claim) == []
    assert not claim.see or lost(claim.see) == ""


@pytest.mark.parametrize(
    ("see", "said"),
    [
        ("notebooks/13c_choices.ipynb#how-bert-was-trained-recomputed", ""),
        (
            "notebooks/13c_choices.ipynb#how-bert-was-trained",
            "has no section 'how-bert-was-trained'",
        ),
        ("notebooks/13_pretraining.ipynb", "has no section ''"),
        ("notebooks/13_training.ipynb#live", "there is no page notebooks/13_training.ipynb"),
        ("book/published.md", ""),
        ("book/published.md#glue", "only sections of chapters"),
    ],
)
def test_a_link_that_leads_nowhere_is_noticed(see, said):
    assert said in lost(see) and bool(said) == bool(lost(see))


def test_there_are_rows_enough_and_no_two_of_one_name():
    assert len(ROWS) == len(RECORD["claims"])
    assert sum(bool(claim.check) for claim in ROWS.values()) >= 40
    assert {claim.lecture for claim in ROWS.values()} == set(RECORD["lectures"])
    assert {claim.verdict for claim in ROWS.values()} == set(claims.VERDICTS)


def test_rows_stand_by_topic_and_slips_first():
    topics = list(RECORD["topics"])
    assert {claim.topic for claim in ROWS.values()} == set(topics)
    places = [
        (topics.index(claim.topic), claims.SLIPS_FIRST.index(claim.verdict))
        for claim in ROWS.values()
    ]
    assert places == sorted(places)


def test_nothing_rests_on_a_copy_that_cannot_be_read():
    """Handwriting that ran into print, and a stroke that may be missing, are no slips of a
    lecture.
    """
    assert not {"sequence-preserved", "cosine-exponent"} & set(ROWS)


@pytest.mark.parametrize("row", ["better-results", "impact", "far-away"])
def test_claims_about_large_models_do_not_fall_with_small_runs(row):
    assert ROWS[row].verdict == "holds"


def test_another_notation_is_no_error():
    assert ROWS["marks"].verdict == "holds" and ROWS["root"].verdict == "holds"


def test_every_check_belongs_to_a_row():
    used = {claim.check for claim in ROWS.values()}
    for module in MODULES:
        for name, thing in vars(import_module(f"claims.{module}")).items():
            if (
                getattr(thing, "__module__", "") == f"claims.{module}"
                and getattr(thing, "__annotations__", {}).get("return") is claims.Found
            ):
                assert f"{module}.{name}" in used


def test_sources_are_in_the_references():
    known = set(
        re.findall(r"@\w+\{(\w+),", (ROOT / "book" / "references.bib").read_text(encoding="utf-8"))
    )
    assert {source for claim in ROWS.values() for source in claim.sources} <= known


def test_lectures_are_those_of_the_references_page():
    page = (ROOT / "book" / "references.md").read_text(encoding="utf-8")
    assert [
        lecture["title"] for lecture in RECORD["lectures"].values() if lecture["title"] not in page
    ] == []


def test_claims_are_told_in_few_words():
    """In ours, and short: the slides themselves are not copied."""
    assert [claim.id for claim in ROWS.values() if len(claim.says.split()) > 45] == []


EXAMPLE = ROWS["tokens-a-batch"]


def test_a_wrong_number_is_noticed():
    (line,) = claims.differences(replace(EXAMPLE, values={**EXAMPLE.values, "tokens": 131_071}))
    assert "131,071" in line and "131,072" in line


def test_a_verdict_that_the_check_does_not_bear_out_is_noticed():
    (line,) = claims.differences(replace(EXAMPLE, verdict="holds"))
    assert "does not agree" in line
    (line,) = claims.differences(replace(ROWS["example"], verdict="slip"))
    assert "the check agrees" in line


def test_values_that_the_check_does_not_give_are_noticed():
    (line,) = claims.differences(replace(EXAMPLE, values={**EXAMPLE.values, "dollars": 5}))
    assert "dollars" in line


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"check": "", "sources": {}}, "neither a check nor a source"),
        ({"check": ""}, "values that nothing computes"),
        ({"verdict": "wrong"}, "there is: holds, rounded"),
        ({"lecture": "mit"}, "there is: hkust"),
        ({"topic": "poetry"}, "there is: attention"),
        ({"where": ""}, "every row says where"),
        ({"sources": {"devlin2019bert": ""}}, "without the place"),
    ],
)
def test_a_row_that_lacks_something_is_noticed(change, said):
    assert said in " ".join(claims.problems(replace(EXAMPLE, **change)))
