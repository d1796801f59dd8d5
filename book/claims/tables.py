"""Claims about published results, computed from the tables of book/published, and about the data
sets.
"""

from published import Table, table
from sklearn.metrics import f1_score, precision_score, recall_score

from claims import Found, found
from lectures_lib import data
from lectures_lib.tokenization import BPE
from lectures_lib.tokenization.byte_level import visible

# -------------------------------------------------------------------------------------- translation


def best_translations() -> Found:
    """Base and big against all other systems, single ones and ensembles, in both languages."""
    bleu = table("transformer_bleu")
    big = bleu.row("Transformer (big)")
    rows = [
        row
        for row in zip(bleu["system"], bleu["kind"], bleu["de"], bleu["fr"], strict=True)
        if not row[0].startswith("Transformer")
    ]

    def best(i: int, kinds: tuple[str, ...]) -> float:
        return max(row[i] for row in rows if row[1] in kinds and row[i] is not None)

    both = ("single", "ensemble")
    agrees = big["de"] > best(2, both) and big["fr"] > best(3, both)
    base = bleu.row("Transformer (base)")
    below = sum(row[3] is not None and row[3] > base["fr"] for row in rows if row[1] == "single")
    above = sum(row[3] is not None and row[3] > big["fr"] for row in rows)
    return found(
        agrees,
        de=big["de"],
        best_de=best(2, both),
        fr=big["fr"],
        single=best(3, ("single",)),
        ensemble=best(3, both),
        above=above,
        below=below,
    )


# deep LSTMs; MoE has experts between two layers of them
RECURRENT = ("Deep-Att + PosUnk", "GNMT + RL", "MoE")


def recurrent_systems() -> Found:
    """Big against the best recurrent system that is no ensemble, in both languages."""
    bleu = table("transformer_bleu")
    base, big = (bleu.row(f"Transformer ({size})") for size in ("base", "big"))
    rows = zip(bleu["system"], bleu["kind"], bleu["de"], bleu["fr"], strict=True)
    single = [row for row in rows if row[0] in RECURRENT and row[1] == "single"]
    de, fr = (max(row[i] for row in single if row[i] is not None) for i in (2, 3))
    agrees = big["de"] > de and big["fr"] > fr
    return found(
        agrees,
        big_de=big["de"],
        big_fr=big["fr"],
        de=de,
        fr=fr,
        base_de=base["de"],
        base_fr=base["fr"],
    )


def fraction_of_the_cost() -> Found:
    """Cost over that of the cheapest other system; into German, of big over that of the best system
    before it, too.
    """
    bleu = table("transformer_bleu")
    others = [
        row
        for row in zip(*(bleu[c] for c in ("system", "de", "cost_de", "cost_fr")), strict=True)
        if "Transformer" not in row[0]
    ]
    base, big = (bleu.row(f"Transformer ({size})") for size in ("base", "big"))
    cheapest, in_french = (min(row[i] for row in others if row[i]) for i in (2, 3))
    best = max((row for row in others if row[1]), key=lambda row: row[1])
    return found(
        base["cost_de"] < cheapest and big["cost_de"] < cheapest,
        base=base["cost_de"] / cheapest,
        big=big["cost_de"] / cheapest,
        ensemble=big["cost_de"] / best[2],
        french=big["cost_fr"] / in_french,
    )


def cost_from_hours() -> Found:
    """Hours times eight P100 cards times 9.5 · 10¹² operations a second."""
    published = [
        table("transformer_bleu").row(f"Transformer ({size})")["cost_de"]
        for size in ("base", "big")
    ]
    computed = [hours * 3600 * 8 * 9.5e12 for hours in (12, 3.5 * 24)]
    agrees = all(f"{a:.1e}" == f"{b:.1e}" for a, b in zip(published, computed, strict=True))
    return found(agrees, base=computed[0] / 1e18, big=computed[1] / 1e19)


# ------------------------------------------------------------------------------------------- vision


def all_image_tasks() -> Found:
    """In how many of seven tasks each model of the paper is above BiT-L."""
    vit = table("vit_benchmarks")
    wins = {
        name: sum(ours > theirs for ours, theirs in zip(vit[name][:7], vit["bit"][:7], strict=True))
        for name in ("h14", "l16")
    }
    gaps = {
        task: round(ours - theirs, 2)
        for task, ours, theirs in zip(vit["task"], vit["l16"], vit["bit"], strict=True)
    }
    return found(
        set(wins.values()) == {7},
        h14=wins["h14"],
        l16=wins["l16"],
        real=abs(gaps["ImageNet ReaL"]),
        vtab=-gaps["VTAB (19 tasks)"],
    )


def cost_of_images() -> Found:
    """Core-days of pre-training: BiT-L's over ours."""
    costs = table("vit_benchmarks").row("TPUv3 core-days")
    return found(
        costs["h14"] < costs["bit"] / 2 and costs["l16"] < costs["bit"] / 2,
        h14=costs["bit"] / costs["h14"],
        l16=costs["bit"] / costs["l16"],
    )


