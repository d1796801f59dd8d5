# %% [markdown]
# # The left-to-right language model
#
# > *Once upon a …*
#
# You know the next word. After *She opened the …* you know only that a thing will come: a door, a
# letter, a shop. After *The …* you know hardly anything. In 1951 Claude Shannon had people guess a
# text letter by letter; here a machine does. The higher the bar, the more the letter surprised it.
#
# A **language model** guesses the next word (or letter), with a probability for each. It needs no
# labels, only text. This chapter builds one: the decoder of [chapter 6](06_decoder.ipynb) without
# the half that looks at a source. **How good are its guesses, and are they better than those of a
# table that only counts?**

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

# %% tags=["hide-input"] mystnb={"image": {"alt": "One bar for each letter of the sentence: Once upon a time there lived a king. High bars stand at most first letters of words, mostly low ones inside words; the last letter of lived and the space after the second a are high too."}, "figure": {"caption": "What each letter cost a small model that has read only Shakespeare (it comes with the library): the bits of its surprise (3 bits: the model gave it 1 in 8). Orange: the first letter of a word. Most beginnings are dear, most endings cheap."}}
import matplotlib.pyplot as plt
import torch

from lectures_lib import stored
from lectures_lib.show import plots

playwright, letters = stored.language_model("shakespeare")
tale = "Once upon a time there lived a king."
ids = torch.tensor([letters.encode("\n" + tale)])
with torch.no_grad():
    surprise = -playwright.log_probabilities(ids)[0] / torch.log(torch.tensor(2.0))
_, ax = plt.subplots(figsize=(7.0, 2.3))
first = [i == 0 or tale[i - 1] == " " for i in range(len(tale))]
colours = [plots.ORANGE if start else plots.BLUE for start in first]
ax.bar(range(len(tale)), surprise, color=colours)
ax.set_xticks(range(len(tale)), [letter.replace(" ", "␣") for letter in tale])
ax.tick_params(axis="x", length=0)
ax.set(ylabel="bits", xlim=(-0.8, len(tale) - 0.2))
plt.show()

# %% [markdown]
# **After this chapter you can**
#
# - compute a sentence's probability and perplexity with a pencil;
# - say when two perplexities cannot be compared, and what can be;
# - build a GPT out of chapter 5's block, and count its parameters;
# - train it, compare it with honest baselines, and let it write;
# - say what an hour of training buys over seconds of counting.
#
# **Time** about 45 minutes. **You need** chapters [5](05_encoder.ipynb), [6](06_decoder.ipynb) and
# [7](07_subwords.ipynb); sampling is from [chapter 9](09_generating.ipynb).

# %% tags=["hide-input"]
import math
import textwrap
from collections import Counter

import torch.nn.functional as F
from torch import nn
from torch.testing import assert_close
from transformers import GPT2Config, GPT2LMHeadModel

from lectures_lib import data, metrics
from lectures_lib.blocks.attention import causal_mask
from lectures_lib.blocks.layers import (
    Encoder,
    EncoderBlock,
    TokenEmbedding,
    initialise,
)
from lectures_lib.blocks.positions import LearnedPositions, SinusoidalPositions
from lectures_lib.models.language_model import LanguageModelConfig
from lectures_lib.show.drawings import draw
from lectures_lib.tokenization import BPE

# %% [markdown]
# ## The chain rule, with a pencil
#
# How probable is a text? No table can list all texts. But any text is a first word, then a second
# one given the first, then a third given both, and probabilities multiply:
#
# $$P(w_1, w_2, \dots, w_n) = P(w_1)\; P(w_2 \mid w_1)\; P(w_3 \mid w_1, w_2) \cdots P(w_n \mid w_1, \dots, w_{n-1}).$$
#
# The formula is exact for every text. (One could also begin with the last word; we read English
# left to right.)
#
# Say a model gives "the" at the start the probability 1/4, "keys" after "the" 1/8, and "rattle"
# after "the keys" 1/2. Then the sentence has the probability
# $\frac14 \cdot \frac18 \cdot \frac12 = \frac1{64}$. Longer texts have smaller probabilities, so to
# compare texts we take the average factor, here the third root: $\sqrt[3]{1/64} = 1/4$. It is as if
# the model had to choose among **four** equally likely words each time. This number, 4, is the
# **perplexity**.
#
# Logarithms turn the product into a sum, and the sum is the loss that we train with anyway:
# perplexity is $e$ to the mean cross-entropy. With logarithms to base 2 the losses are in **bits**:
# the three words cost 2, 3 and 1, on average 2, and $2^2 = 4$. (PyTorch's natural logarithms count
# in **nats**.)

# %% tags=["remove-input"]
draw("chain_rule")

# %% [markdown]
# **Predict.** Another model gives the same three words 1/2, 1/16 and 1/2. So it chose among 2, then
# 16, then 2 equally likely words. What is its perplexity: the mean of these three (about 6.7),
# still 4, or 16?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: still 4 -->
#
# Still 4: the bits are 1, 4 and 1, again 2 on average, and the product is again 1/64. Perplexity is
# an average of factors, so the mean is taken of the *logarithms*. A mean of perplexities, here 6.7,
# is too high whenever they differ. (This is a real bug, too: the mean of the perplexities of many
# batches is not the perplexity of the text. Add up the losses, divide once, and take $e$ to the
# result.)
#
# </details>

# %%
for factors in ((1 / 4, 1 / 8, 1 / 2), (1 / 2, 1 / 16, 1 / 2)):
    loss = -torch.tensor(factors).log()
    bits = (loss / math.log(2)).tolist()
    print("bits", bits, " perplexity", round(loss.mean().exp().item(), 6))

# %% tags=["remove-cell"]
assert_close(metrics.perplexity(loss.sum().item(), 3), 4.0)
assert_close(metrics.perplexity(1000 * math.log(50), 1000), 50.0)

# %% [markdown]
# A model that knows nothing gives each of $V$ words $1/V$, and its perplexity is exactly $V$. One
# that is always certain and right has perplexity 1. And one that once gives the probability 0 to
# what really comes has an infinite perplexity, however good it is otherwise.
#
# ## A text, and two simple models of it
#
# Our text is Python's own manual, with the docstrings of its library: it is on every machine that
# can run this page. Its wording changes a little from version to version, and your numbers with it.
# (`SOURCE = "real"` reads WikiText-2.)

