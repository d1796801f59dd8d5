# %% [markdown]
# # Writing with a cache
#
# To write *sieben und zwanzig , sechs hundert achtzig* and the end token after it, [chapter 9](09_generating.ipynb)'s
# `write` runs the model eight times, the decoder each time over all that is written so far. A square in the picture is a position
# that is computed: 36 in all. At 28 of them, the grey ones, the decoder has been before, and gets the same vectors as
# the last time.
#
# Read a book in this way, and for every new word you begin at page 1 again. **What of the past does a new word need,
# and can the rest be left out without changing a single word?**

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

draw("read_again")

# %% [markdown]
# **After this chapter you can**
#
# - say what of a text's past the newest word needs, and why the rest may be thrown away;
# - change your decoder, line by line, so that each step computes one position, and check every change;
# - show by its scores that it computes the same as before, and find the bug that hides best;
# - count what a cache saves and what it costs, and set the count beside the clock.
#
# **Time** about 45 minutes. **You need** [chapter 6](06_decoder.ipynb) and the section *Greedy* of
# [chapter 9](09_generating.ipynb#greedy).

# %% tags=["hide-input"]
import time
from copy import deepcopy
from dataclasses import replace

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F

from lectures_lib import data, decoding, metrics
from lectures_lib.blocks.attention import causal_mask, scaled_dot_product_attention
from lectures_lib.data import BOS, EOS
from lectures_lib.decoding import TransformerWithCache, WithoutCache
from lectures_lib.models.transformer import Transformer, TransformerConfig
from lectures_lib.show import plots
from lectures_lib.show.drawings import draw
from lectures_lib.training import fit, translation_loss

# %% [markdown]
# ## The past does not change
#
# Because of the causal mask, position $i$ depends on positions $0 \dots i$ only. One more word cannot change it. So
# its vectors are the same in every later step, in every block. Which of them does the newest position have to know?

# %% [markdown]
# **Predict.** Five words are there, and a sixth comes. A self-attention computes its output at the *sixth* position.
# What of the first five does it use: their queries and keys, their keys and values, or all three?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: their keys and values -->
#
# Their keys and their values. The sixth query is compared with all keys, and the values are averaged. It is tempting to
# keep the queries as well. But an old query was needed for one thing only, the output at its own position, and that is
# computed already. So it is a cache of keys and values.
#
# </details>

# %%
torch.manual_seed(0)
six = torch.randn(3, 1, 6, 8)  # queries, keys and values of six words
before = scaled_dot_product_attention(*six, causal_mask(6))
for i, name in enumerate(("queries", "keys", "values")):
    changed = six.clone()
    changed[i, :, :5] = torch.randn(5, 8)  # other ones for the first five words
    after = scaled_dot_product_attention(*changed, causal_mask(6))
    moved = (after - before)[0, 5].abs().max()
    print(f"other {name:7} for the first five: the sixth output moves by {moved:.2f}")

# %% [markdown]
# ## A cache: the same words, less work
#
# So keep the keys and values, and compute everything else for one position only. That is the **key-value cache**. One
# step with it, in one head:

# %% tags=["remove-input"]
draw("step_with_cache")

# %% [markdown]
# Here is a whole model that writes, short enough to type in: two blocks of one head each, without feed-forward layers
# and norms, its weights random. It reads the newest words only, and finds what it needs of the others in `cache`:

# %%
torch.manual_seed(0)
embedding, places, output = torch.randn(12, 8), torch.randn(16, 8), torch.randn(8, 12)
blocks = torch.randn(2, 4, 8, 8) / 8**0.5  # two blocks: W_Q, W_K, W_V, W_O of each
EMPTY = torch.zeros(2, 2, 0, 8)  # two blocks: K and V of each, no row yet, width 8


def next_word(newest, cache):
    """The likeliest word behind all so far; cache: (K, V) of each block, which grow."""
    n = len(cache[0][0])  # so many words have been read before
    x = embedding[newest] + places[n : n + len(newest)]  # (new, 8)
    mask = causal_mask(n + len(newest))[n:]  # (new, n + new): the rows of the new words
    for i, (W_Q, W_K, W_V, W_O) in enumerate(blocks):
        K = torch.cat([cache[i][0], x @ W_K])  # (n + new, 8): old and new
        V = torch.cat([cache[i][1], x @ W_V])
        cache[i] = K, V
        x = x + scaled_dot_product_attention(x @ W_Q, K, V, mask) @ W_O
    return int((x[-1] @ output).argmax())


