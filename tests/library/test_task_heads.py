"""Each head equals Hugging Face's on random weights, loss and gradient too; models go there and
back; only legal spans are chosen.
"""

import json

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert, BertConfig, BertForPreTraining
from lectures_lib.tasks import low_rank
from lectures_lib.tasks.task_heads import (
    UNLABELLED,
    Head,
    MultipleChoice,
    SentenceClassifier,
    SentenceRegressor,
    SpanExtractor,
    SpanScores,
    TokenTagger,
    best_spans,
)

SIZES = {
    "vocab_size": 50,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 32,
}
CONFIG = BertConfig(50, 16, 2, 4, 32, max_len=12)
GENERATOR = torch.Generator().manual_seed(0)
TOKENS = torch.randint(0, 50, (3, 9), generator=GENERATOR)
SEGMENTS = torch.tensor([[0] * 5 + [1] * 4, [0] * 9, [0] * 2 + [1] * 7])
LENGTHS = torch.tensor([9, 7, 5])
TAGS = torch.randint(0, 5, (3, 9), generator=GENERATOR).masked_fill(
    torch.arange(9) >= LENGTHS[:, None], UNLABELLED
)
TAGS[:, ::3] = UNLABELLED

# Ours, Hugging Face's AutoModelFor…, how many labels, the targets, and how Hugging Face calls them.
KINDS = {
    "classifier": (
        SentenceClassifier,
        "SequenceClassification",
        3,
        torch.tensor([0, 2, 1]),
        ("labels",),
    ),
    "regressor": (
        SentenceRegressor,
        "SequenceClassification",
        1,
        torch.tensor([0.5, 4.0, 2.5]),
        ("labels",),
    ),
    "choice": (MultipleChoice, "MultipleChoice", 2, torch.tensor([1, 0]), ("labels",)),
    "tagger": (TokenTagger, "TokenClassification", 5, TAGS, ("labels",)),
    "spans": (
        SpanExtractor,
        "QuestionAnswering",
        2,
        torch.tensor([[1, 3], [0, 0], [2, 2]]),
        ("start_positions", "end_positions"),
    ),
}


def our_model(kind):
    ours, _, n_labels, *_ = KINDS[kind]
    return ours(Bert(CONFIG), n_labels) if kind in ("classifier", "tagger") else ours(Bert(CONFIG))


