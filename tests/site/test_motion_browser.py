"""Mechanisms in motion: their numbers are the library's, and they answer to mouse, finger and
keyboard.
"""

import ast
import sys

import axe
import pytest
import torch
import torch.nn.functional as F
from live_page import between, figure, swipe
from sitemap import ROOT

from lectures_lib import decoding
from lectures_lib.decoding import WithoutCache
from lectures_lib.models import minilm
from lectures_lib.models.transformer import Transformer, TransformerConfig
from lectures_lib.tokenization import WordPiece
from lectures_lib.training.pretraining import MaskingRates, mask_tokens

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import motion

pytestmark = pytest.mark.browser
PAGE = "book/motion.html"
FILLING, DICE = "A cache that fills", "80/10/10: throw the dice"
SMOOTHING = "Loss and label smoothing"
PULLING = "Pulled together, pushed apart"
STREAM = "A vector on its way through the layers"
GATE = "What a gate keeps"
EXAMINING = "Two systems, one test"
MIXING = "Mix the layers yourself"
LINKING = "A tree out of a table"
IN_CHAPTERS = {
    "01_bottleneck": GATE,
    "05_encoder": STREAM,
    "08_training": SMOOTHING,
    "09b_cache": FILLING,
    "13_pretraining": DICE,
    "13b_how_sure": EXAMINING,
    "15b_which_layers": MIXING,
    "16c_trees": LINKING,
    "17_sentence_bert": PULLING,
}


def number(text: str) -> float:
    """What a figure shows, as a number."""
    return float(text.replace("−", "-").replace(",", "").split()[0])


def in_chapter(chapter: str, name: str):
    """A function that a chapter defines."""
    tree = ast.parse((ROOT / "notebooks" / f"{chapter}.py").read_text())
    (found,) = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name]
    space: dict = {}
    exec(compile(ast.Module([found], []), chapter, "exec"), space)
    return space[name]


def cells(box, row: int) -> list[float]:
    """The numbers in a row of the table of counts."""
    texts = box.locator(".lv-counts tbody tr").nth(row).locator("td").all_inner_texts()
    return [number(text) for text in texts[:2]]


def test_counts_are_those_of_a_decoder(computing):
    torch.manual_seed(0)
    sizes = {"d_model": 8, "n_heads": 2, "n_layers": 2, "d_ff": 8, "max_len": 16}
    model = Transformer(TransformerConfig(20, dropout=0.0, **sizes)).eval()
    counted = {}
    for cache, decoder in ((True, model), (False, WithoutCache(model))):
        positions = []
        hook = model.decoder.blocks[0].self_attention.W_K.register_forward_hook(
            lambda _, args, out, positions=positions: positions.append(out.shape[1])
        )
        text = torch.randint(3, 20, (1, 5))
        decoding.greedy(decoder, text, begin=1, end=2, max_len=9, never=[2])
        hook.remove()
        counted[cache] = [positions, torch.tensor(positions).cumsum(0).tolist()]
    found = computing.evaluate(
        """async () => {
          const { inStep, soFar } = await import("/live/filling.js");
          const steps = Array.from({ length: 9 }, (_, i) => i + 1);
          return [true, false].map((cache) => [inStep, soFar].map((count) => steps.map((step) => count(step, cache))));
        }"""
    )
    assert found == [counted[True], counted[False]]


def test_multiply_adds_are_the_chapters(computing):
    expected = in_chapter("09b_cache", "multiply_adds")
    asked = [(n, d, cache) for n in (1, 16, 20, 128) for d in (256, 512) for cache in (True, False)]
    found = computing.evaluate(
        """async (asked) => {
          const { multiplyAdds } = await import("/live/filling.js");
          return asked.map(([n, d, cache]) => multiplyAdds(n, { d, cache }));
        }""",
        asked,
    )
    assert found == [expected(n, d=d, cache=cache) for n, d, cache in asked]


