# %% [markdown]
# # Homework 2: from recurrence to the Transformer
#
# First a decoder that looks back, as it was in 2015, then the two blocks that replaced it, and what has to be right around them before a
# model can learn. The questions follow chapters [1](../notebooks/01_bottleneck.ipynb), [5](../notebooks/05_encoder.ipynb) and
# [6](../notebooks/06_decoder.ipynb), and most of them go a step beyond those pages. Question 3 does not: write it from memory.
#
# **20 points, about two and a half hours.**
#
# | | question | points | difficulty | minutes |
# |---|---|---|---|---|
# | 1 | One look back | 3 | 2 | 20 |
# | 2 | A word at a time | 3 | 2 | 25 |
# | 3 | Layer normalisation | 2 | 1 | 10 |
# | 4 | The encoder block | 3 | 2 | 25 |
# | 5 | The decoder block | 4 | 3 | 30 |
# | 6 | One to the right | 2 | 1 | 15 |
# | 7 | What counts in the loss | 1 | 2 | 10 |
# | 8 | How many parameters? | 2 | 2 | 15 |
#
# **How it works.** Below each question stands a cell for your answer and a cell that checks it. The check calls your function on a few
# inputs; if something is wrong it tells you which mistake it recognises, or which values differ. You may check as often as you like. For
# the grade, your functions are called on *other* inputs of other sizes, so an answer fitted to the check's numbers earns nothing.
#
# **The rules.** Keep the names and the arguments, and leave what your function is given as it is: an input that is changed in place makes
# an answer wrong. Everything in `torch` is allowed except what a question asks you to build: no `F.layer_norm` in question 3
# (`nn.LayerNorm` is welcome in 4 and 5), no `nn.Transformer` and none of its layers, and of this course's library nothing but what the cell
# below imports: `lectures_lib.blocks.layers` and `.scoring`, `lectures_lib.models.seq2seq` and `.transformer` are out of bounds. No question needs
# an earlier answer, and calling one is unwise: a mistake there would cost you twice.
#
# **What the check sees.** In question 3 a call of `F.layer_norm` makes the answer wrong. Whatever else is out of bounds costs no points by
# itself: whoever grades is told of it, and decides. In questions 2, 4, 5 and 7 gradients count: a `.item()`, `.tolist()`, `int(…)`,
# `.detach()`, `.data` or `no_grad` on the way costs half of the points. In questions 1 and 3 it costs nothing, and the check says so. In
# the others nobody looks. Where a pair is asked for, a list of two counts as well.
#
# **Three questions ask for a class.** The check loads its own numbers into your parameters, so their names and shapes are fixed. Whatever
# you set up in `__init__`, the parameters must be exactly those that the question lists.

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
import torch.nn.functional as F
from torch import nn

from lectures_lib.blocks.attention import MultiHeadAttention  # for questions 4 and 5
from lectures_lib.homework import check

# %% [markdown]
# ## Question 1: One look back
#
# *3 points · difficulty 2 of 3 · 20 minutes · [chapter 1, looking back](../notebooks/01_bottleneck.ipynb#looking-back-by-hand)*
#
# A recurrent decoder is about to write a word. It compares its own state, the query $q$, with every state $h_j$ that the encoder has left
# behind, by the score of Bahdanau, Cho and Bengio:
#
# $$e_j = v^\top \tanh(W_q\, q + W_k\, h_j), \qquad \alpha = \operatorname{softmax}(e), \qquad c = \sum_j \alpha_j h_j.$$
#
# By hand, with vectors of one number each: $W_q = W_k = 1$ and $v = 2$; the query is 0; the source has two words with the states 1 and
# −1, and is padded by a third place where 7 happens to stand. The scores are $2 \tanh(1) = 1.52$ and $2 \tanh(-1) = -1.52$; padding
# gets no weight, so the weights are 0.955, 0.045 and 0; the context is $0.955 \cdot 1 + 0.045 \cdot (-1) = 0.91$. With the query 3 instead
# of 0, both words arrive where the tanh is flat, and the weights are nearly even: 0.52 and 0.48.
#
# Now for a whole batch, one query for each sentence:
#
# - `query`: `(batch, d_query)`; `states`: `(batch, n, d_state)`
# - `W_q`: `(d_hidden, d_query)`, `W_k`: `(d_hidden, d_state)`, `v`: `(d_hidden,)`. In the formula vectors stand upright and the matrix
#   stands on their left.
# - `lengths`: integers `(batch,)`: sentence `b` has words at its first `lengths[b]` places, at least one; the rest is padding
# - returns a pair: the contexts `(batch, d_state)` and the weights `(batch, n)`
#
# <details><summary>Hint</summary>
#
# `query @ W_q.T` has no dimension for the words, `states @ W_k.T` has one. `[:, None]` puts a dimension of size 1 in its place, and the sum
# broadcasts. Padding must be hidden *before* the softmax.
#
# </details>


