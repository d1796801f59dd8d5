"""The experiments that a GPU can run, in small, on a device that is none (`other_device`): what
stays behind on the CPU is an error there, as it would be on a GPU; and no model is left to compute
on the CPU while there is something better.

Their data is a handful of rows that come with the library or are written here.
"""

import sys
from dataclasses import replace

import pytest
from transformers import BertModel

from lectures_lib import data, results, stored
from lectures_lib.data import Examples
from lectures_lib.models import minilm
from lectures_lib.models.bert import BertConfig
from lectures_lib.models.transformer import TransformerConfig
from lectures_lib.models.vit import ViTConfig
from lectures_lib.stored import for_tasks, from_nothing
from lectures_lib.training import fit
from tests.helpers.other_device import Elsewhere, other_device, products_on_the_cpu, trained_there
from tests.helpers.scripts import imported, scripts
from tests.helpers.training_run import Samples, squared_error, start

SENTENCES = [
    "The ferry leaves the harbour at nine.",
    "It carries letters, bread and a few goats.",
    "Nobody on the island owns a car.",
    "At noon the bells ring, and the shops close.",
    "In winter the ferry stays where it is.",
    "Then the islanders mend their nets.",
]
DOCUMENTS = [SENTENCES[i:] + SENTENCES[:i] for i in range(6)]
PLAY = "\n".join(f"SAILOR:\n{sentence}\n" for document in DOCUMENTS for sentence in document)
N_ROWS = 8


def few(task, split="train", source="offline", **options):
    """What a script asks for, in small, whatever source it names."""
    if task == "pretraining":
        return Examples(DOCUMENTS, "written for a test")
    if task == "language_model":
        return Examples([PLAY], "written for a test")
    if task == "translation":
        return LOAD(task, split, counts=(1,), size=40)
    return Examples(LOAD(task, split)[: 60 if task == "images" else N_ROWS], "the beginning")


LOAD = data.load


class Script:
    """An experiment's module and what it says of itself when it has run."""

    def __init__(self, module, monkeypatch):
        self.module, self.monkeypatch, self.saved = module, monkeypatch, {}

    def run(self, *arguments, cpu=False):
        """As from the command line; `cpu`: it may compute there."""
        self.monkeypatch.setattr(sys, "argv", [self.module.__name__, *map(str, arguments)])
        with trained_there(), products_on_the_cpu() as left_behind:
            self.module.main()
        assert cpu or left_behind == []


@pytest.fixture(scope="module", autouse=True)
def hugging_faces_functions():
    """Some of transformers' functions are made at their first call. Made on the pretended device
    they would leave a part of every later model in this process without its numbers.
    """
    BertModel.from_pretrained(minilm.checkpoint())


@pytest.fixture
def script(monkeypatch, tmp_path):
    """Makes one: its device is the pretended one, its data a handful, its results kept here."""
    monkeypatch.setattr(data, "load", few)
    for module in (stored, for_tasks, from_nothing):
        monkeypatch.setattr(module, "FOLDER", tmp_path)

    def nothing(name, *_):
        raise FileNotFoundError(name)

    monkeypatch.setattr(results, "load", nothing)
    with other_device() as device, scripts() as load:

        def made(name, **sizes):
            module = load(name)
            for one in imported():
                if hasattr(one, "DEVICE"):
                    monkeypatch.setattr(one, "DEVICE", device)
            for size, changed in sizes.items():
                monkeypatch.setitem(module.SIZES, size, replace(module.SIZES[size], **changed))
            found = Script(module, monkeypatch)

            def save(name, measured, *_, **__):
                found.saved[name] = measured

            monkeypatch.setattr(results, "save", save)
            return found

        yield made


def test_captions(script, monkeypatch, tmp_path):
    tiny = TransformerConfig(300, 16, n_heads=2, n_layers=1, d_ff=16, dropout=0.1, max_len=16)
    size = {"model": tiny, "steps": 2, "evaluate_every": 2, "max_tokens": 256, "n_test": 2}
    runs = script("multi30k", smoke=size | {"stored": True, "file": "tried_out"})
    monkeypatch.setattr(runs.module, "DIRECTIONS", ["en-de"])
    runs.run("--runs", tmp_path)
    found = runs.saved["tried_out"]["en-de"]
    assert 0 <= found["stored"] <= 100 and found["equal"].keys() == {"greedy", "beam"}


