# %% [markdown]
# # Training a Transformer
#
# Chapter 6 built a Transformer, and with random weights it is of no use. The picture shows one that is being trained to
# translate *twenty-seven, six hundred and eighty* into German. At first it says nothing; then it says words that numbers
# are made of; then numbers, but others; and at the end it is right.
#
# What happens between two rows of this picture is the subject of the chapter: the loss, the step, the learning rate,
# the batches, the loop around them, and how to tell afterwards whether the result is any good.

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

# %%
import math
import tempfile
from copy import deepcopy
from pathlib import Path

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.lr_scheduler import LambdaLR
from torch.testing import assert_close

from lectures_lib import data, decoding, metrics, training
from lectures_lib.blocks.recording import record
from lectures_lib.models.transformer import Transformer, TransformerConfig
from lectures_lib.show import plots, source

# %% [markdown]
# The task is that of [chapter 1](01_bottleneck.ipynb): lists of number words, English to German, here of one or two
# numbers below 1,000. This cell trains a small Transformer on it. Read past it for now; loss, step, schedule and loop are
# the subject of this chapter, and `greedy` is that of [chapter 9](09_generating.ipynb).


# %%
def lists(split, **options):
    """Pairs of an English and a German list, cut into words."""
    pairs = data.load("translation", split, counts=(1, 2), **options)
    return [
        tuple(data.number_tokens(pair[side]) for side in ("en", "de")) for pair in pairs
    ]


train_lists = lists("train", size=20_000)
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
        model, ids, lengths, begin=data.BOS, end=data.EOS, max_len=20
    )
    return [WORDS.decode(sentence) for sentence in found.sentences()]


spoken, copies = {}, []


def listen(model):
    """Write down how the model translates the example now."""
    words = translate(model, [data.number_tokens(EXAMPLE)])[0]
    if len(spoken) == 2:  # after 80 steps: kept for the end of the chapter
        copies.append(deepcopy(model))
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

# %% tags=["hide-input"] mystnb={"image": {"alt": "A falling training loss on a logarithmic axis over 600 steps. Beside it, the translation of one list at steps 0, 40, 80, 120, 160 and 600: from nonsense through lists of wrong numbers to the right answer, sieben und zwanzig comma sechs hundert achtzig."}, "figure": {"caption": "A Transformer learns to translate. Left: the loss of each step. Right: what it says for one list, after so many steps."}}
figure, (left, right) = plt.subplots(
    1, 2, figsize=(8.4, 3.2), gridspec_kw={"width_ratios": (1, 1.3)}
)
plots.curves(
    range(1, STEPS + 1),
    {"": history.losses},
    ax=left,
    xlabel="step",
    ylabel="loss",
)
left.set(yscale="log")
right.set_axis_off()
right.text(0, 1.0, "step", weight="bold", va="center", ha="right")
right.text(0.06, 1.0, EXAMPLE, weight="bold", va="center", fontsize=9)
for row, index in enumerate((0, 1, 2, 3, 4, 15)):
    y = 0.85 - 0.15 * row
    right.text(0, y, str(40 * index), va="center", ha="right")
    right.text(0.06, y, spoken[index], va="center", fontsize=9)
plt.show()

# %% tags=["remove-cell"]
assert spoken[15] == "sieben und zwanzig , sechs hundert achtzig"
assert spoken[0] != spoken[15] and spoken[1] != spoken[15]
assert history.losses[0] > 3 and sum(history.losses[-10:]) / 10 < 0.02

# %% [markdown]
# **After this chapter you can**
#
# - compute a loss and its gradient by hand, with and without label smoothing;
# - write Adam in six lines, and say what AdamW does differently and why it matters;
# - draw the learning rate of the Transformer paper and explain its shape;
# - write the training loop in plain PyTorch, and say what a library adds to it;
# - compute BLEU by hand, and know what to ask when somebody quotes one;
# - find the bug that made a well-known library train differently on small and large machines.
#
# **Time** about 75 minutes. **You need** [chapter 6](06_decoder.ipynb).
#
# ## The loss
#
# The model has read a source and the beginning of its translation, and gives each word of the vocabulary a score.
# Say there are three words, the scores are 2, 1 and 0, and the first is right. The softmax makes them probabilities:
# 0.67, 0.24 and 0.09. The **cross-entropy** loss is minus the logarithm of what the right word got: $-\ln 0.67 = 0.41$.
#
# How should the scores change? The gradient of this loss has the simplest form one could wish for: *probability minus
# target*, where the target is 1 for the right word and 0 for the others.

# %%
scores = torch.tensor([2.0, 1.0, 0.0], requires_grad=True)
probabilities = scores.softmax(dim=-1)
loss = -probabilities[0].log()
(gradient,) = torch.autograd.grad(loss, scores)

print("probabilities:", [f"{p:.2f}" for p in probabilities])
print(f"loss:          {loss:.2f}")
print("gradient:     ", [f"{g:+.2f}" for g in gradient])
target = torch.tensor([1.0, 0.0, 0.0])
assert_close(gradient, probabilities - target)

# %% [markdown]
# The right word's score is pushed up by what is missing to 1; each wrong word's is pushed down by what it wrongly got.
#
# All positions of all sentences in a batch are scored at once, because the decoder reads the *right* words before each
# (teacher forcing, [chapter 6](06_decoder.ipynb)). What is read begins with the begin token, what is predicted ends
# with the end token, so the two are shifted by one. (`decode` leaves these tokens out: both lines below print the
# same words.) Where a short sentence was filled up with padding there is nothing to predict: those positions must
# not count.

# %%
batch = next(batches.epoch(0))
print("read:     ", *WORDS.decode(batch.read[0].tolist()))
print("predicted:", *WORDS.decode(batch.predicted[0].tolist()))

with torch.no_grad():
    logits = Transformer(CONFIG)(batch.source, batch.read, batch.source_lengths)
