# %% [markdown]
# # Order
#
# Write a telephone number backwards: 4 0 7 1 1 9 2 6 becomes 6 2 9 1 1 7 0 4. A child can do it. In this chapter a
# small attention model tries to learn it. It may see as many examples as it likes and train as long as it likes: on
# average it still gets no more than 32 % of the digits right. A second model differs from it by a single addition, and
# gets nearly all of them right within a few hundred steps. To each digit's vector it adds numbers that say where the
# digit stands. They are read off a row of clocks, some fast and some slow, which run on by one tick from digit to
# digit.

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

draw("clocks")

# %% [markdown]
# **After this chapter you can**
#
# - say precisely what a model without positions can and cannot know, and compute its best possible score;
# - write down the sinusoidal position vectors and read them as the hands of clocks;
# - show that moving k places on is the same rotation everywhere;
# - use learned positions, know their limit, and avoid the mistake that makes them useless.
#
# **Time** about 50 minutes. **You need** chapters [2](02_self_attention.ipynb) and [3](03_multi_head_attention.ipynb),
# and from school sin and cos.

# %% tags=["hide-input"]
import math

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import nn
from torch.testing import assert_close

from lectures_lib.blocks import positions as library
from lectures_lib.blocks.attention import MultiHeadAttention
from lectures_lib.blocks.recording import record
from lectures_lib.models import minilm
from lectures_lib.show import plots
from lectures_lib.show.dial import ClockDial
from lectures_lib.show.drawings import draw

# %% [markdown]
# ## What the model without positions knows
#
# Shuffle the tokens, and without a causal mask the outputs are shuffled in the same way and otherwise unchanged
# (chapter 2). So what the model says about a digit depends on that digit and on *which* others are there, never on
# where they stand.
#
# In our number, the model has to write the last digit at the place of the 4. It knows seven other digits, 0 7 1 1 9 2
# 6, but not their order. Each is equally likely to be the last one, and two of them are a 1. So the best guess is 1,
# right in 2 cases of 7. It is the same at every place: the best one can do is to name the digit that is most frequent
# at the *other* places.

# %% [markdown]
# **Predict.** For strings of 8 random digits, this guess is right in 32 % of the cases on average. And for strings of
# 12: in more cases, in a little fewer, or in only 10 % as by pure chance?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: in a little fewer -->
#
# In a little fewer: 27 %. Longer strings have more repeated digits, so "in more" is tempting. But what counts is the
# *share* of the most frequent digit among the others, and the longer the string, the closer all shares come to a tenth.
# With 12 they are still far from it: 10 % is the score of someone who guesses without looking at the string.
#
# </details>

# %% tags=["atol=0.011"]
DIGITS, LENGTH = 10, 8


def best_guess(n):
    """How often the most frequent of a string's other n - 1 digits is the right one."""
    strings = F.one_hot(torch.randint(DIGITS, (100_000, n)), DIGITS)
    others = strings.sum(dim=1, keepdim=True) - strings  # (strings, places, digits)
    return (others.amax(dim=-1) / (n - 1)).float().mean().item()


ceiling = best_guess(LENGTH)
for n, share in ((LENGTH, ceiling), (12, best_guess(12))):
    print(f"{n:2} digits: best possible without positions {share:.2f}")

# %% [markdown]
# No amount of training can beat that. To do better, a model must know where its digits stand.
#
# ## How to number places
#
# Before the first layer we can add numbers to each token's vector. Which numbers?
#
# *The place itself*, 0, 1, 2, …? It grows without bound: by place 500 it would drown everything the vector says about
# the word. *The place divided by the length*? Then one step is a different number in a sentence of a different length.
#
# Bits stay between 0 and 1, however far one counts. Count to 15 in four bits, 0000, 0001, 0010, 0011, and so on: the
# last bit flips at every step, the one beside it at every second step, the next at every fourth. The left picture shows
# them as columns.

# %% tags=["hide-input"] mystnb={"image": {"alt": "Two heat maps over the positions 0 to 15. Left, the four binary digits: squares that alternate every 1, 2, 4 and 8 rows. Right, sinusoids of 16 dimensions: smooth waves, fast on the left, slower to the right."}, "figure": {"caption": "Counting to 15. Left: the four bits, the fastest first. Right: sines and cosines, the same idea without corners; brown (light orange in the dark theme) is +1, no colour 0, violet \u22121."}}
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
    library.sinusoidal_positions(16, 16),
    ax=axes[1],
    title="sinusoids, d_model = 16",
    signed=True,
).set(xlabel="dimension", xticks=range(0, 16, 3))
plt.show()

