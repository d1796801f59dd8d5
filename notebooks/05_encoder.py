# %% [markdown]
# # The encoder
#
# *Attention is all you need*, says the title of the paper. Let us take it at its word. Below, MiniLM reads our sentence
# about the tired animal, and after every second layer we compare each word's vector with each other word's (cosine of
# their angle; dark blue means that the two point the same way). In the upper row the model is as it was published. In
# the lower row one plus sign has been taken out of each half of a layer, and nothing else: all attention heads and all
# weights are still there.

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

# %% mystnb={"image": {"alt": "Two rows of four heat maps, for 0, 2, 4 and 6 layers. Upper row, MiniLM as published: a dark diagonal on a pale ground that darkens by and by. Lower row, without the plus signs: after two layers most squares are dark, after four the whole map is one dark square."}, "figure": {"caption": "How alike the word vectors are, pair by pair. Above: MiniLM as it is. Below: the same weights without the residual connections. After four layers all words are one and the same vector."}}
import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F

import lectures_lib.blocks.layers
from lectures_lib.models import minilm
from lectures_lib.show import plots

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
    block = lectures_lib.blocks.layers.EncoderBlock(
        384, 12, 1536, activation="gelu", eps=1e-12
    ).eval()
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
        around.forward = lambda x, sublayer, norm=around.norm: norm(sublayer(x))
    return block


@torch.no_grad()
def run(x, blocks):
    """The vectors (n, d_model) that go in and those that come out of each block."""
    hidden = [x]
    for block in blocks:
        hidden.append(block(hidden[-1][None])[0])
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
    plots.heatmap(cosines(hidden[layer]), ax=ax, title=f"after {layer}", limit=1.0)
    if layer == 0:
        ax.set_ylabel(name)
plt.show()

# %% [markdown]
# Without the plus signs a trained model with 72 attention heads ends up saying the same thing about every word. Which of
# the two signs of a layer was it? The mean cosine of two different words after six layers:

# %%
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
# It was the one at the attention. This model, at least, which was trained with the signs, needs more than attention.
# This chapter is about the rest: what stands around attention in a layer, why each part is there, and how six such
# layers become **the encoder**, the half of the Transformer that reads.
#
# **After this chapter you can**
#
# - say what residual connections do to the signal and to the gradient, and measure both;
# - compute layer normalisation by hand, and say over which axis it and batch normalisation take their means;
# - write the feed-forward layer as a matrix product and as a convolution, and prove that they agree;
# - build the encoder block, in the order of the paper (post-norm) and in the order used today (pre-norm);
# - count a block's parameters and operations, and say when attention is the expensive part and when it is not.
#
# **Time** about 70 minutes. **You need** chapters [2](02_self_attention.ipynb), [3](03_multi_head_attention.ipynb) and
# [4](04_order.ipynb).

# %%
import math
import time

import numpy as np
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.testing import assert_close
from torch.utils.flop_counter import FlopCounterMode

from lectures_lib.blocks.attention import MultiHeadAttention, padding_mask
from lectures_lib.blocks.layers import (
    FeedForward,
    TokenEmbedding,
    initialise,
    last_norm,
)
from lectures_lib.blocks.positions import sinusoidal_positions
from lectures_lib.blocks.recording import record

# %% [markdown]
# ## Averages of averages
#
# Three words, each a single number: 0, 4 and 8. Each gives half of its attention to itself and a quarter to each of the
# others. The first becomes ½ · 0 + ¼ · 4 + ¼ · 8 = 3, the second stays at 4, the third becomes 5. And then the next
# layer does the same with 3, 4 and 5.

# %%
weights = torch.tensor([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]])
x = torch.tensor([0.0, 4.0, 8.0])
for layer in range(4):
    print(
        f"after {layer} layers:",
        x.tolist(),
        " largest minus smallest:",
        x.max().item() - x.min().item(),
    )
    x = weights @ x

# %% [markdown]
# An average lies between the numbers that it is made of. So no layer of averages can spread the words over a wider
# range, and one like this narrows it, by a factor of four each time, and after a few layers there is nothing left to
# tell apart. Projections by $W^V$ and $W^O$ move and stretch the numbers, but what was equal stays equal. For stacks of
# self-attention alone, with weights that are not too large, it has been proved that the words' vectors approach each
# other faster and faster with depth (Dong, Cordonnier and Loukas, 2021).
#
# ## A way around
#
# The remedy is to let a layer *add* to what is there, instead of replacing it. If $f$ is the layer's work,
#
# $$x \;\mapsto\; x + f(x).$$
#
# This is a **residual connection** (He et al., 2016): $f$ has to learn only the difference, the residue, and where it
# has nothing to say it can say zero. The three words again, with the plus sign:

# %%
x = torch.tensor([0.0, 4.0, 8.0])
for layer in range(4):
    print(
        f"after {layer} layers:",
        x.tolist(),
        " largest minus smallest:",
        x.max().item() - x.min().item(),
    )
    x = x + weights @ x

# %% [markdown]
# They no longer fall together. (Measured against their size, which grows too, they still draw closer, by a factor of
# 1.6 a layer instead of 4. The upper row of the opening picture darkens by and by as well.)
#
# The same sign helps in training, where the signal runs backwards. Say $f(x) = 0.5\, x$. Its derivative is 0.5, and
# through 24 such layers the chain rule multiplies 24 of them: $0.5^{24}$, a seventeen-millionth. With the way around,
# the derivative of $x + f(x)$ is $1 + 0.5$. However small the derivative of $f$ may be, there is always that 1: the
# gradient has a road on which nothing is multiplied.
#
# It is not a free gift. $1.5^{24}$ is about 17,000, and that is a problem of its own; normalisation will deal with it.
# Here are 48 untrained feed-forward layers (we shall see below what is in them), with their first numbers drawn in two
# ways: as the library does (Glorot and Bengio, 2010), and made for ReLU (He et al., 2015), which sets about half of the
# numbers to zero, so that the matrix behind it gets twice the variance. How large is the gradient that arrives at each
# depth?


