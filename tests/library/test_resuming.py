"""Stopped, saved and resumed equals never stopped, bit for bit: for every optimizer and every
schedule that torch has.
"""

import math
from collections import Counter
from functools import partial

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import nn, optim
from torch.optim import lr_scheduler as schedules
from torch.optim.swa_utils import SWALR

from lectures_lib.training import checkpoints, fit
from tests.helpers.training_run import Samples, squared_error, train

STEPS, STOP = 14, 6


def network(dtype=torch.float32):
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Dropout(0.3), nn.Linear(8, 1)).to(dtype)


class Matrices(nn.Module):
    """A model of matrices alone: Muon takes nothing else."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.first, self.second = nn.Linear(4, 8, bias=False), nn.Linear(8, 1, bias=False)

    def forward(self, x):
        return self.second(self.first(x).tanh())


OPTIMIZERS = {
    "Adafactor": optim.Adafactor,
    "Adadelta": optim.Adadelta,
    "Adagrad": optim.Adagrad,
    "Adam": optim.Adam,
    "Adam amsgrad": partial(optim.Adam, amsgrad=True),
    "Adam tensor lr": lambda p: optim.Adam(p, lr=torch.tensor(0.02)),
    "Adam capturable": partial(optim.Adam, lr=0.02, foreach=True),
    "Adamax": optim.Adamax,
    "AdamW": partial(optim.AdamW, betas=(0.8, 0.9)),
    "AdamW fused": partial(optim.AdamW, fused=True),
    "ASGD": partial(optim.ASGD, t0=3),
    "NAdam": optim.NAdam,
    "RAdam": optim.RAdam,
    "RMSprop": partial(optim.RMSprop, centered=True, momentum=0.9),
    "Rprop": optim.Rprop,
    "SGD": partial(optim.SGD, lr=0.05),
    "SGD momentum": partial(optim.SGD, lr=0.05, momentum=0.9, nesterov=True),
    "SGD tensor lr": lambda p: optim.SGD(p, lr=torch.tensor(0.05), momentum=0.9),
    "Muon": optim.Muon,
}
REFUSED_BY_FIT = {"LBFGS": "closure", "SparseAdam": "dense"}


def momentum(parameters):
    return optim.SGD(parameters, lr=0.05, momentum=0.9)


def tensor_rate(parameters):
    return optim.SGD(parameters, lr=torch.tensor(0.05), momentum=0.9)


SCHEDULES = {
    "LambdaLR": lambda o: schedules.LambdaLR(o, lambda step: 1 / (1 + step)),
    "MultiplicativeLR": lambda o: schedules.MultiplicativeLR(o, lambda step: 0.9),
    "StepLR": lambda o: schedules.StepLR(o, 4),
    "MultiStepLR": lambda o: schedules.MultiStepLR(o, [3, 8, 8, 12]),
    "ConstantLR": lambda o: schedules.ConstantLR(o, 0.5, 8),
    "LinearLR": lambda o: schedules.LinearLR(o, 0.1, 1.0, 9),
    "ExponentialLR": lambda o: schedules.ExponentialLR(o, 0.9),
    "CosineAnnealingLR": lambda o: schedules.CosineAnnealingLR(o, 9),
    "CyclicLR": lambda o: schedules.CyclicLR(o, 0.01, 0.1, 3),
    "CyclicLR exp": lambda o: schedules.CyclicLR(o, 0.01, 0.1, 3, mode="exp_range", gamma=0.9),
    "CyclicLR own": lambda o: schedules.CyclicLR(
        o, 0.01, 0.1, 3, scale_fn=lambda x: 0.9**x, cycle_momentum=False
    ),
    "CosineAnnealingWarmRestarts": lambda o: schedules.CosineAnnealingWarmRestarts(o, 4, 2),
    "OneCycleLR": lambda o: schedules.OneCycleLR(o, 0.1, total_steps=STEPS + 1),
    "PolynomialLR": lambda o: schedules.PolynomialLR(o, 9, 2.0),
    "SWALR": lambda o: SWALR(o, 0.01, anneal_epochs=9),
    "SequentialLR": lambda o: schedules.SequentialLR(
        o, [schedules.LinearLR(o, 0.1, 1.0, 4), schedules.MultiStepLR(o, [4, 6])], [4]
    ),
    "ChainedScheduler": lambda o: schedules.ChainedScheduler(
        [schedules.MultiStepLR(o, [3, 9]), schedules.ExponentialLR(o, 0.9)], o
    ),
    "SequentialLR of SequentialLR": lambda o: schedules.SequentialLR(
        o, [SCHEDULES["SequentialLR"](o), schedules.StepLR(o, 2)], [10]
    ),
    "ChainedScheduler of SequentialLR": lambda o: schedules.ChainedScheduler(
        [SCHEDULES["SequentialLR"](o), schedules.StepLR(o, 4)], o
    ),
}


def state(optimizer):
    """All that an optimizer knows, with the types of its numbers."""

    def plain(value):
        if isinstance(value, torch.Tensor):
            return ("tensor", value.dtype, value.tolist())
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(map(plain, value))
        return value

    return plain(optimizer.state_dict())


def assert_resumes(tmp_path, make_model, make_optimizer, make_schedule):
    """Run whole; run until STOP, and a second model on from there: the same weights, rates and
    optimizer.
    """

    def run(**options):
        model = make_model()
        optimizer = make_optimizer(model.parameters())
        scheduler = None if make_schedule is None else make_schedule(optimizer)

        def loss(model, batch):
            return squared_error(
                model, batch._replace(x=batch.x.to(next(model.parameters()).dtype))
            )

        history = train(model, optimizer, scheduler, loss=loss, **options)
        return model, optimizer, scheduler, history

    path = tmp_path / "run.safetensors"
    torch.manual_seed(2)
    whole = run(steps=STEPS)
    torch.manual_seed(2)
    run(steps=STOP, checkpoint=path)
    torch.manual_seed(3)
    resumed = run(steps=STEPS, checkpoint=path, resume=True)
    assert (
        whole[3].learning_rates == resumed[3].learning_rates
        and whole[3].losses == resumed[3].losses
    )
    assert all(
        torch.equal(a, b)
        for a, b in zip(whole[0].parameters(), resumed[0].parameters(), strict=True)
    )
    assert state(whole[1]) == state(resumed[1])
    if whole[2] is not None:
        assert whole[2].get_last_lr() == resumed[2].get_last_lr()


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_optimizer_goes_on_as_if_it_had_not_stopped(tmp_path, name):
    assert_resumes(tmp_path, Matrices if name == "Muon" else network, OPTIMIZERS[name], None)


@pytest.mark.parametrize("name", ["Adam", "NAdam", "ASGD", "Adafactor"])
def test_in_half_precision_too(tmp_path, name):
    """torch gives what it loads the parameters' type, also where the optimizer had another."""
    assert_resumes(tmp_path, partial(network, torch.bfloat16), OPTIMIZERS[name], None)


