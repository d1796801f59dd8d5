"""What chapters 1 to 13 say in words about measured numbers, held against the files of results."""

import ast
import itertools
import math
import re
from pathlib import Path

import pytest

from lectures_lib import metrics, results

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


@pytest.mark.parametrize(("direction", "into"), [("de-en", "English"), ("en-de", "German")])
def test_what_beam_and_averaging_add_to_the_translator(direction, into):
    page = " ".join((NOTEBOOKS / "08b_judging.py").read_text("utf-8").replace("\n#", "\n").split())
    least, most, both = re.search(
        rf"adds (\d\.\d) to (\d\.\d) points, and both together .*?(\d\.\d) into {into}", page
    ).groups()
    found = results.load("multi30k_cpu")["results"][direction]
    plain = found["apart"]["last_greedy"]["mean"]
    gains = [found["apart"][name]["mean"] - plain for name in ("last_beam", "mean_greedy")]
    assert all(float(least) - 0.05 <= gain <= float(most) + 0.05 for gain in gains)
    assert found["cased"]["mean"] - plain == pytest.approx(float(both), abs=0.05)
    assert found["cased"]["n"] == 3


def words(number):
    """A chapter's text in one line."""
    (path,) = NOTEBOOKS.glob(f"{number}_*.py")
    return " ".join(path.read_text("utf-8").replace("\n#", "\n").split())


def test_when_the_letters_model_passes_the_tables():
    """Chapter 10: three seeds against tables of pairs and of seven letters, on the first half."""
    found = results.load("language_models_cpu")["results"]
    pairs, seven = (found["counted"][n]["nats"]["validation"] for n in ("2", "7"))
    by_step = found["trained"]["validation_by_step"]
    leads = sorted(pairs - nats for nats in by_step["1000"]["values"])
    assert 0 < leads[0] < leads[1] < 0.1 and leads[2] == pytest.approx(0.38, abs=0.005)
    assert by_step["5500"]["mean"] > seven > by_step["6000"]["mean"]
    assert (
        "mean becomes better than the table of seven letters between steps 5,500 and 6,000"
        in words(10)
    )


def test_how_far_the_vit_is_behind_the_convolution():
    """Chapter 11b: in points, on the validation images."""
    found = results.load("images_cpu")["results"]["fashion_mnist"]
    cnn, vit = (found[name]["augmented"]["by_step"] for name in ("cnn", "vit"))

    def behind(step):
        return 100 * (value(cnn[step]) - value(vit[step]))

    def value(share):
        return share["mean"] if isinstance(share, dict) else share

    said = re.search(
        r"\(on the validation pictures ([\d.]+) points after 900 batches, ([\d.]+) after 1,800, "
        r"([\d.]+) after 7,200, ([\d.]+) at the end\)",
        words("11b"),
    ).groups()
    for text, step in zip(said, ("900", "1800", "7200", "18000"), strict=True):
        assert behind(step) == pytest.approx(float(text), abs=0.1)


def drawn(number, name):
    """What the cells of a chapter give this name, one after the other: the numbers of a figure."""
    (path,) = NOTEBOOKS.glob(f"{number}_*.py")
    return [
        ast.literal_eval(node.value)
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == name
    ]


@pytest.mark.parametrize(
    ("name", "file"), [("NETWORK", "language_models_cpu"), ("LARGER", "language_models")]
)
def test_the_letter_models_curves_are_the_measured_ones(name, file):
    (curve,) = drawn("10", name)
    by_step = results.load(file)["results"]["trained"]["validation_by_step"]
    assert curve == {step: round(by_step[str(step)]["mean"], 2) for step in curve}


def test_the_curves_of_images_are_the_measured_ones():
    clothes, photographs = zip(drawn("11b", "BATCHES"), drawn("11b", "SHARES"), strict=True)
    found = {
        0: (clothes, "images_cpu", "fashion_mnist", 3),
        1: (photographs, "images", "cifar10", 2),
    }
    for (batches, shares), file, source, digits in found.values():
        for name, curve in shares.items():
            models = results.load(file)["results"][source]
            by_step = models[{"convolutions": "cnn"}.get(name, name.lower())]["augmented"][
                "by_step"
            ]
            assert curve == [round(by_step[str(step)]["mean"], digits) for step in batches], name


