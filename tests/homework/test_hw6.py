"""Homework 6: its inputs, its worked examples, its references against the library.

The rest: `test_banks.py` and `test_graded_class.py`.
"""

import random
import re
import warnings

import jupytext
import pytest
import torch
import torch.nn.functional as F
from seqeval.metrics import f1_score
from seqeval.scheme import IOB2
from torch.testing import assert_close

from lectures_lib import metrics
from lectures_lib.analysis import probing
from lectures_lib.homework import find
from lectures_lib.homework.banks.hw6.entity_f1 import names
from lectures_lib.models import bert, word2vec
from lectures_lib.tasks import alignment, task_heads
from lectures_lib.tokenization import WordPiece
from lectures_lib.tokenization.vocabulary import Vocabulary
from tests.homework.bank import ROOT, SEEDS, judged, key, questions, text
from tests.homework.students_hw6 import tagger_at_the_rate_of_a_body

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
RIGHT = {name.split(".")[1]: find(name).reference for name in questions("hw6")}


def test_a_list_that_is_changed_is_noticed():
    def in_place(words, labels, max_len):
        result = RIGHT["piece_labels"](words, labels, max_len)
        words.reverse()
        return result

    verdict = judged("hw6.piece_labels", in_place)
    assert (verdict.right, verdict.kind) == (False, "changed")


def test_inputs_are_not_square():
    """No two sizes that an answer might confuse agree by accident."""
    for seed in SEEDS:
        for case in key("hw6.ChoiceHead", seed).cases + key("hw6.LayerMix", seed).cases:
            sizes = [size for size in case.args[0].shape if size > 1]  # sizes of 1 are tried, too
            assert len(set(sizes)) == len(sizes), f"seed {seed}: {sizes}"
        for case in key("hw6.skip_gram_step", seed).cases:
            sizes = [size for size in (*case.args[0].shape, *case.args[4].shape) if size > 1]
            assert len(set(sizes)) == len(sizes), f"seed {seed}: {sizes}"


def test_answers_of_every_sort_are_met():
    """Among the cases are answers at both ends of the text, of one word and of the most words, and
    none.
    """
    for seed in SEEDS:
        met = set()
        for case in key("hw6.best_answer", seed).cases:
            _, _, first, last, longest, _ = case.args
            i, j = RIGHT["best_answer"](*case.args)
            if (i, j) == (0, 0):
                met.add("none")
            else:
                met |= {
                    ("first", i == first),
                    ("last", j == last),
                    ("length", {1: "one", longest: "most"}.get(j - i + 1)),
                }
        assert met >= {
            "none",
            ("first", True),
            ("last", True),
            ("length", "one"),
            ("length", "most"),
        }, f"seed {seed}: {met}"


def test_no_layer_alone_suffices_and_the_classes_can_be_told():
    for seed in SEEDS:
        states, labels, asked, n_classes = key("hw6.train_tagger", seed).cases[0].args
        assert set(labels.tolist()) == {-100, *range(n_classes)}
        right = RIGHT["train_tagger"](states, labels, asked, n_classes)
        assert right.unique().tolist() == list(range(n_classes))
        for name, outcomes in [(m.name, o) for m, o in key("hw6.train_tagger", seed).mistakes]:
            if outcomes[0].value.shape != right.shape:
                continue  # tags of other pieces than those asked for: told by their number
            assert (outcomes[0].value == right).float().mean() < 0.87, f"{name} with seed {seed}"


def test_a_tagger_that_training_hardly_changed_is_not_called_untrained():
    """A rate of 1e-5 gives the predictions of the layer as it was made, and step() is called."""
    verdict = judged("hw6.train_tagger", tagger_at_the_rate_of_a_body)
    assert verdict.mistake == "never_trained"
    assert "hardly" in verdict.message and "rate large enough" in verdict.message


# ------------------------------------------------------------------- the references and the library


def test_pairs_are_cut_as_the_library_cuts_them():
    rng = random.Random(0)
    letters = [chr(ord("a") + i) for i in range(26)]
    tokenizer = WordPiece(Vocabulary([*SPECIALS, *letters], SPECIALS))
    for _ in range(200):
        first, second = ([rng.choice(letters) for _ in range(rng.randint(1, 12))] for _ in range(2))
        second = None if rng.random() < 0.2 else second
        max_len = rng.randint(5, 30)
        theirs = tokenizer.pair(
            " ".join(first), None if second is None else " ".join(second), max_len
        )
        assert RIGHT["fit_pair"](first, second, max_len) == (theirs.tokens, theirs.segments)