# torch says so where a SequentialLR is part of another schedule
@pytest.mark.filterwarnings("ignore:Detected call of")
@pytest.mark.parametrize("make_optimizer", [momentum, tensor_rate])
@pytest.mark.parametrize("name", SCHEDULES)
def test_every_schedule_goes_on_as_if_it_had_not_stopped(tmp_path, name, make_optimizer):
    assert_resumes(tmp_path, network, make_optimizer, SCHEDULES[name])


def test_none_of_torchs_own_was_forgotten():
    """Each is resumed above, or refused below."""
    here = {name.split()[0] for name in (*OPTIMIZERS, *REFUSED_BY_FIT)}
    assert here >= {
        name
        for name, kind in vars(optim).items()
        if isinstance(kind, type) and issubclass(kind, optim.Optimizer)
    } - {"Optimizer"}
    kinds = {name for name in schedules.__all__ if name != "LRScheduler"}
    assert {name.split()[0] for name in (*SCHEDULES, "ReduceLROnPlateau")} >= kinds


def test_lbfgs_goes_on_too_where_the_loop_is_ones_own(tmp_path):
    """`fit` refuses it; `save` and `load` need not: its state holds numbers, lists of tensors, and
    None.
    """
    path, batch = tmp_path / "run.safetensors", next(Samples().epoch(0))

    def run(steps, load=False, save=False):
        model = network().eval()
        optimizer = optim.LBFGS(model.parameters(), lr=0.1, max_iter=3, history_size=3)
        if load:
            checkpoints.load(path, model, optimizer, None)

        def closure():
            optimizer.zero_grad()
            loss = squared_error(model, batch)
            loss.backward()
            return loss

        for _ in range(steps):
            optimizer.step(closure)
        if save:
            checkpoints.save(path, model, optimizer, None, [checkpoints.random_state()], {})
        return model, optimizer

    whole = run(8)
    run(5, save=True)
    resumed = run(3, load=True)
    assert all(
        torch.equal(a, b)
        for a, b in zip(whole[0].parameters(), resumed[0].parameters(), strict=True)
    )
    assert state(whole[1]) == state(resumed[1])


