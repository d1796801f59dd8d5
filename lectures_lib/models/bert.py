"""BERT: three embeddings, an encoder, and the heads of its pre-training (chapters 12 and 13; Devlin
et al. 2019).

Behind the model stand Hugging Face's names of the weights, how they become ours, and the sizes.
"""

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from lectures_lib.blocks.attention import padding_mask
from lectures_lib.blocks.layers import ACTIVATIONS, Encoder, initialise
from lectures_lib.checks.door import at_the_door
from lectures_lib.checks.sizes import check_config
from lectures_lib.checks.tokens import check_embedded, check_read, check_read_and_asked
from lectures_lib.models import hugging_face

# What two of the tables in `BertEmbeddings` were called in files that this library wrote before.
OLDER_NAMES = {"positions.positions": "positions.weight", "segments": "segments.weight"}


def todays_name(name: str) -> str:
    """What `BertEmbeddings` calls the numbers that a file may have under an older name. What
    `stored.differences` puts behind a name stays there: "segments.8bit" is "segments.weight.8bit".
    """
    for old, new in OLDER_NAMES.items():
        if f"{name}.".startswith(f"{old}.") and not f"{name}.".startswith(f"{new}."):
            return new + name.removeprefix(old)
    return name


class BertEmbeddings(nn.Module):
    """LayerNorm(token vector + position vector + segment vector); all three are learned (figure 2
    of the paper).
    """

    def __init__(self, config: "BertConfig"):
        super().__init__()
        self.tokens = nn.Embedding(config.vocab_size, config.d_model)
        self.positions = nn.Embedding(config.max_len, config.d_model)
        self.segments = nn.Embedding(config.n_segments, config.d_model)
        self.norm = nn.LayerNorm(config.d_model, config.eps)
        self.dropout = nn.Dropout(config.dropout)

    @at_the_door(check_embedded)
    def forward(
        self, tokens: Int[Tensor, "batch n"], segments: Int[Tensor, "batch n"] | None = None
    ) -> Float[Tensor, "batch n d_model"]:
        """The vectors that enter the encoder. Without segments, all tokens belong to the first.

        Raises:
            ValueError: for an unknown token or segment id, or more tokens than positions.
        """
        positions = torch.arange(tokens.shape[1], device=tokens.device)  # 0 … n - 1
        segments = torch.zeros_like(tokens) if segments is None else segments
        x = self.tokens(tokens) + self.positions(positions) + self.segments(segments)
        return self.dropout(self.norm(x))

    def _load_from_state_dict(self, state, prefix, *others):
        """Takes weights that were saved under the older names, too."""
        for name in [name for name in state if name.startswith(prefix)]:
            state[prefix + todays_name(name.removeprefix(prefix))] = state.pop(name)
        super()._load_from_state_dict(state, prefix, *others)


class Encoded(NamedTuple):
    """What BERT makes of its input.

    Args:
        hidden: one vector for each token, from the last layer.
        pooled: one for the whole input: [CLS]'s vector through a layer and tanh.
    """

    hidden: Float[Tensor, "batch n d_model"]
    pooled: Float[Tensor, "batch d_model"]


