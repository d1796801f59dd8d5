"""A submission's code, run in the sandbox: every cell, then every question. What breaks costs itself, not the rest."""

import time
from dataclasses import dataclass, field

from lectures_lib.homework.diagnosis import AnswerKey
from lectures_lib.homework.inside.calls import Outcome, Raised
from lectures_lib.homework.questions import Case
from lectures_lib.homework.sandbox.process import Broken, Lost, Sandbox
from lectures_lib.homework.sandbox.template import Limits

PATIENCE = 2  # so often may the warm process be ended from outside (a machine out of memory) before the submission is left for later
SECOND_TIME = 2.0  # seconds for the definitions of a cell that was cut before


@dataclass
class Execution:
    """One notebook on its way through the sandbox.

    Attributes:
        cells: its code cells.
        limits: what it may use.
        failures: what stopped a cell, by its index: an exception, or why it was cut (a key of `diagnosis.LOST`).
    """

    cells: list[str]
    limits: Limits
    failures: dict[int, Raised | str] = field(default_factory=dict)

    def __post_init__(self):
        self._end = time.monotonic() + self.limits.total
        self._cut: dict[int, int] = {}  # cells that did not come to their end, and how often
        self._starts = 0

    def run(self, keys: list[AnswerKey]) -> dict[str, list[Outcome]]:
        """Run all cells, then put all questions: the outcomes of each one's cases, up to the first that was lost.

        Raises:
            Broken: if the process around it was ended from outside again and again.
        """
        outcomes: dict[str, list[Outcome]] = {}
        again: set[str] = set()
        broken = 0
        while len(outcomes) < len(keys) and not self._exhausted():
            self._starts += 1
            with Sandbox(self.limits) as sandbox:
                try:
                    self._run_cells(sandbox)
                    waiting = [key for key in keys if key.question.name not in outcomes]
                    for i, key in enumerate(waiting):
                        name = key.question.name
                        found, usable = self._put(sandbox, key)
                        if not usable and i > 0 and name not in again:
                            again.add(name)  # an answer before it may have spoiled the process: it gets one of its own
                            break
                        outcomes[name] = found
                        if not usable:
                            break
                except Lost:
                    continue
                except Broken:
                    broken += 1
                    if broken > PATIENCE:
                        raise
        return {key.question.name: outcomes.get(key.question.name, [Outcome(lost="unreached")]) for key in keys}

    def _exhausted(self) -> bool:
        return self._starts > self.limits.restarts or time.monotonic() > self._end

    def _run_cells(self, sandbox: Sandbox) -> None:
        """Run the cells in order. One that does not come back is noted and, from now on, reduced to its definitions.

        Raises:
            Lost: if a cell took the process with it.
        """
        for i in range(len(self.cells)):
            if self._cut.get(i, 0) >= 2:
                continue  # not even its definitions came through
            if time.monotonic() > self._end:
                self.failures.setdefault(i, "unreached")
                continue
            outcome = self._run_cell(sandbox, i)
            if outcome.lost and i not in self._cut:  # it was interrupted, the process lives
                self._note(i, outcome.lost)
                outcome = self._run_cell(sandbox, i)
            if outcome.lost:
                self._note(i, outcome.lost)
            elif outcome.raised:
                self.failures.setdefault(i, outcome.raised)

    def _run_cell(self, sandbox: Sandbox, i: int) -> Outcome:
        again = i in self._cut
        head = {"do": "cell", "cell": i + 1, "source": self.cells[i], "only_definitions": again}
        left = max(self._end - time.monotonic(), 0.1)
        try:
            return sandbox.ask(head, seconds=min(SECOND_TIME if again else self.limits.cell, left))
        except Lost as lost:
            self._note(i, lost.kind)
            raise

    def _note(self, i: int, kind: str) -> None:
        self._cut[i] = self._cut.get(i, 0) + 1
        self.failures.setdefault(i, kind)

    def _put(self, sandbox: Sandbox, key: AnswerKey) -> tuple[list[Outcome], bool]:
        """Put one question: its outcomes, and whether the process is still there for the next."""
        if time.monotonic() > self._end:
            return [Outcome(lost="unreached")], True
        outcomes: list[Outcome] = []
        end = min(time.monotonic() + key.question.seconds, self._end)
        for case in key.cases:
            head, left = {"do": "call", "answer": key.question.answer_name}, max(end - time.monotonic(), 0.1)
            try:
                outcomes.append(sandbox.ask(head, _inputs(case), left))
            except Lost as lost:
                return [*outcomes, Outcome(lost=lost.kind)], False
            if outcomes[-1].lost:
                break
        return outcomes, True


def _inputs(case: Case) -> dict:
    return {"args": case.args, "kwargs": case.kwargs, "init": case.init, "state": case.state}
