"""Large batches against small ones."""

from typing import Any

from turns import classifier, compared, steps

BATCH_SIZES = (1, 4, 16, 64)


def batch_sizes(rounds: int) -> dict[str, Any]:
    """Tokens a second of a training step for several batch sizes over those of the smallest."""
    model, head, optimizer = classifier()
    turns = {str(size): steps(model, head, optimizer, size) for size in BATCH_SIZES}
    return {"over_1": compared(turns, rounds, "1")}
