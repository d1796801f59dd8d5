# %% [markdown]
# # The bottleneck
#
# > *seven hundred and forty-two, eighteen, ninety-five, three hundred and six*
#
# Read this list once, cover it with your hand, and say it in another language. A single number is easy. In a list of
# four you soon want to look at the page again.
#
# Early neural translators were not allowed to look (Sutskever, Vinyals and Le, 2014). They read a sentence word by
# word, kept what they had understood in **one vector**, and wrote the translation from that vector alone. In this
# chapter you build such a translator and measure where it breaks. Then you let it look. That look is called
# **attention**, and the rest of the book is about what became of it.

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

draw("bottleneck")

# %% [markdown]
# **After this chapter you can**
#
# - say what a gate does, and write a translator from gated recurrent units;
# - show by measurement where one vector fails, and why a careless test would not have shown it;
# - compute a step of additive attention with a pencil;
# - let a decoder look back, draw where it looks, and say what such a drawing does not prove;
# - say what attention did not mend.
#
# **Time** about 60 minutes. **You need** matrix products, softmax, embeddings and cross-entropy (see the
# [primer](../book/primer.md)). Where you read **Predict**, stop, write your guess down, and only then go on.

# %% tags=["hide-input"]
import math
from itertools import count

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torch.testing import assert_close

from lectures_lib import data
from lectures_lib.models.seq2seq import Seq2Seq, Seq2SeqConfig
from lectures_lib.show import plots
from lectures_lib.show.stepper import Stepper, join, part, pieces

# %% [markdown]
# ## Lists in two languages
#
# Our sentences are lists of one to four numbers below 1,000 (for one test, five), in English and German words. A
# program makes them, so we have as many as we like, and every translation is right. No test list was in training.


# %%
def lists(split, **options):
    """Pairs of an English and a German list, cut into words."""
    return [
        tuple(data.number_tokens(pair[side]) for side in ("en", "de"))
        for pair in data.load("translation", split, **options)
    ]


train_lists = lists("train", size=20_000)
test_lists = {k: lists("test", counts=(k,), size=200) for k in (1, 2, 3, 4, 5)}

english, german = next(
    pair for pair in test_lists[2] if pair[0][:4] == ["thirty", "six", ",", "seven"]
)
print("English:", *english)
print("German: ", *german)

# %% [markdown]
# (A German number is one long word, "siebenhundertdreiundzwanzig". We have cut it into its parts.) German says the last
# two digits the other way round, "six-and-thirty", so a translation word by word would come out in the wrong order.
#
# To the model a word or a comma is a number: its place in a list of all words. Four places are reserved:
#
# - a **begin token** stands before every German sentence;
# - an **end token** stands after every sentence of either language (number 2, the last one below);
# - one token stands for every unknown word;
# - **padding** fills up short sentences: a batch is one table, so its rows must be equally long.

# %%
WORDS = data.WordVocabulary.build(side for pair in train_lists for side in pair)


def encode(pairs):
    """Words to numbers. A target runs from its begin token to its end token."""
    return [
        (WORDS.encode(en, eos=True), WORDS.encode(de, bos=True, eos=True))
        for en, de in pairs
    ]


print(len(WORDS), "entries;", *english, "→", encode([(english, german)])[0][0])

# %% [markdown]
# ## Reading: one state, changed word by word
#
# A **recurrent** network has a state, a vector $h$. It reads a word, changes the state, reads the next one. How can a
# "seven" at the beginning survive until it is needed? By a **gate**: a vector $z$ of numbers between 0 and 1 that says,
# number by number, how much of the old state to keep. The rest comes from a **candidate** $n$ for a new state:
#
# $$h' = z \odot h + (1 - z) \odot n$$
#
# ($\odot$ multiplies two vectors number by number.) One step as a drawing:

# %% tags=["remove-input"]
draw("gate")

# %% [markdown]
# **Predict.** One number of the state is 1, and says "there was a seven". At each of the next six words its gate is $z
# = 0.9$ and the candidate is 0. How much of the 1 is left then: about 0.9, about 0.5 or about 0.1?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: about 0.5 -->
#
# About 0.5, for $0.9^6 = 0.53$. "About 0.9" would be right for one word, but every word takes a tenth of what is left. To
# remember for long, a gate must stay very close to 1.
#
# </details>

# %%
for z in (0.5, 0.9, 0.99):
    h = 1.0
    for _ in range(6):  # six words, whose candidates are 0
        h = z * h + (1 - z) * 0.0
    print(f"z = {z:4}: {h:.2f} left")

# %% [markdown]
# Three gates for you to move, over up to a hundred words: [Mechanisms in motion](../book/motion.md#what-a-gate-keeps).
#
# Gate and candidate are computed from the word's vector $x$ and the old state, with learned matrices. This is the
# **gated recurrent unit**, GRU (Cho et al., 2014), as PyTorch has it, but for the biases:
#
# $$z = \sigma(W_z x + U_z h), \qquad r = \sigma(W_r x + U_r h), \qquad n = \tanh\big(W_n x + r \odot U_n h\big).$$
#
# The **sigmoid** $\sigma$ squeezes every number between 0 and 1, tanh between −1 and 1. Besides the *update gate* $z$
# there is a second gate, $r$: where it is near 0, the candidate does not see the old state. In code, with biases:


# %% tags=["atol=1e-6"]
def gru_step(x, h, W, U, b_W, b_U):
    """The next state, from a word's vector x (d_x,) and the old state h (d_h,)."""
    r_x, z_x, n_x = (W @ x + b_W).chunk(3)  # three matrices in one
    r_h, z_h, n_h = (U @ h + b_U).chunk(3)
    r, z = (r_x + r_h).sigmoid(), (z_x + z_h).sigmoid()
    n = (n_x + r * n_h).tanh()
    return z * h + (1 - z) * n


