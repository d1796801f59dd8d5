"""Question 8: how many numbers are in a Transformer?"""

from functools import partial

import torch
from torch import Generator

from lectures_lib.homework.questions import Case, Demand, Misconception, Question, Varied

SHARED = "one table for both embeddings and the output"
APART = "three tables, where they are not tied"

_BASE = {"vocab_size": 37_000, "d_model": 512, "n_heads": 8, "d_ff": 2048, "n_layers": 6}
_BIG = {"vocab_size": 37_000, "d_model": 1024, "n_heads": 16, "d_ff": 4096, "n_layers": 6}


def _count_cases(g: Generator) -> list[Case]:
    def number(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=g))

    def some() -> dict[str, int]:
        n_heads, d_head = number(2, 6), number(7, 13)
        d_model = n_heads * d_head
        sizes = {"vocab_size": number(200, 900), "d_model": d_model, "n_heads": n_heads}
        return sizes | {"d_ff": 3 * d_model + number(1, 20), "n_layers": number(2, 6)}

    def case(sizes: dict[str, int], name: str, **more: bool) -> Case:
        listed = ", ".join(f"{key} = {value}" for key, value in sizes.items())
        return Case(
            kwargs=sizes | more,
            shows=f"{name} ({listed}){'' if more.get('tied', True) else ', three embeddings'}",
            demands=(SHARED if more.get("tied", True) else APART,),
        )

    return [
        case(_BASE, "the base model"),
        case(_BIG, "the big model"),
        case(some(), "a small one"),
        case(some(), "a small one", tied=False),
    ]


def count_parameters(
    vocab_size: int,
    d_model: int,
    n_heads: int,
    d_ff: int,
    n_layers: int,
    tied: bool = True,
    *,
    positions: int = 0,
) -> int:
    """Of the whole Transformer of 2017, with a bias in every linear layer."""
    attention = 4 * (d_model * d_model + d_model)
    feed_forward = (d_model * d_ff + d_ff) + (d_ff * d_model + d_model)
    norm = 2 * d_model
    encoder_block = attention + feed_forward + 2 * norm
    decoder_block = 2 * attention + feed_forward + 3 * norm
    matrices = (1 if tied else 3) * vocab_size * d_model + 2 * positions * d_model
    return n_layers * (encoder_block + decoder_block) + matrices + vocab_size


def _count(
    vocab_size,
    d_model,
    n_heads,
    d_ff,
    n_layers,
    tied=True,
    biases=True,
    attention_biases=True,
    ff_biases=True,
    projections=4,
    per_head=False,
    ff_matrices=2,
    norm_vectors=2,
    cross=True,
    decoder_norms=3,
    stacks=2,
    shared=False,
    matrices=None,
    output_bias=True,
    final_norms=0,
    *,
    positions=0,
):
    attention_biases, ff_biases = attention_biases and biases, ff_biases and biases
    attention = (
        projections
        * (d_model * d_model + d_model * attention_biases)
        * (n_heads if per_head else 1)
    )
    feed_forward = ff_matrices * d_model * d_ff + (d_ff + d_model) * ff_biases
    norm = norm_vectors * d_model
    encoder_block = attention + feed_forward + 2 * norm
    decoder_block = (2 if cross else 1) * attention + feed_forward + decoder_norms * norm
    blocks = encoder_block + decoder_block if stacks == 2 else encoder_block
    matrices = matrices or (1 if tied else 3)
    embeddings = matrices * vocab_size * d_model + (vocab_size if output_bias and biases else 0)
    embeddings += 2 * positions * d_model
    return (1 if shared else n_layers) * blocks + final_norms * norm + embeddings


def _count_tied_twice(vocab_size, d_model, n_heads, d_ff, n_layers, tied=True, *, positions=0):
    matrices = 2 if tied else 3
    return _count(
        vocab_size, d_model, n_heads, d_ff, n_layers, matrices=matrices, positions=positions
    )


def _count_untied_twice(vocab_size, d_model, n_heads, d_ff, n_layers, tied=True, *, positions=0):
    matrices = 1 if tied else 2
    return _count(
        vocab_size, d_model, n_heads, d_ff, n_layers, matrices=matrices, positions=positions
    )


