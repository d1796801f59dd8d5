# %% [markdown]
# # The encoder
#
# *Attention is all you need*, says the title of the paper. It means: no recurrence, and no convolution (a layer that
# looks at a few neighbouring words at a time). More stands around
# its attention. Take one small piece of that away from a trained model, and see.
#
# A layer of MiniLM has two halves: attention, then a small network that works on each word by itself. Neither half
# *replaces* a word's vector $x$. Each computes something, $f(x)$, and adds it: $x + f(x)$. We take these two plus signs
# out of every layer, and nothing else: $f(x)$ alone goes on. The model reads our sentence about the tired animal, and
# after every second layer we compare each word with every other. The more a square stands out, the more two vectors
# point the same way.

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

# %% tags=["hide-input"] mystnb={"image": {"alt": "Two rows of four heat maps, for 0, 2, 4 and 6 layers. Upper row, MiniLM as published: a strong diagonal on an empty ground that fills by and by. Lower row, without the plus signs: after two layers most squares are strong, after four the whole map is one full square."}, "figure": {"caption": "How alike the word vectors are, pair by pair. Above: MiniLM as it is. Below: the same weights without the residual connections. After four layers all vectors point the same way."}}
import math

import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.testing import assert_close
from torch.utils.flop_counter import FlopCounterMode

from lectures_lib.blocks import layers as library
from lectures_lib.blocks.attention import MultiHeadAttention, padding_mask
from lectures_lib.blocks.recording import record
from lectures_lib.models import minilm
from lectures_lib.show import plots
from lectures_lib.show.drawings import draw

# Where our block's parameters stand in the checkpoint, below "encoder.layer.<i>.".
NAMES = {
    "self_attention.W_Q": "attention.self.query",
    "self_attention.W_K": "attention.self.key",
    "self_attention.W_V": "attention.self.value",
    "self_attention.W_O": "attention.output.dense",
    "around_self_attention.norm": "attention.output.LayerNorm",
    "feed_forward.W_1": "intermediate.dense",
    "feed_forward.W_2": "output.dense",
    "around_feed_forward.norm": "output.LayerNorm",
}
HALVES = ("around_self_attention", "around_feed_forward")


def minilm_block(i, cut=()):
    """This chapter's block with the weights of a MiniLM layer, some residuals cut."""
    block = library.EncoderBlock(384, 12, 1536, activation="gelu", eps=1e-12).eval()
    state, theirs = minilm.load(), f"encoder.layer.{i}"
    block.load_state_dict(
        {
            f"{ours}.{kind}": state[f"{theirs}.{name}.{kind}"]
            for ours, name in NAMES.items()
            for kind in ("weight", "bias")
        }
    )
    for half in cut:
        around = getattr(block, half)
        # in place of norm(x + f(x)); a mask, if there is one, goes to f
        around.forward = lambda x, f, norm=around.norm, **mask: norm(f(x, **mask))
    return block


@torch.no_grad()
def run(x, blocks, mask=None):
    """The vectors (n, d_model) that go in and those that come out of each block."""
    hidden = [x]
    for block in blocks:
        hidden.append(block(hidden[-1][None], mask)[0])
    return hidden


def cosines(x):
    """How alike each two rows of x are."""
    x = F.normalize(x, dim=-1)
    return x @ x.T


sentence = minilm.read("The animal didn't cross the street because it was too tired.")
whole = run(sentence.hidden[0], [minilm_block(i) for i in range(6)])
cut = run(sentence.hidden[0], [minilm_block(i, HALVES) for i in range(6)])

figure, axes = plots.small_multiples(8, columns=4)
for ax, (name, hidden, layer) in zip(
    axes,
    [
        (name, hidden, layer)
        for name, hidden in {"as published": whole, "no plus": cut}.items()
        for layer in (0, 2, 4, 6)
    ],
    strict=True,
):
    plots.heatmap(cosines(hidden[layer]), ax=ax, title=f"{layer} layers", limit=1.0)
    if layer == 0:
        ax.set_ylabel(name)
plt.show()

# %% [markdown]
# Without its plus signs a trained model with 72 attention heads makes all vectors point the same way, whatever the
# word. So attention is not all. This chapter says what stands around it, and why. Six such layers make **the encoder**,
# the half of the Transformer that reads.
#
# **After this chapter you can**
#
# - write the encoder block from memory;
# - say what residual connections do to the words and to the gradient, and measure both;
# - compute layer normalisation by hand, and tell it from batch normalisation;
# - say what the feed-forward layer does that attention cannot;
# - say where the norm stands in the paper (post-norm) and where today (pre-norm), and what follows;
# - count a block's parameters and operations, and say when attention is the expensive part.
#
# **Time** about 90 minutes. **You need** chapters [2](02_self_attention.ipynb), [3](03_multi_head_attention.ipynb) and
# [4](04_order.ipynb).

# %% [markdown]
# ## The block
#
# Here is one layer, an **encoder block**, with three words on their way through. Read it from below:

# %% tags=["remove-input"]
draw("words_through_a_block")

# %% [markdown]
# In code it is four lines, with the letters of the drawing. Two parts are new. LayerNorm brings a vector back to one
# size. The feed-forward network is two matrices with a ReLU between them, which sets negative numbers to 0.


# %%
class PlainBlock(nn.Module):
    """The encoder block of the paper, bare. (batch, n, d_model) → the same"""

    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, n_heads, bias=True)  # chapter 3's
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model)
        )
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        a = self.attention(x, mask=mask)  # words mix
        z = self.norm_1(x + a)  # Add & Norm
        f = self.feed_forward(z)  # each word by itself
        return self.norm_2(z + f)  # Add & Norm


plain = PlainBlock(d_model=16, n_heads=4, d_ff=64)
x = torch.randn(2, 5, 16)  # 2 sentences of 5 words
print(tuple(x.shape), "→", tuple(plain(x).shape))

# %% [markdown]
# The same shape comes out that went in, so blocks can be stacked. **This is the block that you should be able to write
# from memory.** Why is each of its parts there? Begin with the plus signs, $x + a$ and $z + f$.

# %% [markdown]
# **Predict.** One plus sign belongs to the attention, the other to the feed-forward network. Without which of the two
# do all of MiniLM's words point the same way: the attention's, the feed-forward network's, or each of them? (We measure
# the mean cosine of two different words after six layers: about 0.4 as published, 1 where all vectors point the same
# way.)
#
# <details><summary>Answer</summary>
#
# <!-- right offer: the attention's -->
#
# The attention's. Take out that one only, and all words end up pointing the same way; take out the other only, and
# little happens (the mean cosine goes from 0.41 to 0.52). It is tempting to name the feed-forward network, and without
# its plus words do come out a little more alike. But averaging does it much faster.
#
# </details>