for kept in (False, True):
    cache, written, computed = list(EMPTY), [0], 0
    while len(written) < 11:
        newest = written[len(cache[0][0]) :]  # what the cache does not hold
        computed += len(newest)
        written.append(next_word(newest, cache))
        if not kept:
            cache = list(EMPTY)  # all forgotten
    print(f"cache kept: {kept!s:5}  positions: {computed}  words: {written[1:]}")

# %% [markdown]
# The same ten words, with 10 positions computed in place of 55. (If the cache is emptied after each word, the same
# code is a model without one.) A new word alone needs no mask, for the future is not there: its row of the mask is
# all True. Feed-forward layers and norms look at one position at a time and need no cache at all. The keys and values
# of cross-attention are made from the memory once, before the first step.
#
# A trained model does the same with a date of yours: [A cache at work](../book/your_own/writing.md#a-cache-at-work) writes it
# twice, letter by letter. Press a letter's key and value there, and the cache loses them. Which letters can it lose
# and still write the same date?
#
# ### Line by line
#
# Now into the decoder that you built: the attention of [chapter
# 3](03_multi_head_attention.ipynb#the-class-that-the-book-uses), block and decoder of [chapter
# 6](06_decoder.ipynb#the-form-the-library-uses), `write` of [chapter 9](09_generating.ipynb#greedy). It takes four
# edits, and all are yours: change the lines of `yours` until the number below them has fallen. In the folded edit,
# lines with a minus go and lines with a plus come.
#
# No weight changes, so the edited code can run a model that is trained already. The folded cell trains chapter 9's
# translator of number words, in 500 steps, and repeats `write`, which now takes a prompt as well.

# %% tags=["hide-input"]
examples = data.load("translation", counts=(1, 2))
tokens = [
    (data.number_tokens(example["en"]), data.number_tokens(example["de"]))
    for example in examples
]
vocabulary = data.WordVocabulary.build(sentence for pair in tokens for sentence in pair)
pairs = [
    (vocabulary.encode(english), vocabulary.encode(german, bos=True, eos=True))
    for english, german in tokens
]

STEPS = 500
torch.manual_seed(0)
model = Transformer(
    replace(TransformerConfig.TINY, vocab_size=len(vocabulary), d_ff=128, max_len=64)
)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
# Up in 50 steps, then down in the second half.
schedule = torch.optim.lr_scheduler.LambdaLR(
    optimizer, lambda step: min((step + 1) / 50, 1, 2 - 2 * step / STEPS)
)
fit(
    model,
    data.Batches(pairs, data.pad_pairs, batch_size=64),
    translation_loss,
    optimizer,
    schedule,
    steps=STEPS,
    clip=1.0,
    progress=False,
)
model.eval()


def load_test(counts, size=300):
    """Sources (n, n_source), their lengths, and the right translations as words."""
    test = data.load("translation", "test", counts=counts, size=size)
    english = [vocabulary.encode(data.number_tokens(e["en"])) for e in test]
    return *data.pad(english), [data.number_tokens(e["de"]) for e in test]


def right(decoded, references):
    """The share of sentences without a mistake."""
    words = [vocabulary.decode(ids) for ids in decoded.sentences()]
    return metrics.exact_match(words, references)


@torch.no_grad()
def write(model, source, prompt=(), max_len=20):
    """Chapter 9's `write`, for the likeliest word, after a prompt: token ids."""
    written = [BOS, *prompt]
    while len(written) <= max_len and written[-1] != EOS:
        logits = model(source, torch.tensor([written]))  # (1, n_target, vocab)
        written.append(int(logits[0, -1].argmax()))
    return written[1:]


texts, lengths, references = load_test((1, 2))
marks = {"begin": BOS, "end": EOS, "max_len": 20}

# %% [markdown]
# The cache itself does what the two `torch.cat` above do. But a `cat` copies everything each time, so this one
# reserves room ahead:


# %%
class KeyValueCache:
    """The keys and values of all positions that one self-attention has seen."""

    def __init__(self):
        self.K = self.V = None  # what is kept, and empty positions behind it
        self.n = 0  # how many positions are kept

    def extend(self, K, V):
        """Add the newest positions' (batch, heads, new, d_head); returns all."""
        n = self.n + K.shape[2]  # the heads come first: positions are dimension 2
        self._make_room(n, K, V)
        self.K[:, :, self.n : n] = K
        self.V[:, :, self.n : n] = V
        self.n = n
        return self.K[:, :, :n], self.V[:, :, :n]

    def _make_room(self, n, K, V):
        """Room for n positions. It is at least doubled, so it is seldom too small."""
        if self.K is None:
            self.K, self.V = K[:, :, :0], V[:, :, :0]  # no position yet
        if n > self.K.shape[2]:
            n_more = (0, 0, 0, n)  # n behind the positions
            self.K, self.V = F.pad(self.K, n_more), F.pad(self.V, n_more)


