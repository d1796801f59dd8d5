# %% [markdown]
# # Judging a translator
#
# The translator on this page was trained for an hour on captions of photographs. It turned *Zwei
# Hunde spielen im Schnee* into "Two dogs play in the snow", which is right, and *Niemand sitzt auf
# der Bank*, "Nobody is sitting on the bench", into "A shirtless man is sitting on the bench".
#
# The score that most papers on translation report gives 42 of 100 points to the first sentence, and
# 59 to the second. **What does it count, and what may one conclude from it?**

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

draw("two_scores")

# %% tags=["hide-input"]
import math
import tempfile
from collections import Counter
from copy import deepcopy

import matplotlib.pyplot as plt
import torch
from torch.optim.lr_scheduler import LambdaLR

from lectures_lib import data, decoding, metrics, stored, training
from lectures_lib.blocks.recording import record
from lectures_lib.models.transformer import Transformer, TransformerConfig
from lectures_lib.show import plots

HUMAN = ["Two dogs are playing in the snow .", "Nobody is sitting on the bench ."]
MODEL = ["Two dogs play in the snow .", "A shirtless man is sitting on the bench ."]

# %% [markdown]
# **After this chapter you can**
#
# - say which number flatters: right words, right sentences, or a score;
# - compute BLEU by hand, and say what it is blind to;
# - ask three questions about every quoted score;
# - check a famous table of scores and costs;
# - read translations, and tell good from bad where no score does.
#
# **Time** about 50 minutes. **You need** [chapter 8](08_training.ipynb).

# %% [markdown]
# ## Is it any good?
#
# Begin where the answer is easy: a list of number words is translated correctly or it is not. The
# folded cell trains [chapter 8](08_training.ipynb)'s small model again and keeps a copy after 80 of
# the 600 steps. The test: 400 lists of two numbers and 203 single numbers, all kept out of
# training.


# %% tags=["hide-input"]
def number_words(pairs):
    """Pairs of an English and a German list, cut into words."""
    return [
        tuple(data.number_tokens(pair[side]) for side in ("en", "de")) for pair in pairs
    ]


train_lists = number_words(data.load("translation", counts=(1, 2), size=20_000))
WORDS = data.WordVocabulary.build(side for pair in train_lists for side in pair)


def encode(pairs):
    """Words to numbers. A target runs from its begin token to its end token."""
    return [
        (WORDS.encode(en, eos=True), WORDS.encode(de, bos=True, eos=True))
        for en, de in pairs
    ]


def translate(model, sentences):
    """German for lists of English words: the likeliest word at each step."""
    ids, lengths = data.pad([WORDS.encode(words, eos=True) for words in sentences])
    found = decoding.greedy(
        model, ids, lengths, begin=data.BOS, end=data.EOS, max_len=20
    )
    return [WORDS.decode(sentence) for sentence in found.sentences()]


copies = []


def keep(model):
    """Called every 80 steps: keep a copy of the model as it is after the first 80."""
    if not copies:
        copies.append(deepcopy(model))
    return {}


torch.manual_seed(0)
model = Transformer(
    TransformerConfig(
        len(WORDS),
        d_model=64,
        n_heads=4,
        n_layers=2,
        d_ff=256,
        dropout=0.0,
        pre_norm=True,
    )
)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, betas=(0.9, 0.98))
training.fit(
    model,
    data.Batches(encode(train_lists), data.pad_pairs, batch_size=64),
    training.translation_loss,
    optimizer,
    LambdaLR(optimizer, training.bert_schedule(warmup=60, total=600)),
    steps=600,
    clip=1.0,
    evaluate=keep,
    evaluate_every=80,
    progress=False,
)
model.eval()
early = copies[0].eval()

# %% tags=["atol=0.03"]
tests = {
    "single numbers": [
        pair
        for split in ("validation", "test")
        for pair in number_words(data.load("translation", split, counts=(1,)))
    ],
    "lists of two": number_words(
        data.load("translation", "test", counts=(2,), size=400)
    ),
}
right_share = {}
for name, pairs in tests.items():
    found = translate(model, [english for english, _ in pairs])
    right_share[name] = metrics.exact_match(found, [german for _, german in pairs])
    print(f"{name}: {right_share[name]:.3f} of {len(pairs)} without a mistake")

# %% tags=["remove-cell"]
assert min(right_share.values()) >= 0.97

# %% [markdown]
# ### Counting words in place of translations
#
# One can also count the right *words*. How much larger is that share?

# %% [markdown]
# **Predict.** A list has nine words, and a model gets each of them right nine times in ten, whatever the others are. How
# many lists in 100 have no mistake: about 90, about 65, or about 40?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: about 40 -->
#
# About 40: $0.9^9 = 0.39$. One wrong word spoils a list, and there are nine chances for one. Ninety
# in a hundred describes the words, and says little about the lists.
#
# </details>

# %%
print(f"nine words, each right at 0.9: {0.9**9:.2f} of the lists")

# %% [markdown]
# Early in training the two shares are far apart. After 80 steps:

# %% tags=["nbval-ignore-output"]
pairs = tests["lists of two"]
batch = data.pad_pairs(encode(pairs))
with torch.no_grad():
    predicted = early(batch.source, batch.read, batch.source_lengths).argmax(dim=-1)
forced = metrics.token_accuracy(predicted, batch.predicted)
free = metrics.exact_match(
    translate(early, [english for english, _ in pairs]), [german for _, german in pairs]
)
print(f"right words (teacher forcing) {forced:.2f}, right translations {free:.2f}")

# %% tags=["remove-cell"]
assert forced > free + 0.25