class Bert(nn.Module):
    """The body: embeddings, an encoder in the post-norm order, and the pooler. No mask hides the
    future: it reads both ways.
    """

    def __init__(self, config: "BertConfig"):
        super().__init__()
        self.config = config
        self.embeddings = BertEmbeddings(config)
        self.encoder = Encoder(
            config.n_layers,
            config.d_model,
            config.n_heads,
            config.d_ff,
            dropout=config.dropout,
            attention_dropout=config.dropout
            if config.attention_dropout is None
            else config.attention_dropout,
            activation=config.activation,
            eps=config.eps,
        )
        self.pooler = nn.Linear(config.d_model, config.d_model)
        initialise_as_bert(self, config.init_std)

    @at_the_door(check_read)
    def forward(
        self,
        tokens: Int[Tensor, "batch n"],
        segments: Int[Tensor, "batch n"] | None = None,
        lengths: Int[Tensor, " batch"] | None = None,
    ) -> Encoded:
        """Read a batch.

        Args:
            tokens: ids, [CLS] first, padded on the right.
            segments: 0 for the first sentence of an input, 1 for the second; None: all 0.
            lengths: how many tokens of each input are real; None: all.

        Raises:
            ValueError: for an unknown token or segment id, an empty input, lengths that do not fit,
                or more tokens than positions.
        """
        mask = None if lengths is None else padding_mask(lengths, tokens.shape[1])
        x = self.encoder(self.embeddings(tokens, segments), mask)
        return Encoded(x, self.pooler(x[:, 0]).tanh())

    @classmethod
    def from_pretrained(cls, name: str | Path, dropout: float | None = None) -> "Bert":
        """The body of a Hugging Face checkpoint, ready for use (dropout off); its heads, if it has
        any, are left out.

        A checkpoint whose head does not stand on the pooler has none. The model then gets a fresh
        one, and a warning says so.

        Args:
            name: a folder, or an id on the hub such as "bert-base-uncased".
            dropout: another share than the checkpoint's for when it is trained further, of
                attention weights too; None: the checkpoint's.

        Raises:
            FileNotFoundError: where there is no such checkpoint.
            ValueError: for options or names of weights that we do not know (they are listed), or a
                damaged file.
        """
        config, state = read_checkpoint(name)
        config = (
            config if dropout is None else replace(config, dropout=dropout, attention_dropout=None)
        )
        body = hugging_face.rename(state, BODY, [*IGNORED, *HEADS, *OTHER_HEADS])
        model = hugging_face.unfilled(lambda: cls(config))
        hugging_face.load_into(model, _with_pooler(name, body, config))
        return model.eval()

    def save_pretrained(self, folder: str | Path) -> Path:
        """Write a checkpoint that Hugging Face's `BertModel.from_pretrained` reads."""
        state = hugging_face.spelled_theirs(self.state_dict(), BODY)
        return hugging_face.write_checkpoint(
            folder, hugging_face_config(self.config, "BertModel"), state
        )


def _with_pooler(
    name: str | Path, body: dict[str, Tensor], config: "BertConfig"
) -> dict[str, Tensor]:
    if any(key.startswith("pooler.") for key in body):
        return body
    warnings.warn(
        f"{name} has no pooler: ours is fresh, and `pooled` means nothing before it is trained",
        stacklevel=3,
    )
    pooler = nn.Linear(config.d_model, config.d_model)
    initialise(pooler, config.init_std)
    return body | {
        f"pooler.{kind}": tensor.detach() for kind, tensor in pooler.state_dict().items()
    }


class MaskedWordHead(nn.Module):
    """Scores of every word piece at a position: a layer, and then the token vectors once more
    (tied), plus a bias.

    The paper does not mention the layer between; the authors' code has it, and so have all
    published weights.
    """

    def __init__(self, config: "BertConfig"):
        super().__init__()
        self.dense = nn.Linear(config.d_model, config.d_model)
        self.activation = ACTIVATIONS[config.activation]
        self.norm = nn.LayerNorm(config.d_model, config.eps)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))

    def forward(
        self, hidden: Float[Tensor, "*batch d_model"], embedding: nn.Embedding
    ) -> Float[Tensor, "*batch vocab"]:
        """The scores (logits)."""
        x = self.norm(self.activation(self.dense(hidden)))
        return F.linear(x, embedding.weight, self.bias)


class PreTrainingScores(NamedTuple):
    """What is trained against.

    Args:
        words: scores of every word piece, at every position or, where `at` was given, at those
            positions one after the other.
        next_sentence: scores of the two classes, as in Hugging Face: 0 "B follows A", 1 "B is from
            somewhere else".
    """

    words: Float[Tensor, "*positions vocab"]
    next_sentence: Float[Tensor, "batch 2"]