# %% mystnb={"image": {"alt": "Two panels of gradient size over depth, logarithmic vertical axis. Left, Glorot: without residuals the gradient falls in a straight line from about 1 at layer 48 to 1e-12 at the input, with residuals it grows to about a thousand, with residuals and normalisation it stays within a factor of ten. Right, He: without residuals it stays near 1, with residuals it grows to more than ten million, with residuals and normalisation it again stays within a factor of ten."}, "figure": {"caption": "Size of the gradient at each depth of 48 untrained layers, started in two ways. It enters on the right of each panel, at the output, and runs to the left."}}
def for_relu(layer):
    """Start a feed-forward layer as He et al. (2015) do."""
    nn.init.normal_(layer.W_1.weight, std=math.sqrt(1 / layer.W_1.in_features))
    nn.init.normal_(layer.W_2.weight, std=math.sqrt(2 / layer.W_2.in_features))
    for linear in (layer.W_1, layer.W_2):
        nn.init.zeros_(linear.bias)


def gradients(start, residual, normalise, depth=48, d_model=64):
    """Norm of the gradient at the input of each of `depth` layers, and at the output."""
    torch.manual_seed(0)
    layers = [FeedForward(d_model, 4 * d_model) for _ in range(depth)]
    x = torch.randn(32, 1, d_model, requires_grad=True)
    xs = [x]
    for layer in layers:
        start(layer)
        f = layer(F.layer_norm(x, (d_model,)) if normalise else x)
        x = x + f if residual else f
        xs.append(x)
    loss = (x @ torch.randn(d_model)).mean()
    return [gradient.norm().item() for gradient in torch.autograd.grad(loss, xs)]


kinds = {
    "x → f(x)": (False, False),
    "x → x + f(x)": (True, False),
    "x → x + f(norm(x))": (True, True),
}
starts = {"Glorot": initialise, "He": for_relu}
figure, axes = plt.subplots(1, 2, figsize=(7.4, 3.0), sharey=True)
ratios = {}
for ax, (name, start) in zip(axes, starts.items(), strict=True):
    sizes = {kind: gradients(start, *options) for kind, options in kinds.items()}
    ratios[name] = [size[0] / size[-1] for size in sizes.values()]
    plots.curves(range(49), sizes, ax, xlabel="layer", direct_labels=False)
    ax.set(yscale="log", title=name)
axes[0].set_ylabel("size of the gradient")
axes[0].get_legend().remove()
plt.show()

# %%
print(
    f"{'size at the input ÷ size at the output':42}", *(f"{name:>9}" for name in starts)
)
for kind, row in zip(kinds, zip(*ratios.values(), strict=True), strict=True):
    print(f"{kind:42}", *(f"{ratio:9.0e}" for ratio in row))

# %% tags=["remove-cell"]
for _, residual, normalised in ratios.values():
    assert residual > 100 and 1 < normalised < 20
assert ratios["Glorot"][0] < 1e-9 and 0.1 < ratios["He"][0] < 10

# %% [markdown]
# Without a way around, everything hangs on the first numbers. With Glorot's, 48 small losses multiply, and the lower end
# hardly hears from the loss; with He's, made for just this layer, the gradient arrives. A bare sum grows with either.
# With a way around *and* a normalisation the size stays within a factor of ten both times.
#
# ## Normalisation
#
# What does "norm" do there? Take one word's vector, (1, 3, 5, 7). Its mean is 4; its deviations are −3, −1, 1, 3; the
# mean of their squares, the variance, is 5. Subtract the mean, divide by $\sqrt 5 \approx 2.24$:
#
# $$(-1.34,\; -0.45,\; 0.45,\; 1.34).$$
#
# The result has mean 0 and variance 1, whatever came in; (10, 30, 50, 70) gives the same. This is **layer
# normalisation** (Ba, Kiros and Hinton, 2016). So that the model may choose another scale and another centre for each
# dimension, two learned vectors follow, $\gamma$ (ones at the start) and $\beta$ (zeros); a tiny $\varepsilon$ saves
# the division when all numbers are equal:
#
# $$\operatorname{LayerNorm}(x) = \gamma \odot \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} + \beta.$$


# %%
def layer_norm(x, gamma, beta, eps=1e-5):
    """Each vector of x (..., d_model) brought to mean 0, variance 1; scaled, shifted."""
    mean = x.mean(dim=-1, keepdim=True)
    variance = x.var(
        dim=-1, keepdim=True, correction=0
    )  # divides by d_model, not by d_model - 1
    return gamma * (x - mean) / (variance + eps).sqrt() + beta


print(
    [f"{number:.2f}" for number in layer_norm(torch.tensor([1.0, 3.0, 5.0, 7.0]), 1, 0)]
)

x, gamma, beta = torch.randn(2, 5, 12), torch.randn(12), torch.randn(12)
assert_close(layer_norm(x, gamma, beta), F.layer_norm(x, (12,), gamma, beta))

# %% [markdown]
# ### Which axis?
#
# You may know **batch normalisation** from image networks (Ioffe and Szegedy, 2015). It uses the same formula; what
# differs is which numbers share a mean. Text comes as a block with three axes, (batch, n, d_model): sentences,
# positions, features.


