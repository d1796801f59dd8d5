"""Left-to-right language models trained for longer than a page has time, each beside a model that
only counts (chapter 10).

    python experiments/language_models.py
        a smoke run: a minute on two cores, to see that all works; nothing is written
    python experiments/language_models.py --size cpu --runs <folder>
        Shakespeare's plays letter by letter, an hour and a half of a core; writes
        book/results/language_models_cpu.json and the model that comes with the book
    … the same command once more
        goes on where it was stopped, to the same weights; with other `--seeds`, these are added to
        those of the file
    python experiments/language_models.py --size wikitext --runs <folder>
        WikiText-2 in subwords, two hours of a core; language_models_wikitext.json and a model
    python experiments/language_models.py --size full --runs <folder>
        three seeds of a larger one, on a GPU; language_models.json

Tiny Shakespeare (Karpathy 2015) comes from the mirror that LECTURES_DATA names, or from the hub.
Its letters are ASCII, so a byte is a character. The hub's last two twentieths of the text,
validation and test, are together what nanoGPT calls validation, and the numbers of both, and of
both together, are reported: in nats a character, which no tokenizer changes. Every character is
predicted once with at most `context` characters before it, in pieces as the model was trained on
(`blocks`), and once with at least half a context before it (`sliding`). The model that counts
always sees all that it can use.

WikiText-2 (Merity et al. 2017) is the version with 33,278 words: a rarer one stands as "<unk>" in
the text, which is five characters here, and easy to guess. Its subwords are learned from the text
to train on. All models read the same subwords, and what they lose is shared out over characters.
"""

import argparse
import json
import random
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR

from lectures_lib import data, decoding, metrics, results, stored
from lectures_lib.files import write_whole
from lectures_lib.models.language_model import LanguageModel, LanguageModelConfig
from lectures_lib.models.ngrams import KneserNey
from lectures_lib.tokenization import BPE
from lectures_lib.training import bert_schedule, fit

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
END = "<end>"


@dataclass(frozen=True)
class Corpus:
    """A text, and how it is cut: into bytes, or into as many subwords."""

    source: str
    name: str
    stored: str
    n_tokens: int = 257
    sample: str = "\n"  # what a sample goes on from


CORPORA = {
    "shakespeare": Corpus("karpathy/tiny_shakespeare", "Tiny Shakespeare", "shakespeare"),
    "wikitext": Corpus(
        "Salesforce/wikitext/wikitext-2-v1", "WikiText-2", "wikitext", 4096, "\n = "
    ),
}


@dataclass(frozen=True)
class Size:
    """How large a model, for how long, on how much."""

    model: LanguageModelConfig
    steps: int
    batch_size: int
    rate: float
    warmup: int = 200
    evaluate_every: int = 500
    orders: tuple[int, ...] = (2, 3, 4, 5, 6, 7, 8)  # of the models that count
    n_characters: int | None = None
    corpus: str = "shakespeare"
    file: str | None = None  # in book/results
    stored: bool = False  # does its model come with the book?
    seeds: tuple[int, ...] = (0,)
    mixed_precision: str = "no"

    def of_a_run(self) -> dict[str, Any]:
        """What a single run depends on, as its file keeps it."""
        others = ("evaluate_every", "orders", "file", "stored", "seeds")
        return {name: value for name, value in asdict(self).items() if name not in others}


def config(
    d_model: int, n_layers: int, n_heads: int, dropout: float, context: int, n_tokens: int = 257
):
    """GPT-2's plan; over single bytes and one end token, where nothing else is said."""
    return LanguageModelConfig(
        n_tokens, d_model, n_heads, n_layers, 4 * d_model, dropout, max_len=context
    )


