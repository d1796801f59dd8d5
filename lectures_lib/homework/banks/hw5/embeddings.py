"""Question 2: three embeddings, one sum, one norm."""

from dataclasses import replace

import torch
from torch import Generator, Tensor, nn

from lectures_lib.homework.banks.inputs import normal, sizes, whole
from lectures_lib.homework.banks.mistakes import (
    ANEW,
    TRAINING,
    TWICE,
    always_dropping,
    dropping,
    keeping,
    keeping_where_none,
    remembering,
    squeezing,
)
from lectures_lib.homework.questions import Case, Demand, Misconception, Question

SUM = "the sum of the three vectors, normalised"
ALONE = "where no segments are given, all tokens belong to segment 0"
SMALL = "small vectors are normalised with BERT's ε, also with more segments than two"


def _embeddings_cases(g: Generator) -> list[Case]:
    cases = []
    for kind in (
        "pairs",
        "single sentences",
        "three sentences, and tables of small numbers",
        "one pair, padded",
    ):
        (batch, n), d_model = sizes(g, 2, 3, 7), whole(g, 8, 11)
        batch = 1 if kind.startswith("one") else batch
        init = {
            "vocab_size": whole(g, 12, 16),
            "d_model": d_model,
            "max_len": max(batch, n) + whole(g, 4, 7),
        }
        # small enough for ε to show, large enough for a sum with a number such as 2 to keep digits
        n_segments, scale = (3, 0.08) if kind.startswith("three") else (2, 1.0)
        state = {
            "tokens.weight": scale * normal(g, init["vocab_size"], d_model),
            "positions.weight": scale * normal(g, init["max_len"], d_model),
            "segments.weight": scale * normal(g, n_segments, d_model),
            "norm.weight": 1 + 0.5 * normal(g, d_model),
            "norm.bias": normal(g, d_model),
        }
        tokens = torch.randint(init["vocab_size"], (batch, n), generator=g)
        tokens[0, whole(g, 0, n - 1)] = 0  # a token like any other
        ends = torch.randperm(n - 1, generator=g)[: n_segments - 1]
        # no row ends where the one before does
        ends = 1 + (ends + torch.arange(batch)[:, None]) % (n - 1)
        # 0 … 0, 1 … 1, and so on; each at least once
        segments = (torch.arange(n)[:, None] >= ends[:, None]).sum(dim=-1)
        if kind.startswith("one"):  # padding is in segment 0 again
            tokens = torch.cat([tokens, torch.zeros(1, 3, dtype=torch.long)], dim=1)
            segments = torch.cat([segments, torch.zeros(1, 3, dtype=torch.long)], dim=1)
        cases.append(
            Case(
                (tokens,) if kind == "single sentences" else (tokens, segments),
                train=kind == "single sentences",
                again=((torch.randint(init["vocab_size"], (batch + 1, n - 1), generator=g),),)
                if kind == "single sentences"
                else (),
                init=init if n_segments == 2 else init | {"n_segments": n_segments},
                state=state,
                demands=(ALONE if kind.startswith("single") else SMALL if n_segments > 2 else SUM,),
                shows=f"{kind}: tokens of shape {tuple(tokens.shape)}, d_model = {d_model}, "
                f"{init['vocab_size']} tokens, "
                f"{init['max_len']} positions, "
                + (
                    f"no segments given{TRAINING}{TWICE}"
                    if kind == "single sentences"
                    else f"{n_segments} segments"
                ),
            )
        )
    cases[0] = _anew(g, cases[0])
    return cases


def _anew(g: Generator, case: Case) -> Case:
    """The same object once more, with new inputs of the same sizes, then without segments: nothing
    may be kept from an earlier call.
    """
    tokens, segments = case.args

    def others():
        return torch.randint(case.init["vocab_size"], tokens.shape, generator=g)

    again = ((others(), segments.roll(1, dims=0)), (others(),))  # neighbours end elsewhere
    return replace(case, again=again, shows=f"{case.shows}{ANEW}, and without segments")


