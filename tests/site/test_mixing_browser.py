"""Mix the layers yourself: neighbours and counts are what the library finds with the full vectors,
for any weights; and the figure answers to mouse, finger and keyboard.
"""

import json
import sys

import axe
import pytest
import torch
import torch.nn.functional as F
from live_page import figure, file_name, said
from sitemap import ROOT

from lectures_lib import data
from lectures_lib.analysis import features

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import mixing

pytestmark = pytest.mark.browser
PAGE, TITLE = "book/motion.html", "Mix the layers yourself"
FILE = "senses.products"
CLOSE = 1e-5  # of two cosines: the inner products come in single precision
MIXED = """async ([words, mixes]) => {
  const { readTables, mixedCosines, neighbours, rightOf } = await import("/live/mixing.js");
  const buffer = await (await fetch("/live/models/senses.products")).arrayBuffer();
  const n = words[0].found.length, tables = readTables(buffer, words.length, 7 * n);
  return mixes.map(([weights, unit]) => words.map(({ found }, w) => {
    const all = neighbours(mixedCosines(tables[w], n, weights, unit), found);
    return { all, right: rightOf(found, all) };
  }));
}"""
BEST = [20, 0, 0, 0, 0, 4, 40]  # with each vector brought to length 1


def mixes(n: int, seed: int = 0) -> list[tuple[list[int], bool]]:
    """Random weights, about half of them 0; raw and brought to length 1."""
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randint(0, mixing.FULL + 1, (n, 7), generator=generator)
    drawn *= torch.rand(n, 7, generator=generator) < 0.6
    return [(row, i % 2 == 1) for i, row in enumerate(drawn.tolist()) if any(row)]


def states_alone() -> list[list[int]]:
    return torch.eye(7).mul(mixing.FULL).int().tolist()


def cosine_table(vectors: torch.Tensor, weights: list[int], unit: bool) -> torch.Tensor:
    """Of every two mixed vectors, without the figure's own code."""
    vectors = vectors / vectors.norm(dim=-1, keepdim=True) if unit else vectors
    mix = sum(weight * state for weight, state in zip(weights, vectors, strict=True))
    return F.cosine_similarity(mix[:, None], mix[None], dim=-1)


def counted(weights: list[int], unit: bool = False) -> list[float]:
    """Right neighbours of each word and of all, by the library's measure."""
    words, states = mixing.occurrences()
    rights = []
    for word, vectors in zip(words, states, strict=True):
        place, sense = (
            torch.tensor([one[key] for one in word["found"]]) for key in ("place", "sense")
        )
        table = cosine_table(vectors, weights, unit)
        labels = [str(one) for one in sense.tolist()]
        may = place[:, None] != place
        rights.append(len(labels) * features.nearest_neighbour_accuracy(table, labels, may))
    return [*rights, sum(rights)]


def test_neighbours_are_those_of_the_full_vectors(computing):
    words, states = mixing.occurrences()
    asked = [*((one, unit) for one in states_alone() for unit in (False, True)), *mixes(60)]
    asked += [(one, False) for one in mixing.mixing()[0]["presets"].values()]
    asked.append((BEST, True))
    sure = open_ = 0
    for (weights, unit), answer in zip(
        asked, computing.evaluate(MIXED, [words, asked]), strict=True
    ):
        for word, vectors, found in zip(words, states, answer, strict=True):
            table = cosine_table(vectors, weights, unit)
            clear = True
            for i, one in enumerate(found["all"]):
                here = word["found"][i]
                may = [j for j, o in enumerate(word["found"]) if o["place"] != here["place"]]
                own = [j for j in may if word["found"][j]["sense"] == here["sense"]]
                other = [j for j in may if j not in own]
                largest = table[i, may].max()
                assert one["own"] == pytest.approx(table[i, own].max().item(), abs=CLOSE)
                assert one["other"] == pytest.approx(table[i, other].max().item(), abs=CLOSE)
                assert table[i, one["near"]].min() > largest - CLOSE
                # where nothing lies at the edge of what counts as equally near, there is no doubt
                apart = (largest - table[i, may] - mixing.EVEN).abs().min()
                if apart > 5e-7:
                    expected = [j for j in may if table[i, j] >= largest - mixing.EVEN]
                    assert one["near"] == expected, (weights, unit, word["word"], i)
                    sure += 1
                else:
                    open_, clear = open_ + 1, False
            if clear:
                place = torch.tensor([o["place"] for o in word["found"]])
                labels = [str(o["sense"]) for o in word["found"]]
                share = features.nearest_neighbour_accuracy(table, labels, place[:, None] != place)
                assert found["right"] == pytest.approx(len(labels) * share, abs=1e-4)
    assert sure > 1000 * max(1, open_), (sure, open_)


