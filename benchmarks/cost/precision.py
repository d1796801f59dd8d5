"""bfloat16 by autocast against float32: time, and how far its vectors are off."""

from typing import Any

import torch
import torch.nn.functional as F
from turns import DEVICE, classifier, compared, random_batch, reading, steps

from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert


def precision(rounds: int) -> dict[str, Any]:
    """bfloat16 by autocast against float32, and how far its vectors are off."""
    model, head, optimizer = classifier()
    step_over = compared(
        {
            "float32": steps(model, head, optimizer),
            "bfloat16": steps(model, head, optimizer, autocast=True),
        },
        rounds,
        "float32",
    )
    read_over = compared(
        {"float32": reading(model), "bfloat16": reading(model, autocast=True)}, rounds, "float32"
    )
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
        "processor": torch.backends.cpu.get_cpu_capability()
        if DEVICE == "cpu"
        else torch.cuda.get_device_name(),
        "matrix_units_for_bfloat16": float(DEVICE == "cuda" or "amx_bf16" in processor_flags()),
    }


def processor_flags() -> list[str]:
    """What the processor says it can do (Linux)."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line for line in file if line.startswith("flags")).split()
    except (OSError, StopIteration):
        return []
