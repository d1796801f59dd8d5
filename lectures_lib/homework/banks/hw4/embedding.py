"""Question 3: the class token and the positions."""

import torch
from torch import Generator, Tensor, nn

from lectures_lib.homework.banks.inputs import also_as_large, normal, sizes
from lectures_lib.homework.banks.mistakes import (
    TRAINING,
    TWICE,
    always_dropping,
    dropping,
    remembering,
    squeezing,
)
from lectures_lib.homework.questions import Case, Demand, Misconception, Question

IMAGE = "of one image, the class token and the projected patches, each with its position"
BATCH = "each image of a batch gets that, in training mode too"


def _embedding_cases(g: Generator) -> list[Case]:
    cases = []
    several = int(torch.randint(2, 4, (), generator=g))
    for batch, single in ((1, False), (several, False), (several, True)):
        while True:
            n_patches, n_pixels, d_model = sizes(g, 3, 4, 9)
            if all(
                d_model != case.init["d_model"] and n_pixels != case.init["n_pixels"]
                for case in cases[:1]
            ):
                break
        n_patches = 1 if single else n_patches
        state = {
            "projection.weight": normal(g, d_model, n_pixels),
            "projection.bias": normal(g, d_model),
            "class_token": normal(g, d_model),
            "positions": normal(g, 1 + n_patches, d_model),
        }
        twice = batch > 1 and not single
        cases.append(
            Case(
                (normal(g, batch, n_patches, n_pixels),),
                train=twice,
                again=((normal(g, batch + 1, n_patches, n_pixels),),) if twice else (),
                init={"n_patches": n_patches, "n_pixels": n_pixels, "d_model": d_model},
                state=state,
                shows=f"{batch} image{'s' * (batch > 1)} of "
                f"{n_patches} patch{'es' * (not single)} of {n_pixels} numbers, {d_model = }"
                + (TRAINING + TWICE if twice else ""),
                demands=(BATCH if batch > 1 else IMAGE,),
            )
        )
    return [also_as_large(g, case) if case.again else case for case in cases]


class PatchEmbedding(nn.Module):
    """What enters the encoder of a ViT; the wrong answers below change one of its small steps."""

    def __init__(self, n_patches: int, n_pixels: int, d_model: int):
        super().__init__()
        self.projection = nn.Linear(n_pixels, d_model)
        self.class_token = nn.Parameter(torch.zeros(d_model))
        self.positions = nn.Parameter(torch.zeros(1 + n_patches, d_model))

    def forward(self, patches: Tensor) -> Tensor:
        """(batch, n, n_pixels) → (batch, 1 + n, d_model)."""
        return self.with_class(self.projection(patches)) + self.positions

    def with_class(self, x):
        """The class token before the vectors of each image."""
        return torch.cat([self.class_token.expand(len(x), 1, -1), x], dim=1)


class _ClassTokenLast(PatchEmbedding):
    def with_class(self, x):
        return torch.cat([x, self.class_token.expand(len(x), 1, -1)], dim=1)


class _ClassTokenLastWithItsPosition(PatchEmbedding):
    def forward(self, patches):
        return super().forward(patches).roll(-1, dims=1)


class _NoPositions(PatchEmbedding):
    def forward(self, patches):
        return self.with_class(self.projection(patches))


class _ClassTokenWithoutPosition(PatchEmbedding):
    def forward(self, patches):
        return self.with_class(self.projection(patches) + self.positions[1:])


class _PositionsFirst(PatchEmbedding):
    def forward(self, patches):
        return self.with_class(self.projection(patches) + self.positions[:-1])


class _ClassPositionLast(PatchEmbedding):
    def forward(self, patches):
        return self.with_class(self.projection(patches)) + self.positions.roll(1, dims=0)


class _ClassPositionTwice(PatchEmbedding):
    def forward(self, patches):
        x = super().forward(patches)
        return torch.cat([x[:, :1] + self.positions[:1], x[:, 1:]], dim=1)


class _ClassTokenForTheFirstImage(PatchEmbedding):
    def with_class(self, x):
        first = (torch.arange(len(x)) == 0)[:, None, None]
        return torch.cat([self.class_token * first, x], dim=1)


class _NotExpanded(PatchEmbedding):
    def with_class(self, x):
        return torch.cat([self.class_token[None, None], x], dim=1)


class _NoBatchDimension(PatchEmbedding):
    def with_class(self, x):
        return torch.cat([self.class_token, x], dim=1)


class _NoBatchDimensionAfter(PatchEmbedding):
    def with_class(self, x):
        return torch.cat([self.class_token[None], x], dim=1)


