"""The two heads of BERT's pre-training, on the body: masked words, and the next sentence (chapter
13; Devlin et al. 2019, section 3.1); and a copy with half of the layers (chapter 18b).
"""

from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from lectures_lib.blocks.layers import ACTIVATIONS
from lectures_lib.checks.door import at_the_door
from lectures_lib.checks.tokens import check_read_and_asked
from lectures_lib.models import hugging_face
from lectures_lib.models.bert.body import Bert, initialise_as_bert
from lectures_lib.models.bert.checkpoint import (
    BODY,
    HEADS,
    IGNORED,
    OTHER_HEADS,
    hugging_face_config,
    read_checkpoint,
)
from lectures_lib.models.bert.config import BertConfig


class MaskedWordHead(nn.Module):
    """Scores of every word piece at a position: a layer, and then the token vectors once more
    (tied), plus a bias.

    The paper does not mention the layer between; the authors' code has it, and so have all
    published weights.
    """

    def __init__(self, config: BertConfig):
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

    def __init__(self, config: BertConfig):
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
        model = hugging_face.without_init(lambda: cls(config))
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
            f"bert.{name}": tensor for name, tensor in hugging_face.rename_back(body, BODY).items()
        }
        theirs |= hugging_face.rename_back(
            {name: tensor for name, tensor in state.items() if not name.startswith("bert.")}, HEADS
        )
        return hugging_face.write_checkpoint(
            folder, hugging_face_config(self.config, "BertForPreTraining"), theirs
        )


def every_other_layer(model: BertForPreTraining) -> BertForPreTraining:
    """A student of half the depth: a copy of the model with the first of its layers, the third, the
    fifth, … (after Sanh et al. 2019, section 3, who take one layer out of two; chapter 18b).

    Embeddings, norms and heads are copied whole. The model stays as it is.
    """
    student = deepcopy(model)
    student.bert.encoder.blocks = student.bert.encoder.blocks[::2]
    n_layers = len(student.bert.encoder.blocks)
    student.config = student.bert.config = replace(model.config, n_layers=n_layers)
    return student
