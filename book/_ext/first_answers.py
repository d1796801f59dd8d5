"""What its model answers to a live figure's first example, asked of the figure's own worker while the
site is built: a reader sees at once what there is to see, and nothing is fetched for it.

A figure lists in its options, under "asks", what its script asks of its models when nobody has typed
anything: {"task": …, …}, in that order, with the number of the "model" if it is not the first, and
how many "places" are enough if they are not six. The answers go into the page, and the script shows
them as if they had just come (`rehearse` in book/live/figure.js).
"""

import hashlib
import json
import subprocess
from pathlib import Path

from live_models import MADE
from node import NODE

from lectures_lib.files import write_whole

ASKING = Path(__file__).with_suffix(".js")
SCRIPTS = Path(__file__).parents[1] / "live"
PARTS = ("weights", "vocabulary", "learned")  # of a model: its files, in this order
KEPT = MADE / "first_answers.json"


def answers(figures: dict[str, dict]) -> dict[str, list[dict]]:
    """By figure, to each of its "asks": {"parts", "result"}. `figures`: the options of each.
    The answers are kept until a script, a model or a question is another.
    """
    asking = {name: questions(one) for name, one in figures.items() if "asks" in one}
    state = digest(asking)
    if KEPT.exists():
        kept = json.loads(KEPT.read_text(encoding="utf-8"))
        if kept["state"] == state:
            return kept["answers"]
    answered = asked(asking)
    KEPT.parent.mkdir(parents=True, exist_ok=True)  # somebody may have cleared up
    write_whole(KEPT, json.dumps({"state": state, "answers": answered}))
    return answered


def questions(options: dict) -> list[dict]:
    """What a figure asks, and of what, one after the other: {"kind", "files", "ask"}."""
    asking = []
    for ask in options["asks"]:
        one = options["models"][ask.get("model", 0)]
        names = [name for name in PARTS if one[name]]
        files = dict(zip(names, map(str, one["files"]), strict=True))
        asking.append({"kind": one["kind"], "files": files, "ask": ask})
    return asking


def digest(asking: dict[str, list[dict]]) -> str:
    """One number for all that the answers come from."""
    files = {
        Path(file) for some in asking.values() for one in some for file in one["files"].values()
    }
    state = hashlib.sha256(json.dumps(asking, sort_keys=True).encode())
    for file in [ASKING, *sorted(SCRIPTS.glob("*.js")), *sorted(files)]:
        state.update(file.read_bytes())
    return state.hexdigest()


def asked(asking: dict[str, list[dict]]) -> dict[str, list[dict]]:
    """Ask now. Questions to one model follow each other: it is read once."""
    order = sorted(
        ((name, i) for name, some in asking.items() for i in range(len(some))),
        key=lambda at: json.dumps(asking[at[0]][at[1]]["files"]),
    )
    run = subprocess.run(
        [NODE, str(ASKING)],
        input=json.dumps([asking[name][i] for name, i in order]),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if run.returncode:
        raise RuntimeError(f"{ASKING.name} ended with {run.returncode}: {run.stderr.strip()}")
    answered = dict(zip(order, json.loads(run.stdout), strict=True))
    return {name: [answered[name, i] for i in range(len(some))] for name, some in asking.items()}