# %%
SOURCE = "offline"  # "real": WikiText-2, "karpathy/tiny_shakespeare": Shakespeare
STEPS = 800  # some thousands on a GPU
VOCABULARY = 512

texts = {
    split: data.load("language_model", split, SOURCE)
    for split in ("train", "validation")
}
tokenizer = BPE.train(texts["train"][:600], VOCABULARY, specials=["<end>"])
END = tokenizer.token_id("<end>")


def ids_of(texts):
    """All texts as one row of token ids, an end token behind each."""
    return [i for text in texts for i in [*tokenizer.encode(text), END]]


train, held_out = ids_of(texts["train"]), ids_of(texts["validation"])

# %% tags=["nbval-ignore-output"]
print(f"{len(train):,} tokens to learn from, {len(held_out):,} held out")
print(tokenizer.tokenize(" the keys to the cabinet").tokens)

# %% tags=["remove-cell"]
assert 2e5 < len(train) < 5e6 and len(held_out) > 2e4

# %% [markdown]
# A Transformer reads a limited number of tokens at a time, here 32. So the long row is cut into
# **blocks** of 33, each beginning with the last token of the one before: 32 to read, 32 to predict.
# Every token is predicted exactly once, except the very first and a tail that fills no block.


# %%
def cut(ids, n):
    """Blocks of n + 1 ids; the last of one is the first of the next."""
    return [ids[i : i + n + 1] for i in range(0, len(ids) - n, n)]


print(cut([10, 11, 12, 13, 14, 15], n=2))

N = 32
blocks = torch.tensor(cut(held_out, N))  # (number of blocks, N + 1)

# %% tags=["remove-cell"]
assert cut(held_out, N) == data.blocks(held_out, N)

# %% [markdown]
# Before any network, two models that only count. The **unigram** model always gives the same
# answer: how often each token occurs. The **bigram** model looks one token back: what came after
# this one, how often? A pair never seen would get 0, and one 0 makes the perplexity infinite. So
# each row of counts gets 50 extra counts, shared out as the unigram model says: a row with many
# counts hardly changes, one with few becomes much like the unigram.

# %%
row = torch.tensor(train)
unigram = torch.bincount(row, minlength=VOCABULARY) + 1.0
unigram = unigram / unigram.sum()

pairs = torch.zeros(VOCABULARY, VOCABULARY)
# pairs[first, second] += 1 for each pair; a plain += would count repeats once
pairs.index_put_((row[:-1], row[1:]), torch.ones(len(row) - 1), accumulate=True)
bigram = (pairs + 50 * unigram) / (pairs.sum(dim=1, keepdim=True) + 50)


def by_unigram(blocks):
    """log P of every token but each block's first: (blocks, N)."""
    return unigram.log()[blocks[:, 1:]]


def by_bigram(blocks):
    """The same, given the token before."""
    return bigram.log()[blocks[:, :-1], blocks[:, 1:]]


def perplexity(log_probabilities):
    """e to the mean loss, over all tokens together."""
    return metrics.perplexity(
        -log_probabilities.sum().item(), log_probabilities.numel()
    )


# %% [markdown]
# **Predict.** Knowing nothing, the perplexity is 512. Knowing how often each token occurs brings it to about 190. How
# far down does it go if one also knows the *one* token before: to about 150, to about 90 or to about 40?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: to about 40 -->
#
# To about 40. Most tokens are pieces of words or short function words, and what can follow a piece
# of a word is very limited. "150" is a natural guess for a model with so short a memory. A network
# has to beat *40*: a language model that only beats "knows nothing" has shown nothing.
#
# </details>

# %% tags=["nbval-ignore-output"]
found = {"knows nothing": float(VOCABULARY)}
found |= {
    "unigram": perplexity(by_unigram(blocks)),
    "bigram": perplexity(by_bigram(blocks)),
}
for name, value in found.items():
    print(f"{name:14} perplexity {value:6.1f}")

# %% tags=["remove-cell"]
assert 0.25 * VOCABULARY < found["unigram"] < 0.8 * VOCABULARY
assert found["bigram"] < found["unigram"] / 3
assert_close(bigram.sum(dim=1), torch.ones(VOCABULARY))

# %% [markdown]
# ### Perplexity per what?
#
# Here are two unigram models of the same text. One counts our tokens, the other single bytes.


# %%
def bytes_of(texts):
    """All texts as one row of bytes; a zero ends each, as `<end>` does for us."""
    return torch.tensor(list("".join(text + "\0" for text in texts).encode()))


byte_counts = torch.bincount(bytes_of(texts["train"]), minlength=256) + 1.0
held_out_bytes = bytes_of(texts["validation"])
losses = {
    "bytes": -(byte_counts / byte_counts.sum()).log()[held_out_bytes],
    "subwords": -unigram.log()[torch.tensor(held_out)],
}
per_token = {name: loss.mean().exp().item() for name, loss in losses.items()}
bits_per_byte = {
    name: (loss.sum() / math.log(2) / len(held_out_bytes)).item()
    for name, loss in losses.items()
}

# %% [markdown]
# **Predict.** Which of the two unigram models has the lower perplexity, and which of them gives the *whole text* the
# higher probability?
#
# <details><summary>Answer</summary>
#
# The byte model has by far the lower perplexity (about 30 against 190), and it is the worse model:
# it needs more bits for the same text. It is asked more often, and each question is easier, a
# choice among 256 bytes at most instead of 512 tokens. A lower number means a better model only
# where the tokens are the same.
#
# </details>

# %% tags=["nbval-ignore-output"]
for name in losses:
    print(
        f"{name:9} perplexity {per_token[name]:6.1f}   bits per byte "
        f"{bits_per_byte[name]:.2f}"
    )

# %% tags=["remove-cell"]
assert per_token["bytes"] < per_token["subwords"] / 5
assert bits_per_byte["subwords"] < bits_per_byte["bytes"] - 0.2

