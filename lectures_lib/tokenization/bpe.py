"""Byte pair encoding: start from bytes, merge the most frequent pair, again and again (chapter 7;
Sennrich et al. 2016, section 3.2).

This is the byte-level variant of GPT-2 (Radford et al. 2019, section 2.2). It knows no unknown
token: any text can be encoded, and decoding gives it back exactly.

Read `plain_bpe` first: the idea fits into two functions there, `learn` and `merge`. `learn_merges`
and `apply_merges`, which the class uses, do the same without going through the whole corpus, or the
whole word, at every merge; they know special tokens, too, and break ties between equally frequent
pairs by their own ids.

A symbol is an id of the vocabulary here, and a `Merge` names its two tokens as they are printed:
what is the pair (105, 110) there is "i" and "n".
"""

import heapq
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

from lectures_lib.tokenization import byte_level, files
from lectures_lib.tokenization.base import EncodedWord, Tokenizer, check_text, count_words
from lectures_lib.tokenization.pairs import Merge, PairCounts
from lectures_lib.tokenization.plain_bpe import Pair
from lectures_lib.tokenization.vocabulary import Vocabulary, check_several

KIND = "byte-level BPE"


class BPE(Tokenizer):
    """Byte-level BPE: `BPE.train(texts, 8000)` learns one, `BPE.load(path)` reads one.

    Args:
        vocabulary: special tokens, the 256 bytes and a token for each merge, as visible characters
            (`byte_level.visible`).
        merges: what was learned, in order. The earlier a pair was learned, the earlier it is merged
            in a new word.

    Raises:
        ValueError: where the vocabulary lacks a byte or a token that a merge needs or makes, or a
            merge makes a special token.
    """

    word_pattern = byte_level.WORD  # GPT-2's cut: " it's 42!" is " it", "'s", " 42", "!"

    def __init__(self, vocabulary: Vocabulary, merges: Sequence[Merge]):
        super().__init__(vocabulary)
        self.merges = list(merges)
        # What a word begins as: the id of each byte.
        self._ids_of_bytes = [
            vocabulary.id(byte_level.CHARACTER_OF_BYTE[byte]) for byte in range(256)
        ]
        # The way back: the bytes that each token stands for; a special one stands for none.
        self._bytes = {
            token: byte_level.to_bytes(token)
            for token in vocabulary.tokens
            if token not in vocabulary.specials
        }
        # Which pairs of ids merge: how early (0 is the first), and into which id.
        self._rules: dict[Pair, tuple[int, int]] = {}
        for rank, (left, right, _) in enumerate(self.merges):
            _check_makes_no_special(left, right, vocabulary)
            pair = vocabulary.id(left), vocabulary.id(right)
            self._rules[pair] = rank, vocabulary.id(left + right)

    @classmethod
    def train(
        cls, texts: Iterable[str], vocab_size: int, specials: Sequence[str] = (), min_count: int = 2
    ) -> "BPE":
        """Learn merges until there are `vocab_size` tokens, or no pair is left that stands
        `min_count` times in the texts.

        The names of special tokens are ordinary text to the trainer, but no merge makes one of
        them.

        Args:
            texts: what to learn from; each is cut into words on its own.
            vocab_size: tokens in all: special ones, 256 bytes, one for each merge.
            specials: special tokens; they get the ids 0, 1, …
            min_count: a rarer pair is not merged.

        Raises:
            TypeError: for one string as specials.
            ValueError: for a vocabulary too small for bytes and special tokens, texts without a
                word in them, or a special token with the name of a byte.
        """
        check_several("specials", specials)
        _check_names(specials)
        vocabulary = Vocabulary([*specials, *byte_level.ALPHABET], specials)
        if vocab_size < len(vocabulary):
            raise ValueError(
                f"a vocabulary of {vocab_size} tokens is too small: 256 bytes and {len(specials)} "
                f"special tokens need at least {len(vocabulary)}"
            )
        words = count_words(texts, cls.word_pattern.findall)
        return cls(vocabulary, learn_merges(words, vocabulary, vocab_size, min_count))

    def add_special(self, token: str) -> int:
        """Make `token` special; it gets the next id. Returns its id.

        Raises:
            ValueError: for the name of a token that stands for another text, as "Ġthe" does:
                decoded, the two would be the same.
        """
        if token in self._bytes:
            text = self._bytes[token].decode("utf-8", errors="replace")
            if text != token:
                raise ValueError(
                    f"{token!r} is the token of the text {text!r} and cannot be special too: "
                    f"choose another name"
                )
        special = super().add_special(token)
        # Its name is cut out of a text before anything merges: a merge that makes it has no work.
        self.merges = [merge for merge in self.merges if merge.left + merge.right != token]
        self._rules = {pair: rule for pair, rule in self._rules.items() if rule[1] != special}
        return special

    def encode_word(self, word: str) -> EncodedWord:
        """One word: its bytes, merged as learned. Tokens that share the bytes of a character all
        stand for that character.
        """
        ids = apply_merges([self._ids_of_bytes[byte] for byte in word.encode("utf-8")], self._rules)
        character_of = byte_level.character_of_each_byte(word)
        offsets, start = [], 0  # start: the token's first byte
        for i in ids:
            end = start + len(self.vocabulary.tokens[i])  # a visible character for each byte
            offsets.append((character_of[start], character_of[end - 1] + 1))
            start = end
        return EncodedWord(ids, offsets)

    def decode(self, ids: Iterable[int], skip_specials: bool = False) -> str:
        """The text of the ids, special tokens by their names unless they are skipped.
        `decode(encode(text)) == text` for every text.

        Other ids may end within a character (a model can generate such); each broken one becomes
        U+FFFD, the replacement character.

        Raises:
            ValueError: for an id that is out of range.
        """
        tokens = self.known_tokens(ids, skip_specials)
        specials = self.vocabulary.specials
        spelled = (
            token.encode("utf-8") if token in specials else self._bytes[token] for token in tokens
        )
        return b"".join(spelled).decode("utf-8", errors="replace")

    def save(self, path: Path | str) -> None:
        """Write the tokenizer as JSON: the tokens by id, and the merges, each as "left right count"
        (the count is how often the two stood side by side when they were merged).
        """
        record = {
            "kind": KIND,
            "specials": list(self.vocabulary.specials),
            "merges": [merge.line() for merge in self.merges],
            "tokens": self.vocabulary.tokens,
        }
        files.write(path, record)

    @classmethod
    def load(cls, path: Path | str) -> "BPE":
        """The tokenizer that `save` wrote.

        Raises:
            FileNotFoundError: where there is no such file.
            ValueError: for a file that is damaged; the message says where.
        """
        record = files.read(path, KIND, {"specials": list, "merges": list, "tokens": list})
        with files.blame(path):
            return cls(
                Vocabulary(record["tokens"], record["specials"]),
                [Merge.read(line) for line in record["merges"]],
            )


