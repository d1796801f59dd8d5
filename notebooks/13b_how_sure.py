# %% [markdown]
# # How sure can we be?
#
# Chapter 14 will report that one recipe judges 0.86<!-- fine_tuning_small: sentiment/test/accuracy/mean .2f --> of the
# test sentences correctly, on average over five trainings, and another classifier 0.84<!-- labelled_sets:
# sentiment/frozen .2f -->. So the first is better? There are 80 test sentences: the difference is a sentence or two.
#
# Below, one classifier takes many simulated examinations. It never changes; only the questions do. **Which differences
# in a table are differences between systems, and which are luck?**

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

# %% tags=["hide-input"] mystnb={"image": {"alt": "Three rows of dots, each dot the accuracy in one of 300 test sets. With 46 questions the dots reach from about 0.70 to 1, with 80 sentences from about 0.75 to 0.98, with 872 sentences only from about 0.81 to 0.89. A vertical line marks 0.86, what the classifier truly has."}, "figure": {"caption": "One classifier, right with a probability of 0.86 on every example, in 300 test sets of each size. Each dot is the accuracy that somebody would have published."}}
import matplotlib.pyplot as plt
import numpy as np

from lectures_lib.show import plots

# three tests of this book: chapter 17b's, the one above, and SST-2's film reviews
SIZES = {"46 questions": 46, "80 sentences": 80, "872 sentences": 872}
rng = np.random.default_rng(0)
figure, ax = plt.subplots(figsize=(6.4, 2.5))
ax.axvline(0.86, color=plots.ORANGE, zorder=0)
for row, n in enumerate(SIZES.values()):
    shares = rng.binomial(n, 0.86, 300) / n
    heights = -row + rng.uniform(-0.3, 0.3, 300)
    ax.scatter(shares, heights, s=9, color=plots.BLUE, alpha=0.5, lw=0)
ax.set_yticks([0, -1, -2], list(SIZES))
ax.tick_params(axis="y", length=0)
ax.set(xlabel="accuracy", xlim=(0.68, 1.01))
plt.show()

# %% [markdown]
# **After this chapter you can**
#
# - say how far an accuracy would move with another test set of the same size;
# - say what three seeds can show;
# - compare two systems on the same examples, and say when the comparison lies;
# - recognise the best of many, and a number that was never compared with a simple rule;
# - write the sentence that a table allows.
#
# **Time** about 60 minutes. **You need** the [primer](../book/primer.md); of [chapter 12](12_bert.ipynb) only that
# MiniLM turns a sentence into a vector.

# %% tags=["hide-input"]
import math

from scipy import stats
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

from lectures_lib import data, metrics
from lectures_lib.models import minilm
from lectures_lib.tasks.sentence_bert import SentenceBert

# %% [markdown]
# ## One number is a draw
#
# Whoever wrote the 80 sentences could have written 80 others. Suppose that the classifier is right with a probability
# of 0.86 on *any* such sentence. Then its published accuracy is the share of heads in 80 tosses of a biased coin.

# %% [markdown]
# **Predict.** The picture has no row for 200 sentences. We toss 200 coins a thousand times, which gives a thousand
# accuracies, and leave out the highest and the lowest 25. Between which accuracies are the rest: 0.85 and 0.87, 0.81
# and 0.91, or 0.76 and 0.96?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: 0.81 and 0.91 -->
#
# 0.81 and 0.91, to within a sentence or two; with 80 sentences, 0.79 and 0.93. "0.86" has two decimals, so both seem
# to mean something. But one sentence of 80 is 0.0125: the second decimal says whether one sentence more was right.
#
# </details>

# %% tags=["atol=0.02"]
rng = np.random.default_rng(1)
for name, n in {**SIZES, "200 sentences": 200}.items():
    shares = rng.binomial(n, 0.86, 1000) / n  # a thousand test sets of n examples
    low, high = np.quantile(shares, [0.025, 0.975])
    print(f"{name}: 95 % between {low:.2f} and {high:.2f}", end=", ")
    print(f"standard deviation {shares.std():.3f}")

# %% [markdown]
# That standard deviation has a name, the **standard error**, and needs no simulation. A single toss is 1 with
# probability $p$ and 0 otherwise; its variance is $p(1-p)$. The mean of $n$ independent tosses has this variance
# divided by $n$, and the standard error is its root:
#
# $$\text{standard error} = \sqrt{\frac{p\,(1-p)}{n}}.$$


# %%
def standard_error(share, n):
    """How far a share of n independent examples scatters."""
    return math.sqrt(share * (1 - share) / n)


for name, n in SIZES.items():
    print(f"{name}: {standard_error(0.86, n):.3f}")

# %% [markdown]
# Nobody knows the true $p$, so we put the measured share in its place. About 95 % of all test sets fall within two
# standard errors: 0.86 on 80 sentences means "0.86, give or take 0.08", and the other classifier's 0.84 lies well
# inside. On 872 sentences it would be give or take 0.02.

