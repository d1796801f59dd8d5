# %% [markdown]
# # Self-attention
#
# > *The animal didn't cross the street because it was too tired.*
#
# What does "it" stand for? You knew before you reached the full stop: the animal. A program that reads one word after
# the other must somehow carry "animal" along until "it" arrives, six words later. **Self-attention** takes another way:
# when it works on "it", it looks at every word of the sentence at once and decides how much of each to take in.
#
# The picture below is not an illustration but a measurement. It shows one of the 72 attention heads of MiniLM, a small
# published BERT, fine-tuned to compare sentences, run through the very function you will write in this chapter. Point
# at "it", or tap it, or move there with the arrow keys.

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

# %% tags=["nbval-ignore-output"]
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
# Two thirds of that head's attention at "it" go to "animal". How does a model come to such numbers, and what does it do
# with them?
#
# **After this chapter you can**
#
# - compute attention for a two-word sentence by hand, and for any sentence in four lines of code;
# - say what queries, keys and values are for, and why rows of weights sum to 1 while columns do not;
# - explain what goes wrong without the division by √d_k, in the output and in the gradient;
# - hide the future or the padding with a mask, and say why it must act before the softmax;
# - name the thing that self-attention cannot see at all.
#
# **Time** about 60 minutes. **You need** matrix products, softmax and a first acquaintance with PyTorch tensors (see
# the [primer](../book/primer.md)); where attention came from, [chapter 1](01_bottleneck.ipynb) tells, but nothing here
# depends on it.

# %%
import math

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch.testing import assert_close

from lectures_lib.blocks import scoring
from lectures_lib.blocks.attention import (
    causal_mask,
    fused_attention,
    padding_mask,
)
from lectures_lib.show import plots
from lectures_lib.show.frames import Frames

# %% [markdown]
# ## Four people and an hour
#
# Four friends meet for an hour to learn from each other. Each of them can say three things:
#
# - what they would like to learn: their **query**;
# - what they are able to teach: their **key**;
# - what they actually tell those who listen: their **value**.
#
# A pair (listener, teacher) gets a **score**: how well does the teacher's key fit the listener's query? Suppose these
# are the scores, one row for each listener.

# %%
people = ["Ada", "Ben", "Chloe", "Dev"]
scores = torch.tensor(
    [
        [0.0, 1.0, 0.0, 3.0],  # Ada wants what Dev teaches
        [1.0, 0.0, 2.0, 2.0],  # Ben is torn between Chloe and Dev
        [0.0, 0.0, 0.0, 4.0],  # Chloe wants nothing but Dev's subject
        [2.0, 2.0, 2.0, 2.0],  # Dev would listen to anybody
    ]
)

# %% [markdown]
# An hour is an hour: everyone has the same amount of attention to give away. **Softmax** turns each row of scores into
# shares of it,
#
# $$\operatorname{softmax}(s)_j = \frac{e^{s_j}}{\sum_{j'} e^{s_{j'}}},$$
#
# positive numbers that sum to 1, larger where the score is larger.

# %% mystnb={"image": {"alt": "Heat map of a 4 by 4 matrix of attention weights. Rows are listeners, columns teachers. The column of Dev is the darkest: 0.81, 0.40, 0.95 and 0.25."}, "figure": {"caption": "Who spends how much of the hour with whom. Each row sums to 1."}}
hours = scores.softmax(dim=-1)
ax = plots.heatmap(hours, rows=people, columns=people, numbers=".2f")
ax.set(xlabel="teacher (key)", ylabel="listener (query)")
plt.show()

# %%
print("each row sums to   ", [f"{total:.2f}" for total in hours.sum(dim=1)])
print("each column sums to", [f"{total:.2f}" for total in hours.sum(dim=0)])

# %% [markdown]
# Nobody can listen for more than an hour, but Dev is heard for 2.41 hours in total: he talks to several people at once.
# That is the whole asymmetry of attention. *Giving* attention is limited, so **rows sum to 1**; *receiving* it is not,
# so columns sum to whatever comes out.
#
# What each listener takes home is a mixture of what the teachers said, in the proportions of their row: mostly Dev's
# value and a little of Ben's, in Ada's case. And now replace people by words. In *self*-attention every word plays both
# parts, it listens and it teaches, and it is free to listen to itself.
#
# ## Two words by hand
#
# Our sentence has two words: "Thinking Machines". We want the new vector of "Thinking". Its query $q_1$ and the keys
# $k_1, k_2$ have $d_k = 64$ numbers each; to be able to follow without a calculator, let them be as dull as possible.

