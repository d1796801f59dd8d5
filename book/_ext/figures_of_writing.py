"""Translators and a writer at work: figures of the page "Type your own" (type_your_own.py)."""

from functools import cache

import torch
from live_models import model

from lectures_lib import data, decoding, stored

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
BEAM, ALPHA = 3, 0.6  # of the beam search: width and length penalty, as in book/live/beams.js
DRAWN = {"temperature": 0.8, "topK": 1e9, "topP": 1}  # how the writer draws at first: from all


@cache
def translator() -> tuple[dict, str]:
    """The figure with the two translators; one translated sentence."""
    models = [
        {
            **model(
                "translator",
                stored.FOLDER / f"translator_{source}_{target}.safetensors",
                stored.FOLDER / "translator.json",
            ),
            "name": f"{NAMES[source]} → {NAMES[target]}",
            "language": source,
            "examples": EXAMPLES[source],
        }
        for source, target in stored.DIRECTIONS
    ]
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
    """The figure with the translators' beam search; what it finds for one sentence."""
    models = translator()[0]["models"]
    sentence, translates = EXAMPLES["de"][0], stored.translator("de", "en")
    found, _ = decoding.n_best(
        translates.model,
        torch.tensor([translates.source(sentence)]),
        width=BEAM,
        alpha=ALPHA,
        begin=data.BOS,
        end=data.EOS,
        max_len=60,
        never=(data.PAD, data.BOS),
    )
    lines = [
        f"{score:.2f}  {translates.subwords.decode(tokens.tolist(), skip_specials=True)}"
        for tokens, score in zip(found.tokens[0], found.scores[0], strict=True)
    ]
    options = {
        "title": "A beam that grows and is pruned",
        "models": models,
        "asks": [{"task": "beam", "text": sentence, "width": BEAM, "alpha": ALPHA}],
    }
    return options, "\n".join([sentence, *lines])


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
