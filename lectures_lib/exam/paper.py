"""From the Markdown of a sheet to a page for the printer, which asks no other host for anything.

Only what the sheets use is understood: headings, paragraphs, lists, code, figures that are HTML
already, and *italics*, **bold**, `code` inside a line.
"""

import html
import re

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
{body}
</body>
</html>
"""
STYLE = """\
:root{color-scheme:light;color:#1b1f24;background:#fff}
body{font:11pt/1.45 Georgia,"DejaVu Serif",serif;max-width:44rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5em;margin:0 0 .3em}
h2{font-size:1.12em;margin:0 0 .2em;break-after:avoid}
section{margin:1.5em 0 0;padding-top:.8em;border-top:1px solid #8a9099}
section.whole{break-inside:avoid}
p{margin:.45em 0}
ul{margin:.3em 0;padding-left:1.3em}
pre{font:9.5pt/1.4 "DejaVu Sans Mono",Consolas,monospace;background:#f3f4f6;\
padding:.6em .8em;overflow-x:auto}
code{font:.9em "DejaVu Sans Mono",Consolas,monospace}
figure,p,li,pre{break-inside:avoid}
h2+p{break-after:avoid}
.scroll{overflow-x:auto;padding-bottom:2px}
@page{size:A4;margin:18mm 17mm}
@media print{body{margin:0;padding:0;max-width:none}pre{overflow:visible;white-space:pre-wrap}\
figure.drawing{margin:.6em 0}}
"""
BLOCK = re.compile(
    r"\s*(?:```python\n(.*?)\n```|(<figure.*?</figure>)|(\S.*?)(?=\n\n|\Z))", re.DOTALL
)


def page(markdown: str, whole: bool = False) -> str:
    """The whole page; each heading "## " begins a section, kept `whole` on one sheet of paper."""
    first, *sections = re.split(r"(?m)^(?=## )", markdown)
    begin = '<section class="whole">' if whole else "<section>"
    body = [_blocks(first), *(f"{begin}\n{_blocks(s)}\n</section>" for s in sections)]
    title = re.search(r"(?m)^# (.*)", first)[1]
    return PAGE.format(title=html.escape(title), style=STYLE, body="\n".join(body))


def _blocks(markdown: str) -> str:
    made = []
    for code, figure, text in BLOCK.findall(markdown.strip() + "\n\n"):
        if code:
            made.append(f"<pre>{html.escape(code)}</pre>")
        elif figure:
            made.append(figure)
        elif text.strip():
            made.append(_block(text.strip()))
    return "\n".join(made)


def _block(text: str) -> str:
    if found := re.match(r"(#+) (.*)", text):
        return f"<h{len(found[1])}>{_inline(found[2])}</h{len(found[1])}>"
    if text.startswith("- "):
        items = text.removeprefix("- ").split("\n- ")
        return "<ul>\n" + "\n".join(f"<li>{_inline(item)}</li>" for item in items) + "\n</ul>"
    return f"<p>{_inline(text)}</p>"


def _inline(text: str) -> str:
    """Marks inside a line; what stands in backquotes is left as it is."""
    parts = text.split("`")
    for i, part in enumerate(parts):
        part = html.escape(part, quote=False)
        if i % 2:
            parts[i] = f"<code>{part}</code>"
            continue
        part = re.sub(r"&lt;(/?su[bp])&gt;", r"<\1>", part)
        part = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", part)
        parts[i] = re.sub(r"\*(.+?)\*", r"<em>\1</em>", part)
    return "".join(parts)
