# %% [markdown]
# # Which layers?
#
# *The road from Jordan to the coast crosses a desert.* And: *Last year Jordan won the school prize for maths.* MiniLM, a
# small BERT, has seven vectors for each "Jordan": one from its embeddings, and one behind each of six layers. A tagger
# of names wants one. In [chapter 15](15_features.ipynb), about meanings, the last was as good as any. **Is the last also
# as good for names? May one take several? What does one lose by not fine-tuning?** ELMo's answer to "may one take
# several":

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

draw("scalar_mix")

# %% [markdown]
# **After this chapter you can**
#
# - build ELMo's scalar mix, and say what the shares that it learns mean and what they do not;
# - combine a BERT's layers in the six ways that its paper tried, and choose among them by measuring;
# - compare frozen features with fine-tuning, in F1 and in cost;
# - find out that a vector belongs to another word, though no error is raised.
#
# **Time** about 40 minutes. **You need** [chapters 14b](14b_words_and_spans.ipynb) and
# [15](15_features.ipynb#a-words-vector): the BIO labels, in which names are marked, and how a word's vector is taken out
# of BERT.

# %% tags=["hide-input"]
import re

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.testing import assert_close

from lectures_lib import data
from lectures_lib.analysis import features, probing
from lectures_lib.analysis.features import COMBINATIONS, LayerCombination
from lectures_lib.analysis.probing import Probed, fit_probe
from lectures_lib.metrics import entity_scores
from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert
from lectures_lib.show import plots
from lectures_lib.tasks.word_level import Cut, cut_words
from lectures_lib.tokenization import WordPiece

tokenizer = WordPiece.load(minilm.checkpoint() / "vocab.txt")
model = Bert.from_pretrained(minilm.checkpoint())

# %% [markdown]
# ## A mix of all layers
#
# ELMo (Peters et al., 2018) does not choose a layer. Its **scalar mix** is $\gamma \sum_i s_i h_i$, where $h_i$ is the
# word's vector in state $i$ and $s = \text{softmax}(w)$. One number $w_i$ a layer and the factor $\gamma$ are learned
# together with the task. They begin at $w = 0$ and $\gamma = 1$: the mean of all layers.


# %%
class ScalarMix(nn.Module):
    """One vector made of a word's vectors in all layers; the shares are learned."""

    def __init__(self, n_states):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(n_states))
        self.gamma = nn.Parameter(torch.ones(()))

    @property
    def shares(self):
        """How much of each layer is in the mix; they sum to 1."""
        return self.w.softmax(dim=0)

    def forward(self, states):
        """The mix of (states, ..., d_model)."""
        return self.gamma * torch.einsum("s,s...d->...d", self.shares, states)


# %% [markdown]
# By hand, three layers, vectors of two numbers, shares 0.5, 0.25, 0.25: $0.5\,(4, 0) + 0.25\,(0, 4) + 0.25\,(8, 8) =
# (4, 3)$.

# %%
h = torch.tensor([[4.0, 0.0], [0.0, 4.0], [8.0, 8.0]])  # a word in three layers
mix = ScalarMix(3)
with torch.no_grad():
    mix.w.copy_(torch.tensor([0.5, 0.25, 0.25]).log())  # softmax gives the shares back
print([round(number, 4) for number in mix(h).tolist()])

# %% tags=["remove-cell"]
librarys = probing.ScalarMix(3)
librarys.load_state_dict(mix.state_dict())
assert torch.equal(mix(h), librarys(h))
assert_close(mix(h), 0.5 * h[0] + 0.25 * h[1] + 0.25 * h[2])


# %% [markdown]
# ## The six ways of the paper
#
# The BERT paper (section 5.3, table 7) kept BERT frozen, took vectors from it in six ways and trained a tagger of names
# on them. To see what the six ways do, take states that are easy to read, in which every number of state $i$ is $i$:

# %%
states = torch.arange(7.0)[:, None].expand(7, 2)  # state i of a word is (i, i)
for name in COMBINATIONS:
    combined = LayerCombination(name, n_layers=6, d_model=2)(states)
    print(f"{name:18}", [round(number, 1) for number in combined.tolist()])

