"""Data comes from where it was asked for, splits never overlap, batches waste little and can always
be made again.
"""

import re
import shutil
from collections import Counter

import pytest
import torch

from lectures_lib import data
from lectures_lib.data import numbers
from lectures_lib.data.words import BOS, EOS, PAD, UNK


@pytest.fixture
def no_mirror(monkeypatch):
    monkeypatch.delenv("LECTURES_DATA", raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


# ---- number words


def test_number_words_are_translations():
    for pair in data.load("translation", size=200):
        english, german = (data.number_tokens(pair[language]) for language in ("en", "de"))
        assert all(data.number_alignment(english, german))
    assert data.number_tokens("two hundred and twenty-five, seven") == [
        "two",
        "hundred",
        "and",
        "twenty",
        "five",
        ",",
        "seven",
    ]
    assert data.number_tokens("zweihundertfünfundzwanzig, sieben") == [
        "zwei",
        "hundert",
        "fünf",
        "und",
        "zwanzig",
        ",",
        "sieben",
    ]
    assert data.number_tokens("siebzehn Äpfel") == ["siebzehn", "Äpfel"]


def test_every_number_is_cut_into_few_words_and_can_be_put_together():
    words = set()
    for n in range(1000):
        german = numbers._words(n, "de")
        tokens = data.number_tokens(german)
        assert "".join(tokens) == german
        words.update(tokens)
    # null to zwölf with ein and eins, six more teens, eight tens, hundert, und
    assert len(words) == 31


def test_alignment_crosses_and_takes_equal_words_in_turn():
    english, german = (
        data.number_tokens(text)
        for text in ("five hundred and twenty-five, five", "fünfhundertfünfundzwanzig, fünf")
    )
    #  english:  five 0  hundred 1  and 2  twenty 3  five 4  , 5  five 6
    assert data.number_alignment(english, german) == [{0}, {1}, {4}, {3, 4}, {3}, {5}, {6}]
    with pytest.raises(ValueError, match="'sechs' has no source"):
        data.number_alignment(["five"], ["sechs"])
    with pytest.raises(ValueError, match="2 numbers in English, 1 in German"):
        data.number_alignment(["five", ",", "six"], ["fünf"])


@pytest.mark.parametrize(
    "options", [{}, {"highest": 99}, {"counts": (1,)}, {"seed": 5, "counts": (2, 5)}]
)
def test_number_splits_never_overlap(options):
    found = {
        split: {pair["en"] for pair in data.load("translation", split, size=3000, **options)}
        for split in data.SPLITS
    }
    assert all(found.values())
    for a, b in (("train", "validation"), ("train", "test"), ("validation", "test")):
        assert not found[a] & found[b]
    # Nor with other arguments: a list's split depends on the list alone.
    train = {pair["en"] for pair in data.load("translation", size=3000, seed=1, highest=99)}
    assert not train & found["test"]


def test_number_words_are_deterministic_and_as_asked():
    first = data.load("translation", size=100)
    assert (
        list(first)
        == list(data.load("translation", size=100))
        != list(data.load("translation", size=100, seed=1))
    )
    assert first.origin == "number_words, made on this machine"
    lengths = Counter(pair["en"].count(",") + 1 for pair in first)
    assert lengths == {1: 25, 2: 25, 3: 25, 4: 25}
    # The very first one, so that another version of Python or num2words that changes them is
    # noticed.
    assert first[0] == {"en": "eight hundred and forty-three", "de": "achthundertdreiundvierzig"}
    assert len(data.load("translation")) == 20_000


def test_short_lists_run_out_in_the_test_split_and_repeat_in_training():
    test = [pair["en"] for pair in data.load("translation", "test", counts=(1,), size=500)]
    assert 50 < len(test) == len(set(test)) < 150
    drawn = [
        pair["en"] for pair in data.load("translation", "test", counts=(3,), highest=40, size=500)
    ]  # of 6,900 or so
    assert len(drawn) == len(set(drawn)) == 500
    train = [pair["en"] for pair in data.load("translation", counts=(1,), size=3000)]
    assert len(train) == 3000 > len(set(train)) > 500


# ---- Python's manual


def test_python_manual_is_a_text_without_repetition():
    found = {split: data.load("language_model", split, docstrings=False) for split in data.SPLITS}
    text = "\n\n".join(text for texts in found.values() for text in texts)
    assert len(text) > 200_000 and "assert_stmt" in text
    paragraphs = Counter(
        p.strip() for texts in found.values() for text in texts for p in text.split("\n\n")
    )
    assert max(paragraphs.values()) == 1
    sizes = {split: sum(map(len, texts)) for split, texts in found.items()}
    assert (
        sizes["train"] > 3 * max(sizes["validation"], sizes["test"]) and min(sizes.values()) > 5_000
    )


def test_docstrings_make_it_longer_and_leave_the_manual_where_it_was():
    short, long = (data.python_manual("test", docstrings=more) for more in (False, True))
    assert long[: len(short)] == short
    assert sum(map(len, long)) > sum(map(len, short)) + 50_000
    assert any("namedtuple" in text for split in data.SPLITS for text in data.python_manual(split))


# ---- load


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("summaries",), "no task 'summaries'; there is: translation, language_model"),
        (("translation", "dev"), "no split 'dev'; there is: train, validation, test"),
        (
            ("translation", "train", "wmt/wmt14"),
            "no source 'wmt/wmt14' .* offline, real, bentrevett/multi30k",
        ),
        (("senses", "train", "real"), "no source 'real' for 'senses'; there is: offline$"),
        (
            ("question_entailment",),
            "no source 'offline' for 'question_entailment'; there is: real, nyu-mll/glue/qnli",
        ),
    ],
)
def test_what_does_not_exist_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        data.load(*arguments)
    with pytest.raises(ValueError, match="options are for the offline default"):
        data.load("translation", "train", "real", size=3)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"counts": (0, 1)}, "counts = "), ({"size": 0}, "size = 0"), ({"highest": 8}, "highest = 8")],
)
def test_impossible_number_lists_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        data.load("translation", **options)


