"""Question 5: how many numbers are in a Vision Transformer?"""

from functools import partial

import torch
from torch import Generator

from lectures_lib.homework.questions import Case, Demand, Misconception, Question

TOKEN = "a ViT with a class token"
AVERAGES = "one without it, which averages"

_IMAGES = {"image_size": 224, "patch_size": 16, "n_channels": 3, "n_classes": 1000}
_BASE = _IMAGES | {"d_model": 768, "n_layers": 12, "n_heads": 12, "d_ff": 3072}
_LARGE = _IMAGES | {"patch_size": 32, "d_model": 1024, "n_layers": 24, "n_heads": 16, "d_ff": 4096}


def _count_cases(g: Generator) -> list[Case]:
    def number(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=g))

    def some(n_channels: int) -> dict[str, int]:
        patch_size, side, n_heads = number(2, 6), number(5, 9), number(2, 6)
        d_model = n_heads * number(7, 13)
        sizes = {
            "image_size": side * patch_size,
            "patch_size": patch_size,
            "n_channels": n_channels,
            "n_classes": number(11, 30),
        }
        return sizes | {
            "d_model": d_model,
            "n_layers": number(2, 6),
            "n_heads": n_heads,
            "d_ff": 3 * d_model + number(1, 20),
        }

    def case(sizes: dict[str, int], name: str, **more: bool) -> Case:
        listed = ", ".join(f"{key} = {value}" for key, value in (sizes | more).items())
        return Case(
            kwargs=sizes | more,
            shows=f"{name} ({listed})",
            demands=(AVERAGES if more else TOKEN,),
        )

    return [
        case(_BASE, "ViT-B/16"),
        case(_LARGE, "ViT-L/32"),
        case(some(1), "a small one for grey images"),
        case(some(3), "a small one that averages", class_token=False),
    ]


def vit_parameters(
    image_size: int,
    patch_size: int,
    n_channels: int,
    n_classes: int,
    d_model: int,
    n_layers: int,
    n_heads: int,
    d_ff: int,
    class_token: bool = True,
) -> int:
    """Of the Vision Transformer, with a bias in every linear layer."""
    return _count(
        image_size, patch_size, n_channels, n_classes, d_model, n_layers, n_heads, d_ff, class_token
    )


