"""What can be read off MiniLM's layers, heads and answers to [MASK], on UD English (chapters 16,
16b and 16c)?

    LECTURES_DATA=<mirror> python experiments/probing.py
        three seeds, about ten minutes on one core; book/results/probing.json
    LECTURES_DATA=<mirror> python experiments/probing.py --smoke
        a few sentences, to see that it runs; writes probing_smoke.json
    LECTURES_DATA=<mirror> python experiments/probing.py --size gpu --model bert-base-uncased
        ten times the sentences, an uncased BERT from the hub; writes
        probing_bert_base_uncased_gpu.json

A seed draws the sentences (probes and heads are trained and chosen on the train split, told on the
test split), the random labels of the control task, and the weights of the BERT that was never
trained. The file is written after each seed.
"""

import argparse
import random
from dataclasses import dataclass
from functools import cache

import torch

from lectures_lib import data, results
from lectures_lib.analysis.attention_statistics import best_heads, head_statistics, parsed
from lectures_lib.analysis.perturbed_masking import (
    chain,
    discounted,
    eisner,
    gold_edges,
    impact_matrix,
    linked_above_unlinked,
    not_punctuation,
    random_scores,
    spanning_tree,
    uuas,
)
from lectures_lib.analysis.probing import (
    Probed,
    centre_of_gravity,
    control_labels,
    cumulative_scores,
    differential_scores,
    expected_layer,
    fit_probe,
    label_ids,
    layer_scores,
    most_frequent_labels,
)
from lectures_lib.models import hugging_face, minilm
from lectures_lib.models.bert import Bert
from lectures_lib.tasks.word_level import word_attention, word_states
from lectures_lib.tokenization import WordPiece

