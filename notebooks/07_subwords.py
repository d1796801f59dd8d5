# %% [markdown]
# # Subwords
#
# > *An unputdownable novel.*
#
# You may never have met "unputdownable", and yet you know what it means: you took it apart. A model with a fixed list
# of words cannot: all other words are one token, `[UNK]`. How often does that happen? We list the words on most pages
# of Python's manual, and read the others.

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

# %% tags=["hide-input"]
import json
import re
import unicodedata
from collections import Counter
from itertools import pairwise

import matplotlib.pyplot as plt
import regex  # like Python's re, but it knows what a letter is in every script
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from lectures_lib.data.manual import python_manual
from lectures_lib.show import plots, stepper
from lectures_lib.show.stepper import Stepper
from lectures_lib.tokenization import BPE, Vocabulary, bpe, byte_level

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

# %% [markdown]
# **Predict.** The 50 most frequent words leave about half of the words on a new page unknown. What share is left when the
# dictionary holds *every* word of all the training pages, nearly 3,000: none, about 3 in 100, or about 20 in 100?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: about 3 in 100 -->
#
# About 3 in 100. The tempting answer is "none": it is the same manual, by the same authors. But a new page has a new
# subject, and with it new words. (20 in 100 is what is left at about 400 words: the first few hundred do most of the
# work.)
#
# </details>

# %% tags=["hide-input"] mystnb={"image": {"alt": "A falling curve. With a dictionary of 50 words about half of the running words of new pages are unknown, with 1,000 words about a tenth, and with all words of the training pages still a few in a hundred."}, "figure": {"caption": "Share of the words on new pages of Python's manual that a dictionary does not hold, over the size of the dictionary. The last point is the dictionary of all words of the training pages."}}
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
assert 0.45 < unknown[0] < 0.6 and 0.06 < unknown[4] < 0.15
assert 0.015 < unknown[-1] < 0.045 and 2500 < len(known) < 3500
assert unknown == sorted(unknown, reverse=True)
dictionary = set(known[:400])
at_400 = sum(w not in dictionary for w in words_of(new)) / len(words_of(new))
assert 0.15 < at_400 < 0.25, at_400

# %% [markdown]
# The curve falls fast, but it does not reach zero. Some of the missing words are what a new page is about. Some are
# plain English that the training pages happened not to need ("my", "thing"). Others are built from words on the list,
# and every reader understands them at once: "unreachable", "unfilled", "unchangeable". No list is long enough to end
# that.
#
# **After this chapter you can**
#
# - learn byte pairs from a text by hand, and write the learner and the encoder in about thirty lines;
# - build a tokenizer like GPT-2's on top of it, one that loses no character of any script;
# - choose the size of a vocabulary, and say what a larger one costs;
# - explain why it helps a translator if two languages share one vocabulary;
# - recognise two mistakes that make a good model look bad.
#
# **Time** about 45 minutes. **You need** Python's dictionaries; no PyTorch at all in this chapter.
#
# ## Words, letters, and something between
#
# If whole words are too many, why not letters? There are few of them, and every word can be spelled.

# %%
sentence = "an unputdownable novel"
print(len(sentence.split()), "words:", sentence.split())
print(len(sentence), "letters and spaces:", *sentence)

# %% [markdown]
# Nothing is unknown any more, but the sentence is seven times as long. Attention compares every token with every
# other one ([chapter 2](02_self_attention.ipynb)), so that is about fifty times the comparisons. And a single letter
# means nothing: the model would probably spend some of its work on spelling.
#
# We want pieces that are *short where the text is unusual and long where it is usual*: "the" in one piece,
# "unputdownable" in a few. And the text should decide where to cut, so that we need no rules for each language.
#
# ## Byte pairs by hand
#
# The idea comes from compressing files. Philip Gage described it in 1994: find the two neighbours that stand side by
# side most often, replace them by one new symbol, and do that again. Here is a text about the weather. All we need of
# it is how often each word occurs.

# %%
weather = {"rain": 6, "train": 4, "training": 3, "raining": 2, "rained": 2}

