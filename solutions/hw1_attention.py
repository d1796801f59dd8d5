# %% [markdown]
# # Homework 1: attention
#
# Seven functions and a class, from one line of the attention formula to a whole multi-head layer, and at the end an experiment that shows
# what such a layer cannot see. They follow chapters [2](../notebooks/02_self_attention.ipynb),
# [3](../notebooks/03_multi_head_attention.ipynb) and [4](../notebooks/04_order.ipynb), and most of them go a step beyond those pages. Question 1 does not: write it from memory.
#
# **20 points, about two and a half hours.**
#
# | | question | points | difficulty | minutes |
# |---|---|---|---|---|
# | 1 | Scaled dot-product attention | 2 | 1 | 10 |
# | 2 | A softmax that respects a mask | 3 | 2 | 20 |
# | 3 | Not looking ahead | 2 | 1 | 15 |
# | 4 | Not looking at padding | 2 | 1 | 15 |
# | 5 | Cutting vectors into heads | 2 | 2 | 15 |
# | 6 | Multi-head attention | 4 | 3 | 35 |
# | 7 | Sinusoidal positions | 3 | 2 | 20 |
# | 8 | What order changes | 2 | 2 | 20 |
#
# **How it works.** Below each question stands a cell for your answer and a cell that checks it. The check calls your function on a few
# inputs; if something is wrong it tells you which mistake it recognises, or which values differ. You may check as often as you like. For
# the grade, your functions are called on *other* inputs of other sizes, so an answer fitted to the check's numbers earns nothing.
#
# **The rules.** Keep the names and the arguments of the functions, and leave what your function is given as it is: an input that is changed
# in place makes an answer wrong. Everything in `torch` is allowed except ready-made attention: `F.scaled_dot_product_attention`,
# `nn.MultiheadAttention` and this course's own `lectures_lib.blocks.attention` and `lectures_lib.blocks.positions` are out of bounds; with them there is
# nothing left to learn here. No question needs an earlier answer, and calling one is unwise: a mistake there would cost you twice.
#
# **What the check sees.** In questions 1, 6 and 8 a call of ready-made attention makes the answer wrong. Whatever else is out of bounds
# costs no points by itself: whoever grades is told of it, and decides. In question 6 gradients count: a `.item()`, `.tolist()`, `int(…)`,
# `.detach()`, `.data` or `no_grad` on the way costs half of the points. In questions 1, 2 and 5 it costs nothing, and the check says so. In
# the other questions nobody looks at gradients.

# %% tags=["setup", "nbval-ignore-output"]
# Set-up: run this cell first. Where the course's library is missing (on Colab, say), it
# is installed; running the cell twice is harmless.
import importlib.util
import subprocess
import sys

REPOSITORY = "https://github.com/from-attention-to-bert/course"
if importlib.util.find_spec("lectures_lib") is None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install"]
    command = [*pip, "--quiet", f"lectures-lib @ git+{REPOSITORY}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        said = (done.stdout + done.stderr).strip().splitlines()
        raise RuntimeError(
            f"pip could not install the course's library from {REPOSITORY}.\n"
            f"- It needs Python 3.11, 3.12 or 3.13; this is {sys.version.split()[0]}.\n"
            "- It needs a network and git. Does that address open in a browser?\n"
            "- On Colab: Runtime > Disconnect and delete runtime; then try again.\n"
            "What pip said last:\n" + "\n".join(said[-10:])
        )

import lectures_lib

device = lectures_lib.setup(seed=0)

# %%
import math

import torch
from torch import nn

from lectures_lib.homework import check

# %% [markdown]
# ## Question 1: Scaled dot-product attention
#
# *2 points · difficulty 1 of 3 · 10 minutes · [chapter 2, why divide by √dₖ?](../notebooks/02_self_attention.ipynb#why-divide-by-d_k)*
#
# The formula of the whole course:
#
# $$\mathrm{Attention}(Q, K, V) = \mathrm{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V$$
#
# A small case to try by hand. One query $(1, 1, 1, 1)$ meets two keys, $(1, 1, 0, 0)$ and $(0, 0, 0, 0)$, whose values are 10 and 0. The
# dot products are 2 and 0; since $d_k = 4$, the scores are 1 and 0; the softmax makes 0.73 and 0.27 of them; the output is 7.3.
#
# Your function gets a whole batch, sometimes with a dimension for heads as well, so the shapes are `(batch, n, d)` *or* `(batch, n_heads,
# n, d)`:
#
# - `Q`: `(…, n_query, d_k)`, `K`: `(…, n_key, d_k)`, `V`: `(…, n_key, d_v)`
# - returns `(…, n_query, d_v)`
#
# There are as many values as keys, but there may be fewer queries or more, and values may be wider or narrower than keys.
#
# <details><summary>Hint</summary>
#
# A dimension counted from the end (`-1`, `-2`) means the same whatever stands in front of it.
#
# </details>


# %%
def scaled_dot_product_attention(Q, K, V):
    """softmax(Q Kᵀ / √d_k) V, for any number of leading dimensions."""
    ### BEGIN SOLUTION
    scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])
    return scores.softmax(dim=-1) @ V
    ### END SOLUTION


