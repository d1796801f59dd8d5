// One token's way through a block, drawn with the vectors themselves and read from below; at the top of a stack also what comes
// behind it: the last LayerNorm, and of the decoder the scores of the next token. A view as in through_vectors.js; `at.room`: how
// wide the drawing may be. A vector that stands in the film as well carries the place ["film", stack, level, token].
import { shares } from "./choosing.js";
import { draw, make, percent, whole } from "./figure.js";
import { bars, formula, num, part } from "./numbers.js";
import { SUBLAYERS, said } from "./places.js";
import { open } from "./through_drawings.js";
import { chosen } from "./through_vectors.js";
import { dot } from "./trace.js";

const GAP = 26,
  LINE = 14,
  HIGH = 34; // between the columns; where the residual runs; a vector's height
const CUT = 3; // times a vector's mean size: what is larger is drawn no higher
const WORDS = 5; // likeliest tokens that are drawn
const length = (vector) => Math.sqrt(dot(vector, vector)).toFixed(1);
const cut = (vector) => CUT * Math.sqrt(dot(vector, vector) / vector.length);
const bare = (token) => token.replace(/^␣(?=.)/u, "");

export function token(place, trace, at) {
  const [stack, block, , i] = place,
    word = `“${trace.tokens(stack)[i].token}”`;
  const parts = SUBLAYERS[stack].map((name) => {
    const { x, normed, says, sum } = trace.sublayer(stack, block, name);
    return { name, x: x[i], normed: normed[i], says: says[i], sum: sum[i] };
  });
  const reads =
    stack === "decoder" ? ` (It has read up to ${word}, and is to say what comes next.)` : "";
  const picture = make("div"),
    show = (c) => {
      picture.replaceChildren(open(new Way(place, trace, at.room, parts, c).svg, at));
      return [
        formula(
          `Number ${c}: `,
          part(parts[0].x[c], "residual"),
          ...parts.flatMap(({ name, says }) => [" + ", part(says[c], stack), ` (${said(name)})`]),
          " = ",
          make("b", { class: "lv-total" }, num(parts.at(-1).sum[c])),
        ),
      ];
    };
  return [
    make(
      "p",
      { class: "lv-about" },
      `The vector of ${word} in ${stack} block ${block}, read from below: it goes straight up, and each sublayer adds what it makes of a copy behind LayerNorm.${reads} Press a head, or any other part.`,
    ),
    picture,
    ...chosen(trace.d, at, show),
    make(
      "p",
      { class: "lv-head" },
      "The mark in the drawing is at this number. What comes in and the sums have one scale, every other vector its own (its length says how large it is); a number far above the others is cut.",
    ),
  ];
}

class Way {
  constructor(place, trace, room, parts, c) {
    const [stack, block, , i] = place,
      decoder = stack === "decoder";
    Object.assign(this, { stack, block, i, trace, c, nodes: [] });
    this.left = Math.min(190, Math.round(room * 0.3));
    this.x = this.left + GAP;
    this.wide = room - this.x - (decoder ? 27 : 3);
    this.narrow = this.wide < 240;
    this.most = Math.max(...parts.flatMap(({ x, sum }) => [x, sum]).map(cut));
    const [{ x }] = parts,
      label = "comes in";
    this.words(22, -6, `${label}: length ${length(x)}`);
    let y = this.residual(
      x,
      -20,
      `${label}, a vector of length ${length(x)}: how it came about`,
      block,
    );
    parts.forEach((one, k) => {
      y = this.sublayer(one, y, k === parts.length - 1);
    });
    if (block === trace.config.n_layers - 1) y = this.behind(y);
    else this.goes(y, parts.at(-1).sum);
    this.high = -this.top + 6;
    this.svg = draw(
      "svg",
      {
        class: "lv-whole lv-token",
        width: room,
        height: this.high,
        viewBox: `0 ${this.top} ${room} ${this.high}`,
        "aria-label": `${stack} block ${block} at “${trace.tokens(stack)[i].token}”, from what comes in to what goes out`,
      },
      ...this.nodes,
    );
  }

