# %% [markdown]
# # Generating
#
# A model of the weather report writes two words. The first is "heavy", "light" or "no", the second "rain", "snow" or
# "wind", and the model says how likely each is. Which report should it give?
#
# Take the likeliest word each time: "heavy", then "rain". The whole report has probability $0.5 \cdot 0.4 = 0.20$. But
# look at the report that is framed.

# %% tags=["setup", "nbval-ignore-output"]
# Set-up: run this cell first. Where the course's library is missing (on Colab, say), it
# is installed; running the cell twice is harmless.
import importlib.util
import subprocess
import sys

REPOSITORY = "https://github.com/from-attention-to-bert/course"
if importlib.util.find_spec("lectures_lib") is None:
    pip = [sys.executable, "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, f"lectures-lib[chapters] @ git+{REPOSITORY}"], check=True)

import lectures_lib

device = lectures_lib.setup(seed=0)

# %% tags=["remove-input"]
from lectures_lib.show import drawings

drawings.draw("weather_tree")

# %% [markdown]
# "Light rain" has probability $0.4 \cdot 0.9 = 0.36$. The model itself finds it nearly twice as likely as what we
# made it say. A language model gives a distribution over the *next* word. What to say is a second decision, the
# subject of this chapter.
#
# **After this chapter you can**
#
# - write greedy decoding, sampling and beam search in a few lines each, and say when each is the right one;
# - compute by hand what temperature, top-k and top-p do to a distribution;
# - explain why beam search needs a length penalty, and why a wider beam writes shorter translations;
# - say when a beam search may stop, and find one that stops wrongly, without an error message.
#
# **Time** about 55 minutes. **You need** [chapter 6](06_decoder.ipynb).

# %% tags=["hide-input"]
import math
import re
from collections import Counter, defaultdict
from copy import deepcopy
from dataclasses import replace
from itertools import pairwise

import matplotlib.pyplot as plt
import torch
from torch.testing import assert_close

from lectures_lib import data, decoding, metrics
from lectures_lib.data import BOS, EOS
from lectures_lib.data.manual import python_manual
from lectures_lib.models.transformer import Transformer, TransformerConfig
from lectures_lib.show import plots, stepper
from lectures_lib.show.dial import SoftmaxDial
from lectures_lib.show.stepper import Stepper
from lectures_lib.training import fit, translation_loss

# %% [markdown]
# ## A translator to play with
#
# The weather report is for pencil and paper. For real decoding we take a Transformer that translates number words
# from English into German, in lists of one or two numbers below 1,000. The folded cell trains it quickly, as in
# [chapter 8](08_training.ipynb): two blocks in encoder and decoder, width 64, 500 steps. We shall use copies of the model after 100 to 200 steps, too: they are still in doubt.

# %% tags=["hide-input"]
examples = data.load("translation", counts=(1, 2))
tokens = [
    (data.number_tokens(example["en"]), data.number_tokens(example["de"]))
    for example in examples
]
vocabulary = data.WordVocabulary.build(sentence for pair in tokens for sentence in pair)
pairs = [
    (vocabulary.encode(english), vocabulary.encode(german, bos=True, eos=True))
    for english, german in tokens
]

STEPS = 500
torch.manual_seed(0)
model = Transformer(
    replace(TransformerConfig.TINY, vocab_size=len(vocabulary), d_ff=128, max_len=64)
)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
# Up in 50 steps, then down in the second half.
schedule = torch.optim.lr_scheduler.LambdaLR(
    optimizer, lambda step: min((step + 1) / 50, 1, 2 - 2 * step / STEPS)
)
copies = []


def keep(model):
    """Called every 25 steps: keep a copy of a model that is learning."""
    if len(copies) < 8:
        copies.append(deepcopy(model).eval())
    return {}


fit(
    model,
    data.Batches(pairs, data.pad_pairs, batch_size=64),
    translation_loss,
    optimizer,
    schedule,
    steps=STEPS,
    clip=1.0,
    evaluate=keep,
    evaluate_every=25,
    progress=False,
)
model.eval()
half_trained = copies[5]  # after 150 steps

# %% [markdown]
# The test examples, 150 lists of two numbers and 97 single numbers, were not in the training set.


# %% tags=["hide-input"]
def load_test(counts, size=300):
    """Sources (n, n_source), their lengths, and the right translations as words."""
    test = data.load("translation", "test", counts=counts, size=size)
    english = [vocabulary.encode(data.number_tokens(e["en"])) for e in test]
    return *data.pad(english), [data.number_tokens(e["de"]) for e in test]


def right(decoded, references):
    """The share of sentences without a mistake."""
    words = [vocabulary.decode(ids) for ids in decoded.sentences()]
    return metrics.exact_match(words, references)


texts, lengths, references = load_test((1, 2))
print(*vocabulary.decode(texts[0].tolist()), "→", *references[0])

# %% [markdown]
# ## Greedy
#
# The simplest rule is the one that went wrong above: **take the likeliest word, append it, go on**. For one sentence
# that is five lines. The model reads the source and all that is written so far, and only its last position is asked.
# How the word is picked, we leave open: `choose` is given the scores of all words and returns one.


# %%
@torch.no_grad()
def write(model, source, choose, max_len=20):
    """Word after word: token ids. `choose` picks one, given the scores of all."""
    written = [BOS]
    while len(written) <= max_len and written[-1] != EOS:
        logits = model(source, torch.tensor([written]))  # (1, n_target, vocab)
        written.append(int(choose(logits[0, -1])))
    return written[1:]


def likeliest(logits):
    """Greedy decoding's choice."""
    return logits.argmax()


# %% tags=["nbval-ignore-output"]
first_text = texts[:1, : lengths[0]]
print(*vocabulary.decode(write(model, first_text, likeliest)))

# %% [markdown]
# The library's `decoding.greedy` does this for a whole batch, until the last sentence has ended. A finished sentence
# is no longer given to the model, and its row is filled up with end tokens.

# %% tags=["atol=0.08"]
marks = {"begin": BOS, "end": EOS, "max_len": 20}
found = decoding.greedy(model, texts, lengths, **marks)
print(f"right translations: {right(found, references):.2f} of {len(references)}")

# %% tags=["remove-cell"]
assert right(found, references) > 0.9
for i, sentence in enumerate(found.sentences()[:30]):
    ours = write(model, texts[i : i + 1, : lengths[i]], likeliest)
    assert ours == [*sentence, EOS]

# %% [markdown]
# ## Step by step
#
# Each step shows the source, shaded by how much the decoder looks at each word (cross-attention of the last block,
# mean over heads), what is written so far, and the distribution of the next word.


# %% tags=["hide-input"]
def walk(model, english, title, start=None):
    """Greedy decoding of one source, as a stepper; also the looks themselves.

    The step shown first is `start`, or the one that the model is least sure of.
    """
    words = data.number_tokens(english)
    text = torch.tensor([vocabulary.encode(words)])
    found = decoding.greedy(model, text, look=4, **marks)
    said = [vocabulary.words[i] for i in found.tokens[0].tolist()]
    frames, labels = [], []
    for i, look in enumerate(found.looks):
        seen = look.attention[0, -1].mean(dim=0)  # (n_source,)
        names = [vocabulary.words[t] for t in look.candidates[0].tolist()]
        shares = dict(zip(names, look.probabilities[0].tolist(), strict=True))
        so_far = said[:i]
        frames.append(
            stepper.join(
                stepper.part("source", stepper.pieces(words, shades=seen.tolist())),
                stepper.part("so far", stepper.pieces(["<s>", *so_far])),
                stepper.part("next word", stepper.bars(shares, marked=[said[i]])),
            )
        )
        labels.append(f"Word {i + 1}: {said[i]}")
    if start is None:
        sure = [look.probabilities[0, 0].item() for look in found.looks]
        start = sure.index(min(sure))
    alt = f"{english}, translated word by word, with the distribution of each word."
    return Stepper(frames, title, labels, alt, start), found, said


# %% tags=["hide-input", "nbval-ignore-output"]
walked, found, said = walk(
    model,
    "eight hundred and twenty-five, thirty-one",
    "The translator, word by word",
    start=2,
)
walked

# %% tags=["remove-cell"]
expected = "acht hundert fünf und zwanzig , ein und dreißig </s>"
assert " ".join(said) == expected
for look in found.looks:
    assert look.probabilities[0, 0] > 0.5
    assert_close(look.attention.sum(dim=-1), torch.ones(1, 2, 4))

# %% [markdown]
# At the third word, the one shown first, the model must say "fünf" before "zwanzig", because German puts the units
# first. It looks at "five", and gives "fünf" nearly all of the probability. There is one right answer and the model
# knows it, so greedy decoding is all we need.
#
# The half-trained copy is not always so sure, and there the rule matters. Shown first is the step it is least sure
# of. (That need not be where it goes wrong: go through the words.)

# %% tags=["hide-input", "nbval-ignore-output"]
walked, found, _ = walk(
    half_trained,
    "eight hundred and twenty-five, thirty-one",
    "The half-trained copy, word by word",
)
walked

# %% tags=["remove-cell"]
assert min(look.probabilities[0, 0] for look in found.looks) < 0.9

# %% [markdown]
# ## Sampling
#
# A translation should be right. A story should also be different from the last one. So we *draw* the next word, each
# with the probability that the model gives it. To check this second way to choose, we need known distributions: the
# weather report, as a table with a row for each word written and a column for each word that may follow.


# %%
def draw(logits):
    """A word, as often as the model finds it likely."""
    return torch.multinomial(logits.softmax(dim=-1), 1)


FIRST = {"heavy": 0.5, "light": 0.4, "no": 0.1}
SECOND = {
    "heavy": {"rain": 0.40, "snow": 0.35, "wind": 0.25},
    "light": {"rain": 0.90, "snow": 0.05, "wind": 0.05},
    "no": {"rain": 0.20, "snow": 0.30, "wind": 0.50},
}
WORDS = ["<pad>", "<s>", "</s>", *FIRST, "rain", "snow", "wind"]
TABLE = torch.zeros(len(WORDS), len(WORDS))
TABLE[BOS, 3:6] = torch.tensor(list(FIRST.values()))
for first, then in SECOND.items():
    TABLE[WORDS.index(first), 6:9] = torch.tensor(list(then.values()))
TABLE[6:9, EOS] = 1.0  # after two words, the end


def weather(source, written):
    """A model without a source: each score depends on the word before."""
    return TABLE[written].log()


print(*(WORDS[i] for i in write(weather, None, likeliest)))

# %% tags=["atol=0.01"]
torch.manual_seed(0)
reports = Counter(tuple(write(weather, None, draw)[:2]) for _ in range(2000))
for first, second in (("heavy", "rain"), ("light", "rain"), ("no", "snow")):
    drawn = reports[WORDS.index(first), WORDS.index(second)] / 2000
    expected = FIRST[first] * SECOND[first][second]
    print(f"{first} {second}: probability {expected:.2f}, drawn {drawn:.3f}")

# %% [markdown]
# ### A text with many good continuations
#
# Now a model that has a choice. It is made by counting: which words followed the last *two* words in Python's manual?
# It mixes in, at 13 %, what followed the last word alone, and at 2 % any word of the manual, by its frequency,
# however little it fits. A real language model ([chapter 10](10_language_model.ipynb)) has such a tail too: tens of
# thousands of words, most of them absurd at any given place, each with a tiny probability.

# %% tags=["hide-input"]
manual = []  # the manual's sentences of 5 to 30 words, without those that hold code
for text in python_manual(docstrings=False):
    for paragraph in text.split("\n\n"):
        flat = " ".join(paragraph.split())
        pattern = r"[A-Z][a-z][^.:;()*|`=_\[\]{}\"<>+]*\.(?= |$)"
        for sentence in re.findall(pattern, flat):
            words = re.findall(r"[A-Za-z'-]+|[,.]", sentence)
            if 5 <= len(words) <= 30:
                manual.append(words)
lexicon = ["<pad>", "<s>", "</s>", *sorted({word for row in manual for word in row})]
number = {word: i for i, word in enumerate(lexicon)}
rows = [[BOS, BOS, *(number[word] for word in row), EOS] for row in manual]


# %%
class Counted:
    """What follows two words, by what followed them in the manual."""

    def __init__(self, rows):
        self.after = defaultdict(Counter)
        for row in rows:
            for i in range(2, len(row)):
                for n in (0, 1, 2):  # by the last n words
                    self.after[tuple(row[i - n : i])][row[i]] += 1
        self.after = {
            last: self.as_shares(counts) for last, counts in self.after.items()
        }

    def as_shares(self, counts):
        """The words that followed, and the share of each."""
        followed = torch.tensor(list(counts.values()))
        return torch.tensor(list(counts)), followed / followed.sum()

    def __call__(self, source, written):
        last = [BOS, *written[0].tolist()][-2:]
        shares = torch.zeros(len(lexicon))
        for n, weight in ((2, 0.85), (1, 0.13), (0, 0.02)):
            if followed := self.after.get(tuple(last[2 - n :])):
                shares[followed[0]] += weight * followed[1]
        return shares.log()[None, None]


counted = Counted(rows)


def say(choose, seed=0, n=3):
    """Sentences of the counting model."""
    torch.manual_seed(seed)
    return [write(counted, None, choose, max_len=40) for _ in range(n)]


# %% tags=["nbval-ignore-output"]
for sentence in [*say(likeliest, n=1), *say(draw)]:
    print("-", *(lexicon[i] for i in sentence[:-1]))

# %% [markdown]
# The first is greedy, the same sentence every time. The others were drawn: new sentences, made of pieces of old ones.

# %% [markdown]
# **Predict.** Each word of a drawn sentence comes, with probability 0.02 or a little more, from the tail of words that
# need not fit. A sentence has about 14 words, signs counted. How many sentences in 100 have at least one pair of
# neighbours that no sentence of the manual has: about 2, about 8, or about 20?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: about 20 -->
#
# About 20. One word in fifty looks harmless. But a sentence is spoilt by *one*, and with its end it has 15 chances:
# $1 - 0.98^{15} = 0.26$, or a little less, since a word from the tail may fit by luck and sentences differ in length.
# The tempting 2 % is the share of bad words, not of bad sentences.
#
# </details>

# %% tags=["atol=0.05"]
seen_pairs = {pair for row in rows for pair in pairwise(row)}


def spoilt(sentences):
    """The share of sentences with a pair that the manual does not have."""
    has = [
        any(pair not in seen_pairs for pair in pairwise([BOS, *sentence]))
        for sentence in sentences
    ]
    return sum(has) / len(has)


sentences = say(draw, n=400)
length = sum(len(sentence) - 1 for sentence in sentences) / 400
print(f"spoilt: {spoilt(sentences):.2f}")

# %% tags=["remove-cell"]
assert 0.13 < spoilt(sentences) < 0.28 and 12 < length < 15.5, (
    spoilt(sentences),
    length,
)

# %% [markdown]
# ### Temperature
#
# That is the flaw of pure sampling: each absurd word is unlikely, but there are many, and sooner or later one is
# drawn. So we sharpen the distribution: **divide the logits by a temperature** $T$ before the softmax. Since
# $e^{s/T} = (e^s)^{1/T}$, that raises every probability to the power $1/T$ and makes them sum to 1 again.

# %% [markdown]
# **Predict.** Three words have the shares 0.6, 0.3 and 0.1. What are they at $T = \frac12$?
#
# <details><summary>Answer</summary>
#
# 0.78, 0.20 and 0.02. The power is 2: 0.36, 0.09 and 0.01, together 0.46, and divided by that. It is tempting to double
# the likeliest, as if $T = \frac12$ meant "twice as likely"; but what doubles is the *logarithm* of a ratio. 6 to 3
# becomes 36 to 9, and 6 to 1 becomes 36 to 1. At $T = 2$ we take square roots, and all get more alike.
#
# </details>

# %%
shares = torch.tensor([0.6, 0.3, 0.1])
for temperature in (0.5, 1, 2):
    heated = (shares.log() / temperature).softmax(dim=-1)
    print(f"T = {temperature:3}:", *(f"{share:.2f}" for share in heated))

# %% [markdown]
# As $T$ goes to 0, only the largest is left, and that is greedy decoding. As $T$ grows, every word becomes equally
# likely. The **entropy**, $-\sum_i p_i \log p_i$, says how much is left to chance: 0 when one word has everything,
# $\log n$ when $n$ words are equally likely.

# %% tags=["hide-input", "nbval-ignore-output"]
NAMES = ["rain", "snow", "wind", "sun", "fog", "hail", "frogs"]
UNSURE = torch.tensor([0.30, 0.24, 0.18, 0.12, 0.09, 0.05, 0.02])
SURE = torch.tensor([0.86, 0.06, 0.03, 0.02, 0.01, 0.01, 0.01])


def entropy(shares):
    """How much is left to chance (its logarithms are natural ones)."""
    return -(shares * shares.log()).nansum(dim=-1)


heat = SoftmaxDial(
    UNSURE.log(),
    NAMES,
    by="temperature",
    least=0.1,
    most=4.0,
    title="Seven words at a temperature",
)
heat

# %% [markdown]
# ### Top-k and top-p
#
# A low temperature weakens the absurd words but forbids none. Two rules cut them off. **Top-k** keeps the $k$
# likeliest words (Fan et al., 2018). **Top-p**, or nucleus sampling, keeps the fewest words that together reach
# probability $p$ (Holtzman et al., 2020). What is kept is made to sum to 1 again. Each is a few lines:


# %%
def top_k(shares, k):
    """Keep the k largest shares (and ties with the k-th)."""
    smallest_kept = shares.topk(k).values[-1]
    kept = shares.where(shares >= smallest_kept, torch.tensor(0.0))
    return kept / kept.sum()


def top_p(shares, p):
    """Keep the fewest largest shares that sum to p or more."""
    largest_first, order = shares.sort(descending=True)
    before = largest_first.cumsum(dim=0) - largest_first  # what the likelier ones reach
    kept = torch.zeros_like(shares)
    kept[order] = largest_first.where(before < p, torch.tensor(0.0))
    return kept / kept.sum()


# %% [markdown]
# **Predict.** Two models forecast one of seven words. One is unsure: 0.30, 0.24, 0.18, 0.12, 0.09, 0.05, 0.02. The
# other is sure: 0.86, 0.06, 0.03, 0.02, 0.01, 0.01, 0.01. How many words does top-3 keep of each, and how many does
# top-p with $p = 0.8$?
#
# <details><summary>Answer</summary>
#
# Top-3 keeps three of each; it only counts. Top-p keeps four of the first (0.30 + 0.24 + 0.18 = 0.72 is too little, with
# 0.12 it is 0.84) and one of the second. The tempting answer for the second is *none*, since 0.86 already exceeds 0.8.
# But the word that *crosses* $p$ is kept, so there is always at least one.
#
# </details>

# %%
for name, shares in (("unsure", UNSURE), ("sure", SURE)):
    by_k, by_p = ((kept > 0).sum() for kept in (top_k(shares, 3), top_p(shares, 0.8)))
    print(f"{name:6}: top-3 keeps {by_k}, top-p of 0.8 keeps {by_p}")

# %% tags=["remove-cell"]
for shares in (UNSURE, SURE):
    logits = shares.log()[None]
    assert_close(top_k(shares, 3), decoding.keep_top_k(logits, 3).softmax(dim=-1)[0])
    by_library = decoding.keep_top_p(logits, 0.8).softmax(dim=-1)[0]
    assert_close(top_p(shares, 0.8), by_library)

# %% [markdown]
# Word by word, from the likeliest down. The sum so far decides for top-p, the rank for top-k:

# %% tags=["remove-input"]
drawings.draw("top_k_and_top_p")

# %% [markdown]
# Top-3 lets "wind" through where the model was sure of rain, and would cut sensible words off a longer flat
# distribution. Top-p adapts. The rules can be combined, usually in the order temperature, top-k, top-p. That is the
# whole of a sampler:


# %%
def sampler(temperature=1.0, k=None, p=None):
    """A way to choose: draw a word, after three changes to the distribution."""

    def choose(logits):
        shares = (logits / temperature).softmax(dim=-1)
        if k is not None:
            shares = top_k(shares, k)
        if p is not None:
            shares = top_p(shares, p)
        return torch.multinomial(shares, 1)

    return choose


# %% tags=["nbval-ignore-output"]
rules = {
    "greedy": likeliest,
    "T = 0.5": sampler(0.5),
    "T = 1": sampler(),
    "T = 1.5": sampler(1.5),
    "top-k of 5": sampler(k=5),
    "top-p of 0.9": sampler(p=0.9),
}
spoilt_by, variety = {}, {}
for name, choose in rules.items():
    sentences = say(choose, n=200)
    neighbours = {pair for sentence in sentences for pair in pairwise(sentence)}
    spoilt_by[name], variety[name] = spoilt(sentences), len(neighbours)
    print(f"{name:13} {variety[name]:5,} pairs of words", end="")
    print(f", spoilt {spoilt_by[name]:.2f}")

# %% tags=["nbval-ignore-output"]
mine = sampler(1.5, p=0.9)  # yours: other values of temperature, k and p
for sentence in say(mine):
    print("-", *(lexicon[i] for i in sentence[:-1]))
print(f"spoilt: {spoilt(say(mine, n=200)):.2f}")

# %% tags=["remove-cell"]
assert spoilt_by["greedy"] == 0 and 0.12 < spoilt_by["T = 1"] < 0.35
assert all(spoilt_by[name] < 0.1 for name in ("T = 0.5", "top-k of 5", "top-p of 0.9"))
assert spoilt_by["T = 1.5"] > 0.6
assert variety["greedy"] <= 40  # of one sentence, however long this manual's is
kept = {name: n / variety["T = 1"] for name, n in variety.items()}
assert kept["top-p of 0.9"] > 0.7 and 0.45 < kept["top-k of 5"] < 0.85

# %% [markdown]
# Greedy spoils nothing and has one sentence to say. Pure sampling has many, and spoils every fifth. Top-p keeps
# nearly all of that variety (the number of different pairs of neighbours), top-k of 5 two thirds of it, and both
# spoil few. ($T = 0.5$ would also do here. "Spoilt" means an unseen pair; a sentence without one need not make
# sense.)
#
# Holtzman et al. (2020) show for GPT-2 that greedy text is dull and often falls into loops, and that nucleus sampling
# mostly avoids both loops and nonsense. Against loops, programs also lower the scores of words already written (a
# *repetition penalty*). For a list of numbers that is wrong: "hundert" may well have to come twice.
#
# Back to the translator. A list of numbers has *one* right translation, so sampling can hardly win.

# %% [markdown]
# **Predict.** Greedy decoding translates at least 96 lists in 100 without a mistake. Draw every word at $T = 1$, with
# exactly the probabilities that the model has learned. How many are right: about 50, about 75, or about 95?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: about 95 -->
#
# About 95, give or take a few. The model is so sure that drawing mostly draws the likeliest word. Sampling is only as
# wild as the model is unsure. But small doubts add up: half a per cent at each of ten words costs five lists in a
# hundred.
#
# </details>

# %%
temperatures = [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0]
shares_right = {"pure": [], "top-k of 3": [], "top-p of 0.9": []}
options = ({}, {"top_k": 3}, {"top_p": 0.9})
for curve, option in zip(shares_right.values(), options, strict=True):
    for temperature in temperatures:
        option["generator"] = torch.Generator().manual_seed(0)
        drawn = decoding.sample(
            model, texts, lengths, temperature=temperature, **option, **marks
        )
        curve.append(right(drawn, references))

# %% tags=["hide-input"] mystnb={"image": {"alt": "Three curves of the share of right translations over temperature. All start near 1. Pure sampling falls steeply from temperature 1 on and is lowest at 2. Top-p of 0.9 stays up longest and then falls steeply too. Top-k of 3 begins to fall earlier, but slowly, and is highest at 2."}, "figure": {"caption": "Share of right translations over temperature, drawn from the trained model: pure sampling, top-k of 3, top-p of 0.9."}}
ax = plots.curves(
    temperatures, shares_right, xlabel="temperature", ylabel="right translations"
)
ax.set(ylim=(0, 1.05))
plt.show()

# %% tags=["remove-cell"]
by_greedy = right(decoding.greedy(model, texts, lengths, **marks), references)
pure, by_k, by_p = shares_right.values()
assert abs(pure[0] - by_greedy) < 0.03 and 0.85 < pure[3] < by_greedy
assert pure[-1] < 0.45 and by_k[-1] > pure[-1] + 0.15 and by_p[-1] > pure[-1] + 0.05
assert by_p[5] > by_k[5] + 0.01 and by_k[6] > by_p[6] + 0.1

# %% [markdown]
# Up to $T = 1$ top-k and top-p hardly differ. In this run top-p of 0.9 keeps more right than top-k of 3 at $T = 1.5$,
# and far fewer at $T = 2$: the heated distribution is so flat that it takes many words to reach 0.9, and they are all
# let in.
#
# To turn the three knobs yourself, on a model that writes plays: [Type your own](../book/your_own/writing.md#a-writer).
#
# ## Beam search
#
# Where one answer is right, we want a better search instead of chance. Back to the tree: greedy took "heavy" and
# could never come back. **Beam search** keeps the best `width` beginnings instead of one. It extends each by every
# word, and keeps the best of *all* these. Let the report go on with a third word, "today" (0.6) or "tonight" (0.4).
# Follow *heavy*, the likeliest first word:

# %% tags=["remove-input"]
drawings.draw("growing_beam")

# %% [markdown]
# Both places go to reports that grew from "light rain". The beam keeps the best of all, not the best of each branch.
# A whole branch may die.
#
# In code it is one loop. A function, `following`, tells which words may come next:


# %%
WHEN = {"today": 0.6, "tonight": 0.4}  # the third word, whatever stands before it


def following(words):
    """The next words of a weather report with their probabilities."""
    if len(words) == 2:
        return WHEN
    return SECOND[words[0]] if words else FIRST


def beam(following, width, steps):
    """The likeliest sentences found, best first: (log probability, words)."""
    beams = [(0.0, ())]
    for _ in range(steps):
        grown = [
            (score + math.log(share), (*words, word))
            for score, words in beams
            for word, share in following(words).items()
        ]
        beams = sorted(grown, reverse=True)[:width]
    return beams


for width in (1, 2, 18):
    score, words = beam(following, width, steps=3)[0]
    print(f"width {width:2}: {math.exp(score):.2f}", *words)

# %% tags=["remove-cell"]
one = decoding.beam(model, texts, lengths, width=1, **marks)
assert one.sentences() == decoding.greedy(model, texts, lengths, **marks).sentences()

# %% [markdown]
# Scores are sums of logarithms, since the product of a few hundred probabilities can be too small a number for 32
# bits. A beam of 1 is greedy decoding. A beam of 2 keeps "heavy" *and* "light" as first words and finds the best
# report. A beam of 18 keeps everything there is: it is exhaustive search and cannot miss. (Wider is not *always*
# better, though. A beam of 2 may drop a beginning that greedy follows to a good end: exercise 3.)
#
# ### The length penalty
#
# All these reports are equally long. A translation that ends early leaves the beam and waits, and in the end
# sentences of different lengths compete. That is not fair. Every further word multiplies the probability by a number
# below 1, so of two equally good translations the shorter one tends to have the larger probability. Wu et al. (2016)
# divide the log probability of a sentence of $n$ tokens by
#
# $$\mathrm{lp}(n) = \left(\frac{5 + n}{6}\right)^{\alpha}.$$


# %%
def length_penalty(n, alpha):
    """What the log probability of n tokens is divided by."""
    return ((5 + n) / 6) ** alpha


# %% [markdown]
# **Predict.** A full translation has six tokens with probability 0.85 each. A short one, which leaves most of it out,
# has two tokens with probability 0.45 together. Which one scores higher without a penalty ($\alpha = 0$), and which
# with the Transformer paper's $\alpha = 0.6$: the short one twice, the full one twice, or first the short and then
# the full one?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: first the short and then the full one -->
#
# Without, the short one: $\log 0.45 = -0.799$ against $6 \cdot \log 0.85 = -0.975$. With $\alpha = 0.6$, the full one:
# $-0.975 / 1.439 = -0.678$ against $-0.799 / 1.097 = -0.728$. The tempting slip is to think that a larger divisor means
# a lower score. The scores are negative, so a larger divisor brings them closer to 0, and up.
#
# </details>

# %%
for alpha in (0.0, 0.6, 1.0):
    full = 6 * math.log(0.85) / length_penalty(6, alpha)
    short = math.log(0.45) / length_penalty(2, alpha)
    print(f"alpha = {alpha}: full {full:.3f}, short {short:.3f}")

# %% [markdown]
# Does a beam make our translations shorter? Those of the trained model hardly, since one sentence takes nearly all of
# the probability. So we ask half-trained copies, which have doubts, for lists of two numbers. One copy may write too
# much and the next too little: we take the mean of five.

# %% tags=["nbval-ignore-output"]
two = load_test((2,), size=60)
widths = [1, 2, 4, 8]


def beams_of_copies(width, alpha):
    """Mean length in words, and share right, of five half-trained models."""
    found = [
        decoding.beam(copy, *two[:2], width=width, alpha=alpha, **marks)
        for copy in copies[3:]
    ]
    length = torch.cat([each.lengths for each in found]).float().mean().item()
    return length, sum(right(each, two[2]) for each in found) / len(found)


mean_lengths, shares_of_copies = {}, {}
for alpha in (0.0, 0.6, 1.0):
    both = [beams_of_copies(width, alpha) for width in widths]
    mean_lengths[f"α = {alpha}"], shares_of_copies[alpha] = zip(*both, strict=True)
    print(f"α = {alpha}, right:", *(f"{share:.2f}" for _, share in both))
right_length = sum(len(words) for words in two[2]) / len(two[2])

# %% tags=["hide-input"] mystnb={"image": {"alt": "Three curves of mean length over beam width, from 1 to 8, that start at one point. All fall or stay level as the beam gets wider: without penalty most, by between half a word and two words, depending on the machine, with alpha 0.6 less, with alpha 1 least. A dashed line marks the length of the right translations, a little above nine."}, "figure": {"caption": "Mean length of translations of two numbers, in words, over the width of the beam (logarithmic); mean of five half-trained copies, after 100 to 200 steps. A width of 1 is greedy decoding. Dashed: the right translations. The heights differ between machines, the order of the curves did not."}}
ax = plots.curves(widths, mean_lengths, xlabel="beam width", ylabel="mean length")
plots.reference(ax, right_length, "right translations")
ax.set(xscale="log", xticks=widths, xticklabels=widths)
ax.minorticks_off()
plt.show()

# %% tags=["remove-cell"]
without, _, full = mean_lengths.values()
assert without[-1] < without[0] - 0.25
assert without[-1] < full[-1] - 0.25
every = [share for shares in shares_of_copies.values() for share in shares]
assert max(every) - min(every) < 0.06, every


# %% [markdown]
# The wider the beam, the better it finds what the model likes best, and a half-trained model may give too much
# probability to short sentences. (How many are right, printed above, hardly changes, and which width comes nearest to the right length depends on the
# copies: the figure is about length, not about quality.)
#
# With real translators the sentences even get *worse* from some width on. Koehn and Knowles (2017) found the best
# widths between 4 and about 30, depending on the languages; Yang, Huang and Ma (2018) named this the **beam search
# curse**. Stahlberg and Byrne (2019) searched exhaustively with a Transformer: for more than half of their sentences,
# the likeliest translation of all was the empty one. A narrow beam seldom finds it, for the end token is too unlikely
# as a first word. In other words, beam search works because it does not quite find what it searches for. The
# Transformer's paper used a width of 4 and $\alpha = 0.6$, at about four times the work of greedy decoding.
#
# **Your own list**, and a beam that grows and is pruned, step by step, in your browser: [Type your
# own](../book/your_own/writing.md#a-beam). Number words are read by a half-trained model there, too ([chapter
# 8's](08_training.ipynb) after 160 of its 600 steps). What becomes of the first list with a width of 1, with 3, and
# then with an $\alpha$ of 2?
#
# ## What goes wrong
#
# ### When to stop the search
#
# When may the search end? "When `width` sentences are finished" sounds sensible, and several libraries did just that
# (xnmt until 2019).


# %%
def until_enough_ended(model, text, width=4, alpha=0.0):
    """Beam search over one source that ends when `width` sentences have ended."""
    beams, ended = [(0.0, [])], []
    for n in range(1, marks["max_len"] + 1):
        read = torch.tensor([[BOS, *sentence] for _, sentence in beams])
        logits = model(text.expand(len(beams), -1), read)[:, -1]  # of the next word
        penalty, log_probs = length_penalty(n, alpha), logits.log_softmax(dim=-1)
        totals = torch.tensor([[score] for score, _ in beams]) + log_probs
        best = totals.flatten().topk(2 * width)
        grown = []
        for place, (score, at) in enumerate(zip(*best, strict=True)):
            parent, token = divmod(int(at), logits.shape[1])
            sentence = [*beams[parent][1], token]
            if token != EOS:
                grown.append((score.item(), sentence))
            elif place < width:
                ended.append((score.item() / penalty, sentence))
        if len(ended) >= width:
            break
        beams = grown[:width]
    return max(ended)[1]


# %% [markdown]
# **Predict.** A beam of 4, no length penalty. The well-trained model writes at least 96 lists in 100 without a mistake.
# One beam ends like this; the library's goes on until no unfinished sentence is better than the finished ones. How many of 100 lists come out different: none, a few, or ten and more?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: ten and more -->
#
# Ten and more, and the beam that stops early writes the shorter ones: 22 to 41 of 100, depending on how a processor rounds (16 and 43 of two models trained with other seeds). It is tempting to think that a model that is sure loses nothing. But being sure is
# part of the trouble: one sentence has nearly all of the probability, so the other three places of the beam are
# filled with rubbish, and rubbish ends soon. When four have ended, the right one was still being written. (A
# half-trained copy is no safer in general: this page's differs in 1 to 12 lists, those of the two other seeds in 38
# and 39.)
#
# </details>

# %% tags=["nbval-ignore-output"]
differ = {}
for name, either in {"half-trained": half_trained, "well-trained": model}.items():
    with torch.no_grad():
        ours = [
            vocabulary.decode(until_enough_ended(either, text[:n]))
            for text, n in zip(texts[:100], lengths, strict=False)
        ]
    library = decoding.beam(
        either, texts[:100], lengths[:100], width=4, alpha=0.0, **marks
    )
    theirs = [vocabulary.decode(ids) for ids in library.sentences()]
    differ[name] = [(a, b) for a, b in zip(ours, theirs, strict=True) if a != b]
    shorter = sum(len(a) < len(b) for a, b in differ[name])
    print(f"{name}: {len(differ[name])} of 100 differ, {shorter} are shorter; ", end="")
    both = (metrics.exact_match(said, references[:100]) for said in (ours, theirs))
    print("right: this end {:.2f}, the library's {:.2f}".format(*both))
if differ["well-trained"]:
    cut, whole = differ["well-trained"][0]
    print("this end:", *cut)
    print("library: ", *whole)

# %% tags=["remove-cell"]
few, many = (len(pairs) for pairs in differ.values())
assert 10 <= many <= 60, (few, many)
assert shorter > 0.9 * many

# %% [markdown]
# The cure: keep the `width` best finished sentences, and go on **until there are that many and no unfinished sentence
# scores better than the worst of them**. Log probabilities only fall, so what is behind stays behind. (With a length
# penalty, `alpha` above 0, it may rise again, and this is a rule of thumb.) In `until_enough_ended`, put two lines in
# the place of one, and run both cells again:
#
# ```diff
# -         if len(ended) >= width:
# +         ended = sorted(ended, reverse=True)[:width]
# +         if len(ended) == width and grown[0][0] / penalty <= ended[-1][0]:
#               break
# ```
#
# Then nothing differs. (Why `2 * width`? Each beginning has one continuation that ends, so at least `width` of these
# go on.)
#
# **In other code.** In the library's `n_best`, which `beam` calls, it is the line `undone = undone & (…`, where
# length penalties divide the scores. In Hugging Face's `generate` the mistake is the option `early_stopping=True`,
# and the default is a version of this rule. (Tests with random weights may miss the fault: such a model is sure of
# nothing.)
#
# ## Exercises
#
# Ungraded; a solution is folded below each.
#
# **1. Three ways to be greedy.** For which `temperature`, which `k` and which `p` does `sampler` write what `likeliest`
# writes? Find one value of each, and let the counting model say three sentences with it.

# %% tags=["hide-cell"]
# Solution 1
greedy_sentence = say(likeliest, n=1)[0]
ways = {
    "T = 0.0001": sampler(1e-4),
    "k = 1": sampler(k=1),
    "p = 0.0001": sampler(p=1e-4),
}
for name, choose in ways.items():
    same = sum(sentence == greedy_sentence for sentence in say(choose))
    print(f"{name}: {same} of 3 sentences are the greedy one")
# k = 1, any p below the likeliest word's share, and T so small that near-ties are
# decided: at T = 0.01, shares that differ by one per cent are still drawn 2.7 to 1.

# %% [markdown]
# **2. The word that crosses p.** Somebody writes top-p as "keep words while the sum is at most $p$". How many words
# of the unsure and of the sure distribution does that keep at $p = 0.8$? What does `torch.multinomial` say to the
# second?


# %% tags=["hide-cell"]
# Solution 2
def careless_top_p(shares, p):
    """Keeps what stays below p, without the word that crosses it."""
    largest_first, order = shares.sort(descending=True)
    kept = torch.zeros_like(shares)
    kept[order] = largest_first.where(largest_first.cumsum(dim=0) <= p, 0.0)
    return kept


for name, shares in {"unsure": UNSURE, "sure": SURE}.items():
    print(f"{name:7} keeps {int((careless_top_p(shares, 0.8) > 0).sum())} words")
try:
    torch.multinomial(careless_top_p(SURE, 0.8), 1)
except RuntimeError as error:
    print("RuntimeError:", str(error).split(",")[0][:70])
# Here it crashes. Code that keeps at least one word does not crash; but where several
# words are needed to reach p it drops the one that crosses, and draws from less than p.

# %% [markdown]
# **3. A beam that loses to greedy.** Make up a report of three words, as a function like `following`, where a beam of 2
# ends with a *less* likely report than a beam of 1.
#
# *Hint:* after two words both places of the beam must be taken by continuations of the second-best first word.


# %% tags=["hide-cell"]
# Solution 3
def tricky(words):
    """Both children of b look better than any child of a, and lead nowhere."""
    if not words:
        return {"a": 0.40, "b": 0.36, "c": 0.24}
    if len(words) == 1:
        return {
            "a": {"x": 0.40, "y": 0.30, "z": 0.30},
            "b": {"x": 0.50, "y": 0.50},
            "c": {"x": 0.40, "y": 0.30, "z": 0.30},
        }[words[0]]
    return {"end": 1.0} if words[0] == "a" else {"end": 0.4, "stop": 0.3, "halt": 0.3}


for width in (1, 2, 3):
    score, words = beam(tricky, width, steps=3)[0]
    print(f"width {width}: {math.exp(score):.3f}", *words)

# %% [markdown]
# **4. Min-p.** A younger rule (Nguyen et al., 2024) keeps every word that is at least $m$ times as likely as the
# likeliest. Write `min_p(shares, m)`. How many words does it keep of the unsure and of the sure distribution, for $m$
# of 0.5, 0.2 and 0.05? Heat both to $T = 2$ first and count again, for min-p of 0.2 and top-p of 0.9. Which rule lets
# more in where the model was sure?


# %% tags=["hide-cell"]
# Solution 4
def min_p(shares, m):
    """Keep the words that are at least m times as likely as the likeliest."""
    kept = shares.where(shares >= m * shares.max(), torch.tensor(0.0))
    return kept / kept.sum()


def n_kept(shares):
    """How many words are left."""
    return int((shares > 0).sum())


for name, shares in {"unsure": UNSURE, "sure": SURE}.items():
    print(
        name, *(f"m = {m} keeps {n_kept(min_p(shares, m))}" for m in (0.5, 0.2, 0.05))
    )
    for temperature in (1, 2):
        heated = (shares.log() / temperature).softmax(dim=-1)
        by_min, by_top = n_kept(min_p(heated, 0.2)), n_kept(top_p(heated, 0.9))
        print(f"  T = {temperature}: min-p keeps {by_min}, top-p keeps {by_top}")
# Top-p: its share of 0.9 is spread over more words. Min-p compares with the likeliest
# word only.

# %% [markdown]
# ## Summary
#
# 1. A model gives distributions; decoding chooses. Greedy takes the likeliest word and cannot take it back.
# 2. Sampling is for text with many good continuations. Temperature sharpens or flattens, top-k and top-p cut the tail.
# 3. Beam search keeps several beginnings. It favours short sentences; a length penalty makes them longer. It must not end
#    while a better one is alive.
# 4. The likeliest sentence is not always the best one: translation models often give short ones too much probability,
#    and wide beams find them.
#
# **Homework 3**, questions 5 and 6, is about this chapter: [exercises](../exercises/hw3_training_and_generating.ipynb).
#
# **Next:** each step of our `write` has read again all that was written. It need not: [Writing with a cache](09b_cache.ipynb).
#
# ## References
#
# - Yonghui Wu et al. (2016). *Google's neural machine translation system: bridging the gap between human and machine
#   translation.* arXiv:1609.08144. Section 7: the length penalty.
# - Ilya Sutskever, Oriol Vinyals and Quoc V. Le (2014). *Sequence to sequence learning with neural networks.* NIPS. Beam
#   search for translation with networks.
# - Ashish Vaswani et al. (2017). *Attention is all you need.* NeurIPS. Section 6.1: beam of 4, α = 0.6.
# - Angela Fan, Mike Lewis and Yann Dauphin (2018). *Hierarchical neural story generation.* ACL. Top-k sampling.
# - Ari Holtzman, Jan Buys, Li Du, Maxwell Forbes and Yejin Choi (2020). *The curious case of neural text degeneration.*
#   ICLR. Top-p (nucleus) sampling.
# - Minh Nguyen et al. (2024). *Turning up the heat: min-p sampling for creative and coherent LLM outputs.*
#   arXiv:2407.01082.
# - Philipp Koehn and Rebecca Knowles (2017). *Six challenges for neural machine translation.* Workshop on Neural Machine
#   Translation. The sixth: wide beams.
# - Yilin Yang, Liang Huang and Mingbo Ma (2018). *Breaking the beam search curse: a study of (re-)scoring methods and
#   stopping criteria for neural machine translation.* EMNLP.
# - Felix Stahlberg and Bill Byrne (2019). *On NMT search errors and model errors: cat got your tongue?* EMNLP-IJCNLP.
# - *xnmt*, pull request 572 (2019), and Hugging Face *transformers*, pull request 21368 (2023): when
#   may a beam search end?