# --------------------------------------------------------------------------------------------- GLUE

HKUST = {  # the cells that two slides of the lecture show
    "mnli_m": (80.6, 76.4, 82.1, 84.6, 86.7),
    "mnli_mm": (80.1, 76.1, 81.4, 83.4, 85.9),
    "qqp": (66.1, 64.8, 70.3, 71.2, 72.1),
    "qnli": (82.3, 79.8, 87.4, 90.5, 92.7),
    "sst2": (93.2, 90.4, 91.3, 93.5, 94.9),
    "cola": (35.0, 36.0, 45.4, 52.1, 60.5),
}


def columns(glue: Table) -> list[str]:
    """The nine columns with scores."""
    return [column.name for column in glue.columns if column.name not in ("system", "average")]


def same_cells() -> Found:
    """The cells that both lectures show are the same, and those of the paper."""
    glue = table("glue")
    cells = sum(len(column) for column in HKUST.values())
    return found(all(tuple(glue[name]) == column for name, column in HKUST.items()), cells=cells)


def averages() -> Found:
    """Each row's mean of nine columns against the printed average; printed scores are rounded, so
    the mean is known to ± 0.05.
    """
    glue = table("glue")
    means = [sum(glue[name][i] for name in columns(glue)) / 9 for i in range(5)]
    exact = sum(
        f"{mean:.1f}" == f"{printed:.1f}"
        for mean, printed in zip(means, glue["average"], strict=True)
    )
    possible = all(
        round(mean - 0.05, 1) <= printed <= round(mean + 0.05, 1)
        for mean, printed in zip(means, glue["average"], strict=True)
    )
    return found(possible, exact=exact, elmo=means[1], printed=glue["average"][1])


def one_column_for_mnli() -> Found:
    """BERT base: the mean of the nine columns is the printed one; with MNLI's two averaged first it
    would be another.
    """
    base = table("glue").row("BERT base")
    others = [base[name] for name in columns(table("glue")) if not name.startswith("mnli")]
    by_task = (sum(others) + (base["mnli_m"] + base["mnli_mm"]) / 2) / 8
    by_column = sum(base[name] for name in columns(table("glue"))) / 9
    return found(
        f"{by_column:.1f}" == f"{base['average']:.1f}", by_task=by_task, printed=base["average"]
    )


def best_in_all_columns() -> Found:
    """BERT large first and base second in every column."""
    glue = table("glue")
    order = [
        sorted(range(5), key=lambda i, name=name: -glue[name][i])[:2] for name in columns(glue)
    ]
    return found(all(first == [4, 3] for first in order), columns=len(order))


def official(row: dict) -> float:
    """GLUE's own score: pairs of measures averaged first, then nine tasks."""
    pairs = [
        ("mrpc_f1", "mrpc"),
        ("stsb_pearson", "stsb"),
        ("qqp_f1", "qqp"),
        ("mnli_m", "mnli_mm"),
    ]
    tasks = [row[name] for name in ("cola", "sst2", "qnli", "rte", "wnli")] + [
        (row[a] + row[b]) / 2 for a, b in pairs
    ]
    return sum(tasks) / len(tasks)


def leaderboard() -> list[dict]:
    """Its rows as dictionaries."""
    board = table("glue_leaderboard")
    return [board.row(rank) for rank in (row[0] for row in board.rows)]


def scores_of_the_leaderboard() -> Found:
    """All scores of the leaderboard computed again."""
    gaps = [abs(official(row) - row["score"]) for row in leaderboard()]
    return found(max(gaps) <= 0.0501, rows=len(gaps), gap=max(gaps))


def two_scores_of_bert() -> Found:
    """82.1 in the paper, 80.5 on the leaderboard: the same model, two averages."""
    bert = next(row for row in leaderboard() if row["model"] == "BERT large")
    in_paper = table("glue").row("BERT large")
    mean = sum(in_paper[name] for name in columns(table("glue"))) / 9
    agrees = round(official(bert), 1) == bert["score"] and round(mean, 1) == in_paper["average"]
    return found(agrees, official=official(bert), mean=mean)


def majority_of_wnli() -> Found:
    """Rows with 65.1, the share of the more frequent class among 146 test examples."""
    rows = sum(row["wnli"] == 65.1 for row in leaderboard())
    possible = [k for k in range(147) if f"{100 * k / 146:.1f}" == "65.1"]
    return found(rows == 4 and possible == [95], rows=rows, k=possible[0])


