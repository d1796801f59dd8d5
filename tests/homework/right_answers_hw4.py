"""Right answers to homework 4, written as differently as students write: all of them must be
accepted.

`RIGHT_ANSWERS` maps a question's full name to its answers. Each stands alone: it uses torch and the
standard library only.
"""

import functools
import math

import torch
import torch.nn.functional as F
from torch import nn

# ------------------------------------------------------------------------------------------ patches


def patches_tensor_unfold(images, patch_size):
    # batch, channels, rows, columns, p, p
    blocks = images.unfold(2, patch_size, patch_size).unfold(3, patch_size, patch_size)
    return blocks.permute(0, 2, 3, 1, 4, 5).flatten(1, 2).flatten(2)


def patches_cut_out(images, patch_size):
    height, width = images.shape[2:]
    cut = []
    for top in range(0, height, patch_size):
        for left in range(0, width, patch_size):
            cut.append(images[:, :, top : top + patch_size, left : left + patch_size].flatten(1))
    return torch.stack(cut, dim=1)


def patches_einsum(images, patch_size):
    x = images.unflatten(3, (-1, patch_size)).unflatten(2, (-1, patch_size))
    return torch.einsum("bcrydx->brdcyx", x).flatten(3).flatten(1, 2)


def patches_split(images, patch_size):
    rows = images.split(patch_size, dim=2)
    return torch.cat(
        [
            torch.stack([patch.flatten(1) for patch in row.split(patch_size, dim=3)], dim=1)
            for row in rows
        ],
        dim=1,
    )


# ----------------------------------------------------------------------------- embed_by_convolution


def convolution_view(images, weight, bias, patch_size):
    kernel = weight.view(weight.shape[0], images.shape[1], patch_size, patch_size)
    x = F.conv2d(images, kernel, bias=bias, stride=(patch_size, patch_size))
    return x.permute(0, 2, 3, 1).reshape(len(images), -1, len(weight))


def convolution_module(images, weight, bias, patch_size):
    layer = nn.Conv2d(images.shape[1], weight.shape[0], patch_size, patch_size)
    with torch.no_grad():
        layer.weight.copy_(weight.view_as(layer.weight))
        layer.bias.copy_(bias)
        return layer(images).flatten(start_dim=2).mT


def convolution_by_features(images, weight, bias, patch_size):
    kernels = weight.unflatten(1, (-1, patch_size, patch_size))
    maps = [
        F.conv2d(images, kernel[None], stride=patch_size)[:, 0] + b
        for kernel, b in zip(kernels, bias, strict=True)
    ]
    return torch.stack(maps, dim=-1).flatten(1, 2)


# ----------------------------------------------------------------------------------- PatchEmbedding


class EmbeddingRepeated(nn.Module):
    def __init__(self, n_patches, n_pixels, d_model):
        super().__init__()
        self.projection = nn.Linear(n_pixels, d_model)
        self.class_token = nn.Parameter(0.02 * torch.randn(d_model))
        self.positions = nn.Parameter(0.02 * torch.randn(n_patches + 1, d_model))

    def forward(self, patches):
        class_token = self.class_token.unsqueeze(0).unsqueeze(0).repeat(patches.shape[0], 1, 1)
        x = torch.cat((class_token, self.projection(patches)), dim=1)
        return x + self.positions.unsqueeze(0)


class EmbeddingApart(EmbeddingRepeated):
    """Positions first, each where it belongs; the class token afterwards, with its own."""

    def forward(self, patches):
        x = self.projection(patches) + self.positions[1:]
        first = (self.class_token + self.positions[0]).expand(len(patches), 1, -1)
        return torch.cat([first, x], dim=-2)


class EmbeddingFilledIn(EmbeddingRepeated):
    def forward(self, patches):
        x = torch.empty(len(patches), len(self.positions), len(self.class_token))
        x[:, 0] = self.class_token
        x[:, 1:] = (
            torch.einsum("bnp,dp->bnd", patches, self.projection.weight) + self.projection.bias
        )
        x += self.positions
        return x


