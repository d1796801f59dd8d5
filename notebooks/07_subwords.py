# %% [markdown]
# # Subwords
#
# > *An unputdownable novel.*
#
# You may never have met the word "unputdownable", and you know what it means: one cannot put it down. You took it
# apart. A model with a fixed list of words cannot do that. To such a model every word that is missing from the list is
# the same word, called `[UNK]`, "unknown". How often does that happen?
#
# The curve below was made from Python's own manual. A dictionary was filled with the most frequent words of most of
# its pages, and then other pages were read with it.

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

# %% mystnb={"image": {"alt": "A falling curve. With a dictionary of 50 words about half of the running words of new pages are unknown, with 1,000 words about a tenth, and with all words of the training pages still a few in a hundred."}, "figure": {"caption": "Share of the words on new pages of Python's manual that a dictionary does not hold, over the size of the dictionary. The last point is the dictionary of all words of all the other pages."}}
import re
from collections import Counter

import matplotlib.pyplot as plt

from lectures_lib.data.manual import python_manual
from lectures_lib.show import plots

train = python_manual(docstrings=False)
new = python_manual("validation", docstrings=False)


def words_of(texts):
    """All words of some texts, small letters only."""
    return [word for text in texts for word in re.findall(r"[a-z]+", text.lower())]


known = [word for word, _ in Counter(words_of(train)).most_common()]
sizes = [50, 100, 200, 500, 1000, 2000, len(known)]
unknown = []
for size in sizes:
    dictionary = set(known[:size])
    missing = [word for word in words_of(new) if word not in dictionary]
    unknown.append(len(missing) / len(words_of(new)))

ax = plots.curves(
    sizes, {"": unknown}, xlabel="words in the dictionary", ylabel="unknown words"
)
ax.plot(sizes, unknown, "o", color=plots.BLUE)
ax.set(xscale="log", ylim=(0, 0.6), xticks=[50, 100, 200, 500, 1000, 2000])
ax.minorticks_off()
ax.xaxis.set_major_formatter(lambda size, _: f"{size:,.0f}")
ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f} %")
plt.show()

# %% tags=["remove-cell"]
assert 0.4 < unknown[0] < 0.65 and 0.06 < unknown[4] < 0.15
assert 0.01 < unknown[-1] < 0.05
assert unknown == sorted(unknown, reverse=True)

# %% [markdown]
# The curve falls fast and then refuses to reach zero. However many words one collects, the next page has a new one: a
# name, a typing error, a compound that nobody has written before. With a large dictionary it is not the small words that
# are missing. "The" is in every dictionary; what gets lost is often the word the sentence is about.
#
# **After this chapter you can**
#
# - learn byte pairs from a text by hand, and write the learner and the encoder in about thirty lines;
# - say why modern tokenizers start from bytes, and lose no character of any script;
# - apply WordPiece as BERT does, and say in what it differs from byte pairs when it learns and when it reads;
# - explain why one vocabulary for two languages splits a name in the same way in both;
# - recognise five mistakes that make a good model look bad.
#
# **Time** about 60 minutes. **You need** Python's dictionaries; no PyTorch at all in this chapter.

# %%
import json
import unicodedata
from itertools import pairwise
from math import log

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from lectures_lib.models import minilm
from lectures_lib.show import source, stepper
from lectures_lib.show.stepper import Stepper
from lectures_lib.tokenization import BPE, Vocabulary, WordPiece, bpe

# %% [markdown]
# ## Words, letters, and something between
#
# If whole words are too many, why not letters? There are few of them, and every word can be spelled.

# %%
sentence = "an unputdownable novel"
print(len(sentence.split()), "words:", sentence.split())
print(len(sentence), "letters and spaces:", *sentence)

# %% [markdown]
# Nothing is unknown any more, but the sentence is seven times as long. Chapter 2 told us what that costs: attention
# compares every token with every other one, so seven times the length is about fifty times the comparisons. And a
# single letter means nothing; the model would spend its first layers on spelling.
#
# We want pieces that are *short where the text is unusual and long where it is usual*: "the" in one piece,
# "unputdownable" in a few. Where to cut should not be decided by us, language by language. It should be read off the
# text.
#
# ## Byte pairs by hand
#
# The idea comes from compressing files. Philip Gage described it in 1994: find the two neighbours that stand side by
# side most often, replace them by one new symbol, and do that again. Here is a text about the weather, of which we
# only need to know how often each word occurs.

# %%
weather = {"rain": 6, "train": 4, "training": 3, "raining": 2, "rained": 2}

# %% [markdown]
# Every word starts as a row of letters. Which pair of neighbours is the most frequent? "in" stands in all seventeen
# words, and twice in "training" and "raining": $6 + 4 + 2 \cdot 3 + 2 \cdot 2 + 2 = 22$ times. No other pair can beat
# that, so "in" becomes a symbol of its own, and our vocabulary has grown by one. Now "ra" and "a·in" are tied at 17.
# Some rule must decide, and any will do, as long as it always decides the same way. Ours: the pair whose symbols came
# first into the vocabulary, so "a" before "r".
#
# Count, merge, repeat. Three functions:


# %%
def count_pairs(words):
    """How often each pair of neighbours occurs; `words` maps rows of symbols to counts."""
    counts = Counter()
    for symbols, n in words.items():
        for pair in pairwise(symbols):
            counts[pair] += n
    return counts


def merge(symbols, pair):
    """The same symbols, with every such pair put together."""
    merged, i = [], 0
    while i < len(symbols):
        if symbols[i : i + 2] == pair:
            merged.append(pair[0] + pair[1])
            i += 2
        else:
            merged.append(symbols[i])
            i += 1
    return tuple(merged)


def learn(text, n_merges):
    """Learn merges from a text {word: count}; yields each with the words it is applied to."""
    words = {tuple(word): n for word, n in text.items()}
    vocabulary = sorted({letter for word in text for letter in word})
    for _ in range(n_merges):
        counts = count_pairs(words)
        age = {symbol: i for i, symbol in enumerate(vocabulary)}
        pair = min(counts, key=lambda p: (-counts[p], age[p[0]], age[p[1]]))
        yield pair, counts, words
        vocabulary.append("".join(pair))
        words = {merge(symbols, pair): n for symbols, n in words.items()}


# %%
merges = []
for pair, counts, words in learn(weather, 7):
    merges.append(pair)
    spelled = "  ".join("·".join(symbols) for symbols in words)
    print(f"{counts[pair]:2}  {pair[0] + ' ' + pair[1]:10} {spelled}")

assert merges[0] == ("i", "n") and counts[pair] == 2

# %% [markdown]
# (Each line shows the words *before* the merge that stands in front of them.) After four merges "rain" and "train" are
# single symbols, after seven we have "ing" and "ed" as well. Nobody told the program about endings. In a long
# text they are frequent and stand behind many different words, and that is all an ending is, to someone who can only
# count.
#
# What about a word that was not in the text? We spell it in letters and apply the merges **in the order in which they
# were learned**.


# %%
def encode(word, merges):
    """The word in pieces: its letters, merged as learned."""
    symbols = tuple(word)
    for pair in merges:
        symbols = merge(symbols, pair)
    return list(symbols)


for word in ("drained", "straining", "tea"):
    print(f"{word:10} {encode(word, merges)}")

# %% [markdown]
# "Drained" was never seen, and yet it comes out as something with "rain" and "ed" in it. (There is no rain in
# "drained", as far as meaning goes. The program counts letters; it does not know what words mean.) "Tea" has no pair
# in common with our merges and falls back to letters. That is the bargain: usual words cost few tokens, unusual words
# many, and nothing is unknown, at least as long as its letters are known.
#
# ## Watch it learn
#
# Now a text with more rhythm: *How much wood would a woodchuck chuck if a woodchuck could chuck wood?* Each step shows
# the words as they are spelled at that moment, the pair about to be merged in a frame, and the count that made it win.
# Use the buttons, the slider or the arrow keys.

# %%
riddle = "how much wood would a woodchuck chuck if a woodchuck could chuck wood"


def frame(words, counts, pair):
    """The words in their current pieces, the pair marked, and the top of the list."""
    spelled = []
    for symbols, n in words.items():
        at = [i for i, two in enumerate(pairwise(symbols)) if two == pair]
        both = {place for i in at for place in (i, i + 1)}
        shades = [0.0 if len(symbol) == 1 else 0.4 for symbol in symbols]
        pieces = stepper.pieces(symbols, marked=both, shades=shades)
        spelled.append(stepper.join(pieces, stepper.note(f"×{n}")))
    best = sorted(counts.items(), key=lambda item: (item[0] != pair, -item[1]))[:4]
    rows = [[f"{left} {right}", n] for (left, right), n in best]
    top = stepper.table(["pair", "count"], rows, marked=[0] if pair else [])
    return stepper.beside(
        stepper.part("words", stepper.line(*spelled)), stepper.part("pairs", top)
    )


# %%
frames, labels = [], []
for pair, counts, words in learn(Counter(riddle.split()), 11):
    done = counts[pair] == 1
    frames.append(frame(words, counts, None if done else pair))
    labels.append(
        "No pair occurs twice: nothing more to learn"
        if done
        else f"Merge {len(frames)}: {pair[0]} and {pair[1]} stand together {counts[pair]} times"
    )

Stepper(
    frames,
    "Byte pairs in a riddle",
    labels=labels,
    alt="Nine words, spelled in pieces. With each step the most frequent pair becomes one piece.",
    start=3,
)

# %% [markdown]
# Ten merges find "wood", "chuck" and their compound; then no pair is left that occurs twice, and we stop. Note what
# happens on the way. Merge 4 makes "od", which is part of "wood" and of nothing else. No word of the riddle is
# spelled with it once "wood" is there, but it keeps its place in the vocabulary for ever. Real vocabularies are full of
# such scaffolding.
#
# ## From letters to bytes
#
# Our alphabet was the letters of the text. Then what about "é", "漢" or 🙂, if the text had none? Unicode has about
# 150,000 characters, too many to list. But every text on a computer is stored as **bytes**, and there are only 256
# different bytes. UTF-8 writes an ordinary letter as one byte, and others as two to four:

# %%
for character in "eé漢🙂":
    print(character, list(character.encode("utf-8")))

# %% [markdown]
# So GPT-2's tokenizer starts from the 256 bytes instead of from letters (Radford et al., 2019), and so does ours in the
# library. (In 2016 the "bytes" of byte pair encoding were characters; only the name had stayed from file compression.
# GPT-2 made it true again.) There is no text it cannot write, and whatever was encoded comes back unchanged:

# %%
tiny = BPE.train([riddle], vocab_size=300)
for text in ("a café", "漢字 🙂", "  two  spaces\n", "\x00 नमस्ते"):
    ids = tiny.encode(text)
    assert tiny.decode(ids) == text
    print(f"{len(text):2} characters, {len(ids):2} tokens: {text!r}")

# %% [markdown]
# To print such tokens, each byte is shown as some visible character. Letters stand for themselves; the space, which
# matters most, appears as `Ġ`. And words are cut from the text **with the space before them**, so that no space has to
# be kept elsewhere. "Chuck" at the start of a line and "chuck" behind a space are therefore two different words. We
# shall have trouble with this further down.

# %%
print(tiny.tokenize("wood would").tokens)
print(tiny.tokenize(" wood would").tokens)
print([f"{merge.left} {merge.right}" for merge in tiny.merges])

# %% [markdown]
# ## The same in the library
#
# One thing in our `learn` is too slow for real texts: after every merge it counts all pairs again. But a merge only
# changes the words that contain the pair. The library remembers in which words each pair stands (the class
# `PairCounts`), corrects the counts of those, and keeps the candidates in a queue with the largest count in front.
# Apart from that, the loop is ours:

# %%
source.show(bpe.learn_merges, docstring=False)

# %% [markdown]
# Does it learn the same merges? From the weather, and from a page of the manual:

# %%
page = Counter(word for word in words_of(train[:1]))
for text, n_merges in ((weather, 7), (page, 100)):
    vocabulary = Vocabulary(sorted({letter for word in text for letter in word}))
    theirs = bpe.learn_merges(text, vocabulary, len(vocabulary) + n_merges, min_count=1)
    ours = [pair for pair, _, _ in learn(text, n_merges)]
    assert ours == [(merge.left, merge.right) for merge in theirs]
print("our function and the library: the same merges in the same order")

# %% [markdown]
# And the reference: the `tokenizers` library of Hugging Face, written in Rust. We train both on the manual, a
# vocabulary of 2,000 tokens each, and let them read the pages that neither has seen.

# %%
ours = BPE.train(train, vocab_size=2000)

theirs = Tokenizer(models.BPE())
theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
theirs.train_from_iterator(
    train,
    trainers.BpeTrainer(
        vocab_size=2000,
        min_frequency=2,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    ),
)
learned = [tuple(pair) for pair in json.loads(theirs.to_str())["model"]["merges"]]

assert [(merge.left, merge.right) for merge in ours.merges] == learned
assert all(ours.encode(text) == theirs.encode(text).ids for text in new)
print("Hugging Face and the library: the same", len(learned), "merges")
print("... and the same ids on every page")

# %% [markdown]
# What does Rust buy? On one core, and with all of WikiText-2 (10.8<!-- tokenization_speed: megabytes .1f --> MB of text), ours took 2.4<!-- tokenization_speed: bpe_train/ours_over_peer/median .1f --> times as long as theirs to learn
# 8,000 merges. Encoding took ours 0.6<!-- tokenization_speed: bpe_encode/ours_over_peer/median .1f --> times as long, both without the places of the tokens in the text: it remembers every word
# that it has cut, and does no more than asked. With the places it took 1.3<!-- tokenization_speed: bpe_tokenize/ours_over_peer/median .1f --> times as long, and 1.5<!-- tokenization_speed: bpe_tokenize/ours_over_peer/max .1f --> in the first round, which remembered nothing of a round before.
#
# ## How large a vocabulary?
#
# Merging has no natural end, so somebody has to choose when to stop. The curve below goes along the 3,700 merges of one
# training run on the manual. The first $k$ merges of a long run are the merges of a short run, so one training gives
# all the sizes.


# %% mystnb={"image": {"alt": "A curve that falls from about 6 tokens a word at 256 tokens to little more than 1 at 4,000, steeply at first and flat at the end. A dotted line marks one token a word."}, "figure": {"caption": "Tokens for each word on new pages of the manual, over the size of the vocabulary (logarithmic). Left end: bytes alone."}}
def shorter(tokenizer, vocab_size):
    """The tokenizer as it was when its vocabulary had this size."""
    vocabulary = Vocabulary(tokenizer.vocabulary.tokens[:vocab_size])
    return BPE(vocabulary, tokenizer.merges[: vocab_size - 256])