# %%
q1 = torch.ones(64)
k1 = torch.full((64,), 1.75)
k2 = torch.full((64,), 1.5)
v1, v2 = torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])

print("q1 · k1 =", (q1 @ k1).item(), "  (64 times 1.75)")
print("q1 · k2 =", (q1 @ k2).item(), "   (64 times 1.5)")

# %% [markdown]
# The score of two vectors is their dot product: 112 and 96. The paper divides it by $\sqrt{d_k} = 8$ (we shall soon see
# why), which leaves 14 and 12. For the softmax only the difference counts, because a factor $e^{12}$ cancels:
#
# $$\frac{e^{14}}{e^{14} + e^{12}} = \frac{1}{1 + e^{-2}} \approx 0.88, \qquad \frac{e^{12}}{e^{14} + e^{12}} \approx 0.12.$$

# %%
s = torch.stack([q1 @ k1, q1 @ k2]) / math.sqrt(64)
w = s.softmax(dim=-1)
z1 = w[0] * v1 + w[1] * v2

print("scores ", s.tolist())
print("weights", [f"{x:.2f}" for x in w])
print("z1     ", [f"{x:.2f}" for x in z1])

# %% [markdown]
# The new vector $z_1$ is 88 % the value of "Thinking" and 12 % that of "Machines". These are the numbers of a
# well-known illustration of the Transformer (Alammar, 2018), and now you have computed them yourself.
#
# ## Where queries, keys and values come from
#
# A word arrives as one vector $x$ of $d_{model}$ numbers. It needs three different ones, and the model is to *learn*
# which: so there are three matrices of parameters, and each word is multiplied by all three,
#
# $$q_i = x_i W^Q, \qquad k_j = x_j W^K, \qquad v_j = x_j W^V.$$
#
# Vectors are rows here, as in the paper. Let us take five words of width 6 and go through it slowly, one query at a
# time.

# %%
n, d_model, d_k, d_v = 5, 6, 4, 3
X = torch.randn(n, d_model)  # five words, one row each
W_Q = torch.randn(d_model, d_k)
W_K = torch.randn(d_model, d_k)
W_V = torch.randn(d_model, d_v)


def attend_one(i):
    """The new vector of word i."""
    q = X[i] @ W_Q  # (d_k,)
    s = torch.stack([q @ (X[j] @ W_K) for j in range(n)]) / math.sqrt(
        d_k
    )  # one score for each word
    w = s.softmax(dim=-1)
    return sum(w[j] * (X[j] @ W_V) for j in range(n))  # (d_v,)


Z_slow = torch.stack([attend_one(i) for i in range(n)])
Z_slow.shape

# %% [markdown]
# Twenty-five dot products in a Python loop. But a table of all dot products between the rows of one matrix and the rows
# of another has a name: it is the matrix product $Q K^\top$. And "for each row, the average of the values with these
# weights" is a matrix product too. So the two loops disappear, and what remains is the formula of the paper:
#
# $$\operatorname{Attention}(Q, K, V) = \operatorname{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V$$

# %%
Q, K, V = X @ W_Q, X @ W_K, X @ W_V  # (n, d_k), (n, d_k), (n, d_v)
scores = Q @ K.T / math.sqrt(d_k)  # (n, n): row i holds the scores of query i
weights = scores.softmax(dim=-1)  # (n, n): every row sums to 1
Z = weights @ V  # (n, d_v)

assert_close(Z, Z_slow)

# %% [markdown]
# Four lines, no loop over words, and no word waits for another. This is what lets a GPU train Transformers so fast: a
# recurrent network needs five steps, one after the other, for five words; here everything happens at once. The price is
# in the shape of `scores`: $n \times n$ numbers, so twice as long a text has four times as many.
#
# ## Why divide by √d_k?
#
# A dot product is a sum of $d_k$ products. If the entries of $q$ and $k$ are independent with mean 0 and variance 1,
# each product has mean 0 and variance 1 as well, and the variances add up: the sum has variance $d_k$ and standard
# deviation $\sqrt{d_k}$. Wide vectors give large scores for no other reason than being wide. A thousand draws confirm
# it.