class _NoClassToken(PatchEmbedding):
    def forward(self, patches):
        return self.projection(patches) + self.positions[1:]


class _ClassTokenAdded(PatchEmbedding):
    def forward(self, patches):
        x = self.with_class(self.projection(patches)) + self.positions
        return torch.cat([x[:, :1], x[:, 1:] + self.class_token], dim=1)


class _ClassTokenOverFirstPatch(PatchEmbedding):
    def forward(self, patches):
        x = self.projection(patches)
        return self.with_class(x[:, 1:]) + self.positions[:-1]


class _OnlyTheClassToken(PatchEmbedding):
    def forward(self, patches):
        x = self.with_class(self.projection(patches))
        return torch.cat([x[:, :1] + self.positions[:1], x[:, 1:]], dim=1)


class _Scaled(PatchEmbedding):
    def forward(self, patches):
        x = self.projection(patches) * len(self.class_token) ** 0.5
        return self.with_class(x) + self.positions


class _NoBias(PatchEmbedding):
    def __init__(self, n_patches, n_pixels, d_model):
        super().__init__(n_patches, n_pixels, d_model)
        self.projection = nn.Linear(n_pixels, d_model, bias=False)


class _OnePositionShort(PatchEmbedding):
    def __init__(self, n_patches, n_pixels, d_model):
        super().__init__(n_patches, n_pixels, d_model)
        self.positions = nn.Parameter(torch.zeros(n_patches, d_model))


class _ThreeDimensions(PatchEmbedding):
    def __init__(self, n_patches, n_pixels, d_model):
        super().__init__(n_patches, n_pixels, d_model)
        self.class_token = nn.Parameter(torch.zeros(1, 1, d_model))
        self.positions = nn.Parameter(torch.zeros(1, 1 + n_patches, d_model))


class _ClassTokenOfZeros(PatchEmbedding):
    def with_class(self, x):
        return torch.cat([torch.zeros_like(x[:, :1]), x], dim=1)


_LAST = (
    "Your class token stands behind the patches. It comes first, at position 0, where BERT's [CLS] "
    "stands too: the classifier will read output 0."
)
_ONE_VECTOR = (
    "Your class token is one vector, and x is a batch of sequences of them. `torch.cat` joins only "
    "what has equally many dimensions: make it (batch, 1, d_model) first, with "
    "self.class_token.expand(len(x), 1, -1)."
)


class _ClassTokenOfThreeDimensions(PatchEmbedding):
    def __init__(self, n_patches, n_pixels, d_model):
        super().__init__(n_patches, n_pixels, d_model)
        self.class_token = nn.Parameter(torch.zeros(1, 1, d_model))


class _ClassTokenOfPixels(PatchEmbedding):
    def __init__(self, n_patches, n_pixels, d_model):
        super().__init__(n_patches, n_pixels, d_model)
        self.class_token = nn.Parameter(torch.zeros(n_pixels))


class _PositionsMultiplied(PatchEmbedding):
    def forward(self, patches):
        return self.with_class(self.projection(patches)) * self.positions


class _PositionsInALayer(PatchEmbedding):
    def __init__(self, n_patches, n_pixels, d_model):
        super().__init__(n_patches, n_pixels, d_model)
        del self.positions
        self.positions = nn.Embedding(1 + n_patches, d_model)


class _ClassTokenFixed(PatchEmbedding):
    def __init__(self, n_patches, n_pixels, d_model):
        super().__init__(n_patches, n_pixels, d_model)
        del self.class_token
        self.class_token = torch.zeros(d_model)


_BATCH_DIMENSION = (
    "Your parameters have a dimension of size 1 in front for the batch, as Hugging Face's do. The "
    "question's have none: (d_model,) and (1 + n_patches, d_model)."
)

