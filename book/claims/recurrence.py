"""Claims about recurrent networks, with attention and beside a Transformer."""

import torch
from torch import nn

from claims import Found, found
from claims.transformer import tiny
from lectures_lib import results
from lectures_lib.blocks.recording import record
from lectures_lib.models.seq2seq import Seq2Seq, Seq2SeqConfig, alignment


def when_it_looks() -> Found:
    """A recurrent encoder–decoder with attention reads seven words and writes four: how often does
    it look?
    """
    model = Seq2Seq(Seq2SeqConfig(20, 20, attention="additive")).eval()
    with torch.no_grad(), record(model) as seen:
        model(torch.randint(3, 20, (1, 7)), torch.randint(3, 20, (1, 4)))
    looks, read = alignment(seen).shape[1:]
    return found(looks == read, looks=looks, read=read)


def one_after_the_other() -> Found:
    """Measured: training a GRU layer over training a self-attention layer of the same width, by
    length.
    """
    times = [
        results.value("parallel_time", f"training/batch_1/gru_over_attention/{n}/median")
        for n in (32, 128, 512, 2048)
    ]
    return found(min(times) > 2, least=min(times), most=max(times))


def one_vector() -> Found:
    """Measured: lists of four numbers translated, through one vector and with attention."""
    without, additive = (
        results.value("bottleneck", f"accuracy/{kind}/800/4/mean") for kind in ("gru", "additive")
    )
    return found(without < 0.1 and additive > 0.9, without=without, additive=additive)


def three_differences() -> Found:
    """What a recurrent translator with attention has and a Transformer has not, and the other way
    round: cells, looks, positions.
    """
    recurrent = Seq2Seq(Seq2SeqConfig(20, 20, attention="additive"))
    transformer = tiny()

    def has(model: nn.Module, kind: type[nn.Module]) -> bool:
        return any(isinstance(module, kind) for module in model.modules())

    cells = has(recurrent, nn.RNNBase) and not has(transformer, nn.RNNBase | nn.RNNCellBase)
    looks = len(transformer.decoder.blocks) > 1 and all(
        hasattr(block, "cross_attention") for block in transformer.decoder.blocks
    )
    positions = hasattr(transformer, "positions") and not hasattr(recurrent, "positions")
    return found(cells and looks and positions, differences=sum((cells, looks, positions)))
