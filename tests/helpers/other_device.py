"""A device that is none: tensors on it compute on the CPU, but will not be mixed with tensors that
are there.

It finds inputs that stay behind on the CPU when a model is elsewhere, on machines that have no
elsewhere. The device calls itself "meta"; its tensors wrap ordinary ones.

    with other_device() as device:
        model.to(device)
        some_function(model)  # RuntimeError where it mixes the two
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map_only

DEVICE = torch.device("meta")


class Elsewhere(torch.Tensor):
    """A tensor on the other device."""

    @staticmethod
    def __new__(cls, here):
        made = torch.Tensor._make_wrapper_subclass(
            cls,
            here.shape,
            strides=here.stride(),
            storage_offset=here.storage_offset(),
            dtype=here.dtype,
            device=DEVICE,
        )
        made.here = here
        return made

    def __repr__(self):
        return f"Elsewhere({self.here})"

    # A list that picks rows would be sent to "meta", where it is lost.
    def __getitem__(self, index):
        return super().__getitem__(torch.tensor(index) if isinstance(index, list) else index)

    def __setitem__(self, index, value):
        super().__setitem__(torch.tensor(index) if isinstance(index, list) else index, value)

    # A GPU's tensor fetches its numbers; on "meta" there are none.
    def tolist(self):
        return self.cpu().tolist()

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        return compute(function, args, kwargs or {})


class Border(TorchDispatchMode):
    """Sees every operation, also those that make or move tensors."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        return compute(function, args, kwargs or {})


AWAITED = {"_local_scalar_dense", "nonzero", "masked_select", "equal", "is_nonzero", "unique2"}
LISTENING: list[list] = []


def note_wait(seen, function, args, kwargs):
    there = any(isinstance(x, Elsewhere) for x in tensors_in((args, kwargs)))
    name = function.overloadpacket.__name__.lstrip("_")
    back = name == "to_copy" and kwargs.get("device") not in (None, DEVICE)
    # a mask as an index: how much it picks is not known before it is read
    picks = name in ("index", "index_put_") and any(
        x.dtype == torch.bool for x in tensors_in(args[1])
    )
    if there and (back or picks or name in {awaited.lstrip("_") for awaited in AWAITED}):
        seen.append(str(function))


def compute(function, args, kwargs):
    for seen in LISTENING:
        note_wait(seen, function, args, kwargs)
    tensors = tensors_in((args, kwargs))
    there = [x for x in tensors if isinstance(x, Elsewhere)]
    moves = function in (torch.ops.aten._to_copy.default, torch.ops.aten.copy_.default)
    if function in (torch.ops.aten.index.Tensor, torch.ops.aten.index_put_.default):
        tensors = tensors_in((args[0], args[2:]))  # a GPU takes indices from the CPU
    if there and not moves and any(not isinstance(x, Elsewhere) and x.ndim for x in tensors):
        raise RuntimeError(
            f"expected all tensors to be on the same device, but {function} got some on {DEVICE} "
            f"and some on cpu"
        )
    to = kwargs.get("device")
    result_there = (
        to == DEVICE
        if to is not None
        else isinstance(tensors[0], Elsewhere)
        if moves
        else bool(there)
    )
    args, kwargs = tree_map_only(Elsewhere, lambda x: x.here, (args, kwargs))
    result = function(*args, **(kwargs if to is None else kwargs | {"device": "cpu"}))
    return tree_map_only(torch.Tensor, lambda x: Elsewhere(x), result) if result_there else result


def tensors_in(arguments):
    return [x for x in tree_flatten(arguments)[0] if isinstance(x, torch.Tensor)]


@contextmanager
def other_device() -> Iterator[torch.device]:
    """The device, for as long as the `with` lasts."""
    with Border():
        yield DEVICE


@contextmanager
def waits() -> Iterator[list[str]]:
    """Notes every operation for which the CPU would have to wait for the device: a number or a
    truth value read, a shape that depends on numbers, a copy back.
    """
    seen: list[str] = []
    LISTENING.append(seen)
    try:
        yield seen
    finally:
        LISTENING.remove(seen)
