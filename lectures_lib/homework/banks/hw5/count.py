"""Question 3: how many numbers are in BERT?"""

from functools import partial

from torch import Generator

from lectures_lib.homework.banks.inputs import whole
from lectures_lib.homework.questions import Case, Demand, Misconception, Question

BODY = "the parameters of its body"
HEADS = "with the heads of pre-training, theirs as well"

_BASE = {
    "vocab_size": 30_522,
    "d_model": 768,
    "n_layers": 12,
    "d_ff": 3072,
    "max_len": 512,
    "n_segments": 2,
}
_LARGE = _BASE | {"d_model": 1024, "n_layers": 24, "d_ff": 4096}


def _count_cases(g: Generator) -> list[Case]:
    def some() -> dict[str, int]:
        d_model = whole(g, 20, 40)
        sizes = {
            "vocab_size": whole(g, 200, 900),
            "d_model": d_model,
            "n_layers": whole(g, 2, 6),
            "d_ff": 3 * d_model + whole(g, 1, 19),
        }
        return sizes | {"max_len": whole(g, 50, 90), "n_segments": whole(g, 3, 5)}

    def case(sizes: dict[str, int], name: str, **more: bool) -> Case:
        listed = ", ".join(f"{key} = {value}" for key, value in sizes.items())
        return Case(
            kwargs=sizes | more,
            shows=f"{name} ({listed}){', with its heads' if more else ''}",
            demands=(HEADS if more else BODY,),
        )

    return [
        case(_BASE, "base"),
        case(_LARGE, "large", heads=True),
        case(some(), "a small one"),
        case(some(), "a small one", heads=True),
    ]


def count_bert(
    vocab_size: int,
    d_model: int,
    n_layers: int,
    d_ff: int,
    max_len: int,
    n_segments: int,
    heads: bool = False,
) -> int:
    """BERT's body, and the two heads of its pre-training if they are asked for."""
    return _count(vocab_size, d_model, n_layers, d_ff, max_len, n_segments, heads)


def _count(
    vocab_size,
    d_model,
    n_layers,
    d_ff,
    max_len,
    n_segments,
    heads=False,
    biases=True,
    projections=4,
    ff_matrices=2,
    ff_biases=True,
    block_norms=2,
    norm_vectors=2,
    shared=False,
    token_rows=1,
    position_rows=1,
    segment_rows=1,
    embedding_norm=1,
    norms_once=False,
    pooler_each=False,
    pooler=True,
    word_layer=True,
    word_norm=True,
    word_bias=True,
    untied=False,
    sentence_classes=2,
    sentence_biases=True,
    heads_always=False,
    heads_never=False,
):
    norm = norm_vectors * d_model
    layer = d_model * d_model + d_model * biases
    feed_forward = ff_matrices * d_model * d_ff + (d_ff + d_model) * (biases and ff_biases)
    block = (
        projections * layer
        + feed_forward
        + block_norms * norm * (not norms_once)
        + layer * pooler_each
    )
    rows = token_rows * vocab_size + position_rows * max_len + segment_rows * n_segments
    body = (
        rows * d_model
        + embedding_norm * norm
        + (1 if shared else n_layers) * block
        + (pooler and not pooler_each) * layer
    )
    body += block_norms * norm * norms_once
    word_head = (
        word_layer * layer
        + word_norm * norm
        + vocab_size * (word_bias and biases)
        + untied * vocab_size * d_model
    )
    sentence_head = sentence_classes * (d_model + (biases and sentence_biases))
    return body + (
        (word_head + sentence_head) if (heads or heads_always) and not heads_never else 0
    )


def _head_s_norm_always(vocab_size, d_model, n_layers, d_ff, max_len, n_segments, heads=False):
    right = count_bert(vocab_size, d_model, n_layers, d_ff, max_len, n_segments, heads)
    return right + 2 * d_model * (not heads)


def _narrow(vocab_size, d_model, n_layers, d_ff, max_len, n_segments, heads=False):
    return _count(vocab_size, d_model, n_layers, d_model, max_len, n_segments, heads)


def _always_four_times(vocab_size, d_model, n_layers, d_ff, max_len, n_segments, heads=False):
    return _count(vocab_size, d_model, n_layers, 4 * d_model, max_len, n_segments, heads)


def _always_512(vocab_size, d_model, n_layers, d_ff, max_len, n_segments, heads=False):
    return _count(vocab_size, d_model, n_layers, d_ff, 512, n_segments, heads)


