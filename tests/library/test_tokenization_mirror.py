"""Both tokenizers on all of WikiText-2, from a mirror of the data: the same merges and the same ids
as the `tokenizers` library.
"""

import time

import pytest
from tokenizers import Tokenizer

from lectures_lib import data
from lectures_lib.models.minilm import checkpoint
from lectures_lib.tokenization import BPE, WordPiece
from tests.helpers.tokenizer_peers import learned, pairs, peer_of

WIKITEXT = "Salesforce/wikitext/wikitext-2-v1"
pytestmark = [
    pytest.mark.mirror(WIKITEXT),
    # the checks cost more than what they check: millions of calls with lists of ids
    pytest.mark.usefixtures("shapes_unchecked"),
]
N_MERGES = 8000


@pytest.fixture(scope="module")
def splits() -> dict[str, list[str]]:
    return {
        name: [row["text"] for row in data.read_split(WIKITEXT, name)[0]] for name in data.SPLITS
    }


# Each change reads a tenth of the text, the night all of it.
TRAINED_ON = [
    pytest.param("validation", id="a tenth"),
    pytest.param("train", marks=pytest.mark.long, id="all"),
]


def compared(name, splits):
    """The texts on which ids are compared: all splits where training is on all, else the
    smallest.
    """
    return (
        splits.values() if name == "train" else [splits["test"][:1000], splits["validation"][:1000]]
    )


@pytest.mark.parametrize("name", TRAINED_ON)
def test_bpe_learns_the_same_merges_and_gives_the_same_ids(splits, name):
    train = splits[name]
    ours, peer = BPE.train(train, 256 + N_MERGES), peer_of(train, 256 + N_MERGES)
    assert len(ours.merges) == N_MERGES
    assert pairs(ours) == learned(peer) and ours.vocabulary.ids == peer.get_vocab()
    for texts in compared(name, splits):
        for text, theirs in zip(texts, peer.encode_batch(texts), strict=True):
            encoding = ours.tokenize(text)
            assert (
                encoding.ids == theirs.ids == ours.encode(text)
                and encoding.offsets == theirs.offsets
            )
            assert ours.decode(encoding.ids) == text


@pytest.mark.long
def test_bpe_is_fast_enough(splits):
    """In seconds of this process: 36,718 lines learned in a minute, a million bytes encoded in a
    second.
    """
    train = splits["train"]
    assert len(train) == 36_718
    start = time.process_time()
    ours = BPE.train(train, 256 + N_MERGES)
    trained = time.process_time()
    for text in train:
        ours.encode(text)
    encoded = time.process_time()
    assert (
        trained - start < 60
        and sum(len(text.encode()) for text in train) / (encoded - trained) > 1e6
    )


@pytest.mark.parametrize("name", TRAINED_ON)
def test_wordpiece_gives_the_same_ids(splits, name):
    ours, peer = (
        WordPiece.load(checkpoint() / "vocab.txt"),
        Tokenizer.from_file(str(checkpoint() / "tokenizer.json")),
    )
    peer.no_padding()
    peer.no_truncation()
    for texts in compared(name, splits):
        for text, theirs in zip(
            texts, peer.encode_batch(texts, add_special_tokens=False), strict=True
        ):
            encoding = ours.tokenize(text)
            assert (
                encoding.ids == theirs.ids == ours.encode(text)
                and encoding.offsets == theirs.offsets
            )


@pytest.mark.parametrize("name", TRAINED_ON)
def test_wordpiece_learns_a_vocabulary_that_spells_all_words(splits, name):
    train = splits[name]
    ours = WordPiece.train(train, 8000)
    assert len(ours) == 8000
    ids = [i for text in train for i in ours.encode(text)]
    assert ours.token_id("[UNK]") not in ids
    words = sum(len(ours.basic.words(text)) for text in train)
    assert len(ids) < 1.25 * words
