"""Runs of `experiments/images.py` are kept, and taken up again by their name and their size."""

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from lectures_lib import data
from lectures_lib.models.vit import ViTConfig

SCRIPT = Path(__file__).resolve().parents[2] / "experiments" / "images.py"


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
