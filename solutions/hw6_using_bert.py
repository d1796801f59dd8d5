# %% [markdown]
# # Homework 6: using BERT
#
# What stands between a BERT that can be downloaded and a task that has to be done: texts that are too long, labels that do not fit the word
# pieces, a head, a decision, a measure. And what stood there before BERT: one vector for each word. The questions follow chapters
# [14](../notebooks/14_fine_tuning.ipynb), [14b](../notebooks/14b_words_and_spans.ipynb), [15](../notebooks/15_features.ipynb) and
# [15b](../notebooks/15b_which_layers.ipynb). (Two functions have the names of some in chapter 14b: question 4's does another job there, and question 5's counts differently.) No weights are
# needed: where a body would compute something, the numbers are given.
#
# **20 points, about two and a half hours.**
#
# | | question | points | difficulty | minutes |
# |---|---|---|---|---|
# | 1 | Two sentences that are too long | 2 | 1 | 15 |
# | 2 | One label, three pieces | 2 | 1 | 15 |
# | 3 | Which ending? | 3 | 2 | 20 |
# | 4 | The answer, or none | 3 | 3 | 25 |
# | 5 | Names, not words | 3 | 2 | 25 |
# | 6 | Pulled near, pushed away | 2 | 2 | 20 |
# | 7 | All layers, weighted | 2 | 1 | 15 |
# | 8 | A tagger on frozen features | 3 | 2 | 20 |
#
# **How it works.** Below each question stands a cell for your answer and a cell that checks it. The check calls your function on a few
# inputs; if something is wrong it tells you which mistake it recognises, or which values differ. You may check as often as you like. For
# the grade, your functions are called on *other* inputs of other sizes, so an answer fitted to the check's numbers earns nothing.
#
# **The rules.** Keep the names and the arguments, and leave what your function is given as it is: an input that is changed in place makes
# an answer wrong. Everything in `torch` (autograd in question 6 excepted) and all of Python's own library is allowed; of this course's
# library use nothing but what this notebook's own cells import, and no other library that has a BERT or a measure of names in it. No question needs
# an earlier answer, and calling one is unwise: a mistake there would cost you twice.
#
# **What the check sees.** In question 6 a call of autograd makes the answer wrong. Whatever else is out of bounds costs no points by
# itself: whoever grades is told of it, and decides. In questions 3 and 7 gradients count: a `.item()`, `.tolist()`, `int(…)`, `.detach()`,
# `.data` or `no_grad` on the way costs half of the points. In the others nobody looks. Where a pair is asked for, a list of two counts as
# well.
#
# **Two questions ask for a class.** The check loads its own numbers into your parameters, so their names and shapes are fixed. Whatever
# you set up in `__init__`, the parameters must be exactly those that the question lists. Your class is tried in evaluation mode, `model.eval()`, and in training mode.

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
import torch
import torch.nn.functional as F
from torch import nn

from lectures_lib.homework import check

# %% [markdown]
# ## Question 1: Two sentences that are too long
#
# *2 points · difficulty 1 of 3 · 15 minutes · [chapter 14, the same head](../notebooks/14_fine_tuning.ipynb#the-same-head-another-question)*
#
# A pair of sentences goes into BERT as `[CLS]`, the first sentence, `[SEP]`, the second, `[SEP]`; a single one as `[CLS]`, the sentence,
# `[SEP]`. The segments are 0 up to the first `[SEP]`, that one included, and 1 behind it. No row may be longer than `max_len`. BERT's own code
# shortens a pair like this: as long as the two are too long together, the *longer* sentence loses its last token. Where both are equally long,
# the second loses one.
#
# By hand, for sentences of 8 and 6 tokens and `max_len = 12`. The three special tokens leave room for 9.
#
# | loses a token | – | first | first | second | first | second |
# |---|---|---|---|---|---|---|
# | **first** | 8 | 7 | 6 | 6 | 5 | 5 |
# | **second** | 6 | 6 | 6 | 5 | 5 | 4 |
# | **together** | 14 | 13 | 12 | 11 | 10 | 9 |
#
# A question of three words beside a text of three hundred keeps its three words, as long as there is room for two of the text.
#
# - `first`: a list of tokens (strings); `second`: one too, or `None` where a sentence comes alone. No sentence is empty.
# - `max_len`: a whole number, large enough for the special tokens and one token of each sentence
# - returns a pair `(tokens, segments)`, two lists of the same length; nothing is padded
#
# Leave the lists you are given as they are: whoever called your function still needs them.
#
# <details><summary>Hint</summary>
#
# A `while` loop does exactly what the text says. `list(first)` is a copy that you may shorten.
#
# </details>


