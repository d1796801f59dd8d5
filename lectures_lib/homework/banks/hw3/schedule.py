"""Question 3: the learning rate of the Transformer's paper."""

from functools import partial

from torch import Generator

from lectures_lib.homework.banks.inputs import pick, whole
from lectures_lib.homework.questions import Case, Misconception, Question, Varied


def _schedule_cases(g: Generator) -> list[Case]:
    widths = pick(g, (128, 256, 384, 768, 1024), 2)
    warmups = [100 * whole(g, 5, 30), 100 * whole(g, 31, 60)]
    d_model, warmup = widths[0], warmups[0]
    moments = {
        "the very first step": 0,
        "early in the warm-up": whole(g, 5, 50),
        "late in the warm-up": warmup - whole(g, 100, 300),
        "shortly after it": warmup + whole(g, 100, 300),
        "long after it": warmup * whole(g, 4, 20) + whole(g, 0, 99),
    }
    others = [
        (whole(g, 400, 480), widths[1], warmups[1]),
        (warmups[1] + whole(g, 100, 300), widths[1], warmups[1]),
    ]
    short = whole(g, 5, 20)
    # Right after the peak of a short warm-up, at it, and so long after it that only the falling
    # term counts, whatever scales the other.
    others += [(short, d_model, short), (short - 1, widths[1], short), (40 * short, d_model, short)]
    others += [
        (warmup - 1, widths[1], warmup),
        (warmup * 3, widths[1], warmup),
        (warmups[1] * 2 + 1, d_model, warmups[1]),
    ]
    return [
        *(
            Case(args, shows=f"{args[0]} steps before, d_model = {args[1]}, warmup = {args[2]}")
            for args in others
        ),
    ] + [
        Case(
            (steps_before, d_model, warmup),
            shows=f"{what}: {steps_before} steps before, d_model = {d_model}, warmup = {warmup}",
        )
        for what, steps_before in moments.items()
    ]


def learning_rate(steps_before: int, d_model: int, warmup: int, *, factor: float = 1.0) -> float:
    """factor · d_model^-0.5 · min(step^-0.5, step · warmup^-1.5), with step = steps_before + 1."""
    return _rate(steps_before, d_model, warmup, factor=factor)


def _rate(
    steps_before: int,
    d_model: int,
    warmup: int,
    choose=min,
    first: int = 1,
    at_least: int = 0,
    width: float = -0.5,
    down: float = -0.5,
    up: float = -1.5,
    *,
    factor: float = 1.0,
) -> float:
    step = max(steps_before + first, at_least)
    return factor * d_model**width * choose(step**down, step * warmup**up)


def _zero_at_first(steps_before: int, d_model: int, warmup: int, *, factor: float = 1.0) -> float:
    """`steps_before` as the step, in two branches, so that nothing is divided by zero."""
    rate = partial(_rate, first=0, factor=factor)
    return rate(steps_before, d_model, warmup) if steps_before else 0.0


def _constant_after(steps_before: int, d_model: int, warmup: int, *, factor: float = 1.0) -> float:
    return _rate(min(steps_before, warmup - 1), d_model, warmup, factor=factor)


def _linear_down(steps_before: int, d_model: int, warmup: int, *, factor: float = 1.0) -> float:
    step = steps_before + 1
    return factor * d_model**-0.5 * warmup**-0.5 * min(step / warmup, warmup / step)


def _no_warmup(steps_before: int, d_model: int, warmup: int, *, factor: float = 1.0) -> float:
    return factor * d_model**-0.5 * (steps_before + 1) ** -0.5


def _one_step_too_long(
    steps_before: int, d_model: int, warmup: int, *, factor: float = 1.0
) -> float:
    """The branch asks how many steps were made before, not which one this is."""
    step = steps_before + 1
    return factor * d_model**-0.5 * (step * warmup**-1.5 if steps_before <= warmup else step**-0.5)


def _one_term(
    steps_before: int, d_model: int, warmup: int, of: str = "falling", *, factor: float = 1.0
) -> float:
    step = steps_before + 1
    falling, rising = step**-0.5, step * warmup**-1.5
    return factor * (
        min(falling * d_model**-0.5, rising)
        if of == "falling"
        else min(falling, rising * d_model**-0.5)
    )


