# %% [markdown]
# # BERT's body
#
# Two sentences: *She left the light on all night.* And: *She left the light bag at home.* Read only the first four
# words of each. What does "light" mean? You cannot know, and no model that reads from left to right can.
#
# The picture shows, for three models, which words a word may look at. **Why would a model read a sentence in both
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

# %% tags=["remove-input"]
from lectures_lib.show.drawings import draw

draw("who_sees_whom")

# %% [markdown]
# **After this chapter you can**
#
# - say what is pre-trained, what is fine-tuned, and which words ELMo, GPT and BERT let a word look at;
# - draw BERT's input for a pair of sentences, and compute its embeddings by hand;
# - build BERT's body, and count its parameters exactly;
# - load real weights, and be sure that no tensor was left out;
# - measure what context does to a word's vector.
#
# **Time** about 75 minutes. **You need** chapters [4](04_order.ipynb), [5](05_encoder.ipynb) and
# [7b](07b_wordpiece.ipynb). Nothing is trained here; that is [chapter 13](13_pretraining.ipynb).

# %% tags=["hide-input"]
import re
from dataclasses import replace

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import BertConfig as TheirConfig
from transformers import BertModel
from transformers.utils import logging

from lectures_lib.blocks.attention import causal_mask, padding_mask
from lectures_lib.blocks.layers import Encoder
from lectures_lib.blocks.recording import record
from lectures_lib.models import hugging_face, minilm
from lectures_lib.models.bert import (
    BertConfig,
    BertForPreTraining,
    Encoded,
    initialise_as_bert,
)
from lectures_lib.models.bert.checkpoint import BODY, IGNORED
from lectures_lib.show import plots
from lectures_lib.show.viewer import AttentionViewer
from lectures_lib.tokenization import WordPiece

logging.disable_progress_bar()

# %% [markdown]
# ## Learn once, use often
#
# Labelled examples are expensive. GLUE is a collection of nine tasks (chapter 14); the smallest that BERT was tested on
# has 2,500 labelled pairs of sentences. Plain text is not: before it saw any task, BERT had read 3.3 billion words of
# books and Wikipedia, and nobody had to label one. So let a model learn from plain text what language is like, once, and then each task from its few labels. This
# is **transfer learning**. Four models do it in different ways:
#
# | | learned before | for a new task | a word's vector depends on |
# |---|---|---|---|
# | word2vec (2013) | a table of vectors | a new model on top | the word alone |
# | ELMo (2018) | two recurrent readers | a new model on top; the readers are frozen: *features* | the words before and those after, read separately |
# | GPT (2018) | a Transformer with a causal mask | one new layer; everything is trained further: *fine-tuning* | the words before |
# | BERT (2018) | a Transformer encoder | one new layer; fine-tuning (features work as well) | all words |
#
# <details><summary>Where the idea comes from</summary>
#
# In vision this had been common practice for years. A network is trained on a million labelled photographs; for a new
# task one keeps all but its last layer, since it has learned edges, textures and shapes.
#
# </details>
#
# How much is new when BERT is fine-tuned to tell two classes apart? One layer from 768 numbers to 2:

# %%
new = 768 * 2 + 2
print(f"new parameters: {new:,}; BERT base brings {109_482_240:,}")
print(f"share of new ones: {new / (new + 109_482_240):.5%}")

# %% [markdown]
# And what does such a model learn from? Chapter 10's model predicted the next word, which was
# hidden from it. A model that looks both ways *sees* the next word; predicting it would teach it
# only to copy. So BERT hides some words in the input and predicts those. [Chapter
# 13](13_pretraining.ipynb) shows how; [chapter 13c](13c_choices.ipynb#is-15--the-best-rate), what
# it costs.
#
# BERT stands for *Bidirectional Encoder Representations from Transformers*. ELMo has two readers, one for each
# direction, and neither sees what the other sees. In BERT every word looks at all others at once, in every layer, and
# only the position vectors tell where they stand.
#
# ## What goes in
#
# Many tasks are about pairs: does this sentence follow from that one? So BERT reads one text or two. A pair is a
# single row of tokens,
#
# $$\texttt{[CLS]}\;\; A\;\; \texttt{[SEP]}\;\; B\;\; \texttt{[SEP]},$$
#
# so that words of $A$ can look at words of $B$ from the first layer on. `[SEP]` ends each sentence.
# `[CLS]`, for "classification", stands for no word: from its vector a classifier will read its
# answer about the whole input. Each token also has a **segment**: 0 up to and including the first
# `[SEP]`, 1 after it.


# %%
def pack(a, b=None):
    """[CLS] a [SEP] b [SEP], or [CLS] a [SEP] alone, and the segment of each token.

    ["my", "dog"], ["it", "barks"] → [CLS] my dog [SEP] it barks [SEP], 0 0 0 0 1 1 1
    """
    tokens = ["[CLS]", *a, "[SEP]"]
    segments = [0] * len(tokens)
    if b is not None:
        tokens += [*b, "[SEP]"]
        segments += [1] * (len(b) + 1)
    return tokens, segments


# %% [markdown]
# Chapter 7b's tokenizer, with BERT's published vocabulary, cuts two texts into pieces, packs them and looks up their
# ids. (MiniLM, the small real BERT of chapter 3, uses the same vocabulary.)

# %%
wordpiece = WordPiece.load(minilm.checkpoint() / "vocab.txt")
pair = wordpiece.pair("My dog is cute", "He likes playing")
for name in ("tokens", "ids", "segments"):
    print(f"{name:9}", getattr(pair, name))
print(wordpiece.tokenize("Penguins are flightless birds").tokens)