# %%
def fit_pair(first, second, max_len):
    """Tokens and segments of one sentence or two, of at most max_len tokens."""
    ### BEGIN SOLUTION
    a, b = list(first), list(second or [])
    room = max_len - (2 if second is None else 3)
    while len(a) + len(b) > room:
        longer = a if len(a) > len(b) else b
        longer.pop()
    front = ["[CLS]", *a, "[SEP]"]
    back = [] if second is None else [*b, "[SEP]"]
    return front + back, [0] * len(front) + [1] * len(back)
    ### END SOLUTION


# %%
check("hw6.fit_pair", fit_pair)

# %% [markdown]
# ## Question 2: One label, three pieces
#
# *2 points · difficulty 1 of 3 · 15 minutes · [chapter 14b, tagging](../notebooks/14b_words_and_spans.ipynb#tagging-names-in-a-text)*
#
# People label words, and BERT reads pieces. The paper's rule: the **first** piece of a word carries its label. The others carry none, and neither
# do `[CLS]` and `[SEP]`; "none" is written −100, which is what `F.cross_entropy` leaves out of the loss.
#
# A sentence that is too long is cut so that at most `max_len` tokens are left, `[CLS]` and `[SEP]` among them. The cut may go through a
# word. As long as its first piece is there, so is its label.
#
# | | | | | | | |
# |---|---|---|---|---|---|---|
# | words | | `greta` | `lind ##qvist` | | `bakes` | |
# | labels | | 1 | 2 | | 0 | |
# | tokens, `max_len = 9` | `[CLS]` | `greta` | `lind` | `##qvist` | `bakes` | `[SEP]` |
# | targets | −100 | 1 | 2 | −100 | 0 | −100 |
# | tokens, `max_len = 4` | `[CLS]` | `greta` | `lind` | `[SEP]` | | |
# | targets | −100 | 1 | 2 | −100 | | |
#
# - `words`: a list with the pieces of each word: `[["greta"], ["lind", "##qvist"], ["bakes"]]`; no word is without pieces, and not every
#   further piece has a mark (`["o", "'", "neil"]` is one word)
# - `labels`: a whole number for each word, 0 or above
# - `max_len`: a whole number, at least 3
# - returns a pair `(tokens, targets)`, two lists of the same length
#
# <details><summary>Hint</summary>
#
# First the pieces of all words in one list, and beside it a list of targets that grows by as many entries. Then cut both.
#
# </details>


# %%
def piece_labels(words, labels, max_len):
    """The pieces between [CLS] and [SEP], and a label for each of them."""
    ### BEGIN SOLUTION
    pieces, targets = [], []
    for word, label in zip(words, labels, strict=True):
        pieces += word
        targets += [label] + [-100] * (len(word) - 1)
    room = max_len - 2
    return ["[CLS]", *pieces[:room], "[SEP]"], [-100, *targets[:room], -100]
    ### END SOLUTION


# %%
check("hw6.piece_labels", piece_labels)

