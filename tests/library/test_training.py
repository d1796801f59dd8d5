"""The training loop is the plain one, whatever is added to it: accumulation, processes, precision,
interruption.
"""

import math
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import nn
from torch.optim.lr_scheduler import LambdaLR
from torch.testing import assert_close

from lectures_lib.data import Batches, ImageBatches
from lectures_lib.models.bert import Bert, BertConfig
from lectures_lib.models.word2vec import SkipGramBatches
from lectures_lib.tasks.sentence_bert import SentenceBert, siamese
from lectures_lib.tokenization import WordPiece
from lectures_lib.training import (
    Stream,
    bert_schedule,
    checkpoints,
    distillation_loss,
    fit,
    label_smoothed_cross_entropy,
    plain_step,
    pretraining,
    transformer_schedule,
    translation_loss,
)
from lectures_lib.training.run import bring_home
from tests.helpers import training_run
from tests.helpers.other_device import Elsewhere, other_device
from tests.helpers.training_run import Sample, Samples, squared_error, start, train

RUN = Path(training_run.__file__)


def weights(model):
    return [parameter.detach().clone() for parameter in model.parameters()]


def assert_equal(a, b):
    assert all(torch.equal(x, y) for x, y in zip(a, b, strict=True))


def plain_loop(model, optimizer, scheduler, batches, steps, clip=math.inf):
    """Chapter 8's loop: `plain_step` on one batch after the other."""
    losses = []
    epoch = 0
    while True:
        for batch in batches.epoch(epoch):
            losses.append(plain_step(model, batch, squared_error, optimizer, scheduler, clip))
            if len(losses) == steps:
                return losses
        epoch += 1


@pytest.mark.parametrize("clip", [math.inf, 0.5])
def test_equals_the_plain_loop_bit_for_bit(clip):
    ours, theirs = start(), start()
    torch.manual_seed(2)
    history = train(*ours, clip=clip)
    torch.manual_seed(2)
    losses = plain_loop(*theirs, Samples(), 40, clip)
    assert history.losses == losses
    assert_equal(weights(ours[0]), weights(theirs[0]))
    assert max(history.gradient_norms) > 0.5  # so that clip = 0.5 has something to shorten
    assert history.learning_rates == [0.02 * bert_schedule(5, 100)(step) for step in range(40)]


@pytest.mark.parametrize("accumulate", [2, 3])
def test_accumulated_batches_equal_the_big_batch(accumulate):
    """Batches of different sizes: a mean of their means would not do."""
    ours, theirs = start(dropout=0.0), start(dropout=0.0)
    history = train(*ours, accumulate=accumulate, steps=12)
    expected = train(*theirs, batches=Samples(joined=accumulate), steps=12)
    assert_close(torch.tensor(history.losses), torch.tensor(expected.losses), rtol=1e-6, atol=1e-6)
    # Adam would forgive a gradient that is twice too long: its length is compared too.
    assert_close(
        torch.tensor(history.gradient_norms),
        torch.tensor(expected.gradient_norms),
        rtol=1e-5,
        atol=1e-6,
    )
    assert_close(weights(ours[0]), weights(theirs[0]), rtol=1e-5, atol=1e-6)


def test_batches_without_a_number_of_targets_count_alike():
    class Rows:
        def epoch(self, number):
            return [(batch.x, batch.y) for batch in Samples().epoch(number)]

    model, optimizer, scheduler = start(dropout=0.0)
    batches = list(Samples().epoch(0))[:2]
    expected = sum(squared_error(model, batch).item() for batch in batches) / 2
    history = train(
        model,
        optimizer,
        scheduler,
        Rows(),
        lambda model, batch: squared_error(model, Sample(*batch)),
        accumulate=2,
        steps=1,
    )
    assert history.losses[0] == pytest.approx(expected, rel=1e-6)