# %% [markdown]
# Every word starts as a row of letters. Count, merge, repeat. Three functions:


# %%
def count_pairs(words):
    """How often each pair of neighbours occurs in these words {symbols: count}.

    {("z", "o", "o"): 2, ("o", "h"): 5} → {("z", "o"): 2, ("o", "o"): 2, ("o", "h"): 5}
    """
    counts = Counter()
    for symbols, n in words.items():
        for pair in pairwise(symbols):
            counts[pair] += n
    return counts


def merge(symbols, pair):
    """The same symbols, with every such pair put together, from left to right.

    ("h", "o", "o", "f") and the pair ("o", "o") → ("h", "oo", "f")
    """
    merged, i = [], 0
    while i < len(symbols):
        if symbols[i : i + 2] == pair:
            merged.append(pair[0] + pair[1])
            i += 2
        else:
            merged.append(symbols[i])
            i += 1
    return tuple(merged)


def learn(word_counts, n_merges, min_count=1):
    """The pairs to merge, in this order: each is the most frequent when its turn comes.

    {"loot": 2, "root": 1} and 2 merges → [("o", "o"), ("oo", "t")]
    """
    words = {tuple(word): n for word, n in word_counts.items()}  # spelled in letters
    letters = sorted(set("".join(word_counts)))
    rank = {letter: i for i, letter in enumerate(letters)}  # of symbols, oldest first
    merges = []
    for _ in range(n_merges):
        counts = count_pairs(words)
        if max(counts.values(), default=0) < min_count:
            break  # no pair is left that occurs so often
        # the most frequent pair; of equals, the one whose symbols are oldest
        pair = min(counts, key=lambda p: (-counts[p], rank[p[0]], rank[p[1]]))
        merges.append(pair)
        # from now on the pair is one symbol
        rank[pair[0] + pair[1]] = len(rank)
        words = {merge(symbols, pair): n for symbols, n in words.items()}
    return merges


# %% [markdown]
# When two pairs are equally frequent, a rule must decide, always in the same way: here the pair with the oldest left
# symbol wins, then the one with the oldest right symbol. Letters are the oldest, by the alphabet; merged symbols
# follow in the order of their merges. (In the line with `min`, the minus makes the largest count win.)
#
# Each line of the next output shows a pair with its count, and the words *before* this pair is merged.

# %% [markdown]
# **Predict.** Which pair of neighbours is the most frequent in these seventeen words (6 times "rain", 4 times "train",
# 3 times "training", twice "raining" and twice "rained"), and how often does it occur: "i n" 17 times, "i n" 22 times,
# or "r a" 17 times?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: "i n" 22 times -->
#
# "i n", 22 times: $6 + 4 + 2 \cdot 3 + 2 \cdot 2 + 2$. The tempting answer is 17, once for each word. But "training" and
# "raining" have it twice, and it is *places* that are counted, not words. "r a" and "a i" stand once in each word and
# are tied at 17.
#
# </details>


# %%
def replay(word_counts, merges):
    """Each pair, with the counts of all pairs and the words before it is merged."""
    words = {tuple(word): n for word, n in word_counts.items()}
    for pair in merges:
        yield pair, count_pairs(words), words
        words = {merge(symbols, pair): n for symbols, n in words.items()}


merges = learn(weather, 7)
for pair, counts, words in replay(weather, merges):
    spelled = "  ".join("·".join(symbols) for symbols in words)
    print(f"{counts[pair]:2}  {pair[0] + ' ' + pair[1]:10} {spelled}")

# %% tags=["remove-cell"]
assert merges[0] == ("i", "n") and counts[pair] == 2
assert [f"{a}{b}" for a, b in merges][-3:] == ["ing", "training", "ed"]

# %% [markdown]
# After four merges "rain" and "train" are single symbols; after seven we have "ing" and "ed" as well. Nobody told the
# program about endings. They are frequent, and that is all it knows: "ingot" would become `ing o t`. (To tell an
# ending, many programs put a sign, often `</w>`, behind each word.)
#
# What about a word that was not in the text? We spell it in letters and apply the merges **in the order in which they
# were learned**.


