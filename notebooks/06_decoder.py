# %% [markdown]
# # The decoder
#
# People write *july 20, 1969* or *20 july 1969*; computers want `1969-07-20`. To get from one to the other you read the
# whole date, then write one character after another. Each time you look at two things: what you have written so far,
# and the place in the original that matters now. At the end of this chapter a model of fewer than 90,000 parameters
# learns this from examples alone.
#
# The encoder of [chapter 5](05_encoder.ipynb) does the reading, the **decoder** the writing. Together they are the
# Transformer of 2017.

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

draw("whole_transformer")

# %% [markdown]
# The right half is new. (You can see it [at work](#the-whole-transformer), in your browser and on a sentence of yours.)
#
# **After this chapter you can**
#
# - say what a causal mask hides in training, and test that yours lets nothing through;
# - compute cross-attention by hand, and say where its queries, keys and values come from;
# - shift the target by one, explain teacher forcing, and recognise a model that could read its answers in training;
# - write the whole Transformer from memory, train it, and let it write.
#
# **Time** about 90 minutes. **You need** [chapter 5](05_encoder.ipynb).

# %% tags=["hide-input"]
import datetime
import math
import random
from dataclasses import dataclass

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import nn
from torch.testing import assert_close

from lectures_lib import decoding, stored
from lectures_lib.blocks.attention import MultiHeadAttention, causal_mask, padding_mask
from lectures_lib.blocks.layers import Encoder, EncoderBlock, FeedForward, Residual
from lectures_lib.blocks.positions import SinusoidalPositions, sinusoidal_positions
from lectures_lib.blocks.recording import record
from lectures_lib.show import plots
from lectures_lib.show.drawings import draw
from lectures_lib.show.stepper import Stepper, bars, join, part, pieces

# %% [markdown]
# ## Writing, and learning to write
#
# When the model is used, the encoder reads the source once. It makes one vector for each character; together they are
# the **memory**. Then the decoder writes one character at a time. It begins with a **begin** token, `>`. At each step
# it reads what it has written so far, until it writes an **end** token, `.`:
#
# | besides the memory, the decoder reads | and writes |
# |---|---|
# | `>` | `1` |
# | `> 1` | `9` |
# | `> 1 9` | `6` |
# | … | … |
#
# As a program it is one loop:
#
# ```python
# memory = encode(source)
# written = [BEGIN]
# while written[-1] != END:
#     scores = decode(written, memory)
#     written.append(likeliest(scores))
# ```
#
# When the model learns, the whole answer is known. So all rows of the table can be computed at once, in one pass. But
# now the future stands in the same tensor, and a position that could look at it would simply read the answer there.
# Hence the **causal mask** of [chapter 2](02_self_attention.ipynb): position $i$ may attend to positions $0 \dots i$.
#
# ## One to the right
#
# At each place the decoder should predict the character that comes *next*. So in training it reads the target moved one
# place to the right, with the begin token in the gap at the front. At the back of the target stands the end token,
# because the model must also learn to stop.

# %% [markdown]
# **Predict.** With its end token, the target `1969-07-20.` has eleven characters, and the decoder has to predict all of
# them. It reads the begin token first. How many characters does it read in all, and is the end token among them: eleven
# with it, eleven without it, or twelve with it?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: eleven without it -->
#
# Eleven, and the end token is not among them. When the target moves to the right, its last character drops out, and
# that is the end token. It is there to be predicted, not to be read. With twelve read and eleven to predict, the last
# one read would ask "what comes after the end?", and there is no answer. (It is tempting to keep the end token; some
# descriptions do.)
#
# </details>

# %% tags=["remove-input"]
draw("shift")

# %% [markdown]
# <details><summary>And if the targets of a batch have different lengths?</summary>
#
# Then the shorter ones have padding after their end tokens. Moved to the right, the longest target loses its end token.
# A shorter one loses a padding token instead, so the model does read its end token. What it predicts from there is
# padding, and the loss must leave that out, with `ignore_index=PAD`. The target needs no padding mask: its padding
# stands behind the text, where the causal mask hides it from every character. (All dates of this chapter have eleven characters, the end token included.)
#
# </details>
#
# In code, our alphabet is a string. A character's number is its place there; the first three stand for padding, begin
# and end.

# %%
ALPHABET = "_>." + " ,-0123456789abcdefghijklmnopqrstuvwxyz"
PAD, BEGIN, END = 0, 1, 2


def to_ids(texts):
    """Token ids (batch, n), padded on the right, and the lengths."""
    rows = [torch.tensor([ALPHABET.index(c) for c in text]) for text in texts]
    lengths = torch.tensor([len(row) for row in rows])
    return nn.utils.rnn.pad_sequence(rows, batch_first=True), lengths


def to_text(row):
    """The characters of a row of token ids."""
    return "".join(ALPHABET[i] for i in row)


def shift_right(target, begin):
    """What the decoder reads: the begin token, then the target but its last."""
    return torch.cat([torch.full_like(target[:, :1], begin), target[:, :-1]], dim=1)


target, _ = to_ids(["1969-07-20."])
read = shift_right(target, BEGIN)
print("reads:   ", to_text(read[0]), read.shape[1])
print("predicts:", to_text(target[0]), target.shape[1])

# %% [markdown]
# At each place exactly one character is right, and it should get all of the probability. The loss of a place is the
# negative logarithm of the share that the right character gets, the **cross-entropy**. `F.cross_entropy` computes it
# for all places at once and takes the mean.

# %% tags=["remove-input"]
draw("targets")