# %% [markdown]
# **Edit 1, attention.** Chapter 3's `forward` makes keys and values (batch, heads, $n$, $d_k$) with `keys_values`; `attend`
# does the rest. (What is `self` in the method is called `attention` here, and its `query` is `x`.) **Now you:** bring the
# cache in between the two, until the number is about `1e-06`.


# %% tags=["nbval-ignore-output"]
def one_by_one(step, x):
    """What `step` makes of each position of x (batch, n, d_model) in turn."""
    with torch.no_grad():
        return torch.cat([step(x[:, i : i + 1]) for i in range(x.shape[1])], dim=1)


torch.manual_seed(0)
block = model.decoder.blocks[0]
x, attention = torch.randn(1, 6, 64), block.self_attention


def off(attend):
    """Six positions one by one, against all at once: the largest difference."""
    cache = KeyValueCache()
    with_cache = one_by_one(lambda newest: attend(attention, newest, cache), x)
    return (with_cache - attention(x, mask=causal_mask(6))).abs().max()


def yours(attention, x, cache, mask=None):
    K, V = attention.keys_values(x)
    return attention.attend(x, K, V, mask)


print(f"yours, six positions one by one: largest difference {off(yours):.0e}")

# %% [markdown]
# <details><summary>The edit</summary>
#
# ```diff
# - K, V = attention.keys_values(x)
# + K, V = cache.extend(*attention.keys_values(x))
#   return attention.attend(x, K, V, mask)
# ```
#
# </details>


# %% tags=["hide-input", "atol=1e-5"]
def attend_with_cache(attention, x, cache, mask=None):
    """The newest positions x attend to all so far, themselves included."""
    K, V = cache.extend(*attention.keys_values(x))
    return attention.attend(x, K, V, mask)


print(f"edit 1: largest difference {off(attend_with_cache):.0e}")

# %% [markdown]
# Not 0, but some $10^{-7}$ or $10^{-6}$ (`1e-06`): a float32 has about seven digits, and the same numbers were added
# up in another order. On another processor it is another number of that size.
#
# **Edit 2, the block.** In cross-attention the keys and values are those of the source, made before the first step: its
# `attend` stands there already. **Now you:** in self-attention, put `attend_with_cache` in the old one's place.
# (`block.around_…(x, f, …)`, of [chapter 5](05_encoder.ipynb), is `norm(x + f(x, …))`, or, with pre-norm,
# `x + f(norm(x), …)`; here `f` is a function of `y`, written `lambda y: …`.)


# %% tags=["nbval-ignore-output"]
memory = torch.randn(1, 4, 64)
of_source = block.cross_attention.keys_values(memory)


def off_in_block(edited):
    """The same six positions, through the whole block."""
    cache = KeyValueCache()
    steps = one_by_one(lambda newest: edited(block, newest, cache, of_source), x)
    return (steps - block(x, memory, causal_mask(6))).abs().max()


def yours(block, x, cache, memory, memory_mask=None, mask=None):
    x = block.around_self_attention(x, block.self_attention, mask=mask)
    x = block.around_cross_attention(
        x, block.cross_attention.attend, *memory, memory_mask
    )
    return block.around_feed_forward(x, block.feed_forward)


print(f"yours, through the block: largest difference {off_in_block(yours):.0e}")

# %% [markdown]
# <details><summary>The edit</summary>
#
# ```diff
# - x = block.around_self_attention(x, block.self_attention, mask=mask)
# + x = block.around_self_attention(
# +     x, lambda y: attend_with_cache(block.self_attention, y, cache, mask)
# + )
#   x = block.around_cross_attention(
#       x, block.cross_attention.attend, *memory, memory_mask
#   )
#   return block.around_feed_forward(x, block.feed_forward)
# ```
#
# </details>


# %% tags=["hide-input", "atol=1e-5"]
def decoder_block_with_cache(block, x, cache, memory, memory_mask=None, mask=None):
    """A decoder block for the newest positions; memory: keys and values."""
    x = block.around_self_attention(
        x, lambda y: attend_with_cache(block.self_attention, y, cache, mask)
    )
    x = block.around_cross_attention(
        x, block.cross_attention.attend, *memory, memory_mask
    )
    return block.around_feed_forward(x, block.feed_forward)


