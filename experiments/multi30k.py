"""A Transformer learns to translate Multi30k's 29,000 image captions, from scratch (chapter 8).

    python experiments/multi30k.py                  a smoke run: minutes on two cores, to see that all works; nothing is written
    python experiments/multi30k.py --size cpu       both directions, one seed: an hour or two; writes book/results/multi30k_cpu.json
    python experiments/multi30k.py --size full      both directions, three seeds, on a GPU; writes book/results/multi30k.json

The captions come from the mirror that LECTURES_DATA names, or from the hub. Both languages share one BPE vocabulary, learned on
the training captions. What is tested is the mean of the last five sets of weights (Vaswani et al. 2017, section 6.1), by beam
search. BLEU is sacrebleu's, as written and in lower case; the signatures are kept with the scores.
"""

import argparse
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR

from lectures_lib import data, results
from lectures_lib.decoding import beam, greedy
from lectures_lib.metrics import bleu
from lectures_lib.models.transformer import Transformer, TransformerConfig
from lectures_lib.tokenization import BPE
from lectures_lib.training import fit, transformer_schedule, translation_loss

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
SPECIALS = ["<pad>", "<s>", "</s>"]  # their ids are data.PAD, data.BOS and data.EOS
AVERAGED = 5


@dataclass(frozen=True)
class Size:
    """How large a model, for how long, on how much."""

    model: TransformerConfig
    steps: int
    evaluate_every: int
    max_tokens: int  # in a batch, source and target together
    warmup: int
    rate: float  # times the paper's schedule
    n_train: int | None
    n_test: int | None
    file: str | None = None  # in book/results
    seeds: tuple[int, ...] = (0,)
    mixed_precision: str = "no"


# Wu et al. (2021) found a small model best on so few sentences: 4 layers, width 128, feed-forward 256, 4 heads.
SMALLER = TransformerConfig(5_000, d_model=128, n_heads=4, n_layers=4, d_ff=256, dropout=0.1, pre_norm=True)
SMALL = replace(TransformerConfig.SMALL, dropout=0.3, pre_norm=True)
SIZES = {
    "smoke": Size(replace(TransformerConfig.TINY, vocab_size=1_000), 150, 75, 2_048, 50, 0.5, 4_000, 50),
    "cpu": Size(SMALLER, 4_600, 460, 2_048, 800, 1.0, None, None, "multi30k_cpu", (0,), "bf16"),
    "full": Size(SMALL, 6_000, 200, 10_000, 1_000, 1.0, None, None, "multi30k", (0, 1, 2), "bf16"),
}

Pairs = list[tuple[list[int], list[int]]]


class Translator:
    """A model with its subwords, from one language to the other."""

    def __init__(self, model: nn.Module, subwords: BPE, source: str, target: str):
        self.model, self.subwords, self.source, self.target = model, subwords, source, target

    def encode(self, captions: list[dict[str, str]]) -> Pairs:
        """Captions as token ids."""
        encode = self.subwords.encode
        return [([*encode(c[self.source]), data.EOS], [data.BOS, *encode(c[self.target]), data.EOS]) for c in captions]

    def translate(self, captions: list[dict[str, str]], search: Callable, batch_size: int = 100) -> list[str]:
        """Translations, in the order of the captions; equally long ones are translated together."""
        pairs = self.encode(captions)
        order = sorted(range(len(pairs)), key=lambda i: len(pairs[i][0]))
        translations = [""] * len(pairs)
        for start in range(0, len(order), batch_size):
            rows = order[start : start + batch_size]
            ids, lengths = data.pad([pairs[i][0] for i in rows])
            decoded = search(
                self.model,
                ids.to(DEVICE),
                lengths.to(DEVICE),
                begin=data.BOS,
                end=data.EOS,
                max_len=ids.shape[1] + 50,  # as in the paper, section 6.1
                never=(data.PAD, data.BOS),
            )
            for i, sentence in zip(rows, decoded.sentences(), strict=True):
                translations[i] = self.subwords.decode(sentence, skip_specials=True)
        return translations

    def bleu(self, captions: list[dict[str, str]], search: Callable) -> dict[str, tuple[float, str]]:
        """BLEU of the captions' translations, as written and in lower case, with the signatures."""
        hypotheses, references = self.translate(captions, search), [caption[self.target] for caption in captions]
        return {name: tuple(bleu(hypotheses, references, lowercase=name == "lowercase")) for name in ("cased", "lowercase")}


