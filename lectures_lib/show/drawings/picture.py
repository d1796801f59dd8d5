"""Greys as a picture that stands on any ground: ink that covers it more or less."""

import base64
import struct
import zlib
from collections.abc import Sequence

from lectures_lib.show import palette
from lectures_lib.show.drawings.grid import Number


def data_address(greys: Sequence[Sequence[Number]]) -> str:
    """Numbers from 0, nothing, to 1, ink, as a PNG that is its own address, `data:image/png;…`."""
    ink = bytes.fromhex(palette.colour("ink").removeprefix("#"))
    grey = round(sum(ink) / len(ink))
    # a row: its filter, none, and of each pixel the grey and how far it covers the ground
    rows = b"".join(b"\0" + b"".join(bytes((grey, round(255 * v))) for v in row) for row in greys)
    size = struct.pack(">IIBBBBB", len(greys[0]), len(greys), 8, 4, 0, 0, 0)
    # not compressed: another version of zlib would make other bytes of it
    parts = _part(b"IHDR", size) + _part(b"IDAT", zlib.compress(rows, 0)) + _part(b"IEND", b"")
    png = b"\x89PNG\r\n\x1a\n" + parts
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"


def _part(kind: bytes, content: bytes) -> bytes:
    """One part of a PNG: how long it is, what it is, its content and a checksum."""
    check = struct.pack(">I", zlib.crc32(kind + content))
    return struct.pack(">I", len(content)) + kind + content + check
