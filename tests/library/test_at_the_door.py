"""What is refused where it comes in, with what came and what is expected; and what was silently
wrong before.
"""

import copy
import io
import pickle
import warnings
from dataclasses import fields, replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lectures_lib import data
from lectures_lib.blocks.attention import (
    MultiHeadAttention,
    causal_mask,
    fused_attention,
    merge_heads,
    padding_mask,
    scaled_dot_product_attention,
    split_heads,
)
from lectures_lib.blocks.layers import ACTIVATIONS, TokenEmbedding
from lectures_lib.blocks.positions import (
    LearnedPositions,
    SinusoidalPositions,
    sinusoidal_positions,
)
from lectures_lib.blocks.recording import record
from lectures_lib.checks.tokens import check_lengths
from lectures_lib.data import WordVocabulary
from lectures_lib.decoding import LanguageModelWithCache, greedy
from lectures_lib.decoding.sampling import keep_top_k, keep_top_p
from lectures_lib.models import word2vec
from lectures_lib.models.bert import Bert, BertConfig, BertForPreTraining
from lectures_lib.models.language_model import LanguageModel, LanguageModelConfig
from lectures_lib.models.seq2seq import Seq2Seq, Seq2SeqConfig
from lectures_lib.models.transformer import Transformer, TransformerConfig, shift_right
from lectures_lib.models.vit import ViT, ViTConfig, interpolate_positions, patches, unpatch
from lectures_lib.tasks import sentence_bert, task_heads
from lectures_lib.tokenization import BPE, Vocabulary, WordPiece
from lectures_lib.tokenization.byte_level import BYTE_OF_CHARACTER
from lectures_lib.training import bert_schedule, fit, label_smoothed_cross_entropy, packing
from lectures_lib.training.pretraining import mask_tokens

CONFIGS = {
    "Transformer": (TransformerConfig.TINY, Transformer),
    "LanguageModel": (LanguageModelConfig.TINY, LanguageModel),
    "Bert": (BertConfig.TINY, Bert),
    "BertForPreTraining": (BertConfig.TINY, BertForPreTraining),
    "ViT": (ViTConfig.DIGITS, ViT),
    "Seq2Seq": (Seq2SeqConfig(9, 8, attention="additive"), Seq2Seq),
}
pytestmark = pytest.mark.usefixtures("shapes_unchecked")


# ----------------------------------------------------------------------------------- configurations


def wrong_values():
    for name, (config, _) in CONFIGS.items():
        for field in fields(config):
            if field.type in (int, "int"):
                for value, error in (
                    (0, ValueError),
                    (-3, ValueError),
                    (2.5, TypeError),
                    ("4", TypeError),
                    (True, TypeError),
                    ((8, 8), TypeError),
                ):
                    yield pytest.param(
                        config, field.name, value, error, id=f"{name}-{field.name}-{value}"
                    )
            if "dropout" in field.name:
                for value, error in ((-0.1, ValueError), (1.5, ValueError), ("a", TypeError)):
                    yield pytest.param(
                        config, field.name, value, error, id=f"{name}-{field.name}-{value}"
                    )
        if hasattr(config, "activation"):
            yield pytest.param(config, "activation", "tanh", ValueError, id=f"{name}-activation")
            yield pytest.param(config, "n_heads", 3, ValueError, id=f"{name}-heads")
        if hasattr(config, "eps"):
            yield pytest.param(config, "eps", 0.0, ValueError, id=f"{name}-eps")


@pytest.mark.parametrize(("config", "name", "value", "error"), wrong_values())
def test_a_configuration_that_no_model_can_have_is_refused_when_it_is_made(
    config, name, value, error
):
    with pytest.raises(error, match=name):
        replace(config, **{name: value})


@pytest.mark.parametrize("name", CONFIGS)
def test_every_model_can_be_pickled_saved_whole_and_copied(name):
    config, make = CONFIGS[name]
    for activation in ACTIVATIONS if hasattr(config, "activation") else [None]:
        model = make(
            config if activation is None else replace(config, activation=activation)
        ).eval()
        file = io.BytesIO()
        torch.save(model, file)
        file.seek(0)
        for again in (
            pickle.loads(pickle.dumps(model)),
            torch.load(file, weights_only=False),
            copy.deepcopy(model),
        ):
            assert all(
                torch.equal(a, b)
                for a, b in zip(model.parameters(), again.parameters(), strict=True)
            )


