// Where a token's vector is followed: embedding, LayerNorm, sums, the mix of heads, feed-forward, and the scores of the next token.
// A view is told the place, the trace, and `at`: {go, c, choose, alone} (another place; the number that is looked at; another one; is
// it one token's way alone?).
import { make, percent, slider, whole as count } from "./figure.js";
import { formula, minus, num, part, plus, small, strips, sums } from "./numbers.js";
import { said } from "./places.js";
import { row } from "./tensors.js";
import { dot } from "./trace.js";

const UNITS = 12; // of the feed-forward layer, the most active
const stackOf = (place) =>
  ({ source: "encoder", target: "decoder", output: "decoder" })[place[0]] ?? place[0];
const about = (text) => make("p", { class: "lv-about" }, text);

// The tokens as buttons that lead to the same place for another one.
export function tokens(list, chosen, go, label) {
  return make(
    "ol",
    { class: "lv-tokens", "aria-label": label },
    ...list.map(({ token }, i) => {
      const button = make("button", { type: "button", "aria-pressed": i === chosen }, token);
      button.addEventListener("click", () => go(i));
      return make("li", {}, button);
    }),
  );
}
// Not where one token's way is followed (`alone`).
const tabs = (place, trace, { go, alone }) =>
  alone
    ? ""
    : tokens(trace.tokens(stackOf(place)), place.at(-1), (i) => go(place.with(-1, i)), "Tokens");

// A slider over the numbers of a vector, and what `show(c)` makes of the chosen one.
export function chosen(n, at, show, name = "Number") {
  const { whole, input, tell } = slider(
    name,
    { min: 0, max: n - 1, step: 1, value: Math.min(at.c, n - 1) },
    (c) => `${c} (of 0 … ${n - 1})`,
  );
  const place = make("div", {}),
    fill = () => place.replaceChildren(...show(Number(input.value)));
  input.addEventListener("input", () => {
    at.choose(Number(input.value));
    tell();
    fill();
  });
  fill();
  return [make("div", { class: "lv-row" }, whole), place];
}

export function embedding(place, trace, at) {
  const [side, i] = place,
    { id, word, scaled, position, sum } = trace.embedding(side, i),
    kind = stackOf(place);
  return [
    tabs(place, trace, at),
    about(
      `“${trace.tokens(side)[i].token}” is token ${id} of ${count(trace.config.vocab_size)}: row ${id} of the embedding matrix, times √${trace.d}. It stands at position ${i}: the sinusoids of ${i} are added.`,
    ),
    ...chosen(trace.d, at, (c) => [
      strips(
        [
          [`row ${id} × √${trace.d}`, scaled, "neutral"],
          [`sinusoids of position ${i}`, position, "position"],
          [`what enters the ${kind}`, sum, kind],
        ],
        { mark: c },
      ),
      formula(
        `${num(word[c])} × √${trace.d} + ${c % 2 ? "cos" : "sin"}(${i} / 10000^(${c - (c % 2)}/${trace.d})) = ${num(scaled[c])} + `,
        part(position[c], "position"),
        " = ",
        part(sum[c], kind),
      ),
    ]),
  ];
}

export function norm(place, trace, at) {
  const { x, y, gamma, beta } = trace.norm(place),
    { eps = 1e-5 } = trace.config,
    n = x.length;
  const mean = x.reduce((a, b) => a + b, 0) / n,
    variance = x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / n;
  return [
    tabs(place, trace, at),
    about(
      `LayerNorm: the vector's ${n} numbers less their mean, ${num(mean)}, divided by the root of their variance, √${num(variance)} = ${num(Math.sqrt(variance + eps))}; then each times its own γ, plus its own β.`,
    ),
    ...chosen(n, at, (c) => [
      strips([["comes in", x, "residual"]], { mark: c }),
      strips([["goes out (on a scale of its own)", y, place[0]]], { mark: c }),
      formula(
        `(${num(x[c])} ${minus(mean)}) / ${num(Math.sqrt(variance + eps))} × γ + β = `,
        `${num((x[c] - mean) / Math.sqrt(variance + eps))} × ${num(gamma[c])} ${plus(beta[c])} = `,
        part(y[c], place[0]),
      ),
    ]),
  ];
}

