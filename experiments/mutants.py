"""The grader graded: answers to every homework question with one thing changed in them. How many
are caught?

    python experiments/mutants.py
        every homework, some minutes; writes book/results/mutants.json
    python experiments/mutants.py hw1 hw2
        these alone; what the file says of the others is kept

A mutant is caught if the verdict on it is "wrong" with each of three seeds. What passes is printed;
those that were looked at and found right are in tests/homework/equivalent_mutants.yml, each with
the reason. Needs Linux.
"""

import sys
from pathlib import Path

import torch

# for the tests, which hold the bank's own
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from lectures_lib import results
from lectures_lib.homework import names
from tests.homework.bank import questions
from tests.homework.graded_mutants import SEEDS, equivalent, sample, tried

COLUMNS = ("mutants", "caught", "equivalent", "raised", "named")


def count(name: str) -> dict[str, int]:
    """How many mutants of a question there are and are caught; pass and are right; fail by
    themselves; get a mistake's name.
    """
    found = list(tried(name, SEEDS, sample(name)))
    passed = [one.mutant for one in found if one.survives]
    judged = [mutant for mutant in passed if mutant.name in equivalent(name)]
    for mutant in passed:
        print(
            f"    {'right' if mutant in judged else 'PASSES'}  {mutant.operator}: {mutant.name}",
            flush=True,
        )
    caught = [one for one in found if not one.survives]
    counts = (
        len(found),
        len(caught),
        len(judged),
        sum(one.raised for one in caught),
        sum(one.named for one in caught),
    )
    return dict(zip(COLUMNS, counts, strict=True))


def shares(counts: dict[str, int]) -> dict[str, float]:
    """Of all, and of those that are wrong, the share that is caught; of those caught, the share
    whose mistake has a name.
    """
    wrong = counts["mutants"] - counts["equivalent"]
    return {
        "mutants": counts["mutants"],
        "caught": counts["caught"] / counts["mutants"],
        "caught_of_the_wrong": counts["caught"] / wrong,
        "raised_of_the_caught": counts["raised"] / counts["caught"],
        "named_of_the_caught": counts["named"] / counts["caught"],
    }


def of_question(counts: dict[str, int]) -> dict[str, float]:
    """What the file says of one question."""
    return {
        "mutants": counts["mutants"],
        "caught": counts["caught"] / counts["mutants"],
        "right_all_the_same": counts["equivalent"],
    }


def save(counts: dict[str, dict[str, int]], counted: list[str]) -> Path:
    """Write what was counted, by homework and by question; the homeworks that were not counted
    stay as they are in the file.
    """
    before = {"homework": {}, "question": {}}
    if set(counted) != set(names()):
        before = results.load("mutants")["results"]
    homework, question = {}, {}
    for one in names():
        if one in counted:
            of_all = {key: sum(counts[q][key] for q in questions(one)) for key in COLUMNS}
            homework[one] = shares(of_all)
            question |= {q: of_question(counts[q]) for q in questions(one)}
        else:
            homework[one] = before["homework"][one]
            known = before["question"]  # a question newer than the file is not in it
            question |= {q: known[q] for q in questions(one) if q in known}
    title = (
        "Homework answers with one thing changed: how many the grader catches with each of three "
        "seeds"
    )
    return results.save("mutants", {"homework": homework, "question": question}, title, list(SEEDS))


def main(homeworks: list[str]) -> None:
    """Every question of these."""
    torch.set_num_threads(1)
    counts, homeworks = {}, homeworks or list(names())
    for name in [name for homework in homeworks for name in questions(homework)]:
        counts[name] = count(name)
        print(f"{name:36}", counts[name], flush=True)
    print(save(counts, homeworks))


if __name__ == "__main__":
    main(sys.argv[1:])
