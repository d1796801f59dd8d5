# %% [markdown]
# # BERT's body
#
# Two sentences: *She left the light on all night.* And: *She left the light bag at home.* Read the first four words
# of each. What does "light" mean? You cannot know, and neither can any model that reads from left to right: up to
# this word the sentences are the same. What decides stands to the right.
#
# Below are three answers to the question who may look at whom. **Why would a model read a sentence in both
# directions, even at the price of learning on sentences with holes in them?**

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

# %% tags=["hide-input"] mystnb={"image": {"alt": "Three squares of 7 by 7 cells for the words she left the light bag at home. ELMo: the lower triangle blue, the upper one orange. GPT: the lower triangle blue, the upper one empty. BERT: all cells blue. The row of the word light is framed: in GPT it ends at light, in BERT it reaches bag and home."}, "figure": {"caption": "Who may look at whom: one row for each word that looks. ELMo is two readers, one from each side (blue, orange), who meet only at the end. GPT has a causal mask. BERT has none."}}
import matplotlib.pyplot as plt
import torch
from matplotlib.colors import ListedColormap
from matplotlib.patches import Rectangle

from lectures_lib.show import plots

words = ["she", "left", "the", "light", "bag", "at", "home"]
n = len(words)
left, everything = torch.ones(n, n).tril(), torch.ones(n, n)
panels = {"ELMo": left + 2 * (1 - left), "GPT": left, "BERT": everything}

figure, axes = plots.small_multiples(3, columns=3, size=(2.4, 2.6))
for ax, (name, allowed) in zip(axes, panels.items(), strict=True):
    ax.imshow(
        allowed,
        cmap=ListedColormap(["#EEF2F5", plots.BLUE, plots.ORANGE]),
        vmin=0,
        vmax=2,
    )
    ax.set_xticks(range(n), words, rotation=60, ha="right", rotation_mode="anchor")
    ax.set_yticks(range(n), words if name == "ELMo" else [])
    ax.set_xticks([i + 0.5 for i in range(n - 1)], minor=True)
    ax.set_yticks([i + 0.5 for i in range(n - 1)], minor=True)
    ax.grid(which="minor", color="white", linewidth=1)
    ax.tick_params(which="both", length=0)
    frame = Rectangle((-0.5, 2.5), n, 1, fill=False, lw=2, zorder=5, clip_on=False)
    ax.add_patch(frame)
    ax.set_title(name)
plt.show()

# %% [markdown]
# **After this chapter you can**
#
# - say what is pre-trained, what is fine-tuned, and how ELMo, GPT and BERT differ as masks;
# - draw BERT's input for a pair of sentences, and compute its three embeddings and their normalisation by hand;
# - build BERT's body in twenty lines, prove it equal to Hugging Face's, and count its parameters exactly;
# - load real weights into a module of your own, see that *every* key is accounted for, and write them back bit for bit;
# - measure context at work in a word's vector, and say what a bare cosine does not show.
#
# **Time** about 75 minutes. **You need** chapters [4](04_order.ipynb), [5](05_encoder.ipynb) and
# [7](07_subwords.ipynb). Nothing is trained here; that is [chapter 13](13_pretraining.ipynb).

# %%
import tempfile
from dataclasses import replace
from pathlib import Path

import torch.nn.functional as F
from torch import nn
from torch.testing import assert_close
from transformers import BertConfig as TheirConfig
from transformers import BertModel
from transformers.utils import logging

from lectures_lib.blocks.attention import causal_mask, padding_mask
from lectures_lib.blocks.layers import Encoder, TokenEmbedding
from lectures_lib.blocks.positions import LearnedPositions
from lectures_lib.blocks.recording import record
from lectures_lib.models import hugging_face, minilm
from lectures_lib.models.bert import (
    BODY,
    IGNORED,
    BertConfig,
    BertForPreTraining,
    Encoded,
    initialise_as_bert,
)
from lectures_lib.show.viewer import AttentionViewer
from lectures_lib.tokenization import WordPiece

logging.disable_progress_bar()

# %% [markdown]
# ## Learn once, use often
#
# Labelled examples are expensive. The smallest task of the benchmark GLUE that BERT was tried on has 2,500 pairs of
# sentences; its pre-training text, books and Wikipedia, has 3.3 billion words and nobody had to label one. So: learn
# what language is like from the text, once, and then learn the task from the few labels. This is **transfer
# learning**.
#
# In vision it had been the habit for years. A network is trained on a million labelled photographs; for a new task
# one keeps its body, which has learned edges, textures and shapes, and replaces the last layer. For text there were
# four ways, and the difference is what is kept and what is trained again:
#
# | | learned before | for a new task | a word's vector depends on |
# |---|---|---|---|
# | word2vec (2013) | a table of vectors | a new model on top; the table is often left as it is | the word alone |
# | ELMo (2018) | two recurrent readers | a new model on top; the readers are frozen: *features* | the words before, and apart from them those after |
# | GPT (2018) | a Transformer with a causal mask | one new layer; everything is trained further: *fine-tuning* | the words before |
# | BERT (2018) | a Transformer encoder | one new layer; fine-tuning (features work as well) | all words |
#
# How much is new when BERT is fine-tuned to tell two classes apart? One layer from 768 numbers to 2:

# %%
new = 768 * 2 + 2
print(f"new parameters: {new:,}; BERT base brings {109_482_240:,}")
print(f"share of new ones: {new / (new + 109_482_240):.5%}")

# %% [markdown]
# And the holes? Chapter 10's model learned by predicting the next word at every place, which works because the next
# word was hidden from it. A model that looks both ways *sees* the next word; predicting it would teach it to copy.
# BERT therefore hides some words in the input itself and predicts those. How, and what it costs, is chapter 13. This
# chapter is about the model that does it.
#
# Is BERT then "bidirectional" like a bidirectional recurrent network? That one has two directions. Self-attention has
# none: every word looks at all others at once, and only the position vectors tell it where they stand.
# "Non-directional" would be the better word, as one of the [lectures](../book/references.md) remarks. ELMo's
# left-hand reader never sees what the right-hand one sees; in BERT, words from both sides meet in every layer.
#
# ## What goes in
#
# BERT reads one text or two. Two, because many tasks are about pairs: does this sentence follow from that one, does
# this paragraph answer that question? A pair goes in as a single row of tokens,
#
# $$\texttt{[CLS]}\;\; A\;\; \texttt{[SEP]}\;\; B\;\; \texttt{[SEP]},$$
#
# so that words of $A$ can look at words of $B$ from the first layer on. `[SEP]` ends each sentence. `[CLS]`, for
# "classification", stands for no word; its vector is meant for what is to be said about the whole. (On slides one
# also meets `<bos>` and `<sep>`; in BERT's vocabulary the two are called `[CLS]` and `[SEP]`.)
#
# Chapter 7 built the tokenizer. Here it is with the vocabulary that was published with BERT, which MiniLM uses too.

# %%
wordpiece = WordPiece.load(minilm.checkpoint() / "vocab.txt")
pair = wordpiece.pair("My dog is cute", "He likes playing")
for name in ("tokens", "ids", "segments"):
    print(f"{name:9}", getattr(pair, name))
print(wordpiece.tokenize("Penguins are flightless birds").tokens)

# %% [markdown]
# The first pair is that of figure 2 in the paper, where the last word is cut into `play` and `##ing`. In the
# published vocabulary of 30,522 pieces (the paper says 30,000) "playing" is frequent enough to be whole. `flight` and
# `##less` are cut as the paper and the lectures have it.
#
# Each token has three numbers, and each number picks a vector from a table.


# %% tags=["hide-input"] mystnb={"image": {"alt": "Ten columns for the tokens [CLS], my, dog, is, cute, [SEP], he, likes, playing, [SEP]. Under each token three boxes joined by plus signs: its id in the vocabulary, from 101 for [CLS] to 102 for [SEP]; its position, 0 to 9; its segment, 0 for the first six and 1 for the last four."}, "figure": {"caption": "BERT's input. Every box stands for a vector from a learned table: 30,522 tokens, 512 positions, 2 segments. The three vectors of a column are added."}}
def draw_input(pair):
    """A column for each token: its id, its position and its segment."""
    _, ax = plt.subplots(figsize=(7.4, 2.7))
    rows = {
        "token": (pair.ids, [plots.BLUE] * len(pair.ids)),
        "position": (range(len(pair.ids)), [plots.GREY] * len(pair.ids)),
        "segment": (
            pair.segments,
            [(plots.GREEN, plots.RED)[segment] for segment in pair.segments],
        ),
    }
    for y, (name, (numbers, colours)) in enumerate(rows.items()):
        ax.text(-0.7, -y, name, ha="right", va="center")
        for x, (number, colour) in enumerate(zip(numbers, colours, strict=True)):
            ax.add_patch(Rectangle((x - 0.44, -y - 0.3), 0.88, 0.6, facecolor=colour))
            ax.text(x, -y, str(number), ha="center", va="center", color="white")
            if y:
                ax.text(x, 0.5 - y, "+", ha="center", va="center")
    for x, token in enumerate(pair.tokens):
        ax.text(x, 0.65, token, ha="center", va="center", weight="bold")
    ax.set(xlim=(-2.4, len(pair.ids) - 0.4), ylim=(-2.4, 1.0))
    ax.set_axis_off()


draw_input(pair)
plt.show()

# %% [markdown]
# By hand, with vectors of four numbers. Say that "dog" has the token vector (2, 1, 4, 5), position 2 the vector
# (−1, 1, 0, 2), and segment 0 the vector (0, 1, 1, 0). Their sum is (1, 3, 5, 7), and chapter 5 has normalised just
# this one: (−1.34, −0.45, 0.45, 1.34).

# %%
token = torch.tensor([2.0, 1.0, 4.0, 5.0])
position = torch.tensor([-1.0, 1.0, 0.0, 2.0])
segment = torch.tensor([0.0, 1.0, 1.0, 0.0])
x = token + position + segment
print(x.tolist(), "→", [f"{number:.2f}" for number in F.layer_norm(x, (4,))])

# %% [markdown]
# All three tables are **learned**. The positions are not the sinusoids of the Transformer paper (chapter 4 compared
# the two). And the segments? "A vector of 0's for $A$ and a vector of 1's for $B$", says a slide; 0 and 1 are the
# *ids*, the rows of the table. With such vectors the segments would do nothing at all: adding the same number
# to all components moves their mean by it, and LayerNorm takes the mean away again.

