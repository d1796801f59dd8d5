# %% [markdown]
# # The decoder
#
# People write *july 20, 1969* or *20 july 1969*; computers want `1969-07-20`. To get from one to the other you read the
# whole of it, then write one character after the other, and before each one you look twice: at what you have written so
# far, and at the place in the original that matters now. At the end of this chapter a model with fewer than 90,000
# numbers in it learns to do this from examples alone.
#
# The encoder of [chapter 5](05_encoder.ipynb) does the reading. The **decoder** does the writing. Together they are the
# Transformer of 2017, and this is the map.

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

# %% tags=["hide-input"] mystnb={"image": {"alt": "Diagram of the Transformer, from bottom to top. Left, the encoder: embedding and positions, then a block of self-attention and feed-forward, marked N times. Right, the decoder: embedding and positions of the text so far, then a block of masked self-attention, cross-attention and feed-forward, marked N times, then linear and softmax. An arrow leads from the top of the encoder to the cross-attention."}, "figure": {"caption": "The Transformer. Left, the encoder reads the source. Right, the decoder reads what has been written so far and says what comes next. The arrow between them is cross-attention. (Each box in a block has a residual and a LayerNorm around it.)"}}
import matplotlib.pyplot as plt

from lectures_lib.show import plots


def box(ax, x, y, text, colour, width=3.4):
    """A coloured box with words in it."""
    ax.add_patch(
        plt.Rectangle((x - width / 2, y - 0.4), width, 0.8, color=colour, zorder=3)
    )
    ax.text(x, y, text, ha="center", va="center", color="white", fontsize=10, zorder=4)


def column(ax, x, boxes, below, above):
    """Boxes on a line that runs upwards."""
    top = max(y for y, _, _ in boxes) + 1.0
    ax.annotate(
        "", (x, top), (x, -0.2), arrowprops={"arrowstyle": "-|>", "color": "black"}
    )
    for y, text, colour in boxes:
        box(ax, x, y, text, colour)
    ax.text(x, -0.3, below, ha="center", va="top")
    ax.text(x, top + 0.1, above, ha="center", va="bottom")


_, ax = plt.subplots(figsize=(6.4, 5.0))
for x, height in ((0, 2.5), (6, 3.7)):  # the blocks
    ax.add_patch(plt.Rectangle((x - 2.1, 1.6), 4.2, height, color="#E9EEF2"))
ax.text(-2.2, 2.8, "N ×", ha="right", va="center")
ax.text(8.2, 3.4, "× N", ha="left", va="center")
reading = [
    (0.6, "embedding + positions", plots.GREY),
    (2.2, "self-attention", plots.BLUE),
    (3.4, "feed-forward", plots.GREEN),
]
writing = [
    (0.6, "embedding + positions", plots.GREY),
    (2.2, "masked self-attention", plots.BLUE),
    (3.4, "cross-attention", plots.RED),
    (4.6, "feed-forward", plots.GREEN),
    (6.2, "linear + softmax", plots.GREY),
]
column(ax, 0, reading, "j u l y   2 0 ,   1 9 6 9", "memory")
column(ax, 6, writing, "> 1 9 6 9 -", "next: 0")
ax.plot([0.9, 3.0, 3.0], [4.65, 4.65, 3.4], color=plots.RED, linewidth=2)
ax.annotate(
    "",
    (4.2, 3.4),
    (2.95, 3.4),
    arrowprops={"arrowstyle": "-|>", "color": plots.RED, "linewidth": 2},
)
ax.set(xlim=(-3.2, 9.2), ylim=(-1.0, 8.0))
ax.set_axis_off()
plt.show()

# %% [markdown]
# **After this chapter you can**
#
# - say what a causal mask hides in training, and test that yours is tight;
# - compute cross-attention by hand, and say where its queries, keys and values come from;
# - shift the target by one, explain teacher forcing, and say what a model learns if the shift is forgotten;
# - put the whole Transformer together and prove it equal to `nn.Transformer`, the embeddings' gradient included;
# - count its parameters, and check the paper's 65 and 213 million;
# - read the paper's table of results with care.
#
# **Time** about 75 minutes. **You need** [chapter 5](05_encoder.ipynb).

# %%
import datetime
import math
import random

import torch
import torch.nn.functional as F
from torch import nn
from torch.testing import assert_close

from lectures_lib import decoding
from lectures_lib.blocks.attention import MultiHeadAttention, causal_mask, padding_mask
from lectures_lib.blocks.layers import (
    Encoder,
    EncoderBlock,
    FeedForward,
    Residual,
    TokenEmbedding,
    initialise,
    last_norm,
)
from lectures_lib.blocks.positions import SinusoidalPositions
from lectures_lib.blocks.recording import record
from lectures_lib.models.transformer import TransformerConfig, shift_right

# %% [markdown]
# ## Writing, and learning to write
#
# When the model is used, it writes one character at a time. Its input is what it has written so far; the future does
# not exist yet.
#
# When it learns, the answer is known from the first character to the last. So all positions can be computed at once,
# exactly as in the encoder: one pass gives the prediction after `1`, after `19`, after `196`, and so on. But now the
# future does exist, in the same tensor, and a position that could look at it would simply read the answer there. Hence
# the **causal mask** of [chapter 2](02_self_attention.ipynb): position $i$ may attend to positions $0 \dots i$.
#
# Behind this stands a promise: *all at once* must give the same vectors as *one at a time*. A block with a causal
# mask (chapter 5's will do) keeps it. We give it the first $i + 1$ characters and look at the last vector only. The
# last character may see all the others, so for a single block the prefix needs no mask.

