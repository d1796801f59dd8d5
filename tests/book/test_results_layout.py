"""The pages of measured results before they are built: each file is on one page, and no number of it
gets lost in the tables.
"""

import json
import re
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from docutils import nodes

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "book" / "_ext"))
import results as pages  # noqa: E402
import results_layout as layout  # noqa: E402
import results_plot  # noqa: E402

FILES = sorted(path.stem for path in (ROOT / "book" / "results").glob("*.json"))


def spread(mean, median, least, most, n):
    return {"mean": mean, "median": median, "min": least, "max": most, "n": n}


def test_every_file_is_on_exactly_one_page():
    listed = [name for files in pages.pages().values() for name in files]
    assert sorted(listed) == FILES


def test_every_page_is_written_and_in_the_contents():
    toc = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    for page in pages.pages():
        text = (ROOT / "book" / "results" / f"{page}.md").read_text(encoding="utf-8")
        assert f"```{{results}} {page}\n" in text and f"file: book/results/{page}\n" in toc


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        ("a: {one: {}}\nb: {one: {}, two: {}}", "on two pages: one"),
        ("a: {one: {}}", "no line for two"),
        ("a: {one: {}, two: {}, three: {}}", "names three"),
    ],
)
def test_a_list_that_does_not_fit_the_files_is_refused(tmp_path, listed, said):
    for name in ("one", "two"):
        (tmp_path / f"{name}.json").write_text("{}", encoding="utf-8")
    file = tmp_path / "results.yml"
    file.write_text(listed, encoding="utf-8")
    with pytest.raises(ValueError, match=said):
        pages.pages(file, tmp_path)


@pytest.mark.parametrize("name", FILES)
def test_what_was_found_has_numbers_of_the_file(name):
    line = pages.pages()[pages.home(name)][name]
    assert line["asks"].endswith("?")
    assert re.search(r"\d", pages.answer(name)) and "{" in line["found"]


def test_a_path_that_leads_nowhere_is_said():
    with pytest.raises(KeyError, match=r"ends at 'c'; there is \['b'\]"):
        pages.Filled().vformat("{a/c:.2f}", (), {"results": {"a": {"b": 1}}})


@pytest.mark.parametrize("name", FILES)
def test_no_number_is_lost_in_the_tables(name):
    """Each leaf is in one cell, and caption, row and column together name its path."""
    results = json.loads((ROOT / "book" / "results" / f"{name}.json").read_text("utf-8"))["results"]
    cells = []
    for block in layout.blocks(results):
        for (row, column), (path, value) in block.cells.items():
            assert row in block.rows and column in block.columns
            assert sorted((*block.caption, *row, *column)) == sorted(path)
            cells.append((path, str(value)))
    assert sorted(cells) == sorted((path, str(value)) for path, value in layout.leaves(results))


@pytest.mark.parametrize("name", FILES)
def test_two_numbers_have_two_names(name):
    """Within a file no two cells have the same caption, row and column."""
    results = json.loads((ROOT / "book" / "results" / f"{name}.json").read_text("utf-8"))["results"]
    names = [
        (layout.named(block.caption), layout.named(row), layout.named(column))
        for block in layout.blocks(results)
        for row, column in block.cells
    ]
    assert len(names) == len(set(names))


def test_a_cell_tells_mean_median_extremes_and_runs():
    assert layout.told(spread(0.5, 0.25, 0.125, 1.0, 3), 3) == (
        "0.500 (0.250)",
        "0.125 – 1.00",
        "",
    )
    assert layout.told(spread(0.5, 0.25, 0.125, 1.0, 2), 3)[2] == "n = 2"
    assert layout.told(spread(1.0, 1.0, 1.0, 1.0, 3), 3) == ("1.00", "", "")
    assert layout.told(12_345, 3) == ("12,345", "", "")


