"""Which layers of a frozen BERT serve best as features for names (chapter 15b; the form of Devlin
et al. 2019, table 7)?

    python experiments/ner_features.py
        three seeds, about ten minutes on two cores; writes book/results/ner_features.json
    python experiments/ner_features.py --smoke
        a minute, to see that it runs; writes nothing
    python experiments/ner_features.py --only last
        some of the rows only (the others are kept from the last run)
    python experiments/ner_features.py --model bert-base-uncased
        another BERT's vectors; writes ner_features_bert_base_uncased.json

WNUT-17 (real data: LECTURES_DATA, or the hub), MiniLM's vectors, each word represented by its first
piece, as in the paper. They are computed once, on a GPU where there is one (the taggers are trained
on the CPU). On them two taggers are trained: a linear layer, and the paper's two-layer BiLSTM,
narrower. Beside them: logistic regression on the word, its neighbours and its shape; and vectors
that do not depend on the sentence. All choices (learning rates, epochs, widths) were made once, on
the validation split, and are the same for all rows. Fine-tuning is experiments/fine_tuning.py.
"""

import argparse
import re
import time

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.optim.lr_scheduler import LambdaLR

from lectures_lib import data, results
from lectures_lib.analysis import features
from lectures_lib.analysis.features import COMBINATIONS, FeatureTagger, LayerCombination
from lectures_lib.data.words import WordVocabulary
from lectures_lib.metrics import entity_scores
from lectures_lib.models import hugging_face, minilm, word2vec
from lectures_lib.models.bert import Bert
from lectures_lib.tasks import task_heads
from lectures_lib.tasks.word_level import cut_words
from lectures_lib.tokenization import WordPiece
from lectures_lib.training import fit

SEEDS = [0, 1, 2]
SPLITS = ("train", "validation", "test")
LINEAR = {"d_lstm": 0, "dropout": 0.0, "rate": 2e-3, "epochs": 5, "batch_size": 16}
BILSTM = {"d_lstm": 64, "dropout": 0.2, "rate": 2e-3, "epochs": 4, "batch_size": 32}
WORD = re.compile(r"[^\W\d_]+|\d")


class Task:
    """WNUT-17: sentences, labels, and the names of the labels."""

    def __init__(self, n: int | None):
        whole = {split: data.load("entities", split, "real") for split in SPLITS}
        self.names = [
            "O",
            *sorted({label for e in whole["train"] for label in e["labels"]} - {"O"}),
        ]
        self.examples = {split: examples[:n] for split, examples in whole.items()}
        ids = {name: i for i, name in enumerate(self.names)}
        self.labels = {
            s: [torch.tensor([ids[label] for label in e["labels"]]) for e in self.examples[s]]
            for s in SPLITS
        }

    def scores(self, predicted: dict[str, list[list[str]]]) -> dict[str, dict[str, float]]:
        """Precision, recall and F1 of both held-out splits."""
        return {
            s: entity_scores(p, [e["labels"] for e in self.examples[s]])._asdict()
            for s, p in predicted.items()
        }


class Vectors:
    """Every word's vectors, standardised: each number has mean 0 and variance 1 over the training
    words.

    Without that a layer of small vectors, such as MiniLM's last, would seem worse than it is: the
    same learning rate moves it less.
    """

    def __init__(self, of_split: dict[str, list[Tensor]]):
        words = torch.cat(of_split["train"], dim=1).float()
        centre, scale = (
            words.mean(dim=1, keepdim=True),
            words.std(dim=1, keepdim=True).clamp(min=1e-2),
        )  # MiniLM has constant ones
        self.of_split = {
            s: [((v.float() - centre) / scale).half() for v in vectors]
            for s, vectors in of_split.items()
        }

    def batch(self, split: str, rows: list[int]) -> tuple[Tensor, Tensor]:
        """Sentences (states, batch, words, d_model), padded with zeros, and their lengths."""
        chosen = [self.of_split[split][i].transpose(0, 1) for i in rows]  # (words, states, d_model)
        padded = torch.nn.utils.rnn.pad_sequence(chosen, batch_first=True)
        return padded.permute(2, 0, 1, 3).float(), torch.tensor(
            [len(sentence) for sentence in chosen]
        )


class OneState(torch.nn.Module):
    """In the place of a combination, where there is only one state."""

    def __init__(self, width: int):
        super().__init__()
        self.width, self.mix = width, None

    def forward(self, states: Tensor) -> Tensor:
        """The state."""
        return states[0]


