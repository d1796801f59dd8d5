"""Sentence-BERT: one vector for a whole sentence, and three ways to train it (chapter 17; Reimers
and Gurevych 2019).

Two sentences go through the *same* encoder, one after the other (a siamese network), and are
compared as vectors. A corpus can therefore be encoded once and searched ever after. To read in this
order: pooling (a vector for each token → one for the sentence), `SentenceBert`, `search`, the
objectives, `Siamese`, which trains by one of them with `training.fit`.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from lectures_lib.checks.tokens import check_lengths
from lectures_lib.data import Batches, pad
from lectures_lib.models.bert import Bert
from lectures_lib.modes import evaluating
from lectures_lib.tasks.alignment import n_pieces, warn_of_cuts
from lectures_lib.tokenization import WordPiece

# ------------------------------------------------------------------------------------------ pooling


def real_tokens(
    hidden: Float[Tensor, "batch n d_model"], lengths: Int[Tensor, " batch"] | None
) -> Bool[Tensor, "batch n 1"]:
    """True where there is a token, False where there is padding.

    Raises:
        ValueError: for lengths that do not fit, or of which one is 0: nothing has no mean.
    """
    batch, n, _ = hidden.shape
    places = torch.arange(n, device=hidden.device).expand(batch, n)
    check_lengths(lengths, places)
    lengths = torch.full_like(places[:, 0], n) if lengths is None else lengths
    return (places < lengths[:, None])[..., None]


def mean_pooling(
    hidden: Float[Tensor, "batch n d_model"], lengths: Int[Tensor, " batch"] | None = None
) -> Float[Tensor, "batch d_model"]:
    """The mean of the tokens' vectors, [CLS] and [SEP] among them, padding left out. What MiniLM
    was trained with.
    """
    real = real_tokens(hidden, lengths)
    return hidden.masked_fill(~real, 0.0).sum(dim=1) / real.sum(dim=1)


def cls_pooling(
    hidden: Float[Tensor, "batch n d_model"], lengths: Int[Tensor, " batch"] | None = None
) -> Float[Tensor, "batch d_model"]:
    """The vector of the first token, [CLS]: without BERT's pooler, whose layer was trained for
    another task.
    """
    real_tokens(hidden, lengths)  # only to check them: the first token is never padding
    return hidden[:, 0]


def max_pooling(
    hidden: Float[Tensor, "batch n d_model"], lengths: Int[Tensor, " batch"] | None = None
) -> Float[Tensor, "batch d_model"]:
    """In every component the largest number that a token has there, padding left out."""
    return hidden.masked_fill(~real_tokens(hidden, lengths), -torch.inf).amax(dim=1)


POOLING: dict[str, Callable[..., Tensor]] = {
    "mean": mean_pooling,
    "cls": cls_pooling,
    "max": max_pooling,
}  # section 3


# -------------------------------------------------------------------------------------- the encoder


class SentenceBert(nn.Module):
    """BERT, pooling and, if asked for, vectors of length 1.

    Args:
        bert: the body.  tokenizer: the one its vocabulary belongs to.
        pooling: a name in `POOLING`.
        max_len: the most tokens of a text, [CLS] and [SEP] included. What is longer is cut at its
            end, and not read.
        normalise: divide every vector by its length, so that a dot product is a cosine.

    Raises:
        ValueError: for another pooling, or a max_len with no room for a token or more than the body
            has positions.
    """

    def __init__(
        self,
        bert: Bert,
        tokenizer: WordPiece,
        pooling: str = "mean",
        max_len: int = 256,
        normalise: bool = True,
    ):
        super().__init__()
        if pooling not in POOLING:
            raise ValueError(f"no pooling named {pooling!r}; there is: {', '.join(POOLING)}")
        if not 3 <= max_len <= bert.config.max_len:
            raise ValueError(
                f"max_len must lie between 3 and the body's {bert.config.max_len} positions, got "
                f"{max_len}"
            )
        self.bert, self.tokenizer, self.pooling, self.max_len, self.normalise = (
            bert,
            tokenizer,
            pooling,
            max_len,
            normalise,
        )

    def forward(
        self, tokens: Int[Tensor, "batch n"], lengths: Int[Tensor, " batch"] | None = None
    ) -> Float[Tensor, "batch d_model"]:
        """One vector for each row of tokens."""
        vectors = self.pooled(tokens, lengths)
        return F.normalize(vectors, dim=-1) if self.normalise else vectors

    def pooled(
        self, tokens: Int[Tensor, "batch n"], lengths: Int[Tensor, " batch"] | None = None
    ) -> Float[Tensor, "batch d_model"]:
        """The same before they are normalised."""
        return POOLING[self.pooling](self.bert(tokens, lengths=lengths).hidden, lengths)

    def ids(self, text: str) -> list[int]:
        """[CLS], the text's word pieces, [SEP]; at most max_len of them.

        Raises:
            ValueError: for a text without a single word piece: it has no meaning that a vector
                could stand for.
        """
        ids = self.tokenizer.pair(text, max_length=self.max_len).ids
        if len(ids) == 2:
            raise ValueError(
                f"there is no word in the text {text[:40]!r} ({len(text)} characters): an empty "
                f"text has no vector"
            )
        return ids

    def all_ids(
        self,
        texts: Sequence[str],
        name: Callable[[int], str] = "text {}".format,
        stacklevel: int = 4,
    ) -> list[list[int]]:
        """The ids of many texts; one warning says how many were cut.

        Args:
            texts: what to read.
            name: what an error calls the text at a place.
            stacklevel: whose line the warning shows, as in `warnings.warn`; 4: that which called
                `embed`.

        Raises:
            ValueError: as in `ids`; the message says which text it is.
        """
        rows, lengths = [], []
        for i, text in enumerate(texts):
            try:
                rows.append(self.ids(text))
            except ValueError as error:
                raise ValueError(f"{name(i)}: {error}") from error
            lengths.append(
                len(rows[-1]) if len(rows[-1]) < self.max_len else n_pieces(self.tokenizer, text)
            )
        warn_of_cuts(lengths, self.max_len, stacklevel=stacklevel)
        return rows

    @torch.no_grad()
    def embed(self, texts: Sequence[str], batch_size: int = 32) -> Float[Tensor, "texts d_model"]:
        """The vectors of texts, in their order, with dropout off.

        Texts of similar length share a batch, so that little of what is computed is padding. A
        warning says how many were cut.

        Raises:
            ValueError: for one text in place of several, no texts, an empty one, or a batch_size
                below 1.
        """
        if isinstance(texts, str) or not texts or batch_size < 1:
            what = (
                f"one text of {len(texts)} characters; write [text]"
                if isinstance(texts, str)
                else f"{len(texts)} texts"
            )
            raise ValueError(
                f"embed takes several texts, and batches of at least 1; got {what}, batch_size = "
                f"{batch_size}"
            )
        rows = self.all_ids(texts)
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        device = self.bert.pooler.weight.device
        vectors = torch.empty(
            len(rows), self.bert.config.d_model, dtype=self.bert.pooler.weight.dtype, device=device
        )
        for start in range(0, len(order), batch_size):
            places = order[start : start + batch_size]
            tokens, lengths = pad([rows[i] for i in places])
            with evaluating(self):
                vectors[places] = self(tokens.to(device), lengths.to(device))
        return vectors

    @classmethod
    def from_pretrained(cls, folder: str | Path) -> "SentenceBert":
        """A BERT of the sentence-transformers project, such as `minilm.checkpoint()`, with the
        pooling and max_len it was made for.

        MiniLM has 512 positions, but its project lets it read 256 tokens; so do we.

        Raises:
            FileNotFoundError: where there is no such checkpoint.
            ValueError: for parts or poolings that we do not have.
        """
        folder = Path(folder)
        parts = {
            module["type"].rpartition(".")[2]: module["path"]
            for module in _read(folder / "modules.json")
        }
        if strange := parts.keys() - {"Transformer", "Pooling", "Normalize"}:
            raise ValueError(
                f"{folder} has parts that our SentenceBert does not: {', '.join(sorted(strange))}"
            )
        max_len = _read(folder / "sentence_bert_config.json")["max_seq_length"]
        pooling = _pooling_name(_read(folder / parts["Pooling"] / "config.json"))
        tokenizer = WordPiece.load(folder / "vocab.txt")
        return cls(
            Bert.from_pretrained(folder),
            tokenizer,
            pooling,
            max_len,
            normalise="Normalize" in parts,
        ).eval()


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _pooling_name(config: dict[str, Any]) -> str:
    """Older files have a switch for each pooling, newer ones a name."""
    switches = {
        "pooling_mode_mean_tokens": "mean",
        "pooling_mode_cls_token": "cls",
        "pooling_mode_max_tokens": "max",
    }
    on = [key for key, value in config.items() if key.startswith("pooling_mode_") and value]
    names = [switches.get(key, key) for key in on] or [config.get("pooling_mode")]
    if len(names) != 1 or names[0] not in POOLING:
        raise ValueError(
            f"the checkpoint's pooling is {' and '.join(map(str, names))}; there is: "
            f"{', '.join(POOLING)}"
        )
    return names[0]


# ------------------------------------------------------------------------------------------- search


def cosines(u: Float[Tensor, "n d_model"], v: Float[Tensor, "m d_model"]) -> Float[Tensor, "n m"]:
    """The cosine of every vector of u with every vector of v.

    Raises:
        TypeError: for what is no tensor.
        ValueError: for vectors of different widths, or tensors of another shape.
    """
    for name, vectors in (("u", u), ("v", v)):
        if not isinstance(vectors, Tensor):
            raise TypeError(f"{name} must be a tensor (n, d_model), got a {type(vectors).__name__}")
        if vectors.dim() != 2:
            hint = f"; for a single vector write {name}[None]" if vectors.dim() == 1 else ""
            raise ValueError(
                f"{name} must be (n, d_model), got a tensor of shape {tuple(vectors.shape)}{hint}"
            )
    if u.shape[-1] != v.shape[-1]:
        raise ValueError(
            f"vectors of {u.shape[-1]} and of {v.shape[-1]} numbers cannot be compared: they come "
            f"from different models"
        )
    return F.normalize(u, dim=-1) @ F.normalize(v, dim=-1).T


class Found(NamedTuple):
    """For every query the k nearest of the corpus, the nearest first: their cosines, and their
    places in the corpus.
    """

    scores: Float[Tensor, "queries k"]
    places: Int[Tensor, "queries k"]


def search(
    queries: Float[Tensor, "queries d_model"], corpus: Float[Tensor, "corpus d_model"], k: int = 5
) -> Found:
    """The nearest neighbours by cosine. It compares with all: exact, and fast enough for a million
    vectors.

    Raises:
        ValueError: for vectors of different widths, or a k that is not between 1 and the size of
            the corpus.
    """
    if not 1 <= k <= len(corpus):
        raise ValueError(
            f"k must lie between 1 and the {len(corpus)} vectors of the corpus, got {k}"
        )
    return Found(*cosines(queries, corpus).topk(k, dim=-1))


# --------------------------------------------------------------------------------------- objectives


def pair_features(
    u: Float[Tensor, "batch d_model"], v: Float[Tensor, "batch d_model"]
) -> Float[Tensor, "batch three_d_model"]:
    """(u, v, |u - v|), what the classification objective looks at (section 3)."""
    _check_pairs(u, v)
    return torch.cat([u, v, (u - v).abs()], dim=-1)


def cosine_regression(
    u: Float[Tensor, "batch d_model"],
    v: Float[Tensor, "batch d_model"],
    similarity: Float[Tensor, " batch"],
) -> Float[Tensor, ""]:
    """The mean squared difference of the pairs' cosines and the similarities that people gave them
    (section 3).

    Args:
        u, v: the pairs.  similarity: from -1 to 1; STS-B's scores divided by 5.

    Raises:
        ValueError: for a similarity that no cosine can reach, or parts of different sizes.
    """
    _check_pairs(u, v, similarity)
    if similarity.abs().max() > 1:
        raise ValueError(
            f"a cosine lies between -1 and 1, got a similarity of {similarity.abs().max():g}; "
            f"divide STS-B's scores by 5"
        )
    return F.mse_loss(F.cosine_similarity(u, v), similarity)


def in_batch_negatives(
    u: Float[Tensor, "batch d_model"], v: Float[Tensor, "batch d_model"], scale: float = 20.0
) -> Float[Tensor, ""]:
    """Which of all v belongs to this u? A softmax over the batch's cosines (Henderson et al. 2017;
    "InfoNCE").

    Only pairs that belong together are needed: for each u, the other pairs' v are the wrong
    answers. So no text may occur twice.

    Args:
        u, v: the pairs.
        scale: what the cosines are multiplied by, one over the temperature. Without, e^1 against
            e^-1 is the most that a softmax sees.

    Raises:
        ValueError: for fewer than two pairs, or a scale that is not positive.
    """
    _check_pairs(u, v)
    if len(u) < 2 or scale <= 0:
        raise ValueError(
            f"negatives come from the other pairs, and the scale is positive; got {len(u)} pairs, "
            f"scale = {scale}"
        )
    return F.cross_entropy(cosines(u, v) * scale, torch.arange(len(u), device=u.device))


def contrastive_pairs(
    u: Float[Tensor, "batch d_model"],
    v: Float[Tensor, "batch d_model"],
    same: Bool[Tensor, " batch"],
    margin: float = 0.5,
) -> Float[Tensor, ""]:
    """Pull together what is the same, push apart what is not, up to a margin (Hadsell, Chopra and
    LeCun 2006).

    With the distance D = 1 - cosine: ½ D² for a pair that is the same, ½ max(0, margin - D)² for
    one that is not.

    Raises:
        ValueError: for parts of different sizes, or a margin that is not between 0 and 2, the
            greatest distance there is.
    """
    _check_pairs(u, v, same)
    if same.dtype != torch.bool:
        raise ValueError(
            f"same must be boolean, True for a pair that is the same; got {same.dtype}: write "
            f"labels > 0.5"
        )
    if not 0 < margin <= 2:
        raise ValueError(
            f"the distance 1 - cosine lies between 0 and 2, and so must the margin; got {margin}"
        )
    distance = 1 - F.cosine_similarity(u, v)
    return (0.5 * torch.where(same, distance, F.relu(margin - distance)) ** 2).mean()


def _check_pairs(u: Tensor, v: Tensor, label: Tensor | None = None) -> None:
    for name, given in (("u", u), ("v", v), ("labels", label)):
        if not isinstance(given, Tensor) and (given is not None or name != "labels"):
            raise TypeError(f"{name} must be a tensor, got a {type(given).__name__}")
    if u.dim() != 2:
        raise ValueError(f"pairs are two tensors (batch, d_model), got {_sizes(u, v)}")
    if u.shape != v.shape or len(u) == 0 or (label is not None and label.shape != (len(u),)):
        labels = "" if label is None else f", labels {tuple(label.shape)}"
        raise ValueError(
            f"pairs need as many u as v, of the same width, at least one, and one label each: got "
            f"{_sizes(u, v)}{labels}"
        )


def _sizes(u: Tensor, v: Tensor) -> str:
    return f"u {tuple(u.shape)}, v {tuple(v.shape)}"


# ----------------------------------------------------------------------------------------- training


class SiameseBatch(NamedTuple):
    """Pairs of sentences, and what is known of each: a class, a similarity, or whether they are the
    same.
    """

    first: Int[Tensor, "batch n_first"]
    first_lengths: Int[Tensor, " batch"]
    second: Int[Tensor, "batch n_second"]
    second_lengths: Int[Tensor, " batch"]
    label: Float[Tensor, " batch"]


class SiameseBatches:
    """Batches of pairs of similar length, anew for every epoch; data for `training.fit`.

    Args:
        encoder: turns texts into ids.
        pairs: the texts.  labels: one for each pair; None: 1 for all, for `ranking_loss`, which
            needs none.
        batch_size: pairs in a batch.
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
        self.examples = list(zip(ids[::2], ids[1::2], strict=True))
        self.labels = torch.tensor(labels, dtype=torch.float)
        self.batches = Batches(self.examples, list, batch_size=batch_size, seed=seed)

    def epoch(self, number: int) -> Iterator[SiameseBatch]:
        """The batches of epoch 0, 1, 2, …"""
        for rows in self.batches.plan(number):
            first, second = (pad([self.examples[i][side] for i in rows]) for side in (0, 1))
            yield SiameseBatch(*first, *second, self.labels[rows])


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
        return self.encoder.pooled(batch.first, batch.first_lengths), self.encoder.pooled(
            batch.second, batch.second_lengths
        )

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


def classification_loss(model: Siamese, batch: SiameseBatch) -> Float[Tensor, ""]:
    """Cross-entropy of softmax(W_t (u, v, |u - v|)); labels are classes."""
    u, v = model(batch)
    return F.cross_entropy(model.scores(u, v), batch.label.long())


def regression_loss(model: Siamese, batch: SiameseBatch) -> Float[Tensor, ""]:
    """`cosine_regression`; labels are similarities."""
    return cosine_regression(*model(batch), batch.label)


def ranking_loss(model: Siamese, batch: SiameseBatch, scale: float = 20.0) -> Float[Tensor, ""]:
    """`in_batch_negatives`; labels are not looked at: all pairs belong together."""
    return in_batch_negatives(*model(batch), scale=scale)


def margin_loss(model: Siamese, batch: SiameseBatch, margin: float = 0.5) -> Float[Tensor, ""]:
    """`contrastive_pairs`; labels are 1 for the same, 0 for different."""
    return contrastive_pairs(*model(batch), batch.label > 0.5, margin=margin)
