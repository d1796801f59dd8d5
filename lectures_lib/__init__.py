"""The library of the course *From Attention to BERT*: what the chapters build, one concept a
module.

Data flows one way, and so do the imports: text or images → tokens → model → loss → metrics →
picture.
"""

import os
import sys

_ours = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
if sys.argv[:1] == ["-m"] and os.path.realpath(os.curdir) != _ours:
    # `python -m lectures_lib.homework`, started in some folder: what lies there is not to be
    # imported, a student's typer.py least of all.
    sys.path[:] = [
        folder for folder in sys.path if os.path.realpath(folder) != os.path.realpath(os.curdir)
    ]

from lectures_lib.environment import setup  # noqa: E402

__all__ = ["setup"]
__version__ = "0.1.0"
