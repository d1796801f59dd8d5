"""Our BERT equals Hugging Face's on random weights and on MiniLM's; its checkpoints go there and
back; bad input is named.
"""

import json

import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch.testing import assert_close

from lectures_lib.blocks.recording import record
from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert, BertConfig, BertForPreTraining, every_other_layer

SIZES = {
    "vocab_size": 50,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 32,
}
TOKENS = torch.randint(0, 50, (3, 9), generator=torch.Generator().manual_seed(0))
SEGMENTS = torch.tensor([[0] * 5 + [1] * 4, [0] * 9, [0] * 2 + [1] * 7])
LENGTHS = torch.tensor([9, 7, 5])


def their_model(**changes):
    """Hugging Face's BERT with random weights, none of them at its usual start."""
    from transformers import BertConfig as TheirConfig
    from transformers import BertForPreTraining as TheirModel

    model = TheirModel(TheirConfig(**SIZES, max_position_embeddings=12, **changes)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return model


@pytest.fixture
def twins(tmp_path):
    theirs = their_model()
    theirs.save_pretrained(tmp_path)
    return BertForPreTraining.from_pretrained(tmp_path), theirs


def their_scores(theirs, labels=None, **options):
    mask = (torch.arange(TOKENS.shape[1]) < LENGTHS[:, None]).long()
    return theirs(input_ids=TOKENS, token_type_ids=SEGMENTS, attention_mask=mask, **options)


def real():
    return torch.arange(TOKENS.shape[1]) < LENGTHS[:, None]


def test_scores_and_hidden_states_equal_hugging_faces(twins):
    ours, theirs = twins
    expected = their_scores(theirs, output_hidden_states=True)
    scores = ours(TOKENS, SEGMENTS, LENGTHS)
    assert_close(scores.words[real()], expected.prediction_logits[real()], atol=5e-6, rtol=0)
    assert_close(scores.next_sentence, expected.seq_relationship_logits, atol=2e-6, rtol=0)
    with record(ours.bert) as seen:
        ours.bert(TOKENS, SEGMENTS, LENGTHS)
    hidden = [seen["embeddings"], *seen.all("encoder.blocks.*")]
    for a, b in zip(hidden, expected.hidden_states, strict=True):
        assert_close(a[real()], b[real()], atol=2e-6, rtol=0)


def test_gradients_equal_hugging_faces(twins):
    ours, theirs = twins
    losses = []
    for words, following in (
        ours(TOKENS, SEGMENTS, LENGTHS),
        list(their_scores(theirs).values())[:2],
    ):
        losses.append(
            F.cross_entropy(words[real()], TOKENS[real()])
            + F.cross_entropy(following, torch.tensor([0, 1, 1]))
        )
    for loss in losses:
        loss.backward()
    pairs = {
        "token vectors": (
            ours.bert.embeddings.tokens.weight,
            theirs.bert.embeddings.word_embeddings.weight,
        ),
        "segments": (
            ours.bert.embeddings.segments.weight,
            theirs.bert.embeddings.token_type_embeddings.weight,
        ),
        "a query": (
            ours.bert.encoder.blocks[0].self_attention.W_Q.weight,
            theirs.bert.encoder.layer[0].attention.self.query.weight,
        ),
        "the head's layer": (
            ours.masked_words.dense.weight,
            theirs.cls.predictions.transform.dense.weight,
        ),
        "the pooler": (ours.bert.pooler.weight, theirs.bert.pooler.dense.weight),
        "next sentence": (ours.next_sentence.weight, theirs.cls.seq_relationship.weight),
    }
    for name, (a, b) in pairs.items():
        assert_close(a.grad, b.grad, atol=2e-6, rtol=1e-4, msg=lambda m, name=name: f"{name}: {m}")


def test_weights_under_the_older_names_are_read(twins):
    """Files that were written when two of the tables were no `nn.Embedding`."""
    ours, _ = twins
    older = {"embeddings.positions.weight": "embeddings.positions.positions"}
    older |= {"embeddings.segments.weight": "embeddings.segments"}
    state = {older.get(name, name): tensor for name, tensor in ours.bert.state_dict().items()}
    fresh = Bert(ours.config).eval()
    fresh.load_state_dict(state)
    assert_close(fresh(TOKENS, SEGMENTS).hidden, ours.bert(TOKENS, SEGMENTS).hidden)
    assert set(older.values()) < state.keys(), "the caller's names stay"
    del state["embeddings.segments"]
    with pytest.raises(RuntimeError, match=r'Missing key.*"embeddings.segments.weight"'):
        fresh.load_state_dict(state)


def test_scores_at_some_positions_are_those_of_all(twins):
    ours, _ = twins
    at = torch.rand(TOKENS.shape) < 0.3
    assert_close(
        ours(TOKENS, SEGMENTS, LENGTHS, at).words, ours(TOKENS, SEGMENTS, LENGTHS).words[at]
    )


@pytest.mark.parametrize(("n_layers", "kept"), [(1, [0]), (5, [0, 2, 4]), (6, [0, 2, 4])])
def test_every_other_layer_is_kept_and_the_teacher_stays_whole(n_layers, kept):
    config = BertConfig(50, d_model=16, n_layers=n_layers, n_heads=4, d_ff=32, max_len=12)
    teacher = BertForPreTraining(config).eval()
    student = every_other_layer(teacher)
    assert student.config.n_layers == student.bert.config.n_layers == len(kept)
    state = teacher.state_dict()
    for name, tensor in student.state_dict().items():
        if name.startswith("bert.encoder.blocks."):
            _, _, _, own, part = name.split(".", 4)
            name = f"bert.encoder.blocks.{kept[int(own)]}.{part}"
        assert torch.equal(tensor, state[name]), name
        assert tensor.data_ptr() != state[name].data_ptr(), name
    assert len(teacher.bert.encoder.blocks) == teacher.config.n_layers == n_layers
    with torch.no_grad():
        x = teacher.bert.embeddings(TOKENS)
        for i in kept:
            x = teacher.bert.encoder.blocks[i](x)
        assert_close(student.bert(TOKENS).hidden, x)


@pytest.mark.parametrize(
    ("config", "parameters"),
    [
        (BertConfig.BASE, 109_482_240),
        (BertConfig.LARGE, 335_141_888),
        (BertConfig.MINILM, 22_713_216),
    ],
)
def test_published_sizes(config, parameters):
    with torch.device("meta"):
        assert sum(p.numel() for p in Bert(config).parameters()) == parameters


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
def test_minilm_equals_hugging_face(dtype, tolerance):
    from transformers import BertModel

    folder = minilm.checkpoint()
    ours = Bert.from_pretrained(folder).to(dtype)
    theirs = BertModel.from_pretrained(folder, attn_implementation="eager").to(dtype).eval()
    tokens = torch.randint(1000, 20_000, (2, 20))
    mask = torch.ones(2, 20, dtype=torch.long)
    mask[1, 13:] = 0
    with torch.no_grad():
        with record(ours) as seen:
            encoded = ours(tokens, lengths=mask.sum(dim=1))
        expected = theirs(
            tokens, attention_mask=mask, output_hidden_states=True, output_attentions=True
        )
    hidden = [seen["embeddings"], *seen.all("encoder.blocks.*")]
    assert len(hidden) == len(expected.hidden_states) == 7
    for a, b in zip(hidden, expected.hidden_states, strict=True):
        assert_close(a[mask.bool()], b[mask.bool()], atol=tolerance, rtol=0)
    for i, weights in enumerate(expected.attentions):
        ours_weights = seen[f"encoder.blocks.{i}.self_attention.weights"]
        assert_close(ours_weights[0], weights[0], atol=tolerance, rtol=0)
    assert_close(encoded.pooled, expected.pooler_output, atol=tolerance, rtol=0)


@pytest.mark.parametrize("name", ["Bert", "BertForPreTraining"])
def test_a_checkpoint_of_ours_loads_in_transformers_and_back_bit_for_bit(tmp_path, name):
    import transformers

    kind = {"Bert": Bert, "BertForPreTraining": BertForPreTraining}[name]
    config = BertConfig(50, 16, 2, 4, 32, max_len=12)
    ours = kind(config).eval()
    ours.save_pretrained(tmp_path / "ours")
    theirs = (
        getattr(transformers, name.replace("Bert", "BertModel") if name == "Bert" else name)
        .from_pretrained(tmp_path / "ours")
        .eval()
    )
    theirs.save_pretrained(tmp_path / "theirs")
    back = kind.from_pretrained(tmp_path / "theirs")
    assert back.config == config
    assert ours.state_dict().keys() == back.state_dict().keys()
    for key, tensor in ours.state_dict().items():
        assert torch.equal(tensor, back.state_dict()[key]), key
    scores, expected = ours(TOKENS, SEGMENTS, LENGTHS), their_scores(theirs)
    index = 0 if name == "Bert" else slice(None)
    assert_close(
        scores[0][real()][index], next(iter(expected.values()))[real()][index], atol=2e-6, rtol=0
    )


def test_first_checkpoints_spell_gamma_and_beta(tmp_path):
    their_model().save_pretrained(tmp_path)
    right = BertForPreTraining.from_pretrained(tmp_path).state_dict()
    weights = load_file(tmp_path / "model.safetensors")
    old = {
        k.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ): v
        for k, v in weights.items()
    }
    assert old.keys() != weights.keys()
    save_file(old, tmp_path / "model.safetensors")
    for name, tensor in BertForPreTraining.from_pretrained(tmp_path).state_dict().items():
        assert torch.equal(tensor, right[name])