# %% [markdown]
# Training in this way is called **teacher forcing**. Whatever the model would have said itself, the next position reads
# the right character, as if a teacher had corrected it at once. That makes all eleven positions trainable in one pass.
# It also means that in training the model never sees its own mistakes, while in use it has to live with them.
#
# Both ways side by side, with a model like the one at the end of this chapter and any date of yours: [A date, letter by
# letter](../book/your_own/writing.md#a-date-letter-by-letter). Spoil a letter that training gives, and find the rows that cannot
# see it.
#
# ## Looking at the source
#
# The decoder looks at what it has written, and at the source. This second look is **cross-attention**. It is the
# attention of chapters 2 and 3 with one change: the queries are made from the decoder's vectors, the keys and values
# from the memory, the encoder's output:
#
# $$\begin{aligned} Q &= X_{\text{decoder}} W^Q, \\ K &= X_{\text{encoder}} W^K, \\ V &= X_{\text{encoder}} W^V. \end{aligned}$$
#
# By hand: the source is `may 5`, and the decoder is about to write the month. Suppose its query meets the five keys
# with scores 3, 2, 3, 0 and 0. The powers of $e$ are 20.1, 7.4, 20.1, 1 and 1, together 49.6; the shares are 0.41,
# 0.15, 0.41, 0.02 and 0.02. So four fifths of what the decoder receives are values of `m` and `y`, and no other month
# has both of these letters.

# %%
shares = torch.tensor([3.0, 2.0, 3.0, 0.0, 0.0]).softmax(dim=-1)
print({letter: f"{share:.2f}" for letter, share in zip("may 5", shares, strict=True)})

# %% [markdown]
# Source and target have lengths of their own, so the table of weights is now a rectangle: a row for each position that
# is written, a column for each that is read. No causal mask is needed, because the whole source is there. But sources
# of different lengths in one batch need a padding mask. Here are two sources, of nine characters and of five, six
# characters written, and one head:

# %%
torch.manual_seed(0)
memory = torch.randn(2, 9, 16)  # what the encoder made of two sources
x = torch.randn(2, 6, 16)  # what the decoder has made of its six characters
# True: may be seen. It is (batch, 1, 1, n): the second axis is for heads. [:, 0] takes
# it away: there is only one head here
memory_mask = padding_mask(torch.tensor([9, 5]), n=9)[:, 0]
W_Q, W_K, W_V = (torch.randn(16, 16) / 4 for _ in range(3))

Q = x @ W_Q  # each written character asks …
K, V = memory @ W_K, memory @ W_V  # … and each source character answers
scores = Q @ K.transpose(1, 2) / math.sqrt(16)
weights = scores.masked_fill(~memory_mask, -math.inf).softmax(dim=-1)
output = weights @ V

names = ("Q", "K", "V", "weights", "output")
for name, tensor in zip(names, (Q, K, V, weights, output), strict=True):
    print(f"{name:8}", tuple(tensor.shape))
print(f"weight on the second source's padding: {weights[1, :, 5:].sum():.2f}")

# %% [markdown]
# Nine characters are read, six vectors come out: as many as there are queries. Chapter 3's `MultiHeadAttention` does
# this in several heads when it gets the memory as its second argument.
#
# ## The decoder block
#
# A decoder block is an encoder block with cross-attention in the middle:

# %% tags=["remove-input"]
draw("decoder_block")

# %% [markdown]
# Bare, as chapter 5's `PlainBlock` was, its `forward` is six lines:


# %%
class PlainDecoderBlock(nn.Module):
    """The decoder block of the paper, bare."""

    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, bias=True)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, bias=True)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.norm_3 = nn.LayerNorm(d_model)

    def forward(self, x, memory, mask=None, memory_mask=None):
        a = self.self_attention(x, mask=mask)  # what have I written?
        x = self.norm_1(x + a)  # (batch, n_target, d_model), here and below
        c = self.cross_attention(x, memory, memory_mask)  # what does the source say?
        x = self.norm_2(x + c)
        f = self.feed_forward(x)  # what do I make of it?
        return self.norm_3(x + f)


block = PlainDecoderBlock(d_model=16, n_heads=4, d_ff=64)
print(tuple(block(x, memory, causal_mask(6)).shape))

# %% [markdown]
# **Predict.** A decoder block gets six written characters, with a causal mask, and a memory of nine. First we change
# the fourth character written. Then we put that back and change one of the nine vectors of the memory. How many of
# the six outputs move the first time and the second: one and six, three and six, or three and three?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: three and six -->
#
# Three, then all six. The fourth, fifth and sixth position see the fourth character; the first three lie before it. (It
# is tempting to say one, since only one character was changed. But the later positions look back at it.) No causal mask
# hides the memory: every written position may look at every place of the source, and softmax gives each at least a
# little weight.
#
# </details>


# %%
def moved(new_x, new_source):
    """How many of the six outputs are not what they were."""
    before = block(x[None], source[None], causal_mask(6))
    after = block(new_x[None], new_source[None], causal_mask(6))
    return int(((after - before).abs().amax(dim=-1) > 1e-4).sum())


x, source = x[0], memory[0]
other_x, other_source = x.clone(), source.clone()
other_x[3] += 1 + torch.randn(16)
other_source[2] += 1 + torch.randn(16)
print("another fourth character:", moved(other_x, source), "of 6 outputs move")
print("another source vector:   ", moved(x, other_source), "of 6 outputs move")

# %% [markdown]
# The decoder is a stack of $N = 6$ such blocks, each with parameters of its own. All six look at the *same* memory,
# each through its own $W^K$ and $W^V$. The memory does not change while the decoder writes, so these keys and values
# can be computed once for all steps ([chapter 9b](09b_cache.ipynb)).
#
# ### All at once, or one at a time
#
# The causal mask has to keep a promise: *all at once* must give the same vectors as *one at a time*. To test it, take
# chapter 5's blocks under a causal mask and six random vectors. Compute all six in one pass. Then hand over the first
# only, then the first two, and so on. Compare each last vector with the one from the single pass.

# %% [markdown]
# **Predict.** When the characters come one at a time, nothing stands after the last of them. So in this way of
# computing we leave the mask out. For which stacks does the last vector still equal the one that was computed all at
# once, *with* the mask: for one block only, for two as well, or for neither?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: for one block only -->
#
# For one block, yes: the last character may see all the others anyway; its row of a causal mask is all True. For two
# blocks, no: it differs by 0.07, where the numbers are about 1, and that is no rounding error. The second block reads
# what the first made of *all* the characters so far. Without a mask, the first block lets the first character look at
# the second. When everything was computed at once, it could not. It is tempting to say that a mask is needed only where
# there is a future. But every character except the last has one: the characters written after it.
#
# </details>


