# %% [markdown]
# # The bottleneck
#
# > *seven hundred and forty-two, eighteen, ninety-five, three hundred and six*
#
# Read this list once, cover it with your hand, and say it in another language. A single number is easy. Somewhere in a
# list of four you want to look at the page again.
#
# The first neural translators of 2014 were not allowed to look. They read a sentence word by word, kept what they had
# understood in **one vector**, and wrote the translation from that vector alone. This chapter builds such a translator
# and measures where it breaks. Then it lets it look. That look is called **attention**, and the rest of the book is
# about what became of it.

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

# %% tags=["hide-input"] mystnb={"image": {"alt": "Two rows of boxes. Left, the English words ninety, five, comma, eighteen, each with an arrow to the next. An arrow leads from the last of them into a single narrow box, marked one vector. From there an arrow leads to the German words f\u00fcnf, und, neunzig, comma, achtzehn, each with an arrow to the next. No other line connects the two sides."}, "figure": {"caption": "A translator of 2014. Everything that the right side will ever know about the left passes through the box in the middle."}}
import matplotlib.pyplot as plt

from lectures_lib.show import plots


def chain(ax, words, x, y, colour):
    """Words in boxes, arrows between them; where the last box ends."""
    for word in words:
        if x > 0:
            ax.annotate("", (x, y), (x - 0.7, y), arrowprops=ARROW)
        width = 0.34 * len(word) + 0.7
        ax.add_patch(plt.Rectangle((x, y - 0.4), width, 0.8, color=colour, zorder=3))
        style = {"ha": "center", "va": "center", "color": "white", "zorder": 4}
        ax.text(x + width / 2, y, word, **style)
        x += width + 0.7
    return x


ARROW = {"arrowstyle": "-|>", "color": "black", "shrinkA": 0, "shrinkB": 0}
figure, ax = plt.subplots(figsize=(7.6, 2.4))
end = chain(ax, ["ninety", "five", ",", "eighteen"], 0, 2.2, plots.BLUE)
ax.add_patch(plt.Rectangle((end, 0.3), 2.4, 2.3, color=plots.RED, zorder=3))
ax.text(
    end + 1.2, 1.45, "one\nvector", ha="center", va="center", color="white", zorder=4
)
ax.annotate("", (end, 2.2), (end - 0.7, 2.2), arrowprops=ARROW)
words = ["fünf", "und", "neunzig", ",", "achtzehn"]
last = chain(ax, words, end + 3.1, 0.7, plots.GREEN)
ax.text(0, 2.8, "encoder: reads", va="bottom")
ax.text(end + 3.1, 1.3, "decoder: writes", va="bottom")
ax.set(xlim=(-0.2, last), ylim=(0.1, 3.4))
ax.set_axis_off()
plt.show()

# %% [markdown]
# **After this chapter you can**
#
# - write a gated recurrent unit in five lines, and a translator with two of them;
# - show by measurement where one vector fails, and why a careless test would not have shown it;
# - compute a step of additive attention with a pencil;
# - let a decoder look back, draw where it looks, and read the drawing with due care;
# - say what attention did not mend.
#
# **Time** about 60 minutes. **You need** matrix products, softmax, embeddings and cross-entropy (see the
# [primer](../book/primer.md)).

# %%
import math
import re

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR
from torch.testing import assert_close

from lectures_lib import data, decoding, metrics
from lectures_lib.blocks import scoring
from lectures_lib.blocks.recording import record
from lectures_lib.models import seq2seq
from lectures_lib.models.seq2seq import Decoder, Look, Memory, Seq2Seq, Seq2SeqConfig
from lectures_lib.show import source
from lectures_lib.show.stepper import Stepper, join, part, pieces
from lectures_lib.training import bert_schedule, fit, translation_loss

# %% [markdown]
# ## Lists in two languages
#
# Our sentences are lists of one to four numbers below 1,000, in English and German words. They are made by a program,
# so there are as many as we like, every translation is right, and the length is ours to choose. No list that is used
# for testing was in training.


# %%
def lists(split, **options):
    """Pairs of an English and a German list, cut into words."""
    pairs = data.load("translation", split, **options)
    return [
        tuple(data.number_tokens(pair[side]) for side in ("en", "de")) for pair in pairs
    ]


train_lists = lists("train", size=20_000)
test_lists = {k: lists("test", counts=(k,), size=200) for k in (1, 2, 3, 4, 5)}

english, german = next(
    pair for pair in test_lists[2] if pair[0][:4] == ["thirty", "six", ",", "seven"]
)
print("English:", *english)
print("German: ", *german)

# %% [markdown]
# (A German number is written as one long word, "siebenhundertdreiundzwanzig". We have cut it into its parts.) German
# says the last two digits the other way round, "six-and-thirty", so it will not do to translate from left to right.
#
# How much is there to remember? Each number is one of a thousand.

# %%
print(f"one number:   {math.log2(1000):.0f} bits")
print(f"four numbers: {4 * math.log2(1000):.0f} bits")