# %%
zeros, ones = torch.zeros(4), torch.ones(4)
first = F.layer_norm(token + position + zeros, (4,), eps=1e-12)
second = F.layer_norm(token + position + ones, (4,), eps=1e-12)
assert_close(first, second)
print("a word of A and the same word of B would go in with the same vector")

# %% [markdown]
# "A token embedding with a vocabulary of 2" is how another of the lectures puts it, and that is exact.
#
# ## The body
#
# What remains is the encoder of chapter 5, in the post-norm order, with GELU in the feed-forward layers. And a small
# thing at the end, the **pooler**: `[CLS]`'s last vector goes through one more layer and a tanh, which brings its
# numbers between −1 and 1. The paper does not speak of it, and drawings leave it out; the authors' code has it,
# published weights contain it, and the classifiers of the paper stand on it. The three embeddings are a module of their
# own. All of it, as the library holds it too:


# %%
class BertEmbeddings(nn.Module):
    """LayerNorm(token vector + position vector + segment vector); all are learned."""

    def __init__(self, config):
        super().__init__()
        self.tokens = TokenEmbedding(config.vocab_size, config.d_model)
        self.positions = LearnedPositions(config.d_model, config.max_len)
        self.segments = nn.Parameter(torch.empty(config.n_segments, config.d_model))
        self.norm = nn.LayerNorm(config.d_model, config.eps)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, tokens, segments=None):
        """Two tables of ids (batch, n) → (batch, n, d_model)"""
        segments = torch.zeros_like(tokens) if segments is None else segments
        return self.dropout(
            self.norm(self.positions(self.tokens(tokens) + self.segments[segments]))
        )


# %%
class Bert(nn.Module):
    """The body: embeddings, an encoder in the post-norm order, and the pooler."""

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embeddings = BertEmbeddings(config)
        self.encoder = Encoder(
            config.n_layers,
            config.d_model,
            config.n_heads,
            config.d_ff,
            dropout=config.dropout,
            attention_dropout=(
                config.dropout
                if config.attention_dropout is None
                else config.attention_dropout
            ),
            activation=config.activation,
            eps=config.eps,
        )
        self.pooler = nn.Linear(config.d_model, config.d_model)
        initialise_as_bert(self, config.init_std)

    def forward(self, tokens, segments=None, lengths=None):
        """Ids (batch, n) → hidden (batch, n, d_model) and pooled (batch, d_model)"""
        mask = None if lengths is None else padding_mask(lengths, tokens.shape[1])
        x = self.encoder(self.embeddings(tokens, segments), mask)
        return Encoded(x, self.pooler(x[:, 0]).tanh())


# %% [markdown]
# No mask hides the future: it reads both ways. Does it compute what Hugging Face's `BertModel` does? Two small models
# with the same random weights will tell; the names are translated by a table, `BODY`, which we shall look at below.

# %%
torch.manual_seed(0)
theirs = BertModel(
    TheirConfig(
        vocab_size=50,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=12,
    )
).eval()
with torch.no_grad():
    for parameter in theirs.parameters():  # no bias 0, no LayerNorm weight 1
        parameter.add_(0.2 * torch.randn_like(parameter))
ours = Bert(BertConfig(50, 16, 2, 4, 64, max_len=12)).eval()
ours.load_state_dict(hugging_face.rename(theirs.state_dict(), BODY, IGNORED))

tokens = torch.randint(0, 50, (3, 9))
segments = torch.tensor([[0] * 5 + [1] * 4, [0] * 9, [0] * 2 + [1] * 7])
lengths = torch.tensor([9, 7, 5])
real = torch.arange(9) < lengths[:, None]  # (3, 9): True where there is a token
with torch.no_grad():
    encoded = ours(tokens, segments, lengths)
    expected = theirs(tokens, token_type_ids=segments, attention_mask=real.long())
assert (encoded.hidden - expected.last_hidden_state)[real].abs().max() < 1e-5
assert (encoded.pooled - expected.pooler_output).abs().max() < 1e-5
print("our BERT and Hugging Face: largest difference < 1e-5")

# %% [markdown]
# ## Counting
#
# The paper gives 110 million parameters for the base model and 340 million for the large one. By hand for base,
# $d = 768$ and $d_{\text{ff}} = 3072$:
#
# - the tables: $(30{,}522 + 512 + 2) \cdot d$, and a LayerNorm of $2d$: 23,837,184;
# - a block: four projections with biases $4(d^2 + d)$, the feed-forward layer $2\,d\,d_{\text{ff}} + d_{\text{ff}} +
#   d$, two LayerNorms $4d$: 7,087,872, and twelve times that 85,054,464;
# - the pooler $d^2 + d$: 590,592.


# %%
def count(vocab, d, n_layers, d_ff):
    """Parameters of the parts of a BERT."""
    block = 4 * (d * d + d) + (2 * d * d_ff + d_ff + d) + 4 * d
    return {
        "tokens": vocab * d,
        "positions, segments, norm": (512 + 2 + 2) * d,
        "blocks": n_layers * block,
        "pooler": d * d + d,
    }


