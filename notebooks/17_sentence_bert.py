# %% [markdown]
# # Sentence-BERT
#
# Nine sentences, three subjects. You see at once which belong together, although they share hardly a word: *Share
# prices dropped this morning* says nearly what *The stock market fell sharply today* says. How would a program find
# that out?
#
# Below are three tries. Each turns every sentence into one vector and compares each with each; dark means alike.
# **What does it take to turn the left and the middle picture into the right one?**

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

# %% tags=["hide-input"] mystnb={"image": {"alt": "Three 9 by 9 heat maps of cosines. Counted words: nearly white except the diagonal and a few pale squares that follow no pattern. BERT's middle layer: medium to dark blue nearly everywhere; the first three and the last three sentences look alike, only the middle three stand out a little. Trained for it: three dark blocks of 3 by 3 on the diagonal, nearly white elsewhere."}, "figure": {"caption": "Cosines of nine sentences: three about music, three about shares, three about cooking. Left: counted words. Middle: the mean of a BERT's vectors after its layer 2. Right: the same BERT's last layer, which was trained to be compared."}}
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
    """A vector for each text: how often each word is in it, rare words counting more."""
    counter = TfidfVectorizer().fit(corpus or texts)
    return torch.tensor(counter.transform(texts).toarray(), dtype=torch.float)


def lower_layers(n):
    """MiniLM, cut off after its first n layers."""
    encoder = SentenceBert.from_pretrained(minilm.checkpoint())
    encoder.bert.encoder.blocks = encoder.bert.encoder.blocks[:n]
    return encoder


