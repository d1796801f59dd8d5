"""A device that is none: tensors on it compute on the CPU, but will not be mixed with tensors that
are there.

It finds inputs that stay behind on the CPU when a model is elsewhere, on machines that have no
elsewhere. The device calls itself "meta"; its tensors wrap ordinary ones.

    with other_device() as device:
        model.to(device)
        some_function(model)  # RuntimeError where it mixes the two

    with other_device() as device, trained_there():
        fit(model, …)  # accelerate finds this device, as it would find a GPU
"""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

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

    # Weights from a file are copied to a GPU, and to "meta" they are not.
    is_meta = False

    # Which tensors share memory is asked when a checkpoint is written.
    def data_ptr(self):
        return self.here.data_ptr()

    def untyped_storage(self):
        return self.here.untyped_storage()

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        return compute(function, args, kwargs or {})


class Generator(torch.Generator):
    """Random numbers, here or there: a GPU's are drawn by a generator of its own."""

    def __new__(cls, device="cpu"):
        there = torch.device(device) == DEVICE
        made = super().__new__(cls, "cpu" if there else device)
        if there:
            THERE.append(made)
        return made


THERE: list[torch.Generator] = []


def is_there(generator):
    """An operation gets another Python object for the same generator."""
    return any(generator._cdata == known._cdata for known in THERE)


def tensor(numbers, *, device=None, make=torch.tensor, **options):
    """Numbers as a tensor, here or there; torch's own function would lose them on "meta"."""
    made = make(numbers, **options)
    return made if device is None else made.to(device)


class Border(TorchDispatchMode):
    """Sees every operation, also those that make or move tensors."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        return compute(function, args, kwargs or {})


AWAITED = {"_local_scalar_dense", "nonzero", "masked_select", "equal", "is_nonzero", "unique2"}
LISTENING: list[list] = []
PRODUCTS = {"addmm", "mm", "bmm", "baddbmm", "convolution"}  # where a model's work is
ON_THE_CPU: list[list] = []


def note_product(seen, function, tensors):
    name = function.overloadpacket.__name__.lstrip("_")
    if name in PRODUCTS and not any(isinstance(x, Elsewhere) for x in tensors):
        seen.append(f"{function} of {[tuple(x.shape) for x in tensors]}")


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
    for seen in ON_THE_CPU:
        note_product(seen, function, tensors)
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
    generator = kwargs.get("generator")
    if generator is not None and is_there(generator) != result_there:
        raise RuntimeError(
            f"{function} draws on {DEVICE if result_there else 'cpu'}, and its generator is that "
            f"of the other device"
        )
    args, kwargs = tree_map_only(Elsewhere, lambda x: x.here, (args, kwargs))
    result = function(*args, **(kwargs if to is None else kwargs | {"device": "cpu"}))
    return tree_map_only(torch.Tensor, lambda x: Elsewhere(x), result) if result_there else result


def tensors_in(arguments):
    return [x for x in tree_flatten(arguments)[0] if isinstance(x, torch.Tensor)]


@contextmanager
def other_device() -> Iterator[torch.device]:
    """The device, for as long as the `with` lasts."""
    swapping = torch.__future__.get_swap_module_params_on_conversion()
    # a parameter that moves stays the object that an optimizer knows, as on a GPU
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        with Border(), patch.multiple(torch, Generator=Generator, tensor=tensor):
            yield DEVICE
    finally:
        torch.__future__.set_swap_module_params_on_conversion(swapping)
        THERE.clear()


@contextmanager
def trained_there() -> Iterator[None]:
    """`fit` trains on this device, as it does on a GPU where there is one."""
    from accelerate import PartialState
    from torch.optim import optimizer

    fused = optimizer._get_fused_kernels_supported_devices
    with (
        patch.dict(PartialState()._shared_state, {"device": DEVICE}),
        patch.object(
            optimizer, "_get_fused_kernels_supported_devices", lambda: [*fused(), DEVICE.type]
        ),
    ):
        yield


@contextmanager
def products_on_the_cpu() -> Iterator[list[str]]:
    """Notes every product of matrices that was not computed on the other device."""
    seen: list[str] = []
    ON_THE_CPU.append(seen)
    try:
        yield seen
    finally:
        ON_THE_CPU.remove(seen)


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