# %% [markdown]
# <details><summary>Is teacher forcing the reason for the gap?</summary>
#
# No. Greedy decoding writes a whole list correctly exactly when, under teacher forcing, every word
# of it is right.
#
# </details>
#
# ## BLEU
#
# A list of numbers has one right translation. A sentence has many, so the usual score counts what a
# translation has in common with a human one, the *reference*. **BLEU** (Papineni et al., 2002)
# counts $n$-grams, pieces of $n$ words in a row. First the reference, then what a model wrote:
#
#     sechs und dreißig , sieben hundert drei
#     sechs dreißig , sieben hundert drei drei
#
# Of its 7 words, 6 are in the reference. The second "drei" does not count, because the reference
# has only one: counts are *clipped*, or "drei drei drei drei" would get every word right. (With
# several references, a piece counts at most as often as in the one that has it most often: exercise 3.) All
# the hits:


# %%
def n_grams(words, n):
    """How often each piece of n words occurs."""
    # n copies of the text, each begun one word later: side by side they are the pieces
    return Counter(zip(*(words[i:] for i in range(n)), strict=False))


reference = "sechs und dreißig , sieben hundert drei"
hypothesis = "sechs dreißig , sieben hundert drei drei"
for n in (1, 2, 3, 4):
    found, wanted = n_grams(hypothesis.split(), n), n_grams(reference.split(), n)
    hits = found & wanted  # of each piece the smaller of the two counts: clipped
    print(f"{hits.total()} of {found.total()}: ", " | ".join(map(" ".join, hits)))

# %% [markdown]
# In the picture each piece is a bar along its words. The missing *und* costs every piece that spans
# the gap; the surplus *drei* costs every piece that contains it.

# %% tags=["remove-input"]
draw("clipped_counts")

# %% [markdown]
# BLEU is the geometric mean of the four shares:
# $\sqrt[4]{\tfrac67 \cdot \tfrac46 \cdot \tfrac35 \cdot \tfrac24} = 0.643$, usually written 64.3.
#
# Two more rules complete it, and programs add a third:
#
# - *Add up first.* Hits and pieces are summed over the whole corpus before anything is divided.
# - *No reward for saying little.* If the model's $c$ words are fewer than the references' $r$, the
#   score is multiplied by the **brevity penalty**, $e^{1 - r/c}$.
# - *No zero wipes out the product.* In the paper, one share of 0 makes the score 0. The program sacrebleu (by default: `smooth:exp`) counts half a hit where no piece of some length is right; for the next such length a quarter, and so on. Where not one word is right, or nothing is four words long, the score is 0.


# %%
def corpus_bleu(hypotheses, references):
    """BLEU of all texts together, from 0 to 100; their words stand between spaces."""
    pairs = [
        (h.split(), r.split()) for h, r in zip(hypotheses, references, strict=True)
    ]
    logs, part = 0.0, 1.0
    for n in (1, 2, 3, 4):
        found = sum(n_grams(h, n).total() for h, _ in pairs)
        hits = sum((n_grams(h, n) & n_grams(r, n)).total() for h, r in pairs)
        if not found or (n == 1 and not hits):
            return 0.0  # nowhere four words in a row, or not one word right
        if not hits:
            part /= 2  # 1/2 in place of 0, the next time 1/4
        logs += math.log((hits or part) / found)
    c, r = (sum(len(pair[side]) for pair in pairs) for side in (0, 1))
    return 100 * min(1, math.exp(1 - r / c)) * math.exp(logs / 4)


# %% [markdown]
# **Predict.** A model writes only `dreißig , sieben hundert drei`: five of the seven words, all right and in order.
# What is its BLEU: 100, 71 or 67?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: 67 -->
#
# 67.0. Every $n$-gram is in the reference, so the four shares are 1, and only the brevity penalty
# is left: $e^{1 - 7/5} = 0.67$. That is close to five sevenths, 0.71, but not the same: at half the
# length the penalty is $e^{-1} = 0.37$, harsher than one half. Without the penalty the answer would
# indeed be 100.
#
# </details>

# %%
from sacrebleu.metrics import BLEU

theirs = BLEU(tokenize="none")  # the words stand between spaces already
for hypothesis in (
    "sechs dreißig , sieben hundert drei drei",
    "dreißig , sieben hundert drei",
    "sechs hundert und drei",
    "drei drei drei drei drei drei drei",
):
    ours = corpus_bleu([hypothesis], [reference])
    score = theirs.corpus_score([hypothesis], [[reference]]).score
    print(f"ours {ours:4.1f}, sacrebleu {score:4.1f}: {hypothesis}")

# %% tags=["remove-cell"]
fixed = [
    ("sieben hundert drei", reference),
    ("sechs hundert und drei", reference),
    ("drei sechs sieben und dreißig", reference),
    ("dreißig , sieben hundert drei", reference),
    (reference, reference),
    ("null eins zwei acht neun", reference),
    ("", reference),
    (reference, ""),
    ("Ein Mann, der liest.", "Ein Mann, der ein Buch liest."),
]
for texts in (fixed, *([pair] for pair in fixed)):
    said, wanted = zip(*texts, strict=True)
    score = metrics.bleu(said, wanted, tokenize="none").score
    assert abs(corpus_bleu(said, wanted) - score) < 0.01, said

# %% [markdown]
# The last two lines have hits among single words only, 4 of 4 and, clipped, 1 of 7; for the rest
# 1/2, 1/4 and 1/8 of a hit stand in.
#
# When somebody quotes a BLEU score, ask three questions. **Over what?** A sentence has a score, and
# a corpus has one.

