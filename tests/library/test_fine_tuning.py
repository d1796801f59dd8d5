"""Labelled examples become batches, a head learns from them, predictions come out in order; what
cannot be learned from is refused.
"""

import ast
import math
import re
import warnings
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

from lectures_lib.models.bert import Bert, BertConfig
from lectures_lib.models.minilm import checkpoint
from lectures_lib.tasks import fine_tuning
from lectures_lib.tasks.alignment import context_places, quote
from lectures_lib.tasks.fine_tuning import batches, collate, fine_tune, predict, scores
from lectures_lib.tasks.task_heads import (
    UNLABELLED,
    MultipleChoice,
    SentenceClassifier,
    SentenceRegressor,
    SpanExtractor,
    SpanScores,
    TokenTagger,
)
from lectures_lib.tokenization import WordPiece

WORDPIECE = WordPiece.load(checkpoint() / "vocab.txt")
COLOURS, THINGS = ["red", "green", "blue", "black"], ["house", "dog", "car", "tree", "book"]
PHRASES = [
    f"a {colour} {thing}" + " here" * (i % 3)
    for i, (colour, thing) in enumerate((c, t) for c in COLOURS for t in THINGS)
]
NAMES = ["O", "B-colour", "B-thing"]
ROWS = {
    "sentences": [{"text": p, "label": int("red" in p or "blue" in p)} for p in PHRASES],
    "pairs": [
        {"first": p, "second": q, "label": int(p.split()[1] == q.split()[1])}
        for p, q in pairwise(PHRASES)
    ],
    "scored": [
        {"first": p, "second": "a red dog", "score": float("red" in p) + float("dog" in p)}
        for p in PHRASES
    ],
    "choices": [
        {
            "start": "it is",
            "endings": [*["the green", "an old"][: i % 3], p, *["the green", "an old"][i % 3 :]],
            "label": i % 3,
        }
        for i, p in enumerate(PHRASES)
    ],
    "tagged": [
        {"words": p.split(), "labels": ["O", "B-colour", "B-thing", *["O"] * (len(p.split()) - 3)]}
        for p in PHRASES
    ],
    "questions": [
        {
            "question": "which colour?",
            "context": p,
            "answers": [{"text": p.split()[1], "start": 2}] if "black" not in p else [],
        }
        for p in PHRASES
    ],
}
EXAMPLES = {
    "sentences": fine_tuning.sentences(ROWS["sentences"], WORDPIECE),
    "pairs": fine_tuning.pairs(ROWS["pairs"], WORDPIECE),
    "scored": fine_tuning.pairs(ROWS["scored"], WORDPIECE),
    "choices": fine_tuning.choices(ROWS["choices"], WORDPIECE),
    "tagged": fine_tuning.tagged(ROWS["tagged"], WORDPIECE, NAMES),
    "questions": fine_tuning.questions(ROWS["questions"], WORDPIECE),
}


def body(**changes):
    torch.manual_seed(0)
    return Bert(BertConfig(30_522, 32, 1, 2, 64, max_len=64, dropout=0.0, init_std=0.1, **changes))


HEADS = {
    "sentences": lambda: SentenceClassifier(body(), 2),
    "pairs": lambda: SentenceClassifier(body(), 2),
    "scored": lambda: SentenceRegressor(body()),
    "choices": lambda: MultipleChoice(body()),
    "tagged": lambda: TokenTagger(body(), 3, NAMES),
    "questions": lambda: SpanExtractor(body()),
}


