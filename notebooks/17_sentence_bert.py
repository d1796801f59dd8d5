# %% [markdown]
# # Sentence-BERT
#
# Nine sentences, three subjects:
#
# - *A man is playing a guitar. Someone makes music on a string instrument. The guitarist performs a
#   song.*
# - *The stock market fell sharply today. Share prices dropped this morning. Investors lost money at
#   the exchange.*
# - *She is slicing an onion in the kitchen. A woman cuts vegetables for dinner. Somebody is
#   preparing a meal.*
#
# You see at once which belong together, although they share hardly a word. How could a program?
# Three tries: each makes one vector of every sentence and compares all pairs.

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

# %% tags=["hide-input"] mystnb={"image": {"alt": "Three 9 by 9 heat maps of cosines. Counted words: nearly empty except the diagonal and a few weak squares that follow no pattern. BERT's middle layer: medium to strong colour nearly everywhere; the middle three sentences stand out clearly, the first and the last three run into each other. Trained for it: three strong blocks of 3 by 3 on the diagonal, weak elsewhere, a third at most."}, "figure": {"caption": "Cosines of nine sentences: three about music, three about shares, three about cooking. First: counted words. Second: the mean of a BERT's vectors after its layer 2, the third of six. Third: the same BERT's last layer, which was trained to be compared."}}
import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from sklearn.feature_extraction.text import TfidfVectorizer

from lectures_lib.models import minilm
from lectures_lib.show import plots
from lectures_lib.tasks.sentence_bert import SentenceBert, cosines

nine = [
    "A man is playing a guitar.",
    "Someone makes music on a string instrument.",
    "The guitarist performs a song.",
    "The stock market fell sharply today.",
    "Share prices dropped this morning.",
    "Investors lost money at the exchange.",
    "She is slicing an onion in the kitchen.",
    "A woman cuts vegetables for dinner.",
    "Somebody is preparing a meal.",
]


def counted_words(texts, corpus=None):
    """How often each word is in each text, rare words counting more."""
    counter = TfidfVectorizer().fit(corpus or texts)
    return torch.tensor(counter.transform(texts).toarray(), dtype=torch.float)


def lower_layers(n):
    """MiniLM, cut off after its first n layers."""
    encoder = SentenceBert.from_pretrained(minilm.checkpoint())
    encoder.bert.encoder.blocks = encoder.bert.encoder.blocks[:n]
    return encoder


encoder = SentenceBert.from_pretrained(minilm.checkpoint())
lower = lower_layers(3)
tries = {
    "counted words": counted_words(nine),
    "BERT's middle": lower.embed(nine),
    "trained for it": encoder.embed(nine),
}
figure, axes = plots.small_multiples(3, columns=3, size=(2.4, 2.6))
for ax, (name, vectors) in zip(axes, tries.items(), strict=True):
    plots.heatmap(cosines(vectors, vectors).clamp(min=0), ax=ax, title=name, limit=1.0)
    ax.set_xticks([1, 4, 7], ["music", "shares", "cooking"])
    ax.set_yticks(
        [1, 4, 7], ["music", "shares", "cooking"] if ax is axes[0] else [""] * 3
    )
    ax.tick_params(length=0)
plt.show()

# %% tags=["remove-cell"]
subject = torch.arange(9) // 3
alike = (subject[:, None] == subject) & ~torch.eye(9, dtype=torch.bool)
differ = subject[:, None] != subject
gaps = {}
for name, vectors in tries.items():
    cosine = cosines(vectors, vectors)
    gaps[name] = (cosine[alike].min() - cosine[differ].max()).item()
assert gaps["trained for it"] > 0.05 and gaps["BERT's middle"] < 0
assert gaps["counted words"] < 0

# %% [markdown]
# The more a square stands out, the more alike two sentences are. (The BERT is MiniLM, the small one
# of [chapter 12](12_bert.ipynb).) **What does it take to turn the first two pictures into the
# third?**
#
# **After this chapter you can**
#
# - say what it costs to compare all pairs with BERT, and what a siamese encoder saves;
# - pool a sentence's vectors in three ways, with padding left out, and compute cosines by hand;
# - get the same sentence vectors as the library sentence-transformers from your own BERT, to
#   $10^{-6}$;
# - write three objectives (class, score, partner) in a line or two each, and train with them;
# - find padding in a mean, and a right answer that is counted as wrong.
#
# **Time** about 50 minutes. **You need** [chapter 12](12_bert.ipynb) and, for sentence pairs,
# [chapter 14](14_fine_tuning.ipynb).

# %% tags=["hide-input"]
import math
from copy import deepcopy

from sentence_transformers import SentenceTransformer
from torch import nn
from torch.testing import assert_close
from transformers.utils import logging

from lectures_lib import data
from lectures_lib.metrics import spearman
from lectures_lib.show.drawings import draw
from lectures_lib.tasks import sentence_bert
from lectures_lib.tasks.sentence_bert import SiameseBatches
from lectures_lib.training import fit

logging.disable_progress_bar()

# %% [markdown]
# ## Too many pairs
#
# BERT can already compare two sentences: feed it `[CLS]` A `[SEP]` B `[SEP]`, as in [chapter
# 14](14_fine_tuning.ipynb), and read the score off `[CLS]`. In every layer the words of A look at
# those of B, and that works well. Now take 10,000 sentences and find the two most alike. No pair
# has a score until the *pair* has been through the network.

# %% [markdown]
# **Predict.** To compare each of 10,000 sentences with each of the others, how many times does BERT run if it reads
# pairs? And how many times if it reads each sentence alone, and vectors are compared afterwards?
#
# <details><summary>Answer</summary>
#
# 49,995,000 times and 10,000 times: n(n − 1)/2 against n. A hundred million, the tempting 10,000 · 10,000, counts
# every pair twice and each sentence against itself. (The vectors still have to be compared 50 million times, but that
# is one matrix product.)
#
# </details>

