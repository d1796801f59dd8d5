"""What the five heads share: dropout and one linear layer on a body, the way to Hugging Face's
checkpoints and back, and a check of the labels.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import torch
from jaxtyping import Int
from torch import Tensor, nn

from lectures_lib.checks.tensors import check_whole_numbers
from lectures_lib.models import hugging_face
from lectures_lib.models.bert import Bert, initialise_as_bert
from lectures_lib.models.bert.checkpoint import (
    BODY,
    HEADS,
    IGNORED,
    OTHER_HEADS,
    hugging_face_config,
    read_checkpoint,
)

POOLER = "pooler."


class Head(nn.Module):
    """What the five share: a body, dropout, a linear layer, and the way to Hugging Face's
    checkpoints and back.

    Args:
        bert: the body, fresh or with real weights. It is not copied: fine-tuning changes it, for
            every head that shares it. Which of its parameters ask for gradients is left as it is.
        n_out: how many numbers the linear layer gives.
        names: of the classes, in the order of their ids; None: no names.
        dropout: before the linear layer; None: the body's.

    Raises:
        ValueError: for fewer than one number, or names that are not as many as there are classes.
    """

    architecture: ClassVar[str]  # Hugging Face's name of the same model
    # Hugging Face's names of the head's weights, and ours
    keys: ClassVar[dict[str, str]] = {"classifier.{kind}": "head.{kind}"}
    pools: ClassVar[bool] = True  # whether the head stands on the pooled vector

    def __init__(
        self,
        bert: Bert,
        n_out: int,
        names: Sequence[str] | None = None,
        dropout: float | None = None,
    ):
        super().__init__()
        if n_out < 1 or (names is not None and len(names) != n_out):
            raise ValueError(
                f"a head gives at least one number and has a name for each or none, got {n_out} "
                f"numbers, names {names}"
            )
        self.bert, self.names = bert, None if names is None else tuple(names)
        self.dropout = nn.Dropout(bert.config.dropout if dropout is None else dropout)
        self.head = nn.Linear(bert.config.d_model, n_out)
        initialise_as_bert(self.head, bert.config.init_std)

    @property
    def _ddp_params_and_buffers_to_ignore(self) -> list[str]:
        """Where the head does not stand on the pooler, no loss reaches that, and several processes
        that train together would wait for its gradient: DistributedDataParallel reads here that it
        need not. The pooler itself is not switched off, for another head on this body may need it.
        """
        unused = () if self.pools else self.named_parameters()
        return [name for name, _ in unused if name.startswith(f"bert.{POOLER}")]

    def train(self, mode: bool = True):
        """Switch dropout on (or off); in a body that is frozen, none of it asking for a gradient,
        it stays off: that gives features.
        """
        super().train(mode)
        if not any(parameter.requires_grad for parameter in self.bert.parameters()):
            self.bert.eval()
        return self

    @classmethod
    def from_pretrained(cls, name: str | Path):
        """The model of a fine-tuned Hugging Face checkpoint, body and head, ready for use (dropout
        off).

        Where the head does not stand on the pooler, Hugging Face saves none; ours is then all
        zeros.

        Args:
            name: a folder, or an id on the hub.

        Raises:
            FileNotFoundError: where there is no such checkpoint.
            ValueError: for a checkpoint without this head (a body alone becomes a model by
                `cls(Bert.from_pretrained(name), …)`), or with options or weights that we do not
                know.
        """
        folder = hugging_face.checkpoint_folder(name)
        config, state = read_checkpoint(folder)
        facts = hugging_face.read_config(folder)
        theirs = {
            key: state.pop(key)
            for key in list(state)
            if not key.startswith(("embeddings.", "encoder.", POOLER))
        }
        head = hugging_face.rename(
            theirs, cls.keys, [key for key in (*HEADS, *OTHER_HEADS) if key not in cls.keys]
        )
        found = facts.get("architectures") or [cls.architecture]
        if "head.weight" not in head or found != [cls.architecture]:
            raise ValueError(
                f"{name} holds a {found[0]}, not the head of a {cls.__name__}; for a fresh head "
                f"wrap Bert.from_pretrained"
            )
        body = hugging_face.rename(state, BODY, IGNORED)
        if not cls.pools:
            d = config.d_model
            body = {"pooler.weight": torch.zeros(d, d), "pooler.bias": torch.zeros(d)} | body
        model = hugging_face.without_init(
            lambda: cls._made(Bert(config), len(head["head.weight"]), facts)
        )
        hugging_face.load_into(
            model, {f"bert.{key}": tensor for key, tensor in body.items()} | head
        )
        return model.eval()

    def save_pretrained(self, folder: str | Path) -> Path:
        """Write a checkpoint that Hugging Face's class of `architecture`, and its AutoModelFor…
        class, read.
        """
        body = {
            key: tensor
            for key, tensor in self.bert.state_dict().items()
            if self.pools or not key.startswith(POOLER)
        }
        state = {
            f"bert.{key}": tensor for key, tensor in hugging_face.rename_back(body, BODY).items()
        }
        state |= hugging_face.rename_back(
            {f"head.{key}": tensor for key, tensor in self.head.state_dict().items()}, self.keys
        )
        config = (
            hugging_face_config(self.bert.config, self.architecture)
            | {"classifier_dropout": self.dropout.p}
            | self._their_labels()
        )
        return hugging_face.write_checkpoint(folder, config, state)

    @classmethod
    def _made(cls, bert: Bert, n_out: int, facts: dict[str, Any]):
        """A model with this many classes, and the names that the checkpoint's config.json gives
        them.
        """
        return cls(
            bert, n_out, hugging_face.label_names(facts, n_out), facts.get("classifier_dropout")
        )

    def _their_labels(self) -> dict[str, Any]:
        return hugging_face.labels_written(self.names, self.head.out_features)


class Classifier(Head):
    """What the two heads share that choose among classes, for a sentence or for each token.

    Args:
        bert: the body.  n_classes: how many classes.  names: of the classes.  dropout: before the
            linear layer; None: the body's.

    Raises:
        ValueError: for a single class, which would always be right.
    """

    def __init__(
        self,
        bert: Bert,
        n_classes: int,
        names: Sequence[str] | None = None,
        dropout: float | None = None,
    ):
        if n_classes < 2:
            raise ValueError(
                f"a classifier tells at least 2 classes apart, got n_classes = {n_classes}"
            )
        super().__init__(bert, n_classes, names, dropout)


def check_labels(
    labels: Int[Tensor, "*batch"], n_classes: int, unlabelled: int | None = None
) -> None:
    """Refuse labels that are no class, before a loss fails without saying which.

    Raises:
        TypeError: for what is no tensor.
        ValueError: the message gives the first such label, its place and how many classes there
            are.
    """
    check_whole_numbers("labels", labels)
    strange = (labels < 0) | (labels >= n_classes)
    if unlabelled is not None:
        strange &= labels != unlabelled
    if strange.any():
        place = strange.nonzero()[0].tolist()
        also = "" if unlabelled is None else f", and {unlabelled} for none"
        raise ValueError(
            f"label {labels[tuple(place)]} (at {place}) is not among the {n_classes} there are, 0 "
            f"… {n_classes - 1}{also}"
        )
