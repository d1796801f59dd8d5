"""The probes of the live figure "A sentence, read by probes" (book/live.md, chapter 16b): what they
read from MiniLM as it is published and from its rounding to 8 bits, which a page fetches.

    python experiments/live_probes.py
        half a minute of one core; writes book/results/live_probes.json

They are chapter 16b's: for tags, and for labels drawn at random (seed 0), on each hidden state,
from the 114 sentences of the treebank's train and validation splits; the 40 of its test split are
asked.
"""

import tempfile
from pathlib import Path

import torch
from torch import Tensor

from lectures_lib import data, results, stored
from lectures_lib.analysis.probing import Probed, control_labels, fit_probe, label_ids
from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert, BertConfig
from lectures_lib.tasks.word_level import word_states
from lectures_lib.tokenization import WordPiece

TITLE = "Probes for tags and for drawn labels: MiniLM as published against its rounding to 8 bits"


def rounded(body: Bert) -> Bert:
    """The body as a page fetches it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "eight_bits.safetensors")
        stored.save_eight_bits(body, path)
        return stored.load_eight_bits(path, BertConfig, Bert)


def states(body: Bert, tokenizer: WordPiece, sentences: list[dict]) -> Tensor:
    """Every word's vectors, (states, words, d_model)."""
    words = [sentence["words"] for sentence in sentences]
    return torch.cat(word_states(body, tokenizer, words), dim=1)


@torch.no_grad()
def said(x: Tensor, labels: Tensor, asked: Tensor, n_classes: int) -> Tensor:
    """What a probe of each state, trained on x, says of the asked words, (states, words)."""
    answers = []
    for state in range(len(x)):
        only = slice(state, state + 1)
        with torch.enable_grad():
            probe = fit_probe(Probed(x[only], labels), n_classes)
        answers.append(probe(asked[only]).argmax(dim=-1))
    return torch.stack(answers)


def keyed(values: Tensor) -> dict[str, float]:
    """By state."""
    return {str(state): value for state, value in enumerate(values.tolist())}


def main() -> None:
    """Train, ask, write."""
    torch.set_num_threads(1)
    learn = [*data.load("treebank", "train"), *data.load("treebank", "validation")]
    test = data.load("treebank", "test")
    words, tags = (
        [one for sentence in [*learn, *test] for one in sentence[field]]
        for field in ("words", "upos")
    )
    names = sorted(set(tags))
    n = sum(len(sentence["words"]) for sentence in learn)
    real = label_ids(tags, names)
    tasks = {"tag": real, "control": control_labels(words, real)}
    published = Bert.from_pretrained(minilm.checkpoint()).eval()
    tokenizer = WordPiece.load(minilm.checkpoint() / "vocab.txt")
    found = {"sentences": len(learn), "words": len(words) - n}
    read = {}
    for name, body in {"stored": published, "eight_bits": rounded(published)}.items():
        x, asked = (states(body, tokenizer, part) for part in (learn, test))
        right = {}
        for task, labels in tasks.items():
            read[name, task] = said(x, labels[:n], asked, len(names))
            right[task] = (read[name, task] == labels[n:]).float().mean(dim=1)
        selectivity = right["tag"] - right["control"]
        found[name] = {
            **{task: keyed(shares) for task, shares in right.items()},
            "selectivity": keyed(selectivity),
        }
        print(name, found[name], flush=True)
    same = read["stored", "tag"] == read["eight_bits", "tag"]
    found["same_tag"] = same.float().mean().item()
    results.save("live_probes", found, TITLE, [0])


if __name__ == "__main__":
    main()