@pytest.mark.parametrize(
    "move", [lambda m: m.to_empty(device="cpu"), lambda m: m.to_empty(device="cpu").double()]
)
def test_a_model_made_without_memory_has_its_sinusoids(move):
    config = TransformerConfig.TINY
    whole = Transformer(config).eval()
    with torch.device("meta"):
        empty = Transformer(config)
    empty = move(empty)
    empty.load_state_dict(whole.state_dict())
    assert torch.equal(empty.positions.positions.float(), whole.positions.positions)
    tokens = torch.randint(1000, (2, 5))
    torch.testing.assert_close(empty.float().eval()(tokens, tokens), whole(tokens, tokens))


# ---------------------------------------------------------------------------------------- attention


def test_a_mask_for_each_sequence_is_not_read_for_each_head():
    """Batch 3, 3 heads: (3, n, n) could mean either, and was read as the second."""
    attention, x = MultiHeadAttention(12, 3), torch.randn(3, 5, 12)
    mask = torch.rand(3, 5, 5) < 0.5
    with pytest.raises(
        ValueError,
        match=r"\(3, 5, 5\).*for each sequence write mask\[:, None\], of shape \(3, 1, 5, 5\)",
    ):
        attention(x, mask=mask)
    with record(attention) as seen:
        attention(x, mask=mask[:, None])
    weights = seen["weights"]
    assert weights[~mask[:, None].expand_as(weights)].abs().max() == 0
    Q = torch.randn(3, 5, 4)
    # with three dimensions of scores there is nothing to mistake
    scaled_dot_product_attention(Q, Q, Q, mask)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: MultiHeadAttention(8, 2, dropout=2.0), ValueError, r"dropout = 2\.0"),
        (lambda: MultiHeadAttention(8, 2, dropout=-1.0), ValueError, r"dropout = -1\.0"),
        (
            lambda: MultiHeadAttention(8, 2)(torch.zeros(5, 8)),
            ValueError,
            r"\(batch, n, 8\), got .*\(5, 8\).*query\[None\]",
        ),
        (lambda: split_heads(torch.zeros(5, 8), 2), ValueError, r"got .*\(5, 8\)"),
        (
            lambda: MultiHeadAttention(8, 2)(torch.zeros(1, 5, 8), mask=np.ones((5, 5), bool)),
            TypeError,
            "mask must be a tensor, got a ndarray",
        ),
        (
            lambda: MultiHeadAttention(8, 2)(torch.zeros(1, 5, 8), mask=[[True]]),
            TypeError,
            "mask must be a tensor, got a list",
        ),
        (
            lambda: MultiHeadAttention(8, 2)(torch.zeros(1, 5, 8), mask=torch.ones(5, 5)),
            ValueError,
            "torch.float32",
        ),
        (
            lambda: scaled_dot_product_attention([[1.0]], torch.ones(1, 1), torch.ones(1, 1)),
            TypeError,
            "Q must be a tensor, got a list",
        ),
        (
            lambda: padding_mask(torch.tensor([True, False]), 3),
            ValueError,
            "lengths must be whole numbers, got torch.bool",
        ),
        (lambda: padding_mask(torch.tensor([1.5]), 3), ValueError, "got torch.float32"),
        (
            lambda: padding_mask([1, 2], 3),
            TypeError,
            "lengths must be a tensor of whole numbers, got a list",
        ),
        (
            lambda: padding_mask(torch.tensor([[1, 2]]), 3),
            ValueError,
            r"in a row; got lengths of shape \(1, 2\)",
        ),
        (
            lambda: check_lengths(torch.tensor([True]), torch.ones(1, 3).long()),
            ValueError,
            "lengths must be whole numbers, got torch.bool",
        ),
        (
            lambda: check_lengths(torch.tensor([2.0]), torch.ones(1, 3).long()),
            ValueError,
            "lengths must be whole numbers",
        ),
        (lambda: check_lengths([2], torch.ones(1, 3).long()), TypeError, "got a list"),
        (
            lambda: check_lengths(None, torch.ones(3).long()),
            ValueError,
            r"\(batch, n\), got .*\(3,\); for a single sentence write tokens\[None\]",
        ),
        (
            lambda: TokenEmbedding(5, 8)([[1, 2]]),
            TypeError,
            "token ids must be a tensor of whole numbers, got a list",
        ),
        (
            lambda: TokenEmbedding(5, 8)(torch.ones(1, 2)),
            ValueError,
            "token ids must be whole numbers, got torch.float32",
        ),
        (lambda: TokenEmbedding(5, 8)(torch.tensor([7])), ValueError, r"token id 7 \(at \(0,\)\)"),
        (
            lambda: SinusoidalPositions(8)(torch.zeros(2, 3, 1)),
            ValueError,
            r"\(batch, n, 8\), got .*\(2, 3, 1\)",
        ),
        (
            lambda: LearnedPositions(8, 4)(torch.zeros(2, 3, 1)),
            ValueError,
            r"\(batch, n, 8\), got .*\(2, 3, 1\)",
        ),
        (lambda: SinusoidalPositions(8)(torch.zeros(3, 8)), ValueError, r"got .*\(3, 8\)"),
    ],
)
def test_attention_and_blocks_say_what_came(call, error, message):
    with pytest.raises(error, match=message):
        call()