@pytest.mark.usefixtures("no_mirror")
@pytest.mark.parametrize("task", data.TASKS)
def test_the_offline_default_needs_no_network(task, monkeypatch):
    import socket

    def no_network(*arguments, **options):
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket.socket, "connect", no_network)
    if data.TASKS[task].offline is None:
        with pytest.raises(ValueError, match=r"no source 'offline' .* there is: real"):
            data.load(task, "validation")
    else:
        assert data.load(task, "validation")


@pytest.mark.usefixtures("no_mirror")
def test_without_network_real_data_fails_and_says_what_to_do(monkeypatch):
    monkeypatch.setenv("HF_DATASETS_CACHE", "/nonexistent")
    with pytest.raises(data.DataError, match=r'multi30k .*LECTURES_DATA .*source="offline"'):
        data.load("translation", source="real")
    with pytest.raises(data.DataError, match=r"qnli .*LECTURES_DATA") as raised:
        data.load("question_entailment", source="real")
    assert 'source="offline"' not in str(raised.value)  # the task has no such default


@pytest.mark.usefixtures("no_mirror")
def test_no_folder_is_taken_for_a_mirror_that_is_not_named(monkeypatch):
    assert data.mirror() is None
    monkeypatch.setenv("LECTURES_DATA", "")
    assert data.mirror() is None


def test_a_mirror_that_is_no_folder_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("LECTURES_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(
        data.DataError, match=r"nowhere, which is not a folder: correct it, or unset it"
    ):
        data.load("translation", source="real")