large = BPE.train(train, vocab_size=4000)
sizes = [256, 300, 400, 600, 1000, 1500, 2500, 4000]
text = " ".join(words_of(new))
lengths = [len(shorter(large, size).encode(text)) for size in sizes]
per_word = [length / len(text.split()) for length in lengths]

ax = plots.curves(
    sizes, {"": per_word}, xlabel="tokens in the vocabulary", ylabel="tokens for a word"
)
ax.plot(sizes, per_word, "o", color=plots.BLUE)
ax.axhline(1, color=plots.GREY, linestyle=":")
ax.set(xscale="log", ylim=(0, 7), xticks=[256, 500, 1000, 2000, 4000])
ax.xaxis.set_major_formatter(lambda size, _: f"{size:,.0f}")
ax.minorticks_off()
plt.show()

# %%
assert per_word == sorted(per_word, reverse=True)
gains = [before - after for before, after in pairwise(per_word)]
assert gains[0] + gains[1] > 2 and gains[-1] < 0.3
print(
    "the first 144 merges save more than 2 tokens a word, the last 1,500 less than 0.3"
)

# %% [markdown]
# The first merges do most of the work, because they are the most frequent pairs by construction. (That 4,000 tokens come
# so close to one a word is the manual's doing: it is a small text with few different words.) Why not go on for ever,
# towards whole words? Because every token costs a row of parameters. The base Transformer had a vocabulary of
# about 37,000 tokens (byte pairs, shared by English and German) and 512 numbers for each: 19 of its 65 million
# parameters are that table. And the rows of rare tokens are seldom trained.
#
# The paper that brought byte pairs to translation counted this on a large scale, the German half of 4.2 million
# sentence pairs (Sennrich, Haddow and Birch, 2016, table 1, some rows of it):

# %% mystnb={"image": {"alt": "A scatter plot of text length against vocabulary size. Characters lie top left at 550 million tokens, bigrams and trigrams on the way down, words far right at 100 million tokens and 1.75 million types. Both kinds of BPE lie bottom middle, near 112 million tokens with 63,000 and 82,000 types."}, "figure": {"caption": "Seven ways to cut the same German text: how long it becomes, and how many different tokens there are. UNK: unknown tokens in a test set. Data: Sennrich, Haddow and Birch (2016), table 1."}}
segmentations = {  # million tokens in the text, different tokens, unknown in the test set
    "words": (100, 1_750_000, 1079),
    "characters": (550, 3_000, 0),
    "character bigrams": (306, 20_000, 34),
    "character trigrams": (214, 120_000, 59),
    "hyphenation": (186, 404_000, 230),
    "BPE": (112, 63_000, 0),
    "BPE, joint with English": (111, 82_000, 32),
}
figure, ax = plt.subplots()
for name, (tokens, types, unknown_tokens) in segmentations.items():
    colour = plots.RED if "BPE" in name else plots.BLUE
    ax.plot(types, tokens, "o", color=colour)
    left, below = name in ("BPE", "words"), "BPE" in name or name == "hyphenation"
    ax.annotate(
        f"{name} ({unknown_tokens} UNK)",
        (types, tokens),
        xytext=(-7 if left else 7, -3 if below else 4),
        textcoords="offset points",
        ha="right" if left else "left",
        va="top" if below else "bottom",
        fontsize=9,
        color=colour,
    )
ax.set(
    xscale="log",
    xlim=(2e3, 5e6),
    ylim=(0, 620),
    xlabel="different tokens",
    ylabel="million tokens in the text",
)
plt.show()

# %% [markdown]
# Byte pairs sit in the corner where one wants to be: a text hardly longer than in words, with a twenty-eighth of the
# vocabulary, and nothing unknown. (The 32 unknown tokens of the joint vocabulary were pieces that occur in the English
# half only.)
#
# ## WordPiece, BERT's way
#
# BERT is often said to use byte pairs. It uses a relative. **WordPiece** was made for voice search in Japanese and
# Korean (Schuster and Nakajima, 2012), went through Google's translator (Wu et al., 2016), and differs in three points.
#
# *How pieces are written.* Spaces are dropped, and a piece that continues a word is marked with `##`. "Teapot" is
# `tea ##pot`.
#
# *How a word is read.* WordPiece keeps no merges, only the vocabulary. It takes **the longest piece that fits** from
# the left, then the longest that fits the rest, and so on:


# %%
def longest_first(word, vocabulary):
    """WordPiece: the pieces of one clean word."""
    pieces, start = [], 0
    while start < len(word):
        prefix = "##" if start else ""
        for end in range(len(word), start, -1):
            piece = prefix + word[start:end]
            if piece in vocabulary:
                break
        else:
            return ["[UNK]"]  # nothing fits: the *whole* word is unknown
        pieces.append(piece)
        start = end
    return pieces


# MiniLM's vocabulary, which is BERT's
wordpiece = WordPiece.load(minilm.checkpoint() / "vocab.txt")

for word in ("unputdownable", "chessboard", "embeddings", "woodchuck", "asinine"):
    pieces = longest_first(word, wordpiece.vocabulary.ids)
    assert pieces == wordpiece.tokenize(word).tokens
    print(f"{word:14} {pieces}")

