# %% [markdown]
# # Homework 3: training and generating
#
# Eight answers, in the order in which a language model comes to life: cut the text into pieces, set the learning rate and the loss, choose
# words, remember what was read, and at the end train a small model yourself. They follow chapters
# [7](../notebooks/07_subwords.ipynb), [7b](../notebooks/07b_wordpiece.ipynb), [8](../notebooks/08_training.ipynb),
# [9](../notebooks/09_generating.ipynb), [9b](../notebooks/09b_cache.ipynb) and [10](../notebooks/10_language_model.ipynb), and most of them go a step beyond those pages. Questions 2 and 5 hardly do: write them from memory.
#
# **20 points, about three hours.**
#
# | | question | points | difficulty | minutes |
# |---|---|---|---|---|
# | 1 | Which pairs are merged | 3 | 2 | 20 |
# | 2 | The longest piece first | 2 | 1 | 15 |
# | 3 | Warming up | 1 | 1 | 10 |
# | 4 | A loss that forgives a little | 3 | 2 | 20 |
# | 5 | The likeliest words that reach p | 2 | 2 | 15 |
# | 6 | Beam search | 4 | 3 | 40 |
# | 7 | Attention with a memory | 3 | 3 | 40 |
# | 8 | A model that has read about animals | 2 | 2 | 20 |
#
# **How it works.** Below each question stands a cell for your answer and a cell that checks it. The check calls your function on a few
# inputs; if something is wrong it tells you which mistake it recognises, or which values differ. You may check as often as you like. For
# the grade, your functions are called on *other* inputs of other sizes, so an answer fitted to the check's numbers earns nothing.
#
# **The rules.** Keep the names and the arguments of the functions, and leave what your function is given as it is: an input that is changed
# in place makes an answer wrong. Everything in Python and `torch` is allowed except what does a question's whole work: PyTorch's argument
# `label_smoothing`, the packages `tokenizers` and `transformers`, and this course's own `lectures_lib.tokenization`,
# `lectures_lib.training` and `lectures_lib.decoding`. No question needs an earlier answer, and calling one is unwise: a mistake there would
# cost you twice.
#
# **What the check sees.** In question 4 the argument `label_smoothing` makes the answer wrong. Whatever else is out of bounds costs no
# points by itself: whoever grades is told of it, and decides. In question 4 gradients count: a `.item()`, `.tolist()`, `int(…)`,
# `.detach()`, `.data` or `no_grad` on the way costs half of the points. In the others nobody looks. Where a pair is asked for, a list of
# two counts as well.

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
import math
from collections import Counter
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import nn

from lectures_lib.homework import check

# %% [markdown]
# ## Question 1: Which pairs are merged
#
# *3 points · difficulty 2 of 3 · 20 minutes · [chapter 7, byte pairs by hand](../notebooks/07_subwords.ipynb#byte-pairs-by-hand)*
#
# Byte pair encoding learns from a list of words and how often each occurs. Every word starts as a row of letters. Then, again and again:
# count how often each pair of neighbours occurs, and merge the most frequent pair into one symbol, in all words.
#
# With 3 × "hug", 2 × "mug" and 1 × "hum", the pair u·g occurs 5 times and wins: h·ug, m·ug, h·u·m. Now h·ug occurs 3 times and is
# merged, then m·ug with 2. What is left is h·u and u·m, both in "hum" and once each. Of equally frequent pairs **the first in the alphabet**
# wins, as Python compares the tuples `("h", "u")` and `("u", "m")`: h·u, and at last hu·m. (Chapter 7 decides otherwise: there the oldest symbols win.) Then every word is a single symbol, and
# no pair is left. The answer is `["u g", "h ug", "m ug", "h u", "hu m"]`: each merge as its two parts with a space between them.
#
# Three rules for the rest. Pairs are counted within words, never across the end of one. A pair counts at every place where it stands; in
# a·a·a the pair a·a stands twice. But merging goes from left to right and uses no symbol twice: a·a·a becomes aa·a.
#
# - `words`: a dictionary, each word and how often it occurs; `n_merges`: how many merges to learn, at least one
# - returns a list of `n_merges` strings, or fewer where no pair is left
#
# <details><summary>Hint</summary>
#
# Keep the words as tuples of symbols, `{("h", "u", "g"): 3, …}`. The smallest of all `(-count, pair)` is the pair you want: the most
# frequent one, and of several the first in the alphabet.
#
# </details>