def test_the_books_batches_say_how_many_targets_they_have():
    images = [{"image": torch.rand(1, 2, 2), "label": i} for i in range(5)]
    pairs = siamese.SiameseBatches(Letters(), [("ab", "cd")] * 5, batch_size=3)
    grams = SkipGramBatches([[0, 1, 2, 3]] * 5, 4, threshold=1.0, batch_size=7)
    for batches, of in (
        (ImageBatches(images, 3), "labels"),
        (pairs, "label"),
        (grams, "words"),
    ):
        sizes = [(batch.n_targets, len(getattr(batch, of))) for batch in batches.epoch(0)]
        assert len({said for said, _ in sizes}) == 2, "the last batch is smaller"
        assert all(said == there for said, there in sizes)


def test_batches_without_a_single_target_count_alike():
    """Where no token was chosen, BERT's other task still has its loss."""

    class Targetless(NamedTuple):
        x: torch.Tensor
        y: torch.Tensor
        n_targets: int = 0

    class Rows:
        def epoch(self, number):
            return [Targetless(batch.x, batch.y) for batch in Samples().epoch(number)]

    model, *rest = start(dropout=0.0)
    expected = sum(squared_error(model, batch).item() for batch in list(Rows().epoch(0))[:2]) / 2
    history = train(model, *rest, Rows(), accumulate=2, steps=1)
    assert history.losses[0] == pytest.approx(expected, rel=1e-6)


# ---- checkpoints


def test_resumed_equals_uninterrupted_bit_for_bit(tmp_path):
    torch.manual_seed(2)
    whole = start()
    history = train(
        *whole, evaluate=lambda model: {"bias": model[3].bias.item()}, evaluate_every=10
    )
    for stop in (7, 12, 17):  # in an epoch's middle, at its end, after it
        path = tmp_path / f"{stop}.safetensors"
        train(
            *start(),
            steps=stop,
            checkpoint=path,
            evaluate=lambda model: {"bias": model[3].bias.item()},
            evaluate_every=10,
        )
        resumed = start()
        torch.manual_seed(99)  # the checkpoint brings the generators' state with it
        with torch.no_grad():
            resumed[0][0].weight.zero_()
        continued = train(
            *resumed,
            checkpoint=path,
            resume=True,
            evaluate=lambda model: {"bias": model[3].bias.item()},
            evaluate_every=10,
        )
        assert_equal(weights(whole[0]), weights(resumed[0]))
        assert continued.losses == history.losses
        # A run that ends evaluates at its end too.
        assert {
            step: kept for step, kept in continued.evaluations.items() if step % 10 == 0
        } == history.evaluations


def test_killed_at_a_random_step_and_resumed_gives_the_same_weights(tmp_path):
    path = tmp_path / "run.safetensors"
    step = random.SystemRandom().randint(4, 39)
    process = subprocess.Popen(
        [sys.executable, RUN, "until_killed", path], stdout=subprocess.PIPE, text=True
    )
    for _ in range(step):
        assert process.stdout.readline() == "step\n"
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    process.stdout.close()
    resumed = start()
    assert train(*resumed, checkpoint=path, resume=True, save_every=3).step == 40
    whole = start()
    train(*whole)
    differ = [
        not torch.equal(a, b) for a, b in zip(weights(whole[0]), weights(resumed[0]), strict=True)
    ]
    assert not any(differ), f"killed at step {step}"