# %% [markdown]
# Compare the price of the *whole text*: the sum of all losses, divided by something that does not
# depend on the tokenizer, such as bytes or words. A perplexity without its tokenizer is half a
# number.
#
# ## The model: a decoder without a source
#
# The decoder block of chapter 6 asked three questions: what have I written, what does the source
# say, what do I make of it? Without a source the second one falls away. What is left is an
# *encoder* block under a *causal mask*, though people say *decoder-only*. That is GPT (Radford et
# al. 2018): token vectors plus learned positions, a stack of such blocks, and scores computed with
# the same token vectors. GPT-2 (2019) moved the LayerNorm to the front of each sublayer and put one
# more after the last block.

# %% tags=["remove-input"]
draw("decoder_only")

# %%
torch.manual_seed(0)
config = LanguageModelConfig(
    13, d_model=16, n_heads=2, n_layers=2, d_ff=32, dropout=0.0
)
tokens = torch.randint(13, (3, 9))

E = nn.Embedding(13, 16)  # token vectors, at the bottom and at the top
P = nn.Embedding(512, 16)  # learned positions
stack = nn.ModuleList(
    EncoderBlock(16, 2, 32, activation="gelu_tanh", pre_norm=True) for _ in range(2)
)
norm = nn.LayerNorm(16)


def gpt(tokens):
    """Scores (batch, n, vocabulary) of the token after each of these (batch, n)."""
    n = tokens.shape[1]
    x = E(tokens) + P(torch.arange(n))
    for block in stack:
        x = block(x, mask=causal_mask(n))
    return norm(x) @ E.weight.T


# %% [markdown]
# Six lines. Here they are as a class, with dropout, either kind of positions, and a method that
# says how probable each token of a text is. (The library holds the same class.)


# %%
class LanguageModel(nn.Module):
    """Scores of every token's successor, given that token and those before it."""

    def __init__(self, config):
        super().__init__()
        self.config = config
        scale = 1.0 if config.learned_positions else math.sqrt(config.d_model)
        self.embedding = TokenEmbedding(config.vocab_size, config.d_model, scale)
        make_positions = (
            LearnedPositions if config.learned_positions else SinusoidalPositions
        )
        self.positions = make_positions(config.d_model, config.max_len)
        self.dropout = nn.Dropout(config.dropout)
        self.stack = Encoder(
            config.n_layers,
            config.d_model,
            config.n_heads,
            config.d_ff,
            dropout=config.dropout,
            activation=config.activation,
            pre_norm=config.pre_norm,
        )
        initialise(self)
        if config.learned_positions:
            nn.init.normal_(self.embedding.weight, std=0.02)  # GPT's

    def forward(self, tokens):
        """(batch, n) → (batch, n, vocab): row i sees tokens 0 … i"""
        x = self.dropout(self.positions(self.embedding(tokens)))
        x = self.stack(x, causal_mask(tokens.shape[1], tokens.device))
        return self.embedding.scores(x)

    def log_probabilities(self, tokens):
        """log P of every token but the first, which nothing predicts: (batch, n - 1)"""
        log_probs = self(tokens[:, :-1]).log_softmax(dim=-1)
        return log_probs.gather(-1, tokens[:, 1:, None])[:, :, 0]


# %% [markdown]
# Do the six lines, the class and Hugging Face's GPT-2 agree, with the same weights in all three?

# %% tags=["hide-input", "atol=1e-5"]
built = LanguageModel(config)
built.embedding.load_state_dict(E.state_dict())
built.positions.positions.data = P.weight.data
built.stack.blocks.load_state_dict(stack.state_dict())
built.stack.norm.load_state_dict(norm.state_dict())


def gpt2_state(ours):
    """Our parameters under GPT-2's names."""
    state = {
        "wte.weight": ours.embedding.weight,
        "wpe.weight": ours.positions.positions,
    }
    norms, layers = {"ln_f": ours.stack.norm}, {}
    for i, block in enumerate(ours.stack.blocks):
        attention, feed_forward = block.self_attention, block.feed_forward
        packed = (attention.W_Q, attention.W_K, attention.W_V)
        state[f"h.{i}.attn.c_attn.weight"] = torch.cat([p.weight for p in packed]).T
        state[f"h.{i}.attn.c_attn.bias"] = torch.cat([p.bias for p in packed])
        layers[f"h.{i}.attn.c_proj"] = attention.W_O
        layers[f"h.{i}.mlp.c_fc"], layers[f"h.{i}.mlp.c_proj"] = (
            feed_forward.W_1,
            feed_forward.W_2,
        )
        norms[f"h.{i}.ln_1"] = block.around_self_attention.norm
        norms[f"h.{i}.ln_2"] = block.around_feed_forward.norm
    for name, layer in layers.items():
        state |= {f"{name}.weight": layer.weight.T, f"{name}.bias": layer.bias}
    for name, norm in norms.items():
        state |= {f"{name}.weight": norm.weight, f"{name}.bias": norm.bias}
    return state


sizes = {"vocab_size": 13, "n_embd": 16, "n_head": 2, "n_layer": 2, "n_inner": 32}
theirs = GPT2LMHeadModel(
    GPT2Config(**sizes, n_positions=512, bos_token_id=1, eos_token_id=2)
).eval()
theirs.transformer.load_state_dict(gpt2_state(built))
with torch.no_grad():
    scores = gpt(tokens)
    off_class = (built(tokens) - scores).abs().max().item()
    off_theirs = (theirs(tokens).logits - scores).abs().max().item()
print(f"largest difference: class {off_class:.0e}, Hugging Face {off_theirs:.0e}")

# %% tags=["remove-cell"]
assert off_class < 1e-5 and off_theirs < 1e-5

# %% [markdown]
# How large are the real ones? On PyTorch's `meta` device a model has shapes but takes no memory, so
# it can be built and counted:

# %%
for name in ("GPT", "GPT2"):
    with torch.device("meta"):
        large = LanguageModel(getattr(LanguageModelConfig, name))
    print(f"{name:4} {sum(p.numel() for p in large.parameters()):11,}")