print(f"edit 2: largest difference {off_in_block(decoder_block_with_cache):.0e}")

# %% [markdown]
# **Edit 3, the decoder.** It gets the `newest` words; `n` others, before them, have been read already. **Now you:** give each its own
# place, a row of `model.positions.positions`, and the first number falls; then the rows of the mask for the new words
# ([why](#several-words-at-once)), and the second falls. (Chapter 6 has `causal_mask(target.shape[1])`, for all words.)


# %% tags=["nbval-ignore-output"]
english = data.number_tokens("twenty-seven, six hundred and eighty")
source = torch.tensor([vocabulary.encode(english)])
target = torch.tensor([[BOS, 5, 6, 7, 8, 9]])
blocks = model.decoder.blocks
with torch.no_grad():
    memory = model.encode(source)  # (1, n_source, d_model)
    memories = [block.cross_attention.keys_values(memory) for block in blocks]


@torch.no_grad()
def off_in_decoder(edited, *parts):
    """Six words in parts of so many words, against all at once."""
    caches, n, vectors = [KeyValueCache() for _ in blocks], 0, []
    for part in target.split(parts, dim=1):
        vectors.append(edited(model, part, n, caches, memories))
        n += part.shape[1]
    at_once = model.decode(target, memory)
    return (torch.cat(vectors, dim=1) - at_once).abs().max()


def yours(model, newest, n, caches, memories):
    x = model.positions(model.embedding(newest))
    mask = None
    each = zip(model.decoder.blocks, caches, memories, strict=True)
    for block, cache, memory in each:
        x = decoder_block_with_cache(block, x, cache, memory, mask=mask)
    return model.decoder.norm(x)


one, several = off_in_decoder(yours, *6 * [1]), off_in_decoder(yours, 3, 1, 2)
print(
    f"yours, one by one: largest difference {one:.0e}, 3 + 1 + 2 words: {several:.0e}"
)

# %% [markdown]
# <details><summary>The edit</summary>
#
# ```diff
# - x = model.positions(model.embedding(newest))
# - mask = None
# + place = torch.arange(n, n + newest.shape[1])  # (new,)
# + x = model.embedding(newest) + model.positions.positions[place]
# + mask = causal_mask(n + newest.shape[1])[n:]  # (new, all)
#   each = zip(model.decoder.blocks, caches, memories, strict=True)
#   for block, cache, memory in each:
#       x = decoder_block_with_cache(block, x, cache, memory, mask=mask)
#   return model.decoder.norm(x)
# ```
#
# </details>


# %% tags=["hide-input", "atol=1e-5"]
def decode_with_cache(model, newest, n, caches, memories):
    """A vector for each of the newest words (1, new), which follow n others."""
    place = torch.arange(n, n + newest.shape[1])  # (new,)
    x = model.embedding(newest) + model.positions.positions[place]
    mask = causal_mask(n + newest.shape[1])[n:]  # (new, all)
    each = zip(model.decoder.blocks, caches, memories, strict=True)
    for block, cache, memory in each:
        x = decoder_block_with_cache(block, x, cache, memory, mask=mask)
    return model.decoder.norm(x)


print(f"edit 3, 3 + 1 + 2 words: {off_in_decoder(decode_with_cache, 3, 1, 2):.0e}")

# %% [markdown]
# **Edit 4, writing.** Before the loop stands already what is read of the source, and a cache for each block. **Now you:**
# in the loop, compute only what the caches do not hold yet, and bring `n` up to date. Then the words stay, and the
# positions fall to the eight new ones of the first picture.


# %%
def compared(edited):
    """Prints how many positions a sentence takes, and whether the words stay."""
    computed, same = [], {"no prompt": 0, "a prompt of three words": 0}
    hook = blocks[0].feed_forward.register_forward_hook(
        lambda _, args, out: computed.append(out.shape[1])
    )
    edited(model, source)
    hook.remove()
    for text, length, words in zip(texts[:30], lengths, references, strict=False):
        text, prompts = text[:length][None], ([], vocabulary.encode(words[:3]))
        for name, prompt in zip(same, prompts, strict=True):
            same[name] += edited(model, text, prompt) == write(model, text, prompt)
    print(sum(computed), "positions for the first picture's sentence")
    for name, count in same.items():
        print(f"{name}: the same words in {count} of 30 translations")


