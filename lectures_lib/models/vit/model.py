"""The model: patches, a class token before them, an encoder and one linear layer (chapter 11;
Dosovitskiy et al. 2021, section 3.1).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lectures_lib.blocks.layers import Encoder, initialise
from lectures_lib.checks.door import at_the_door
from lectures_lib.checks.images import check_images
from lectures_lib.models import hugging_face
from lectures_lib.models.vit.checkpoint import (
    IGNORED,
    KEY_MAP,
    NEWER_KEY_MAP,
    from_convolution,
    hugging_face_config,
    to_convolution,
    vit_config,
)
from lectures_lib.models.vit.config import ViTConfig
from lectures_lib.models.vit.cutting import grid, interpolate_positions, patches


def check_images_fit(model: "ViT", images: Any, interpolate: bool = False) -> None:
    """Refuse images of another number of channels or, without `interpolate`, of another size than
    the model was made for.
    """
    check_images(images, model.config.n_channels)
    size, (height, width) = model.config.image_size, images.shape[2:]
    grid(height, width, model.config.patch_size)
    if not interpolate and (height, width) != (size, size):
        raise ValueError(
            f"this model has positions for images of {size} × {size} pixels, got {height} × "
            f"{width}; interpolate=True scales them"
        )


def check_names(model: "ViT", config: ViTConfig, names: Sequence[str] | None = None) -> None:
    """Refuse names that are not as many as there are classes."""
    if names is not None and len(names) != config.n_classes:
        raise ValueError(
            f"every class has one name: {config.n_classes} classes, {len(names)} names"
        )


class ViT(nn.Module):
    """Scores of the classes of an image: patches → vectors, a class token before them, positions,
    encoder, one linear layer.

    Args:
        config: its sizes.
        names: of the classes, in the order of their numbers; None: no names.

    Raises:
        ValueError: for names that are not as many as there are classes.
    """

    @at_the_door(check_names)
    def __init__(self, config: ViTConfig, names: Sequence[str] | None = None):
        super().__init__()
        self.config, self.names = config, None if names is None else tuple(names)
        self.patch_embedding = nn.Linear(config.n_channels * config.patch_size**2, config.d_model)
        self.class_token = nn.Parameter(torch.zeros(config.d_model))
        self.positions = nn.Parameter(torch.empty(1 + config.n_patches, config.d_model))
        self.dropout = nn.Dropout(config.dropout)
        self.encoder = Encoder(
            config.n_layers,
            config.d_model,
            config.n_heads,
            config.d_ff,
            dropout=config.dropout,
            attention_dropout=config.attention_dropout,
            activation=config.activation,
            pre_norm=True,
            eps=config.eps,
        )
        self.head = nn.Linear(config.d_model, config.n_classes)
        initialise(self, std=0.02)
        nn.init.trunc_normal_(self.positions, std=0.02, a=-0.04, b=0.04)
        nn.init.trunc_normal_(self.class_token, std=0.02, a=-0.04, b=0.04)

    def forward(
        self,
        images: Float[Tensor, "batch channels height width"],
        interpolate: bool = False,
    ) -> Float[Tensor, "batch n_classes"]:
        """The scores (logits), read off the class token.

        Args:
            images: of the configured size; with `interpolate`, of any size that patches fill.
            interpolate: scale the positions to the images' size.

        Raises:
            ValueError: for images of another number of channels, or of another size without
                `interpolate`.
        """
        x = self.encoder(self.embed(images, interpolate))
        return self.head(x[:, 0])

    @at_the_door(check_images_fit)
    def embed(
        self, images: Float[Tensor, "batch channels height width"], interpolate: bool = False
    ) -> Float[Tensor, "batch n d_model"]:
        """What enters the encoder: the class token and the patches' vectors, plus positions."""
        x = self.patch_embedding(patches(images, self.config.patch_size))
        x = torch.cat([self.class_token.expand(x.shape[0], 1, -1), x], dim=1)
        rows, columns = grid(*images.shape[2:], self.config.patch_size)
        side = self.config.image_size // self.config.patch_size
        positions = self.positions  # (1 + n_patches, d_model)
        if (rows, columns) != (side, side):
            positions = interpolate_positions(positions, rows, columns)
        return self.dropout(x + positions)

    @classmethod
    def from_pretrained(cls, name: str | Path) -> "ViT":
        """A Hugging Face checkpoint of an image classifier, ready for use (dropout off).

        Args:
            name: a folder, or an id on the hub such as "google/vit-base-patch16-224".

        Raises:
            FileNotFoundError: where there is no such checkpoint.
            ValueError: for options or names of weights that we do not know (they are listed), or a
                damaged file.
        """
        folder = hugging_face.checkpoint_folder(name)
        facts = hugging_face.read_config(folder)
        config = vit_config(facts)
        names = hugging_face.label_names(facts, config.n_classes)
        model = hugging_face.without_init(lambda: cls(config, names))
        state = hugging_face.rename(
            hugging_face.read_state(folder), KEY_MAP | NEWER_KEY_MAP, IGNORED
        )
        hugging_face.load_into(model, from_convolution(state))
        return model.eval()

    def save_pretrained(self, folder: str | Path) -> Path:
        """Write a checkpoint that Hugging Face's `ViTForImageClassification.from_pretrained`
        reads.
        """
        state = hugging_face.rename_back(to_convolution(self.state_dict(), self.config), KEY_MAP)
        return hugging_face.write_checkpoint(
            folder, hugging_face_config(self.config, self.names), state
        )
