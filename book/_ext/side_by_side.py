"""As many pages are read and written at once as the machine has cores; jupyter-book has no option for
it.
"""

import os

from sphinx.application import Sphinx

# These say nothing of it, and may: they number the sections after all pages are read.
SAFE = ("sphinx_multitoc_numbering",)


def spread(app: Sphinx, config) -> None:
    """Before the builder asks how many there may be."""
    for name in SAFE:
        app.extensions[name].parallel_read_safe = True
        app.extensions[name].parallel_write_safe = True
    app.parallel = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


def setup(app: Sphinx) -> dict:
    """Once every extension is there."""
    app.connect("config-inited", spread)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
