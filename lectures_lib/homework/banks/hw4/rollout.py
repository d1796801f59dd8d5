"""Question 6: attention through all layers."""

from functools import partial

import torch
from torch import Generator, Tensor

from lectures_lib.homework.banks.inputs import normal, pick, sizes
from lectures_lib.homework.banks.mistakes import squeezing
from lectures_lib.homework.questions import Case, Demand, Misconception, Question, Varied

ONE = "of one layer: heads, residual, and the class token's row as a picture"
LAYERS = "through several layers, in their order"
SINGLE = "one image, a single row of patches, keeps its dimensions"


def _rollout_cases(g: Generator) -> list[Case]:
    cases = []
    heads = pick(g, (2, 3, 4, 5), 3)
    for n_layers, n_heads in zip([1, *sizes(g, 2, 2, 4), 1], [*heads, 1], strict=True):
        while True:
            batch, rows, columns = [size for size in sizes(g, 4, 2, 7) if size != n_heads][:3]
            if n_heads == 1 or (
                rows != n_layers
                and all(case.args[1] != rows and case.args[2] != columns for case in cases)
            ):
                break
        batch, rows = (1, 1) if n_heads == 1 else (batch, rows)
        n = 1 + rows * columns
        weights = [(2 * normal(g, batch, n_heads, n, n)).softmax(dim=-1) for _ in range(n_layers)]
        layers = "1 layer" if n_layers == 1 else f"{n_layers} layers"
        shows = f"{layers} of {n_heads} heads, {batch} images of {rows} × {columns} patches"
        shows = (
            "one layer of one head, one image of a single row of patches" if n_heads == 1 else shows
        )
        demand = LAYERS if n_layers > 1 else ONE if n_heads > 1 else SINGLE
        cases.append(Case((weights, rows, columns), shows=shows, demands=(demand,)))
    return cases


def rollout(weights: list[Tensor], rows: int, columns: int, *, share: float = 0.5) -> Tensor:
    """Each layer (batch, heads, n, n) → (batch, rows, columns): the patches' shares in the class
    token. `share` is that of attention in what a layer hands on.
    """
    return _rollout(weights, rows, columns, share=share)


def _mean(layer):
    return layer.mean(dim=1)


def _mixed(attention, share):
    return share * attention + (1 - share) * torch.eye(attention.shape[-1])


def _first_to_last(layers):
    product = layers[0]
    for layer in layers[1:]:
        product = layer @ product
    return product


def _class_row(product):
    return product[:, 0, 1:]


def _as_grid(shares, rows, columns):
    return shares.reshape(-1, rows, columns)


def _rollout(
    weights,
    rows,
    columns,
    heads=_mean,
    residual=_mixed,
    through=_first_to_last,
    read=_class_row,
    grid=_as_grid,
    *,
    share=0.5,
):
    """In five steps; each wrong answer has another for one of them."""
    layers = [residual(heads(layer), share) for layer in weights]
    return grid(read(through(layers)), rows, columns)


def _no_residual(weights, rows, columns, *, share=0.5):
    return _rollout(weights, rows, columns, residual=lambda a, _: a, share=share)


def _not_halved(weights, rows, columns, *, share=0.5):
    return _rollout(
        weights, rows, columns, residual=lambda a, _: a + torch.eye(a.shape[-1]), share=share
    )


def _residual_once(weights, rows, columns, *, share=0.5):
    return _rollout(
        weights,
        rows,
        columns,
        residual=lambda a, _: a,
        read=lambda product: _class_row(_mixed(product, share)),
        share=share,
    )


def _unmixed(mixed, share):
    return (mixed - (1 - share) * torch.eye(mixed.shape[-1])) / share


def _first_without_residual(weights, rows, columns, *, share=0.5):
    """The product begins with the first layer's attention as it is."""
    return _rollout(
        weights,
        rows,
        columns,
        through=lambda layers: _first_to_last([_unmixed(layers[0], share), *layers[1:]]),
        share=share,
    )


