# %% [markdown]
# # Probing the layers
#
# *A light lamp is a light.* The first "light" is an adjective, the second a noun. In the middle of
# MiniLM each of the two is 384 numbers, and none of them says "noun". Yet a small classifier,
# trained on such vectors, gets the tags of 97 in 100 words right, in sentences that it has never
# seen. **Does the layer know what a noun is, or has the classifier learned it by heart? And if a
# layer knows, which one?**

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
from lectures_lib.show.drawings import draw

draw("probe_and_control")

# %% [markdown]
# **After this chapter you can**
#
# - train a linear probe on a layer, in three lines and in PyTorch;
# - draw the labels of a control task, and compute a probe's selectivity;
# - find out what the embeddings, an untrained twin, the word alone or its tag would have given;
# - mix layers with learned weights, compute differential scores, and say what they do and do not show;
# - silence a head, and measure what the model loses.
#
# **Time** about 45 minutes. **You need** chapters [12](12_bert.ipynb), [15](15_features.ipynb),
# [15b](15b_which_layers.ipynb#a-mix-of-all-layers) and [16](16_what_bert_learns.ipynb); of 15b the scalar mix is
# enough, of 16 [the ways to ask](16_what_bert_learns.ipynb#three-ways-to-ask-and-how-each-could-fool-us).

# %% tags=["hide-input"]
import copy
from collections import Counter
from itertools import pairwise

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import nn

from lectures_lib import data
from lectures_lib.analysis import probing
from lectures_lib.analysis.probing import Probed, ScalarMix
from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert, BertConfig
from lectures_lib.show import plots
from lectures_lib.tasks.word_level import word_states
from lectures_lib.tokenization import WordPiece

folder = minilm.checkpoint()
wordpiece = WordPiece.load(folder / "vocab.txt")
models = {
    "MiniLM": Bert.from_pretrained(folder),
    "untrained": Bert(BertConfig.MINILM).eval(),  # fresh weights
}
model = models["MiniLM"]

# %% [markdown]
# ## A probe in three lines
#
# Attention, which [chapter 16](16_what_bert_learns.ipynb) looked at, is only the road; what arrives
# are vectors. Does a word's vector hold its tag, and its relation to its governor? A **probe** is a
# classifier that is trained to read such labels off the vectors, while BERT stays as it is. If a
# weak probe succeeds, the vectors must have made it easy. Weak means linear here: a matrix $W$, a
# bias, a softmax.
#
# Of the 154 short sentences of chapter 16, the probes learn from 114 and are asked about 40.
# (Punctuation counts as words here, 43 of the 345 that are asked, and easy ones.)

# %%
train, validation, test = (data.load("treebank", split) for split in data.SPLITS)
learn = [*train, *validation]
print(len(learn), "sentences to learn from,", len(test), "to ask about")
for field in ("words", "upos", "relations"):
    print(f"{field:10}", *(f"{entry:9}" for entry in test[0][field]))

# %% [markdown]
# MiniLM has seven **hidden states**. State 0 is the embeddings, before any context, and state
# $\ell$ comes out of layer $\ell - 1$, since layers count from 0. We take all words' vectors in
# state 2 and let logistic regression learn the tags. Each of the 384 numbers is first scaled to
# mean 0 and variance 1 over the training words. And large weights cost something, because 384
# numbers for a thousand words leave much room for chance.


# %%
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def words_of(sentences):
    return [word for s in sentences for word in s["words"]]


def labels_of(sentences, field):
    """Every word's label, without subtypes: nmod for nmod:poss."""
    return [label.split(":")[0] for s in sentences for label in s[field]]


def states_of(model, sentences):
    """Every word's vector in every hidden state, (states, words, d_model)."""
    found = word_states(model, wordpiece, [s["words"] for s in sentences])
    return torch.cat(found, dim=1)


states = {
    name: [states_of(m, part) for part in (learn, test)] for name, m in models.items()
}
print("states, words, d_model:", tuple(states["MiniLM"][0].shape), "to learn from")

# %% tags=["atol=0.015"]
x, x_test = (part[2].numpy() for part in states["MiniLM"])  # state 2: (words, 384)
# The smaller C is, the more do large weights cost.
classify = LogisticRegression(C=50 / len(x), max_iter=1000)
probe = make_pipeline(StandardScaler(), classify).fit(x, labels_of(learn, "upos"))
told = probe.score(x_test, labels_of(test, "upos"))
print(f"tags right: {told:.2f} of {len(x_test)} words")

# %% [markdown]
# That is the whole method.
#
# ### The same in PyTorch
#
# We shall train dozens of probes, some on several states at once, so here is the same probe written
# out. It mixes states with the `ScalarMix` that you built in [chapter
# 15b](15b_which_layers.ipynb#a-mix-of-all-layers); a single state is only multiplied by $\gamma$.
# Each state is scaled on its own, so that none counts for more merely because its numbers are
# large. The optimizer, L-BFGS, sees all words at once and finds its own step sizes: no learning
# rate to choose, nothing random.