def test_padding_changes_nothing():
    model = Bert(BertConfig.TINY).eval()
    tokens = torch.randint(0, 1500, (1, 6))
    padded = F.pad(tokens, (0, 5), value=3)
    assert_close(model(padded, lengths=torch.tensor([6])).hidden[:, :6], model(tokens).hidden)


def test_it_reads_both_ways_and_knows_order_and_segments():
    model = Bert(BertConfig.TINY).eval()
    tokens = torch.arange(5, 11)[None]
    other_end = tokens.clone()
    other_end[0, -1] = 99
    assert not torch.allclose(model(tokens).hidden[0, 0], model(other_end).hidden[0, 0])
    assert not torch.allclose(model(tokens.flip(1)).hidden.flip(1), model(tokens).hidden)
    two = torch.tensor([[0, 0, 0, 1, 1, 1]])
    assert not torch.allclose(model(tokens, two).hidden, model(tokens).hidden)


@pytest.mark.usefixtures("shapes_unchecked")
@pytest.mark.parametrize(
    ("tokens", "segments", "message"),
    [
        (torch.zeros(1, 513, dtype=torch.long), None, "513 tokens, but positions for only 512"),
        (
            torch.tensor([[1, 2, 3]]),
            torch.tensor([[0, 1, 2]]),
            r"segment id 2 \(row 0, position 2\): this model has segments 0 to 1",
        ),
        (
            torch.tensor([[1, 2, 3]]),
            torch.tensor([[0, 1]]),
            r"tokens are \(1, 3\), segments \(1, 2\)",
        ),
        (
            torch.tensor([[1, 200]]),
            None,
            r"token id 200 \(row 0, position 1\) is not among the vocabulary's 100",
        ),
        (torch.zeros(1, 0, dtype=torch.long), None, "the sentences are empty"),
    ],
)
def test_bad_input_is_refused_with_the_numbers(tokens, segments, message):
    model = Bert(BertConfig(100, 16, 1, 4, 32))
    with pytest.raises(ValueError, match=message):
        model(tokens, segments)


