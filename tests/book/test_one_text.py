"""One text: what a chapter writes in a cell is what the library holds, annotations, docstrings and
refusals at the door aside.

A class may have more in the library than in the cell (reading a checkpoint, say), but no method
that both have may differ.
"""

import ast
import inspect
import re
from functools import cache
from importlib import import_module
from pathlib import Path
from textwrap import dedent

import jupytext
import pytest
import torch

from lectures_lib.blocks.recording import record
from lectures_lib.decoding import greedy
from lectures_lib.models.language_model import LanguageModel, LanguageModelConfig
from lectures_lib.models.transformer import Transformer, TransformerConfig
from lectures_lib.training import fit

ROOT = Path(__file__).resolve().parents[2]
# Each concept, the chapter that writes it, and the module that holds it.
CONCEPTS = {
    "causal_mask": ("02_self_attention", "blocks.attention"),
    "padding_mask": ("03_multi_head_attention", "blocks.attention"),
    "attention_weights": ("02_self_attention", "blocks.attention"),
    "scaled_dot_product_attention": ("02_self_attention", "blocks.attention"),
    "DotProductAttention": ("02_self_attention", "blocks.attention"),
    "split_heads": ("03_multi_head_attention", "blocks.attention"),
    "merge_heads": ("03_multi_head_attention", "blocks.attention"),
    "MultiHeadAttention": ("03_multi_head_attention", "blocks.attention"),
    "SinusoidalPositions": ("04_order", "blocks.positions"),
    "LearnedPositions": ("04_order", "blocks.positions"),
    "FeedForward": ("05_encoder", "blocks.layers"),
    "Residual": ("05_encoder", "blocks.layers"),
    "EncoderBlock": ("05_encoder", "blocks.layers"),
    "Encoder": ("05_encoder", "blocks.layers"),
    "TokenEmbedding": ("06_decoder", "blocks.layers"),
    "initialise": ("06_decoder", "blocks.layers"),
    "shift_right": ("06_decoder", "models.transformer"),
    "to_ids": ("06_decoder", "data.dates"),
    "to_text": ("06_decoder", "data.dates"),
    "spellings": ("06_decoder", "data.dates"),
    "DecoderBlock": ("06_decoder", "blocks.layers"),
    "Decoder": ("06_decoder", "blocks.layers"),
    "TransformerConfig": ("06_decoder", "models.transformer"),
    "Transformer": ("06_decoder", "models.transformer"),
    "LanguageModel": ("10_language_model", "models.language_model"),
    "ViT": ("11_vision_transformer", "models.vit"),
    "BertEmbeddings": ("12_bert", "models.bert"),
    "Bert": ("12_bert", "models.bert"),
    "patches": ("11_vision_transformer", "models.vit"),
    "unpatch": ("11_vision_transformer", "models.vit"),
    "interpolate_positions": ("11_vision_transformer", "models.vit"),
    "rollout": ("11_vision_transformer", "analysis.rollout"),
    "_pattern": ("12_bert", "models.hugging_face"),
    "rename": ("12_bert", "models.hugging_face"),
    "load_into": ("12_bert", "models.hugging_face"),
    "KeyValueCache": ("09b_cache", "decoding.cache"),
    "attend_with_cache": ("09b_cache", "decoding.cache"),
    "decoder_block_with_cache": ("09b_cache", "decoding.cache"),
    "visible": ("07_subwords", "tokenization.byte_level"),
    "bert_schedule": ("08_training", "training.schedules"),
    "n_grams": ("08b_judging", "metrics.generation"),
    "corpus_bleu": ("08b_judging", "metrics.generation"),
    "length_penalty": ("09_generating", "decoding.beam_search"),
    "mask_tokens": ("13_pretraining", "training.pretraining.masking"),
    "masked_batch": ("13_pretraining", "training.pretraining.batches"),
    "fill_mask": ("13_pretraining", "training.pretraining.mask_filling"),
    "standard_error": ("13b_how_sure", "metrics.certainty"),
    "sign_test": ("13b_how_sure", "metrics.certainty"),
    "bootstrap_difference": ("13b_how_sure", "metrics.certainty"),
    "LowRank": ("14_fine_tuning", "tasks.low_rank"),
    "ScalarMix": ("15b_which_layers", "analysis.probing"),
    "skip_gram_loss": ("15_features", "models.word2vec"),
    "SkipGram": ("15_features", "models.word2vec"),
    "nearest_neighbour_accuracy": ("15_features", "analysis.features"),
    "governor_hits": ("16_what_bert_learns", "analysis.attention_statistics"),
    "Probe": ("16b_probing", "analysis.probing"),
    "fit_probe": ("16b_probing", "analysis.probing"),
    "control_labels": ("16b_probing", "analysis.probing"),
    "differential_scores": ("16b_probing", "analysis.probing"),
    "expected_layer": ("16b_probing", "analysis.probing"),
    "real_tokens": ("17_sentence_bert", "tasks.sentence_bert.pooling"),
    "mean_pooling": ("17_sentence_bert", "tasks.sentence_bert.pooling"),
    "max_pooling": ("17_sentence_bert", "tasks.sentence_bert.pooling"),
    "cosines": ("17_sentence_bert", "tasks.sentence_bert.semantic_search"),
    "Siamese": ("17_sentence_bert", "tasks.sentence_bert.siamese"),
    "attention_flops": ("18b_what_it_costs", "training.cost"),
    "feed_forward_flops": ("18b_what_it_costs", "training.cost"),
    "bert_flops": ("18b_what_it_costs", "training.cost"),
    "activation_bytes": ("18b_what_it_costs", "training.cost"),
    "training_bytes": ("18b_what_it_costs", "training.cost"),
    "plan": ("18b_what_it_costs", "training.packing"),
    "block_mask": ("18b_what_it_costs", "training.packing"),
    "distillation_loss": ("18b_what_it_costs", "training.losses"),
    "every_other_layer": ("18b_what_it_costs", "models.bert"),
}
# Functions of chapters that have a concept's name and are another thing on purpose.
OTHERS = {
    ("05_encoder", "cosines"),  # of the rows of one table among themselves
}
# What a chapter writes otherwise than the library does under the same name, and why.
APART = {
    ("01_bottleneck", "Look"): "one way to score; the library's takes any of three",
    ("04_order", "shift_matrix"): "made of `rotation`, turn by turn; the library's is one table",
    (
        "04_order",
        "sinusoidal_positions",
    ): "the library's takes an odd width, and computes in float64",
    ("07_subwords", "learn"): "letters, and equals as in the paper; the library's counts bytes",
    ("09_generating", "beam"): "a tree of words in place of a model and a batch",
    ("10_language_model", "perplexity"): "of log probabilities; calls the library's",
    ("12_bert", "hidden_states"): "by the recorder, and with the weights of attention",
    ("13_pretraining", "evaluate"): "short; the library's adds up sums, and gives the counts",
    ("14_fine_tuning", "fine_tune"): "the loop written out; the library's calls `fit`",
    ("14b_words_and_spans", "align"): "cuts the words too; the library's reading does that",
    ("14b_words_and_spans", "entities"): "written out; the library asks seqeval",
    ("14b_words_and_spans", "word_vectors"): "one state, one batch",
    ("16c_trees", "uuas"): "the library's takes what can be read only once, too",
    ("17b_searching", "search"): "of vectors of length 1; the library's divides, and names",
}
# What it writes otherwise and the library has under another name.
OTHERWISE = {
    "ByteBPE": (
        "07_subwords",
        "tokenization.BPE",
        "short; the library's is fast, and can be saved",
    ),
    "cut_by_length": ("08_training", "data.Batches", "so many rows; the library's, so many tokens"),
    "OurSpans": ("14b_words_and_spans", "tasks.task_heads.SpanExtractor", "without dropout"),
}
# The same words for other things.
NAMESAKES = re.findall(
    r"\w+",
    """
    accuracy answers characters_of count encode merge number_words pack read rounded
    sentence small_bert translate Translator words_of write
    """,
)
# The reader's heads, and what the library calls them: it makes all of them alike, from `Head`.
HEADS = {
    "OurClassifier": ("14_fine_tuning", "SentenceClassifier"),
    "OurRegressor": ("14_fine_tuning", "SentenceRegressor"),
    "OurTagger": ("14b_words_and_spans", "TokenTagger"),
}
ASIDE = {"at_the_door"}