cell = nn.GRUCell(64, 128)
x, h = torch.randn(64), torch.randn(128)
ours = gru_step(x, h, cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh)
theirs = cell(x[None], h[None])[0]  # None makes a batch of one, [0] takes it out
difference = (ours - theirs).abs().max().item()
print(f"our five lines and nn.GRUCell: largest difference {difference:.1e}")

# %% [markdown]
# The **encoder** reads the sentence twice, from left to right and from right to left. So every word has two states: one
# knows the word and those before it, the other the word and those after it. Side by side they are one state of
# `d_state` numbers.
#
# Each direction ends with a state that has seen the whole sentence. A small layer mixes these two into the **summary**
# of the sentence. (The code is folded, and can wait until you have seen the measurements.)


# %% tags=["hide-input"]
class RecurrentEncoder(nn.Module):
    """Reads a batch of sentences, in both directions."""

    def __init__(self, n_words, d_word=64, d_state=128):
        super().__init__()
        self.embedding = nn.Embedding(n_words, d_word)
        self.gru = nn.GRU(d_word, d_state // 2, batch_first=True, bidirectional=True)
        self.W_s = nn.Linear(d_state, d_state)

    def forward(self, source, lengths):
        """A state for each word (batch, n, d_state), and the summary."""
        # not enforce_sorted: the sentences may come in any order of length
        options = {"batch_first": True, "enforce_sorted": False}
        # packing tells the GRU each sentence's length: it stops at the last real word
        x = pack_padded_sequence(self.embedding(source), lengths, **options)
        states, last = self.gru(x)
        states, _ = pad_packed_sequence(states, batch_first=True)  # a table again
        forwards, backwards = last  # where each direction ended, (batch, d_state / 2)
        return states, self.W_s(torch.cat([forwards, backwards], dim=-1)).tanh()


# %% [markdown]
# ## Writing from one vector
#
# The **decoder** is another GRU. Its first state is the summary, and that is all it ever learns about the English
# sentence. At each step it reads the word that was written last, changes its state, and scores every word of the
# vocabulary as the next one.
#
# In training, the decoder reads the *right* words so far rather than its own (**teacher forcing**; more in chapter 6).
# `states` and `mask` wait for the decoder with attention.


# %%
class RecurrentDecoder(nn.Module):
    """Writes word by word, from one vector."""

    def __init__(self, n_words, d_word=64, d_state=128):
        super().__init__()
        self.embedding = nn.Embedding(n_words, d_word)
        self.gru = nn.GRUCell(d_word, d_state)
        self.output = nn.Linear(d_state, n_words)

    def forward(self, word, h, states, mask):
        """Scores of the next word, the new state, and where it looked: nowhere."""
        h = self.gru(self.embedding(word), h)
        return self.output(h), h, None


# %% [markdown]
# The folded `Translator` runs the encoder once, then the decoder once for each word. Each call hands its state to the
# next.


# %% tags=["hide-input"]
class Translator(nn.Module):
    """An encoder and a decoder."""

    def __init__(self, n_words, decoder=RecurrentDecoder):
        super().__init__()
        self.encoder, self.decoder = RecurrentEncoder(n_words), decoder(n_words)

    def read(self, source, lengths):
        """The states, which of them are words and not padding, and the summary."""
        states, summary = self.encoder(source, lengths)
        return states, torch.arange(source.shape[1]) < lengths[:, None], summary

    def forward(self, source, target, lengths):
        """Scores of the word after each target word, and where it looked."""
        states, mask, h = self.read(source, lengths)
        steps = []
        for word in target.unbind(dim=1):  # one after the other
            scores, h, look = self.decoder(word, h, states, mask)
            steps.append((scores, look))
        scores, looks = zip(*steps, strict=True)
        return torch.stack(scores, dim=1), looks


# %% [markdown]
# In use nobody gives the model the right words. It writes the word with the best score, reads that, and goes on until
# the end token comes: **greedy** decoding, the folded function `translate`.


# %% tags=["hide-input", "nbval-ignore-output"]
@torch.no_grad()
def translate(model, sources, use_mask=True, hide=None, most=40):
    """The likeliest next word, again and again, for a batch of sentences."""
    source, lengths = data.pad([WORDS.encode(words, eos=True) for words in sources])
    states, mask, h = model.read(source, lengths)
    mask = mask if use_mask else torch.ones_like(mask)
    if hide is not None:  # the decoder may not look at this word, wherever it stands
        mask = mask & (source != WORDS.encode([hide])[0])
    word = torch.full((len(sources),), data.BOS)
    done = torch.zeros(len(sources), dtype=torch.bool)
    written = []
    while len(written) < most and not done.all():
        scores, h, _ = model.decoder(word, h, states, mask)
        word = scores.argmax(dim=-1)
        done = done | (word == data.EOS)
        written.append(word)
    return [WORDS.decode(row) for row in torch.stack(written, dim=1).tolist()]


torch.manual_seed(2)
untrained = Translator(len(WORDS))
print("written:", *translate(untrained, [english])[0][:8], "…")

# %% tags=["remove-cell"]
# Ours is the library's, which the experiments train: the same parameters in the same order.
torch.manual_seed(0)
library = Seq2Seq(Seq2SeqConfig(len(WORDS), len(WORDS)))
torch.manual_seed(0)
ours = Translator(len(WORDS))
batch = data.pad_pairs(encode(test_lists[3][:5]))
assert_close(
    ours(batch.source, batch.read, batch.source_lengths)[0],
    library(batch.source, batch.read, batch.source_lengths),
)

# %% [markdown]
# Untrained, it babbles. Training is gradient descent on the cross-entropy of each next word (padding is not counted:
# `ignore_index`), in only 450 steps of 32 lists, so that the page runs in a minute. The loop is folded; [chapter
# 8](08_training.ipynb) takes one apart. With it stands `exact`: the share of lists that are right from the first word
# to the last.
#
# A **seed** decides all that is random in a training: the numbers that the model begins with, and the order of the examples. "Over four seeds" will mean: four trainings that differ in nothing else.


# %% tags=["hide-input"]
def train(decoder, pairs, steps=450):
    """A translator, trained on pairs of sentences."""
    torch.manual_seed(0)
    torch.set_num_threads(1)  # matrices this small are no faster with two
    model = Translator(len(WORDS), decoder)
    optimizer = torch.optim.Adam(model.parameters())
    batches = data.Batches(encode(pairs), data.pad_pairs, batch_size=32)
    endless = (batch for epoch in count() for batch in batches.epoch(epoch))
    for step, batch in zip(range(steps), endless, strict=False):
        # the size of a step rises at first, then falls to zero
        rising, falling = step / 20, (steps - step) / (steps - 20)
        optimizer.param_groups[0]["lr"] = 0.005 * min(rising, falling)
        # read: begin token to last word; predicted: the same, one place on
        scores, _ = model(batch.source, batch.read, batch.source_lengths)
        # mT: (batch, n, vocabulary) → (batch, vocabulary, n), as cross_entropy wants it
        loss = F.cross_entropy(scores.mT, batch.predicted, ignore_index=data.PAD)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # at most of length 1
        optimizer.step()
    return model


def exact(model, pairs, **options):
    """Share of lists that are right from the first word to the last."""
    sources, targets = zip(*pairs, strict=True)
    written = translate(model, sources, **options)
    right = [ours == theirs for ours, theirs in zip(written, targets, strict=True)]
    return sum(right) / len(right)


# %% [markdown]
# ## Single numbers first
#
# There are a thousand single numbers: about 800 for training, 97 for the test, the rest for validation.

# %% [markdown]
# **Predict.** The translator is trained on single numbers. How many of those that it has never seen does it get right:
# hardly any, about half or nearly all?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: nearly all -->
#
# Nearly all: 0.98<!-- rnn_attention: single_numbers/exact/1/mean .2f --> of them, on average over four seeds
# ([results](../book/results/attention.md#rnn-attention)). So the model has not learned numbers by heart; it has learned
# how they are built, the German order of the digits included.
#
# </details>

# %% tags=["nbval-ignore-output"]
single_numbers = [pair for pair in train_lists if "," not in pair[0]]
only_single = train(RecurrentDecoder, single_numbers)
print(f"single numbers right: {exact(only_single, test_lists[1]):.2f}")

# %% tags=["remove-cell"]
assert exact(only_single, test_lists[1]) > 0.9

# %% [markdown]
# ## A test that shows it
#
# So one vector is enough for one number. Now the same model learns lists, for the same 450 steps.

# %% [markdown]
# **Predict.** Trained on lists of one to four numbers, the model has about three in four of the single numbers right
# (on average over four seeds). What share of the lists of *two* does it get right: about 0.75, about 0.56 or less than
# 0.1?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: less than 0.1 -->
#
# Less than 0.1: on average over four seeds 0.03<!-- rnn_attention: gru/exact/2/mean .2f --> of them, beside 0.76<!--
# rnn_attention: gru/exact/1/mean .2f --> of the single numbers. If each number of a list came out as well as a number
# alone, it would be about $0.75^2 = 0.56$.
#
# </details>

# %% tags=["nbval-ignore-output"]
scores = {}
without = train(RecurrentDecoder, train_lists)
scores["one vector"] = [exact(without, pairs) for pairs in test_lists.values()]
for k, share in zip(test_lists, scores["one vector"], strict=True):
    print(f"numbers in the list: {k}   lists right: {share:.2f}")

# %% tags=["remove-cell"]
assert 0.1 < scores["one vector"][0] < 0.95 and max(scores["one vector"][1:]) < 0.2

# %% tags=["nbval-ignore-output"]
sample_english, sample_german = test_lists[3][0]
print("English:", *sample_english)
print("written:", *translate(without, [sample_english])[0])
print("right:  ", *sample_german)

# %% [markdown]
# These are proper numbers (at least in our run), but not those of the list. Had we stopped at single numbers, we would
# have reported that one vector is enough.
#
# **Is the vector too small?** Each number is one of a thousand, ten bits, so a list of four has forty. Our vector has
# 128 numbers of 32 bits each, a hundred times as many. Counted in bits, it is large enough.
#
# But a network has to *learn* how to put things in and how to get them out again. Given ten times the steps (4,500,
# three seeds), the same model gets 1.00<!-- rnn_attention: gru_ten_times_the_steps/exact/2/mean .2f --> of the lists of
# two right, 0.89<!-- rnn_attention: gru_ten_times_the_steps/exact/3/mean .2f --> of three, and 0.31<!-- rnn_attention:
# gru_ten_times_the_steps/exact/4/mean .2f --> of four. So two or three numbers do pass through one vector, but each
# further number takes longer to learn.
#
# **On real sentences?** Such a translator got worse the longer the sentence (Cho et al., 2014b); one that looks did
# not, even at fifty words (Bahdanau, Cho and Bengio, 2015). But Sutskever and his colleagues saw hardly any loss on
# long sentences, with a much larger network that read its source backwards. (Their cell was the **LSTM**, Hochreiter
# and Schmidhuber, 1997, older than the GRU and gated as well.)
#
# ## Looking back, by hand
#
# The encoder had a state at every word, and we threw all of them away but the last of each direction. Now keep them
# all. Whenever the decoder is about to write, let it
#
# 1. **score** each of these states by how well it fits the decoder's own state,
# 2. turn the scores into **weights** with a softmax, and
# 3. take the weighted average of the states, the **context**, as a further input.
#
# How to score? Bahdanau, Cho and Bengio, who brought this to translation, let a small network decide. With the
# decoder's state $s$ and the encoder's state $h_j$ at word $j$,
#
# $$e_j = v^\top \tanh(W_q\, s + W_k\, h_j), \qquad \alpha = \operatorname{softmax}(e), \qquad c = \sum_j \alpha_j h_j.$$
#
# This is **additive attention**, named after the plus sign. With short vectors a pencil will do. The source is "twenty
# five ,". Its states are tidy here: the first number says "I am a unit", the second "I am a ten".
#
# | word | its state $h_j$ |
# |---|---|
# | twenty | (0, 1) |
# | five | (1, 0) |
# | , | (0, 0) |
#
# Let $W_q$ and $W_k$ be identity matrices, and let $v = (3, 3)$. The decoder's state is $s = (0, 2)$. Which word does
# it look at? You need $\tanh 0 = 0$, $\tanh 1 = 0.762$, $\tanh 2 = 0.964$ and $\tanh 3 = 0.995$.
#
# - twenty: $s + h = (0, 3)$, tanh $(0, 0.995)$, score $3 \cdot 0 + 3 \cdot 0.995 = 2.99$;
# - five: $s + h = (1, 2)$, tanh $(0.762, 0.964)$, score $3 \cdot 0.762 + 3 \cdot 0.964 = 5.18$;
# - comma: $s + h = (0, 2)$, tanh $(0, 0.964)$, score $3 \cdot 0 + 3 \cdot 0.964 = 2.89$.
#
# Then $e$ to the power of these scores (not rounded) is 19.8, 177.1 and 18.0, together 215. So the weights are 0.09,
# 0.82 and 0.08, and the context is $0.82 \cdot (1, 0) + 0.09 \cdot (0, 1) = (0.82, 0.09)$: mostly "unit". German says
# the unit first, so this is a good state to begin with.

# %% tags=["remove-input"]
draw("looking_back")

# %%
tidy = torch.tensor([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
v = torch.tensor([3.0, 3.0])


def by_hand(s):
    """Scores, weights and context, for a decoder's state s (2,)."""
    scores = torch.tanh(s + tidy) @ v
    weights = scores.softmax(dim=-1)
    return {"scores": scores, "weights": weights, "context": weights @ tidy}


for name, numbers in by_hand(torch.tensor([0.0, 2.0])).items():
    print(f"{name:8}", [f"{number:.2f}" for number in numbers])

# %% [markdown]
# **Predict.** The decoder has written "fünf und", and its state has moved on to $s = (2, 0)$. Which word gets the most
# attention now: "twenty", "five" or the comma?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: "twenty" -->
#
# "Twenty", with 0.82: the two words have changed roles. "Five" is tempting, for its state (1, 0) points the same way as
# (2, 0). But additive attention does not compare directions: it adds the two vectors, and squeezes each sum with tanh.
# The 2 makes the first tanh 0.96 or 1.00, whatever the word is. So the first number hardly tells the words apart, and
# the second decides.
#
# </details>

# %%
for name, numbers in by_hand(torch.tensor([2.0, 0.0])).items():
    print(f"{name:8}", [f"{number:.2f}" for number in numbers])

# %% [markdown]
# ## A decoder that looks
#
# Now in code, for a batch of sentences and with learned matrices. One thing is new, a **mask**: the decoder must not
# look at the padding. There the score is minus infinity, which becomes a weight of zero.


# %%
class Look(nn.Module):
    """Additive attention: score every state, average the states by their scores."""

    def __init__(self, d_state):
        super().__init__()
        self.W_q = nn.Linear(d_state, d_state, bias=False)
        self.W_k = nn.Linear(d_state, d_state, bias=False)
        self.v = nn.Linear(d_state, 1, bias=False)

    def forward(self, s, states, mask):
        """The context (batch, d_state), and the weights (batch, n)."""
        # (batch, 1, d_state) + (batch, n, d_state): s is added to every state
        hidden = torch.tanh(self.W_q(s)[:, None] + self.W_k(states))
        scores = self.v(hidden)[:, :, 0].masked_fill(~mask, -math.inf)  # (batch, n)
        weights = scores.softmax(dim=-1)
        # (batch, 1, n) @ (batch, n, d_state): one average for each sentence
        return (weights[:, None] @ states)[:, 0], weights


# %% [markdown]
# Like Bahdanau's, our decoder looks first, with its old state. Then the GRU reads the word written last and the context
# side by side, and moves to a new state. From the context and the new state comes the next word. There is one look for
# every word that is *written*, and none while the encoder reads.


# %%
class LookingDecoder(nn.Module):
    """Looks at all states of the encoder before it writes a word."""

    def __init__(self, n_words, d_word=64, d_state=128):
        super().__init__()
        self.embedding = nn.Embedding(n_words, d_word)
        self.gru = nn.GRUCell(d_word + d_state, d_state)
        self.look = Look(d_state)
        self.W_c = nn.Linear(2 * d_state, d_state)
        self.output = nn.Linear(d_state, n_words)

    def forward(self, word, h, states, mask):
        """Scores of the next word, the new state, and where the decoder looked."""
        context, weights = self.look(h, states, mask)
        h = self.gru(torch.cat([self.embedding(word), context], dim=-1), h)
        mixed = self.W_c(torch.cat([context, h], dim=-1)).tanh()
        return self.output(mixed), h, weights


# %% tags=["remove-cell"]
torch.manual_seed(0)
library = Seq2Seq(Seq2SeqConfig(len(WORDS), len(WORDS), attention="additive"))
torch.manual_seed(0)
ours = Translator(len(WORDS), LookingDecoder)
assert_close(
    ours(batch.source, batch.read, batch.source_lengths)[0],
    library(batch.source, batch.read, batch.source_lengths),
)

# %% [markdown]
# ## Measured again
#
# Does looking help? The batches and the number of steps are those of the model with one vector.

# %% [markdown]
# **Predict.** With attention the model gets nearly all lists of four right. It was trained on lists of one to four.
# What about lists of *five*: nearly all, about half, or no more than a third?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: no more than a third -->
#
# No more than a third: 0.08<!-- rnn_attention: additive/exact/5/mean .2f --> on average over four seeds. (The number is
# unstable: on other processors we have seen up to a third.) "Nearly all" is tempting, for the model may look at every
# word that it needs. But going beyond the lengths of training is an obstacle of its own.
#
# </details>

# %% tags=["nbval-ignore-output"]
looking = train(LookingDecoder, train_lists)
scores["with attention"] = [exact(looking, pairs) for pairs in test_lists.values()]
for name, shares in scores.items():
    print(f"{name:14}", *(f"  {k}: {x:.2f}" for k, x in enumerate(shares, 1)))

# %% tags=["hide-input"] mystnb={"image": {"alt": "Bars for lists of one to five numbers. One vector: more than half of the single numbers are right and hardly anything else. With attention: nearly all lists of one, two, three and four numbers are right, and far fewer of five, the length that was not in training."}, "figure": {"caption": "Lists translated without a mistake, by the number of items. Both models were trained on lists of one to four; five is more than they have ever seen."}}
figure, ax = plt.subplots(figsize=(6.4, 3.0))
for (name, shares), shift, colour in zip(
    scores.items(), (-0.2, 0.2), (plots.RED, plots.BLUE), strict=True
):
    places = [k + shift for k in test_lists]
    ax.bar(places, shares, width=0.36, color=colour, label=name)
ax.axvspan(4.5, 5.5, color=plots.PALE, zorder=0)
ax.text(5, 0.96, "not trained on", ha="center", va="top", fontsize=9)
ax.set(
    xlabel="numbers in the list", ylabel="share right", ylim=(0, 1.02), xlim=(0.5, 5.5)
)
ax.legend(loc="upper center", bbox_to_anchor=(0.5, 1.2), ncols=2)
plt.show()

# %% tags=["remove-cell"]
assert min(scores["with attention"][:4]) > 0.85
assert sum(scores["with attention"][:4]) / 4 > 0.9
assert scores["with attention"][4] < 0.7

# %% [markdown]
# Of the lists of four, 0.97<!-- rnn_attention: additive/exact/4/mean .2f --> are right with attention, on average over
# four seeds (at worst 0.95<!-- rnn_attention: additive/exact/4/min .2f -->). This model is larger, too, but size
# explains little: with one vector and nearly as many parameters (270,054<!-- rnn_wide: n_parameters ,.0f --> against
# 272,834<!-- bottleneck: n_parameters/additive ,.0f -->), 0.14<!-- rnn_wide: exact/2/mean .2f --> of the lists of two
# come out right, and 0.00<!-- rnn_wide: exact/3/mean .2f --> of three.
#
# ## Where it looks
#
# Where does it look while it writes? We can draw the weights: one row for each German word, one column for each English
# one. Nobody told the model which word belongs to which, the **alignment** of the two lists. For numbers we know it,
# and frames mark the right word; where German turns two digits round, they run from right to left. ("Und" has two
# frames, at the unit and at the ten that it joins. The English "and", which German leaves out, has none, and neither
# have the end tokens.)


# %%
@torch.no_grad()
def looks_of(model, pairs):
    """(batch, n_target, n_source): where it looks, the right words being given."""
    batch = data.pad_pairs(encode(pairs))
    _, looks = model(batch.source, batch.read, batch.source_lengths)
    return torch.stack(looks, dim=1)


weights = looks_of(looking, [(english, german)])[0]


# %% tags=["hide-input"] mystnb={"image": {"alt": "Heat map of attention weights. Rows: sechs und drei\u00dfig comma sieben hundert drei und zwanzig and the end. Columns: thirty six comma seven hundred and twenty three and the end. Orange frames mark the words that each row translates (two for \u201cund\u201d, none for the end); within both two-digit numbers the frames run from right to left. Most of the strong squares lie in the frames or beside them."}, "figure": {"caption": "Where the decoder looked while it wrote each German word (rows), over the English words (columns): the number is the share of the look, and each row sums to 1. Orange: the words that it translates. \u201cUnd\u201d joins two words, so it has two."}}
def frame_right(ax):
    """Frames around the words that each row translates."""
    for row, columns in enumerate(data.number_alignment(english, german)):
        for column in columns:
            corner = (column - 0.46, row - 0.46)
            style = {"fill": False, "edgecolor": plots.ORANGE, "linewidth": 2}
            ax.add_patch(plt.Rectangle(corner, 0.92, 0.92, **style))


figure, ax = plt.subplots(figsize=(6.4, 5.0))
rows, columns = [*german, "end"], [*english, "end"]
plots.heatmap(weights, rows, columns, ax=ax, numbers=".2f", limit=1.0)
frame_right(ax)
ax.set(xlabel="English, read", ylabel="German, written")
plt.show()

# %% [markdown]
# The same, step by step: below each English word its share, and in frames what the new German word translates.

# %% tags=["hide-input", "nbval-ignore-output"]
right = [*data.number_alignment(english, german), set()]  # nothing for the end
frames = [
    join(
        part("written", pieces([*german, "end"][: i + 1], marked=[i])),
        part(
            "read",
            pieces(
                [*english, "end"],
                marked=right[i],
                shades=row.clamp(0, 1).tolist(),
                notes=[f"{share:.2f}" for share in row.tolist()],
            ),
        ),
    )
    for i, row in enumerate(weights)
]
Stepper(
    frames,
    "A translator that looks back",
    labels=[*(f"as it writes “{word}”" for word in german), "as it writes the end"],
    alt="At each German word, the English words are shaded by the decoder's attention.",
)

# %% tags=["remove-cell"]
looked = [english[row.argmax()] for row in weights[: len(german), : len(english)]]
pairs = {"sechs": "six", "dreißig": "thirty", "drei": "three", "zwanzig": "twenty"}
hit = [looked[german.index(word)] == meaning for word, meaning in pairs.items()]
assert sum(hit) >= 3


# %% [markdown]
# One example may be luck. In all test lists of up to four, for how many German words does the largest weight lie on a
# right English word? We count the same for a blind rule, which knows only the two lengths and walks along the diagonal:


# %% tags=["hide-input"] mystnb={"image": {"alt": "The table of the heat map above with the end left out, without weights. The blind rule's squares, which are filled, run from the upper left corner to the lower right one. The orange frames of the right words cross that line within both two-digit numbers."}, "figure": {"caption": "Where the blind rule looks (the filled squares), on the same two lists. Orange, as before: the words that each row translates."}}
def walk(en, de):
    """For each German word the English one that lies as far along the sentence."""
    return [(2 * i + 1) * len(en) // (2 * len(de)) for i in range(len(de))]


squares = torch.eye(len(english))[walk(english, german)]
figure, ax = plt.subplots(figsize=(4.6, 3.6))
plots.heatmap(0.6 * squares, german, english, ax=ax, limit=1.0)
frame_right(ax)
plt.show()


# %%
def hits(pairs, columns_looked_at):
    """Share of German words for which the column looked at is a right one."""
    right = {"und": [], "other words": []}
    for (en, de), looked in zip(pairs, columns_looked_at, strict=True):
        truth = data.number_alignment(en, de)
        for word, columns, column in zip(de, truth, looked, strict=False):
            kind = "und" if word == "und" else "other words"
            right[kind].append(column in columns)
    return {kind: sum(found) / len(found) for kind, found in right.items()}


up_to_four = [pair for k in (1, 2, 3, 4) for pair in test_lists[k]]
looked = looks_of(looking, up_to_four).argmax(dim=-1).tolist()
diagonal = [walk(en, de) for en, de in up_to_four]
found, blind = hits(up_to_four, looked), hits(up_to_four, diagonal)

# %% tags=["atol=0.2"]
for kind in found:
    print(f"{kind:12} attention {found[kind]:.2f}   blind {blind[kind]:.2f}")

# %% tags=["remove-cell"]
assert (f"{blind['und']:.2f}", f"{blind['other words']:.2f}") == ("0.97", "0.48")
assert found["und"] > 0.9 and found["other words"] > 0.5

# %% [markdown]
# "Und" tells us little: two words count as right, and the blind rule nearly always finds one of them. Of the other
# words, over four seeds, 0.71<!-- rnn_attention: additive/alignment/other/mean .2f --> are looked up in the right
# place, where the blind rule has 0.48. So the model has learned something about where to look.
#
# But 24 to 33 % of these words are looked up elsewhere. Which ones?

# %% tags=["atol=0.5"]
kinds = {"hundert": [], ",": [], "digits and tens": []}
for (en, de), row in zip(up_to_four, looked, strict=True):
    truth = data.number_alignment(en, de)
    for word, columns, column in zip(de, truth, row, strict=False):
        if word != "und":
            kinds.get(word, kinds["digits and tens"]).append(column in columns)

right = {kind: sum(found) / len(found) for kind, found in kinds.items()}
for kind, share in right.items():
    print(f"{kind:15} looked up in the right place: {share:.2f}")

# %% tags=["remove-cell"]
assert right["digits and tens"] > 0.9 and right["hundert"] < 0.6

# %% [markdown]
# Mostly "hundert". As the model writes this word, it mostly looks elsewhere than at "hundred" (where it looks instead differs from training to training). Is that a defect? Let us forbid the decoder every look at "hundred" (`hide` in `translate`).
# The encoder still reads the whole list.

# %% [markdown]
# **Predict.** All 200 test lists of four have a "hundred". How many does the model get right without looking at it:
# hardly any, about half, or as many as before? And with "seven" hidden instead, of the lists that have one: nearly all,
# about half, or fewer?
#
# <details><summary>Answer</summary>
#
# As many as before, give or take a few, with "hundred" hidden; fewer than half with "seven". "Hardly any" is tempting
# for "hundred": how can one translate a word at which one may not look? But the decoder did not need that state. The
# one at "seven" it does need.
#
# </details>

# %% tags=["nbval-ignore-output"]
shares = {}
for word in ("hundred", "seven"):
    having = [pair for pair in test_lists[4] if word in pair[0]]
    shares[word] = exact(looking, having), exact(looking, having, hide=word)
    print(f"{len(having)} lists with {word}:", end=" ")
    print("right {:.2f}, with the word hidden {:.2f}".format(*shares[word]))

# %% tags=["remove-cell"]
assert abs(shares["hundred"][0] - shares["hundred"][1]) < 0.1
assert shares["seven"][0] > 0.85 and shares["seven"][1] < 0.5

# %% [markdown]
# Why does a missing look at "hundred" do no harm? Two explanations fit, perhaps both:
#
# - **A state is not a word.** The encoder reads in both directions, so the state at "seven" can know that "hundred"
#   comes next. One look there may find both.
# - **Some words need no look of their own.** Once "sieben" is written, "hundert" can be written from memory.
#
# Hiding "seven" does harm: what its neighbours' states know of it is not enough for this decoder.
#
# So a map of attention shows which *states* the decoder read. To learn what it *needs*, hide something. Remember that
# when you see the picture at the start of [chapter 2](02_self_attention.ipynb).
#
# **Try it.** Translate a list of your own, in lower case, and hide one of its words: `translate(looking,
# [data.number_tokens("forty-two, seven")], hide="seven")`, then `hide="forty"`. If it still comes out right, who knew:
# a neighbour's state, or the summary with which the decoder began?
#
# ## Three ways to score
#
# The score need not come from a network. Luong, Pham and Manning (2015) tried simpler ones: **dot**, the dot product $s
# \cdot h_j$, with nothing to learn, and **general**, $s^\top W h_j$. Their decoder also works in another order: it
# first moves to its new state, and then looks, *with the new state*. With any of the three scores, the model does far
# better on our lists than without attention. What became of them is in [chapter
# 2](02_self_attention.ipynb#other-ways-to-score).
#
# <details><summary>Which of the three was best on our lists?</summary>
#
# On the same lists, after the same number of steps, over four seeds:
#
# | lists right: | one | four | five | looked at a right word ("und" included) |
# |---|---|---|---|---|
# | additive | 1.00<!-- rnn_attention: additive/exact/1/mean .2f --> | 0.97<!-- rnn_attention: additive/exact/4/mean .2f --> | 0.08<!-- rnn_attention: additive/exact/5/mean .2f --> | 0.75<!-- rnn_attention: additive/alignment/all/mean .2f --> |
# | dot | 1.00<!-- rnn_attention: dot/exact/1/mean .2f --> | 0.88<!-- rnn_attention: dot/exact/4/mean .2f --> | 0.03<!-- rnn_attention: dot/exact/5/mean .2f --> | 0.84<!-- rnn_attention: dot/alignment/all/mean .2f --> |
# | general | 0.98<!-- rnn_attention: general/exact/1/mean .2f --> | 0.53<!-- rnn_attention: general/exact/4/mean .2f --> | 0.01<!-- rnn_attention: general/exact/5/mean .2f --> | 0.75<!-- rnn_attention: general/alignment/all/mean .2f --> |
# | no attention | 0.76<!-- rnn_attention: gru/exact/1/mean .2f --> | 0.00<!-- rnn_attention: gru/exact/4/mean .2f --> | 0.00<!-- rnn_attention: gru/exact/5/mean .2f --> | |
#
# The table does not tell which score is best: the rows differ in the order of the decoder's steps, too, and only one
# learning rate was tried. And 450 steps are few: "general" starts with a random $W$, and gets from 0.15<!--
# rnn_attention: general/exact/4/min .2f --> to 0.77<!-- rnn_attention: general/exact/4/max .2f --> of the lists of four
# right, depending on the seed.
#
# </details>
#
# ## What attention did not mend
#
# A state still needs the state before it. So a GRU takes $n$ steps for $n$ words, one after the other, on any machine.
# We timed the training of a GRU and of a layer of attention, both 256 numbers wide, on two CPU cores (medians of 25
# runs; [results](../book/results/attention.md#parallel-time)). The GRU took
#
# - 11.6<!-- parallel_time: training/batch_1/gru_over_attention/128/median .1f --> times as long for one sentence of 128
#   words (in single runs from 7<!-- parallel_time: training/batch_1/gru_over_attention/128/min .0f --> to 38<!--
#   parallel_time: training/batch_1/gru_over_attention/128/max .0f -->),
# - 4.2<!-- parallel_time: training/batch_16/gru_over_attention/128/median .1f --> times as long for a batch of 16 such
#   sentences,
# - 4.1<!-- parallel_time: training/batch_1/gru_over_attention/2048/median .1f --> times as long for one of 2,048 words.
#
# Multiplications do not explain it: at 128 words the GRU needs 1.2 times as many, at 2,048 less than a third. A likely reason: it
# has to do many small products one after the other, where attention does a few large ones.
#
# If a decoder can fetch what it needs from any word directly, why keep the recurrence? Vaswani et al. (2017) took it
# away, and called the result the **Transformer**. Chapters 2 and 3 build its attention.
#
# <details><summary>Is a Transformer better at our lists?</summary>
#
# Not at once. We trained one with about as many parameters as our translator, at one learning rate. After 800 steps it
# had, on average over three seeds, 0.40<!-- bottleneck: accuracy/transformer/800/4/mean .2f --> of the lists of four
# right (0.15<!-- bottleneck: accuracy/transformer/800/4/min .2f --> to 0.55<!-- bottleneck:
# accuracy/transformer/800/4/max .2f -->). The recurrent decoder with additive attention had 0.99<!-- bottleneck:
# accuracy/additive/800/4/mean .2f -->. That says something about 800 steps on a tiny task. For large models, much data
# and long training, [chapter 8b](08b_judging.ipynb#what-the-paper-reported) has the paper's numbers.
#
# </details>
#
# ## What goes wrong: looking at the padding
#
# PyTorch's own, much-used tutorial has filled its batches up with zeros since June 2023 ([issue
# 2840](https://github.com/pytorch/tutorials/issues/2840)), and its attention has no mask. Everything runs and the loss
# falls. Let us forget the mask, too, in our trained model. We translate the single numbers in one batch with a very
# long sentence (five lists of four in a row), so most of each row is padding.

# %% [markdown]
# **Predict.** At a padded place the encoder's state is zero: PyTorch fills it so when it brings the states back into one
# tensor (`pad_packed_sequence`, in the folded encoder). With the mask the
# model gets nearly all single numbers right. How many does it get right without the mask, with most seeds: just as many
# (a zero adds nothing to a sum), nine in ten, or fewer than half?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: fewer than half -->
#
# Fewer than half, with most seeds; but it depends on the seed. (Three others leave 0.01<!-- other_seeds:
# chapter_1/mask_forgotten/min .2f -->, 0.22<!-- other_seeds: chapter_1/mask_forgotten/median .2f --> and 0.85<!--
# other_seeds: chapter_1/mask_forgotten/max .2f -->.) A state of zeros gets a score like any other, and takes a share of
# the weight. A zero does add nothing to the sum, but the weight that goes to the zeros is missing at the real words, so
# the context becomes smaller.
#
# </details>

# %% tags=["nbval-ignore-output"]
sources, targets = zip(*test_lists[1], strict=True)
very_long = [word for source, _ in test_lists[4][:5] for word in source]
company = {}
for name, use_mask in {"with the mask": True, "mask forgotten": False}.items():
    *written, _ = translate(looking, [*sources, very_long], use_mask=use_mask)
    right = [ours == theirs for ours, theirs in zip(written, targets, strict=True)]
    company[name] = sum(right) / len(right)
    print(f"numbers right, {name:14} {company[name]:.2f}")

# %% tags=["remove-cell"]
alone = exact(looking, test_lists[1])
assert alone > 0.85 and abs(company["with the mask"] - alone) < 0.02
assert company["mask forgotten"] < company["with the mask"] - 0.05

# %% [markdown]
# The shorter a sentence and the longer its neighbours, the more attention goes to nothing. The remedy is the mask, one
# line. A test is easy, too: a translation must not change when padding is added.

# %% [markdown]
# ## Exercises
#
# Ungraded; a solution is folded below each.
#
# **Exercise 1.** How close to 1 must a gate stay if half of a number is to survive ten words? And a hundred? (The
# candidates are 0, as above.)

# %% tags=["hide-cell"]
# Solution 1
for n in (10, 100):
    z = 0.5 ** (1 / n)  # z to the power of n is one half
    print(f"{n:3} words: z = {z:.4f}, and {z**n:.2f} is left")

# %% [markdown]
# **Exercise 2.** Score the three tidy states with the dot product $s \cdot h_j$ instead. What are the weights for $s =
# (0, 2)$, and which state would the decoder need in order to look at "five"?

# %% tags=["hide-cell"]
# Solution 2
for s in (torch.tensor([0.0, 2.0]), torch.tensor([2.0, 0.0])):
    weights = (tidy @ s).softmax(dim=-1)
    print("state", s.tolist(), "weights", [f"{weight:.2f}" for weight in weights])
# A dot product looks where the state points: (0, 2) finds "twenty", (2, 0) finds
# "five". Which state asks for which word is a matter of the score, and is learned with
# it.

# %% [markdown]
# **Exercise 3.** Does a look know the order of the words? Take the encoder's states of our example, shuffle them, and
# let `looking.decoder.look` score them with the same decoder's state. Compare the contexts.

# %% tags=["hide-cell", "atol=1e-5"]
# Solution 3
batch = data.pad_pairs(encode([(english, german)]))
with torch.no_grad():
    states, mask, summary = looking.read(batch.source, batch.source_lengths)
    context, _ = looking.decoder.look(summary, states, mask)
    backwards, _ = looking.decoder.look(summary, states.flip(1), mask)
print(f"largest change of the context: {(context - backwards).abs().max():.1e}")
# None. An average does not know in which order it was taken. What the model knows of
# order is in the states themselves: the encoder's GRU has put it there.

# %% [markdown]
# **Exercise 4.** At each place of a list of four: how often does the model with one vector write the right *number*
# there? Cut what it writes at the commas.

# %% tags=["hide-cell", "atol=0.15"]
# Solution 4
sources, targets = zip(*test_lists[4], strict=True)
right = torch.zeros(4)
for written, target in zip(translate(without, sources), targets, strict=True):
    ours, theirs = (" ".join(words).split(" , ") for words in (written, target))
    for place, (a, b) in enumerate(zip(ours, theirs, strict=False)):
        right[place] += a == b
print("right by place:", [f"{share:.2f}" for share in (right / len(sources))[:4]])
# The first number gets through now and then, the others hardly ever at their places.

# %% [markdown]
# **Exercise 5.** During training one number costs nothing extra: the share of *words* that are predicted correctly when
# the words before them are the right ones. Compute it for the model with one vector, on lists of four (`batch.read` is
# what the decoder reads, `batch.predicted` the same, one place on). Why is it so far from the share of lists without a
# mistake?

# %% tags=["hide-cell", "atol=0.15"]
# Solution 5
batch = data.pad_pairs(encode(test_lists[4]))
with torch.no_grad():
    guesses = without(batch.source, batch.read, batch.source_lengths)[0].argmax(dim=-1)
is_word = batch.predicted != data.PAD
words_right = (guesses == batch.predicted)[is_word].float().mean()
print(
    f"words right: {words_right:.2f}, lists right: {exact(without, test_lists[4]):.2f}"
)
# A list of four has some twenty words, and one slip spoils it. And the right words
# before are a great help: after "drei und" there must come one of eight tens. In use
# there is no teacher; judge a translator by what it writes by itself.

# %% [markdown]
# ## Summary
#
# 1. A recurrent encoder–decoder writes a translation from one vector. It learns single numbers soon, lists much later.
# 2. Counted in bits, the vector is large enough; using it takes long to learn. A test on short inputs does not show
#    that.
# 3. Attention keeps all states of the encoder. At each step the decoder scores them, and reads their weighted average.
# 4. The weights resemble an alignment of words. They are not one; a likely reason is that a state knows its neighbours.
# 5. A recurrent network reads one word after the other, in training, too. Attention alone could read all words at once.
#
# **Homework 2**, questions 1 and 2, is about this chapter: [exercises](../exercises/hw2_transformer.ipynb).
#
# **Next:** if a decoder can look at a sentence, why not let the sentence look at itself? That is [chapter
# 2](02_self_attention.ipynb), and there is no recurrence left in it.
#
# ## References
#
# - Dzmitry Bahdanau, Kyunghyun Cho and Yoshua Bengio (2015). *Neural machine translation by jointly learning to align
#   and translate.* ICLR.
# - Kyunghyun Cho et al. (2014). *Learning phrase representations using RNN encoder–decoder for statistical machine
#   translation.* EMNLP. The gated recurrent unit.
# - Kyunghyun Cho, Bart van Merriënboer, Dzmitry Bahdanau and Yoshua Bengio (2014b). *On the properties of neural
#   machine translation: encoder–decoder approaches.* SSST-8.
# - Sepp Hochreiter and Jürgen Schmidhuber (1997). *Long short-term memory.* Neural Computation.
# - Minh-Thang Luong, Hieu Pham and Christopher D. Manning (2015). *Effective approaches to attention-based neural
#   machine translation.* EMNLP.
# - Ilya Sutskever, Oriol Vinyals and Quoc V. Le (2014). *Sequence to sequence learning with neural networks.* NeurIPS.
# - Ashish Vaswani et al. (2017). *Attention is all you need.* NeurIPS.
