# %% [markdown]
# # Training a Transformer
#
# Chapter 6 built a Transformer, but with random weights it is of no use. The picture shows one
# learning to translate *twenty-seven, six hundred and eighty* into German. At first it says
# nothing, then number words, then wrong numbers, and at the end the right ones.
#
# **What happens between two rows of this picture?** This chapter takes training apart: the loss,
# the step, the learning rate, the batches, and the loop around them.

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

# %% tags=["hide-input"]
import math
import random
from collections import Counter
from dataclasses import replace

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.lr_scheduler import LambdaLR
from torch.testing import assert_close

from lectures_lib import data, decoding, metrics, stored, training
from lectures_lib.models.transformer import Transformer, TransformerConfig
from lectures_lib.show import plots


# %% tags=["hide-input"]
def lists(split, size, counts=(1, 2)):
    """Pairs of an English and a German list, cut into words."""
    pairs = data.load("translation", split, size=size, counts=counts)
    return [
        tuple(data.number_tokens(pair[side]) for side in ("en", "de")) for pair in pairs
    ]


train_lists = lists("train", 20_000)
WORDS = data.WordVocabulary.build(side for pair in train_lists for side in pair)


def encode(pairs):
    """Words to numbers. A target runs from its begin token to its end token."""
    return [
        (WORDS.encode(en, eos=True), WORDS.encode(de, bos=True, eos=True))
        for en, de in pairs
    ]


batches = data.Batches(encode(train_lists), data.pad_pairs, batch_size=64)
CONFIG = TransformerConfig(
    len(WORDS), d_model=64, n_heads=4, n_layers=2, d_ff=256, dropout=0.0, pre_norm=True
)
STEPS = 600
EXAMPLE = "twenty-seven, six hundred and eighty"


def new(rate=3e-3, steps=STEPS):
    """A fresh model, always the same, with its optimizer and schedule."""
    torch.manual_seed(0)
    model = Transformer(CONFIG)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate, betas=(0.9, 0.98))
    schedule = LambdaLR(optimizer, training.bert_schedule(warmup=60, total=steps))
    return model, optimizer, schedule


def translate(model, sentences):
    """German for lists of English words: the likeliest word at each step."""
    ids, lengths = data.pad([WORDS.encode(words, eos=True) for words in sentences])
    found = decoding.greedy(
        model, ids, lengths, begin=data.BOS, end=data.EOS, max_len=40
    )
    return [WORDS.decode(sentence) for sentence in found.sentences()]


spoken = {}


def listen(model):
    """Write down how the model translates the example now."""
    words = translate(model, [data.number_tokens(EXAMPLE)])[0]
    spoken[len(spoken)] = " ".join(words[:9]) + (" …" if len(words) > 9 else "")
    return {}


model, optimizer, schedule = new()
listen(model)
history = training.fit(
    model,
    batches,
    training.translation_loss,
    optimizer,
    schedule,
    steps=STEPS,
    clip=1.0,
    evaluate=listen,
    evaluate_every=40,
    progress=False,
)

# %% tags=["hide-input"] mystnb={"image": {"alt": "A falling training loss on a logarithmic axis over 600 steps. Beside it, the translation of one list at steps 0, 40, 80, 120, 160 and 600: from an empty line through number words and wrong numbers to the right answer, sieben und zwanzig comma sechs hundert achtzig."}, "figure": {"caption": "A Transformer learns to translate. Left: the loss of each step. Right: what it says for one list, after so many steps."}}
figure, (left, right) = plt.subplots(
    1, 2, figsize=(8.4, 3.2), gridspec_kw={"width_ratios": (1, 1.3)}
)
left.plot(range(1, STEPS + 1), history.losses, color=plots.BLUE, lw=0.7, alpha=0.4)
logs = torch.tensor(history.losses).log()
smooth = logs.unfold(0, 20, 1).mean(dim=1).exp()  # of 20 steps each, on this axis
left.plot(range(20, STEPS + 1), smooth, color=plots.BLUE)
asked = torch.tensor([40, 80, 120, 160, 600])  # as at the right
left.plot(asked, smooth[asked - 20], "o", color=plots.BLUE, mec=plots.PAPER)
left.set(yscale="log", xlabel="step", ylabel="loss")
right.set_axis_off()
right.text(0, 1.0, "step", weight="bold", va="center", ha="right")
right.text(0.06, 1.0, EXAMPLE, weight="bold", va="center", fontsize=9.5)
for row, index in enumerate((0, 1, 2, 3, 4, 15)):
    y = 0.85 - 0.15 * row
    right.text(0, y, str(40 * index), va="center", ha="right")
    right.text(0.06, y, spoken[index] or "(nothing)", va="center", fontsize=9.5)
plt.show()

# %% tags=["remove-cell"]
assert spoken[15] == "sieben und zwanzig , sechs hundert achtzig"
assert spoken[0] != spoken[15] and spoken[1] != spoken[15]
assert history.losses[0] > 3 and sum(history.losses[-10:]) / 10 < 0.02

# %% [markdown]
# The task is that of [chapter 1](01_bottleneck.ipynb): lists of number words, English to German,
# here of one or two numbers below 1,000. The folded cells above load them and train a small
# Transformer with `fit`, the library's loop. In the section *The loop* you write it yourself.
#
# **After this chapter you can**
#
# - compute a loss and its gradient by hand, with and without label smoothing;
# - write Adam in six lines, and say what AdamW does differently and why;
# - draw the learning rates of the Transformer and of BERT, and say why they begin small;
# - write the training loop in plain PyTorch, with its schedule and its batches;
# - estimate what a training costs before you start it;
# - explain a bug that made a well-known library train worse with little memory than with much.
#
# **Time** about 50 minutes. **You need** [chapter 6](06_decoder.ipynb).
#
# ## The loss
#
# The model has read a source and the beginning of its translation, and gives each word of the
# vocabulary a score. Say there are three words, the scores are 2, 1 and 0, and the first is right.
# The softmax makes them probabilities: 0.67, 0.24 and 0.09. The **cross-entropy** loss is minus
# the logarithm of the right word's probability: $-\ln 0.665 = 0.41$.