# %% tags=["atol=0.015"]
# minilm_block, run, cosines and HALVES stand in the folded cell at the top
off = ~torch.eye(len(sentence.tokens), dtype=torch.bool)  # pairs of different words
for name, halves in {
    "no plus taken out": (),
    "the one at the feed-forward": HALVES[1:],
    "the one at the attention": HALVES[:1],
    "both": HALVES,
}.items():
    last = run(sentence.hidden[0], [minilm_block(i, halves) for i in range(6)])[-1]
    print(f"{name:28} {cosines(last)[off].mean():.2f}")

# %% tags=["remove-cell"]
assert (whole[6] - sentence.hidden[6]).abs().max() < 1e-4
assert cosines(whole[6])[off].mean() < 0.5
assert cosines(cut[4])[off].mean() > 0.99

# %% [markdown]
# Attention averages words. Is that what makes them alike? Or is it that without the plus a word's own vector is lost? A
# mask tells the two apart: let each word attend to itself alone, and nothing is averaged.

# %% [markdown]
# **Predict.** Both plus signs are out, and each word attends to itself only. With the plus signs in, this mask gives
# 0.10. What is the mean cosine after six layers without them: 1.00 again, about 0.7, or below 0.5?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: below 0.5 -->
#
# Below 0.5: 0.33. The missing $x$ does some harm (0.10 becomes 0.33). But in MiniLM's six layers it takes averaging
# without a plus to make all words alike.
#
# </details>

# %% tags=["atol=0.015"]
itself = torch.eye(len(sentence.tokens), dtype=torch.bool)  # True: may attend
print("each word attends to itself:")
for name, halves in {"no plus taken out": (), "both": HALVES}.items():
    blocks = [minilm_block(i, halves) for i in range(6)]
    last = run(sentence.hidden[0], blocks, mask=itself)[-1]
    print(f"{name:28} {cosines(last)[off].mean():.2f}")

# %% tags=["remove-cell"]
assert cosines(last)[off].mean() < 0.37

# %% [markdown]
# ## Averages of averages
#
# Why does averaging make words alike? Take three words that are single numbers, 0, 4 and 8. Each gives half of its
# attention to itself and a quarter to each of the others. The first becomes ½ · 0 + ¼ · 4 + ¼ · 8 = 3, the second stays
# at 4, the third becomes 5.

# %%
weights = torch.tensor([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]])
x = torch.tensor([0.0, 4.0, 8.0])
for layer in range(4):
    print(f"after {layer} layers {x.tolist()}, apart by {(x.max() - x.min()).item()}")
    x = weights @ x

# %% [markdown]
# An average lies between the numbers that it is made of, so no layer of averages can widen the range of the words. This
# one narrows it by a factor of four each time, and soon nothing tells the words apart. The projections $W^V$ and $W^O$
# move and stretch the numbers, but what was equal stays equal. That the words of a stack of self-attention alone become
# alike has been proved, for weights that are not too large (Dong, Cordonnier and Loukas, 2021).
#
# ## A way around
#
# The remedy: let a layer *add* to what is there. If $f$ is the layer's work,
#
# $$x \;\mapsto\; x + f(x).$$
#
# This is a **residual connection** (He et al., 2016). Now $f$ has to learn only the difference, the residue, and it can
# say zero where it has nothing to say. A block has two of them, one around each **sublayer**, as its halves are called.
# Here is the block again, on its side. The thick line is the **residual stream**, a word's vector on its way from layer
# to layer:

# %% tags=["remove-input"]
draw("residual_stream")

# %% [markdown]
# The three words again, with the plus sign:

# %%
x = torch.tensor([0.0, 4.0, 8.0])
for layer in range(4):
    print(f"after {layer} layers {x.tolist()}, apart by {(x.max() - x.min()).item()}")
    x = x + weights @ x

# %% [markdown]
# They no longer fall together. (Measured against their size they still draw closer, but more slowly: **try**
# `x = (x + weights @ x) / 2`.)
#
# The same sign helps in training, where the signal runs backwards. Say $f(x) = 0.5\, x$, with a derivative of 0.5.
# Through 24 such layers without the plus the chain rule gives $0.5^{24}$, one part in 17 million. With it, each layer is $x + f(x)$, and its derivative $1 + 0.5$. Even where $f$ has a derivative of 0, the 1 remains, and the gradient passes.
#
# The price: a gradient can now grow; $1.5^{24}$ is about 17,000. The remedy is a norm.

# %% [markdown]
# ## Normalisation
#
# With every addition the vector on the stream tends to grow longer. So it is brought back to one size. Take one word's
# vector, (1, 3, 5, 7). Its mean is 4; its deviations are −3, −1, 1, 3; the mean of their squares, the variance, is 5.
# Subtract the mean, divide by $\sqrt 5 \approx 2.24$:
#
# $$(-1.34,\; -0.45,\; 0.45,\; 1.34).$$
#
# It has mean 0 and variance 1. From (10, 30, 50, 70) comes the same. This is **layer normalisation** (Ba, Kiros and
# Hinton, 2016). Two learned vectors follow, $\gamma$ (ones at the start) and $\beta$ (zeros), so that the model may
# choose another scale and centre for each dimension. A tiny $\varepsilon$ avoids a division by zero when all numbers
# are equal:
#
# $$\operatorname{LayerNorm}(x) = \gamma \odot \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} + \beta.$$


# %%
def layer_norm(x, gamma, beta, eps=1e-5):
    """Each vector of x brought to mean 0, variance 1; then scaled and shifted."""
    mean = x.mean(dim=-1, keepdim=True)
    # correction=0: divides by d_model, not by d_model - 1
    variance = x.var(dim=-1, keepdim=True, correction=0)
    return gamma * (x - mean) / (variance + eps).sqrt() + beta


x = torch.tensor([1.0, 3.0, 5.0, 7.0])
print([f"{number:.2f}" for number in layer_norm(x, 1, 0)])

# %% tags=["remove-cell"]
x, gamma, beta = torch.randn(2, 5, 12), torch.randn(12), torch.randn(12)
assert_close(layer_norm(x, gamma, beta), F.layer_norm(x, (12,), gamma, beta))

# %% [markdown]
# ### Which axis?
#
# You may know **batch normalisation** from image networks (Ioffe and Szegedy, 2015). It has the same formula, but other
# numbers share a mean. Text comes with three axes, (batch, n, d_model):