# %%
def additive_attention(query, states, W_q, W_k, v, lengths):
    """The contexts and the weights of one look at the source."""
    ### BEGIN SOLUTION
    hidden = torch.tanh((query @ W_q.T)[:, None] + states @ W_k.T)
    words = torch.arange(states.shape[1]) < lengths[:, None]  # (batch, n)
    weights = (hidden @ v).masked_fill(~words, -math.inf).softmax(dim=-1)
    context = (weights[:, None, :] @ states).squeeze(1)
    return context, weights
    ### END SOLUTION


# %%
check("hw2.additive_attention", additive_attention)

# %% [markdown]
# ## Question 2: A word at a time
#
# *3 points · difficulty 2 of 3 · 25 minutes · [chapter 1, three ways to score](../notebooks/01_bottleneck.ipynb#three-ways-to-score)*
#
# Bahdanau's decoder looks first and moves afterwards. Luong, Pham and Manning turned this round. One step of their decoder, with the
# simplest of their scores, the dot product:
#
# 1. **read** the word $y$ that was written last, and **move**: $h' = \mathrm{GRU}(y, h)$;
# 2. **look** with the *new* state: $\alpha = \operatorname{softmax}_j(h' \cdot s_j)$ and $c = \sum_j \alpha_j s_j$, over the words of the
#    source, not over its padding;
# 3. **mix** what was seen with what is known: $f = \tanh(W_c\,[c;\, h'])$, where $[c;\, h']$ is one vector above the other;
# 4. **score** every word of the vocabulary as the next one: the output layer applied to $f$. Scores, not probabilities.
#
# The look by hand: the new state is $(1, 0)$, the source has the states $(2, 0)$ and $(0, 3)$. The scores are 2 and 0, the weights 0.88
# and 0.12, the context is $(1.76, 0.36)$. And a test that you can do in your head: if the source is a *single* word, the context is its
# state, whatever the decoder thinks.
#
# - `DecoderStep(vocab_size, d_embedding, d_hidden)`, with `embedding`, an `nn.Embedding`; `gru`, an `nn.GRUCell` from `d_embedding` to
#   `d_hidden`; `W_c`, an `nn.Linear` from `2 · d_hidden` to `d_hidden`; `output`, an `nn.Linear` from `d_hidden` to `vocab_size`. With the
#   sizes 10, 4 and 3 that makes 182 numbers.
# - `forward(word, hidden, states, lengths)`: `word`: integers `(batch,)`; `hidden`: the old state, `(batch, d_hidden)`; `states`: the
#   source, `(batch, n, d_hidden)`; `lengths`: integers `(batch,)`, as in question 1
# - returns a pair: the scores `(batch, vocab_size)` and the new state `(batch, d_hidden)`, which the next step will need
#
# <details><summary>Hint</summary>
#
# Write down the shape after every line. A dot product of each sentence's state with each of its source's states is
# `(states @ hidden[:, :, None]).squeeze(-1)`, of shape `(batch, n)`.
#
# </details>


