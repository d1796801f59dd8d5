"""What eight bits cost the models that a page fetches in them (book/live.md): the same questions,
asked of the stored weights and of their rounding.

    LECTURES_DATA=… python experiments/eight_bits.py
        six minutes of one core; writes book/results/eight_bits.json after each part
    LECTURES_DATA=… python experiments/eight_bits.py --only answers
        one part; the others are kept from the last run

The model that fills holes is asked for words; MiniLM as it is published for cosines of sentences
and of words, and for its attention; MiniLM with thin matrices and heads, which stay as they are,
for verdicts, names, answers and scores.
"""

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F
from fill_mask import HoleBatches, documents, encoded
from fine_tuning_tasks import prepare
from torch import Tensor, nn

from lectures_lib import data, results, stored
from lectures_lib.blocks.recording import record
from lectures_lib.metrics import spearman
from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert, BertConfig, BertForPreTraining
from lectures_lib.tasks.sentence_bert import SentenceBert
from lectures_lib.tokenization import WordPiece
from lectures_lib.training.pretraining import PreTrainingBatch, evaluate

TITLE = "The models that pages fetch: stored weights against their rounding to 8 bits"
N_BATCHES = 20  # of text with holes
N_INSIDE = 300  # pairs of sentences whose tokens are looked at
N_QUESTIONS = 300  # of SQuAD
HEADS = {"sentiment": "sst2", "entities": "wnut", "answers": "squad", "similarity": "stsb"}


def rounded(model: nn.Module, made: Callable) -> tuple[nn.Module, float]:
    """The model as a page fetches it, and the megabytes of its file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "eight_bits.safetensors")
        stored.save_eight_bits(model, path)
        return stored.load_eight_bits(path, BertConfig, made), path.stat().st_size / 1e6


def moves(before: Tensor, after: Tensor) -> dict[str, float]:
    """How far numbers move, on average and at most."""
    moved = (after - before).abs()
    return {"moves": moved.mean().item(), "moves_at_most": moved.max().item()}


@torch.no_grad()
def answers(model: nn.Module, batches: list[PreTrainingBatch], mask_id: int) -> torch.Tensor:
    """The distribution at every hole."""
    found = []
    for batch in batches:
        at = batch.chosen & (batch.tokens == mask_id)
        found.append(model(batch.tokens, batch.segments, batch.lengths, at=at).words.softmax(-1))
    return torch.cat(found)


def holes() -> dict:
    """Words in holes of held-out text."""
    model, tokenizer = stored.fill_mask()
    coarse, megabytes = rounded(model, BertForPreTraining)
    texts = encoded(documents("validation"), tokenizer)
    batches = HoleBatches(texts, tokenizer, 128, 2048, seed=99)
    asked = list(batches.epoch(0))[:N_BATCHES]
    before, after = (answers(m, asked, batches.mask_id) for m in (model, coarse))
    best = before.argmax(dim=-1)
    scores = {
        name: evaluate(m, asked, batches.mask_id)
        for name, m in (("stored", model), ("eight_bits", coarse))
    }
    return {
        "holes": len(best),
        "megabytes": megabytes,
        "same_word": float((after.argmax(dim=-1) == best).float().mean()),
        "probability_moves": float((after - before).gather(1, best[:, None]).abs().mean()),
    } | {name: {"perplexity": s.perplexity, "accuracy": s.accuracy} for name, s in scores.items()}


def sentences(bodies: dict[str, Bert], tokenizer: WordPiece, pairs: list[dict]) -> dict:
    """Cosines of sentence vectors, and whether they order pairs as people do (STS-B)."""
    found, cosines = {}, []
    for name, bert in bodies.items():
        encoder = SentenceBert(bert, tokenizer)
        one, other = (encoder.embed([pair[side] for pair in pairs]) for side in ("first", "second"))
        cosines.append(F.cosine_similarity(one, other))
        found[name] = {"spearman": spearman(cosines[-1], [pair["score"] for pair in pairs])}
    return {"pairs": len(pairs), **moves(*cosines), **found}


@torch.no_grad()
def seen(bert: Bert, ids: list[int]) -> tuple[Tensor, Tensor]:
    """Of one text the attention, (layers, heads, n, n), and the vectors behind the last layer."""
    weights = "encoder.blocks.*.self_attention.weights"
    with record(bert, weights) as kept:
        hidden = bert(torch.tensor([ids])).hidden[0]
    return torch.cat(kept.all(weights)), hidden


def inside(bodies: dict[str, Bert], tokenizer: WordPiece, pairs: list[dict]) -> dict:
    """Where tokens look, and how alike a word's two vectors are in two sentences that share it."""
    looked, shared = [], []
    for pair in pairs:
        one, other = (tokenizer.pair(pair[side]).ids for side in ("first", "second"))
        # two tensors of each model: of the first sentence, of the second
        reads = [[seen(bert, ids) for ids in (one, other)] for bert in bodies.values()]
        looked += [(before, after) for (before, _), (after, _) in zip(*reads, strict=True)]
        common = [id_ for id_ in one[1:-1] if id_ in other[1:-1]]
        at = [[ids.index(id_) for id_ in common] for ids in (one, other)]
        shared.append(
            [F.cosine_similarity(u[at[0]], v[at[1]]) for (_, u), (_, v) in reads] if common else []
        )
    top = torch.cat([(a.argmax(-1) == b.argmax(-1)).flatten() for a, b in looked])
    shares = [torch.cat([sides[i].flatten() for sides in looked]) for i in (0, 1)]
    words = [torch.cat([cosines[i] for cosines in shared if cosines]) for i in (0, 1)]
    same = top.float().mean().item()
    return {
        "attention": {"rows": len(top), "same_token": same, **moves(*shares)},
        "words": {"pairs": len(words[0]), **moves(*words)},
    }


