"""How far tags alone go on UD English (chapters 16 and 16c): the nearest word with some tag in
place of a head, and probes on a word's tag and place in place of its vector.

    LECTURES_DATA=<mirror> python experiments/tags_alone.py
        the draws of experiments/probing.py and, for trees, of experiments/structural_probe.py;
        five minutes on one core; book/results/tags_alone.json
    LECTURES_DATA=<mirror> python experiments/tags_alone.py --smoke
        a few sentences, to see that it runs; writes tags_alone_smoke.json

For each relation the best head, and the best rule "the governor is the nearest word with this tag
on this side", are chosen on the train split and told on the test split. `head_where_rule_fails` is
the share that the head finds of those governors that the rule does not find. For determiners and
prepositions a second rule goes on to the last noun of the row. The tags are the
treebank's own; a model has to find them first.
"""

import argparse

import structural_probe
import torch
from probing import SIZES, draw, labels_of

from lectures_lib import results
from lectures_lib.analysis.attention_statistics import (
    Parsed,
    best_heads,
    best_tag_rule,
    coarse_tags,
    parsed,
    relation_words,
    tag_rule_hits,
)
from lectures_lib.analysis.perturbed_masking import gold_edges, not_punctuation
from lectures_lib.analysis.probing import (
    Probed,
    fit_probe,
    label_ids,
    probe_accuracy,
    tags_and_places,
)
from lectures_lib.analysis.structural import fit_structural_probe, structural_score
from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert
from lectures_lib.tasks.word_level import word_attention
from lectures_lib.tokenization import WordPiece


def hits_of_heads(model: Bert, tokenizer: WordPiece, sentences: list[dict]) -> list[Parsed]:
    """What each head finds in each sentence."""
    weights = word_attention(model, tokenizer, [s["words"] for s in sentences])
    return [parsed(w, s["heads"], s["relations"]) for w, s in zip(weights, sentences, strict=True)]


ROW_RELATIONS = ("det", "case")  # relations whose governor is a noun further on


def end_of_row(tags: list[str], place: int) -> int:
    """The last noun of the next row behind a place (a pronoun or a number may begin the row, and be
    all of it); -1 where there is none: "the phone book", "to her sister", "of two".
    """
    behind = range(place + 1, len(tags))
    end = next((i for i in behind if tags[i] in ("NOUN", "PRON", "NUM")), -1)
    while 0 <= end < len(tags) - 1 and tags[end + 1] == "NOUN":
        end += 1
    return end


def row_rule_hits(sentences: list[dict], relation: str) -> torch.Tensor:
    """Whether the end of the next row is the governor of each word with this relation."""
    return torch.tensor(
        [
            0 <= end_of_row(coarse_tags(s), i) == s["heads"][i] - 1
            for s in sentences
            for i, name in enumerate(s["relations"])
            if name == relation
        ]
    )


def heads_and_rules(
    train: list[dict], test: list[dict], model: Bert, tokenizer: WordPiece, at_least: int
) -> dict:
    """For each relation: what the best head and the best rule find, and the head where the rule
    fails.
    """
    by_train, by_test = (hits_of_heads(model, tokenizer, part) for part in (train, test))
    found = {}
    for best in best_heads(by_train, by_test, at_least):
        up, down, _ = relation_words(by_test, best.relation)
        head = (up if best.direction == "upwards" else down)[best.layer, best.head]
        rule = best_tag_rule(train, best.relation)
        hits = tag_rule_hits(rule, test, best.relation)
        found[best.relation] = {
            "count": best.count,
            "head": best.accuracy,
            "rule": hits.float().mean().item(),
            "rule_fails": int((~hits).sum()),
            "head_where_rule_fails": head[~hits].mean().item(),
        }
        if best.relation in ROW_RELATIONS:
            row = row_rule_hits(test, best.relation)
            found[best.relation] |= {
                "row_rule": row.float().mean().item(),
                "row_rule_where_rule_fails": row[~hits].float().mean().item(),
                "row_rule_fails": int((~row).sum()),
                "head_where_row_rule_fails": head[~row].mean().item(),
            }
        print(best.relation, rule, found[best.relation], flush=True)
    return found


def without_vectors(train: list[dict], test: list[dict], around: int) -> list[list[torch.Tensor]]:
    """Tags and places of the words of both parts, a matrix for each sentence."""
    tags = sorted({tag for s in [*train, *test] for tag in s["upos"]})
    longest = max(len(s["words"]) for s in [*train, *test])
    return [
        tags_and_places([s["upos"] for s in part], tags, longest, around) for part in (train, test)
    ]


AROUND = {"tag_and_place": 0, "tags_of_three_and_place": 1}
STEPS = 200  # from ones among zeros a structural probe learns more slowly than from vectors


def relations(train: list[dict], test: list[dict]) -> dict:
    """Relations read off tags: the word's own, with its place, with its neighbours' tags too."""
    names = sorted({*labels_of(train, "relation"), *labels_of(test, "relation")})
    y, y_test = (label_ids(labels_of(part, "relation"), names) for part in (train, test))
    found = {}
    for name, around in AROUND.items():
        x, x_test = (torch.cat(part)[None] for part in without_vectors(train, test, around))
        fitted = fit_probe(Probed(x, y), len(names))
        found[name] = probe_accuracy(fitted, Probed(x_test, y_test))
    print(found, flush=True)
    return found


def trees(train: list[dict], test: list[dict], seed: int) -> dict:
    """Links found by a structural probe on the same."""
    kept = [[not_punctuation(s["upos"]) for s in part] for part in (train, test)]
    links, gold = (
        [gold_edges(s["heads"], k) for s, k in zip(part, ks, strict=True)]
        for part, ks in zip((train, test), kept, strict=True)
    )
    found = {}
    for name, around in AROUND.items():
        x, x_test = (
            [h[k] for h, k in zip(part, ks, strict=True)]
            for part, ks in zip(without_vectors(train, test, around), kept, strict=True)
        )
        fitted = fit_structural_probe(x, links, steps=STEPS, seed=seed)
        found[name] = structural_score(fitted, x_test, gold)
    print(found, flush=True)
    return found


def main() -> None:
    """All draws; the file is written after each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--smoke", action="store_true")
    chosen = "smoke" if parser.parse_args().smoke else "cpu"
    torch.set_num_threads(1)
    size = SIZES[chosen]
    n_train, n_test, _ = structural_probe.SIZES[chosen]
    folder = minilm.checkpoint()
    model, tokenizer = Bert.from_pretrained(folder), WordPiece.load(folder / "vocab.txt")
    runs = []
    for seed in size.seeds:
        train, test = draw("train", size.train, 5, 30, seed), draw("test", size.test, 5, 30, seed)
        runs.append(
            {
                "heads": heads_and_rules(train, test, model, tokenizer, size.at_least),
                "relation": relations(train, test),
                "trees": trees(
                    structural_probe.draw("train", n_train, seed),
                    structural_probe.draw("test", n_test, seed),
                    seed,
                ),
            }
        )
        results.save(
            "tags_alone" if chosen == "cpu" else "tags_alone_smoke",
            {
                "sentences": {"train": size.train, "test": size.test},
                "sentences_for_trees": {"train": n_train, "test": n_test},
                **results.spreads(runs, common=True),
            },
            "How far tags alone go on UD English EWT: the nearest word with a tag beside MiniLM's "
            "heads, relations and trees read off a word's tag and place",
            list(size.seeds[: len(runs)]),
        )


if __name__ == "__main__":
    main()