# %% tags=["hide-input"] mystnb={"image": {"alt": "Two drawings of a block of 3 sentences, 4 positions and 5 features. LayerNorm: one row of five features of one word is coloured. BatchNorm: a whole slice is coloured, one feature of all words of all sentences."}, "figure": {"caption": "Which numbers share one mean and one variance (orange). LayerNorm looks at one word; BatchNorm looks at one feature of all words of all sentences."}}
def draw_block(ax, chosen, title):
    """A block of 3 sentences, 4 positions, 5 features, some cells coloured."""
    colours = np.where(chosen, plots.ORANGE, plots.FRAME)
    everywhere = np.ones(chosen.shape, dtype=bool)
    ax.voxels(everywhere, facecolors=colours, edgecolor="white", shade=False)
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.set_pane_color("none")
    ax.set(title=title, xticks=[], yticks=[], zticks=[])
    ax.set_xlabel("position", labelpad=-12)
    ax.set_ylabel("sentence", labelpad=-12)
    ax.set_zlabel("feature", labelpad=-12)
    ax.view_init(elev=22, azim=-50)
    ax.set_box_aspect((4, 3, 5))


one_word, one_feature = torch.zeros(2, 4, 3, 5, dtype=torch.bool)
one_word[3, 0, :] = True
one_feature[:, :, 4] = True

figure = plt.figure(figsize=(6.0, 3.0))
panels = {"LayerNorm": one_word, "BatchNorm": one_feature}
for i, (title, chosen) in enumerate(panels.items()):
    draw_block(figure.add_subplot(1, 2, i + 1, projection="3d"), chosen, title)
plt.show()

# %% [markdown]
# For 3 sentences of 4 words with 5 features, LayerNorm takes 12 means, one for each word. BatchNorm takes 5, one for
# each feature. So LayerNorm does the same for a batch of one, for any length, in training and in use. With BatchNorm,
# in training, a sentence's vectors depend on the rest of its batch (the folded cell measures it), padding included. And
# in Transformers for text the batch's statistics were found to fluctuate strongly during training (Shen et al., 2020).

# %% tags=["hide-cell"]
# The same sentence in two batches, beside others whose numbers are larger by 3
torch.manual_seed(0)
X = torch.randn(3, 4, 5)  # 3 sentences, 4 words, 5 features
company = torch.cat([X[:1], 3 + torch.randn(2, 4, 5)])
batch_norm = nn.BatchNorm1d(5, affine=False)  # wants the features in the middle
norms = {
    "LayerNorm": nn.LayerNorm(5),
    "BatchNorm": lambda x: batch_norm(x.transpose(1, 2)).transpose(1, 2),
}
for name, norm in norms.items():
    change = (norm(company)[0] - norm(X)[0]).abs()
    print(f"{name}: the first sentence changes by {change.mean():.2f} on average")

# %% tags=["remove-cell"]
per_feature = (X - X.mean(dim=(0, 1))) / (X.var(dim=(0, 1), correction=0) + 1e-5).sqrt()
assert_close(norms["BatchNorm"](X), per_feature)

# %% [markdown]
# ## Feed-forward: each word by itself
#
# Attention moves information from word to word, but once its shares are known it only averages vectors and multiplies
# them by matrices. The second half of a block is a small network with one hidden layer. It works on each word by
# itself:
#
# $$\operatorname{FFN}(x) = \max(0,\; x W_1 + b_1)\, W_2 + b_2.$$
#
# It is four times as wide inside as outside: $d_{\text{model}} = 512$, $d_{\text{ff}} = 2048$. What can it do that a
# matrix cannot? The smallest example is the absolute value of a single number. A matrix draws a straight line, and
# $|x|$ has a corner. Two hidden units can draw that, one for the positive part and one for the negative:

# %%
W_1, W_2 = torch.tensor([[1.0, -1.0]]), torch.tensor([[1.0], [1.0]])
x = torch.tensor([[-3.0], [-1.0], [0.5], [2.0]])
hidden = (x @ W_1).clamp(min=0)
print("hidden:", hidden.tolist())
print("output:", (hidden @ W_2).flatten().tolist())

# %% [markdown]
# The function that makes the corner, $\max(0, x)$, is called **ReLU**. BERT and the Vision Transformer round the corner
# off, with **GELU** (Hendrycks and Gimpel, 2016).
#
# <details><summary>GELU as a formula</summary>
#
# It is $x\,\Phi(x)$, where $\Phi(x)$ is the probability that a normal random number lies below $x$. At $x = 1$ that is
# 1 · 0.84 = 0.84; at $x = -1$ it is −1 · 0.16 = −0.16.
#
# </details>

# %% tags=["hide-input"] mystnb={"image": {"alt": "Two curves from minus 3 to 3. ReLU is zero up to 0 and then rises with slope 1. GELU follows it closely but dips to about minus 0.17 near minus 0.75 and has no corner."}, "figure": {"caption": "ReLU and GELU. GELU is smooth, and slightly negative just left of zero."}}
x = torch.linspace(-3, 3, 121)
plots.curves(x, {"ReLU": F.relu(x), "GELU": F.gelu(x)}, xlabel="x", direct_labels=False)
plt.show()

# %% tags=["remove-cell"]
x = torch.tensor([-1.0, 0.0, 1.0])
assert_close(F.gelu(x), x * torch.distributions.Normal(0, 1).cdf(x))
assert [f"{y:.2f}" for y in F.gelu(x)] == ["-0.16", "0.00", "0.84"]

# %% [markdown]
# The layer, with either of the two:

# %%
ACTIVATIONS = {"relu": F.relu, "gelu": F.gelu}


class FeedForward(nn.Module):
    """max(0, x W_1 + b_1) W_2 + b_2, at each position by itself."""

    def __init__(self, d_model, d_ff, activation="relu"):
        super().__init__()
        self.W_1 = nn.Linear(d_model, d_ff)
        self.W_2 = nn.Linear(d_ff, d_model)
        self.activation = ACTIVATIONS[activation]

    def forward(self, x):
        """(batch, n, d_model) → the same"""
        return self.W_2(self.activation(self.W_1(x)))


# %% [markdown]
# **Predict.** A sentence of five words goes through self-attention or, instead, through a feed-forward layer. Then we
# change the third word's vector. How many of the five outputs move, with attention and with the feed-forward layer:
# five and five, five and one, or one and one?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: five and one -->
#
# All five for attention, one for the feed-forward layer. `nn.Linear` multiplies the last axis and leaves the others
# alone: each word meets the same $W_1$ and $W_2$, and never another word. The shared weights make it tempting to think
# that the words influence each other. But no word's numbers enter another word's sum.
#
# </details>