encoder = SentenceBert.from_pretrained(minilm.checkpoint())
tries = {
    "counted words": counted_words(nine),
    "BERT's middle": lower_layers(3).embed(nine),
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
# **After this chapter you can**
#
# - say what it costs to compare all pairs with BERT, and what a siamese encoder saves;
# - pool a sentence's vectors in three ways, with padding left out, and compute cosines by hand;
# - get the same sentence vectors as the library sentence-transformers from your own BERT, to $10^{-6}$;
# - write the three objectives (classification, regression, contrastive) in a few lines each, and train with them;
# - search a text by meaning, measure whether that beats counting words, and name what a cosine does not see.
#
# **Time** about 75 minutes. **You need** [chapter 12](12_bert.ipynb) and, for sentence pairs, [chapter
# 14](14_fine_tuning.ipynb).

# %%
import math
import warnings

from sentence_transformers import SentenceTransformer
from torch import nn
from torch.testing import assert_close
from transformers.utils import logging

from lectures_lib import data
from lectures_lib.data.book import book_questions, book_sections
from lectures_lib.metrics import spearman
from lectures_lib.show import source
from lectures_lib.tasks import sentence_bert
from lectures_lib.tasks.sentence_bert import Siamese, SiameseBatches
from lectures_lib.training import fit

logging.disable_progress_bar()

# %% [markdown]
# ## Fifty million pairs
#
# BERT can already say whether two sentences mean the same: feed it `[CLS]` A `[SEP]` B `[SEP]`, as in [chapter
# 14](14_fine_tuning.ipynb), and read the score off `[CLS]`. Words of A look at words of B in every layer, and that
# works well. Now take 10,000 sentences and look for the two that are most alike. The score of a pair exists only once
# the *pair* has been through the network:

# %%
n = 10_000
pairs = n * (n - 1) // 2
print(f"{pairs:,} passes for pairs, {n:,} for sentences: {pairs // n:,} times as many")
seconds = 65 * 3600 / pairs
print(f"65 hours for all pairs are {1000 * seconds:.1f} ms for each")

# %% [markdown]
# 65 hours is what Reimers and Gurevych (2019) state for BERT, on the GPU of its day; what remains with sentence
# vectors they put at 5 seconds. In a search, nothing could even be computed beforehand: every new question would have
# to be paired with every text there is, while somebody waits.
#
# If each sentence has *one vector of its own*, it is computed once and stored, and two sentences are compared by a
# dot product. The price: the two never see each other. All that anyone may ask about a sentence later has to be in
# its 384 numbers. An encoder that reads pairs is called a **cross-encoder**; one that reads each text by itself a
# **bi-encoder**. Because it is the same network on both sides, with the same weights, one also says **siamese**.

# %% tags=["hide-input"] mystnb={"image": {"alt": "Two drawings. Left, cross-encoder: the boxes sentence A and sentence B lead into one box BERT, which leads to a score. Right, bi-encoder: sentence A leads up through BERT and pooling to the vector u, sentence B through another BERT and pooling to the vector v, the two BERTs joined by an equals sign; u and v lead to cosine."}, "figure": {"caption": "Left, a cross-encoder: nothing can be computed before both sentences are known. Right, a bi-encoder: u and v can be kept."}}
_, axes = plt.subplots(1, 2, figsize=(7.2, 3.2))
boxes = {
    0: [
        (0.3, 0, "sentence A"),
        (1.7, 0, "sentence B"),
        (1.0, 1.2, "BERT"),
        (1.0, 2.4, "score"),
    ],
    1: [
        (0.3, 0, "sentence A"),
        (1.7, 0, "sentence B"),
        (0.3, 0.85, "BERT"),
        (1.7, 0.85, "BERT"),
        (0.3, 1.65, "pooling: u"),
        (1.7, 1.65, "pooling: v"),
        (1.0, 2.4, "cosine"),
    ],
}
arrows = {
    0: [(0, 2), (1, 2), (2, 3)],
    1: [(0, 2), (1, 3), (2, 4), (3, 5), (4, 6), (5, 6)],
}
for i, (ax, title) in enumerate(
    zip(axes, ("Cross-encoder", "Bi-encoder"), strict=True)
):
    for start, end in arrows[i]:
        (x0, y0, _), (x1, y1, _) = boxes[i][start], boxes[i][end]
        line = {"arrowstyle": "-|>", "color": plots.GREY, "shrinkA": 12, "shrinkB": 12}
        ax.annotate("", (x1, y1), (x0, y0), arrowprops=line)
    for x, y, text in boxes[i]:
        model = text == "BERT"
        style = {
            "boxstyle": "round,pad=0.4",
            "facecolor": plots.BLUE if model else "white",
            "edgecolor": plots.BLUE if model else plots.GREY,
        }
        colour = "white" if model else "black"
        ax.text(x, y, text, ha="center", va="center", bbox=style, color=colour)
    if i:
        ax.text(1.0, 0.85, "=", ha="center", va="center", size=18, color=plots.BLUE)
    ax.set(xlim=(-0.5, 2.5), ylim=(-0.4, 2.8), title=title)
    ax.set_axis_off()
plt.show()

# %% [markdown]
# ## From many vectors to one
#
# BERT gives a vector for each token. Which one stands for the sentence? Three answers are in use: the **mean** of
# all, the vector of **[CLS]**, or in each component the largest number (**max**). By hand, for a sentence of three
# tokens with vectors of two numbers; the fourth row is padding.

# %%
hidden = torch.tensor([[[1.0, 4.0], [3.0, 0.0], [2.0, 2.0], [6.0, 6.0]]])  # (1, 4, 2)
lengths = torch.tensor([3])

real = (torch.arange(4) < lengths[:, None])[..., None]  # (1, 4, 1): True for tokens
mean = (hidden * real).sum(dim=1) / real.sum(dim=1)
cls = hidden[:, 0]
largest = hidden.masked_fill(~real, -math.inf).amax(dim=1)
print("mean", mean[0].tolist(), " [CLS]", cls[0].tolist(), " max", largest[0].tolist())
print("mean with the padding in it", hidden.mean(dim=1)[0].tolist())

# %% [markdown]
# The mean of (1, 4), (3, 0), (2, 2) is (2, 2). Padding must not count, neither in the sum nor in the number of tokens
# one divides by. `[CLS]` and `[SEP]` do count; that is convention. The same in the library:

# %%
source.show(sentence_bert.mean_pooling, docstring=False)

# %%
assert_close(sentence_bert.mean_pooling(hidden, lengths), mean)
assert_close(sentence_bert.cls_pooling(hidden, lengths), cls)
assert_close(sentence_bert.max_pooling(hidden, lengths), largest)

# %% [markdown]
# Two vectors are compared by the **cosine** of the angle between them, $\cos(u, v) = \frac{u \cdot v}{|u|\,|v|}$: 1
# for the same direction, 0 for a right angle. Lengths do not matter. For (3, 4) and (4, 3), both of length 5, it is
# 24/25:

# %%
u, v = torch.tensor([[3.0, 4.0]]), torch.tensor([[4.0, 3.0]])
print(f"{cosines(u, v).item():.2f}, and of 10u and v: {cosines(10 * u, v).item():.2f}")

# %% [markdown]
# If all vectors are divided by their length first, the cosine is a dot product, and a table of all cosines is one
# matrix product. That is everything: BERT, pooling, normalising.

# %%
source.show(SentenceBert.pooled, docstring=False)

# %%
source.show(SentenceBert.forward, docstring=False)

# %%
source.show(SentenceBert.embed, docstring=False)

# %% [markdown]
# `embed` sorts the texts by length so that a batch holds little padding, and puts the vectors back in the order in
# which the texts came. A text longer than `max_len` tokens is cut. MiniLM has 512 positions, but its makers let it
# read 256, and so do we.
#
# Is it right? The weights come from the project sentence-transformers, whose library has an `encode` of its own. Its
# tokenizer, its attention, its pooling against ours:

# %%
theirs = SentenceTransformer(str(minilm.checkpoint()), device="cpu")
long = "All work and no play makes Jack a dull boy. " * 40
texts = [*nine, long, "Zażółć gęślą jaźń, 漢字 and 😀", "!?"]
expected = theirs.encode(texts, convert_to_tensor=True)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # `long` is meant to be cut
    ours = encoder.embed(texts)
assert (ours - expected).abs().max() < 1e-6
print("12 sentence vectors, ours and theirs: largest difference < 1e-6")
print(f"tokens of the long text: {len(encoder.ids(long))}, read by both")

# %% [markdown]
# ## Do cosines agree with people?
#
# There are data for it. For the STS Benchmark people gave 8,628 pairs of sentences a score from 0 (about different
# things) to 5 (the same meaning), and the mean over several people was kept. A model's cosines need not *be* these
# scores; they should put the pairs into the same *order*. **Spearman's correlation** compares orders: it is Pearson's
# correlation of the ranks.

# %%
people = [0.0, 1.5, 3.0, 4.8]
model = [0.31, 0.35, 0.62, 0.60]  # the last two the wrong way round
ranks = torch.tensor([[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 4.0, 3.0]])
by_hand = torch.corrcoef(ranks)[0, 1].item()
assert math.isclose(by_hand, spearman(model, people), rel_tol=1e-6)
print(f"Spearman: {by_hand:.2f}")

# %% [markdown]
# Offline we have a small set of this kind that was written for this book: 160 pairs, 96 of them for training. (What
# it is and is not: the [datasheet](../book/datasheet.md).)

# %%
similarity = {split: data.load("similarity", split) for split in data.SPLITS}
held_out = [*similarity["validation"], *similarity["test"]]
for pair in held_out[:3]:
    print(pair["score"], "|", pair["first"], "|", pair["second"])


def agreement(embed, pairs=held_out):
    """Spearman's correlation of the pairs' cosines with the set's scores."""
    first, second = (
        embed([pair[side] for pair in pairs]) for side in ("first", "second")
    )
    return spearman(
        F.cosine_similarity(first, second), [pair["score"] for pair in pairs]
    )


corpus = [pair[side] for pair in similarity["train"] for side in ("first", "second")]
word_agreement = agreement(lambda texts: counted_words(texts, corpus))
raw_agreement = agreement(lower_layers(3).embed)
full_agreement = agreement(encoder.embed)
print(f"{len(held_out)} pairs: counted words {word_agreement:.2f},", end=" ")
print(
    f"MiniLM after layer 2 {raw_agreement:.2f}, after its last layer {full_agreement:.2f}"
)

# %% tags=["remove-cell"]
assert word_agreement < 0.4 < 0.55 < raw_agreement < 0.75 < 0.8 < full_agreement

# %%
STS_B = False  # True: the validation pairs of STS-B, from the hub or a mirror of it

if STS_B:
    real_pairs = data.load("similarity", "validation", "real")
    print(f"{real_pairs.origin}: {agreement(encoder.embed, real_pairs):.4f}")
else:
    print("not run here")

# %% [markdown]
# The pairs were written so that shared words mislead, and counting them does badly. On the real data that is
# different.
# [`experiments/sentence_vectors.py`](https://github.com/from-attention-to-bert/course/blob/main/experiments/sentence_vectors.py)
# has put the 1,500 validation pairs of STS-B through the code above, layer by layer (Spearman):
#
# | MiniLM's vectors | mean | [CLS] | max |
# |---|---|---|---|
# | that go in | 0.669<!-- sentence_vectors: untrained/mean/input/spearman .3f --> | – | 0.731<!-- sentence_vectors: untrained/max/input/spearman .3f --> |
# | after layer 0 | 0.671<!-- sentence_vectors: untrained/mean/after_0/spearman .3f --> | 0.389<!-- sentence_vectors: untrained/cls/after_0/spearman .3f --> | 0.707<!-- sentence_vectors: untrained/max/after_0/spearman .3f --> |
# | after layer 2 | 0.630<!-- sentence_vectors: untrained/mean/after_2/spearman .3f --> | 0.429<!-- sentence_vectors: untrained/cls/after_2/spearman .3f --> | 0.738<!-- sentence_vectors: untrained/max/after_2/spearman .3f --> |
# | after layer 4 | 0.762<!-- sentence_vectors: untrained/mean/after_4/spearman .3f --> | 0.580<!-- sentence_vectors: untrained/cls/after_4/spearman .3f --> | 0.795<!-- sentence_vectors: untrained/max/after_4/spearman .3f --> |
# | after layer 5, the last | 0.8672<!-- sentence_vectors: untrained/mean/after_5/spearman .4f --> | 0.797<!-- sentence_vectors: untrained/cls/after_5/spearman .3f --> | 0.826<!-- sentence_vectors: untrained/max/after_5/spearman .3f --> |
#
# Counted words (TF-IDF) reach 0.712<!-- sentence_vectors: untrained/tf_idf/spearman .3f -->; the mean of MiniLM's
# static vectors, without a layer or positions, 0.645<!-- sentence_vectors: untrained/static/spearman .3f -->. So
# after layers 0 and 2, averaging what a Transformer has made of the words is *worse than counting them*, and `[CLS]`
# is worse still. Farthest ahead are the vectors that were trained to be compared, the mean after the last layer. That
# the maxima are better than the means everywhere before, we did not expect, and cannot explain.
#
# One reservation: these lower layers are not those of a BERT fresh from pre-training, since the training of the last
# one went through them. Those of BERT itself would have to be downloaded, and this page works offline.
#
# The paper has BERT base as it came from pre-training (test split, times 100): the mean 46.35, `[CLS]`
# 16.50, averaged GloVe vectors 58.02; after siamese training on other data 77.03. Pre-training asks each vector for a
# *word*; nothing in it makes the mean of them a sentence, or the angle between two means a meaning. It has to be
# trained.
#
# ## Three ways to train
#
# Two sentences go through the same encoder, and a loss looks at the vectors u and v. What it can be depends on what
# is known about the pair.
#
# ### A class: softmax(W_t (u, v, |u − v|))
#
# For natural language inference people marked pairs as entailment, neutral or contradiction. A linear layer sees u, v
# and the distance in each component, one after the other, and gives a score for each class:

# %%
torch.manual_seed(0)
u = torch.tensor([[3.0, 4.0], [1.0, 0.0]])
v = torch.tensor([[4.0, 3.0], [0.0, 2.0]])
seen = torch.cat([u, v, (u - v).abs()], dim=-1)  # (2, 6)
print(seen[0].tolist())

W_t = nn.Linear(6, 3)  # 3n × k in the paper, for k classes
label = torch.tensor([0, 2])
by_class = F.cross_entropy(W_t(seen), label)
assert_close(sentence_bert.pair_features(u, v), seen)

# %% [markdown]
# After training $W_t$ is thrown away, and the vectors are compared by cosine, which this loss never mentions. That it
# works all the same owes much to what compares the two: a layer that weighs $|u - v|$ pulls together what entails
# each other. (In the paper's table 6: u and v alone 66.04, |u − v| alone 69.78, u, v and their product 77.44, all
# three as above 80.78. The paper calls |u − v| the most important part.)
#
# (u and v are taken as they are pooled. Of length 1, their 384 components would be about 0.05, and $W_t$ could do
# little with them.)
#
# ### A score: the cosine itself
#
# With scores as in STS-B, the cosine should be the score, divided by 5. The loss is the squared error:

# %%
score = torch.tensor([4.5, 1.0]) / 5
cosine = (u * v).sum(dim=-1) / (u.norm(dim=-1) * v.norm(dim=-1))
by_score = ((cosine - score) ** 2).mean()
print([f"{number:.2f}" for number in cosine], f"loss {by_score:.3f}")
assert_close(sentence_bert.cosine_regression(u, v, score), by_score)

# %% [markdown]
# ### A partner: in-batch negatives
#
# The third way needs no labels, only pairs that belong together: a question and its answer, a title and its text. In
# a batch of pairs, each u must find its own v among *all* v of the batch; the others' partners serve as wrong
# answers. That is chapter 10's cross-entropy, with sentences in place of words:

# %%
u, v = torch.randn(4, 8), torch.randn(4, 8)
table = cosines(u, v)  # (4, 4); the right answers stand on the diagonal
by_partner = F.cross_entropy(20 * table, torch.arange(4))
assert_close(sentence_bert.in_batch_negatives(u, v), by_partner)

good = torch.tensor([[0.9, 0.3], [0.6, 0.7]])
for scale in (1, 20):
    right = (scale * good).softmax(dim=-1).diag()
    print(f"scale {scale:2}: probability of the right one", [f"{p:.3f}" for p in right])

# %% [markdown]
# Why times 20? A cosine is at most 1. Left alone, even a clear lead of 0.9 against 0.3 gives the right one only 65 %,
# and with a thousand candidates next to nothing: the loss could never become small. 20 is one over a **temperature**
# of 0.05.
#
# MiniLM was made this way: 1.17 billion pairs from 32 collections (comments and replies, titles and abstracts,
# questions and answers), a few of which add a wrong partner to each pair, in 100,000 steps of 1,024 pairs, says the
# README that came with the weights. STS-B's training pairs are not among them. That makes 102 million pairs seen, at
# most 9 % of the 1.17 billion. (A slide says that such a model is trained on pairs that people have marked as similar.
# The first Sentence-BERTs were trained on labels of people. Most of MiniLM's pairs were found, not marked.)
#
# An older contrastive loss takes pairs with a yes or no, pulls the one kind together and pushes the other apart until
# their distance exceeds a margin (`contrastive_pairs`); the paper's third objective compares one sentence with a
# right and a wrong partner (the triplet loss, which the library does not have). The library's functions for the three
# ways are the lines above with checks around them. For the partner:

# %%
source.show(sentence_bert.in_batch_negatives, docstring=False)

# %% [markdown]
# ## Live
#
# Now the training itself. We take what the table shows to be bad at this: MiniLM cut off after layer 2. Each
# objective gets 30 steps of 16 pairs. The regression sees our 96 scored pairs, the classification the same pairs
# with their scores in three classes (apart, related, the same). The contrastive one sees pairs that belong together,
# and no score: those of a score from 4 on, and from the entailment set a sentence with another that follows from it.


# %%
entailment = data.load("entailment", "train")


def sides(examples):
    """Only the sentences."""
    return [(example["first"], example["second"]) for example in examples]


scored = similarity["train"]
together = [pair for pair in scored if pair["score"] >= 4]
together += [pair for pair in entailment if pair["label"] == 0]
objectives = {
    "regression": (
        sentence_bert.regression_loss,
        sides(scored),
        [pair["score"] / 5 for pair in scored],
    ),
    "classification": (
        sentence_bert.classification_loss,
        sides(scored),
        [min(int(3 * pair["score"] / 5), 2) for pair in scored],
    ),
    "in-batch negatives": (sentence_bert.ranking_loss, sides(together), None),
}


def train(loss, pairs, labels, steps=30):
    """MiniLM's first three layers after siamese training; the embeddings stay as they are."""
    torch.manual_seed(0)
    encoder = lower_layers(3)
    encoder.bert.requires_grad_(False)
    encoder.bert.encoder.requires_grad_(True)
    for module in encoder.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0  # so few steps do not overfit
    model = Siamese(encoder, n_classes=3)
    trained = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=3e-4)
    batches = SiameseBatches(encoder, pairs, labels, batch_size=16)
    history = fit(
        model, batches, loss, optimizer, steps=steps, clip=1.0, progress=False
    )
    return encoder, history.losses[-1] < 0.75 * history.losses[0]


