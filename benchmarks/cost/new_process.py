"""Measurements that need a process of their own: of memory, and of several processes."""

import os
import subprocess

from turns import DEVICE


def job(launcher: list[str], file: str, *arguments: str) -> float:
    """Run one of these files in processes of its own; the last number that it prints."""
    # Large tensors get pages of their own, which go back to the system at once: else its view of
    # our memory is that of the allocator.
    environment = os.environ | {"OMP_NUM_THREADS": "2", "MALLOC_MMAP_THRESHOLD_": "65536"}
    environment |= {"ACCELERATE_USE_CPU": "true"} if DEVICE == "cpu" else {}
    done = subprocess.run(
        [*launcher, file, *arguments], capture_output=True, text=True, env=environment
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join([file, *arguments])} failed:\n{done.stderr[-2000:]}")
    return float(done.stdout.split()[-1])