# %%
check("hw1.scaled_dot_product_attention", scaled_dot_product_attention)

# %% [markdown]
# ## Question 2: A softmax that respects a mask
#
# *3 points · difficulty 2 of 3 · 20 minutes · [chapter 2, masks](../notebooks/02_self_attention.ipynb#masks-what-must-not-be-seen)*
#
# A mask says which keys a query may attend to: boolean, `True` = may attend. Hidden keys get exactly no weight, and the allowed ones share
# all of it. For the scores 1, 2, 3 and the mask `True, True, False` the weights are 0.27, 0.73 and 0: what the softmax of 1 and 2
# alone would be.
#
# Three things make this harder than it looks, and your function must get all of them right.
#
# 1. The mask may have fewer dimensions than the scores, or some of size 1; it is meant for all the scores it broadcasts to.
# 2. A query may have *no* allowed key: a sentence that is nothing but padding. Its weights are zeros, not `nan`.
# 3. Scores may be large. In float32, $e^{89}$ is already infinite and $e^{-104}$ is 0, but the softmax of 300 and 301 is still 0.27 and
#    0.73, and so is that of −11,000 and −10,999.
#
# - `scores`: `(batch, n_heads, n_query, n_key)`, `mask`: boolean, broadcastable to it
# - returns the weights, `(batch, n_heads, n_query, n_key)`; every row sums to 1, or is all zeros
#
# <details><summary>Hint</summary>
#
# `masked_fill` and `torch.where` broadcast. Which rows have no allowed key can be read off the mask alone, before any exponential:
# `mask.any(dim=-1, keepdim=True)`.
#
# </details>


# %%
def masked_softmax(scores, mask):
    """Softmax over the keys that the mask allows; zeros where it allows none."""
    ### BEGIN SOLUTION
    weights = scores.masked_fill(~mask, -math.inf).softmax(dim=-1)
    # Softmax over nothing is 0/0 = nan. The mask tells in which rows that happens.
    return weights.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)
    ### END SOLUTION


# %%
check("hw1.masked_softmax", masked_softmax)

# %% [markdown]
# ## Question 3: Not looking ahead
#
# *2 points · difficulty 1 of 3 · 15 minutes · [chapter 2, masks](../notebooks/02_self_attention.ipynb#masks-what-must-not-be-seen)*
#
# A model that writes from left to right must not see the word it is about to predict: each token may attend to itself and to what came
# before it. For a text read in one go the mask is square. But a program that writes with such a model does not read its own text again
# for every new word. It keeps the keys and values of the `n_past` tokens read so far, and sends only the `n` new ones through the model:
# `n` queries, `n_past + n` keys. With one token read and two new ones:
#
# | | past | new 0 | new 1 |
# |---|---|---|---|
# | **new 0** asks | `True` | `True` | `False` |
# | **new 1** asks | `True` | `True` | `True` |
#
# - `n`: number of new tokens, at least 1; `n_past`: number of earlier ones, 0 when not given
# - returns a boolean tensor `(n, n_past + n)`, `True` = may attend; keys in reading order, the earlier tokens first
#
# <details><summary>Hint</summary>
#
# The new token `i` stands at position `n_past + i` of the text. Which positions may it see? `torch.tril` takes an argument `diagonal`;
# comparing two `torch.arange` works as well.
#
# </details>


# %%
def causal_mask(n, n_past=0):
    """(n, n_past + n), boolean: what each of n tokens behind n_past may attend to."""
    ### BEGIN SOLUTION
    return torch.ones(n, n_past + n, dtype=torch.bool).tril(diagonal=n_past)
    ### END SOLUTION


