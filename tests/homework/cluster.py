"""A Dask cluster on this machine: a scheduler and worker processes, as an instructor would start
them.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.homework.bank import ROOT

QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


@contextmanager
def cluster(folder: Path, workers: int) -> Iterator[tuple[str, list[subprocess.Popen]]]:
    """The scheduler's address, and the workers' processes: one thread each. All end with the
    context.
    """
    file = folder / "scheduler.json"
    with ExitStack() as stack:

        def start(*arguments: str) -> subprocess.Popen:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", *arguments], cwd=ROOT, **QUIET
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process

        start(
            "scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            "--no-dashboard",
            "--scheduler-file",
            str(file),
        )
        patience = time.monotonic() + 120
        while not file.exists() and time.monotonic() < patience:
            time.sleep(0.1)
        time.sleep(0.2)
        address = json.loads(file.read_text())["address"]
        started = [
            start(
                "worker",
                address,
                "--nthreads",
                "1",
                "--no-nanny",
                "--no-dashboard",
                "--local-directory",
                str(folder / f"worker_{i}"),
            )
            for i in range(workers)
        ]
        yield address, started
