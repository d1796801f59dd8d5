# %% [markdown]
# # Homework 5: BERT and its pre-training
#
# Everything that BERT has and the encoder of chapter 5 has not: what goes in at the front, what comes out at the back, and the two
# guessing games by which it learns to read. The questions follow chapters [12](../notebooks/12_bert.ipynb) and
# [13](../notebooks/13_pretraining.ipynb), and most of them go a step beyond those pages. Question 2 does not: it is a class of chapter 12,
# without its dropout, written from memory.
#
# **20 points, about two and a quarter hours.**
#
# | | question | points | difficulty | minutes |
# |---|---|---|---|---|
# | 1 | Two sentences, one input | 2 | 1 | 15 |
# | 2 | Three vectors in one | 2 | 1 | 20 |
# | 3 | How many parameters has BERT? | 3 | 2 | 15 |
# | 4 | Holes in the text | 3 | 2 | 25 |
# | 5 | Which word was here? | 3 | 2 | 20 |
# | 6 | Only what was asked | 3 | 2 | 20 |
# | 7 | Does it follow? | 4 | 2 | 20 |
#
# **How it works.** Below each question stands a cell for your answer and a cell that checks it. The check calls your function on a few
# inputs; if something is wrong it tells you which mistake it recognises, or which values differ. You may check as often as you like. For
# the grade, your functions are called on *other* inputs of other sizes, so an answer fitted to the check's numbers earns nothing.
#
# **The rules.** Keep the names and the arguments, and leave what your function is given as it is: an input that is changed in place makes
# an answer wrong. Everything in `torch` (`nn.LayerNorm` and `F.cross_entropy` included) and all of Python's own library is allowed; of this
# course's library use nothing but what this notebook's own cells import, and no other library that has a BERT in it. No question needs an earlier
# answer, and calling one is unwise: a mistake there would cost you twice.
#
# **What the check sees.** What is out of bounds costs no points by itself: whoever grades is told of it, and decides. In questions
# 2, 5 and 6 gradients count: a `.item()`, `.tolist()`, `int(…)`, `.detach()`, `.data` or `no_grad` on the way costs half of the points. In
# the others nobody looks. Where a pair or a triple is asked for, a list of two or three counts as well.
#
# **Two questions ask for a class.** The check loads its own numbers into your parameters, so their names and shapes are fixed. Whatever
# you set up in `__init__`, the parameters must be exactly those that the question lists.
#
# **Two questions need chance.** In 4 and 7 the random numbers are given to you, drawn already, and the question says what each of them
# decides. So there is one right answer, and no answer is right by luck.

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
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import nn

from lectures_lib.homework import check

# %% [markdown]
# ## Question 1: Two sentences, one input
#
# *2 points · difficulty 1 of 3 · 15 minutes · [chapter 12, what goes in](../notebooks/12_bert.ipynb#what-goes-in)*
#
# BERT reads two sentences as one sequence: `[CLS]`, the first sentence, `[SEP]`, the second sentence, `[SEP]`. Each `[SEP]` *ends* its
# sentence and belongs to it; `[CLS]` belongs to the first. Beside the tokens, BERT needs two numbers for each place: the **segment**, 0
# for the first sentence and 1 for the second, and the **position**, which counts through the whole sequence from 0.
#
# A sentence may also come alone: `[CLS]`, the sentence, `[SEP]`, all in segment 0. Shorter rows are padded on the right to the length of the
# longest; padding is in segment 0, and its positions go on counting. For the pair *my dog*, *it barks* and the single sentence *stop*:
#
# | | | | | | | | |
# |---|---|---|---|---|---|---|---|
# | tokens | `[CLS]` | `my` | `dog` | `[SEP]` | `it` | `barks` | `[SEP]` |
# | segments | 0 | 0 | 0 | 0 | 1 | 1 | 1 |
# | positions | 0 | 1 | 2 | 3 | 4 | 5 | 6 |
# | tokens | `[CLS]` | `stop` | `[SEP]` | `[PAD]` | `[PAD]` | `[PAD]` | `[PAD]` |
# | segments | 0 | 0 | 0 | 0 | 0 | 0 | 0 |
# | positions | 0 | 1 | 2 | 3 | 4 | 5 | 6 |
#
# - `pairs`: a list of `[first, second]`, where `first` is a list of tokens (strings), and `second` is one too, or `None` where a sentence
#   comes alone. No sentence is empty.
# - `cls`, `sep`, `pad`: the special tokens, strings
# - returns a triple `(tokens, segments, positions)`, each a list with a row for every pair; all rows have the same length
#
# Leave the lists you are given as they are: whoever called your function still needs them.
#
# <details><summary>Hint</summary>
#
# Build the row of one pair first, from two halves: `[cls, *first, sep]` and `[*second, sep]`. The segments then follow from the lengths of
# the halves.
#
# </details>


