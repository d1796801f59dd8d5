"""Claims about sentence vectors: whether their cosines agree with people, and what they miss."""

import ast
from pathlib import Path

from claims import Found, found
from claims.measured import measured
from lectures_lib.models import minilm
from lectures_lib.tasks.sentence_bert import SentenceBert

ROOT = Path(__file__).resolve().parents[2]


def cosines_and_people() -> Found:
    """Measured: Spearman's correlation of cosines with people's scores on STS-B, MiniLM's and those
    of counted words.
    """
    vectors = measured("sentence_vectors")
    ours, counted = vectors("untrained/mean/after_5/spearman"), vectors("untrained/tf_idf/spearman")
    inside = vectors("untrained/mean/after_2/spearman")
    return found(ours > 0.8 > counted, ours=ours, counted=counted, inside=inside)


def triples() -> dict[str, list[list[str]]]:
    """Chapter 18's sentences, by kind: one, a paraphrase of it, and one that looks the same and
    means something else.
    """
    tree = ast.parse((ROOT / "notebooks" / "18_after_bert.py").read_text(encoding="utf-8"))
    (text,) = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and [ast.unparse(t) for t in node.targets] == ["TRIPLES"]
    ]
    groups: dict[str, list[list[str]]] = {}
    kind = ""
    for line in ast.literal_eval(text).strip().split("\n"):
        if line.startswith("- "):
            groups[kind].append([line.removeprefix("- ")])
        elif line.startswith("  "):
            groups[kind][-1].append(line.strip())
        else:
            kind = line
            groups[kind] = []
    return groups


def tricky_phenomena() -> Found:
    """In how many triples of each kind MiniLM's vector of the sentence is nearer to the paraphrase
    than to the look-alike.
    """
    encoder, right = SentenceBert.from_pretrained(minilm.checkpoint()), {}
    for kind, rows in triples().items():
        sentence, paraphrase, look_alike = (
            encoder.embed(column) for column in zip(*rows, strict=True)
        )
        right[kind] = int(
            ((sentence * paraphrase).sum(dim=-1) > (sentence * look_alike).sum(dim=-1)).sum()
        )
    tricky = ("negation", "word order", "numbers")
    return found(
        right["another topic"] == 8 and all(right[kind] < 4 for kind in tricky),
        topic=right["another topic"],
        negation=right["negation"],
        order=right["word order"],
        numbers=right["numbers"],
    )
