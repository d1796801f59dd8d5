"""What eight bits cost the model that fills holes in the page (book/live.md): the same questions,
asked of the stored weights and of their rounding.

    LECTURES_DATA=… python experiments/eight_bits.py
        one minute; writes book/results/eight_bits.json
"""

import tempfile
from pathlib import Path

import torch
from fill_mask import HoleBatches, documents, encoded
from torch import nn

from lectures_lib import results, stored
from lectures_lib.models.bert import BertConfig, BertForPreTraining
from lectures_lib.training.pretraining import PreTrainingBatch, evaluate

TITLE = (
    "The model that fills holes: stored weights against their rounding to 8 bits, on held-out text"
)
N_BATCHES = 20


@torch.no_grad()
def answers(model: nn.Module, batches: list[PreTrainingBatch], mask_id: int) -> torch.Tensor:
    """The distribution at every hole."""
    found = []
    for batch in batches:
        at = batch.chosen & (batch.tokens == mask_id)
        found.append(model(batch.tokens, batch.segments, batch.lengths, at=at).words.softmax(-1))
    return torch.cat(found)


def main() -> None:
    """Ask both, write."""
    model, tokenizer = stored.fill_mask()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "eight_bits.safetensors")
        stored.save_eight_bits(model, path)
        rounded = stored.load_eight_bits(path, BertConfig, BertForPreTraining)
        megabytes = path.stat().st_size / 1e6
    texts = encoded(documents("validation"), tokenizer)
    batches = HoleBatches(texts, tokenizer, 128, 2048, seed=99)
    asked = list(batches.epoch(0))[:N_BATCHES]
    before, after = (answers(m, asked, batches.mask_id) for m in (model, rounded))
    best = before.argmax(dim=-1)
    scores = {
        name: evaluate(m, asked, batches.mask_id)
        for name, m in (("stored", model), ("eight_bits", rounded))
    }
    measured = {
        "holes": len(best),
        "megabytes": megabytes,
        "same_word": float((after.argmax(dim=-1) == best).float().mean()),
        "probability_moves": float((after - before).gather(1, best[:, None]).abs().mean()),
    } | {name: {"perplexity": s.perplexity, "accuracy": s.accuracy} for name, s in scores.items()}
    print(measured)
    results.save("eight_bits", measured, TITLE, [])


if __name__ == "__main__":
    main()
