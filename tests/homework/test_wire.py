"""Frames survive the way there and back; anything else is turned away."""

import contextlib

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lectures_lib.homework.compare.values import difference
from lectures_lib.homework.inside import wire
from lectures_lib.homework.inside.values import Foreign


def parts(frame):
    text, blob = wire.lengths(frame[: wire.LENGTHS.size])
    body = frame[wire.LENGTHS.size :]
    assert len(body) == text + blob
    return body[:text], body[text:]


def test_values_arrive_as_they_were():
    value = [
        torch.randn(2, 3),
        (torch.tensor([True]), -(10**50)),
        {"k": float("nan"), 2: None},
        "ä\ud800",
        0.1,
        torch.zeros(0, 2),
        Foreign("a set"),
    ]
    head, back = wire.unpack(*parts(wire.pack({"id": 1}, value)))
    assert head == {"id": 1}
    assert difference(back[:-1], value[:-1], rtol=0.0, atol=0.0) is None
    assert back[-1] == value[-1]


def test_tensors_that_share_memory_arrive_as_they_were():
    """An object that is called twice is given parts of the same tensor."""
    x = torch.randn(4, 3)
    value = [x, x, x[:2], x.T]
    _, back = wire.unpack(*parts(wire.pack({}, value)))
    assert difference(back, value, rtol=0.0, atol=0.0) is None


def test_dtypes_that_files_cannot_hold_become_a_description():
    _, back = wire.unpack(*parts(wire.pack({}, torch.zeros(2, dtype=torch.complex128))))
    assert back == Foreign("a tensor of torch.complex128")


def test_hostile_sizes_are_refused():
    with pytest.raises(wire.Garbled):
        wire.lengths(wire.LENGTHS.pack(2**32 - 1, 0))
    with pytest.raises(wire.Garbled):
        wire.pack({"text": "x" * wire.MAX_JSON})


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"{}",
        b'{"head": 1, "tree": ["is", null]}',
        b'{"head": {}, "tree": ["tensor", "0"]}',
        b'{"head": {}, "tree": ["is", [1]]}',
        b'{"head": {}, "tree": ["pickle", "gASV"]}',
        b'{"head": {}, "tree": ["dict", [[["list", []], ["is", 1]]]]}',
        b'{"head": {}, "tree": ' + b'["list", [' * 3000 + b"]]" * 3000 + b"}",
        b"[" * 100_000,
    ],
)
def test_hostile_frames_are_refused(text):
    with pytest.raises(wire.Garbled):
        wire.unpack(text, b"")


def test_hostile_tensors_are_refused():
    frame = wire.pack({}, torch.ones(3))
    text, blob = parts(frame)
    for bad in (blob[:-1], blob + b"1", b"\xff" * 40, b"x", blob[8:], blob.replace(b"[3]", b"[9]")):
        with pytest.raises(wire.Garbled):
            wire.unpack(text, bad)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200), st.binary(max_size=200))
def test_hostile_bytes_give_a_value_or_garbled(text, blob):
    with contextlib.suppress(wire.Garbled):
        wire.unpack(text, blob)
