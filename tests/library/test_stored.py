"""Models that come with the package: what rounding costs them, and that they can be read
anywhere.
"""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
import torch
from safetensors.torch import load_file, save_file

from lectures_lib import stored
from lectures_lib.decoding import beam, greedy
from lectures_lib.models.bert import BertConfig, BertForPreTraining
from lectures_lib.models.transformer import Transformer, TransformerConfig
from lectures_lib.stored import differences, met_words
from lectures_lib.training.pretraining import fill_mask

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def pair():
    torch.manual_seed(0)
    before = {"matrix": torch.randn(6, 8), "bias": torch.randn(8), "untouched": torch.randn(3)}
    after = {name: tensor + 0.01 * torch.randn_like(tensor) for name, tensor in before.items()} | {
        "untouched": before["untouched"].clone()
    }
    return before, after


@pytest.mark.parametrize("bits", [8, 4])
def test_a_difference_is_rounded_to_half_a_step_of_its_row(pair, bits):
    before, after = pair
    kept = differences.packed(before, after, {"matrix": bits})
    made = differences.added(before, kept)
    step = (after["matrix"] - before["matrix"]).abs().amax(dim=1, keepdim=True) / (
        2 ** (bits - 1) - 1
    )
    assert ((made["matrix"] - after["matrix"]).abs() <= 0.51 * step).all()
    assert (made["bias"] - after["bias"]).abs().max() < 1e-4
    assert made["untouched"] is before["untouched"]
    assert kept[f"matrix.{bits}bit"].element_size() * kept[f"matrix.{bits}bit"].numel() == 6 * bits


def test_a_task_that_nobody_learned():
    with pytest.raises(ValueError, match="no task named 'digits'; there are: sentiment, entities"):
        stored.adapted("digits")


def test_every_model_that_the_package_has_is_named():
    written_here = {
        name
        for room in vars(stored).values()
        if isinstance(room, ModuleType) and room.__name__.startswith(stored.__name__)
        for name, thing in vars(room).items()
        if callable(thing) and thing.__module__ == room.__name__
        if not name.startswith("_") and room not in (differences, met_words)  # no models
    }
    assert written_here | {"added", "packed"} <= set(stored.__all__)
    assert {"fill_mask", "adapted", "translator", "load_halves"} <= written_here


def test_four_bits_are_two_in_a_byte():
    numbers = torch.tensor([[-7, 7, 0, 3], [1, -1, -4, 5]], dtype=torch.int8)
    halves = differences.in_halves(numbers)
    assert halves.shape == (2, 2) and halves.dtype == torch.uint8
    assert torch.equal(differences.out_of_halves(halves), numbers)


def test_a_row_that_did_not_change_is_as_before(pair):
    before, after = pair
    after["matrix"][2] = before["matrix"][2]
    for bits in (8, 4):
        made = differences.added(before, differences.packed(before, after, {"matrix": bits}))
        assert torch.equal(made["matrix"][2], before["matrix"][2])


def test_the_model_that_fills_holes_knows_words():
    model, tokenizer = stored.fill_mask()
    for text, word in (
        ("The capital of France is [MASK].", "paris"),
        ("She went to the bank to deposit her [MASK].", "money"),
    ):
        assert word in [guess.token for guess in fill_mask(model, tokenizer, text, k=10)[0]]
    assert not model.training and stored.fill_mask()[0] is model


def test_a_model_that_is_being_trained_fills_no_holes():
    """Its dropout would make other guesses in every call."""
    model, tokenizer = stored.small_bert()
    with pytest.raises(ValueError, match=r"training mode.* call model\.eval\(\)"):
        fill_mask(model.train(), tokenizer, "A [MASK] word.")


def test_it_leaves_chance_as_it_was():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    stored.minilm_below_zeros()
    assert torch.equal(torch.rand(3), expected)