# %%
for d_k in (4, 64, 1024):
    q, k = torch.randn(1000, d_k), torch.randn(1000, d_k)
    dots = (q * k).sum(dim=-1)
    print(
        f"d_k = {d_k:4}: standard deviation {dots.std():5.1f}, divided by √d_k {(dots / math.sqrt(d_k)).std():.1f}"
    )

# %% [markdown]
# So what? Softmax is sensitive to scale. Multiply all scores by a number and watch what happens to the shares of eight
# keys: near 0 everybody gets the same, and the larger the factor, the more the largest score takes all.

# %% tags=["nbval-ignore-output"]
eight = torch.randn(8).sort(descending=True).values


def draw_shares(ax, factor):
    """Bars: how eight keys share the attention when their scores are multiplied by a factor."""
    ax.bar(range(1, 9), (factor * eight).softmax(dim=-1), color=plots.BLUE)
    ax.set(
        ylim=(0, 1),
        xlabel="key, the best-fitting first",
        ylabel="share of the attention",
    )


sharpness = Frames(
    draw_shares,
    values=[0, 1, 4, 8, 16],
    title="scores multiplied by",
    alt="Bars of eight attention weights. With factor 0 all are equal, with 16 the first takes everything.",
    start=1,
)
sharpness

# %% [markdown]
# (In a running notebook, `sharpness.live()` lets the kernel draw it.) Without the division, $d_k = 64$ amounts to a
# factor of 8.
#
# A sharp softmax would be no harm in itself; perhaps the head *should* look at one word only. The harm is that it
# often passes next to nothing back to learn from. The derivative of softmax is
#
# $$\frac{\partial w_i}{\partial s_j} = w_i\,(\delta_{ij} - w_j),$$
#
# and if one weight is nearly 1 and all the others nearly 0, every one of these products is nearly 0. In our example
# with two words it is $w_1 w_2$: with 14 and 12 that is 0.88 · 0.12 ≈ 0.1. And with 112 and 96?

# %%
for pair in ([14.0, 12.0], [112.0, 96.0]):
    s = torch.tensor(pair, dtype=torch.float64, requires_grad=True)
    w = s.softmax(dim=-1)
    (gradient,) = torch.autograd.grad(w[0], s)
    print(f"scores {pair}: weight {w[0]:.7f}, its derivative {gradient[0]:.1e}")

# %% [markdown]
# A million times smaller. With scores like these the softmax passes almost nothing back. How often does that happen?
# What reaches the query is $\partial w / \partial q$: these derivatives times the keys, divided by $\sqrt{d_k}$ if the
# scores were. (On average it does not shrink without the division: queries whose best keys are nearly level get all
# the more.) Here is the share of queries that get less than 0.01, for eight keys and random vectors of growing width.


# %% mystnb={"image": {"alt": "Two lines over d_k from 1 to 1024, a logarithmic axis. With the division by the root of d_k the share of queries that get next to nothing stays at zero; without it, it rises from zero at 4 to about 0.2 at 64 and about two thirds at 1024."}, "figure": {"caption": "Share of queries with a derivative \u2202w/\u2202q smaller than 0.01 (Frobenius norm; with the division it is about 0.36 on average, for wide vectors). 8 keys, 2,000 draws for each width."}}
def next_to_nothing(q, K, factor):
    """Share of queries (batch, 1, d_k) with ∂w/∂q below 0.01; scores are factor · q·k."""
    w = (factor * (q * K).sum(dim=-1)).softmax(dim=-1)
    jacobian = torch.diag_embed(w) - w[:, :, None] * w[:, None, :]  # ∂w/∂s
    to_query = factor * jacobian @ K  # ∂w/∂q, (batch, n, d_k)
    sizes = to_query.flatten(start_dim=1).norm(dim=-1)
    return (sizes < 0.01).float().mean().item()


widths = [4**power for power in range(6)]
with_division, without = [], []
for d_k in widths:
    q, K = torch.randn(2000, 1, d_k), torch.randn(2000, 8, d_k)
    without.append(next_to_nothing(q, K, factor=1.0))
    with_division.append(next_to_nothing(q, K, factor=1 / math.sqrt(d_k)))

ax = plots.curves(
    widths,
    {"divided by √d_k": with_division, "not divided": without},
    xlabel="d_k",
    ylabel="share of queries",
)
ax.set(xscale="log", ylim=(-0.05, 1))
plt.show()

# %% tags=["remove-cell"]
assert max(with_division) < 0.05
assert 0.5 < without[-1] < 0.8 and 0.1 < without[3] < 0.3

