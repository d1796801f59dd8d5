"""The files that begin: those that take longest, the longest first. Begun at the end, one of them
would run alone. A run says at its end which others belong here (conftest.py).
"""

LONGEST = [
    "tests/site/test_pages.py",
    "tests/homework/test_banks.py",
    "notebooks/14_fine_tuning.ipynb",
    "tests/site/test_through.py",
    "tests/site/test_adapted_browser.py",
    "tests/site/test_live_browser.py",
    "notebooks/13_pretraining.ipynb",
    "notebooks/14b_words_and_spans.ipynb",
    "notebooks/17b_searching.ipynb",
    "notebooks/18b_what_it_costs.ipynb",
    "tests/site/test_guess.py",
    "tests/site/test_inside.py",
    "tests/site/test_slides_browser.py",
    "tests/homework/test_question_key.py",
    "tests/site/test_live_figures_browser.py",
    "tests/site/test_agreement_browser.py",
    "tests/site/test_live_hands_browser.py",
    "tests/library/test_stored.py",
    "tests/site/test_digits_browser.py",
    "tests/homework/test_hostile_template.py",
    "tests/site/test_live_robust_browser.py",
    "tests/site/test_live_network_browser.py",
    "tests/site/test_motion_browser.py",
    "notebooks/10_language_model.ipynb",
    "notebooks/16b_probing.ipynb",
    "notebooks/11_vision_transformer.ipynb",
    "notebooks/09_generating.ipynb",
    "notebooks/06_decoder.ipynb",
    "notebooks/16c_trees.ipynb",
    "notebooks/11b_attention_or_convolution.ipynb",
    "notebooks/17_sentence_bert.ipynb",
    "notebooks/10b_agreement.ipynb",
    "notebooks/01_bottleneck.ipynb",
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
