# %% [markdown]
# # Self-attention
#
# > *The animal didn't cross the street because it was too tired.*
#
# What does "it" stand for? You knew before you reached the full stop: the animal. A program that reads one word after
# the other has to carry "animal" along until "it" arrives, six words later. **Self-attention** carries nothing along.
# It looks at every word of the sentence at once, and decides how much of each to take into "it".
#
# The picture below was measured in MiniLM, a small published model that reads English (`all-MiniLM-L6-v2`). It reads
# **tokens**: words, pieces of words and punctuation marks ("didn't" makes three), between two marks of its own, `[CLS]`
# and `[SEP]`. Point at "it", tap it, or move there with the arrow keys.

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

# %% tags=["hide-input", "nbval-ignore-output"]
from lectures_lib.models import minilm
from lectures_lib.show.viewer import AttentionViewer

tired = minilm.read("The animal didn't cross the street because it was too tired.")
AttentionViewer(
    tired.tokens,
    tired.weights[3, 1],
    title="MiniLM, layer 3, head 1",
    token=tired.tokens.index("it"),
)

# %% tags=["remove-cell"]
it, animal = tired.tokens.index("it"), tired.tokens.index("animal")
assert tired.weights[3, 1, it].argmax() == animal
assert tired.weights[3, 1, it, animal] > 0.6

# %% [markdown]
# At "it", two thirds of the attention go to "animal". How does a model arrive at such numbers, and what does it do with
# them? (This is one of MiniLM's 72 **attention heads**: six layers of twelve, both counted from 0. [Further
# down](#back-to-it) all of them read a sentence of yours.)
#
# **After this chapter you can**
#
# - compute attention for a two-word sentence by hand, and for any sentence in four lines of code;
# - say what queries, keys and values are for, and why rows of weights sum to 1 while columns do not;
# - explain why scores are divided by a fixed number before the softmax, and what goes wrong without it;
# - hide the future or the padding with a mask, and say why it must act before the softmax;
# - name the thing that self-attention cannot see at all.
#
# **Time** about 90 minutes. **You need** matrix products, softmax and a first acquaintance with PyTorch tensors (see
# the [primer](../book/primer.md)). [Chapter 1](01_bottleneck.ipynb) tells where attention came from, but nothing here
# depends on it. Where you read **Predict**, stop and write your guess down first.

# %% tags=["hide-input"]
import math

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import nn

from lectures_lib.blocks.attention import fused_attention
from lectures_lib.show import plots
from lectures_lib.show.attention_lab import AttentionLab
from lectures_lib.show.dial import SoftmaxDial
from lectures_lib.show.drawings import draw

torch.set_printoptions(precision=2, sci_mode=False)

# %% [markdown]
# ## Four people and an hour
#
# Four friends meet for an hour to learn from each other. Each of them has three things to say:
#
# - what they would like to learn, their **query**;
# - what they are able to teach, their **key**;
# - what they actually tell those who listen, their **value**.
#
# Each pair (listener, teacher) gets a **score**: how well does the teacher's key fit the listener's query? Suppose
# these are the scores, one row for each listener. (One may also listen to oneself.)

# %%
people = ["Ada", "Ben", "Chloe", "Dev"]
wishes = torch.tensor(
    [
        [0.0, 1.0, 0.0, 3.0],  # Ada wants what Dev teaches
        [1.0, 0.0, 2.0, 2.0],  # Ben is torn between Chloe and Dev
        [0.0, 0.0, 0.0, 4.0],  # Chloe wants nothing but Dev's subject
        [2.0, 2.0, 2.0, 2.0],  # Dev would listen to anybody
    ]
)

# %% [markdown]
# Everyone has one hour of attention to give away. **Softmax** turns each row of scores into shares of it,
#
# $$\operatorname{softmax}(s)_j = \frac{e^{s_j}}{\sum_{j'} e^{s_{j'}}},$$
#
# positive numbers that sum to 1, larger where the score is larger. For Ada, $e^0 = 1$, $e^1 = 2.718$, $e^0 = 1$ and
# $e^3 = 20.086$ sum to 24.80, so her shares are 0.04, 0.11, 0.04 and 0.81.

# %% [markdown]
# **Predict.** Chloe's scores are 0, 0, 0 and 4: she wants nothing but what Dev teaches. How much of her hour does Dev
# get: about half of it, about 0.95 of it, or all of it?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: about 0.95 of it -->
#
# About 0.95: $e^4 = 54.6$ beside three times $e^0 = 1$, so $54.6 / 57.6$. "All" is tempting because the other scores
# are zero. But zero is a score like any other, and $e^0$ is not 0. However small a score, softmax gives it a share.
#
# </details>

# %%
hours = wishes.softmax(dim=-1)
for name, row in zip(people, hours, strict=True):
    print(f"{name:6}", "  ".join(f"{share:.2f}" for share in row))

# %% tags=["hide-input"] mystnb={"image": {"alt": "Heat map of a 4 by 4 matrix of attention weights. Rows are listeners, columns teachers. The column of Dev is the strongest: 0.81, 0.40, 0.95 and 0.25."}, "figure": {"caption": "Who spends how much of the hour with whom. Each row sums to 1, up to rounding."}}
ax = plots.heatmap(hours, rows=people, columns=people, numbers=".2f")
ax.set(xlabel="teacher (key)", ylabel="listener (query)")
plt.show()