# %% [markdown]
# ## Other ways to score
#
# The dot product was not the first choice. When attention came into translation, in 2014 and 2015, a small network
# compared query and key; other scores followed within a year. They differ in what can be learned and in what it costs.
#
# | score | formula | parameters | paper |
# |---|---|---|---|
# | additive | $v^\top \tanh(W_q\, q + W_k\, k)$ | $W_q$, $W_k$, $v$ | Bahdanau, Cho and Bengio (2015) |
# | general | $q^\top W k$ | $W$ | Luong, Pham and Manning (2015) |
# | dot | $q \cdot k$ | none | Luong, Pham and Manning (2015) |
# | scaled dot | $q \cdot k / \sqrt{d_k}$ | none | Vaswani et al. (2017) |
#
# All four map queries and keys to a table of scores, and everything after that (softmax, average of the values) is the
# same.

# %% mystnb={"image": {"alt": "Four heat maps of attention weights side by side, for the same five queries and keys: additive is the palest, dot the most extreme, scaled dot in between."}, "figure": {"caption": "The same five queries and five keys (d_k = 16), four untrained scores, after the softmax. The plain dot product is already making some hard choices."}}
d_k = 16
Q, K = torch.randn(5, d_k), torch.randn(5, d_k)
scorers = {
    "additive": scoring.AdditiveScore(d_k, d_k, d_hidden=d_k),
    "general": scoring.GeneralScore(d_k, d_k),
    "dot": scoring.dot_score,
    "scaled dot": scoring.scaled_dot_score,
}

figure, axes = plots.small_multiples(4, columns=4)
for ax, (name, score) in zip(axes, scorers.items(), strict=True):
    plots.heatmap(score(Q, K).softmax(dim=-1), ax=ax, title=name, limit=1.0)
plt.show()

# %%
for name, score in scorers.items():
    count = (
        sum(p.numel() for p in score.parameters())
        if isinstance(score, torch.nn.Module)
        else 0
    )
    print(f"{name:10} {count:4} parameters")

# %% [markdown]
# Nothing here says that dot products give better translations. In a large comparison (Britz et al., 2017) additive
# scores came out slightly ahead of dot products of projected vectors, not divided by anything; the authors of the
# Transformer suspected the growing variance behind it, and mended that with the division. Dot products won on cost.
# The additive score computes a hidden vector for every *pair*, which for 1,000 queries, 1,000 keys and a hidden width
# of 64 means 64 million numbers kept in memory; a dot product needs one matrix product, the operation that every
# processor has been built for. And parameters are not lost: $W^Q$ and $W^K$ already learn how to compare, as the
# general score's $W$ does ($q \cdot k = x_i W^Q (W^K)^\top x_j^\top$, a general score between the words themselves).
#
# ## Masks: what must not be seen
#
# Sometimes a query must not look at some of the keys.
#
# - **The future.** A model that learns to predict the next word may not see it. Position $i$ may attend to positions $0
#   \dots i$ only: a *causal mask*.
# - **Padding.** Sentences of different lengths travel in one rectangular batch; the short ones are filled up with
#   padding that carries no meaning.
#
# In this book a mask is a table of booleans, and `True` always means *may attend*.

# %% mystnb={"image": {"alt": "Two 5 by 5 masks. The causal mask is filled on and below the diagonal. The padding mask is filled in its first three columns."}, "figure": {"caption": "Dark: may attend. Left: five positions of a left-to-right model. Right: a sentence of three words in a batch of width five."}}
causal = causal_mask(5)
padding = padding_mask(
    torch.tensor([3]), n=5
)  # (batch, 1, 1, n): the same keys for every head and every query

figure, axes = plots.small_multiples(2, columns=2, size=(2.4, 2.6))
plots.heatmap(causal.float(), ax=axes[0], title="causal", limit=1.4).set(
    xlabel="key", ylabel="query"
)
plots.heatmap(
    padding[0, 0].expand(5, 5).float(), ax=axes[1], title="padding", limit=1.4
).set(xlabel="key")
plt.show()

# %% [markdown]
# How does one forbid? Not with a score of 0: zero is a perfectly good score, and $e^0 = 1$ is a considerable share. The
# score that leads to no share at all is minus infinity, since $e^{-\infty} = 0$. It goes in *before* the softmax, so
# that the keys that are left share the whole hour among themselves.