  get top() {
    return Math.min(...this.heights);
  }

  heights = [0];

  add(...nodes) {
    this.nodes.push(...nodes);
  }

  line(d, kind = "lv-way") {
    this.add(draw("path", { d, class: kind }));
  }

  words(x, y, text, kind = "lv-note", anchor = "start") {
    this.heights.push(y - 14);
    this.add(draw("text", { x, y, class: kind, "text-anchor": anchor }, text));
  }

  // A part that opens.
  part(place, label, kind, ...nodes) {
    this.add(
      draw(
        "g",
        { "data-place": place.join("-"), class: `lv-part ${kind}`, "aria-label": label },
        ...nodes,
      ),
    );
  }

  box(x, y, width, height, kind = {}) {
    this.heights.push(y);
    return draw("rect", { x, y, width, height, rx: 6, ...kind });
  }

  bars(x, y, width, height, vector, kind, options = {}) {
    return bars(vector, kind, {
      x,
      y,
      width,
      height,
      class: `lv-nested lv-is-${kind}`,
      "aria-hidden": "true",
      ...options,
    });
  }

  // A vector of the residual stream, as in the film; `level`: where it stands there. Gives back its upper edge.
  residual(vector, bottom, label, level) {
    const y = bottom - HIGH;
    this.part(
      ["film", this.stack, level, this.i],
      label,
      `lv-${this.stack}`,
      this.box(1, y, this.left - 1, HIGH),
      this.bars(4, y + 2, this.left - 7, HIGH - 4, vector, "ink", {
        most: this.most,
        mark: this.c,
      }),
    );
    return y;
  }

  // From a vector whose upper edge is y through LayerNorm; gives back the upper edge of its box.
  norm(place, normed, y, label) {
    const middle = this.x + this.wide / 2,
      at = y + HIGH / 2,
      low = at - 12,
      high = low - 44;
    this.line(`M${this.left} ${at}H${middle}V${low}`);
    this.part(
      place,
      `${label}: gives a vector of length ${length(normed)}`,
      "lv-plainpart",
      this.box(this.x, high, this.wide, 44),
      draw(
        "text",
        { x: this.x + 8, y: high + 14, class: "lv-name", "text-anchor": "start" },
        "LayerNorm",
      ),
      this.bars(this.x + 6, high + 18, this.wide - 12, 22, normed, "neutral", { mark: this.c }),
    );
    return high;
  }

