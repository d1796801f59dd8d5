"""The chapters as one PDF, to read without a network or on paper: `python tools/pdf.py` prints the
built site's pages, joins them, and shows the link to the file on the site.

Each page is printed by the browser, as a reader would. The pages' numbers go on from one to the
next; a link from page to page leads inside the file, and any other to the published site.
"""

import html
import io
import re
import shutil
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urldefrag, urljoin

import lxml.html
import yaml
from playwright.sync_api import Page, sync_playwright
from pypdf import PdfReader, PdfWriter
from pypdf.generic import (
    ArrayObject,
    DictionaryObject,
    FloatObject,
    NameObject,
    NullObject,
    TextStringObject,
)

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tests" / "site"))
from conftest import FLAGS, showing_everything  # noqa: E402
from live_page import EVERY_FIGURE  # noqa: E402
from sitemap import load_site_tool  # noqa: E402

HTML = ROOT / "_build" / "html"
PICTURE = ROOT / "book" / "figures" / "welcome.svg"
NAME = "from-attention-to-bert.pdf"
# Parts of _toc.yml, whole, and of others these pages: what is read from front to back.
PARTS = ("Attention", "The Transformer", "Images and BERT", "Using BERT")
PAGES = ("book/primer", "book/notation", "book/glossary", "book/references")
PLACE = re.compile(r'<p id="as-pdf">.*?</p>', re.DOTALL)  # book/running.md: where the link stands
SCALE = 0.8  # of the size on a screen: text of 9.6 points, and 88 columns of code beside margins
SHEET = """
@page { size: A4; margin: 17mm 18mm 20mm;
  @bottom-left { content: "%(title)s"; font: 8pt sans-serif; color: #666; }
  @bottom-right { content: counter(page%(style)s); font: 8pt sans-serif; color: #666; } }
html { counter-reset: page %(before)d; }
#jb-print-toc, .chapter-frame::after { display: none !important; }
.pdf-ways { position: absolute; font-size: 1px; color: transparent; }
"""
# The browser writes down where a name stands only if something on the same page leads to it.
LEAD_TO = """(names) => {
  const ways = document.createElement("p");
  ways.className = "pdf-ways";
  for (const name of names) {
    const way = document.createElement("a");
    way.href = "#" + name;
    way.textContent = ".";
    ways.append(way);
  }
  document.querySelector("article, body").prepend(ways);
}"""


@dataclass
class Printed:
    """A page of the site on paper."""

    title: str
    address: str  # from the site's root: notebooks/02_self_attention.html
    pdf: PdfReader
    first: int  # the number on its first sheet
    names: dict[str, tuple[int, float]] = field(default_factory=dict)  # sheet and height