# %%
torch.manual_seed(0)
block = EncoderBlock(d_model=16, n_heads=4, d_ff=64).eval()
x = torch.randn(1, 6, 16)  # six characters

at_once = block(x, mask=causal_mask(6))
for i in range(6):
    so_far = block(x[:, : i + 1])  # the first i + 1 characters, and no mask
    assert_close(so_far[:, -1], at_once[:, i])

# %% [markdown]
# The promise makes a good test of any decoder, with one change. In a stack, the second block reads what the first
# made of *all* the characters so far. Without a mask, the vector of an early character would change with every
# character written after it. So a whole decoder gets the first $i + 1$ characters *with* their causal mask, in use as
# in training.
#
# ## Looking at the source
#
# The second look is **cross-attention**. It is the attention of chapters 2 and 3, with one change: the queries are made
# from the decoder's vectors, the keys and values from the encoder's output, the **memory**,
#
# $$Q = X_{\text{decoder}} W^Q, \qquad K = X_{\text{encoder}} W^K, \qquad V = X_{\text{encoder}} W^V.$$
#
# By hand: the source is `may 5`, and the decoder is about to write the month. Say its query fits the key of `m` with
# a score of 3, that of `a` with 2, of `y` with 3, and the other two with 0. The powers of $e$ are 20.1, 7.4, 20.1, 1
# and 1, together 49.6; the shares are 0.41, 0.15, 0.41, 0.02 and 0.02. What the decoder receives is four fifths `m`
# and `y`, and that settles it: no other month has both.

# %%
shares = torch.tensor([3.0, 2.0, 3.0, 0.0, 0.0]).softmax(dim=-1)
print({letter: f"{share:.2f}" for letter, share in zip("may 5", shares, strict=True)})

# %% [markdown]
# Source and target have lengths of their own, so the table of weights is a rectangle now: one row for each position
# that is written, one column for each that is read. No causal mask is needed here, for the source is all there; but a
# padding mask is, if sources of different lengths share a batch.

# %%
cross_attention = MultiHeadAttention(d_model=16, n_heads=4)
memory = torch.randn(2, 9, 16)  # what the encoder made of two sources
target = torch.randn(2, 6, 16)
read = padding_mask(torch.tensor([9, 5]), n=9)  # the second source has 5 characters

with record(cross_attention) as recorded:
    output = cross_attention(target, memory, read)
weights = recorded["weights"]
print("output: ", tuple(output.shape), "  as many vectors as the decoder has")
print("weights:", tuple(weights.shape), "(batch, heads, n_target, n_source)")
assert (weights[1, :, :, 5:] == 0).all()

# %% [markdown]
# ## The decoder block
#
# A decoder block is an encoder block with cross-attention in the middle:


# %%
class DecoderBlock(nn.Module):
    """Causal self-attention, cross-attention to the encoder's output, feed-forward."""

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
        self.cross_attention = MultiHeadAttention(
            d_model, n_heads, bias=bias, dropout=attention_dropout
        )
        self.feed_forward = FeedForward(d_model, d_ff, activation)
        self.around_self_attention = Residual(d_model, dropout, pre_norm, eps)
        self.around_cross_attention = Residual(d_model, dropout, pre_norm, eps)
        self.around_feed_forward = Residual(d_model, dropout, pre_norm, eps)

    def forward(self, x, memory, mask=None, memory_mask=None):
        """x (batch, n_target, d_model) and memory (batch, n_source, d_model) → like x"""
        # What have I written? What does the source say? What do I make of it?
        x = self.around_self_attention(x, lambda x: self.self_attention(x, mask=mask))
        x = self.around_cross_attention(
            x, lambda x: self.cross_attention(x, memory, memory_mask)
        )
        return self.around_feed_forward(x, self.feed_forward)


d_model, n_heads, d_ff = 16, 4, 64
block = DecoderBlock(d_model, n_heads, d_ff)
ours = block(target, memory, causal_mask(6), read)
print("like what is written:", tuple(ours.shape))

# %% [markdown]
# And PyTorch's, with the same parameters? (Its masks say whom *not* to look at.)


# %%
def attention_state(ours, name):
    """Our parameters under torch's names: it packs W_Q, W_K and W_V into one."""
    packed = (ours.W_Q, ours.W_K, ours.W_V)
    return {
        f"{name}.in_proj_weight": torch.cat([p.weight for p in packed]),
        f"{name}.in_proj_bias": torch.cat([p.bias for p in packed]),
        f"{name}.out_proj.weight": ours.W_O.weight,
        f"{name}.out_proj.bias": ours.W_O.bias,
    }


def block_state(ours):
    """A block's parameters under torch's names."""
    state = attention_state(ours.self_attention, "self_attn")
    arounds = [ours.around_self_attention, ours.around_feed_forward]
    if isinstance(ours, DecoderBlock):
        state |= attention_state(ours.cross_attention, "multihead_attn")
        arounds.insert(1, ours.around_cross_attention)
    linear = {"linear1": ours.feed_forward.W_1, "linear2": ours.feed_forward.W_2}
    linear |= {f"norm{i + 1}": around.norm for i, around in enumerate(arounds)}
    return state | {
        f"{name}.{kind}": getattr(layer, kind)
        for name, layer in linear.items()
        for kind in ("weight", "bias")
    }


