"""Does the most looked-at word tell what a word is translated from? (chapter 8)

    python experiments/alignment.py
        five seeds, some minutes on one core; writes book/results/alignment.json

Lists of one or two numbers below 1,000, English to German, which all these models translate almost
without a mistake. For every German word of the test lists: is the English word with the largest
attention weight the one that it translates? Counted apart for the words that say digits ("sieben",
"zwanzig"), for "hundert", for "und" and for the comma. The Transformer has several heads: for each
kind of word the best one is taken, and the best one for the digits is followed through all kinds.
"""

from collections import defaultdict

import torch
from rnn_bottleneck import WORDS, Tokens, encode, tokens
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR

from lectures_lib import data, results
from lectures_lib.blocks.recording import record
from lectures_lib.decoding import greedy
from lectures_lib.metrics import exact_match
from lectures_lib.models import seq2seq
from lectures_lib.models.seq2seq import Seq2Seq, Seq2SeqConfig
from lectures_lib.models.transformer import Transformer, TransformerConfig
from lectures_lib.training import bert_schedule, fit, translation_loss

SEEDS = [0, 1, 2, 3, 4]
STEPS, BATCH_SIZE, WARMUP = 600, 64, 60
COUNTS = (1, 2)
KINDS = ("digits", "hundert", "und", "comma")

TRAIN = tokens("train", COUNTS, 20_000)
TEST = tokens("test", COUNTS, 400)
Shares = dict[str, float]


def recurrent(attention: str) -> tuple[nn.Module, float]:
    """A recurrent model with attention, and its highest learning rate."""
    return Seq2Seq(Seq2SeqConfig(len(WORDS), len(WORDS), attention=attention)), 5e-3


def transformer(n_layers: int) -> tuple[nn.Module, float]:
    """A Transformer of four heads a layer, as in chapter 8."""
    config = TransformerConfig(
        len(WORDS), d_model=64, n_heads=4, n_layers=n_layers, d_ff=256, dropout=0.0, pre_norm=True
    )
    return Transformer(config), 3e-3


MODELS = {
    "additive": lambda: recurrent("additive"),
    "dot": lambda: recurrent("dot"),
    "transformer_1": lambda: transformer(1),
    "transformer_2": lambda: transformer(2),
}


def kind(word: str) -> str:
    """What sort of word this is."""
    return word if word in ("hundert", "und") else "comma" if word == "," else "digits"


def looked_at(model: nn.Module, pairs: list[Tokens]) -> dict[str, Tensor]:
    """Each head's weights, `(batch, n_target, n_source)`, with the right words read before each
    (teacher forcing).
    """
    batch = data.pad_pairs(encode(pairs))
    with record(model) as seen:
        model(batch.source, batch.read, batch.source_lengths)
    if isinstance(model, Seq2Seq):
        return {"decoder": seq2seq.alignment(seen)}
    blocks = seen.all("decoder.blocks.*.cross_attention.weights")
    return {
        f"layer {i}, head {j}": block[:, j]
        for i, block in enumerate(blocks)
        for j in range(model.config.n_heads)
    }


def shares_right(weights: Tensor, pairs: list[Tokens]) -> Shares:
    """For each kind of German word and for all: the share that looks most at (one of) the words it
    translates.
    """
    hits: dict[str, list[bool]] = defaultdict(list)
    for row, (source, target) in zip(weights.argmax(dim=-1).tolist(), pairs, strict=True):
        for i, word, of_word in zip(
            row, target, data.number_alignment(source, target), strict=False
        ):
            hits[kind(word)].append(i in of_word)
            hits["all"].append(i in of_word)
    return {name: sum(found) / len(found) for name, found in hits.items()}


@torch.no_grad()
def alignment(model: nn.Module) -> dict[str, Shares]:
    """By kind of word: the head that is best at digits, and the best head for that kind."""
    heads = [shares_right(weights, TEST) for weights in looked_at(model, TEST).values()]
    of_digits = max(heads, key=lambda head: head["digits"])
    return {
        "one_head": of_digits,
        "best_for_each": {name: max(head[name] for head in heads) for name in of_digits},
    }


def measure(name: str, seed: int) -> dict:
    """Train one model and look where it looks."""
    torch.manual_seed(seed)
    model, rate = MODELS[name]()
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    batches = data.Batches(encode(TRAIN), data.pad_pairs, batch_size=BATCH_SIZE, seed=seed)
    schedule = LambdaLR(optimizer, bert_schedule(WARMUP, STEPS))
    fit(
        model, batches, translation_loss, optimizer, schedule, steps=STEPS, clip=1.0, progress=False
    )
    model.eval()
    batch = data.pad_pairs(encode(TEST))
    decoded = greedy(
        model,
        batch.source,
        batch.source_lengths,
        begin=data.BOS,
        end=data.EOS,
        max_len=9 * max(COUNTS),
    )
    right = exact_match(
        [WORDS.decode(ids) for ids in decoded.sentences()], [target for _, target in TEST]
    )
    measured = {"exact_match": right, **alignment(model)}
    print(
        f"seed {seed}, {name:>13}: {right:.3f} right;",
        {k: round(v, 2) for k, v in measured["one_head"].items()},
        flush=True,
    )
    return measured


def main() -> None:
    """Train every model with every seed and write the file."""
    torch.set_num_threads(1)  # matrices this small are no faster with two
    runs = {name: [measure(name, seed) for seed in SEEDS] for name in MODELS}
    spread = results.spread
    measured = {
        name: {
            "exact_match": spread([run["exact_match"] for run in of]),
            **{
                of_what: {k: spread([run[of_what][k] for run in of]) for k in (*KINDS, "all")}
                for of_what in ("one_head", "best_for_each")
            },
        }
        for name, of in runs.items()
    }
    title = (
        f"Lists of one or two number words: share of German words whose most looked-at English "
        f"word is theirs, after {STEPS} steps"
    )
    results.save("alignment", measured, title, seeds=SEEDS)


if __name__ == "__main__":
    main()
