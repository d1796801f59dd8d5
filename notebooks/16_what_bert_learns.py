# %% [markdown]
# # What does BERT learn?
#
# A school book draws sentences as trees. In the one below, "The" and "farmer" belong together, "farmer" and "horse"
# both belong to "sold", and "to" belongs to "stranger", although "a" stands between them.
#
# MiniLM has never been shown such a tree. First it learned to imitate a larger model, one that had learned to guess
# hidden words; then it learned to give texts that belong together similar vectors. **Has it found grammar nevertheless?
# And if someone shows us that it has, how do we know that we are not being fooled?**

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

# %% tags=["hide-input"] mystnb={"image": {"alt": "The words The farmer sold his horse to a stranger in a row, with links above them between The and farmer, farmer and sold, sold and horse, his and horse, sold and stranger, to and stranger, a and stranger. Each link has a name: det, nsubj, obj, nmod:poss, obl, case, det."}, "figure": {"caption": "A sentence and its tree. Each word but one hangs on another word, its governor, in a relation that has a name. The verb, sold, is the root."}}
import matplotlib.pyplot as plt

from lectures_lib import data
from lectures_lib.analysis import perturbed_masking
from lectures_lib.show import plots
from lectures_lib.show.word_links import draw_links, write_words

train, validation, test = (data.load("treebank", split) for split in data.SPLITS)
farmer = test[0]
shown = perturbed_masking.not_punctuation(farmer["upos"])
links = [(i, farmer["heads"][i] - 1) for i in shown if farmer["heads"][i]]
names = [farmer["relations"][i] for i in shown if farmer["heads"][i]]

figure, ax = plt.subplots(figsize=(7.0, 2.8))
write_words(ax, [farmer["words"][i] for i in shown], top=2.6, bottom=-0.3)
draw_links(ax, links, [plots.BLUE] * len(links), names)
plt.show()

# %% [markdown]
# **After this chapter you can**
#
# - turn attention between word pieces into attention between words, and say what a head does over many sentences;
# - find the head that follows a grammatical relation, and hold it against rules that know less than grammar;
# - train a probe on each layer, with a control task and the other baselines that it needs;
# - mix layers with learned weights, compute differential scores, and say what they do and do not show;
# - silence a head, and measure what the model loses.
#
# **Time** about 65 minutes. **You need** chapters [3](03_multi_head_attention.ipynb), [12](12_bert.ipynb) and
# [13](13_pretraining.ipynb).

# %% tags=["hide-input"]
import copy
from collections import Counter

import torch
import torch.nn.functional as F
from torch import nn
from torch.testing import assert_close
from transformers import AutoModel, AutoTokenizer
from transformers.utils import logging

from lectures_lib.analysis import attention_statistics as statistics
from lectures_lib.analysis import probing
from lectures_lib.analysis.probing import Probed, ScalarMix, fit_probe, probe_accuracy
from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert, BertConfig
from lectures_lib.show import source
from lectures_lib.show.viewer import AttentionViewer
from lectures_lib.tasks.word_level import (
    attention_between_words,
    cut_words,
    word_attention,
    word_states,
)
from lectures_lib.tokenization import WordPiece

logging.disable_progress_bar()

# %% [markdown]
# ## Three ways to ask, and how each could fool us
#
# One of the [lectures](../book/references.md) answers the question of this chapter with pictures from three papers,
# three ways of asking; the fourth in the table is added by this book. This chapter has the first two, [chapter
# 16b](16b_trees.ipynb) the others, which ask for whole trees.
#
# | way | what is looked at | what is trained for it | what else could have given the same answer? |
# |---|---|---|---|
# | attention heads (Clark et al., 2019) | who attends to whom | nothing (but one head of 72 is chosen) | nearness: many links join neighbours; tags |
# | probes (Tenney et al., 2019) | each layer's vectors | a small classifier | the classifier learns by heart; tags |
# | perturbed masking (Wu et al., 2020) | reactions to `[MASK]` | nothing | nearness again; something simpler than links |
# | structural probe (Hewitt and Manning, 2019) | distances between vectors | one matrix | nearness again; the words themselves; tags |
#
# The last column is the important one: "this head finds 94 % of the governors" says nothing until we know what
# something *without any grammar* would find. So the results below have a baseline beside them, and most a second one: a
# BERT of the same size that was never trained.
#
# The trees are those of **Universal Dependencies**, a way to annotate that more than a hundred languages share. Each
# word has a tag (`NOUN`, `VERB`, …), a governor, and the name of its relation to the governor. This chapter needs:
#
# - `nsubj` and `obj`: the subject and the object of a verb; `obl`: a noun that says where, when or to whom;
# - `det`: "the", "a", "this"; `amod`: an adjective before its noun; `case`: the preposition of a noun;
# - `nmod`: a noun that belongs to another noun, with `:poss` if it says whose; `compound`: "phone" in "phone book".
#
# We use 154 short, clean sentences, written and annotated for this book. Where it matters, the text says what real
# English gives, from the treebank UD English EWT.

# %%
print(len(train), len(validation), len(test), "sentences:", test.origin)
for field in ("words", "upos", "heads", "relations"):
    print(f"{field:10}", *(f"{entry!s:9}" for entry in farmer[field]))

# %% [markdown]
# Governors are counted from 1, and 0 marks the root (`heads` is UD's word for them, and has nothing to do with
# attention heads). How far away is a governor? (Punctuation is left out of all scores about trees, for how a comma is
# attached is a matter of convention. For the probes below it counts as words, 43 of 345, and easy ones.)

# %% [markdown]
# **Predict.** What share of the links in these trees is between neighbours: about a tenth, a quarter or a half?
#
# <details><summary>Answer</summary>
#
# A half: 53 %. English puts determiners and adjectives before their nouns, and short subjects before their verbs. A
# drawn tree draws the eye to the long links, and so one guesses too low.
#
# </details>

# %%
apart = []
for sentence in test:
    kept = perturbed_masking.not_punctuation(sentence["upos"])
    apart += [b - a for a, b in perturbed_masking.gold_edges(sentence["heads"], kept)]
print(f"links between neighbours: {apart.count(1) / len(apart):.3f} of {len(apart)}")

# %% [markdown]
# So "the next word" is a serious rival.
#
# ## Attention heads
#
# ### From pieces to words
#
# A treebank speaks of words, BERT of pieces. When "flightless" is `flight`, `##less`, attention *to* the word is the
# **sum** of the attention to both pieces: what either of them gets, the word gets. Attention *from* the word is the
# **mean** over both, because each piece had a whole unit of attention to give. By hand, for "birds" and "flightless",
# pieces in the order `birds`, `flight`, `##less`:

# %%
between_pieces = torch.tensor([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.5, 0.1, 0.4]])
to_words = torch.stack(
    [between_pieces[:, 0], between_pieces[:, 1] + between_pieces[:, 2]], dim=1
)
between_words = torch.stack([to_words[0], (to_words[1] + to_words[2]) / 2])
print([[round(share, 2) for share in row] for row in between_words.tolist()])
print("rows sum to", [round(total, 2) for total in between_words.sum(dim=1).tolist()])

# %% tags=["remove-cell"]
assert_close(between_words.sum(dim=1), torch.ones(2))
assert_close(attention_between_words(between_pieces, [[0], [1, 2]]), between_words)

# %% [markdown]
# Summing twice, or averaging twice, would not give rows that sum to 1. The library does it with two matrices that say
# which pieces belong to which word:

# %% tags=["remove-input"]
source.show(attention_between_words, docstring=False)

# %% [markdown]
# Here are MiniLM and its untrained twin, a BERT of the same sizes with fresh weights. (The folded cell checks attention
# between words against Hugging Face's model.)

# %%
folder = minilm.checkpoint()
wordpiece = WordPiece.load(folder / "vocab.txt")
models = {
    "MiniLM": Bert.from_pretrained(folder),
    "untrained": Bert(BertConfig.MINILM).eval(),  # fresh weights
}
model = models["MiniLM"]

# %% tags=["hide-input", "atol=1e-5"]
words = ["The", "flightless", "birds", "watched", "the", "sea", "."]
their_tokenizer = AutoTokenizer.from_pretrained(folder)
their_model = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
inputs = their_tokenizer(words, is_split_into_words=True, return_tensors="pt")
with torch.no_grad():
    their_weights = torch.cat(their_model(**inputs, output_attentions=True).attentions)