# %%
def spell(word, merges):
    """The word in pieces: its letters, merged in the order that was learned.

    "king" and the merges ("i", "n"), ("in", "g") → ["k", "ing"]
    """
    symbols = tuple(word)
    for pair in merges:
        symbols = merge(symbols, pair)
    return list(symbols)


# %% [markdown]
# **Predict.** The seven merges are *in*, *ain*, *rain*, *train*, *ing*, *training*, *ed*. None of the words "drained",
# "straining" and "tea" was in the text. Into how many pieces is each cut?
#
# <details><summary>Answer</summary>
#
# Three, two and three. "drained" is `d rain ed`, "straining" is `s training`, and "tea" has no pair in common with the
# merges, so it stays `t e a`. One is tempted to cut "strain" and "ing", as a dictionary would. The program has no
# "strain"; it merges what was frequent, and "training" was learned as one piece.
#
# </details>

# %%
for word in ("drained", "straining", "tea"):
    print(f"{word:10} {spell(word, merges)}")

# %% [markdown]
# Merge by merge: a merge joins its pair wherever the two stand side by side at that moment, and then its turn is over.

# %% tags=["remove-input"]
from lectures_lib.show.drawings import draw

draw("merge_tree")

# %% [markdown]
# (Try a word of your own, in the cell above the picture.) There is no rain in "drained", but the program counts
# letters and knows no meanings. That is the bargain: usual words cost few tokens, unusual words many, and nothing is unknown as long as its letters are known. (Here we let every letter pass, also an *s*, which the weather words lack.)
#
# ## Watch it learn
#
# Now a text with more rhythm: *How much wood would a woodchuck chuck if a woodchuck could chuck wood?* At each step a
# frame marks the pair that is merged next, and the table has the count that made it win.

# %% tags=["hide-input"]
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


# %% tags=["hide-input"]
frames, labels = [], []
counted = Counter(riddle.split())
for pair, counts, words in replay(counted, learn(counted, 11)):
    done = counts[pair] == 1
    frames.append(frame(words, counts, None if done else pair))
    labels.append(
        "No pair occurs twice: nothing more to learn"
        if done
        else f"Merge {len(frames)}: {pair[0]} and {pair[1]} stand together "
        f"{counts[pair]} times"
    )

Stepper(
    frames,
    "Byte pairs in a riddle",
    labels=labels,
    alt=(
        "Nine words, spelled in pieces. With each step the most frequent pair becomes "
        "one piece."
    ),
    start=3,
)

# %% [markdown]
# Ten merges find "wood", "chuck" and their compound. Then no pair is left that occurs twice, and we stop. (`learn`
# stops there with `min_count=2`.) Look at merge 4: "od" is a part of "wood" and of nothing else. Once "wood" is
# there, no word of the riddle is spelled with "od", but it keeps its place in the vocabulary. Real vocabularies hold
# such leftovers, too: of more than 3,700 pieces merged on the manual, about one in ten never occurs when the manual
# is cut with them.
#
# ## From letters to bytes
#
# Our alphabet was the letters of the text. Without "é", "漢" or 🙂 in that text, we cannot spell them. Unicode has
# about 160,000 characters, too many to list. But every text on a computer is stored as **bytes**, and there are only
# 256 different bytes. UTF-8 writes the 128 characters of ASCII (English letters, digits, common signs) as one byte
# each, and all others as two to four:

# %%
for character in "eé漢🙂":
    print(character, list(character.encode("utf-8")))

# %% [markdown]
# So GPT-2's tokenizer starts from the 256 bytes instead of from letters (Radford et al., 2019). That makes the name
# *byte pairs* true again; in translation they had been pairs of characters. To build such a tokenizer, we need two
# steps before the pairs.
#
# **A character for each byte.** To print tokens, and to use `learn` as it stands, we show each byte as one visible
# character: the one of its number in Unicode if that shows, and else one after the first 256. The space, which
# matters most, appears as `Ġ`.


