"""Real translators: the checkpoints of Marian (`Helsinki-NLP/opus-mt-en-de` and kin) in our own
Transformer (chapter 9).

Junczys-Dowmunt et al. 2018 trained them with their own program, and they differ from the paper in
little: swish instead of ReLU, all sines before all cosines in a position, a bias on the output, and
a decoder that begins with the padding token. All of it is said here.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from lectures_lib.blocks.positions import SinusoidalPositions, sinusoidal_positions
from lectures_lib.checks.sizes import check_several_texts
from lectures_lib.data import pad
from lectures_lib.decoding import beam
from lectures_lib.models import hugging_face
from lectures_lib.models.transformer import Transformer, TransformerConfig

# Names in the checkpoint's config.json to ours.
SIZES = {
    "vocab_size": "vocab_size",
    "d_model": "d_model",
    "encoder_attention_heads": "n_heads",
    "encoder_layers": "n_layers",
    "encoder_ffn_dim": "d_ff",
    "dropout": "dropout",
    "max_position_embeddings": "max_len",
}

# What our Transformer takes for granted; and what config.json leaves out when it is so.
EXPECTED = {
    "scale_embedding": True,
    "share_encoder_decoder_embeddings": True,
    "tie_word_embeddings": True,
}
DEFAULTS = {"share_encoder_decoder_embeddings": True, "tie_word_embeddings": True}

ATTENTION = {"q_proj": "W_Q", "k_proj": "W_K", "v_proj": "W_V", "out_proj": "W_O"}
KEY_MAP = {
    "model.shared.weight": "embedding.weight",
    "model.{stack}.embed_tokens.weight": "embedding.weight",
    "lm_head.weight": "embedding.weight",
    "final_logits_bias": "output_bias",
    **{
        f"model.{{stack}}.layers.{{i}}.self_attn.{theirs}.{{kind}}": (
            f"{{stack}}.blocks.{{i}}.self_attention.{ours}.{{kind}}"
        )
        for theirs, ours in ATTENTION.items()
    },
    **{
        f"model.decoder.layers.{{i}}.encoder_attn.{theirs}.{{kind}}": (
            f"decoder.blocks.{{i}}.cross_attention.{ours}.{{kind}}"
        )
        for theirs, ours in ATTENTION.items()
    },
    "model.{stack}.layers.{i}.self_attn_layer_norm.{kind}": (
        "{stack}.blocks.{i}.around_self_attention.norm.{kind}"
    ),
    "model.{stack}.layers.{i}.encoder_attn_layer_norm.{kind}": (
        "{stack}.blocks.{i}.around_cross_attention.norm.{kind}"
    ),
    "model.{stack}.layers.{i}.final_layer_norm.{kind}": (
        "{stack}.blocks.{i}.around_feed_forward.norm.{kind}"
    ),
    "model.{stack}.layers.{i}.fc1.{kind}": "{stack}.blocks.{i}.feed_forward.W_1.{kind}",
    "model.{stack}.layers.{i}.fc2.{kind}": "{stack}.blocks.{i}.feed_forward.W_2.{kind}",
}
IGNORED = ("model.{stack}.embed_positions.weight",)  # the sinusoids, which we compute

VOCABULARY_FILES = ("source.spm", "target.spm", "vocab.json")


def from_pretrained(name: str | Path) -> Transformer:
    """Our Transformer with a Marian checkpoint's weights, ready to translate (dropout off).

    Args:
        name: a folder, or an id on the hub such as "Helsinki-NLP/opus-mt-en-de".

    Raises:
        FileNotFoundError: where there is no such checkpoint.
        ValueError: for one whose sizes, options or names we do not know; they are listed.
    """
    folder = hugging_face.checkpoint_folder(name)
    model = Transformer(transformer_config(hugging_face.read_config(folder)))
    state = hugging_face.rename(hugging_face.read_state(folder), KEY_MAP, IGNORED)
    if "output_bias" in state:
        state["output_bias"] = state["output_bias"].flatten()  # saved as (1, vocab_size)
    hugging_face.load_into(model, state)
    sines_first(model)
    return model.eval()


class MarianPositions(SinusoidalPositions):
    """Marian's order of the sinusoids: all sines, then all cosines, instead of taking turns. They
    are saved with the model, for whoever reads it could not know.
    """

    def __init__(self, d_model: int, max_len: int = 5000):
        super().__init__(d_model, max_len)
        self.register_buffer("positions", self.computed(max_len, d_model), persistent=True)

    @staticmethod
    def computed(n: int, d_model: int) -> Float[Tensor, "n d_model"]:
        """The table."""
        table = sinusoidal_positions(n, d_model)
        return torch.cat([table[:, 0::2], table[:, 1::2]], dim=1)


def sines_first(model: Transformer) -> None:
    """Give the model Marian's positions, in place of its own."""
    own = model.positions.positions
    model.positions = MarianPositions(own.shape[1], len(own)).to(own)