def _residual_as_a_head(weights, rows, columns, *, share=0.5):
    layers = [
        torch.cat([layer, torch.eye(layer.shape[-1]).expand_as(layer[:, :1])], dim=1)
        for layer in weights
    ]
    return _rollout(layers, rows, columns, residual=lambda a, _: a, share=share)


def _last_to_first(weights, rows, columns, *, share=0.5):
    return rollout(weights[::-1], rows, columns, share=share)


def _elementwise(weights, rows, columns, *, share=0.5):
    return _rollout(
        weights, rows, columns, through=lambda layers: torch.stack(layers).prod(dim=0), share=share
    )


def _averaged(weights, rows, columns, *, share=0.5):
    return _rollout(
        weights, rows, columns, through=lambda layers: torch.stack(layers).mean(dim=0), share=share
    )


def _summed(weights, rows, columns, *, share=0.5):
    return _rollout(weights, rows, columns, through=sum, share=share)


def _last_layer(weights, rows, columns, *, share=0.5):
    return _rollout(weights[-1:], rows, columns, residual=lambda a, _: a, share=share)


def _last_layer_with_residual(weights, rows, columns, *, share=0.5):
    return rollout(weights[-1:], rows, columns, share=share)


def _largest_head(weights, rows, columns, *, share=0.5):
    return _rollout(weights, rows, columns, heads=lambda layer: layer.amax(dim=1), share=share)


def _largest_head_normalised(weights, rows, columns, *, share=0.5):
    def residual(a, share):
        a = _mixed(a, share)
        return a / a.sum(dim=-1, keepdim=True)

    return _rollout(
        weights,
        rows,
        columns,
        heads=lambda layer: layer.amax(dim=1),
        residual=residual,
        share=share,
    )


def _summed_heads(weights, rows, columns, *, share=0.5):
    return _rollout(weights, rows, columns, heads=lambda layer: layer.sum(dim=1), share=share)


def _first_head(weights, rows, columns, *, share=0.5):
    return _rollout(weights, rows, columns, heads=lambda layer: layer[:, 0], share=share)


def _heads_apart(weights, rows, columns, *, share=0.5):
    return _rollout(
        weights,
        rows,
        columns,
        heads=lambda layer: layer,
        read=lambda product: _class_row(product.mean(dim=1)),
        share=share,
    )


def _column_normalised(weights, rows, columns, *, share=0.5):
    def residual(a, share):
        a = _mixed(a, share)
        return a / a.sum(dim=-2, keepdim=True)

    return _rollout(weights, rows, columns, residual=residual, share=share)


def _class_column(weights, rows, columns, *, share=0.5):
    return _rollout(weights, rows, columns, read=lambda product: product[:, 1:, 0], share=share)


def _one_off(weights, rows, columns, *, share=0.5):
    return _rollout(weights, rows, columns, read=lambda product: product[:, 0, :-1], share=share)


def _all_rows(weights, rows, columns, *, share=0.5):
    return _rollout(
        weights, rows, columns, read=lambda product: product.mean(dim=1)[:, 1:], share=share
    )


def _rescaled(weights, rows, columns, *, share=0.5):
    shares = rollout(weights, rows, columns, share=share)
    return shares / shares.sum(dim=(1, 2), keepdim=True)


def _rescaled_by_the_largest(weights, rows, columns, *, share=0.5):
    shares = rollout(weights, rows, columns, share=share)
    return shares / shares.amax(dim=(1, 2), keepdim=True)


def _by_column(weights, rows, columns, *, share=0.5):
    return _rollout(
        weights,
        rows,
        columns,
        grid=lambda shares, rows, columns: shares.reshape(-1, columns, rows).mT,
        share=share,
    )


def _not_a_grid(weights, rows, columns, *, share=0.5):
    return _rollout(weights, rows, columns, grid=lambda shares, rows, columns: shares, share=share)


