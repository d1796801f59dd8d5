"""Marian checkpoints in our Transformer equal Hugging Face's own model; what does not fit is
refused and named.
"""

import io
import json
import sys
import warnings

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.testing import assert_close

from lectures_lib.blocks.positions import sinusoidal_positions
from lectures_lib.decoding import greedy
from lectures_lib.models import hugging_face
from lectures_lib.models.transformer import Transformer, TransformerConfig
from lectures_lib.tasks import marian
from tests.helpers.marian_twins import SIZES, their_model


@pytest.fixture
def checkpoint(tmp_path):
    model = their_model()
    model.save_pretrained(tmp_path)
    return tmp_path, model


@torch.no_grad()
@pytest.mark.parametrize("activation", ["swish", "relu", "gelu"])
def test_equals_hugging_face(tmp_path, activation):
    theirs = their_model(activation_function=activation)
    theirs.save_pretrained(tmp_path)
    ours = marian.from_pretrained(tmp_path)
    source, target, lengths = (
        torch.randint(0, 30, (3, 9)),
        torch.randint(0, 30, (3, 7)),
        torch.tensor([9, 4, 1]),
    )
    attention_mask = (torch.arange(9) < lengths[:, None]).long()
    expected = theirs(
        input_ids=source, attention_mask=attention_mask, decoder_input_ids=target
    ).logits
    assert (ours(source, target, lengths) - expected).abs().max().item() <= 1e-5
    memory = theirs.model.encoder(input_ids=source, attention_mask=attention_mask).last_hidden_state
    for i, n in enumerate(lengths.tolist()):
        assert_close(ours.encode(source, lengths)[i, :n], memory[i, :n], atol=1e-5, rtol=1e-5)


def test_greedy_decoding_equals_generate(checkpoint):
    folder, theirs = checkpoint
    ours = marian.from_pretrained(folder)
    source, lengths = torch.randint(2, 30, (5, 8)), torch.tensor([8, 3, 5, 1, 6])
    mask = (torch.arange(8) < lengths[:, None]).long()
    expected = theirs.generate(
        source, attention_mask=mask, do_sample=False, num_beams=1, max_new_tokens=12
    )
    found = greedy(ours, source, lengths, begin=1, end=0, max_len=12)
    theirs_cut = [row[1:].tolist() for row in expected]
    assert [row[: row.index(0)] if 0 in row else row for row in theirs_cut] == found.sentences()


def test_weights_are_ready_to_use(checkpoint):
    model = marian.from_pretrained(str(checkpoint[0]))
    assert not model.training
    assert model.config == TransformerConfig(
        30,
        d_model=16,
        n_heads=4,
        n_layers=2,
        d_ff=32,
        dropout=0.1,
        max_len=24,
        activation="swish",
    )


def test_positions_of_a_model_made_without_memory_are_marians_too():
    config = marian.transformer_config({**SIZES, "dropout": 0.1})
    with torch.device("meta"):
        model = Transformer(config)
        marian.sines_first(model)
    table = sinusoidal_positions(24, 16)
    model.to_empty(device="cpu")
    assert torch.equal(
        model.positions.positions, torch.cat([table[:, 0::2], table[:, 1::2]], dim=1)
    )


def test_another_models_positions_stay_as_they_are():
    model, other = (
        Transformer(marian.transformer_config({**SIZES, "dropout": 0.1})) for _ in range(2)
    )
    other.positions = model.positions
    marian.sines_first(model)
    assert torch.equal(other.positions.positions, sinusoidal_positions(24, 16))
    assert not other.positions.state_dict() and model.positions.state_dict()


def test_positions_have_all_sines_first_and_are_saved(checkpoint):
    """A model of ours that took turns again would load them without a word, and write nonsense."""
    model = marian.from_pretrained(checkpoint[0])
    table = sinusoidal_positions(24, 16)
    assert torch.equal(model.positions.positions[:, :8], table[:, 0::2])
    assert torch.equal(model.positions.positions[:, 8:], table[:, 1::2])
    with pytest.raises(RuntimeError, match=r"Unexpected key.*positions\.positions"):
        Transformer(model.config).load_state_dict(model.state_dict())


def test_old_checkpoints_hold_copies_and_sinusoids_in_a_pickle(checkpoint):
    """As the published ones do: pytorch_model.bin, with the tied matrix four times and the
    positions.
    """
    folder, theirs = checkpoint
    expected = marian.from_pretrained(folder).state_dict()
    (folder / "model.safetensors").unlink()
    torch.save(theirs.state_dict(), folder / "pytorch_model.bin")
    assert {
        "lm_head.weight",
        "model.encoder.embed_tokens.weight",
        "model.encoder.embed_positions.weight",
    } <= set(theirs.state_dict())
    for name, tensor in marian.from_pretrained(folder).state_dict().items():
        assert torch.equal(tensor, expected[name])