# %% [markdown]
# **Predict.** The two sentences at the top of this page have 42.4 and 58.7. Somebody calls them a test set and computes
# its BLEU. What comes out: 50.6, less, or more?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: more -->
#
# More, 55.7. The score of a corpus is not the mean of its sentences' scores, because hits and
# lengths are added up first. Alone, the first sentence pays a brevity penalty, 7 words for 8;
# together the model wrote 16 words for 15, and there is nothing to pay. That is about three of the
# five points. The rest is in the shares: the second sentence is longer, so it brings more pieces
# and counts for more. Of the first one's four pieces of four words only one is a hit; of the ten in
# both, four are. By hand:
# $\sqrt[4]{\tfrac{12}{16}\cdot\tfrac{9}{14}\cdot\tfrac{6}{12}\cdot\tfrac{4}{10}} = 0.557$.
#
# </details>

# %%
for said, wanted in zip(MODEL, HUMAN, strict=True):
    print(f"{corpus_bleu([said], [wanted]):.1f}: {said} | human: {wanted}")
print(f"{corpus_bleu(MODEL, HUMAN):.1f} together; sacrebleu:", end=" ")
print(theirs.corpus_score(MODEL, [HUMAN]))

# %% [markdown]
# **What are the words?** The score depends on how the text was cut, and on capitals. **Which test
# set, which references?** Scores on different test sets cannot be compared. So
# [sacrebleu](https://github.com/mjpost/sacrebleu) (Post, 2018; our `metrics.bleu` calls it) takes
# whole text, cuts it itself, and gives a signature:

# %%
hypotheses = ["Ein Mann, der liest.", "Zwei Hunde spielen im Schnee."]
references = ["Ein Mann, der ein Buch liest.", "zwei Hunde spielen im tiefen Schnee."]
for options in ({}, {"lowercase": True}, {"tokenize": "char"}):
    metric = BLEU(**options)
    score = metric.corpus_score(hypotheses, [references]).score
    print(f"{score:5.1f}  {metric.get_signature()}")

# %% [markdown]
# The same two translations, three scores.
#
# <details><summary>How to read a signature</summary>
#
# `nrefs` is the number of references; `case` says whether capitals count (`lc`: they do not);
# `eff`, whether an $n$ is left out for which the translation is too short (three words have no four
# in a row); `tok`, how the text was cut: `13a` as for WMT, the yearly contest of translation
# systems, whose test sets most papers use. (The line `BLEU = …` further up shows the four shares,
# the brevity penalty BP and the lengths as well.)
#
# </details>
#
# The 28.4 of Vaswani et al. (2017) for English to German was computed with German compounds split
# at their hyphens. sacrebleu leaves them whole and tends to score lower, so the two do not belong
# in one table.
#
# Now from ids to one score for the test set, for both copies of our model (`decoding.greedy` takes
# the likeliest word at each step, [chapter 9](09_generating.ipynb#greedy)):


# %%
def corpus_score(model, pairs, **options):
    """BLEU and signature, for pairs (English, German) of lists of words."""
    # ids: (number of pairs, longest), padded; a large test set goes in batches
    ids, lengths = data.pad([WORDS.encode(english, eos=True) for english, _ in pairs])
    found = decoding.greedy(
        model, ids, lengths, begin=data.BOS, end=data.EOS, max_len=20
    )
    sentences = found.sentences()  # lists of ids, without begin and end
    said = [" ".join(WORDS.decode(sentence)) for sentence in sentences]
    wanted = [" ".join(german) for _, german in pairs]
    metric = BLEU(**options)
    return metric.corpus_score(said, [wanted]).score, metric.get_signature()


# %% tags=["nbval-ignore-output"]
scores = {}
for steps, trained in ((80, early), (600, model)):
    scores[steps], signature = corpus_score(trained, tests["lists of two"])
    print(f"after {steps:3} steps: {scores[steps]:5.1f}  {signature}")

# %% tags=["remove-cell"]
assert scores[600] > 97 and 100 * free + 10 < scores[80] < 100 * forced - 5

# %% [markdown]
# After 80 steps most single words were right, and hardly any whole list. BLEU lies between.
#
# BLEU gives no points for a synonym or another ending, and it does not see that "nobody" has become
# a man. **Try it**: `corpus_bleu(["Somebody is sitting on the bench ."], HUMAN[1:])`; then find a
# good translation with fewer points.
#
# So today BLEU is seldom quoted alone. **chrF** (Popović, 2015) counts pieces of one to six
# *letters*, which is kinder to German endings (exercise 1). **COMET** (Rei et al., 2020) asks a
# trained model how good a translation is. It agrees better with human judges, and is as hard to
# look into as any model.
#
# ## What the paper reported
#
# The Transformer's paper gives BLEU on the WMT 2014 test sets, and estimates the cost of training
# in floating-point operations (Vaswani et al. 2017, table 2; [as a
# picture](../book/published/transformer.md#translation-into-german-and-french)). An ensemble is several models whose shares for the next word are averaged.

# %% tags=["hide-input"]
# Name: BLEU en-de, BLEU en-fr, FLOPs en-de, FLOPs en-fr. (One cost stands for both in
# the Transformers' rows.)
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

print(f"{'':28} en-de   en-fr   cost en-de   cost en-fr")
for name, row in TABLE_2.items():
    cells = [f"{bleu:6.2f}" if bleu else "     –" for bleu in row[:2]]
    cells += [f"{cost:11.1e}" if cost else "          –" for cost in row[2:]]
    print(f"{name:27}", "  ".join(cells))

