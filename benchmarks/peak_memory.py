"""How much memory a process and everything it started held together. Used by the benchmarks of the
grader.
"""

import threading
import time
from pathlib import Path

import psutil


class Peak(threading.Thread):
    """The most memory that a process and all below it held together, in MB, until it ended."""

    def __init__(self, pid: int):
        super().__init__(daemon=True)
        self.megabytes = 0.0
        self._root = psutil.Process(pid)
        self.start()

    def run(self) -> None:
        """Look twice a second."""
        while self._root.is_running() and self._root.status() != psutil.STATUS_ZOMBIE:
            held = 0
            try:
                for process in [self._root, *self._root.children(recursive=True)]:
                    held += pss(process.pid)
            except psutil.Error:
                continue
            self.megabytes = max(self.megabytes, held / 1e6)
            time.sleep(0.5)


def pss(pid: int) -> int:
    """A process's memory, with what it shares counted in parts; 0 if it has just ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))