# %% [markdown]
# ## Question 3: Which ending?
#
# *3 points · difficulty 2 of 3 · 20 minutes · [chapter 14, a choice](../notebooks/14_fine_tuning.ipynb#a-choice-which-ending)*
#
# *The doorbell rang. My father* … *went to see who was there*, or *got the mower out of the garage*? Each ending makes a pair with the
# beginning, and BERT reads each pair by itself. What is left to build is the head, which makes one number of each pair:
#
# $$\text{score} = w \cdot \operatorname{dropout}(\tanh(W h_{\text{[CLS]}} + b)) + c,$$
#
# where $h_{\text{[CLS]}}$ is the vector that the last block leaves at `[CLS]`, the token at place 0. The scores of the endings of one beginning
# are later compared by a softmax; the loss takes it, not the head.
#
# - `ChoiceHead(d_model, dropout)`, with `pooler`, an `nn.Linear` from `d_model` to `d_model`, and `head`, an `nn.Linear` from `d_model` to 1.
#   With `d_model = 4` that makes 25 numbers.
# - `forward(hidden)`: `hidden`: `(batch, choices, n, d_model)`, the vectors of all tokens of all pairs
# - returns scores, `(batch, choices)`
#
# Dropout, with the probability `dropout`, is for training. When the model is asked (`model.eval()`), nothing is dropped.
#
# <details><summary>Hint</summary>
#
# `nn.Linear` and `tanh` do not care how many axes stand before the last: nothing has to be reshaped. Which function or layer of PyTorch knows by
# itself whether the model is in training?
#
# </details>


# %%
class ChoiceHead(nn.Module):
    """A score for each ending."""

    def __init__(self, d_model, dropout):
        super().__init__()
        ### BEGIN SOLUTION
        self.pooler = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(d_model, 1)
        ### END SOLUTION

    def forward(self, hidden):
        """(batch, choices, n, d_model) → (batch, choices)."""
        ### BEGIN SOLUTION
        pooled = torch.tanh(self.pooler(hidden[:, :, 0]))  # (batch, choices, d_model)
        return self.head(self.dropout(pooled)).squeeze(-1)
        ### END SOLUTION


# %%
check("hw6.ChoiceHead", ChoiceHead)

# %% [markdown]
# ## Question 4: The answer, or none
#
# *3 points · difficulty 3 of 3 · 25 minutes · [chapter 14b, a span](../notebooks/14b_words_and_spans.ipynb#a-span-where-is-the-answer)*
#
# A question and a text went in as a pair, and each token got two scores: how well an answer might begin there, and how well it might end there.
# Which tokens are the answer? A pair $(i, j)$, first and last token, is **legal** if it lies in the text, does not end before it begins, and
# has at most `longest` tokens. The best answer is the legal pair with the largest `start[i] + end[j]`.
#
# The text may not have the answer at all. "No answer" is the pair (0, 0), that is `[CLS]`, with the score `start[0] + end[0]`. The best legal pair is
# returned only if its score is *above* that score plus a threshold. The text stands at the places from `first` to `last`, both included;
# before it are `[CLS]`, the question and a `[SEP]`, behind it a `[SEP]` and perhaps padding, which have scores as well.
#
# By hand, with `first = 3`, `last = 6`, `longest = 2`:
#
# | place | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 |
# |---|---|---|---|---|---|---|---|---|
# | token | `[CLS]` | `who` | `[SEP]` | `ida` | `met` | `old` | `ben` | `[SEP]` |
# | `start` | 1.0 | 5.0 | 0.0 | 1.0 | 0.0 | 2.0 | 3.0 | 0.0 |
# | `end` | 0.5 | 4.0 | 0.0 | 3.5 | 0.0 | 1.0 | 2.0 | 6.0 |
#
# The best start of the text is at 6, the best end at 3: no legal pair. (6, 6) has 5.0, (3, 3) has 4.5, (5, 6) has 4.0. `[CLS]` has 1.5. With the
# threshold 3.0 the answer is (6, 6), since 5.0 > 4.5; with 3.5 it is (0, 0).
#
# - `start`, `end`: tensors `(n,)`; `first`, `last`, `longest`: whole numbers, `longest` at least 1; `threshold`: a number above 0. No two
#   legal pairs share the largest score.
# - returns a pair of Python's whole numbers, such as `(6, 6)`: the places of the answer's first and last token, or `(0, 0)`
#
# <details><summary>Hint</summary>
#
# Two loops, one in the other, are allowed. For the end of the inner one: how many tokens are there from i to j?
#
# </details>


