"""Five heads for one body: what fine-tuning adds to BERT (chapter 14; Devlin et al. 2019, section 4
and figure 4).

| head | answers | stands on | new numbers |
|---|---|---|---|
| `SentenceClassifier` | one class for a sentence or a pair | pooled | (d_model + 1) · classes |
| `SentenceRegressor` | one number for a sentence or a pair | pooled | d_model + 1 |
| `MultipleChoice` | one of several endings | pooled, once for each ending | d_model + 1 |
| `TokenTagger` | one class for each token | hidden | (d_model + 1) · classes |
| `SpanExtractor` | where an answer begins and ends | hidden | (d_model + 1) · 2 |

Each wraps a `bert.Bert` as `.bert`, with dropout and one linear layer, `.head`, on top, and knows
the loss it is trained with.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from lectures_lib.checks.tensors import check_whole_numbers
from lectures_lib.models import hugging_face
from lectures_lib.models.bert import (
    BODY,
    HEADS,
    IGNORED,
    OTHER_HEADS,
    Bert,
    hugging_face_config,
    initialise_as_bert,
    read_checkpoint,
)

# the label of what has none: special tokens, padding, all pieces of a word but the first
UNLABELLED = -100
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
        if not self.pools:
            # No loss reaches the pooler, and several processes that train together would wait for
            # its gradient: DistributedDataParallel reads here that it need not. The pooler itself
            # is not switched off, for another head on this body may need it.
            self._ddp_params_and_buffers_to_ignore = [
                f"bert.{POOLER}{kind}" for kind in ("weight", "bias")
            ]

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
        config, state = read_checkpoint(name)
        facts = hugging_face.read_config(hugging_face.checkpoint_folder(name))
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
        model = hugging_face.unfilled(
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
            f"bert.{key}": tensor for key, tensor in hugging_face.spelled_theirs(body, BODY).items()
        }
        state |= hugging_face.spelled_theirs(
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
        names = self.names or [f"LABEL_{i}" for i in range(self.head.out_features)]
        return {
            "id2label": {str(i): name for i, name in enumerate(names)},
            "label2id": {name: i for i, name in enumerate(names)},
        }


class SentenceClassifier(Head):
    """One class for a sentence or a pair: a linear layer on the pooled vector (figure 4, a and b).

    Args:
        bert: the body.  n_classes: how many classes.  names: of the classes.  dropout: before the
            linear layer; None: the body's.
    """

    architecture = "BertForSequenceClassification"

    def __init__(
        self,
        bert: Bert,
        n_classes: int,
        names: Sequence[str] | None = None,
        dropout: float | None = None,
    ):
        check_classes(n_classes)
        super().__init__(bert, n_classes, names, dropout)

    def forward(
        self,
        tokens: Int[Tensor, "batch n"],
        segments: Int[Tensor, "batch n"] | None = None,
        lengths: Int[Tensor, " batch"] | None = None,
    ) -> Float[Tensor, "batch classes"]:
        """The scores (logits). The arguments are those of `Bert.forward`."""
        return self.head(self.dropout(self.bert(tokens, segments, lengths).pooled))

    @staticmethod
    def loss(
        scores: Float[Tensor, "batch classes"], targets: Int[Tensor, " batch"]
    ) -> Float[Tensor, ""]:
        """Cross-entropy. Raises ValueError for a label that is no class."""
        check_labels(targets, scores.shape[-1])
        return F.cross_entropy(scores, targets)

    @classmethod
    def _made(cls, bert: Bert, n_out: int, facts: dict[str, Any]):
        if n_out == 1 or facts.get("problem_type") == "regression":
            raise ValueError(
                "this checkpoint's head gives one number, a regressor's: read it as a "
                "SentenceRegressor"
            )
        return super()._made(bert, n_out, facts)


class SentenceRegressor(Head):
    """One number for a sentence or a pair, such as how similar two sentences are (STS-B).

    Args:
        bert: the body.  dropout: before the linear layer; None: the body's.
    """

    architecture = "BertForSequenceClassification"

    def __init__(self, bert: Bert, dropout: float | None = None):
        super().__init__(bert, 1, None, dropout)

    def forward(
        self,
        tokens: Int[Tensor, "batch n"],
        segments: Int[Tensor, "batch n"] | None = None,
        lengths: Int[Tensor, " batch"] | None = None,
    ) -> Float[Tensor, " batch"]:
        """The numbers. The arguments are those of `Bert.forward`."""
        return self.head(self.dropout(self.bert(tokens, segments, lengths).pooled))[:, 0]

    @staticmethod
    def loss(
        scores: Float[Tensor, " batch"], targets: Float[Tensor, " batch"]
    ) -> Float[Tensor, ""]:
        """Mean squared error. Raises ValueError for targets that are no numbers."""
        if scores.shape != targets.shape:
            raise ValueError(
                f"one target for each number: scores are {tuple(scores.shape)}, targets "
                f"{tuple(targets.shape)}"
            )
        if not targets.isfinite().all():
            raise ValueError(f"every target must be a finite number, got {targets.tolist()}")
        return F.mse_loss(scores, targets)

    @classmethod
    def _made(cls, bert: Bert, n_out: int, facts: dict[str, Any]):
        if n_out != 1:
            raise ValueError(
                f"this checkpoint's head gives {n_out} numbers, a regressor's gives 1: read it as "
                f"a SentenceClassifier"
            )
        return cls(bert, facts.get("classifier_dropout"))

    def _their_labels(self) -> dict[str, Any]:
        return super()._their_labels() | {"problem_type": "regression"}


class MultipleChoice(Head):
    """Which of several endings continues a beginning (SWAG, section 4.4): each pair gets one score,
    and the scores compete.

    Args:
        bert: the body.  dropout: before the linear layer; None: the body's.
    """

    architecture = "BertForMultipleChoice"

    def __init__(self, bert: Bert, dropout: float | None = None):
        super().__init__(bert, 1, None, dropout)

    def forward(
        self,
        tokens: Int[Tensor, "batch choices n"],
        segments: Int[Tensor, "batch choices n"] | None = None,
        lengths: Int[Tensor, "batch choices"] | None = None,
    ) -> Float[Tensor, "batch choices"]:
        """A score for each ending. The body reads every pair by itself.

        Raises:
            ValueError: for tokens without an axis for the endings, or fewer than two of them.
        """
        check_choices(tokens)
        flat = [None if x is None else x.flatten(0, 1) for x in (tokens, segments, lengths)]
        return self.head(self.dropout(self.bert(*flat).pooled)).view(tokens.shape[:2])

    @staticmethod
    def loss(
        scores: Float[Tensor, "batch choices"], targets: Int[Tensor, " batch"]
    ) -> Float[Tensor, ""]:
        """Cross-entropy over the endings. Raises ValueError for a target that is none of them."""
        check_labels(targets, scores.shape[-1])
        return F.cross_entropy(scores, targets)

    @classmethod
    def _made(cls, bert: Bert, n_out: int, facts: dict[str, Any]):
        if n_out != 1:
            raise ValueError(
                f"this checkpoint's head gives {n_out} numbers, that of a multiple choice 1"
            )
        return cls(bert, facts.get("classifier_dropout"))


class TokenTagger(Head):
    """One class for each token, such as B-person for the first piece of a name's first word (figure
    4, d).

    Args:
        bert: the body.  n_classes: how many classes.  names: of the classes.  dropout: before the
            linear layer; None: the body's.
    """

    architecture = "BertForTokenClassification"
    pools = False

    def __init__(
        self,
        bert: Bert,
        n_classes: int,
        names: Sequence[str] | None = None,
        dropout: float | None = None,
    ):
        super().__init__(bert, n_classes, names, dropout)

    def forward(
        self,
        tokens: Int[Tensor, "batch n"],
        segments: Int[Tensor, "batch n"] | None = None,
        lengths: Int[Tensor, " batch"] | None = None,
    ) -> Float[Tensor, "batch n classes"]:
        """The scores (logits) of every token. The arguments are those of `Bert.forward`."""
        return self.head(self.dropout(self.bert(tokens, segments, lengths).hidden))

    @staticmethod
    def loss(
        scores: Float[Tensor, "batch n classes"], targets: Int[Tensor, "batch n"]
    ) -> Float[Tensor, ""]:
        """Cross-entropy over the tokens whose target is not `UNLABELLED`.

        Raises:
            ValueError: for a label that is no class, or where no token has one.
        """
        check_labels(targets, scores.shape[-1], UNLABELLED)
        if (targets == UNLABELLED).all():
            raise ValueError(
                f"none of the {targets.numel()} tokens has a label: all are {UNLABELLED}"
            )
        return F.cross_entropy(scores.flatten(0, 1), targets.flatten(), ignore_index=UNLABELLED)


class SpanScores(NamedTuple):
    """How well an answer might begin, and end, at each token."""

    start: Float[Tensor, "batch n"]
    end: Float[Tensor, "batch n"]


class SpanExtractor(Head):
    """Where in a text an answer begins and ends (figure 4, c; sections 4.2 and 4.3): a start vector
    and an end vector, nothing more.

    Args:
        bert: the body.  dropout: before the two vectors; None: none, as in the authors' code and in
            Hugging Face's.
    """

    architecture = "BertForQuestionAnswering"
    keys: ClassVar[dict[str, str]] = {"qa_outputs.{kind}": "head.{kind}"}
    pools = False

    def __init__(self, bert: Bert, dropout: float | None = None):
        super().__init__(bert, 2, None, 0.0 if dropout is None else dropout)

    def forward(
        self,
        tokens: Int[Tensor, "batch n"],
        segments: Int[Tensor, "batch n"] | None = None,
        lengths: Int[Tensor, " batch"] | None = None,
    ) -> SpanScores:
        """The scores of every token, those of [CLS], the question and the padding too: `best_spans`
        picks the legal ones.
        """
        return SpanScores(
            *self.head(self.dropout(self.bert(tokens, segments, lengths).hidden)).unbind(dim=-1)
        )

    @staticmethod
    def loss(scores: SpanScores, targets: Int[Tensor, "batch 2"]) -> Float[Tensor, ""]:
        """The mean of two cross-entropies over the positions: of the first and of the last token of
        the answer, (0, 0) for none.

        Raises:
            ValueError: for a position outside the row, or an end before its start.
        """
        check_labels(targets, scores.start.shape[-1])
        if (wrong := targets[:, 0] > targets[:, 1]).any():
            raise ValueError(
                f"an answer must not end before it begins, got (start, end) = "
                f"{targets[wrong][0].tolist()}"
            )
        return (
            F.cross_entropy(scores.start, targets[:, 0])
            + F.cross_entropy(scores.end, targets[:, 1])
        ) / 2

    @classmethod
    def _made(cls, bert: Bert, n_out: int, facts: dict[str, Any]):
        if n_out != 2:
            raise ValueError(f"this checkpoint's head gives {n_out} numbers, that of a span 2")
        return cls(bert)


class Spans(NamedTuple):
    """The best answer of each row, as its first and last token, and its score. (0, 0), [CLS], is
    "no answer".
    """

    start: Int[Tensor, " batch"]
    end: Int[Tensor, " batch"]
    score: Float[Tensor, " batch"]


def best_spans(
    scores: SpanScores,
    allowed: Bool[Tensor, "batch n"],
    max_length: int = 30,
    threshold: float | None = None,
) -> Spans:
    """The highest start + end score of a legal span: it does not end before it begins, is not too
    long, and all of it is allowed.

    Args:
        scores: what a `SpanExtractor` says.
        allowed: where an answer may stand: True in the context alone, not in [CLS], question, [SEP]
            or padding.
        max_length: the most tokens of an answer.
        threshold: an answer must beat [CLS]'s start + end by more than this, or there is none
            (SQuAD 2.0, the paper's τ); None: there always is one (SQuAD 1.1).

    Raises:
        ValueError: for a max_length below 1, shapes that differ, [CLS] allowed, or a row where
            nothing is.
    """
    if allowed.dtype != torch.bool:
        raise ValueError(
            f"allowed must be boolean, True where an answer may stand; got {allowed.dtype}"
        )
    if max_length < 1 or allowed.shape != scores.start.shape:
        raise ValueError(
            f"max_length must be at least 1 and `allowed` have the scores' shape "
            f"{tuple(scores.start.shape)}, got max_length = {max_length}, {tuple(allowed.shape)}"
        )
    if allowed[:, 0].any() or not allowed.any(dim=1).all():
        row = int((allowed[:, 0] | ~allowed.any(dim=1)).nonzero()[0])
        raise ValueError(
            f"row {row}: position 0 is [CLS], no part of an answer"
            if allowed[row, 0]
            else f"row {row}: no position is allowed"
        )
    n = allowed.shape[1]
    # holes[:, i]: how many forbidden positions stand before i. A span from i to j has none in it if
    # holes[j] = holes[i].
    holes = (~allowed).cumsum(dim=1)
    unbroken = allowed[:, :, None] & allowed[:, None, :] & (holes[:, :, None] == holes[:, None, :])
    short = torch.ones(n, n, dtype=torch.bool, device=allowed.device).triu().tril(max_length - 1)
    total = (scores.start[:, :, None] + scores.end[:, None, :]).masked_fill(
        ~(unbroken & short), -torch.inf
    )
    best, place = total.flatten(1).max(dim=1)
    start, end = place // n, place % n
    if threshold is not None:
        nothing = scores.start[:, 0] + scores.end[:, 0]
        answered = best > nothing + threshold
        start, end, best = start * answered, end * answered, torch.where(answered, best, nothing)
    return Spans(start, end, best)


def check_choices(tokens: Int[Tensor, "*batch"]) -> None:
    """Refuse what is no choice: with one ending, the softmax of its score is 1 whatever the model
    says.

    Raises:
        ValueError: the message gives the shape.
    """
    if tokens.ndim != 3 or tokens.shape[1] < 2:
        n = (
            f"{tokens.shape[1]} ending(s)"
            if tokens.ndim == 3
            else "no axis of endings (a single ending is none to choose from)"
        )
        raise ValueError(
            f"tokens are (batch, endings, n) with at least 2 endings, got shape "
            f"{tuple(tokens.shape)}: {n}"
        )


def check_classes(n_classes: int) -> None:
    """Refuse a classifier with a single class: it would always be right.

    Raises:
        ValueError: the message gives their number.
    """
    if n_classes < 2:
        raise ValueError(
            f"a classifier tells at least 2 classes apart, got n_classes = {n_classes}"
        )


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