# %%
n = 10_000
pairs = n * (n - 1) // 2
print(
    f"{pairs:,} passes for pairs, {n:,} for sentences: {pairs / n:,.1f} times as many"
)
print(f"65 hours for all pairs: {1000 * 65 * 3600 / pairs:.1f} ms for each")

# %% [markdown]
# Reimers and Gurevych (2019) state 65 hours for BERT on a V100 GPU, and 5 seconds with sentence
# vectors. In a search ([chapter 17b](17b_searching.ipynb)) every question would have to be paired
# with every text while somebody waits.
#
# So let each sentence have *one vector of its own*, computed once and stored. The price: whatever
# anyone may ask about the sentence later has to be in its vector, 384 numbers in MiniLM. A network
# that reads pairs is a **cross-encoder**; one that reads each text alone is a **bi-encoder**. Ours
# uses the same weights for both sides: it is **siamese**.

# %% tags=["remove-input"]
draw("two_encoders")

# %% [markdown]
# ## From many vectors to one
#
# BERT gives a vector for each token. Which one stands for the sentence? Three answers: the **mean**
# of all vectors, the vector of **[CLS]**, or the largest number in each component (**max**). By
# hand, for a sentence of three tokens with vectors of two numbers: (1, 4), (3, 0) and (2, 2). A
# longer sentence is in the same batch, so a fourth row is padding, and BERT has made (6, 6) of it.

# %% [markdown]
# **Predict.** What are the mean and the maximum of the three tokens? And what does
# `hidden.mean(dim=1)`, the line everybody writes first, give?
#
# <details><summary>Answer</summary>
#
# (2, 2) and (3, 4), the maximum with one component from each of two tokens. `hidden.mean(dim=1)`
# gives (3, 3): the padding is in it. Setting the padding to zero mends only half of that: divided
# by 4 in place of 3, the mean would be (1.5, 1.5). Padding must count neither in the sum nor in the
# number of tokens.
#
# </details>

# %%
hidden = torch.tensor([[[1.0, 4.0], [3.0, 0.0], [2.0, 2.0], [6.0, 6.0]]])  # (1, 4, 2)
lengths = torch.tensor([3])

real = (torch.arange(4) < lengths[:, None])[..., None]  # (1, 4, 1): True for tokens
mean = (hidden * real).sum(dim=1) / real.sum(dim=1)
cls = hidden[:, 0]
largest = hidden.masked_fill(~real, -math.inf).amax(dim=1)
print("mean", mean[0].tolist(), " [CLS]", cls[0].tolist(), " max", largest[0].tolist())
print("mean with the padding in it", hidden.mean(dim=1)[0].tolist())

# %% tags=["remove-input"]
draw("pooling")

# %% [markdown]
# `[CLS]` and `[SEP]` do count, by convention. As functions, for a batch of any size:


# %%
def real_tokens(hidden, lengths):
    """True where there is a token, False where there is padding, (batch, n, 1)."""
    batch, n, _ = hidden.shape
    places = torch.arange(n, device=hidden.device).expand(batch, n)
    lengths = torch.full_like(places[:, 0], n) if lengths is None else lengths
    return (places < lengths[:, None])[..., None]


def mean_pooling(hidden, lengths=None):
    """The mean of the tokens' vectors, padding left out."""
    real = real_tokens(hidden, lengths)
    return hidden.masked_fill(~real, 0.0).sum(dim=1) / real.sum(dim=1)


def max_pooling(hidden, lengths=None):
    """In every component the largest number that a token has there."""
    return hidden.masked_fill(~real_tokens(hidden, lengths), -torch.inf).amax(dim=1)


print(mean_pooling(hidden, lengths).tolist(), max_pooling(hidden, lengths).tolist())

# %% tags=["remove-cell"]
for ours, theirs in ((mean_pooling, mean), (max_pooling, largest)):
    assert_close(ours(hidden, lengths), theirs)
    assert_close(getattr(sentence_bert, ours.__name__)(hidden, lengths), theirs)
    assert_close(ours(hidden), getattr(sentence_bert, ours.__name__)(hidden))
assert_close(sentence_bert.cls_pooling(hidden, lengths), cls)

# %% [markdown]
# Two vectors are compared by the **cosine** of the angle between them,
# $\cos(u, v) = \frac{u \cdot v}{|u|\,|v|}$: 1 for the same direction, 0 for a right angle. Their
# lengths do not matter. For (3, 4) and (4, 3), both of length 5, it is 24/25. Once vectors are
# divided by their lengths, a cosine is a dot product, and a table of all cosines is one matrix
# product:


# %%
def cosines(u, v):
    """The cosine of every row of u with every row of v."""
    return F.normalize(u, dim=-1) @ F.normalize(v, dim=-1).T


u, v = torch.tensor([[3.0, 4.0]]), torch.tensor([[4.0, 3.0]])
print(f"{cosines(u, v).item():.2f}, and of 10u and v: {cosines(10 * u, v).item():.2f}")

# %% [markdown]
# Now the whole bi-encoder: word pieces, BERT, pooling, a vector of length 1. Texts are sorted by
# length, so that a batch holds little padding.


# %%
@torch.no_grad()
def embed(encoder, texts, batch_size=32):
    """A vector of length 1 for each text, in the order of the texts."""
    rows = [encoder.ids(text) for text in texts]  # [CLS], word pieces, [SEP]
    order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
    vectors = torch.empty(len(rows), encoder.bert.config.d_model)
    for start in range(0, len(rows), batch_size):
        places = order[start : start + batch_size]
        tokens, lengths = data.pad([rows[i] for i in places])
        hidden = encoder.bert(tokens, lengths=lengths).hidden  # (batch, n, 384)
        vectors[places] = F.normalize(mean_pooling(hidden, lengths), dim=-1)
    return vectors