# %% [markdown]
# "Weighted" is here a scalar mix (the paper does not say how its weights were found), which begins
# as the plain mean. ("All" means the six layers: state 0 is not among them, so the mean is 3.5.
# Further down we also mix all *seven* states. `COMBINATIONS` names, for each way, the states that
# it takes and what it does with them; `LayerCombination` does it.)
#
# ## Names
#
# The book's set `entities` has 130 sentences to learn from and 90 held out, with 131 names of persons, places,
# organisations and products. Our tagger is one linear layer on the vectors, which are first brought to mean 0 and
# variance 1 (exercise 2 shows why). `fit_probe` trains it on all words at once, together with the mix where there is
# one: logistic regression, in effect, which [chapter 16b](16b_probing.ipynb#the-same-in-pytorch) writes out.
# It draws nothing at random, so there is no seed to be lucky with.

# %% tags=["hide-input"]
sets = {
    split: data.load("entities", split) for split in ("train", "validation", "test")
}
learn, held_out = sets["train"], [*sets["validation"], *sets["test"]]


def states_of(examples, places=lambda cut: cut.places, pieces="first"):
    """All words' vectors in all hidden states (7, words, 384)."""
    cuts = [cut_words(tokenizer, e["words"]) for e in examples]
    cuts = [Cut(cut.ids, places(cut)) for cut in cuts]
    return torch.cat(features.word_vectors(model, cuts, pieces), dim=1)


def f1(said, examples=held_out):
    """Entity F1 on the held-out sentences; `said`: a label for each word."""
    rest = iter(said)
    rows = [[next(rest) for _ in e["words"]] for e in examples]
    return entity_scores(rows, [e["labels"] for e in examples]).f1


def train(seen, learn=learn, **penalties):
    """A linear tagger on one state of the words or a mix of several, and its labels."""
    labels = [label for e in learn for label in e["labels"]]
    names = sorted(set(labels))
    y = torch.tensor([names.index(label) for label in labels])
    return fit_probe(Probed(seen, y), len(names), **penalties), names


def told(tagger, names, asked):
    """What a tagger says of each word."""
    with torch.no_grad():
        return [names[i] for i in tagger(asked).argmax(dim=-1).tolist()]


def tag(seen, asked, learn=learn, held_out=held_out):
    """F1 of a linear tagger on these vectors."""
    return f1(told(*train(seen, learn), asked), held_out)


def inputs(states, name):
    """The states that a combination mixes; those that it puts side by side are one."""
    which, how = COMBINATIONS[name]
    chosen = states[which]
    return torch.cat(list(chosen), dim=-1)[None] if how == "side by side" else chosen


# %% [markdown]
# Two baselines do without BERT's layers: the same tagger on the static table, and a logistic regression on what one
# sees of a word: itself, its neighbours, its ending and its outline (Reykjavik → Xx), with capitals, which MiniLM does
# not see.


# %% tags=["hide-input"]
piece_vectors = model.embeddings.tokens.weight.detach()  # MiniLM's own table


def static(examples, places=lambda cut: cut.places):
    """The table's vectors of the words, the mean over their pieces, as one state."""
    cuts = [cut_words(tokenizer, e["words"]) for e in examples]
    ids = [[c.ids[k] for k in p] for c in cuts for p in places(c)]
    return torch.stack([piece_vectors[own].mean(dim=0) for own in ids])[None]


def describe(words):
    """What a reader without vectors knows of each word."""
    w = ["<s>", *map(str.lower, words), "</s>"]
    outlines = [re.sub("[a-z]+", "x", re.sub("[A-Z]+", "X", word)) for word in words]
    names = ("word", "before", "after", "end", "outline")
    rows = zip(
        w[1:-1], w, w[2:], (word[-3:] for word in w[1:-1]), outlines, strict=False
    )
    return [dict(zip(names, row, strict=True)) for row in rows]


# %% [markdown]
# **Predict.** The tagger is trained on each of the seven states alone. Which gives the best names: state 0, one in the
# middle, or the last? For meanings the last was as good as any.
#
# <details><summary>Answer</summary>
#
# <!-- right offer: one in the middle -->
#
# One in the middle: state 3 or 4, with an F1 of about 0.75. The last has about 0.63, and state 0 about 0.5, little
# more than the baselines. "The last layer has been worked on longest, so it knows most" is the tempting answer. But a
# layer is worked on *for* something. MiniLM's last one was trained to bring sentences of like meaning together, for
# which it hardly matters who bears which name. (That is a guess at the reason, not a measurement; and with 131 names,
# differences of less than five points mean little.)
#
# </details>

