"""What a student's machine does with a sealed homework, in processes that see nothing else of the
course: `python -I sealed_student.py FOLDER …`, each folder with the notebook, filled in, the file
beside it, and `answers.py`: right answers by question, and wrong ones by question and mistake.

Prints a line of JSON: {folder: what `check` said of each, or how it failed}.
"""

import json
import os
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

import matplotlib.pyplot  # with torch: paid for once, the folders' processes are forks of this one
import torch

COURSE = ("lectures_lib/homework/banks", "solutions/")


def forbid(event: str, args: tuple) -> None:
    """An audit hook: no bank, no solutions, no pickle, no network."""
    if event in ("pickle.find_class", "socket.connect", "socket.getaddrinfo"):
        raise RuntimeError(f"{event}{args}")
    if event == "import" and str(args[0]).startswith("lectures_lib.homework.banks"):
        raise RuntimeError(f"import {args[0]}")
    if event == "open" and any(part in str(args[0]) for part in COURSE):
        raise RuntimeError(f"open {args[0]}")


def notebook_run(path: Path) -> dict:
    """Run its code cells one after the other, as they are; what they have defined."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    names = {"__name__": "__main__"}
    sys.modules["__main__"].__dict__.update(names)
    for cell in cells:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), str(path), "exec"), names)
    return names


def said(check, name: str, answer: object) -> str:
    """ "right", or the mistake's name, or the whole message."""
    try:
        check(name, answer)
        return "right"
    except Exception as error:
        verdict = getattr(error, "verdict", None)
        return (verdict and verdict.mistake) or f"{type(error).__name__}: {error}"


def main(folder: Path) -> dict:
    """Run the notebook and put all answers to the checks."""
    os.chdir(folder)
    (notebook,) = folder.glob("*.ipynb")
    names = notebook_run(notebook)
    library = sys.modules["lectures_lib"]
    assert Path(library.__file__).is_relative_to(folder), library.__file__
    check, answers = names["check"], {}
    exec(
        compile((folder / "answers.py").read_text(encoding="utf-8"), "answers.py", "exec"), answers
    )
    right = {
        name: [said(check, name, answer) for answer in given]
        for name, given in answers["RIGHT_ANSWERS"].items()
    }
    wrong = {
        name: {mistake: [said(check, name, one) for one in ones] for mistake, ones in given.items()}
        for name, given in answers.get("STUDENTS", {}).items()
    }
    return {"right": right, "wrong": wrong}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    matplotlib.use("agg")
    torch.set_num_threads(1)
    sys.addaudithook(forbid)
    found, folders = {}, [Path(argument).resolve() for argument in sys.argv[1:]]
    for folder in folders:
        result = Path(tempfile.mkdtemp()) / "said.json"
        child = os.fork()
        if child == 0:
            with open(os.devnull, "w") as nothing:
                sys.stdout = nothing
                try:
                    told = main(folder)
                except BaseException:
                    told = {"failed": traceback.format_exc()}
                result.write_text(json.dumps(told), encoding="utf-8")
                os._exit(0)
        os.waitpid(child, 0)
        found[folder.name] = json.loads(result.read_text(encoding="utf-8"))
    print(json.dumps(found))