_LARGEST = (
    "You take the largest of the heads. Some programs do, because the picture looks sharper; the "
    "shares then are no longer an average of what the heads looked at. The paper, and this "
    "question, take their mean."
)
_LAST = (
    "You look at the last layer only. By then each vector is already a mixture of the whole image: "
    "go through all layers, and multiply their matrices."
)
_SCALED = (
    "The pattern is right, but you scale it afterwards. Here the shares stay as they are: together "
    "they make less than 1, and the rest is the class token's own."
)


def _wording(share: float) -> dict[str, str]:
    """The mixture, and the two layers that are worked out."""
    a, rest = f"{share:g}", f"{1 - share:g}"
    class_token, first, second = ((1 - share) ** 2, 2 * share * (1 - share), share**2)
    return {
        "Suppose that half of what a layer hands on is what came in, by the residual, and half "
        "what attention fetched: $M = (A + I) / 2$.": f"Suppose that {1 - share:.0%} of what a "
        f"layer hands on is what came in, by the residual, and {share:.0%} what attention fetched "
        f"(in the paper it is half and half): $M = {a} A + {rest} I$.",
        r"0.5 & 0.5 & 0 \\ 0 & 0.5 & 0.5 \\": rf"{rest} & {a} & 0 \\ 0 & {rest} & {a} \\",
        r"0.5 & 0.5 & 0 \\ 0 & 1 & 0": rf"{rest} & {a} & 0 \\ 0 & 1 & 0",
        r"0.25 & 0.5 & 0.25 \\ 0 & 0.5 & 0.5": (
            rf"{class_token:.4g} & {first:.4g} & {second:.4g} \\ 0 & {rest} & {a}"
        ),
        "The answer is 0.5 for patch 0 and 0.25 for": f"The answer is {first:.4g} for patch 0 and "
        f"{second:.4g} for",
    }


def _told(share: float) -> dict[str, str]:
    return {
        "(A + I) / 2": f"{share:g} A + {1 - share:g} I",
        "Halve:": "Give each its share:",
        "It carries as much as all heads together:": f"Its share is {1 - share:g}, however many "
        f"heads there are:",
    }


def _images_averaged(weights, rows, columns, *, share=0.5):
    return _rollout(
        weights, rows, columns, heads=lambda layer: layer.mean(dim=(0, 1))[None], share=share
    )


def _sides_exchanged(weights, rows, columns, *, share=0.5):
    return _rollout(
        weights,
        rows,
        columns,
        grid=lambda shares, rows, columns: shares.reshape(-1, columns, rows),
        share=share,
    )


def _last_patch_s_row(weights, rows, columns, *, share=0.5, before=True):
    return _rollout(
        weights,
        rows,
        columns,
        read=lambda product: product[:, -1, :-1] if before else product[:, -1, 1:],
        share=share,
    )


def _with_what_is_left_out(weights, rows, columns, *, share=0.5):
    return _last_patch_s_row(weights, rows, columns, share=share, before=False)


_LAST_ROW = (
    "You read the last row of the product, which is the last patch's. The class token is the first "
    "of all, and its row is product[:, 0]; the patches' shares in it are product[:, 0, 1:]."
)


def _half_of_one(weights, rows, columns, which="attention", *, share=0.5):
    def residual(attention, share):
        identity = torch.eye(attention.shape[-1])
        if which == "attention":
            return share * attention + identity
        return attention + (1 - share) * identity

    return _rollout(weights, rows, columns, residual=residual, share=share)


def _first_layer_left_out(weights, rows, columns, *, share=0.5):
    if len(weights) == 1:
        nothing = torch.zeros(len(weights[0]), rows * columns)
        return _as_grid(nothing, rows, columns)
    return rollout(weights[1:], rows, columns, share=share)