last = len(inputs.input_ids[0]) - 1
places = [[0], *cut_words(wordpiece, words).places, [last]]  # [CLS], words, [SEP]
expected = attention_between_words(their_weights, places)
(ours,) = word_attention(model, wordpiece, [words])
difference = (ours - expected).abs().max()
print(f"72 heads, {len(words)} words: largest difference {difference:.7f}")

# %% tags=["remove-cell"]
assert difference < 1e-5

# %% [markdown]
# ### Habits
#
# Before grammar, the simple things. How much attention goes to the previous word, to the next one, to `[CLS]` and to
# `[SEP]`, on average over all words of all sentences? In a sentence's weights, `[CLS]` is the first row and column and
# `[SEP]` the last; the previous word is one place left of the diagonal.


# %%
def attention_in(model, sentences):
    """Attention between the words of each sentence, (layers, heads, n, n)."""
    return list(word_attention(model, wordpiece, [s["words"] for s in sentences]))


def mean_over_words(weights, pick):
    """The mean of what is picked from the sentences' weights, (layers, heads)."""
    return torch.cat([pick(w) for w in weights], dim=-1).mean(dim=-1)


chosen_by = [*train, *validation]  # heads are chosen on these, and judged on `test`
looks = {
    name: (attention_in(m, chosen_by), attention_in(m, test))
    for name, m in models.items()
}
all_weights = [*looks["MiniLM"][0], *looks["MiniLM"][1]]
habits = {
    "previous word": mean_over_words(
        all_weights, lambda w: w[..., 1:-1, 1:-1].diagonal(-1, -2, -1)
    ),
    "next word": mean_over_words(
        all_weights, lambda w: w[..., 1:-1, 1:-1].diagonal(1, -2, -1)
    ),
    "[CLS]": mean_over_words(all_weights, lambda w: w[..., 1:-1, 0]),
    "[SEP]": mean_over_words(all_weights, lambda w: w[..., 1:-1, -1]),
}

# %% tags=["hide-input"] mystnb={"image": {"alt": "Four heat maps of six layers by twelve heads. Previous word: one strong square, layer 0, head 2. Next word: one square of two thirds, layer 1, head 8, and some of a third. To [CLS]: layer 0 weak, layers 1 to 4 mostly strong, about one half and more, layer 5 a little weaker. To [SEP]: little anywhere, a sixth at most."}, "figure": {"caption": "Share of each head's attention, mean over the words of 154 sentences. Rows: layers 0 to 5. Columns: heads 0 to 11."}}
figure, axes = plots.small_multiples(4, columns=2, size=(3.6, 2.0))
for ax, (name, share) in zip(axes, habits.items(), strict=True):
    plots.heatmap(share, range(6), range(12), ax=ax, title=f"to: {name}", limit=1.0)
    ax.tick_params(labelsize=8)
plt.show()

# %% tags=["atol=0.01"]
print(f"layer 0, head 2, to the previous word: {habits['previous word'][0, 2]:.2f}")
print(f"layer 1, head 8, to the next word:     {habits['next word'][1, 8]:.2f}")
by_layer = [f"{share:.2f}" for share in habits["[CLS]"].mean(dim=1)]
print("to [CLS], mean over the heads of layers 0 to 5:", *by_layer)

# %% tags=["remove-cell"]
counted = statistics.head_statistics(all_weights)
assert_close(habits["previous word"], counted.previous)
assert_close(habits["next word"], counted.next)
assert_close(habits["[CLS]"], counted.cls)
assert_close(habits["[SEP]"], counted.sep)
assert counted.previous[0, 2] > 0.99 and 0.6 < counted.next[1, 8] < 0.7
rest = counted.cls.mean(dim=1)
assert rest[0] < 0.3 and rest[1:5].min() > 0.5 and counted.sep[1:].max() < 0.2

# %% [markdown]
# One head does nothing but look back one word. (Layers and heads count from 0 in this book.) On real text it does so
# with 95 %<!-- probing: heads/habits/previous_0_2/mean .0f --> of its attention: it looks back one *piece*, and inside
# a word that is a piece of the same word.
#
# In four of the six layers, more than half of the attention goes to no word: it rests on `[CLS]`. (On real text, where
# sentences are longer, it is 44 %<!-- probing: heads/habits/to_cls/3/mean .0f --> to 51 %<!-- probing:
# heads/habits/to_cls/2/mean .0f --> in these layers.) Clark and others found BERT base to rest on `[SEP]` instead.
#
# ### Heads that follow grammar
#
# A head *finds the governor* of a word if, of all other words, the word attends most to its governor. `[CLS]` and
# `[SEP]` are left out, however much attention rests there, and so is the word itself. Heads may also look the other
# way: then, of all other words, it must be the governor that attends most to the word. By hand, for "the dog barks":


# %%
def governor_hits(weights, governors):
    """Whether each head finds each word's governor, (2, layers, heads, words)."""
    n = weights.shape[-1] - 2
    own = torch.eye(n, dtype=torch.bool)
    among_words = weights[..., 1:-1, 1:-1].masked_fill(own, -1.0)
    upwards = among_words.argmax(dim=-1)  # where the word looks
    downwards = among_words.argmax(dim=-2)  # who looks at the word
    return torch.stack([upwards, downwards]) == torch.tensor(governors) - 1  # root: -1


by_hand = torch.zeros(5, 5)  # [CLS] the dog barks [SEP]
by_hand[1:4, 1:4] = torch.tensor([[0.1, 0.7, 0.2], [0.6, 0.1, 0.3], [0.1, 0.8, 0.1]])
for way, hits in zip(("up", "down"), governor_hits(by_hand, [2, 3, 0]), strict=True):
    print(f"{way:4}", hits.tolist())  # the → dog, dog → barks; barks has no governor


# %% [markdown]
# Here is layer 2, head 8 on the sentence about the farmer. Choose another head or word, with mouse or keyboard.

# %% tags=["hide-input", "nbval-ignore-output"]
weights = looks["MiniLM"][1][0]
AttentionViewer(
    ["[CLS]", *farmer["words"], "[SEP]"],
    weights,
    title="MiniLM, attention between words",
    layer=2,
    head=8,
    names={
        (0, 2): "previous word",
        (1, 8): "next word",
        (2, 0): "object → verb",
        (2, 8): "determiner → noun",
        (4, 5): "rests on [CLS]",
    },
    token="to",
)

# %%
upwards, _ = governor_hits(weights, farmer["heads"])
for head in (8, 0):
    hits = zip(farmer["words"], upwards[2, head], strict=True)
    found = [word for word, hit in hits if hit]
    print(f"layer 2, head {head} finds the governors of:", *found)

# %% [markdown]
# "to" looks at "stranger" and not at "a", which stands between. A head that always looks at the next word could not do
# that.
#
# **Your own sentence**, read by the same 72 heads, piece by piece: [Type your own](../book/live.md#where-a-bert-looks).
#
# ### Heads against a fixed offset
#
# One sentence shows what is possible, no more. For each relation, we now look for the best of the 72 heads, in both
# directions, on 114 sentences, and ask how good it is on the 40 others. Beside it stands the best **fixed offset** of
# the relation, chosen on the same sentences: for `det`, say, "the governor is the next word".


# %%
def hits_of(relations, weights, sentences):
    """Hits (2, layers, heads, words) on these relations; their offsets."""
    hits, offsets = [], []
    for w, s in zip(weights, sentences, strict=True):
        which = [i for i, r in enumerate(s["relations"]) if r in relations]
        hits.append(governor_hits(w, s["heads"])[..., which])
        offsets += [s["heads"][i] - 1 - i for i in which]
    return torch.cat(hits, dim=-1).float(), offsets


def best_head(relations, choose, report):
    """The best head and offset on some sentences; how they do on others."""
    hits, offsets = hits_of(relations, *choose)
    tries = hits.mean(dim=-1)  # 2 directions × 72 heads
    head = torch.unravel_index(tries.argmax(), tries.shape)
    usual = max(sorted(set(offsets)), key=offsets.count)
    hits, offsets = hits_of(relations, *report)
    return head, hits[head], usual, torch.tensor(offsets)