torchs = nn.TransformerDecoderLayer(
    d_model, n_heads, d_ff, dropout=0.0, batch_first=True
)
torchs.load_state_dict(block_state(block))
theirs = torchs(
    target,
    memory,
    tgt_mask=~causal_mask(6),
    memory_key_padding_mask=~read[:, 0, 0],
)
assert (theirs - ours).abs().max() < 1e-5
print("our class and torch: largest difference < 1e-5")

# %% [markdown]
# The decoder is a stack of $N = 6$ such blocks, again with parameters of their own. All six look at the *same* memory,
# the encoder's last output, each through its own $W^K$ and $W^V$. The memory does not change while the decoder writes,
# so a sentence's keys and values for cross-attention *can* be computed once and used at every step (chapter 9).


# %%
class Decoder(nn.Module):
    """N decoder blocks, one on another."""

    def __init__(self, n_layers, d_model, n_heads, d_ff, final_norm=None, **options):
        super().__init__()
        self.blocks = nn.ModuleList(
            DecoderBlock(d_model, n_heads, d_ff, **options) for _ in range(n_layers)
        )
        self.norm = last_norm(d_model, final_norm, **options)

    def forward(self, x, memory, mask=None, memory_mask=None):
        """x (batch, n_target, d_model) and memory (batch, n_source, d_model) → like x"""
        for block in self.blocks:
            x = block(x, memory, mask, memory_mask)
        return self.norm(x)


# %% [markdown]
# ## One to the right
#
# What does the decoder read in training, and what is it to say? At each place it should predict the character that
# comes *next*. So it reads the target moved one place to the right. The gap at the front is filled with a **begin**
# token, `>`, and behind the last character the target has an **end** token, `.`, for the model must also learn to stop.


# %% tags=["hide-input"] mystnb={"image": {"alt": "Two rows of boxes. Below, what the decoder reads: begin, 1, 9, 6, 9, -, 0, 7, -, 2, 0. Above, what it is to predict: 1, 9, 6, 9, -, 0, 7, -, 2, 0, end. An arrow leads up from each box, and the characters of the upper row stand one place further left than below."}, "figure": {"caption": "Teacher forcing. Below: what the decoder reads. Above: what it is to say at each place. Eleven predictions train at once."}}
def draw_shift(target, begin=">"):
    """Two rows, with an arrow from each character read to the one predicted."""
    read = begin + target[:-1]
    _, ax = plt.subplots(figsize=(6.4, 1.9))
    for y, row, colour in ((0, read, plots.BLUE), (1.5, target, plots.RED)):
        for x, letter in enumerate(row):
            special = letter in ">."
            ax.text(
                x,
                y,
                letter,
                ha="center",
                va="center",
                color="white",
                weight="bold",
                bbox={
                    "boxstyle": "square,pad=0.35",
                    "facecolor": plots.GREY if special else colour,
                    "edgecolor": "none",
                },
            )
    for x in range(len(target)):
        ax.annotate("", (x, 1.1), (x, 0.4), arrowprops={"arrowstyle": "-|>"})
    ax.text(-0.8, 0, "reads", ha="right", va="center")
    ax.text(-0.8, 1.5, "predicts", ha="right", va="center")
    ax.set(xlim=(-2.6, len(target) - 0.4), ylim=(-0.5, 2.0))
    ax.set_axis_off()


draw_shift("1969-07-20.")
plt.show()

# %% [markdown]
# In code it is one concatenation. Our alphabet is a string, a character's number is its place in it, and its first
# three are for padding, begin and end.

# %%
ALPHABET = "_>." + " ,-0123456789abcdefghijklmnopqrstuvwxyz"
PAD, BEGIN, END = 0, 1, 2


def encode(texts):
    """Token ids (batch, n), padded on the right, and the lengths."""
    rows = [torch.tensor([ALPHABET.index(c) for c in text]) for text in texts]
    lengths = torch.tensor([len(row) for row in rows])
    return nn.utils.rnn.pad_sequence(rows, batch_first=True), lengths


def decode(row):
    """The characters of a row of token ids."""
    return "".join(ALPHABET[i] for i in row)


target, _ = encode(["1969-07-20."])
begin = torch.full((len(target), 1), BEGIN)
read = torch.cat([begin, target[:, :-1]], dim=1)
print("reads:   ", decode(read[0]))
print("predicts:", decode(target[0]))
assert torch.equal(read, shift_right(target, BEGIN))

# %% [markdown]
# This is called **teacher forcing**: whatever the model would have said itself, the next position reads the right
# character, as if a teacher had corrected it at once. It is what makes all eleven positions trainable in one pass. It
# also means that in training the model never sees its own mistakes, while in use it has to live with them.
#
# **The end token is predicted, never read.** One finds descriptions in which it is appended to the decoder's input as
# well. Then twelve tokens are read and eleven are to be predicted, and the last one read, "what comes after the end?",
# has no answer. `shift_right` drops it: the end stands in the last place of the target, and it is the last place that
# falls off. (In a batch padded to one length this holds for the longest target. A shorter one loses a padding token
# and keeps its end; what is predicted behind the end is padding, and the loss leaves it out.)

