"""The published tables as data: whole, typed, with sources; what they add up to; and the same
figures as in the chapters.
"""

import ast
import re
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
import torch

from lectures_lib import results
from lectures_lib.models.bert import Bert, BertConfig
from lectures_lib.models.transformer import Transformer, TransformerConfig
from lectures_lib.models.vit import ViT, ViTConfig
from tests.helpers.chapter_anchors import lost

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "book"))
import claims  # noqa: E402
import published  # noqa: E402
from claims import tables as sums  # noqa: E402
from published import figures, table  # noqa: E402

TABLES = published.tables()
NAMES = [t.name for t in TABLES]


def test_every_file_is_on_the_page():
    assert sorted(NAMES) == sorted(path.stem for path in published.FOLDER.glob("*.yml"))


@pytest.mark.parametrize("data", TABLES, ids=NAMES)
def test_a_table_says_what_it_is_and_whose(data):
    known = set(
        re.findall(r"@\w+\{(\w+),", (ROOT / "book" / "references.bib").read_text(encoding="utf-8"))
    )
    assert data.title and data.about and data.place and data.source in known
    assert set(data.lectures) <= claims.read()["lectures"].keys() and bool(data.lectures) == bool(
        data.where
    )
    assert not data.see or lost(data.see) == ""
    assert all(column.head.strip() for column in data.columns) and len(
        {column.name for column in data.columns}
    ) == len(data.columns)
    assert len(data.rows) >= 2


@pytest.mark.parametrize("data", [t for t in TABLES if t.ours], ids=lambda t: t.name)
def test_our_measurements_are_in_their_files(data):
    for ours in data.ours:
        for value in ours.values:
            assert f"{results.value(ours.results, value['key']):{value['format']}}"


def test_we_stand_only_below_tables_that_can_be_compared():
    """GLUE: the same tasks and measures. Features: the same seven, of which the order is compared.
    Elsewhere task or measure is another.
    """
    assert {data.name for data in TABLES if data.ours} == {"glue", "bert_features"}
    assert all(
        "can be compared" in ours.note or "validation split" in ours.note
        for data in TABLES
        for ours in data.ours
    )


GOOD = {
    "title": "t",
    "lectures": [],
    "where": "",
    "source": "devlin2019bert",
    "place": "table 1",
    "about": "a",
    "columns": [
        {"name": "a", "head": "A", "type": "text"},
        {"name": "b", "head": "B", "type": "number"},
    ],
    "rows": [["x", "1.5"], ["y", ""]],
}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rows": [["x", "1.5"], ["y"]]}, r"2 columns; .*\['y'\]"),
        ({"rows": [["x", "1,5"]]}, "'1,5' in the column 'b' is no number"),
        (
            {
                "columns": [
                    {"name": "a", "head": "A", "type": "text"},
                    {"name": "b", "head": "B", "type": "float"},
                ]
            },
            r"unknown types: \['float'\]",
        ),
        ({"colour": "blue"}, "colour"),
    ],
)
def test_a_damaged_table_is_refused(tmp_path, monkeypatch, change, said):
    import yaml

    monkeypatch.setattr(published, "FOLDER", tmp_path)
    (tmp_path / "made_up.yml").write_text(yaml.safe_dump({**GOOD, **change}))
    table.cache_clear()
    with pytest.raises(ValueError, match=said):
        table("made_up")
    table.cache_clear()


# ------------------------------------------------------------------------------------------ figures


@pytest.mark.parametrize("data", [t for t in TABLES if t.figure], ids=lambda t: t.name)
def test_the_words_for_a_picture_are_true(data):
    """Each figure with a point in the alt text stands in the table, or is the difference of two of
    its cells, or nearly so for factors.
    """
    words = figures.FIGURES[data.figure](data)
    plt.close("all")
    cells = {cell for row in data.rows for cell in row}
    numbers = [
        x
        for column in data.columns
        if column.type != "text"
        for x in data[column.name]
        if x is not None
    ]
    differences = {f"{abs(a - b):.1f}" for a in numbers for b in numbers}
    assert [
        number for number in re.findall(r"\d+\.\d+", words) if number not in cells | differences
    ] == []


def test_every_table_has_a_figure():
    assert [t.name for t in TABLES if not t.figure] == []


def test_no_figure_without_a_table():
    assert set(figures.FIGURES) == {t.figure for t in TABLES if t.figure}


# ------------------------------------------------------------------------ what the tables add up to


def test_averages_of_glue():
    """ELMo's 71.0 is 70.94 from the printed scores, the others are exact; `claims.tables` says what
    rounding allows.
    """
    glue = table("glue")
    means = {row[0]: sum(float(cell) for cell in row[1:-1]) / 9 for row in glue.rows}
    wrong = {
        name for name, mean in means.items() if f"{mean:.1f}" != f"{glue.row(name)['average']:.1f}"
    }
    assert (
        wrong == {"BiLSTM + ELMo + attention"}
        and f"{means['BiLSTM + ELMo + attention']:.2f}" == "70.94"
    )


def test_scores_of_the_leaderboard():
    assert all(abs(sums.official(row) - row["score"]) <= 0.05 for row in sums.leaderboard())


def test_one_model_in_both_tables_of_glue():
    """BERT large has the same scores in the paper and on the leaderboard, wherever both give the
    same measure.
    """
    paper, board = (
        table("glue").row("BERT large"),
        next(row for row in sums.leaderboard() if row["model"] == "BERT large"),
    )
    same = {
        "mnli_m": "mnli_m",
        "mnli_mm": "mnli_mm",
        "qqp": "qqp_f1",
        "qnli": "qnli",
        "sst2": "sst2",
        "cola": "cola",
        "rte": "rte",
    }
    same |= {"stsb": "stsb", "mrpc": "mrpc_f1"}
    assert {name: paper[name] for name in same} == {
        name: board[other] for name, other in same.items()
    }