export function add(place, trace, at) {
  const [stack, block, name] = place,
    i = place.at(-1),
    all = trace.sublayer(stack, block, name);
  const [x, says, sum] = [all.x[i], all.says[i], all.sum[i]],
    length = (v) => Math.sqrt(dot(v, v));
  return [
    tabs(place, trace, at),
    about(
      `The way around: what ${said(name)} says is added to what came in. Lengths: ${num(length(x))} came in, ${num(length(says))} was added, ${num(length(sum))} goes on.`,
    ),
    ...chosen(trace.d, at, (c) => [
      strips(
        [
          ["came in", x, "residual"],
          [`${said(name)} says`, says, stack],
          ["the sum", sum, "residual"],
        ],
        { mark: c },
      ),
      formula(num(x[c]), " + ", part(says[c], stack), " = ", num(sum[c])),
    ]),
  ];
}

export function mix(place, trace, at) {
  const [stack, block, name] = place,
    i = place.at(-1),
    outputs = trace.outputs(stack, block, name, i);
  const { says } = trace.sublayer(stack, block, name),
    { n_heads: n } = trace.config,
    layer = `${stack}.blocks.${block}.${name}.W_O`;
  return [
    tabs(place, trace, at),
    about(
      `The outputs of the ${n} heads, ${trace.dHead} numbers each, side by side; W_O makes of them what ${said(name)} says: each of its ${trace.d} numbers is a sum over all of them.`,
    ),
    ...chosen(trace.d, at, (c) => [
      strips([[`heads 0 … ${n - 1}`, outputs, "value"]], {
        cuts: Array.from({ length: n - 1 }, (_, h) => (h + 1) * trace.dHead),
      }),
      strips([[`${said(name)} says`, says[i], stack]], { mark: c }),
      sums(
        trace.sum(outputs, layer, c),
        ["heads", `W_O, row ${c}`],
        "sum",
        `Number ${c} of what ${said(name)} says`,
      ),
    ]),
  ];
}

export function feedForward(place, trace, at) {
  const [stack, block, , i] = place,
    here = `${stack}.blocks.${block}.feed_forward`,
    { normed, says } = trace.sublayer(stack, block, "feed_forward");
  const hidden = trace.seen[`${here}.W_1`][i].map((value) => Math.max(0, value)),
    active = hidden.filter((value) => value > 0).length;
  const most = [...hidden.keys()]
    .sort((u, v) => hidden[v] - hidden[u])
    .slice(0, UNITS)
    .filter((u) => hidden[u] > 0);
  const unit = (u) => {
    const button = make(
      "button",
      { type: "button", "data-place": [...place, u].join("-") },
      `unit ${u}: ${num(hidden[u])}`,
    );
    button.addEventListener("click", () => at.go([...place, u], button));
    return make("li", {}, button);
  };
  const { whole, input } = slider(
    "Any unit",
    { min: 0, max: hidden.length - 1, step: 1, value: 0 },
    (u) => `${u}: ${num(hidden[u])}`,
  );
  const open = make("button", { type: "button" }, "Look into it");
  open.addEventListener("click", () => at.go([...place, Number(input.value)], open));
  return [
    tabs(place, trace, at),
    about(
      `${hidden.length} hidden units read the vector; ${active} of them are above 0, the others are cut off by the ReLU. The most active:`,
    ),
    make("ol", { class: "lv-tokens" }, ...most.map(unit)),
    make("div", { class: "lv-row" }, whole, open),
    strips([["reads", normed[i], stack]]),
    strips([["hidden units", hidden, "neutral"]]),
    ...chosen(trace.d, at, (c) => [
      strips([["feed-forward says", says[i], stack]], { mark: c }),
      sums(
        trace.sum(hidden, `${here}.W_2`, c),
        ["units", `W_2, row ${c}`],
        "sum",
        `Number ${c} of what it says`,
      ),
    ]),
  ];
}