def change_weights(folder, change):
    state = load_file(folder / "model.safetensors")
    change(state)
    save_file(state, folder / "model.safetensors")


def change_config(folder, **changes):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | changes))


@pytest.mark.usefixtures("shapes_unchecked")
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            lambda folder: change_weights(
                folder,
                lambda s: s.update({"model.new.weight": torch.zeros(1), "a": torch.zeros(1)}),
            ),
            r"2 tensors that the key map does not know: a, model.new.weight",
        ),
        (
            lambda folder: change_weights(
                folder, lambda s: s.pop("model.encoder.layers.1.fc1.bias")
            ),
            r"encoder.blocks.1.feed_forward.W_1.bias is missing",
        ),
        (
            lambda folder: change_config(folder, vocab_size=31),
            r"embedding.weight is \(30, 16\), the model's \(31, 16\); output_bias|output_bias "
            r".*embedding.weight is \(30, 16\)",
        ),
        (
            lambda folder: change_config(folder, encoder_layers=1, decoder_layers=1),
            r"encoder.blocks.1.* is not in the model",
        ),
        (
            lambda folder: change_config(folder, decoder_layers=5),
            r"encoder_layers = 2 but decoder_layers = 5",
        ),
        (lambda folder: change_config(folder, scale_embedding=False), r"scale_embedding = False"),
        (
            lambda folder: change_config(folder, share_encoder_decoder_embeddings=False),
            r"share_encoder_decoder_embeddings = False",
        ),
        (
            lambda folder: change_config(folder, activation_function="mish"),
            r"activation_function = 'mish'",
        ),
        (
            lambda folder: change_weights(
                folder, lambda s: s.update({"lm_head.weight": torch.zeros(30, 16)})
            ),
            r"embedding.weight, but their values differ",
        ),
    ],
)
def test_what_does_not_fit_is_named(checkpoint, damage, message):
    folder, _ = checkpoint
    damage(folder)
    with pytest.raises(ValueError, match=message):
        marian.from_pretrained(folder)


