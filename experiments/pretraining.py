"""How well does a small BERT fill holes, and which masking rate and split serve it best (chapter
13)?

    python experiments/pretraining.py
        three seeds, about half an hour on one core; writes book/results/pretraining.json
    python experiments/pretraining.py --only paper
        some of the variants only (the others are kept from the last run)
    python experiments/pretraining.py --begin
        the chapter's own run up to step 1,000, kept with the library: the page trains the rest
    python experiments/pretraining.py --kept
        seconds: what is kept with the library, asked once more

Every variant is trained on the same text and asked the same: 15 % of held-out tokens chosen, those
behind [MASK] told. The baselines count tokens, and tokens behind their left neighbour.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice

import torch
from rounding import equal_words
from torch import nn
from torch.optim.lr_scheduler import LambdaLR

from lectures_lib import data, results, stored
from lectures_lib.blocks.layers import initialise
from lectures_lib.blocks.positions import sinusoidal_positions
from lectures_lib.models.bert import BertConfig, BertForPreTraining
from lectures_lib.tokenization import WordPiece
from lectures_lib.training import bert_schedule, fit
from lectures_lib.training.pretraining import (
    MaskingRates,
    PreTrainingBatches,
    evaluate,
    pretraining_loss,
)

SEEDS = [0, 1, 2]
BEGUN = 1000  # of the steps, for the page


@dataclass(frozen=True)
class Size:
    """How large a model, on what, for how long (`bert_ablations` has others).

    Args:
        source: of the text.  config: sizes of the model; its vocabulary and positions are those
            below.  vocab: word pieces.
        max_len, batch: of the inputs.  steps: how long to train.
        rate: the highest learning rate.  wide: whether the first weights are larger than BERT's.
    """

    source: str
    config: BertConfig
    vocab: int
    max_len: int
    batch: int
    steps: int
    rate: float
    wide: bool


SIZE = Size(
    source="offline",
    config=replace(BertConfig.TINY, d_model=64, d_ff=256),
    vocab=1000,
    max_len=32,
    batch=64,
    steps=1600,
    rate=6e-3,
    wide=True,
)
FULL_RATE = 0.4  # of the chapter's own run
VARIANTS = {  # masking rates and the share of random pairs; None: no next-sentence task
    "chapter": (MaskingRates(FULL_RATE), 0.5),
    "paper": (MaskingRates(), 0.5),
    "rate_5": (MaskingRates(0.05), 0.5),
    "always_mask": (MaskingRates(FULL_RATE, 1.0, 0.0), 0.5),
    "no_nsp": (MaskingRates(FULL_RATE), None),
}


def new_model(size: Size, n_words: int, seed: int) -> BertForPreTraining:
    """A fresh model. Narrow ones start with larger weights and with sinusoids as positions, as in
    the chapter.
    """
    torch.manual_seed(seed)
    config = replace(size.config, vocab_size=n_words, max_len=size.max_len)
    model = BertForPreTraining(config)
    if size.wide:
        initialise(model)
        embeddings, d = model.bert.embeddings, config.d_model
        for table in (embeddings.tokens.weight, embeddings.segments.weight):
            nn.init.normal_(table, std=d**-0.5)
        embeddings.positions.weight.data = sinusoidal_positions(size.max_len, d) * (2 / d) ** 0.5
    return model


def words_only(model: nn.Module, batch) -> torch.Tensor:
    """The first loss without the second."""
    words = model(batch.tokens, batch.segments, batch.lengths, at=batch.chosen).words
    return nn.functional.cross_entropy(words, batch.original[batch.chosen])


def train(
    size: Size,
    variant: str,
    documents: list,
    tokenizer: WordPiece,
    seed: int,
    steps: int | None = None,
    examine: Callable[[nn.Module], dict] | None = None,
) -> BertForPreTraining:
    """One model of one variant. With `steps` it stops before the end, its learning rate where it
    is; `examine` is called after every 100.
    """
    rates, random_share = VARIANTS[variant]
    share = 0.0 if random_share is None else random_share
    sizes = {"max_len": size.max_len, "batch_size": size.batch}
    batches = PreTrainingBatches(
        documents, tokenizer, **sizes, rates=rates, random_share=share, seed=seed
    )
    model = new_model(size, len(tokenizer), seed)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=size.rate, betas=(0.9, 0.98), weight_decay=0.01
    )
    schedule = LambdaLR(optimizer, bert_schedule(size.steps // 20, size.steps))
    fit(
        model,
        batches,
        words_only if random_share is None else pretraining_loss,
        optimizer,
        schedule,
        steps=steps or size.steps,
        clip=1.0,
        evaluate=examine,
        evaluate_every=100,
        progress=False,
    )
    return model


def begin(size: Size, documents: list, tokenizer: WordPiece, asked: list) -> dict[str, dict]:
    """The chapter's run with seed 0, stopped after BEGUN of its steps: it and its word pieces go
    into the library. Returns its scores by step, and those of what is kept (`stored`).
    """
    by_step: dict[str, dict] = {}

    def examine(model: nn.Module) -> dict:
        scores = evaluate(model, asked, tokenizer.token_id("[MASK]"))
        by_step[str(100 * (len(by_step) + 1))] = {
            "perplexity": scores.perplexity,
            "next_sentence": scores.next_sentence,
        }
        print(len(by_step), scores, flush=True)
        return {}

    model = train(size, "chapter", documents, tokenizer, 0, steps=BEGUN, examine=examine)
    stored.save_halves(model, stored.FOLDER / "small_bert.safetensors")
    tokenizer.save(stored.FOLDER / "small_bert.json")
    kept = as_stored(tokenizer, asked)
    small, _ = stored.small_bert(stored.FOLDER / "small_bert.safetensors")
    kept["equal"] = equal_words(model, small, asked, tokenizer.token_id("[MASK]"))
    return {"begun": by_step, "stored": kept}


def as_stored(tokenizer: WordPiece, asked: list) -> dict[str, float]:
    """How well what is kept with the library does both tasks."""
    small, _ = stored.small_bert(stored.FOLDER / "small_bert.safetensors")
    scores = evaluate(small, asked, tokenizer.token_id("[MASK]"))
    return {name: getattr(scores, name) for name in ("perplexity", "accuracy", "next_sentence")}


class Table(nn.Module):
    """A model that only counts: the probabilities of every token, given the one to its left."""

    def __init__(self, probabilities: torch.Tensor):
        super().__init__()
        self.probabilities = probabilities

    def forward(self, tokens, segments, lengths, at):
        """Scores for the holes; none for the pairs."""
        return self.probabilities[tokens.roll(1, dims=1)[at]].log(), torch.zeros(len(tokens), 2)


def tables(documents: list, tokenizer: WordPiece) -> dict[str, Table]:
    """The unigram model, and the one that looks at the left neighbour."""
    n = len(tokenizer)
    rows = [
        torch.tensor(tokenizer.encode(sentence)) for document in documents for sentence in document
    ]
    unigram = torch.bincount(torch.cat(rows), minlength=n) + 1.0
    unigram = unigram / unigram.sum()
    follows = torch.zeros(n, n)
    left, right = torch.cat([row[:-1] for row in rows]), torch.cat([row[1:] for row in rows])
    follows.index_put_((left, right), torch.ones(len(left)), accumulate=True)
    neighbour = (follows + 50 * unigram) / (follows.sum(dim=1, keepdim=True) + 50)
    return {"unigram": Table(unigram.expand(n, n)), "left_neighbour": Table(neighbour)}


def main() -> None:
    """Every variant with every seed; the file is written after each variant."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="*", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--begin", action="store_true")
    parser.add_argument("--kept", action="store_true")
    options = parser.parse_args()
    size, name = SIZE, "pretraining"
    torch.set_num_threads(1)
    documents, held_out = (
        data.load("pretraining", split, size.source) for split in ("train", "validation")
    )
    tokenizer = WordPiece.train(
        [sentence for document in documents for sentence in document], size.vocab
    )
    asked = PreTrainingBatches(
        held_out, tokenizer, max_len=size.max_len, batch_size=32, seed=99
    ).epoch(0)
    asked, mask_id = list(islice(asked, 30)), tokenizer.token_id("[MASK]")
    try:
        measured = results.load(name)["results"]
    except FileNotFoundError:
        measured = {}
    measured["steps"] = size.steps
    for model_name, table in tables(documents, tokenizer).items():
        scores = evaluate(table, asked, mask_id)
        measured[model_name] = {"perplexity": scores.perplexity, "accuracy": scores.accuracy}
    title = (
        f"A small BERT's answers behind [MASK] on held-out text: perplexity, accuracy, and next "
        f"sentence ({size.steps} steps)"
    )
    if options.kept:
        measured["stored"] = measured.get("stored", {}) | as_stored(tokenizer, asked)
    if options.begin:
        measured |= begin(size, documents, tokenizer, asked)
    if options.begin or options.kept:
        results.save(name, measured, title, SEEDS)
        return
    for variant in options.only:
        found = []
        for seed in SEEDS:
            model = train(size, variant, documents, tokenizer, seed)
            found.append(evaluate(model, asked, mask_id))
            print(variant, seed, found[-1], flush=True)
        keys = ("perplexity", "accuracy", "next_sentence")
        measured[variant] = {
            key: results.spread([getattr(scores, key) for scores in found]) for key in keys
        }
        results.save(name, measured, title, SEEDS)


if __name__ == "__main__":
    main()