# %%
def best_answer(start, end, first, last, longest, threshold):
    """The first and the last token of the best legal answer, or (0, 0)."""
    ### BEGIN SOLUTION
    best, answer = start[0] + end[0] + threshold, (0, 0)
    for i in range(first, last + 1):
        for j in range(i, min(i + longest - 1, last) + 1):
            if start[i] + end[j] > best:
                best, answer = start[i] + end[j], (i, j)
    return answer
    ### END SOLUTION


# %%
check("hw6.best_answer", best_answer)

# %% [markdown]
# ## Question 5: Names, not words
#
# *3 points · difficulty 2 of 3 · 25 minutes · [chapter 14b, tagging](../notebooks/14b_words_and_spans.ipynb#tagging-names-in-a-text)*
#
# Taggers of names are measured by the names they find, not by words. In the BIO scheme a name of the kind `x` begins at every `B-x`, and goes on as
# long as `I-x` follows, with the same kind. Models also predict an `I-x` that goes on nothing: the label before it is `O`, is of another
# kind, or is itself an `I-x` that goes on nothing; or there is none before it. The chapter lets it begin a name. **Here it is in no name**: only a `B` begins one. Both ways of counting are in use, and
# give different numbers for the same model.
#
# A predicted name is a **hit** if the right labels of the same sentence have a name of
# the same kind with the same first and the same last word. Count the hits, the predicted names and the right names of *all* sentences together:
#
# $$F_1 = \frac{2 \cdot \text{hits}}{\text{predicted} + \text{right}}$$
#
# By hand, two sentences:
#
# | word | right | predicted | | word | right | predicted |
# |---|---|---|---|---|---|---|
# | `ida` | B-person | B-person | | `in` | O | I-place |
# | `lund` | I-person | I-person | | `new` | B-place | O |
# | `met` | O | O | | `york` | I-place | B-place |
# | `ben` | B-person | B-person | | | | |
# | `oslo` | B-place | I-person | | | | |
#
# Right are *ida lund*, *ben*, *oslo*, *new york*: four. Predicted are *ida lund*, *ben oslo*, *york*: three, and the `I-place` of `in` is in none. One hit, so $F_1$ = 2 / 7 = 0.29. Of
# the eight words' labels, four are right.
#
# - `predicted`, `right`: lists with a list of labels (strings) for each sentence, of the same lengths; no kind has a hyphen in its name
# - returns a number from 0 to 1; without a hit it is 0
#
# <details><summary>Hint</summary>
#
# Write a function that turns the labels of one sentence into a list of triples (kind, first word, last word), and try it on *ben oslo*. Sets have an
# intersection, `a & b`; what has to be added to a triple, so that two sentences do not get mixed up?
#
# </details>


# %%
def entity_f1(predicted, right):
    """F1 of the names in all sentences together."""

    ### BEGIN SOLUTION
    def names(sentences):
        found = set()
        for s, labels in enumerate(sentences):
            name = None
            for i, label in enumerate([*labels, "O"]):
                goes_on = name and label == f"I-{name[0]}"
                if name and not goes_on:
                    found.add((s, *name, i))  # it ended before word i
                    name = None
                if label.startswith("B-"):
                    name = (label[2:], i)
        return found

    p, r = names(predicted), names(right)
    hits = len(p & r)
    return 2 * hits / (len(p) + len(r)) if hits else 0.0
    ### END SOLUTION


# %%
check("hw6.entity_f1", entity_f1)

