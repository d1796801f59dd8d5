"""Masking: which tokens BERT has to predict, and what it sees in their place (chapter 13; Devlin et
al. 2019, section 3.1, task 1).
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from lectures_lib.checks.door import at_the_door
from lectures_lib.checks.tensors import check_whole_numbers
from lectures_lib.checks.tokens import check_choice


@dataclass(frozen=True)
class MaskingRates:
    """Which share of the tokens is predicted, and what the model sees in their place.

    Args:
        chosen: the share of tokens that are predicted.
        masked: of those, the share that is replaced by [MASK].
        random: of those, the share that is replaced by a random token. The rest stays as it is.

    Raises:
        ValueError: for shares outside 0 … 1, or a sum of the last two above 1.
    """

    chosen: float = 0.15
    masked: float = 0.8
    random: float = 0.1

    def __post_init__(self):
        shares = (self.chosen, self.masked, self.random)
        if not all(0 <= share <= 1 for share in shares) or self.masked + self.random > 1 + 1e-9:
            raise ValueError(
                f"shares lie between 0 and 1, and masked + random is at most 1, got {self}"
            )


class Masked(NamedTuple):
    """What the model reads, and at which positions it has to predict the original token."""

    tokens: Int[Tensor, "batch n"]
    chosen: Bool[Tensor, "batch n"]


def _check_masking(
    tokens: Tensor,
    special: Tensor,
    mask_id: int,
    words: range,
    rates: MaskingRates | None = None,
    generator: torch.Generator | None = None,
) -> None:
    check_whole_numbers("token ids", tokens)
    if len(words) == 0:
        raise ValueError(f"no words to draw random tokens from: {words}")
    if words.step != 1:
        raise ValueError(f"the words' ids stand one after the other, got {words}")
    check_choice("special", "True where a token is never chosen", special, tokens)


@at_the_door(_check_masking)
def mask_tokens(
    tokens: Int[Tensor, "batch n"],
    special: Bool[Tensor, "batch n"],
    mask_id: int,
    words: range,
    rates: MaskingRates = MaskingRates(),
    generator: torch.Generator | None = None,
) -> Masked:
    """Choose tokens to be predicted, and hide most of them (section 3.1, task 1).

    Args:
        tokens: the original ids.
        special: [CLS], [SEP] and padding: never chosen.
        mask_id: the id of [MASK].
        words: the ids that random tokens are drawn from.
        rates: how many; the defaults are the paper's.
        generator: where chance comes from.

    Raises:
        TypeError: for tokens that are no tensor.
        ValueError: for no words to draw from, a range that leaves some out, or a `special` that is
            not boolean or not of the tokens' shape.
    """
    chance = torch.rand(tokens.shape, generator=generator)  # is the token chosen?
    fate = torch.rand(tokens.shape, generator=generator)  # if so, what does it become?
    others = torch.randint(words.start, words.stop, tokens.shape, generator=generator)
    chosen = (chance < rates.chosen) & ~special  # 15 % of the tokens, with the paper's rates
    # fate:  0 ─────── [MASK] ─────── 0.8 ─ another ─ 0.9 ─ itself ─ 1
    to_mask = chosen & (fate < rates.masked)  # 80 % of the chosen
    to_other = chosen & ~to_mask & (fate < rates.masked + rates.random)  # 10 % of the chosen
    read = tokens.masked_fill(to_mask, mask_id)
    read = torch.where(to_other, others, read)
    return Masked(read, chosen)  # the other 10 % stay as they are: no line is needed for them