def eleven_tasks() -> Found:
    """In how many tasks of three published tables BERT large is above all earlier systems."""
    glue, others, names = table("glue"), table("bert_beyond_glue"), table("bert_features")
    best = [name for name in columns(glue) if glue.row("BERT large")[name] == max(glue[name])]
    in_glue = {name.removesuffix("_m").removesuffix("_mm") for name in best}
    beyond = sum(
        bert > before for bert, before in zip(others["bert"], others["before"], strict=True)
    )
    large, base = (names.row(f"BERT {size}")["test"] for size in ("large", "base"))
    earlier = [
        f1 for f1, kind in zip(names["test"], names["kind"], strict=True) if kind == "before"
    ]
    return found(
        len(in_glue) + beyond == 11,
        glue=len(in_glue),
        all=len(in_glue) + beyond,
        best=max(earlier),
        large=large,
        above_base=sum(f1 > base for f1 in earlier),
    )


def behind_fine_tuning() -> Found:
    """The best fixed features against fine-tuned BERT base."""
    ner = table("bert_features")
    best = max(
        dev
        for dev, kind in zip(ner["dev"], ner["kind"], strict=True)
        if kind.startswith("features")
    )
    gap = ner.row("BERT base")["dev"] - best
    return found(
        0 < gap < 0.5,
        gap=gap,
        embeddings=ner.row("BERT base")["dev"] - ner.row("Embeddings")["dev"],
    )


def precision_recall() -> Found:
    """The formulas on 3 true positives, 1 false positive and 2 false negatives, against
    scikit-learn.
    """
    tp, fp, fn = 3, 1, 2
    P, R = tp / (tp + fp), tp / (tp + fn)
    truth, said = [1] * tp + [0] * fp + [1] * fn, [1] * tp + [1] * fp + [0] * fn
    theirs = [score(truth, said) for score in (precision_score, recall_score, f1_score)]
    ours = [P, R, 2 * (P * R) / (P + R)]
    return found(all(abs(a - b) < 1e-9 for a, b in zip(ours, theirs, strict=True)), f1=ours[2])


# ------------------------------------------------------------------------------------ the data sets


def glue(task: str) -> list[dict]:
    """The training split of a task of GLUE."""
    return list(data.read_split(f"nyu-mll/glue/{task}", "train")[0])


def four_sizes() -> Found:
    """Training examples of four tasks, counted; they are as many as the hub's description says."""
    counted = {task: len(glue(task)) for task in ("sst2", "cola", "stsb", "rte")}
    published = table("glue_tasks")
    names = {"sst2": "SST-2", "cola": "CoLA", "stsb": "STS-B", "rte": "RTE"}
    assert all(published.row(names[task])["examples"] == n for task, n in counted.items())
    agrees = all(
        abs(n / 1000 - published.row(names[task])["thousands"]) <= (0.5 if task == "sst2" else 0.06)
        for task, n in counted.items()
    )
    return found(agrees, **counted)


def sizes_of_qnli_and_mrpc() -> Found:
    """The slide's thousands against the paper's; the examples are by the description of the data on
    the hub.
    """
    tasks = table("glue_tasks")
    qnli, mrpc = tasks.row("QNLI"), tasks.row("MRPC")
    agrees = (qnli["thousands"], mrpc["thousands"]) == (108, 3.5)
    return found(agrees, qnli=int(qnli["examples"]), mrpc=int(mrpc["examples"]))


def similarity_scale() -> Found:
    """The least and the largest score of STS-B's training split, and how many are below 1."""
    scores = [row["label"] for row in glue("stsb")]
    return found(
        min(scores) >= 1,
        least=min(scores),
        most=max(scores),
        below=sum(score < 1 for score in scores),
    )


# ----------------------------------------------------------------------------------------- subwords


def merged_pairs() -> Found:
    """Every merge of byte pair encoding joins two tokens that exist already, the most frequent pair
    first.
    """
    bpe = BPE.train(["low lower lowest newer wider new low"] * 10, 275)
    known = {visible(bytes([byte])) for byte in range(256)}
    in_pairs = 0
    for merge in bpe.merges:
        in_pairs += merge.left in known and merge.right in known
        known.add(merge.left + merge.right)
    counts = [merge.count for merge in bpe.merges]
    assert counts == sorted(counts, reverse=True)
    return found(
        in_pairs == len(bpe.merges),
        merges=len(bpe.merges),
        longest=max(len(merge.left + merge.right) for merge in bpe.merges),
    )


def about_bytes() -> Found:
    """The pieces of the lecture's table are made of letters; our own encoding begins with 256
    bytes: é is two of them.
    """
    bpe = BPE.train(["a"], 256)
    pieces = bpe.encode("é")
    words = [piece for written in table("subwords")["first"][1:] for piece in written.split("|")]
    return found(all(piece.isalpha() for piece in words), base=len(bpe), pieces=len(pieces))


def only_one_is_right() -> Found:
    """Which of four systems' pieces, joined, give the reference."""
    words = table("subwords")
    reference = words["first"][0]
    right = [
        system
        for system, written in list(zip(words["system"], words["first"], strict=True))[1:]
        if written.replace("|", "") == reference
    ]
    return found(len(right) == 1, right=right[0], systems=len(words.rows) - 1)