# %% [markdown]
# Bits jump. The columns on the right do not: they are sines and cosines, the choice of the Transformer's authors. The
# first change fast, the last hardly at all. Each pair $i$ of a sine and a cosine has a frequency $\omega_i$ of its own,
# lower than that of the pair before:
#
# $$\begin{aligned} PE_{pos,\,2i} &= \sin(pos \cdot \omega_i), \\ PE_{pos,\,2i+1} &= \cos(pos \cdot \omega_i), \\ \omega_i &= 10000^{-2i/d_{model}}. \end{aligned}$$
#
# By hand, with $d_{model} = 4$: there are two pairs, $\omega_0 = 10000^0 = 1$ and $\omega_1 = 10000^{-2/4} = 1/100$.
# The vector of position 1 is $(\sin 1, \cos 1, \sin 0.01, \cos 0.01) \approx (0.84, 0.54, 0.01, 1.00)$.
#
# It is added to the word's vector, number by number:

# %% tags=["remove-input"]
draw("addition")

# %% [markdown]
# That happens once, below the first layer. Broadcasting adds the same table to every sentence of a batch. In code, the
# table's angles are one outer product of positions and frequencies:


# %%
def sinusoidal_positions(n, d_model):
    """Position vectors 0 … n - 1, (n, d_model); d_model is even."""
    omega = 10000 ** (-torch.arange(0, d_model, 2) / d_model)  # one for each pair
    angles = torch.arange(n)[:, None] * omega  # (n, pairs)
    PE = torch.empty(n, d_model)
    PE[:, 0::2] = angles.sin()
    PE[:, 1::2] = angles.cos()
    return PE


print([f"{x:.2f}" for x in sinusoidal_positions(2, 4)[1]])

# %% [markdown]
# These columns are often called waves; the folded cell draws four of them.

# %% tags=["hide-cell"] mystnb={"image": {"alt": "Four panels, one above the other, each with a sine curve over the positions 0 to 59. Dimension 0 goes up and down more than nine times, dimension 2 three times, dimension 4 not quite once, dimension 6 rises and has just begun to fall. A dotted line through all four marks position 20."}, "figure": {"caption": "The sines of four of the eight pairs, d_model = 16; each is about three times as slow as the one above it. Dotted: the vector of position 20 is read off where the line meets all the curves."}}
columns = sinusoidal_positions(60, 16)[:, 0:8:2].T
figure, axes = plt.subplots(4, 1, figsize=(6.4, 4.0), sharex=True)
for i, (ax, column) in enumerate(zip(axes, columns, strict=True)):
    ax.plot(range(60), column, ".-", color=plots.PURPLE, linewidth=1)
    ax.axvline(20, color=plots.INK, linestyle=":", linewidth=1)
    ax.set(ylim=(-1.2, 1.2), yticks=[-1, 0, 1], title=f"dimension {2 * i}")
axes[-1].set_xlabel("position")
plt.show()

# %% tags=["remove-cell"]
for width in (512, 64):
    assert_close(
        sinusoidal_positions(100, width),
        library.sinusoidal_positions(100, width),
        rtol=0,
        atol=1e-4,
    )

# %% [markdown]
# ## Learned positions
#
# Must there be a formula? BERT, GPT-2 and the Vision Transformer use a table instead, with one row of parameters for
# each position, trained like the word vectors. A row can become any vector. But the table has an end, and the row of
# place 500 is trained only by texts that are longer than 500 tokens.


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
# And here are the waves as a module. A **buffer** is a table that travels with the model, to a graphics processor for
# instance, but is not trained. `persistent=False` says that it need not be saved.


# %%
class SinusoidalPositions(nn.Module):
    """Adds the position vectors 0 … n - 1; nothing is learned."""

    def __init__(self, d_model, max_len=5000):
        super().__init__()
        table = sinusoidal_positions(max_len, d_model)
        self.register_buffer("positions", table, persistent=False)

    def forward(self, x):
        """(batch, n, d_model) → the same"""
        return x + self.positions[: x.shape[1]]