# %%
x = torch.randn(1, 5, 8)
other = x.clone()
other[0, 2] += 1 + torch.randn(8)
both = {"attention": MultiHeadAttention(8, 2), "feed-forward": FeedForward(8, 32)}
for name, layer in both.items():
    change = (layer(other) - layer(x)).abs().amax(dim=-1)[0]
    print(f"{name:13} {int((change > 1e-5).sum())} of 5 outputs move")

# %% [markdown]
# (The same layer is also described as one product with a long table of all words, or as two **convolutions with kernel
# 1**. The folded cell shows that all three are one function.)

# %% tags=["hide-cell", "atol=2e-5"]
feed_forward = FeedForward(d_model=8, d_ff=32)
x = torch.randn(2, 5, 8)
table = feed_forward(x.reshape(10, 8)).reshape(2, 5, 8)  # one long table

first, second = nn.Conv1d(8, 32, kernel_size=1), nn.Conv1d(32, 8, kernel_size=1)
for convolution, linear in ((first, feed_forward.W_1), (second, feed_forward.W_2)):
    convolution.weight.data = linear.weight.data[:, :, None]  # (out, in, 1)
    convolution.bias.data = linear.bias.data
# Conv1d wants (batch, features, n)
convolved = second(first(x.transpose(1, 2)).relu()).transpose(1, 2)

for name, y in {"one table": table, "convolutions": convolved}.items():
    print(f"{name:13} differs by at most {(y - feed_forward(x)).abs().max():.5f}")

# %% [markdown]
# ## Norm and dropout
#
# Two choices are left: where the norm stands, and dropout.
#
# ### Before or after?
#
# The paper puts the norm *after* the sum, on the stream itself: **post-norm**, our `PlainBlock`. BERT and its relatives
# kept this order. Most large language models since GPT-2 put the norm *before* the sublayer, on the branch that leads
# to it: **pre-norm** (in PyTorch, `norm_first=True`).
#
# $$\begin{aligned} \text{post-norm:} \quad & \operatorname{LayerNorm}(x + f(x)) \\ \text{pre-norm:} \quad & x + f(\operatorname{LayerNorm}(x)) \end{aligned}$$

# %% tags=["remove-input"]
draw("pre_and_post_norm")

# %% [markdown]
# Watch a word's vector pass eight sublayers, with the norm here or there, with the plus sign or without: [Mechanisms in
# motion](../book/motion.md#a-vector-on-its-way). (With some of its random weights, words end together even with the
# plus.)
#
# What follows from the place of the norm? Here is the length of a word's vector after each of 24 untrained blocks of
# either kind:


# %% tags=["hide-input"] mystnb={"image": {"alt": "Two lines over 24 blocks, the length of a word's vector. Post-norm stays level at 11, pre-norm rises from 14 to over 50."}, "figure": {"caption": "Length of a word's vector after each of 24 untrained blocks (d_model = 128)."}}
def lengths(pre_norm, n_layers=24, d_model=128):
    """Mean length of the vectors after each block."""
    torch.manual_seed(0)
    encoder = library.Encoder(n_layers, d_model, 4, 4 * d_model, pre_norm=pre_norm)
    library.initialise(encoder)  # Glorot's numbers: see "Forty-eight layers"
    with torch.no_grad(), record(encoder, "blocks.*") as seen:
        encoder(torch.randn(8, 16, d_model))
    return [x.norm(dim=-1).mean().item() for x in seen.all("blocks.*")]


grown = {"post-norm": lengths(False), "pre-norm": lengths(True)}
figure, ax = plt.subplots(figsize=(5.0, 3.0))
plots.curves(range(1, 25), grown, ax, xlabel="block", ylabel="length of a vector")
ax.set(ylim=(0, None))
plt.show()

# %% tags=["remove-cell"]
assert max(grown["post-norm"]) - min(grown["post-norm"]) < 0.1
assert grown["pre-norm"][-1] > 3 * grown["pre-norm"][0]

# %% [markdown]
# With post-norm every vector leaves every block at length $\sqrt{128} \approx 11.3$: LayerNorm sees to it. With
# pre-norm nothing shortens the stream, so one more LayerNorm stands after the last block. Post-norm Transformers often
# fail unless the learning rate starts tiny and is **warmed up** over the first steps ([chapter 8](08_training.ipynb));
# pre-norm ones can do without (Xiong et al., 2020).
#
# <details><summary>Our own small experiment, with and without a warm-up</summary>
#
# Our experiment did not show this difference. We trained six blocks of each kind on the task of chapter 4, eight digits
# to be written backwards. After 300 steps at a constant rate pre-norm got a share of 1.00<!-- norm_order:
# accuracy/blocks_6/pre_norm/at_once/mean .2f --> of the digits right. Post-norm got 0.32<!-- norm_order:
# accuracy/blocks_6/post_norm/at_once/mean .2f -->, no more than a model that is blind to order (means of three seeds).
# A warm-up over a third of the steps did not change that (0.33<!-- norm_order: accuracy/blocks_6/post_norm/warm_up/mean
# .2f -->); more steps did: after 600, still without a warm-up, post-norm had 1.000<!-- norm_order_longer:
# accuracy/rate_0_001/600/min .3f --> right with each of three seeds ([all
# numbers](../book/results/attention.md#norm-order-longer)). So post-norm was slower here, and needed no warm-up.
#
# </details>
#
# ### Dropout
#
# In training, some of the numbers that a sublayer wants to add are set to zero (Srivastava et al., 2014), chosen at
# random, anew at every step. No single number can then be relied upon, which makes it harder to learn examples by
# heart. The smaller of the paper's two models, called **base**, drops one in ten and divides the others by 0.9, so that
# the sum stays the same on average. Below one in two is dropped, and the others are divided by 0.5:

# %%
torch.manual_seed(0)
dropout = nn.Dropout(p=0.5)
print("in training:", dropout(torch.ones(8)).tolist())
print("mean of a million:", f"{dropout(torch.ones(1_000_000)).mean():.2f}")
dropout.eval()
print("in use:     ", dropout(torch.ones(8)).tolist())

# %% [markdown]
# `train()` switches dropout on, `eval()` switches it off. The paper uses it after every sublayer, and on the sum of
# embeddings and positions. (Much code drops attention weights as well.)
#
# ## Six of them
#
# The encoder is a stack of $N = 6$ such blocks, built alike, each with **its own parameters**:

# %%
blocks = nn.ModuleList(PlainBlock(d_model=512, n_heads=8, d_ff=2048) for _ in range(6))
x = torch.randn(2, 5, 512)  # 2 sentences of 5 words
for block in blocks:
    x = block(x)
print(tuple(x.shape))

