// What one head does for one token, drawn: its query, the keys that it may see, the scores and weights, and the values' weighted sum.
// A view as in through_vectors.js.
import { make } from "./figure.js";
import { bars, num, spoken, strips } from "./numbers.js";
import { said } from "./places.js";
import { leads, weighing, weight } from "./through_attention.js";
import { tokens } from "./through_vectors.js";

// A vector in a cell of a table.
const cell = (vector, kind, most, label) =>
  make(
    "td",
    { class: "lv-cell" },
    bars(vector, kind, { most, role: "img", "aria-label": spoken(label, vector) }),
  );
const largest = (vectors) => Math.max(...vectors.flatMap((vector) => Array.from(vector, Math.abs)));

export function looks(place, trace, at) {
  const [stack, block, name, which, i] = place,
    d = trace.dHead,
    keys = trace.keys(name, stack),
    word = trace.tokens(stack)[i].token;
  const { q, k, v, z, shares } = trace.looking(...place),
    output = trace.output(...place),
    hidden = keys.length - shares.length;
  const heads = tokens(
    Array.from({ length: trace.config.n_heads }, (_, head) => ({ token: `head ${head}` })),
    which,
    (head) => at.go(place.with(3, head)),
    "Heads",
  );
  const seen =
    name === "cross_attention"
      ? "the encoder's vectors"
      : stack === "decoder"
        ? "the vectors up to its own"
        : "all vectors of the sentence";
  const head = make(
    "tr",
    {},
    ...["key", "k", `q · k / √${d}`, "weight", "v"].map((text) =>
      make("th", { scope: "col", class: { k: "lv-is-key", v: "lv-is-value" }[text] ?? null }, text),
    ),
  );
  const [mostK, mostV] = [largest(k), largest(v)];
  const rows = z.map((score, j) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, leads([...place, j], keys[j].token, at)),
      cell(k[j], "key", mostK, "k"),
      make("td", {}, num(score)),
      weight(shares[j]),
      cell(v[j], "value", mostV, "v"),
    ),
  );
  const table = make(
    "table",
    { class: "lv-arithmetic lv-looks" },
    make("caption", {}, "Choose a key, to see how its score is made"),
    make("thead", {}, head),
    make("tbody", {}, ...rows),
  );
  return [
    heads,
    make(
      "p",
      { class: "lv-about" },
      `In head ${which} of ${said(name)} (block ${block}) “${word}” has a query, and ${seen} have a key and a value: ${d} numbers each. A score is q · k, divided by √${d}; softmax makes weights of the scores; the values, each times its weight, are added.` +
        (hidden > 0
          ? ` The ${hidden} later ${hidden === 1 ? "word is" : "words are"} masked.`
          : ""),
    ),
    strips([[`query q of “${word}”`, q, "query"]]),
    make("div", { class: "lv-scroll" }, table),
    strips([["what the head gives: the sum of weight × v", output, "value"]]),
    make(
      "details",
      { class: "lv-further" },
      make("summary", {}, "The same in numbers: the powers of e, and one number of the sum"),
      ...weighing(place, trace, at),
    ),
  ];
}
