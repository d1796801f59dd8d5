"""The Vision Transformer: an image cut into patches, read like a sentence (chapter 11; Dosovitskiy
et al. 2021). To read in this order: `cutting` (images into patches and back), `config` (its sizes),
`model`, and `checkpoint`, which reads and writes weights under Hugging Face's names.
"""

from lectures_lib.models.vit.config import ViTConfig
from lectures_lib.models.vit.cutting import grid, interpolate_positions, patches, unpatch
from lectures_lib.models.vit.model import ViT

__all__ = ["ViT", "ViTConfig", "grid", "interpolate_positions", "patches", "unpatch"]