# %% [markdown]
# Into German, both Transformers beat everything else in the table, ensembles included, and base
# does so at the lowest cost. Into French, big's 41.0 is the best of a single system, but two
# ensembles score higher, and base is below the four older single systems. (A later version of the
# paper reports 41.8, above everything in the table.)
#
# The abstract says "a small fraction of the training costs" of the best models of English to French, and there it is right. Into German, base cost a third of ConvS2S, the cheapest of the others; big cost more than twice as much as that, and a third of the ConvS2S ensemble, the best of the others.
#
# The costs can be recomputed: time, times the number of GPUs, times the 9.5 · 10¹² operations a
# second that the authors assume for the P100 cards they used.

# %%
for name, hours in {"base": 12, "big": 3.5 * 24}.items():
    print(f"{name:4} {hours:4} hours on 8 GPUs: {hours * 3600 * 8 * 9.5e12:.1e}")

# %% [markdown]
# ## Captions
#
# Now real sentences. Multi30k (Elliott et al., 2016) has 29,000 captions of photographs for
# training, in English and German. `experiments/multi30k.py` trains a translator for each direction
# on one CPU core, in about an hour: 4 + 4 blocks of width 128, two million parameters, with the
# byte pairs of [chapter 7](07_subwords.ipynb) and the recipe of [chapter 8](08_training.ipynb).
#
# On validation captions, BLEU from German to English is 7.8<!-- multi30k_cpu:
# de-en/validation_by_step/400/mean .1f --> after 400 steps, 32.0<!-- multi30k_cpu:
# de-en/validation_by_step/1600/mean .1f --> after 1,600 and 40.3<!-- multi30k_cpu:
# de-en/validation_by_step/8000/mean .1f --> after 8,000. By then the model has gone through the
# captions some thirty times. On new ones the score hardly rises any more, but it does not fall
# either.
#
# Two tricks of the paper come at the end: averaging the last five saved sets of weights, and beam
# search ([chapter 9](09_generating.ipynb)). On the test set of 1,000 captions each adds 0.5 to 1.0
# points, and both together 1.6 into English and 1.3 into German, which makes
# 41.0<!-- multi30k_cpu: de-en/cased/mean .1f --> and
# 38.7<!-- multi30k_cpu: en-de/cased/mean .1f -->
# ([results](../book/results/translators.md#multi30k-cpu)).
#
# <details><summary>Every step, and each trick alone</summary>
#
# BLEU on the 1,014 validation captions, greedy decoding, mean of three runs:
#
# | steps | 400 | 800 | 1,600 | 2,400 | 4,000 | 6,000 | 8,000 | minutes on one core, tests included |
# |---|---|---|---|---|---|---|---|---|
# | German to English | 7.8<!-- multi30k_cpu: de-en/validation_by_step/400/mean .1f --> | 21.0<!-- multi30k_cpu: de-en/validation_by_step/800/mean .1f --> | 32.0<!-- multi30k_cpu: de-en/validation_by_step/1600/mean .1f --> | 36.4<!-- multi30k_cpu: de-en/validation_by_step/2400/mean .1f --> | 37.4<!-- multi30k_cpu: de-en/validation_by_step/4000/mean .1f --> | 40.0<!-- multi30k_cpu: de-en/validation_by_step/6000/mean .1f --> | 40.3<!-- multi30k_cpu: de-en/validation_by_step/8000/mean .1f --> | 66<!-- multi30k_cpu: de-en/minutes/mean .0f --> |
# | English to German | 5.3<!-- multi30k_cpu: en-de/validation_by_step/400/mean .1f --> | 17.6<!-- multi30k_cpu: en-de/validation_by_step/800/mean .1f --> | 27.9<!-- multi30k_cpu: en-de/validation_by_step/1600/mean .1f --> | 32.0<!-- multi30k_cpu: en-de/validation_by_step/2400/mean .1f --> | 35.7<!-- multi30k_cpu: en-de/validation_by_step/4000/mean .1f --> | 36.7<!-- multi30k_cpu: en-de/validation_by_step/6000/mean .1f --> | 37.6<!-- multi30k_cpu: en-de/validation_by_step/8000/mean .1f --> | 72<!-- multi30k_cpu: en-de/minutes/mean .0f --> |
#
# On the 1,000 captions of the 2016 test set, mean of three runs:
#
# | | greedy, last weights | beam, last weights | greedy, mean of five | beam, mean of five |
# |---|---|---|---|---|
# | German to English | 39.4<!-- multi30k_cpu: de-en/apart/last_greedy/mean .1f --> | 40.2<!-- multi30k_cpu: de-en/apart/last_beam/mean .1f --> | 40.4<!-- multi30k_cpu: de-en/apart/mean_greedy/mean .1f --> | 41.0<!-- multi30k_cpu: de-en/cased/mean .1f --> |
# | English to German | 37.4<!-- multi30k_cpu: en-de/apart/last_greedy/mean .1f --> | 38.2<!-- multi30k_cpu: en-de/apart/last_beam/mean .1f --> | 38.0<!-- multi30k_cpu: en-de/apart/mean_greedy/mean .1f --> | 38.7<!-- multi30k_cpu: en-de/cased/mean .1f --> |
#
# </details>
#
# The first of the three models for each direction comes with the book. Four sentences of ours, none
# of them a training caption:

# %%
to_english = stored.translator("de", "en")
captions = [
    "Zwei Hunde spielen im Schnee.",
    "Eine alte Frau verkauft Blumen auf dem Markt.",
    "Ein Junge in einem roten Hemd springt in einen See.",
    "Drei Männer sitzen auf einer Bank und essen Eis.",
]
for german, english in zip(captions, to_english(captions), strict=True):
    print(f"{german}\n→ {english}")