# %% [markdown]
# **Predict.** On 80 sentences, an accuracy of 0.86 is known to ± 0.08. You want ± 0.01, an eighth
# of that. How many sentences must be labelled: 640, about 1,600 or about 5,000?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: about 5,000 -->
#
# About 5,000: 64 times as many, since $n$ stands under a root. 640 would be right if twice as many sentences made an
# accuracy twice as precise. They make it 1.4 times as precise.
#
# </details>

# %%
for n in (80, 640, 1600, 5000):
    print(f"{n:5} sentences: ± {2 * standard_error(0.86, n):.3f}")

# %% [markdown]
# Two warnings. The formula needs *independent* examples: ten questions about one text are fewer than they look. And
# near 0 or 1, on few examples, it promises too much (exercise 1).
#
# ## Other seeds
#
# Training has its luck, too: the first weights of the head, the order of the batches, dropout. The same recipe with
# other random numbers gives another accuracy *on the same test set*. Here are three tasks of chapter 14, from the
# course's [experiments](../book/results/fine_tuning.md#fine-tuning-small) (RTE: does one sentence follow from another?):

# %% [markdown]
# **Predict.** A model was fine-tuned on SST-2 (is a film review praise or complaint?) with four
# seeds and asked about 872 sentences. Which is larger: the scatter of the four accuracies, or the
# standard error of the test set?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: the standard error of the test set -->
#
# The test set's: it is nearly three times as large. It is tempting to take the spread over the
# seeds for *the* uncertainty, because papers print it behind the "±". But all four models were
# asked the same sentences: if those happen to be easy, they are easy for all four, and the spread
# does not show it.
#
# </details>

# %%
SEEDS = {  # each seed's accuracy, and how many examples were asked
    "SST-2": ([0.8888, 0.8899, 0.8933, 0.8842], 872),
    "our sentiment": ([0.8750, 0.8500, 0.8625, 0.8500, 0.8500], 80),
    "RTE": ([0.5884, 0.5848, 0.5668], 277),
}
for task, (values, n) in SEEDS.items():
    mean, spread = np.mean(values), np.std(values, ddof=1)
    print(
        f"{task:13} mean {mean:.3f}, {min(values):.3f} to {max(values):.3f},", end=" "
    )
    print(f"seeds ± {spread:.3f}, test set ± {standard_error(mean, n):.3f}")

# %% [markdown]
# So there are two questions. *Would this recipe win again, trained anew?* The seeds answer that. *Would it win on
# other sentences?* That is for the standard error (of the difference, if there are two systems). A careful table has
# both.
#
# **Never report the best seed.** Five seeds of [chapter 14b](14b_words_and_spans.ipynb)'s reader have an F1, a score
# between 0 and 1, of 0.57<!-- fine_tuning_small: questions/test/f1/mean .2f --> on average, from 0.47<!--
# fine_tuning_small: questions/test/f1/min .2f --> to 0.74<!-- fine_tuning_small: questions/test/f1/max .2f -->. "Our
# reader reaches 0.74" is true, and useless: train once more, and you will probably get less.
#
# Now two teams have the same recipe. The true accuracies of its models scatter around 0.86, with a standard deviation
# of 0.011 from training to training.

# %% [markdown]
# **Predict.** One team trains three models, the other ten, and each reports its best. How often does the second team
# report the higher number: in half of the cases, in two thirds or in three quarters?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: in three quarters -->
#
# In three quarters: of thirteen models each is equally likely to be the best of all, and ten are the second team's.
# That makes 10/13 = 0.77. "In half of the cases" is tempting, since each number is that of a real model; and it is
# right for the teams' *means*, as it should be for one recipe. But "our best" is a different question to each team.
#
# </details>

# %% tags=["atol=0.02"]
rng = np.random.default_rng(8)
teams = rng.normal(0.86, 0.011, (5000, 2, 20))  # 5,000 times two teams, 20 models each
best = np.maximum.accumulate(teams, axis=2)  # of the first model, the first two, …
mean = teams.cumsum(axis=2) / np.arange(1, 21)
for name, of_first in {"best": best, "mean": mean}.items():
    three, ten = of_first[:, 0, 2], of_first[:, 1, 9]
    print(f"{name}: three models {three.mean():.3f}, ten {ten.mean():.3f}", end=", ")
    print(f"the ten ahead in {(ten > three).mean():.2f} of the cases")