# %% [markdown]
# ### The forms the library uses
#
# Later chapters choose the place of the norm, the dropout and the activation. So the library keeps plus, norm and
# dropout in one module, `Residual`. An `EncoderBlock` has one around each sublayer; `Encoder` is the stack. With all
# options left alone, a block does what `PlainBlock` does, and what PyTorch's layer does:


# %% tags=["hide-input"]
class Residual(nn.Module):
    """A way around a sublayer, and the normalisation that goes with it."""

    def __init__(self, d_model, dropout=0.0, pre_norm=False, eps=1e-5):
        super().__init__()
        self.norm = nn.LayerNorm(d_model, eps)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, sublayer, *others, **options):
        if self.pre_norm:
            return x + self.dropout(sublayer(self.norm(x), *others, **options))
        return self.norm(x + self.dropout(sublayer(x, *others, **options)))


class EncoderBlock(nn.Module):
    """Self-attention, then feed-forward, each with a residual around it."""

    def __init__(
        self,
        d_model,
        n_heads,
        d_ff,
        *,
        dropout=0.0,
        attention_dropout=0.0,
        activation="relu",
        pre_norm=False,
        bias=True,
        eps=1e-5,
    ):
        super().__init__()
        self.self_attention = MultiHeadAttention(
            d_model, n_heads, bias=bias, dropout=attention_dropout
        )
        self.feed_forward = FeedForward(d_model, d_ff, activation)
        self.around_self_attention = Residual(d_model, dropout, pre_norm, eps)
        self.around_feed_forward = Residual(d_model, dropout, pre_norm, eps)

    def forward(self, x, mask=None):
        """(batch, n, d_model) → the same"""
        x = self.around_self_attention(x, self.self_attention, mask=mask)
        return self.around_feed_forward(x, self.feed_forward)


class Encoder(nn.Module):
    """N encoder blocks, one on another; the options are those of a block."""

    def __init__(
        self, n_layers, d_model, n_heads, d_ff, *, pre_norm=False, eps=1e-5, **options
    ):
        super().__init__()
        self.blocks = nn.ModuleList(
            EncoderBlock(d_model, n_heads, d_ff, pre_norm=pre_norm, eps=eps, **options)
            for _ in range(n_layers)
        )
        # Pre-norm leaves the last sum as it is, so one more norm ends the stack.
        self.norm = nn.LayerNorm(d_model, eps) if pre_norm else nn.Identity()

    def forward(self, x, mask=None):
        """(batch, n, d_model) → the same"""
        for block in self.blocks:
            x = block(x, mask)
        return self.norm(x)


# %% tags=["hide-input", "atol=2e-5"]
torch.manual_seed(0)
d_model, n_heads, d_ff = 16, 4, 64
block = EncoderBlock(d_model, n_heads, d_ff)
x = torch.randn(2, 5, d_model)
mask = padding_mask(torch.tensor([5, 3]), n=5)

# The same in the bare block, with the same parameters:
attention, feed_forward = block.self_attention, block.feed_forward
plain = PlainBlock(d_model, n_heads, d_ff)
plain.attention = attention
plain.feed_forward[0], plain.feed_forward[2] = feed_forward.W_1, feed_forward.W_2
plain.norm_1 = block.around_self_attention.norm
plain.norm_2 = block.around_feed_forward.norm
difference = (plain(x, mask) - block(x, mask)).abs().max()
print(f"bare block:  differs by at most {difference:.5f}")

torchs = nn.TransformerEncoderLayer(
    d_model, n_heads, d_ff, dropout=0.0, batch_first=True
)
projections = (attention.W_Q, attention.W_K, attention.W_V)
torchs.self_attn.in_proj_weight.data = torch.cat([p.weight for p in projections])
torchs.self_attn.in_proj_bias.data = torch.cat([p.bias for p in projections])
torchs.self_attn.out_proj.load_state_dict(attention.W_O.state_dict())
torchs.linear1, torchs.linear2 = feed_forward.W_1, feed_forward.W_2
torchs.norm1 = block.around_self_attention.norm
torchs.norm2 = block.around_feed_forward.norm

theirs = torchs(x, src_key_padding_mask=~mask[:, 0, 0])  # torch: True = hidden
print(f"torch's:     differs by at most {(theirs - block(x, mask)).abs().max():.5f}")

# %% [markdown]
# ### How many parameters?
#
# A block has matrices with their biases, and a $\gamma$ and a $\beta$ for each LayerNorm:
#
# $$\underbrace{4 d^2 + 4d}_{\text{attention}} + \underbrace{2\, d\, d_{\text{ff}} + d_{\text{ff}} + d}_{\text{feed-forward}} + \underbrace{2 \cdot 2d}_{\text{two norms}}$$

# %% [markdown]
# **Predict.** Attention has four matrices, the feed-forward layer only two. Which of the two halves has more parameters
# when $d = 512$ and $d_{\text{ff}} = 2048$: attention by a factor of two, the feed-forward layer by a factor of two, or
# neither?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: the feed-forward layer by a factor of two -->
#
# The feed-forward layer, by a factor of two. Four matrices sound like more than two, but with $d_{\text{ff}} = 4d$ each
# of the two is four times as large: $8d^2$ against $4d^2$. So two thirds of a block's parameters are in its
# feed-forward layer.
#
# </details>

# %%
d, d_ff = 512, 2048
by_hand = {
    "attention": 4 * d * d + 4 * d,
    "feed-forward": 2 * d * d_ff + d_ff + d,
    "two norms": 2 * 2 * d,
}
for name, number in by_hand.items():
    print(f"{name:19} {number:10,}")

print(f"{'six blocks, by hand':19} {6 * sum(by_hand.values()):10,}")
print(f"{'six blocks, counted':19} {sum(p.numel() for p in blocks.parameters()):10,}")

# %% [markdown]
# ## Forty-eight layers
#
# Why the plus *and* the norm? Stack 48 feed-forward layers, untrained and without attention, and follow the gradient
# from the output down. The layers are joined in four ways: without a plus sign, with it, and with plus and norm, as
# post-norm (the block to remember) and as pre-norm. Their random weights are of two kinds: those of Glorot and Bengio
# (2010), with which chapter 6's Transformer starts, and those of He et al. (2015), made for ReLU.


# %%
def norm(x):
    """LayerNorm, as it is before training."""
    return F.layer_norm(x, x.shape[-1:])