real = batch.predicted != data.PAD
ours = -logits.log_softmax(dim=-1)[real].gather(-1, batch.predicted[real][:, None])
torchs = F.cross_entropy(
    logits.flatten(0, 1), batch.predicted.flatten(), ignore_index=data.PAD
)
assert_close(ours.mean(), torchs)

# %% [markdown]
# ### Label smoothing
#
# The loss is never satisfied: however likely the right word, a still higher score is rewarded. The paper takes some of
# the pressure off by **label smoothing** (section 5.4, after Szegedy et al., 2016): of the target's 1, a share
# $\epsilon = 0.1$ is spread evenly over *all* words of the vocabulary, the right one included. (That is Szegedy's rule
# and PyTorch's; the paper's authors, in their code, spread it over the *other* words.) For our three words the target
# becomes 0.933, 0.033 and 0.033.


# %%
def smoothed_loss(scores, right, smoothing):
    """Cross-entropy with a smoothed target. scores (vocab,), right: the right word."""
    target = torch.full_like(scores, smoothing / len(scores))
    target[right] += 1 - smoothing
    return -(target * scores.log_softmax(dim=-1)).sum()


for smoothing in (0.0, 0.1):
    loss = smoothed_loss(scores.detach(), 0, smoothing)
    theirs = F.cross_entropy(scores, torch.tensor(0), label_smoothing=smoothing)
    assert_close(loss, theirs.detach())
    print(f"ε = {smoothing}: loss {loss:.3f}")

# %% [markdown]
# The gradient is still probability minus target. So it is zero when the probability *is* the target: the model is asked
# to be 93 % sure, and is told off for 99.9 %.

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
ax.axvline(best, color="black", linestyle=":")
ax.set(xlim=(0.3, 1.0), ylim=(0, None))
plt.show()

# %% tags=["remove-cell"]
assert abs(best - 0.9001) < 0.001

# %% [markdown]
# The library's version works on whole batches and leaves out padding. It equals PyTorch's:

# %%
source.show(training.label_smoothed_cross_entropy, docstring=False)

# %%
ours = training.label_smoothed_cross_entropy(logits, batch.predicted, 0.1)
torchs = F.cross_entropy(
    logits.flatten(0, 1),
    batch.predicted.flatten(),
    label_smoothing=0.1,
    ignore_index=data.PAD,
)
assert_close(ours, torchs)
print("library and torch: largest difference < 1e-5")

# %% [markdown]
# With smoothing the loss can no longer reach 0, so losses with and without it must not be compared. The paper says that
# it hurts perplexity and helps accuracy and BLEU. Our number words are probably too easy to show a difference.
#
# ## The step
#
# Plain gradient descent subtracts the gradient times a learning rate. In a Transformer gradients differ in size by
# orders of magnitude: a common word's vector gets a large one in every batch, a rare word's mostly a tiny one, and no
# one rate suits both. **Adam** (Kingma and Ba, 2015) keeps two running means for each weight, of the gradient and of
# its square, and divides the one by the root of the other:
#
# $$m \leftarrow \beta_1 m + (1-\beta_1)\, g \qquad v \leftarrow \beta_2 v + (1-\beta_2)\, g^2 \qquad w \leftarrow w - \text{rate} \cdot \frac{m / (1-\beta_1^t)}{\sqrt{v / (1-\beta_2^t)} + \epsilon}$$
#
# Take the very first step, by hand. Both means start from 0, so $m = (1-\beta_1) g$ and $v = (1-\beta_2) g^2$; the
# divisions by $1-\beta^t$ undo just that, and what remains is $g / \sqrt{g^2} = \pm 1$. **The first step moves every
# weight by the whole learning rate, whether its gradient is a thousand or a thousandth.**


# %%
def adam_step(w, g, m, v, t, rate, beta_1=0.9, beta_2=0.98, epsilon=1e-9):
    """One step of Adam for weights w with gradient g; t counts from 1."""
    m = beta_1 * m + (1 - beta_1) * g
    v = beta_2 * v + (1 - beta_2) * g**2
    m_hat, v_hat = m / (1 - beta_1**t), v / (1 - beta_2**t)
    return w - rate * m_hat / (v_hat.sqrt() + epsilon), m, v


w = torch.zeros(3)
g = torch.tensor([1000.0, 1.0, 0.001])
after, _, _ = adam_step(w, g, torch.zeros(3), torch.zeros(3), t=1, rate=0.01)
print("gradients:", g.tolist())
print("steps:    ", [f"{step:.3f}" for step in after - w])

# %% [markdown]
# PyTorch's Adam agrees over many steps (the values of $\beta$ and $\epsilon$ are the paper's, section 5.3):

# %%
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
print("ours and torch's after 50 steps: largest difference < 1e-5")

# %% [markdown]
# ### AdamW: pull the weights, not the gradients
#
# **Weight decay** pulls every weight a little towards 0 at each step, so that none grows without need. One way is to add
# $\lambda w$ to the gradient (this is the gradient of a penalty $\tfrac{\lambda}{2} w^2$, hence the name *L2*). With
# plain descent that is a pull of $\text{rate} \cdot \lambda w$. With Adam it is not: the pull goes through the division
# too. A weight with large gradients is divided by a large number and hardly decays; one with small gradients decays
# fast. **AdamW** (Loshchilov and Hutter, 2019) leaves the gradient alone and pulls the weight itself.
#
# To see it bare, let the gradients be noise around 0, so that nothing is learned and the mean of many weights is moved
# by the decay alone: 500 weights with noise of size 10, and 500 with noise of size 0.1.