def test_variants_are_rows_and_what_is_measured_columns():
    one = layout.blocks({"gru": {"exact": {"1": 1, "2": 2}}, "dot": {"exact": {"1": 3, "2": 4}}})
    assert [(b.caption, b.rows, b.columns) for b in one] == [
        (("exact",), (("gru",), ("dot",)), (("1",), ("2",)))
    ]


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("peak_memory_gb", "peak memory GB"),
        ("rate_0_001", "rate 0.001"),
        ("0", "0"),
        ("01_a", "1 a"),
    ],
)
def test_keys_become_words(key, words):
    assert layout.word(key) == words


def test_chapters_that_quote_a_file_are_found():
    assert [page.stem for page in pages.quoting()["order"]] == ["04_order"]
    assert re.fullmatch(
        r"\[chapter\s4\]\(/notebooks/04_order.ipynb\)\s\(\d+\)", *pages.quoted_in("order")
    )
    assert "mutants" not in pages.quoting()


LINK = re.compile(r"\]\(\.\./book/(results|published)((?:/\w+)?)\.md((?:#[\w-]+)?)\)")


def linked(text):
    """Links of a chapter to measured and to published results: kind, page and anchor."""
    return [(kind, page.lstrip("/"), place.lstrip("#")) for kind, page, place in LINK.findall(text)]


def test_a_link_says_where_it_leads():
    text = "[a](../book/results/cost.md#cost), [b](../book/published.md)"
    assert linked(text) == [("results", "cost", "cost"), ("published", "", "")]


def test_a_chapter_leads_to_the_numbers_it_speaks_of():
    """To the file or table itself, not to the overview of all."""
    from published_tables import anchor, page, tables

    there = {("results", pages.home(name), pages.anchor(name)) for name in FILES} | {
        ("published", page(table.name), anchor(table)) for table in tables()
    }
    for path in (ROOT / "book" / "results").glob("*.md"):  # sections written there by hand
        for heading in re.findall(r"^## (.+)$", path.read_text(encoding="utf-8"), re.M):
            there.add(("results", path.stem, re.sub(r"[^\w]+", "-", heading.lower())))
    found = [
        (path.name, link)
        for path in sorted((ROOT / "notebooks").glob("*.py"))
        for link in linked(path.read_text(encoding="utf-8"))
    ]
    assert len(found) > 15
    assert not [(name, link) for name, link in found if link not in there]


@pytest.mark.parametrize("name", FILES)
def test_no_two_tables_of_a_file_have_the_same_title(name):
    results = json.loads((ROOT / "book" / "results" / f"{name}.json").read_text("utf-8"))["results"]
    titles = list(filter(None, layout.titles(layout.blocks(results))))
    assert len(titles) == len(set(titles))


def test_a_single_row_of_counts_says_what_they_count():
    one = layout.blocks({"n_test": {"1": 960, "2": 970}})[0]
    made = pages.table(one, "tested on", 0, "items in the list")
    assert [entry.astext() for entry in made.findall(nodes.entry)] == [
        *("items in the list", "1", "2"),
        *("tested on", "960", "970"),
    ]


def test_a_curves_legend_stands_outside_the_axes():
    many = {name: {str(step): step / 9 for step in (1, 5, 9)} for name in ("vit", "cnn", "hybrid")}
    rows = tuple((str(step),) for step in (1, 5, 9))
    cells = {
        (row, (name,)): ((name, *row), line[row[0]]) for name, line in many.items() for row in rows
    }
    with plt.rc_context({"figure.constrained_layout.use": True}):
        results_plot.draw(layout.Block(("by_step",), rows, tuple((name,) for name in many), cells))
        figure = plt.gcf()
    figure.canvas.draw()
    axes = figure.axes[0]
    legends = [*figure.legends, *filter(None, [axes.get_legend()])]
    boxes = [legend.get_window_extent() for legend in legends]
    plt.close(figure)
    assert boxes and not any(box.overlaps(axes.get_window_extent()) for box in boxes)