def test_the_single_states_are_chapter_15s():
    """The occurrences are the set's, and each state finds what the chapter's table says."""
    words, _ = mixing.occurrences()
    texts = [one["text"] for word in words for one in word["found"]]
    rows = [e for split in ("train", "validation", "test") for e in data.load("senses", split)]
    assert sorted(texts) == sorted(e["text"] for e in rows)
    of_all = [round(counted(weights)[-1]) for weights in states_alone()]
    assert of_all == [48, 72, 82, 82, 79, 85, 87]
    page = " ".join((ROOT / "book" / "motion.md").read_text(encoding="utf-8").split())
    assert f"Not always: {', '.join(map(str, of_all))}." in page
    assert "falls below the 79 of state 4" in page


def test_what_the_page_says_of_mixes():
    presets = mixing.mixing()[0]["presets"]
    totals = [round(counted(weights)[-1]) for weights in presets.values()]
    assert totals == [83, 81, 82]
    assert round(counted(BEST, unit=True)[-1]) == 88
    assert round(counted(BEST)[-1]) == 87
    assert [round(counted([40, 0, 0, 0, 0, 0, x])[-1]) for x in (4, 3)] == [81, 78]
    assert max(counted(*mix)[-1] for mix in mixes(150, seed=1)) < 87.5
    shares = torch.tensor(mixing.shares_for_names())
    assert shares.argmax() == 3
    weights = torch.tensor(presets["As trained for names"]).float()
    assert torch.allclose(weights / weights.sum(), shares, atol=0.005)
    lengths = mixing.occurrences()[1].norm(dim=-1).mean(dim=(0, 2))
    assert 10.5 < lengths.min() < 11.5
    assert 13.5 < lengths.max() < 14.5


def rights(box, row: str = "this mix") -> list[float]:
    """What the figure's table says."""
    line = box.locator(".lv-rights tbody tr", has=box.page.get_by_role("rowheader", name=row))
    return [float(text) for text in line.locator("td").all_inner_texts()]


def press(box, name: str) -> None:
    box.get_by_role("button", name=name, exact=True).click()
    box.get_by_text("nearest neighbours have the right meaning").wait_for()


def test_a_mix_is_made_by_buttons_and_sliders(live):
    page = live(path=PAGE, only="mixing")
    box = figure(page, TITLE)
    assert rights(box) == [round(one) for one in counted([mixing.FULL] * 7)]
    assert not [url for url in page.asked if "/models/" in url], "nothing is fetched before"
    for k, weights in enumerate(states_alone()):
        press(box, f"Only {k}")
        assert rights(box) == pytest.approx(counted(weights), abs=0.06)
    assert [file_name(url) for url in page.asked if "/models/" in url] == [FILE], "once"
    assert rights(box, "your best")[-1] == 87
    assert "Your best of 8 mixes: state 6 alone." in box.inner_text()
    press(box, "Only 4")
    assert rights(box, "your best")[-1] == 87
    box.get_by_role("slider", name="State 6").fill("20")
    assert rights(box) == pytest.approx(counted([0, 0, 0, 0, 40, 0, 20]), abs=0.06)
    shares = box.locator(".lv-board .lv-value").all_inner_texts()
    assert shares == ["0.00"] * 4 + ["0.67", "0.00", "0.33"]
    for k, weight in enumerate(BEST):
        box.get_by_role("slider", name=f"State {k}").fill(str(weight))
    assert rights(box)[-1] == 87
    box.get_by_label("bring each vector to length 1").check()
    assert rights(box) == pytest.approx(counted(BEST, unit=True), abs=0.06)
    assert "each vector of length 1" in box.inner_text()