# %%
class DecoderStep(nn.Module):
    """One step of a recurrent decoder with dot-product attention."""

    def __init__(self, vocab_size, d_embedding, d_hidden):
        super().__init__()
        ### BEGIN SOLUTION
        self.embedding = nn.Embedding(vocab_size, d_embedding)
        self.gru = nn.GRUCell(d_embedding, d_hidden)
        self.W_c = nn.Linear(2 * d_hidden, d_hidden)
        self.output = nn.Linear(d_hidden, vocab_size)
        ### END SOLUTION

    def forward(self, word, hidden, states, lengths):
        """The scores of the next word, and the new state."""
        ### BEGIN SOLUTION
        hidden = self.gru(self.embedding(word), hidden)  # read and move
        scores = (states @ hidden[:, :, None]).squeeze(-1)  # (batch, n)
        words = torch.arange(states.shape[1]) < lengths[:, None]
        weights = scores.masked_fill(~words, -math.inf).softmax(dim=-1)
        context = (weights[:, None, :] @ states).squeeze(1)  # look
        features = torch.tanh(self.W_c(torch.cat([context, hidden], dim=-1)))  # mix
        return self.output(features), hidden
        ### END SOLUTION


# %%
check("hw2.DecoderStep", DecoderStep)

# %% [markdown]
# ## Question 3: Layer normalisation
#
# *2 points · difficulty 1 of 3 · 10 minutes · [chapter 5, normalisation](../notebooks/05_encoder.ipynb#normalisation)*
#
# Every vector is brought to mean 0 and variance 1, then scaled and shifted by two learned vectors:
#
# $$\operatorname{LayerNorm}(x) = \gamma \odot \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} + \beta,$$
#
# where $\mu$ is the mean of the $d_{\text{model}}$ numbers of *one* vector and $\sigma^2$ the mean of their squared deviations from it. Take
# (2, 4, 4, 6): the mean is 4, the deviations are −2, 0, 0, 2, the variance is 2. Without γ and β, and with a tiny ε, the result is (−1.41, 0,
# 0, 1.41). With ε = 2 it would be (−1, 0, 0, 1): that ε is far too large, but it shows where it goes.
#
# Two things to watch. A vector may be the same number throughout, such as (3, 3, 3). And the numbers may lie far from zero, around 500 for
# example, where $\sigma^2$ computed as the mean of $x^2$ minus $\mu^2$ loses most of its digits.
#
# - `x`: `(…, d_model)`, with one, two or three dimensions in front; `gamma`, `beta`: `(d_model,)`; `eps`: a number
# - returns a tensor like `x`
#
# <details><summary>Hint</summary>
#
# `keepdim=True` keeps a dimension of size 1 where the mean was taken, so that the subtraction broadcasts. Look up what `x.var()` divides by.
#
# </details>


# %%
def layer_norm(x, gamma, beta, eps=1e-5):
    """Each vector brought to mean 0 and variance 1; scaled, shifted."""
    ### BEGIN SOLUTION
    deviations = x - x.mean(dim=-1, keepdim=True)
    variance = deviations.square().mean(dim=-1, keepdim=True)
    return gamma * deviations / torch.sqrt(variance + eps) + beta
    ### END SOLUTION


# %%
check("hw2.layer_norm", layer_norm)

# %% [markdown]
# ## Question 4: The encoder block
#
# *3 points · difficulty 2 of 3 · 25 minutes · [chapter 5, the block](../notebooks/05_encoder.ipynb#the-block)*
#
# Self-attention, then feed-forward, and around each a residual and a norm. There are two orders. The paper's is **post-norm**; most models
# since GPT-2 use **pre-norm**. If $f$ is the sublayer,
#
# $$\text{post-norm: } \operatorname{LayerNorm}(x + f(x)) \qquad\qquad \text{pre-norm: } x + f(\operatorname{LayerNorm}(x)).$$
#
# By hand: let $x = (1, 3)$, and let $f$ double what it gets. Normalised, $x$ is (−1, 1). Post-norm: $x + f(x) = (3, 9)$, normalised (−1, 1).
# Pre-norm: $(1, 3) + 2 \cdot (-1, 1) = (-1, 5)$. The road itself, $x$, is not normalised there, and that is the point of it.
#
# The feed-forward layer is $W_2 \max(0,\, W_1 x + b_1) + b_2$, as in the paper. Attention is given: `MultiHeadAttention(d_model,
# n_heads)` has the four projections without biases. Call it as `attention(x, mask=mask)`; it takes a mask in which `True` = may attend. Name the mask: the second argument without a name is not the mask but what is looked at (question 5).
#
# - `EncoderBlock(d_model, n_heads, d_ff, pre_norm=False)`, with `self_attention`, a `MultiHeadAttention`; `W_1` and `W_2`, each an
#   `nn.Linear` with bias, from `d_model` to `d_ff` and back; `norm_1`, which goes with attention, and `norm_2`, which goes with
#   feed-forward, each an `nn.LayerNorm`
# - `forward(x, mask=None)`: `x`: `(batch, n, d_model)`; `mask`: `None` or boolean, broadcastable to `(batch, n_heads, n, n)`
# - returns `(batch, n, d_model)`. There is no dropout.
#
# <details><summary>Hint</summary>
#
# With pre-norm, the normalised vectors are needed once, inside the sublayer. If you write `x = self.norm_1(x)`, the road is lost.
#
# </details>


