"""Siamese training: two sentences through the same encoder, compared, by one of the objectives and
`training.fit` (chapter 17).
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from lectures_lib.data import Batches, pad
from lectures_lib.tasks.sentence_bert.encoder import SentenceBert
from lectures_lib.tasks.sentence_bert.objectives import (
    contrastive_pairs,
    cosine_regression,
    in_batch_negatives,
    pair_features,
)


class SiameseBatch(NamedTuple):
    """Pairs of sentences, and what is known of each: a class, a similarity, or whether they are the
    same.
    """

    first: Int[Tensor, "batch n_first"]
    first_lengths: Int[Tensor, " batch"]
    second: Int[Tensor, "batch n_second"]
    second_lengths: Int[Tensor, " batch"]
    label: Float[Tensor, " batch"]

    @property
    def n_targets(self) -> int:
        """How many pairs there are: what the batch's loss is the mean of."""
        return len(self.label)


def _batch(examples: list[tuple[list[int], list[int], int | float]]) -> SiameseBatch:
    first, second, labels = zip(*examples, strict=True)
    return SiameseBatch(*pad(first), *pad(second), torch.tensor(labels, dtype=torch.float))


class SiameseBatches(Batches):
    """Batches of pairs of similar length, anew for every epoch; data for `training.fit`.

    Args:
        encoder: turns texts into ids.
        pairs: the texts.  labels: one for each pair; None: 1 for all, for `ranking_loss`, which
            needs none.
        batch_size: pairs in a batch. Where one pair would be left over, it joins the batch before
            it: `ranking_loss` compares a pair with the others of its batch.
        seed: decides every order.

    Raises:
        ValueError: for no pairs, not one label for each, or a text without a word.
    """

    def __init__(
        self,
        encoder: SentenceBert,
        pairs: Sequence[tuple[str, str]],
        labels: Sequence[int] | Sequence[float] | None = None,
        batch_size: int = 16,
        seed: int = 0,
    ):
        labels = [1] * len(pairs) if labels is None else labels
        if len(labels) != len(pairs):
            raise ValueError(
                f"every pair has one label: got {len(pairs)} pairs and {len(labels)} labels"
            )
        texts = [text for first, second in pairs for text in (first, second)]
        ids = encoder.all_ids(
            texts, lambda i: f"the {('first', 'second')[i % 2]} text of pair {i // 2}", stacklevel=3
        )
        super().__init__(
            list(zip(ids[::2], ids[1::2], labels, strict=True)),
            _batch,
            batch_size=batch_size,
            seed=seed,
            lengths=[(len(a), len(b)) for a, b in zip(ids[::2], ids[1::2], strict=True)],
        )

    def _cut(self, order: list[int]) -> list[list[int]]:
        batches = super()._cut(order)
        if len(batches) > 1 and self.batch_size > 1 and len(batches[-1]) == 1:
            (left_over,) = batches.pop()
            batches[-1].append(left_over)
        return batches


class Siamese(nn.Module):
    """One encoder, used twice, and the layer that the classification objective needs.

    Args:
        encoder: what is trained. Nothing else is kept afterwards.
        n_classes: of the classification objective; 0: no such layer.
    """

    def __init__(self, encoder: SentenceBert, n_classes: int = 0):
        super().__init__()
        self.encoder = encoder
        self.W_t = nn.Linear(3 * encoder.bert.config.d_model, n_classes) if n_classes else None

    def forward(
        self, batch: SiameseBatch
    ) -> tuple[Float[Tensor, "batch d_model"], Float[Tensor, "batch d_model"]]:
        """The vectors u and v of the pairs, as pooled.

        A cosine is the same for vectors of length 1. (u, v, |u - v|) is not: W_t would get
        components too small to learn from.
        """
        u = self.encoder.pooled(batch.first, batch.first_lengths)
        v = self.encoder.pooled(batch.second, batch.second_lengths)
        return u, v

    @property
    def _ddp_params_and_buffers_to_ignore(self) -> list[str]:
        """No loss reaches BERT's pooler, and several processes that train together would wait for
        its gradient: DistributedDataParallel reads here that it need not.
        """
        return [name for name, _ in self.named_parameters() if ".pooler." in name]

    def scores(
        self, u: Float[Tensor, "batch d_model"], v: Float[Tensor, "batch d_model"]
    ) -> Float[Tensor, "batch classes"]:
        """The classes' scores (logits) W_t (u, v, |u - v|). The paper has no bias here;
        sentence-transformers has one, and so do we.

        Raises:
            ValueError: for a model made without classes.
        """
        if self.W_t is None:
            raise ValueError("this Siamese was made with n_classes = 0 and cannot classify")
        return self.W_t(pair_features(u, v))


def classification_loss(model: nn.Module, batch: SiameseBatch) -> Float[Tensor, ""]:
    """Cross-entropy of softmax(W_t (u, v, |u - v|)); labels are classes."""
    u, v = model(batch)
    bare = getattr(model, "module", model)  # without what several processes wrap around it
    return F.cross_entropy(bare.scores(u, v), batch.label.long())


def regression_loss(model: nn.Module, batch: SiameseBatch) -> Float[Tensor, ""]:
    """`cosine_regression`; labels are similarities."""
    return cosine_regression(*model(batch), batch.label)


def ranking_loss(model: nn.Module, batch: SiameseBatch, scale: float = 20.0) -> Float[Tensor, ""]:
    """`in_batch_negatives`; labels are not looked at: all pairs belong together."""
    return in_batch_negatives(*model(batch), scale=scale)


def margin_loss(model: nn.Module, batch: SiameseBatch, margin: float = 0.5) -> Float[Tensor, ""]:
    """`contrastive_pairs`; labels are 1 for the same, 0 for different."""
    return contrastive_pairs(*model(batch), batch.label > 0.5, margin=margin)
