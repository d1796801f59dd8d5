"""BERT as a source of features: the weights stay as they are, the vectors feed another model
(chapters 15 and 15b; Devlin et al. 2019, section 5.3).

A model of n layers has n + 1 hidden states: number 0 is what enters the first layer, number i what
layer i - 1 gives. Here a tensor of several states has them in its first dimension. The vectors are
computed once, and then any number of models is trained on them.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from lectures_lib.analysis.probing import ScalarMix
from lectures_lib.checks.door import at_the_door
from lectures_lib.data.batches import Batches, pad_texts
from lectures_lib.models.bert import Bert
from lectures_lib.modes import check_at_rest
from lectures_lib.tasks.word_level import Cut, hidden_states
from lectures_lib.tokenization import WordPiece

PIECES = ("first", "mean", "last")

# The rows of BERT's table 7: which hidden states, and what becomes of them.
COMBINATIONS = {
    "embeddings": (slice(0, 1), "alone"),
    "second_to_last": (slice(-2, -1), "alone"),
    "last": (slice(-1, None), "alone"),
    "weighted_last_four": (slice(-4, None), "weighted"),
    "concat_last_four": (slice(-4, None), "side by side"),
    "weighted_all": (slice(1, None), "weighted"),
}


# ----------------------------------------------------------------------------- from text to vectors


def cut_text(tokenizer: WordPiece, text: str, word: str, index: int, max_len: int = 512) -> Cut:
    """The pieces of a text, and where among them the one word stands that begins at character
    `index`.

    Raises:
        ValueError: where another word stands there, or for more pieces than max_len.
    """
    found = text[index : index + len(word)] if index >= 0 else ""
    if not word or found != word:
        raise ValueError(
            f"{word!r} should begin at character {index} of {text!r}, but there stands {found!r}"
        )
    encoding = tokenizer.pair(text)
    places = [
        i
        for i, (start, end) in enumerate(encoding.offsets)
        if start < index + len(word) and end > index
    ]
    if not places:
        raise ValueError(f"{word!r} at character {index} of {text!r} has no piece of its own")
    if len(encoding.ids) > max_len:
        raise ValueError(
            f"a text of {len(text)} characters is {len(encoding.ids)} pieces with [CLS] and [SEP]; "
            f"there is room for {max_len}"
        )
    return Cut(encoding.ids, [places])


def word_vectors(
    model: Bert,
    texts: Sequence[Cut],
    pieces: str = "first",
    states: slice = slice(None),
    max_tokens: int = 4096,
) -> list[Float[Tensor, "states words d_model"]]:
    """A vector for every word that a cut tells the places of, from every hidden state: for each
    text a tensor, in their order.

    Args:
        model: at rest (`eval()`); it stays as it is.
        texts: from `word_level.cut_words` or `cut_text`. They are read in batches of similar
            length.
        pieces: which piece stands for a word of several: the "first" (as in the paper), the "mean"
            of all, or the "last".
        states: which hidden states to keep, as a slice of 0 … n_layers; all of them take 1.5 KB
            times n_layers + 1 a word in MiniLM.
        max_tokens: tokens in a batch, padding included.

    Raises:
        ValueError: for no texts, another word for `pieces`, and a model in training mode, whose
            dropout makes vectors random.
    """
    check_at_rest(model)
    if pieces not in PIECES:
        raise ValueError(f"pieces is one of {', '.join(PIECES)}, got {pieces!r}")
    if not texts:
        raise ValueError("no texts: at least one is needed")
    device = next(model.parameters()).device
    longest = max(len(text.ids) for text in texts)
    batches = Batches(
        [(text.ids,) for text in texts], pad_texts, max_tokens=max(max_tokens, longest)
    )
    vectors: list[Tensor] = [torch.empty(0)] * len(texts)
    for rows in batches.plan(0):
        batch = pad_texts([(texts[i].ids,) for i in rows])
        with torch.no_grad():
            hidden = torch.stack(
                hidden_states(model, batch.ids.to(device), batch.lengths.to(device))[states]
            ).cpu()
        for row, i in enumerate(rows):
            vectors[i] = of_words(hidden[:, row], texts[i].places, pieces)
    return vectors


def of_words(
    hidden: Float[Tensor, "states n d_model"],
    places: Sequence[Sequence[int]],
    pieces: str = "first",
) -> Float[Tensor, "states words d_model"]:
    """The words' vectors among those of all pieces."""
    if pieces == "mean":
        return torch.stack([hidden[:, of_word].mean(dim=1) for of_word in places], dim=1)
    return hidden[:, [of_word[0 if pieces == "first" else -1] for of_word in places]]


# ------------------------------------------------------------------------------ which layers to use