@pytest.mark.parametrize("kind", EXAMPLES)
def test_each_kind_can_be_learned_and_predicted(kind):
    model, examples = HEADS[kind](), EXAMPLES[kind]
    history = fine_tune(
        model, batches(examples, batch_size=8), epochs=20, rate=5e-3, progress=False
    )
    assert history.step == 20 * 3 and not model.training
    assert history.losses[-1] < 0.4 * history.losses[0]
    assert history.learning_rates[0] == 0 and max(history.learning_rates) == pytest.approx(5e-3)
    assert history.learning_rates[-1] < 2e-4
    found = predict(model, examples, **({"threshold": 0.0} if kind == "questions" else {}))
    if kind == "tagged":
        right = sum(
            [NAMES[i] for i in labels] == row["labels"]
            for labels, row in zip(found, ROWS[kind], strict=True)
        )
    elif kind == "questions":
        said = [
            quote(e.reads[0], r["context"], *span)
            for e, r, span in zip(examples, ROWS[kind], found, strict=True)
        ]
        right = sum(
            s == (r["answers"][0]["text"] if r["answers"] else "")
            for s, r in zip(said, ROWS[kind], strict=True)
        )
    elif kind == "scored":
        right = sum(abs(s - r["score"]) < 0.5 for s, r in zip(found, ROWS[kind], strict=True))
    else:
        right = sum(s == e.target for s, e in zip(found, examples, strict=True))
    assert right > 0.8 * len(examples)


@pytest.mark.parametrize("kind", EXAMPLES)
def test_predictions_do_not_depend_on_the_batch_and_keep_their_order(kind):
    model = HEADS[kind]()
    model.train()
    many, one = scores(model, EXAMPLES[kind], 7), scores(model, EXAMPLES[kind], 1)
    for a, b in zip(many, one, strict=True):
        assert_close(a, b, atol=2e-6, rtol=0)
    assert model.training
    backwards = scores(model, EXAMPLES[kind][::-1], 7)[::-1]
    for a, b in zip(backwards, one, strict=True):
        assert_close(a, b, atol=2e-6, rtol=0)


@pytest.mark.parametrize("ask", [scores, predict])
def test_batches_of_fewer_than_one_example_are_refused(ask):
    for size in (0, -1):
        with pytest.raises(ValueError, match="batch_size must be at least 1"):
            ask(HEADS["sentences"](), EXAMPLES["sentences"], size)


def test_a_batch_by_hand():
    batch = collate(EXAMPLES["tagged"][:3])
    assert batch.tokens.shape == batch.segments.shape == batch.targets.shape == (3, 7)
    assert batch.lengths.tolist() == [5, 6, 7] and not batch.tokens[0, 5:].any()
    assert batch.targets[0].tolist() == [UNLABELLED, 0, 1, 2, UNLABELLED, UNLABELLED, UNLABELLED]
    assert batch.n_targets == 3 + 4 + 5
    assert collate(EXAMPLES["scored"][:2]).targets.dtype == torch.float32
    assert collate(EXAMPLES["choices"][:2]).tokens.shape[:2] == (2, 3)
    assert collate(EXAMPLES["choices"][:2]).lengths.shape == (2, 3)
    assert collate(EXAMPLES["questions"][14:16]).targets.tolist() == [[6, 6], [0, 0]]
    assert collate(EXAMPLES["pairs"][:1]).segments[0].tolist() == [0] * 5 + [1] * 5


def test_batches_are_by_length_and_hold_everything_once():
    cut = batches(EXAMPLES["choices"] * 3, max_tokens=120)
    seen = list(cut.epoch(0))
    assert sum(len(batch.targets) for batch in seen) == 60
    assert all(batch.tokens.numel() <= 120 for batch in seen)
    by_chance = list(batches(EXAMPLES["sentences"] * 3, batch_size=6, by_length=False).epoch(0))
    sorted_ = list(batches(EXAMPLES["sentences"] * 3, batch_size=6).epoch(0))
    assert sum(b.tokens.numel() for b in sorted_) < sum(b.tokens.numel() for b in by_chance)


