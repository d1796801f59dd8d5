"""What a sandbox's sockets and files take of the kernel's own memory, which no process's memory
shows: an estimate from above.

A control group would count it exactly, but an ordinary user mostly has none to divide. So each
thing is charged what it can take at most.
"""

import contextlib
import functools
import os
from pathlib import Path

FILE_BYTES = 1400  # an inode of a folder in memory, and its name
SOCKET_BYTES = 4096  # besides what waits in it
_NETWORK = Path("/proc/sys/net")


def held(pid: int) -> int:
    """Bytes for the sockets and files of the sandbox whose first process has this number; 0 once it
    is gone.
    """
    total = 0
    with contextlib.suppress(OSError, ValueError, LookupError):
        sockets = _sockets(Path(f"/proc/{pid}/net/sockstat").read_text())
        waiting, tcp = _buffers()
        total += sockets["sockets"] * (SOCKET_BYTES + waiting) + sockets["TCP"] * tcp
    with contextlib.suppress(OSError):
        for folder in ("tmp", "dev/shm"):
            there = os.statvfs(f"/proc/{pid}/root/{folder}")
            total += (there.f_files - there.f_ffree) * FILE_BYTES
    return total


def _sockets(text: str) -> dict[str, int]:
    """How many sockets there are in a network, in all and of TCP, from its sockstat: "sockets: used
    5", "TCP: inuse 2 …".
    """
    lines = {line.split()[0].rstrip(":"): int(line.split()[2]) for line in text.splitlines()}
    return {name: lines[name] for name in ("sockets", "TCP")}


@functools.cache
def _buffers() -> tuple[int, int]:
    """Bytes that may wait in a socket whose buffers nobody has changed, and besides in one of TCP,
    whose buffers grow.
    """
    sending, receiving = (
        int((_NETWORK / "core" / name).read_text()) for name in ("wmem_default", "rmem_default")
    )
    grown = sum(
        int((_NETWORK / "ipv4" / name).read_text().split()[2]) for name in ("tcp_wmem", "tcp_rmem")
    )
    return max(sending, receiving), grown