def test_a_cache_fills_step_by_step(live):
    page = live(path=PAGE, only="filling")
    box = figure(page, FILLING)
    step = box.get_by_role("slider", name="Step")
    for _ in range(3):
        box.get_by_role("button", name="One step").click()
    without, kept = (
        [li.get_attribute("data-kind") for li in box.locator(f".lv-columns >> nth={i} >> li").all()]
        for i in (0, 1)
    )
    assert without == ["again", "again", "new"] + 5 * ["none"]
    assert kept == ["kept", "kept", "new"] + 5 * ["none"]
    assert cells(box, 0) == [6, 3]
    assert "Without a cache: 3 columns" in box.locator(".lv-side").first.inner_text()
    assert "With a cache: 1 column in" in box.locator(".lv-side").last.inner_text()
    step.focus()
    page.keyboard.press("End")
    assert cells(box, 0) == [36, 8]
    assert "= 8 · 9 / 2 = 36. With: 8" in box.locator(".lv-about").last.inner_text()
    expected = in_chapter("09b_cache", "multiply_adds")
    assert cells(box, 1) == [round(expected(8, cache=cache) / 1e6) for cache in (False, True)]
    page.keyboard.press("ArrowLeft")
    assert cells(box, 0) == [28, 7]


def test_a_reader_writes_other_words(live):
    box = figure(live(path=PAGE, only="filling"), FILLING)
    words = box.get_by_label("The words that are written")
    words.fill(" ".join(["na"] * 20))
    box.get_by_role("slider", name="Step").press("End")
    assert cells(box, 0) == [210, 20]
    words.fill("na " * 30)
    assert "6 are left out" in box.get_by_role("status").inner_text()
    words.fill(" ")
    assert "Type a word" in box.get_by_role("status").inner_text()
    assert cells(box, 0) == [0, 0]
    box.get_by_role("button", name="Play").click()
    box.get_by_role("button", name="Play").wait_for()


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_it_plays_and_pauses(live, motion):
    page = live(
        390, path=PAGE, has_touch=True, is_mobile=True, reduced_motion=motion, only="filling"
    )
    box = figure(page, FILLING)
    step = box.get_by_role("slider", name="Step")
    box.get_by_role("button", name="Play").tap()
    page.wait_for_function("input => Number(input.value) >= 2", arg=step.element_handle())
    box.get_by_role("button", name="Pause").tap()
    at = step.input_value()
    page.wait_for_timeout(1200)
    assert step.input_value() == at
    style = "one => getComputedStyle(one).animationName"
    flashes = box.locator('.lv-columns [data-kind="new"] b').first.evaluate(style)
    assert (flashes == "none") == (motion == "reduce")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("rates", [MaskingRates(), MaskingRates(0.5, 0.2, 0.3)])
def test_the_rule_is_the_librarys(computing, rates):
    generator = torch.Generator().manual_seed(3)
    tokens = torch.randint(0, 300, (1, 20_000), generator=generator)
    special = tokens < 30
    seed = torch.Generator().manual_seed(4)
    expected = mask_tokens(tokens, special, 4, range(30, 300), rates, seed)
    thrown = motion.thrown(tokens.shape, range(30, 300), seed.manual_seed(4))
    dice = {name: one[0].tolist() for name, one in thrown.items()}
    found = computing.evaluate(
        """async ([ids, special, dice, rates]) => {
          const { holes } = await import("/live/dice.js");
          return holes(ids, special, dice, 4, rates);
        }""",
        [
            tokens[0].tolist(),
            special[0].tolist(),
            dice,
            vars(rates),
        ],
    )
    assert [one["id"] for one in found] == expected.tokens[0].tolist()
    assert [one["kind"] is not None for one in found] == expected.chosen[0].tolist()


def test_over_many_throws_the_shares_are_those_of_the_rule(computing):
    n, words = 200_000, [50, 60]
    kinds, others = computing.evaluate(
        """async ([n, words, rates]) => {
          const { holes, throwDice } = await import("/live/dice.js");
          const dice = throwDice(n, words), ids = Array(n).fill(7), special = ids.map((_, i) => i % 10 === 0);
          return [holes(ids, special, dice, 4, rates).map(({ kind }) => kind), dice.others.slice(0, 5000)];
        }""",
        [n, words, vars(MaskingRates())],
    )
    chosen = [kind for kind in kinds if kind]
    assert not any(kinds[::10]), "a special token is never chosen"
    assert len(chosen) / (0.9 * n) == pytest.approx(0.15, abs=0.005)
    for kind, share in (("masked", 0.8), ("random", 0.1), ("kept", 0.1)):
        assert chosen.count(kind) / len(chosen) == pytest.approx(share, abs=0.015)
    assert set(others) == set(range(*words))