# %%
scores = torch.tensor([[2.0, 1.0, 3.0, 0.0, 1.0]])
allowed = torch.tensor([[True, True, False, False, False]])
shares = scores.masked_fill(~allowed, -math.inf).softmax(dim=-1)
print([f"{share:.2f}" for share in shares[0]])

# %% [markdown]
# One case is left: a query with no allowed key, a fully padded sentence, say. Softmax over nothing is 0/0, and PyTorch
# answers `nan`. One layer later it has reached every word of that sentence, masked or not, for 0 · `nan` is `nan`; in
# the loss it reaches the whole batch. This book's rule, kept in one single place, is: **who may look at
# nothing receives zeros.**

# %%
nothing = torch.zeros(1, 5, dtype=torch.bool)
print(
    "softmax alone:",
    scores.masked_fill(~nothing, -math.inf).softmax(dim=-1)[0].tolist(),
)
print(
    "the library:  ",
    fused_attention(torch.randn(1, 4), torch.randn(5, 4), torch.randn(5, 3), nothing)[
        0
    ].tolist(),
)

# %% [markdown]
# ## All of it as two functions
#
# Here is the whole of attention; the library's module `lectures_lib/blocks/attention.py` holds the same text. The weights are the second and the third of our four lines, with the mask between them and the rule for
# empty rows: the scores of forbidden keys become the lowest number there is, and what a row with no allowed key shares
# out among them is taken back.


# %%
def attention_weights(Q, K, mask=None):
    """softmax(Q Kᵀ / √d_k): (n_query, d_k) and (n_key, d_k) → (n_query, n_key)"""
    scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])
    if mask is None:
        return scores.softmax(dim=-1)
    weights = scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(dim=-1)
    return weights.masked_fill(~mask, 0.0)


def scaled_dot_product_attention(Q, K, V, mask=None, dropout=0.0):
    """Each query's average of the values, weighted by how well its key fits."""
    weights = attention_weights(Q, K, mask)
    return F.dropout(weights, dropout) @ V


# %% [markdown]
# (Dropout is off unless asked for; [chapter 5](05_encoder.ipynb) says what it is.) PyTorch has the same function with a
# *fused* kernel for most shapes: the same output, without ever storing the $n \times n$ table. The models of this book
# call that one, by the name `fused_attention`. Are all of them equal to what we built?

# %%
Q, K, V = X @ W_Q, X @ W_K, X @ W_V
ours = scaled_dot_product_attention(Q, K, V)
fused = fused_attention(Q, K, V)
torchs = F.scaled_dot_product_attention(Q, K, V)

for name, other in {"four lines": Z, "fused": fused, "torch": torchs}.items():
    difference = (ours - other).abs().max().item()
    assert difference < 1e-6
    print(f"two functions and {name}: largest difference < 1e-6")

# %% [markdown]
# What the table costs: on the machine where this book was last measured (two CPU cores), the explicit computation took
# 1.1<!-- attention_speed: explicit_over_fused/128/median .1f --> times as long as the fused one at 128 tokens, and
# 3.5<!-- attention_speed: explicit_over_fused/1024/median .1f --> times at 1,024 ([results](../book/results.md)).
#
# ## What self-attention cannot see
#
# Shuffle the words of the sentence. Which new vector does each word get?

# %%
order = torch.tensor([3, 0, 4, 1, 2])
Z_shuffled = scaled_dot_product_attention(Q[order], K[order], V[order])
assert_close(Z_shuffled, Z[order])

# %% [markdown]
# Exactly the one it had before; the rows have merely changed places. Self-attention is **permutation equivariant**: it
# sees a bag of words. "Dog bites man" and "man bites dog" give "dog" the same vector. It is tempting to think that the
# order is kept because the words stand in a list; but nothing in the formula reads their place in that list. Positions
# must be added, and [chapter 4](04_order.ipynb) does it.
#
# All this holds *without a causal mask*. The mask does know places: who stands further back sees more.

# %%
straight = scaled_dot_product_attention(Q, K, V, causal)
shuffled = scaled_dot_product_attention(Q[order], K[order], V[order], causal)
print("the same, with a causal mask:", torch.allclose(shuffled, straight[order]))

# %% [markdown]
# ## Back to "it"
#
# What happens if the street, not the animal, is the reason?

# %% tags=["nbval-ignore-output"]
wide = minilm.read("The animal didn't cross the street because it was too wide.")
AttentionViewer(
    wide.tokens,
    wide.weights[3, 1],
    title="MiniLM, layer 3, head 1",
    token=wide.tokens.index("it"),
)