# %% tags=["atol=0.002"]
def gap(n_blocks, masked):
    """Largest difference between one at a time and all at once, over six characters."""
    torch.manual_seed(0)
    stack, x = Encoder(n_blocks, 16, n_heads=4, d_ff=64), torch.randn(1, 6, 16)
    at_once = stack(x, causal_mask(6))
    gaps = []
    for i in range(6):
        so_far = stack(x[:, : i + 1], causal_mask(i + 1) if masked else None)
        gaps.append((so_far[:, -1] - at_once[:, i]).abs().max().item())
    return max(gaps)


print("largest difference   no mask   causal mask")
for n, name in ((1, "one block"), (2, "two blocks")):
    print(f"{name:18} {gap(n, False):9.4f} {gap(n, True):13.4f}")

# %% [markdown]
# So the mask stays on in use. With it, a character's vector never changes again, whatever is written after it. And this
# comparison is a good test of any decoder.
#
# ## The whole Transformer
#
# Two ends of the drawing at the start are still missing. At the bottom, source and target need token vectors and
# positions. At the top, the decoder's vector must become one score for each token of the vocabulary: here 42
# characters, in the paper 37,000 pieces of words. These scores are the **logits**; softmax makes shares of them.

# %% tags=["remove-input"]
draw("vector_to_token")

# %% [markdown]
# The step from the vector to the scores takes a matrix with a row for each token, and there is one already: that of the
# token vectors. The paper uses this matrix $E$ three times (**tied embeddings**): for the source, for the target and,
# transposed, for the scores. A token is likely next if its own vector fits the decoder's:
#
# $$\text{scores} = X_{\text{decoder}}\, E^\top + b.$$
#
# (The bias $b$ is common in code; the paper does not mention one.) Here is a whole Transformer, without $b$. It uses,
# from before:
#
# - `causal_mask(n)` (chapter 2), True where a position may look, and `padding_mask(lengths, n)`, True at words;
# - `sinusoidal_positions(n, d_model)` (chapter 4), a vector for each place;
# - `EncoderBlock(…)` (chapter 5), without options the `PlainBlock`, and our `PlainDecoderBlock(…)`.


# %%
class PlainTransformer(nn.Module):
    """Scores of the next token at every target position, given the source."""

    def __init__(self, vocab_size, d_model, n_heads, n_layers, d_ff):
        super().__init__()
        sizes, n = (d_model, n_heads, d_ff), n_layers
        self.E = nn.Parameter(torch.randn(vocab_size, d_model) / math.sqrt(d_model))
        self.encoder = nn.ModuleList(EncoderBlock(*sizes) for _ in range(n))
        self.decoder = nn.ModuleList(PlainDecoderBlock(*sizes) for _ in range(n))

    def embed(self, tokens):
        n, d_model = tokens.shape[1], self.E.shape[1]
        return self.E[tokens] * math.sqrt(d_model) + sinusoidal_positions(n, d_model)

    def encode(self, source, lengths):  # read: the memory
        x, mask = self.embed(source), padding_mask(lengths, source.shape[1])
        for block in self.encoder:
            x = block(x, mask)
        return x

    def decode(self, target, memory, lengths):  # write
        x, mask = self.embed(target), causal_mask(target.shape[1])
        for block in self.decoder:
            x = block(x, memory, mask, padding_mask(lengths, memory.shape[1]))
        return x

    def logits(self, x):
        return x @ self.E.T

    def forward(self, source, target, lengths):
        return self.logits(self.decode(target, self.encode(source, lengths), lengths))


bare = PlainTransformer(len(ALPHABET), d_model=32, n_heads=4, n_layers=2, d_ff=64)
texts, lengths = to_ids(["july 20, 1969"])
target, _ = to_ids(["1969-07-20."])
scores = bare(texts, shift_right(target, BEGIN), lengths)
print(tuple(scores.shape), "= (batch, n_target, vocab)")

# %% [markdown]
# **All of it at work**, trained to translate, on your own sentence and in your browser: [the whole model at
# work](../book/through.md#the-whole-model-at-work), and [down to single products](../book/through.md).
#
# <details><summary>Why times √d_model on the way in?</summary>
#
# The paper does not say; this may be the reason. A token's vector should have a length of about 1 for the scores: the
# decoder's vector comes out of a LayerNorm with length $\sqrt{d_{\text{model}}}$. Its product with a random vector of
# length 1 is a sum of $d_{\text{model}}$ products, each of variance $1 / d_{\text{model}}$ (chapter 2), so the scores
# start at about ±1. For the input such a vector is short: a sinusoidal position is 16 times as long, as the folded cell
# shows. (In [chapter 4](04_order.ipynb) a small model learned its task with faint words all the same.)
#
# </details>

# %% tags=["hide-cell", "atol=0.15"]
words = torch.randn(1000, 512) / math.sqrt(512)
print(f"length of a position  {sinusoidal_positions(100, 512).norm(dim=-1).mean():.1f}")
print(f"length of a token     {words.norm(dim=-1).mean():.1f}")
print(f"the token times √512  {(math.sqrt(512) * words).norm(dim=-1).mean():.1f}")

# %% [markdown]
# ### The form the library uses
#
# The library's form adds what practice asks for: all sizes in one `TransformerConfig` (what you leave out is as in the
# paper's base model), dropout and the norm's place in every block, the bias $b$. Its parts are folded:


# %% tags=["hide-input"]
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
        """(batch, n_target, d_model), (batch, n_source, d_model) → like x"""
        # What have I written? What does the source say? What do I make of it?
        x = self.around_self_attention(x, self.self_attention, mask=mask)
        x = self.around_cross_attention(x, self.cross_attention, memory, memory_mask)
        return self.around_feed_forward(x, self.feed_forward)


