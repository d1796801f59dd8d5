"""The drawings: well-formed, described in words, readable in both schemes, and their numbers are
the library's.
"""

import ast
import math
import re
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

from lectures_lib.blocks.attention import (
    attention_weights,
    causal_mask,
    scaled_dot_product_attention,
    split_heads,
)
from lectures_lib.blocks.positions import shift_matrix, sinusoidal_positions
from lectures_lib.models.transformer import shift_right
from lectures_lib.show import palette, plots
from lectures_lib.show.contrast import contrast
from lectures_lib.show.drawings import (
    DRAWINGS,
    attention,
    draw,
    heads,
    next_token,
    positions,
    recurrent,
)
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.label import SMALLEST
from lectures_lib.show.drawings.narrow.sheet import LEAST, WIDTH, beside
from tests.helpers.drawn import NOTEBOOKS, holds_in_order, texts, written

SVG = "{http://www.w3.org/2000/svg}"
THIN, BROAD = set("iljtf.,:;'|!·()[] "), set("mwMW@%∞√×→")


@dataclass(frozen=True)
class Label:
    """A text as a browser would set it, roughly: from `left` to `right`, its middle at `y`."""

    words: str
    left: float
    right: float
    y: float
    size: float
    colour: str


@dataclass(frozen=True)
class Ground:
    """A filled rectangle or disc."""

    left: float
    top: float
    right: float
    bottom: float
    fill: str


def width(text: str, size: float, bold: bool) -> float:
    """A rough upper estimate of how wide a text is: the letters of DejaVu Sans, one of the widest
    fonts a reader may have.
    """
    return (
        sum(0.38 if c in THIN else 0.92 if c in BROAD else 0.62 for c in text)
        * size
        * (1.08 if bold else 1.0)
    )


def classes(element: ET.Element) -> dict[str, str]:
    """The colour of its text, fill and stroke: {"t": "ink"}, {"f": "query", "s": "query"}, …"""
    return dict(re.findall(r"\b([tlfsed])-(\w+)", element.get("class", "")))


def layers(svg: str) -> list[Label | Ground]:
    """Grounds and labels in the order in which they are painted."""
    found: list[Label | Ground] = []
    for element in ET.fromstring(svg).iter():
        kind = classes(element)
        if element.tag == f"{SVG}rect" and kind.keys() & {"f", "d", "l"}:
            x, y, w, h = (float(element.get(name)) for name in ("x", "y", "width", "height"))
            roles = {"f": "soft", "d": "deep", "l": "line"}
            fills = [f"{kind[k]}-{role}" for k, role in roles.items() if k in kind]
            found.append(Ground(x, y, x + w, y + h, *fills))
        if element.tag == f"{SVG}circle":
            x, y, r = (float(element.get(name)) for name in ("cx", "cy", "r"))
            found.append(Ground(x - r, y - r, x + r, y + r, f"{kind['f']}-soft"))
        if element.tag == f"{SVG}text":
            size, x = float(element.get("font-size")), float(element.get("x"))
            bold = "bold" in element.get("class")
            long = width(element.text or "", size, bold)
            for span in element:
                long += width(span.text or "", float(span.get("font-size", size)), bold) + width(
                    span.tail or "", size, bold
                )
            left = {"start": x, "middle": x - long / 2, "end": x - long}[
                element.get("text-anchor", "start")
            ]
            found.append(
                Label(
                    "".join(element.itertext()),
                    left,
                    left + long,
                    float(element.get("y")) - 0.35 * size,
                    size,
                    kind["t"],
                )
            )
    return found


def too_pale(svg: str) -> list[str]:
    """Texts whose contrast against what is painted below their middle is under 4.5 : 1 in one of
    the schemes.
    """
    bad, below = [], []
    for layer in layers(svg):
        if isinstance(layer, Ground):
            below.append(layer)
            continue
        x = (layer.left + layer.right) / 2
        fill = [g.fill for g in below if g.left <= x <= g.right and g.top <= layer.y <= g.bottom][
            -1
        ]
        name, _, role = fill.partition("-")
        for scheme in ("light", "dark"):
            ground = palette.colour(name, scheme, role)
            if contrast(palette.colour(layer.colour, scheme), ground) < 4.5:
                bad.append(f"{layer.words!r}: {layer.colour} on {fill}, {scheme}")
    return bad