# %% [markdown]
# **Predict.** How should the scores change? What is the derivative of this loss with respect to the right word's
# *score*: $-1/0.665 = -1.50$, $-0.67$, or $-0.33$? And with respect to the two others?
#
# <details><summary>Answer</summary>
#
# $-0.33$, and $+0.24$ and $+0.09$: *probability minus target*, where the target is 1 for the right
# word and 0 for the others. The tempting $-1.50$ is the derivative of $-\ln p$ with respect to the
# *probability*. Between score and probability lies the softmax, whose own derivative is $p(1-p) =
# 0.22$ here, and $-1.50 \cdot 0.22 = -0.33$. (Both probabilities and targets sum to 1, so the three
# differences sum to 0.) A step goes against the gradient: the right word's score goes up, the two
# others go down.
#
# </details>

# %%
scores = torch.tensor([2.0, 1.0, 0.0], requires_grad=True)
probabilities = scores.softmax(dim=-1)
loss = -probabilities[0].log()
(gradient,) = torch.autograd.grad(loss, scores)

print("probabilities:", [f"{p:.2f}" for p in probabilities])
print(f"loss:          {loss:.2f}")
print("gradient:     ", [f"{g:+.2f}" for g in gradient])

# %% [markdown]
# The right word's score is pushed up by as much as its probability falls short of 1; every other
# word's is pushed down by the probability it got.
#
# All positions of all sentences in a batch are scored at once, because at each position the
# decoder reads the *right* words so far, not its own (teacher forcing, [chapter
# 6](06_decoder.ipynb)). What it reads starts with the begin token, what it should predict ends
# with the end token: the same words, shifted by one. Where a short sentence is filled up with
# padding there is nothing to predict, so those positions must not count.

# %%
batch = next(batches.epoch(0))
print("read:     ", *(WORDS.words[i] for i in batch.read[0]))
print("predicted:", *(WORDS.words[i] for i in batch.predicted[0]))

with torch.no_grad():
    logits = Transformer(CONFIG)(batch.source, batch.read, batch.source_lengths)
real = batch.predicted != data.PAD
# [real]: a row of scores for each real word; gather takes the right word's from each
ours = -logits.log_softmax(dim=-1)[real].gather(-1, batch.predicted[real][:, None])
torchs = F.cross_entropy(
    logits.flatten(0, 1), batch.predicted.flatten(), ignore_index=data.PAD
)
difference = (ours.mean() - torchs).abs()
print(f"{real.sum()} words; ours and torch's loss differ by {difference:.4f}")

# %% [markdown]
# ### Label smoothing
#
# This loss is never satisfied: however likely the right word, a still higher score is rewarded. The
# Transformer's paper takes some of the pressure off with **label smoothing** (section 5.4): of the
# target's 1, a share $\epsilon = 0.1$ is spread evenly over the vocabulary. By the rule of Szegedy
# et al. (2016), and PyTorch's, that is over *all* words, the right one included. For our three
# words the target becomes 0.933, 0.033 and 0.033.


# %%
def smoothed_loss(scores, right, smoothing):
    """Cross-entropy with a smoothed target. scores (vocab,), right: the right word."""
    target = torch.full_like(scores, smoothing / len(scores))
    target[right] += 1 - smoothing
    return -(target * scores.log_softmax(dim=-1)).sum()


for smoothing in (0.0, 0.1):
    loss = smoothed_loss(scores.detach(), 0, smoothing)
    theirs = F.cross_entropy(scores, torch.tensor(0), label_smoothing=smoothing)
    print(f"ε = {smoothing}: our loss {loss:.3f}, torch's {theirs:.3f}")

# %% [markdown]
# The gradient is still probability minus target, so it vanishes when the probability *is* the
# target. The model is asked to be 93 % sure, and is penalised for 99.9 %.

# %% tags=["remove-input"]
from lectures_lib.show.drawings import draw

draw("smoothed_targets")

# %% [markdown]
# **Predict.** Take a vocabulary of 1,000 words. With $\epsilon = 0.1$, what is the *lowest* loss
# that any model can reach: 0, about 0.1, or about 1?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: about 1 -->
#
# About 1. At best the model says exactly the target, 0.9001 for the right word and 0.0001 for each
# of 999 others. The loss is then the target's *entropy*, $-\sum_i t_i \ln t_i$: $-0.9001 \ln
# 0.9001 - 999 \cdot 0.0001 \ln 0.0001 = 0.09 + 0.92$. The tempting answer is 0.1, the $-\ln 0.9$
# of the right word alone. The 999 others count, and a ten-thousandth has a large logarithm.
#
# </details>

# %% tags=["hide-input"] mystnb={"image": {"alt": "Loss over the probability of the right word, for 1,000 words. Without smoothing it falls to zero at probability 1. With smoothing of 0.1 it has its lowest point near 0.9 and rises steeply towards 1."}, "figure": {"caption": "Loss over the probability of the right word, in a vocabulary of 1,000 whose other words share the rest. With label smoothing, being too sure costs."}}
vocab = 1000
right_word = torch.linspace(0.3, 0.9999, 2000, dtype=torch.float64)
others = (1 - right_word) / (vocab - 1)
lines = {}
for smoothing in (0.0, 0.1):
    on_right = 1 - smoothing + smoothing / vocab
    on_others = smoothing - smoothing / vocab
    lines[f"ε = {smoothing}"] = -(
        on_right * right_word.log() + on_others * others.log()
    )
ax = plots.curves(
    right_word,
    lines,
    xlabel="probability of the right word",
    ylabel="loss",
    direct_labels=False,
)
best = right_word[lines["ε = 0.1"].argmin()].item()
ax.axvline(best, color=plots.INK, linestyle=":")
ax.set(xlim=(0.3, 1.0), ylim=(0, None))
plt.show()

# %%
print(f"lowest loss with smoothing: {lines['ε = 0.1'].min():.3f}, at {best:.3f}")

