// A word's vector on its way through the layers (chapter 5): what each sublayer adds, with the residual and without, and the norm.
//
// All vectors lie in one plane of three dimensions, the one whose vectors have the mean 0. There LayerNorm only changes a length,
// to the root of 3, and two numbers say all: the picture leaves nothing out.
import { Figure, choice, draw, make, slider } from "./figure.js";
import { Walk, signed } from "./walk.js";

const DIMENSIONS = 3,
  EPS = 1e-5,
  SIDE = 400;
export const NORMS = [
  ["post", "post-norm"],
  ["pre", "pre-norm"],
  ["none", "none"],
];

const times = (matrix, vector) =>
  matrix.map((row) => row.reduce((sum, value, i) => sum + value * vector[i], 0));
const plus = (a, b, scale = 1) => a.map((value, i) => value + scale * b[i]);
export const length = (vector) => Math.hypot(...vector);
export const cosine = (a, b) =>
  a.reduce((sum, value, i) => sum + value * b[i], 0) / (length(a) * length(b));

// LayerNorm of a vector whose mean is 0.
export const norm = (vector) =>
  vector.map((value) => value / Math.sqrt(length(vector) ** 2 / DIMENSIONS + EPS));

// What the sublayers say for all words: attention with one head whose queries and keys are the vectors themselves, ...
export function attention(xs, { W_V }) {
  const values = xs.map((x) => times(W_V, x));
  return xs.map((x) => {
    const scores = xs.map((other) => (x[0] * other[0] + x[1] * other[1]) / Math.sqrt(DIMENSIONS));
    const highest = Math.max(...scores); // taken off all, or long vectors would be too much for exp
    const parts = scores.map((score) => Math.exp(score - highest));
    const sum = parts.reduce((a, b) => a + b, 0);
    return [0, 1].map((i) =>
      values.reduce((total, value, j) => total + (parts[j] / sum) * value[i], 0),
    );
  });
}

// ... and the feed-forward layer, each word by itself.
export const feedForward = (xs, { W_1, b_1, W_2 }) =>
  xs.map((x) =>
    times(
      W_2,
      plus(times(W_1, x), b_1).map((value) => Math.max(0, value)),
    ),
  );

// The words' vectors before the first sublayer and behind each: [{xs, added}], `added`: what each word was given.
export function travel(words, sublayers, { residual = true, scale = 1, place = "post" } = {}) {
  const states = [{ xs: words, added: null }];
  for (const sublayer of sublayers) {
    const { xs } = states.at(-1),
      read = place === "pre" ? xs.map(norm) : xs;
    const added = (sublayer.W_V ? attention : feedForward)(read, sublayer).map((vector) =>
      vector.map((value) => scale * value),
    );
    const sums = residual ? xs.map((x, i) => plus(x, added[i])) : added;
    states.push({ xs: place === "post" ? sums.map(norm) : sums, added, sums });
  }
  return states;
}

// How alike the words' vectors are: the mean cosine of every two.
export function alike(xs) {
  const pairs = xs.flatMap((x, i) => xs.slice(i + 1).map((other) => cosine(x, other)));
  return pairs.reduce((a, b) => a + b, 0) / pairs.length;
}

// The legend: a line's class, what it is, and its head.
const KINDS = [
  ["lv-vector", "the vector now", "lv-tip-vector"],
  ["lv-began", "where it began"],
  ["lv-added lv-attention lv-last", "what attention adds", "lv-tip-attention"],
  ["lv-added lv-forward lv-last", "what the feed-forward layer adds", "lv-tip-forward"],
  ["lv-normed lv-last", "LayerNorm, back to the circle"],
];
const sample = (kind, tip) =>
  draw(
    "svg",
    { class: "lv-sample", width: 44, height: 14, viewBox: "0 0 44 14", "aria-hidden": "true" },
    draw("line", {
      x1: 2,
      y1: 7,
      x2: 42,
      y2: 7,
      class: kind,
      "marker-end": tip ? `url(#${tip})` : null,
    }),
  );

export class Stream extends Figure {
  constructor(host, options) {
    super(host, options);
    this.options = options;
    this.word = choice(
      "Follow",
      options.names.map((name, i) => [i, name]),
    );
    this.draw = choice(
      "Random weights",
      options.draws.map((_, i) => [i, `draw ${i}`]),
    );
    this.draw.select.value = options.draw;
    this.place = choice("LayerNorm", NORMS);
    this.residual = make("input", { type: "checkbox", autocomplete: "off" });
    this.residual.checked = true;
    this.scale = slider("Additions, times", { min: 0, max: 2, step: 0.1, value: 1 }, (x) =>
      x.toFixed(1),
    );
    this.walk = new Walk((step) => this.paint(step));
    this.svg = draw("svg", { viewBox: `0 0 ${SIDE} ${SIDE}`, class: "lv-plane", role: "img" });
    this.told = make("table", { class: "lv-counts" });
    this.about = make("p", { class: "lv-about" });
    this.show(
      make(
        "div",
        { class: "lv-row" },
        this.word.whole,
        this.draw.whole,
        this.place.whole,
        make("label", { class: "lv-check" }, this.residual, " residual (the plus sign)"),
      ),
      make("div", { class: "lv-row" }, this.scale.whole),
      this.walk.whole,
      make(
        "div",
        { class: "lv-beside" },
        this.svg,
        make(
          "div",
          {},
          this.about,
          this.told,
          make(
            "ul",
            { class: "lv-legend" },
            ...KINDS.map(([kind, said, tip]) => make("li", {}, sample(kind, tip), said)),
          ),
        ),
      ),
    );
    for (const part of [this.word.select, this.draw.select, this.place.select, this.residual])
      part.addEventListener("change", () => this.compute());
    this.scale.input.addEventListener("input", () => this.compute());
    this.compute();
    this.walk.begin(this.sublayers.length);
  }