@pytest.mark.mirror("bentrevett/multi30k", "Salesforce/wikitext", "karpathy/tiny_shakespeare")
@pytest.mark.parametrize(
    ("task", "source", "sizes"),
    [
        ("translation", "real", (29_000, 1_014, 1_000)),
        ("language_model", "real", (36_718, 3_760, 4_358)),
        ("language_model", "karpathy/tiny_shakespeare", (1, 1, 1)),
    ],
)
def test_real_data_from_the_mirror(task, source, sizes):
    for split, size in zip(data.SPLITS, sizes, strict=True):
        found = data.load(task, split, source)
        assert len(found) == size
        assert re.search(
            r"/\w+, \w+, from the mirror|wikitext-2-v1, \w+, from the mirror", found.origin
        )
        example = found[-1]
        assert (
            isinstance(example, str) if task == "language_model" else example.keys() == {"en", "de"}
        )
    if task == "translation":
        assert found[0]["en"].startswith("A man in an orange hat")


LABELLED = {
    "sentiment": (67_349, 872, {"text", "label"}),
    "acceptability": (8_551, 1_043, {"text", "label"}),
    "entailment": (2_490, 277, {"first", "second", "label"}),
    "question_entailment": (None, 5_463, {"first", "second", "label"}),
    "similarity": (5_749, 1_500, {"first", "second", "score"}),
    "entities": (3_394, 1_009, {"words", "labels"}),
    # the mirror's train split is not the whole one
    "questions": (None, 10_570, {"question", "context", "answers"}),
    "treebank": (12_544, 2_001, {"words", "upos", "heads", "relations"}),
}


@pytest.mark.mirror(*(data.TASKS[task].real[0] for task in LABELLED))
@pytest.mark.parametrize("task", LABELLED)
def test_real_labelled_data_from_the_mirror(task):
    train, validation, keys = LABELLED[task]
    found = data.load(task, "validation", "real")
    assert (
        len(found) == validation
        and found.origin
        == f"{data.TASKS[task].real[0]}, validation, from the mirror that LECTURES_DATA names"
    )
    assert all(example.keys() == keys for example in found)
    if train:
        assert len(data.load(task, "train", "real")) == train
    if "label" in keys:
        assert {example["label"] for example in found} == {0, 1}


@pytest.mark.mirror("nyu-mll/glue", "rajpurkar/squad")
def test_real_examples_are_what_they_are_said_to_be():
    assert data.load("sentiment", "validation", "real")[0] == {
        "text": "it 's a charming and often affecting journey .",
        "label": 1,
    }
    scores = [example["score"] for example in data.load("similarity", "validation", "real")]
    assert (
        min(scores) == 0.0
        and max(scores) == 5.0
        and all(isinstance(score, float) for score in scores)
    )
    pair = data.load("entailment", "validation", "real")[0]
    assert (
        pair["first"].startswith("Dana Reeve")
        and pair["second"] == "Christopher Reeve had an accident."
        and pair["label"] == 1
    )
    for example in data.load("questions", "validation", "real"):
        assert example["answers"]
        for answer in example["answers"]:
            assert example["context"][answer["start"] :].startswith(answer["text"])


@pytest.mark.mirror("leondz/wnut_17")
def test_real_entities_have_legal_labels():
    types = Counter()
    for example in data.load("entities", "test", "real"):
        words, labels = example["words"], example["labels"]
        assert len(words) == len(labels) and all(isinstance(label, str) for label in labels)
        types.update(label[2:] for label in labels)
        for before, label in zip(["O", *labels], labels, strict=False):
            assert label[0] != "I" or before[2:] == label[2:]
    assert set(types) == {
        "",
        "corporation",
        "creative-work",
        "group",
        "location",
        "person",
        "product",
    }


@pytest.mark.mirror("universal-dependencies/universal_dependencies")
def test_real_trees_are_trees():
    for example in data.load("treebank", "validation", "real"):
        heads = example["heads"]
        assert (
            len(heads) == len(example["words"]) == len(example["upos"]) == len(example["relations"])
        )
        assert (
            "_" not in example["upos"]
            and heads.count(0) == 1
            and example["relations"][heads.index(0)] == "root"
        )
        for word in range(1, len(heads) + 1):
            steps = 0
            while word:
                word, steps = heads[word - 1], steps + 1  # an index out of range would raise
                assert steps <= len(heads), "a circle"


