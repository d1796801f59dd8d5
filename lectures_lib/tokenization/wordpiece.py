"""WordPiece, the tokenizer of BERT: the longest piece that fits, then the longest that fits the
rest (chapter 7b).

A piece that continues a word is written with ## before it: "tokens" is token ##s. A word that the
pieces cannot spell becomes [UNK] as a whole. How a vocabulary is applied stands in BERT's public
code, and is reproduced here; how one is learned is the subject of `wordpiece_training`.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import regex

from lectures_lib.tokenization import files
from lectures_lib.tokenization.base import EncodedWord, Encoding, Tokenizer, count_words
from lectures_lib.tokenization.basic import BasicTokenizer
from lectures_lib.tokenization.pairs import Merge
from lectures_lib.tokenization.vocabulary import Vocabulary, check_several
from lectures_lib.tokenization.wordpiece_training import (
    CONTINUES,
    SCORES,
    Score,
    frequent_characters,
    learn_pieces,
)

KIND = "WordPiece"
SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")  # BERT's
# in characters; a longer one is [UNK], as in Hugging Face's tokenizer (BERT's code now allows 200)
LONGEST_WORD = 100


class Spelled(NamedTuple):
    """One piece of a word: its id, and the characters `word[start:end]` that it stands for."""

    id: int
    start: int
    end: int


class PairEncoding(NamedTuple):
    """What BERT reads: [CLS] first [SEP], or [CLS] first [SEP] second [SEP].

    `segments` is 0 up to the first [SEP], 1 behind it. `offsets` refer to the text that the token
    came from; those of [CLS] and [SEP] are (0, 0).
    """

    ids: list[int]
    tokens: list[str]
    offsets: list[tuple[int, int]]
    segments: list[int]


class WordPiece(Tokenizer):
    """WordPiece: `WordPiece.train(texts, 8000)` learns one, `WordPiece.load(path)` reads ours or
    BERT's `vocab.txt`.

    Args:
        vocabulary: special tokens ([UNK] among them) and pieces.
        basic: how a text is cleaned and cut into words before.
        merges: how the pieces were learned, where that is known; encoding does not need it.

    Raises:
        ValueError: for a vocabulary without [UNK].
    """

    # what stands between white space; `basic` cuts it further
    word_pattern = regex.compile(r"[^\t\n\r\p{Z}]+")

    def __init__(
        self,
        vocabulary: Vocabulary,
        basic: BasicTokenizer = BasicTokenizer(),  # noqa: B008
        merges: Sequence[Merge] = (),
    ):
        super().__init__(vocabulary)
        self.basic = basic
        self.merges = list(merges)
        self._unknown = vocabulary.id("[UNK]")
        self._longest_piece = max(map(len, vocabulary.tokens))

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        vocab_size: int,
        specials: Sequence[str] = SPECIALS,
        *,
        lowercase: bool = True,
        strip_accents: bool | None = None,
        alphabet_size: int = 1000,
        min_count: int = 2,
        score: Score = "likelihood",
    ) -> "WordPiece":
        """Learn pieces until there are `vocab_size` tokens, or no pair is left that is worth
        merging.

        Args:
            texts: what to learn from.
            vocab_size: tokens in all: special ones, every character twice (as it is and with ##),
                one for each merge.
            specials: special tokens, [UNK] among them; they get the ids 0, 1, …
            lowercase: whether to write everything small.
            strip_accents: whether to drop accents; None: if lowercase.
            alphabet_size: the most frequent characters that are kept; words with another one are
                [UNK].
            min_count: a pair that stands side by side less often is not merged.
            score: which pair to merge next; see `wordpiece_training`.

        Raises:
            TypeError: for one string as specials.
            ValueError: for a vocabulary too small for the characters and special tokens, texts
                without a word in them, or no such score.
        """
        check_several("specials", specials)
        if score not in SCORES:
            raise ValueError(f"no score named {score!r}; there is: {', '.join(SCORES)}")
        basic = BasicTokenizer(lowercase, strip_accents)
        words: dict[str, int] = {}
        for chunk, count in count_words(texts, cls.word_pattern.findall).items():
            for word, _ in basic.words(chunk):
                words[word] = words.get(word, 0) + count
        if not words:
            raise ValueError("nothing to learn from: texts of characters that are cleaned away")
        alphabet = frequent_characters(words, alphabet_size)
        vocabulary = Vocabulary(
            [*specials, *alphabet, *(CONTINUES + character for character in alphabet)], specials
        )
        if vocab_size < len(vocabulary):
            smallest = (
                f"{len(alphabet)} characters, each twice, and {len(specials)} special tokens need "
                f"at least {len(vocabulary)}"
            )
            raise ValueError(
                f"a vocabulary of {vocab_size} tokens is too small: {smallest}; a smaller "
                f"alphabet_size needs less"
            )
        spellable = {
            word: n
            for word, n in words.items()
            if len(word) <= LONGEST_WORD and set(word) <= set(alphabet)
        }
        return cls(
            vocabulary, basic, learn_pieces(spellable, vocabulary, vocab_size, min_count, score)
        )

    def add_special(self, token: str) -> int:
        """Make `token` special; a new one gets the next id. Returns its id.

        Only its name as it is becomes the special token. Where "cat" is special, "CAT" is a word
        like others, and spelled with other pieces, or, where there are none, [UNK].
        """
        special = super().add_special(token)
        self._memory.clear()  # of words that were spelled with it
        return special

    def encode_word(self, word: str) -> EncodedWord:
        """What stands between two white spaces: cleaned, cut at signs, each part spelled. Dropped
        characters belong to no token.
        """
        ids, offsets = [], []
        for part, origins in self.basic.words(word):
            for piece in self.spell(part):
                ids.append(piece.id)
                offsets.append((origins[piece.start], origins[piece.end - 1] + 1))
        return EncodedWord(ids, offsets)

    def spell(self, word: str) -> list[Spelled]:
        """The pieces of one clean word: from the left, always the longest that fits. One that
        cannot be spelled is [UNK].
        """
        unknown = [Spelled(self._unknown, 0, len(word))]
        if len(word) > LONGEST_WORD:
            return unknown
        pieces, start = [], 0
        while start < len(word):
            piece = self._longest_match(word, start)
            if piece is None:
                return unknown
            pieces.append(piece)
            start = piece.end
        return pieces

    def pair(
        self, first: str, second: str | None = None, max_length: int | None = None
    ) -> PairEncoding:
        """One text, or two, as BERT reads them: with [CLS], [SEP] and the number of the segment.

        What is too long is cut at the end of the longer text (of two equally long ones, the
        second), token by token, as BERT's code does.

        Raises:
            ValueError: where [CLS], [SEP] and one token of each text do not fit into max_length, or
                are not in the vocabulary.
        """
        texts = (
            [self.tokenize(first)]
            if second is None
            else [self.tokenize(first), self.tokenize(second)]
        )
        if max_length is not None:
            least = 1 + 2 * len(texts)
            if max_length < least:
                raise ValueError(
                    f"[CLS], {len(texts)} [SEP] and a token of each text need a max_length of "
                    f"{least}, got {max_length}"
                )
            texts = _shorten(texts, max_length - 1 - len(texts))
        pair = PairEncoding([self.token_id("[CLS]")], ["[CLS]"], [(0, 0)], [0])
        for segment, text in enumerate(texts):
            pair.ids.extend([*text.ids, self.token_id("[SEP]")])
            pair.tokens.extend([*text.tokens, "[SEP]"])
            pair.offsets.extend([*text.offsets, (0, 0)])
            pair.segments.extend([segment] * (len(text.ids) + 1))
        return pair

    def decode(self, ids: Iterable[int], skip_specials: bool = False) -> str:
        """The pieces put together, with a space between words. Not the text: case, accents and
        white space were lost before.

        Raises:
            ValueError: for an id that is out of range.
        """
        tokens = self.known_tokens(ids, skip_specials)
        return "".join(
            token.removeprefix(CONTINUES) if token.startswith(CONTINUES) else f" {token}"
            for token in tokens
        ).lstrip(" ")

    def save(self, path: Path | str) -> None:
        """Write the tokenizer as JSON: how text is cleaned, the merges, and the tokens by id."""
        record = {
            "kind": KIND,
            "lowercase": self.basic.lowercase,
            "strip_accents": self.basic.strips_accents,
            "specials": list(self.vocabulary.specials),
            "merges": [merge.line() for merge in self.merges],
            "tokens": self.vocabulary.tokens,
        }
        files.write(path, record)

    @classmethod
    def load(cls, path: Path | str) -> "WordPiece":
        """The tokenizer that `save` wrote, or, for a path that ends in .txt, that of BERT's
        "uncased" models (see `from_vocab_txt`).

        Raises:
            FileNotFoundError: where there is no such file.
            ValueError: for a file that is damaged; the message says where.
        """
        if Path(path).suffix == ".txt":
            return cls.from_vocab_txt(path)
        record = files.read(
            path,
            KIND,
            {
                "lowercase": bool,
                "strip_accents": bool,
                "specials": list,
                "merges": list,
                "tokens": list,
            },
        )
        with files.blame(path):
            basic = BasicTokenizer(record["lowercase"], record["strip_accents"])
            return cls(
                Vocabulary(record["tokens"], record["specials"]),
                basic,
                [Merge.read(line) for line in record["merges"]],
            )

    @classmethod
    def from_vocab_txt(
        cls, path: Path | str, lowercase: bool = True, strip_accents: bool | None = None
    ) -> "WordPiece":
        """A tokenizer from the `vocab.txt` of a published BERT: one token a line, the first has id
        0.

        The file does not say how to clean the text: lowercase is right for an "uncased" model,
        `lowercase=False` for a "cased" one.

        Raises:
            FileNotFoundError: where there is no such file.
            ValueError: for a file that is damaged; the message says where.
        """
        with files.blame(path):
            lines = Path(path).read_text(encoding="utf-8").removesuffix("\n").split("\n")
            return cls(
                Vocabulary(lines, [token for token in SPECIALS if token in lines]),
                BasicTokenizer(lowercase, strip_accents),
            )

    def _longest_match(self, word: str, start: int) -> Spelled | None:
        prefix = CONTINUES if start else ""
        for end in range(min(len(word), start + self._longest_piece), start, -1):
            name = prefix + word[start:end]
            piece = self.vocabulary.ids.get(name)
            if piece is not None and name not in self.vocabulary.specials:
                return Spelled(piece, start, end)
        return None


def _shorten(texts: list[Encoding], room: int) -> list[Encoding]:
    lengths = [len(text.ids) for text in texts]
    while sum(lengths) > room:
        longer = 0 if lengths[0] > lengths[-1] else len(texts) - 1
        lengths[longer] -= 1
    return [
        Encoding(text.ids[:n], text.tokens[:n], text.offsets[:n])
        for text, n in zip(texts, lengths, strict=True)
    ]