def train(
    task: Task, vectors: Vectors, combination: torch.nn.Module, options: dict, seed: int
) -> FeatureTagger:
    """One tagger. Its bias begins at the logarithms of the labels' frequencies: nineteen words in
    twenty are outside of names.
    """
    tagger = FeatureTagger(combination, len(task.names), options["d_lstm"], options["dropout"])
    counts = torch.bincount(torch.cat(task.labels["train"]), minlength=len(task.names)).clamp(min=1)
    with torch.no_grad():
        tagger.head.bias.copy_((counts / counts.sum()).log())
    lengths = [(range(v.shape[1]),) for v in vectors.of_split["train"]]
    plans = data.Batches(lengths, list, batch_size=options["batch_size"], seed=seed)
    steps = options["epochs"] * len(plans.plan(0))
    optimizer = torch.optim.Adam(tagger.parameters(), lr=options["rate"])
    scheduler = LambdaLR(optimizer, lambda step: 1 - step / steps)
    for epoch in range(options["epochs"]):
        for rows in plans.plan(epoch):
            states, n_words = vectors.batch("train", rows)
            targets = [task.labels["train"][i] for i in rows]
            targets = torch.nn.utils.rnn.pad_sequence(
                targets, batch_first=True, padding_value=task_heads.UNLABELLED
            )
            loss = F.cross_entropy(
                tagger(states, n_words).flatten(0, 1),
                targets.flatten(),
                ignore_index=task_heads.UNLABELLED,
            )
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(tagger.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
    return tagger.eval()


@torch.no_grad()
def predict(task: Task, vectors: Vectors, tagger: FeatureTagger) -> dict[str, list[list[str]]]:
    """The labels of both held-out splits."""
    predicted = {}
    for split in SPLITS[1:]:
        sentences = vectors.of_split[split]
        by_length = sorted(range(len(sentences)), key=lambda i: sentences[i].shape[1])
        predicted[split] = [[] for _ in sentences]
        for start in range(0, len(by_length), 64):
            rows = by_length[start : start + 64]
            states, lengths = vectors.batch(split, rows)
            best = tagger(states, lengths).argmax(dim=-1)
            for i, labels, n in zip(rows, best.tolist(), lengths.tolist(), strict=True):
                predicted[split][i] = [task.names[label] for label in labels[:n]]
    return predicted


def shape(word: str) -> str:
    """A word's outline: Reykjavik and Oslo are Xx, iPhone7 is xXxd, @me is @x."""
    outline = "".join(
        "d" if c.isdigit() else ("X" if c.isupper() else "x") if c.isalpha() else c for c in word
    )
    return re.sub(r"(.)\1+", r"\1", outline)


def described(words: list[str]) -> list[dict[str, str]]:
    """What the baseline knows of each word: itself, its shape, its end, its neighbours."""
    small = ["<s>", *(word.lower() for word in words), "</s>"]
    return [
        {
            "word": small[i + 1],
            "shape": shape(w),
            "end": small[i + 1][-3:],
            "before": small[i],
            "after": small[i + 2],
        }
        for i, w in enumerate(words)
    ]


def bag_of_features(task: Task) -> dict[str, list[list[str]]]:
    """Logistic regression on these; nothing in it is random."""
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(DictVectorizer(), LogisticRegression(C=10.0, max_iter=200))
    train = task.examples["train"]
    model.fit(
        [d for e in train for d in described(e["words"])],
        [label for e in train for label in e["labels"]],
    )
    return {
        s: [list(model.predict(described(e["words"]))) for e in task.examples[s]]
        for s in SPLITS[1:]
    }


def static_pieces(task: Task, model: Bert, tokenizer: WordPiece) -> Vectors:
    """The vectors of MiniLM's own table, the mean over each word's pieces: no position, no
    neighbour, no layer.
    """
    table = model.embeddings.tokens.weight.detach().cpu()
    unknown = [tokenizer.token_id("[UNK]")]

    def sentence(words: list[str]) -> Tensor:
        return torch.stack(
            [table[tokenizer.encode(word) or unknown].mean(dim=0) for word in words]
        )[None]

    return Vectors({s: [sentence(e["words"]) for e in task.examples[s]] for s in SPLITS})


def skip_gram_vectors(task: Task, d: int, n_lines: int | None) -> tuple[Vectors, dict]:
    """word2vec, trained here on WikiText-2 and the training sentences. Words that it has not met
    have a vector of zeros.
    """
    texts = data.load("language_model", "train", "real")[:n_lines] + [
        " ".join(e["words"]) for e in task.examples["train"]
    ]
    sentences = [WORD.findall(line.lower()) for line in texts]
    vocabulary = WordVocabulary.build(sentences, min_count=5)
    text = word2vec.encode(sentences, vocabulary)
    torch.manual_seed(0)
    model = word2vec.SkipGram(len(vocabulary), d)
    batches = word2vec.SkipGramBatches(text, len(vocabulary), threshold=1e-4, batch_size=4096)
    steps = sum(1 for _ in batches.epoch(0))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    fit(
        model,
        batches,
        word2vec.batch_loss,
        optimizer,
        LambdaLR(optimizer, lambda step: 1 - step / steps),
        steps=steps,
        progress=False,
    )
    table, unknown = model.vectors.detach(), torch.zeros(d)

    def sentence(words: list[str]) -> Tensor:
        ids = [
            [vocabulary.ids[p] for p in WORD.findall(word.lower()) if p in vocabulary.ids]
            for word in words
        ]
        return torch.stack([table[i].mean(dim=0) if i else unknown for i in ids])[None]

    facts = {"words_of_text": sum(map(len, text)), "vocabulary": len(vocabulary), "d": d}
    return Vectors({s: [sentence(e["words"]) for e in task.examples[s]] for s in SPLITS}), facts


def cost(task: Task, model: Bert, tokenizer: WordPiece, n: int = 320) -> dict[str, float]:
    """Processor time of one epoch of fine-tuning divided by that of computing the features, on the
    same sentences.
    """
    examples = task.examples["train"][:n]
    texts = [cut_words(tokenizer, e["words"]) for e in examples]
    plan = data.Batches([(text.ids,) for text in texts], data.pad_texts, batch_size=32).plan(0)
    tuned = task_heads.TokenTagger(
        Bert.from_pretrained(minilm.checkpoint()), len(task.names)
    ).train()
    optimizer = torch.optim.AdamW(tuned.parameters(), lr=1e-6)
    ratios = []
    for _ in range(5):
        start = time.process_time()
        features.word_vectors(model, texts, max_tokens=1024)
        middle = time.process_time()
        for rows in plan:
            batch = data.pad_texts([(texts[i].ids,) for i in rows])
            # any loss costs the same
            loss = tuned(batch.ids, lengths=batch.lengths).logsumexp(dim=-1).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        ratios.append((time.process_time() - middle) / (middle - start))
    return {"epoch_of_fine_tuning_over_features": results.spread(ratios)}


def main() -> None:
    """Every row with every seed; the file is written after each seed of each row."""
    rows = ["bag_of_features", "static_pieces", "skip_gram", *COMBINATIONS]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument(
        "--model", default="minilm", help="minilm, or an uncased BERT's id on the hub"
    )
    parser.add_argument("--only", nargs="*", choices=[*rows, "cost"], default=[*rows, "cost"])
    options = parser.parse_args()
    torch.set_num_threads(1 if not torch.cuda.is_available() else 4)
    task = Task(100 if options.smoke else None)
    small = options.model == "minilm"
    folder = (
        minilm.checkpoint()
        if small
        else hugging_face.checkpoint_folder(options.model, ("config.json", "vocab.txt"))
    )
    tokenizer, model = (
        WordPiece.load(folder / "vocab.txt"),
        Bert.from_pretrained(minilm.checkpoint() if small else options.model),
    )
    model.to("cuda" if torch.cuda.is_available() else "cpu")
    name = (
        "ner_features"
        if small
        else f"ner_features_{options.model.split('/')[-1].replace('-', '_')}"
    )
    try:
        measured = results.load(name)["results"]
    except FileNotFoundError:
        measured = {}
    whose = "MiniLM" if small else options.model
    title = (
        f"Entity F1 on WNUT-17 from frozen features: which hidden states of {whose}, under a "
        f"linear layer and under a BiLSTM"
    )

    def save(row: str, found: dict) -> None:
        measured[row] = found
        if not options.smoke:
            results.save(name, measured, title, SEEDS)

    def taggers(row: str, vectors: Vectors, make, facts: dict) -> None:
        found: dict = {**facts}
        for name, tagger_options in (("linear", LINEAR), ("bilstm", BILSTM)):
            runs, shares = [], []
            for seed in SEEDS:
                torch.manual_seed(seed)
                tagger = train(task, vectors, make(), tagger_options, seed)
                runs.append(task.scores(predict(task, vectors, tagger)))
                found[name] = results.spreads(runs)
                if tagger.combination.mix is not None:
                    shares.append(tagger.combination.mix.shares.tolist())
                    first = len(vectors.of_split["train"][0]) - len(shares[0])
                    found[name]["shares"] = {
                        str(first + i): results.spread([run[i] for run in shares])
                        for i in range(len(shares[0]))
                    }
                save(row, found)
                print(
                    row,
                    name,
                    seed,
                    {s: {k: round(v, 3) for k, v in run.items()} for s, run in runs[-1].items()},
                    flush=True,
                )

    if "cost" in options.only and small:
        save("cost", cost(task, model, tokenizer))
        print("cost", measured["cost"], flush=True)
    if "bag_of_features" in options.only:
        found = task.scores(bag_of_features(task))
        save("bag_of_features", found)
        print("bag_of_features", found, flush=True)
    if "static_pieces" in options.only:
        taggers(
            "static_pieces",
            static_pieces(task, model, tokenizer),
            lambda: OneState(model.config.d_model),
            {},
        )
    if "skip_gram" in options.only:
        vectors, facts = skip_gram_vectors(task, 100, 2000 if options.smoke else None)
        taggers("skip_gram", vectors, lambda: OneState(facts["d"]), facts)
    if not set(options.only) & set(COMBINATIONS):
        return
    start = time.process_time()
    located = {s: [cut_words(tokenizer, e["words"]) for e in task.examples[s]] for s in SPLITS}
    vectors = Vectors(
        {
            s: [v.cpu().half() for v in features.word_vectors(model, texts)]
            for s, texts in located.items()
        }
    )
    print(f"features: {time.process_time() - start:.0f} s of processor time", flush=True)
    for row in COMBINATIONS:
        if row in options.only:
            taggers(
                row,
                vectors,
                lambda row=row: LayerCombination(row, model.config.n_layers, model.config.d_model),
                {},
            )


if __name__ == "__main__":
    main()