# ------------------------------------------------------------------------------------------- models


BERT = BertConfig(11, d_model=8, n_layers=1, n_heads=2, d_ff=8, max_len=9)
TOKENS = torch.tensor([[1, 2, 3], [4, 5, 6]])


def models():
    sizes = {"d_model": 8, "n_layers": 1, "n_heads": 2, "d_ff": 8, "max_len": 9}
    yield lambda tokens, lengths=None: Bert(BERT)(tokens, None, lengths)
    yield lambda tokens, lengths=None: Transformer(TransformerConfig(11, **sizes))(
        tokens, TOKENS, lengths
    )
    yield lambda tokens, lengths=None: LanguageModelWithCache(
        LanguageModel(LanguageModelConfig(11, **sizes))
    ).start(tokens, lengths)
    yield lambda tokens, lengths=None: Seq2Seq(Seq2SeqConfig(11, 11))(tokens, TOKENS, lengths)


@pytest.mark.parametrize(
    "model", models(), ids=["bert", "transformer", "language_model", "seq2seq"]
)
@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([[1, 2], [3, 4]],), TypeError, "token ids must be a tensor .* got a list"),
        ((np.ones((2, 3), int),), TypeError, "got a ndarray"),
        ((None,), TypeError, "got a NoneType"),
        ((TOKENS.float(),), ValueError, "whole numbers, got torch.float32"),
        ((TOKENS > 2,), ValueError, "whole numbers, got torch.bool"),
        ((TOKENS[0],), ValueError, r"\(batch, n\), got .*\(3,\)"),
        ((TOKENS[:, :0],), ValueError, r"empty|shape \(2, 0\)"),
        ((TOKENS, [3, 2]), TypeError, "lengths must be a tensor .* got a list"),
        (
            (TOKENS, torch.tensor([3.0, 2.0])),
            ValueError,
            "lengths must be whole numbers, got torch.float32",
        ),
        ((TOKENS, TOKENS > 2), ValueError, "lengths must be whole numbers, got torch.bool"),
        ((TOKENS, torch.tensor([3])), ValueError, "each of the 2 sentences"),
    ],
)
def test_models_say_what_came(model, arguments, error, message):
    with pytest.raises(error, match=message):
        model(*arguments)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: Bert(BERT)(TOKENS, torch.ones(2, 3).bool()),
            ValueError,
            "segments .*lengths=.* got torch.bool",
        ),
        (lambda: Bert(BERT)(TOKENS, [[0, 0, 0]] * 2), TypeError, "segments .* got a list"),
        (
            lambda: BertForPreTraining(BERT)(TOKENS, at=torch.ones(2, 3).long()),
            ValueError,
            r"boolean.*\(2, 3\); got torch.int64",
        ),
        (
            lambda: BertForPreTraining(BERT)(TOKENS, at=torch.ones(3).bool()),
            ValueError,
            r"got torch.bool of shape \(3,\)",
        ),
        (lambda: BertForPreTraining(BERT)(TOKENS, at=[[True]]), ValueError, "got a list"),
        (
            lambda: ViT(ViTConfig.DIGITS)(torch.zeros(1, 8, 8)),
            ValueError,
            r"got .*\(1, 8, 8\); for a single image write image\[None\]",
        ),
        (
            lambda: ViT(ViTConfig.DIGITS)(torch.zeros(2, 1, 8, 8).byte()),
            ValueError,
            "floating-point numbers, from 0 to 1; got torch.uint8",
        ),
        (lambda: ViT(ViTConfig.DIGITS)([[0.0]]), TypeError, "got a list"),
        (lambda: ViT(ViTConfig.DIGITS, ["a"]), ValueError, "10 classes, 1 names"),
        (
            lambda: LanguageModel(LanguageModelConfig.TINY).log_probabilities(TOKENS[:, :1]),
            ValueError,
            r"at least 2 .*\(2, 1\)",
        ),
    ],
)
def test_bert_and_vit_say_what_came(call, error, message):
    with pytest.raises(error, match=message):
        call()


