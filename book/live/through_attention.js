// Inside attention: the heads and their weights, a head's table, one query's arithmetic, one product of a query and a key.
// Views as in through_vectors.js.
import { draw, make, percent } from "./figure.js";
import { formula, minus, num, part, small, strips, sums } from "./numbers.js";
import { said } from "./places.js";
import { chosen, tokens } from "./through_vectors.js";
import { dot } from "./trace.js";

const about = (text) => make("p", { class: "lv-about" }, text);
// A button that leads to a place.
export function leads(place, label, at, attributes = {}) {
  const button = make(
    "button",
    { type: "button", "data-place": place.join("-"), ...attributes },
    label,
  );
  button.addEventListener("click", () => at.go(place, button));
  return button;
}
const from = ([stack, , name]) =>
  name === "cross_attention"
    ? "the encoder's vectors"
    : stack === "decoder"
      ? "the vectors up to its own"
      : "the same vectors";

// A share on its square, in whole percent; less than half a percent is not written.
const percents = (share, i, j) =>
  draw("text", { x: j + 0.5, y: i + 0.63 }, share < 0.005 ? "" : (100 * share).toFixed(0));

// Weights as a table of squares: a row for each query, a column for each key, the darker the more; with numbers if there is room.
function squares(weights, nKeys, { label, mark, pick, numbers } = {}) {
  const svg = draw(
    "svg",
    {
      viewBox: `0 0 ${nKeys} ${weights.length}`,
      class: numbers ? "lv-squares lv-numbered" : "lv-squares",
      role: "img",
      "aria-label": label,
    },
    draw("rect", { width: nKeys, height: weights.length, class: "lv-ground" }),
    ...weights.flatMap((row, i) =>
      Array.from(row, (share, j) =>
        draw("rect", {
          x: j + 0.04,
          y: i + 0.04,
          width: 0.92,
          height: 0.92,
          "fill-opacity": share.toFixed(3),
        }),
      ),
    ),
    ...(numbers
      ? weights.flatMap((row, i) => Array.from(row, (share, j) => percents(share, i, j)))
      : []),
    ...(mark === undefined
      ? []
      : [draw("rect", { x: 0, y: mark, width: nKeys, height: 1, class: "lv-mark" })]),
  );
  if (pick) {
    svg.classList.add("lv-picks");
    svg.addEventListener("click", (event) => {
      const { top, height } = svg.getBoundingClientRect();
      const row = Math.floor(((event.clientY - top) / height) * weights.length);
      pick(Math.min(weights.length - 1, Math.max(0, row)));
    });
  }
  return svg;
}

export function attention(place, trace, at) {
  const [stack, block, name] = place,
    { n_heads: n } = trace.config,
    queries = trace.tokens(stack),
    keys = trace.keys(name, stack);
  const heads = Array.from({ length: n }, (_, head) => {
    const label = `head ${head}`,
      button = make(
        "button",
        { type: "button", class: "lv-headbutton", "data-place": [...place, head].join("-") },
        make("span", {}, label),
        squares(trace.weights(stack, block, name, head), keys.length, { label: "its weights" }),
      );
    button.addEventListener("click", () => at.go([...place, head], button));
    return make("li", {}, button);
  });
  const on = make(
    "button",
    { type: "button", "data-place": [...place, "mix", 0].join("-") },
    "Their outputs, mixed by W_O",
  );
  on.addEventListener("click", () => at.go([...place, "mix", 0], on));
  return [
    about(
      `${n} heads. Each makes its own queries of the ${queries.length} vectors here, and its own keys and values of ${from(place)}: ${trace.dHead} numbers each. A square's row is a query, its column a key (from the left: ${keys.map(({ token }) => token).join(" ")}); the darker, the larger the weight.`,
    ),
    make("ol", { class: "lv-heads" }, ...heads),
    make("div", { class: "lv-row" }, on),
  ];
}

