"""BERT's checkpoints: Hugging Face's names of the weights and sizes, how they become ours, and back
(chapter 12).
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import Tensor

from lectures_lib.models import hugging_face
from lectures_lib.models.bert.config import BertConfig

BODY = {
    "embeddings.word_embeddings.weight": "embeddings.tokens.weight",
    "embeddings.position_embeddings.weight": "embeddings.positions.weight",
    "embeddings.token_type_embeddings.weight": "embeddings.segments.weight",
    "embeddings.LayerNorm.{kind}": "embeddings.norm.{kind}",
    "encoder.layer.{i}.attention.self.query.{kind}": "encoder.blocks.{i}.self_attention.W_Q.{kind}",
    "encoder.layer.{i}.attention.self.key.{kind}": "encoder.blocks.{i}.self_attention.W_K.{kind}",
    "encoder.layer.{i}.attention.self.value.{kind}": "encoder.blocks.{i}.self_attention.W_V.{kind}",
    "encoder.layer.{i}.attention.output.dense.{kind}": (
        "encoder.blocks.{i}.self_attention.W_O.{kind}"
    ),
    "encoder.layer.{i}.attention.output.LayerNorm.{kind}": (
        "encoder.blocks.{i}.around_self_attention.norm.{kind}"
    ),
    "encoder.layer.{i}.intermediate.dense.{kind}": "encoder.blocks.{i}.feed_forward.W_1.{kind}",
    "encoder.layer.{i}.output.dense.{kind}": "encoder.blocks.{i}.feed_forward.W_2.{kind}",
    "encoder.layer.{i}.output.LayerNorm.{kind}": (
        "encoder.blocks.{i}.around_feed_forward.norm.{kind}"
    ),
    "pooler.dense.{kind}": "pooler.{kind}",
}
HEADS = {
    "cls.predictions.transform.dense.{kind}": "masked_words.dense.{kind}",
    "cls.predictions.transform.LayerNorm.{kind}": "masked_words.norm.{kind}",
    "cls.predictions.bias": "masked_words.bias",
    # the same bias, saved twice by some versions
    "cls.predictions.decoder.bias": "masked_words.bias",
    "cls.predictions.decoder.weight": "tied",  # the token vectors, saved twice
    "cls.seq_relationship.{kind}": "next_sentence.{kind}",
}
IGNORED = ("embeddings.position_ids",)  # 0, 1, 2, …
OTHER_HEADS = ("classifier.{kind}", "qa_outputs.{kind}")  # of fine-tuned models
SIZES = {
    "vocab_size": "vocab_size",
    "hidden_size": "d_model",
    "num_hidden_layers": "n_layers",
    "num_attention_heads": "n_heads",
    "intermediate_size": "d_ff",
    "hidden_dropout_prob": "dropout",
    "attention_probs_dropout_prob": "attention_dropout",
    "max_position_embeddings": "max_len",
    "type_vocab_size": "n_segments",
    "hidden_act": "activation",
    "layer_norm_eps": "eps",
    "initializer_range": "init_std",
}


def read_checkpoint(name: str | Path) -> tuple[BertConfig, dict[str, Tensor]]:
    """A checkpoint's sizes, and its tensors under the body's own names: without the prefix that
    models with heads give them.
    """
    folder = hugging_face.checkpoint_folder(name)
    config = bert_config(hugging_face.read_config(folder))
    # what the first checkpoints called LayerNorm's parameters
    old = {"gamma": "weight", "beta": "bias"}
    state = {}
    for key, tensor in hugging_face.read_state(folder).items():
        *path, kind = key.removeprefix("bert.").split(".")
        state[".".join([*path, old.get(kind, kind)])] = tensor
    return config, state


def bert_config(theirs: dict[str, Any]) -> BertConfig:
    """Our configuration from a checkpoint's config.json.

    Raises:
        ValueError: for another kind of model, or an option that our BERT does not have.
    """
    positions = theirs.get("position_embedding_type", "absolute")
    problems = (
        [f"model_type = {theirs.get('model_type')!r}"]
        if theirs.get("model_type", "bert") != "bert"
        else []
    )
    problems += [f"position_embedding_type = {positions!r}"] if positions != "absolute" else []
    activation = theirs.get("hidden_act", "gelu")
    problems += (
        [f"hidden_act = {activation!r}"] if activation not in hugging_face.ACTIVATIONS else []
    )
    problems += ["is_decoder = True"] if theirs.get("is_decoder") else []
    if problems:
        raise ValueError(f"our BERT has no such option: {'; '.join(problems)}")
    sizes = {ours: theirs[name] for name, ours in SIZES.items() if name in theirs}
    sizes["activation"] = hugging_face.ACTIVATIONS[activation]
    of_attention = sizes.get("attention_dropout", BertConfig.BASE.dropout)
    sizes["attention_dropout"] = (
        None if of_attention == sizes.get("dropout", BertConfig.BASE.dropout) else of_attention
    )
    return replace(BertConfig.BASE, **sizes)


def hugging_face_config(config: BertConfig, architecture: str) -> dict[str, Any]:
    """Our configuration as Hugging Face writes it."""
    sizes = {theirs: getattr(config, ours) for theirs, ours in SIZES.items()}
    sizes["hidden_act"] = hugging_face.activation_written(config.activation)
    if config.attention_dropout is None:
        sizes["attention_probs_dropout_prob"] = config.dropout
    fixed = {"pad_token_id": 0, "tie_word_embeddings": True}
    return {"model_type": "bert", "architectures": [architecture], **sizes, **fixed}


# What two of the tables in `BertEmbeddings` were called in files that this library wrote before.
OLDER_NAMES = {"positions.positions": "positions.weight", "segments": "segments.weight"}


def todays_name(name: str) -> str:
    """What `BertEmbeddings` calls the numbers that a file may have under an older name. What
    `stored.differences` puts behind a name stays there: "segments.8bit" is "segments.weight.8bit".
    """
    for old, new in OLDER_NAMES.items():
        if f"{name}.".startswith(f"{old}.") and not f"{name}.".startswith(f"{new}."):
            return new + name.removeprefix(old)
    return name
