"""The sections that the book's search knows are those of its chapters, and every question is about
a chapter there is.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from lectures_lib.data.book import book_questions, book_sections

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import sections  # noqa: E402

TWIN = """# %% [markdown]
# # Of light
#
# Where does it come from? From **lamps**, says *one* of them.<!-- results: a/b .1f -->
#
# ![A lamp](lamp.png)
#
# ## What $x$ costs
#
# The price of $\\sqrt{d_k} \\times 2$ is in [a table](04_order.ipynb):
#
# | a | b |
# |---|---|
# | 1 | 2 |

# %%
print("## not a heading")

# %% [markdown]
# - It is `0`.
#
# ### Empty, but for what follows
#
# #### Deeper
#
# Words.
#
# ## What $y$ costs
#
# Nothing.
#
# ## Summary
#
# 1. Not this.
"""


def test_the_file_says_what_the_chapters_say():
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "sections.py", "check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_sections_are_read_from_a_twin(tmp_path):
    twin = tmp_path / "07_light.py"
    twin.write_text(TWIN, encoding="utf-8")
    first, second, deeper, third = sections.sections(twin)
    assert first["chapter"] == "7. Of light"
    assert (first["title"], first["anchor"]) == ("Of light", "of-light")
    assert first["text"] == "Where does it come from? From lamps, says one of them."
    assert (second["title"], second["anchor"]) == ("What x costs", "what--costs")
    assert second["text"] == "The price of √d_k × 2 is in a table: It is 0."
    assert (deeper["title"], deeper["text"]) == ("Deeper", "Words.")
    assert (third["title"], third["anchor"]) == ("What y costs", "what--costs-1"), (
        "a second of the same name, as on the site"
    )


def test_whole_sentences_up_to_a_limit():
    short, long = "One two three. " * 30, "word " * 100
    assert sections.first_sentences(short) == " ".join(["One two three."] * 12)
    assert sections.first_sentences(long).split() == ["word"] * 75 + ["…"]
    assert sections.first_sentences("") == ""


def test_every_section_has_an_address_of_its_own():
    found = book_sections()
    assert len(found) > 150
    assert len({(section.page, section.anchor) for section in found}) == len(found)
    assert all((ROOT / section.page).with_suffix(".ipynb").exists() for section in found)
    assert all(
        section.text and section.number == int(section.page.split("/")[1][:2]) for section in found
    )


def test_questions_are_about_chapters_and_differ():
    questions = book_questions()
    assert len({question.question for question in questions}) == len(questions) >= 40
    assert all(
        set(question.chapters) <= set(range(1, 19)) and question.chapters for question in questions
    )


@pytest.mark.parametrize("command", [[], ["other"]])
def test_the_tool_says_how_it_is_used(command):
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "sections.py", *command], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "sections.py write" in done.stderr