def test_words_written_as_one_and_words_left_out_are_no_words_of_a_tree():
    row = {
        "tokens": ["don't", "do", "n't", "go", "nor", "they", "go"],
        "upos": ["_", "AUX", "PART", "VERB", "CCONJ", "PRON", "VERB"],
        "head": ["_", "3", "3", "0", "5", "3", "_"],
        "deprel": ["_", "aux", "advmod", "root", "cc", "conj", "_"],
    }
    tree = data.rows.dependency_tree(row)
    assert tree["words"] == ["do", "n't", "go", "nor", "they"] and tree["heads"] == [3, 3, 0, 5, 3]
    # as the hub writes it
    assert data.rows.dependency_tree(row | {"head": ["None", *row["head"][1:6], "None"]}) == tree


@pytest.mark.mirror("nyu-mll/glue")
@pytest.mark.parametrize(
    "task", ["sentiment", "acceptability", "entailment", "question_entailment", "similarity"]
)
def test_hidden_answers_are_not_given_as_labels(task):
    with pytest.raises(
        data.DataError,
        match=r'nyu-mll/glue/\w+ hides the answers of its test split .*use split="validation"',
    ):
        data.load(task, "test", "real")


def test_a_choice_is_read_from_the_columns_of_swag():
    row = {
        "startphrase": "He opens the door. He",
        "ending0": "a",
        "ending1": "b",
        "ending2": "c",
        "ending3": "d",
        "label": 2,
        "sent2": "He",
    }
    assert data.rows.choice(row) == {
        "start": "He opens the door. He",
        "endings": ["a", "b", "c", "d"],
        "label": 2,
    }