# %%
def pair_input(pairs, cls, sep, pad):
    """Tokens, segments and positions, a row for each pair."""
    ### BEGIN SOLUTION
    tokens, segments = [], []
    for first, second in pairs:
        a = [cls, *first, sep]
        b = [] if second is None else [*second, sep]
        tokens.append(a + b)
        segments.append([0] * len(a) + [1] * len(b))
    width = max(len(row) for row in tokens)
    tokens = [row + [pad] * (width - len(row)) for row in tokens]
    segments = [row + [0] * (width - len(row)) for row in segments]
    return tokens, segments, [list(range(width)) for _ in pairs]
    ### END SOLUTION


# %%
check("hw5.pair_input", pair_input)

# %% [markdown]
# ## Question 2: Three vectors in one
#
# *2 points · difficulty 1 of 3 · 20 minutes · [chapter 12, what goes in](../notebooks/12_bert.ipynb#what-goes-in)*
#
# Each token, each position and each segment has a learned vector. What enters BERT's first block is their sum, normalised:
#
# $$x_i = \operatorname{LayerNorm}(\text{token}_i + \text{position}_i + \text{segment}_i).$$
#
# By hand: the token's vector is (3, 0), that of its position (1, 1), that of its segment (0, 1). The sum is (4, 2), its mean 3, and the
# normalised vector (1, −1).
#
# Two details. The ε of BERT's norm is $10^{-12}$, not PyTorch's $10^{-5}$: when training begins, the vectors are small, and then it shows.
# And where no segments are given, all tokens belong to segment 0.
#
# - `Embeddings(vocab_size, d_model, max_len, n_segments=2)`, with `tokens`, `positions` and `segments`, each an `nn.Embedding` of the
#   width `d_model` (with `vocab_size`, `max_len` and `n_segments` rows), and `norm`, an `nn.LayerNorm`. With the sizes 10, 4 and 6 that makes
#   80 numbers.
# - `forward(tokens, segments=None)`: `tokens`: integers `(batch, n)`, with $n \le$ `max_len`; `segments`: `None` or integers `(batch, n)`
# - returns `(batch, n, d_model)`. There is no dropout, and padding gets a vector like everything else.
#
# <details><summary>Hint</summary>
#
# `torch.arange(n)` are the positions of any sentence; their vectors have the shape `(n, d_model)`, and that broadcasts over the batch.
#
# </details>


# %%
class Embeddings(nn.Module):
    """What enters BERT's first block."""

    def __init__(self, vocab_size, d_model, max_len, n_segments=2):
        super().__init__()
        ### BEGIN SOLUTION
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.segments = nn.Embedding(n_segments, d_model)
        self.norm = nn.LayerNorm(d_model, eps=1e-12)
        ### END SOLUTION

    def forward(self, tokens, segments=None):
        """(batch, n) → (batch, n, d_model)."""
        ### BEGIN SOLUTION
        if segments is None:
            segments = torch.zeros_like(tokens)
        positions = self.positions(torch.arange(tokens.shape[1]))  # (n, d_model)
        return self.norm(self.tokens(tokens) + positions + self.segments(segments))
        ### END SOLUTION


