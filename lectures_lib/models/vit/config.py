"""The sizes of a Vision Transformer: the paper's and this book's (chapter 11)."""

from dataclasses import dataclass
from typing import ClassVar

from lectures_lib.blocks.layers import ACTIVATIONS
from lectures_lib.checks.sizes import check_config
from lectures_lib.models.vit.cutting import grid


@dataclass(frozen=True)
class ViTConfig:
    """The sizes of a Vision Transformer.

    Args:
        image_size: height and width of an image, in pixels.  patch_size: those of a patch.
            n_channels: 3 for colour, 1 for grey.
        n_classes: how many classes are told apart.
        d_model: width of the vectors.  n_layers: number of blocks.  n_heads: heads of each
            attention.  d_ff: width of the feed-forward's hidden layer.
        dropout: share of each sublayer's output, and of the embeddings, dropped in training.
        attention_dropout: the same for attention weights.
        activation: a name in `layers.ACTIVATIONS`.
        eps: what LayerNorm adds to the variance.

    Raises:
        TypeError: for a size that is no whole number.
        ValueError: for an image that patches of this size do not fill, a size below 1, a dropout
            that is no share, heads that do not divide d_model, or an unknown activation.
    """

    image_size: int = 224
    patch_size: int = 16
    n_channels: int = 3
    n_classes: int = 1000
    d_model: int = 768
    n_layers: int = 12
    n_heads: int = 12
    d_ff: int = 3072
    dropout: float = 0.0
    activation: str = "gelu"
    eps: float = 1e-12
    attention_dropout: float = 0.0

    B16: ClassVar["ViTConfig"]
    B32: ClassVar["ViTConfig"]
    L16: ClassVar["ViTConfig"]
    H14: ClassVar["ViTConfig"]
    SMALL: ClassVar["ViTConfig"]
    DIGITS: ClassVar["ViTConfig"]

    def __post_init__(self):
        check_config(self, ACTIVATIONS)
        grid(self.image_size, self.image_size, self.patch_size)

    @property
    def n_patches(self) -> int:
        """How many patches an image of the configured size is cut into."""
        return (self.image_size // self.patch_size) ** 2


# Table 1 of the paper; the number behind the letter is the patch size.
ViTConfig.B16 = ViTConfig()
ViTConfig.B32 = ViTConfig(patch_size=32)
ViTConfig.L16 = ViTConfig(d_model=1024, n_layers=24, n_heads=16, d_ff=4096)
ViTConfig.H14 = ViTConfig(patch_size=14, d_model=1280, n_layers=32, n_heads=16, d_ff=5120)
# Sizes of this book: for images of 32 × 32 pixels on a GPU, and for scikit-learn's digits in
# seconds on a CPU.
ViTConfig.SMALL = ViTConfig(32, 4, 3, 10, d_model=256, n_layers=6, n_heads=4, d_ff=512, dropout=0.1)
ViTConfig.DIGITS = ViTConfig(8, 2, 1, 10, d_model=64, n_layers=3, n_heads=4, d_ff=128)
