"""A limit's clock: what a process and its own have used, not what a busy machine took from them.

A second of a processor is not the same everywhere: it holds less work where something runs on the
other half of the core (simultaneous multithreading), where the caches are a neighbour's, or where a
hypervisor takes time away without saying so. None of this can be seen from here. So whoever passes
a limit is in doubt until so much has been used that no such second can explain it.
"""

import os
import time

from lectures_lib.homework.grader.sandbox import proc_stat

OUTER = 20.0  # so many times longer than a limit may take on the clock, on a machine however busy,
OUTER_SECONDS = 60.0  # and this
POLL = 0.2  # seconds between looks at a process
# A second may hold so many times less work than one on a quiet machine: two that share a core have
# half of it each, at least.
STRETCH = 2.0
WAITED = 1.25  # who only computes, on a machine that is not crowded, takes so much more on the wall
TICK = 0.1  # seconds that both may be off by


class Clock:
    """A clock for one process: the time in which it, and all that it has started, uses a processor,
    and that in which they all sleep.

    Time in which they could run and the machine serves others does not count: a neighbour cannot
    use up somebody's limit.

    Args:
        pid: the process, as the grader counts.

    Attributes:
        seconds: that count, up to the last look.
    """

    def __init__(self, pid: int):
        self._pid, self._began = pid, time.monotonic()
        self._looked, self._first, self._used = self._began, -1.0, -1.0
        self._asleep = 0.0
        self._since = self._began  # the first look
        self.seconds = 0.0

    def elapsed(self) -> float:
        """Seconds on the wall."""
        return time.monotonic() - self._began

    def look(self) -> None:
        """See what has been used since the last look, if that is a while ago: it takes a look at
        all processes.
        """
        now = time.monotonic()
        if now - self._looked < POLL / 2:
            return
        used, running = _activity(self._pid)
        if self._first < 0:
            self._first = self._used = used
            self._since = now
        if used <= self._used and not running:
            # more, and it was the grader that got no processor
            self._asleep += min(now - self._looked, 2 * POLL)
        self._looked, self._used = now, max(used, self._used)
        self.seconds = self._used - self._first + self._asleep

    def over(self, limit: float) -> bool:
        """Whether a limit has been passed, or the outer bound on the wall clock."""
        return self.seconds > limit or self.elapsed() > OUTER * limit + OUTER_SECONDS

    @property
    def used(self) -> float:
        """Seconds of a processor alone."""
        return self._used - self._first

    @property
    def computes(self) -> bool:
        """Whether it has done nothing else up to the last look: hardly slept, hardly waited."""
        return self._looked - self._since <= WAITED * self.used + TICK


def _activity(pid: int) -> tuple[float, bool]:
    """Seconds of a processor that a process and all that it has started have used, and whether any
    of them runs or could run.
    """
    found = proc_stat.tree(pid).values()
    ticks = sum(sum(map(int, fields[proc_stat.TIMES])) for fields in found)
    running = any(fields[proc_stat.STATE] in ("R", "D") for fields in found)
    return ticks / os.sysconf("SC_CLK_TCK"), running
