"""Claims about BERT's pre-training: holes, pairs, losses, steps, price, the rate and dropout."""

import random

import torch
import torch.nn.functional as F
from published import table
from transformers import BertConfig as TheirConfig
from transformers import BertForPreTraining as TheirBert
from transformers import BertModel as TheirBody
from transformers import get_linear_schedule_with_warmup

from claims import Found, found
from claims.attention import equal
from lectures_lib import training
from lectures_lib.blocks.attention import causal_mask
from lectures_lib.blocks.layers import Encoder
from lectures_lib.models.bert import Bert, BertConfig, BertForPreTraining
from lectures_lib.training import cost
from lectures_lib.training.pretraining import (
    PreTrainingBatch,
    mask_tokens,
    pretraining_loss,
    sentence_pairs,
)

BATCH, LENGTH, STEPS, WORDS = 256, 512, 1_000_000, 3.3e9
MASK = 4


def holes(n: int = 1_000_000) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """A million tokens, what stands in their places, and which were chosen."""
    tokens = torch.randint(10, 30_000, (1, n))
    masked = mask_tokens(
        tokens, torch.zeros_like(tokens, dtype=torch.bool), MASK, range(10, 30_000)
    )
    return tokens[0], masked.tokens[0], masked.chosen[0]


def split_of_the_chosen() -> Found:
    """Shares of all tokens that are replaced by [MASK], by another token, or chosen and left
    alone.
    """
    tokens, read, chosen = holes()
    shares = [
        ((read == MASK) & chosen),
        (read != MASK) & (read != tokens),
        chosen & (read == tokens),
    ]
    masked, other, same = (share.double().mean().item() * 100 for share in shares)
    agrees = abs(masked - 12) < 0.2 and abs(other - 1.5) < 0.1 and abs(same - 1.5) < 0.1
    return found(agrees, masked=masked, other=other, same=same)


def all_chosen_masked() -> Found:
    """Of all tokens, those that are replaced by [MASK]."""
    _, read, _ = holes()
    share = (read == MASK).double().mean().item() * 100
    return found(abs(share - 15) < 0.2, share=share)


def loss_on_unmasked() -> Found:
    """Of the tokens that have a part in the loss, those that do not stand behind a [MASK]."""
    _, read, chosen = holes()
    share = (read[chosen] != MASK).double().mean().item() * 100
    return found(share < 0.1, share=share)


EXAMPLES = (
    "[CLS] the man went to [MASK] store [SEP] he bought a gallon [MASK] milk [SEP]",
    "[CLS] the man [MASK] to the store [SEP] penguin [MASK] are flight ##less birds [SEP]",
)


def holes_of_the_examples() -> Found:
    """The authors' code chooses round(0.15 n) of n tokens, [CLS] and [SEP] counted in n: that many
    [MASK] have the examples.
    """
    tokens = [example.split() for example in EXAMPLES]
    wanted = [max(1, round(0.15 * len(words))) for words in tokens]
    return found(
        [words.count("[MASK]") for words in tokens] == wanted,
        n_1=len(tokens[0]),
        n_2=len(tokens[1]),
        holes=wanted[0],
    )


def half_of_the_pairs() -> Found:
    """The share of random pairs in many documents."""
    documents = [[[10 * d + s] * 8 for s in range(40)] for d in range(400)]
    pairs = sentence_pairs(documents, 64, random.Random(0))
    share = sum(pair.is_random for pair in pairs) / len(pairs)
    return found(abs(share - 0.5) < 0.02, share=share)