def test_labels_are_aligned_as_the_library_aligns_them():
    rng = random.Random(0)
    tokenizer = WordPiece(
        Vocabulary([*SPECIALS, *(f"{mark}{c}" for mark in ("", "##") for c in "abc")], SPECIALS)
    )
    for _ in range(200):
        words = [
            "".join(rng.choice("abc") for _ in range(rng.randint(1, 4)))
            for _ in range(rng.randint(1, 8))
        ]
        labels, max_len = [rng.randint(0, 5) for _ in words], rng.randint(3, 20)
        read = alignment.read_words(tokenizer, words, max_len)
        tokens, targets = RIGHT["piece_labels"](
            [tokenizer.tokenize(word).tokens for word in words], labels, max_len
        )
        assert [tokenizer.token_id(token) for token in tokens] == read.ids
        assert targets == alignment.align(read, labels)


def test_the_head_is_the_librarys():
    torch.manual_seed(0)
    model = task_heads.MultipleChoice(
        bert.Bert(bert.BertConfig(20, d_model=8, n_layers=1, n_heads=2, d_ff=16))
    ).eval()
    ours = RIGHT["ChoiceHead"](8, 0.1).eval()
    ours.pooler.load_state_dict({name: p for name, p in model.bert.pooler.state_dict().items()})
    ours.head = model.head
    tokens = torch.randint(20, (2, 3, 5))
    hidden = model.bert(tokens.flatten(0, 1)).hidden.unflatten(0, (2, 3))
    assert_close(ours(hidden), model(tokens, torch.zeros_like(tokens), torch.full((2, 3), 5)))


def test_the_best_answer_is_the_librarys():
    for seed in SEEDS:
        for case in key("hw6.best_answer", seed).cases:
            start, end, first, last, longest, threshold = case.args
            allowed = torch.zeros(1, len(start), dtype=torch.bool)
            allowed[0, first : last + 1] = True
            theirs = task_heads.best_spans(
                task_heads.SpanScores(start[None], end[None]), allowed, longest, threshold
            )
            assert RIGHT["best_answer"](*case.args) == (theirs.start.item(), theirs.end.item())


def strictly(predicted, right):
    """seqeval's F1 where only a B begins a name; it warns where there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return f1_score(right, predicted, mode="strict", scheme=IOB2, zero_division=0)


def test_the_f1_is_seqeval_s_strict_one():
    for seed in SEEDS:
        for case in key("hw6.entity_f1", seed).cases:
            predicted, right = case.args
            assert RIGHT["entity_f1"](predicted, right) == pytest.approx(strictly(predicted, right))
    rng = random.Random(0)
    labels = ["O", "B-x", "I-x", "B-y", "I-y"]
    otherwise = 0
    for _ in range(300):
        predicted = [[rng.choice(labels) for _ in range(rng.randint(1, 6))] for _ in range(3)]
        right = [
            ["O" if label[0] == "I" else label for label in (rng.choice(labels) for _ in row)]
            for row in predicted
        ]
        found = RIGHT["entity_f1"](predicted, right)
        assert found == pytest.approx(strictly(predicted, right))
        otherwise += found != pytest.approx(metrics.entity_scores(predicted, right).f1)
    assert otherwise > 100  # the library counts as the chapter does


def test_the_chapter_s_f1_is_no_answer_and_is_called_by_its_name():
    chapter = jupytext.read(ROOT / "notebooks" / "14b_words_and_spans.py")
    source = next(cell.source for cell in chapter.cells if "def entity_f1" in cell.source)
    space = {}
    exec(source.split("\nlazy = ")[0], space)
    for answer in (
        space["entity_f1"],
        lambda said, right: metrics.entity_scores(said, right).f1,
        lambda said, right: f1_score(right, said, zero_division=0),
    ):
        for seed in SEEDS:
            verdict = judged("hw6.entity_f1", answer, seed)
            assert verdict.mistake == "as_in_the_chapter" and verdict.demands == ()
            assert "Chapter 14b counts so" in verdict.message
    assert "counts differently" in " ".join(text("hw6").split())


def test_an_f1_in_float32_is_right_and_a_rounded_one_is_not():
    def in_float32(predicted, right):
        return torch.tensor(RIGHT["entity_f1"](predicted, right), dtype=torch.float32)

    for seed in SEEDS:
        assert judged("hw6.entity_f1", in_float32, seed).right
        rounded = judged("hw6.entity_f1", lambda *a: round(RIGHT["entity_f1"](*a), 4), seed)
        assert rounded.mistake == "rounded"


def test_the_step_is_that_of_the_library_s_loss():
    """Autograd, which the question rules out, and torch's SGD."""
    for seed in SEEDS:
        for case in key("hw6.skip_gram_step", seed).cases:
            vectors, near_vectors, word, near, noise, rate = case.args
            model = word2vec.SkipGram(*vectors.shape)
            model.vectors.data, model.near.data = vectors.clone(), near_vectors.clone()
            optimizer = torch.optim.SGD(model.parameters(), lr=rate)
            model(torch.tensor([word]), torch.tensor([near]), noise[None]).backward()
            optimizer.step()
            ours = RIGHT["skip_gram_step"](*case.args)
            assert_close(ours, (model.vectors.data, model.near.data), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "way", ["backward", "autograd.backward", "grad", "func", "jacobian", "forward"]
)
def test_a_step_by_autograd_is_refused_whatever_its_name(way):
    def answer(vectors, near_vectors, word, near, noise, rate):
        def loss(vectors, near_vectors):
            return word2vec.skip_gram_loss(
                vectors[word][None], near_vectors[near][None], near_vectors[noise][None]
            )

        tables = [table.clone().requires_grad_() for table in (vectors, near_vectors)]
        if way == "backward":
            loss(*tables).backward()
        if way == "autograd.backward":
            torch.autograd.backward(loss(*tables))
        found = {
            "backward": lambda: [table.grad for table in tables],
            "autograd.backward": lambda: [table.grad for table in tables],
            "grad": lambda: torch.autograd.grad(loss(*tables), tables),
            "func": lambda: torch.func.grad(loss, (0, 1))(vectors, near_vectors),
            "jacobian": lambda: torch.autograd.functional.jacobian(loss, tuple(tables)),
            "forward": lambda: torch.func.jacfwd(loss, (0, 1))(vectors, near_vectors),
        }[way]()
        return tuple(
            old - rate * each for old, each in zip((vectors, near_vectors), found, strict=True)
        )

    verdict = judged("hw6.skip_gram_step", answer)
    assert (verdict.right, verdict.mistake) == (False, "by_autograd"), verdict
    assert verdict.differs == "It calls autograd, which this question rules out."


