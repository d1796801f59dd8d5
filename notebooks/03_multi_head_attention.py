# %% [markdown]
# # Multi-head attention
#
# Photograph what stands on your left, then what stands on your right, and print one picture over the other: neither is easy to make out. A single attention head is in that position. It has one set of shares for each word, so
# all it can hand back is *one* mixture of the values.
#
# Real models therefore run many heads side by side.

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

# %% tags=["hide-input"] mystnb={"image": {"alt": "The sentence three times, with arcs from the word it, the thicker the more. Layer 2, head 0: nearly half goes to because, most of the rest to [CLS], the mark before the sentence. Layer 2, head 1: 0.71 to tired. Layer 3, head 1: 0.68 to animal."}, "figure": {"caption": "Where \u201cit\u201d looks, in three heads of MiniLM (the thicker the arc, the more): at \u201cbecause\u201d, at \u201ctired\u201d, at \u201canimal\u201d."}}
import matplotlib.pyplot as plt
import torch

from lectures_lib.models import minilm
from lectures_lib.show import plots

text = "The animal didn't cross the street because it was too tired."
sentence = minilm.read(text)
it, heads = sentence.tokens.index("it"), [(2, 0), (2, 1), (3, 1)]
looks = torch.stack([sentence.weights[layer, head, it] for layer, head in heads])
figure, axes = plt.subplots(3, 1, figsize=(6.2, 3.6))
for ax, look, (layer, head) in zip(axes, looks, heads, strict=True):
    plots.arcs(look, sentence.tokens, it, ax, f"layer {layer}, head {head}")
plt.show()

# %% tags=["remove-cell"]
for row, word in zip(looks, ("because", "tired", "animal"), strict=True):
    assert row.argmax() == sentence.tokens.index(word)
assert looks[1].max() > 0.65 and looks[2].max() > 0.65

# %% [markdown]
# MiniLM has six layers of twelve heads, counted from 0, as heads are in all of this book. The picture shows where three
# of them look from one word, "it". The first two are in the same layer: both mixtures are there at once, side by side.
#
# **After this chapter you can**
#
# - show with three words what two heads keep apart that one mixes;
# - write multi-head attention twice, with h small matrices and with one large one, and see that they agree;
# - cut vectors into heads without mixing up the positions, and find the bug when someone else did;
# - run sentences of different lengths in one batch without the padding being noticed;
# - check that a real model's attention is the one you have built.
#
# **Time** about 60 minutes. **You need** [chapter 2](02_self_attention.ipynb).

# %% tags=["hide-input"]

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.testing import assert_close

from lectures_lib.blocks.attention import (  # what you built in chapter 2
    DotProductAttention,
    causal_mask,
    scaled_dot_product_attention,
)
from lectures_lib.models import minilm
from lectures_lib.show import plots
from lectures_lib.show.drawings import draw
from lectures_lib.show.stepper import Stepper, join, line, part, pieces
from lectures_lib.show.viewer import AttentionViewer

torch.set_printoptions(precision=2, sci_mode=False)

# %% [markdown]
# ## What one head cannot do
#
# "Dog bites man", once more. The word in the middle would like to know who stands on its left, the one that bites,
# *and* who stands on its right, the one that is bitten. Let the values say only *what* a word is: (1, 0) for "dog" and
# (0, 1) for "man". A head that looks at both neighbours alike gives half of its attention to each.

# %%
dog, man = torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])

print("dog bites man, one head:", (0.5 * dog + 0.5 * man).tolist())
print("man bites dog, one head:", (0.5 * man + 0.5 * dog).tolist())

# %% [markdown]
# The two sentences give the same vector. The average has forgotten who was where, and nothing made from it alone can
# bring that back.
#
# <details><summary>And with unequal shares, or with values that say where they stand?</summary>
#
# Shares of 0.6 and 0.4 would tell these two sentences apart. But then a large number has to mean "left" and a small one
# "right", and real values are large or small for reasons of their own.
#
# From chapter 4 on, a value can also say *where* its word stands. With equal shares that alone does not help: dog +
# left + man + right is the same sum as man + left + dog + right. Behind a feed-forward layer (chapter 5) "dog on the
# left" can have a vector of its own, and then an average can keep the two sentences apart. Even then one head cannot
# share out its attention in two ways. If the left neighbour gets 0.9 of it, for whatever purpose, at most 0.1 is left
# for the right one, for every other purpose, too.
#
# </details>
#
# Now take two heads. One looks left, the other looks right, and their results are **concatenated**: written side by
# side, so that each keeps its own numbers. (How a head can know what stands left of a word is chapter 4's subject.)

# %%
print("dog bites man, two heads:", torch.cat([dog, man]).tolist())
print("man bites dog, two heads:", torch.cat([man, dog]).tolist())