# %% tags=["remove-cell"]
one, two = ["my", "dog", "is", "cute"], ["he", "likes", "playing"]
assert pack(one, two) == (pair.tokens, pair.segments)
alone = wordpiece.pair("My dog is cute")
assert pack(one) == (alone.tokens, alone.segments)

# %% [markdown]
# <details><summary>Why the paper and some slides look different</summary>
#
# The first pair is that of figure 2 in the paper, where the last word is cut into `play` and `##ing`. In the published
# vocabulary of 30,522 pieces "playing" is a piece of its own. (Some slides call `[CLS]` and `[SEP]` `<bos>` and
# `<sep>`.)
#
# </details>
#
# Each token now has three numbers: its id, its position and its segment. Each number picks a vector from a table.
# Follow the framed "dog": its three vectors are added, and the sum is normalised.

# %% tags=["remove-input"]
draw("bert_input")

# %% [markdown]
# The same in code:

# %%
token = torch.tensor([2.0, 1.0, 4.0, 5.0])
position = torch.tensor([-1.0, 1.0, 0.0, 2.0])
segment = torch.tensor([0.0, 1.0, 1.0, 0.0])
x = token + position + segment
print(x.tolist(), "→", [f"{number:.2f}" for number in F.layer_norm(x, (4,))])

# %% [markdown]
# All three tables are **learned**, the positions too. (Chapter 4 compared them with sinusoids.) And the segments?

# %% [markdown]
# **Predict.** "A vector of 0's for $A$ and a vector of 1's for $B$", says a slide. Take it
# literally, and imagine "dog" at position 2, once as a word of $A$ and once of $B$. After the
# LayerNorm, by how much do the two vectors differ in each component: by 1, by about a half, or by
# nothing?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: by nothing -->
#
# By nothing. Adding 1 to every component adds 1 to their mean, and LayerNorm subtracts the mean.
# "By 1" is true of the sums, one step earlier; "about a half" would need a LayerNorm that only
# divides. With such vectors the segments would be invisible to the encoder. In BERT 0 and 1 are
# *ids*: each picks one of two learned rows, and the numbers of a learned row differ.
#
# </details>

# %%
for name, segment in {"A": torch.zeros(4), "B": torch.ones(4)}.items():
    x = token + position + segment
    print(name, x.tolist(), "→", [f"{number:.2f}" for number in F.layer_norm(x, (4,))])

# %% [markdown]
# The same as a module (the library's code):


# %%
class BertEmbeddings(nn.Module):
    """LayerNorm(token vector + position vector + segment vector); all are learned."""

    def __init__(self, config):
        super().__init__()
        self.tokens = nn.Embedding(config.vocab_size, config.d_model)
        self.positions = nn.Embedding(config.max_len, config.d_model)
        self.segments = nn.Embedding(config.n_segments, config.d_model)
        self.norm = nn.LayerNorm(config.d_model, config.eps)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, tokens, segments=None):
        """Ids of tokens and of segments, (batch, n) → vectors (batch, n, d_model)"""
        positions = torch.arange(tokens.shape[1], device=tokens.device)  # 0 … n - 1
        segments = torch.zeros_like(tokens) if segments is None else segments
        x = self.tokens(tokens) + self.positions(positions) + self.segments(segments)
        return self.dropout(self.norm(x))


# %% [markdown]
# ## The body
#
# What remains is chapter 5's encoder (post-norm, with GELU) and one small part that most drawings leave out: the
# **pooler**. Follow the framed vector, `[CLS]`'s last one:

# %% tags=["remove-input"]
draw("bert_body")

# %% [markdown]
# The paper does not mention the pooler, but the authors' code and the published weights have it, and classifiers read
# its output.
#
# Do not take `[CLS]`'s vector for a summary of the text. Before fine-tuning (chapter 14) it is none, as the paper says
# in a footnote: it was trained only to say whether the second sentence follows the first. [Chapter
# 17](17_sentence_bert.ipynb#do-cosines-agree-with-people) measures how far from a summary it is.


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
# `Encoded` is a named pair: `.hidden` and `.pooled`. No mask hides the future. Does our module compute what Hugging
# Face's `BertModel` computes? Both get the same random weights and three rows of different lengths:

# %% tags=["hide-input", "atol=1e-5"]
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
off_hidden = (encoded.hidden - expected.last_hidden_state)[real].abs().max()
off_pooled = (encoded.pooled - expected.pooler_output).abs().max()
print(f"largest difference: hidden {off_hidden:.1e}, pooled {off_pooled:.1e}")

# %% tags=["remove-cell"]
assert off_hidden < 1e-5 and off_pooled < 1e-5

# %% [markdown]
# ## Counting
#
# The paper gives 110 million parameters for base and 340 million for large. By hand for base, $d = 768$ and
# $d_{\text{ff}} = 3072$:
#
# - the tables: $(30{,}522 + 512 + 2) \cdot d$, and a LayerNorm of $2d$: 23,837,184;
# - a block: four projections with biases $4(d^2 + d)$, the feed-forward layer
#   $2\,d\,d_{\text{ff}} + d_{\text{ff}} + d$, two LayerNorms $4d$: 7,087,872, and twelve times that 85,054,464;
# - the pooler $d^2 + d$: 590,592.

# %% [markdown]
# **Predict.** In base, about a fifth of all parameters are the token table. MiniLM has the same vocabulary, half the
# width and half the layers. What is the table's share there: a tenth, a fifth again, or a half?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: a half -->
#
# A half (51.6 %). Half the width halves the table. But a block's matrices have some $d^2$ numbers each: half the width
# makes them a quarter as large, and there are half as many blocks. The table is divided by 2, the blocks by 8. "A fifth
# again" would be right if everything shrank alike.
#
# </details>


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
    counts[name]["total"] = total
    share = counts[name]["tokens"] / total
    print(f"{name:6} {total:11,}   token vectors {share:.1%}")