def outside(svg: str) -> list[str]:
    """Texts that reach beyond the viewBox, or nearer than 4 pixels to its edge."""
    _, _, w, h = map(float, ET.fromstring(svg).get("viewBox").split())
    labels = [layer for layer in layers(svg) if isinstance(layer, Label)]
    return [
        t.words
        for t in labels
        if t.left < 4 or t.right > w - 4 or t.y - t.size / 2 < 4 or t.y + t.size / 2 > h - 4
    ]


def overlapping(svg: str) -> list[tuple[str, str]]:
    """Pairs of texts that stand on each other, by a narrower estimate of their widths."""
    labels = [layer for layer in layers(svg) if isinstance(layer, Label)]
    pairs = []
    for i, a in enumerate(labels):
        for b in labels[i + 1 :]:
            squeeze = 0.08
            across = min(
                a.right - squeeze * (a.right - a.left), b.right - squeeze * (b.right - b.left)
            ) - max(a.left + squeeze * (a.right - a.left), b.left + squeeze * (b.right - b.left))
            if across > 0 and abs(a.y - b.y) < 0.4 * (a.size + b.size):
                pairs.append((a.words, b.words))
    return pairs


LAYOUTS = [
    pytest.param((name, narrow), id=f"{name}-{'narrow' if narrow else 'wide'}")
    for name in DRAWINGS
    for narrow in (False, True)
]


@pytest.fixture(params=LAYOUTS, scope="module")
def drawing(request) -> Canvas:
    """Each drawing in both layouts."""
    name, narrow = request.param
    return draw(name, narrow=narrow)


def test_parses_and_says_what_it_shows(drawing):
    root = ET.fromstring(drawing.svg())
    assert (
        root.get("role") == "img"
        and root.get("viewBox") == f"0 0 {drawing.width:g} {drawing.height:g}"
    )
    assert [child.tag for child in root[:2]] == [f"{SVG}title", f"{SVG}desc"]
    assert 10 < len(root[0].text) < 120
    assert len(root[1].text) > 200
    name = drawing.name.removesuffix("_narrow")
    assert name in DRAWINGS and draw(name, name != drawing.name).svg() == drawing.svg()


def test_page_holds_a_figure_with_its_caption(drawing):
    figure = ET.fromstring(drawing._repr_html_())
    assert figure.tag == "figure" and figure.get("class") == "picture drawing figure-card"
    assert figure.find("figcaption").text == drawing.caption
    scroll = figure.find("div")
    # a keyboard can scroll it
    assert scroll.get("tabindex") == "0" and scroll.get("aria-label") == drawing.title


def test_no_id_twice_on_a_page_of_all_drawings_twice():
    layouts = [draw(name, narrow) for name in DRAWINGS for narrow in (False, True)]
    page = 2 * "".join(layout._repr_html_() for layout in layouts)
    assert [name for name, n in Counter(re.findall(r'\bid="([^"]*)"', page)).items() if n > 1] == []


def test_only_colours_of_the_palette(drawing):
    known = {
        colour
        for schemes in palette.PALETTE.values()
        for roles in schemes.values()
        for colour in roles.values()
    }
    svg = drawing.svg()
    assert set(re.findall(r"#[0-9a-fA-F]{3,8}\b", svg)) <= known
    assert not re.search(r"\b(rgb|hsl|opacity|url)\b", svg)
    for element in ET.fromstring(svg).iter():
        assert (
            element.get("fill") in (None, "none")
            and element.get("stroke") is None
            and element.get("style") is None
        )


def test_every_variable_has_a_colour_in_both_schemes_and_no_other_is_written(drawing):
    light, dark = drawing.svg().split("@media screen", 1)
    used = set(re.findall(r"var\(--c-([\w-]+)\)", light + dark))
    for scheme in (light, dark):
        assert set(re.findall(r"--c-([\w-]+):#", scheme)) == used


