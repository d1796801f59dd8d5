"""BERT's body: three embeddings, an encoder and the pooler (chapter 12; Devlin et al. 2019, section
3).
"""

import warnings
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from lectures_lib.blocks.attention import padding_mask
from lectures_lib.blocks.layers import Encoder, initialise
from lectures_lib.checks.door import at_the_door
from lectures_lib.checks.tokens import check_embedded, check_read
from lectures_lib.models import hugging_face
from lectures_lib.models.bert.checkpoint import (
    BODY,
    HEADS,
    IGNORED,
    OTHER_HEADS,
    hugging_face_config,
    read_checkpoint,
    todays_name,
)
from lectures_lib.models.bert.config import BertConfig


class BertEmbeddings(nn.Module):
    """LayerNorm(token vector + position vector + segment vector); all three are learned (figure 2
    of the paper).
    """

    def __init__(self, config: BertConfig):
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

    def __init__(self, config: BertConfig):
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
            segments: 0 for the first sentence of an input, 1 for the second; None: all 0. (No
                attention mask: one is noticed on a CPU only, where ids can be looked at.)
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
        model = hugging_face.without_init(lambda: cls(config))
        hugging_face.load_into(model, _with_pooler(name, body, config))
        return model.eval()

    def save_pretrained(self, folder: str | Path) -> Path:
        """Write a checkpoint that Hugging Face's `BertModel.from_pretrained` reads."""
        state = hugging_face.rename_back(self.state_dict(), BODY)
        return hugging_face.write_checkpoint(
            folder, hugging_face_config(self.config, "BertModel"), state
        )


def _with_pooler(
    name: str | Path, body: dict[str, Tensor], config: BertConfig
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


def initialise_as_bert(model: nn.Module, std: float = 0.02) -> None:
    """Normal weights of this standard deviation, cut off at two of them, and zero biases: as in the
    authors' code.
    """
    initialise(model, std)
    for module in model.modules():
        if isinstance(module, nn.Embedding):
            nn.init.trunc_normal_(module.weight, std=std, a=-2 * std, b=2 * std)
