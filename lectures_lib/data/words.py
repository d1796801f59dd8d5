"""Words to numbers and back: the simplest vocabulary there is (chapter 1; chapter 7 shows what is
wrong with it).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from lectures_lib.checks.tensors import whole_numbers

# The numbers of the four tokens that are no words, the same for every vocabulary of the course.
PAD, BOS, EOS, UNK = 0, 1, 2, 3
SPECIAL = ("<pad>", "<s>", "</s>", "<unk>")


class WordVocabulary:
    """A fixed list of words; any other word becomes `<unk>`.

    Args:
        words: the words, without repetition. The first gets number 4, after the special tokens.

    Raises:
        ValueError: for a word that stands there twice, or is a special token's name.
    """

    def __init__(self, words: Iterable[str]):
        _check_words("words", words)
        self.words = [*SPECIAL, *words]
        self.ids = {word: i for i, word in enumerate(self.words)}
        if len(self.ids) < len(self.words):
            twice = [word for word, n in Counter(self.words).items() if n > 1]
            raise ValueError(
                f"words must differ from each other and from {', '.join(SPECIAL)}; more than once: "
                f"{', '.join(twice)}"
            )

    @classmethod
    def build(cls, sentences: Iterable[Sequence[str]], min_count: int = 1) -> "WordVocabulary":
        """The words that occur at least `min_count` times, the most frequent first, equally
        frequent ones by alphabet.
        """
        sentences = list(sentences) if not isinstance(sentences, str) else sentences
        for sentence in [sentences, *sentences]:
            _check_words("a sentence", sentence)
        counts = Counter(word for sentence in sentences for word in sentence)
        frequent = [word for word, n in counts.items() if n >= min_count and word not in SPECIAL]
        return cls(sorted(frequent, key=lambda word: (-counts[word], word)))

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, sentence: Sequence[str], *, bos: bool = False, eos: bool = False) -> list[int]:
        """The numbers of the words, on request with `<s>` before and `</s>` after them.

        Raises:
            TypeError: for one string, whose characters are no words.
        """
        _check_words("a sentence", sentence)
        ids = [self.ids.get(word, UNK) for word in sentence]
        return [BOS] * bos + ids + [EOS] * eos

    def decode(self, ids: Iterable[int]) -> list[str]:
        """The words up to the first `</s>`, without padding and `<s>`.

        Raises:
            TypeError: for text in place of numbers.
            ValueError: for a number that is not in the vocabulary.
        """
        words = []
        for i in whole_numbers(ids):
            if not 0 <= i < len(self):
                raise ValueError(f"token {i} is not in this vocabulary of {len(self)} words")
            if i == EOS:
                break
            if i not in (PAD, BOS):
                words.append(self.words[i])
        return words


def _check_words(what: str, given: Any) -> None:
    """Refuse text that was not cut into words: its characters would be taken for them."""
    if isinstance(given, str):
        raise TypeError(
            f"{what} must be a list of words, got the text {given!r:.60}: cut it, for example by "
            f".split()"
        )
