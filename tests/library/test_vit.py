"""Our ViT equals Hugging Face's and its patches a convolution; sizes, other image sizes,
checkpoints, rollout, bad input.
"""

import json

import pytest
import torch
import torch.nn.functional as F
from torch.testing import assert_close

from lectures_lib.analysis.rollout import rollout
from lectures_lib.blocks.recording import record
from lectures_lib.models.hugging_face import load_into, rename
from lectures_lib.models.vit import ViT, ViTConfig, interpolate_positions, patches, unpatch
from lectures_lib.models.vit.checkpoint import KEY_MAP, NEWER_KEY_MAP, from_convolution

SIZES = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 32,
}
IMAGES = torch.randn(3, 3, 12, 12, generator=torch.Generator().manual_seed(0))


def their_model():
    """Hugging Face's ViT with random weights, none of them at its usual start."""
    from transformers import ViTConfig as TheirConfig
    from transformers import ViTForImageClassification

    model = ViTForImageClassification(
        TheirConfig(**SIZES, image_size=12, patch_size=4, num_labels=5)
    ).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return model


@pytest.fixture
def twins(tmp_path):
    theirs = their_model()
    theirs.save_pretrained(tmp_path)
    return ViT.from_pretrained(tmp_path), theirs


def test_scores_and_hidden_states_equal_hugging_faces(twins):
    ours, theirs = twins
    expected = theirs(pixel_values=IMAGES, output_hidden_states=True)
    with record(ours) as seen:
        scores = ours(IMAGES)
    assert_close(scores, expected.logits, atol=2e-6, rtol=0)
    assert_close(seen["dropout"], expected.hidden_states[0], atol=2e-6, rtol=0)
    assert_close(seen["encoder.blocks.0"], expected.hidden_states[1], atol=2e-6, rtol=0)


def test_gradients_equal_hugging_faces(twins):
    ours, theirs = twins
    labels = torch.tensor([0, 4, 2])
    for scores in (ours(IMAGES), theirs(pixel_values=IMAGES).logits):
        F.cross_entropy(scores, labels).backward()
    gradients = {name: parameter.grad for name, parameter in theirs.named_parameters()}
    expected = from_convolution(rename(gradients, KEY_MAP | NEWER_KEY_MAP))
    for name, parameter in ours.named_parameters():
        assert_close(
            parameter.grad,
            expected[name],
            atol=2e-6,
            rtol=1e-4,
            msg=lambda m, name=name: f"{name}: {m}",
        )


def test_other_image_sizes_equal_hugging_faces(twins):
    ours, theirs = twins
    for height, width in ((20, 20), (8, 16)):
        images = torch.randn(2, 3, height, width)
        expected = theirs(pixel_values=images, interpolate_pos_encoding=True).logits
        assert_close(ours(images, interpolate=True), expected, atol=2e-6, rtol=0)


def test_both_spellings_of_the_names_are_read(twins):
    ours, theirs = twins
    state = theirs.state_dict()
    assert any(name.startswith("vit.layers.") for name in state) or any(
        name.startswith("vit.encoder.") for name in state
    )
    again = ViT(ours.config)
    load_into(again, from_convolution(rename(state, KEY_MAP | NEWER_KEY_MAP)))
    for name, tensor in again.state_dict().items():
        assert torch.equal(tensor, ours.state_dict()[name])


@pytest.mark.parametrize(
    ("config", "parameters"),
    [
        (ViTConfig.B16, 86_567_656),
        (ViTConfig.B32, 88_224_232),
        (ViTConfig.L16, 304_326_632),
        (ViTConfig.H14, 632_045_800),
    ],
)
def test_published_sizes(config, parameters):
    with torch.device("meta"):
        assert sum(p.numel() for p in ViT(config).parameters()) == parameters


def test_patches_and_a_linear_layer_are_a_convolution():
    model = ViT(ViTConfig(12, 4, 3, 5, 16, 1, 4, 32))
    kernel = model.patch_embedding.weight.reshape(16, 3, 4, 4)
    convolved = F.conv2d(IMAGES, kernel, model.patch_embedding.bias, stride=4)
    assert_close(model.patch_embedding(patches(IMAGES, 4)), convolved.flatten(2).transpose(1, 2))