# --------------------------------------------------------------------------------------- tokenizers


@settings(max_examples=40, deadline=None)
@given(
    specials=st.lists(
        st.text(st.characters(codec="utf-8"), min_size=1, max_size=4), max_size=4, unique=True
    ),
    later=st.lists(st.text("aĠÃ the", min_size=1, max_size=4), max_size=3),
    text=st.text(st.one_of(st.characters(codec="utf-8"), st.sampled_from("a Ãé the"))),
)
def test_whatever_is_special_the_text_comes_back(specials, later, text):
    specials = [token for token in specials if token not in BYTE_OF_CHARACTER]
    bpe = BPE.train(["aa aa aaaa the the theé é é", *specials * 2], 262 + len(specials), specials)
    for token in later:
        try:
            bpe.add_special(token)
        except ValueError as error:
            assert "cannot be special too" in str(error)
    assert bpe.decode(bpe.encode(text)) == text
    assert not {merge.left + merge.right for merge in bpe.merges} & set(specials)
    everything = text + "".join(bpe.specials)
    assert bpe.decode(bpe.encode(everything)) == everything


def test_training_never_merges_into_a_special():
    for kind, texts in ((BPE, ["aa aa aaaa"] * 9), (WordPiece, ["aa aa aaaa ab"] * 9)):
        specials = ["aa"] if kind is BPE else ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "aa"]
        tokenizer = kind.train(texts, 300 if kind is BPE else 40, specials=specials, min_count=1)
        assert not any(
            merge.left + merge.right.removeprefix("##") in tokenizer.specials
            for merge in tokenizer.merges
        )
    bpe = BPE.train(["aaa aaa"] * 3, 300, ["aa"])
    assert bpe.decode(bpe.encode("aba"), skip_specials=True) == "aba"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: BPE.train(["in the, at the, by the"], 270).add_special("Ġthe"),
            ValueError,
            "'Ġthe' is the token of the text ' the'",
        ),
        (lambda: BPE.train(["x"], 256).add_special("Ã"), ValueError, "cannot be special too"),
        (lambda: BPE.train(["x"], 300, ["a"]), ValueError, "'a' stands for a byte"),
        (
            lambda: BPE.train(["x"], 300, "<pad>"),
            TypeError,
            r"specials must be several strings, got one: '<pad>'",
        ),
        (
            lambda: WordPiece.train(["x y"], 300, specials="[PAD]"),
            TypeError,
            "specials must be several strings",
        ),
        (lambda: Vocabulary("abc"), TypeError, "tokens must be several strings, got one: 'abc'"),
        (
            lambda: WordPiece.train(["x y"], 300, score="pmi"),
            ValueError,
            "no score named 'pmi'; there is: likelihood, ratio, frequency",
        ),
        (
            lambda: BPE.train(["x"], 256).decode("12"),
            TypeError,
            "token ids are needed, in a row; got a str: '12'",
        ),
        (lambda: BPE.train(["x"], 256).decode(5), TypeError, "got a int"),
        (
            lambda: BPE.train(["x"], 256).decode([1.7]),
            TypeError,
            r"whole numbers in a row, got \[1\.7\]",
        ),
        (
            lambda: BPE.train(["x"], 256).decode(torch.ones(2, 2).long()),
            TypeError,
            "whole numbers in a row",
        ),
        (lambda: BPE.train(["x"], 256).encode(["a"]), TypeError, "text is needed, got a list"),
        (lambda: BPE.train(["x"], 256).encode(None), TypeError, "text is needed, got a NoneType"),
        (lambda: BPE.train([b"x"], 256), TypeError, "text is needed, got a bytes"),
        (lambda: WordVocabulary(["a"]).decode("12"), TypeError, "got a str"),
        (
            lambda: WordVocabulary(["a"]).encode("a b"),
            TypeError,
            "a sentence must be a list of words, got the text 'a b'",
        ),
    ],
)
def test_tokenizers_say_what_came(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_ids_come_in_whatever_holds_them():
    bpe = BPE.train(["the the"], 270)
    for ids in (
        bpe.encode("the x"),
        tuple(bpe.encode("the x")),
        torch.tensor(bpe.encode("the x")),
        np.array(bpe.encode("the x")),
    ):
        assert bpe.decode(ids) == bpe.decode(list(ids)) == bpe.decode(iter(ids)) == "the x"


# ----------------------------------------------------------------------------------------- the rest


def test_another_models_optimizer_is_refused():
    model, other = (torch.nn.Linear(2, 1) for _ in range(2))
    batches = type("One", (), {"epoch": lambda self, number: [torch.zeros(1, 2)]})()
    with pytest.raises(ValueError, match="no parameter of this model"):
        fit(
            model,
            batches,
            lambda m, b: m(b).mean(),
            torch.optim.SGD(other.parameters()),
            steps=1,
            progress=False,
        )


def test_a_target_of_minus_100_is_a_number_where_targets_are_numbers():
    from lectures_lib.tasks.fine_tuning import Batch
    from lectures_lib.tasks.task_heads import UNLABELLED

    empty = torch.zeros(3, 1).long()
    assert Batch(empty, empty, empty[:, 0], torch.tensor([-100.0, 1.0, 2.0])).n_targets == 3
    assert Batch(empty, empty, empty[:, 0], torch.tensor([UNLABELLED, 1, 2])).n_targets == 2


def test_no_warning_where_there_is_a_pooler(tmp_path):
    folder = Bert(BERT).save_pretrained(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Bert.from_pretrained(folder)


def words_of(n, d=3):
    return torch.ones(n, d)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: data.pad([[1.5, 2]]), TypeError, r"whole numbers in a row, got \[1\.5, 2\]"),
        (lambda: data.pad(["ab"]), TypeError, "got a str"),
        (lambda: data.pad([1, 2]), TypeError, "got a int"),
        (lambda: data.pad_pairs([]), ValueError, "at least one; got 0"),
        (lambda: data.blocks("abcdef", 2), TypeError, "got a str"),
        (lambda: data.blocks([1, 2, 3], 1.0), TypeError, r"n = 1\.0"),
        (
            lambda: data.Batches([([1, 2],)], data.pad_texts, batch_size=1.5),
            TypeError,
            r"batch_size must be a whole number.* 1\.5",
        ),
        (
            lambda: data.Batches([([1],)] * 2, data.pad_texts, batch_size=1, lengths=[(1,)]),
            ValueError,
            "2 examples, 1 lengths",
        ),
        (
            lambda: data.WordVocabulary("abc"),
            TypeError,
            "words must be a list of words, got the text 'abc'",
        ),
        (lambda: data.WordVocabulary.build("abc"), TypeError, "got the text 'abc'"),
        (
            lambda: data.WordVocabulary.build(["a b"]),
            TypeError,
            "a sentence must be a list of words, got the text 'a b'",
        ),
        (
            lambda: data.ImageBatches(data.handwritten_digits()[:3], 1.5),
            ValueError,
            r"batch_size = 1\.5",
        ),
        (
            lambda: packing.plan([1, 2], 2.5),
            TypeError,
            r"max_len must be a whole number of at least 1, got 2\.5",
        ),
        (
            lambda: mask_tokens(TOKENS, torch.zeros(3).bool(), 1, range(2, 5)),
            ValueError,
            r"shape \(2, 3\); got torch.bool of shape \(3,\)",
        ),
        (
            lambda: mask_tokens(TOKENS, TOKENS * 0, 1, range(2, 5)),
            ValueError,
            r"special must be boolean, True where .* \(2, 3\); got torch.int64",
        ),
        (
            lambda: mask_tokens([[1]], torch.zeros(1, 1).bool(), 1, range(2, 5)),
            TypeError,
            "got a list",
        ),
        (
            lambda: sentence_bert.cosines(words_of(1)[0], words_of(2)),
            ValueError,
            r"got a tensor of shape \(3,\); .*u\[None\]",
        ),
        (
            lambda: sentence_bert.cosines(np.ones((2, 3)), words_of(2)),
            TypeError,
            "u must be a tensor .* got a ndarray",
        ),
        (
            lambda: sentence_bert.contrastive_pairs(words_of(2), words_of(2), torch.tensor([1, 0])),
            ValueError,
            "boolean.*got torch.int64",
        ),
        (
            lambda: sentence_bert.cosine_regression(words_of(2), words_of(2), [1.0, 0.0]),
            TypeError,
            "labels must be a tensor, got a list",
        ),
        (
            lambda: sentence_bert.in_batch_negatives(torch.ones(3), torch.ones(3)),
            ValueError,
            r"u \(3,\), v \(3,\)",
        ),
        (
            lambda: word2vec.skip_gram_loss(words_of(2), words_of(1), torch.ones(2, 4, 3)),
            ValueError,
            r"got \(2, 3\), \(1, 3\), ",
        ),
        (
            lambda: word2vec.skip_gram_loss(words_of(2), words_of(2), torch.ones(1, 4, 3)),
            ValueError,
            r"\(1, 4, 3\)",
        ),
        (lambda: word2vec.count([[1.5]], 3), TypeError, r"got \[1\.5\]"),
        (
            lambda: word2vec.keep_probabilities(torch.zeros(3).long()),
            ValueError,
            "none of the 3 words occurs",
        ),
        (
            lambda: word2vec.noise_probabilities(torch.zeros(3).long()),
            ValueError,
            "none of the 3 words occurs",
        ),
        (lambda: word2vec.WordVectors(["a", "a"], torch.eye(2)), ValueError, "1 of these 2 words"),
        (lambda: word2vec.WordVectors(["a", "b"], np.eye(2)), TypeError, "got a ndarray"),
        (lambda: shift_right(torch.tensor([1, 2]), 0), ValueError, r"got a tensor of shape \(2,\)"),
        (lambda: shift_right(TOKENS, 0.5), TypeError, r"begin must be a token id.*got 0\.5"),
        (
            lambda: task_heads.best_spans(
                task_heads.SpanScores(*torch.zeros(2, 1, 3)), torch.tensor([[0, 1, 1]])
            ),
            ValueError,
            "got torch.int64",
        ),
        (
            lambda: patches(torch.zeros(1, 8, 8), 2),
            ValueError,
            r"got a tensor of shape \(1, 8, 8\)",
        ),
        (
            lambda: MultiHeadAttention(8, 2)(torch.ones(1, 2, 7)),
            ValueError,
            r"query must be \(batch, n, 8\), got .*\(1, 2, 7\)",
        ),
        (
            lambda: MultiHeadAttention(8, 2)(torch.ones(2, 2, 8), torch.ones(3, 2, 8)),
            ValueError,
            "a batch of 2 queries, and of 3",
        ),
        (
            lambda: MultiHeadAttention(8, 2, d_context=4)(torch.ones(2, 2, 8)),
            ValueError,
            r"context must be \(batch, n, 4\)",
        ),
        (
            lambda: MultiHeadAttention(8, 2)([[1.0]]),
            TypeError,
            "query must be a tensor .* got a list",
        ),
    ],
)
def test_data_and_tasks_say_what_came(call, error, message):
    with pytest.raises(error, match=message):
        call()