def test_a_plateau_is_saved_where_the_loop_is_ones_own(tmp_path):
    model, path = network(), tmp_path / "run.safetensors"
    optimizer = momentum(model.parameters())
    scheduler = schedules.ReduceLROnPlateau(optimizer, patience=1)
    for measure in (1.0, math.nan, 2.0):
        scheduler.step(measure)
    checkpoints.save(path, model, optimizer, scheduler, [checkpoints.random_state()], {})
    other = momentum(model.parameters())
    fresh = schedules.ReduceLROnPlateau(other, patience=1)
    checkpoints.load(path, model, other, fresh)
    assert fresh.state_dict() == scheduler.state_dict()


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda p: (optim.LBFGS(p), None), ValueError, r"LBFGS\.step\(\) must be given closure"),
        (
            lambda p: (o := momentum(p), schedules.ReduceLROnPlateau(o)),
            ValueError,
            r"ReduceLROnPlateau\.step\(\) must be given metrics",
        ),
        (
            lambda p: (momentum([nn.Parameter(torch.zeros(1))]), None),
            ValueError,
            "no parameter of this model",
        ),
        (
            lambda p: (o := momentum(p), schedules.LambdaLR(o, Stateful())),
            checkpoints.CheckpointError,
            r"scheduler\.lr_lambdas\.0\.inner is a function, which a checkpoint cannot hold",
        ),
    ],
)
def test_what_cannot_go_on_is_refused_before_training(tmp_path, make, error, message):
    model, calls = network(), []

    def loss(model, batch):
        calls.append(batch)
        return squared_error(model, batch)

    with pytest.raises(error, match=message):
        train(model, *make(model.parameters()), loss=loss, checkpoint=tmp_path / "run")
    assert not calls and not (tmp_path / "run").exists()


class Stateful:
    """A schedule with a state of its own, which torch saves; a function in it cannot be."""

    def __init__(self):
        self.inner = lambda step: 1.0

    def __call__(self, step):
        return self.inner(step)


def test_a_checkpoint_of_other_kinds_is_refused(tmp_path):
    path, model = tmp_path / "run.safetensors", network()
    optimizer = momentum(model.parameters())
    checkpoints.save(
        path, model, optimizer, schedules.StepLR(optimizer, 3), [checkpoints.random_state()], {}
    )
    for make in (momentum, optim.Adam):
        other = make(model.parameters())
        with pytest.raises(
            checkpoints.CheckpointError,
            match=rf"SGD and StepLR; this run has {type(other).__name__} and ExponentialLR",
        ):
            checkpoints.load(path, model, other, schedules.ExponentialLR(other, 0.9))


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        7,
        math.inf,
        "text",
        (1, (2.0, None), [3]),
        {1: "a", "b": {2: (3,)}},
        {"!": "tensor"},
        Counter({3: 1, 8: 2}),
        {4, 5},
        [],
        {},
        (),
    ],
)
def test_facts_come_back_with_their_types(tmp_path, value):
    path, model = tmp_path / "run.safetensors", network()
    optimizer = momentum(model.parameters())
    checkpoints.save(path, model, optimizer, None, [checkpoints.random_state()], {"kept": value})
    kept = checkpoints.load(path, model, optimizer, None)[0]["kept"]
    assert kept == value and type(kept) is type(value) and repr(kept) == repr(value)


