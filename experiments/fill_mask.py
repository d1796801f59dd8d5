"""MiniLM learns to fill holes again: its real weights, trained further behind our masked-word head
(chapter 13).

    LECTURES_DATA=<mirror> python experiments/fill_mask.py --checkpoint <file>
        an hour on one core; writes fill_mask_cpu.json
    … the same command once more
        goes on where it was stopped, to the same weights
    python experiments/fill_mask.py --size full --checkpoint <file>
        a quarter of an hour on a GPU; writes fill_mask.json and the model that comes with the book
    python experiments/fill_mask.py --size smoke
        a minute, written nowhere

all-MiniLM-L6-v2 was trained to compare sentences, and published without a head for words. The texts
are the sentences of WikiText-2, of SQuAD's paragraphs and of the English Web Treebank, a sentence
alone or with those that follow it. What is asked of the held-out ones is what BERT is asked: 15 %
of the tokens chosen, those behind [MASK] told. What the training costs the sentence vectors is
measured on STS-B. The model is written as differences to MiniLM's own weights, in 8 and 4 bits
(`stored`, where `equal` is the share of the holes for which its likeliest word is still the same).
"""

import argparse
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from rounding import words_for_holes
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR

from lectures_lib import data, metrics, results, stored
from lectures_lib.data.documents import articles, sentences
from lectures_lib.data.hub import read_split
from lectures_lib.files import written_whole
from lectures_lib.metrics import spearman
from lectures_lib.models import minilm
from lectures_lib.models.bert import BertForPreTraining
from lectures_lib.tasks.sentence_bert import SentenceBert
from lectures_lib.tokenization import WordPiece
from lectures_lib.training import bert_schedule, fit
from lectures_lib.training.pretraining import (
    PreTrainingBatch,
    evaluate,
    fill_mask,
    mask_tokens,
    masked_word_loss,
)

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
PROBES = [
    "The capital of France is [MASK].",
    "The keys to the cabinet [MASK] on the table.",
    "She went to the bank to deposit her [MASK].",
    "He was born in London in [MASK].",
    "The opposite of hot is [MASK].",
    "It was raining, so she took an [MASK].",
]
TITLE = (
    "MiniLM, trained further to fill holes: perplexity and accuracy behind [MASK] on held-out "
    "text, and what it costs sentence vectors"
)


@dataclass(frozen=True)
class Size:
    """How long, and on how much: steps of at most `max_tokens` tokens, inputs of at most
    `max_len`.
    """

    steps: int
    max_tokens: int
    max_len: int
    rate: float
    evaluate_every: int
    n_documents: int | None = None
    dropout: float = 0.0
    mixed_precision: str = "no"
    file: str | None = None  # in book/results


SIZES = {
    "smoke": Size(4, 512, 48, 3e-4, 2, 40),
    "cpu": Size(1_600, 2_048, 96, 3e-4, 200, file="fill_mask_cpu"),
    "full": Size(
        6_000, 16_384, 128, 5e-4, 500, dropout=0.1, mixed_precision="bf16", file="fill_mask"
    ),
}


class HoleBatches:
    """Sentences, alone or joined with those that follow them, as batches of like length with holes;
    every epoch anew.

    Args:
        documents: each a list of sentences, these lists of ids.
        tokenizer: whose [CLS], [SEP], [MASK] and words are meant.
        max_len: the most tokens of an input, [CLS] and [SEP] counted.  max_tokens: of a batch,
            padding counted.
        seed: decides everything that is left to chance.
    """

    ALONE = 0.4  # of the inputs: what a reader types is a single sentence

    def __init__(
        self,
        documents: list[list[list[int]]],
        tokenizer: WordPiece,
        max_len: int,
        max_tokens: int,
        seed: int = 0,
    ):
        self.documents, self.max_len, self.max_tokens, self.seed = (
            documents,
            max_len,
            max_tokens,
            seed,
        )
        self.cls_id, self.sep_id, self.mask_id, self.unk_id = (
            tokenizer.token_id(f"[{name}]") for name in ("CLS", "SEP", "MASK", "UNK")
        )
        self.words = range(1_000, len(tokenizer))  # below stand unused places and single signs

    def inputs(self, number: int) -> list[tuple[list[int]]]:
        """The inputs of an epoch, with [CLS] and [SEP]."""
        rng, found = random.Random(f"inputs, seed {self.seed}, epoch {number}"), []
        for document in self.documents:
            together: list[int] = []
            for sentence in document:
                alone = rng.random() < self.ALONE
                if together and (alone or len(together) + len(sentence) > self.max_len - 2):
                    found.append(together)
                    together = []
                together = [*together, *sentence][: self.max_len - 2]
                if alone:
                    found.append(together)
                    together = []
            found += [together] * bool(together)
        return [([self.cls_id, *ids, self.sep_id],) for ids in found]

    def epoch(self, number: int) -> Iterator[PreTrainingBatch]:
        """The batches of epoch 0, 1, 2, …"""
        batches = data.Batches(
            self.inputs(number), data.pad_texts, max_tokens=self.max_tokens, seed=self.seed
        )
        for i, batch in enumerate(batches.epoch(number)):
            chance = random.Random(f"masks, seed {self.seed}, epoch {number}, batch {i}")
            yield self.masked(*batch, torch.Generator().manual_seed(chance.getrandbits(63)))

    def masked(self, ids: Tensor, lengths: Tensor, generator: torch.Generator) -> PreTrainingBatch:
        """A batch with holes. Words that the text itself has as unknown are never asked for."""
        padding = torch.arange(ids.shape[1]) >= lengths[:, None]
        special = padding | (ids == self.cls_id) | (ids == self.sep_id) | (ids == self.unk_id)
        tokens, chosen = mask_tokens(ids, special, self.mask_id, self.words, generator=generator)
        return PreTrainingBatch(
            tokens,
            torch.zeros_like(ids),
            lengths,
            ids,
            chosen,
            torch.zeros(len(ids), dtype=torch.long),
        )


