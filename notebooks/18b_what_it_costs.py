# %% [markdown]
# # What does it cost?
#
# Thirty-two sentences make a batch, with lengths drawn to be like those of SST-2: a dozen tokens on
# average, a few far longer. First each has a row of its own. Everything grey is padding: every
# matrix of the model is applied to it, and the result is thrown away. Then the same sentences share
# rows.
#
# **What does a model cost, in operations, in bytes and in time, and which of the well-known savings
# pay?**

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

draw("padded_and_packed")

# %% [markdown]
# **After this chapter you can**
#
# - count a model's operations before you run it, and check the count against a tool's;
# - say where the memory of a training step goes, and what makes a batch too large;
# - tell what `float16` loses from what `bfloat16` loses;
# - pack sentences into rows without letting them see each other;
# - start one training program in several processes, and say what a step is then;
# - halve a BERT, and let the larger one teach the smaller (distillation).
#
# **Time** about 50 minutes. **You need** [chapters 5](05_encoder.ipynb), [8](08_training.ipynb) and
# [12](12_bert.ipynb): the block, the training loop and BERT's body.

# %% tags=["hide-input"]
import math
import os
import random
import tempfile
from copy import deepcopy
from dataclasses import replace
from itertools import islice
from pathlib import Path

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.testing import assert_close
from torch.utils.flop_counter import FlopCounterMode

from lectures_lib import stored
from lectures_lib.data import load, pad
from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert, BertConfig, BertForPreTraining
from lectures_lib.show import plots
from lectures_lib.tokenization import WordPiece
from lectures_lib.training import cost, packing
from lectures_lib.training.cost import bert_parameters
from lectures_lib.training.pretraining import MaskingRates, mask_tokens

# %% [markdown]
# ## Operations
#
# [Chapter 5](05_encoder.ipynb) counted a block, and [chapter 8](08_training.ipynb) used the rule of
# thumb that training takes $6\,N\,D$ operations for $N$ parameters and $D$ tokens. Now we count
# exactly, by parts. A matrix product of $(n \times a)$ and $(a \times b)$ takes $2nab$ operations.
# The rest (softmax, norms, sums) is small, and left out. In one block, for $n$ tokens of width $d$:
#
# | product | shapes | operations | BERT base, $n = 512$ |
# |---|---|---|---|
# | query, key, value, output | 4 times $(n \times d)(d \times d)$ | $8nd^2$ | 2.4 · 10⁹ |
# | scores $QK^\top$, and the average of values | 2 times $n \times n$ numbers from vectors of $d$, over all heads | $4n^2d$ | 0.8 · 10⁹ |
# | feed-forward layer | $(n \times d)(d \times d_{\text{ff}})$ and back | $4nd\,d_{\text{ff}}$ | 4.8 · 10⁹ |
#
# The whole model is twelve of these and its heads:


# %%
def attention_flops(n_query, n_key, d_model):
    """Of n_query vectors that look at n_key."""
    return {
        "projections": 4 * (n_query + n_key) * d_model**2,
        "scores": 4 * n_query * n_key * d_model,
    }


def feed_forward_flops(n, d_model, d_ff):
    """Of the two layers, over n vectors."""
    return 4 * n * d_model * d_ff


def bert_flops(config, n, batch=1, scored=None):
    """Forward, inputs of n tokens; scored: how many words the heads are asked for."""
    d = config.d_model
    block = attention_flops(n, n, d)
    block["feed_forward"] = feed_forward_flops(n, d, config.d_ff)
    parts = {name: batch * config.n_layers * flops for name, flops in block.items()}
    parts["pooler"] = 2 * batch * d**2
    if scored is not None:  # a layer and the vocabulary; the next sentence
        parts["heads"] = 2 * scored * d * (d + config.vocab_size) + 4 * batch * d
    return parts


# %% [markdown]
# PyTorch's own counter says whether our sum is right, and what the backward pass adds.

# %%
tiny = BertForPreTraining(BertConfig.TINY)
ids = torch.randint(5, 1500, (4, 50))
chosen = torch.rand(ids.shape) < 0.15
by_formula = sdpa_kernel(SDPBackend.MATH)  # why, "What goes wrong" says
with FlopCounterMode(display=False) as counter, by_formula:
    encoded = tiny.bert(ids)
    words = tiny.masked_words(encoded.hidden[chosen], tiny.bert.embeddings.tokens)
    following = tiny.next_sentence(encoded.pooled)
    forward = counter.get_total_flops()
    (words.sum() + following.sum()).backward()
by_parts = bert_flops(BertConfig.TINY, 50, 4, scored=int(chosen.sum()))
training = counter.get_total_flops()
print(f"forward: torch counts {forward:,}, we {sum(by_parts.values()):,}")
print(f"with the backward pass: {training:,}, {training / forward} times as many")

# %% tags=["remove-cell"]
assert forward == sum(by_parts.values())
assert training == sum(cost.training_flops(by_parts).values()) == 3 * forward

# %% [markdown]
# **Predict.** Attention compares every token with every other: that is what everybody has heard of
# its cost. Of BERT base's operations for 128 tokens, which share goes into scores and weighted
# averages, the part that grows with $n^2$: a quarter, a tenth or a fortieth?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: a fortieth -->
#
# A fortieth; with 512 tokens, as in the table above, a tenth. More than half of the work is done in
# the feed-forward layers, token by token. The square is dangerous for long texts, and 512 is not
# long beside $d_{\text{model}} = 768$: exercise 2 finds the length at which the scores overtake
# projections and feed-forward layers together. (The heads are asked about 15 % of the positions.
# Asked about all, they would cost more than a quarter of what all blocks cost.)
#
# </details>

# %%
for n in (128, 512):
    parts = bert_flops(BertConfig.BASE, n, 256, scored=round(0.15 * 256 * n))
    total = sum(parts.values())
    shares = "  ".join(f"{name} {part / total:.1%}" for name, part in parts.items())
    print(f"n = {n}: {shares}")

# %% tags=["remove-cell"]
assert 0.09 < parts["scores"] / total < 0.11  # the last n is 512
parts = bert_flops(BertConfig.BASE, 128, 256, scored=round(0.15 * 256 * 128))
assert 1 / 42 < parts["scores"] / sum(parts.values()) < 1 / 38
assert parts["feed_forward"] > sum(parts.values()) / 2