def test_a_kill_while_writing_leaves_the_old_checkpoint(tmp_path, monkeypatch):
    path = tmp_path / "run.safetensors"
    train(*start(), steps=5, checkpoint=path)
    before = path.read_bytes()

    def half_written(tensors, file, metadata):
        Path(file).write_bytes(before[: len(before) // 2])
        raise KeyboardInterrupt

    monkeypatch.setattr(checkpoints, "save_file", half_written)
    with pytest.raises(KeyboardInterrupt):
        train(*start(), steps=10, checkpoint=path, resume=True)
    assert path.read_bytes() == before
    monkeypatch.undo()
    assert train(*start(), steps=10, checkpoint=path, resume=True).step == 10


def test_tied_weights_are_saved_once_and_come_back(tmp_path):
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding, self.output = nn.Embedding(5, 3), nn.Linear(3, 5, bias=False)
            self.output.weight = self.embedding.weight

    model, other, path = Tied(), Tied(), tmp_path / "tied.safetensors"
    optimizers = [torch.optim.SGD(m.parameters(), lr=0.1) for m in (model, other)]
    checkpoints.save(path, model, optimizers[0], None, [checkpoints.random_state()], {})
    assert [name for name in load_file(path) if name.startswith("model.")] == [
        "model.embedding.weight"
    ]
    checkpoints.load(path, other, optimizers[1], None)
    assert torch.equal(other.output.weight, model.embedding.weight)


def test_random_state_covers_python_and_numpy():
    import numpy

    state = checkpoints.random_state()
    drawn = [random.random(), numpy.random.rand(), torch.rand(1).item()]
    checkpoints.set_random_state(state)
    assert [random.random(), numpy.random.rand(), torch.rand(1).item()] == drawn


def another_optimizer():
    model, _, _ = start()
    optimizer = torch.optim.Adam([*model[:2].parameters()], lr=0.02)
    return model, optimizer, LambdaLR(optimizer, bert_schedule(5, 100))


def another_model():
    model = nn.Sequential(nn.Linear(4, 9), nn.ReLU(), nn.Dropout(0.3), nn.Linear(9, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    return model, optimizer, LambdaLR(optimizer, bert_schedule(5, 100))


@pytest.mark.parametrize(
    ("damage", "run", "options", "message"),
    [
        (lambda b: b[: len(b) // 2], start, {}, r"is damaged .*delete it"),
        (lambda b: b"", start, {}, r"is damaged"),
        (
            lambda b: b,
            another_model,
            {},
            r"another model; 3 weights differ in name or shape, the first: 0\.bias",
        ),
        (lambda b: b, another_optimizer, {}, "another optimizer"),
        (lambda b: b, lambda: (*start()[:2], None), {}, r"with a scheduler"),
        (
            lambda b: b,
            start,
            {"accumulate": 2},
            r"\(processes, accumulate\) = \(1, 1\); this run has \(1, 2\)",
        ),
    ],
)
def test_a_checkpoint_that_does_not_fit_is_refused(tmp_path, damage, run, options, message):
    path = tmp_path / "run.safetensors"
    train(*start(), steps=3, checkpoint=path)
    path.write_bytes(damage(path.read_bytes()))
    model, *others = run()
    before, chance = weights(model), checkpoints.random_state()
    with pytest.raises(checkpoints.CheckpointError, match=message):
        train(model, *others, checkpoint=path, resume=True, **options)
    assert_equal(weights(model), before)  # nothing of it was put in
    assert torch.equal(chance["torch"], torch.get_rng_state())
    assert not others[0].state


def test_a_run_that_ends_before_its_checkpoint_is_refused(tmp_path):
    path, run = tmp_path / "run.safetensors", start()
    train(*start(), steps=4, checkpoint=path)
    before = weights(run[0])
    with pytest.raises(ValueError, match=r"safetensors is that of step 4, .* ends at step 2"):
        train(*run, steps=2, checkpoint=path, resume=True)
    assert_equal(weights(run[0]), before)
    assert train(*run, steps=4, checkpoint=path, resume=True).step == 4


# ---- what goes wrong


def test_a_nan_loss_stops_with_step_and_batch_named_and_the_checkpoint_kept(tmp_path):
    class Poisoned(Samples):
        def epoch(self, number):
            for i, batch in enumerate(super().epoch(number)):
                yield Sample(batch.x, batch.y * math.nan) if (number, i) == (1, 4) else batch

    path, run = tmp_path / "run.safetensors", start()
    with pytest.raises(
        FloatingPointError,
        match=r"step 10: the loss is nan\. Batch 4 of epoch 1 \(x: 6×4, y: 6\).*run.safetensors",
    ):
        train(*run, batches=Poisoned(), checkpoint=path, save_every=4)
    good, fresh = start(), start()
    train(*good, steps=8)
    checkpoints.load(path, *fresh)
    assert_equal(weights(fresh[0]), weights(good[0]))
    assert all(weight.isfinite().all() for weight in weights(run[0]))


def test_an_infinite_gradient_stops_before_it_spoils_the_weights(tmp_path):
    """The loss is fine, its gradient is not: d √x / dx at 0."""
    run = start(dropout=0.0)
    before = weights(run[0])
    with pytest.raises(
        FloatingPointError, match=r"the loss is 0 but its gradient has length (inf|nan)"
    ):
        train(
            *run,
            loss=lambda model, batch: (model(batch.x) * 0).sum().sqrt(),
            checkpoint=tmp_path / "run",
        )
    assert_equal(weights(run[0]), before)
    assert not (tmp_path / "run").exists()


def test_weights_that_are_not_finite_never_replace_a_checkpoint(tmp_path):
    path, run = tmp_path / "run.safetensors", start()
    train(*run, steps=2, checkpoint=path)
    before = path.read_bytes()
    with torch.no_grad():
        run[0][0].bias[0] = math.inf
    with pytest.raises(checkpoints.CheckpointError, match=r"left as it was: .* 0\.bias"):
        checkpoints.save(path, *run, [checkpoints.random_state()], {})
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": 0}, "steps = 0"),
        ({"accumulate": 0}, "accumulate = 0"),
        ({"clip": 0.0}, r"clip = 0\.0"),
        ({"clip": math.nan}, "clip = nan"),
        ({"resume": True}, "resume=True needs checkpoint"),
        (
            {"batches": type("Empty", (), {"epoch": lambda self, number: []})()},
            "epoch 0 of the data has no batches",
        ),
    ],
)
def test_bad_input_is_refused_with_its_numbers(options, message):
    with pytest.raises(ValueError, match=message):
        train(*start(), **options)


@pytest.mark.parametrize("steps", [2.5, math.nan])
def test_half_a_step_is_refused(shapes_unchecked, steps):
    with pytest.raises(ValueError, match=f"steps = {steps}, which is no whole number"):
        train(*start(), steps=steps)


# ---- devices, precision, processes


def test_mixed_precision_trains_and_is_taken_off_again():
    runs = {precision: start(dropout=0.0) for precision in ("no", "bf16")}
    seen = []

    def loss(model, batch):
        hook = model[0].register_forward_hook(
            lambda module, args, output: seen.append(output.dtype)
        )
        value = squared_error(model, batch)
        hook.remove()
        return value

    histories = {
        precision: train(*run, loss=loss, mixed_precision=precision)
        for precision, run in runs.items()
    }
    assert seen == [torch.float32] * 40 + [torch.bfloat16] * 40
    assert_close(
        torch.tensor(histories["bf16"].losses),
        torch.tensor(histories["no"].losses),
        rtol=0.1,
        atol=0.1,
    )
    assert histories["bf16"].losses != histories["no"].losses
    model = runs["bf16"][0]
    assert all(weight.dtype == torch.float32 for weight in weights(model))
    seen.clear()
    loss(model, next(Samples().epoch(0)))
    assert seen == [torch.float32]  # and the model computes in full precision again


def test_a_second_run_of_the_same_model_has_the_precision_it_asks_for():
    model, *rest = start(dropout=0.0)
    seen = []
    model[0].register_forward_hook(lambda module, args, output: seen.append(output.dtype))
    for precision in ("no", "bf16", "no"):
        train(model, *rest, mixed_precision=precision)
    assert seen == [torch.float32] * 40 + [torch.bfloat16] * 40 + [torch.float32] * 40


def test_after_mixed_precision_the_model_still_checks_what_it_is_given():
    class Texts:
        def epoch(self, number):
            return [(torch.full((2, 5), 3),)]

    model = Bert(BertConfig(50, 16, 1, 2, 32, max_len=10))
    optimizer = torch.optim.Adam(model.parameters())

    def loss(model, batch):
        return model(*batch).pooled.square().mean()

    mask = torch.tensor([[1, 1, 1, 0, 0]] * 2)
    for precision in ("no", "bf16"):
        train(model, optimizer, None, Texts(), loss, mixed_precision=precision, steps=1)
        with pytest.raises(ValueError, match="look like a mask of real tokens"):
            model(torch.full((2, 5), 3), mask)
        assert "forward" not in vars(model)


def test_a_forward_pass_of_ones_own_stays_after_mixed_precision():
    model, *rest = start()
    own = model.forward = lambda x: nn.Sequential.forward(model, x)
    train(model, *rest, mixed_precision="bf16", steps=1)
    assert vars(model)["forward"] is own


@pytest.mark.parametrize("fused", [False, True])
def test_what_the_optimizer_keeps_comes_home_with_the_model(fused):
    model = start()[0]
    optimizer = torch.optim.Adam(model.parameters(), fused=fused)
    train(model, optimizer, None, steps=1)
    state = list(optimizer.state.values())
    before = [{name: tensor.clone() for name, tensor in kept.items()} for kept in state]
    with other_device() as device:
        for kept in state:
            kept.update({n: x.to(device) for n, x in kept.items() if n != "step" or fused})
        bring_home(optimizer)
        assert not any(isinstance(x, Elsewhere) for kept in state for x in kept.values())
    for kept, was in zip(state, before, strict=True):
        assert_close(kept, was)
    train(model, optimizer, None, steps=1)


def test_a_checkpoint_that_cannot_be_read_leaves_the_model_as_it_was(tmp_path):
    (tmp_path / "damaged.safetensors").write_bytes(b"nothing")
    run = start(dropout=0.0)
    damaged = {"checkpoint": tmp_path / "damaged.safetensors", "resume": True}
    with pytest.raises(checkpoints.CheckpointError):
        train(*run, mixed_precision="bf16", **damaged)
    assert run[0](torch.randn(2, 4)).dtype == torch.float32


def test_two_processes_equal_one_with_twice_the_batch(tmp_path):
    # Several processes on CPUs: the launcher has no name of its own for it. This is the one for
    # GPUs, told to use none (gloo).
    command = [
        sys.executable,
        "-m",
        "accelerate.commands.launch",
        "--multi_gpu",
        "--num_processes=2",
        "--num_machines=1",
    ]
    command += [
        "--mixed_precision=no",
        "--dynamo_backend=no",
        "--num_cpu_threads_per_process=1",
        "--main_process_port=0",
    ]
    env = os.environ | {"ACCELERATE_USE_CPU": "true"}
    done = subprocess.run(
        [*command, RUN, "in_processes", tmp_path],
        capture_output=True,
        text=True,
        timeout=300,
        env=env,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    model, optimizer, scheduler = start(dropout=0.0)
    history = train(model, optimizer, scheduler, Samples(joined=2), steps=8)
    for process in (0, 1):
        results = load_file(tmp_path / f"process_{process}.safetensors")
        assert_close(results.pop("losses"), torch.tensor(history.losses), rtol=1e-5, atol=1e-6)
        assert_close(
            results.pop("gradient_norms"),
            torch.tensor(history.gradient_norms),
            rtol=1e-4,
            atol=1e-6,
        )
        assert results.pop("same"), "resumed in two processes, the weights differ"
        assert_close(results, dict(model.state_dict()), rtol=1e-4, atol=1e-6)


def test_batches_are_dealt_out_to_the_processes():
    batches = type(
        "Numbers", (), {"epoch": lambda self, number: [10 * number + i for i in range(5)]}
    )()
    streams = [Stream(batches, process, 2) for process in (0, 1)]
    dealt = [[stream.next().batch for _ in range(5)] for stream in streams]
    assert dealt == [[0, 2, 4, 11, 13], [1, 3, 10, 12, 14]]
    assert [(stream.epoch, stream.index) for stream in streams] == [(1, 5), (1, 5)]


def test_a_process_makes_its_own_batches_only():
    made = []

    def collate(examples):
        made.append(examples)
        return tuple(examples)

    batches = Batches([([i],) for i in range(8)], collate, batch_size=1)
    everything = list(batches.epoch(0))
    made.clear()
    second = Stream(batches, process=1, n_processes=2)
    assert [second.next().batch for _ in range(3)] == everything[1:6:2]
    assert len(made) == 3


class Letters(SentenceBert):
    """Of an encoder only what the batches ask for: the ids of texts."""

    def __init__(self):
        nn.Module.__init__(self)

    def all_ids(self, texts, *options, **more):
        return [[ord(letter) for letter in text] for text in texts]


def of_images(noted, monkeypatch):
    images = [{"image": torch.rand(1, 2, 2), "label": i} for i in range(20)]
    augment = noted(lambda x, chance: x + torch.rand(len(x), 1, 1, 1, generator=chance))
    return ImageBatches(images, 2, augment=augment)


def of_masked_pairs(noted, monkeypatch):
    monkeypatch.setattr(pretraining.batches, "pad", noted(pretraining.batches.pad))
    sentences = [f"{a} {b}" for a in "abcdef" for b in "ghijkl"]
    documents, tokenizer = [sentences, sentences[::-1]], WordPiece.train(sentences, 60)
    return pretraining.PreTrainingBatches(documents, tokenizer, max_len=12, batch_size=2)


def of_siamese_pairs(noted, monkeypatch):
    monkeypatch.setattr(siamese, "pad", noted(siamese.pad))
    return siamese.SiameseBatches(Letters(), [(f"{i}", "ab") for i in range(20)], batch_size=2)


@pytest.mark.parametrize("data", [of_images, of_masked_pairs, of_siamese_pairs])
def test_whatever_the_data_a_process_makes_its_own_batches_only(data, monkeypatch):
    seen = []

    def noted(function):
        return lambda *given: seen.append(given) or function(*given)

    batches = data(noted, monkeypatch)
    everything = list(batches.epoch(0))
    for_one = len(seen) / len(everything)
    for process in (0, 1):
        seen.clear()
        stream = Stream(batches, process, 2)
        dealt = [stream.next().batch for _ in range(4)]
        assert len(seen) == 4 * for_one > 0
        for batch, wanted in zip(dealt, everything[process:8:2], strict=True):
            assert_equal(batch, wanted)


def test_evaluation_leaves_training_as_it_was():
    modes = []

    def evaluate(model):
        modes.append(model.training)
        return {"one": 1.0}

    watched, alone = start(), start()
    torch.manual_seed(2)
    history = train(*watched, evaluate=evaluate, evaluate_every=15)
    torch.manual_seed(2)
    train(*alone)
    assert_equal(weights(watched[0]), weights(alone[0]))
    assert list(history.evaluations) == [15, 30, 40] and not any(modes)


def test_an_evaluation_as_a_named_tuple_can_be_saved(tmp_path):
    options = {"evaluate_every": 2, "save_every": 2, "checkpoint": tmp_path / "run.safetensors"}
    scores = pretraining.evaluation.Scores(2.0, 0.5, 0.25, 8, 4)
    history = train(*start(), steps=2, evaluate=lambda model: scores, **options)
    assert history.evaluations == {2: scores._asdict()}
    again = train(*start(), steps=3, evaluate=lambda model: scores, resume=True, **options)
    assert again.evaluations == {2: scores._asdict(), 3: scores._asdict()}


def test_an_evaluation_without_names_is_refused_when_it_is_made():
    asked = []
    with pytest.raises(TypeError, match=r"evaluate returns a dictionary .* got a float"):
        train(*start(), evaluate=lambda model: asked.append(1) or 0.5, evaluate_every=3)
    assert len(asked) == 1


# ---- losses and schedules


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_losses_in_half_precision_are_added_up_in_full(smoothing):
    """20,000 losses of about 7 are more than float16 can hold."""
    torch.manual_seed(0)
    logits, targets = torch.randn(20_000, 900), torch.randint(1, 900, (20_000,))
    expected = label_smoothed_cross_entropy(logits, targets, smoothing)
    for dtype, tolerance in ((torch.float16, 1e-3), (torch.bfloat16, 1e-2), (torch.float64, 1e-5)):
        found = label_smoothed_cross_entropy(logits.to(dtype), targets, smoothing)
        assert found.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
        assert_close(found.float(), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 1.0])
def test_label_smoothing_equals_torch(smoothing):
    targets = torch.randint(0, 7, (3, 5))
    targets[:, 3:] = 0
    ours, theirs = (
        torch.randn(3, 5, 7, generator=torch.Generator().manual_seed(1)).requires_grad_()
        for _ in range(2)
    )
    loss = label_smoothed_cross_entropy(ours, targets, smoothing)
    expected = F.cross_entropy(
        theirs.flatten(0, 1), targets.flatten(), ignore_index=0, label_smoothing=smoothing
    )
    assert_close(loss, expected)
    assert_close(torch.autograd.grad(loss, ours)[0], torch.autograd.grad(expected, theirs)[0])


def test_padding_alone_has_no_loss_and_no_gradient():
    logits = torch.randn(2, 3, 7, requires_grad=True)
    loss = label_smoothed_cross_entropy(logits, torch.zeros(2, 3, dtype=torch.long), 0.1)
    assert loss.item() == 0
    assert torch.autograd.grad(loss, logits)[0].abs().max() == 0


def test_label_smoothing_by_hand():
    """Two words, scores 0 and ln 3: probabilities 1/4 and 3/4. Smoothed by 0.2, the right word's
    target is 0.9, the other's 0.1.
    """
    logits = torch.tensor([[0.0, math.log(3)]])
    expected = -0.9 * math.log(3 / 4) - 0.1 * math.log(1 / 4)
    assert label_smoothed_cross_entropy(logits, torch.tensor([1]), 0.2).item() == pytest.approx(
        expected
    )
    with pytest.raises(ValueError, match=r"1\.5"):
        label_smoothed_cross_entropy(logits, torch.tensor([1]), 1.5)


def both_scores(*shape, scale=3.0):
    """A student's and a teacher's scores, in double precision."""
    generator = torch.Generator().manual_seed(2)
    return (
        (scale * torch.randn(*shape, generator=generator, dtype=torch.float64)).requires_grad_()
        for _ in range(2)
    )


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0, 4.0])
def test_distillation_equals_torch(temperature):
    """The divergence and its gradient, for positions in one dimension and in two."""
    for shape in ((5, 7), (2, 3, 7)):
        ours, teacher = both_scores(*shape)
        theirs = ours.detach().clone().requires_grad_()
        loss = distillation_loss(ours, teacher, temperature)
        divergence = nn.KLDivLoss(reduction="batchmean", log_target=True)(
            (theirs / temperature).log_softmax(dim=-1).flatten(0, -2),
            (teacher.detach() / temperature).log_softmax(dim=-1).flatten(0, -2),
        )
        assert_close(loss, temperature**2 * divergence)
        expected = torch.autograd.grad(temperature**2 * divergence, theirs)[0]
        assert_close(torch.autograd.grad(loss, ours)[0], expected)


def test_a_teacher_is_not_taught():
    student, teacher = both_scores(4, 7)
    distillation_loss(student, teacher, 2.0).backward()
    assert teacher.grad is None and student.grad.abs().max() > 0
    assert distillation_loss(teacher.detach(), teacher, 2.0).item() == pytest.approx(0, abs=1e-12)


def test_a_teacher_that_is_sure_is_a_label():
    student, _ = both_scores(4, 7)
    labels = torch.tensor([0, 6, 3, 3])
    sure = 1e4 * F.one_hot(labels, 7).double()
    assert_close(distillation_loss(student, sure), F.cross_entropy(student, labels))


def test_at_a_high_temperature_centred_scores_are_matched():
    """Hinton, Vinyals and Dean 2015, section 2.1: the gradient is that of squared differences, with
    the scores brought to a mean of 0. Without the factor T² nothing of it would be left.
    """
    student, teacher = both_scores(4, 7)
    centred = [scores - scores.mean(dim=-1, keepdim=True) for scores in (student, teacher.detach())]
    squares = (centred[0] - centred[1]).square().mean(dim=-1).mean() / 2
    expected = torch.autograd.grad(squares, student)[0]
    found = torch.autograd.grad(distillation_loss(student, teacher, 1e6), student)[0]
    assert_close(found, expected, rtol=1e-4, atol=1e-5)
    near = torch.autograd.grad(distillation_loss(student, teacher, 1.0), student)[0]
    assert (near - expected).abs().max() > 0.05


def test_no_position_has_no_loss_to_teach():
    student, teacher = both_scores(0, 7)
    loss = distillation_loss(student, teacher)
    assert loss.item() == 0 and torch.autograd.grad(loss, student)[0].shape == (0, 7)


def test_what_cannot_be_distilled_is_said():
    student, teacher = both_scores(4, 7)
    with pytest.raises(ValueError, match=r"scores are \(4, 7\), teacher_scores \(3, 7\)"):
        distillation_loss(student, teacher[:3])
    for temperature in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match=rf"above 0, got {temperature}"):
            distillation_loss(student, teacher, temperature)


def test_translation_loss_shifts_by_one():
    from lectures_lib.data import pad_pairs

    batch = pad_pairs([([5, 6, 2], [1, 4, 5, 2]), ([5, 2], [1, 6, 2])])
    seen = {}

    class Right(nn.Module):
        def forward(self, source, target, source_lengths):
            seen.update(source=source, target=target, lengths=source_lengths)
            return F.one_hot(batch.predicted, 7) * 100.0

    assert translation_loss(Right(), batch).item() == pytest.approx(0, abs=1e-6)
    assert seen["target"].tolist() == [[1, 4, 5], [1, 6, 2]] and batch.predicted.tolist() == [
        [4, 5, 2],
        [6, 2, 0],
    ]
    assert batch.n_targets == 5 and seen["lengths"].tolist() == [3, 2]


def rates(schedule, steps, lr=1.0):
    """The learning rate that an optimizer really gets at each step."""
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=lr)
    scheduler = LambdaLR(optimizer, schedule)
    seen = []
    for _ in range(steps):
        seen.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return seen


