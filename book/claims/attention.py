"""Claims about attention: scores, masks, heads, batches."""

import math

import torch
from torch import nn

from claims import Found, found
from lectures_lib.blocks.attention import (
    MultiHeadAttention,
    attention_weights,
    causal_mask,
    merge_heads,
    padding_mask,
    scaled_dot_product_attention,
    split_heads,
)
from lectures_lib.blocks.recording import record
from lectures_lib.models import minilm
from lectures_lib.models.bert import BertConfig
from lectures_lib.models.vit import ViTConfig


def equal(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors agree within single precision."""
    return torch.allclose(a, b, atol=1e-5)


def worked_example() -> Found:
    """112 and 96, divided by 8, through the softmax."""
    q, keys = torch.ones(1, 64), torch.stack([torch.full((64,), 1.75), torch.full((64,), 1.5)])
    scores = q @ keys.T
    weights = attention_weights(q, keys)[0].tolist()
    scaled = (scores / math.sqrt(64))[0].tolist()
    agrees = (
        scores.tolist() == [[112, 96]]
        and scaled == [14, 12]
        and [f"{w:.2f}" for w in weights] == ["0.88", "0.12"]
    )
    return found(
        agrees, first=scaled[0], second=scaled[1], weight_1=weights[0], weight_2=weights[1]
    )


def head_widths() -> Found:
    """Eight heads of 64 side by side are as wide as the model."""
    attention = MultiHeadAttention(512, 8)
    d_k, d_v = (W.out_features // attention.n_heads for W in (attention.W_Q, attention.W_V))
    joined = attention.n_heads * d_v
    return found((d_k, d_v, attention.W_O.out_features) == (64, 64, 512), d_k=d_k, joined=joined)


def separate_heads() -> Found:
    """Eight sets of three small matrices, one head after the other, against the library's three
    large ones.
    """
    attention, x = MultiHeadAttention(512, 8), torch.randn(1, 5, 512)
    heads = []
    for i in range(8):
        mine = slice(64 * i, 64 * (i + 1))
        Q, K, V = (x @ W.weight[mine].T for W in (attention.W_Q, attention.W_K, attention.W_V))
        heads.append(scaled_dot_product_attention(Q, K, V))
    return found(equal(attention.W_O(torch.cat(heads, dim=-1)), attention(x)), n_heads=len(heads))


def minus_infinity() -> Found:
    """Scores of -∞ before the softmax."""
    Q, K = torch.randn(2, 6, 8)
    weights = attention_weights(Q, K, causal_mask(6))
    future = ~causal_mask(6)
    return found(
        (weights[future] == 0).all() and equal(weights.sum(dim=-1), torch.ones(6)),
        largest=weights[future].max().item(),
        n=int(future.sum()),
    )


def causal_sums() -> Found:
    """The sums over j ≤ i, written out, against the library with a causal mask."""
    x, W_Q, W_K, W_V = torch.randn(5, 8), *torch.randn(3, 8, 8)
    q, k, v = x @ W_Q, x @ W_K, x @ W_V
    rows = []
    for i in range(5):
        alpha = torch.stack([q[i] @ k[j] / math.sqrt(8) for j in range(i + 1)]).softmax(dim=0)
        rows.append(sum(alpha[j] * v[j] for j in range(i + 1)))
    return found(
        equal(torch.stack(rows), scaled_dot_product_attention(q, k, v, causal_mask(5))), n=len(rows)
    )


def what_is_averaged() -> Found:
    """Attention without matrices averages what it looks at; the output of a head with matrices is
    the average of the values.
    """
    attention, x = MultiHeadAttention(16, 1), torch.randn(1, 5, 16)
    with torch.no_grad():
        attention.W_O.weight.copy_(torch.eye(16))
    with record(attention) as seen:
        output = attention(x)
    weights = seen["weights"][:, 0]
    of_values, of_embeddings = weights @ attention.W_V(x), weights @ x
    query, states = torch.randn(1, 16), torch.randn(5, 16)
    plain = scaled_dot_product_attention(query, states, states)
    as_said = equal(plain, (query @ states.T / 16**0.5).softmax(dim=-1) @ states)
    return found(
        as_said and equal(output, of_values), difference=(output - of_embeddings).abs().max().item()
    )


def root_of_the_dimension() -> Found:
    """√|k| is √d_k, if |k| is the number of dimensions; with the length of the vector the scores
    are others.
    """
    q, k, v = torch.randn(3, 64), torch.randn(4, 64), torch.randn(4, 64)
    by_dimension, by_length = (
        (q @ k.T / divisor).softmax(dim=-1) @ v
        for divisor in (math.sqrt(64), k.norm(dim=-1).sqrt())
    )
    ours = scaled_dot_product_attention(q, k, v)
    return found(equal(ours, by_dimension) and not equal(ours, by_length), root=math.sqrt(64))


def one_query_or_all() -> Found:
    """How many queries Q has for a sentence of seven words."""
    attention, x = MultiHeadAttention(16, 1), torch.randn(1, 7, 16)
    Q = attention.W_Q(x)[0]
    return found(len(Q) == 1, queries=len(Q), keys=attention.W_K(x).shape[1])


def copies_of_the_input() -> Found:
    """If query, key and value are copies of the input, word i scores word j exactly as j scores
    i.
    """
    attention, x = MultiHeadAttention(16, 1), torch.randn(1, 5, 16)
    copied, projected = x @ x.transpose(1, 2), attention.W_Q(x) @ attention.W_K(x).transpose(1, 2)
    symmetric = [equal(scores, scores.transpose(1, 2)) for scores in (copied, projected)]
    return found(
        symmetric == [True, True], gap=(projected - projected.transpose(1, 2)).abs().max().item()
    )


FAR = (
    "keys to the cabinet which I love so much and are important and I think about all the time are"
)


def one_step_away() -> Found:
    """The slide's sentence, from "keys" to "are": the weight of the first word for the last, and
    the steps of a recurrent network.
    """
    words = FAR.split()
    n = len(words)
    attention = MultiHeadAttention(16, 1)
    with record(attention) as seen:
        attention(torch.randn(1, n, 16))
    return found(seen["weights"][0, 0, -1, 0] > 0, between=n - 2, rewritten=n - 1)


def giving_and_receiving() -> Found:
    """Five people: what each gives sums to one, what each receives does not."""
    Q, K = torch.randn(5, 4), torch.randn(5, 4)
    weights = attention_weights(2 * Q, 2 * K)
    received = weights.sum(dim=0)
    return found(
        equal(weights.sum(dim=1), torch.ones(5)) and received.max() > 1,
        most=received.max().item(),
        least=received.min().item(),
    )


def scaled_softmax() -> Found:
    """Spread of the scores, largest weight and slope of the softmax, without and with the division
    by √d_k.
    """
    Q, K = torch.randn(200, 64), torch.randn(200, 10, 64)
    raw = (K @ Q[:, :, None])[:, :, 0]
    largest, slope = {}, {}
    for name, scores in {"raw": raw, "scaled": raw / 8}.items():
        weights = scores.softmax(dim=-1)
        largest[name] = weights.max(dim=-1).values.mean().item()
        # trace of the softmax's derivative
        slope[name] = (weights * (1 - weights)).sum(dim=-1).mean().item()
    agrees = largest["scaled"] < largest["raw"] and slope["scaled"] > 2 * slope["raw"]
    return found(
        agrees,
        spread=raw.std().item(),
        largest=largest["raw"],
        largest_scaled=largest["scaled"],
        gain=slope["scaled"] / slope["raw"],
    )


def padding() -> Found:
    """A sentence of three words in a batch of length six: as alone if the padding is masked,
    changed if not.
    """
    attention, x = MultiHeadAttention(16, 2), torch.randn(1, 3, 16)
    alone, padded = attention(x), torch.cat([x, torch.randn(1, 3, 16)], dim=1)
    masked, unmasked = (
        attention(padded, mask=mask)[:, :3] for mask in (padding_mask(torch.tensor([3]), 6), None)
    )
    return found(
        equal(masked, alone) and not equal(unmasked, alone),
        change=(unmasked - alone).abs().max().item(),
    )


def slices() -> Found:
    """view and transpose give (h, n, d_k); joined again and through W^O that is multi-head
    attention.
    """
    n, d_model, h = 12, 256, 8
    attention, x = MultiHeadAttention(d_model, h), torch.randn(1, n, d_model)
    Q, K, V = (
        W(x[0]).view(n, h, d_model // h).transpose(0, 1)
        for W in (attention.W_Q, attention.W_K, attention.W_V)
    )
    weights = (Q @ K.transpose(-2, -1) / math.sqrt(d_model // h)).softmax(dim=-1)
    joined = (weights @ V).transpose(0, 1).contiguous().view(n, d_model)
    agrees = tuple(Q.shape) == (h, n, d_model // h) and equal(
        attention.W_O(joined), attention(x)[0]
    )
    assert equal(merge_heads(split_heads(x, h)), x)
    return found(agrees, heads=Q.shape[0], width=Q.shape[2])


STEPS = """
W = MultiHeadAttention(d_model, h)
{length} = 12
x = torch.randn(n_seq, d_model)
Q, K, V = (layer(x).view(n_seq, h, d_model // h).transpose(0, 1) for layer in (W.W_Q, W.W_K, W.W_V))
attn = ((Q @ K.transpose(-2, -1) / math.sqrt(d_model // h)).softmax(dim=-1) @ V).transpose(0, 1).reshape(n_seq, d_model)
output = W.W_O({joined})
"""  # the listing's steps in our own code; what its two versions call the length and the joined heads is filled in


def run_steps(length: str, joined: str) -> str | None:
    """Run the steps with the listing's names: which name Python misses. None if it misses none and
    the output is the library's.
    """
    names = {
        "torch": torch,
        "math": math,
        "MultiHeadAttention": MultiHeadAttention,
        "d_model": 256,
        "h": 8,
    }
    try:
        exec(STEPS.format(length=length, joined=joined), names)
    except NameError as error:
        return error.name
    assert equal(names["output"], names["W"](names["x"][None])[0])
    return None


def first_listing() -> Found:
    """The first listing gives n_context a length and goes on with n_seq. It ends before the last
    matrix, so nothing else can fail.
    """
    missing = run_steps(length="n_context", joined="attn")
    assert run_steps(length="n_seq", joined="attn") is None
    return found(missing is None, name=missing)


def second_listing() -> Found:
    """The second listing, with the length mended, computes attn and passes self_attention on."""
    missing = run_steps(length="n_seq", joined="self_attention")
    assert run_steps(length="n_seq", joined="attn") is None
    return found(missing is None, name=missing)


def contiguous() -> Found:
    """Without contiguous(), view refuses a transposed tensor; with it, the shape stays."""
    x = torch.randn(8, 12, 32).transpose(0, 1)
    try:
        x.view(12, 256)
        refused = False
    except RuntimeError:
        refused = True
    return found(
        refused and x.contiguous().shape == x.shape, rows=x.contiguous().view(12, 256).shape[0]
    )


def batch_width_length() -> Found:
    """Batch, width and length of published models, by the paper and by our configurations."""
    base, huge = BertConfig.BASE, ViTConfig.H14
    sizes = [
        (256, base.d_model, base.max_len),
        (256, BertConfig.LARGE.d_model, BertConfig.LARGE.max_len),
        (4096, huge.d_model, 1 + huge.n_patches),
    ]
    return found(
        all(batch < width < n for batch, width, n in sizes),
        width=sizes[0][1],
        n=sizes[0][2],
        vit_width=sizes[2][1],
        vit_n=sizes[2][2],
    )


def it_and_the_animal() -> Found:
    """Where one head of MiniLM looks from "it", in two sentences."""
    shares = {}
    for ending in ("tired", "wide"):
        read = minilm.read(f"The animal didn't cross the street because it was too {ending}.")
        row = read.weights[3, 1, read.tokens.index("it")]
        shares[ending] = [row[read.tokens.index(word)].item() for word in ("animal", "street")]
    agrees = shares["tired"][0] > 5 * shares["tired"][1]
    return found(
        agrees,
        animal=shares["tired"][0],
        street=shares["tired"][1],
        animal_wide=shares["wide"][0],
        street_wide=shares["wide"][1],
    )


def products() -> Found:
    """Wq = W_q q and W_o times the heads below each other, in columns, against the library's
    rows.
    """
    attention, x = MultiHeadAttention(12, 3), torch.randn(1, 4, 12)
    columns = x[0].T
    stacked = []
    for i in range(3):
        W_q, W_k, W_v = (
            W.weight[4 * i : 4 * (i + 1)] for W in (attention.W_Q, attention.W_K, attention.W_V)
        )
        weights = ((W_q @ columns).T @ (W_k @ columns) / math.sqrt(4)).softmax(dim=-1)
        stacked.append((W_v @ columns) @ weights.T)
    return found(
        equal(attention.W_O.weight @ torch.cat(stacked), attention(x)[0].T), n_heads=len(stacked)
    )


def dot_product() -> Found:
    """a(q, k) = qᵀk is torch's matrix product of one query with one key."""
    from lectures_lib.blocks.scoring import dot_score, scaled_dot_score

    q, k = torch.randn(1, 8), torch.randn(1, 8)
    by_hand = sum(a * b for a, b in zip(q[0].tolist(), k[0].tolist(), strict=True))
    return found(
        abs(dot_score(q, k).item() - by_hand) < 1e-5
        and abs(scaled_dot_score(q, k).item() - by_hand / math.sqrt(8)) < 1e-5,
        n=q.shape[1],
    )


def parallel_reading() -> Found:
    """A causal model gives all positions' scores in one pass, the same as word by word."""
    from lectures_lib.models.language_model import LanguageModel, LanguageModelConfig

    model, tokens = LanguageModel(LanguageModelConfig.TINY).eval(), torch.randint(1000, (1, 9))
    with torch.no_grad():
        at_once, one_by_one = (
            model(tokens)[0],
            torch.stack([model(tokens[:, : i + 1])[0, -1] for i in range(9)]),
        )
    reads_in_sequence = not equal(at_once, one_by_one)
    return found(reads_in_sequence, n=len(at_once))


def embedding_is_the_projection() -> Found:
    """A token's vector is what a matrix makes of a column that has a one at the token's place."""
    table, tokens = nn.Embedding(50, 8), torch.tensor([3, 41, 7])
    one_hot = torch.eye(50)[tokens]
    return found(not torch.equal(one_hot @ table.weight, table(tokens)), vocabulary=50)