runs = {name: train(*rest) for name, rest in objectives.items()}
print(
    "the loss fell by a quarter or more:",
    {name: fell for name, (_, fell) in runs.items()},
)
trained = {name: encoder for name, (encoder, _) in runs.items()}
reached = {name: agreement(one.embed) for name, one in trained.items()}

# %% mystnb={"image": {"alt": "Four bars of Spearman's correlation on 64 pairs. Before training about 0.67; after regression clearly higher, after classification no higher than before, after in-batch negatives somewhat higher. A dashed line for counted words lies near 0.2, another for all of MiniLM above 0.85."}, "figure": {"caption": "Agreement with the set's scores on 64 pairs that were not trained on: three layers of MiniLM before training and after 30 steps with each objective. One seed."}}
figure, ax = plt.subplots(figsize=(6.8, 3.0))
bars = {"before": raw_agreement, **reached}
colours = [plots.GREY, plots.BLUE, plots.GREEN, plots.ORANGE]
labels = [name.replace(" ", "\n") for name in bars]
ax.bar(labels, list(bars.values()), color=colours, width=0.6)
for height, name in (
    (word_agreement, "counted words"),
    (full_agreement, "all of MiniLM"),
):
    ax.axhline(height, color=plots.RED, lw=1.2, ls="--")
    ax.text(3.5, height + 0.02, name, color=plots.RED)
