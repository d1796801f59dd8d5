"""What the library computes for a sentence that a page translates."""

import math

import torch

from lectures_lib import stored
from lectures_lib.blocks.recording import record


class Computed:
    """What the library computes for a sentence: `seen`, all of it by the parts' names, and the
    tokens that were read and written.
    """

    @torch.no_grad()
    def __init__(self, sentence: str, direction: tuple[str, str] = ("de", "en")):
        translator = stored.translator(*direction)
        self.model, self.decode = translator.model.eval(), translator.subwords.decode
        self.source = torch.tensor([translator.source(sentence)])
        self.target = [1]
        while self.target[-1] != 2:
            scores = self.model(self.source, torch.tensor([self.target]))[0, -1]
            scores[:2] = -math.inf
            self.target.append(int(scores.argmax()))
        with record(self.model) as self.seen:
            self.model(self.source, torch.tensor([self.target[:-1]]))

    def head(self, name: str, matrix: str, head: int) -> torch.Tensor:
        """One head's queries, keys or values (n, d_k)."""
        return self.seen[f"{name}.{matrix}"][0].chunk(self.model.config.n_heads, dim=-1)[head]