configs = {
    "base": BertConfig.BASE,
    "large": BertConfig.LARGE,
    "MiniLM": BertConfig.MINILM,
}
counts = {}
for name, c in configs.items():
    counts[name] = count(c.vocab_size, c.d_model, c.n_layers, c.d_ff)
    with torch.device("meta"):  # shapes without memory
        model = Bert(c)
    total = sum(p.numel() for p in model.parameters())
    assert total == sum(counts[name].values())
    share = counts[name]["tokens"] / total
    print(f"{name:6} {total:11,}   token vectors {share:.1%}")

# %% tags=["hide-input"] mystnb={"image": {"alt": "Three bars, each 100 percent, cut into tokens, other embeddings, blocks and pooler. Base: 21 percent tokens, 78 blocks. Large: 9 percent tokens, 90 blocks. MiniLM: 52 percent tokens, 47 blocks. The pooler is below one percent."}, "figure": {"caption": "Where the parameters are. The smaller the model, the more of it is vocabulary."}}
colours = [plots.BLUE, plots.GREY, plots.ORANGE, plots.RED]
figure, ax = plt.subplots(figsize=(6.4, 2.3))
for name, parts in counts.items():
    start, total = 0.0, sum(parts.values())
    for (part, parameters), colour in zip(parts.items(), colours, strict=True):
        ax.barh(name, parameters / total, left=start, color=colour, label=part)
        if parameters / total > 0.05:
            middle = start + parameters / total / 2
            text = f"{parameters / total:.0%}"
            ink = "black" if colour == plots.ORANGE else "white"
            ax.text(middle, name, text, ha="center", va="center", color=ink)
        start += parameters / total
handles, labels = ax.get_legend_handles_labels()
figure.legend(handles[:4], labels[:4], ncols=4, loc="outside lower center", fontsize=9)
ax.invert_yaxis()
ax.set(xlim=(0, 1), xticks=[])
plt.show()

# %% [markdown]
# 109,482,240 is "110 million" and 335,141,888 is "340 million": both are rounded to two digits. With the 30,000
# tokens of the paper's text, large would have 334,607,360 parameters, and that rounds to 330. So the published number
# fits the published vocabulary, or includes the pre-training heads, which add about a million to the large model.
#
# | | blocks | width $d_{\text{model}}$ | heads | hidden $d_{\text{ff}}$ | parameters |
# |---|---|---|---|---|---|
# | base | 12 | 768 | 12 | 3072 | 109,482,240 |
# | large | 24 | 1024 | 16 | 4096 | 335,141,888 |
#
# One of the lectures has a table with a column "$d_{\text{feed forward and embeddings}}$: 768, 1024" and says below
# it that $d_{\text{ff}}$ is the *output* dimension of the feed-forward layer. That output is 768 numbers wide, so
# nothing in the table is false; but elsewhere $d_{\text{ff}}$ is the *hidden* width, $4\,d_{\text{model}}$. Whoever
# builds the table with the usual meaning gets another model:

# %%
narrow = sum(count(30_522, 768, 12, d_ff=768).values())
print(f"base with a hidden width of 768: {narrow:,} parameters, not 110 million")

# %% tags=["remove-cell"]
assert sum(counts["base"].values()) == 109_482_240
assert sum(counts["large"].values()) == 335_141_888
assert sum(count(30_000, 1024, 24, 4096).values()) == 334_607_360
with torch.device("meta"):
    heads = sum(p.numel() for p in BertForPreTraining(BertConfig.LARGE).parameters())
assert 1_000_000 < heads - 335_141_888 < 1_200_000

# %% [markdown]
# ## Real weights
#
# MiniLM is a BERT of six layers. Twelve were taught to imitate a larger model (Wang et al., 2020), every second of
# them was kept, and the six were trained further to put texts that belong together near each other. The file holds
# 104 tensors under Hugging Face's names. This is how they become ours; `{i}` is the layer, `{kind}` is `weight` or
# `bias`.

# %%
state = minilm.load()
used = 0
for name, ours_name in BODY.items():
    others = [*IGNORED, *(other for other in BODY if other != name)]
    found = hugging_face.rename(state, {name: ours_name}, others)
    used += len(found)
    print(f"{len(found):2} × {name}\n     → {ours_name}")
print(f"{used} of {len(state)} used; the other, {IGNORED[0]}, holds 0, 1, 2, …")

# %% [markdown]
# Every tensor but one has a place, and every parameter of ours must be given one. Both are checked, because both
# kinds of forgetting are silent otherwise. Take one key away:

# %%
renamed = hugging_face.rename(state, BODY, IGNORED)
minilm_model = Bert(BertConfig.MINILM).eval()
hugging_face.load_into(minilm_model, renamed)

del renamed["pooler.weight"]
try:
    hugging_face.load_into(Bert(BertConfig.MINILM), renamed)
except ValueError as error:
    print("ValueError:", error)

# %% [markdown]
# The library's class has two methods more, `from_pretrained(folder)`, which reads the sizes from the checkpoint's
# `config.json` as well, and `save_pretrained(folder)`. Do the seven hidden states (the embeddings, and what each of the six layers gives) equal those of Hugging Face? In
# single precision, and in double, where a *mistake* would stay as large as it is while rounding shrinks by a billion:


# %%
def hidden_states(model, tokens, segments=None, lengths=None):
    """The 7 hidden states (7, batch, n, d_model) and the weights (6, batch, heads, n, n)."""
    with torch.no_grad(), record(model) as seen:
        model(tokens, segments, lengths)
    hidden = [seen["embeddings"], *seen.all("encoder.blocks.*")]
    weights = seen.all("encoder.blocks.*.self_attention.weights")
    return torch.stack(hidden), torch.stack(weights)


folder = minilm.checkpoint()
tokens, segments = torch.tensor([pair.ids]), torch.tensor([pair.segments])
for dtype, bound in ((torch.float32, 1e-5), (torch.float64, 1e-12)):
    ours = lectures_lib.models.bert.Bert.from_pretrained(folder).to(dtype)
    theirs = BertModel.from_pretrained(folder, attn_implementation="eager").to(dtype)
    with torch.no_grad():
        seen = theirs.eval()(tokens, token_type_ids=segments, output_hidden_states=True)
    hidden, _ = hidden_states(ours, tokens, segments)
    error = (hidden - torch.stack(seen.hidden_states)).abs().amax(dim=(1, 2, 3))
    assert len(error) == 7 and error.max() < bound
    print(f"{dtype}: 7 hidden states, largest difference < {bound:.0e}")

# %% [markdown]
# And back: what our module saves, `transformers` loads, saves again, and we load. Not one bit may differ.

# %%
with tempfile.TemporaryDirectory() as temporary:
    here, there = Path(temporary, "ours"), Path(temporary, "theirs")
    lectures_lib.models.bert.Bert.save_pretrained(minilm_model, here)
    BertModel.from_pretrained(here).save_pretrained(there)
    back = lectures_lib.models.bert.Bert.from_pretrained(there).state_dict()
kept = [
    torch.equal(weight, back[name])
    for name, weight in minilm_model.state_dict().items()
]
assert len(kept) == len(back) and all(kept)
print(f"{sum(kept)} of {len(kept)} tensors equal, bit for bit")

# %% [markdown]
# ## Who looks at whom
#
# The pair about the dog, in all 72 heads. Choose a head and a word; two of the heads have names.

# %%
hidden, weights = hidden_states(minilm_model, tokens, segments)
weights = weights[:, 0]  # (layers, heads, n, n)
AttentionViewer(
    pair.tokens,
    weights,
    title="MiniLM reads a pair",
    layer=5,
    head=11,
    names={(5, 11): "he → dog", (4, 5): "rests on [CLS]"},
    token="he",
)

# %% tags=["remove-cell"]
he, dog = pair.tokens.index("he"), pair.tokens.index("dog")
assert weights[5, 11, he, dog] > 0.7 and weights[4, 5, 1:-1, 0].mean() > 0.7
assert weights[:, :, he, dog].flatten().argmax() == 5 * 12 + 11

# %% [markdown]
# In layer 5, head 11 gives four fifths of the attention of "he" to "dog", a word of the *other* sentence. No step of
# the program links the two sentences; they share a row, and that is enough. (One head, one pair. Chapter 16 tests
# such findings on many sentences.)
#
# `[CLS]` and `[SEP]` mean nothing by themselves, and yet much attention goes there. Clark and others (2019) found
# that in BERT base it is `[SEP]` that attracts most of it in the middle layers, 6 to 10. How is it here?

# %% mystnb={"image": {"alt": "Two bars for each of six layers. Share to [CLS]: about a quarter in layer 0, around 0.6 in layers 1 to 4 with a dip to 0.5 in layer 3, 0.44 in layer 5. Share to both [SEP] together: about 0.2 in layer 0, below 0.1 from layer 1 on."}, "figure": {"caption": "Where the attention of the seven words goes, mean over words and heads. MiniLM rests on [CLS]."}}
inner = [i for i, token in enumerate(pair.tokens) if not token.startswith("[")]
sep = [i for i, token in enumerate(pair.tokens) if token == "[SEP]"]
to_cls = weights[:, :, inner, 0].mean(dim=(1, 2))
to_sep = weights[:, :, inner][..., sep].sum(dim=-1).mean(dim=(1, 2))

figure, ax = plt.subplots(figsize=(6, 2.7))
layers = torch.arange(6)
ax.bar(layers - 0.2, to_cls, width=0.38, color=plots.BLUE, label="to [CLS]")
ax.bar(layers + 0.2, to_sep, width=0.38, color=plots.ORANGE, label="to both [SEP]")
ax.set(xlabel="layer", ylabel="share of attention", ylim=(0, 1))
ax.legend()
plt.show()

# %% tags=["remove-cell"]
assert to_cls[1:].min() > 0.4 and to_sep[1:].max() < 0.1

# %% [markdown]
# The other way round. A head with nothing to do has to put its weight somewhere, so the guess, and which of the
# marks becomes the resting place was settled when the weights were learned. It is a fact about a checkpoint, not
# about the architecture.
#
# ## A word in its context
#
# One of the lectures shows why a table of word vectors is not enough: *Please turn on the **light**. The feather is
# very **light**.* How different are the two vectors? We must be careful here. A vector that enters the first layer
# already depends on the *position*, so two "light" at different places differ before any context has been read:


# %%
def vectors(text, word):
    """The word's vector in each of MiniLM's 7 hidden states, length 1, and its place."""
    encoding = wordpiece.pair(text)
    place = encoding.tokens.index(word)
    hidden, _ = hidden_states(minilm_model, torch.tensor([encoding.ids]))
    return F.normalize(hidden[:, 0, place], dim=-1), place


near, far = "The light was on.", "In the end nobody knew who had left the light on."
(a, i), (b, j) = vectors(near, "light"), vectors(far, "light")
print(f"places {i} and {j}, the same sense, before layer 0: cosine {a[0] @ b[0]:.2f}")

two_of_each = [
    "Please turn on the light",
    "Nobody switched on the light",
    "The feather is very light",
    "This bag is so light",
]
found = [vectors(text, "light") for text in two_of_each]
assert all(place == 5 for _, place in found)
lamp, lamp_2, weight, weight_2 = (vector for vector, _ in found)
print("place 5 everywhere; cosines before layer 0, after layer 2, after layer 5:")
compared = {
    "lamp, lamp": lamp @ lamp_2.T,
    "lamp, weight": lamp @ weight.T,
    "weight, weight": weight @ weight_2.T,
}
for name, cosine in compared.items():
    print(f"  {name:14}", [f"{cosine[layer, layer]:.2f}" for layer in (0, 3, 6)])

# %% [markdown]
# At equal places the vectors start out equal, and the layers part them: the two senses end at 0.59, two of the same
# sense at 0.95 and 0.84. Without the last two numbers the first would say little. (In the picture below, different
# senses still have a mean cosine of 0.90 after layer 4.) The question is always: *compared with what?*
#
# Still, in these sentences the deciding words stand to the left. The case for reading both ways is the one from the
# beginning: six openings, each continued in two ways. "Light" is always at place 4, and what precedes it is the same.

# %%
lights = {
    "She left the light": ("on all night.", "bag at home."),
    "We saw the light": ("at the end of the tunnel.", "tent and the heavy one."),
    "He wanted the light": ("out before ten.", "suitcase for the trip."),
    "They put the light": ("out and slept.", "boxes on top."),
    "I like the light": ("of a candle.", "version of the phone."),
    "You need the light": ("of the sun to read.", "coat in May."),
}
texts = [f"{opening} {end}" for opening, ends in lights.items() for end in ends]
found = [vectors(text, "light") for text in texts]
assert all(place == 4 for _, place in found)
V = torch.stack([vector for vector, _ in found]).transpose(0, 1)  # (7, 12, d_model)
cosine = V @ V.transpose(1, 2)  # (7, 12, 12)

sense, opening = torch.arange(12) % 2, torch.arange(12) // 2
other_opening = opening[:, None] != opening
alike = (sense[:, None] == sense) & other_opening
differ = (sense[:, None] != sense) & other_opening

# %% mystnb={"image": {"alt": "Two lines over the layers from input to after 5. Both start at 1. Same sense falls to 0.92 in the middle and 0.84 at the end. Other sense runs with it up to after layer 0, then below it by about 0.05, and ends at 0.79."}, "figure": {"caption": "Mean cosine between the vectors of light in sentences with different openings: of the same sense, and of different senses."}}
names = ["input", *(f"after {i}" for i in range(6))]
figure, ax = plt.subplots(figsize=(6.4, 3.0))
for label, which, marker in (("same sense", alike, "o"), ("other sense", differ, "s")):
    line = cosine[:, which].mean(dim=1)
    ax.plot(range(7), line, marker=marker, label=label)
ax.set_xticks(range(7), names)
ax.set(ylabel="mean cosine", ylim=(0.75, 1.01))
ax.legend()
plt.show()

# %%
neighbours = cosine.masked_fill(~other_opening, -1).argmax(dim=-1)  # (7, 12)
right = (sense[neighbours] == sense).sum(dim=1).tolist()
for name, of_12 in list(zip(names, right, strict=True))[2:]:
    print(f"{name}: nearest neighbour of the same sense, {of_12} of 12")

# %% tags=["remove-cell"]
gap = cosine[:, alike].mean(dim=1) - cosine[:, differ].mean(dim=1)
assert (
    gap[0].abs() < 1e-4 and gap[1] < 0.01 and 0.03 < gap[2:].min() and gap.max() < 0.06
)
assert right[2:] == [12] * 5

# %% [markdown]
# The first layer, layer 0, leaves the senses where they were. After layer 1 the nearest neighbour of every "light",
# among the sentences with another opening, has the same sense, and so it stays. The gap between the lines is small,
# 0.03 to 0.06, but every neighbour falls on the right side of it.
#
# Is it the sense that decides? In these sentences the lamp is always a noun by itself, and the weight always stands
# before one. Put a lamp before a noun:

# %%
before_nouns = [
    "She left the light switch alone.",
    "We saw the light bulb there.",
    "He wanted the light switch fixed.",
    "They put the light bulb in.",
    "I like the light show.",
    "You need the light beam.",
]
found = [vectors(text, "light") for text in before_nouns]
assert all(place == 4 for _, place in found)
lamps = torch.stack([vector for vector, _ in found]).transpose(0, 1)  # (7, 6, d_model)
same_opening = torch.arange(6)[:, None] == opening
nearest = (lamps @ V.transpose(1, 2)).masked_fill(same_opening, -1).argmax(dim=-1)
for name, is_weight in list(zip(names, sense[nearest], strict=True))[2:]:
    print(f"{name}: nearest neighbour a weight, {is_weight.sum()} of 6")