class BertForPreTraining(nn.Module):
    """BERT with the two heads of its pre-training (section 3.1): masked words, and the next
    sentence.
    """

    def __init__(self, config: "BertConfig"):
        super().__init__()
        self.config = config
        self.bert = Bert(config)
        self.masked_words = MaskedWordHead(config)
        self.next_sentence = nn.Linear(config.d_model, 2)
        initialise_as_bert(self, config.init_std)

    @at_the_door(check_read_and_asked)
    def forward(
        self,
        tokens: Int[Tensor, "batch n"],
        segments: Int[Tensor, "batch n"] | None = None,
        lengths: Int[Tensor, " batch"] | None = None,
        at: Bool[Tensor, "batch n"] | None = None,
    ) -> PreTrainingScores:
        """The scores of both tasks.

        Args:
            tokens, segments, lengths: as in `Bert.forward`.
            at: the positions whose words are asked for, row by row. Scores of a whole vocabulary
                are the dearest part of a small BERT, and six in seven positions are not asked for.

        Raises:
            ValueError: as `Bert.forward` does, or for an `at` that is not boolean or not of the
                tokens' shape.
        """
        encoded = self.bert(tokens, segments, lengths)
        hidden = encoded.hidden if at is None else encoded.hidden[at]
        return PreTrainingScores(
            self.masked_words(hidden, self.bert.embeddings.tokens),
            self.next_sentence(encoded.pooled),
        )

    @classmethod
    def from_pretrained(cls, name: str | Path) -> "BertForPreTraining":
        """Like `Bert.from_pretrained`, with both heads. Raises ValueError for a checkpoint that
        lacks one.
        """
        config, state = read_checkpoint(name)
        model = hugging_face.unfilled(lambda: cls(config))
        body = hugging_face.rename(
            {k: v for k, v in state.items() if not k.startswith("cls.")},
            BODY,
            [*IGNORED, *OTHER_HEADS],
        )
        heads = hugging_face.rename({k: v for k, v in state.items() if k.startswith("cls.")}, HEADS)
        tied = heads.pop("tied", body["embeddings.tokens.weight"])
        if not torch.equal(tied, body["embeddings.tokens.weight"]):
            raise ValueError(
                "cls.predictions.decoder.weight differs from the token vectors; in BERT the two "
                "are one matrix"
            )
        hugging_face.load_into(
            model, {f"bert.{name}": tensor for name, tensor in body.items()} | heads
        )
        return model.eval()

    def save_pretrained(self, folder: str | Path) -> Path:
        """Write a checkpoint that Hugging Face's `BertForPreTraining.from_pretrained` reads."""
        state = self.state_dict()
        body = {
            name.removeprefix("bert."): tensor
            for name, tensor in state.items()
            if name.startswith("bert.")
        }
        theirs = {
            f"bert.{name}": tensor
            for name, tensor in hugging_face.spelled_theirs(body, BODY).items()
        }
        theirs |= hugging_face.spelled_theirs(
            {name: tensor for name, tensor in state.items() if not name.startswith("bert.")}, HEADS
        )
        return hugging_face.write_checkpoint(
            folder, hugging_face_config(self.config, "BertForPreTraining"), theirs
        )


def initialise_as_bert(model: nn.Module, std: float = 0.02) -> None:
    """Normal weights of this standard deviation, cut off at two of them, and zero biases: as in the
    authors' code.
    """
    initialise(model, std)
    for module in model.modules():
        if isinstance(module, nn.Embedding):
            nn.init.trunc_normal_(module.weight, std=std, a=-2 * std, b=2 * std)


# ----------------------------------------------------------------------------- Hugging Face's names