def test_shares_of_masking_are_whole():
    masking = table("bert_masking")
    assert {
        m + s + r
        for m, s, r in zip(masking["mask"], masking["same"], masking["random"], strict=True)
    } == {100}


def test_counted_parameters():
    bodies = {
        ("bert_sizes", "BERT base"): (Bert, BertConfig.BASE),
        ("bert_sizes", "BERT large"): (Bert, BertConfig.LARGE),
        ("transformer_sizes", "base"): (Transformer, TransformerConfig.BASE),
        ("transformer_sizes", "big"): (Transformer, TransformerConfig.BIG),
        ("vit_sizes", "ViT-Base"): (ViT, ViTConfig.B16),
        ("vit_sizes", "ViT-Large"): (ViT, ViTConfig.L16),
        ("vit_sizes", "ViT-Huge"): (ViT, ViTConfig.H14),
    }
    for (name, row), (model_class, config) in bodies.items():
        cells = table(name).row(row)
        with torch.device("meta"):
            counted = sum(p.numel() for p in model_class(config).parameters())
        assert f"{counted / 1e6:.1f}" == f"{cells['counted']:.1f}"
        sizes = (config.n_layers, config.d_model, config.d_ff, config.n_heads)
        assert sizes == tuple(cells[key] for key in ("n_layers", "d_model", "d_ff", "n_heads"))


@pytest.mark.parametrize(
    ("name", "row", "model_class", "config"),
    [
        ("bert_sizes", "BERT base", Bert, BertConfig.BASE),
        ("transformer_sizes", "big", Transformer, TransformerConfig.BIG),
        ("vit_sizes", "ViT-Huge", ViT, ViTConfig.H14),
    ],
)
def test_parts_of_the_bars_are_those_of_the_models(name, row, model_class, config):
    """The figure takes the matrices of attention and feed-forward layers; the models have biases
    there as well, under 1 %.
    """
    with torch.device("meta"):
        shapes = [
            (key, p.numel()) for key, p in model_class(config).named_parameters() if p.dim() == 2
        ]
    attention = sum(n for key, n in shapes if "attention" in key) / 1e6
    feed_forward = sum(n for key, n in shapes if "feed_forward" in key) / 1e6
    words = figures.FIGURES["parameters"](table(name))
    plt.close("all")
    assert (
        f"{row}: " in words
        and f"{attention:.0f} in attention, {feed_forward:.0f} in feed-forward layers"
        in words.split(f"{row}: ")[1]
    )


def test_four_chips_make_a_cloud_tpu():
    sizes = table("bert_sizes")
    assert [4 * n for n in sizes["cloud_tpus"]] == sizes["chips"]


def test_ablations_agree_where_they_share_a_model():
    """BERT base on the development sets: in tables 5 and 6 of the paper."""
    tasks, sizes = table("bert_pretraining_tasks").row("BERT base"), table("bert_model_size")
    base = [i for i, n in enumerate(sizes["n_layers"]) if n == 12 and sizes["d_model"][i] == 768]
    assert [(tasks["mnli"], tasks["mrpc"])] == [(sizes["mnli"][i], sizes["mrpc"][i]) for i in base]


# ------------------------------------------------------------------------------- as in the chapters


def literal(chapter: str, name: str):
    """What a chapter assigns to a name: a literal."""
    tree = ast.parse((ROOT / "notebooks" / f"{chapter}.py").read_text(encoding="utf-8"))
    (node,) = [
        n
        for n in tree.body
        if isinstance(n, ast.Assign)
        and [t.id for t in n.targets if isinstance(t, ast.Name)] == [name]
    ]
    return ast.literal_eval(node.value)


def test_chapter_6_quotes_the_same_translations():
    bleu = table("transformer_bleu")
    columns = (bleu["de"], bleu["fr"], bleu["cost_de"], bleu["cost_fr"])
    names = [
        name + (" ensemble" if kind == "ensemble" else "")
        for name, kind in zip(bleu["system"], bleu["kind"], strict=True)
    ]
    ours = dict(
        zip([re.sub(r"[()]", "", name) for name in names], zip(*columns, strict=True), strict=True)
    )
    assert ours == literal("08b_judging", "TABLE_2")


def test_chapter_11b_quotes_the_same_accuracies():
    vit = table("vit_benchmarks")
    names = {
        "ViT-H/14": "h14",
        "ViT-L/16": "l16",
        "ViT-L/16, I21k": "l16_i21k",
        "BiT-L": "bit",
        "Noisy Student": "noisy",
    }
    accuracies, days = (
        literal("11b_attention_or_convolution", name) for name in ("TABLE_2", "CORE_DAYS")
    )
    assert accuracies.keys() == days.keys() == names.keys()
    for name, column in names.items():
        theirs = [accuracy for accuracy in vit[column][:7] if accuracy is not None]
        assert [*accuracies[name], days[name]] == [*theirs, vit[column][7]]


def test_chapter_13c_quotes_the_same_ablation():
    ours = table("bert_pretraining_tasks")
    rows = {name.strip(): list(row) for name, row in literal("13c_choices", "TABLE_5").items()}
    assert rows == {row[0]: [float(cell) for cell in row[1:]] for row in ours.rows}
