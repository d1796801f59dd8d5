"""Byte-level BPE as the `tokenizers` library learns it."""

import json

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from lectures_lib.tokenization import BPE


def peer_of(texts, vocab_size: int, min_count: int = 2, specials=()) -> Tokenizer:
    """The same training, done by the `tokenizers` library."""
    peer = Tokenizer(models.BPE())
    peer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    peer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        min_frequency=min_count,
        special_tokens=list(specials),
        show_progress=False,
        initial_alphabet=alphabet,
    )
    peer.train_from_iterator(texts, trainer)
    return peer


def learned(peer: Tokenizer) -> list[tuple[str, str]]:
    """Its merges."""
    return [tuple(merge) for merge in json.loads(peer.to_str())["model"]["merges"]]


def pairs(bpe: BPE) -> list[tuple[str, str]]:
    """Our merges, spelled like theirs."""
    return [(merge.left, merge.right) for merge in bpe.merges]