# %% [markdown]
# That is the whole idea: **different mixtures, kept apart**.
#
# ## The formula
#
# There are $h$ heads. Head $i$ has three matrices of its own, its **projections** $W_i^Q$, $W_i^K$ and $W_i^V$, and
# attends with them as in chapter 2. The heads' outputs are concatenated, and a last matrix $W^O$ mixes them (and brings
# them back to the width $d_{model}$, if side by side they have another).
#
# $$\text{head}_i = \operatorname{Attention}(X W_i^Q,\; X W_i^K,\; X W_i^V), \qquad \operatorname{MultiHead}(X) = \operatorname{Concat}(\text{head}_0, \dots, \text{head}_{h-1})\, W^O.$$
#
# The heads are narrow: $d_k = d_v = d_{model} / h$. The original Transformer is 512 numbers wide and has 8 heads. Each
# head reads all 512 numbers of a word and makes 64 new ones from them, so $W_i^Q$, $W_i^K$ and $W_i^V$ are 512 × 64
# matrices. $W^O$ is 512 × 512.
#
# Here are three heads for a sentence of three words, six numbers each:

# %% tags=["remove-input"]
draw("multi_head")

# %% [markdown]
# **Predict.** Eight heads need 1,048,576 parameters in these matrices. How many do sixteen need: half as many, the same
# number, or twice as many?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: the same number -->
#
# The same number. Sixteen heads are half as wide, so each has half as many parameters. "Twice as many" would be right
# if every head kept its 64 numbers. Something else does double, the number of attention tables: each head has one of
# its own, so for $n$ words there are $h \cdot n^2$ attention weights.
#
# </details>

# %%
d_model, n = 512, 100  # n words
for h in (1, 8, 16):
    d_k = d_model // h
    projections = h * 3 * d_model * d_k  # W_i^Q, W_i^K and W_i^V of h heads
    output = (h * d_k) * d_model  # W^O
    numbers = f"{projections + output:,} parameters, {h * n**2:7,} weights"
    print(f"h = {h:2}, d_k = {d_k:3}: {numbers}")

# %% [markdown]
# So there are $4\, d_{model}^2$ parameters, however many heads there are. But $d_k$ shrinks: each head compares two
# words by fewer numbers. Is it worth it? In the paper's translator one head was 0.9 BLEU points worse than the best
# setting (BLEU: [chapter 8b](08b_judging.ipynb)), and 32 narrow heads were again a little worse than 8 or 16.
#
# ## Head by head
#
# First the slow way, exactly as the formula says. The sizes are small, and $d_v$ differs from $d_k$, as it may.

# %%
n, d_model, h, d_k, d_v = 5, 12, 3, 4, 2
X = torch.randn(n, d_model)
W_Q = torch.randn(h, d_model, d_k)  # one matrix for each head
W_K = torch.randn(h, d_model, d_k)
W_V = torch.randn(h, d_model, d_v)
W_O = torch.randn(h * d_v, d_model)

heads = [  # h times (n, d_v)
    scaled_dot_product_attention(X @ W_Q[i], X @ W_K[i], X @ W_V[i]) for i in range(h)
]
concatenated = torch.cat(heads, dim=-1)  # (n, h · d_v)
Z = concatenated @ W_O  # (n, d_model)

for name, tensor in {"a head": heads[0], "all": concatenated, "Z": Z}.items():
    print(f"{name:6} {tuple(tensor.shape)}")

# %% [markdown]
# ## All heads at once
#
# The loop makes three small products $X W_i^Q$. Write the matrices side by side, and one large product does the work of
# all three: its first $d_k$ columns belong to head 0, the next to head 1, and so on. How far is each head's part, at
# most, from the small product?

# %% tags=["atol=1e-5"]
W_Q_wide = torch.cat(list(W_Q), dim=-1)  # (d_model, h · d_k)
Q_wide = X @ W_Q_wide  # (n, h · d_k)

for i in range(h):
    columns = Q_wide[:, i * d_k : (i + 1) * d_k]
    print(f"head {i}: {(columns - X @ W_Q[i]).abs().max():.1e}")

# %% [markdown]
# Then we cut the heads apart, let each do its own attention, and join the results again:

# %% tags=["remove-input"]
draw("split_heads")

# %% [markdown]
# `view` cuts each row of `Q_wide` into $h$ pieces, one for each head. `transpose` then swaps two dimensions, so that
# the heads stand *in front of* the positions. PyTorch takes the last two dimensions as matrices and does one product
# for every index in front of them: here, one for every head.


# %% tags=["atol=1e-4"]
def split(x, h):
    """(n, h · d) → (h, n, d)"""
    return x.view(x.shape[0], h, -1).transpose(0, 1)


W_K_wide, W_V_wide = torch.cat(list(W_K), dim=-1), torch.cat(list(W_V), dim=-1)
Q = split(Q_wide, h)  # (h, n, d_k)
K = split(X @ W_K_wide, h)  # (h, n, d_k)
V = split(X @ W_V_wide, h)  # (h, n, d_v)
outputs = scaled_dot_product_attention(Q, K, V)  # all heads: (h, n, d_v)
joined = outputs.transpose(0, 1).flatten(start_dim=1)  # back to (n, h · d_v)
Z_at_once = joined @ W_O

print(f"largest difference from the loop: {(Z_at_once - Z).abs().max():.1e}")

# %% tags=["remove-cell"]
assert_close(Z_at_once, Z)