often = Counter(relation for s in test for relation in s["relations"])
frequent = [r for r, n in often.most_common() if n >= 13 and r not in ("root", "punct")]
parts = {
    name: ((on_chosen, chosen_by), (on_test, test))
    for name, (on_chosen, on_test) in looks.items()
}
best = {
    name: {relation: best_head({relation}, *both) for relation in frequent}
    for name, both in parts.items()
}

# %% [markdown]
# **Predict.** For `amod`, an adjective before its noun, the best head finds *every* governor in the test sentences. What
# does the best fixed offset find, which knows nothing of grammar: a third, two thirds, all?
#
# <details><summary>Answer</summary>
#
# All. In these sentences an adjective stands right before its noun, and so "the next word" is always right. The head is
# the one that looks at the next word. "A head finds 100 % of the adjectives' nouns" is a true sentence about MiniLM and
# says nothing about grammar.
#
# </details>

# %% tags=["atol=0.04"]
print("             words    the best head  usual distance  head, other  untrained")
print("            tested  layer no. finds   always  finds    distances       finds")
for relation in frequent:
    (_, layer, head), hits, usual, offsets = best["MiniLM"][relation]
    known, alone = (offsets == usual).float(), best["untrained"][relation][1]
    there = hits[offsets != usual]
    elsewhere = f"{there.mean():.2f}" if len(there) >= 5 else "–"
    print(f"{relation:10} {len(hits):7} {layer:6} {head:3} {hits.mean():5.2f}", end="")
    print(f" {usual:+8} {known.mean():6.2f} {elsewhere:>12} {alone.mean():11.2f}")

# %% tags=["remove-cell"]
judged = {
    name: [
        [
            statistics.parsed(w, s["heads"], s["relations"])
            for w, s in zip(*part, strict=True)
        ]
        for part in both
    ]
    for name, both in parts.items()
}
for name, both in judged.items():
    for entry in statistics.best_heads(*both, at_least=13):
        (way, *place), hits, usual, offsets = best[name][entry.relation]
        assert (entry.layer, entry.head, entry.offset) == (*place, usual)
        assert entry.direction == ("upwards", "downwards")[way]
        assert abs(entry.accuracy - hits.mean()) < 1e-6
accuracy = {
    name: {relation: entry[1].mean().item() for relation, entry in entries.items()}
    for name, entries in best.items()
}
by_offset = {
    relation: (offsets == usual).float().mean().item()
    for relation, (_, _, usual, offsets) in best["MiniLM"].items()
}
for relation in ("det", "obj", "case"):
    _, hits, usual, offsets = best["MiniLM"][relation]
    assert accuracy["MiniLM"][relation] > by_offset[relation] + 0.15
    assert hits[offsets != usual].mean() > 0.5
for relation in ("amod", "nmod:poss"):
    assert abs(accuracy["MiniLM"][relation] - by_offset[relation]) < 0.03
assert by_offset["amod"] == 1
for relation, found in accuracy["untrained"].items():
    assert found < by_offset[relation] - 0.05

# %% [markdown]
# Read the row `det`: of 49 determiners head 8 of layer 2 finds the governors of 94 %. "The next word" (+1) finds 71 %;
# where that is wrong, the head still finds 86 %.
#
# - `amod` and `nmod:poss` show nothing here: the next word is as good. (On real text the head is ahead: for `amod`
#   82 %<!-- probing: heads/minilm/amod/accuracy/mean .0f --> against 77 %<!-- probing:
#   heads/minilm/amod/fixed_offset/mean .0f -->, for `nmod:poss` 74 %<!-- probing: heads/minilm/nmod:poss/accuracy/mean
#   .0f --> against 61 %<!-- probing: heads/minilm/nmod:poss/fixed_offset/mean .0f -->.)
# - `det`, `obj` and `case` are another matter: the distance varies, and the head follows it. (Clear for `det`; for
#   `obj` and `case` real text, below, confirms it.)
# - `nsubj` is in between: in such short sentences a subject mostly stands right before its verb. 15 words of `obl` say
#   little.
# - The best heads of an untrained BERT stay below the fixed offset everywhere, and on real text so do those of three
#   other untrained networks (`det` 11 %<!-- probing: heads/untrained/det/accuracy/mean .0f -->, `obj` 11 %<!-- probing:
#   heads/untrained/obj/accuracy/mean .0f -->). It is the training that makes these heads.
#
# ### Heads against the next noun
#
# An offset is a weak opponent: it does not even know where the nouns are. Give the rule the tags. For `det` it may then
# be "the governor is the next noun", for `obj` "the last verb before it". Such a **tag rule** takes the nearest word
# with some tag, on one side, and knows nothing of trees. Tag and side are chosen on the 114 sentences. (Names count as
# nouns. The tags are the treebank's; a head has to find its own.)

# %% [markdown]
# **Predict.** Head 8 of layer 2 finds 94 % of the determiners' nouns, where the best offset finds 71 %. How many does the
# best tag rule find: fewer than the offset, something between the two, or more than the head?
#
# <details><summary>Answer</summary>
#
# More than the head: 98 %. And so it goes for all relations but `amod`, where both find all. That the head follows
# its governor to varying distances looked like grammar. But to find the next noun one need not know what belongs
# together; it is enough to know what is a noun.
#
# </details>


# %% tags=["atol=0.04"]
def nearest(tags, wanted, side):
    """For each word the nearest one with this tag, right (1) or left (-1); -1: none."""
    found, last = [-1] * len(tags), -1
    order = range(len(tags))
    for place in order if side < 0 else reversed(order):
        found[place] = last
        if tags[place] == wanted:
            last = place
    return found


def rule_hits(relation, rule, sentences):
    """Whether the rule finds the governor of each word with this relation."""
    hits = []
    for s in sentences:
        tags = ["NOUN" if tag == "PROPN" else tag for tag in s["upos"]]
        guesses = nearest(tags, *rule)
        which = [i for i, r in enumerate(s["relations"]) if r == relation]
        hits += [guesses[i] == s["heads"][i] - 1 for i in which]
    return torch.tensor(hits).float()


tags = sorted({tag for s in chosen_by for tag in s["upos"]} - {"PROPN"})
rules = [(tag, side) for tag in tags for side in (-1, 1)]
by_tag = {}
print("            words   head  distance  tag rule: the nearest")
for relation in frequent:
    rule = max(rules, key=lambda one: rule_hits(relation, one, chosen_by).sum())
    by_tag[relation] = rule_hits(relation, rule, test).mean().item()
    _, hits, usual, offsets = best["MiniLM"][relation]
    known = (offsets == usual).float().mean()
    where = "next" if rule[1] > 0 else "last"
    print(f"{relation:10} {len(hits):6} {hits.mean():6.2f} {known:9.2f}", end="")
    print(f" {by_tag[relation]:9.2f}: the {where} {rule[0]}")

# %% tags=["remove-cell"]
for relation in frequent:
    rule = statistics.best_tag_rule(chosen_by, relation)
    assert_close(
        statistics.tag_rule_hits(rule, test, relation).float().mean().item(),
        by_tag[relation],
    )
for relation in ("det", "obj", "case"):
    assert by_tag[relation] > by_offset[relation] + 0.2
    assert by_tag[relation] > accuracy["MiniLM"][relation]
assert min(by_tag.values()) > 0.75
assert all(by_tag[r] > accuracy["MiniLM"][r] - 0.05 for r in frequent)

# %% tags=["hide-input"] mystnb={"image": {"alt": "Four bars for each of seven relations: MiniLM's best head, the best fixed offset, the best tag rule, the untrained BERT's best head. det: 0.94, 0.71, 0.98, 0.33. nsubj: 0.79, 0.72, 0.86, 0.21. obj: 0.75, 0.54, 0.96, 0.25. case: 0.76, 0.52, 0.92, 0.24. amod: 1, 1, 1, 0.26. obl: 0.53, 0.27, 0.80, 0.07. nmod:poss: 0.92, 0.92, 1, 0.31."}, "figure": {"caption": "The share of governors found, for the relations that come at least 13 times in the test sentences. Heads, offsets and tag rules were chosen on other sentences."}}
figure, ax = plt.subplots(figsize=(7.8, 3.2))
series = {
    "best head": ([entry[1].mean() for entry in best["MiniLM"].values()], plots.BLUE),
    "best offset": (
        [(o == usual).float().mean() for _, _, usual, o in best["MiniLM"].values()],
        plots.ORANGE,
    ),
    "best tag rule": (list(by_tag.values()), plots.GREEN),
    "best untrained head": (
        [entry[1].mean() for entry in best["untrained"].values()],
        plots.GREY,
    ),
}
for i, (name, (bars, colour)) in enumerate(series.items()):
    middle = [x + 0.21 * (i - 1.5) for x in range(len(bars))]
    ax.bar(middle, bars, width=0.19, color=colour, label=name)