def _restarted_from_the_peak(
    steps_before: int, d_model: int, warmup: int, first: int = 0, *, factor: float = 1.0
) -> float:
    step = steps_before + 1
    since = step - warmup + first
    return (
        factor
        * d_model**-0.5
        * (step * warmup**-1.5 if step <= warmup else warmup**-0.5 * since**-0.5)
    )


def _restarted(steps_before: int, d_model: int, warmup: int, *, factor: float = 1.0) -> float:
    """The decay counts its steps from the end of the warm-up."""
    step = steps_before + 1
    return (
        factor
        * d_model**-0.5
        * (step * warmup**-1.5 if step <= warmup else (step - warmup) ** -0.5)
    )


_COUNTED_FROM_0 = (
    "You put `steps_before` itself into the formula, as its step. The formula counts steps from 1: "
    "before the first step, no step has been made, and step is 0 + 1. (With 0, 0^-0.5 is a "
    "division by zero, and a first step with rate 0 changes nothing.)"
)

_ONE_TERM = (
    "d_model^-0.5 scales only one of your two terms, a matter of brackets. It stands before the "
    "minimum and scales both of them."
)
_RESTARTED = (
    "You count the steps of the decay from the end of the warm-up. Both terms use the same step, "
    "counted from the very first one, and they meet at step = warmup without a jump."
)


def _wording(factor: float) -> dict[str, str]:
    """The formula with its factor, and the three rates that are worked out."""
    first = learning_rate(0, 512, 4000, factor=factor)
    peak = learning_rate(3999, 512, 4000, factor=factor)
    return {
        r"\text{rate} = d_{model}": rf"\text{{rate}} = {factor:g} \cdot d_{{model}}",
        "falls with the root of the step:": f"falls with the root of the step. Here it is the "
        f"paper's times {factor:g}:",
        "has the rate 0.000000175": f"has the rate {first:.9f}",
        "The peak, 0.000699,": f"The peak, {peak:.6f},",
    }


def _rounded(
    steps_before: int, d_model: int, warmup: int, places: int = 6, *, factor: float = 1.0
) -> float:
    return round(_rate(steps_before, d_model, warmup, factor=factor), places)


def _one_term_from_0(
    steps_before: int, d_model: int, warmup: int, which: str = "up", *, factor: float = 1.0
) -> float:
    """Only one of the two terms counts from 1; the other begins at 0, if it can."""
    step = steps_before + 1
    up, down = (steps_before, step) if which == "up" else (step, max(steps_before, 1))
    return factor * d_model**-0.5 * min(down**-0.5, up * warmup**-1.5)


def _relative(steps_before: int, d_model: int, warmup: int, *, factor: float = 1.0) -> float:
    step = steps_before + 1
    return factor * min(step / warmup, (warmup / step) ** 0.5)


def _product_to_the_power(
    steps_before: int, d_model: int, warmup: int, *, factor: float = 1.0
) -> float:
    step = steps_before + 1
    return factor * d_model**-0.5 * min(step**-0.5, (step * warmup) ** -1.5)


_TOO_FAST = (
    "Your rate falls with 1/step after the warm-up, and thus too fast: four times the steps, half "
    "the rate. The exponent is -0.5."
)
_ONE_TERM_FROM_0 = (
    "One of the two terms counts steps from 1, the other from 0. In both of them step is "
    "steps_before + 1."
)