POWERS = (0.0, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class Size:
    """How many sentences: to train and choose on, to report on, and of each for perturbed masking;
    how often a relation must come.
    """

    train: int
    test: int
    masked: int
    at_least: int
    seeds: tuple[int, ...]


SIZES = {
    "cpu": Size(400, 400, 120, 50, (0, 1, 2)),
    "gpu": Size(4_000, 1_500, 600, 200, (0, 1, 2)),
    "smoke": Size(30, 30, 6, 5, (0, 1)),
}
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@cache
def sentences_of(split: str) -> list[dict]:
    """UD English, read once."""
    return data.load("treebank", split, "real")


def draw(split: str, n: int, shortest: int, longest: int, seed: int) -> list[dict]:
    """n sentences of these lengths."""
    fitting = [s for s in sentences_of(split) if shortest <= len(s["words"]) <= longest]
    return random.Random(seed).sample(fitting, n)


def models(model: str, seed: int) -> dict[str, Bert]:
    """The model asked for, and a BERT of its size that has learned nothing."""
    torch.manual_seed(seed)
    trained = Bert.from_pretrained(minilm.checkpoint() if model == "minilm" else model)
    return {model: trained.to(DEVICE), "untrained": Bert(trained.config).to(DEVICE).eval()}


def labels_of(sentences: list[dict], task: str) -> list[str]:
    """All words' labels: tags, or relations without their subtypes."""
    found = [label for s in sentences for label in s["upos" if task == "tag" else "relations"]]
    return [label.split(":")[0] for label in found]


def keyed(values: list[float]) -> dict[str, float]:
    """A list as a dictionary by place."""
    return {str(i): value for i, value in enumerate(values)}


def probe_all(
    train: list[dict], test: list[dict], readers: dict[str, Bert], tokenizer: WordPiece, seed: int
) -> dict:
    """Both tasks on every hidden state of both models, with the control task and the baseline that
    knows words only.
    """
    words, asked = ([word for s in sentences for word in s["words"]] for sentences in (train, test))
    states = {
        name: [
            torch.cat(word_states(model, tokenizer, [s["words"] for s in sentences]), dim=1)
            for sentences in (train, test)
        ]
        for name, model in readers.items()
    }
    seen = {word.lower() for word in words}
    found = {"words_seen_in_training": sum(word.lower() in seen for word in asked) / len(asked)}
    for task in ("tag", "relation"):
        names = sorted({*labels_of(train, task), *labels_of(test, task)})
        y, y_test = (label_ids(labels_of(sentences, task), names) for sentences in (train, test))
        control = control_labels(words + asked, torch.cat([y, y_test]), seed)
        by_word = most_frequent_labels(words, y, asked)
        by_heart = most_frequent_labels(words, control[: len(y)], asked)
        found[task] = {
            "by_word": (by_word == y_test).float().mean().item(),
            "control_by_word": (by_heart == control[len(y) :]).float().mean().item(),
        }
        for name, (x, x_test) in states.items():
            task_pair = Probed(x, y), Probed(x_test, y_test)
            control_pair = Probed(x, control[: len(y)]), Probed(x_test, control[len(y) :])
            real, memorised = (
                layer_scores(*pair, len(names)) for pair in (task_pair, control_pair)
            )
            told = {
                "layers": keyed(real),
                "control": keyed(memorised),
                "selectivity": keyed([a - b for a, b in zip(real, memorised, strict=True)]),
            }
            if name != "untrained":
                cumulative = cumulative_scores(*task_pair, len(names))
                differential = differential_scores(cumulative)
                shares = fit_probe(task_pair[0], len(names)).mix.shares.detach()
                told |= {
                    "cumulative": keyed(cumulative),
                    "differential": {
                        str(layer): score for layer, score in enumerate(differential, 1)
                    },
                    "expected_layer": expected_layer(differential),
                    "shares": keyed(shares.tolist()),
                    "centre_of_gravity": centre_of_gravity(shares),
                }
            found[task][name] = told
            print(
                seed,
                task,
                name,
                [round(score, 3) for score in real],
                [round(score, 3) for score in memorised],
                flush=True,
            )
    return found


def look_at_heads(
    train: list[dict],
    test: list[dict],
    readers: dict[str, Bert],
    tokenizer: WordPiece,
    at_least: int,
) -> dict:
    """Where heads look, and which follow which relation."""
    found = {}
    for name, model in readers.items():
        judged, weights = [], {}
        for part, sentences in (("train", train), ("test", test)):
            weights[part] = list(word_attention(model, tokenizer, [s["words"] for s in sentences]))
            judged.append(
                [
                    parsed(w, s["heads"], s["relations"])
                    for w, s in zip(weights[part], sentences, strict=True)
                ]
            )
        table = best_heads(*judged, at_least=at_least)
        found[name] = {
            best.relation: {
                "accuracy": best.accuracy,
                "fixed_offset": best.offset_accuracy,
                "count": best.count,
                "offset": best.offset,
                "layer": best.layer,
                "head": best.head,
            }
            for best in table
        }
        upwards = (
            torch.cat([s.upwards[..., torch.tensor(s.offsets) != 0] for s in judged[1]], dim=-1)
            .float()
            .mean(dim=-1)
        )
        found[name]["all_relations_one_head"] = upwards.max().item()
        if name != "untrained":
            statistics = head_statistics(weights["test"])
            found["habits"] = {
                "to_cls": keyed(statistics.cls.mean(dim=1).tolist()),
                "to_sep": keyed(statistics.sep.mean(dim=1).tolist()),
            }
        if name == "minilm":
            found["habits"] |= {
                "previous_0_2": statistics.previous[0, 2].item(),
                "next_1_8": statistics.next[1, 8].item(),
            }
    return found


def trees(
    train: list[dict], test: list[dict], readers: dict[str, Bert], tokenizer: WordPiece, seed: int
) -> dict:
    """Trees from impacts, against chained neighbours and random scores."""
    generator = torch.Generator().manual_seed(seed)
    gold, kept, impacts = {}, {}, {}
    for part, sentences in (("train", train), ("test", test)):
        kept[part] = [not_punctuation(s["upos"]) for s in sentences]
        gold[part] = [gold_edges(s["heads"], k) for s, k in zip(sentences, kept[part], strict=True)]
        for name, model in readers.items():
            if (part, name) != ("train", "untrained"):
                found = [impact_matrix(model, tokenizer, s["words"]) for s in sentences]
                impacts[part, name] = [
                    impact[k][:, k] for impact, k in zip(found, kept[part], strict=True)
                ]
    told = {"chain": uuas([chain(len(k)) for k in kept["test"]], gold["test"])}
    noise = [random_scores(len(k), generator) for k in kept["test"]]
    scored = {"random": noise, **{name: impacts["test", name] for name in readers}}
    for name, scores in scored.items():
        told[name] = {
            "no_crossing": uuas(map(eisner, scores), gold["test"]),
            "any_tree": uuas(map(spanning_tree, scores), gold["test"]),
            "linked_above_unlinked": {
                str(d): linked_above_unlinked(scores, gold["test"], d) for d in (1, 2, 3)
            },
        }

    (trained,) = set(readers) - {"untrained"}

    def near(part: str, power: float) -> float:
        return uuas(
            [eisner(discounted(impact, power)) for impact in impacts[part, trained]], gold[part]
        )

    power = max(POWERS, key=lambda power: near("train", power))
    told[trained] |= {"power": power, "no_crossing_near": near("test", power)}
    print(seed, told, flush=True)
    return told


def measure(size: Size, model: str, seed: int, tokenizer: WordPiece) -> dict:
    """One seed."""
    readers = models(model, seed)
    train, test = draw("train", size.train, 5, 30, seed), draw("test", size.test, 5, 30, seed)
    found = probe_all(train, test, readers, tokenizer, seed)
    found["heads"] = look_at_heads(train, test, readers, tokenizer, size.at_least)
    short = [draw(split, size.masked, 5, 15, seed) for split in ("train", "test")]
    found["trees"] = trees(*short, readers, tokenizer, seed)
    return found


def main() -> None:
    """All seeds; the file is written after each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--size", choices=["cpu", "gpu"], default="cpu")
    parser.add_argument(
        "--model", default="minilm", help="minilm, or an uncased BERT's id on the hub"
    )
    options = parser.parse_args()
    torch.set_num_threads(1)  # probes are small: a second thread costs more than it brings
    chosen = "smoke" if options.smoke else options.size
    size = SIZES[chosen]
    model = options.model.split("/")[-1].replace("-", "_")
    name = (
        "probing"
        + ("" if model == "minilm" else f"_{model}")
        + ("" if chosen == "cpu" else f"_{chosen}")
    )
    folder = (
        minilm.checkpoint()
        if model == "minilm"
        else hugging_face.checkpoint_folder(options.model, ("config.json", "vocab.txt"))
    )
    tokenizer = WordPiece.load(folder / "vocab.txt")
    title = (
        f"What probes, heads and perturbed masking find in {options.model} on UD English EWT, "
        f"beside an untrained BERT and baselines"
    )
    title = title.replace("minilm", "MiniLM")
    runs = []
    for seed in size.seeds:
        runs.append(measure(size, options.model, seed, tokenizer))
        measured = {
            "sentences": {"train": size.train, "test": size.test, "masked": size.masked},
            # a relation that is too rare in one seed's sentences is left out
            **results.spreads(runs, common=True),
        }
        results.save(name, measured, title, list(size.seeds[: len(runs)]))


if __name__ == "__main__":
    main()
