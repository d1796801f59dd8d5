"""One page of feedback a student: a single HTML file that needs nothing else."""

from collections.abc import Iterable
from html import escape
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

from lectures_lib.homework.diagnosis import Verdict
from lectures_lib.homework.grading.records import Result, file_stem, write_whole
from lectures_lib.homework.questions import Homework, Question
from lectures_lib.homework.reports.gradebook import points

_STYLE = """
:root { color-scheme: light dark; --ground: #fdfdfc; --card: #fff; --text: #1d2329; --soft: #59636e; --line: #d9dee3;
  --right: #00694d; --wrong: #a33c00; --open: #59636e; --link: #0060a0; }
@media (prefers-color-scheme: dark) { :root { --ground: #14181c; --card: #1c2127; --text: #e6e9ec; --soft: #a3adb8; --line: #363d45;
  --right: #4fc9a4; --wrong: #f09a5b; --open: #a3adb8; --link: #7dc0f5; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1rem 4rem; max-width: 46rem; background: var(--ground); color: var(--text);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; overflow-wrap: anywhere; }
h1 { margin: 0; font-size: 1.7rem; line-height: 1.25; text-wrap: balance; }
h2 { margin: 0; font-size: 1.06rem; }
p { margin: .5rem 0 0; }
a { color: var(--link); }
code { font: .92em ui-monospace, "SF Mono", Menlo, Consolas, monospace; background: color-mix(in srgb, var(--soft) 14%, transparent);
  padding: .1em .3em; border-radius: .25em; }
.soft { color: var(--soft); }
header { display: flex; flex-wrap: wrap; gap: 1rem 2rem; align-items: end; justify-content: space-between; margin-bottom: 1.75rem; }
.total { font-size: 1.05rem; white-space: nowrap; font-variant-numeric: tabular-nums; } .total b { font-size: 2.2rem; line-height: 1; }
.bar { height: .5rem; margin: 0 0 2rem; border-radius: 1rem; background: var(--line); overflow: hidden; }
.bar i { display: block; height: 100%; background: var(--right); }
section { margin: .8rem 0; padding: 1rem 1.15rem; background: var(--card); border: 1px solid var(--line);
  border-left: .3rem solid var(--mark);
  border-radius: .5rem; }
section.right { --mark: var(--right); } section.wrong { --mark: var(--wrong); } section.open { --mark: var(--open); }
.head { display: flex; gap: 1rem; justify-content: space-between; align-items: baseline; }
.head span { white-space: nowrap; font-variant-numeric: tabular-nums; color: var(--soft); }
.status { color: var(--mark); font-weight: 600; }
dl { display: grid; grid-template-columns: auto 1fr; gap: .2rem .8rem; margin: .7rem 0 0; font-size: .93rem; }
dt { color: var(--soft); } dd { margin: 0; }
.notice { --mark: var(--wrong); }
ul { margin: .5rem 0 0; padding-left: 1.2rem; }
"""
_OPEN = ("unfinished", "missing", "unread", "unreached")


def write_all(homework: Homework, results: Iterable[Result], folder: Path) -> None:
    """Write every student's page into `folder`."""
    folder.mkdir(exist_ok=True)
    for result in results:
        write_whole(folder / f"{file_stem(result.student)}.html", page(homework, result))


def page(homework: Homework, result: Result) -> str:
    """The text of a student's page. Whatever comes from the student is escaped."""
    earned = points(homework, result)
    total, possible = sum(earned.values()), sum(question.points for question in homework.questions)
    parts = [_card(homework[verdict.question], verdict) for verdict in result.verdicts] if not result.problem else []
    title = f"Homework {homework.name.removeprefix('hw')}: {homework.title}"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)} – {escape(result.student)}</title>
<style>{_STYLE}</style>
</head>
<body>
<header><div><h1>{escape(title)}</h1><p class="soft">{escape(result.student)}</p></div>
<div class="total"><b>{total}</b> of {possible} points</div></header>
<div class="bar" role="presentation"><i style="width:{100 * total / max(possible, 1):.0f}%"></i></div>
<main>
{_problem(result)}{"".join(parts)}{_stopped(result)}
</main>
</body>
</html>
"""


def _card(question: Question, verdict: Verdict) -> str:
    """What became of one question."""
    state = "right" if verdict.right else "open" if verdict.kind in _OPEN else "wrong"
    status = {"right": "✓ Right", "open": "○ No answer", "wrong": "✗ Not right yet"}[state]
    details = [("On", escape(verdict.on))] if verdict.on else []
    if not verdict.right and question.chapter:
        details.append(("Reread", _chapter(question.chapter)))
    listed = "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in details)
    message = f"<p>{_with_code(verdict.message)}</p>" if verdict.message and verdict.kind != "unfinished" else ""
    return f"""<section class="{state}"><div class="head"><h2>{escape(question.title)}</h2>
<span>{question.points if verdict.right else 0} of {question.points}</span></div>
<p><span class="status">{status}</span> <code>{escape(question.answer_name)}</code></p>
{message}{f"<dl>{listed}</dl>" if listed else ""}</section>
"""


def _problem(result: Result) -> str:
    if not result.problem:
        return ""
    return f'<section class="wrong"><h2>The file could not be graded</h2><p>{escape(result.problem)}</p></section>'


def _stopped(result: Result) -> str:
    """The cells that did not come to their end: often the reason for what is missing above."""
    if not result.cells:
        return ""
    cells = "".join(f"<li>Code cell {number}: {_with_code(why)}</li>" for number, why in result.cells)
    why = "The cells of the notebook were run in order, by themselves. These stopped, the rest went on."
    return f'<section class="open"><h2>Cells that stopped</h2><p class="soft">{why}</p><ul>{cells}</ul></section>'


def _with_code(text: str) -> str:
    """Escaped, with what stands between backticks set as code."""
    parts = escape(text).split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    return "".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts))


def _chapter(chapter: str) -> str:
    """A link to the section that teaches the idea, where the book's address is known."""
    notebook, _, anchor = chapter.partition("#")
    number, _, name = notebook.partition("_")
    words = f"chapter {number.lstrip('0')}, {(anchor or name).replace('-', ' ').replace('_', ' ')}"
    book = _book()
    if not book:
        return escape(words)
    return f'<a href="{escape(f"{book}/notebooks/{notebook}.html" + (f"#{anchor}" if anchor else ""))}">{escape(words)}</a>'


def _book() -> str:
    """The address of the book this package belongs to; "" where the package is not installed."""
    try:
        urls = metadata("lectures-lib").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    return next((url.split(", ", 1)[1].rstrip("/") for url in urls if url.startswith("Book, ")), "")