# %% tags=["hide-input"] mystnb={"image": {"alt": "Three drawings of a block of 3 sentences, 4 positions and 5 features. LayerNorm: one row of five features of one word is coloured. BatchNorm: a whole slice is coloured, one feature of all words of all sentences. Mean over axis 0: three cells, one feature at one position in the three sentences."}, "figure": {"caption": "Which numbers share one mean and one variance (orange). LayerNorm looks at one word; BatchNorm looks at one feature of all words of all sentences; a mean over the first axis alone would take only the words at the same position."}}
def draw_block(ax, chosen, title):
    """A block of 3 sentences, 4 positions, 5 features, with some of its cells coloured."""
    colours = np.where(chosen, plots.ORANGE, "#DCE6EE")
    everywhere = np.ones(chosen.shape, dtype=bool)
    ax.voxels(everywhere, facecolors=colours, edgecolor="white", linewidth=0.7)
    ax.set(title=title, xticks=[], yticks=[], zticks=[])
    ax.set_xlabel("position", labelpad=-12)
    ax.set_ylabel("sentence", labelpad=-12)
    ax.set_zlabel("feature", labelpad=-12)
    ax.view_init(elev=22, azim=-50)
    ax.set_box_aspect((4, 3, 5))


one_word, one_feature, one_place = torch.zeros(3, 4, 3, 5, dtype=torch.bool)
one_word[3, 0, :] = True
one_feature[:, :, 4] = True
one_place[3, :, 4] = True

figure = plt.figure(figsize=(7.4, 3.0))
panels = {
    "LayerNorm": one_word,
    "BatchNorm": one_feature,
    "mean over axis 0": one_place,
}
for i, (title, chosen) in enumerate(panels.items()):
    draw_block(figure.add_subplot(1, 3, i + 1, projection="3d"), chosen, title)
plt.show()

# %% [markdown]
# The third panel is there because of a line one meets on slides: "BatchNorm is `X.mean(axis=0)`, LayerNorm is
# `X.mean(axis=-1)`". For a table with one row for each example that is exactly right. For a block of text it is not:
# BatchNorm has *one* mean for each feature, over all sentences and all positions. PyTorch's own shows it.

# %%
X = torch.randn(3, 4, 5)  # 3 sentences, 4 words, 5 features
per_feature = (X - X.mean(dim=(0, 1))) / (X.var(dim=(0, 1), correction=0) + 1e-5).sqrt()
batch_norm = nn.BatchNorm1d(5, affine=False)  # wants the features in the middle

assert_close(batch_norm(X.transpose(1, 2)).transpose(1, 2), per_feature)
print(
    "means over axis 0:       ",
    tuple(X.mean(dim=0).shape),
    " one for each position and feature",
)
print(
    "means of BatchNorm:      ",
    tuple(X.mean(dim=(0, 1)).shape),
    "   one for each feature",
)
print(
    "means of LayerNorm:      ",
    tuple(X.mean(dim=-1).shape),
    " one for each sentence and position",
)

# %% [markdown]
# Why did the Transformer take the first panel? Put the same sentence into two different batches.

# %%
layers = {
    "LayerNorm": nn.LayerNorm(5),
    "BatchNorm": lambda x: batch_norm(x.transpose(1, 2)).transpose(1, 2),
}
other = torch.cat(
    [X[:1], 3 + torch.randn(2, 4, 5)]
)  # the first sentence, in other company
for name, norm in layers.items():
    print(
        f"{name}: the first sentence gets the same vectors:",
        torch.allclose(norm(X)[0], norm(other)[0]),
    )

# %% [markdown]
# With BatchNorm, what a sentence means depends on its neighbours in the batch, and on how much padding they bring. A
# mean over one word needs no neighbours, works the same for a batch of one, for any length, and in training as in use.
# To be fair: outside training BatchNorm uses averages that it has collected, so the neighbours no longer matter then,
# and in image networks it does very well. In Transformers for text its batch statistics were found to fluctuate too
# much from step to step (Shen et al., 2020).
#
# ## Before or after?
#
# A residual needs a norm; but where? The paper puts it *after* the sum, on the road itself: **post-norm**. Most models
# since GPT-2 put it *before* the sublayer, on the side road: **pre-norm**.
#
# $$\text{post-norm: } \operatorname{LayerNorm}(x + f(x)) \qquad\qquad \text{pre-norm: } x + f(\operatorname{LayerNorm}(x))$$


# %% tags=["hide-input"] mystnb={"image": {"alt": "Two diagrams of an encoder block, read from bottom to top. Post-norm: a straight line with two plus signs, each followed by a LayerNorm box on the line; attention and feed-forward stand on side roads. Pre-norm: the straight line has only the plus signs; each side road has a LayerNorm box before attention or feed-forward."}, "figure": {"caption": "One encoder block, from bottom to top. Post-norm puts LayerNorm on the main road; with pre-norm the main road is free from the first block to the last."}}
def draw_order(ax, pre_norm):
    """Main road on the left, sublayers on side roads to the right."""

    def box(x, y, text, colour):
        ax.text(
            x,
            y,
            text,
            ha="center",
            va="center",
            fontsize=10,
            color="white",
            bbox={
                "boxstyle": "round,pad=0.45",
                "facecolor": colour,
                "edgecolor": "none",
            },
        )

    ax.annotate(
        "",
        (0, 11.2),
        (0, -0.2),
        arrowprops={"arrowstyle": "-|>", "color": "black", "linewidth": 1.6},
    )
    for y, (name, colour) in zip(
        (0.4, 5.6),
        {"attention": plots.BLUE, "feed-forward": plots.GREEN}.items(),
        strict=True,
    ):
        ax.plot(
            [0, 2.6, 2.6, 0], [y, y, y + 3.3, y + 3.3], color="black", linewidth=1.6
        )
        box(2.6, y + (2.35 if pre_norm else 1.65), name, colour)
        if pre_norm:
            box(2.6, y + 0.95, "LayerNorm", plots.GREY)
        else:
            box(0, y + 4.25, "LayerNorm", plots.GREY)
        ax.text(
            0,
            y + 3.3,
            "+",
            ha="center",
            va="center",
            fontsize=14,
            bbox={
                "boxstyle": "circle,pad=0.12",
                "facecolor": "white",
                "edgecolor": "black",
            },
        )
    ax.set(
        xlim=(-1.8, 4.6),
        ylim=(-0.4, 11.3),
        title="pre-norm" if pre_norm else "post-norm",
    )
    ax.set_axis_off()