@pytest.mark.parametrize("sign", [1, -1])
def test_a_sigmoid_that_overflows_is_seen_on_either_side(sign):
    """exp(x) / (1 + exp(x)) of ±the products: overflows where the model is sure and right, or sure
    and wrong.
    """

    def yes(x):
        return x.exp() / (1 + x.exp())

    def answer(vectors, near_vectors, word, near, noise, rate):
        rows, v = torch.cat([torch.tensor([near]), noise]), vectors[word]
        signs = torch.tensor([1.0] + len(noise) * [-1.0])
        x = sign * signs * (near_vectors[rows] @ v)
        by = rate * signs * (1 - yes(x) if sign == 1 else yes(x))
        after = vectors.clone()
        after[word] += by @ near_vectors[rows]
        return after, near_vectors.index_add(0, rows, torch.outer(by, v))

    assert judged("hw6.skip_gram_step", answer).kind in ("nan", "misconception")


def test_what_is_drawn_may_be_drawn_twice_and_be_the_neighbour_or_the_word():
    for seed in SEEDS:
        met = set()
        for case in key("hw6.skip_gram_step", seed).cases:
            vectors, _, word, near, noise, _ = case.args
            drawn = noise.tolist()
            met |= {("twice", len(set(drawn)) < len(drawn)), ("near", near in drawn)}
            met |= {("word", word in drawn), ("last", word == len(vectors) - 1)}
            met |= {("first", 0 in drawn), ("single", len(drawn) == 1)}
        for what in ("twice", "near", "word", "last", "first", "single"):
            assert {(what, True), (what, False)} <= met, f"seed {seed}: {what}"


def test_the_mix_is_the_librarys():
    theirs, ours = probing.ScalarMix(4), RIGHT["LayerMix"](4)
    torch.nn.init.normal_(theirs.w)
    torch.nn.init.constant_(theirs.gamma, 1.7)
    ours.load_state_dict(theirs.state_dict())
    states = torch.randn(4, 2, 3, 5)
    assert_close(ours(states), theirs(states))


def test_unlabelled_is_what_the_library_and_torch_leave_out():
    assert task_heads.UNLABELLED == -100 == torch.nn.CrossEntropyLoss().ignore_index


# ------------------------------------------------------------------------------ the worked examples


def section(question):
    """The words of a question."""
    return text("hw6").split(f"## Question {question}:")[1].split("## Question")[0]


def table(question):
    """The cells of a question's table, row by row, without marks."""
    lines = [
        line
        for line in section(question).splitlines()
        if line.startswith("|") and not line.startswith("|---")
    ]
    return [[cell.strip(" *`") for cell in line.strip("|").split("|")] for line in lines]


def test_the_worked_example_of_fit_pair():
    losers, first, second, together = table(1)
    assert losers[1:] == ["–", "first", "first", "second", "first", "second"]
    for step in range(6):
        a, b = int(first[1 + step]), int(second[1 + step])
        tokens, segments = RIGHT["fit_pair"](["a"] * 8, ["b"] * 6, a + b + 3)
        assert (tokens.count("a"), tokens.count("b"), int(together[1 + step])) == (a, b, a + b)
        assert segments == [0] * (a + 2) + [1] * (b + 1)
    assert a + b + 3 == 12


