"""What saves time and memory when a BERT is trained, and what does not: packing, bfloat16, torch.compile and more (chapter 18).

    LECTURES_DATA=<mirror> python benchmarks/cost.py            everything; writes book/results/cost.json (on a GPU: cost_gpu.json)
    LECTURES_DATA=<mirror> python benchmarks/cost.py --smoke    a round of each, to see that it runs; writes nothing

MiniLM's weights, no dropout, AdamW. What is compared takes turns in one process, and each ratio is that of two neighbouring turns;
only memory and the number of processes need processes of their own. Useful tokens are those that are no padding.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from lectures_lib import cost, data, minilm, packing, results, training
from lectures_lib.bert import Bert, BertConfig
from lectures_lib.tokenization import WordPiece

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
MAX_TOKENS = 2_048  # of a batch of real sentences, padding included
ROWS = (72, 144)  # lengths of packed rows; the longest sentence has 66 word pieces
BATCH, N = 16, 64  # where the sentences are random numbers
BATCH_SIZES = (1, 4, 16, 64)
MEMORY_BATCH, MEMORY_N = 16, 256
SENTENCES = 8_000


class Turn(NamedTuple):
    """One contestant's turn: what it does, and how many useful tokens that is."""

    run: Callable[[], Any]
    tokens: Callable[[Any], int]


def classifier(**changes: Any) -> tuple[Bert, nn.Linear, torch.optim.Optimizer]:
    """MiniLM without dropout, a layer for two classes on its pooled vector, and an optimizer for both."""
    torch.manual_seed(0)
    pretrained = Bert.from_pretrained(minilm.checkpoint())
    model = Bert(replace(pretrained.config, dropout=0.0, **changes)).to(DEVICE)
    model.load_state_dict(pretrained.state_dict())
    head = nn.Linear(model.config.d_model, 2).to(DEVICE)
    return model.train(), head, torch.optim.AdamW([*model.parameters(), *head.parameters()], lr=1e-5)