export function head(place, trace, at) {
  const [stack, block, name, which] = place,
    queries = trace.tokens(stack),
    keys = trace.keys(name, stack),
    weights = trace.weights(stack, block, name, which);
  const go = (i) => at.go([...place, i], list.children[i].firstChild);
  const list = tokens(queries, undefined, go, "Queries");
  [...list.children].forEach(({ firstChild }, i) => {
    firstChild.removeAttribute("aria-pressed");
    firstChild.dataset.place = [...place, i].join("-");
  });
  const most = weights.map((row) => row.indexOf(Math.max(...row)));
  const label = `Weights of head ${which}: ${queries.map(({ token }, i) => `${token} looks most at ${keys[most[i]].token}, ${percent(weights[i][most[i]])}`).join("; ")}`;
  const side = make(
    "ol",
    { class: "lv-rows", "aria-hidden": "true" },
    ...queries.map(({ token }) => make("li", {}, token)),
  );
  const below = make(
    "ol",
    { class: "lv-columns-names", "aria-hidden": "true" },
    ...keys.map(({ token }) => make("li", {}, make("span", {}, token))),
  );
  const table = make(
    "div",
    { class: "lv-table", style: `--queries: ${queries.length}; --keys: ${keys.length}` },
    side,
    squares(weights, keys.length, { label, pick: go, numbers: true }),
    below,
  );
  return [
    about(
      "A row is a query, a column a key; the numbers are percent of the row. Choose a query, to see how its row is computed:",
    ),
    list,
    make("div", { class: "lv-scroll" }, table),
  ];
}

export function query(place, trace, at) {
  const [stack, block, name, which, i] = place,
    keys = trace.keys(name, stack),
    d = trace.dHead,
    { q, z, shares } = trace.looking(...place);
  const largest = Math.max(...z),
    hidden = keys.length - shares.length;
  const list = tokens(trace.tokens(stack), i, (next) => at.go(place.with(-1, next)), "Queries");
  return [
    list,
    about(
      `The query of “${trace.tokens(stack)[i].token}” and each key: ${d} products, summed; divided by √${d} = ${num(Math.sqrt(d))} it is z. Softmax: e^(z ${minus(largest)}) of each, divided by their sum.` +
        (stack === "decoder"
          ? ` This place has read up to “${trace.tokens(stack)[i].token}” and is to say what comes next.`
          : "") +
        (hidden > 0
          ? ` The ${hidden} later ${hidden === 1 ? "word is" : "words are"} masked.`
          : "") +
        " Choose a key, to see its products.",
    ),
    strips([["query q", q, "query"]]),
    ...weighing(place, trace, at),
  ];
}

// The table of a query: from each key's score to its part of one number of what the head gives.
export function weighing(place, trace, at) {
  const [stack, , name] = place,
    keys = trace.keys(name, stack),
    { v, scores, z, shares } = trace.looking(...place),
    output = trace.output(...place);
  const largest = Math.max(...z),
    powers = z.map((one) => Math.exp(one - largest)),
    total = powers.reduce((sum, power) => sum + power, 0);
  const heads = ["key", "q · k", "z", `e^(z ${minus(largest)})`, "weight", "v", "weight × v"],
    cell = (content, kind) => make("td", kind ? { class: `lv-is-${kind}` } : {}, content);
  const table = (c) =>
    make(
      "table",
      { class: "lv-arithmetic lv-keys-table" },
      make("caption", {}, `A row for each key; v: number ${c} of its value`),
      make("thead", {}, make("tr", {}, ...heads.map((text) => make("th", { scope: "col" }, text)))),
      make(
        "tbody",
        {},
        ...scores.map((x, j) =>
          make(
            "tr",
            {},
            make(
              "th",
              { scope: "row" },
              at.alone ? keys[j].token : leads([...place, j], keys[j].token, at),
            ),
            cell(num(x)),
            cell(num(z[j])),
            cell(num(powers[j])),
            weight(shares[j]),
            cell(num(v[j][c]), "value"),
            cell(small(shares[j] * v[j][c])),
          ),
        ),
      ),
      make(
        "tfoot",
        {},
        make(
          "tr",
          {},
          make("th", { scope: "row" }, "sum"),
          cell(""),
          cell(""),
          cell(num(total)),
          cell(percent(shares.reduce((a, b) => a + b, 0))),
          cell(""),
          cell(make("b", { class: "lv-total" }, num(output[c]))),
        ),
      ),
    );
  return chosen(
    trace.dHead,
    at,
    (c) => [
      make("div", { class: "lv-scroll" }, table(c)),
      strips([["what the head gives: the values, weighted", output, "value"]], { mark: c }),
    ],
    "Number of the value",
  );
}

