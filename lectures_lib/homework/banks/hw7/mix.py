"""Question 1: one vector from all layers, and which layer that is on average."""

from dataclasses import replace
from functools import partial

import torch
from torch import Generator, Tensor

from lectures_lib.homework.banks.inputs import normal, sizes, whole
from lectures_lib.homework.questions import Case, Demand, Misconception, Question

MIXED = "the mix: shares that sum to 1, times gamma"
ANY = "that of a single word, and of many states with large weights"
CENTRE = "the centre of gravity, made with the same shares"


def _mix_cases(g: Generator) -> list[Case]:
    cases = []
    # "deep": more states than BERT base has, and weights whose exponentials no float32 holds
    for kind in ("", "", "single", "deep"):
        n_states, words, d_model = sizes(g, 3, 3, 8)
        words = 1 if kind == "single" else words
        n_states = whole(g, 14, 17) if kind == "deep" else n_states
        w = normal(g, n_states)
        # some below 0, and a sum that can be divided by
        while abs(w.sum()) < 0.5 or (w < 0).all() or (w >= 0).all():
            w = normal(g, n_states)
        w = w + 100 if kind == "deep" else w
        gamma = round(1.3 + 1.5 * torch.rand((), generator=g).item(), 2)
        shows = (
            f"{words} word{'s' * (words > 1)} with vectors of {d_model} numbers in {n_states} "
            f"hidden states, gamma = {gamma}"
        )
        shows += ", weights around 100" if kind == "deep" else ""
        states = normal(g, n_states, words, d_model)
        mix, centre = (MIXED,), (CENTRE,)
        if kind:
            mix, centre = (ANY,), (ANY, CENTRE)
        cases.append((Case((states, w, gamma), shows=shows, demands=mix, part=0), centre))
    return [
        *(case for case, _ in cases),
        *(replace(case, demands=centre, part=1) for case, centre in cases),
    ]


def mix_layers(states: Tensor, w: Tensor, gamma: float) -> tuple[Tensor, Tensor]:
    """The mix (words, d_model), and the centre of gravity, a tensor without dimensions."""
    return _mix(states, w, gamma)


def _softmax(w: Tensor, gamma: float) -> Tensor:
    return w.softmax(dim=0)


def _mix(states, w, gamma, shares=_softmax, scale=None, first=0, centre=None):
    s = shares(w, gamma)
    mixed = (gamma if scale is None else scale) * torch.einsum("l,lwd->wd", s, states)
    layers = torch.arange(len(w)) + float(first)
    return mixed, (layers * s).sum() if centre is None else centre(layers, s, w, gamma)


def _one_hot(w: Tensor, gamma: float) -> Tensor:
    return torch.nn.functional.one_hot(w.argmax(), len(w)).float()


def _gamma_added(states, w, gamma):
    mixed, centre = _mix(states, w, gamma, scale=1.0)
    return mixed + gamma, centre


def _squeezed(states, w, gamma):
    mixed, centre = _mix(states, w, gamma)
    return mixed.squeeze(), centre


def _mean_of_the_mix(states, w, gamma):
    mixed, centre = _mix(states, w, gamma)
    return mixed / len(w), centre


def _not_added_up(states, w, gamma):
    return gamma * w.softmax(dim=0)[:, None, None] * states, _mix(states, w, gamma)[1]


_NO_SOFTMAX = (
    "You mix with the raw weights w. They are no shares: they may be negative, and do not sum to "
    "1. The shares are softmax(w), over the hidden states."
)
_WHERE_GAMMA = (
    "Your mix is right. The centre of gravity is an average of layers, made with shares that sum "
    "to 1; gamma is the length of the mixed vector and has no part in it."
)


_ALL_1 = (
    "In your mix every hidden state has the share 1: perhaps the softmax runs over an axis with a "
    "single entry, as the last one of w[:, None, None]. It has to run over the hidden states: "
    "w.softmax(dim=0), before the axes are added."
)


def _spread_over_the_features(states, w, gamma):
    """A softmax over d_model equal numbers: each state has the share 1 / d_model."""
    d_model = states.shape[-1]
    return gamma / d_model * states.sum(dim=0), _mix(states, w, gamma)[1]


def _pair_swapped(states, w, gamma):
    return _mix(states, w, gamma)[::-1]