def test_transformer_schedule_is_the_papers_formula():
    seen = rates(transformer_schedule(512, 4000), 9000)
    for step in (1, 2, 3999, 4000, 4001, 9000):
        assert seen[step - 1] == pytest.approx(
            512**-0.5 * min(step**-0.5, step * 4000**-1.5), rel=1e-12
        )
    assert max(seen) == seen[3999] == pytest.approx(1 / math.sqrt(512 * 4000))


def test_bert_schedule_equals_hugging_face():
    from transformers import get_linear_schedule_with_warmup

    seen = rates(bert_schedule(10, 100), 105, lr=1e-4)
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=1e-4)
    theirs = get_linear_schedule_with_warmup(optimizer, 10, 100)
    for step, rate in enumerate(seen):
        assert rate == pytest.approx(theirs.get_last_lr()[0], abs=1e-18), step
        optimizer.step()
        theirs.step()
    assert (seen[0], seen[10], seen[100]) == (0.0, 1e-4, 0.0)
    assert bert_schedule(0, 10)(0) == 1.0
    with pytest.raises(ValueError, match="warmup = 10 and total = 10"):
        bert_schedule(10, 10)


def test_runs_without_a_scheduler():
    model, _, _ = start()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    assert set(
        fit(model, Samples(), squared_error, optimizer, steps=3, progress=False).learning_rates
    ) == {0.02}
