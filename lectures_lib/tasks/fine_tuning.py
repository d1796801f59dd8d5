"""Fine-tuning: labelled examples into batches, all of BERT and a new head trained on them,
predictions out (chapter 14).

Devlin et al. 2019, section 4 and appendix A.3: a few epochs, Adam with a small learning rate that
rises, then falls.

    examples = fine_tuning.sentences(data.load("sentiment"), tokenizer)
    model = task_heads.SentenceClassifier(Bert.from_pretrained(minilm.checkpoint()), n_classes=2)
    fine_tuning.fine_tune(model, fine_tuning.batches(examples, batch_size=32), epochs=3, rate=5e-5)
    fine_tuning.predict(model, examples)
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from jaxtyping import Int, Shaped
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR

from lectures_lib import training
from lectures_lib.data import Batches, pad
from lectures_lib.modes import evaluating
from lectures_lib.tasks import alignment
from lectures_lib.tasks.alignment import MAX_LEN, Read, ReadWords
from lectures_lib.tasks.task_heads import (
    UNLABELLED,
    Head,
    SentenceRegressor,
    SpanExtractor,
    SpanScores,
    TokenTagger,
    best_spans,
)
from lectures_lib.tokenization import WordPiece


class Example(NamedTuple):
    """What a model reads, and what it should say.

    Args:
        reads: one text or pair; for a multiple choice one for each ending.
        target: a class; a number (float); a label for each piece (list); or the first and last
            piece of an answer (tuple).
    """

    reads: tuple[Read | ReadWords, ...]
    target: int | float | list[int] | tuple[int, int]


def sentences(rows: Iterable[dict], tokenizer: WordPiece, max_len: int = MAX_LEN) -> list[Example]:
    """Examples of single sentences with a class, from dictionaries {"text", "label"} (SST-2, CoLA).

    Longer texts are cut at their ends, and a warning says how many were.

    Raises:
        ValueError: for an empty text.
    """
    return _examples(
        rows, tokenizer, max_len, lambda row: [(row["text"], None)], lambda row: int(row["label"])
    )


def pairs(rows: Iterable[dict], tokenizer: WordPiece, max_len: int = MAX_LEN) -> list[Example]:
    """Examples of pairs with a class, from {"first", "second", "label"} (RTE, QNLI), or with a
    number, {"first", "second", "score"} (STS-B).

    Longer pairs are cut at the end of the longer text, and a warning says how many were.

    Raises:
        ValueError: for an empty text.
    """

    def target(row: dict) -> int | float:
        return float(row["score"]) if "score" in row else int(row["label"])

    return _examples(rows, tokenizer, max_len, lambda row: [(row["first"], row["second"])], target)


def choices(rows: Iterable[dict], tokenizer: WordPiece, max_len: int = MAX_LEN) -> list[Example]:
    """Examples of a beginning and its possible endings, from {"start", "endings", "label"} (SWAG).

    What is longer is cut, and a warning says how many were.

    Raises:
        ValueError: for an empty text, or fewer than two endings.
    """

    def texts(row: dict) -> list[tuple[str, str]]:
        if len(row["endings"]) < 2:
            raise ValueError(f"a choice needs at least 2 endings, got {len(row['endings'])}")
        return [(row["start"], ending) for ending in row["endings"]]

    return _examples(rows, tokenizer, max_len, texts, lambda row: int(row["label"]))


def tagged(
    rows: Iterable[dict], tokenizer: WordPiece, names: Sequence[str], max_len: int = MAX_LEN
) -> list[Example]:
    """Examples of words with labels, from {"words", "labels"}: each word's first piece is labelled,
    the rest is not (WNUT-17).

    Args:
        rows: the examples.  tokenizer: cuts them into pieces.
        names: the labels there are, in the order of their ids.
        max_len: what is longer is cut, and a warning says how many were.

    Raises:
        ValueError: for a label that is not among the names, another number of labels than words, or
            no words.
    """
    rows, ids = list(rows), {name: i for i, name in enumerate(names)}
    if unknown := {label for row in rows for label in row["labels"]} - ids.keys():
        raise ValueError(
            f"labels {sorted(unknown)} are not among the {len(ids)} there are: {', '.join(ids)}"
        )
    examples, lengths = [], []
    for i, row in enumerate(rows):
        with _naming(i):
            read = alignment.read_words(tokenizer, row["words"], max_len)
            examples.append(
                Example((read,), alignment.align(read, [ids[label] for label in row["labels"]]))
            )
        lengths.append(
            len(read.ids)
            if len(read.ids) < max_len
            else len(alignment.read_words(tokenizer, row["words"], sys.maxsize).ids)
        )
    alignment.warn_of_cuts(lengths, max_len, stacklevel=2)
    return examples


def questions(rows: Iterable[dict], tokenizer: WordPiece, max_len: int = 384) -> list[Example]:
    """Examples of questions about a text, from {"question", "context", "answers"} (SQuAD): the
    first answer's pieces are learned.

    Of a long text only the beginning is read (the authors' code goes on with the rest in further
    examples, and so does not lose answers there). Where the answer was cut off, or there is none,
    the target is (0, 0), [CLS].

    Raises:
        ValueError: for an answer that is not in its context, an empty text, or a question too long
            for max_len.
    """
    examples = []
    for i, row in enumerate(rows):
        with _naming(i):
            pair = alignment.read_question(tokenizer, row["question"], row["context"], max_len)
            answers = [
                alignment.find_answer(pair, row["context"], answer["start"], answer["text"])
                for answer in row["answers"][:1]
            ]
            examples.append(Example((pair,), answers[0] if answers else (0, 0)))
    return examples


def _examples(
    rows: Iterable[dict],
    tokenizer: WordPiece,
    max_len: int,
    texts: Callable[[dict], list[tuple[str, str | None]]],
    target: Callable[[dict], int | float],
) -> list[Example]:
    """Every row's texts read, and its target. Errors name the row; one warning tells how much was
    cut off.
    """
    examples, lengths = [], []
    for i, row in enumerate(rows):
        with _naming(i):
            found = texts(row)
            reads = tuple(alignment.read(tokenizer, *text, max_len) for text in found)
            examples.append(Example(reads, target(row)))
        for read, text in zip(reads, found, strict=True):
            lengths.append(
                len(read.ids) if len(read.ids) < max_len else alignment.n_pieces(tokenizer, *text)
            )
    alignment.warn_of_cuts(lengths, max_len, stacklevel=3)
    return examples


@contextmanager
def _naming(i: int) -> Iterator[None]:
    """Errors say which example they are about."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"example {i}: {error}") from error


