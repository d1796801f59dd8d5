"""What the prose of chapters 14 to 18 says and a few lines can compute again, where no cell of the
chapter does.
"""

import math
import re
from pathlib import Path

import nbformat
import pytest

from lectures_lib import data, metrics, results
from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert

ROOT = Path(__file__).resolve().parents[2]


def prose(number):
    """A chapter's text in one line, without the notes that say where a number is from."""
    (path,) = (ROOT / "notebooks").glob(f"{number}_*.py")
    lines = [
        line.removeprefix("#").strip()
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("#")
    ]
    return re.sub(r"<!--.*?-->", "", " ".join(lines))


@pytest.mark.parametrize("number", [14, 17])
def test_minilm_saw_a_hundred_million_pairs_not_a_billion(number):
    readme = (minilm.checkpoint() / "README.md").read_text(encoding="utf-8")
    steps, batch = re.search(r"during (\d+)k steps using a batch size of (\d+)", readme).groups()
    pool = int(re.search(r"\*\*Total\*\*.*?\*\*([\d,]+)\*\*", readme)[1].replace(",", ""))
    seen = 1000 * int(steps) * int(batch)
    assert round(seen / 1e6) == 102 and seen / pool < 0.09
    assert "a billion pairs" not in prose(number) and "hundred million pairs" in prose(number)


def test_as_many_numbers_are_trained_as_the_page_says():
    """Chapter 14 leaves the word table as it is."""
    bert = Bert.from_pretrained(minilm.checkpoint())
    bert.embeddings.tokens.requires_grad_(False)
    trained = sum(p.numel() for p in bert.parameters() if p.requires_grad)
    assert round(trained / 1e6) == 11 and "train eleven million numbers" in prose(14)


def test_the_band_of_fine_tuning_is_the_same_on_all_ninety():
    """Chapter 15b's other numbers are of both held-out splits together."""
    pooled = []
    for of_seed in results.load("fine_tuning_small")["results"]["entities"]["by_seed"].values():
        right = said = there = 0
        for split, scores in of_seed.items():
            labels = [row["labels"] for row in data.load("entities", split)]
            n = sum(label.startswith("B-") for row in labels for label in row)
            found = round(scores["recall"] * n)
            assert found == pytest.approx(scores["recall"] * n)
            right, said, there = right + found, said + found / scores["precision"], there + n
        pooled.append(2 * right / (said + there))
    assert (there, len(pooled)) == (131, 5)
    assert (round(min(pooled), 2), round(max(pooled), 2)) == (0.69, 0.80)
    assert "on the 60 test sentences and on all 90 alike" in prose("15b")


def test_always_silent_has_an_exact_match_above_nothing():
    right = [
        [answer["text"] for answer in row["answers"]] for row in data.load("questions", "test")
    ]
    assert metrics.answer_scores([""] * len(right), right).exact_match > 0.15
    assert "and exact match do not" not in prose("14b")
    assert "Exact match does not, where some" in prose("14b")


def test_fine_tuning_is_held_against_a_body_that_was_never_trained():
    """Learned from the sentences, or prepared by pre-training? Both splits together, since 30 and
    50 sentences are few.
    """
    of = {
        task: [
            results.value("fine_tuning_small", f"{task}/{split}/accuracy/mean")
            for split in ("validation", "test")
        ]
        for task in ("acceptability", "acceptability_untrained")
    }
    pooled = {task: (30 * validation + 50 * test) / 80 for task, (validation, test) in of.items()}
    assert pooled["acceptability"] > pooled["acceptability_untrained"] + 0.1
    assert "acceptability_untrained" in (ROOT / "notebooks" / "14_fine_tuning.py").read_text(
        encoding="utf-8"
    )


def test_words_need_as_many_phrases_as_the_page_says():
    """Beside chapter 14: up to 300 phrases, some eighteen times as many, read off between the rows on a
    scale of ratios; with all of them, words have caught up.
    """

    def accuracy(way, n):
        return results.value("training_size", f"accuracy/{n}/{way}/mean")

    for n, below, above in ((100, 1000, 3000), (300, 3000, 10000)):
        wanted = accuracy("frozen", n)
        low, high = (accuracy("bag_of_words", phrases) for phrases in (below, above))
        assert low < wanted < high
        needed = below * (above / below) ** ((wanted - low) / (high - low))
        assert 17 <= needed / n <= 19
    assert results.value("fine_tuning_sst2", "bag_of_words/accuracy") > results.value(
        "fine_tuning_sst2", "frozen/accuracy"
    )
    page = (ROOT / "book" / "results" / "four_tasks.md").read_text(encoding="utf-8")
    assert "some eighteen times as many" in page