# %%
check("hw5.Embeddings", Embeddings)

# %% [markdown]
# ## Question 3: How many parameters has BERT?
#
# *3 points · difficulty 2 of 3 · 15 minutes · [chapter 12, counting](../notebooks/12_bert.ipynb#counting)*
#
# Count the numbers in a BERT without building it. Every linear layer has a bias.
#
# - **In front**: a table each of tokens, positions and segments, and one norm.
# - **Blocks**: in each, attention with its four projections, a feed-forward layer of hidden width `d_ff`, and two norms. No norm follows
#   the last block.
# - **Pooler**: a linear layer from `d_model` to `d_model`.
# - **Heads**, if `heads=True`. For words: a linear layer from `d_model` to `d_model`, a norm, and one bias for each token; its big matrix is
#   the table of tokens once more, and is not counted again. For pairs: a linear layer from `d_model` to 2 scores.
#
# By hand, for the smallest of them: `vocab_size=5, d_model=2, n_layers=1, d_ff=3, max_len=4, n_segments=2`. The tables have (5 + 4 + 2) · 2
# = 22 numbers, the norm 4. The block: 4 · (2 · 2 + 2) = 24 for attention, (2 · 3 + 3) + (3 · 2 + 2) = 17 for feed-forward, 2 · 4 = 8 for
# the norms. The pooler has 6. Together **81**. With its heads it is 6 + 4 + 5 and 2 · 2 + 2 more: **102**.
#
# - all arguments are integers, but for `heads`, a boolean; returns an integer
#
# <details><summary>Hint</summary>
#
# Write it as the sum of a few named parts, and compare each with its number in the example. The number of attention heads is not among the
# arguments; why is it not needed?
#
# </details>


# %%
def count_bert(
    vocab_size,
    d_model,
    n_layers,
    d_ff,
    max_len,
    n_segments,
    heads=False,
):
    """The number of parameters of a BERT of these sizes."""
    ### BEGIN SOLUTION
    norm, layer = 2 * d_model, d_model * d_model + d_model
    feed_forward = (d_model * d_ff + d_ff) + (d_ff * d_model + d_model)
    front = (vocab_size + max_len + n_segments) * d_model + norm
    body = front + n_layers * (4 * layer + feed_forward + 2 * norm) + layer
    words, pairs = layer + norm + vocab_size, 2 * d_model + 2
    return body + words + pairs if heads else body
    ### END SOLUTION


# %%
check("hw5.count_bert", count_bert)

# %% [markdown]
# ## Question 4: Holes in the text
#
# *3 points · difficulty 2 of 3 · 25 minutes · [chapter 13, making holes](../notebooks/13_pretraining.ipynb#making-holes-with-a-pencil)*
#
# BERT learns by guessing words that have been hidden. In chapter 13 each token is chosen by itself. But where `flight` of `flight ##less`
# is hidden and `##less` is not, there is little to guess. In May 2019 its authors published weights that were trained
# on **whole words**: all pieces of a word are chosen, or none.
#
# 1. 15 per cent of the words are **chosen**, at random: the model is asked about all their pieces. Special tokens never are.
# 2. Of the chosen pieces, 80 per cent become `[MASK]`, 10 per cent become another token, and 10 per cent stay as they are, each for itself.
#
# The pieces that stay are asked about, too. The model does not know which they are, so it can trust no word blindly.
#
# Here, chance has been drawn already. A word is chosen if the `chance` of its *first* piece is below 0.15. Then each of its pieces has its
# own `fate`: below 0.8 it becomes `[MASK]`, from 0.8 to below 0.9 it becomes the token in `others`, from 0.9 on it stays.
#
# | `tokens` | `chance` | `fate` | `others` | **read** | **chosen** |
# |---|---|---|---|---|---|
# | `[CLS]` | 0.05 | 0.30 | `dog` | `[CLS]` | False |
# | `flight` | 0.10 | 0.70 | `sun` | `[MASK]` | True |
# | `##less` | 0.60 | 0.85 | `two` | `two` | True |
# | `bird` | 0.40 | 0.20 | `ink` | `bird` | False |
# | `##s` | 0.03 | 0.10 | `red` | `##s` | False |
# | `walk` | 0.14 | 0.95 | `out` | `walk` | True |
# | `[SEP]` | 0.01 | 0.50 | `day` | `[SEP]` | False |
#
# - `tokens`, `others`: lists of strings; a piece that begins with `##` continues the word before it, and none stands right behind a special
#   token, or first of all; `[CLS]`, `[SEP]` and `[PAD]` are special, and nothing else is, whatever it begins with
# - `chance`, `fate`: lists of numbers from 0 to below 1; all four lists have the same length
# - returns a pair of lists of that length: what the model reads, strings; and what is chosen, `True` or `False`
#
# Leave the lists you are given as they are: `tokens` holds the answers.
#
# <details><summary>Hint</summary>
#
# Go through the tokens in order and keep a variable that says whether the present word is chosen. When does it get a new value, and when
# does it keep the old one?
#
# </details>