# %% tags=["atol=0.03"]
seen, asked = states_of(learn), states_of(held_out)
by_table = tag(static(learn), static(held_out))
bag = make_pipeline(DictVectorizer(), LogisticRegression(C=10, max_iter=500))
described = [
    [d for e in rows for d in describe(e["words"])] for rows in (learn, held_out)
]
labels = [label for e in learn for label in e["labels"]]
bag.fit(described[0], labels)
by_bag = f1(bag.predict(described[1]).tolist())
taggers = [train(seen[[i]]) for i in range(7)]
by_tagger = [told(*one, asked[[i]]) for i, one in enumerate(taggers)]
of_state = [f1(said) for said in by_tagger]
scores = {name: tag(inputs(seen, name), inputs(asked, name)) for name in COMBINATIONS}
print(f"bag of features {by_bag:.2f}, static table {by_table:.2f}")
print("states 0 to 6:", *(f"{score:.2f}" for score in of_state))
for name, score in scores.items():
    print(f"{name:18} {score:.2f}")

# %% tags=["remove-cell"]
assert by_bag < 0.47 and by_bag < by_table < 0.52
assert scores["embeddings"] > by_bag and scores["embeddings"] < scores["last"] - 0.04
assert scores["last"] < scores["second_to_last"] < scores["concat_last_four"] - 0.03
assert max(of_state) in of_state[3:5] and max(of_state) > of_state[6] + 0.08

# %% tags=["hide-input"] mystnb={"image": {"alt": "Entity F1 by hidden state: 0.52 at state 0, rising to about 0.75 at states 3 and 4, falling to 0.63 at state 6. Lines for the last four states side by side at 0.74, for the static table at 0.48 and for the bag of features at 0.44. A band from 0.69 to 0.80 for fine-tuning."}, "figure": {"caption": "Names found on the book's held-out sentences by a linear tagger, by hidden state. The band: MiniLM fine-tuned on the same sentences, lowest to highest of five seeds."}}
figure, ax = plt.subplots(figsize=(6.4, 3.1))
ax.plot(range(7), of_state, marker="o", color=plots.BLUE, label="one state")
# Fine-tuned on the same sentences, five seeds: experiments/fine_tuning_small.py.
band = {"color": plots.GREEN, "alpha": 0.3, "lw": 0, "label": "fine-tuned, five seeds"}
ax.axhspan(0.69, 0.80, zorder=0, **band)
for score, colour, line, label in (
    (scores["concat_last_four"], plots.INK, "-", "last four, side by side"),
    (by_table, plots.GREY, ":", "static table"),
    (by_bag, plots.ORANGE, "--", "bag of features"),
):
    ax.axhline(score, color=colour, ls=line, lw=1.5, label=label)
ax.set(xlabel="hidden state", ylabel="entity F1", ylim=(0, 1))
ax.legend(fontsize=9, loc="lower right", ncols=2)
plt.show()

# %% [markdown]
# So what the last layer is worth depends on the task. And the two Jordans of the beginning, which stand in held-out
# sentences, and in no sentence to learn from?

# %%
words = [w for e in held_out for w in e["words"]]
place, person = (i for i, w in enumerate(words) if w == "Jordan")
for state in (0, 3, 6):
    said = by_tagger[state]
    print(f"state {state}: the road from {said[place]}, last year {said[person]}")

# %% tags=["remove-cell"]
truth = [label for e in held_out for label in e["labels"]]
assert (truth[place], truth[person]) == ("B-location", "B-person")
assert by_tagger[3][person] == "B-person" == truth[person] != by_tagger[0][person]

# %% [markdown]
# State 0, which has not read the sentence, says the same of both. State 3 tells them apart. (State 6 has a person too,
# but takes the name for the second word of one.)
#
# Must one try all states, then? The mix may find out by itself.

# %% [markdown]
# **Predict.** A mix of all seven states is trained together with the tagger, on the 130 sentences to learn from. Every
# state begins with a share of 0.14. Which state ends with the largest, and how large is it: nearly 1, or little above
# the others?
#
# <details><summary>Answer</summary>
#
# <!-- no right offer -->
#
# State 3, one of the two that are best on the *held-out* sentences; the mix has not seen those. Its share is only 0.21,
# because `fit_probe` adds a penalty on $w$ (L2, as ELMo did), which keeps the shares alike. With a tenth of the penalty
# it gets 0.84. If you said "the last": that one has the smallest share, together with the embeddings. And a share is no
# measure of worth: with the smaller penalty state 4 gets 0.03, and by itself it finds as many names as state 3.
#
# </details>