def finish() -> None:
    """Wait until the device has done what it was told."""
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def step(pooled: Callable[[], Tensor], head: nn.Linear, optimizer: torch.optim.Optimizer, labels: Tensor, autocast: bool = False) -> None:
    """One training step."""
    with torch.autocast(DEVICE, torch.bfloat16) if autocast else nullcontext():
        loss = F.cross_entropy(head(pooled()), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def tokens_per_second(turn: Turn) -> float:
    """Useful tokens a second of one turn."""
    finish()
    start = time.perf_counter()
    done = turn.run()
    finish()
    return turn.tokens(done) / (time.perf_counter() - start)


def compared(turns: dict[str, Turn], rounds: int, base: str) -> dict[str, dict]:
    """Each contestant's useful tokens a second over the base's, round by round, after a round to warm up."""
    speeds = [{name: tokens_per_second(turn) for name, turn in turns.items()} for _ in range(rounds + 1)][1:]
    return {name: results.spread([s[name] / s[base] for s in speeds]) for name in turns if name != base}


# ---------------------------------------------------------------- real lengths: padding, buckets, packing


def sentences() -> list[tuple[list[int], int]]:
    """Sentences of SST-2, as word pieces with [CLS] and [SEP], and their labels."""
    tokenizer = WordPiece.load(minilm.checkpoint() / "vocab.txt")
    rows, _ = data.read_split("nyu-mll/glue/sst2", "train")
    chosen = random.Random(0).sample(range(len(rows)), SENTENCES)
    return [(tokenizer.pair(rows[i]["sentence"]).ids, rows[i]["label"]) for i in chosen]


def plans(examples: list[tuple[list[int], int]], way: str) -> Iterator[list[int]]:
    """Which examples make up batch after batch: at most MAX_TOKENS each, counted with padding unless they are packed."""
    if way.startswith("packed"):
        yield from packed_plans([len(ids) for ids, _ in examples], row=int(way.split("_")[1]))
    batches = data.Batches([(ids,) for ids, _ in examples], data.pad_texts, max_tokens=MAX_TOKENS, by_length=way == "by_length")
    epoch = 0
    while True:
        yield from batches.plan(epoch)
        epoch += 1


def packed_plans(lengths: list[int], row: int) -> Iterator[list[int]]:
    """Random examples, as many as surely fit into MAX_TOKENS when packed into rows."""
    rng = random.Random(0)
    budget = MAX_TOKENS - row  # what first-fit leaves empty here is less than one row
    while True:
        order = rng.sample(range(len(lengths)), len(lengths))
        batch: list[int] = []
        for i in order:
            if sum(lengths[j] for j in batch) + lengths[i] > budget:
                yield batch
                batch = []
            batch.append(i)


def batching(rounds: int) -> dict[str, Any]:
    """Padding as the sentences come, batches by length, and packed rows."""
    examples = sentences()
    model, head, optimizer = classifier()
    sizes: dict[str, list[tuple[int, int]]] = {}

    def turn(way: str) -> Turn:
        stream, sizes[way] = plans(examples, way), []

        def run() -> int:
            chosen = [examples[i] for i in next(stream)]
            ids, labels = [ids for ids, _ in chosen], torch.tensor([label for _, label in chosen], device=DEVICE)
            useful = sum(map(len, ids))
            if way.startswith("packed"):
                packed = packing.Packed(*(part.to(DEVICE) for part in packing.pack(ids, int(way.split("_")[1]))))
                step(lambda: packing.encode(model, packed).pooled, head, optimizer, labels)
                sizes[way].append((useful, packed.tokens.numel()))
            else:
                padded = data.pad(ids)
                step(lambda: model(padded.ids.to(DEVICE), lengths=padded.lengths.to(DEVICE)).pooled, head, optimizer, labels)
                sizes[way].append((useful, padded.ids.numel()))
            return useful

        return Turn(run, tokens=lambda useful: useful)

    turns = {way: turn(way) for way in ("as_they_come", "by_length", *(f"packed_{row}" for row in ROWS))}
    over = compared(turns, rounds, "as_they_come")
    # And the same against length buckets, the cheaper way to save padding.
    packed_over_buckets = compared({way: turn(way) for way in ("by_length", f"packed_{ROWS[0]}")}, rounds, "by_length")
    lengths = [len(ids) for ids, _ in examples]
    return {
        "over_as_they_come": over,
        "over_by_length": packed_over_buckets,
        "padding": {way: 1 - sum(useful for useful, _ in s) / sum(size for _, size in s) for way, s in sizes.items()},
        "mean_length": sum(lengths) / len(lengths),
        "longest": max(lengths),
    }


# ---------------------------------------------------------------- random sentences: precision, compile, batch size, checkpointing


def random_batch(batch: int = BATCH, n: int = N) -> tuple[Tensor, Tensor]:
    """Token numbers, all of them useful, and labels."""
    return torch.randint(1_000, 30_000, (batch, n), device=DEVICE), torch.randint(0, 2, (batch,), device=DEVICE)


def steps(model: nn.Module, head: nn.Linear, optimizer: torch.optim.Optimizer, batch: int = BATCH, autocast: bool = False) -> Turn:
    """A training step on random sentences; of small batches as many as make up for it."""

    def run() -> int:
        repeats = max(1, BATCH // batch)
        for _ in range(repeats):
            tokens, labels = random_batch(batch)
            step(lambda tokens=tokens: model(tokens).pooled, head, optimizer, labels, autocast)
        return repeats * batch * N

    return Turn(run, tokens=lambda done: done)


def reading(model: nn.Module, autocast: bool = False) -> Turn:
    """A forward pass alone."""

    @torch.inference_mode()
    def run() -> int:
        with torch.autocast(DEVICE, torch.bfloat16) if autocast else nullcontext():
            model(random_batch()[0])
        return BATCH * N

    return Turn(run, tokens=lambda done: done)


def precision(rounds: int) -> dict[str, Any]:
    """bfloat16 by autocast against float32, and how far its vectors are off."""
    model, head, optimizer = classifier()
    step_over = compared(
        {"float32": steps(model, head, optimizer), "bfloat16": steps(model, head, optimizer, autocast=True)}, rounds, "float32"
    )
    read_over = compared({"float32": reading(model), "bfloat16": reading(model, autocast=True)}, rounds, "float32")
    model.load_state_dict(Bert.from_pretrained(minilm.checkpoint()).state_dict())
    torch.manual_seed(0)
    tokens, _ = random_batch()
    with torch.inference_mode():
        exact = model(tokens).hidden
        with torch.autocast(DEVICE, torch.bfloat16):
            rough = model(tokens).hidden.float()
    return {
        "training_step": step_over["bfloat16"],
        "inference": read_over["bfloat16"],
        "lowest_cosine": F.cosine_similarity(exact, rough, dim=-1).min().item(),
        "largest_difference": (exact - rough).abs().max().item(),
        "processor": torch.backends.cpu.get_cpu_capability() if DEVICE == "cpu" else torch.cuda.get_device_name(),
        "matrix_units_for_bfloat16": float(DEVICE == "cuda" or "amx_bf16" in processor_flags()),
    }


def processor_flags() -> list[str]:
    """What the processor says it can do (Linux)."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line for line in file if line.startswith("flags")).split()
    except (OSError, StopIteration):
        return []


def compiling(rounds: int) -> dict[str, Any]:
    """torch.compile against the model as it is, and how many steps' time compiling took."""
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = tempfile.mkdtemp()  # what an earlier run has compiled must not be found again
    model, head, optimizer = classifier()
    compiled = torch.compile(model)
    first = [time.perf_counter()]
    for turn in (steps(compiled, head, optimizer), reading(compiled)):
        turn.run()
        finish()
        first.append(time.perf_counter())
    eager = steps(model, head, optimizer)
    eager.run()
    one_step = BATCH * N / tokens_per_second(eager)
    return {
        "training_step": compared({"eager": eager, "compiled": steps(compiled, head, optimizer)}, rounds, "eager")["compiled"],
        "inference": compared({"eager": reading(model), "compiled": reading(compiled)}, rounds, "eager")["compiled"],
        "steps_to_compile": (first[1] - first[0]) / one_step,
    }


def batch_sizes(rounds: int) -> dict[str, Any]:
    """Tokens a second of a training step for several batch sizes over those of the smallest."""
    model, head, optimizer = classifier()
    turns = {str(size): steps(model, head, optimizer, size) for size in BATCH_SIZES}
    return {"over_1": compared(turns, rounds, "1")}


class Checkpointed(nn.Module):
    """A block that keeps its input only, and computes the rest once more in the backward pass."""

    def __init__(self, block: nn.Module):
        super().__init__()
        self.block = block

    def forward(self, *inputs: Any) -> Tensor:
        """What the block gives."""
        return checkpoint(self.block, *inputs, use_reentrant=False)


def with_checkpoints(model: Bert) -> Bert:
    """The same model, each block checkpointed."""
    model.encoder.blocks = nn.ModuleList(Checkpointed(block) for block in model.encoder.blocks)
    return model


def checkpointing(rounds: int, repetitions: int) -> dict[str, Any]:
    """Time of a training step with checkpoints over without, and the memory of forward and backward pass."""
    model, head, optimizer = classifier()
    other, other_head, other_optimizer = classifier()
    turns = {"all_kept": steps(model, head, optimizer), "checkpointed": steps(with_checkpoints(other), other_head, other_optimizer)}
    speed = compared(turns, rounds, "all_kept")["checkpointed"]
    ways = {way: megabytes_of(way, repetitions) for way in ("all_kept", "checkpointed")}
    kept = cost.training_bytes(model.config, MEMORY_N, MEMORY_BATCH)
    return {
        "time": results.spread([1 / value for value in speed["values"]]),
        "megabytes": ways,
        "memory": ways["checkpointed"]["median"] / ways["all_kept"]["median"],
        "counted_megabytes": (kept["linear"] + kept["attention"]) / 2**20,
    }


def memory_job(way: str) -> None:
    """Print the peak memory of one forward and backward pass, in megabytes."""
    torch.set_num_threads(1)
    model, head = Bert(replace(BertConfig.MINILM, dropout=0.0)).to(DEVICE), nn.Linear(BertConfig.MINILM.d_model, 2).to(DEVICE)
    model = with_checkpoints(model) if way == "checkpointed" else model
    tokens, labels = random_batch(MEMORY_BATCH, MEMORY_N)
    before = peak_megabytes(forget=True)
    F.cross_entropy(head(model(tokens).pooled), labels).backward()
    print(peak_megabytes() - before)


def peak_megabytes(forget: bool = False) -> float:
    """The most memory so far, of the GPU or (Linux) of this process; `forget`: from now on, and what is in use now."""
    if DEVICE == "cuda":
        if forget:
            torch.cuda.reset_peak_memory_stats()
        return torch.cuda.max_memory_allocated() / 2**20
    if forget:
        with open("/proc/self/clear_refs", "w", encoding="utf-8") as file:
            file.write("5")  # the peak is what is in use now
    with open("/proc/self/status", encoding="utf-8") as file:
        return float(next(line for line in file if line.startswith("VmHWM")).split()[1]) / 1024


def megabytes_of(way: str, repetitions: int) -> dict:
    """The same several times, each in a new process."""
    return results.spread([job([sys.executable], "memory", way) for _ in range(repetitions)])


# ---------------------------------------------------------------- several processes


class RandomBatches:
    """Endless random sentences, as `training.fit` reads them."""

    def epoch(self, number: int) -> Iterator[tuple[Tensor, Tensor]]:
        """The batches of an epoch."""
        torch.manual_seed(number)
        for _ in range(1_000):
            tokens, labels = random_batch()
            yield tokens.cpu(), labels.cpu()


class Classifier(nn.Module):
    """Body and head in one module, as processes want to share it."""

    def __init__(self):
        super().__init__()
        self.bert, self.head, _ = classifier()

    def forward(self, tokens: Tensor) -> Tensor:
        """The scores of two classes."""
        return self.head(self.bert(tokens).pooled)


def processes_job(threads: str, n_steps: str) -> None:
    """Train as one of several processes; the first prints the tokens a second of all."""
    torch.set_num_threads(int(threads))
    model = Classifier()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)

    def loss(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
        return F.cross_entropy(model(batch[0]), batch[1])

    def train(n: int) -> float:
        start = time.perf_counter()
        training.fit(model, RandomBatches(), loss, optimizer, steps=n, progress=False)
        return time.perf_counter() - start

    train(2)
    # What fit does around its steps is the same for few and for many: the difference of two runs is steps alone.
    short, long = train(1), train(1 + int(n_steps))
    n_processes = int(os.environ.get("WORLD_SIZE", "1"))
    if int(os.environ.get("RANK", "0")) == 0:
        print(n_processes * int(n_steps) * BATCH * N / (long - short))
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def processes(rounds: int, n_steps: int) -> dict[str, Any]:
    """Two processes on two cores, against one process with one thread and with two. Each launch takes its turn."""
    one, two = [sys.executable], [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"]
    jobs = {"one": (one, "1"), "one_with_two_threads": (one, "2"), "two": (two, "1")}
    speeds = [
        {name: job(launcher, "processes", threads, str(n_steps)) for name, (launcher, threads) in jobs.items()} for _ in range(rounds)
    ]
    return {f"two_over_{name}": results.spread([s["two"] / s[name] for s in speeds]) for name in jobs if name != "two"} | {
        "two_threads_over_one": results.spread([s["one_with_two_threads"] / s["one"] for s in speeds])
    }


def job(launcher: list[str], *what: str) -> float:
    """Run a part of this file in processes of its own; the last number that it prints."""
    # Large tensors get pages of their own, which go back to the system at once: else its view of our memory is that of the allocator.
    environment = os.environ | {"OMP_NUM_THREADS": "2", "MALLOC_MMAP_THRESHOLD_": "65536"}
    environment |= {"ACCELERATE_USE_CPU": "true"} if DEVICE == "cpu" else {}
    done = subprocess.run([*launcher, __file__, "--job", *what], capture_output=True, text=True, env=environment)
    if done.returncode:
        raise RuntimeError(f"{' '.join(what)} failed:\n{done.stderr[-2000:]}")
    return float(done.stdout.split()[-1])


def main() -> None:
    """Measure everything and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="one round of each; nothing is written")
    parser.add_argument("--only", help="one part alone; nothing is written")
    parser.add_argument("--job", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.job:
        return {"memory": memory_job, "processes": processes_job}[arguments.job[0]](*arguments.job[1:])
    torch.set_num_threads(1)  # whatever else runs on this machine then disturbs least
    many = (lambda n: 1) if arguments.smoke else (lambda n: n)
    parts = {
        "batching": lambda: batching(many(20)),
        "precision": lambda: precision(many(15)),
        "compile": lambda: compiling(many(15)),
        "batch_size": lambda: batch_sizes(many(6)),
        "checkpointing": lambda: checkpointing(many(12), many(3)),
        "processes": lambda: processes(many(4), many(8)),
    }
    if arguments.only is not None:
        parts = {arguments.only: parts[arguments.only]}
    found = {}
    for name, measure in parts.items():
        start = time.perf_counter()
        found[name] = measure()
        print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
        for key, value in flat(found[name]):
            print(f"    {key}: {value}", flush=True)
    if not (arguments.smoke or arguments.only):
        title = f"What saves time and memory in training MiniLM (float32, no dropout; real sentences of SST-2, else {BATCH} × {N} tokens)"
        results.save("cost" if DEVICE == "cpu" else "cost_gpu", found, title, seeds=[])


def flat(found: dict[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    """Nested results as lines to read."""
    for name, value in found.items():
        if isinstance(value, dict) and "median" in value:
            yield f"{path}{name}", f"{value['median']:.2f} ({value['min']:.2f} to {value['max']:.2f})"
        elif isinstance(value, dict):
            yield from flat(value, f"{path}{name}/")
        else:
            yield f"{path}{name}", f"{value:.3f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