class EmbeddingPadded(EmbeddingRepeated):
    """A row of zeros in front, into which the class token is added."""

    def forward(self, patches):
        x = F.pad(self.projection(patches), (0, 0, 1, 0))
        return x + self.positions + F.pad(self.class_token[None], (0, 0, 0, patches.shape[1]))


# --------------------------------------------------------------------------------- resize_positions


def resize_transposed(positions, rows, columns):
    side = math.isqrt(len(positions) - 1)
    picture = positions[1:].T.reshape(-1, side, side).unsqueeze(0)
    picture = F.interpolate(picture, (rows, columns), mode="bilinear")
    return torch.cat((positions[0].unsqueeze(0), picture.squeeze(0).flatten(1).T))


def weights_by_hand(old, new):
    """(new, old): how much of each old place a new one is made of."""
    table = torch.zeros(new, old)
    for i in range(new):
        at = min(max((i + 0.5) * old / new - 0.5, 0), old - 1)
        left = min(int(at), old - 2)
        table[i, left] += 1 - (at - left)
        table[i, left + 1] += at - left
    return table


def resize_by_matrices(positions, rows, columns):
    side = int((len(positions) - 1) ** 0.5)
    grid = positions[1:].view(side, side, -1)
    grid = torch.einsum(
        "ra,cb,abd->rcd", weights_by_hand(side, rows), weights_by_hand(side, columns), grid
    )
    return torch.vstack([positions[:1], grid.flatten(0, 1)])


def resize_one_way_then_the_other(positions, rows, columns):
    side = round((len(positions) - 1) ** 0.5)
    grid = positions[1:].reshape(side, side, -1)
    grid = F.interpolate(
        grid.transpose(1, 2), size=columns, mode="linear", align_corners=False
    ).transpose(1, 2)  # (side, columns, d)
    # (columns, d, rows)
    grid = F.interpolate(grid.permute(1, 2, 0), size=rows, mode="linear", align_corners=False)
    return torch.cat([positions[:1], grid.permute(2, 0, 1).reshape(rows * columns, -1)])


def resize_feature_by_feature(positions, rows, columns):
    side = round((len(positions) - 1) ** 0.5)
    features = []
    for feature in positions.unbind(dim=1):
        picture = nn.Upsample(size=(rows, columns), mode="bilinear")(
            feature[1:].view(1, 1, side, side)
        )
        features.append(torch.cat([feature[:1], picture.flatten()]))
    return torch.stack(features, dim=1)


# ----------------------------------------------------------------------------------- vit_parameters