def test_plays(script, tmp_path):
    runs = script("language_models")
    size = {"model": runs.module.config(16, 1, 2, 0.1, 16), "steps": 3, "batch_size": 2}
    size |= {"warmup": 1, "evaluate_every": 3, "n_characters": 150, "orders": (2,), "stored": True}
    runs = script("language_models", smoke=size | {"file": "tried_out"})
    runs.run("--runs", tmp_path)
    found = runs.saved["tried_out"]["trained"]
    assert found["stored"]["equal"].keys() == {"validation", "test"}


def test_images(script, tmp_path):
    tiny = replace(ViTConfig.SMALL, d_model=16, n_layers=1, n_heads=2, d_ff=16, dropout=0.1)
    size = {"model": tiny, "steps": 2, "batch": 8, "n_train": 40, "n_test": 10}
    runs = script("images", smoke=size | {"sources": ("fashion_mnist",), "file": "tried_out"})
    runs.run("--runs", tmp_path)
    assert runs.saved["tried_out"]["fashion_mnist"].keys() == {"vit", "hybrid", "cnn"}


def test_berts_choices(script, tmp_path):
    tiny = replace(BertConfig.TINY, d_model=16, n_layers=1, n_heads=2, d_ff=16)
    size = {"config": tiny, "steps": 2, "batch": 4, "vocab": 200, "file": "tried_out"}
    runs = script("bert_ablations", smoke=size)
    runs.run("--size", "smoke", "--seeds", 0, "--runs", tmp_path)
    assert runs.saved["tried_out"].keys() >= runs.module.VARIANTS.keys()


def test_holes(script, monkeypatch, tmp_path):
    size = {"steps": 2, "max_tokens": 64, "evaluate_every": 2, "file": "tried_out"}
    runs = script("fill_mask", smoke=size)
    monkeypatch.setattr(runs.module, "documents", lambda split: [SENTENCES[:3]])
    monkeypatch.setattr(runs.module, "PROBES", runs.module.PROBES[:1])
    runs.run("--size", "smoke", "--checkpoint", tmp_path / "run.safetensors")
    assert 0 <= runs.saved["tried_out"]["stored"]["equal"] <= 1


@pytest.mark.parametrize(
    "objectives",
    [
        ["classification"],
        pytest.param(["regression", "in_batch", "margin"], marks=pytest.mark.long),
    ],
    ids=" ".join,
)
def test_sentence_vectors(script, monkeypatch, objectives):
    runs = script("sentence_vectors")
    chosen = {name: runs.module.OBJECTIVES[name] for name in objectives}
    monkeypatch.setattr(runs.module, "OBJECTIVES", chosen)
    runs.run("--smoke")


@pytest.mark.parametrize("task", ["sst2", "stsb", "wnut", "squad"])
def test_fine_tuning(script, task):
    script("fine_tuning").run("--task", task, "--smoke")


@pytest.mark.parametrize("task", ["sst2", "stsb", "wnut"])
def test_small_differences(script, task, tmp_path):
    runs = script("low_rank")
    # the differences are put into MiniLM's layers when they are read again: on the CPU
    runs.run("--task", task, "--seeds", 0, "--runs", tmp_path, cpu=True)
    found = runs.saved[f"low_rank_{task}"]["stored"]
    assert ("largest_difference" if task == "stsb" else "equal") in found


def test_the_small_sets(script):
    """A script for a CPU, whose training goes where accelerate sends it."""
    runs = script("fine_tuning_small")
    runs.run("--only", "sentiment", "entities", "--seeds", 0, cpu=True)
    assert runs.saved["fine_tuning_small"].keys() == {"sentiment", "entities"}


def test_the_device_trains_as_the_cpu_does():
    """The same losses; while it lasts the weights are there, and afterwards back."""
    here, (model, optimizer, scheduler) = start(dropout=0.0), start(dropout=0.0)
    expected = fit(here[0], Samples(), squared_error, *here[1:], steps=5, progress=False)
    seen = []

    def loss(model, batch):
        seen.append(isinstance(next(model.parameters()), Elsewhere))
        return squared_error(model, batch)

    with other_device(), trained_there():
        found = fit(model, Samples(), loss, optimizer, scheduler, steps=5, progress=False)
    assert all(seen) and not isinstance(next(model.parameters()), Elsewhere)
    assert found.losses == pytest.approx(expected.losses, rel=1e-5)
