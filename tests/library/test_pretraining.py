"""BERT's pre-training: rates, what is never masked, pairs, losses that look at the chosen words
only, masks that can be made again.
"""

import random
from dataclasses import replace
from itertools import islice

import pytest
import torch
import torch.nn.functional as F
from torch.optim.lr_scheduler import LambdaLR
from torch.testing import assert_close

from lectures_lib import data
from lectures_lib.models.bert import BertConfig, BertForPreTraining, PreTrainingScores
from lectures_lib.tokenization import WordPiece
from lectures_lib.training import bert_schedule, fit
from lectures_lib.training.pretraining import (
    MaskingRates,
    PreTrainingBatches,
    evaluate,
    fill_mask,
    mask_tokens,
    masked_word_loss,
    pretraining_loss,
    sentence_pairs,
)

MASK, WORDS = 4, range(5, 1000)
DOCUMENTS = [
    [
        "The cat sat on the mat.",
        "It was warm there.",
        "Then the dog came in.",
        "The cat ran away at once.",
    ],
    [
        "Rain fell all day long.",
        "The river rose by a metre.",
        "People carried sand to the bank.",
        "At night the rain stopped.",
    ],
    [
        "Bread needs flour, water and salt.",
        "The dough must rest for an hour.",
        "Then it goes into the oven.",
        "It smells wonderful.",
    ],
    [
        "Trains run every ten minutes.",
        "The last one leaves at midnight.",
        "Tickets are sold on board.",
        "Dogs travel free.",
    ],
]


@pytest.fixture(scope="module")
def tokenizer():
    return WordPiece.train([sentence for document in DOCUMENTS for sentence in document], 150)


def batches_of(tokenizer, **options):
    return PreTrainingBatches(DOCUMENTS, tokenizer, **{"max_len": 32, "batch_size": 4, **options})


# ------------------------------------------------------------------------------------------ masking


@pytest.mark.parametrize(
    "rates",
    [
        MaskingRates(),
        MaskingRates(0.4, 0.5, 0.5),
        MaskingRates(0.05, 1.0, 0.0),
        MaskingRates(1.0, 0.0, 0.0),
    ],
)
def test_rates_over_a_million_tokens(rates):
    tokens = torch.randint(5, 1000, (1000, 1000))
    masked = mask_tokens(tokens, torch.zeros_like(tokens, dtype=torch.bool), MASK, WORDS, rates)
    n = int(masked.chosen.sum())
    of_chosen, before = masked.tokens[masked.chosen], tokens[masked.chosen]
    share_masked = (of_chosen == MASK).float().mean().item()
    share_kept = (of_chosen == before).float().mean().item()
    five_sigma = 5 * 0.5 / n**0.5
    assert abs(n / tokens.numel() - rates.chosen) < 5 * 0.5 / 1000
    assert abs(share_masked - rates.masked) < five_sigma
    same_by_chance = rates.random / len(WORDS)
    assert abs(share_kept - (1 - rates.masked - rates.random + same_by_chance)) < five_sigma
    assert torch.equal(masked.tokens[~masked.chosen], tokens[~masked.chosen])
    assert masked.tokens.max() < 1000 and masked.tokens.min() >= MASK


def test_special_tokens_are_never_chosen(tokenizer):
    everything = MaskingRates(1.0, 0.5, 0.5)
    for batch in batches_of(tokenizer, rates=everything).epoch(0):
        special = torch.isin(
            batch.original,
            torch.tensor([tokenizer.token_id(name) for name in ("[CLS]", "[SEP]", "[PAD]")]),
        )
        assert not batch.chosen[special].any()
        assert torch.equal(batch.tokens[special], batch.original[special])
        assert batch.chosen[~special].all()
        # random words are words
        assert not torch.isin(batch.tokens[~special], torch.tensor([0, 1, 2, 3])).any()