# %% [markdown]
# <details><summary>GPT-2's 117 million, and today's models</summary>
#
# GPT-2's paper gives 117 million parameters for this size, which is GPT's number. The authors later
# called the paper's counts wrong.
#
# Most of today's language models keep this plan, with three changes: RMSNorm, which does not
# subtract the mean, replaces LayerNorm; SwiGLU replaces GELU; and the rotation of [chapter
# 4](04_order.ipynb) (RoPE) replaces position vectors.
#
# </details>
#
# ## Every token is an exercise
#
# A block has 33 tokens. At each of the first 32 the model should say the token that follows: the
# targets are the same row, shifted by one. Thanks to the causal mask that is 32 exercises in one
# pass, each with a context of its own.

# %% tags=["remove-input"]
draw("five_exercises")

# %% tags=["nbval-ignore-output"]
examples = torch.tensor(cut(train, N))  # (number of blocks, N + 1)
print("reads:   ", tokenizer.known_tokens(examples[0, :-1][:7].tolist()))
print("predicts:", tokenizer.known_tokens(examples[0, 1:][:7].tolist()))

# %% [markdown]
# One test belongs to every left-to-right model: change one token and see which scores move.
# (`built` is the class, made in the folded cell above.)

# %% [markdown]
# **Predict.** Of nine tokens, number 5 is changed (counting from 0). At which of the nine places do the model's
# scores move: at 5 alone, from 5 on, from 6 on, or everywhere?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: from 5 on -->
#
# From 5 on. The scores at place 5 are about token 6, and token 5 is the last thing they are based
# on, so they move, too; "from 6 on" mixes up a token with the scores for it. Before place 5 nothing
# may move, not by a bit: if it does, the model sees its own answers.
#
# </details>

# %%
changed = tokens.clone()
changed[:, 5] = (changed[:, 5] + 1) % 13
with torch.no_grad():
    moved = (built(changed) - built(tokens)).abs().amax(dim=(0, 2))
print("scores that moved:", (moved > 0).int().tolist())

# %% tags=["remove-cell"]
assert (moved[:5] == 0).all() and (moved[5:] > 1e-6).all()

# %% [markdown]
# ## Training
#
# The model has two blocks of width 64. The loop is chapter 8's, in plain PyTorch: shuffle the
# blocks *of text*, take 32, step. The learning rate rises for 50 steps, stays, and later falls in a
# straight line to 0. Around the loop stand three functions: the loss; `by_model`, the logarithm of each token's probability, to be compared with the tables; and `write`, which draws a token from the model's
# distribution, appends it, and asks again. An untrained model gives all tokens about the same
# probability, so the loss should begin near $\ln 512 = 6.24$ nats.


# %%
def next_token_loss(model, blocks):
    """Mean cross-entropy, in nats, over blocks of ids (batch, N + 1)."""
    inputs, targets = blocks[:, :-1], blocks[:, 1:]  # (batch, N) each, shifted by one
    scores = model(inputs)  # (batch, N, vocabulary)
    return F.cross_entropy(scores.flatten(0, 1), targets.flatten())


@torch.no_grad()
def by_model(model, blocks):
    """log P of every token but each block's first: (blocks, N)."""
    losses = [
        F.cross_entropy(
            model(part[:, :-1]).transpose(1, 2), part[:, 1:], reduction="none"
        )
        for part in blocks.split(64)
    ]
    return -torch.cat(losses)


@torch.no_grad()
def write(model, tokenizer, text, n, temperature=1.0, generator=None):
    """The text and n more tokens, each drawn from the model's distribution."""
    ids, longest = torch.tensor(tokenizer.encode(text)), model.config.max_len
    for _ in range(n):
        # only the scores at the last place are needed: they are about the next token
        scores = model(ids[None, -longest:])[0, -1] / temperature
        drawn = torch.multinomial(scores.softmax(dim=-1), 1, generator=generator)
        ids = torch.cat([ids, drawn])
    return tokenizer.decode(ids.tolist())


def train_model(model, examples, held_out, steps):
    """Train on blocks (number, N + 1). {step: (batch's loss, held-out loss)}"""
    optimizer = torch.optim.AdamW(model.parameters(), lr=8e-3, fused=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / 50, 1.2 * (1 - step / steps), 1)
    )
    step, log = 0, {}
    while True:
        for rows in torch.randperm(len(examples)).split(32):  # an epoch, shuffled
            loss = next_token_loss(model, examples[rows])  # of 32 blocks of text
            if step % 50 == 0:  # a look from outside: new text, no training
                model.eval()
                on_new = -by_model(model, held_out).mean().item()
                log[step] = loss.item(), on_new
                if step % 200 == 0:
                    sample = write(model, tokenizer, "Return the", 25, temperature=0.5)
                    print(f"{step:3} {loss:6.2f} {on_new:6.2f}  ", *sample.split())
                model.train()
            if step == steps:
                return log
            # the step, as in chapter 8 (there with Adam): gradients, AdamW, the rate
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            step += 1


# %% tags=["nbval-ignore-output"]
torch.manual_seed(0)
config = LanguageModelConfig(
    VOCABULARY, d_model=64, n_heads=4, n_layers=2, d_ff=256, dropout=0.0, max_len=N
)
model = LanguageModel(config)
print("step, nats a token in the batch and on new text, a sample:")
log = train_model(model, examples, blocks[::16], STEPS)
of_model = by_model(model, blocks)
found["Transformer"] = perplexity(of_model)

# %% tags=["hide-input"] mystnb={"image": {"alt": "Perplexity on held-out text over the training steps, logarithmic axis. The Transformer's curve falls from near the unigram's dashed line, crosses the bigram's dashed line and goes on falling slowly."}, "figure": {"caption": "Perplexity on text that was not trained on. Dashed: the two models that count."}}
steps = list(log)[1:]
curve = [math.exp(log[step][1]) for step in steps]
ax = plots.curves(
    steps, {"Transformer": curve}, xlabel="training step", ylabel="perplexity"
)
for name in ("unigram", "bigram"):
    plots.reference(ax, found[name], name, "right")
