"""The Vision Transformer (chapters 11 and 11b)."""

from random import Random

import torch
import torch.nn.functional as F

from lectures_lib.exam.pictures import table
from lectures_lib.exam.question import Drawn, Question, asked_in
from lectures_lib.show.drawings.canvas import Canvas

QUESTIONS: list[Question] = []
_asked = asked_in(QUESTIONS, chapter=11)


@_asked("Patches", points=5)
def patches(chance: Random) -> Drawn:
    """How many tokens an image becomes, and the numbers of the first matrix."""
    side, patch, d = chance.choice([(224, 16, 768), (32, 4, 192), (28, 4, 64)])
    n, channels = (side // patch) ** 2, 1 if side == 28 else 3
    return Drawn(
        f"A ViT cuts images of {side} × {side} pixels with {channels} "
        f"{'channel' if channels == 1 else 'channels'} into patches of "
        f"{patch} × {patch}, d_model = {d}. How many tokens enter the encoder, with the class "
        f"token? How many numbers has the matrix of the patch embedding? What happens to the cost "
        f"of attention when the patches are half as wide?",
        f"{side // patch}² = {n} patches and one class token: {n + 1}. {patch}² · {channels} · {d} "
        f"= {patch * patch * channels * d:,}. Four times as many tokens, about sixteen times as "
        f"many scores.",
        marks=(
            (2, "the tokens, class token included"),
            (1, "the matrix"),
            (2, "tokens times 4, scores times 16"),
        ),
        wrong="Twice as many tokens.",
        reveals="A side is taken for an area: half as wide means a quarter of the area.",
    )


@_asked("Cut into patches", points=6)
def cut_into_patches(chance: Random) -> Drawn:
    """A numbered image, one of its patches flattened, and what view would give."""
    side, patch = chance.choice([(4, 2), (6, 2), (6, 3)])
    image = torch.arange(side * side).view(side, side)
    across = side // patch
    number = chance.randint(2, across * across)
    patches_ = image.view(across, patch, across, patch).permute(0, 2, 1, 3).reshape(-1, patch**2)
    mine, wrong = (made[number - 1].tolist() for made in (patches_, image.reshape(-1, patch**2)))
    picture = Canvas(
        "exam_cut_into_patches", 60 + 46 * side, 50 + 36 * side, "An image of numbered pixels",
        f"A square of {side} by {side} pixels, numbered row by row from 0 to {side * side - 1}.",
        "",
    )  # fmt: skip
    grid = picture.matrix(
        30, 25, [[str(int(x)) for x in line] for line in image], (46, 36), "encoder"
    )
    for k in range(across * across):
        picture.frame(grid.x + k % across * 46 * patch, grid.y + k // across * 36 * patch,
                      46 * patch, 36 * patch, thick=3)  # fmt: skip
    return Drawn(
        f"An image of {side} × {side} pixels is cut into patches of {patch} × {patch}, counted row "
        f"by row from 1. Write down patch {number} as the vector that goes into the linear layer. "
        f"What would `image.view({across**2}, {patch**2})` give in its place? How many tokens "
        f"enter the encoder with a class token, and which property of the image is not "
        f"in them unless positions are added?",
        f"{tuple(mine)}. view gives {tuple(wrong)}: it reads on row by row, and what it cuts are "
        f"strips, not squares. {across**2} patches and the class token: {across**2 + 1}. Without "
        f"positions nothing says where a patch was: shuffled patches give the same answer.",
        marks=((2, "the patch"), (2, "what view gives"), (1, "the tokens"), (1, "the places")),
        wrong=f"{tuple(wrong)}.",
        reveals="Memory is taken for the picture: a square is not stored in one piece.",
        picture=picture,
    )


@_asked("A larger image", points=5)
def an_image_twice_as_wide(chance: Random) -> Drawn:
    """How the cost grows, from the share of the quadratic part."""
    share, times = chance.choice([(0.04, 2), (0.05, 2), (0.1, 2), (0.05, 3)])
    tokens, pairs = times**2, times**4
    total = (1 - share) * tokens + share * pairs
    new = share * pairs / total
    return Drawn(
        f"In a ViT, scores and averages take {share:.0%} of the multiplications; the rest grows "
        f"with the number of tokens. Now each side of the image is {times} times as long, patches "
        f"as before. By which factors do tokens, scores and all multiplications together grow "
        f"(leave the class token aside)? Which share have scores and averages then?",
        f"Tokens {tokens} times, scores {pairs} times. Together {1 - share:.2f} · {tokens} + "
        f"{share:g} · {pairs} = {total:.2f} times; the share is {share * pairs:.2f}/{total:.2f} = "
        f"{new:.0%}.",
        marks=((1, "tokens"), (1, "scores: the fourth power of the side"), (2, "all together"),
               (1, "the share")),
        wrong=f"All together {pairs} times.",
        reveals="Quadratic is said of how a part grows; the rest, which is most, grows less.",
    )  # fmt: skip


@_asked("What moves along", points=7)
def what_moves_along(chance: Random) -> Drawn:
    """A kernel on a row of pixels, moved by one, with a stride of 1 and of 2."""
    left, right = chance.choice([(3, 5), (2, 6), (4, 5), (1, 4), (5, 3), (6, 2)])
    place = chance.choice([2, 3])
    as_it_is = [0] * 9
    as_it_is[place : place + 2] = [left, right]
    moved = [0, *as_it_is[:-1]]
    kernel = torch.tensor([[[-1.0, 1.0]]])

    def found(pixels, stride):
        """What the kernel and a ReLU make of a row."""
        read = torch.tensor(pixels, dtype=torch.float).view(1, 1, -1)
        return F.conv1d(read, kernel, stride=stride).relu().flatten().int().tolist()

    (one, two), (one_moved, two_moved) = ([found(r, s) for s in (1, 2)] for r in (as_it_is, moved))

    def said(numbers):
        return ", ".join(map(str, numbers))

    return Drawn(
        "At each place of a row of pixels a kernel (−1, 1) takes the right pixel minus the left "
        "one; a ReLU follows. Compute the results for both rows, the second of which is the first "
        "moved by one, and the sum of each. Then do the same with a stride of 2: the first place, "
        "and every second one after it. What has the stride taken away? By how many pixels "
        "must a row be moved for two such layers, one behind the other, to give the same results, "
        "moved, if no edge is near?",
        f"Stride 1: {said(one)}, and {said(one_moved)}: moved along, with the sum {sum(one)} in "
        f"both. Stride 2: {said(two)} with the sum {sum(two)}, and {said(two_moved)} with the sum "
        f"{sum(two_moved)}. Places are left out, and which of them the stroke meets depends on "
        f"where it stands: the results no longer move along, and their sum (or mean) changes. Two "
        f"strides of 2: 4 pixels, or a multiple.",
        marks=((2, "stride 1, both rows and sums"), (2, "stride 2, both rows and sums"),
               (2, "what the stride takes away"), (1, "4 pixels")),
        wrong=f"With a stride of 2 the sum is the same for both rows as well, {sum(two)}.",
        reveals="That a thing is the same thing wherever it stands is said of all convolutions; "
        "it holds for a stride of 1, away from the edge.",
        picture=table("what_moves_along", "Two rows of pixels",
                      {"pixels": [str(x) for x in as_it_is], "moved": [str(x) for x in moved]}),
    )  # fmt: skip