# %% [markdown]
# **Predict.** The translator gets a sentence that is no caption, *Die Regierung hat gestern ein neues Gesetz beschlossen*
# ("Yesterday the government passed a new law"). What will it write: that it does not know, a translation with gaps, or
# a whole sentence that means something else?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: a whole sentence that means something else -->
#
# A whole sentence that means something else, with an invented word if need be. The
# translator's world is what people, dogs and balls do in photographs. A word that it has never seen
# is no gap for it, but a few byte pairs that it has seen in other words, and its probabilities
# always sum to 1: some sentence is always the likeliest. Nothing in the sentence says that it is
# guessing.
#
# </details>

# %% tags=["nbval-ignore-output"]
print(to_english(["Die Regierung hat gestern ein neues Gesetz beschlossen."])[0])

# %% [markdown]
# ### Good, typical, bad
#
# Scores do not say *which* sentences go wrong, so read some. Let a rule choose them, since whoever
# picks the examples also picks what they show. For this book 101 captions were written before the
# translator had read any. Sorted by BLEU from place 0 to 100, place 95 is *good*, 50 *typical* and
# 5 *bad*; here they are with their neighbours:

# %% tags=["nbval-ignore-output"]
own = data.own_captions()
said = to_english([caption["de"] for caption in own])
points = [
    metrics.bleu([s], [caption["en"]]).score
    for s, caption in zip(said, own, strict=True)
]
order = sorted(range(101), key=points.__getitem__)
for name, place in (("good", 95), ("typical", 50), ("bad", 5)):
    print(name)
    for i in order[place - 1 : place + 2]:
        print(f"  {points[i]:.0f}  {said[i]}\n      human: {own[i]['en']}")

# %% [markdown]
# The good ones are the human's sentences word for word, as
# 15 %<!-- own_captions: de-en/word_for_word .0f --> of the 101 are. Of the typical ones, one is
# right (*pushes* for *is pushing*); in another a woman pours the flowers, and in the third a
# goalkeeper has become a couple. And of the bad ones one is right: the goat gets its grass.
#
# ### Twelve, easy and hard
#
# Hard sentences are rare among captions, so here are twelve more, made up to be easy or hard, and
# sorted by BLEU. Beside the score stands what the translator itself knows: the smallest probability
# that it gave to a token of its sentence.

# %% tags=["hide-input"]
OURS = {
    "Zwei Hunde spielen im Schnee.": "Two dogs are playing in the snow.",
    "Eine alte Frau verkauft Blumen auf dem Markt.": (
        "An old woman is selling flowers at the market."
    ),
    "Drei Männer sitzen auf einer Bank und essen Eis.": (
        "Three men are sitting on a bench eating ice cream."
    ),
    "Ein Mann repariert sein Fahrrad vor einem Laden.": (
        "A man is fixing his bicycle in front of a shop."
    ),
    "Kinder rennen über eine Wiese und lassen Drachen steigen.": (
        "Children run across a meadow flying kites."
    ),
    "Ein Mädchen ohne Schuhe tanzt im Regen.": (
        "A girl without shoes is dancing in the rain."
    ),
    "Ein Junge in einem roten Hemd springt in einen See.": (
        "A boy in a red shirt is jumping into a lake."
    ),
    "Der Hund ist größer als die Katze.": "The dog is bigger than the cat.",
    "Niemand sitzt auf der Bank.": "Nobody is sitting on the bench.",
    "Siebzehn Pinguine warten auf den Bus.": (
        "Seventeen penguins are waiting for the bus."
    ),
    "Der Koch schneidet Zwiebeln und weint.": "The cook is cutting onions and crying.",
    "Gestern hat es den ganzen Tag geregnet.": "It rained all day yesterday.",
}


# %% tags=["nbval-ignore-output"]
@torch.no_grad()
def least_sure(german, english):
    """The smallest probability of a token in this translation."""
    source, target = (torch.tensor([ids]) for ids in to_english.pair(german, english))
    p = to_english.model(source, target[:, :-1]).softmax(dim=-1)
    return p.gather(-1, target[:, 1:, None]).min().item()


read = to_english(list(OURS))
scored = [
    (metrics.bleu([said], [OURS[german]]).score, least_sure(german, said), said)
    for german, said in zip(OURS, read, strict=True)
]
print("BLEU   least sure")
for score, sure, said in sorted(scored, reverse=True):
    print(f"{score:5.1f}  {sure:.2f}  {said}")

# %% tags=["remove-cell"]
said = dict(zip(OURS, read, strict=True))
assert said["Zwei Hunde spielen im Schnee."] == "Two dogs play in the snow."
assert said["Niemand sitzt auf der Bank."].endswith(" man is sitting on the bench.")
assert MODEL[0].replace(" .", ".") in read
alone = [corpus_bleu([m], [h]) for m, h in zip(MODEL, HUMAN, strict=True)]
assert [round(score) for score in alone] == [42, 59]
certain = dict(zip(OURS, (sure for _, sure, _ in scored), strict=True))
assert sorted(certain.values())[5] < 0.25 < sorted(certain.values())[6]
assert (
    certain["Zwei Hunde spielen im Schnee."]
    > 0.25
    > certain["Niemand sitzt auf der Bank."]
)

