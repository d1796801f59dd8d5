"""torch.compile against the model as it is, and how many steps' time compiling takes."""

import os
import tempfile
import time
from typing import Any

import torch
from turns import BATCH, N, classifier, compared, finish, reading, steps, tokens_per_second


def compiling(rounds: int) -> dict[str, Any]:
    """torch.compile against the model as it is, and how many steps' time compiling took."""
    # what an earlier run has compiled must not be found again
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = tempfile.mkdtemp()
    model, head, optimizer = classifier()
    compiled = torch.compile(model)
    first = [time.perf_counter()]
    for turn in (steps(compiled, head, optimizer), reading(compiled)):
        turn.run()
        finish()
        first.append(time.perf_counter())
    eager = steps(model, head, optimizer)
    eager.run()
    one_step = BATCH * N / tokens_per_second(eager)
    return {
        "training_step": compared(
            {"eager": eager, "compiled": steps(compiled, head, optimizer)}, rounds, "eager"
        )["compiled"],
        "inference": compared(
            {"eager": reading(model), "compiled": reading(compiled)}, rounds, "eager"
        )["compiled"],
        "steps_to_compile": (first[1] - first[0]) / one_step,
    }
