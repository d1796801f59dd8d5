"""One call at the top of every notebook, so that its numbers come out the same on your machine as
on the page.
"""

import os
import random

# Threads that wait for each other should sleep, not spin: on a busy machine spinning costs ten
# times the work itself. OpenMP reads this once, when torch is loaded, so it stands before the
# import (and helps only where this library is imported first).
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numpy
import torch


def setup(seed: int = 0, threads: int = 2) -> torch.device:
    """Seed every generator, pin the CPU threads and style the plots. It says which GPU there is,
    and on a CPU nothing.

    Args:
        seed: for Python's, NumPy's and torch's generators. The same seed gives the same numbers on
            the same kind of machine.
        threads: CPU threads for torch. Sums taken in another order round differently, so their
            number is part of a result.

    Returns:
        The device to put large models on: the first GPU where there is one, else the CPU.

    Raises:
        ValueError: for fewer than one thread.
    """
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