SCHEDULE = Question(
    name="hw3.learning_rate",
    title="Warming up",
    points=1,
    minutes=10,
    difficulty=1,
    chapter="08_training#warm-up",
    cases=_schedule_cases,
    reference=learning_rate,
    misconceptions=(
        Misconception(
            "maximum",
            "You take the larger of the two, which starts very high and grows without end. The two "
            "curves cross when the warm-up ends; the *smaller* one rises before and falls "
            "afterwards.",
            partial(_rate, choose=max),
        ),
        Misconception("counted_from_0", _COUNTED_FROM_0, partial(_rate, first=0)),
        Misconception("counted_from_0", _COUNTED_FROM_0, partial(_rate, first=0, at_least=1)),
        Misconception("counted_from_0", _COUNTED_FROM_0, _zero_at_first),
        Misconception(
            "counted_from_2",
            "Your step is one too large: after `steps_before` steps comes step number steps_before "
            "+ 1.",
            partial(_rate, first=2),
        ),
        Misconception(
            "d_model_forgotten",
            "The factor d_model^-0.5 is missing: wider models get smaller steps.",
            partial(_rate, width=0.0),
        ),
        Misconception(
            "multiplied_by_root_d_model",
            "You multiply by √d_model; the exponent in the formula is -0.5: divide by the root. "
            "Wider models get smaller steps.",
            partial(_rate, width=0.5),
        ),
        Misconception(
            "divided_by_d_model",
            "You divide by d_model, not by its square root.",
            partial(_rate, width=-1.0),
        ),
        Misconception(
            "never_falls",
            "Right during the warm-up, but then your rate goes on rising in the same straight "
            "line: from step = warmup on, step^-0.5 should be the smaller of the two. (With the "
            "exponent +0.5 it never is: the minus means one over the root.)",
            partial(_rate, down=0.5),
        ),
        Misconception(
            "warmup_to_minus_a_half",
            "You multiply the step by warmup^-0.5. Then the two curves cross much too early; with "
            "warmup^-1.5 they cross at step = warmup, where both are warmup^-0.5.",
            partial(_rate, up=-0.5),
        ),
        Misconception(
            "never_decays",
            "Right during the warm-up; afterwards your rate stays at its peak. From there on it "
            "falls with the root of the step: step^-0.5.",
            _constant_after,
        ),
        Misconception(
            "no_warmup",
            "Right after the warm-up, but you start with the highest rate of all, just when Adam "
            "knows least about the gradients. During the first steps the smaller term is step · "
            "warmup^-1.5.",
            _no_warmup,
        ),
        Misconception(
            "falls_with_the_step",
            _TOO_FAST,
            _linear_down,
        ),
        Misconception("decay_counted_from_the_warmup", _RESTARTED, _restarted),
        Misconception("decay_counted_from_the_warmup", _RESTARTED, _restarted_from_the_peak),
        Misconception(
            "decay_counted_from_the_warmup",
            _RESTARTED,
            partial(_restarted_from_the_peak, first=1),
        ),
        Misconception(
            "warmup_always_4000",
            "You put the paper's 4000 steps into the formula. The length of the warm-up is an "
            "argument: warmup ** -1.5.",
            lambda steps_before, d_model, warmup, *, factor=1.0: learning_rate(
                steps_before, d_model, 4000, factor=factor
            ),
        ),
        Misconception(
            "warmed_up_one_step_too_long",
            "Your warm-up is one step too long: you ask whether steps_before is at most warmup, "
            "but the step is steps_before + 1. Compare the step itself; or take the smaller of "
            "both terms, which needs no branch.",
            _one_step_too_long,
        ),
        Misconception("falls_with_the_step", _TOO_FAST, partial(_rate, down=-1.0)),
        Misconception(
            "warmup_to_minus_1",
            "You divide the step by warmup. With warmup^-1.5, as in the formula, the two curves "
            "cross at step = warmup, where both are warmup^-0.5.",
            partial(_rate, up=-1.0),
        ),
        Misconception(
            "product_to_minus_1_5",
            "You raise the product step · warmup to the power -1.5. Only warmup has this exponent: "
            "step * warmup ** -1.5, without brackets.",
            _product_to_the_power,
        ),
        Misconception(
            "both_added",
            "You add the two terms. The smaller of them is the rate: min(…, …).",
            partial(_rate, choose=lambda falling, rising: falling + rising),
        ),
        Misconception("d_model_for_one_term_only", _ONE_TERM, _one_term),
        Misconception("d_model_for_one_term_only", _ONE_TERM, partial(_one_term, of="rising")),
        *(
            Misconception(
                "rounded",
                "Your rate is right but rounded. Rates are small numbers, often below 0.0001, of "
                "which rounding leaves little: return it as it is.",
                partial(_rounded, places=places),
            )
            for places in (3, 4, 5, 6, 7)
        ),
        Misconception("one_term_from_0", _ONE_TERM_FROM_0, _one_term_from_0),
        Misconception("one_term_from_0", _ONE_TERM_FROM_0, partial(_one_term_from_0, which="down")),
        Misconception(
            "relative_to_the_peak",
            "Your numbers say what share of the peak each step has, so the peak itself is 1. The "
            "formula gives the rate, which depends on d_model, too.",
            _relative,
        ),
    ),
    atol=1e-12,
    varied=Varied(
        "factor",
        (1.0, 2.0, 0.5, 3.0),
        says=lambda factor: f"the paper's rate is multiplied by {factor:g}",
        wording=_wording,
    ),
)
