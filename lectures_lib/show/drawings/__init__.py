"""Drawings of the mechanism of the chapters, in one figure language: the colours are
the palette (`show/palette.json`), the shapes `canvas.py`.

from lectures_lib.show.drawings import draw
draw("queries_keys_values")
"""

from collections.abc import Callable

from lectures_lib.show.drawings import (
    agreement,
    attention,
    bert,
    bleu,
    cache,
    convolution,
    cost,
    decoder,
    encoder,
    families,
    features,
    fine_tuning,
    heads,
    language_model,
    next_token,
    patches,
    positions,
    pretraining,
    probing,
    recurrent,
    sentence_vectors,
    spans,
    subwords,
    syntax,
    training,
    word_vectors,
    wordpiece,
    writing,
)
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.narrow import narrow_layout

DRAWINGS: dict[str, Callable[[], Canvas]] = {
    function.__name__.removesuffix("_drawing"): function
    for function in (
        recurrent.bottleneck,
        recurrent.gate,
        recurrent.looking_back,
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
        next_token.shift,
        next_token.targets,
        next_token.vector_to_token,
        decoder.whole_transformer,
        subwords.merge_tree,
        subwords.bytes_to_tokens,
        subwords.merge_order,
        wordpiece.two_messages,
        wordpiece.longest_first,
        wordpiece.whole_word_lost,
        training.smoothed_targets,
        training.batches_by_length,
        training.training_step,
        bleu.two_scores,
        bleu.clipped_counts,
        writing.weather_tree,
        writing.growing_beam,
        writing.top_k_and_top_p,
        cache.read_again,
        cache.step_with_cache,
        cache.rows_of_the_mask,
        language_model.chain_rule,
        language_model.decoder_only,
        language_model.five_exercises,
        agreement.agreement_arc,
        agreement.one_noun_at_a_time,
        agreement.three_masks,
        patches.image_to_class,
        patches.patch_trap,
        patches.stretched_positions,
        convolution.moved_digit,
        convolution.same_kernel,
        bert.who_sees_whom,
        bert.bert_input,
        bert.bert_body,
        pretraining.holes,
        pretraining.masking_dice,
        pretraining.next_sentence,
        pretraining.two_losses,
        fine_tuning.five_heads,
        fine_tuning.one_layer_and_back,
        fine_tuning.low_rank,
        spans.words_and_spans,
        spans.labels_on_pieces,
        spans.span_table,
        spans.windows,
        word_vectors.skip_gram,
        word_vectors.one_row_or_a_vector_each,
        features.scalar_mix,
        features.word_states,
        features.nearest_by_position,
        probing.probe_and_control,
        syntax.head_beside_tree,
        syntax.tree_twice,
        syntax.perturbed_masking,
        syntax.tree_of_a_table,
        sentence_vectors.two_encoders,
        sentence_vectors.pooling,
        sentence_vectors.in_batch,
        sentence_vectors.searching,
        families.two_readers,
        families.three_families,
        cost.padded_and_packed,
        cost.kept_for_backward,
        cost.packed_row,
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