ax.set(xlim=(-0.6, 4.6), ylim=(0, 1), ylabel="Spearman")
plt.show()

# %%
better = reached["regression"] > raw_agreement + 0.03
ahead = reached["regression"] > reached["classification"] + 0.05
print(f"better after regression: {better}; well ahead of classification: {ahead}")
assert better and ahead and reached["classification"] < raw_agreement + 0.02

# %% [markdown]
# The regression helps most. The in-batch negatives, which saw no score, end a little above where they began (with
# another seed by 0.1). The classification ends a little below where it began, although its loss falls as well:
# perhaps, with 96 pairs, $W_t$ finds some direction that tells the classes apart, and nothing asks for the angle. The
# paper had a million labelled pairs for this objective.
#
# What if there is more to learn from? The same three layers, 150 steps of 16 pairs from STS-B's 5,749 training pairs,
# three seeds, one learning rate for all (Spearman on the validation split; the margin is `contrastive_pairs`):
#
# | trained with | mean of three | lowest | highest |
# |---|---|---|---|
# | nothing | 0.630<!-- sentence_vectors: before/spearman .3f --> | | |
# | regression | 0.807<!-- sentence_vectors: siamese/regression/spearman/mean .3f --> | 0.802<!-- sentence_vectors: siamese/regression/spearman/min .3f --> | 0.812<!-- sentence_vectors: siamese/regression/spearman/max .3f --> |
# | classification, three classes | 0.740<!-- sentence_vectors: siamese/classification/spearman/mean .3f --> | 0.714<!-- sentence_vectors: siamese/classification/spearman/min .3f --> | 0.756<!-- sentence_vectors: siamese/classification/spearman/max .3f --> |
# | in-batch negatives | 0.784<!-- sentence_vectors: siamese/in_batch/spearman/mean .3f --> | 0.777<!-- sentence_vectors: siamese/in_batch/spearman/min .3f --> | 0.794<!-- sentence_vectors: siamese/in_batch/spearman/max .3f --> |
# | pairs and a margin | 0.808<!-- sentence_vectors: siamese/margin/spearman/mean .3f --> | 0.802<!-- sentence_vectors: siamese/margin/spearman/min .3f --> | 0.814<!-- sentence_vectors: siamese/margin/spearman/max .3f --> |
#
# All four lead past the counted words (0.712<!-- sentence_vectors: untrained/tf_idf/spearman .3f -->), the
# classification least and least reliably; the in-batch negatives could use only the pairs with a score of 4 and more.
# Three of MiniLM's layers and 2,400 pairs more do not reach what all six do (0.867<!-- sentence_vectors:
# untrained/mean/after_5/spearman .3f -->); the hundred million pairs went through these three as well. Where the loss
# speaks of cosines, the training also opens the angles: the mean cosine of sentences from different pairs was
# 0.43<!-- sentence_vectors: before/random_pairs .2f --> and is 0.05<!-- sentence_vectors:
# siamese/regression/random_pairs/mean .2f --> after the regression, 0.10<!-- sentence_vectors:
# siamese/in_batch/random_pairs/mean .2f --> after the in-batch negatives and 0.33<!-- sentence_vectors:
# siamese/margin/random_pairs/mean .2f --> with the margin. The classification leaves it at 0.43<!-- sentence_vectors:
# siamese/classification/random_pairs/mean .2f -->.
#
# ## Searching this book
#
# Titles and first sentences of this book's own sections have come with the library, and so have questions about them,
# each with the chapters where one would look for the answer. (The questions and their chapters were written before
# any search was tried.) A search encodes the sections once, the question when it comes, and sorts by cosine:

# %%
source.show(sentence_bert.search, docstring=False)

# %% tags=["nbval-ignore-output"]
sections = book_sections()
chapters = {section.number for section in sections}
asked = [question for question in book_questions() if chapters & set(question.chapters)]

corpus = [section.read for section in sections]
questions = [question.question for question in asked]
book = encoder.embed(corpus)  # once
found = sentence_bert.search(encoder.embed(questions), book, k=3)
for i in (3, 5, 17, 34):
    print(questions[i])
    for score, place in zip(found.scores[i], found.places[i], strict=True):
        section = sections[place]
        mark = "*" if section.number in asked[i].chapters else " "
        print(f" {mark} {score:.2f}  {section.title} ({section.chapter})")

# %% [markdown]
# A star marks a chapter that answers the question. Four examples prove little, whether one likes them or not. So: in
# how many cases does one of the first k sections lie in a chapter that answers the question? Beside it, the same
# search with counted words, and with the three layers before and after the contrastive training above.


# %% tags=["nbval-ignore-output"]
def right_chapters(places):
    """Whether what was found for each question lies in a right chapter, (questions, k)."""
    rows = zip(places.tolist(), asked, strict=True)
    return torch.tensor(
        [[sections[i].number in right.chapters for i in row] for row, right in rows]
    )


