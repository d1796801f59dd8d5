"""The Vision Transformer: an image cut into patches, read like a sentence (chapter 11; Dosovitskiy
et al. 2021).

Hugging Face's names of the weights, and how they become ours, stand at the end of the module.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isqrt, prod
from pathlib import Path
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from lectures_lib.blocks.layers import ACTIVATIONS, Encoder, initialise
from lectures_lib.checks.door import at_the_door
from lectures_lib.checks.images import check_images
from lectures_lib.checks.sizes import check_config, check_numbers
from lectures_lib.checks.tensors import check_tensor
from lectures_lib.models import hugging_face


def grid(height: int, width: int, patch_size: int) -> tuple[int, int]:
    """How many patches fit below and beside each other.

    Raises:
        ValueError: where they do not fill the image.
    """
    if patch_size < 1 or height % patch_size or width % patch_size or not height or not width:
        raise ValueError(
            f"an image of {height} × {width} pixels cannot be cut into patches of {patch_size} × "
            f"{patch_size}"
        )
    return height // patch_size, width // patch_size


@at_the_door(lambda images, patch_size: check_images(images))
def patches(
    images: Float[Tensor, "batch channels height width"], patch_size: int
) -> Float[Tensor, "batch n_patches pixels"]:
    """Each image's patches, row by row from the top left; each as one vector: channel by channel,
    row by row.

    Raises:
        ValueError: where patches do not fill the image.
    """
    batch, channels, height, width = images.shape
    rows, columns = grid(height, width, patch_size)
    x = images.reshape(batch, channels, rows, patch_size, columns, patch_size)
    x = x.permute(0, 2, 4, 1, 3, 5)  # batch, rows, columns, channels, patch_size, patch_size
    return x.reshape(batch, rows * columns, channels * patch_size**2)


def _check_unpatch(x: Any, patch_size: int, height: int, width: int) -> None:
    check_tensor("x", x)
    n = prod(grid(height, width, patch_size))
    if x.dim() != 3 or x.shape[1] != n or x.shape[2] % patch_size**2:
        raise ValueError(
            f"an image of {height} × {width} pixels has {n} patches, (batch, {n}, channels · "
            f"{patch_size}²); got a tensor of shape {tuple(x.shape)}"
        )


@at_the_door(_check_unpatch)
def unpatch(
    x: Float[Tensor, "batch n_patches pixels"], patch_size: int, height: int, width: int
) -> Float[Tensor, "batch c h w"]:
    """The images that these patches were cut from.

    Raises:
        ValueError: for patches that are not as many, or not as large, as the images'.
    """
    rows, columns = grid(height, width, patch_size)
    channels = x.shape[2] // patch_size**2
    x = x.reshape(len(x), rows, columns, channels, patch_size, patch_size).permute(0, 3, 1, 4, 2, 5)
    return x.reshape(len(x), channels, height, width)


def _check_square(positions: Any, rows: int, columns: int) -> None:
    check_tensor("positions", positions)
    check_numbers(rows=rows, columns=columns)
    n = len(positions) - 1 if positions.dim() == 2 else 0
    if n < 1 or isqrt(n) ** 2 != n:
        raise ValueError(
            f"positions are (1 + n, d_model), that of the class token and those of a square of n "
            f"patches; got a tensor of shape {tuple(positions.shape)}"
        )


@at_the_door(_check_square)
def interpolate_positions(
    positions: Float[Tensor, "n d_model"], rows: int, columns: int
) -> Float[Tensor, "n_new d_model"]:
    """Position vectors for another number of patches: seen as an image of d_model channels, and
    scaled like one (section 3.2).

    The class token's stays as it is. The old patches formed a square; scaling is bicubic, as in
    Hugging Face's code (in the authors' own it is linear).

    Raises:
        ValueError: for positions of no square of patches, or fewer than one row or column.
    """
    of_class, of_patches = positions[:1], positions[1:]
    side = round(len(of_patches) ** 0.5)
    image = of_patches.reshape(1, side, side, -1).permute(0, 3, 1, 2)
    scaled = F.interpolate(image, size=(rows, columns), mode="bicubic", align_corners=False)
    return torch.cat([of_class, scaled[0].flatten(1).T])


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


def check_names(model: "ViT", config: "ViTConfig", names: Sequence[str] | None = None) -> None:
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
    def __init__(self, config: "ViTConfig", names: Sequence[str] | None = None):
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


# ----------------------------------------------------------------------------- Hugging Face's names

BLOCK = "encoder.blocks.{i}"
KEY_MAP = {
    "vit.embeddings.cls_token": "class_token",
    "vit.embeddings.position_embeddings": "positions",
    "vit.embeddings.patch_embeddings.projection.{kind}": "patch_embedding.{kind}",
    "vit.encoder.layer.{i}.attention.attention.query.{kind}": (
        f"{BLOCK}.self_attention.W_Q.{{kind}}"
    ),
    "vit.encoder.layer.{i}.attention.attention.key.{kind}": f"{BLOCK}.self_attention.W_K.{{kind}}",
    "vit.encoder.layer.{i}.attention.attention.value.{kind}": (
        f"{BLOCK}.self_attention.W_V.{{kind}}"
    ),
    "vit.encoder.layer.{i}.attention.output.dense.{kind}": f"{BLOCK}.self_attention.W_O.{{kind}}",
    "vit.encoder.layer.{i}.layernorm_before.{kind}": f"{BLOCK}.around_self_attention.norm.{{kind}}",
    "vit.encoder.layer.{i}.layernorm_after.{kind}": f"{BLOCK}.around_feed_forward.norm.{{kind}}",
    "vit.encoder.layer.{i}.intermediate.dense.{kind}": f"{BLOCK}.feed_forward.W_1.{{kind}}",
    "vit.encoder.layer.{i}.output.dense.{kind}": f"{BLOCK}.feed_forward.W_2.{{kind}}",
    "vit.layernorm.{kind}": "encoder.norm.{kind}",
    "classifier.{kind}": "head.{kind}",
}
# The names that transformers 5 uses in memory; its files keep the older ones.
NEWER_KEY_MAP = {
    **{
        f"vit.layers.{{i}}.attention.{theirs}_proj.{{kind}}": (
            f"{BLOCK}.self_attention.W_{theirs.upper()}.{{kind}}"
        )
        for theirs in ("q", "k", "v", "o")
    },
    "vit.layers.{i}.layernorm_before.{kind}": f"{BLOCK}.around_self_attention.norm.{{kind}}",
    "vit.layers.{i}.layernorm_after.{kind}": f"{BLOCK}.around_feed_forward.norm.{{kind}}",
    "vit.layers.{i}.mlp.fc1.{kind}": f"{BLOCK}.feed_forward.W_1.{{kind}}",
    "vit.layers.{i}.mlp.fc2.{kind}": f"{BLOCK}.feed_forward.W_2.{{kind}}",
}
IGNORED = ("vit.pooler.dense.{kind}",)  # of bodies without a classifier
SIZES = {
    "image_size": "image_size",
    "patch_size": "patch_size",
    "num_channels": "n_channels",
    "hidden_size": "d_model",
    "num_hidden_layers": "n_layers",
    "num_attention_heads": "n_heads",
    "intermediate_size": "d_ff",
    "hidden_dropout_prob": "dropout",
    "attention_probs_dropout_prob": "attention_dropout",
    "hidden_act": "activation",
    "layer_norm_eps": "eps",
}


def from_convolution(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """A checkpoint's tensors in our shapes: a convolution's kernel is a linear layer's matrix, and
    batches of one are none.
    """
    kernel = state["patch_embedding.weight"]
    shaped = {
        "patch_embedding.weight": kernel.flatten(1),
        "class_token": state["class_token"].flatten(),
    }
    return state | shaped | {"positions": state["positions"].squeeze(0)}


def to_convolution(state: dict[str, Tensor], config: "ViTConfig") -> dict[str, Tensor]:
    """The way back."""
    p, matrix = config.patch_size, state["patch_embedding.weight"]
    kernel = matrix.reshape(config.d_model, config.n_channels, p, p)
    shaped = {"patch_embedding.weight": kernel, "class_token": state["class_token"][None, None]}
    return state | shaped | {"positions": state["positions"][None]}


def vit_config(theirs: dict[str, Any]) -> "ViTConfig":
    """Our configuration from a checkpoint's config.json.

    Raises:
        ValueError: for another kind of model, or an option that our ViT does not have.
    """
    problems = (
        [f"model_type = {theirs.get('model_type')!r}"]
        if theirs.get("model_type", "vit") != "vit"
        else []
    )
    problems += ["qkv_bias = False"] if not theirs.get("qkv_bias", True) else []
    activation = theirs.get("hidden_act", "gelu")
    problems += (
        [f"hidden_act = {activation!r}"] if activation not in hugging_face.ACTIVATIONS else []
    )
    for name in ("image_size", "patch_size"):  # some files give height and width
        sides = theirs.get(name)
        if isinstance(sides, (list, tuple)):
            problems += [f"{name} = {sides}, not a square"] if len(set(sides)) != 1 else []
            theirs = theirs | {name: sides[0]}
    if problems:
        raise ValueError(f"our ViT has no such option: {'; '.join(problems)}")
    # Hugging Face's default, which its files leave out
    classes = len(theirs["id2label"]) if "id2label" in theirs else 2
    sizes = {ours: theirs[name] for name, ours in SIZES.items() if name in theirs}
    return replace(
        ViTConfig.B16,
        n_classes=classes,
        **sizes | {"activation": hugging_face.ACTIVATIONS[activation]},
    )


def hugging_face_config(config: "ViTConfig", names: Sequence[str] | None = None) -> dict[str, Any]:
    """Our configuration as Hugging Face writes it."""
    fixed = {"qkv_bias": True, **hugging_face.labels_written(names, config.n_classes)}
    sizes = {theirs: getattr(config, ours) for theirs, ours in SIZES.items()}
    sizes["hidden_act"] = hugging_face.activation_written(config.activation)
    return {"model_type": "vit", "architectures": ["ViTForImageClassification"], **sizes, **fixed}


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