def test_patches_come_row_by_row_and_go_back():
    images = torch.arange(2 * 3 * 4 * 6).reshape(2, 3, 4, 6).float()
    cut = patches(images, 2)
    assert cut.shape == (2, 6, 12)
    assert_close(cut[0, 1].reshape(3, 2, 2), images[0, :, 0:2, 2:4])
    assert_close(cut[1, 3].reshape(3, 2, 2), images[1, :, 2:4, 0:2])
    assert torch.equal(unpatch(cut, 2, 4, 6), images)


def test_positions_to_their_own_size_stay_and_the_class_keeps_its_own():
    positions = torch.randn(10, 8)
    assert_close(interpolate_positions(positions, 3, 3), positions)
    larger = interpolate_positions(positions, 6, 5)
    assert larger.shape == (31, 8)
    assert torch.equal(larger[0], positions[0])


def test_without_positions_the_order_of_patches_means_nothing():
    model = ViT(ViTConfig(12, 4, 3, 5, 16, 2, 4, 32)).eval()
    shuffled = unpatch(patches(IMAGES, 4)[:, torch.randperm(9)], 4, 12, 12)
    assert not torch.allclose(model(shuffled), model(IMAGES))
    torch.nn.init.zeros_(model.positions)
    assert_close(model(shuffled), model(IMAGES))


def test_reading_a_checkpoint_draws_nothing(tmp_path):
    """Its weights are given, so chance stays as it was for whatever is drawn next."""
    folder = ViT(ViTConfig(12, 4, 3, 5, 16, 2, 4, 32)).save_pretrained(tmp_path)
    before = torch.get_rng_state()
    ViT.from_pretrained(folder)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_checkpoint_of_ours_loads_in_transformers_and_back_bit_for_bit(tmp_path):
    from transformers import ViTForImageClassification

    ours = ViT(ViTConfig(12, 4, 3, 5, 16, 2, 4, 32)).eval()
    ours.save_pretrained(tmp_path / "ours")
    theirs = ViTForImageClassification.from_pretrained(tmp_path / "ours").eval()
    assert_close(ours(IMAGES), theirs(pixel_values=IMAGES).logits, atol=2e-6, rtol=0)
    theirs.save_pretrained(tmp_path / "theirs")
    back = ViT.from_pretrained(tmp_path / "theirs")
    assert back.config == ours.config
    for name, tensor in ours.state_dict().items():
        assert torch.equal(tensor, back.state_dict()[name])


def test_rollout_by_hand():
    """Two layers of one head over two tokens."""
    first = torch.tensor([[[[0.5, 0.5], [0.0, 1.0]]]])
    second = torch.tensor([[[[1.0, 0.0], [1.0, 0.0]]]])
    # (first + I) / 2 = [[.75, .25], [0, 1]]; (second + I) / 2 = [[1, 0], [.5, .5]]; the second
    # times the first:
    assert_close(rollout([first, second]), torch.tensor([[[0.75, 0.25], [0.375, 0.625]]]))


def test_rollout_rows_sum_to_one_and_heads_are_averaged():
    weights = [torch.rand(2, 3, 5, 5).softmax(dim=-1) for _ in range(4)]
    assert_close(rollout(weights).sum(dim=-1), torch.ones(2, 5))
    assert_close(rollout(weights), rollout([layer.mean(dim=1, keepdim=True) for layer in weights]))


@pytest.mark.usefixtures("shapes_unchecked")
def test_bad_input_is_refused_with_the_numbers(tmp_path):
    model = ViT(ViTConfig(12, 4, 3, 5, 16, 1, 4, 32))
    with pytest.raises(ValueError, match="13 × 12 pixels cannot be cut into patches of 4 × 4"):
        model(torch.zeros(1, 3, 13, 12))
    with pytest.raises(ValueError, match="30 × 30 pixels cannot be cut into patches of 16 × 16"):
        ViTConfig(image_size=30)
    with pytest.raises(ValueError, match=r"images of 3 channels, got 1: \(2, 1, 12, 12\)"):
        model(torch.zeros(2, 1, 12, 12))
    with pytest.raises(
        ValueError, match="images of 12 × 12 pixels, got 16 × 16; interpolate=True scales them"
    ):
        model(torch.zeros(1, 3, 16, 16))
    with pytest.raises(ValueError, match="at least one"):
        rollout([])
    model.save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"model_type": "deit"}))
    with pytest.raises(ValueError, match="model_type = 'deit'"):
        ViT.from_pretrained(tmp_path)
