"""The grader graded: answers to every homework question with one thing changed in them. How many
are caught?

    python experiments/mutants.py
        every homework, some minutes; writes book/results/mutants.json
    python experiments/mutants.py hw1 hw2
        these alone, printed and not written

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
from tests.homework.mutation import SEEDS, equivalent, sample, tried

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


def save(counts: dict[str, dict[str, int]]) -> Path:
    """Write what was counted, by question."""
    of_homework = {}
    for homework in names():
        of_homework[homework] = shares(
            {
                column: sum(counts[name][column] for name in questions(homework))
                for column in COLUMNS
            }
        )
    of_question = {
        name: {
            "mutants": one["mutants"],
            "caught": one["caught"] / one["mutants"],
            "right_all_the_same": one["equivalent"],
        }
        for name, one in counts.items()
    }
    title = (
        "Homework answers with one thing changed: how many the grader catches with each of three "
        "seeds"
    )
    return results.save(
        "mutants", {"homework": of_homework, "question": of_question}, title, list(SEEDS)
    )


def main(homeworks: list[str]) -> None:
    """Every question of these."""
    torch.set_num_threads(1)
    counts = {}
    for name in [name for homework in homeworks or names() for name in questions(homework)]:
        counts[name] = count(name)
        print(f"{name:36}", counts[name], flush=True)
    if not homeworks:
        print(save(counts))


if __name__ == "__main__":
    main(sys.argv[1:])
