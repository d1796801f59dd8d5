"""Filling holes: what a pre-trained model puts where [MASK] stands (chapter 13)."""

from typing import NamedTuple

import torch

from lectures_lib.checks.door import at_the_door
from lectures_lib.models.bert import BertForPreTraining
from lectures_lib.modes import check_at_rest
from lectures_lib.tokenization import WordPiece


class Guess(NamedTuple):
    """A word piece for a hole, and how likely the model finds it."""

    token: str
    probability: float


def _check_asked(model: BertForPreTraining, tokenizer: WordPiece, text: str, k: int = 5) -> None:
    check_at_rest(model)
    if not 1 <= k <= len(tokenizer):
        raise ValueError(f"1 to {len(tokenizer)} guesses can be made, got k = {k}")
    if tokenizer.token_id("[MASK]") not in tokenizer.pair(text).ids:
        raise ValueError(f"no [MASK] in {text!r}: write it where a word is to be guessed")


@at_the_door(_check_asked)
@torch.no_grad()
def fill_mask(
    model: BertForPreTraining, tokenizer: WordPiece, text: str, k: int = 5
) -> list[list[Guess]]:
    """The k likeliest word pieces for every [MASK] in a text, the likeliest first.

    Raises:
        ValueError: for a text without [MASK], a k below 1 or above the vocabulary's size, or a
            model in training mode.
    """
    device = next(model.parameters()).device
    tokens = torch.tensor([tokenizer.pair(text).ids]).to(device)  # [CLS] text [SEP]
    holes = tokens == tokenizer.token_id("[MASK]")
    best = model(tokens, at=holes).words.softmax(dim=-1).topk(k)
    found = zip(best.indices.tolist(), best.values.tolist(), strict=True)
    return [list(map(Guess, tokenizer.known_tokens(ids), p)) for ids, p in found]
