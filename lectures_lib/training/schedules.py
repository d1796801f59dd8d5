"""Learning rates over the steps: the Transformer's and BERT's (chapters 8 and 13)."""

from collections.abc import Callable
from numbers import Real

from lectures_lib.checks.door import at_the_door
from lectures_lib.checks.sizes import check_numbers


def transformer_schedule(d_model: int, warmup: int = 4000) -> Callable[[int], float]:
    """d_model^-0.5 · min(step^-0.5, step · warmup^-1.5), the learning rate of Vaswani et al. 2017,
    section 5.3.

    It rises in a straight line for `warmup` steps, then falls with the root of the step. For
    `LambdaLR`, which multiplies the optimizer's own rate by it: give the optimizer `lr=1`. LambdaLR
    counts from 0, the formula from 1.
    """
    check_numbers(d_model=d_model, warmup=warmup)

    def rate(steps_before: int) -> float:
        step = steps_before + 1
        return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)

    return rate


def _check_warm_up(warmup: int, total: int) -> None:
    numbers = isinstance(warmup, Real) and isinstance(total, Real)
    if not (numbers and 0 <= warmup < total):
        raise ValueError(
            f"the warm-up must end before the last step, got warmup = {warmup!r} and total = "
            f"{total!r}"
        )


@at_the_door(_check_warm_up)
def bert_schedule(warmup: int, total: int) -> Callable[[int], float]:
    """From 0 up to 1 in `warmup` steps, then down to 0 at step `total`, both in straight lines
    (Devlin et al. 2019, appendix A.2).

    For `LambdaLR`, which multiplies the optimizer's own rate (BERT's: 1e-4) by it. BERT's own code
    lets the decay begin at step 0, so that the rate jumps down a little when the warm-up ends; this
    is the schedule as the paper words it.

    Raises:
        ValueError: for no step after the warm-up.
    """

    def rate(steps_before: int) -> float:
        if steps_before < warmup:
            return steps_before / warmup
        return max(0.0, (total - steps_before) / (total - warmup))

    return rate
