# %% [markdown]
# # Several heads
#
# Give a person one question at a time and they answer well; ask two at once and you may get an average. A single
# attention head is in that position. Its weights are one set of shares, so all it can hand back is *one* mixture of the
# values.
#
# Real models therefore run many heads side by side. Here are all 72 of MiniLM, six layers of twelve. Choose a head in
# the grid, then point at a word. Layers and heads are counted from 0, as in the code: layer 0, head 2 looks at the
# previous word, whatever it is; layer 3, head 1 looks from "it" to "animal". Many others cannot be named so easily.

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

sentence = minilm.read("The animal didn't cross the street because it was too tired.")
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
# **After this chapter you can**
#
# - show with three words what two heads keep apart that one mixes;
# - write multi-head attention twice, with h small matrices and with one large one, and prove that they agree;
# - cut vectors into heads without mixing up the positions, and find the bug when someone else did;
# - run sentences of different lengths in one batch without the padding being noticed;
# - load a real model's attention weights into your own module.
#
# **Time** about 60 minutes. **You need** [chapter 2](02_self_attention.ipynb).

# %%
import math

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.testing import assert_close

from lectures_lib.blocks.attention import (  # chapter 2
    DotProductAttention,
    causal_mask,
    padding_mask,
    scaled_dot_product_attention,
)
from lectures_lib.show import plots

# %% [markdown]
# ## What one head cannot do
#
# Three words: "dog bites man". The word in the middle would like to know who stands on its left, the one that bites,
# *and* who stands on its right, the one that is bitten. Let the values be as plain as possible, (1, 0) for "dog" and
# (0, 1) for "man". One head that looks at both neighbours alike gives half of its attention to each.

# %%
dog, man = torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])

print("dog bites man, one head:", (0.5 * dog + 0.5 * man).tolist())
print("man bites dog, one head:", (0.5 * man + 0.5 * dog).tolist())

# %% [markdown]
# The same vector for both. The average has forgotten who was where, and nothing made of it alone can bring it back.
# (Shares of 0.9 and 0.1 would show the order, but then the right neighbour is hardly heard.) Now two heads: one looks
# left, the other looks right, and the two results are written one *behind* the other instead of being added up.

# %%
print("dog bites man, two heads:", torch.cat([dog, man]).tolist())
print("man bites dog, two heads:", torch.cat([man, dog]).tolist())

# %% [markdown]
# That is the whole idea: **different mixtures, kept apart**.
#
# ## The formula
#
# Each head $i$ has projections of its own, $W_i^Q$, $W_i^K$ and $W_i^V$, and does what chapter 2 did. The heads'
# outputs are concatenated, and a last matrix $W^O$ brings them back to the width of the model and lets them mix:
#
# $$\text{head}_i = \operatorname{Attention}(X W_i^Q,\; X W_i^K,\; X W_i^V), \qquad \operatorname{MultiHead}(X) = \operatorname{Concat}(\text{head}_1, \dots, \text{head}_h)\, W^O.$$
#
# To keep the cost at that of one wide head, the heads are narrow: $d_k = d_v = d_{model} / h$. These are the sizes of
# the original Transformer:
#
# | matrix | shape | numbers |
# |---|---|---|
# | $W_i^Q$, $W_i^K$, $W_i^V$, one head | 512 × 64 each | 3 · 32,768 |
# | all eight heads | 512 × 512 each | 3 · 262,144 |
# | $W^O$ | 512 × 512 | 262,144 |
# | together | | 1,048,576 |
#
# So $4\, d_{model}^2$ numbers, however many heads there are: heads cost no extra parameters. (They do cost tables of
# weights, $h \cdot n^2$ numbers instead of $n^2$.) What becomes smaller is each head's view of the words, 64 numbers
# instead of 512.
#
# ## Head by head
#
# First the slow way, exactly as the formula says. Small sizes, and $d_v$ different from $d_k$, to see that nothing
# forbids it.