def test_the_last_state_against_the_embeddings():
    """Chapter 15b: on WNUT-17's test split the last state is behind them under a linear layer, and
    ahead under a BiLSTM.
    """

    def f1(features, tagger):
        return results.value("ner_features", f"{features}/{tagger}/test/f1/mean")

    ahead = {
        tagger: f1("last", tagger) - f1("embeddings", tagger) for tagger in ("linear", "bilstm")
    }
    assert ahead["linear"] < 0 and round(100 * ahead["bilstm"]) == 2
    assert "hardly better than the embeddings" not in prose("15b")


def test_ten_versions_are_held_against_thirteen_readings_too():
    """Chapter 18: what a token's chance of never being asked for is, by the number of different
    masks.
    """
    assert round(100 * 0.85**10) == 20 and round(100 * 0.85**13) == 12
    assert round(1 / 0.85**13) == 8 and "leave an eighth after 13 readings" in prose(18)
    assert "13 times at most" in prose(18)


def test_nine_to_four_is_what_tossed_coins_do_once_in_four_times():
    as_uneven = 2 * sum(math.comb(13, k) for k in range(5)) / 2**13
    assert 1 / 4.5 < as_uneven < 1 / 3.5


def test_tags_and_relations_by_two_measures():
    """Chapter 16b: expected layers put tags first in each draw, centres of gravity relations."""

    def values(task, measure):
        return results.load("probing")["results"][task]["minilm"][measure]["values"]

    for measure, first, second in (
        ("expected_layer", "tag", "relation"),
        ("centre_of_gravity", "relation", "tag"),
    ):
        early, late = values(first, measure), values(second, measure)
        assert all(a < b for a, b in zip(early, late, strict=True))
    assert "By the expected layer, tags come first in each of three draws" in prose("16b")
    assert "By the centre of gravity, relations come first, by even less" in prose("16b")


@pytest.mark.parametrize("name", ["18_after_bert", "18b_what_it_costs"])
def test_nothing_scrolls_sideways(name):
    """Neither code, sentences and tables in strings included, nor what is printed."""
    notebook = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", 4)
    shown = [cell for cell in notebook.cells if "remove-cell" not in cell.metadata.get("tags", [])]
    lines = [
        line
        for cell in shown
        if cell.cell_type == "code"
        for text in (cell.source, *(output.get("text", "") for output in cell.outputs))
        for line in text.split("\n")
    ]
    assert [line for line in lines if len(line) > 88] == []


def test_most_of_electras_gain_comes_from_asking_everywhere():
    """Chapter 18, by the paper's tables 1 and 5."""
    row = r"\| (`\[MASK\]`|drawn words)[^|]*\| (which word|replaced or not), ([^|]+) \| ([\d.]+) \|"
    glue = {key: float(score) for *key, score in re.findall(row, prose(18)) for key in [tuple(key)]}
    bert, electra = ("`[MASK]`", "which word", "at 15 %"), ("drawn words", "replaced or not")
    whole = glue[(*electra, "everywhere")] - glue[bert]
    assert len(glue) == 5 and whole == pytest.approx(85.0 - 82.2)
    for question in ("which word", "replaced or not"):
        asked = {where: glue["drawn words", question, where] for where in ("at 15 %", "everywhere")}
        assert asked["everywhere"] - asked["at 15 %"] > whole / 2
        assert asked["at 15 %"] - glue[bert] < 0.25
    assert "Asking everywhere brings most of the gain, whichever the question" in prose(18)
    small = re.search(
        r"four days of one GPU each, ELECTRA has ([\d.]+) and BERT ([\d.]+)\.", prose(18)
    )
    assert float(small[1]) - float(small[2]) > whole


def test_an_epoch_costs_as_many_readings_as_the_page_reckons_with():
    """Chapter 15b reckons with a number in a cell."""
    cost = results.value("ner_features", "cost/epoch_of_fine_tuning_over_features/median")
    text = (ROOT / "notebooks" / "15b_which_layers.py").read_text(encoding="utf-8")
    assert f"\nepoch = {cost:.1f}  # of fine-tuning" in text
    assert "The 36 frozen ones in the table" in prose("15b")