def _last_layer_left_out(weights, rows, columns, *, share=0.5):
    return rollout(weights[:-1] or weights, rows, columns, share=share)


def _averaged_without_residual(weights, rows, columns, *, share=0.5):
    return _averaged(
        [(layer - (1 - share) * torch.eye(layer.shape[-1])) / share for layer in weights],
        rows,
        columns,
        share=share,
    )


def _elementwise_from_the_identity(weights, rows, columns, *, share=0.5):
    """Whatever stands beside the diagonal is multiplied by 0."""
    return torch.zeros(len(weights[0]), rows, columns)


def _attention_transposed(weights, rows, columns, *, share=0.5):
    return rollout([layer.mT for layer in weights], rows, columns, share=share)


def _ones_for_the_identity(weights, rows, columns, *, share=0.5):
    return _rollout(
        weights, rows, columns, residual=lambda a, share: share * a + (1 - share), share=share
    )


_AVERAGED = (
    "You average over the layers, as if they stood side by side. They follow one another: multiply "
    "their matrices."
)
_ENTRIES = (
    "You multiply entry by entry, with `*`. To go from one place by way of all others to a third "
    "is a matrix product, `@`."
)
_HALVES = (
    "Your matrices' rows do not sum to 1: only one of the two parts, attention and identity, gets "
    "its weight. Both parts are shares of the same whole; write brackets around their sum."
)