# %%
def byte_pairs(words, n_merges):
    """The first n_merges merges, each as "left right"."""
    ### BEGIN SOLUTION
    spelled = {tuple(word): n for word, n in words.items()}
    merges = []
    while len(merges) < n_merges:
        counts = Counter()
        for symbols, n in spelled.items():
            for pair in pairwise(symbols):
                counts[pair] += n
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(" ".join(best))
        spelled_anew = {}
        for symbols, n in spelled.items():
            merged, i = [], 0
            while i < len(symbols):
                length = 2 if symbols[i : i + 2] == best else 1
                merged.append("".join(symbols[i : i + length]))
                i += length
            spelled_anew[tuple(merged)] = n
        spelled = spelled_anew
    return merges
    ### END SOLUTION


# %%
check("hw3.byte_pairs", byte_pairs)

# %% [markdown]
# ## Question 2: The longest piece first
#
# *2 points · difficulty 1 of 3 · 15 minutes · [chapter 7b, the longest piece](../notebooks/07b_wordpiece.ipynb#the-longest-piece-that-fits)*
#
# BERT's tokenizer keeps no merges, only a vocabulary of pieces. It reads a word from left to right and always takes the longest piece
# with which the rest of the word begins. A piece that continues a word is written with `##` in front, in the vocabulary and in the answer.
#
# With the pieces `un`, `lock`, `##lock` and `##ed`, the word "unlocked" is read as `["un", "##lock", "##ed"]`. "unlocks" is
# `["[UNK]"]`, since nothing fits its last letter, and then the *whole* word is unknown. The tokenizer never goes back, either: put `unl` into
# the vocabulary, and "unlocked" becomes `["[UNK]"]` as well. The longest piece is now `unl`, and nothing fits "ocked".
#
# - `word`: a string without spaces, at least one letter; `vocabulary`: a list of strings
# - returns the list of pieces
#
# <details><summary>Hint</summary>
#
# Two loops: one moves the start of the piece, the other tries its end from the end of the word backwards. Python's `for … else` knows
# when the inner loop has found nothing.
#
# </details>


# %%
def word_pieces(word, vocabulary):
    """The pieces of a word; ["[UNK]"] if they cannot spell it."""
    ### BEGIN SOLUTION
    pieces, start = [], 0
    while start < len(word):
        mark = "##" if start > 0 else ""
        for end in range(len(word), start, -1):
            if mark + word[start:end] in vocabulary:
                break
        else:
            return ["[UNK]"]
        pieces.append(mark + word[start:end])
        start = end
    return pieces
    ### END SOLUTION


# %%
check("hw3.word_pieces", word_pieces)

# %% [markdown]
# ## Question 3: Warming up
#
# *1 point · difficulty 1 of 3 · 10 minutes · [chapter 8, warm-up](../notebooks/08_training.ipynb#warm-up)*
#
# The Transformer's learning rate first rises in a straight line, then falls with the root of the step:
#
# $$\text{rate} = d_{model}^{-0.5} \cdot \min(step^{-0.5},\ step \cdot warmup^{-1.5})$$
#
# The formula counts steps from 1. PyTorch's `LambdaLR` tells your function how many steps were made *before* this one, so it counts from 0.
#
# With `d_model = 512` and `warmup = 4000`, the first step (0 before) has the rate 0.000000175. The peak, 0.000699, is at step 4,000 (3,999
# before), and at step 16,000 half of that is left.
#
# - `steps_before`: how many steps were made before, from 0 on; `d_model`, `warmup`: as in the formula
# - returns a number
#
# <details><summary>Hint</summary>
#
# Python's power is `**`, and `x ** -0.5` is one over the root of x.
#
# </details>


# %%
def learning_rate(steps_before, d_model, warmup):
    """The learning rate of the step after `steps_before` others."""
    ### BEGIN SOLUTION
    step = steps_before + 1
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)
    ### END SOLUTION


