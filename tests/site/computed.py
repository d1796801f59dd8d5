"""What the library computes for a sentence that a page translates; models as a page fetches them."""

import math
from pathlib import Path

import torch

from lectures_lib import stored
from lectures_lib.blocks.recording import record
from lectures_lib.models.bert import Bert, BertConfig, BertForPreTraining

ROUNDED = {"minilm": Bert, "fill_mask": BertForPreTraining}


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


def rounded(html: Path, name: str) -> Bert | BertForPreTraining:
    """One of the models in 8 bits, with the numbers that a page fetches."""
    path = html / "live" / "models" / f"{name}_8bit.safetensors"
    return stored.load_eight_bits(path, BertConfig, ROUNDED[name])