# %% tags=["hide-input"] mystnb={"image": {"alt": "Three bars, each 100 percent, cut into tokens, other embeddings, blocks and pooler. Base: 21 percent tokens, 78 blocks. Large: 9 percent tokens, 90 blocks. MiniLM: 52 percent tokens, 47 blocks. The pooler is below one percent."}, "figure": {"caption": "Where the parameters are. The smaller the model, the more of it is vocabulary."}}
colours = [plots.BLUE, plots.GREY, plots.FRAME, plots.INK]
figure, ax = plt.subplots(figsize=(6.6, 2.3))
for name, parts in counts.items():
    start, total = 0.0, parts["total"]
    for (part, parameters), colour in zip(parts.items(), colours, strict=False):
        ax.barh(name, parameters / total, 0.62, left=start, color=colour, label=part)
        if parameters / total > 0.05:
            middle = start + parameters / total / 2
            text = f"{parameters / total:.0%}"
            ink = plots.INK if colour == plots.FRAME else "white"
            ax.text(middle, name, text, ha="center", va="center", color=ink)
        start += parameters / total
handles, labels = ax.get_legend_handles_labels()
figure.legend(handles[:4], labels[:4], ncols=4, loc="outside lower center")
ax.invert_yaxis()
ax.grid(False)
ax.spines["bottom"].set_visible(False)
ax.set(xlim=(0, 1), xticks=[])
plt.show()

# %% [markdown]
# The paper's two numbers are rounded:
#
# | | blocks | width $d_{\text{model}}$ | heads | hidden $d_{\text{ff}}$ | parameters |
# |---|---|---|---|---|---|
# | base | 12 | 768 | 12 | 3072 | 109,482,240 |
# | large | 24 | 1024 | 16 | 4096 | 335,141,888 |
#
# <details><summary>Which width is d_ff?</summary>
#
# $d_{\text{ff}}$ is the *hidden* width of the feed-forward layer, $4\,d_{\text{model}}$. Its output is
# $d_{\text{model}}$ wide again. A slide of one of the lectures uses $d_{\text{ff}}$ for the output; whoever builds
# base from it, with a hidden width of 768, gets 67 million parameters. (More numbers from slides are recomputed among
# the [checked claims](../book/claims.md).)
#
# </details>

# %% tags=["remove-cell"]
for parts in counts.values():
    assert 2 * parts["total"] == sum(parts.values())
assert counts["base"]["total"] == 109_482_240
assert counts["large"]["total"] == 335_141_888
assert sum(count(30_522, 768, 12, d_ff=768).values()) == 66_987_264

# %% [markdown]
# ## Real weights
#
# MiniLM is a BERT of six layers, taken from a model of twelve that had been taught to imitate a
# larger one (Wang et al., 2020; [chapter
# 18b](18b_what_it_costs.ipynb#distillation-a-smaller-model-taught-by-a-larger-one) shows such
# teaching, and how this one differs). Its file holds 104 tensors under Hugging Face's names. A table
# translates them into ours:

# %% tags=["hide-input"]
state = minilm.load()
print(f"{len(state)} tensors in the file; {len(BODY)} rows in the table, four of them:")
for their_name in list(BODY)[::4]:
    print(f"  {their_name}\n      → {BODY[their_name]}")

# %% [markdown]
# <details><summary>The other nine rows, and where the file comes from</summary>
#
# `key` and `value` go as `query` does. `attention.output.dense` becomes `W_O`; `intermediate.dense` and `output.dense`
# become `feed_forward.W_1` and `W_2`, `output.LayerNorm` becomes `around_feed_forward.norm`. Positions, segments and
# the norm of the embeddings have a row each.
#
# Of the twelve layers every second one was kept, and these six were
# trained further until texts that belong together had similar vectors.
#
# </details>
#
# Each row becomes a regular expression. A placeholder matches one part of a name, up to the next dot: `{i}` the layer,
# `{kind}` the word `weight` or `bias`.

# %%
theirs = r"encoder\.layer\.(?P<i>[^.]+)\.attention\.self\.query\.(?P<kind>[^.]+)"
match = re.fullmatch(theirs, "encoder.layer.5.attention.self.query.bias")
print(match.groupdict())
print("encoder.blocks.{i}.self_attention.W_Q.{kind}".format(**match.groupdict()))

# %% [markdown]
# `rename` (folded) does that for every tensor, and stops at a name that no row knows.


# %% tags=["hide-input"]
def _pattern(template):
    """A template as a regular expression."""
    return re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^.]+)", re.escape(template)))


def rename(state, key_map, ignored=()):
    """The same tensors under our names."""
    patterns = [(_pattern(theirs), ours) for theirs, ours in key_map.items()]
    skipped = [_pattern(name) for name in ignored]
    renamed: dict[str, Tensor] = {}
    unknown = []
    for name, tensor in state.items():
        if any(pattern.fullmatch(name) for pattern in skipped):
            continue
        found = next(
            (
                (match, ours)
                for pattern, ours in patterns
                if (match := pattern.fullmatch(name))
            ),
            None,
        )
        if found is None:
            unknown.append(name)
            continue
        match, ours = found
        ours = ours.format(**match.groupdict())
        # (for chapter 13, whose file holds its tied matrix under two names)
        if ours in renamed and not torch.equal(renamed[ours], tensor):
            raise ValueError(
                f"{name} should equal what else becomes {ours}, "
                "but their values differ: these weights are not tied"
            )
        renamed[ours] = tensor
    if unknown:
        raise ValueError(
            f"the checkpoint holds {len(unknown)} tensors "
            f"that the key map does not know: {', '.join(sorted(unknown))}"
        )
    return renamed