# %%
print("each row sums to   ", [f"{total:.2f}" for total in hours.sum(dim=1)])
print("each column sums to", [f"{total:.2f}" for total in hours.sum(dim=0)])

# %% [markdown]
# Nobody can listen for more than an hour, but Dev is heard for 2.41 hours in total, since he talks to several people at
# once. *Giving* attention is limited, so **rows sum to 1**. *Receiving* it is not: a column may sum to anything between
# 0 and the number of listeners.
#
# Each listener takes home a mixture of what the teachers said, in the proportions of the listener's row: Ada mostly
# Dev's value, and a little of Ben's.
#
# Now replace people by words. In *self*-attention every word is both listener and teacher.
#
# ## Two words by hand
#
# Our sentence has two words: "Thinking Machines". We want the new vector of "Thinking". Its query $q_1$ and the two
# keys $k_1, k_2$ have 64 numbers each ($d_k = 64$). Within a vector all are equal, so that you need no calculator. Each
# value has two numbers.

# %%
q1 = torch.ones(64)
k1 = torch.full((64,), 1.75)
k2 = torch.full((64,), 1.5)
v1, v2 = torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])

print("q1 · k1 =", (q1 @ k1).item(), "  (64 times 1.75)")
print("q1 · k2 =", (q1 @ k2).item(), "   (64 times 1.5)")

# %% [markdown]
# The score of two vectors is their dot product: 112 and 96. The **Transformer** of *Attention is all you need* (Vaswani
# et al., 2017; from now on "the paper") divides every score by $\sqrt{d_k}$. (We shall see why.) Here $\sqrt{d_k} = 8$,
# which leaves 14 and 12.

# %% [markdown]
# **Predict.** The scores are 14 and 12. What weight does "Thinking" give to itself: 0.54, 0.88 or 1.00?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: 0.88 -->
#
# 0.88. Softmax only sees the difference of the scores, because a factor $e^{12}$ cancels:
#
# $$\frac{e^{14}}{e^{14} + e^{12}} = \frac{1}{1 + e^{-2}} \approx 0.88.$$
#
# 0.54 is $14 / 26$, the share of the *scores*; but softmax compares $e^{14}$ with $e^{12}$. 1.00, to two decimals, is
# what 112 and 96 would give, with a difference of 16 instead of 2.
#
# </details>

# %%
s = torch.stack([q1 @ k1, q1 @ k2]) / math.sqrt(64)
w = s.softmax(dim=-1)
z1 = w[0] * v1 + w[1] * v2

print("scores ", s.tolist())
print("weights", [f"{x:.2f}" for x in w])
print("z1     ", [f"{x:.2f}" for x in z1])

# %% [markdown]
# The new vector $z_1$ is 88 % the value of "Thinking" and 12 % that of "Machines". (The example is Alammar's, 2018.) In
# one line, for word $i$ of a sentence of $n$ words, and in one drawing:
#
# $$z_i = \sum_{j=1}^{n} w_{ij}\, v_j, \qquad (w_{i1}, \dots, w_{in}) = \operatorname{softmax}\!\left(\frac{q_i \cdot k_1}{\sqrt{d_k}}, \dots, \frac{q_i \cdot k_n}{\sqrt{d_k}}\right)$$

# %% tags=["remove-input"]
draw("thinking_machines")

# %% [markdown]
# If one score is far above the other, $z_1$ is nearly that word's value: attention *looks something up*. If all scores
# are equal, $z_1$ is the plain *average* of the values.
#
# ## Where queries, keys and values come from
#
# So far queries, keys and values were given. But a word arrives as one vector $x$, a row of $d_{model}$ numbers. Three
# matrices, *learned* and the same for every word, make a query, a key and a value of it:
#
# $$q_i = x_i W^Q, \qquad k_j = x_j W^K, \qquad v_j = x_j W^V.$$
#
# For once we choose the matrices ourselves, so that every number can be followed. The sentence is "dog bites man". A
# word has four numbers: is it a noun, a verb, an animal, a human?

# %%
words = ["dog", "bites", "man"]
X = torch.tensor(
    [  # noun, verb, animal, human
        [1.0, 0.0, 1.0, 0.0],  # dog
        [0.0, 1.0, 0.0, 0.0],  # bites
        [1.0, 0.0, 0.0, 1.0],  # man
    ]
)
W_Q = torch.tensor([[0.0, 2], [2, 0], [0, 0], [0, 0]])
W_K = torch.tensor([[1.0, 0], [0, 1], [0, 0], [0, 0]])
W_V = torch.tensor([[0.0, 0, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0]])

n, d_model = X.shape  # 3 words, 4 numbers each
d_k, d_v = W_K.shape[1], W_V.shape[1]  # 2 and 3

# %% tags=["remove-input"]
draw("queries_keys_values")

