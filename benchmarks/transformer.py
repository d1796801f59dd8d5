"""Our Transformer against torch's and Hugging Face's of the same size: a training step, and reading
through (inference).

    python benchmarks/transformer.py          writes book/results/transformer_speed.json
    … on a GPU                                transformer_speed_gpu.json

The three take turns, so that a machine that slows down slows all; each ratio is one pair of
neighbouring runs. All have the same token vectors, tied three ways, no dropout, and padding to look
out for; `nn.Transformer` has one LayerNorm more at the end of each stack.
"""

import math
import warnings
from collections.abc import Callable

import torch
import torch.nn.functional as F
from device import DEVICE, ON_A_GPU, now  # beside this file
from torch import Tensor, nn
from transformers import MarianConfig, MarianMTModel

from lectures_lib import results
from lectures_lib.blocks.layers import TokenEmbedding
from lectures_lib.blocks.positions import SinusoidalPositions
from lectures_lib.models.hugging_face import load_into, rename
from lectures_lib.models.transformer import Transformer, TransformerConfig
from lectures_lib.tasks.marian import IGNORED, KEY_MAP, sines_first

VOCAB, D_MODEL, N_HEADS, N_LAYERS, D_FF, MAX_LEN = 8_000, 256, 4, 6, 1024, 256
BATCH, N = 16, 64
ROUNDS = 24
HUGGING_FACE_SIZES = {"layers": N_LAYERS, "attention_heads": N_HEADS, "ffn_dim": D_FF}
TOKENS = {
    "scale_embedding": True,
    "pad_token_id": 1,
    "decoder_start_token_id": 1,
    "eos_token_id": 0,
    "forced_eos_token_id": None,
}


class TorchTransformer(nn.Module):
    """torch's own encoder and decoder, between our embedding and our output."""

    def __init__(self):
        super().__init__()
        self.embedding = TokenEmbedding(VOCAB, D_MODEL, math.sqrt(D_MODEL))
        self.positions = SinusoidalPositions(D_MODEL, MAX_LEN)
        self.body = nn.Transformer(
            D_MODEL, N_HEADS, N_LAYERS, N_LAYERS, D_FF, dropout=0.0, batch_first=True
        )
        self.bias = nn.Parameter(torch.zeros(VOCAB))
        self.register_buffer("causal", ~torch.ones(N, N, dtype=torch.bool).tril())

    def forward(self, source: Tensor, target: Tensor, lengths: Tensor) -> Tensor:
        """The logits; torch's masks mean the opposite of ours: True = may not attend."""
        padding = torch.arange(source.shape[1], device=source.device) >= lengths[:, None]
        x = self.body(
            self.positions(self.embedding(source)),
            self.positions(self.embedding(target)),
            tgt_mask=self.causal,
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
            tgt_is_causal=True,
        )
        return self.embedding.scores(x, self.bias)


def hugging_face() -> MarianMTModel:
    """Hugging Face's encoder-decoder that is closest to the paper's."""
    sizes = {
        f"{side}_{name}": size
        for side in ("encoder", "decoder")
        for name, size in HUGGING_FACE_SIZES.items()
    }
    config = MarianConfig(
        vocab_size=VOCAB,
        d_model=D_MODEL,
        max_position_embeddings=MAX_LEN,
        activation_function="relu",
        dropout=0.0,
        **sizes,
        **TOKENS,
    )
    return MarianMTModel(config)


def our_twin(theirs: MarianMTModel) -> Transformer:
    """Our Transformer with Hugging Face's weights, so that both compute the same numbers."""
    ours = Transformer(
        TransformerConfig(VOCAB, D_MODEL, N_HEADS, N_LAYERS, D_FF, dropout=0.0, max_len=MAX_LEN)
    )
    state = rename(theirs.state_dict(), KEY_MAP, IGNORED)
    load_into(ours, state | {"output_bias": state["output_bias"].flatten()})
    sines_first(ours)
    return ours


