"""Sentence vectors and objectives equal those of sentence-transformers; padding counts for nothing;
bad input is named.
"""

import json
import random
import re

import pytest
import torch
import torch.nn.functional as F
from torch.testing import assert_close

from lectures_lib import data
from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert, BertConfig
from lectures_lib.tasks import sentence_bert as ours
from lectures_lib.tasks.sentence_bert import SentenceBert, Siamese, SiameseBatches, search
from lectures_lib.tasks.sentence_bert.encoder import _pooling_name
from lectures_lib.tokenization import WordPiece
from lectures_lib.training import fit

STSB = "nyu-mll/glue/stsb"
LONG = " ".join(
    f"Sentence number {i} says something about attention, vectors and dinner." for i in range(60)
)
TEXTS = [
    "A man is dancing.",
    "The feather is very light, and so is the bag.",
    "!?",
    "a",
    "Zażółć gęślą jaźń, 漢字 and 😀",
    LONG,
    "  tabs\tand\nnew lines  ",
    "[MASK] is a special token, and so is [SEP].",
    LONG[:700],
    "antidisestablishmentarianism " * 20,
    "😀 😀",  # nothing but unknown tokens
]


@pytest.fixture(scope="module")
def encoder() -> SentenceBert:
    return SentenceBert.from_pretrained(minilm.checkpoint())


@pytest.fixture(scope="module")
def theirs():
    """sentence-transformers' own, read from the same folder."""
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()
    return SentenceTransformer(str(minilm.checkpoint()), device="cpu")


@pytest.fixture
def small() -> SentenceBert:
    """Four letters as words, random weights, no dropout."""
    from lectures_lib.tokenization import Vocabulary

    tokenizer = WordPiece(
        Vocabulary(
            ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b", "c", "d"],
            ["[PAD]", "[UNK]", "[CLS]", "[SEP]"],
        )
    )
    return SentenceBert(
        Bert(BertConfig(8, 16, 1, 2, 32, dropout=0.0, max_len=20, init_std=0.3)),
        tokenizer,
        max_len=12,
    )


