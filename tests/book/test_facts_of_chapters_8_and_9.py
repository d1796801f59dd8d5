"""What the pages behind chapters 8 and 9 say in words, held against what their cells have printed
and against what can be counted.
"""

import re
from itertools import product
from pathlib import Path
from typing import NamedTuple

import nbformat
import pytest
import torch

from lectures_lib import data, decoding, metrics
from lectures_lib.decoding.protocol import Step

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
BUILT = ("03_multi_head_attention", "06_decoder")  # where the lines that change were written


def page(name):
    """A page's prose in one line, and what its cells have printed."""
    cells = nbformat.read(NOTEBOOKS / f"{name}.ipynb", 4).cells
    prose = " ".join(" ".join(c.source for c in cells if c.cell_type == "markdown").split())
    printed = [o.get("text", "") for c in cells if c.cell_type == "code" for o in c.outputs]
    return prose, "\n".join(printed)


def test_the_two_sentences_of_the_beginning():
    prose, printed = page("08b_judging")
    human = ["Two dogs are playing in the snow .", "Nobody is sitting on the bench ."]
    model = ["Two dogs play in the snow .", "A shirtless man is sitting on the bench ."]
    alone = [
        metrics.bleu([m], [h], tokenize="none").score for m, h in zip(model, human, strict=True)
    ]
    together = metrics.bleu(model, human, tokenize="none").score
    assert [round(score, 1) for score in (*alone, together, sum(alone) / 2)] == [
        42.4,
        58.7,
        55.7,
        50.6,
    ]
    assert "42 of 100 points to the first sentence, and 59 to the second" in prose
    assert "have 42.4 and 58.7" in prose and "What comes out: 50.6, less, or more?" in prose
    for line in ("Two dogs play in the snow.", "A shirtless man is sitting on the bench."):
        assert line in printed


def test_six_of_the_twelve_are_right_and_where_they_stand():
    prose, printed = page("08b_judging")
    lines = re.findall(r"^ {0,2}(\d+\.\d)  (\d\.\d\d)  (.+)$", printed, re.MULTILINE)
    scored = {said: float(score) for score, _, said in lines}
    certain = {said: float(sure) for _, sure, said in lines}
    assert len(scored) == 12
    wrong = ("shirtless", "Sheten", "likely as", "twirl", "dance day", "leading wires")
    right = sorted(
        score for said, score in scored.items() if not any(word in said for word in wrong)
    )
    assert len(right) == 6 and "Six of the twelve are right" in prose
    assert right[-1] == 100
    assert "the other five have 42 to 67 points" in prose.replace("\n", " ")
    assert (round(right[0]), round(right[-2])) == (42, 67)
    of_wrong = {said: sure for said, sure in certain.items() if any(w in said for w in wrong)}
    of_right = [sure for said, sure in certain.items() if said not in of_wrong]
    assert "right have 0.34 or more, all that are wrong 0.17 or less" in prose.replace("\n", " ")
    assert min(of_right) == 0.34 and max(of_wrong.values()) == 0.17
    among = [score for said, score in scored.items() if "shirtless" in said or "Sheten" in said]
    assert all(right[0] < score < right[-2] for score in among)


def test_a_second_human_is_worth_nine_points():
    _, printed = page("08b_judging")
    one, two = re.search(r"one human ([\d.]+), two humans ([\d.]+)", printed).groups()
    assert float(two) - float(one) == pytest.approx(9, abs=0.5)
    cells = nbformat.read(NOTEBOOKS / "08b_judging.ipynb", 4).cells
    assert any("# Nine points for the same sentence" in c.source for c in cells)


def test_the_triangle_and_the_counts_of_the_cache():
    prose, printed = page("09b_cache")
    assert "36 in all" in prose and "At 28 of them" in prose
    assert sum(range(1, 9)) == 36 and sum(range(8)) == 28
    assert "that is a factor of 67" in prose and "128 words: ratio 67" in printed
    assert "A little more than 4 and 16: 4.4 and 17.8" in prose
    assert re.search(r"256 → 1024: +4\.4 × +17\.8 ×", printed)
    wrong, right = "wrong wrong right", "right right right"
    assert f"without a mask  block 0: {wrong}  block 1: wrong wrong wrong" in printed
    assert f"with a mask     block 0: {right}  block 1: {right}" in printed
    assert "other queries for the first five: the sixth output moves by 0.00" in printed