def _count(
    image_size,
    patch_size,
    n_channels,
    n_classes,
    d_model,
    n_layers,
    n_heads,
    d_ff,
    class_token=True,
    squared=True,
    pixels=None,
    projection=True,
    projection_bias=True,
    with_class=2,
    without_class=0,
    positions=True,
    biases=True,
    attention_biases=True,
    projections=4,
    per_head=False,
    norm_vectors=2,
    norms_in_a_block=2,
    final_norm=True,
    shared=False,
    head=True,
    head_bias=True,
    bias_of_w_2=None,
    bias_of_w_1=None,
    ff_biases=True,
    attention_vectors=None,
    biases_per_head=False,
    channels_have_positions=False,
    positions_without_class=True,
    final_norm_in_each_block=False,
    bias_for_each_channel=False,
):
    n_patches = (image_size // patch_size) ** (2 if squared else 1)
    pixels = {
        None: n_channels * patch_size**2,
        "grey": patch_size**2,
        "one side": n_channels * patch_size,
    }[pixels]
    n_patches = image_size**2 if squared == "every pixel" else n_patches
    n_patches = 2 * (image_size // patch_size) if squared == "doubled" else n_patches
    norms_in_a_block, final_norm = (
        (3, False) if final_norm_in_each_block else (norms_in_a_block, final_norm)
    )
    n_patches *= n_channels if channels_have_positions else 1
    bias = (
        d_model
        * {False: 1, "d_model": n_heads, "cut": 1 / n_heads}[biases_per_head]
        * (biases and attention_biases)
    )
    wide = d_model // n_heads if per_head == "one" else d_model
    attention = projections * (d_model * wide + bias) * (n_heads if per_head is True else 1)
    if per_head == "all but the last":
        attention = attention * (3 * n_heads + 1) // 4
    attention += 0 if attention_vectors is None else (attention_vectors - projections) * d_model
    of_w_1, of_w_2 = bias_of_w_1 or "d_ff", bias_of_w_2 or "d_model"
    widths = {"d_ff": d_ff, "d_model": d_model, "none": 0}
    feed_forward = 2 * d_model * d_ff + (widths[of_w_1] + widths[of_w_2]) * (biases and ff_biases)
    norm = norm_vectors * d_model
    block = attention + feed_forward + norms_in_a_block * norm
    vectors = (with_class if class_token else without_class) + n_patches * (
        positions and (class_token or positions_without_class)
    )
    biases_of_a_pixel = n_channels if bias_for_each_channel else 1
    embedding = (
        pixels + (biases and projection_bias) * biases_of_a_pixel
    ) * d_model * projection + vectors * d_model
    ends = norm * final_norm + (d_model + (biases and head_bias)) * n_classes * head
    return embedding + (1 if shared else n_layers) * block + ends


_POSITIONS = (
    "You count no positions for the patches. ViT's are learned, one vector for each place, and not "
    "the sinusoids of 2017."
)

_BIASES = (
    "The biases of your attention depend on the number of heads. All heads together make "
    "projections of d_model numbers each, with one bias of d_model numbers, however many heads "
    "there are."
)


def _patches_by_the_pixel(
    image_size,
    patch_size,
    n_channels,
    n_classes,
    d_model,
    n_layers,
    n_heads,
    d_ff,
    class_token=True,
):
    right = vit_parameters(
        image_size, patch_size, n_channels, n_classes, d_model, n_layers, n_heads, d_ff, class_token
    )
    too_many = image_size**2 // patch_size - (image_size // patch_size) ** 2
    return right + too_many * d_model


_WIDTHS = (
    "A bias of your feed-forward layer has the wrong width. Of its two layers the first returns "
    "d_ff numbers and has as many biases; the second returns d_model."
)


COUNT = Question(
    name="hw4.vit_parameters",
    title="How large is a ViT?",
    points=2,
    minutes=15,
    difficulty=2,
    chapter="11_vision_transformer#what-it-costs",
    cases=_count_cases,
    reference=vit_parameters,
    misconceptions=(
        Misconception(  # two ways to the same number
            "class_token_or_its_position_forgotten",
            "With a class token you are d_model numbers short. It costs two vectors: itself, which "
            "is learned, and its position, which makes 1 + n positions. One of them is missing.",
            partial(_count, with_class=1),
        ),
        Misconception(
            "class_token_forgotten",
            "You never count the class token: it is a learned vector, and has a learned position, "
            "2 · d_model numbers.",
            partial(_count, with_class=0),
        ),
        Misconception(
            "class_token_always_counted",
            "Right with a class token. With class_token=False there is none, and no position for "
            "it: the model averages the patches' outputs, which costs no parameters.",
            partial(_count, without_class=2),
        ),
        Misconception(
            "position_kept_without_class_token",
            "Right with a class token. With class_token=False *two* vectors go, the token and its "
            "position; you drop one.",
            partial(_count, without_class=1),
        ),
        Misconception(
            "class_token_inverted",
            "You have class_token the wrong way round: with True there are two vectors more, the "
            "token and its position.",
            partial(_count, with_class=0, without_class=2),
        ),
        Misconception(
            "projection_bias_forgotten",
            "You are d_model short, with and without a class token: the layer that makes vectors "
            "of the patches has a bias, and the last norm two vectors, a gain and a shift.",
            partial(_count, projection_bias=False),
        ),
        Misconception(
            "final_norm_forgotten",
            "You are 2 · d_model short: a pre-norm encoder has one more norm after the last block, "
            "with a gain and a shift.",
            partial(_count, final_norm=False),
        ),
        Misconception(
            "patches_on_one_side",
            "You take image_size / patch_size for the number of patches. That is how many stand "
            "side by side; the whole image has the square of it.",
            partial(_count, squared=False),
        ),
        Misconception(
            "patches_doubled",
            "You count 2 · image_size / patch_size patches. They fill a square: (image_size / "
            "patch_size)² of them, which is the same only for two on a side.",
            partial(_count, squared="doubled"),
        ),
        Misconception(
            "bias_for_each_channel",
            "Right for grey images. The layer that makes a vector of a patch has one bias, d_model "
            "numbers, however many channels it reads.",
            partial(_count, bias_for_each_channel=True),
        ),
        Misconception(
            "no_positions_without_class_token",
            "Right with a class token. With class_token=False the *patches* keep their positions, "
            "one for each; only the token and its own position go. (In Python, a + b if c else d "
            "means (a + b) if c else d.)",
            partial(_count, positions_without_class=False),
        ),
        Misconception(
            "positions_for_each_channel",
            "You count a patch once for each channel. All channels of a place make one patch, with "
            "one position.",
            partial(_count, channels_have_positions=True),
        ),
        Misconception(
            "bias_of_the_wrong_width",
            "The layer that comes back from d_ff to d_model has a bias of d_model numbers, one for "
            "each number that it returns; you count d_ff.",
            partial(_count, bias_of_w_2="d_ff"),
        ),
        Misconception(
            "biases_of_attention_by_heads", _BIASES, partial(_count, biases_per_head="d_model")
        ),
        Misconception(
            "biases_of_attention_by_heads", _BIASES, partial(_count, biases_per_head="cut")
        ),
        Misconception(
            "final_norm_in_each_block",
            "You count three norms in each block. There are two; the third stands once, after the "
            "last block.",
            partial(_count, final_norm_in_each_block=True),
        ),
        Misconception("positions_not_counted", _POSITIONS, partial(_count, positions=False)),
        Misconception(
            "positions_not_counted", _POSITIONS, partial(_count, positions=False, with_class=1)
        ),
        Misconception(
            "channels_forgotten",
            "Right for grey images. A patch of a colour image has n_channels · patch_size² "
            "numbers.",
            partial(_count, pixels="grey"),
        ),
        Misconception(
            "patch_not_squared",
            "You count n_channels · patch_size numbers in a patch. It is a square: n_channels · "
            "patch_size².",
            partial(_count, pixels="one side"),
        ),
        Misconception(
            "projection_forgotten",
            "The linear layer that makes vectors of the patches is missing, n_channels · "
            "patch_size² numbers to d_model, with a bias.",
            partial(_count, projection=False),
        ),
        Misconception(
            "biases_forgotten",
            "The matrices are right, the biases are missing. Each linear layer has one number more "
            "for each number that it returns.",
            partial(_count, biases=False),
        ),
        # Vectors of d_model numbers are shifts, gains or biases alike: where only a block's are
        # missing, the count does not tell which.
        Misconception(
            "four_vectors_of_a_block_forgotten",
            "You are 4 · d_model short in each block: the biases of attention's four projections "
            "are missing, or the two norms, which have a gain and a shift each.",
            partial(_count, attention_biases=False),
        ),
        Misconception(
            "output_projection_forgotten",
            "You count three matrices in an attention: queries, keys, values. The fourth puts the "
            "heads together, W_O.",
            partial(_count, projections=3),
        ),
        *(
            Misconception(
                "multiplied_by_the_heads",
                "You count each head's projections as wide as d_model. A head is d_model / n_heads "
                "wide, and all heads together make the four d_model × d_model matrices: the number "
                "of heads does not matter.",
                partial(_count, per_head=per_head),
            )
            for per_head in (True, "all but the last")
        ),
        Misconception(
            "norms_forgotten",
            "Your norms are missing: two in each block and one after the last, each with a gain "
            "and a shift of d_model numbers.",
            partial(_count, norm_vectors=0),
        ),
        Misconception(
            "half_a_norm",
            "You count d_model numbers for a LayerNorm. It has two vectors, gain and shift: 2 · "
            "d_model.",
            partial(_count, norm_vectors=1),
        ),
        Misconception(
            "two_vectors_of_a_block_forgotten",
            "You are 2 · d_model short in each block. It has two norms, one before attention and "
            "one before the feed-forward layer, with a gain and a shift each; and a bias for each "
            "of attention's four projections.",
            partial(_count, norms_in_a_block=1),
        ),
        Misconception(
            "one_block_for_all_layers",
            "You count one block. All n_layers blocks have parameters of their own.",
            partial(_count, shared=True),
        ),
        Misconception(
            "head_forgotten",
            "The classifier is missing: a linear layer from d_model to n_classes, with a bias.",
            partial(_count, head=False),
        ),
        Misconception(
            "head_without_bias",
            "You are n_classes short: the classifier has a bias, one number for each class.",
            partial(_count, head_bias=False),
        ),
        Misconception(
            "pixels_by_patch_size",
            "You divide the number of pixels by patch_size to get the number of patches. A patch "
            "has patch_size² pixels: there are (image_size / patch_size)² patches.",
            _patches_by_the_pixel,
        ),
        Misconception(
            "a_position_for_each_pixel",
            "You count a position for each pixel. A patch is one vector with one position: there "
            "are (image_size / patch_size)² of them.",
            partial(_count, squared="every pixel"),
        ),
        Misconception(
            "one_head_only",
            "Your projections lead to d_model / n_heads numbers: that is one head. All heads "
            "together have d_model, so each of the four matrices has d_model · d_model numbers.",
            partial(_count, per_head="one"),
        ),
        Misconception(
            "bias_of_w_1_forgotten",
            "You are d_ff short in each block: the first layer of the feed-forward layer has a "
            "bias, too, of d_ff numbers.",
            partial(_count, bias_of_w_1="none"),
        ),
        Misconception(
            "bias_of_w_2_forgotten",
            "You are d_model short in each block: the second layer of the feed-forward layer has a "
            "bias, too, of d_model numbers.",
            partial(_count, bias_of_w_2="none"),
        ),
        Misconception("bias_of_w_1_too_short", _WIDTHS, partial(_count, bias_of_w_1="d_model")),
        Misconception(
            "feed_forward_biases_forgotten",
            "The biases of the feed-forward layers are missing: d_ff numbers behind the first "
            "matrix and d_model behind the second.",
            partial(_count, ff_biases=False),
        ),
        Misconception(
            "one_bias_for_attention",
            "You are 3 · d_model short in each block: attention has four projections, and each of "
            "them a bias of d_model numbers.",
            partial(_count, attention_vectors=1),
        ),
    ),
    # Counting is exact.
    rtol=0.0,
    atol=0.5,
    demands=(Demand(TOKEN, 1.5), Demand(AVERAGES, 0.5)),
)
