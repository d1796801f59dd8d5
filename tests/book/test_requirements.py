"""What is installed: every version that constraints.txt locks must go with every Python the README
names.
"""

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib.metadata import (
    PackageNotFoundError,
    distribution,
    metadata,
    packages_distributions,
)
from pathlib import Path

import nbformat
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
LOCKED = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().split())


def test_every_locked_version_goes_with_the_oldest_python():
    """Debian 12 has Python 3.11.2. A package locked at a version for 3.11.5 and newer sends pip on
    a search that fails after minutes.
    """
    oldest = re.search(
        r">=([\d.]+)",
        tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"],
    )[1]
    too_new = {}
    for name, version in LOCKED.items():
        try:
            found = metadata(name)
        except PackageNotFoundError:
            continue  # for another system
        needed = found.get("Requires-Python")
        if (
            found["Version"].split("+")[0] == version
            and needed
            and not SpecifierSet(needed).contains(f"{oldest}.0")
        ):
            too_new[f"{name}=={version}"] = needed
    assert too_new == {}


def test_every_python_that_the_package_takes_is_tried_at_each_push():
    """With all tests at both ends; between them what another Python may break."""
    asked = SpecifierSet(
        tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    )
    steps = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())
    tried = [
        (each["python"], each["target"])
        for each in steps["jobs"]["test"]["strategy"]["matrix"]["include"]
    ]
    every = [f"3.{minor}" for minor in range(30) if asked.contains(f"3.{minor}.0")]
    assert [python for python, _ in tried] == every
    assert [target for _, target in tried] == ["test", "test-code", "test"]
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert {target for _, target in tried} <= {*targets, "test"}


def test_every_requirement_is_locked():
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    asked = [
        re.match(r"[\w.-]+", line)[0].lower().replace("_", "-")
        for line in lines
        if re.match(r"\w", line)
    ]
    locked = {name.lower().replace("_", "-") for name in LOCKED}
    assert [name for name in asked if name not in locked] == []


# -------------------------------------------------------------------------------------- the package

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
GRADER = (
    "__main__",
    "grader",
    "notebook",
    "release",
    "sealed_release",
    "text_answers",
)  # in lectures_lib/homework


def declared(extra: str | None) -> set[str]:
    """The packages that the project, or one of its extras, asks for."""
    lines = PROJECT["optional-dependencies"][extra] if extra else PROJECT["dependencies"]
    return {canonicalize_name(Requirement(line).name) for line in lines}


@cache
def distributions() -> dict[str, list[str]]:
    """Which package brings which module. Asking takes a second, for every installed file is looked
    at.
    """
    return packages_distributions()


def imported(path: Path) -> tuple[set[str], set[str]]:
    """The packages that a module imports when it is imported itself, and those that it imports when
    they are used.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    at_once, later = set(), set()
    inside = {
        node
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        found = (
            [a.name for a in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
        found = {name.split(".")[0] for name in found if not getattr(node, "level", 0)}
        (later if node in inside else at_once).update(
            found - set(sys.stdlib_module_names) - {"lectures_lib", ""}
        )
    known = distributions()
    return (
        *(
            {canonicalize_name(known.get(name, [name])[0]) for name in names}
            for names in (at_once, later)
        ),
    )


def test_every_import_of_the_library_is_declared():
    base, chapters, grading, cluster = (
        declared(extra) for extra in (None, "chapters", "grading", "cluster")
    )
    undeclared = {}
    for path in sorted((ROOT / "lectures_lib").rglob("*.py")):
        parts = path.relative_to(ROOT / "lectures_lib").with_suffix("").parts
        of_grader = parts[0] == "homework" and parts[1] in GRADER
        at_once, later = imported(path)
        asked = base | (grading if of_grader else set())
        if wrong := (at_once - asked) | (
            later - asked - chapters - (cluster if of_grader else set())
        ):
            undeclared["/".join(parts)] = wrong
    assert undeclared == {}


ROOMS = ("notebooks", "solutions", "book", "tests", "tools", "benchmarks", "experiments")


def of_our_own() -> set[str]:
    """The modules and folders beside the library."""
    files = [path.relative_to(ROOT) for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    return {canonicalize_name(name) for path in files for name in (path.stem, *path.parts)}


def undeclared(rooms: tuple[str, ...], asked: set[str]) -> dict[str, set[str]]:
    """The files of these rooms that import what is neither asked for nor ours, and what that is."""
    known = asked | of_our_own()
    found = {
        path.relative_to(ROOT).as_posix(): set.union(*imported(path)) - known
        for room in rooms
        for path in sorted((ROOT / room).rglob("*.py"))
    }
    return {path: names for path, names in found.items() if names}


def test_every_import_of_a_chapter_is_declared():
    """Colab installs what the extra names; another package's needs may change."""
    assert undeclared(("notebooks",), declared(None) | declared("chapters")) == {}
    assert undeclared(("solutions",), declared(None)) == {}