def their_model(kind):
    """Hugging Face's, with random weights, none of them at its usual start."""
    import transformers

    labels = {"num_labels": KINDS[kind][2]} | (
        {"problem_type": "regression"} if kind == "regressor" else {}
    )
    config = transformers.BertConfig(**SIZES, max_position_embeddings=12, **labels)
    model = getattr(transformers, f"AutoModelFor{KINDS[kind][1]}").from_config(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return model


def inputs(kind):
    """A batch; for the choices, of two beginnings with two endings each."""
    if kind == "choice":
        return tuple(torch.stack([x[[0, 1]], x[[2, 0]]]) for x in (TOKENS, SEGMENTS, LENGTHS))
    return TOKENS, SEGMENTS, LENGTHS


def ask_them(theirs, kind, with_targets=False):
    tokens, segments, lengths = inputs(kind)
    mask = (torch.arange(tokens.shape[-1]) < lengths[..., None]).long()
    targets, names = KINDS[kind][3:]
    columns = (
        dict(zip(names, targets.T if len(names) == 2 else [targets], strict=True))
        if with_targets
        else {}
    )
    return theirs(input_ids=tokens, token_type_ids=segments, attention_mask=mask, **columns)


def compare(ours, theirs, kind, tolerance=2e-6):
    scores, expected = ours(*inputs(kind)), ask_them(theirs, kind)
    real = torch.arange(9) < LENGTHS[:, None]
    if kind == "spans":
        pairs = [
            (scores.start[real], expected.start_logits[real]),
            (scores.end[real], expected.end_logits[real]),
        ]
    elif kind == "tagger":
        pairs = [(scores[real], expected.logits[real])]
    else:
        pairs = [(scores, expected.logits.squeeze(-1) if kind == "regressor" else expected.logits)]
    for a, b in pairs:
        assert_close(a, b, atol=tolerance, rtol=0)


@pytest.fixture(params=KINDS)
def twins(request, tmp_path):
    theirs = their_model(request.param)
    theirs.save_pretrained(tmp_path)
    return request.param, KINDS[request.param][0].from_pretrained(tmp_path), theirs


def test_scores_equal_hugging_faces(twins):
    kind, ours, theirs = twins
    compare(ours, theirs, kind)
    assert not ours.training


def test_loss_and_gradients_equal_hugging_faces(twins):
    kind, ours, theirs = twins
    targets = KINDS[kind][3]
    loss, expected = (
        ours.loss(ours(*inputs(kind)), targets),
        ask_them(theirs, kind, with_targets=True).loss,
    )
    assert_close(loss, expected, atol=2e-6, rtol=0)
    loss.backward()
    expected.backward()
    head = theirs.qa_outputs if kind == "spans" else theirs.classifier
    pairs = {
        "head": (ours.head.weight, head.weight),
        "head's bias": (ours.head.bias, head.bias),
        "a value": (
            ours.bert.encoder.blocks[0].self_attention.W_V.weight,
            theirs.bert.encoder.layer[0].attention.self.value.weight,
        ),
        "token vectors": (
            ours.bert.embeddings.tokens.weight,
            theirs.bert.embeddings.word_embeddings.weight,
        ),
    }
    if ours.pools:
        pairs["pooler"] = (ours.bert.pooler.weight, theirs.bert.pooler.dense.weight)
    for name, (a, b) in pairs.items():
        assert_close(a.grad, b.grad, atol=2e-6, rtol=1e-4, msg=lambda m, name=name: f"{name}: {m}")
    unreached = {name for name, parameter in ours.named_parameters() if parameter.grad is None}
    assert unreached == (set() if ours.pools else {"bert.pooler.weight", "bert.pooler.bias"})


@pytest.mark.parametrize("kind", KINDS)
def test_a_checkpoint_of_ours_loads_in_transformers_and_back_bit_for_bit(tmp_path, kind):
    import transformers

    ours = our_model(kind).eval()
    ours.save_pretrained(tmp_path / "ours")
    theirs = (
        getattr(transformers, f"AutoModelFor{KINDS[kind][1]}")
        .from_pretrained(tmp_path / "ours")
        .eval()
    )
    compare(ours, theirs, kind)
    theirs.save_pretrained(tmp_path / "theirs")
    back = type(ours).from_pretrained(tmp_path / "theirs")
    assert back.bert.config == CONFIG and back.dropout.p == ours.dropout.p
    for key, tensor in ours.state_dict().items():
        if ours.pools or "pooler" not in key:
            assert torch.equal(tensor, back.state_dict()[key]), key
        else:
            assert not back.state_dict()[key].any(), key


@pytest.mark.parametrize("kind", KINDS)
def test_a_heads_dropout_and_its_kind_of_problem_are_written(tmp_path, kind):
    ours, _, n_labels, *_ = KINDS[kind]
    model = (
        ours(Bert(CONFIG), n_labels, dropout=0.25)
        if kind in ("classifier", "tagger")
        else ours(Bert(CONFIG), dropout=0.25)
    )
    facts = json.loads((model.save_pretrained(tmp_path) / "config.json").read_text())
    assert (facts["classifier_dropout"], facts["hidden_dropout_prob"]) == (0.25, 0.1)
    assert facts.get("problem_type") == ("regression" if kind == "regressor" else None)
    back = ours.from_pretrained(tmp_path)
    # Hugging Face's has none there, whatever the file says
    assert back.dropout.p == (0.25 if kind != "spans" else 0.0)
    assert back.bert.config.dropout == 0.1


def test_a_hub_is_asked_for_a_checkpoint_once(tmp_path, monkeypatch):
    folder, asked = TokenTagger(Bert(CONFIG), 3).save_pretrained(tmp_path), []

    def snapshot(name, allow_patterns):
        asked.append(name)
        return str(folder)

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot)
    TokenTagger.from_pretrained("owner/tagger")
    assert asked == ["owner/tagger"]


def test_the_names_of_classes_travel(tmp_path):
    import transformers

    names = ("O", "B-person", "I-person")
    TokenTagger(Bert(CONFIG), 3, names).save_pretrained(tmp_path)
    assert TokenTagger.from_pretrained(tmp_path).names == names
    assert transformers.AutoConfig.from_pretrained(tmp_path).id2label == dict(enumerate(names))