# %%
# 188 bytes keep the character of their number; the other 68 borrow one, the space Ġ
printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
others = [byte for byte in range(256) if byte not in printable]
CHARACTER_OF_BYTE = {byte: chr(byte) for byte in printable}
CHARACTER_OF_BYTE |= {byte: chr(256 + i) for i, byte in enumerate(others)}
BYTE_OF_CHARACTER = {shown: byte for byte, shown in CHARACTER_OF_BYTE.items()}


def visible(data):
    """Bytes, each shown as its character."""
    return "".join(CHARACTER_OF_BYTE[byte] for byte in data)


print(visible(" café 🙂".encode()))

# %% tags=["remove-cell"]
assert CHARACTER_OF_BYTE == byte_level.CHARACTER_OF_BYTE and len(others) == 68

# %% [markdown]
# **Words, before pairs.** Pairs are counted within words, so text must be cut into words first. Otherwise the most
# frequent "pairs" would soon be whole phrases, and "dog.", "dog!" and "dog?" three vocabulary entries. GPT-2's rule
# is one regular expression. It looks, in this order, for the English endings after an apostrophe; letters of any
# script (`\p{L}`); digits (`\p{N}`); other signs; and white space (`\s`). Three of these begin with an optional
# space, ` ?`. (Hindi's vowel signs, and the sign that mutes a vowel, are not `\p{L}`, so नमस्ते is cut into four parts, and no merge can join them.)

# %%
# 's and its like; letters, digits or other signs, with the space before; white space
WORD = regex.compile(
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
)

# %% [markdown]
# **Predict.** Into how many parts does it cut `don't  stop in 2026!`, with the two spaces before "stop"? And which
# part does each space belong to?
#
# <details><summary>Answer</summary>
#
# Seven. A space belongs to the word *after* it: ` in`, ` 2026`. Of the two spaces before "stop", only the second goes
# with the word; the first is a part of its own. (`\s+(?!\S)` takes white space, but leaves its last character to the
# word that follows.) It is tempting to cut "don't" into "do" and "n't", as a grammarian would. The rule cuts before the
# apostrophe: `don` and `'t`. And the "!" is kept away from the number.
#
# </details>

# %%
print(WORD.findall("don't  stop in 2026!"))

# %% tags=["remove-cell"]
assert WORD.pattern == byte_level.WORD.pattern
assert len(WORD.findall("don't  stop in 2026!")) == 7

# %% [markdown]
# Now put the parts together. `learn` and `spell` are those from above, applied to visible bytes. The picture is what
# `encode` does to a text, with thirteen merges learned from the riddle; read backwards, it is `decode`.

# %% tags=["remove-input"]
draw("bytes_to_tokens")


# %%
class ByteBPE:
    """Byte pairs over bytes: any text goes in, and the same text comes out."""

    def __init__(self, texts, n_merges):
        word_counts = Counter(word for text in texts for word in self.split(text))
        self.merges = learn(word_counts, n_merges, min_count=2)
        made = [left + right for left, right in self.merges]
        self.tokens = [*BYTE_OF_CHARACTER, *made]  # a token's place is its id
        self.ids = {token: i for i, token in enumerate(self.tokens)}

    def split(self, text):
        """Its words in visible bytes: "a café" → ["a", "ĠcafÃ©"]"""
        return [visible(word.encode("utf-8")) for word in WORD.findall(text)]

    def tokenize(self, text):
        """Text → tokens, in visible bytes"""
        return [t for word in self.split(text) for t in spell(word, self.merges)]

    def encode(self, text):
        """Text → ids"""
        return [self.ids[token] for token in self.tokenize(text)]

    def decode(self, ids):
        """Ids → text; half a character, say, becomes �"""
        shown = "".join(self.tokens[i] for i in ids)
        data = bytes(BYTE_OF_CHARACTER[character] for character in shown)
        return data.decode("utf-8", errors="replace")


