"""From text to text: a trained Transformer with its subwords (chapters 8 and 9)."""

from collections.abc import Callable, Sequence

import torch

from lectures_lib import data
from lectures_lib.checks.sizes import check_several_texts, check_size
from lectures_lib.decoding import Decoded, greedy
from lectures_lib.models.transformer import Transformer
from lectures_lib.tokenization import BPE

# a translation has at most so many tokens more than its source (Vaswani et al. 2017, section 6.1)
LONGER = 50


class Translator:
    """Translates sentences as they are written.

    Args:
        model: a trained Transformer.
        subwords: those of both its languages; the first three are padding, beginning and end
            (`data.PAD`, `BOS`, `EOS`).
    """

    def __init__(self, model: Transformer, subwords: BPE):
        self.model, self.subwords = model, subwords

    def source(self, text: str) -> list[int]:
        """The ids that the encoder reads."""
        return [*self.subwords.encode(text), data.EOS]

    def pair(self, source: str, target: str) -> tuple[list[int], list[int]]:
        """A sentence and its translation as ids, to train on."""
        return self.source(source), [data.BOS, *self.subwords.encode(target), data.EOS]

    @torch.no_grad()
    def __call__(
        self, texts: Sequence[str], search: Callable[..., Decoded] = greedy, batch_size: int = 100
    ) -> list[str]:
        """Translations, in the order of the texts; equally long ones are translated together.

        Args:
            texts: sentences of the language that the model reads.
            search: `greedy`, `beam`, or another with their arguments.
            batch_size: how many sentences at once.

        Raises:
            ValueError: for one text in place of several, or a batch_size below 1.
        """
        check_several_texts(texts)
        check_size("batch_size", batch_size)
        device = next(self.model.parameters()).device
        sources = [self.source(text) for text in texts]
        order = sorted(range(len(sources)), key=lambda i: len(sources[i]))
        translations = [""] * len(sources)
        for start in range(0, len(order), batch_size):
            rows = order[start : start + batch_size]
            ids, lengths = data.pad([sources[i] for i in rows])
            longest = min(ids.shape[1] + LONGER, self.model.config.max_len)
            never = (data.PAD, data.BOS)
            found = search(
                self.model,
                ids.to(device),
                lengths.to(device),
                begin=data.BOS,
                end=data.EOS,
                max_len=longest,
                never=never,
            )
            for i, sentence in zip(rows, found.sentences(), strict=True):
                translations[i] = self.subwords.decode(sentence, skip_specials=True)
        return translations
