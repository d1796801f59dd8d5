"""Claims about what BERT learns and what it is used for: heads, layers, trees, sentence vectors,
fine-tuning and features.
"""

import ast
from collections.abc import Callable

import torch
from published import table
from transformers import BertConfig as TheirConfig
from transformers import BertModel as TheirBert
from transformers import get_linear_schedule_with_warmup

from claims import Found, found
from claims.tables import ROOT
from lectures_lib import data, results, training
from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert, BertConfig
from lectures_lib.tasks.fine_tuning import collate, sentences
from lectures_lib.tasks.sentence_bert import SentenceBert
from lectures_lib.tasks.task_heads import SentenceClassifier
from lectures_lib.tokenization import WordPiece


def measured(name: str) -> Callable[[str], float]:
    """The numbers of one results file, by their keys."""
    return lambda key: results.value(name, key)


# -------------------------------------------------------------------------------------------- heads


def different_habits() -> Found:
    """Measured: what two heads of MiniLM look at, one at the word before, one at the word
    behind.
    """
    habits = measured("probing")
    before, behind = habits("heads/habits/previous_0_2/mean"), habits("heads/habits/next_1_8/mean")
    return found(before > 0.5 and behind > 0.5, before=100 * before, behind=100 * behind)


def heads_and_relations() -> Found:
    """Measured: governors found by the best head of each relation, and by the best fixed offset;
    and by an untrained BERT's.
    """
    heads = results.load("probing")["results"]["heads"]
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
    )


# ------------------------------------------------------------------------------------------- layers


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


# -------------------------------------------------------------------------------------- fine-tuning


def through_the_body() -> Found:
    """One step of fine-tuning: the tensors that get a gradient. The softmax over keys cannot see a
    bias that all keys share.
    """
    tokenizer = WordPiece.load(minilm.checkpoint() / "vocab.txt")
    batch = collate(sentences(data.load("sentiment", "train")[:16], tokenizer, max_len=32))
    reached = {}
    for way in ("open", "frozen"):
        model = SentenceClassifier(
            Bert(
                BertConfig(len(tokenizer), d_model=32, n_layers=2, n_heads=2, d_ff=64, max_len=32)
            ),
            2,
        ).double()
        model.bert.requires_grad_(way == "open")
        model.loss(model(batch.tokens, batch.segments, batch.lengths), batch.targets).backward()
        reached[way] = {
            name
            for name, p in model.named_parameters()
            if p.grad is not None and p.grad.norm() > 1e-12
        }
    missed = {name for name, _ in model.named_parameters()} - reached["open"]
    return found(
        all(name.endswith("W_K.bias") for name in missed)
        and all(name.startswith("head.") for name in reached["frozen"]),
        reached=len(reached["open"]),
        everything=len(reached["open"]) + len(missed),
        missed=len(missed),
        frozen=len(reached["frozen"]),
    )


def a_hundred_labels() -> Found:
    """Measured: fine-tuned against frozen vectors, on this book's sets with more and with fewer
    than 100 examples to learn from.
    """
    small, labelled = measured("fine_tuning_small"), measured("labelled_sets")
    metrics = dict.fromkeys(("sentiment", "acceptability", "entailment", "choices"), "accuracy")
    metrics |= {"entities": "f1", "similarity": "spearman"}
    ahead = {
        task: (
            len(data.load(task, "train")),
            small(f"{task}/test/{metric}/mean") - labelled(f"{task}/frozen"),
        )
        for task, metric in metrics.items()
    }
    above, below = (
        [gap for n, gap in ahead.values() if (n > 100) == more] for more in (True, False)
    )
    assert max(below) < 0
    tuned, frozen, bag = (
        small(f"curve/110/{way}/mean") for way in ("fine_tuned", "frozen", "bag_of_words")
    )
    sst = measured("training_size")
    sst_tuned, sst_frozen, sst_bag = (
        sst(f"accuracy/100/{way}/mean") for way in ("fine_tuned", "frozen", "bag_of_words")
    )
    return found(
        min(above) > 0 and tuned > frozen > bag and sst_tuned > sst_frozen > sst_bag,
        tuned=tuned,
        frozen=frozen,
        bag=bag,
        more=len(above),
        least=min(above),
        most=max(above),
        fewer=len(below),
        sst_tuned=sst_tuned,
        sst_frozen=sst_frozen,
        sst_bag=sst_bag,
    )


# Of results/fine_tuning_*.json.
REAL = {
    "sst2": "accuracy",
    "cola": "matthews",
    "rte": "accuracy",
    "stsb": "spearman",
    "wnut": "f1",
    "squad": "f1",
}