class Bare(ast.NodeTransformer):
    """Takes away what a cell may leave out: annotations, docstrings, `@at_the_door(…)`."""

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        node.returns = None
        node.decorator_list = [
            d
            for d in node.decorator_list
            if getattr(getattr(d, "func", None), "id", None) not in ASIDE
        ]
        node.body = without_docstring(node.body)
        return node

    def visit_ClassDef(self, node):
        self.generic_visit(node)
        node.body = without_docstring(node.body)
        return node

    def visit_arg(self, node):
        node.annotation = None
        return node


def without_docstring(body):
    """The statements of a body, its docstring left out."""
    documented = (
        isinstance(body[0], ast.Expr)
        and isinstance(body[0].value, ast.Constant)
        and isinstance(body[0].value.value, str)
    )
    return body[documented:] or [ast.Pass()]


def bare(code: str) -> ast.AST:
    """The one definition in this code, bare."""
    (node,) = Bare().visit(ast.parse(dedent(code))).body
    return node


def parts(node: ast.AST) -> dict[str, str]:
    """A function as one text; a class as its bases, its methods and its other statements."""
    if not isinstance(node, ast.ClassDef):
        return {node.name: ast.unparse(node)}
    found = {"bases": ", ".join(map(ast.unparse, node.bases))}
    return found | {
        getattr(part, "name", f"statement {i}"): ast.unparse(part)
        for i, part in enumerate(node.body)
    }