figure, axes = plt.subplots(1, 2, figsize=(6.4, 4.2))
for ax, pre_norm in zip(axes, (False, True), strict=True):
    draw_order(ax, pre_norm)
plt.show()

# %% [markdown]
# It looks like a matter of taste. Let us build 24 blocks of each kind, untrained, and look at two things: how long the
# vectors are as they travel up, and how large a gradient the matrices of each block receive.


# %% mystnb={"image": {"alt": "Two panels over 24 blocks. Left, length of the vectors: post-norm stays level at 11, pre-norm rises from 14 to over 50. Right, gradient of the feed-forward's second matrix: post-norm stays level near 9, pre-norm falls from about 10 to a quarter of it."}, "figure": {"caption": "24 untrained blocks (d_model = 128). Left: length of a word's vector after each block. Right: size of the gradient at the feed-forward's second matrix."}}
def at_the_start(pre_norm, n_layers=24, d_model=128):
    """Length of the vectors after each block, and the gradient's norm at each W_2."""
    torch.manual_seed(0)
    encoder = lectures_lib.blocks.layers.Encoder(
        n_layers, d_model, 4, 4 * d_model, pre_norm=pre_norm
    )
    initialise(encoder)
    with record(encoder, "blocks.*") as seen:
        output = encoder(torch.randn(8, 16, d_model))
    (output * torch.randn(8, 16, d_model)).sum(dim=-1).mean().backward()
    lengths = [x.norm(dim=-1).mean().item() for x in seen.all("blocks.*")]
    return lengths, [
        block.feed_forward.W_2.weight.grad.norm().item() for block in encoder.blocks
    ]


measured = {"post-norm": at_the_start(False), "pre-norm": at_the_start(True)}
figure, axes = plt.subplots(1, 2, figsize=(7.4, 3.0))
for ax, part, ylabel in zip(
    axes, (0, 1), ("length of a vector", "size of the gradient"), strict=True
):
    ys = {name: both[part] for name, both in measured.items()}
    plots.curves(range(24), ys, ax, xlabel="block", ylabel=ylabel, direct_labels=False)
    ax.set(ylim=(0, None))
plt.show()

# %% tags=["remove-cell"]
(post_lengths, post_gradients), (pre_lengths, pre_gradients) = measured.values()
assert (
    max(post_lengths) - min(post_lengths) < 0.1 and pre_lengths[-1] > 3 * pre_lengths[0]
)
assert pre_gradients[-1] < pre_gradients[0] / 3
assert min(post_gradients[12:]) > 0.7 * max(post_gradients[12:])

# %% [markdown]
# With post-norm every vector leaves every block at length $\sqrt{128} \approx 11.3$: LayerNorm sees to it. With
# pre-norm nothing shortens the main road, each block adds something, and the length grows, in the later blocks roughly
# like the root of their number. So later blocks change the vectors by ever smaller proportions, and their gradients
# shrink accordingly. With post-norm the gradients stay as large in the last block as in the first.
#
# Xiong et al. (2020), who show that the last block's gradients do not shrink in deeper post-norm models either,
# blamed these large gradients for a nuisance that everyone knew: post-norm Transformers fail to train unless the
# learning rate starts tiny and is **warmed up** over the first steps; pre-norm ones can do without. Is that so here?
# We gave two and six blocks of each kind the task of chapter 4, eight digits to be written backwards: 300 steps of
# Adam at a rate of 0.001, which it has at once or reaches in the first 100 steps. Share of right digits, mean of
# three seeds:
#
# | | two blocks, at once | two, warmed up | six blocks, at once | six, warmed up |
# |---|---|---|---|---|
# | post-norm | 1.00<!-- norm_order: accuracy/blocks_2/post_norm/at_once/mean .2f --> | 1.00<!-- norm_order: accuracy/blocks_2/post_norm/warm_up/mean .2f --> | 0.32<!-- norm_order: accuracy/blocks_6/post_norm/at_once/mean .2f --> | 0.33<!-- norm_order: accuracy/blocks_6/post_norm/warm_up/mean .2f --> |
# | pre-norm | 1.00<!-- norm_order: accuracy/blocks_2/pre_norm/at_once/mean .2f --> | 1.00<!-- norm_order: accuracy/blocks_2/pre_norm/warm_up/mean .2f --> | 1.00<!-- norm_order: accuracy/blocks_6/pre_norm/at_once/mean .2f --> | 1.00<!-- norm_order: accuracy/blocks_6/pre_norm/warm_up/mean .2f --> |
#
# With two blocks everything works. With six, pre-norm does not notice a difference, and after 300 steps post-norm
# does hardly better than the blind reader of chapter 4, who could only guess, warmed up or not. It is slower, not
# lost: with twice the steps, at the same rate and without a warm-up, it learned the task too:
# 0.9998<!-- norm_order_longer: accuracy/rate_0_001/600/min .4f --> of the digits at least, from three seeds. So our small task shows the difference between the orders, but not that
# a warm-up is the remedy.
#
# (The curve of the paper's own warm-up is drawn in [chapter 8](08_training.ipynb).) Pre-norm has a small duty of its
# own: the last block's output has not been normalised by anybody, so one more LayerNorm stands at the end of the
# stack.
#
# ## Dropout
#
# In training, the paper's base model drops one in ten of the numbers that a sublayer wants to add: set to zero, at
# random, anew at every step. No single number can then be relied upon, which keeps a model from learning its examples
# by heart. The others are divided by 0.9, so that the sum stays the same on average. With one half instead of one in
# ten:

# %%
dropout = nn.Dropout(p=0.5)
print("in training:", dropout(torch.ones(8)).tolist())
print("mean of a million:", f"{dropout(torch.ones(1_000_000)).mean():.2f}")
dropout.eval()
print("in use:     ", dropout(torch.ones(8)).tolist())

# %% [markdown]
# A call of `train()` or `eval()` tells a module which of the two to do. The paper drops in two places: behind every
# sublayer, and on the sum of embeddings and positions. (Much code drops attention weights as well.)
#
# ## Feed-forward: each word by itself
#
# Attention moves information from word to word, but once the weights are fixed it only averages and multiplies by
# matrices.
# The second half of a block does the opposite: nothing moves, and every word is worked on by itself, by a network with
# one hidden layer,
#
# $$\operatorname{FFN}(x) = \max(0,\; x W_1 + b_1)\, W_2 + b_2,$$
#
# four times as wide inside as outside: $d_{\text{model}} = 512$, $d_{\text{ff}} = 2048$. What can it do that a matrix
# cannot? The smallest example is the absolute value. No matrix computes $|x|$, because a straight line has no corner.
# Two hidden units do: one for the positive part, one for the negative.

# %%
W_1, W_2 = torch.tensor([[1.0, -1.0]]), torch.tensor([[1.0], [1.0]])
x = torch.tensor([[-3.0], [-1.0], [0.0], [2.0]])
print("hidden:", (x @ W_1).relu().tolist())
print("output:", ((x @ W_1).relu() @ W_2).flatten().tolist())

# %% [markdown]
# The corner is $\max(0, x)$, called **ReLU**. BERT and ViT round it off: **GELU** is $x\,\Phi(x)$, where $\Phi(x)$ is
# the probability that a normal random number lies below $x$ (Hendrycks and Gimpel, 2016). At 1 that is 1 · 0.84, at −1
# it is −1 · 0.16.

# %% mystnb={"image": {"alt": "Two curves from minus 3 to 3. ReLU is zero up to 0 and then rises with slope 1. GELU follows it closely but dips to about minus 0.17 near minus 0.75 and has no corner."}, "figure": {"caption": "ReLU and GELU. GELU is smooth, and slightly negative just left of zero."}}
print([f"{x:.2f}" for x in F.gelu(torch.tensor([-1.0, 0.0, 1.0]))])
x = torch.linspace(-3, 3, 121)
assert_close(F.gelu(x), x * torch.distributions.Normal(0, 1).cdf(x))
plots.curves(x, {"ReLU": F.relu(x), "GELU": F.gelu(x)}, xlabel="x", direct_labels=False)
plt.show()

# %% [markdown]
# "Each word by itself" can be written in three ways that sound different: lay all words of all sentences in one long
# table and multiply; let the last dimension be multiplied and leave the others alone; or slide a window one word wide
# over the sentence, which is a **convolution with kernel 1**. They are one and the same.

# %%
feed_forward = FeedForward(d_model=8, d_ff=32)
x = torch.randn(2, 5, 8)

table = feed_forward.W_2(feed_forward.W_1(x.reshape(2 * 5, 8)).relu()).reshape(2, 5, 8)

first, second = nn.Conv1d(8, 32, kernel_size=1), nn.Conv1d(32, 8, kernel_size=1)
for convolution, linear in ((first, feed_forward.W_1), (second, feed_forward.W_2)):
    convolution.weight.data = linear.weight.data[:, :, None]  # (out, in, 1)
    convolution.bias.data = linear.bias.data
convolved = second(first(x.transpose(1, 2)).relu()).transpose(
    1, 2
)  # Conv1d wants (batch, features, n)

assert_close(feed_forward(x), table)
assert_close(feed_forward(x), convolved)

# %% [markdown]
# ## What comes in: √d_model
#
# Below the first block stand the token's vector and the position's, added. Chapter 4 showed what happens when one of
# the two is too faint to be heard. In the Transformer the danger is on the other side: the same matrix of token
# vectors is used at the output again, to compute scores (chapter 6), and for those to start at a sensible size its
# entries have, in the authors' code, variance $1/d_{\text{model}}$, which makes each token's vector about 1 long. A
# sinusoidal position has length $\sqrt{d_{\text{model}}/2}$.

# %%
embedding = TokenEmbedding(vocab_size=1000, d_model=512)
words, places = embedding.weight, sinusoidal_positions(100, 512)
print(f"length of a position {places.norm(dim=-1).mean():.1f}")
print(f"length of a word     {words.norm(dim=-1).mean():.1f},", end=" ")
print(f"times √512: {(math.sqrt(512) * words).norm(dim=-1).mean():.1f}")

# %% [markdown]
# So the paper multiplies the words by $\sqrt{d_{\text{model}}}$ when they come in, and both have about the same say. (It
# gives no reason for the factor; this is ours. Models with learned positions, like BERT, start both at the same small
# size and need none.)
#
# ## The block
#
# Now it can be put together, in the paper's order. One function, for one batch:

# %%
d_model, n_heads, d_ff = 16, 4, 64
attention = MultiHeadAttention(d_model, n_heads, bias=True)
W_1, W_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
norm_1, norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)