def learn_merges(
    words: dict[str, int], vocabulary: Vocabulary, vocab_size: int, min_count: int
) -> list[Merge]:
    """`plain_bpe.learn`, faster: merge the most frequent pair of the words until the vocabulary has
    `vocab_size` tokens. Adds those tokens to it.

    Of equally frequent pairs, the one whose tokens came first into the vocabulary wins: nothing
    depends on the order of the words.

    Args:
        words: the words and how often each occurs.
        vocabulary: special tokens and bytes; it grows.
        vocab_size: where to stop.
        min_count: a rarer pair is not merged.

    Returns:
        The merges in the order in which they were learned.
    """
    spelled = [
        [vocabulary.ids[character] for character in byte_level.visible(word.encode("utf-8"))]
        for word in words
    ]
    counts = PairCounts(spelled, list(words.values()))
    # A heap gives its smallest entry first: the highest count, then the pair with the lowest ids.
    queue = [(-count, pair) for pair, count in counts.of.items()]
    heapq.heapify(queue)
    merges: list[Merge] = []
    while queue and len(vocabulary) < vocab_size:
        negative_count, pair = heapq.heappop(queue)
        count = counts.of[pair]
        # an old entry: the count has changed since, and was queued again when it did
        if count != -negative_count:
            continue
        if count < max(min_count, 1):
            break
        left, right = (vocabulary.tokens[i] for i in pair)
        if left + right in vocabulary.specials:
            continue  # text must not become a special token
        merges.append(Merge(left, right, count))
        for changed in counts.merge(pair, vocabulary.add(left + right)).pairs:
            heapq.heappush(queue, (-counts.of[changed], changed))
    return merges


def _check_makes_no_special(left: str, right: str, vocabulary: Vocabulary) -> None:
    if left + right in vocabulary.specials:
        raise ValueError(
            f"the merge of {left!r} and {right!r} makes a special token: text could not be told "
            f"from it"
        )


def _check_names(specials: Sequence[str]) -> None:
    for token in specials:
        if check_text(token) in byte_level.BYTE_OF_CHARACTER:
            raise ValueError(
                f"{token!r} stands for a byte and cannot be a special token too: choose another "
                f"name"
            )


GONE = -1


def apply_merges(symbols: Sequence[int], rules: dict[Pair, tuple[int, int]]) -> list[int]:
    """`plain_bpe.merge`, faster: merge the pair that was learned first (of several, the leftmost),
    again and again, until no learned pair is left.

    A queue holds the pairs that may merge, so that a word of a million symbols is no harder per
    symbol than a short one.

    Args:
        symbols: the ids of a word's bytes.
        rules: for each pair that was learned, its rank and the id that it becomes.
    """
    symbols, n = list(symbols), len(symbols)
    # the neighbours of each symbol that is still there
    before, after = list(range(-1, n - 1)), list(range(1, n + 1))
    queue = [(rules[pair][0], i) for i, pair in enumerate(pairwise(symbols)) if pair in rules]
    heapq.heapify(queue)
    while queue:
        rank, i = heapq.heappop(queue)
        j = after[i]
        if j == n or rules.get((symbols[i], symbols[j]), (GONE, GONE))[0] != rank:
            continue  # the pair that was queued has become part of another
        symbols[i], symbols[j] = rules[symbols[i], symbols[j]][1], GONE
        after[i] = after[j]
        if after[i] < n:
            before[after[i]] = i
        # the new symbol may merge with its left or its right neighbour
        for start in (before[i], i):
            if start >= 0 and after[start] < n and (symbols[start], symbols[after[start]]) in rules:
                heapq.heappush(queue, (rules[symbols[start], symbols[after[start]]][0], start))
    return [symbol for symbol in symbols if symbol != GONE]