@pytest.mark.parametrize("kind", KINDS)
def test_a_fresh_head_on_real_weights(kind):
    body = Bert.from_pretrained(minilm.checkpoint(), dropout=0.0)
    ours, _, n_labels, *_ = KINDS[kind]
    model = ours(body, n_labels) if kind in ("classifier", "tagger") else ours(body)
    assert model.bert is body and model.dropout.p == 0.0 and body.config.dropout == 0.0
    n_new = sum(p.numel() for p in model.head.parameters())
    assert (
        n_new == 385 * {"classifier": 3, "regressor": 1, "choice": 1, "tagger": 5, "spans": 2}[kind]
    )
    assert not model.head.bias.any() and 0.01 < model.head.weight.std() < 0.03
    with torch.no_grad():
        scores = model(*inputs(kind))
    assert all(s.isfinite().all() for s in (scores if kind == "spans" else [scores]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("switched_on", [True, False])
def test_a_head_switches_nothing_of_the_body_on_or_off(kind, switched_on):
    body = Bert(CONFIG).requires_grad_(switched_on)
    body.embeddings.tokens.requires_grad_(not switched_on)
    before = {name: parameter.requires_grad for name, parameter in body.named_parameters()}
    ours, _, n_labels, *_ = KINDS[kind]
    model = ours(body, n_labels) if kind in ("classifier", "tagger") else ours(body)
    assert {name: parameter.requires_grad for name, parameter in body.named_parameters()} == before
    assert all(parameter.requires_grad for parameter in model.head.parameters())


def test_heads_that_share_a_body_leave_one_another_alone():
    body = Bert(CONFIG)
    first = SentenceClassifier(body, 2)
    SpanExtractor(body)
    TokenTagger(body, 3)
    first.loss(first(TOKENS), torch.tensor([0, 1, 0])).backward()
    assert body.pooler.weight.grad.any()


@pytest.mark.parametrize("kind", KINDS)
def test_training_in_several_processes_waits_for_no_gradient_that_never_comes(kind, one_process):
    model = our_model(kind)
    trained = torch.nn.parallel.DistributedDataParallel(model)
    # the second step is the one that is refused where the first left a gradient out
    for _ in range(2):
        model.loss(trained(*inputs(kind)), KINDS[kind][3]).backward()
    assert model.head.weight.grad.any()


@pytest.mark.parametrize("kind", KINDS)
def test_nor_do_thin_matrices_beside_a_body(kind, one_process):
    model = our_model(kind)
    low_rank.adapt(model, r=2)
    trained = torch.nn.parallel.DistributedDataParallel(model)
    for _ in range(2):
        model.loss(trained(*inputs(kind)), KINDS[kind][3]).backward()
    assert model.head.weight.grad.any()


def test_dropout_is_for_training_only():
    model = SentenceClassifier(Bert(CONFIG), 2, dropout=0.5)
    assert not torch.equal(model(TOKENS), model(TOKENS))
    model.eval()
    assert torch.equal(model(TOKENS), model(TOKENS))


@pytest.mark.parametrize("kind", KINDS)
def test_padding_does_not_matter(kind):
    model = our_model(kind).eval()
    tokens, segments, lengths = inputs(kind)
    other = tokens.masked_fill(torch.arange(9) >= lengths[..., None], 7)
    scores, expected = model(other, segments, lengths), model(tokens, segments, lengths)
    real = torch.arange(9) < LENGTHS[:, None]
    for a, b in zip(scores, expected, strict=True) if kind == "spans" else [(scores, expected)]:
        assert_close(*((a[real], b[real]) if kind in ("spans", "tagger") else (a, b)))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 6), st.sampled_from([None, -1.0, 0.0, 3.0]))