class Embeddings(nn.Module):
    """The norm of token + position + segment vector; the wrong answers below change one of its
    small steps.
    """

    def __init__(self, vocab_size: int, d_model: int, max_len: int, n_segments: int = 2):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.segments = nn.Embedding(n_segments, d_model)
        self.norm = nn.LayerNorm(d_model, eps=1e-12)

    def forward(self, tokens: Tensor, segments: Tensor | None = None) -> Tensor:
        """(batch, n) → (batch, n, d_model)."""
        where = self.places(tokens, segments)
        return self.together(
            self.tokens(tokens), self.positions(where), self.kinds(tokens, segments)
        )

    def places(self, tokens, segments):
        """The positions."""
        return torch.arange(tokens.shape[1])

    def kinds(self, tokens, segments):
        """The segments' vectors."""
        return self.segments(torch.zeros_like(tokens) if segments is None else segments)

    def together(self, token, position, segment):
        """What is made of the three vectors."""
        return self.norm(token + position + segment)


class _NoPositions(Embeddings):
    def together(self, token, position, segment):
        return self.norm(token + segment)


class _NoSegments(Embeddings):
    def together(self, token, position, segment):
        return self.norm(token + position)


class _NeitherPositionsNorSegments(Embeddings):
    def together(self, token, position, segment):
        return self.norm(token)


class _NoNorm(Embeddings):
    def together(self, token, position, segment):
        return token + position + segment


class _NormOfEach(Embeddings):
    def together(self, token, position, segment):
        return self.norm(token) + self.norm(position) + self.norm(segment)


class _NormOfTheToken(Embeddings):
    def together(self, token, position, segment):
        return self.norm(token) + position + segment


class _PositionAfterTheNorm(Embeddings):
    def together(self, token, position, segment):
        return self.norm(token + segment) + position


class _SegmentAfterTheNorm(Embeddings):
    def together(self, token, position, segment):
        return self.norm(token + position) + segment


class _Scaled(Embeddings):
    def together(self, token, position, segment):
        return self.norm(token.shape[-1] ** 0.5 * token + position + segment)


class _Product(Embeddings):
    def together(self, token, position, segment):
        return self.norm(token * position * segment)


class _OverTheSentence(Embeddings):
    def together(self, token, position, segment):
        x = token + position + segment
        mean, variance = (
            x.mean(dim=(1, 2), keepdim=True),
            x.var(dim=(1, 2), keepdim=True, unbiased=False),
        )
        return (x - mean) / torch.sqrt(variance + 1e-12) * self.norm.weight + self.norm.bias


class _Unbiased(Embeddings):
    def together(self, token, position, segment):
        x = token + position + segment
        centred = x - x.mean(dim=-1, keepdim=True)
        return centred / (x.std(dim=-1, keepdim=True) + 1e-12) * self.norm.weight + self.norm.bias


class _DefaultEps(Embeddings):
    def __init__(self, vocab_size, d_model, max_len, n_segments=2):
        super().__init__(vocab_size, d_model, max_len, n_segments)
        self.norm = nn.LayerNorm(d_model)


class _Concatenated(Embeddings):
    def __init__(self, vocab_size, d_model, max_len, n_segments=2):
        super().__init__(vocab_size, d_model, max_len, n_segments)
        self.norm = nn.LayerNorm(3 * d_model, eps=1e-12)


class _ConcatenatedAlongTheSentence(Embeddings):
    def together(self, token, position, segment):
        return self.norm(torch.cat([token, position.expand_as(token), segment], dim=1))


class _ConcatenatedFeatures(Embeddings):
    def together(self, token, position, segment):
        x = torch.cat([token, position.expand_as(token), segment], dim=-1)
        return nn.functional.layer_norm(x, x.shape[-1:], eps=1e-12)


class _PositionsOfTheRows(Embeddings):
    def together(self, token, position, segment):
        rows = self.positions.weight[: len(token), None]
        return self.norm(token + rows + segment)


class _OnePosition(Embeddings):
    def places(self, tokens, segments):
        return torch.zeros_like(tokens)


class _PositionsFrom1(Embeddings):
    def places(self, tokens, segments):
        return torch.arange(tokens.shape[1]) + 1


class _PositionsRestart(Embeddings):
    def places(self, tokens, segments):
        if segments is None:
            return super().places(tokens, segments)
        place = torch.arange(tokens.shape[1]).expand_as(tokens)
        # where this token's segment begins
        first = (segments[:, :, None] == segments[:, None, :]).int().argmax(dim=-1)
        return place - first