  sublayer({ name, normed, says, sum }, y, last) {
    const { stack, block, i, x, wide, trace } = this,
      attends = name !== "feed_forward",
      middle = x + wide / 2;
    const normTop = this.norm(
      [stack, block, name, "norm", i],
      normed,
      y,
      `LayerNorm before ${said(name)}`,
    );
    const low = normTop - 12,
      second = this.narrow ? 15 : 0,
      tall = (attends ? 106 : 98) + second,
      high = low - tall,
      inner = high + second,
      plus = inner + 34;
    this.line(`M${middle} ${normTop}V${low}`);
    const title = draw(
      "text",
      { x: x + 8, y: high + 15, class: "lv-name", "text-anchor": "start" },
      said(name),
      " ",
      draw(
        "tspan",
        { class: "lv-note", ...(second ? { x: x + 8, dy: second } : {}) },
        `adds: length ${length(says)}`,
      ),
    );
    const added = this.bars(x + 6, inner + 20, wide - 12, 28, says, stack, {
      most: cut(says),
      mark: this.c,
    });
    if (attends) {
      this.add(draw("g", { class: `lv-part lv-${stack}` }, this.box(x, high, wide, tall)));
      this.part(
        [stack, block, name, "mix", i],
        `${said(name)} adds: length ${length(says)}; the heads' outputs, mixed by W_O`,
        "lv-mixed",
        this.box(x + 2, high + 2, wide - 4, 50 + second),
        title,
        added,
      );
      for (let head = 0; head < trace.config.n_heads; head++) this.head(name, head, inner + 58);
      if (name === "cross_attention") this.memory(inner + 78);
    } else this.feedForward(high, tall, says, title, added);
    this.line(`M${LINE} ${y}V${plus + 11}`, "lv-way lv-main");
    this.line(`M${x} ${plus}H${LINE + 18}`);
    this.add(draw("path", { d: `M${LINE + 12} ${plus}l12 -5v10z`, class: "lv-tip" }));
    this.part(
      [stack, block, name, "add", i],
      `+ behind ${said(name)}: the sum`,
      "lv-plainpart",
      draw("circle", { cx: LINE, cy: plus, r: 12 }),
      draw("text", { x: LINE, y: plus + 6, class: "lv-plus", "text-anchor": "middle" }, "+"),
    );
    const bottom = plus - 36;
    this.line(`M${LINE} ${plus - 12}V${bottom}`, "lv-way lv-main");
    if (last)
      return this.residual(
        sum,
        bottom,
        `goes out, a vector of length ${length(sum)}: the vector of the film`,
        block + 1,
      );
    this.words(22, bottom + 14, `${this.narrow ? "" : "sum: "}length ${length(sum)}`);
    this.add(
      draw(
        "g",
        { class: `lv-part lv-${stack}` },
        this.box(1, bottom - HIGH, this.left - 1, HIGH),
        this.bars(4, bottom - HIGH + 2, this.left - 7, HIGH - 4, sum, "ink", {
          most: this.most,
          mark: this.c,
        }),
      ),
    );
    return bottom - HIGH;
  }

  // A head with its weights, as many bars as there are keys to see.
  head(name, head, y) {
    const { stack, block, i, trace } = this,
      n = trace.config.n_heads,
      edge = this.narrow ? 3 : 6,
      apart = this.narrow ? 3 : 5;
    const wide = (this.wide - 2 * edge - apart * (n - 1)) / n,
      x = this.x + edge + head * (wide + apart);
    const weights = trace.weights(stack, block, name, head)[i],
      keys = trace.keys(name, stack),
      most = weights.indexOf(Math.max(...weights)),
      step = (wide - 6) / weights.length;
    const lines = Array.from(
      weights,
      (share, j) =>
        `M${(x + 3 + (j + 0.5) * step).toFixed(1)} ${y + 39}v${(-0.5 - 22 * share).toFixed(1)}`,
    );
    this.part(
      [stack, block, name, head, i],
      `head ${head} of ${said(name)}: looks most at “${keys[most].token}”, ${percent(weights[most])}`,
      "lv-headpart",
      this.box(x, y, wide, 42),
      draw(
        "text",
        {
          x: x + wide / 2,
          y: y + 13,
          class: this.narrow ? "lv-tiny" : "lv-small",
          "text-anchor": "middle",
        },
        `head ${head}`,
      ),
      draw("path", {
        d: lines.join(""),
        class: "lv-weights",
        "stroke-width": Math.max(1, Math.min(8, step - 1)).toFixed(1),
      }),
    );
  }

  // What the encoder gives comes from the side.
  memory(y) {
    const edge = this.x + this.wide;
    this.line(`M${edge + 27} ${y}H${edge + 10}`, "lv-memory");
    this.words(edge + 26, y - 9, "K, V", "lv-tiny", "end");
    this.add(draw("path", { d: `M${edge + 1} ${y}l12 -5v10z`, class: "lv-keytip" }));
  }

