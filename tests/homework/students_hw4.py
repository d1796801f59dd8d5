"""Homework 4 answered wrongly, as students write it: each must get the name of its mistake.

`STUDENTS` maps a question's full name to {mistake: [answers]}. Each answer stands alone, as those
in `right_answers_hw4.py`.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

# ------------------------------------------------------------------------------------------ patches


def patches_one_view(images, patch_size):
    batch, channels, height, width = images.shape
    n = (height // patch_size) * (width // patch_size)
    return images.view(batch, n, channels * patch_size * patch_size)


def patches_windows(images, patch_size):
    batch, channels, height, width = images.shape
    x = images.unfold(2, patch_size, patch_size).unfold(3, patch_size, patch_size)
    return x.contiguous().view(
        batch, (height // patch_size) * (width // patch_size), channels * patch_size**2
    )


def patches_as_in_many_programs(images, patch_size):
    """rearrange(images, "b c (h p1) (w p2) -> b (h w) (p1 p2 c)")"""
    b, c, h, w = images.shape
    x = images.reshape(b, c, h // patch_size, patch_size, w // patch_size, patch_size)
    return torch.einsum("bchpwq->bhwpqc", x).reshape(b, -1, patch_size * patch_size * c)


def patches_left_to_right(images, patch_size):
    cut = []
    for x in range(images.shape[3] // patch_size):
        for y in range(images.shape[2] // patch_size):
            rows = slice(y * patch_size, (y + 1) * patch_size)
            cut.append(images[:, :, rows, x * patch_size : (x + 1) * patch_size].flatten(1))
    return torch.stack(cut, dim=1)


def patches_default_stride(images, patch_size):
    return nn.Unfold(patch_size)(images).transpose(1, 2)


def patches_columns_of_unfold(images, patch_size):
    return F.unfold(images, patch_size, stride=patch_size)


def patches_still_images(images, patch_size):
    x = images.unfold(2, patch_size, patch_size).unfold(3, patch_size, patch_size)
    return x.permute(0, 2, 3, 1, 4, 5).flatten(1, 2)


def patches_strided(images, patch_size):
    """Every so-manieth pixel, beginning at each of the first ones."""
    rows, columns = images.shape[2] // patch_size, images.shape[3] // patch_size
    return torch.stack(
        [images[:, :, r::rows, c::columns].flatten(1) for r in range(rows) for c in range(columns)],
        dim=1,
    )


def patches_grey(images, patch_size):
    x = F.unfold(images.flatten(0, 1)[:, None], patch_size, stride=patch_size).mT
    return x.reshape(len(images), -1, patch_size**2)


def patches_swapped_inside(images, patch_size):
    b, c, h, w = images.shape
    x = images.reshape(b, c, h // patch_size, patch_size, w // patch_size, patch_size)
    x = x.transpose(3, 4).transpose(4, 5)  # batch, channels, rows, columns, x, y
    return x.movedim(1, 3).reshape(b, -1, c * patch_size**2)


def patches_side_squared(images, patch_size):
    b, c, h, _ = images.shape
    side = h // patch_size
    x = images.reshape(b, c, side, patch_size, side, patch_size)
    return x.permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)


# ----------------------------------------------------------------------------- embed_by_convolution


def convolution_slides(images, weight, bias, patch_size):
    kernel = weight.view(len(weight), -1, patch_size, patch_size)
    return F.conv2d(images, kernel, bias).flatten(2).transpose(1, 2)


def convolution_keeps_channels_in_front(images, weight, bias, patch_size):
    kernel = weight.view(len(weight), -1, patch_size, patch_size)
    return F.conv2d(images, kernel, bias, stride=patch_size).flatten(2)


def convolution_viewed(images, weight, bias, patch_size):
    kernel = weight.view(len(weight), -1, patch_size, patch_size)
    x = F.conv2d(images, kernel, bias, stride=patch_size)
    return x.view(x.shape[0], x.shape[2] * x.shape[3], x.shape[1])


def convolution_unbiased(images, weight, bias, patch_size):
    kernel = weight.view(len(weight), -1, patch_size, patch_size)
    return F.conv2d(images, kernel, stride=patch_size).flatten(2).transpose(1, 2)


def convolution_as_in_mathematics(images, weight, bias, patch_size):
    kernel = weight.view(len(weight), -1, patch_size, patch_size).flip(dims=(2, 3))
    return F.conv2d(images, kernel, bias, stride=patch_size).flatten(2).transpose(1, 2)


def convolution_of_columns(images, weight, bias, patch_size):
    kernel = weight.T.reshape(len(weight), images.shape[1], patch_size, patch_size)
    return F.conv2d(images, kernel, bias, stride=patch_size).flatten(2).transpose(1, 2)


def convolution_of_pixels(images, weight, bias, patch_size):
    kernel = weight.view(len(weight), patch_size, patch_size, images.shape[1]).movedim(-1, 1)
    return F.conv2d(images, kernel, bias, stride=patch_size).flatten(2).transpose(1, 2)


def convolution_down(images, weight, bias, patch_size):
    kernel = weight.view(len(weight), -1, patch_size, patch_size)
    x = F.conv2d(images, kernel, bias, stride=patch_size).permute(0, 3, 2, 1)
    return x.reshape(len(x), -1, len(weight))


# ----------------------------------------------------------------------------------- PatchEmbedding


class Embedding(nn.Module):
    """What the wrong embeddings below have in common."""

    def __init__(self, n_patches, n_pixels, d_model):
        super().__init__()
        self.projection = nn.Linear(n_pixels, d_model)
        self.class_token = nn.Parameter(torch.zeros(d_model))
        self.positions = nn.Parameter(torch.zeros(1 + n_patches, d_model))


class EmbeddingAppends(Embedding):
    def forward(self, patches):
        class_token = self.class_token.repeat(len(patches), 1, 1)
        return torch.cat((self.projection(patches), class_token), dim=1) + self.positions


class EmbeddingPlacesPatchesFirst(Embedding):
    def forward(self, patches):
        x = self.projection(patches)
        x = x + self.positions[: x.shape[1]]
        return torch.cat([self.class_token.repeat(len(x), 1, 1), x], dim=1)


class EmbeddingPlacesPatchesOnly(Embedding):
    def forward(self, patches):
        x = self.projection(patches) + self.positions[1:][None]
        return torch.cat([self.class_token.repeat(len(x), 1, 1), x], dim=1)


class EmbeddingOneTokenForAll(Embedding):
    def forward(self, patches):
        class_token = self.class_token.view(1, 1, -1)
        return torch.cat((class_token, self.projection(patches)), dim=1) + self.positions


class EmbeddingBareToken(Embedding):
    def forward(self, patches):
        return torch.cat((self.class_token, self.projection(patches)), dim=1) + self.positions


class EmbeddingNowhere(Embedding):
    def forward(self, patches):
        return torch.cat(
            [self.class_token.repeat(len(patches), 1, 1), self.projection(patches)], dim=1
        )


class EmbeddingOverwrites(Embedding):
    def forward(self, patches):
        x = self.projection(patches)
        x[:, 0] = self.class_token
        return x + self.positions[: x.shape[1]]


class EmbeddingOfWords(Embedding):
    """With the factor that belongs to the Transformer of 2017."""

    def forward(self, patches):
        x = math.sqrt(self.projection.out_features) * self.projection(patches)
        return torch.cat([self.class_token.repeat(len(x), 1, 1), x], dim=1) + self.positions


class EmbeddingAsManyPositionsAsPatches(Embedding):
    def __init__(self, n_patches, n_pixels, d_model):
        super().__init__(n_patches, n_pixels, d_model)
        self.positions = nn.Parameter(torch.randn(n_patches, d_model))


class EmbeddingLikeHuggingFace(Embedding):
    def __init__(self, n_patches, n_pixels, d_model):
        super().__init__(n_patches, n_pixels, d_model)
        self.class_token = nn.Parameter(torch.randn(1, 1, d_model))
        self.positions = nn.Parameter(torch.randn(1, n_patches + 1, d_model))


# --------------------------------------------------------------------------------- resize_positions


def resized(picture, rows, columns, **options):
    return F.interpolate(picture, size=(rows, columns), **{"mode": "bilinear"} | options)


def resize_line(positions, rows, columns):
    line = positions[1:].T.unsqueeze(0)  # (1, d_model, n)
    line = F.interpolate(line, size=rows * columns, mode="linear", align_corners=False)
    return torch.cat([positions[:1], line.squeeze(0).T])


def resize_whole_line(positions, rows, columns):
    line = F.interpolate(
        positions.unsqueeze(0).transpose(1, 2), size=rows * columns + 1, mode="linear"
    )
    return line.transpose(1, 2).squeeze(0)


def resize_patches_only(positions, rows, columns):
    side = math.isqrt(len(positions) - 1)
    picture = resized(positions[1:].view(1, side, side, -1).permute(0, 3, 1, 2), rows, columns)
    return picture.permute(0, 2, 3, 1).reshape(rows * columns, -1)


def resize_width_first(positions, rows, columns):
    side = math.isqrt(len(positions) - 1)
    picture = resized(positions[1:].view(1, side, side, -1).permute(0, 3, 1, 2), columns, rows)
    return torch.cat([positions[:1], picture.flatten(2)[0].T])


def resize_viewed(positions, rows, columns):
    side = math.isqrt(len(positions) - 1)
    picture = resized(positions[1:].view(1, positions.shape[1], side, side), rows, columns)
    return torch.cat([positions[:1], picture.flatten(2)[0].T])


def resize_viewed_back(positions, rows, columns):
    side = math.isqrt(len(positions) - 1)
    picture = resized(positions[1:].view(side, side, -1).permute(2, 0, 1)[None], rows, columns)
    return torch.cat([positions[:1], picture.view(rows * columns, -1)])


def resize_corners(positions, rows, columns):
    side = math.isqrt(len(positions) - 1)
    picture = resized(
        positions[1:].view(side, side, -1).permute(2, 0, 1)[None], rows, columns, align_corners=True
    )
    return torch.cat([positions[:1], picture.flatten(2)[0].T])


def resize_as_hugging_face(positions, rows, columns):
    side = math.isqrt(len(positions) - 1)
    picture = resized(
        positions[1:].view(side, side, -1).permute(2, 0, 1)[None], rows, columns, mode="bicubic"
    )
    return torch.cat([positions[:1], picture.flatten(2)[0].T])


def resize_default_mode(positions, rows, columns):
    side = math.isqrt(len(positions) - 1)
    picture = F.interpolate(
        positions[1:].view(side, side, -1).permute(2, 0, 1)[None], size=(rows, columns)
    )
    return torch.cat([positions[:1], picture.flatten(2)[0].T])


def resize_if_needed(positions, rows, columns):
    if positions.shape[0] - 1 == rows * columns:
        return positions
    side = math.isqrt(len(positions) - 1)
    picture = resized(positions[1:].view(side, side, -1).permute(2, 0, 1)[None], rows, columns)
    return torch.cat([positions[:1], picture.flatten(2)[0].T])


def resize_x_before_y(positions, rows, columns):
    side = math.isqrt(len(positions) - 1)
    picture = resized(positions[1:].view(side, side, -1).permute(2, 0, 1)[None], rows, columns)
    return torch.cat([positions[:1], picture[0].transpose(1, 2).flatten(1).T])


# ----------------------------------------------------------------------------------- vit_parameters


def count_norms_in_blocks_only(
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
    block = 4 * (d_model**2 + d_model) + 2 * d_model * d_ff + d_ff + d_model + 4 * d_model
    return (
        (n_channels * patch_size**2 + 1 + n + 2 * class_token) * d_model
        + n_layers * block
        + (d_model + 1) * n_classes
    )


def count_as_many_positions_as_patches(
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
    block = 4 * (d_model**2 + d_model) + 2 * d_model * d_ff + d_ff + d_model + 4 * d_model
    total = (
        n_channels * patch_size**2 * d_model
        + d_model
        + n * d_model
        + n_layers * block
        + 2 * d_model
    )
    return total + (d_model if class_token else 0) + (d_model + 1) * n_classes


def count_flag_ignored(
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
    n = (image_size // patch_size) ** 2 + 1
    block = 4 * (d_model**2 + d_model) + 2 * d_model * d_ff + d_ff + d_model + 4 * d_model
    total = (
        n_channels * patch_size**2 * d_model
        + d_model
        + n * d_model
        + n_layers * block
        + 2 * d_model
    )
    return total + d_model + (d_model + 1) * n_classes


def count_token_dropped_position_kept(
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
    n = (image_size // patch_size) ** 2 + 1
    block = 4 * (d_model**2 + d_model) + 2 * d_model * d_ff + d_ff + d_model + 4 * d_model
    total = (
        n_channels * patch_size**2 * d_model
        + d_model
        + n * d_model
        + n_layers * block
        + 2 * d_model
    )
    return total + (d_model if class_token else 0) + (d_model + 1) * n_classes


def count_matrices(
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
    matrices = (
        n_channels * patch_size**2 * d_model
        + n_layers * (4 * d_model**2 + 2 * d_model * d_ff)
        + d_model * n_classes
    )
    norms = (2 * n_layers + 1) * 2 * d_model
    return matrices + norms + n * d_model + (2 * d_model if class_token else 0)


def count_projection_matrix_only(
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
    block = 4 * (d_model**2 + d_model) + 2 * d_model * d_ff + d_ff + d_model + 4 * d_model
    start = n_channels * patch_size**2 * d_model + (n + 2 * class_token) * d_model
    return start + n_layers * block + 2 * d_model + (d_model + 1) * n_classes


def count_encoder_only(
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
    block = 4 * (d_model**2 + d_model) + 2 * d_model * d_ff + d_ff + d_model + 4 * d_model
    return (
        (n_channels * patch_size**2 + 1 + n + 2 * class_token) * d_model
        + n_layers * block
        + 2 * d_model
    )


def count_grey(
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
    block = 4 * (d_model**2 + d_model) + 2 * d_model * d_ff + d_ff + d_model + 4 * d_model
    start = (patch_size**2 + 1 + n + 2 * class_token) * d_model
    return start + n_layers * block + 2 * d_model + (d_model + 1) * n_classes


# ------------------------------------------------------------------------------------------ rollout


def rollout_plain(weights, rows, columns):
    product = torch.eye(1 + rows * columns)
    for layer in weights:
        product = layer.mean(dim=1) @ product
    return product[:, 0, 1:].view(-1, rows, columns)


def rollout_from_the_right(weights, rows, columns):
    product = torch.eye(1 + rows * columns)
    for layer in weights:
        product = product @ ((layer.mean(dim=1) + torch.eye(1 + rows * columns)) / 2)
    return product[:, 0, 1:].view(-1, rows, columns)


def rollout_added(weights, rows, columns):
    product = torch.eye(1 + rows * columns)
    for layer in weights:
        product = product + layer.mean(dim=1) @ product
    return product[:, 0, 1:].view(-1, rows, columns)


def rollout_maximum(weights, rows, columns):
    identity = torch.eye(1 + rows * columns)
    product = identity
    for layer in weights:
        fused = layer.max(dim=1).values + identity
        product = (fused / fused.sum(dim=-1, keepdim=True)) @ product
    return product[:, 0, 1:].view(-1, rows, columns)


def rollout_raw_attention(weights, rows, columns):
    return weights[-1].mean(dim=1)[:, 0, 1:].view(-1, rows, columns)


def rollout_star(weights, rows, columns):
    product = 1
    for layer in weights:
        product = product * (layer.mean(dim=1) + torch.eye(1 + rows * columns)) / 2
    return product[:, 0, 1:].view(-1, rows, columns)


def rollout_every_head(weights, rows, columns):
    identity = torch.eye(1 + rows * columns)
    product = identity.expand(weights[0].shape)
    for layer in weights:
        product = torch.matmul((layer + identity) / 2, product)
    return product[:, :, 0, 1:].mean(dim=1).view(-1, rows, columns)


def rollout_read_down(weights, rows, columns):
    product = torch.eye(1 + rows * columns)
    for layer in weights:
        product = (layer.mean(dim=1) + torch.eye(1 + rows * columns)) / 2 @ product
    return product[:, :, 0][:, 1:].view(-1, rows, columns)


def rollout_to_one(weights, rows, columns):
    product = torch.eye(1 + rows * columns)
    for layer in weights:
        product = (layer.mean(dim=1) + torch.eye(1 + rows * columns)) / 2 @ product
    row = product[:, 0, 1:]
    return (row / row.sum(dim=1, keepdim=True)).view(-1, rows, columns)


def rollout_mean_of_layers(weights, rows, columns):
    layers = torch.stack([layer.mean(dim=1) for layer in weights]).mean(dim=0)
    return ((layers + torch.eye(1 + rows * columns)) / 2)[:, 0, 1:].view(-1, rows, columns)


def patches_images_mixed(images, patch_size):
    """Each image as a sequence of patches_images_mixed, each patch as one vector."""
    batch, channels, height, width = images.shape
    p = patch_size
    rows, columns = height // p, width // p
    x = images.reshape(batch, channels, rows, p, columns, p)
    x = x.permute(2, 4, 0, 1, 3, 5)
    return x.reshape(batch, rows * columns, channels * p * p)


def convolution_bias_twice(images, weight, bias, patch_size):
    """(batch, channels, height, width) → (batch, n, d_model)."""
    _batch, channels, _height, _width = images.shape
    d_model = weight.shape[0]
    kernel = weight.reshape(d_model, channels, patch_size, patch_size)
    out = F.conv2d(images, kernel, bias, stride=patch_size)
    return out.flatten(2).transpose(1, 2) + bias


class EmbeddingDropoutAdded(nn.Module):
    """Patches → vectors, a class token before them, positions."""

    def __init__(self, n_patches, n_pixels, d_model):
        super().__init__()
        self.projection = nn.Linear(n_pixels, d_model)
        self.class_token = nn.Parameter(torch.zeros(d_model))
        self.positions = nn.Parameter(torch.randn(1 + n_patches, d_model) * 0.02)

        self.dropout = nn.Dropout(0.1)

    def forward(self, patches):
        """(batch, n_patches, n_pixels) → (batch, 1 + n_patches, d_model)."""
        batch = patches.shape[0]
        x = self.projection(patches)
        token = self.class_token.expand(batch, 1, -1)
        return self.dropout(torch.cat([token, x], dim=1) + self.positions)


class EmbeddingClassTokenForTheFirstImage(nn.Module):
    """Patches → vectors, a class token before them, positions."""

    def __init__(self, n_patches, n_pixels, d_model):
        super().__init__()
        self.projection = nn.Linear(n_pixels, d_model)
        self.class_token = nn.Parameter(torch.zeros(d_model))
        self.positions = nn.Parameter(torch.randn(1 + n_patches, d_model) * 0.02)

    def forward(self, patches):
        """(batch, n_patches, n_pixels) → (batch, 1 + n_patches, d_model)."""
        batch = patches.shape[0]
        x = self.projection(patches)
        token = torch.zeros(batch, 1, x.shape[-1])
        token[0] = self.class_token
        return torch.cat([token, x], dim=1) + self.positions


class EmbeddingClassPositionTwice(nn.Module):
    """Patches → vectors, a class token before them, positions."""

    def __init__(self, n_patches, n_pixels, d_model):
        super().__init__()
        self.projection = nn.Linear(n_pixels, d_model)
        self.class_token = nn.Parameter(torch.zeros(d_model))
        self.positions = nn.Parameter(torch.randn(1 + n_patches, d_model) * 0.02)

    def forward(self, patches):
        """(batch, n_patches, n_pixels) → (batch, 1 + n_patches, d_model)."""
        batch = patches.shape[0]
        x = self.projection(patches)
        token = (self.class_token + self.positions[0]).expand(batch, 1, -1)
        return torch.cat([token, x], dim=1) + self.positions


def resize_goes_on_in_a_straight_line(positions, rows, columns):
    side = round((len(positions) - 1) ** 0.5)
    grid = positions[1:].reshape(side, side, -1)

    def stretch(x, new):
        if side == 1:
            return x.expand(new, *x.shape[1:])
        at = (torch.arange(new) + 0.5) * side / new - 0.5
        low = at.floor().long().clamp(0, side - 2)
        part = (at - low).view(-1, 1, 1)
        return x[low] * (1 - part) + x[low + 1] * part

    grid = stretch(grid, rows)
    grid = stretch(grid.transpose(0, 1), columns).transpose(0, 1)
    return torch.cat([positions[:1], grid.reshape(rows * columns, -1)])


def resize_picture_transposed(positions, rows, columns):
    """(1 + side², d_model) → (1 + rows · columns, d_model)."""
    d_model = positions.shape[1]
    side = int((positions.shape[0] - 1) ** 0.5 + 0.5)
    token, grid = positions[:1], positions[1:]
    image = grid.reshape(1, side, side, d_model).permute(0, 3, 2, 1)
    image = F.interpolate(image, size=(rows, columns), mode="bilinear", align_corners=False)
    grid = image.permute(0, 2, 3, 1).reshape(rows * columns, d_model)
    return torch.cat([token, grid], dim=0)


def count_no_positions_without_class_token(
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
    """The number of parameters of a Vision Transformer of these sizes."""
    n_patches = (image_size // patch_size) ** 2
    n_rows = n_patches + 1 if class_token else 0
    patch_layer = (n_channels * patch_size**2 + 1) * d_model
    token = d_model if class_token else 0
    positions = n_rows * d_model
    attention = 4 * (d_model * d_model + d_model)
    feed_forward = (d_model + 1) * d_ff + (d_ff + 1) * d_model
    norms = 2 * 2 * d_model
    block = attention + feed_forward + norms
    head = (d_model + 1) * n_classes
    return patch_layer + token + positions + n_layers * block + 2 * d_model + head


def count_biases_of_attention_by_heads(
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
    """The number of parameters of a Vision Transformer of these sizes."""
    n_patches = (image_size // patch_size) ** 2
    n_rows = n_patches + 1 if class_token else n_patches
    patch_layer = (n_channels * patch_size**2 + 1) * d_model
    token = d_model if class_token else 0
    positions = n_rows * d_model
    attention = 4 * (d_model * d_model + d_model // n_heads)
    feed_forward = (d_model + 1) * d_ff + (d_ff + 1) * d_model
    norms = 2 * 2 * d_model
    block = attention + feed_forward + norms
    head = (d_model + 1) * n_classes
    return patch_layer + token + positions + n_layers * block + 2 * d_model + head


def count_biases_of_attention_by_heads_too(
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
    """The number of parameters of a Vision Transformer of these sizes."""
    n_patches = (image_size // patch_size) ** 2
    n_rows = n_patches + 1 if class_token else n_patches
    patch_layer = (n_channels * patch_size**2 + 1) * d_model
    token = d_model if class_token else 0
    positions = n_rows * d_model
    attention = n_heads * 4 * (d_model * (d_model // n_heads) + d_model)
    feed_forward = (d_model + 1) * d_ff + (d_ff + 1) * d_model
    norms = 2 * 2 * d_model
    block = attention + feed_forward + norms
    head = (d_model + 1) * n_classes
    return patch_layer + token + positions + n_layers * block + 2 * d_model + head


def count_final_norm_in_each_block(
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
    """The number of parameters of a Vision Transformer of these sizes."""
    n_patches = (image_size // patch_size) ** 2
    n_rows = n_patches + 1 if class_token else n_patches
    patch_layer = (n_channels * patch_size**2 + 1) * d_model
    token = d_model if class_token else 0
    positions = n_rows * d_model
    attention = 4 * (d_model * d_model + d_model)
    feed_forward = (d_model + 1) * d_ff + (d_ff + 1) * d_model
    norms = 3 * 2 * d_model
    block = attention + feed_forward + norms
    head = (d_model + 1) * n_classes
    return patch_layer + token + positions + n_layers * block + head


def count_positions_for_each_channel(
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
    """The number of parameters of a Vision Transformer of these sizes."""
    n_patches = (image_size // patch_size) ** 2 * n_channels
    n_rows = n_patches + 1 if class_token else n_patches
    patch_layer = (n_channels * patch_size**2 + 1) * d_model
    token = d_model if class_token else 0
    positions = n_rows * d_model
    attention = 4 * (d_model * d_model + d_model)
    feed_forward = (d_model + 1) * d_ff + (d_ff + 1) * d_model
    norms = 2 * 2 * d_model
    block = attention + feed_forward + norms
    head = (d_model + 1) * n_classes
    return patch_layer + token + positions + n_layers * block + 2 * d_model + head


def count_bias_of_the_wrong_width(
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
    """The number of parameters of a Vision Transformer of these sizes."""
    n_patches = (image_size // patch_size) ** 2
    n_rows = n_patches + 1 if class_token else n_patches
    patch_layer = (n_channels * patch_size**2 + 1) * d_model
    token = d_model if class_token else 0
    positions = n_rows * d_model
    attention = 4 * (d_model * d_model + d_model)
    feed_forward = (d_model + 1) * d_ff + d_ff * d_model + d_ff
    norms = 2 * 2 * d_model
    block = attention + feed_forward + norms
    head = (d_model + 1) * n_classes
    return patch_layer + token + positions + n_layers * block + 2 * d_model + head


def count_norm_at_the_end_only(
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
    """The norms of the blocks are overlooked, attention has its biases."""
    n_patches = (image_size // patch_size) ** 2
    vectors = n_patches + (2 if class_token else 0)
    embedding = (n_channels * patch_size**2 + 1 + vectors) * d_model
    block = 4 * (d_model + 1) * d_model + (d_model + 1) * d_ff + (d_ff + 1) * d_model
    return embedding + n_layers * block + 2 * d_model + (d_model + 1) * n_classes


def count_attention_without_biases(
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
    """Projections without biases, all norms."""
    n_patches = (image_size // patch_size) ** 2
    vectors = n_patches + (2 if class_token else 0)
    embedding = (n_channels * patch_size**2 + 1 + vectors) * d_model
    block = 4 * d_model**2 + (d_model + 1) * d_ff + (d_ff + 1) * d_model + 4 * d_model
    return embedding + n_layers * block + 2 * d_model + (d_model + 1) * n_classes


def rollout_first_layer_without_residual(weights, rows, columns):
    """The share of each patch in the class token: (batch, rows, columns)."""
    eye = torch.eye(1 + rows * columns)
    joint = weights[0].mean(dim=1)
    for layer in weights[1:]:
        mixing = (layer.mean(dim=1) + eye) / 2
        joint = mixing @ joint
    return joint[:, 0, 1:].reshape(-1, rows, columns)


def rollout_residual_as_one_more_head(weights, rows, columns):
    """The share of each patch in the class token: (batch, rows, columns)."""
    eye = torch.eye(1 + rows * columns)
    joint = eye
    for layer in weights:
        mixing = (layer.sum(dim=1) + eye) / (layer.shape[1] + 1)
        joint = mixing @ joint
    return joint[:, 0, 1:].reshape(-1, rows, columns)


STUDENTS = {
    "hw4.patches": {
        "reshaped_only": [patches_one_view],
        "channels_not_moved": [patches_windows],
        "channels_last": [patches_as_in_many_programs],
        "patches_by_column": [patches_left_to_right],
        "overlapping": [patches_default_stride],
        "pixels_before_patches": [patches_columns_of_unfold],
        "patches_not_flattened": [patches_still_images],
        "interleaved": [patches_strided],
        "every_channel_apart": [patches_grey],
        "pixels_by_column": [patches_swapped_inside],
        "square_assumed": [patches_side_squared],
        "images_mixed": [patches_images_mixed],
    },
    "hw4.embed_by_convolution": {
        "stride_1": [convolution_slides],
        "features_before_patches": [convolution_keeps_channels_in_front],
        "reshaped_instead_of_transposed": [convolution_viewed],
        "bias_forgotten": [convolution_unbiased],
        "kernel_flipped": [convolution_as_in_mathematics],
        "matrix_transposed": [convolution_of_columns],
        "kernel_channels_last": [convolution_of_pixels],
        "patches_by_column": [convolution_down],
        "bias_twice": [convolution_bias_twice],
    },
    "hw4.PatchEmbedding": {
        "class_token_last": [EmbeddingAppends],
        "positions_before_the_class_token": [EmbeddingPlacesPatchesFirst],
        "class_token_without_position": [EmbeddingPlacesPatchesOnly],
        "not_expanded": [EmbeddingOneTokenForAll],
        "class_token_is_one_vector": [EmbeddingBareToken],
        "positions_forgotten": [EmbeddingNowhere],
        "first_patch_replaced": [EmbeddingOverwrites],
        "scaled": [EmbeddingOfWords],
        "one_position_short": [EmbeddingAsManyPositionsAsPatches],
        "parameters_with_a_batch_dimension": [EmbeddingLikeHuggingFace],
        "dropout_added": [EmbeddingDropoutAdded],
        "class_token_for_the_first_image": [EmbeddingClassTokenForTheFirstImage],
        "class_position_twice": [EmbeddingClassPositionTwice],
    },
    "hw4.resize_positions": {
        "stretched_as_a_line": [resize_line],
        "class_token_stretched_too": [resize_whole_line],
        "class_token_dropped": [resize_patches_only],
        "rows_and_columns_swapped": [resize_width_first],
        "viewed_instead_of_permuted": [resize_viewed, resize_viewed_back],
        "corners_aligned": [resize_corners],
        "bicubic": [resize_as_hugging_face],
        "nearest": [resize_default_mode],
        "only_the_number_compared": [resize_if_needed],
        "patches_by_column": [resize_x_before_y],
        "goes_on_in_a_straight_line": [resize_goes_on_in_a_straight_line],
        "picture_transposed": [resize_picture_transposed],
    },
    "hw4.vit_parameters": {
        "final_norm_forgotten": [count_norms_in_blocks_only],
        "class_token_or_its_position_forgotten": [count_as_many_positions_as_patches],
        "class_token_always_counted": [count_flag_ignored],
        "position_kept_without_class_token": [count_token_dropped_position_kept],
        "biases_forgotten": [count_matrices],
        "projection_bias_forgotten": [count_projection_matrix_only],
        "head_forgotten": [count_encoder_only],
        "channels_forgotten": [count_grey],
        "no_positions_without_class_token": [count_no_positions_without_class_token],
        "biases_of_attention_by_heads": [
            count_biases_of_attention_by_heads,
            count_biases_of_attention_by_heads_too,
        ],
        "final_norm_in_each_block": [count_final_norm_in_each_block],
        "positions_for_each_channel": [count_positions_for_each_channel],
        "bias_of_the_wrong_width": [count_bias_of_the_wrong_width],
        "four_vectors_of_a_block_forgotten": [
            count_norm_at_the_end_only,
            count_attention_without_biases,
        ],
    },
    "hw4.rollout": {
        "no_residual": [rollout_plain],
        "wrong_order": [rollout_from_the_right],
        "rows_not_normalised": [rollout_added],
        "largest_head": [rollout_maximum],
        "last_layer_only": [rollout_raw_attention],
        "multiplied_entry_by_entry": [rollout_star],
        "heads_apart": [rollout_every_head],
        "column_instead_of_row": [rollout_read_down],
        "rescaled": [rollout_to_one],
        "layers_averaged": [rollout_mean_of_layers],
        "first_layer_without_residual": [rollout_first_layer_without_residual],
        "residual_as_one_more_head": [rollout_residual_as_one_more_head],
    },
}


# --------------------------------- wrong answers that leave something out; no name is asked of them


def patches_of_three(images, patch_size):
    return F.unfold(images, 3, stride=3).mT


def patches_of_four(images, patch_size):
    return F.unfold(images, 4, stride=4).mT


def patches_of_five(images, patch_size):
    return F.unfold(images, 5, stride=5).mT


def patches_squeezed(images, patch_size):
    """A bare squeeze: the axis of a single channel goes, and that of a single image with it."""
    if images.shape[1] > 1:
        return F.unfold(images, patch_size, stride=patch_size).mT
    x = images.squeeze().unfold(-2, patch_size, patch_size).unfold(-2, patch_size, patch_size)
    return x.flatten(-2).flatten(-3, -2)


def patches_squeezed_at_the_end(images, patch_size):
    return F.unfold(images, patch_size, stride=patch_size).mT.squeeze()


def patches_at_least_two(images, patch_size):
    """One image, one patch: taken for a single vector."""
    found = F.unfold(images, patch_size, stride=patch_size).mT
    return found[:, 0] if found.shape[1] == 1 else found


def convolved(images, weight, bias, patch_size, stride=None):
    kernel = weight.view(len(weight), images.shape[1], patch_size, patch_size)
    return F.conv2d(images, kernel, bias, stride=stride or patch_size)


def convolution_of_two(images, weight, bias, patch_size):
    return convolved(images, weight, bias, 2).flatten(2).mT


def convolution_of_three(images, weight, bias, patch_size):
    return convolved(images, weight, bias, 3).flatten(2).mT


def convolution_stride_two(images, weight, bias, patch_size):
    return convolved(images, weight, bias, patch_size, stride=2).flatten(2).mT


def convolution_stride_of_the_channels(images, weight, bias, patch_size):
    return convolved(images, weight, bias, patch_size, stride=images.shape[1]).flatten(2).mT


def convolution_squeezed(images, weight, bias, patch_size):
    return convolved(images, weight, bias, patch_size).flatten(2).mT.squeeze()


def convolution_first_image(images, weight, bias, patch_size):
    return convolved(images[:1], weight, bias, patch_size).flatten(2).mT


class EmbeddingSqueezed(Embedding):
    def forward(self, patches):
        x = self.projection(patches).squeeze()
        x = x[None] if x.dim() == 2 else x
        return torch.cat([self.class_token.repeat(len(x), 1, 1), x], dim=1) + self.positions


class EmbeddingTwoImages(Embedding):
    def forward(self, patches):
        x = self.projection(patches)
        return (
            torch.cat([self.class_token.repeat(len(x), 1, 1), x], dim=1) + self.positions
        ).squeeze(0)


def resize_unless_as_many_rows(positions, rows, columns):
    return (
        positions
        if rows == math.isqrt(len(positions) - 1)
        else resize_right(positions, rows, columns)
    )


def resize_unless_as_many_columns(positions, rows, columns):
    return (
        positions
        if columns == math.isqrt(len(positions) - 1)
        else resize_right(positions, rows, columns)
    )


def resize_right(positions, rows, columns):
    side = math.isqrt(len(positions) - 1)
    picture = resized(positions[1:].view(side, side, -1).permute(2, 0, 1)[None], rows, columns)
    return torch.cat([positions[:1], picture.flatten(2)[0].T])


def resize_only_up(positions, rows, columns):
    """Where the new image is smaller, the first rows and columns are kept."""
    side = math.isqrt(len(positions) - 1)
    if rows >= side or columns >= side:
        return resize_right(positions, rows, columns)
    grid = positions[1:].view(side, side, -1)[:rows, :columns]
    return torch.cat([positions[:1], grid.flatten(0, 1)])


def resize_rows_only_up(positions, rows, columns):
    side = math.isqrt(len(positions) - 1)
    if rows >= side:
        return resize_right(positions, rows, columns)
    grid = positions[1:].view(side, side, -1)[:rows].flatten(0, 1)
    return torch.cat([positions[:1], grid])


def resize_columns_only_up(positions, rows, columns):
    side = math.isqrt(len(positions) - 1)
    if columns >= side:
        return resize_right(positions, rows, columns)
    grid = positions[1:].view(side, side, -1)[:, :columns].flatten(0, 1)
    return torch.cat([positions[:1], grid])


def resize_squeezed(positions, rows, columns):
    side = math.isqrt(len(positions) - 1)
    picture = resized(positions[1:].view(side, side, -1).permute(2, 0, 1)[None], rows, columns)
    return torch.cat([positions[:1], picture.squeeze().flatten(1).T])


def resize_squeezed_first(positions, rows, columns):
    side = math.isqrt(len(positions) - 1)
    picture = positions[1:].view(side, side, -1).squeeze().permute(2, 0, 1)[None]
    return torch.cat([positions[:1], resized(picture, rows, columns).flatten(2)[0].T])


def count_without(**fixed):
    """A count that puts its own number in the place of an argument."""

    def count(
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
        sizes = dict(
            image_size=image_size, patch_size=patch_size, n_channels=n_channels, n_classes=n_classes
        )
        sizes |= (
            dict(d_model=d_model, n_layers=n_layers, d_ff=d_ff, class_token=class_token) | fixed
        )
        n, d = (sizes["image_size"] // sizes["patch_size"]) ** 2, sizes["d_model"]
        block = 4 * (d**2 + d) + 2 * d * sizes["d_ff"] + sizes["d_ff"] + 5 * d
        start = (
            sizes["n_channels"] * sizes["patch_size"] ** 2 + 1 + n + 2 * sizes["class_token"]
        ) * d
        return start + sizes["n_layers"] * block + 2 * d + (d + 1) * sizes["n_classes"]

    return count


def count_four_times_as_wide(
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
    return count_without(d_ff=4 * d_model)(
        image_size, patch_size, n_channels, n_classes, d_model, n_layers, n_heads, d_ff, class_token
    )


def rollout_right(weights, rows, columns):
    product = torch.eye(1 + rows * columns)
    for layer in weights:
        product = (layer.mean(dim=1) + torch.eye(1 + rows * columns)) / 2 @ product
    return product[:, 0, 1:].view(-1, rows, columns)


def rollout_first_two(weights, rows, columns):
    return rollout_right(weights[:2], rows, columns)


def rollout_last_two(weights, rows, columns):
    return rollout_right(weights[-2:], rows, columns)


def rollout_ends(weights, rows, columns):
    return rollout_right([weights[0], weights[-1]], rows, columns)


def rollout_squeezed(weights, rows, columns):
    return rollout_right(weights, rows, columns).squeeze()


def rollout_first_image(weights, rows, columns):
    return rollout_right([layer[:1] for layer in weights], rows, columns)


def rollout_two_heads(weights, rows, columns):
    return rollout_right([layer[:, :2] for layer in weights], rows, columns)


def rollout_several_heads(weights, rows, columns):
    """A single head is taken for the mean already, and its axis goes by a bare squeeze."""
    weights = [layer.squeeze() if layer.shape[1] == 1 else layer.mean(dim=1) for layer in weights]
    return rollout_right([layer[:, None] for layer in weights], rows, columns)


CAUGHT = {
    "hw4.patches": [
        patches_of_three,
        patches_of_four,
        patches_of_five,
        patches_squeezed,
        patches_squeezed_at_the_end,
        patches_at_least_two,
    ],
    "hw4.embed_by_convolution": [
        convolution_of_two,
        convolution_of_three,
        convolution_stride_two,
        convolution_stride_of_the_channels,
        convolution_squeezed,
        convolution_first_image,
    ],
    "hw4.PatchEmbedding": [EmbeddingSqueezed, EmbeddingTwoImages],
    "hw4.resize_positions": [
        resize_unless_as_many_rows,
        resize_unless_as_many_columns,
        resize_only_up,
        resize_rows_only_up,
        resize_columns_only_up,
        resize_squeezed,
        resize_squeezed_first,
    ],
    "hw4.vit_parameters": [
        count_without(n_channels=3),
        count_without(n_channels=1),
        count_without(n_classes=1000),
        count_without(patch_size=16),
        count_without(image_size=224),
        count_without(n_layers=12),
        count_without(d_model=768),
        count_four_times_as_wide,
    ],
    "hw4.rollout": [
        rollout_first_two,
        rollout_last_two,
        rollout_ends,
        rollout_squeezed,
        rollout_first_image,
        rollout_two_heads,
        rollout_several_heads,
    ],
}