def models() -> dict[str, tuple[nn.Module, Callable[..., Tensor]]]:
    """Each model, and how to ask it for logits."""
    theirs = hugging_face()
    ours, torchs = our_twin(theirs).to(DEVICE), TorchTransformer().to(DEVICE)
    theirs.to(DEVICE)

    def ask_hugging_face(source: Tensor, target: Tensor, lengths: Tensor) -> Tensor:
        mask = (torch.arange(source.shape[1], device=source.device) < lengths[:, None]).long()
        return theirs(
            input_ids=source, attention_mask=mask, decoder_input_ids=target, use_cache=False
        ).logits

    return {
        "ours": (ours, ours),
        "torch": (torchs, torchs),
        "hugging_face": (theirs, ask_hugging_face),
    }


def batch(shortest: int = N // 3) -> tuple[Tensor, Tensor, Tensor]:
    """Random sentences: a third of the source is padding on average; none with N as the
    shortest.
    """
    return (
        torch.randint(2, VOCAB, (BATCH, N), device=DEVICE),
        torch.randint(2, VOCAB, (BATCH, N), device=DEVICE),
        torch.randint(shortest, N + 1, (BATCH,), device=DEVICE),
    )


def training_step(ask: Callable[..., Tensor], optimizer: torch.optim.Optimizer) -> float:
    """Seconds for forward, loss, backward and update."""
    source, target, lengths = batch()
    start = now()
    loss = F.cross_entropy(ask(source, target, lengths).flatten(0, 1), target.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return now() - start


@torch.inference_mode()
def inference(ask: Callable[..., Tensor], shortest: int = N // 3) -> float:
    """Seconds for a forward pass. torch's encoder leaves out what is padding (its "nested
    tensors"), so it is also asked for sentences that have none.
    """
    source, target, lengths = batch(shortest)
    start = now()
    ask(source, target, lengths)
    return now() - start


def ratios(measure: dict[str, Callable[[], float]]) -> dict[str, dict]:
    """Each peer's time over ours, round by round, after a round to warm up."""
    rounds = [{name: seconds() for name, seconds in measure.items()} for _ in range(ROUNDS + 1)][1:]
    return {
        f"{peer}_over_ours": results.spread([r[peer] / r["ours"] for r in rounds])
        for peer in ("torch", "hugging_face")
    }


def main() -> None:
    """Measure both and write the file."""
    # torch's encoder says so of its own fast path
    warnings.filterwarnings("ignore", "The PyTorch API of nested tensors", UserWarning)
    torch.manual_seed(0)
    torch.set_num_threads(1)  # whatever else runs on this machine then disturbs least
    contestants = models()
    with torch.no_grad():
        inputs = batch()
        difference = (
            (contestants["ours"][1](*inputs) - contestants["hugging_face"][1](*inputs))
            .abs()
            .max()
            .item()
        )
    assert difference < 1e-4, f"ours and Hugging Face's differ by {difference}"
    training, reading, unpadded = {}, {}, {}
    for name, (model, ask) in contestants.items():
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-5)
        training[name] = lambda ask=ask, optimizer=optimizer: training_step(ask, optimizer)
        reading[name] = lambda ask=ask: inference(ask)
        unpadded[name] = lambda ask=ask: inference(ask, N)
    measured = {"training_step": ratios(training)}
    for model, _ in contestants.values():
        model.eval()
    measured["inference"] = ratios(reading)
    measured["inference_unpadded"] = ratios(unpadded)
    for what, peers in measured.items():
        for peer, ratio in peers.items():
            print(
                f"{what:>18} {peer:>22}: {ratio['median']:.2f} ({ratio['min']:.2f} to "
                f"{ratio['max']:.2f})"
            )
    measured["parameters"] = {
        name: sum(p.numel() for p in model.parameters()) for name, (model, _) in contestants.items()
    }
    title = (
        f"A Transformer of torch and of Hugging Face over ours: time of a training step and of a "
        f"forward pass (batch {BATCH}, {N} + {N} tokens, d_model {D_MODEL}, {N_LAYERS} + "
        f"{N_LAYERS} layers, float32)"
    )
    results.save("transformer_speed" + ON_A_GPU, measured, title, seeds=[])


if __name__ == "__main__":
    main()