# %%
def mask_words(tokens, chance, fate, others):
    """What the model reads, and which tokens it is asked about."""
    ### BEGIN SOLUTION
    read, chosen = [], []
    of_chosen_word = False
    for i, token in enumerate(tokens):
        if not token.startswith("##"):  # a word begins here
            special = token in ("[CLS]", "[SEP]", "[PAD]")
            of_chosen_word = chance[i] < 0.15 and not special
        chosen.append(of_chosen_word)
        if of_chosen_word and fate[i] < 0.8:
            read.append("[MASK]")
        elif of_chosen_word and fate[i] < 0.9:
            read.append(others[i])
        else:
            read.append(token)
    return read, chosen
    ### END SOLUTION


# %%
check("hw5.mask_words", mask_words)

# %% [markdown]
# ## Question 5: Which word was here?
#
# *3 points · difficulty 2 of 3 · 20 minutes · [chapter 13, two losses](../notebooks/13_pretraining.ipynb#two-losses-one-sum)*
#
# From the vector that the last block leaves at a position, the model scores every token of the vocabulary as the one that stood there. The
# vector goes through a layer, GELU (`F.gelu` as it is, not its approximation by tanh) and a norm; then it is compared with the token vectors,
# the very table that BERT reads with (**tied**), and each token has a bias of its own:
#
# $$h = \operatorname{LayerNorm}(\operatorname{GELU}(W x + b)), \qquad \text{score}_t = h \cdot \text{token}_t + \text{bias}_t.$$
#
# The second half by hand: $h$ is (1, −1), and the vocabulary has three tokens with the vectors (2, 0), (0, 2) and (1, 1) and the biases 0,
# 0 and 0.5. The scores are 2, −2 and 0.5.
#
# Scores for a whole vocabulary are the dearest part of a small BERT, and only one position in seven is asked about. So the head is told
# where: with `at`, it does all its work at those positions only, and returns their scores one after the other, row by row. In a batch of
# two sentences, with position 3 of the first and positions 0 and 2 of the second, that makes three rows of scores, in this order. (A head
# that scores every position and then takes `scores[at]` returns the same and counts as right; it only saves no work.)
#
# - `WordHead(d_model, vocab_size)`, with `dense`, an `nn.Linear` from `d_model` to `d_model`; `norm`, an `nn.LayerNorm` with ε =
#   $10^{-12}$; and `bias`, an `nn.Parameter` of shape `(vocab_size,)`. With the sizes 4 and 10 that makes 38 numbers. There is no matrix
#   of token vectors among them.
# - `forward(hidden, token_vectors, at=None)`: `hidden`: `(batch, n, d_model)`; `token_vectors`: `(vocab_size, d_model)`; `at`: `None` or
#   boolean `(batch, n)`
# - returns scores, not probabilities: `(batch, n, vocab_size)`, or with `at`, where $k$ positions are `True`, `(k, vocab_size)`; $k$ may be 0
#
# <details><summary>Hint</summary>
#
# The products of many vectors with many vectors are one matrix product; which of the two has to be transposed? And a boolean tensor can be
# an index: what shape has `hidden[at]`?
#
# </details>