def contents() -> list[tuple[str, list[tuple[str, str]]]]:
    """The parts of the book with the titles and addresses of their pages, in the site's order."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    return [
        (part["caption"], pages)
        for part in toc["parts"]
        if (
            pages := [
                (page.get("title", ""), f"{page['file']}.html")
                for page in part["chapters"]
                if part["caption"] in PARTS or page["file"] in PAGES
            ]
        )
    ]


def asked_for(addresses: list[str]) -> dict[str, set[str]]:
    """Of each page the names to which another of these pages leads."""
    asked: dict[str, set[str]] = {address: set() for address in addresses}
    for address in addresses:
        page = lxml.html.fromstring((HTML / address).read_text(encoding="utf-8"))
        for way in page.iterfind(".//article//a[@href]"):
            target, name = urldefrag(urljoin(address, way.get("href")))
            if name and target != address and target in asked:
                asked[target].add(name)
    return asked


def printed(
    page: Page, root: str, title: str, address: str, names: set[str], first: int
) -> Printed:
    """One page of the site on paper.

    Args:
        page: of a browser.  root: where the site is served, with a slash at its end.
        title: it stands at the foot; where it is empty, the page's own does.
        address: from the root.  names: to which others lead.  first: the first sheet's number.
    """
    page.goto(root + address, wait_until="load")
    page.wait_for_function(EVERY_FIGURE)
    title = title or page.title().split(" — ")[0]
    page.evaluate(LEAD_TO, sorted(names))
    return on_paper(page, title, address, first)


def on_paper(page: Page, title: str, address: str, first: int, style: str = "") -> Printed:
    """What the browser shows, printed."""
    foot = title.replace("\\", "").replace('"', "'")
    page.add_style_tag(content=SHEET % {"title": foot, "before": first - 1, "style": style})
    pdf = page.pdf(
        prefer_css_page_size=True, print_background=True, scale=SCALE, outline=True, tagged=True
    )
    made = Printed(title, address, PdfReader(io.BytesIO(pdf)), first)
    for name, place in made.pdf.named_destinations.items():
        sheet = made.pdf.get_destination_page_number(place)
        if sheet is not None:
            made.names[name.lstrip("/")] = (sheet, float(place.top or 0))
    return made


def front(page: Page, root: str, parts: list, made: dict[str, Printed], title: str) -> Printed:
    """The title and the contents, with the numbers of the pages."""
    rows = []
    for caption, pages in parts:
        rows.append(f"<tr><th colspan=2>{html.escape(caption)}</th></tr>")
        rows += [
            f'<tr><td><a href="{root}{address}">{html.escape(made[address].title)}</a></td>'
            f"<td>{made[address].first}</td></tr>"
            for _, address in pages
        ]
    drawn = re.search("<svg.*</svg>", PICTURE.read_text(encoding="utf-8"), re.DOTALL)
    page.set_content(
        FRONT
        % {
            "title": html.escape(title),
            "root": root,
            "picture": drawn[0] if drawn else "",
            "rows": "".join(rows),
        }
    )
    return on_paper(page, title, "", 1, ", lower-roman")


FRONT = """<!doctype html><html lang="en">
<head><meta charset="utf-8"><title>%(title)s</title><style>
body { font: 15px/1.5 system-ui, sans-serif; color: #1f2328; margin: 0; }
h1 { font-size: 46px; line-height: 1.15; margin: 26px 0 14px; }
h2 { font-size: 26px; break-before: page; margin: 0 0 14px; }
svg { width: 78%%; margin-top: 110px; }
.arc { fill: none; stroke: #0b57a4; } .muted { fill: #666; } .most { font-weight: 700; }
p { max-width: 40em; }
.lead { font-size: 20px; max-width: 30em; }
table { border-collapse: collapse; width: 100%%; }
th { text-align: left; padding: 12px 0 2px; border-bottom: 1px solid #999; }
td { padding: 2px 0; border-bottom: 1px dotted #bbb; }
td:last-child { text-align: right; font-variant-numeric: tabular-nums; }
a { color: inherit; text-decoration: none; }
p a { color: #0b57a4; text-decoration: underline; }
</style></head><body>
%(picture)s<h1>%(title)s</h1>
<p class="lead">Build the Transformer and BERT yourself, starting from four lines of attention, and
check every number on the way.</p>
<p>These are the chapters of the course as they stand on its site, <a href="%(root)s">which</a> has
more than paper can: models that run on a sentence of yours, pictures that move, homework with a
check, and a search.</p>
<p><b>How to read it on paper.</b> A box that says <b>Predict</b> wants a guess from you before you
read on; its answer stands at the end of the chapter, under its number, with the solutions of the
exercises and the reasons behind each choice of the quiz. Code that is folded on the site is left
out; the notebooks have it. Of a figure that runs in a browser you see an example.</p>
<p>Code: MIT. Text and figures: CC BY 4.0.</p>
<h2>Contents</h2><table>%(rows)s</table></body></html>"""


def join(front_page: Printed, made: dict[str, Printed], root: str, public: str) -> PdfWriter:
    """One file: all sheets, an outline, the numbers that stand on them, and links that lead inside
    it.

    Args:
        front_page: title and contents.  made: the other pages by their addresses, in order.
        root: where the site was served when it was printed.  public: where it is published.
    """
    writer, begins = PdfWriter(), {}
    for one in (front_page, *made.values()):
        begins[one.address] = len(writer.pages)
        writer.append(
            one.pdf, outline_item=one.title if one.address else None, import_outline=False
        )
    for one in (front_page, *made.values()):
        for i in range(len(one.pdf.pages)):
            for way in writer.pages[begins[one.address] + i].get("/Annots", []):
                lead(way.get_object(), one, made, begins, writer, root, public)
    n_front = len(front_page.pdf.pages)
    writer.set_page_label(0, n_front - 1, style="/r")
    writer.set_page_label(n_front, len(writer.pages) - 1, style="/D")
    writer.add_metadata({"/Title": front_page.title})
    writer.compress_identical_objects()
    return writer


def lead(
    way: DictionaryObject,
    page: Printed,
    made: dict[str, Printed],
    begins: dict[str, int],
    writer: PdfWriter,
    root: str,
    public: str,
) -> None:
    """Let a link of one page lead to where it does on the site."""
    if "/Dest" in way:
        target, name = page.address, str(way["/Dest"]).lstrip("/")
    elif str(uri := way.get("/A", {}).get("/URI", "")).startswith(root):
        target, name = urldefrag(str(uri)[len(root) :])
    else:
        return
    if target not in made and "/Dest" not in way:
        way["/A"][NameObject("/URI")] = TextStringObject(public + str(uri)[len(root) :])
        return
    there = made.get(target, page)
    sheet, top = there.names.get(name, (0, None))
    way.pop("/A", None)
    way[NameObject("/Dest")] = ArrayObject(
        [
            writer.pages[begins[there.address] + sheet].indirect_reference,
            NameObject("/XYZ"),
            NullObject(),
            NullObject() if top is None else FloatObject(top),
            NullObject(),
        ]
    )


def show_link(n_sheets: int, n_bytes: int) -> None:
    """Put the link to the file where the site has a place for it."""
    path = HTML / "book" / "running.html"
    link = (
        f'<p id="as-pdf">Here it is: <a href="../{NAME}">all chapters as one PDF</a> '
        f"({n_sheets} pages, {n_bytes / 1e6:.0f} MB).</p>"
    )
    text, found = PLACE.subn(link, path.read_text(encoding="utf-8"))
    if found != 1:
        sys.exit(f"{path} has {found} places for the link; one is needed.")
    path.write_text(text, encoding="utf-8")


def main() -> None:
    """Print every page, one after the other."""
    site = load_site_tool()
    browser = next(filter(None, map(shutil.which, site.BROWSERS)), None)
    if browser is None:
        sys.exit(f"A PDF needs one of {', '.join(site.BROWSERS)}: `make system` installs one.")
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    parts = contents()
    pages = [page for _, below in parts for page in below]
    names = asked_for([address for _, address in pages])
    made: dict[str, Printed] = {}
    with site.server(0) as running, sync_playwright() as playwright:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        root = f"http://localhost:{running.server_port}/"
        chromium = showing_everything(
            playwright.chromium.launch(executable_path=browser, args=FLAGS)
        )
        page = chromium.new_page(viewport={"width": 840, "height": 1188}, color_scheme="light")
        first = 1
        for title, address in pages:
            made[address] = printed(page, root, title, address, names[address], first)
            first += len(made[address].pdf.pages)
            print(f"{made[address].title}: to page {first - 1}", flush=True)
        begin = front(page, root, parts, made, settings["title"])
        chromium.close()
        running.shutdown()
    public = re.search(
        r'rel="canonical" href="([^"]*/)book/', (HTML / "book/primer.html").read_text()
    )
    writer = join(begin, made, root, public[1] if public else "")
    writer.write(HTML / NAME)
    size = (HTML / NAME).stat().st_size
    show_link(len(writer.pages), size)
    print(f"{HTML / NAME}: {len(writer.pages)} pages, {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