  compute() {
    this.sublayers = this.options.draws[this.draw.select.value];
    this.states = travel(this.options.words, this.sublayers, {
      residual: this.residual.checked,
      scale: Number(this.scale.input.value),
      place: this.place.select.value,
    });
    this.paint(this.walk.step);
  }

  paint(step) {
    if (step > 0) this.used();
    const at = Number(this.word.select.value),
      shown = this.states.slice(0, step + 1);
    const most =
      Math.max(
        2,
        ...this.states.flatMap(({ xs, sums }) => [...xs, ...(sums ? [sums[at]] : [])].map(length)),
      ) * 1.12;
    const [x, y] = [
      (v) => SIDE / 2 + (v[0] / most) * (SIDE / 2),
      (v) => SIDE / 2 - (v[1] / most) * (SIDE / 2),
    ];
    const line = (from, to, kind, marker) =>
      draw("line", {
        x1: x(from),
        y1: y(from),
        x2: x(to),
        y2: y(to),
        class: kind,
        "marker-end": marker ? `url(#${marker})` : null,
      });
    const ring = draw("circle", {
      cx: SIDE / 2,
      cy: SIDE / 2,
      r: (Math.sqrt(DIMENSIONS) / most) * (SIDE / 2),
      class: "lv-ring",
    });
    const arrows = shown.slice(1).flatMap(({ added, sums, xs }, i) => {
      const from = this.residual.checked ? shown[i].xs[at] : [0, 0],
        last = i === step - 1 ? " lv-last" : "";
      return [
        line(
          from,
          plus(from, added[at]),
          `lv-added lv-${this.sublayers[i].W_V ? "attention" : "forward"}${last}`,
          this.sublayers[i].W_V ? "lv-tip-attention" : "lv-tip-forward",
        ),
        ...(this.place.select.value === "post" ? [line(sums[at], xs[at], `lv-normed${last}`)] : []),
      ];
    });
    const now = shown.at(-1).xs;
    const dots = now.map((v, i) =>
      draw("circle", {
        cx: x(v),
        cy: y(v),
        r: i === at ? 6 : 5,
        class: i === at ? "lv-me" : "lv-other",
      }),
    );
    // words that have come together share a label
    const near = (i) => now.findIndex((v) => Math.hypot(x(v) - x(now[i]), y(v) - y(now[i])) < 12),
      { names } = this.options;
    const labels = now.flatMap((v, i) =>
      near(i) === i
        ? [
            label(
              names.filter((_, j) => near(j) === i).join(", "),
              v,
              x(v),
              y(v),
              near(at) === i ? "lv-mine" : "",
            ),
          ]
        : [],
    );
    this.svg.replaceChildren(
      tips(),
      line([-most, 0], [most, 0], "lv-grid"),
      line([0, -most], [0, most], "lv-grid"),
      ring,
      line([0, 0], shown[0].xs[at], "lv-began"),
      ...arrows,
      line([0, 0], now[at], "lv-vector", "lv-tip-vector"),
      ...dots,
      ...labels,
    );
    this.tell(step, at, now);
  }

  tell(step, at, now) {
    const { names } = this.options,
      { sublayers } = this,
      start = this.states[0].xs,
      { added } = this.states[step];
    this.about.textContent = step
      ? `After ${sublayers[step - 1].name}. It ${this.residual.checked ? "added" : "put in its place"} an arrow of length ${length(added[at]).toFixed(2)}.`
      : "Before the first sublayer.";
    const row = (name, value) =>
      make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, value));
    const safe = (value) => (Number.isFinite(value) ? signed(value) : "–");
    this.told.replaceChildren(
      make("caption", {}, `The vector of “${names[at]}”`),
      make(
        "tbody",
        {},
        row("length", length(now[at]).toFixed(2)),
        row("cosine with where it began", safe(cosine(now[at], start[at]))),
        row("mean cosine of two words", safe(alike(now))),
      ),
    );
    this.svg.setAttribute(
      "aria-label",
      `${this.about.textContent} Length ${length(now[at]).toFixed(2)}, cosine with the beginning ${safe(cosine(now[at], start[at]))}.`,
    );
  }
}

// A word beside its point, on the side away from the middle; of several words the list stands above it, and inside the picture.
function label(name, v, x, y, kind) {
  if (name.includes(",")) {
    const half = 4 * name.length + 4;
    return draw(
      "text",
      {
        x: Math.min(SIDE - half, Math.max(half, x)),
        y: y - 14,
        "text-anchor": "middle",
        class: kind,
      },
      name,
    );
  }
  const far = length(v) || 1,
    right = v[0] / far;
  return draw(
    "text",
    {
      x: x + 12 * right,
      y: y - (12 * v[1]) / far + 5,
      "text-anchor": right > 0.4 ? "start" : right < -0.4 ? "end" : "middle",
      class: kind,
    },
    name,
  );
}

// The heads of the three kinds of arrow.
function tips() {
  return draw(
    "defs",
    {},
    ...["attention", "forward", "vector"].map((kind) =>
      draw(
        "marker",
        {
          id: `lv-tip-${kind}`,
          viewBox: "0 0 8 8",
          refX: 7,
          refY: 4,
          markerWidth: 12,
          markerHeight: 12,
          markerUnits: "userSpaceOnUse",
          orient: "auto",
        },
        draw("path", { d: "M0 0L8 4L0 8z", class: `lv-tip lv-${kind}` }),
      ),
    ),
  );
}
