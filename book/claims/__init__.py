"""What the lectures claim, computed again: claims.yml says what, the modules here do it, and the
pages claims.md and claims/*.md show both.

`python book/claims` runs every check and prints what it found;
`python book/claims two-scores forty-epochs` runs two.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import yaml

FILE = Path(__file__).resolve().parent.parent / "claims.yml"
VERDICTS = {
    "holds": "it is so",
    "rounded": "it is so, in round numbers",
    "loose wording": "it is so if read with good will; taken at its word it is not, "
    "or not in every case",
    "slip": "it is not so: a wrong number, name or line",
}
AGREE = ("holds", "rounded")
SLIPS_FIRST = ("slip", "loose wording", "rounded", "holds")


class Found(NamedTuple):
    """What a check found.

    Args:
        agrees: whether the sentence is right as it stands. A row may say "holds" or "rounded" only
            if it is.
        values: what the row prints.
    """

    agrees: bool
    values: dict[str, Any]


def found(agrees: bool, **values: Any) -> Found:
    """A check's answer."""
    return Found(bool(agrees), values)


@dataclass(frozen=True)
class Claim:
    """A row of claims.yml.

    Args:
        id: its name, and its address on the page.  topic, lecture: keys of `topics` and `lectures`.
            where: on which slide.
        says: the claim, in our words.
        found: what we found, with places for `values`, such as "{epochs:.1f}".
        verdict: one of `VERDICTS`.
        values: the numbers and names that go into `found`. What the check gives must print the
            same.
        check: "module.function" of this package; empty where there is nothing to compute and only a
            source to look up.
        see: the section of a chapter where it is done step by step.
        sources: what was looked up: keys of references.bib, each with the place.
        needs: "mirror" if the check reads real data.
    """

    id: str
    topic: str
    lecture: str
    where: str
    says: str
    found: str
    verdict: str
    values: dict[str, Any] = field(default_factory=dict)
    check: str = ""
    see: str = ""
    sources: dict[str, str] = field(default_factory=dict)
    needs: str = ""

    @property
    def printed(self) -> str:
        """What the page prints as our finding."""
        return self.found.format(**self.values)

    @property
    def function(self) -> Callable[[], Found]:
        """The check."""
        module, name = self.check.split(".")
        return getattr(import_module(f"claims.{module}"), name)


@cache
def read() -> dict[str, Any]:
    """claims.yml: `lectures`, `topics` and `pages`, dictionaries, and `claims`, a list of `Claim`
    by topic, and within a topic slips first.
    """
    record = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return {**record, "claims": [Claim(**row) for row in record["claims"]]}


def page(topic: str) -> str:
    """The page that shows a topic's claims: "attention" for book/claims/attention.md."""
    return next(name for name, topics in read()["pages"].items() if topic in topics)


def problems(claim: Claim) -> list[str]:
    """What a row lacks, in words, before anything is computed."""
    wrong = []
    if claim.verdict not in VERDICTS:
        wrong.append(f"verdict {claim.verdict!r}; there is: {', '.join(VERDICTS)}")
    if claim.lecture not in read()["lectures"]:
        wrong.append(f"lecture {claim.lecture!r}; there is: {', '.join(read()['lectures'])}")
    if claim.topic not in read()["topics"]:
        wrong.append(f"topic {claim.topic!r}; there is: {', '.join(read()['topics'])}")
    if not (claim.where and claim.says and claim.found):
        wrong.append("every row says where, what the lecture says and what was found")
    if not claim.check and not claim.sources:
        wrong.append(
            "neither a check nor a source: what was neither computed nor looked up is no row"
        )
    if not claim.check and claim.values:
        wrong.append(f"values that nothing computes: {sorted(claim.values)}")
    if not all(claim.sources.values()):
        wrong.append(f"a source without the place in it: {claim.sources}")
    return wrong


def differences(claim: Claim) -> list[str]:
    """Run a claim's check; say, in words, where the row says something else than the check."""
    import torch

    torch.manual_seed(0)
    answer = claim.function()
    wrong = []
    if answer.agrees != (claim.verdict in AGREE):
        wrong.append(
            f"the check {'agrees' if answer.agrees else 'does not agree'} with the lecture, and "
            f"the verdict is {claim.verdict!r}"
        )
    if missing := claim.values.keys() ^ answer.values.keys():
        wrong.append(f"only one of the row and the check has the values {sorted(missing)}")
    elif (computed := claim.found.format(**answer.values)) != claim.printed:
        wrong.append(f"the row prints\n    {claim.printed}\nand the check gives\n    {computed}")
    return wrong