# %% [markdown]
# A key says "I am a noun" (1, 0) or "I am a verb" (0, 1). A query says what the word looks for: "bites" asks for nouns
# (2, 0), the nouns ask for a verb (0, 2). The 2 says how strongly they ask. A value says animal, human or action. Query
# and key must be equally wide to be multiplied, $d_k = 2$; a value may have a width of its own, $d_v = 3$.
#
# First slowly, one query at a time.


# %%
def attend_one(i):
    """The new vector of word i."""
    q = X[i] @ W_Q  # (d_k,)
    s = [q @ (X[j] @ W_K) / math.sqrt(d_k) for j in range(n)]  # scores
    w = torch.stack(s).softmax(dim=-1)  # shares
    return sum(w[j] * (X[j] @ W_V) for j in range(n))  # (d_v,)


Z_slow = torch.stack([attend_one(i) for i in range(n)])
print(Z_slow)

# %% [markdown]
# The middle row is the new vector of "bites": almost half animal, almost half human, with a little action. Its old
# vector knew of neither animal nor human.
#
# This took nine dot products, one by one. But if the queries are the rows of $Q$ and the keys those of $K$, one matrix
# product, $Q K^\top$, is the table of all nine. The averages of the values are another. So the loops disappear, and
# what remains is the formula of the paper:
#
# $$\operatorname{Attention}(Q, K, V) = \operatorname{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V$$

# %%
Q, K, V = X @ W_Q, X @ W_K, X @ W_V  # (n, d_k), (n, d_k), (n, d_v)
scores = Q @ K.T / math.sqrt(d_k)  # (n, n): row i holds the scores of query i
weights = scores.softmax(dim=-1)  # (n, n): every row sums to 1
Z = weights @ V  # (n, d_v)

print("scores\n", scores)
print("weights\n", weights)
print("new vectors\n", Z)

# %% tags=["remove-cell"]
torch.testing.assert_close(Z, Z_slow)

# %% [markdown]
# Four lines, and no word waits for another: a graphics processor can work on all at once. The price is the table of $n
# \times n$ scores: a text twice as long has four times as many.
#
# ## Why divide by √d_k?
#
# A dot product is a sum of $d_k$ products. Suppose the numbers in $q$ and $k$ are independent and have variance 1 and
# mean 0. Then so has each product, and variances add up: the sum has variance $d_k$ and standard deviation
# $\sqrt{d_k}$. The wider the vectors, the larger the scores. A thousand draws confirm it.

# %%
for width in (4, 64, 1024):
    q, k = torch.randn(1000, width), torch.randn(1000, width)
    dots = (q * k).sum(dim=-1)
    print(f"d_k = {width:4}: standard deviation {dots.std():5.1f},", end=" ")
    print(f"divided by √d_k {(dots / math.sqrt(width)).std():.1f}")

# %% [markdown]
# Softmax is sensitive to scale. Below, multiply the scores of eight keys by a factor: the larger it is, the more goes
# to the largest score alone. Leaving out the division at $d_k = 64$ is a factor of 8.

# %% tags=["hide-input", "nbval-ignore-output"]
eight = torch.randn(8).sort(descending=True).values
sharpness = SoftmaxDial(
    eight,
    [f"key {i}" for i in range(1, 9)],
    title="How eight keys share the attention, the best-fitting first",
)
sharpness

# %% [markdown]
# Giving nearly everything to one key is no harm in itself: perhaps the word *should* look at one other only. But in
# training such a query gets almost no gradient. The derivative of a weight $w_i$ with respect to its own score is $w_i
# (1 - w_i)$, with respect to another key's score $-w_i w_j$. If one weight is nearly 1 and the others are nearly 0, all
# these products are nearly 0.

# %% [markdown]
# **Predict.** With the scores 14 and 12 the first weight is 0.88, and its derivative $0.88 \cdot 0.12 \approx 0.1$. How
# much smaller is it with the undivided scores, 112 and 96: about 8 times, about a thousand times, or about a million
# times?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: about a million times -->
#
# About a million times: 0.1 becomes 0.0000001. "8 times" is tempting because the scores are 8 times as large. But the
# factor stands in an exponent: the second weight was $e^{-2}$ times the first, and becomes $e^{-16}$ times the first.
#
# </details>

# %% tags=["rtol=0.01"]
for pair in ([14.0, 12.0], [112.0, 96.0]):
    s = torch.tensor(pair, dtype=torch.float64, requires_grad=True)
    w = s.softmax(dim=-1)
    (gradient,) = torch.autograd.grad(w[0], s)
    print(f"scores {pair}: weight {w[0]:.7f}, its derivative {gradient[0]:.1e}")

# %% [markdown]
# How often does that happen? We count it for random queries, each with eight random keys:


# %% tags=["hide-input"] mystnb={"image": {"alt": "Two lines over d_k from 1 to 1024, a logarithmic axis. With the division by the root of d_k the share of queries that get next to nothing stays at zero; without it, it rises from zero at 4 to about 0.2 at 64 and about two thirds at 1024."}, "figure": {"caption": "Share of queries whose weights hardly answer any more when the query changes (size of \u2202w/\u2202q below 0.01, our own threshold). With 0.001 as threshold, and without the division, it is about one query in ten at 64 and more than half at 1,024. 8 keys, 2,000 draws for each width."}}
def sizes(q, K, factor):
    """For each query (batch, 1, d_k) the size of ∂w/∂q; scores: factor · q·k."""
    w = (factor * (q * K).sum(dim=-1)).softmax(dim=-1)
    # ∂w/∂s (batch, n, n): w_i (1 - w_i) on the diagonal, -w_i w_j elsewhere
    to_score = torch.diag_embed(w) - w[:, :, None] * w[:, None, :]
    to_query = factor * to_score @ K  # ∂w/∂q by the chain rule, (batch, n, d_k)
    return to_query.flatten(start_dim=1).norm(dim=-1)  # over all n · d_k entries