@torch.no_grad()
def yours(model, source, prompt=(), max_len=20):
    blocks, memory = model.decoder.blocks, model.encode(source)
    memories = [block.cross_attention.keys_values(memory) for block in blocks]  # once
    caches = [KeyValueCache() for _ in blocks]
    written, n = [BOS, *prompt], 0  # n: how many of them the caches hold
    while len(written) <= max_len and written[-1] != EOS:
        logits = model(source, torch.tensor([written]))
        written.append(int(logits[0, -1].argmax()))
    return written[1:]


compared(yours)

# %% [markdown]
# <details><summary>The edit</summary>
#
# ```diff
# - logits = model(source, torch.tensor([written]))
# - written.append(int(logits[0, -1].argmax()))
# + newest = torch.tensor([written[n:]])  # (1, new): the prompt, later one word
# + x = decode_with_cache(model, newest, n, caches, memories)
# + n = len(written)
# + written.append(int(model.logits(x[0, -1]).argmax()))
#   return written[1:]
# ```
#
# </details>


# %% tags=["hide-input"]
@torch.no_grad()
def write_with_cache(model, source, prompt=(), max_len=20):
    """As `write`, but each step computes the newest positions only."""
    blocks, memory = model.decoder.blocks, model.encode(source)
    memories = [block.cross_attention.keys_values(memory) for block in blocks]  # once
    caches = [KeyValueCache() for _ in blocks]
    written, n = [BOS, *prompt], 0  # n: how many of them the caches hold
    while len(written) <= max_len and written[-1] != EOS:
        newest = torch.tensor([written[n:]])  # (1, new): the prompt, later one word
        x = decode_with_cache(model, newest, n, caches, memories)
        n = len(written)
        written.append(int(model.logits(x[0, -1]).argmax()))
    return written[1:]


compared(write_with_cache)

# %% [markdown]
# That is a decoder with a cache, complete. Without a source ([chapter 10](10_language_model.ipynb)), all that is called
# `memory` falls away. No text can be longer than the table of positions, 64 here.

# %% [markdown]
# ## The proof
#
# The same words in thirty lists are no proof: where a model is sure, a small mistake changes no word. So compare the
# *logits* of every step with those of all positions at once. The library's `TransformerWithCache` does the steps for
# a batch; `greedy`, `sample` and `beam` use it whenever they are given a Transformer. `WithoutCache` wraps a
# Transformer and runs its decoder over all words so far, as `write` does.

# %% tags=["atol=1e-4"]
cached = decoding.greedy(model, texts, lengths, **marks)
with torch.no_grad():
    written = data.pad([[BOS, *sentence] for sentence in cached.sentences()]).ids
    at_once = model(texts, written, lengths)
    steps = TransformerWithCache(model)
    state = steps.start(texts, lengths).state
    differences = []
    for i in range(written.shape[1]):
        logits, state, _ = steps.step(written[:, i], state)
        differences.append((logits - at_once[:, i]).abs().max().item())
print(f"largest difference of a logit: {max(differences):.0e}")

# %% tags=["remove-cell"]
plain = decoding.greedy(WithoutCache(model), texts, lengths, **marks)
assert cached.sentences() == plain.sentences()
assert max(differences) < 1e-5 * at_once.abs().max()
for text, n_words, sentence in zip(
    texts[:5], lengths, cached.sentences(), strict=False
):
    assert write_with_cache(model, text[:n_words][None]) == [*sentence, EOS]

# %% [markdown]
# Again rounding and no more: the difference stays below a hundred-thousandth of the largest logit, at every step of every
# translation.
#
# ### Several words at once
#
# A step need not be a single word. The prompt of a language model is known before the first step, and reading it word
# by word would throw away what Transformers are good at, many positions at once.

# %% [markdown]
# **Predict.** Two words are in the cache, and three come at once, without a mask. For how many of the three is the
# output of the first block wrong, compared with step by step: for all, for none, or for two?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: for two -->
#
# For two, the first and the second. Each of them now sees words that come after it, since their keys are there already.
# Nothing comes after the last one, so it is right; and since the next word is chosen from the last one, a test that
# looks at the last output of *one* block finds no mistake. In the next block, keys and values are made from all three,
# and then it is wrong too. The mask has a row for each new word and a column for every word: the last three rows of a
# causal mask of five.
#
# </details>

