# %% [markdown]
# # WordPiece, BERT's way
#
# Two students write about an exam:
#
# > The exam was great😀
# >
# > The exam was awful😀
#
# The picture shows what a model gets to read. In byte pairs ([chapter 7](07_subwords.ipynb)) the two messages differ. In
# BERT's tokens they are the same four, and so every model that reads them, however clever, must give both the same
# answer. Yet "great" and "awful" are in BERT's vocabulary, each as a whole word. **Where have they gone?**

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

draw("two_messages")

# %% tags=["hide-input"]
import re
from collections import Counter
from itertools import pairwise
from math import log

from tokenizers import Tokenizer

from lectures_lib.data.manual import python_manual
from lectures_lib.models import minilm
from lectures_lib.tokenization import BPE, WordPiece
from lectures_lib.tokenization.plain_bpe import replace_pair

train = python_manual(docstrings=False)
byte_pairs = BPE.train(train, vocab_size=4000)
wordpiece = WordPiece.load(minilm.checkpoint() / "vocab.txt")  # of MiniLM, and of BERT
messages = ["The exam was great😀", "The exam was awful😀"]

# %% tags=["remove-cell"]
great, awful = (wordpiece.encode(message) for message in messages)
assert great == awful and len(great) == 4
assert byte_pairs.encode(messages[0]) != byte_pairs.encode(messages[1])
assert {"great", "awful"} <= wordpiece.vocabulary.ids.keys()

# %% [markdown]
# **After this chapter you can**
#
# - read a word as BERT does, by hand and in fifteen lines, and say when all of it is lost;
# - say how WordPiece learns its pieces, and why the ratio that many courses give is another rule;
# - pack two texts into one input, and lead a piece back to its place in the text;
# - tell WordPiece, byte pairs and Unigram apart;
# - measure what a vocabulary costs those in whose language it was not learned.
#
# **Time** about 35 minutes. **You need** [chapter 7](07_subwords.ipynb).
#
# ## The longest piece that fits
#
# BERT is often said to use byte pairs. It uses a relative, **WordPiece**, made for voice search in Japanese and Korean
# (Schuster and Nakajima, 2012) and taken over by Google's translator (Wu et al., 2016). Its vocabulary begins with
# characters, not with bytes: BERT's has 30,522 tokens, learned on English. The rest differs in three points: how pieces
# are written, how a word is read, and how the pieces are learned.
#
# *How pieces are written.* Spaces are dropped, and a piece that continues a word is marked with `##`. "Teapot" is
# `tea ##pot`.
#
# *How a word is read.* WordPiece keeps no merges, only the vocabulary. It takes **the longest piece that fits** at the
# beginning of the word, then the longest that fits at the beginning of the rest, and so on:


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


# %% [markdown]
# **Predict.** BERT reads three words in several pieces. Which one is cut exactly where a linguist would cut it:
# "unputdownable", "embeddings" or "woodchuck"?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: "unputdownable" -->
#
# "unputdownable": `un ##put ##down ##able`. One would rather bet on "embeddings", a word on every page about BERT. It
# comes close: `em ##bed` is right, but then the longest piece that fits is `##ding`, where a linguist would cut before
# "ing". "Woodchuck" looks like wood and chuck (in truth it is a loan word, reshaped), but the vocabulary has no
# `##chuck`, and the rest falls apart.
#
# </details>

# %%
for word in ("unputdownable", "embeddings", "woodchuck", "chessboard", "asinine"):
    print(f"{word:14} {longest_first(word, wordpiece.vocabulary.ids)}")

# %% [markdown]
# Pieces are what was frequent, not what is right. The two loops of `longest_first` at work on the first word:

# %% tags=["remove-input"]
draw("longest_first")

# %% [markdown]
# Now the messages. Before it looks for pieces, BERT cuts a text into words, at white space and at punctuation. An emoji
# counts as neither.