# %% tags=["atol=0.03"]
for penalty in (1e-2, 1e-3):
    tagger, names = train(seen, l2_mix=penalty)
    shares = " ".join(f"{share:.2f}" for share in tagger.mix.shares)
    score = f1(told(tagger, names, asked))
    print(f"penalty {penalty}: shares {shares}; F1 {score:.2f}")

# %% tags=["remove-cell"]
shares = tagger.mix.shares
assert shares.argmax() == 3 and 0.75 < shares[3] < 0.9

# %% [markdown]
# With a mix, or a concatenation of several, one need not know the best state in advance.
#
# **Mix the states yourself**, for meanings. A tagger must read off a vector what *kind* of thing a
# name stands for, whatever the sentence is about; for meanings it is enough that a word's nearest
# neighbour has the same meaning, and for that the sentence's topic often suffices. Which state
# alone is best there, and does a mix beat it? [Mechanisms in
# motion](../book/motion.md#mix-the-layers).
#
# The green band in the figure of the states is MiniLM fine-tuned on the same 130 sentences, also
# under a linear layer: from 0.69<!-- fine_tuning_small: entities/test/f1/min .2f --> to 0.80<!--
# fine_tuning_small: entities/test/f1/max .2f --> over five seeds, on the 60 test sentences and on
# all 90 alike. Several frozen vectors reach this band. (The best of them is chosen on the sentences
# that judge it, which flatters. Chosen on the validation split, frozen vectors have 0.72<!--
# labelled_sets: entities/frozen .2f --> on the test sentences, fine-tuning 0.75<!--
# fine_tuning_small: entities/test/f1/mean .2f --> on average.) With so few sentences, the seed of
# the fine-tuning matters more than the choice among the better combinations of frozen vectors.
#
# ## Does it hold elsewhere?
#
# In the paper the tagger on top is a two-layer BiLSTM (a bidirectional LSTM: two recurrent networks, one from each side,
# as ELMo's), which reads the whole sentence of vectors before it labels a word. The first column has its results on
# CoNLL-2003, news, by a BERT that sees capitals and reads as much of the document as fits. The others are ours, with the
# smaller MiniLM, on WNUT-17: it learns from tweets, and is tested on other tweets and on posts of Reddit and
# StackExchange, whose names are new and odd. Compare ups and downs within a column, not levels. The last line is
# fine-tuning.
#
# | features | BERT base, BiLSTM | MiniLM, linear layer | MiniLM, BiLSTM |
# |---|---|---|---|
# | word, neighbours, shape (logistic regression) | – | 8.5 %<!-- ner_features: bag_of_features/test/f1 .1f --> | – |
# | word2vec, trained on WikiText-2 | – | 2.0 %<!-- ner_features: skip_gram/linear/test/f1/mean .1f --> | 5.9 %<!-- ner_features: skip_gram/bilstm/test/f1/mean .1f --> |
# | MiniLM's static table | – | 23.3 %<!-- ner_features: static_pieces/linear/test/f1/mean .1f --> | 30.6 %<!-- ner_features: static_pieces/bilstm/test/f1/mean .1f --> |
# | embeddings (state 0) | 91.0 % | 27.3 %<!-- ner_features: embeddings/linear/test/f1/mean .1f --> | 30.8 %<!-- ner_features: embeddings/bilstm/test/f1/mean .1f --> |
# | second-to-last state | 95.6 % | 35.0 %<!-- ner_features: second_to_last/linear/test/f1/mean .1f --> | 40.1 %<!-- ner_features: second_to_last/bilstm/test/f1/mean .1f --> |
# | last state | 94.9 % | 26.1 %<!-- ner_features: last/linear/test/f1/mean .1f --> | 32.9 %<!-- ner_features: last/bilstm/test/f1/mean .1f --> |
# | weighted sum of the last four | 95.9 % | 35.9 %<!-- ner_features: weighted_last_four/linear/test/f1/mean .1f --> | 41.3 %<!-- ner_features: weighted_last_four/bilstm/test/f1/mean .1f --> |
# | concatenation of the last four | 96.1 % | 37.5 %<!-- ner_features: concat_last_four/linear/test/f1/mean .1f --> | 39.7 %<!-- ner_features: concat_last_four/bilstm/test/f1/mean .1f --> |
# | weighted sum of all layers | 95.5 % | 36.2 %<!-- ner_features: weighted_all/linear/test/f1/mean .1f --> | 40.5 %<!-- ner_features: weighted_all/bilstm/test/f1/mean .1f --> |
# | no features: fine-tuned under a linear layer | 96.4 % | 41.6 %<!-- fine_tuning_wnut: fine_tuned/f1/mean .1f --> | – |
#
# (Entity F1; the paper's column is of the development split, ours are of the test split, means of three seeds with a
# standard deviation of at most 1.7 %<!-- ner_features: concat_last_four/bilstm/test/f1/sd .1f -->; in this table the
# linear layer, too, is trained in batches drawn at random. Our BiLSTM has 64 units in each direction; the paper calls
# its own 768-dimensional. The validation split is among the [measured
# results](../book/results/features.md#ner-features).)
#
# - The last state is behind the one before it, by 0.7 points in the paper and by seven to nine
#   here. (Liu et al., 2019, found on many tasks that middle layers transfer better; Skean et al.,
#   2025, found the same in large language models.)
# - Under the linear layer, every combination of several states is ahead of the single ones that we tried, by about
#   one point to more than two. Under the BiLSTM two of the three are, by a point and by less. In the paper all of them
#   lie between 95.5 and 96.1, and no spread is given. So the choice among the combinations matters little.
# - A word2vec that we trained on WikiText-2 is useless here. Probably it does not know many of these new, odd names.

