"""The memory that a process and all that it has started hold together."""

import os
from pathlib import Path

from lectures_lib.homework.grader.sandbox import kernel_memory, processes


def held(pid: int, most: int) -> int:
    """Bytes that a process and all that it has started hold together, and the kernel for them. What
    they share is counted in parts only where it would be `most` or more without.
    """
    page = os.sysconf("SC_PAGESIZE")
    resident = {
        each: int(fields[processes.PAGES]) * page for each, fields in processes.tree(pid).items()
    }
    kernel_s, total = kernel_memory.held(pid), sum(resident.values())
    if total + kernel_s >= most:
        total = sum(_own_share(each, bytes_) for each, bytes_ in resident.items())
    return total + kernel_s


def _own_share(pid: int, resident: int) -> int:
    """A process's memory, with what it shares with others counted in parts. It costs more to find
    out than the plain number.
    """
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except PermissionError:
        return resident
    except OSError:  # it has just ended
        return 0
    return sum(
        int(line.split()[1]) << 10 for line in rollup.splitlines() if line.startswith("Pss:")
    )