# %%
n, d_model, h, d_k, d_v = 5, 12, 3, 4, 2
X = torch.randn(n, d_model)
W_Q, W_K = (
    torch.randn(h, d_model, d_k),
    torch.randn(h, d_model, d_k),
)  # one matrix for each head
W_V = torch.randn(h, d_model, d_v)
W_O = torch.randn(h * d_v, d_model)

heads = [
    scaled_dot_product_attention(X @ W_Q[i], X @ W_K[i], X @ W_V[i]) for i in range(h)
]  # h times (n, d_v)
concatenated = torch.cat(heads, dim=-1)  # (n, h · d_v)
Z = concatenated @ W_O  # (n, d_model)

# %% [markdown]
# ## All heads at once
#
# Three small products $X W_i^Q$ are one large product, if we write the matrices side by side: its first $d_k$ columns
# belong to head 1, the next to head 2, and so on.

# %%
W_Q_wide = torch.cat(list(W_Q), dim=-1)  # (d_model, h · d_k)
Q_wide = X @ W_Q_wide  # (n, h · d_k)

for i in range(h):
    assert_close(Q_wide[:, i * d_k : (i + 1) * d_k], X @ W_Q[i])

# %% [markdown]
# Now each row of `Q_wide` has to be cut into $h$ pieces, and the heads have to become a dimension of their own, *in
# front of* the positions, because matrix products act on the last two dimensions and each head must do its own. Cutting
# is `view`, swapping two dimensions is `transpose`.


# %%
def split(x, h):
    """(n, h · d) → (h, n, d)"""
    return x.view(x.shape[0], h, -1).transpose(0, 1)


W_K_wide, W_V_wide = torch.cat(list(W_K), dim=-1), torch.cat(list(W_V), dim=-1)
Q, K, V = (
    split(Q_wide, h),
    split(X @ W_K_wide, h),
    split(X @ W_V_wide, h),
)  # (h, n, d_k), (h, n, d_k), (h, n, d_v)
outputs = scaled_dot_product_attention(Q, K, V)  # all heads in one call: (h, n, d_v)
Z_at_once = (
    outputs.transpose(0, 1).flatten(start_dim=1) @ W_O
)  # back to (n, h · d_v), then W_O

assert_close(Z_at_once, Z)

# %% [markdown]
# Equal, and without a loop. The transposes do not move numbers, they only note in which order to read them (`flatten`
# copies, once); a GPU gets three large products instead of many small ones.
#
# ## The trap: view without transpose
#
# `(n, h · d)` should become `(h, n, d)`. There is a shorter way to get that shape: `x.view(h, n, d)`. It runs, the
# shape is right, training works after a fashion. It is also wrong, and it has stood in published code
# ([an example](https://github.com/reczoo/FuxiCTR/issues/30)). Let us
# number the entries of four words of width 4, two heads, and look at what lands where. Each colour is one word.

# %% mystnb={"image": {"alt": "Three grids of coloured squares. First the input, four rows of one colour each. Second, split with view and transpose: two heads, and in each of them row i has the colour of word i. Third, view alone: head 1 holds words 1 and 2 only, head 2 holds words 3 and 4."}, "figure": {"caption": "Left: four words, one colour each. Middle: cut properly, every head sees every word. Right: with view alone head 1 holds nothing but the first two words, in pieces."}}
x = torch.arange(16.0).view(4, 4)  # row i holds word i
right = x.view(4, 2, 2).transpose(0, 1)
wrong = x.view(2, 4, 2)

