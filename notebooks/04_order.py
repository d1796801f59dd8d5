# %% [markdown]
# # Order
#
# Write a telephone number backwards: 4 0 7 1 1 9 2 6 becomes 6 2 9 1 1 7 0 4. A child can do it. Below, a small
# attention model tries to learn it. It gets as many examples as it likes and reaches 32 % of the digits, no matter
# how long it trains. A second model, which differs from it by a single addition, gets (nearly) all of them right
# within a few hundred steps. This chapter is about that addition.

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

# %% [markdown]
# **After this chapter you can**
#
# - say precisely what a model without positions can and cannot know, and compute its best possible score;
# - write down the sinusoidal position vectors and read them as the hands of clocks;
# - show that moving k places on is the same rotation everywhere;
# - use learned positions, know their limit, and avoid the mistake that makes them useless.
#
# **Time** about 50 minutes. **You need** chapters [2](02_self_attention.ipynb) and [3](03_multi_head_attention.ipynb),
# and sine and cosine from school.

# %%
import math

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import nn
from torch.testing import assert_close

from lectures_lib.blocks.attention import MultiHeadAttention
from lectures_lib.blocks.positions import (
    SinusoidalPositions,
    shift_matrix,
    sinusoidal_positions,
)
from lectures_lib.blocks.recording import record
from lectures_lib.models import minilm
from lectures_lib.show import plots, source
from lectures_lib.show.frames import Frames

# %% [markdown]
# ## What the model without positions knows
#
# Chapter 2 had a warning: shuffle the tokens, and without a causal mask the outputs are shuffled in the same way and
# otherwise unchanged. So whatever the model says about a digit depends on that digit and on *which* others are there,
# never on where they stand.
#
# Take our number, 4 0 7 1 1 9 2 6. Which digit belongs in the place of the 4, at the very front? The model knows the
# digits 0 7 1 1 9 2 6 are around somewhere. Each of the seven is equally likely to be the last one, but 1 occurs twice.
# So the best guess is 1, which is right in 2 cases of 7. For any string the best one can do is to name the most
# frequent of the others, and how often that succeeds on average we can simply count.

# %%
DIGITS, LENGTH = 10, 8


def best_guess(n):
    """How often the most frequent of a string's other n - 1 digits is the right one."""
    strings = F.one_hot(torch.randint(DIGITS, (100_000, n)), DIGITS)
    others = strings.sum(dim=1, keepdim=True) - strings  # (strings, places, digits)
    return (others.amax(dim=-1) / (n - 1)).float().mean().item()


ceiling = best_guess(LENGTH)
print(f"best possible without positions: {ceiling:.2f}")

# %% [markdown]
# No amount of training can beat that. Let us keep the number in mind and look for a way to tell the model where things
# are.
#
# ## How to number places
#
# The token's vector has room for more numbers, or can have numbers added to it. Which?
#
# *The place itself*, 0, 1, 2, …? It grows without bound: by place 500 it would drown everything the vector says about
# the word. *The place divided by the length*? Then one step means something else in every sentence.
#
# Computers write numbers as bits, which stay between 0 and 1 however far one counts. Watch the columns
# of the left picture below, where the last bit of the number stands first: it flips at every step, the next at every
# second, the one after at every fourth. Each is a wave with twice the period of its neighbour on the left.