def _count_one_cross_attention(
    vocab_size, d_model, n_heads, d_ff, n_layers, tied=True, with_norm=True, *, positions=0
):
    """The decoder's second attention, and its norm, once for all layers."""
    right = count_parameters(
        vocab_size, d_model, n_heads, d_ff, n_layers, tied, positions=positions
    )
    once = 4 * (d_model * d_model + d_model) + 2 * d_model * with_norm
    return right - (n_layers - 1) * once


def _count_tied_inverted(vocab_size, d_model, n_heads, d_ff, n_layers, tied=True, *, positions=0):
    return _count(vocab_size, d_model, n_heads, d_ff, n_layers, not tied, positions=positions)


def _count_norm_of_two_numbers(
    vocab_size, d_model, n_heads, d_ff, n_layers, tied=True, *, positions=0
):
    norms = n_layers * 5
    return (
        count_parameters(vocab_size, d_model, n_heads, d_ff, n_layers, tied, positions=positions)
        - norms * 2 * d_model
        + norms * 2
    )


def _count_norms(
    vocab_size, d_model, n_heads, d_ff, n_layers, tied=True, squared=False, *, positions=0
):
    """Each norm with d_model² numbers, or all norms of one layer for all."""
    others = (
        count_parameters(vocab_size, d_model, n_heads, d_ff, n_layers, tied, positions=positions)
        - n_layers * 5 * 2 * d_model
    )
    return others + (n_layers * 5 * d_model**2 if squared else 5 * 2 * d_model)


_CROSS = (
    "Your decoder block has one attention. It has two, self-attention and cross-attention, each "
    "with four projections of its own, and three norms."
)
_TIED = (
    "You count the token vectors more than once although tied=True: source, target and output then "
    "share one matrix, vocab_size · d_model numbers, once."
)
_NORMS = (
    "Your norms are missing. Each LayerNorm has a gain and a shift for every feature, 2 · d_model "
    "numbers; two in an encoder block, three in a decoder block."
)


def _wording(positions: int) -> dict[str, str]:
    """Learned positions in place of the sinusoids; the small case has d_model = 2."""
    more = 2 * positions * 2
    return {
        "The positions are sinusoids, with nothing to learn.": f"The positions are *learned*, as "
        f"in BERT: a table of {positions} vectors for the source, and another one for the target.",
        "output's bias 5: together **141**.": f"output's bias 5, the positions 2 · {positions} · 2 "
        f"= {more:,}: together **{141 + more:,}**.",
        "With `tied=False` it is 161.": f"With `tied=False` it is {161 + more:,}.",
        "has 827.": f"has {827 + 2 * more:,}.",  # of twice the width
        "Then the test of question 5": "(Theirs have no learned positions.) Then the test of "
        "question 5",
    }


def _count_ends_in_every_layer(
    vocab_size, d_model, n_heads, d_ff, n_layers, tied=True, *, positions=0
):
    """The parenthesis closes behind everything."""
    right = count_parameters(
        vocab_size, d_model, n_heads, d_ff, n_layers, tied, positions=positions
    )
    blocks = count_parameters(0, d_model, n_heads, d_ff, n_layers)
    return blocks + n_layers * (right - blocks)


def _count_ff_biases(
    vocab_size,
    d_model,
    n_heads,
    d_ff,
    n_layers,
    tied=True,
    first="d_ff",
    second="d_model",
    *,
    positions=0,
):
    """The two biases of a feed-forward layer have these widths."""
    widths = {"d_ff": d_ff, "d_model": d_model, "none": 0}
    biases = widths[first] + widths[second] - d_ff - d_model
    right = count_parameters(
        vocab_size, d_model, n_heads, d_ff, n_layers, tied, positions=positions
    )
    return right + 2 * n_layers * biases


def _count_tied_output_without_bias(
    vocab_size, d_model, n_heads, d_ff, n_layers, tied=True, *, positions=0
):
    return _count(
        vocab_size,
        d_model,
        n_heads,
        d_ff,
        n_layers,
        tied,
        output_bias=not tied,
        positions=positions,
    )


_FF_BIASES = (
    "The biases of your feed-forward layers have the wrong width, or one of them is missing. The "
    "first matrix returns d_ff numbers and has as many biases; the second returns d_model."
)