def share_below(found, threshold=0.01):
    """For each width the share of queries whose size is smaller."""
    return [(of_width < threshold).float().mean().item() for of_width in found]


widths = [4**power for power in range(6)]
with_division, without = [], []
for width in widths:
    q, keys = torch.randn(2000, 1, width), torch.randn(2000, 8, width)
    without.append(sizes(q, keys, factor=1.0))
    with_division.append(sizes(q, keys, factor=1 / math.sqrt(width)))

ax = plots.curves(
    widths,
    {"divided by √dₖ": share_below(with_division), "not divided": share_below(without)},
    xlabel="dₖ",
    ylabel="share of queries",
)
ax.set(xscale="log", ylim=(-0.05, 1))
ax.set_xticks(widths, widths)
ax.minorticks_off()
plt.show()

# %% tags=["remove-cell"]
assert max(share_below(with_division)) < 0.05
assert 0.5 < share_below(without)[-1] < 0.8 and 0.1 < share_below(without)[3] < 0.3
assert 0.08 < share_below(without, 0.001)[3] < 0.14
assert 0.5 < share_below(without, 0.001)[-1] < 0.65
assert without[3].median() > 0.95 * with_division[3].median()

# %% [markdown]
# Without the division, one query in five gets next to no gradient at a width of 64, and two in three at 1,024. (At 64
# the typical query, the median, gets no less than with the division.)
#
# ## Masks: what must not be seen
#
# So far every word sees every other. Sometimes it must not.
#
# - **The future.** A model that learns to predict the next word may not see that word. Position $i$ may attend to
#   positions $0 \dots i$ only: a **causal mask**.
# - **Padding.** The sentences of a batch are the rows of one table. Short ones are filled up with **padding**, which
#   means nothing.
#
# In this book a mask is a table of booleans, and `True` always means *may attend*. Each kind takes one line of code.


# %%
def causal_mask(n, device=None):
    """Query i may attend to the keys 0 … i: True in the lower triangle."""
    return torch.ones(n, n, dtype=torch.bool, device=device).tril()


causal = causal_mask(5)
lengths = torch.tensor([5, 3])  # two sentences in a batch of width 5
real_words = torch.arange(5) < lengths[:, None]  # (2, 5): the keys of each sentence

print("causal mask\n", causal.int())
print("padding, a row for each sentence\n", real_words.int())

# %% [markdown]
# A row of the padding mask holds for *all* queries of its sentence.
#
# How do we forbid a key? Not with a score of 0: in Chloe's hour, each 0 still got a share of 0.02. A score of minus
# infinity gets none, since $e^{-\infty} = 0$. It goes in *before* the softmax, so that the other keys share all of the
# attention.

# %% [markdown]
# **Predict.** A query scores five keys with 2, 1, 3, 0 and 1, and gives the first of them 0.22 of its attention. Now
# the last three are forbidden. What does the first get: still 0.22, or 0.56, or 0.73?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: 0.73 -->
#
# 0.73, that is $e^2 / (e^2 + e^1)$: the two that are left share everything. 0.22 would mean that the share of the
# forbidden keys is lost; that happens to those who mask after the softmax. 0.56 is what comes of forbidden scores of 0:
# three zeros still take $3 / (e^2 + e^1 + 3) = 0.23$ of the attention.
#
# </details>

# %%
to_five_keys = torch.tensor([2.0, 1.0, 3.0, 0.0, 1.0])
allowed = torch.tensor([True, True, False, False, False])
for forbidden in (-math.inf, 0.0):
    shares = to_five_keys.masked_fill(~allowed, forbidden).softmax(dim=-1)
    print(f"forbidden scores {forbidden:4}:", [f"{share:.2f}" for share in shares])

# %% [markdown]
# ## All of it as a function
#
# Here are all the parts, one after the other, for our three words and with a causal mask. (The last word, "man", sees
# everything, so its row is as before.)

# %% tags=["remove-input"]
draw("attention_steps")

# %% [markdown]
# In code: the last three of our four lines, with the mask after the first. (`transpose(-2, -1)` swaps the last two
# dimensions, so others may stand in front, such as the sentences of a batch.)


# %%
def attention(Q, K, V, mask=None):
    """softmax(Q Kᵀ / √d_k) V: (n, d_k), (n, d_k), (n, d_v) → (n, d_v)

    mask: (n, n), True where a query may attend to a key; None: everywhere
    """
    scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])  # (n, n)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)  # a forbidden key gets no share
    weights = scores.softmax(dim=-1)  # (n, n): every row sums to 1
    return weights @ V  # (n, d_v)


print(attention(Q, K, V, causal_mask(3)))