# %% tags=["nbval-ignore-output"]
REAL = False  # True: three rows of the table, by this page's tagger (needs 5 GB)

if REAL:
    posts = [data.load("entities", s, "real") for s in ("train", "test")]
    both = [states_of(rows) for rows in posts]
    for name in ("embeddings", "last", "concat_last_four"):
        print(name, f"{tag(*(inputs(words, name) for words in both), *posts):.3f}")

# %% [markdown]
# ## Frozen or fine-tuned?
#
# In the paper the best frozen features come within 0.3 points of fine-tuning the same BERT (96.1
# and 96.4). But there a BiLSTM stands on the frozen features, and only one linear layer on the
# fine-tuned ones. How much does the BiLSTM contribute? By our columns three of the four points
# between a linear layer and fine-tuning: on WNUT-17, MiniLM fine-tuned under a linear layer has
# 41.6 %<!-- fine_tuning_wnut: fine_tuned/f1/mean .1f -->; frozen, each on its best features by the
# validation split, a BiLSTM has 40.5 %<!-- ner_features: weighted_all/bilstm/test/f1/mean .1f -->,
# a linear layer 37.5 %<!-- ner_features: concat_last_four/linear/test/f1/mean .1f -->.
#
# What does it cost?

# %% [markdown]
# **Predict.** Frozen features read all sentences once, forward only. An epoch of fine-tuning adds the backward pass and
# the optimizer. On the same sentences, how many times as long as the one reading did such an epoch take: 2, 4 or 10?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: 4 -->
#
# 4.0<!-- ner_features: cost/epoch_of_fine_tuning_over_features/median .1f --> times. "2" takes the backward pass for one
# more reading. But it has two products to compute where the forward pass has one: for what entered a layer, and for the
# layer's weights. That makes 3. What a training step does besides, such as updating the weights, must be the rest; we did
# not measure the parts.
#
# </details>

# %%
epoch = 4.0  # of fine-tuning, in readings: book/results/ner_features.json
print(f"readings for a tagger, fine-tuned for four epochs: {4 * epoch:.0f}")
print(f"for as many as the table has, 36: {36 * 4 * epoch:.0f}; frozen, 1")

# %% [markdown]
# And once the vectors are there, they serve every tagger. The 36 frozen ones in the table (six combinations, two
# taggers, three seeds) shared one reading. Each of them must still be trained, but it is small, and the body is not read
# again. (How long that took was not measured.) The price is memory, here for the 62,730 training words of WNUT-17:

# %%
for name, states in (("all seven states", 7), ("the last four", 4), ("one state", 1)):
    print(f"{name:16} {62_730 * states * 384 * 4 / 1e6:3.0f} MB in single precision")

