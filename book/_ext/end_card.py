"""The card at the foot of a chapter: what its reader can do now, three questions to check that, and
where to go on.

What a reader can do is the chapter's own list; the questions are `book/quizzes/NN.yml` (quizzes). A
page between two chapters has a card if it has questions.
A choice is a <details> that opens without a script; book/_static/quiz.js remembers it. The card is added to the page and not to its
text, so that neither the search nor "Ask the book" finds a wrong choice and takes it for an answer.
"""

import html
import re
from typing import Any

import quizzes
from chapters import key, number
from docutils import nodes
from docutils.utils.smartquotes import educateQuotes
from formula_text import printed
from section_search import contents_titles
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

HOMEWORK = {
    1: (2, 3, 4),
    2: (1, 5, 6),
    3: (7, 8, 9, 10),
    4: (11,),
    5: (12, 13),
    6: (14, 15),
    7: (16, 17),
}
OBJECTIVES = re.compile(
    r"<p><strong>After this (?:chapter|page) you can</strong></p>\s*(<ul[^>]*>.*?</ul>)", re.DOTALL
)
EXAM = "book/exam"  # has a section for each chapter: #chapter-1, …
ANCHOR, TITLE = "check-yourself", "Check yourself"


def marked_up(text: str) -> str:
    """A quiz's text as HTML: `code`, *emphasis*, and quotation marks that turn the right way."""
    code_between = text.split("`")
    for i, part in enumerate(code_between):
        safe = html.escape(part, quote=False)
        if i % 2:
            code_between[i] = f'<code class="literal">{safe}</code>'
        else:
            code_between[i] = inline(educateQuotes(safe, "en"))
    return "".join(code_between)


def inline(text: str) -> str:
    """*Emphasis*, and letters with an index, d_k or W^Q, as one prints them: KaTeX would weigh more
    than the whole card.
    """
    return printed(re.sub(r"\*(.+?)\*", r"<em>\1</em>", text))


def quiz(questions: tuple[quizzes.Question, ...]) -> str:
    """The questions as a list; each choice unfolds to what is to be said about it."""
    items = "\n".join(
        f"<li><p>{marked_up(q.question)}</p>\n<ul>\n"
        + "\n".join(unfolding(*pair) for pair in zip("ABCD", q.choices, strict=False))
        + "\n</ul></li>"
        for q in questions
    )
    return f'<ol class="quiz">\n{items}\n</ol>'


def unfolding(letter: str, choice: quizzes.Choice) -> str:
    """One choice, with its reason folded away."""
    kind, verdict = ("right", "Yes.") if choice.right else ("wrong", "No.")
    why = marked_up(choice.why)
    return (
        f'<li><details class="choice {kind}"><summary><b>{letter}</b> <span>{marked_up(choice.text)}</span>'
        f"</summary><p><strong>{verdict}</strong> {why}</p></details></li>"
    )


def homework_of(chapter: str) -> int | None:
    """The homework that belongs to a chapter ("08", or its second half, "08b"), if one does."""
    number = int(chapter[:2])
    return next((work for work, chapters in HOMEWORK.items() if number in chapters), None)


def ways_on(app: Sphinx, page: str, text: str) -> list[str]:
    """Homework, exam, next page and discussion, each with a link."""
    env, builder, ways = app.env, app.builder, []
    pages = [p for tree in app.config.external_site_map.root.subtrees for p in tree.items]

    def link(other: str, title: str = "") -> str:
        title = title or env.titles[other].astext()
        return f'<a href="{builder.get_relative_uri(page, other)}">{html.escape(title)}</a>'

    if number(page) and (work := homework_of(key(page))):
        asked = re.search(
            rf"Homework {work}, (questions? .+?), is about this (?:chapter|page)", text
        )
        file = next(p for p in pages if p.startswith(f"exercises/hw{work}_"))
        ways.append(f"<b>Homework</b> {link(file)}{f', {asked[1]}' if asked else ''}")
    chapter = str(int(key(page)[:2]))
    address = f"{builder.get_relative_uri(page, EXAM)}?about={chapter}#chapter-{chapter}"
    ways.append(f'<b>Exam</b> <a href="{address}">questions about chapter {chapter}</a>')
    following = next(filter(key, pages[pages.index(page) + 1 :]), None)
    if following:
        ways.append(f"<b>Next</b> {link(following, contents_titles(app)[following])}")
    else:
        ways.append(
            f"<b>Next</b> this was the last chapter; {link('book/projects', 'make something of it')}"
        )
    repository = html.escape(app.config.html_theme_options["repository_url"])
    ways.append(f'<b>Discuss</b> <a href="{repository}/discussions">ask, or answer somebody</a>')
    return ways


def card(app: Sphinx, page: str, body: str, text: str) -> str:
    """The whole card as HTML."""
    objectives = OBJECTIVES.search(body)
    if objectives is None:
        raise ExtensionError(f'{page}: there is no list "After this chapter (or page) you can"')
    on = "\n".join(f"<li>{way}</li>" for way in ways_on(app, page, text))
    return (
        f'<section id="{ANCHOR}" class="end-card"><h2>{TITLE}'
        f'<a class="headerlink" href="#{ANCHOR}" title="Link to this heading">#</a></h2>\n'
        f"<h3>What you can do now</h3>\n{objectives[1]}\n"
        f"<h3>Three questions</h3>\n<p>The first choice that you open is your answer. Then open the "
        f"others: each says why it is right or what speaks against it.</p>\n{quiz(quizzes.load(key(page)))}\n"
        f'<h3>Where to go on</h3>\n<ul class="ways-on">\n{on}\n</ul>\n</section>\n'
    )


def add_card(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Put the card at the foot of a chapter, and its name at the end of the page's contents."""
    if doctree is None or not page.startswith("notebooks/") or key(page) not in quizzes.there():
        return
    context["body"] += card(app, page, context["body"], doctree.astext())
    entry = f'<li><a class="reference internal" href="#{ANCHOR}">{TITLE}</a></li>\n'
    app.add_js_file("shared.js")
    app.add_js_file("quiz.js")
    head, end, tail = context["toc"].rpartition("</ul>\n</li>\n</ul>")
    context["toc"] = head + entry + end + tail if end else context["toc"]


def setup(app: Sphinx) -> dict:
    """Do it before the page's list of contents is made."""
    app.connect("html-page-context", add_card, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