# %% [markdown]
# ## Four days on TPUs
#
# With this count BERT's pre-training can be recomputed: 900,000 steps with inputs of 128 tokens,
# 100,000 with 256 inputs of 512, four days on 16 chips for base and on 64 for large. Two things are
# open. How many inputs did a short step have ([chapter
# 13c](13c_choices.ipynb#how-bert-was-trained-recomputed)): 256, too, or the 1,024 that the paper's
# forty epochs require? And which chips? The authors' README fine-tunes on Cloud TPUs with 64 GB,
# the second generation (four chips, 180 · 10¹² operations a second, says Google); one lecture
# assumes the third (420 · 10¹²). We print every case.

# %%
TPU = {"v2": 180e12 / 4, "v3": 420e12 / 4}  # operations a second of a chip, at best


def phases(short):
    """(Tokens of an input, inputs of a step, steps)."""
    return (128, short, 900_000), (512, 256, 100_000)


def pretraining_flops(config, short):
    """All operations of BERT's pre-training, with so many inputs in a short step."""
    return 3 * sum(
        steps * sum(bert_flops(config, n, batch, round(0.15 * batch * n)).values())
        for n, batch, steps in phases(short)
    )


models = {"base": (BertConfig.BASE, 16), "large": (BertConfig.LARGE, 64)}
for short in (256, 1024):
    read = sum(n * batch * steps for n, batch, steps in phases(short))
    for name, (config, chips) in models.items():
        exact = pretraining_flops(config, short)
        rule = cost.rule_of_thumb(sum(bert_parameters(config).values()), read)
        seconds = chips * 4 * 24 * 3600
        used = [f"{exact / (seconds * peak):.0%} of {tpu}" for tpu, peak in TPU.items()]
        print(f"{short:5,} inputs, {name:5} {exact:.1e} operations", end="; ")
        print(f"6 N D {rule:.1e}; used:", ", ".join(used))

# %% [markdown]
# So v2 chips did a tenth of what they could, or less; or, if the short steps had 1,024 inputs, a
# quarter (large) to 29 % (base). The rule is a sixth to a fifth too high for base: a fifth of
# base's parameters is a table in which each token looks up one row.
#
# <details><summary>And in money?</summary>
#
# In 2018 the README put base, on a single Cloud TPU v2 (a *preemptible* one, which may be taken away
# at any time and is cheaper), at two weeks and about 500 dollars. In 2023
# [MosaicBERT](https://arxiv.org/abs/2312.17482) reported a competitive model for 20, and
# [Cramming](https://arxiv.org/abs/2212.14034) one that is close to it after a day on one consumer
# GPU. (How well were the Transformer's GPUs used? A bit over a quarter of the operations that its
# paper counts went into the model, [chapter 8](08_training.ipynb).)
#
# </details>
#
# One lecture repeats that all results of the paper "can be replicated in at most 1 hour on a single
# Cloud TPU". The largest task is MNLI: 392,000 pairs of 128 tokens, three epochs. For SQuAD, 88,000
# inputs of 384, the paper says half an hour, and three epochs; the command that its authors
# published trains for two.

# %%
of_large = []
for task, hours, examples, n, epochs in (
    ("MNLI", 1, 392_000, 128, 3),
    ("SQuAD", 0.5, 88_000, 384, 3),
    ("SQuAD", 0.5, 88_000, 384, 2),
):
    for name, (config, _) in models.items():
        needed = 3 * sum(bert_flops(config, n).values()) * examples * epochs
        best = {tpu: 4 * peak * 3600 * hours for tpu, peak in TPU.items()}
        shares = [f"{needed / most:.0%} of {tpu}" for tpu, most in best.items()]
        print(f"{task:5} {epochs} epochs, {name:5} {needed:.1e} operations", end=" ")
        print(f"in {hours} h:", ", ".join(shares))
    of_large.append(needed)
mnli, *squad = of_large
minutes = " or ".join(f"{30 * mnli / needed:.0f}" for needed in squad)
print(f"MNLI at SQuAD's speed, large: {minutes} minutes")

# %% [markdown]
# An hour for base means 12 % of what a v2 can do at best: possible. An hour for large means 43 %,
# five times what pre-training got with 256 inputs a step, and 1.7 times what it got with 1,024. But
# the half hour for SQuAD (its F1 of 91.0 is large's) means as much: 60 % with three epochs, 40 %
# with two, and MNLI at that speed takes 43 minutes or 64. So the hour is about right: more than
# enough by the first count, four minutes short by the second.
#
# ## Memory
#
# In training, every weight comes with a gradient and Adam's two moments. And what the forward pass
# computed must be kept until the backward pass has used it. For each token and block, without
# dropout, that is $8d + 2d_{\text{ff}} + 4$ numbers: eight vectors of width $d$ (the picture names
# them), the wide layer twice, and mean and spread of the two LayerNorms.

# %% tags=["remove-input"]
draw("kept_for_backward")

# %% [markdown]
# The dashed bar, a token's $h \cdot n$ attention weights with $h$ heads, is there if attention is
# computed by the formula. **Fused attention** takes a few keys at a time, keeps a running maximum
# and a running sum, and never writes the weights down. In the backward pass it computes them again;
# all it keeps in their place is one number for each head and token.

# %% [markdown]
# **Predict.** BERT base in `float32`, 32 inputs of 512 tokens, fused attention. What takes most
# memory: the weights with gradients and moments, or what is kept for the backward pass?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: what is kept for the backward pass -->
#
# What is kept: more than five times as much, 9.7 GB against 1.8. The 110 million weights come in
# four copies, whatever the batch is. What is kept grows with every token of the batch; it is the
# reason why a batch does not fit.
#
# </details>


# %%
def activation_bytes(config, n, batch=1, explicit=False, width=4):
    """What the blocks keep; width: bytes of a number."""
    tokens = config.n_layers * batch * n * width
    return {
        "linear": tokens * (8 * config.d_model + 2 * config.d_ff + 4),
        "attention": tokens * config.n_heads * (n if explicit else 1),
    }