def test_heads_begin_at_zero_whatever_chance_gives():
    """A difference to something drawn at random would be another model as soon as torch draws
    otherwise.
    """
    torch.manual_seed(1)
    first = stored.minilm_below_zeros().state_dict()
    heads = [tensor for name, tensor in first.items() if not name.startswith("bert.")]
    assert len(heads) == 7 and not any(tensor.any() for tensor in heads)
    assert all(
        torch.equal(tensor, first[name])
        for name, tensor in stored.minilm_below_zeros().state_dict().items()
    )


def test_the_small_bert_is_past_its_plateau_and_anybodys_to_train():
    model, tokenizer = stored.small_bert()
    guesses = fill_mask(model, tokenizer, "The argument must [MASK] a string.", k=6)[0]
    assert "be" in [guess.token for guess in guesses]
    assert model.config.vocab_size == len(tokenizer) == 1000
    with torch.no_grad():
        model.bert.embeddings.tokens.weight.zero_()
    assert stored.small_bert()[0].bert.embeddings.tokens.weight.any()


def test_a_damaged_small_bert_is_refused(tmp_path):
    path = tmp_path / "small_bert.safetensors"
    path.write_bytes((stored.FOLDER / "small_bert.safetensors").read_bytes()[:1000])
    with pytest.raises(ValueError, match="is damaged"):
        stored.small_bert(path)


def test_half_precision_comes_back(tmp_path):
    config = replace(TransformerConfig.TINY, vocab_size=20, pre_norm=True)
    model, path = Transformer(config), tmp_path / "model.safetensors"
    stored.save_halves(model, path)
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    back = stored.load_halves(path, TransformerConfig, Transformer)
    assert torch.equal(torch.rand(3), expected) and back.config == config and not back.training
    for name, tensor in back.state_dict().items():
        assert torch.equal(tensor, model.state_dict()[name].half().float()), name
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ValueError, match="is damaged"):
        stored.load_halves(path, TransformerConfig, Transformer)


def test_a_damaged_file_is_refused(tmp_path):
    path = tmp_path / "fill_mask.safetensors"
    path.write_bytes((stored.FOLDER / "fill_mask.safetensors").read_bytes()[:1000])
    with pytest.raises(ValueError, match="is damaged"):
        stored.fill_mask(path)
    tensors = load_file(stored.FOLDER / "fill_mask.safetensors")
    tensors.pop(next(name for name in tensors if name.endswith(".scale")))
    save_file(tensors, path)
    with pytest.raises(ValueError, match="is damaged"):
        stored.fill_mask(path)


@pytest.mark.parametrize(
    ("direction", "caption", "words"),
    [
        (("de", "en"), "Zwei Hunde spielen im Schnee.", {"two", "dogs", "snow"}),
        (("en", "de"), "Two dogs are playing in the snow.", {"zwei", "hunde", "schnee"}),
    ],
)
def test_the_translators_know_captions(direction, caption, words):
    translate = stored.translator(*direction)
    assert stored.translator(*direction) is translate and not translate.model.training
    for search in (greedy, beam):
        (found,) = translate([caption], search)
        assert words <= set(found.lower().strip(".").split()), found


def test_a_batch_is_translated_in_its_order_and_as_each_alone():
    translate = stored.translator("de", "en")
    captions = [
        "Ein Mann schläft.",
        "Zwei Kinder spielen mit einem roten Ball im Park.",
        "Eine Frau.",
    ]
    assert translate(captions, batch_size=2) == [translate([caption])[0] for caption in captions]


def test_another_direction_is_refused():
    with pytest.raises(ValueError, match=r"not for \('fr', 'en'\)"):
        stored.translator("fr", "en")


def test_a_model_is_read_once_whichever_way_it_is_asked_for():
    assert stored.translator() is stored.translator("de", "en")
    assert stored.translator(target="en", source="de") is stored.translator()
    assert stored.language_model() is stored.language_model(name="shakespeare")
    assert stored.dates() is stored.dates(6000)