# %%
class WordHead(nn.Module):
    """Scores of all tokens, from a vector and the token vectors."""

    def __init__(self, d_model, vocab_size):
        super().__init__()
        ### BEGIN SOLUTION
        self.dense = nn.Linear(d_model, d_model)
        self.norm = nn.LayerNorm(d_model, eps=1e-12)
        self.bias = nn.Parameter(torch.zeros(vocab_size))
        ### END SOLUTION

    def forward(self, hidden, token_vectors, at=None):
        """(batch, n, d_model) → (batch, n, vocab_size), or (k, vocab_size)."""
        ### BEGIN SOLUTION
        if at is not None:
            hidden = hidden[at]  # (k, d_model)
        h = self.norm(F.gelu(self.dense(hidden)))
        return h @ token_vectors.T + self.bias
        ### END SOLUTION


# %%
check("hw5.WordHead", WordHead)

# %% [markdown]
# ## Question 6: Only what was asked
#
# *3 points · difficulty 2 of 3 · 20 minutes · [chapter 13, two losses](../notebooks/13_pretraining.ipynb#two-losses-one-sum)*
#
# The loss of one position is $-\log p$, where $p$ is the probability of the token that stood there: the softmax of the scores. The loss of
# a batch is the mean over the *chosen* positions of the whole batch, and no others. The other words stand in the input, and to repeat them is
# no achievement.
#
# Chapter 13 says which positions were chosen with a boolean tensor. BERT's own code does it with three tables, and so does much of the
# code that followed. A row has $k$ places for chosen words, and where fewer were chosen, the last places are empty:
#
# - `positions[b, j]`: where in sentence `b` the word stands
# - `words[b, j]`: which token stood there
# - `weights[b, j]`: 1 for a chosen word, 0 for an empty place, where `positions` and `words` hold a 0 that means nothing
#
# For *my dog likes fish* and *stop it*, with "dog", "likes" and "it" chosen (special tokens left out here):
#
# | | positions | words | weights | probability | loss |
# |---|---|---|---|---|---|
# | my dog likes fish | 1, 2 | dog, likes | 1, 1 | 0.50, 0.25 | 0.69, 1.39 |
# | stop it | 1, 0 | it, – | 1, 0 | 0.50, – | 0.69, – |
#
# The loss is (0.69 + 1.39 + 0.69) / 3 = 0.92.
#
# - `logits`: scores, `(batch, n, vocab_size)`, some of them perhaps 200 apart; `positions`, `words`: integers `(batch, k)`; `weights`:
#   floating-point numbers `(batch, k)`, in every row at least one 1
# - returns a tensor without dimensions (what `.mean()` gives)
#
# Token 0 is a token like any other, and position 0 a place like any other: both may have been chosen, and both together.
#
# <details><summary>Hint</summary>
#
# With two tables of integers as an index, `logits[rows, positions]` takes the scores at each pair of a row and a position; `rows` of shape
# `(batch, 1)` broadcasts. And find out what `reduction` does in `F.cross_entropy` before you multiply anything by the weights.
#
# </details>


# %%
def masked_word_loss(logits, positions, words, weights):
    """The mean of -log p over the chosen positions."""
    ### BEGIN SOLUTION
    rows = torch.arange(len(logits))[:, None]
    scores = logits[rows, positions]  # (batch, k, vocab_size)
    losses = F.cross_entropy(scores.transpose(1, 2), words, reduction="none")
    return (losses * weights).sum() / weights.sum()
    ### END SOLUTION


# %%
check("hw5.masked_word_loss", masked_word_loss)