# %% [markdown]
# Six of the twelve are right. One is the human's sentence word for word; the other five have 42 to
# 67 points and lose the rest to "play" for "are playing" or "store" for "shop". In the same range
# stand two that nobody could use, the man for *niemand* and a row of syllables for *siebzehn
# Pinguine*: most of their other words are right.
#
# The second column ranks these twelve better, and needs no reference: all that are right have 0.34
# or more, all that are wrong 0.17 or less, *niemand* among them. (Twelve sentences prove nothing,
# and a model can be sure and wrong.)
#
# So use a score to rank systems over many sentences ([How sure can we be?](13b_how_sure.ipynb) asks
# when a difference is more than luck). About one sentence it says little, and about one word that
# turns the meaning round, nothing: for that one has to read.

# %% [markdown]
# Now **your own**, in either direction: write captions between the quotation marks and run the
# cell. (Or in the browser, token by token, with what it looked at: [Type your
# own](../book/your_own/writing.md#a-translator).)

# %% tags=["nbval-ignore-output"]
to_german = stored.translator("en", "de")
for english in ["A man is riding a bicycle.", "The children are asleep."]:
    print(english, "→", to_german([english], decoding.beam)[0])

# %% [markdown]
# <details><summary>How large is this, and how does one train it?</summary>
#
# | | what chapter 8 trains | what one core trains in about an hour | the paper's base model |
# |---|---|---|---|
# | sentences | lists of number words | 29,000 pairs of captions | 4.5 million pairs |
# | parameters | 0.2 million | 2.0 million | 65 million |
# | steps × tokens (source and target) | some hundreds, of small batches | 8,000 × 4,096 | 100,000 × 50,000 |
#
# To train one yourself, set the switch in the folded cell to `True`. This needs a network
# connection (or a local copy of the data, see [Running the course](../book/running.md)) and, for
# more than a try, patience or a GPU.
#
# </details>

# %% tags=["hide-input"]
REAL_DATA = False  # True: train on Multi30k's captions instead
REAL_STEPS = 3000

if REAL_DATA:
    from dataclasses import replace
    from functools import partial

    from lectures_lib.tokenization import BPE

    captions = data.load("translation", source="real")
    specials = ["<pad>", "<s>", "</s>"]
    subwords = BPE.train([t for c in captions for t in c.values()], 8000, specials)
    encoded = [
        (
            [*subwords.encode(caption["en"]), data.EOS],
            [data.BOS, *subwords.encode(caption["de"]), data.EOS],
        )
        for caption in captions
    ]
    config = replace(TransformerConfig.SMALL, vocab_size=len(subwords), pre_norm=True)
    translator = Transformer(config)
    optimizer = torch.optim.Adam(translator.parameters(), lr=1.0, betas=(0.9, 0.98))
    training.fit(
        translator,
        data.Batches(encoded, data.pad_pairs, max_tokens=4096),
        partial(training.translation_loss, smoothing=0.1),
        optimizer,
        LambdaLR(optimizer, training.transformer_schedule(config.d_model, 1000)),
        steps=REAL_STEPS,
        clip=1.0,
        mixed_precision="bf16",
    )
    translator.eval()
    asked = data.load("translation", "test", source="real")[:100]
    ids, lengths = data.pad([[*subwords.encode(c["en"]), data.EOS] for c in asked])
    found = decoding.greedy(
        translator, ids, lengths, begin=data.BOS, end=data.EOS, max_len=60
    )
    german = [subwords.decode(i, skip_specials=True) for i in found.sentences()]
    print(asked[0]["en"], "→", german[0])
    print(metrics.bleu(german, [caption["de"] for caption in asked]))

# %% [markdown]
# ## Where it looks
#
# Where did the small model of the first section look while it wrote? All four heads of its second
# layer, for one list:

# %% tags=["hide-input"] mystnb={"image": {"alt": "Four heat maps of cross-attention for one list of two numbers, one for each head of the second layer. Rows are the German words about to be written, columns the English words. In most heads the strongest cell before a digit word is the framed one; which head does what differs between runs."}, "figure": {"caption": "Cross-attention in the second layer. Rows: the word about to be written. Columns: the source. Squares: the English word (or words) that it translates."}}
english, german = (
    data.number_tokens("twenty-seven, six hundred and eighty"),
    ["sieben", "und", "zwanzig", ",", "sechs", "hundert", "achtzig"],
)
batch = data.pad_pairs(encode([(english, german)]))
with torch.no_grad(), record(model) as seen:
    model(batch.source, batch.read, batch.source_lengths)
weights = seen["decoder.blocks.1.cross_attention.weights"][0]
right = data.number_alignment(english, german)

figure, axes = plt.subplots(2, 2, figsize=(8.0, 7.2), sharex=True, sharey=True)
for head, ax in enumerate(axes.flat):
    columns, rows = [*english, "</s>"], [*german, "</s>"]
    plots.heatmap(
        weights[head], rows=rows, columns=columns, ax=ax, title=f"head {head}"
    )
    for row, sources in enumerate(right):
        for column in sources:
            corner = (column - 0.5, row - 0.5)
            box = plt.Rectangle(corner, 1, 1, fill=False, color=plots.RED, linewidth=2)
            ax.add_patch(box).set_zorder(5)
plt.show()

# %% [markdown]
# The frames mark the right source words. Before most words that stand for a digit of the number
# ("sieben" for the 7, "zwanzig" for the 2) a head looks most at the word that the model is about to
# translate. For each of the eight heads, over all test lists:


# %% tags=["nbval-ignore-output"]
def share_of_digits(weights, pairs):
    """How often the most looked-at word is the one translated."""
    hits = []
    for row, (english, german) in zip(weights.argmax(-1).tolist(), pairs, strict=True):
        right = data.number_alignment(english, german)
        for i, word, of_word in zip(row, german, right, strict=False):
            if word not in ("hundert", "und", ","):
                hits.append(i in of_word)
    return sum(hits) / len(hits)


