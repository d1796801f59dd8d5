"""The files that begin: those that take longest, the longest first. Begun at the end, one of them
would run alone. A run says at its end which others belong here (conftest.py).
"""

LONGEST = [
    "tests/site/test_pages.py",
    "notebooks/14_fine_tuning.ipynb",
    "tests/homework/test_banks.py",
    "tests/homework/test_hostile_template.py",
    "tests/homework/test_question_key.py",
    "tests/site/test_figures_on_a_phone.py",
    "tests/site/test_live_browser.py",
    "tests/homework/test_synthetic_class.py",
    "tests/homework/test_hostile_neighbours.py",
    "tests/homework/test_graded_class.py",
    "notebooks/14b_words_and_spans.ipynb",
    "notebooks/01_bottleneck.ipynb",
    "notebooks/17_sentence_bert.ipynb",
    "notebooks/17b_searching.ipynb",
    "notebooks/16b_probing.ipynb",
    "notebooks/16c_trees.ipynb",
    "tests/homework/test_demands.py",
    "tests/site/test_through.py",
    "tests/site/test_live_figures_browser.py",
    "tests/site/test_dates_browser.py",
    "tests/site/test_adapted_browser.py",
    "tests/site/test_slides_browser.py",
    "tests/site/test_inside.py",
    "tests/site/test_at_work.py",
    "tests/site/test_agreement_browser.py",
    "tests/site/test_sentence_map_browser.py",
    "tests/homework/test_hostile_checks.py",
    "tests/site/test_live_robust_browser.py",
    "tests/site/test_live_network_browser.py",
    "tests/site/test_live_hands_browser.py",
    "tests/site/test_motion_browser.py",
    "tests/homework/test_dask.py",
    "tests/site/test_guess.py",
    "tests/site/test_end_card.py",
]


def missing(seconds: dict[str, float]) -> list[str]:
    """Of files that took so many seconds those that took longer than most of the ones that begin
    and are not among them, the longest first.
    """
    begun = sorted(seconds[name] for name in LONGEST if name in seconds)
    if len(begun) < len(LONGEST) // 2:  # a part of the tests: nothing to compare with
        return []
    most = begun[len(begun) // 2]
    late = [name for name in seconds if name not in LONGEST and seconds[name] > most]
    return sorted(late, key=seconds.__getitem__, reverse=True)
