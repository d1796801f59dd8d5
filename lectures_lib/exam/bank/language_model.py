"""The left-to-right language model (chapters 10 and 10b)."""

import math
from random import Random

import torch

from lectures_lib.exam.pictures import heads
from lectures_lib.exam.question import Drawn, Question, asked_in, shuffled

QUESTIONS: list[Question] = []
_asked = asked_in(QUESTIONS, chapter=10)


@_asked("Nats and perplexity", points=5)
def nats_and_perplexity(chance: Random) -> Drawn:
    """From nats a token to nats a character."""
    loss, characters = chance.choice([3.2, 3.6, 4.4]), chance.choice([4, 5])
    better = loss / characters < 1
    return Drawn(
        f"A language model has a loss of {loss} nats a token, and a token has {characters} "
        f"characters on average. Give its perplexity and its loss in nats a character. Another "
        f"model, with letters as tokens, has 1.0 nats. Which is better, and why must one not "
        f"compare the perplexities?",
        f"Perplexity e<sup>{loss}</sup> = {math.exp(loss):.1f} a token; {loss} / {characters} = "
        f"{loss / characters:.2f} nats a character, "
        f"{'better' if better else 'worse'} than 1.0. Perplexities count choices "
        f"among different units: {math.exp(1):.2f} among letters, {math.exp(loss):.1f} among "
        f"pieces.",
        marks=(
            (1, "the perplexity"),
            (1, "nats a character"),
            (1, "the comparison"),
            (2, "units differ"),
        ),
        wrong="The model with perplexity 2.72 is better, for its perplexity is the lower one.",
        reveals=("" if better else "It is better, but not for that reason. ")
        + "Perplexities are compared over different units; a piece is several letters.",
    )


@_asked("How many choices?", points=5)
def how_many_choices(chance: Random) -> Drawn:
    """Perplexity of a few words whose probabilities are powers of two."""
    powers = chance.choice([(1, 4, 1), (2, 3, 1), (1, 3, 5), (2, 3, 4), (2, 2, 5), (1, 1, 7)])
    mean = sum(powers) // len(powers)
    shares = ", ".join(f"1/{2**k}" for k in powers)
    choices = ", ".join(str(2**k) for k in powers)
    return Drawn(
        f"A language model gives the three words of a text the probabilities {shares}. What is the "
        f"probability of the text, what the loss a word in bits, what the perplexity? Say in one "
        f"sentence what the perplexity counts. Why is the mean of {choices} "
        f"not the answer?",
        f"1/{2 ** sum(powers):,}; {sum(powers)} bits in all, {mean} a word; perplexity "
        f"2<sup>{mean}</sup> = {2**mean}: on average the model is as unsure as if it chose among "
        f"{2**mean} equally likely words. Probabilities multiply, so it is the geometric mean that "
        f"counts; the arithmetic one, {sum(2**k for k in powers) / 3:.1f}, gives a single surprise "
        f"too much weight.",
        marks=((1, "the text's probability"), (1, "bits"), (2, "perplexity, and what it counts"),
               (1, "a geometric mean")),
        wrong=f"{sum(2**k for k in powers) / 3:.1f}, the mean number of choices.",
        reveals="The mean is taken of the choices in place of their logarithms.",
    )  # fmt: skip


