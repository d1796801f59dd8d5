"""The Vision Transformer (chapter 11)."""

from random import Random

from lectures_lib.exam.question import Drawn, Question, asked_in

QUESTIONS: list[Question] = []
_asked = asked_in(QUESTIONS, chapter=11)


@_asked("Patches", points=5)
def patches(chance: Random) -> Drawn:
    """How many tokens an image becomes, and the numbers of the first matrix."""
    side, patch, d = chance.choice([(224, 16, 768), (32, 4, 192), (28, 7, 64)])
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