# %% [markdown]
# Forty bits are not much. Our vector will have 128 numbers of 32 bits each, a hundred times as many. Counted in bits,
# the vector is large enough. But a network has to *learn* how to put things into it and how to get them out again.
#
# To the model a word, or a comma, is a number, its place in a list. Four entries of the list are neither: a **begin
# token** stands in front of every German sentence, an **end token** behind every sentence of either language (the last
# number printed below, 2); the other two are for padding and for unknown words.

# %%
WORDS = data.WordVocabulary.build(side for pair in train_lists for side in pair)


def encode(pairs, words=WORDS):
    """Words to numbers. A target runs from its begin token to its end token."""
    return [
        (words.encode(en, eos=True), words.encode(de, bos=True, eos=True))
        for en, de in pairs
    ]


print(len(WORDS), "entries;", *english, "→", encode([(english, german)])[0][0])

# %% [markdown]
# ## Reading: one state, changed word by word
#
# A **recurrent** network has a state, a vector $h$. It reads a word, changes the state, reads the next one. The
# **gated recurrent unit**, GRU (Cho et al., 2014), makes of the word's vector $x$ and the old state a proposal $n$,
# and then decides, number by number, how much of the old to keep:
#
# $$r = \sigma(W_r x + U_r h) \qquad z = \sigma(W_z x + U_z h) \qquad n = \tanh\big(W_n x + r \odot U_n h\big) \qquad h' = (1 - z) \odot n + z \odot h$$
#
# $\sigma$ squeezes everything between 0 and 1, so $z$ and $r$ are **gates**. Where $z$ is near 1, the old number is
# carried on untouched: that is how a "seven" can survive six more words. Where $r$ is near 0, the proposal does not
# see the state. (This is PyTorch's form, biases left out; Cho et al. have $U_n (r \odot h)$ in the proposal. PyTorch
# keeps the three $W$ stacked in one matrix, and so the three $U$.)


# %%
def gru_step(x, h, W, U, b_W, b_U):
    """The next state, from a word's vector x (d_x,) and the state so far h (d_h,)."""
    r_x, z_x, n_x = (W @ x + b_W).chunk(3)
    r_h, z_h, n_h = (U @ h + b_U).chunk(3)
    r, z = (r_x + r_h).sigmoid(), (z_x + z_h).sigmoid()
    n = (n_x + r * n_h).tanh()
    return (1 - z) * n + z * h


cell = nn.GRUCell(64, 128)
x, h = torch.randn(64), torch.randn(128)
ours = gru_step(x, h, cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh)
assert_close(ours, cell(x[None], h[None])[0])
print("our five lines and torch's GRUCell: largest difference < 1e-5")

# %% [markdown]
# The encoder reads the sentence twice, from left to right and from right to left, with half the width for each. Put
# side by side, the two states at a word know what stands before it and what stands behind it. The last state of
# either direction has seen everything; the two together, mixed by a small layer, are the **summary**.

# %%
library = Seq2Seq(Seq2SeqConfig(len(WORDS), len(WORDS), d_embedding=64, d_hidden=128))
encoder = library.encoder


def run(xs, parameters):
    """The states of one direction, (n, d_hidden / 2), starting from zeros."""
    h, states = torch.zeros(64), []
    # each step needs the state before it: the steps cannot be done at once
    for x in xs:
        h = gru_step(x, h, *parameters)
        states.append(h)
    return torch.stack(states)


def read(ids):
    """All states (n, d_hidden) of a sentence, and its summary (d_hidden,)."""
    xs = encoder.embedding.weight[ids]
    rightwards, leftwards = encoder.gru.all_weights
    forwards, backwards = run(xs, rightwards), run(xs.flip(0), leftwards).flip(0)
    states = torch.cat([forwards, backwards], dim=-1)
    return states, encoder.W_s(torch.cat([forwards[-1], backwards[0]])).tanh()


ids = torch.tensor(WORDS.encode(english, eos=True))
states, summary = read(ids)
memory = library.encode(ids[None])
assert_close(states, memory.states[0])
assert_close(summary, memory.summary[0])

# %% [markdown]
# ## Writing from one vector
#
# The decoder is a second GRU. Its first state is the summary, and that is all it is given. At each step it reads the
# word it has just written, changes its state, and scores every word of the vocabulary as the next. We take the best
# one (**greedy** decoding; [chapter 6](06_decoder.ipynb) has a Transformer that does the same).

# %%
decoder = library.decoder


def write(summary, most=40):
    """The likeliest next word, again and again, until the end token."""
    h, word, written = summary, data.BOS, []
    gru = decoder.gru
    while len(written) < most:
        x = decoder.embedding.weight[word]
        h = gru_step(x, h, gru.weight_ih, gru.weight_hh, gru.bias_ih, gru.bias_hh)
        word = decoder.output(h).argmax().item()
        if word == data.EOS:
            break
        written.append(word)
    return written


def translate(model, sources, words=WORDS):
    """The library's greedy decoding of a batch of sentences, in words."""
    ids, lengths = data.pad([words.encode(sentence, eos=True) for sentence in sources])
    decoded = decoding.greedy(
        model, ids, lengths, begin=data.BOS, end=data.EOS, max_len=40
    )
    return [words.decode(row) for row in decoded.sentences()]