# %%
torch.manual_seed(0)
words = torch.randn(1, 5, 64)
masks = {"without a mask": None, "with a mask": causal_mask(5)[2:]}
with torch.no_grad():
    for name, mask in masks.items():
        print(f"{name:14}", end="")
        whole, two, three = words, words[:, :2], words[:, 2:]
        for i, (block, memory) in enumerate(zip(blocks, memories, strict=True)):
            kept, fresh, of_two = KeyValueCache(), KeyValueCache(), causal_mask(2)
            two = decoder_block_with_cache(block, two, kept, memory, mask=of_two)
            three = decoder_block_with_cache(block, three, kept, memory, mask=mask)
            whole = decoder_block_with_cache(
                block, whole, fresh, memory, mask=causal_mask(5)
            )
            wrong = (three - whole[:, 2:]).abs().amax(dim=-1)[0] > 1e-4
            print(f"  block {i}:", *("wrong" if w else "right" for w in wrong), end="")
        print()

# %% tags=["remove-input"]
draw("rows_of_the_mask")

# %% [markdown]
# ## What it saves
#
# Count multiply–adds, for one decoder block of width $d$ with a feed-forward layer of $4d$. Each position needs $4d^2$
# for the projections of self-attention, $2d^2$ for those of cross-attention and $8d^2$ for the feed-forward layer.
# Attention to a position costs $2d$, that is $d$ for the score and $d$ for the average. (Step by step, with your own
# words: [Mechanisms in motion](../book/motion.md#a-cache-that-fills).)

# %% [markdown]
# **Predict.** Let $d$ be 512, and let four times as many words be written, 1,024 in place of 256. How many times the work
# is that with a cache, and without: 4 and 16, a little more than 4 and 16, or 16 and 64?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: a little more than 4 and 16 -->
#
# A little more than 4 and 16: 4.4 and 17.8. With a cache the projections grow with $n$, without it with $n^2$: by 4
# and 16. Attention grows faster, with $n^2$ and $n^3$: by 16 and 64. But its $2dn$ is small beside $14d^2$ as long as
# $n$ is well below $7d$, here 3,584 words.
#
# </details>


# %%
def multiply_adds(n, d=512, n_source=24, cache=True):
    """What one decoder block does while n words are written."""
    total = 2 * d**2 * n_source * (1 if cache else n)  # keys and values of the memory
    for so_far in range(1, n + 1):
        positions = 1 if cache else so_far
        total += positions * (14 * d**2 + 2 * d * n_source)  # projections, the source
        total += positions * 2 * d * so_far  # self-attention
    return total


print("words   with cache   without   ratio   (million multiply-adds)")
work = {}
for n in (16, 64, 256, 1024):
    work[n] = a, b = [multiply_adds(n, cache=cache) / 1e6 for cache in (True, False)]
    print(f"{n:5} {a:12,.0f} {b:9,.0f} {b / a:7.1f}")
times = [many / few for many, few in zip(work[1024], work[256], strict=True)]
print(f"256 → 1024: {times[0]:9.1f} × {times[1]:7.1f} ×")
ratio = multiply_adds(128, d=256, cache=False) / multiply_adds(128, d=256)
print(f"width 256, 128 words: ratio {ratio:.0f}")

# %% tags=["hide-input"] mystnb={"image": {"alt": "Multiply-adds over words written, on two logarithmic axes. Both lines bend upwards; at the right end the one without cache is about twice as steep."}, "figure": {"caption": "Multiply\u2013adds of one decoder block of width 512 while a text is written, with and without a cache."}}
ns = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
ax = plots.curves(
    ns,
    {
        "without": [multiply_adds(n, cache=False) for n in ns],
        "with": [multiply_adds(n) for n in ns],
    },
    xlabel="words written",
    ylabel="multiply–adds",
)
ax.set(xscale="log", yscale="log")
plt.show()

# %% [markdown]
# For 128 words at a width of 256 that is a factor of 67. Does the clock agree?

# %% [markdown]
# **Predict.** Six blocks of width 256, one sentence, 128 words. Before a processor multiplies by a matrix it has to fetch it
# from memory, once for one position as for a hundred. How many times as long does it take without a cache: about 67,
# about 20, or fewer than 10?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: fewer than 10 -->
#
# Fewer than 10: on our processors between 3 and 6, as the load has it. A matrix product with one position is so small
# that fetching the weights may well take longer than multiplying; then further positions cost little until there are
# many. And the count leaves out the encoder, the output layer, and the work of starting each operation, which are the
# same in both.
#
# </details>

