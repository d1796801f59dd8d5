"""The device that is measured, and its clock."""

import time

import torch

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ON_A_GPU = "_gpu" if DEVICE.type == "cuda" else ""  # at the end of a results file's name


def now() -> float:
    """Seconds, when all that was asked of the device is done."""
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()