@_asked("Which model leaks?", points=6, kind="choose and justify")
def which_model_leaks(chance: Random) -> Drawn:
    """Three tables of which scores move when a token is changed."""
    n = 5
    kinds = {
        "right": torch.ones(n, n).triu(),
        "no mask": torch.ones(n, n),
        "mask too wide by one": torch.ones(n, n).triu(-1),
        "no attention": torch.eye(n),
    }
    names = chance.sample(["right", "no mask", *chance.sample(list(kinds)[2:], 1)], 3)
    letters = dict(zip(names, "ABC", strict=True))
    tables = {letters[name]: kinds[name] for name in names}
    third = next(name for name in names if name not in ("right", "no mask"))
    leaks = [letters["no mask"]] + [letters[third]] * (third != "no attention")
    leaking = (
        f"Models {' and '.join(sorted(leaks))} let earlier places move"
        if len(leaks) > 1
        else f"Model {leaks[0]} lets earlier places move"
    )
    token = chance.randint(2, 4)
    moved = ", ".join(str(i) for i in range(token, n + 1))
    options = {
        f"{letters['right']} is right": letters["right"],
        f"{letters['no mask']} is right": letters["no mask"],
        f"{letters[third]} is right": letters[third],
    }
    right, *others = options
    return Drawn(
        f"In three models, of one block each, every one of five tokens was changed in turn (rows); "
        f"a bar shows that the scores at a place moved (columns). One is a left-to-right "
        f"model as it should be. Which? Which places move there when token {token} is "
        f"changed (count from 1)? What is wrong with each of the others, and what would "
        f"its training loss do?",
        f"In a left-to-right model a change moves the scores at its own place (they predict what "
        f"comes next) and after it: {moved} for token {token}. "
        f"{leaking}: there a place reads the token that it must predict, and the loss falls below "
        f"what is possible. "
        + (f"Model {letters[third]} moves one place only: no word hears of another, and the "
           f"loss stays where a table of pairs would be." if third == "no attention" else
           f"In {letters[third]} a single place too many is open, which is enough."),
        marks=((2, "the option"), (1, "the places that move"), (3, "the others, and their loss")),
        wrong=f"Model {letters['no mask']} is right: every change is noticed everywhere.",
        reveals="A change must not be noticed before its own place, where that token was to be "
        "predicted. Rows are what was changed, not who looks: a mask's table is the other way "
        "round.",
        picture=heads("which_model_leaks", tables, [str(i) for i in range(1, n + 1)],
                      "Rows: the token that was changed. Columns: the place whose scores moved."),
        **shuffled(chance, right, *others),
    )  # fmt: skip


@_asked("The verb and the nearest noun", points=7, kind="explain")
def the_verb_and_the_nearest_noun(chance: Random) -> Drawn:
    """What simple rules score on a test of agreement, and what a share allows one to say."""
    most, reach = chance.choice([1, 2, 3, 4]), chance.choice([2, 3, 4])
    share = chance.choice([0.02, 0.04, 0.49, 0.51])
    nearest = (1 + most / 2) / (most + 1)
    asked = max(most, reach) + 2
    none = "a coin, or one verb for all, would have a half. Wrong nearly every time is whoever goes"
    lost = (
        "about as much as a coin has, or one verb for all: the subject no longer decides. Whoever "
        "went by a noun in between would be wrong every time"
    )
    return Drawn(
        f"In the sentences that a model learns from, 0 to {most} nouns stand between subject and "
        f"verb, each number equally often, and every noun is singular or plural by the toss of a "
        f"coin. In the test, all nouns in between have the other number than the subject. One "
        f"rule takes the number of the noun next to the verb. How often is it right in the "
        f"sentences to learn from, and how often in the test, without a noun in between and with "
        f"some? A second rule takes the farthest noun, but sees only the last {reach} "
        f"nouns before the verb. With how many nouns in between does it fail the test, and how "
        f"often? A model is right in {share:g} of the test's sentences with {asked} nouns in "
        f"between. What does that allow you to say, and what would you change in "
        f"the sentences to learn more?",
        f"1/{most + 1} of the sentences have none in between, and of the others half are right by "
        f"luck: {nearest:.3g}. In the test always without one, never with one or more. The second "
        f"rule is right up to {reach - 1} in between, and from {reach} on it is wrong every time: "
        f"the subject is out of reach, and all that it sees has the other number. The model's "
        f"{share:g}: {none if share < 0.25 else lost}"
        + (
            " by a noun in between; by which one, the share does not say. "
            if share < 0.25
            else ". "
        )
        + "Change the number of one noun after the other, and see with which the verb changes.",
        marks=(
            (3, "the first rule: learned from, without, with"),
            (2, "the second rule"),
            (1, "what the model's share allows"),
            (1, "one noun at a time"),
        ),
        wrong="In the test the first rule is right in half of the sentences.",
        reveals="That is one who guesses. Here every noun in between is on the wrong side, and a "
        "rule that is always wrong is a rule.",
    )