# %% tags=["remove-cell"]
assert abs(best - 0.9001) < 0.001
ours = training.label_smoothed_cross_entropy(logits, batch.predicted, 0.1)
torchs = F.cross_entropy(
    logits.flatten(0, 1),
    batch.predicted.flatten(),
    label_smoothing=0.1,
    ignore_index=data.PAD,
)
assert_close(ours, torchs)

# %% [markdown]
# So losses with and without smoothing must not be compared. The paper says that smoothing makes
# the model less sure of the right words, yet its translations better. (To drag the probability and
# see both losses: [Mechanisms in motion](../book/motion.md#too-sure).)
#
# ## The step
#
# Plain gradient descent subtracts the gradient times a learning rate. In a Transformer gradients
# differ in size by orders of magnitude: a common word's vector gets a large one in every batch, a
# rare word's mostly a tiny one. No single rate suits both.
#
# **Adam** (Kingma and Ba, 2015) therefore measures each weight's gradient against its own usual
# size. For each weight $w$ it keeps two running means, $m$ of the gradient $g$ and $v$ of its
# square $g^2$. Both begin at 0 and so are too small at first; in step $t$, dividing them by
# $1-\beta^t$ corrects that. The step is the first mean over the root of the second, times the
# learning rate:
#
# $$m \leftarrow \beta_1 m + (1-\beta_1)\, g \qquad v \leftarrow \beta_2 v + (1-\beta_2)\, g^2 \qquad w \leftarrow w -
# \text{rate} \cdot \frac{m / (1-\beta_1^t)}{\sqrt{v / (1-\beta_2^t)} + \epsilon}$$


# %%
def adam_step(w, g, m, v, t, rate, beta_1=0.9, beta_2=0.98, epsilon=1e-9):
    """One step of Adam for weights w with gradient g; t counts from 1."""
    m = beta_1 * m + (1 - beta_1) * g
    v = beta_2 * v + (1 - beta_2) * g**2
    m_hat, v_hat = m / (1 - beta_1**t), v / (1 - beta_2**t)
    return w - rate * m_hat / (v_hat.sqrt() + epsilon), m, v


# %% [markdown]
# **Predict.** Three weights have gradients of 1000, 1 and 0.001. Both means start from 0. How far
# does the very first step move each of them, at a rate of 0.01: by 0.01 times its gradient, by
# much less than that, or by 0.01 whatever it is?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: by 0.01 whatever it is -->
#
# By 0.01, all three. After one step $m = (1-\beta_1) g$ and $v = (1-\beta_2) g^2$. The divisions by
# $1-\beta^t$ undo just that, and what remains is $g / \sqrt{g^2} = \pm 1$. One expects running
# means to soften the beginning. Here they do the opposite: **the first step moves every weight by
# the whole learning rate, whether its gradient is a thousand or a thousandth.** (Unless the
# gradient is 0, or as small as the $\epsilon$ beside it.)
#
# </details>

# %%
w = torch.zeros(3)
g = torch.tensor([1000.0, 1.0, 0.001])
after, _, _ = adam_step(w, g, torch.zeros(3), torch.zeros(3), t=1, rate=0.01)
print("steps:", [f"{step:.3f}" for step in after - w])

# %% tags=["hide-input"]
torch.manual_seed(0)
A, b = torch.randn(20, 3), torch.randn(20)
ours, m, v = torch.zeros(3), torch.zeros(3), torch.zeros(3)
theirs = nn.Parameter(torch.zeros(3))
reference = torch.optim.Adam([theirs], lr=0.01, betas=(0.9, 0.98), eps=1e-9)
for t in range(1, 51):
    ours, m, v = adam_step(ours, 2 * A.T @ (A @ ours - b), m, v, t, rate=0.01)
    reference.zero_grad()
    ((A @ theirs - b) ** 2).sum().backward()
    reference.step()
assert_close(ours, theirs.detach())
apart = (ours - theirs).abs().max()
print(f"ours and torch's Adam, 50 steps on one problem: {apart:.5f} apart")

# %% [markdown]
# ### AdamW: pull the weights, not the gradients
#
# **Weight decay** pulls every weight a little towards 0 at each step, so that none grows without
# need. One way is to add $\lambda w$ to the gradient (the gradient of a penalty
# $\tfrac{\lambda}{2} w^2$, hence the name *L2*). In plain descent the weight is then pulled by
# $\text{rate} \cdot \lambda w$. In Adam it is not, because the pull is divided by the size of the
# gradients, too. **AdamW** (Loshchilov and Hutter, 2019) leaves the gradient alone and pulls the
# weight itself.
#
# To see the decay alone, let the gradients be noise around 0. Then nothing is learned, and the
# mean of many weights moves only by decay. We take 500 weights with noise of size 10, and 500 with
# noise of size 0.1, all starting at 1.

# %% [markdown]
# **Predict.** After 1,000 steps at a rate of 0.001 with $\lambda = 0.1$, which weights have
# decayed more under L2 in Adam, the noisy or the quiet ones? And under AdamW?
#
# <details><summary>Answer</summary>
#
# Under L2 the quiet ones, by far. The noisy weights' pull is divided by a large number, and they
# hardly decay at all. Under AdamW all decay alike, whatever their gradient: each step multiplies
# by $1 - 0.001 \cdot 0.1$, and after 1,000 steps 0.905 is left.
#
# </details>

# %% tags=["atol=0.03"]
decayed, means_of = {}, {}
kinds = {"Adam, L2": torch.optim.Adam, "AdamW": torch.optim.AdamW}
for name, kind in kinds.items():
    torch.manual_seed(0)
    sizes = torch.tensor([[10.0], [0.1]])
    weights = nn.Parameter(torch.ones(2, 500))
    optimizer = kind([weights], lr=1e-3, weight_decay=0.1)
    means = []
    for _ in range(1000):
        weights.grad = sizes * torch.randn(2, 500)
        optimizer.step()
        means.append(weights.detach().mean(dim=1))
    noisy, quiet = means_of[name] = torch.stack(means).T
    decayed[name] = noisy[-1].item(), quiet[-1].item()
    print(
        f"{name:8}: of the noisy {noisy[-1]:.2f} is left, of the quiet {quiet[-1]:.2f}"
    )

