"""Runs of more seeds are added to those that a results file holds, and runs of another size are
refused: what was measured before is neither lost nor mixed with something else.
"""

import json
import sys
from dataclasses import replace
from functools import partial

import pytest

from lectures_lib import data, results, stored
from tests.helpers.scripts import EXPERIMENTS, scripts


@pytest.fixture
def script():
    """An experiment's module by its name."""
    with scripts() as load:
        yield load


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """Where results are kept in place of book/results."""
    kept = tmp_path / "book" / "results"
    kept.mkdir(parents=True)
    save, load, to_add_to = results.save, results.load, results.to_add_to
    monkeypatch.setattr(results, "save", partial(save, folder=kept))
    monkeypatch.setattr(results, "to_add_to", partial(to_add_to, folder=kept))
    monkeypatch.setattr(results, "load", lambda name, folder=kept: load(name, folder))
    return kept


RUNS = {
    seed: {"f1": seed / 4, "by_step": {"1": seed + 1.0, "2": seed + 2.0}} for seed in (0, 1, 2, 5)
}


def test_spreads_give_their_runs_back():
    spreads = results.spreads(list(RUNS.values()))
    assert results.runs_of(spreads, list(RUNS)) == RUNS
    two = results.spreads([RUNS[0], RUNS[1]])
    assert results.runs_of(two, [0, 1, 2]).keys() == {0, 1}, "of more seeds the first are meant"
    with pytest.raises(ValueError, match=r"spreads of \[4\] runs are none of the seeds \[0, 1\]"):
        results.runs_of(spreads, [0, 1])
    with pytest.raises(ValueError, match=r"spreads of \[1, 4\] runs"):
        results.runs_of(spreads | {"loss": results.spread([1.0])}, list(RUNS))


def test_runs_are_added_in_the_order_of_their_seeds():
    earlier = results.spreads([RUNS[0], RUNS[5]])
    found, seeds = results.together({1: RUNS[1], 5: RUNS[2]}, earlier, [0, 5])
    assert seeds == [0, 1, 5]
    assert results.runs_of(found, seeds) == {0: RUNS[0], 1: RUNS[1], 5: RUNS[2]}
    assert results.together({1: RUNS[1]}, None, [])[1] == [1]
    other = {"f1": 1.0, "by_step": {"1": 1.0, "3": 1.0}}
    with pytest.raises(ValueError, match="not all 2 runs have 2, 3"):
        results.together({1: other}, results.spreads([RUNS[0]]), [0])


def test_a_file_of_another_size_is_not_added_to(folder):
    assert results.to_add_to("tried", "Ten steps", {"steps": 10}) is None
    results.save("tried", {}, "Ten steps", [0])
    assert results.to_add_to("tried", "Ten steps", {"steps": 10})["seeds"] == [0]
    with pytest.raises(ValueError, match=r"'Ten steps'.*'Twenty steps'.*move the file away first"):
        results.to_add_to("tried", "Twenty steps", {"steps": 20})
    results.save("tried", {}, "Ten steps", [0], settings={"steps": 10, "sizes": (1, 2)})
    assert results.to_add_to("tried", "Ten steps", {"steps": 10, "sizes": (1, 2)})
    for settings in ({"steps": 10, "sizes": (1, 3)}, {"steps": 10, "sizes": (1, 2), "rate": 0.1}):
        with pytest.raises(ValueError, match="move the file away first"):
            results.to_add_to("tried", "Ten steps", settings)


def test_a_run_of_another_size_is_not_taken_up(tmp_path):
    path = tmp_path / "seed_0.json"
    assert results.kept_run(path, {"steps": 2}) is None
    path.write_text(json.dumps({"size": {"steps": 2}, "loss": 1.0}))
    assert results.kept_run(path, {"steps": 2})["loss"] == 1.0
    with pytest.raises(ValueError, match=r"\{'steps': 2\} where \{'steps': 3\} is asked for"):
        results.kept_run(path, {"steps": 3})


def image_run(seed, n_parameters=10):
    numbers = {"test": seed / 10, "validation": seed / 5, "minutes": 1.0 + seed}
    return numbers | {"by_step": {"5": 0.5}, "n_parameters": n_parameters, "size": {"steps": 5}}