# %% mystnb={"image": {"alt": "Mean of 500 weights over 1,000 steps. With L2 in Adam, the weights with large noise hardly fall, and those with small noise to less than half. With AdamW both fall along the same line."}, "figure": {"caption": "Weight decay over 1,000 steps, mean of 500 weights that start at 1. Left: as a penalty in Adam's gradient. Right: AdamW."}}
figure, axes = plt.subplots(1, 2, figsize=(7.6, 2.8), sharey=True)
decayed = {}
kinds = {"Adam, L2": torch.optim.Adam, "AdamW": torch.optim.AdamW}
for ax, (name, kind) in zip(axes, kinds.items(), strict=True):
    torch.manual_seed(0)
    sizes = torch.tensor([[10.0], [0.1]])
    weights = nn.Parameter(torch.ones(2, 500))
    optimizer = kind([weights], lr=1e-3, weight_decay=0.1)
    means = []
    for _ in range(1000):
        weights.grad = sizes * torch.randn(2, 500)
        optimizer.step()
        means.append(weights.detach().mean(dim=1))
    large, small = torch.stack(means).T
    decayed[name] = large[-1].item(), small[-1].item()
    curves = {"noise 10": large, "noise 0.1": small}
    plots.curves(range(1000), curves, ax=ax, xlabel="step", direct_labels=False)
    ax.set(title=name, ylim=(0, 1.05))
axes[0].set_ylabel("mean weight")
plt.show()

# %%
large, small = decayed["Adam, L2"]
assert large > 0.96 and small < 0.6
assert all(abs(mean - (1 - 1e-4) ** 1000) < 0.03 for mean in decayed["AdamW"])

# %% [markdown]
# With AdamW every weight is multiplied by $1 - \text{rate} \cdot \lambda = 1 - 0.001 \cdot 0.1$ at each step,
# whatever its gradient; after 1,000 steps 0.905 of it is left. The check above asks for just that.
#
# The Transformer of 2017 had no weight decay. BERT has, and its authors' optimizer decays as AdamW does. (It leaves
# out the divisions by $1-\beta^t$.)
#
# ### Warm-up
#
# Since Adam's first steps are as long as the learning rate allows, whatever the gradient, and since at that time its
# means rest on a batch or two, the rate had better be small at first. The paper's schedule rises in a straight line for
# 4,000 steps and then falls with the root of the step:
#
# $$\text{rate} = d_{\text{model}}^{-0.5} \cdot \min\big(\text{step}^{-0.5},\ \text{step} \cdot \text{warmup}^{-1.5}\big)$$
#
# The two terms meet where the step equals the warm-up. There, for the base model, the rate is
# $1 / \sqrt{512 \cdot 4000} = 1/1431 = 0.0007$, its highest value. BERT, a year later, used a straight line down to zero.

# %% mystnb={"image": {"alt": "Two learning-rate curves. Left, the Transformer's: a straight rise to 0.0007 at step 4,000, then a slow fall; for d_model 1,024 the same shape, lower by the root of two. Right, BERT's: a rise to 0.0001 in 10,000 steps, then a straight fall to zero at step 1,000,000."}, "figure": {"caption": "The learning rates of the two papers."}}
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

# %%
rate = training.transformer_schedule(512, warmup=4000)
rates = [rate(step) for step in range(100_000)]
highest = max(rates)
assert (
    rates.index(highest) + 1 == 4000
)  # LambdaLR counts steps from 0, the paper from 1
assert abs(highest - (512 * 4000) ** -0.5) < 1e-9
print(
    f"highest rate {highest:.5f}, at step 4,000; at step 100,000 it is {rates[-1]:.5f}"
)

# %% [markdown]
# Does the warm-up matter? It depends. In [chapter 5](05_encoder.ipynb) we measured it: models of two blocks did not need
# it, and for six blocks with the norm behind the sum a short one was no rescue.
#
# ### Clipping
#
# Now and then a batch gives a gradient that is far longer than all others, and the step it causes undoes the work of
# many. **Clipping** shortens such a gradient and keeps its direction: (3, 4) has length 5, and clipped to 1 it is
# (0.6, 0.8).

# %%
w = nn.Parameter(torch.zeros(2))
w.grad = torch.tensor([3.0, 4.0])
length = nn.utils.clip_grad_norm_([w], max_norm=1.0)
print(f"length {length:.0f}, clipped: {[f'{g:.1f}' for g in w.grad]}")

# %% [markdown]
# ## The batches
#
# A tensor is a rectangle, sentences are not. What is filled up is computed and thrown away. So sentences of similar
# length should share a batch: the library shuffles, sorts by length, cuts the row into batches, and shuffles the
# batches. And it can give each batch a budget of *tokens* rather than of sentences, as the paper did: 25,000 source and
# 25,000 target tokens.

# %% mystnb={"image": {"alt": "Two grids, each one batch of target sentences as rows. As they come, more than two fifths of the grid are empty, and the right edge is ragged. Sorted by length, nearly the whole grid is filled."}, "figure": {"caption": "One batch of 48 target sentences, lists of one to four numbers. Dark: words. Pale: padding."}}
varied = data.load("translation", counts=(1, 2, 3, 4), size=4000)
pairs = encode(
    [tuple(data.number_tokens(p[side]) for side in ("en", "de")) for p in varied]
)
figure, axes = plt.subplots(1, 2, figsize=(7.6, 2.8))
wasted = {}
ways = {"as they come": False, "by length": True}
for ax, (name, by_length) in zip(axes, ways.items(), strict=True):
    cut = data.Batches(pairs, data.pad_pairs, batch_size=48, by_length=by_length)
    epoch = list(cut.epoch(0))
    example = next(b.target for b in epoch if b.target.shape[1] > 15)
    ax.imshow(
        example != data.PAD, aspect="auto", cmap=plots.SEQUENTIAL, vmin=-0.2, vmax=1.5
    )
    ax.set(title=name, xlabel="position")
    wasted[name] = sum(int((b.target == data.PAD).sum()) for b in epoch) / sum(
        b.target.numel() for b in epoch
    )
axes[0].set_ylabel("sentence")
plt.show()

# %%
for name, share in wasted.items():
    print(f"{name:12} {100 * share:4.1f} % of an epoch's target tokens are padding")

# %% [markdown]
# It may have a price: the spikes in the curve at the top of the chapter. Sorted by length, the rare lengths come in
# batches of their own, and the losses of these are the larger ones, probably because the model has seen few such
# batches. (That is also why the batches must be shuffled: sorted from short to long, the model would spend the end of
# every epoch forgetting the short ones.)