def best_classifier() -> Found:
    """Measured: fine-tuned MiniLM against frozen vectors and a bag of words on real data; and two
    ways that come as far without.
    """
    ahead = {}
    for task, metric in REAL.items():
        of = measured(f"fine_tuning_{task}")
        ahead[task] = of(f"fine_tuned/{metric}/mean") - max(
            of(f"{way}/{metric}") for way in ("majority", "bag_of_words", "frozen")
        )
    cosine, tuned = (
        results.value("sentence_vectors", "untrained/mean/after_5/spearman"),
        results.value("fine_tuning_stsb", "fine_tuned/spearman/mean"),
    )
    bilstm = results.value("ner_features", "weighted_last_four/bilstm/test/f1/mean")
    return found(
        min(ahead.values()) > 0,
        tasks=len(ahead),
        least=min(ahead.values()),
        most=max(ahead.values()),
        cosine=cosine,
        tuned=tuned,
        bilstm=bilstm,
        names=results.value("fine_tuning_wnut", "fine_tuned/f1/mean"),
    )


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


# --------------------------------------------------------------------------------- sentence vectors


def cosines_and_people() -> Found:
    """Measured: Spearman's correlation of cosines with people's scores on STS-B, MiniLM's and those
    of counted words.
    """
    vectors = measured("sentence_vectors")
    ours, counted = vectors("untrained/mean/after_5/spearman"), vectors("untrained/tf_idf/spearman")
    inside = vectors("untrained/mean/after_2/spearman")
    return found(ours > 0.8 > counted, ours=ours, counted=counted, inside=inside)


def triples() -> dict[str, list[list[str]]]:
    """Chapter 18's sentences, by kind: one, a paraphrase of it, and one that looks the same and
    means something else.
    """
    tree = ast.parse((ROOT / "notebooks" / "18_after_bert.py").read_text(encoding="utf-8"))
    (text,) = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and [ast.unparse(t) for t in node.targets] == ["TRIPLES"]
    ]
    groups: dict[str, list[list[str]]] = {}
    kind = ""
    for line in ast.literal_eval(text).strip().split("\n"):
        if line.startswith("- "):
            groups[kind].append([line.removeprefix("- ")])
        elif line.startswith("  "):
            groups[kind][-1].append(line.strip())
        else:
            kind = line
            groups[kind] = []
    return groups


def tricky_phenomena() -> Found:
    """In how many triples of each kind MiniLM's vector of the sentence is nearer to the paraphrase
    than to the look-alike.
    """
    encoder, right = SentenceBert.from_pretrained(minilm.checkpoint()), {}
    for kind, rows in triples().items():
        sentence, paraphrase, look_alike = (
            encoder.embed(column) for column in zip(*rows, strict=True)
        )
        right[kind] = int(
            ((sentence * paraphrase).sum(dim=-1) > (sentence * look_alike).sum(dim=-1)).sum()
        )
    tricky = ("negation", "word order", "numbers")
    return found(
        right["another topic"] == 8 and all(right[kind] < 4 for kind in tricky),
        topic=right["another topic"],
        negation=right["negation"],
        order=right["word order"],
        numbers=right["numbers"],
    )


# ------------------------------------------------------------------------------- how it was trained


def warm_up() -> Found:
    """The rate of a million steps: the library's schedule against Hugging Face's, with torch's Adam
    as it comes.
    """
    warmup, total, rate = 10_000, 1_000_000, 1e-4
    ours = training.bert_schedule(warmup, total)
    optimizer = torch.optim.AdamW([torch.nn.Parameter(torch.zeros(1))], lr=rate, weight_decay=0.01)
    (theirs,) = get_linear_schedule_with_warmup(optimizer, warmup, total).lr_lambdas
    rates = [rate * ours(step) for step in (warmup // 2, warmup, total // 2, total)]
    same = all(abs(ours(step) - theirs(step)) < 1e-12 for step in range(0, total + 1, 500))
    highest = max(range(0, total + 1, 500), key=ours)
    return found(
        same
        and highest == warmup
        and rates[-1] == 0
        and optimizer.defaults["betas"] == (0.9, 0.999),
        highest=highest,
        half=1e4 * rates[2],
        authors=1e4 * rate * (1 - warmup / total),
    )


def dropout_everywhere() -> Found:
    """Places where base drops, and how much, ours and Hugging Face's; and that in training such a
    share of the embeddings is zero.
    """
    with torch.device("meta"):
        ours, theirs = (
            Bert(BertConfig.BASE),
            TheirBert(TheirConfig(attn_implementation="eager"), add_pooling_layer=False),
        )
    rates = [module.p for module in ours.modules() if isinstance(module, torch.nn.Dropout)]
    rates += [block.self_attention.attention.dropout for block in ours.encoder.blocks]
    their_rates = [module.p for module in theirs.modules() if isinstance(module, torch.nn.Dropout)]
    embeddings = Bert(
        BertConfig(100, d_model=64, n_layers=1, n_heads=2, d_ff=64, max_len=64)
    ).embeddings.train()
    tokens = torch.randint(100, (64, 64))
    share = (embeddings(tokens, torch.zeros_like(tokens)) == 0).float().mean().item()
    return found(
        rates == their_rates and set(rates) == {0.1} and abs(share - 0.1) < 0.01,
        places=len(rates),
        share=share,
    )
