"""What BPE and WordPiece share: special tokens, ids, files, and answers to bad input."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lectures_lib.tokenization import BPE, Tokenizer, Vocabulary, WordPiece, base, files

TEXTS = ["the cat sat on the mat", "the dog sat on the log", "a cat and a dog"] * 3
BERTS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


@pytest.fixture(params=["BPE", "WordPiece"])
def tokenizer(request) -> Tokenizer:
    return {"BPE": BPE, "WordPiece": WordPiece}[request.param].train(TEXTS, 300, BERTS)


def test_special_tokens_come_first_and_are_found_in_text(tokenizer):
    assert tokenizer.specials == {token: i for i, token in enumerate(BERTS)}
    encoding = tokenizer.tokenize("the[SEP]cat [MASK]")
    assert [
        (token, offset)
        for token, offset in zip(encoding.tokens, encoding.offsets, strict=True)
        if token in BERTS
    ] == [
        ("[SEP]", (3, 8)),
        ("[MASK]", (12, 18)),
    ]
    assert encoding.ids == tokenizer.encode("the[SEP]cat [MASK]")
    text = "the[SEP]the cat [MASK] cat"
    encoding = tokenizer.tokenize(text)
    cats = [
        text[start:end]
        for token, (start, end) in zip(encoding.tokens, encoding.offsets, strict=True)
        if token.endswith("cat")
    ]
    assert [cat.strip() for cat in cats] == ["cat", "cat"]
    assert [*tokenizer.encode("the"), 3, *tokenizer.encode("cat")] == tokenizer.encode(
        "the[SEP]cat"
    )


def test_special_tokens_can_be_added_and_the_longer_name_wins(tokenizer):
    n = len(tokenizer)
    assert (
        tokenizer.add_special("<s>") == n
        and tokenizer.add_special("<s><s>") == n + 1
        and len(tokenizer) == n + 2
    )
    assert tokenizer.encode("<s><s><s>") == [n + 1, n]
    assert tokenizer.add_special("<s>") == n and len(tokenizer) == n + 2, (
        "adding it again changes nothing"
    )
    assert tokenizer.decode([n, n + 1]).replace(" ", "") == "<s><s><s>"
    assert tokenizer.token_id("<s>") == n


def test_special_tokens_can_be_left_out_of_the_text(tokenizer):
    ids = tokenizer.encode("[CLS]the[SEP]")
    assert tokenizer.decode(ids, skip_specials=True) == "the"
    assert tokenizer.decode(ids).replace(" ", "") == "[CLS]the[SEP]"


def test_an_ordinary_token_can_become_special(tokenizer, tmp_path):
    the = tokenizer.token_id("the")
    assert tokenizer.add_special("the") == the
    assert the in tokenizer.encode("gatherer")
    file = tmp_path / "tokenizer.json"
    tokenizer.save(file)
    back = type(tokenizer).load(file)
    for text in ("gatherer", "the cat", *TEXTS):
        assert back.encode(text) == tokenizer.encode(text)


def test_empty_text(tokenizer):
    assert (
        tokenizer.encode("") == []
        and tokenizer.tokenize("") == ([], [], [])
        and tokenizer.decode([]) == ""
    )


def test_saved_and_loaded_it_does_the_same(tokenizer, tmp_path):
    tokenizer.add_special("<a special>\n")
    tokenizer.save(tmp_path / "tokenizer.json")
    loaded = type(tokenizer).load(tmp_path / "tokenizer.json")
    assert (
        loaded.vocabulary.tokens == tokenizer.vocabulary.tokens
        and loaded.specials == tokenizer.specials
    )
    assert loaded.merges == tokenizer.merges and len(loaded.merges) > 10
    for text in ("the cat, the mat", "[CLS]unheard of: é<a special>\n"):
        assert loaded.tokenize(text) == tokenizer.tokenize(text)
    assert list(tmp_path.iterdir()) == [tmp_path / "tokenizer.json"], "no draft is left behind"


def test_a_write_that_fails_leaves_the_old_file(tokenizer, tmp_path, monkeypatch):
    path = tmp_path / "tokenizer.json"
    write, written = Path.write_text, []

    def record(self, text, **kwargs):
        written.append(self)
        write(self, text, **kwargs)

    def half(self, text, **kwargs):
        record(self, text[: len(text) // 2], **kwargs)
        raise OSError("disk full")

    monkeypatch.setattr(Path, "write_text", record)
    tokenizer.save(path)
    before = path.read_bytes()
    monkeypatch.setattr(Path, "write_text", half)
    with pytest.raises(OSError, match="disk full"):
        tokenizer.save(path)
    assert path.read_bytes() == before and len(written) == 2 and path not in written


def test_what_a_damaged_file_says(tokenizer, tmp_path):
    path = tmp_path / "tokenizer.json"
    tokenizer.save(path)
    whole = path.read_text(encoding="utf-8")
    record = json.loads(whole)

    def says(content: str | bytes, expected: str) -> None:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        with pytest.raises(ValueError, match=expected) as error:
            type(tokenizer).load(path)
        assert str(path) in str(error.value)

    says(whole[: len(whole) // 2], "is damaged: ")
    says(b"\xff\xfe\x00" + whole.encode(), "is damaged: .*can't decode")
    says("", "is damaged: ")
    says("[" * 100_000, "is damaged: ")
    says("[]", "'list'")
    says(json.dumps(record | {"kind": "cake"}), "it says that it is 'cake'")
    says(
        json.dumps({name: field for name, field in record.items() if name != "tokens"}),
        "'tokens' should be a list, found None",
    )
    says(json.dumps(record | {"tokens": [1, 2]}), "'tokens' should hold text only")
    says(json.dumps(record | {"tokens": [*record["tokens"], "the"]}), "'the' stands twice")
    says(json.dumps(record | {"specials": ["[GONE]"]}), r"'\[GONE\]' is not among the \d+ tokens")
    says(json.dumps(record | {"merges": ["t h"]}), "'left right count', found 't h'")


def test_a_file_that_is_not_there(tokenizer, tmp_path):
    with pytest.raises(FileNotFoundError):
        type(tokenizer).load(tmp_path / "nowhere.json")


@pytest.mark.parametrize("i", [-1, 1_000_000])
def test_an_id_out_of_range(tokenizer, i):
    n = len(tokenizer)
    with pytest.raises(
        ValueError,
        match=f"token id {i} is out of range: this vocabulary has {n} tokens, ids 0 to {n - 1}",
    ):
        tokenizer.decode([5, i])
    assert isinstance(tokenizer.decode([0, n - 1]), str)


def test_an_unknown_special_token(tokenizer):
    with pytest.raises(
        ValueError,
        match=r"'\[FOO\]' is not among the \d+ tokens .* special tokens: \[PAD\], \[UNK\]",
    ):
        tokenizer.token_id("[FOO]")


def test_half_a_character(tokenizer):
    for wrong in (
        tokenizer.encode,
        tokenizer.tokenize,
        tokenizer.add_special,
        lambda text: type(tokenizer).train([text], 999),
    ):
        with pytest.raises(
            ValueError, match=r"character 2 of the text is U\+D83D, a lone surrogate"
        ):
            wrong("ab\ud83d")


def test_nothing_to_learn_from(tokenizer):
    for nothing in ([], ["", ""], iter([])):
        with pytest.raises(ValueError, match=r"nothing to learn from: [02] texts with 0 words"):
            type(tokenizer).train(nothing, 999)
    with pytest.raises(ValueError, match=r"several texts, got one of 5 characters"):
        type(tokenizer).train("hello", 999)


def test_a_vocabulary_that_is_too_small():
    with pytest.raises(
        ValueError,
        match="260 tokens is too small: 256 bytes and 5 special tokens need at least 261",
    ):
        BPE.train(TEXTS, 260, BERTS)
    assert len(BPE.train(TEXTS, 261, BERTS)) == 261
    letters = len(set("".join(TEXTS)) - {" "})
    with pytest.raises(
        ValueError,
        match=(
            f"{letters} characters, each twice, and 5 special tokens need at least "
            f"{2 * letters + 5}"
        ),
    ):
        WordPiece.train(TEXTS, 2 * letters + 4)
    assert len(WordPiece.train(TEXTS, 2 * letters + 5)) == 2 * letters + 5


def test_a_token_that_stands_twice_and_a_special_one_without_a_name():
    with pytest.raises(ValueError, match="of 3 tokens, 'a' stands twice"):
        Vocabulary(["a", "b", "a"])
    with pytest.raises(ValueError, match="needs a name"):
        Vocabulary(["a", ""], [""])


def test_the_memory_of_words_is_bounded_and_changes_nothing(tokenizer, monkeypatch):
    text = " ".join(f"word{i % 7} {i}" for i in range(200))
    expected = tokenizer.encode(text)
    monkeypatch.setattr(base, "REMEMBERED_WORDS", 3)
    fresh = type(tokenizer)(tokenizer.vocabulary, merges=tokenizer.merges)
    assert fresh.encode(text) == expected and fresh.tokenize(text).ids == expected
    assert 0 < len(fresh._memory) <= 3
    fresh.encode("x" * (base.REMEMBERED_LENGTH + 1))
    assert "x" * (base.REMEMBERED_LENGTH + 1) not in fresh._memory, "a long word is not kept"


def test_a_json_field_of_the_wrong_type(tmp_path):
    files.write(tmp_path / "a.json", {"kind": "k", "lowercase": "yes"})
    with pytest.raises(ValueError, match="'lowercase' should be a bool, found 'yes'"):
        files.read(tmp_path / "a.json", "k", {"lowercase": bool})


def test_the_library_does_without_its_peers():
    program = (
        "import sys, lectures_lib.tokenization; print(*{'tokenizers', 'transformers', "
        "'sentencepiece'} & set(sys.modules))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == ""