def test_the_worked_example_of_piece_labels():
    rows = [row[1:] for row in table(2)[1:]]
    words = [cell.split() for cell in rows[0] if cell]
    labels = [int(cell) for cell in rows[1] if cell]
    for max_len, (tokens, targets) in zip((9, 4), (rows[2:4], rows[4:6]), strict=True):
        expected = [c for c in tokens if c], [int(c.replace("−", "-")) for c in targets if c]
        assert RIGHT["piece_labels"](words, labels, max_len) == expected


def test_the_worked_example_of_the_head():
    assert sum(p.numel() for p in RIGHT["ChoiceHead"](4, 0.1).parameters()) == 25


def test_the_worked_example_of_the_answer():
    _, _, start, end = table(4)
    start, end = (torch.tensor([float(cell) for cell in row[1:]]) for row in (start, end))
    assert RIGHT["best_answer"](start, end, 3, 6, 2, 3.0) == (6, 6)
    assert RIGHT["best_answer"](start, end, 3, 6, 2, 3.5) == (0, 0)
    sums = {
        pair: (start[pair[0]] + end[pair[1]]).item() for pair in [(6, 6), (3, 3), (5, 6), (0, 0)]
    }
    assert list(sums.values()) == [5.0, 4.5, 4.0, 1.5]
    assert start[3:7].argmax() == 3 and end[3:7].argmax() == 0


def test_the_worked_example_of_the_names():
    rows = table(5)[1:]
    halves = [[row[:3] for row in rows], [row[4:] for row in rows if row[4]]]
    right, predicted = ([[row[column] for row in half] for half in halves] for column in (1, 2))
    assert f"{RIGHT['entity_f1'](predicted, right):.2f}" == "0.29" == f"{2 / 7:.2f}"
    pairs = [
        (p, r) for ps, rs in zip(predicted, right, strict=True) for p, r in zip(ps, rs, strict=True)
    ]
    assert len(pairs) == 8 and sum(p == r for p, r in pairs) == 4
    assert len(metrics.entities(right[0])) + len(metrics.entities(right[1])) == 4
    assert len(names(predicted[0])) + len(names(predicted[1])) == 3
    assert [label for label in predicted[1] if label == "I-place"]  # and it is in none


def test_the_worked_example_of_the_step():
    text = " ".join(section(6).replace("−", "-").split())
    pairs = [
        torch.tensor([*map(float, p)]) for p in re.findall(r"\((-?[\d.]+), (-?[\d.]+)\)", text)
    ]
    v, near, noise, *after = pairs
    rate = float(re.search(r"the rate ([\d.]+)\. ", text)[1])
    new, new_near = RIGHT["skip_gram_step"](
        v[None], torch.stack([near, noise]), 0, 0, torch.tensor([1]), rate
    )
    assert v @ near == v @ noise == 0
    assert_close([new[0], *new_near], after)
    products = " and ".join(f"{x:.3f}" for x in (new_near @ new[0]).tolist())
    assert products == "0.656 and -1.125" and f"Now the products are {products}:" in text


def test_the_worked_example_of_the_mix():
    mix = RIGHT["LayerMix"](2)
    mix.w.data, mix.gamma.data = torch.tensor([0.0, 3.0]).clamp(min=1).log(), torch.tensor(2.0)
    states = torch.tensor([[4.0, 0], [0, 4]])[:, None, None]
    assert_close(mix(states)[0, 0], torch.tensor([2.0, 6]))


def test_the_losses_of_training_are_as_told():
    """About 1.6 before the first step; below 0.2 in the end."""
    begins, ends = map(
        float,
        re.search(
            r"begins near ([\d.]+) and should end below (\d\.\d)", " ".join(section(8).split())
        ).groups(),
    )
    for seed in SEEDS:
        states, labels, _, n_classes = key("hw6.train_tagger", seed).cases[0].args
        rows = states.transpose(0, 1).flatten(1)
        tagger = torch.nn.Linear(rows.shape[1], n_classes)
        optimizer = torch.optim.Adam(tagger.parameters(), lr=0.01)
        losses = []
        for _ in range(200):
            loss = F.cross_entropy(tagger(rows), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        assert abs(losses[0] - begins) < 0.4 and losses[-1] < ends


def test_the_end_of_cls_alone_is_named():
    def against_the_end(start, end, first, last, longest, threshold):
        pairs = [
            (float(start[i] + end[j]), i, j)
            for i in range(first, last + 1)
            for j in range(i, min(i + longest, last + 1))
        ]
        score, i, j = max(pairs, key=lambda each: (each[0], -each[1], -each[2]))
        return (i, j) if score > float(end[0]) + threshold else (0, 0)

    verdict = judged("hw6.best_answer", against_the_end)
    assert verdict.mistake == "only_the_end_of_cls"