# %%
check("hw3.learning_rate", learning_rate)

# %% [markdown]
# ## Question 4: A loss that forgives a little
#
# *3 points · difficulty 2 of 3 · 20 minutes · [chapter 8, label smoothing](../notebooks/08_training.ipynb#label-smoothing)*
#
# Cross-entropy wants all probability on the right word, and is never quite content. Label smoothing asks for less: the right word
# shall have $1 - \epsilon$, and $\epsilon$ is shared out among *all* words of the vocabulary alike, the right one included. With
# the target $q$ made like this and the model's probabilities $p$, the loss at one place is $-\sum_w q_w \log p_w$.
#
# A vocabulary of four words, $\epsilon = 0.2$: the target is 0.85 for the right word, 0.05 for each of the others. A model that says 0.7, 0.1,
# 0.1 and 0.1 gets the loss $-0.85 \log 0.7 - 3 \cdot 0.05 \log 0.1 = 0.649$. (Without smoothing it would be $-\log 0.7 = 0.357$.)
#
# The sentences of a batch are filled up with padding. Places whose target is padding do not count: the loss is the mean over all
# the other places of the batch. This is what PyTorch does too, with `label_smoothing` and `ignore_index`; here you write it yourself.
#
# - `logits`: `(batch, n, vocab)`, before the softmax, some of them perhaps 200 apart ($e^{-200}$ is 0 in float32); `targets`: integers
#   `(batch, n)`; `epsilon`: a number from 0 to 1; `pad`: the number of the padding word, one of the vocabulary, which is not always 0; at
#   least one target is no padding
# - returns the loss, a tensor without dimensions, finite also where scores are 200 apart
#
# <details><summary>Hint</summary>
#
# The sum falls into two: $1 - \epsilon$ times the ordinary loss, and $\epsilon$ times the mean of $-\log p_w$ over the vocabulary.
# `log_softmax` gives the logarithms, `gather` picks those of the right words, and `losses[targets != pad]` are the losses that count.
#
# </details>


# %%
def smoothed_cross_entropy(logits, targets, epsilon, pad):
    """The mean cross-entropy with smoothed targets, no padding."""
    ### BEGIN SOLUTION
    log_probs = logits.log_softmax(dim=-1)
    right_word = -log_probs.gather(-1, targets[:, :, None])[:, :, 0]  # (batch, n)
    every_word = -log_probs.mean(dim=-1)  # (batch, n)
    losses = (1 - epsilon) * right_word + epsilon * every_word
    return losses[targets != pad].mean()
    ### END SOLUTION


# %%
check("hw3.smoothed_cross_entropy", smoothed_cross_entropy)

# %% [markdown]
# ## Question 5: The likeliest words that reach p
#
# *2 points · difficulty 2 of 3 · 15 minutes · [chapter 9, top-k and top-p](../notebooks/09_generating.ipynb#top-k-and-top-p)*
#
# Drawing the next word from all that the model holds possible gives nonsense now and then: there are very many unlikely words. *Top-p*
# sampling, or nucleus sampling, draws from the likeliest ones only: as few of them as it takes to reach the probability p together.
#
# Suppose four words have the probabilities 0.15, 0.5, 0.05 and 0.3. With p = 0.7, the likeliest two are kept: 0.5 alone is too little,
# 0.5 + 0.3 is enough. Divided by their sum, they become 0.625 and 0.375, and the answer is (0, 0.625, 0, 0.375). With p = 0.4 the
# likeliest word alone is enough, and gets probability 1. The word with which the sum reaches p is kept, so that there is always at least one. (No sum
# in the checks comes so close to p that rounding decides, and no two words of a row are equally likely.)
#
# - `logits`: `(batch, vocab)`, before the softmax; `p`: a number above 0 and below 1
# - returns `(batch, vocab)`: the probabilities to draw from, 0 for the words that are dropped; each row sums to 1
#
# <details><summary>Hint</summary>
#
# `sort` returns values and their places, `cumsum` adds up. A word is kept if the sum *before* it is below p. What you know about the sorted
# words must get back to their places in the vocabulary: that is what `scatter` is for.
#
# </details>