# %% [markdown]
# Context it is, but up to layer 4 grammar has more of a say than sense. Eighteen sentences are an illustration;
# chapter 15 does this with more words, and against static vectors.
#
# And a model that reads from left to right? It needs no training to know. Give MiniLM's own layers a causal mask:

# %%
for opening, ends in lights.items():
    light = []
    for end in ends:
        x = torch.tensor([wordpiece.pair(f"{opening} {end}").ids])
        with torch.no_grad():
            x = minilm_model.embeddings(x)
            light.append(minilm_model.encoder(x, causal_mask(x.shape[1]))[0, 4])
    assert (light[0] - light[1]).abs().max() < 1e-5
print("under a causal mask, both senses of light: largest difference < 1e-5")

# %% [markdown]
# Whatever the weights: what stands to the right cannot reach it. GPT has to resolve the word later, in the vectors of
# "on" or "bag". For generating that is no loss. For *labelling each word* of a given text it is.
#
# ## Sizes
#
# Each position has a vector of its own, and there are 512. Beyond that there is nothing to add:

# %%
try:
    minilm_model(torch.full((1, 513), 2003))
except ValueError as error:
    print("ValueError:", error)

weights_bytes = 4 * 109_482_240  # single precision
attention_bytes = 4 * 12 * 12 * 512 * 512  # layers × heads × n × n
print(f"BERT base: weights {weights_bytes / 1e6:.0f} MB;", end=" ")
print(
    f"all attention weights of one text of 512 tokens: {attention_bytes / 1e6:.0f} MB"
)

# %% [markdown]
# Longer texts must be cut, or read in pieces. (A slide holds that generally batch < $d_{\text{model}}$ < length. For
# BERT base it cannot be: 768 is more than 512. And the second number is what explicit attention would store; the
# fused kernel of chapter 2 does not.)
#
# And what is *not* in this checkpoint? BERT was trained to fill in hidden words, and that needs a head on top of the
# body. MiniLM's file has none:

# %%
try:
    BertForPreTraining.from_pretrained(folder)
except ValueError as error:
    print("ValueError:", error)

# %% [markdown]
# One could fill the gap with random numbers and print a warning; `[MASK]` would then be answered with noise. The
# heads come in chapter 13, where we train them.
#
# The same with the original: set the switch to `True`. It needs a network once, for 440 MB.

# %%
BERT_BASE = False  # True: the weights that were published with the paper

if BERT_BASE:
    full = BertForPreTraining.from_pretrained("bert-base-uncased")
    asked = wordpiece.pair("The capital of France is [MASK].")
    scores = full(torch.tensor([asked.ids])).words[0, asked.tokens.index("[MASK]")]
    print([wordpiece.vocabulary.tokens[i] for i in scores.topk(5).indices])
else:
    print("not run here")

# %% [markdown]
# ## What goes wrong
#
# None of the following raises an error in a program that does not look for it.
#
# ### Padding without a mask
#
# In a batch, short texts are filled up with `[PAD]`. If nobody says so, the words attend to the filling.

# %%
tokens = torch.tensor([pair.ids])
n = len(pair.ids)
padded = F.pad(tokens, (0, 10))
with torch.no_grad():
    alone = minilm_model(tokens, segments).hidden
    segments_padded = F.pad(segments, (0, 10))
    masked = minilm_model(padded, segments_padded, torch.tensor([n])).hidden[:, :n]
    bare = minilm_model(padded, segments_padded).hidden[:, :n]
assert (masked - alone).abs().max() < 1e-5
lowest = F.cosine_similarity(bare, alone, dim=-1).min()
print("with lengths: largest difference < 1e-5")
print(f"without: lowest cosine to the right vector {lowest:.2f}")

# %% [markdown]
# The worst of it is that results then depend on which *other* texts share the batch.
#
# ### The wrong ε
#
# PyTorch's LayerNorm adds $10^{-5}$ to the variance, BERT's $10^{-12}$. Who would mind? The sums of three small
# embeddings:

# %%
embeddings = minilm_model.embeddings
other_eps = Bert(replace(BertConfig.MINILM, eps=1e-5)).eval()
other_eps.load_state_dict(minilm_model.state_dict())
with torch.no_grad():
    place = torch.arange(n)
    total = embeddings.tokens.weight[tokens] + embeddings.positions.positions[place]
    variance = (total + embeddings.segments[segments]).var(dim=-1, correction=0)
    right_states, _ = hidden_states(minilm_model, tokens, segments)
    wrong_states, _ = hidden_states(other_eps, tokens, segments)
error = (wrong_states - right_states).abs().amax(dim=(1, 2, 3))
print(f"smallest variance before the first LayerNorm: {variance.min():.4f}")
assert 1e-3 < error[0] < 5e-2 and 1e-4 < error[-1] < 1e-2
print("largest error in the input > 1e-3, in the last layer > 1e-4")