# %% tags=["remove-cell"]
plan = batches.plan(0) + batches.plan(1)
lengths = [len(batches.examples[rows[0]][1]) for rows in plan][:STEPS]
late = list(zip(lengths, history.losses, strict=True))[200:]
rare = [loss for n, loss in late if lengths.count(n) < 60]
common = [loss for n, loss in late if lengths.count(n) >= 60]
assert len(rare) < len(common) / 4
assert sum(rare) / len(rare) > 2 * sum(common) / len(common)

# %% [markdown]
# Is it worth it with real sentences? Batches of 2,048 tokens of Multi30k's captions (they come later in this chapter) are
# 46 %<!-- real_lengths: padding/as_they_come .0f --> padding as they come and
# 2 %<!-- real_lengths: padding/by_length .0f --> by length. Counting useful tokens only, training by length was 1.9<!-- real_lengths: ours_by_length_over/ours_as_they_come/median .1f --> times as fast
# as the same model with batches as they come, and 1.9<!-- real_lengths: ours_by_length_over/hugging_face_as_they_come/median .1f --> times as fast as Hugging Face's model
# with such batches (medians; `benchmarks/real_lengths.py`).
#
# ## The loop
#
# Now nothing is missing. In plain PyTorch:


# %%
def train(model, batches, optimizer, schedule, steps):
    """The loss of each step. The whole of training is in these lines."""
    losses = []
    stream = (batch for epoch in range(1000) for batch in batches.epoch(epoch))
    for batch, _ in zip(stream, range(steps), strict=False):
        logits = model(batch.source, batch.read, batch.source_lengths)
        loss = F.cross_entropy(
            logits.flatten(0, 1), batch.predicted.flatten(), ignore_index=data.PAD
        )
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return losses


plain, optimizer, schedule = new()
losses = train(plain, batches, optimizer, schedule, steps=30)
assert_close(
    torch.tensor(losses), torch.tensor(history.losses[:30]), rtol=1e-3, atol=1e-3
)
print("30 steps of our loop and of the library's: the same losses")

# %% [markdown]
# Those are the steps of the model at the top of this chapter, which was trained by the library's `fit`. Our loop knows one
# device, one precision, and forgets everything when the machine is switched off. `fit` is the same loop, and
# [accelerate](https://huggingface.co/docs/accelerate) takes care of what is not the subject of a course. This is one step of it:

# %%
source.show(training.training_step, docstring=False)

# %% [markdown]
# | our loop | in `fit` | what it adds |
# |---|---|---|
# | the model and the batch are where they are | `accelerator.prepare`, `to_device` | a GPU is used if there is one; half precision: most of the sums in 16 bits, the weights in 32 |
# | `loss.backward()` | `accelerator.backward(part)` | for the 16-bit format *float16*: the loss is scaled up, so that small gradients do not become 0 |
# | one batch a step | `accumulate` batches | a batch that does not fit into memory, in portions |
# | one process | `mean_over_processes` | several GPUs or machines, each with batches of its own |
# | – | `checkpoint`, `resume` | a run that was interrupted goes on |
#
# With several GPUs one starts the same script by `accelerate launch --num_processes 2 train.py`. (The course's tests do it
# with two processes on a CPU, and hold their loss against one process with batches twice as large.)
#
# **Why the weights stay in 32 bits.** The 16-bit format *bfloat16* has as large a range as 32 bits, but three decimal
# digits at best. A small step is lost in it entirely. Is 1 + 0.001 still more than 1?

# %%
weight = torch.tensor(1.0)
print("32 bits:        ", (weight + 0.001).item() > 1)
print("bfloat16:       ", (weight.bfloat16() + 0.001).item() > 1)

# %% [markdown]
# **An interrupted run.** Everything that decides the next step goes into the checkpoint: weights, Adam's means, the
# schedule's step, the place in the data, the random generators. Then going on gives the same weights as if nothing had
# happened, not merely similar ones:


# %%
def power_cut(model):
    """Called after 15 steps: somebody stumbles over the cable."""
    raise KeyboardInterrupt


def run(checkpoint, **options):
    """Twenty steps of training, saved every ten."""
    model, optimizer, schedule = new()
    options = {"steps": 20, "clip": 1.0, "progress": False, **options}
    loss = training.translation_loss
    training.fit(
        model,
        batches,
        loss,
        optimizer,
        schedule,
        checkpoint=checkpoint,
        save_every=10,
        **options,
    )
    return model


with tempfile.TemporaryDirectory() as folder:
    whole = run(Path(folder, "whole"))
    try:
        run(Path(folder, "cut"), evaluate=power_cut, evaluate_every=15)
    except KeyboardInterrupt:
        print("interrupted after step 15; step 10 is saved")
    resumed = run(Path(folder, "cut"), resume=True)

pairs_of_weights = zip(whole.parameters(), resumed.parameters(), strict=True)
assert all(torch.equal(a, b) for a, b in pairs_of_weights)
print("resumed: all weights equal, bit for bit")

# %% [markdown]
# **A loss that is not a number.** One batch that divides by zero, and every weight is NaN from then on; training goes on
# for hours and nobody notices. `fit` stops instead, before the step:


# %%
def sick(model, batch):
    """A loss that breaks on one batch: the third."""
    loss = training.translation_loss(model, batch)
    calls.append(batch)
    return loss / 0 if len(calls) == 3 else loss


calls = []
model_, optimizer, schedule = new()
try:
    training.fit(model_, batches, sick, optimizer, schedule, steps=5, progress=False)
except FloatingPointError as error:
    print(error)

# %% [markdown]
# ## Is it any good?
#
# Back to the model of the beginning, with lists that it has never seen. There are few single numbers, so we ask all of
# them that were kept aside.