// A cell with a weight.
export const weight = (share) =>
  make("td", { class: "lv-share", style: `--share: ${share.toFixed(4)}` }, percent(share));

export function key(place, trace, at) {
  const [stack, block, name, which, i, j] = place,
    d = trace.dHead,
    keys = trace.keys(name, stack),
    words = trace.tokens(stack);
  const [q, k] = [
    trace.head(stack, block, name, "W_Q", which)[i],
    trace.head(stack, block, name, "W_K", which)[j],
  ];
  const product = dot(q, k),
    pick = (c) =>
      leads([...place, c], String(c), at, {
        "aria-label": `${c}: where these two numbers come from`,
      });
  const list = tokens(
    keys.slice(0, trace.weights(stack, block, name, which)[i].length),
    j,
    (next) => at.go(place.with(-1, next)),
    "Keys",
  );
  return [
    list,
    about(
      `The query of “${words[i].token}” and the key of “${keys[j].token}” in head ${which} of ${said(name)}, number by number:`,
    ),
    strips([
      ["query q", q, "query"],
      ["key k", k, "key"],
    ]),
    strips([["their products", q.map((value, c) => value * k[c]), "neutral"]]),
    sums(
      { a: q, b: k },
      ["q", "k"],
      "q · k",
      "The largest products; choose one, to see where its two numbers come from",
      { pick, kinds: ["query", "key"] },
    ),
    formula(
      num(product),
      ` / √${d} = `,
      part(product / Math.sqrt(d), "ink"),
      `; after softmax over all keys: ${percent(trace.weights(stack, block, name, which)[i][j])}`,
    ),
  ];
}

// One product of a score: each factor, and the number of the value beside them, is a sum over a whole vector.
export function product(place, trace) {
  const [stack, block, name, which, i, j, c] = place,
    row = which * trace.dHead + c,
    keys = trace.keys(name, stack),
    words = trace.tokens(stack);
  const { q, k } = trace.looking(stack, block, name, which, i),
    { normed } = trace.sublayer(stack, block, name),
    context = name === "cross_attention" ? trace.seen["encoder.norm"] : normed;
  const sum = (x, letter, kind, whose) =>
    sums(
      trace.sum(x, `${stack}.blocks.${block}.${name}.W_${letter.toUpperCase()}`, row),
      ["vector", `W_${letter.toUpperCase()}, row ${row}`],
      letter,
      `Number ${c} of ${whose}`,
      { kinds: [, , kind] },
    );
  return [
    about(
      `Number ${c} of the query of “${words[i].token}” times number ${c} of the key of “${keys[j].token}”. Each is a sum of ${trace.d} products: of a vector behind LayerNorm, and of a row of a learned matrix.`,
    ),
    formula(part(q[c], "query"), " × ", part(k[j][c], "key"), " = ", num(q[c] * k[j][c])),
    strips(
      [
        ["query q", q, "query"],
        ["key k", k[j], "key"],
      ],
      { mark: c },
    ),
    make(
      "div",
      { class: "lv-side" },
      sum(normed[i], "q", "query", `the query, from the vector of “${words[i].token}”`),
      sum(context[j], "k", "key", `the key, from the vector of “${keys[j].token}”`),
      sum(context[j], "v", "value", "its value, of which the weight takes its share"),
    ),
  ];
}
