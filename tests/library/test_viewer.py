"""The attention viewer's HTML: the same to the byte, true to the weights, safe with any token,
small.
"""

import base64
import html
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import numpy as np
import pytest
import torch

import lectures_lib.show.viewer as viewer
from lectures_lib.show import palette
from lectures_lib.show.contrast import contrast
from lectures_lib.show.viewer import AttentionViewer, quantise

TOKENS = ["[CLS]", "the", "cat", "sat"]
HOSTILE = [
    "<script>alert(1)</script>",
    "</script>",
    "a & b &amp;",
    "\"'",
    "🙂👩‍🚀",
    "</div>",
    "<!--",
    "\x00\x1b",
    "\ud83d",
    " ",
    "",
    "\n",
    "漢字",
    "שלום",
    "​",
]


def random_weights(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).mul(2).softmax(-1)


class Page(HTMLParser):
    """What a browser would read: the elements with their attributes, and the text of each
    script.
    """

    def __init__(self, source: str):
        super().__init__()
        self.elements, self.scripts = [], []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.elements and self.elements[-1][0] == "script":
            self.scripts.append(data)

    def only(self, tag: str) -> dict:
        (found,) = [attrs for name, attrs in self.elements if name == tag]
        return found


def data_of(shown: AttentionViewer) -> dict:
    return json.loads(Page(shown._repr_html_()).only("div")["data-attention"])


def picture_of(shown: AttentionViewer) -> ElementTree.Element:
    source = Page(shown._repr_html_()).only("img")["src"]
    assert source.startswith("data:image/svg+xml,")
    return ElementTree.fromstring(unquote(source.removeprefix("data:image/svg+xml,")))


def decode(codes: str) -> np.ndarray:
    """As `viewer.js` does it."""
    code = np.frombuffer(base64.b64decode(codes), dtype=np.uint8).astype(float)
    return np.where(code <= 150, code / 300, (code - 100) / 100)


# ---- the data


def test_same_input_gives_the_same_bytes_and_other_input_another_id():
    weights = random_weights(2, 4, 4)
    first, again = (
        AttentionViewer(TOKENS, w, names={1: "b", 0: "a"})._repr_html_()
        for w in (weights, weights.numpy().tolist())
    )
    turned = AttentionViewer(TOKENS, weights, names={0: "a", 1: "b"})._repr_html_()
    other = AttentionViewer(TOKENS, random_weights(2, 4, 4, seed=1))._repr_html_()
    assert first == again == turned
    assert re.search('data-viewer="(.*?)"', first)[1] != re.search('data-viewer="(.*?)"', other)[1]


@pytest.mark.parametrize("shape", [(4, 4), (3, 4, 4), (2, 3, 4, 4)])
def test_the_script_reads_back_the_weights(shape):
    weights = random_weights(*shape)
    data = data_of(AttentionViewer(TOKENS, weights))
    assert (data["layers"], data["heads"]) == ((1, 1, 2)[len(shape) - 2], (1, 3, 3)[len(shape) - 2])
    error = np.abs(decode(data["weights"]) - weights.numpy().ravel())
    assert error.max() <= 1 / 200 + 1e-7
    assert error[weights.numpy().ravel() <= 0.5].max() <= 1 / 600 + 1e-7


def test_no_weight_is_shown_as_another_percent_than_its_own():
    weights = np.linspace(0, 1, 100_003)  # none of them halfway between two percents
    codes = base64.b64encode(quantise(weights).tobytes()).decode()
    assert (np.floor(100 * decode(codes) + 0.5) == np.rint(100 * weights)).all()
    assert (np.diff(quantise(weights).astype(int)) >= 0).all()


def test_half_precision_gradients_and_empty_rows_are_welcome():
    weights = random_weights(4, 4)
    weights[2] = 0
    for given in (weights.half(), weights.bfloat16(), weights.requires_grad_()):
        data = data_of(AttentionViewer(TOKENS, given))
        assert (decode(data["weights"]).reshape(4, 4)[2] == 0).all()


