"""A figure of one panel that is a little too wide for a telephone gets a second layout, too: the
same panel, narrower, with letters of the same size. Its curves and bars are pressed together
sideways; a word keeps its shape and goes where its point, its bar or its tick has gone.

Only what stays readable is drawn so: no word may then lie on another or on a point, or leave the
figure. The squares of a heat map become rectangles; a panel with any other picture in it keeps its
shape. The figure is taken as matplotlib has written it (`stacked_plots`).
"""

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

from matplotlib.transforms import Affine2D, Bbox
from stacked_plots import NUMBER, PAD, affine, boxes, pieces_of, words

from lectures_lib.show import plots

LEAST = 0.6  # of a panel's width: narrower it would be another picture
TOUCH = 1  # points that two words may share, by our measure of their letters
JOINT = re.compile(rf"stroke: #ffffff; stroke-width: {plots.JOINT:g}\b", re.I)  # between squares
SVG, LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
ET.register_namespace("", SVG[1:-1])
ET.register_namespace("xlink", LINK[1:-5])


def squeezed(svg: str, least_width: Callable[[str], int], room: int) -> str | None:
    """The figure, so narrow that every word can be read in `room` pixels; None where it has several
    panels or a picture, or would become unreadable.
    """
    pieces = pieces_of(svg)
    if [one.kind for one in pieces] != ["axes"] or ("<image" in svg and not JOINT.search(svg)):
        return None
    root, frame = ET.fromstring(svg), pieces[0].frame
    _, _, width, height = map(float, root.get("viewBox").split())
    less = width * (1 - room / least_width(svg)) + 0.5
    if frame.width - less < LEAST * frame.width:
        return None
    before = list(written(root, Affine2D())), points(root)
    if any(x < frame.x0 - 1 for x, _ in before[1]):  # shapes that know their place by themselves
        return None
    Press(frame, less).move(root)
    after = list(written(root, Affine2D())), points(root)
    if any(one.box.x1 > width - less - PAD / 2 for one in after[0]) or covered(*before, *after):
        return None
    root.set("width", f"{width - less:g}pt")
    root.set("viewBox", f"0 0 {width - less:g} {height:g}")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode")


class Press:
    """Moves the parts of a figure whose panel `frame` becomes narrower by `less` points."""

    def __init__(self, frame: Bbox, less: float):
        self.frame, self.less = frame, less

    def x(self, x: float) -> float:
        """Where a point of the figure goes: within the panel nearer to its left side, on the right
        of it by what it has lost.
        """
        inside = min(max(x - self.frame.x0, 0), self.frame.width)
        return x - inside * self.less / self.frame.width

    def move(self, element: ET.Element) -> None:
        """Move an element and what is in it."""
        tag, name = element.tag.removeprefix(SVG), element.get("id", "")
        if name.startswith("legend_"):
            self.shift(element, self.legend(Bbox.union(list(boxes(element, Affine2D())))))
        elif tag == "text" or (tag == "g" and "transform" in element.attrib):
            self.shift(element, self.word(element))
        elif tag == "path":
            element.set("d", self.path(element.get("d")))
        elif tag == "image":
            share = 1 - self.less / self.frame.width
            pressed = f"matrix({share:g} 0 0 1 {self.frame.x0 * (1 - share):g} 0)"
            element.set("transform", f"{pressed} {element.get('transform', '')}".strip())
        elif tag == "rect":
            left = float(element.get("x"))
            right = left + float(element.get("width"))
            element.set("x", f"{self.x(left):g}")
            element.set("width", f"{self.x(right) - self.x(left):g}")
        elif tag == "use":
            element.set("x", f"{self.x(float(element.get('x', 0))):g}")
        elif tag != "defs" or element.find(f"{SVG}clipPath") is not None:  # not a mark's shape
            for child in element:
                self.move(child)

    def path(self, path: str) -> str:
        """A path's points, each at its new place."""
        at = iter(range(len(NUMBER.findall(path))))
        return NUMBER.sub(
            lambda found: found[0] if next(at) % 2 else f"{self.x(float(found[0])):g}", path
        )

    def word(self, element: ET.Element) -> float:
        """By how much a word moves: it keeps to the point that it was set at, by its beginning, its
        middle or its end.
        """
        texts = list(boxes(element, Affine2D()))
        if not texts:
            return 0.0
        box = Bbox.union(texts)
        anchor = re.search(r"text-anchor: (\w+)", element.get("style", ""))
        kept = {"start": box.x0, "end": box.x1}.get(anchor and anchor[1], (box.x0 + box.x1) / 2)
        return self.x(kept) - kept

    def legend(self, box: Bbox) -> float:
        """By how much a legend moves: what was free on its left and on its right shrinks alike."""
        free = self.frame.width - box.width
        return -self.less * min(max((box.x0 - self.frame.x0) / free, 0), 1) if free > 0 else 0.0

    @staticmethod
    def shift(element: ET.Element, by: float) -> None:
        """Move an element as a whole."""
        if by:
            element.set("transform", f"translate({by:g} 0) {element.get('transform', '')}".strip())


@dataclass(frozen=True)
class Word:
    """A word of a figure: the box around it, its slant in degrees, and its box as one sees it with
    the head held as slanted.
    """

    box: Bbox
    slant: float
    own: Bbox


def written(element: ET.Element, place: Affine2D) -> Iterator[Word]:
    """The words of a figure."""
    place = affine(element.get("transform", "")) + place
    if element.tag == f"{SVG}text":
        (a, _, _), (b, _, _), _ = place.get_matrix()
        slant = round(math.degrees(math.atan2(b, a)))
        straight = place + Affine2D().rotate_deg(-slant)
        for box, own in zip(words(element, place), words(element, straight), strict=True):
            yield Word(box, slant, own)
    else:
        for child in element:
            yield from written(child, place)


def points(root: ET.Element) -> list[tuple[float, float]]:
    """Where a panel's points are: marks that end with the panel, as ticks do not."""
    groups = (group for group in root.iter(f"{SVG}g") if "clip-path" in group.attrib)
    uses = (use for group in groups for use in group.iter(f"{SVG}use"))
    return [(float(use.get("x", 0)), float(use.get("y", 0))) for use in uses]


def covered(words_before: list[Word], points_before: list, words: list[Word], points: list) -> bool:
    """Whether a word lies on another of its slant, or on a point, on which it did not lie before."""
    pairs = combinations(range(len(words)), 2)
    return any(
        lie_on(words[i], words[j]) and not lie_on(words_before[i], words_before[j])
        for i, j in pairs
    ) or any(
        word.box.contains(*point) and not word_before.box.contains(*point_before)
        for word_before, word in zip(words_before, words, strict=True)
        for point_before, point in zip(points_before, points, strict=True)
    )


def lie_on(one: Word, other: Word) -> bool:
    """Whether two words share more than a hair."""
    shared = Bbox.intersection(one.own, other.own) if one.slant == other.slant else None
    return shared is not None and min(shared.width, shared.height) > TOUCH
