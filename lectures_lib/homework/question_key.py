"""A question as data: what a sealed release gives to students in place of a question bank.

It holds the public inputs, what the right answer and each known mistake did on them, and the words
around them; no function, so nothing that could be called, read or unpickled. `check` judges with it
as with a key that was worked out from the bank (`diagnosis.AnswerKey`). `sealed_release` makes it.
"""

import functools
from dataclasses import asdict, fields
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from lectures_lib.homework.diagnosis import PUBLIC_SEED, AnswerKey
from lectures_lib.homework.inside import wire
from lectures_lib.homework.inside.outcomes import Outcome, Raised
from lectures_lib.homework.questions import Case, Demand, Misconception, Question, find
from lectures_lib.homework.variants import as_chosen

FOLDER, ENDING = "keys", ".key"  # beside this module: a file for each question
_NOT_SAID = ("cases", "reference", "misconceptions", "varied", "variant")
_SAID = [field.name for field in fields(Question) if field.name not in _NOT_SAID]


class Sealed(Exception):
    """A sealed question's right answer or inputs were asked for: they are not in this package."""


def public_key(name: str | Question) -> AnswerKey:
    """The key to a question's public inputs: the recorded one where this package was released
    sealed, else worked out from the bank.

    Args:
        name: of the question, such as "hw1.causal_mask"; or the question itself.

    Raises:
        KeyError: if there is no such question; the message lists those that there are.
    """
    if isinstance(name, Question):
        return AnswerKey(name, PUBLIC_SEED)
    recorded = _recorded()
    if not recorded:
        return _worked_out(as_chosen(find(name)))
    if name not in recorded:
        raise KeyError(f"there is no question {name!r} here; there is {', '.join(recorded)}")
    return unpacked(recorded[name].read_bytes())


@functools.lru_cache(maxsize=32)
def _worked_out(question: Question) -> AnswerKey:
    """A question's key, kept: an answer that is mended bit by bit is checked again and again."""
    return AnswerKey(question, PUBLIC_SEED)


def packed(key: AnswerKey) -> bytes:
    """A key as bytes: a frame of `inside.wire`, JSON and safetensors.

    Of an exception its class and message are kept, not the line of code that raised it.

    Raises:
        Garbled: if it is larger than a frame may be.
    """
    question = key.question
    said = {name: getattr(question, name) for name in _SAID}
    mistakes = [[m.name, m.diagnosis, m.by_exception, m.by_dropout] for m, _ in key.mistakes]
    value = {
        "cases": [{f.name: getattr(case, f.name) for f in fields(Case)} for case in key.cases],
        "right": [_kept(outcome) for outcome in key.right],
        "mistakes": [[_kept(outcome) for outcome in theirs] for _, theirs in key.mistakes],
    }
    return wire.pack({"question": said, "mistakes": mistakes}, value)


def unpacked(data: bytes) -> AnswerKey:
    """The inverse of `packed`. Its question's functions raise `Sealed`.

    Raises:
        Garbled: if these bytes are no such key.
    """
    start = wire.LENGTHS.size
    end = start + wire.lengths(data[:start])[0]
    head, value = wire.unpack(data[start:end], data[end:])
    mistakes = tuple(
        Misconception(name, diagnosis, _sealed, *told_by)
        for name, diagnosis, *told_by in head["mistakes"]
    )
    said = {
        name: tuple(told) if isinstance(told, list) else told
        for name, told in head["question"].items()
    }
    said["demands"] = tuple(Demand(*each) for each in said["demands"])
    question = Question(**said, cases=_sealed, reference=_sealed, misconceptions=mistakes)
    theirs = [[_outcome(outcome) for outcome in outcomes] for outcomes in value["mistakes"]]
    return AnswerKey.recorded(
        question,
        [Case(**case) for case in value["cases"]],
        [_outcome(outcome) for outcome in value["right"]],
        list(zip(mistakes, theirs, strict=True)),
    )


def _recorded() -> dict[str, Traversable]:
    """The files with recorded keys in this package, by the question's full name."""
    folder = resources.files(__package__) / FOLDER
    files = sorted(folder.iterdir(), key=lambda file: file.name) if folder.is_dir() else []
    return {file.name.removesuffix(ENDING): file for file in files if file.name.endswith(ENDING)}


def _kept(outcome: Outcome) -> dict[str, Any]:
    """What a key compares with: value, exception, changed inputs."""
    raised = outcome.raised and asdict(outcome.raised) | {"line": 0, "source": ""}
    return {"value": outcome.value, "raised": raised, "changed": outcome.changed}


def _outcome(kept: dict[str, Any]) -> Outcome:
    raised = kept["raised"] and Raised(**kept["raised"])
    return Outcome(kept["value"], raised, kept["changed"])


def _sealed(*args: Any, **kwargs: Any) -> Any:
    """Stands for every function of a sealed question."""
    raise Sealed("this question is sealed: its values on the public inputs are here, no function")