@pytest.mark.parametrize(("accumulate", "steps"), [(1, 6), (2, 3), (4, 2)])
def test_the_data_is_read_as_often_as_the_epochs_say(accumulate, steps):
    """Of 2 epochs of 3 batches, 4 at a time make two steps, with the next epoch's first ones."""
    read = []
    data = batches(EXAMPLES["sentences"], batch_size=8)
    makers = data.makers
    data.makers = lambda epoch: (
        lambda make=make: read.append(epoch) or make() for make in makers(epoch)
    )
    options = {"accumulate": accumulate, "epochs": 2, "progress": False}
    history = fine_tune(HEADS["sentences"](), data, **options)
    assert history.step == steps and len(read) == steps * accumulate
    assert history.learning_rates[-1] < max(history.learning_rates) or steps < 3


def test_several_processes_share_the_epochs(monkeypatch):
    monkeypatch.setattr("lectures_lib.tasks.fine_tuning.training.n_processes", lambda: 2)
    data = batches(EXAMPLES["sentences"], batch_size=8)
    assert fine_tune(HEADS["sentences"](), data, epochs=2, progress=False).step == 3


def test_a_frozen_body_stays_as_it_is():
    model = HEADS["sentences"]()
    model.bert.requires_grad_(False)
    before = {key: tensor.clone() for key, tensor in model.state_dict().items()}
    fine_tune(
        model, batches(EXAMPLES["sentences"], batch_size=8), epochs=2, rate=1e-2, progress=False
    )
    changed = {
        key for key, tensor in model.state_dict().items() if not torch.equal(tensor, before[key])
    }
    assert changed == {"head.weight", "head.bias"}


def test_a_frozen_body_has_no_dropout_and_gives_features():
    """Otherwise its vectors would be others at every step, and the head would not learn from those
    that it is asked about.
    """
    seen = []
    model = HEADS["sentences"]()
    for module in model.bert.modules():
        if hasattr(module, "p"):
            module.p = 0.5
    model.bert.register_forward_hook(
        lambda body, args, encoded: seen.append(encoded.pooled.detach().clone())
    )
    one_batch = batches(EXAMPLES["sentences"], batch_size=20, by_length=False)
    fine_tune(model, one_batch, epochs=3, rate=1e-2, progress=False)
    assert len({tuple(sorted(pooled[:, 0].tolist())) for pooled in seen}) == 3, (
        "a body that learns has dropout"
    )
    seen.clear()
    model.bert.requires_grad_(False)
    model.dropout.p = 0.5
    fine_tune(model, one_batch, epochs=3, rate=1e-2, progress=False)
    for pooled in seen:  # in any order of the rows
        assert_close(pooled.sort(dim=0).values, seen[0].sort(dim=0).values, atol=1e-6, rtol=0)
    model.train()
    assert model.training and model.dropout.training and not model.bert.training
    model.bert.embeddings.requires_grad_(True)
    assert model.train().bert.training and not model.eval().bert.training


def test_a_tagger_leaves_the_pooler_as_it_is_and_goes_on_where_it_was_stopped(tmp_path):
    """The pooler asks for a gradient and never gets one: it must not decay, and the optimizer keeps
    nothing of it.
    """

    def stop(model):
        raise KeyboardInterrupt

    whole, parted = HEADS["tagged"](), HEADS["tagged"]()
    pooler = whole.bert.pooler.weight.clone()
    examples, options = (
        batches(EXAMPLES["tagged"], batch_size=8),
        {"epochs": 2, "rate": 1e-2, "progress": False, "weight_decay": 0.5},
    )
    fine_tune(whole, examples, **options)
    assert whole.bert.pooler.weight.requires_grad and torch.equal(whole.bert.pooler.weight, pooler)
    options |= {"checkpoint": tmp_path / "run.safetensors", "save_every": 2}
    with pytest.raises(KeyboardInterrupt):
        fine_tune(parted, examples, evaluate=stop, evaluate_every=3, **options)
    again = HEADS["tagged"]()
    assert fine_tune(again, examples, resume=True, **options).step == 6
    for name, tensor in whole.state_dict().items():
        assert torch.equal(tensor, again.state_dict()[name]), name