def mean_weights(snapshots: deque[dict[str, Tensor]]) -> dict[str, Tensor]:
    """The mean of several sets of weights."""
    return {name: torch.stack([snapshot[name] for snapshot in snapshots]).mean(dim=0) for name in snapshots[0]}


def measure(size: Size, captions: dict[str, list], subwords: BPE, source: str, target: str, seed: int) -> dict:
    """Train one translator and test it."""
    torch.manual_seed(seed)
    model = Transformer(replace(size.model, vocab_size=len(subwords))).to(DEVICE)
    translator = Translator(model, subwords, source, target)
    batches = data.Batches(translator.encode(captions["train"]), data.pad_pairs, max_tokens=size.max_tokens, seed=seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=size.rate, betas=(0.9, 0.98), eps=1e-9)  # section 5.3
    scheduler = LambdaLR(optimizer, transformer_schedule(size.model.d_model, size.warmup))
    snapshots: deque[dict[str, Tensor]] = deque(maxlen=AVERAGED)

    def evaluate(model: nn.Module) -> dict[str, float]:
        snapshots.append({name: weight.detach().clone() for name, weight in model.state_dict().items()})
        score = translator.bleu(captions["validation"], greedy)["cased"][0]
        print(f"  validation, greedy: {score:.2f}", flush=True)
        return {"bleu": score}

    start = time.perf_counter()
    history = fit(
        model,
        batches,
        partial(translation_loss, smoothing=0.1),
        optimizer,
        scheduler,
        steps=size.steps,
        clip=1.0,
        mixed_precision=size.mixed_precision,
        evaluate=evaluate,
        evaluate_every=size.evaluate_every,
        progress=False,
    )
    minutes = (time.perf_counter() - start) / 60
    model.load_state_dict(mean_weights(snapshots))
    test = translator.bleu(captions["test"], beam)
    print(
        f"{source}-{target}, seed {seed}: {test['cased'][0]:.2f} on test, {minutes:.1f} minutes; {captions['test'][0][source]!r} →", end=" "
    )
    print(translator.translate(captions["test"][:1], beam), flush=True)
    return {
        "test": test,
        "validation": {step: scores["bleu"] for step, scores in history.evaluations.items()},
        "n_parameters": sum(p.numel() for p in model.parameters()),
        "minutes": minutes,
    }


def summary(runs: list[dict]) -> dict:
    """The spread over the seeds, as it is written."""
    scores = {name: results.spread([run["test"][name][0] for run in runs]) for name in ("cased", "lowercase")}
    signatures = {f"signature_{name}": runs[0]["test"][name][1] for name in scores}
    curves = {str(step): results.spread([run["validation"][step] for run in runs]) for step in runs[0]["validation"]}
    minutes = results.spread([run["minutes"] for run in runs])
    return scores | signatures | {"validation_by_step": curves, "n_parameters": runs[0]["n_parameters"], "minutes": minutes}


def main() -> None:
    """Train, test, and write the file if the size is the full one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=SIZES, default="smoke")
    parser.add_argument("--seeds", type=int, nargs="+", default=None, help="0 1 2 for the full size, 0 for the others")
    parser.add_argument("--directions", nargs="+", choices=["en-de", "de-en"], default=["en-de", "de-en"])
    arguments = parser.parse_args()
    size = SIZES[arguments.size]
    seeds = arguments.seeds or list(size.seeds)
    limits = {"train": size.n_train, "validation": size.n_test, "test": size.n_test}
    captions = {split: data.load("translation", split, source="real")[:limit] for split, limit in limits.items()}
    texts = [text for caption in captions["train"] for text in caption.values()]
    subwords = BPE.train(texts, size.model.vocab_size, SPECIALS)
    print(f"{len(captions['train'])} captions to train on, {len(subwords)} subwords, {DEVICE}", flush=True)
    measured = {}
    for direction in arguments.directions:
        source, target = direction.split("-")
        measured[direction] = summary([measure(size, captions, subwords, source, target, seed) for seed in seeds])
        if size.file is not None:  # after each direction: what is measured is not lost
            model = f"{size.model.n_layers} + {size.model.n_layers} layers, d_model {size.model.d_model}"
            title = f"Multi30k, test 2016: sacrebleu of a Transformer trained from scratch ({model}), {size.steps} steps"
            results.save(size.file, measured, title, seeds=seeds)


if __name__ == "__main__":
    main()