# %% [markdown]
# ## Question 7: Does it follow?
#
# *4 points · difficulty 2 of 3 · 20 minutes · [chapter 13, does B follow A?](../notebooks/13_pretraining.ipynb#does-b-follow-a)*
#
# The second guessing game: does the second sentence follow the first in its text, or is it from somewhere else? Make the pairs. Go through
# the documents in order, and in each through its sentences. Every sentence that has a successor *in its document* becomes the first
# of one pair. For each pair, the next three numbers `[coin, u, v]` have been drawn, all from 0 to below 1:
#
# - `coin` below 0.5: the second sentence is the successor, and the label is 0.
# - otherwise the second sentence is from another document, and the label is 1. All documents but this one are lined up in their order;
#   of $m$ things, `int(u * m)` is the number of the one that is drawn: with `u` the document, with `v` one of its sentences.
#
# Each pair uses up one draw, whether `u` and `v` are needed or not. By hand: the documents are `["A0", "A1", "A2"]`, `["B0", "B1"]` and
# `["C0"]`.
#
# | first | coin | u | v | | pair |
# |---|---|---|---|---|---|
# | A0 | 0.30 | 0.90 | 0.10 | the successor | `("A0", "A1", 0)` |
# | A1 | 0.80 | 0.20 | 0.70 | of B and C: number 0, B; of its two sentences: number 1 | `("A1", "B1", 1)` |
# | B0 | 0.60 | 0.60 | 0.40 | of A and C: number 1, C; of its one sentence: number 0 | `("B0", "C0", 1)` |
#
# A2, B1 and C0 have no successors, and begin no pair.
#
# - `documents`: a list of at least two documents, each a list of at least one sentence (strings)
# - `draws`: a list of `[coin, u, v]`, at least one for each pair; the rest is not used
# - returns a list of triples `(first, second, label)`, in order
#
# <details><summary>Hint</summary>
#
# A number that counts the pairs made so far (in a list, its length) says which draw is the next one. `documents[:i] + documents[i + 1 :]` are
# all but number `i`.
#
# </details>


# %%
def next_sentence_pairs(documents, draws):
    """(first, second, label) for every sentence that has a successor."""
    ### BEGIN SOLUTION
    pairs = []
    for i, document in enumerate(documents):
        others = documents[:i] + documents[i + 1 :]
        for first, successor in pairwise(document):
            coin, u, v = draws[len(pairs)]
            if coin < 0.5:
                pairs.append((first, successor, 0))
            else:
                other = others[int(u * len(others))]
                pairs.append((first, other[int(v * len(other))], 1))
    return pairs
    ### END SOLUTION


# %%
check("hw5.next_sentence_pairs", next_sentence_pairs)

# %% [markdown]
# With your answers, a last look (nothing to hand in here): the two sizes of the paper, "110 million" and "340 million"; and a long text
# with holes in it. How much of it does the model read as it was written, and how much of what it is asked about?

# %%
sizes = {"vocab_size": 30_522, "max_len": 512, "n_segments": 2}
base = count_bert(d_model=768, n_layers=12, d_ff=3072, **sizes)
large = count_bert(d_model=1024, n_layers=24, d_ff=4096, **sizes)
print(f"base: {base:,}, large: {large:,}")

text = "the pen ##gui ##ns are flight ##less birds and like to swim"
text = text.split(" ") * 10_000
chance, fate = torch.rand(2, len(text)).tolist()
read, chosen = mask_words(text, chance, fate, ["run"] * len(text))
same = [old == new for old, new in zip(text, read, strict=True)]
seen = sum(s for s, c in zip(same, chosen, strict=True) if c)
print(f"as it was written: {sum(same) / len(text):.1%} of the text")
print(f"asked: {sum(chosen) / len(text):.1%} of the text")
print(f"seen: {seen / sum(chosen):.1%} of what is asked")

# %% [markdown]
# The model reads six sevenths of the text as it was written. A tenth of what it is asked about stands before it, and it does not know
# where: so it has to make sense of every word, hidden or not.
#
# ## Before you hand in
#
# Choose *Restart and run all* from the menu and see that every check says ✓: an answer that works only because of a cell you have
# since changed or deleted will not work for the grader either. Then hand in this one file; [how](../book/handing_in.md).
