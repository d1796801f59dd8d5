"""Can the tests fail? One defect in each room, made in a copy of the course, and the tests that
have to turn red.

    python experiments/defects.py
        all of them, a quarter of an hour of a core; exits with 1 if a defect goes unseen
    python experiments/defects.py decoding grader
        these rooms alone

The defects stand in experiments/defects.yml. A change of the library that moves the text of one is
told ("no longer there"): write the defect anew. Needs git; the grader's defects need Linux.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent


def copied(folder: Path) -> None:
    """A copy of the files that git knows."""
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True
    ).stdout.split("\0")
    for name in filter(None, names):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((ROOT / name).read_bytes())


def turns_red(folder: Path, defect: dict) -> bool:
    """Whether a test fails with the defect. The file is as it was afterwards.

    Raises:
        SystemExit: for a defect whose place, or one of whose tests, is no longer there.
    """
    file = folder / defect["file"]
    text = file.read_text(encoding="utf-8")
    tests = defect["tests"].split()
    if gone := [name for name in tests if not (folder / name).exists()]:
        raise SystemExit(f"{defect['file']}: there is no {', '.join(gone)}")
    if defect["was"] not in text:
        raise SystemExit(f"{defect['file']}: {defect['was']!r} is no longer there")
    file.write_text(text.replace(defect["was"], defect["becomes"], 1), encoding="utf-8")
    line = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    try:
        done = subprocess.run(
            [*line, "-m", "not long and not browser", *tests],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(folder), "HF_HUB_OFFLINE": "1"},
            capture_output=True,
            text=True,
        )
    finally:
        file.write_text(text, encoding="utf-8")
    if done.returncode not in (0, 1):
        raise SystemExit(f"the tests of {defect['file']} did not run:\n{done.stdout[-2000:]}")
    return done.returncode == 1


def main() -> None:
    """Every defect, or those of the rooms that are named."""
    defects = yaml.safe_load((ROOT / "experiments" / "defects.yml").read_text(encoding="utf-8"))
    chosen = [one for one in defects if not sys.argv[1:] or one["room"] in sys.argv[1:]]
    unseen = []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        copied(folder)
        for defect in chosen:
            red = turns_red(folder, defect)
            print(f"{'red' if red else 'GREEN':6} {defect['room']:13} {defect['was']}", flush=True)
            unseen += [] if red else [defect]
    print(f"{len(chosen) - len(unseen)} of {len(chosen)} defects are seen")
    sys.exit(bool(unseen))


if __name__ == "__main__":
    main()