def sum_of_losses() -> Found:
    """The loss of both exercises is the sum of the two, ours and Hugging Face's."""
    config = TheirConfig(
        vocab_size=60,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    theirs = TheirBert(config).eval()
    ours_config = BertConfig(60, d_model=32, n_layers=2, n_heads=2, d_ff=64, max_len=64)
    ours = BertForPreTraining(ours_config).eval()
    tokens, segments = torch.randint(10, 60, (4, 12)), torch.zeros(4, 12, dtype=torch.long)
    chosen = torch.zeros(4, 12, dtype=torch.bool)
    chosen[:, 3:5] = True
    batch = PreTrainingBatch(
        tokens.masked_fill(chosen, MASK),
        segments,
        torch.full((4,), 12),
        tokens,
        chosen,
        torch.tensor([0, 1, 1, 0]),
    )
    with torch.no_grad():
        words, following = ours(batch.tokens, segments, batch.lengths, at=chosen)
        both = F.cross_entropy(words, tokens[chosen]) + F.cross_entropy(following, batch.is_random)
        in_theirs = theirs(
            batch.tokens,
            labels=tokens.masked_fill(~chosen, -100),
            next_sentence_label=batch.is_random,
        )
        logits = in_theirs.prediction_logits[chosen], in_theirs.seq_relationship_logits
        their_sum = F.cross_entropy(logits[0], tokens[chosen]) + F.cross_entropy(
            logits[1], batch.is_random
        )
    return found(
        equal(pretraining_loss(ours, batch), both) and equal(in_theirs.loss, their_sum), losses=2
    )


# ---------------------------------------------------------------------------------- steps and price


def tokens_a_batch() -> Found:
    """256 × 512."""
    return found(BATCH * LENGTH == 128_000, tokens=BATCH * LENGTH, thousands=BATCH * LENGTH // 1024)


def epochs() -> Found:
    """Tokens read over words of text, if every input has 512 tokens."""
    found_epochs = BATCH * LENGTH * STEPS / WORDS
    return found(round(found_epochs) == 40, epochs=found_epochs)


def epochs_of_short_inputs() -> Found:
    """The same with 128 tokens in nine steps of ten."""
    found_epochs = BATCH * (0.9 * 128 + 0.1 * LENGTH) * STEPS / WORDS
    return found(round(found_epochs) == 40, epochs=found_epochs)


def words_of_text() -> Found:
    """800 million and 2,500 million; and what the same paper's steps and epochs leave for the
    text.
    """
    words, by_epochs = (800 + 2_500) / 1_000, BATCH * LENGTH * STEPS / 40 / 1e9
    return found(
        f"{words:.1f}" == f"{by_epochs:.1f}" == f"{WORDS / 1e9:.1f}",
        words=words,
        by_epochs=by_epochs,
    )


def price() -> Found:
    """Four days on 64 chips, or on 16 Cloud TPUs, at 2.2 dollars an hour."""
    large = table("bert_sizes").row("BERT large")
    hours = large["days"] * 24
    by_chip, by_device = (hours * large[unit] * 2.2 for unit in ("chips", "cloud_tpus"))
    rounds = [
        round(cost, -4) == 10_000 and abs(cost - 10_000) < 1_000 for cost in (by_chip, by_device)
    ]
    return found(
        any(rounds), chips=by_chip, devices=by_device, per_chip=10_000 / (hours * large["chips"])
    )


def one_hour() -> Found:
    """The largest fine-tuning at the speed that the paper's half hour for SQuAD implies, with three
    epochs or two, operations counted as in chapter 18b.
    """
    squad, squad_of_two, mnli = (  # with the backward pass three times the operations
        3 * epochs * examples * sum(cost.bert_flops(BertConfig.LARGE, length).values())
        for epochs, examples, length in ((3, 88_000, 384), (2, 88_000, 384), (3, 392_702, 128))
    )
    speed, speed_of_two = squad / (30 * 60), squad_of_two / (30 * 60)
    minutes, minutes_of_two = mnli / speed / 60, mnli / speed_of_two / 60
    return found(
        minutes <= 60 and round(minutes_of_two / 60) == 1,
        minutes=minutes,
        minutes_of_two=minutes_of_two,
        speed=speed / 1e12,
        speed_of_two=speed_of_two / 1e12,
    )


def decay() -> Found:
    """Two weights whose gradients differ a hundredfold: L2 inside Adam pulls them unequally,
    decoupled decay equally.
    """
    pulled = {}
    for name, optimizer_class in {"l2": torch.optim.Adam, "decoupled": torch.optim.AdamW}.items():
        shrunk = []
        for decay in (0.0, 0.01):
            weights = torch.nn.Parameter(torch.ones(2, dtype=torch.float64))
            optimizer = optimizer_class([weights], lr=1e-3, betas=(0.9, 0.999), weight_decay=decay)
            for step in range(100):
                weights.grad = torch.tensor([1.0, 0.01], dtype=torch.float64) * (-1) ** step
                optimizer.step()
            shrunk.append(weights.detach())
        pulled[name] = shrunk[0] - shrunk[1]
    ratio = {name: (pull[1] / pull[0]).item() for name, pull in pulled.items()}
    return found(
        abs(ratio["l2"] - ratio["decoupled"]) < 0.1, l2=ratio["l2"], decoupled=ratio["decoupled"]
    )


def loss_alone() -> Found:
    """Without a mask, what stands at position 5 already reaches position 4, which is to guess it;
    with the causal mask it does not.
    """
    encoder, x = Encoder(2, 16, 2, 32).eval(), torch.randn(1, 8, 16)
    other = x.clone()
    other[0, 5] += 1
    change = {}
    with torch.no_grad():
        for name, mask in {"open": None, "causal": causal_mask(8)}.items():
            change[name] = (encoder(x, mask) - encoder(other, mask))[0, 4].abs().max().item()
    assert change["causal"] == 0
    return found(change["open"] < 1e-6)


# ------------------------------------------------------------------------------- how it was trained


def warm_up() -> Found:
    """The rate of a million steps: the library's schedule against Hugging Face's, with torch's Adam
    as it comes.
    """
    warmup, total, rate = 10_000, 1_000_000, 1e-4
    ours = training.bert_schedule(warmup, total)
    optimizer = torch.optim.AdamW([torch.nn.Parameter(torch.zeros(1))], lr=rate, weight_decay=0.01)
    (theirs,) = get_linear_schedule_with_warmup(optimizer, warmup, total).lr_lambdas
    rates = [rate * ours(step) for step in (warmup // 2, warmup, total // 2, total)]
    same = all(abs(ours(step) - theirs(step)) < 1e-12 for step in range(0, total + 1, 500))
    highest = max(range(0, total + 1, 500), key=ours)
    return found(
        same
        and highest == warmup
        and rates[-1] == 0
        and optimizer.defaults["betas"] == (0.9, 0.999),
        highest=highest,
        half=1e4 * rates[2],
        authors=1e4 * rate * (1 - warmup / total),
    )


def dropout_everywhere() -> Found:
    """Places where base drops, and how much, ours and Hugging Face's; and that in training such a
    share of the embeddings is zero.
    """
    with torch.device("meta"):
        ours, theirs = (
            Bert(BertConfig.BASE),
            TheirBody(TheirConfig(attn_implementation="eager"), add_pooling_layer=False),
        )
    rates = [module.p for module in ours.modules() if isinstance(module, torch.nn.Dropout)]
    rates += [block.self_attention.attention.dropout for block in ours.encoder.blocks]
    their_rates = [module.p for module in theirs.modules() if isinstance(module, torch.nn.Dropout)]
    embeddings = Bert(
        BertConfig(100, d_model=64, n_layers=1, n_heads=2, d_ff=64, max_len=64)
    ).embeddings.train()
    tokens = torch.randint(100, (64, 64))
    share = (embeddings(tokens, torch.zeros_like(tokens)) == 0).float().mean().item()
    return found(
        rates == their_rates and set(rates) == {0.1} and abs(share - 0.1) < 0.01,
        places=len(rates),
        share=share,
    )