labels = [
    f"{relation}\n{layer}, {head} | {usual:+d}"
    for relation, ((_, layer, head), _, usual, _) in best["MiniLM"].items()
]
ax.set_xticks(range(len(labels)), labels, fontsize=9)
ax.set(ylabel="governors found", ylim=(0, 1.19))
ax.legend(ncols=4, loc="upper center", fontsize=9)
plt.show()

# %% [markdown]
# No head beats the tag rule, so MiniLM may know no more than tags, and look for the nearest. Whether a head knows
# *more* can only be asked where the rule fails: in "the phone book" the next noun is "phone", and the governor "book".
# Our short sentences have too few such words.
#
# ### Heads on real English
#
# Real English has more such words, and more varied distances (400 sentences of UD English to choose by, 400 others,
# mean of three draws):
#
# | governors found | det | nsubj | obj | case | obl | compound | nmod |
# |---|---|---|---|---|---|---|---|
# | best head | 81 %<!-- probing: heads/minilm/det/accuracy/mean .0f --> | 61 %<!-- probing: heads/minilm/nsubj/accuracy/mean .0f --> | 75 %<!-- probing: heads/minilm/obj/accuracy/mean .0f --> | 70 %<!-- probing: heads/minilm/case/accuracy/mean .0f --> | 31 %<!-- probing: heads/minilm/obl/accuracy/mean .0f --> | 80 %<!-- probing: heads/minilm/compound/accuracy/mean .0f --> | 28 %<!-- probing: heads/minilm/nmod/accuracy/mean .0f --> |
# | best offset | 58 %<!-- probing: heads/minilm/det/fixed_offset/mean .0f --> | 35 %<!-- probing: heads/minilm/nsubj/fixed_offset/mean .0f --> | 34 %<!-- probing: heads/minilm/obj/fixed_offset/mean .0f --> | 42 %<!-- probing: heads/minilm/case/fixed_offset/mean .0f --> | 19 %<!-- probing: heads/minilm/obl/fixed_offset/mean .0f --> | 80 %<!-- probing: heads/minilm/compound/fixed_offset/mean .0f --> | 38 %<!-- probing: heads/minilm/nmod/fixed_offset/mean .0f --> |
# | best tag rule | 79 %<!-- tags_alone: heads/det/rule/mean .0f --> | 67 %<!-- tags_alone: heads/nsubj/rule/mean .0f --> | 94 %<!-- tags_alone: heads/obj/rule/mean .0f --> | 67 %<!-- tags_alone: heads/case/rule/mean .0f --> | 72 %<!-- tags_alone: heads/obl/rule/mean .0f --> | 86 %<!-- tags_alone: heads/compound/rule/mean .0f --> | 63 %<!-- tags_alone: heads/nmod/rule/mean .0f --> |
# | head, where the tag rule fails | 51 %<!-- tags_alone: heads/det/head_where_rule_fails/mean .0f --> | 37 %<!-- tags_alone: heads/nsubj/head_where_rule_fails/mean .0f --> | 33 %<!-- tags_alone: heads/obj/head_where_rule_fails/mean .0f --> | 51 %<!-- tags_alone: heads/case/head_where_rule_fails/mean .0f --> | 22 %<!-- tags_alone: heads/obl/head_where_rule_fails/mean .0f --> | 13 %<!-- tags_alone: heads/compound/head_where_rule_fails/mean .0f --> | 27 %<!-- tags_alone: heads/nmod/head_where_rule_fails/mean .0f --> |
#
# In every draw head 8 of layer 2 was chosen for `det`, `nsubj` and `case`, and head 0 for `obj`. (For `nmod` the head
# was behind the offset in two of three draws.)
#
# The tag rule is ahead of the head for five of the seven (and for `amod` and `nmod:poss`, with 84 %<!-- tags_alone:
# heads/amod/rule/mean .0f --> and 85 %<!-- tags_alone: heads/nmod:poss/rule/mean .0f -->), a little behind it for `det`
# and `case`. The last row has the words that decide: of some eighty determiners in a draw whose noun is not the next
# one, and of 130 prepositions, head 8 finds half. So it is more than a look at the next noun. (For `obj` such words are
# too few.)
#
# <details><summary>Is it grammar, then? A better rule that knows no tree</summary>
#
# Go to the next noun, pronoun or number, and on as long as nouns follow ("the phone book"). This one finds 93 %<!--
# tags_alone: heads/det/row_rule/mean .0f --> of the determiners' governors and 85 %<!-- tags_alone:
# heads/case/row_rule/mean .0f --> of the prepositions', more than the head, and 75 %<!-- tags_alone:
# heads/det/row_rule_where_rule_fails/mean .0f --> and 70 %<!-- tags_alone: heads/case/row_rule_where_rule_fails/mean
# .0f --> of those that the first rule misses. Where this one fails, the head still finds about half, 50 %<!--
# tags_alone: heads/det/head_where_row_rule_fails/mean .0f --> and 44 %<!-- tags_alone:
# heads/case/head_where_row_rule_fails/mean .0f -->. But those are some 27<!-- tags_alone: heads/det/row_rule_fails/mean
# .0f --> determiners and 59<!-- tags_alone: heads/case/row_rule_fails/mean .0f --> prepositions in a draw, and a third
# rule may find some of them.
#
# </details>
#
# <details><summary>BERT base's heads, and what "it" refers to</summary>
#
# For BERT base on newspaper text, [Clark and others](https://arxiv.org/abs/1906.04341) (table 1) report 94.3 % for
# determiners (offset: 51.7) and 86.8 % for direct objects (40.0), without a tag rule. For all relations together the best single head of BERT base has 34.5 %, one offset 26.3 %: no head is a parser.
#
# A pronoun or a second name *takes up* something mentioned before: **coreference**, as with chapter 2's "it". In BERT
# base one head, 5-4 by Clark and others' numbering, looks most from the main word of such a mention to that of an
# earlier mention of the same thing, in 65 % of the cases of CoNLL-2012 (documents cut off at 128 tokens; section 4.3,
# table 2). The nearest other mention is right in 27 %, the nearest with the same main word in 52 %, a small system of
# rules in 69 %.
#
# </details>
#
# ## Probes
#
# Attention is only the road; what arrives are vectors. Is the tag of a word, or its relation, *in* its vector? A
# **probe** is a classifier that is trained to read it off, while BERT stays as it is. If a weak probe succeeds, the
# vector must have made it easy. Weak means linear here: a matrix $W$, a bias, a softmax.
#
# ### A probe in three lines
#
# MiniLM has six layers and so seven **hidden states**: state 0 is the embeddings, before any context, and state $\ell$
# comes out of layer $\ell - 1$, since layers count from 0. Take the vectors of all words in state 2, and let logistic
# regression learn their tags. Every number is first scaled to mean 0 and variance 1 over the training words, and large
# weights cost something, because 384 numbers for a thousand words leave much room for chance.


# %%
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def words_of(sentences):
    return [word for s in sentences for word in s["words"]]


def labels_of(sentences, field):
    return [label.split(":")[0] for s in sentences for label in s[field]]


def states_of(model, sentences):
    """Every word's vector in every hidden state, (states, words, d_model)."""
    found = word_states(model, wordpiece, [s["words"] for s in sentences])
    return torch.cat(found, dim=1)


states = {
    name: [states_of(m, part) for part in (chosen_by, test)]
    for name, m in models.items()
}
print("states, words, d_model:", tuple(states["MiniLM"][0].shape), "to train on")

# %% tags=["atol=0.015"]
x, x_test = (part[2].numpy() for part in states["MiniLM"])  # state 2: (words, 384)
# The smaller C is, the more do large weights cost.
classify = LogisticRegression(C=50 / len(x), max_iter=1000)
probe = make_pipeline(StandardScaler(), classify).fit(x, labels_of(chosen_by, "upos"))
told = probe.score(x_test, labels_of(test, "upos"))
print(f"tags right: {told:.2f} of {len(x_test)} words")