def wikitext(split: str) -> list[list[str]]:
    """WikiText-2's articles, as sentences."""
    wiki, _ = read_split("Salesforce/wikitext/wikitext-2-v1", split)
    return articles(
        row["text"].replace("@-@", "-").replace("@,@", ",").replace("@.@", ".") for row in wiki
    )


def documents(split: str) -> list[list[str]]:
    """WikiText-2's articles, SQuAD's paragraphs and the treebank's sentences, as sentences."""
    squad, _ = read_split("rajpurkar/squad/plain_text", split)
    trees, _ = read_split("universal-dependencies/universal_dependencies/en_ewt", split)
    found = wikitext(split)
    found += [sentences(context) for context in dict.fromkeys(row["context"] for row in squad)]
    found += [[row["text"] for row in trees]]
    return [document for document in found if document]


def encoded(texts: list[list[str]], tokenizer: WordPiece) -> list[list[list[int]]]:
    """The same as ids; WikiText's own sign for a rare word is [UNK]."""
    import tokenizers

    # the same pieces, sooner
    fast = tokenizers.Tokenizer.from_file(str(minilm.checkpoint() / "tokenizer.json"))
    fast.no_truncation()
    fast.no_padding()
    unknown = [tokenizer.token_id(piece) for piece in ("<", "un", "##k", ">")]
    found = []
    for document in texts:
        rows = fast.encode_batch(document, add_special_tokens=False)
        found.append(
            [
                _with_unknown(row.ids, unknown, tokenizer.token_id("[UNK]"))
                for row in rows
                if row.ids
            ]
        )
    return found


def _with_unknown(ids: list[int], pieces: list[int], unknown: int) -> list[int]:
    found, i = [], 0
    while i < len(ids):
        if ids[i : i + len(pieces)] == pieces:
            found.append(unknown)
            i += len(pieces)
        else:
            found.append(ids[i])
            i += 1
    return found


def words_only(model: nn.Module, batch: PreTrainingBatch) -> Tensor:
    """The loss of the masked words."""
    words = model(batch.tokens, batch.segments, batch.lengths, at=batch.chosen).words
    return masked_word_loss(words, batch.original[batch.chosen])


@torch.no_grad()
def on_pairs(model: BertForPreTraining, tokenizer: WordPiece, n_pairs: int | None = None) -> float:
    """Spearman's correlation of the sentence vectors' cosines with people's scores, STS-B's
    validation split.
    """
    pairs = data.load("similarity", "validation", "real")[:n_pairs]
    encoder = SentenceBert(model.bert.eval(), tokenizer)
    first, second = (encoder.embed([pair[side] for pair in pairs]) for side in ("first", "second"))
    return spearman(
        (first * second).sum(dim=-1), torch.tensor([float(pair["score"]) for pair in pairs])
    )


def unigram(
    texts: list[list[list[int]]], asked: list[PreTrainingBatch], mask_id: int, n_words: int
) -> dict[str, float]:
    """What one knows who has only counted: perplexity and accuracy of the commonest tokens on the
    same questions.
    """
    counts = Counter(token for document in texts for sentence in document for token in sentence)
    shares = torch.tensor([counts[i] + 1.0 for i in range(n_words)])
    shares = shares / shares.sum()
    holes = torch.cat([batch.original[batch.chosen & (batch.tokens == mask_id)] for batch in asked])
    right = (holes == shares.argmax()).double().mean()
    return {"perplexity": shares[holes].log().mean().neg().exp().item(), "accuracy": right.item()}