def test_the_first_throw_is_the_librarys(live):
    """The example that stands there without scripts, in the picture: with a hole, another token and
    one that stays; nothing is fetched, and the reader's own throws are counted without it.
    """
    page = live(path=PAGE, only="dice")
    box = figure(page, DICE)
    example = page.locator(".live:has(.lv-dice) .lv-still pre").text_content().split("\n")[0]
    for kind, said in (("masked", "[MASK]"), ("random", None), ("kept", None)):
        (token,) = box.locator(f".lv-dice [data-kind={kind}]").all()
        now, was = token.locator("b").inner_text(), token.get_attribute("title").split(":")[0]
        assert f"{now} (was {was})" in example
        assert (now == said) if said else ((now == was) == (kind == "kept"))
    assert len(box.locator(".lv-dice li").all()) == len(example.split()) - 2 * 3
    assert "Tally of 1 throw," in box.locator("caption").inner_text()
    assert "picked because" in box.get_by_role("status").inner_text()
    assert not [url for url in page.asked if "/models/" in url]
    box.get_by_role("button", name="Throw the dice").click()
    box.get_by_text("picked because").wait_for(state="detached")
    assert "Tally of 1 throw," in box.locator("caption").inner_text()


def throw(page, text: str | None = None):
    """The figure with the dice after a throw, and after a thousand."""
    box = figure(page, DICE)
    if text is not None:
        box.get_by_label("Your sentence").fill(text)
    box.get_by_role("button", name="Throw the dice").click()
    box.locator(".lv-dice li").first.wait_for()
    box.get_by_role("button", name="Throw 1,000 times").click()
    box.get_by_text("Tally of 1,001 throws").wait_for()
    return box


def test_the_loss_is_asked_at_the_chosen_and_nowhere_else(live):
    page = live(390, path=PAGE, has_touch=True, is_mobile=True, only="dice")
    text = "Unbelievably, naïve [MASK] and [SEP] " + "dog " * 30
    box = throw(page, text)
    pieces = WordPiece.load(minilm.checkpoint() / "vocab.txt")
    tokens = pieces.known_tokens(pieces.pair(text).ids)
    names = box.locator(".lv-dice li").evaluate_all("all => all.map((one) => one.title)")
    assert [name.split(":")[0] for name in names] == tokens
    kinds = box.locator(".lv-dice li").evaluate_all("all => all.map((one) => one.dataset.kind)")
    assert [i for i, kind in enumerate(kinds) if kind == "special"] == [
        i for i, token in enumerate(tokens) if token in ("[CLS]", "[SEP]")
    ]
    chosen = [i for i, kind in enumerate(kinds) if kind in ("masked", "random", "kept")]
    said = box.locator(".lv-about").inner_text()
    for i, token in enumerate(tokens):
        assert (f"p({token} at {i})" in said) == (i in chosen)
    read = box.locator(".lv-dice li b").all_inner_texts()
    for i, kind in enumerate(kinds):
        if kind != "random":
            assert read[i] == ("[MASK]" if kind == "masked" else tokens[i])
    rows = box.locator(".lv-shares tbody tr").all()
    numbers = [number(row.locator("td").first.inner_text()) for row in rows]
    assert numbers[0] == sum(numbers[1:])
    expected = (len(tokens) - 3) * 1001 * 0.15
    assert numbers[0] == pytest.approx(expected, rel=0.1)
    shares = [number(row.locator("td").nth(1).inner_text()) for row in rows]
    assert shares == pytest.approx([15, 80, 10, 10], abs=3)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    box.get_by_role("button", name="Forget the tally").tap()
    assert "Tally of 0 throws" in box.locator("caption").inner_text()