ax.set(yscale="log", yticks=[20, 50, 100, 200], yticklabels=["20", "50", "100", "200"])
ax.grid(False)  # the dashed lines are what the curve is held against
ax.minorticks_off()
plt.show()

# %% tags=["nbval-ignore-output"]
for name, value in found.items():
    print(f"{name:14} perplexity {value:6.1f}")
read = perplexity(by_model(model, examples[::8]))
print(f"on text that both have learned from: Transformer {read:.1f}", end="")
print(f", bigram {perplexity(by_bigram(examples[::8])):.1f}")

# %% tags=["remove-cell"]
assert all(0.9 < math.exp(loss) / VOCABULARY < 1.15 for loss in log[0])
assert found["Transformer"] < 0.97 * found["bigram"]
assert 0.75 < read / found["Transformer"] < 1.02
assert log[400][1] > log[STEPS][1] + 0.15

# %% [markdown]
# The first losses are near $\ln 512$, and the samples go from shuffled tokens to something like
# words. On text that it has read the model is only a little better than on new text, and so is the
# table of pairs: each block came about once, and little was learned by heart.
#
# The Transformer is soon better than the unigram model, and then takes most of the training to
# catch up with a table of pairs. The table has counted the whole text; the network has to find the
# same regularities step by step. (A table of triples beats both: exercise 3.) But a table of pairs
# looks back one token only. How much is a longer look worth?