def test_an_occurrence_tells_its_neighbour(live):
    page = live(path=PAGE, only="mixing")
    box = figure(page, TITLE)
    press(box, "Only 6")
    box.get_by_label("Word").select_option("bat")
    words, states = mixing.occurrences()
    w = [one["word"] for one in words].index("bat")
    found = mixing.neighbours(words[w], mixing.mixed(states[w], states_alone()[6]))
    texts = [one["text"] for one in words[w]["found"]]
    wrong = [
        i
        for i, one in enumerate(found)
        if words[w]["found"][one["near"][0]]["sense"] != words[w]["found"][i]["sense"]
    ]
    assert len(wrong) == 6
    assert box.locator("[data-kind=wrong]").count() == box.locator("path.lv-over").count() == 6
    for i in (wrong[0], wrong[-1]):
        box.get_by_role("button", name=texts[i]).click()
        told = box.locator(".lv-about").inner_text()
        near = texts[found[i]["near"][0]]
        assert texts[i] in told
        assert f"Nearest: {near} (" in told
        assert f"cosine {found[i]['other']:.3f}. The nearest with its own meaning: " in told
        assert f"{found[i]['own']:.3f}." in told
    press(box, "Only 0")
    assert box.locator("[data-kind=even]").count() == 24
    assert "Equally near are" in box.locator(".lv-about").inner_text()


def test_no_weight_is_no_mix(live):
    page = live(path=PAGE, only="mixing")
    box = figure(page, TITLE)
    press(box, "Only 3")
    box.get_by_role("slider", name="State 3").press("Home")
    assert "nothing to mix" in said(box)
    assert not box.locator(".lv-rights").is_visible()
    box.get_by_role("slider", name="State 2").press("End")
    assert rights(box)[-1] == 82


def test_a_download_that_fails_is_said(live):
    page = live(path=PAGE, only="mixing")
    box = figure(page, TITLE)
    page.context.route(f"**/{FILE}*", lambda route: route.fulfill(status=503))
    box.get_by_role("button", name="The last four").click()
    box.get_by_text("could not be fetched (503)").wait_for()
    assert not box.locator(".lv-rights").is_visible(), "the old numbers are of another mix"
    page.context.unroute(f"**/{FILE}*")
    press(box, "The last four")
    assert rights(box)[-1] == 81


def test_keyboard_finger_and_both_themes(live):
    page = live(path=PAGE, only="mixing", reduced_motion="reduce")
    box = figure(page, TITLE)
    press(box, "Only 5")
    assert axe.by_day_and_night(page, ".live") == []
    first = box.locator(".lv-occurrences [aria-pressed=false]").first
    name = first.get_attribute("aria-label")
    first.focus()
    page.keyboard.press("Enter")
    now = box.get_by_role("button", name=name)
    assert now.get_attribute("aria-pressed") == "true"
    assert now.evaluate("one => one === document.activeElement"), "the focus stays"
    press(box, "Only 0")
    assert axe.by_day_and_night(page, ".live") == []
    phone = live(390, path=PAGE, only="mixing", has_touch=True, is_mobile=True)
    box = figure(phone, TITLE)
    box.get_by_role("button", name="Only 2").tap()
    box.get_by_text("82 of 96").wait_for()
    box.locator("[data-kind=wrong]").first.tap()
    assert "The nearest with its own meaning" in box.locator(".lv-about").inner_text()
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_what_the_page_is_given_fits_it():
    options, told = mixing.mixing()
    given = {key: one for key, one in options.items() if key != "models"}
    assert len(json.dumps(given, ensure_ascii=False)) < 20_000
    assert options["models"][0]["bytes"] < 250_000
    assert told.splitlines()[7].split()[-1] == "87"