def test_images_keep_the_seeds_they_have(script, folder, monkeypatch, tmp_path):
    images = script("images")
    size = replace(
        images.SIZES["smoke"], sources=("fashion_mnist",), models=("vit",), ways=("plain",)
    )
    monkeypatch.setitem(images.SIZES, "smoke", replace(size, file="tried"))
    monkeypatch.setattr(data, "load", lambda *_: data.Examples([], "none"))
    runs = {seed: image_run(seed) for seed in range(4)}
    monkeypatch.setattr(images, "measure", lambda *arguments: runs[arguments[5]])

    def asked(*seeds):
        monkeypatch.setattr(sys, "argv", ["images.py", "--seeds", *map(str, seeds)])
        images.main()
        return results.load("tried")

    asked(0, 2)
    record = asked(1)
    found = record["results"]["fashion_mnist"]["vit"]["plain"]
    assert record["seeds"] == [0, 1, 2] and found["test"]["values"] == [0.0, 0.1, 0.2]
    assert found["minutes"]["n"] == 3 and found["n_parameters"] == 10
    runs[3] = image_run(3, n_parameters=11)
    with pytest.raises(ValueError, match="10 parameters, this one 11"):
        asked(3)
    monkeypatch.setitem(images.SIZES, "smoke", replace(size, file="tried", batch=7))
    with pytest.raises(ValueError, match="move the file away first"):
        asked(3)
    assert results.load("tried") == record


def play_run(seed):
    nats = {"validation": 1.0 + seed, "test": 2.0, "both": 1.5}
    found = {"blocks": nats, "sliding": nats, "validation": {"5": 3.0}, "minutes": 1.0}
    return found | {"n_parameters": 10} | ({"stored": nats} if seed == 0 else {})


def test_language_models_keep_the_seeds_they_have(script):
    models = script("language_models")
    trained, seeds = models.summary({0: play_run(0), 2: play_run(2)})
    record = {"results": {"trained": trained}, "seeds": seeds}
    more, seeds = models.summary({1: play_run(1)}, record)
    assert seeds == [0, 1, 2]
    assert more["blocks"]["validation"]["values"] == [1.0, 2.0, 3.0]
    assert more["stored"] == trained["stored"], "the stored model is still the first seed's"
    with pytest.raises(ValueError, match="10 parameters, this one 11"):
        models.summary({1: play_run(1) | {"n_parameters": 11}}, record)
    with pytest.raises(ValueError, match="not all 2 runs have 5, 6"):
        models.summary({0: play_run(0) | {"validation": {"6": 3.0}}}, _of_seed_2(models))


def _of_seed_2(models):
    trained, seeds = models.summary({2: play_run(2)})
    return {"results": {"trained": trained}, "seeds": seeds}


def caption_run(seed, signature="tok:13a"):
    test = {name: [30.0 + seed, signature] for name in ("cased", "lowercase")}
    found = {"test": test, "apart": {"last_beam": 1.0}, "validation": {"5": 3.0}, "minutes": 1.0}
    return found | {"n_parameters": 10} | ({"stored": 30.0, "equal": {}} if seed == 0 else {})


def test_captions_keep_the_seeds_they_have(script):
    captions = script("multi30k")
    found, seeds = captions.summary({0: caption_run(0), 2: caption_run(2)})
    more, seeds = captions.summary({1: caption_run(1)}, found, seeds)
    assert seeds == [0, 1, 2] and more["cased"]["values"] == [30.0, 31.0, 32.0]
    assert more["stored"] == 30.0 and more["signature_cased"] == "tok:13a"
    with pytest.raises(ValueError, match="signature_cased"):
        captions.summary({1: caption_run(1, "tok:char")}, found, [0, 2])