def training_bytes(config, n, batch=1, explicit=False):
    """Bytes of a training step in float32 with Adam, without the heads, by purpose."""
    weights = 4 * sum(bert_parameters(config).values())
    kept = activation_bytes(config, n, batch, explicit)
    return {"weights": weights, "gradients": weights, "moments": 2 * weights, **kept}


cases = [(n, explicit) for n in (128, 512) for explicit in (True, False)]
needed = {case: training_bytes(BertConfig.BASE, case[0], 32, case[1]) for case in cases}
for (n, explicit), of in needed.items():
    kept = of["linear"] + of["attention"]
    model = sum(of.values()) - kept
    way = "formula" if explicit else "fused"
    print(f"{n} tokens, {way:8} model {model / 1e9:.1f} GB, kept {kept / 1e9:4.1f} GB")

# %% tags=["hide-input"] mystnb={"image": {"alt": "Four stacked bars of gigabytes for BERT base with 32 inputs. Weights, gradients and moments take 1.8 in all of them. What else is kept takes 2.4 at 128 tokens and 9.7 at 512. The weights of attention take 0.3 at 128 tokens and 4.8 at 512 when computed by the formula, nothing visible with the fused kernel."}, "figure": {"caption": "Memory of a training step of BERT base with 32 inputs, in float32, counted; model: weights, gradients and moments. The part that grows with n\u00b2 is what the fused kernel saves."}}
figure, ax = plt.subplots(figsize=(6.4, 2.8))
places = [0, 1, 2.6, 3.6]  # room for the names above the longest bar
names = ["model", "kept: grows with n", "attention's weights: n²"]
colours = [plots.BLUE, plots.QUIET, plots.ORANGE]
for y, of in zip(places, needed.values(), strict=True):
    model = of["weights"] + of["gradients"] + of["moments"]
    left = 0.0
    for name, size, colour in zip(
        names, (model, of["linear"], of["attention"]), colours, strict=True
    ):
        ax.barh(y, size / 1e9, left=left, color=colour)
        if y == places[2]:
            ax.text(left + size / 2e9, y - 0.6, name, ha="center", fontsize=10)
        left += size / 1e9
cases_named = [f"{n} tokens, {'formula' if by else 'fused'}" for n, by in cases]
ax.set(yticks=places, yticklabels=cases_named, xlabel="gigabytes")
ax.invert_yaxis()
ax.grid(False)
plt.show()

# %% [markdown]
# Even with 128 tokens, what is kept (grey and orange) takes more memory than weights, gradients and
# moments together; with 512 tokens, five to eight times as much. **Gradient checkpointing** keeps
# only the input of each block and computes the rest again when it is needed. That is one more
# forward pass, and a third more work, for the backward pass costs as much as two.
#
# <details><summary>Other remedies</summary>
#
# They shrink the model's share: ZeRO and FSDP spread it over several GPUs, 8-bit optimizers keep
# coarser moments, and with LoRA, [chapter 14](14_fine_tuning.ipynb)'s thin matrices, hardly
# anything has gradients.
#
# </details>
#
# ## Half precision
#
# Two ways to write a number with 16 bits: `float16` spends 5 of them on the exponent, `bfloat16` 8,
# as many as `float32`. Three numbers show the difference.

# %%
for dtype in (torch.float32, torch.float16, torch.bfloat16):
    small, large, fine = torch.tensor([1e-8, 70_000.0, 1 + 2**-9]).to(dtype).tolist()
    print(f"{dtype!s:15} {small:.1e} {large:9.1f} {fine:.6f}")

# %% [markdown]
# In `float16` a small gradient is 0 and a large score infinite. Against the first,
# `fit(…, mixed_precision="fp16")` multiplies the loss by a large number and divides the gradients
# afterwards. `bfloat16` has the range of `float32`.

# %% [markdown]
# **Predict.** A weight is 1, and a thousand times a step of 0.001 is added to it. Where is it afterwards in
# `float32`, where in `float16`, and where in `bfloat16`?
#
# <details><summary>Answer</summary>
#
# At 2 in `float32`. From 1 to 2 the numbers of `float16` are 2⁻¹⁰ = 0.00098 apart, so each step of 0.001 becomes one
# of 0.00098: a thousand of them reach 1.977. In `bfloat16` the weight has not moved. One expects roughly 2, with a
# thousand small errors that cancel. But between 0.9961 and 1.0078 `bfloat16` has no number except 1, and every single
# sum is rounded back to it: errors of the same sign do not cancel.
#
# </details>

# %%
for dtype in (torch.float32, torch.float16, torch.bfloat16):
    weight = torch.tensor(1.0, dtype=dtype)
    for _ in range(1000):
        weight += 0.001
    print(f"{dtype!s:15} {weight.item():.3f}")

# %% tags=["remove-cell"]
assert weight.item() == 1  # the last one, bfloat16

# %% [markdown]
# **Change one number:** let the step be 0.004. Where does `bfloat16` stop, and why there?
#
# <details><summary>What we saw</summary>
#
# At 2. From 1 on, 0.004 is more than half a gap and is rounded up to 0.0078; from 2 on the gaps are
# twice as wide.
#
# </details>
#
# So in *mixed* precision only the matrix products are done in 16 bits; the weights that are trained
# stay in 32. That saves time and part of what is kept, but none of the weights' memory.
#
# ## Packing
#
# Three short sentences can share a row, if no token sees beyond its own sentence and each sentence
# begins at position 0. Then each gets the vectors that it would get alone. Two lists see to it: the
# position of each token in its sentence, and its **owner**, the number of the sentence. A token may
# look only at tokens of its owner, which makes a mask in blocks.
#
# Which sentences share a row? The longest goes first, and each goes into the first row that has
# room. Finding the fewest rows is hard; this is simple and nearly as good.


# %%
def plan(lengths, max_len):
    """Which sequences share a row of max_len tokens; none may be longer than that."""
    rows, room = [], []
    for i in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        row = next((r for r, free in enumerate(room) if free >= lengths[i]), len(rows))
        if row == len(rows):
            rows.append([])
            room.append(max_len)
        rows[row].append(i)
        room[row] -= lengths[i]
    return rows