SIZES = {
    "smoke": Size(config(32, 2, 2, 0.0, 64), 60, 8, 5e-3, 10, 30, (2, 3), 40_000),
    "cpu": Size(
        config(192, 4, 6, 0.1, 256), 7_000, 8, 3e-3, file="language_models_cpu", stored=True
    ),
    "wikitext": Size(
        config(192, 4, 6, 0.0, 256, n_tokens=4096),
        6_000,
        8,
        3e-3,
        orders=(2, 3, 4, 5),
        corpus="wikitext",
        file="language_models_wikitext",
        stored=True,
    ),
    # nanoGPT's own size and length
    "full": Size(
        config(384, 6, 6, 0.2, 256),
        5_000,
        64,
        1e-3,
        100,
        file="language_models",
        seeds=(0, 1, 2),
        mixed_precision="bf16",
    ),
}


@dataclass(frozen=True)
class Split:
    """A text as tokens, and how many characters all but the first of them are."""

    ids: list[int]
    n_characters: int


def cut(text: str, tokens: BPE) -> Split:
    """The text as tokens."""
    ids = tokens.encode(text)
    return Split(ids, len(tokens.decode(ids[1:])))


class Pieces:
    """A long text in pieces of n tokens to predict, cut at other places in every epoch."""

    def __init__(self, ids: list[int], n: int, batch_size: int, seed: int):
        self.ids, self.n, self.batch_size, self.seed = ids, n, batch_size, seed

    def epoch(self, number: int) -> Iterator[data.TextBatch]:
        """The batches of epoch 0, 1, 2, …"""
        start = random.Random(f"seed {self.seed}, epoch {number}").randrange(self.n)
        pieces = [(piece,) for piece in data.blocks(self.ids[start:], self.n)]
        return data.Batches(
            pieces, data.pad_texts, batch_size=self.batch_size, seed=self.seed, by_length=False
        ).epoch(number)


def next_token_loss(model: nn.Module, batch: data.TextBatch) -> Tensor:
    """Mean cross-entropy of each next token."""
    return F.cross_entropy(model(batch.read).flatten(0, 1), batch.predicted.flatten())


def windows(ids: list[int], context: int, stride: int) -> Iterator[tuple[Tensor, int]]:
    """A text in windows of the whole context, (1, context + 1) or shorter, that move on by
    `stride`; with each, how many of its first tokens were predicted in the one before.
    """
    known = 0
    for start in range(0, len(ids) - 1, stride):
        window = torch.tensor([ids[start : start + context + 1]], device=DEVICE)
        yield window, known - start
        known = start + window.shape[1] - 1
        if known == len(ids) - 1:
            break


@torch.no_grad()
def log_probabilities(model: LanguageModel, ids: list[int], stride: int) -> Tensor:
    """log P of each token but the first, (len(ids) - 1,): in windows of the whole context that move
    on by `stride`, of which all but the first give their last `stride` tokens' only.
    """
    cut = windows(ids, model.config.max_len, stride)
    return torch.cat([model.log_probabilities(window)[0, known:].cpu() for window, known in cut])


@torch.no_grad()
def likeliest(model: LanguageModel, ids: list[int], stride: int) -> Tensor:
    """The token that the model would have written in place of each but the first, in such
    windows.
    """
    cut = windows(ids, model.config.max_len, stride)
    return torch.cat(
        [model(window[:, :-1])[0, known:].argmax(dim=-1).cpu() for window, known in cut]
    )


def nats(log_p: Tensor, n_characters: int) -> float:
    """The loss of a text, shared out over its characters."""
    return -log_p.double().sum().item() / n_characters


def of_splits(log_p: dict[str, Tensor], texts: dict[str, Split]) -> dict[str, float]:
    """Nats a character of each split, and of both together."""
    n = {split: texts[split].n_characters for split in log_p}
    return {split: nats(found, n[split]) for split, found in log_p.items()} | {
        "both": nats(torch.cat(list(log_p.values())), sum(n.values()))
    }


