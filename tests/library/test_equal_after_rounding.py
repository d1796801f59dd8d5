"""What a script stores is asked again, and how often it says what it said before is written down."""

import copy
import datetime
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from lectures_lib import data, stored
from lectures_lib.decoding import beam, greedy
from lectures_lib.models.bert import BertConfig, BertForPreTraining
from lectures_lib.models.language_model import LanguageModel, LanguageModelConfig
from lectures_lib.models.transformer import Transformer, TransformerConfig
from lectures_lib.models.vit import ViT, ViTConfig
from lectures_lib.stored import from_nothing
from lectures_lib.tasks.translation import Translator
from lectures_lib.tokenization import BPE, WordPiece
from lectures_lib.training.pretraining import PreTrainingBatches
from tests.helpers.scripts import scripts

SENTENCES = ["The ferry leaves at nine.", "It carries bread.", "Nobody owns a car.", "Bells ring."]


@pytest.fixture
def script():
    """An experiment's module by its name."""
    with scripts() as load:
        yield load


def halved(model, path, config):
    """As it comes back from a file."""
    stored.save_halves(model, path)
    return stored.load_halves(path, config, type(model))


def another(model):
    """One of the same sizes that says something else."""
    other = copy.deepcopy(model)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.add_(torch.randn_like(parameter))
    return other


def test_the_same_classes(script, tmp_path):
    rounding = script("rounding")
    images = data.stack(data.load("images", "test")[:60]).images
    torch.manual_seed(0)
    model = ViT(replace(ViTConfig.DIGITS, d_model=16, n_layers=1, n_heads=2, d_ff=16)).eval()
    kept = halved(model, tmp_path / "vit.safetensors", ViTConfig)
    assert rounding.equal_labels(model, kept, images) > 0.9
    other = another(model)
    said = [model(images).argmax(-1), other(images).argmax(-1)]
    share = (said[0] == said[1]).float().mean().item()
    assert share < 1 and rounding.equal_labels(model, other, images) == pytest.approx(share)


def test_the_same_words_for_holes(script, tmp_path):
    rounding = script("rounding")
    tokenizer = WordPiece.train(SENTENCES * 3, 120)
    asked = list(
        PreTrainingBatches([SENTENCES] * 12, tokenizer, max_len=24, batch_size=4, seed=0).epoch(0)
    )
    mask_id = tokenizer.token_id("[MASK]")
    torch.manual_seed(0)
    config = BertConfig(len(tokenizer), 16, 1, 2, 16, max_len=24, init_std=0.3)
    model = BertForPreTraining(config).eval()
    holes = sum(int((batch.chosen & (batch.tokens == mask_id)).sum()) for batch in asked)
    assert len(rounding.words_for_holes(model, asked, mask_id)) == holes > 10
    kept = halved(model, tmp_path / "bert.safetensors", BertConfig)
    assert rounding.equal_words(model, kept, asked, mask_id) > 0.8
    assert rounding.equal_words(model, another(model), asked, mask_id) < 0.8


def test_the_same_dates(script, monkeypatch, tmp_path):
    dates = script("dates")
    days = [datetime.date(1969, 7, day) for day in range(1, 21)]
    torch.manual_seed(0)
    model = Transformer(dates.CONFIG).eval()
    kept = halved(model, tmp_path / "dates.safetensors", TransformerConfig)
    assert dates.equal(model, kept, days) > 0.8
    # in the second spelling one letter of one day is another
    letters = {"trained": torch.ones(2, 20, 11), "kept": torch.ones(2, 20, 11)}
    letters["kept"][1, 3, 10] = 2
    monkeypatch.setattr(dates, "written", lambda model, days, spelling: letters[model][spelling])
    assert dates.equal("trained", "kept", days) == 39 / 40


def test_the_same_lists(script, monkeypatch, tmp_path):
    numbers = script("number_words")
    for module in (stored, from_nothing):
        monkeypatch.setattr(module, "FOLDER", tmp_path)
    monkeypatch.setattr(numbers, "N_TEST", 20)
    torch.manual_seed(0)
    model = numbers.new().eval()
    found = numbers.rounded(model, numbers.HALF)
    from_nothing._number_words.cache_clear()
    assert found["single"].keys() == found["stored"].keys() == set("123456")
    assert min(found["equal"].values()) >= 0.8
    assert max(numbers.equal(model, another(model)).values()) < 0.5
    assert {path.name for path in tmp_path.iterdir()} == {
        "number_words.json", f"number_words_{numbers.HALF}.safetensors"
    }  # fmt: skip


def test_the_same_next_tokens(script):
    models = script("language_models")
    torch.manual_seed(0)
    model = LanguageModel(LanguageModelConfig(20, 16, 2, 1, 16, 0.0, max_len=8)).eval()
    ids = torch.randint(20, (30,)).tolist()
    for stride in (8, 4):
        said = models.likeliest(model, ids, stride)
        assert said.shape == models.log_probabilities(model, ids, stride).shape == (29,)
    with torch.no_grad():  # token 12 is seen with those before it in its window, which begins at 4
        assert said[11] == model(torch.tensor([ids[4:12]]))[0, -1].argmax()
        log_p = model.log_probabilities(torch.tensor([ids[4:13]]))[0, -1]
    assert models.log_probabilities(model, ids, 4)[11] == pytest.approx(log_p.item(), abs=1e-5)


def test_the_same_translations(script, monkeypatch, tmp_path):
    captions = script("multi30k")
    for module in (stored, from_nothing):
        monkeypatch.setattr(module, "FOLDER", tmp_path)
    subwords = BPE.train(SENTENCES * 3, 290, captions.SPECIALS)
    config = replace(TransformerConfig.TINY, vocab_size=len(subwords), d_model=16, d_ff=16)
    torch.manual_seed(0)
    translator = Translator(Transformer(config).eval(), subwords)
    stored.save_translator(translator, "de", "en")
    before = {search.__name__: translator(SENTENCES, search) for search in (greedy, beam)}
    found = captions.rounded("de", "en", SENTENCES, SENTENCES, before)
    assert 0 <= found["stored"] <= 100 and found["equal"].keys() == {"greedy", "beam"}
    assert found["equal"]["greedy"] >= 0.5
    before["greedy"] = [before["greedy"][0], "another", "another", "another"]
    again = captions.rounded("de", "en", SENTENCES, SENTENCES, before)["equal"]
    assert again["greedy"] <= 0.25 and again["beam"] == found["equal"]["beam"]


def test_the_same_labels_and_nearly_the_same_scores(script):
    low_rank = script("low_rank")

    def setting(kind):
        return SimpleNamespace(task=SimpleNamespace(kind=kind), said=lambda model: model)

    assert low_rank.equal(setting("text"), [0, 1, 1, 0], [0, 1, 0, 0]) == {"equal": 0.75}
    tags = [["O", "B-person"], ["O"]]
    assert low_rank.equal(setting("words"), tags, [["O", "O"], ["O"]]) == {"equal": 0.5}
    found = low_rank.equal(setting("score"), [1.0, 2.0], [1.25, 1.5])
    assert found == {"largest_difference": 0.5}