# %% [markdown]
# Learn to write these two from memory. The library's versions check one thing more, and say in plain words when a text
# is longer than the table:

# %%
try:
    library.LearnedPositions(384, 512)(torch.zeros(1, 513, 384))
except ValueError as error:
    print("ValueError:", error)

# %% [markdown]
# What does a learned table look like after training? Here are the first 96 of the 512 rows of MiniLM, each compared
# with every other by the cosine of the angle between them. The strong band along the diagonal shows that neighbours
# have similar vectors. The stripes beside it show that likeness depends mostly on how far apart two positions stand.
# Nobody put this order into the table. Of these 96, only position 0, the place of `[CLS]`, is like none of the others:
# its cosines are 0.31 at most, where all other neighbours have 0.8 and more.

# %% tags=["hide-input"] mystnb={"image": {"alt": "Heat map of 96 by 96 cosines. A strong band along the diagonal, with weaker parallel bands beside it: neighbouring positions are alike, and the likeness rises and falls with distance."}, "figure": {"caption": "MiniLM's learned positions: cosine of every pair. No formula says that position 50 stands beside 51; it was learned. Brown (light orange in the dark theme) is a cosine near 1, violet one below 0, no colour 0."}}
state = minilm.load()
embedding = {
    kind: state[f"embeddings.{kind}_embeddings.weight"]
    for kind in ("word", "position", "token_type")
}
learned = F.normalize(embedding["position"][:96], dim=-1)
places = range(0, 96, 25)
plots.heatmap(learned @ learned.T, signed=True, limit=1.0).set(
    xlabel="position", ylabel="position", xticks=places, yticks=places
)
plt.show()

# %% tags=["remove-cell"]
alike = learned @ learned.T
assert alike[0, 1:].max() < 0.315
inner, apart = alike[1:, 1:], (torch.arange(95)[:, None] - torch.arange(95)).abs()
others = [inner[apart == k] for k in range(1, 95)]  # the cosines at each distance
unexplained = sum((found - found.mean()).square().sum() for found in others)
assert unexplained / (torch.cat(others).var() * (95 * 94)) < 0.25
assert alike.diagonal(1)[1:].min() > 0.8

# %% [markdown]
# ## Measured: the backwards number
#
# Now the experiment from the beginning. Digits become vectors, positions are added, and two attention layers follow,
# with a feed-forward net between them. At the end each place has ten scores, one for each digit from 0 to 9. Such
# scores, before a softmax, are called **logits**. (The plus signs in `x = x + …` and the feed-forward net come in
# [chapter 5](05_encoder.ipynb).)

# %%
D_MODEL = 32


class Reader(nn.Module):
    """Digits (batch, n) in; out, ten scores for each place backwards (batch, n, 10)."""

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


# %% [markdown]
# We train three readers: one without positions, one with sinusoids, one with learned positions. Every step draws 64
# fresh strings, so that nothing can be learned by heart. (The digits' vectors start with a standard deviation of 1;
# with learned positions, of 0.02, like the positions. "What goes wrong" shows why.)


# %%
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


# %% tags=["atol=0.09"]
readers = {
    "no positions": Reader(nn.Identity()),
    "sinusoids": Reader(SinusoidalPositions(D_MODEL)),
    "learned": Reader(LearnedPositions(D_MODEL, max_len=64), embedding_std=0.02),
}
curves = {name: train(reader) for name, reader in readers.items()}
for name, curve in curves.items():
    print(f"{name:13} {curve[-1]:.2f} of the digits right")

# %% tags=["remove-cell"]
final = {name: curve[-1] for name, curve in curves.items()}
assert abs(final["no positions"] - ceiling) < 0.03
assert final["sinusoids"] > 0.9 and final["learned"] > 0.9

# %% tags=["hide-input"] mystnb={"image": {"alt": "Accuracy over 400 training steps. Without positions the curve rises to the dashed line of the best possible guess, 0.32, and stays there. With sinusoids it leaves that line first, with learned positions later; both end near 1."}, "figure": {"caption": "Share of right digits while training (one run). Dashed: the best possible score without positions, counted above. The step at which a curve rises above it differs from seed to seed."}}
ax = plots.curves(
    range(0, 401, 20),
    curves,
    xlabel="training step",
    ylabel="right digits",
)
plots.reference(ax, ceiling)
ax.set(ylim=(0, 1.05))
plt.show()