words = counted_words([*corpus, *questions], corpus)
searches = {
    "counted words": (words[len(corpus) :], words[: len(corpus)]),
    "three layers": [lower_layers(3).embed(texts) for texts in (questions, corpus)],
    "… trained": [trained["in-batch negatives"].embed(t) for t in (questions, corpus)],
    "all of MiniLM": (encoder.embed(questions), book),
}
right = {
    name: right_chapters(sentence_bert.search(*vectors, k=3).places)
    for name, vectors in searches.items()
}
first = {name: hits[:, 0].sum().item() for name, hits in right.items()}
three = {name: hits.any(dim=1).sum().item() for name, hits in right.items()}
print(f"of {len(asked)} questions, a right chapter comes   first   among three")
for name in searches:
    print(f"  {name:38} {first[name]:6} {three[name]:10}")

missed = ~right["all of MiniLM"].any(dim=1)
bert = torch.tensor(["BERT" in question for question in questions])
print("all of MiniLM misses", end=" ")
print(f"{missed[bert].sum()} of {bert.sum()} questions that name BERT,", end=" ")
print(f"{missed[~bert].sum()} of the other {(~bert).sum()}")

# %% tags=["remove-cell"]
# The sections change whenever the book does; these hold with a part of them left out, too.
words, layers, thirty, mini = searches
assert first[mini] > first[words] > first[layers]
assert three[mini] > three[words] > three[layers]
assert three[thirty] > three[layers] + 1 and abs(three[thirty] - three[words]) <= 6
assert first[thirty] < first[words] and first[thirty] <= first[layers] + 3
assert missed[bert].float().mean() > missed[~bert].float().mean() + 0.1
assert missed[questions.index("Why teach a model to be less sure of itself?")]