def test_dice_need_a_sentence(live):
    box = figure(live(path=PAGE, only="dice"), DICE)
    box.get_by_label("Your sentence").fill(" ")
    box.get_by_role("button", name="Throw the dice").click()
    assert "Type a sentence first" in box.get_by_role("status").inner_text()


SETTINGS = [
    {"place": place, "residual": residual, "scale": scale}
    for place in ("post", "pre")
    for residual in (True, False)
    for scale in (0.3, 1, 2)
]


def expected_travel(settings: dict, draw: int = motion.DRAW) -> list[torch.Tensor]:
    """What the library's blocks make of the figure's words."""
    chosen = {"pre_norm": settings["place"] == "pre", **settings}
    del chosen["place"]
    return motion.travel(motion.words(), motion.sublayers(draw), **chosen)


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda s: "-".join(map(str, s.values())))
def test_vectors_are_those_of_the_librarys_blocks(computing, settings):
    layers = motion.sublayers(motion.DRAW)
    found, likeness = computing.evaluate(
        """async ([words, layers, settings]) => {
          const { travel, alike } = await import("/live/stream.js");
          const states = travel(words, layers, settings).map(({ xs }) => xs);
          return [states, states.map(alike)];
        }""",
        [motion.words(), layers, settings],
    )
    expected = torch.stack(expected_travel(settings))
    assert torch.allclose(torch.tensor(found, dtype=torch.float64), expected, rtol=0, atol=1e-6)
    assert likeness == pytest.approx([motion.alike(x) for x in expected], abs=1e-6)


def told(box) -> list[float]:
    """Length, cosine with the beginning and mean cosine, as the figure shows them."""
    return [number(text) for text in box.locator(".lv-counts td").all_inner_texts()]


@pytest.mark.parametrize("place", ["post", "pre"])
def test_without_the_plus_sign_the_words_are_one(live, place):
    page = live(390, path=PAGE, has_touch=True, is_mobile=True, only="stream")
    box = figure(page, STREAM)
    box.get_by_label("LayerNorm").select_option(place)
    box.get_by_label("Follow").select_option("2")
    box.get_by_role("slider", name="Step").press("End")
    for residual in (True, False):
        box.get_by_label("residual").set_checked(residual)
        states = expected_travel({"place": place, "residual": residual, "scale": 1.0})
        first, last = states[0][2], states[-1][2]
        expected = [last.norm(), F.cosine_similarity(first, last, dim=0), motion.alike(states[-1])]
        assert told(box) == pytest.approx([float(one) for one in expected], abs=0.006)
    assert told(box)[2] == 1
    assert "put in its place" in box.locator(".lv-about").inner_text()
    box.get_by_role("button", name="From the start").tap()
    assert told(box)[:2] == [1.73, 1]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_additions_of_nothing_leave_the_vector(live):
    box = figure(live(path=PAGE, only="stream"), STREAM)
    box.get_by_role("slider", name="Step").press("End")
    box.get_by_role("slider", name="Additions").press("Home")
    assert told(box)[:2] == [1.73, 1]
    box.get_by_label("residual").uncheck()
    assert "–" in box.locator(".lv-counts td").nth(1).inner_text(), "nothing has no direction"


@torch.enable_grad()
def test_losses_and_gradients_are_torchs(computing):
    asked = [
        (right, vocab, smoothing)
        for right in (0.01, 0.3, 0.92, 0.999)
        for vocab in (3, 5, 1000)
        for smoothing in (0.0, 0.1, 0.5)
    ]
    found = computing.evaluate(
        """async (asked) => {
          const { loss, gradient } = await import("/live/smoothing.js");
          return asked.map((values) => [loss(...values), gradient(...values).right, gradient(...values).other]);
        }""",
        asked,
    )
    for (right, vocab, smoothing), numbers in zip(asked, found, strict=True):
        shares = torch.full((vocab,), (1 - right) / (vocab - 1), dtype=torch.float64)
        shares[0] = right
        scores = shares.log().requires_grad_()
        expected = F.cross_entropy(scores, torch.tensor(0), label_smoothing=smoothing)
        (slope,) = torch.autograd.grad(expected, scores)
        assert numbers == pytest.approx([expected.item(), *slope[:2].tolist()], abs=1e-9)


