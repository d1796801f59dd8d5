"""As many pages are read and written at once as the machine has cores; jupyter-book has no option for
it. None of them looks for circles of dead objects every moment: a page is a million living ones.
"""

import gc
import os

from sphinx.application import Sphinx

# These say nothing of it, and may: they number the sections after all pages are read.
SAFE = ("sphinx_multitoc_numbering",)
NEW = 500_000  # objects until the youngest are looked through; Python's own 700 took a fifth of the time


def spread(app: Sphinx, config) -> None:
    """Before the builder asks how many there may be."""
    for name in SAFE:
        app.extensions[name].parallel_read_safe = True
        app.extensions[name].parallel_write_safe = True
    gc.freeze()
    gc.set_threshold(NEW)
    app.parallel = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


def setup(app: Sphinx) -> dict:
    """Once every extension is there."""
    app.connect("config-inited", spread)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
