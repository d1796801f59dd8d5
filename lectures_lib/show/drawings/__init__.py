"""Drawings of the mechanism of the chapters, in one figure language: the colours are
`palette.json`, the shapes `canvas.py`.

from lectures_lib.show.drawings import draw
draw("queries_keys_values")
"""

from collections.abc import Callable

from lectures_lib.show.drawings import (
    attention,
    decoder,
    encoder,
    heads,
    positions,
    probing,
    recurrent,
    syntax,
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
        syntax.head_beside_tree,
        probing.probe_and_control,
        syntax.tree_twice,
        syntax.perturbed_masking,
        syntax.tree_of_a_table,
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