class _PositionsRestartAtEachChange(Embeddings):
    """Those of the padding, which is in segment 0 again, as well."""

    def places(self, tokens, segments):
        if segments is None:
            return super().places(tokens, segments)
        place = torch.arange(tokens.shape[1]).expand_as(tokens)
        changes = segments.diff(dim=1, prepend=segments[:, :1]) != 0
        return place - (place * changes).cummax(dim=1).values


class _NoSegmentsNoVector(Embeddings):
    def kinds(self, tokens, segments):
        return torch.tensor(0.0) if segments is None else self.segments(segments)


class _SegmentsCutAt1(Embeddings):
    def kinds(self, tokens, segments):
        return super().kinds(tokens, None if segments is None else segments.clamp(max=1))


class _WithoutSegmentsTheSecond(Embeddings):
    def kinds(self, tokens, segments):
        return self.segments(torch.ones_like(tokens) if segments is None else segments)


class _Token0Zeroed(Embeddings):
    """Token 0 is taken for padding: nothing is left of it."""

    def forward(self, tokens, segments=None):
        return super().forward(tokens, segments) * (tokens != 0)[..., None]


class _NoVectorForToken0(Embeddings):
    def forward(self, tokens, segments=None):
        where = self.places(tokens, segments)
        vectors = self.tokens(tokens) * (tokens != 0)[..., None]
        return self.together(vectors, self.positions(where), self.kinds(tokens, segments))


class _SegmentsIgnored(Embeddings):
    def kinds(self, tokens, segments):
        return self.segments(torch.zeros_like(tokens))


_NO_SEGMENTS = (
    "Your result does not depend on the segments. Either their vectors are missing from the sum, "
    "or you add the number 0 or 1 itself: the same number added to all d_model entries moves their "
    "mean, and LayerNorm takes the mean away again. A segment is a row of the table `segments`, a "
    "vector."
)
_AFTER = (
    "You normalise before the sum is complete. All three vectors are added first, and the norm "
    "comes last, once: norm(token + position + segment)."
)
_CONCATENATED = (
    "You put the three vectors one after the other. BERT *adds* them: the sum has d_model numbers, "
    "as each of them has, and so has the norm."
)


class _AllPositions(Embeddings):
    def places(self, tokens, segments):
        return torch.arange(self.positions.num_embeddings)


class _AlwaysTwoSegments(Embeddings):
    def __init__(self, vocab_size, d_model, max_len, n_segments=2):
        super().__init__(vocab_size, d_model, max_len)


class _AnotherEps(Embeddings):
    def __init__(self, vocab_size, d_model, max_len, n_segments=2):
        super().__init__(vocab_size, d_model, max_len, n_segments)
        self.norm = nn.LayerNorm(d_model, eps=1e-6)


