"""How many of the hidden word pieces the model that fills holes tells, when more and more of a
sentence is hidden (chapter 13c; the figure "Hide more and more").

    LECTURES_DATA=… OMP_NUM_THREADS=1 python experiments/masking_rates.py
        ten minutes of one core; writes book/results/masking_rates.json
    … --sentences 20 --draws 1
        half a minute, written nowhere

The sentences are held-out ones of the texts that the model was trained on (`fill_mask.py`), each by
itself, of 12 to 40 word pieces, none of them unknown. Holes are drawn by the library's
`mask_tokens`: the same draw at every rate, so that what is hidden at a rate stays hidden at a
higher one. Asked are the pieces behind [MASK], all at once, of the weights in 8 bits that a page
fetches. The model was trained with 15 % chosen, by 80/10/10.
"""

import argparse
import random
from collections.abc import Sequence

import torch
from eight_bits import rounded
from fill_mask import documents, encoded
from torch import Tensor

from lectures_lib import results, stored
from lectures_lib.models.bert import BertForPreTraining
from lectures_lib.tokenization import WordPiece
from lectures_lib.training.pretraining import MaskingRates, mask_tokens

TITLE = (
    "Hidden word pieces that MiniLM, trained further to fill holes, tells at different rates of "
    "masking"
)
RATES = range(5, 95, 5)  # per cent
SPLITS = {"always_mask": (1.0, 0.0), "80_10_10": (0.8, 0.1)}  # [MASK], another one
PIECES = (12, 40)  # of a sentence, without [CLS] and [SEP]
WORDS_FROM = 1_000  # the pieces before are unused places and single signs


def held_out(n: int, tokenizer: WordPiece) -> list[list[int]]:
    """So many sentences, drawn from all that fit."""
    texts = encoded(documents("validation"), tokenizer)
    unknown = tokenizer.token_id("[UNK]")
    fit = [
        ids
        for document in texts
        for ids in document
        if PIECES[0] <= len(ids) <= PIECES[1] and unknown not in ids
    ]
    return random.Random(0).sample(fit, n)


@torch.no_grad()
def told(
    model: BertForPreTraining,
    ids: Sequence[int],
    rates: MaskingRates,
    draws: int,
    seed: int,
    frame: tuple[int, int, int, int],
) -> Tensor:
    """Of one sentence, over all draws: how many pieces are hidden, how many of them told, and how
    many are chosen. With the same seed the draws are the same at every rate.
    """
    begin, end, mask, n_words = frame
    original = torch.tensor([[begin, *ids, end]]).expand(draws, -1)
    special = (original == begin) | (original == end)
    generator = torch.Generator().manual_seed(seed)
    words = range(WORDS_FROM, n_words)
    read, chosen = mask_tokens(original, special, mask, words, rates, generator)
    hidden = chosen & (read == mask)
    if not hidden.any():
        return torch.tensor([0, 0, int(chosen.sum())])
    right = model(read, at=hidden).words.argmax(dim=-1) == original[hidden]
    return torch.tensor([int(hidden.sum()), int(right.sum()), int(chosen.sum())])


def summed(counts: Tensor, n_pieces: int) -> dict[str, float]:
    """Over the sentences: the share told, its standard error, and the sentences' own shares, the
    middle half of them. `counts`: (sentences, 3), as `told` gives them.
    """
    hidden, right, chosen = counts.double().unbind(dim=1)
    share = right.sum() / hidden.sum()
    each = (right / hidden)[hidden > 0]
    lower, median, upper = each.quantile(torch.tensor([0.25, 0.5, 0.75]).double()).tolist()
    # sentences, not holes, were drawn: the share is a ratio of two sums over them
    error = (right - share * hidden).square().sum().sqrt() / hidden.sum()
    return {
        "right": share.item(),
        "error": error.item(),
        "lower": lower,
        "median": median,
        "upper": upper,
        "holes": int(hidden.sum()),
        "sentences": len(each),
        "chosen": chosen.sum().item() / n_pieces,
    }


def main() -> None:
    """Hide, ask, count, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sentences", type=int, default=160)
    parser.add_argument("--draws", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(1)
    model, tokenizer = stored.fill_mask()
    model, _ = rounded(model, BertForPreTraining)
    frame = (*map(tokenizer.token_id, ("[CLS]", "[SEP]", "[MASK]")), len(tokenizer))
    texts = held_out(options.sentences, tokenizer)
    n_pieces = sum(map(len, texts))
    measured = {
        "settings": {
            "sentences": len(texts),
            "pieces": n_pieces,
            "draws": options.draws,
            "shortest": PIECES[0],
            "longest": PIECES[1],
        }
    }
    for split, (masked, other) in SPLITS.items():
        measured[split] = {}
        for rate in RATES:
            rates = MaskingRates(rate / 100, masked, other)
            counts = [
                told(model, ids, rates, options.draws, seed, frame)
                for seed, ids in enumerate(texts)
            ]
            found = summed(torch.stack(counts), n_pieces * options.draws)
            measured[split][str(rate)] = found
            print(f"{split}, {rate} %: {found['right']:.3f} ± {2 * found['error']:.3f}", flush=True)
    if options.sentences == parser.get_default("sentences"):
        results.save("masking_rates", measured, TITLE, [0])


if __name__ == "__main__":
    main()