# %% tags=["hide-input"] mystnb={"image": {"alt": "Accuracy over the number of models trained, 1 to 20. A blue band, the best of them, begins at 0.86 and climbs, first fast and then slowly, to 0.88 with twenty models. A grey band, their mean, stays level at 0.86 and becomes narrower; from about twelve models on the two bands no longer overlap."}, "figure": {"caption": "One recipe, trained 1 to 20 times. Blue: what a team reports that keeps the best model. Grey: what a team reports that takes the mean. Lines: on average; bands: 95 of 100 teams."}}
figure, ax = plt.subplots(figsize=(6.4, 2.7))
ks = np.arange(1, 21)
for name, of_first, colour, y in (
    ("the best", best, plots.BLUE, 0.889),
    ("the mean", mean, plots.GREY, 0.85),
):
    low, high = np.quantile(of_first[:, 0], [0.025, 0.975], axis=0)
    ax.fill_between(ks, low, high, color=colour, alpha=0.25, lw=0)
    ax.plot(ks, of_first[:, 0].mean(axis=0), color=colour)
    ax.text(20, y, name, color=colour, ha="right", va="center")
ax.set(xlabel="models trained", ylabel="accuracy", xticks=(1, 3, 5, 10, 15, 20))
plt.show()

# %% tags=["remove-cell"]
assert 0.75 < (best[:, 1, 9] > best[:, 0, 2]).mean() < 0.79
assert abs((mean[:, 1, 9] > mean[:, 0, 2]).mean() - 0.5) < 0.025
assert abs((best[:, 0, 4].mean() - 0.86) / 0.011 - 1.2) < 0.06
low, high = (np.quantile(x[:, 0], q, axis=0) for x, q in ((best, 0.025), (mean, 0.975)))
assert low[8] < high[8] and (low[13:] > high[13:]).all()  # where the bands part

# %% [markdown]
# The best of five is on average 1.2 standard deviations above the mean, the best of ten 1.5, and none of it comes back
# when the recipe is trained again. The mean of several seeds does not grow; it gets surer.
#
# What can three seeds show? A mean, and hardly a spread: in 95 cases of 100 their standard deviation is anything from
# a sixth to nearly twice the true one. So print all three. And if three of one recipe are *all* above three of
# another?

# %% [markdown]
# **Predict.** Two recipes are equally good. Each is trained with three seeds. How often are all three accuracies of
# one of them above all three of the other: once in 10, once in 20 or once in 64 times?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: once in 10 -->
#
# Once in 10. Six numbers can be dealt to two recipes in 20 ways, all equally likely, and in two of
# these one recipe has the upper three. Once in 20 is right if you named *which* recipe would win
# before you looked. Once in 64 would be right for six heads in six tosses of a coin. (The
# simulation is a draw, too: it may miss the count by a hundredth.)
#
# </details>

# %% tags=["atol=0.01"]
rng = np.random.default_rng(2)
first, second = rng.normal(size=(2, 20_000, 3))  # seeds of two equally good recipes
above = first.min(axis=1) > second.max(axis=1)
below = first.max(axis=1) < second.min(axis=1)
print(f"three above three: {(above | below).mean():.2f} of the times")
print(f"by counting: {2 / math.comb(6, 3):.2f}")
gap = abs(first.mean(axis=1) - second.mean(axis=1))
bars = first.std(axis=1, ddof=1) + second.std(axis=1, ddof=1)
print(f"mean ± standard deviation, apart: {(gap > bars).mean():.2f}")
print(f"mean ± standard error, apart: {(gap > bars / math.sqrt(3)).mean():.2f}")
luck = stats.ttest_ind(first, second, axis=1).pvalue
print(f"t-test, luck less than once in 20: {(luck < 0.05).mean():.2f}")

deviations = first.std(axis=1, ddof=1)
low, high = np.quantile(deviations, [0.025, 0.975])
print(f"standard deviation of three, in place of 1: {low:.1f} to {high:.1f}")

# %% [markdown]
# So much for luck alone. (The *t*-test, made for few draws, divides the difference of the means by
# its standard error, and asks how often luck makes so large a ratio.)
#
# | one sees | with two equal recipes |
# |---|---|
# | error bars (standard errors) apart | in about a quarter of the cases |
# | three seeds above three | once in 10 |
# | a *t*-test below its 0.05 | once in 20, as it promises |
# | four seeds above four | once in 35 |
#
# ## Two systems, the same sentences
#
# Two systems are usually asked the *same* examples, and then they share their luck: a hard sentence is hard for both.
# Take two classifiers (logistic regressions) that learned from 220 sentences to tell praise from complaint. One sees
# counted words, the other MiniLM's sentence vectors:


# %% tags=["nbval-ignore-output"]
train, test = (data.load("sentiment", split) for split in ("train", "test"))
learn, asked = ([row["text"] for row in rows] for rows in (train, test))
labels, truth = (np.array([row["label"] for row in rows]) for rows in (train, test))

bag, bert = CountVectorizer(), SentenceBert.from_pretrained(minilm.checkpoint())
inputs = {
    "words": (bag.fit_transform(learn), bag.transform(asked)),
    "MiniLM": (bert.embed(learn).numpy(), bert.embed(asked).numpy()),
}
# of each sentence: is it right? and, for `compare` below: what did the right label get?
right, sure = {}, {}
for name, (known, new) in inputs.items():
    model = LogisticRegression(C=10, max_iter=1000).fit(known, labels)
    right[name] = model.predict(new) == truth
    sure[name] = model.predict_proba(new)[np.arange(len(truth)), truth]
    print(f"{name:6} {right[name].sum()} of {len(truth)} right")