def block(x, mask=None):
    """One encoder block, post-norm: (batch, n, d_model) → (batch, n, d_model)."""
    x = norm_1(x + attention(x, mask=mask))  # the words look at each other
    x = norm_2(x + W_2(W_1(x).relu()))  # each word thinks by itself
    return x


x = torch.randn(2, 5, d_model)
mask = padding_mask(torch.tensor([5, 3]), n=5)
y = block(x, mask)
y.shape

# %% [markdown]
# The same shape comes out that went in, so blocks can be stacked. As classes, so that every block has layers of its own:
# the plus and the norm become a module that knows both orders and does the dropout, and the block is two of those around
# attention and feed-forward. The library holds the same text.


# %%
class Residual(nn.Module):
    """A way around a sublayer, and the normalisation that goes with it."""

    def __init__(self, d_model, dropout=0.0, pre_norm=False, eps=1e-5):
        super().__init__()
        self.norm = nn.LayerNorm(d_model, eps)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, sublayer):
        if self.pre_norm:
            return x + self.dropout(sublayer(self.norm(x)))
        return self.norm(x + self.dropout(sublayer(x)))


# %%
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
        x = self.around_self_attention(x, lambda x: self.self_attention(x, mask=mask))
        return self.around_feed_forward(x, self.feed_forward)


# %% [markdown]
# Equal to our function, and to PyTorch's?

# %%
built = EncoderBlock(d_model, n_heads, d_ff)
built.self_attention.load_state_dict(attention.state_dict())
built.feed_forward.W_1, built.feed_forward.W_2 = W_1, W_2
built.around_self_attention.norm, built.around_feed_forward.norm = norm_1, norm_2

torchs = nn.TransformerEncoderLayer(
    d_model, n_heads, d_ff, dropout=0.0, batch_first=True
)
projections = (attention.W_Q, attention.W_K, attention.W_V)
torchs.self_attn.in_proj_weight.data = torch.cat([p.weight for p in projections])
torchs.self_attn.in_proj_bias.data = torch.cat([p.bias for p in projections])
torchs.self_attn.out_proj.load_state_dict(attention.W_O.state_dict())
torchs.linear1, torchs.linear2, torchs.norm1, torchs.norm2 = W_1, W_2, norm_1, norm_2

theirs = torchs(
    x, src_key_padding_mask=~mask[:, 0, 0]
)  # torch: True = may not be attended to
for name, other in {"the function": y, "torch": theirs}.items():
    assert (built(x, mask) - other).abs().max() < 1e-5
    print(f"the class and {name}: largest difference < 1e-5")

# %% [markdown]
# ## Six of them
#
# The encoder is a stack of $N = 6$ such blocks. They are built alike, but each has **its own parameters** and can learn
# something of its own. (Behind the last block stands one more LayerNorm in the pre-norm order, and nothing in the paper's.)


# %%
class Encoder(nn.Module):
    """N encoder blocks, one on another."""

    def __init__(self, n_layers, d_model, n_heads, d_ff, final_norm=None, **options):
        super().__init__()
        self.blocks = nn.ModuleList(
            EncoderBlock(d_model, n_heads, d_ff, **options) for _ in range(n_layers)
        )
        self.norm = last_norm(d_model, final_norm, **options)

    def forward(self, x, mask=None):
        """(batch, n, d_model) → the same"""
        for block in self.blocks:
            x = block(x, mask)
        return self.norm(x)


# %%
encoder = Encoder(n_layers=6, d_model=512, n_heads=8, d_ff=2048)
first, second = encoder.blocks[:2]
print("blocks:", len(encoder.blocks))
print(
    "same weights:",
    torch.equal(first.feed_forward.W_1.weight, second.feed_forward.W_1.weight),
)
print("shape:", tuple(encoder(torch.randn(2, 7, 512)).shape))

# %% [markdown]
# ### How many parameters?
#
# Attention has four matrices $d \times d$, each with a bias. The feed-forward layer has two, $d \times d_{\text{ff}}$
# and back, with biases of $d_{\text{ff}}$ and $d$. Each LayerNorm has $\gamma$ and $\beta$:
#
# $$\underbrace{4 d^2 + 4d}_{\text{attention}} + \underbrace{2\, d\, d_{\text{ff}} + d_{\text{ff}} + d}_{\text{feed-forward}} + \underbrace{2 \cdot 2d}_{\text{two norms}}$$

# %%
d, d_ff = 512, 2048
by_hand = {
    "attention": 4 * d * d + 4 * d,
    "feed-forward": 2 * d * d_ff + d_ff + d,
    "two norms": 2 * 2 * d,
}
for name, number in by_hand.items():
    print(f"{name:13} {number:10,}")
print(f"{'block':13} {sum(by_hand.values()):10,}")

counted = sum(p.numel() for p in encoder.parameters())
assert counted == 6 * sum(by_hand.values())
print(f"{'six blocks':13} {counted:10,}")

# %% [markdown]
# Two thirds of an encoder's parameters are in its feed-forward layers. They get less attention, so to speak, than
# they deserve: with $d_{\text{ff}} = 4d$ it is $8d^2$ against $4d^2$.
#
# ## What it costs
#
# The paper compares self-attention with the two kinds of layer that were used before, for a text of $n$ words, vectors
# of width $d$ and a convolution that sees $k$ words at a time (Vaswani et al. 2017, table 1):
#
# | layer | operations | steps one after the other | longest way between two words |
# |---|---|---|---|
# | self-attention | $O(n^2 \cdot d)$ | $O(1)$ | $O(1)$ |
# | recurrent | $O(n \cdot d^2)$ | $O(n)$ | $O(n)$ |
# | convolutional | $O(k \cdot n \cdot d^2)$ | $O(1)$ | $O(\log_k n)$ |
# | self-attention, $r$ neighbours only | $O(r \cdot n \cdot d)$ | $O(1)$ | $O(n/r)$ |
#
# (The logarithm is for convolutions with growing gaps; without gaps it is $n/k$.) By the first column attention is
# cheaper than recurrence as long as $n < d$, and most sentences are that short. But the table counts the scores and
# the averages only. The projections to $Q$, $K$, $V$ and back cost $4\,n\,d^2$ more, and the feed-forward layer
# $2\,n\,d\,d_{\text{ff}}$. Does PyTorch, which can count its multiplications, agree?


