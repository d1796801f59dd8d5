"""The YAML file of a course: the rules of all its homework, and what is wrong with it, line by
line.
"""

import difflib
import json
from collections.abc import Container, Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from lectures_lib.homework import questions
from lectures_lib.homework.grader.grading import yaml_file
from lectures_lib.homework.grader.grading.late import LatePolicy
from lectures_lib.homework.grader.grading.names import (
    check_demands,
    check_mistake,
    full_name,
    short_name,
)
from lectures_lib.homework.grader.grading.rules import Rules
from lectures_lib.homework.grader.grading.settings import Decision, TextQuestion, Variant
from lectures_lib.homework.grader.submissions.names import shown
from lectures_lib.homework.questions import Homework

_FOR_BANK = ("points", "mistakes", "demands")  # what only questions of the bank have
# What is said of single students, or of files that lie beside.
_OF_STUDENTS = ("extensions", "handed_in", "excused", "decisions", "marks")


class Course(BaseModel):
    """What the file holds.

    Attributes:
        late: what lateness costs in every homework that has a deadline and says nothing else.
        variant: of every homework that says nothing else.
        homework: the rules of each, by its short name.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    late: LatePolicy | None = None
    variant: Variant | None = None
    homework: dict[str, Rules]


def load(path: Path, homework: Homework) -> Rules:
    """The rules of a homework from a course's YAML file; the bank's own, if the file does not
    mention that homework. Files with marks are looked for beside it, and not read here.

    The whole file is checked, also what it says of other homework.

    Raises:
        OSError: if it cannot be opened.
        ValueError: if there is anything wrong with it: every mistake with its line, and what is
            allowed there.
    """
    settings = yaml_file.read(path)
    unknown = _unknown(settings.content, homework)
    try:
        course = Course.model_validate(settings.content)
    except ValidationError as error:
        _refuse(path, settings, [_explained(each) for each in error.errors()] + unknown)
    _refuse(path, settings, unknown)
    rules = course.homework.get(homework.name, Rules())
    if rules.deadline is not None and "late" not in rules.model_fields_set:
        rules = rules.model_copy(update={"late": course.late})
    if "variant" not in rules.model_fields_set:
        rules = rules.model_copy(update={"variant": course.variant})
    if rules.marks:
        beside = [str(path.parent / name) for name in rules.marks]
        rules = rules.model_copy(update={"marks": beside})
    return rules


def without_students(path: Path, homework: Homework) -> str:
    """The text of a course's file (JSON, which is YAML, too) that says of this homework what the
    file says of it for everybody, and names nobody: to be given away. Of other homework it says
    nothing. Nothing is checked here.

    Raises:
        OSError, ValueError: as `load` does.
    """
    content = yaml_file.read(path).content
    sections = content.get("homework") if isinstance(content, dict) else None
    if isinstance(sections, dict):
        section = sections.get(homework.name)
        if isinstance(section, dict):
            section = {key: value for key, value in section.items() if key not in _OF_STUDENTS}
        content = content | {"homework": {homework.name: section} if section else {}}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _refuse(
    path: Path, settings: yaml_file.Settings, wrong: list[tuple[yaml_file.Path_, str]]
) -> None:
    """Stop, if anything is wrong."""
    if wrong:
        wrong = sorted(wrong, key=lambda each: settings.line(each[0]))
        lines = [shown(f"{settings.place(place)}: {message}", 600) for place, message in wrong]
        raise ValueError(f"{path} cannot be used:\n  " + "\n  ".join(lines))


def _unknown(content: object, homework: Homework) -> list[tuple[yaml_file.Path_, str]]:
    """What is said about homework and questions that there are not; whatever else is wrong,
    pydantic finds.
    """
    sections, wrong = content.get("homework") if isinstance(content, dict) else None, []
    for name, section in sections.items() if isinstance(sections, dict) else ():
        if name != homework.name and name not in questions.names():
            there_is = sorted({*questions.names(), homework.name})
            wrong.append(
                (
                    ("homework", name),
                    f"there is no homework {name!r}; there is {', '.join(there_is)}",
                )
            )
        elif isinstance(section, dict):
            bank = homework if name == homework.name else questions.load(name)
            wrong += [
                (("homework", name, *place), message)
                for place, message in _unknown_in_section(section, bank)
            ]
    return wrong


def _unknown_in_section(section: dict, bank: Homework) -> list[tuple[yaml_file.Path_, str]]:
    """What one homework's rules say about questions and mistakes that there are not."""
    groups = {(key,): section.get(key) for key in ("points", "withdrawn", "extra", *_FOR_BANK[1:])}
    for key in ("decisions", "excused"):
        by_student = section.get(key)
        for student, named in by_student.items() if isinstance(by_student, dict) else ():
            groups[key, student] = named
    by_hand = section.get("by_hand")
    by_hand = [*by_hand] if isinstance(by_hand, dict) else []
    wrong = [
        ((*key, *place), message)
        for key, group in groups.items()
        for place, message in _unknown_questions(
            group, bank, () if key in [(each,) for each in _FOR_BANK] else by_hand
        )
    ]
    there = {question.answer_name for question in bank.questions}
    wrong += [
        (("by_hand", name), f"{bank.name} has a question of this name, which the grader judges")
        for name in by_hand
        if name in there
    ]
    mistakes = section.get("mistakes")
    for question, named in mistakes.items() if isinstance(mistakes, dict) else ():
        if any(place == ("mistakes", question) for place, _ in wrong):
            continue
        for mistake in named if isinstance(named, dict) else ():
            try:
                check_mistake(bank, question, mistake)
            except ValueError as error:
                wrong.append((("mistakes", question, mistake), str(error)))
    return wrong + _wrong_demands(section, bank, {place for place, _ in wrong})