# %% [markdown]
# You should be able to write this function without looking.
#
# Below, "dog bites man" is yours to change, words and matrices: type in a box, or step by 0.1 with the arrow keys.
# Queries, keys and values follow; what you type into these stays until a word or their matrix changes. Four things to
# try.
#
# 1. What query must "dog" have to look at nothing but itself?
# 2. How large must the query of "bites" be until the weights look the same with and without the division by
#    $\sqrt{d_k}$?
# 3. With the future hidden: which word's output can you not change, whatever you do to the other two words?
# 4. Of the three matrices only one can make "bites" look more at "man" than at "dog". Which one, and where?
#
# <details><summary>Answers</summary>
#
# 1. There is none, as long as the future is not hidden. "dog" and "man" have the same key, (1, 0), and so the same
#    score from every query. You have to change a *key*; a query alone cannot tell apart what looks the same.
# 2. From about (6.6, 0) on. The nouns then lead by 6.6, or by 6.6 / √2 = 4.7 after the division. Either way the verb's
#    share is below 0.005, and the weights are shown as 0.50, 0.00, 0.50.
# 3. That of "dog", the first: it sees nothing but itself, and its output is its own value.
# 4. $W^K$. The two nouns differ in animal and human only, and these rows of $W^K$ are zero: hence the equal keys. A 1
#    from human to noun makes the key of "man" (2, 0). "bites" then gives it 0.77 and "dog" 0.19.
#
# </details>

# %% tags=["hide-input"]
AttentionLab.of_words(
    X,
    W_Q,
    W_K,
    W_V,
    words,
    features=["noun", "verb", "animal", "human"],
    asked=["noun", "verb"],
    told=["animal", "human", "action"],
    title="dog bites man, with your numbers",
)

# %% tags=["remove-cell"]
ours_in_the_page = AttentionLab.of_words(X, W_Q, W_K, W_V, words).weights()
torch.testing.assert_close(ours_in_the_page, weights.double(), rtol=0, atol=1e-6)

# %% [markdown]
# ## As a layer
#
# In a model the three matrices are learned. So they become three linear layers of a module, ready for a network:

# %% tags=["remove-cell"]
chance = torch.get_rng_state()


# %%
class SelfAttention(nn.Module):
    """One head. X (n, d_model) → (n, d_v)"""

    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_v, bias=False)

    def forward(self, X, mask=None):
        Q, K, V = self.W_Q(X), self.W_K(X), self.W_V(X)  # (n, d_k), (n, d_k), (n, d_v)
        return attention(Q, K, V, mask)  # (n, d_v)


layer = SelfAttention(d_model=4, d_k=2, d_v=3)
print("parameters:", [tuple(matrix.shape) for matrix in layer.parameters()])
with torch.no_grad():  # our matrices; nn.Linear keeps its matrix transposed
    for linear, matrix in zip(layer.children(), (W_Q, W_K, W_V), strict=True):
        linear.weight.copy_(matrix.T)
print("dog bites man, once more\n", layer(X).detach())

# %% tags=["remove-cell"]
torch.testing.assert_close(layer(X), Z)
# what is drawn below does not depend on the layer's first weights
torch.set_rng_state(chance)

# %% [markdown]
# ## What self-attention cannot see
#
# We shuffle five random words. How far does each word's new vector move, in the entry that moves most?

# %% [markdown]
# **Predict.** No mask, and word 3 now comes first, then 0, 4, 1 and 2. Which words get another new vector than before:
# none, word 3 only, or all?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: none -->
#
# None. "All" is tempting, for each has new neighbours. But a score compares two vectors, wherever they stand, and a sum
# does not depend on the order of its terms.
#
# </details>


# %%
five = torch.randn(5, 6)
random_layer = SelfAttention(d_model=6, d_k=4, d_v=3)


def change(order, mask=None):
    """How far each word's new vector moves if the words come in another order."""
    before = random_layer(five, mask)
    after = random_layer(five[order], mask)
    return (after - before[order]).abs().amax(dim=-1)


shuffled = torch.tensor([3, 0, 4, 1, 2])
for word, moved in zip(shuffled.tolist(), change(shuffled), strict=True):
    print(f"word {word}: changed by {moved:.2f}")

# %% [markdown]
# Self-attention is **permutation equivariant**: shuffle the words, and the results are shuffled in the same way. To a
# word, the others are a bag without order: "dog bites man" and "man bites dog" give "bites" the same vector. [Chapter
# 4](04_order.ipynb) adds positions.
#
# All this holds *without a causal mask*. With it, places matter: the later a word stands, the more words it sees.

# %% [markdown]
# **Predict.** With a causal mask, only the first two of the five words change places. Which new vectors change: those
# of the two, those of all five, or those of the last three?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: those of the two -->
#
# Those of the two that were exchanged: one of them now sees a word that it did not see before, the other has lost one.
# "All five" is tempting, for the last three look back at a past that has changed. But they see the same words as
# before, and in one layer cannot tell in which order those stand. (In a second layer they could: there they would see
# the two new vectors.)
#
# </details>

# %%
exchanged = torch.tensor([1, 0, 2, 3, 4])
for word, moved in zip(exchanged.tolist(), change(exchanged, causal), strict=True):
    print(f"word {word}: changed by {moved:.2f}")