class Decoder(nn.Module):
    """N decoder blocks, one on another."""

    def __init__(
        self, n_layers, d_model, n_heads, d_ff, *, pre_norm=False, eps=1e-5, **options
    ):
        super().__init__()
        self.blocks = nn.ModuleList(
            DecoderBlock(d_model, n_heads, d_ff, pre_norm=pre_norm, eps=eps, **options)
            for _ in range(n_layers)
        )
        self.norm = nn.LayerNorm(d_model, eps) if pre_norm else nn.Identity()

    def forward(self, x, memory, mask=None, memory_mask=None):
        """(batch, n_target, d_model), (batch, n_source, d_model) → like x"""
        for block in self.blocks:
            x = block(x, memory, mask, memory_mask)
        return self.norm(x)


class TokenEmbedding(nn.Module):
    """A vector for every token id, times `scale`; and from vectors back to scores."""

    def __init__(self, vocab_size, d_model, scale=1.0):
        super().__init__()
        self.scale = scale
        self.weight = nn.Parameter(torch.empty(vocab_size, d_model))
        nn.init.normal_(self.weight, std=1 / math.sqrt(d_model))

    def forward(self, tokens):
        """(batch, n) → (batch, n, d_model)"""
        return F.embedding(tokens, self.weight) * self.scale

    def scores(self, x, bias=None):
        """(batch, n, d_model) → (batch, n, vocab_size)"""
        return F.linear(x, self.weight, bias)


def initialise(model, std=None):
    """Fresh matrices and zero biases in every linear layer of the model."""
    for module in model.modules():
        if isinstance(module, nn.Linear):
            if std is None:
                nn.init.xavier_uniform_(module.weight)
            else:
                nn.init.trunc_normal_(module.weight, std=std, a=-2 * std, b=2 * std)
            if module.bias is not None:
                nn.init.zeros_(module.bias)


@dataclass(frozen=True)
class TransformerConfig:
    """The sizes of a Transformer."""

    vocab_size: int  # tokens; source and target share them
    d_model: int = 512
    n_heads: int = 8
    n_layers: int = 6  # in the encoder, and as many in the decoder
    d_ff: int = 2048
    dropout: float = 0.1
    max_len: int = 1024
    activation: str = "relu"
    pre_norm: bool = False
    bias: bool = True