# %% [markdown]
# Is it right? The library sentence-transformers, whose weights these are, has its own tokenizer,
# attention and pooling. (Both cut texts after 256 tokens.)

# %% tags=["atol=1e-6"]
theirs = SentenceTransformer(str(minilm.checkpoint()), device="cpu")
long = "All work and no play makes Jack a dull boy. " * 40
texts = [*nine, long, "Zażółć gęślą jaźń, 漢字 and 😀", "!?"]
expected = theirs.encode(texts, convert_to_tensor=True)
difference = (embed(encoder, texts) - expected).abs().max()
print(f"{len(texts)} vectors, ours and theirs: largest difference {difference:.7f}")
print(f"tokens of the long text: {len(encoder.ids(long))}, read by both")

# %% tags=["remove-cell"]
assert difference < 1e-6
assert_close(embed(encoder, nine), encoder.embed(nine))

# %% [markdown]
# ## Do cosines agree with people?
#
# For the STS Benchmark, people scored 8,628 pairs of sentences from 0 (about different things) to 5
# (the same meaning). A model's cosines need not *be* these scores; they should put the pairs into
# the same *order*. **Spearman's correlation** compares orders: it is Pearson's correlation of the
# ranks (the ordinary one: 1 where two lists lie on a rising line, 0 where neither says anything of
# that kind about the other). Four pairs, to which people gave 0, 1.5, 3 and 4.8, get cosines of 0.31, 0.35, 0.62 and
# 0.60 from a model.

# %% [markdown]
# **Predict.** The model has the last two the wrong way round. What is Spearman's correlation: 0.90, 0.80 or 0.50?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: 0.80 -->
#
# 0.80. The ranks are 1, 2, 3, 4 and 1, 2, 4, 3. With the differences $d$ of the ranks, the correlation is
# $1 - 6 \sum d^2 / (n (n^2 - 1)) = 1 - 6 \cdot 2 / 60$. (This short form needs numbers that all differ. Equal ones each get the mean of their ranks, and one takes Pearson's correlation of the ranks.) 0.90 is about what Pearson's correlation of the *numbers*
# gives, which hardly notices that 0.62 and 0.60 have changed places. 0.50 is too strict: half of the ranks are wrong,
# but only by one.
#
# </details>


# %%
def ranks(numbers):
    """1 for the smallest number, 2 for the next, …; all differ."""
    return torch.tensor(numbers).argsort().argsort() + 1.0


people, machine = [0.0, 1.5, 3.0, 4.8], [0.31, 0.35, 0.62, 0.60]
both = torch.stack([ranks(people), ranks(machine)])
print(both.tolist(), f"Spearman: {torch.corrcoef(both)[0, 1]:.2f}")
pearson = torch.corrcoef(torch.tensor([people, machine]))[0, 1]
print(f"Pearson, of the numbers themselves: {pearson:.2f}")

# %% tags=["remove-cell"]
assert math.isclose(torch.corrcoef(both)[0, 1], spearman(machine, people), rel_tol=1e-6)

# %% [markdown]
# A small set of the same kind, written for this book ([datasheet](../book/datasheet.md)): 160
# pairs, 96 of them for training.

# %%
similarity = {split: data.load("similarity", split) for split in data.SPLITS}
held_out = [*similarity["validation"], *similarity["test"]]
for pair in held_out[:3]:
    print(pair["score"], "|", pair["first"], "|", pair["second"])


# %%
def agreement(vectors_of, pairs=held_out):
    """Spearman's correlation of the pairs' cosines with the set's scores."""
    first, second = (
        vectors_of([pair[side] for pair in pairs]) for side in ("first", "second")
    )
    return spearman(
        F.cosine_similarity(first, second), [pair["score"] for pair in pairs]
    )


# %%
corpus = [pair[side] for pair in similarity["train"] for side in ("first", "second")]
word_agreement = agreement(lambda texts: counted_words(texts, corpus))
raw_agreement = agreement(lower.embed)
full_agreement = agreement(encoder.embed)
print(f"Spearman on {len(held_out)} pairs:")
print(f"  counted words            {word_agreement:.2f}")
print(f"  MiniLM after layer 2     {raw_agreement:.2f}")
print(f"  after its last layer     {full_agreement:.2f}")

# %% tags=["remove-cell"]
assert word_agreement < 0.4 < 0.55 < raw_agreement < 0.75 < 0.8 < full_agreement

# %% [markdown]
# These pairs were written so that shared words mislead; on real data, counting words does better.
# The next cell, switched on and online, asks STS-B's validation pairs.

# %%
STS_B = (
    False  # True: the 1,500 validation pairs of STS-B, from the hub or a mirror of it
)

if STS_B:
    real_pairs = data.load("similarity", "validation", "real")
    print(f"{real_pairs.origin}: {agreement(encoder.embed, real_pairs):.4f}")