def bits(model: BertForPreTraining) -> dict[str, int]:
    """How each matrix is kept: the layers' in 8 bits, the word pieces' vectors, half of all
    numbers, in 4.
    """
    return {
        name: 4 if name.endswith("tokens.weight") else 8
        for name, tensor in model.named_parameters()
        if tensor.dim() == 2
        and not name.startswith(("masked_words", "next_sentence", "bert.pooler"))
    }


def with_fresh_heads(dropout: float, seed: int = 0) -> BertForPreTraining:
    """MiniLM's body below two heads that know nothing: here the training begins."""
    model = stored.minilm_below_zeros()
    torch.manual_seed(seed)
    fresh = BertForPreTraining(replace(model.config, dropout=dropout))
    fresh.bert.load_state_dict(model.bert.state_dict())
    return fresh


def main() -> None:
    """Train, measure, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", choices=SIZES, default="cpu")
    parser.add_argument("--checkpoint", type=Path, help="where the run is kept, and taken up again")
    options = parser.parse_args()
    size = SIZES[options.size]
    if DEVICE.type == "cpu":
        torch.set_num_threads(1)
    tokenizer = WordPiece.load(minilm.checkpoint() / "vocab.txt")
    texts, held_out = (
        encoded(documents(split)[: size.n_documents], tokenizer)
        for split in ("train", "validation")
    )
    n_tokens = sum(len(sentence) for document in texts for sentence in document)
    print(f"{n_tokens:,} tokens to train on", flush=True)
    batches = HoleBatches(texts, tokenizer, size.max_len, size.max_tokens)
    asked = list(HoleBatches(held_out, tokenizer, size.max_len, size.max_tokens, seed=99).epoch(0))[
        :60
    ]
    model, begun = with_fresh_heads(size.dropout).to(DEVICE), time.perf_counter()

    def look(model: nn.Module) -> dict[str, float]:
        scores = evaluate(model, asked, batches.mask_id)
        print(
            f"{time.perf_counter() - begun:6.0f} s: perplexity {scores.perplexity:.1f}, accuracy "
            f"{scores.accuracy:.3f}",
            flush=True,
        )
        for probe in PROBES:
            print(
                "   ",
                probe,
                "→",
                ", ".join(
                    f"{guess.token} {guess.probability:.2f}"
                    for guess in fill_mask(model, tokenizer, probe)[0]
                ),
            )
        return {"perplexity": scores.perplexity, "accuracy": scores.accuracy}

    measured = {
        "settings": {"steps": size.steps, "tokens_a_step": size.max_tokens, "tokens": n_tokens},
        "unigram": unigram(texts, asked, batches.mask_id, len(tokenizer)),
        "pairs": {"before": on_pairs(model, tokenizer, size.n_documents)},
    }
    trained = [
        p
        for name, p in model.named_parameters()
        if "pooler" not in name and not name.startswith("next_sentence")
    ]
    optimizer = torch.optim.AdamW(trained, lr=size.rate, betas=(0.9, 0.98), weight_decay=0.01)
    schedule = LambdaLR(optimizer, bert_schedule(size.steps // 20, size.steps))
    every = size.evaluate_every
    kept = (
        {"checkpoint": options.checkpoint, "resume": True, "save_every": every}
        if options.checkpoint
        else {}
    )
    how = {
        "steps": size.steps,
        "clip": 1.0,
        "evaluate": look,
        "evaluate_every": every,
        "progress": False,
        "mixed_precision": size.mixed_precision,
        **kept,
    }
    history = fit(model.train(), batches, words_only, optimizer, schedule, **how)

    measured["curve"] = {str(step): scores for step, scores in history.evaluations.items()}
    measured["trained"] = look(model.eval())
    measured["pairs"]["after"] = on_pairs(model, tokenizer, size.n_documents)
    if size.file is None:
        return
    before = stored.minilm_below_zeros().state_dict()
    # the better of the two comes with the book
    folder = stored.FOLDER if size.file == "fill_mask" else Path(tempfile.mkdtemp())
    path = folder / "fill_mask.safetensors"
    after = {
        name: before[name] if name.startswith("next_sentence") else tensor.cpu()
        for name, tensor in model.state_dict().items()
    }
    with written_whole(path) as part:
        save_file(stored.packed(before, after, bits(model)), part)
    said = words_for_holes(model, asked, batches.mask_id)
    model.load_state_dict(stored.added(before, load_file(path)))
    measured["stored"] = {
        **look(model),
        "equal": metrics.exact_match(words_for_holes(model, asked, batches.mask_id), said),
        "megabytes": path.stat().st_size / 1e6,
        "pairs": on_pairs(model, tokenizer),
    }
    results.save(size.file, measured, TITLE, [0])


if __name__ == "__main__":
    main()