assert WORDS.decode(write(summary)) == translate(library, [english])[0]

# %% [markdown]
# Untrained, it babbles. For training the decoder reads the *right* words so far rather than its own (**teacher
# forcing**; there is more about it in chapter 6), and the loss is the cross-entropy of each next word. The loop
# itself is the library's; [chapter 8](08_training.ipynb) takes it apart. Here it matters only that the models we
# compare see the same batches, 32 lists at a time, for 450 steps.


# %%
def train(attention, pairs, words=WORDS, steps=450):
    """A translator, trained on pairs of sentences."""
    torch.manual_seed(0)
    torch.set_num_threads(1)  # matrices this small are no faster with two
    model = Seq2Seq(Seq2SeqConfig(len(words), len(words), attention=attention))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    # The learning rate rises for 20 steps, then falls to zero.
    rate = LambdaLR(optimizer, bert_schedule(20, steps))
    batches = data.Batches(encode(pairs, words), data.pad_pairs, batch_size=32)
    options = {"steps": steps, "clip": 1.0, "progress": False}
    fit(model, batches, translation_loss, optimizer, rate, **options)
    return model.eval()


def exact(model, pairs):
    """Share of lists that are right from the first word to the last."""
    sources, targets = zip(*pairs, strict=True)
    return metrics.exact_match(translate(model, sources), targets)


# %% [markdown]
# ## A test that proves nothing
#
# First, single numbers only.

# %%
single_numbers = [pair for pair in train_lists if "," not in pair[0]]
only_single = train(None, single_numbers)
assert exact(only_single, test_lists[1]) > 0.9
print("numbers never seen in training, translated without a mistake: more than 9 in 10")

# %% [markdown]
# It works. The model has not learned the numbers by heart, for these were not among them, and it puts the digits in
# the German order. Had we stopped here, we would have reported that one vector is enough. Ten bits do fit.
#
# ## A test that shows it
#
# The same model, as many steps, on lists of one to four.

# %%
scores = {}
without = train(None, train_lists)
scores["one vector"] = [exact(without, pairs) for pairs in test_lists.values()]
assert 0.1 < scores["one vector"][0] < 0.95 and max(scores["one vector"][1:]) < 0.2
print("lists of two or more numbers without a mistake: fewer than 2 in 10")

# %% tags=["nbval-ignore-output"]
sample_english, sample_german = test_lists[4][0]
print("English:", *sample_english)
print("written:", *translate(without, [sample_english])[0])
print("right:  ", *sample_german)

# %% [markdown]
# Proper German numbers, and hardly the list that was asked for. How often is the number at each place of a list of four
# right?


# %%
def numbers_in(words):
    """A list of words, cut at its commas."""
    return " ".join(words).split(" , ")


def right_by_place(model, pairs, n):
    """For each of n places, the share of lists whose number there is right."""
    sources, targets = zip(*pairs, strict=True)
    right = torch.zeros(n)
    for written, target in zip(translate(model, sources), targets, strict=True):
        both = zip(numbers_in(written), numbers_in(target), strict=False)
        for place, (ours, theirs) in enumerate(both):
            right[place] += ours == theirs
    return right / len(pairs)


first, *others = right_by_place(without, test_lists[4], n=4).tolist()
assert first > 0.1 > max(others)
print("the first number: right in more than 1 list of 10")
print("each of the other three: right in fewer than 1 of 10")

