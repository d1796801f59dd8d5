"""The library of the course *From Attention to BERT*: what the chapters build, one concept a module.

Data flows one way, and so do the imports: text or images → tokens → model → loss → metrics → picture.
"""

from lectures_lib.environment import setup

__all__ = ["setup"]
__version__ = "0.1.0"