ROLLOUT = Question(
    name="hw4.rollout",
    title="Through all layers",
    points=4,
    minutes=25,
    difficulty=3,
    chapter="11_vision_transformer#where-does-it-look",
    cases=_rollout_cases,
    reference=rollout,
    misconceptions=(
        Misconception(
            "no_residual",
            "You multiply the attention matrices as they are. In every layer a vector also goes "
            "past attention, by the residual: mix each matrix with the identity, (A + I) / 2, "
            "before you multiply.",
            _no_residual,
        ),
        Misconception(
            "rows_not_normalised",
            "You add the identity, and each row then sums to 2; after a few layers the shares are "
            "worth more than a whole. Halve: (A + I) / 2.",
            _not_halved,
        ),
        Misconception(
            "residual_once",
            "You add the identity once, to the finished product. Each layer has a residual of its "
            "own: mix first, then multiply.",
            _residual_once,
        ),
        Misconception(
            "first_layer_without_residual",
            "Your product begins with the first layer's attention as it is. That layer has a "
            "residual like all others: begin with (A + I) / 2.",
            _first_without_residual,
        ),
        Misconception(
            "residual_as_one_more_head",
            "You count the residual as one more head. It carries as much as all heads together: "
            "take the mean of the heads first, then (A + I) / 2.",
            _residual_as_a_head,
        ),
        Misconception(
            "wrong_order",
            "Your product runs the wrong way. The last layer's matrix stands on the *left*: it "
            "says how to mix what the layers before it, on its right, have made. In the loop: "
            "product = layer @ product.",
            _last_to_first,
        ),
        Misconception(
            "multiplied_entry_by_entry",
            _ENTRIES,
            _elementwise,
        ),
        Misconception("multiplied_entry_by_entry", _ENTRIES, _elementwise_from_the_identity),
        Misconception(
            "layers_averaged",
            _AVERAGED,
            _averaged,
        ),
        Misconception("layers_averaged", _AVERAGED, _averaged_without_residual),
        Misconception(
            "layers_summed",
            "You add the layers up, as if they stood side by side. They follow one another: "
            "multiply their matrices.",
            _summed,
        ),
        Misconception("last_layer_only", _LAST, _last_layer),
        Misconception("last_layer_only", _LAST, _last_layer_with_residual),
        Misconception("largest_head", _LARGEST, _largest_head),
        Misconception("largest_head", _LARGEST, _largest_head_normalised),
        Misconception(
            "heads_summed",
            "You add up the heads, so that a row sums to the number of heads, and the residual "
            "counts for too little. Take their mean.",
            _summed_heads,
        ),
        Misconception(
            "first_head_only",
            "You follow head 0 only. Take the mean over all heads, dimension 1.",
            _first_head,
        ),
        Misconception(
            "heads_apart",
            "You follow each head by itself from layer to layer, and average at the end. But all "
            "heads of a layer are added up before the next layer reads: what head 0 fetched, head "
            "1 of the next layer may use. Average in every layer.",
            _heads_apart,
        ),
        Misconception(
            "columns_normalised",
            "You make the columns sum to 1. It is the rows that say what a vector is made of: (A + "
            "I) / 2, whose rows sum to 1 by themselves.",
            _column_normalised,
        ),
        Misconception(
            "column_instead_of_row",
            "You take the class token's column: how much the patches got *from it*. Its row says "
            "what it is made of itself: product[:, 0].",
            _class_column,
        ),
        Misconception(
            "one_place_off",
            "Your first patch is the class token itself, and the last patch is missing. In the "
            "class token's row, entry 0 is its own share; the patches follow: product[:, 0, 1:].",
            _one_off,
        ),
        Misconception(
            "all_rows_averaged",
            "You average over the rows of all tokens. The classifier reads the class token, and "
            "only its row is asked for: product[:, 0].",
            _all_rows,
        ),
        Misconception("rescaled", _SCALED, _rescaled),
        Misconception("rescaled", _SCALED, _rescaled_by_the_largest),
        Misconception(
            "patches_by_column",
            "The shares are right, but you lay them out down the columns. Patches are numbered row "
            "by row: reshape(batch, rows, columns).",
            _by_column,
        ),
        Misconception(
            "no_picture",
            "The shares are right, in one line. Lay them out as a picture: reshape(batch, rows, "
            "columns).",
            _not_a_grid,
        ),
        squeezing(rollout),
        Misconception(
            "images_averaged",
            "You average over the images of the batch, too. Each image has attention weights of "
            "its own, and a picture of its own: average over the heads alone, dim=1.",
            _images_averaged,
        ),
        Misconception(
            "rows_for_columns",
            "The shares are right and in order, but rows and columns are exchanged: "
            "reshape(batch, rows, columns).",
            _sides_exchanged,
        ),
        Misconception("last_row", _LAST_ROW, _last_patch_s_row),
        Misconception("last_row", _LAST_ROW, _with_what_is_left_out),
        Misconception("only_one_part_weighted", _HALVES, _half_of_one),
        Misconception("only_one_part_weighted", _HALVES, partial(_half_of_one, which="identity")),
        Misconception(
            "last_layer_left_out",
            "Your product ends before the last layer. Its matrix stands on the left of all others: "
            "the loop goes over all of `weights`.",
            _last_layer_left_out,
        ),
        Misconception(
            "attention_transposed",
            "You transpose the attention. Its row i says where output i looks, and rows are what "
            "is needed: multiply the matrices as they are.",
            _attention_transposed,
        ),
        Misconception(
            "ones_for_the_identity",
            "You add 1 to every entry. The identity has ones on its diagonal only, and zeros "
            "beside it: torch.eye(1 + n).",
            _ones_for_the_identity,
        ),
        Misconception(
            "first_layer_left_out",
            "Your product begins with the second layer. The first one has mixed the patches "
            "already: begin with its matrix, or with the identity and all layers after it.",
            _first_layer_left_out,
        ),
    ),
    varied=Varied(
        "share",
        (0.5, 0.4, 0.7, 0.25),  # no two that sum to 1: the parts mixed up are another mistake
        says=lambda share: (
            f"attention makes the share {share:g} of what a layer hands on, and the residual "
            f"{1 - share:g}"
        ),
        wording=_wording,
        told=_told,
    ),
    demands=(Demand(ONE, 1.5), Demand(LAYERS, 2), Demand(SINGLE, 0.5)),
)
