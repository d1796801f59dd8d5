"""The Vision Transformer's checkpoints: Hugging Face's names of the weights and sizes, how they
become ours, and back (chapter 11).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from torch import Tensor

from lectures_lib.models import hugging_face
from lectures_lib.models.vit.config import ViTConfig

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


def to_convolution(state: dict[str, Tensor], config: ViTConfig) -> dict[str, Tensor]:
    """The way back."""
    p, matrix = config.patch_size, state["patch_embedding.weight"]
    kernel = matrix.reshape(config.d_model, config.n_channels, p, p)
    shaped = {"patch_embedding.weight": kernel, "class_token": state["class_token"][None, None]}
    return state | shaped | {"positions": state["positions"][None]}


def vit_config(theirs: dict[str, Any]) -> ViTConfig:
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


def hugging_face_config(config: ViTConfig, names: Sequence[str] | None = None) -> dict[str, Any]:
    """Our configuration as Hugging Face writes it."""
    fixed = {"qkv_bias": True, **hugging_face.labels_written(names, config.n_classes)}
    sizes = {theirs: getattr(config, ours) for theirs, ours in SIZES.items()}
    sizes["hidden_act"] = hugging_face.activation_written(config.activation)
    return {"model_type": "vit", "architectures": ["ViTForImageClassification"], **sizes, **fixed}