pairs = [pair for of_kind in tests.values() for pair in of_kind]
batch = data.pad_pairs(encode(pairs))
with torch.no_grad(), record(model) as seen:
    model(batch.source, batch.read, batch.source_lengths)
shares = {
    (layer, head): share_of_digits(
        seen[f"decoder.blocks.{layer}.cross_attention.weights"][:, head], pairs
    )
    for layer in range(2)
    for head in range(4)
}
print("digits at which a head looks at the right word most:")
for layer in range(2):
    of_heads = " ".join(f"{shares[layer, head]:.2f}" for head in range(4))
    print(f"layer {layer}, heads 0 to 3: {of_heads}")

# %% tags=["remove-cell"]
assert max(shares.values()) > 0.95
assert sum(share > 0.7 for share in shares.values()) >= 3

# %% [markdown]
# So does attention show which word was translated from which? For digits, most heads do (not the
# same ones in every run). For "hundert" it depends on the head (means of five seeds,
# [results](../book/results/translators.md#alignment)):
#
# | writing "hundert", looked most at "hundred" | share |
# |---|---|
# | the head that is best at digits | 0.67<!-- alignment: transformer_2/one_head/hundert/mean .2f --> |
# | the head that is best at this, picked afterwards | 0.95<!-- alignment: transformer_2/best_for_each/hundert/mean .2f --> |
# | chapter 1's recurrent model, which has one head | 0.08<!-- alignment: additive/one_head/hundert/mean .2f --> |
#
# Yet the recurrent model made no mistake in the test. In "six hundred" its encoder's vector at
# "six" has already read the next word, and can tell that "hundred" follows. A weight says where a
# model looked, not why. And a model that knows already need not look.

# %% [markdown]
# ## Our code against Marian's, with random weights
#
# The translation models of the OPUS-MT project (Tiedemann and Thottingal, 2020), trained with the
# program Marian (Junczys-Dowmunt et al., 2018), are Transformers of the base kind. They differ from
# the paper's in four places: swish ($x$ times its sigmoid, a smooth relative of ReLU) instead of ReLU, all sines before all cosines in a position
# vector, a bias on the scores, and a decoder that begins with the padding token.
#
# Does our code read them correctly? **Nothing is translated here**: the folded cell builds Hugging
# Face's class in small, with random numbers for *every* weight and bias, and ours reads what it
# saved. The scores should agree, until ours forgets the bias.

# %% tags=["hide-input", "nbval-ignore-output"]
CHECKPOINT = None  # with a network: "Helsinki-NLP/opus-mt-en-de"

from transformers import MarianConfig, MarianMTModel

from lectures_lib.tasks import marian

if CHECKPOINT:
    translator = marian.from_pretrained(CHECKPOINT)
    theirs = MarianMTModel.from_pretrained(CHECKPOINT).eval()
    vocabulary = marian.MarianVocabulary(CHECKPOINT)
    sentences = ["The keys to the cabinet are on the table."]
    print(marian.translate(translator, vocabulary, sentences))
else:
    sizes = {"d_model": 64, "encoder_ffn_dim": 128, "decoder_ffn_dim": 128}
    layers = {"encoder_layers": 2, "decoder_layers": 2}
    heads = {"encoder_attention_heads": 4, "decoder_attention_heads": 4}
    tokens = {"pad_token_id": 99, "decoder_start_token_id": 99, "eos_token_id": 0}
    theirs = MarianMTModel(
        MarianConfig(
            vocab_size=100, scale_embedding=True, activation_function="swish",
            **sizes, **layers, **heads, **tokens,
        )
    ).eval()  # fmt: skip
    chance = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in theirs.parameters():
            if parameter.dim() == 1:  # biases, and the two vectors of each LayerNorm
                parameter.normal_(generator=chance)
        theirs.final_logits_bias.normal_(generator=chance)
    with tempfile.TemporaryDirectory() as folder:
        theirs.save_pretrained(folder)
        translator = marian.from_pretrained(folder)

# %%
sources, written = torch.randint(1, 90, (2, 7)), torch.randint(1, 90, (2, 5))
with torch.no_grad():
    ours = translator(sources, written)
    reference = theirs(input_ids=sources, decoder_input_ids=written).logits
    translator.output_bias.zero_()
    without = translator(sources, written)
print(f"largest difference of a score: {(ours - reference).abs().max():.3f}")
print(f"without the bias on the scores: {(without - reference).abs().max():.1f}")

# %% tags=["remove-cell"]
if not CHECKPOINT:
    assert (
        (ours - reference).abs().max() < 1e-3 < 0.5 < (without - reference).abs().max()
    )

# %% [markdown]
# ## Exercises
#
# Ungraded; a solution is folded below each.
#
# **1. chrF.** Leave out the spaces. For each $n$ from 1 to 6, take the share of the hypothesis's
# $n$-grams of *letters* that are in the reference (precision), and the share of the reference's
# that are found (recall). With the means $p$ and $r$ of the six, chrF is
# $100 \cdot 5pr / (4p + r)$, which counts recall twice as much. Compare it with BLEU on "Zwei Hunde
# spielten" for "Zwei Hunde spielen im Schnee", and with sacrebleu's `CHRF`.

# %% tags=["hide-cell"]
# Solution 1
from sacrebleu.metrics import CHRF


def chrf(hypothesis, reference):
    """chrF of one sentence, from 0 to 100."""
    hypothesis, reference = hypothesis.replace(" ", ""), reference.replace(" ", "")
    p = r = 0.0
    for n in range(1, 7):
        found, wanted = n_grams(hypothesis, n), n_grams(reference, n)
        shared = (found & wanted).total()
        p, r = p + shared / found.total() / 6, r + shared / wanted.total() / 6
    return 100 * 5 * p * r / (4 * p + r) if p else 0.0


