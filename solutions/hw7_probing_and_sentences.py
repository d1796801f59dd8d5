# %% [markdown]
# # Homework 7: Probing and sentence vectors
#
# What is in the vectors of a model, layer by layer, and how can one be sure? And how do the vectors of words become one that stands for a
# sentence? The questions follow chapters [16](../notebooks/16_what_bert_learns.ipynb), [16b](../notebooks/16b_probing.ipynb), [16c](../notebooks/16c_trees.ipynb) and
# [17](../notebooks/17_sentence_bert.ipynb), and most of them go a step beyond those pages. Questions 6 and 8 stay close to the code that is printed there.
#
# **20 points, about two and a half hours.**
#
# | | question | points | difficulty | minutes |
# |---|---|---|---|---|
# | 1 | A mix of layers | 2 | 1 | 15 |
# | 2 | Learned by heart | 2 | 1 | 15 |
# | 3 | Which layer knows? | 3 | 2 | 20 |
# | 4 | From pieces to words | 3 | 2 | 20 |
# | 5 | A tree from impacts | 3 | 3 | 25 |
# | 6 | One vector for a sentence | 2 | 1 | 15 |
# | 7 | Every sentence with every other | 2 | 2 | 15 |
# | 8 | The others are the wrong answers | 3 | 2 | 20 |
#
# **How it works.** Below each question stands a cell for your answer and a cell that checks it. The check calls your function on a few
# inputs; if something is wrong it tells you which mistake it recognises, or which values differ. You may check as often as you like. For
# the grade, your functions are called on *other* inputs of other sizes, so an answer fitted to the check's numbers earns nothing.
#
# **The rules.** Keep the names and the arguments, and leave what your function is given as it is: an input that is changed in place makes
# an answer wrong. Everything in `torch` (`F.cross_entropy` and `F.normalize` included) and all of Python's own library is allowed; of this
# course's library use nothing but what this notebook's own cells import, and no library with ready-made probes, spanning trees or sentence vectors.
# No question needs an earlier answer, and calling one is unwise: a mistake there would cost you twice.
#
# **What the check sees.** What is out of bounds costs no points by itself: whoever grades is told of it, and decides. In questions
# 7 and 8 gradients count: a `.item()`, `.tolist()`, `int(…)`, `.detach()`, `.data` or `no_grad` on the way costs half of the points. In
# questions 1 and 6 it costs nothing, and the check says so. In the others nobody looks. Where a pair is asked for, a list of two counts as
# well.
#
# **No question needs a model.** Hidden states, attention weights and impacts are given to you as tensors, as a model would hand them over.
#
# **Two questions are of another kind.** Question 3 asks you to *train* probes: for the words without labels, 9 in 10 of your answers must be those of a probe on the right layer. Question 7 asks for a class. The check loads its own numbers into your parameters, so they
# must be exactly those that the question lists.

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
# ## Question 1: A mix of layers
#
# *2 points · difficulty 1 of 3 · 15 minutes · [chapter 16b, a mix of all layers](../notebooks/16b_probing.ipynb#a-mix-of-all-layers)*
#
# A word has a vector in each hidden state: the embeddings, and the output of every layer. A probe that may choose among them mixes them
# into one. Each hidden state $l$ has a learned weight $w_l$, which softmax turns into a share, and $\gamma$ scales the whole:
#
# $$\text{mix} = \gamma \sum_l s_l\, h_l, \qquad s = \operatorname{softmax}(w).$$
#
# When training is over, the shares are often read as the places where the probe found what it needed (chapter 15b shows why one should be
# careful). One number sums them up, the **centre of gravity**
# $\sum_l l \cdot s_l$, with the embeddings as layer 0: the mean layer, which may lie between two.
#
# By hand: three hidden states with the vectors (4, 0), (0, 4) and (8, 8), shares 1/4, 1/2 and 1/4, and γ = 3. The mix is 3 · (3, 4) = (9,
# 12), and the centre of gravity 0 · 1/4 + 1 · 1/2 + 2 · 1/4 = 1.
#
# - `states`: `(n_states, words, d_model)`, of any number of states; `w`: `(n_states,)`, of which some may be around 100;
#   `gamma`: a number
# - returns a pair: the mix, `(words, d_model)`, and the centre of gravity, a tensor without dimensions (what `.sum()` gives)
#
# <details><summary>Hint</summary>
#
# Give the shares the shape `(n_states, 1, 1)`, and they broadcast over words and features. `torch.arange(n)` are the numbers of the layers.
#
# </details>