export function unit(place, trace) {
  const [stack, block, , i, u] = place,
    here = `${stack}.blocks.${block}.feed_forward`,
    { normed } = trace.sublayer(stack, block, "feed_forward");
  const before = trace.seen[`${here}.W_1`][i][u],
    W_2 = trace.tensors[`${here}.W_2.weight`],
    [n, wide] = W_2.shape;
  const column = Float32Array.from({ length: n }, (_, c) => W_2.data[c * wide + u]),
    on = Math.max(0, before);
  return [
    about(
      `Unit ${u} of ${wide}, at “${trace.tokens(stack)[i].token}”: a sum of ${normed[i].length} products.`,
    ),
    sums(
      trace.sum(normed[i], `${here}.W_1`, u),
      ["reads", `W_1, row ${u}`],
      "sum",
      `Unit ${u} before the ReLU`,
    ),
    formula(`ReLU: max(0, ${num(before)}) = `, make("b", { class: "lv-total" }, num(on))),
    about(
      on > 0
        ? `So it adds ${num(on)} times its column of W_2 to what the layer says:`
        : "So it says nothing here. Its column of W_2, which it would add:",
    ),
    strips([[`column ${u} of W_2`, column, stack]]),
  ];
}

export function output(place, trace, at) {
  const [, step] = place,
    scores = trace.seen[""][step],
    { candidates, written, config } = trace;
  const largest = Math.max(...scores),
    total = scores.reduce((sum, score) => sum + Math.exp(score - largest), 0);
  const rows = candidates[step].map(({ id, token }, k) => {
    const button = make("button", { type: "button", "data-place": [...place, k].join("-") }, token),
      share = Math.exp(scores[id] - largest) / total;
    button.addEventListener("click", () => at.go([...place, k], button));
    return make(
      "tr",
      id === written[step].id ? { class: "lv-written" } : {},
      make("th", { scope: "row" }, button),
      make("td", {}, num(scores[id])),
      make("td", {}, small(Math.exp(scores[id] - largest))),
      make("td", {}, percent(share)),
    );
  });
  return [
    tabs(place, trace, at),
    about(
      `Behind “${trace.read[step].token}” the decoder's vector is compared with the rows of all ${count(config.vocab_size)} tokens: a score (logit) for each. Less the largest, ${num(largest)}, e to that power, divided by the sum of all such, ${num(total)}: softmax. The likeliest is written: “${written[step].token}”.`,
    ),
    make(
      "table",
      { class: "lv-arithmetic lv-scores" },
      make("caption", {}, "The ten highest scores"),
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          ...["token", "score z", "e^(z − max)", "share"].map((text) =>
            make("th", { scope: "col" }, text),
          ),
        ),
      ),
      make("tbody", {}, ...rows),
    ),
    strips([["the decoder's vector", trace.seen["decoder.norm"][step], "decoder"]]),
  ];
}

export function score(place, trace) {
  const [, step, k] = place,
    { id, token } = trace.candidates[step][k],
    hidden = trace.seen["decoder.norm"][step];
  const weights = row(trace.tensors["embedding.weight"], id),
    bias = trace.tensors.output_bias?.data[id];
  return [
    about(
      `The score of “${token}”: the decoder's vector times row ${id} of the same matrix that stands at the entrance, plus a bias.`,
    ),
    strips([["the decoder's vector", hidden, "decoder"]]),
    strips([[`row ${id}, “${token}”`, weights, "neutral"]]),
    sums(
      { a: hidden, b: weights, bias },
      ["vector", `row ${id}`],
      "score",
      `The score of “${token}”`,
    ),
  ];
}