# %% tags=["hide-input"] mystnb={"image": {"alt": "Mean of 500 weights over 1,000 steps. With L2 in Adam, the weights with large noise hardly fall, and those with small noise to less than half. With AdamW both fall along the same line."}, "figure": {"caption": "Weight decay over 1,000 steps, mean of 500 weights that start at 1. Left: as a penalty in Adam's gradient. Right: AdamW."}}
figure, axes = plt.subplots(1, 2, figsize=(7.6, 2.8), sharey=True)
for ax, (name, (noisy, quiet)) in zip(axes, means_of.items(), strict=True):
    curves = {"noise 10": noisy, "noise 0.1": quiet}
    plots.curves(range(1000), curves, ax=ax, xlabel="step", direct_labels=False)
    ax.set(title=name, ylim=(0, 1.05))
axes[0].set_ylabel("mean weight")
plt.show()

# %% tags=["remove-cell"]
large, small = decayed["Adam, L2"]
assert large > 0.96 and small < 0.6
assert all(abs(mean - (1 - 1e-4) ** 1000) < 0.03 for mean in decayed["AdamW"])

# %% [markdown]
# The Transformer of 2017 had no weight decay. BERT has, and its authors' optimizer decays as AdamW
# does.
#
# ### Warm-up
#
# Adam's first step is as long as the learning rate, whatever the gradient, and the next ones can be
# as long. Yet its means rest on only a batch or two: in the very first step even a weight that got nothing but noise moves the
# full length. So the rate should be small at first. (Post-norm, the paper's order, is said to need
# this more than pre-norm: [chapter 5](05_encoder.ipynb#before-or-after).) The paper's schedule
# rises in a straight line for 4,000 steps and then falls as one over the root of the step:
#
# $$\text{rate} = d_{\text{model}}^{-0.5} \cdot \min\big(\text{step}^{-0.5},\ \text{step} \cdot
# \text{warmup}^{-1.5}\big)$$
#
# The two terms meet where the step equals the warm-up. There the rate is highest: for the base
# model, $1 / \sqrt{512 \cdot 4000} = 0.0007$. BERT, a year later, used straight lines only: up
# during the warm-up, then down to zero. So did our run at the top, with 60 steps of warm-up. The function gives a share of the highest rate, as PyTorch's `LambdaLR` wants it. (At step 0 it is 0: the first batch moves nothing, and only starts Adam's means.)


# %%
def bert_schedule(warmup, total):
    """A function of the steps made before: up from 0 to 1, then down to 0."""

    def rate(steps_before):
        if steps_before < warmup:
            return steps_before / warmup
        return max(0.0, (total - steps_before) / (total - warmup))

    return rate


rate = bert_schedule(warmup=60, total=600)
print(*(f"step {step}: {rate(step):.2f}" for step in (0, 30, 60, 330, 600)), sep=", ")

# %% tags=["hide-input"] mystnb={"image": {"alt": "Two learning-rate curves. Left, the Transformer's: a straight rise to 0.0007 at step 4,000, then a slow fall; for d_model 1,024 the same shape, divided by the root of two. Right, BERT's: a rise to 0.0001 in 10,000 steps, then a straight fall to zero at step 1,000,000."}, "figure": {"caption": "The learning rates of the two papers."}}
figure, (left, right) = plt.subplots(1, 2, figsize=(8.0, 2.8))
steps = range(0, 40_000, 50)
for d_model in (512, 1024):
    schedule = training.transformer_schedule(d_model, warmup=4000)
    left.plot(steps, [schedule(s) for s in steps], label=f"d_model = {d_model}")
left.set(xlabel="step", ylabel="learning rate", title="Transformer")
left.legend()
schedule = training.bert_schedule(warmup=10_000, total=1_000_000)
steps = range(0, 1_000_001, 1000)
right.plot(steps, [1e-4 * schedule(s) for s in steps])
right.set(xlabel="step", title="BERT")
right.xaxis.set_major_formatter("{x:,.0f}")
right.set_xticks([0, 500_000, 1_000_000])
plt.show()

# %% tags=["remove-cell"]
rate = training.transformer_schedule(512, warmup=4000)
rates = [rate(step) for step in range(100_000)]
highest = max(rates)
# LambdaLR counts steps from 0, the paper from 1
assert rates.index(highest) + 1 == 4000
assert abs(highest - (512 * 4000) ** -0.5) < 1e-9
ours, theirs = bert_schedule(60, 600), training.bert_schedule(60, 600)
assert all(ours(step) == theirs(step) for step in range(700))

# %% [markdown]
# Does it matter? In chapter 5's small experiment, at a rate of 0.001, it did not. Here is a harder
# case: the translator of this page in post-norm, the paper's order, in batches of 32 and at a rate
# of 0.01, three times that of the run at the top.

# %% [markdown]
# **Predict.** One run starts at once with the full rate, the other rises to it in 30 steps. A
# model that knows only how frequent each word is would have a loss of 2.83. Which run is ahead in
# the first ten steps? And after 60?
#
# <details><summary>Answer</summary>
#
# In the first ten the run *without* warm-up, since its steps are long. But after 60 it is still at
# 2.8 or 2.9, no better than a model that knows only frequencies. Give it the source of another
# list, and its loss is the same: it does not look at the source. The run with warm-up does. (With
# four other seeds, too, another list's source costs 0.00<!-- other_seeds:
# chapter_8/at_once_looks/max .2f --> without warm-up, 0.35<!-- other_seeds:
# chapter_8/risen_looks/min .2f --> or more with it. Without warm-up one of the four gets down to
# 2.6<!-- other_seeds: chapter_8/at_once_late/min .1f -->, but not by looking at the source.)
#
# </details>