@pytest.mark.parametrize("candidate", [0.0, -0.5, 1.0])
def test_what_a_gate_keeps_is_a_grus(computing, candidate):
    """PyTorch's GRU with three numbers whose gates and candidates are fixed by its biases."""
    gates = [0.5, 0.9, 0.99]
    cell = torch.nn.GRUCell(1, 3).double()
    for weights in cell.parameters():
        torch.nn.init.zeros_(weights)
    with torch.no_grad():
        cell.bias_ih[3:6] = torch.tensor(gates).double().logit()
        cell.bias_ih[6:] = torch.tensor(candidate).double().clamp(-1 + 1e-12, 1 - 1e-12).atanh()
        state, expected = torch.ones(1, 3).double(), []
        for _ in range(100):
            expected.append(state[0])
            state = cell(torch.zeros(1, 1).double(), state)
    found = computing.evaluate(
        """async ([gates, candidate]) => {
          const { kept } = await import("/live/gate.js");
          return gates.map((gate) => kept(gate, candidate, 99));
        }""",
        [gates, candidate],
    )
    assert torch.allclose(torch.tensor(found).double().T, torch.stack(expected), atol=1e-6)


def test_gates_are_moved(live):
    page = live(path=PAGE, only="gate")
    box = figure(page, GATE)
    assert cells(box, 0) == [0.02, 0.53]
    assert cells(box, 1) == [1.0, 6.6]
    first = box.get_by_role("slider", name="Gate of number 1")
    first.press("End")
    assert cells(box, 0)[0] == 1.0
    assert "never" in box.locator(".lv-counts tbody").inner_text()
    box.get_by_role("slider", name="Words read").press("End")
    assert cells(box, 0) == [1.0, 0.0]

    picture = box.locator(".lv-curves")
    picture.scroll_into_view_if_needed()
    place = picture.bounding_box()
    page.mouse.move(place["x"] + 0.5 * place["width"], place["y"] + 30)
    page.mouse.down()
    page.mouse.move(place["x"] + 0.2 * place["width"], place["y"] + 60)
    page.mouse.up()
    words = int(box.get_by_role("slider", name="Words read").input_value())
    assert words == round(100 * (0.2 * 640 - 44) / 582)
    assert cells(box, 0)[1] == pytest.approx(0.9**words, abs=0.006)
    assert f"After {words}:" in picture.get_attribute("aria-label")


def losses(box) -> list[float]:
    """The losses that the figure shows, without smoothing and with."""
    cells = box.locator(".lv-counts tbody tr").first.locator("td")
    return [number(text) for text in cells.all_inner_texts()]


def test_a_probability_is_dragged_and_moved_by_keys(live):
    page = live(path=PAGE, only="smoothing")
    box = figure(page, SMOOTHING)
    slider = box.get_by_role("slider", name="Probability of the right token")
    picture = box.locator(".lv-curves")
    picture.scroll_into_view_if_needed()
    place = picture.bounding_box()
    page.mouse.move(place["x"] + 0.3 * place["width"], place["y"] + 30)
    page.mouse.down()
    page.mouse.move(place["x"] + 0.8 * place["width"], place["y"] + 60)
    page.mouse.up()
    right = float(slider.input_value())
    assert right == pytest.approx((0.8 * 640 - 44) / 582, abs=0.01)
    shares = torch.tensor([right, *[(1 - right) / 4] * 4]).log()
    expected = [F.cross_entropy(shares, torch.tensor(0), label_smoothing=e) for e in (0, 0.1)]
    assert losses(box) == pytest.approx([float(one) for one in expected], abs=6e-4)
    slider.press("End")
    assert float(slider.input_value()) == 0.999
    assert "too sure" in box.locator(".lv-about").inner_text()
    box.get_by_label("Vocabulary").select_option("1000")
    target = torch.tensor([0.9001, *[0.0001] * 999])
    lowest = box.locator(".lv-counts tbody tr").last.locator("td").last.inner_text()
    assert number(lowest) == pytest.approx(float(target.xlogy(target).sum().neg()), abs=6e-4)
    box.get_by_role("slider", name="Smoothing").press("Home")
    assert losses(box) == [0.001]
    assert box.locator("polyline").count() == 1