# %%
class Probe(nn.Module):
    """A linear classifier of words, on a scalar mix of their hidden states."""

    def __init__(self, n_states, d_model, n_classes):
        super().__init__()
        self.mix = ScalarMix(n_states)
        self.classify = nn.Linear(d_model, n_classes)
        nn.init.zeros_(self.classify.weight)
        nn.init.zeros_(self.classify.bias)
        self.register_buffer("centre", torch.zeros(n_states, 1, d_model))
        self.register_buffer("scale", torch.ones(n_states, 1, d_model))

    def forward(self, states):
        """(states, words, d_model) → (words, n_classes)"""
        return self.classify(self.mix((states - self.centre) / self.scale))


def fit_probe(train, n_classes, l2=1e-2, l2_mix=1e-2, steps=60):
    """A probe, trained; l2 and l2_mix: what large weights, uneven shares cost."""
    n_states, _, d_model = train.states.shape
    probe = Probe(n_states, d_model, n_classes)
    spread = train.states.std(dim=1, keepdim=True, correction=0)
    probe.centre.copy_(train.states.mean(dim=1, keepdim=True))
    probe.scale.copy_(spread.clamp(min=1e-6))
    states = (train.states - probe.centre) / probe.scale
    search = {"history_size": 10, "line_search_fn": "strong_wolfe"}
    optimizer = torch.optim.LBFGS(probe.parameters(), max_iter=steps, **search)

    def loss():
        optimizer.zero_grad()
        value = F.cross_entropy(probe.classify(probe.mix(states)), train.labels)
        # on γ W, what is really multiplied: on W alone, γ would grow and W shrink
        price = (probe.mix.gamma * probe.classify.weight).square().sum()
        value = value + l2 * price + l2_mix * probe.mix.w.square().sum()
        value.backward()
        return value

    optimizer.step(loss)
    return probe.eval()


def share_right(learned, asked, n_classes, **options):
    """The share of the asked words that a probe has right, trained on the others."""
    probe = fit_probe(learned, n_classes, **options)
    with torch.no_grad():
        said = probe(asked.states).argmax(dim=-1)
    return (said == asked.labels).float().mean().item()


tags = sorted({*labels_of(learn, "upos"), *labels_of(test, "upos")})
learned, asked = (
    Probed(x[2:3], torch.tensor([tags.index(tag) for tag in labels_of(part, "upos")]))
    for x, part in zip(states["MiniLM"], (learn, test), strict=True)
)  # `Probed`: states and labels
print(f"three lines {told:.2f}, ours {share_right(learned, asked, len(tags)):.2f}")

# %% tags=["remove-cell"]
assert abs(share_right(learned, asked, len(tags)) - told) < 0.01
pair = Probed(learned.states[:, :200], learned.labels[:200])
both = (fit(pair, len(tags), steps=3) for fit in (fit_probe, probing.fit_probe))
for ours, theirs in zip(*(probe.parameters() for probe in both), strict=True):
    assert torch.equal(ours, theirs)

# %% [markdown]
# ## A probe that learns words by heart
#
# Suppose a probe on the embeddings gets 90 % of the tags right. Do the embeddings know grammar?
# They know *words*, and a probe that has seen "the" a hundred times as a `DET` needs no more. Two
# baselines show how far this goes. The first looks at no vector at all: give each word the label
# that it had most often in training.


# %%
def by_word(words, labels, asked):
    """Each word's most frequent label; of a new word, the most frequent of all."""
    counts = {}
    for word, label in zip(words, labels, strict=True):
        counts.setdefault(word.lower(), Counter())[label] += 1
    new = Counter(labels)
    return [counts.get(w.lower(), new).most_common(1)[0][0] for w in asked]


usual = {}
for task, field in (("tag", "upos"), ("relation", "relations")):
    guess = by_word(words_of(learn), labels_of(learn, field), words_of(test))
    hits = [a == b for a, b in zip(guess, labels_of(test, field), strict=True)]
    usual[task] = sum(hits) / len(hits)
    print(f"{task:9} by word: {usual[task]:.2f} right")

# %% tags=["remove-cell"]
ids = [tags.index(tag) for tag in labels_of(learn, "upos")]
librarys = probing.most_frequent_labels(
    words_of(learn), torch.tensor(ids), words_of(test)
)
guess = by_word(words_of(learn), labels_of(learn, "upos"), words_of(test))
assert [tags[i] for i in librarys] == guess

# %% [markdown]
# The second is the **control task** (Hewitt and Liang, 2019). Give each *type*, that is, each
# different word, a random label: drawn as often as the real ones occur, and the same wherever the
# word stands. Then train the same probe to predict these labels. No vector was made to hold them,
# so what the probe gets right beyond guessing, it has learned by heart.


# %%
def control_labels(words, labels, seed=0):
    """A random label for each type, drawn from the real ones."""
    generator = torch.Generator().manual_seed(seed)
    label_of = {}  # a type's, for good
    for word in words:
        if word.lower() not in label_of:
            place = torch.randint(len(labels), (), generator=generator)
            label_of[word.lower()] = labels[place].item()
    return torch.tensor([label_of[word.lower()] for word in words])


words = ["a", "light", "lamp", "is", "a", "light"]
names = ["DET", "NOUN", "AUX", "ADJ"]
real = torch.tensor([0, 3, 1, 2, 0, 1])
drawn = control_labels(words, real, seed=7)
print("words  ", *(f"{word:5}" for word in words))
print("tags   ", *(f"{names[label]:5}" for label in real))
print("control", *(f"{names[label]:5}" for label in drawn))