# %%
def nucleus(logits, p):
    """The distribution over the likeliest words that reach p."""
    ### BEGIN SOLUTION
    sorted_probs, order = logits.softmax(dim=-1).sort(dim=-1, descending=True)
    before = sorted_probs.cumsum(dim=-1) - sorted_probs
    kept = sorted_probs * (before < p)
    kept = kept / kept.sum(dim=-1, keepdim=True)
    return torch.zeros_like(logits).scatter(-1, order, kept)
    ### END SOLUTION


# %%
check("hw3.nucleus", nucleus)

# %% [markdown]
# ## Question 6: Beam search
#
# *4 points · difficulty 3 of 3 · 40 minutes · [chapter 9, beam search](../notebooks/09_generating.ipynb#beam-search)*
#
# Greedy decoding takes the likeliest word each time and cannot take it back. Beam search keeps several beginnings alive. To see the
# search and nothing else, the model here is only a table: `log_probs[i, j]` is the logarithm of the probability that token `j` follows token `i`,
# whatever came before.
#
# The search begins with one hypothesis, no tokens yet, whose next token follows `start`. Then it makes `max_len` steps:
#
# 1. Continue every live hypothesis with every token, `start` among them, and rank all these continuations together, by the sum of their
#    log probabilities.
# 2. Among the `width` best, those that end with the token `end` are *finished*. They are put aside.
# 3. The `width` best of those that do *not* end live on (all, if there are fewer). So the place of a finished one goes to the next best.
#
# In the end, the hypotheses that are still alive are cut off and compete with the finished ones, as they are. Each gets as its score the
# sum of its log probabilities, divided by the length penalty $\left(\frac{5 + n}{6}\right)^{\alpha}$, where $n$ is the number of its
# tokens, `end` included. (Without it, short hypotheses have an advantage. Real programs stop earlier, by one rule of thumb or another; here you always make all steps.)
#
# An example. After `start` the model says "tea" with probability 0.6 and "now" with 0.4; after "tea" comes the end with 0.55 and "now" with
# 0.45; after "now" always the end (all others are too unlikely to matter here). Greedy says "tea" and then the end, with 0.33 in all. A
# beam of width 2 keeps both beginnings. After the second step "now, end" (0.40) and "tea, end" (0.33) are finished, and "tea, now" (0.27) is alive. With α = 1 and `max_len = 3` the answer for
# width 2 is "now, end" with the score $\log 0.40 \cdot 6/7 = -0.785$, then "tea, end" with $-0.950$. (A third, "tea, now, end", ends in step 3
# with $-0.982$ and is not returned.)
#
# - `log_probs`: `(vocab, vocab)`, none of them −∞; `start`, `end`: token numbers; `width`, `max_len`: at least 1; `alpha`: the penalty's
#   exponent
# - returns a list of the `width` best pairs `(tokens, score)` (of all, where there are fewer), best first: `tokens` a list of integers
#   without the `start` that it follows but with its `end`, where there is one, and `score` a number, or a tensor without dimensions. No
#   check depends on how ties are broken.
#
# <details><summary>Hint</summary>
#
# Plain Python lists are enough: `live` and `finished` are lists of pairs, `log_probs.tolist()` makes a table of numbers, and
# `sorted(…, key=lambda pair: pair[1], reverse=True)` ranks.
#
# </details>


# %%
def beam_search(log_probs, start, end, width, max_len, alpha):
    """The `width` best hypotheses as (tokens, score), best first."""
    ### BEGIN SOLUTION
    table = log_probs.tolist()

    def best_first(hypotheses):
        return sorted(hypotheses, key=lambda pair: pair[1], reverse=True)

    live, finished = [([], 0.0)], []
    for _ in range(max_len):
        continuations = []
        for tokens, score in live:
            last = tokens[-1] if tokens else start
            for token, log_prob in enumerate(table[last]):
                continuations.append(([*tokens, token], score + log_prob))
        continuations = best_first(continuations)
        finished += [pair for pair in continuations[:width] if pair[0][-1] == end]
        live = [pair for pair in continuations if pair[0][-1] != end][:width]
    scored = [
        (tokens, score / ((5 + len(tokens)) / 6) ** alpha)
        for tokens, score in finished + live
    ]
    return best_first(scored)[:width]
    ### END SOLUTION