# %% tags=["nbval-ignore-output"]
def begin(warmup, steps=60):
    """A fresh model in post-norm after its first steps, and their losses."""
    torch.manual_seed(0)
    model = Transformer(replace(CONFIG, pre_norm=False))
    few = data.Batches(encoded, data.pad_pairs, batch_size=32)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, betas=(0.9, 0.98))
    schedule = LambdaLR(optimizer, bert_schedule(warmup, total=600))
    loss, options = training.translation_loss, {"clip": 1.0, "progress": False}
    return model, training.fit(
        model, few, loss, optimizer, schedule, steps=steps, **options
    ).losses


encoded = encode(train_lists)
own = encoded[:200]
others = [(other[0], pair[1]) for other, pair in zip(encoded[1:201], own, strict=True)]
counts = Counter(word for _, german in encoded for word in german[1:])
frequencies = torch.tensor(list(counts.values())) / counts.total()
print(f"knows only frequencies: {-(frequencies * frequencies.log()).sum():.2f}")
runs = {}
for warmup in (0, 30):
    begun, losses = begin(warmup)
    with torch.no_grad():
        right, wrong = (
            training.translation_loss(begun.eval(), data.pad_pairs(pairs))
            for pairs in (own, others)
        )
    early, late = sum(losses[:10]) / 10, sum(losses[-10:]) / 10
    runs[warmup] = early, late, wrong - right
    print(f"warm-up {warmup}: steps 1-10 {early:.2f}, 51-60 {late:.2f}")
    print(f"  then with the right sources {right:.2f}, with others' {wrong:.2f}")

# %% tags=["remove-cell"]
assert abs(-(frequencies * frequencies.log()).sum() - 2.83) < 0.005
at_once, risen = runs[0], runs[30]
assert at_once[0] + 0.1 < risen[0] and risen[1] < 2.2 and 2.7 < at_once[1] < 3.0
assert abs(at_once[2]) < 0.03 and risen[2] > 0.05

# %% [markdown]
# **Try it**: how short may the warm-up be? Put 3 and 10 into the loop.
#
# ### Clipping
#
# Now and then the gradient of a batch, all weights' gradients taken as one long vector, is far
# longer than all others. **Clipping** shortens it and keeps its direction: (3, 4) has length 5,
# and clipped to 1 it is (0.6, 0.8). But Adam divides by the gradient's size. Does it not take care
# of this by itself?

# %% [markdown]
# **Predict.** A weight's gradient is −1 in every step, and at a rate of 0.01 Adam moves it by 0.01
# a step. Once, in step 101, the gradient is 1000. How far does the weight come in the 100 steps
# that begin there: 1.00, about 0.98, or hardly anywhere?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: hardly anywhere -->
#
# Hardly anywhere; in the end it stands even a little further back. $m$ points the wrong way for
# dozens of steps. And $v$ has got $0.02 \cdot 1000^2 = 20{,}000$, of which each step leaves 98 %:
# after 100 steps Adam still divides by about 50, where it used to divide by 1. Clipped to a length
# of 1, the gradient shortens a few steps and turns none back: 0.98.
#
# </details>

# %%
for longest in (math.inf, 1.0):
    w, m, v = torch.zeros(3, dtype=torch.float64)
    path = []
    for t in range(1, 601):
        g = torch.tensor(1000.0 if t == 101 else -1.0, dtype=torch.float64)
        g = g.clamp(-longest, longest)  # of one number the length is its size
        w, m, v = adam_step(w, g, m, v, t, rate=0.01)
        path.append(w.item())
    gone = [path[end - 1] - path[99] for end in (110, 200, 400, 600)]
    print(f"clipped at {longest}:" if longest < 9 else "not clipped:   ", end=" ")
    print("in 10, 100, 300, 500 steps", *(f"{way:+.2f}" for way in gone))

# %% [markdown]
# How long were the gradients in the run at the top, before `clip=1.0` shortened them? At first
# most are clipped, later only a few outliers.

# %% tags=["nbval-ignore-output"]
norms = torch.tensor(history.gradient_norms)
for start in (0, 100, 300, 500):
    part = norms[start : start + 100]
    print(
        f"steps {start + 1:3} to {start + 100}: median {part.median():.2f}, longest "
        f"{part.max():5.2f}, {(part > 1).sum():3} of 100 clipped"
    )

# %% tags=["remove-cell"]
assert (norms[:100] > 1).sum() > 60 and (norms[500:] > 1).sum() < 20
assert gone[1] > 0.97  # the clipped one, the last

# %% [markdown]
# ## The batches
#
# A tensor is a rectangle, sentences are not. So `data.pad_pairs` fills up the short ones: `sieben
# </s> <pad> <pad>` beside `ein hundert fünfzig </s>`. A mask made from `source_lengths` ([chapter
# 3](03_multi_head_attention.ipynb#sentences-of-different-lengths)) keeps attention from a source's padding. A target's stands behind its words, where the causal mask hides it, and the loss leaves it out. What is computed for padding is thrown away. So sentences of similar length should share a batch: shuffle, sort by length, cut
# into batches, and shuffle the batches.


# %%
def cut_by_length(examples, size, rng):
    """Which examples make up each batch: equally long ones, else by chance."""
    rows = list(range(len(examples)))
    rng.shuffle(rows)
    rows.sort(key=lambda i: (len(examples[i][1]), len(examples[i][0])))
    cut = [rows[start : start + size] for start in range(0, len(rows), size)]
    rng.shuffle(cut)
    return cut


# %% [markdown]
# **Predict.** Lists of one to four numbers have 3 to 25 tokens in German, with begin and end. In batches of 48 lists as
# they come, what share of the target tokens is padding: about 10 %, about 25 %, or more than 40 %?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: more than 40 % -->
#
# More than 40 %, and about 1 % in batches by length. A batch is as wide as its *longest* row, not its average one, and
# among 48 lists there is nearly always one that is nearly as long as they get.
#
# </details>