# %%
by_place = {  # (blocks, 32) → (blocks, 8, 4) → 8 perplexities
    name: (-log_p.view(-1, N // 4, 4).mean(dim=(0, 2))).exp()
    for name, log_p in (("Transformer", of_model), ("bigram", by_bigram(blocks)))
}

# %% tags=["hide-input"] mystnb={"image": {"alt": "Perplexity over the position in the block, in groups of four. The Transformer's curve begins near the bigram's, falls below it within the first eight positions and is nearly level from there; the bigram's wavers a little."}, "figure": {"caption": "Perplexity at the positions of a block, in groups of four. The bigram model never uses more than one token. The more tokens the Transformer has before it, up to about ten, the further it is below (one run)."}}
ax = plots.curves(
    range(2, N, 4), by_place, xlabel="position in the block", ylabel="perplexity"
)
plt.show()

# %% tags=["remove-cell"]
assert by_place["Transformer"][4:].mean() < 0.9 * by_place["Transformer"][0]

# %% [markdown]
# At the beginning of a block the table is about as good or better; a few tokens later the
# Transformer has passed it. More than about ten tokens are of little use yet to a model so small
# and so briefly trained. So a perplexity also depends on the length of the blocks.
#
# ### Let it write
#
# Each token is drawn from the model's distribution, sharpened or flattened by a temperature
# ([chapter 9](09_generating.ipynb)), and appended. With 32 positions, the model reads the last 32
# tokens only.

# %% tags=["nbval-ignore-output"]
BEGINNING = "Return the"
known = set(" ".join(texts["train"]).split())
generator = torch.Generator().manual_seed(0)
others = torch.Generator().manual_seed(1)
for temperature in (0.3, 0.8, 1.5):
    print(f"temperature {temperature}:")
    text = write(model, tokenizer, BEGINNING, 40, temperature, generator)
    print(textwrap.indent(textwrap.fill(text, 76), "    "))
    more = [
        write(model, tokenizer, BEGINNING, 40, temperature, others) for _ in range(6)
    ]
    words = [word for text in more for word in text.split()[2:-1]]
    share = sum(word in known for word in words) / len(words)
    print(f"    ({share:.0%} of the words in six others are in the manual)")

# %% [markdown]
# Some words are a manual's, but the text makes no sense. Many of the long words, put together from
# pieces, do not exist; a low temperature gives fewer of these, but does not make more sense. **Now you:**
# another `BEGINNING`.
#
# ### What an hour buys
#
# Our model had half a minute, the one at the top of the page about an hour of one core: the same
# class, four blocks of width 192, 1.9 million parameters. It learned from a million characters of
# Shakespeare's plays. Its tokens are single bytes, so it had to find out for itself what a word is,
# who speaks, and where a line ends.

# %% tags=["nbval-ignore-output"]
print(write(playwright, letters, "ROMEO:\n", 200, 0.8, generator))

# %% tags=["remove-cell"]
assert sum(p.numel() for p in playwright.parameters()) == 1_878_336
assert len(letters.encode("ROMEO:\n")) == 7

# %% [markdown]
# Names stand alone on a line, most sentences have verbs, lines break about where verse might. It
# still makes no sense. **Now yours:** change the beginning, the temperature or the length, here or,
# letter by letter, in your browser: [Type your own](../book/your_own/writing.md#a-writer).
#
# Its rival is again one that only counts: a table of what came after the last six letters, spaces
# and signs (**n-grams**, here of 7 characters). For rows that it has hardly seen, it leans on a
# shorter table. Such tables are made in seconds.
#
# <details><summary>How does a table lean on a shorter one?</summary>
#
# A little is taken off every count and handed down to the shorter table. The shorter tables do not
# count how *often* a letter came there, but behind how many *different* letters. (Among words:
# "York" is frequent, but comes behind "New" only, so behind any other word it is not to be
# expected.) These are Kneser and Ney's rules, in the form of Chen and Goodman
# (`lectures_lib/models/ngrams.py`).
#
# </details>

# %% [markdown]
# **Predict.** Both are given the same text, which neither has read, 111,540 characters. (It begins in the middle of a
# play whose beginning both know.) A character costs the network 1.484<!-- language_models_cpu:
# trained/sliding/both/mean .3f --> nats, the mean of three seeds. Does it cost the table of seven letters about 2.5, about
# 2.0, or about 1.5? And is a table of eight better still?
#
# <details><summary>Answer</summary>
#
# About 1.5: 1.517<!-- language_models_cpu: counted/7/nats/both .3f -->. An hour of training buys
# three hundredths of a nat over seconds of counting. About 2.5 is what a table of *pairs* costs,
# and it is tempting to take every table to be that bad. Eight letters cost
# 1.520<!-- language_models_cpu: counted/8/nats/both .3f -->, no less than seven: of the groups of
# eight in the first half of the new text only
# 53 %<!-- language_models_cpu: counted/8/seen/validation .0f --> stood in the text that was
# counted. On a million characters, counting is hard to beat.
#
# </details>

# %% tags=["hide-input"] mystnb={"image": {"alt": "Nats a character over the training steps. The network's curve falls from 2.5 at step 500, past the dashed lines of tables of two, three and four letters, to just below the line of seven letters at the end."}, "figure": {"caption": "What a character costs, on the first half of the new text: the network while it learned (mean of three seeds, in blocks of 256 characters) and, dashed, tables of two, three, four and seven letters."}}
NETWORK = {
    500: 2.5,
    1000: 2.29,
    1500: 1.94,
    2000: 1.78,
    3000: 1.62,
    4000: 1.54,
    5000: 1.48,
    6000: 1.44,
    7000: 1.42,
}
TABLES = {2: 2.47, 3: 1.99, 4: 1.67, 7: 1.45}
ax = plots.curves(
    list(NETWORK),
    {"network": list(NETWORK.values())},
    xlabel="training step",
    ylabel="nats a character",
)
for length, cost in TABLES.items():
    plots.reference(ax, cost)
    at = 1500 if length == 7 else 7000  # beside the curve
    ax.text(at, cost + 0.02, f"{length} letters", ha="right", color=plots.GREY)
ax.grid(False)
ax.set(ylim=(1.3, 2.6))
plt.show()

# %% [markdown]
# On the first half of the new text (the figure) the networks' mean becomes better than the table of
# seven letters between steps 5,500 and 6,000.
#
# Why train a network, then? Its curve was still falling at the end (partly because the learning
# rate fell), while a longer table helps no further. And its parameters do not grow with the text,
# as a table's rows do.
#
# <details><summary>All measurements, and a number to compare with</summary>
#
# | nats a character of the new text | first half | second half | both |
# |---|---|---|---|
# | table of two letters (one before) | 2.474<!-- language_models_cpu: counted/2/nats/validation .3f --> | 2.494<!-- language_models_cpu: counted/2/nats/test .3f --> | 2.484<!-- language_models_cpu: counted/2/nats/both .3f --> |
# | table of three letters | 1.994<!-- language_models_cpu: counted/3/nats/validation .3f --> | 2.084<!-- language_models_cpu: counted/3/nats/test .3f --> | 2.039<!-- language_models_cpu: counted/3/nats/both .3f --> |
# | table of five letters | 1.503<!-- language_models_cpu: counted/5/nats/validation .3f --> | 1.621<!-- language_models_cpu: counted/5/nats/test .3f --> | 1.562<!-- language_models_cpu: counted/5/nats/both .3f --> |
# | table of seven letters | 1.453<!-- language_models_cpu: counted/7/nats/validation .3f --> | 1.581<!-- language_models_cpu: counted/7/nats/test .3f --> | 1.517<!-- language_models_cpu: counted/7/nats/both .3f --> |
# | table of eight letters | 1.454<!-- language_models_cpu: counted/8/nats/validation .3f --> | 1.586<!-- language_models_cpu: counted/8/nats/test .3f --> | 1.520<!-- language_models_cpu: counted/8/nats/both .3f --> |
# | network, with at least 128 characters before each, mean of three seeds | 1.405<!-- language_models_cpu: trained/sliding/validation/mean .3f --> | 1.562<!-- language_models_cpu: trained/sliding/test/mean .3f --> | 1.484<!-- language_models_cpu: trained/sliding/both/mean .3f --> (1.475<!-- language_models_cpu: trained/sliding/both/min .3f --> to 1.500<!-- language_models_cpu: trained/sliding/both/max .3f -->) |
# | – the one that comes with the library | 1.421<!-- language_models_cpu: trained/stored/validation .3f --> | 1.579<!-- language_models_cpu: trained/stored/test .3f --> | 1.500<!-- language_models_cpu: trained/stored/both .3f --> |
# | network, in blocks of 256 characters, mean of three seeds | 1.420<!-- language_models_cpu: trained/blocks/validation/mean .3f --> | 1.573<!-- language_models_cpu: trained/blocks/test/mean .3f --> | 1.497<!-- language_models_cpu: trained/blocks/both/mean .3f --> |
#
# ([Results](../book/results/language_models.md#language-models-cpu).) On the second half, which
# soon changes to a play new to both, the three seeds lead by 0.002 to 0.031 nats: on another play
# the table may be as good. The model of nanoGPT (see the next section), with 10.7 million
# parameters, trained on a GPU, is reported at 1.47 for both halves, in blocks. That is the lowest
# of many measurements during its training; ours, 1.497<!-- language_models_cpu:
# trained/blocks/both/mean .3f -->, is the last one. (Exercise 4 shows why blocks cost more.)
#
# </details>
#
# ### And a larger one?
#
# For this text nanoGPT (Karpathy 2022) uses six blocks of width 384. Ours of that size has 10.8 million parameters (a few more than its 10.7, for biases and a row for every byte), nearly six times as many as the one above. We trained three on a GPU, for 5,000 steps, nine minutes
# each.

# %% [markdown]
# **Predict.** The smaller network ended at 1.420<!-- language_models_cpu: trained/blocks/validation/mean .3f --> nats a
# character (mean of three seeds, first half of the new text, in blocks). Where do the larger ones end: clearly below, at about
# the same, or above?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: above -->
#
# Above: 1.681<!-- language_models: trained/validation_by_step/5000/mean .3f --> on average. On the
# way down they had 1.419<!-- language_models: trained/validation_by_step/1500/mean .3f --> after
# 1,500 steps, about what the smaller one has at its end, and from step 2,500 on every look finds
# them worse. In all they read the million characters some eighty times (the smaller one fourteen),
# and what they still learn about *this* text no longer helps with new text: they **overfit**. So
# one keeps the weights that were best on held-out text, as nanoGPT does, or plans fewer steps.
#
# (These runs do not show that a larger network cannot do better on so little text. Batch, dropout
# and learning rate differ, too.)
#
# </details>

# %% tags=["hide-input"] mystnb={"image": {"alt": "Nats a character over training steps from 500 to 5,000. The curve falls from about 1.7 to a little above 1.4 at steps 1,500 and 2,000 and rises again, steadily, to nearly 1.7. A dashed line at the height of its lowest point marks the smaller network at its end."}, "figure": {"caption": "Six times as many parameters: what a character of the first half of the new text costs (mean of three seeds). It falls as far as the smaller network's, dashed, and then rises."}}
LARGER = {
    500: 1.72,
    1000: 1.47,
    1500: 1.42,
    2000: 1.42,
    2500: 1.45,
    3000: 1.50,
    3500: 1.55,
    4000: 1.61,
    4500: 1.66,
    5000: 1.68,
}
ax = plots.curves(
    list(LARGER),
    {"10.8 million parameters": list(LARGER.values())},
    xlabel="training step",
    ylabel="nats a character",
    direct_labels=False,
)
plots.reference(ax, NETWORK[7000])
ax.text(5000, 1.405, "1.9 million, at the end", ha="right", va="top", color=plots.GREY)
ax.grid(False)
ax.set(ylim=(1.3, 1.8))
plt.show()

# %% [markdown]
# <details><summary>The models of this page beside GPT-2</summary>
#
# | | what this page trains | an hour of one core | nine minutes of a GPU | GPT-2, the smallest |
# |---|---|---|---|---|
# | model | 2 blocks of width 64 | 4 of width 192 | 6 of width 384 | 12 of width 768 |
# | parameters | 0.13 million | 1.9 million | 10.8 million | 124 million |
# | reads back | 32 subwords | 256 characters | 256 characters | 1,024 subwords |
# | text | Python's manual | a million characters of plays | the same | 40 GB of web pages |
# | nats a character, first half of the new text, in blocks, mean of three seeds | another text | 1.420<!-- language_models_cpu: trained/blocks/validation/mean .3f --> | 1.419<!-- language_models: trained/validation_by_step/1500/mean .3f --> at best, 1.681<!-- language_models: trained/validation_by_step/5000/mean .3f --> at the end | another text |
#
# </details>
#
# ### In pieces of words
#
# The same class, again four blocks of width 192 (with 2.6 million parameters, for there are more
# token vectors), learned from Wikipedia: WikiText-2, two million words, in 4,096 subwords ([chapter
# 7](07_subwords.ipynb)), in 133<!-- language_models_wikitext: trained/minutes/mean .0f --> minutes
# of a core that had other work, too.

# %% tags=["nbval-ignore-output"]
encyclopedist, subwords = stored.language_model("wikitext")
text = write(encyclopedist, subwords, "\n The song was written by", 80, 0.8, generator)
print(textwrap.fill(text, 76))

# %% tags=["remove-cell"]
assert sum(p.numel() for p in encyclopedist.parameters()) == 2_615_424

# %% [markdown]
# It sounds like an article, for about a clause at a time. (In other samples `<unk>` stands for a
# rare word, and `@-@` for a hyphen.) Its rivals count subwords. A subword costs more than a letter,
# so the losses are again given per character: on new articles a table of five subwords costs
# 1.063<!-- language_models_wikitext: counted/5/nats/test .3f --> nats, the network 0.997<!--
# language_models_wikitext: trained/sliding/test/mean .3f --> (one seed).
#
# <details><summary>Shorter tables</summary>
#
# | nats a character | validation | test |
# |---|---|---|
# | tables of two subwords | 1.219<!-- language_models_wikitext: counted/2/nats/validation .3f --> | 1.211<!-- language_models_wikitext: counted/2/nats/test .3f --> |
# | of three | 1.087<!-- language_models_wikitext: counted/3/nats/validation .3f --> | 1.078<!-- language_models_wikitext: counted/3/nats/test .3f --> |
# | of five | 1.069<!-- language_models_wikitext: counted/5/nats/validation .3f --> | 1.063<!-- language_models_wikitext: counted/5/nats/test .3f --> |
# | network, with at least 128 subwords before each | 1.007<!-- language_models_wikitext: trained/sliding/validation/mean .3f --> | 0.997<!-- language_models_wikitext: trained/sliding/test/mean .3f --> |
#
# Neither the network nor the tables have read either split. Here the network is ahead by 0.06 to
# 0.07 nats; on the plays the lead was 0.03, but that network was smaller, and trained for a shorter
# time. (Plays and articles differ: compare the rows here with each other, not with the numbers for
# Shakespeare.)
#
# </details>
#
# ## What goes wrong
#
# ### Measured on what was learned
#
# Longer rows make a table better and better, as long as one asks about the text that it has
# counted. With rows of two, three and five tokens, how often is the most frequent continuation the
# right one?


# %%
def counts_of(row, n):
    """How often each row of n tokens occurs in the text."""
    return Counter(zip(*(row[i:] for i in range(n)), strict=False))


def share_of_best(n, text):
    """How often the usual continuation of the last n - 1 tokens is right."""
    best = {}
    for gram, _ in sorted(counts_of(train, n).items(), key=lambda item: item[1]):
        best[gram[:-1]] = gram[-1]
    grams = list(zip(*(text[i : i + 50_000] for i in range(n)), strict=False))
    return sum(best.get(gram[:-1]) == gram[-1] for gram in grams) / len(grams)


shares = {n: (share_of_best(n, train), share_of_best(n, held_out)) for n in (2, 3, 5)}

# %% tags=["nbval-ignore-output"]
for n, (on_train, on_held_out) in shares.items():
    print(
        f"rows of {n}: on its own text {on_train:.2f}, on other text {on_held_out:.2f}"
    )

# %% tags=["remove-cell"]
assert shares[2][0] - shares[2][1] < 0.1 and shares[5][0] - shares[5][1] > 0.3

# %% [markdown]
# The table of fives seems to know the manual. It does: by heart. Shuffled, overlapping blocks do
# the same in disguise: most of the text of a held-out block then stands in a training block as
# well. So `data.python_manual` splits by *document*, and drops every paragraph that it has met
# before.
#
# Two other bugs that make a loss too good to be true wait in [chapter
# 10b](10b_agreement.ipynb#the-answer-in-plain-sight): there the model can read its answers.

# %% [markdown]
# ## Exercises
#
# Ungraded; a solution is folded below each.
#
# **1. Sure, and wrong once.** Model A gives every token of a text the probability 1/2. Model B
# gives nine tokens of ten the probability 0.9 and the tenth 0.001. Which has the lower perplexity?
# What must B give the tenth token to equal A?

# %% tags=["hide-cell"]
# Solution 1
A, B = [1 / 2] * 10, [0.9] * 9 + [0.001]
for name, given in (("A", A), ("B", B)):
    print(f"{name}: perplexity {math.prod(given) ** (-1 / len(given)):.3f}")
print(f"equal if B gives the tenth {0.5**10 / 0.9**9:.5f}")
# On nine tokens of ten B is nearly certain, and right. It loses because of the tenth.

# %% [markdown]
# **2. Top-k.** Give `write` an argument `top_k`: all scores but the k largest become $-\infty$
# before the softmax. Check it: with `top_k=1` five different seeds must write the same text at any
# temperature, without it five different ones.


# %% tags=["hide-cell"]
# Solution 2
@torch.no_grad()
def write_top_k(model, text, n, temperature=1.0, top_k=None, generator=None):
    """As `write`, but only the top_k likeliest tokens can be drawn."""
    ids = torch.tensor(tokenizer.encode(text))
    for _ in range(n):
        scores = model(ids[None, -N:])[0, -1] / temperature
        if top_k is not None:
            least_kept = scores.topk(top_k).values[-1]
            scores = scores.masked_fill(scores < least_kept, -torch.inf)
        drawn = torch.multinomial(scores.softmax(dim=-1), 1, generator=generator)
        ids = torch.cat([ids, drawn])
    return tokenizer.decode(ids.tolist())


for k in (1, None):
    seeds = (torch.Generator().manual_seed(seed) for seed in range(5))
    written = {write_top_k(model, "Return the", 20, 1.5, k, seed) for seed in seeds}
    print(f"top_k={k}: {len(written)} different texts from 5 seeds")

# %% [markdown]
# **3. A table of triples.** Build the model that counts rows of three tokens, with 20 extra counts
# for each pair, shared in the proportions of the bigram model's answer for the last token. Compare
# its perplexity with the Transformer's, on the same blocks, from each block's third token on.

# %% tags=["hide-cell", "nbval-ignore-output"]
# Solution 3
triples, contexts = counts_of(train, 3), counts_of(train, 2)
fallback = bigram.tolist()
total = number = 0
for block in blocks.tolist():
    for a, b, c in zip(block, block[1:], block[2:], strict=False):
        p = (triples[a, b, c] + 20 * fallback[b][c]) / (contexts[a, b] + 20)
        total, number = total - math.log(p), number + 1
print(f"triples:     {math.exp(total / number):.1f}, from {len(triples):,} counts")
size = sum(p.numel() for p in model.parameters())
print(f"Transformer: {perplexity(of_model[:, 1:]):.1f}, from {size:,} parameters")
# The table wins by far: at this size, read once, the network is no match for counting.
# But it soon stops gaining: with the same 20 counts, rows of four and of five are some
# eight per cent better than rows of three, and rows of six no better than those,
# because longer rows seldom come again. A network can use what it has learned of one
# row for another.

# %% [markdown]
# **4. With a running start.** The first tokens of a block are predicted from next to nothing. So
# papers often let the blocks overlap by half and count only the second half of each. Do that for
# the Transformer: how far does the perplexity fall, with the same weights on the same text?

# %% tags=["hide-cell", "nbval-ignore-output"]
# Solution 4
starts = range(0, len(held_out) - N, N // 2)
overlapping = torch.tensor([held_out[i : i + N + 1] for i in starts])
log_p = by_model(model, overlapping)
print(f"blocks side by side: perplexity {perplexity(of_model):.1f}")
print(f"second halves only:  perplexity {perplexity(log_p[:, N // 2 :]):.1f}")
# A careful paper says which of the two it gives.

# %% [markdown]
# ## Summary
#
# 1. A language model gives each next token a probability; the chain rule makes it a probability of
#    any text.
# 2. Perplexity is $e$ to the mean loss, the number of equally likely choices. Compare bits per byte
#    when tokens differ, and always compare with a table of pairs.
# 3. GPT is chapter 5's block under a causal mask; the target is the text shifted by one.
# 4. On a million characters, an hour of training buys two to four hundredths of a nat over a table
#    of seven letters. A larger network that read the plays eighty times got worse again on new
#    text: it overfits.
# 5. Test on text that was not learned from, and see that no earlier score moves when a token is
#    changed.
#
# **Homework 3**, question 8, is about this chapter: [exercises](../exercises/hw3_training_and_generating.ipynb).
#
# **Next:** [chapter 10b](10b_agreement.ipynb) asks whether such a model knows which noun a verb belongs to.
#
# ## References
#
# - Alec Radford, Karthik Narasimhan, Tim Salimans and Ilya Sutskever (2018). *Improving language understanding by
#   generative pre-training.* OpenAI. GPT.
# - Alec Radford et al. (2019). *Language models are unsupervised multitask learners.* OpenAI. GPT-2; table 2.
# - Claude E. Shannon (1951). *Prediction and entropy of printed English.* Bell System Technical Journal 30.
# - Stanley F. Chen and Joshua Goodman (1999). *An empirical study of smoothing techniques for language modeling.*
#   Computer Speech & Language 13. The rules of the 7-grams, Kneser and Ney's modified.
# - Andrej Karpathy (2015). *The unreasonable effectiveness of recurrent neural networks.* The plays; the 1.47 are from
#   the README of his nanoGPT (2022).
# - Stephen Merity, Caiming Xiong, James Bradbury and Richard Socher (2017). *Pointer sentinel mixture models.* ICLR.
#   WikiText-2.
# - Biao Zhang and Rico Sennrich (2019). *Root mean square layer normalization.* NeurIPS.
# - Noam Shazeer (2020). *GLU variants improve Transformer.* arXiv:2002.05202.
# - Jianlin Su et al. (2021). *RoFormer: enhanced Transformer with rotary position embedding.* arXiv:2104.09864.