def _count_more(vocab_size, d_model, n_heads, d_ff, n_layers, tied=True, more="", *, positions=0):
    """The right number, and what one slip adds to it."""
    right = count_parameters(
        vocab_size, d_model, n_heads, d_ff, n_layers, tied, positions=positions
    )
    feed_forward = 2 * d_model * d_ff + d_ff + d_model
    decoder_block = 8 * (d_model + 1) * d_model + feed_forward + 6 * d_model
    return (
        right
        + {
            "one bias": -9 * d_model * n_layers,
            "one head": -12 * d_model * (d_model - d_model // n_heads) * n_layers,
            "no feed-forward in the decoder": -feed_forward * n_layers,
            "one decoder block": -decoder_block * (n_layers - 1),
            "output bias": d_model - vocab_size,
            "three biases": 0 if tied else 2 * vocab_size,
        }[more]
    )


COUNT = Question(
    name="hw2.count_parameters",
    title="How many parameters?",
    points=2,
    minutes=15,
    difficulty=2,
    chapter="06_decoder#how-many-parameters",
    cases=_count_cases,
    reference=count_parameters,
    misconceptions=(
        Misconception(
            "biases_forgotten",
            "You count the matrices only. Every linear layer here has a bias, too: d_model numbers "
            "for each of the four projections, d_ff and d_model for the feed-forward layer, "
            "vocab_size for the output.",
            partial(_count, biases=False),
        ),
        Misconception(
            "attention_biases_forgotten",
            "The biases of attention are missing: here each of its four projections has one of "
            "d_model numbers.",
            partial(_count, attention_biases=False),
        ),
        Misconception(
            "feed_forward_biases_forgotten",
            "The biases of the feed-forward layer are missing: d_ff numbers after W_1, d_model "
            "after W_2.",
            partial(_count, ff_biases=False),
        ),
        Misconception(
            "output_bias_forgotten",
            "Only the output's bias is missing: one number for each token of the vocabulary.",
            partial(_count, output_bias=False),
        ),
        Misconception(
            "w_o_forgotten",
            "You count three projections in an attention: W_Q, W_K, W_V. There is a fourth, W_O, "
            "which mixes the heads.",
            partial(_count, projections=3),
        ),
        Misconception(
            "multiplied_by_the_heads",
            "You multiply attention's parameters by the number of heads. The heads *share out* the "
            "d_model features: n_heads matrices of width d_model / n_heads are one matrix of width "
            "d_model. The number of heads does not matter.",
            partial(_count, per_head=True),
        ),
        Misconception(
            "one_feed_forward_matrix",
            "The feed-forward layer has two matrices, from d_model to d_ff and back; you count "
            "one.",
            partial(_count, ff_matrices=1),
        ),
        Misconception(
            "one_bias_for_attention",
            "You count one bias for an attention. Each of its four projections has one, of d_model "
            "numbers.",
            partial(_count_more, more="one bias"),
        ),
        Misconception(
            "one_head_only",
            "Your projections lead to d_model / n_heads numbers: that is one head. All heads "
            "together have d_model, so each of the four matrices has d_model · d_model numbers.",
            partial(_count_more, more="one head"),
        ),
        Misconception(
            "decoder_without_feed_forward",
            "Your decoder block has no feed-forward layer. It has two attentions, a feed-forward "
            "layer and three norms.",
            partial(_count_more, more="no feed-forward in the decoder"),
        ),
        Misconception(
            "one_decoder_block",
            "You count a single decoder block. There are as many as encoder blocks: n_layers.",
            partial(_count_more, more="one decoder block"),
        ),
        Misconception(
            "output_bias_of_the_wrong_width",
            "Your output bias has d_model numbers. The layer makes a score for each token of the "
            "vocabulary, and has as many biases.",
            partial(_count_more, more="output bias"),
        ),
        Misconception(
            "a_bias_for_each_matrix",
            "With tied=False you count a bias for each of the three matrices. Embeddings have "
            "none: only the output layer has one.",
            partial(_count_more, more="three biases"),
        ),
        Misconception("norms_forgotten", _NORMS, partial(_count, norm_vectors=0)),
        Misconception(
            "half_a_norm",
            "You count d_model numbers for a LayerNorm. It has two vectors, gain and shift: 2 · "
            "d_model.",
            partial(_count, norm_vectors=1),
        ),
        Misconception(
            "norm_of_two_numbers",
            "You count two numbers for a LayerNorm. Gain and shift are *vectors*, a number for "
            "each feature: 2 · d_model.",
            _count_norm_of_two_numbers,
        ),
        Misconception(
            "norm_squared",
            "You count d_model² numbers for a LayerNorm, as if it were a matrix. Its gain and "
            "shift are vectors: 2 · d_model.",
            partial(_count_norms, squared=True),
        ),
        Misconception(
            "norms_of_one_layer",
            "You count the five norms once. Each of the n_layers layers has its own: two in the "
            "encoder block, three in the decoder block.",
            _count_norms,
        ),
        *(
            Misconception(
                "one_cross_attention_for_all_layers",
                "You count the cross-attention once. Each of the n_layers decoder blocks has its "
                "own, with its norm: two attentions and three norms in each.",
                partial(_count_one_cross_attention, with_norm=with_norm),
            )
            for with_norm in (True, False)
        ),
        Misconception("cross_attention_forgotten", _CROSS, partial(_count, cross=False)),
        Misconception(
            "cross_attention_forgotten", _CROSS, partial(_count, cross=False, decoder_norms=2)
        ),
        Misconception(  # the bias of W_2 forgotten in both stacks comes to the same number
            "third_norm_forgotten",
            "You are 2 · d_model short in each layer. A decoder block has three sublayers and so "
            "three norms; if you have counted three, then it is the bias after W_2 that is "
            "missing, d_model numbers in each block of both stacks.",
            partial(_count, decoder_norms=2),
        ),
        Misconception(
            "decoder_forgotten",
            "You count one stack. There are two, n_layers encoder blocks and n_layers decoder "
            "blocks.",
            partial(_count, stacks=1),
        ),
        Misconception(
            "one_block_for_all_layers",
            "You count one block of each kind. All n_layers blocks of a stack have parameters of "
            "their own.",
            partial(_count, shared=True),
        ),
        Misconception("tied_embeddings_counted_again", _TIED, partial(_count, matrices=3)),
        Misconception("tied_embeddings_counted_again", _TIED, _count_tied_twice),
        Misconception(
            "tied_ignored",
            "Right with tied embeddings, and the same without. With tied=False there are three "
            "matrices: source, target and output.",
            partial(_count, matrices=1),
        ),
        Misconception(
            "two_matrices_when_untied",
            "With tied=False you count two matrices of token vectors. There are three: the "
            "source's, the target's, and the output layer's.",
            _count_untied_twice,
        ),
        Misconception(
            "tied_inverted",
            "You have tied the wrong way round: tied=True means that source, target and output "
            "share *one* matrix; with False there are three.",
            _count_tied_inverted,
        ),
        Misconception(
            "final_norms_counted",
            "You count a norm at the end of each stack. Pre-norm models need one; this is the "
            "paper's, post-norm, and has none. (nn.Transformer always has them.)",
            partial(_count, final_norms=2),
        ),
        Misconception(
            "embeddings_in_every_layer",
            "You count the embeddings and the output's bias once for each layer. They stand before "
            "and behind the layers, once: only the blocks are multiplied by n_layers.",
            _count_ends_in_every_layer,
        ),
        Misconception(
            "feed_forward_bias_of_the_wrong_width",
            _FF_BIASES,
            partial(_count_ff_biases, second="d_ff"),
        ),
        Misconception(
            "feed_forward_bias_of_the_wrong_width",
            _FF_BIASES,
            partial(_count_ff_biases, first="d_model"),
        ),
        Misconception(
            "feed_forward_bias_of_the_wrong_width",
            _FF_BIASES,
            partial(_count_ff_biases, first="none"),
        ),
        Misconception(
            "tied_output_without_bias",
            "With tied=True you leave the output's bias out. The matrix is shared, the bias is "
            "not: the output layer has one number for each token in either case.",
            _count_tied_output_without_bias,
        ),
    ),
    # Counting is exact.
    rtol=0.0,
    atol=0.5,
    varied=Varied(
        "positions",
        (0, 512, 1024, 256),
        says=lambda n: f"positions are learned, in two tables of {n} vectors each",
        wording=_wording,
    ),
    demands=(Demand(SHARED, 1.5), Demand(APART, 0.5)),
)
