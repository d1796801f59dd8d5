"""What do BERT's choices bring, in a small BERT on real text? (chapter 13c)

    python experiments/bert_ablations.py --size smoke
        a minute, to see that all works; nothing is written
    python experiments/bert_ablations.py --runs FOLDER
        every variant, three seeds each, on WikiText-2, two hours of one core; writes
        book/results/bert_ablations.json; run again with the same folder, it goes on
    python experiments/bert_ablations.py --only paper no_nsp --runs FOLDER
        some of the variants only; what the file says of the others is kept, and of other seeds
        (`--seeds 0 1` takes fewer: so the left-to-right model, a slower one, was trained)
    python experiments/bert_ablations.py --size full --runs FOLDER
        a larger one, trained longer, on a GPU; bert_ablations_full.json (with
        --only, runs can be trained side by side in the same folder)

One thing at a time is changed in the paper's recipe: how many tokens are chosen, whether there is a
second task, and whether the model may look to both sides. All are trained for as many steps on as
many tokens, and all are asked the same: 15 % of held-out tokens chosen, those behind [MASK] told.
The left-to-right model has the same sizes and answers for every token of a step; it is asked for
the same tokens, and sees all that stands to their left.
"""

import argparse
import json
import time
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from pretraining import SEEDS, Size, new_model, tables, words_only
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR

from lectures_lib import data, results
from lectures_lib.files import write_whole
from lectures_lib.models.bert import BertConfig
from lectures_lib.models.language_model import LanguageModel, LanguageModelConfig
from lectures_lib.modes import evaluating
from lectures_lib.tokenization import WordPiece
from lectures_lib.training import bert_schedule, fit
from lectures_lib.training.pretraining import (
    MaskingRates,
    PreTrainingBatch,
    PreTrainingBatches,
    evaluate,
    pretraining_loss,
)


@dataclass(frozen=True)
class Ablations(Size):
    """And how exactly it is computed, and where it is written."""

    mixed_precision: str = "no"
    file: str | None = "bert_ablations"  # in book/results

    def of_a_run(self) -> dict[str, Any]:
        """What a single run depends on, as its file keeps it."""
        return {name: value for name, value in asdict(self).items() if name != "file"}


SIZES = {
    "smoke": Ablations(
        "real",
        replace(BertConfig.TINY, d_model=32, n_layers=1, n_heads=2, d_ff=64),
        vocab=300,
        max_len=24,
        batch=8,
        steps=10,
        rate=4e-3,
        wide=True,
        file=None,
    ),
    "cpu": Ablations(
        "real",
        replace(BertConfig.TINY, d_model=128, n_layers=2, d_ff=512),
        vocab=4000,
        max_len=64,
        batch=32,
        steps=3000,
        rate=4e-3,
        wide=True,
    ),
    "full": Ablations(
        "real",
        BertConfig.SMALL,
        vocab=8000,
        max_len=128,
        batch=64,
        steps=6000,
        rate=5e-4,
        wide=False,
        mixed_precision="bf16",
        file="bert_ablations_full",
    ),
}
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
LEFT_TO_RIGHT = "left_to_right"
VARIANTS = {  # masking rates, and the share of random pairs; None: no next-sentence task
    "paper": (MaskingRates(), 0.5),
    "rate_40": (MaskingRates(0.4), 0.5),
    "always_mask": (MaskingRates(0.15, 1.0, 0.0), 0.5),
    "no_nsp": (MaskingRates(), None),
    LEFT_TO_RIGHT: (MaskingRates(), None),
}


def left_to_right_model(size: Ablations, n_words: int, seed: int) -> LanguageModel:
    """The same width, depth and vocabulary under a causal mask."""
    torch.manual_seed(seed)
    config = size.config
    return LanguageModel(
        LanguageModelConfig(
            n_words,
            config.d_model,
            n_heads=config.n_heads,
            n_layers=config.n_layers,
            d_ff=config.d_ff,
            dropout=config.dropout,
            max_len=size.max_len,
            activation=config.activation,
            pre_norm=False,
            learned_positions=False,
        )
    )


def every_next_token(model: LanguageModel, batch: PreTrainingBatch) -> Tensor:
    """The mean loss of every token but the first and the padding, each from those before it."""
    log_probabilities = model.log_probabilities(batch.original)
    places = torch.arange(1, batch.original.shape[1], device=batch.lengths.device)
    real = places < batch.lengths[:, None]
    return -log_probabilities[real].mean()


@torch.no_grad()
def asked_from_the_left(
    model: LanguageModel, batches: list[PreTrainingBatch], mask_id: int
) -> dict[str, float]:
    """Perplexity and accuracy for the same tokens that `evaluate` asks for, with nothing hidden to
    their left, and nothing seen to their right.
    """
    loss, right, n_words = 0.0, 0, 0
    device = next(model.parameters()).device
    for batch in batches:
        batch = PreTrainingBatch(*(part.to(device) for part in batch))
        hidden = batch.chosen & (batch.tokens == mask_id)
        with evaluating(model):
            scores = model(batch.original)[:, :-1][hidden[:, 1:]]
        original = batch.original[hidden]
        loss += F.cross_entropy(scores, original, reduction="sum").item()
        right += int((scores.argmax(dim=-1) == original).sum())
        n_words += len(original)
    return {
        "perplexity": torch.tensor(loss / n_words).exp().item(),
        "accuracy": right / n_words,
    }