only_bert = int((right["MiniLM"] & ~right["words"]).sum())
only_words = int((right["words"] & ~right["MiniLM"]).sum())
print(f"only MiniLM {only_bert}, only words {only_words}, both or neither the rest")

# %% tags=["remove-cell"]
assert 50 <= right["words"].sum() <= 60 and 65 <= right["MiniLM"].sum() <= 71
assert 15 <= only_bert <= 24 and 4 <= only_words <= 10

# %% [markdown]
# The sentences on which both are right, or both wrong, say nothing about which is better. On the
# others one system wins. If the two were equally good, each of these would be the toss of a fair
# coin. How often would coins fall at least as unevenly, one way or the other? This probability is
# called $p$, and the procedure the **sign test** (for right and wrong answers also McNemar's test).
# By hand, for 3 : 0: three coins fall in 8 ways, and two of these, all heads and all tails, are as
# uneven.


# %%
def sign_test(only_first, only_second):
    """How often fair coins would divide so many disagreements at least as unevenly."""
    n, more = only_first + only_second, max(only_first, only_second)
    as_uneven = sum(math.comb(n, heads) for heads in range(more, n + 1))
    return min(1.0, 2 * as_uneven / 2**n)


print(f"3 : 0 by hand: 2/8 = {sign_test(3, 0)}")
theirs = stats.binomtest(10, 15).pvalue
print(f"10 : 5: {sign_test(10, 5):.3f}, by scipy {theirs:.3f}")

# %% [markdown]
# The other tool asks how large the difference is. We cannot draw new test sentences, but we can draw 80 *from these
# 80*, with repetition, again and again, and see how much the difference changes. That is the **bootstrap**. Each
# sentence drawn brings both systems' results with it.


# %%
def bootstrap_difference(first, second, draws=10_000, seed=0):
    """Where the difference of means lies in 95 % of test sets drawn from this one."""
    rng = np.random.default_rng(seed)
    gains = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    means = [rng.choice(gains, len(gains)).mean() for _ in range(draws)]
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


# %% tags=["nbval-ignore-output"]
low, high = bootstrap_difference(right["MiniLM"], right["words"])
print(f"MiniLM - words: {right['MiniLM'].mean() - right['words'].mean():.2f}", end=", ")
print(f"between {low:.2f} and {high:.2f}; p = {sign_test(only_bert, only_words):.3f}")

# %% tags=["remove-cell"]
assert low > 0 and sign_test(only_bert, only_words) < 0.1
assert (low, high) == metrics.bootstrap_difference(right["MiniLM"], right["words"])
assert sign_test(10, 5) == metrics.sign_test(10, 5)
assert standard_error(0.86, 80) == metrics.standard_error(0.86, 80)

# %% [markdown]
# The interval leaves 0 out: on sentences like these MiniLM's vectors are most likely better than words, by something
# between a few points and more than twenty.
#
# Do we need the single sentences, or would the totals do? Take three made-up pairs of systems, each
# with 70 and 62 right of 80. Suppose first that each was tested on 80 sentences of its own. The two
# shares have standard errors of 0.037 and 0.047, so their difference has one of
# $\sqrt{0.037^2 + 0.047^2} = 0.06$. The difference, 0.10, is less than twice that, so it could be luck.

# %% [markdown]
# **Predict.** In pair A, 9 sentences are right in the first system only and 1 in the second only; in pair B it is 13
# and 5, in pair C 18 and 10. Which of the three differences would coins make less than once in twenty times: all
# three, only A's, or none?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: only A's -->
#
# Only A's, about once in 47 times. B's they make nearly once in ten, C's nearly once in five. It is tempting to say
# "all or none, for the lead is eight sentences in each". But the more coins are tossed, the larger a lead may become by
# luck: 8 more heads than tails are rare in 10 tosses and not rare in 28. So for two systems that mostly agree (a
# program and its corrected version, say) a few sentences can be enough, and the totals do not show it.
#
# </details>

# %% tags=["atol=0.013"]
apart = 1.96 * math.hypot(standard_error(70 / 80, 80), standard_error(62 / 80, 80))
print(f"unpaired: difference 0.10, between {0.1 - apart:.2f} and {0.1 + apart:.2f}")
for pair, (a, b) in {"A": (9, 1), "B": (13, 5), "C": (18, 10)}.items():
    gains = np.repeat([1, -1, 0], [a, b, 80 - a - b])
    low, high = bootstrap_difference(gains, np.zeros(80))
    print(f"{pair}, {a:2} : {b:2}: p = {sign_test(a, b):.3f}", end=", ")
    print(f"difference 0.10, between {low:.2f} and {high:.2f}", end=", ")
    print(f"standard error {gains.std() / math.sqrt(80):.3f}")