# %% [markdown]
# **Predict.** "great" is in the vocabulary, "😀" is not, alone or behind a `##`. The heart is, in both ways: `♥` and
# `##♥`. What does BERT read in `great 😀` (with a space), in `great😀` (without), and in `great♥`?
#
# <details><summary>Answer</summary>
#
# `great [UNK]`, then `[UNK]` alone, then `great ##♥`. With the space there are two words, and only the second is
# unknown. Without it there is one. `great` fits at its beginning, but then nothing fits, and the `else` of
# `longest_first` gives up the *whole* word. The tempting answer for `great😀` is `great [UNK]`, as if only the unknown
# sign were lost.
#
# </details>

# %%
for text in ("great 😀", "great😀", "great♥"):
    print(f"{text:8} {wordpiece.tokenize(text).tokens}")

# %% tags=["remove-cell"]
hearts = ("great 😀", "great😀", "great♥")
found = [wordpiece.tokenize(text).tokens for text in hearts]
assert found == [["great", "[UNK]"], ["[UNK]"], ["great", "##♥"]]

# %% tags=["remove-input"]
draw("whole_word_lost")

# %% [markdown]
# So whether the praise arrives depends on a space. Byte pairs over bytes cannot lose a word in this way, since every
# byte is a token (exercise 1 makes WordPiece lose less).
#
# ## What BERT does first
#
# More happens to a text before any piece is looked for. In its *uncased* form, which MiniLM uses, BERT also makes all
# letters small and takes their accents away; and every Chinese character becomes a word of its own, as every
# punctuation mark does. This cannot be undone:

# %%
print(wordpiece.decode(wordpiece.encode("Défense d'afficher!")))

# %% tags=["remove-cell"]
for word in ("unputdownable", "chessboard", "embeddings", "woodchuck", "asinine"):
    assert (
        longest_first(word, wordpiece.vocabulary.ids) == wordpiece.tokenize(word).tokens
    )
theirs = Tokenizer.from_file(str(minilm.checkpoint() / "tokenizer.json"))
theirs.no_truncation()
theirs.no_padding()
new = python_manual("validation", docstrings=False)
for text in [*new, *messages, "Défense d'afficher!", "漢字 and ½ tea", "a" * 101]:
    assert wordpiece.encode(text) == theirs.encode(text, add_special_tokens=False).ids

# %% [markdown]
# The accent and the capital letter are gone for good. Byte pairs would have kept them. (First this cleaning, then
# `longest_first`: that is the library's `WordPiece`. On all new pages of the manual it gives the same ids as Hugging
# Face's tokenizer.)
#
# **Your own text**, in BERT's word pieces and in byte pairs, each byte pair with the merges that made it, in your
# browser: [Type your own](../book/your_own/holes.md#words-in-pieces).
#
# ## How the pieces are learned
#
# Byte pairs merge the pair that is most **frequent**. WordPiece, as it was published, merges the pair that makes the
# text most **likely**. Take the seventeen words about the weather from chapter 7. They have 94 letters, 22 of them an
# "i" and 22 an "n". In one row, in random order, "i n" would stand together about $22 \cdot 22 / 94 \approx 5$ times. It
# does so 22 times, *more often than by chance*, and so it deserves to be merged.
#
# In general, let a pair stand together $n_{ab}$ times, and its two parts occur $n_a$ and $n_b$ times among $N$
# pieces. Chance predicts $n_a n_b / N$ pairs. Give each piece the probability $n / N$, and the text the product of its pieces' probabilities. If we merge the pair, the logarithm of the text's probability grows by
# roughly
#
# $$n_{ab} \cdot \log \frac{n_{ab}\, N}{n_a\, n_b}.$$
#
# (Each of these places added $\log \frac{n_a}{N} + \log \frac{n_b}{N}$ and now adds $\log \frac{n_{ab}}{N}$; roughly,
# for $N$ and the other counts shrink, too.) Many courses give the bare ratio $n_{ab} / (n_a n_b)$ instead. Is that the
# same rule?

