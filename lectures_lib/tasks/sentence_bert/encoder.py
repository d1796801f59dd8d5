"""The encoder: texts in, one vector for each out; BERT and a pooling (chapter 17)."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from lectures_lib.data import pad
from lectures_lib.models.bert import Bert
from lectures_lib.modes import evaluating
from lectures_lib.tasks.alignment import n_pieces, warn_of_cuts
from lectures_lib.tasks.sentence_bert.pooling import POOLING
from lectures_lib.tokenization import WordPiece


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
        if "Pooling" not in parts:
            raise ValueError(f"{folder} has no pooling among its parts: {', '.join(sorted(parts))}")
        max_len = _read(folder / "sentence_bert_config.json")["max_seq_length"]
        pooling = _pooling_name(_read(folder / parts["Pooling"] / "config.json"))
        return cls(
            Bert.from_pretrained(folder),
            _vocabulary(folder),
            pooling,
            max_len,
            normalise="Normalize" in parts,
        ).eval()


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _vocabulary(folder: Path) -> WordPiece:
    """The checkpoint's tokenizer: whether it writes everything small stands in a file of its own,
    and where there is none, it does.
    """
    settings = folder / "tokenizer_config.json"
    said = _read(settings) if settings.exists() else {}
    return WordPiece.from_vocab_txt(
        folder / "vocab.txt", said.get("do_lower_case", True), said.get("strip_accents")
    )


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