def vectors(n: int = 6, d: int = 8, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    u = torch.randn(n, d, generator=generator)
    return u.requires_grad_(), (
        u.detach() + torch.randn(n, d, generator=generator)
    ).requires_grad_()


# -------------------------------------------------------------------------------------- the vectors


@pytest.mark.filterwarnings("ignore:.*ends are cut off")
def test_every_vector_equals_sentence_transformers(encoder, theirs):
    assert theirs.max_seq_length == encoder.max_len == 256
    assert_close(
        encoder.embed(TEXTS), theirs.encode(TEXTS, convert_to_tensor=True), atol=1e-6, rtol=0
    )


def test_what_is_longer_than_256_tokens_is_not_read(encoder):
    assert len(encoder.ids(LONG)) == 256
    with pytest.warns(
        UserWarning,
        match=(
            r"2 of 3 texts have more than 256 word pieces .* the longest 729: their ends are cut "
            r"off"
        ),
    ) as caught:
        vectors = encoder.embed(
            [LONG, "short", LONG + " And now for something completely different."]
        )
    assert torch.equal(vectors[0], vectors[2]) and len(caught) == 1


def test_pairs_that_are_cut_are_counted_once(small):
    fits = " ".join(["a"] * 10)  # and [CLS] and [SEP]: 12
    with pytest.warns(
        UserWarning, match=r"2 of 6 texts have more than 12 word pieces .* the longest 32:"
    ) as caught:
        SiameseBatches(small, [(fits, "a"), (fits + " a", fits), ("a", "a " * 30)])
    assert len(caught) == 1
    SiameseBatches(small, [(fits, "a")])
    small.embed([fits])


@pytest.mark.mirror(STSB)
@pytest.mark.parametrize(
    ("n", "known"),
    [
        pytest.param(100, None, id="100 pairs"),
        pytest.param(1500, "0.8672", marks=pytest.mark.long, id="all"),
    ],
)
def test_every_vector_of_stsb_and_the_correlation_equal_sentence_transformers(
    encoder, theirs, n, known
):
    """Pairs of the validation split: some with each change, all 1,500 (3,000 sentences) at
    night.
    """
    from scipy.stats import spearmanr

    table = data.read_split(STSB, "validation")[0][:n]
    both = []
    for model in (encoder.embed, lambda texts: theirs.encode(texts, convert_to_tensor=True)):
        first, second = (model(table[name]) for name in ("sentence1", "sentence2"))
        both.append(
            (
                torch.cat([first, second]),
                spearmanr(F.cosine_similarity(first, second), table["label"]).statistic,
            )
        )
    (vectors_, spearman), (expected, their_spearman) = both
    assert len(vectors_) == 2 * n
    assert_close(vectors_, expected, atol=1e-6, rtol=0)
    assert abs(
        spearman - their_spearman
    ) < 1e-4 and f"{spearman:.4f}" == f"{their_spearman:.4f}" == (known or f"{spearman:.4f}")


def test_order_is_kept_whatever_the_batches(encoder):
    texts = TEXTS[:5]
    one_by_one = torch.cat([encoder.embed([text]) for text in texts])
    for batch_size in (1, 2, 64):
        assert_close(encoder.embed(texts, batch_size=batch_size), one_by_one, atol=1e-6, rtol=0)


def test_embedding_leaves_the_model_as_it_was(small):
    small.bert.embeddings.dropout.p = 0.5
    small.train()
    assert torch.equal(small.embed(["a b", "c"]), small.embed(["a b", "c"])), (
        "dropout is off while it embeds"
    )
    assert small.training
    assert small.bert.training
    assert not small.embed(["a"]).requires_grad


def test_lengths_are_one_if_asked_for(encoder):
    assert_close(encoder.embed(TEXTS[:4]).norm(dim=-1), torch.ones(4))
    plain = SentenceBert(encoder.bert, encoder.tokenizer, normalise=False)
    assert_close(F.normalize(plain.embed(TEXTS[:4]), dim=-1), encoder.embed(TEXTS[:4]))
    assert (plain.embed(TEXTS[:4]).norm(dim=-1) - 1).abs().min() > 0.1


# ------------------------------------------------------------------------------------------ pooling


@pytest.mark.parametrize("name", ours.POOLING)
def test_pooling_equals_sentence_transformers_and_leaves_padding_out(name):
    from sentence_transformers.sentence_transformer.modules import Pooling

    # below 0: a maximum over padded zeros would show
    hidden, lengths = torch.randn(4, 7, 8) - 3, torch.tensor([7, 1, 4, 6])
    pooled = ours.POOLING[name](hidden, lengths)
    mask = (torch.arange(7) < lengths[:, None]).long()
    expected = Pooling(8, pooling_mode=name)({"token_embeddings": hidden, "attention_mask": mask})[
        "sentence_embedding"
    ]
    assert_close(pooled, expected)
    garbage = hidden.masked_fill(~mask.bool()[..., None], torch.nan)
    assert torch.equal(ours.POOLING[name](garbage, lengths), pooled)
    assert_close(ours.POOLING[name](hidden), ours.POOLING[name](hidden, torch.full((4,), 7)))


@pytest.mark.parametrize("name", ours.POOLING)
def test_pooling_takes_no_gradient_to_padding(name):
    hidden = torch.randn(2, 5, 3, requires_grad=True)
    ours.POOLING[name](hidden, torch.tensor([5, 2])).sum().backward()
    assert hidden.grad[1, 2:].abs().max() == 0
    assert hidden.grad[1, :2].abs().max() > 0


@pytest.mark.parametrize("name", ours.POOLING)
def test_a_sentence_of_no_tokens_has_no_vector(name, shapes_unchecked):
    with pytest.raises(ValueError, match=r"1 to 3 tokens.*\[3, 0\]"):
        ours.POOLING[name](torch.zeros(2, 3, 4), torch.tensor([3, 0]))
    with pytest.raises(ValueError, match=r"one length for each of the 2 sentences"):
        ours.POOLING[name](torch.zeros(2, 3, 4), torch.tensor([3, 3, 3]))


@pytest.mark.parametrize("name", ours.POOLING)
def test_vectors_without_a_batch_are_refused_under_their_name(name, shapes_unchecked):
    with pytest.raises(ValueError, match=r"hidden must be \(batch, n, d_model\), got .*\(3, 4\)"):
        ours.POOLING[name](torch.zeros(3, 4))


# --------------------------------------------------------------------------------------- objectives


def same_with_gradients(mine, their_loss, labels=None):
    (u, v), (a, b) = vectors(), vectors()
    loss, expected = mine(u, v), their_loss.compute_loss_from_embeddings([a, b], labels)
    assert_close(loss, expected)
    loss.backward()
    expected.backward()
    assert_close(u.grad, a.grad)
    assert_close(v.grad, b.grad)


def test_the_regression_objective_equals_sentence_transformers(theirs):
    from sentence_transformers.sentence_transformer.losses import CosineSimilarityLoss

    similarity = torch.tensor([0.0, 0.2, 0.5, 0.75, 0.9, 1.0])
    same_with_gradients(
        lambda u, v: ours.cosine_regression(u, v, similarity),
        CosineSimilarityLoss(theirs),
        similarity,
    )


@pytest.mark.parametrize("scale", [1.0, 20.0])
def test_in_batch_negatives_equal_sentence_transformers(theirs, scale):
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

    same_with_gradients(
        lambda u, v: ours.in_batch_negatives(u, v, scale),
        MultipleNegativesRankingLoss(theirs, scale=scale),
    )


@pytest.mark.parametrize("margin", [0.5, 0.9])
def test_contrastive_pairs_equal_sentence_transformers(theirs, margin):
    from sentence_transformers.sentence_transformer.losses import ContrastiveLoss

    same = torch.tensor([1, 0, 1, 0, 0, 1])
    same_with_gradients(
        lambda u, v: ours.contrastive_pairs(u, v, same.bool(), margin),
        ContrastiveLoss(theirs, margin=margin),
        same,
    )


def test_the_classification_objective_equals_sentence_transformers(theirs, small, monkeypatch):
    from sentence_transformers.sentence_transformer.losses import SoftmaxLoss, softmax

    # vectors in place of texts
    monkeypatch.setattr(softmax, "embed_columns", lambda model, features: features)
    siamese, peer = Siamese(small, n_classes=3), SoftmaxLoss(theirs, 16, 3)
    peer.classifier.load_state_dict(siamese.W_t.state_dict())
    (batch,) = SiameseBatches(small, [("a", "b c"), ("d", "a")], [2, 0]).epoch(0)
    u, v = siamese(batch)
    loss = ours.classification_loss(siamese, batch)
    assert_close(loss, peer([u, v], batch.label.long()))
    assert_close(siamese.scores(u, v), peer([u, v], None)[1])
    loss.backward()
    peer([u, v], batch.label.long()).backward()
    assert_close(siamese.W_t.weight.grad, peer.classifier.weight.grad)


def test_the_objectives_by_hand():
    # cosines 0.96 and 0
    u, v = torch.tensor([[3.0, 4.0], [1.0, 0.0]]), torch.tensor([[4.0, 3.0], [0.0, 2.0]])
    assert_close(ours.cosines(u, v), torch.tensor([[0.96, 0.8], [0.8, 0.0]]))
    assert_close(
        ours.cosine_regression(u, v, torch.tensor([1.0, 0.5])), torch.tensor((0.04**2 + 0.5**2) / 2)
    )
    assert_close(
        ours.contrastive_pairs(u, v, torch.tensor([True, False])), torch.tensor(0.5 * 0.04**2 / 2)
    )
    assert_close(
        ours.contrastive_pairs(u, v, torch.tensor([False, True])),
        torch.tensor(0.5 * (0.46**2 + 1) / 2),
    )
    assert ours.in_batch_negatives(u, u, scale=100.0) < 1e-4
    assert_close(ours.pair_features(u, v)[0], torch.tensor([3.0, 4.0, 4.0, 3.0, 1.0, 1.0]))


# ------------------------------------------------------------------------------------------- search


def test_search_equals_sentence_transformers():
    from sentence_transformers.util import semantic_search

    queries, corpus = vectors(5, 8, seed=1)[0].detach(), vectors(40, 8, seed=2)[0].detach()
    scores, places = search(queries, corpus, k=7)
    expected = semantic_search(queries, corpus, top_k=7)
    assert places.tolist() == [[hit["corpus_id"] for hit in hits] for hits in expected]
    assert_close(scores, torch.tensor([[hit["score"] for hit in hits] for hits in expected]))
    assert search(corpus, corpus, k=1).places[:, 0].tolist() == list(range(40)), (
        "each is nearest to itself"
    )


def test_search_finds_what_is_meant(encoder):
    corpus = [
        "The cat sleeps on the sofa.",
        "Interest rates rose again.",
        "He fried two eggs for breakfast.",
    ]
    queries = ["A pet takes a nap.", "cooking in the morning", "money and banks"]
    assert search(encoder.embed(queries), encoder.embed(corpus), k=1).places[:, 0].tolist() == [
        0,
        2,
        1,
    ]


# ----------------------------------------------------------------------------------------- training


def pairs_of_letters(n: int = 200) -> tuple[list[tuple[str, str]], list[int]]:
    """Sentences of the words a, b, c and d; two of them are the same (1) if they begin with the
    same word.
    """
    rng = random.Random(0)

    def sentence(first):
        return " ".join([first, *rng.choices("abcd", k=rng.randint(0, 3))])

    starts = [(rng.choice("abcd"), rng.choice("abcd")) for _ in range(n)]
    starts = [(a, a if i % 2 else b) for i, (a, b) in enumerate(starts)]
    return [(sentence(a), sentence(b)) for a, b in starts], [int(a == b) for a, b in starts]


@pytest.mark.parametrize("loss", [ours.classification_loss, ours.regression_loss, ours.margin_loss])
def test_training_pulls_together_what_belongs_together(small, loss):
    siamese, batches = (
        Siamese(small, n_classes=2),
        SiameseBatches(small, *pairs_of_letters(), batch_size=40),
    )

    def gap():
        together, apart = (small.embed([*pair]) for pair in (["a b c", "a d"], ["a b c", "d b c"]))
        return (together[0] @ together[1] - apart[0] @ apart[1]).item()

    before = gap()
    history = fit(
        siamese,
        batches,
        loss,
        torch.optim.Adam(siamese.parameters(), lr=3e-3),
        steps=60,
        progress=False,
    )
    assert sum(history.losses[-5:]) < 0.6 * sum(history.losses[:5])
    assert gap() > before + 0.2


def test_objectives_see_the_vectors_before_they_are_normalised(small):
    assert small.normalise
    siamese = Siamese(small)
    (batch,) = SiameseBatches(small, [("a b c", "d")]).epoch(0)
    u, _ = siamese(batch)
    assert (u.norm() - 1).abs() > 0.1
    assert_close(F.normalize(u, dim=-1), small.embed(["a b c"]))


def test_in_batch_negatives_train(small):
    pairs = [("a b", "a c"), ("b", "b d"), ("c a a", "c"), ("d c", "d d")]
    siamese, batches = Siamese(small), SiameseBatches(small, pairs, batch_size=4)
    history = fit(
        siamese,
        batches,
        ours.ranking_loss,
        torch.optim.Adam(siamese.parameters(), lr=3e-3),
        steps=60,
        progress=False,
    )
    assert history.losses[-1] < 0.5 * history.losses[0]
    u, v = (small.embed(list(side)) for side in zip(*pairs, strict=True))
    assert search(u, v, k=1).places[:, 0].tolist() == [0, 1, 2, 3]


def test_no_pair_is_left_without_another_to_compare_with(small):
    pairs = [(f"{'a ' * i}b", "c") for i in range(1, 10)]

    def sizes(n, size):
        batches = SiameseBatches(small, pairs[:n], batch_size=size)
        return sorted(len(batch.label) for batch in batches.epoch(0))

    assert sizes(9, 4) == [4, 5] and sizes(8, 4) == [4, 4] and sizes(6, 4) == [2, 4]
    assert sizes(1, 4) == [1] and sizes(3, 1) == [1, 1, 1], "where nothing else was asked for"
    batches = SiameseBatches(small, pairs, batch_size=4)
    model = Siamese(small)
    assert all(ours.ranking_loss(model, batch).isfinite() for batch in batches.epoch(0))


@pytest.mark.parametrize(
    ("loss", "n_classes"),
    [
        (ours.classification_loss, 3),
        (ours.regression_loss, 0),
        (ours.ranking_loss, 0),
        (ours.margin_loss, 0),
    ],
)
def test_training_in_several_processes_waits_for_no_gradient_that_never_comes(
    small, loss, n_classes, one_process
):
    """The pooler has no part in a sentence's vector."""
    (batch,) = SiameseBatches(small, [("a", "b c"), ("d", "a")], [1, 0]).epoch(0)
    model = Siamese(small, n_classes)
    trained = torch.nn.parallel.DistributedDataParallel(model)
    for _ in range(2):
        loss(trained, batch).backward()
    assert small.bert.embeddings.tokens.weight.grad.any()
    assert model.W_t is None or model.W_t.weight.grad.any()


def test_every_pair_keeps_its_label(small):
    pairs, labels = pairs_of_letters(50)
    batches = SiameseBatches(small, pairs, labels, batch_size=8, seed=3)
    seen = []
    for number in (0, 1):
        for batch in batches.epoch(number):
            same = batch.first[:, 1] == batch.second[:, 1]  # the word behind [CLS]
            assert torch.equal(batch.label, same.float())
            seen.append(len(batch.label))
    assert sum(seen) == 100
    assert [batch.first.tolist() for batch in batches.epoch(1)] == [
        batch.first.tolist() for batch in batches.epoch(1)
    ]


# ---------------------------------------------------------------------------------------- bad input


def test_texts_without_words_are_refused(encoder, shapes_unchecked):
    for empty in ("", "   ", "\n\t", "\u200b\x00"):
        said = (
            f"there is no word in the text {empty!r} ({len(empty)} characters): an empty text has "
            f"no vector"
        )
        with pytest.raises(ValueError, match=re.escape(f"text 1: {said}")):
            encoder.embed(["fine", empty])
        with pytest.raises(ValueError, match=re.escape(f"the second text of pair 2: {said}")):
            SiameseBatches(encoder, [("a", "b"), ("c", "d"), ("e", empty), ("f", "g")])
    with pytest.raises(ValueError, match="0 texts"):
        encoder.embed([])
    with pytest.raises(ValueError, match=r"one text of 5 characters; write \[text\]"):
        encoder.embed("hello")
    with pytest.raises(ValueError, match="batch_size = 0"):
        encoder.embed(["hello"], batch_size=0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pooling": "median"}, r"median.*mean, cls, max"),
        ({"max_len": 21}, "20 positions, got 21"),
        ({"max_len": 2}, "got 2"),
    ],
)
def test_settings_that_cannot_be(small, options, message):
    with pytest.raises(ValueError, match=message):
        SentenceBert(small.bert, small.tokenizer, **{"max_len": 12, **options})