def test_one_text_and_no_batch_are_refused():
    translate = stored.translator("de", "en")
    with pytest.raises(ValueError, match=r"got one of 11 characters; write \[text\]"):
        translate("Zwei Hunde.")
    for size in (0, -1):
        with pytest.raises(
            ValueError, match=f"batch_size must be at least 1, got batch_size = {size}"
        ):
            translate(["Zwei Hunde."], batch_size=size)


def test_an_odd_number_of_four_bits_fills_no_bytes():
    for width in (1, 3, 5):
        with pytest.raises(ValueError, match=f"an even number of columns, got {width}"):
            differences.in_halves(torch.zeros(2, width, dtype=torch.int8))


def test_the_playwright_knows_plays():
    """A line in the plays' manner, written for this test, costs far less than the same letters the
    other way round, and less than any table of pairs would take (2.5 nats a character).
    """
    model, letters = stored.language_model()
    line = "KING:\nMy lord, the night is cold, and I must hence to see thy noble father.\n"

    def nats(text):
        with torch.no_grad():
            return -model.log_probabilities(torch.tensor([letters.encode(text)])).mean().item()

    assert len(letters.encode(line)) == len(line)
    assert nats(line) < 2 < 3.5 < nats(line[::-1])


def test_another_language_model_is_refused():
    """The message lists what there is."""
    with pytest.raises(ValueError, match=r"there is a language model for .*shakespeare.*'bible'"):
        stored.language_model("bible")


def test_eight_bits_are_half_a_step_of_each_row_away(tmp_path):
    torch.manual_seed(0)
    config = BertConfig(100, 16, n_layers=2, n_heads=2, d_ff=32, max_len=20)
    model, path = BertForPreTraining(config).eval(), tmp_path / "small.safetensors"
    stored.save_eight_bits(model, path)
    made = stored.load_eight_bits(path, BertConfig, BertForPreTraining)
    assert made.config == config and not made.training
    for (name, before), after in zip(model.named_parameters(), made.parameters(), strict=True):
        largest = before.abs().amax(dim=-1, keepdim=True)
        assert ((after - before).abs() <= largest / 127 * 0.51 + 1e-6).all(), name
    halves = tmp_path / "halves.safetensors"
    stored.save_halves(model, halves)
    assert path.stat().st_size < halves.stat().st_size


def test_a_damaged_file_of_eight_bits_says_so(tmp_path):
    path = tmp_path / "damaged.safetensors"
    config = BertConfig(100, 16, n_layers=1, n_heads=2, d_ff=32, max_len=20)
    stored.save_eight_bits(BertForPreTraining(config), path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match=r"damaged\.safetensors is damaged"):
        stored.load_eight_bits(path, BertConfig, BertForPreTraining)


def test_the_encyclopedist_knows_articles():
    """A sentence in the manner of an article costs far less than the same words the other way
    round; a heading is closed as it was opened.
    """
    model, tokens = stored.language_model("wikitext")
    line = " The band released their second album in March 2004 , and toured in the United States ."

    def nats(text):
        ids = torch.tensor([tokens.encode("\n" + text)])
        with torch.no_grad():
            return -model.log_probabilities(ids).sum().item() / len(text)

    assert nats(line) < 1.1 < 1.4 < nats(" " + " ".join(reversed(line.split())))
    drawn = greedy(
        model,
        torch.tensor([tokens.encode("\n = = = Production")]),
        end=tokens.token_id("<end>"),
        max_len=6,
    )
    assert tokens.decode(drawn.sentences()[0]).startswith(" = = = \n")