def written(notebook) -> dict[str, ast.AST]:
    """All functions and classes that a notebook's cells define at their top, by name."""
    found = {}
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        try:
            tree = ast.parse(cell.source)
        except SyntaxError:  # a magic command
            continue
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found[node.name] = Bare().visit(node)
    return found


def in_library(name: str) -> ast.AST:
    """What the library holds under this name."""
    thing = getattr(import_module(f"lectures_lib.{CONCEPTS[name][1]}"), name)
    return bare("".join(inspect.getsourcelines(inspect.unwrap(thing))[0]))


def differences(name: str, cell: ast.AST) -> dict[str, tuple[str, str]]:
    """The parts in which the cell and the library differ."""
    library, ours = parts(in_library(name)), parts(cell)
    return {
        part: (text, library.get(part, ""))
        for part, text in ours.items()
        if library.get(part) != text
    }


@cache
def chapters() -> dict[str, dict[str, ast.AST]]:
    """What each chapter writes, by name. Read when a test asks: the process that runs none of them need
    not.
    """
    return {
        path.stem: written(jupytext.read(path))
        for path in sorted((ROOT / "notebooks").glob("*.py"))
    }


@pytest.mark.parametrize("name", CONCEPTS)
def test_the_chapter_writes_what_the_library_holds(name):
    chapter, _ = CONCEPTS[name]
    assert name in chapters()[chapter], f"chapter {chapter} no longer writes {name}"
    cell = chapters()[chapter][name]
    assert not differences(name, cell)
    if isinstance(cell, ast.ClassDef) and not cell.decorator_list:  # a dataclass makes itself
        assert {"__init__"} < parts(cell).keys(), (
            "a class is written with what makes it and what it does"
        )


def test_no_other_chapter_writes_it_differently():
    found = [
        (chapter, name)
        for chapter, cells in chapters().items()
        for name in cells
        if name in CONCEPTS and differences(name, cells[name])
    ]
    assert set(found) == OTHERS


def test_no_name_of_the_library_is_written_unseen():
    """What a chapter writes under a name that the library has is a concept, or stands in a list."""
    homes = {"homework", "exam", "show"}
    paths = (path for path in (ROOT / "lectures_lib").rglob("*.py") if not homes & {*path.parts})
    library = {
        getattr(node, "name", "") for path in paths for node in ast.parse(path.read_text()).body
    }
    found = {
        (chapter, name)
        for chapter, cells in chapters().items()
        for name in cells
        if name in library - CONCEPTS.keys() - {*NAMESAKES}
    }
    assert found == APART.keys()
    for name, (chapter, librarys, _) in OTHERWISE.items():
        module, _, thing = librarys.rpartition(".")
        assert name in chapters()[chapter], name
        assert hasattr(import_module(f"lectures_lib.{module}"), thing), librarys


def test_the_lists_of_namesakes_have_nothing_more():
    written_in = {name for cells in chapters().values() for name in cells}
    assert {*NAMESAKES} <= written_in
    assert all(name not in CONCEPTS for _, name in APART)


@pytest.mark.parametrize("name", HEADS)
def test_a_reader_s_head_reads_as_the_library_s(name):
    chapter, librarys = HEADS[name]
    head = getattr(import_module("lectures_lib.tasks.task_heads"), librarys)
    assert (
        parts(chapters()[chapter][name])["forward"]
        == parts(bare(inspect.getsource(head)))["forward"]
    )


def test_the_experiment_trains_what_the_chapter_writes():
    """Chapter 11b quotes what experiments/images.py measured of these four convolutions."""
    tree = ast.parse((ROOT / "experiments" / "images.py").read_text())
    (measured,) = [node for node in tree.body if getattr(node, "name", "") == "convolutions"]
    cell = chapters()["11b_attention_or_convolution"]["convolutions"]
    assert parts(Bare().visit(measured)) == parts(cell)


