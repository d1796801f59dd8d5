"""Claims about fine-tuning: what it reaches, with how many labels, and what it is better than."""

from claims import Found, found
from claims.measured import measured
from lectures_lib import data, results
from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert, BertConfig
from lectures_lib.tasks.fine_tuning import collate, sentences
from lectures_lib.tasks.task_heads import SentenceClassifier
from lectures_lib.tokenization import WordPiece


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
