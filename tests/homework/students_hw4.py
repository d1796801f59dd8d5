"""Homework 4 answered wrongly, as students write it: each must get the name of its mistake.

`STUDENTS` maps a question's full name to {mistake: [answers]}. Each answer stands alone, as those in `right_answers_hw4.py`.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

# ------------------------------------------------------------------------------------------------------------------- patches


def patches_one_view(images, patch_size):
    batch, channels, height, width = images.shape
    n = (height // patch_size) * (width // patch_size)
    return images.view(batch, n, channels * patch_size * patch_size)


def patches_windows(images, patch_size):
    batch, channels, height, width = images.shape
    x = images.unfold(2, patch_size, patch_size).unfold(3, patch_size, patch_size)
    return x.contiguous().view(batch, (height // patch_size) * (width // patch_size), channels * patch_size**2)


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
    return torch.stack([images[:, :, r::rows, c::columns].flatten(1) for r in range(rows) for c in range(columns)], dim=1)


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


# ------------------------------------------------------------------------------------------------------ embed_by_convolution


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


# ------------------------------------------------------------------------------------------------------------ PatchEmbedding


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
        return torch.cat([self.class_token.repeat(len(patches), 1, 1), self.projection(patches)], dim=1)


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


# ---------------------------------------------------------------------------------------------------------- resize_positions


def resized(picture, rows, columns, **options):
    return F.interpolate(picture, size=(rows, columns), **{"mode": "bilinear"} | options)


def resize_line(positions, rows, columns):
    line = positions[1:].T.unsqueeze(0)  # (1, d_model, n)
    line = F.interpolate(line, size=rows * columns, mode="linear", align_corners=False)
    return torch.cat([positions[:1], line.squeeze(0).T])


def resize_whole_line(positions, rows, columns):
    line = F.interpolate(positions.unsqueeze(0).transpose(1, 2), size=rows * columns + 1, mode="linear")
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
    picture = resized(positions[1:].view(side, side, -1).permute(2, 0, 1)[None], rows, columns, align_corners=True)
    return torch.cat([positions[:1], picture.flatten(2)[0].T])


def resize_as_hugging_face(positions, rows, columns):
    side = math.isqrt(len(positions) - 1)
    picture = resized(positions[1:].view(side, side, -1).permute(2, 0, 1)[None], rows, columns, mode="bicubic")
    return torch.cat([positions[:1], picture.flatten(2)[0].T])


def resize_default_mode(positions, rows, columns):
    side = math.isqrt(len(positions) - 1)
    picture = F.interpolate(positions[1:].view(side, side, -1).permute(2, 0, 1)[None], size=(rows, columns))
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


# ------------------------------------------------------------------------------------------------------------ vit_parameters


def count_norms_in_blocks_only(image_size, patch_size, n_channels, n_classes, d_model, n_layers, n_heads, d_ff, class_token=True):
    n = (image_size // patch_size) ** 2
    block = 4 * (d_model**2 + d_model) + 2 * d_model * d_ff + d_ff + d_model + 4 * d_model
    return (n_channels * patch_size**2 + 1 + n + 2 * class_token) * d_model + n_layers * block + (d_model + 1) * n_classes


def count_as_many_positions_as_patches(image_size, patch_size, n_channels, n_classes, d_model, n_layers, n_heads, d_ff, class_token=True):
    n = (image_size // patch_size) ** 2
    block = 4 * (d_model**2 + d_model) + 2 * d_model * d_ff + d_ff + d_model + 4 * d_model
    total = n_channels * patch_size**2 * d_model + d_model + n * d_model + n_layers * block + 2 * d_model
    return total + (d_model if class_token else 0) + (d_model + 1) * n_classes


def count_flag_ignored(image_size, patch_size, n_channels, n_classes, d_model, n_layers, n_heads, d_ff, class_token=True):
    n = (image_size // patch_size) ** 2 + 1
    block = 4 * (d_model**2 + d_model) + 2 * d_model * d_ff + d_ff + d_model + 4 * d_model
    total = n_channels * patch_size**2 * d_model + d_model + n * d_model + n_layers * block + 2 * d_model
    return total + d_model + (d_model + 1) * n_classes


def count_token_dropped_position_kept(image_size, patch_size, n_channels, n_classes, d_model, n_layers, n_heads, d_ff, class_token=True):
    n = (image_size // patch_size) ** 2 + 1
    block = 4 * (d_model**2 + d_model) + 2 * d_model * d_ff + d_ff + d_model + 4 * d_model
    total = n_channels * patch_size**2 * d_model + d_model + n * d_model + n_layers * block + 2 * d_model
    return total + (d_model if class_token else 0) + (d_model + 1) * n_classes


def count_matrices(image_size, patch_size, n_channels, n_classes, d_model, n_layers, n_heads, d_ff, class_token=True):
    n = (image_size // patch_size) ** 2
    matrices = n_channels * patch_size**2 * d_model + n_layers * (4 * d_model**2 + 2 * d_model * d_ff) + d_model * n_classes
    norms = (2 * n_layers + 1) * 2 * d_model
    return matrices + norms + n * d_model + (2 * d_model if class_token else 0)


def count_projection_matrix_only(image_size, patch_size, n_channels, n_classes, d_model, n_layers, n_heads, d_ff, class_token=True):
    n = (image_size // patch_size) ** 2
    block = 4 * (d_model**2 + d_model) + 2 * d_model * d_ff + d_ff + d_model + 4 * d_model
    start = n_channels * patch_size**2 * d_model + (n + 2 * class_token) * d_model
    return start + n_layers * block + 2 * d_model + (d_model + 1) * n_classes


def count_encoder_only(image_size, patch_size, n_channels, n_classes, d_model, n_layers, n_heads, d_ff, class_token=True):
    n = (image_size // patch_size) ** 2
    block = 4 * (d_model**2 + d_model) + 2 * d_model * d_ff + d_ff + d_model + 4 * d_model
    return (n_channels * patch_size**2 + 1 + n + 2 * class_token) * d_model + n_layers * block + 2 * d_model


def count_grey(image_size, patch_size, n_channels, n_classes, d_model, n_layers, n_heads, d_ff, class_token=True):
    n = (image_size // patch_size) ** 2
    block = 4 * (d_model**2 + d_model) + 2 * d_model * d_ff + d_ff + d_model + 4 * d_model
    start = (patch_size**2 + 1 + n + 2 * class_token) * d_model
    return start + n_layers * block + 2 * d_model + (d_model + 1) * n_classes


# ------------------------------------------------------------------------------------------------------------------- rollout


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
    },
}