@pytest.mark.parametrize(
    ("code", "differs"),
    [
        ("def merge_heads(x):\n    return x.transpose(1, 2).flatten(start_dim=2)", []),
        (
            'def merge_heads(x: int) -> int:\n    """Other words."""\n    return x.transpose(1, '
            "2).flatten(start_dim=2)  # why",
            [],
        ),
        ("def merge_heads(x):\n    return x.transpose(1, 2).flatten(2)", ["merge_heads"]),
        ("def merge_heads(y):\n    return y.transpose(1, 2).flatten(start_dim=2)", ["merge_heads"]),
        (
            "def merge_heads(x, n=1):\n    return x.transpose(1, 2).flatten(start_dim=2)",
            ["merge_heads"],
        ),
    ],
)
def test_it_sees_a_change(code, differs):
    assert list(differences("merge_heads", bare(code))) == differs


def test_it_sees_a_change_in_a_class():
    (cell,) = (cells["Residual"] for cells in chapters().values() if "Residual" in cells)
    assert not differences("Residual", cell)
    code = ast.unparse(cell)
    assert list(
        differences("Residual", bare(code.replace("self.norm(x + ", "self.norm(x - ")))
    ) == ["forward"]
    assert list(differences("Residual", bare(code.replace("nn.Module", "nn.Linear")))) == ["bases"]
    assert list(
        differences("Residual", bare(code + "\n    def more(self):\n        return 1"))
    ) == ["more"]


def test_a_reader_s_own_transformer_can_be_decoded(shapes_unchecked):
    """Its class is not the library's, and greedy decoding and the recorder take it all the same."""
    cells, code = chapters()["06_decoder"], "import math\nimport torch\nfrom torch import nn\n"
    code += "".join(
        f"from lectures_lib.blocks.{module} import *\n"
        for module in ("attention", "layers", "positions")
    )
    code += "\n".join(
        ast.unparse(cells[name]) for name in ("DecoderBlock", "Decoder", "Transformer")
    )
    built: dict = {}
    exec(code, built)
    model, library = (
        built["Transformer"](TransformerConfig.TINY).eval(),
        Transformer(TransformerConfig.TINY).eval(),
    )
    library.load_state_dict(model.state_dict())
    source, options = torch.randint(3, 999, (2, 5)), {"begin": 1, "end": 2, "max_len": 6}
    assert torch.equal(
        greedy(model, source, **options).tokens, greedy(library, source, **options).tokens
    )
    with record(model) as seen:
        model(source, source)
    assert len(seen.all("decoder.blocks.*.cross_attention.weights")) == 2


class Shuffled:
    """Batches of 32 blocks, each epoch's in the order that it is given."""

    def __init__(self, blocks, orders):
        self.blocks, self.orders = blocks, orders

    def epoch(self, number):
        return (self.blocks[rows] for rows in self.orders[number].split(32))


def test_the_loop_of_the_language_model_is_the_library_s(shapes_unchecked):
    """The same weights as by `fit`, bit for bit, over the end of an epoch."""
    cells, code = chapters()["10_language_model"], "import torch\nfrom torch import nn\n"
    code += "import torch.nn.functional as F\n"
    code += "\n".join(
        ast.unparse(cells[name]) for name in ("next_token_loss", "by_model", "train_model")
    )
    built: dict = {"write": lambda *_, **__: "", "tokenizer": None}
    exec(code, built)
    config, steps = LanguageModelConfig(13, 16, n_heads=2, n_layers=1, d_ff=32, dropout=0.0), 7
    torch.manual_seed(1)
    blocks, model, library = (
        torch.randint(13, (90, 9)),
        LanguageModel(config),
        LanguageModel(config),
    )
    library.load_state_dict(model.state_dict())
    torch.manual_seed(2)
    log = built["train_model"](model, blocks, blocks[:8], steps)
    torch.manual_seed(2)
    batches = Shuffled(blocks, [torch.randperm(90) for _ in range(3)])
    optimizer = torch.optim.AdamW(library.parameters(), lr=8e-3, fused=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / 50, 1.2 * (1 - step / steps), 1)
    )
    options = {"steps": steps, "clip": 1.0, "progress": False}
    history = fit(library, batches, built["next_token_loss"], optimizer, schedule, **options)
    assert log[0][0] == history.losses[0]
    ours, theirs = model.state_dict(), library.state_dict()
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)


def test_bodies_fit_a_cell():
    """No function or method of a concept is longer than 24 lines, annotations and docstrings
    aside.
    """
    for name, (chapter, _) in CONCEPTS.items():
        cell = chapters()[chapter][name]
        for part in ast.walk(cell):
            if isinstance(part, ast.FunctionDef):
                assert len(ast.unparse(part).splitlines()) <= 24, f"{name}.{part.name}"