def test_checkpoints_that_do_not_fit_are_refused_and_named(tmp_path):
    theirs = their_model()
    theirs.save_pretrained(tmp_path)
    weights, config = (
        load_file(tmp_path / "model.safetensors"),
        json.loads((tmp_path / "config.json").read_text()),
    )
    save_file(
        weights | {"bert.encoder.strange.weight": torch.zeros(1)}, tmp_path / "model.safetensors"
    )
    with pytest.raises(
        ValueError, match=r"1 tensors that the key map does not know: encoder\.strange\.weight"
    ):
        BertForPreTraining.from_pretrained(tmp_path)
    save_file(
        {k: v for k, v in weights.items() if "seq_relationship" not in k},
        tmp_path / "model.safetensors",
    )
    with pytest.raises(ValueError, match=r"next_sentence\.weight is missing"):
        BertForPreTraining.from_pretrained(tmp_path)
    Bert.from_pretrained(tmp_path)  # the body needs no heads
    whole = (tmp_path / "model.safetensors").read_bytes()
    (tmp_path / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(
        ValueError, match=rf"model\.safetensors \({len(whole) // 2:,} bytes\) is damaged"
    ):
        Bert.from_pretrained(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    (tmp_path / "pytorch_model.bin").write_text("<html>Too many requests</html>")
    with pytest.raises(ValueError, match=r"pytorch_model\.bin \(\d+ bytes\) is damaged"):
        Bert.from_pretrained(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps(config | {"model_type": "roberta"}))
    with pytest.raises(ValueError, match="model_type = 'roberta'"):
        Bert.from_pretrained(tmp_path)
