"""Experiments as modules: they import one another by plain names, as a script does."""

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"
NAMES = {path.stem for path in EXPERIMENTS.glob("*.py")}


@contextmanager
def scripts() -> Iterator[Callable[[str], ModuleType]]:
    """Gives what imports one by its name, anew; afterwards all that had such names are as before."""
    before = {name: sys.modules.pop(name) for name in NAMES & sys.modules.keys()}
    sys.path.insert(0, str(EXPERIMENTS))
    try:
        yield importlib.import_module
    finally:
        sys.path.remove(str(EXPERIMENTS))
        for name in NAMES & sys.modules.keys():
            del sys.modules[name]
        sys.modules.update(before)


def imported() -> list[ModuleType]:
    """Those that are imported at the moment."""
    return [sys.modules[name] for name in NAMES & sys.modules.keys()]