def test_what_is_shown_first():
    weights = random_weights(2, 3, 4, 4)
    data = data_of(
        AttentionViewer(
            TOKENS,
            weights,
            layer=1,
            head=2,
            token="cat",
            mode="matrix",
            title="T",
            names={(1, 2): "n"},
        )
    )
    assert (data["layer"], data["head"], data["token"], data["view"], data["title"]) == (
        1,
        2,
        2,
        "matrix",
        "T",
    )
    assert data["names"] == {"1,2": "n"}
    assert data_of(AttentionViewer(TOKENS, weights))["token"] == 1, (
        "the first token that is not special"
    )
    assert data_of(AttentionViewer(TOKENS, weights, token=3))["token"] == 3


def test_cross_attention_keeps_queries_and_keys_apart():
    shown = AttentionViewer(["a", "b"], random_weights(2, 3), keys=["x", "y", "z"])
    data = data_of(shown)
    assert (data["queries"], data["keys"]) == (["a", "b"], ["x", "y", "z"])
    assert data_of(AttentionViewer(TOKENS, random_weights(4, 4)))["keys"] is None
    assert repr(shown) == "AttentionViewer(2 queries × 3 keys, 1 layers × 1 heads)"


# ---- bad input


@pytest.mark.parametrize(
    ("wanted", "tokens", "weights", "options"),
    [
        (r"4 tokens need weights of shape .*4, 4\), got \(3, 3\)", TOKENS, torch.eye(3), {}),
        (r"4 tokens and 2 keys need weights of shape .*4, 2\), got \(4, 4\)", TOKENS, torch.eye(4), {"keys": ["a", "b"]}),
        (r"got \(1, 1, 1, 4, 4\)", TOKENS, torch.eye(4)[None, None, None], {}),
        (r"got \(0, 4, 4\)", TOKENS, torch.zeros(0, 4, 4), {}),
        (r"1 of 16 weights are not a finite number; the first is nan at layer 0, head 0, query 1, key 1", TOKENS,
         torch.diag(torch.tensor([1, torch.nan, 1, 1])), {}),
        (r"1 of 4 weights are negative; the first is -0.5 at layer 0, head 0, query 0, key 1", ["a", "b"], [[1.5, -0.5], [0, 1]], {}),
        (r"1 of 2 rows sum to neither 0 nor 1; the first sums to 0.7000 at layer 0, head 0, query 1", ["a", "b"], [[1, 0], [0.5, 0.2]], {}),
        (r"1 of 2 rows .* 1.1111 .*dropout", ["a", "b"], [[0, 1.1111], [0.5, 0.5]], {}),
        (r"0 tokens", [], torch.zeros(0, 0), {}),
        (r"must be one string or more, got 3", ["a", 3], torch.eye(2), {}),
        (r"layer must lie between 0 and 0, got 1", TOKENS, torch.eye(4), {"layer": 1}),
        (r"head must lie between 0 and 0, got -1", TOKENS, torch.eye(4), {"head": -1}),
        (r"token must lie between 0 and 3, got 4", TOKENS, torch.eye(4), {"token": 4}),
        (r"token 'dog' is none of the 4 tokens", TOKENS, torch.eye(4), {"token": "dog"}),
        (r"head in names must lie between 0 and 0, got 7", TOKENS, torch.eye(4), {"names": {7: "x"}}),
        (r"there are 2 layers: name a head as \(layer, head\), not as 0", TOKENS, torch.eye(4).expand(2, 1, 4, 4), {"names": {0: "x"}}),
        (r"mode is \"sentence\" or \"matrix\", got 'lines'", TOKENS, torch.eye(4), {"mode": "lines"}),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("shapes_unchecked")
def test_bad_input_is_refused_with_its_numbers(wanted, tokens, weights, options):
    with pytest.raises(ValueError, match=wanted):
        AttentionViewer(tokens, weights, **options)


# ---- the HTML


def test_no_token_can_break_out_of_the_html():
    n = len(HOSTILE)
    shown = AttentionViewer(
        HOSTILE, random_weights(n, n), title=HOSTILE[0], names={0: HOSTILE[1]}, token="\"'"
    )
    source, plain = (
        shown._repr_html_(),
        AttentionViewer(["a"] * n, random_weights(n, n))._repr_html_(),
    )
    source.encode("utf-8")
    page = Page(source)
    assert (
        [tag for tag, _ in page.elements]
        == [tag for tag, _ in Page(plain).elements]
        == ["div", "style", "template", "style", "img", "script"]
    )
    assert json.loads(page.only("div")["data-attention"])["queries"][:3] == HOSTILE[:3]
    assert len(page.scripts) == 1
    assert set(page.only("img")) == {"class", "src", "width", "height", "alt"}
    texts = [element.text for element in picture_of(shown).iter() if element.tag.endswith("text")]
    assert "a & b &amp;" in texts
    assert "␀␛" in texts


def test_the_script_cannot_end_early_and_leaves_no_globals():
    script = (Path(viewer.__file__).parent / "viewer.js").read_text()
    assert "</" not in script
    assert "<!--" not in script
    code = re.sub(r"^//.*\n", "", script, flags=re.M).strip()
    assert code.startswith("(() => {")
    assert code.endswith("})();")


def test_nothing_is_fetched():
    source = html.unescape(unquote(AttentionViewer(TOKENS, random_weights(4, 4))._repr_html_()))
    assert set(re.findall(r"https?://[^'\"\s]+", source)) == {"http://www.w3.org/2000/svg"}, (
        "the name of SVG, which is not an address"
    )
    assert not re.search(r"\bimport\b|fetch\(|url\(|<link|\bsrc=(?!\"data:)", source)


def test_the_picture_shows_the_chosen_head():
    weights = random_weights(2, 2, 4, 4)
    weights[1, 0, 2] = torch.tensor([0.1, 0.62, 0.28, 0.0])
    shown = AttentionViewer(TOKENS, weights, layer=1, head=0, token="cat", names={(1, 0): "verbs"})
    texts = [
        "".join(element.itertext())
        for element in picture_of(shown).iter()
        if element.tag.endswith("text")
    ]
    assert "layer 1, head 0: verbs" in texts
    assert texts.count("cat") == 2, "once as a query, once as a key"
    assert "cat → the 62 % · cat 28 % · [CLS] 10 %" in texts
    assert {"62", "28"} <= set(texts)
    alt = Page(shown._repr_html_()).only("img")["alt"]
    assert "layer 1, head 0: verbs" in alt
    assert "cat → the 62 % · cat 28 %" in alt


def test_it_stays_small():
    folder = Path(viewer.__file__).parent
    code = sum(
        len((folder / name).read_bytes()) for name in ("viewer.js", "viewer.css", "theme.css")
    )
    assert code < 25_000
    tokens = ["[CLS]", *["transform"] * 14, "[SEP]"]
    assert (
        len(AttentionViewer(tokens, random_weights(6, 12, 16, 16))._repr_html_().encode()) < 60_000
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_number_of_the_still_picture_can_be_read_on_its_square(scheme):
    data = bytes.fromhex(palette.colour("share", scheme, "mark")[1:])
    paper = bytes.fromhex(palette.colour("paper", scheme)[1:])
    for level in range(1, 17):
        mixed = [
            round((level * a + (16 - level) * b) / 16) for a, b in zip(data, paper, strict=True)
        ]
        assert contrast(palette.colour("ink", scheme), "#" + bytes(mixed).hex()) >= 4.5
    style = unquote(
        Page(AttentionViewer(TOKENS, random_weights(1, 1, 4, 4))._repr_html_()).only("img")["src"]
    )
    assert f".data{{fill:{palette.colour('share', scheme, 'mark')}}}" in style
