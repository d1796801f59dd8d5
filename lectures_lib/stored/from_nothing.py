"""Models that began with nothing, of this book's own sizes: all of them in half precision."""

import json
from functools import cache
from pathlib import Path

from lectures_lib.data.images import GARMENTS
from lectures_lib.data.numbers import GERMAN_PARTS
from lectures_lib.data.words import SPECIAL, WordVocabulary
from lectures_lib.files import write_whole
from lectures_lib.models.bert import BertConfig, BertForPreTraining
from lectures_lib.models.language_model import LanguageModel, LanguageModelConfig
from lectures_lib.models.transformer import Transformer, TransformerConfig
from lectures_lib.models.vit import ViT, ViTConfig
from lectures_lib.stored.whole_models import FOLDER, load_halves, save_halves
from lectures_lib.tasks.translation import Translator
from lectures_lib.tokenization import BPE, WordPiece

DIRECTIONS = [("de", "en"), ("en", "de")]
DATES = [150, 6000]  # steps
NUMBER_WORDS = [160, 12_000]  # steps
LANGUAGE_MODELS = ["shakespeare", "wikitext"]


def translator(source: str = "de", target: str = "en") -> Translator:
    """A translator of image captions between German and English (`experiments/multi30k.py`):
    `translator("de", "en")(["Zwei Hunde."])`.

    Read once, shared by all who ask: copy its model before you train it.

    Raises:
        ValueError: for another direction, or a file that is damaged.
    """
    return _translator(source, target)  # `cache` would tell translator() from the same in full


@cache
def _translator(source: str, target: str) -> Translator:
    if (source, target) not in DIRECTIONS:
        raise ValueError(f"there is a translator for {DIRECTIONS}, not for {(source, target)}")
    model = load_halves(
        FOLDER / f"translator_{source}_{target}.safetensors", TransformerConfig, Transformer
    )
    return Translator(model, BPE.load(FOLDER / "translator.json"))


def save_translator(translates: Translator, source: str, target: str) -> None:
    """Write what `translator` reads. Both directions have the same subwords."""
    save_halves(translates.model, FOLDER / f"translator_{source}_{target}.safetensors")
    translates.subwords.save(FOLDER / "translator.json")


def language_model(name: str = "shakespeare") -> tuple[LanguageModel, BPE]:
    """A left-to-right language model, and its tokens (`experiments/language_models.py`).

    "shakespeare": letter by letter (its tokens are bytes), trained on Shakespeare's plays.
    "wikitext": in 4,096 subwords, trained on articles of Wikipedia (WikiText-2).

    Read once, shared by all who ask: copy the model before you train it.

    Raises:
        ValueError: for another name, or a file that is damaged.
    """
    return _language_model(name)


@cache
def _language_model(name: str) -> tuple[LanguageModel, BPE]:
    if name not in LANGUAGE_MODELS:
        raise ValueError(f"there is a language model for {LANGUAGE_MODELS}, not for {name!r}")
    model = load_halves(
        FOLDER / f"language_model_{name}.safetensors", LanguageModelConfig, LanguageModel
    )
    return model, BPE.load(FOLDER / f"language_model_{name}.json")


def save_language_model(model: LanguageModel, tokenizer: BPE, name: str) -> None:
    """Write what `language_model` reads."""
    save_halves(model, FOLDER / f"language_model_{name}.safetensors")
    tokenizer.save(FOLDER / f"language_model_{name}.json")


def dates(steps: int = 6000) -> Transformer:
    """Chapter 6's translator of dates, letter by letter, after 6,000 steps, or 150
    (`experiments/dates.py`); `lectures_lib.data.dates` has its alphabet.

    Read once, shared by all who ask: copy it before you train it.

    Raises:
        ValueError: for another number of steps, or a file that is damaged.
    """
    return _dates(steps)


@cache
def _dates(steps: int) -> Transformer:
    if steps not in DATES:
        raise ValueError(f"there is a translator of dates after {DATES} steps, not after {steps}")
    return load_halves(FOLDER / f"dates_{steps}.safetensors", TransformerConfig, Transformer)


def number_words(steps: int = 12_000) -> tuple[Transformer, WordVocabulary]:
    """Chapter 8's translator of lists of number words, from English into German, and its words:
    after 12,000 steps, or 160 of the chapter's 600 (`experiments/number_words.py`).
    `lectures_lib.data.number_tokens` cuts a list into words.

    Read once, shared by all who ask: copy it before you train it.

    Raises:
        ValueError: for another number of steps, or a file that is damaged.
    """
    return _number_words(steps)


@cache
def _number_words(steps: int) -> tuple[Transformer, WordVocabulary]:
    if steps not in NUMBER_WORDS:
        raise ValueError(
            f"there is a translator of number words after {NUMBER_WORDS} steps, not after {steps}"
        )
    model = load_halves(
        FOLDER / f"number_words_{steps}.safetensors", TransformerConfig, Transformer
    )
    kept = json.loads((FOLDER / "number_words.json").read_text(encoding="utf-8"))
    return model, WordVocabulary(kept["words"])


def save_number_words(model: Transformer, words: WordVocabulary, steps: int) -> None:
    """Write what `number_words` reads. Both models have the same words. Beside them stand the parts
    that a German number is cut into: a page that reads the file has nothing else to go by.
    """
    save_halves(model, FOLDER / f"number_words_{steps}.safetensors")
    kept = {
        "kind": "words",
        "specials": list(SPECIAL),
        "words": words.words[len(SPECIAL) :],
        "parts": GERMAN_PARTS,
    }
    text = json.dumps(kept, indent=1, ensure_ascii=False)
    write_whole(FOLDER / "number_words.json", text + "\n")


def small_bert(
    path: Path = FOLDER / "small_bert.safetensors",
) -> tuple[BertForPreTraining, WordPiece]:
    """Chapter 13's BERT of two layers after 1,000 of its 1,600 steps, and its word pieces
    (`experiments/pretraining.py --begin`). It is read anew each time, since it is there to be
    trained further.

    Raises:
        FileNotFoundError: where there is no such file.
        ValueError: for a file that is damaged.
    """
    model = load_halves(path, BertConfig, BertForPreTraining)
    return model, WordPiece.load(FOLDER / "small_bert.json")


@cache
def digits() -> ViT:
    """A ViT that reads digits of 8 × 8 pixels, drawn ones too (`experiments/drawn_digits.py`).

    Read once, shared by all who ask: copy it before you train it.

    Raises:
        ValueError: for a file that is damaged.
    """
    return load_halves(FOLDER / "digits.safetensors", ViTConfig, ViT)


@cache
def garments() -> ViT:
    """A ViT that names the garments of Fashion-MNIST, 28 × 28 pixels
    (`experiments/drawn_garments.py`).

    Read once, shared by all who ask: copy it before you train it.

    Raises:
        ValueError: for a file that is damaged.
    """
    return load_halves(
        FOLDER / "garments.safetensors", ViTConfig, lambda config: ViT(config, GARMENTS)
    )
