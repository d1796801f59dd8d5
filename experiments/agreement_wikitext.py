"""Was or were? The model of WikiText-2 that comes with the book, and models that count, on "the
songs of the film were" (chapter 10b).

    LECTURES_DATA=<mirror> python experiments/agreement_wikitext.py
        some minutes of one core; writes book/results/agreement_wikitext.json

Nothing was trained for this test: it asks which of two verbs a model finds likelier behind a
subject and up to three nouns between, all of the same number as the subject or all of the other
one. Subjects are half singular, half plural, and each verb is asked behind each, so that a model
that always prefers "was" has one half right. A model of n-grams sees n - 1 tokens; "the songs of
the film were" needs four words before the verb, and each further noun three more.
"""

import itertools
import random

import torch

from lectures_lib import data, results, stored
from lectures_lib.models.language_model import LanguageModel
from lectures_lib.models.ngrams import KneserNey
from lectures_lib.tokenization import BPE

NOUNS = [
    "song",
    "album",
    "member",
    "player",
    "film",
    "book",
    "ship",
    "town",
    "record",
    "battle",
    "road",
    "character",
    "episode",
    "building",
    "student",
    "team",
    "officer",
    "game",
    "artist",
    "scene",
]
PREPOSITIONS = ["of", "near", "with", "from"]
VERBS = [("is", "are"), ("was", "were"), ("has", "have")]
MOST, TESTED, ORDERS = 3, 240, (3, 5)


def sentences(between: int, other: bool) -> list[tuple[str, bool]]:
    """Beginnings up to the verb, and whether their subject is plural."""
    rng, found = random.Random(0), []
    for i in range(TESTED):
        plural = i % 2 == 1
        nouns = rng.sample(NOUNS, between + 1)
        text = f"\n The {nouns[0]}{'s' * plural}"
        for noun in nouns[1:]:
            text += f" {rng.choice(PREPOSITIONS)} the {noun}{'s' * (plural != other)}"
        found.append((text, plural))
    return found


def asked(model, tokens: BPE, between: int, other: bool) -> float:
    """The share of pairs of verbs of which the right one is likelier."""
    right = [
        (score(model, tokens, text, verbs[1]) > score(model, tokens, text, verbs[0])) == plural
        for (text, plural), verbs in itertools.product(sentences(between, other), VERBS)
    ]
    return sum(right) / len(right)


def score(model: LanguageModel | KneserNey, tokens: BPE, text: str, verb: str) -> float:
    """log P of a verb behind a text."""
    before, after = tokens.encode(text), tokens.encode(f"{text} {verb}")
    if isinstance(model, KneserNey):
        return sum(model.log_probabilities(after)[len(before) - 1 :])
    with torch.no_grad():
        return model.log_probabilities(torch.tensor([after]))[0][len(before) - 1 :].sum().item()


def main() -> None:
    """Ask the trained model and those that count."""
    trained, tokens = stored.language_model("wikitext")
    text = "".join(data.load("language_model", "train", "Salesforce/wikitext/wikitext-2-v1"))
    ids = tokens.encode(text)
    models = {f"counted_{n}": KneserNey(ids, n, trained.config.vocab_size) for n in ORDERS}
    models["trained"] = trained
    found = {
        name: {
            "other" if other else "same": {
                str(between): asked(model, tokens, between, other)
                for between in range(0 if not other else 1, MOST + 1)
            }
            for other in (False, True)
        }
        for name, model in models.items()
    }
    for name, by_kind in found.items():
        print(name, by_kind)
    found["n_asked"] = TESTED * len(VERBS)
    results.save(
        "agreement_wikitext",
        found,
        "the share of right verbs behind a subject and the nouns between, WikiText-2",
        seeds=[0],
    )


if __name__ == "__main__":
    main()
