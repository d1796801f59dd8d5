"""Question 7: which layers? All of them, with weights that are learned."""

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from lectures_lib.homework.banks.inputs import also_as_large, normal, sizes
from lectures_lib.homework.banks.mistakes import (
    TRAINING,
    TWICE,
    always_dropping,
    dropping,
    remembering,
    squeezing,
)
from lectures_lib.homework.questions import Case, Demand, Misconception, Question

MIX = "the states of all layers, weighted by a softmax, times γ"
BEGINS = "a new layer begins as the mean"
SINGLE = "one sentence of one token keeps its dimensions"


def _mix_cases(g: Generator) -> list[Case]:
    cases = []
    for trained, single in ((True, False), (True, False), (False, False), (True, True)):
        n_states, batch, n, d_model = sizes(g, 4, 3, 9)
        batch, n = (1, 1) if single else (batch, n)
        state = (
            {"w": normal(g, n_states), "gamma": 1.5 + torch.rand((), generator=g)}
            if trained
            else None
        )
        layer = "trained" if trained else "new"
        shows = (
            f"a {layer} layer; {n_states} hidden states of {batch} sentences with {n} tokens, "
            f"d_model = {d_model}"
        )
        twice = trained and not single and not cases
        again = ((normal(g, n_states, batch + 1, n - 1, d_model),),) if twice else ()
        shows += TRAINING + TWICE if twice else ""
        args = (normal(g, n_states, batch, n, d_model),)
        cases.append(
            Case(
                args,
                init={"n_states": n_states},
                state=state,
                shows=shows,
                train=twice,
                again=again,
                demands=(SINGLE if single else MIX if trained else BEGINS,),
            )
        )
    return [also_as_large(g, case) if case.again else case for case in cases]


class LayerMix(nn.Module):
    """γ Σ softmax(w)_i · state i. The wrong answers below change one of these."""

    def __init__(self, n_states: int):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(n_states))
        self.gamma = nn.Parameter(torch.ones(()))

    def forward(self, states: Tensor) -> Tensor:
        """(n_states, batch, n, d_model) → (batch, n, d_model)."""
        return self.gamma * torch.tensordot(self.weights(), states, dims=1)

    def weights(self):
        """A share for each state."""
        return self.w.softmax(dim=0)


class _NoSoftmax(LayerMix):
    def weights(self):
        return self.w


class _NoSoftmaxFromOnes(_NoSoftmax):
    def __init__(self, n_states):
        super().__init__(n_states)
        self.w = nn.Parameter(torch.ones(n_states))


class _NoSoftmaxFromTheMean(_NoSoftmax):
    """A new layer is right."""

    def __init__(self, n_states):
        super().__init__(n_states)
        self.w = nn.Parameter(torch.full((n_states,), 1 / n_states))


class _DividedBySum(LayerMix):
    def weights(self):
        return self.w / self.w.sum()


class _ExpOnly(LayerMix):
    def weights(self):
        return self.w.exp()


class _Sigmoid(LayerMix):
    def weights(self):
        return torch.sigmoid(self.w)


class _SigmoidShares(LayerMix):
    def weights(self):
        return torch.sigmoid(self.w) / torch.sigmoid(self.w).sum()


class _SoftmaxOfOne(LayerMix):
    """A softmax over an axis with a single entry."""

    def weights(self):
        return torch.ones_like(self.w)


class _LogSoftmax(LayerMix):
    def weights(self):
        return self.w.log_softmax(dim=0)


class _Mean(LayerMix):
    def weights(self):
        return torch.full_like(self.w, 1 / len(self.w))


class _MeanOfWeighted(LayerMix):
    def weights(self):
        return super().weights() / len(self.w)


class _GammaInside(LayerMix):
    def forward(self, states):
        return torch.tensordot((self.gamma * self.w).softmax(dim=0), states, dims=1)


class _NoGamma(LayerMix):
    def forward(self, states):
        return torch.tensordot(self.weights(), states, dims=1)