SIZES_OF_HEADS = torch.zeros(1, 2, 3, 4)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: label_smoothed_cross_entropy(torch.zeros(2, 3), [0, 1]),
            TypeError,
            "targets must be a tensor, got a list",
        ),
        (lambda: keep_top_k([[1.0, 2.0]], 1), TypeError, "logits must be a tensor"),
        (lambda: keep_top_p([[1.0, 2.0]], 0.5), TypeError, "logits must be a tensor"),
        (lambda: keep_top_p(torch.zeros(1, 2), "a"), ValueError, "top_p must lie .* got 'a'"),
        (lambda: split_heads([[[1.0]]], 1), TypeError, "x must be a tensor, got a list"),
        (
            lambda: split_heads(torch.zeros(1, 2, 4), 2.0),
            TypeError,
            r"n_heads must be a whole number of at least 1, got 2\.0",
        ),
        (
            lambda: merge_heads(SIZES_OF_HEADS[0]),
            ValueError,
            r"\(batch, n_heads, n, d_head\), got a tensor of shape \(2, 3, 4\)",
        ),
        (
            lambda: unpatch(torch.zeros(5, 4), 2, 4, 4),
            ValueError,
            r"4 × 4 pixels has 4 patches, .* got a tensor of shape \(5, 4\)",
        ),
        (lambda: unpatch(torch.zeros(1, 5, 4), 2, 4, 4), ValueError, r"shape \(1, 5, 4\)"),
        (lambda: unpatch(torch.zeros(1, 4, 6), 2, 4, 4), ValueError, r"shape \(1, 4, 6\)"),
        (
            lambda: interpolate_positions(torch.zeros(6, 8), 3, 3),
            ValueError,
            r"a square of n patches; got a tensor of shape \(6, 8\)",
        ),
        (lambda: interpolate_positions([[1.0]], 3, 3), TypeError, "positions must be a tensor"),
        (lambda: interpolate_positions(torch.zeros(5, 8), 0, 3), ValueError, "rows = 0"),
        (lambda: causal_mask(2.5), TypeError, r"n must be a whole number .* got 2\.5"),
        (lambda: sinusoidal_positions(2.5, 4), TypeError, r"n must be a whole .* got 2\.5"),
        (lambda: sinusoidal_positions(4, 2.5), TypeError, r"d_model must be a whole .* got 2\.5"),
        (
            lambda: MultiHeadAttention(8.0, 2),
            ValueError,
            r"d_model = 8\.0, which is no whole number",
        ),
        (lambda: bert_schedule("a", 3), ValueError, "warmup = 'a' and total = 3"),
        (
            lambda: greedy(
                LanguageModel(LanguageModelConfig.TINY), TOKENS, end=1, max_len=2, never=3
            ),
            TypeError,
            r"never must be several tokens, got 3; write \[3\]",
        ),
        (
            lambda: fused_attention(*[SIZES_OF_HEADS] * 3, dropout=-1.0),
            ValueError,
            r"dropout is a share between 0 and 1, got dropout = -1\.0",
        ),
    ],
)
def test_at_the_rims_too_it_is_said_what_came(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_mask_is_not_read_as_segments():
    """As Hugging Face's tokenizers give it, of whole numbers; `bert(tokens, mask)` ran, and gave
    other vectors.
    """
    bert = Bert(BERT).eval()
    for mask in ([[1, 1, 1], [1, 1, 0]], [[1, 1, 1]] * 2, [[1, 0, 0]] * 2):
        with pytest.raises(ValueError, match=r"a mask of real tokens: say lengths=…"):
            bert(TOKENS, torch.tensor(mask))
    for segments in ([[0, 0, 1], [0, 1, 0]], [[0, 0, 0], [1, 1, 0]], [[1, 0, 1], [1, 1, 0]]):
        bert(TOKENS, torch.tensor(segments))
    bert(TOKENS, torch.ones(2, 3).long(), torch.tensor([3, 2]))  # here lengths are said