# %% [markdown]
# ## Back to "it"
#
# The head at the start looked from "it" to "animal". Now we change the last word: the animal didn't cross the street
# because it was too *wide*.

# %% [markdown]
# **Predict.** With "tired", the head gives 0.68 to "animal" and 0.05 to "street". Where does most of the weight go
# with "wide": to "street", to "animal" as before, or somewhere else?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: somewhere else -->
#
# Most of it goes somewhere else. "Animal" falls to 0.28, but "street" only rises to 0.12; the largest share, 0.33, is
# that of `[CLS]`, MiniLM's mark in front of the sentence. A textbook would let it move to "street".
#
# </details>

# %% tags=["hide-input", "nbval-ignore-output"]
wide = minilm.read("The animal didn't cross the street because it was too wide.")
AttentionViewer(
    wide.tokens,
    wide.weights[3, 1],
    title="MiniLM, layer 3, head 1",
    token=wide.tokens.index("it"),
)

# %% tags=["hide-input", "atol=0.02"]
for ending, read in {"tired": tired, "wide": wide}.items():
    row = read.weights[3, 1, read.tokens.index("it")]
    print(f"... because it was too {ending}:")
    for word in ("animal", "street", "[CLS]"):
        print(f"    {word:6} {row[read.tokens.index(word)]:.2f}")

# %% tags=["remove-cell"]
row = wide.weights[3, 1, wide.tokens.index("it")]
assert row[wide.tokens.index("animal")] < 0.35
assert row[wide.tokens.index("street")] < row[wide.tokens.index("animal")]
assert row.argmax() == wide.tokens.index("[CLS]")

# %% [markdown]
# So the weights respond to a word that comes later, but they do not point neatly at the right noun. And we chose this
# head because it showed something. Whether weights *explain* what a model does is disputed (Jain and Wallace, 2019, say
# no; Wiegreffe and Pinter, 2019, answer them); chapter 16 comes back to it.
#
# **Your own sentence**, read by all 72 heads in your browser: [Type your own](../book/your_own/inside.md#where-a-bert-looks). It
# begins with layer 3, head 1, the head above. Press a token it looks at, and the share is computed before your eyes.
#
# ## What goes wrong
#
# ### Softmax over the wrong axis
#
# `F.softmax(scores)` without `dim` still runs in PyTorch, with a warning. Which axis does it take? Here are two
# sentences of five words. The shares should sum to 1 over the five keys of a query, and not over the two sentences.

# %%
import warnings

of_a_batch = torch.randn(2, 5, 5)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    careless = F.softmax(of_a_batch)

sums = {"keys": careless.sum(dim=-1)[0], "sentences": careless.sum(dim=0)[0]}
for name, totals in sums.items():
    print(f"sums over the {name:10}", [f"{total:.2f}" for total in totals])

# %% [markdown]
# With three dimensions `F.softmax` takes the first: the *sentences of a batch* compete for attention, and training runs
# without an error. So write `dim=-1`: it stays right when a dimension is added in front.
#
# ### The mask after the softmax
#
# One could also set the forbidden weights to zero after the softmax.

# %%
of_one = of_a_batch[0]
too_late = of_one.softmax(dim=-1) * causal
in_time = of_one.masked_fill(~causal, -math.inf).softmax(dim=-1)
for name, rows in {"after": too_late, "before": in_time}.items():
    print(f"masked {name:6} rows sum to", [f"{row.sum():.2f}" for row in rows])

# %% [markdown]
# All rows but the last no longer sum to 1: the first word, which may see only itself, gets a fraction of its own
# value. Worse, the forbidden scores still stand in the denominator, so the first word's output depends on words that
# it must not see. The future leaks in after all.
#
# ### A query that may look at nothing
#
# In a sentence of nothing but padding, a query has *no* allowed key. Every score is then $-\infty$, softmax divides 0
# by 0, and PyTorch calls the result `nan`, not a number. Whatever it is added to becomes `nan`, too: in the end, the
# loss of the whole batch. The rule of this book: **a query that may look at nothing receives zeros.** Our `attention`
# breaks it; the library's forms, which later chapters import, keep it.
#
# **For those who write libraries.** How far the future leaks through a late mask, and what the library's forms do beyond yours.
#
# Here are the derivatives of the first word's weight on itself with respect to its five scores. It sees nothing else,
# so all should be 0.

# %%
s = of_one.clone().requires_grad_()
late = (s.softmax(dim=-1) * causal)[0, 0]
early = s.masked_fill(~causal, -math.inf).softmax(dim=-1)[0, 0]
for name, weight in {"after": late, "before": early}.items():
    (slope,) = torch.autograd.grad(weight, s)
    print(f"masked {name:6}", [f"{x:.3f}" for x in slope[0]])

