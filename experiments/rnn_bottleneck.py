"""One vector for a whole sentence: how many numbers can a translator hold in it? (chapter 1)

    python experiments/rnn_bottleneck.py
        three seeds, five minutes on one core; writes book/results/bottleneck.json

Lists of one to four numbers below 1,000, English to German. Every model sees the same batches,
equally many. Measured every 200 steps on lists that were not trained on: the share that is right
from the first word to the last, by the number of items; five is more than any model has seen. Then,
for those that look at the source: how often the most looked-at word is the right one.
"""

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR

from lectures_lib import data, results
from lectures_lib.blocks.recording import record
from lectures_lib.decoding import greedy
from lectures_lib.metrics import exact_match
from lectures_lib.models import seq2seq
from lectures_lib.models.seq2seq import Seq2Seq, Seq2SeqConfig
from lectures_lib.models.transformer import Transformer, TransformerConfig
from lectures_lib.training import fit, translation_loss

SEEDS = [0, 1, 2]
STEPS, BATCH_SIZE, EVERY = 800, 32, 200
TRAINED, TESTED = (1, 2, 3, 4), (1, 2, 3, 4, 5)
TEST_SIZE = 200

Tokens = tuple[list[str], list[str]]


def tokens(split: str, counts: tuple[int, ...], size: int) -> list[Tokens]:
    """Pairs of an English and a German list, cut into words."""
    pairs = data.load("translation", split, counts=counts, size=size)
    return [(data.number_tokens(pair["en"]), data.number_tokens(pair["de"])) for pair in pairs]


TRAIN = tokens("train", TRAINED, 20_000)
TEST = {k: tokens("test", (k,), TEST_SIZE) for k in TESTED}
# One vocabulary for both languages, because the Transformer has one matrix for both.
WORDS = data.WordVocabulary.build(side for pair in TRAIN for side in pair)


def encode(pairs: list[Tokens]) -> list[tuple[list[int], list[int]]]:
    """Words to numbers."""
    return [
        (WORDS.encode(source, eos=True), WORDS.encode(target, bos=True, eos=True))
        for source, target in pairs
    ]


def recurrent(attention: str | None) -> tuple[nn.Module, float, int]:
    """A recurrent model, its learning rate, and the number of steps in which the rate rises to
    that.
    """
    return Seq2Seq(Seq2SeqConfig(len(WORDS), len(WORDS), attention=attention)), 5e-3, 1


def transformer() -> tuple[nn.Module, float, int]:
    """A Transformer with about as many parameters."""
    config = TransformerConfig(
        len(WORDS), d_model=64, n_heads=4, n_layers=2, d_ff=256, dropout=0.0, pre_norm=True
    )
    return Transformer(config), 5e-3, 100


MODELS = {
    "gru": lambda: recurrent(None),
    "additive": lambda: recurrent("additive"),
    "dot": lambda: recurrent("dot"),
    "transformer": transformer,
}


def accuracies(model: nn.Module) -> dict[str, float]:
    """The share of lists translated without a mistake, for each number of items."""
    shares = {}
    for k, pairs in TEST.items():
        batch = data.pad_pairs(encode(pairs))
        decoded = greedy(
            model, batch.source, batch.source_lengths, begin=data.BOS, end=data.EOS, max_len=9 * k
        )
        shares[str(k)] = exact_match(
            [WORDS.decode(ids) for ids in decoded.sentences()], [target for _, target in pairs]
        )
    return shares


@torch.no_grad()
def alignment(model: nn.Module) -> dict[str, float]:
    """How often the most looked-at source word is the right one; in the Transformer by head, as
    "layer/head".
    """
    pairs = [pair for k in TRAINED for pair in TEST[k]]
    batch = data.pad_pairs(encode(pairs))
    model.eval()
    with record(model) as seen:
        model(batch.source, batch.read, batch.source_lengths)
    if isinstance(model, Seq2Seq):
        found = {"decoder": seq2seq.alignment(seen)}
    else:
        blocks = seen.all("decoder.blocks.*.cross_attention.weights")
        found = {
            f"layer_{i}/head_{j}": block[:, j]
            for i, block in enumerate(blocks)
            for j in range(model.config.n_heads)
        }
    right = [data.number_alignment(source, target) for source, target in pairs]
    return {
        name: share_right(weights.argmax(dim=-1).tolist(), right) for name, weights in found.items()
    }


def share_right(looked: list[list[int]], right: list[list[set[int]]]) -> float:
    """The share of German words that looked at (one of) their English words; the end token and
    padding behind them do not count.
    """
    hits = [
        i in of_word
        for row, of_words in zip(looked, right, strict=True)
        for i, of_word in zip(row, of_words, strict=False)
    ]
    return sum(hits) / len(hits)


def measure(name: str, seed: int) -> dict:
    """Train one model and measure it."""
    torch.manual_seed(seed)
    model, learning_rate, warmup = MODELS[name]()
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    scheduler = LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / warmup))
    batches = data.Batches(encode(TRAIN), data.pad_pairs, batch_size=BATCH_SIZE, seed=seed)
    options = {
        "steps": STEPS,
        "clip": 1.0,
        "evaluate": accuracies,
        "evaluate_every": EVERY,
        "progress": False,
    }
    history = fit(model, batches, translation_loss, optimizer, scheduler, **options)
    measured = {
        "by_step": history.evaluations,
        "n_parameters": sum(p.numel() for p in model.parameters()),
    }
    if name != "gru":
        measured["alignment"] = alignment(model)
    print(
        f"seed {seed}, {name:>11}: "
        + " ".join(f"{share:.3f}" for share in history.evaluations[STEPS].values()),
        flush=True,
    )
    return measured


def main() -> None:
    """Train every model with every seed and write the file."""
    torch.set_num_threads(1)  # matrices this small are no faster with two
    runs = {name: [measure(name, seed) for seed in SEEDS] for name in MODELS}
    spread = results.spread
    steps = range(EVERY, STEPS + 1, EVERY)
    accuracy = {
        name: {
            str(step): {
                str(k): spread([run["by_step"][step][str(k)] for run in of]) for k in TESTED
            }
            for step in steps
        }
        for name, of in runs.items()
    }
    measured = {
        "accuracy": accuracy,
        # Of a Transformer's heads, the best one: which it is differs from seed to seed.
        "best_alignment": {
            name: spread([max(run["alignment"].values()) for run in of])
            for name, of in runs.items()
            if name != "gru"
        },
        "n_parameters": {name: of[0]["n_parameters"] for name, of in runs.items()},
        "n_test": {str(k): len(pairs) for k, pairs in TEST.items()},
    }
    title = (
        f"Lists of number words, English to German: exact match by steps (of {BATCH_SIZE} lists) "
        f"and number of items"
    )
    results.save("bottleneck", measured, title, seeds=SEEDS)


if __name__ == "__main__":
    main()