def test_biases_and_layer_norm_do_not_decay():
    matrices, vectors = fine_tuning.decayed_and_not(HEADS["sentences"](), 0.01)
    assert matrices["weight_decay"] == 0.01 and vectors["weight_decay"] == 0.0
    assert all(p.ndim == 2 for p in matrices["params"]) and all(
        p.ndim == 1 for p in vectors["params"]
    )
    assert len(matrices["params"]) + len(vectors["params"]) == len(
        list(HEADS["sentences"]().parameters())
    )


@pytest.mark.filterwarnings("ignore:.*ends are cut off")
def test_a_text_of_unknown_words_and_a_long_one_are_read():
    examples = fine_tuning.sentences(
        [{"text": "☃ ☄☃", "label": 0}, {"text": "dog " * 1000, "label": 1}], WORDPIECE, max_len=64
    )
    assert [len(e.reads[0].ids) for e in examples] == [4, 64]
    assert all(said.isfinite().all() for said in scores(HEADS["sentences"](), examples))
    row = {"words": ["dog"] * 1000, "labels": ["B-thing"] * 1000}
    (long,) = fine_tuning.tagged([row], WORDPIECE, NAMES, max_len=64)
    found = predict(HEADS["tagged"](), [long])[0]
    assert len(found) == 1000 and found[62:] == [0] * 938
    unknown = {"question": "☃?", "context": "☄ ☃", "answers": [{"text": "☃", "start": 2}]}
    (asked,) = fine_tuning.questions([unknown], WORDPIECE)
    assert (
        asked.target == (5, 5) and quote(asked.reads[0], unknown["context"], *asked.target) == "☃"
    )


def dogs(*lengths):
    return [" ".join(["dog"] * n) for n in lengths]


LONG = [6, 7, 9, 3]  # "dog"s; with [CLS] and [SEP] 8, 9, 11 and 5 pieces
CUTS = {
    "sentences": (
        fine_tuning.sentences,
        [{"text": text, "label": 0} for text in dogs(*LONG)],
        "2 of 4 texts have .* 8 .* longest 11:",
    ),
    "none": (fine_tuning.sentences, [{"text": text, "label": 0} for text in dogs(6, 2)], None),
    "pairs": (
        fine_tuning.pairs,
        [{"first": "a", "second": text, "label": 0} for text in dogs(4, 5)],
        "1 of 2 texts has .* longest 9:",
    ),
    "choices": (
        fine_tuning.choices,
        [
            {"start": "a", "endings": dogs(3, 4, 5, 40), "label": 0},
            {"start": "a", "endings": dogs(1, 2), "label": 0},
        ],
        "2 of 6 texts have .* 8 .* longest 44:",
    ),
    "tagged": (
        lambda rows, tokenizer, n: fine_tuning.tagged(rows, tokenizer, NAMES, n),
        # The second one's last word loses its last piece alone: cut, though no word is lost.
        [
            {"words": words, "labels": ["O"] * len(words)}
            for words in (["dog"] * 6, [*["dog"] * 5, "unaffable"], ["dog"] * 20)
        ],
        "2 of 3 texts have .* 8 .* longest 22:",
    ),
}


@pytest.mark.parametrize("kind", CUTS)
def test_one_warning_says_how_much_was_cut_off(kind):
    make, rows, message = CUTS[kind]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        examples = make(rows, WORDPIECE, 8)
    assert max(len(read.ids) for example in examples for read in example.reads) == 8
    assert len(caught) == (message is not None)
    if message:
        assert re.search(message, str(caught[0].message)), str(caught[0].message)


@pytest.mark.parametrize("names", [["O", "B-x"], ["B-x", "O"]])
@pytest.mark.filterwarnings("ignore:.*ends are cut off")
def test_words_that_were_cut_off_are_outside(names):
    """Wherever "O" stands among the names; a model that says B-x of everything else shows it."""
    model = TokenTagger(body(), 2, names)
    with torch.no_grad():
        model.head.bias[names.index("B-x")] = 100.0
    examples = fine_tuning.tagged(
        [{"words": ["dog"] * n, "labels": ["O"] * n} for n in (3, 6)], WORDPIECE, names, max_len=6
    )
    assert [[names[i] for i in said] for said in predict(model, examples)] == [
        ["B-x"] * 3,
        ["B-x"] * 4 + ["O"] * 2,
    ]