# %% [markdown]
# The library's forms keep the rule about zeros by two lines; otherwise they compute what yours computes, as the
# differences below say.
#
# `attention_weights` gives the weights alone. In place of $-\infty$ it writes the lowest number of the scores' type;
# beside an ordinary score, such a low one still gets a share of 0. If *all* scores are that low, every key gets the
# same share, and the second mask sets these shares to zero. `scaled_dot_product_attention` mixes the values with them.
#
# `fused_attention` calls PyTorch's own function and adds the rule about zeros. **Fused** means: one program goes from
# Q, K and V to the output, block by block, and never stores the $n \times n$ table, where PyTorch has such a program.
# (On a CPU it has none with dropout, or if $d_v \ne d_k$, as in our example; then the table is stored after all.) At
# 1,024 words it was 3.5<!-- attention_speed: explicit_over_fused/1024/median .1f --> times as fast as the steps one by
# one, on two CPU cores ([results](../book/results/attention.md#attention-speed)). `DotProductAttention` makes a module
# of it. It uses dropout only while the model is being trained ([chapter 5](05_encoder.ipynb)).


# %% tags=["atol=1e-6"]
def attention_weights(Q, K, mask=None):
    """softmax(Q Kᵀ / √d_k): (n_query, d_k) and (n_key, d_k) → (n_query, n_key)

    mask: (n_query, n_key), True where a query may attend to a key; None: everywhere
    """
    scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])
    if mask is not None:  # before softmax: the allowed keys share all of the weight
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = scores.softmax(dim=-1)
    if mask is not None:  # and after it: a query with no allowed key gets zeros
        weights = weights.masked_fill(~mask, 0.0)
    return weights


def scaled_dot_product_attention(Q, K, V, mask=None, dropout=0.0):
    """Each query's average of the values, (n_key, d_v) → (n_query, d_v)"""
    weights = attention_weights(Q, K, mask)
    return F.dropout(weights, dropout) @ V


class DotProductAttention(nn.Module):
    """`fused_attention`, with dropout while training; no parameters."""

    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = dropout

    def forward(self, Q, K, V, mask=None):
        return fused_attention(Q, K, V, mask, self.dropout if self.training else 0.0)


forms = {
    "scaled_dot_product_attention": scaled_dot_product_attention(
        Q, K, V, causal_mask(3)
    ),
    "DotProductAttention": DotProductAttention()(Q, K, V, causal_mask(3)),
}
for name, form in forms.items():
    difference = (form - attention(Q, K, V, causal_mask(3))).abs().max()
    print(f"{name:28} differs from yours by at most {difference:.1e}")

# %% tags=["remove-cell"]
nothing = torch.zeros(3, 3, dtype=torch.bool)
assert attention(Q, K, V, nothing).isnan().all()
for allowed in (None, nothing, causal_mask(3)):
    form = scaled_dot_product_attention(Q, K, V, allowed)
    torch.testing.assert_close(form, fused_attention(Q, K, V, allowed))
    if allowed is not nothing:
        torch.testing.assert_close(form, attention(Q, K, V, allowed))
assert (scaled_dot_product_attention(Q, K, V, nothing) == 0).all()

# %% [markdown]
# ## Other ways to score
#
# Other scores are possible; softmax and average stay. In translation, additive attention came first ([chapter
# 1](01_bottleneck.ipynb#looking-back-by-hand)); it computes a hidden vector for every *pair* of query and key. Dot
# products won on cost: all of them together are one matrix product, the operation that processors are tuned for most.
#
# <details><summary>Four scores, and which of them translates better</summary>
#
# | score | formula | learned | paper |
# |---|---|---|---|
# | additive | $v^\top \tanh(W_q\, q + W_k\, k)$ | $W_q$, $W_k$, $v$ | Bahdanau, Cho and Bengio (2015) |
# | general | $q^\top W k$ | $W$ | Luong, Pham and Manning (2015) |
# | dot | $q \cdot k$ | nothing | Luong, Pham and Manning (2015) |
# | scaled dot | $q \cdot k / \sqrt{d_k}$ | nothing | Vaswani et al. (2017) |
#
# In a large comparison of translators (Britz et al., 2017) additive scores came out slightly ahead of dot products (of
# learned projections, not divided by a root).
#
# In a Transformer the comparison is learned, too. With $q$ and $k$ made by $W^Q$ and $W^K$, the dot product is $x_i W^Q
# (W^K)^\top x_j^\top$: the "general" score of the table, between the words themselves. (There vectors are columns, as in the two older papers; $x_i$ is a row.)
#
# </details>

# %% [markdown]
# ## Exercises
#
# Ungraded; a solution is folded below each.
#
# **Exercise 1.** Ben's scores are 1, 0, 2 and 2. Add 10 to each of them and compute his shares; then multiply each of
# them by 10 instead. Which of the two changes anything, and why?

# %% tags=["hide-cell"]
# Solution 1
ben = torch.tensor([1.0, 0.0, 2.0, 2.0])
for name, changed in {
    "as they are": ben,
    "plus 10": ben + 10,
    "times 10": ben * 10,
}.items():
    print(f"{name:11}", changed.softmax(dim=-1))
# A number added to every score is a factor in numerator and denominator, and cancels.
# A factor stretches the differences: what was torn between two stays so, the rest is
# gone.

# %% [markdown]
# **Exercise 2.** Two keys, two scores. How far apart must they be for the first key to get 0.99 of the attention? Find
# the number with a pencil, then check it.