# %% [markdown]
# The reader without positions finds the best strategy open to it, and stops there. It is not weak; it is blind to
# order. Over five seeds it ended at 0.316<!-- order: accuracy/no_positions/mean .3f --> on average, against a computed
# ceiling of 0.317<!-- order: best_guess_without_positions .3f -->; sinusoids ended at 1.000<!-- order:
# accuracy/sinusoids/mean .3f -->, learned positions at 0.999<!-- order: accuracy/learned/mean .3f -->
# ([results](../book/results/attention.md#order)).
#
# And on longer strings? The waves go on for as long as one likes. The authors hoped that this would let a model
# generalise to longer texts. (In their own translator both kinds gave nearly identical results.)

# %% [markdown]
# **Predict.** All three readers were trained on 8 digits. Now they get 12, where a blind reader can reach 27 %. What
# share do the two that have positions get right: nearly all, about two thirds (8 of 12), about 27 %, or less than 27 %?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: less than 27 % -->
#
# Less than 27 %: about 15 %. They turn the first eight digits round, as if the string ended there, so that these places
# are right only by chance, one in ten; with the last four they do somewhat better. "Eight of twelve" is tempting, but the first digit written must be the twelfth that was
# read, and in training the twelfth place was never filled. The learned table has a row for it, which still holds the
# random numbers it started with. The sinusoids have a sensible vector for it, but the model was never trained on that
# vector. Having a vector for a position is not the same as having learned what to do there.
#
# </details>

# %% tags=["atol=0.12"]
digits = torch.randint(DIGITS, (2000, 12))
right, as_eight = {}, {}
for name, reader in readers.items():
    with torch.no_grad():
        written = reader(digits).argmax(dim=-1)
    right[name] = (written == digits.flip(1)).float().mean().item()
    # Or had it read the first eight places only?
    as_eight[name] = (written[:, :8] == digits[:, :8].flip(1)).float().mean().item()
    print(f"{name:12} right {right[name]:.2f}   as if 8 digits: {as_eight[name]:.2f}")

# %% tags=["remove-cell"]
assert right["no positions"] > 0.23 > max(right["sinusoids"], right["learned"])
assert min(as_eight["sinusoids"], as_eight["learned"]) > 0.88

# %% [markdown]
# Over five seeds the average share was 0.26<!-- order: accuracy_at_other_lengths/no_positions/12/mean .2f --> without
# positions, 0.16<!-- order: accuracy_at_other_lengths/sinusoids/12/mean .2f --> with sinusoids and 0.14<!-- order:
# accuracy_at_other_lengths/learned/12/mean .2f --> with learned positions. (This does not refute the authors' hope: all
# training strings had the same length, so the reader could not learn that a digit's new place depends on the length.)
#
# **Try it.** Your own number, of eight digits, then of seven: `readers["sinusoids"](torch.tensor([[4, 0, 7, 1, 1, 9, 2,
# 6]])).argmax(dim=-1)`. Does any of the seven come out in its right place? And where would each stand if the string had
# eight?

# %% [markdown]
# ## Clocks
#
# Positions help. But why just these waves? The sine and the cosine of an angle are the coordinates of a point on a
# circle, the tip of a hand. Let the hand start at twelve and turn clockwise: its tip lies by the *sine* to the right
# and by the *cosine* upwards. So a position vector is a set of clocks, a column in the first picture. The first hand turns by
# one radian (57 degrees) with every token, the others more and more slowly. Together they tell the time. A single hand
# tells it badly: a slow one hardly moves, and a fast one is soon back near where it was.


# %% tags=["hide-input", "nbval-ignore-output"]
ClockDial(d_model=8)

# %% [markdown]
# ## What the waves are good for
#
# **Each position has its own vector.** The first hand alone sees to that. It turns by one radian a token, and no whole
# number of radians is a whole number of turns, so it never points twice in the same direction. But it may come very
# near (exercise 1). The slowest, $i = d_{model}/2 - 1$, needs $2\pi / \omega_i = 2\pi \cdot 10000^{1 - 2/d_{model}}$
# tokens for one turn, about 60,600 if $d_{model} = 512$.