renamed = rename(state, BODY, ignored=IGNORED)
print(f"{len(renamed)} of {len(state)} renamed; ignored: {', '.join(IGNORED)}")

# %% [markdown]
# The one left out holds the numbers 0, 1, 2, …, which need not be stored. So no tensor of *theirs* is forgotten.
# Conversely, every parameter of *ours* must get a tensor of the right shape:


# %%
def load_into(model, state):
    """Give the model these weights, every one of them."""
    own = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    given = {name: tuple(tensor.shape) for name, tensor in state.items()}
    problems = [f"{name} is missing" for name in own if name not in given]
    problems += [f"{name} is not in the model" for name in given if name not in own]
    problems += [
        f"{name} is {given[name]}, the model's {own[name]}"
        for name in own
        if name in given and own[name] != given[name]
    ]
    if problems:
        raise ValueError("the weights do not fit the model: " + "; ".join(problems))
    model.load_state_dict(dict(state))


minilm_model = Bert(BertConfig.MINILM).eval()
load_into(minilm_model, renamed)

del renamed["pooler.weight"]
try:
    load_into(Bert(BertConfig.MINILM), renamed)
except ValueError as error:
    print("ValueError:", error)

# %% [markdown]
# PyTorch's `load_state_dict(state, strict=False)` takes what fits and returns lists of the rest. Nothing forces you to
# read them.

# %% [markdown]
# **Predict.** The file is poured into our `Bert` as it is, under Hugging Face's names, with `strict=False`. How many
# of the model's 103 tensors are filled: all of them, a few whose names happen to agree, or none?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: none -->
#
# None. The pooler comes nearest, but theirs is `pooler.dense.weight` and ours `pooler.weight`, and a name agrees as a
# whole or not at all. All 103 of ours are reported missing and all 104 of theirs unexpected. No error is raised, and
# the model runs, on random weights.
#
# </details>

# %%
untouched = Bert(BertConfig.MINILM)
before = untouched.pooler.weight.clone()
result = untouched.load_state_dict(state, strict=False)
print(len(result.missing_keys), "missing,", len(result.unexpected_keys), "unexpected")

# %% tags=["remove-cell"]
assert torch.equal(untouched.pooler.weight, before)
assert len(result.missing_keys) == len(untouched.state_dict())

# %% [markdown]
# Does our module also *use* these weights correctly? We compare seven hidden states with Hugging Face's: the
# embeddings and the six layers' outputs.


# %%
def hidden_states(model, tokens, segments=None, lengths=None):
    """Hidden states (7, batch, n, d_model), weights (6, batch, heads, n, n)."""
    with torch.no_grad(), record(model) as seen:
        model(tokens, segments, lengths)
    hidden = [seen["embeddings"], *seen.all("encoder.blocks.*")]
    weights = seen.all("encoder.blocks.*.self_attention.weights")
    return torch.stack(hidden), torch.stack(weights)


# %% tags=["hide-input", "atol=1e-5"]
folder = minilm.checkpoint()
tokens, segments = torch.tensor([pair.ids]), torch.tensor([pair.segments])
worst = {}
for dtype in (torch.float32, torch.float64):
    theirs = BertModel.from_pretrained(folder, attn_implementation="eager").to(dtype)
    with torch.no_grad():
        seen = theirs.eval()(tokens, token_type_ids=segments, output_hidden_states=True)
    hidden, _ = hidden_states(minilm_model.to(dtype), tokens, segments)
    worst[dtype] = (hidden - torch.stack(seen.hidden_states)).abs().max().item()
    print(
        f"{len(hidden)} hidden states, {dtype}: largest difference {worst[dtype]:.0e}"
    )
minilm_model = minilm_model.float()

# %% tags=["remove-cell"]
assert worst[torch.float32] < 1e-5 and worst[torch.float64] < 1e-12

# %% [markdown]
# Double precision is the sharper test: it makes rounding errors half a billion times smaller ($2^{29}$), while a
# *mistake* would stay as large as it is.

# %% [markdown]
# ## Who looks at whom
#
# Here is the pair about the dog, in all 72 heads. In layer 5, head 11 "he" gives four fifths of its attention to
# "dog", more than in any other head.

# %%
hidden, weights = hidden_states(minilm_model, tokens, segments)
weights = weights[:, 0]  # (layers, heads, n, n)

# %% tags=["hide-input"]
AttentionViewer(
    pair.tokens,
    weights,
    title="MiniLM reads a pair",
    layer=5,
    head=11,
    names={(5, 11): "he → dog?", (4, 5): "rests on [CLS]"},
    token="he",
)

# %% tags=["remove-cell"]
he, dog = pair.tokens.index("he"), pair.tokens.index("dog")
assert weights[5, 11, he, dog] > 0.7 and weights[4, 5, 1:-1, 0].mean() > 0.7
assert weights[:, :, he, dog].flatten().argmax() == 5 * 12 + 11

# %% [markdown]
# "Dog" is in the *other* sentence. Nothing in the program links the two; they stand in one row, and that is enough.
# ([Type your own](../book/your_own/inside.md#where-a-bert-looks) takes any sentence.)

# %% [markdown]
# **Predict.** Has this head found what "he" stands for? Compare: how much of their attention in this head do the
# other eight tokens give to "dog", on average: about 0.05, about 0.1 or about 0.5?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: about 0.5 -->
#
# Nearly half of it. "He" gives the most of all but "dog" itself, but this head looks at the dog
# from everywhere. The large number alone could not have told us that. (One head, one pair: chapter
# 16 compares heads for grammar with baselines, on many sentences.)
#
# </details>

