// Inside attention: the heads and their weights, a head's table, one query's arithmetic, one product of a query and a key.
// Views as in through_vectors.js.
import { draw, make, percent } from "./figure.js";
import { formula, minus, num, part, small, strips, sums } from "./numbers.js";
import { said } from "./places.js";
import { chosen, tokens } from "./through_vectors.js";
import { dot } from "./trace.js";

const about = (text) => make("p", { class: "lv-about" }, text);
const from = ([stack, , name]) => (name === "cross_attention" ? "the encoder's vectors" : stack === "decoder" ? "the vectors up to its own" : "the same vectors");

// A share on its square, in whole percent; less than half a percent is not written.
const percents = (share, i, j) => draw("text", { x: j + 0.5, y: i + 0.63 }, share < 0.005 ? "" : (100 * share).toFixed(0));

// Weights as a table of squares: a row for each query, a column for each key, the darker the more; with numbers if there is room.
function squares(weights, nKeys, { label, mark, pick, numbers } = {}) {
  const svg = draw("svg", { viewBox: `0 0 ${nKeys} ${weights.length}`, class: numbers ? "lv-squares lv-numbered" : "lv-squares", role: "img", "aria-label": label },
    draw("rect", { width: nKeys, height: weights.length, class: "lv-ground" }),
    ...weights.flatMap((row, i) => Array.from(row, (share, j) => draw("rect", { x: j + 0.04, y: i + 0.04, width: 0.92, height: 0.92, "fill-opacity": share.toFixed(3) }))),
    ...(numbers ? weights.flatMap((row, i) => Array.from(row, (share, j) => percents(share, i, j))) : []),
    ...(mark === undefined ? [] : [draw("rect", { x: 0, y: mark, width: nKeys, height: 1, class: "lv-mark" })]));
  if (pick) {
    svg.classList.add("lv-picks");
    svg.addEventListener("click", (event) => {
      const { top, height } = svg.getBoundingClientRect();
      pick(Math.min(weights.length - 1, Math.floor(((event.clientY - top) / height) * weights.length)));
    });
  }
  return svg;
}

export function attention(place, trace, at) {
  const [stack, block, name] = place, { n_heads: n } = trace.config, queries = trace.tokens(stack), keys = trace.keys(name, stack);
  const heads = Array.from({ length: n }, (_, head) => {
    const label = `head ${head}`, button = make("button", { type: "button", class: "lv-headbutton", "data-place": [...place, head].join("-") }, make("span", {}, label),
      squares(trace.weights(stack, block, name, head), keys.length, { label: "its weights" }));
    button.addEventListener("click", () => at.go([...place, head], button));
    return make("li", {}, button);
  });
  const on = make("button", { type: "button", "data-place": [...place, "mix", 0].join("-") }, "Their outputs, mixed by W_O");
  on.addEventListener("click", () => at.go([...place, "mix", 0], on));
  return [about(`${n} heads. Each makes its own queries of the ${queries.length} vectors here, and its own keys and values of ${from(place)}: ${trace.dHead} numbers each. A square's row is a query, its column a key (from the left: ${keys.map(({ token }) => token).join(" ")}); the darker, the larger the weight.`),
    make("ol", { class: "lv-heads" }, ...heads), make("div", { class: "lv-row" }, on)];
}

export function head(place, trace, at) {
  const [stack, block, name, which] = place, queries = trace.tokens(stack), keys = trace.keys(name, stack), weights = trace.weights(stack, block, name, which);
  const go = (i) => at.go([...place, i], list.children[i].firstChild);
  const list = tokens(queries, undefined, go, "Queries");
  [...list.children].forEach(({ firstChild }, i) => { firstChild.removeAttribute("aria-pressed"); firstChild.dataset.place = [...place, i].join("-"); });
  const most = weights.map((row) => row.indexOf(Math.max(...row)));
  const label = `Weights of head ${which}: ${queries.map(({ token }, i) => `${token} looks most at ${keys[most[i]].token}, ${percent(weights[i][most[i]])}`).join("; ")}`;
  const side = make("ol", { class: "lv-rows", "aria-hidden": "true" }, ...queries.map(({ token }) => make("li", {}, token)));
  const below = make("ol", { class: "lv-columns-names", "aria-hidden": "true" }, ...keys.map(({ token }) => make("li", {}, make("span", {}, token))));
  const table = make("div", { class: "lv-table", style: `--queries: ${queries.length}; --keys: ${keys.length}` }, side, squares(weights, keys.length, { label, pick: go, numbers: true }), below);
  return [about("A row is a query, a column a key; the numbers are percent of the row. Choose a query, to see how its row is computed:"), list, make("div", { class: "lv-scroll" }, table)];
}

