"""Decoding with a recurrent encoder–decoder: its state is all that it keeps (chapters 1 and 9)."""

from jaxtyping import Int
from torch import Tensor, nn

from lectures_lib.checks.door import at_the_door
from lectures_lib.checks.tokens import check_tokens
from lectures_lib.decoding.protocol import Step
from lectures_lib.models.seq2seq import Seq2Seq, Seq2SeqState


class RecurrentSteps(nn.Module):
    """A `Seq2Seq`, decoded step by step (`protocol.StepModel`)."""

    def __init__(self, model: Seq2Seq):
        super().__init__()
        self.model = model

    def start(
        self,
        source: Int[Tensor, "batch n_source"],
        source_lengths: Int[Tensor, " batch"] | None = None,
    ) -> Step:
        """Read the source."""
        return Step(None, self.model.decoder.start(self.model.encode(source, source_lengths)))

    @at_the_door(
        lambda self, tokens, state, return_weights=False: check_tokens(
            tokens[:, None], self.model.config.target_vocab_size
        )
    )
    def step(
        self, tokens: Int[Tensor, " batch"], state: Seq2SeqState, return_weights: bool = False
    ) -> Step:
        """Decode one more token of each sentence. With `return_weights`, the step's attention is
        `(batch, n_source)`.
        """
        logits, state, attention = self.model.decoder.step(tokens, state)
        return Step(logits, state, attention if return_weights else None)
