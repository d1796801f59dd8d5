"""The sizes of a BERT: the paper's, MiniLM's and this book's (chapter 12)."""

from dataclasses import dataclass
from typing import ClassVar

from lectures_lib.blocks.layers import ACTIVATIONS
from lectures_lib.checks.sizes import check_config


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