def block_mask(owner):
    """(rows, n) → (rows, 1, n, n); padding, of the owner -1, looks at nothing."""
    same = owner[:, :, None] == owner[:, None, :]
    return (same & (owner >= 0)[:, :, None])[:, None]


# %%
wordpiece = WordPiece.load(minilm.checkpoint() / "vocab.txt")
bert = Bert.from_pretrained(minilm.checkpoint())


@torch.no_grad()
def encode(tokens, positions, mask):
    """MiniLM's vectors of a row of tokens, with positions and a mask of our own."""
    e = bert.embeddings
    words = e.tokens(tokens) + e.positions(positions) + e.segments.weight[0]
    return bert.encoder(e.norm(words)[None], mask)[0]


sentences = ["The keys are lost.", "Who has seen the cabinet?", "Nobody has."]
ids = [wordpiece.pair(text).ids for text in sentences]
lengths = [len(sentence) for sentence in ids]
row = torch.tensor([token for sentence in ids for token in sentence])
positions = torch.cat([torch.arange(length) for length in lengths])
owner = torch.arange(len(ids)).repeat_interleave(torch.tensor(lengths))
blocks = block_mask(owner[None])[0, 0]  # (n, n)
print("in rows of 24:", plan(lengths, 24), " in rows of 16:", plan(lengths, 16))
print("positions", positions.tolist())
print("owner    ", owner.tolist())

# %% tags=["remove-input"]
draw("packed_row")

# %% tags=["atol=1e-5"]
with torch.no_grad():
    alone = [bert(torch.tensor([sentence])).hidden[0] for sentence in ids]
difference = (encode(row, positions, blocks) - torch.cat(alone)).abs().max()
print(f"packed and alone: largest difference {difference:.7f}")
padding = 1 - len(row) / (max(lengths) * len(ids))
in_row = 1 - len(row) / 24
print(f"padding: {padding:.2f} in a batch of three, {in_row:.2f} in a row of 24")

# %% tags=["remove-cell"]
assert difference < 1e-5
packed = packing.pack(ids, max_len=24)
with torch.no_grad():
    theirs = packing.unpack(packing.encode(bert, packed).hidden, packed)
for vectors, ours in zip(theirs, alone, strict=True):
    assert_close(vectors, ours, atol=1e-5, rtol=0)

# %% [markdown]
# Three sentences of nearly one length gain nothing; the 32 at the top went from 68 % of padding to
# 11 %.
#
# ## Several processes, several GPUs
#
# `fit` runs in as many processes as it is started in, and averages their gradients. Below is the
# same written out, with [accelerate](https://huggingface.co/docs/accelerate), in a whole training
# program. What a loop for one process would not have is numbered.

# %% [markdown]
# **Predict.** Five steps in one process, which reads sixteen sentences for each, and five in two,
# which read eight each of the same sixteen. How do the losses differ: not at all (in four
# decimals), by chance, or because one of the two learns faster?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: not at all (in four decimals) -->
#
# Not at all. Nothing is left to chance, without dropout and with all first weights from one seed.
# Both processes hold the same weights, each computes half of the same mean gradient, and after
# every step the weights are the same again: it is the step that *one* process would take on all
# these sentences together. What is gained is time, and room: each device holds the activations of
# its own share only.
#
# </details>

# %%
PROGRAM = """
import torch
import torch.nn.functional as F
from accelerate import Accelerator
from torch import nn

torch.manual_seed(0)  # the same first weights and the same data in all processes
accelerator = Accelerator()  # 1: finds the other processes, and a device for this one
table = nn.Embedding(1500, 16)
model = nn.Sequential(table, nn.Flatten(), nn.Linear(12 * 16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = accelerator.prepare(model, optimizer)  # 2: moved, and wrapped
rank, processes = accelerator.process_index, accelerator.num_processes
batches, losses = torch.randint(5, 1500, (5, 16, 12)), []  # 5 of 16 texts of 12 ids

for batch in batches:
    ids = batch[rank::processes].to(accelerator.device)  # 3: every second text, of two
    loss = F.cross_entropy(model(ids), ids[:, 1] % 2)  # is the second number odd?
    optimizer.zero_grad()
    accelerator.backward(loss)  # 4: loss.backward(), and the mean over all processes
    optimizer.step()
    losses.append(accelerator.reduce(loss.detach(), "mean").item())  # 5: of all
accelerator.print(*losses)  # 6: once, not in each process
accelerator.end_training()
"""