# %% [markdown]
# The first number gets through now and then, the others hardly ever at their places. On whole lists, over four seeds
# ([results](../book/results.md)), the model had 0.76<!-- rnn_attention: gru/exact/1/mean .2f --> of the single numbers
# right, 0.03<!-- rnn_attention: gru/exact/2/mean .2f --> of the lists of two, and 0.00<!-- rnn_attention:
# gru/exact/3/max .2f --> of the lists of three.
#
# **Is it the vector's fault?** The UMass lecture, one of the five [on which this course
# builds](../book/references.md), quotes Ray Mooney: the meaning of a whole sentence cannot be crammed into a single
# vector (he put it more strongly). We gave the same model ten times the steps, 4,500. Lists of two:
# 1.00<!-- rnn_attention: gru_ten_times_the_steps/exact/2/mean .2f -->. Lists of three: 0.89<!-- rnn_attention:
# gru_ten_times_the_steps/exact/3/mean .2f -->. Lists of four: 0.31<!-- rnn_attention:
# gru_ten_times_the_steps/exact/4/mean .2f -->. So thirty bits do go in, and now and then forty. The bottleneck is not
# a wall but a narrow door: what is to pass through it must first be taught how, and each further number takes longer.
# (Sutskever, Vinyals and Le, 2014, translated whole sentences in this way; their one vector had 8,000 numbers, and
# they read the source backwards to bring its first words closer to where they were needed.)
#
# ## Looking back, by hand
#
# The states that the encoder had on its way are still there; they were only thrown away. Keep them all, one for each
# word. Whenever the decoder is about to write, let it
#
# 1. **score** each of these states by how well it fits the decoder's own state,
# 2. turn the scores into **weights** with a softmax, and
# 3. take the weighted average of the states, the **context**, as a further input.
#
# How to score? Bahdanau, Cho and Bengio (2015), who brought this to translation, let a small network decide. With the
# decoder's state $s$ and the encoder's state $h_j$ at word $j$,
#
# $$e_j = v^\top \tanh(W_q\, s + W_k\, h_j), \qquad \alpha = \operatorname{softmax}(e), \qquad c = \sum_j \alpha_j h_j.$$
#
# A pencil will do if the vectors are short. The source is "twenty five ,", and the states happen to be tidy: the first
# number says "I am a unit", the second "I am a ten".
#
# | word | its vector $h_j$ |
# |---|---|
# | twenty | (0, 1) |
# | five | (1, 0) |
# | , | (0, 0) |
#
# Let $W_q$ and $W_k$ change nothing and $v = (3, 3)$. German wants the unit first, and the decoder's state is $s =
# (0, 2)$. All the hyperbolic tangents one needs: $\tanh 0 = 0$, $\tanh 1 = 0.762$, $\tanh 2 = 0.964$ and
# $\tanh 3 = 0.995$.
#
# - twenty: $s + h = (0, 3)$, tanh $(0, 0.995)$, score $3 \cdot 0 + 3 \cdot 0.995 = 2.99$;
# - five: $s + h = (1, 2)$, tanh $(0.762, 0.964)$, score $3 \cdot 0.762 + 3 \cdot 0.964 = 5.18$;
# - comma: $s + h = (0, 2)$, tanh $(0, 0.964)$, score $3 \cdot 0 + 3 \cdot 0.964 = 2.89$.
#
# The powers of $e$ (of the scores before rounding) are 19.8, 177.1 and 18.0, together 215. So the weights are 0.09,
# 0.82 and 0.08, and the context is $0.82 \cdot (1, 0) + 0.09 \cdot (0, 1) = (0.82, 0.09)$: mostly "unit".