def test_search_says_what_does_not_fit(shapes_unchecked):
    with pytest.raises(ValueError, match="vectors of 8 and of 9 numbers"):
        search(torch.ones(2, 8), torch.ones(5, 9), k=2)
    for k in (0, 6):
        with pytest.raises(ValueError, match=f"between 1 and the 5 vectors of the corpus, got {k}"):
            search(torch.ones(2, 8), torch.ones(5, 8), k=k)


def test_objectives_say_what_does_not_fit(small, shapes_unchecked):
    u, v = torch.ones(3, 4), torch.ones(2, 4)
    for objective in (ours.pair_features, ours.in_batch_negatives):
        with pytest.raises(ValueError, match=r"u \(3, 4\), v \(2, 4\)"):
            objective(u, v)
    with pytest.raises(ValueError, match=r"labels \(2,\)"):
        ours.cosine_regression(u, u, torch.ones(2))
    with pytest.raises(ValueError, match=r"similarity of 4\.2; divide STS-B's scores by 5"):
        ours.cosine_regression(v, v, torch.tensor([4.2, 1.0]))
    with pytest.raises(ValueError, match="got 1 pairs"):
        ours.in_batch_negatives(u[:1], u[:1])
    with pytest.raises(ValueError, match="scale = -1"):
        ours.in_batch_negatives(u, u, scale=-1.0)
    with pytest.raises(ValueError, match=r"got 2\.5"):
        ours.contrastive_pairs(u, u, torch.ones(3).bool(), margin=2.5)
    with pytest.raises(ValueError, match="n_classes = 0"):
        Siamese(small).scores(u, u)
    with pytest.raises(ValueError, match="1 pairs and 2 labels"):
        SiameseBatches(small, [("a", "b")], [1, 0])


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        (
            "modules.json",
            '[{"type": "x.Transformer", "path": ""}, {"type": "x.Dense", "path": "2_Dense"}]',
            "Dense",
        ),
        (
            "1_Pooling/config.json",
            '{"pooling_mode_mean_tokens": true, "pooling_mode_max_tokens": true}',
            "mean and max",
        ),
        ("1_Pooling/config.json", '{"pooling_mode": "lasttoken"}', "lasttoken"),
        ("modules.json", '[{"type": "m.Transformer", "path": ""}]', "no pooling .*: Transformer"),
    ],
)
def test_a_checkpoint_with_other_parts_is_refused(tmp_path, file, text, message):
    folder = minilm.checkpoint()
    (tmp_path / "1_Pooling").mkdir()
    for name in ("modules.json", "sentence_bert_config.json", "1_Pooling/config.json"):
        (tmp_path / name).write_text((folder / name).read_text())
    (tmp_path / file).write_text(text)
    with pytest.raises(ValueError, match=message):
        SentenceBert.from_pretrained(tmp_path)