MIX = Question(
    name="hw7.mix_layers",
    title="A mix of layers",
    points=2,
    minutes=15,
    difficulty=1,
    chapter="16b_probing#a-mix-of-all-layers",
    cases=_mix_cases,
    reference=mix_layers,
    trained=True,
    misconceptions=(
        Misconception(
            "weights_cut_off",
            "Right for small weights. Large ones you cut at one height, which makes them equal. "
            "Subtract the largest from all instead: the shares stay the same, and no exponential "
            "is too large. softmax does so by itself.",
            partial(_mix, shares=lambda w, gamma: w.clamp(max=80).softmax(dim=0)),
        ),
        Misconception(
            "centre_rounded",
            "You round the centre of gravity to a whole layer. It is an average and may lie "
            "between two.",
            partial(_mix, centre=lambda layers, s, w, gamma: (layers * s).sum().round()),
        ),
        Misconception("softmax_forgotten", _NO_SOFTMAX, partial(_mix, shares=lambda w, gamma: w)),
        Misconception(
            "divided_by_the_sum",
            "Your shares are w divided by its sum. They sum to 1, but a negative weight makes a "
            "negative share, and a sum near 0 lets them explode. Softmax takes exp(w) first: "
            "softmax(w).",
            partial(_mix, shares=lambda w, gamma: w / w.sum()),
        ),
        Misconception(
            "softmax_over_the_features",
            "In your mix every hidden state has the same share, 1 / d_model, whatever w is: your "
            "softmax runs over the features, after w has been expanded. It has to run over the "
            "hidden states: w.softmax(dim=0), before the axes are added.",
            _spread_over_the_features,
        ),
        Misconception(
            "exponentials_not_divided",
            "You weight with exp(w), which is half of a softmax. Divided by their sum, they become "
            "shares that sum to 1.",
            partial(_mix, shares=lambda w, gamma: w.exp()),
        ),
        Misconception(
            "exponentials_too_large",
            "Right for small weights. Here they are around 100, exp(w) is more than a float32 can "
            "hold, and ∞ divided by ∞ is no number. w.softmax(dim=0) subtracts the largest weight "
            "first, which changes no share.",
            partial(_mix, shares=lambda w, gamma: w.exp() / w.exp().sum()),
        ),
        Misconception(
            "thirteen_states",
            "Your mix is right, and the centre of gravity for up to 13 hidden states, as many as "
            "BERT base has. Here there are more: count them, len(w).",
            partial(_mix, centre=lambda layers, s, w, gamma: (layers * s)[:13].sum()),
        ),
        Misconception(
            "sigmoid_instead_of_softmax",
            "You weight each hidden state with a sigmoid of its own. The states share one vector "
            "among them: softmax(w), which sums to 1.",
            partial(_mix, shares=lambda w, gamma: w.sigmoid()),
        ),
        Misconception(
            "weights_not_looked_at",
            "You take the plain mean of the hidden states. That is the mix before anything is "
            "learned, with all w equal; here they differ.",
            partial(_mix, shares=lambda w, gamma: torch.full_like(w, 1 / len(w))),
        ),
        Misconception(
            "all_shares_1", _ALL_1, partial(_mix, shares=lambda w, gamma: torch.ones_like(w))
        ),
        Misconception(
            "all_shares_1",
            _ALL_1,
            partial(
                _mix,
                shares=lambda w, gamma: torch.ones_like(w),
                centre=lambda layers, s, w, gamma: (layers * w.softmax(dim=0)).sum(),
            ),
        ),
        Misconception(
            "one_layer_taken",
            "You take the hidden state with the largest weight alone. All states are in the mix, "
            "each with its share.",
            partial(_mix, shares=_one_hot),
        ),
        Misconception(
            "gamma_in_the_softmax",
            "You multiply w by gamma before the softmax: gamma would then decide how unequal the "
            "shares are. It scales the mixed vector, after the sum: gamma · Σ s_l h_l.",
            partial(_mix, shares=lambda w, gamma: (gamma * w).softmax(dim=0), scale=1.0),
        ),
        Misconception(
            "gamma_forgotten",
            "Your mix lacks gamma. Shares that sum to 1 can make the vector no longer than the "
            "longest of the states; gamma sets its length.",
            partial(_mix, scale=1.0),
        ),
        Misconception(
            "axis_of_size_1_lost",
            "Right, but for a single word: a bare squeeze() takes away its axis, too. Name the "
            "axis that is meant: squeeze(0).",
            _squeezed,
        ),
        Misconception("gamma_added", "You add gamma to the mix. It is multiplied.", _gamma_added),
        Misconception(
            "divided_by_the_states",
            "You average the weighted states instead of adding them. The shares sum to 1, so the "
            "division has been done already.",
            _mean_of_the_mix,
        ),
        Misconception(
            "not_added_up",
            "You weight the hidden states and do not add them up: your result still has one vector "
            "for each state. Sum over dimension 0.",
            _not_added_up,
        ),
        Misconception(
            "layers_counted_from_1",
            "Your mix is right; your centre of gravity is 1 too large. Hidden state 0 is the "
            "embeddings, and layer 1 is the first block's.",
            partial(_mix, first=1),
        ),
        Misconception(
            "gamma_in_the_centre",
            _WHERE_GAMMA,
            partial(_mix, centre=lambda layers, s, w, gamma: gamma * (layers * s).sum()),
        ),
        Misconception(
            "largest_share_for_the_mean",
            "Your mix is right. For the centre of gravity you name the one with the largest share; "
            "asked for is the average, Σ l · s_l, which may lie between two layers.",
            partial(_mix, centre=lambda layers, s, w, gamma: layers[s.argmax()]),
        ),
        Misconception(
            "raw_weights_in_the_centre",
            "Your mix is right. In the centre of gravity you use w itself; use the shares, "
            "softmax(w), as in the mix.",
            partial(_mix, centre=lambda layers, s, w, gamma: (layers * w).sum()),
        ),
        Misconception(
            "mean_instead_of_sum",
            "Your mix is right. For the centre of gravity you divide l · s_l by the number of "
            "states once more (`.mean()`?); the shares sum to 1, so their sum is the mean.",
            partial(_mix, centre=lambda layers, s, w, gamma: (layers * s).mean()),
        ),
        Misconception(
            "gamma_inside_and_outside",
            "You multiply w by gamma before the softmax, and the mix by gamma after it. Only the "
            "second is right: gamma does not decide how unequal the shares are.",
            partial(_mix, shares=lambda w, gamma: (gamma * w).softmax(dim=0)),
        ),
        Misconception(
            "pair_swapped",
            "Your results are right, in the other order: first the mix, then the centre of "
            "gravity.",
            _pair_swapped,
        ),
    ),
    demands=(Demand(MIXED, 1), Demand(ANY, 0.5), Demand(CENTRE, 0.5)),
)