@pytest.mark.parametrize(
    ("names", "message"), [(None, "have no names"), (["NOUN", "VERB"], "are named NOUN, VERB")]
)
@pytest.mark.filterwarnings("ignore:.*ends are cut off")
def test_where_no_class_is_outside_words_must_not_be_cut_off(names, message):
    model, labels = TokenTagger(body(), 2, names), names or ["0", "1"]
    rows = [{"words": ["dog"] * n, "labels": labels[:1] * n} for n in (3, 6)]
    assert len(predict(model, fine_tuning.tagged(rows, WORDPIECE, labels))[1]) == 6
    with pytest.raises(
        ValueError, match=f"example 1: 2 of its 6 words were cut off.* 2 classes {message}"
    ):
        predict(model, fine_tuning.tagged(rows, WORDPIECE, labels, max_len=6))


class Astray(SpanExtractor):
    """Would rather have the question, a [SEP] or the padding than the context, and there the end
    before the start.
    """

    def forward(self, tokens, segments=None, lengths=None):
        outside = (
            10.0 * (segments == 0)
            + 20.0 * (tokens == WORDPIECE.token_id("[SEP]"))
            - 30.0 * (torch.arange(tokens.shape[1]) == 0)
        )
        falling = torch.linspace(1, 0, tokens.shape[1])
        return SpanScores(outside - falling, outside + falling)


@pytest.mark.parametrize("max_len", [64, 9])
def test_predicted_spans_never_leave_the_context(max_len):
    texts = [
        "a dog",
        "a red dog and a car stand here, and a tree",
        "the house is green",
        "it was a book " * 5,
    ]
    examples = fine_tuning.questions(
        [{"question": "which colour?", "context": text, "answers": []} for text in texts],
        WORDPIECE,
        max_len,
    )
    lengths = {len(example.reads[0].ids) for example in examples}
    assert len(lengths) == (4 if max_len == 64 else 2), "some are padded, and some are cut off"
    for batch_size in (1, 4):
        for example, text, (first, last) in zip(
            examples, texts, predict(Astray(body()), examples, batch_size), strict=True
        ):
            places = context_places(example.reads[0])
            assert first in places and last in places and first <= last
            assert quote(example.reads[0], text, first, last)