# %% tags=["atol=0.02"]
to_dog = weights[5, 11, :, dog]
for token, share in zip(pair.tokens, to_dog.tolist(), strict=True):
    print(f"{token:8} {share:.2f}")
others = [i for i in range(len(pair.tokens)) if i not in (he, dog)]
print(f"mean of all but he and dog: {to_dog[others].mean():.2f}")

# %% tags=["remove-cell"]
assert to_dog[he] > to_dog[others].max() + 0.1 and 0.35 < to_dog[others].mean() < 0.6

# %% [markdown]
# Does it tell two candidates apart? Here "he" may be the boy or the dog. Put in sentences of your own:

# %% tags=["atol=0.02"]
YOURS = ("The boy found a dog", "The dog found a boy", "The boy saw a man")
for first in YOURS:
    own = wordpiece.pair(first, "He was happy")
    _, looks = hidden_states(
        minilm_model, torch.tensor([own.ids]), torch.tensor([own.segments])
    )
    from_he = looks[5, 0, 11, own.tokens.index("he")]
    shares = zip(own.tokens[:6], from_he.tolist(), strict=False)
    print("  ".join(f"{token} {share:.2f}" for token, share in shares))

# %% tags=["remove-cell"]
assert max(from_he[1:6]) < 0.3 and from_he[0] > 0.3

# %% [markdown]
# The head looks at the dog, whether the dog finds or is found, and hardly at the boy. Without a
# dog, no word gets even a fifth; most of its attention to these six tokens rests on `[CLS]`.
#
# In BERT base, the middle layers give much of their attention to `[SEP]`, which means nothing by
# itself (Clark and others, 2019). In MiniLM, for the pair about the dog, as means over its seven
# words and the twelve heads:

# %%
inner = [i for i, token in enumerate(pair.tokens) if not token.startswith("[")]
sep = [i for i, token in enumerate(pair.tokens) if token == "[SEP]"]
to_cls = weights[:, :, inner, 0].mean(dim=(1, 2))
to_sep = weights[:, :, inner][..., sep].sum(dim=-1).mean(dim=(1, 2))

# %% tags=["hide-input"] mystnb={"image": {"alt": "Two bars for each of six layers. Share to [CLS]: about a quarter in layer 0, around 0.6 in layers 1 to 4 with a dip to 0.5 in layer 3, 0.44 in layer 5. Share to both [SEP] together: about 0.2 in layer 0, below 0.1 from layer 1 on."}, "figure": {"caption": "Where the attention of the seven words goes, mean over words and heads. MiniLM rests on [CLS]."}}
figure, ax = plt.subplots(figsize=(6.6, 2.9))
layers = torch.arange(6)
ax.bar(layers - 0.19, to_cls, width=0.36, color=plots.BLUE, label="to [CLS]")
ax.bar(layers + 0.19, to_sep, width=0.36, color=plots.QUIET, label="to both [SEP]")
ax.set(xlabel="layer", ylabel="share of attention", ylim=(0, 1))
ax.legend()
plt.show()

# %% tags=["remove-cell"]
assert to_cls[1:].min() > 0.4 and to_sep[1:].max() < 0.1

# %% [markdown]
# Here it is `[CLS]`. The usual explanation: a head's weights sum to 1, so if it finds nothing to attend to it must
# still put them somewhere. Which token becomes this resting place is a fact about a checkpoint, not about the
# architecture.
#
# ## A word in its context
#
# *Please turn on the **light**. The feather is very **light**.* A table of word vectors has one row for both. How
# different are their vectors in MiniLM? One warning: the *position* is part of what enters the first layer, so two
# "light" at different places differ before any context has been read:


# %% tags=["atol=0.01"]
def vectors(text, word):
    """The word's vector in each of the 7 hidden states, length 1; its place."""
    encoding = wordpiece.pair(text)
    place = encoding.tokens.index(word)
    hidden, _ = hidden_states(minilm_model, torch.tensor([encoding.ids]))
    return F.normalize(hidden[:, 0, place], dim=-1), place


near, far = "The light was on.", "In the end nobody knew who had left the light on."
(a, i), (b, j) = vectors(near, "light"), vectors(far, "light")
print(f"places {i} and {j}, the same sense, before layer 0: cosine {a[0] @ b[0]:.2f}")

# %% [markdown]
# **Predict.** Four sentences with "light" at place 5 in each: two about a lamp, two about a weight. What are the
# cosines between them *before* layer 0: all 1.00, or lower where the sense differs? And between a lamp and a weight
# after the last layer: about 0.9, 0.5 or 0?
#
# <details><summary>Answer</summary>
#
# Before layer 0 they are all 1.00: same token, same position, same segment, so the same three rows of the same three
# tables. It is tempting to expect a small difference already, but no context has been read so far. After layer 5 the
# four pairs of a lamp and a weight are at 0.50 to 0.59.
#
# </details>

# %% tags=["atol=0.01"]
two_of_each = [
    "Please turn on the light",
    "Nobody switched on the light",
    "The feather is very light",
    "This bag is so light",
]
lamp, lamp_2, weight, weight_2 = (vectors(text, "light")[0] for text in two_of_each)
compared = {
    "lamp, lamp": lamp @ lamp_2.T,
    "lamp, weight": lamp @ weight.T,
    "lamp, weight 2": lamp @ weight_2.T,
    "lamp 2, weight": lamp_2 @ weight.T,
    "lamp 2, weight 2": lamp_2 @ weight_2.T,
    "weight, weight": weight @ weight_2.T,
}
print("place 5 everywhere; cosines before layer 0, after layer 2, after layer 5:")
for name, cosine in compared.items():
    print(f"  {name:16}", [f"{cosine[layer, layer]:.2f}" for layer in (0, 3, 6)])