class Transformer(nn.Module):
    """Scores of the next token at every target position, given the source."""

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embedding = TokenEmbedding(
            config.vocab_size, config.d_model, scale=math.sqrt(config.d_model)
        )
        self.positions = SinusoidalPositions(config.d_model, config.max_len)
        self.dropout = nn.Dropout(config.dropout)
        sizes = (config.n_layers, config.d_model, config.n_heads, config.d_ff)
        options = {
            "dropout": config.dropout,
            "activation": config.activation,
            "pre_norm": config.pre_norm,
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


# %% [markdown]
# As long as $b$ is zero, as it is at the start, it is the same model: the plain form, given its weights, gives the
# same scores.

# %% tags=["hide-input"]
same = Transformer(
    TransformerConfig(len(ALPHABET), 32, n_heads=4, n_layers=2, d_ff=64, dropout=0.0)
)
bare.E, bare.encoder = same.embedding.weight, same.encoder.blocks
for ours, theirs in zip(bare.decoder, same.decoder.blocks, strict=True):
    ours.self_attention, ours.cross_attention = (
        theirs.self_attention,
        theirs.cross_attention,
    )
    ours.feed_forward = theirs.feed_forward
    ours.norm_1 = theirs.around_self_attention.norm
    ours.norm_2 = theirs.around_cross_attention.norm
    ours.norm_3 = theirs.around_feed_forward.norm
read = shift_right(target, BEGIN)
assert_close(bare(texts, read, lengths), same(texts, read, lengths))
texts, lengths = to_ids(["july 20, 1969", "20 july 69"])  # of different lengths
read = read.expand(2, -1)
plain, librarys = bare(texts, read, lengths), same(texts, read, lengths)
assert_close(plain, librarys)
print(f"largest difference of a score: {(plain - librarys).abs().max():.5f}")

# %% [markdown]
# Two dates go in. With random weights the scores mean nothing yet, but they have the right shape:

# %%
config = TransformerConfig(
    len(ALPHABET), d_model=32, n_heads=4, n_layers=2, d_ff=64, dropout=0.0
)
model = Transformer(config)
texts, lengths = to_ids(["july 20, 1969", "5 may 1821"])
target, _ = to_ids(["1969-07-20.", "1821-05-05."])
read = shift_right(target, BEGIN)
logits = model(texts, read, lengths)
print(tuple(logits.shape), "= (batch, n_target, vocabulary)")

# %% tags=["remove-cell"]
memory = model.encode(texts, lengths)
hidden = model.decode(read, memory, lengths)
E = model.embedding.weight
assert_close(hidden @ E.T + model.output_bias, logits)
assert_close(model.embedding(texts), E[texts] * math.sqrt(32))

# %% [markdown]
# Does it compute what PyTorch's `nn.Transformer` does? PyTorch has the two stacks only, each with one more LayerNorm at
# its end. So the folded cell gives our stacks such norms, and puts our embeddings before torch's stacks and our scores behind them. It compares the
# scores and the gradient of $E$: a model could give the right scores and still learn the wrong thing.


# %% tags=["hide-input", "atol=1e-5"]
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


model.encoder.norm, model.decoder.norm = nn.LayerNorm(32), nn.LayerNorm(32)
logits = model(texts, read, lengths)
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
E = model.embedding.weight  # the same matrix at both ends
theirs = hidden @ E.T + model.output_bias


def gradient(logits):
    """Of the loss, with respect to the tied matrix, which is used at both ends."""
    loss = F.cross_entropy(logits.flatten(0, 1), target.flatten())
    return torch.autograd.grad(loss, E)[0]


compared = {
    "scores": (logits, theirs),
    "gradients": (gradient(logits), gradient(theirs)),
}
print("            largest   differs by at most")
for name, (a, b) in compared.items():
    print(f"{name:10} {a.abs().max():8.2f}   {(a - b).abs().max():.0e}")

# %% tags=["remove-cell"]
assert all((a - b).abs().max() < 1e-5 * a.abs().max() for a, b in compared.values())

# %% [markdown]
# ### How many parameters?
#
# The paper lists 65 million for its base model ($d_{\text{model}} = 512$) and 213 million for the big one
# ($d_{\text{model}} = 1024$). With its vocabulary of "about 37000" tokens we count 63.1 and 214.3 million, part by part
# in the folded cell. The paper does not say what makes the difference. So if *your* base model has 63 million, nothing
# is missing. Its largest part is the decoder, 25 million: each of its blocks has two attentions.


# %% tags=["hide-cell"]
def parameters(vocab_size, d, d_ff, n_layers=6):
    """Of the whole Transformer: by part, with a bias wherever there can be one."""
    attention, feed_forward, norm = 4 * d * d + 4 * d, 2 * d * d_ff + d_ff + d, 2 * d
    return {
        "encoder": n_layers * (attention + feed_forward + 2 * norm),
        "decoder": n_layers * (2 * attention + feed_forward + 3 * norm),
        "embeddings, tied": vocab_size * d,
        "output bias": vocab_size,
    }


base = TransformerConfig(37_000)
big = TransformerConfig(37_000, d_model=1024, n_heads=16, d_ff=4096, dropout=0.3)
rows = {}
for config in (base, big):
    parts = parameters(config.vocab_size, config.d_model, config.d_ff)
    with torch.device("meta"):  # shapes only: nothing is stored
        counted = sum(p.numel() for p in Transformer(config).parameters())
    parts |= {"together": sum(parts.values()), "counted in ours": counted}
    for what, n in parts.items():
        rows.setdefault(what, []).append(n / 1e6)
print("millions           base      big")
for what, (in_base, in_big) in rows.items():
    print(f"{what:17} {in_base:5.2f} {in_big:8.2f}")

# %% [markdown]
# ### Three differences
#
# The recurrent translator of 2015 ([chapter 1](01_bottleneck.ipynb)) was an encoder, a decoder and attention between
# them, too. The Transformer of 2017 was, as far as its authors knew, the first neural translator without recurrence and
# without convolutions. Three differences matter most:
#
# | | recurrent, with attention | Transformer |
# |---|---|---|
# | what a layer is | a recurrent cell, step by step | a block of self-attention and feed-forward, all positions at once |
# | how the decoder sees the source | through one attention, beside its recurrent cell | through cross-attention in *every* block |
# | how order is known | by reading in order | by position vectors added to the input |
#
# The third follows from the first: a model that gives up reading in order must get the order from elsewhere.
#
# ## A Transformer that reads dates
#
# Now we train one. The data are all days from 1900 to 2099, in two spellings. We train on 72,049 of them and keep 1,000
# aside, to ask about dates that the model has never seen.


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
    texts, lengths = to_ids([generator.choice(spellings(day)) for day in days])
    return texts, lengths, to_ids([day.isoformat() + "." for day in days])[0]


texts, lengths, target = batch(unseen[:3])
for row, answer in zip(texts, target, strict=True):
    print(to_text(row).ljust(20), "→", to_text(answer))

# %% [markdown]
# One block in the encoder, one in the decoder, width 64. The loop is chapter 4's, with a warm-up of 50 steps; over the
# second half the learning rate falls to zero. What the decoder reads is an argument, `reads`: further down we shall
# give it the wrong thing.

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
# To write, here is the loop of the beginning. At every step it runs the decoder over the whole text so far and takes
# the likeliest character: **greedy** decoding. All our answers are eleven characters long, so eleven steps will do.
# (Where lengths differ, each must stop at its end token: [chapter 9](09_generating.ipynb).)


# %% tags=["atol=0.1"]
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
print(f"unseen dates written without a mistake: {right:.2f}")
print(f"by a blind guess:                       {1 / len(days):.5f}")

# %% tags=["remove-cell"]
assert right > 0.88
by_library = decoding.greedy(model, texts, lengths, begin=BEGIN, end=END, max_len=11)
same = [
    to_text(a).split(".")[0] == to_text(b)
    for a, b in zip(written, by_library.sentences(), strict=True)
]
assert sum(same) > 990

# %% [markdown]
# Now yours. **Change the text and run the cell again**: at most 32 characters, small letters, digits, spaces, commas
# and hyphens (a `/` is an error). What becomes of `31 february 1950`?

# %% tags=["nbval-ignore-output"]
text = "july 20, 1969"
print(text, "→", to_text(write(model, *to_ids([text.lower()]))[0]))

# %% [markdown]
# And step by step, with the arrow keys. The bluer a character of the source, the more cross-attention it gets (mean of
# the four heads). Of the four likeliest next characters the marked one is written. Is the model ever unsure?


# %% tags=["hide-input", "nbval-ignore-output"]
@torch.no_grad()
def watch(model, text):
    """One frame for each character that the model writes."""
    texts, lengths = to_ids([text])
    written = write(model, texts, lengths)
    with record(model) as recorded:  # all steps at once: the mask makes it the same
        logits = model(texts, shifted(written), lengths)[0]
    looks = recorded["decoder.blocks.0.cross_attention.weights"][0].mean(dim=0)
    line, frames, labels = to_text(written[0]), [], []
    for i, shares in enumerate(logits.softmax(dim=-1)):
        best = shares.topk(4)
        names = [to_text(token[None]) for token in best.indices]
        likely = dict(zip(names, best.values.clamp(max=1).tolist(), strict=True))
        shades = looks[i, : len(text)].clamp(0, 1).tolist()
        frame = [
            part("The source", pieces(list(text), shades=shades)),
            part("Written so far", pieces(list(">" + line[:i]))),
            part("Next it writes", bars(likely, marked=[line[i]])),
        ]
        frames.append(join(*frame))
        labels.append(f"Step {i + 1} of {len(line)}: next comes {line[i]}")
    alt = "The trained model writes a date, character by character."
    return Stepper(frames, "From a date to a date", labels, alt)


watch(model, "july 20, 1969")

# %% tags=["remove-cell"]
watched = watch(model, "july 20, 1969")
assert len(watched.frames) == 11
assert watched.labels[-1].endswith("comes .")

# %% [markdown]
# ### With a teacher, and alone
#
# How much does it matter that in use the model reads its own characters? Ours makes too few mistakes to tell, so here
# is one that was trained for 150 steps only.

# %% [markdown]
# **Predict.** This model predicts every character of the 1,000 unseen dates twice: *with a teacher*, reading the right
# characters, and *alone*, reading what it wrote itself. In which of the two are more single characters right? And in
# which are more dates right from the first character to the last?
#
# <details><summary>Answer</summary>
#
# More characters are right with a teacher: alone, one mistake leads to the next. But whole dates are right *equally*
# often, and that is no accident. Until the first mistake, it reads alone just what the teacher would give it, so both
# ways say the same. They part only after a mistake, and then the date is wrong in both.
#
# </details>

# %% tags=["atol=0.2"]
novice, _ = train(steps=150)
texts, lengths, target = batch(unseen)
with torch.no_grad():
    corrected = novice(texts, shifted(target), lengths).argmax(dim=-1)
ways = {"with a teacher": corrected, "alone": write(novice, texts, lengths)}

print("                one by one        1    9    6    5    -    0    5   whole dates")
for way, said in ways.items():
    hits = (said == target).float()
    places = " ".join(f"{share:.2f}" for share in hits.mean(dim=0)[:7])
    whole = hits.all(dim=1).float().mean()
    print(f"{way:15} {hits.mean():10.2f}     {places} {whole:13.2f}")

# %% tags=["remove-cell"]
by_place = {way: (said == target).float().mean(dim=0) for way, said in ways.items()}
whole = [(said == target).all(dim=1).float().mean() for said in ways.values()]
assert abs(whole[0] - whole[1]) < 0.005
assert by_place["with a teacher"][3] > by_place["alone"][3] + 0.15
assert by_place["with a teacher"].mean() > by_place["alone"].mean() + 0.02

# %% [markdown]
# The columns are the first seven places; the characters above them are the first date's, as an example. The third digit
# of the year is the hard one: in both ways about half of the decades are wrong. With a teacher the fourth digit is
# mostly right all the same, as if the model needed the third digit to find it, and the teacher had given it away. Alone
# it goes on from its own wrong decade, and the fourth digit is wrong about as often as the third.
#
# In training the model reads right characters only, in use its own wrong ones as well: this difference is called
# **exposure bias**. (Our table shows that mistakes are carried on, not how much the training is to blame for it.) Here
# is the first of the unseen dates in which the two ways differ:


# %% tags=["hide-input", "nbval-ignore-output"]
def with_and_without(source, right, corrected, alone):
    """One frame for each character, with a teacher above, alone below."""
    frames, labels = [], []
    for i, character in enumerate(right):
        rows = {"With a teacher": (right, corrected), "Alone": (alone, alone)}
        parts = []
        for way, (read, said) in rows.items():
            wrong = [j + 1 for j in range(i) if read[j] != right[j]]
            parts += [
                part(f"{way} it reads", pieces(list(">" + read[:i]), marked=wrong)),
                part(
                    "and says", pieces([said[i]], marked=[0] * (said[i] != character))
                ),
            ]
        frames.append(join(*parts))
        labels.append(f"Character {i + 1} of {len(right)}: right would be {character}")
    alt = f"A briefly trained model writes {source}, corrected at once, and alone."
    return Stepper(frames, f"{source}: framed is what is wrong", labels, alt, start=3)


differs = (ways["with a teacher"] != ways["alone"]).any(dim=1).nonzero()[0, 0]
source = to_text(texts[differs, : lengths[differs]])
with_and_without(
    source, *(to_text(said[differs]) for said in (target, corrected, ways["alone"]))
)

# %% [markdown]
# **Predict.** Every year in training lay between 1900 and 2099. Now we take the unseen days two hundred years back:
# `10 may 1765`, say. What comes out right: the year, the day with its month, or both?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: the day with its month -->
#
# The day with its month, mostly. Over four seeds, the one printed on this page among them, month and day are right in
# 0.75<!-- other_seeds: chapter_6/month_and_day/min .2f --> to 0.96 of the dates, the whole date in 0.00 to 0.25<!--
# other_seeds: chapter_6/whole_date/max .2f -->; in the model on this page, in most dates not even the year's last two
# digits are right. It is tempting to say that the model has learned to copy the year's digits, and a digit is a digit.
# But in training every answer began with 19 or 20. Some models have learned that as well, more or less: 0.20<!--
# other_seeds: chapter_6/begins_with_19_or_20/min .2f --> to nearly all of the answers begin so. That is not the whole reason:
# where only a fifth begin so, most years are wrong, too. A model may learn anything that is true of its examples,
# whether we meant it or not.
#
# </details>

# %% tags=["nbval-ignore-output"]
earlier = [d.replace(year=d.year - 200) for d in unseen if (d.month, d.day) != (2, 29)]
texts, lengths, target = batch(earlier)
hits = write(model, texts, lengths) == target
print(f"whole date right:    {hits.all(dim=1).float().mean():.2f}")
print(f"month and day right: {hits[:, 5:10].all(dim=1).float().mean():.2f}")
centuries = [to_text(answer)[:2] for answer in write(model, texts, lengths)]
as_learned = sum(century in ("19", "20") for century in centuries) / len(centuries)
print(f"begins with 19 or 20: {as_learned:.2f}")
print(f"last two digits right: {hits[:, 2:4].all(dim=1).float().mean():.2f}")

# %% tags=["remove-cell"]
assert as_learned > 0.05
assert hits[:, 2:4].all(dim=1).float().mean() < 0.65
assert hits.all(dim=1).float().mean() < 0.55
assert hits[:, 5:10].all(dim=1).float().mean() > 0.55

# %% [markdown]
# And after 6,000 steps, which take some minutes?

# %%
longer = stored.dates()  # the same model, trained by experiments/dates.py
for name, some in {"unseen": unseen, "200 years earlier": earlier}.items():
    texts, lengths, target = batch(some)
    answers = write(longer, texts, lengths)
    whole = (answers == target).all(dim=1)
    print(f"{name:18} right: {whole.float().mean():.2f}")
as_learned = sum(to_text(a)[:2] in ("19", "20") for a in answers) / len(answers)
print(f"begins with 19 or 20: {as_learned:.2f}")

# %% [markdown]
# It is perfect at what the examples show. Two hundred years earlier it is no better than ours: there, too, nearly every
# year that it writes begins with 19 or 20.
#
# Back to our own model. Where does it look? Here is its cross-attention for one date in both spellings. Each row is a
# character about to be written.

# %%
day = datetime.date(1969, 7, 20)
texts, lengths = to_ids(spellings(day))
target, _ = to_ids([day.isoformat() + "."] * 2)
with torch.no_grad(), record(model) as recorded:
    model(texts, shifted(target), lengths)
looks = recorded["decoder.blocks.0.cross_attention.weights"].mean(dim=1)
print(tuple(looks.shape), "= (spellings, n_target, n_source)")

# %% tags=["hide-input"] mystnb={"image": {"alt": "Two heat maps of cross-attention, one for each spelling of the same date. Rows are the characters of 1969-07-20 and the end, columns those of the source. In both, the year's rows look at the year, the month's rows mostly at july, the row of the day's last digit at that digit, wherever it stands. The rows of the hyphens and of the day's first digit look at more than one place."}, "figure": {"caption": "Cross-attention of the trained model, mean over heads, for one date in two spellings. Rows: the character about to be written. Columns: the source, \u2423 for a space."}}
wide = [len(text) for text in spellings(day)]
figure, axes = plt.subplots(1, 2, figsize=(7.4, 3.2), width_ratios=wide)
for ax, text, look in zip(axes, spellings(day), looks, strict=True):
    plots.heatmap(
        look[:, : len(text)],
        rows="1969-07-20.",
        columns=text.replace(" ", "␣"),
        ax=ax,
        title=text,
        limit=looks.max().item(),
    )
axes[0].set_ylabel("written")
plt.show()

# %% tags=["remove-cell"]
for text, look in zip(spellings(day), looks, strict=True):
    year, month = text.index("1969"), text.index("july")
    assert look[:4, year : year + 4].sum(dim=1).mean() > 0.3
    assert look[5:7, month : month + 4].sum(dim=1).mean() > 0.3

# %% [markdown]
# Nobody told the model where in a date the year stands, and it finds it in both spellings. (But the year always stands
# last. Whether the model goes by the place or by the digits, the picture does not tell.)
#
# ## What goes wrong
#
# ### The shift forgotten
#
# Give the decoder the target as it is.

# %%
copying, copying_losses = train(reads=lambda target: target)

# %% [markdown]
# **A mask that is off by one**: `tril(diagonal=1)` lets each position see one place too far.


# %%
class Leaky(Transformer):
    """A Transformer whose causal mask is off by one."""

    def decode(self, target, memory, source_lengths=None):
        n = target.shape[1]
        mask = torch.ones(n, n, dtype=torch.bool).tril(diagonal=1)
        memory_mask = padding_mask(source_lengths, memory.shape[1])
        return self.decoder(self.embed(target), memory, mask, memory_mask)


leaky, leaky_losses = train(model_class=Leaky)

# %% [markdown]
# **Predict.** All three models had the same 400 steps, batches and rates. Is the loss of the two broken models higher
# or lower than that of the right one? And how many of the unseen dates do they write correctly: nearly all, about half,
# hardly any?
#
# <details><summary>Answer</summary>
#
# Their losses are lower, and they write hardly any date correctly. Both see the answer, and have learned to copy it,
# the perfect strategy in training. But when they write, there is no answer yet to copy. It is tempting to expect a
# broken model to show a bad loss. **A loss that is too good is a bug report.**
#
# </details>

# %% tags=["atol=0.12"]
trained = {
    "right": (model, losses),
    "not shifted": (copying, copying_losses),
    "mask off by one": (leaky, leaky_losses),
}
texts, lengths, target = batch(unseen)
shares = {}
for name, (writer, each) in trained.items():
    written = write(writer, texts, lengths)
    shares[name] = (written == target).all(dim=1).float().mean().item()
    mean = sum(each[100:200]) / 100
    print(f"{name:15}  loss in steps 100 to 200: {mean:.2f}", end="   ")
    print(f"right dates: {shares[name]:.2f}")

# %% tags=["remove-cell"]
assert shares["right"] > 0.88
assert max(shares["not shifted"], shares["mask off by one"]) < 0.02
for broken in (copying_losses, leaky_losses):
    assert sum(broken[100:200]) < sum(losses[100:200]) / 2

# %% [markdown]
# The dashed line in the picture is a yardstick. A decoder that never looks at the source can do no better than to
# spread its probability evenly over the 72,049 days of the training. That costs $\ln 72{,}049 = 11.2$ for a date, or
# 1.02 for each of its eleven characters. A model below the line knows something about the answer: from the source, or
# from the answer itself. (The curve without the shift is low from the first step: as $E$ stands at both ends, an
# untrained model favours the character that it has just read, and there that is the answer.)

# %% tags=["hide-input"] mystnb={"image": {"alt": "Training loss over 400 steps, logarithmic axis, and a dashed line at 1.02. The loss without the shift is far below the right model's from the start; with the mask off by one it leaves the right one after some tens of steps and then stays well below it. All three end below the dashed line."}, "figure": {"caption": "Loss in training, the same steps, batches and rates for all three. The two broken models look better than the right one. Dashed: the best that a decoder blind to the source could do, ln 72,049 / 11."}}
curves = {name: each for name, (_, each) in trained.items()}
ax = plots.curves(
    range(1, 401), curves, xlabel="training step", ylabel="loss", direct_labels=False
)
plots.reference(ax, math.log(len(seen)) / 11)
ax.set(yscale="log")
ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3)  # off the dashed line
plt.show()

