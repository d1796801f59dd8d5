"""Drawings of the mechanism, in one figure language: the colours are
`palette.json`, the shapes `canvas.py`.

from lectures_lib.show.drawings import draw
draw("queries_keys_values")
"""

from collections.abc import Callable

from lectures_lib.show.drawings import (
    attention,
    decoder,
    encoder,
    features,
    heads,
    positions,
    recurrent,
    word_vectors,
)
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.narrow import narrow_layout

DRAWINGS: dict[str, Callable[[], Canvas]] = {
    function.__name__.removesuffix("_drawing"): function
    for function in (
        recurrent.gate,
        attention.thinking_machines,
        attention.queries_keys_values,
        attention.attention_steps,
        heads.split_heads_drawing,
        heads.multi_head_drawing,
        heads.view_trap,
        positions.addition,
        positions.clocks,
        positions.rotation,
        encoder.residual_stream,
        encoder.words_through_a_block,
        encoder.pre_and_post_norm,
        decoder.decoder_block,
        decoder.shift,
        decoder.targets,
        decoder.vector_to_token,
        decoder.whole_transformer,
        word_vectors.skip_gram,
        word_vectors.one_row_or_a_vector_each,
        features.word_states,
        features.nearest_by_position,
        features.scalar_mix,
    )
}


def draw(name: str, narrow: bool = False) -> Canvas:
    """A drawing, to be the last thing in a cell; `narrow` lays it out for a telephone.

    Raises:
        ValueError: for a name that none of them has; the message lists those there are.
    """
    if name not in DRAWINGS:
        raise ValueError(f"no drawing is called {name!r}; there are {', '.join(DRAWINGS)}")
    wide = DRAWINGS[name]
    return (narrow_layout(wide) if narrow else wide)()
