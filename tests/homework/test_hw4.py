"""Homework 4: its inputs, its worked examples, its references against the library.

The rest: `test_banks.py` and `test_graded_class.py`.
"""

import pytest
import torch
from torch.testing import assert_close

from lectures_lib.analysis import rollout as library_rollout
from lectures_lib.homework import find
from lectures_lib.models import vit
from lectures_lib.models.vit import ViT, ViTConfig
from tests.homework.bank import SEEDS, judged, key, questions, text
from tests.homework.students_hw4 import CAUGHT

RIGHT = {name.split(".")[1]: find(name).reference for name in questions("hw4")}


@pytest.mark.parametrize(
    "name", [name for name in questions("hw4") if name != "hw4.vit_parameters"]
)
def test_inputs_are_not_square(name):
    """Each question has an input in which no two sizes that an answer might confuse agree."""
    for seed in SEEDS:
        sizes = []
        for case in key(name, seed).cases:
            first = case.args[0]
            if name in ("hw4.patches", "hw4.embed_by_convolution"):
                p = case.args[-1]
                sizes.append([p, first.shape[1], first.shape[2] // p, first.shape[3] // p])
            elif name == "hw4.PatchEmbedding":
                sizes.append([first.shape[0], *case.init.values()])
            elif name == "hw4.resize_positions":
                sizes.append([round((len(first) - 1) ** 0.5), *case.args[1:]])
            else:
                batch, n_heads, n, _ = first[0].shape
                assert batch != n_heads or batch == 1
                sizes.append([*case.args[1:], n])
        assert any(len(set(some)) == len(some) for some in sizes), f"seed {seed}: {sizes}"


def test_a_state_dict_of_the_library_fits():
    """Names differ, numbers do not: what enters the encoder is what the library's model hands to
    it.
    """
    torch.manual_seed(0)
    model = ViT(ViTConfig(12, 3, 2, 5, d_model=8, n_layers=1, n_heads=2, d_ff=16)).eval()
    images = torch.randn(2, 2, 12, 12)
    embedding = RIGHT["PatchEmbedding"](n_patches=16, n_pixels=18, d_model=8)
    state = {"class_token": model.class_token, "positions": model.positions}
    embedding.load_state_dict(
        state | {f"projection.{k}": v for k, v in model.patch_embedding.state_dict().items()}
    )
    cut = RIGHT["patches"](images, 3)
    assert_close(cut, vit.patches(images, 3))
    assert_close(embedding(cut), model.embed(images))
    layer = model.patch_embedding
    assert_close(
        RIGHT["embed_by_convolution"](images, layer.weight, layer.bias, 3),
        layer(cut),
        rtol=1e-4,
        atol=1e-5,
    )


def test_rollout_is_the_library_s():
    weights = [torch.randn(2, 3, 7, 7).softmax(dim=-1) for _ in range(3)]
    assert_close(
        RIGHT["rollout"](weights, 2, 3).flatten(1), library_rollout.rollout(weights)[:, 0, 1:]
    )


@pytest.mark.parametrize(
    "config", [ViTConfig.B16, ViTConfig.L16, ViTConfig.SMALL, ViTConfig.DIGITS]
)
def test_the_count_is_the_library_s(config):
    with torch.device("meta"):
        counted = sum(p.numel() for p in ViT(config).parameters())
    names = (
        "image_size",
        "patch_size",
        "n_channels",
        "n_classes",
        "d_model",
        "n_layers",
        "n_heads",
        "d_ff",
    )
    assert RIGHT["vit_parameters"](**{name: getattr(config, name) for name in names}) == counted


def test_the_worked_examples_are_true():
    page = torch.arange(24.0).view(4, 6)
    cut = RIGHT["patches"](torch.stack([page, page + 100])[None], 2)
    assert cut[0, 0].tolist() == [0, 1, 6, 7, 100, 101, 106, 107]
    assert cut[0, 1, :4].tolist() == [2, 3, 8, 9]
    assert cut[0, 3, :4].tolist() == [12, 13, 18, 19]
    image = torch.arange(1.0, 9).view(1, 1, 2, 4)
    weight, bias = torch.tensor([[1.0, 0, 0, -1], [0, 0, 1, 0]]), torch.tensor([0.0, 10])
    assert RIGHT["embed_by_convolution"](image, weight, bias, 2).tolist() == [[[-5, 15], [-5, 17]]]
    embedding = RIGHT["PatchEmbedding"](2, 1, 1)
    state = {
        "projection.weight": [[2.0]],
        "projection.bias": [0.0],
        "class_token": [1.0],
        "positions": [[0.1], [0.2], [0.3]],
    }
    embedding.load_state_dict({name: torch.tensor(numbers) for name, numbers in state.items()})
    assert_close(embedding(torch.tensor([[[3.0], [4]]])).flatten(), torch.tensor([1.1, 6.2, 8.3]))
    with torch.device("meta"):
        assert (
            sum(p.numel() for p in RIGHT["PatchEmbedding"](196, 768, 768).parameters()) == 742_656
        )
    assert "742,656" in text("hw4")
    positions = torch.tensor([[7.0], [0], [4], [8], [12]])
    assert RIGHT["resize_positions"](positions, 2, 4).flatten().tolist() == [
        7,
        0,
        1,
        3,
        4,
        8,
        9,
        11,
        12,
    ]
    assert RIGHT["vit_parameters"](4, 2, 1, 2, 2, 1, 1, 3) == 81
    assert RIGHT["vit_parameters"](4, 2, 1, 2, 2, 1, 1, 3, class_token=False) == 77
    layers = [
        torch.tensor([[[rows]]]).view(1, 1, 3, 3)
        for rows in ([0.0, 1, 0, 0, 0, 1, 0, 0, 1], [0.0, 1, 0, 0, 1, 0, 0, 0, 1])
    ]
    assert RIGHT["rollout"](layers, 1, 2).tolist() == [[[0.5, 0.25]]]
    assert RIGHT["rollout"](layers[::-1], 1, 2)[0, 0, 1] == 0


@pytest.mark.parametrize(
    ("name", "answer"), [(name, answer) for name, answers in CAUGHT.items() for answer in answers]
)
def test_what_an_answer_leaves_out_shows_with_any_seed(name, answer):
    """An argument, a size of 1, a branch: some input of each seed asks for it."""
    for seed in range(20):
        assert not key(name, seed).accepts(answer), f"seed {seed}"


def test_tools_that_are_ruled_out_or_asked_for():
    """The patches by F.unfold, the embedding without a convolution: right values, and not what was
    asked.
    """

    def by_unfold(images, patch_size):
        return torch.nn.functional.unfold(images, patch_size, stride=patch_size).mT

    def by_matrices(images, weight, bias, patch_size):
        return RIGHT["patches"](images, patch_size) @ weight.T + bias

    assert judged("hw4.patches", by_unfold).mistake == "unfold_called"
    assert not judged("hw4.embed_by_convolution", by_matrices).right