# %% tags=["remove-cell"]
assert all(vectors(text, "light")[1] == 5 for text in two_of_each)

# %% [markdown]
# The layers have moved the vectors apart. Two lamps end at 0.95, two weights at 0.84, and only beside these do the
# 0.50 to 0.59 between lamp and weight mean something. A cosine alone is neither high nor low. Always ask: *compared
# with what?*
#
# In these sentences the words that decide stand to the left. In the next ones they stand to the right, as at the
# beginning of this chapter: six openings, each continued in two ways, with "light" at place 4.

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
V = torch.stack([vectors(text, "light")[0] for text in texts]).transpose(
    0, 1
)  # (7, 12, d_model)
cosine = V @ V.transpose(1, 2)  # (7, 12, 12)

sense, opening = torch.arange(12) % 2, torch.arange(12) // 2
other_opening = opening[:, None] != opening
alike = (sense[:, None] == sense) & other_opening
differ = (sense[:, None] != sense) & other_opening

# %% tags=["hide-input"] mystnb={"image": {"alt": "Two lines over the layers from input to after 5. Both start at 1. Same sense falls to 0.92 in the middle and 0.84 at the end. Other sense runs with it up to after layer 0, then below it by about 0.05, and ends at 0.79."}, "figure": {"caption": "Mean cosine between the vectors of light in sentences with different openings: of the same sense, and of different senses."}}
names = ["input", *(f"after {i}" for i in range(6))]
figure, ax = plt.subplots(figsize=(6.4, 3.0))
for label, which in (("same sense", alike), ("other sense", differ)):
    ax.plot(range(7), cosine[:, which].mean(dim=1), marker="o", label=label)
ax.set_xticks(range(7), names)
ax.set(ylabel="mean cosine", ylim=(0.75, 1.01))
plots.name_lines(ax)
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
assert all(vectors(text, "light")[1] == 4 for text in texts)

# %% [markdown]
# After layer 1 and every later layer, the nearest neighbour of every "light" has the same sense. (Only other openings
# count.)
#
# Is it the *sense* that decides? Call a "light" that shines a *lamp*, and one that is not heavy a *weight*. In these
# sentences every lamp is a noun by itself, and every weight stands before a noun. So let the lamp stand before a noun,
# too: "the light switch", "the light bulb".

# %% [markdown]
# **Predict.** Here are six such lamps. For each we look for the nearest of the twelve vectors from before, without the two that have the same opening. How many are nearest to a *weight*, which shares the place before a
# noun, and not to a lamp, which shares the sense: few, half or nearly all? Say it for layer 1 and
# for the last layer.
#
# <details><summary>Answer</summary>
#
# <!-- no right offer -->
#
# From layer 1 to layer 4 nearly all, five or six, are nearest to a *weight*; after the last layer 2, between few and
# half (coins would give 3, so six sentences do not decide). The fewer, the better the senses are told apart. Twelve right neighbours of twelve
# looked like proof that the model tells the senses apart; but in those twelve, sense and grammar went together.
#
# </details>

# %%
before_nouns = [
    "She left the light switch alone.",
    "We saw the light bulb there.",
    "He wanted the light switch fixed.",
    "They put the light bulb in.",
    "I like the light show.",
    "You need the light beam.",
]
lamps = torch.stack([vectors(text, "light")[0] for text in before_nouns])
lamps = lamps.transpose(0, 1)  # (7, 6, d_model)
same_opening = torch.arange(6)[:, None] == opening
nearest = (lamps @ V.transpose(1, 2)).masked_fill(same_opening, -1).argmax(dim=-1)
for name, is_weight in list(zip(names, sense[nearest], strict=True))[2:]:
    print(f"{name}: nearest neighbour a weight, {is_weight.sum()} of 6")

# %% tags=["remove-cell"]
assert all(vectors(text, "light")[1] == 4 for text in before_nouns)

# %% [markdown]
# So the context is read, but in most layers it is not the sense alone that decides. (Eighteen sentences are only an
# illustration; chapter 15 uses more.)
#
# A model that reads from left to right cannot tell the two senses apart at this word. To see it without any training,
# give MiniLM's own layers a causal mask:

# %% tags=["atol=1e-5"]
apart = []
for opening_words, ends in lights.items():
    light = []
    for end in ends:
        x = torch.tensor([wordpiece.pair(f"{opening_words} {end}").ids])
        with torch.no_grad():
            x = minilm_model.embeddings(x)
            light.append(minilm_model.encoder(x, causal_mask(x.shape[1]))[0, 4])
    apart.append((light[0] - light[1]).abs().max().item())
print(f"causal mask: the two senses of light differ by {max(apart):.0e} at most")

# %% tags=["remove-cell"]
assert max(apart) < 1e-5

# %% [markdown]
# (What is left is rounding.) Whatever the weights, what stands to the right cannot reach "light". GPT has to resolve
# the word later, in the vectors of "on" or "bag". For generating text that is no loss; for *labelling each word* of a
# given text it is.
#
# ## Two limits
#
# BERT has 512 position vectors. Longer texts must be cut, or read in pieces:

# %%
try:
    minilm_model(torch.full((1, 513), 2003))
except IndexError as error:
    print("IndexError:", error)

# %% [markdown]
# And to fill in hidden words, BERT needs a layer on top of the body, which makes scores of its vectors. Such a layer is
# called a **head**, too; it has nothing to do with the heads of attention. MiniLM's file has none:

# %%
try:
    BertForPreTraining.from_pretrained(folder)
except ValueError as error:
    print("ValueError:", error)

# %% [markdown]
# We train one in chapter 13. The paper's weights have one: to ask it now, set the switch to `True` (440 MB to
# download).

# %%
BERT_BASE = False  # True: the weights that were published with the paper

if BERT_BASE:
    full = BertForPreTraining.from_pretrained("bert-base-uncased")
    asked = wordpiece.pair("The capital of France is [MASK].")
    scores = full(torch.tensor([asked.ids])).words[0, asked.tokens.index("[MASK]")]
    print([wordpiece.vocabulary.tokens[i] for i in scores.topk(5).indices])

# %% [markdown]
# ## What goes wrong
#
# None of the following raises an error.
#
# ### Padding without a mask
#
# In a batch, short texts are filled up with `[PAD]`. Without a mask the words attend to it:

# %% tags=["atol=0.01"]
n = len(pair.ids)
padded, segments_padded = F.pad(tokens, (0, 10)), F.pad(segments, (0, 10))
with torch.no_grad():
    alone = minilm_model(tokens, segments).hidden
    masked = minilm_model(padded, segments_padded, torch.tensor([n])).hidden[:, :n]
    bare = minilm_model(padded, segments_padded).hidden[:, :n]
for name, read in {"with lengths": masked, "without": bare}.items():
    cosine = F.cosine_similarity(read, alone, dim=-1)
    print(f"{name:12} lowest cosine to the right vector {cosine.min():.2f}")

# %% tags=["remove-cell"]
assert (masked - alone).abs().max() < 1e-5

# %% [markdown]
# Worse, a text's result then depends on which *other* texts share its batch.
#
# ### Segments or special tokens forgotten
#
# First, without segments:

# %% tags=["atol=0.002"]
with torch.no_grad():
    no_segments = minilm_model(tokens).hidden
cosine = F.cosine_similarity(no_segments, alone, dim=-1)
print(f"all segments 0: lowest cosine to the right vector {cosine.min():.3f}")

# %% [markdown]
# Hardly a difference, for this pair and *this checkpoint*. Do not count on it after fine-tuning on
# pairs. Now leave out `[CLS]` and `[SEP]`.

# %% [markdown]
# **Predict.** The twelve sentences about light are read without special tokens, so that the first word, a pronoun,
# comes to position 0. What will its last vector resemble most: the pronoun's vector in the intact sentence, the vector
# of `[CLS]`, or neither?
#
# <details><summary>Answer</summary>
#
# <!-- right offer: the vector of [CLS] -->
#
# That of `[CLS]`, in all twelve: the cosines are about 0.9 and above, those with its own vector a third at most. In
# training only `[CLS]` ever stood at position 0, so to the model position 0 *means* `[CLS]`. It is tempting to think
# that a missing mark costs a little accuracy everywhere. In fact a classifier that takes the first vector gets one
# that looks like `[CLS]`, and nothing shows the mistake.
#
# </details>

# %% tags=["atol=0.01"]
first_vectors = {"0, as they come": [], "1, as before": []}
for text in texts:
    ids = torch.tensor([wordpiece.pair(text).ids])
    with torch.no_grad():
        right = minilm_model(ids).hidden[0]
        counted_anew = minilm_model.embeddings(ids[:, 1:-1])  # no [CLS], no [SEP]
        as_before = minilm_model.embeddings(ids)[:, 1:-1]
        for start, x in zip(first_vectors, (counted_anew, as_before), strict=True):
            bare = minilm_model.encoder(x)[0, 0]
            first_vectors[start].append(F.cosine_similarity(bare, right[:2], dim=-1))
for start, cosines in first_vectors.items():
    to_cls, to_itself = torch.stack(cosines).T
    print(f"positions from {start}:", end=" ")
    print(f"cosine with [CLS] {to_cls.min():.2f} to {to_cls.max():.2f},", end=" ")
    print(f"with itself {to_itself.min():.2f} to {to_itself.max():.2f}")

# %% tags=["remove-cell"]
to_cls, to_itself = torch.stack(first_vectors["0, as they come"]).T
assert to_cls.min() > 0.8 and to_itself.max() < 0.5
to_cls, to_itself = torch.stack(first_vectors["1, as before"]).T
assert to_itself.max() < 0.8 and to_cls.max() < 0.8
assert cosine.min() > 0.99

# %% [markdown]
# At position 1 the pronoun does not turn into `[CLS]`, but its vector still changes: it depends on the special tokens
# around it.

# %% [markdown]
# ## Exercises
#
# Ungraded; a solution is folded below each.
#
# **1. The other way round.** In "My dog is cute. He likes playing." head 11 of layer 5 leads from "he" back to "dog".
# Swap the two sentences. What happens? And could a GPT have such a head?

# %% tags=["hide-cell", "atol=0.02"]
# Solution 1
for first, second in (
    ("My dog is cute", "He likes playing"),
    ("He likes playing", "My dog is cute"),
):
    read = wordpiece.pair(first, second)
    _, found = hidden_states(
        minilm_model, torch.tensor([read.ids]), torch.tensor([read.segments])
    )
    from_, to = read.tokens.index("he"), read.tokens.index("dog")
    share = found[5, 0, 11, :, to]
    rest = (share.sum() - share[from_] - share[to]) / (len(share) - 2)
    print(f"{first} / {second}: from he {share[from_]:.2f}, from the others {rest:.2f}")
# It still looks at the dog, "he" with less weight: in this pair the head does not
# depend on left and right (nor on who "he" is: see above). A GPT could have such a head
# for the first order, where "dog" comes before "he". For the second it could not: the
# causal mask hides a word that comes later.

