"""Torch's own Transformer modules with our parameters, for the tests that hold the two equal."""

import warnings

import torch
from torch import nn


def attention_state(ours, name):
    """Our attention's parameters under nn.MultiheadAttention's names: it packs W_Q, W_K and W_V
    into one matrix.
    """
    projections = (ours.W_Q, ours.W_K, ours.W_V)
    return {
        f"{name}.in_proj_weight": torch.cat([p.weight for p in projections]),
        f"{name}.in_proj_bias": torch.cat([p.bias for p in projections]),
        f"{name}.out_proj.weight": ours.W_O.weight,
        f"{name}.out_proj.bias": ours.W_O.bias,
    }


def linear_state(ours, name):
    return {f"{name}.weight": ours.weight, f"{name}.bias": ours.bias}


def encoder_block_state(ours):
    return {
        **attention_state(ours.self_attention, "self_attn"),
        **linear_state(ours.feed_forward.W_1, "linear1"),
        **linear_state(ours.feed_forward.W_2, "linear2"),
        **linear_state(ours.around_self_attention.norm, "norm1"),
        **linear_state(ours.around_feed_forward.norm, "norm2"),
    }


def decoder_block_state(ours):
    return {
        **attention_state(ours.self_attention, "self_attn"),
        **attention_state(ours.cross_attention, "multihead_attn"),
        **linear_state(ours.feed_forward.W_1, "linear1"),
        **linear_state(ours.feed_forward.W_2, "linear2"),
        **linear_state(ours.around_self_attention.norm, "norm1"),
        **linear_state(ours.around_cross_attention.norm, "norm2"),
        **linear_state(ours.around_feed_forward.norm, "norm3"),
    }


def stack_state(ours, block_state, name):
    state = {
        f"{name}.layers.{i}.{key}": value
        for i, block in enumerate(ours.blocks)
        for key, value in block_state(block).items()
    }
    return {**state, **linear_state(ours.norm, f"{name}.norm")}


def torch_transformer(ours, sizes, **options):
    """nn.Transformer with the parameters of our encoder and decoder, in that order in `ours`."""
    n_layers, d_model, n_heads, d_ff = sizes
    with warnings.catch_warnings():
        # it says that a fast path is not taken
        warnings.filterwarnings("ignore", "enable_nested_tensor is True", UserWarning)
        theirs = nn.Transformer(
            d_model, n_heads, n_layers, n_layers, d_ff, dropout=0.0, batch_first=True, **options
        )
    encoder, decoder = ours
    theirs.load_state_dict(
        {
            **stack_state(encoder, encoder_block_state, "encoder"),
            **stack_state(decoder, decoder_block_state, "decoder"),
        }
    )
    return theirs