# %% [markdown]
# **Predict.** A position vector of 512 numbers is made of 256 hands of length 1, so its own length is $\sqrt{256} =
# 16$. Among the first 2,000 positions, how far apart are the two closest vectors: about 0.004, about 0.4 or about 4?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: about 4 -->
#
# About 4, a quarter of their length. Any two neighbours are that far apart, and no two of these positions are closer.
# Among two thousand points, with many hands that hardly move, it is tempting to expect two that nearly coincide. But
# the fast hands turn by up to a radian at every step, and two positions are close only where *all* hands point nearly
# the same way.
#
# </details>

# %%
PE = sinusoidal_positions(2000, 512)
distances = torch.cdist(PE, PE)
distances.fill_diagonal_(math.inf)
neighbours = distances.diagonal(1)  # from each position to the next
print(f"closest two: {distances.min():.1f}")
print(f"two neighbours: {neighbours.min():.1f} to {neighbours.max():.1f}")

# %% [markdown]
# **What does attention see of two positions?** It compares by dot products. Write $\omega$ for a hand's speed and take
# the two numbers of that hand only:
#
# $$\begin{aligned} PE_p \cdot PE_q &= \sin(p\,\omega)\sin(q\,\omega) + \cos(p\,\omega)\cos(q\,\omega) \\ &= \cos(p\,\omega - q\,\omega) \\ &= \cos((p - q)\,\omega). \end{aligned}$$
#
# The whole product is the sum over all hands, $\sum_i \cos((p - q)\,\omega_i)$.

# %% [markdown]
# **Predict.** Position 100 is compared with 103; much later in the text, 1100 with 1103; and then 100 with 97. Which of
# the three dot products are equal: none, the first two, or all three?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: all three -->
#
# All three. The first two because only the distance counts, wherever one is in the text. The third because $\cos(-x) =
# \cos x$: it is the same whether the other position lies before or after. It is tempting to think that the product
# shows which of two positions comes first, but it does not tell *before* from *after*. To look back and not ahead, a
# head must first turn one of the two vectors, as is shown next.
#
# </details>

# %% tags=["atol=0.002"]
PE = sinusoidal_positions(2000, 64)
for p, q in ((100, 103), (1100, 1103), (100, 97)):
    print(f"{p:4} and {q:4}: {PE[p] @ PE[q]:.2f}")

# %% tags=["hide-input"] mystnb={"image": {"alt": "A curve over the distance from minus 100 to 100. It peaks at 32 for distance 0, falls quickly and goes on in ripples between 10 and 20, the same on both sides."}, "figure": {"caption": "Dot product of two position vectors (d_model = 64) over their distance: the same curve wherever one starts. It falls off in ripples, the same on both sides."}}
products = (PE[:201] @ PE[100]).tolist()
ax = plots.curves(
    range(-100, 101), {"": products}, xlabel="distance", ylabel="dot product"
)
plt.show()

# %% [markdown]
# **Moving on by k is the same rotation everywhere.** Going from position $pos$ to $pos + k$, the hand of pair $i$ turns
# by $k\,\omega_i$, whatever $pos$ is. Such a turn is a 2 × 2 matrix. Write $a = pos \cdot \omega_i$ for where the hand
# stands, and $b = k\,\omega_i$ for the turn. The last step uses the addition formulas from school:
#
# $$\begin{aligned} \begin{pmatrix} \cos b & \sin b \\ -\sin b & \cos b \end{pmatrix} \begin{pmatrix} \sin a \\ \cos a \end{pmatrix} &= \begin{pmatrix} \cos b \sin a + \sin b \cos a \\ -\sin b \sin a + \cos b \cos a \end{pmatrix} \\ &= \begin{pmatrix} \sin(a + b) \\ \cos(a + b) \end{pmatrix}. \end{aligned}$$
#
# The matrix contains $b$ only, not $a$. (School books have its transpose: they write cosine first and turn
# anticlockwise.) Put one such block for each hand along the diagonal of a large matrix $M_k$. Then $PE_{pos + k} =
# M_k\, PE_{pos}$, with the *same* $M_k$ for every $pos$. In code positions are the rows of a table, and `PE @ M_k.T`
# moves all of them at once.

# %% tags=["remove-input"]
draw("rotation")


# %% tags=["atol=0.0002"]
def rotation(angle):
    """The 2 × 2 matrix that turns a hand by this angle."""
    sine, cosine = math.sin(angle), math.cos(angle)
    return torch.tensor([[cosine, sine], [-sine, cosine]])