# What a diff of chapter 9b calls otherwise than the chapter that wrote the method.
RENAMED = (
    {"attention.": "self.", "(x)": "(query if context is None else context)", "d(x,": "d(query,"},
    {"block.": "self."},
    {
        "x = model.": "self.",
        "model.": "self.",
        "(newest)": "(tokens)",
        "mask = None": "mask = causal_mask(target.shape[1], target.device)",
    },
    {},
)


def test_the_lines_that_change_are_those_of_the_chapters():
    """The lines that a diff takes away are in the chapter that wrote them; with those that stay they
    are in the function that the reader changes, and what is left is in the page's own cells.
    """
    cells = nbformat.read(NOTEBOOKS / "09b_cache.ipynb", 4).cells
    prose = "\n".join(c.source for c in cells if c.cell_type == "markdown")
    diffs = re.findall(r"```diff\n(.*?)```", prose, re.DOTALL)
    code = [c.source for c in cells if c.cell_type == "code"]
    to_change = ["".join(c[c.index("def yours(") :].split()) for c in code if "def yours(" in c]
    code = "".join("".join(c for c in code if "def yours(" not in c).split())
    before = "".join((NOTEBOOKS / f"{name}.py").read_text("utf-8") for name in BUILT)
    before = "".join(before.split()) + code  # `write` with a prompt is the page's own
    for shown, renamed, yours in zip(diffs, RENAMED, to_change, strict=True):
        lines = shown.splitlines()
        assert {line[:2] for line in lines} == {"- ", "+ ", "  "}
        left = "".join("".join(line[2:].split()) for line in lines if line[0] in "+ ")
        assert left in code
        old = "".join("".join(line[2:].split()) for line in lines if line[0] in "- ")
        assert old in yours
        for line in (line[2:] for line in lines if line[0] == "-"):
            for here, there in renamed.items():
                line = line.replace(here, there)
            assert "".join(line.split()) in before, line


class SureTable(NamedTuple):
    """A model to decode, and its own state: nearly sure of each next word, of the rest by chance."""

    seed: int

    def __call__(self, source, read):
        return self.step(read, self).logits

    def start(self, source, source_lengths=None):
        return Step(None, self)

    def step(self, tokens, state, return_weights=False):
        scores = torch.randn(12, 12, generator=torch.Generator().manual_seed(self.seed))
        after = {data.BOS: 3, 11: data.EOS} | {word: word + 1 for word in range(3, 11)}
        scores[list(after), list(after.values())] += 4
        return Step(scores[tokens], self)

    def select(self, rows):
        return self


def test_the_two_lines_that_mend_the_early_end_make_it_the_library_s_beam():
    cells = nbformat.read(NOTEBOOKS / "09_generating.ipynb", 4).cells
    hasty = next(c.source for c in cells if "def until_enough_ended" in c.source)
    shown = next(c.source for c in cells if "```diff" in c.source)
    lines = re.search(r"```diff\n(.*?)```", shown, re.DOTALL)[1].splitlines()
    old, new = (
        "\n".join(line[2:] for line in lines if line[0] in kinds) + "\n" for kinds in ("- ", "+ ")
    )
    assert hasty.count(old) == 1
    marks = {"begin": data.BOS, "end": data.EOS, "max_len": 20}
    names = {"torch": torch, "marks": marks, "BOS": data.BOS, "EOS": data.EOS}
    names["length_penalty"] = decoding.length_penalty
    same = {hasty: 0, hasty.replace(old, new): 0}
    for seed, alpha in product(range(20), (0.0, 0.6)):
        names["model"] = SureTable(seed)
        library = decoding.beam(names["model"], torch.tensor([[3]]), width=4, alpha=alpha, **marks)
        for code in same:
            exec(code, names)
            found = names["until_enough_ended"](names["model"], torch.tensor([3]), alpha=alpha)
            same[code] += found == [*library.sentences()[0], data.EOS]
    assert 40 == same.pop(hasty.replace(old, new)) > same.pop(hasty)
