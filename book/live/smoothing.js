// The loss over the probability of the right token (chapter 8), with label smoothing and without; the other tokens share the rest.
import { Figure, choice, columns, draw, make, slider } from "./figure.js";
import { signed } from "./walk.js";

const WIDE = 640,
  HIGH = 300,
  LEFT = 44,
  RIGHT = 14,
  TOP = 20,
  BOTTOM = 32;
export const LEAST = 0.01,
  MOST = 0.999;

// What the target gives to the right token and to each other one of `vocab`: Szegedy's rule and PyTorch's.
export function target(vocab, smoothing) {
  return { right: 1 - smoothing + smoothing / vocab, other: smoothing / vocab };
}

// Cross-entropy of that target; `right`: the probability of the right token. A target of 0 costs nothing.
export function loss(right, vocab, smoothing) {
  const aim = target(vocab, smoothing),
    other = (1 - right) / (vocab - 1);
  const part = (share, probability) => (share ? -share * Math.log(probability) : 0);
  return part(aim.right, right) + (vocab - 1) * part(aim.other, other);
}

// The gradient at the right token's score, and at each other's: probability minus target.
export function gradient(right, vocab, smoothing) {
  const aim = target(vocab, smoothing);
  return { right: right - aim.right, other: (1 - right) / (vocab - 1) - aim.other };
}