# %% [markdown]
# We have asked them, layer by layer, with
# [`experiments/sentence_vectors.py`](https://github.com/from-attention-to-bert/course/blob/main/experiments/sentence_vectors.py)
# (Spearman; layers are counted from 0):
#
# | MiniLM's vectors | mean | [CLS] | max |
# |---|---|---|---|
# | the embeddings (before layer 0) | 0.669<!-- sentence_vectors: untrained/mean/input/spearman .3f --> | – | 0.731<!-- sentence_vectors: untrained/max/input/spearman .3f --> |
# | after layer 0 | 0.671<!-- sentence_vectors: untrained/mean/after_0/spearman .3f --> | 0.389<!-- sentence_vectors: untrained/cls/after_0/spearman .3f --> | 0.707<!-- sentence_vectors: untrained/max/after_0/spearman .3f --> |
# | after layer 2 | 0.630<!-- sentence_vectors: untrained/mean/after_2/spearman .3f --> | 0.429<!-- sentence_vectors: untrained/cls/after_2/spearman .3f --> | 0.738<!-- sentence_vectors: untrained/max/after_2/spearman .3f --> |
# | after layer 4 | 0.762<!-- sentence_vectors: untrained/mean/after_4/spearman .3f --> | 0.580<!-- sentence_vectors: untrained/cls/after_4/spearman .3f --> | 0.795<!-- sentence_vectors: untrained/max/after_4/spearman .3f --> |
# | after layer 5, the last | 0.8672<!-- sentence_vectors: untrained/mean/after_5/spearman .4f --> | 0.797<!-- sentence_vectors: untrained/cls/after_5/spearman .3f --> | 0.826<!-- sentence_vectors: untrained/max/after_5/spearman .3f --> |
#
# The best is the mean after the last layer, the one vector that was trained to be compared.
#
# Do the lower layers add anything? Their means (after layers 0 and 2) lose to counted words in
# which rare words weigh more (TF-IDF, 0.712<!-- sentence_vectors: untrained/tf_idf/spearman .3f
# -->). If rare words weigh more in the means as well, the means win. But then the mean of MiniLM's
# *static* vectors, the bare rows of its table, does about as well. So the means do not show that
# these layers add anything.
#
# <details><summary>In numbers</summary>
#
# | | counted words | static vectors | mean after layer 0 | mean after layer 2 |
# |---|---|---|---|---|
# | every word counts alike | 0.566<!-- sentence_weights: plain/counted .3f --> | 0.645<!-- sentence_vectors: untrained/static/spearman .3f --> | 0.671<!-- sentence_vectors: untrained/mean/after_0/spearman .3f --> | 0.630<!-- sentence_vectors: untrained/mean/after_2/spearman .3f --> |
# | rare words weigh more | 0.712<!-- sentence_vectors: untrained/tf_idf/spearman .3f --> | 0.768<!-- sentence_weights: weighted/static .3f --> | 0.776<!-- sentence_weights: weighted/after_0 .3f --> | 0.756<!-- sentence_weights: weighted/after_2 .3f --> |
#
# (The static vectors have no position, no LayerNorm, no `[CLS]` and no `[SEP]`.)
# [Measured](../book/results/features.md#sentence-weights).
#
# </details>
#
# And MiniLM's lower layers were trained along with the last. For BERT base fresh from pre-training
# the paper reports (test split, times 100) 46.35 with the mean, 16.50 with `[CLS]`, and 58.02 for
# averaged GloVe vectors, which are static. After siamese training on other data it is 77.03.
# Pre-training asks the words' vectors for *words*, and that of `[CLS]` only whether B follows A; nothing in it makes their mean, or `[CLS]`, stand for a sentence. That has to be trained; [three ways](#three-ways-to-train) follow.
#
# Each checkpoint goes with one pooling. MiniLM's is the mean: `[CLS]` gives 0.797 in place of
# 0.867, Hugging Face's `pooler_output`
# 0.793<!-- sentence_vectors: untrained/pooler/spearman .3f -->. Bad enough to matter, good enough
# to go unnoticed.
#
# **Your own sentences**: [Type your own](../book/your_own/sentences.md#near-by-meaning). Can you find two that
# mean the same and lie far apart?
#
# ## Three ways to train
#
# Two sentences go through the same encoder, and a loss looks at the vectors u and v. Which loss
# depends on what is known about the pair: its class, its score, or only that the two belong
# together.
#
# ### A class: softmax(W_t (u, v, |u − v|))
#
# For natural language inference, people marked pairs as entailment, neutral or contradiction. A
# linear layer sees u, v and the distance in each component, side by side, and gives a score for
# each class:


# %%
def by_class(u, v, label, W_t):
    """The cross-entropy of softmax(W_t (u, v, |u - v|)) with the label."""
    seen = torch.cat([u, v, (u - v).abs()], dim=-1)  # (batch, 3 d_model)
    return F.cross_entropy(W_t(seen), label)


u = torch.tensor([[3.0, 4.0], [1.0, 0.0]])
v = torch.tensor([[4.0, 3.0], [0.0, 2.0]])
print("first pair:", torch.cat([u, v, (u - v).abs()], dim=-1)[0].tolist())

W_t = nn.Linear(6, 3)  # 3n × k in the paper, for k classes
with torch.no_grad():
    W_t.weight.zero_(), W_t.bias.zero_()  # knows nothing yet: every class gets 1/3
loss = by_class(u, v, torch.tensor([0, 2]), W_t)
print(f"loss {loss:.3f} = ln 3")

# %% [markdown]
# After training, $W_t$ is thrown away, and the vectors are compared by cosine, which this loss
# never mentions.
#
# <details><summary>Why should that work?</summary>
#
# A layer that weighs $|u - v|$ can pull pairs of one class together. In the paper's table 6
# (Spearman on STS-B's development split, times 100), |u − v| alone reaches 69.78, u and v 66.04,
# all three 80.78.
#
# </details>
#
# ### A score: the cosine itself
#
# With scores as in STS-B, the cosine should be the score divided by 5, and the loss is the squared
# error. For the two pairs above, with scores of 4.5 and 1, the cosines are 0.96 and 0 and should be
# 0.9 and 0.2: (0.06² + 0.2²) / 2.


# %%
def by_score(u, v, score):
    """The mean squared error of the cosines; score: from 0 to 1."""
    cosine = (u * v).sum(dim=-1) / (u.norm(dim=-1) * v.norm(dim=-1))
    return ((cosine - score) ** 2).mean()