@pytest.mark.parametrize(
    ("settings", "lowercase", "strips_accents"),
    [
        (None, True, True),
        ({}, True, True),
        ({"do_lower_case": True, "strip_accents": None}, True, True),
        ({"do_lower_case": False}, False, False),
        ({"do_lower_case": True, "strip_accents": False}, True, False),
    ],
)
def test_whether_text_is_lower_cased_stands_in_the_checkpoint(
    tmp_path, monkeypatch, settings, lowercase, strips_accents
):
    folder = minilm.checkpoint()
    (tmp_path / "1_Pooling").mkdir()
    for name in ("modules.json", "sentence_bert_config.json", "1_Pooling/config.json", "vocab.txt"):
        (tmp_path / name).write_text((folder / name).read_text())
    if settings is not None:
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    body = Bert(BertConfig(30_522, 8, 1, 1, 8, max_len=256))
    monkeypatch.setattr(Bert, "from_pretrained", lambda name: body)
    basic = SentenceBert.from_pretrained(tmp_path).tokenizer.basic
    assert (basic.lowercase, basic.strips_accents) == (lowercase, strips_accents)


def test_a_newer_pooling_file_is_read(tmp_path):
    assert _pooling_name({"pooling_mode": "cls", "embedding_dimension": 384}) == "cls"