def test_berts_choices_keep_the_seeds_and_variants_they_have(script, folder, monkeypatch):
    ablations = script("bert_ablations")
    size = replace(ablations.SIZES["smoke"], file="tried")
    monkeypatch.setitem(ablations.SIZES, "smoke", size)
    documents = [["A ferry leaves.", "It comes back.", "Nobody waits."]] * 4
    monkeypatch.setattr(data, "load", lambda *_: documents)

    def measured(size, variant, documents, tokenizer, asked, seed, kept):
        return {"perplexity": 100.0 + seed, "accuracy": 0.1, "size": {}}

    monkeypatch.setattr(ablations, "measure", measured)

    def asked(*arguments):
        argv = ["bert_ablations.py", "--size", "smoke", *map(str, arguments)]
        monkeypatch.setattr(sys, "argv", argv)
        ablations.main()
        return results.load("tried")

    asked("--only", "paper", "no_nsp", "--seeds", 1, 2)
    record = asked("--only", "paper", "--seeds", 0)
    assert record["results"]["paper"]["perplexity"]["values"] == [100.0, 101.0, 102.0]
    assert record["results"]["no_nsp"]["perplexity"]["values"] == [101.0, 102.0]
    assert record["seeds"] == [0, 1, 2]
    assert record["seeds_of"] == {"paper": [0, 1, 2], "no_nsp": [1, 2]}
    record = asked("--only", "no_nsp", "--seeds", 0)
    assert record["results"]["no_nsp"]["perplexity"]["values"] == [100.0, 101.0, 102.0]
    monkeypatch.setitem(ablations.SIZES, "smoke", replace(size, rate=1e-3))
    with pytest.raises(ValueError, match=r"'rate': 0\.004"):
        asked("--only", "paper", "--seeds", 3)


@pytest.mark.parametrize("name", ["language_models", "multi30k", "images", "bert_ablations"])
def test_the_files_that_there_are_can_be_added_to(script, name):
    """Their titles are what the scripts say today: a renamed title would refuse them all."""
    source = (EXPERIMENTS / f"{name}.py").read_text(encoding="utf-8")
    assert "results.to_add_to(size.file, title, size.of_a_run())" in source
    module = script(name)
    for size in module.SIZES.values():
        if size.file and (results.FOLDER / f"{size.file}.json").exists():
            title = results.load(size.file)["title"]
            assert f"{size.steps} steps" in title or f"{size.steps:,} steps" in title


def few(task, split="train", source="offline", **options):
    return data.Examples(LOAD(task, split)[:8], "offline, the beginning")


LOAD = data.load


@pytest.fixture
def low_rank(script, folder, monkeypatch, tmp_path):
    """The script, which learns nothing and has something to measure."""
    module = script("low_rank")
    monkeypatch.setattr(data, "load", few)
    monkeypatch.setattr(stored, "FOLDER", tmp_path)
    monkeypatch.setattr(module.fine_tuning, "fine_tune", lambda *_, **__: None)

    def asked(*arguments):
        monkeypatch.setattr(sys, "argv", ["low_rank.py", "--task", "sst2", *map(str, arguments)])
        module.main()
        return results.load("low_rank_sst2")

    module.asked = asked
    return module


def test_small_differences_of_another_rate_are_refused(low_rank, monkeypatch):
    record = low_rank.asked("--seeds", 1)
    assert record["seeds"] == [1] and record["results"]["rate"] == low_rank.RATES["sst2"]
    assert low_rank.asked("--seeds", 0, 1)["seeds"] == [0, 1]
    before = results.load("low_rank_sst2")
    monkeypatch.setitem(low_rank.RATES, "sst2", 5e-4)
    with pytest.raises(SystemExit, match=r"'rate': 0.002.*'rate': 0.0005.*move the file away"):
        low_rank.asked("--seeds", 2)
    assert results.load("low_rank_sst2") == before


def test_an_interrupted_run_of_another_rate_is_not_gone_on_with(low_rank, monkeypatch, tmp_path):
    taken = []
    monkeypatch.setattr(
        low_rank.fine_tuning, "fine_tune", lambda *_, **how: taken.append(how["checkpoint"])
    )
    setting = low_rank.prepare("sst2")
    for rate in (2e-3, 5e-4):
        low_rank.adapted(setting, 0, rate, tmp_path)
    low_rank.adapted(replace(setting, train=setting.train[:4]), 0, 5e-4, tmp_path)
    assert len(set(taken)) == 3 and {path.parent for path in taken} == {tmp_path}
