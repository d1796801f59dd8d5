"""Data to train on: epochs of batches, and their order, shared among processes.

A run that is resumed goes on with the batch that would have come next: the stream knows its place.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, Protocol, runtime_checkable


@runtime_checkable
class Epochs(Protocol):
    """Data to train on, such as `data.Batches`: any epoch's batches can be made again, in the same
    order.

    A batch is a (named) tuple of tensors. If it has `n_targets`, the number of things its loss is
    the mean of, then larger batches count for more where several make one step; without, all count
    the same.
    """

    def epoch(self, number: int) -> Iterable[Any]:
        """The batches of epoch 0, 1, 2, …"""
        ...


class Placed(NamedTuple):
    """A batch, and its place in the data: the epoch, and its number there."""

    epoch: int
    index: int
    batch: Any


class Stream:
    """The batches of epoch after epoch, dealt out to the processes in turn like cards.

    Args:
        batches: the data.
        process: which of the processes this is, from 0.  n_processes: how many there are.
    """

    def __init__(self, batches: Epochs, process: int = 0, n_processes: int = 1):
        self.batches, self.process, self.n_processes = batches, process, n_processes
        self.go_to(0, 0)

    def go_to(self, epoch: int, index: int) -> None:
        """Let this be the next batch."""
        self.epoch, self.index = epoch, index
        self._rest = islice(makers(self.batches, epoch), index, None)

    def next(self) -> Placed:
        """This process's batch of one deal. Those of the others are not made, where the data can
        leave them out.
        """
        epoch, index, make = [self._draw() for _ in range(self.n_processes)][self.process]
        return Placed(epoch, index, make())

    def _draw(self) -> tuple[int, int, Callable[[], Any]]:
        for make in self._rest:
            drawn = self.epoch, self.index, make
            self.index += 1
            return drawn
        if self.index == 0:
            raise ValueError(f"epoch {self.epoch} of the data has no batches")
        self.go_to(self.epoch + 1, 0)
        return self._draw()


def makers(batches: Epochs, epoch: int) -> Iterator[Callable[[], Any]]:
    """For each batch of an epoch a function that makes it; where the data makes them itself, they
    are there already.
    """
    if hasattr(batches, "makers"):
        return iter(batches.makers(epoch))
    return (partial(itself, batch) for batch in batches.epoch(epoch))


def itself(batch: Any) -> Any:
    """A batch that is there already."""
    return batch
