"""Fill .venv: the CPU build of torch first, then requirements.txt, then this package, editable.

Torch comes first because a plain `pip install torch` on Linux brings several gigabytes of CUDA that
a website and a laptop do not need. Three ways are tried in turn: the CPU build by its full name
(where pip's own configuration knows it), the same through uv, which knows where the CPU builds are
kept, and last whatever the package index has (on macOS that is a CPU build). Set TORCH=cuda to go
straight to the last.
"""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).parent.parent
PIP = [sys.executable, "-m", "pip"]


def run(*command: str) -> bool:
    """Run a command in the repository's root; True when it succeeded."""
    print("+", *command, flush=True)
    return subprocess.run(command, cwd=ROOT).returncode == 0


def torch_version() -> str:
    """The version of torch that requirements.txt pins."""
    found = re.search(r"^torch==(\S+)", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    if found is None:
        sys.exit("requirements.txt pins no torch==VERSION")
    return found[1]


def torch_installed(version: str) -> bool:
    """Whether this environment already has that version, in whichever build."""
    code = (
        f"import importlib.metadata as m, sys; sys.exit(m.version('torch').split('+')[0] != "
        f"'{version}')"
    )
    return subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL).returncode == 0


def install_torch(version: str) -> bool:
    """Install torch, the CPU build where there is one."""
    if torch_installed(version):
        return True
    if os.environ.get("TORCH") != "cuda":
        if run(*PIP, "install", "--quiet", f"torch=={version}+cpu"):
            return True
        uv = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--torch-backend=cpu"]
        if run(*PIP, "install", "--quiet", "uv") and run(
            *uv, "--python", sys.executable, f"torch=={version}"
        ):
            return True
        print(
            "The CPU build of torch could not be had; taking the package index's own build, which "
            "may be large.",
            flush=True,
        )
    return run(*PIP, "install", f"torch=={version}")


def install() -> bool:
    """All of it, in order; False at the first step that failed."""
    return (
        run(*PIP, "install", "--quiet", "--upgrade", "pip", "setuptools>=77")
        and install_torch(torch_version())
        and run(*PIP, "install", "--quiet", "-r", "requirements.txt")
        and run(*PIP, "install", "--quiet", "--no-deps", "--no-build-isolation", "--editable", ".")
    )


def lock() -> None:
    """Write constraints.txt from what is installed here."""
    frozen = subprocess.run(
        [*PIP, "list", "--format=freeze"], check=True, capture_output=True, text=True
    ).stdout
    skip = ("pip=", "setuptools=", "wheel=", "uv=", "lectures-lib=")
    lines = [
        re.sub(r"\+cpu$", "", line)
        for line in frozen.splitlines()
        if not line.lower().startswith(skip)
    ]
    (ROOT / "constraints.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    if sys.argv[1:] == ["--lock"]:
        lock()
    elif not install():
        sys.exit(
            "Set-up did not finish: the command above says why. Nothing is lost; the same `make` "
            "target goes on from here."
        )