# %%
class EncoderBlock(nn.Module):
    """Self-attention and feed-forward, each with residual and norm."""

    def __init__(self, d_model, n_heads, d_ff, pre_norm=False):
        super().__init__()
        ### BEGIN SOLUTION
        self.pre_norm = pre_norm
        self.self_attention = MultiHeadAttention(d_model, n_heads)
        self.W_1, self.W_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        ### END SOLUTION

    def forward(self, x, mask=None):
        """(batch, n, d_model) → (batch, n, d_model)."""

        ### BEGIN SOLUTION
        def attend(x):
            return self.self_attention(x, mask=mask)

        def feed_forward(x):
            return self.W_2(F.relu(self.W_1(x)))

        for sublayer, norm in ((attend, self.norm_1), (feed_forward, self.norm_2)):
            x = x + sublayer(norm(x)) if self.pre_norm else norm(x + sublayer(x))
        return x
        ### END SOLUTION


# %%
check("hw2.EncoderBlock", EncoderBlock)

# %% [markdown]
# ## Question 5: The decoder block
#
# *4 points · difficulty 3 of 3 · 30 minutes · [chapter 6, the decoder block](../notebooks/06_decoder.ipynb#the-decoder-block)*
#
# The block that writes looks twice: at what it has written so far, then at the source. Post-norm, as in the paper:
#
# 1. self-attention, **causal**: position `i` of the target sees positions 0 … `i` of the target; then the sum and `norm_1`;
# 2. cross-attention: the queries come from the target, keys and values from `memory`, the encoder's output; then the sum and `norm_2`;
# 3. feed-forward, as in question 4; then the sum and `norm_3`.
#
# Who may look where? Take a target of 3 words, and a source of 3 words and one place of padding. In self-attention the words of the target
# look at each other:
#
# | | word 0 | word 1 | word 2 |
# |---|---|---|---|
# | **word 0** | ✓ | | |
# | **word 1** | ✓ | ✓ | |
# | **word 2** | ✓ | ✓ | ✓ |
#
# In cross-attention each of them looks at the source:
#
# | | source 0 | source 1 | source 2 | padding |
# |---|---|---|---|---|
# | **word 0** | ✓ | ✓ | ✓ | |
# | **word 1** | ✓ | ✓ | ✓ | |
# | **word 2** | ✓ | ✓ | ✓ | |
#
# You make the first mask yourself, in `forward`; the second comes as `source_mask`, if there is padding. The given attention takes what
# is looked *at* as its second argument: `attention(x, context, mask)`. Without it, `x` looks at itself.
#
# Two tests of a finished block: if the last word of the target changes, the outputs at the earlier positions must not; if a padded place of
# the source changes, no output may.
#
# - `DecoderBlock(d_model, n_heads, d_ff)`, with `self_attention` and `cross_attention`, each a `MultiHeadAttention(d_model, n_heads)`;
#   `W_1` and `W_2`, each an `nn.Linear` with bias, from `d_model` to `d_ff` and back; `norm_1`, `norm_2` and `norm_3`, each an
#   `nn.LayerNorm`
# - `forward(x, memory, source_mask=None)`: `x`: `(batch, n_target, d_model)`; `memory`: `(batch, n_source, d_model)`; `source_mask`: `None`
#   or boolean `(batch, 1, 1, n_source)`, `True` = may attend
# - returns `(batch, n_target, d_model)`. There is no dropout.
#
# <details><summary>Hint</summary>
#
# A mask of shape `(n_target, n_target)` broadcasts over batch and heads. `torch.tril` keeps the diagonal and what is below it; mind that
# the mask must be boolean.
#
# </details>


