"""A small Marian of Hugging Face's, and ours with its weights."""

import torch

from lectures_lib.models import hugging_face
from lectures_lib.models.transformer import Transformer
from lectures_lib.tasks import marian

SIZES = {
    "vocab_size": 30,
    "d_model": 16,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32,
    "max_position_embeddings": 24,
    "activation_function": "swish",
    "scale_embedding": True,
    "pad_token_id": 1,
    "decoder_start_token_id": 1,
    "eos_token_id": 0,
    "forced_eos_token_id": None,
}


def their_model(**changes):
    """Hugging Face's Marian with random weights, none of them at its usual start."""
    from transformers import MarianConfig, MarianMTModel

    model = MarianMTModel(MarianConfig(**{**SIZES, **changes})).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "embed_positions" not in name:
                parameter.add_(0.2 * torch.randn_like(parameter))
        model.final_logits_bias.normal_()
    return model


def marian_twins():
    """Our model and theirs with the same random weights, handed over in memory."""
    theirs = their_model()
    ours = Transformer(marian.transformer_config(theirs.config.to_dict())).eval()
    state = hugging_face.rename(theirs.state_dict(), marian.KEY_MAP, marian.IGNORED)
    state["output_bias"] = state["output_bias"].flatten()
    hugging_face.load_into(ours, state)
    marian.sines_first(ours)
    return ours, theirs