def test_what_lies_side_by_side_without_outlines_is_parted_by_paper():
    canvas = Canvas("cells", 200, 100, "t", "d", "c")
    canvas.matrix(20, 20, [["1", ""], ["", ""]], colour=[["encoder"] * 2, ["neutral"] * 2])
    canvas.box(120, 20, 40, 20)
    canvas.box(120, 60, 40, 20, colour="paper", dashed=True)
    kinds = re.findall(r'<rect [^>]*class="([^"]*)"', canvas.svg())[1:]
    cells = ["f-encoder", "d-encoder", "f-residual", "f-residual"]
    assert kinds[:4] == [f"{cell} s-paper" for cell in cells]
    assert kinds[4:] == ["f-neutral e-neutral", "f-paper s-neutral"]  # dashes are not pale


def test_the_systems_preference_does_not_overrule_the_page(drawing):
    assert "prefers-color-scheme" not in drawing._repr_html_() + palette.css()


def test_text_can_be_read(drawing):
    assert too_pale(drawing.svg()) == []
    sizes = [float(size) for size in re.findall(r'font-size="([\d.]+)"', drawing.svg())]
    assert min(sizes) >= SMALLEST
    least = LEAST if drawing.name.endswith("_narrow") else SMALLEST
    assert drawing.narrowest * drawing.smallest / drawing.width >= least - 1e-6


def test_text_stays_inside(drawing):
    assert outside(drawing.svg()) == []


def test_no_text_stands_on_another(drawing):
    assert overlapping(drawing.svg()) == []


def test_no_drawing_calls_what_is_private_to_the_canvas():
    made_of = {"canvas.py", "sheet.py"}
    for file in Path(palette.__file__).parent.rglob("*.py"):
        called = re.findall(r"drawing\._\w+|drawing\.parts", file.read_text(encoding="utf-8"))
        assert file.name in made_of or called == [], file


def test_is_small(drawing):
    assert len(drawing._repr_html_().encode()) <= 41_000


def shown_numbers(svg: str) -> Counter:
    """Every number with a decimal point in a drawing, and how often it is there."""
    return Counter(re.findall(r"\d+\.\d+", " ".join(texts(svg))))


@pytest.mark.parametrize("name", DRAWINGS)
def test_narrow_layout_shows_the_same_and_fits_a_small_phone(name):
    wide, narrow = draw(name), draw(name, narrow=True)
    assert (narrow.title, narrow.caption) == (wide.title, wide.caption)
    assert shown_numbers(narrow.svg()) == shown_numbers(wide.svg())
    assert set(narrow.used) == set(wide.used)  # what has a colour in one has it in the other
    assert narrow.width == WIDTH and narrow.narrowest <= 304  # of a page of 320 pixels


def test_what_the_narrow_layout_says_otherwise_was_said():
    wide = draw("vector_to_token")
    with pytest.raises(ValueError, match="of vector_to_token does not say 'from above'"):
        beside(wide, 100, {"from above": "from below"})


def test_the_tests_would_notice():
    bad = Canvas("bad", 200, 100, "t", "d", "c")
    bad.text(190, 50, "far too long for its place")
    bad.text(190, 54, "and on top of it")
    bad.box(10, 10, 60, 40, colour="query")
    bad.text(40, 30, "pale", "neutral")
    assert outside(bad.svg()) and overlapping(bad.svg()) and too_pale(bad.svg())


def test_unknown_drawing_is_refused_with_the_names_of_all():
    with pytest.raises(ValueError, match="no drawing is called 'atention'") as refused:
        draw("atention")
    assert all(name in str(refused.value) for name in DRAWINGS)


# The palette


