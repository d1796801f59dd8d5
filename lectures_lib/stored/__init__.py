"""Models that were trained for hours, once, and come with the package: no network, no waiting (a
card beside each file tells how).

    model, tokenizer = stored.fill_mask()      # MiniLM, with a head that fills holes (chapter 13)
    translate = stored.translator("de", "en")  # a Transformer of two million numbers (chapter 8)
    model, letters = stored.language_model()   # a small GPT that writes plays (chapter 10)
    model = stored.dates()                     # reads dates, letter by letter (chapter 6)
    model, tokenizer = stored.small_bert()     # in the middle of its training (chapter 13)
    model, tokenizer = stored.sentiment()      # MiniLM, adapted to film reviews (chapter 14)

What began with published weights is kept as differences to them, in a few bits each: small, and of
no use without those weights. What began with nothing is kept in half precision, with its sizes.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from lectures_lib.checks.sizes import check_name
from lectures_lib.data.images import GARMENTS
from lectures_lib.files import written_whole
from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert, BertConfig, BertForPreTraining
from lectures_lib.models.bert.checkpoint import read_checkpoint, todays_name
from lectures_lib.models.language_model import LanguageModel, LanguageModelConfig
from lectures_lib.models.transformer import Transformer, TransformerConfig
from lectures_lib.models.vit import ViT, ViTConfig
from lectures_lib.stored.differences import added, packed
from lectures_lib.tasks import low_rank
from lectures_lib.tasks.task_heads import (
    Head,
    SentenceClassifier,
    SentenceRegressor,
    SpanExtractor,
    TokenTagger,
)
from lectures_lib.tasks.translation import Translator
from lectures_lib.tokenization import BPE, WordPiece

FOLDER = Path(__file__).parent
DIRECTIONS = [("de", "en"), ("en", "de")]
DATES = [150, 6000]  # steps
LANGUAGE_MODELS = ["shakespeare", "wikitext"]
TASKS = ["sentiment", "entities", "answers", "similarity"]  # that MiniLM was adapted to
DAMAGED = (SafetensorError, KeyError, RuntimeError, TypeError, ValueError)


def minilm_below_zeros() -> BertForPreTraining:
    """MiniLM's body below BERT's two heads, whose numbers are all 0; without dropout. To it the
    differences are added.
    """
    config, _ = read_checkpoint(minilm.checkpoint())
    # a model is made with random numbers: the caller's stay as they were
    with torch.random.fork_rng(devices=[]):
        model = BertForPreTraining(replace(config, dropout=0.0))
        model.bert.load_state_dict(
            Bert.from_pretrained(minilm.checkpoint(), dropout=0.0).state_dict()
        )
    with torch.no_grad():
        for head in (model.masked_words, model.next_sentence):
            for parameter in head.parameters():
                if parameter is not model.bert.embeddings.tokens.weight:
                    parameter.zero_()
    return model


@cache
def fill_mask(
    path: Path = FOLDER / "fill_mask.safetensors",
) -> tuple[BertForPreTraining, WordPiece]:
    """A small BERT that is worth asking, and its word pieces: MiniLM, trained further to fill holes
    (`experiments/fill_mask.py`).

    Read once, shared by all who ask: copy it before you train it. Its second head, for the next
    sentence, was not trained.

    Raises:
        FileNotFoundError: where MiniLM's package is not installed; the message says how to get it.
        ValueError: for a file that is damaged.
    """
    model, tokenizer = minilm_below_zeros(), WordPiece.load(minilm.checkpoint() / "vocab.txt")
    try:
        model.load_state_dict(added(model.state_dict(), named_anew(load_file(path))))
    except DAMAGED as error:
        raise ValueError(f"{path} is damaged ({error}): install the package again") from error
    return model.eval(), tokenizer


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


def named_anew(kept: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """A BERT's numbers as a file has them, those under older names under today's."""
    parts = {name: name.partition("embeddings.") for name in kept}
    return {
        before + room + todays_name(own): kept[name] for name, (before, room, own) in parts.items()
    }


def save_halves(model: nn.Module, path: Path) -> None:
    """Write a model's numbers in half precision, and its sizes beside them."""
    halves = {name: tensor.half().cpu().contiguous() for name, tensor in model.state_dict().items()}
    with written_whole(path) as draft:
        save_file(halves, draft, metadata={"config": json.dumps(asdict(model.config))})


def load_halves(
    path: Path, config: Callable[..., Any], model: Callable[[Any], nn.Module]
) -> nn.Module:
    """The model that `save_halves` wrote, in single precision and in evaluation mode.

    Args:
        path: the file.
        config: the class of its sizes.  model: makes the model of them.

    Raises:
        FileNotFoundError: where there is no such file.
        ValueError: for a file that is damaged.
    """
    return filled(path, config, model, lambda _, kept: {name: kept[name].float() for name in kept})


