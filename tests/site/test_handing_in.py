"""The page about homework quotes what `check` says; this asks `check`."""

import json
import math
import re
from pathlib import Path

import pytest

from lectures_lib.homework import check, example
from lectures_lib.homework.banks.hw1.attention import scaled_dot_product_attention
from lectures_lib.homework.checking import WrongAnswer

BOOK = Path(__file__).parents[2] / "book"
PAGE = (BOOK / "handing_in.md").read_text(encoding="utf-8")

NUMBER = re.compile(r"-?\d+\.\d+")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)\n```", PAGE, re.MULTILINE | re.DOTALL)


def test_wrong_answer_is_told_as_quoted():
    code, by_hand = blocks("python")
    with pytest.raises(WrongAnswer) as told:
        exec(code, names := {"math": math, "check": check, "example": example})
    said, quoted = str(told.value), blocks("text")[0]
    assert NUMBER.sub("", said) == NUMBER.sub("", quoted)
    # Another processor may round the last digit otherwise.
    assert [float(n) for n in NUMBER.findall(said)] == pytest.approx(
        [float(n) for n in NUMBER.findall(quoted)], rel=1e-3
    )
    exec(by_hand, names)
    assert names["bad"].got is not None


def test_right_answer_is_told_as_quoted(capsys):
    check("hw1.scaled_dot_product_attention", scaled_dot_product_attention)
    assert capsys.readouterr().out.strip() == blocks("text")[1]


def test_the_table_says_what_each_homework_says():
    """Points, hours and the number of questions, as in the notebook that the row leads to."""
    rows = re.findall(
        r"^\| \[.+?\]\((.+?)\) \|.*\| (\d+) \| (\d+) \| (.+?) \|$", PAGE, re.MULTILINE
    )
    assert len(rows) == 7
    words = {"2½": "two and a half hours", "2¼": "two and a quarter hours", "3": "three hours"}
    for address, questions, points, hours in rows:
        cells = json.loads((BOOK / address).read_text(encoding="utf-8"))["cells"]
        text = "\n".join("".join(cell["source"]) for cell in cells)
        assert f"**{points} points, about {words[hours]}.**" in text
        assert len(re.findall(r"^## Question \d", text, re.MULTILINE)) == int(questions)