# %%
def mix_layers(states, w, gamma):
    """The mix of the hidden states, and its centre of gravity."""
    ### BEGIN SOLUTION
    shares = w.softmax(dim=0)
    mixed = gamma * (shares[:, None, None] * states).sum(dim=0)
    return mixed, (torch.arange(len(w)) * shares).sum()
    ### END SOLUTION


# %%
check("hw7.mix_layers", mix_layers)

# %% [markdown]
# ## Question 2: Learned by heart
#
# *2 points · difficulty 1 of 3 · 15 minutes · [chapter 16b, learned by heart](../notebooks/16b_probing.ipynb#a-probe-that-learns-words-by-heart)*
#
# A probe gets 90 % of the parts of speech right. Does the vector say which part of speech the word is, or does it say which *word* it is,
# and the probe has learned the rest by heart? A **control task** tells the two apart. It gives each word *type* a label by chance. The
# vectors know nothing of such labels: what a probe gets right, it has learned by heart. The probe's accuracy on the real task minus that on
# the control task is its **selectivity**.
#
# Make the labels. A type is a word in small letters, `word.lower()`: `The`, `THE` and `the` are one. Go through the words in order. For
# each type that you meet for the first time, the next number of `draws` decides: of $n$ labels, `int(u * n)` is the number of the one it
# gets. The draw is from *all* `labels`, the real ones of all words, so that what is frequent in the real task is frequent here.
#
# | `words` | `labels` | drawn with | **control label** |
# |---|---|---|---|
# | `The` | DET | 0.30: number 1 | NOUN |
# | `light` | NOUN | 0.90: number 4 | ADJ |
# | `of` | ADP | 0.10: number 0 | DET |
# | `the` | DET | seen before | NOUN |
# | `light` | ADJ | seen before | ADJ |
#
# - `words`, `labels`: lists of strings of the same length, at least one
# - `draws`: numbers from 0 to below 1, at least one for each type; the rest is not used
# - returns a list of strings, one for each word
#
# <details><summary>Hint</summary>
#
# Keep a dictionary from types to their labels. How many draws have been used up is the number of its entries.
#
# </details>


# %%
def control_labels(words, labels, draws):
    """A drawn label for every word; words of one type have the same."""
    ### BEGIN SOLUTION
    label_of = {}
    for word in words:
        kind = word.lower()
        if kind not in label_of:
            u = draws[len(label_of)]
            label_of[kind] = labels[int(u * len(labels))]
    return [label_of[word.lower()] for word in words]
    ### END SOLUTION


# %%
check("hw7.control_labels", control_labels)

# %% [markdown]
# ## Question 3: Which layer knows?
#
# *3 points · difficulty 2 of 3 · 20 minutes · [chapter 16b, a probe in three lines](../notebooks/16b_probing.ipynb#a-probe-in-three-lines)*
#
# Train a linear probe, scores = $Wh + b$, on each hidden state. Find the one whose probe labels the most words right. Return what it says
# of words that have no labels here.
#
# "The most words right", but of which words? A probe can learn its training words by heart, and one of the hidden states that you are given is made
# for that. So there is a second set of words with labels, on which nobody trains. The layer is chosen on them.
#
# Before training, bring each of a layer's `d_model` numbers, by itself, to mean 0 and standard deviation 1 over the *training* words, and
# treat every other word with the same means and deviations. In BERT's vectors some numbers are many times as large as others. Here these mean
# nothing, and those that tell the label hardly vary.
#
# - `states`: `(n_states, words, d_model)`, `labels`: integers `(words,)` from 0 to $C - 1$: the words to train on; each label occurs
# - `dev_states`: `(n_states, dev_words, d_model)`, `dev_labels`: `(dev_words,)`: the words to choose by
# - `asked`: `(n_states, asked_words, d_model)`: the words to label
# - returns integers `(asked_words,)`. They are compared with what a probe of the right layer says, not with true labels: 90 % must agree.
#
# There are a few hundred words and some fifteen numbers in a vector: each probe is trained on all words at once, in a few hundred steps or
# fewer. All calls together may take half a minute. When you are stuck, print both accuracies of each layer. Only the labels that you return
# count: a slip such as a softmax before `F.cross_entropy` goes unseen where they come out right all the same.
#
# <details><summary>Hint</summary>
#
# `probe = nn.Linear(d_model, C)`; then, a hundred times: the loss of all words (`F.cross_entropy`), `zero_grad`, `backward`, `step`.
# Adam with a learning rate of 0.05 will do. Everything for one layer fits into an inner function.
#
# </details>