def sample(model: LanguageModel, tokens: BPE, prompt: str) -> str:
    """What the model writes behind the prompt, as far as it can look back."""
    begin = tokens.encode(prompt)
    drawn = decoding.sample(
        model,
        torch.tensor([begin], device=DEVICE),
        end=tokens.token_id(END),
        max_len=model.config.max_len - len(begin),
        temperature=0.8,
        generator=torch.Generator(DEVICE).manual_seed(0),
    )
    return tokens.decode(drawn.sentences()[0])


def count(texts: dict[str, Split], size: Size, folder: Path) -> dict[str, dict]:
    """The models that count, by their order."""
    return {str(order): count_grams(texts, size, order, folder) for order in size.orders}


def count_grams(texts: dict[str, Split], size: Size, order: int, folder: Path) -> dict:
    """One model that counts."""
    measured = folder / f"counted_{order}_{size.n_characters}.json"
    if not measured.exists():
        begun = time.perf_counter()
        counting = KneserNey(texts["train"].ids, order, size.model.vocab_size)
        log_p = {
            split: torch.tensor(counting.log_probabilities(texts[split].ids))
            for split in ("validation", "test")
        }
        found = {
            "n_grams": sum(map(len, counting.counts)),
            "nats": of_splits(log_p, texts),
            "seen": {split: seen(counting, texts[split].ids) for split in log_p},
            "seconds": time.perf_counter() - begun,
        }
        write_whole(measured, json.dumps(found))
    return json.loads(measured.read_text())


def seen(counting: KneserNey, ids: list[int]) -> float:
    """Share of a text's n-grams that stood in the text that was counted."""
    known, n = counting.counts[-1], counting.order
    grams = [tuple(ids[i : i + n]) for i in range(len(ids) - n + 1)]
    return sum(gram in known for gram in grams) / len(grams)