# %% [markdown]
# One test finds both bugs: change one character of the target. The scores at the position that has to predict it must
# not move; if they do, the model could read its answer.


# %% tags=["rtol=0.5"]
def leak(model, reads):
    """How far the scores at one position move if its own answer changes."""
    texts, lengths, target = batch(unseen[:1])
    changed = target.clone()
    changed[0, 4] = ALPHABET.index("7")  # another fifth character
    with torch.no_grad():
        before, after = (
            model(texts, reads(t), lengths)[0, 4] for t in (target, changed)
        )
    return (after - before).abs().max().item()


print(f"right:           {leak(model, shifted):.1f}")
print(f"not shifted:     {leak(copying, lambda target: target):.1f}")
print(f"mask off by one: {leak(leaky, shifted):.1f}")

# %% [markdown]
# ### The source's padding forgotten
#
# The encoder hides the padding from itself; it must be hidden from the decoder too. (In `nn.Transformer` the argument
# is `memory_key_padding_mask`, and easily forgotten.) Without it everything runs, and part of the cross-attention goes
# to places where nothing stands. Here is the same date, alone and in a batch with a longer one. How far do its scores
# move?


# %% tags=["rtol=0.6"]
def scores_of_first(texts, mask_in_decoder):
    """Scores for the first of these sources."""
    tokens, lengths = to_ids(texts)
    target, _ = to_ids(["1921-05-05."] * len(texts))
    with torch.no_grad():
        memory = model.encode(tokens, lengths)
        hidden = model.decode(
            shifted(target), memory, lengths if mask_in_decoder else None
        )
        return model.logits(hidden)[0]


