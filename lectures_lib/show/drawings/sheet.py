"""A drawing as SVG: its frame, its style in both schemes, and how a page shows it. Colours are names
of the palette (`palette.py`).
"""

import html
import re
from dataclasses import dataclass, field

from lectures_lib.show import palette
from lectures_lib.show.drawings.grid import Number
from lectures_lib.show.drawings.label import SIZE, SMALLEST

STYLE = """\
svg.drawing{display:block;margin:0;width:100%;height:auto}
svg.drawing text{font-family:var(--pst-font-family-base,system-ui,"Segoe UI",Roboto,"Noto Sans",sans-serif);\
font-variant-numeric:tabular-nums}
svg.drawing .math{font-family:KaTeX_Math,"Latin Modern Math",Cambria,Georgia,"DejaVu Serif",serif;font-style:italic}
svg.drawing .bold{font-weight:650}
"""
# A drawing has its own distance from the card's edges.
CARD = """\
figure.drawing{margin:1.6rem 0 2rem;padding:0}
figure.drawing .scroll{overflow-x:auto;border-radius:9px 9px 0 0}
figure.drawing svg{margin:0 auto}
figure.drawing figcaption{margin:0;padding:.5rem 16px 12px}
"""


@dataclass
class Sheet:
    """A drawing as far as it is done, and what it is called.

    Args:
        name: of the drawing; its title, for those who hear it, is `title`, and all that it shows is
            said in `description`.
        width, height: in pixels.
        caption: what stands below it on the page.
        least: how many pixels the smallest text keeps when the drawing shrinks with the page.
    """

    name: str
    width: Number
    height: Number
    title: str
    description: str
    caption: str
    least: Number = SMALLEST
    parts: list[str] = field(default_factory=list)
    used: dict[str, None] = field(default_factory=dict)
    smallest: Number = SIZE

    def __post_init__(self):
        self._rect(0, 0, self.width, self.height, "paper", "s-paper", thick=0)

    def svg(self) -> str:
        """The drawing as SVG that carries its own style, and needs no id: any number of them fit on
        one page.
        """
        scope = f"svg.drawing.d-{self.name}"
        names = list(self.used)
        body = "\n".join(self.parts)
        classes = self._classes(body)
        wanted = re.findall(r"var\(([\w-]+)\)", classes)
        colours = {k: palette.variables(names, k, wanted) for k in ("light", "dark")}
        light = f"{scope}{{{colours['light']}max-width:{self.width:g}px;min-width:{self.narrowest:.0f}px}}\n"
        dark = _in_the_dark(scope, colours["dark"])
        if "<image" in body:  # its ink becomes light
            dark += _in_the_dark(f"{scope} image", "filter:invert(1)")
        view = f'viewBox="0 0 {self.width:g} {self.height:g}"'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="drawing d-{self.name}" {view} '
            f'role="img">\n'
            f"<title>{html.escape(self.title)}</title>\n<desc>{html.escape(self.description)}</desc>\n"
            f"<style>\n{STYLE}{light}{dark}{classes}</style>\n{body}\n</svg>"
        )

    @property
    def narrowest(self) -> Number:
        """The width at which the smallest text still has `least` pixels; on a narrower page the
        figure scrolls.
        """
        return self.width * self.least / self.smallest

    def _repr_html_(self) -> str:
        """What a notebook shows: a card with the drawing, which scrolls inside itself on a narrow
        page, and its caption, if it has one.
        """
        label = html.escape(self.title, quote=True)
        below = f"<figcaption>{html.escape(self.caption)}</figcaption>\n" if self.caption else ""
        return (
            f'<figure class="picture drawing figure-card">\n'
            f"<style>\n{palette.card('figure.drawing', ())}{CARD}</style>\n"
            f'<div class="scroll" role="group" tabindex="0" '
            f'aria-label="{label}">\n{self.svg()}\n</div>\n{below}</figure>'
        )

    def __repr__(self) -> str:
        return f"Drawing {self.name}: {self.title}"

    def _classes(self, body: str) -> str:
        rules = {
            "t": "fill:var(--c-{})",
            "l": "fill:var(--c-{})",
            "f": "fill:var(--c-{}-soft)",
            "s": "stroke:var(--c-{})",
            "e": "stroke:var(--c-{}-edge)",
            "d": "fill:var(--c-{}-deep)",
        }
        found = {
            (kind, name)
            for text in re.findall('class="([^"]*)"', body)
            for kind, name in re.findall(r"\b([tlfsed])-(\w+)", text)
        }
        return "".join(
            f"svg.drawing .{kind}-{name}{{{rules[kind].format(name)}}}\n"
            for kind, name in sorted(found)
        )

    def _edge(self, colour: str, dashed: bool = False) -> str:
        """The class of what is around a soft ground: pale, but for dashes, which say something.
        Around paper it is neutral.
        """
        name = self._use("neutral" if colour == "paper" else colour)
        return f"s-{name}" if dashed else f"e-{name}"

    def _use(self, colour: str) -> str:
        palette.colour(colour)  # raises for a name that is not in it
        self.used[colour] = None
        return colour

    def _rect(
        self,
        x: Number,
        y: Number,
        width: Number,
        height: Number,
        fill: str,
        stroke: str,
        radius: Number = 0,
        thick: Number = 1.5,
        dashed: bool = False,
        deep: bool = False,
    ) -> None:
        """A rectangle with a soft ground or a deep one; stroke: the class of its outline."""
        kind = f'class="{"d" if deep else "f"}-{self._use(fill)} {stroke}" stroke-width="{thick:g}"'
        corner = f' rx="{radius:g}"' if radius else ""
        dash = ' stroke-dasharray="6 4"' if dashed else ""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"{corner} '
            f"{kind}{dash}/>"
        )

    def _path(self, path: str, colour: str, thick: Number, dashed: bool = False) -> None:
        dash = ' stroke-dasharray="6 5"' if dashed else ""
        self.parts.append(
            f'<path d="{path}" class="s-{self._use(colour)}" fill="none" '
            f'stroke-width="{thick:g}"{dash}/>'
        )


def _in_the_dark(part: str, rules: str) -> str:
    """Rules for one part of a drawing where the page is dark; printed, it is light."""
    return f"@media screen{{{','.join(f'{theme} {part}' for theme in palette.DARK)}{{{rules}}}}}\n"
