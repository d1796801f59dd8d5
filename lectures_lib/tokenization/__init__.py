"""Text to tokens and back: byte-level BPE and WordPiece, trained and applied from scratch
(chapters 7 and 7b).

To read in this order: `plain_bpe` (the algorithm on one page), `pairs` (its counts, kept up to
date), `bpe`, `basic` (what BERT does to text first), `wordpiece`. Beside them, `byte_level` is
GPT-2's alphabet, `vocabulary` maps tokens to ids, `base` holds what both tokenizers share, `files`
reads and writes.
"""

from lectures_lib.tokenization.base import Encoding, Tokenizer
from lectures_lib.tokenization.basic import BasicTokenizer
from lectures_lib.tokenization.bpe import BPE
from lectures_lib.tokenization.pairs import Merge
from lectures_lib.tokenization.vocabulary import Vocabulary
from lectures_lib.tokenization.wordpiece import PairEncoding, WordPiece

__all__ = [
    "BPE",
    "BasicTokenizer",
    "Encoding",
    "Merge",
    "PairEncoding",
    "Tokenizer",
    "Vocabulary",
    "WordPiece",
]