# %% tags=["remove-cell"]
tags = sorted({*labels_of(chosen_by, "upos"), *labels_of(test, "upos")})
pairs = [
    Probed(states["MiniLM"][i][2:3], probing.label_ids(labels_of(part, "upos"), tags))
    for i, part in enumerate((chosen_by, test))
]
assert abs(probe_accuracy(fit_probe(pairs[0], len(tags)), pairs[1]) - told) < 0.01

# %% [markdown]
# That is the whole method, and nearly every tag is right. (`fit_probe` is the same in PyTorch, written out
# [below](#a-mix-of-all-layers); `Probed` holds states and labels, and `layer_scores` fits a probe on each state and
# counts what it has right.) But is it BERT that knows the tags, or has the probe learned them?
#
# ### A probe that learns words by heart
#
# Suppose a probe on the embeddings tags 90 % of the words right. Do the embeddings know grammar? They know *words*, and
# a probe that has seen "the" a hundred times as a `DET` needs no more. Two baselines tell how far this goes.
#
# - **By word**: give each word the label that it had most often in training, and look at no vector at all.
# - **The control task** (Hewitt and Liang, 2019): give each *type*, each different word, a random label (drawn as often
#   as the real ones occur), the same wherever it stands, and train the same probe to predict that. What the probe gets
#   right beyond guessing, it has learned by heart. The accuracy on the real task minus that on the control task is the
#   probe's **selectivity**. (The library draws the labels here: question 2 of [homework
#   7](../exercises/hw7_probing_and_sentences.ipynb) has you do it.)

# %%
words = ["the", "light", "is", "light", "the", "dog"]
tags = torch.tensor([0, 1, 2, 3, 0, 1])  # DET NOUN AUX ADJ DET NOUN
control = probing.control_labels(words, tags, seed=2)
print("words  ", *(f"{word:5}" for word in words))
print("tags   ", *(f"{tag:<5}" for tag in tags.tolist()))
print("control", *(f"{label:<5}" for label in control.tolist()))

# %% [markdown]
# "light" is a noun and then an adjective; its control label is the same twice. Now to all seven hidden states of MiniLM
# and of its untrained twin, for two tasks, each with its control: the tag, and the relation to the governor (without
# subtypes such as `:poss`).


# %%
def real_and_control(field, train, test):
    """How many labels; the real ones and the control's, for both parts."""
    labels, asked = labels_of(train, field), labels_of(test, field)
    classes = sorted({*labels, *asked})
    y, y_test = (probing.label_ids(part, classes) for part in (labels, asked))
    everything = words_of(train) + words_of(test)
    control = probing.control_labels(everything, torch.cat([y, y_test]))
    return len(classes), (y, y_test), (control[: len(y)], control[len(y) :])


tasks, by_word = {}, {}
for task, field in (("tag", "upos"), ("relation", "relations")):
    tasks[task] = real_and_control(field, chosen_by, test)
    y, y_test = tasks[task][1]
    guess = probing.most_frequent_labels(words_of(chosen_by), y, words_of(test))
    by_word[task] = (guess == y_test).float().mean().item()

# %% [markdown]
# **Predict.** There are 26 relations, and in the control task each word type has one of them by chance. From the
# embeddings, how many of these meaningless labels does a probe get right on the test words: a tenth, a third, two
# thirds?
#
# <details><summary>Answer</summary>
#
# Almost two thirds. The labels mean nothing, but a type keeps its label, the embedding tells which type it is, and 63 %
# of the test words are of a type that the probe has met in training. It has learned their labels by heart.
#
# </details>

# %% tags=["atol=0.03"]
scores = {}
print("task     model     labels  state 0    1    2    3    4    5    6")
for task, (n_classes, real, by_heart) in tasks.items():
    for name, (x, x_test) in states.items():
        for kind, (y, y_test) in (("real", real), ("control", by_heart)):
            pair = Probed(x, y), Probed(x_test, y_test)
            told = probing.layer_scores(*pair, n_classes)
            scores[task, name, kind] = told
            shares = " ".join(f"{score:.2f}" for score in told)
            print(f"{task:8} {name:9} {kind:10} {shares}")
    print(f"{task:8} by word   real       {by_word[task]:.2f} without any state")

met = {word.lower() for word in words_of(chosen_by)}
new = torch.tensor([word.lower() not in met for word in words_of(test)])
n_classes, (y, y_test), _ = tasks["tag"]
x, x_test = (part[:1] for part in states["MiniLM"])  # the embeddings
with torch.no_grad():
    told = fit_probe(Probed(x, y), n_classes)(x_test).argmax(dim=-1)
guess = probing.most_frequent_labels(words_of(chosen_by), y, words_of(test))
print(f"tags of the {new.sum()} new words: from state 0", end=" ")
of_new = [(said == y_test)[new].float().mean().item() for said in (told, guess)]
print(f"{of_new[0]:.2f}, by word {of_new[1]:.2f}")

# %% tags=["hide-input"] mystnb={"image": {"alt": "Two panels, accuracy over the hidden states 0 to 6. Tag: MiniLM rises from 0.90 to 0.97 at state 2 and falls to 0.85; its control task falls from 0.68 to 0.49; the untrained BERT stays near 0.70 and its control task just below; a dashed line for the baseline by word is at 0.76. Relation: MiniLM rises from 0.72 to 0.82 at states 2 to 4 and falls to 0.68; its control task falls from 0.64 to 0.47; the untrained BERT stays near 0.60, its control task at 0.65; by word 0.52."}, "figure": {"caption": "Probes on each hidden state alone; 0 is the embeddings, 6 the last layer's output. Dotted: the control task for the same vectors."}}
figure, axes = plt.subplots(1, 2, figsize=(8.0, 3.4), sharey=True)
styles = {
    ("MiniLM", "real"): ("MiniLM", plots.BLUE, "-"),
    ("MiniLM", "control"): ("MiniLM, control task", plots.BLUE, ":"),
    ("untrained", "real"): ("untrained", plots.RED, "-"),
    ("untrained", "control"): ("untrained, control task", plots.RED, ":"),
}
for ax, task in zip(axes, tasks, strict=True):
    for (name, kind), (label, colour, line) in styles.items():
        ax.plot(scores[task, name, kind], line, color=colour, label=label)
    ax.axhline(by_word[task], color=plots.GREY, linestyle="--", label="by word")
    ax.set(title=task, xlabel="hidden state", xticks=range(7), ylim=(0.4, 1.0))
axes[0].set(ylabel="right")
handles, labels = axes[0].get_legend_handles_labels()
figure.legend(handles, labels, ncols=3, loc="outside lower center", fontsize=9)
plt.show()

# %% tags=["remove-cell"]
known = {word.lower() for word in words_of(chosen_by)}
share = [word.lower() in known for word in words_of(test)]
assert tasks["relation"][0] == 26 and 0.62 < sum(share) / len(share) < 0.64
tag, relation = scores["tag", "MiniLM", "real"], scores["relation", "MiniLM", "real"]
assert max(tag) == max(tag[1:4]) > 0.94 and tag[6] < tag[0] + 0.02 < max(tag)
assert max(relation) == max(relation[2:5]) > 0.78 and relation[6] < relation[0] + 0.02
assert of_new[0] > 0.75 and of_new[1] < 0.5
assert by_word["tag"] < 0.8 and by_word["relation"] < 0.6
assert 0.64 < max(scores["tag", "untrained", "real"]) < by_word["tag"]
ahead = [scores["relation", m, "real"][0] - by_word["relation"] for m in models]
assert ahead[0] > 0.15 and 0.03 < ahead[1] < 0.7 * ahead[0]  # MiniLM, untrained
for task in tasks:
    heart = scores[task, "MiniLM", "control"]
    assert heart[0] > 0.6 and heart[6] < 0.53