short, long = "5 may 1921", "september 30, 1969"
for name, masked in {"with the mask": True, "mask forgotten": False}.items():
    alone = scores_of_first([short], masked)
    together = scores_of_first([short, long], masked)
    print(f"{name:15} {(alone - together).abs().max():.2f}")

# %% [markdown]
# Such a bug hides well: a source alone in its batch comes out right.

# %% [markdown]
# ## Exercises
#
# Ungraded; a solution is folded below each.
#
# **1. Another spelling.** The model knows `july 20, 1969`. Leave out the comma, for all unseen days: what share does it
# still get right? And with the year in front, `1969 july 20`? Which of the two did you expect to be harmless?


# %% tags=["hide-cell", "atol=0.3"]
# Solution 1
def share_right(spell):
    """Of the unseen days, spelled in this way."""
    texts, lengths = to_ids([spell(day) for day in unseen])
    target, _ = to_ids([day.isoformat() + "." for day in unseen])
    return (write(model, texts, lengths) == target).all(dim=1).float().mean().item()


kinds = {
    "july 20, 1969": lambda day: spellings(day)[1],
    "july 20 1969": lambda day: spellings(day)[1].replace(",", ""),
    "1969 july 20": lambda day: f"{day.year} {spellings(day)[1][:-6]}",
}
for name, spell in kinds.items():
    print(f"{name:14} right {share_right(spell):.2f}")