# %%
def probe_layers(states, labels, dev_states, dev_labels, asked):
    """What the probe of the best layer says of the words asked."""
    ### BEGIN SOLUTION
    n_classes = int(labels.max()) + 1
    best, answer = -1, None
    for train, dev, test in zip(states, dev_states, asked, strict=True):
        mean, deviation = train.mean(dim=0), train.std(dim=0)
        train, dev, test = ((x - mean) / deviation for x in (train, dev, test))
        probe = nn.Linear(train.shape[-1], n_classes)
        optimizer = torch.optim.Adam(probe.parameters(), lr=0.05)
        for _ in range(100):
            loss = F.cross_entropy(probe(train), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        right = int((probe(dev).argmax(dim=-1) == dev_labels).sum())
        if right > best:
            best, answer = right, probe(test).argmax(dim=-1)
    return answer
    ### END SOLUTION


# %%
check("hw7.probe_layers", probe_layers)

# %% [markdown]
# ## Question 4: From pieces to words
#
# *3 points · difficulty 2 of 3 · 20 minutes · [chapter 16, from pieces to words](../notebooks/16_what_bert_learns.ipynb#from-pieces-to-words)*
#
# BERT's heads attend from piece to piece. Grammar speaks of words. So the weights are carried over, before anything is counted:
#
# - attention **to** a word is the *sum* over its pieces: what `flight` and `##less` get, `flightless` gets;
# - attention **from** a word is the *mean* over its pieces: two pieces that attend are one word that attends, and rows that summed to 1
#   still do.
#
# By hand, with one head, the word `a` (piece 0) and the word `b` (pieces 1 and 2):
#
# | | 0 | 1 | 2 | | | a | b |
# |---|---|---|---|---|---|---|---|
# | piece 0 | 0.4 | 0.2 | 0.4 | | word a | 0.4 | 0.6 |
# | piece 1 | 0.1 | 0.6 | 0.3 | | word b | 0.2 | 0.8 |
# | piece 2 | 0.3 | 0.3 | 0.4 | | | | |
#
# - `weights`: `(heads, n, n)`; rows attend, columns are attended to, and each row sums to 1
# - `places`: a list with a list of integers for each word, none of them empty: the places of its pieces, which need not stand side by side
#   (*gave* … *up* may be taken for one word). Not every piece belongs to a word: `[CLS]` and `[SEP]` may be left out, and what goes to them
#   is then missing from the rows. Leave it missing.
# - returns `(heads, words, words)`; entry `[h, i, j]` is how much word `i` attends to word `j`
#
# <details><summary>Hint</summary>
#
# Columns first, then rows: `weights[:, :, pieces].sum(dim=-1)` is what all pieces give to one word. Or make two small matrices with a row
# for each word, one with ones, one with parts, and multiply from both sides.
#
# </details>


# %%
def word_attention(weights, places):
    """(heads, n, n) → (heads, words, words)."""
    ### BEGIN SOLUTION
    to_words = [weights[:, :, pieces].sum(dim=-1) for pieces in places]
    to_words = torch.stack(to_words, dim=-1)  # (heads, n, words)
    rows = [to_words[:, pieces].mean(dim=1) for pieces in places]
    return torch.stack(rows, dim=1)
    ### END SOLUTION


# %%
check("hw7.word_attention", word_attention)

# %% [markdown]
# ## Question 5: A tree from impacts
#
# *3 points · difficulty 3 of 3 · 25 minutes · [chapter 16c, perturbed masking](../notebooks/16c_trees.ipynb#perturbed-masking)*
#
# Perturbed masking asks a model how much word $j$ matters to word $i$, and gives a matrix of impacts, $F_{ij}$. If words that belong
# together matter to each other most, these impacts hold the tree of the sentence. A link between $i$ and $j$ has no direction, and its
# score is $F_{ij} + F_{ji}$. Asked for is the tree that connects all $n$ words by $n - 1$ links with the largest sum of scores. Its links may
# cross; chapter 16c takes the best tree of those in which none do.
#
# Then compare it with a treebank's tree. There each word has a **head**, the word it depends on, counted *from 1*; the root has the head 0,
# and no link. The share of the treebank's $n - 1$ links that your tree has is called UUAS, the undirected unlabelled attachment score.
#
# By hand, for *the old dog barks*, words 0 to 3:
#
# | link | 0–1 | 0–2 | 0–3 | 1–2 | 1–3 | 2–3 |
# |---|---|---|---|---|---|---|
# | score | 7 | 6 | 1 | 8 | 2 | 5 |
#
# The largest scores are 8 (1–2) and 7 (0–1). The next, 6 (0–2), would close a circle: 0 and 2 are connected already, through 1. So it is
# left out, and 5 (2–3) is taken: `[(0, 1), (1, 2), (2, 3)]`. In the treebank, *the* and *old* depend on *dog*, and *dog* on *barks*: the
# heads are `[3, 3, 4, 0]`, the links 0–2, 1–2 and 2–3. Two of three are found: UUAS 0.667.
#
# - `impact`: `(n, n)`, $n \ge 2$, no number below 0, not symmetric, zero on the diagonal; no two links have the same score
# - `heads`: a list of $n$ integers, exactly one of them 0
# - returns a pair: the links, a sorted list of pairs `(i, j)` of integers with `i < j`, words counted from 0; and the UUAS, a number
#
# <details><summary>Hint</summary>
#
# Two ways lead to the same tree. Kruskal: all links in the order of their scores; take each, unless its ends are connected already. Prim:
# begin with word 0; add, again and again, the best link between a word that is in the tree and one that is not. The second needs nothing to
# detect circles.
#
# </details>


# %%
def best_tree(impact, heads):
    """The links of the tree with the largest sum of scores; the UUAS."""
    ### BEGIN SOLUTION
    scores = (impact + impact.T).tolist()
    n = len(heads)
    inside, links = {0}, set()
    while len(inside) < n:
        outside = set(range(n)) - inside
        pairs = [(i, j) for i in inside for j in outside]
        i, j = max(pairs, key=lambda pair: scores[pair[0]][pair[1]])
        links.add((min(i, j), max(i, j)))
        inside.add(j)
    gold = {tuple(sorted((i, head - 1))) for i, head in enumerate(heads) if head}
    return sorted(links), len(links & gold) / len(gold)
    ### END SOLUTION


# %%
check("hw7.best_tree", best_tree)

# %% [markdown]
# ## Question 6: One vector for a sentence
#
# *2 points · difficulty 1 of 3 · 15 minutes · [chapter 17, from many vectors to one](../notebooks/17_sentence_bert.ipynb#from-many-vectors-to-one)*
#
# A batch of sentences has gone through BERT; each of its tokens has a vector. Make one vector of these for each sentence, in one of three ways:
#
# - `"mean"`: the mean of the tokens' vectors
# - `"max"`: in each of the `d_model` numbers by itself, the largest that a token has there
# - `"cls"`: the vector of the first token
#
# Short sentences are padded at the end. BERT computes vectors there, too, and they are not zeros. They must not change the result: sentence
# `b` has `lengths[b]` tokens. `[CLS]` and `[SEP]` are tokens like the others. If `normalise` is true, each sentence's vector is divided by
# its norm, $\sqrt{\sum_k x_k^2}$, at the end; it is never 0.
#
# By hand: the tokens (−1, 2) and (−5, 6), and behind them padding with the vector (9, 9). The mean is (−3, 4), the maximum (−1, 6), `"cls"`
# is (−1, 2); the mean, normalised, is (−0.6, 0.8).
#
# - `hidden`: `(batch, n, d_model)`, some numbers perhaps millions below or above 0; `lengths`: integers `(batch,)`, from 1 to `n`
# - `pooling`: `"mean"`, `"max"` or `"cls"`; `normalise`: a boolean
# - returns `(batch, d_model)`
#
# <details><summary>Hint</summary>
#
# `torch.arange(n) < lengths[:, None]` is true where there is a token. What must padding be set to, so that a sum does not notice it? And so
# that a maximum does not?
#
# </details>


# %%
def sentence_vectors(hidden, lengths, pooling="mean", normalise=False):
    """(batch, n, d_model) → (batch, d_model)."""
    ### BEGIN SOLUTION
    padding = torch.arange(hidden.shape[1]) >= lengths[:, None]  # (batch, n)
    padding = padding[:, :, None]
    if pooling == "mean":
        total = hidden.masked_fill(padding, 0).sum(dim=1)
        vectors = total / lengths[:, None]
    elif pooling == "max":
        vectors = hidden.masked_fill(padding, float("-inf")).amax(dim=1)
    else:
        vectors = hidden[:, 0]
    return F.normalize(vectors, dim=-1) if normalise else vectors
    ### END SOLUTION


# %%
check("hw7.sentence_vectors", sentence_vectors)

# %% [markdown]
# ## Question 7: Every sentence with every other
#
# *2 points · difficulty 2 of 3 · 15 minutes · [chapter 17, three ways to train](../notebooks/17_sentence_bert.ipynb#three-ways-to-train)*
#
# Does the second sentence follow from the first, contradict it, or neither? Sentence-BERT learns its vectors $u$ and $v$ from that
# question. It puts three vectors one after the other, and a linear layer makes the scores of the classes:
#
# $$\text{scores} = W_t\,(u,\; v,\; |u - v|) + b.$$
#
# $|u - v|$ is taken number by number. By hand: $u$ is (1, 4) and $v$ is (3, 1). The layer reads (1, 4, 3, 1, 2, 3).
#
# Both sentences have gone through BERT by themselves, so each vector can be compared with many others, and BERT does not run again. Score
# *every* first sentence with *every* second one.
#
# - `PairClassifier(d_model, n_classes)`, with `W_t`, an `nn.Linear` with bias. With the sizes 4 and 3 that makes 39 numbers.
# - `forward(u, v)`: `u`: `(n, d_model)`; `v`: `(m, d_model)`
# - returns scores, not probabilities: `(n, m, n_classes)`; entry `[i, j]` is for `u[i]` and `v[j]`
#
# <details><summary>Hint</summary>
#
# `u[:, None]` has the shape `(n, 1, d_model)`. In a difference it broadcasts; `torch.cat` does not broadcast, but `.expand(n, m, d_model)`
# can be called before.
#
# </details>


# %%
class PairClassifier(nn.Module):
    """Scores of the classes, for all pairs of vectors."""

    def __init__(self, d_model, n_classes):
        super().__init__()
        ### BEGIN SOLUTION
        self.W_t = nn.Linear(3 * d_model, n_classes)
        ### END SOLUTION

    def forward(self, u, v):
        """(n, d_model), (m, d_model) → (n, m, n_classes)."""
        ### BEGIN SOLUTION
        shape = (len(u), len(v), u.shape[-1])
        first, second = u[:, None].expand(shape), v[None].expand(shape)
        parts = [first, second, (first - second).abs()]
        return self.W_t(torch.cat(parts, dim=-1))
        ### END SOLUTION


# %%
check("hw7.PairClassifier", PairClassifier)

# %% [markdown]
# ## Question 8: The others are the wrong answers
#
# *3 points · difficulty 2 of 3 · 20 minutes · [chapter 17, a partner](../notebooks/17_sentence_bert.ipynb#a-partner-in-batch-negatives)*
#
# Questions and their answers, $u_i$ and $v_i$, and no labels. For $u_i$, the $v$ of the *other* pairs of the batch serve as wrong answers:
# a softmax over all $v$, with `scale` times the cosine as score, gives the probability of the right one, and the loss is
#
# $$-\frac{1}{n} \sum_i \log p_i, \qquad p_i = \frac{\exp(\text{scale} \cdot \cos(u_i, v_i))}{\sum_{j} \exp(\text{scale} \cdot \cos(u_i, v_j))}.$$
#
# A text may be the answer to two questions of a batch. Then its copy is no wrong answer, and a model must not learn to push it away
# ([chapter 17, the right answer counted as wrong](../notebooks/17_sentence_bert.ipynb#the-right-answer-counted-as-wrong)). `text[i]` is the
# number of the text of $v_i$, and it alone tells which are copies: dropout gives each of them another vector. In row $i$, the sum leaves out
# every $j \ne i$ with `text[j] == text[i]`. All else stays as it is; copies in other rows, too.
#
# By hand: three pairs, `text` is (7, 7, 4), and scale · cosine is given:
#
# | | v0 | v1 | v2 | p |
# |---|---|---|---|---|
# | u0 | **2** | left out | 0 | e² / (e² + 1) = 0.881 |
# | u1 | left out | **1** | 0 | e / (e + 1) = 0.731 |
# | u2 | 0 | 0 | **1** | e / (e + 2) = 0.576 |
#
# The losses are 0.127, 0.313 and 0.551, their mean, before rounding, 0.331.
#
# - `u`, `v`: `(n, d_model)`, vectors of any norm but 0; `text`: integers `(n,)`; `scale`: a number, up to 100 (exp(100) is more than a
#   float32 holds)
# - returns a tensor without dimensions (what `.mean()` gives)
#
# <details><summary>Hint</summary>
#
# `text[:, None] == text` is true for copies, and on the diagonal. A score of −∞ has no share in a softmax.
#
# </details>


# %%
def ranking_loss(u, v, text, scale=20.0):
    """The mean of -log p; the other pairs' v are the wrong answers."""
    ### BEGIN SOLUTION
    scores = scale * F.normalize(u, dim=-1) @ F.normalize(v, dim=-1).T
    copies = (text[:, None] == text) & ~torch.eye(len(text), dtype=torch.bool)
    scores = scores.masked_fill(copies, float("-inf"))
    return F.cross_entropy(scores, torch.arange(len(u)))
    ### END SOLUTION


# %%
check("hw7.ranking_loss", ranking_loss)

# %% [markdown]
# With your answers, a last look (nothing to hand in here). Each of 40 word types has one vector, drawn at random, which is the same
# wherever the word stands. Every type has one real label. What does a probe get right, on occurrences that were not trained on, and what
# is its selectivity?

# %%
types = [f"word{i}" for i in range(40)]
real_label = {word: "ABC"[i % 3] for i, word in enumerate(types)}
vectors = torch.randn(40, 64)
numbers = torch.randint(40, (700,))
words = [types[i] for i in numbers]
real = [real_label[word] for word in words]
control = control_labels(words, real, torch.rand(40).tolist())

for name, labels in (("real", real), ("control", control)):
    train, dev, test = vectors[numbers][None].split([400, 100, 200], dim=1)
    ids = torch.tensor(["ABC".index(label) for label in labels])
    said = probe_layers(train, ids[:400], dev, ids[400:500], test)
    print(f"{name}: {(said == ids[500:]).float().mean():.0%}")

# %% [markdown]
# Both are right everywhere, and the selectivity is 0. Vectors without any meaning give a perfect probe: they say which word it is, and
# there are fewer types than numbers in a vector. An accuracy means something beside that of its control task, and not without it.
#
# ## Before you hand in
#
# Choose *Restart and run all* from the menu and see that every check says ✓: an answer that works only because of a cell you have
# since changed or deleted will not work for the grader either. Then hand in this one file; [how](../book/handing_in.md).