# %%
tests = {
    "single numbers": [
        tuple(data.number_tokens(p[side]) for side in ("en", "de"))
        for split in ("validation", "test")
        for p in data.load("translation", split, counts=(1,))
    ],
    "lists of two": [
        tuple(data.number_tokens(p[side]) for side in ("en", "de"))
        for p in data.load("translation", "test", counts=(2,), size=400)
    ],
}
for name, pairs in tests.items():
    found = translate(model, [english for english, _ in pairs])
    right = metrics.exact_match(found, [german for _, german in pairs])
    assert right >= 0.97
    print(f"{name}: {len(pairs)}, at least 97 % without a mistake")

# %% [markdown]
# (Trained weights differ a little from machine to machine; so this page states a bound that held for every seed we
# tried.) Where does it look while it writes? Here is one list and all heads of the second layer.

# %% mystnb={"image": {"alt": "Four heat maps of cross-attention for one list of two numbers, one for each head of the second layer. Rows are the German words about to be written, columns the English words. In most heads the darkest cell before a digit word is the framed one; which head does what differs between runs."}, "figure": {"caption": "Cross-attention in the second layer. Rows: the word about to be written. Columns: the source. Squares: the English word (or words) that it translates."}}
english, german = (
    data.number_tokens(EXAMPLE),
    ["sieben", "und", "zwanzig", ",", "sechs", "hundert", "achtzig"],
)
batch = data.pad_pairs(encode([(english, german)]))
with torch.no_grad(), record(model) as seen:
    model(batch.source, batch.read, batch.source_lengths)
weights = seen["decoder.blocks.1.cross_attention.weights"][0]
right = data.number_alignment(english, german)

figure, axes = plt.subplots(2, 2, figsize=(8.0, 7.2), sharex=True, sharey=True)
for head, ax in enumerate(axes.flat):
    columns, rows = [*english, "</s>"], [*german, "</s>"]
    plots.heatmap(
        weights[head], rows=rows, columns=columns, ax=ax, title=f"head {head}"
    )
    for row, sources in enumerate(right):
        for column in sources:
            corner = (column - 0.5, row - 0.5)
            box = plt.Rectangle(corner, 1, 1, fill=False, color=plots.RED, linewidth=2)
            ax.add_patch(box).set_zorder(5)
plt.show()

# %% [markdown]
# Before most of the digit words ("sieben", "zwanzig") a head's darkest cell is the framed one: it looks at the word
# that it is about to translate. Before "hundert" it need not be. How often does a head look at the right word before
# it writes a digit? Counted over all lists of the test, for the best of the eight heads:


# %%
def share_of_digits(weights, pairs):
    """How often the most looked-at word is translated; weights (batch, n_target, n_source)."""
    hits = []
    for row, (english, german) in zip(weights.argmax(-1).tolist(), pairs, strict=True):
        right = data.number_alignment(english, german)
        for i, word, of_word in zip(row, german, right, strict=False):
            if word not in ("hundert", "und", ","):
                hits.append(i in of_word)
    return sum(hits) / len(hits)


pairs = [pair for of_kind in tests.values() for pair in of_kind]
batch = data.pad_pairs(encode(pairs))
with torch.no_grad(), record(model) as seen:
    model(batch.source, batch.read, batch.source_lengths)
shares = {
    (layer, head): share_of_digits(
        seen[f"decoder.blocks.{layer}.cross_attention.weights"][:, head], pairs
    )
    for layer in range(2)
    for head in range(4)
}
assert max(shares.values()) > 0.95
print("one head looks at the right word for more than 95 % of the digits")

# %% [markdown]
# Does attention show which word was translated from which? Chapter 1 asked that of the recurrent model. Here is the
# answer for both, after the same 600 steps, over 5 seeds. For each kind of German word: how often is the English word with
# the largest weight the right one? Of the Transformers, the table shows the *one head* that is best at digits.
#
# | | digits | *hundert* | *und* | comma | all words |
# |---|---|---|---|---|---|
# | recurrent, additive attention | 1.00<!-- alignment: additive/one_head/digits/mean .2f --> | 0.08<!-- alignment: additive/one_head/hundert/mean .2f --> | 1.00<!-- alignment: additive/one_head/und/mean .2f --> | 0.87<!-- alignment: additive/one_head/comma/mean .2f --> | 0.81<!-- alignment: additive/one_head/all/mean .2f --> |
# | recurrent, dot attention | 0.99<!-- alignment: dot/one_head/digits/mean .2f --> | 0.40<!-- alignment: dot/one_head/hundert/mean .2f --> | 1.00<!-- alignment: dot/one_head/und/mean .2f --> | 0.93<!-- alignment: dot/one_head/comma/mean .2f --> | 0.87<!-- alignment: dot/one_head/all/mean .2f --> |
# | Transformer of 1 layer, one head | 0.99<!-- alignment: transformer_1/one_head/digits/mean .2f --> | 0.41<!-- alignment: transformer_1/one_head/hundert/mean .2f --> | 0.82<!-- alignment: transformer_1/one_head/und/mean .2f --> | 0.62<!-- alignment: transformer_1/one_head/comma/mean .2f --> | 0.82<!-- alignment: transformer_1/one_head/all/mean .2f --> |
# | Transformer of 2 layers, one head | 0.99<!-- alignment: transformer_2/one_head/digits/mean .2f --> | 0.67<!-- alignment: transformer_2/one_head/hundert/mean .2f --> | 0.72<!-- alignment: transformer_2/one_head/und/mean .2f --> | 0.61<!-- alignment: transformer_2/one_head/comma/mean .2f --> | 0.85<!-- alignment: transformer_2/one_head/all/mean .2f --> |
# | Transformer of 2 layers, best head for each | 0.99<!-- alignment: transformer_2/best_for_each/digits/mean .2f --> | 0.95<!-- alignment: transformer_2/best_for_each/hundert/mean .2f --> | 0.99<!-- alignment: transformer_2/best_for_each/und/mean .2f --> | 0.99<!-- alignment: transformer_2/best_for_each/comma/mean .2f --> | 0.91<!-- alignment: transformer_2/best_for_each/all/mean .2f --> |
#
# For the words that say digits the answer is yes, nearly always, in every model. For "hundert" it is often no: four
# of the five recurrent models with additive attention hardly ever look at "hundred" when they write "hundert"; with dot
# attention three hardly ever do, and two always. They need not. In "six hundred", the encoder's vector at
# "six", where they looked for the word before, has read the neighbours too, and can tell that "hundred" follows. So whoever counts all words
# finds that the model with additive attention, which made no mistake in the test, "aligns" only four words in five, and
# the others, with a few mistakes, no fewer. A weight tells where a model looked; it does not tell why, and a model that
# knows already need not look.
#
# The Transformer has eight heads to share the work. The last row takes for each kind of word the head that is best at it:
# together they have an eye on nearly everything. (Its last column is the best *single* head over all words.)
#
# ## BLEU
#
# Number words are right or wrong. Of a real sentence there are many good translations, and the usual measure counts what
# a translation has in common with a human one. **BLEU** (Papineni et al., 2002) counts $n$-grams, pieces of $n$ words.
# Say the first line is the reference, and the second what a model wrote:
#
#     sechs und dreißig , sieben hundert drei
#     sechs dreißig , sieben hundert drei drei
#
# Of its 7 words, 6 are in the reference; the second "drei" does not count, since the reference has one ("clipped"
# counts). Of its 6 pairs, 4 are there, of its 5 triples 3, of its 4 fours 2. BLEU is the geometric mean of the four
# shares: $\sqrt[4]{\tfrac67 \cdot \tfrac46 \cdot \tfrac35 \cdot \tfrac24} = 0.643$, usually written 64.3.