# %% [markdown]
# There it is, un-put-down-able. The others are a warning: "chessboard" is cut where we would cut it, "embeddings" is
# not. Pieces are what was frequent, not what is right.
#
# *How pieces are learned.* Byte pairs merge the pair that is most **frequent**. WordPiece, as it was published, merges
# the pair that makes the text most **likely**. Suppose pieces were drawn at random, each with its own frequency. Then
# "d" and "e" stand side by side by pure chance, now and then, simply because both are common. A pair deserves to be
# merged if it stands together *more often than chance would have it*. With $n_{ab}$ pairs among $N$ pieces, of which
# $n_a$ are a and $n_b$ are b, chance predicts $n_a n_b / N$ of them, and the logarithm of the text's probability grows
# by roughly
#
# $$n_{ab} \cdot \log \frac{n_{ab}\, N}{n_a\, n_b}.$$
#
# Many courses give the bare ratio $n_{ab} / (n_a n_b)$ instead. That is not the same, as our seventeen words show:

# %%
words = {tuple(word): n for word, n in weather.items()}
pairs, single = count_pairs(words), Counter()
for symbols, n in words.items():
    for symbol in symbols:
        single[symbol] += n
N = single.total()

print("pair  count  ratio  gain")
for a, b in (("i", "n"), ("r", "a"), ("e", "d"), ("t", "r")):
    n = pairs[a, b]
    chance = n / (single[a] * single[b])
    print(f"{a} {b}   {n:5}  {chance:5.2f} {n * log(chance * N):5.1f}")

# %% [markdown]
# The ratio likes "ed" best by far, *because* it occurs only twice: "in", "ra" and "ed" are all inseparable here, and for
# such a pair the ratio is one divided by the count. But merging "ed" saves next to nothing. The gain weighs by the count
# and prefers "in", as byte pairs do. On real text the bare ratio fills a vocabulary with rarities. (Google has not
# published the program that learned BERT's vocabulary. Its guide to TensorFlow Text says that it went from whole words
# downwards, by counts. The library's default is our reading of what the paper of 2012 says, in full instead of
# "roughly", and its documentation says so; Hugging Face's trainer for WordPiece simply counts. For *reading* there is a
# public reference, BERT's own code, and on ordinary text all agree. Words of more than 100 letters are `[UNK]` to
# Hugging Face and to us; BERT's code now allows 200.)
#
# Before any of this, BERT cleans the text. In its *uncased* form, which MiniLM uses, that means small letters, no
# accents, and every punctuation mark a word of its own. That step cannot be undone. The library's version of the
# loop, and the comparison with Hugging Face on the manual:

# %%
source.show(WordPiece.spell, docstring=False)

# %%
theirs = Tokenizer.from_file(str(minilm.checkpoint() / "tokenizer.json"))
theirs.no_truncation()
theirs.no_padding()
for text in [*new, "Défense d'afficher!", "漢字 and ½ tea", "a" * 101]:
    assert wordpiece.encode(text) == theirs.encode(text, add_special_tokens=False).ids
print("Hugging Face and the library: the same ids, on the new pages and odd cases too")
print(wordpiece.decode(wordpiece.encode("Défense d'afficher!")))

# %% [markdown]
# The accent and the capital letter are gone for good. Byte pairs would have kept them.
#
# ### Special tokens, pairs and places
#
# A few tokens do not come from any text. BERT reads one or two texts at a time, as `[CLS] first [SEP] second [SEP]`;
# `[PAD]` fills up a batch and `[MASK]` hides a word (chapter 13). With every token comes the number of its segment, 0
# or 1, and the place in the text that it was made from, its **offset**. Offsets are what lets a program mark an answer
# in the *original* text, capital letters and all.

# %%
question, answer = "Where is the Tea?", "On the TEAPOT."
pair = wordpiece.pair(question, answer)
for token, (start, end), segment in zip(
    pair.tokens, pair.offsets, pair.segments, strict=True
):
    text = (question, answer)[segment][start:end]
    print(f"{token:8} segment {segment}   {text!r}")

# %% [markdown]
# One thing is easily overlooked: in Hugging Face's tokenizers, and so in ours, though not in BERT's own code, the *name*
# of a special token in a text becomes that token. Whoever sends your service the text "I [SEP] you" has written into
# the frame of your input.

# %%
print(wordpiece.tokenize("I [SEP] you").tokens)