# %% [markdown]
# **Predict.** In our words "i n" stand together 22 times, "r a" 17 times, "t r" 7 times and "e d" twice. There are
# 22 "i", 22 "n", 17 "r", 17 "a", 7 "t", 2 "e" and 2 "d". Which of the four pairs has the largest ratio, and which the
# largest gain?
#
# <details><summary>Answer</summary>
#
# "e d" has by far the largest ratio, $2 / (2 \cdot 2) = 0.5$; "i n" has the smallest, $22 / (22 \cdot 22) \approx 0.05$.
# The gain turns this round: it is largest for "i n", the pair that byte pairs merge first, too. One would expect the
# two to agree, since both compare with chance. But the gain counts what is won at *all* places, the ratio at one.
#
# </details>

# %%
weather = {"rain": 6, "train": 4, "training": 3, "raining": 2, "rained": 2}


def count_pieces(words):
    """How often each pair of neighbours occurs, and each piece by itself."""
    pairs, single = Counter(), Counter()
    for symbols, n in words.items():
        for symbol in symbols:
            single[symbol] += n
        for pair in pairwise(symbols):
            pairs[pair] += n
    return pairs, single


pairs, single = count_pieces(weather)
N = single.total()

print("pair  count  ratio  gain")
for a, b in (("i", "n"), ("r", "a"), ("e", "d"), ("t", "r")):
    n = pairs[a, b]
    ratio = n / (single[a] * single[b])
    print(f"{a} {b}   {n:5}  {ratio:5.2f} {n * log(ratio * N):5.1f}")

# %% tags=["remove-cell"]
assert N == 94 and [single[letter] for letter in "inrated"] == [22, 22, 17, 17, 7, 2, 2]

# %% [markdown]
# (With all counts corrected the gains are 51.1, 44.4, 9.7 and 13.4: larger, and in the same order.)
#
# The ratio likes "ed" *because* it occurs only twice: "e" and "d" never stand apart here, nor do "i" and "n" or "r" and
# "a", and for such a pair the ratio is one divided by the count. But merging "ed" saves next to nothing. On a real text
# the bare ratio fills a vocabulary with rarities (exercise 3).
#
# (How BERT *reads* can be seen in its own code. The program that learned its vocabulary was never published, and
# Hugging Face's trainer for WordPiece simply counts.)
#
# ## Special tokens, pairs and places
#
# A few tokens do not come from any text. BERT reads one or two texts at a time, as `[CLS] first [SEP] second [SEP]`;
# `[PAD]` fills up a batch and `[MASK]` hides a word ([chapter 13](13_pretraining.ipynb)). With every token comes the
# number of its segment, 0 or 1, and the place in the text that it was made from, its **offset**. Offsets are what lets a
# program mark an answer in the *original* text, capital letters and all.

# %%
question, answer = "Where is the Tea?", "On the TEAPOT."
pair = wordpiece.pair(question, answer)
for token, (start, end), segment in zip(
    pair.tokens, pair.offsets, pair.segments, strict=True
):
    text = (question, answer)[segment][start:end]
    print(f"{token:8} segment {segment}   {text!r}")

# %% [markdown]
# A special token stands for no characters, so its place is empty.
#
# ## A third way: Unigram
#
# Byte pairs and WordPiece begin small and grow. **Unigram** (Kudo, 2018) begins with far too many pieces, gives each a
# probability, and throws out those that the text needs least. It reads a word in its *likeliest* spelling, the one
# whose pieces have the largest product of probabilities (exercise 2 finds it). T5 and ALBERT read that way. They use
# the program **SentencePiece** (Kudo and Richardson, 2018), which takes raw text, spaces included and shown as `▁`, so
# that it needs no rule for what a word is; Japanese and Thai do not keep words apart by spaces. SentencePiece can learn
# byte pairs too: it is the name of a program, not of a method.
#
# ## A real vocabulary
#
# How does BERT's vocabulary fare with rare words, and with languages it was not learned on? First rare words: how many
# pieces for each, the tokenizer's *fertility*?


# %% tags=["rtol=0.05"]
def words_of(texts):
    """All words of some texts, small letters only."""
    return [word for text in texts for word in re.findall(r"[a-z]+", text.lower())]