# %% [markdown]
# ## Question 6: Pulled near, pushed away
#
# *2 points · difficulty 2 of 3 · 20 minutes · [chapter 15, one vector for each word](../notebooks/15_features.ipynb#one-vector-for-each-word)*
#
# Chapter 15 trains word2vec by asking: did this other word stand near it? Once for a word that really did, and $k$ times for words drawn at
# random. Each word has two vectors, $v$ for itself and $v'$ for being somebody's neighbour, and the loss of one word is
#
# $$L = -\log\sigma(v \cdot v'_{\text{near}}) - \sum_{j=1}^{k} \log\sigma(-v \cdot v'_{\text{noise } j}).$$
#
# There autograd finds the gradient. Here you find it, on paper, and take one step of gradient descent: subtract from every vector the
# learning rate times the gradient of $L$ with respect to that vector. All gradients are those at the vectors *before* the step. The
# derivative of $\log\sigma(x)$ is $1 - \sigma(x)$. Autograd is ruled out, whatever it is called by:
# `.backward()`, `torch.autograd` or `torch.func`.
#
# By hand: $v$ = (1, 2), near is (0.5, −0.25), the only random word (−2, 1), and the rate 0.2. Both products are 0, and σ(0) is 0.5. After the
# step $v$ is (1.25, 1.875), near (0.6, −0.05), the random word (−2.1, 0.8). Now the products are 0.656 and −1.125: the one has come nearer, the
# other has moved away.
#
# - `vectors`, `near_vectors`: two tables `(vocab_size, d)` with the $v$ and the $v'$ of all words
# - `word`, `near`: whole numbers, the word and what stood near it; `noise`: a tensor `(k,)` of whole numbers, what was drawn. A word may be
#   drawn twice, and `near` or `word` itself may be drawn: all $k$ terms count.
# - `rate`: the learning rate, a number above 0
# - returns a pair of new tables, `vectors` and `near_vectors` after the step, finite also where a product is −150 or 150
#
# <details><summary>Hint</summary>
#
# Write $x$ for $v \cdot v'$. How does each term change with its $x$, how $x$ with $v$, and how with $v'$? Then: which rows of which table are in
# $L$, and how often? `table[rows] += …` counts a row once, however often `rows` names it; `table.index_add_(0, rows, …)` counts each time.
#
# </details>


# %%
def skip_gram_step(vectors, near_vectors, word, near, noise, rate):
    """Both tables after one step of gradient descent."""
    ### BEGIN SOLUTION
    v = vectors[word]  # (d,)
    others = torch.cat([torch.tensor([near]), noise])  # (1 + k,)
    right = torch.zeros(len(others))
    right[0] = 1  # yes for the first, no for the others
    errors = right - torch.sigmoid(near_vectors[others] @ v)  # (1 + k,)
    new_vectors, new_near = vectors.clone(), near_vectors.clone()
    new_vectors[word] += rate * errors @ near_vectors[others]
    new_near.index_add_(0, others, rate * torch.outer(errors, v))
    return new_vectors, new_near
    ### END SOLUTION


# %%
check("hw6.skip_gram_step", skip_gram_step)

# %% [markdown]
# ## Question 7: All layers, weighted
#
# *2 points · difficulty 1 of 3 · 15 minutes · [chapter 15b, a mix of all layers](../notebooks/15b_which_layers.ipynb#a-mix-of-all-layers)*
#
# Which layer's vectors are the best features depends on the task. ELMo's authors let the task decide: it gets a weighted sum of all states, and the
# weights are learned with everything else,
#
# $$\gamma \sum_i \operatorname{softmax}(w)_i \, h_i.$$
#
# By hand, with two states: $w$ = (0, log 3), so that the shares are ¼ and ¾; $h_0$ = (4, 0), $h_1$ = (0, 4), γ = 2. The sum is (1, 3), the result
# (2, 6).
#
# - `LayerMix(n_states)`, with the `nn.Parameter`s `w`, of the shape `(n_states,)`, and `gamma`, of the shape `()`. At the beginning
#   all numbers of $w$ are alike, 0 say, and γ is 1: the mix begins as the plain mean.
# - `forward(states)`: `(n_states, batch, n, d_model)`
# - returns `(batch, n, d_model)`
#
# <details><summary>Hint</summary>
#
# `weights[:, None, None, None]` broadcasts with the states. `torch.tensordot(weights, states, dims=1)` and `torch.einsum` do it in one step.
#
# </details>