# %% [markdown]
# ### What the probes say
#
# **Context helps, early.** The embeddings alone beat the baseline by word, mostly on words that the probe has not met:
# similar words have similar vectors. Tags are at their best two layers later, relations soon after.
#
# **Then it fades.** At the end both are harder to read than before the first layer. MiniLM was last trained to make
# *sentence* vectors, and for these it may matter little whether a word was subject or object. "The last layer is the
# best" is a habit, not a law.
#
# **The control task bites.** On the embeddings, labels that mean nothing are learned nearly as well as relations. At
# state 3 the probe has more relations right, and fewer labels by heart. Part of that fall is no merit: the vectors there
# say less of *which* word it is, so that nobody could learn the labels by heart as well.
#
# **An untrained BERT has seven tags in ten right.** That is *below* the baseline without vectors, and its selectivity
# is near zero, or below: its vectors tell words apart, and little else. (For relations it is above the baseline,
# perhaps because its vectors hold the position, too; on UD English it is level with it.)
#
# On UD English, with 400 sentences to train on and three draws, the curves have the same shape:
#
# | right | state 0 | state 2 | state 3 | state 6 | by word |
# |---|---|---|---|---|---|
# | tag | 88 %<!-- probing: tag/minilm/layers/0/mean .0f --> | 94 %<!-- probing: tag/minilm/layers/2/mean .0f --> | 93 %<!-- probing: tag/minilm/layers/3/mean .0f --> | 82 %<!-- probing: tag/minilm/layers/6/mean .0f --> | 78 %<!-- probing: tag/by_word/mean .0f --> |
# | tag, control task | 70 %<!-- probing: tag/minilm/control/0/mean .0f --> | 64 %<!-- probing: tag/minilm/control/2/mean .0f --> | 59 %<!-- probing: tag/minilm/control/3/mean .0f --> | 46 %<!-- probing: tag/minilm/control/6/mean .0f --> | – |
# | relation | 64 %<!-- probing: relation/minilm/layers/0/mean .0f --> | 76 %<!-- probing: relation/minilm/layers/2/mean .0f --> | 77 %<!-- probing: relation/minilm/layers/3/mean .0f --> | 62 %<!-- probing: relation/minilm/layers/6/mean .0f --> | 55 %<!-- probing: relation/by_word/mean .0f --> |
# | relation, control task | 70 %<!-- probing: relation/minilm/control/0/mean .0f --> | 64 %<!-- probing: relation/minilm/control/2/mean .0f --> | 60 %<!-- probing: relation/minilm/control/3/mean .0f --> | 46 %<!-- probing: relation/minilm/control/6/mean .0f --> | – |
#
# So for relations the selectivity of the embeddings is below zero, and at state 3 it is 17 %<!-- probing:
# relation/minilm/selectivity/3/mean .0f -->. Does only MiniLM fade at the end? BERT base, say, was never trained to
# make sentence vectors. We have not measured it; with an internet connection the next cell asks either model.

# %%
REAL = False  # True: probes on UD English, from the hub or from a mirror
BODY = folder  # "bert-base-uncased": the paper's weights, from the hub, 440 MB

