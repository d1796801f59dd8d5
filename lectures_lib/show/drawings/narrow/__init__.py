"""The drawings laid out for a telephone: `draw(name, narrow=True)`.

On a page narrower than the wide layout may become, the site shows these
(`book/_ext/narrow_drawings.py`); a notebook shows the wide ones. Both show the same numbers and
have the same title and caption.
"""

from collections.abc import Callable

from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.narrow import (
    attention,
    decoder,
    encoder,
    heads,
    positions,
    recurrent,
)

NARROW: dict[str, Callable[[], Canvas]] = {
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
    )
}