# %% tags=["hide-input", "atol=0.01"]
def losses_of(*launcher):
    """The five losses that the program prints."""
    done = subprocess.run(
        [sys.executable, *launcher, str(program)],
        env=os.environ | {"ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return [float(number) for number in done.stdout.split()[-5:]]


with tempfile.TemporaryDirectory() as folder:
    program = Path(folder) / "train.py"
    program.write_text(PROGRAM)
    losses = losses_of()
    launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2")
    together = losses_of(*launcher)
print("losses, one process:  ", *(f"{loss:.4f}" for loss in losses))
print("losses, two processes:", *(f"{loss:.4f}" for loss in together))

# %% tags=["remove-cell"]
assert_close(torch.tensor(together), torch.tensor(losses), atol=1e-4, rtol=1e-4)

# %% [markdown]
# ```bash
# # one process, on the GPU if there is one
# python train.py
#
# # two processes, no GPU
# ACCELERATE_USE_CPU=true torchrun --standalone --nproc_per_node 2 train.py
# ```
#
# These two were run just now (the first on the CPU, too).
#
# <details><summary>With fit, on GPUs, on several machines, in a notebook</summary>
#
# Here the processes share a batch. With `fit`, or with a `DataLoader` that went through `prepare`,
# each takes *a batch* of its own a step: with four of them an epoch has a quarter of the steps, and
# `steps`, warm-up and learning rate have to be chosen again.
#
# These commands are what the two launchers document; they were not tried here.
#
# ```bash
# # four GPUs of one machine
# torchrun --standalone --nproc_per_node 4 train.py
#
# # the same in bfloat16
# accelerate launch --multi_gpu --num_processes 4 --mixed_precision bf16 train.py
#
# # two machines of four GPUs, on each of them
# torchrun --nnodes 2 --nproc_per_node 4 --rdzv_backend c10d \
#     --rdzv_endpoint <first machine>:29500 train.py
# ```
#
# The processes' parts of a batch have to be equal: the mean of the means of unequal parts is not
# the mean of all. In a notebook: `accelerate.notebook_launcher(function, num_processes=2)`, the
# program being the function's body, in a fresh kernel in which nothing has touched the GPU, not
# even this chapter's set-up cell. (On Colab with fewer than two GPUs it runs one process, whatever
# you ask for.)
#
# </details>
#
# ## What pays
#
# All rows but the second were measured on a processor, the second on a GPU. From the third row on
# the model is MiniLM, without dropout, on one core unless the row says otherwise. The numbers are
# medians ([results](../book/results/cost.md#cost)); above 1 means more tokens a second.
#
# | | what it does | tokens a second, with over without |
# |---|---|---|
# | fused attention | never writes down the $n \times n$ weights; attention alone, forward pass, at 128 and at 512 tokens | 1.1<!-- attention_speed: explicit_over_fused/128/median .1f --> and 3.6<!-- attention_speed: explicit_over_fused/512/median .1f --> |
# | the same on a GPU, an H100, in `float32` | at 32, at 512 and at 4,096 tokens | 3.8<!-- attention_speed_gpu: explicit_over_fused/32/median .1f -->, 1.4<!-- attention_speed_gpu: explicit_over_fused/512/median .1f --> and 1.7<!-- attention_speed_gpu: explicit_over_fused/4096/median .1f --> |
# | batches by length | 69 %<!-- cost: batching/padding/as_they_come .0f --> padding as the sentences come, then 3 %<!-- cost: batching/padding/by_length .0f --> | 3.3<!-- cost: batching/over_as_they_come/by_length/median .1f --> |
# | packing | rows of 72 tokens, 2 %<!-- cost: batching/padding/packed_72 .0f --> padding | 3.2<!-- cost: batching/over_as_they_come/packed_72/median .1f --> |
# | `bfloat16`, training | matrix products in 16 bits | 1.4<!-- cost: precision/training_step/median .1f --> |
# | `bfloat16`, reading | the same, forward pass alone | 2.9<!-- cost: precision/inference/median .1f --> |
# | `torch.compile`, training | joins small operations into larger ones | 0.99<!-- cost: compile/training_step/median .2f --> |
# | large batches | 64 sentences of 64 tokens a step, against 1 | 4.7<!-- cost: batch_size/over_1/64/median .1f --> |
# | checkpointing | keeps 0.40<!-- cost: checkpointing/memory .2f --> of the memory, and takes 1.29<!-- cost: checkpointing/time/median .2f --> times as long | below 1 |
# | two processes | each on a core of its own, against one | 1.7<!-- cost: processes/two_over_one/median .1f --> |
#
# **Padding is a large waste.** Eight thousand of SST-2's training texts, sentences and parts of
# them, have 13<!-- cost: batching/mean_length .0f --> tokens on average and up to
# 66<!-- cost: batching/longest .0f -->: two thirds of a random batch are padding.
#
# **16 bits pay on this processor**, which has units for products of `bfloat16` matrices (AMX).
# Elsewhere, measure. **`torch.compile` does not pay in training here** (reading gets 4 % faster,
# but compiling first costs the time of some 40 steps).
#
# <details><summary>Why, row by row</summary>
#
# *Packing* saves about as much as batches by length. With it, chance still decides which sentences
# share a batch. And here the blocks that the mask forbids are computed and thrown away; a kernel
# that skips them (PyTorch's FlexAttention) would gain more, as would *unpadding*, all sentences end
# to end, as in MosaicBERT.
#
# *A GPU* is another machine. On the processor fusing pays mostly for long texts, on the GPU, in
# `float32`, most for short ones: there, by the usual explanation, each of the small steps is done so fast that starting it is
# what takes time, and one start is cheaper than five. In 16 bits, which we did not measure, long
# texts should gain most; FlashAttention was written for them. A cache, with which a writing model
# need not read its text again ([chapter 9b](09b_cache.ipynb)), also gains less on the GPU: with it
# 64 tokens of sixteen texts are written
# 1.6<!-- decoding_speed_gpu: batch_16/tokens_64/without_over_cache/median .1f --> times as fast, on the processor
# 6.5<!-- decoding_speed: batch_16/tokens_64/without_over_cache/median .1f --> times.
#
# *In `bfloat16`* no number of MiniLM's vectors was off by more than
# 0.021<!-- cost: precision/largest_difference .3f -->. *Compiling* joins small operations; the matrix
# products, where nearly all of the work is, probably stay as they are. Where one text is written, token by token, the
# products are small and much of the time goes between them. There compiling pays: Hugging Face's `generate` takes
# 1.2<!-- decoding_speed: batch_1/tokens_128/generate_over_cache/median .1f --> times as long as our step with a cache, and
# 1.9<!-- decoding_speed: batch_1/tokens_128/generate_over_compiled/median .1f --> times as long as the same step behind
# `torch.compile(…, dynamic=True)`, once it is compiled; that takes its time, so it pays where much is written.
#
# Batches of one sentence are slow, and probably not only in the model: Adam walks over all 23
# million weights at every step, after one sentence as after 64. Two processes have to exchange 23
# million gradients after each step; even so they gain more than two threads of one process
# (1.5<!-- cost: processes/two_threads_over_one/median .1f -->).
#
# </details>

# %% [markdown]
# ## Distillation: a smaller model, taught by a larger one
#
# None of these rows makes the model smaller. **Distillation** does: a *student* learns what its
# larger *teacher* would say ([Hinton, Vinyals and Dean 2015](https://arxiv.org/abs/1503.02531)).
# Our teacher is MiniLM, trained further to fill holes
# ([chapter 13](13_pretraining.ipynb#filling-holes)).
#
# For the hole in *The keys to the cabinet [MASK] on the table* a text gives one label, *are*. The
# teacher gives every word a probability, and what it finds likely are plurals: *were*, *remain*. To
# see more of what it nearly said, one divides its scores by a **temperature** $T$ before the softmax
# ([chapter 9](09_generating.ipynb#temperature)).

# %% [markdown]
# **Predict.** At $T = 1$ the teacher's five likeliest words have 0.8 of the probability. How much
# have they at $T = 2$: 0.6, 0.3, or less than 0.1?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: less than 0.1 -->
#
# Less than 0.1. Among themselves the words stay in order: where one was seven times as likely as
# another, it is now $\sqrt 7$ times. But the vocabulary has 30,522 words. Thirty thousand unlikely
# ones, each raised a little, outvote the five. With ten classes, or a teacher that is surer, $T = 4$
# may be right; here we stay at 1. (The student does not mind: taught at
# $T = 2$, in the experiment whose table stands below, it ends at a perplexity of
# 57<!-- distillation: trained/softened/perplexity/mean .0f -->; the table's last row is $T = 1$.)
#
# </details>

# %% tags=["atol=0.02"]
teacher, _ = stored.fill_mask()
text = "The keys to the cabinet [MASK] on the table."
tokens = torch.tensor([wordpiece.pair(text).ids])
with torch.no_grad():
    hole = tokens == wordpiece.token_id("[MASK]")
    scores = teacher(tokens, at=hole).words[0]
for temperature in (1, 2, 4):
    best = (scores / temperature).softmax(dim=-1).topk(5)
    names = wordpiece.known_tokens(best.indices.tolist())
    said = [f"{w} {p:.3f}" for w, p in zip(names, best.values, strict=True)]
    print(f"T = {temperature}: {best.values.sum():.3f} for", ", ".join(said))

# %% tags=["remove-cell"]
shares = [(scores / T).softmax(dim=-1).topk(5).values.sum() for T in (1, 2)]
assert shares[0] > 0.75 and shares[1] < 0.12

# %% [markdown]
# The student is to say the same, measured by the **Kullback-Leibler divergence** of the two distributions, $\mathrm{KL}(p \,\|\, q) = \sum_w p_w (\ln p_w - \ln q_w)$. It is the cross-entropy with a share $p_w$ for each word in place of one right word, less what even a perfect student would pay, and 0 where the two agree:
#
# $$\mathcal{L} = T^2 \cdot \mathrm{KL}\bigl(\text{teacher}_T \,\big\|\, \text{student}_T\bigr)$$
#
# Without the $T^2$ the gradient would shrink like $1/T^2$ (exercise 4).


# %%
def distillation_loss(scores, teacher_scores, temperature=1.0):
    """Both (…, vocab); the mean over all positions."""
    teacher = (teacher_scores.detach() / temperature).log_softmax(dim=-1)
    student = (scores / temperature).log_softmax(dim=-1)
    divergence = (teacher.exp() * (teacher - student)).sum(dim=-1)
    return temperature**2 * divergence.sum() / max(divergence.numel(), 1)


def every_other_layer(model):
    """A student of half the depth: layers 0, 2, 4, … of a copy."""
    student = deepcopy(model)
    student.bert.encoder.blocks = student.bert.encoder.blocks[::2]
    n_layers = len(student.bert.encoder.blocks)
    student.config = student.bert.config = replace(model.config, n_layers=n_layers)
    return student


# %%
student = every_other_layer(teacher)
of = {}
for name, model in (("teacher", teacher), ("student", student)):
    parameters = sum(p.numel() for p in model.parameters())
    flops = sum(bert_flops(model.config, 128, scored=19).values())
    of[name] = torch.tensor([parameters, flops])
kept = of["student"] / of["teacher"]
print(f"kept: {kept[0]:.0%} of the parameters, {kept[1]:.0%} of the operations")

# %% tags=["remove-cell"]
pair = torch.randn(2, 3, 7)
theirs = lectures_lib.training.distillation_loss(*pair, 2.0)
assert_close(distillation_loss(*pair, 2.0), theirs)
assert round(100 * kept[0].item()) == 77 and 0.5 < kept[1] < 0.65

# %% [markdown]
# Half of the layers is not half of the model: half of MiniLM is its table of words.

# %% [markdown]
# **Predict.** Three of six layers are gone, and nothing has been trained yet. The teacher fills 29 %
# of some holes in Python's manual right. And the student: hardly any, 10 % or 20 %?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: 20 % -->
#
# 20 % or a little more. A layer adds to what comes in ([chapter 5](05_encoder.ipynb#a-way-around));
# without it the vectors stay near where they were, and the layers that follow can still read them.
# (The perplexity suffers more: it is nearly four times the teacher's.)
#
# </details>

# %% tags=["hide-input"]
CLS, SEP, MASK = (wordpiece.token_id(f"[{name}]") for name in ("CLS", "SEP", "MASK"))


def some_sentences(split, n):
    """So many of the manual's, of 8 to 24 word pieces, as ids."""
    texts = [text for document in load("pretraining", split) for text in document]
    random.Random(0).shuffle(texts)
    encoded = (wordpiece.encode(text) for text in texts)
    return list(islice((ids for ids in encoded if 8 <= len(ids) <= 24), n))


def with_holes(sentences, seed):
    """The ids, how many are real, what is read, and where 15 % were hidden."""
    ids, real = pad([[CLS, *sentence, SEP] for sentence in sentences])
    special = (ids == 0) | (ids == CLS) | (ids == SEP)
    always, words = MaskingRates(0.15, 1.0, 0.0), range(1000, len(wordpiece))
    generator = torch.Generator().manual_seed(seed)
    return ids, real, *mask_tokens(ids, special, MASK, words, always, generator)


@torch.no_grad()
def held_out(model):
    """The share of the held-out holes that is filled right, and the perplexity."""
    ids, real, read, chosen = asked
    words = model.eval()(read, lengths=real, at=chosen).words
    right = (words.argmax(dim=-1) == ids[chosen]).float().mean()
    return right.item(), F.cross_entropy(words, ids[chosen]).exp().item()


STEPS, BATCH = 30, 32
asked = with_holes(some_sentences("validation", 400), seed=0)
texts = some_sentences("train", STEPS * BATCH)
measured = {"teacher": held_out(teacher), "student, cut": held_out(student)}

# %% [markdown]
# Now it is taught, for 30 steps of 32 sentences. Only the teacher is asked what stood in the holes.

# %% tags=["nbval-ignore-output"]
optimizer = torch.optim.AdamW(student.parameters(), lr=3e-4, betas=(0.9, 0.98))
for step in range(STEPS):
    batch = texts[BATCH * step : BATCH * (step + 1)]
    ids, real, read, chosen = with_holes(batch, seed=step + 1)
    with torch.no_grad():
        wanted = teacher(read, lengths=real, at=chosen).words
    scores = student(read, lengths=real, at=chosen).words
    loss = distillation_loss(scores, wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
measured["student, taught"] = held_out(student)
for name, (right, perplexity) in measured.items():
    print(f"{name:15} {right:3.0%} right, perplexity {perplexity:3.0f}")

# %% tags=["remove-cell"]
whole, cut, taught = (torch.tensor(measured[name]) for name in measured)
assert 0.27 < whole[0] < 0.31 and 0.18 < cut[0] < 0.24 and 3 < cut[1] / whole[1] < 4.3
assert 1.05 * whole[1] < taught[1] < 0.7 * cut[1]

# %% [markdown]
# **Change one line:** let the text teach, `loss = F.cross_entropy(scores, ids[chosen])`. Who teaches
# better?
#
# <details><summary>What we saw</summary>
#
# In our one run, the text: a perplexity of 147 against 223, and as many holes right. Python's manual is
# not what the teacher has read (its own perplexity is 164), and it passes on what it does not know.
#
# </details>
#
# On WikiText-2, which the teacher was trained on, it wins. The same student and the same holes, 60
# steps, means of three seeds ([results](../book/results/cost.md#distillation)):
#
# | held-out holes | right | perplexity |
# |---|---|---|
# | the teacher | 43 %<!-- distillation: untrained/teacher/accuracy .0f --> | 22<!-- distillation: untrained/teacher/perplexity .0f --> |
# | the student, cut | 29 %<!-- distillation: untrained/student/accuracy .0f --> | 101<!-- distillation: untrained/student/perplexity .0f --> |
# | taught by the hidden words | 31 %<!-- distillation: trained/words/accuracy/mean .0f --> | 67<!-- distillation: trained/words/perplexity/mean .0f --> |
# | taught by the teacher | 32 %<!-- distillation: trained/teacher/accuracy/mean .0f --> | 56<!-- distillation: trained/teacher/perplexity/mean .0f --> |
#
# The perplexities are far apart with every seed. In holes filled right the teacher's lead is a point:
# with each seed some 20 to 30 of 2,166<!-- distillation: settings/holes ,.0f --> holes.
#
# DistilBERT was made from BERT base in this way: one layer out of two, and three losses, added: the
# teacher's distributions, the hidden words, and the cosine of both models' vectors. It is 40 %
# smaller, 60 % faster, and keeps 97 % of BERT's score on GLUE, by its authors' count ([Sanh and
# others 2019](https://arxiv.org/abs/1910.01108)). MiniLM was told no words: it learned where its
# teacher's last layer looks, and how alike that layer's values are, and so could be narrower ([Wang
# and others 2020](https://arxiv.org/abs/2002.10957)). That one has twelve layers. This book's keeps
# [every second](https://huggingface.co/nreimers/MiniLM-L6-H384-uncased), and was then trained on
# pairs of sentences.
#
# ## What goes wrong
#
# ### Packing without the mask
#
# How are packed texts kept from seeing each other? "I think that adding the EOS token is an enough
# signal for the model", a user was told ([TRL, issue
# 805](https://github.com/huggingface/trl/issues/805); see also [transformers, issue
# 25452](https://github.com/huggingface/transformers/issues/25452)). A left-to-right model that is
# trained on such rows may learn to stop at the mark. MiniLM never saw such rows, and its mark is
# `[SEP]`.

# %% [markdown]
# **Predict.** The three sentences in one row, each behind its own `[CLS]` and closed by its own
# `[SEP]`, their positions right, but without the mask. What cosine does each sentence's vector (the
# mean of its tokens) have with the right one: about 0.99, about 0.95 or about 0.8?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: about 0.8 -->
#
# About 0.8, and less for the third sentence. `[SEP]` is a token like any other: attention may look past
# it, and does. Two different sentences have a cosine of 0.1 to 0.25 (last line); beside that 0.8
# looks right, so nobody notices.
#
# </details>

# %% tags=["atol=0.02"]
everything, running_on = torch.ones_like(blocks), torch.arange(len(row))
wrong = {
    "no mask, positions run on": encode(row, running_on, everything),
    "no mask": encode(row, positions, everything),
    "positions run on": encode(row, running_on, blocks),
}
print("cosines of each sentence's mean vector to the right one")
for name, hidden in wrong.items():
    pairs = zip(hidden.split(lengths), alone, strict=True)
    near = [F.cosine_similarity(a.mean(dim=0), b.mean(dim=0), dim=0) for a, b in pairs]
    print(f"{name:26}", *(f"{cosine:.2f}" for cosine in near))
means = [vectors.mean(dim=0) for vectors in alone]
far = [
    F.cosine_similarity(means[i], means[j], dim=0) for i, j in ((0, 1), (0, 2), (1, 2))
]
print(f"{'two different, alone':26}", *(f"{cosine:.2f}" for cosine in far))

# %% tags=["remove-cell"]
assert max(far) < 0.35 and min(near) > 0.6

# %% [markdown]
# The first sentence has the right positions either way, and its neighbours alone bring its cosine
# down to 0.8. Positions that run on hurt the other two even with the mask. Neither mistake raises
# an error.
#
# Type the three sentences into one line: in which layers does *cabinet* look across a full stop
# ([Type your own](../book/your_own/inside.md#where-a-bert-looks))?
#
# ### A counter that does not count
#
# Above, attention was computed "by the formula". Why not with the fused kernel, as in real life?

# %%
with FlopCounterMode(display=False) as counter, torch.no_grad():
    tiny.bert(torch.randint(5, 1500, (4, 50)))
parts = bert_flops(BertConfig.TINY, 50, 4)
missing = sum(parts.values()) - counter.get_total_flops()
print(f"missing: {missing:,} operations; scores and averages are {parts['scores']:,}")

# %% [markdown]
# The tool knows the fused kernels of GPUs; the version that made this page did not know the one for
# CPUs. Here that hides six per cent; of BERT base with 4,096 tokens it would hide nearly half. If a
# measured number can be computed by hand, compute it.

# %% [markdown]
# ## Exercises
#
# Ungraded; a solution is folded below each.
#
# **Exercise 1. One more.** A `float32` has 24 significant bits, a `float16` 11, a `bfloat16` 8. Guess for each the
# smallest whole number $x$ for which $x + 1$ is rounded back to $x$. Then find it by doubling.

# %% tags=["hide-cell"]
# Solution 1
for dtype in (torch.float32, torch.float16, torch.bfloat16):
    x = torch.tensor(1.0, dtype=dtype)
    while x + 1 != x:
        x = 2 * x
    print(f"{dtype!s:15} {int(x):>10,}")
# 2^24, 2^11 and 2^8. A counter of steps in bfloat16 stops at 256.

# %% [markdown]
# **Exercise 2. When attention is half of the work.** From which length $n$ on do the scores of BERT base's blocks take
# more operations than all projections and feed-forward layers? Solve it with pen and paper; then let `bert_flops`
# find it. How long is it for BERT large?

# %% tags=["hide-cell"]
# Solution 2
for name, config in (("base", BertConfig.BASE), ("large", BertConfig.LARGE)):
    n = 1
    while True:
        of = bert_flops(config, n)
        if of["scores"] > of["projections"] + of["feed_forward"]:
            break
        n += 1
    # 4 n² d > 8 n d² + 4 n d d_ff, so n > 2 d + d_ff = 6 d
    print(f"{name:5} from {n:,} tokens on; 6 d = {6 * config.d_model:,}")

# %% [markdown]
# **Exercise 3. The longest first.** On a thousand lengths, drawn as
# `random.Random(0).randint(3, 30)`, how many rows of 72 tokens does `plan` need, and how many are
# needed at least? How many without the sorting? And what share of padding do batches of 32 in the
# order of drawing have?

# %% tags=["hide-cell"]
# Solution 3
drawn = random.Random(0)
lengths = [drawn.randint(3, 30) for _ in range(1000)]
rows, total = plan(lengths, 72), sum(lengths)
room = []
for length in lengths:  # the same, as they come
    row = next((r for r, free in enumerate(room) if free >= length), len(room))
    if row == len(room):
        room.append(72)
    room[row] -= length
print(f"{total:,} tokens, at least {math.ceil(total / 72)} rows:", end=" ")
print(f"{len(rows)} with the longest first, {len(room)} as they come")
print(f"padding in the rows {1 - total / (72 * len(rows)):.1%}", end=", ")
batches = [lengths[i : i + 32] for i in range(0, len(lengths), 32)]
padded = sum(len(batch) * max(batch) for batch in batches)
print(f"in batches as drawn {1 - total / padded:.1%}")

# %% [markdown]
# **Exercise 4. Why T².** For random scores of a thousand words, how long is the gradient of the
# loss at $T = 1$, 2, 4, 8 and 16, with $T^2$ and without?

# %% tags=["hide-cell"]
# Solution 4
torch.manual_seed(0)
drawn_scores, of_teacher = torch.randn(2, 1000)
drawn_scores.requires_grad_()
for temperature in (1, 2, 4, 8, 16):
    loss = distillation_loss(drawn_scores, of_teacher, temperature)
    (gradient,) = torch.autograd.grad(loss, drawn_scores)
    length, T = gradient.norm().item(), temperature
    print(f"T = {T:2}: with T² {length:.3f}, without {length / T**2:.5f}")
# Without, it shrinks like 1 / T²: the scores are divided by T, and what the two
# distributions differ by shrinks with 1 / T, too. With T² it settles: at the gradient
# of half the mean squared error of the scores, brought to a mean of 0.

# %% [markdown]
# ## Summary
#
# 1. Count before you run: training is three times the forward pass, and BERT base at 512 tokens
#    spends a tenth of it on scores of attention.
# 2. By the same count, BERT's pre-training used between 8 and 29 % of what v2 chips could do: it
#    depends on how many inputs a short step had, and nobody has said.
# 3. Most of the memory holds what is kept for the backward pass: for 32 inputs of 512 tokens, more
#    than five times weights, gradients and moments.
# 4. `float16` loses the small and the large, `bfloat16` the fine; trained weights stay in 32 bits.
# 5. Packed sentences need a mask in blocks and positions that begin anew. Neither mistake raises an
#    error.
# 6. Less padding and 16 bits paid here, compiling hardly did. Elsewhere, measure.
# 7. In distillation a student learns its teacher's whole distributions, which say more than labels.
#
# There is no homework for this chapter.
#
# **Next:** [make something of it](../book/projects.md).
#
# ## Where to go next
#
# - *Make it fast*: [FlashAttention](https://arxiv.org/abs/2205.14135) explains the fused kernel,
#   [Krell et al. 2021](https://arxiv.org/abs/2107.02027) packing; [Korthikanti et al.
#   2022](https://arxiv.org/abs/2205.05198) count a layer's memory as we did.
# - *Make it large*: [Kaplan et al. 2020](https://arxiv.org/abs/2001.08361), where $6\,N\,D$ comes
#   from.
# - *Make it modern*: [ModernBERT](https://arxiv.org/abs/2412.13663) (2024) uses most of the savings
#   on this page.
#
# ## References
#
# - Tri Dao et al. (2022). *FlashAttention: fast and memory-efficient exact attention with
#   IO-awareness.* NeurIPS.
# - Mario Michael Krell et al. (2021). *Efficient sequence packing without cross-contamination.*
# - Vijay Korthikanti et al. (2022). *Reducing activation recomputation in large Transformer
#   models.*
# - Jared Kaplan et al. (2020). *Scaling laws for neural language models.*
# - Geoffrey Hinton, Oriol Vinyals and Jeff Dean (2015). *Distilling the knowledge in a neural
#   network.*
# - Victor Sanh et al. (2019). *DistilBERT, a distilled version of BERT.* Jacob Portes et al.
#   (2023). *MosaicBERT.*
# - Wenhui Wang et al. (2020). *MiniLM: deep self-attention distillation for task-agnostic
#   compression of pre-trained Transformers.* NeurIPS.