score = torch.tensor([4.5, 1.0]) / 5
print(f"loss {by_score(u, v, score):.4f}")

# %% tags=["remove-cell"]
assert_close(by_score(u, v, score), sentence_bert.cosine_regression(u, v, score))
seen = torch.cat([u, v, (u - v).abs()], dim=-1)
assert_close(sentence_bert.pair_features(u, v), seen)
assert abs(loss - math.log(3)) < 1e-6

# %% [markdown]
# ### A partner: in-batch negatives
#
# The third way needs no labels, only pairs that belong together: a question and its answer, a title
# and its text. Each u must find its own v among *all* v of the batch; the other pairs' partners
# serve as wrong answers. (Now and then one of them is a right answer, too: [What goes
# wrong](#the-right-answer-counted-as-wrong).) That is chapter 10's cross-entropy, with sentences in
# place of words.

# %% tags=["remove-input"]
draw("in_batch")


# %%
def by_partner(u, v, scale=20.0):
    """The cross-entropy of finding the own v among all v of the batch."""
    table = cosines(u, v)  # (batch, batch); the right answers stand on the diagonal
    return F.cross_entropy(scale * table, torch.arange(len(u)))


# %% tags=["remove-cell"]
torch.manual_seed(0)
u, v = torch.randn(4, 8), torch.randn(4, 8)
assert_close(by_partner(u, v), sentence_bert.in_batch_negatives(u, v))

# %% [markdown]
# Why is there a factor of 20? Take a batch of two. The first u has a cosine of 0.9 with its own v and of 0.3 with the
# other; for the second the cosines are 0.7 and 0.6.

# %% [markdown]
# **Predict.** Without the factor, what probability does the softmax give to the right v of the first row: 65 %, 75 %
# or 95 %?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: 65 % -->
#
# 65 %, and with the factor more than 99.9 %. A softmax sees only differences: 0.9 − 0.3 = 0.6, and
# $e^{0.6} / (e^{0.6} + 1)$ = 0.65. 75 % is 0.9 / (0.9 + 0.3), a share and no softmax. Times 20 the difference is
# 12. In the second row the lead is only 0.1: 52 %, and with the factor 88 %; there is still something to learn.
#
# </details>

# %%
good = torch.tensor([[0.9, 0.3], [0.6, 0.7]])
for scale in (1, 20):
    right = (scale * good).softmax(dim=-1).diag()
    print(f"scale {scale:2}: probability of the right one", [f"{p:.3f}" for p in right])

# %% [markdown]
# A cosine is at most 1. Without a factor, even a perfect vector would give its partner hardly any
# probability among a thousand candidates, and the loss could never become small. 20 is one over a
# **temperature** of 0.05. (Papers call this loss InfoNCE.) One step on a circle: [Mechanisms in
# motion](../book/motion.md#together-and-apart).
#
# MiniLM was made this way, its README says: in 100,000 steps of 1,024 pairs. That makes a hundred
# million pairs, drawn from 1.17 billion (comments and replies, questions and answers). (Before that, a
# larger model had taught it: [chapter
# 18b](18b_what_it_costs.ipynb#distillation-a-smaller-model-taught-by-a-larger-one).)
#
# Losses that push strangers apart are called **contrastive**; exercise 2 has an older one.
#
# ## Live
#
# One encoder is trained, and both sentences of a pair go through it (`pooled` is BERT and
# `mean_pooling`):


# %%
class Siamese(nn.Module):
    """One encoder, used twice, and the layer that classification needs."""

    def __init__(self, encoder, n_classes=0):
        super().__init__()
        self.encoder = encoder
        self.W_t = (
            nn.Linear(3 * encoder.bert.config.d_model, n_classes) if n_classes else None
        )

    def forward(self, batch):
        u = self.encoder.pooled(batch.first, batch.first_lengths)
        v = self.encoder.pooled(batch.second, batch.second_lengths)
        return u, v


# %% [markdown]
# We start from `lower`, MiniLM cut off after layer 2, and train only the last of its three layers,
# for 15 steps of 16 pairs. The regression sees our 96 scored pairs; the classification sees the
# same pairs, their scores in three classes (apart, related, the same). The in-batch negatives see
# only pairs that belong together: those with a score of 4 or more, and from the entailment set each
# sentence with one that follows from it.


# %% tags=["hide-input"]
def sides(examples):
    """Only the sentences."""
    return [(example["first"], example["second"]) for example in examples]


scored = similarity["train"]
together = [pair for pair in scored if pair["score"] >= 4]
together += [pair for pair in data.load("entailment", "train") if pair["label"] == 0]
print(len(scored), "pairs with a score,", len(together), "that belong together")

objectives = {
    "regression": (
        lambda model, batch: by_score(*model(batch), batch.label),
        sides(scored),
        [pair["score"] / 5 for pair in scored],
    ),
    "classification": (
        lambda model, batch: by_class(*model(batch), batch.label.long(), model.W_t),
        sides(scored),
        [min(int(3 * pair["score"] / 5), 2) for pair in scored],
    ),
    "in-batch negatives": (
        lambda model, batch: by_partner(*model(batch)),
        sides(together),
        None,
    ),
}


def train(loss, pairs, labels, seed, steps=15, learns=True):
    """MiniLM's first three layers, the last of them (if it learns) siamese-trained."""
    torch.manual_seed(seed)
    encoder = deepcopy(lower)
    encoder.bert.requires_grad_(False)
    encoder.bert.encoder.blocks[-1].requires_grad_(learns)
    for module in encoder.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0  # as in the fine-tuning of chapter 14
    model = Siamese(encoder, n_classes=3)
    optimizer = torch.optim.AdamW(
        [weight for weight in model.parameters() if weight.requires_grad],
        lr=8e-4,
        fused=True,
    )
    batches = SiameseBatches(encoder, pairs, labels, batch_size=16, seed=seed)
    history = fit(
        model, batches, loss, optimizer, steps=steps, clip=1.0, progress=False
    )
    return encoder, history.losses