@pytest.mark.parametrize(("temperature", "rate"), [(0.05, 0.05), (0.2, 0.2), (1.0, 0.1)])
def test_each_step_is_torchs(computing, temperature, rate):
    expected = motion.pulled(motion.STARTS, temperature, rate, 40)
    places, costs, tables = computing.evaluate(
        """async ([[u, v], temperature, rate]) => {
          const { run, loss, cosines } = await import("/live/pulling.js");
          const radians = (all) => all.map((degrees) => (degrees * Math.PI) / 180);
          const way = run({ u: radians(u), v: radians(v) }, temperature, rate, 40);
          return [way.map(({ u, v }) => [u, v]), way.map((one) => loss(one, temperature)), way.map(cosines)];
        }""",
        [motion.STARTS, temperature, rate],
    )
    for place, cost, cosines, (angles, loss) in zip(places, costs, tables, expected, strict=True):
        assert torch.allclose(torch.tensor(place).double(), angles, rtol=0, atol=1e-5)
        assert cost == pytest.approx(loss, abs=1e-5)
        found = torch.tensor(cosines).double()
        assert torch.allclose(found, motion.table(angles), rtol=0, atol=1e-5)


def pulled(box) -> list[float]:
    """The loss, the mean cosine of partners and of others, as the figure shows them."""
    return [number(text) for text in box.locator(".lv-told td").all_inner_texts()]


def test_partners_come_together_step_by_step(live):
    page = live(390, path=PAGE, has_touch=True, is_mobile=True, only="pulling")
    box = figure(page, PULLING)
    for steps in (0, 1, 2):
        angles, loss = motion.pulled(motion.STARTS, 0.2, 0.05, steps)[-1]
        table = motion.table(angles)
        others = table[~torch.eye(4, dtype=torch.bool)].mean()
        expected = [loss, float(table.diag().mean()), float(others)]
        assert pulled(box) == pytest.approx(expected, abs=0.006)
        shown = [number(text) for text in box.locator(".lv-cosines td[style]").all_inner_texts()]
        assert shown == pytest.approx(table.flatten().tolist(), abs=0.006)
        box.get_by_role("button", name="One step").tap()
    box.get_by_role("slider", name="Step", exact=True).press("End")
    loss, own, others = pulled(box)
    assert own > 0.9
    assert others < 0
    assert loss < 0.1
    box.get_by_role("button", name="New places").tap()
    assert pulled(box)[0] != loss
    box.get_by_role("button", name="Play").tap()
    box.get_by_role("button", name="Pause").tap()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_point_is_moved_by_hand_and_by_keys(live):
    page = live(path=PAGE, only="pulling")
    box = figure(page, PULLING)
    box.get_by_label("Move by hand").select_option("v0")
    angle = box.get_by_role("slider", name="Angle")
    assert float(angle.input_value()) == motion.STARTS[1][0]
    angle.fill("15")  # where u1 is
    assert box.locator(".lv-own").first.inner_text() == "1.00"
    picture = box.locator(".lv-circle")
    picture.scroll_into_view_if_needed()
    place = picture.bounding_box()
    middle = [place["x"] + place["width"] / 2, place["y"] + place["height"] / 2]
    radius = 140 / 400 * place["width"]
    u2 = torch.tensor(float(motion.STARTS[0][1])).deg2rad()
    page.mouse.move(middle[0] + radius * float(u2.cos()), middle[1] - radius * float(u2.sin()))
    page.mouse.down()
    page.mouse.move(middle[0], middle[1] + radius)
    page.mouse.up()
    assert box.get_by_label("Move by hand").input_value() == "u1"
    assert float(angle.input_value()) == -90