# %%
def n_grams(words, n):
    """How often each piece of n words occurs."""
    from collections import Counter

    return Counter(zip(*(words[i:] for i in range(n)), strict=False))


def bleu(hypothesis, reference):
    """BLEU of one sentence, from 0 to 100."""
    hypothesis, reference = hypothesis.split(), reference.split()
    logs, nothing = [], 1
    for n in (1, 2, 3, 4):
        found, wanted = n_grams(hypothesis, n), n_grams(reference, n)
        shared = (found & wanted).total()
        if not found or (n == 1 and not shared):
            return 0.0  # fewer than four words, or not one of them right
        if not shared:  # 1/2 in place of 0, the next time 1/4
            nothing *= 2
            shared = 1 / nothing
        logs.append(math.log(shared / found.total()))
    brevity = min(1, math.exp(1 - len(reference) / len(hypothesis)))
    return 100 * brevity * math.exp(sum(logs) / 4)


reference = "sechs und dreißig , sieben hundert drei"
hypothesis = "sechs dreißig , sieben hundert drei drei"
ours = bleu(hypothesis, reference)
sacrebleu = metrics.bleu([hypothesis], [reference], tokenize="none")
assert abs(ours - sacrebleu.score) < 0.01
print(f"ours and sacrebleu: {ours:.1f}")

# %% tags=["remove-cell"]
for words, right_words in (
    ("sieben hundert drei", reference),
    ("sechs hundert und drei", reference),
    ("drei sechs sieben und dreißig", reference),
    ("dreißig , sieben hundert drei", reference),
    (reference, reference),
    ("null eins zwei acht neun", reference),
    ("", reference),
    (reference, ""),
    ("Ein Mann, der liest.", "Ein Mann, der ein Buch liest."),
):
    theirs = metrics.bleu([words], [right_words], tokenize="none").score
    assert abs(bleu(words, right_words) - theirs) < 0.01, words

# %% [markdown]
# (`found & wanted` keeps the smaller of the two counts: that is the clipping.) A single share of 0 would make the whole
# product 0; so, as sacrebleu does by default, no hit at all counts as half a hit, the next time as a quarter. (It calls
# this `smooth:exp`.) And there is one more factor, `brevity`. Without it, it would pay to say little: "dreißig , sieben
# hundert drei" is all right, and leaves out the rest. So a text that is shorter than the reference is marked down by the
# **brevity penalty**, $e^{1 - r/c}$ for $c$ words where the reference has $r$.

# %%
short = metrics.bleu(["dreißig , sieben hundert drei"], [reference], tokenize="none")
print(f"five of seven words, all right: {short.score:.1f}, which is 100 · e^(1 − 7/5)")
assert abs(short.score - 100 * math.exp(1 - 7 / 5)) < 0.01

# %% [markdown]
# Three things to ask when somebody quotes a BLEU score. *Over what?* Counts are summed over the whole corpus; the mean of
# sentences' scores is another number. *What are the words?* The score depends on how the text was cut, and on capitals.
# *Which test set, which reference?* Scores of different test sets say nothing about each other. This is why
# [sacrebleu](https://github.com/mjpost/sacrebleu) (Post, 2018) wants whole text, cuts it itself, and gives a signature:

# %%
hypotheses = ["Ein Mann, der liest.", "Zwei Hunde spielen im Schnee."]
references = ["Ein Mann, der ein Buch liest.", "zwei Hunde spielen im tiefen Schnee."]
for options in ({}, {"lowercase": True}, {"tokenize": "char"}):
    score, signature = metrics.bleu(hypotheses, references, **options)
    print(f"{score:5.1f}  {signature}")