export function query(place, trace, at) {
  const [stack, block, name, which, i] = place, keys = trace.keys(name, stack), d = trace.dHead;
  const [Q, K, V] = ["W_Q", "W_K", "W_V"].map((matrix) => trace.head(stack, block, name, matrix, which));
  const shares = trace.weights(stack, block, name, which)[i], output = trace.output(stack, block, name, which, i);
  const dots = Array.from(shares, (_, j) => dot(Q[i], K[j])), scores = dots.map((x) => x / Math.sqrt(d));
  const largest = Math.max(...scores), hidden = keys.length - shares.length;
  const buttons = dots.map((_, j) => {
    const button = make("button", { type: "button", "data-place": [...place, j].join("-") }, keys[j].token);
    button.addEventListener("click", () => at.go([...place, j], button));
    return button;
  });
  const powers = scores.map((z) => Math.exp(z - largest)), heads = ["key", "q · k", "z", `e^(z ${minus(largest)})`, "weight", "v", "weight × v"];
  const total = powers.reduce((sum, power) => sum + power, 0);
  const cell = (content, kind) => make("td", kind ? { class: `lv-is-${kind}` } : {}, content);
  const table = (c) => make("table", { class: "lv-arithmetic lv-keys-table" }, make("caption", {}, `A row for each key; v: number ${c} of its value`),
    make("thead", {}, make("tr", {}, ...heads.map((text) => make("th", { scope: "col" }, text)))),
    make("tbody", {}, ...dots.map((x, j) => make("tr", {}, make("th", { scope: "row" }, buttons[j]), cell(num(x)), cell(num(scores[j])), cell(num(powers[j])),
      make("td", { class: "lv-share", style: `--share: ${shares[j].toFixed(4)}` }, percent(shares[j])), cell(num(V[j][c]), "value"), cell(small(shares[j] * V[j][c]))))),
    make("tfoot", {}, make("tr", {}, make("th", { scope: "row" }, "sum"), cell(""), cell(""), cell(num(total)), cell(percent(shares.reduce((a, b) => a + b, 0))), cell(""), cell(make("b", { class: "lv-total" }, num(output[c]))))));
  const list = tokens(trace.tokens(stack), i, (next) => at.go(place.with(-1, next)), "Queries");
  return [list,
    about(`The query of “${trace.tokens(stack)[i].token}” and each key: ${d} products, summed; divided by √${d} = ${num(Math.sqrt(d))} it is z. Softmax: e^(z ${minus(largest)}) of each, divided by their sum.` +
      (stack === "decoder" ? ` This place has read up to “${trace.tokens(stack)[i].token}” and is to say what comes next.` : "") +
      (hidden > 0 ? ` The ${hidden} later words are masked.` : "") + " Choose a key, to see its products."),
    strips([["query q", Q[i], "query"]]),
    ...chosen(d, at, (c) => [make("div", { class: "lv-scroll" }, table(c)), strips([["what the head gives: the values, weighted", output, "value"]], { mark: c })], "Number of the value")];
}

export function key(place, trace, at) {
  const [stack, block, name, which, i, j] = place, d = trace.dHead, keys = trace.keys(name, stack), words = trace.tokens(stack);
  const [q, k] = [trace.head(stack, block, name, "W_Q", which)[i], trace.head(stack, block, name, "W_K", which)[j]];
  const product = dot(q, k), { normed } = trace.sublayer(stack, block, name), context = name === "cross_attention" ? trace.seen["encoder.norm"] : normed;
  const layer = (matrix) => `${stack}.blocks.${block}.${name}.${matrix}`;
  const further = make("details", { class: "lv-further" }, make("summary", {}, "One step further: where a number of q, of k and of v comes from"), ...chosen(d, at, (c) => [
    strips([["query q", q, "query"], ["key k", k, "key"]], { mark: c }),
    sums(trace.sum(normed[i], layer("W_Q"), which * d + c), ["vector", `W_Q, row ${which * d + c}`], "q", `Number ${c} of the query, from the vector of “${words[i].token}”`),
    sums(trace.sum(context[j], layer("W_K"), which * d + c), ["vector", `W_K, row ${which * d + c}`], "k", `Number ${c} of the key, from the vector of “${keys[j].token}”`),
    sums(trace.sum(context[j], layer("W_V"), which * d + c), ["vector", `W_V, row ${which * d + c}`], "v", `Number ${c} of its value`)]));
  const list = tokens(keys.slice(0, trace.weights(stack, block, name, which)[i].length), j, (next) => at.go(place.with(-1, next)), "Keys");
  return [list, about(`The query of “${words[i].token}” and the key of “${keys[j].token}” in head ${which} of ${said(name)}, number by number:`),
    strips([["query q", q, "query"], ["key k", k, "key"]]),
    sums({ a: q, b: k }, ["q", "k"], "q · k", "The largest products"),
    formula(num(product), ` / √${d} = `, part(product / Math.sqrt(d), "ink"), `; after softmax over all keys: ${percent(trace.weights(stack, block, name, which)[i][j])}`), further];
}