# %% [markdown]
# Vectors trained for it find more right chapters than counted words do. To catch up with counting costs little, among
# the first three at least. The three layers alone are worse than counting; after 30 steps on pairs that have nothing
# to do with this book, they bring a right chapter among the first three about as often as counting does. (At the
# first place the training did not help, and they stay behind it.) All of MiniLM fails more often where the question
# names BERT. It also misses "Why teach a model to be less sure of itself?", everyday words for what the book calls
# label smoothing.
#
# Questions, sections and the search as above are also on a page of the site, [Ask the book](../book/ask.md). No model
# runs there: the vectors were computed beforehand, which is the point of having vectors.
#
# ## What goes wrong
#
# ### Padding in the mean
#
# `hidden.mean(dim=1)` is the line one writes first. In a batch with a longer text it averages in whatever BERT makes
# of padding:

# %%
rows = [encoder.ids(text) for text in (nine[0], long)]
tokens, lengths = data.pad(rows)
with torch.no_grad():
    hidden = encoder.bert(tokens, lengths=lengths).hidden
careless = F.normalize(hidden.mean(dim=1), dim=-1)[0]
alone = encoder.embed([nine[0]])[0]
masked = F.normalize(sentence_bert.mean_pooling(hidden, lengths), dim=-1)[0]
print(f"cosine to the same sentence alone: masked mean {masked @ alone:.2f}", end=", ")
print(f"mean over everything {careless @ alone:.2f}")

# %% [markdown]
# Nothing fails, and a test with texts of one length passes. The vector depends on who else is in the batch.
#
# ### The wrong pooling
#
# A checkpoint belongs to the pooling it was trained with. MiniLM's was the mean; with the same weights `[CLS]` gives
# 0.797<!-- sentence_vectors: untrained/cls/after_5/spearman .3f --> in place of
# 0.867<!-- sentence_vectors: untrained/mean/after_5/spearman .3f --> on STS-B, and the pooler (`pooler_output` in
# Hugging Face's models, which looks as if it were meant for this)
# 0.793<!-- sentence_vectors: untrained/pooler/spearman .3f -->. Bad enough to matter, good enough not to be noticed.
#
# ### Not, and who did what

# %%
pairs = [
    ("The dog bit the man.", "The man was bitten by the dog."),
    ("The dog bit the man.", "The man bit the dog."),
    ("I am sure that it will rain.", "I am not sure that it will rain."),
    ("The meeting is at 3 pm.", "The meeting is at 4 pm."),
    ("All students passed the exam.", "Everyone got through the test."),
    ("All students passed the exam.", "No student passed the exam."),
]
for first, second in pairs:
    u, v = encoder.embed([first, second])
    print(f"{u @ v:.2f}  {first:29}  {second}")