# %% tags=["hide-cell"]
# Solution 2
# 1 / (1 + e^-x) = 0.99 means e^-x = 0.01 / 0.99 = 1 / 99, so x is the logarithm of 99.
apart = math.log(99)
print(f"{apart:.2f} apart:", torch.tensor([apart, 0.0]).softmax(dim=-1))

# %% [markdown]
# **Exercise 3.** Suppose a model used the same matrix for queries and keys, $W^K = W^Q$. Then "dog" would score "man"
# as "man" scores "dog". Are the *weights* symmetric too? Measure both, for the random words in `five`.

# %% tags=["hide-cell"]
# Solution 3
same = five @ torch.randn(6, 4, generator=torch.Generator().manual_seed(1))
fits = same @ same.T / math.sqrt(4)
shares = fits.softmax(dim=-1)
print(f"scores:  largest asymmetry {(fits - fits.T).abs().max():.2f}")
print(f"weights: largest asymmetry {(shares - shares.T).abs().max():.2f}")
# The scores are symmetric, the weights are not: each row is divided by a sum of its
# own.

# %% [markdown]
# **Exercise 4.** Build the mask of a model in which every position may attend to itself and to the two positions before
# it, for $n = 8$. How many entries are `True`? Check with `attention` that the last output does not feel a change of
# word 4.

# %% tags=["hide-cell"]
# Solution 4
place = torch.arange(8)
behind = place[:, None] - place  # how far key j stands behind query i
window = (behind >= 0) & (behind <= 2)
print(window.int())
print("True:", window.sum().item())

inputs = torch.randn(8, 4)
changed = inputs.clone()
changed[4] += 1.0
outputs, others = (attention(x, x, x, window) for x in (inputs, changed))
moved = (outputs - others).abs().amax(dim=-1)
print("outputs that move:", moved.nonzero().flatten().tolist())  # 4, 5 and 6

# %% [markdown]
# **Exercise 5.** Build it: attention that never stores a whole row of weights. Go through the keys one at a time, and
# keep three things for a query: the largest score so far, the sum of $e^{s_j - \text{largest}}$ so far, and the sum of
# the values, each times its $e^{s_j - \text{largest}}$. When a larger score turns up, both sums must be made smaller.
# (PyTorch's fused form is built on this idea.)


# %% tags=["hide-cell", "atol=1e-5"]
# Solution 5
def attend_in_passing(q, K, V):
    """The new vector of one query (d_k,), without a list of weights."""
    largest, total, mixture = torch.tensor(-math.inf), 0.0, torch.zeros(V.shape[1])
    for k, v in zip(K, V, strict=True):
        s = q @ k / math.sqrt(len(q))
        new = torch.maximum(largest, s)
        shrink = (largest - new).exp()  # 1 while the largest stays the largest
        share = (s - new).exp()
        total = total * shrink + share
        mixture = mixture * shrink + share * v
        largest = new
    return mixture / total


passing = torch.stack([attend_in_passing(q, K, V) for q in Q])
unmasked = attention(Q, K, V)
torch.testing.assert_close(passing, unmasked)
print(f"largest difference: {(passing - unmasked).abs().max():.1e}")

# %% [markdown]
# ## Summary
#
# 1. Each word asks (query), offers (key) and tells (value); all three are learned linear maps of its vector.
# 2. A query's dot products with all keys, divided by $\sqrt{d_k}$ and put through a softmax, say how to average the
#    values.
# 3. Without the division, scores grow with $\sqrt{d_k}$, and more and more queries give nearly everything to one key.
#    Then next to no gradient reaches the query (at $d_k = 1{,}024$, for two random queries in three).
# 4. A mask takes the forbidden keys out before the softmax; a query that may look at nothing receives zeros.
# 5. No loop over positions, so everything runs in parallel. But without a causal mask no word knows its place: order
#    must be added.
#
# **Homework 1**, questions 1 to 4, is about this chapter: [exercises](../exercises/hw1_attention.ipynb).
#
# **Next:** one head can look for one thing at a time. [Chapter 3](03_multi_head_attention.ipynb) gives the model
# several.
#
# ## References
#
# - Ashish Vaswani et al. (2017). *Attention is all you need.* NeurIPS. Section 3.2.1 and footnote 4 on the variance of
#   dot products.
# - Dzmitry Bahdanau, Kyunghyun Cho and Yoshua Bengio (2015). *Neural machine translation by jointly learning to align
#   and translate.* ICLR.
# - Minh-Thang Luong, Hieu Pham and Christopher D. Manning (2015). *Effective approaches to attention-based neural
#   machine translation.* EMNLP.
# - Denny Britz, Anna Goldie, Minh-Thang Luong and Quoc Le (2017). *Massive exploration of neural machine translation
#   architectures.* EMNLP.
# - Sarthak Jain and Byron C. Wallace (2019). *Attention is not explanation.* NAACL.
# - Sarah Wiegreffe and Yuval Pinter (2019). *Attention is not not explanation.* EMNLP.
# - Wenhui Wang et al. (2020). *MiniLM: deep self-attention distillation for task-agnostic compression of pre-trained
#   Transformers.* NeurIPS.
# - Jay Alammar (2018). *The illustrated Transformer.* The "Thinking Machines" example.