# %%
check("hw1.causal_mask", causal_mask)

# %% [markdown]
# ## Question 4: Not looking at padding
#
# *2 points · difficulty 1 of 3 · 15 minutes · [chapter 2, masks](../notebooks/02_self_attention.ipynb#masks-what-must-not-be-seen), and
# for heads and batches [chapter 3](../notebooks/03_multi_head_attention.ipynb#sentences-of-different-lengths)*
#
# Sentences of different lengths travel in one batch, filled up with padding to a common length `n`. Nobody should attend to padding.
# Models that read a whole sentence, like BERT, are usually given it on the right; models that write are given it on the *left*, so that
# the last word of every sentence stands at the end, where the writing goes on. Two sentences of 2 and 3 words, with `n = 3`:
#
# | | `side="right"` | `side="left"` |
# |---|---|---|
# | 2 words | `True, True, False` | `False, True, True` |
# | 3 words | `True, True, True` | `True, True, True` |
#
# The mask is to be combined with scores of shape `(batch, n_heads, n_query, n_key)`. It concerns *keys* and is the same for every head
# and every query, so it has size 1 in those two places.
#
# - `lengths`: integers `(batch,)`, each from 1 to `n`; `n`: the padded length; `side`: `"right"` or `"left"`, where the padding is
# - returns a boolean tensor `(batch, 1, 1, n)`, `True` = may attend
#
# <details><summary>Hint</summary>
#
# `lengths[:, None]` has shape `(batch, 1)`; compared with a row of `n` position numbers it gives `(batch, n)`. `None` inside square
# brackets inserts the dimensions that are still missing.
#
# </details>


# %%
def padding_mask(lengths, n, side="right"):
    """(batch, 1, 1, n), boolean: True for keys that are words, False for padding."""
    ### BEGIN SOLUTION
    positions = torch.arange(n)
    words = (
        positions < lengths[:, None]
        if side == "right"
        else positions >= n - lengths[:, None]
    )
    return words[:, None, None, :]
    ### END SOLUTION


# %%
check("hw1.padding_mask", padding_mask)

# %% [markdown]
# ## Question 5: Cutting vectors into heads
#
# *2 points · difficulty 2 of 3 · 15 minutes · [chapter 3, the trap](../notebooks/03_multi_head_attention.ipynb#the-trap-view-without-transpose)*
#
# Every head works on its own piece of every vector: the first head on the first `d_head` numbers, the second on the next, and so on. Two
# tokens of width 4, cut for two heads:
#
# $$\begin{pmatrix} 0 & 1 & 2 & 3 \\ 4 & 5 & 6 & 7 \end{pmatrix} \longrightarrow
# \text{head 0: } \begin{pmatrix} 0 & 1 \\ 4 & 5 \end{pmatrix}, \quad \text{head 1: } \begin{pmatrix} 2 & 3 \\ 6 & 7 \end{pmatrix}$$
#
# The trap is that many wrong ways to do this give a tensor of the right shape. A model trains with any of them. With some it learns less, because a head gets numbers of other tokens; with others it learns as well, but cannot use weights that were trained with the right cut. No error says which. Here, too, the number of leading dimensions may vary: the batch may be one dimension or two.
#
# - `x`: `(…, n, width)`; `n_heads`: a divisor of `width`
# - returns `(…, n_heads, n, width / n_heads)`
#
# <details><summary>Hint</summary>
#
# Try it on `torch.arange(8).view(1, 2, 4)` and compare with the picture above. Reshaping never changes the order in which the numbers are read, row by row,
# only where the brackets go; moving a position past a head does change it. `x.unflatten` cuts a single dimension in two.
#
# </details>


# %%
def split_heads(x, n_heads):
    """(…, n, width) → (…, n_heads, n, width / n_heads): head h gets each h-th piece."""
    ### BEGIN SOLUTION
    pieces = x.unflatten(-1, (n_heads, -1))  # (…, n, n_heads, d_head)
    return pieces.transpose(-3, -2)
    ### END SOLUTION


# %%
check("hw1.split_heads", split_heads)

