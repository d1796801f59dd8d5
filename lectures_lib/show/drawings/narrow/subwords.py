"""Byte pairs (chapter 7), for a narrow page."""

from lectures_lib.show.drawings import subwords
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.narrow.sheet import beside
from lectures_lib.show.drawings.subwords import Tree, merges, name, tokenized


def merge_tree() -> Canvas:
    """The two words below each other, each with the merges."""
    drawing = beside(subwords.merge_tree(), 704, {"At the left": "At the left of each word"})
    for y, word in zip((24, 372), subwords.NEW_WORDS, strict=True):
        tree = Tree(drawing, 106, y, word, merges(), 28.5, 34, 14)
        tree.draw()
        tree.labels(24, 14)
        for number, name_of_row in ((0, "letters"), (len(tree.pairs) + 1, "pieces")):
            drawing.text(16, tree.row(number), name_of_row, bold=True, anchor="start", size=14)
    drawing.line([(24, 352), (352, 352)], "neutral", 1)
    return drawing


def merge_order() -> Canvas:
    """One tree below the other."""
    drawing = beside(subwords.merge_order(), 756)
    pairs = merges()
    orders = {"as learned": pairs, "sorted": sorted(pairs)}
    for y, (order_name, order) in zip((24, 398), orders.items(), strict=True):
        drawing.text(16, y, order_name, bold=True, anchor="start", size=16)
        tree = Tree(drawing, 122, y + 20, subwords.KNOWN_WORD, order, 29.5, 34, 14)
        tree.draw()
        tree.labels(24, 14)
    drawing.line([(24, 376), (352, 376)], "neutral", 1)
    return drawing


def bytes_to_tokens() -> Canvas:
    """A row for each byte, a column for each step."""
    said = {"Row 1": "Column 1", "Row 2": "Column 2", "Row 3": "Column 3", "Row 4": "Column 4"}
    drawing = beside(subwords.bytes_to_tokens(), 446, said | {"from below": "from the right"})
    all_bytes, characters, tokens = tokenized()
    xs, wide, high, gap = (14, 90, 166, 242), 64, 30, 12
    tops = [64 + i * high + byte.word * gap for i, byte in enumerate(all_bytes)]
    heads = (["words"], ["bytes"], ["made", "visible"], ["tokens"], ["ids"])
    for x, head in zip((*xs, 314), heads, strict=True):
        drawing.lines(x + (wide if x < 300 else 46) / 2, 34, head, 17, bold=True, size=14)
    for top, byte in zip(tops, all_bytes, strict=True):
        drawing.matrix(xs[1], top, [[str(byte.number)]], (wide, high), size=14)
        drawing.matrix(xs[2], top, [[byte.shown]], (wide, high), size=16)
    for spans, x in ((characters, xs[0]), (tokens, xs[3])):
        for span in spans:
            top, tall = tops[span.start], (span.end - span.start) * high
            colour = "residual" if spans is tokens else "paper"
            size = 12 if span.text == " " else 16
            box = (x, top, wide, tall, name(span.text), colour)
            drawing.box(*box, size=size, radius=0)
            if spans is tokens:
                drawing.text(337, top + tall / 2, str(span.id), size=15, bold=True)
    words = subwords.WORD.findall(subwords.TEXT)
    framed = [i for i, byte in enumerate(all_bytes) if words[byte.word] == subwords.FOLLOWED]
    for x in xs:
        drawing.frame(x, tops[framed[0]], wide, len(framed) * high)
    middle = tops[framed[0]] + len(framed) * high / 2
    for x in xs[:3]:
        drawing.arrow([(x + wide, middle), (x + wide + 12, middle)], "ink")
    return drawing