class _GammaAdded(LayerMix):
    def forward(self, states):
        return self.gamma + torch.tensordot(self.weights(), states, dims=1)


class _Divided(LayerMix):
    def forward(self, states):
        return torch.tensordot(self.weights(), states, dims=1) / self.gamma


class _Unsummed(LayerMix):
    def forward(self, states):
        return self.gamma * self.weights()[:, None, None, None] * states


class _BestState(LayerMix):
    def forward(self, states):
        return self.gamma * states[self.w.argmax()]


class _LastState(LayerMix):
    def forward(self, states):
        return self.gamma * states[-1]


class _Backwards(LayerMix):
    def weights(self):
        return super().weights().flip(0)


class _OverStates(LayerMix):
    """The softmax runs over the weighted states, feature by feature."""

    def forward(self, states):
        return self.gamma * (states * self.w[:, None, None, None]).softmax(dim=0).sum(dim=0)


class _RandomAtFirst(LayerMix):
    def __init__(self, n_states):
        super().__init__(n_states)
        self.w = nn.Parameter(torch.randn(n_states))


class _RandomSharesAtFirst(LayerMix):
    def __init__(self, n_states):
        super().__init__(n_states)
        self.w = nn.Parameter(torch.rand(n_states))


class _NothingAtFirst(LayerMix):
    def __init__(self, n_states):
        super().__init__(n_states)
        self.gamma = nn.Parameter(torch.zeros(()))


class _Normalised(LayerMix):
    def forward(self, states):
        return super().forward(F.layer_norm(states, states.shape[-1:]))


_SHARES = (
    "Your weights do not add up to 1, or are not all above 0. They are the softmax of `w`: shares, "
    "which tell afterwards how much each state was needed, whatever w is."
)

_BEGINS = (
    "Right, but a new layer does not begin as the plain mean: before training, all `w` are alike, "
    "0 say, so that every state has the same share, and γ is 1."
)


class _GammaOfOneDimension(LayerMix):
    def __init__(self, n_states):
        super().__init__(n_states)
        self.gamma = nn.Parameter(torch.ones(1))


class _GammaFixed(LayerMix):
    def __init__(self, n_states):
        super().__init__(n_states)
        del self.gamma
        self.gamma = 1.0


class _StatesAtAxis1(LayerMix):
    def forward(self, states):
        return self.gamma * torch.einsum("l,blnd->bnd", self.weights(), states)


class _StatesAtAxis1Summed(LayerMix):
    def forward(self, states):
        return self.gamma * (self.weights()[None, :, None, None] * states).sum(dim=1)


class _StatesLast(LayerMix):
    def forward(self, states):
        return self.gamma * (states * self.weights()).sum(dim=-1)


_AXIS = (
    "You weight along another axis than that of the states. It is the first one: states has the "
    "shape (n_states, batch, n, d_model)."
)


class _GammaFrozen(LayerMix):
    def forward(self, states):
        return self.gamma.detach() * torch.tensordot(self.weights(), states, dims=1)


class _WCutOff(LayerMix):
    def weights(self):
        return super().weights().detach()