JOINED = {
    "f(x)": lambda x, f: f(x),
    "x + f(x)": lambda x, f: x + f(x),
    "norm(x + f(x)), post": lambda x, f: norm(x + f(x)),
    "x + f(norm(x)), pre": lambda x, f: x + f(norm(x)),
}
VARIANCES = {  # of the numbers in W_1 and W_2, for 64 inputs and 256 hidden units
    "Glorot": (2 / (64 + 256), 2 / (256 + 64)),
    "He": (1 / 64, 2 / 256),  # no ReLU before W_1, one before W_2
}


def deep(join, variances, depth=48, d=64, seed=0):
    """Size of the gradient at each layer's input and at the output; the output."""
    torch.manual_seed(seed)
    x = torch.randn(32, d, requires_grad=True)  # 32 words, each by itself
    xs = [x]
    for _ in range(depth):
        layer = FeedForward(d, 4 * d)
        for linear, variance in zip((layer.W_1, layer.W_2), variances, strict=True):
            nn.init.normal_(linear.weight, std=math.sqrt(variance))
            nn.init.zeros_(linear.bias)
        x = join(x, layer)
        xs.append(x)
    loss = (x @ torch.randn(d)).mean()
    return [g.norm().item() for g in torch.autograd.grad(loss, xs)], x.detach()


# %% [markdown]
# **Predict.** The gradient starts at the output, above layer 48, and runs down to the input. There is no plus sign. One
# such layer with Glorot's weights lets 0.57 of the gradient through, one with He's about all of it. How much arrives
# with Glorot's: about all of it, a thousandth, or less than a billionth?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: less than a billionth -->
#
# Less than a billionth: $0.57^{48}$ is about $10^{-12}$. (A note below says where 0.57 comes from.) He's weights are
# made so that each layer keeps the size, and with them it arrives at about its old size (0.3 to 2.1 times as large,
# over twenty seeds). It is tempting to say that without residuals no gradient gets through a deep stack. With the right
# weights it does. The last column of the table shows what the plus is for even then.
#
# </details>

# %% tags=["rtol=0.5"]
measured = {
    start: {name: deep(join, variances) for name, join in JOINED.items()}
    for start, variances in VARIANCES.items()
}
off_diagonal = ~torch.eye(32, dtype=torch.bool)
print("                       gradient, input ÷ output   cosine of two words")
print("                          Glorot         He          at the output (He)")
for name in JOINED:
    ratios = [sizes[0] / sizes[-1] for sizes, _ in (m[name] for m in measured.values())]
    alike = cosines(measured["He"][name][1])[off_diagonal].mean()
    print(f"{name:22}", *(f"{ratio:9.0e}" for ratio in ratios), f"{alike:17.2f}")
runs = [deep(JOINED["f(x)"], VARIANCES["He"], seed=seed)[0] for seed in range(20)]
seeds = sorted(sizes[0] / sizes[-1] for sizes in runs)
print(f"He, f(x), twenty seeds: {seeds[0]:.1f} to {seeds[-1]:.1f}")

# %% tags=["remove-cell"]
for joined in measured.values():
    bare, summed, post, pre = (sizes[0] / sizes[-1] for sizes, _ in joined.values())
    assert summed > 100 and 0.03 < post < 20 and 1 < pre < 20
gradient = {
    start: joined["f(x)"][0][0] / joined["f(x)"][0][-1]
    for start, joined in measured.items()
}
assert gradient["Glorot"] < 1e-9 and 0.1 < gradient["He"] < 10
assert 0.1 < seeds[0] < 0.5 and 1.5 < seeds[-1] < 5
similar = [cosines(x)[off_diagonal].mean() for _, x in measured["He"].values()]
assert similar[0] > 0.98 > 0.9 > similar[3] and similar[2] < similar[0]

# %% [markdown]
# A plus sign alone makes the gradient grow. With plus and norm it keeps its size, to within a factor of ten or so.
#
# With He's weights the gradient arrives even without a plus. What is the plus for, then? See the last column. The 32
# words came in pointing anywhere, with a mean cosine near 0. Without the plus they leave pointing the same way,
# although no layer has mixed them. With the plus they grow alike more slowly, most slowly in pre-norm: there every
# layer adds a vector of the same length to a stream that grows, and turns it less and less.
#
# <details><summary>Where 0.57 comes from, what plus and norm let through, how fast words grow alike</summary>
#
# *The two kinds of weights.* Glorot's numbers have variance $2 / (\text{inputs} + \text{outputs})$. He's allow for
# ReLU, which stops half of what comes: with $n$ inputs, variance $2/n$ behind a ReLU, and $1/n$ where none stands
# before the layer, as before $W_1$.
#
# *Without plus sign and norm.* In a sum, variances add up (chapter 2). Follow the variance of the gradient down through
# one layer with He's weights. $W_2$ has 64 outputs and numbers of variance 2/256: a factor of $64 \cdot 2/256 = 1/2$.
# ReLU lets half of it through: another $1/2$. $W_1$ has 256 outputs and numbers of variance 1/64: a factor of
# $256/64 = 4$. Together that is 1. Glorot's numbers have variance $2/(64 + 256)$ in both matrices. They are a
# compromise between the way up and the way down, and know nothing of ReLU: $0.4 \cdot 1/2 \cdot 1.6 = 0.32$. The size
# is the root, $\sqrt{0.32} = 0.57$.
#
# *Post-norm, He's weights.* The sum $x + f(x)$ is about $\sqrt 2$ times as long as $x$, and the norm divides by
# $\sqrt 2$ again. On the way back, the gradient grows by $\sqrt 2$ at the plus and is divided by $\sqrt 2$ at the norm.
#
# *Pre-norm.* Each of He's layers adds a vector of about the same length as the first $x$, in a direction of its own. So
# layer $l$ meets a stream that is about $\sqrt{l}$ times as long as the first $x$. It makes the stream's squared length
# about $1 + 1/l$ times as large, and the squared size of the gradient, too. Multiply these factors from $l = 1$ to 48:
# that gives 49, in size 7.
#
# *Words grow alike.* One feed-forward layer raises the mean cosine from about 0 to 0.28<!-- other_seeds:
# chapter_5/one_layer_cosine/min .2f --> to 0.38<!-- other_seeds: chapter_5/one_layer_cosine/max .2f --> with three
# other seeds. After 48 without a plus it is at least 0.99<!-- other_seeds: chapter_5/all_layers_cosine/min .2f -->.
#
# </details>