def count_added_up(
    image_size,
    patch_size,
    n_channels,
    n_classes,
    d_model,
    n_layers,
    n_heads,
    d_ff,
    class_token=True,
):
    n = (image_size // patch_size) * (image_size // patch_size)
    total = n_channels * patch_size * patch_size * d_model + d_model
    if class_token:
        total += d_model
        n += 1
    total += n * d_model
    for _ in range(n_layers):
        for _ in "QKVO":
            total += d_model * d_model + d_model
        total += d_model * d_ff + d_ff
        total += d_ff * d_model + d_model
        total += 2 * d_model + 2 * d_model
    total += 2 * d_model
    return total + d_model * n_classes + n_classes


def count_formula(
    image_size,
    patch_size,
    n_channels,
    n_classes,
    d_model,
    n_layers,
    n_heads,
    d_ff,
    class_token=True,
):
    d, n = d_model, image_size**2 // patch_size**2
    return (
        n_layers * (4 * d**2 + 9 * d + 2 * d * d_ff + d_ff)
        + d * (n_channels * patch_size**2 + n + 3 + 2 * class_token)
        + n_classes * (d + 1)
    )


def count_modules(
    image_size,
    patch_size,
    n_channels,
    n_classes,
    d_model,
    n_layers,
    n_heads,
    d_ff,
    class_token=True,
):
    n = (image_size // patch_size) ** 2
    with torch.device("meta"):
        layer = nn.TransformerEncoderLayer(
            d_model, n_heads, d_ff, batch_first=True, norm_first=True
        )
        ends = [
            nn.Conv2d(n_channels, d_model, patch_size, patch_size),
            nn.LayerNorm(d_model),
            nn.Linear(d_model, n_classes),
        ]
        vectors = nn.Embedding(n + 2 if class_token else n, d_model)
    return sum(
        p.numel() * (n_layers if m is layer else 1)
        for m in (layer, vectors, *ends)
        for p in m.parameters()
    )


def count_by_head(
    image_size,
    patch_size,
    n_channels,
    n_classes,
    d_model,
    n_layers,
    n_heads,
    d_ff,
    class_token=True,
):
    d_head = d_model // n_heads
    attention = n_heads * 3 * (d_model + 1) * d_head + (n_heads * d_head + 1) * d_model
    block = attention + (d_model + 1) * d_ff + (d_ff + 1) * d_model + 4 * d_model
    rows = int(image_size / patch_size) ** 2 + int(class_token)
    embedding = (
        (n_channels * patch_size**2 + 1) * d_model + int(class_token) * d_model + rows * d_model
    )
    return embedding + n_layers * block + 2 * d_model + (d_model + 1) * n_classes


# ------------------------------------------------------------------------------------------ rollout


def rollout_reduce(weights, rows, columns):
    layers = [0.5 * layer.mean(1) + 0.5 * torch.eye(layer.shape[-1])[None] for layer in weights]
    product = functools.reduce(lambda so_far, layer: torch.bmm(layer, so_far), layers)
    return product[:, 0, 1:].unflatten(1, (rows, columns))


def rollout_backwards(weights, rows, columns):
    """Only the class token's row, from the last layer to the first."""
    row = torch.zeros(len(weights[0]), 1 + rows * columns)
    row[:, 0] = 1
    for layer in reversed(weights):
        row = (row + torch.einsum("bn,bhnm->bhm", row, layer).mean(dim=1)) / 2
    return row[:, 1:].view(-1, rows, columns)


def rollout_normalised(weights, rows, columns):
    """As in the authors' program: add the identity, then make the rows sum to 1."""
    stacked = torch.stack(weights).mean(dim=2) + torch.eye(1 + rows * columns)
    stacked = stacked / stacked.sum(dim=-1, keepdim=True)
    product = stacked[0]
    for layer in stacked[1:]:
        product = layer.matmul(product)
    return product[:, 0][:, 1:].reshape(len(product), rows, columns)


def rollout_image_by_image(weights, rows, columns):
    pictures = []
    for b in range(len(weights[0])):
        n_heads, n, _ = weights[0][b].shape
        product = torch.eye(n)
        for layer in weights:
            mean = sum(layer[b, h] for h in range(n_heads)) / n_heads
            mean = mean / 2
            for i in range(n):
                mean[i, i] += 0.5
            product = mean @ product
        pictures.append([product[0, 1 + r * columns : 1 + (r + 1) * columns] for r in range(rows)])
    return torch.stack([torch.stack(picture) for picture in pictures])


RIGHT_ANSWERS = {
    "hw4.patches": (patches_tensor_unfold, patches_cut_out, patches_einsum, patches_split),
    "hw4.embed_by_convolution": (convolution_view, convolution_module, convolution_by_features),
    "hw4.PatchEmbedding": (EmbeddingRepeated, EmbeddingApart, EmbeddingFilledIn, EmbeddingPadded),
    "hw4.resize_positions": (
        resize_transposed,
        resize_by_matrices,
        resize_one_way_then_the_other,
        resize_feature_by_feature,
    ),
    "hw4.vit_parameters": (count_added_up, count_formula, count_modules, count_by_head),
    "hw4.rollout": (rollout_reduce, rollout_backwards, rollout_normalised, rollout_image_by_image),
}
