"""What a drawing's SVG says, text by text."""

import xml.etree.ElementTree as ET


def drawn_words(svg: str) -> list[str]:
    """All its texts, in the order in which they were drawn."""
    return ["".join(e.itertext()) for e in ET.fromstring(svg).iter() if e.tag.endswith("}text")]


def in_a_row(words: list[str], wanted: list[str]) -> bool:
    """Whether `wanted` stands in `words` without a gap."""
    return any(words[i : i + len(wanted)] == wanted for i in range(len(words)))