def test_missing_checkpoints_say_so(tmp_path, checkpoint):
    with pytest.raises(
        FileNotFoundError,
        match=r"'Helsinki-NLP/none-such' is no folder here, and could not be fetched",
    ):
        marian.from_pretrained("Helsinki-NLP/none-such")
    (checkpoint[0] / "model.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match=r"neither model.safetensors nor pytorch_model.bin"):
        marian.from_pretrained(checkpoint[0])


@pytest.mark.parametrize(
    "held",
    [
        ["config.json", "model.safetensors", "pytorch_model.bin"],
        ["config.json", "pytorch_model.bin"],
    ],
)
def test_what_is_fetched_from_the_hub(tmp_path, monkeypatch, held):
    """Weights once, and safetensors where there are some."""
    import huggingface_hub

    def snapshot_download(name, allow_patterns):
        for file in set(allow_patterns) & set(held):
            (tmp_path / file).touch()
        return str(tmp_path)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    assert hugging_face.checkpoint_folder("owner/name") == tmp_path
    assert sorted(path.name for path in tmp_path.iterdir()) == held[:2]


def test_rename_copies_placeholders():
    state = {"a.3.b.weight": torch.ones(1), "skip.7": torch.zeros(1)}
    assert list(
        hugging_face.rename(state, {"a.{i}.b.{kind}": "ours.{kind}.{i}"}, ["skip.{i}"])
    ) == ["ours.weight.3"]
    with pytest.raises(ValueError, match=r"does not know: axb"):
        hugging_face.rename({"axb": torch.ones(1)}, {"a.b": "c"})  # a dot is a dot


def test_a_folder_that_is_written_anew_has_no_config_while_its_weights_change(
    tmp_path, monkeypatch
):
    """A folder with a config is whole: one of before beside new weights would say it is."""
    before = {"size": 1}, {"a": torch.ones(1)}
    hugging_face.write_checkpoint(tmp_path, *before)

    def power_cut(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(hugging_face, "write_whole", power_cut)
    with pytest.raises(KeyboardInterrupt):
        hugging_face.write_checkpoint(tmp_path, {"size": 2}, {"a": torch.ones(2)})
    assert not (tmp_path / "config.json").exists()
    assert len(hugging_face.read_state(tmp_path)["a"]) == 2


def test_a_folder_whose_weights_could_not_be_written_is_as_before(tmp_path, monkeypatch):
    hugging_face.write_checkpoint(tmp_path, {"size": 1}, {"a": torch.ones(1)})

    def full_disk(*args, **options):
        raise OSError

    monkeypatch.setattr(hugging_face, "save_file", full_disk)
    with pytest.raises(OSError):
        hugging_face.write_checkpoint(tmp_path, {"size": 2}, {"a": torch.ones(2)})
    assert hugging_face.read_config(tmp_path) == {"size": 1}
    assert len(hugging_face.read_state(tmp_path)["a"]) == 1


# ----------------------------------------------------------------------------------- the vocabulary


ENGLISH = [
    "the cat sat on the mat",
    "a dog saw the cat",
    "the dog and the cat ran away",
    "I saw a mat and a dog on it",
]
GERMAN = [
    "die Katze saß auf der Matte",
    "ein Hund sah die Katze",
    "der Hund und die Katze liefen weg",
    "ich sah eine Matte",
]


@pytest.fixture(scope="module")
def vocabulary_folder(tmp_path_factory):
    import sentencepiece

    folder, pieces = tmp_path_factory.mktemp("vocabulary"), {}
    for name, sentences in {"source": ENGLISH, "target": GERMAN}.items():
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(sentences * 20),
            model_writer=model,
            vocab_size=40,
            hard_vocab_limit=False,
            minloglevel=2,
        )
        (folder / f"{name}.spm").write_bytes(model.getvalue())
        processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
        for i in range(3, processor.get_piece_size()):
            pieces.setdefault(processor.id_to_piece(i), None)
    ids = {piece: i for i, piece in enumerate(["</s>", "<unk>", ">>deu<<", *pieces, "<pad>"])}
    (folder / "vocab.json").write_text(json.dumps(ids))
    return folder


def test_vocabulary_equals_hugging_face(vocabulary_folder):
    from transformers import MarianTokenizer

    ours = marian.MarianVocabulary(vocabulary_folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it recommends another package
        theirs = MarianTokenizer(
            *(str(vocabulary_folder / file) for file in marian.VOCABULARY_FILES)
        )
    for text in [*ENGLISH, "", " the  cat ", ">>deu<< the cat", "a zebra!", "<< the >> cat"]:
        assert ours.encode(text) == theirs(text).input_ids
    for text in GERMAN:
        ids = theirs(text_target=text).input_ids
        assert ours.decode(ids) == text == theirs.decode(ids, skip_special_tokens=True)


def test_batch_pads_on_the_right(vocabulary_folder):
    vocabulary = marian.MarianVocabulary(vocabulary_folder)
    tokens, lengths = vocabulary.batch(["the cat", "the cat sat on the mat"])
    assert lengths.tolist() == [
        len(vocabulary.encode("the cat")),
        len(vocabulary.encode("the cat sat on the mat")),
    ]
    assert tokens.shape == (2, lengths[1])
    assert tokens[0, : lengths[0]].tolist() == vocabulary.encode("the cat")
    assert set(tokens[0, lengths[0] :].tolist()) == {vocabulary.pad}
    assert tokens[0, lengths[0] - 1] == vocabulary.end


def test_translate_runs_from_text_to_text(vocabulary_folder):
    vocabulary = marian.MarianVocabulary(vocabulary_folder)
    config = marian.transformer_config({**SIZES, "vocab_size": len(vocabulary), "dropout": 0.1})
    model = Transformer(config)
    with torch.no_grad():
        model.output_bias[vocabulary.pad] = 100.0  # the likeliest by far, and never chosen
        model.output_bias[vocabulary.end] = -100.0
    texts = marian.translate(model, vocabulary, ["the cat sat", "a dog"], width=2, max_len=6)
    assert len(texts) == 2 and all(isinstance(text, str) and text for text in texts)
    alone = marian.translate(model, vocabulary, ["a dog"], width=2, max_len=6)
    assert texts[1:] == alone


def test_vocabulary_errors(vocabulary_folder, tmp_path):
    vocabulary = marian.MarianVocabulary(vocabulary_folder)
    with pytest.raises(ValueError, match=r"token id 999 is not among the vocabulary's"):
        vocabulary.decode([3, 999])
    with pytest.raises(ValueError, match=r"no sentences"):
        vocabulary.batch([])
    with pytest.raises(
        ValueError, match=rf"the vocabulary has {len(vocabulary)} tokens, the model 1000"
    ):
        marian.translate(Transformer(TransformerConfig.TINY), vocabulary, ["the cat"])
    with pytest.raises(FileNotFoundError, match=r"source.spm, target.spm, vocab.json missing"):
        marian.MarianVocabulary(tmp_path)


def test_one_text_in_place_of_several_is_refused(vocabulary_folder):
    vocabulary = marian.MarianVocabulary(vocabulary_folder)
    with pytest.raises(ValueError, match=r"got one of 7 characters; write \[text\]"):
        vocabulary.batch("the cat")


def test_a_package_that_is_missing_is_no_file_that_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(ImportError, match="not installed here: pip install sentencepiece"):
        marian.MarianVocabulary(tmp_path)
