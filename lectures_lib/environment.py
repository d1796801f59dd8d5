"""One call at the top of every notebook, so that its numbers come out the same on your machine as
on the page.
"""

import os
import random

# Threads that wait for each other should spin for a few microseconds and then sleep. To spin on
# costs ten times the work itself on a busy machine; to sleep at once costs twice the work on a
# quiet virtual one, where waking takes long and a small model's operations are short. OpenMP reads
# this once, when torch is loaded, so it stands before the import (and helps only where this library
# is imported first).
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ["OMP_WAIT_POLICY"] = "PASSIVE"
    os.environ.setdefault("GOMP_SPINCOUNT", "4000")

import numpy
import torch


def setup(seed: int = 0, threads: int | None = None) -> torch.device:
    """Seed every generator, pin the CPU threads and style the plots. It says which GPU there is,
    and on a CPU nothing.

    Args:
        seed: for Python's, NumPy's and torch's generators. The same seed gives the same numbers on
            the same kind of machine.
        threads: CPU threads for torch; without, 2, or 1 where OMP_NUM_THREADS is 1. Sums taken in
            another order round differently, so their number is part of a result.

    Returns:
        The device to put large models on: the first GPU where there is one, else the CPU.

    Raises:
        ValueError: for fewer than one thread.
    """
    if threads is None:
        threads = 1 if os.environ.get("OMP_NUM_THREADS") == "1" else 2
    if threads < 1:
        raise ValueError(f"threads must be at least 1, got {threads}")
    # not at the top: this module is what `import lectures_lib` loads first
    from lectures_lib.show import plots

    random.seed(seed)
    numpy.random.seed(seed)
    torch.manual_seed(seed)
    torch.set_num_threads(threads)
    plots.style()
    if not torch.cuda.is_available():
        return torch.device("cpu")
    print(torch.cuda.get_device_name())
    return torch.device("cuda")