# %%
too_long = torch.cat([begin, target], dim=1)
print("reads:   ", decode(too_long[0]), "", too_long.shape[1])
print("predicts:", decode(target[0]), " ", target.shape[1])

# %% [markdown]
# ## The whole Transformer
#
# What is left is the two ends. At the bottom, both source and target need token vectors and positions, as in chapter 5:
# the vector times $\sqrt{d_{\text{model}}}$, plus sinusoids. At the top, the decoder's vector must be turned into one
# score for each token of the vocabulary. That takes a matrix with a row for each token; and such a matrix is there
# already, the one of the token vectors. The paper uses the same matrix $E$ three times (**tied embeddings**): for the
# source, for the target and, transposed, for the scores. A token is likely next if its own vector fits the decoder's:
#
# $$\text{scores} = X_{\text{decoder}}\, E^\top + b.$$
#
# (The bias $b$ is common in code; the paper does not mention one.) And this is the Transformer, whole:


# %%
class Transformer(nn.Module):
    """Scores of every target token's successor, given the source and the tokens so far."""

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embedding = TokenEmbedding(
            config.vocab_size, config.d_model, scale=math.sqrt(config.d_model)
        )
        self.positions = SinusoidalPositions(
            config.d_model, config.max_len, sines_first=config.sines_first
        )
        self.dropout = nn.Dropout(config.dropout)
        sizes = (config.n_layers, config.d_model, config.n_heads, config.d_ff)
        options = {
            "dropout": config.dropout,
            "activation": config.activation,
            "pre_norm": config.pre_norm,
            "final_norm": config.final_norm,
            "bias": config.bias,
        }
        self.encoder = Encoder(*sizes, **options)
        self.decoder = Decoder(*sizes, **options)
        self.output_bias = (
            nn.Parameter(torch.zeros(config.vocab_size)) if config.bias else None
        )
        initialise(self)

    def forward(self, source, target, source_lengths=None):
        """(batch, n_source) and (batch, n_target) → (batch, n_target, vocab)"""
        memory = self.encode(source, source_lengths)
        return self.logits(self.decode(target, memory, source_lengths))

    def encode(self, source, source_lengths=None):
        """One vector for each source token, made from the whole sentence."""
        mask = (
            None
            if source_lengths is None
            else padding_mask(source_lengths, source.shape[1])
        )
        return self.encoder(self.embed(source), mask)

    def decode(self, target, memory, source_lengths=None):
        """One vector for each target token, made from the tokens up to it."""
        mask = causal_mask(target.shape[1], target.device)
        memory_mask = (
            None
            if source_lengths is None
            else padding_mask(source_lengths, memory.shape[1])
        )
        return self.decoder(self.embed(target), memory, mask, memory_mask)

    def embed(self, tokens):
        """Token vectors times √d_model, plus positions."""
        return self.dropout(self.positions(self.embedding(tokens)))

    def logits(self, hidden):
        """The score of every token of the vocabulary."""
        return self.embedding.scores(hidden, self.output_bias)


# %%
config = TransformerConfig(
    len(ALPHABET),
    d_model=32,
    n_heads=4,
    n_layers=2,
    d_ff=64,
    dropout=0.0,
    final_norm=True,
)
model = Transformer(config)
texts, lengths = encode(["july 20, 1969", "5 may 1821"])
target, _ = encode(["1969-07-20.", "1821-05-05."])
read = shift_right(target, BEGIN)
logits = model(texts, read, lengths)
print(tuple(logits.shape), "= (batch, n_target, vocabulary)")

# %% [markdown]
# The scores of a position are the dot products of its vector with every row of $E$, the matrix that came in at the bottom:

# %%
memory = model.encode(texts, lengths)
hidden = model.decode(read, memory, lengths)
E = model.embedding.weight
assert_close(hidden @ E.T + model.output_bias, logits)
assert_close(model.embedding(texts), E[texts] * math.sqrt(32))

# %% [markdown]
# Equal to PyTorch's Transformer? `nn.Transformer` consists of the two stacks; embeddings and scores are left to its
# users, so we give it ours. One thing has to be known: it ends each stack with a LayerNorm even in the post-norm order,
# where the last block has just done one. The paper has no such norm; our `final_norm=True` adds it for the comparison.
# And we compare the embeddings' gradient as well: equal outputs do not prove that the same thing would be learned.

# %%
sizes = {"num_encoder_layers": 2, "num_decoder_layers": 2, "dim_feedforward": 64}
torchs = nn.Transformer(32, 4, **sizes, dropout=0.0, batch_first=True)
state = {}
for name, stack in {"encoder": model.encoder, "decoder": model.decoder}.items():
    for i, block in enumerate(stack.blocks):
        state |= {
            f"{name}.layers.{i}.{key}": p for key, p in block_state(block).items()
        }
    state |= {
        f"{name}.norm.weight": stack.norm.weight,
        f"{name}.norm.bias": stack.norm.bias,
    }
torchs.load_state_dict(state)

padding = ~padding_mask(lengths, texts.shape[1])[:, 0, 0]  # True: not to be looked at
hidden = torchs(
    model.embed(texts),
    model.embed(read),
    tgt_mask=~causal_mask(read.shape[1]),
    src_key_padding_mask=padding,
    memory_key_padding_mask=padding,
)
theirs = hidden @ E.T + model.output_bias


def gradient(logits):
    """Of the loss, with respect to the tied matrix, which is used at both ends."""
    loss = F.cross_entropy(logits.flatten(0, 1), target.flatten())
    return torch.autograd.grad(loss, E)[0]