BODY = {
    "embeddings.word_embeddings.weight": "embeddings.tokens.weight",
    "embeddings.position_embeddings.weight": "embeddings.positions.weight",
    "embeddings.token_type_embeddings.weight": "embeddings.segments.weight",
    "embeddings.LayerNorm.{kind}": "embeddings.norm.{kind}",
    "encoder.layer.{i}.attention.self.query.{kind}": "encoder.blocks.{i}.self_attention.W_Q.{kind}",
    "encoder.layer.{i}.attention.self.key.{kind}": "encoder.blocks.{i}.self_attention.W_K.{kind}",
    "encoder.layer.{i}.attention.self.value.{kind}": "encoder.blocks.{i}.self_attention.W_V.{kind}",
    "encoder.layer.{i}.attention.output.dense.{kind}": (
        "encoder.blocks.{i}.self_attention.W_O.{kind}"
    ),
    "encoder.layer.{i}.attention.output.LayerNorm.{kind}": (
        "encoder.blocks.{i}.around_self_attention.norm.{kind}"
    ),
    "encoder.layer.{i}.intermediate.dense.{kind}": "encoder.blocks.{i}.feed_forward.W_1.{kind}",
    "encoder.layer.{i}.output.dense.{kind}": "encoder.blocks.{i}.feed_forward.W_2.{kind}",
    "encoder.layer.{i}.output.LayerNorm.{kind}": (
        "encoder.blocks.{i}.around_feed_forward.norm.{kind}"
    ),
    "pooler.dense.{kind}": "pooler.{kind}",
}
HEADS = {
    "cls.predictions.transform.dense.{kind}": "masked_words.dense.{kind}",
    "cls.predictions.transform.LayerNorm.{kind}": "masked_words.norm.{kind}",
    "cls.predictions.bias": "masked_words.bias",
    # the same bias, saved twice by some versions
    "cls.predictions.decoder.bias": "masked_words.bias",
    "cls.predictions.decoder.weight": "tied",  # the token vectors, saved twice
    "cls.seq_relationship.{kind}": "next_sentence.{kind}",
}
IGNORED = ("embeddings.position_ids",)  # 0, 1, 2, …
OTHER_HEADS = ("classifier.{kind}", "qa_outputs.{kind}")  # of fine-tuned models
SIZES = {
    "vocab_size": "vocab_size",
    "hidden_size": "d_model",
    "num_hidden_layers": "n_layers",
    "num_attention_heads": "n_heads",
    "intermediate_size": "d_ff",
    "hidden_dropout_prob": "dropout",
    "attention_probs_dropout_prob": "attention_dropout",
    "max_position_embeddings": "max_len",
    "type_vocab_size": "n_segments",
    "hidden_act": "activation",
    "layer_norm_eps": "eps",
    "initializer_range": "init_std",
}


def read_checkpoint(name: str | Path) -> tuple["BertConfig", dict[str, Tensor]]:
    """A checkpoint's sizes, and its tensors under the body's own names: without the prefix that
    models with heads give them.
    """
    folder = hugging_face.checkpoint_folder(name)
    config = bert_config(hugging_face.read_config(folder))
    # what the first checkpoints called LayerNorm's parameters
    old = {"gamma": "weight", "beta": "bias"}
    state = {}
    for key, tensor in hugging_face.read_state(folder).items():
        *path, kind = key.removeprefix("bert.").split(".")
        state[".".join([*path, old.get(kind, kind)])] = tensor
    return config, state


