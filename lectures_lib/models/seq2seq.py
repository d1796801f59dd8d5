"""Encoder and decoder as recurrent networks, with and without attention (chapter 1).

Without: Sutskever et al. 2014 and Cho et al. 2014; one vector of fixed size carries the whole
sentence. With additive attention: Bahdanau et al. 2015. With dot or general attention: Luong et al.
2015. All with gated recurrent units (Cho et al. 2014).
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from lectures_lib.blocks.attention import padding_mask
from lectures_lib.blocks.recording import Recorded
from lectures_lib.blocks.scoring import AdditiveScore, GeneralScore, dot_score
from lectures_lib.checks.door import at_the_door
from lectures_lib.checks.sizes import check_config
from lectures_lib.checks.tokens import check_lengths, check_tokens


@dataclass(frozen=True)
class Seq2SeqConfig:
    """The sizes of a recurrent encoder–decoder.

    Args:
        source_vocab_size: number of source tokens.
        target_vocab_size: number of target tokens.
        d_embedding: width of the word vectors.
        d_hidden: width of the decoder's state, and of the encoder's states (half of it for each
            direction).
        attention: how the decoder looks at the source: "additive", "dot" or "general"; None: not at
            all.
        dropout: share of the word vectors and of the vectors before the output layer dropped in
            training.

    Raises:
        ValueError: for a size below 1, an odd d_hidden or another kind of attention.
    """

    source_vocab_size: int
    target_vocab_size: int
    d_embedding: int = 64
    d_hidden: int = 128
    attention: Literal["additive", "dot", "general"] | None = None
    dropout: float = 0.0

    def __post_init__(self):
        check_config(self)
        if self.d_hidden % 2:
            raise ValueError(
                f"d_hidden must be even (half for each direction of the encoder), got d_hidden = "
                f"{self.d_hidden}"
            )
        if self.attention not in (None, "additive", "dot", "general"):
            raise ValueError(
                f"no attention named {self.attention!r}; there is: additive, dot, general, or None "
                f"for none"
            )


class Memory(NamedTuple):
    """What the encoder leaves to the decoder."""

    states: Float[Tensor, "batch n_source d_hidden"]
    mask: Bool[Tensor, "batch 1 n_source"]
    summary: Float[Tensor, "batch d_hidden"]


class Seq2SeqState(NamedTuple):
    """What the decoder carries from word to word (`decoding.StepState`): what the encoder left, and
    two vectors of its own.
    """

    memory: Memory
    hidden: Float[Tensor, "batch d_hidden"]
    features: Float[Tensor, "batch d_hidden"]

    def select(self, rows: Int[Tensor, " kept"]) -> "Seq2SeqState":
        """The state of these rows of the batch, in this order; a row may come more than once."""
        return Seq2SeqState(
            Memory(*(kept[rows] for kept in self.memory)), self.hidden[rows], self.features[rows]
        )


class Encoder(nn.Module):
    """Reads the source in both directions: the state at each word knows what stands before it and
    what stands after it.
    """

    def __init__(self, config: Seq2SeqConfig):
        super().__init__()
        self.embedding = nn.Embedding(config.source_vocab_size, config.d_embedding)
        self.dropout = nn.Dropout(config.dropout)
        self.gru = nn.GRU(
            config.d_embedding, config.d_hidden // 2, batch_first=True, bidirectional=True
        )
        self.W_s = nn.Linear(config.d_hidden, config.d_hidden)

    def forward(
        self, source: Int[Tensor, "batch n_source"], lengths: Int[Tensor, " batch"]
    ) -> Memory:
        """A state for each source word, and a summary of them all: the two directions' last states,
        mixed.
        """
        # Packed, the sequences end where their padding begins: the backward direction starts at
        # each one's own last word.
        packed = pack_padded_sequence(
            self.dropout(self.embedding(source)),
            lengths.cpu(),
            batch_first=True,
            enforce_sorted=False,
        )
        states, last = self.gru(packed)
        states, _ = pad_packed_sequence(states, batch_first=True, total_length=source.shape[1])
        summary = torch.tanh(self.W_s(torch.cat([last[0], last[1]], dim=-1)))
        return Memory(states, padding_mask(lengths, source.shape[1])[:, 0], summary)


class Look(nn.Module):
    """Attention as in the translators before the Transformer: score every source state, average
    them by their scores.
    """

    def __init__(self, config: Seq2SeqConfig):
        super().__init__()
        d = config.d_hidden
        scores = {
            "additive": lambda: AdditiveScore(d, d, d),
            "general": lambda: GeneralScore(d, d),
            "dot": lambda: dot_score,
        }
        self.score = scores[config.attention]()

    def forward(
        self, hidden: Float[Tensor, "batch d_hidden"], memory: Memory
    ) -> tuple[Float[Tensor, "batch d_hidden"], Float[Tensor, "batch n_source"]]:
        """The context vector, and the weights it was averaged with; padding gets none."""
        scores = self.score(hidden[:, None, :], memory.states)  # one query for each sentence
        weights = scores.masked_fill(~memory.mask, -torch.inf).softmax(dim=-1)
        return (weights @ memory.states)[:, 0], weights[:, 0]


class Decoder(nn.Module):
    """Writes the target word by word. Each kind of attention looks when its paper does."""

    def __init__(self, config: Seq2SeqConfig):
        super().__init__()
        d_embedding, d_hidden = config.d_embedding, config.d_hidden
        self.attention = config.attention
        self.embedding = nn.Embedding(config.target_vocab_size, d_embedding)
        self.dropout = nn.Dropout(config.dropout)
        # With attention, the recurrent unit reads a second vector beside the word: what was looked
        # at.
        self.gru = nn.GRUCell(d_embedding + (d_hidden if self.attention else 0), d_hidden)
        if self.attention:
            self.look = Look(config)
            self.W_c = nn.Linear(2 * d_hidden, d_hidden)
        self.output = nn.Linear(d_hidden, config.target_vocab_size)

    def start(self, memory: Memory) -> Seq2SeqState:
        """The state before the first word: the summary of the source, and nothing looked at yet."""
        return Seq2SeqState(
            memory, hidden=memory.summary, features=torch.zeros_like(memory.summary)
        )

    def step(
        self, word: Int[Tensor, " batch"], state: Seq2SeqState
    ) -> tuple[
        Float[Tensor, "batch target_vocab"], Seq2SeqState, Float[Tensor, "batch n_source"] | None
    ]:
        """Read the word before, move on, and score every word as the next one: the scores, the new
        state, where it looked.
        """
        y = self.dropout(self.embedding(word))
        if self.attention is None:
            hidden, weights = self.gru(y, state.hidden), None
            features = hidden
        elif self.attention == "additive":  # Bahdanau: look with the old state, then move
            context, weights = self.look(state.hidden, state.memory)
            hidden = self.gru(torch.cat([y, context], dim=-1), state.hidden)
            features = torch.tanh(self.W_c(torch.cat([context, hidden], dim=-1)))
        # Luong: move, then look with the new state; what came of it is read at the next word
        # ("input feeding")
        else:
            hidden = self.gru(torch.cat([y, state.features], dim=-1), state.hidden)
            context, weights = self.look(hidden, state.memory)
            features = torch.tanh(self.W_c(torch.cat([context, hidden], dim=-1)))
        return (
            self.output(self.dropout(features)),
            Seq2SeqState(state.memory, hidden, features),
            weights,
        )


def check_known_source(
    model: "Seq2Seq", source: Tensor, source_lengths: Tensor | None = None
) -> None:
    """Refuse sentences that this model cannot read."""
    check_tokens(source, model.config.source_vocab_size)
    check_lengths(source_lengths, source)


def check_known_target(
    model: "Seq2Seq", source: Tensor, target: Tensor, source_lengths: Tensor | None = None
) -> None:
    """Refuse translations that this model cannot learn."""
    check_tokens(target, model.config.target_vocab_size)
    check_lengths(None, target)


class Seq2Seq(nn.Module):
    """A recurrent encoder–decoder. It translates with what `config.attention` lets it see of the
    source.
    """

    def __init__(self, config: Seq2SeqConfig):
        super().__init__()
        self.config = config
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)

    @at_the_door(check_known_source)
    def encode(
        self,
        source: Int[Tensor, "batch n_source"],
        source_lengths: Int[Tensor, " batch"] | None = None,
    ) -> Memory:
        """Read the source, once for each sentence."""
        if source_lengths is None:
            source_lengths = torch.full((len(source),), source.shape[1], device=source.device)
        return self.encoder(source, source_lengths)

    @at_the_door(check_known_target)
    def forward(
        self,
        source: Int[Tensor, "batch n_source"],
        target: Int[Tensor, "batch n_target"],
        source_lengths: Int[Tensor, " batch"] | None = None,
    ) -> Float[Tensor, "batch n_target target_vocab"]:
        """The scores (logits) of the token that follows each target token, given those before it
        (teacher forcing).

        Args:
            source: token ids, padded on the right.
            target: what the decoder reads: the begin token and the translation so far.
            source_lengths: how many tokens of each source are real, the others are never looked at;
                None: all.

        Raises:
            ValueError: for an unknown token id, an empty sentence, or lengths that do not fit.
        """
        logits, state = [], self.decoder.start(self.encode(source, source_lengths))
        # one token after the other: the next state is made from this one
        for word in target.unbind(dim=1):
            scores, state, _ = self.decoder.step(word, state)
            logits.append(scores)
        return torch.stack(logits, dim=1)


def alignment(seen: Recorded) -> Float[Tensor, "batch n_target n_source"]:
    """How much each target word looked at each source word, from a recording of `Seq2Seq.forward`
    with attention.

    Raises:
        KeyError: for a recording in which no decoder looked.
    """
    return torch.stack([weights for _, weights in seen.each("decoder.look")], dim=1)