def head(task: str, body: Bert) -> dict:
    """A task's measures with the stored body and with the rounded one; how many of the answers
    (to the words, of names) stay as they were, or how far scores move.
    """
    setting = prepare(HEADS[task])
    if task == "answers":
        setting.asked = setting.asked[:N_QUESTIONS]
    path = stored.FOLDER / f"{task}.safetensors"
    models = {"stored": stored.load_adapted(path), "eight_bits": stored.load_adapted(path, body)}
    said = {name: setting.said(model) for name, model in models.items()}
    measured = {
        name: setting.task.measure(answers, setting.asked) for name, answers in said.items()
    }
    if task == "similarity":
        return {"pairs": len(setting.asked), **moves(*map(torch.tensor, said.values())), **measured}
    each = [
        [label for labels in answers for label in labels] if task == "entities" else answers
        for answers in said.values()
    ]
    same = [one == other for one, other in zip(*each, strict=True)]
    return {"asked": len(setting.asked), "same_answer": sum(same) / len(same), **measured}


def parts() -> dict[str, Callable[[], dict]]:
    """What can be asked, by its name; each gives its numbers under the names in the file."""
    published = Bert.from_pretrained(minilm.checkpoint(), dropout=0.0).eval()
    tokenizer = WordPiece.load(minilm.checkpoint() / "vocab.txt")

    def bodies() -> dict[str, Bert]:
        return {"stored": published, "eight_bits": rounded(published, Bert)[0]}

    def pairs() -> list[dict]:
        return list(data.load("similarity", "validation", "real"))

    def of_head(task: str) -> Callable[[], dict]:
        return lambda: {task: head(task, rounded(published, Bert)[0])}

    return {
        "holes": holes,
        "sentences": lambda: {"sentences": sentences(bodies(), tokenizer, pairs())},
        "inside": lambda: inside(bodies(), tokenizer, pairs()[:N_INSIDE]),
        **{task: of_head(task) for task in HEADS},
    }


def main() -> None:
    """Ask both, write."""
    asked = parts()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="*", choices=asked, default=list(asked))
    chosen = parser.parse_args().only
    measured = {} if chosen == list(asked) else results.load("eight_bits")["results"]
    for name in chosen:
        measured |= asked[name]()
        results.save("eight_bits", measured, TITLE, [])
        print(name, "measured", flush=True)
    print(measured)


if __name__ == "__main__":
    main()