for name, (a, b) in {
    "scores": (logits, theirs),
    "gradients": (gradient(logits), gradient(theirs)),
}.items():
    assert (a - b).abs().max() < 1e-5
    print(f"our class and torch, {name}: largest difference < 1e-5")

# %% [markdown]
# ### Three differences
#
# The recurrent encoder–decoder with attention of 2015 was an encoder, a decoder and attention between them, too. The
# Transformer differs from it in three places:
#
# | | recurrent, with attention | Transformer |
# |---|---|---|
# | what a layer is | a recurrent cell, step by step | a block of self-attention and feed-forward, all positions at once |
# | how the decoder sees the source | through one attention, beside its recurrent cell | through cross-attention in *every* block |
# | how order is known | by reading in order | by position vectors added to the input |
#
# The third follows from the first: who gives up reading in order must get the order from elsewhere.
#
# ## How many parameters?
#
# The paper lists 65 million for the base model and 213 million for the big one. A block's parameters were counted in
# chapter 5; a decoder block has one more attention and one more norm.


# %%
def parameters(vocab_size, d, d_ff, n_layers=6):
    """Of the whole Transformer: by part, with a bias wherever there can be one."""
    attention, feed_forward, norm = 4 * d * d + 4 * d, 2 * d * d_ff + d_ff + d, 2 * d
    return {
        "encoder": n_layers * (attention + feed_forward + 2 * norm),
        "decoder": n_layers * (2 * attention + feed_forward + 3 * norm),
        "embeddings, tied": vocab_size * d,
        "output bias": vocab_size,
    }


for name, config in {
    "base": TransformerConfig.BASE,
    "big": TransformerConfig.BIG,
}.items():
    parts = parameters(config.vocab_size, config.d_model, config.d_ff)
    with torch.device("meta"):  # shapes only: nothing is stored
        counted = sum(p.numel() for p in Transformer(config).parameters())
    assert counted == sum(parts.values())
    print(
        f"{name:5}", ", ".join(f"{part} {n / 1e6:.2f} M" for part, n in parts.items())
    )
    print(f"      together {counted / 1e6:.1f} M")

# %% [markdown]
# With a shared vocabulary of 37,000 tokens, as the paper says ("about 37000"), we get 63.1 and 214.3 million: less than
# 65, more than 213. Perhaps another vocabulary makes both right? For each model, these are the vocabularies with which
# it would round to the published number, under several ways to count.


# %% mystnb={"image": {"alt": "For each of four ways to count, two short bars on an axis of vocabulary sizes from 35,000 to 42,000: base needs about 40,000 to 42,000, big about 35,000 to 36,500. The two never overlap. A dotted line stands at 37,000, between them."}, "figure": {"caption": "Which shared vocabulary would give 65 M (base, blue) and 213 M (big, orange)? No single one gives both. Dotted: the paper's \"about 37000\"."}}
def vocabularies(published, d, d_ff, biases, output_bias):
    """The smallest and largest vocabulary that rounds to `published` million."""
    without = sum(parameters(0, d, d_ff).values())
    if not biases:
        without -= (
            18 * 4 * d
        )  # 6 attentions in the encoder, 12 in the decoder, four biases each
    each = d + output_bias
    return [(1e6 * (published + half) - without) / each for half in (-0.5, 0.5)]


ways = {
    "biases everywhere": (True, 1),
    "no output bias": (True, 0),
    "no bias in attention": (False, 1),
    "neither": (False, 0),
}
figure, ax = plt.subplots(figsize=(6.4, 2.4))
for y, (biases, output_bias) in enumerate(ways.values()):
    base = vocabularies(65, 512, 2048, biases, output_bias)
    big = vocabularies(213, 1024, 4096, biases, output_bias)
    assert big[1] < base[0]  # never one vocabulary for both
    ax.plot(base, [y, y], color=plots.BLUE, linewidth=8, solid_capstyle="butt")
    ax.plot(big, [y, y], color=plots.ORANGE, linewidth=8, solid_capstyle="butt")
ax.text(base[1], y + 0.3, "base = 65 M", color=plots.BLUE, ha="right", va="bottom")
ax.text(big[0], y + 0.3, "big = 213 M", color="#9A6A00", va="bottom")
ax.axvline(37_000, color="black", linestyle=":")
ax.set(yticks=range(4), yticklabels=list(ways), ylim=(-0.6, 4.1), xlabel="vocabulary")
ax.set_xticks(range(36_000, 44_000, 2_000))
ax.xaxis.set_major_formatter("{x:,.0f}")
plt.show()

# %% [markdown]
# None does. The published numbers are right to within three per cent, and something in them was counted in a way that
# the paper does not describe. That is worth knowing when *your* model of the base size comes out at 63 million: nothing
# is missing. Without tying, three matrices instead of one, base would have 38 million more.
#
# ## What the paper reported
#
# BLEU ([chapter 8](08_training.ipynb)) measures how much a translation has in common with a human one; higher is
# better. These are the paper's own comparisons on the WMT 2014 test sets, with its estimates of what training cost in
# floating-point operations (Vaswani et al. 2017, table 2).

