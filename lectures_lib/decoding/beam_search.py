"""Beam search: several hypotheses side by side, the likeliest kept at every step (chapter 9)."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from lectures_lib.decoding.protocol import Running, StepModel, begin_decoding
from lectures_lib.decoding.sampling import Decoded, lengths_before, log_probabilities, without
from lectures_lib.decoding.stepwise import stepwise
from lectures_lib.modes import evaluating


class Beams(NamedTuple):
    """The hypotheses of each sentence, best first. A score of -∞ marks a place that no hypothesis
    fills.
    """

    tokens: Int[Tensor, "batch width n"]  # behind a hypothesis stands `end` only
    scores: Float[Tensor, "batch width"]


def beam(
    model: StepModel | nn.Module,
    source: Int[Tensor, "batch n_source"],
    source_lengths: Int[Tensor, " batch"] | None = None,
    *,
    width: int = 4,
    alpha: float = 0.6,
    end: int,
    max_len: int,
    begin: int | None = None,
    never: Sequence[int] = (),
) -> Decoded:
    """The best sentence that beam search finds. The arguments are those of `n_best`; a width of 1
    is greedy decoding.

    Its score is the log probability divided by the length penalty.
    """
    found, _ = n_best(
        model,
        source,
        source_lengths,
        width=width,
        alpha=alpha,
        end=end,
        max_len=max_len,
        begin=begin,
        never=never,
    )
    tokens = found.tokens[:, 0]
    lengths = lengths_before(end, tokens)
    return Decoded(tokens[:, : int(lengths.max()) + 1], lengths, found.scores[:, 0], [])


@torch.no_grad()
def n_best(
    model: StepModel | nn.Module,
    source: Int[Tensor, "batch n_source"],
    source_lengths: Int[Tensor, " batch"] | None = None,
    *,
    width: int = 4,
    alpha: float = 0.6,
    end: int,
    max_len: int,
    begin: int | None = None,
    never: Sequence[int] = (),
) -> tuple[Beams, list[Beams]]:
    """Beam search: at every step each sentence keeps the `width` likeliest of all continuations of
    what it kept before.

    A continuation that ends, and is among the `width` best, becomes a finished hypothesis; its
    place goes to the next best. A sentence is done when it has `width` of them and none of the live
    ones scores better than the worst of these. To stop at `width` of any quality is a known
    mistake: the likeliest sentence may still be alive. (Sutskever et al. 2014; the order of events
    is fairseq's, the end is that of Hugging Face's `early_stopping=False`.)

    Args:
        width: how many hypotheses are kept; the paper's is 4 (section 6.1).
        alpha: exponent of the length penalty, the paper's is 0.6; 0: none. See `length_penalty`.
        model, source, source_lengths, end, max_len, begin, never: as in `greedy`.

    Returns:
        The `width` best hypotheses of each sentence, by log probability over length penalty; and
        those that were alive after each step, with their log probabilities, which are -∞ where a
        sentence was done before.

    Raises:
        ValueError: for a width below 1, a negative alpha, and as `greedy` does.
    """
    if not isinstance(width, int) or width < 1:
        raise ValueError(f"a beam keeps at least one hypothesis, got width = {width}")
    if alpha < 0:
        raise ValueError(f"the length penalty's alpha must not be negative, got {alpha}")
    model = stepwise(model)
    with evaluating(model):
        logits, state, _ = begin_decoding(model, source, source_lengths, begin, end, max_len, never)
        batch, vocab = logits.shape
        # where each sentence's hypotheses begin
        first_row = torch.arange(batch, device=logits.device)[:, None] * width
        # Each sentence begins with one hypothesis, and width - 1 places that nothing fills yet.
        log_probs = log_probabilities(logits)
        live = no_beams(log_probs, width, max_len, end)
        live.scores[:, 0] = 0.0
        finished = no_beams(log_probs, width, max_len, end)
        undone = torch.ones(batch, 1, dtype=torch.bool, device=logits.device)
        rows = torch.arange(batch, device=logits.device).repeat_interleave(width)
        log_probs, running = log_probs[rows], Running(model, state.select(rows), len(rows))
        steps = []
        for n in range(1, max_len + 1):
            ended, live, parents = grow(
                live, without(log_probs, never).view(batch, width, vocab), n, end
            )
            # a sentence that was done before goes on in name only: nothing of it lives
            steps.append(Beams(live.tokens[:, :, :n], live.scores.masked_fill(~undone, -torch.inf)))
            finished = best_of(finished, rescore(ended, undone, length_penalty(n, alpha)))
            # The sentences for which more still counts: a live hypothesis beats the worst finished
            # one, or there are too few.
            undone = undone & (
                live.scores[:, :1] / length_penalty(n, alpha) > finished.scores[:, -1:]
            )
            if n == max_len or not undone.any():
                # Out of steps: what is still alive is cut off, and competes as it is.
                return best_of(finished, rescore(live, undone, length_penalty(n, alpha))), steps
            goes_on = undone.expand(batch, width).flatten()
            logits, _ = running.step(
                live.tokens[:, :, n - 1].flatten(), goes_on, parents=(first_row + parents).flatten()
            )
            log_probs = log_probabilities(logits)


def length_penalty(n: int, alpha: float) -> float:
    """((5 + n) / 6)^α for a hypothesis of n tokens, its end token included (Wu et al. 2016, section
    7, without their coverage penalty).

    A log probability is a sum of negative numbers, so without it short hypotheses win. The sum is
    divided by this.
    """
    return ((5 + n) / 6) ** alpha


def grow(
    live: Beams, log_probs: Float[Tensor, "batch width vocab"], n: int, end: int
) -> tuple[Beams, Beams, Int[Tensor, "batch width"]]:
    """Continue every live hypothesis with every token, as its n-th, and keep the best.

    Returns:
        The hypotheses that ended, those that live on, and the parent of each of these: its place
            among the live before.
    """
    _, width, vocab = log_probs.shape
    totals = (live.scores[:, :, None] + log_probs).flatten(start_dim=1)
    # Each hypothesis has one continuation that ends, so among the 2 · width best at least `width`
    # live on.
    scores, places = totals.topk(2 * width, dim=1)
    parents, tokens = places // vocab, places % vocab
    grown = take(live.tokens, parents)
    grown[:, :, n - 1] = tokens
    ends = tokens == end
    ended = Beams(grown[:, :width], scores.masked_fill(~ends, -torch.inf)[:, :width])
    scores, kept = scores.masked_fill(ends, -torch.inf).topk(width, dim=1)
    return ended, Beams(take(grown, kept), scores), parents.gather(1, kept)


def best_of(a: Beams, b: Beams) -> Beams:
    """The best hypotheses of two sets, as many as the first holds."""
    scores, places = torch.cat([a.scores, b.scores], dim=1).topk(a.scores.shape[1], dim=1)
    return Beams(take(torch.cat([a.tokens, b.tokens], dim=1), places), scores)


def rescore(beams: Beams, counted: Bool[Tensor, "batch 1"], penalty: float) -> Beams:
    """The scores divided by the penalty; -∞ in the sentences that are not counted."""
    return Beams(beams.tokens, (beams.scores / penalty).masked_fill(~counted, -torch.inf))


def no_beams(like: Float[Tensor, "batch vocab"], width: int, max_len: int, end: int) -> Beams:
    """Room for `width` hypotheses of each sentence, and none in it."""
    tokens = torch.full((len(like), width, max_len), end, device=like.device)
    return Beams(tokens, like.new_full((len(like), width), -torch.inf))


def take(
    tokens: Int[Tensor, "batch many n"], places: Int[Tensor, "batch kept"]
) -> Int[Tensor, "batch kept n"]:
    """Each sentence's hypotheses at these places."""
    return tokens.gather(1, places[:, :, None].expand(-1, -1, tokens.shape[2]))
