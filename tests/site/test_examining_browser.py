"""Two systems and one test: the figure's shares are SciPy's, its sign test is the library's, and it
draws what it says.
"""

import random
import sys

import numpy as np
import pytest
from live_page import figure
from scipy import stats
from sitemap import ROOT

from lectures_lib import metrics

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import motion

pytestmark = pytest.mark.browser
PAGE, TITLE = "book/motion.html", "Two systems, one test"
SYSTEMS = [
    (80, 0.86, 0.84, 0.26),
    (46, 0.7, 0.7, 0.1),
    (200, 0.86, 0.84, 0.02),
    (9, 0.5, 0.99, 0.6),
]


@pytest.mark.parametrize("systems", SYSTEMS, ids=str)
def test_shares_of_all_test_sets_are_scipys(computing, systems):
    n, first, second, differ = systems
    found = computing.evaluate(
        """async (systems) => {
          const { outcomes } = await import("/live/examining.js");
          const { leads, ...shares } = outcomes(...systems);
          return { ...shares, sum: [...leads.values()].reduce((a, b) => a + b) };
        }""",
        systems,
    )
    of_first = min((differ + first - second) / 2 / differ, 1.0)
    noticed = {"first": 0.0, "second": 0.0}
    for apart in range(n + 1):
        for wins in range(apart + 1):
            chance = stats.binom.pmf(apart, n, differ) * stats.binom.pmf(wins, apart, of_first)
            if metrics.sign_test(wins, apart - wins) < 0.05:
                noticed["first" if 2 * wins > apart else "second"] += chance
    if of_first < 1:
        ahead, level, behind = motion.leads(n, first, second, differ)
        assert [found["first"], found["level"], found["second"]] == pytest.approx(
            [ahead, level, behind], abs=1e-9
        )
    else:
        assert found["second"] == 0
    assert found["sum"] == pytest.approx(1, abs=1e-9)
    assert found["noticed"] == pytest.approx(noticed, abs=1e-9)


def test_the_sign_test_is_the_librarys(computing):
    divided = [(0, 0), (3, 0), (10, 5), (9, 1), (18, 10), (0, 40), (300, 250)]
    found = computing.evaluate(
        """async (divided) => {
          const { signTest } = await import("/live/examining.js");
          return divided.map((counts) => signTest(...counts));
        }""",
        divided,
    )
    assert found == pytest.approx([metrics.sign_test(*counts) for counts in divided], rel=1e-9)


def test_so_many_of_the_disagreements_must_be_won(computing):
    found = computing.evaluate(
        """async () => {
          const { fewest } = await import("/live/examining.js");
          return Array.from({ length: 60 }, (_, n) => fewest(n));
        }"""
    )
    for n, least in enumerate(found):
        enough = [wins for wins in range(n + 1) if metrics.sign_test(wins, n - wins) < 0.05]
        assert least == min([wins for wins in enough if 2 * wins > n], default=n + 1)


def test_a_test_set_is_drawn_as_its_systems_are(computing):
    rng = random.Random(0)
    chances = [rng.random() for _ in range(500)]
    got = computing.evaluate(
        """async (chances) => {
          const { examine } = await import("/live/examining.js");
          let i = 0;
          return examine(chances.length, 0.8, 0.7, 0.3, () => chances[i++]);
        }""",
        chances,
    )
    drawn = np.array(chances)
    only_first, only_second = int((drawn < 0.2).sum()), int(((0.2 <= drawn) & (drawn < 0.3)).sum())
    both = int(((0.3 <= drawn) & (drawn < 0.9)).sum())
    assert got == {
        "both": both,
        "onlyFirst": only_first,
        "onlySecond": only_second,
        "first": both + only_first,
        "second": both + only_second,
        "lead": only_first - only_second,
        "p": pytest.approx(metrics.sign_test(only_first, only_second)),
    }


def told(box) -> list[list[str]]:
    """The two columns of the table, row by row."""
    rows = box.locator(".lv-counts tbody tr").all()
    return [row.locator("td").all_inner_texts() for row in rows]


def test_test_sets_are_drawn_and_counted(live):
    page = live(path=PAGE, only="examining")
    box = figure(page, TITLE)
    assert [drawn for _, drawn in told(box)] == [""] * 5
    one = box.get_by_role("button", name="Draw one test set")
    one.focus()
    page.keyboard.press("Enter")
    assert sum(int(drawn) for _, drawn in told(box)[:3]) == 1
    assert "of 80 right. Only the first" in box.locator("[aria-live]").inner_text()
    box.get_by_role("button", name="Draw 100").click()
    assert "of 101 drawn" in box.locator(".lv-counts thead").inner_text()
    ahead, level, behind = (int(drawn) for _, drawn in told(box)[:3])
    assert ahead + level + behind == 101
    assert ahead > 30  # 60 in a hundred; fewer than 31 once in a thousand million times
    assert box.locator(".lv-drawn").count() > 5
    box.get_by_role("button", name="Forget them").click()
    assert [drawn for _, drawn in told(box)] == [""] * 5


def test_other_systems_other_shares(live):
    page = live(path=PAGE, only="examining")
    box = figure(page, TITLE)
    ahead, level, behind = motion.leads(80, 0.86, 0.84, 0.26)
    assert [all_of for all_of, _ in told(box)[:3]] == [
        f"{100 * share:.1f} %" for share in (ahead, level, behind)
    ]
    box.get_by_role("button", name="Draw one test set").click()
    box.get_by_label("Test set", exact=True).select_option("872")
    assert [drawn for _, drawn in told(box)] == [""] * 5
    assert told(box)[0][0] == f"{100 * motion.leads(872, 0.86, 0.84, 0.26)[0]:.1f} %"
    second = box.get_by_role("slider", name="True accuracy of the second")
    for _ in range(2):
        second.press("ArrowRight")
    assert "Neither is better" in box.locator(".lv-about").first.inner_text()
    assert told(box)[0][0] == told(box)[2][0]
    second.press("Home")  # 0.5: they differ at least on 36 % of the sentences, at most on 64 %
    differ = box.get_by_role("slider", name="Sentences on which they differ")
    assert differ.input_value() == "0.36"
    differ.press("End")
    assert differ.input_value() == "0.64"
    assert told(box)[2][0] == "0.0 %" or told(box)[2][0] == "< 0.1 %"


def test_the_example_is_told_without_scripts(live):
    page = live(path=PAGE, only="examining", java_script_enabled=False)
    assert "80 sentences: ahead 60 %, level 8 %, behind 32 %" in page.locator("main").inner_text()