# %% [markdown]
# Why does agreement help? Only sentences on which the systems differ add to the scatter; those on which they agree,
# right or wrong, add a 0. So A's standard error is 0.038 and C's 0.065, for the same difference. Keep what each system
# said to each example, not only its total.
#
# <details><summary>A's standard error with a pencil, and a real pair B</summary>
#
# A's 80 gains are nine times 1, once −1 and seventy times 0. Their mean is 8/80 = 0.1, the mean of their squares 10/80
# = 0.125, their variance 0.125 − 0.1² = 0.115, and $\sqrt{0.115/80} = 0.038$: twice that leaves 0 out. In C the
# squares add up to 28, and it is 0.065. (The last column of the output has these standard errors. The bootstrap finds
# the same without a formula.)
#
# In one edition of this book, chapter 17b's search by meaning found a right chapter for 34 of 46 questions and a
# search by words for 26. Thirteen questions only the first got right, five only the second: pair B's counts, and so
# its $p$.
#
# </details>
#
# Remember that $p$ is how often luck *alone* would do this. It is not the probability that the systems are equal, and
# $p > 0.05$ does not show that they are; with 80 sentences it mostly shows that 80 are few. How few, you can see below
# ([Two systems, one test](../book/motion.md#two-systems-one-test)): the first system *is* better, 0.86 against 0.84.
# Draw test sets, and count how often the worse one is ahead.
#
# ## A recipe for your own two systems
#
# Keep each system's score on each example, in the same order: 1 or 0 for right or wrong, or any number of which you
# report the mean. Before you read our function: what should it print, so that one can write an honest sentence from
# it?


# %%
def compare(first, second):
    """What two systems' scores on the same examples say about the two."""
    first, second = (np.asarray(scores, dtype=float) for scores in (first, second))
    if first.shape != second.shape:
        raise ValueError("both need scores of the same examples, in the same order")
    won, lost = int((first > second).sum()), int((first < second).sum())
    low, high = bootstrap_difference(first, second)
    print(f"{len(first)} examples, means {first.mean():.3f} and {second.mean():.3f}")
    print(f"first ahead on {won}, second on {lost}: p = {sign_test(won, lost):.2g}")
    print(f"difference {(first - second).mean():+.3f}, {low:+.3f} to {high:+.3f}")


# %% [markdown]
# The example from above; then the same two systems, scored by the probability that each gave to the right label:

# %% tags=["nbval-ignore-output"]
compare(right["MiniLM"], right["words"])
print()
compare(sure["MiniLM"], sure["words"])

# %% tags=["remove-cell"]
assert 0.05 < (sure["MiniLM"] - sure["words"]).mean() < 0.3

# %% [markdown]
# On such numbers the two tools ask two questions. The sign test counts who is ahead *how often*, be it by a hair; the
# bootstrap asks *by how much* on average. One system may win the first and the other the second.
#
# ### When it lies
#
# In three cases `compare` misleads.

# %% [markdown]
# **Predict.** Two programs differ on four sentences of 80, and the first is right on all four. Does the bootstrap's
# interval leave 0 out? And does the sign test fall below 0.05?
#
# <details><summary>Answer</summary>
#
# The bootstrap leaves 0 out, and the sign test is at 0.125: four coins fall alike once in eight
# times. One expects both to say the same. But the bootstrap knows only these 80 sentences. The
# second program never won one of them, so it wins none in any test set that is drawn from them, and
# only once in 60 draws does none of the four turn up. It cannot know that a fifth disagreement
# might have gone the other way.
#
# </details>

# %%
for won in (3, 4, 5, 6):
    gains = np.repeat([1, 0], [won, 80 - won])
    low, high = bootstrap_difference(gains, np.zeros(80))
    print(f"{won} : 0, p = {sign_test(won, 0):.3f}, bootstrap {low:.3f} to {high:.3f}")

# %% [markdown]
# **Few disagreements.** With fewer than six, $p$ *cannot* fall below 0.05, and the bootstrap is too sure. Then give
# the counts, and no verdict.
#
# **Examples in bunches.** Ten questions about one text share their luck: whichever system understands the text is
# ahead on most of them. Suppose two equally good systems. Each of 20 texts suits one of the two, by the toss of a
# coin, and that one wins nine in ten of the questions on which they differ.

# %% [markdown]
# **Predict.** There are ten questions to each text, and on three in ten the systems differ. A fair test would call one
# of the two equals better ("p < 0.05") once in 20 times. How often does the sign test over the 200 questions do so:
# once in 20, once in 10, or more often?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: more often -->
#
# More often, about once in five times. Two hundred examples sound like many, and 60 disagreements too; but only 20
# coins were tossed, one for each text. If each *text* is one example, scored by its mean, the test is as careful as it
# claims to be. (Counts are whole, so a sign test usually stays somewhat below its one in 20.)
#
# </details>