if REAL:
    samples = []
    for split in ("train", "test"):
        found = data.load("treebank", split, "real")
        fitting = [s for s in found if 5 <= len(s["words"]) <= 30]
        samples.append(fitting[:: len(fitting) // 400][:400])
    reader = Bert.from_pretrained(BODY).to(device)  # of the same vocabulary
    x, x_test = (states_of(reader, part) for part in samples)
    for field in ("upos", "relations"):
        n_classes, *both = real_and_control(field, *samples)
        for kind, (y, y_test) in zip(("real", "control"), both, strict=True):
            pair = Probed(x, y), Probed(x_test, y_test)
            told = probing.layer_scores(*pair, n_classes)
            print(f"{field:9} {kind:7}", *(f"{score:.2f}" for score in told))

# %% [markdown]
# ### Tag and place in place of a vector
#
# One control is still missing for the relations. "the" is a `det` wherever it stands, and most of what is called `case`
# is a preposition: the relation of a word is partly told by its tag, and by where in the sentence it stands. So give
# the same probe no vector at all, but 27 numbers: 15 for the word's tag and 12 for its place, each a 1 among zeros.

# %% [markdown]
# **Predict.** From MiniLM's best state the probe has 0.82 of the relations right, from the embeddings 0.72. How many
# has it from tag and place: a third, a half, or three quarters?
#
# <details><summary>Answer</summary>
#
# Three quarters, more than from the embeddings; the tag alone gives 0.70. What the middle states add to that is not the
# step from "by word", 0.52, to 0.82, but a much smaller one.
#
# </details>

# %% tags=["atol=0.03"]
n_classes, (y, y_test), _ = tasks["relation"]
names = sorted({*labels_of(chosen_by, "upos"), *labels_of(test, "upos")})
longest = max(len(s["words"]) for s in [*chosen_by, *test])
from_tags = {}
for name, around, kept in (
    ("tag alone", 0, len(names)),  # the first 15 numbers
    ("tag and place", 0, None),
    ("and both neighbours' tags", 1, None),
):
    x, x_test = (
        torch.cat(
            probing.tags_and_places([s["upos"] for s in part], names, longest, around)
        )[:, :kept]
        for part in (chosen_by, test)
    )
    probe = fit_probe(Probed(x[None], y), n_classes)  # one "state"
    from_tags[name] = probe_accuracy(probe, Probed(x_test[None], y_test))
    print(f"{name:26} {from_tags[name]:.2f}")

# %% tags=["remove-cell"]
tag_alone, alone, of_three = from_tags.values()
assert 0.66 < tag_alone < alone - 0.02
assert 0.7 < alone < max(relation) - 0.03 and of_three > max(relation) - 0.01

# %% [markdown]
# The last line is a warning: told the tags of the two neighbours as well, and no vector, the probe does better than on
# any of MiniLM's states. On UD English tag and place give 63 %<!-- tags_alone: relation/tag_and_place/mean .0f -->,
# with the neighbours' tags 75 %<!-- tags_alone: relation/tags_of_three_and_place/mean .0f -->, where state 3 gave
# 77 %<!-- probing: relation/minilm/layers/3/mean .0f -->. (These tags are the treebank's own; MiniLM had to find them
# first.) So what the probe reads takes hardly more than the tags around a word. That MiniLM knows no more does not
# follow, but that it does has to be shown in another way.
#
# ### A mix of all layers
#
# So far each probe saw one state, and we compared the seven. Peters and others (2018) let the probe choose. It sees a
# mix of all states,
#
# $$\mathbf{h} = \gamma \sum_{\ell=0}^{L} s_\ell\, \mathbf{h}_\ell, \qquad \mathbf{s} =
# \operatorname{softmax}(\mathbf{w}),$$
#
# whose shares $s_\ell$ and factor $\gamma$ are learned along with $W$; $L$ is the number of layers. It is the
# `ScalarMix` that you built in [chapter 15b](15b_which_layers.ipynb#a-mix-of-all-layers). By hand, with three states of two
# numbers, $\mathbf{w} = (0, \ln 2, 0)$ and $\gamma = 2$, the shares are (¼, ½, ¼):

# %%
mix = ScalarMix(3)
with torch.no_grad():
    mix.w.copy_(torch.tensor([1.0, 2.0, 1.0]).log())  # (0, ln 2, 0)
    mix.gamma.fill_(2.0)
layers = torch.tensor([[[4.0, 0.0]], [[1.0, 2.0]], [[0.0, 8.0]]])  # 3 layers, 1 word
by_hand = 2 * (layers[0] / 4 + layers[1] / 2 + layers[2] / 4)
assert_close(mix(layers), by_hand)
print("shares", mix.shares.tolist(), " mix", by_hand.tolist())

# %% [markdown]
# Now a probe on the mix, with the scaling and the penalty of the probe in three lines. Scaled state by state, none gets
# a large share merely because its numbers are large. The optimizer, L-BFGS, sees all words at once and finds its steps
# by itself: no learning rate, no chance.


# %%
class Probe(nn.Module):
    """A linear classifier of words, on a scalar mix of their hidden states."""

    def __init__(self, n_states, d_model, n_classes):
        super().__init__()
        self.mix = ScalarMix(n_states)
        self.classify = nn.Linear(d_model, n_classes)
        nn.init.zeros_(self.classify.weight)
        nn.init.zeros_(self.classify.bias)
        self.register_buffer("centre", torch.zeros(n_states, 1, d_model))
        self.register_buffer("scale", torch.ones(n_states, 1, d_model))

    def forward(self, states):
        """(states, words, d_model) → (words, n_classes)"""
        return self.classify(self.mix((states - self.centre) / self.scale))


def fit_probe(train, n_classes, l2=1e-2, l2_mix=1e-2, steps=60):
    """A probe, trained; l2 and l2_mix: what large weights, uneven shares cost."""
    n_states, _, d_model = train.states.shape
    probe = Probe(n_states, d_model, n_classes)
    spread = train.states.std(dim=1, keepdim=True, correction=0)
    probe.centre.copy_(train.states.mean(dim=1, keepdim=True))
    probe.scale.copy_(spread.clamp(min=1e-6))
    states = (train.states - probe.centre) / probe.scale
    search = {"history_size": 10, "line_search_fn": "strong_wolfe"}
    optimizer = torch.optim.LBFGS(probe.parameters(), max_iter=steps, **search)

    def loss():
        optimizer.zero_grad()
        value = F.cross_entropy(probe.classify(probe.mix(states)), train.labels)
        # on γ W, what is really multiplied: on W alone, γ would grow and W shrink
        price = (probe.mix.gamma * probe.classify.weight).square().sum()
        value = value + l2 * price + l2_mix * probe.mix.w.square().sum()
        value.backward()
        return value

    optimizer.step(loss)
    return probe.eval()


# %% tags=["remove-cell"]
pair = Probed(states["MiniLM"][0][:, :200], tasks["tag"][1][0][:200])
both = (fit(pair, tasks["tag"][0], steps=3) for fit in (fit_probe, probing.fit_probe))
for ours, theirs in zip(*(probe.parameters() for probe in both), strict=True):
    assert torch.equal(ours, theirs)

# %% [markdown]
# ### At which layer is it solved?
#
# Tenney and others ask this for eight tasks and find what they call the *classical pipeline*: tags first, then
# phrases and dependencies (our relations), then names, then who did what to whom, and what "it" refers to last. We can
# ask for two of the eight: our treebank marks tags and dependencies, but no phrases, names, roles or references. They
# have two measures, and number the states as we do.
#
# - The **centre of gravity** of the shares, $\sum_\ell \ell\, s_\ell$, of a probe that may mix all states.
# - **Differential scores**: train probes that may mix the states 0 to $\ell$ only, for each $\ell$; what state $\ell$
#   *adds* is $\Delta_\ell = \mathrm{Score}(0 \ldots \ell) - \mathrm{Score}(0 \ldots \ell - 1)$. The mean place of these
#   gains is the **expected layer**, $\sum_\ell \ell\, \Delta_\ell / \sum_\ell \Delta_\ell$.
#
# By hand: cumulative scores of 0.50, 0.70, 0.80 give Δ = 0.20, 0.10, and the expected layer (1 · 0.2 + 2 · 0.1) / 0.3
# = 1.33.

# %% tags=["atol=0.15"]
print(f"by hand: {probing.expected_layer([0.2, 0.1]):.2f}")
shares, differential = {}, {}
for task, (n_classes, (y, y_test), _) in tasks.items():
    x, x_test = states["MiniLM"]
    pair = Probed(x, y), Probed(x_test, y_test)
    shares[task] = fit_probe(pair[0], n_classes).mix.shares.detach()
    cumulative = probing.cumulative_scores(*pair, n_classes)
    differential[task] = probing.differential_scores(cumulative)
    centre = probing.centre_of_gravity(shares[task])
    expected = probing.expected_layer(differential[task])
    print(f"{task:8} centre of gravity {centre:.1f}, expected layer {expected:.1f}")

# %% tags=["hide-input"] mystnb={"image": {"alt": "Two panels with bars over the hidden states 0 to 6. Shares of the mix: for tags highest at state 2 with a quarter, the others between 0.08 and 0.17; for relations 0.45 at state 2, the others around 0.1. Differential scores: for tags 0.03 at state 1, 0.02 at state 2 and near zero after; for relations 0.06 at state 2, 0.02 at states 1 and 3 and near zero after. Vertical lines: centres of gravity at 2.6 and 2.5, expected layers at 1.4 and 2.1."}, "figure": {"caption": "Left: shares of a probe on all hidden states; lines: their centres of gravity. Right: differential scores; lines: expected layers."}}
figure, axes = plt.subplots(1, 2, figsize=(8.0, 3.0))
for i, (task, colour) in enumerate((("tag", plots.BLUE), ("relation", plots.ORANGE))):
    shift = 0.4 * i - 0.2
    at = [x + shift for x in range(7)]
    centre = probing.centre_of_gravity(shares[task])
    expected = probing.expected_layer(differential[task])
    axes[0].bar(at, shares[task], width=0.38, color=colour, label=task)
    axes[0].axvline(centre, color=colour, linestyle="--")
    axes[1].bar(at[1:], differential[task], width=0.38, color=colour, label=task)
    axes[1].axvline(expected, color=colour, linestyle="--")
axes[0].set(title="share of the mix", xlabel="hidden state", xticks=range(7))
axes[1].set(title="differential score", xlabel="hidden state", xticks=range(1, 7))
axes[0].legend()
plt.show()

# %% tags=["remove-cell"]
centres = {task: probing.centre_of_gravity(s) for task, s in shares.items()}
expected = {task: probing.expected_layer(d) for task, d in differential.items()}
assert all(s.argmax() == 2 for s in shares.values())
assert abs(centres["tag"] - centres["relation"]) < 0.4
assert expected["tag"] < expected["relation"] < 3

# %% [markdown]
# By differential scores tags come before relations, as in the pipeline, by less than one layer of six. By the centres
# of gravity, which lie closer together in the paper's BERT, too, there is no order worth the name. With 345 test words,
# one word is 0.003: differential scores near zero are mostly noise. On UD English, where a test has thousands of words,
# the expected layers are 1.5<!-- probing: tag/minilm/expected_layer/mean .1f --> for tags and 1.7<!-- probing:
# relation/minilm/expected_layer/mean .1f --> for relations, the centres 2.4<!-- probing:
# tag/minilm/centre_of_gravity/mean .1f --> and 2.4<!-- probing: relation/minilm/centre_of_gravity/mean .1f -->. By
# expected layers tags come first in each of the three draws, by a quarter of a layer at most; by centres relations do,
# by less still. If this is a pipeline, it is a short one: neither task gains anything to speak of after state 3.
#
# ## What goes wrong
#
# ### The best of 144 coins
#
# Choose the best head on twelve sentences and report it on the same twelve. Even the untrained BERT then "has" heads
# for grammar. There are 72 heads and two directions: 144 coins are tossed, and someone is always lucky. What share of
# the governors does the best one find in the twelve, and what in other sentences?

# %% tags=["atol=0.1"]
on_chosen, on_test = parts["untrained"]
twelve = tuple(part[:12] for part in on_chosen)
print("untrained     of the twelve it   of the other")
print("BERT          was chosen on      sentences")
lucky = {}
for relation in ("det", "nsubj", "obj", "case"):
    lucky[relation] = [
        best_head({relation}, twelve, report)[1].mean().item()
        for report in (twelve, on_test)
    ]
    same, others = lucky[relation]
    print(f"{relation:13} {same:.2f} {others:18.2f}")

# %% tags=["remove-cell"]
for same, others in lucky.values():
    assert same > 0.35 and same > others + 0.05

# %% [markdown]
# ### Looking and using
#
# In layer 2, head 8 looks from determiners to their nouns, head 0 from objects to their verbs. Is it then *through
# these heads* that the vectors come to know about relations? We silence one, that is, set what it contributes to zero
# (what was in the vectors before stays, and so does the layer's feed-forward net), and ask a probe of state 3, which
# comes out of layer 2. So that there are objects enough, all 154 sentences are asked, a fifth at a time, by a probe
# that was trained on the whole model and the other four fifths.

# %% [markdown]
# **Predict.** The probes have 187 of 190 determiners right, and 73 of 99 objects. What becomes of the determiners without
# head 8, and of the objects without head 0: is next to nothing lost, about a sixth, or half?
#
# <details><summary>Answer</summary>
#
# Of the determiners next to nothing. Does MiniLM not need head 8, then? This test cannot tell: "the" is a `det` wherever
# it stands, and without any head of the layer the probes still have nearly all. Objects can be lost: without head 0
# thirteen, a sixth, without any other head seven at most. And it is the *looking*: let head 0 speak, but look at all
# words alike, and as many are lost.
#
# </details>


# %% tags=["atol=2"]
def changed(model, layer, heads, alike=False):
    """A copy in which these heads contribute nothing, or look everywhere alike."""
    other = copy.deepcopy(model)
    attention = other.encoder.blocks[layer].self_attention
    d_head = model.config.d_model // model.config.n_heads
    for head in heads:
        own = slice(head * d_head, (head + 1) * d_head)
        if alike:  # queries of 0: all scores are 0, all weights equal
            attention.W_Q.weight.data[own] = 0
            attention.W_Q.bias.data[own] = 0
        else:
            attention.W_O.weight.data[:, own] = 0
    return other


asked = [*chosen_by, *test]
relation_of = labels_of(asked, "relations")
classes = sorted(set(relation_of))
y = probing.label_ids(relation_of, classes)
fifth = torch.tensor([i % 5 for i, s in enumerate(asked) for _ in s["words"]])
state_3 = states_of(model, asked)[3:4]
probes = [
    fit_probe(Probed(state_3[:, fifth != k], y[fifth != k]), len(classes))
    for k in range(5)
]


@torch.no_grad()
def right_after(*change, **options):
    """How many det and obj are right, by probes that were not trained on them."""
    x = states_of(changed(model, *change, **options), asked)[3:4]
    said = torch.stack([probe(x).argmax(dim=-1) for probe in probes])  # (5, words)
    right = said[fifth, torch.arange(len(y))] == y
    return [
        sum(hit for hit, r in zip(right.tolist(), relation_of, strict=True) if r == one)
        for one in ("det", "obj")
    ]


print(f"{'right of':26}", *(relation_of.count(one) for one in ("det", "obj")))
changes = {
    "whole model": right_after(2, []),
    "without layer 2, head 8": right_after(2, [8]),
    "without layer 2, head 0": right_after(2, [0]),
    "head 0 looks at all alike": right_after(2, [0], alike=True),
    "without layer 2, all heads": right_after(2, range(12)),
    "without layer 0, all heads": right_after(0, range(12)),
}
for name, (of_det, of_obj) in changes.items():
    print(f"{name:26} {of_det:3} {of_obj:3}")
others = [right_after(2, [head])[1] for head in range(1, 12)]
all_alike = [right_after(2, [head], alike=True)[1] for head in range(1, 12)]
print("obj, one of the 11 other heads: silent, at least", min(others), end="; ")
print("looks at all alike, at least", min(all_alike))

# %% tags=["remove-cell"]
whole, without_8, without_0, alike_0, without_2, without_layer_0 = changes.values()
assert min(of_det for of_det, _ in changes.values()) > 178
assert 8 <= whole[1] - without_0[1] <= 15 and without_0[1] < min(others) - 1
assert 8 <= whole[1] - alike_0[1] <= 15 and alike_0[1] < min(all_alike) - 1
assert whole[1] - without_layer_0[1] <= 5 and without_2[1] <= without_0[1] + 1

# %% [markdown]
# All heads of layer 0 can go at next to no cost, so this test says nothing of its head 2, which only looks back. In one
# of the tests of *Attention is not explanation* (Jain and Wallace, 2019) quite different weights gave the same answers.
# Weights are good for forming hypotheses. To test one, change something, and measure what *can* be lost.

# %% [markdown]
# ## Exercises
#
# Ungraded; a solution is folded below each.
#
# **Exercise 1. Shares are settings, too.** How even the shares of a scalar mix come out depends on what uneven ones
# cost in training (`l2_mix`, a penalty on $|\mathbf{w}|^2$ that is already in Peters and others). Train the probe for
# tags on all states with penalties of 0, 0.01 and 1. What happens to the largest share, and what to the accuracy?

# %% tags=["hide-cell", "atol=0.03"]
# Solution 1
n_classes, (y, y_test), _ = tasks["tag"]
x, x_test = states["MiniLM"]
for l2_mix in (0.0, 0.01, 1.0):
    probe = fit_probe(Probed(x, y), n_classes, l2_mix=l2_mix)
    largest = probe.mix.shares.max().item()
    accuracy = probe_accuracy(probe, Probed(x_test, y_test))
    print(f"penalty {l2_mix:4}: largest share {largest:.2f}, accuracy {accuracy:.2f}")
# "The tags are in state 2" and "the tags are spread over all states alike" are two
# readings of the same vectors.

# %% [markdown]
# **Exercise 2. Labels drawn anew.** The control labels must be the same for training and test words. What does the
# control accuracy on the embeddings become if they are drawn separately for the two? What would one conclude from it?

# %% tags=["hide-cell", "atol=0.03"]
# Solution 2
n_classes, (y, y_test), by_heart = tasks["relation"]
x, x_test = (part[:1] for part in states["MiniLM"])  # the embeddings
probe = fit_probe(Probed(x, by_heart[0]), n_classes)
drawn_anew = probing.control_labels(words_of(test), y_test, seed=1)
right = probe_accuracy(probe, Probed(x_test, by_heart[1]))
wrong = probe_accuracy(probe, Probed(x_test, drawn_anew))
print(f"control accuracy {right:.2f}; with labels drawn anew {wrong:.2f}")
# Nobody can predict labels drawn anew, so every probe would look wonderfully selective.

# %% [markdown]
# **Exercise 3. Where does each head look?** For a head that spreads its attention over all $n$ words alike, the entropy
# of a row is $\log n$; for one that looks at a single word it is 0. Compute the mean entropy of each head's rows over
# the test sentences, without `[CLS]` and `[SEP]` as rows. Which head has the lowest, and what is $e$ to that power: at
# how many words does it look, so to speak?

# %% tags=["hide-cell", "atol=0.02"]
# Solution 3
entropy = mean_over_words(
    looks["MiniLM"][1], lambda w: torch.special.entr(w[..., 1:-1, :]).sum(dim=-1)
)
for name, place in (("lowest", entropy.argmin()), ("highest", entropy.argmax())):
    layer, head = divmod(place.item(), 12)
    value = entropy[layer, head]
    print(f"{name:7} layer {layer}, head {head}: {value:.2f}, {value.exp():.1f} words")

# %% [markdown]
# ## Summary
#
# 1. Attention between pieces becomes attention between words by summing over what is attended to and averaging over
#    who attends.
# 2. MiniLM has heads that follow determiners, prepositions and objects to governors at *varying* distances, better
#    than any fixed offset. But "the next noun" or "the last verb", rules that know tags and no tree, find as many or more
#    in our sentences; in UD English a rule by tags is ahead for seven of nine relations.
# 3. Tags and relations are easiest to read in the middle (states 2 to 4 of 6) and fade towards the end. A control
#    task tells how much of it the probe has learned by heart. Of the relations, tag and place alone give three quarters.
# 4. By differential scores tags come less than a layer before relations; by shares of a scalar mix there is no order, and shares depend
#    on a penalty.
# 5. The best of 72 heads, in two directions, looks good on the sentences by which it was chosen, even in an untrained
#    BERT. What a head is for, its looks do not tell: silence it, and measure what can be lost.
#
# **Homework 7**, questions 1 to 4, is about this chapter: [exercises](../exercises/hw7_probing_and_sentences.ipynb).
#
# **Next:** heads and probes ask for one link, one label at a time. [Chapter 16b](16b_trees.ipynb) asks for whole trees.
#
# ## References
#
# - Kevin Clark, Urvashi Khandelwal, Omer Levy and Christopher D. Manning (2019). *[What does BERT look at? An
#   analysis of BERT's attention](https://arxiv.org/abs/1906.04341).* BlackboxNLP. Sections 3 and 4, tables 1 and 2.
# - Matthew E. Peters et al. (2018). *[Deep contextualized word representations](https://arxiv.org/abs/1802.05365).*
#   NAACL. Equation 1: the scalar mix.
# - Ian Tenney, Dipanjan Das and Ellie Pavlick (2019). *[BERT rediscovers the classical NLP
#   pipeline](https://arxiv.org/abs/1905.05950).* ACL. Section 3, figure 2.
# - John Hewitt and Percy Liang (2019). *[Designing and interpreting probes with control
#   tasks](https://arxiv.org/abs/1909.03368).* EMNLP.
# - Sarthak Jain and Byron C. Wallace (2019). *[Attention is not explanation](https://arxiv.org/abs/1902.10186).*
#   NAACL.
# - Christopher D. Manning et al. (2020). *Emergent linguistic structure in artificial neural networks trained by
#   self-supervision.* PNAS 117. The picture of heads in the lecture.
# - Marie-Catherine de Marneffe, Christopher D. Manning, Joakim Nivre and Daniel Zeman (2021). *[Universal
#   Dependencies](https://doi.org/10.1162/coli_a_00402).* Computational Linguistics 47.
