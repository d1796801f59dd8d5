"""A submission's code, run in the sandbox: every cell, then every question. What breaks costs
itself, not the rest.

Each answer is called in the state in which the student's own check of it ran; where that gives no
right answer, also in the state after the last cell. The better verdict counts: right, or else the
one on which more of the question's demands hold.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from lectures_lib.homework.diagnosis import AnswerKey
from lectures_lib.homework.grader.sandbox.clock import STRETCH
from lectures_lib.homework.grader.sandbox.line import FRAME, SLACK, Lost
from lectures_lib.homework.grader.sandbox.process import Broken, Sandbox
from lectures_lib.homework.grader.sandbox.template import Limits
from lectures_lib.homework.inside import wire
from lectures_lib.homework.inside.outcomes import Outcome, Raised
from lectures_lib.homework.verdict import Verdict

# so often may the warm process be ended from outside (a machine out of memory) before the
# submission is left for later
PATIENCE = 2
SECOND_TIME = 2.0  # seconds for the definitions of a cell that was cut before
EXPECTED = 4  # a value may take so many times the bytes of the right one, and `line.SLACK`
# what a neighbour or a busy machine might have caused, unless the outcome says that it is sure
DOUBTFUL = ("time", "unreached", "ended", "memory")
NO_ANSWER = ("unfinished", "missing", "uncallable", *DOUBTFUL, "garbled")
_Kept = TypeVar("_Kept")


@dataclass(frozen=True)
class Checked:
    """Where a question was checked, as the submission's process tells it. Nothing but words of
    feedback depends on its truth.

    Attributes:
        cell: the number of the code cell.
        changed: names that the answer uses and that later cells bind anew, with the last such cell.
        same: nothing that it uses has changed since, as far as that can be seen.
    """

    cell: int
    changed: tuple[tuple[str, int], ...] = ()
    same: bool = False


@dataclass
class Execution:
    """One notebook on its way through the sandbox.

    Attributes:
        cells: its code cells.
        limits: what it may use.
        failures: what stopped a cell, by its index: an exception, or why it was cut (a key of
            `verdict.LOST`).
        spent: seconds that it has taken, as far as they count (see `clock.Clock`).
        doubtful: whether something was cut that a neighbour or a busy machine might have caused.
        seen: the number of the cell whose check saw the answer that was judged, by the question's
            name; 0 where the one after the last cell was judged.
        above_a_template: the questions whose answer was judged that stands above the untouched
            template.
        alone: whether nothing else runs beside it, so that a limit can be taken at its word.
    """

    cells: list[str]
    limits: Limits
    failures: dict[int, Raised | str] = field(default_factory=dict)
    spent: float = 0.0
    doubtful: bool = False
    seen: dict[str, int] = field(default_factory=dict)
    above_a_template: set[str] = field(default_factory=set)
    alone: bool = False

    def __post_init__(self):
        self._cut: dict[int, int] = {}  # cells that did not come to their end, and how often
        self._starts = 0
        self._answers: list[str] = []
        self._checked: dict[str, Checked] = {}
        self._cut_at_check: set[str] = set()

    def verdicts(self, keys: list[AnswerKey]) -> dict[str, Verdict]:
        """Run all cells, then put all questions: the verdict on each. No more than one question's
        values are held at a time.

        Raises:
            Broken: if the process around it was ended from outside again and again.
        """
        return self._each(keys, lambda outcomes, verdict: verdict)

    def run(self, keys: list[AnswerKey]) -> dict[str, list[Outcome]]:
        """The same, and what the answers did: the outcomes of each one's cases, up to the first
        that was lost.

        Raises:
            Broken: as above.
        """
        return self._each(keys, lambda outcomes, verdict: outcomes)

    def _each(
        self, keys: list[AnswerKey], kept: Callable[[list[Outcome], Verdict], _Kept]
    ) -> dict[str, _Kept]:
        found: dict[str, _Kept] = {}
        again: set[str] = set()
        broken = 0
        self._answers = [key.question.answer_name for key in keys]
        while len(found) < len(keys) and not self._exhausted():
            self._starts += 1
            with Sandbox(self.limits, [key.question.name for key in keys]) as sandbox:
                try:
                    self._run_cells(sandbox)
                    self._checked = self._where_checked(sandbox)
                    waiting = [key for key in keys if key.question.name not in found]
                    for i, key in enumerate(waiting):
                        name = key.question.name
                        outcomes, verdict, usable = self._judged(sandbox, key)
                        if not usable and i > 0 and name not in again and not verdict.right:
                            # an answer before it may have spoiled the process: it gets one of its
                            # own
                            again.add(name)
                            break
                        found[name] = kept(outcomes, verdict)
                        if not usable:
                            break
                except Lost:
                    continue
                except Broken:
                    broken += 1
                    if broken > PATIENCE:
                        raise
                finally:
                    self.spent += sandbox.spent
        for key in keys:
            if key.question.name not in found:
                self.doubtful = True
                outcomes = [Outcome(lost="unreached")]
                found[key.question.name] = kept(outcomes, key.verdict(outcomes))
        return found

    def _exhausted(self) -> bool:
        return self._starts > self.limits.restarts or self.spent > self.limits.total

    def _left(self, sandbox: Sandbox) -> float:
        return self.limits.total - self.spent - sandbox.spent

    # ---------------------------------------------------------------------------------------- cells

    def _run_cells(self, sandbox: Sandbox) -> None:
        """Run the cells in order. One that does not come back is noted and, from now on, reduced to
        its definitions.

        Raises:
            Lost: if a cell took the process with it.
        """
        for i in range(len(self.cells)):
            if self._cut.get(i, 0) >= 2:
                continue  # not even its definitions came through
            if self._left(sandbox) <= 0:
                self.doubtful = True
                self.failures.setdefault(i, "unreached")
                continue
            outcome = self._run_cell(sandbox, i)
            if outcome.lost and i not in self._cut:  # it was interrupted, the process lives
                self._note(i, outcome)
                outcome = self._run_cell(sandbox, i)
            if outcome.lost:
                self._note(i, outcome)
            elif outcome.raised:
                self.failures.setdefault(i, outcome.raised)

    def _run_cell(self, sandbox: Sandbox, i: int) -> Outcome:
        again = i in self._cut
        head = {
            "do": "cell",
            "cell": i + 1,
            "source": self.cells[i],
            "only_definitions": again,
            "answers": self._answers,
        }
        limit, left = SECOND_TIME if again else self.limits.cell, max(self._left(sandbox), 0.1)
        try:
            return sandbox.ask(head, seconds=min(limit, left), beyond=self._beyond(limit))
        except Lost as lost:
            self._note(i, Outcome(lost=lost.kind, sure=lost.sure))
            raise

    def _note(self, i: int, outcome: Outcome) -> None:
        self._cut[i] = self._cut.get(i, 0) + 1
        self.failures.setdefault(i, outcome.lost)
        self.doubtful = self.doubtful or _in_doubt(outcome)

    def _beyond(self, limit: float) -> float:
        """Seconds of a processor that nobody uses whose work takes less than the limit, on whatever
        machine; 0 where the limit itself is to hold.
        """
        return 0.0 if self.alone else STRETCH * limit

    def _where_checked(self, sandbox: Sandbox) -> dict[str, Checked]:
        """The questions with a copy that waits at their check.

        Raises:
            Lost: if the process does not answer any more.
        """
        told = sandbox.ask({"do": "checked"}, most=FRAME + SLACK).value
        found = {}
        for each in told if isinstance(told, list) else []:
            match each:
                case [str(name), int(cell), list(changed), bool(same)] if (
                    0 < cell <= len(self.cells)
                ):
                    found[name] = Checked(cell, tuple(self._believable(changed)), same)
        return found

    def _believable(self, changed: list) -> list[tuple[str, int]]:
        """Names and cells, as far as they can be that."""
        pairs = [each for each in changed[:100] if isinstance(each, list) and len(each) == 2]
        return [
            (name, cell)
            for name, cell in pairs
            if type(name) is str
            and type(cell) is int
            and re.fullmatch(r"\w{1,60}", name, re.ASCII)
            and 0 < cell <= len(self.cells)
        ]

    # ------------------------------------------------------------------------------------ questions

    def _judged(self, sandbox: Sandbox, key: AnswerKey) -> tuple[list[Outcome], Verdict, bool]:
        """Put one question in each of the states it can be put in, until it is right: the best
        outcomes, the verdict on them, and whether the process that has run all cells can be asked
        more.
        """
        name, checked = key.question.name, self._checked.get(key.question.name)
        at_check = None
        if checked and name not in self._cut_at_check:
            outcomes, alive = self._put(sandbox, key, copy=True)
            at_check = outcomes, key.verdict(outcomes)
            if not alive:
                # should the process have to start anew, it is not tried a second time
                self._cut_at_check.add(name)
            settled = at_check[1].right and not checked.changed
            if settled or (
                checked.same and at_check[1].kind not in ("right", "unfinished", "ended", "garbled")
            ):
                self.seen[name] = checked.cell
                return *self._noted(at_check), True
        outcomes, usable = self._put(sandbox, key)
        at_end = outcomes, key.verdict(outcomes)
        if at_check and at_check[1].right:
            self.seen[name] = checked.cell
            word = "" if at_end[1].right else _later(checked, key.question.answer_name, self.cells)
            return at_check[0], _with(at_check[1], word), usable
        if at_end[1].right:
            self.seen[name] = 0
            return at_end[0], _with(at_end[1], AT_END if at_check else ""), usable
        best = (
            at_check
            if at_check and (at_check[1].kind not in NO_ANSWER or at_end[1].kind in NO_ANSWER)
            else at_end
        )
        for other in filter(None, (at_check, at_end)):
            best = other if other[1].holding > best[1].holding else best
        if at_end[1].kind == "unfinished" and usable:
            outcomes, usable = self._put(sandbox, key, earlier=True)
            verdict = key.verdict(outcomes)
            if verdict.right or verdict.holding > best[1].holding:
                self.above_a_template.add(name)
                return outcomes, _above_a_template(verdict), usable
        self.seen[name] = checked.cell if best is at_check else 0
        return *self._noted(best, at_check, at_end), usable

    def _noted(
        self, best: tuple[list[Outcome], Verdict], *others: tuple[list[Outcome], Verdict] | None
    ) -> tuple[list[Outcome], Verdict]:
        """The same; that a state could not be asked to the end is kept in `doubtful`."""
        if any(each and each[0] and _in_doubt(each[0][-1]) for each in (best, *others)):
            self.doubtful = True
        return best

    def _put(
        self, sandbox: Sandbox, key: AnswerKey, copy: bool = False, earlier: bool = False
    ) -> tuple[list[Outcome], bool]:
        """Put one question in one state: its outcomes, and whether the process is still there for
        the next.
        """
        if self._left(sandbox) <= 0:
            return [Outcome(lost="unreached")], True
        outcomes: list[Outcome] = []
        before, seconds = sandbox.spent, min(key.question.seconds, self._left(sandbox))
        head = {"do": "call", "answer": key.question.answer_name, "earlier": earlier}
        for case, right in zip(key.cases, key.right, strict=True):
            left = max(seconds - (sandbox.spent - before), 0.1)
            try:
                outcomes.append(
                    sandbox.ask(
                        head,
                        case.request(),
                        left,
                        _most(right),
                        copy=key.question.name if copy else "",
                        beyond=self._beyond(key.question.seconds),
                    )
                )
            except Lost as lost:
                return [*outcomes, Outcome(lost=lost.kind, sure=lost.sure)], False
            if outcomes[-1].lost:
                break
        return outcomes, True


AT_END = "Right after the last cell, and that counts. Where your check ran, it was not."
EARLIER = (
    "Your answer is right, and that counts. But the untouched template stands below it and takes "
    "its name: delete the template."
)
PARTLY_EARLIER = (
    "This is about your answer above the untouched template, which takes its name: delete the "
    "template."
)


def _in_doubt(outcome: Outcome) -> bool:
    """Whether a neighbour or a busy machine might have caused what was lost."""
    return outcome.lost in DOUBTFUL and not outcome.sure


def _above_a_template(verdict: Verdict) -> Verdict:
    """The verdict on an answer that is right, or partly, and that the template follows."""
    if verdict.right:
        return _with(verdict, EARLIER)
    return replace(verdict, message=f"{verdict.message} {PARTLY_EARLIER}")


def _with(verdict: Verdict, word: str) -> Verdict:
    """A right answer's verdict with a word to it, before a remark that it may have."""
    return replace(verdict, message=f"{word} {verdict.message}".strip())


def _later(checked: Checked, answer: str, cells: list[str]) -> str:
    """What to tell where an answer is right at its check and no longer after the last cell."""
    told = [
        f"cell {cell} deletes `{name}`{', which it uses' * (name != answer)}"
        if re.search(rf"^[ \t]*del\b[^\n]*\b{name}\b", cells[cell - 1], re.MULTILINE)
        else f"cell {cell} defines `{name}` anew"
        if name == answer
        else f"cell {cell} redefines `{name}`, which it uses"
        for name, cell in checked.changed[:3]
    ]
    return (
        f"Right where your check ran (cell {checked.cell}), and that counts. After the last cell "
        f"it no longer is: {'; '.join(told)}."
    )


def _most(right: Outcome) -> int:
    """Bytes that the reply may have where this is the right one."""
    try:
        return EXPECTED * len(wire.pack({}, right.value)) + SLACK
    except wire.Garbled:
        return wire.MAX_JSON + wire.MAX_BLOB
