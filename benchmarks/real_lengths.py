"""Sentences of real lengths: useful tokens a second, batched by length or as they come (chapter 8).

    LECTURES_DATA=<mirror> python benchmarks/real_lengths.py
        Multi30k's captions; writes book/results/real_lengths.json

A training step of the same models as in transformer.py. Every batch may hold 2,048 tokens, padding
included. "By length": the examples of an epoch are sorted by length before they are cut into
batches (`data.Batches`); "as they come": they are not. Useful tokens are those that are no padding.
The contestants take turns, two batches each; each ratio is that of two neighbouring turns.
"""

import time
from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformer import TOKENS, TorchTransformer, hugging_face, our_twin

from lectures_lib import data, results
from lectures_lib.tokenization import BPE

MAX_TOKENS, ROUNDS, BATCHES_A_TURN = 2_048, 30, 2
VOCAB = 8_000


class AnyLength(TorchTransformer):
    """torch's Transformer with a causal mask for each batch's own length."""

    def forward(self, source: Tensor, target: Tensor, lengths: Tensor) -> Tensor:
        """The logits."""
        n = target.shape[1]
        self.causal = ~torch.ones(n, n, dtype=torch.bool).tril()
        return super().forward(source, target, lengths)


def asked() -> dict[str, tuple[nn.Module, Callable[[data.PairBatch], Tensor]]]:
    """Each model, and how to ask it for a batch's logits."""
    theirs = hugging_face()
    ours, torchs = our_twin(theirs), AnyLength()

    def ask_hugging_face(batch: data.PairBatch) -> Tensor:
        mask = (torch.arange(batch.source.shape[1]) < batch.source_lengths[:, None]).long()
        return theirs(
            input_ids=batch.source,
            attention_mask=mask,
            decoder_input_ids=batch.read,
            use_cache=False,
        ).logits

    return {
        "ours": (ours, lambda batch: ours(batch.source, batch.read, batch.source_lengths)),
        "torch": (torchs, lambda batch: torchs(batch.source, batch.read, batch.source_lengths)),
        "hugging_face": (theirs, ask_hugging_face),
    }


def encoded() -> list[tuple[list[int], list[int]]]:
    """Multi30k's training captions, English to German, as token numbers."""
    captions = data.load("translation", "train", source="real")
    specials = ["<pad>", "<s>", "</s>"]
    subwords = BPE.train(
        [text for caption in captions for text in caption.values()], VOCAB, specials
    )
    encode = subwords.encode
    return [
        ([*encode(c["en"]), data.EOS], [data.BOS, *encode(c["de"]), data.EOS]) for c in captions
    ]


def endless(batches: data.Batches) -> Iterator[data.PairBatch]:
    """The batches of epoch after epoch."""
    epoch = 0
    while True:
        yield from batches.epoch(epoch)
        epoch += 1


def tokens_per_second(
    ask: Callable[[data.PairBatch], Tensor], optimizer: torch.optim.Optimizer, stream: Iterator
) -> float:
    """Useful tokens a second of some training steps, making the batches included."""
    useful, start = 0, time.perf_counter()
    for _ in range(BATCHES_A_TURN):
        batch = next(stream)
        useful += int(batch.source_lengths.sum() + batch.target_lengths.sum())
        loss = F.cross_entropy(
            ask(batch).flatten(0, 1), batch.predicted.flatten(), ignore_index=data.PAD
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return useful / (time.perf_counter() - start)


def padding(batches: data.Batches) -> float:
    """The share of an epoch's tokens that is padding."""
    sizes = [
        (b.source.numel() + b.target.numel(), int(b.source_lengths.sum() + b.target_lengths.sum()))
        for b in batches.epoch(0)
    ]
    return 1 - sum(useful for _, useful in sizes) / sum(size for size, _ in sizes)


def main() -> None:
    """Measure and write the file."""
    torch.manual_seed(0)
    torch.set_num_threads(1)  # whatever else runs on this machine then disturbs least
    assert TOKENS["scale_embedding"], "the three models scale their token vectors alike"
    pairs = encoded()
    ways = {
        name: data.Batches(pairs, data.pad_pairs, max_tokens=MAX_TOKENS, by_length=by_length)
        for name, by_length in (("by_length", True), ("as_they_come", False))
    }
    turns = {}
    for model_name, (model, ask) in asked().items():
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-5)
        for way in ways if model_name == "ours" else ["as_they_come"]:
            turns[f"{model_name}_{way}"] = (ask, optimizer, endless(ways[way]))
    rounds = [
        {name: tokens_per_second(*turn) for name, turn in turns.items()} for _ in range(ROUNDS + 1)
    ][1:]  # the first warms up
    measured = {
        "ours_by_length_over": {
            name: results.spread([r["ours_by_length"] / r[name] for r in rounds])
            for name in turns
            if "come" in name
        },
        "padding": {name: padding(batches) for name, batches in ways.items()},
        "max_tokens": MAX_TOKENS,
    }
    for name, ratio in measured["ours_by_length_over"].items():
        print(
            f"ours by length over {name}: {ratio['median']:.2f} ({ratio['min']:.2f} to "
            f"{ratio['max']:.2f})"
        )
    title = (
        f"Useful tokens a second of a training step on Multi30k's captions (batches of "
        f"{MAX_TOKENS} tokens with padding; 6 + 6 layers)"
    )
    results.save("real_lengths", measured, title, seeds=[])


if __name__ == "__main__":
    main()