# %%
varied = data.load("translation", counts=(1, 2, 3, 4), size=4000)
examples = encode(
    [tuple(data.number_tokens(p[side]) for side in ("en", "de")) for p in varied]
)
as_they_come = [list(range(i, min(i + 48, 4000))) for i in range(0, 4000, 48)]
ways = {
    "as they come": as_they_come,
    "by length": cut_by_length(examples, 48, random.Random(0)),
}
for name, plan in ways.items():
    lengths = [[len(examples[i][1]) for i in rows] for rows in plan]
    cells = sum(len(row) * max(row) for row in lengths)
    print(f"{name:12}: {100 * (1 - sum(map(sum, lengths)) / cells):4.1f} % padding")

# %% tags=["remove-input"]
draw("batches_by_length")

# %% tags=["remove-cell"]
assert (
    min(len(e[1]) for e in examples) - 1 == 2
    and max(len(e[1]) for e in examples) - 1 == 24
)
library = data.Batches(examples, data.pad_pairs, batch_size=48)
assert cut_by_length(examples, 48, random.Random("seed 0, epoch 0")) == library.plan(0)
plan = batches.plan(0) + batches.plan(1)
lengths = [len(batches.examples[rows[0]][1]) for rows in plan][:STEPS]
late = list(zip(lengths, history.losses, strict=True))[200:]
rare = [loss for n, loss in late if lengths.count(n) < 60]
common = [loss for n, loss in late if lengths.count(n) >= 60]
assert len(rare) < len(common) / 4
assert sum(rare) / len(rare) > 2 * sum(common) / len(common)

# %% [markdown]
# The library's `Batches` cuts like this, anew in every **epoch** (pass through the data). It can
# also give each batch a budget of *tokens* instead of sentences, as the paper did (exercise 3).
#
# The batches must be shuffled: in order of length, every epoch would end with long sentences, and
# the model might forget the short ones. And sorting may have a price: in the run at the top, after
# step 200, batches of rare lengths had on average over twice the others' loss. Some of the spikes in its loss are such batches.
#
# Still, it pays: on real captions, training by length got through 1.9<!-- real_lengths:
# ours_by_length_over/ours_as_they_come/median .1f --> times as many real tokens in the same time.
#
# ## The loop
#
# Now we have all the parts. The picture shows one step of a model with just three weights: the
# scores 2, 1 and 0 of *The loss*.

# %% tags=["remove-input"]
draw("training_step")

# %% [markdown]
# In plain PyTorch, for any model (`data.pad_pairs` pads, and shifts by one):


# %%
def train(model, examples, steps, size=64, rate=3e-3, warmup=60, total=600):
    """The loss of each step: batches, gradients, steps and schedule."""
    optimizer = torch.optim.Adam(model.parameters(), lr=rate, betas=(0.9, 0.98))
    schedule = LambdaLR(optimizer, bert_schedule(warmup, total))
    losses = []
    for epoch in range(1000):
        for rows in cut_by_length(
            examples, size, random.Random(f"seed 0, epoch {epoch}")
        ):
            if len(losses) == steps:
                return losses
            batch = data.pad_pairs([examples[i] for i in rows])
            logits = model(batch.source, batch.read, batch.source_lengths)
            loss = F.cross_entropy(
                logits.flatten(0, 1), batch.predicted.flatten(), ignore_index=data.PAD
            )
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
            optimizer.step()
            schedule.step()  # sets the rate of the next step
            losses.append(loss.item())


# %% tags=["rtol=0.05"]
torch.manual_seed(0)
plain = Transformer(CONFIG)
losses = train(plain, encoded, steps=100)
for step in (1, 10, 30):
    both = losses[step - 1], history.losses[step - 1]
    print("step {}: our loss {:.3f}, that of fit {:.3f}".format(step, *both))

# %% tags=["nbval-ignore-output"]
print(EXAMPLE, "→", *translate(plain.eval(), [data.number_tokens(EXAMPLE)])[0])

# %% tags=["remove-cell"]
ours, theirs = torch.tensor(losses[:30]), torch.tensor(history.losses[:30])
assert_close(ours, theirs, rtol=1e-3, atol=1e-3)

# %% [markdown]
# Your schedule, your batches, your loop, and the losses printed are those of the model at the top.
# After 100 steps, a sixth of the way, the model writes numbers, not always the right ones.
#
# The training loss alone cannot tell learning from learning by heart. So every few hundred steps
# one also measures the loss on lists that are never trained on, and keeps the weights for which it
# was lowest ([chapter 10](10_language_model.ipynb#and-a-larger-one) shows a run that needed it).
#
# The library's `fit` is the same loop. It also writes **checkpoints**, so that an interrupted run
# can go on. A checkpoint must hold everything that decides the next step: weights, Adam's means,
# the schedule's step, the place in the data, the random generators. Without Adam's means, the
# first step after the interruption would be like a very first step, as long as the rate allows.
#
# <details><summary>What else the library's loop adds</summary>
#
# Much of it comes from Hugging Face's [accelerate](https://huggingface.co/docs/accelerate):
#
# | our loop | in `fit` | what it adds |
# |---|---|---|
# | the model and the batch are where they are | `accelerator.prepare` | a GPU is used if there is one, or several; half precision: most matrix products on numbers of 16 bits, the weights in 32 |
# | one batch a step | `accumulate` | a batch that does not fit into memory, in portions |
# | NaN goes unnoticed | `FloatingPointError` | a loss that is not a number stops the run, before the step that would spoil every weight |
#
# </details>
#
# **Why the weights stay in 32 bits.** `fit` can compute most matrix products on numbers of 16
# bits. But the 16-bit format *bfloat16* has only three decimal digits at best. A small step of a
# weight would be lost in it entirely:

# %%
weight = torch.tensor(1.0)
print(f"1 + 0.001 in 32 bits: {weight + 0.001:.4f}")
print(f"1 + 0.001 in bfloat16: {weight.bfloat16() + 0.001:.4f}")

# %% [markdown]
# ## What did it cost?
#
# As a rule of thumb, training takes 6 floating-point operations for each token and each parameter
# that the token meets. Two go forward, a multiplication and an addition; four go backward, for the
# gradient of the weight and the gradient of its input. The paper's base model was trained for
# 100,000 steps of 0.4 seconds on eight GPUs, with some 25,000 source and as many target tokens a
# step.