# %% [markdown]
# The same two translations, and three scores. The paper's 28.4 for English to German was computed on cut text, with
# German compounds split at their hyphens; today's scores by sacrebleu on the same test set come out lower, and the two
# cannot be put into one table. ([Chapter 6](06_decoder.ipynb) has the paper's table.)
#
# ## Captions
#
# Now to real sentences. Multi30k (Elliott et al., 2016) has 29,000 captions of photographs to train on, in English and
# in German. `experiments/multi30k.py` trains translators on them from scratch, small ones, which Wu et al. (2021)
# found best on so few sentences. You have seen nearly all that is in it: the byte pairs of
# [chapter 7](07_subwords.ipynb), the paper's schedule, label smoothing, batches by length, `fit`. New are, at the end,
# the mean of the last five sets of weights (the paper averaged checkpoints, too) and a beam search
# ([chapter 9](09_generating.ipynb)).
#
# On one CPU core, 4,600 steps with a model of 2 million parameters (4 + 4 blocks, width 128) gave 36.0<!-- multi30k_cpu: en-de/cased/mean .1f --> BLEU
# from English to German on the 1,000 captions of the 2016 test set (sacrebleu, one seed; its signature is with the
# [results](../book/results.md)). "A man in an orange hat starring at something." became "Ein Mann mit einem orangefarbenen Hut
# starrt auf etwas." The spelling mistake is the data's, and the translation is right all the same.
#
# The other direction was not trained. On a GPU, `--size full` trains a model nearly four times as large with three seeds
# for both directions; this book had no GPU to run it on.
#
# A shorter version in a notebook, with greedy decoding: set the switch below to `True`. It needs a network (or a local
# copy of the data, see [Running the course](../book/running.md)) and, for more than a try, a GPU.

# %%
REAL_DATA = False  # True: train on Multi30k's captions instead
REAL_STEPS = 3000

if REAL_DATA:
    from dataclasses import replace
    from functools import partial

    from lectures_lib.tokenization import BPE

    captions = data.load("translation", source="real")
    specials = ["<pad>", "<s>", "</s>"]
    subwords = BPE.train([t for c in captions for t in c.values()], 8000, specials)
    encoded = [
        (
            [*subwords.encode(caption["en"]), data.EOS],
            [data.BOS, *subwords.encode(caption["de"]), data.EOS],
        )
        for caption in captions
    ]
    config = replace(TransformerConfig.SMALL, vocab_size=len(subwords), pre_norm=True)
    translator = Transformer(config)
    optimizer = torch.optim.Adam(translator.parameters(), lr=1.0, betas=(0.9, 0.98))
    training.fit(
        translator,
        data.Batches(encoded, data.pad_pairs, max_tokens=4096),
        partial(training.translation_loss, smoothing=0.1),
        optimizer,
        LambdaLR(optimizer, training.transformer_schedule(config.d_model, 1000)),
        steps=REAL_STEPS,
        clip=1.0,
        mixed_precision="bf16",
    )
    asked = data.load("translation", "test", source="real")[:100]
    ids, lengths = data.pad([[*subwords.encode(c["en"]), data.EOS] for c in asked])
    found = decoding.greedy(
        translator, ids, lengths, begin=data.BOS, end=data.EOS, max_len=60
    )
    german = [subwords.decode(i, skip_specials=True) for i in found.sentences()]
    print(asked[0]["en"], "→", german[0])
    print(metrics.bleu(german, [caption["de"] for caption in asked]))
else:
    print("not run here")

# %% [markdown]
# ## A real translator, in the same code
#
# The translation models of Helsinki's OPUS-MT project (Tiedemann and Thottingal, 2020) are Transformers of the base
# kind, trained with the program Marian. They differ from the paper's in four places: swish instead of ReLU, all sines
# before all cosines in a position vector, a bias on the scores, and a decoder that begins with the padding token. Our
# `Transformer` can be told the first three, and reads such a checkpoint. Where there is a network, set the name; without
# one, this cell builds Hugging Face's class with random weights, saves it, and reads that.

# %% tags=["nbval-ignore-output"]
CHECKPOINT = None  # with a network: "Helsinki-NLP/opus-mt-en-de"

from transformers import MarianConfig, MarianMTModel

from lectures_lib.models import marian

if CHECKPOINT:
    translator = marian.from_pretrained(CHECKPOINT)
    theirs = MarianMTModel.from_pretrained(CHECKPOINT).eval()
    vocabulary = marian.MarianVocabulary(CHECKPOINT)
    sentences = ["The keys to the cabinet are on the table."]
    print(marian.translate(translator, vocabulary, sentences))
else:
    sizes = {"d_model": 64, "encoder_ffn_dim": 128, "decoder_ffn_dim": 128}
    layers = {"encoder_layers": 2, "decoder_layers": 2}
    heads = {"encoder_attention_heads": 4, "decoder_attention_heads": 4}
    tokens = {"pad_token_id": 99, "decoder_start_token_id": 99, "eos_token_id": 0}
    theirs = MarianMTModel(
        MarianConfig(
            vocab_size=100, scale_embedding=True, activation_function="swish",
            **sizes, **layers, **heads, **tokens,
        )
    ).eval()  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        theirs.save_pretrained(folder)
        translator = marian.from_pretrained(folder)

# %%
read, written = torch.randint(1, 90, (2, 7)), torch.randint(1, 90, (2, 5))
with torch.no_grad():
    ours = translator(read, written)
    reference = theirs(input_ids=read, decoder_input_ids=written).logits
assert (ours - reference).abs().max() < 1e-4
print("our Transformer and Hugging Face's Marian: the same scores")

# %% [markdown]
# ## What did it cost?
#
# The paper's base model was trained for 100,000 steps of 0.4 seconds on eight GPUs, with some 25,000 source and as many
# target tokens a step. As a rule of thumb, training takes 6 floating-point operations for each token and each parameter
# that the token meets: 2 forward, 4 backward. ([Chapter 6](06_decoder.ipynb) recomputed the paper's own estimate,
# 3.3 · 10¹⁸: it is time times what the GPUs were taken to achieve.)

# %%
with torch.device("meta"):
    base = Transformer(TransformerConfig.BASE)
count = {
    name: sum(p.numel() for p in part.parameters())
    for name, part in (("encoder", base.encoder), ("decoder", base.decoder))
}
scores = base.embedding.weight.numel()  # each target token meets the output matrix
tokens = 25_000 * 100_000
needed = 6 * tokens * (count["encoder"] + count["decoder"] + scores)
print(f"time:            {100_000 * 0.4 / 3600:.1f} hours")
print(f"the model needs: {needed:.1e} operations")
print(f"of the GPUs' 3.3e18 that is {100 * needed / 3.3e18:.0f} %")