@pytest.mark.mirror("bentrevett/multi30k")
def test_a_missing_split_and_a_damaged_file_are_named(monkeypatch, tmp_path):
    whole_mirror = data.mirror()
    folder = tmp_path / "bentrevett" / "multi30k"
    folder.mkdir(parents=True)
    monkeypatch.setenv("LECTURES_DATA", str(tmp_path))
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    shutil.copy(whole_mirror / "bentrevett/multi30k/test.parquet", folder)
    assert len(data.load("translation", "test", "real")) == 1000
    with pytest.raises(
        data.DataError,
        match=(
            r"no bentrevett/multi30k/train.parquet \(there: test\): add it, or unset LECTURES_DATA"
        ),
    ):
        data.load("translation", "train", "real")
    whole = (folder / "test.parquet").read_bytes()
    for damaged in (whole[: len(whole) // 2], b"", whole[:2000] + b"\0" * 4000 + whole[6000:]):
        (folder / "validation.parquet").write_bytes(damaged)
        with pytest.raises(
            data.DataError,
            match=r"validation.parquet is damaged \(.+\): copy it again, .*source=\"offline\"",
        ):
            data.load("translation", "validation", "real")


# ---- words


def test_vocabulary_goes_there_and_back():
    vocabulary = data.WordVocabulary.build([["b", "a", "b"], ["c", "a"]])
    assert vocabulary.words == ["<pad>", "<s>", "</s>", "<unk>", "a", "b", "c"]
    assert vocabulary.encode(["c", "x", "a"], bos=True, eos=True) == [BOS, 6, UNK, 4, EOS]
    assert vocabulary.decode([BOS, 6, 4, EOS, 5, PAD]) == ["c", "a"]
    assert len(data.WordVocabulary.build([["b", "a", "b"]], min_count=2)) == 5
    with pytest.raises(ValueError, match="token 7 is not in this vocabulary of 7 words"):
        vocabulary.decode([7])
    with pytest.raises(ValueError, match="more than once: a"):
        data.WordVocabulary(["a", "a"])


# ---- batches


def pairs(n=500):
    """Pairs of random lengths, each with tokens of its own, so that it is seen where it goes."""
    lengths = torch.randint(1, 40, (n, 2), generator=torch.Generator().manual_seed(1)).tolist()
    return [([4 + i] * a, [1, *[4 + i] * b, 2]) for i, (a, b) in enumerate(lengths)]


@pytest.mark.parametrize(
    "limits", [{"max_tokens": 700}, {"batch_size": 16}, {"max_tokens": 700, "batch_size": 6}]
)
def test_an_epoch_has_every_example_once_within_the_limits(limits):
    batches = data.Batches(pairs(), data.pad_pairs, **limits)
    rows = [i for plan in batches.plan(3) for i in plan]
    assert sorted(rows) == list(range(500))
    for batch in batches.epoch(3):
        assert batch.source.numel() + batch.target.numel() <= limits.get("max_tokens", 10**9)
        assert len(batch.source) <= limits.get("batch_size", 10**9)
        assert batch.n_targets == (batch.predicted != PAD).sum()
    if limits == {"batch_size": 16}:
        assert [len(plan) for plan in batches.plan(3)].count(16) == 31


def test_sorting_by_length_wastes_little():
    def useful(by_length):
        batches = list(
            data.Batches(pairs(), data.pad_pairs, max_tokens=700, by_length=by_length).epoch(0)
        )
        return sum(int(b.target_lengths.sum()) for b in batches) / sum(
            b.target.numel() for b in batches
        )

    assert useful(by_length=True) > 0.95 > 0.75 > useful(by_length=False)


def test_an_epoch_can_be_made_again_and_differs_from_the_others():
    one, same, other = (
        data.Batches(pairs(), data.pad_pairs, batch_size=8, seed=seed) for seed in (0, 0, 1)
    )
    assert one.plan(2) == same.plan(2)
    assert (
        len(
            {
                str(plan)
                for plan in (one.plan(0), one.plan(1), one.plan(2), other.plan(0), other.plan(1))
            }
        )
        == 5
    )
    # Not only the order of the batches changes: equally long examples meet others.
    assert {tuple(sorted(rows)) for rows in one.plan(0)} != {
        tuple(sorted(rows)) for rows in one.plan(1)
    }
    lengths = [len(one.examples[rows[0]][1]) for rows in one.plan(0)]
    assert lengths != sorted(lengths)


def test_padding_by_hand():
    batch = data.pad_pairs([([5, 6], [1, 7, 2]), ([8, 9, 4], [1, 2])])
    assert batch.source.tolist() == [[5, 6, 0], [8, 9, 4]] and batch.source_lengths.tolist() == [
        2,
        3,
    ]
    assert batch.target.tolist() == [[1, 7, 2], [1, 2, 0]] and batch.target_lengths.tolist() == [
        3,
        2,
    ]
    assert (
        batch.read.tolist() == [[1, 7], [1, 2]]
        and batch.predicted.tolist() == [[7, 2], [2, 0]]
        and batch.n_targets == 3
    )
    text = data.pad_texts([([4, 5, 6],), ([7, 8],)])
    assert (
        text.read.tolist() == [[4, 5], [7, 8]]
        and text.predicted.tolist() == [[5, 6], [8, 0]]
        and text.n_targets == 3
    )
    assert data.pad([[4], [5, 6]], pad_id=9).ids.tolist() == [[4, 9], [5, 6]]


def test_blocks_predict_every_token_once():
    cut = data.blocks(list(range(11)), 4)
    assert cut == [[0, 1, 2, 3, 4], [4, 5, 6, 7, 8]]
    assert [token for block in data.blocks(list(range(13)), 4) for token in block[1:]] == list(
        range(1, 13)
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: data.Batches([], data.pad_pairs, batch_size=2), "no examples"),
        (lambda: data.Batches(pairs(3), data.pad_pairs), "max_tokens = None, batch_size = None"),
        (lambda: data.Batches(pairs(3), data.pad_pairs, batch_size=0), "batch_size = 0"),
        (
            lambda: data.Batches([([4] * 30, [1, 2])], data.pad_pairs, max_tokens=31),
            "example 0 has 32 tokens, more than max_tokens = 31",
        ),
        (lambda: data.pad([[4], []]), r"got lengths \[1, 0\]"),
        (lambda: data.blocks([1, 2, 3], 3), "got 3"),
    ],
)
def test_bad_batches_are_refused_with_their_numbers(call, message):
    with pytest.raises(ValueError, match=message):
        call()
