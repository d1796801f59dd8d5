"""Every page of the built site as pictures, to be looked at before a release: `python
tools/contact_sheets.py --looks phone+dark double --pages 11 welcome` writes them to _build/sheets.

A page is cut into strips that stand beside one another; a long one has several sheets. A look is
made of the words of LOOKS, joined by "+"; without `--looks` each word is one, without `--pages` all
pages are drawn. `--open` unfolds what is folded.
"""

import argparse
import io
import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from PIL import Image
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tests" / "site"))
from conftest import FLAGS, showing_everything  # noqa: E402
from sitemap import load_site_tool, pages  # noqa: E402

SHEETS = ROOT / "_build" / "sheets"
LOOKS = {
    "wide": {"viewport": {"width": 1360, "height": 900}},
    "phone": {"viewport": {"width": 390, "height": 844}},
    "dark": {"color_scheme": "dark"},
    "double": {"device_scale_factor": 2},
    "print": {"viewport": {"width": 794, "height": 1123}},  # A4
    "plain": {"java_script_enabled": False},
}
STRIP = 4000  # pixels of a page that a strip is high
SHEET = 3200  # pixels that a sheet is wide, or one strip
GAP = 12
HEIGHT = "document.body.getBoundingClientRect().height | 0"
# What has not been near the window is drawn as well; and nothing is on its way, for a picture is
# taken from a window that has just been resized, to which the contents at the side would slide in.
STILL = """() => {
  const drawn = document.createElement("style");
  drawn.textContent = "* { content-visibility: visible !important; transition: none !important; }";
  document.head.append(drawn);
}"""
READY = """async (open) => {
  if (open) for (const fold of document.querySelectorAll("details")) fold.open = true;
  for (const image of document.images) image.loading = "eager";
  const figures = async () => {  // the live ones: until then the example for paper stands there
    while (document.querySelector(".live[data-live]:not(.lv-on)"))
      await new Promise((later) => setTimeout(later, 50));
  };
  await Promise.race([new Promise((enough) => setTimeout(enough, 5000)), Promise.all([figures(),
    ...[...document.images].map((image) => image.decode().catch(() => {}))])]);
}"""


def look(name: str) -> dict:
    """The options of a browser's page for a look, for example "phone+dark"."""
    options = dict(LOOKS["wide"])
    for word in name.split("+"):
        options |= LOOKS[word]
    return options


def strips(page: Page) -> Iterator[Image.Image]:
    """A page from top to bottom; a browser cannot draw a long one at once."""
    width = page.viewport_size["width"]
    top = 0
    while (left := page.evaluate(HEIGHT) - top) > 0:
        clip = {"x": 0, "y": top, "width": width, "height": min(STRIP, left)}
        yield Image.open(io.BytesIO(page.screenshot(full_page=True, clip=clip)))
        top += STRIP


def sheets(strips: list[Image.Image]) -> Iterator[Image.Image]:
    """Strips beside one another, as many as a sheet has room for."""
    width = strips[0].width + GAP
    across = max(1, SHEET // width)
    for first in range(0, len(strips), across):
        row = strips[first : first + across]
        size = (width * len(row) - GAP, max(strip.height for strip in row))
        sheet = Image.new("RGB", size, "grey")
        for i, strip in enumerate(row):
            sheet.paste(strip, (i * width, 0))
        yield sheet


def draw(page: Page, url: str, name: str, unfolded: bool, folder: Path) -> list[Path]:
    """One page in one look."""
    if "print" in name.split("+"):
        page.emulate_media(media="print")
    page.goto(url, wait_until="load")
    page.evaluate(STILL)
    if "plain" not in name.split("+"):
        page.evaluate(READY, unfolded)
        if "print" in name.split("+"):
            page.evaluate("dispatchEvent(new Event('beforeprint'))")  # paper.js
    made = []
    stem = urlsplit(url).path.strip("/").removesuffix(".html").replace("/", "-")
    for earlier in (folder / name).glob(f"{stem}_[0-9]*.png"):
        earlier.unlink()
    for i, sheet in enumerate(sheets(list(strips(page)))):
        made.append(folder / name / f"{stem}_{i + 1}.png")
        made[-1].parent.mkdir(parents=True, exist_ok=True)
        sheet.save(made[-1])
    return made


def chosen(words: list[str]) -> list[str]:
    """The pages whose name begins with one of these words, or all."""
    return [path for path in pages() if not words or Path(path).stem.startswith(tuple(words))]


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--looks", nargs="+", default=list(LOOKS), help=", ".join(LOOKS))
    parser.add_argument("--pages", nargs="+", default=[], help="how their names begin")
    parser.add_argument("--open", action="store_true", help="unfold what is folded")
    told = parser.parse_args()
    site = load_site_tool()
    server = site.server(0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    path = next(filter(None, map(shutil.which, site.BROWSERS)), None)
    if path is None:
        sys.exit("no Chromium on this machine: `make system` installs one or says how")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=FLAGS)
        browser = showing_everything(chromium)
        for name in told.looks:
            page = browser.new_page(**look(name))
            for address in chosen(told.pages):
                url = f"http://localhost:{server.server_port}/{address}"
                for made in draw(page, url, name, told.open, SHEETS):
                    print(made.relative_to(ROOT), flush=True)
            page.close()
        chromium.close()


if __name__ == "__main__":
    main()
