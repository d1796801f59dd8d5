"""What notebooks show and quote: the library's source, heat maps, measured numbers, the set-up
line.
"""

import json
import math
import mmap
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
import torch

import lectures_lib
from lectures_lib import results
from lectures_lib.blocks.attention import MultiHeadAttention, attention_weights
from lectures_lib.show import plots, source


def test_source_is_shown_with_its_place():
    shown = source.show(attention_weights)
    assert shown.code.startswith("def attention_weights(")
    assert shown.file == "lectures_lib/blocks/attention.py"
    markdown = shown._repr_markdown_()
    assert markdown.endswith("/blob/main/lectures_lib/blocks/attention.py)")
    assert markdown.startswith("```python\ndef attention_weights(")


def test_source_without_docstrings_still_does_the_same():
    code = source.show(MultiHeadAttention, docstring=False).code
    assert '"""' not in code
    assert "self.W_O(merge_heads(" in code
    assert "# " not in code or "Args:" not in code
    compile(code, "shown", "exec")


def test_source_of_others_is_refused():
    with pytest.raises(ValueError, match="not in lectures_lib"):
        source.show(json.dumps)


def test_heatmap_shows_the_numbers_and_the_labels():
    ax = plots.heatmap(
        torch.tensor([[0.25, 0.75], [1.0, 0.0]]), ["a", "b"], ["c", "d"], numbers=".2f"
    )
    assert [t.get_text() for t in ax.texts] == ["0.25", "0.75", "1.00", "0.00"]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["a", "b"]
    plt.close("all")


def test_heatmap_leaves_a_square_without_a_value_empty():
    ax = plots.heatmap(torch.tensor([[0.5, math.nan]]), numbers=".1f")
    assert [t.get_text() for t in ax.texts] == ["0.5"]
    assert ax.images[0].get_clim() == (0.0, 0.5)
    plt.close("all")


def test_heatmap_refuses_labels_that_do_not_fit():
    with pytest.raises(ValueError, match="3 labels for 2 rows"):
        plots.heatmap(torch.zeros(2, 2), ["a", "b", "c"])
    plt.close("all")


def test_setup_makes_numbers_repeat(capsys):
    lectures_lib.setup(seed=3, threads=1)
    first = torch.randn(4)
    lectures_lib.setup(seed=3, threads=1)
    assert torch.equal(first, torch.randn(4))
    assert capsys.readouterr().out == "", "on a CPU it says nothing"
    with pytest.raises(ValueError, match="at least 1, got 0"):
        lectures_lib.setup(threads=0)


def test_setup_takes_one_thread_where_openmp_has_one(monkeypatch):
    for asked, threads in {None: 2, "1": 1, "8": 2, "4,1": 2}.items():
        monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
        if asked:
            monkeypatch.setenv("OMP_NUM_THREADS", asked)
        lectures_lib.setup()
        assert torch.get_num_threads() == threads, asked


def test_results_are_saved_whole_and_read_back(tmp_path):
    folder = tmp_path / "book" / "results"
    folder.mkdir(parents=True)
    results.save("speed", {"ratio": results.spread([1.0, 2.0, 4.5])}, "A ratio", [], folder)
    assert results.value("speed", "ratio/mean", folder) == 2.5
    assert results.load("speed", folder)["device"] == results.device()
    assert [p.name for p in folder.iterdir()] == ["speed.json"]
    with pytest.raises(KeyError, match="ends at 'slope'; there is \\['ratio'\\]"):
        results.value("speed", "slope", folder)
    with pytest.raises(FileNotFoundError, match="there are: speed"):
        results.load("sped", folder)
    with pytest.raises(ValueError, match="no measurements"):
        results.spread([])


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux tells")
def test_the_peak_of_memory_is_remembered_until_it_is_forgotten():
    begun = results.peak_memory(forget=True)
    with mmap.mmap(-1, 100_000_000) as held:  # new pages: what the process has freed does not serve
        for page in range(0, len(held), mmap.PAGESIZE):
            held[page] = 1
    peak = results.peak_memory()
    assert peak - begun > 90_000_000
    assert peak - results.peak_memory(forget=True) > 90_000_000


def test_the_minutes_of_an_interrupted_run_are_added_up():
    assert results.in_all([3.0, 6.0, 9.0]) == 9.0
    assert results.in_all([3.0, 6.0, 2.0, 5.0]) == 11.0  # stopped after 6, began again at 0


def test_a_measurement_is_kept_where_its_circumstances_cannot_be_told(tmp_path, monkeypatch):
    """Without git or transformers, or on a drive with no way from here to there."""

    def missing(*args, **options):
        raise FileNotFoundError("git")

    def not_there(package):
        if package == "transformers":
            raise PackageNotFoundError(package)
        return "1.0"

    def no_way(path, begin=None):
        raise ValueError("path is on mount 'C:', start on mount 'D:'")

    monkeypatch.setattr(results.subprocess, "run", missing)
    monkeypatch.setattr(results, "version", not_there)
    monkeypatch.setattr(results.os.path, "relpath", no_way)
    monkeypatch.setattr(results.sys, "argv", ["speed.py", "--all"])
    results.save("speed", {"ratio": 2.5}, "A ratio", [], tmp_path)
    record = results.load("speed", tmp_path)
    assert record["results"] == {"ratio": 2.5} and record["commit"] == "unknown"
    assert record["versions"]["transformers"] == "unknown" and record["versions"]["torch"] == "1.0"
    assert record["command"] == "python speed.py --all"


def test_the_numbers_of_several_runs_are_spread_one_by_one():
    runs = [{"f1": 0.5, "by_layer": {"0": 1, "1": 2}}, {"f1": 0.75, "by_layer": {"0": 3, "1": 2}}]
    assert results.spreads(runs) == {
        "f1": results.spread([0.5, 0.75]),
        "by_layer": {"0": results.spread([1.0, 3.0]), "1": results.spread([2.0, 2.0])},
    }
    assert results.spreads(runs[:1])["f1"]["values"] == [0.5]
    with pytest.raises(ValueError, match="no runs"):
        results.spreads([])


def test_what_one_run_lacks_is_refused_or_left_out():
    runs = [{"heads": {"amod": 1.0, "iobj": 0.5}}, {"heads": {"amod": 0.0, "appos": 0.5}}]
    with pytest.raises(ValueError, match="not all 2 runs have appos, iobj"):
        results.spreads(runs)
    assert results.spreads(runs, common=True) == {"heads": {"amod": results.spread([1.0, 0.0])}}


def test_a_wrong_quote_is_found(tmp_path):
    folder = tmp_path / "book" / "results"
    folder.mkdir(parents=True)
    results.save("speed", {"ratio": 2.5, "share": 0.613}, "A ratio", [], folder)
    right = "about 2.5<!-- speed: ratio .1f --> times, in 61 %<!-- speed: share .0f --> of the runs"
    assert results.wrong_quotes(right, folder) == []
    assert results.wrong_quotes(right.replace("2.5", "2.6"), folder) == [
        "the text says 2.6, speed.json holds 2.5 at ratio"
    ]
    assert len(results.wrong_quotes(right.replace("61", "62"), folder)) == 1