# %% [markdown]
# ## Two languages, one vocabulary
#
# The table that made subwords famous is in the same paper of 2016. Four systems translate two phrases from English to
# German; a bar marks where a word is cut. The first has a dictionary of whole words, with a second dictionary for what
# it does not know; the second keeps 50,000 words whole and cuts all others into pairs of letters; the last two use
# byte pairs, learned for each language separately (60k) or jointly on both (J90k).
#
# | system | *health research institutes* | *asinine situation* |
# |---|---|---|
# | human translator | Gesundheitsforschungsinstitute | dumme Situation |
# | WDict | Forschungsinstitute | asinine situation → UNK → asinine |
# | C2-50k | Fo\|rs\|ch\|un\|gs\|in\|st\|it\|ut\|io\|ne\|n | as\|in\|in\|e situation → As\|in\|en\|si\|tu\|at\|io\|n |
# | BPE-60k | Gesundheits\|forsch\|ungsinstitu\|ten | as\|in\|ine situation → A\|in\|line-\|Situation |
# | BPE-J90k | Gesundheits\|forsch\|ungsin\|stitute | as\|in\|ine situation → As\|in\|in-\|Situation |
#
# (Sennrich, Haddow and Birch, 2016, table 4.) The German compound is the success. The word dictionary and the letter
# pairs lose "health"; byte pairs put the long word together out of pieces (learned jointly, just as the human
# wrote it; learned separately, with a dative ending, which the authors count as correct). "Asinine" is the failure, and
# an instructive one: nobody translated it. The right word was "dumm". What the systems did was to copy it, piece by
# piece, as one does with names.
#
# Why these pieces? Their data (a hundred million words) is not here, but the mechanism fits on a page. Here are twenty
# pairs of sentences, written for this book. Neither "asinine" nor the long compound is in them.

# %%
sentences = [
    ("the institute does research on sleep", "das Institut betreibt Schlafforschung"),
    ("two institutes share one building", "zwei Institute teilen sich ein Gebäude"),
    ("research on the climate is expensive", "Klimaforschung ist teuer"),
    ("the state pays for basic research", "der Staat bezahlt die Grundlagenforschung"),
    ("her research won a prize", "ihre Forschung gewann einen Preis"),
    ("good health is a gift", "gute Gesundheit ist ein Geschenk"),
    ("smoking harms your health", "Rauchen schadet der Gesundheit"),
    ("the health office is closed", "das Gesundheitsamt ist geschlossen"),
    ("the health insurance pays", "die Krankenversicherung zahlt"),
    ("health comes first", "die Gesundheit geht vor"),
    ("the situation is serious", "die Situation ist ernst"),
    ("nobody wanted this situation", "niemand wollte diese Situation"),
    ("a difficult situation for everyone", "eine schwierige Situation für alle"),
    ("as soon as it rains we go inside", "sobald es regnet, gehen wir hinein"),
    ("as far as I know the machine is fine", "soviel ich weiß, geht die Maschine"),
    ("the engine of the car is old", "der Motor des Autos ist alt"),
    ("he finds the magazine in the kitchen", "er findet die Zeitschrift in der Küche"),
    ("a line of pine trees in the rain", "eine Reihe Kiefern im Regen"),
    ("wine and cheese as in France", "Wein und Käse wie in Frankreich"),
    ("the institute opens in spring", "das Institut öffnet im Frühling"),
]
english, german = map(list, zip(*sentences, strict=True))
separate = {"English": BPE.train(english, 336), "German": BPE.train(german, 336)}
joint = BPE.train(english + german, 416)


def cut(tokenizer, text):
    """The tokens of a text that stands behind a space."""
    return "|".join(tokenizer.tokenize(" " + text).tokens)


for language, phrase in (
    ("English", "health research institutes"),
    ("German", "Gesundheitsforschungsinstitute"),
    ("English", "asinine situation"),
    ("German", "Asinin-Situation"),
):
    print(f"{language:7} separate  {cut(separate[language], phrase)}")
    print(f"        joint     {cut(joint, phrase)}")

# %% tags=["remove-cell"]
assert cut(separate["English"], "asinine") == cut(joint, "asinine") == "Ġas|in|ine"

# %% [markdown]
# `as|in|ine`, just as in the table, from twenty sentences! There is no magic in it; we wrote such words into them. "As" is
# a frequent word, "in" is a frequent word and a frequent part of words, "-ine" ends engine, machine, wine, fine and
# magazine. In English all three are merged, "in" and "ine" early. "Asinine" itself is too rare for anything longer, so
# it is put together from what happens to be common, although none of the three has anything to do with *asinus*, the
# donkey.
#
# And why does it help to learn both languages together? Look at a name. It has to be *copied* from English to German.

# %%
for name in ("Einstein", "Christine"):
    print(f"English, separate  {cut(separate['English'], name)}")
    print(f"German, separate   {cut(separate['German'], name)}")
    print(f"both, joint        {cut(joint, name)}")

# %% tags=["remove-cell"]
for name in ("Einstein", "Christine"):
    assert cut(separate["English"], name) != cut(separate["German"], name)

# %% [markdown]
# The German vocabulary knows "ein" and "st"; the English one knows "ine" and "te". So the same name is cut in two ways,
# and a translator that wants to copy it must first learn that `s|te|in` on one side is `st|ein` on the other. The
# authors trace a letter that got lost in a Russian word, and one that crept in, to training pairs cut like this, and
# blame such cuts for errors in copying into German too; "Ainline-" looks like one. A joint vocabulary cuts a name in
# the same way on both sides, by construction: it is the same function applied to the same letters, and copying is
# copying. It costs some pieces that only one of the languages needs. With capital letters the help ends: for bytes, "Situation" and "situation"
# begin differently, and our joint vocabulary writes `S|ituation` behind the hyphen and `Ġsituation` in English: no
# piece in common.
#
# ## A real vocabulary
#
# MiniLM reads with BERT's vocabulary, 30,522 tokens learned on English. How does it fare with words that are rare?