def test_every_import_of_the_book_and_its_tools_is_required():
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    asked = {
        canonicalize_name(re.match(r"[\w.-]+", line)[0]) for line in lines if line[:1].isalnum()
    }
    assert undeclared(ROOMS, asked | declared(None)) == {}


BLOCK = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
"""


def run_without(blocked: set[str], code: str) -> subprocess.CompletedProcess:
    """Python, as if these packages were not installed."""
    command = [sys.executable, "-c", BLOCK.format(blocked=blocked) + code]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def names_of(packages: set[str]) -> set[str]:
    """The names under which these packages are imported."""
    found = {
        module
        for module, owners in distributions().items()
        for owner in owners
        if canonicalize_name(owner) in packages
    }
    assert len(found) >= len(packages) - 1, "they are installed here"
    return found


def test_a_student_needs_no_package_of_the_grader_or_the_chapters():
    """Checks an answer with what the base install brings."""
    others = declared("chapters") | declared("grading") | declared("cluster") - {"lectures-lib"}
    # (IPython and torch bring some of them themselves: those are not taken away.)
    code = """
import lectures_lib
from lectures_lib.homework import check
lectures_lib.setup()
import torch
def scaled_dot_product_attention(Q, K, V):
    return (Q @ K.transpose(-2, -1) / Q.shape[-1]).softmax(dim=-1) @ V
try:
    check("hw1.scaled_dot_product_attention", scaled_dot_product_attention)
except Exception as mistake:
    print(type(mistake).__name__, mistake)
"""
    done = run_without(names_of(others - {"lectures-lib", "jinja2", "markupsafe"}), code)
    assert done.returncode == 0, done.stderr
    assert "√d_k" in done.stdout or "sqrt" in done.stdout, done.stdout


def test_the_grader_says_what_it_needs():
    done = run_without(
        {"pydantic", "rich"},
        "import runpy; runpy.run_module('lectures_lib.homework', run_name='__main__')",
    )
    assert done.returncode == 1
    assert (
        done.stderr.strip()
        == "grading needs pydantic, rich, not installed here: pip install 'lectures-lib[grading]'"
    )


# What each extra is used for, with the network away: models, data, weights, what was trained once.
USES = {
    None: """
import lectures_lib
from lectures_lib import stored
from lectures_lib.models.transformer import Transformer, TransformerConfig
lectures_lib.setup()
Transformer(TransformerConfig.TINY)
assert "dogs" in stored.translator("de", "en")(["Zwei Hunde spielen im Schnee."])[0]
stored.language_model("shakespeare")
""",
    "chapters": """
from lectures_lib import data, stored
from lectures_lib.models import minilm
minilm.read("It works.")
data.load("images")
stored.fill_mask()
""",
    "grading": "import runpy\nrunpy.run_module('lectures_lib.homework')",
    "cluster": """
import distributed
from lectures_lib.homework.grader.grading.executors import Dask
""",
}


@pytest.mark.long
@pytest.mark.parametrize("extra", USES)
def test_each_extra_alone_in_an_empty_environment(extra, tmp_path):
    """Installed by pip from the working tree, beside nothing; skipped where no package index
    answers.
    """
    python = tmp_path / "env" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    torch = LOCKED["torch"]
    for what in (f"torch=={torch}", f"{ROOT}[{extra}]" if extra else str(ROOT)):
        done = subprocess.run(
            [python, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", what],
            capture_output=True,
            text=True,
        )
        if re.search("No matching distribution|Could not find a version|Connection", done.stderr):
            pytest.skip(f"no package index here: {done.stderr.splitlines()[-1]}")
        assert done.returncode == 0, done.stderr
    used = subprocess.run([python, "-c", USES[extra]], cwd=tmp_path, capture_output=True, text=True)
    assert used.returncode == 0, used.stderr


# ------------------------------------------------------------------------ beside what is there already

# What Colab has before anybody installs something: of the base install, everything. Versions that
# stand here are installed in the usual way, as old as the package allows or as new as there are; the
# rest is this environment's own.
LOWEST = {
    Requirement(line).name: re.search(r">=([\d.]+)", line)[1]
    for line in PROJECT["dependencies"]
    if ">=" in line
}
BESIDE = {
    "as locked": [],
    "oldest": [f"{name}=={version}.*" for name, version in LOWEST.items() if name != "torch"],
    "newest": [name for name in sorted(declared(None)) if name != "torch"],
    "oldest torch": [f"torch=={LOWEST['torch']}.0+cpu", "numpy<2.3"],
    "newest torch": ["torch", "--upgrade"],
}
CHECKS = """
from lectures_lib.homework import check, names
import torch
assert len(names()) == 7
check("hw1.causal_mask", lambda n, n_past=0: torch.ones(n, n_past + n, dtype=torch.bool).tril(n_past))
try:
    check("hw1.causal_mask", lambda n, n_past=0: torch.ones(n, n_past + n, dtype=torch.bool).triu())
