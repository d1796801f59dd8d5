"""What reads texts with a model puts them where the model is, and says the same as on the CPU."""

import pytest
import torch
from torch.testing import assert_close

from lectures_lib.analysis.features import word_vectors
from lectures_lib.analysis.perturbed_masking import impact_matrix
from lectures_lib.decoding import LanguageModelWithCache, TransformerWithCache
from lectures_lib.models.bert import Bert, BertConfig, BertForPreTraining
from lectures_lib.models.language_model import LanguageModel, LanguageModelConfig
from lectures_lib.models.minilm import checkpoint
from lectures_lib.models.transformer import Transformer, TransformerConfig
from lectures_lib.models.vit import ViT, ViTConfig
from lectures_lib.tasks import fine_tuning, task_heads
from lectures_lib.tasks.sentence_bert import SentenceBert
from lectures_lib.tasks.word_level import cut_words, word_attention, word_states
from lectures_lib.tokenization import WordPiece
from lectures_lib.training.pretraining import PreTrainingBatches, evaluate, fill_mask
from tests.helpers.other_device import Elsewhere, other_device, waits

WORDPIECE = WordPiece.load(checkpoint() / "vocab.txt")
SENTENCES = [["The", "flightless", "birds", "ate", "."], ["They", "did"]]
TEXTS = [" ".join(words) for words in SENTENCES]
ROWS = {
    "sentences": [{"text": text, "label": 0} for text in TEXTS],
    "choices": [{"start": text, "endings": ["so", "or so"], "label": 0} for text in TEXTS],
    "questions": [{"question": "who?", "context": text, "answers": []} for text in TEXTS],
}
EXAMPLES = {kind: getattr(fine_tuning, kind)(rows, WORDPIECE) for kind, rows in ROWS.items()}
EXAMPLES["tagged"] = fine_tuning.tagged(
    [{"words": words, "labels": ["O"] * len(words)} for words in SENTENCES], WORDPIECE, ["O"]
)


def body():
    return Bert(BertConfig(30_522, 16, 2, 4, 32, max_len=30, init_std=0.1))


def pretrained():
    return BertForPreTraining(body().config)


def asked():
    """A batch of the two tasks."""
    sizes = {"max_len": 20, "batch_size": 4}
    return next(PreTrainingBatches([TEXTS] * 3, WORDPIECE, **sizes, seed=0).epoch(0))


HEADS = {
    "sentences": lambda: task_heads.SentenceClassifier(body(), 2),
    "choices": lambda: task_heads.MultipleChoice(body()),
    "tagged": lambda: task_heads.TokenTagger(body(), 3),
    "questions": lambda: task_heads.SpanExtractor(body()),
}
READERS = {
    "word_states": (body, lambda model: word_states(model, WORDPIECE, SENTENCES)),
    "word_attention": (body, lambda model: list(word_attention(model, WORDPIECE, SENTENCES))),
    "impact_matrix": (
        body,
        lambda model: [impact_matrix(model, WORDPIECE, SENTENCES[0], batch_size=4)],
    ),
    "word_vectors": (
        body,
        lambda model: word_vectors(model, [cut_words(WORDPIECE, words) for words in SENTENCES]),
    ),
    "evaluate": (
        pretrained,
        lambda model: [torch.tensor(evaluate(model, [asked()], WORDPIECE.token_id("[MASK]")))],
    ),
    "fill_mask": (
        pretrained,
        lambda model: [
            torch.tensor([guess.probability for guess in guesses])
            for guesses in fill_mask(model, WORDPIECE, "The [MASK] ate.")
        ],
    ),
    "embed": (
        lambda: SentenceBert(body(), WORDPIECE, max_len=20),
        lambda model: [model.embed(TEXTS)],
    ),
}
for kind, make in HEADS.items():
    READERS |= {
        f"scores, {kind}": (
            make,
            lambda model, kind=kind: fine_tuning.scores(model, EXAMPLES[kind]),
        ),
        f"predict, {kind}": (
            make,
            lambda model, kind=kind: [
                torch.tensor(p) for p in fine_tuning.predict(model, EXAMPLES[kind])
            ],
        ),
    }


def reading(make, read, move):
    """What the same model reads here or on the other device."""
    torch.manual_seed(0)
    model = make().eval()
    if not move:
        return read(model)
    with other_device() as device:
        return [x.cpu() for x in read(model.to(device))]


@pytest.mark.parametrize("name", READERS)
def test_texts_are_read_where_the_model_is(name):
    assert_close(reading(*READERS[name], move=True), reading(*READERS[name], move=False))


def test_the_other_device_is_one():
    """It refuses what a GPU would refuse."""
    here = torch.ones(3)
    with other_device() as device:
        there = torch.ones(3, device=device)
        assert isinstance(there, Elsewhere) and there.device == here.to(device).device == device
        assert (there * 2).cpu().tolist() == [2.0, 2.0, 2.0] and there.sum().item() == 3.0
        for wrong in (
            lambda: there + here,
            lambda: torch.nn.Linear(3, 1).to(device)(here),
            lambda: torch.stack([here, there]),
        ):
            with pytest.raises(RuntimeError, match="same device"):
                wrong()


def tokens(*shape):
    return torch.randint(3, 999, shape)


PASSES = {
    "Transformer": (
        lambda: Transformer(TransformerConfig.TINY),
        lambda: (tokens(2, 5), tokens(2, 4), torch.tensor([5, 3])),
    ),
    "LanguageModel": (lambda: LanguageModel(LanguageModelConfig.TINY), lambda: (tokens(2, 5),)),
    "Bert": (body, lambda: (tokens(2, 5), torch.zeros_like(tokens(2, 5)), torch.tensor([5, 3]))),
    "ViT": (lambda: ViT(ViTConfig.DIGITS), lambda: (torch.rand(2, 1, 8, 8),)),
}


@pytest.mark.parametrize("name", PASSES)
def test_a_forward_pass_never_waits_for_the_device(name):
    make, inputs = PASSES[name]
    model = make().eval()
    with other_device() as device, torch.no_grad():
        there, moved = model.to(device), [x.to(device) for x in inputs()]
        with waits() as seen:
            there(*moved)
    assert seen == []


@pytest.mark.parametrize(
    ("make", "with_cache"),
    [
        (lambda: Transformer(TransformerConfig.TINY), TransformerWithCache),
        (lambda: LanguageModel(LanguageModelConfig.TINY), LanguageModelWithCache),
    ],
)
def test_a_decoding_step_never_waits_for_the_device(make, with_cache):
    model = make().eval()
    with other_device() as device, torch.no_grad():
        cached = with_cache(model.to(device))
        state = cached.start(tokens(2, 5).to(device), torch.tensor([5, 3]).to(device)).state
        with waits() as seen:
            for _ in range(5):
                state = cached.step(tokens(2).to(device), state).state
    assert seen == []


def test_a_wait_is_seen():
    with other_device() as device:
        there = torch.ones(3, device=device)
        for wait in (
            lambda: there.sum().item(),
            lambda: bool((there > 0).all()),
            lambda: there.nonzero(),
            lambda: there[there > 0],
            lambda: there.cpu(),
            lambda: torch.equal(there, there),
        ):
            with waits() as seen:
                wait()
            assert seen, wait