tiny = ByteBPE([riddle], n_merges=13)
for left, right in tiny.merges:
    print(left, right)
for text in ("wood would", "a café", "漢字 🙂", "  two  spaces\n", "\x00 नमस्ते"):
    ids = tiny.encode(text)
    same = tiny.decode(ids) == text
    print(f"{len(text):2} characters, {len(ids):2} tokens, back: {same}  {text!r}")

# %% [markdown]
# It has read one riddle in English and writes Hindi. Scripts it has never seen cost a token for each byte, but they
# come back unchanged: **there is no text it cannot write**. And " wood" is one token, while "wood" takes two: in the
# riddle a space always stands before it.
#
# ## The same in the library
#
# Our `learn` is too slow for real texts: after every merge it counts all pairs again. The library's `BPE` corrects
# only the counts of the words that contain the pair; otherwise its loop is ours. The reference is Hugging Face's
# `tokenizers`, written in Rust. All three learn from the manual, and the two fast ones read pages that neither has
# seen:

# %% tags=["rtol=0.1"]
ours = ByteBPE(train, n_merges=60)
library = BPE.train(train, vocab_size=2000)

theirs = Tokenizer(models.BPE())
theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
alphabet = pre_tokenizers.ByteLevel.alphabet()
options = {"vocab_size": 2000, "min_frequency": 2, "initial_alphabet": alphabet}
theirs.train_from_iterator(train, trainers.BpeTrainer(**options, show_progress=False))

merges_of = {
    "ours": ours.merges,
    "library": [(merge.left, merge.right) for merge in library.merges],
    "Rust": [tuple(pair) for pair in json.loads(theirs.to_str())["model"]["merges"]],
}
common = [a == b for a, b in zip(merges_of["library"], merges_of["Rust"], strict=True)]
first = [a == b for a, b in zip(*list(merges_of.values())[:2], strict=False)]
pages = [library.encode(text) == theirs.encode(text).ids for text in new]
print(f"ours and the library: {sum(first)} of {len(first)} merges the same")
print(f"the library and Rust: {sum(common)} of {len(common)} merges the same,")
print(f"                      {sum(pages)} of {len(pages)} pages the same ids")

# %% tags=["remove-cell"]
assert all(first) and all(common) and all(pages)
assert len(ours.ids) == len(ours.tokens)  # no two merges make the same token
assert learn({"a": 3}, 5) == [] and learn({"ab": 1}, 5) == [("a", "b")]
page = Counter(words_of(train[:1]))
for text, n_merges in ((weather, 7), (page, 100)):
    vocabulary = Vocabulary(sorted({letter for word in text for letter in word}))
    found = bpe.learn_merges(text, vocabulary, len(vocabulary) + n_merges, min_count=1)
    assert learn(text, n_merges) == [(m.left, m.right) for m in found]
small = BPE.train([riddle], vocab_size=256 + 13)
assert tiny.merges == [(merge.left, merge.right) for merge in small.merges]
assert all(
    tiny.encode(text) == small.encode(text)
    for text in [*new[:3], "a café 漢字 🙂", "\x00 नमस्ते"]
)
assert all(tiny.decode(tiny.encode(text)) == text for text in new[:3])

# %% [markdown]
# How much faster is Rust? On one core and the training text of WikiText-2
# (10.8<!-- tokenization_speed: megabytes .1f --> MB), the library took
# 2.4<!-- tokenization_speed: bpe_train/ours_over_peer/median .1f --> times as long as Rust to learn 8,000 merges
# ([results](../book/results/transformer.md#tokenization-speed)).
#
# ## How large a vocabulary?
#
# A riddle soon runs out of pairs. On a long text, somebody has to choose when merging stops. The first $k$ merges of
# a long run are the merges of a short run, so one training gives all the sizes.

# %% tags=["rtol=0.05"]
large = BPE.train(train, vocab_size=4000)
text = " ".join(words_of(new))