@pytest.mark.parametrize(
    ("title", "slider"), [(GATE, "Words read"), (SMOOTHING, "Probability of the right token")]
)
def test_a_finger_drags_the_line_and_still_scrolls_the_page(live, title, slider):
    page = live(390, path=PAGE, has_touch=True, is_mobile=True)
    box = figure(page, title)
    picture, slider = box.locator(".lv-curves"), box.get_by_role("slider", name=slider)
    picture.evaluate("picture => picture.scrollIntoView({block: 'center'})")
    place = picture.bounding_box()
    y = place["y"] + 0.5 * place["height"]
    at = [(place["x"] + share * place["width"], y) for share in (0.3, 0.8)]
    swipe(page, between(*at))
    most = float(slider.get_attribute("max"))
    assert float(slider.input_value()) == pytest.approx(most * (0.8 * 640 - 44) / 582, rel=0.02)
    before = page.evaluate("scrollY")
    swipe(page, between(at[0], (at[0][0], y - 200)))
    page.wait_for_function("before => scrollY > before + 50", arg=before)


def test_a_finger_moves_a_point_up_and_down_without_scrolling_the_page(live):
    page = live(390, path=PAGE, has_touch=True, is_mobile=True, only="pulling")
    box = figure(page, PULLING)
    picture, angle = box.locator(".lv-circle"), box.get_by_role("slider", name="Angle")
    picture.evaluate("picture => picture.scrollIntoView({block: 'center'})")
    place = picture.bounding_box()
    middle = [place["x"] + place["width"] / 2, place["y"] + place["height"] / 2]
    radius = 140 / 400 * place["width"]
    u2 = torch.tensor(float(motion.STARTS[0][1])).deg2rad()
    begin = (middle[0] + radius * float(u2.cos()), middle[1] - radius * float(u2.sin()))
    before = page.evaluate("scrollY")
    swipe(page, between(begin, (begin[0], middle[1] + radius)))
    assert box.get_by_label("Move by hand").input_value() == "u1"
    expected = torch.atan2(torch.tensor(-radius), torch.tensor(begin[0] - middle[0])).rad2deg()
    assert float(angle.input_value()) == pytest.approx(float(expected), abs=2)
    assert page.evaluate("scrollY") == before


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
@pytest.mark.parametrize(("name", "pause"), [("stream", 900), ("pulling", 120)])
def test_who_asked_for_less_motion_gets_single_steps(timed, address, name, pause, motion):
    """With time to look at each; nothing slides or fades between them."""
    pause = max(pause, 900) if motion == "reduce" else pause
    page = timed(f"{address}{PAGE}?only={name}", motion)
    step = page.get_by_role("slider", name="Step", exact=True)
    page.get_by_role("button", name="Play").click()
    for n in range(1, 5):
        assert step.input_value() == str(n)
        page.clock.run_for(pause - 10)
        assert step.input_value() == str(n)
        assert motion != "reduce" or page.evaluate("document.getAnimations().length") == 0
        page.clock.run_for(10)


def test_axe_finds_nothing(live):
    page = live(path=PAGE, reduced_motion="reduce")
    throw(page)
    figure(page, STREAM).get_by_role("slider", name="Step").press("End")
    figure(page, FILLING).get_by_role("slider", name="Step").press("End")
    figure(page, PULLING).get_by_role("button", name="One step").click()
    assert axe.by_day_and_night(page, ".live") == []


@pytest.mark.parametrize("chapter", IN_CHAPTERS)
def test_a_chapter_has_its_figure(live, chapter):
    page = live(390, path=f"notebooks/{chapter}.html")
    figure(page, IN_CHAPTERS[chapter]).wait_for()
    page.wait_for_load_state("networkidle")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert not [url for url in page.asked if "/models/" in url]


def test_without_scripts_an_example_stands_there(live):
    page = live(path=PAGE, java_script_enabled=False)
    stills = page.locator(".lv-still pre")
    assert stills.count() == len(IN_CHAPTERS)
    said = " ".join(stills.all_inner_texts())
    for part in (
        "1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 = 36",
        "2,000 throws: chosen 14.9",
        "0.92",
        "two 1.00",
    ):
        assert part in said