EMBEDDINGS = Question(
    name="hw5.Embeddings",
    title="Three vectors in one",
    points=2,
    minutes=20,
    difficulty=1,
    chapter="12_bert#what-goes-in",
    cases=_embeddings_cases,
    reference=Embeddings,
    demands=(Demand(SUM, 1), Demand(ALONE, 0.5), Demand(SMALL, 0.5)),
    misconceptions=(
        Misconception(
            "positions_forgotten",
            "The positions are missing from the sum. To attention a sentence is a bag of vectors: "
            "without positions, BERT could not tell 'dog bites man' from 'man bites dog'.",
            _NoPositions,
        ),
        Misconception("segments_forgotten", _NO_SEGMENTS, _NoSegments),
        Misconception(
            "tokens_only",
            "Only the token's vector is in your result. Position and segment are to be added: "
            "three tables, three vectors, one sum.",
            _NeitherPositionsNorSegments,
        ),
        Misconception(
            "norm_forgotten",
            "The sum is right, and the norm is missing: what enters BERT's first block is "
            "LayerNorm of the sum.",
            _NoNorm,
        ),
        Misconception(
            "normalised_one_by_one",
            "You normalise each of the three vectors and add the results. There is one norm, and "
            "it comes after the sum.",
            _NormOfEach,
        ),
        Misconception("normalised_before_the_sum", _AFTER, _NormOfTheToken),
        Misconception("normalised_before_the_sum", _AFTER, _PositionAfterTheNorm),
        Misconception("normalised_before_the_sum", _AFTER, _SegmentAfterTheNorm),
        Misconception(
            "scaled_by_root_d_model",
            "You multiply the token vectors by √d_model. The Transformer of 2017 does; BERT does "
            "not, and adds its three vectors as they are.",
            _Scaled,
        ),
        Misconception(
            "multiplied",
            "You multiply the three vectors, feature by feature. They are added.",
            _Product,
        ),
        Misconception(
            "over_the_whole_sentence",
            "Your mean and variance are those of a whole sentence. LayerNorm looks at one vector "
            "at a time: its d_model numbers.",
            _OverTheSentence,
        ),
        Misconception(
            "default_epsilon",
            "Right, but for the ε of the norm: PyTorch's default is 1e-5, BERT's is 1e-12. It "
            "shows on this input, where the tables hold small numbers, as they do when training "
            "begins: nn.LayerNorm(d_model, eps=1e-12).",
            _DefaultEps,
        ),
        Misconception("concatenated", _CONCATENATED, _Concatenated),
        Misconception("concatenated", _CONCATENATED, _ConcatenatedFeatures),
        Misconception("concatenated", _CONCATENATED, _ConcatenatedAlongTheSentence),
        Misconception(
            "positions_of_the_rows",
            "You look up the number of the *sentence* in the batch instead of the token's place in "
            "its sentence. Positions count along dimension 1: torch.arange(tokens.shape[1]).",
            _PositionsOfTheRows,
        ),
        Misconception(
            "one_position_for_all",
            "All your tokens get the vector of position 0. Position i of the sentence needs row i: "
            "torch.arange(tokens.shape[1]).",
            _OnePosition,
        ),
        Misconception(
            "positions_from_1",
            "Your first token gets the vector of position 1. Positions are rows of a table and "
            "begin with 0.",
            _PositionsFrom1,
        ),
        *(
            Misconception(
                "positions_restart",
                "Your positions begin again with each segment. They count through the whole input, "
                "from [CLS] to the last [SEP].",
                answer,
            )
            for answer in (_PositionsRestart, _PositionsRestartAtEachChange)
        ),
        Misconception(
            "no_segment_vector_without_segments",
            "Right where segments are given. Without them you add no segment vector at all; but "
            "then all tokens belong to segment 0, and *its* vector is added. It is not a vector of "
            "zeros.",
            _NoSegmentsNoVector,
        ),
        Misconception(
            "segments_cut_at_1",
            "Right for two segments. There may be more, n_segments of them, and you take every "
            "later one for the second: look up the segment's number as it is.",
            _SegmentsCutAt1,
        ),
        Misconception(
            "without_segments_the_second",
            "Right where segments are given. Without them all tokens belong to segment 0, the "
            "first; you take segment 1.",
            _WithoutSegmentsTheSecond,
        ),
        Misconception(
            "segments_not_looked_at",
            "You give every token the vector of segment 0, also where other segments are given.",
            _SegmentsIgnored,
        ),
        *(
            Misconception(
                "token_0_zeroed",
                "You write zeros for token 0, or leave its vector out. Here 0 is a token like any "
                "other, and padding gets a vector, too: that nobody looks at it is the attention's "
                "business.",
                answer,
            )
            for answer in (_Token0Zeroed, _NoVectorForToken0)
        ),
        squeezing(Embeddings),
        dropping(Embeddings),
        remembering(Embeddings),
        keeping(Embeddings, "segments"),
        keeping_where_none(Embeddings, "segments"),
        Misconception(
            "all_positions_added",
            "You take the vectors of all max_len positions. A sentence of n tokens needs the first "
            "n of them: torch.arange(tokens.shape[1]).",
            _AllPositions,
        ),
        Misconception(
            "always_two_segments",
            "Your table of segments has two rows whatever n_segments says.",
            _AlwaysTwoSegments,
        ),
        Misconception(
            "epsilon_of_a_millionth",
            "Right, but for the ε of the norm: yours is 1e-6, BERT's is 1e-12. It shows on this "
            "input, where the tables hold small numbers, as they do when training begins.",
            _AnotherEps,
        ),
        Misconception(
            "unbiased_variance",
            "Your norm divides the sum of squares by d_model - 1, as torch's `std` and `var` do by "
            "themselves. LayerNorm divides it by d_model; nn.LayerNorm does all of this.",
            _Unbiased,
        ),
        always_dropping(Embeddings, 0.1),
        always_dropping(Embeddings, 0.5),
    ),
)