# %% [markdown]
# Now we probe all seven states of MiniLM and of its untrained twin, on two tasks, each with its
# control: the tag, and the relation to the governor. (A type must keep its control label from the
# training sentences to the test sentences, so both are drawn in one call.)


# %%
def real_and_control(field, learn, test):
    """How many labels; the real ones and the control's, for both parts."""
    labels, asked = labels_of(learn, field), labels_of(test, field)
    classes = sorted({*labels, *asked})
    y = torch.tensor([classes.index(label) for label in [*labels, *asked]])
    control = control_labels(words_of(learn) + words_of(test), y)
    cuts = [len(labels), len(asked)]
    return len(classes), y.split(cuts), control.split(cuts)


tasks = {
    task: real_and_control(field, learn, test)
    for task, field in (("tag", "upos"), ("relation", "relations"))
}

# %% [markdown]
# **Predict.** There are 26 relations, and in the control task each word type has one of them by
# chance. From the embeddings, how many of these meaningless labels does a probe get right on the
# test words: a tenth, a third, or two thirds?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: two thirds -->
#
# Almost two thirds. The labels mean nothing, but a type keeps its label, the embedding tells which
# type it is, and 63 % of the test words are of a type that the probe has met in training. It has
# learned their labels by heart and gets nearly all of them right. (On types that it has not met, it
# gets no more than guessing gives, a tenth.)
#
# </details>


# %% tags=["atol=0.03"]
def each_state(states, labels, n_classes):
    """The share right by a probe on each state alone."""
    # states: (7, words, d_model) twice, to learn from and to ask about; so zip takes
    # state 0 of both, then state 1 of both, … labels: the same pair
    return [
        share_right(
            Probed(x[None], labels[0]), Probed(x_test[None], labels[1]), n_classes
        )
        for x, x_test in zip(*states, strict=True)
    ]


scores = {}
print(f"{'right':31}state 0    1    2    3    4    5    6")
for task, (n_classes, *kinds) in tasks.items():  # kinds: real labels, the control's
    for name, of_model in states.items():
        for kind, labels in zip(("real", "control"), kinds, strict=True):
            found = scores[task, name, kind] = each_state(of_model, labels, n_classes)
            shown = found if kind == "real" else found[:1]  # the others: in a moment
            shares = " ".join(f"{score:.2f}" for score in shown)
            print(f"{task:9} {name:10} {kind:12} {shares}")

# %% [markdown]
# What is right on the real task minus what is right on the control task is the probe's
# **selectivity**. From the embeddings, for relations: 0.72 − 0.64 = 0.08. It says how much better
# the probe does at the real labels, which follow rules, than at labels that can only be memorised
# word by word. It does not say how many of the real labels were learned by heart. For tags, for
# example, the control has 0.68; but giving each word its usual tag, which is all by heart, already
# gets 0.76 right.

# %% [markdown]
# **Predict.** For relations the probe on the embeddings has 0.72 right, the probe on state 3 has
# 0.82. Ten points more. How much more selective is it: by ten points too, by about twenty, or not
# at all?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: by about twenty -->
#
# By about twenty: from 0.08 to about 0.27. State 3 gains ten points on the real task, and loses
# eight on the control: its vectors have read the context, and say less about *which* word stands
# there, so labels drawn for words are harder to learn by heart. The accuracy alone hides half of
# the difference.
#
# </details>

# %% tags=["atol=0.04"]
selectivity = {}
print(f"{'':32}state 0     1     2     3     4     5     6")
for task in tasks:
    for name in models:
        real, control = (scores[task, name, kind] for kind in ("real", "control"))
        less = [a - b for a, b in zip(real, control, strict=True)]
        selectivity[task, name] = less
        for what, row in (("control", control), ("selectivity", less)):
            sign = "+" if row is less else ""
            print(f"{task:9} {name:10} {what:12}", *(f"{x:{sign}5.2f}" for x in row))

# %% tags=["remove-cell"]
of_relation = selectivity["relation", "MiniLM"]
assert 0.03 < of_relation[0] < 0.14 and of_relation[3] > of_relation[0] + 0.12
assert max(map(abs, selectivity["tag", "untrained"])) < 0.08

# %% tags=["hide-input"] mystnb={"image": {"alt": "Two panels, accuracy over the hidden states 0 to 6. Tag: MiniLM rises from 0.90 to 0.97 at state 2 and falls to 0.85; its control task falls from 0.68 to 0.49; the untrained BERT stays near 0.70 and its control task just below; a dashed line for the baseline by word is at 0.76. Relation: MiniLM rises from 0.72 to 0.82 at states 2 to 4 and falls to 0.68; its control task falls from 0.64 to 0.47; the untrained BERT stays near 0.60, its control task at 0.65; by word 0.52."}, "figure": {"caption": "Probes on each hidden state alone; 0 is the embeddings, 6 the last layer's output. Dotted: the control task for the same vectors."}}
figure, axes = plt.subplots(1, 2, figsize=(7.6, 3.4), sharey=True)
styles = {
    ("MiniLM", "real"): ("MiniLM", plots.BLUE, "-", 2.4),
    ("MiniLM", "control"): ("its control task", plots.BLUE, ":", 1.6),
    ("untrained", "real"): ("untrained", plots.QUIET, "-", 2.0),
    ("untrained", "control"): ("its control task", plots.QUIET, ":", 1.6),
}
for ax, task in zip(axes, tasks, strict=True):
    for (name, kind), (label, colour, line, width) in styles.items():
        ax.plot(scores[task, name, kind], line, color=colour, label=label, lw=width)
    plots.reference(ax, usual[task], "by word")
    ax.set(title=task, xlabel="hidden state", xticks=range(7), ylim=(0.4, 1.0))
