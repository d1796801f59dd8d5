"""Who is or are? A recurrent network and Transformers on "the keys to the cabinet are rusty"
(chapter 10b).

    python experiments/agreement.py
        eight seeds, five minutes on one core; writes book/results/agreement.json

All are language models, trained in the same way on sentences of a small grammar that have at most
two nouns between subject and verb. Tested is which of "is" and "are" they find likelier, with up to
six nouns between, all of the other number than the subject. No pair of a subject and its neighbour
in the test was in the training text. Also: which noun decides.
"""

import random

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lectures_lib import results
from lectures_lib.models.language_model import LanguageModel, LanguageModelConfig

NOUNS = ["key", "cabinet", "lamp", "door", "letter", "picture", "book", "chair", "table", "window"]
PREPOSITIONS = ["to", "near", "behind", "beside"]
ADJECTIVES = ["rusty", "old", "new", "small"]
WORDS = [
    ".",
    "the",
    "is",
    "are",
    *PREPOSITIONS,
    *ADJECTIVES,
    *NOUNS,
    *(noun + "s" for noun in NOUNS),
]
ID = {word: i for i, word in enumerate(WORDS)}
FIRST_NOUN = ID[NOUNS[0]]
TRAINED, MOST = 2, 6  # the most nouns between subject and verb: in the training text, in the test
BLOCK, BATCH, STEPS, LEARNING_RATE = 48, 32, 500, 5e-3
SENTENCES, TESTED = 10_000, 500
SEEDS = [0, 1, 2, 3, 4, 5, 6, 7]


def held_out(subject: int, neighbour: int) -> bool:
    """Whether these two nouns stand side by side in the test only: a fifth of the pairs."""
    return (subject + neighbour) % 5 == 0


def sentence(rng: random.Random, between: int, test: bool = False) -> tuple[list[int], bool]:
    """A sentence up to its verb, and whether its subject is plural. In the test all nouns between
    have the other number.
    """
    plural, subject = rng.random() < 0.5, rng.randrange(len(NOUNS))
    tokens = [ID["the"], FIRST_NOUN + subject + plural * len(NOUNS)]
    for i in range(between):
        noun = rng.choice([n for n in range(len(NOUNS)) if i > 0 or held_out(subject, n) == test])
        number = not plural if test else rng.random() < 0.5
        tokens += [ID[rng.choice(PREPOSITIONS)], ID["the"], FIRST_NOUN + noun + number * len(NOUNS)]
    return tokens, plural


def training_text(seed: int) -> Tensor:
    """Sentences one after another, each behind a full stop, as one row of token ids."""
    rng, text = random.Random(seed), [ID["."]]
    for _ in range(SENTENCES):
        tokens, plural = sentence(rng, rng.randint(0, TRAINED))
        text += [*tokens, ID["are" if plural else "is"], ID[rng.choice(ADJECTIVES)], ID["."]]
    return torch.tensor(text)


class RecurrentLM(nn.Module):
    """A language model with a GRU where the Transformer has attention; its output matrix is tied as
    well.
    """

    def __init__(self, vocab_size: int, d_model: int, n_layers: int = 2):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)
        self.gru = nn.GRU(d_model, d_model, n_layers, batch_first=True)

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits (batch, n, vocab) of the token that follows each token (batch, n)."""
        hidden, _ = self.gru(self.embedding(tokens))
        return hidden @ self.embedding.weight.T


def transformer(learned_positions: bool) -> LanguageModel:
    """Two blocks of width 64."""
    sizes = {"d_model": 64, "n_heads": 4, "n_layers": 2, "d_ff": 256, "max_len": BLOCK}
    return LanguageModel(
        LanguageModelConfig(len(WORDS), **sizes, dropout=0.0, learned_positions=learned_positions)
    )


MODELS = {
    "gru": lambda: RecurrentLM(len(WORDS), d_model=96),
    "transformer": lambda: transformer(learned_positions=True),
    "transformer_sinusoids": lambda: transformer(learned_positions=False),
}


def train(model: nn.Module, text: Tensor, steps: int = STEPS) -> float:
    """Train on random pieces of the text; the last loss."""
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = LEARNING_RATE * min(
            (step + 1) / 50, 1, 2 - 2 * step / steps
        )
        starts = torch.randint(len(text) - BLOCK, (BATCH, 1))
        pieces = text[starts + torch.arange(BLOCK + 1)]
        loss = F.cross_entropy(model(pieces[:, :-1]).flatten(0, 1), pieces[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return loss.item()


def tested(between: int) -> tuple[Tensor, Tensor]:
    """Beginnings of sentences (500, n), behind a full stop, and whether the subjects are plural."""
    rng = random.Random(1000 + between)
    tokens, plural = zip(*(sentence(rng, between, test=True) for _ in range(TESTED)), strict=True)
    return torch.tensor([[ID["."], *row] for row in tokens]), torch.tensor(plural)


@torch.no_grad()
def says_are(model: nn.Module, tokens: Tensor) -> Tensor:
    """Whether "are" is likelier than "is" behind each row."""
    logits = model.eval()(tokens)[:, -1]
    return logits[:, ID["are"]] > logits[:, ID["is"]]


def accuracy(model: nn.Module, between: int) -> float:
    """How often the right one of "is" and "are" is the likelier."""
    tokens, plural = tested(between)
    return (says_are(model, tokens) == plural).float().mean().item()


def deciding(model: nn.Module, between: int) -> list[float]:
    """For each noun from the subject on: in what share of the sentences the verb changes when this
    noun changes its number.
    """
    tokens, _ = tested(between)
    shares = []
    for place in range(2, tokens.shape[1], 3):
        changed = tokens.clone()
        changed[:, place] = FIRST_NOUN + (tokens[:, place] - FIRST_NOUN + len(NOUNS)) % (
            2 * len(NOUNS)
        )
        shares.append((says_are(model, changed) != says_are(model, tokens)).float().mean().item())
    return shares


def main() -> None:
    """Every model on every text with every seed."""
    torch.set_num_threads(1)
    measured = {
        "parameters": {
            name: sum(p.numel() for p in make().parameters()) for name, make in MODELS.items()
        }
    }
    for name, make in MODELS.items():
        losses, accuracies, decisions = [], {n: [] for n in range(MOST + 1)}, []
        for seed in SEEDS:
            torch.manual_seed(seed)
            model = make()
            losses.append(train(model, training_text(seed)))
            for n, values in accuracies.items():
                values.append(accuracy(model, n))
            decisions.append(deciding(model, 3))
            found = " ".join(f"{values[-1]:.2f}" for values in accuracies.values())
            print(
                name,
                seed,
                f"loss {losses[-1]:.3f}",
                found,
                [f"{share:.2f}" for share in decisions[-1]],
                flush=True,
            )
        measured[name] = {
            "loss": results.spread(losses),
            "accuracy": {str(n): results.spread(values) for n, values in accuracies.items()},
            "all_right": {
                str(n): sum(value > 0.95 for value in values) for n, values in accuracies.items()
            },
            "decides_of_three": {
                str(i): results.spread([shares[i] for shares in decisions]) for i in range(4)
            },
        }
    title = (
        f"“Is” or “are” after 0 to {MOST} nouns of the other number: share of sentences that are "
        f"right, and which noun decides"
    )
    results.save("agreement", measured, title, SEEDS)


if __name__ == "__main__":
    main()
