"""The drawings of trees show the treebank's tree, the model's head, and the library's distances and
best tree.
"""

import re
from pathlib import Path

import pytest
import torch

from lectures_lib import data
from lectures_lib.analysis.perturbed_masking import eisner, gold_edges, not_punctuation
from lectures_lib.analysis.structural import tree_distances
from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert
from lectures_lib.show.drawings import draw, syntax
from lectures_lib.tasks.word_level import word_attention
from lectures_lib.tokenization import WordPiece


@pytest.fixture(scope="module")
def farmer():
    """The sentence in the treebank."""
    return data.load("treebank", "test")[0]


def test_the_sentence_is_the_treebanks(farmer):
    kept = not_punctuation(farmer["upos"])
    assert kept == list(range(len(syntax.WORDS)))
    assert syntax.WORDS == farmer["words"][:-1] and syntax.GOVERNORS == farmer["heads"][:-1]
    assert syntax.RELATIONS == farmer["relations"][:-1]
    assert {*syntax.tree()} == gold_edges(farmer["heads"], kept)


def test_the_head_looks_where_it_is_drawn(farmer):
    folder = minilm.checkpoint()
    wordpiece = WordPiece.load(folder / "vocab.txt")
    (weights,) = word_attention(Bert.from_pretrained(folder), wordpiece, [farmer["words"]])
    among_words = weights[2, 8, 1:-1, 1:-1]
    found = [(a, b) for a, b in (among_words > 0.5).nonzero().tolist() if a != b]
    assert found == [(a, b) for a, b, _ in syntax.LOOKS]
    for a, b, share in syntax.LOOKS:
        assert among_words[a, b].item() == pytest.approx(share, abs=0.0051)
        assert syntax.GOVERNORS[a] == b + 1  # all four are links of the tree


def test_distances_are_the_librarys():
    wanted = tree_distances(len(syntax.WORDS), syntax.tree())
    assert wanted.int().tolist() == syntax.distances()
    marked = [
        link
        for link, colour in zip(syntax.tree(), syntax.path_colours(), strict=True)
        if colour == "ink"
    ]
    assert marked == [(1, 2), (2, 4)] and syntax.distances()[1][4] == 2


def test_the_framed_tree_is_eisners():
    trees = syntax.trees_of_three()
    best, score = max(trees, key=lambda tree: tree[1])
    assert len(trees) == 3 and {*best} == eisner(torch.tensor(syntax.SCORES).float()) and score == 9
    chapter = (Path(__file__).parents[2] / "notebooks/16c_trees.py").read_text(encoding="utf-8")
    assert f"best_tree({syntax.SCORES})" in chapter


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize(
    "name", ["head_beside_tree", "tree_twice", "perturbed_masking", "tree_of_a_table"]
)
def test_its_words_are_shown(name, narrow):
    shown = re.findall(r"<text[^>]*>(.*?)</text>", draw(name, narrow).svg())
    words = {"perturbed_masking": syntax.WORDS[3:5], "tree_of_a_table": ["4 + 5 = 9"]}
    assert {*words.get(name, syntax.WORDS)} <= {*shown}
    if name == "perturbed_masking":
        assert shown.count("[MASK]") == 3


def test_a_link_is_above_those_it_spans():
    assert [syntax.level(link, [(0, 1), (2, 3), (0, 3)]) for link in [(0, 1), (0, 3)]] == [1, 2]