# %% [markdown]
# **Predict.** Before training, Spearman's correlation is about 0.67. After 15 steps, which of the
# three objectives have brought it up, and does one of them bring nothing?
#
# <details><summary>Answer</summary>
#
# The regression, to 0.75 with each seed: it is trained on the very thing that is measured, the
# cosine. The in-batch negatives, which see no score at all, end between 0.69 and 0.74. With the
# classification it is a matter of luck: our three seeds end between 0.65 and 0.71, and with five
# others the correlation moves by -0.01<!-- other_seeds: chapter_17/classification_rise/min .2f -->
# to 0.02<!-- other_seeds: chapter_17/classification_rise/max .2f -->, although the loss falls by
# half. The vectors do change: with the body frozen, $W_t$ alone brings the loss only to 0.90. But
# that loss never asks for an angle.
#
# </details>

# %% tags=["atol=0.08"]
reached = {}
print(f"{'':18}  first loss  last loss   Spearman, three seeds")
for name, rest in objectives.items():
    runs = [train(*rest, seed) for seed in range(3)]
    _, losses = runs[0]
    reached[name] = [agreement(encoder.embed) for encoder, _ in runs]
    print(f"{name:18} {losses[0]:11.2f} {losses[-1]:10.2f}  ", end="")
    print(*(f"{value:6.2f}" for value in reached[name]))
_, losses = train(*objectives["classification"], seed=0, learns=False)
print(f"{'classes, W_t alone':18} {losses[0]:11.2f} {losses[-1]:10.2f}")

# %% tags=["remove-cell"]
assert min(reached["regression"]) > raw_agreement + 0.04
assert min(reached["regression"]) > max(reached["classification"]) + 0.01
mean = {name: sum(of_seeds) / 3 for name, of_seeds in reached.items()}
assert abs(mean["classification"] - raw_agreement) < 0.05
assert mean["in-batch negatives"] > raw_agreement + 0.01

# %% tags=["hide-input"] mystnb={"image": {"alt": "Four bars of Spearman's correlation on 64 pairs. Before training about 0.67; after regression clearly higher, after classification about the same, after in-batch negatives somewhat higher; dots for three seeds lie on one another after regression and apart after the others. A dashed line for counted words lies near 0.2, another for all of MiniLM above 0.85."}, "figure": {"caption": "Agreement with the set's scores on 64 pairs that were not trained on: three layers of MiniLM before training and after 15 steps with each objective. Bars: means of three seeds; dots: each seed."}}
figure, ax = plt.subplots(figsize=(6.8, 3.0))
bars = {"before": [raw_agreement], **reached}
colours = [plots.GREY, plots.BLUE, plots.GREEN, plots.ORANGE]
labels = [name.replace(" ", "\n") for name in bars]
ax.bar(labels, [sum(ys) / len(ys) for ys in bars.values()], color=colours, width=0.6)
for label, ys in list(zip(labels, bars.values(), strict=True))[1:]:
    ax.plot([label] * len(ys), ys, "o", color=plots.INK, markersize=4)
for height, name in (
    (word_agreement, "counted words"),
    (full_agreement, "all of MiniLM"),
):
    plots.reference(ax, height, name, "right")
ax.set(xlim=(-0.6, 4.6), ylim=(0, 1), ylabel="Spearman")
plt.show()

# %% [markdown]
# For the classification, 96 pairs are few: the paper had a million. Nor do the bars rank the
# methods: as a part of MiniLM, these layers had already been trained by cosines.
#
# ### Wrong partners that are hard to tell
#
# The in-batch negatives end at a loss of 0.00: among sixteen candidates the right partner is soon
# found. So each pair gets one more wrong partner, a **hard negative**: of all other second
# sentences, the one that the encoder finds nearest before training. Each u now chooses among 32.
# (If one pair's hard negative is another's right answer, `own` takes it out of the other pair's
# row.)


# %%
first, second = zip(*sides(together), strict=True)
near = cosines(lower.embed(first), lower.embed(second))  # (pairs, pairs)
right = torch.tensor([[b in pair for b in second] for pair in sides(together)])


def by_harder(wrong):
    """by_partner, with one more wrong partner for each pair: the sentence wrong[i]."""

    def loss(model, batch):
        u, v = model(batch)
        places = batch.label.long().tolist()  # of the batch's pairs among all
        ids = [model.encoder.ids(wrong[i]) for i in places]
        harder = cosines(u, model.encoder.pooled(*data.pad(ids)))
        own = [[wrong[j] == second[i] for j in places] for i in places]
        harder = harder.masked_fill(torch.tensor(own), -torch.inf)
        table = torch.cat([cosines(u, v), harder], dim=1)  # (batch, 2 batch)
        return F.cross_entropy(20 * table, torch.arange(len(u)))

    return loss


i = first.index("The ferry was late because of the fog.")
hard = near.masked_fill(right, -1).argmax(dim=1)
print(first[i], "|", second[i], "| not:", second[hard[i]])

# %% [markdown]
# **Predict.** The same 15 steps, three seeds, with the nearest wrong partners; and, as a control,
# with random ones. Does the loss end at 0.00 again? And does Spearman's correlation rise over that
# of the plain in-batch negatives by a tenth, by some hundredths, or hardly?
#
# <details><summary>Answer</summary>
#
# With both, the loss begins higher and ends at 0.00 again: in 15 steps each of the 79 pairs comes
# up three times, and by then even the hard partners are told apart. The correlation hardly rises,
# by about a hundredth with the nearest ones, which three seeds do not tell from nothing. "Harder is
# better" is the practice for large collections; 79 pairs and 15 steps cannot show it.
#
# </details>