# %% [markdown]
# So take features where many models share one body, where the body runs elsewhere or must not be changed, or where
# the task needs a model of its own on top. Fine-tune where there are enough labels and the result matters most.
# Measure the baselines in both cases.
#
# ## What goes wrong
#
# ### The vector of something else
#
# Here are four ways to miss the word. None raises an error, for every place of the text has a vector.
#
# - Take vector $i + 1$ for word $i$, as if each word had one piece. After the first word of several pieces all places
#   are shifted.
# - Forget `[CLS]`, and take the vector before the word.
# - Take `[CLS]` for every word.
# - Take the word's last piece.

# %% [markdown]
# **Predict.** The tagger learns and is tested with such vectors, on the last four states side by side. With the right
# ones its F1 is about 0.74, and the bag of features, which sees no vectors, has about 0.44. `[CLS]` forgotten means
# that every word is judged by its left neighbour. What will the F1 be: near 0, about 0.3, or about 0.5?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: about 0.5 -->
#
# About 0.5. Much is lost, and still the vectors of the wrong words are no worse than the bag of features. A
# neighbour's vector was computed from the whole sentence, and tells a good deal about the word beside it; its row of
# the static table, which was not, gives only 0.31 (last line). That makes the bug hard to see. The shifted vectors do
# hardly worse. Only `[CLS]` for every word falls below 0.15: it is the same for all words of a sentence, so it cannot
# tell them apart.
#
# </details>

# %% tags=["atol=0.03"]
wrong = {
    "vector i + 1 for word i": lambda cut: [[i + 1] for i in range(len(cut.places))],
    "[CLS] forgotten": lambda cut: [[p[0] - 1] for p in cut.places],
    "[CLS] for every word": lambda cut: [[0] for _ in cut.places],
    "the last piece": lambda cut: [[p[-1]] for p in cut.places],
}
concat, missed = "concat_last_four", {}
for name, places in wrong.items():
    two = (inputs(states_of(rows, places), concat) for rows in (learn, held_out))
    missed[name] = tag(*two)
    print(f"{name:23} {missed[name]:.2f}")
two = (static(rows, wrong["[CLS] forgotten"]) for rows in (learn, held_out))
by_neighbour = tag(*two)
print(f"[CLS] forgotten, static {by_neighbour:.2f}")

# %% tags=["remove-cell"]
shifted, one_left, cls, last_piece = missed.values()
assert scores[concat] - 0.1 > max(shifted, one_left) and min(shifted, one_left) > by_bag
assert by_neighbour < min(0.38, one_left - 0.1)
assert cls < 0.15 and abs(last_piece - scores[concat]) < 0.06

# %% [markdown]
# Check on one sentence that the pieces under the vector spell the word. The last piece is often called a mistake.
# With these names it does about as well as the first, as long as the tagger also learned from last pieces.
#
#
# ## Exercises
#
# Ungraded; a solution is folded below each.
#
# **1.** A word's vector can also be the mean of its pieces' vectors (`states_of(…, pieces="mean")`). How much better or
# worse do the last four states, side by side, find the names then?

# %% tags=["hide-cell", "atol=0.03"]
# Solution 1
two = (inputs(states_of(rows, pieces="mean"), concat) for rows in (learn, held_out))
print(f"first piece {scores[concat]:.2f}, mean of the pieces {tag(*two):.2f}")
print("names held out: 131, so one name is about 0.01")


# %% [markdown]
# **2.** Divide all vectors by a hundred. No information is lost. Train scikit-learn's logistic regression, with its usual
# settings, on the last state as it is and on the divided one, and compare the F1 of names. What happens, and why?

# %% tags=["hide-cell", "atol=0.04"]
# Solution 2
for divisor in (1, 100):
    regression = LogisticRegression(max_iter=1000).fit(seen[6] / divisor, labels)
    score = f1(regression.predict(asked[6] / divisor).tolist())
    print(f"divided by {divisor}: F1 {score:.2f}")
# Small vectors need large weights, and the penalty keeps weights small. States differ
# in length, too; compare them as they come, and you compare lengths. So each number is
# divided by its deviation, with one catch: where that is next to nothing (the last
# LayerNorm multiplies some by less than 1e-8), only rounding is left to divide.
length, spread = seen.norm(dim=-1).mean(dim=1), seen.std(dim=1)
print(f"mean length of a vector: state 4 {length[4]:.1f}, state 6 {length[6]:.1f}")
print("numbers of state 6 that hardly vary:", int((spread[6] < 1e-6).sum()))