def train(
    size: Ablations,
    variant: str,
    documents: list,
    tokenizer: WordPiece,
    seed: int,
    checkpoint: Path,
) -> nn.Module:
    """One model of one variant; stopped, it goes on from the checkpoint the next time."""
    rates, random_share = VARIANTS[variant]
    batches = PreTrainingBatches(
        documents,
        tokenizer,
        max_len=size.max_len,
        batch_size=size.batch,
        rates=rates,
        random_share=random_share or 0.0,
        seed=seed,
    )
    if variant == LEFT_TO_RIGHT:
        model, loss = left_to_right_model(size, len(tokenizer), seed), every_next_token
    else:
        model = new_model(size, len(tokenizer), seed)
        loss = words_only if random_share is None else pretraining_loss
    optimizer = torch.optim.AdamW(
        model.to(DEVICE).parameters(), lr=size.rate, betas=(0.9, 0.98), weight_decay=0.01
    )
    schedule = LambdaLR(optimizer, bert_schedule(size.steps // 20, size.steps))
    fit(
        model,
        batches,
        loss,
        optimizer,
        schedule,
        steps=size.steps,
        clip=1.0,
        mixed_precision=size.mixed_precision,
        checkpoint=checkpoint,
        save_every=max(1, size.steps // 20),
        resume=True,
        progress=False,
    )
    return model


def measure(
    size: Ablations,
    variant: str,
    documents: list,
    tokenizer: WordPiece,
    asked: list,
    seed: int,
    kept: Path,
) -> dict[str, float]:
    """One run, or what is kept of it."""
    settings = size.of_a_run()
    if found := results.kept_run(kept, settings):
        return found
    began = time.monotonic()
    kept.parent.mkdir(parents=True, exist_ok=True)
    model = train(size, variant, documents, tokenizer, seed, kept.with_suffix(".checkpoint"))
    mask_id = tokenizer.token_id("[MASK]")
    if variant == LEFT_TO_RIGHT:
        found = asked_from_the_left(model, asked, mask_id)
    else:
        scores = evaluate(model, asked, mask_id)
        found = {"perplexity": scores.perplexity, "accuracy": scores.accuracy}
        if VARIANTS[variant][1] is not None:
            found["next_sentence"] = scores.next_sentence
    found |= {"minutes": (time.monotonic() - began) / 60, "size": settings}
    write_whole(kept, json.dumps(found))
    print(variant, seed, found, flush=True)
    return found


def main() -> None:
    """Every variant with every seed, a seed at a time; the file is written after each seed, and
    what it holds of other seeds and variants stays.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", choices=SIZES, default="cpu")
    parser.add_argument("--only", nargs="*", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--seeds", nargs="*", type=int, default=SEEDS)
    parser.add_argument("--runs", type=Path, help="a folder: in FOLDER/size, runs are kept")
    options = parser.parse_args()
    folder = results.folder_of_runs(options.runs, options.size)
    torch.set_num_threads(1)
    size = SIZES[options.size]
    documents, held_out = (
        data.load("pretraining", split, size.source) for split in ("train", "validation")
    )
    tokenizer = WordPiece.train(
        [sentence for document in documents for sentence in document], size.vocab
    )
    asked = PreTrainingBatches(
        held_out, tokenizer, max_len=size.max_len, batch_size=size.batch, seed=99
    ).epoch(0)
    asked = list(islice(asked, 30))
    title = (
        f"BERT's choices one at a time, in a small BERT on WikiText-2 ({size.steps} steps): "
        "held-out tokens behind [MASK], and next sentence"
    )
    record = size.file and results.to_add_to(size.file, title, size.of_a_run())
    record = record or {"results": {}, "seeds": []}
    earlier = record["results"]
    earlier_seeds = {
        variant: record.get("seeds_of", {}).get(variant, record["seeds"])[
            : found["perplexity"]["n"]
        ]
        for variant, found in earlier.items()
        if variant in VARIANTS
    }
    measured, seeds_of = earlier | {"steps": size.steps}, dict(earlier_seeds)
    for name, table in tables(documents, tokenizer).items():
        scores = evaluate(table, asked, tokenizer.token_id("[MASK]"))
        measured[name] = {"perplexity": scores.perplexity, "accuracy": scores.accuracy}
    runs: dict[str, dict[int, dict]] = {variant: {} for variant in options.only}
    for seed in options.seeds:
        for variant, found in runs.items():
            kept = folder / f"{variant}_{seed}.json"
            run = measure(size, variant, documents, tokenizer, asked, seed, kept)
            found[seed] = {name: run[name] for name in run if name != "size"}
        for variant, found in runs.items():
            measured[variant], seeds_of[variant] = results.together(
                found, earlier.get(variant), earlier_seeds.get(variant, [])
            )
        if size.file is not None:
            seeds = sorted({seed for of in seeds_of.values() for seed in of})
            settings = {"settings": size.of_a_run(), "seeds_of": seeds_of}
            results.save(size.file, measured, title, seeds, **settings)


if __name__ == "__main__":
    main()