# %% tags=["nbval-ignore-output"]
torch.manual_seed(0)
sizes = {"d_model": 256, "n_heads": 4, "n_layers": 6, "d_ff": 1024, "max_len": 160}
large = Transformer(TransformerConfig(1000, dropout=0.0, **sizes)).eval()
text, seconds = torch.randint(3, 1000, (1, 24)), {}
for name, decoder in {"with": large, "without": WithoutCache(large)}.items():
    # (never=[EOS]: the end token is forbidden, so that both write 128 words)
    start = time.perf_counter()
    decoding.greedy(decoder, text, begin=BOS, end=EOS, max_len=128, never=[EOS])
    seconds[name] = time.perf_counter() - start
    print(f"{name:7} {seconds[name]:.2f} s")
print(f"ratio   {seconds['without'] / seconds['with']:.1f}")

# %% [markdown]
# With the same blocks and 8,000 words in place of 1,000, writing without a cache took
# 3.0<!-- decoding_speed: batch_1/tokens_128/without_over_cache/min .1f --> to
# 4.3<!-- decoding_speed: batch_1/tokens_128/without_over_cache/max .1f --> times as long as with one, in three runs on a
# core. For sixteen sentences at once it took
# 11.2<!-- decoding_speed: batch_16/tokens_128/without_over_cache/min .1f --> to
# 12.0<!-- decoding_speed: batch_16/tokens_128/without_over_cache/max .1f --> times as long. Weights that are fetched
# once then serve sixteen positions, so probably more of the time goes into computing.
#
# ## What it costs
#
# The price is memory: two vectors for each word, in each block, for each sentence of the batch. (Those for the words
# of the source are not counted here.)

# %%
d, blocks, bytes_each = 512, 6, 4
a_word = 2 * d * blocks * bytes_each
print(f"base Transformer, float32: {a_word // 1024} KiB for each word of each sentence")
print(f"1,024 words, batch of 16: {1024 * 16 * a_word // 2**20} MiB")


# %% [markdown]
# In large models this price limits how many users fit on a machine. So in many of them heads share keys and values:
# all heads in *multi-query attention* (Shazeer, 2019), a group at a time in *grouped-query attention* (Ainslie et
# al., 2023). Thirty-two query heads in eight groups need a quarter of the cache (exercise 1).
#
# An encoder has no use for a cache. Nothing is masked in it, so a new word changes what the first block makes of all the
# others, and with it their keys and values in every later block. That is one reason why models that write are decoders, and why BERT, which looks to
# the right as well, would have to read everything again.
#
# ## What goes wrong: every word at place 0
#
# With a cache, a step reads a single word, and code that numbers the positions of its input from 0 gives place 0 to
# every one. (In `write_with_cache` it is a 0 for `n`, where `decode_with_cache` is called.) Nothing fails. GPT-2 in
# the `mlx-lm` library had a close relative of this fault until 2025 (pull request 93): a step of one word got no
# position at all, and longer ones were counted from 0.

# %% [markdown]
# **Predict.** The translator above has at least 96 lists in 100 right. Now give each word that it has written
# the position 0. How many lists in 100 are still right: none, about 10, or more than 25? (Think of "fünf und zwanzig":
# which word can follow "fünf"?)
#
# <details><summary>Answer</summary>
#
# <!-- right offer: more than 25 -->
#
# More than 25: with this seed 0.53 to 0.72 under three settings of one processor, which round differently; with three
# other seeds 0.81<!-- other_seeds: chapter_9b/every_word_at_0/min .2f --> to
# 0.97<!-- other_seeds: chapter_9b/every_word_at_0/max .2f -->. Perhaps in "fünf und zwanzig" what comes next mostly
# follows from *which* words are there. If you expect this bug to ruin everything, you will not look for it where most
# of the output is right.
#
# </details>

# %% tags=["nbval-ignore-output"]
forgetful = deepcopy(model)
forgetful.encode = model.encode  # the source is read as before
forgetful.positions.positions[:] = forgetful.positions.positions[0].clone()
broken = right(decoding.greedy(forgetful, texts, lengths, **marks), references)
print(f"right translations: {right(cached, references):.2f}", end="")
print(f", with every word at place 0: {broken:.2f}")
with torch.no_grad():
    steps = TransformerWithCache(forgetful)
    state = steps.start(texts, lengths).state
    for i in range(3):
        logits, state, _ = steps.step(written[:, i], state)
        difference = (logits - at_once[:, i]).abs().max()
        print(f"step {i} against all at once: largest difference {difference:.2g}")

# %% tags=["remove-cell"]
assert broken > 0.25 and difference > 0.1