def test_the_dots_of_berts_choices_are_the_measured_ones():
    (dots,) = drawn("13c", "RIGHT")
    found = results.load("bert_ablations_full")["results"]
    variants = ("no_nsp", "rate_40", "paper", "left_to_right", "always_mask")
    measured = [[round(100 * v, 1) for v in found[name]["accuracy"]["values"]] for name in variants]
    assert list(dots.values()) == measured


def test_the_steps_taken_beforehand_are_the_measured_ones():
    """Chapter 13: the grey part of the curve, up to the model that comes with the library."""
    (rows,) = drawn("13", "BEFORE")
    begun = results.load("pretraining")["results"]["begun"]
    assert rows == {
        int(step): (round(row["perplexity"], 1), round(row["next_sentence"], 3))
        for step, row in begun.items()
    }
    assert max(rows) == 1000


def test_each_row_of_berts_choices_is_told_somewhere():
    """Chapter 13c: C at once, A, B and E in an answer, D by what is left; then all of them."""
    (dots,) = drawn("13c", "RIGHT")
    letters = dict(zip(dots, "ABCDE", strict=True))
    page = words("13c")
    ours = letters["the paper's"]
    assert f"Row {ours} is the recipe of BERT's authors" in page
    told = re.findall(r"(?:it is|They overlap;) row ([A-E])\.", page)
    assert told == [letters[name] for name in ("without NSP", "40 % chosen", "always [MASK]")]
    assert f"{letters['left to right']} is left, so it is the model that sees one side" in page


def test_what_robertas_tables_show():
    """Chapter 13c, by the paper's tables 1 to 4."""
    page = words("13c").split("## What RoBERTa changed")[1].split("## What goes wrong")[0]
    row = r"\|[^|]*\| (?:–|[\d.]+) \| (8\d\.\d) \|"
    base = [float(mnli) for mnli in re.findall(row, page.split("table 4")[0])]
    assert len(base) == 7
    for above, below in itertools.pairwise(base):
        shares = [above / 100, below / 100]
        error = 200 * math.hypot(*(metrics.standard_error(share, 9815) for share in shares))
        assert abs(above - below) < 0.95 < error < 1.05
    large = [
        (int(inputs.replace(",", "")) * int(steps.replace(",", "")), float(squad), float(mnli))
        for inputs, steps, squad, mnli in re.findall(
            r"\| ([\d,]+) × ([\d,]+) \| ([\d.]+) \| ([\d.]+) \|", page
        )
    ]
    (read, *_), (more, *first), (_, *text), *_, (_, *last) = large
    assert len(large) == 5 and 3 < more / read < 3.3
    steps = [[b[i] - a[i] for a, b in itertools.pairwise(large)] for i in (1, 2)]
    assert all(max(gains) == gains[0] for gains in steps)
    assert text[1] - first[1] == pytest.approx(0.3) and last[1] - text[1] == pytest.approx(0.9)
    assert 9 < more * 512 / (256 * (0.9 * 128 + 0.1 * 512) * 1e6) < 10  # "nearly ten"


def test_which_of_berts_choices_differ_by_more_than_their_seeds():
    """Chapter 13c's answers: in accuracy the model without NSP, and left to right behind both."""
    found = results.load("bert_ablations_full")["results"]
    right = {name: row["accuracy"] for name, row in found.items() if isinstance(row, dict)}
    assert right["no_nsp"]["min"] > right["paper"]["max"]
    assert right["no_nsp"]["min"] > right["left_to_right"]["max"]
    assert right["paper"]["min"] > right["left_to_right"]["max"]
    for name in ("rate_40", "always_mask"):
        assert right[name]["min"] < right["paper"]["max"]
        assert right["paper"]["min"] < right[name]["max"]
    assert found["rate_40"]["perplexity"]["max"] < found["paper"]["perplexity"]["min"]
    assert found["always_mask"]["next_sentence"]["max"] < found["paper"]["next_sentence"]["min"]