# %%
counts = Counter(words_of(train))
groups = {
    "the 100 most frequent words": [word for word, _ in counts.most_common(100)],
    "words that occur once": [word for word, n in counts.items() if n == 1],
}
fertility = {
    name: sum(len(wordpiece.encode(word)) for word in group) / len(group)
    for name, group in groups.items()
}
assert fertility["the 100 most frequent words"] < 1.1
assert fertility["words that occur once"] > 1.3
print("the 100 most frequent words of the manual: less than 1.1 pieces each")
print("words that occur once: more than 1.3 pieces each")

# %% [markdown]
# Pieces for each word, the tokenizer's *fertility*, is a fair measure within a language. Between languages it is not:
# Finnish says in one word what takes English four. So we let the tokenizer read the *same text* in several languages,
# the first article of the Universal Declaration of Human Rights, and count the tokens of the whole.

# %%
article = {
    "English": "All human beings are born free and equal in dignity and rights. They are "
    "endowed with reason and conscience and should act towards one another in a spirit "
    "of brotherhood.",
    "French": "Tous les êtres humains naissent libres et égaux en dignité et en droits. "
    "Ils sont doués de raison et de conscience et doivent agir les uns envers les autres "
    "dans un esprit de fraternité.",
    "German": "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind "
    "mit Vernunft und Gewissen begabt und sollen einander im Geiste der Brüderlichkeit "
    "begegnen.",
    "Finnish": "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja "
    "oikeuksiltaan. Heille on annettu järki ja omatunto, ja heidän on toimittava "
    "toisiaan kohtaan veljeyden hengessä.",
    "Russian": "Все люди рождаются свободными и равными в своем достоинстве и правах. "
    "Они наделены разумом и совестью и должны поступать в отношении друг друга в духе "
    "братства.",
    "Greek": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα "
    "δικαιώματα. Είναι προικισμένοι με λογική και συνείδηση, και οφείλουν να "
    "συμπεριφέρονται μεταξύ τους με πνεύμα αδελφοσύνης.",
    "Chinese": "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。",
}
read = {language: wordpiece.tokenize(text).tokens for language, text in article.items()}
print(read["English"][:9])
print(read["German"][:9])
print(read["Russian"][:9])

# %% mystnb={"image": {"alt": "Bars of the number of tokens for one article in seven languages: English 32, French 61, German 57, Finnish 67, Russian 133, Greek 163, Chinese 43, of which 25 are unknown and drawn in another colour."}, "figure": {"caption": "The same article in seven languages, in tokens of BERT's English vocabulary. Orange: unknown."}}
totals = [len(tokens) for tokens in read.values()]
lost = [tokens.count("[UNK]") for tokens in read.values()]

figure, ax = plt.subplots(figsize=(6.4, 2.8))
ax.barh(list(read), totals, color=plots.BLUE)
ax.barh(list(read), lost, color=plots.ORANGE)
for i, (total, missing) in enumerate(zip(totals, lost, strict=True)):
    note = f"{total}, of which {missing} [UNK]" if missing else str(total)
    ax.text(total + 2, i, note, va="center", fontsize=9)
ax.invert_yaxis()
ax.set(xlabel="tokens", xlim=(0, 185))
plt.show()

# %% [markdown]
# Twice as many tokens for French and German, four to five times as many for Russian and Greek, where almost every
# letter is a token, and in Chinese more than half of the characters are lost. The loss comes from starting with
# characters in place of bytes. The length is no defect of WordPiece: the vocabulary was learned on English, and for
# English it is excellent. But where a model is meant for everyone, the difference turns into money, waiting time and
# room in a limited context, paid by those who write in the wrong script. Multilingual models learn their vocabulary on
# a mixture in which small languages are counted more than once.
#
# Numbers fare no better than names. Neighbours on the number line may look quite different:

# %%
for number in ("2021", "2022", "1000", "1001", "4096", "3.14159"):
    print(f"{number:8} {wordpiece.tokenize(number).tokens}")

# %% [markdown]
# The year 2021 is a token, and then the calendar ends: 2022 is a "202" with a 2 behind it. A thousand is one token, a
# thousand and one begins with 100. From such material a model is expected to learn arithmetic.
#
# ## What goes wrong
#
# ### Learned on one spelling, used on another
#
# Two texts may look the same and be different bytes. "é" can be one character or an "e" followed by an accent; Unicode
# calls these forms NFC and NFD, and a file name copied from a Mac is often in the second. Capital letters do the same
# on a larger scale.

