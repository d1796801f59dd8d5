"""What lateness costs, and how it is told."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from lectures_lib.homework.grader.grading.moments import told
from lectures_lib.homework.grader.grading.score import Score
from lectures_lib.homework.grader.grading.settings import Percent

_DAY = timedelta(days=1)


class LatePolicy(BaseModel):
    """What lateness costs.

    Attributes:
        percent_per_day: so much is taken for each started day (of 24 hours).
        of: of the points that were "earned", or of those that were "possible".
        floor_percent: so much of what was earned is left, up to the last accepted day.
        accepted_days: what is handed in more days late than that earns nothing; None: there is no
            such day.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    percent_per_day: Percent
    of: Literal["earned", "possible"] = "earned"
    floor_percent: Percent = 0.0
    accepted_days: Annotated[int, Field(ge=0, le=1000)] | None = None

    def deduction(self, earned: float, possible: float, days: int) -> float:
        """The points taken from `earned` for so many started days."""
        if self.accepted_days is not None and days > self.accepted_days:
            return earned
        wanted = (earned if self.of == "earned" else possible) * self.percent_per_day * days / 100
        return round(min(wanted, earned * (100 - self.floor_percent) / 100), 2)


def after_lateness(
    score: Score,
    when: datetime,
    deadline: datetime,
    grace_minutes: float,
    policy: LatePolicy | None,
) -> Score:
    """The score with what lateness takes, and a sentence about it to the student.

    Args:
        score: as the answers earn it.
        when: when they were handed in.
        deadline: this student's own.
        grace_minutes: days of lateness are counted from so long after the deadline.
        policy: what lateness costs; None: nothing.
    """
    over = when.astimezone(UTC) - deadline.astimezone(UTC) - timedelta(minutes=grace_minutes)
    days = max(0, math.ceil(over / _DAY))
    if days == 0:
        return score
    deducted = policy.deduction(score.earned, score.out_of, days) if policy else 0.0
    note = f"{score.note} {_said(score, policy, deducted, days, deadline)}".strip()
    return replace(score, deducted=deducted, days_late=float(days), note=note)


def _said(
    score: Score, policy: LatePolicy | None, deducted: float, days: int, deadline: datetime
) -> str:
    """Lateness in a sentence to the student."""
    late = f"Handed in after the deadline ({told(deadline)}), on day {days}."
    if policy is None or (not policy.percent_per_day and policy.accepted_days is None):
        return f"{late} That costs nothing."
    if policy.accepted_days is not None and days > policy.accepted_days:
        return f"{late} The last day on which it counted was day {policy.accepted_days}."
    left = (
        f", but {policy.floor_percent:g} % of them are left in any case"
        if policy.floor_percent
        else ""
    )
    of = "what was earned" if policy.of == "earned" else f"the {score.out_of:g} possible points"
    return (
        f"{late} Each started day takes {policy.percent_per_day:g} % of {of}{left}: "
        f"{deducted:g} points."
    )