# %% [markdown]
# **3.** Build it: a tagger like the paper's, two BiLSTM layers and a linear one, on the second-to-last state. Train it
# on all 130 sentences at once (64 units in each direction, dropout 0.5 on what enters and leaves the BiLSTM, Adam, rate
# 0.01, 60 steps) and compare with the linear tagger on the same vectors. (`pack_padded_sequence` with the lengths keeps an
# LSTM from reading padding; padded labels are −100, which the loss leaves out.)


# %% tags=["hide-cell", "nbval-ignore-output"]
# Solution 3
class BiLSTMTagger(nn.Module):
    """Reads a sentence's vectors from both sides, then judges each word."""

    def __init__(self, d, n_classes, d_lstm=64):
        super().__init__()
        self.dropout = nn.Dropout(0.5)
        self.lstm = nn.LSTM(d, d_lstm, 2, bidirectional=True, batch_first=True)
        self.head = nn.Linear(2 * d_lstm, n_classes)

    def forward(self, x, lengths):
        """(batch, words, d), (batch,) → (batch, words, n_classes)."""
        x, how = self.dropout(x), {"batch_first": True, "enforce_sorted": False}
        read = self.lstm(pack_padded_sequence(x, lengths, **how))[0]
        return self.head(self.dropout(pad_packed_sequence(read, batch_first=True)[0]))


def sentence_by_sentence(vectors, examples):
    """All words' vectors (words, d) → (sentences, most words, d), and the lengths."""
    lengths = [len(e["words"]) for e in examples]
    return pad_sequence(vectors.split(lengths), batch_first=True), torch.tensor(lengths)


torch.manual_seed(0)
names = sorted(set(labels))
x, lengths = sentence_by_sentence(seen[-2], learn)
y = torch.tensor([names.index(label) for label in labels])
y = pad_sequence(y.split(lengths.tolist()), batch_first=True, padding_value=-100)
tagger = BiLSTMTagger(x.shape[-1], len(names))
optimizer = torch.optim.Adam(tagger.parameters(), lr=0.01)
for _ in range(60):
    optimizer.zero_grad()
    F.cross_entropy(tagger(x, lengths).flatten(0, 1), y.flatten()).backward()
    optimizer.step()
x, lengths = sentence_by_sentence(asked[-2], held_out)
with torch.no_grad():
    best = tagger.eval()(x, lengths).argmax(dim=-1)
said = [names[i] for row, n in zip(best, lengths, strict=True) for i in row[:n]]
print(f"linear {scores['second_to_last']:.2f}, BiLSTM {f1(said):.2f} (one seed)")
# The BiLSTM reads the sentence once more, now for the task: here it does part of what
# fine-tuning lets the body do. (These settings are the best of six, tried on the same
# held-out sentences, so the number flatters.)

# %% [markdown]
# ## Summary
#
# 1. A scalar mix makes one vector of a word's vectors in all layers; the shares are learned with the task.
# 2. Which layer? For names MiniLM's last state was worse than a middle one, and in the paper worse than the one before
#    it, by 0.7 points. For meanings it was as good as any. It depends on the task.
# 3. With several layers together, mixed or side by side, one need not know the best one in advance.
# 4. Frozen features are computed once and serve many models; fine-tuning pays for every one anew.
# 5. A wrong place in the text has a vector too, good enough to hide the mistake. Look at the pieces.
#
# **Homework 6**, questions 7 and 8, is about this chapter: [exercises](../exercises/hw6_using_bert.ipynb).
#
# **Next:** [chapter 16](16_what_bert_learns.ipynb) asks what the attention heads have found of grammar, and [chapter
# 16b](16b_probing.ipynb) what else can be read off the layers.
#
# ## References
#
# - Matthew E. Peters et al. (2018). *Deep contextualized word representations.* NAACL. ELMo; equation 1.
# - Jacob Devlin, Ming-Wei Chang, Kenton Lee and Kristina Toutanova (2019). *BERT: pre-training of deep bidirectional
#   Transformers for language understanding.* NAACL. Section 5.3, table 7.
# - Nelson F. Liu et al. (2019). *Linguistic knowledge and transferability of contextual representations.* NAACL. Oscar
#   Skean et al. (2025). *Layer by layer: uncovering hidden representations in language models.* ICML.
# - Leon Derczynski, Eric Nichols, Marieke van Erp and Nut Limsopatham (2017). *Results of the WNUT2017 shared task on
#   novel and emerging entity recognition.* W-NUT.