def shift_matrix(k, d_model):
    """M_k: every hand turned by k times its own ω."""
    omegas = [10000 ** (-2 * i / d_model) for i in range(d_model // 2)]
    return torch.block_diag(*(rotation(k * omega) for omega in omegas))


PE, M_3 = sinusoidal_positions(1000, 12), shift_matrix(3, 12)
error = (PE[:-3] @ M_3.T - PE[3:]).abs().max()
print(f"M_3 moves 997 positions; largest error {error:.4f}")

# %% tags=["remove-cell"]
assert_close(M_3, library.shift_matrix(3, 12))
assert (PE[:-3] @ M_3.T - PE[3:]).abs().max() < 2e-4

# %% tags=["hide-input"] mystnb={"image": {"alt": "Heat map of a 12 by 12 matrix that is zero except for two-by-two blocks along the diagonal. The first blocks are turned strongly, the last are nearly the identity."}, "figure": {"caption": "The shift by three positions, M\u2083, for d_model = 12: six rotations, the fastest hand first. Brown (light orange in the dark theme) is +1, no colour 0, violet \u22121."}}
plots.heatmap(M_3, signed=True, limit=1.0)
plt.show()

# %% [markdown]
# **Predict.** Start at position 100. Where do we arrive if we apply $M_3$ twice? And where with its transpose,
# $M_3^\top$?
#
# <details><summary>Answer</summary>
#
# At 106, and at 97. Two turns by the same angle are one turn by twice the angle, so $M_3 M_3 = M_6$. Transposing a
# rotation swaps the signs of its sines: it turns back. (109 would be 3 · 3; but angles add.)
#
# </details>


# %%
def nearest(vector):
    """The position whose vector is closest to this one."""
    return (PE - vector).norm(dim=1).argmin().item()


print("M_3 twice:      ", nearest(M_3 @ M_3 @ PE[100]))
print("M_3 transposed: ", nearest(M_3.T @ PE[100]))

# %% [markdown]
# Other models add no position vectors. Some give each score a learned term for how far apart its two words stand, and in which direction (*relative* positions, Shaw et al., 2018). Most language models of today turn the queries and keys themselves, in each layer, each
# by angles that grow with its own place (*rotary* positions, **RoPE**, Su et al. 2021). Move both by three places, and
# both turn further by the same angles, which leaves their dot product as it was. So the two places enter a score only by their difference. Its sign counts, too: unlike the product of two position vectors above, such a score can tell three places before from three behind.
#
# ## Added, not appended
#
# The position vector is *added* to the word's. Doesn't that lose something? From the sum 7 nobody can tell whether it
# was 3 + 4 or 5 + 2. But these vectors have many dimensions. If words use some of them and positions others, a
# projection can read either out of the sum. The word vectors are learned, so training can arrange that. With word
# vector $x_i$ and position vector $p_i$ at place $i$, a score has four parts:
#
# $$(x_i + p_i)\,W^Q (W^K)^\top (x_j + p_j)^\top = \underbrace{x_i A x_j^\top}_{\text{word, word}} + \underbrace{x_i A p_j^\top}_{\text{word, place}} + \underbrace{p_i A x_j^\top}_{\text{place, word}} + \underbrace{p_i A p_j^\top}_{\text{place, place}}$$
#
# with $A = W^Q (W^K)^\top$. One head can be all about words and another all about places.
#
# A head of places can look $k$ tokens back. Let it be as wide as the vectors, let its $W^K$ leave each position vector
# as it is, and let its $W^Q$ turn each one back by $k$ places (to turn a column back, one writes $M_{-k}$ on its left; the vectors here are rows, and on their right stands $M_{-k}^\top$, which is the same matrix as $M_k$: so $W^Q = M_k$). Then the query made at position $p$ equals the key made at $p - k$, and no other key fits better. To get *most* of the attention there, $W^Q$ must also be much larger (exercise 4 makes it five times as large, and gets nearly half). (A narrow head
# can do the same with a few of the hands.) The authors guessed that a model would easily learn this; it was one of
# their reasons for the waves.
#
# MiniLM's positions are learned, and it, too, has a head that looks at the previous token, whatever that token is. Does
# that head need the words? The folded cell gives MiniLM's first layer a text without words: all 128 places hold the
# same vector, the average of all word vectors, and only the positions differ.

# %% tags=["hide-input"] mystnb={"image": {"alt": "Heat map of attention weights over 24 positions. Nearly all weight lies on the diagonal just below the main diagonal; position 0 attends to itself."}, "figure": {"caption": "MiniLM, layer 0, head 2, on a text without words: nearly every position attends to the one before, the very first to itself (the first 24 of 128 shown)."}}
wordless = (  # embedding and state: MiniLM's numbers, read in "Learned positions"
    embedding["word"].mean(dim=0)
    + embedding["position"][:128]
    + embedding["token_type"][0]  # a part of BERT's input: see chapter 12
)
wordless = F.layer_norm(
    wordless,
    (384,),
    state["embeddings.LayerNorm.weight"],
    state["embeddings.LayerNorm.bias"],
    eps=1e-12,
)

attention = minilm.attention_of(state, layer=0)
with torch.no_grad(), record(attention) as seen:  # keeps the weights, in seen
    attention(wordless[None])
weights = seen["weights"][0, 2]
places = range(0, 24, 5)
plots.heatmap(weights[:24, :24]).set(
    xlabel="key", ylabel="query", xticks=places, yticks=places
)
plt.show()

# %% tags=["atol=2"]
before = weights.argmax(dim=-1) == torch.arange(128) - 1
print(f"attend most to the previous position: {before.sum()} of 127")

# %% [markdown]
# (Position 0 has none before it.) So the head hardly needs the words.
#
# ## What goes wrong
#
# ### Positions that nobody hears
#
# The learned reader above started with words and positions of the same size: both had a standard deviation of 0.02, as
# in BERT. Left alone, `nn.Embedding` starts words at 1, fifty times as large.

# %% tags=["atol=0.11"]
drowned = Reader(LearnedPositions(D_MODEL, max_len=64), embedding_std=1.0)
print(f"length of a word vector {drowned.embedding.weight.norm(dim=-1).mean():.1f}")
print(f"length of a position    {drowned.positions.positions.norm(dim=-1).mean():.1f}")

# %% [markdown]
# In our five runs with that setting, the accuracy after 400 steps was between 0.31<!-- order:
# accuracy/learned_too_small/min .2f --> and 0.93<!-- order: accuracy/learned_too_small/max .2f -->, and four of the
# five were still at the ceiling of the blind reader.

# %% [markdown]
# **Predict.** Is the unequal size to blame, or are the positions too faint? One reader starts with words and positions
# of size 1, another with words of 0.02 and positions of 1, fifty times as large. Which learns the task: the first, the
# second, or both?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: both -->
#
# Both. "The first" would be right if words and positions had to be of a similar size. But loud positions are found
# beside faint words, too.
#
# </details>

# %% tags=["atol=0.09"]
loud = {}
for words, places in ((1.0, 1.0), (0.02, 1.0)):
    reader = Reader(LearnedPositions(D_MODEL, max_len=64), embedding_std=words)
    nn.init.normal_(reader.positions.positions, std=places)
    loud[words] = train(reader)[-1]
    print(f"words {words:4}, positions {places}: {loud[words]:.2f} of the digits right")

# %% tags=["remove-cell"]
assert min(loud.values()) > 0.9

# %% [markdown]
# Faint positions beside faint words were found as well (the learned reader, both at 0.02). So neither unequal size nor
# faintness alone is to blame: only faint positions beside loud words were missed.
#
# **Try it.** Change the loop: with words of 1, how small may positions start?
# (The original Transformer has the opposite worry, faint words: [chapter 6](06_decoder.ipynb).)

# %% [markdown]
# ## Exercises
#
# Ungraded; a solution is folded below each.
#
# **1. A single clock.** Take `d_model = 2`, one hand that turns by one radian a step. Of the first 1,000 positions,
# find the two with the closest vectors. How far apart do they stand in the text, and how far apart are their vectors?

# %% tags=["hide-cell", "atol=0.0002"]
# Solution 1
one_clock = sinusoidal_positions(1000, 2).double()
distances = torch.cdist(
    one_clock, one_clock, compute_mode="donot_use_mm_for_euclid_dist"
)
distances.fill_diagonal_(math.inf)
p, q = divmod(distances.argmin().item(), 1000)
print(f"{abs(p - q)} positions apart, distance {distances.min():.4f}")
# 710 radians are 113 whole turns, nearly exactly: 355/113 is a famous fraction for π.

# %% [markdown]
# **2. Two halves.** Some implementations put all sines first and all cosines behind, `[s, s, s, c, c, c]` instead of
# `[s, c, s, c, s, c]`. By how much do the vectors change? And their dot products? When does it matter?

# %% tags=["hide-cell", "atol=0.002"]
# Solution 2
PE = sinusoidal_positions(200, 64)
halves = torch.cat([PE[:, 0::2], PE[:, 1::2]], dim=1)
products = (halves @ halves.T - PE @ PE.T).abs().max()
print(f"vectors differ by up to      {(halves - PE).abs().max():.1f}")
print(f"dot products differ by up to {products:.2f}")
# A fixed shuffling of dimensions: a model trained from scratch learns the same with it.
# But load weights of one kind into code of the other, and nearly all dimensions have
# changed places. (The Marian translation models of chapter 8b have halves.)

# %% [markdown]
# **3. Four digits, exactly.** For strings of 4 digits, the blind reader's best score needs no simulation: go through
# all 10,000 strings. What is it? Then check by hand.

# %% tags=["hide-cell"]
# Solution 3
right = total = 0
for number in range(10_000):
    string = f"{number:04}"
    for place in range(4):
        others = string[:place] + string[place + 1 :]
        right += max(others.count(digit) for digit in others)
        total += len(others)
print(f"{right} of {total}: {right / total:.2f}")
# By hand: the three others are all different in 0.72 of the cases (right in 1 of 3),
# two are equal in 0.27 (2 of 3), all three in 0.01: 0.24 + 0.18 + 0.01 = 0.43.

# %% [markdown]
# **4. Build it: a head that looks back.** Make queries and keys from position vectors alone, so that each position
# attends most to the one two places before it. Use `shift_matrix`. Count for how many of 100 positions it works (the first two have none two places before them).

# %% tags=["hide-cell", "atol=0.011"]
# Solution 4
PE = sinusoidal_positions(100, 64)
Q, K = (
    PE @ shift_matrix(-2, 64).T,
    PE,
)  # the query of position 7 is the key of position 5
weights = (Q @ K.T / math.sqrt(64)).softmax(dim=-1)
hits = weights.argmax(dim=-1) == torch.arange(100) - 2
print(
    f"{hits.sum()} of 98; weight there {weights[7, 5]:.2f}, or with queries × 5",
    end=" ",
)
print(f"{(5 * Q @ K.T / math.sqrt(64)).softmax(dim=-1)[7, 5]:.2f}")
# The rotation would stand in W_Q, where training could put it.

# %% [markdown]
# ## Summary
#
# 1. Without positions, and without a causal mask, a Transformer sees a bag of tokens; for our task, the best it can do
#    can be computed.
# 2. Sinusoids are clock hands: pairs (sin, cos) with frequencies from 1 down towards 1/10000 (the wider the vector, the
#    closer).
# 3. A shift by k is one rotation for all positions; dot products depend on the distance only.
# 4. Learned positions are a table of parameters: flexible, but finite, and they must not be drowned by the words.
# 5. Having vectors for longer texts does not mean generalising to them: measure it.
#
# **Homework 1**, questions 7 and 8, is about this chapter: [exercises](../exercises/hw1_attention.ipynb).
#
# **Next:** [chapter 5](05_encoder.ipynb) adds plus signs, norms and a feed-forward network to attention, and stacks
# such blocks into the encoder.
#
# ## References
#
# - Ashish Vaswani et al. (2017). *Attention is all you need.* NeurIPS. Sections 3.4 and 3.5.
# - Jacob Devlin, Ming-Wei Chang, Kenton Lee and Kristina Toutanova (2019). *BERT: pre-training of deep bidirectional
#   Transformers for language understanding.* NAACL.
# - Peter Shaw, Jakob Uszkoreit and Ashish Vaswani (2018). *Self-attention with relative position representations.*
#   NAACL.
# - Philipp Dufter, Martin Schmitt and Hinrich Schütze (2022). *Position information in Transformers: an overview.*
#   Computational Linguistics. Many more ways than this chapter has.
# - Jianlin Su et al. (2021). *RoFormer: enhanced Transformer with rotary position embedding.* The rotation of this
#   chapter, put into the attention itself.