# %% tags=["atol=0.03"]
def equals(rng, texts=20, questions=10, sharing=True):
    """Who wins each question, 1, -1 or 0 for nobody, if neither system is better."""
    shape = (texts, questions)
    each = (texts, 1) if sharing else shape
    suits = rng.choice([1, -1], each)  # the first system, the second
    wins = np.where(rng.random(shape) < 0.9, suits, -suits)
    return wins * (rng.random(shape) < 0.3)  # on the others they agree


def p_value(gains):
    return sign_test(int((gains > 0).sum()), int((gains < 0).sum()))


rng = np.random.default_rng(6)
alone = [equals(rng, sharing=False) for _ in range(2000)]
shared = [equals(rng) for _ in range(2000)]
for name, drawn in {
    "questions that share nothing": alone,
    "ten share a text": shared,
    "the same, text by text": [gains.mean(axis=1) for gains in shared],
}.items():
    alarms = np.mean([p_value(gains) < 0.05 for gains in drawn])
    print(f"{name:28} p < 0.05 in {alarms:.2f} of the cases")

# %% tags=["remove-cell"]
assert np.mean([p_value(gains) < 0.05 for gains in shared]) > 0.15
assert np.mean([p_value(gains.mean(axis=1)) < 0.05 for gains in shared]) < 0.06

# %% [markdown]
# So ask what was drawn independently (texts, speakers, sentences), and give `compare` one number for each of *those*.
#
# **One training each.** `compare` is about two *models*. Trained again, the same recipe gives another model, and no
# number of examples tells whether that one would win. Take two equally good recipes, and let the true accuracies of
# their models scatter by 0.011, as above.

# %% [markdown]
# **Predict.** Each is trained once, and the two models differ on about one example in seven. How often is $p < 0.05$ on
# 872 and on 5,000 examples, compared with 80: less often, as often, or more often?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: more often -->
#
# More often: seldom on 80, in about half of the cases on 5,000. One expects a larger test set to protect from all
# luck. But it finds smaller differences, and two *models* do differ; only their recipes do not.
#
# </details>

# %% tags=["atol=0.04"]
rng = np.random.default_rng(7)
for n in (80, 872, 5000):
    alarms = 0
    for ahead in rng.normal(0, 0.011 * 2**0.5, 400):  # of two trained models
        counts = rng.multinomial(n, [0.07 + ahead / 2, 0.07 - ahead / 2, 0.86])
        alarms += sign_test(int(counts[0]), int(counts[1])) < 0.05
    print(f"{n:5} examples: p < 0.05 in {alarms / 400:.2f} of the cases")

# %% [markdown]
# Several seeds of both help: score each example by its mean over the seeds before `compare`. But `compare` takes these
# few seeds for all there are. So look also whether the seeds themselves overlap, as under *Other seeds*.
#
# ## Looking twice
#
# MiniLM has 72 attention heads. You ask of each, for the same 100 verbs, whether it looks more at the subject than at
# the object. A coin would be right half of the time. Suppose that *no* head knows anything.

# %% [markdown]
# **Predict.** How many of the 100 verbs does the best of these 72 coins get right: 50, about 55 or about 62?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: about 62 -->
#
# About 62. One head has a standard error of 0.05, so 0.62 looks like more than two of them above a half,
# "p = 0.02". But it was not one head: the largest of 72 draws lies that far out in about half of the cases. 55 is a
# common result for a single head, and 50 is the mean of all. On 100 other verbs the best head is a coin again: 50.
#
# </details>

# %% tags=["atol=0.012"]
rng = np.random.default_rng(3)
found = rng.binomial(100, 0.5, (2000, 72)) / 100  # 2,000 times 72 heads that toss coins
best = found.max(axis=1)
anew = rng.binomial(100, 0.5, 2000) / 100  # the chosen head, on 100 other verbs
print(f"one head {found[:, 0].mean():.2f}, the best of 72 {best.mean():.2f}", end=", ")
print(f"the same head on other verbs {anew.mean():.2f}")

# %% tags=["hide-input"] mystnb={"image": {"alt": "Two histograms over the share found, from 0.3 to 0.75. The grey one, the chosen head on 100 other verbs, is a wide hill around 0.50. The blue one, the best of 72 heads on the verbs it was chosen by, is a narrow hill around 0.62. The grey hill's right slope lies below the blue one."}, "figure": {"caption": "72 heads that know nothing, 2,000 times. Blue: the best one on the 100 verbs by which it was chosen. Grey: the same head on 100 others. The distance between the hills is what looking 72 times is worth."}}
figure, ax = plt.subplots(figsize=(6.4, 2.5))
bins = np.arange(0.295, 0.755, 0.01)
for values, colour, name, x, y in (
    (anew, plots.GREY, "on other verbs", 0.43, 110),
    (best, plots.BLUE, "best of 72", 0.655, 200),
):
    ax.hist(values, bins, color=colour, alpha=0.8)
    ax.text(x, y, name, color=colour, ha="left" if x > 0.5 else "right")
