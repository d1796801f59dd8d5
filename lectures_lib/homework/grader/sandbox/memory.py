"""The memory that a process and all that it has started hold together."""

import os
from collections.abc import Callable
from pathlib import Path

from lectures_lib.homework.grader.sandbox import kernel_memory, proc_stat


def rollup(pid: int) -> str:
    """What the kernel says of a process's memory, added up."""
    return Path(f"/proc/{pid}/smaps_rollup").read_text()


def held(pid: int, most: int, rollup: Callable[[int], str] = rollup, kernel: bool = True) -> int:
    """Bytes that a process and all that it has started hold together, and the kernel for them. What
    they share is counted in parts only where it would be `most` or more without.

    Args:
        pid: the process.
        most: bytes.
        rollup: reads a process's memory, added up.
        kernel: whether the kernel's is counted, which takes a network and a /tmp of its own.
    """
    page = os.sysconf("SC_PAGESIZE")
    resident = {
        each: int(fields[proc_stat.PAGES]) * page for each, fields in proc_stat.tree(pid).items()
    }
    kernel_s, total = kernel_memory.held(pid) if kernel else 0, sum(resident.values())
    if total + kernel_s >= most:
        total = sum(_own_share(each, bytes_, rollup) for each, bytes_ in resident.items())
    return total + kernel_s


def _own_share(pid: int, resident: int, rollup: Callable[[int], str]) -> int:
    """A process's memory, with what it shares with others counted in parts. It costs more to find
    out than the plain number.
    """
    try:
        text = rollup(pid)
    except PermissionError:
        return resident
    except OSError:  # it has just ended
        return 0
    return sum(int(line.split()[1]) << 10 for line in text.splitlines() if line.startswith("Pss:"))