export class Smoothing extends Figure {
  constructor(host, options) {
    super(host, options);
    this.right = slider(
      "Probability of the right token",
      { min: LEAST, max: MOST, step: 0.001, value: options.right },
      (p) => p.toFixed(3),
    );
    this.epsilon = slider(
      "Smoothing ε",
      { min: 0, max: 0.5, step: 0.01, value: options.smoothing },
      (e) => e.toFixed(2),
    );
    this.vocab = choice(
      "Vocabulary",
      options.vocabularies.map((n) => [n, `${n.toLocaleString("en-US")} tokens`]),
    );
    this.vocab.select.value = options.vocabulary;
    this.svg = draw("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, class: "lv-curves", role: "img" });
    this.told = make("table", { class: "lv-counts" });
    this.about = make("p", { class: "lv-about" });
    this.show(
      make("div", { class: "lv-row" }, this.right.whole, this.epsilon.whole),
      make("div", { class: "lv-row" }, this.vocab.whole),
      make(
        "p",
        { class: "lv-head" },
        "Across: the probability of the right token. Up: the loss. Drag the line, or move the slider",
      ),
      this.svg,
      this.told,
      this.about,
    );
    for (const { input } of [this.right, this.epsilon])
      input.addEventListener("input", () => this.paint(true));
    this.vocab.select.addEventListener("change", () => this.paint(true));
    this.svg.addEventListener("pointerdown", (event) => {
      this.svg.setPointerCapture(event.pointerId);
      this.drag(event);
    });
    this.svg.addEventListener("pointermove", (event) => {
      if (this.svg.hasPointerCapture(event.pointerId)) this.drag(event);
    });
    this.paint();
  }

  get values() {
    return {
      right: Number(this.right.input.value),
      vocab: Number(this.vocab.select.value),
      smoothing: Number(this.epsilon.input.value),
    };
  }

  // The probability under the pointer.
  drag(event) {
    const box = this.svg.getBoundingClientRect(),
      x = ((event.clientX - box.left) / box.width) * WIDE;
    this.right.input.value = Math.min(
      MOST,
      Math.max(LEAST, (x - LEFT) / (WIDE - LEFT - RIGHT)),
    ).toFixed(3);
    this.right.tell();
    this.paint(true);
  }

  paint(touched = false) {
    if (touched) this.used();
    const { right, vocab, smoothing } = this.values;
    const lines = smoothing
      ? [
          [0, "lv-sharp"],
          [smoothing, "lv-smooth"],
        ]
      : [[0, "lv-sharp"]];
    const highest = 5;
    const x = (p) => LEFT + p * (WIDE - LEFT - RIGHT),
      y = (value) => TOP + (1 - Math.min(value, 1.2 * highest) / highest) * (HIGH - TOP - BOTTOM);
    const ticks = [0, 1, 2, 3, 4, 5].flatMap((value) => [
      draw("line", {
        x1: LEFT,
        x2: WIDE - RIGHT,
        y1: y(value),
        y2: y(value),
        class: value ? "lv-grid" : "lv-axis",
      }),
      draw("text", { x: LEFT - 8, y: y(value) + 5, "text-anchor": "end" }, String(value)),
    ]);
    const below = [0, 0.2, 0.4, 0.6, 0.8, 1].map((p) =>
      draw(
        "text",
        { x: x(p), y: HIGH - BOTTOM + 24, "text-anchor": p === 1 ? "end" : "middle" },
        String(p),
      ),
    );
    const points = Array.from({ length: 400 }, (_, i) => LEAST + ((0.9999 - LEAST) * i) / 399);
    const curves = lines.map(([epsilon, kind]) =>
      draw("polyline", {
        class: kind,
        points: points
          .map((p) => `${x(p).toFixed(1)},${y(loss(p, vocab, epsilon)).toFixed(1)}`)
          .join(" "),
      }),
    );
    const lowest = smoothing
      ? [
          draw("line", {
            x1: x(target(vocab, smoothing).right),
            x2: x(target(vocab, smoothing).right),
            y1: TOP,
            y2: y(0),
            class: "lv-lowest",
          }),
        ]
      : [];
    const dots = lines.map(([epsilon, kind]) =>
      draw("circle", { cx: x(right), cy: y(loss(right, vocab, epsilon)), r: 7, class: kind }),
    );
    const clip = draw(
      "svg",
      {
        x: 0,
        y: TOP,
        width: WIDE,
        height: HIGH - TOP - BOTTOM + 8,
        viewBox: `0 ${TOP} ${WIDE} ${HIGH - TOP - BOTTOM + 8}`,
      },
      ...curves,
      ...lowest,
      draw("line", { x1: x(right), x2: x(right), y1: TOP, y2: y(0), class: "lv-here" }),
      ...dots,
    );
    this.svg.replaceChildren(...ticks, ...below, clip);
    this.tell(right, vocab, smoothing);
  }

  tell(right, vocab, smoothing) {
    const epsilons = smoothing ? [0, smoothing] : [0];
    const row = (name, of) => [name, ...epsilons.map(of)];
    this.told.replaceChildren(
      ...columns(
        epsilons.map((e) => [`ε = ${e}`, e ? "lv-smooth" : "lv-sharp"]),
        [
          row("loss", (e) => signed(loss(right, vocab, e), 3)),
          row("target of the right token", (e) => target(vocab, e).right.toFixed(4)),
          row("gradient at its score", (e) => signed(gradient(right, vocab, e).right, 4)),
          row("gradient at each other's", (e) => signed(gradient(right, vocab, e).other, 4)),
          row("lowest loss that can be reached", (e) =>
            (e ? loss(target(vocab, e).right, vocab, e) : 0).toFixed(3),
          ),
        ],
      ),
    );
    const { right: slope } = gradient(right, vocab, smoothing);
    const says =
      Math.abs(slope) < 5e-4
        ? "the score of the right token stays where it is"
        : slope < 0
          ? "a step makes the right token likelier"
          : "a step makes the right token less likely: it was too sure";
    this.about.textContent = `With ε = ${smoothing}: ${says}.`;
    this.svg.setAttribute(
      "aria-label",
      `Loss over the probability of the right token, ${vocab} tokens. At ${right.toFixed(3)}: ${epsilons.map((e) => `${loss(right, vocab, e).toFixed(3)} with ε = ${e}`).join(", ")}.`,
    );
  }
}