# %% [markdown]
# ## Question 6: Multi-head attention
#
# *4 points · difficulty 3 of 3 · 35 minutes · [chapter 3, all heads at once](../notebooks/03_multi_head_attention.ipynb#all-heads-at-once)*
#
# Now the whole layer, as self-attention: queries, keys and values all come from `x`. Each is projected once for all heads, cut into
# heads, each head attends by itself, and the heads' outputs are put side by side again and mixed by $W^O$. In the paper, `n_heads` heads
# share out `d_model` numbers. Nothing in the formula demands that, and here the width of a head is free: `d_head` is given, and `n_heads
# · d_head` may be smaller or larger than `d_model`.
#
# The check loads its own numbers into your parameters, so their names and shapes are fixed: four `nn.Linear` layers without bias, called
# `W_Q`, `W_K`, `W_V` (from `d_model` to `n_heads · d_head`) and `W_O` (back to `d_model`). Head 0 owns the first `d_head` outputs of
# `W_Q`, `W_K` and `W_V`. With `d_model=8, n_heads=2, d_head=3` that makes 4 · 48 = 192 numbers.
#
# A test you can do in your head: a sentence of a *single* word can attend only to itself, with weight 1. Whatever `W_Q` and `W_K` are,
# the output must then be `W_O(W_V(x))`.
#
# - `MultiHeadAttention(d_model, n_heads, d_head)`
# - `forward(x, mask=None)`: `x` is `(batch, n, d_model)`; `mask`, if given, is boolean, `True` = may attend, and either `(n, n)` or of four
#   dimensions that broadcast to `(batch, n_heads, n, n)` (three do not occur); it leaves every query at least one key
# - returns `(batch, n, d_model)`
#
# <details><summary>Hint</summary>
#
# Write down the shape after every line. Cutting into heads and merging them are each other's opposite: whatever was transposed on the way
# in must be transposed on the way out, *before* the heads are flattened into one vector.
#
# </details>


# %%
class MultiHeadAttention(nn.Module):
    """Self-attention with n_heads heads of d_head numbers each."""

    def __init__(self, d_model, n_heads, d_head):
        super().__init__()
        ### BEGIN SOLUTION
        self.n_heads, self.d_head = n_heads, d_head
        self.W_Q = nn.Linear(d_model, n_heads * d_head, bias=False)
        self.W_K = nn.Linear(d_model, n_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_model, n_heads * d_head, bias=False)
        self.W_O = nn.Linear(n_heads * d_head, d_model, bias=False)
        ### END SOLUTION

    def forward(self, x, mask=None):
        """(batch, n, d_model) → (batch, n, d_model)."""
        ### BEGIN SOLUTION
        batch, n, _ = x.shape

        def heads(projected):
            return projected.view(batch, n, self.n_heads, self.d_head).transpose(1, 2)

        Q, K, V = (
            heads(self.W_Q(x)),
            heads(self.W_K(x)),
            heads(self.W_V(x)),
        )  # (batch, n_heads, n, d_head)
        scores = (
            Q @ K.transpose(-2, -1) / math.sqrt(self.d_head)
        )  # (batch, n_heads, n, n)
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        output = scores.softmax(dim=-1) @ V  # (batch, n_heads, n, d_head)
        return self.W_O(
            output.transpose(1, 2).reshape(batch, n, self.n_heads * self.d_head)
        )
        ### END SOLUTION


# %%
check("hw1.MultiHeadAttention", MultiHeadAttention)

# %% [markdown]
# ## Question 7: Sinusoidal positions
#
# *3 points · difficulty 2 of 3 · 20 minutes · [chapter 4, how to number places](../notebooks/04_order.ipynb#how-to-number-places)*
#
# Each position of a text gets a vector of sines and cosines, like the hands of many clocks, each slower than the one before:
#
# $$PE_{pos,\,2i} = \sin\!\left(\frac{pos}{10000^{2i/d_{model}}}\right)
# \qquad PE_{pos,\,2i+1} = \cos\!\left(\frac{pos}{10000^{2i/d_{model}}}\right)$$
#
# Columns $2i$ and $2i + 1$ are one hand of the clock: the same angle, once under a sine and once under a cosine. With `d_model = 4`,
# position 0 is (0, 1, 0, 1), and position 1 is (sin 1, cos 1, sin 0.01, cos 0.01) = (0.841, 0.540, 0.010, 1.000).
#
# Two small additions. The first position need not be 0: a program that continues a text of 40 tokens needs the positions from 40 on, and
# only those. And `d_model` may be odd; the last hand then shows its sine only. With `d_model = 3`, position 1 is (0.841, 0.540, 0.002).
#
# - `n`: how many positions; `d_model`: the width of their vectors; `start`: the first position, 0 when not given
# - returns `(n, d_model)`, float32: the vectors of the positions `start`, …, `start + n - 1`
#
# <details><summary>Hint</summary>
#
# A column of positions divided by a row of powers gives the table of all angles. `table[:, 0::2]` is every second column from column 0
# on; how many columns has `table[:, 1::2]` when `d_model` is odd?
#
# </details>


