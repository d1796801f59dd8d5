"""Claims about what BERT learns: heads, layers, trees, and its states as features."""

from published import table

from claims import Found, found
from claims.measured import measured
from lectures_lib import results


def different_habits() -> Found:
    """Measured: what two heads of MiniLM look at, one at the word before, one at the word
    behind.
    """
    habits = measured("probing")
    before, behind = habits("heads/habits/previous_0_2/mean"), habits("heads/habits/next_1_8/mean")
    return found(before > 0.5 and behind > 0.5, before=100 * before, behind=100 * behind)


def heads_and_relations() -> Found:
    """Measured: governors found by the best head of each relation, by the best fixed offset and by
    the best tag rule; and by an untrained BERT's.
    """
    heads = results.load("probing")["results"]["heads"]
    tags = results.load("tags_alone")["results"]["heads"]
    relations = [name for name, entry in heads["minilm"].items() if "fixed_offset" in entry]

    def ahead(model: str) -> list[float]:
        return [
            heads[model][name]["accuracy"]["mean"] - heads[model][name]["fixed_offset"]["mean"]
            for name in relations
        ]

    gaps, untrained = ahead("minilm"), ahead("untrained")
    obj, nmod = (heads["minilm"][name] for name in ("obj", "nmod"))
    return found(
        sum(gap > 0.1 for gap in gaps) > len(gaps) / 2 and max(untrained) < 0,
        ahead=sum(gap > 0.1 for gap in gaps),
        relations=len(gaps),
        head=100 * obj["accuracy"]["mean"],
        offset=100 * obj["fixed_offset"]["mean"],
        behind=100 * nmod["accuracy"]["mean"],
        behind_offset=100 * nmod["fixed_offset"]["mean"],
        by_tag=sum(tags[name]["rule"]["mean"] > tags[name]["head"]["mean"] for name in relations),
    )


def layers_of_two_tasks() -> Found:
    """Measured: at which of MiniLM's states tags and relations are read best, and where two
    summaries put them.
    """
    probing = results.load("probing")["results"]
    score = {
        task: [probing[task]["minilm"]["layers"][str(i)]["mean"] for i in range(7)]
        for task in ("tag", "relation")
    }
    best = {task: max(range(7), key=scores.__getitem__) for task, scores in score.items()}
    expected = {task: probing[task]["minilm"]["expected_layer"] for task in score}
    centre = {task: probing[task]["minilm"]["centre_of_gravity"]["mean"] for task in score}
    tags_first = all(
        tag < relation
        for tag, relation in zip(
            expected["tag"]["values"], expected["relation"]["values"], strict=True
        )
    )
    fades = all(scores[-1] < scores[0] < max(scores) for scores in score.values())
    return found(
        fades and tags_first,
        tag=best["tag"],
        relation=best["relation"],
        tag_best=100 * max(score["tag"]),
        tag_last=100 * score["tag"][-1],
        relation_best=100 * max(score["relation"]),
        relation_last=100 * score["relation"][-1],
        expected_tag=expected["tag"]["mean"],
        expected_relation=expected["relation"]["mean"],
        centre_tag=centre["tag"],
        centre_relation=centre["relation"],
    )


def trees_from_impacts() -> Found:
    """Measured: how often the linked one of two pairs has the larger impact; links found by trees
    of impacts and by chained neighbours.
    """
    trees = measured("probing")
    ours, chain = (trees(f"trees/{key}/mean") for key in ("minilm/no_crossing", "chain"))
    above = [trees(f"trees/minilm/linked_above_unlinked/{distance}/mean") for distance in (1, 2, 3)]
    return found(
        min(above) > 0.5,
        ours=100 * ours,
        chain=100 * chain,
        least=100 * min(above),
        most=100 * max(above),
    )


def last_state() -> Found:
    """The last state against the one before it, as features for names: ours under two taggers, and
    the paper's.
    """
    names, ner = measured("ner_features"), table("bert_features")
    gap = {
        tagger: names(f"second_to_last/{tagger}/validation/f1/mean")
        - names(f"last/{tagger}/validation/f1/mean")
        for tagger in ("linear", "bilstm")
    }
    paper = ner.row("Second-to-last hidden")["dev"] - ner.row("Last hidden")["dev"]
    return found(
        min(gap.values()) > 0 and paper > 0,
        linear=100 * gap["linear"],
        bilstm=100 * gap["bilstm"],
        paper=paper,
    )


def several_layers() -> Found:
    """The best combination of the last four states against the best single state, under two
    taggers, on the test split.
    """
    names = measured("ner_features")
    gain = {}
    for tagger in ("linear", "bilstm"):
        alone, together = (
            max(names(f"{key}/{tagger}/test/f1/mean") for key in keys)
            for keys in (
                ("embeddings", "second_to_last", "last"),
                ("weighted_last_four", "concat_last_four", "weighted_all"),
            )
        )
        gain[tagger] = 100 * (together - alone)
    ner = table("bert_features")
    several = max(
        ner.row(name)["dev"]
        for name in (
            "Weighted sum of last four",
            "Concatenation of last four",
            "Weighted sum of all 12",
        )
    )
    paper = several - ner.row("Second-to-last hidden")["dev"]
    return found(
        min(gain["linear"], gain["bilstm"], paper) > 0,
        linear=gain["linear"],
        bilstm=gain["bilstm"],
        paper=paper,
    )


def cost_of_features() -> Found:
    """Measured: an epoch of fine-tuning over reading the same sentences once."""
    ratio = results.value("ner_features", "cost/epoch_of_fine_tuning_over_features/median")
    return found(ratio > 2, ratio=ratio)


def highest_at_names() -> Found:
    """Earlier systems above BERT large at names, on the test split of CoNLL-2003."""
    ner = table("bert_features")
    large = ner.row("BERT large")["test"]
    above = [
        (f1, system)
        for system, kind, f1 in zip(ner["system"], ner["kind"], ner["test"], strict=True)
        if kind == "before" and f1 > large
    ]
    return found(not above, system=above[0][1], best=above[0][0], large=large)
