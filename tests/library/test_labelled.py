"""The sets written for this book: shaped as said, balanced, no example in two splits, offsets and
labels right, and the datasheet true.
"""

import re
import tomllib
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path

import pytest

from lectures_lib import data
from lectures_lib.data import labelled
from lectures_lib.metrics import bio_errors
from lectures_lib.models import minilm
from lectures_lib.tasks.word_level import cut_words
from lectures_lib.tokenization import WordPiece

KEYS = {
    "sentiment": {"text": str, "label": int},
    "acceptability": {"text": str, "label": int},
    "entailment": {"first": str, "second": str, "label": int},
    "similarity": {"first": str, "second": str, "score": float},
    "choices": {"start": str, "endings": list, "label": int},
    "entities": {"words": list, "labels": list},
    "questions": {"question": str, "context": str, "answers": list},
    "treebank": {"words": list, "upos": list, "heads": list, "relations": list},
    "senses": {"word": str, "sense": str, "text": str, "index": int},
}
DATASHEET = Path(__file__).resolve().parents[2] / "book" / "datasheet.md"


def splits(task: str) -> dict[str, list[dict]]:
    return {split: data.load(task, split) for split in data.SPLITS}


def sentences(task: str, example: dict) -> list[str]:
    """All that is said in an example."""
    if task in ("entities", "treebank"):
        return [" ".join(example["words"])]
    if task == "questions":
        return [example["context"]]
    if task == "choices":
        return [example["start"], *example["endings"]]
    return [example[key] for key in ("text", "first", "second") if key in example]


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


@pytest.mark.parametrize("task", labelled.WRITTEN)
def test_examples_have_the_keys_that_load_promises(task):
    for split, examples in splits(task).items():
        assert examples and examples.origin == f"{task}, a small set written for this book"
        for example in examples:
            assert {key: type(value) for key, value in example.items()} == KEYS[task], (
                split,
                example,
            )
            for text in sentences(task, example):
                assert text == text.strip() and "  " not in text and text


@pytest.mark.parametrize("task", labelled.WRITTEN)
def test_nothing_is_said_in_two_splits(task):
    said = defaultdict(set)
    for split, examples in splits(task).items():
        for example in examples:
            for text in sentences(task, example):
                said[" ".join(words(text))].add(split)
    assert {text: where for text, where in said.items() if len(where) > 1} == {}


@pytest.mark.parametrize("task", labelled.WRITTEN)
def test_no_example_occurs_twice(task):
    examples = [
        str(sorted(example.items())) for split in data.SPLITS for example in data.load(task, split)
    ]
    assert [example for example, n in Counter(examples).items() if n > 1] == []


@pytest.mark.parametrize("task", ["sentiment", "acceptability", "similarity", "entities", "senses"])
def test_splits_share_no_sentence_with_a_word_or_two_changed(task):
    bags = {
        split: [Counter(words(t)) for e in examples for t in sentences(task, e)]
        for split, examples in splits(task).items()
    }
    for a, b in combinations(data.SPLITS, 2):
        for x in bags[a]:
            for y in bags[b]:
                assert (x & y).total() <= 0.75 * max(x.total(), y.total()), (
                    a,
                    sorted(x),
                    b,
                    sorted(y),
                )


@pytest.mark.parametrize("task", ["sentiment", "acceptability", "entailment"])
def test_two_classes_are_equally_frequent_in_every_split(task):
    for examples in splits(task).values():
        counts = Counter(example["label"] for example in examples)
        assert counts.keys() == {0, 1} and counts[0] == counts[1]


def test_sentiment_is_not_told_by_length():
    lengths = defaultdict(list)
    for examples in splits("sentiment").values():
        for example in examples:
            lengths[example["label"]].append(len(words(example["text"])))
    mean = {label: sum(n) / len(n) for label, n in lengths.items()}
    assert abs(mean[0] - mean[1]) < 0.5


def test_most_unacceptable_sentences_have_the_words_of_an_acceptable_one():
    for examples in splits("acceptability").values():
        good, bad = (
            [sorted(words(e["text"])) for e in examples if e["label"] == label] for label in (1, 0)
        )
        # a bag of words cannot tell them apart
        assert sum(bag in good for bag in bad) > 0.6 * len(bad)
        assert len(good) == len(bad)


def test_similarity_has_all_scores_in_every_split():
    for examples in splits("similarity").values():
        scores = {example["score"] for example in examples}
        assert scores <= {i / 2 for i in range(11)} and scores >= {0.0, 1.0, 2.0, 3.0, 4.0, 5.0}