# %%
def operations(n, d=512, d_ff=2048):
    """Multiplications in one block, for a text of n words."""
    return {
        "projections": 4 * n * d * d,
        "feed-forward": 2 * n * d * d_ff,
        "scores and averages": 2 * n * n * d,
    }


by_formula = sdpa_kernel(SDPBackend.MATH)  # a fused kernel is not counted everywhere
with FlopCounterMode(display=False) as counter, torch.no_grad(), by_formula:
    encoder.blocks[0](torch.randn(1, 100, 512))
multiplications = (
    counter.get_total_flops() // 2
)  # a multiplication and an addition are two operations
assert multiplications == sum(operations(100).values())
print(f"one block, 100 words: {multiplications / 1e6:.0f} million multiplications")

# %% mystnb={"image": {"alt": "Stacked area over the length of the text from 16 to 65,536 tokens. At short lengths feed-forward takes two thirds and projections one third. Scores and averages are hardly visible below 256, reach one half at 3,072 and nearly everything at 65,536."}, "figure": {"caption": "Where the multiplications of one block go (d_model = 512). Scores and averages, the part that grows with n\u00b2, reach one half at n = 6 \u00b7 512 = 3,072 (dotted)."}}
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
ax.axvline(6 * 512, color="black", linestyle=":")
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
# For a sentence the famous $n^2$ hardly matters: at 100 words it is three per cent. For long documents it takes over: at
# 1,024 tokens it is a quarter, at $n = 6d$ half, and far beyond that nearly everything. That is for multiplications. In
# memory, where the tables of weights are stored, their $h \cdot n^2$ numbers outgrow the $n \cdot d$ of the vectors from
# $n = d / h$ on, 64 here.
#
# ### And on the clock?
#
# The second column of the table is the one that made the Transformer. The words of a recurrent network have to wait for
# each other; attention and convolution do all of them at once. Operations that can run at once are cheaper than
# operations that have to queue. Here is one layer of each kind on the machine that made this page, forward and
# backward, width 256.


# %% mystnb={"image": {"alt": "Time of a GRU layer and of a convolution as a multiple of self-attention's, over text lengths from 32 to 1,024, logarithmic axes. The GRU lies above 1 throughout; the convolution lies below 1 throughout, furthest for the longest sentences."}, "figure": {"caption": "Time of one layer as a multiple of self-attention's, one sentence, forward and backward (median of 7 rounds). Above 1: slower than attention."}}
layers = {
    "GRU": nn.GRU(256, 256, batch_first=True),
    "convolution, k = 3": nn.Conv1d(256, 256, 3, padding=1),
    "attention": MultiHeadAttention(256, 4),
}


def seconds(name, n):
    """One forward and backward pass over a sentence of n words."""
    x = torch.randn(1, 256, n) if name.startswith("conv") else torch.randn(1, n, 256)
    start = time.perf_counter()
    y = layers[name](x)
    (y[0] if name == "GRU" else y).sum().backward()
    return time.perf_counter() - start


lengths, rounds = (32, 128, 512, 1024), 8
times = torch.tensor(
    [[[seconds(name, n) for name in layers] for n in lengths] for _ in range(rounds)]
)
ratios = (
    (times[1:, :, :2] / times[1:, :, 2:]).median(dim=0).values
)  # the first round warms up
ax = plots.curves(
    lengths,
    dict(zip(layers, ratios.T, strict=False)),
    xlabel="words in the sentence",
    ylabel="time ÷ attention's",
    direct_labels=False,
)
ax.axhline(1, color="black", linewidth=1, linestyle="--")
ax.set(xscale="log", yscale="log", xticks=lengths, xticklabels=lengths)
plt.show()

# %% [markdown]
# Measured with more patience on two CPU cores ([results](../book/results.md)): for one sentence of 128 words the GRU
# took 11.6<!-- parallel_time: training/batch_1/gru_over_attention/128/median .1f --> times as long as attention, at 512
# words 10.4<!-- parallel_time: training/batch_1/gru_over_attention/512/median .1f -->, and at 2,048 still 4.1<!--
# parallel_time: training/batch_1/gru_over_attention/2048/median .1f -->, although attention does three times as many
# multiplications there as the GRU. With sixteen sentences at once each step of the queue does sixteen times the work,
# and, probably for that reason, the gap shrinks: 4.2<!-- parallel_time: training/batch_16/gru_over_attention/128/median
# .1f --> at 128 words, 2.5<!-- parallel_time: training/batch_16/gru_over_attention/512/median .1f --> at 512. Queueing
# is dearer than working.
#
# In the median the convolution was faster than attention at every length we measured, for one sentence of 32 words
# hardly (0.92<!-- parallel_time: training/batch_1/convolution_over_attention/32/median .2f -->), most of all for long texts: at 512 words it took 0.39<!-- parallel_time:
# training/batch_1/convolution_over_attention/512/median .2f --> of attention's time. Its words do not wait either, and
# it never compares all $n^2$ pairs. But it sees three neighbouring words; for two words at a distance of 500, it takes a
# stack of many layers until one hears of the other. That is the table's third column, and it is why speed alone did not
# decide.
#
# ## Real input: who does the work?
#
# MiniLM's six layers are this chapter's block with GELU; the cell of the opening picture loaded them into it. There we
# can watch what each half of each layer adds to the road, compared with what is already there.