axes[0].set(ylabel="right")
plots.name_lines(axes[1])
plt.show()

# %% [markdown]
# Of the test words, 128 are of types that occur in no training sentence. Can the probe on the
# embeddings tag these?

# %% tags=["atol=0.03"]
met = {word.lower() for word in words_of(learn)}
new = torch.tensor([word.lower() not in met for word in words_of(test)])
n_classes, (y, y_test), _ = tasks["tag"]
x, x_test = (part[:1] for part in states["MiniLM"])  # the embeddings
with torch.no_grad():
    said = fit_probe(Probed(x, y), n_classes)(x_test).argmax(dim=-1)
guess = by_word(words_of(learn), labels_of(learn, "upos"), words_of(test))
guess = torch.tensor([tags.index(tag) for tag in guess])
of_new = [(one == y_test)[new].float().mean().item() for one in (said, guess)]
print(
    f"tags of {new.sum()} new words: state 0 {of_new[0]:.2f}, by word {of_new[1]:.2f}"
)

# %% tags=["remove-cell"]
assert tasks["relation"][0] == 26 and 0.62 < 1 - new.float().mean() < 0.64
tag, relation = scores["tag", "MiniLM", "real"], scores["relation", "MiniLM", "real"]
assert max(tag) == max(tag[1:4]) > 0.94 and tag[6] < tag[0] + 0.02 < max(tag)
assert max(relation) == max(relation[2:5]) > 0.78 and relation[6] < relation[0] + 0.02
assert of_new[0] > 0.75 and of_new[1] < 0.5
assert usual["tag"] < 0.8 and usual["relation"] < 0.6
assert 0.64 < max(scores["tag", "untrained", "real"]) < usual["tag"]
ahead = [scores["relation", m, "real"][0] - usual["relation"] for m in models]
assert ahead[0] > 0.15 and 0.03 < ahead[1] < 0.7 * ahead[0]  # MiniLM, untrained
for task in tasks:
    heart = scores[task, "MiniLM", "control"]
    assert heart[0] > 0.6 and heart[6] < 0.53

# %% [markdown]
# ### What the probes say
#
# **Context helps, early.** The embeddings alone beat the baseline by word, mostly on words that the
# probe has not met: similar words have similar vectors. Tags are easiest to read two layers later,
# relations soon after.
#
# **Then it fades.** At the end both are harder to read than before the first layer. MiniLM was last
# trained to make *sentence* vectors, and for these it may matter little whether a word was subject
# or object.
#
# **The control task bites.** From the embeddings, meaningless labels are learned nearly as well as
# relations; at state 3 much less well. But not all of that drop speaks for state 3: as said, its
# vectors tell less about *which* word stands there.
#
# **An untrained BERT gets seven tags in ten right.** That is *below* the baseline without vectors,
# and its selectivity is near zero, or below: its vectors tell words apart, and little else. (For
# relations it is above that baseline, perhaps because its vectors hold the position, too.)
#
# <details><summary>On real English, and beyond selectivity</summary>
#
# On UD English, with 400 sentences to train on and three draws, the curves have the same shape:
#
# | right | state 0 | state 2 | state 3 | state 6 | by word |
# |---|---|---|---|---|---|
# | tag | 88 %<!-- probing: tag/minilm/layers/0/mean .0f --> | 94 %<!-- probing: tag/minilm/layers/2/mean .0f --> | 93 %<!-- probing: tag/minilm/layers/3/mean .0f --> | 82 %<!-- probing: tag/minilm/layers/6/mean .0f --> | 78 %<!-- probing: tag/by_word/mean .0f --> |
# | tag, control task | 70 %<!-- probing: tag/minilm/control/0/mean .0f --> | 64 %<!-- probing: tag/minilm/control/2/mean .0f --> | 59 %<!-- probing: tag/minilm/control/3/mean .0f --> | 46 %<!-- probing: tag/minilm/control/6/mean .0f --> | – |
# | relation | 64 %<!-- probing: relation/minilm/layers/0/mean .0f --> | 76 %<!-- probing: relation/minilm/layers/2/mean .0f --> | 77 %<!-- probing: relation/minilm/layers/3/mean .0f --> | 62 %<!-- probing: relation/minilm/layers/6/mean .0f --> | 55 %<!-- probing: relation/by_word/mean .0f --> |
# | relation, control task | 70 %<!-- probing: relation/minilm/control/0/mean .0f --> | 64 %<!-- probing: relation/minilm/control/2/mean .0f --> | 60 %<!-- probing: relation/minilm/control/3/mean .0f --> | 46 %<!-- probing: relation/minilm/control/6/mean .0f --> | – |
#
# So for relations the selectivity of the embeddings is below zero, and at state 3 it is 0.17<!--
# probing: relation/minilm/selectivity/3/mean .2f -->.
#
# Selectivity is not the last word. [Pimentel and others (2020)](https://arxiv.org/abs/2004.03061)
# ask for the best probe that can be found, weak or not, and [Voita and Titov
# (2020)](https://arxiv.org/abs/2003.12298) count the bits that it takes to learn the labels with a
# probe's help.
#
# </details>
#
# **Read a sentence of your own.** These probes for tags, and those of the control task, [run on
# what you type](../book/your_own/inside.md#a-sentence-read-by-probes). Try *watch*, as a verb and as a noun.
# The probe on the embeddings has only the word and its place to go by. From which state on do the
# probes tell the two apart, and what does the control probe say about *watch*?
#
# Does BERT base, which was never trained to make sentence vectors, fade at the end, too? On the
# tasks of [Liu and others (2019)](https://arxiv.org/abs/1903.08855) its middle layers serve best.
# We have not measured it; with an internet connection the next cell asks either model about real
# English.