figure, axes = plt.subplots(1, 5, figsize=(7.4, 2.6), width_ratios=[2, 1, 1, 1, 1])
panels = {
    "four words": x,
    "head 1": right[0],
    "head 2": right[1],
    "head 1 ✗": wrong[0],
    "head 2 ✗": wrong[1],
}
for ax, (name, block) in zip(axes, panels.items(), strict=True):
    ax.imshow(block // 4, cmap="viridis", vmin=0, vmax=4.5, aspect="equal")
    for (i, j), entry in (
        (index, block[index].item())
        for index in [(i, j) for i in range(4) for j in range(block.shape[1])]
    ):
        ax.text(
            j,
            i,
            f"{entry:.0f}",
            ha="center",
            va="center",
            color="white" if entry < 12 else "black",
        )
    ax.set(title=name, xticks=[], yticks=[])
plt.show()

# %% [markdown]
# `view` never moves a number. It reads them off in the order in which they lie in memory, word after word, and fills
# the new shape from the front, so that the first half of the *words* ends up in head 1, instead of the first half of
# *each word*. "Positions" in a head are then pieces of the same word.
#
# How does one notice, if shapes do not tell? By a property that must hold. Chapter 2 had one: with a causal mask a
# word's output may depend on that word and on those before it. We change the third of four words and see which
# outputs move. They should be the third and the fourth.


# %%
def attention(x, split):
    """Self-attention with two heads and a causal mask; x serves as Q, K and V."""
    heads = split(x)
    return merge(
        scaled_dot_product_attention(heads, heads, heads, causal_mask(4)), split
    )


def merge(heads, split):
    """Undo the split, rightly or wrongly."""
    return (
        heads.transpose(0, 1).reshape(4, 4)
        if split is split_right
        else heads.reshape(4, 4)
    )


def split_right(x):
    return x.view(4, 2, 2).transpose(0, 1)


def split_wrong(x):
    return x.view(2, 4, 2)


words = torch.randn(4, 4)
changed = words.clone()
changed[2] += 1.0  # the third word

for name, cut in {"view and transpose": split_right, "view alone": split_wrong}.items():
    moved = (attention(words, cut) - attention(changed, cut)).abs().amax(dim=-1) > 1e-6
    print(
        f"{name:19} outputs that feel the third word: {[i + 1 for i in range(4) if moved[i]]}"
    )

# %% [markdown]
# Properly cut, the third word reaches itself and the fourth. With `view` alone it happens to look right here as well!
# Words 3 and 4 share a head, and 1 and 2 share the other. So try the word that the wrong heads keep apart from the
# rest: may the *second* word influence the third?

# %%
changed = words.clone()
changed[1] += 1.0  # the second word
for name, cut in {"view and transpose": split_right, "view alone": split_wrong}.items():
    moved = (attention(words, cut) - attention(changed, cut)).abs().amax(dim=-1) > 1e-6
    print(
        f"{name:19} outputs that feel the second word: {[i + 1 for i in range(4) if moved[i]]}"
    )

# %% [markdown]
# There it is: words 3 and 4 never hear of word 2. Half of the sentence is cut off from the other half, silently. A good
# test tries *every* word, and the library's tests do (`tests/library/test_attention.py`).

# %% [markdown]
# ## All of it in one class
#
# With a batch in front, cutting and putting together are two short functions, and multi-head attention is four linear
# layers around the attention of chapter 2. This is the class that the rest of the book is built from; the library holds
# the same text. Two things in it are for later. `context` is what is looked at: here the words themselves, in chapter 6
# another sentence. And the keys and values are made in a method of their own, because in chapter 9 they are made once
# and asked many times.


# %%
def split_heads(x, n_heads):
    """(batch, n, n_heads · d_head) → (batch, n_heads, n, d_head)"""
    batch, n, width = x.shape
    return x.view(batch, n, n_heads, width // n_heads).transpose(1, 2)


def merge_heads(x):
    """(batch, n_heads, n, d_head) → (batch, n, n_heads · d_head)"""
    return x.transpose(1, 2).flatten(start_dim=2)


# %%
class MultiHeadAttention(nn.Module):
    """Several attentions side by side, their outputs concatenated and mixed by W_O."""

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
        """(batch, n_query, d_model) → the same; without a context, the query looks at itself."""
        K, V = self.keys_values(query if context is None else context)
        return self.attend(query, K, V, mask)

    def keys_values(self, context):
        """Every head's keys and values, (batch, n_heads, n_key, d_k) and (…, d_v)."""
        return (
            split_heads(self.W_K(context), self.n_heads),
            split_heads(self.W_V(context), self.n_heads),
        )

    def attend(self, query, K, V, mask=None):
        """Every head asks its keys; what the heads found is put together."""
        Q = split_heads(self.W_Q(query), self.n_heads)
        return self.W_O(merge_heads(self.attention(Q, K, V, mask)))


# %% [markdown]
# Does it agree with what we built? A linear layer stores its matrix transposed, `weight` is (out, in), so our matrices
# go in with `.T`.

# %%
ours = MultiHeadAttention(d_model=12, n_heads=3, d_k=4, d_v=2)
ours.load_state_dict(
    {
        "W_Q.weight": W_Q_wide.T,
        "W_K.weight": W_K_wide.T,
        "W_V.weight": W_V_wide.T,
        "W_O.weight": W_O.T,
    }
)
assert_close(ours(X[None])[0], Z)

# %% [markdown]
# ## Sentences of different lengths
#
# Now the batch. Two sentences, five words and three; the second is filled up with two words of padding, and a mask
# tells everyone not to look at them.

# %%
module = MultiHeadAttention(d_model=12, n_heads=3).eval()
long, short = torch.randn(5, 12), torch.randn(3, 12)

batch = nn.utils.rnn.pad_sequence(
    [long, short], batch_first=True, padding_value=99.0
)  # (2, 5, 12)
mask = padding_mask(
    torch.tensor([5, 3]), n=5
)  # (2, 1, 1, 5): broadcast over heads and queries
together = module(batch, mask=mask)

assert_close(together[0], module(long[None])[0])
assert_close(together[1, :3], module(short[None])[0])

# %% [markdown]
# Each sentence gets in the batch what it gets alone, although the padding holds absurd numbers. (The outputs *at* the
# padded places are meaningless; the loss must not count them.) For a left-to-right model both masks are needed. They
# are tables of `True` = may attend, so both conditions together are `&`, and broadcasting does the rest: (5, 5) and (2,
# 1, 1, 5) give (2, 1, 5, 5).

# %% mystnb={"image": {"alt": "Two 5 by 5 masks. Left a full lower triangle. Right a lower triangle whose last two columns are empty."}, "figure": {"caption": "Causal and padding mask together, for the sentence of five words and for the one of three. Dark: may attend."}}
both = causal_mask(5) & mask
figure, axes = plots.small_multiples(2, columns=2, size=(2.4, 2.6))
for ax, sentence_mask, name in zip(
    axes, both, ("five words", "three words"), strict=True
):
    plots.heatmap(sentence_mask[0].float(), ax=ax, title=name, limit=1.4).set(
        xlabel="key", ylabel="query"
    )
plt.show()

# %% [markdown]
# And with PyTorch's own module? It packs $W^Q$, $W^K$ and $W^V$ into one matrix of three times the height.

# %%
ours = MultiHeadAttention(d_model=12, n_heads=3, bias=True)
torchs = nn.MultiheadAttention(12, 3, batch_first=True)
torchs.load_state_dict(
    {
        "in_proj_weight": torch.cat(
            [ours.W_Q.weight, ours.W_K.weight, ours.W_V.weight]
        ),
        "in_proj_bias": torch.cat([ours.W_Q.bias, ours.W_K.bias, ours.W_V.bias]),
        "out_proj.weight": ours.W_O.weight,
        "out_proj.bias": ours.W_O.bias,
    }
)
expected, _ = torchs(
    batch, batch, batch, key_padding_mask=~mask[:, 0, 0]
)  # torch's mask says whom NOT to look at
difference = (ours(batch, mask=mask) - expected).abs()[:, :3].max().item()
relative = difference / expected[:, :3].abs().max().item()
assert relative < 1e-5
print("our class and torch: largest relative difference < 1e-5")

# %% [markdown]
# ## What W^O does
#
# Concatenating and multiplying by $W^O$ can be read in another way. Cut $W^O$ into $h$ blocks of rows, one for each
# head; then
#
# $$\operatorname{Concat}(\text{head}_1, \dots, \text{head}_h)\, W^O = \sum_{i=1}^{h} \text{head}_i\, W_i^O.$$

# %%
W_O_of_head = W_O.view(h, d_v, d_model)
assert_close(sum(heads[i] @ W_O_of_head[i] for i in range(h)), Z)

# %% [markdown]
# Each head writes its own contribution, $d_{model}$ wide, and the contributions are *added*. So a head can be taken
# out, simply by leaving its summand away, and one can see what it was good for.
#
# ## Real heads
#
# MiniLM's projections carry other names and have biases; otherwise they are what you have just built. The library maps
# the names and runs the model through its own attention. Is it really the same model as in Hugging Face's
# `transformers`?

# %%
from transformers import AutoModel, AutoTokenizer
from transformers.utils import logging

logging.disable_progress_bar()
text = "The animal didn't cross the street because it was too tired."
theirs = AutoModel.from_pretrained(
    minilm.checkpoint(), attn_implementation="eager"
).eval()
inputs = AutoTokenizer.from_pretrained(minilm.checkpoint())(text, return_tensors="pt")
with torch.no_grad():
    expected = theirs(**inputs, output_attentions=True)

assert (sentence.weights - torch.cat(expected.attentions)).abs().max() < 1e-5
assert (sentence.hidden[-1] - expected.last_hidden_state[0]).abs().max() < 1e-5
print("72 heads and the final vectors: largest difference < 1e-5")

# %% [markdown]
# What do they do all day? One thing can be counted at once: how much attention goes to `[CLS]`, which has no meaning of
# its own.

# %% mystnb={"image": {"alt": "Bars of the mean share of attention that goes to [CLS] in each of six layers: about 0.2 in layer 0, between 0.46 and 0.58 in layers 1 to 4, 0.37 in layer 5, the last."}, "figure": {"caption": "Share of all attention that goes to [CLS], by layer, mean over 12 heads and all words of our sentence."}}
to_cls = sentence.weights[:, :, 1:, 0].mean(dim=(1, 2))
figure, ax = plt.subplots(figsize=(5, 2.6))
ax.bar(range(6), to_cls)
ax.set(xlabel="layer", ylabel="share to [CLS]", ylim=(0, 1))
plt.show()

# %% tags=["remove-cell"]
assert to_cls[1:5].min() > 0.45
assert to_cls[0] < 0.3

# %% [markdown]
# In layers 1 to 4 it is about half of everything. Rows must sum to 1, so a head that finds nothing to do in a sentence
# has to put its attention *somewhere*, and `[CLS]` is always there. BERT itself seems to use `[SEP]` for this (Clark et
# al., 2019); in MiniLM, in our sentence, it is `[CLS]` that gets so much, perhaps for the same reason. Keep this in
# mind when you see a picture of attention weights: a dark square may mean "here is the answer" or "nothing to report".
#
# And which heads does this sentence need? We silence each of the 72 in turn and measure how far the final vectors move.


# %% mystnb={"image": {"alt": "Heat map of six layers by twelve heads. Most squares are pale; the last layer is darker, and its head 11 is the darkest of all."}, "figure": {"caption": "How far the final vectors move (mean relative distance) if one head is silenced. Darker: needed more."}}
def effect_of(layer, head):
    """Mean relative distance of the final vectors with and without a head."""
    without = minilm.read(text, silenced=[(layer, head)]).hidden[-1]
    return (
        (
            (without - sentence.hidden[-1]).norm(dim=-1)
            / sentence.hidden[-1].norm(dim=-1)
        )
        .mean()
        .item()
    )


effects = torch.tensor(
    [[effect_of(layer, head) for head in range(12)] for layer in range(6)]
)
plots.heatmap(effects, rows=range(6), columns=range(12)).set(
    xlabel="head", ylabel="layer"
)
plt.show()

# %%
top = effects.flatten().topk(3)
print(
    "needed most (layer, head):",
    [(i // 12, i % 12) for i in top.indices.tolist()],
)
assert (effects < 0.1).float().mean() > 0.75 and effects.max() > 0.2
print("more than three heads in four move the result by less than 0.1,")
print("the most needed one by more than 0.2")
for (layer, head), name in named.items():
    rank = (effects[layer] > effects[layer, head]).sum() + 1
    effect = f"{effects[layer, head]:.2f}, number {rank} of 12 in its layer"
    print(f"without {name} {layer, head}: {effect}")

# %% [markdown]
# The three needed most stand in the last layer, perhaps because nothing comes after it that could make up for the loss.
# The heads that we could put a name to, each among the twelve of its own layer, come second ("previous word"), seventh
# ("it → animal") and last ("rests on [CLS]"). What one can read off a head and what the model relies on are two
# different things.
#
# How far a vector moves is not yet harm. In large translation models most heads can be taken out, one at a time,
# without much loss of quality (Michel, Levy and Neubig, 2019). It does not mean that they are idle: together they
# matter, and on another sentence another head may.
#
# ## What goes wrong
#
# **Scaling by the wrong width.** Queries and keys of a head are $d_k$ wide, and that is what the scores must be scaled
# by. With $\sqrt{d_{model}}$ the scores come out $\sqrt h$ times too small and the attention too even; with 8 heads
# that is a factor of 2.8. Nothing crashes; the model only starts with attention that is too even, and loading
# trained weights into such code spoils them.

# %%
scores = torch.randn(10_000, 8)
print(
    f"largest of 8 weights, on average: {scores.softmax(dim=-1).amax(dim=-1).mean():.2f},",
    end=" ",
)
print(
    f"scores √8 times too small: {(scores / math.sqrt(8)).softmax(dim=-1).amax(dim=-1).mean():.2f}"
)

# %% [markdown]
# **The opposite mask.** In this book `True` means *may attend*, as in `F.scaled_dot_product_attention`. In
# `nn.MultiheadAttention`, a few lines away in the same documentation, `True` means *may not*. Hand it our causal mask
# and every word sees the future and nothing else; the last word sees nothing at all.

# %%
with torch.no_grad():
    confused, _ = torchs(long[None], long[None], long[None], attn_mask=causal_mask(5))
print("rows that are not a number:", confused[0].isnan().any(dim=-1).tolist())

# %% [markdown]
# The last row gives the mistake away here. With a padding mask only the longest sentences of a batch would: they have no
# padding to look at. The others would attend to their padding only, quietly.
#
# **`view` after `transpose`.** Merging the heads needs the numbers in a new order, so `.transpose(1, 2).view(...)`
# fails with a message about strides. `reshape` or `flatten` (or `.contiguous()` first) copies them as needed. The
# temptation is to fix the error by dropping the `transpose`. Now you know what that does.
#
# ## Summary
#
# 1. One head gives one mixture; several heads give several, kept apart by concatenation.
# 2. With $d_k = d_{model} / h$ the number of heads does not change the number of parameters, $4\, d_{model}^2$.
# 3. The h projections are slices of one matrix; cut with `view`, then `transpose`, never `view` alone.
# 4. Masks broadcast over heads; a sentence must get the same output alone and in a batch.
# 5. $W^O$ adds up what the heads write; in MiniLM, on our sentence, a few can be named, and more than three in four,
#    silenced alone, move the result by less than a tenth.
#
# **Homework 1**, questions 5 and 6, is about this chapter: [exercises](../exercises/hw1_attention.ipynb).
#
# **Next:** everything so far ignores the order of the words. [Chapter 4](04_order.ipynb).
#
# ## References
#
# - Ashish Vaswani et al. (2017). *Attention is all you need.* NeurIPS. Section 3.2.2.
# - Kevin Clark, Urvashi Khandelwal, Omer Levy and Christopher D. Manning (2019). *What does BERT look at? An analysis
#   of BERT's attention.* BlackboxNLP.
# - Paul Michel, Omer Levy and Graham Neubig (2019). *Are sixteen heads really better than one?* NeurIPS.
# - Wenhui Wang et al. (2020). *MiniLM: deep self-attention distillation for task-agnostic compression of pre-trained
#   Transformers.* NeurIPS.
