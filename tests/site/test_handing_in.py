"""The page about homework quotes what `check` says; this asks `check`."""

import math
import re
from pathlib import Path

import pytest

from lectures_lib.homework import check
from lectures_lib.homework.checking import WrongAnswer
from lectures_lib.homework.hw1.attention import scaled_dot_product_attention

PAGE = (Path(__file__).parents[2] / "book" / "handing_in.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)\n```", PAGE, re.MULTILINE | re.DOTALL)


def test_wrong_answer_is_told_as_quoted():
    (code,) = blocks("python")
    with pytest.raises(WrongAnswer) as told:
        exec(code, {"math": math, "check": check})
    assert str(told.value) == blocks("text")[0]


def test_right_answer_is_told_as_quoted(capsys):
    check("hw1.scaled_dot_product_attention", scaled_dot_product_attention)
    assert capsys.readouterr().out.strip() == blocks("text")[1]