# %% tags=["hide-input"] mystnb={"image": {"alt": "Two panels of gradient size over depth, logarithmic vertical axis. Left, Glorot: without a plus sign the gradient falls in a straight line from about 1 at layer 48 to 1e-12 at the input, with a plus sign alone it grows to about a thousand, as post-norm and as pre-norm it stays within a factor of ten. Right, He: without a plus sign it stays near 1, with one it grows to more than a million, as post-norm and as pre-norm it again stays within a factor of ten."}, "figure": {"caption": "Size of the gradient at each depth of 48 untrained layers, started in two ways. It enters on the right of each panel, at the output, and runs to the left."}}
figure, axes = plt.subplots(1, 2, figsize=(7.4, 3.0), sharey=True)
for ax, (start, joined) in zip(axes, measured.items(), strict=True):
    ys = {name: sizes for name, (sizes, _) in joined.items()}
    plots.curves(range(49), ys, ax, xlabel="layer", direct_labels=False)
    ax.lines[0].set_linewidth(5)  # others lie on it
    ax.set(yscale="log", title=start, xticks=range(0, 49, 12))
axes[0].set_ylabel("size of the gradient")
axes[0].get_legend().remove()
axes[1].legend(loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()

# %% [markdown]
# ## What it costs
#
# The paper's table 1 compares self-attention with the two kinds of layer used before, for $n$ words, vectors of width
# $d$ and a convolution that sees $k$ words at a time:
#
# | layer | operations | steps one after the other | longest way between two words |
# |---|---|---|---|
# | self-attention | $O(n^2 \cdot d)$ | $O(1)$ | $O(1)$ |
# | recurrent | $O(n \cdot d^2)$ | $O(n)$ | $O(n)$ |
# | convolutional | $O(k \cdot n \cdot d^2)$ | $O(1)$ | $O(\log_k n)$ |
#
# The steps are a main reason for the Transformer: in a recurrent network words wait for each other.
#
# <details><summary>Measured: a recurrent layer and a convolution</summary>
#
# In a training step on one sentence of 128 words, a GRU, the recurrent layer of [chapter 1](01_bottleneck.ipynb), took
# 11.6<!-- parallel_time: training/batch_1/gru_over_attention/128/median .1f --> times as long as attention on two CPU
# cores. In a convolution no word waits: at 512 words ours took 0.39<!-- parallel_time:
# training/batch_1/convolution_over_attention/512/median .2f --> of attention's time. But one layer of it sees only
# three neighbouring words. Two words at a distance of 500 meet only through a stack of many layers, which the last
# column of the table counts. (The logarithm holds for convolutions with growing gaps; without gaps the number of layers grows like $n/k$.)
#
# </details>
#
# The $O(n^2 \cdot d)$ of self-attention counts the scores and averages only, $2\,n^2\,d$ multiplications. The
# projections to $Q$, $K$, $V$ and back cost $4\,n\,d^2$ more, and the feed-forward layer $2\,n\,d\,d_{\text{ff}}$.

# %% [markdown]
# **Predict.** Attention is quadratic in the length of the text (chapter 2). What share of a block's multiplications
# ($d = 512$) goes into scores and averages, the part that grows with $n^2$, for a text of 100 words? And at which
# length does it reach one half?
#
# <details><summary>Answer</summary>
#
# Three per cent at 100 words; one half at 3,072, which is $6d$. "Quadratic" says how a cost grows, not how large it
# is: the rest of the block costs $12\,n\,d^2$, so the share of the quadratic part is $n / (6d + n)$, a quarter at
# 1,024 tokens. (In memory it is another matter, if the $n^2$ weights of each head are stored; the fused form of
# chapter 2 avoids that.)
#
# </details>


# %%
def operations(n, d=512, d_ff=2048):
    """Multiplications in one block, for a text of n words."""
    return {
        "projections": 4 * n * d * d,
        "feed-forward": 2 * n * d * d_ff,
        "scores and averages": 2 * n * n * d,
    }


for n in (100, 1024, 3072, 65_536):
    parts = operations(n)
    share = parts["scores and averages"] / sum(parts.values())
    print(
        f"{n:6,} words: {sum(parts.values()):19,} multiplications, n² part {share:.1%}"
    )

# %% tags=["remove-cell"]
by_formula = sdpa_kernel(SDPBackend.MATH)  # a fused kernel is not counted everywhere
with FlopCounterMode(display=False) as counter, torch.no_grad(), by_formula:
    blocks[0](torch.randn(1, 100, 512))
# a multiplication and an addition are two operations
assert counter.get_total_flops() // 2 == sum(operations(100).values())

# %% tags=["hide-input"] mystnb={"image": {"alt": "Stacked area over the length of the text from 16 to 65,536 tokens. At short lengths feed-forward takes two thirds and projections one third. Scores and averages are hardly visible below 256, reach one half at 3,072 and nearly everything at 65,536."}, "figure": {"caption": "Where the multiplications of one block go (d_model = 512). Scores and averages, the part that grows with n\u00b2, reach one half at n = 6 \u00b7 512 = 3,072 (dotted)."}}
lengths = torch.logspace(4, 16, 49, base=2)
shares = torch.tensor([list(operations(n).values()) for n in lengths.tolist()])
shares = shares / shares.sum(dim=1, keepdim=True)
figure, ax = plt.subplots()
ax.stackplot(
    lengths,
    shares.T,
    labels=list(operations(1)),
    colors=[plots.BLUE, plots.GREEN, plots.ORANGE],
)
ax.axvline(6 * 512, color=plots.INK, linestyle=":")
ax.set(
    xscale="log",
    xlim=(16, 65_536),
    ylim=(0, 1),
    xlabel="tokens in the text, n",
    ylabel="share of the multiplications",
)
ax.legend(loc="lower left", frameon=True)
plt.show()

# %% [markdown]
# ## What goes wrong
#
# ### Normalising over the whole sentence
#
# `F.layer_norm(x, x.shape[1:])` runs too. It takes one mean over all words and features of a sentence, padding
# included. Change what stands in the padding, and see how far the real words move:

# %%
torch.manual_seed(0)
x = torch.randn(1, 5, 8)  # three words and two of padding
other = x.clone()
other[:, 3:] = 99.0
for name, shape in {"over each word": (8,), "over the sentence": (5, 8)}.items():
    change = F.layer_norm(other, shape)[:, :3] - F.layer_norm(x, shape)[:, :3]
    print(f"{name:18} the words move by up to {change.abs().max():.2f}")

# %% [markdown]
# Now masks in the attention no longer help, and in a left-to-right model every word learns something about the future.
# Chapter 3's test finds it: a sentence must get the same vectors alone and in a padded batch.
#
# ### Dropout that stays on
#
# A model in training mode, asked twice for the same input:

# %% tags=["rtol=0.5"]
model = Encoder(2, 16, 4, 64, dropout=0.1)
x = torch.randn(1, 5, 16)
print(f"two answers differ by up to {(model(x) - model(x)).abs().max():.1f}")
model.eval()
print(f"after eval(), by            {(model(x) - model(x)).abs().max():.1f}")

# %% [markdown]
# `torch.no_grad()` does not switch dropout off. If your accuracy is hardly ever the same twice, look for a forgotten
# `eval()`.

# %% [markdown]
# ## Exercises
#
# Ungraded; a solution is folded below each.
#
# **1. A weaker average.** Let each of the three words 0, 4 and 8 give 0.8 of its attention to itself and 0.1 to each of
# the others. After how many layers without a plus sign are they less than 0.1 apart? With ½ and ¼ it took four.

# %% tags=["hide-cell"]
# Solution 1
for own in (0.5, 0.8):
    weights = torch.full((3, 3), (1 - own) / 2).fill_diagonal_(own)
    x, layers = torch.tensor([0.0, 4.0, 8.0]), 0
    while x.max() - x.min() >= 0.1:
        x, layers = weights @ x, layers + 1
    print(f"{own} to itself: {layers} layers")
# 13: the range shrinks to 0.8 - 0.1 = 0.7 of itself in a layer. Later, but as surely.

# %% [markdown]
# **2. One block six times.** `nn.ModuleList([block] * 6)` looks like a stack of six. Count its parameters, and those of our
# `Encoder` with six blocks. Then look into `nn.TransformerEncoder(layer, 6)`: by how much do the first matrices of its
# first two layers differ?


# %% tags=["hide-cell"]
# Solution 2
def count(module):
    """Its parameters."""
    return sum(p.numel() for p in module.parameters())


layer = nn.TransformerEncoderLayer(16, 4, 64, batch_first=True)
copies = nn.TransformerEncoder(layer, 6, enable_nested_tensor=False)
first, second = copies.layers[:2]
print("[layer] * 6:", count(nn.ModuleList([layer] * 6)), "parameters")
print("torch's six:", count(copies), " ours:", count(Encoder(6, 16, 4, 64)))
apart = (first.linear1.weight - second.linear1.weight).abs().max()
print(f"torch's first two layers differ by {apart:.1f}")
# A list holds six references to one block. torch copies the layer *with its weights*:
# all six start with the same random numbers, and drift apart only in training.

# %% [markdown]
# **3. BERT's body.** BERT base is an encoder of 12 blocks with $d = 768$ and $d_{\text{ff}} = 3072$. How many parameters is that? Use the formula, then count `Encoder(…)`. (Under `torch.device("meta")` nothing is stored.)

# %% tags=["hide-cell"]
# Solution 3
d, d_ff = 768, 3072
one = 4 * d * d + 4 * d + 2 * d * d_ff + d_ff + d + 4 * d
with torch.device("meta"):
    counted = count(Encoder(12, d, 12, d_ff))
print(f"by hand {12 * one:,}, counted {counted:,}")
# 85 of BERT base's 110 million; most of the rest is the vectors of its 30,522 tokens.

# %% [markdown]
# **4. Build it: who does the work?** `minilm_block(i)`, in the folded cell at the top, is this chapter's block with the
# weights of MiniLM's layer $i$. Send our sentence through the six layers half by half. How long is what each half
# *adds*, divided by the length of the vector it is added to?

# %% tags=["hide-cell", "atol=0.02"]
# Solution 4
with torch.no_grad():
    x = sentence.hidden[0][None]
    print("layer   attention   feed-forward")
    for i in range(6):
        block, shares = minilm_block(i), []
        for around, half in (
            (block.around_self_attention, block.self_attention),
            (block.around_feed_forward, block.feed_forward),
        ):
            shares.append((half(x).norm(dim=-1) / x.norm(dim=-1)).mean().item())
            x = around(x, half)
        print(f"{i:5} {shares[0]:11.2f} {shares[1]:14.2f}")
# In every layer the feed-forward network adds more. (Longer is not more important.)

# %% [markdown]
# ## Summary
#
# 1. Attention averages words. Take the plus signs out of MiniLM, which was trained with them, and all its words point
#    the same way. A residual, $x + f(x)$, slows this down; with a norm beside it, gradients keep their size, too.
# 2. LayerNorm takes mean and variance over one word's features; BatchNorm over one feature of all words in the batch.
# 3. The feed-forward layer works on each word by itself and holds two thirds of a block's parameters.
# 4. Post-norm normalises the stream, pre-norm the branches. Pre-norm's vectors grow from block to block. It is said to do without the warm-up that post-norm needs (in our small experiment neither needed one).
# 5. Attention's $n^2$ is 3 % of a block's multiplications at 100 words ($d = 512$), a quarter at 1,024, half at $6d$.
#    What makes the encoder fast is that no word waits for another.
#
# **Homework 2**, questions 3 and 4, is about this chapter: [exercises](../exercises/hw2_transformer.ipynb).
#
# **Next:** the encoder reads. [Chapter 6](06_decoder.ipynb) builds the half that writes, and joins the two. (Both at
# work on your own sentence, down to single products: [One sentence, all the way down](../book/through.md).)
#
# ## References
#
# - Ashish Vaswani et al. (2017). *Attention is all you need.* NeurIPS. Sections 3.1, 3.3, 3.4, 4 and 5.4.
# - Yihe Dong, Jean-Baptiste Cordonnier and Andreas Loukas (2021). *Attention is not all you need: pure attention loses
#   rank doubly exponentially with depth.* ICML.
# - Xavier Glorot and Yoshua Bengio (2010). *Understanding the difficulty of training deep feedforward neural networks.*
#   AISTATS.
# - Kaiming He, Xiangyu Zhang, Shaoqing Ren and Jian Sun (2015). *Delving deep into rectifiers: surpassing human-level
#   performance on ImageNet classification.* ICCV.
# - Kaiming He, Xiangyu Zhang, Shaoqing Ren and Jian Sun (2016). *Deep residual learning for image recognition.* CVPR.
# - Jimmy Lei Ba, Jamie Ryan Kiros and Geoffrey E. Hinton (2016). *Layer normalization.*
# - Sergey Ioffe and Christian Szegedy (2015). *Batch normalization: accelerating deep network training by reducing
#   internal covariate shift.* ICML.
# - Sheng Shen, Zhewei Yao, Amir Gholami, Michael W. Mahoney and Kurt Keutzer (2020). *PowerNorm: rethinking batch
#   normalization in Transformers.* ICML.
# - Ruibin Xiong et al. (2020). *On layer normalization in the Transformer architecture.* ICML.
# - Dan Hendrycks and Kevin Gimpel (2016). *Gaussian error linear units (GELUs).*
# - Nitish Srivastava et al. (2014). *Dropout: a simple way to prevent neural networks from overfitting.* JMLR.
