"""Question 7: sinusoidal positions."""

import math
from functools import partial

import torch
from torch import Generator, Tensor

from lectures_lib.homework.banks.inputs import sizes
from lectures_lib.homework.questions import Case, Demand, Misconception, Question, Varied

EVEN = "for an even d_model, the vectors of the positions from 0 on"
ODD = "an odd d_model ends in a sine"
START = "positions may begin at `start`"


def _positions_cases(g: Generator) -> list[Case]:
    n, later = sizes(g, 2, 4, 9)
    even, odd = (int(torch.randint(3, 6, (), generator=g)) * 2 for _ in range(2))
    start = int(torch.randint(5, 60, (), generator=g))
    # An odd number above 2048: float16 makes it even, bfloat16 a multiple of 16. Two columns alone:
    # their angle is the position itself, with no rounding that right answers could differ in.
    far = 2053 + 16 * int(torch.randint(110, (), generator=g))
    many = int(torch.randint(10, 50, (), generator=g))
    return [
        Case((n, even), shows=f"{n} positions from 0, d_model = {even}", demands=(EVEN,)),
        Case(
            (later, odd + 1),
            shows=f"{later} positions from 0, an odd d_model = {odd + 1}",
            demands=(ODD,),
        ),
        Case(
            (later, even, start),
            shows=f"{later} positions from {start}, d_model = {even}",
            demands=(START,),
        ),
        Case(
            (n, odd + 1, n - 2),
            shows=f"{n} positions from {n - 2}, an odd d_model = {odd + 1}",
            demands=(ODD, START),
        ),
        Case((1, 2, start), shows=f"a single position, {start}, d_model = 2", demands=(START,)),
        Case((n, 1), shows=f"{n} positions from 0, d_model = 1", demands=(ODD,)),
        Case((3, 2, far), shows=f"3 positions from {far}, d_model = 2", demands=(START,)),
        Case((many, even), shows=f"{many} positions from 0, d_model = {even}", demands=(EVEN,)),
    ]


def sinusoidal_positions(n: int, d_model: int, start: int = 0, *, base: int = 10_000) -> Tensor:
    """(n, d_model): the position vectors of start … start + n - 1, sines in the even columns and
    cosines in the odd ones.
    """
    positions = torch.arange(start, start + n, dtype=torch.float64)[:, None]
    angles = positions / base ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    # One (sine, cosine) for each frequency, side by side; an odd d_model has no room for the last
    # cosine.
    return (
        torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(start_dim=1)[:, :d_model].float()
    )