def measure(size: Size, texts: dict[str, Split], tokens: BPE, seed: int, folder: Path) -> dict:
    """Train one model and test it."""
    measured, settings = folder / f"seed_{seed}.json", size.of_a_run()
    if found := results.kept_run(measured, settings):
        return found
    torch.manual_seed(seed)
    model = LanguageModel(size.model).to(DEVICE)
    n = size.model.max_len
    # as nanoGPT: matrices decay, the rest does not
    matrices = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() <= 1]
    optimizer = torch.optim.AdamW(
        [{"params": matrices, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}],
        lr=size.rate,
        betas=(0.9, 0.99),
    )
    scheduler = LambdaLR(optimizer, bert_schedule(size.warmup, size.steps))
    begun = time.perf_counter()

    def evaluate(model: LanguageModel) -> dict[str, float]:
        validation = texts["validation"]
        found = nats(log_probabilities(model, validation.ids, n), validation.n_characters)
        minutes = (time.perf_counter() - begun) / 60
        print(f"  step {scheduler.last_epoch}, {minutes:.1f} minutes: {found:.4f}", flush=True)
        return {"nats": found, "minutes": minutes}

    history = fit(
        model,
        Pieces(texts["train"].ids, n, size.batch_size, seed),
        next_token_loss,
        optimizer,
        scheduler,
        steps=size.steps,
        clip=1.0,
        mixed_precision=size.mixed_precision,
        evaluate=evaluate,
        evaluate_every=size.evaluate_every,
        checkpoint=folder / f"seed_{seed}.checkpoint",
        save_every=size.evaluate_every,
        resume=True,
        progress=False,
    )
    model.eval()

    held_out = ("validation", "test")

    def lost(model: LanguageModel, stride: int) -> dict[str, float]:
        return of_splits(
            {s: log_probabilities(model, texts[s].ids, stride) for s in held_out}, texts
        )

    found = {name: lost(model, stride) for name, stride in (("blocks", n), ("sliding", n // 2))}
    found |= {
        "size": settings,
        "validation": {str(step): at["nats"] for step, at in history.evaluations.items()},
        "n_parameters": sum(p.numel() for p in model.parameters()),
        "minutes": results.in_all([at["minutes"] for at in history.evaluations.values()]),
    }
    if size.stored and seed == 0:
        name = CORPORA[size.corpus].stored
        stored.save_language_model(model, tokens, name)
        # read anew: what `stored.language_model` gives may be the model of before
        kept = stored.load_halves(
            stored.FOLDER / f"language_model_{name}.safetensors", LanguageModelConfig, LanguageModel
        ).to(DEVICE)
        same = [
            metrics.exact_match(*(likeliest(m, texts[s].ids, n // 2) for m in (kept, model)))
            for s in held_out
        ]
        found["stored"] = lost(kept, n // 2) | {"equal": dict(zip(held_out, same, strict=True))}
    write_whole(measured, json.dumps(found, indent=1))
    print(f"seed {seed}: {found}")
    print(sample(model, tokens, CORPORA[size.corpus].sample))
    return found


def summary(runs: dict[int, dict], record: dict | None = None) -> tuple[dict, list[int]]:
    """The spread over the seeds, as it is written, and the seeds.

    Args:
        runs: what was measured, by the seed.
        record: that of the results file; its runs of other seeds are kept.

    Raises:
        ValueError: where the two are runs of different models, or were looked at after other steps.
    """
    earlier = record["results"]["trained"] if record else {}
    n_parameters = next(iter(runs.values()))["n_parameters"]
    if earlier.get("n_parameters", n_parameters) != n_parameters:
        raise ValueError(
            f"the file's model has {earlier['n_parameters']} parameters, this one {n_parameters}: "
            f"move the file away first"
        )
    # as a run names them, and as they are written
    names = {"minutes": "minutes", "validation": "validation_by_step"}
    names |= {way: way for way in ("blocks", "sliding")}
    found, seeds = results.together(
        {seed: {own: run[name] for name, own in names.items()} for seed, run in runs.items()},
        {own: earlier[own] for own in names.values()} if earlier else None,
        record["seeds"] if record else [],
    )
    kept = runs.get(0, {}).get("stored", earlier.get("stored"))
    return {"n_parameters": n_parameters, **found} | ({"stored": kept} if kept else {}), seeds


def main() -> None:
    """Count, train, test, and write the file if the size has one."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", choices=SIZES, default="smoke")
    parser.add_argument("--seeds", type=int, nargs="+", default=None)
    parser.add_argument(
        "--runs", type=Path, help="a folder: in FOLDER/size, runs are kept and taken up again"
    )
    arguments = parser.parse_args()
    size = SIZES[arguments.size]
    folder = results.folder_of_runs(arguments.runs, arguments.size)
    seeds = arguments.seeds or list(size.seeds)
    corpus = CORPORA[size.corpus]
    plain = {
        split: "".join(data.load("language_model", split, corpus.source))[: size.n_characters]
        for split in ("train", "validation", "test")
    }
    tokens = BPE.train(plain["train"].splitlines(), vocab_size=corpus.n_tokens, specials=[END])
    texts = {name: cut(text, tokens) for name, text in plain.items()}
    print(f"{len(texts['train'].ids)} tokens to learn from, {DEVICE}", flush=True)
    counted = count(texts, size, folder)
    print(f"counted: {counted}", flush=True)
    title = (
        f"{corpus.name}, nats a character: a GPT of {size.model.n_layers} layers, d_model "
        f"{size.model.d_model}, {size.steps} steps, and n-gram models that count"
    )
    record = size.file and results.to_add_to(size.file, title, size.of_a_run())
    runs = {seed: measure(size, texts, tokens, seed, folder) for seed in seeds}
    if size.file is None:
        return
    trained, seeds = summary(runs, record)
    measured = {"counted": counted, "trained": trained}
    results.save(size.file, measured, title, seeds, settings=size.of_a_run())


if __name__ == "__main__":
    main()