except Exception as mistake:
    print(type(mistake).__name__)
"""
VERSIONS = """
import json
from importlib.metadata import distributions
print(json.dumps({d.name.lower().replace("_", "-"): d.version for d in distributions()}))
"""


def needed(names: list[str]) -> set[str]:
    """These packages, and those that they need, as far as they are installed here."""
    found: set[str] = set()
    for name in (waiting := [*names]):
        canonical = canonicalize_name(name)
        if canonical in found:
            continue
        try:
            asked = distribution(name).requires or []
        except PackageNotFoundError:
            continue
        found.add(canonical)
        requirements = map(Requirement, asked)
        waiting += [
            r.name for r in requirements if not r.marker or r.marker.evaluate({"extra": ""})
        ]
    return found


def lend(packages: set[str], folder: Path) -> None:
    """Links in a folder to the files of packages that are installed here."""
    folder.mkdir()
    for name in packages:
        files = distribution(name).files or []
        for top in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            link = folder / top
            if not link.exists():
                link.symlink_to(Path(distribution(name).locate_file(top)).resolve())


class Colab:
    """An environment that has the base install's packages, and not the course."""

    def __init__(self, folder: Path, beside: list[str]):
        self.folder, self.python = folder, folder / "env" / "bin" / "python"
        subprocess.run([sys.executable, "-m", "venv", folder / "env"], check=True)
        named = {canonicalize_name(re.match(r"[\w-]+", each)[0]) for each in beside}
        lend(needed(sorted(declared(None))) - named, folder / "lent")
        (site,) = (folder / "env").glob("lib/python*/site-packages")
        # a folder named in a .pth file comes behind: what is installed beside it counts
        (site / "lent.pth").write_text(f"{folder / 'lent'}\n")
        if beside:
            done = self.run("-m", "pip", "install", "-q", *beside)
            if done.returncode and (lost := [one for one in beside if not self.can_be_had(one)]):
                pytest.skip(f"cannot be had here: {' '.join(lost)}")
            assert done.returncode == 0, done.stderr

    def can_be_had(self, package: str) -> bool:
        """Whether pip finds it, whatever it needs. ("--upgrade" is no package.)"""
        alone = ("-m", "pip", "install", "-q", "--dry-run", "--no-deps", package)
        return package.startswith("-") or self.run(*alone).returncode == 0

    def run(self, *command: str | Path) -> subprocess.CompletedProcess:
        """Its Python, in an empty folder. GitHub is this repository, as it was last committed."""
        (empty := self.folder / "empty").mkdir(exist_ok=True)
        github = {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"url.file://{ROOT}.insteadOf",
            "GIT_CONFIG_VALUE_0": PROJECT["urls"]["Repository"],
        }
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        return subprocess.run(
            [self.python, *command], cwd=empty, capture_output=True, text=True, env=kept | github
        )

    def versions(self) -> dict[str, str]:
        """What is installed."""
        return json.loads(self.run("-c", VERSIONS).stdout)


@pytest.mark.long
@pytest.mark.parametrize("which", BESIDE)
def test_the_set_up_cell_leaves_what_colab_has_as_it_is(which, tmp_path):
    colab = Colab(tmp_path, BESIDE[which])
    before = colab.versions()
    assert "torch" in before and "lectures-lib" not in before
    notebook = nbformat.read(ROOT / "exercises" / "hw1_attention.ipynb", as_version=4)
    cell = next(c.source for c in notebook.cells if "setup" in c.metadata.get("tags", []))
    assert PROJECT["urls"]["Repository"] in cell
    for _ in range(2):  # "running the cell twice is harmless"
        done = colab.run("-c", f"{cell}\n{CHECKS}")
        assert done.returncode == 0, done.stderr
        assert done.stdout.split("\n")[-2] == "WrongAnswer" and "right (2 points)" in done.stdout
    after = colab.versions()
    assert {name: after[name] for name in before} == before, "torch above all"
    assert set(after) - set(before) == {"lectures-lib"}, "nothing else was missing"