# %%
def sinusoidal_positions(n, d_model, start=0):
    """(n, d_model): the vectors of the positions start … start + n - 1."""
    ### BEGIN SOLUTION
    positions = torch.arange(start, start + n)[:, None]
    angles = positions / 10_000 ** (torch.arange(0, d_model, 2) / d_model)  # (n, hands)
    table = torch.zeros(n, d_model)
    table[:, 0::2] = angles.sin()
    table[:, 1::2] = angles[:, : d_model // 2].cos()
    return table
    ### END SOLUTION


# %%
check("hw1.sinusoidal_positions", sinusoidal_positions)

# %% [markdown]
# ## Question 8: What order changes
#
# *2 points · difficulty 2 of 3 · 20 minutes ·
# [chapter 4, what the model without positions knows](../notebooks/04_order.ipynb#what-the-model-without-positions-knows)*
#
# "Dog bites man" and "man bites dog": the same three words, in other seats. Does self-attention notice? Find out by measuring, for every
# word, how its output changes when the sentence is shuffled.
#
# Think of words that change seats in a theatre. `permutation[i]` is the word that moves to seat `i`: with the words dog (0), bites (1), man
# (2) and the permutation (1, 2, 0), seat 0 gets "bites", seat 1 "man" and seat 2 "dog", which is what `X[permutation]` does. Positions
# belong to the *seats*: whoever sits in seat 0 gets `positions[0]` added. The original sentence gets the positions too: `X[i]` gets
# `positions[i]`. After attention, each word takes its output vector home to its old place, and there it is compared with what the word got
# before. Word 0, "dog", comes home from seat 2.
#
# The attention itself is given: `attend`, without weight matrices.
#
# - `X`: the words, `(n, d)`; `permutation`: integers `(n,)`, each of 0, …, n - 1 once; `positions`: `(n, d)`, or `None` for a model
#   without positions
# - returns `(n, d)`: row `i` is the output of word `i` (the one in `X[i]`) in the shuffled sentence, minus its output in the original one
#
# Before you run it: what should come out without positions?
#
# <details><summary>Hint</summary>
#
# To send everyone home you need, for each word, the number of its seat: the *inverse* permutation. `permutation.argsort()` is one way to
# it. Indexing with `permutation` a second time shuffles a second time: with (1, 2, 0), "dog" would not be home again until the third.
#
# </details>


# %%
def order_effect(X, permutation, positions=None):
    """(n, d): how the output of each word of X changes when they are shuffled."""

    def attend(words):
        return (words @ words.T / math.sqrt(words.shape[-1])).softmax(dim=-1) @ words

    ### BEGIN SOLUTION
    if positions is None:
        positions = torch.zeros_like(X)
    in_order = attend(X + positions)
    shuffled = attend(X[permutation] + positions)
    return shuffled[permutation.argsort()] - in_order
    ### END SOLUTION


# %%
check("hw1.order_effect", order_effect)

# %% [markdown]
# With your last two answers, a look at five random words, first without positions and then with them (nothing to hand in here):

# %%
words = torch.randn(5, 8, generator=torch.Generator().manual_seed(0))
seats = torch.tensor([3, 0, 4, 1, 2])
without = order_effect(words, seats).abs().max().item()
with_positions = (
    order_effect(words, seats, sinusoidal_positions(5, 8)).abs().max().item()
)
print(
    "without positions, shuffling changes",
    "nothing" if without < 1e-5 else f"up to {without:.2f}",
)
print(f"with positions, it changes numbers by up to {with_positions:.2f}")

# %% [markdown]
# The word "dog" cannot know from self-attention alone whether it bites or is bitten. Whatever a Transformer without a
# causal mask knows about order, it knows from the positions.
#
# ## Before you hand in
#
# Choose *Restart and run all* from the menu and see that every check says ✓: an answer that works only because of a cell you have
# since changed or deleted will not work for the grader either. Then hand in this one file; [how](../book/handing_in.md).