LAYER_MIX = Question(
    name="hw6.LayerMix",
    title="All layers, weighted",
    points=2,
    minutes=15,
    difficulty=1,
    chapter="15b_which_layers#a-mix-of-all-layers",
    cases=_mix_cases,
    reference=LayerMix,
    misconceptions=(
        Misconception("softmax_forgotten", _SHARES, _NoSoftmax),
        Misconception("softmax_forgotten", _SHARES, _NoSoftmaxFromOnes),
        Misconception("softmax_forgotten", _SHARES, _NoSoftmaxFromTheMean),
        Misconception("softmax_forgotten", _SHARES, _DividedBySum),
        Misconception("softmax_forgotten", _SHARES, _ExpOnly),
        Misconception("softmax_forgotten", _SHARES, _Sigmoid),
        Misconception("softmax_forgotten", _SHARES, _LogSoftmax),
        Misconception(
            "shares_of_sigmoids",
            "Your shares add up to 1, but they are no softmax: you divide sigmoids by their sum. "
            "A softmax does so with exponentials.",
            _SigmoidShares,
        ),
        Misconception(
            "softmax_of_a_single_number",
            "All your weights are 1: the softmax runs over an axis with a single entry. It has to "
            "run over the states.",
            _SoftmaxOfOne,
        ),
        Misconception(
            "plain_mean",
            "You take the mean of all states and leave `w` aside, or look at it once, in __init__, "
            "where it is 0. It is what is learned: take its softmax in each call.",
            _Mean,
        ),
        Misconception(
            "mean_of_the_weighted",
            "You take the *mean* of the weighted states. Their weights are shares, so their sum is "
            "a mean already.",
            _MeanOfWeighted,
        ),
        *(
            Misconception("does_not_begin_as_the_mean", _BEGINS, answer)
            for answer in (_RandomAtFirst, _RandomSharesAtFirst, _NothingAtFirst)
        ),
        Misconception(
            "gamma_forgotten", "γ is missing: the sum is multiplied by `gamma`.", _NoGamma
        ),
        Misconception(
            "gamma_inside_of_the_softmax",
            "You multiply w by γ, where it would be a temperature. It is for the size of the "
            "result: γ times the sum.",
            _GammaInside,
        ),
        Misconception("gamma_added", "You add γ. The sum is *multiplied* by it.", _GammaAdded),
        Misconception(
            "divided_by_gamma", "You divide by γ. The sum is *multiplied* by it.", _Divided
        ),
        Misconception(
            "not_summed",
            "You weight the states and do not add them up: the result must be one vector for each "
            "token, (batch, n, d_model).",
            _Unsummed,
        ),
        Misconception(
            "best_state_only",
            "You take only the state with the highest w. No gradient could find out which that "
            "should be; all states are mixed.",
            _BestState,
        ),
        Misconception(
            "last_state_only",
            "You take the last state alone. All states are mixed, with the weights that `w` gives.",
            _LastState,
        ),
        Misconception(
            "weights_in_reverse",
            "Your weights stand in reverse order. w[i] belongs to states[i]; state 0 is the "
            "embeddings.",
            _Backwards,
        ),
        Misconception(
            "softmax_over_the_vectors",
            "You take the softmax over the weighted vectors, number by number. It is for the "
            "*weights* alone: first softmax(w), then the sum.",
            _OverStates,
        ),
        Misconception(
            "normalised",
            "You normalise the states first. ELMo's authors tried that, too; here the states are "
            "mixed as they are.",
            _Normalised,
        ),
        squeezing(LayerMix),
        dropping(LayerMix),
        remembering(LayerMix),
        Misconception(
            "gamma_with_a_dimension",
            "Your gamma is a row with one number, (1,). The question asks for a number without "
            "dimensions: nn.Parameter(torch.tensor(1.0)).",
            _GammaOfOneDimension,
        ),
        Misconception(
            "gamma_not_learned",
            "Your gamma is a plain number, so it would never be learned: make it a parameter, "
            "nn.Parameter(torch.tensor(1.0)).",
            _GammaFixed,
            by_exception=True,
        ),
        Misconception(
            "gamma_frozen",
            "Right, but gamma would never change: it has requires_grad=False, or is detached or "
            "taken by .item() or .data before it is used.",
            _GammaFrozen,
        ),
        Misconception(
            "w_cut_off",
            "Right, but w would never change: it is detached, or taken by .data or below no_grad, "
            "before it is used, and training cannot find better shares.",
            _WCutOff,
        ),
        Misconception("states_at_another_axis", _AXIS, _StatesAtAxis1),
        Misconception("states_at_another_axis", _AXIS, _StatesAtAxis1Summed),
        Misconception("states_at_another_axis", _AXIS, _StatesLast),
        always_dropping(LayerMix),
    ),
    demands=(Demand(MIX, 1), Demand(BEGINS, 0.5), Demand(SINGLE, 0.5)),
)