# %%
check("hw3.beam_search", beam_search)

# %% [markdown]
# ## Question 7: Attention with a memory
#
# *3 points · difficulty 3 of 3 · 40 minutes ·
# [chapter 9b, a cache](../notebooks/09b_cache.ipynb#a-cache-the-same-words-less-work)*
#
# A model that writes sends one new token at a time through its layers. The keys and values of all earlier tokens were computed when *they*
# came by, and they never change: no token looks at what comes after it. So they are kept, and the layer gets them back with the next call.
#
# Write the self-attention of such a layer. A call brings `n` new tokens (a whole prompt, or a single token) and the *past*: the
# keys and values of the `n_past` tokens before them, or `None` at the beginning of a text. In this order:
#
# 1. Add the position vectors to `x`. The new tokens stand behind the old ones, at positions `n_past`, …, `n_past + n - 1`.
# 2. Make queries, keys and values for the new tokens, and cut them into heads. Head 0 owns the first `d_model / n_heads` numbers.
# 3. Put the old keys and values in front of the new ones.
# 4. Attend: new token `i` may look at all old tokens and at the new ones `0`, …, `i`.
# 5. Put the heads side by side again, apply `W_O`, and return this output *and* all keys and values, for the next call.
#
# The check loads its own numbers into your parameters, so their names and shapes are fixed: `W_Q`, `W_K`, `W_V` and `W_O` are `nn.Linear`
# from `d_model` to `d_model` without bias, and `positions` is an `nn.Embedding` with `max_len` vectors of `d_model` numbers.
#
# A test you can make yourself: three tokens in one call, or one after the other in three calls, must give the same outputs and the same
# keys and values in the end.
#
# - `CachedAttention(d_model, n_heads, max_len)`
# - `forward(x, past=None)`: `x` is `(batch, n, d_model)`; `past` is `None` or a pair `(keys, values)`, each `(batch, n_heads, n_past,
#   d_head)`
# - returns `(output, (keys, values))`: `output` is `(batch, n, d_model)`, the other two `(batch, n_heads, n_past + n, d_head)`
#
# <details><summary>Hint</summary>
#
# The scores are `n` rows by `n_past + n` columns. `torch.ones(n, n_past + n, dtype=torch.bool).tril(diagonal=n_past)` is `True` where one may look. Old and new are
# joined by `torch.cat` along the dimension of the tokens.
#
# </details>


