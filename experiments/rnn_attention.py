"""Three ways to look at the source, and none: the settings of chapter 1, with four seeds.

    python experiments/rnn_attention.py
        ten minutes on one core; writes book/results/rnn_attention.json
    python experiments/rnn_attention.py --wide
        one minute; writes book/results/rnn_wide.json: the model without attention, so wide that it
        has about as many parameters as the one with additive attention

Lists of one to four numbers below 1,000, English to German; every model sees the same batches,
equally many, with the learning rate of the chapter. Measured on lists that were not trained on: the
share that is right from the first word to the last, by the number of items; the share of single
words that are right when the decoder is given the right ones before; and how often the most
looked-at word is the right one, "und" and the rest apart. Beside them a recurrent model without
attention on single numbers, and one with ten times the steps.
"""

import sys

import torch
from rnn_bottleneck import TEST, TRAIN, TRAINED, WORDS, accuracies, encode
from torch.optim.lr_scheduler import LambdaLR

from lectures_lib import data, results
from lectures_lib.blocks.recording import record
from lectures_lib.models import seq2seq
from lectures_lib.models.seq2seq import Seq2Seq, Seq2SeqConfig
from lectures_lib.training import bert_schedule, fit, translation_loss

SEEDS, PATIENT_SEEDS = [0, 1, 2, 3], [0, 1, 2]
STEPS, PATIENT_STEPS, BATCH_SIZE = 450, 4500, 32
SINGLE = [pair for pair in TRAIN if "," not in pair[0]]
WIDE = 180  # numbers of a state: 270,000 parameters, as many as additive attention has with 128


def train(
    attention: str | None,
    seed: int,
    steps: int = STEPS,
    pairs: list = TRAIN,
    d_hidden: int = 128,
) -> Seq2Seq:
    """One model, trained as the chapter does."""
    torch.manual_seed(seed)
    sizes = {"attention": attention, "d_hidden": d_hidden}
    model = Seq2Seq(Seq2SeqConfig(len(WORDS), len(WORDS), **sizes))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    scheduler = LambdaLR(optimizer, bert_schedule(20, steps))
    batches = data.Batches(encode(pairs), data.pad_pairs, batch_size=BATCH_SIZE, seed=seed)
    fit(
        model,
        batches,
        translation_loss,
        optimizer,
        scheduler,
        steps=steps,
        clip=1.0,
        progress=False,
    )
    return model.eval()


@torch.no_grad()
def word_accuracy(model: Seq2Seq) -> float:
    """The share of words, end tokens included, that are right when all words before them are given
    (teacher forcing).
    """
    batch = data.pad_pairs(encode([pair for k in TRAINED for pair in TEST[k]]))
    right = model(batch.source, batch.read, batch.source_lengths).argmax(dim=-1) == batch.predicted
    return right[batch.predicted != data.PAD].float().mean().item()


@torch.no_grad()
def alignment(model: Seq2Seq) -> dict[str, float]:
    """How often the most looked-at English word is the right one: all German words, and "und" and
    the others apart.
    """
    pairs = [pair for k in TRAINED for pair in TEST[k]]
    batch = data.pad_pairs(encode(pairs))
    with record(model) as seen:
        model(batch.source, batch.read, batch.source_lengths)
    hits: dict[str, list[bool]] = {"und": [], "other": []}
    for (source, target), row in zip(
        pairs, seq2seq.alignment(seen).argmax(dim=-1).tolist(), strict=True
    ):
        for word, of_word, i in zip(
            target, data.number_alignment(source, target), row, strict=False
        ):
            hits["und" if word == "und" else "other"].append(i in of_word)
    hits["all"] = hits["und"] + hits["other"]
    return {kind: sum(of) / len(of) for kind, of in hits.items()}


def measure(name: str, model: Seq2Seq, seed: int) -> dict:
    """Everything that is measured of one model."""
    exact = accuracies(model)
    print(
        f"seed {seed}, {name:>11}: " + " ".join(f"{share:.3f}" for share in exact.values()),
        flush=True,
    )
    measured = {"exact": exact, "words": word_accuracy(model)}
    return measured | ({"alignment": alignment(model)} if model.config.attention else {})


def wide() -> None:
    """The control: one vector, but as many parameters as with attention."""
    models = [train(None, seed, d_hidden=WIDE) for seed in SEEDS]
    runs = [measure("wide gru", model, seed) for model, seed in zip(models, SEEDS, strict=True)]
    count = sum(weight.numel() for weight in models[0].parameters())
    title = f"Lists of number words, no attention, states of {WIDE} numbers: exact match"
    results.save("rnn_wide", {**results.spreads(runs), "n_parameters": count}, title, seeds=SEEDS)


def main() -> None:
    """Train every model with every seed and write the file."""
    torch.set_num_threads(1)  # matrices this small are no faster with two
    if "--wide" in sys.argv:
        return wide()
    kinds = {"additive": "additive", "dot": "dot", "general": "general", "gru": None}
    measured = {
        name: results.spreads([measure(name, train(kind, seed), seed) for seed in SEEDS])
        for name, kind in kinds.items()
    }
    measured["single_numbers"] = results.spreads(
        [measure("single", train(None, seed, pairs=SINGLE), seed) for seed in SEEDS]
    )
    patient = [
        measure("patient gru", train(None, seed, PATIENT_STEPS), seed) for seed in PATIENT_SEEDS
    ]
    measured["gru_ten_times_the_steps"] = results.spreads(patient)
    measured["n_test"] = {str(k): len(pairs) for k, pairs in TEST.items()}
    title = (
        f"Lists of number words after {STEPS} steps of {BATCH_SIZE} lists: exact match by number "
        f"of items, right words, right alignment"
    )
    results.save("rnn_attention", measured, title, seeds=SEEDS)


if __name__ == "__main__":
    main()