# %% tags=["atol=0.25"]
torch.manual_seed(0)
for name, order in {"at random": torch.rand(near.shape), "the nearest": near}.items():
    wrong = [second[j] for j in order.masked_fill(right, -1).argmax(dim=1)]
    numbered = sides(together), list(range(len(together)))
    runs = [train(by_harder(wrong), *numbered, seed) for seed in range(3)]
    reached[name] = [agreement(encoder.embed) for encoder, _ in runs]
    begins, ends = (sum(losses[step] for _, losses in runs) / 3 for step in (0, -1))
    print(f"{name:11} mean loss, first {begins:.2f}, last {ends:.2f}  ", end="")
    print(*(f"{value:6.2f}" for value in reached[name]))

# %% tags=["remove-cell"]
plain, _, harder = (sum(of) / 3 for of in list(reached.values())[2:])
assert begins > 0.2 and ends < 0.05 and -0.02 < harder - plain < 0.05

# %% [markdown]
# ### With more to learn from
#
# Now all three layers are trained, for 150 steps of 16 pairs from STS-B's 5,749 training pairs
# ([beside what others trained](../book/models.md)). The table has Spearman on the validation split
# and the mean cosine of sentences from different pairs, as means of three seeds. (The last loss
# pushes unlike pairs apart, up to a margin.)
#
# | trained with | Spearman | cosine |
# |---|---|---|
# | nothing | 0.630<!-- sentence_vectors: before/spearman .3f --> | 0.43<!-- sentence_vectors: before/random_pairs .2f --> |
# | regression | 0.807<!-- sentence_vectors: siamese/regression/spearman/mean .3f --> | 0.05<!-- sentence_vectors: siamese/regression/random_pairs/mean .2f --> |
# | classification, three classes | 0.740<!-- sentence_vectors: siamese/classification/spearman/mean .3f --> | 0.43<!-- sentence_vectors: siamese/classification/random_pairs/mean .2f --> |
# | in-batch negatives (scores of 4 or more) | 0.784<!-- sentence_vectors: siamese/in_batch/spearman/mean .3f --> | 0.10<!-- sentence_vectors: siamese/in_batch/random_pairs/mean .2f --> |
# | pairs and a margin (`contrastive_pairs`) | 0.808<!-- sentence_vectors: siamese/margin/spearman/mean .3f --> | 0.33<!-- sentence_vectors: siamese/margin/random_pairs/mean .2f --> |
#
# All four end above the counted words
# (0.712<!-- sentence_vectors: untrained/tf_idf/spearman .3f -->), though the worst seed of the
# classification only just
# (0.714<!-- sentence_vectors: siamese/classification/spearman/min .3f -->). Where the loss speaks
# of cosines, the training also opens the angles (last column). None reaches all of MiniLM, with six
# layers and a hundred million pairs behind it.
#
# <details><summary>And today?</summary>
#
# Today's text encoders are trained in the same way, on more and better pairs. Many are decoders,
# some want a word before each text ("query:", "passage:"), and some give vectors that may be cut
# off after 64 numbers (*Matryoshka*). [MTEB](https://arxiv.org/abs/2210.07316) compares them on
# many tasks: a model that is good at STS may be bad at searching.
#
# </details>

# %% [markdown]
# ## What goes wrong
#
# ### Padding in the mean
#
# The man with the guitar again, in a batch with a long text, pooled with `hidden.mean(dim=1)`:

# %%
rows = [encoder.ids(text) for text in (nine[0], long)]
tokens, lengths = data.pad(rows)
with torch.no_grad():
    hidden = encoder.bert(tokens, lengths=lengths).hidden
careless = F.normalize(hidden.mean(dim=1), dim=-1)[0]
alone = encoder.embed([nine[0]])[0]
masked = F.normalize(mean_pooling(hidden, lengths), dim=-1)[0]
print(f"cosine to the same sentence alone: masked mean {masked @ alone:.2f}", end=", ")
print(f"mean over everything {careless @ alone:.2f}")

# %% [markdown]
# The vector depends on what else is in the batch. A test in which all texts have the same length
# would not find this.
#
# ### The right answer counted as wrong
#
# If a pair stands in the batch twice, each copy is told that the other copy's answer is wrong,
# although it is the same as its own. Even perfect vectors then have a loss that no training
# removes:

# %%
perfect = torch.eye(4)
twice = perfect[[0, 0, 1, 2]]  # pairs 0 and 1 are the same pair
for name, vectors in (("four different", perfect), ("one twice", twice)):
    print(f"{name:14} loss {by_partner(vectors, vectors):.3f}")
print(f"half the rows are a coin toss: {math.log(2) / 2:.3f}")

same = cosines(twice, twice) > 0.999
logits = (20 * cosines(twice, twice)).masked_fill(
    same & ~torch.eye(4).bool(), -math.inf
)
print(f"duplicates left out: loss {F.cross_entropy(logits, torch.arange(4)):.3f}")

# %% [markdown]
# This floor does no harm: u is pulled to one copy as hard as it is pushed from the other, and the
# two cancel. The harm comes from a second right answer in *other words*. Let pair 1 be a paraphrase
# of pair 0, at some cosine to it:

# %%
for cosine in (1.0, 0.95, 0.9, 0.5):
    paraphrase = torch.tensor([cosine, math.sqrt(1 - cosine**2), 0.0, 0.0])
    vectors = torch.stack([perfect[0], paraphrase, perfect[2], perfect[3]])
    loss = by_partner(vectors, vectors)
    print(f"cosine of the paraphrases {cosine:.2f}: loss {loss:.3f}")