# %% mystnb={"image": {"alt": "Bars for six layers: what attention adds is 0.27 to 0.53 of the length of the vector it is added to, what feed-forward adds is 0.52 to 1.07, more than attention in every layer."}, "figure": {"caption": "Length of what each sublayer of MiniLM adds, divided by the length of what it is added to (mean over the words of our sentence)."}}
added = {"attention": [], "feed-forward": []}
with torch.no_grad():
    x = sentence.hidden[0][None]
    for i in range(6):
        layer = minilm_block(i)
        added["attention"].append(
            (layer.self_attention(x).norm(dim=-1) / x.norm(dim=-1)).mean()
        )
        x = layer.around_self_attention(x, layer.self_attention)
        added["feed-forward"].append(
            (layer.feed_forward(x).norm(dim=-1) / x.norm(dim=-1)).mean()
        )
        x = layer.around_feed_forward(x, layer.feed_forward)

assert (x[0] - sentence.hidden[-1]).abs().max() < 1e-4
figure, ax = plt.subplots(figsize=(6.4, 2.8))
for (name, values), shift, colour in zip(
    added.items(), (-0.2, 0.2), (plots.BLUE, plots.GREEN), strict=True
):
    ax.bar([i + shift for i in range(6)], values, width=0.38, label=name, color=colour)
ax.set(xlabel="layer", ylabel="added ÷ already there", xticks=range(6))
ax.legend()
plt.show()

# %% tags=["remove-cell"]
assert all(f > a for a, f in zip(*added.values(), strict=True))
assert max(added["attention"]) < 0.6 and min(added["feed-forward"]) > 0.45

# %% [markdown]
# Attention adds from a quarter to a little over half of the vector's length, feed-forward half or more, in every layer
# more than attention. So in this model, on our sentence, the larger addition is the one that is computed from each
# word's own vector, after attention has put something of the others into it. (Long is not the same as important. But
# the parameters, the operations and the additions all point the same way.)
#
# ## What goes wrong
#
# ### Normalising over the whole sentence
#
# `F.layer_norm(x, x.shape[1:])` runs too. It takes one mean over all words and features of a sentence, padding
# included. Change what stands in the padding, and the real words change:

# %%
x = torch.randn(1, 5, 8)  # three words and two of padding
other = x.clone()
other[:, 3:] = 99.0
for name, shape in {"over each word": (8,), "over the sentence": (5, 8)}.items():
    same = torch.allclose(
        F.layer_norm(x, shape)[:, :3], F.layer_norm(other, shape)[:, :3]
    )
    print(f"{name:18} the words feel the padding: {not same}")

# %% [markdown]
# All masks of the attention are in vain then. In a left-to-right model the same mistake tells every word something
# about the future. The test that finds it is the one of chapter 3: a sentence must get the same vectors alone and in a
# padded batch.
#
# ### Dropout that stays on
#
# A model fresh from training, asked twice:

# %%
model = Encoder(2, 16, 4, 64, dropout=0.1)
x = torch.randn(1, 5, 16)
print("the same answer twice:              ", torch.equal(model(x), model(x)))
model.eval()
print("the same answer twice, after eval():", torch.equal(model(x), model(x)))

# %% [markdown]
# `torch.no_grad()` does not switch it off: that is about gradients, not about dropout. A forgotten `eval()` shows as a
# score that is usually a little too low and hardly the same twice.
#
# ### One block six times
#
# `nn.ModuleList([block] * 6)` looks like a stack of six and is one block, used six times: lists of Python hold
# references. The count of parameters gives it away. And PyTorch's own `nn.TransformerEncoder(layer, 6)` does copy the
# layer it is given, *with its weights*, so that all six start out the same.

# %%
layer = nn.TransformerEncoderLayer(16, 4, 64, batch_first=True)
thrice = nn.ModuleList([layer] * 3)
copies = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)
ours = Encoder(3, 16, 4, 64)


def count(module):
    """Its parameters."""
    return sum(p.numel() for p in module.parameters())


print(
    "parameters of [layer] * 3, of torch's stack, of ours:",
    count(thrice),
    count(copies),
    count(ours),
)
print(
    "torch's layers start equal:",
    torch.equal(copies.layers[0].linear1.weight, copies.layers[1].linear1.weight),
)

# %% [markdown]
# The copies do drift apart in training, because each receives a gradient of its own. But it is not what "initialised at
# random" suggests, and the remedy costs two lines: draw the matrices anew after building the stack.
#
# ## Summary
#
# 1. Attention averages words, in MiniLM without its plus signs until they are all the same; a residual, $x + f(x)$,
#    keeps them apart and gives the gradient a road.
# 2. LayerNorm takes mean and variance over one word's features; BatchNorm over one feature of all words in the batch.
# 3. The feed-forward layer works on each word by itself, equals two convolutions with kernel 1, and holds two thirds of
#    the parameters.
# 4. Post-norm normalises the road, pre-norm the side roads; at the start their vectors and gradients scale differently.
# 5. Of a block's multiplications ($d = 512$) attention's $n^2$ is 3 % at 100 words, a quarter at 1,024, half at $6d$.
#    What makes Transformers fast is that no word waits for another.
#
# **Homework 2**, questions 3 and 4, is about this chapter: [exercises](../exercises/hw2_transformer.ipynb).
#
# **Next:** the encoder reads. [Chapter 6](06_decoder.ipynb) builds the half that writes, and joins the two.
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
