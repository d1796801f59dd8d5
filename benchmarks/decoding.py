"""Greedy decoding with a cache, against none and against Hugging Face's `generate`: the same
weights, the same tokens. And against its own matrix products alone, done again without all that is
between them: nothing that decodes step by step can be faster. And with its step compiled, which
spends less between them, and has to be compiled before the first token.

    python benchmarks/decoding.py             writes book/results/decoding_speed.json
    … on a GPU                                decoding_speed_gpu.json

The three take turns, so that a machine that slows down slows all; each ratio is one pair of
neighbouring runs.
"""

from collections.abc import Callable

import torch
from device import DEVICE, ON_A_GPU, now  # beside this file, as `transformer`
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from transformer import VOCAB, hugging_face, our_twin

from lectures_lib import results
from lectures_lib.decoding import TransformerWithCache, WithoutCache, greedy

BATCHES, LENGTHS = (1, 16), (64, 128)
N_SOURCE = 24
ROUNDS = {"with_generate": 7, "without_cache": 3, "products": 7, "compiled": 7}
PRODUCTS = ("mm", "addmm", "bmm", "baddbmm", "linear", "matmul")
BEGIN, END = 1, 0


def seconds(decode: Callable[[], Tensor]) -> float:
    """The time of one decoding."""
    start = now()
    decode()
    return now() - start


class Products(TorchDispatchMode):
    """Keeps every matrix product that is done in it, attention's included, with its operands."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        name = operator.overloadpacket.__name__
        if name in PRODUCTS or "scaled_dot_product" in name:
            self.calls.append((operator, args, kwargs or {}))
        return operator(*args, **(kwargs or {}))

    @torch.no_grad()
    def again(self) -> None:
        """The products alone, one after the other."""
        for operator, args, kwargs in self.calls:
            operator(*args, **kwargs)


def contestants(batch: int, n: int) -> dict[str, Callable[[], Tensor]]:
    """Four ways to the same n tokens; the end token is forbidden, so that all go on to the
    last.
    """
    torch.manual_seed(0)
    theirs = hugging_face().eval()
    ours = our_twin(theirs).eval().to(DEVICE)
    theirs.to(DEVICE)
    source = torch.randint(2, VOCAB, (batch, N_SOURCE)).to(DEVICE)
    mask = torch.ones_like(source)
    compiled = TransformerWithCache(ours)
    # any number of tokens so far: else each step would be compiled anew
    compiled.step = torch.compile(compiled.step, dynamic=True)
    options = {"begin": BEGIN, "end": END, "max_len": n, "never": [END]}
    generate = {"do_sample": False, "num_beams": 1, "max_new_tokens": n, "min_new_tokens": n}
    return {
        "cache": lambda: greedy(ours, source, **options).tokens,
        "compiled": lambda: greedy(compiled, source, **options).tokens,
        "without": lambda: greedy(WithoutCache(ours), source, **options).tokens,
        "generate": lambda: theirs.generate(source, attention_mask=mask, **generate)[:, 1:],
    }


def ratios(batch: int, n: int) -> dict[str, dict]:
    """Times over that of greedy decoding with a cache, pair by pair, after a warm-up that compares
    the tokens.
    """
    decode = contestants(batch, n)
    tokens = {name: run() for name, run in decode.items()}
    for name, found in tokens.items():
        assert torch.equal(found, tokens["cache"]), f"{name} decodes other tokens"
    generate = [
        seconds(decode["generate"]) / seconds(decode["cache"])
        for _ in range(ROUNDS["with_generate"])
    ]
    without = [
        seconds(decode["without"]) / seconds(decode["cache"])
        for _ in range(ROUNDS["without_cache"])
    ]
    compiled = [
        seconds(decode["generate"]) / seconds(decode["compiled"]) for _ in range(ROUNDS["compiled"])
    ]
    with Products() as products:
        decode["cache"]()
    products.again()
    floor = [seconds(decode["cache"]) / seconds(products.again) for _ in range(ROUNDS["products"])]
    return {
        "generate_over_cache": results.spread(generate),
        "generate_over_compiled": results.spread(compiled),
        "without_over_cache": results.spread(without),
        "cache_over_products": results.spread(floor),
    }


def main() -> None:
    """Measure every size and write the file."""
    torch._dynamo.config.recompile_limit = 64  # a handful for each size
    torch.set_num_threads(1)  # whatever else runs on this machine then disturbs least
    measured = {
        f"batch_{batch}": {f"tokens_{n}": ratios(batch, n) for n in LENGTHS} for batch in BATCHES
    }
    for batch, sizes in measured.items():
        for n, peers in sizes.items():
            for peer, ratio in peers.items():
                print(
                    f"{batch:>9} {n:>11} {peer:>20}: {ratio['median']:.2f} ({ratio['min']:.2f} to "
                    f"{ratio['max']:.2f})"
                )
    title = (
        f"Greedy decoding over the same with a cache: Hugging Face's generate, and no cache; over "
        f"the same with a compiled step: generate; and with a cache over its matrix products alone "
        f"(source of {N_SOURCE} tokens, float32)"
    )
    results.save("decoding_speed" + ON_A_GPU, measured, title, seeds=[])


if __name__ == "__main__":
    main()