class LayerCombination(nn.Module):
    """One vector out of several hidden states, in one of the ways of BERT's table 7 (`COMBINATIONS`
    lists them).

    The paper does not say where the weights of its weighted sums come from; here they are learned,
    as ELMo's are (`probing.ScalarMix`).

    Args:
        name: a key of `COMBINATIONS`.  n_layers: of the model; it has n_layers + 1 states.
            d_model: width of its vectors.

    Raises:
        ValueError: for another name, or "… four" of fewer than four layers.
    """

    def __init__(self, name: str, n_layers: int, d_model: int):
        super().__init__()
        if name not in COMBINATIONS:
            raise ValueError(f"no combination {name!r}; there is: {', '.join(COMBINATIONS)}")
        self.states, self.how = COMBINATIONS[name]
        n_states = len(range(n_layers + 1)[self.states])
        if name.endswith("last_four") and n_layers < 4:
            raise ValueError(f"{name} needs four layers, the model has {n_layers}")
        self.n_states = n_layers + 1
        self.mix = ScalarMix(n_states) if self.how == "weighted" else None
        self.width = n_states * d_model if self.how == "side by side" else d_model

    def forward(
        self, states: Float[Tensor, "states *batch d_model"]
    ) -> Float[Tensor, "*batch width"]:
        """The combined vectors, `width` numbers each. All n_layers + 1 states must be given.

        Raises:
            ValueError: for another number of states.
        """
        if len(states) != self.n_states:
            raise ValueError(
                f"a model of {self.n_states - 1} layers has {self.n_states} hidden states, got "
                f"{len(states)}"
            )
        chosen = states[self.states]
        if self.mix is not None:
            return self.mix(chosen)
        return chosen[0] if self.how == "alone" else torch.cat(list(chosen), dim=-1)


class FeatureTagger(nn.Module):
    """A class for each word, from frozen features: a linear layer, with a two-layer BiLSTM before
    it if wanted (section 5.3).

    Args:
        combination: makes the features of the hidden states.
        n_classes: how many classes.
        d_lstm: width of the BiLSTM in each direction (the paper's: 768); 0: none, each word is
            judged by its own vector.
        dropout: on the features and between the layers, in training.
    """

    def __init__(
        self, combination: LayerCombination, n_classes: int, d_lstm: int = 0, dropout: float = 0.0
    ):
        super().__init__()
        self.combination = combination
        self.dropout = nn.Dropout(dropout)
        sizes = {"num_layers": 2, "bidirectional": True, "batch_first": True, "dropout": dropout}
        self.lstm = nn.LSTM(combination.width, d_lstm, **sizes) if d_lstm else None
        self.head = nn.Linear(2 * d_lstm if d_lstm else combination.width, n_classes)

    def forward(
        self,
        states: Float[Tensor, "states batch words d_model"],
        lengths: Int[Tensor, " batch"] | None = None,
    ) -> Float[Tensor, "batch words classes"]:
        """The scores (logits) of every word's classes. With a BiLSTM, `lengths` says where each
        sentence ends; None: all are full.
        """
        x = self.dropout(self.combination(states))
        if self.lstm is not None:
            lengths = torch.full((x.shape[0],), x.shape[1]) if lengths is None else lengths
            packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
            x, _ = pad_packed_sequence(
                self.lstm(packed)[0], batch_first=True, total_length=x.shape[1]
            )
            x = self.dropout(x)
        return self.head(x)


# ------------------------------------------------------------------------------- nearest neighbours


def cosines_among(vectors: Float[Tensor, "*states n d"]) -> Float[Tensor, "*states n n"]:
    """The cosine of every vector with every other one of the same state. (Those of one set with
    another's: `sentence_bert.cosines`.)
    """
    directions = F.normalize(vectors, dim=-1)
    return directions @ directions.mT


def _check_neighbours(similarity: Tensor, labels: Sequence[str], may: Tensor) -> None:
    n = len(labels)
    if similarity.shape != (n, n) or may.shape != (n, n):
        raise ValueError(
            f"{n} labels need tables of {n} × {n}, got {tuple(similarity.shape)} and "
            f"{tuple(may.shape)}"
        )
    if not may.any():
        raise ValueError(f"none of the {n} examples may have a neighbour")


@at_the_door(_check_neighbours)
def nearest_neighbour_accuracy(
    similarity: Float[Tensor, "n n"], labels: Sequence[str], may: Bool[Tensor, "n n"]
) -> float:
    """How often the nearest neighbour has the same label. Nothing is trained (1-NN).

    Where several are equally near, the share of them with the right label counts; a similarity that
    is the same everywhere therefore gives just what guessing gives.

    Args:
        similarity: larger is nearer, such as `cosines_among`.
        labels: one for each example.
        may: `may[i, j]`: whether j may be i's neighbour (of the same word, another sentence, the
            other split …). Rows that nobody may be a neighbour of are not asked.

    Raises:
        ValueError: for shapes that do not fit, or where no row has a neighbour.
    """
    ids = {label: i for i, label in enumerate(dict.fromkeys(labels))}
    label = torch.tensor([ids[name] for name in labels])
    same = (label[:, None] == label).float()
    allowed = similarity.masked_fill(~may, -torch.inf)
    nearest = (allowed >= allowed.amax(dim=1, keepdim=True) - 1e-6) & may
    right = (same * nearest).sum(dim=1) / nearest.sum(dim=1).clamp(min=1)
    return right[may.any(dim=1)].mean().item()