# %% mystnb={"image": {"alt": "Two scatter plots of BLEU over training cost on a logarithmic axis. English to German: both Transformers stand above all other systems, base furthest left at 3.3e18. English to French: base, at 38.1, is below the other systems, big, at 41.0, is above all single systems and just below two ensembles that cost about fifty times as much."}, "figure": {"caption": "BLEU over training cost. Orange: the Transformers. Blue: other single systems. Grey: ensembles."}}
# Name: BLEU en-de, BLEU en-fr, FLOPs en-de, FLOPs en-fr. (One cost stands for both in the Transformers' rows.)
TABLE_2 = {
    "ByteNet": (23.75, None, None, None),
    "Deep-Att + PosUnk": (None, 39.2, None, 1.0e20),
    "GNMT + RL": (24.6, 39.92, 2.3e19, 1.4e20),
    "ConvS2S": (25.16, 40.46, 9.6e18, 1.5e20),
    "MoE": (26.03, 40.56, 2.0e19, 1.2e20),
    "Deep-Att + PosUnk ensemble": (None, 40.4, None, 8.0e20),
    "GNMT + RL ensemble": (26.30, 41.16, 1.8e20, 1.1e21),
    "ConvS2S ensemble": (26.36, 41.29, 7.7e19, 1.2e21),
    "Transformer base": (27.3, 38.1, 3.3e18, 3.3e18),
    "Transformer big": (28.4, 41.0, 2.3e19, 2.3e19),
}
# Where a label does not fit to the right of its point:
LEFT = {
    ("GNMT + RL", 0),
    ("GNMT + RL", 1),
    ("MoE", 0),
    ("MoE", 1),
    ("ConvS2S ensemble", 0),
}
BELOW = {("GNMT + RL ensemble", 0), ("GNMT + RL ensemble", 1), ("ConvS2S", 1)}
figure, axes = plt.subplots(1, 2, figsize=(8.0, 3.8))
pairs = ("English → German", "English → French")
for i, (ax, pair) in enumerate(zip(axes, pairs, strict=True)):
    for name, row in TABLE_2.items():
        bleu, flops = row[i], row[i + 2]
        if bleu is None or flops is None:
            continue
        kind = name.split()[-1]
        is_ours = name.startswith("Transformer")
        colour = (
            plots.ORANGE
            if is_ours
            else plots.GREY
            if kind == "ensemble"
            else plots.BLUE
        )
        ax.scatter(flops, bleu, color=colour)
        place = (name, i)
        x, y = (-6, 0) if place in LEFT else (0, -11) if place in BELOW else (6, 0)
        ax.annotate(
            name.removesuffix(" ensemble"),
            (flops, bleu),
            xytext=(x, y),
            textcoords="offset points",
            ha="right" if x < 0 else "center" if x == 0 else "left",
            va="center",
            fontsize=8,
            color="#444444",
        )
    ax.set(xscale="log", title=pair, xlabel="training cost (FLOPs)")
    ax.set(xlim=(1.5e18, 3e22))
    ax.margins(y=0.12)
axes[0].set_ylabel("BLEU")
plt.show()

# %% [markdown]
# Read it slowly. Into German, both Transformers beat everything before them, ensembles included, and the base model
# does so at the lowest price in the table. Into French, the picture is mixed: 41.0 is the best single system, but two
# ensembles stand above it (41.16 and 41.29), and the base model is below all four single systems that the table lists.
# A later version of the paper reports 41.8, which is above everything in the table. "A fraction of the cost" holds
# for the base model, and for big into French and against the ensembles. Against single systems into German it does
# not: big cost more than twice what ConvS2S did.
#
# The costs can be recomputed: time times number of GPUs times what one of them is taken to achieve, 9.5 · 10¹²
# operations a second for the P100 cards that were used.

# %%
for name, hours, published in (("base", 12, 3.3e18), ("big", 3.5 * 24, 2.3e19)):
    flops = hours * 3600 * 8 * 9.5e12
    assert abs(flops / published - 1) < 0.02
    print(f"{name:4} {hours:4} hours on 8 GPUs: {flops:.1e}")

# %% [markdown]
# ## A Transformer that reads dates
#
# Now the promise of the beginning. Every day from 1900 to 2099, in two spellings; 1,000 days are kept aside, to be
# asked about dates that were never seen.


# %%
def spellings(day):
    """A date as people write it."""
    month = day.strftime("%B").lower()
    return (f"{day.day} {month} {day.year}", f"{month} {day.day}, {day.year}")


generator = random.Random(0)
first = datetime.date(1900, 1, 1)
days = [first + datetime.timedelta(i) for i in range(73_049)]
generator.shuffle(days)
unseen, seen = days[:1000], days[1000:]


def batch(days):
    """Sources, their lengths, and targets with the end token."""
    texts, lengths = encode([generator.choice(spellings(day)) for day in days])
    return texts, lengths, encode([day.isoformat() + "." for day in days])[0]


texts, lengths, target = batch(unseen[:3])
for row, answer in zip(texts, target, strict=True):
    print(decode(row).ljust(20), "→", decode(answer))

# %% [markdown]
# One block in the encoder, one in the decoder, width 64. The loop is the one of chapter 4; the learning rate rises for
# 50 steps (post-norm is usually given a warm-up) and falls towards the end. What the decoder reads is a parameter,
# because we shall spoil it later.


# %%
CONFIG = TransformerConfig(
    len(ALPHABET), d_model=64, n_heads=4, n_layers=1, d_ff=128, dropout=0.0, max_len=32
)