@pytest.mark.filterwarnings("ignore:.*ends are cut off")
def test_longer_than_the_model_is_refused():
    examples = fine_tuning.sentences([{"text": "dog " * 600, "label": 1}], WORDPIECE)
    assert len(examples[0].reads[0].ids) == 512
    with pytest.raises(ValueError, match="512"):
        predict(HEADS["sentences"](), examples)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: fine_tuning.sentences(
                [{"text": "a", "label": 0}, {"text": " \x00\u200b", "label": 0}], WORDPIECE
            ),
            r"example 1: the first text has no words to read: .* \(3 characters\)",
        ),
        (
            lambda: fine_tuning.pairs([{"first": "a", "second": "", "label": 0}], WORDPIECE),
            r"example 0: the second text has no words to read: '' \(0 characters\)",
        ),
        (
            lambda: fine_tuning.choices(
                [ROWS["choices"][0], {"start": "it", "endings": ["is", "\n" * 500], "label": 0}],
                WORDPIECE,
            ),
            r"example 1: the second text has no words to read: '(\\n){40}' \(500 characters\)",
        ),
        (
            lambda: fine_tuning.questions(
                [*ROWS["questions"], {"question": "", "context": "a", "answers": []}], WORDPIECE
            ),
            r"example 20: the first text has no words to read: '' \(0 characters\)",
        ),
        (
            lambda: fine_tuning.tagged(
                [ROWS["tagged"][0], {"words": [], "labels": []}], WORDPIECE, NAMES
            ),
            "example 1: .* got 0 words",
        ),
        (
            lambda: fine_tuning.choices(
                [ROWS["choices"][0], {"start": "a", "endings": ["b"], "label": 0}], WORDPIECE
            ),
            "example 1: a choice needs at least 2 endings, got 1",
        ),
        (
            lambda: fine_tuning.choices([{"start": "a", "endings": [], "label": 0}], WORDPIECE),
            "at least 2 endings, got 0",
        ),
        (
            lambda: predict(HEADS["choices"](), EXAMPLES["sentences"]),
            r"at least 2 endings, got shape \(20, 7\): no axis of endings",
        ),
        (
            lambda: fine_tuning.tagged([{"words": ["a"], "labels": ["B-god"]}], WORDPIECE, NAMES),
            r"\['B-god'\] are not among the 3",
        ),
        (
            lambda: fine_tuning.tagged([{"words": ["a", "b"], "labels": ["O"]}], WORDPIECE, NAMES),
            "got 1 labels for 2 words",
        ),
        (
            lambda: fine_tuning.questions(
                [{"question": "who", "context": "a dog", "answers": [{"text": "cat", "start": 2}]}],
                WORDPIECE,
            ),
            "'cat' is not in the context at character 2: there stands 'dog'",
        ),
        (lambda: collate([]), "a batch needs examples"),
        (lambda: collate([EXAMPLES["choices"][0], EXAMPLES["sentences"][0]]), r"got \[1, 3\]"),
        (
            lambda: fine_tune(
                HEADS["sentences"](), batches(EXAMPLES["sentences"], batch_size=4), epochs=0
            ),
            "got 0",
        ),
        (
            lambda: fine_tune(
                SentenceClassifier(body(), 2),
                batches([e._replace(target=2) for e in EXAMPLES["sentences"]], batch_size=20),
                epochs=1,
                progress=False,
            ),
            "label 2 .* is not among the 2 there are",
        ),
        (
            lambda: fine_tuning.decayed_and_not(body().requires_grad_(False), 0.1),
            "nothing to train",
        ),
        (lambda: batches([], batch_size=3), "no examples"),
    ],
)
def test_bad_input_is_refused_with_its_numbers(call, message, shapes_unchecked):
    with pytest.raises(ValueError, match=message):
        call()


def in_chapter_14(*names: str) -> dict:
    """Functions that the chapter writes, with the names that they use."""
    chapter = Path(__file__).resolve().parents[2] / "notebooks/14_fine_tuning.py"
    tree = ast.parse(chapter.read_text(encoding="utf-8"))
    found = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name in names]
    assert len(found) == len(names)
    space = {
        "torch": torch,
        "nn": torch.nn,
        "F": torch.nn.functional,
        "math": math,
        "LambdaLR": torch.optim.lr_scheduler.LambdaLR,
        "pad_sequence": torch.nn.utils.rnn.pad_sequence,
        "wordpiece": WORDPIECE,
    }
    exec(compile(ast.Module(found, []), str(chapter), "exec"), space)
    return space


@pytest.mark.parametrize("epochs", [1, 20])  # of one step each
def test_the_loop_of_chapter_14_is_fine_tune(epochs):
    """All examples in each batch, for the two draw their orders differently: the same model must
    come out.
    """
    rows, examples, rate = ROWS["sentences"], EXAMPLES["sentences"], 5e-3
    library, model = HEADS["sentences"](), HEADS["sentences"]()
    whole = batches(examples, batch_size=len(rows))
    fine_tune(library, whole, epochs=epochs, rate=rate, progress=False)

    in_chapter_14("read", "class_loss", "fine_tune")["fine_tune"](
        model, rows, epochs, rate, size=len(rows)
    )

    assert not model.training
    # The scores and not the weights: the keys' bias has no gradient but rounding, and Adam lets
    # it wander.
    found = (scores(each, examples) for each in (model, library))
    assert_close(*(torch.stack(each) for each in found), atol=1e-3, rtol=0)