ROLES = {"line", "soft", "edge", "deep", "mark"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", palette.PALETTE)
def test_palette_is_readable(name, scheme):
    """A frame says nothing: what is in it is seen without it."""
    paper, ink = palette.colour("paper", scheme), palette.colour("ink", scheme)
    roles = palette.PALETTE[name][scheme]
    assert roles.keys() == palette.PALETTE[name]["light"].keys() <= ROLES
    if name not in ("paper", "frame"):
        assert contrast(roles["line"], paper) >= 4.5
    if "soft" in roles and name not in ("paper", "ink"):
        assert contrast(ink, roles["soft"]) >= 4.5
        assert contrast(roles["line"], roles["soft"]) >= 3
    if "edge" in roles:  # seen beside its ground and the paper, but paler than the line
        for ground in (roles["soft"], paper):
            assert 1.2 <= contrast(roles["edge"], ground) < contrast(roles["line"], ground)
    if "deep" in roles:
        assert contrast(ink, roles["deep"]) >= 4.5
        assert contrast(roles["deep"], roles["soft"]) >= 1.2
    if "mark" in roles:
        assert contrast(roles["mark"], paper) >= 3
    if name == "share":
        assert contrast(ink, roles["mark"]) >= 4.5


# How eyes without one kind of cone see linear red, green and blue (Machado, Oliveira and Fernandes
# 2009, severity 1).
EYES = {
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
}
TO_XYZ = torch.tensor(
    [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
)


def lab(colour: str, eye: str) -> torch.Tensor:
    """CIELAB coordinates of a colour as such an eye sees it."""
    rgb = torch.tensor([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = torch.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = (
        TO_XYZ @ (torch.tensor(EYES[eye]) @ linear).clamp(0, 1) / torch.tensor([0.9505, 1.0, 1.089])
    )
    x, y, z = torch.where(xyz > 0.008856, xyz.clamp(min=1e-9) ** (1 / 3), 7.787 * xyz + 16 / 116)
    return torch.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "pair",
    [
        ("query", "key"),
        ("query", "value"),
        ("key", "value"),
        ("encoder", "decoder"),
        ("prediction", "neutral"),
        ("right", "error"),
        ("share", "active"),
    ],
)
def test_what_stands_together_is_told_apart_by_colour_blind_eyes(pair, scheme, eye):
    one, other = (lab(palette.colour(name, scheme), eye) for name in pair)
    assert (one - other).norm() > 10  # 2 is a just noticeable difference


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("pair", combinations(plots.CYCLE, 2))
def test_the_curves_of_a_plot_are_told_apart_by_colour_blind_eyes(pair, eye):
    for one, other in (pair, [plots.DARK[name] for name in pair]):
        assert (lab(one, eye) - lab(other, eye)).norm() > 10


def test_css_gives_every_colour_in_both_schemes():
    light, dark = palette.css().split("@media screen")
    for name in palette.PALETTE:
        assert f"--c-{name}:{palette.colour(name)};" in light
        for role in set(palette.PALETTE[name]["dark"]) - {"line"}:
            assert f"--c-{name}-{role}:{palette.colour(name, 'dark', role)};" in dark
        assert f".c-{name}{{color:var(--c-{name})}}" in dark


@pytest.mark.parametrize("wrong", [("violet",), ("query", "sepia"), ("query", "light", "bold")])
def test_unknown_colour_is_refused(wrong):
    with pytest.raises(ValueError, match=r"palette has|scheme is"):
        palette.colour(*wrong)


def test_contrast_is_that_of_wcag():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


# Numbers


def test_attention_steps_shows_what_the_library_computes():
    Q, K, V = attention.Q, attention.K, attention.V
    mask = causal_mask(3)
    scores = Q @ K.T
    shown = texts(draw("attention_steps").svg())
    description = draw("attention_steps").description
    for matrix, spec in (
        (Q, "g"),
        (K.T, "g"),
        (scores, "g"),
        (scores / math.sqrt(2), ".2f"),
        ((scores / math.sqrt(2)).masked_fill(~mask, -math.inf), ".2f"),
        (attention_weights(Q, K, mask), ".2f"),
        (V, "g"),
        (scaled_dot_product_attention(Q, K, V, mask), ".2f"),
    ):
        assert holds_in_order(shown, written(matrix, spec)), written(matrix, spec)
    for matrix, spec in (
        (Q, "g"),
        (K, "g"),
        (V, "g"),
        (scores, "g"),
        (attention_weights(Q, K, mask), ".2f"),
    ):
        assert all(": " + ", ".join(written(row, spec)) in description for row in matrix)


def test_queries_keys_values_shows_the_chapters_own_matrices():
    chapter = Path(__file__).parents[2] / "notebooks" / "02_self_attention.py"
    made = {
        node.targets[0].id: ast.literal_eval(node.value.args[0])
        for node in ast.parse(chapter.read_text()).body
        if isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("torch.tensor([[")
    }
    shown = texts(draw("queries_keys_values").svg())
    for name in ("X", "W_Q", "W_K", "W_V"):
        matrix = torch.tensor(made[name])
        assert torch.equal(matrix, getattr(attention, name)), name
        assert holds_in_order(shown, written(matrix)), name
    for made_of in (attention.Q, attention.K, attention.V):
        assert holds_in_order(shown, written(made_of))


def test_weights_of_attention_steps_sum_to_1_as_shown():
    rounded = torch.tensor(
        [[float(n) for n in row] for row in attention.numbers(attention.steps()["weights"], ".2f")]
    )
    assert_close(rounded.sum(dim=-1), torch.ones(3), rtol=0, atol=0.011)  # 0.16 + 0.67 + 0.16


def test_thinking_machines_shows_the_chapters_numbers():
    made, shown = attention.thinking(), texts(draw("thinking_machines").svg())
    assert made["scores"] == [112.0, 96.0] and made["scaled"] == [14.0, 12.0]
    assert [f"{w:.2f}" for w in made["weights"]] == ["0.88", "0.12"]
    assert made["output"] == made["weights"], "the values are (1, 0) and (0, 1)"
    assert all(number in shown for number in ("112", "96", "14", "12", "0.88", "0.12"))


def test_addition_adds_the_librarys_positions():
    made, shown = positions.summands(), texts(draw("addition").svg())
    assert_close(made["positions"], sinusoidal_positions(3, 4))
    for name, spec in (("tokens", ".1f"), ("positions", ".2f"), ("sum", ".2f")):
        assert holds_in_order(shown, written(made[name], spec))
    # as shown, each sum is that of its two summands, up to rounding
    as_shown = (made["positions"] * 100).round() / 100 + made["tokens"]
    assert (as_shown - (made["sum"] * 100).round() / 100).abs().max() < 0.011


def test_multi_head_colours_w_o_by_the_head_it_meets():
    svg = draw("multi_head").svg()
    for head in (1, 2, 3):
        # three projections of 6 x 2, Q, K, V and the output of 3 x 2, the share of the joined
        # table (3 x 2) and of W_O (2 x 6)
        cells = 3 * 12 + 3 * 6 + 6 + 6 + 12
        assert len(re.findall(rf'<rect [^>]*class="f-head_{head} ', svg)) == cells


def test_vector_to_token_shows_softmax_of_its_scores():
    shares = next_token.shares_of_scores()
    scores = torch.tensor(list(next_token.SCORES.values()))
    others = next_token.OTHERS * math.exp(next_token.SCORE_OF_OTHERS)
    assert len(scores) + next_token.OTHERS == 42
    assert_close(torch.tensor(shares), scores.exp() / (scores.exp().sum() + others))
    shown = texts(draw("vector_to_token").svg())
    assert holds_in_order(shown, written(torch.tensor(shares), ".2f"))
    assert "9" in shown and max(next_token.SCORES, key=next_token.SCORES.get) == "9"


@pytest.mark.parametrize("narrow", [False, True])
def test_vector_to_token_shows_the_rest_and_its_shares_sum_to_1(narrow):
    shown = texts(draw("vector_to_token", narrow).svg())
    assert "…" in shown and f"{next_token.OTHERS} others" in shown and "−3.5" in shown
    shares = [float(text) for text in shown if re.fullmatch(r"0\.\d\d", text)]
    assert len(shares) == 6 and sum(shares) == pytest.approx(1, abs=1e-9)


def test_targets_loss_is_cross_entropy():
    right = torch.tensor([next_token.COLUMNS.index(character) for character in next_token.TARGET])
    shares = torch.tensor(next_token.SHARES)
    assert_close(shares.sum(dim=1), torch.full((5,), 0.98))  # 0.02 for the other 38
    each = torch.cat([shares, torch.full((5, 38), 0.02 / 38)], dim=1)
    losses = torch.nn.functional.cross_entropy(each.log(), right, reduction="none")
    assert_close(torch.tensor(next_token.losses_of_targets()), losses)
    shown = texts(draw("targets").svg())
    assert holds_in_order(shown, written(losses, ".2f"))
    assert f"loss: the mean, {losses.mean():.2f}" in shown


def test_split_heads_colours_cells_as_the_library_cuts():
    made = heads.split_and_merge()
    # each head holds one colour
    assert_close(made["cut"], torch.arange(3.0)[:, None, None].expand(3, 3, 2))
    assert_close(made["joined"], made["matrix"])


def test_view_trap_shows_what_view_does():
    made = heads.view_right_and_wrong()
    assert_close(made["right"].float(), split_heads(made["x"].float()[None], 2)[0])
    shown = texts(draw("view_trap").svg())
    for name in ("right", "wrong"):
        assert all(
            holds_in_order(shown, [str(int(v)) for v in head.flatten()]) for head in made[name]
        )
    assert not torch.equal(made["right"], made["wrong"])


def test_shift_is_the_librarys():
    target = torch.tensor([[ord(letter) for letter in next_token.TARGET]])
    read = shift_right(target, ord(next_token.BEGIN))
    assert next_token.shifted(next_token.TARGET) == "".join(chr(i) for i in read[0].tolist())
    shown = texts(draw("shift").svg())
    # what the causal mask leaves, row by row
    cells = [chr(read[0, j]) for i in range(5) for j in range(i + 1)]
    assert holds_in_order(shown, cells)


def test_hands_of_the_clocks_are_the_sinusoids():
    vector = sinusoidal_positions(positions.N, positions.D_MODEL)[positions.FRAMED]
    assert any(", ".join(written(vector, ".2f")) in text for text in texts(draw("clocks").svg()))
    drawn = set(re.findall(r'd="M([\d.]+) ([\d.]+)a3.5 3.5 ', draw("clocks").svg()))
    assert len(drawn) == positions.N * positions.D_MODEL // 2


def test_rotation_turns_by_the_angles_of_the_shift_matrix():
    matrix = shift_matrix(positions.STEP, positions.WIDTH)
    for i, degrees in enumerate(
        positions.turned_by(positions.STEP, positions.WIDTH)[: positions.SHOWN]
    ):
        assert math.degrees(math.acos(matrix[2 * i, 2 * i])) == pytest.approx(degrees, abs=1e-3)
        assert texts(draw("rotation").svg()).count(f"turned by {degrees:.0f}°") == len(
            positions.STARTS
        )


def test_a_look_back_is_the_chapters_by_hand():
    """With its identity matrices, W_q s + W_k h is s + h."""
    h, s = torch.tensor([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]]), torch.tensor([0.0, 2.0])
    weights = (torch.tanh(s + h) @ torch.tensor([3.0, 3.0])).softmax(dim=-1)
    assert_close(recurrent.look()["weights"], weights)
    drawn = texts(draw("looking_back").svg())
    chapter = (NOTEBOOKS / "01_bottleneck.ipynb").read_text(encoding="utf-8")
    for name, numbers in recurrent.look().items():
        assert holds_in_order(drawn, written(numbers, ".2f"))
        assert f"{name:8} {written(numbers, '.2f')}" in chapter


def test_gate_mixes_as_torchs_cell_does():
    cell = torch.nn.GRUCell(1, 4)
    # a cell whose gates and proposal are those that are drawn, whatever comes in
    with torch.no_grad():
        for p in cell.parameters():
            p.zero_()
        cell.bias_ih[4:8] = torch.logit(recurrent.GATE, eps=1e-7)
        cell.bias_ih[8:] = recurrent.CANDIDATE.atanh()
        assert_close(
            cell(torch.zeros(1, 1), recurrent.OLD[None])[0],
            recurrent.new_state(),
            rtol=0,
            atol=1e-5,
        )
    assert holds_in_order(texts(draw("gate").svg()), written(recurrent.new_state(), ".2f"))


def test_a_table_to_be_filled_in_has_lines():
    parted, lined = Canvas("a", 200, 90, "", "", ""), Canvas("b", 200, 90, "", "", "")
    parted.matrix(10, 10, [["", ""]])
    lined.matrix(10, 10, [["", ""]], lined=True)
    assert parted.svg().count('s-paper" stroke-width="1.5"') == 2
    assert lined.svg().count('s-neutral" stroke-width="1"') == 2
