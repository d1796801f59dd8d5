"""The drawings of chapter 9b: what they count and compute is what the library's decoder does."""

from pathlib import Path

import torch
from torch.testing import assert_close

from lectures_lib.blocks.attention import causal_mask, scaled_dot_product_attention
from lectures_lib.decoding import KeyValueCache
from lectures_lib.show.drawings import cache, draw
from tests.helpers.drawn import holds_in_order, texts, written

CHAPTER = (Path(__file__).parents[2] / "notebooks" / "09b_cache.py").read_text()


def test_sentence_is_the_chapters():
    assert f"*{' '.join(cache.READ[1:])}*" in CHAPTER
    fresh, again = cache.computed()
    assert (fresh, again) == (8, 28)
    assert f"{fresh + again} in all. At {again} of them" in CHAPTER


def test_each_step_reads_what_was_written_before():
    shown = texts(draw("read_again").svg())
    so_far = []
    for i, (word, writes) in enumerate(
        zip(cache.READ, [*cache.READ[1:], cache.END], strict=True), 1
    ):
        so_far.append(word)
        assert holds_in_order(shown, [*so_far, f"step {i}", writes])


def test_squares_are_as_many_as_the_legend_says():
    for narrow in (False, True):
        svg = draw("read_again", narrow).svg()
        # one more of each in the legend; without words, cells are deeper
        assert svg.count(f'class="{"d" if narrow else "f"}-decoder ') == 8 + 1
        assert svg.count('class="f-mask ') == 28 + 1


def test_step_is_the_last_row_of_attention_over_all_words():
    n = len(cache.Q)
    made = cache.step_numbers()
    whole = scaled_dot_product_attention(cache.Q, cache.K, cache.V, causal_mask(n))
    assert_close(made["output"], whole[cache.NEWEST :])
    shown = texts(draw("step_with_cache").svg())
    for numbers in made.values():
        assert holds_in_order(shown, written(numbers, ".2f"))


def test_the_numbers_that_are_shown_give_the_new_vector_that_is_shown():
    weights, output = (cache.step_numbers()[name][0] for name in ("weights", "output"))
    by_hand = (weights.mul(100).round() / 100) @ cache.V
    assert written(by_hand, ".2f") == written(output, ".2f")


def test_step_needs_only_what_the_librarys_cache_holds():
    kept, n = KeyValueCache(), cache.NEWEST
    kept.extend(cache.K[None, None, :n], cache.V[None, None, :n])
    K, V = kept.extend(cache.K[None, None, n:], cache.V[None, None, n:])
    output = scaled_dot_product_attention(cache.Q[None, None, n:], K, V)
    assert_close(output[0, 0], cache.step_numbers()["output"])


def test_old_queries_are_not_drawn():
    for narrow in (False, True):
        assert draw("step_with_cache", narrow).svg().count('class="f-query ') == cache.Q.shape[1]


def test_rows_of_the_mask_are_those_of_the_chapters_code():
    n, n_new = cache.CACHED + cache.COME, cache.COME
    assert f"causal_mask({n})[{cache.CACHED}:]" in CHAPTER
    hidden = int((~causal_mask(n)[-n_new:]).sum())
    for narrow in (False, True):
        svg = draw("rows_of_the_mask", narrow).svg()
        assert svg.count('class="f-mask ') == hidden + 1  # one in the legend
        assert svg.count('class="d-decoder ') == n_new * n - hidden
    seen = [torch.arange(n)[row].tolist() for row in causal_mask(n)[-n_new:]]
    for i, words in enumerate(seen, cache.CACHED):
        assert f"word {i} sees {', '.join(map(str, words))}" in draw("rows_of_the_mask").description
