"""Functions that a question rules out or asks for are seen, whatever way an answer calls them."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lectures_lib.homework.questions import Case
from tests.homework.toy import judged, question


def by_hand(x):
    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, unbiased=False, keepdim=True) + 1e-5).sqrt()


@torch.jit.script
def scripted_norm(x):
    return torch.layer_norm(x, [4])


def in_a_thread_of_its_own(x):
    found = []
    thread = threading.Thread(target=lambda: found.append(F.layer_norm(x, (4,))))
    thread.start()
    thread.join()
    return found[0]


def in_a_pool(x):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(F.layer_norm, x, (4,)).result()


NORMS = {
    "the module": lambda x: nn.LayerNorm(4)(x),
    "F": lambda x: F.layer_norm(x, (4,)),
    "torch": lambda x: torch.layer_norm(x, (4,)),
    "torch._VF": lambda x: torch._VF.layer_norm(x, (4,)),
    "operator": lambda x: torch.ops.aten.layer_norm(x, [4]),
    "operator below it": lambda x: torch.ops.aten.native_layer_norm.default(
        x, [4], None, None, 1e-5
    )[0],
    "TorchScript": scripted_norm,
    "compiled": lambda x: torch.compile(lambda y: F.layer_norm(y, (4,)), backend="eager")(x),
    "a thread": in_a_thread_of_its_own,
    "a pool": in_a_pool,
    "vmap": lambda x: torch.func.vmap(lambda row: F.layer_norm(row, (4,)))(x),
}


@pytest.mark.parametrize("way", NORMS)
def test_a_function_that_is_ruled_out_is_seen_by_whatever_way(way):
    asked = question(
        "norm",
        by_hand,
        [Case((torch.arange(12.0).view(3, 4) ** 2,))],
        forbidden=("F.layer_norm", "torch.layer_norm"),
    )
    assert judged(asked, by_hand).right
    assert judged(asked, NORMS[way]).kind == "forbidden"
    assert threading.getprofile() is None


ENGINE = torch.autograd.Variable._execution_engine


def in_a_thread(loss):
    thread = threading.Thread(target=loss.backward)
    thread.start()
    thread.join()


def through(way):
    """A function that finds the gradient of x² in one of the ways that end in a walk backwards."""

    def answer(x):
        leaf = x.clone().requires_grad_()
        given = way((leaf**2).sum(), leaf)
        return leaf.grad if given is None else given

    return answer


def square(x):
    return (x**2).sum()


def compiled_backward(x):
    def inside(y):
        torch.autograd.backward(square(y))

    leaf = x.clone().requires_grad_()
    torch.compile(inside, backend="eager")(leaf)
    return leaf.grad


BACKWARD = {
    "method": through(lambda loss, leaf: loss.backward()),
    "the class's": through(lambda loss, leaf: Tensor.backward(loss)),
    "torch.autograd.backward": through(lambda loss, leaf: torch.autograd.backward(loss)),
    "of several": through(lambda loss, leaf: torch.autograd.backward([loss])),
    "in a thread": through(lambda loss, leaf: in_a_thread(loss)),
    "torch.autograd.grad": through(lambda loss, leaf: torch.autograd.grad(loss, leaf)[0]),
    "of lists": through(lambda loss, leaf: torch.autograd.grad([loss], [leaf])[0]),
    "jacobian": lambda x: torch.autograd.functional.jacobian(square, x),
    "vjp": lambda x: torch.autograd.functional.vjp(square, x)[1],
    "torch.func.grad": lambda x: torch.func.grad(square)(x),
    "torch.func.vjp": lambda x: torch.func.vjp(square, x)[1](torch.tensor(1.0))[0],
    "compiled": compiled_backward,
}


@pytest.mark.filterwarnings("ignore:The .grad attribute")  # compiling looks at it
@pytest.mark.parametrize("way", BACKWARD)
def test_gradients_that_are_ruled_out_are_seen_by_whatever_way(way):
    forbidden = ("Tensor.backward", "torch.autograd.grad")
    cases = [Case((torch.tensor([1.0, 2.0, 3.0]),))]
    asked = question("slope", lambda x: 2 * x, cases, forbidden=forbidden)
    assert judged(asked, lambda x: x + x).right
    with_graph = lambda x: (2 * x.clone().requires_grad_()).detach()  # noqa: E731
    assert judged(asked, with_graph).right
    verdict = judged(asked, BACKWARD[way])
    assert verdict.kind == "forbidden", verdict
    assert torch.autograd.Variable._execution_engine is ENGINE
    asked = question("slope", BACKWARD["method"], cases, required=forbidden)
    assert judged(asked, BACKWARD[way]).right
    assert judged(asked, lambda x: x + x).kind == "forbidden"


def test_gradients_that_the_check_takes_itself_are_not_the_answer_s():
    """Of a class the gradients are compared: by the check, and not by the class."""

    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.zeros(3))

        def forward(self, x):
            return x * self.w

    class ByAutograd(Scaled):
        def forward(self, x):
            w = self.w.detach().requires_grad_()
            torch.autograd.grad((w * x).sum(), w)
            return x * self.w

    case = Case((torch.ones(3),), init={}, state={"w": torch.tensor([1.0, 2.0, 3.0])})
    asked = question("Scaled", Scaled, [case], forbidden=("torch.autograd.grad",))
    assert judged(asked, Scaled).right
    assert judged(asked, ByAutograd).kind == "forbidden"


CONVOLUTIONS = {
    "F": lambda x: F.conv2d(x, torch.ones(1, 1, 2, 2)),
    "the module's": lambda x: nn.functional.conv2d(x, torch.ones(1, 1, 2, 2)),
    "torch.convolution": lambda x: torch.convolution(
        x, torch.ones(1, 1, 2, 2), None, (1, 1), (0, 0), (1, 1), False, (0, 0), 1
    ),
    "operator": lambda x: torch.ops.aten.conv2d(x, torch.ones(1, 1, 2, 2)),
}


@pytest.mark.parametrize("way", CONVOLUTIONS)
def test_a_function_that_is_asked_for_counts_by_whatever_way(way):
    asked = question(
        "sums",
        CONVOLUTIONS["F"],
        [Case((torch.arange(16.0).view(1, 1, 4, 4),))],
        required=("F.conv2d",),
    )
    assert judged(asked, CONVOLUTIONS[way]).right

    def by_conv1d(x):
        rows = x[0, 0, :-1] + x[0, 0, 1:]
        return F.conv1d(rows[:, None], torch.ones(1, 1, 2)).view(1, 1, 3, 3)

    assert judged(asked, by_conv1d).kind == "forbidden"