class Batch(NamedTuple):
    """Several examples, padded.

    Args:
        tokens, segments, lengths: what a head reads; for a multiple choice with an axis for the
            endings behind the first.
        targets: what its `loss` compares with.
    """

    tokens: Int[Tensor, "*batch n"]
    segments: Int[Tensor, "*batch n"]
    lengths: Int[Tensor, "*batch"]
    targets: Shaped[Tensor, "..."]

    @property
    def n_targets(self) -> int:
        """How many things the loss is the mean of: padding and unlabelled pieces are none."""
        if self.targets.is_floating_point():  # numbers: one of them may be -100
            return self.targets.numel()
        return int((self.targets != UNLABELLED).sum())


def collate(examples: Sequence[Example]) -> Batch:
    """Examples of one kind as a batch.

    Raises:
        ValueError: for no examples, or multiple choices with different numbers of endings.
    """
    n_choices = {len(example.reads) for example in examples}
    if len(n_choices) != 1:
        raise ValueError(
            f"a batch needs examples, all with the same number of texts to choose from, got "
            f"{sorted(n_choices)}"
        )
    reads = [read for example in examples for read in example.reads]
    tokens, lengths = pad([read.ids for read in reads])
    segments, _ = pad([read.segments for read in reads])
    targets = [example.target for example in examples]
    if isinstance(targets[0], list):
        targets = pad(targets, UNLABELLED).ids
    shape = (len(examples), n_choices.pop())
    if shape[1] > 1:
        tokens, segments, lengths = (x.unflatten(0, shape) for x in (tokens, segments, lengths))
    return Batch(tokens, segments, lengths, torch.as_tensor(targets))


def batches(
    examples: Sequence[Example],
    *,
    batch_size: int | None = None,
    max_tokens: int | None = None,
    seed: int = 0,
    by_length: bool = True,
) -> Batches:
    """Examples of similar length together, anew for every epoch; see `data.Batches` for the
    arguments.
    """
    lengths = [
        (len(example.reads) * max(len(read.ids) for read in example.reads),) for example in examples
    ]
    return Batches(
        examples,
        collate,
        batch_size=batch_size,
        max_tokens=max_tokens,
        seed=seed,
        by_length=by_length,
        lengths=lengths,
    )


def fine_tune(
    model: Head,
    batches: Batches,
    *,
    epochs: int = 3,
    rate: float = 5e-5,
    warmup: float = 0.1,
    weight_decay: float = 0.01,
    clip: float = 1.0,
    **options: Any,
) -> training.History:
    """Train the head, and the body with it, by AdamW; the rate rises for the first steps and falls
    to 0 at the last.

    A body none of whose parameters asks for a gradient (`model.bert.requires_grad_(False)`) stays
    as it is, without dropout: its vectors are then features. (Where some of it is trained, all of
    it has dropout, and what is frozen below gives random vectors unless the dropout is 0.)

    Args:
        model: a head from `lectures_lib.tasks.task_heads`, changed in place; in evaluation mode
            afterwards.
        batches: what to learn from.
        epochs: how often to go through them.  The paper tried 2, 3 and 4.
        rate: the highest learning rate. The paper tried 5e-5, 3e-5 and 2e-5.
        warmup: the share of the steps before it is reached.
        weight_decay: of matrices; biases and LayerNorm are not decayed.  clip: the longest
            gradient.
        options: more of `training.fit`, such as `evaluate` or `checkpoint`.

    Raises:
        ValueError: for labels that are no classes, fewer than one epoch, or nothing to train.
    """
    if epochs < 1:
        raise ValueError(f"at least one epoch is needed, got {epochs}")
    steps = sum(len(batches.plan(epoch)) for epoch in range(epochs))
    groups = decayed_and_not(model, weight_decay)
    # Fused: one pass over the parameters in place of several. With few tokens in a
    # batch the step costs as much as the gradient.
    optimizer = torch.optim.AdamW(groups, lr=rate, fused=True)
    scheduler = LambdaLR(optimizer, training.bert_schedule(int(warmup * steps), steps))
    compare = model.loss

    def loss(trained: nn.Module, batch: Batch) -> Tensor:
        scores = trained(batch.tokens, batch.segments, batch.lengths)
        return compare(scores, batch.targets)

    history = training.fit(
        model, batches, loss, optimizer, scheduler, steps=steps, clip=clip, **options
    )
    model.eval()
    return history