# %% [markdown]
# The further apart they are, the smaller the loss: the training learns to separate what belongs
# together. So texts that mean the same should be left out of each other's rows. Equal texts are
# easy to find, paraphrases are not. And a search for *hard* negatives, texts that look like an
# answer and are none, brings up many that do answer ([RocketQA](https://arxiv.org/abs/2010.08191)).

# %% [markdown]
# ## Exercises
#
# Ungraded; a solution is folded below each.
#
# **Exercise 1. The factor.** Four pairs with perfect vectors: each u equals its own v, at a right
# angle to the others. How small is the loss of `by_partner` with a factor of 1, 5 and 20? And with
# 1,024 such pairs? Work out the formula first.

# %% tags=["hide-cell", "atol=0.002"]
# Solution 1
for scale in (1, 5, 20):
    four = by_partner(torch.eye(4), torch.eye(4), scale)
    many = by_partner(torch.eye(1024), torch.eye(1024), scale)
    formula = math.log(1 + 1023 * math.exp(-scale))  # the right one e^scale, others e^0
    print(
        f"scale {scale:2}: 4 pairs {four:.3f}, 1,024 pairs {many:.3f} ({formula:.3f})"
    )

# %% [markdown]
# **Exercise 2. Triplets.** The paper's third objective wants a sentence $a$ to be closer to a right
# partner $p$ than to a wrong one $n$, by a margin: $\max(|a - p| - |a - n| + 1,\, 0)$, with
# ordinary distances. Write it for batches, compare it with `F.triplet_margin_loss`, and apply it to
# MiniLM's vectors of *The dog bit the man*, *The man was bitten by the dog* ($p$) and *The man bit
# the dog* ($n$). What is the loss, and what would it be with $p$ and $n$ exchanged?

# %% tags=["hide-cell", "atol=0.02"]
# Solution 2


def by_triplet(a, p, n, margin=1.0):
    """Pull the right partner nearer than the wrong one, by a margin."""
    right, wrong = (a - p).norm(dim=-1), (a - n).norm(dim=-1)
    return F.relu(right - wrong + margin).mean()


bitten = [
    "The dog bit the man.",
    "The man was bitten by the dog.",
    "The man bit the dog.",
]
a, p, n = encoder.embed(bitten)[:, None]
print(f"ours {by_triplet(a, p, n):.2f}, torch {F.triplet_margin_loss(a, p, n):.2f}")
print(f"distances: right {(a - p).norm():.2f}, wrong {(a - n).norm():.2f}")
# |a - p|² = 2 - 2 cos: vectors of length 1 are at most 2 apart, so a margin of 1 is
# large.
print(f"with the two exchanged: {by_triplet(a, n, p):.2f}")

# %% [markdown]
# **Exercise 3. Opening the angles without training.** Vectors that all point the same way have
# large cosines whatever they say. Subtract the mean vector of the training sentences from every
# vector of `lower.embed`. What becomes of the mean cosine of sentences from different pairs, and of
# Spearman's correlation?

# %% tags=["hide-cell", "atol=0.02"]
# Solution 3
training = [pair[side] for pair in scored for side in ("first", "second")]
centre = lower.embed(training).mean(dim=0)

for name, shift in (("as they are", 0.0), ("mean subtracted", centre)):
    vectors = lower.embed([pair["first"] for pair in held_out]) - shift
    between = cosines(vectors, vectors)[~torch.eye(len(vectors), dtype=torch.bool)]
    order = agreement(lambda texts, shift=shift: lower.embed(texts) - shift)
    print(f"{name:15} mean cosine {between.mean():.2f}, Spearman {order:.2f}")
# One direction was common to all vectors. Without it the angles open; the order of the
# pairs gets only a little better.

# %% [markdown]
# ## Summary
#
# 1. A cross-encoder reads n(n − 1)/2 pairs; a bi-encoder reads n texts, and vectors are compared
#    afterwards.
# 2. A sentence's vector is the mean of its tokens' vectors, padding left out; two are compared by
#    their cosine. Spearman's correlation asks whether cosines order pairs as people do.
# 3. The means after MiniLM's layers 0 and 2 do worse on STS-B than counted words whose rare words
#    weigh more (TF-IDF). Weighted in the same way they do better, but only about as well as static
#    vectors. Siamese training by cosines helps.
# 4. Three objectives: a class from (u, v, |u − v|); the score that the cosine should have; the
#    right partner among all of the batch, by cosines times 20.
# 5. In-batch negatives take every other partner for wrong. A second right answer in other words is
#    pushed away like the rest.
#
# **Homework 7**, questions 6 to 8, is about this chapter:
# [exercises](../exercises/hw7_probing_and_sentences.ipynb).
#
# **Next:** [chapter 17b](17b_searching.ipynb) searches this book with these vectors.
#
# ## References
#
# - Nils Reimers and Iryna Gurevych (2019). *Sentence-BERT: sentence embeddings using Siamese
#   BERT-networks.* EMNLP. [arXiv:1908.10084](https://arxiv.org/abs/1908.10084). Abstract, section
#   3, tables 1 and 6.
# - Daniel Cer et al. (2017). *SemEval-2017 task 1: semantic textual similarity.* SemEval. The STS
#   Benchmark.
# - Matthew Henderson et al. (2017). *Efficient natural language response suggestion for Smart
#   Reply.* [arXiv:1705.00652](https://arxiv.org/abs/1705.00652). In-batch negatives.
# - Raia Hadsell, Sumit Chopra and Yann LeCun (2006). *Dimensionality reduction by learning an
#   invariant mapping.* CVPR. The contrastive loss.
# - Wenhui Wang et al. (2020). *MiniLM: deep self-attention distillation for task-agnostic
#   compression of pre-trained Transformers.* NeurIPS. The weights are
#   [all-MiniLM-L6-v2](https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2).
# - The [lectures](../book/references.md) mention Sentence-BERT for its cosines (UMass CS 485).