# %%
REAL = False  # True: probes on UD English, from the hub or from a mirror
BODY = folder  # "bert-base-uncased": BERT base, from the hub, 440 MB

if REAL:
    samples = []
    for split in ("train", "test"):
        found = data.load("treebank", split, "real")
        fitting = [s for s in found if 5 <= len(s["words"]) <= 30]
        samples.append(fitting[:: max(1, len(fitting) // 400)][:400])
    reader = Bert.from_pretrained(BODY).to(device)  # of the same vocabulary
    of_reader = [states_of(reader, part) for part in samples]
    for field in ("upos", "relations"):
        n_classes, *kinds = real_and_control(field, *samples)
        for kind, labels in zip(("real", "control"), kinds, strict=True):
            told = each_state(of_reader, labels, n_classes)
            print(f"{field:9} {kind:7}", *(f"{score:.2f}" for score in told))

# %% [markdown]
# ### Tag and place in place of a vector
#
# One control is still missing for the relations. "the" is a `det` wherever it stands, and a
# preposition is nearly always a `case`: a word's tag, and its place in the sentence, tell a good
# part of its relation. So give the same probe no vector at all, but 27 numbers: 15 for the word's
# tag and 12 for its place, each a 1 among zeros.

# %% [markdown]
# **Predict.** From MiniLM's best state the probe has 0.82 of the relations right (the best of
# seven, picked on these very words, so if anything it flatters), from the embeddings 0.72. How many
# does it get right from tag and place: a third, a half, or three quarters?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: three quarters -->
#
# Three quarters, about as many as from the embeddings; the tag alone gives 0.70. A third or a half
# is tempting, as the probe sees no word. But the word alone had 0.52 ("by word"), and the tag is
# worth more, for new words have one, too. So what the middle states add is not the step from 0.52
# to 0.82, but a much smaller one.
#
# </details>

# %% tags=["atol=0.03"]
n_classes, (y, y_test), _ = tasks["relation"]
names = sorted({*labels_of(learn, "upos"), *labels_of(test, "upos")})
longest = max(len(s["words"]) for s in [*learn, *test])
from_tags = {}
for name, around, kept in (
    ("tag alone", 0, len(names)),  # the first 15 numbers
    ("tag and place", 0, None),
    ("and both neighbours' tags", 1, None),
):
    x, x_test = (
        torch.cat(
            probing.tags_and_places([s["upos"] for s in part], names, longest, around)
        )[:, :kept]
        for part in (learn, test)
    )
    pair = Probed(x[None], y), Probed(x_test[None], y_test)  # one "state"
    from_tags[name] = share_right(*pair, n_classes)
    print(f"{name:26} {from_tags[name]:.2f}")

# %% tags=["remove-cell"]
tag_alone, alone, of_three = from_tags.values()
assert 0.66 < tag_alone < alone - 0.02
assert 0.7 < alone < max(relation) - 0.03 and of_three > max(relation) - 0.01

# %% [markdown]
# The last line is a warning. Told the tags of the two neighbours as well, and given no vector, the
# probe does better than on any of MiniLM's states. On UD English tag and place give 63 %<!--
# tags_alone: relation/tag_and_place/mean .0f -->, about as much as the embeddings (64 %<!--
# probing: relation/minilm/layers/0/mean .0f -->). With the neighbours' tags it is 75 %<!--
# tags_alone: relation/tags_of_three_and_place/mean .0f -->, here a little less than from state 3
# (77 %<!-- probing: relation/minilm/layers/3/mean .0f -->). (These tags are the treebank's own;
# MiniLM had to find them first.)
#
# So to do as well as a probe on MiniLM's states, one needs hardly more than the tags around a word.
# MiniLM may know more, but that has to be shown in another way.
#
# ## A mix of all layers
#
# So far each probe saw one state. Given all seven, our `Probe` learns the shares $s_\ell$ of its
# [scalar mix](15b_which_layers.ipynb#a-mix-of-all-layers) along with $W$.
#
# ### At which layer is it solved?
#
# Tenney and others ask at which layer each of eight tasks is solved, and find what they call the
# *classical pipeline*: tags first, then phrases and dependencies (our relations), then names, then
# who did what to whom, and last what "it" refers to. Our treebank marks two of the eight, tags and
# dependencies. The paper has two measures, and numbers the states as we do.
#
# - The **centre of gravity** of the shares, $\sum_\ell \ell\, s_\ell$, of a probe that may mix all
#   states.
# - **Differential scores**: for each $\ell$, train a probe that may mix the states 0 to $\ell$
#   only; what state $\ell$ *adds* is $\Delta_\ell = \mathrm{Score}(0 \ldots \ell) -
#   \mathrm{Score}(0 \ldots \ell - 1)$. The mean place of these gains is the **expected layer**,
#   $\sum_\ell \ell\, \Delta_\ell / \sum_\ell \Delta_\ell$.
#
# By hand: cumulative scores of 0.50, 0.70, 0.80 give Δ = 0.20, 0.10, and the expected layer (1 ·
# 0.2 + 2 · 0.1) / 0.3 = 1.33.


# %% tags=["atol=0.15"]
def differential_scores(cumulative):
    """What each state adds to those below it."""
    return [after - before for before, after in pairwise(cumulative)]


def expected_layer(differential):
    """The mean place of the gains; the first is state 1's."""
    gains = sum(layer * gain for layer, gain in enumerate(differential, start=1))
    return gains / sum(differential)


print(f"by hand: {expected_layer(differential_scores([0.5, 0.7, 0.8])):.2f}")
shares, differential = {}, {}
for task, (n_classes, (y, y_test), _) in tasks.items():
    x, x_test = states["MiniLM"]
    shares[task] = fit_probe(Probed(x, y), n_classes).mix.shares.detach()
    cumulative = [
        share_right(Probed(x[:n], y), Probed(x_test[:n], y_test), n_classes)
        for n in range(1, 8)  # states 0 to n - 1
    ]
    differential[task] = differential_scores(cumulative)
    centre = (torch.arange(7) * shares[task]).sum()
    expected = expected_layer(differential[task])
    print(f"{task:8} centre of gravity {centre:.1f}, expected layer {expected:.1f}")

# %% tags=["hide-input"] mystnb={"image": {"alt": "Two panels with bars over the hidden states 0 to 6. Shares of the mix: for tags highest at state 2 with a quarter, the others between 0.08 and 0.17; for relations 0.45 at state 2, the others around 0.1. Differential scores: for tags 0.03 at state 1, 0.02 at state 2 and near zero after; for relations 0.06 at state 2, 0.02 at states 1 and 3 and near zero after. Triangles above: centres of gravity at 2.6 and 2.5, expected layers at 1.4 and 2.1."}, "figure": {"caption": "Left: shares of a probe on all hidden states; triangles: their centres of gravity. Right: differential scores; triangles: expected layers."}}
figure, axes = plt.subplots(1, 2, figsize=(8.0, 3.0))
for i, (task, colour) in enumerate((("tag", plots.BLUE), ("relation", plots.ORANGE))):
    shift = 0.4 * i - 0.2
    at = [x + shift for x in range(7)]
    centre = (torch.arange(7) * shares[task]).sum()
    expected = expected_layer(differential[task])
    axes[0].bar(at, shares[task], width=0.36, color=colour, label=task)
    axes[1].bar(at[1:], differential[task], width=0.36, color=colour, label=task)
    for ax, where in zip(axes, (centre, expected), strict=True):  # above the panel
        ax.plot(
            where,
            1.03,
            "v",
            color=colour,
            clip_on=False,
            transform=ax.get_xaxis_transform(),
        )
axes[0].set_title("share of the mix", pad=16)
axes[1].set_title("differential score", pad=16)
axes[0].set(xlabel="hidden state", xticks=range(7))
axes[1].set(xlabel="hidden state", xticks=range(1, 7))
axes[1].axhline(0, color=plots.QUIET, lw=0.8)
axes[1].spines["bottom"].set_visible(False)
axes[0].legend()
plt.show()

# %% tags=["remove-cell"]
centres = {task: probing.centre_of_gravity(s) for task, s in shares.items()}
expected = {task: probing.expected_layer(d) for task, d in differential.items()}
assert all(s.argmax() == 2 for s in shares.values())
assert abs(centres["tag"] - centres["relation"]) < 0.4
assert expected["tag"] < expected["relation"] < 3

# %% [markdown]
# By differential scores tags come before relations, as in the pipeline, but by less than one layer
# of six. By the centres of gravity there is no order worth the name; in the paper's BERT, too, they
# lie closer together. (With 345 test words, one word is 0.003: differential scores near zero are
# mostly noise.)
#
# On UD English, where a test has thousands of words, the expected layers are 1.5<!-- probing:
# tag/minilm/expected_layer/mean .1f --> for tags and 1.7<!-- probing:
# relation/minilm/expected_layer/mean .1f --> for relations; both centres are 2.4<!-- probing:
# tag/minilm/centre_of_gravity/mean .1f -->. By the expected layer, tags come first in each of three
# draws of sentences, by a quarter of a layer at most. By the centre of gravity, relations come
# first, by even less. If this is a pipeline, it is a short one: neither task gains anything to
# speak of after state 3.

# %% [markdown]
# ## What goes wrong
#
# ### Looking and using
#
# A colleague has found, as [chapter 16](16_what_bert_learns.ipynb#heads-against-a-fixed-offset)
# has, that in layer 2 head 8 looks from determiners to their nouns and head 0 from objects to their
# verbs. She writes: "Through these heads MiniLM learns what a determiner is, and what an object
# is." She has not tried it.
#
# So we silence a head, that is, we set what it contributes to zero, and ask a probe of state 3,
# which layer 2 puts out. (What was in the vectors before stays, and so does the layer's
# feed-forward net.) To have enough objects, we ask about all 154 sentences, a fifth at a time, with
# a probe that was trained on the whole model and the other four fifths.

# %% [markdown]
# **Predict.** The probes have 187 of 190 determiners right, and 73 of 99 objects. What becomes of
# the determiners without head 8? And what share of the 73 objects is lost without head 0: next to
# nothing, about a sixth, or about half?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: about a sixth -->
#
# About a sixth of the objects, thirteen; no other single head of this layer, silenced, costs more than about half as many. And it is the *looking* that counts: let head 0 speak, but look at all words alike, and
# as many are lost. Of the determiners next to nothing is lost. Does MiniLM not need head 8, then?
# This test cannot tell: "the" is a `det` wherever it stands, and without any head of the layer the
# probes still have nearly all.
#
# </details>


# %% tags=["hide-input", "atol=2"]
def changed(model, layer, heads, alike=False):
    """A copy in which these heads contribute nothing, or look everywhere alike."""
    other = copy.deepcopy(model)
    attention = other.encoder.blocks[layer].self_attention
    d_head = model.config.d_model // model.config.n_heads
    for head in heads:
        own = slice(head * d_head, (head + 1) * d_head)
        if alike:  # queries of 0: all scores are 0, all weights equal
            attention.W_Q.weight.data[own] = 0
            attention.W_Q.bias.data[own] = 0
        else:
            attention.W_O.weight.data[:, own] = 0
    return other


asked = [*learn, *test]
relation_of = labels_of(asked, "relations")
classes = sorted(set(relation_of))
y = probing.label_ids(relation_of, classes)
fifth = torch.tensor([i % 5 for i, s in enumerate(asked) for _ in s["words"]])
state_3 = states_of(model, asked)[3:4]
probes = [
    fit_probe(Probed(state_3[:, fifth != k], y[fifth != k]), len(classes))
    for k in range(5)
]


@torch.no_grad()
def right_after(*change, **options):
    """How many det and obj are right, by probes that were not trained on them."""
    x = states_of(changed(model, *change, **options), asked)[3:4]
    said = torch.stack([probe(x).argmax(dim=-1) for probe in probes])  # (5, words)
    right = said[fifth, torch.arange(len(y))] == y
    return [
        sum(hit for hit, r in zip(right.tolist(), relation_of, strict=True) if r == one)
        for one in ("det", "obj")
    ]


print(f"{'right of':26}", *(relation_of.count(one) for one in ("det", "obj")))
changes = {
    "whole model": right_after(2, []),
    "without layer 2, head 8": right_after(2, [8]),
    "without layer 2, head 0": right_after(2, [0]),
    "head 0 looks at all alike": right_after(2, [0], alike=True),
    "without layer 2, all heads": right_after(2, range(12)),
    "without layer 0, all heads": right_after(0, range(12)),
}
for name, (of_det, of_obj) in changes.items():
    print(f"{name:26} {of_det:3} {of_obj:3}")
others = [right_after(2, [head])[1] for head in range(1, 12)]
all_alike = [right_after(2, [head], alike=True)[1] for head in range(1, 12)]
print("obj, one of the 11 other heads: silent, at least", min(others), end="; ")
print("looks at all alike, at least", min(all_alike))

# %% tags=["remove-cell"]
whole, without_8, without_0, alike_0, without_2, without_layer_0 = changes.values()
assert min(of_det for of_det, _ in changes.values()) > 178
assert 8 <= whole[1] - without_0[1] <= 15 and without_0[1] < min(others) - 1
assert 8 <= whole[1] - alike_0[1] <= 15 and alike_0[1] < min(all_alike) - 1
assert whole[1] - without_layer_0[1] <= 5 and without_2[1] <= without_0[1] + 1

# %% [markdown]
# So she is right in part: of the objects found, a sixth are found through head 0. About head 8 the
# test says nothing. Nor does it about the head of layer 0 that only looks back: all heads of that
# layer can go, and the probes find as many objects and nearly all determiners. To learn what a head is for, change something, and measure what
# *can* be lost.
#
# <details><summary>Other ways to take something away</summary>
#
# A head set to zero makes vectors that the probe has never met, which may confuse it. (A head that
# looks everywhere alike costs as much, so it is not the zero alone. But the probe has not met those
# vectors either.) More usual today is the head's mean output in
# place of zero, or a probe trained anew. Or one removes from the vectors all that a probe reads a
# tag by, and measures how much worse the model guesses words: [amnesic
# probing](https://arxiv.org/abs/2006.00995).
#
# </details>

# %% [markdown]
# ## Exercises
#
# Ungraded; a solution is folded below each.
#
# **Exercise 1. Shares are settings, too.** For names, [chapter 15b](15b_which_layers.ipynb#names)
# saw the largest share go from 0.21 to 0.84, as uneven shares cost less in training (`l2_mix`, a
# penalty on $|\mathbf{w}|^2$ that is already in Peters and others). Train the probe for tags on all
# states with penalties of 0, 0.01 and 1. What happens to the largest share, and what to the
# accuracy?

# %% tags=["hide-cell", "atol=0.03"]
# Solution 1
n_classes, (y, y_test), _ = tasks["tag"]
x, x_test = states["MiniLM"]
for l2_mix in (0.0, 0.01, 1.0):
    probe = fit_probe(Probed(x, y), n_classes, l2_mix=l2_mix)
    largest = probe.mix.shares.max().item()
    accuracy = probing.probe_accuracy(probe, Probed(x_test, y_test))
    print(f"penalty {l2_mix:4}: largest share {largest:.2f}, accuracy {accuracy:.2f}")
# "The tags are in state 2" and "the tags are spread over all states alike" are two
# readings of the same vectors.

# %% [markdown]
# **Exercise 2. Labels drawn anew.** The control labels must be the same for training and test
# words. What does the control accuracy on the embeddings become if they are drawn separately for
# the two? What would one conclude from it?

# %% tags=["hide-cell", "atol=0.03"]
# Solution 2
n_classes, (y, y_test), by_heart = tasks["relation"]
x, x_test = (part[:1] for part in states["MiniLM"])  # the embeddings
probe = fit_probe(Probed(x, by_heart[0]), n_classes)
drawn_anew = control_labels(words_of(test), y_test, seed=1)
right = probing.probe_accuracy(probe, Probed(x_test, by_heart[1]))
wrong = probing.probe_accuracy(probe, Probed(x_test, drawn_anew))
print(f"control accuracy {right:.2f}; with labels drawn anew {wrong:.2f}")
# Nobody can predict labels drawn anew, so every probe would look wonderfully selective.

# %% [markdown]
# **Exercise 3. A freer probe.** Large weights cost our probe something, `l2`. Train it for relations on the embeddings
# with costs of 1, 0.01 and 0.0001. What happens to the accuracy, what to the control task, and which of the three
# probes would you believe?

# %% tags=["hide-cell", "atol=0.04"]
# Solution 3
n_classes, *kinds = tasks["relation"]
x, x_test = (part[:1] for part in states["MiniLM"])
print("cost     real  control  selectivity")
for l2 in (1.0, 0.01, 0.0001):
    real, control = (
        share_right(Probed(x, y), Probed(x_test, y_test), n_classes, l2=l2)
        for y, y_test in kinds
    )
    print(f"{l2:<8} {real:.2f} {control:8.2f} {real - control:+12.2f}")
# The tight probe learns least by heart, and least altogether. So selectivity says
# something of the probe, too: layers are compared with one and the same probe. Where
# the tight one says "it can be read", believe it: it could learn least by heart. The
# loosest has fewer relations right, and as many labels by heart: it adds nothing.

# %% [markdown]
# ## Summary
#
# 1. A probe is a weak classifier on frozen vectors. If it succeeds, something can be read off them,
#    by a reader who was trained.
# 2. In a control task each type has a random label. What a probe gets right there, beyond guessing, it has
#    learned by heart; the difference to the real task is its selectivity. It separates layers more clearly
#    than accuracy does, in part because later states say less about which word it is.
# 3. Tags and relations are easiest to read in the middle (states 2 to 4 of 6) and fade towards the
#    end. But tag and place alone, without a vector, give three quarters of the relations.
# 4. By differential scores tags come less than a layer before relations. The shares of a scalar mix
#    show no order, and depend on a penalty.
# 5. Where a head looks does not tell what it is for: silence it, and measure what can be lost.
#
# **Homework 7**, questions 1 to 3, is about this chapter:
# [exercises](../exercises/hw7_probing_and_sentences.ipynb).
#
# **Next:** heads and probes ask for one link, one label at a time. [Chapter 16c](16c_trees.ipynb)
# asks for whole trees.
#
# ## References
#
# - John Hewitt and Percy Liang (2019). *[Designing and interpreting probes with control
#   tasks](https://arxiv.org/abs/1909.03368).* EMNLP. Section 2.
# - Matthew E. Peters et al. (2018). *[Deep contextualized word
#   representations](https://arxiv.org/abs/1802.05365).* NAACL. Equation 1: the scalar mix.
# - Ian Tenney, Dipanjan Das and Ellie Pavlick (2019). *[BERT rediscovers the classical NLP
#   pipeline](https://arxiv.org/abs/1905.05950).* ACL. Section 3, figure 2.
# - Marie-Catherine de Marneffe, Christopher D. Manning, Joakim Nivre and Daniel Zeman (2021).
#   *[Universal Dependencies](https://doi.org/10.1162/coli_a_00402).* Computational Linguistics 47.
