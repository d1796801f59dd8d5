"""What a submission is worth: points, what was possible, what lateness took."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class InWords:
    """What became of an answer in words.

    Attributes:
        title: the question's.
        state: "marked", "empty" (the cell is there, and nothing in it), "missing" (so is the cell)
            or "open" (not marked yet).
        comments: what those who marked it say to the student.
    """

    title: str
    state: str
    comments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Part:
    """One demand of a question, for an answer that is partly right.

    Attributes:
        says: what it demands.
        holds: whether the answer meets it.
        points: what it is worth.
    """

    says: str
    holds: bool
    points: float

    @property
    def earned(self) -> float:
        """The points that the answer earns by it."""
        return self.points if self.holds else 0.0


@dataclass(frozen=True)
class Score:
    """What a submission is worth.

    Attributes:
        points: by question's full name, before any deduction. A withdrawn question is not among
            them.
        possible: by question's full name; also of extra credit, not of what is withdrawn or
            excused.
        deducted: points taken for lateness, of those that count.
        days_late: started days after the deadline; 0 where it was in time or nobody knows.
        cap: so many points count at most; None: all.
        withdrawn: full names of questions that do not count.
        excused: full names of questions that do not count for this student alone.
        extra: full names of questions whose points count, though nobody has to earn them.
        in_words: by question's full name, the answers in words that a person marks. One that is not
            marked yet is in `possible` and not in `points`, and does not count for now.
        decided: by question's full name, what a person decided about this student's answer, in
            that person's words; "" where there are none.
        parts: by question's full name, the demands of a question whose answer is partly right.
        note: what to tell the student about lateness and the cap; "" if there is nothing to tell.
        remark: what to tell the instructor alone.
    """

    points: dict[str, float]
    possible: dict[str, float]
    deducted: float = 0.0
    days_late: float = 0.0
    cap: float | None = None
    withdrawn: tuple[str, ...] = ()
    excused: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    in_words: Mapping[str, InWords] = field(default_factory=dict)
    decided: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, tuple[Part, ...]] = field(default_factory=dict)
    note: str = ""
    remark: str = ""

    @property
    def earned(self) -> float:
        """The points that count, before what lateness takes."""
        return self._capped(self.points)

    @property
    def out_of(self) -> float:
        """What can be reached without extra credit, in what is marked."""
        return self._capped(
            {
                name: most
                for name, most in self.possible.items()
                if name not in (*self.extra, *self.unmarked)
            }
        )

    @property
    def unmarked(self) -> tuple[str, ...]:
        """Full names of questions whose answers somebody still has to mark."""
        return tuple(name for name in self.in_words if name not in self.points)

    @property
    def exempt(self) -> bool:
        """Whether this student is excused from all that counts: then there is no total."""
        return bool(self.excused) and not set(self.possible) - set(self.extra)

    @property
    def total(self) -> float:
        """What counts in the end."""
        return round(self.earned - self.deducted, 2)

    def beside(self, whole: float) -> float:
        """The total among those of students who could reach `whole` points. A platform keeps one
        maximum for all: whoever is excused from a part gets the same share of it there. So it is,
        for now, with what is not marked yet.
        """
        if not (self.excused or self.unmarked) or not self.out_of:
            return self.total
        return round(self.total * whole / self.out_of, 2)

    def _capped(self, points: dict[str, float]) -> float:
        total = round(float(sum(points.values())), 2)
        return total if self.cap is None else min(total, self.cap)