# %% [markdown]
# Small, but at least ten times what a comparison with the reference should allow. A bound wide enough for it would
# let real mistakes pass as well. An error of the same kind comes from GELU: the authors' code now computes it by its
# tanh approximation, Hugging Face's checkpoints by the exact formula.
#
# ### Loading with `strict=False`
#
# `load_state_dict(state, strict=False)` takes what fits and keeps quiet about the rest. Here is Hugging Face's file,
# with Hugging Face's names, poured into our module:

# %%
untouched = Bert(BertConfig.MINILM)
before = untouched.pooler.weight.clone()
result = untouched.load_state_dict(state, strict=False)
assert torch.equal(untouched.pooler.weight, before)
print(len(result.missing_keys), "missing,", len(result.unexpected_keys), "unexpected")

# %% [markdown]
# Nothing was loaded at all, and the model runs. At least print what the call returns.
#
# ### Capital letters
#
# The vocabulary is "uncased": it has no capitals. A tokenizer that does not write the text small first finds no word
# that has one.

# %%
cased = WordPiece.from_vocab_txt(folder / "vocab.txt", lowercase=False)
for tokenizer in (wordpiece, cased):
    print(tokenizer.tokenize("Paris is the capital of France.").tokens)

# %% [markdown]
# ### Segments or special tokens forgotten
#
# How much do they matter? Let us leave out first the one, then the other.

# %%
with torch.no_grad():
    no_segments = minilm_model(tokens).hidden
assert F.cosine_similarity(no_segments, alone, dim=-1).min() > 0.99
print("all segments 0: every cosine to the right vector > 0.99")

closer_to_cls = {"0, as they come": 0, "1, as before": 0}
for text in texts:  # the twelve sentences about light
    ids = torch.tensor([wordpiece.pair(text).ids])
    with torch.no_grad():
        right = minilm_model(ids).hidden[0]
        counted_anew = minilm_model.embeddings(ids[:, 1:-1])  # no [CLS], no [SEP]
        as_before = minilm_model.embeddings(ids)[:, 1:-1]
        for start, x in zip(closer_to_cls, (counted_anew, as_before), strict=True):
            bare = minilm_model.encoder(x)[0]
            to_cls, to_itself = F.cosine_similarity(bare[0], right[:2], dim=-1)
            closer_to_cls[start] += (to_cls > 0.8 and to_itself < 0.5).item()
            assert to_itself < 0.8
print("no [CLS], no [SEP]: the first word's vector is [CLS]'s, not its own:")
for start, of_12 in closer_to_cls.items():
    print(f"  positions from {start}: {of_12} of 12")

# %% [markdown]
# In this pair the segments hardly matter *to this checkpoint*, perhaps because its last training was on single
# sentences, always segment 0, and `[SEP]` shows the border as well. For a BERT fine-tuned on pairs one should not
# count on it. The special tokens matter a great deal, and in an unexpected way: whatever word comes to position 0
# (here six pronouns), where only `[CLS]` ever stood, takes over its part, and its own vector is lost (cosine with
# `[CLS]` above 0.8, with what it should be below 0.5). At its old position it is not lost like that, but off all the
# same (below 0.8). A classifier that takes the first vector gets something that looks right.
#
# ## Summary
#
# 1. Pre-train once on text that nobody labelled, fine-tune often: the new part is one layer, a few thousand numbers.
# 2. BERT has no causal mask. What a word means may be decided to its right, and there a left-to-right model cannot
#    look.
# 3. The input is `[CLS]` A `[SEP]` B `[SEP]`; three learned vectors are added for each token and normalised.
# 4. The body is chapter 5's encoder and a pooler: 109,482,240 parameters (base), 335,141,888 (large).
# 5. Real weights are a table of names away, if every key is accounted for and hidden states are compared with a tight
#    bound.
#
# **Homework 5**, questions 1 to 3, is about this chapter: [exercises](../exercises/hw5_bert.ipynb).
#
# **Next:** [chapter 13](13_pretraining.ipynb) pre-trains a small BERT on sentences with holes in them.
#
# ## References
#
# - Jacob Devlin, Ming-Wei Chang, Kenton Lee and Kristina Toutanova (2019). *BERT: pre-training of deep bidirectional
#   Transformers for language understanding.* NAACL. Section 3, figures 2 and 3. The authors' code is
#   [google-research/bert](https://github.com/google-research/bert).
# - Matthew E. Peters et al. (2018). *Deep contextualized word representations.* NAACL. ELMo.
# - Alec Radford, Karthik Narasimhan, Tim Salimans and Ilya Sutskever (2018). *Improving language understanding by
#   generative pre-training.* OpenAI. GPT.
# - Tomas Mikolov et al. (2013). *Distributed representations of words and phrases and their compositionality.*
#   NeurIPS.
# - Alex Wang et al. (2019). *GLUE: a multi-task benchmark and analysis platform for natural language understanding.*
#   ICLR.
# - Wenhui Wang et al. (2020). *MiniLM: deep self-attention distillation for task-agnostic compression of pre-trained
#   Transformers.* NeurIPS.
# - Nils Reimers and Iryna Gurevych (2019). *Sentence-BERT: sentence embeddings using Siamese BERT-networks.* EMNLP.
# - Kevin Clark, Urvashi Khandelwal, Omer Levy and Christopher D. Manning (2019). *What does BERT look at? An analysis
#   of BERT's attention.* BlackboxNLP.
