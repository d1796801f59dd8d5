// How the numbers of a model are shown: a vector as a row of bars, a sum of products as a table, a number in a formula.
import { draw, make } from "./figure.js";
import { dot } from "./trace.js";
import { signed } from "./walk.js";

const HIGH = 44,
  LARGEST = 8; // of a strip; products of a sum that are shown
export const num = (x) =>
  x === 0 ? "0" : signed(x, Math.abs(x) < 0.0995 ? 4 : Math.abs(x) < 100 ? 3 : 1);
// The same; of what would be rounded to 0, the power of ten.
export const small = (x) =>
  x !== 0 && Math.abs(x) < 0.00005 ? x.toExponential(1).replace(/-/g, "−") : num(x);
// A number added or taken away, without two signs side by side.
export const plus = (x) => (x < 0 ? `− ${num(-x)}` : `+ ${num(x)}`);
export const minus = (x) => plus(-x);

// A vector as bars, up and down from the middle; `kind` is the palette's name of what it is, `mark` the number that is looked at.
export function bars(vector, kind, { mark, most, cuts = [], ...attributes } = {}) {
  const n = vector.length,
    top = most ?? Math.max(...vector.map(Math.abs), 1e-9),
    middle = HIGH / 2;
  const lines = Array.from(vector, (value, c) => {
    const high = (Math.max(-1, Math.min(1, value / top)) * (HIGH - 4)) / 2;
    return `M${c + 0.5} ${middle}v${(-high || -0.4).toFixed(2)}`;
  });
  return draw(
    "svg",
    {
      viewBox: `0 0 ${n} ${HIGH}`,
      preserveAspectRatio: "none",
      class: `lv-strip lv-is-${kind}`,
      ...attributes,
    },
    draw("path", { d: `M0 ${middle}H${n}`, class: "lv-zero" }),
    ...cuts.map((x) => draw("path", { d: `M${x} 0V${HIGH}`, class: "lv-zero" })),
    ...(mark === undefined
      ? []
      : [draw("rect", { x: mark - 0.2, y: 0, width: 1.4, height: HIGH, class: "lv-mark" })]),
    draw("path", { d: lines.join(""), class: "lv-bars" }),
  );
}

// A vector in words.
export const spoken = (label, vector) =>
  `${label}: ${vector.length} numbers from ${num(Math.min(...vector))} to ${num(Math.max(...vector))}`;

// The same under its name.
export function strip(label, vector, kind, options = {}) {
  const svg = bars(vector, kind, { role: "img", "aria-label": spoken(label, vector), ...options });
  return make("div", { class: "lv-vector-row" }, make("span", { class: "lv-head" }, label), svg);
}

// Several vectors on one scale: [label, vector, kind].
export function strips(rows, options = {}) {
  const most = Math.max(...rows.flatMap(([, vector]) => Array.from(vector, Math.abs)), 1e-9);
  return make(
    "div",
    { class: "lv-strips" },
    ...rows.map(([label, vector, kind]) => strip(label, vector, kind, { most, ...options })),
  );
}

// The sum a · b + bias as a table: the largest products, what the others come to, the bias, the sum. `names`: of a and of b;
// `pick(i)`: what leads further into product i; `kinds`: the palette's names of a, b and the sum.
export function sums(
  { a, b, bias },
  [nameA, nameB],
  result,
  caption,
  { pick = String, kinds: [kindA, kindB, kind] = [] } = {},
) {
  const products = Array.from(a, (value, i) => value * b[i]);
  const order = [...products.keys()].sort((i, j) => Math.abs(products[j]) - Math.abs(products[i]));
  const total = dot(a, b) + (bias ?? 0),
    body = make("tbody"),
    foot = make("tfoot");
  const coloured = (kind) => (kind ? { class: `lv-is-${kind}` } : {});
  const cells = (head, ...rest) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, head),
      ...rest.map((text, i) => make("td", coloured([kindA, kindB][i]), text)),
    );
  const all = make("input", { type: "checkbox", autocomplete: "off" });
  const fill = () => {
    const shown = all.checked ? [...products.keys()] : order.slice(0, LARGEST),
      others = all.checked ? [] : order.slice(LARGEST);
    body.replaceChildren(
      ...shown.map((i) => cells(pick(i), small(a[i]), small(b[i]), small(products[i]))),
    );
    foot.replaceChildren(
      ...(others.length
        ? [
            cells(
              `the other ${others.length}`,
              "",
              "",
              small(others.reduce((sum, i) => sum + products[i], 0)),
            ),
          ]
        : []),
      ...(bias === undefined ? [] : [cells("bias", "", "", small(bias))]),
      cells(
        result,
        "",
        "",
        make("b", { class: `lv-total${kind ? ` lv-is-${kind}` : ""}` }, num(total)),
      ),
    );
  };
  all.addEventListener("change", fill);
  fill();
  const head = make(
    "thead",
    {},
    make(
      "tr",
      {},
      ...["number", nameA, nameB, "product"].map((text, i) =>
        make("th", { scope: "col", ...coloured([, kindA, kindB][i]) }, text),
      ),
    ),
  );
  const table = make(
    "table",
    { class: "lv-arithmetic" },
    make("caption", {}, caption),
    head,
    body,
    foot,
  );
  return make(
    "div",
    {},
    table,
    ...(products.length > LARGEST
      ? [
          make(
            "label",
            { class: "lv-check" },
            all,
            ` all ${products.length} products, in their order`,
          ),
        ]
      : []),
  );
}

// A line of arithmetic.
export const formula = (...parts) => make("p", { class: "lv-formula" }, ...parts);
// A number in a formula, in the colour of what it is.
export const part = (x, kind) => make("span", { class: `lv-is-${kind}` }, num(x));