# %%
composed, decomposed = (unicodedata.normalize(form, "café") for form in ("NFC", "NFD"))
print(composed, decomposed, composed == decomposed)
print(tiny.tokenize(composed).tokens, tiny.tokenize(decomposed).tokens)
print(tiny.tokenize(" woodchuck").tokens, tiny.tokenize(" WOODCHUCK").tokens)

# %% [markdown]
# Nothing is lost, but the model sees tokens it has hardly been trained on. Decide on one form, apply it in training and
# in use, and store the decision *with* the vocabulary. A `vocab.txt` alone does not say whether to write small letters.
#
# ### The longest match in place of the merges
#
# Byte pairs and WordPiece keep the same kind of list, so it is tempting to read with a byte-pair vocabulary as
# WordPiece would: longest piece first.


# %%
def longest_piece_first(text):
    """A byte-pair vocabulary applied in the wrong way."""
    pieces, text = [], text.replace(" ", "Ġ")
    while text:
        fits = (n for n in range(len(text), 0, -1) if text[:n] in joint.vocabulary.ids)
        n = next(fits)
        pieces.append(text[:n])
        text = text[n:]
    return pieces


print("longest first:", longest_piece_first(" father"))
print("merges in order:", joint.tokenize(" father").tokens)

plain = [
    word for word in wordpiece.vocabulary.tokens if word.isascii() and word.isalpha()
]
differ = [
    word
    for word in plain
    if longest_piece_first(f" {word}") != joint.tokenize(f" {word}").tokens
]
print(f"{len(differ)} of {len(plain)} words of BERT's vocabulary are cut differently")

# %% [markdown]
# Merged in order, "he" comes early and takes the "t" before it; "at" was learned later and finds no "t" left. Longest
# first, "at" gets there before. Both ways spell the word, so decoding still works and no test of the round trip will
# notice. But the model was trained on the one kind of spelling and is now shown the
# other. Compare *ids* with the reference, not texts.
#
# ### The space in front
#
# For byte pairs of GPT-2's kind, "wood" and " wood" are different tokens, and a space at the *end* of a text is a token
# too. A prompt that ends with a space asks the model for a word that begins without one, which is a rare thing.

# %%
for text in ("wood", " wood", "a wood", "a ", "a"):
    print(f"{text!r:9} {tiny.tokenize(text).tokens}")

# %% [markdown]
# ### Decoding token by token
#
# A program that prints what a model generates wants to print every token at once. But a character may be spread over
# several tokens, and half a character is not text.

# %%
ids = tiny.encode("tea 🙂")
print("all together:", tiny.decode(ids))
print("one by one:  ", "".join(tiny.decode([i]) for i in ids))

# %% [markdown]
# Each `�` is the replacement character, Unicode's sign for broken bytes. The cure is to keep the bytes back until they
# make a whole character.
#
# ### Half a character in the input
#
# There are strings in Python that are not text. Some systems store 🙂 as two halves (*surrogates*), and when a text is
# cut between them, or a JSON file holds only one, a half remains. UTF-8 has no form for it.

# %%
broken = json.loads('"tea \\ud83d"')
try:
    tiny.encode(broken)
except ValueError as error:
    print("ValueError:", error)

# %% [markdown]
# The library refuses, and says where. The other choice, to replace it silently by something else, would break the
# promise that what goes in comes out.
#
# ## Summary
#
# 1. No list of words is long enough; letters make texts too long. Subwords are short where the text is unusual.
# 2. Byte pair encoding merges the most frequent pair of neighbours again and again, and reads by merging in that order.
# 3. Starting from the 256 bytes, nothing is unknown and decoding gives back every text exactly.
# 4. WordPiece takes the longest piece first, marks continuations with `##`, and, as published, learns by likelihood,
#    not by count.
# 5. Pieces follow the text they were learned on: rare words, other languages and numbers pay with more tokens.
#
# **Homework 3**, questions 1 and 2, is about this chapter: [exercises](../exercises/hw3_training_and_generating.ipynb).
#
# **Next:** with tokens on both sides, a Transformer can be trained to translate: [chapter 8](08_training.ipynb).
#
# ## References
#
# - Rico Sennrich, Barry Haddow and Alexandra Birch (2016). *Neural machine translation of rare words with subword
#   units.* ACL. Section 3.2, tables 1 and 4.
# - Philip Gage (1994). *A new algorithm for data compression.* The C Users Journal 12(2).
# - Mike Schuster and Kaisuke Nakajima (2012). *Japanese and Korean voice search.* ICASSP. Section 3.
# - Yonghui Wu et al. (2016). *Google's neural machine translation system: bridging the gap between human and machine
#   translation.* Section 4.1.
# - Alec Radford et al. (2019). *Language models are unsupervised multitask learners.* OpenAI. Section 2.2.
# - Jacob Devlin, Ming-Wei Chang, Kenton Lee and Kristina Toutanova (2019). *BERT: pre-training of deep bidirectional
#   Transformers for language understanding.* NAACL.
# - Ashish Vaswani et al. (2017). *Attention is all you need.* NeurIPS. Section 5.1 on the vocabularies.