hypothesis, reference = "Zwei Hunde spielten", "Zwei Hunde spielen im Schnee"
theirs = CHRF().sentence_score(hypothesis, [reference]).score
print(
    f"BLEU {corpus_bleu([hypothesis], [reference]):.1f}, "
    f"chrF {chrf(hypothesis, reference):.1f}, sacrebleu's {theirs:.1f}"
)
# BLEU finds no four words in a row to count. chrF sees that "spielten" is nearly
# "spielen".

# %% [markdown]
# **2. Added up, or averaged.** Compute the BLEU of the twelve translations above once with
# `corpus_bleu` over all of them, and once as the mean of their twelve scores. Which is larger, and
# how much of the difference is due to brevity penalties?
#
# *Hint:* cut the twelve by `re.findall(r"\w+|[.,]", text)`, and put spaces between the words.

# %% tags=["hide-cell", "nbval-ignore-output"]
# Solution 2
import re


def cut(texts):
    """The same texts with a space between words and signs."""
    return [" ".join(re.findall(r"\w+|[.,]", text)) for text in texts]


said, wanted = cut(read), cut(OURS.values())
each = [corpus_bleu([s], [w]) for s, w in zip(said, wanted, strict=True)]
theirs = metrics.bleu(said, wanted, tokenize="none").score
print(f"added up {corpus_bleu(said, wanted):.1f} (sacrebleu's {theirs:.1f})", end=", ")
print(f"mean of twelve {sum(each) / len(each):.1f}", end=", ")
kept = [
    min(1, math.exp(1 - len(w.split()) / len(s.split())))
    for s, w in zip(said, wanted, strict=True)
]
unpunished = [score / part for score, part in zip(each, kept, strict=True)]
print(f"without penalties {sum(unpunished) / len(unpunished):.1f}")
# Added up, the score is higher by five points. Nearly three of them are penalties:
# alone, five of the twelve pay one; together (111 words for 108) there is none to pay.
# Most of the rest: long sentences count for more, and among these twelve they score
# higher.

# %% [markdown]
# **3. A second human.** With several references an $n$-gram counts at most as often as in the one
# that has it most often, and the length is compared with the nearest one. Give the page's first
# sentence a second reference, "Two dogs play outside in the snow ." How much is the second human
# worth?
#
# *Hint:* the larger of two counts is `first | second` for `Counter`s. At the same distance the shorter reference is taken.

# %% tags=["hide-cell"]
# Solution 3
said = MODEL[0].split()
second = "Two dogs play outside in the snow ."
humans = [HUMAN[0].split(), second.split()]
logs = []
for n in (1, 2, 3, 4):
    wanted = Counter()
    for human in humans:
        wanted |= n_grams(human, n)
    found = n_grams(said, n)
    logs.append(math.log((found & wanted).total() / found.total()))
nearest = min((abs(len(human) - len(said)), len(human)) for human in humans)[1]
both = 100 * min(1, math.exp(1 - nearest / len(said))) * math.exp(sum(logs) / 4)
one = corpus_bleu(MODEL[:1], HUMAN[:1])
print(f"one human {one:.1f}, two humans {both:.1f}")
# Nine points for the same sentence: the number of references is in every signature.

# %% [markdown]
# ## Summary
#
# 1. Right words flatter: of lists of nine words, each right nine times in ten, four in ten are
#    right.
# 2. BLEU is the geometric mean of the shares of 1- to 4-grams that a reference has too, times a
#    penalty for being short. It is blind to synonyms, and to the one word that turns the meaning
#    round.
# 3. Over what, cut how, on which test set? Without a signature two scores cannot be compared.
# 4. Into German, the Transformer's base model beat all earlier systems at the lowest cost, and big
#    scored higher still at seven times that cost; into French, base did not lead.
# 5. A translator always says something, and nothing in the sentence shows a guess (its
#    probabilities may): read what it writes.
#
# **Homework:** [Homework 3](../exercises/hw3_training_and_generating.ipynb) trains a small language model and
# counts how many of its answers are right.
#
# **Next:** a translator gives probabilities. Which words do we take? [Chapter 9](09_generating.ipynb).
#
# ## References
#
# - Ashish Vaswani et al. (2017). *Attention is all you need.* NeurIPS. Section 6.1, table 2. The
#   41.8 BLEU are in the abstract of the later version, arXiv:1706.03762.
# - Kishore Papineni, Salim Roukos, Todd Ward and Wei-Jing Zhu (2002). *BLEU: a method for automatic
#   evaluation of machine translation.* ACL.
# - Matt Post (2018). *A call for clarity in reporting BLEU scores.* WMT. sacrebleu.
# - Maja Popović (2015). *chrF: character n-gram F-score for automatic MT evaluation.* WMT.
# - Ricardo Rei, Craig Stewart, Ana C. Farinha and Alon Lavie (2020). *COMET: a neural framework for
#   MT evaluation.* EMNLP.
# - Desmond Elliott, Stella Frank, Khalil Sima'an and Lucia Specia (2016). *Multi30K: multilingual
#   English-German image descriptions.* Workshop on Vision and Language.
# - Jörg Tiedemann and Santhosh Thottingal (2020). *OPUS-MT: building open translation services for
#   the world.* EAMT.
# - Marcin Junczys-Dowmunt et al. (2018). *Marian: fast neural machine translation in C++.* ACL,
#   demonstrations.
