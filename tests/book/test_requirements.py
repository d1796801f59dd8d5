"""What is installed: every version that constraints.txt locks must go with every Python the README names."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parents[2]
LOCKED = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().split())


def test_every_locked_version_goes_with_the_oldest_python():
    """Debian 12 has Python 3.11.2. A package locked at a version for 3.11.5 and newer sends pip on a search that fails after minutes."""
    oldest = re.search(r">=(\S+)", tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"])[1]
    too_new = {}
    for name, version in LOCKED.items():
        try:
            found = metadata(name)
        except PackageNotFoundError:
            continue  # for another system
        needed = found.get("Requires-Python")
        if found["Version"].split("+")[0] == version and needed and not SpecifierSet(needed).contains(f"{oldest}.0"):
            too_new[f"{name}=={version}"] = needed
    assert too_new == {}


def test_every_requirement_is_locked():
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    asked = [re.match(r"[\w.-]+", line)[0].lower().replace("_", "-") for line in lines if re.match(r"\w", line)]
    locked = {name.lower().replace("_", "-") for name in LOCKED}
    assert [name for name in asked if name not in locked] == []
