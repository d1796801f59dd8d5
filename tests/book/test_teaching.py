"""The timetables for teachers agree with the chapters: minutes, order, homework."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "book/teaching.md").read_text(encoding="utf-8")
CHAPTERS = sorted((ROOT / "notebooks").glob("[0-9]*.py"))
MINUTES = {  # "13b" stands between chapters 13 and 14, "10b" is the second half of 10
    path.stem.split("_")[0]: int(
        re.search(r"\*\*Time\*\* about (\d+) minutes", path.read_text(encoding="utf-8"))[1]
    )
    for path in CHAPTERS
}


def section(title):
    """The text below a heading of the page, up to the next one of its kind."""
    return re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)[1]


def rows(title):
    """[(chapters to read, minutes, homework)] of the table below a heading."""
    found = []
    for line in section(title).splitlines():
        cells = line.split("|")
        if re.match(r"\|\s*\d+\s*\|", line):
            read = re.findall(r"notebooks/(\d\d[bc]?)_", cells[2])
            found.append((read, int(cells[3]), re.findall(r"exercises/(hw\d)_", line)))
    return found


@pytest.mark.parametrize("title", ["Fourteen weeks", "One week"])
def test_minutes_are_those_of_the_chapters(title):
    assert rows(title)
    for read, minutes, _ in rows(title):
        assert minutes == sum(MINUTES[chapter] for chapter in read), read


def test_fourteen_weeks_read_everything_once_and_in_order():
    table = rows("Fourteen weeks")
    assert len(table) == 14
    assert [chapter for read, _, _ in table for chapter in read] == sorted(MINUTES)
    assert [name for *_, names in table for name in names] == [f"hw{i}" for i in range(1, 8)]


def test_homework_is_handed_in_when_its_chapters_have_been_read():
    read = set()
    for chapters, _, homework in rows("Fourteen weeks"):
        read |= set(chapters)
        for name in homework:
            (path,) = (ROOT / "solutions").glob(f"{name}_*.py")
            named = set(re.findall(r"notebooks/(\d\d[bc]?)_", path.read_text(encoding="utf-8")))
            assert named <= read, name


def test_hours_of_those_who_learn_alone():
    said = re.search(r"about (\d+) hours of reading and (\d+) of homework", section("Alone"))
    homework = 0
    for path in sorted((ROOT / "solutions").glob("hw*.py")):
        asked = re.findall(
            r"^# \*\d+ points? · difficulty \d of 3 · (\d+) minutes", path.read_text("utf-8"), re.M
        )
        homework += sum(map(int, asked))
    assert (int(said[1]), int(said[2])) == (
        round(sum(MINUTES.values()) / 60),
        round(homework / 60),
    )


def test_three_questions_for_each_chapter_each_with_an_answer():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    titles = [
        entry["title"]
        for part in toc["parts"]
        for entry in part["chapters"]
        if entry["file"].startswith("notebooks/")
    ]
    parts = re.split(r"^### (.+)\n", section("Questions to talk about"), flags=re.M)
    assert parts[1::2] == titles
    for title, text in zip(parts[1::2], parts[2::2], strict=True):
        assert re.findall(r"^(\d)\. .+", text, re.M) == ["1", "2", "3"], title
        assert len(re.findall(r"</summary>\n\n   \S.{40,}", text)) == 3, title


def test_points_of_every_project_make_a_hundred():
    page = (ROOT / "book/projects.md").read_text(encoding="utf-8")
    common, *projects = re.split(r"^## \d\. ", page, flags=re.M)
    shared = sum(int(n) for n in re.findall(r"^\| (\d+) \|", common, re.M))
    assert len(projects) == 6
    for project in projects:
        own = sum(int(n) for n in re.findall(r"^\| (\d+) \|", project, re.M))
        assert shared + own == 100, project[:40]
        assert "**Question.**" in project and "**Begin with**" in project
