"""A picture for each table that says more as one: functions of a table that draw and return the
words for those who cannot see it. They stand in modules by the page that shows them; `sizes` is for
three pages, and `axes` has what all share.

They are drawn while the site is built (_ext/published_tables.py), from the data alone.
"""

from collections.abc import Callable

from published import Table
from published.figures import bert, beyond_glue, glue, sizes, transformer, vision

FIGURES: dict[str, Callable[[Table], str]] = {
    draw.__name__: draw
    for draw in (
        transformer.bleu,
        transformer.pieces,
        sizes.parameters,
        vision.vit,
        bert.pretraining_tasks,
        bert.masking,
        bert.model_size,
        glue.sizes_of_tasks,
        glue.glue,
        glue.leaderboard,
        beyond_glue.beyond_glue,
        beyond_glue.features,
    )
}