def _wrong_demands(
    section: dict, bank: Homework, known: Container[yaml_file.Path_]
) -> list[tuple[yaml_file.Path_, str]]:
    """What one homework's rules say about demands that does not fit them."""
    demands, points = section.get("demands"), section.get("points")
    points = points if isinstance(points, dict) else {}
    points = {short_name(question): most for question, most in points.items()}
    wrong = []
    for question, worth in demands.items() if isinstance(demands, dict) else ():
        place, most = ("demands", question), points.get(short_name(question))
        numbers = isinstance(worth, list) and all(type(each) in (int, float) for each in worth)
        if place in known or not numbers or not (most is None or type(most) in (int, float)):
            continue
        try:
            check_demands(bank, question, worth, None if most is None else float(most))
        except ValueError as error:
            wrong.append((place, str(error)))
    return wrong


def _unknown_questions(
    named: object, bank: Homework, by_hand: Iterable[str]
) -> list[tuple[yaml_file.Path_, str]]:
    """Which of these questions there are not, in the bank or among those that people mark, or are
    named twice.
    """
    if isinstance(named, dict):
        places = [((name,), name) for name in named]
    else:
        places = (
            [((i,), name) for i, name in enumerate(named) if isinstance(name, str)]
            if isinstance(named, list)
            else []
        )
    seen, wrong = set(), []
    for place, name in places:
        try:
            full = full_name(bank, name, by_hand)
        except ValueError as error:
            wrong.append((place, str(error)))
            continue
        if full in seen:
            wrong.append((place, f"{full} is named twice"))
        seen.add(full)
    return wrong


def _explained(error: dict) -> tuple[yaml_file.Path_, str]:
    """What pydantic found: where, and in words."""
    place, given, limits = tuple(error["loc"]), error["input"], error.get("ctx", {})
    inner = getattr(limits.get("error"), "path", ())
    match error["type"]:
        case "extra_forbidden":
            return place, _no_such_setting(place)
        case "missing":
            return place[:-1], f"{place[-1]} is missing"
        case "value_error":
            return (*place, *inner), str(limits["error"])
        case "greater_than_equal":
            return place, f"must be at least {limits['ge']:g}, and is {given}"
        case "less_than_equal":
            return place, f"must be at most {limits['le']:g}, and is {given}"
        case "literal_error":
            return place, f"must be {limits['expected']}, and is {given!r}"
        case "string_too_short":
            return place, "must not be empty"
        case "string_too_long":
            return place, f"must have at most {limits['max_length']:,} characters"
    kinds = {
        "float": "a number",
        "int": "a whole number",
        "finite": "a number",
        "string": "a text",
        "list": "a list: [one, another]",
    }
    asked = kinds.get(
        error["type"].split("_")[0], "settings: a name, a colon, and what it is set to"
    )
    return place, f"must be {asked}, and is {_kind(given)}"


def _kind(given: object) -> str:
    """A value in words."""
    if given is None:
        return "empty"
    if isinstance(given, dict):
        return "a group of settings"
    return (
        "a list"
        if isinstance(given, list)
        else f"the text {given!r}"
        if isinstance(given, str)
        else str(given).lower()
    )


def _no_such_setting(place: yaml_file.Path_) -> str:
    """A setting that there is not, and those that there are."""
    inside = {
        "late": LatePolicy,
        "by_hand": TextQuestion,
        "decisions": Decision,
        "variant": Variant,
    }
    model = Course if len(place) == 1 else Rules
    if place[0] in inside or len(place) > 3:
        model = inside[place[0] if place[0] in inside else place[2]]
    near = difflib.get_close_matches(str(place[-1]), model.model_fields, n=1)
    return (
        f"there is no such setting; {f'is {near[0]} meant? There' if near else 'there'} is "
        f"{', '.join(model.model_fields)}"
    )