counts = Counter(words_of(train))
groups = {
    "the 100 most frequent words": [word for word, _ in counts.most_common(100)],
    "words that occur once": [word for word, n in counts.items() if n == 1],
}
for name, group in groups.items():
    pieces = [len(wordpiece.encode(word)) for word in group]
    print(f"{name}: {sum(pieces) / len(group):.2f} pieces each")

# %% [markdown]
# Between languages fertility is no fair measure: Finnish may say in one word what takes English four. So the tokenizer
# now reads the *same text* in several languages, the first article of the Universal Declaration of Human Rights, and we
# count all tokens.

# %% tags=["hide-input"]
article = {
    "English": "All human beings are born free and equal in dignity and rights. They "
    "are endowed with reason and conscience and should act towards one another in a "
    "spirit of brotherhood.",
    "French": "Tous les êtres humains naissent libres et égaux en dignité et en "
    "droits. Ils sont doués de raison et de conscience et doivent agir les uns envers "
    "les autres dans un esprit de fraternité.",
    "German": "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie "
    "sind mit Vernunft und Gewissen begabt und sollen einander im Geiste der "
    "Brüderlichkeit begegnen.",
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

# %% [markdown]
# **Predict.** The article takes 32 tokens in English. How many does it take in Greek, where it is only a little longer on
# the page: about 40, about 80, or about 160? And in Chinese: more than in English, or fewer?
#
# <details><summary>Answer</summary>
#
# Greek takes 163, five times as many. The vocabulary holds the Greek *letters* and hardly any pieces made of them, so
# almost every letter is a token. Chinese takes 43, a third more than English, and that looks like good news until one
# reads them: 25 of the 43 are `[UNK]`. A short result can also mean that the text is gone.
#
# </details>

# %%
read = {language: wordpiece.tokenize(text).tokens for language, text in article.items()}
for language, tokens in read.items():
    unknown_tokens = tokens.count("[UNK]")
    print(
        f"{language:8} {len(tokens):3} tokens, {unknown_tokens:2} [UNK] ", *tokens[:7]
    )

# %% tags=["remove-cell"]
totals = {language: len(tokens) for language, tokens in read.items()}
assert totals["English"] == 32 and totals["Greek"] == 163 and totals["Chinese"] == 43
assert read["Chinese"].count("[UNK]") == 25

# %% [markdown]
# About twice as many tokens for French, German and Finnish, four to five times as many for Russian and Greek. Each
# Chinese character is a word of its own here, and one that the vocabulary does not hold becomes `[UNK]`; a vocabulary
# that starts from bytes loses none. Greek became long because the vocabulary was learned on English, for which it is
# excellent. But where a model is meant for everyone, that length costs money, waiting time and room in a limited
# context, and those pay whose language was rare in the training text. Some multilingual models (multilingual BERT,
# XLM-R) learn their vocabulary on a mixture in which small languages are counted more than once.
#
# Numbers fare no better:

# %%
for number in ("2021", "2022", "1000", "1001", "4096", "3.14159"):
    print(f"{number:8} {wordpiece.tokenize(number).tokens}")

# %% [markdown]
# 2021 is a token, its neighbour 2022 is a "202" followed by a 2. From such pieces a model is expected to learn
# arithmetic.
#
# ## What goes wrong
#
# ### The longest match in place of the merges
#
# It is tempting to use WordPiece's way of reading, longest piece first, on a byte-pair vocabulary as well. Ours, from the
# manual, has the pieces `re`, `ree` and `Ġtr`.


# %%
def longest_piece_first(text):
    """A byte-pair vocabulary applied in the wrong way."""
    pieces, text = [], text.replace(" ", "Ġ")
    while text:
        fits = (
            n for n in range(len(text), 0, -1) if text[:n] in byte_pairs.vocabulary.ids
        )
        n = next(fits)
        pieces.append(text[:n])
        text = text[n:]
    return pieces


# %% [markdown]
# **Predict.** Among the merges "r e" comes long before "Ġt r". How is " tree" written by the merges in their order, and how
# by the longest piece first? ("Ġtre" is no piece, and neither is "ee".)
#
# <details><summary>Answer</summary>
#
# By merges `Ġt ree`, by the longest piece `Ġtr e e`. When "Ġt r" has its turn, the "r" is already part of "re". Longest
# first goes from left to right instead, takes "Ġtr", and is left with single letters. One expects the two ways to agree
# because they use the same pieces, but only one of them knows in which order these were made.
#
# </details>

# %% tags=["rtol=0.2"]
print("merges in order:", byte_pairs.tokenize(" tree").tokens)
print("longest first:  ", longest_piece_first(" tree"))

plain = [
    word for word in wordpiece.vocabulary.tokens if word.isascii() and word.isalpha()
]
differ = [
    word
    for word in plain
    if longest_piece_first(f" {word}") != byte_pairs.tokenize(f" {word}").tokens
]
print(f"{len(differ) / len(plain):.2f} of the plain words in BERT's vocabulary differ")

# %% tags=["remove-cell"]
assert byte_pairs.tokenize(" tree").tokens == ["Ġt", "ree"]
assert longest_piece_first(" tree") == ["Ġtr", "e", "e"]
made = [merge.left + merge.right for merge in byte_pairs.merges]
assert made.index("re") + 100 < made.index("Ġtr")
assert 0.3 < len(differ) / len(plain) < 0.55

# %% [markdown]
# (A real tokenizer has another share.) Both ways spell the word, so, as with the [sorted
# merges](07_subwords.ipynb#the-merges-in-another-order) of chapter 7, only a comparison of *ids* shows the mistake.
#
# ### A text that writes `[SEP]`
#
# What if somebody types the five characters `[SEP]`?

# %%
for text in ("I [SEP] you", "I [sep] you"):
    print(f"{text}  {wordpiece.tokenize(text).tokens}")

# %% [markdown]
# Hugging Face's tokenizers, and so ours, turn them into the special token. (BERT's own code does not.) So whoever sends
# your service the text "I [SEP] you" puts a boundary into your input. Look for such tokens in what strangers send, before
# it is tokenized.
#
# ## Exercises
#
# Ungraded; a solution is folded below each.
#
# **1. An unknown letter, not an unknown word.** Change `longest_first` so that only the letter for which nothing fits
# becomes `[UNK]`, and reading goes on behind it. What is then read in `great😀`, `awful😀` and `😀great`?


# %% tags=["hide-cell"]
# Solution 1
def forgiving(word, vocabulary):
    """As `longest_first`, but what is unknown costs one letter."""
    pieces, start = [], 0
    while start < len(word):
        prefix = "##" if start else ""
        ends = range(len(word), start, -1)
        end = next((n for n in ends if prefix + word[start:n] in vocabulary), None)
        pieces.append("[UNK]" if end is None else prefix + word[start:end])
        start = end or start + 1
    return pieces


for word in ("great😀", "awful😀", "😀great"):
    print(word, forgiving(word, wordpiece.vocabulary.ids))
# The vocabulary is BERT's, but not the way of reading: a trained BERT has never seen
# "great" followed by [UNK] for such a word. Change it before training, not after.

# %% [markdown]
# **2. The likeliest spelling.** Unigram gives each piece a probability and takes the spelling whose pieces have the
# largest product. Write `likeliest(word, probability)`: for each prefix of the word, keep its best spelling (which is
# the best spelling of a shorter prefix and one more piece). Compare with `longest_first` for "unthread", with the
# probabilities below. (Give `longest_first` each piece twice, as it is and with `##` in front.) Which one is right, and
# why can the greedy reader not find it?
#
#     un 0.05, unt 0.001, thread 0.02, hread 0.0001, h 0.01, r 0.01, e 0.01, a 0.01, d 0.01, u 0.01, n 0.01, t 0.01

# %% tags=["hide-cell"]
# Solution 2
probability = {"un": 0.05, "unt": 0.001, "thread": 0.02, "hread": 0.0001}
probability |= dict.fromkeys("hreadunt", 0.01)


def likeliest(word, probability):
    """The likeliest spelling: (log probability, pieces)."""
    best = [(0.0, [])]  # best[n]: of the first n letters
    for end in range(1, len(word) + 1):
        ways = [
            (best[start][0] + log(probability[word[start:end]]), start)
            for start in range(end)
            if word[start:end] in probability
        ]
        score, start = max(ways)
        best.append((score, [*best[start][1], word[start:end]]))
    return best[-1]


as_wordpiece = {*probability, *(f"##{piece}" for piece in probability)}
print("longest first:", longest_first("unthread", as_wordpiece))
print("likeliest:    ", likeliest("unthread", probability)[1])
# "unt" is longer than "un", so longest-first takes it, and can never go back.

# %% [markdown]
# **3. Learn as WordPiece does.** Learn nine merges from the words of the manual, three times: merge the most frequent
# pair, the one with the largest *gain* $n_{ab} \log (n_{ab} N / n_a n_b)$, and the one with the largest bare *ratio*.
# `count_pieces` counts; `replace_pair(list(symbols), pair, new)` of the library puts `new` in place of a pair. What does
# the ratio spend its merges on?


# %% tags=["hide-cell", "nbval-ignore-output"]
# Solution 3
def learn_by(score, text, n_merges):
    """Merge the pair with the largest score; of equals the alphabet's first."""
    words = {tuple(word): n for word, n in text.items()}
    for _ in range(n_merges):
        pairs, single = count_pieces(words)
        scores = {
            (a, b): score(n, single[a] * single[b], single.total())
            for (a, b), n in pairs.items()
        }
        pair = min(scores, key=lambda p: (-round(scores[p], 9), p))
        made = "".join(pair)
        yield made, pairs[pair]
        words = {
            tuple(replace_pair(list(symbols), pair, made)): n
            for symbols, n in words.items()
        }


rules = {
    "count": lambda n, product, N: n,
    "gain": lambda n, product, N: n * log(n * N / product),
    "ratio": lambda n, product, N: n / product,
}
text = Counter(words_of(train))
for name, score in rules.items():
    print(f"{name:6}", *(f"{made}:{n}" for made, n in learn_by(score, text, 9)))
# On the neighbours of one rare letter, "j" (and a "q" with its "u"): soon on pairs that
# occur only a few times, while "th", the most frequent pair of all, has to wait.

# %% [markdown]
# ## Summary
#
# 1. WordPiece takes the longest piece first and marks continuations with `##`. Where nothing fits, the whole word is
#    `[UNK]`.
# 2. As published, it merges the pair that makes the text most likely; the bare ratio is another rule.
# 3. BERT cleans before it cuts: case and accents are gone. Offsets lead each piece back into the original text.
# 4. Unigram begins with too many pieces and takes the likeliest spelling.
# 5. Pieces follow the text they were learned on: rare words, other languages and numbers pay with more tokens.
#
# **Homework 3**, question 2, is about this chapter: [exercises](../exercises/hw3_training_and_generating.ipynb).
#
# **Next:** how a Transformer with random weights becomes a translator: [chapter 8](08_training.ipynb). BERT itself, which
# reads these pieces: [chapter 12](12_bert.ipynb).
#
# ## References
#
# - Mike Schuster and Kaisuke Nakajima (2012). *Japanese and Korean voice search.* ICASSP. Section 3.
# - Yonghui Wu et al. (2016). *Google's neural machine translation system: bridging the gap between human and machine
#   translation.* Section 4.1.
# - Taku Kudo (2018). *Subword regularization: improving neural network translation models with multiple subword
#   candidates.* ACL. Unigram.
# - Taku Kudo and John Richardson (2018). *SentencePiece: a simple and language independent subword tokenizer and
#   detokenizer for neural text processing.* EMNLP, demonstrations.
# - Jacob Devlin, Ming-Wei Chang, Kenton Lee and Kristina Toutanova (2019). *BERT: pre-training of deep bidirectional
#   Transformers for language understanding.* NAACL.