def decayed_and_not(model: nn.Module, weight_decay: float) -> list[dict[str, Any]]:
    """The trainable parameters in two groups: matrices, which are pulled towards 0, and vectors
    (biases, LayerNorm), which are not.

    Raises:
        ValueError: where there is nothing to train.
    """
    trainable = [p for p in model.parameters() if p.requires_grad]
    if not trainable:
        raise ValueError("nothing to train: no parameter asks for a gradient")
    matrices, vectors = [p for p in trainable if p.ndim > 1], [p for p in trainable if p.ndim < 2]
    return [
        {"params": matrices, "weight_decay": weight_decay},
        {"params": vectors, "weight_decay": 0.0},
    ]


@torch.no_grad()
def scores(model: Head, examples: Sequence[Example], batch_size: int = 64) -> list[Tensor]:
    """What the model says of each example, in their order; it is in evaluation mode meanwhile.

    Returns:
        For each example: scores of the classes or endings; a number; (n, classes) for a tagger; (2,
            n) for a span extractor.
    """
    order = sorted(
        range(len(examples)), key=lambda i: max(len(read.ids) for read in examples[i].reads)
    )
    device = next(model.parameters()).device
    found: list[Tensor] = [torch.empty(0)] * len(examples)
    for at in range(0, len(order), batch_size):
        rows = order[at : at + batch_size]
        batch = collate([examples[i] for i in rows])
        with evaluating(model):
            said = model(*(part.to(device) for part in batch[:3]))
        said = torch.stack(said, dim=1) if isinstance(said, SpanScores) else said
        for i, one, n in zip(rows, said.cpu(), batch.lengths, strict=True):
            if isinstance(model, (TokenTagger, SpanExtractor)):
                # without what is said of padding
                one = one[..., :n] if isinstance(model, SpanExtractor) else one[:n]
            found[i] = one
    return found


def predict(
    model: Head, examples: Sequence[Example], batch_size: int = 64, **options: Any
) -> list[Any]:
    """What the model takes for right, for each example.

    Args:
        model: a head from `lectures_lib.tasks.task_heads`.  examples: what to read; their targets
            are not looked at.
        batch_size: how many at once.
        options: of `best_spans`, for a `SpanExtractor`: `max_length`, `threshold`.

    Returns:
        A class (int) or an ending; a number (float); a class for each *word*, that of the name "O"
        for words that were cut off; or the first and the last piece of the answer, (0, 0) for none,
        for `alignment.quote`.

    Raises:
        ValueError: for words that were cut off, where the model has no class named "O".
    """
    outside = _outside(model, examples) if isinstance(model, TokenTagger) else 0
    found = scores(model, examples, batch_size)
    if isinstance(model, SentenceRegressor):
        return [float(number) for number in found]
    if isinstance(model, TokenTagger):
        return [
            alignment.words_of(e.reads[0], said.argmax(dim=-1).tolist(), outside)
            for e, said in zip(examples, found, strict=True)
        ]
    if isinstance(model, SpanExtractor):
        return [
            _best_span(e.reads[0], said, **options) for e, said in zip(examples, found, strict=True)
        ]
    return [int(said.argmax()) for said in found]


def _outside(model: TokenTagger, examples: Sequence[Example]) -> int:
    """The class of words that were cut off: "O", no name."""
    names = model.names or ()
    for i, starts in enumerate(example.reads[0].starts for example in examples):
        if None in starts and "O" not in names:
            named = f"are named {', '.join(names)}" if names else "have no names"
            raise ValueError(
                f"example {i}: {starts.count(None)} of its {len(starts)} words were cut off, and "
                f"which class is theirs is not known: none is named O, for the model's "
                f"{model.head.out_features} classes {named}"
            )
    return names.index("O") if "O" in names else 0


def _best_span(read: Read, said: Tensor, **options: Any) -> tuple[int, int]:
    allowed = torch.zeros(1, len(read.ids), dtype=torch.bool)
    allowed[0, alignment.context_places(read)] = True
    spans = best_spans(SpanScores(*said[:, None]), allowed, **options)
    return int(spans.start), int(spans.end)
