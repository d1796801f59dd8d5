"""What a build takes from the one before: nothing that could be another now."""

import sys
from types import SimpleNamespace

import pytest
from docutils import nodes
from sitemap import ROOT, load_site_tool

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import kept
import last_changed
import told


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A checkout with a page, a script and a chapter."""
    for name in ("book/_ext/one.py", "book/page.md", "notebooks/01_one.ipynb", "tools/site.py"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x")
    monkeypatch.setattr(kept, "ROOT", tmp_path)
    monkeypatch.setattr(kept, "FOLDER", tmp_path / "_build" / "kept")
    for numbers in (kept.programs, kept.everything_else):
        numbers.cache_clear()
    yield tmp_path
    for numbers in (kept.programs, kept.everything_else):
        numbers.cache_clear()


def numbers():
    for one in (kept.programs, kept.everything_else):
        one.cache_clear()
    return kept.programs(), kept.everything_else()


@pytest.mark.parametrize(
    ("file", "programs", "everything"),
    [
        ("book/_ext/one.py", True, True),
        ("lectures_lib/models/new.safetensors", True, True),
        ("constraints.txt", True, True),
        ("book/results/live_range.json", True, True),
        ("book/page.md", False, True),
        ("_toc.yml", False, True),
        ("tools/site.py", False, True),
        ("notebooks/01_one.ipynb", False, False),
        ("lectures_lib/data/sections.jsonl", False, False),
        ("book/_ext/__pycache__/one.pyc", False, False),
    ],
)
def test_what_counts_as_a_change(folder, file, programs, everything):
    before = numbers()
    (folder / file).parent.mkdir(parents=True, exist_ok=True)
    (folder / file).write_text("y")
    after = numbers()
    assert [a != b for a, b in zip(before, after, strict=True)] == [programs, everything]


def test_a_file_that_moves_is_a_change(folder):
    before = numbers()
    (folder / "book" / "page.md").rename(folder / "book" / "other.md")
    assert numbers()[1] != before[1]


def test_what_is_made_is_made_once_until_something_changes(folder):
    made = []

    def make(of):
        return kept.kept("kind", of, lambda: made.append(of) or of.encode())

    assert [make("a"), make("a"), make("b")] == [b"a", b"a", b"b"]
    assert made == ["a", "b"]
    (folder / "book" / "_ext" / "one.py").write_text("another program")
    numbers()
    assert make("a") == b"a"
    assert made == ["a", "b", "a"]


@pytest.mark.parametrize("damage", [b"", b"half of it"], ids=["empty", "cut off"])
def test_what_is_damaged_is_made_anew(folder, damage):
    assert kept.kept("kind", "a", lambda: b"first") == b"first"
    (file,) = kept.FOLDER.glob("kind/*")
    file.write_bytes(damage)
    assert kept.kept("kind", "a", lambda: b"second") == b"second"
    assert kept.kept("kind", "a", lambda: b"third") == b"second"


def test_a_link_to_nothing_is_no_file(folder):
    (folder / "book" / ".#page.md").symlink_to("an-editor@a-machine")
    assert all(path.exists() for path in kept.under("book"))


def test_a_result_is_of_its_function_and_arguments(folder):
    assert [kept.result(divmod, 7, 2), kept.result(divmod, 7, 3), kept.result(pow, 7, 2)] == [
        (3, 1),
        (2, 1),
        49,
    ]
    assert kept.result(divmod, 7, 2) == (3, 1)


def test_an_error_is_not_kept(folder):
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            kept.result(divmod, 1, 0)


def test_what_nobody_asks_for_is_thrown_away(folder):
    kept.kept("kind", "a", lambda: b"a")
    kept.forget(days=1)
    assert len(list(kept.FOLDER.glob("*/*"))) == 1
    kept.forget(days=-1)
    assert not list(kept.FOLDER.glob("*/*"))


@pytest.mark.parametrize("changes", [True, False])
def test_what_was_made_while_a_program_changed_is_not_kept(folder, monkeypatch, changes):
    """Who had read the old version, and who the new one?"""
    site = load_site_tool()
    for name in ("HTML", "WRITTEN", "DONE", "LOCK"):
        monkeypatch.setattr(site, name, folder / "_build" / name.lower())
    monkeypatch.setattr(site, "vendor", lambda: None)

    def build(command, cwd):
        kept.kept("kind", "a", lambda: b"by some version")
        if changes:
            (folder / "book" / "_ext" / "one.py").write_text("another program")
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(site.subprocess, "run", build)
    site.build()
    assert len(list(kept.FOLDER.glob("*/*"))) == (0 if changes else 1)
    assert site.DONE.exists() is not changes, "the next build reads every page again"


@pytest.fixture
def tool(tmp_path, monkeypatch):
    """tools/site.py, whose build writes into an empty folder."""
    site = load_site_tool()
    for name in ("HTML", "WRITTEN", "DONE"):
        monkeypatch.setattr(site, name, tmp_path / name.lower())
    monkeypatch.setattr(site.kept, "everything_else", lambda: "now")
    site.WRITTEN.mkdir()
    (site.WRITTEN / "page.html").write_text("as written")
    site.HTML.mkdir()
    (site.HTML / "old.html").write_text("of another build")
    return site


def test_a_build_goes_on_from_the_last_one(tool):
    tool.DONE.write_text("now")
    assert not tool.begin()
    assert [file.name for file in tool.HTML.iterdir()] == ["page.html"]
    assert not tool.DONE.exists(), "until this one is through"


@pytest.mark.parametrize("last", [None, "something else"])
def test_after_a_failure_or_another_change_it_begins_anew(tool, last):
    if last:
        tool.DONE.write_text(last)
    assert tool.begin()
    assert not tool.HTML.exists()
    assert not tool.WRITTEN.exists()


@pytest.fixture
def app(monkeypatch):
    """A book of two pages that have been read, and its environment."""
    env = SimpleNamespace(found_docs={"one", "two", "root"}, titles={}, docname="")
    app = SimpleNamespace(env=env, config=SimpleNamespace(root_doc="root"), days={})
    monkeypatch.setattr(last_changed, "day_of", lambda app, page: app.days.get(page))
    for page in ("one", "two"):
        read(app, page)
    told.more_to_write(app, env)
    return app


def read(app, page, title="Title", text="Text.", name="section"):
    heading = nodes.title("", title)
    app.env.docname, app.env.titles[page] = page, heading
    section = nodes.section("", heading, nodes.paragraph("", text), ids=[name])
    doctree = nodes.document(None, None)
    doctree += section
    told.listen(app, doctree)


@pytest.mark.parametrize(
    ("change", "written"),
    [
        ({}, ["root"]),
        ({"text": "Another text."}, ["root"]),
        ({"title": "Another title"}, ["one", "root", "two"]),
        ({"name": "another-section"}, ["one", "root", "two"]),
    ],
)
def test_all_pages_are_written_where_one_tells_them_something_else(app, change, written):
    read(app, "one", **change)
    assert told.more_to_write(app, app.env) == written
    assert told.more_to_write(app, app.env) == ["root"]


def test_a_page_that_was_committed_is_written_for_its_day(app):
    app.days["two"] = "2026-11-29"
    assert told.more_to_write(app, app.env) == ["root", "two"]


def test_what_another_process_read_is_taken_over(app):
    other = SimpleNamespace(course_told={"three": {"sections": []}})
    told.merge(None, app.env, ["three", "two"], other)
    assert set(told.of_pages(app.env)) == {"one", "two", "three"}
    told.purge(None, app.env, "three")
    assert set(told.of_pages(app.env)) == {"one", "two"}


def test_pictures_that_no_page_shows_go(tmp_path):
    site = tmp_path / "html"
    (site / "_images").mkdir(parents=True)
    for name in ("shown.svg", "old.svg"):
        (site / "_images" / name).write_text(name)
    (site / "page.html").write_text('<img src="../_images/shown.svg">')
    builder = SimpleNamespace(format="html")
    told.keep_written(SimpleNamespace(outdir=site, builder=builder), None)
    assert {file.name for file in (tmp_path / "written").glob("_images/*")} == {"shown.svg"}


@pytest.mark.parametrize("kind", ["html", "latex"])
def test_a_build_by_hand_is_no_beginning_of_the_next(tmp_path, kind):
    done = tmp_path / "done"
    done.write_text("of the last build")
    connected = {}
    told.setup(
        SimpleNamespace(connect=lambda event, does, priority=0: connected.update({event: does}))
    )
    builder = SimpleNamespace(format=kind)
    connected["builder-inited"](SimpleNamespace(outdir=tmp_path / "html", builder=builder))
    assert not done.exists()
    assert load_site_tool().DONE.name == done.name