# %% [markdown]
# Equal but for rounding (the entries of Z are about 10 in size), and without a loop.
#
# ## As a layer
#
# A model reads a batch of sentences at once, so one more dimension comes in front. Cutting and joining become two short
# functions, and multi-head attention is four linear layers around the attention of chapter 2.


# %%
def split_heads(x, n_heads):
    """(batch, n, n_heads · d_head) → (batch, n_heads, n, d_head)"""
    batch, n, width = x.shape
    return x.view(batch, n, n_heads, width // n_heads).transpose(1, 2)


def merge_heads(x):
    """(batch, n_heads, n, d_head) → (batch, n, n_heads · d_head)"""
    return x.transpose(1, 2).flatten(start_dim=2)


# %% tags=["remove-cell"]
chance = torch.get_rng_state()


# %%
class MultiHeadSelfAttention(nn.Module):
    """Several heads over one sentence. (batch, n, d_model) → the same"""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads  # d_k = d_model / n_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, d_model, bias=False)
        self.W_V = nn.Linear(d_model, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, X, mask=None):
        Q = split_heads(self.W_Q(X), self.n_heads)  # (batch, n_heads, n, d_k)
        K = split_heads(self.W_K(X), self.n_heads)  # (batch, n_heads, n, d_k)
        V = split_heads(self.W_V(X), self.n_heads)  # (batch, n_heads, n, d_k)
        heads = scaled_dot_product_attention(Q, K, V, mask)  # (batch, n_heads, n, d_k)
        return self.W_O(merge_heads(heads))  # (batch, n, d_model)


layer = MultiHeadSelfAttention(d_model=12, n_heads=3)
print("in ", tuple(X[None].shape), "a batch of one sentence")
print("out", tuple(layer(X[None]).shape))

# %% tags=["remove-cell"]
blocks = [linear.weight.view(3, 4, 12) for linear in (layer.W_Q, layer.W_K, layer.W_V)]
by_hand = [
    scaled_dot_product_attention(*(X @ block[i].T for block in blocks))
    for i in range(3)
]
assert_close(layer(X[None])[0], layer.W_O(torch.cat(by_hand, dim=-1)))
torch.set_rng_state(chance)

# %% [markdown]
# Learn to write this class from memory. Two small changes are to come. From chapter 5 on, the four linear layers have a
# bias. In chapter 6 one sentence asks another: `forward` then makes its keys and values from a second input, `context`.
#
# ## The trap: view without transpose
#
# `(n, h · d)` should become `(h, n, d)`. There is a shorter way to that shape: `x.view(h, n, d)`. It runs, and the loss
# may even fall. It is also wrong, and published code has had it ([an
# example](https://github.com/reczoo/FuxiCTR/issues/30)). To see why, take the queries of four words, number their
# entries row after row, and cut them into two heads of width 2.

# %% [markdown]
# **Predict.** Row $i$ is the query of word $i$; its first half, two numbers, belongs to head 0. What does head 0 hold
# after `x.view(2, 4, 2)`: the first half of each of the four rows, the whole of the first two rows, or every second
# number?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: the whole of the first two rows -->
#
# The whole of the first two rows, each in two pieces. `view` never moves a number. It reads the numbers in the order in
# which they lie in memory, row after row, and fills the new shape from the front. The first choice is what one wants,
# and what the shape (2, 4, 2) seems to promise.
#
# </details>

# %%
x = torch.arange(16).view(4, 4)  # row i belongs to word i
right = x.view(4, 2, 2).transpose(0, 1)
wrong = x.view(2, 4, 2)

print("head 0, view and transpose\n", right[0])
print("head 0, view alone\n", wrong[0])

# %% tags=["remove-input"]
draw("view_trap")

# %% [markdown]
# Watch the sixteen numbers go both ways (a shade for each word, from faint to strong):


# %% tags=["hide-input"]
def lines(rows):
    """Rows of numbers, one below the other; a number's shade says whose it is."""
    shades = [[(number // 4 * 3 + 1) / 10 for number in row] for row in rows.tolist()]
    texts = [[f"{number:\u2007>2}" for number in row] for row in rows.tolist()]
    drawn = zip(texts, shades, strict=True)
    return join(*(line(pieces(row, shades=shade)) for row, shade in drawn))


def two_heads(cut):
    """(2, 4, 2): what each head holds."""
    return line(*(part(f"head {i}", lines(head)) for i, head in enumerate(cut)))


halves = x.view(4, 2, 2)
Stepper(
    [
        part("x, (4, 4)", lines(x)),
        line(*(part(f"half {i}", lines(halves[:, i])) for i in (0, 1))),
        two_heads(right),
        part("x, (4, 4)", lines(x)),
        two_heads(wrong),
    ],
    "Cutting the queries of four words into two heads",
    labels=[
        "Four words, a row for each",
        "x.view(4, 2, 2): each row in two halves",
        ".transpose(0, 1): the halves to the front; each head has a part of every word",
        "Back to the beginning",
        "x.view(2, 4, 2) alone: head 0 has words 0 and 1, head 1 has words 2 and 3",
    ],
    alt="The numbers 0 to 15 in four rows, cut into two heads, rightly and wrongly.",
)

# %% [markdown]
# The shape is right either way. How does one notice the bug? By testing a property that must hold. With a causal
# mask, a word's output may depend on that word and on the words before it, and on no others. So we change one word at a
# time and measure how far each output moves.


# %%
def attend(x, right):
    """Causal attention in two heads; x (4, 4) serves as queries, keys and values."""
    heads = x.view(4, 2, 2).transpose(0, 1) if right else x.view(2, 4, 2)
    outputs = scaled_dot_product_attention(heads, heads, heads, causal_mask(4))
    return outputs.transpose(0, 1).reshape(4, 4) if right else outputs.reshape(4, 4)


def influence(right):
    """Row i: how far each of the four outputs moves if word i changes."""
    words, rows = torch.randn(4, 4), []
    for i in range(4):
        changed = words.clone()
        changed[i] += 1.0
        difference = attend(changed, right) - attend(words, right)
        rows.append(difference.abs().amax(dim=-1))
    return torch.stack(rows)


print("view and transpose\n", influence(right=True))

# %% [markdown]
# A triangle, as it should be: word 1, the second row, moves outputs 1, 2 and 3.

# %% [markdown]
# **Predict.** Now `view` alone, with the same causal mask. Which outputs does word 1 move: its own and the later ones
# as before, only its own, or all four?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: only its own -->
#
# Only its own. Words 0 and 1 share head 0, words 2 and 3 share head 1, so what happens to word 1 never reaches words 2
# and 3. "All four" would mean that the future leaks; here the opposite happens, and the past is lost. A test that
# changes only word 2 would pass: outputs 2 and 3 move, just as they should.
#
# </details>

# %%
print("view alone\n", influence(right=False))

# %% [markdown]
# Without any error, one half of the sentence is cut off from the other. A good test tries *every* word. (**Try it**
# without `causal_mask(4)` in `attend`: which numbers are 0?)
#
# An error message can lead into this trap. `transpose` moves no number either; it only notes the new order. After it,
# neighbours in the tensor are no longer neighbours in memory. So PyTorch refuses to join the heads with `view`, and its
# message speaks of *strides* (how many places in memory it is from one neighbour to the next). Do not mend this by dropping the
# `transpose`. Use `reshape` or `flatten`, which first copy the numbers into the new order.
#
# ## Sentences of different lengths
#
# Two sentences share a batch, one of five words and one of three. The short one is filled up with two words of padding,
# and a mask tells every query not to look at them. The scores have the shape `(batch, n_heads, n_query, n_key)`. So the
# mask gets the shape `(batch, 1, 1, n_key)`, and broadcasting repeats it for every head and every query.


# %%
def padding_mask(lengths, n):
    """(batch, 1, 1, n): only the first lengths[b] keys of sentence b are allowed."""
    positions = torch.arange(n, device=lengths.device)
    return (positions < lengths[:, None])[:, None, None, :]


module = MultiHeadSelfAttention(d_model=12, n_heads=3)
long, short = torch.randn(5, 12), torch.randn(3, 12)

batch = torch.full((2, 5, 12), 99.0)  # padding that would be noticed
batch[0], batch[1, :3] = long, short
mask = padding_mask(torch.tensor([5, 3]), n=5)

# %% [markdown]
# **Predict.** The padding holds absurd numbers, 99 everywhere. Suppose we forget the mask. Which sentence gets
# other outputs than it gets alone: the long one, the short one, or both?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: the short one -->
#
# The short one. The long sentence has no padding, and sentences of a batch never look at each other, so "both" is
# wrong. For the same reason this bug is easily missed: a test with sentences of one length cannot see it.
#
# </details>

# %% tags=["atol=1e-4"]
with torch.no_grad():
    alone = module(long[None])[0], module(short[None])[0]
    for name, used in {"with the mask": mask, "without": None}.items():
        together = module(batch, mask=used)
        differences = [
            (together[b, : len(lone)] - lone).abs().max()
            for b, lone in enumerate(alone)
        ]
        print(f"{name:14} long {differences[0]:.1e}, short {differences[1]:.1e}")

# %% tags=["remove-cell"]
with torch.no_grad():
    together = module(batch, mask=mask)
assert_close(together[0], alone[0])
assert_close(together[1, :3], alone[1])

# %% [markdown]
# With the mask, each sentence gets in the batch what it gets alone. (The outputs *at* the padded places are
# meaningless; the loss must not count them.)
#
# A model that writes from left to right needs the causal mask as well. In both masks `True` means *may attend*, so
# together they are `causal & padding`. The causal mask is one table for all sentences, (5, 5); the padding mask is one
# row for each of the two, (2, 1, 1, 5). Broadcasting repeats the table for every sentence and the row for every query,
# and the result has the shape (2, 1, 5, 5).
#
# In the rows of the three real words the padding mask changes nothing: the causal mask already hides padding *behind* a
# text. Both are needed where padding stands in front.

# %% tags=["hide-input"] mystnb={"image": {"alt": "Three tables of five queries and five keys. Causal: the lower triangle is filled. Padding: the first three columns are filled, in every row. Both: the lower triangle, cut off behind the third column."}, "figure": {"caption": "The masks of the sentence of three words: filled where a query (row) may look at a key (column)."}}
both = causal_mask(5) & mask
shown = {
    "causal": causal_mask(5),
    "& padding, row repeated": mask[1, 0].expand(5, 5),
    "= both": both[1, 0],
}
figure, panels = plots.small_multiples(3, columns=3, size=(2.2, 2.3))
for ax, (name, table) in zip(panels, shown.items(), strict=True):
    plots.heatmap(0.8 * table, range(5), range(5), ax=ax, title=name, limit=1.0)
plt.show()

# %% [markdown]
# ## What the output matrix does
#
# So far the heads have stayed apart. $W^O$ brings them together. Cut it into $h$ blocks of rows, one for each head;
# then
#
# $$\operatorname{Concat}(\text{head}_0, \dots, \text{head}_{h-1})\, W^O = \sum_{i=0}^{h-1} \text{head}_i\, W_i^O.$$

# %% tags=["atol=1e-4"]
# view alone is right here: we cut rows, and rows lie one after the other
W_O_of_head = W_O.view(h, d_v, d_model)
summed = sum(heads[i] @ W_O_of_head[i] for i in range(h))
print(f"largest difference: {(summed - Z).abs().max():.1e}")

# %% tags=["remove-cell"]
assert_close(summed, Z)

# %% [markdown]
# Each head's output is spread over all $d_{model}$ numbers by a block of its own; only then are the contributions
# *added*. To take a head out, leave out its term of the sum, as exercise 4 does.
#
# ## The class that the book uses
#
# The rest of the book uses a class that does the same arithmetic and a little more. You need not learn it. With our
# weights it agrees with the loop above, and with PyTorch's own `nn.MultiheadAttention`.
#
# **For those who write libraries.** The class, what it can do besides, and its comparison with PyTorch's.
#
# - `context` is the sentence that gives the keys and values: without it the same sentence, in chapter 6 another one. (Not the context of chapter 1: that was the average, which attention gives back.)
#   `d_context` is the width of its vectors.
# - `d_k` and `d_v` may be chosen. `bias` and `dropout` are off unless asked for. In its attention the paper
#   mentions no biases; from chapter 5 on ours has them, as most code does. Dropout is explained there, too.
# - `keys_values` makes the keys and values, which [chapter 9b](09b_cache.ipynb) will need alone.
# - A linear layer stores its matrix transposed, so the matrices of our loop go in with `.T`. `nn.MultiheadAttention`
#   stacks $W^Q$, $W^K$ and $W^V$ into one matrix and stores it in the same way, so a linear layer's weights go in as
#   they are.


# %% tags=["atol=1e-4"]
class MultiHeadAttention(nn.Module):
    """Several attentions side by side, their outputs mixed by W_O."""

    def __init__(
        self,
        d_model,
        n_heads,
        *,
        d_k=None,
        d_v=None,
        d_context=None,
        bias=False,
        dropout=0.0,
    ):
        super().__init__()
        self.n_heads = n_heads
        d_k = d_model // n_heads if d_k is None else d_k
        d_v = d_k if d_v is None else d_v
        d_context = d_model if d_context is None else d_context
        self.W_Q = nn.Linear(d_model, n_heads * d_k, bias=bias)
        self.W_K = nn.Linear(d_context, n_heads * d_k, bias=bias)
        self.W_V = nn.Linear(d_context, n_heads * d_v, bias=bias)
        self.W_O = nn.Linear(n_heads * d_v, d_model, bias=bias)
        self.attention = DotProductAttention(dropout)  # chapter 2, fused

    def forward(self, query, context=None, mask=None):
        """(batch, n_query, d_model) → the same; no context: self-attention."""
        K, V = self.keys_values(query if context is None else context)
        return self.attend(query, K, V, mask)

    def keys_values(self, context):
        """(batch, n_heads, n_key, d_k) and (…, d_v)"""
        K = split_heads(self.W_K(context), self.n_heads)
        V = split_heads(self.W_V(context), self.n_heads)
        return K, V

    def attend(self, query, K, V, mask=None):
        """Attention in every head; then the outputs joined and mixed by W_O."""
        Q = split_heads(self.W_Q(query), self.n_heads)
        outputs = self.attention(Q, K, V, mask)
        return self.W_O(merge_heads(outputs))


like_the_loop = MultiHeadAttention(d_model=12, n_heads=3, d_k=4, d_v=2)
matrices = {"W_Q": W_Q_wide, "W_K": W_K_wide, "W_V": W_V_wide, "W_O": W_O}
like_the_loop.load_state_dict(
    {f"{name}.weight": matrix.T for name, matrix in matrices.items()}
)

ours = MultiHeadAttention(d_model=12, n_heads=3, bias=True)
torchs = nn.MultiheadAttention(12, 3, batch_first=True)
stacked = (ours.W_Q, ours.W_K, ours.W_V)
torchs.load_state_dict(
    {
        "in_proj_weight": torch.cat([linear.weight for linear in stacked]),
        "in_proj_bias": torch.cat([linear.bias for linear in stacked]),
        "out_proj.weight": ours.W_O.weight,
        "out_proj.bias": ours.W_O.bias,
    }
)
with torch.no_grad():
    from_loop = (like_the_loop(X[None])[0] - Z).abs().max()
    # torch's mask says which keys NOT to look at
    expected, _ = torchs(batch, batch, batch, key_padding_mask=~mask[:, 0, 0])
    from_torchs = (ours(batch, mask=mask) - expected)[:, :3].abs().max()
    relative = from_torchs / expected[:, :3].abs().max()
print(f"largest difference from the loop: {from_loop:.1e}")
print(f"from torch's class, relative to its outputs: {relative:.1e}")

# %% tags=["remove-cell"]
assert_close(like_the_loop(X[None])[0], Z)

# %% [markdown]
# ## Real heads
#
# Now a real model. MiniLM's projections have other names, and biases; otherwise they are what you have just built. The
# course's library translates the names and runs the model through this chapter's attention. Most people would load it
# with Hugging Face's `transformers`. Is it really the same model?

# %% tags=["hide-input", "atol=1e-4"]
from transformers import AutoModel, AutoTokenizer
from transformers.utils import logging

logging.disable_progress_bar()
theirs = AutoModel.from_pretrained(
    minilm.checkpoint(), attn_implementation="eager"
).eval()
inputs = AutoTokenizer.from_pretrained(minilm.checkpoint())(text, return_tensors="pt")
with torch.no_grad():
    expected = theirs(**inputs, output_attentions=True)

in_weights = (sentence.weights - torch.cat(expected.attentions)).abs().max()
in_vectors = (sentence.hidden[-1] - expected.last_hidden_state[0]).abs().max()
print(
    f"largest difference, 72 heads: {in_weights:.1e}, final vectors: {in_vectors:.1e}"
)

# %% tags=["remove-cell"]
assert max(in_weights, in_vectors) < 1e-5

# %% [markdown]
# Equal but for rounding. So what do the 72 heads do? Choose one in the grid, then point at a word. Layer 0, head 2
# looks at the previous word, whatever it is; layer 3, head 1 looks from "it" to "animal"; layer 4, head 5 rests on
# `[CLS]`, the token in front.

# %% tags=["hide-input", "nbval-ignore-output"]
named = {(0, 2): "previous word", (3, 1): "it → animal", (4, 5): "rests on [CLS]"}
AttentionViewer(
    sentence.tokens,
    sentence.weights,
    title="MiniLM",
    names=named,
    layer=0,
    head=2,
    token=sentence.tokens.index("tired"),
)

# %% tags=["remove-cell"]
previous = sentence.weights[0, 2].diagonal(-1)
assert previous.min() > 0.9
assert sentence.weights[
    3, 1, sentence.tokens.index("it")
].argmax() == sentence.tokens.index("animal")
assert sentence.weights[4, 5, 1:-1, 0].mean() > 0.8

# %% [markdown]
# **Your own sentence**, read by the same 72 heads in your browser: [Type your own](../book/your_own/inside.md#where-a-bert-looks).
#
# One thing can be counted at once: how much attention goes to `[CLS]`, which stands for no word.

# %% [markdown]
# **Predict.** The sentence has 16 tokens. Take the mean over all tokens but `[CLS]` itself and over the twelve heads of
# a layer. What share of the attention goes to `[CLS]` in the middle of the model: about 0.06, about 0.2 or about 0.5?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: about 0.5 -->
#
# About 0.5, in each of the layers 1 to 4. Attention spread evenly would give it 0.06, one token in sixteen, and one
# might expect less for a token that stands for no word. A likely reason: the rows must sum to 1, so a head that finds
# nothing to do in a sentence has to put its attention *somewhere*, and `[CLS]` is always there. (Layer 0 has already
# mixed words into its state, so it may also say something about the whole sentence. The weights alone do not tell.)
#
# </details>

# %% tags=["atol=0.02"]
to_cls = sentence.weights[:, :, 1:, 0].mean(dim=(1, 2))
for layer, share in enumerate(to_cls):
    print(f"layer {layer}: {share:.2f}")

# %% tags=["remove-cell"]
assert to_cls[1:5].min() > 0.45
assert to_cls[0] < 0.3

# %% [markdown]
# How many of the 72 heads can be named by a simple rule? We count a head when more than half of its attention, on average over the tokens between `[CLS]` and `[SEP]`, goes to one and the same place: to the token before, say, or to the full
# stop.

# %%
inner = sentence.weights[:, :, 1:-1]  # queries: all but [CLS] and [SEP]
# row i is token i + 1; diagonal(k, 2, 3): in each head's table, column i + k of row i
places = {
    "the token before": inner.diagonal(0, 2, 3),
    "the token itself": inner.diagonal(1, 2, 3),
    "the token after": inner.diagonal(2, 2, 3),
    "[CLS]": inner[..., 0],
    "the full stop": inner[..., -2],
    "[SEP]": inner[..., -1],
}
follows = {place: share.mean(dim=-1) > 0.5 for place, share in places.items()}
for place, heads_that_do in follows.items():
    print(f"{place:17} {heads_that_do.sum():2}")
print(f"none of these     {72 - sum(follows.values()).sum():2}")

# %% tags=["remove-cell"]
assert (
    follows["[CLS]"][3, 1]
    and follows["[CLS]"][4, 5]
    and follows["the token before"][0, 2]
)
assert min((share.mean(dim=-1) - 0.5).abs().min() for share in places.values()) > 1e-4

# %% [markdown]
# On our sentence, more than half of them follow none of these rules. And a rule is not a purpose: the head that looks
# from "it" to "animal" is counted as one that rests on `[CLS]`, as it does at most of the other words.
#
# BERT itself seems to use `[SEP]`, the token at the end, as a place to rest (Clark et al., 2019). MiniLM, in our
# sentence, uses `[CLS]`, perhaps for the same reason. (It was also trained further, on pairs of texts; that may
# matter.) Remember this when you see a picture of attention weights: a strong square may mean "here is the answer" or
# "nothing to report".
#
# ## What goes wrong
#
# <details><summary>Scaling by the wrong width</summary>
#
# A head's queries and keys are $d_k$ wide, so its scores must be divided by $\sqrt{d_k}$. With $\sqrt{d_{model}}$ they
# come out $\sqrt h$ times too small, with 8 heads 2.8 times. Nothing crashes. A new model starts with attention that is
# too even; a trained model, loaded into such code, gives wrong outputs.
#
# </details>
#
# **The opposite mask.** In this book `True` means *may attend*, as in `F.scaled_dot_product_attention`. In
# `nn.MultiheadAttention`, in the same library, `True` means *may not*.

# %% [markdown]
# **Predict.** We hand our causal mask for five words to `nn.MultiheadAttention`. Which outputs are `nan`: none, the
# first, or the last?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: the last -->
#
# The last. Read the other way round, the mask lets every word see the future and nothing else. The last word has no
# future, so its softmax runs over nothing. "The first" is tempting because in our convention it sees least, itself
# alone. Here it sees the four others.
#
# </details>

# %%
x = long[None]
with torch.no_grad():
    confused, _ = torchs(x, x, x, attn_mask=causal_mask(5))
for i, row in enumerate(confused[0]):
    print(f"word {i}: {row.isnan().sum().item()} of {len(row)} entries are nan")

# %% [markdown]
# Here the last row gives the mistake away. With a *padding* mask the wrong way round, only the longest sentences of a
# batch turn to nan: they have no padding to look at. The others attend to their padding alone, without an error.

# %% [markdown]
# ## Exercises
#
# Ungraded; a solution is folded below each.
#
# **Exercise 1.** 512 is not divisible by 7. What does `MultiHeadAttention(512, 7)` do, with the class as it is listed
# above? How many parameters does it have?

# %% tags=["hide-cell"]
# Solution 1
seven = MultiHeadAttention(512, 7)
print("W_Q:", tuple(seven.W_Q.weight.shape), " W_O:", tuple(seven.W_O.weight.shape))
print(f"parameters: {sum(p.numel() for p in seven.parameters()):,}")
# d_k is rounded down to 73, and 7 · 73 = 511: it runs, one number narrower than asked
# for. Nobody would notice, and no weights of another model would fit. So the class
# in the library, otherwise the same, checks the sizes first and refuses.

# %% [markdown]
# **Exercise 2.** Are the heads in any order? Take the module `ours` of three heads and exchange its first and its last
# head: the rows of `W_Q`, `W_K` and `W_V`, and the *columns* of `W_O`. Does the output change?

# %% tags=["hide-cell", "atol=1e-5"]
# Solution 2
d_head = 4
exchanged = torch.cat([torch.arange(4) + d_head * head for head in (2, 1, 0)])
other = MultiHeadAttention(d_model=12, n_heads=3, bias=True)
state = dict(ours.state_dict())
for name in ("W_Q", "W_K", "W_V"):
    for kind in ("weight", "bias"):
        state[f"{name}.{kind}"] = state[f"{name}.{kind}"][exchanged]
state["W_O.weight"] = state["W_O.weight"][:, exchanged]
other.load_state_dict(state)
with torch.no_grad():
    print(f"largest change: {(other(long[None]) - ours(long[None])).abs().max():.1e}")
# None: what W_O adds up can be added up in any order. "Head 3" is a name, not a rank.

# %% [markdown]
# **Exercise 3.** Apart from biases and the division, the scores of head $i$ are $X\, W_i^Q (W_i^K)^\top X^\top$. The
# matrix in the middle, $W_i^Q (W_i^K)^\top$, is $d_{model} \times d_{model}$ and says how well any two words fit. Its
# **rank** is the number of rows needed to make all the others by scaling and adding. What is it for head 0 of "Head by
# head", where the matrices are random? And for a head of MiniLM, which is 384 wide and has 12 heads?
# (`minilm.attention_of(minilm.load(), 0)` is the module of layer 0.)

# %% tags=["hide-cell"]
# Solution 3
fits = W_Q[0].double() @ W_K[0].double().T
print(f"ours: rank {torch.linalg.matrix_rank(fits)} of {len(fits)}")

layer_0 = minilm.attention_of(minilm.load(), 0)
of_head_0 = slice(0, 384 // 12)
fits = layer_0.W_Q.weight[of_head_0].T.double() @ layer_0.W_K.weight[of_head_0].double()
print(f"MiniLM: rank {torch.linalg.matrix_rank(fits)} of {len(fits)}")
# d_k, in both cases: a narrow head compares the words in few directions only.

# %% [markdown]
# **Exercise 4.** Silence heads. `minilm.read(text, silenced=[(3, 1)]).hidden[-1]` are the final vectors without the
# head "it → animal". Silence it, then layer 4, head 5 (rests on `[CLS]`), then layer 0, head 2 (previous word). How far
# do the final vectors move each time, relative to their length, on average over the tokens? Do heads with a name matter
# most in their layer?

# %% tags=["hide-cell", "atol=0.01"]
# Solution 4
whole = sentence.hidden[-1]
for (layer, head), name in named.items():
    moved = []
    for other in range(12):
        without = minilm.read(text, silenced=[(layer, other)]).hidden[-1]
        share = (without - whole).norm(dim=-1) / whole.norm(dim=-1)
        moved.append(share.mean().item())
    rank = sorted(moved, reverse=True).index(moved[head]) + 1
    print(f"layer {layer}, head {head} ({name}): {moved[head]:.2f}", end=", ")
    print(f"number {rank} of the twelve of its layer ({moved[head] / max(moved):.0%})")
# In brackets: its share of the largest move in its layer. A name does not make a head
# important: compare each with the eleven others of its layer.
# And one sentence does not say which heads a model needs. (In large translation models
# most heads can be taken out, one at a time, without much loss: Michel, Levy and
# Neubig, 2019.)

# %% [markdown]
# **Exercise 5.** Build it: attention in which every head has queries of its own, and all share *one* set of keys and
# values (Shazeer, 2019). Start from `MultiHeadAttention`. How many parameters does it have at $d_{model} = 512$ and
# eight heads, and how many numbers are the keys and values of one word? ([Chapter 9b](09b_cache.ipynb) has to store
# them.)


# %% tags=["hide-cell"]
# Solution 5
class MultiQueryAttention(nn.Module):
    """Heads that share their keys and values."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, d_head = n_heads, d_model // n_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, d_head, bias=False)
        self.W_V = nn.Linear(d_model, d_head, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        Q = split_heads(self.W_Q(x), self.n_heads)
        K, V = self.W_K(x)[:, None], self.W_V(x)[:, None]  # (batch, 1, n, d_head)
        heads = (1, self.n_heads, 1, 1)  # the same keys and values for every head
        outputs = scaled_dot_product_attention(
            Q, K.repeat(heads), V.repeat(heads), mask
        )
        return self.W_O(merge_heads(outputs))


for kind in (MultiHeadAttention, MultiQueryAttention):
    module = kind(512, 8)
    shape = tuple(module(torch.randn(2, 5, 512)).shape)
    kept = module.W_K.out_features + module.W_V.out_features
    count = sum(p.numel() for p in module.parameters())
    print(
        f"{kind.__name__:20} {shape}: {count:9,} parameters, {kept:5,} numbers a word"
    )

# %% [markdown]
# ## Summary
#
# 1. One head gives one mixture; several heads give several, kept apart by concatenation.
# 2. With $d_k = d_{model} / h$ the number of heads does not change the number of parameters, $4\, d_{model}^2$.
# 3. The h projections are slices of one matrix. To cut vectors into heads: `view`, then `transpose`, never `view`
#    alone.
# 4. Masks broadcast over heads; a sentence must get the same output alone and in a batch.
# 5. $W^O$ adds up what the heads write. Some heads of a real model can be named. In MiniLM, on our one sentence, about
#    half of all attention in the middle layers rests on a token that stands for no word.
#
# **Homework 1**, questions 5 and 6, is about this chapter: [exercises](../exercises/hw1_attention.ipynb).
#
# **Next:** without a causal mask, the attention that we have built cannot see the order of the words. [Chapter 4](04_order.ipynb).
#
# ## References
#
# - Ashish Vaswani et al. (2017). *Attention is all you need.* NeurIPS. Section 3.2.2.
# - Kevin Clark, Urvashi Khandelwal, Omer Levy and Christopher D. Manning (2019). *What does BERT look at? An analysis
#   of BERT's attention.* BlackboxNLP.
# - Paul Michel, Omer Levy and Graham Neubig (2019). *Are sixteen heads really better than one?* NeurIPS.
# - Noam Shazeer (2019). *Fast Transformer decoding: one write-head is all you need.* arXiv:1911.02150.
# - Wenhui Wang et al. (2020). *MiniLM: deep self-attention distillation for task-agnostic compression of pre-trained
#   Transformers.* NeurIPS.