# %%
class CachedAttention(nn.Module):
    """Causal self-attention over new tokens and remembered ones."""

    def __init__(self, d_model, n_heads, max_len):
        super().__init__()
        ### BEGIN SOLUTION
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, d_model, bias=False)
        self.W_V = nn.Linear(d_model, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.positions = nn.Embedding(max_len, d_model)
        ### END SOLUTION

    def forward(self, x, past=None):
        """The output, and the keys and values of all tokens so far."""
        ### BEGIN SOLUTION
        batch, n, d_model = x.shape
        n_past = 0 if past is None else past[0].shape[2]
        x = x + self.positions(torch.arange(n_past, n_past + n))

        def heads(projected):
            return projected.view(batch, n, self.n_heads, self.d_head).transpose(1, 2)

        Q, K, V = heads(self.W_Q(x)), heads(self.W_K(x)), heads(self.W_V(x))
        if past is not None:
            K = torch.cat([past[0], K], dim=2)
            V = torch.cat([past[1], V], dim=2)
        scores = Q @ K.transpose(-2, -1) / math.sqrt(self.d_head)
        seen = torch.ones(n, n_past + n, dtype=torch.bool).tril(diagonal=n_past)
        weights = scores.masked_fill(~seen, -math.inf).softmax(dim=-1)
        output = (weights @ V).transpose(1, 2).reshape(batch, n, d_model)
        return self.W_O(output), (K, V)
        ### END SOLUTION


# %%
check("hw3.CachedAttention", CachedAttention)

# %% [markdown]
# ## Question 8: A model that has read about animals
#
# *2 points · difficulty 2 of 3 · 20 minutes · [chapter 10, training](../notebooks/10_language_model.ipynb#training)*
#
# Now train one. The texts come from a very small children's book. Each is a sentence about an animal, and perhaps others near it, and ends with a
# sound and a sign:
#
# > duck near cow behind dog says quack !
#
# (There are no articles.) The words are numbers, and which number means which word, you are not told. Every animal has a sound of its own. It is the *first* animal
# of the sentence that makes the sound, however near to it another one stands. (In chapter 10b the verb has the same trouble with its subject.) The
# sign goes with the verb. Your model has to find out all this from 800 sentences.
#
# Then it reads prompts, which break off before the sound, and says what comes next. None of them is among the texts. At least 90 % of
# its predictions must be right.
#
# The model is given: `make_model(vocab_size)` makes a new, untrained one. It takes tokens `(batch, n)` to logits `(batch, n, vocab_size)`; row
# `i` is its prediction of the token that *follows* token `i`. Everything else is yours: the optimizer, the batches, the loss, the steps. 300
# steps of Adam with the learning rate 0.003 on 64 sentences at a time are enough, and take a few seconds; all calls together may take a minute.
#
# - `texts`: integers `(n_texts, n)`, each sentence filled up on the right with padding, which is 0
# - `prompts`: integers `(n_prompts, m)`, filled up in the same way; they are not all of the same length
# - `vocab_size`: how many different tokens there are, padding included
# - returns integers `(n_prompts,)`: the likeliest next token behind the last word of each prompt. That is always a sound; the sign is never
#   asked for.
#
# This is a question where the check sees little: a model that was trained wrongly mostly just predicts wrongly. When you are stuck, print
# the loss every 50 steps. It begins near 3.3, and should end below 1.5. (It cannot reach 0. Why not?) Only the predictions count: a slip such
# as a softmax before `F.cross_entropy` goes unseen where enough of them are right all the same.
#
# <details><summary>Hint</summary>
#
# The model reads `batch[:, :-1]` and predicts `batch[:, 1:]`. `F.cross_entropy` wants logits `(many, vocab_size)` and targets `(many,)`, and leaves
# out targets that equal its `ignore_index`. A random batch: `texts[torch.randint(len(texts), (64,))]`. The row of a prompt's last word:
# `logits[torch.arange(n_prompts), lengths - 1]`.
#
# </details>

# %% tags=["given"]
from lectures_lib.models.language_model import LanguageModel, LanguageModelConfig


def make_model(vocab_size):
    """A small left-to-right language model, not trained yet."""
    sizes = {"d_model": 64, "n_heads": 4, "n_layers": 1, "d_ff": 128}
    return LanguageModel(
        LanguageModelConfig(vocab_size, **sizes, dropout=0.0, max_len=16)
    )


n_parameters = sum(p.numel() for p in make_model(vocab_size=28).parameters())
print(f"{n_parameters:,} parameters for a vocabulary of 28 words")


# %%
def train_and_predict(texts, prompts, vocab_size):
    """What a model trained on the texts says behind each prompt."""
    model = make_model(vocab_size)
    ### BEGIN SOLUTION
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(300):
        batch = texts[torch.randint(len(texts), (64,))]
        logits = model(batch[:, :-1])
        targets = batch[:, 1:]
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    model.eval()
    with torch.no_grad():
        logits = model(prompts)
    last = (prompts != 0).sum(dim=1) - 1
    return logits[torch.arange(len(prompts)), last].argmax(dim=-1)
    ### END SOLUTION


# %%
check("hw3.train_and_predict", train_and_predict)

# %% [markdown]
# Why can the loss not reach 0? Because nobody can know which animal a sentence will begin with, or where the next one will stand. The sound
# and the sign can be known for certain, these cannot. A loss is good or bad only beside the best one that is possible.
#
# ## Before you hand in
#
# Choose *Restart and run all* from the menu and see that every check says ✓: an answer that works only because of a cell you have
# since changed or deleted will not work for the grader either. Then hand in this one file; [how](../book/handing_in.md).