ax.set(xlabel="share found", yticks=[])
ax.spines["left"].set_visible(False)
plt.show()

# %% tags=["remove-cell"]
assert abs(best.mean() - 0.62) < 0.006 and abs(anew.mean() - 0.5) < 0.005
assert np.quantile(best, 0.025) >= 0.57

# %% [markdown]
# Whatever is chosen among many *by a number*, that number is too good: for heads, layers, learning
# rates, and the step at which training stops. The way out costs a few examples. Choose on the
# **validation** split; ask the **test** split once, about what was chosen. And give every system
# the same number of tries: the best of twenty learning rates beats an equally good recipe that had
# one try by seven points on average, on the 80 sentences by which it was chosen, if the twenty are independent, and by
# less if they are not (exercise 3).
#
# ## Compared with what?
#
# The last question about a number needs no statistics at all.

# %% [markdown]
# **Predict.** CoLA asks whether a sentence is grammatical. A classifier on MiniLM's frozen vectors is right on
# 0.68<!-- fine_tuning_cola: frozen/accuracy .2f --> of 1,043 sentences, with a standard error of 0.014. That is
# thirteen standard errors above a tossed coin. Has it learned something about grammar?
#
# <details><summary>Answer</summary>
#
# Not by this number. Somebody who says "grammatical" every time, without reading, is right on 0.69<!--
# fine_tuning_cola: majority/accuracy .2f -->. Knowing nothing can give more than a coin. The small standard error makes
# us sure of a number that means little.
#
# </details>

# %%
# accuracy, and Matthews correlation: 1 if all is right, 0 for always the same answer,
# about 0 for guesses
COLA = {
    "always the same answer": (0.691, 0.00),
    "bag of words": (0.691, 0.15),
    "frozen vectors": (0.684, 0.09),
    "fine-tuned": (0.724, 0.31),
}
for name, (accuracy, matthews) in COLA.items():
    print(f"{name:22} accuracy {accuracy:.3f}   Matthews {matthews:.2f}")

# %% [markdown]
# A rule that never looks at what is to be understood is a **blind baseline**, and each task has its own: the most
# frequent answer; the longer text, where lengths differ between the classes; only the second sentence, where pairs are
# judged. Without its number nobody can read yours.
#
# ## What a careful sentence looks like
#
# | one reads | the table allows |
# |---|---|
# | The first (0.86) beats the second (0.84). | On 80 sentences, five seeds of the first have 0.85<!-- fine_tuning_small: sentiment/test/accuracy/min .2f --> to 0.88<!-- fine_tuning_small: sentiment/test/accuracy/max .2f -->, the second 0.84<!-- labelled_sets: sentiment/frozen .2f -->. The lead is one to three sentences, and even 3 : 0 is what coins do one time in four. |
# | Search by meaning is better than search by words. | In one edition of this book it found 34 of 46, words 26. Of 18 disagreements it won 13; coins are as uneven one time in ten. |
# | A head knows subjects: it finds 62 %. | The best of 72 heads finds 62 % on the 100 verbs by which it was chosen, and 50 % on 100 others, as a coin does. |
# | Frozen vectors know grammar: 0.68 of CoLA is right. | Frozen vectors have 0.68<!-- fine_tuning_cola: frozen/accuracy .2f -->, one answer for everything 0.69<!-- fine_tuning_cola: majority/accuracy .2f -->. |
#
# Each sentence on the right says how many, how often, chosen how, or compared with what. It is longer, and it will
# still be true next year.
#
# ## Exercises
#
# Ungraded; a solution is folded below each.
#
# **1. Where the formula breaks.** A classifier is truly right on 95 %, and is measured on 20 examples. How often is
# 0.95 within two standard errors of the measured share? And 0.86 on 80? Then count two right and two wrong answers
# more than there were (Agresti and Coull, 1998), and see again.

# %% tags=["hide-cell", "atol=0.02"]
# Solution 1
rng = np.random.default_rng(4)
for truth_is, n in ((0.95, 20), (0.86, 80)):
    counted_right = rng.binomial(n, truth_is, 10_000)
    for more in (0, 2):  # so many right and so many wrong ones are added
        shares, counted = (counted_right + more) / (n + 2 * more), n + 2 * more
        errors = np.array([standard_error(share, counted) for share in shares])
        held = abs(shares - truth_is) <= 2 * errors
        print(f"{truth_is} on {n}, {more} and {more} added: the interval", end=" ")
        print(f"holds it in {held.mean():.2f} of the cases")
# In 36 % of the cases all 20 are right, and then the formula says "± 0". With two and
# two added that is 22 of 24, and the formula is never so sure.

