"""A class of any size whose grades are known beforehand: right, wrong, unanswered, hostile and
corrupt submissions of one homework.
"""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lectures_lib.homework import load
from tests.homework.bank import ROOT, each, judged, right_answers, students
from tests.homework.toy import notebook


@dataclass(frozen=True)
class Known:
    """What grades.csv must say of a submission.

    Attributes:
        total: its points.
        remarks: what must stand in the remarks.
    """

    total: float
    remarks: tuple[str, ...] = ()


# Cells that do harm and leave the other cells' answers as they are. With so little as a second for
# a cell, all come to their end.
HARM = {
    "loops": "while True:\n    pass",
    "cannot_be_interrupted": "import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True:\n    pass",
    "leaves": "import os\nos._exit(0)",
    "exits": "import sys\nsys.exit()",
    "allocates": "import torch\ntorch.ones(10**11)",
    "forks": "import os\ntry:\n    while True:\n        os.fork()\nexcept OSError:\n    pass",
    "signals": """
import os, signal
for pid in (0, -1, 2, 3, 4):
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass
""",
    "patches": "import torch\ntorch.equal = torch.allclose = torch.testing.assert_close = lambda *a, **k: True",
    "floods": "print('x' * 40_000_000)",
    "writes": "for i in range(3):\n    with open(f'/tmp/{i}', 'wb') as file:\n        file.write(bytes(16 << 20))",
    "threads": "import threading, time\nfor _ in range(20):\n    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()",
    "peeks": """
import os, lectures_lib
assert not os.path.exists('/etc/passwd')
assert 'hw1' not in os.listdir(os.path.dirname(lectures_lib.__file__) + '/homework')
""",
    "collects": "import gc\nassert not [thing for thing in gc.get_objects() if type(thing).__name__ == 'AnswerKey']",
    "modules": "import sys\nfor name in list(sys.modules):\n    if 'lectures_lib.homework' in name:\n        del sys.modules[name]",
}
STOPPED = ("loops", "cannot_be_interrupted", "leaves", "exits", "allocates")
SPOILED: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "truncated": lambda data: data[: len(data) // 2],
    "binary": lambda data: bytes(range(256)) * 40,
    "list": lambda data: b"[]",
    "page": lambda data: b"<!DOCTYPE html><title>Sign in</title>",
    "deep": lambda data: b"[" * 100_000,
    "no_cells": lambda data: b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}}',
    "text": lambda data: b"import torch\n\n\ndef answer(x):\n    return x\n",
    "huge": lambda data: data + b" " * (21 << 20),
}


def build(folder: Path, size: int, homework: str = "hw2", seed: int = 0) -> dict[str, Known]:
    """Write so many submissions into `folder`; what their grades must be, by student."""
    random_ = random.Random(seed)
    makers = [_mixed] * 50 + [_harmful] * 20 + [_spoiled] * 13 + [_solution] * 9 + [_unanswered] * 8
    known = {}
    for i in range(size):
        student = f"student_{i:04d}"
        data, known[student] = random_.choice(makers)(homework, random_)
        (folder / f"{student}.ipynb").write_bytes(data)
    return known


def misgraded(known: dict[str, Known], rows: dict[str, dict[str, str]]) -> list[str]:
    """The students whose row in grades.csv is missing or is not what it must be, with the
    reason.
    """
    wrong = [f"{student}: no such student" for student in rows if student not in known]
    for student, expected in known.items():
        row = rows.get(student, {"total": "nothing", "remarks": ""})
        if row["total"] != f"{expected.total:g}":
            wrong.append(
                f"{student}: {row['total']} points, not {expected.total} ({row['remarks'][:300]})"
            )
        wrong += [
            f"{student}: no {text!r} in {row['remarks'][:300]!r}"
            for text in expected.remarks
            if text not in row["remarks"]
        ]
    return wrong


def _answers(homework: str, random_: random.Random) -> tuple[list[str], Known]:
    """Cells that answer each question in a right or a wrong way, or not at all."""
    right, wrong = right_answers(homework), {}
    for name, mistake, answer in each(students(homework)):
        wrong.setdefault(name, []).append((mistake, answer))
    names, total, remarks = [], 0, []
    for question in load(homework).questions:
        short = question.answer_name
        way = random_.random()
        if way < 0.55:
            answer = random_.choice(right[question.name])
            names.append(f"{short} = right[{answer.__name__!r}]")
            total += question.points
        elif way < 0.9:
            mistake, answer = random_.choice(wrong[question.name])
            names.append(f"{short} = wrong[{answer.__name__!r}]")
            remarks.append(f"{short}: {mistake}")
            held = dict(judged(question.name, answer).demands)
            total += sum(each.points for each in question.demands if held.get(each.says))
        else:
            remarks.append(f"{short}: missing")
    cells = [
        f"{space} = {{'__name__': "
        f"'{space}'}}\nexec({(ROOT / 'tests' / 'homework' / f'{module}_{homework}.py').read_text()!r}, {space})"
        for space, module in (("right", "right_answers"), ("wrong", "students"))
    ]
    return [*cells, "\n".join(names) or "pass"], Known(total, tuple(remarks))


def _mixed(homework: str, random_: random.Random) -> tuple[bytes, Known]:
    cells, known = _answers(homework, random_)
    return notebook(*cells), known


def _harmful(homework: str, random_: random.Random) -> tuple[bytes, Known]:
    cells, known = _answers(homework, random_)
    name = random_.choice(list(HARM))
    place = random_.randrange(len(cells) + 1)
    cells.insert(place, HARM[name])
    stopped = (f"cell {place + 1} stopped",) if name in STOPPED else ()
    return notebook(*cells), Known(known.total, known.remarks + stopped)


def _spoiled(homework: str, random_: random.Random) -> tuple[bytes, Known]:
    return random_.choice(list(SPOILED.values()))(_file("solutions", homework)), Known(0)


def _solution(homework: str, random_: random.Random) -> tuple[bytes, Known]:
    text = json.loads(_file("solutions", homework))
    text["metadata"] = {
        "kernelspec": {"name": f"venv_{random_.randrange(1000)}", "display_name": "mine"}
    }
    return json.dumps(text, indent=random_.choice([None, 1])).encode(), Known(
        sum(question.points for question in load(homework).questions)
    )


def _unanswered(homework: str, random_: random.Random) -> tuple[bytes, Known]:
    return _file("exercises", homework), Known(
        0, tuple(f"{question.answer_name}: unfinished" for question in load(homework).questions)
    )


def _file(folder: str, homework: str) -> bytes:
    (path,) = (ROOT / folder).glob(f"{homework}_*.ipynb")
    return path.read_bytes()
