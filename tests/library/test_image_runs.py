"""Runs of experiments are kept, and taken up again by their name and their size."""

import importlib.util
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from lectures_lib import data, results
from lectures_lib.models.vit import ViTConfig

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"
SCRIPT = EXPERIMENTS / "images.py"


@pytest.fixture
def images(monkeypatch):
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("experiments_images", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


def test_a_run_of_another_size_is_not_taken_for_this_one(images, monkeypatch, tmp_path):
    digits, run = data.handwritten_digits()[:60], tmp_path / "digits_cnn_plain_0"
    size = images.Size(ViTConfig.SMALL, steps=2, batch=8)
    found = images.measure(size, digits, digits, "cnn", False, 0, run)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".checkpoint", ".json"]

    monkeypatch.setattr(images, "fit", None)  # from here on nothing is trained
    again = replace(size, models=("vit", "cnn"), seeds=(0, 1))
    assert images.measure(again, digits, digits, "cnn", False, 0, run) == found
    for changed, says in (
        ({"steps": 3}, r"another size, \{'steps': 2\} where \{'steps': 3\} is asked for"),
        ({"model": replace(ViTConfig.SMALL, n_layers=1)}, "'n_layers': 1"),
    ):
        with pytest.raises(ValueError, match=says):
            images.measure(replace(size, **changed), digits, digits, "cnn", False, 0, run)


def test_some_models_alone_leave_what_the_file_has_of_others(images, monkeypatch):
    class Rows(list):
        origin = "rows"

    numbers = {"test": 0.5, "validation": 0.5, "minutes": 1.0, "by_step": {"1": 0.5}}
    held = {"vit": {"augmented": results.spreads([numbers]) | {"n_parameters": 5}}}
    record = {"results": {"fashion_mnist": held}, "seeds": [0]}
    saved = {}
    monkeypatch.setattr(images.results, "to_add_to", lambda *_: record)
    monkeypatch.setattr(images.data, "load", lambda *_: Rows())
    monkeypatch.setattr(images, "measure", lambda *_: numbers | {"test": 0.8, "n_parameters": 7})
    monkeypatch.setattr(images.results, "save", lambda _, found, *a, **b: saved.update(found))
    monkeypatch.setattr(
        sys, "argv", ["images.py", *["--size", "cpu", "--sources", "cifar10", "--models", "hybrid"]]
    )
    images.main()
    assert saved["fashion_mnist"] == held
    assert list(saved["cifar10"]) == ["hybrid"]
    assert saved["cifar10"]["hybrid"]["augmented"]["test"]["values"] == [0.8]


def test_each_size_keeps_its_runs_in_a_folder_of_its_own(tmp_path):
    cpu, full = (results.folder_of_runs(tmp_path / "runs", size) for size in ("cpu", "full"))
    assert cpu != full and cpu.is_dir() and full.is_dir()
    (cpu / "seed_0.json").write_text("{}")
    assert [path.name for path in results.folder_of_runs(tmp_path / "runs", "cpu").iterdir()] == [
        "seed_0.json"
    ]
    assert not list(full.iterdir())
    thrown_away = results.folder_of_runs(None, "cpu")
    assert thrown_away.is_dir() and thrown_away != results.folder_of_runs(None, "cpu")


@pytest.mark.parametrize(
    "script",
    [
        script
        for script in sorted(EXPERIMENTS.glob("*.py"))
        if all(option in script.read_text(encoding="utf-8") for option in ('"--size"', '"--runs"'))
    ],
    ids=lambda script: script.stem,
)
def test_no_experiment_takes_up_a_run_of_another_size(script):
    """Each either keeps them apart, or compares their settings, as above."""
    assert re.search(r"results\.folder_of_runs\(|size\.of_a_run\(", script.read_text("utf-8"))