# %% [markdown]
# So (leaving out the scores of attention, which add little at such lengths) a bit more than a quarter of what the GPUs
# could do went into the model. What became of the rest is not on record: memory traffic, waiting and padding, most likely.
#
# And our own code, written to be read? On one CPU core a training step of a model of 13 million parameters takes
# PyTorch's `nn.Transformer` 1.04<!-- transformer_speed: training_step/torch_over_ours/median .2f --> times as long as ours, and Hugging Face's class 0.96<!-- transformer_speed: training_step/hugging_face_over_ours/median .2f --> times. At its peak theirs need 1.03<!-- memory: training_step_over_ours/torch .2f --> and 0.87<!-- memory: training_step_over_ours/hugging_face .2f -->
# times our memory. Where the attention weights are asked for, they must be stored: at 1,024 tokens that takes 8.6<!-- memory: explicit_over_fused/1024 .1f --> times the
# memory of the fused kernel, which never writes them down ([results](../book/results.md)).
#
# ## What goes wrong
#
# ### The mean of means
#
# A batch is too large for the memory, so it is computed in two portions whose gradients are added up (*gradient
# accumulation*). Each portion's loss is the mean over its own tokens. Then a portion of few tokens counts as much as one
# of many, and the result depends on how the batch was cut. Hugging Face's `transformers` had this bug: it was
# [reported in July 2023](https://github.com/huggingface/transformers/issues/24725), and
# [mended in October 2024](https://github.com/huggingface/transformers/pull/34191), when it turned out that training with
# small memory had come out worse than with large.

# %%
by_length = sorted(encode(train_lists), key=lambda pair: len(pair[1]))
long_and_short = [by_length[-1], by_length[0]]


def gradient(loss_of, portions):
    """The gradient at the output bias, summed over the portions of a batch."""
    model, _, _ = new()
    for portion in portions:
        loss_of(model, data.pad_pairs(portion)).backward()
    return model.output_bias.grad


def sums(portion_loss, n_all):
    """A portion's loss as a share of the whole batch's."""
    return lambda model, batch: portion_loss(model, batch) * batch.n_targets / n_all


loss = training.translation_loss
whole = gradient(loss, [long_and_short])
portions = [[pair] for pair in long_and_short]
naive = gradient(lambda model, batch: loss(model, batch) / 2, portions)
n_all = data.pad_pairs(long_and_short).n_targets
mended = gradient(sums(loss, n_all), portions)

assert (naive - whole).norm() > whole.norm() / 2
print("mean of means: off by more than half of the gradient's length")
assert_close(mended, whole)
print("weighted by their tokens: equal")

# %% [markdown]
# `fit` weights portions by their tokens, among processes as well. That is what `n_targets` is for.
#
# ### Counting words in place of translations
#
# A share of right *words* flatters: nine words, each right nine times in ten whatever the others are, make a right list
# only four times in ten. Early in training the two shares are far apart. (Teacher forcing is not to blame: greedy
# decoding writes a list without a mistake exactly when the likeliest word is right behind every right beginning.)

# %%
early = copies[0].eval()
pairs = tests["lists of two"]
batch = data.pad_pairs(encode(pairs))
with torch.no_grad():
    predicted = early(batch.source, batch.read, batch.source_lengths).argmax(dim=-1)
forced = metrics.token_accuracy(predicted, batch.predicted)
free = metrics.exact_match(
    translate(early, [english for english, _ in pairs]), [german for _, german in pairs]
)
assert forced > free + 0.25
print("after 80 steps, the share of right words (teacher forcing) is more than")
print("25 points above the share of right translations")

# %% [markdown]
# ## Summary
#
# 1. The gradient of cross-entropy is probability minus target; label smoothing moves a little of the target to all words.
# 2. Adam's first step is as long as the learning rate, whatever the gradient: start small (warm-up). AdamW decays the
#    weights themselves, so that all decay alike.
# 3. Sort by length before cutting batches; count tokens, not sentences; weight means by their number of tokens.
# 4. A checkpoint that holds *everything* lets a run go on to the same weights, bit for bit.
# 5. BLEU compares $n$-grams with a reference. Ask for the signature; count whole translations, not only words.
#
# **Homework:** [Homework 3](../exercises/hw3_training_and_generating.ipynb) has you smooth labels, warm up a learning
# rate and train a small model.
#
# **Next:** a translator gives probabilities. Which words do we take? [Chapter 9](09_generating.ipynb).
#
# ## References
#
# - Ashish Vaswani et al. (2017). *Attention is all you need.* NeurIPS. Sections 5.1 to 5.4.
# - Diederik P. Kingma and Jimmy Ba (2015). *Adam: a method for stochastic optimization.* ICLR.
# - Ilya Loshchilov and Frank Hutter (2019). *Decoupled weight decay regularization.* ICLR. AdamW.
# - Christian Szegedy et al. (2016). *Rethinking the Inception architecture for computer vision.* CVPR. Section 7: label
#   smoothing.
# - Kishore Papineni, Salim Roukos, Todd Ward and Wei-Jing Zhu (2002). *BLEU: a method for automatic evaluation of machine
#   translation.* ACL.
# - Matt Post (2018). *A call for clarity in reporting BLEU scores.* WMT. sacrebleu.
# - Desmond Elliott, Stella Frank, Khalil Sima'an and Lucia Specia (2016). *Multi30K: multilingual English-German image
#   descriptions.* Workshop on Vision and Language.
# - Zhiyong Wu, Lingpeng Kong, Wei Bi, Xiang Li and Ben Kao (2021). *Good for misconceived reasons: an empirical revisiting
#   on the need for visual context in multimodal machine translation.* ACL.
# - Jörg Tiedemann and Santhosh Thottingal (2020). *OPUS-MT: building open translation services for the world.* EAMT.
# - Marcin Junczys-Dowmunt et al. (2018). *Marian: fast neural machine translation in C++.* ACL, demonstrations.