def bert_config(theirs: dict[str, Any]) -> "BertConfig":
    """Our configuration from a checkpoint's config.json.

    Raises:
        ValueError: for another kind of model, or an option that our BERT does not have.
    """
    positions = theirs.get("position_embedding_type", "absolute")
    problems = (
        [f"model_type = {theirs.get('model_type')!r}"]
        if theirs.get("model_type", "bert") != "bert"
        else []
    )
    problems += [f"position_embedding_type = {positions!r}"] if positions != "absolute" else []
    activation = theirs.get("hidden_act", "gelu")
    problems += (
        [f"hidden_act = {activation!r}"] if activation not in hugging_face.ACTIVATIONS else []
    )
    problems += ["is_decoder = True"] if theirs.get("is_decoder") else []
    if problems:
        raise ValueError(f"our BERT has no such option: {'; '.join(problems)}")
    sizes = {ours: theirs[name] for name, ours in SIZES.items() if name in theirs}
    sizes["activation"] = hugging_face.ACTIVATIONS[activation]
    of_attention = sizes.get("attention_dropout", BertConfig.BASE.dropout)
    sizes["attention_dropout"] = (
        None if of_attention == sizes.get("dropout", BertConfig.BASE.dropout) else of_attention
    )
    return replace(BertConfig.BASE, **sizes)


def hugging_face_config(config: "BertConfig", architecture: str) -> dict[str, Any]:
    """Our configuration as Hugging Face writes it."""
    sizes = {theirs: getattr(config, ours) for theirs, ours in SIZES.items()}
    sizes["hidden_act"] = hugging_face.activation_written(config.activation)
    if config.attention_dropout is None:
        sizes["attention_probs_dropout_prob"] = config.dropout
    fixed = {"pad_token_id": 0, "tie_word_embeddings": True}
    return {"model_type": "bert", "architectures": [architecture], **sizes, **fixed}


@dataclass(frozen=True)
class BertConfig:
    """The sizes of a BERT.

    Args:
        vocab_size: word pieces in the vocabulary.
        d_model: width of the vectors (the paper's H).  n_layers: its L.  n_heads: its A.  d_ff:
            width of the feed-forward's hidden layer, 4 H.
        dropout: share of each sublayer's output and of the embeddings dropped in training.
        attention_dropout: the same for attention weights; None: as `dropout`.
        max_len: how many positions have a vector.
        n_segments: how many sentences an input may have: segment ids 0 … n_segments - 1.
        activation: a name in `layers.ACTIVATIONS`.
        eps: what LayerNorm adds to the variance.
        init_std: standard deviation of fresh weights; the authors' code has 0.02.

    Raises:
        TypeError: for a size that is no whole number.
        ValueError: for a size below 1, a dropout that is no share, heads that do not divide
            d_model, or an unknown activation.
    """

    vocab_size: int = 30_522
    d_model: int = 768
    n_layers: int = 12
    n_heads: int = 12
    d_ff: int = 3072
    dropout: float = 0.1
    max_len: int = 512
    n_segments: int = 2
    activation: str = "gelu"
    eps: float = 1e-12
    init_std: float = 0.02
    attention_dropout: float | None = None

    def __post_init__(self):
        check_config(self, ACTIVATIONS)

    BASE: ClassVar["BertConfig"]
    LARGE: ClassVar["BertConfig"]
    MINILM: ClassVar["BertConfig"]
    SMALL: ClassVar["BertConfig"]
    TINY: ClassVar["BertConfig"]


# Section 3 of the paper; the vocabulary is the released uncased one's ("30,000" in the text).
BertConfig.BASE = BertConfig()
BertConfig.LARGE = BertConfig(d_model=1024, n_layers=24, n_heads=16, d_ff=4096)
# Wang et al. 2020, in the six-layer version of the sentence-transformers project.
BertConfig.MINILM = BertConfig(d_model=384, n_layers=6, d_ff=1536)
# Sizes of this book: for a GPU, and for a CPU. Fresh weights of TINY are near 1 / √128, as Xavier's
# would be.
BertConfig.SMALL = BertConfig(8_000, d_model=256, n_layers=6, n_heads=4, d_ff=1024, max_len=128)
BertConfig.TINY = BertConfig(
    1_500, d_model=128, n_layers=2, n_heads=4, d_ff=512, dropout=0.0, max_len=64, init_std=0.09
)