# Whatever can be asked for without saying more, and what there is of those that come in several.
ASKS = """
import inspect, socket, sys

def no_network(*args, **kwargs):
    raise AssertionError("the network was asked")

socket.socket.connect = socket.getaddrinfo = no_network
from lectures_lib import stored
asked = {
    name: function
    for name, function in vars(stored).items()
    if inspect.isfunction(inspect.unwrap(function)) and not name.startswith("_")
    and function.__module__.startswith(stored.__name__)
    and not any(p.default is p.empty for p in inspect.signature(function).parameters.values())
}
for name, function in asked.items():
    assert function() is not None
    print(name)
for pair in stored.DIRECTIONS:
    stored.translator(*pair)
for name in stored.LANGUAGE_MODELS:
    stored.language_model(name)
for steps in stored.DATES:
    stored.dates(steps)
for steps in stored.NUMBER_WORDS:
    stored.number_words(steps)
print(stored.FOLDER)
"""


def test_all_of_them_load_from_the_installed_package_with_no_network_and_no_home(tmp_path):
    """Built from the working tree as pip would install it, and asked where nothing else is."""
    tree, site, home = copied_tree(tmp_path), tmp_path / "site", tmp_path / "home"
    home.mkdir()
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--no-index", "--target", site, tree], check=True, capture_output=True)
    kept = {name: os.environ[name] for name in ("PATH", "OMP_NUM_THREADS") if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-P", "-c", ASKS],
        cwd=tmp_path,
        env={**kept, "HOME": str(home), "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    *asked, folder = done.stdout.split("\n")[:-1]
    assert Path(folder).is_relative_to(site)
    assert set(asked) >= {
        "fill_mask", "small_bert", "translator", "language_model", "digits", "garments",
        "sentiment", "entities", "answers", "similarity", "dates",
        "number_words",
    }  # fmt: skip
    assert list(home.iterdir()) == []  # nothing was fetched, and nothing is kept for later


def copied_tree(folder: Path) -> Path:
    """What the package is made of, without what Python has compiled here."""
    tree = folder / "tree"
    shutil.copytree(
        ROOT / "lectures_lib", tree / "lectures_lib", ignore=shutil.ignore_patterns("__pycache__")
    )
    for name in ("pyproject.toml", "README.md", "LICENSE", "LICENSE-PROSE.md"):
        shutil.copy(ROOT / name, tree)
    return tree


PAGE = (Path(__file__).resolve().parents[2] / "book" / "models.md").read_text(encoding="utf-8")


def test_every_stored_file_has_a_card_and_every_card_stands_on_the_page():
    cards = {path: path.read_text(encoding="utf-8") for path in stored.FOLDER.glob("*.md")}
    named = "".join(text.split("\n")[2] for text in cards.values())  # below the title
    files = {path.name for path in stored.FOLDER.glob("*.safetensors")}
    assert files and {name for name in files if f"`{name}`" not in named} == set()
    assert {path.name for path in cards if f"lectures_lib/stored/{path.name}" not in PAGE} == set()


def test_the_page_says_what_the_stored_files_weigh():
    kept = [path for path in stored.FOLDER.iterdir() if path.suffix in (".safetensors", ".json")]
    weigh = sum(path.stat().st_size for path in kept) / 1e6
    (said,) = re.findall(r"All of them together weigh (\d+) MB", PAGE)
    assert abs(weigh - int(said)) < 1 and weigh < 60


def test_the_page_says_how_much_one_downloads_with_the_models_and_without(tmp_path):
    """As pip would build it, with no network; a wheel is a zip file."""
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    tree = copied_tree(tmp_path)
    subprocess.run(
        [*pip, "--no-index", "-w", tmp_path, tree], cwd=tmp_path, check=True, capture_output=True
    )
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as inside:
        models = sum(
            one.compress_size
            for one in inside.infolist()
            if one.filename.startswith("lectures_lib/stored/")
            and one.filename.endswith((".safetensors", ".json"))
        )
    weighs = wheel.stat().st_size
    said = re.search(r"the package is (\d+) MB to download, and would be (\d+) MB without", PAGE)
    assert abs(weighs / 1e6 - int(said[1])) < 1
    assert abs((weighs - models) / 1e6 - int(said[2])) < 0.5