# %%
with torch.device("meta"):  # shapes only, no memory
    base = Transformer(TransformerConfig.BASE)
met = [*base.encoder.parameters(), *base.decoder.parameters(), base.embedding.weight]
needed = 6 * 25_000 * 100_000 * sum(p.numel() for p in met)
print(f"{100_000 * 0.4 / 3600:.1f} hours, {needed:.1e} operations for the model,")
print(f"{100 * needed / 3.3e18:.0f} % of the 3.3e18 that the paper gives")

# %% [markdown]
# So a bit over a quarter of the operations that the paper counts went into the model. Where the
# rest went is not on record: memory traffic, waiting and padding, most likely.
#
# <details><summary>Why 25,000 stands there once, and what the paper counts</summary>
#
# Source tokens meet the encoder, target tokens the decoder and the output matrix, which is the
# embedding's: each parameter meets 25,000 tokens a step. (The scores of attention add little at
# such lengths.) The paper's 3.3 · 10¹⁸ is time times what the GPUs were taken to achieve: [the
# next page recomputes it](08b_judging.ipynb#what-the-paper-reported).
#
# </details>
#
# ## What more of the same gives
#
# The model at the top took 600 steps, less than half a minute of one core. The library has another
# that took 7<!-- number_words: more_lists/minutes/mean .0f --> minutes: 12,000 steps, on lists of
# one to *four* numbers instead of one or two.

# %% [markdown]
# **Predict.** The model that was trained longer gets nearly all unseen lists of three and of four
# numbers right. And of *five*, which are longer than any that it was trained on: nearly all, about
# half, or few?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: few -->
#
# Few: of 500 lists 3 %<!-- number_words: more_lists/right/5/mean .0f -->, and of six numbers
# hardly any. It is tempting to think that whoever can say four numbers one after the other can say
# a fifth. But no list in the training had more than 23 words, so nothing was learned about the
# positions behind them, and after the fourth number the list always ended. So the model mostly
# ends there too, and its fourth number is then often made of the last two.
#
# </details>


# %% tags=["atol=0.08"]
def share_right(model, count):
    """Of 100 unseen lists of so many numbers, those without a mistake."""
    english, german = zip(*lists("test", 100, counts=(count,)), strict=True)
    return metrics.exact_match(translate(model, english), german)


longer, words = stored.number_words()
for count in range(1, 6):
    short, long = (share_right(one, count) for one in (model, longer))
    print(f"lists of {count}: {short:.2f} after 600 steps, {long:.2f} after 12,000")

# %% [markdown]
# Did the steps help, or the lists? After 12,000 steps on lists of one or two numbers
# (`experiments/number_words.py`), 100 %<!-- number_words: more_steps/right/2/mean .0f --> of the
# lists of two are right, and still 0 %<!-- number_words: more_steps/right/3/mean .0f --> of the
# lists of three. More steps make a model better at what it was trained on; the data decide what
# that is.
#
# Your own list, with both models (in your browser: [Type your own](../book/your_own/writing.md), the first
# figure, set to *Numbers*):

# %% tags=["nbval-ignore-output"]
mine = "three, seventeen, one hundred and two"
for steps, either in {600: model, 12_000: longer}.items():
    print(f"{steps:6,} steps:", *translate(either, [data.number_tokens(mine)])[0])

# %% tags=["remove-cell"]
assert words.words == WORDS.words
said = translate(longer, [data.number_tokens("three, seventeen, one hundred and two")])
assert " ".join(said[0]) == "drei , siebzehn , ein hundert zwei"
assert share_right(longer, 4) > 0.97 and share_right(longer, 6) < 0.2

# %% [markdown]
# ## What goes wrong
#
# ### The mean of means
#
# A batch is too large for the memory, so it is computed in two portions whose gradients are added
# up (*gradient accumulation*). Each portion's loss is the mean over its own tokens, and the two
# are averaged. Hugging Face's `transformers` did this: it was [reported in July
# 2023](https://github.com/huggingface/transformers/issues/24725) and
# [mended](https://github.com/huggingface/transformers/pull/34191) in October 2024, when training
# in small portions turned out to be worse than in large batches.

# %% [markdown]
# **Predict.** One portion holds a list, 12 target tokens, the other a single number, 2 target
# tokens. In the mean of the two means, how much does a token of the short portion count, against a
# token of the long one: as much, twice as much, or six times as much?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: six times as much -->
#
# Six times as much: $\tfrac12 \cdot \tfrac12$ against $\tfrac12 \cdot \tfrac1{12}$. A mean of
# means looks harmless, and with portions of equal size it is. With unequal ones the result depends
# on how a batch was *cut*, until each portion is weighted by its tokens, as in the cell below.
#
# </details>

# %% tags=["atol=0.02"]
by_length = sorted(encode(train_lists), key=lambda pair: len(pair[1]))
long_and_short = [by_length[-1], by_length[0]]


def gradient(loss_of, portions):
    """Summed over a batch's portions; at the output bias, as any weight would do."""
    model, _, _ = new()
    for portion in portions:
        loss_of(model, data.pad_pairs(portion)).backward()
    return model.output_bias.grad


def naive(model, batch):
    """A portion's mean, as one of two."""
    return training.translation_loss(model, batch) / 2


def weighted(model, batch):
    """A portion's mean, by its share of the tokens."""
    return training.translation_loss(model, batch) * batch.n_targets / n_all


n_all = data.pad_pairs(long_and_short).n_targets
whole = gradient(training.translation_loss, [long_and_short])
portions = [[pair] for pair in long_and_short]
for n in (data.pad_pairs(portion).n_targets for portion in portions):
    print(f"{n:2} tokens: each counts {1 / (2 * n):.3f} in the mean of means")
off = {way: gradient(way, portions) - whole for way in (naive, weighted)}
for way, difference in off.items():
    print(
        f"{way.__name__:8}: off by {difference.norm() / whole.norm():.2f} of its length"
    )

# %% tags=["remove-cell"]
assert off[naive].norm() > whole.norm() / 2
assert [data.pad_pairs(portion).n_targets for portion in portions] == [12, 2]
assert_close(off[weighted], torch.zeros_like(whole))