# %% [markdown]
# **2. Enough questions.** Suppose that a search by meaning really wins two disagreements out of three, and that 18 of
# 46 questions are disagreements. After how many questions does `sign_test` fall below 0.05? Try multiples of 18
# disagreements.

# %% tags=["hide-cell"]
# Solution 2
for times in (1, 2, 3, 4):
    p = sign_test(12 * times, 6 * times)
    print(f"{46 * times:3} questions, {12 * times} : {6 * times}: p = {p:.3f}")
# Some 140 in these steps (28 : 14, from some 107 questions, has 0.044). And this is the
# average case: with fewer than about 100 questions a real advantage of this size is
# missed more often than seen. "No significant difference" is then a fact about the
# test, not about the systems.

# %% [markdown]
# **3. Equal budgets.** Two recipes are equally good, 0.85 whatever the learning rate. One is tried with twenty rates,
# the other with one; the best accuracy on 80 sentences is reported. By how much does the first "win", and how much is
# left on 80 new sentences?

# %% tags=["hide-cell", "atol=0.01"]
# Solution 3
rng = np.random.default_rng(5)
many = rng.binomial(80, 0.85, (5000, 20)).max(axis=1) / 80
one, new = rng.binomial(80, 0.85, (2, 5000)) / 80
print(
    f"by {(many - one).mean():.2f}; on new sentences by {abs((new - one).mean()):.2f}"
)
# (Twenty independent draws are the worst case: models trained on the same data err on
# the same sentences, and then the gain is smaller.)

# %% [markdown]
# **4. Build it: an interval for anything.** For an F1, a median or a correlation nobody remembers a standard error,
# but the bootstrap works for all of them. Write `bootstrap(rows, measure)` for a measure of whole rows, and try it on
# the Matthews correlation of 40 verdicts, 28 of them right.

# %% tags=["hide-cell", "atol=0.03"]
# Solution 4


def bootstrap(rows, measure, draws=2000, seed=0):
    """Where 95 % of a measure's values lie, over test sets drawn from these rows."""
    rng = np.random.default_rng(seed)
    drawn = (rows[rng.integers(len(rows), size=len(rows))] for _ in range(draws))
    low, high = np.quantile([measure(some) for some in drawn], [0.025, 0.975])
    return float(low), float(high)


pairs = np.repeat([[1, 1], [0, 0], [1, 0], [0, 1]], [15, 13, 7, 5], axis=0)
low, high = bootstrap(pairs, lambda some: metrics.matthews(some[:, 0], some[:, 1]))
print(f"Matthews {metrics.matthews(pairs[:, 0], pairs[:, 1]):.2f}", end=", ")
print(f"between {low:.2f} and {high:.2f}")

# %% [markdown]
# ## Summary
#
# 1. An accuracy on $n$ examples is a draw, with a standard error of $\sqrt{p(1-p)/n}$: 0.04 for 0.86 on 80, 0.01 on
#    872.
# 2. Seeds show how the training scatters, not how the test set does; print all of them, never the best.
# 3. Two systems on the same examples: count the disagreements, and compare them with coins; the bootstrap says how
#    large the difference may be. Beware of few disagreements, of examples in bunches, and of one training each.
# 4. The best of many is too good on the examples by which it was chosen: choose on validation, ask test once, with
#    equal budgets.
# 5. Beside every number: the blind rule that knows nothing.
#
# There is no homework about this page; chapters 13c, 14, 16c and 17b lean on it.
#
# **Next:** [chapter 13c](13c_choices.ipynb) judges the choices of BERT's authors with these tools; then chapters
# [14](14_fine_tuning.ipynb) and [14b](14b_words_and_spans.ipynb) put five heads on one body.
#
# ## References
#
# - Quinn McNemar (1947). *Note on the sampling error of the difference between correlated proportions or percentages.*
#   Psychometrika 12.
# - Bradley Efron (1979). *Bootstrap methods: another look at the jackknife.* The Annals of Statistics 7.
# - Alan Agresti and Brent A. Coull (1998). *Approximate is better than "exact" for interval estimation of binomial
#   proportions.* The American Statistician 52.
#
# <details><summary>More to read</summary>
#
# - Thomas G. Dietterich (1998). *Approximate statistical tests for comparing supervised classification learning
#   algorithms.* Neural Computation 10.
# - Nils Reimers and Iryna Gurevych (2017). *Reporting score distributions makes a difference: performance study of
#   LSTM-networks for sequence tagging.* EMNLP. Seeds.
# - Jesse Dodge et al. (2019). *Show your work: improved reporting of experimental results.* EMNLP. The best of *k*
#   tries, as a function of *k*.
# - Taylor Berg-Kirkpatrick, David Burkett and Dan Klein (2012). *An empirical investigation of statistical
#   significance in NLP.* EMNLP. The bootstrap for two systems.
# - Dallas Card et al. (2020). *With little power comes great responsibility.* EMNLP. How many examples a comparison
#   needs.
#
# </details>