def save_eight_bits(model: nn.Module, path: Path) -> None:
    """Write a model's matrices in 8 bits, a scale for each row, the rest in half precision, and its
    sizes beside them: half of what `save_halves` takes. A page of the site fetches such a file.
    """
    state = {name: tensor.detach().cpu() for name, tensor in model.state_dict().items()}
    kept = packed(zeros(state), state, {name: 8 for name in state if state[name].dim() == 2})
    with written_whole(path) as draft:
        save_file(kept, draft, metadata={"config": json.dumps(asdict(model.config))})


def load_eight_bits(
    path: Path, config: Callable[..., Any], model: Callable[[Any], nn.Module]
) -> nn.Module:
    """The model that `save_eight_bits` wrote, in single precision and in evaluation mode: what the
    page computes with. Arguments and errors are those of `load_halves`.
    """
    return filled(path, config, model, lambda state, kept: added(zeros(state), kept))


def filled(
    path: Path,
    config: Callable[..., Any],
    model: Callable[[Any], nn.Module],
    numbers: Callable[[dict[str, Tensor], dict[str, Tensor]], dict[str, Tensor]],
) -> nn.Module:
    """A model of the sizes in a file, with the numbers that `numbers` makes of the model's own
    state and what the file holds. The other arguments and the errors are those of `load_halves`.
    """
    try:
        with safe_open(path, "pt") as file:
            sizes = json.loads(file.metadata()["config"])
        # None is what a size is by itself, and older files name one that is no more
        sizes = config(**{name: size for name, size in sizes.items() if size is not None})
        with torch.random.fork_rng(devices=[]):
            made = model(sizes)
        made.load_state_dict(numbers(made.state_dict(), load_file(path)))
    except DAMAGED as error:
        raise ValueError(f"{path} is damaged ({error}): install the package again") from error
    return made.eval()