# %% tags=["nbval-ignore-output"]
for ending, read in {"tired": tired, "wide": wide}.items():
    row = read.weights[3, 1, read.tokens.index("it")]
    shown = {
        word: row[read.tokens.index(word)].item()
        for word in ("animal", "street", "[CLS]")
    }
    print(
        f"... because it was too {ending:5}: ",
        ",  ".join(f"{word} {share:.2f}" for word, share in shown.items()),
    )

# %% tags=["remove-cell"]
row = wide.weights[3, 1, wide.tokens.index("it")]
assert row[wide.tokens.index("animal")] < 0.35
assert row[wide.tokens.index("street")] < row[wide.tokens.index("animal")]
assert row.argmax() == wide.tokens.index("[CLS]")

# %% [markdown]
# One word was changed, behind "it", and the share of "animal" falls by more than half. So the weights do respond to a
# word that comes later. But they do not flip to "street": most of what "animal" loses goes to `[CLS]`, a token without
# meaning of its own that stands before every sentence. The textbook picture, in which attention neatly points at the
# right noun, is a happy case. This head is one of 72, we chose it because it showed something, and the model uses all
# of them together. Whether weights *explain* what a model does is disputed (Jain and Wallace, 2019); chapter 16 comes
# back to it.
#
# ## What goes wrong
#
# ### Softmax over the wrong axis
#
# `F.softmax(scores)` without `dim` still runs in PyTorch, with a warning that is easily lost in a log. Which axis does
# it take?

# %%
import warnings

scores = torch.randn(2, 5, 5)  # two sentences
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    careless = F.softmax(scores)

print("rows sum to 1:     ", torch.allclose(careless.sum(dim=-1), torch.ones(2, 5)))
print("sentences sum to 1:", torch.allclose(careless.sum(dim=0), torch.ones(5, 5)))

# %% [markdown]
# For a tensor with three dimensions it takes the first: the *sentences of a batch* compete for attention. Shapes are
# right, no error is raised, training runs. The check that finds it costs one line:
# `assert_close(weights.sum(dim=-1), torch.ones(...))`. For the same reason `dim=-1` is better style than `dim=1`: it
# stays right when a batch or a head dimension is added in front.
#
# ### The mask after the softmax
#
# It looks like the same thing in another order: compute the weights, then set those that are forbidden to zero.

# %%
too_late = scores[0].softmax(dim=-1) * causal
in_time = scores[0].masked_fill(~causal, -math.inf).softmax(dim=-1)
print("masked after: ", [f"{total:.2f}" for total in too_late.sum(dim=-1)])
print("masked before:", [f"{total:.2f}" for total in in_time.sum(dim=-1)])

# %% [markdown]
# The rows no longer sum to 1: the first word, which may see only itself, gets a fraction of its own value. And worse
# than the size: the forbidden scores still stand in the denominator. The first word's output depends on words that it
# must not see, so the future leaks in after all. Two lines of autograd show it:

# %%
s = scores[0].clone().requires_grad_()
(leak,) = torch.autograd.grad((s.softmax(dim=-1) * causal)[0, 0], s)
(tight,) = torch.autograd.grad(
    s.masked_fill(~causal, -math.inf).softmax(dim=-1)[0, 0], s
)
print(
    "masked after:  the first word feels the scores of later words:",
    bool((leak[0, 1:] != 0).any()),
)
print(
    "masked before: the first word feels the scores of later words:",
    bool((tight[0, 1:] != 0).any()),
)

# %% [markdown]
# ## Summary
#
# 1. Each word asks (query), offers (key) and tells (value); all three are learned linear maps of its vector.
# 2. A query's dot products with all keys, divided by √d_k and put through a softmax, say how to average the values.
# 3. Without the division scores grow with √d_k, the softmax saturates, and often next to nothing reaches the query (at
#    d_k = 1,024 for two random queries in three).
# 4. A mask sets forbidden scores to −∞ before the softmax; who may look at nothing receives zeros.
# 5. No loop over positions, so everything runs in parallel; without a causal mask no notion of positions either, so
#    order must be added.
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
# - Wenhui Wang et al. (2020). *MiniLM: deep self-attention distillation for task-agnostic compression of pre-trained
#   Transformers.* NeurIPS.
# - Jay Alammar (2018). *The illustrated Transformer.* The "Thinking Machines" example, which the HKUST lecture takes up
#   too.