# %% [markdown]
# **Now you:** write that 0 into your edit 4, and see how many of the thirty translations stay the same.
#
# So a few right outputs prove nothing, and the wrong ones could as well come from too little training. A test of one
# step does not find the bug either, because the first word *is* at place 0. What finds it is the proof above: step by
# step against all at once, at every position.
#
# The reader of dates [above](#a-cache-the-same-words-less-work) can be broken in the same way. With its first date
# the scores are off from the second step on, but the letters only from the fifth. And if it loses one key and its
# value, in most cases the later scores change and the letters do not.

# %% [markdown]
# ## Exercises
#
# Ungraded; a solution is folded below each.
#
# **1. A bill for memory.** A model has 32 blocks and 32 query heads of 128 numbers, and keeps its cache in 16 bits.
# How large is the cache for 16 texts of 8,192 tokens with a key and a value for each head? With 8 groups? With one
# for all?

# %% tags=["hide-cell"]
# Solution 1
for groups in (32, 8, 1):
    per_token = 2 * groups * 128 * 32 * 2  # keys and values, blocks, bytes
    total = 16 * 8192 * per_token / 2**30
    print(
        f"{groups:2} groups: {per_token // 1024:3} KiB a token, {total:.0f} GiB in all"
    )

# %% [markdown]
# **2. What `cat` copies.** While 1,024 words are written, a cache that calls `torch.cat` copies all that it has at each step.
# How many positions is that? And how many does `KeyValueCache` copy, whose room doubles when it is full?

# %% tags=["hide-cell"]
# Solution 2
cache, newest, copied = KeyValueCache(), torch.zeros(1, 1, 1, 4), 0
for step in range(1024):
    room = 0 if cache.K is None else cache.K.shape[2]
    cache.extend(newest, newest)
    if cache.K.shape[2] > room:
        copied += step  # the room was full: what is kept goes into a new one
print(f"cat: {sum(range(1024)):,} positions, with room ahead: {copied:,}")
# Each doubling copies a little more than all those before it together: never over 2 n.

# %% [markdown]
# **3. A window.** Some models let a word see only the last $w$ words, itself included. Write `WindowCache`, a
# `KeyValueCache` that keeps no more, and compare its outputs, step by step, with attention over all positions at once. What
# does the mask of the latter look like?


# %% tags=["hide-cell", "atol=1e-5"]
# Solution 3
class WindowCache(KeyValueCache):
    """Keeps the keys and values of the last `width` positions; one comes at a time."""

    def __init__(self, width):
        super().__init__()
        self.width = width

    def extend(self, K, V):
        """Add those of the newest position; returns those in the window."""
        K, V = super().extend(K, V)
        K, V = K[:, :, -self.width :], V[:, :, -self.width :]
        self.K, self.V, self.n = K.clone(), V.clone(), K.shape[2]
        return K, V


torch.manual_seed(0)
x = torch.randn(1, 9, attention.W_Q.in_features)
band = causal_mask(9) & ~causal_mask(9).tril(-3)  # the last three, itself included
cache = WindowCache(3)
with torch.no_grad():
    steps = [attend_with_cache(attention, x[:, i : i + 1], cache) for i in range(9)]
    difference = (torch.cat(steps, dim=1) - attention(x, mask=band)).abs().max()
print(f"{cache.n} positions are kept, largest difference {difference:.0e}")
# The memory no longer grows with the text. What a word may know of the distant past,
# it has to learn from the words in between, block by block.

# %% [markdown]
# ## Summary
#
# 1. Under a causal mask the past does not change. A new word needs the keys and values of the older ones, and
#    nothing else.
# 2. With a cache each step computes one position. Four edits put it into attention, block, decoder and writing; no weight
#    changes, and no word.
# 3. Words that come together need a causal mask among themselves; a single one needs none.
# 4. The work of the projections falls from $n^2$ to $n$, that of attention from $n^3$ to $n^2$; the clock gains less.
#    The price is memory that grows with every word.
# 5. Compare logits, step by step against all at once, at every position. Right words hide a wrong place.
#
# **Homework 3**, question 7, is about this chapter: [exercises](../exercises/hw3_training_and_generating.ipynb).
#
# **Next:** a decoder without an encoder, the left-to-right language model:
# [chapter 10](10_language_model.ipynb).
#
# ## References
#
# - Noam Shazeer (2019). *Fast Transformer decoding: one write-head is all you need.* arXiv:1911.02150.
# - Joshua Ainslie et al. (2023). *GQA: training generalized multi-query Transformer models from multi-head
#   checkpoints.* EMNLP.
# - *mlx-lm*, pull request 93 (2025): positions with a cache.
