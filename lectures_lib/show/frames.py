"""A slider that needs no kernel: one picture for each position, recorded when the notebook ran, so
that it also moves on the website.
"""

import base64
import hashlib
import html
import io
import json
from collections.abc import Callable, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from PIL import Image

PAGE = """\
<div id="{id}" class="frames" role="group" aria-label="{title}" style="max-width: 44rem">
  <label style="display: flex; gap: .8em; align-items: center; flex-wrap: wrap">{title}
    <input type="range" min="0" max="{last}" value="{start}" step="1" aria-valuetext="{value}" style="flex: 1; min-width: 10rem">
    <output style="min-width: 4em; font-variant-numeric: tabular-nums">{value}</output>
  </label>
  <img src="{first}" alt="{alt}" width="{width}" height="{height}" style="max-width: 100%; height: auto">
</div>
<script>
(() => {{
  const root = document.getElementById("{id}");
  const [slider, shown, image] = ["input", "output", "img"].map((name) => root.querySelector(name));
  const frames = {frames};
  const values = {values};
  slider.addEventListener("input", () => {{
    image.src = frames[slider.value];
    shown.value = values[slider.value];
    slider.setAttribute("aria-valuetext", values[slider.value]);
  }});
}})();
</script>
"""


class Frames:
    """Pictures over the values of one parameter, with a slider.

    Args:
        draw: draws the picture for one value into the axes it is given.
        values: the parameter's values, at least two; there is one frame for each.
        title: what the slider moves.
        alt: the picture in words, for those who do not see it.
        start: index of the value shown first.
        size: of the picture, in inches.

    Raises:
        ValueError: for fewer than two values, or a start that is none of their indices.
    """

    def __init__(
        self,
        draw: Callable[[Axes, object], None],
        values: Sequence[object],
        title: str,
        alt: str,
        start: int = 0,
        size: tuple[float, float] = (6.4, 3.0),
    ):
        if len(values) < 2 or not 0 <= start < len(values):
            raise ValueError(
                f"a slider needs at least 2 values and a start among them; got {len(values)} "
                f"values, start = {start}"
            )
        self.draw, self.values, self.title, self.alt, self.start, self.size = (
            draw,
            values,
            title,
            alt,
            start,
            size,
        )

    def live(self) -> None:
        """The same picture drawn afresh by the kernel while the slider moves: in a running notebook
        only.
        """
        import ipywidgets

        def show(value: object) -> None:
            self.draw(plt.subplots(figsize=self.size)[1], value)
            plt.show()

        slider = ipywidgets.SelectionSlider(
            options=self.values, value=self.values[self.start], description=self.title
        )
        ipywidgets.interact(show, value=slider)

    def _repr_html_(self) -> str:
        pictures = [self._picture(value) for value in self.values]
        width, height = (round(inches * 96) for inches in self.size)
        return PAGE.format(
            id="frames-" + hashlib.sha256("".join(pictures).encode()).hexdigest()[:10],
            title=html.escape(self.title),
            alt=html.escape(self.alt),
            last=len(self.values) - 1,
            start=self.start,
            value=html.escape(str(self.values[self.start])),
            first=pictures[self.start],
            width=width,
            height=height,
            frames=json.dumps(pictures),
            # no text may end the script
            values=json.dumps([str(value) for value in self.values]).replace("<", "\\u003c"),
        )

    def __repr__(self) -> str:
        return f"{self.title}: {', '.join(map(str, self.values))}"

    def _picture(self, value: object) -> str:
        figure, ax = plt.subplots(figsize=self.size)
        self.draw(ax, value)
        buffer = io.BytesIO()
        # Every frame has the same size in pixels, so that the picture does not jump: no tight
        # bounding box here.
        with plt.rc_context({"savefig.bbox": None}):
            figure.savefig(buffer, format="png", dpi=144)
        plt.close(figure)
        small = io.BytesIO()  # 16 colours do for a diagram, and a page carries many frames
        Image.open(buffer).convert("RGB").quantize(16).save(small, format="png", optimize=True)
        return "data:image/png;base64," + base64.b64encode(small.getvalue()).decode()