# %% mystnb={"image": {"alt": "Two heat maps over the positions 0 to 15. Left, the four binary digits: squares that alternate every 1, 2, 4 and 8 rows. Right, sinusoids of 16 dimensions: smooth waves, fast on the left, slower to the right."}, "figure": {"caption": "Counting to 15. Left: the four bits, the fastest first. Right: sines and cosines, the same idea without corners."}}
positions = torch.arange(16)
bits = torch.stack([positions // 2**i % 2 for i in range(4)], dim=1)

figure, axes = plt.subplots(1, 2, figsize=(6.4, 3.6), width_ratios=[1, 3])
plots.heatmap(
    bits.float(),
    rows=range(16),
    columns=[1, 2, 4, 8],
    ax=axes[0],
    title="bits",
    limit=1.4,
).set(ylabel="position")
plots.heatmap(
    sinusoidal_positions(16, 16),
    ax=axes[1],
    title="sinusoids, d_model = 16",
    signed=True,
).set(xlabel="dimension")
plt.show()

# %% [markdown]
# Bits jump; sines and cosines are the same idea without corners. (That is a textbook's way to see it. The authors of the
# Transformer had another reason, which comes below.) They took pairs of a sine and a cosine, each pair slower than the
# one before,
#
# $$PE_{pos,\,2i} = \sin(pos \cdot \omega_i), \qquad PE_{pos,\,2i+1} = \cos(pos \cdot \omega_i), \qquad \omega_i = 10000^{-2i/d_{model}}.$$
#
# By hand, with $d_{model} = 4$: there are two pairs, $\omega_0 = 10000^0 = 1$ and $\omega_1 = 10000^{-2/4} = 1/100$.
# The vector of position 1 is $(\sin 1, \cos 1, \sin 0.01, \cos 0.01) \approx (0.84, 0.54, 0.01, 1.00)$.

# %%
print([f"{x:.2f}" for x in sinusoidal_positions(2, 4)[1]])

# %% [markdown]
# ## Clocks
#
# A sine and a cosine of the same angle are the coordinates of a point on a circle, the tip of a hand. So a position
# vector is a row of clocks. The first hand turns by one radian (57 degrees) with every token; the hands further along
# turn more and more slowly, like the hour hand beside the minute hand. All the hands together tell you the time; a
# single one tells it badly, for the slow hardly move and the fast are soon back near where they were.


# %% tags=["nbval-ignore-output"]
def draw_clocks(ax, pos, d_model=8):
    """The position vector as d_model / 2 clock hands."""
    pairs = sinusoidal_positions(pos + 1, d_model)[pos].view(-1, 2)
    for i, (sine, cosine) in enumerate(pairs.tolist()):
        ax.add_patch(plt.Circle((2.4 * i, 0), 1, fill=False, color=plots.GREY))
        ax.plot(
            [2.4 * i, 2.4 * i + sine],
            [0, cosine],
            color=plots.BLUE,
            solid_capstyle="round",
            linewidth=3,
        )
        ax.text(
            2.4 * i,
            -1.45,
            f"dimensions {2 * i}, {2 * i + 1}\nω = {10000 ** (-2 * i / d_model):g}",
            ha="center",
            va="top",
        )
    ax.set(xlim=(-1.2, 2.4 * (d_model // 2) - 1.2), ylim=(-2.4, 1.2), aspect="equal")
    ax.set_axis_off()


Frames(
    draw_clocks,
    values=[0, 1, 2, 3, 4, 6, 10, 20, 50, 100],
    title="position",
    alt="Four clock faces. With each position the first hand turns by one radian, the second by a tenth of it, the third by a hundredth, the fourth by a thousandth.",
    start=3,
    size=(6.4, 2.3),
)

# %% [markdown]
# In code it is one outer product of positions and frequencies. An odd width is no problem: the last sine simply has no
# cosine beside it.


# %%
def sinusoids(n, d_model):
    """Position vectors 0 … n - 1, (n, d_model)."""
    omega = 10000 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angles = torch.arange(n, dtype=torch.float64)[:, None] * omega  # (n, pairs)
    PE = torch.empty(n, d_model, dtype=torch.float64)
    PE[:, 0::2] = angles.sin()
    PE[:, 1::2] = angles.cos()[:, : d_model // 2]
    return PE.float()


assert_close(sinusoids(100, 512), sinusoidal_positions(100, 512))
assert_close(sinusoids(100, 7), sinusoidal_positions(100, 7))

# %% [markdown]
# The same in the library:

# %%
source.show(sinusoidal_positions, docstring=False)

# %% [markdown]
# ## What the waves are good for
#
# **Each position has its own vector.** The slowest hand needs $2\pi \cdot 10000^{1 - 2/d_{model}}$ tokens for a turn,
# about 60,600 if $d_{model} = 512$, so nothing repeats in any text we will meet. How close do two positions among the
# first 2,000 ever come?

# %%
PE = sinusoidal_positions(2000, 512)
distances = torch.cdist(PE, PE)
distances.fill_diagonal_(math.inf)
pair = divmod(distances.argmin().item(), 2000)
print(
    f"closest pair: distance {distances.min():.1f}, {abs(pair[0] - pair[1])} position apart"
)

# %% [markdown]
# **The dot product of two positions depends on their distance only.** Because
# $\sin a \sin b + \cos a \cos b = \cos(a - b)$, each pair contributes the cosine of an angle difference, so
# $PE_p \cdot PE_q = \sum_i \cos((p - q)\,\omega_i)$. Dot products are what attention compares: nearness shows in them,
# roughly, without knowing where in the text one is.

# %% mystnb={"image": {"alt": "A curve over the distance from minus 100 to 100. It peaks at 32 for distance 0, falls quickly and goes on in ripples between 10 and 20, the same on both sides."}, "figure": {"caption": "Dot product of two position vectors (d_model = 64) over their distance: the same curve wherever one starts. It falls off in ripples, and it is symmetric: it cannot tell before from after."}}
products = (sinusoidal_positions(201, 64) @ sinusoidal_positions(201, 64)[100]).tolist()
ax = plots.curves(
    range(-100, 101), {"": products}, xlabel="distance", ylabel="dot product"
)
plt.show()

# %% [markdown]
# **Moving on by k is the same rotation everywhere.** Going from position $pos$ to $pos + k$, the hand of pair $i$ turns
# by $k\,\omega_i$, whatever $pos$ is. A rotation of a pair is a 2 × 2 matrix, so there is *one* matrix $M_k$, made of
# such blocks, with
#
# $$PE_{pos + k} = M_k\, PE_{pos} \quad \text{for every } pos.$$
#
# A head can learn some blocks of such a matrix inside $W^Q$ and $W^K$, and with them "look k tokens back". That was one
# of the authors' reasons: they guessed that relative positions would be easy to learn in this way.

# %% mystnb={"image": {"alt": "Heat map of a 12 by 12 matrix that is zero except for two-by-two blocks along the diagonal. The first blocks are turned strongly, the last are nearly the identity."}, "figure": {"caption": "The shift by three positions, M\u2083, for d_model = 12: six rotations, the fastest hand first."}}
M_3 = shift_matrix(3, 12)
PE = sinusoidal_positions(1000, 12)
assert_close(PE[:-3] @ M_3.T, PE[3:], rtol=0, atol=1e-5)  # all 997 positions at once

plots.heatmap(M_3, signed=True, limit=1.0)
plt.show()

# %% [markdown]
# ## Added, not appended
#
# The position vector is *added* to the word's. Is not something lost then? A sum of two numbers does not tell which two
# they were. But these are long vectors, and the model learns the words: it can keep them away from the directions that
# the positions use. Attention sees the sum through its projections, and there a score falls into four parts:
#
# $$(x_i + p_i)\,W^Q (W^K)^\top (x_j + p_j)^\top = \underbrace{x_i A x_j^\top}_{\text{word, word}} + \underbrace{x_i A p_j^\top}_{\text{word, place}} + \underbrace{p_i A x_j^\top}_{\text{place, word}} + \underbrace{p_i A p_j^\top}_{\text{place, place}}$$
#
# with $A = W^Q (W^K)^\top$. One head can be all about words and another all about places. The latter exist. MiniLM, the
# small BERT of the last chapters, has learned positions (we come to them below) and a head that looks at the previous
# token, whatever it is. To see that it needs no words for that, we feed its first layer 128 times the *average* word,
# and true positions.

# %% mystnb={"image": {"alt": "Heat map of attention weights over 24 positions. Nearly all weight lies on the diagonal just below the main diagonal; position 0 attends to itself."}, "figure": {"caption": "MiniLM, layer 0, head 2, on a text without words: each position attends to the one before, the very first to itself (the first 24 of 128 shown)."}}
state = minilm.load()
embedding = {
    kind: state[f"embeddings.{kind}_embeddings.weight"]
    for kind in ("word", "position", "token_type")
}
wordless = (
    embedding["word"].mean(dim=0)
    + embedding["position"][:128]
    + embedding["token_type"][0]
)
wordless = F.layer_norm(
    wordless,
    (384,),
    state["embeddings.LayerNorm.weight"],
    state["embeddings.LayerNorm.bias"],
    eps=1e-12,
)

attention = minilm.attention_of(state, layer=0)
with torch.no_grad(), record(attention) as seen:
    attention(wordless[None])
weights = seen["weights"][0, 2]
plots.heatmap(weights[:24, :24]).set(xlabel="key", ylabel="query")
plt.show()

# %%
before = weights.argmax(dim=-1) == torch.arange(128) - 1
print(f"attend most to the previous position: {before.sum()} of 127")
assert before.sum() >= 120

# %% [markdown]
# ## Learned positions
#
# BERT, GPT-2 and the Vision Transformer do without formulas: a table with one row of parameters for each position,
# trained like the words. It can represent anything, but it has an end, and a row that is seldom used in training is
# seldom trained.


# %%
class LearnedPositions(nn.Module):
    """Adds a vector that is learned for each position."""

    def __init__(self, d_model, max_len):
        super().__init__()
        self.positions = nn.Parameter(torch.empty(max_len, d_model))
        nn.init.normal_(self.positions, std=0.02)  # BERT's initialisation

    def forward(self, x):
        """(batch, n, d_model) → the same"""
        return x + self.positions[: x.shape[1]]


# %% [markdown]
# That is the library's text, too; but in the library a check stands before it, which says what is wrong in its own words:

# %%
try:
    lectures_lib.blocks.positions.LearnedPositions(384, 512)(torch.zeros(1, 513, 384))
except ValueError as error:
    print("ValueError:", error)

# %% [markdown]
# What does such a table look like after training? Here are the first 96 of MiniLM's 512 rows, each compared with each
# other by the cosine of their angle.

# %% mystnb={"image": {"alt": "Heat map of 96 by 96 cosines. A dark band along the diagonal, with paler parallel bands beside it: neighbouring positions are alike, and the likeness rises and falls with distance."}, "figure": {"caption": "MiniLM's learned positions: cosine of every pair. No formula says that position 50 stands beside 51; it was learned."}}
learned = F.normalize(embedding["position"][:96], dim=-1)
plots.heatmap(learned @ learned.T, signed=True, limit=1.0).set(
    xlabel="position", ylabel="position"
)
plt.show()

# %% [markdown]
# ## Measured: the backwards number
#
# Now the experiment from the beginning. The reader is as small as can be: digits to vectors, positions, two attention
# layers with a feed-forward net between them, a choice among ten digits. (What each part computes is *added* to what
# was there, `x = x + …`. Why, and what the feed-forward net is for, is in [chapter 5](05_encoder.ipynb).)

# %%
D_MODEL = 32


class Reader(nn.Module):
    """Reads digits (batch, n) and gives logits for the same string backwards (batch, n, 10)."""

    def __init__(self, positions, embedding_std=1.0):
        super().__init__()
        self.embedding = nn.Embedding(DIGITS, D_MODEL)
        nn.init.normal_(self.embedding.weight, std=embedding_std)
        self.positions = positions
        self.first, self.second = (
            MultiHeadAttention(D_MODEL, 4),
            MultiHeadAttention(D_MODEL, 4),
        )
        self.feed_forward = nn.Sequential(
            nn.Linear(D_MODEL, 64), nn.ReLU(), nn.Linear(64, D_MODEL)
        )
        self.output = nn.Linear(D_MODEL, DIGITS)

    def forward(self, digits):
        x = self.positions(self.embedding(digits))
        x = x + self.first(x)
        x = x + self.feed_forward(x)
        return self.output(x + self.second(x))


def accuracy(reader, n=LENGTH):
    """Share of right digits on 2,000 fresh strings."""
    digits = torch.randint(DIGITS, (2000, n))
    with torch.no_grad():
        return (reader(digits).argmax(dim=-1) == digits.flip(1)).float().mean().item()


def train(reader, steps=400, every=20):
    """Train on fresh random strings; the accuracy along the way."""
    optimizer = torch.optim.Adam(reader.parameters(), lr=3e-3)
    curve = [accuracy(reader)]
    for step in range(1, steps + 1):
        digits = torch.randint(DIGITS, (64, LENGTH))
        loss = F.cross_entropy(reader(digits).flatten(0, 1), digits.flip(1).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % every == 0:
            curve.append(accuracy(reader))
    return curve


# %%
readers = {
    "no positions": Reader(nn.Identity()),
    "sinusoids": Reader(SinusoidalPositions(D_MODEL)),
    "learned": Reader(LearnedPositions(D_MODEL, max_len=64), embedding_std=0.02),
}
curves = {name: train(reader) for name, reader in readers.items()}

# %% mystnb={"image": {"alt": "Accuracy over 400 training steps. Without positions the curve rises to the dashed line of the best possible guess, 0.32, and stays there. With sinusoids it leaves that line first, with learned positions later; both end near 1."}, "figure": {"caption": "Share of right digits while training (one run; when a curve leaves the line differs from seed to seed). Dashed: the best possible score without positions, counted above."}}
ax = plots.curves(
    range(0, 401, 20),
    curves,
    xlabel="training step",
    ylabel="right digits",
    direct_labels=False,
)
ax.axhline(ceiling, color="black", linestyle="--", linewidth=1)
ax.set(ylim=(0, 1.05))
plt.show()

# %%
final = {name: curve[-1] for name, curve in curves.items()}
assert abs(final["no positions"] - ceiling) < 0.03
assert final["sinusoids"] > 0.9 and final["learned"] > 0.9
print("without positions: within 0.03 of the best possible guess")
print("with positions: above 0.9")

# %% [markdown]
# The reader without positions finds the best strategy that is open to it, and stops there. It is not a weak model; it
# is blind to order. Over five seeds it ended at 0.316<!-- order: accuracy/no_positions/mean .3f --> on average, against
# a computed ceiling of 0.317<!-- order: best_guess_without_positions .3f -->; sinusoids ended at 1.000<!-- order:
# accuracy/sinusoids/mean .3f -->, learned positions at 0.999<!-- order: accuracy/learned/mean .3f -->
# ([results](../book/results.md)).
#
# And on strings of another length? The sinusoids do exist for position 11, and the authors hoped, and it is often said,
# that they let a model generalise to longer texts. Our readers were trained on 8 digits. Here they get 12. First, what
# a blind reader could reach:

# %%
print(f"best possible without positions, 12 digits: {best_guess(12):.2f}")

# %% tags=["nbval-ignore-output"]
digits = torch.randint(DIGITS, (2000, 12))
right, as_eight = {}, {}
for name, reader in readers.items():
    with torch.no_grad():
        written = reader(digits).argmax(dim=-1)
    right[name] = (written == digits.flip(1)).float().mean().item()
    # The first eight places, turned round as if the string ended there:
    as_eight[name] = (written[:, :8] == digits[:, :8].flip(1)).float().mean().item()
    print(f"{name:12} right {right[name]:.2f}   as if 8 digits: {as_eight[name]:.2f}")

# %% tags=["remove-cell"]
assert right["no positions"] > 0.23 > max(right["sinusoids"], right["learned"])
assert min(as_eight["sinusoids"], as_eight["learned"]) > 0.8

# %% [markdown]
# Over five seeds the reader without positions had 0.26<!-- order: accuracy_at_other_lengths/no_positions/12/mean .2f
# --> of the digits right, the one with sinusoids 0.16<!-- order: accuracy_at_other_lengths/sinusoids/12/mean .2f -->,
# the one with learned positions 0.14<!-- order: accuracy_at_other_lengths/learned/12/mean .2f -->. Those that know
# the places do *worse than the blind one*, which still names the most frequent digit: they turn the first eight digits
# round, as if the string ended there. (Strings of one length cannot teach that a digit's new place depends on the length,
# so the hope is not refuted.) Having a vector for a position is not the same as having learned what to do there.
#
# ## What goes wrong
#
# ### Positions that nobody hears
#
# The learned reader above was given word vectors with a standard deviation of 0.02, as BERT is. PyTorch's
# `nn.Embedding` would have made it 1, fifty times as large as the positions, which start at 0.02 too.

# %%
drowned = Reader(LearnedPositions(D_MODEL, max_len=64), embedding_std=1.0)
print(
    f"size of a word vector {drowned.embedding.weight.norm(dim=-1).mean():.1f}, of a position {drowned.positions.positions.norm(dim=-1).mean():.1f}"
)

# %% [markdown]
# In our five runs with that setting, the accuracy after 400 steps was between 0.31<!-- order:
# accuracy/learned_too_small/min .2f --> and 0.93<!-- order: accuracy/learned_too_small/max .2f -->, in four of the five
# still at the ceiling of the blind reader. Nothing was broken; the signal was too faint to be found in time. Keep the
# two at a similar size. The original Transformer has the opposite worry: its word vectors start small and its sinusoids
# have length $\sqrt{d_{model}/2}$. That may be why it multiplies the words by $\sqrt{d_{model}}$ first.
#
# ### A base of 1000
#
# Slides and notes sometimes print 1000 where the paper has 10000. A model can be trained with that as well, which may be
# why nobody notices. But load weights that were trained with one base into code with the
# other, and the model receives positions it has never seen.

# %%
slide, paper = (sinusoidal_positions(128, 512, base=base) for base in (1_000, 10_000))
print(
    f"entries lie between -1 and 1; the two differ by up to {(slide - paper).abs().max():.1f}"
)

# %% [markdown]
# ### Two halves or alternating?
#
# Some implementations put all sines first and all cosines behind, `[s, s, s, c, c, c]` instead of `[s, c, s, c, s, c]`.
# That is a fixed shuffling of dimensions, and a model trained from scratch can learn the same with it. But load trained
# weights of the one kind into code of the other, and all dimensions but the first and the last have
# changed places. (The Marian translation models, which we shall load in chapter 9, have halves.)

# %%
halves = torch.cat([PE[:, 0::2], PE[:, 1::2]], dim=1)
print(
    "same vectors:",
    torch.equal(halves, PE),
    "  same dot products:",
    torch.allclose(halves @ halves.T, PE @ PE.T, atol=1e-4),
)

# %% [markdown]
# ## Summary
#
# 1. Without positions, and without a causal mask, a Transformer sees a bag of tokens; the best it can do can be
#    computed.
# 2. Sinusoids are clock hands: pairs (sin, cos) with frequencies from 1 down to about 1/10000.
# 3. A shift by k is one rotation for all positions; dot products depend on the distance only.
# 4. Learned positions are a table of parameters: flexible, but finite, and they must not be drowned by the words.
# 5. Having vectors for longer texts does not mean generalising to them: measure it.
#
# **Homework 1**, questions 7 and 8, is about this chapter: [exercises](../exercises/hw1_attention.ipynb).
#
# **Next:** [chapter 5](05_encoder.ipynb) stacks attention, positions and two more ingredients into the encoder.
#
# ## References
#
# - Ashish Vaswani et al. (2017). *Attention is all you need.* NeurIPS. Sections 3.4 and 3.5.
# - Jacob Devlin, Ming-Wei Chang, Kenton Lee and Kristina Toutanova (2019). *BERT: pre-training of deep bidirectional
#   Transformers for language understanding.* NAACL.
# - Peter Shaw, Jakob Uszkoreit and Ashish Vaswani (2018). *Self-attention with relative position representations.*
#   NAACL.
# - Philipp Dufter, Martin Schmitt and Hinrich Schütze (2022). *Position information in Transformers: an overview.*
#   Computational Linguistics.
# - Jianlin Su et al. (2021). *RoFormer: enhanced Transformer with rotary position embedding.* The rotation of this
#   chapter, put into the attention itself.