# %%
class LayerMix(nn.Module):
    """A learned weighted sum of all hidden states."""

    def __init__(self, n_states):
        super().__init__()
        ### BEGIN SOLUTION
        self.w = nn.Parameter(torch.zeros(n_states))
        self.gamma = nn.Parameter(torch.ones(()))
        ### END SOLUTION

    def forward(self, states):
        """(n_states, batch, n, d_model) → (batch, n, d_model)."""
        ### BEGIN SOLUTION
        weights = self.w.softmax(dim=0)
        return self.gamma * torch.einsum("i,ibnd->bnd", weights, states)
        ### END SOLUTION


# %%
check("hw6.LayerMix", LayerMix)

# %% [markdown]
# ## Question 8: A tagger on frozen features
#
# *3 points · difficulty 2 of 3 · 20 minutes · [chapter 15b, names](../notebooks/15b_which_layers.ipynb#names)*
#
# Now train one. A body has read some sentences, and will not be trained; here are its hidden states for all their pieces, as in
# chapter 15b, embeddings first. Your tagger learns the class of the labelled pieces, and says the class of others. At least 90 % of
# what it says must be right.
#
# Two things to mind. The words are long: four in five pieces are not the first of their word and have the label −100, "none". And no
# single state
# tells all classes apart: what the first one knows the last one has forgotten, and the other way round, and those between are noise.
#
# Everything is yours: the model, the optimizer, the loss, the steps. One linear layer is enough. 200 steps of Adam with the learning rate 0.01 on
# all pieces at once take a second; all calls together may take a minute.
#
# - `states`: `(n_states, n_pieces, d_model)`; `labels`: whole numbers `(n_pieces,)`, from 0 to `n_classes` − 1, or −100
# - `asked`: `(n_states, n_asked, d_model)`
# - returns whole numbers `(n_asked,)`: the likeliest class of each piece in `asked`
#
# The check sees little here: a tagger that was trained wrongly mostly just predicts wrongly. When you are stuck, print the loss every 20
# steps. It begins near 1.6 and should end below 0.2 (1.6 is the logarithm of `n_classes`). Only what your tagger says counts: a slip such
# as a softmax before `F.cross_entropy` goes unseen where enough of it is right all the same.
#
# <details><summary>Hint</summary>
#
# Which axis of `states` has the pieces? A linear layer wants a row for each piece: bring that axis to the front before you flatten the other two.
# (`reshape` alone would put numbers of different pieces into one row.) Or mix the states, as in question 7.
#
# </details>


# %%
def train_tagger(states, labels, asked, n_classes):
    """What a tagger trained on the labelled pieces says of the others."""
    ### BEGIN SOLUTION
    n_states, _, d_model = states.shape
    tagger = nn.Linear(n_states * d_model, n_classes)
    optimizer = torch.optim.Adam(tagger.parameters(), lr=0.01)
    rows = states.transpose(0, 1).flatten(1)  # all states of a piece side by side
    for _ in range(200):
        loss = F.cross_entropy(tagger(rows), labels, ignore_index=-100)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        return tagger(asked.transpose(0, 1).flatten(1)).argmax(dim=-1)
    ### END SOLUTION


# %%
check("hw6.train_tagger", train_tagger)

# %% [markdown]
# With your answers, a last look (nothing to hand in here): the test sentences of the book's own set `entities`, and a tagger that has learned nothing
# and calls every word `O`. How good is it?

# %%
from lectures_lib import data

right = [sentence["labels"] for sentence in data.load("entities", "test")]
nothing = [["O"] * len(labels) for labels in right]
words = [label for labels in right for label in labels]
print(f"right words: {words.count('O') / len(words):.0%}")
print(f"F1 of names: {entity_f1(nothing, right):.0%}")

# %% [markdown]
# Nearly four of five words are right, and not one name has been found. A measure has to ask for what is wanted.
#
# ## Before you hand in
#
# Choose *Restart and run all* from the menu and see that every check says ✓: an answer that works only because of a cell you have
# since changed or deleted will not work for the grader either. Then hand in this one file; [how](../book/handing_in.md).