# %% [markdown]
# **2. The wrong ε.** PyTorch's LayerNorm adds $10^{-5}$ to the variance, BERT's $10^{-12}$. Load MiniLM into a `Bert`
# with `eps=1e-5` (use `dataclasses.replace`), and compare the seven hidden states. Then find the smallest variance
# that the first LayerNorm meets. Why is the error largest at the input?

# %% tags=["hide-cell", "rtol=0.05", "atol=0.0002"]
# Solution 2
other_eps = Bert(replace(BertConfig.MINILM, eps=1e-5)).eval()
other_eps.load_state_dict(minilm_model.state_dict())
right_states, _ = hidden_states(minilm_model, tokens, segments)
wrong_states, _ = hidden_states(other_eps, tokens, segments)
error = (wrong_states - right_states).abs().amax(dim=(1, 2, 3))
print("largest error of each hidden state:", [f"{e:.4f}" for e in error])

e = minilm_model.embeddings
total = e.tokens(tokens) + e.positions.weight[:n] + e.segments(segments)
variance = total.var(dim=-1, correction=0)
print(f"smallest variance before the first LayerNorm: {variance.min():.4f}")
# The three tables hold small numbers, so beside their variance 1e-5 counts. After the
# first norm a word's vector is large, and so is every sum that a later norm sees: there
# 1e-5 no longer matters, and the error made at the input is carried along.
# Small as it is, it is far above rounding (1e-6): a comparison so loose that it lets
# this error pass would let real mistakes pass as well.

# %% [markdown]
# **3. Another word.** Here are three springs of the year and three of metal, each at place 3. How many have a nearest
# neighbour of their own sense, in each hidden state? Then try a word of your own ("bat" is harder than it looks).

# %% tags=["hide-cell"]
# Solution 3
springs = [
    "In the spring the flowers bloom.",
    "Every warm spring the birds return.",
    "Late in spring it rained.",
    "The metal spring was bent.",
    "A coiled spring holds the lid.",
    "Push the spring until it clicks.",
]
found = torch.stack([vectors(text, "spring")[0] for text in springs]).transpose(0, 1)
nearest = (found @ found.transpose(1, 2) - 2 * torch.eye(6)).argmax(dim=-1)
same_sense = (nearest < 3) == (torch.arange(6) < 3)
for name, of_6 in list(zip(names, same_sense.sum(dim=1).tolist(), strict=True))[1:]:
    print(f"{name}: {of_6} of 6")

# %% [markdown]
# **4. What do position vectors look like?** Nobody told BERT that position 7 is next to position 8. Take the mean
# cosine between MiniLM's position vectors that are 1, 2, 4, 8, 16 and 64 places apart, without position 0. What did
# training find out?

# %% tags=["hide-cell", "atol=0.01"]
# Solution 4
P = F.normalize(minilm_model.embeddings.positions.weight.detach()[1:], dim=-1)
for apart_by in (1, 2, 4, 8, 16, 64):
    print(f"{apart_by:2} apart: {(P @ P.T).diagonal(apart_by).mean():.2f}")
# Neighbours have become alike, and the likeness fades with distance, though not
# evenly. All these rows began as noise.

# %% [markdown]
# **5. Build it: a vector for a sentence.** In MiniLM's last training a text's vector was the *mean of its tokens' last
# vectors*. Write `embed(texts)`: one batch, padded with id 0, with `lengths`, the mean over real tokens only, scaled
# to length 1. Check that a text's vector does not depend on the rest of the batch, and let each of the six sentences
# find its partner. ([Chapter 17b](17b_searching.ipynb) makes a search engine of this.)

# %% tags=["hide-cell", "atol=1e-5"]
# Solution 5
sentences = [
    "A man plays the guitar.",
    "The cat sleeps on the sofa.",
    "Shares fell sharply on Monday.",
    "Somebody is making music.",
    "An animal lies on the couch.",
    "The stock market lost ground at the start of the week.",
]


def embed(texts):
    """One vector of length 1 for each text: (texts, d_model)"""
    rows = [wordpiece.pair(text).ids for text in texts]
    lengths = torch.tensor([len(row) for row in rows])
    ids = torch.tensor([row + [0] * (lengths.max() - len(row)) for row in rows])
    with torch.no_grad():
        hidden = minilm_model(ids, lengths=lengths).hidden
    real = torch.arange(ids.shape[1]) < lengths[:, None]  # (texts, n)
    return F.normalize((hidden * real[:, :, None]).sum(dim=1), dim=-1)


together = embed(sentences)
alone = torch.cat([embed([text]) for text in sentences])
likeness = together @ together.T - 2 * torch.eye(6)
for text, partner in zip(sentences, likeness.argmax(dim=1).tolist(), strict=True):
    print(f"{text} → {sentences[partner]}")
print(f"one batch or six: largest difference {(together - alone).abs().max():.0e}")

# %% [markdown]
# ## Summary
#
# 1. Pre-train once on text that nobody labelled, fine-tune often: the new part is one layer, a few thousand numbers.
# 2. BERT has no causal mask. What a word means may be decided to its right, where a left-to-right model cannot look.
# 3. The input is `[CLS]` A `[SEP]` B `[SEP]`; three learned vectors are added for each token and normalised.
# 4. The body is chapter 5's encoder and a pooler: 109,482,240 parameters (base), 335,141,888 (large).
# 5. To load real weights you need a table of names, a program that stops when a tensor is left over, and a close
#    comparison of the hidden states.
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
# - Kevin Clark, Urvashi Khandelwal, Omer Levy and Christopher D. Manning (2019). *What does BERT look at? An analysis
#   of BERT's attention.* BlackboxNLP.