def _always_two_segments(vocab_size, d_model, n_layers, d_ff, max_len, n_segments, heads=False):
    return _count(vocab_size, d_model, n_layers, d_ff, max_len, 2, heads)


def _a_score_for_each_segment(
    vocab_size, d_model, n_layers, d_ff, max_len, n_segments, heads=False
):
    return _count(
        vocab_size, d_model, n_layers, d_ff, max_len, n_segments, heads, sentence_classes=n_segments
    )


def _pooler_only_with_heads(vocab_size, d_model, n_layers, d_ff, max_len, n_segments, heads=False):
    return _count(vocab_size, d_model, n_layers, d_ff, max_len, n_segments, heads, pooler=heads)


def _feed_forward_biases_of_d_model(
    vocab_size, d_model, n_layers, d_ff, max_len, n_segments, heads=False
):
    right = _count(vocab_size, d_model, n_layers, d_ff, max_len, n_segments, heads)
    return right - n_layers * (d_ff - d_model)


COUNT = Question(
    name="hw5.count_bert",
    title="How many parameters has BERT?",
    points=3,
    minutes=15,
    difficulty=2,
    chapter="12_bert#counting",
    cases=_count_cases,
    reference=count_bert,
    misconceptions=(
        Misconception(
            "feed_forward_biases_of_d_model",
            "Both biases of your feed-forward layer have d_model numbers. The first of its two "
            "layers returns d_ff numbers and has as many biases.",
            _feed_forward_biases_of_d_model,
        ),
        Misconception(
            "biases_forgotten",
            "You count the matrices only. Every linear layer of BERT has a bias: the four "
            "projections of attention, both layers of the feed-forward, the pooler, and the heads' "
            "layers.",
            partial(_count, biases=False),
        ),
        Misconception(
            "feed_forward_biases_forgotten",
            "The biases of the feed-forward layers are missing: d_ff numbers after the first, "
            "d_model after the second, in each block.",
            partial(_count, ff_biases=False),
        ),
        Misconception(
            "w_o_forgotten",
            "You count three projections in an attention: W_Q, W_K, W_V. There is a fourth, W_O, "
            "which mixes the heads.",
            partial(_count, projections=3),
        ),
        Misconception(
            "one_feed_forward_matrix",
            "The feed-forward layer has two matrices, from d_model to d_ff and back; you count "
            "one.",
            partial(_count, ff_matrices=1),
        ),
        Misconception(
            "norms_forgotten",
            "Your norms are missing: each LayerNorm has a gain and a shift for every feature, 2 · "
            "d_model numbers. There is one after the sum of the embeddings, two in each block, and "
            "one in the head for words.",
            partial(_count, norm_vectors=0),
        ),
        # Vectors of d_model numbers are shifts, gains or biases alike: where only a block's are
        # missing, the count does not tell which.
        Misconception(
            "four_vectors_of_a_block_forgotten",
            "You are 4 · d_model short in each block: the biases of attention's four projections "
            "are missing, or the two norms, which have a gain and a shift each.",
            partial(_count, block_norms=0),
        ),
        Misconception(
            "half_a_norm",
            "You count d_model numbers for a LayerNorm. It has two vectors, gain and shift: 2 · "
            "d_model.",
            partial(_count, norm_vectors=1),
        ),
        Misconception(
            "two_vectors_of_a_block_forgotten",
            "You are 2 · d_model short in each block. It has two norms, after attention and after "
            "feed-forward, with a gain and a shift each; and a bias for each of attention's four "
            "projections.",
            partial(_count, block_norms=1),
        ),
        Misconception(
            "embedding_norm_forgotten",
            "You are 2 · d_model short: the norm after the sum of the three embeddings is missing.",
            partial(_count, embedding_norm=0),
        ),
        Misconception(
            "positions_forgotten",
            "The table of positions is missing. BERT's positions are no sinusoids, they are "
            "learned: max_len vectors.",
            partial(_count, position_rows=0),
        ),
        Misconception(
            "segments_forgotten",
            "The table of segments is missing: n_segments vectors. A small thing, but a count is "
            "right or wrong.",
            partial(_count, segment_rows=0),
        ),
        Misconception(
            "tokens_only",
            "You count one table of embeddings, the tokens'. Positions and segments have theirs: "
            "max_len and n_segments vectors.",
            partial(_count, position_rows=0, segment_rows=0),
        ),
        Misconception(
            "pooler_forgotten",
            "The pooler is missing, the layer (with bias) from d_model to d_model above [CLS]. The "
            "paper does not mention it; the code and the published weights have it.",
            partial(_count, pooler=False),
        ),
        Misconception(
            "one_block_for_all_layers",
            "You count one block. All n_layers blocks have parameters of their own. (A model in "
            "which they share them exists: ALBERT.)",
            partial(_count, shared=True),
        ),
        Misconception(
            "hidden_width_ignored",
            "Your feed-forward layer is d_model wide inside. d_ff is the *hidden* width: the "
            "matrices are d_model × d_ff and back.",
            _narrow,
        ),
        Misconception(
            "hidden_width_four_times",
            "You take 4 · d_model for the hidden width. That is so in BERT's own sizes; here d_ff "
            "says what it is.",
            _always_four_times,
        ),
        Misconception(
            "always_512_positions", "You count 512 positions whatever max_len says.", _always_512
        ),
        Misconception(
            "always_two_segments",
            "You count two segments whatever n_segments says.",
            _always_two_segments,
        ),
        Misconception(
            "heads_ignored",
            "Right without the heads, and the same with them. heads=True adds the head for words "
            "(layer, norm, a bias for each token) and the one for pairs.",
            partial(_count, heads_never=True),
        ),
        Misconception(
            "heads_always_counted",
            "You always count the two heads. They belong to pre-training and count only with "
            "heads=True.",
            partial(_count, heads_always=True),
        ),
        Misconception(
            "output_not_tied",
            "In the head for words you count a matrix of vocab_size · d_model numbers. It is the "
            "table of token vectors once more (tied), which you have counted already; new is only "
            "a bias for each token.",
            partial(_count, untied=True),
        ),
        Misconception(
            "token_bias_forgotten",
            "In the head for words the bias is missing: one number for each token of the "
            "vocabulary.",
            partial(_count, word_bias=False),
        ),
        Misconception(
            "head_s_layer_forgotten",
            "Between the last block and the scores of the words stands a layer from d_model to "
            "d_model, and a norm: both are missing.",
            partial(_count, word_layer=False, word_norm=False),
        ),
        Misconception(
            "head_s_norm_forgotten",
            "In the head for words the norm after the layer is missing: 2 · d_model numbers.",
            partial(_count, word_norm=False),
        ),
        Misconception(
            "sentence_head_forgotten",
            "The head for pairs is missing: a layer from d_model to 2 scores, with its bias.",
            partial(_count, sentence_classes=0),
        ),
        Misconception(
            "a_score_for_each_segment",
            "Your head for pairs makes n_segments scores. It makes two, one for each class, "
            "whatever the number of segments: 2 · (d_model + 1) numbers.",
            _a_score_for_each_segment,
        ),
        Misconception(
            "four_vectors_of_a_block_counted_once",
            "You count 4 · d_model numbers of a block once for the whole model: its two norms, or "
            "the biases of attention's four projections. Each of the n_layers blocks has its own.",
            partial(_count, norms_once=True),
        ),
        Misconception(
            "pooler_in_each_layer",
            "You count a pooler for each layer. There is one, above the last block.",
            partial(_count, pooler_each=True),
        ),
        Misconception(
            "pair_biases_forgotten",
            "You are 2 short with the heads: the layer for pairs has a bias for each of its two "
            "scores.",
            partial(_count, sentence_biases=False),
        ),
        Misconception(
            "one_score_for_pairs",
            "Your head for pairs makes one score. BERT's makes two, one for each class: 2 · "
            "(d_model + 1) numbers.",
            partial(_count, sentence_classes=1),
        ),
        Misconception(
            "pooler_only_with_heads",
            "Right with the heads; without them the pooler is missing. It belongs to the body and "
            "counts always.",
            _pooler_only_with_heads,
        ),
        Misconception(
            "norm_too_many",
            "You are 2 · d_model over: a norm too many. In front there is one, and none follows "
            "the last block.",
            partial(_count, embedding_norm=2),
        ),
        Misconception(
            "head_s_norm_always_counted",
            "Right with the heads; without them you are 2 · d_model over, a norm too many. That of "
            "the head for words counts only with the heads, and none follows the last block.",
            _head_s_norm_always,
        ),
        Misconception(
            "norm_for_each_table",
            "You are 4 · d_model over: two norms too many. The three tables share one, after their "
            "sum.",
            partial(_count, embedding_norm=3),
        ),
    ),
    # Counting is exact.
    rtol=0.0,
    atol=0.5,
    demands=(Demand(BODY, 2), Demand(HEADS, 1)),
)
