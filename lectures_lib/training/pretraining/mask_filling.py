"""Filling holes: what a pre-trained model puts where [MASK] stands (chapter 13)."""

from typing import NamedTuple

import torch

from lectures_lib.models.bert import BertForPreTraining
from lectures_lib.tokenization import WordPiece


class Guess(NamedTuple):
    """A word piece for a hole, and how likely the model finds it."""

    token: str
    probability: float


@torch.no_grad()
def fill_mask(
    model: BertForPreTraining, tokenizer: WordPiece, text: str, k: int = 5
) -> list[list[Guess]]:
    """The k likeliest word pieces for every [MASK] in a text, the likeliest first.

    Raises:
        ValueError: for a text without [MASK], or a k below 1.
    """
    if k < 1:
        raise ValueError(f"at least one guess, got k = {k}")
    tokens = torch.tensor([tokenizer.pair(text).ids]).to(next(model.parameters()).device)
    holes = tokens == tokenizer.token_id("[MASK]")
    if not holes.any():
        raise ValueError(f"no [MASK] in {text!r}: write it where a word is to be guessed")
    probabilities = model(tokens, at=holes).words.softmax(dim=-1).cpu()
    best = probabilities.topk(min(k, len(tokenizer)), dim=-1)
    names = [tokenizer.known_tokens(row.tolist()) for row in best.indices]
    return [
        [Guess(*guess) for guess in zip(row, shares.tolist(), strict=True)]
        for row, shares in zip(names, best.values, strict=True)
    ]