EMBEDDING = Question(
    name="hw4.PatchEmbedding",
    title="What enters the encoder",
    points=4,
    minutes=25,
    difficulty=2,
    chapter="11_vision_transformer#a-word-that-stands-for-the-whole",
    cases=_embedding_cases,
    reference=PatchEmbedding,
    misconceptions=(
        Misconception("class_token_last", _LAST, _ClassTokenLast),
        Misconception("class_token_last", _LAST, _ClassTokenLastWithItsPosition),
        Misconception(
            "positions_forgotten",
            "The positions are never added. Without them, attention could not tell where in the "
            "image a patch was cut out.",
            _NoPositions,
        ),
        Misconception(
            "class_token_without_position",
            "The patches have their positions, the class token has none: you prepend it after the "
            "positions were added. It has a position of its own, positions[0]; prepend first, then "
            "add all of them.",
            _ClassTokenWithoutPosition,
        ),
        Misconception(
            "positions_before_the_class_token",
            "You add the positions while the class token is still missing: patch 0 gets "
            "positions[0], which is the class token's, and the class token gets none. Prepend "
            "first, then add; patch i has position i + 1.",
            _PositionsFirst,
        ),
        Misconception(
            "class_position_last",
            "You give the class token the last of the positions and start the patches with the "
            "first. The class token stands first and so does its position.",
            _ClassPositionLast,
        ),
        Misconception(
            "class_position_twice",
            "The class token gets its position twice: you add it before you prepend the token, and "
            "then again with all the others.",
            _ClassPositionTwice,
        ),
        Misconception(
            "class_token_for_the_first_image",
            "Only the first image of the batch gets the class token; the others get zeros in its "
            "place. Every image needs a copy: self.class_token.expand(len(x), 1, -1).",
            _ClassTokenForTheFirstImage,
        ),
        Misconception(
            "not_expanded",
            "Right for one image; with several, `torch.cat` finds one class token for the whole "
            "batch. Every image needs a copy: self.class_token.expand(len(x), 1, -1). It remains "
            "one parameter.",
            _NotExpanded,
        ),
        Misconception("class_token_is_one_vector", _ONE_VECTOR, _NoBatchDimension),
        Misconception("class_token_is_one_vector", _ONE_VECTOR, _NoBatchDimensionAfter),
        Misconception(
            "no_class_token",
            "The patches are right, the class token is missing: the result should have one row "
            "more than there are patches.",
            _NoClassToken,
        ),
        Misconception(
            "class_token_added_to_the_patches",
            "You also add the class token to the patches. It is a row of its own; they will meet "
            "in attention.",
            _ClassTokenAdded,
        ),
        Misconception(
            "first_patch_replaced",
            "Your class token takes the place of the first patch, whose pixels are lost. It is one "
            "row *more*: 1 + n.",
            _ClassTokenOverFirstPatch,
        ),
        Misconception(
            "positions_for_the_class_token_only",
            "Only the class token gets its position; the patches, which need theirs most, get "
            "none. Add all of `positions` to all rows.",
            _OnlyTheClassToken,
        ),
        Misconception(
            "scaled",
            "You multiply the vectors by √d_model, as the Transformer of 2017 does with its "
            "embeddings. ViT does not.",
            _Scaled,
        ),
        Misconception(
            "class_token_of_zeros",
            "Zeros stand in the class token's place. It is a learned vector: self.class_token, the "
            "same for every image.",
            _ClassTokenOfZeros,
        ),
        Misconception(
            "projection_without_bias",
            "Your projection has no bias; the question's is a plain `nn.Linear`, with one.",
            _NoBias,
        ),
        Misconception(
            "one_position_short",
            "You have as many positions as patches. The class token has one too: 1 + n_patches.",
            _OnePositionShort,
        ),
        Misconception(
            "parameters_with_a_batch_dimension",
            _BATCH_DIMENSION,
            _ThreeDimensions,
        ),
        squeezing(PatchEmbedding),
        dropping(PatchEmbedding),
        remembering(PatchEmbedding),
        Misconception(
            "parameters_with_a_batch_dimension", _BATCH_DIMENSION, _ClassTokenOfThreeDimensions
        ),
        Misconception(
            "class_token_of_pixels",
            "Your class token has n_pixels numbers, as if it were a patch to be projected. It is a "
            "vector of the model from the start, d_model numbers, and joins the patches when they "
            "have been projected.",
            _ClassTokenOfPixels,
        ),
        Misconception(
            "positions_multiplied",
            "You multiply by the positions. They are added.",
            _PositionsMultiplied,
        ),
        Misconception(
            "positions_in_a_layer",
            "Your positions are an nn.Embedding, whose parameter is called positions.weight. The "
            "question asks for the table itself: self.positions = nn.Parameter(…), of shape (1 + "
            "n_patches, d_model).",
            _PositionsInALayer,
        ),
        Misconception(
            "class_token_not_learned",
            "Your class token is a plain tensor, so it would never be learned. Wrap it: "
            "nn.Parameter(torch.zeros(d_model)).",
            _ClassTokenFixed,
        ),
        always_dropping(PatchEmbedding, 0.1),
        always_dropping(PatchEmbedding, 0.5),
    ),
    demands=(Demand(IMAGE, 3), Demand(BATCH, 1)),
)