def test_choices_are_not_told_by_place_or_by_the_ending_alone():
    for examples in splits("choices").values():
        assert len(set(Counter(example["label"] for example in examples).values())) == 1
        right, wrong = Counter(), Counter()
        for example in examples:
            assert len(set(example["endings"])) == 4
            for i, ending in enumerate(example["endings"]):
                (right if i == example["label"] else wrong)[ending] += 1
        assert set(right.values()) == {1} and wrong == Counter({ending: 3 for ending in right})


def test_entities_are_tagged_by_the_rules():
    for examples in splits("entities").values():
        kinds = Counter()
        for example in examples:
            assert (
                len(example["words"]) == len(example["labels"])
                and bio_errors(example["labels"]) == []
            )
            assert all(word and not re.search(r"\s", word) for word in example["words"])
            kinds.update(label[2:] for label in example["labels"] if label[0] == "B")
        assert (
            kinds.keys() == {"person", "location", "organisation", "product"}
            and min(kinds.values()) >= 7
        )
        assert any(set(example["labels"]) == {"O"} for example in examples)


def test_some_names_are_of_two_kinds():
    kinds = defaultdict(set)
    for examples in splits("entities").values():
        for example in examples:
            for word, label in zip(example["words"], example["labels"], strict=True):
                if label[0] == "B":
                    kinds[word].add(label)
    assert {"Jordan", "Paris", "Florence", "Georgia"} <= {
        word for word, labels in kinds.items() if len(labels) > 1
    }


def test_answers_stand_in_their_contexts_and_a_fifth_has_none():
    for examples in splits("questions").values():
        for example in examples:
            assert example["question"].endswith("?")
            for answer in example["answers"]:
                assert answer.keys() == {"text", "start"}
                assert example["context"][answer["start"] :].startswith(answer["text"])
                assert example["context"].count(answer["text"]) == 1
        unanswered = sum(not example["answers"] for example in examples)
        assert 0.15 < unanswered / len(examples) < 0.25


def test_senses_are_matched_by_position_in_words_and_in_pieces():
    tokenizer = WordPiece.load(minilm.checkpoint() / "vocab.txt")
    for examples in splits("senses").values():
        places = defaultdict(lambda: defaultdict(list))
        for example in examples:
            text, word, index = example["text"], example["word"], example["index"]
            assert text[index : index + len(word)] == word and words(text).count(word) == 1
            before = text[:index].split()
            pieces = len(tokenizer.encode(text[:index]))
            places[word][example["sense"]].append((len(before), pieces))
        assert places.keys() == {"light", "bank", "bat", "spring"}
        for senses in places.values():
            one, other = map(sorted, senses.values())  # two senses
            assert one == other


def test_trees_have_one_root_and_no_circles():
    for examples in splits("treebank").values():
        for example in examples:
            heads = example["heads"]
            assert len({len(value) for value in example.values()}) == 1
            assert heads.count(0) == 1 and example["relations"][heads.index(0)] == "root"
            for word in range(1, len(heads) + 1):
                steps = 0
                while word:
                    word, steps = heads[word - 1], steps + 1
                    assert steps <= len(heads), example


@pytest.mark.parametrize("task", labelled.WRITTEN)
def test_every_sentence_is_one_that_bert_can_spell(task):
    tokenizer = WordPiece.load(minilm.checkpoint() / "vocab.txt")
    for examples in splits(task).values():
        for example in examples:
            for text in sentences(task, example):
                assert tokenizer.token_id("[UNK]") not in cut_words(tokenizer, text.split()).ids, (
                    text
                )


def test_the_datasheet_tells_the_sizes_that_the_files_have():
    table = re.findall(
        r"^\| `(\w+)` \|.*\| (\d+) \| (\d+) \| (\d+) \|$",
        DATASHEET.read_text(encoding="utf-8"),
        re.M,
    )
    found = {
        task: tuple(len(examples) for examples in splits(task).values())
        for task in labelled.WRITTEN
    }
    assert {task: tuple(map(int, sizes)) for task, *sizes in table} == found


def test_the_files_ship_with_the_package():
    setuptools = pytest.importorskip("setuptools")
    root = DATASHEET.parents[1]
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
        "setuptools"
    ]
    packages = setuptools.find_namespace_packages(
        str(root), include=settings["packages"]["find"]["include"]
    )
    assert "lectures_lib.data.labelled" in packages and "*.jsonl" in settings["package-data"]["*"]
    assert {file.stem for file in (root / "lectures_lib/data/labelled").iterdir()} == set(
        labelled.WRITTEN
    )


def test_a_set_that_was_not_written_is_refused(monkeypatch, tmp_path):
    with pytest.raises(ValueError, match="no labelled set 'opinions'; there is: sentiment"):
        labelled.examples("opinions", "train")
    monkeypatch.setattr(labelled, "files", lambda package: tmp_path)
    with pytest.raises(
        data.DataError, match=r"no data/labelled/senses.jsonl: install the package again"
    ):
        labelled.examples("senses", "train")
