"""Translators and a writer at work: figures of the page "Type your own" (type_your_own.py)."""

from functools import cache

import torch
from live_models import model

from lectures_lib import data, decoding, results, stored
from lectures_lib.stored import met_words

EXAMPLES = {
    "de": [
        "Zwei Hunde spielen im Schnee.",
        "Ein Mann mit Hut liest auf einer Bank die Zeitung.",
        "Die Regierung hat ein neues Gesetz verabschiedet.",
    ],
    "en": [
        "Two dogs are playing in the snow.",
        "A woman in a red dress is standing near the water.",
        "The government passed a new law.",
    ],
}
NAMES = {"de": "German", "en": "English"}
NUMBERS = [
    "one hundred and eighty-two, four hundred and four",  # greedily, the beginner goes in circles
    "three, seventeen, one hundred and two",
    "nine, nine, nine, nine, nine, nine",  # longer than what either was trained on
    "two thousand",  # a word that neither knows
]
BEAM, ALPHA = 3, 0.6  # of the beam search: width and length penalty, as in book/live/beams.js
DRAWN = {"temperature": 0.8, "topK": 1e9, "topP": 1}  # how the writer draws at first: from all


def of_captions() -> list[dict]:
    """The translators of captions, of both directions."""
    return [
        {
            **model(
                "translator",
                stored.FOLDER / f"translator_{source}_{target}.safetensors",
                stored.FOLDER / "translator.json",
            ),
            "name": f"{NAMES[source]} → {NAMES[target]}",
            "language": source,
            "examples": EXAMPLES[source],
            "layers": stored.translator(source, target).model.config.n_layers,
        }
        for source, target in stored.DIRECTIONS
    ]


def learned_from(name: str, texts: str, of: str = "", **more) -> dict:
    """What a translator learned from, as the figure says of a text what lies beyond it
    (book/live/beyond.js). `of`: these texts with their number, if it is told.
    """
    there = results.load("live_range")["results"][name]
    return {
        "of": of.format(**there) or texts,
        "longest": there["longest"],
        "rare": there["share"]["rare"],
        "heldOut": f"{there['held_out']:,} {texts.split()[-1]} that it did not learn from",
        **more,
    }


def with_range(models: list[dict]) -> list[dict]:
    """Translators of captions, with what they learned from. Which words they met is a file beside
    their weights.
    """
    found = []
    for one, (source, target) in zip(models, stored.DIRECTIONS, strict=True):
        files = (*one["files"], met_words.path_of(source))
        captions = f"{NAMES[source]} captions"
        told = learned_from(f"{source}-{target}", captions, of="{texts:,} " + captions)
        found.append({**one, **model("translator", *files), "range": told})
    return found


@cache
def range_of_numbers(steps: int) -> dict:
    """The same for a translator of number words: its words are few, and all of English."""
    there = results.load("live_range")["results"][f"numbers_{steps}"]
    read = data.number_words("train", counts=(1,), size=20_000)
    words = {word for pair in read for word in data.number_tokens(pair["en"])}
    reads = sorted(words | {","})
    return learned_from(f"numbers_{steps}", "English lists", reads=reads, numbers=there["numbers"])


def of_numbers() -> list[dict]:
    """The translators of number words: the one that was trained longer, and the beginner. Their
    words have small letters only.
    """
    half, long = stored.NUMBER_WORDS
    names = {long: "Numbers, English → German", half: f"Numbers, after {half} steps"}
    return [
        {
            **model(
                "translator",
                stored.FOLDER / f"number_words_{steps}.safetensors",
                stored.FOLDER / "number_words.json",
            ),
            "name": name,
            "language": "en",
            "examples": NUMBERS,
            "layers": stored.number_words(steps)[0].config.n_layers,
            "small": True,
            "range": range_of_numbers(steps),
        }
        for steps, name in names.items()
    ]


def translators() -> list[dict]:
    """All of them, with what they learned from."""
    return [*with_range(of_captions()), *of_numbers()]


@cache
def translator() -> tuple[dict, str]:
    """The figure with the translators; one translated sentence."""
    models = translators()
    sentence = EXAMPLES["de"][0]
    (translation,) = stored.translator("de", "en")([sentence])
    options = {
        "title": "Your sentence, translated",
        "models": models,
        "asks": [{"task": "translate", "text": sentence, "forced": []}],
    }
    return options, f"{sentence} → {translation}"


@cache
def beams() -> tuple[dict, str]:
    """The figure with the translators' beam search; what the beginner among those of numbers finds
    for one list. It comes first: it is in doubt, and a beam has something to prune.
    """
    *longer, half = of_numbers()
    (beginner, words), text = stored.number_words(stored.NUMBER_WORDS[0]), NUMBERS[0]
    found, _ = decoding.n_best(
        beginner,
        torch.tensor([words.encode(data.number_tokens(text), eos=True)]),
        width=BEAM,
        alpha=ALPHA,
        begin=data.BOS,
        end=data.EOS,
        max_len=60,
        never=(data.PAD, data.BOS),
    )
    lines = [
        f"{score:.2f}  {' '.join(words.decode(tokens.tolist()))}"
        for tokens, score in zip(found.tokens[0], found.scores[0], strict=True)
    ]
    options = {
        "title": "A beam that grows and is pruned",
        "models": [half, *longer, *with_range(of_captions())],
        "asks": [{"task": "beam", "text": text, "width": BEAM, "alpha": ALPHA}],
    }
    return options, "\n".join([text, *lines])


@cache
def writer() -> tuple[dict, str]:
    """The figure with the language model; some lines that it wrote."""
    begin = "ROMEO:\n"
    language_model, letters = stored.language_model("shakespeare")
    drawn = decoding.sample(
        language_model,
        torch.tensor([letters.encode(begin)]),
        end=letters.token_id("<end>"),
        max_len=160,
        temperature=DRAWN["temperature"],
        generator=torch.Generator().manual_seed(0),
    )
    whole_lines, _, _ = letters.decode(drawn.sentences()[0]).rpartition("\n")
    example = f"{begin}{whole_lines}\n…"
    file = stored.FOLDER / "language_model_shakespeare.safetensors"
    models = [model("language model", file, file.with_suffix(".json"))]
    options = {
        "title": "A play that you begin",
        "models": models,
        "begin": begin,
        "asks": [{"task": "next", "text": begin, "options": DRAWN}],
    }
    return options, example
