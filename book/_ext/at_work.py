"""The film of the page "One sentence, all the way down": a translator at work, all of it at once.

It plays first a translation that is made here, while the site is built; then the reader's own.
"""

from functools import cache

import torch
from figures_of_writing import EXAMPLES, translators

from lectures_lib import data, decoding, stored
from lectures_lib.blocks.recording import record
from lectures_lib.models.transformer import TransformerConfig

SENTENCE = EXAMPLES["de"][0]
LONGEST = 40  # tokens, as in book/live/at_work.js
NUMBERS = 12  # of a vector are drawn, as in book/live/run.js
LIKELIEST = 3  # tokens of every step are told
ATTENTIONS = {"encoder": ["self_attention"], "decoder": ["self_attention", "cross_attention"]}


@cache
@torch.no_grad()
def at_work() -> tuple[dict, str]:
    """The figure; where the words of its first translation looked in the decoder's last block."""
    models = translators()
    translates = stored.translator("de", "en")
    model, source = translates.model, torch.tensor([translates.source(SENTENCE)])
    never = (data.PAD, data.BOS)
    found = decoding.greedy(
        model, source, begin=data.BOS, end=data.EOS, max_len=LONGEST, never=never
    )
    target = [data.BOS, *found.sentences()[0], data.EOS]
    with record(model) as seen:
        model(source, torch.tensor([target[:-1]]))
    entering = {stack: x[0] for stack, x in zip(ATTENTIONS, seen.each("positions"), strict=True)}
    words = [translates.subwords.decode([i]).strip() for i in target]
    run = {
        "source": [translates.subwords.decode([i]).strip() for i in source[0].tolist()],
        "read": words[:-1],
        "written": words[1:],
        "text": translates.subwords.decode(target, skip_specials=True),
        "candidates": likeliest(seen[""][0], translates.subwords),
        **numbers(seen, entering, model.config),
    }
    cross = seen[f"decoder.blocks.{model.config.n_layers - 1}.cross_attention.weights"][0].mean(0)
    said = [
        f"{read:8}{row.max():.2f} from {run['source'][row.argmax()]:8} writes {written}"
        for read, written, row in zip(run["read"], run["written"], cross, strict=True)
    ]
    example = "\n".join([f"{SENTENCE} What the decoder's last block takes (mean of heads):", *said])
    return {"models": models, "title": "A translation, step by step", "run": run}, example


def likeliest(scores: torch.Tensor, subwords) -> list[list[list]]:
    """Of each step the likeliest tokens and their shares. `scores`: (n, vocab)."""
    shares, ids = scores.softmax(dim=-1).topk(LIKELIEST)
    return [
        [[subwords.decode([i]).strip(), round(p, 4)] for p, i in zip(*step, strict=True)]
        for step in zip(shares.tolist(), ids.tolist(), strict=True)
    ]


def numbers(
    seen: dict[str, torch.Tensor], entering: dict[str, torch.Tensor], config: TransformerConfig
) -> dict:
    """The model's size; by stack, attention, block, head and query the weights in thousandths; by
    stack, level and token the first numbers of every vector in hundredths. `entering`: the vectors
    (n, d_model) that each stack's first block reads.
    """
    blocks = range(config.n_layers)

    def behind(stack: str) -> list[torch.Tensor]:
        return [seen[f"{stack}.blocks.{i}.around_feed_forward"][0] for i in blocks]

    def weights(part: str) -> list:
        tables = [seen[part.format(i)][0] for i in blocks]
        return [(1000 * table).round().int().tolist() for table in tables]

    return {
        "heads": config.n_heads,
        "layers": config.n_layers,
        "d": config.d_model,
        "weights": {
            stack: {name: weights(f"{stack}.blocks.{{}}.{name}.weights") for name in names}
            for stack, names in ATTENTIONS.items()
        },
        "vectors": {
            stack: [(100 * x[:, :NUMBERS]).round().int().tolist() for x in [first, *behind(stack)]]
            for stack, first in entering.items()
        },
    }


FIGURES = {"at_work": at_work}