# %%
class DecoderBlock(nn.Module):
    """Causal self-attention, cross-attention, feed-forward; post-norm."""

    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        ### BEGIN SOLUTION
        self.self_attention = MultiHeadAttention(d_model, n_heads)
        self.cross_attention = MultiHeadAttention(d_model, n_heads)
        self.W_1, self.W_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.norm_3 = nn.LayerNorm(d_model)
        ### END SOLUTION

    def forward(self, x, memory, source_mask=None):
        """What is written, and what was read → (batch, n_target, d_model)."""
        ### BEGIN SOLUTION
        n_target = x.shape[1]
        causal = torch.ones(n_target, n_target, dtype=torch.bool).tril()
        x = self.norm_1(x + self.self_attention(x, mask=causal))
        x = self.norm_2(x + self.cross_attention(x, memory, source_mask))
        return self.norm_3(x + self.W_2(F.relu(self.W_1(x))))
        ### END SOLUTION


# %%
check("hw2.DecoderBlock", DecoderBlock)

# %% [markdown]
# ## Question 6: One to the right
#
# *2 points · difficulty 1 of 3 · 15 minutes · [chapter 6, one to the right](../notebooks/06_decoder.ipynb#one-to-the-right)*
#
# In training, the decoder reads the right words (teacher forcing) and predicts at each place the word that comes *next*. So what it reads
# begins one place earlier than what it predicts. From a batch of sentences make the two tables that training needs. For `[["I", "saw",
# "her"], ["stop"]]`:
#
# | | place 0 | place 1 | place 2 | place 3 |
# |---|---|---|---|---|
# | reads | `<begin>` | `I` | `saw` | `her` |
# | predicts | `I` | `saw` | `her` | `<end>` |
# | reads | `<begin>` | `stop` | `<pad>` | `<pad>` |
# | predicts | `stop` | `<end>` | `<pad>` | `<pad>` |
#
# The end is predicted and never read, not even in the shorter sentence: so in each row the two tables have equally many real tokens, and one list
# of lengths serves for both.
#
# - `sentences`: a list of at least one sentence, each a list of words (strings); any of them may be empty
# - `begin`, `end`, `pad`: strings that are no words of the sentences
# - returns a pair `(read, predict)`, each a list of lists of strings: a row for each sentence, all rows of the same length
#
# Leave the lists you are given as they are: whoever called your function still needs them.
#
# <details><summary>Hint</summary>
#
# How long is a row? One longer than the longest sentence, for that is where begin or end goes. `["_"] * 3` is a list of three paddings, and
# `[begin, *words]` a new list with one more entry in front.
#
# </details>


# %%
def teacher_forcing(sentences, begin, end, pad):
    """What the decoder reads, and what it is to predict."""
    ### BEGIN SOLUTION
    width = max(len(words) for words in sentences) + 1
    read, predict = [], []
    for words in sentences:
        padding = [pad] * (width - len(words) - 1)
        read.append([begin, *words, *padding])
        predict.append([*words, end, *padding])
    return read, predict
    ### END SOLUTION


# %%
check("hw2.teacher_forcing", teacher_forcing)

# %% [markdown]
# ## Question 7: What counts in the loss
#
# *1 point · difficulty 2 of 3 · 10 minutes · [chapter 6, one to the right](../notebooks/06_decoder.ipynb#one-to-the-right)*
#
# The loss of one word is $-\log p$, where $p$ is the probability that the model gave to the right token: the softmax of its scores at that
# place. The loss of a batch is the mean over all its tokens, `<end>` included, and *only* over them. Padding does not count. Every token counts the same, whether its sentence is short or long: this is no mean of the sentences' means.
#
# By hand: in the first sentence the right tokens got the probabilities 0.5 and 0.25; in the second, 0.5, and then there is padding. The
# losses are 0.69, 1.39 and 0.69; their mean is $2.77 / 3 = 0.92$.
#
# - `logits`: scores, `(batch, n, vocab_size)`; `target`: integers `(batch, n)`, what is to be predicted, shifted already
# - `pad`: the number of the padding token, one of the vocabulary; it need not be 0. At least one target is no padding.
# - returns a tensor without dimensions (what `.mean()` gives)
#
# <details><summary>Hint</summary>
#
# `F.cross_entropy` takes the softmax itself. It wants the vocabulary in dimension 1, or only two dimensions altogether, and it can be
# told what to ignore.
#
# </details>