# %% [markdown]
# The man bitten by the dog is the same event, and comes out *less* alike than the reverse, where the man bites. A
# *not* or another hour changes the meaning and hardly the direction; *no student* moves the vector only a little
# further than a paraphrase does. The vectors were trained to tell texts about different things apart, and among
# partners drawn at random one hardly ever needs to know who bit whom. Where it matters, let a cross-encoder read the
# few candidates that the search has found: the two kinds are used one after the other.
#
# ### "Alike from 0.8 on"
#
# What is a high cosine? Take two sentences from different pairs of STS-B. After MiniLM's last layer they have a mean
# cosine of -0.002<!-- sentence_vectors: untrained/mean/after_5/random_pairs .3f -->. With the same model's vectors
# after layer 2 it is 0.43<!-- sentence_vectors: untrained/mean/after_2/random_pairs .2f -->, with maxima in place of
# means 0.87<!-- sentence_vectors: untrained/max/after_2/random_pairs .2f -->, and for `[CLS]` 0.99999<!--
# sentence_vectors: untrained/cls/after_0/random_pairs .5f --> after layer 0. Pooled vectors share much: the frequent
# words, the maxima, the same `[CLS]`. There a cosine of 0.8 may be low. A bound that was found with one model means
# nothing for another. Only the order within one model does, and that is what Spearman measures.
#
# ### The right answer counted as wrong
#
# In-batch negatives take every other v for wrong. If a question stands in the batch twice, each is told that the
# other's answer, its own answer, is wrong. Even perfect vectors then have a loss that no training removes:

# %%
perfect = torch.eye(4)
twice = perfect[[0, 0, 1, 2]]  # pairs 0 and 1 are the same pair
for name, vectors in (("four different", perfect), ("one twice", twice)):
    loss = sentence_bert.in_batch_negatives(vectors, vectors)
    print(f"{name:14} loss {loss:.3f}")
print(f"half the rows are a coin toss: {math.log(2) / 2:.3f}")

same = cosines(twice, twice) > 0.999
logits = (20 * cosines(twice, twice)).masked_fill(
    same & ~torch.eye(4).bool(), -math.inf
)
print(f"duplicates left out: loss {F.cross_entropy(logits, torch.arange(4)):.3f}")

# %% [markdown]
# The floor alone pushes nothing apart: without dropout, equal texts have equal vectors, and here pull and push
# cancel. Harm is done by a second right answer in *other words*. Let pair 1 be a paraphrase of pair 0, at some cosine
# to it:

# %%
for cosine in (1.0, 0.95, 0.9, 0.5):
    paraphrase = torch.tensor([cosine, math.sqrt(1 - cosine**2), 0.0, 0.0])
    vectors = torch.stack([perfect[0], paraphrase, perfect[2], perfect[3]])
    loss = sentence_bert.in_batch_negatives(vectors, vectors)
    print(f"cosine of the paraphrases {cosine:.2f}: loss {loss:.3f}")

# %% [markdown]
# The further apart they are, the smaller the loss. The training is told to separate what belongs together, as if the
# one were a wrong answer to the other. So equal texts should not share a batch, or be left out of each other's row;
# and paraphrases, which are harder to find, should not share one either.
#
# ## Summary
#
# 1. A cross-encoder reads pairs, n(n − 1)/2 of them; a bi-encoder reads n texts, and vectors are compared afterwards.
# 2. A sentence's vector is the mean of its tokens' vectors, padding left out; compared by the cosine, in order only.
# 3. On STS-B, means of the vectors after layers 0 and 2, which were not themselves trained to be compared, do worse
#    than counted words; siamese training mends that.
# 4. Objectives: a class from (u, v, |u − v|); the score that the cosine should have; or the right partner among all of
#    the batch, by cosines times 20.
# 5. Search by meaning found more right chapters than search by words; it does not see who did what, nor *not*.
#
# **Homework 7**, questions 6 to 8, is about this chapter: [exercises](../exercises/hw7_probing_and_sentences.ipynb).
#
# **Next:** [chapter 18](18_after_bert.ipynb), what came after BERT.
#
# ## References
#
# - Nils Reimers and Iryna Gurevych (2019). *Sentence-BERT: sentence embeddings using Siamese BERT-networks.* EMNLP.
#   [arXiv:1908.10084](https://arxiv.org/abs/1908.10084). Abstract, section 3, tables 1 and 6.
# - Daniel Cer et al. (2017). *SemEval-2017 task 1: semantic textual similarity.* SemEval. The STS Benchmark.
# - Matthew Henderson et al. (2017). *Efficient natural language response suggestion for Smart Reply.*
#   [arXiv:1705.00652](https://arxiv.org/abs/1705.00652). In-batch negatives.
# - Raia Hadsell, Sumit Chopra and Yann LeCun (2006). *Dimensionality reduction by learning an invariant mapping.*
#   CVPR. The contrastive loss.
# - Wenhui Wang et al. (2020). *MiniLM: deep self-attention distillation for task-agnostic compression of pre-trained
#   Transformers.* NeurIPS. The weights are
#   [all-MiniLM-L6-v2](https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2).
# - The [lectures](../book/references.md) mention Sentence-BERT for its cosines (UMass CS 485).