def tokens_a_word(vocab_size):
    """With the tokenizer as it was when its vocabulary had this size."""
    vocabulary = Vocabulary(large.vocabulary.tokens[:vocab_size])
    smaller = BPE(vocabulary, large.merges[: vocab_size - 256])
    return len(smaller.encode(text)) / len(text.split())


sizes = [256, 300, 400, 600, 1000, 1500, 2500, 4000]
per_word = [tokens_a_word(size) for size in sizes]
for size, tokens in zip(sizes, per_word, strict=True):
    print(f"{size:5} tokens in the vocabulary: {tokens:.2f} for a word")

# %% tags=["remove-cell"]
used = {token for page in train for token in large.encode(page)}
assert 0.05 < 1 - len(used & set(range(256, 4000))) / (4000 - 256) < 0.15

# %% tags=["hide-input"] mystnb={"image": {"alt": "A curve that falls from about 6 tokens a word at 256 tokens to little more than 1 at 4,000, steeply at first and flat at the end. A dashed line marks one token a word."}, "figure": {"caption": "Tokens for each word on new pages of the manual (its words alone, in small letters; the space counts), over the size of the vocabulary (logarithmic). Left end: bytes alone."}}
ax = plots.curves(
    sizes, {"": per_word}, xlabel="tokens in the vocabulary", ylabel="tokens for a word"
)
ax.plot(sizes, per_word, "o", color=plots.BLUE)
plots.reference(ax, 1)
ax.set(xscale="log", ylim=(0, 7), xticks=[256, 500, 1000, 2000, 4000])
ax.xaxis.set_major_formatter(lambda size, _: f"{size:,.0f}")
ax.minorticks_off()
plt.show()

# %% tags=["remove-cell"]
assert per_word == sorted(per_word, reverse=True)
gains = [before - after for before, after in pairwise(per_word)]
assert gains[0] + gains[1] > 2 and gains[-1] < 0.3

# %% [markdown]
# The most frequent pairs come first, so the first 144 merges save nearly three tokens a word, the last 1,500 about an
# eighth of one. Why not go on for ever, towards whole words? Because every token costs a row of parameters, and the
# rows of rare tokens are seldom trained. The base Transformer had about 37,000 tokens, shared by English and German,
# of 512 numbers each: 19 of its 65 million parameters are that table. And for every token that is written all 37,000
# are scored, by 19 million multiplications.
#
# The paper that brought byte pairs to translation compared ways to cut the German half of 4.2 million sentence pairs
# (Sennrich, Haddow and Birch, 2016):