def test_masks_differ_between_epochs_and_can_be_made_again(tokenizer):
    first, again, later = (list(batches_of(tokenizer).epoch(number)) for number in (0, 0, 1))
    assert all(
        torch.equal(a, b)
        for one, other in zip(first, again, strict=True)
        for a, b in zip(one, other, strict=True)
    )
    assert any(
        a.tokens.shape != b.tokens.shape or not torch.equal(a.tokens, b.tokens)
        for a, b in zip(first, later, strict=False)
    )
    resumed = list(islice(batches_of(tokenizer).epoch(0), 1, None))
    assert torch.equal(resumed[0].tokens, first[1].tokens)
    other_seed = next(batches_of(tokenizer, seed=1).epoch(0))
    assert other_seed.tokens.shape != first[0].tokens.shape or not torch.equal(
        other_seed.tokens, first[0].tokens
    )


# -------------------------------------------------------------------------------------------- pairs


def numbered(n_documents, n_sentences, length=3):
    """Documents whose tokens say where they come from: 1000 · document + 10 · sentence + place."""
    return [
        [[1000 * d + 10 * s + i for i in range(length)] for s in range(n_sentences)]
        for d in range(n_documents)
    ]


def test_half_of_the_pairs_follow_each_other_and_half_come_from_another_document():
    pairs = sentence_pairs(numbered(200, 30), 20, random.Random(0))
    share = sum(pair.is_random for pair in pairs) / len(pairs)
    assert abs(share - 0.5) < 5 * 0.5 / len(pairs) ** 0.5
    for first, second, is_random in pairs:
        assert 2 <= len(first) + len(second) <= 17 and first and second
        assert (first[0] // 1000 != second[0] // 1000) == bool(is_random)
        if not is_random:
            assert first[-1] < second[0]


def test_neighbours_touch_when_nothing_is_cut_off():
    for first, second, is_random in sentence_pairs(numbered(20, 10), 200, random.Random(1)):
        sentences = [(tokens[-1] // 10, tokens[0] // 10) for tokens in (first, second)]
        assert is_random or sentences[1][1] == sentences[0][0] + 1


def test_no_text_is_lost_where_a_piece_was_exchanged():
    documents = numbered(50, 12)
    pairs = sentence_pairs(documents, 200, random.Random(2), random_share=0.0)
    seen = {token for first, second, _ in pairs for token in first + second}
    assert seen == {token for document in documents for sentence in document for token in sentence}
    firsts = {
        token // 10
        for first, second, random_ in sentence_pairs(documents, 20, random.Random(2))
        for token in first
    }
    assert len(firsts) > 0.4 * 50 * 12


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_the_share_of_random_pairs_can_be_chosen(share):
    assert {
        pair.is_random for pair in sentence_pairs(numbered(5, 8), 20, random.Random(0), share)
    } == {int(share)}


def test_inputs_are_cls_first_sep_second_sep(tokenizer):
    for batch in batches_of(tokenizer).epoch(0):
        for tokens, segments, length in zip(
            batch.original.tolist(), batch.segments.tolist(), batch.lengths.tolist(), strict=True
        ):
            names = tokenizer.known_tokens(tokens)
            assert (
                names[0] == "[CLS]" and names[length - 1] == "[SEP]" and names.count("[SEP]") == 2
            )
            cut = names.index("[SEP]") + 1
            assert segments == [0] * cut + [1] * (length - cut) + [0] * (len(tokens) - length)


# ------------------------------------------------------------------------------------------- losses


def test_the_loss_is_unchanged_by_scores_at_unchosen_positions(tokenizer):
    batch = next(batches_of(tokenizer).epoch(0))
    words = torch.randn(*batch.tokens.shape, len(tokenizer))
    before = masked_word_loss(words[batch.chosen], batch.original[batch.chosen])
    words[~batch.chosen] += 100 * torch.randn_like(words[~batch.chosen])
    assert torch.equal(masked_word_loss(words[batch.chosen], batch.original[batch.chosen]), before)
    ignoring = F.cross_entropy(
        words.flatten(0, 1), batch.original.masked_fill(~batch.chosen, -100).flatten()
    )
    assert_close(before, ignoring)


def test_the_loss_is_the_sum_of_both_and_kept_words_count(tokenizer):
    batch = next(batches_of(tokenizer).epoch(0))
    words, following = (
        torch.randn(batch.n_targets, len(tokenizer)),
        torch.randn(len(batch.is_random), 2),
    )
    scores = PreTrainingScores(words, following)
    expected = F.cross_entropy(words, batch.original[batch.chosen]) + F.cross_entropy(
        following, batch.is_random
    )
    assert_close(pretraining_loss(lambda *args, **kwargs: scores, batch), expected)


def test_a_batch_in_which_no_word_was_chosen_has_a_loss():
    assert masked_word_loss(torch.zeros(0, 9), torch.zeros(0, dtype=torch.long)).item() == 0


def test_the_gradient_agrees_with_hugging_faces(tokenizer, tmp_path):
    from transformers import BertForPreTraining as TheirModel

    ours = BertForPreTraining(replace(BertConfig.TINY, vocab_size=len(tokenizer))).eval()
    ours.save_pretrained(tmp_path)
    theirs = TheirModel.from_pretrained(tmp_path).eval()
    batch = next(batches_of(tokenizer).epoch(0))
    mask = (torch.arange(batch.tokens.shape[1]) < batch.lengths[:, None]).long()
    labels = batch.original.masked_fill(~batch.chosen, -100)
    expected = theirs(
        batch.tokens, mask, batch.segments, labels=labels, next_sentence_label=batch.is_random
    ).loss
    loss = pretraining_loss(ours, batch)
    assert_close(loss, expected, atol=2e-6, rtol=0)
    loss.backward()
    expected.backward()
    assert_close(
        ours.bert.embeddings.tokens.weight.grad,
        theirs.bert.embeddings.word_embeddings.weight.grad,
        atol=2e-6,
        rtol=1e-4,
    )


def test_next_sentence_overfits_a_small_set(tokenizer):
    torch.manual_seed(0)
    model = BertForPreTraining(replace(BertConfig.TINY, vocab_size=len(tokenizer), max_len=48))
    fixed = list(batches_of(tokenizer, max_len=48, batch_size=16).epoch(0))

    class Again:
        """The same batches every epoch."""

        def epoch(self, number):
            return iter(fixed)

    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    fit(
        model,
        Again(),
        pretraining_loss,
        optimizer,
        LambdaLR(optimizer, bert_schedule(10, 120)),
        steps=120,
        progress=False,
    )
    scores = evaluate(model, fixed, tokenizer.token_id("[MASK]"))
    assert scores.next_sentence > 0.95
    assert scores.accuracy > 0.9 and scores.perplexity < 2


def test_perplexity_of_a_model_that_knows_nothing_is_the_vocabulary(tokenizer):
    model = BertForPreTraining(replace(BertConfig.TINY, vocab_size=len(tokenizer)))
    torch.nn.init.zeros_(model.bert.embeddings.tokens.weight)
    assert evaluate(
        model, list(batches_of(tokenizer).epoch(0)), tokenizer.token_id("[MASK]")
    ).perplexity == pytest.approx(len(tokenizer), rel=1e-4)
    assert model.training


def test_a_model_that_repeats_what_it_sees_is_right_about_nothing_behind_a_mask(tokenizer):
    class Parrot(torch.nn.Module):
        """Finds the token that it reads the likeliest."""

        def forward(self, tokens, segments, lengths, at):
            return PreTrainingScores(
                F.one_hot(tokens[at], len(tokenizer)).float(), torch.zeros(len(tokens), 2)
            )

    batches = list(batches_of(tokenizer, rates=MaskingRates(0.5, 0.5, 0.0)).epoch(0))
    assert evaluate(Parrot(), batches, tokenizer.token_id("[MASK]")).accuracy == 0


def test_fill_mask_gives_each_hole_its_guesses(tokenizer):
    model = BertForPreTraining(replace(BertConfig.TINY, vocab_size=len(tokenizer))).eval()
    guesses = fill_mask(model, tokenizer, "The [MASK] sat on the [MASK].", k=3)
    assert len(guesses) == 2 and all(len(hole) == 3 for hole in guesses)
    for hole in guesses:
        shares = [guess.probability for guess in hole]
        assert shares == sorted(shares, reverse=True) and 0 < sum(shares) <= 1


@pytest.mark.parametrize(
    ("text", "k", "says"),
    [
        ("The cat sat.", 3, r"no \[MASK\] in 'The cat sat\.'"),
        ("The [MASK] sat.", 0, "1 to [0-9]+ guesses can be made, got k = 0"),
        ("The [MASK] sat.", 9999, "got k = 9999"),
    ],
)
def test_fill_mask_says_what_it_cannot_do(tokenizer, text, k, says):
    model = BertForPreTraining(replace(BertConfig.TINY, vocab_size=len(tokenizer))).eval()
    with pytest.raises(ValueError, match=says):
        fill_mask(model, tokenizer, text, k=k)


# ---------------------------------------------------------------------------------------- sentences


def test_sentences_are_found_and_code_is_left_out():
    text = (
        "The first one is here. Is this\nthe second one? Yes!\n\n   x = f(y) + [1, 2, 3] * {4: "
        "5}\n\nA new paragraph has (brackets) too."
    )
    assert data.sentences(text) == [
        "The first one is here.",
        "Is this the second one?",
        "A new paragraph has (brackets) too.",
    ]


def test_wikitexts_lines_become_articles():
    lines = [
        " = One = \n",
        "\n",
        " First line here now . It has two sentences . \n",
        " = = Section = = \n",
        " A third one stands here . \n",
    ]
    lines += [" = Two = \n", " Only one sentence here . \n"]
    assert data.articles(lines) == [
        ["First line here now .", "It has two sentences .", "A third one stands here ."]
    ]


def test_the_manual_is_documents_of_sentences():
    documents = data.load("pretraining", "validation", docstrings=False)
    assert len(documents) > 3 and all(len(document) >= 2 for document in documents)
    assert documents.origin.startswith("manual_documents")


# ---------------------------------------------------------------------------------------- bad input


def test_bad_input_is_refused_with_the_numbers(tokenizer):
    with pytest.raises(ValueError, match="masked \\+ random is at most 1"):
        MaskingRates(0.15, 0.8, 0.3)
    with pytest.raises(ValueError, match="at least 2 documents"):
        PreTrainingBatches(DOCUMENTS[:1], tokenizer)
    with pytest.raises(ValueError, match="max_len = 4"):
        batches_of(tokenizer, max_len=4)
    with pytest.raises(ValueError, match="batch_size = 0"):
        batches_of(tokenizer, batch_size=0)
    with pytest.raises(ValueError, match="no words to draw"):
        mask_tokens(
            torch.ones(1, 2, dtype=torch.long), torch.zeros(1, 2, dtype=torch.bool), 4, range(5, 5)
        )
    model = BertForPreTraining(replace(BertConfig.TINY, vocab_size=len(tokenizer))).eval()
    with pytest.raises(ValueError, match="no \\[MASK\\] in 'The cat'"):
        fill_mask(model, tokenizer, "The cat")
    with pytest.raises(ValueError, match="k = 0"):
        fill_mask(model, tokenizer, "The [MASK]", k=0)
    with pytest.raises(ValueError, match="no \\[MASK\\] in 0 batches"):
        evaluate(model, [], 4)


def test_words_that_leave_some_out_are_refused():
    tokens = torch.ones(1, 2, dtype=torch.long)
    with pytest.raises(ValueError, match=r"one after the other, got range\(5, 99, 2\)"):
        mask_tokens(tokens, tokens < 0, 4, range(5, 99, 2))
