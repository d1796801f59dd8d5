"""What a Transformer costs: operations, parameters and memory, counted by parts before anything is
run (chapter 18b).

An operation (FLOP) is one multiplication or one addition. Only matrix products are counted, as
`torch.utils.flop_counter` does: softmax, LayerNorm and activations are some per cent of the work.
Every function takes the sizes from a model's configuration.
"""

from lectures_lib.checks.door import at_the_door
from lectures_lib.checks.sizes import check_numbers
from lectures_lib.models.bert import BertConfig

Parts = dict[str, int]


def attention_flops(n_query: int, n_key: int, d_model: int) -> Parts:
    """One forward pass of multi-head attention; the number of heads does not matter.

    Args:
        n_query: vectors that ask.  n_key: vectors that are looked at.  d_model: their width.

    Returns:
        "projections" (W_Q and W_O for each query, W_K and W_V for each key) and "scores" (Q Kᵀ, and
        the weights times V).
    """
    return {
        "projections": 4 * (n_query + n_key) * d_model**2,
        "scores": 4 * n_query * n_key * d_model,
    }


def feed_forward_flops(n: int, d_model: int, d_ff: int) -> int:
    """One forward pass of the two layers over n vectors."""
    return 4 * n * d_model * d_ff


def _check_scored(config: BertConfig, n: int, batch: int = 1, scored: int | None = None) -> None:
    check_numbers(n=n, batch=batch)
    if scored is not None and not 0 <= scored <= batch * n:
        asked = f"{scored} positions to be scored"
        raise ValueError(f"{asked}, but {batch} inputs of {n} tokens have {batch * n}")


@at_the_door(_check_scored)
def bert_flops(
    config: BertConfig,
    n: int,
    batch: int = 1,
    scored: int | None = None,
) -> Parts:
    """One forward pass of a BERT over a batch of inputs of n tokens, padding included.

    Args:
        config: the model's sizes.
        n: tokens of an input.  batch: inputs.
        scored: how many positions of the batch the masked-word head is asked about, as
            `BertForPreTraining` with `at`; it and the next-sentence scores are then counted as
            "heads". None: the body alone.

    Raises:
        ValueError: for numbers below 1, or more scored positions than there are.
    """
    d = config.d_model
    block = attention_flops(n, n, d)
    block["feed_forward"] = feed_forward_flops(n, d, config.d_ff)
    parts = {name: batch * config.n_layers * flops for name, flops in block.items()}
    parts["pooler"] = 2 * batch * d**2
    if scored is not None:  # a layer and the vocabulary; the next sentence
        parts["heads"] = 2 * scored * d * (d + config.vocab_size) + 4 * batch * d
    return parts


def training_flops(forward: Parts) -> Parts:
    """Forward and backward pass: three times the forward pass, part by part.

    For C = A B, the backward pass needs two products of the same size: one for the gradient of A
    and one for that of B. (A fused attention kernel computes Q Kᵀ once more instead of keeping it:
    its scores cost 3.5 times the forward pass.)
    """
    return {name: 3 * flops for name, flops in forward.items()}


def rule_of_thumb(n_parameters: int | float, n_tokens: int | float) -> float:
    """6 N D: the operations of training N parameters on D tokens, if every token meets every
    parameter once (Kaplan et al. 2020).

    It leaves out attention's scores, and is far too high where parameters are tables in which a
    token looks up one row.
    """
    return 6.0 * n_parameters * n_tokens


def generation_flops(config: BertConfig, prompt: int, new: int, cache: bool = True) -> int:
    """Writing `new` tokens after a prompt, one after the other, with a stack of BERT's size and a
    score for every word piece.

    With a cache (chapter 9) each token passes the stack once and looks back at the kept keys and
    values, which needs a causal mask. A model that looks both ways must read everything again for
    each new token.

    Raises:
        ValueError: for numbers below 1.
    """
    check_numbers(prompt=prompt, new=new)
    d, L = config.d_model, config.n_layers
    head = 2 * d * config.vocab_size

    def stack(n_query: int, n_key: int) -> int:
        # Each of the n_query vectors makes its own key and value; the other keys are there already.
        own = attention_flops(n_query, n_query, d)["projections"] + feed_forward_flops(
            n_query, d, config.d_ff
        )
        return L * (own + attention_flops(n_query, n_key, d)["scores"])

    if cache:
        return (
            stack(prompt, prompt)
            + sum(stack(1, n) for n in range(prompt + 1, prompt + new))
            + new * head
        )
    return sum(stack(n, n) + head for n in range(prompt, prompt + new))


def bert_parameters(config: BertConfig, heads: bool = False) -> Parts:
    """How many numbers a BERT learns.

    Args:
        config: its sizes.
        heads: count those of pre-training too. The matrix of the masked-word head is the token
            vectors', and not counted twice.
    """
    d, d_ff = config.d_model, config.d_ff
    block = {"attention": 4 * (d * d + d), "feed_forward": 2 * d * d_ff + d_ff + d, "norms": 4 * d}
    parts = {
        "tokens": config.vocab_size * d,
        "positions_segments_norm": (config.max_len + config.n_segments + 2) * d,
    }
    parts |= {name: config.n_layers * number for name, number in block.items()} | {
        "pooler": d * d + d
    }
    return parts | ({"heads": d * d + d + 2 * d + config.vocab_size + 2 * d + 2} if heads else {})


def _check_kept(
    config: BertConfig, n: int, batch: int = 1, explicit: bool = False, width: int = 4
) -> None:
    check_numbers(n=n, batch=batch, width=width)


@at_the_door(_check_kept)
def activation_bytes(
    config: BertConfig, n: int, batch: int = 1, explicit: bool = False, width: int = 4
) -> Parts:
    """What the blocks keep from the forward pass until the backward pass has used it, without
    dropout.

    For each token and block: what went into W_Q, W_K and W_V, into W_O, into W_1, and into both
    LayerNorms (5 d), the queries, keys and values (3 d), the feed-forward's hidden layer before and
    after its activation (2 d_ff), four statistics of the LayerNorms; and of attention, h · n
    weights (explicit) or h sums (fused). Korthikanti et al. 2022 count the same, and dropout's
    masks.

    Args:
        config: the model's sizes.
        n: tokens of an input.  batch: inputs.
        explicit: whether the weights of attention are computed as the formula says, and so kept.
        width: bytes of a number; 2 in half precision (statistics are then kept in full, which is
            not counted here).

    Returns:
        "linear", which grows with the number of tokens, and "attention", which for explicit weights
        grows with n².

    Raises:
        ValueError: for numbers below 1.
    """
    tokens = config.n_layers * batch * n * width
    return {
        "linear": tokens * (8 * config.d_model + 2 * config.d_ff + 4),
        "attention": tokens * config.n_heads * (n if explicit else 1),
    }


def training_bytes(config: BertConfig, n: int, batch: int = 1, explicit: bool = False) -> Parts:
    """Where the memory of a training step in float32 with Adam goes: body and blocks, as in
    `bert_parameters` and `activation_bytes`.

    Raises:
        ValueError: for numbers below 1.
    """
    weights = 4 * sum(bert_parameters(config).values())
    kept = activation_bytes(config, n, batch, explicit)
    return {"weights": weights, "gradients": weights, "moments": 2 * weights, **kept}