# %% tags=["hide-input"] mystnb={"image": {"alt": "A scatter plot of text length against vocabulary size. Characters lie top left at 550 million tokens, bigrams and trigrams on the way down, words far right at 100 million tokens and 1.75 million types. Both kinds of BPE lie bottom middle, near 112 million tokens with 63,000 and 82,000 types."}, "figure": {"caption": "Seven ways to cut the same German text: how long it becomes, and how many different tokens there are. UNK: unknown tokens in a test set. Data: Sennrich, Haddow and Birch (2016), table 1."}}
# million tokens in the text, different tokens, unknown in the test set
segmentations = {
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
        xytext=(-7 if left else 7, -12 if "joint" in name else -3 if below else 4),
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
# We want a short text and a short list: the corner at the bottom left. Of the seven ways drawn here, the two with
# byte pairs come nearest to it. Learned on German alone, they make the text only an eighth longer than words do, with
# a twenty-eighth of the vocabulary, and nothing is unknown. (The 32 unknown tokens of the joint vocabulary were
# probably pieces that occur in the English half only.)
#
# ## Two languages, one vocabulary
#
# Why should two languages share a vocabulary? The same paper tried it with translators from English into German. In
# "asinine situation" ([their table](../book/published/transformer.md#two-sentences-in-pieces)) byte pairs cut the
# first word into `as|in|ine`, and no system found a translation. The one with a joint vocabulary wrote
# `As|in|in-|Situation`.
#
# Twenty pairs of sentences, written for this book and without "asinine", show where such pieces come from. We learn
# once for each language separately, and once for both together (80 merges each, or 160).

# %% tags=["hide-input"]
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

# %%
english, german = map(list, zip(*sentences, strict=True))
tokenizers = {
    "English alone": BPE.train(english, 336),
    "German alone": BPE.train(german, 336),
    "both together": BPE.train(english + german, 416),
}


def cut(tokenizer, text):
    """The tokens of a text that stands behind a space."""
    return "|".join(tokenizer.tokenize(" " + text).tokens)


for word in ("asinine", "Einstein", "Christine"):
    for name, tokenizer in tokenizers.items():
        print(f"{name}:  {cut(tokenizer, word)}")

# %% tags=["remove-cell"]
joint = tokenizers["both together"]
assert (
    cut(tokenizers["English alone"], "asinine") == cut(joint, "asinine") == "Ġas|in|ine"
)
for name in ("Einstein", "Christine"):
    assert cut(tokenizers["English alone"], name) != cut(
        tokenizers["German alone"], name
    )

# %% [markdown]
# `as|in|ine`, just as theirs, from twenty sentences! We wrote such words into them: "as" is a frequent word, "in" is
# a word and a part of words, "-ine" ends engine, machine, wine, fine and magazine. None of the three has anything to
# do with *asinus*, the donkey.
#
# Now the names, which a translator has to *copy*. The German vocabulary knows "ein" and "st", the English one "ine"
# and "te", so the same name is cut in two ways. To copy Einstein, a model must first learn that, behind `E|in`,
# `s|te|in` on one side is `st|ein` on the other. A joint vocabulary applies the same merges to the same letters, and
# cuts a name in the same way on both sides. (Not in fewer pieces: Einstein takes six, in German alone five.) It helps
# less where a capital letter is involved: "situation" and "Situation" begin with different bytes, and are two words
# to a tokenizer.
#
# **Your own text**, in your browser: [Type your own](../book/your_own/holes.md#words-in-pieces). The byte pairs there were
# learned from German and English captions together; press a piece, and see the merges that made it. (The word pieces
# above them are BERT's, for the [next page](07b_wordpiece.ipynb).)
#
# ## What goes wrong
#
# ### The merges in another order
#
# Somebody saves the merges of the weather words as a *set*, or sorts them, so that the file looks neat. All seven are
# still there.

# %%
for name, pairs in {"as learned": merges, "sorted": sorted(merges)}.items():
    pieces = spell("training", pairs)
    print(f"{name:10} {pieces}, together {''.join(pieces)}")

# %% tags=["remove-cell"]
assert spell("training", sorted(merges)) == ["t", "r", "a", "in", "ing"]

# %% tags=["remove-input"]
draw("merge_order")

# %% [markdown]
# Sorted, "a in" has its turn before there is an "in". Both spellings join to the same word, so every test of the
# round trip passes. But a model that was trained on the first has hardly ever seen the second: it only gets worse,
# and nothing says why. The order is part of what was learned. Compare *ids* with the reference, not texts.
#
# ### The space in front
#
# In byte pairs of GPT-2's kind, "wood" and " wood" are different tokens, and a space at the *end* of a text is a
# token of its own. After such a prompt the model must go on with a word that has no space of its own, which is rare.

# %%
for text in ("wood", " wood", "a wood", "a ", "a"):
    print(f"{text!r:9} {tiny.tokenize(text)}")

# %% [markdown]
# ## Exercises
#
# Ungraded; a solution is folded below each.
#
# **1. One spelling or two?** "é" can be one character or an "e" followed by an accent. Unicode calls these forms NFC
# and NFD; a file name copied from a Mac is often in the second. Write "café" in both with `unicodedata.normalize`. Do
# they look the same, are they equal, and what does `tiny` make of each? What of " woodchuck" and " WOODCHUCK"?

# %% tags=["hide-cell"]
# Solution 1
for form in ("NFC", "NFD"):
    cafe = unicodedata.normalize(form, "café")
    print(form, cafe, len(cafe), "characters", tiny.tokenize(cafe))
for word in (" woodchuck", " WOODCHUCK"):
    print(word, tiny.tokenize(word))
# Decide on one form, in training and in use, and store the decision with the
# vocabulary.

# %% [markdown]
# **2. A tokenizer that is never sure.** A simplified form of *BPE-dropout* (Provilkov et al., 2020) leaves out each
# merge with some probability while a model is trained, so that the model sees a word spelled in several ways. Change
# `spell` so that each merge of each word is skipped with probability 0.3, and spell "training" and "drained" 1,000
# times. How many spellings are there, and how often does the usual one come up? (Which of the merges *in*, *ain*,
# *rain*, *train*, *ing*, *training*, *ed* must not be skipped if "training" is to come out whole?)

# %% tags=["hide-cell"]
# Solution 2
import random


def spell_with_dropout(word, merges, rng, p=0.3):
    """As `spell`, with each merge left out with probability p."""
    return spell(word, [pair for pair in merges if rng.random() >= p])


rng = random.Random(0)
for word in ("training", "drained"):
    spellings = Counter(
        " ".join(spell_with_dropout(word, merges, rng)) for _ in range(1000)
    )
    usual = spellings[" ".join(spell(word, merges))]
    print(f"{word}: {len(spellings)} spellings, the usual one {usual} times")
    print("    ", spellings.most_common(3))
# "training" needs all of the first six merges: 0.7 ** 6 is 0.118, so about 118 times,
# give or take ten or twenty.

# %% [markdown]
# **3. Decoding while it is written.** A program that prints what a model generates wants to print every token at
# once. But a character may be spread over several tokens, and of half a character `tiny.decode` makes `�`, Unicode's
# sign for broken bytes. Write a generator `stream(ids)` that holds bytes back until they make whole characters. Check
# it on "tea 🙂", and on the same without its last token: nothing may be lost, not even what stays broken.
#
# *Hint:* `codecs.getincrementaldecoder("utf-8")(errors="replace")` does the holding back.


# %% tags=["hide-cell"]
# Solution 3
import codecs


def stream(ids):
    """The text of each token, as soon as its characters are whole."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    for i in ids:
        yield decoder.decode(
            bytes(BYTE_OF_CHARACTER[shown] for shown in tiny.tokens[i])
        )
    yield decoder.decode(b"", final=True)  # what is held at the end is broken


ids = tiny.encode("tea 🙂")
print("one by one:", [tiny.decode([i]) for i in ids])
print("held back: ", list(stream(ids)))
print("cut short: ", list(stream(ids[:-1])))

# %% [markdown]
# ## Summary
#
# 1. No list of words is long enough; letters make texts too long. Subwords are short where the text is unusual.
# 2. Byte pair encoding merges the most frequent pair of neighbours again and again, and reads by merging in that order.
# 3. Starting from the 256 bytes, nothing is unknown and decoding gives back every text exactly.
# 4. The first merges save most, and every token costs a row of parameters: somebody has to choose where to stop.
# 5. Two languages with one vocabulary cut the same name in the same way, so that it can be copied.
#
# **Homework 3**, question 1, is about this chapter: [exercises](../exercises/hw3_training_and_generating.ipynb).
#
# **Next:** BERT has no merges and reads in another way: [chapter 7b](07b_wordpiece.ipynb). With tokens on both sides, a
# Transformer can be trained to translate: [chapter 8](08_training.ipynb).
#
# ## References
#
# - Rico Sennrich, Barry Haddow and Alexandra Birch (2016). *Neural machine translation of rare words with subword
#   units.* ACL. Section 3.2, tables 1 and 4.
# - Philip Gage (1994). *A new algorithm for data compression.* The C Users Journal 12(2).
# - Ivan Provilkov, Dmitrii Emelianenko and Elena Voita (2020). *BPE-dropout: simple and effective subword
#   regularization.* ACL.
# - Alec Radford et al. (2019). *Language models are unsupervised multitask learners.* OpenAI. Section 2.2.
# - Ashish Vaswani et al. (2017). *Attention is all you need.* NeurIPS. Section 5.1 on the vocabularies.