def transformer_config(theirs: dict[str, Any]) -> TransformerConfig:
    """Our configuration from a checkpoint's config.json.

    Raises:
        ValueError: for an encoder and a decoder of different sizes, or an option that our
            Transformer does not have.
    """
    theirs = DEFAULTS | theirs
    problems = [
        f"{name} = {theirs.get(name)}"
        for name, expected in EXPECTED.items()
        if theirs.get(name) != expected
    ]
    pairs = [
        (f"encoder_{size}", f"decoder_{size}") for size in ("layers", "attention_heads", "ffn_dim")
    ]
    problems += [
        f"{a} = {theirs[a]} but {b} = {theirs[b]}" for a, b in pairs if theirs[a] != theirs[b]
    ]
    if theirs["activation_function"] not in hugging_face.ACTIVATIONS:
        problems.append(f"activation_function = {theirs['activation_function']!r}")
    if problems:
        raise ValueError(f"our Transformer has no such option: {'; '.join(problems)}")
    sizes = {ours: theirs[name] for name, ours in SIZES.items()}
    return TransformerConfig(
        **sizes,
        activation=hugging_face.ACTIVATIONS[theirs["activation_function"]],
    )


class MarianVocabulary:
    """The checkpoint's two SentencePiece models, one a language, and the table that numbers the
    pieces of both.

    Text is cut as it is: we leave out the clean-up of quotation marks and dashes that the models'
    training texts went through (it needs another package and changes few sentences).

    Raises:
        FileNotFoundError: where a file is missing.
        ImportError: without the package `sentencepiece`.
    """

    def __init__(self, name: str | Path):
        try:
            from sentencepiece import SentencePieceProcessor
        except ModuleNotFoundError:
            raise ImportError(
                "Marian's vocabulary is read by the package sentencepiece, which is not installed "
                "here: pip install sentencepiece"
            ) from None
        folder = hugging_face.checkpoint_folder(name, VOCABULARY_FILES)
        missing = [file for file in VOCABULARY_FILES if not (folder / file).exists()]
        if missing:
            raise FileNotFoundError(f"{folder} holds no vocabulary: {', '.join(missing)} missing")
        self.source = SentencePieceProcessor(model_file=str(folder / "source.spm"))
        self.target = SentencePieceProcessor(model_file=str(folder / "target.spm"))
        self.ids: dict[str, int] = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
        self.pieces = {i: piece for piece, i in self.ids.items()}
        self.pad, self.end, self.unknown = (self.ids[piece] for piece in ("<pad>", "</s>", "<unk>"))

    def __len__(self) -> int:
        return len(self.ids)

    def encode(self, text: str) -> list[int]:
        """A source sentence's token ids, the end token last. A language code such as ">>deu<<" in
        front of it is one token.
        """
        code = []
        if text.startswith(">>") and "<<" in text:
            code = [text[: text.index("<<") + 2]]
            text = text[len(code[0]) :]
        pieces = code + self.source.encode(text, out_type=str)
        return [self.ids.get(piece, self.unknown) for piece in pieces] + [self.end]

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of target tokens; the end token and padding are left out.

        Raises:
            ValueError: for an id that the vocabulary does not have.
        """
        strange = [token for token in tokens if token not in self.pieces]
        if strange:
            raise ValueError(
                f"token id {strange[0]} is not among the vocabulary's {len(self)}, 0 … "
                f"{len(self) - 1}"
            )
        return self.target.decode(
            [self.pieces[token] for token in tokens if token not in (self.pad, self.end)]
        )

    def batch(self, texts: Sequence[str]) -> tuple[Int[Tensor, "batch n"], Int[Tensor, " batch"]]:
        """Source sentences as one tensor, padded on the right, and their lengths.

        Raises:
            ValueError: for no sentences at all, or one text in place of several.
        """
        check_several_texts(texts)
        if not texts:
            raise ValueError("no sentences: at least one is needed")
        return pad([self.encode(text) for text in texts], self.pad)


def translate(
    model: Transformer,
    vocabulary: MarianVocabulary,
    texts: Sequence[str],
    width: int = 4,
    alpha: float = 0.6,
    max_len: int = 256,
) -> list[str]:
    """Translate sentences by beam search; the decoder begins with the padding token, which it must
    never choose.

    Raises:
        ValueError: where the vocabulary and the model do not have the same number of tokens, and as
            `decoding.n_best` does.
    """
    if len(vocabulary) != model.config.vocab_size:
        raise ValueError(
            f"the vocabulary has {len(vocabulary)} tokens, the model {model.config.vocab_size}: "
            f"they do not belong together"
        )
    source, lengths = vocabulary.batch(texts)
    device = model.embedding.weight.device
    found = beam(
        model,
        source.to(device),
        lengths.to(device),
        width=width,
        alpha=alpha,
        begin=vocabulary.pad,
        end=vocabulary.end,
        max_len=max_len,
        never=[vocabulary.pad],
    )
    return [vocabulary.decode(sentence) for sentence in found.sentences()]