def zeros(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Zeros of these shapes: a difference to them is the number itself."""
    return {name: torch.zeros_like(tensor) for name, tensor in state.items()}


@cache
def translator(source: str = "de", target: str = "en") -> Translator:
    """A translator of image captions between German and English (`experiments/multi30k.py`):
    `translator("de", "en")(["Zwei Hunde."])`.

    Read once, shared by all who ask: copy its model before you train it.

    Raises:
        ValueError: for another direction, or a file that is damaged.
    """
    if (source, target) not in DIRECTIONS:
        raise ValueError(f"there is a translator for {DIRECTIONS}, not for {(source, target)}")
    model = load_halves(
        FOLDER / f"translator_{source}_{target}.safetensors", TransformerConfig, Transformer
    )
    return Translator(model, BPE.load(FOLDER / "translator.json"))


@cache
def language_model(name: str = "shakespeare") -> tuple[LanguageModel, BPE]:
    """A left-to-right language model, and its tokens (`experiments/language_models.py`).

    "shakespeare": letter by letter (its tokens are bytes), trained on Shakespeare's plays.
    "wikitext": in 4,096 subwords, trained on articles of Wikipedia (WikiText-2).

    Read once, shared by all who ask: copy the model before you train it.

    Raises:
        ValueError: for another name, or a file that is damaged.
    """
    if name not in LANGUAGE_MODELS:
        raise ValueError(f"there is a language model for {LANGUAGE_MODELS}, not for {name!r}")
    model = load_halves(
        FOLDER / f"language_model_{name}.safetensors", LanguageModelConfig, LanguageModel
    )
    return model, BPE.load(FOLDER / f"language_model_{name}.json")


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


@cache
def dates(steps: int = 6000) -> Transformer:
    """Chapter 6's translator of dates, letter by letter, after 6,000 steps, or 150
    (`experiments/dates.py`); `lectures_lib.data.dates` has its alphabet.

    Read once, shared by all who ask: copy it before you train it.

    Raises:
        ValueError: for another number of steps, or a file that is damaged.
    """
    if steps not in DATES:
        raise ValueError(f"there is a translator of dates after {DATES} steps, not after {steps}")
    return load_halves(FOLDER / f"dates_{steps}.safetensors", TransformerConfig, Transformer)


ADAPTED: dict[str, type[Head]] = {
    head.__name__: head
    for head in (SentenceClassifier, SentenceRegressor, TokenTagger, SpanExtractor)
}


def save_adapted(model: Head, path: Path) -> None:
    """Write what an adapted model (`tasks.low_rank`) has beyond MiniLM's body, in half
    precision.

    Raises:
        ValueError: for a model that was not adapted, or whose α is not 2 r, which the file does
            not hold.
    """
    layers = low_rank.linear_layers(model.bert, low_rank.LowRank)
    if not layers:
        raise ValueError("this model was not adapted: there is nothing to keep beside its body")
    if scales := {getattr(parent, name).scale for parent, name in layers} - {2.0}:
        raise ValueError(f"a model with α = 2 r can be kept, not with α / r = {sorted(scales)}")
    kept = {name: tensor.half().contiguous() for name, tensor in low_rank.learned(model).items()}
    r = next(tensor.shape[0] for name, tensor in kept.items() if name.endswith(".A"))
    facts = {
        "head": type(model).__name__,
        "n_out": model.head.out_features,
        "names": model.names,
        "r": r,
    }
    with written_whole(path) as draft:
        save_file(kept, draft, metadata={"adapted": json.dumps(facts)})


def load_adapted(path: Path, body: Bert | None = None) -> Head:
    """The model that `save_adapted` wrote, its differences merged into MiniLM's layers: in single
    precision and in evaluation mode.

    Args:
        path: the file.
        body: MiniLM's body with other numbers, rounded ones say, which then become the model's;
            without it the published ones.

    Raises:
        FileNotFoundError: where there is no such file, or MiniLM's package is not installed; the
            message says how to get it.
        ValueError: for a file that is damaged.
    """
    body = body or Bert.from_pretrained(minilm.checkpoint(), dropout=0.0)
    try:
        with safe_open(path, "pt") as file:
            facts = json.loads(file.metadata()["adapted"])
        # a model is made with random numbers: the caller's stay as they were
        with torch.random.fork_rng(devices=[]):
            model = ADAPTED[facts["head"]](body, **_options(facts))
            low_rank.adapt(model, facts["r"])
        kept = {name: tensor.float() for name, tensor in load_file(path).items()}
        if kept.keys() != low_rank.learned(model).keys():
            raise ValueError("other layers are adapted than there are")
        model.load_state_dict(kept, strict=False)
    except DAMAGED as error:
        raise ValueError(f"{path} is damaged ({error}): install the package again") from error
    low_rank.merge(model)
    return model.eval()


def _options(facts: dict[str, Any]) -> dict[str, Any]:
    """What the heads differ in when they are made."""
    if facts["head"] in (SpanExtractor.__name__, SentenceRegressor.__name__):
        return {}
    named = {"names": facts["names"]} if facts["names"] else {}
    return {"n_classes": facts["n_out"]} | named


@cache
def adapted(task: str) -> tuple[Head, WordPiece]:
    """MiniLM adapted to one of the TASKS, and its word pieces (`experiments/low_rank.py`).

    Read once, shared by all who ask: copy the model before you train it.

    Raises:
        FileNotFoundError: where MiniLM's package is not installed; the message says how to get it.
        ValueError: for another task, or a file that is damaged.
    """
    check_name("task", task, TASKS)
    model = load_adapted(FOLDER / f"{task}.safetensors")
    return model, WordPiece.load(minilm.checkpoint() / "vocab.txt")


def sentiment() -> tuple[Head, WordPiece]:
    """Tells praise (1) from complaint (0), learned from phrases of film reviews (SST-2)."""
    return adapted("sentiment")


def entities() -> tuple[Head, WordPiece]:
    """Finds names in short messages (WNUT-17)."""
    return adapted("entities")


def answers() -> tuple[Head, WordPiece]:
    """Points at the answer to a question in a text (SQuAD)."""
    return adapted("answers")


def similarity() -> tuple[Head, WordPiece]:
    """Says from 0 to 5 how much two sentences mean the same (STS-B)."""
    return adapted("similarity")


def save_language_model(model: LanguageModel, tokenizer: BPE, name: str) -> None:
    """Write what `language_model` reads."""
    save_halves(model, FOLDER / f"language_model_{name}.safetensors")
    tokenizer.save(FOLDER / f"language_model_{name}.json")


def save_translator(translates: Translator, source: str, target: str) -> None:
    """Write what `translator` reads. Both directions have the same subwords."""
    save_halves(translates.model, FOLDER / f"translator_{source}_{target}.safetensors")
    translates.subwords.save(FOLDER / "translator.json")


__all__ = [
    "FOLDER",
    "TASKS",
    "adapted",
    "added",
    "answers",
    "dates",
    "digits",
    "entities",
    "fill_mask",
    "filled",
    "garments",
    "language_model",
    "load_adapted",
    "load_eight_bits",
    "load_halves",
    "minilm_below_zeros",
    "named_anew",
    "packed",
    "save_adapted",
    "save_eight_bits",
    "save_halves",
    "save_language_model",
    "save_translator",
    "sentiment",
    "similarity",
    "small_bert",
    "translator",
    "zeros",
]
