"""The figures of the page "Mechanisms in motion": no model, only a mechanism that the reader sets
going.

Each function gives what its script in book/live must know, and an example in words that the library
makes while the site is built: what stands there without scripts, and on paper.
"""

from functools import cache

import torch
import torch.nn.functional as F

from lectures_lib.models import minilm
from lectures_lib.tokenization import WordPiece
from lectures_lib.training.pretraining import MaskingRates, mask_tokens

VOCABULARY = minilm.checkpoint() / "vocab.txt"
FIRST_WORD = 999  # of BERT's pieces; the ids below are special tokens and places left free
HIDDEN = "The cat sat on the mat because it was warm, and the dog slept by the door."
WRITTEN = ["<s>", "sieben", "und", "zwanzig", ",", "sechs", "hundert", "achtzig"]


@cache
def filling() -> tuple[dict, str]:
    """The figure with a cache that fills; the counts after the last word."""
    n = len(WRITTEN)
    options = {"title": "A cache that fills", "words": WRITTEN}
    said = (
        f"{' '.join(WRITTEN)}: {n} steps.\nKeys (and as many values) computed in one "
        f"self-attention without a cache: {' + '.join(map(str, range(1, n + 1)))} = "
        f"{n * (n + 1) // 2}.\nWith a cache: {' + '.join(['1'] * n)} = {n}."
    )
    return options, said


@cache
def smoothing() -> tuple[dict, str]:
    """The figure with the loss over the probability of the right token; its numbers at three."""
    vocab, epsilon = 5, 0.1
    lines = []
    for right in (0.5, 0.92, 0.999):
        scores = torch.tensor([right, *[(1 - right) / (vocab - 1)] * (vocab - 1)]).log()
        losses = [F.cross_entropy(scores, torch.tensor(0), label_smoothing=e) for e in (0, epsilon)]
        lines.append(f"{right:<5g}  {losses[0]:.3f}  {losses[1]:.3f}")
    options = {
        "title": "Loss and label smoothing",
        "vocabularies": [3, 5, 10, 1000],
        "vocabulary": vocab,
        "smoothing": epsilon,
        "right": 0.7,
    }
    head = f"{vocab} tokens; probability of the right one, loss with ε = 0 and with ε = {epsilon}"
    return options, "\n".join([head, *lines])


@cache
def dice() -> tuple[dict, str]:
    """The figure that throws dice for BERT's holes; one throw, and the shares of many."""
    pieces = WordPiece.load(VOCABULARY)
    tokens = torch.tensor([pieces.pair(HIDDEN).ids])
    ends = torch.tensor([pieces.token_id(name) for name in ("[CLS]", "[SEP]")])
    words, mask = range(FIRST_WORD, len(pieces)), pieces.token_id("[MASK]")
    generator = torch.Generator().manual_seed(0)
    many = tokens.expand(2000, -1)
    read = mask_tokens(many, torch.isin(many, ends), mask, words, generator=generator)
    n = read.chosen.sum()
    hidden = (read.tokens == mask).sum() / n
    kept = (read.chosen & (read.tokens == many)).sum() / n
    first = next(i for i, row in enumerate(read.chosen) if row.sum() == 3)
    shown = zip(
        pieces.known_tokens(tokens[0].tolist()),
        pieces.known_tokens(read.tokens[first].tolist()),
        read.chosen[first].tolist(),
        strict=True,
    )
    said = " ".join(f"{now} (was {was})" if chosen else was for was, now, chosen in shown)
    options = {
        "title": "80/10/10: throw the dice",
        "sentence": HIDDEN,
        "vocabulary": f"models/{VOCABULARY.name}",
        "bytes": VOCABULARY.stat().st_size,
        "words": [words.start, words.stop],
        "rates": vars(MaskingRates()),
    }
    shares = f"chosen {n / (many.numel() - 2 * len(many)):.1%}; of these [MASK] {hidden:.1%}"
    return options, f"{said}\n\n2,000 throws: {shares}, as it was {kept:.1%}".replace("%", " %")


# As in live.py: in the order of the page, and the address of each figure's section there.
FIGURES = {"smoothing": smoothing, "filling": filling, "dice": dice}
SECTIONS = {
    "too-sure": "smoothing",
    "a-cache-that-fills": "filling",
    "throw-the-dice": "dice",
}
PAGE = "book/motion"