def _positions(
    n: int,
    d_model: int,
    start: int = 0,
    base: int = 10_000,
    exponent: float = 2.0,
    swapped: bool = False,
) -> Tensor:
    pairs = torch.arange((d_model + 1) // 2, dtype=torch.float64)
    angles = torch.arange(start, start + n, dtype=torch.float64)[:, None] * base ** (
        -exponent * pairs / d_model
    )
    both = [angles.cos(), angles.sin()] if swapped else [angles.sin(), angles.cos()]
    return torch.stack(both, dim=-1).flatten(start_dim=1)[:, :d_model].float()


def _positions_started_behind(
    n: int, d_model: int, start: int = 0, *, base: int = 10_000
) -> Tensor:
    """`start` is added to every clock's angle, not to the position."""
    pairs = torch.arange((d_model + 1) // 2, dtype=torch.float64)
    angles = torch.arange(n, dtype=torch.float64)[:, None] / base ** (2 * pairs / d_model) + start
    both = torch.stack([angles.sin(), angles.cos()], dim=-1)
    return both.flatten(start_dim=1)[:, :d_model].float()


def _positions_base_1000(n: int, d_model: int, start: int = 0) -> Tensor:
    return _positions(n, d_model, start, base=1000)


def _positions_in_halves(n: int, d_model: int, start: int = 0, *, base: int = 10_000) -> Tensor:
    both = sinusoidal_positions(n, d_model, start, base=base)
    return torch.cat([both[:, 0::2], both[:, 1::2]], dim=1)


def _positions_concatenated(n: int, d_model: int, start: int = 0, *, base: int = 10_000) -> Tensor:
    # As it is usually written: it has a column too many when the width is odd.
    angles = torch.arange(start, start + n, dtype=torch.float64)[:, None] / base ** (
        torch.arange(0, d_model, 2) / d_model
    )
    return torch.cat([angles.sin(), angles.cos()], dim=1).float()


def _positions_by_column(
    n: int, d_model: int, start: int = 0, exponent: float = 1.0, *, base: int = 10_000
) -> Tensor:
    columns = torch.arange(d_model, dtype=torch.float64)
    angles = torch.arange(start, start + n, dtype=torch.float64)[:, None] * base ** (
        -exponent * columns / d_model
    )
    return torch.where(columns % 2 == 0, angles.sin(), angles.cos()).float()


def _positions_from_one(n: int, d_model: int, start: int = 0, *, base: int = 10_000) -> Tensor:
    return sinusoidal_positions(n, d_model, start + 1, base=base)


def _positions_start_ignored(n: int, d_model: int, start: int = 0, *, base: int = 10_000) -> Tensor:
    return sinusoidal_positions(n, d_model, base=base)


def _positions_up_to_n(n: int, d_model: int, start: int = 0, *, base: int = 10_000) -> Tensor:
    return sinusoidal_positions(n, d_model, start, base=base)[: max(n - start, 0)]


def _positions_range_up_to_n(n: int, d_model: int, start: int = 0, *, base: int = 10_000) -> Tensor:
    torch.arange(start, n)  # an error where start is larger
    return _positions_up_to_n(n, d_model, start, base=base)


def _positions_last_cosine(n: int, d_model: int, start: int = 0, *, base: int = 10_000) -> Tensor:
    table = sinusoidal_positions(n, d_model, start, base=base)
    if d_model % 2:
        table[:, -1] = _last_angles(n, d_model, start, base).cos()
    return table


def _last_angles(n: int, d_model: int, start: int, base: int) -> Tensor:
    """Those of the last column of an odd width."""
    return torch.arange(start, start + n) / base ** ((d_model - 1) / d_model)


def _positions_even_width(n: int, d_model: int, start: int = 0, *, base: int = 10_000) -> Tensor:
    return sinusoidal_positions(n, d_model + d_model % 2, start, base=base)[:, :d_model]


def _positions_sines_only(n: int, d_model: int, start: int = 0, *, base: int = 10_000) -> Tensor:
    angles = torch.arange(start, start + n, dtype=torch.float64)[:, None] / base ** (
        torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    )
    return angles.sin().repeat_interleave(2, dim=1)[:, :d_model].float()


def _positions_odd_width_raises(
    n: int, d_model: int, start: int = 0, *, base: int = 10_000
) -> Tensor:
    angles = torch.arange(start, start + n, dtype=torch.float64)[:, None] / base ** (
        torch.arange(0, d_model, 2) / d_model
    )
    table = torch.zeros(n, d_model)
    table[:, 0::2] = angles.sin()
    table[:, 1::2] = angles.cos()
    return table


def _positions_odd_width_uncut(
    n: int, d_model: int, start: int = 0, *, base: int = 10_000
) -> Tensor:
    angles = torch.arange(start, start + n, dtype=torch.float64)[:, None] / base ** (
        torch.arange(0, d_model, 2) / d_model
    )
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(start_dim=1).float()


def _positions_multiplied(n: int, d_model: int, start: int = 0, *, base: int = 10_000) -> Tensor:
    # In float32, as it is usually written: these angles are so large that float64 gives other
    # sines.
    angles = torch.arange(start, start + n)[:, None] * base ** (
        torch.arange(0, d_model, 2) / d_model
    )
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(start_dim=1)[:, :d_model]


_IN_HALVES = (
    "You put all sines in the first half and all cosines in the second. Some libraries do, and a "
    "model can learn from that as well; the formula asked for here alternates: sines in columns "
    "0, 2, 4, …, cosines in 1, 3, 5, …."
)

_ODD_WIDTH = (
    "Right for an even d_model, but an odd one has a sine more than it has cosines: 0, 2, 4 are "
    "sines and 1, 3 cosines when d_model = 5. Keep only the first d_model // 2 cosines."
)

_UP_TO_N = (
    "You take the positions from start up to n; n is how *many* rows are wanted: "
    "torch.arange(start, start + n)."
)


def _wording(base: int) -> dict[str, str]:
    """The formula, and the two positions that are worked out."""
    slow, odd = base**-0.5, base ** (-2 / 3)
    return {
        "Each position of a text gets": f"Here the slowest hands turn at another pace than in the "
        f"paper: the base is {base}, not 10000. Each position of a text gets",
        r"{10000^{2i/d_{model}}}": rf"{{{base}^{{2i/d_{{model}}}}}}",
        "(sin 1, cos 1, sin 0.01, cos 0.01) = (0.841, 0.540, 0.010, 1.000)": (
            f"(sin 1, cos 1, sin {slow:.3g}, cos {slow:.3g}) = "
            f"(0.841, 0.540, {math.sin(slow):.3f}, {math.cos(slow):.3f})"
        ),
        "position 1 is (0.841, 0.540, 0.002)": f"position 1 is (0.841, 0.540, {math.sin(odd):.3f})",
    }


def _told(base: int) -> dict[str, str]:
    return {
        "The paper's is 10000 (some lectures drop a zero).": f"Here it is {base}.",
        "10000": str(base),
    }


def _positions_filled_up_to_n(
    n: int, d_model: int, start: int = 0, *, base: int = 10_000
) -> Tensor:
    angles = torch.arange(start, n)[:, None] / base ** (torch.arange(0, d_model, 2) / d_model)
    table = torch.zeros(n, d_model)
    table[:, 0::2] = angles.sin()
    table[:, 1::2] = angles.cos()[:, : d_model // 2]
    return table


def _positions_filled_one_by_one_up_to_n(
    n: int, d_model: int, start: int = 0, *, base: int = 10_000
) -> Tensor:
    """The positions start … n - 1 in the first rows of a table of zeros."""
    table = torch.zeros(n, d_model)
    for row, position in enumerate(range(start, n)):
        table[row] = sinusoidal_positions(1, d_model, position, base=base)[0]
    return table


def _positions_odd_width_rounded_down(
    n: int, d_model: int, start: int = 0, *, base: int = 10_000
) -> Tensor:
    """2i is divided by 2 · (d_model // 2), which is 0 for a width of 1."""
    even = torch.arange(0, d_model, 2, dtype=torch.float64) / (d_model - d_model % 2)
    angles = torch.arange(start, start + n, dtype=torch.float64)[:, None] / base**even
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, :d_model].float()


def _positions_start_multiplied(
    n: int, d_model: int, start: int = 0, least: int = 0, *, base: int = 10_000
) -> Tensor:
    """Every start-th position; `least`: what stands for a start of 0."""
    step = max(start, least)
    return sinusoidal_positions((n - 1) * step + 1, d_model, base=base)[:: step or 1].expand(n, -1)


def _positions_held_in(
    dtype: torch.dtype, n: int, d_model: int, start: int = 0, *, base: int = 10_000
) -> Tensor:
    held = torch.arange(start, start + n).to(dtype).tolist()
    return torch.cat([sinusoidal_positions(1, d_model, int(at), base=base) for at in held])


_START_MULTIPLIED = (
    "You multiply the positions by start. It is added: the rows are the positions start, start + "
    "1, …, start + n - 1."
)
_FEW_DIGITS = (
    "Right for small positions. You hold them in 16 bits, where not every large whole number has a "
    "place: float16 makes 2048 of 2049, bfloat16 256 of 257. Count in whole numbers or in float32."
)
_MADE_EVEN = (
    "Right for an even d_model. An odd one you make even, by 1 more or less, and that changes the "
    "exponent: it is 2i / d_model with the d_model that was given. Cut the last cosine off without "
    "changing what you divide by."
)
_MULTIPLIED = (
    "You multiply the position by 10000^(2i / d_model); divide by it. Later pairs turn ever more "
    "slowly, like the hour hand after the minute hand."
)


def _positions_multiplied_by_exp(
    n: int, d_model: int, start: int = 0, *, base: int = 10_000
) -> Tensor:
    # As it is usually written, the minus forgotten; in float32, see above.
    power = torch.arange(0, d_model, 2) * (math.log(base) / d_model)
    angles = torch.arange(start, start + n)[:, None] * torch.exp(power)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(start_dim=1)[:, :d_model]


def _positions_floor_division(
    n: int, d_model: int, start: int = 0, *, base: int = 10_000
) -> Tensor:
    return _positions(n, d_model, start, base=base, exponent=0.0)


def _positions_from_0_on(n: int, d_model: int, start: int = 0, *, base: int = 10_000) -> Tensor:
    return sinusoidal_positions(start + n, d_model, base=base)


def _positions_odd_width_ends_in_0(
    n: int, d_model: int, start: int = 0, *, base: int = 10_000
) -> Tensor:
    table = sinusoidal_positions(n, d_model, start, base=base)
    if d_model % 2:
        table[:, -1] = 0.0
    return table


POSITIONS = Question(
    name="hw1.sinusoidal_positions",
    title="Sinusoidal positions",
    points=3,
    minutes=20,
    difficulty=2,
    chapter="04_order#how-to-number-places",
    cases=_positions_cases,
    reference=sinusoidal_positions,
    demands=(Demand(EVEN, 1), Demand(ODD, 1), Demand(START, 1)),
    misconceptions=(
        Misconception(
            "start_added_to_the_angle",
            "Right from position 0 on, and in the first two columns. You add `start` to the angle: "
            "then every clock hand is ahead by the same turn, the slow ones too. It belongs to the "
            "position, before the division.",
            _positions_started_behind,
        ),
        Misconception(
            "base_1000",
            "Your slowest wave is too fast: your base is 1000. The paper's is 10000 (some lectures "
            "drop a zero).",
            _positions_base_1000,
        ),
        Misconception("sines_then_cosines", _IN_HALVES, _positions_in_halves),
        Misconception("sines_then_cosines", _IN_HALVES, _positions_concatenated),
        Misconception(
            "exponent_halved",
            "Your exponent is i / d_model, with i counting pairs. The formula has 2i / d_model, so "
            "that the wavelengths reach (almost) 10000 · 2π: use torch.arange(0, d_model, 2) / "
            "d_model.",
            partial(_positions, exponent=1.0),
        ),
        Misconception(
            "exponent_doubled",
            "Your exponent is twice as large as it should be. If your i already counts 0, 2, 4, … "
            "(columns), it is the formula's 2i: divide by d_model and do not double it again.",
            partial(_positions, exponent=4.0),
        ),
        Misconception(
            "own_frequency_for_each_column",
            "The sine and the cosine of a pair turn at different speeds: your exponent is column / "
            "d_model. Columns 2i and 2i + 1 share the exponent 2i / d_model; only so are they the "
            "two coordinates of one clock hand.",
            _positions_by_column,
        ),
        Misconception(
            "own_frequency_for_each_column_doubled",
            "Your exponent is 2 · column / d_model: i in the formula counts *pairs* of columns. "
            "Columns 2i and 2i + 1 share the exponent 2i / d_model.",
            partial(_positions_by_column, exponent=2.0),
        ),
        Misconception(
            "sine_and_cosine_swapped",
            "Sine and cosine have changed places: sines go into the even columns, counted from 0. "
            "Position 0 is 0, 1, 0, 1, ….",
            partial(_positions, swapped=True),
        ),
        Misconception(
            "sines_only",
            "Both columns of each pair hold the sine. The odd columns take the cosine: without it, "
            "positions on either side of a wave's top look alike.",
            _positions_sines_only,
        ),
        Misconception(
            "counted_from_one",
            "Your positions are one too large: the first is `start`, and 0 when no start is given. "
            "Position 0 is 0, 1, 0, 1, ….",
            _positions_from_one,
        ),
        Misconception(
            "start_ignored",
            "Right from position 0, but `start` changes nothing in your answer. The rows are the "
            "positions start … start + n - 1.",
            _positions_start_ignored,
        ),
        Misconception("stops_at_n", _UP_TO_N, _positions_up_to_n),
        Misconception("stops_at_n", _UP_TO_N, _positions_range_up_to_n),
        Misconception(
            "odd_width_made_even",
            _MADE_EVEN,
            _positions_even_width,
        ),
        Misconception("odd_width_made_even", _MADE_EVEN, _positions_odd_width_rounded_down),
        Misconception(
            "multiplied_by_power",
            _MULTIPLIED,
            _positions_multiplied,
        ),
        Misconception(
            "odd_width_ends_in_a_cosine",
            "With an odd d_model your last column is a cosine. Its number, d_model - 1, is even, "
            "and even columns are sines: it is the last pair's cosine that finds no place.",
            _positions_last_cosine,
        ),
        Misconception("odd_width_forgotten", _ODD_WIDTH, _positions_odd_width_raises),
        Misconception("odd_width_forgotten", _ODD_WIDTH, _positions_odd_width_uncut),
        Misconception("stops_at_n", _UP_TO_N, _positions_filled_up_to_n),
        Misconception("stops_at_n", _UP_TO_N, _positions_filled_one_by_one_up_to_n),
        Misconception("multiplied_by_power", _MULTIPLIED, _positions_multiplied_by_exp),
        Misconception(
            "exponent_rounded_down",
            "All your hands turn at the same speed: the exponent is 0 everywhere, as // makes it. "
            "That rounds down, and 2i is less than d_model; / does not.",
            _positions_floor_division,
        ),
        Misconception(
            "positions_before_start_too",
            "You return the positions before start, too. Only n rows are wanted, those of start, "
            "…, start + n - 1.",
            _positions_from_0_on,
        ),
        *(
            Misconception(
                "start_multiplied",
                _START_MULTIPLIED,
                partial(_positions_start_multiplied, least=least),
            )
            for least in (0, 1)
        ),
        *(
            Misconception("positions_in_16_bits", _FEW_DIGITS, partial(_positions_held_in, dtype))
            for dtype in (torch.float16, torch.bfloat16)
        ),
        Misconception(
            "odd_width_ends_in_zeros",
            "Right for an even d_model. In an odd one the last column is left at 0: the last hand "
            "shows its sine there, and has no cosine.",
            _positions_odd_width_ends_in_0,
        ),
    ),
    atol=1e-4,
    varied=Varied(
        "base",
        (10_000, 2500, 40_000, 1600),
        says=lambda base: f"the base is {base}",
        wording=_wording,
        told=_told,
    ),
)