def shifted(target):
    """What the decoder should read."""
    return shift_right(target, BEGIN)


def train(reads=shifted, steps=400, rate=3e-3, model_class=Transformer):
    """Train on random batches of 64 dates; the model and the loss of each step."""
    torch.manual_seed(0)
    generator.seed(1)
    model, losses = model_class(CONFIG), []
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = rate * min(
            (step + 1) / 50, 1, 2 - 2 * step / steps
        )
        texts, lengths, target = batch(generator.sample(seen, 64))
        logits = model(texts, reads(target), lengths)
        loss = F.cross_entropy(logits.flatten(0, 1), target.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model.eval(), losses


model, losses = train()
print(f"{sum(p.numel() for p in model.parameters()):,} parameters")

# %% [markdown]
# To write, the decoder starts with nothing but the begin token, and each character it chooses is read at the next step.
# This plain loop runs the decoder over the whole text so far at every step, and takes the likeliest character each time
# (**greedy** decoding).


# %%
@torch.no_grad()
def write(model, texts, lengths, steps=11):
    """The likeliest next character, again and again: token ids (batch, steps)."""
    memory = model.encode(texts, lengths)  # the source is read once
    written = torch.full((len(texts), 1), BEGIN)
    for _ in range(steps):
        hidden = model.decode(written, memory, lengths)
        following = model.logits(hidden[:, -1]).argmax(dim=-1)
        written = torch.cat([written, following[:, None]], dim=1)
    return written[:, 1:]


texts, lengths, target = batch(unseen)
written = write(model, texts, lengths)
right = (written == target).all(dim=1).float().mean().item()

# %% tags=["nbval-ignore-output"]
print(f"unseen dates written without a mistake: {right:.3f}")

# %% tags=["remove-cell"]
assert right > 0.8
by_library = decoding.greedy(model, texts, lengths, begin=BEGIN, end=END, max_len=11)
same = [
    decode(a).split(".")[0] == decode(b)
    for a, b in zip(written, by_library.sentences(), strict=True)
]
assert sum(same) > 990

# %% tags=["nbval-ignore-output"]
for row, answer in list(zip(texts, written, strict=True))[:4]:
    print(decode(row).rstrip("_").ljust(20), "→", decode(answer))

# %% [markdown]
# Where does it look? The model hands out its cross-attention; here is the mean of its four heads, for one date in
# both spellings. Each row is a character being written.

# %% mystnb={"image": {"alt": "Two heat maps of cross-attention, one for each spelling of the same date. Rows are the characters of 1969-07-20 and the end, columns those of the source. In both, the year's rows look at the year, the month's rows at letters of july, the row of the day's last digit at that digit, wherever it stands. The rows of the hyphens and of the day's first digit look at more than one place."}, "figure": {"caption": "Cross-attention of the trained model, mean over heads, for one date in two spellings. Rows: the character about to be written. Columns: the source."}}
day = datetime.date(1969, 7, 20)
texts, lengths = encode(spellings(day))
target, _ = encode([day.isoformat() + "."] * 2)
with torch.no_grad(), record(model) as recorded:
    model(texts, shifted(target), lengths)
looks = recorded["decoder.blocks.0.cross_attention.weights"].mean(dim=1)

figure, axes = plt.subplots(1, 2, figsize=(7.4, 3.6))
for ax, text, look in zip(axes, spellings(day), looks, strict=True):
    plots.heatmap(
        look[:, : len(text)], rows="1969-07-20.", columns=text, ax=ax, title=text
    )
axes[0].set_ylabel("written")
plt.show()

# %% tags=["remove-cell"]
for text, look in zip(spellings(day), looks, strict=True):
    year, month = text.index("1969"), text.index("july")
    assert look[:4, year : year + 4].sum(dim=1).mean() > 0.3
    assert look[5:7, month : month + 4].sum(dim=1).mean() > 0.3

# %% [markdown]
# Nobody told the model where in a date the year stands. It is found in both spellings, though it begins anywhere from
# the seventh character to the fifteenth. (It always stands last; whether the model uses that or *what* stands there,
# the picture does not tell.)
#
# ## What goes wrong
#
# ### The shift forgotten
#
# Give the decoder the target as it is. At each position it now reads the very character that it is to predict.

# %%
copying, copying_losses = train(reads=lambda target: target)

# %% [markdown]
# A second way to the same end is **a mask that is off by one**. `tril(diagonal=1)` lets each position see one place too
# far, and after the shift, one place too far is the answer. Both models get what the right one got: the same 400 steps,
# batches and rates.


# %%
class Leaky(Transformer):
    """A Transformer whose causal mask is off by one."""

    def decode(self, target, memory, source_lengths=None):
        n = target.shape[1]
        mask = torch.ones(n, n, dtype=torch.bool).tril(diagonal=1)
        read = (
            None
            if source_lengths is None
            else padding_mask(source_lengths, memory.shape[1])
        )
        return self.decoder(self.embed(target), memory, mask, read)


leaky, leaky_losses = train(model_class=Leaky)

# %% mystnb={"image": {"alt": "Training loss over 400 steps, logarithmic axis, and a dashed line at 1.02. The loss without the shift is far below the right model's from the start; with the mask off by one it leaves the right one after some tens of steps and then stays well below it. All three end below the dashed line."}, "figure": {"caption": "Loss in training, the same steps, batches and rates for all three. The two broken models look better than the right one. Dashed: the best that a decoder blind to the source could do, ln 73,049 / 11."}}
trained = {
    "right": (model, losses),
    "not shifted": (copying, copying_losses),
    "mask off by one": (leaky, leaky_losses),
}
curves = {name: each for name, (_, each) in trained.items()}
ax = plots.curves(
    range(1, 401), curves, xlabel="training step", ylabel="loss", direct_labels=False
)
ax.axhline(math.log(len(days)) / 11, color="black", linestyle="--", linewidth=1)
ax.set(yscale="log")
plt.show()

# %% tags=["nbval-ignore-output"]
texts, lengths, target = batch(unseen)
shares = {}
for name, (writer, each) in trained.items():
    written = write(writer, texts, lengths)
    shares[name] = (written == target).all(dim=1).float().mean().item()
    print(f"{name:15} loss {sum(each[-10:]) / 10:.4f}", end="   ")
    print(f"right dates {shares[name]:.3f}   the first: {decode(written[0])}")
print(f"a blind guess               right dates {1 / len(days):.5f}")

# %% tags=["remove-cell"]
assert (
    shares["right"] > 0.8
    and max(shares["not shifted"], shares["mask off by one"]) < 0.02
)
for broken in (copying_losses, leaky_losses):
    assert sum(broken[100:200]) < sum(losses[100:200]) / 2

# %% [markdown]
# Both losses are below the right one, and both models are useless: they write hardly more right dates than a guess that
# never saw the source. They have learned to copy what they read, and when they write, the answer is not there to be
# copied. **A loss that is too good is a bug report.** The test that finds both changes one character of the target: the
# score at its own position must not move.


# %%
def leaks(model, reads):
    """Whether the score at some position moves if its own answer changes."""
    texts, lengths, target = batch(unseen[:1])
    changed = target.clone()
    changed[0, 4] = ALPHABET.index("7")  # another fifth character
    before, after = (model(texts, reads(t), lengths)[0, 4] for t in (target, changed))
    return not torch.allclose(before, after, atol=1e-6)


print("right:          ", leaks(model, shifted))
print("not shifted:    ", leaks(copying, lambda target: target))
print("mask off by one:", leaks(leaky, shifted))

# %% [markdown]
# ### The source's padding forgotten
#
# The encoder hides the padding from itself; it must be hidden from the decoder too. `memory_key_padding_mask` is an
# argument of `nn.Transformer` that is easily forgotten: without it everything runs, and cross-attention spends part
# of its attention on places where nothing stands. The same date, alone and in a batch with a longer one:


# %%
def scores_of_first(texts, mask_in_decoder):
    """Scores for the first of these sources."""
    tokens, lengths = encode(texts)
    target, _ = encode(["1921-05-05."] * len(texts))
    with torch.no_grad():
        memory = model.encode(tokens, lengths)
        hidden = model.decode(
            shifted(target), memory, lengths if mask_in_decoder else None
        )
        return model.logits(hidden)[0]


short, long = "5 may 1921", "september 30, 1969"
for name, masked in {"with the mask": True, "mask forgotten": False}.items():
    alone, together = (
        scores_of_first([short], masked),
        scores_of_first([short, long], masked),
    )
    print(
        f"{name:15} the same scores in both:",
        torch.allclose(alone, together, atol=1e-3),
    )

# %% [markdown]
# An output that changes with its neighbours in the batch is hard to debug, because it is right whenever one looks at
# it alone.
#
# ## Summary
#
# 1. In training all target positions are computed at once, so a causal mask must hide the future. In use the mask stays:
#    it keeps the vectors of what is written from changing with every new character.
# 2. Cross-attention: queries from the decoder, keys and values from the encoder's output, in every block.
# 3. The decoder reads the target shifted right behind a begin token; nothing is to be predicted from the end token.
# 4. Encoder, decoder, one tied matrix at three places: with 37,000 tokens 63.1 million parameters (base) and 214.3
#    (big).
# 5. A forgotten shift or a mask off by one gives a wonderful loss and a useless model: test that nothing leaks.
#
# **Homework 2**, questions 5 to 8, is about this chapter: [exercises](../exercises/hw2_transformer.ipynb).
#
# **Next:** what are the tokens of a real translator? Neither characters nor words: [chapter 7](07_subwords.ipynb). How
# it is trained: [chapter 8](08_training.ipynb). And how it writes without computing everything anew at each step:
# [chapter 9](09_generating.ipynb).
#
# ## References
#
# - Ashish Vaswani et al. (2017). *Attention is all you need.* NeurIPS. Sections 3, 5.1, 5.2 and 6.1; tables 2 and 3.
#   The 41.8 BLEU are those of the abstract of the later version, arXiv:1706.03762.
# - Dzmitry Bahdanau, Kyunghyun Cho and Yoshua Bengio (2015). *Neural machine translation by jointly learning to align
#   and translate.* ICLR.
# - Ofir Press and Lior Wolf (2017). *Using the output embedding to improve language models.* EACL. Tied embeddings.
# - Ronald J. Williams and David Zipser (1989). *A learning algorithm for continually running fully recurrent neural
#   networks.* Neural Computation. Teacher forcing.
# - Aston Zhang, Zachary C. Lipton, Mu Li and Alexander J. Smola (2023). *Dive into deep learning.* Cambridge University
#   Press. Its chapter on attention compares the Transformer with the recurrent model, too.