def test_an_older_checkpoint_is_read(tmp_path):
    """Version 1 wrote pairs as lists and milestones as text. What it lost by that comes back."""
    import json

    def run(**options):
        model = network()
        optimizer = optim.AdamW(model.parameters(), lr=0.02, betas=(0.8, 0.9))
        return (
            train(model, optimizer, schedules.MultiStepLR(optimizer, [3, 8]), **options),
            model,
            optimizer,
        )

    new, old = tmp_path / "new.safetensors", tmp_path / "old.safetensors"
    torch.manual_seed(2)
    whole, model, _ = run(steps=STEPS)
    torch.manual_seed(2)
    _, _, optimizer = run(steps=STOP, checkpoint=new)
    with safe_open(new, framework="pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        header = checkpoints._made(json.loads(file.metadata()["state"]), tensors)
    tensors = {
        name: tensor for name, tensor in tensors.items() if not name.startswith("generators")
    }
    (generator,) = header["generators"]
    tensors["generator.0.torch"] = generator.pop("torch")
    generator.pop("cuda", None)
    for key in ("kinds", "optimizer"):
        del header[key]
    save_file(tensors, old, {"version": "1", "state": json.dumps(header)})
    resumed, other, optimizer = run(steps=STEPS, checkpoint=old, resume=True)
    assert resumed.learning_rates == whole.learning_rates and len(set(whole.learning_rates)) == 3
    assert all(
        torch.equal(a, b) for a, b in zip(model.parameters(), other.parameters(), strict=True)
    )
    assert optimizer.param_groups[0]["betas"] == (0.8, 0.9)


@pytest.mark.usefixtures("shapes_unchecked")
@pytest.mark.parametrize("batches", [[(torch.zeros(2, 4), torch.zeros(2))], None, "text"])
def test_batches_that_cannot_be_made_again_are_refused(batches):
    model = network()
    with pytest.raises(
        TypeError, match=rf"need a method epoch\(number\).*got a {type(batches).__name__}"
    ):
        fit(model, batches, squared_error, momentum(model.parameters()), steps=1, progress=False)


@pytest.mark.usefixtures("shapes_unchecked")
@pytest.mark.parametrize(
    ("loss", "error", "message"),
    [
        (
            lambda model, batch: squared_error(model, batch).item(),
            TypeError,
            "got a float: leave out",
        ),
        (lambda model, batch: model(batch.x), ValueError, r"one number.*shape \(2, 1\)"),
    ],
)
def test_a_loss_that_is_no_number_is_refused(loss, error, message):
    model = network()
    with pytest.raises(error, match=message):
        train(model, momentum(model.parameters()), None, loss=loss)


def test_the_batch_of_a_nan_is_named_whatever_it_is():
    class Dictionaries:
        def epoch(self, number):
            return [{"x": torch.full((2, 4), math.nan), "y": torch.zeros(2), "note": "hello"}]

    model = network()
    with pytest.raises(FloatingPointError, match=r"Batch 0 of epoch 0 \(x: 2×4, y: 2, note\)"):
        train(
            model,
            momentum(model.parameters()),
            None,
            Dictionaries(),
            lambda model, batch: model(batch["x"]).mean(),
            steps=1,
        )


@pytest.mark.parametrize("evaluate", [None, lambda model: {"one": 1.0}])
def test_each_part_of_the_model_ends_in_the_mode_in_which_it_came(evaluate):
    for training in (True, False):
        model = network().train(training)
        model[2].eval()
        train(model, momentum(model.parameters()), None, steps=2, evaluate=evaluate)
        assert [part.training for part in model.modules()] == [
            training,
            training,
            training,
            False,
            training,
        ]


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("pad_id", [-100, 0])
def test_the_loss_equals_torchs_wherever_padding_is_and_at_impossible_words(smoothing, pad_id):
    from torch.nn.functional import cross_entropy

    from lectures_lib.training import label_smoothed_cross_entropy

    logits = torch.tensor([[0.0, 1.0, -math.inf], [0.5, 0.1, 2.0], [1.0, 2.0, 3.0]])
    targets = torch.tensor([1, 2, pad_id])
    expected = cross_entropy(logits, targets, ignore_index=pad_id, label_smoothing=smoothing)
    assert torch.equal(
        label_smoothed_cross_entropy(logits, targets, smoothing, pad_id).isfinite(),
        expected.isfinite(),
    )
    torch.testing.assert_close(
        label_smoothed_cross_entropy(logits, targets, smoothing, pad_id), expected
    )


@pytest.mark.usefixtures("shapes_unchecked")
@pytest.mark.parametrize(
    ("targets", "message"),
    [
        (torch.tensor([2]), r"logits are \(4, 5\), targets \(1,\)"),
        (torch.zeros(4), "got torch.float32"),
        (torch.tensor([1, 2, 5, 3]), "target 5 is none of the 5 words"),
        (torch.tensor([1, -100, 2, 3]), "target -100 is none of the 5 words"),
    ],
)
def test_targets_that_do_not_fit_are_refused(targets, message):
    from lectures_lib.training import label_smoothed_cross_entropy

    with pytest.raises(ValueError, match=message):
        label_smoothed_cross_entropy(torch.zeros(4, 5), targets)
