"""The drawings laid out for a telephone: `draw(name, narrow=True)`. Each function here has the name
and the module's name of the one that lays the same drawing out wide.

On a page narrower than the wide layout may become, the site shows these
(`book/_ext/narrow_drawings.py`); a notebook shows the wide ones. Both show the same numbers and
have the same title and caption.
"""

import importlib
from collections.abc import Callable

from lectures_lib.show.drawings.canvas import Canvas


def narrow_layout(wide: Callable[[], Canvas]) -> Callable[[], Canvas]:
    """The narrow layout of the drawing that this function lays out wide."""
    module = wide.__module__.rpartition(".")[2]
    return getattr(importlib.import_module(f"{__name__}.{module}"), wide.__name__)
