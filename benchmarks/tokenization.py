"""Our tokenizers against the Rust library `tokenizers`: training and encoding WikiText-2, or
Python's own manual, as ratios within one run.

    LECTURES_DATA=<mirror> python benchmarks/tokenization.py
        writes book/results/tokenization_speed.json

Reads WikiText-2 from the mirror that LECTURES_DATA names; where it names none, Python's own manual,
and says so. The two libraries take turns, on one thread each; each ratio
is one pair of neighbouring runs. Times are processor time, so that other work on the machine counts
less. Ours gives ids; the peer's `encode_batch_fast` gives ids and tokens without offsets, its least
work from Python.
"""

import os

os.environ["RAYON_NUM_THREADS"] = "1"  # before the peer is imported: one thread against one
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import math
import time
from collections import Counter
from collections.abc import Callable
from importlib.metadata import version
from pydoc_data.topics import topics
from typing import Any

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from lectures_lib import data, results
from lectures_lib.models.minilm import checkpoint
from lectures_lib.tokenization import BPE, WordPiece

PAIRS = 5
N_MERGES = 8000


def texts(split: str) -> tuple[str, list[str]]:
    """The name of the corpus and its texts."""
    if data.mirror():
        rows, _ = data.read_split("Salesforce/wikitext/wikitext-2-v1", split)
        return "WikiText-2", [row["text"] for row in rows]
    manual = list(topics.values())
    return "Python's manual", manual[::2] if split == "train" else manual[1::2]


def train_peer(corpus: list[str]) -> Tokenizer:
    """The same training by the peer."""
    peer = Tokenizer(models.BPE())
    peer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=256 + N_MERGES, min_frequency=2, show_progress=False, initial_alphabet=alphabet
    )
    peer.train_from_iterator(corpus, trainer)
    return peer


def seconds(work: Callable[[], Any]) -> float:
    """Processor time of one run, in all threads of this process."""
    start = time.process_time()
    work()
    return time.process_time() - start


def take_turns(
    ours: Callable[[], Any], theirs: Callable[[], Any]
) -> tuple[list[float], list[float]]:
    """Times of both, in neighbouring runs."""
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(PAIRS)]
    return [a for a, _ in pairs], [b for _, b in pairs]


def compare(ours: list[float], theirs: list[float], megabytes: float) -> dict[str, Any]:
    """Times, speeds and the ratio, with their spread."""
    return {
        "our_seconds": results.spread(ours),
        "our_megabytes_per_second": results.spread([megabytes / t for t in ours]),
        "ours_over_peer": results.spread([a / b for a, b in zip(ours, theirs, strict=True)]),
    }


def quality(tokenizer: WordPiece, corpus: list[str]) -> dict[str, float]:
    """Pieces for each word, and bits for each word if pieces are drawn independently: less is
    better in both.
    """
    counts = Counter(i for text in corpus for i in tokenizer.encode(text))
    words = sum(len(tokenizer.basic.words(text)) for text in corpus)
    n = sum(counts.values())
    bits = -sum(count * math.log2(count / n) for count in counts.values())
    return {"pieces_per_word": n / words, "bits_per_word": bits / words, "tokens_used": len(counts)}


def main() -> None:
    """Measure and write the file."""
    (name, train), (_, test) = texts("train"), texts("test")
    megabytes = sum(len(text.encode()) for text in train) / 1e6
    found: dict[str, Any] = {"megabytes": megabytes, "merges": N_MERGES}

    found["bpe_train"] = compare(
        *take_turns(lambda: BPE.train(train, 256 + N_MERGES), lambda: train_peer(train)), megabytes
    )

    bpe, peer = BPE.train(train, 256 + N_MERGES), train_peer(train)
    assert [bpe.encode(text) for text in test] == [
        encoding.ids for encoding in peer.encode_batch(test)
    ]

    def cold() -> list[list[int]]:
        fresh = BPE(bpe.vocabulary, bpe.merges)  # it remembers no word yet
        return [fresh.encode(text) for text in train]

    def with_peer() -> list[list[int]]:
        return [encoding.ids for encoding in peer.encode_batch_fast(train)]

    found["bpe_encode"] = compare(*take_turns(cold, with_peer), megabytes)
    found["bpe_tokenize"] = compare(
        *take_turns(
            lambda: [bpe.tokenize(text) for text in train], lambda: peer.encode_batch(train)
        ),
        megabytes,
    )

    pieces = WordPiece.load(checkpoint() / "vocab.txt")
    peer = Tokenizer.from_file(str(checkpoint() / "tokenizer.json"))
    peer.no_padding()
    peer.no_truncation()

    def cold_pieces() -> list[list[int]]:
        fresh = WordPiece(pieces.vocabulary, pieces.basic)
        return [fresh.encode(text) for text in train]

    def with_peer_pieces() -> list[list[int]]:
        return [
            encoding.ids for encoding in peer.encode_batch_fast(train, add_special_tokens=False)
        ]

    assert cold_pieces() == with_peer_pieces()
    found["wordpiece_encode"] = compare(*take_turns(cold_pieces, with_peer_pieces), megabytes)

    found["wordpiece_score"] = {}
    for score in ("likelihood", "frequency", "ratio"):
        start = time.process_time()
        trained = WordPiece.train(train, 8000, score=score)
        found["wordpiece_score"][score] = {
            "train_seconds": time.process_time() - start,
            **quality(trained, test),
        }

    for what in ("bpe_train", "bpe_encode", "bpe_tokenize", "wordpiece_encode"):
        times, speed, ratio = (
            found[what][key]
            for key in ("our_seconds", "our_megabytes_per_second", "ours_over_peer")
        )
        print(f"{what:17} {times['median']:6.2f} s, {speed['median']:5.1f} MB/s", end="; ")
        print(f"time over peer's {ratio['median']:.2f} ({ratio['min']:.2f} to {ratio['max']:.2f})")
    for score, figures in found["wordpiece_score"].items():
        print(
            f"{score:17} "
            + ", ".join(f"{figure} {number:.3f}" for figure, number in figures.items())
        )
    title = (
        f"Our tokenizers over tokenizers {version('tokenizers')} (Rust, one thread): processor "
        f"time on {name}"
    )
    results.save("tokenization_speed", found, title, seeds=[])


if __name__ == "__main__":
    main()
