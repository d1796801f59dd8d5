"""Packing: several short sequences in one row, so that hardly anything is computed for padding
(chapter 18b; Krell et al. 2021).

A mask in blocks keeps the sequences of a row from seeing each other, and the positions of each
start at 0 again: then every sequence gets exactly the vectors that it would get alone.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from lectures_lib.checks.door import at_the_door
from lectures_lib.checks.sizes import check_size
from lectures_lib.checks.tokens import check_segments, check_tokens
from lectures_lib.models.bert import Bert, Encoded


class Packed(NamedTuple):
    """Sequences that share rows.

    Args:
        tokens, segments: as `Bert.forward` reads them.
        positions: of each token in its own sequence, from 0.
        owner: which sequence a token belongs to; -1: padding.
        starts: row and column of each sequence's first token, in the order in which the sequences
            were given.
        lengths: their numbers of tokens.
    """

    tokens: Int[Tensor, "rows n"]
    segments: Int[Tensor, "rows n"]
    positions: Int[Tensor, "rows n"]
    owner: Int[Tensor, "rows n"]
    starts: Int[Tensor, "sequences 2"]
    lengths: Int[Tensor, " sequences"]

    @property
    def padding(self) -> float:
        """The share of the rows that is padding."""
        return (self.owner < 0).float().mean().item()


def _check_lengths(lengths: Sequence[int], max_len: int) -> None:
    check_size("max_len", max_len)
    if not lengths:
        raise ValueError("no sequences: at least one is needed")
    if wrong := [i for i, length in enumerate(lengths) if not 1 <= length <= max_len]:
        raise ValueError(
            f"sequence {wrong[0]} has {lengths[wrong[0]]} tokens; a row takes 1 to max_len = "
            f"{max_len}"
        )


@at_the_door(_check_lengths)
def plan(lengths: Sequence[int], max_len: int) -> list[list[int]]:
    """Which sequences share a row of at most max_len tokens: the longest first, each into the first
    row that has room for it.

    Finding the fewest rows is hard (bin packing); this simple rule, "first fit decreasing", needs
    at most 11/9 of them and a bit.

    Raises:
        ValueError: for no sequences, an empty one, or one longer than max_len; the message gives
            its number and length.
    """
    rows, room = [], []
    for i in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        row = next((r for r, free in enumerate(room) if free >= lengths[i]), len(rows))
        if row == len(rows):
            rows.append([])
            room.append(max_len)
        rows[row].append(i)
        room[row] -= lengths[i]
    return rows


def pack(
    sequences: Sequence[Sequence[int]],
    max_len: int,
    segments: Sequence[Sequence[int]] | None = None,
    pad_id: int = 0,
) -> Packed:
    """Put sequences into as few rows as `plan` finds.

    Args:
        sequences: token ids, each with its own special tokens.
        max_len: the longest row. The rows are as long as the fullest one needs.
        segments: the segment ids of each token; None: all 0.
        pad_id: fills the rest of a row.

    Raises:
        ValueError: as in `plan`, or for segments that are not as many as tokens.
    """
    lengths = [len(sequence) for sequence in sequences]
    segments = [[0] * length for length in lengths] if segments is None else segments
    if [len(s) for s in segments] != lengths:
        raise ValueError(
            f"every token has one segment id: sequences have {lengths} tokens, segments "
            f"{[len(s) for s in segments]}"
        )
    rows = plan(lengths, max_len)
    n = max(sum(lengths[i] for i in row) for row in rows)
    tokens, ids, positions = (
        torch.full((len(rows), n), pad_id),
        torch.zeros(len(rows), n).long(),
        torch.zeros(len(rows), n).long(),
    )
    owner, starts = torch.full((len(rows), n), -1), torch.zeros(len(lengths), 2).long()
    for r, row in enumerate(rows):
        at = 0
        for i in row:
            here = slice(at, at + lengths[i])
            tokens[r, here], ids[r, here] = torch.tensor(sequences[i]), torch.tensor(segments[i])
            positions[r, here], owner[r, here] = torch.arange(lengths[i]), i
            starts[i] = torch.tensor([r, at])
            at += lengths[i]
    return Packed(tokens, ids, positions, owner, starts, torch.tensor(lengths))


def block_mask(owner: Int[Tensor, "rows n"]) -> Bool[Tensor, "rows 1 n n"]:
    """The mask that lets a token attend to the tokens of its own sequence; padding attends to
    nothing.
    """
    same = owner[:, :, None] == owner[:, None, :]
    return (same & (owner >= 0)[:, :, None])[:, None]


def encode(bert: Bert, packed: Packed) -> Encoded:
    """What `Bert.forward` gives for the sequences alone: `hidden` of the packed rows, `pooled` in
    the order of the sequences.

    Raises:
        ValueError: for an unknown token or segment id, or a sequence longer than the model's
            positions.
    """
    e = bert.embeddings
    check_tokens(packed.tokens, len(e.tokens.weight))
    check_segments(packed.segments, packed.tokens, len(e.segments.weight))
    longest, known = int(packed.lengths.max()), e.positions.num_embeddings
    if longest > known:
        raise ValueError(f"a sequence of {longest} tokens, but positions for only {known}")
    x = e.tokens(packed.tokens) + e.positions(packed.positions) + e.segments(packed.segments)
    hidden = bert.encoder(e.dropout(e.norm(x)), block_mask(packed.owner))
    first = hidden[packed.starts[:, 0], packed.starts[:, 1]]
    return Encoded(hidden, bert.pooler(first).tanh())


def unpack(
    hidden: Float[Tensor, "rows n d_model"], packed: Packed
) -> list[Float[Tensor, "length d_model"]]:
    """Each sequence's own vectors, in the order in which the sequences were given."""
    where = zip(packed.starts.tolist(), packed.lengths.tolist(), strict=True)
    return [hidden[row, start : start + length] for (row, start), length in where]