# Without the comma the share drops: in training, a month in front always came with one.
# And the year always stood last; in front, hardly a date comes out right.

# %% [markdown]
# **2. A decoder that looks nowhere.** Replace the cross-attention of the trained model by zeros and let it write all
# 1,000 unseen dates. How many *different* dates do you expect? Count them.

# %% tags=["hide-cell", "rtol=0.1"]
# Solution 2
texts, lengths, _ = batch(unseen)
cross_attention = model.decoder.blocks[0].cross_attention
cross_attention.forward = lambda x, memory, mask=None: torch.zeros_like(x)
blind = {to_text(row) for row in write(model, texts, lengths)}
del cross_attention.forward  # the class's own again
looking = {to_text(row) for row in write(model, texts, lengths)}
print("different dates without cross-attention:", len(blind))
print("different dates with it:                ", len(looking))
# Without it, one and the same for every source: there is no other way in.

# %% [markdown]
# **3. Build it: how sure is the model?** With teacher forcing, one pass gives the probability of every character of a
# given answer. Multiply them: that is the probability of the whole answer. Compare `1969-07-20` with `1969-07-02` for
# the source `july 20, 1969`.


# %% tags=["hide-cell", "atol=0.3"]
# Solution 3
@torch.no_grad()
def probability(source, answer):
    """That the model, given the source, would write this answer and stop."""
    texts, lengths = to_ids([source])
    target, _ = to_ids([answer + "."])
    shares = model(texts, shifted(target), lengths).softmax(dim=-1)
    return shares.gather(-1, target[..., None]).prod().item()


for answer in ("1969-07-20", "1969-07-02"):
    print(f"{answer} has probability {probability('july 20, 1969', answer):.2f}")

# %% [markdown]
# ## Summary
#
# 1. In training all target positions are computed at once, so a causal mask must hide the future. In use the mask
#    stays: it keeps the vectors of what is written from changing with every new character.
# 2. Cross-attention: queries from the decoder, keys and values from the encoder's output, in every block.
# 3. The decoder reads the target shifted right after a begin token; the end token is there to be predicted.
# 4. A Transformer is an encoder, a decoder and one matrix at three places: for the source, the target and the scores.
# 5. A forgotten shift or a mask off by one gives a wonderful loss and a useless model: test that nothing leaks.
#
# **Homework 2**, questions 5 to 8, is about this chapter: [exercises](../exercises/hw2_transformer.ipynb).
#
# **Next:** the tokens of a real translator are neither characters nor words: [chapter 7](07_subwords.ipynb). How it is
# trained: [chapter 8](08_training.ipynb). And how it writes without computing everything anew at each step: [Writing
# with a cache](09b_cache.ipynb).
#
# ## References
#
# - Ashish Vaswani et al. (2017). *Attention is all you need.* NeurIPS. Sections 3, 5.1 and 5.2; table 3.
# - Dzmitry Bahdanau, Kyunghyun Cho and Yoshua Bengio (2015). *Neural machine translation by jointly learning to align
#   and translate.* ICLR.
# - Ofir Press and Lior Wolf (2017). *Using the output embedding to improve language models.* EACL. Tied embeddings.
# - Marc'Aurelio Ranzato, Sumit Chopra, Michael Auli and Wojciech Zaremba (2016). *Sequence level training with recurrent
#   neural networks.* ICLR. Exposure bias.
# - Ronald J. Williams and David Zipser (1989). *A learning algorithm for continually running fully recurrent neural
#   networks.* Neural Computation. Teacher forcing.
# - Aston Zhang, Zachary C. Lipton, Mu Li and Alexander J. Smola (2023). *Dive into deep learning.* Cambridge University
#   Press. Its chapter on attention compares the Transformer with the recurrent model, too.