  feedForward(high, tall, says, title, added) {
    const { stack, block, i, x, wide, trace } = this,
      hidden = trace.seen[`${stack}.blocks.${block}.feed_forward.W_1`][i].map((value) =>
        Math.max(0, value),
      );
    const active = hidden.filter((value) => value > 0).length,
      units = `${active} of ${hidden.length} units above 0`;
    this.part(
      [stack, block, "feed_forward", i],
      `feed-forward adds: length ${length(says)}; ${units}`,
      `lv-${stack}`,
      this.box(x, high, wide, tall),
      title,
      added,
      this.bars(x + 6, high + tall - 46, wide - 12, 26, hidden, "neutral"),
      " ",
      draw(
        "text",
        { x: x + 8, y: high + tall - 7, class: "lv-small", "text-anchor": "start" },
        units,
      ),
    );
  }

  // The film's vector, on its way to the next block.
  goes(y, vector) {
    this.words(30, y - 8, `goes out: length ${length(vector)}`);
    this.line(`M${LINE} ${y}V${y - 14}`, "lv-way lv-main");
    this.add(draw("path", { d: `M${LINE} ${y - 26}l-6 13h12z`, class: "lv-tip" }));
    this.heights.push(y - 28);
  }

  behind(y) {
    const { stack, i, x, wide, trace } = this,
      middle = x + wide / 2,
      last = trace.seen[`${stack}.norm`][i];
    this.words(1, y - 8, `goes out`);
    const high = this.norm([stack, "norm", i], last, y, `last LayerNorm of the ${stack}`);
    if (stack === "encoder") {
      this.line(`M${middle} ${high}V${high - 14}`, "lv-memory");
      this.add(draw("path", { d: `M${middle} ${high - 26}l-6 13h12z`, class: "lv-keytip" }));
      this.words(middle, high - 32, "to the decoder: K and V", "lv-note", "middle");
      return high;
    }
    return this.output(high);
  }

  // The scores of all tokens become shares; the likeliest is written.
  output(y) {
    const { i, x, wide, trace } = this,
      tall = 38 + 18 * WORDS,
      high = y - 12 - tall,
      middle = x + wide / 2;
    const scores = trace.seen[""][i],
      all = shares(scores),
      edge = x + wide - 8,
      likeliest = trace.candidates[i].slice(0, WORDS);
    const text = (at, row, words, kind, anchor) =>
      draw("text", { x: at, y: high + row, class: kind, "text-anchor": anchor }, words);
    this.line(`M${middle} ${y}V${high + tall}`);
    const rows = likeliest.flatMap(({ id, token: word }, k) => {
      const row = 48 + 18 * k,
        letters = [...bare(word)];
      return [
        draw("rect", {
          x: x + 4,
          y: high + row - 13,
          width: Math.max(1, (wide - 8) * all[id]).toFixed(1),
          height: 17,
          class: "lv-likely",
        }),
        text(
          x + 8,
          row,
          letters.length > 11 ? `${letters.slice(0, 10).join("")}…` : letters.join(""),
          "lv-note",
          "start",
        ),
        text(edge - 58, row, num(scores[id]), "lv-note", "end"),
        text(edge, row, percent(all[id]), "lv-note", "end"),
      ];
    });
    const heads = [
      text(x + 8, 15, `output: ${whole(scores.length)} scores`, "lv-name", "start"),
      text(x + 8, 30, "token", "lv-small", "start"),
      text(edge - 58, 30, "score z", "lv-small", "end"),
      text(edge, 30, "softmax", "lv-small", "end"),
    ];
    this.part(
      ["output", i],
      null,
      "lv-prediction",
      this.box(x, high, wide, tall),
      ...[...heads, ...rows].flatMap((node) => [node, " "]),
    );
    this.line(`M${middle} ${high}V${high - 12}`, "lv-out");
    this.add(draw("path", { d: `M${middle} ${high - 24}l-6 13h12z`, class: "lv-outtip" }));
    this.words(middle, high - 30, `writes “${bare(trace.written[i].token)}”`, "lv-name", "middle");
    return high;
  }
}
