"""A heat map in the dark theme: there the squares that say little are as dark as the page, and those
that say much shine. On a white page it is the other way round, and a map that is only dimmed draws
the eye to what is not there.

Every colour of the map's scale gets another one of the same hue, and of the opposite lightness; the
numbers in the squares change theirs, too. They stay as legible as they were: a square that bears a
white number on paper bears a black one here.

A map of signed values gets a key below it: which hue is above zero, nothing else on the page says.
"""

import base64
import io
import re
from functools import cache

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import to_rgb
from PIL import Image

from lectures_lib.show.plots import DIVERGING, SEQUENTIAL

IMAGE = re.compile(r"(data:image/png;base64,)([^\"]+)")
WORD = re.compile(r"<text\b[^>]*>")
WHITE = re.compile(r"fill: (?:#ffffff|white)\b", re.IGNORECASE)
STYLE = re.compile(r'style="')
STOPS = 9  # colours of a scale that its key is painted with
MIDDLE = 0.179  # the luminance on which black and white are read equally well (4.6 : 1)
DARKEST, BRIGHTEST = 0.014, 0.75  # luminances, of what says least and most in the dark
BETWEEN = 6  # a colour bar has colours between those of the scale: how far off, in all
HUES = {SEQUENTIAL: ("#3D9BE0", "#3D9BE0"), DIVERGING: ("#8A6FDB", "#D98A1E")}  # low, high
GREY = "#7C8894"  # around zero
LIGHT_NUMBER, DARK_NUMBER = "#ffffff", "#000000"


def in_the_dark(svg: str) -> tuple[str, bool]:
    """A figure whose heat maps are for the dark, and whether it has any. A picture stays as it is:
    it has colours that are none of a scale's.
    """
    found = False

    def change(image: re.Match) -> str:
        nonlocal found
        pixels = _pixels(image)
        scale = _scale(pixels)
        if scale is None:
            return image[0]
        found = True
        return image[1] + _encoded(_recoloured(pixels, scale))

    svg = IMAGE.sub(change, svg)
    return (WORD.sub(_number, svg), True) if found else (svg, False)


def scales(svg: str) -> set[str]:
    """The names of the scales that a figure's heat maps are coloured with."""
    return {scale for image in IMAGE.finditer(svg) if (scale := _scale(_pixels(image)))}


def key(svg: str) -> str:
    """Which colour of a figure's heat maps is which sign, as HTML; nothing if they have one hue."""
    if DIVERGING not in scales(svg):
        return ""
    painted = ";".join(
        f"--{theme}:linear-gradient(90deg,{','.join(map(_hex, colours[at]))})"
        for at in [np.linspace(0, 255, STOPS).round().astype(int)]
        for theme, colours in (("by-day", scale_of(DIVERGING)), ("by-night", dark_scale(DIVERGING)))
    )
    return (
        f'<span class="plot-key" aria-hidden="true" style="{painted}"><span>below 0</span><i aria-hidden="true"></i>'
        f'<span>0</span><i aria-hidden="true"></i><span>above 0</span></span>'
    )


def _hex(colour: np.ndarray) -> str:
    return "#" + bytes(int(part) for part in colour).hex()


def _pixels(image: re.Match) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(image[2]))).convert("RGBA"))


def _scale(pixels: np.ndarray) -> str | None:
    return next((name for name in HUES if _is_of(pixels, name)), None)


def _number(word: re.Match) -> str:
    """A number in a square: white ones are written in black, black ones (which have no colour of
    their own, other than all other words) in white.
    """
    if WHITE.search(word[0]):
        return WHITE.sub(f"fill: {DARK_NUMBER}", word[0])
    if "fill:" in word[0]:
        return word[0]
    return STYLE.sub(f'style="fill: {LIGHT_NUMBER}; ', word[0], count=1)


def _is_of(pixels: np.ndarray, scale: str) -> bool:
    """Whether all that is not transparent has a colour of this scale."""
    colours = np.unique(pixels[pixels[..., 3] > 0][:, :3], axis=0).astype(int)
    known = scale_of(scale)
    return len(colours) > 0 and all(
        np.abs(known - colour).sum(axis=1).min() <= BETWEEN for colour in colours
    )


def _recoloured(pixels: np.ndarray, scale: str) -> np.ndarray:
    """The pixels (h, w, 4) with the colours of the dark."""
    known, other = scale_of(scale), dark_scale(scale)
    flat = pixels.reshape(-1, 4).copy()
    colours, where = np.unique(flat[:, :3], axis=0, return_inverse=True)
    nearest = [int(np.abs(known - colour.astype(int)).sum(axis=1).argmin()) for colour in colours]
    flat[:, :3] = other[nearest][where.reshape(-1)]
    return flat.reshape(pixels.shape)


def _encoded(pixels: np.ndarray) -> str:
    with io.BytesIO() as file:
        Image.fromarray(pixels).save(file, "png")
        return base64.b64encode(file.getvalue()).decode()


@cache
def scale_of(name: str) -> np.ndarray:
    """A scale's colours (256, 3), from 0 to 255."""
    return colormaps[name](np.arange(256), bytes=True)[:, :3].astype(int)


@cache
def dark_scale(name: str) -> np.ndarray:
    """The colours that stand for them in the dark."""
    light = luminance(scale_of(name) / 255)
    above, below = light > MIDDLE, light <= MIDDLE
    wanted = np.empty(256)
    share = (light - MIDDLE) / (light.max() - MIDDLE)
    wanted[above] = MIDDLE * (DARKEST / MIDDLE) ** share[above]
    share = (MIDDLE - light) / (MIDDLE - light.min())
    wanted[below] = MIDDLE + (BRIGHTEST - MIDDLE) * share[below]
    low, high = (linear(np.array(to_rgb(hue))) for hue in HUES[name])
    grey = linear(np.array(to_rgb(GREY)))
    vivid = (
        np.ones(256) if name == SEQUENTIAL else np.minimum(1, np.abs(np.arange(256) - 127.5) / 64)
    )
    hues = [
        (1 - share) * grey + share * (low if i < 128 else high) for i, share in enumerate(vivid)
    ]
    made = [_with(hue, lum) for hue, lum in zip(hues, wanted, strict=True)]
    return (255 * encoded(np.array(made))).round().astype(np.uint8)


def _with(colour: np.ndarray, lum: float) -> np.ndarray:
    """A linear colour darkened with black, or lightened with white, to a luminance."""
    own = float(colour @ WEIGHTS)
    return colour * lum / own if lum <= own else colour + (1 - colour) * (lum - own) / (1 - own)


WEIGHTS = np.array([0.2126, 0.7152, 0.0722])  # of red, green and blue in a luminance (WCAG 2)


def linear(colour: np.ndarray) -> np.ndarray:
    """sRGB, from 0 to 1, as amounts of light."""
    return np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)


def encoded(light: np.ndarray) -> np.ndarray:
    """And back."""
    return np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)


def luminance(colour: np.ndarray) -> np.ndarray:
    """The relative luminance (WCAG 2) of colours (..., 3) from 0 to 1."""
    return linear(colour) @ WEIGHTS