def test_spans_are_legal_and_the_best(seed, max_length, threshold):
    rng = torch.Generator().manual_seed(seed)
    n = 12
    start, end = torch.randn(2, 4, n, generator=rng) * 3
    allowed = torch.rand(4, n, generator=rng) < 0.7
    allowed[:, 0], allowed[:, 5] = False, True
    found = best_spans(SpanScores(start, end), allowed, max_length, threshold)
    for row in range(4):
        legal = [
            (i, j)
            for i in range(n)
            for j in range(i, min(n, i + max_length))
            if allowed[row, i : j + 1].all()
        ]
        best = max(legal, key=lambda span: float(start[row, span[0]] + end[row, span[1]]))
        score, nothing = start[row, best[0]] + end[row, best[1]], start[row, 0] + end[row, 0]
        answered = threshold is None or score > nothing + threshold
        assert (int(found.start[row]), int(found.end[row])) == (best if answered else (0, 0))
        assert_close(found.score[row], score if answered else nothing)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: SentenceClassifier.loss(torch.zeros(2, 3), torch.tensor([0, 3])),
            r"label 3 \(at \[1\]\) is not among the 3 there are, 0 … 2",
        ),
        (
            lambda: SentenceClassifier.loss(torch.zeros(1, 3), torch.tensor([UNLABELLED])),
            "label -100",
        ),
        (
            lambda: MultipleChoice.loss(torch.zeros(1, 4), torch.tensor([4])),
            "label 4 .* 4 there are",
        ),
        (
            lambda: TokenTagger.loss(torch.zeros(1, 2, 3), torch.tensor([[0, 5]])),
            r"label 5 \(at \[0, 1\]\) .* and -100 for none",
        ),
        (
            lambda: TokenTagger.loss(torch.zeros(1, 2, 3), torch.full((1, 2), UNLABELLED)),
            "none of the 2 tokens has a label",
        ),
        (
            lambda: SentenceRegressor.loss(torch.zeros(1), torch.tensor([torch.nan])),
            "finite number, got .nan",
        ),
        (
            lambda: SpanExtractor.loss(
                SpanScores(torch.zeros(1, 5), torch.zeros(1, 5)), torch.tensor([[2, 5]])
            ),
            "label 5",
        ),
        (
            lambda: SpanExtractor.loss(
                SpanScores(torch.zeros(1, 5), torch.zeros(1, 5)), torch.tensor([[3, 2]])
            ),
            r"\[3, 2\]",
        ),
        (
            lambda: MultipleChoice(Bert(CONFIG))(TOKENS),
            r"at least 2 endings, got shape \(3, 9\): no axis of endings",
        ),
        (
            lambda: MultipleChoice(Bert(CONFIG))(TOKENS[:, None]),
            r"at least 2 endings, got shape \(3, 1, 9\): 1 ending",
        ),
        (lambda: SentenceClassifier(Bert(CONFIG), 0), "got n_classes = 0"),
        (
            lambda: SentenceClassifier(Bert(CONFIG), 1),
            "at least 2 classes apart, got n_classes = 1",
        ),
        (lambda: TokenTagger(Bert(CONFIG), 1), "at least 2 classes apart, got n_classes = 1"),
        (lambda: Head(Bert(CONFIG), 0), "got 0 numbers"),
        (lambda: TokenTagger(Bert(CONFIG), 3, ["O"]), r"got 3 numbers, names \['O'\]"),
        (
            lambda: best_spans(SpanScores(*torch.zeros(2, 1, 4)), torch.tensor([[False] * 4])),
            "row 0: no position is allowed",
        ),
        (
            lambda: best_spans(SpanScores(*torch.zeros(2, 1, 4)), torch.tensor([[True] * 4])),
            r"row 0: position 0 is \[CLS\]",
        ),
        (
            lambda: best_spans(SpanScores(*torch.zeros(2, 1, 4)), torch.ones(1, 4).bool(), 0),
            "max_length = 0",
        ),
        (
            lambda: best_spans(SpanScores(*torch.zeros(2, 1, 4)), torch.ones(1, 5).bool()),
            r"\(1, 5\)",
        ),
    ],
)
def test_bad_input_is_refused_with_its_numbers(call, message, shapes_unchecked):
    with pytest.raises(ValueError, match=message):
        call()


def test_another_models_checkpoint_is_refused(tmp_path):
    BertForPreTraining(CONFIG).save_pretrained(tmp_path / "pretraining")
    SentenceClassifier(Bert(CONFIG), 3).save_pretrained(tmp_path / "three")
    with pytest.raises(
        ValueError, match="holds a BertForPreTraining, not the head of a SentenceClassifier"
    ):
        SentenceClassifier.from_pretrained(tmp_path / "pretraining")
    with pytest.raises(
        ValueError, match="holds a BertForSequenceClassification, not the head of a TokenTagger"
    ):
        TokenTagger.from_pretrained(tmp_path / "three")
    with pytest.raises(ValueError, match="gives 3 numbers, a regressor's gives 1"):
        SentenceRegressor.from_pretrained(tmp_path / "three")
    with pytest.raises(ValueError, match="not the head"):
        SentenceClassifier.from_pretrained(minilm.checkpoint())
    with pytest.raises(FileNotFoundError):
        SpanExtractor.from_pretrained(tmp_path / "nowhere")


def test_the_loss_is_over_labelled_tokens_alone():
    scores = torch.randn(2, 4, 3)
    targets = torch.tensor(
        [[UNLABELLED, 1, UNLABELLED, 2], [UNLABELLED, 0, UNLABELLED, UNLABELLED]]
    )
    labelled = targets != UNLABELLED
    assert_close(
        TokenTagger.loss(scores, targets), F.cross_entropy(scores[labelled], targets[labelled])
    )