# %% [markdown]
# In the mean of means, two of fourteen tokens have half of the weight. `fit` weights portions by
# their tokens, across processes as well.
#
# ## Exercises
#
# Ungraded; a solution is folded below each.
#
# **1. How far does one gradient go?** A weight gets the gradient 1 in the first step and 0 in all
# others. How far does plain descent move it in 100 steps, at a rate of 0.01, and how far does
# `adam_step`? What do you change to make it stop sooner?

# %% tags=["hide-cell"]
# Solution 1
for beta_1 in (0.9, 0.5, 0.0):
    w, m, v = torch.zeros(3, dtype=torch.float64)
    for t in range(1, 101):
        g = torch.tensor(float(t == 1), dtype=torch.float64)
        w, m, v = adam_step(w, g, m, v, t, rate=0.01, beta_1=beta_1)
    print(f"beta_1 = {beta_1}: Adam {w:.4f}, plain descent -0.0100")
# Adam's memory of the gradient: with 0.9 it drifts on, to more than six times the rate.

# %% [markdown]
# **2. The gradient of a smoothed loss.** Show with `torch.autograd.grad` that the gradient of `smoothed_loss` with
# respect to the scores is probability minus smoothed target, for the scores 2, 1 and 0. Then find the score that the
# right word should have for the gradient to vanish, the other two being 0.
#
# *Hint:* the ratio of two probabilities is $e^{\text{difference of their scores}}$.

# %% tags=["hide-cell"]
# Solution 2
scores = torch.tensor([2.0, 1.0, 0.0], requires_grad=True)
target = torch.tensor([0.9 + 0.1 / 3, 0.1 / 3, 0.1 / 3])
(gradient_,) = torch.autograd.grad(smoothed_loss(scores, 0, 0.1), scores)
print("autograd:            ", [f"{g:+.3f}" for g in gradient_])
print("probability - target:", [f"{g:+.3f}" for g in scores.softmax(dim=-1) - target])
best_score = math.log(target[0] / target[1])
scores = torch.tensor([best_score, 0.0, 0.0], requires_grad=True)
(gradient_,) = torch.autograd.grad(smoothed_loss(scores, 0, 0.1), scores)
print(f"at {best_score:.3f}: largest gradient {gradient_.abs().max():.4f}")

# %% [markdown]
# **3. A budget of tokens.** Change `cut_by_length` so that a batch holds as many examples as fit into `max_tokens`
# target tokens, padding counted. With a budget of 480, how many batches of how many lists do you get, and how much
# padding?


# %% tags=["hide-cell"]
# Solution 3
def cut_by_tokens(examples, max_tokens, rng):
    """Batches by length, at most max_tokens target tokens with padding."""
    rows = list(range(len(examples)))
    rng.shuffle(rows)
    rows.sort(key=lambda i: len(examples[i][1]))
    cut = [[]]
    for i in rows:  # the longest so far is the newest, since they are sorted
        if (len(cut[-1]) + 1) * len(examples[i][1]) > max_tokens:
            cut.append([])
        cut[-1].append(i)
    rng.shuffle(cut)
    return cut


plan = cut_by_tokens(examples, 480, random.Random(0))
lengths = [[len(examples[i][1]) for i in rows] for rows in plan]
cells = [len(row) * max(row) for row in lengths]
print(f"{len(plan)} batches of {min(map(len, plan))} to {max(map(len, plan))} lists,")
print(
    f"at most {max(cells)} tokens, "
    f"{100 * (1 - sum(map(sum, lengths)) / sum(cells)):.1f} % padding"
)

# %% [markdown]
# **4. Accumulate.** Take the gradient of 64 lists in two portions of 32, each weighted by its number of target tokens,
# and compare it with that of the 64 together. Where in `train` would `zero_grad` and `step` stand?

# %% tags=["hide-cell"]
# Solution 4
pairs = encode(train_lists[:64])
model_64, _, _ = new()
training.translation_loss(model_64, data.pad_pairs(pairs)).backward()

accumulated, _, _ = new()
portions = [data.pad_pairs(pairs[:32]), data.pad_pairs(pairs[32:])]
n_all = sum(portion.n_targets for portion in portions)
for portion in portions:  # .backward() adds to the gradients that are there
    loss = training.translation_loss(accumulated, portion)
    (loss * portion.n_targets / n_all).backward()
together = zip(model_64.parameters(), accumulated.parameters(), strict=True)
difference = max((a.grad - b.grad).abs().max().item() for a, b in together)
print(f"target tokens: {[portion.n_targets for portion in portions]}")
print(f"largest difference of a gradient: {difference:.4f}")
# zero_grad() and step() then come once for every two batches.

# %% [markdown]
# ## Summary
#
# 1. The gradient of cross-entropy is probability minus target; label smoothing spreads a little of
#    the target over all words.
# 2. Adam's first step is as long as the learning rate, whatever the gradient: start small
#    (warm-up). AdamW decays the weights themselves, so that all decay alike.
# 3. Sort by length before cutting batches; count tokens, not sentences; weight means by their
#    number of tokens.
# 4. A checkpoint must hold *everything* that decides the next step.
# 5. Training takes about six operations for each parameter and each token that meets it.
#
# **Homework:** [Homework 3](../exercises/hw3_training_and_generating.ipynb) has you smooth labels,
# warm up a learning rate and train a small model.
#
# **Next:** the loss has become small. Are the translations good? [Judging a
# translator](08b_judging.ipynb).
#
# ## References
#
# - Ashish Vaswani et al. (2017). *Attention is all you need.* NeurIPS. Sections 5.1 to 5.4.
# - Diederik P. Kingma and Jimmy Ba (2015). *Adam: a method for stochastic optimization.* ICLR.
# - Ilya Loshchilov and Frank Hutter (2019). *Decoupled weight decay regularization.* ICLR. AdamW.
# - Christian Szegedy et al. (2016). *Rethinking the Inception architecture for computer vision.*
#   CVPR. Section 7: label smoothing.