# %%
def sequence_loss(logits, target, pad):
    """The mean of -log p over all tokens that are not padding."""
    ### BEGIN SOLUTION
    return F.cross_entropy(logits.transpose(1, 2), target, ignore_index=pad)
    ### END SOLUTION


# %%
check("hw2.sequence_loss", sequence_loss)

# %% [markdown]
# ## Question 8: How many parameters?
#
# *2 points · difficulty 2 of 3 · 15 minutes · [chapter 6, how many parameters?](../notebooks/06_decoder.ipynb#how-many-parameters)*
#
# Count the numbers in a whole Transformer without building it: `n_layers` encoder blocks, as many decoder blocks, and the two ends. Here
# *every* linear layer has a bias: the four projections of each attention, both layers of each feed-forward, and the output layer, which
# makes a score for each token of the vocabulary. Blocks are post-norm, and no norm follows the last one. The positions are sinusoids,
# with nothing to learn.
#
# Source, target and output need a matrix of `vocab_size · d_model` numbers each. With `tied=True` all three are one and the same.
#
# By hand, for the smallest of them: `vocab_size=5, d_model=2, n_heads=1, d_ff=3, n_layers=1`. An attention has 4 · (2 · 2 + 2) = 24, the
# feed-forward layer (2 · 3 + 3) + (3 · 2 + 2) = 17, a norm 4. That makes 49 for the encoder and 77 for the decoder. The shared matrix has
# 10, the output's bias 5: together **141**. With `tied=False` it is 161. A larger one, `vocab_size=7, d_model=4, n_heads=2, d_ff=6,
# n_layers=2`, has 827.
#
# - all arguments are integers, but for `tied`, a boolean; returns an integer
#
# <details><summary>Hint</summary>
#
# Write it as the sum of a few named parts, and compare each with its number in the example. One of the arguments does not matter at
# all: which?
#
# </details>


# %%
def count_parameters(vocab_size, d_model, n_heads, d_ff, n_layers, tied=True):
    """The number of parameters of a Transformer of these sizes."""
    ### BEGIN SOLUTION
    attention = 4 * (d_model * d_model + d_model)
    feed_forward = (d_model * d_ff + d_ff) + (d_ff * d_model + d_model)
    norm = 2 * d_model
    encoder_block = attention + feed_forward + 2 * norm
    decoder_block = 2 * attention + feed_forward + 3 * norm
    matrices = (1 if tied else 3) * vocab_size * d_model
    return n_layers * (encoder_block + decoder_block) + matrices + vocab_size
    ### END SOLUTION


# %%
check("hw2.count_parameters", count_parameters)

# %% [markdown]
# With your answers, a last look (nothing to hand in here). First the two sizes of the paper, which reports 65 and 213 million; why not
# even its authors' vocabulary gives exactly these, [chapter 6](../notebooks/06_decoder.ipynb#how-many-parameters) tries to find out. Then
# the test of question 5: the last word of a target is exchanged.

# %%
base = count_parameters(37_000, d_model=512, n_heads=8, d_ff=2048, n_layers=6)
big = count_parameters(37_000, d_model=1024, n_heads=16, d_ff=4096, n_layers=6)
print(f"base: {base / 1e6:.1f} million, big: {big / 1e6:.1f} million")

block = DecoderBlock(d_model=16, n_heads=4, d_ff=32)
memory, target = torch.randn(1, 7, 16), torch.randn(1, 5, 16)
other = torch.cat([target[:, :-1], torch.randn(1, 1, 16)], dim=1)
moved = (block(target, memory) - block(other, memory)).abs().amax(dim=-1)[0]
print("outputs that the last word changes:", [i for i in range(5) if moved[i] > 1e-6])

# %% [markdown]
# Only its own. That is the promise behind teacher forcing: what a position computes in training, where the whole sentence lies before it,
# is what it will compute in use, where the rest has not been written yet.
#
# ## Before you hand in
#
# Choose *Restart and run all* from the menu and see that every check says ✓: an answer that works only because of a cell you have
# since changed or deleted will not work for the grader either. Then hand in this one file; [how](../book/handing_in.md).