# %%
h = torch.tensor([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
v = torch.tensor([3.0, 3.0])


def by_hand(s):
    """Scores, weights and context, for a decoder's state s (2,)."""
    scores = torch.tanh(s + h) @ v
    weights = scores.softmax(dim=-1)
    return scores, weights, weights @ h


for name, numbers in zip(
    ("scores ", "weights", "context"), by_hand(torch.tensor([0.0, 2.0])), strict=True
):
    print(name, [f"{number:.2f}" for number in numbers])

# %% [markdown]
# Look at what the decoder's state did. Its 2 drove the second tanh to where it is flat: 0.96 or 1.00, whatever the
# word is. So the second number hardly counts, and the first decides. After "fünf", the decoder's state has moved on,
# to $(2, 0)$ say, and the roles are exchanged.

# %%
print("weights", [f"{number:.2f}" for number in by_hand(torch.tensor([2.0, 0.0]))[1]])

# %% [markdown]
# The same in the library, which has a matrix for $W_q$ and one for $W_k$:

# %%
additive = scoring.AdditiveScore(2, 2, 2)
additive.W_q.weight.data, additive.W_k.weight.data = torch.eye(2), torch.eye(2)
additive.v.weight.data = v[None]
s = torch.tensor([0.0, 2.0])
assert_close(additive(s[None], h)[0], by_hand(s)[0])

# %% [markdown]
# ## A decoder that looks
#
# In Bahdanau's decoder the look comes first: score with the old state, and let the GRU read the word and the context
# side by side. Before the output we mix context and new state once more. (Theirs mixes the last word in as well
# and, says the paper's appendix, takes the old state.)

# %%
library = Seq2Seq(Seq2SeqConfig(len(WORDS), len(WORDS), attention="additive"))
encoder, decoder = library.encoder, library.decoder
score = decoder.look.score


def look(s, states):
    """The context (d_hidden,) and the weights (n_source,), for a decoder's state s."""
    hidden = torch.tanh(score.W_q.weight @ s + states @ score.W_k.weight.T)
    weights = (hidden @ score.v.weight[0]).softmax(dim=-1)
    return weights @ states, weights


def step(word, s, states):
    """Scores of the next word, the next state, and where was looked."""
    context, weights = look(s, states)
    x, gru = torch.cat([decoder.embedding.weight[word], context]), decoder.gru
    s = gru_step(x, s, gru.weight_ih, gru.weight_hh, gru.bias_ih, gru.bias_hh)
    features = decoder.W_c(torch.cat([context, s])).tanh()
    return decoder.output(features), s, weights


batch = data.pad_pairs(encode([(english, german)]))
with record(library) as seen:
    logits = library(batch.source, batch.read)
alignment = seq2seq.alignment(seen)

states, s = read(batch.source[0])
for i, word in enumerate(batch.read[0]):
    ours, s, weights = step(word, s, states)
    assert_close(ours, logits[0, i])
    assert_close(weights, alignment[0, i])
print("our decoder and the library's, all words: largest difference < 1e-5")

# %% [markdown]
# The library's works on batches, and so it needs one thing more: a **mask**. In a batch the shorter sentences are
# filled up with padding, and nobody shall look there. A score of minus infinity becomes a weight of zero.

# %%
source.show(Look.forward, docstring=False)

# %% [markdown]
# Its step knows three kinds of decoder: the one without attention, Bahdanau's, and that of Luong, Pham and Manning
# (2015), which moves first and looks afterwards.

# %%
source.show(Decoder.step, docstring=False)

# %% [markdown]
# ## Measured again
#
# The same batches, as many steps.

# %%
looking = train("additive", train_lists)
scores["with attention"] = [exact(looking, pairs) for pairs in test_lists.values()]

# %% tags=["hide-input"] mystnb={"image": {"alt": "Bars for lists of one to five numbers. One vector: more than half of the single numbers are right and hardly anything else. With attention: nearly all lists of one, two, three and four numbers are right, and far fewer of five, the length that was not in training."}, "figure": {"caption": "Lists translated without a mistake, over the number of items. Both models were trained on lists of one to four; five is more than they have ever seen."}}
figure, ax = plt.subplots(figsize=(6.4, 3.0))
for (name, shares), shift, colour in zip(
    scores.items(), (-0.2, 0.2), (plots.RED, plots.BLUE), strict=True
):
    places = [k + shift for k in test_lists]
    ax.bar(places, shares, width=0.36, color=colour, label=name)
ax.axvspan(4.5, 5.5, color="#E9EEF2", zorder=0)
ax.text(5, 0.96, "not trained on", ha="center", va="top", fontsize=9)
ax.set(xlabel="numbers in the list", ylabel="right", ylim=(0, 1.02), xlim=(0.5, 5.5))
ax.legend(loc="upper center", bbox_to_anchor=(0.5, 1.2), ncols=2)
plt.show()

# %% tags=["nbval-ignore-output"]
for name, shares in scores.items():
    print(f"{name:14}", *(f"{k}: {x:.2f}" for k, x in enumerate(shares, 1)), sep="   ")

# %% tags=["remove-cell"]
assert min(scores["with attention"][:4]) > 0.85
assert sum(scores["with attention"][:4]) / 4 > 0.9
assert scores["with attention"][4] < 0.7

# %% [markdown]
# Lists of four, nearly all of them right, from the same batches in the same number of steps: over four seeds 0.97<!--
# rnn_attention: additive/exact/4/mean .2f --> on average, and 0.95<!-- rnn_attention: additive/exact/4/min .2f --> in
# the worst. (It also has more parameters, 272,834<!-- bottleneck: n_parameters/additive ,.0f --> against 157,890<!--
# bottleneck: n_parameters/gru ,.0f -->, for the look, for a wider input and for the layer before the output.)
#
# And lists of five? 0.08<!-- rnn_attention: additive/exact/5/mean .2f --> on average, 0.13<!-- rnn_attention:
# additive/exact/5/max .2f --> at best. (The figure shows the first of the four seeds again. This share varies much: from
# that seed it came to a tenth on one processor and to a third on another.) The model knows every word that is needed and
# has more room to look than ever, but it was trained on lists of up to four. The vector was one obstacle; going beyond
# what was trained is another, and attention does not remove it. No model in our experiments did. (The Transformer had
# 0.005<!-- bottleneck: accuracy/transformer/800/5/max .3f --> at best, but it had not learned lists of four well
# either.)
#
# ## Where it looks
#
# The weights of each step can be drawn: one row for each German word, one column for each English one. Nobody told the
# model which word belongs to which, but for numbers we know it. The frames mark the truth. "Sechs und dreißig" against
# "thirty six": the frames cross.

# %% mystnb={"image": {"alt": "Heat map of attention weights. Rows: sechs und drei\u00dfig comma sieben hundert drei und zwanzig and the end. Columns: thirty six comma seven hundred and twenty three and the end. Orange frames mark the right word for each row; within both two-digit numbers they cross. Most of the dark squares lie in the frames or beside them."}, "figure": {"caption": "Where the decoder looked while it wrote each German word (rows), over the English words (columns). Orange: the words that it translates. \u201cUnd\u201d joins two words, so it has two."}}
batch = data.pad_pairs(encode([(english, german)]))
with torch.no_grad(), record(looking) as seen:
    looking(batch.source, batch.read)
weights = seq2seq.alignment(seen)[0]  # (n_target, n_source)

ax = plots.heatmap(weights, rows=[*german, "end"], columns=[*english, "end"], limit=1.0)
for row, columns in enumerate(data.number_alignment(english, german)):
    for column in columns:
        corner = (column - 0.46, row - 0.46)
        style = {"fill": False, "edgecolor": plots.ORANGE, "linewidth": 2}
        ax.add_patch(plt.Rectangle(corner, 0.92, 0.92, **style))
ax.set(xlabel="English, read", ylabel="German, written")
plt.show()

# %% [markdown]
# The same, step by step:

# %% tags=["hide-input", "nbval-ignore-output"]
frames = [
    join(
        part("written", pieces(german[: i + 1], marked=[i])),
        part("read", pieces([*english, "end"], shades=row.clamp(0, 1).tolist())),
    )
    for i, row in enumerate(weights[: len(german)])
]
Stepper(
    frames,
    "A translator that looks back",
    labels=[f"as it writes “{word}”" for word in german],
    alt="At each German word, the English words are shaded by the decoder's attention.",
)

# %% tags=["remove-cell"]
looked = [english[row.argmax()] for row in weights[: len(german), : len(english)]]
pairs = {"sechs": "six", "dreißig": "thirty", "drei": "three", "zwanzig": "twenty"}
hit = [looked[german.index(word)] == meaning for word, meaning in pairs.items()]
assert sum(hit) >= 3


# %% [markdown]
# One example may be luck. Over all test lists of up to four: how often is the word that was looked at most the right
# one?


# %%
def alignment_hits(model, pairs):
    """For every German word, whether the most looked-at English word is its own."""
    batch = data.pad_pairs(encode(pairs))
    with torch.no_grad(), record(model) as seen:
        model(batch.source, batch.read, batch.source_lengths)
    looks = seq2seq.alignment(seen).argmax(dim=-1).tolist()
    hits = {"und": [], "other": []}
    for pair, row in zip(pairs, looks, strict=True):
        truth = data.number_alignment(*pair)
        for word, right, column in zip(pair[1], truth, row, strict=False):
            hits["und" if word == "und" else "other"].append(column in right)
    return hits


hits = alignment_hits(looking, [pair for k in (1, 2, 3, 4) for pair in test_lists[k]])
share = sum(map(sum, hits.values())) / sum(map(len, hits.values()))

# %% tags=["nbval-ignore-output"]
print(f"looked most at a right word: {share:.2f}")

# %% tags=["remove-cell"]
assert share > 0.5
blind = {"und": [], "other": []}  # the same, looking along the diagonal
for en, de in (pair for k in (1, 2, 3, 4) for pair in test_lists[k]):
    for i, right in enumerate(data.number_alignment(en, de)):
        column = (2 * i + 1) * len(en) // (2 * len(de))
        blind["und" if de[i] == "und" else "other"].append(column in right)
blind = {kind: f"{sum(of) / len(of):.2f}" for kind, of in blind.items()}
assert blind == {"und": "0.97", "other": "0.48"}

# %% [markdown]
# Over four seeds: 0.75<!-- rnn_attention: additive/alignment/all/mean .2f --> of all words, 1.00<!-- rnn_attention:
# additive/alignment/und/mean .2f --> of the "und" and 0.71<!-- rnn_attention: additive/alignment/other/mean .2f -->
# of the others. Blindly along the diagonal it would be 0.97 of the "und", which have two right words, and 0.48 of the
# others. So it has learned something about where to look, and nobody taught it. It is also far from all. Three likely
# reasons, and none of them is a defect:
#
# - **A state is not a word.** The encoder reads in both directions, so the state at "hundred" knows of the "seven"
#   before it. A look beside the right word may find what it wants.
# - **Some words need no look of their own.** The look at "seven" may already have told that "hundred" stands behind
#   it. Then "hundert" can be written from memory. In the picture its row is spread thin.
# - **The loss asks for words, not for looks.** Any weights that lead to the right word are good enough.
#
# So a map of attention shows which *states* the decoder read, and hints at which words it made use of. It is not a
# proof of that. [Chapter 2](02_self_attention.ipynb) starts with such a picture, too; remember this page when you see
# one.
#
# The VŠB lecture describes attention as something that happens for each word that the *encoder* reads. In these
# translators it is not so: the encoder is done before the first look, and there is one look for each word that is
# *written*. (When the encoder itself begins to look, it is called self-attention.)
#
# ## Three ways to score
#
# Luong, Pham and Manning (2015) tried simpler scores in place of the small network: the dot product $s \cdot h_j$,
# with nothing to learn, and $s^\top W h_j$, which they called *general*. Their decoder also looks later, after it has
# moved, and reads at the next word what came of the look. The same lists and steps, four seeds:
#
# | lists right: | one | two | three | four | five | looked at the right word |
# |---|---|---|---|---|---|---|
# | additive | 1.00<!-- rnn_attention: additive/exact/1/mean .2f --> | 1.00<!-- rnn_attention: additive/exact/2/mean .2f --> | 0.99<!-- rnn_attention: additive/exact/3/mean .2f --> | 0.97<!-- rnn_attention: additive/exact/4/mean .2f --> | 0.08<!-- rnn_attention: additive/exact/5/mean .2f --> | 0.75<!-- rnn_attention: additive/alignment/all/mean .2f --> |
# | dot | 1.00<!-- rnn_attention: dot/exact/1/mean .2f --> | 0.99<!-- rnn_attention: dot/exact/2/mean .2f --> | 0.96<!-- rnn_attention: dot/exact/3/mean .2f --> | 0.88<!-- rnn_attention: dot/exact/4/mean .2f --> | 0.03<!-- rnn_attention: dot/exact/5/mean .2f --> | 0.84<!-- rnn_attention: dot/alignment/all/mean .2f --> |
# | general | 0.98<!-- rnn_attention: general/exact/1/mean .2f --> | 0.93<!-- rnn_attention: general/exact/2/mean .2f --> | 0.86<!-- rnn_attention: general/exact/3/mean .2f --> | 0.53<!-- rnn_attention: general/exact/4/mean .2f --> | 0.01<!-- rnn_attention: general/exact/5/mean .2f --> | 0.75<!-- rnn_attention: general/alignment/all/mean .2f --> |
# | no attention | 0.76<!-- rnn_attention: gru/exact/1/mean .2f --> | 0.03<!-- rnn_attention: gru/exact/2/mean .2f --> | 0.00<!-- rnn_attention: gru/exact/3/mean .2f --> | 0.00<!-- rnn_attention: gru/exact/4/mean .2f --> | 0.00<!-- rnn_attention: gru/exact/5/mean .2f --> | |
#
# Any of the three is worth far more than none. Between them, additive got most lists right here, and general, which can
# do all that dot can, fewest: its lists of four range from 0.15<!-- rnn_attention: general/exact/4/min .2f --> to
# 0.77<!-- rnn_attention: general/exact/4/max .2f --> over the seeds. Do not conclude too much. One learning rate was
# tried, 450 steps are few, and additive differs from the others in *when* it looks as well. In their paper dot did well
# for the attention built here, and general for a variant that looks at a window. How scores compare in cost, and what
# became of them, is in chapter 2.
#
# ## What attention did not mend
#
# A state needs the state before it. So a GRU takes $n$ steps for $n$ words, one after the other, on any machine. A
# look whose query is no such state has nothing to wait for: with dot products all scores are one matrix product.
# Chapters 2 and 3 build a layer that consists of such looks only, **self-attention**. Here is how much longer a GRU
# layer of the same width (256) took, for one sentence, on two CPU cores (median of 25 rounds,
# [results](../book/results.md)):
#
# | words in the sentence | 32 | 128 | 512 | 2,048 |
# |---|---|---|---|---|
# | reading only | 2.7<!-- parallel_time: forward/batch_1/gru_over_attention/32/median .1f -->× | 6.3<!-- parallel_time: forward/batch_1/gru_over_attention/128/median .1f -->× | 5.1<!-- parallel_time: forward/batch_1/gru_over_attention/512/median .1f -->× | 2.4<!-- parallel_time: forward/batch_1/gru_over_attention/2048/median .1f -->× |
# | training: forward and backward | 7.8<!-- parallel_time: training/batch_1/gru_over_attention/32/median .1f -->× | 11.6<!-- parallel_time: training/batch_1/gru_over_attention/128/median .1f -->× | 10.4<!-- parallel_time: training/batch_1/gru_over_attention/512/median .1f -->× | 4.1<!-- parallel_time: training/batch_1/gru_over_attention/2048/median .1f -->× |
#
# It is not the amount of work. At 256 words both layers need equally many multiplications, at 2,048 attention needs
# three times as many. The GRU queues. (For sixteen sentences at once it shrinks to 4.2<!-- parallel_time:
# training/batch_16/gru_over_attention/128/median .1f -->× in training at 128 words, perhaps because each step of the
# queue then does sixteen times the work. Single rounds differ widely: at 128 words in training from 7.0<!--
# parallel_time: training/batch_1/gru_over_attention/128/min .1f -->× to 37.9<!-- parallel_time:
# training/batch_1/gru_over_attention/128/max .1f -->×.) Two cores are not many. The more a machine can do at once, the
# more the queue costs.
#
# So one might ask: if a decoder can fetch what it needs from any word directly, what is the chain still for? Vaswani et
# al. (2017) took it away. To be fair to the chain: in our experiment ([results](../book/results.md)) a Transformer of
# about that size, at the one learning rate we tried, had 0.40<!-- bottleneck: accuracy/transformer/800/4/mean .2f -->
# of the lists of four right after 800 steps, where the recurrent decoder with additive attention had 0.99<!--
# bottleneck: accuracy/additive/800/4/mean .2f -->. That says something about 800 steps on a tiny task. "Less time
# to train and better results", as the HKUST lecture has it, is about large models, much data and long training, and for
# these [chapter 6](06_decoder.ipynb#what-the-paper-reported) has the paper's numbers.
#
# ## Real sentences
#
# Lists of numbers are a good instrument and poor literature. The next cell is the same experiment on Multi30k, 29,000
# captions of photographs in English and German ("two young, white males are outside near many bushes"). It is switched
# off, because it needs the data (from the Hugging Face hub, or from the folder that `LECTURES_DATA` names) and many
# minutes. Set `REAL = True` and run it.

# %%
REAL = False

if REAL:

    def captions(split):
        """Pairs of captions in small letters, cut into words and punctuation."""
        pairs = data.load("translation", split, source="real")
        return [
            tuple(
                re.findall(r"\w+|[^\w\s]", pair[side].lower()) for side in ("en", "de")
            )
            for pair in pairs
        ]

    train_captions, test_captions = captions("train"), captions("test")
    sources, targets = zip(*test_captions, strict=True)
    words = data.WordVocabulary.build(
        (side for pair in train_captions for side in pair), min_count=2
    )
    for attention in (None, "additive"):
        model = train(attention, train_captions, words, steps=6000)
        written = [" ".join(row) for row in translate(model, sources, words)]
        bleu = metrics.bleu(written, [" ".join(row) for row in targets])
        print(f"attention {attention}: BLEU {bleu.score:.1f}")
        print(" ".join(sources[0]), "→", written[0])

# %% [markdown]
# ## What goes wrong
#
# ### Looking at the padding
#
# Since June 2023 the best-known tutorial on this subject, PyTorch's own, trains on batches filled up with zeros, and
# its attention has no mask ([issue 2840](https://github.com/pytorch/tutorials/issues/2840) is about the padding).
# Everything runs and the loss falls. Let us forget the mask in our trained model, and translate single numbers in a
# batch with a very long list: once with the mask, once without.


# %%
class Unmasked(nn.Module):
    """The same look, as if padding were words."""

    def __init__(self, look):
        super().__init__()
        self.look = look

    def forward(self, hidden, memory):
        everything = torch.ones_like(memory.mask)
        return self.look(hidden, Memory(memory.states, everything, memory.summary))


def in_company(model, pairs):
    """Share of lists that are right in a batch with five lists of four, run together."""
    sources, targets = zip(*pairs, strict=True)
    long = [word for source, _ in test_lists[4][:5] for word in source]
    return metrics.exact_match(translate(model, [*sources, long])[:-1], targets)


masked = looking.decoder.look
company = {"with the mask": in_company(looking, test_lists[1])}
looking.decoder.look = Unmasked(masked)
company["mask forgotten"] = in_company(looking, test_lists[1])
looking.decoder.look = masked

# %% tags=["nbval-ignore-output"]
for name, share in company.items():
    print(f"numbers right, {name:14} {share:.2f}")

# %% tags=["remove-cell"]
alone = exact(looking, test_lists[1])
assert alone > 0.85 and abs(company["with the mask"] - alone) < 0.02
assert company["mask forgotten"] < company["with the mask"] - 0.2

# %% [markdown]
# At a padded place the encoder's state is zero. Zero is not minus infinity: it gets a score like any other, and takes
# its share of the weight. The shorter a sentence and the longer its neighbours, the more of its attention goes to
# nothing. A model that is *trained* without the mask may learn to live with it, up to a point; perhaps that is why the
# bug survives. The remedy is one line, and a test for it is easy: a translation must not change with its neighbours.
#
# ### An accuracy that flatters
#
# While a translator trains, one number is free: the share of words that it gets right when it is given the right words
# before. Here it is for the model with one vector.


# %%
@torch.no_grad()
def word_accuracy(model, pairs):
    """Share of right words when all words before are given (teacher forcing)."""
    batch = data.pad_pairs(encode(pairs))
    logits = model(batch.source, batch.read, batch.source_lengths)
    return metrics.token_accuracy(logits.argmax(dim=-1), batch.predicted)


four = test_lists[4]
assert word_accuracy(without, four) > 0.5 and exact(without, four) < 0.05
print("lists of four: words right, given the right ones before: more than 5 in 10")
print("lists of four: lists without a mistake: fewer than 5 in 100")

# %% [markdown]
# Both numbers are true. The first is much higher for two reasons. A list of four has some twenty words, and one slip
# spoils it: at two right words in three, chance would leave $(2/3)^{20}$, three lists in 10,000. And the right words
# before are a great help: after "drei und" there must come one of eight tens, and after a ten only a comma or
# the end can stand. In use there is no teacher. Judge a translator by what it writes by itself.
#
# ## Summary
#
# 1. A recurrent encoder–decoder writes a translation from one vector. It soon does single numbers, lists much later.
# 2. Counted in bits, the vector is large enough; using it takes long to learn. A test on short inputs does not show
#    that.
# 3. Attention keeps all states of the encoder. At each step the decoder scores them, and reads their weighted average.
# 4. The weights resemble an alignment of words. They are not one: a state knows its neighbours.
# 5. The words still wait for each other, in reading and in training. Attention alone would not have to.
#
# **Homework 2**, questions 1 and 2, is about this chapter: [exercises](../exercises/hw2_transformer.ipynb).
#
# **Next:** if a decoder can look at a sentence, why not let the sentence look at itself? That is
# [chapter 2](02_self_attention.ipynb), and there is no recurrence left in it.
#
# ## References
#
# - Dzmitry Bahdanau, Kyunghyun Cho and Yoshua Bengio (2015). *Neural machine translation by jointly learning to align
#   and translate.* ICLR.
# - Kyunghyun Cho et al. (2014). *Learning phrase representations using RNN encoder–decoder for statistical machine
#   translation.* EMNLP. The gated recurrent unit.
# - Desmond Elliott, Stella Frank, Khalil Sima'an and Lucia Specia (2016). *Multi30K: multilingual English–German
#   image descriptions.* Workshop on Vision and Language.
# - Minh-Thang Luong, Hieu Pham and Christopher D. Manning (2015). *Effective approaches to attention-based neural
#   machine translation.* EMNLP.
# - Ilya Sutskever, Oriol Vinyals and Quoc V. Le (2014). *Sequence to sequence learning with neural networks.*
#   NeurIPS.
