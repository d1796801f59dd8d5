"""Are there trees in the distances between MiniLM's vectors? The structural probe on UD English
(chapter 16c).

    LECTURES_DATA=<mirror> python experiments/structural_probe.py
        three seeds, some minutes on one core; book/results/structural_probe.json
    LECTURES_DATA=<mirror> python experiments/structural_probe.py --smoke
        a few sentences, to see that it runs; writes structural_probe_smoke.json

A seed draws the sentences (probes are trained on some of the train split, told on some of the test
split), the first B of each probe, and the weights of the BERT that was never trained. How many
steps, which rate and which rank was settled on the chapter's own validation sentences.
"""

import argparse
import random

import torch

from lectures_lib import data, results
from lectures_lib.analysis.perturbed_masking import Edge, chain, gold_edges, not_punctuation, uuas
from lectures_lib.analysis.structural import fit_structural_probe, structural_score
from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert
from lectures_lib.tasks.word_level import word_states
from lectures_lib.tokenization import WordPiece

SIZES = {"cpu": (1_000, 400, (0, 1, 2)), "smoke": (20, 20, (0, 1))}


def draw(split: str, n: int, seed: int) -> list[dict]:
    """n sentences of 5 to 30 words."""
    fitting = [s for s in data.load("treebank", split, "real") if 5 <= len(s["words"]) <= 30]
    return random.Random(seed).sample(fitting, n)


def read(
    model: Bert, tokenizer: WordPiece, sentences: list[dict]
) -> tuple[list[torch.Tensor], list[set[Edge]]]:
    """Each sentence's vectors in all states, (states, words, d_model), and its links; without
    punctuation.
    """
    kept = [not_punctuation(s["upos"]) for s in sentences]
    states = word_states(model, tokenizer, [s["words"] for s in sentences])
    links = [gold_edges(s["heads"], k) for s, k in zip(sentences, kept, strict=True)]
    return [x[:, k] for x, k in zip(states, kept, strict=True)], links


def measure(n_train: int, n_test: int, seed: int, tokenizer: WordPiece) -> dict:
    """The UUAS of both models' states, and of the chain."""
    train, test = draw("train", n_train, seed), draw("test", n_test, seed)
    torch.manual_seed(seed)
    trained = Bert.from_pretrained(minilm.checkpoint())
    found = {}
    for name, model in {"minilm": trained, "untrained": Bert(trained.config).eval()}.items():
        (states, links), (asked, gold) = (read(model, tokenizer, part) for part in (train, test))
        found["chain"] = uuas([chain(len(edges) + 1) for edges in gold], gold)
        found[name] = {}
        for state in range(len(states[0])):
            probe = fit_structural_probe([x[state] for x in states], links, seed=seed)
            found[name][str(state)] = structural_score(probe, [x[state] for x in asked], gold)
            print(seed, name, state, round(found[name][str(state)], 3), flush=True)
    print(seed, "chain", round(found["chain"], 3), flush=True)
    return found


def main() -> None:
    """All seeds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--smoke", action="store_true")
    chosen = "smoke" if parser.parse_args().smoke else "cpu"
    torch.set_num_threads(1)
    n_train, n_test, seeds = SIZES[chosen]
    tokenizer = WordPiece.load(minilm.checkpoint() / "vocab.txt")
    runs = [measure(n_train, n_test, seed, tokenizer) for seed in seeds]
    results.save(
        "structural_probe" if chosen == "cpu" else "structural_probe_smoke",
        {"sentences": {"train": n_train, "test": n_test}} | results.spreads(runs),
        "the share of the gold trees' links found by structural probes, UD English",
        seeds=list(seeds),
    )


if __name__ == "__main__":
    main()
