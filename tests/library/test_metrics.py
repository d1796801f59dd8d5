"""The measures agree with numbers worked out by hand, and refuse what they cannot measure."""

import math
import random

import pytest
import torch

from lectures_lib.metrics import bleu, corpus_bleu, exact_match, perplexity, token_accuracy


def test_bleu_by_hand():
    """8 of 9 words, 6 of 8 pairs, 4 of 7 triples and 2 of 6 quadruples are right, and it is as long
    as the reference.
    """
    references = ["the cat sat on the mat near the door"]
    hypotheses = ["the cat sat on a mat near the door"]
    score, signature = bleu(hypotheses, references)
    assert score == pytest.approx(100 * (8 / 9 * 6 / 8 * 4 / 7 * 2 / 6) ** 0.25)
    assert signature.startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")


def test_bleu_is_the_corpus_s_and_punishes_brevity():
    references = ["one two three four five", "six seven eight nine ten"]
    right, short = references[0], "six seven eight nine"
    score, _ = bleu([right, short], references)
    # every n-gram is right, one word of ten is missing
    assert score == pytest.approx(100 * math.exp(1 - 10 / 9))
    assert score != pytest.approx((100 + bleu([short], references[1:]).score) / 2, abs=0.1)


def test_the_chapter_s_bleu_is_sacrebleu_s():
    """On texts of few different words, so that all kinds come up: clipped hits, no hit of some
    length, short and empty texts, and corpora in which only some sentences have them.
    """
    draw, seen = random.Random(0), set()
    for _ in range(300):
        texts = [
            [" ".join(draw.choices("abcde", k=draw.randint(0, 9))) for _ in range(2)]
            for _ in range(draw.choice((1, 1, 2, 5)))
        ]
        hypotheses, references = zip(*texts, strict=True)
        score = corpus_bleu(hypotheses, references)
        theirs = bleu(hypotheses, references, tokenize="none").score
        assert score == pytest.approx(theirs, abs=1e-6), texts
        seen.add("none" if score == 0 else "all" if score == 100 else "some")
    assert {"none", "some"} <= seen


def test_options_show_in_the_signature():
    assert bleu(["A B C D"], ["a b c d"], lowercase=True).score == pytest.approx(100)
    assert "case:lc" in bleu(["A B C D"], ["a b c d"], lowercase=True).signature


def test_exact_match_takes_strings_and_lists():
    assert exact_match(["a b", "c"], ["a b", "d"]) == 0.5
    assert exact_match([[1, 2], [3]], [[1, 2], [3]]) == 1.0


def test_token_accuracy_leaves_padding_out():
    predicted, targets = torch.tensor([[5, 6, 0], [7, 9, 9]]), torch.tensor([[5, 6, 0], [7, 8, 0]])
    assert token_accuracy(predicted, targets) == pytest.approx(3 / 4)


def test_perplexity_of_a_uniform_guess_is_the_vocabulary_s_size():
    assert perplexity(12 * math.log(50), 12) == pytest.approx(50)
    # Two batches, of 1 and of 3 tokens: their perplexities' mean is not the text's.
    assert perplexity(math.log(8) + 3 * math.log(2), 4) == pytest.approx(2 ** (6 / 4))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bleu(["a"], ["a", "b"]), "got 1 and 2"),
        (lambda: corpus_bleu(["a"], ["a", "b"]), "got 1 and 2"),
        (lambda: corpus_bleu([], []), "got 0 and 0"),
        (lambda: exact_match([], []), "got 0 and 0"),
        (lambda: bleu("one sentence", "another"), "not one string"),
        (
            lambda: token_accuracy(torch.zeros(2, 3).long(), torch.zeros(2, 3).long()),
            "all 6 targets are padding",
        ),
        (lambda: perplexity(1.0, 0), "n_tokens = 0"),
        (lambda: perplexity(-1.0, 3), r"loss = -1\.0"),
        (lambda: perplexity(math.nan, 3), "loss = nan"),
        (lambda: perplexity(1.0, math.nan), "n_tokens = nan"),
    ],
)
def test_bad_input_is_refused_with_its_numbers(call, message):
    with pytest.raises(ValueError, match=message):
        call()
