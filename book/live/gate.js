// What a gate keeps (chapter 1): three numbers of a state, each with a gate of its own, over the words that are read.
import { Figure, columns, draw, make, slider } from "./figure.js";
import { signed } from "./walk.js";

const WIDE = 640,
  HIGH = 260,
  LEFT = 44,
  RIGHT = 14,
  TOP = 16,
  BOTTOM = 44;
const KINDS = ["lv-one", "lv-two", "lv-three"];

// A number of the state after each of `words` words: 1 at first, then h' = z h + (1 - z) n.
export function kept(gate, candidate, words) {
  const states = [1];
  while (states.length <= words) states.push(gate * states.at(-1) + (1 - gate) * candidate);
  return states;
}

// After how many words a number has gone half of its way to the candidate; never with a gate of 1.
export const halfLife = (gate) => (gate === 0 ? 0 : Math.log(0.5) / Math.log(gate));

export class Gate extends Figure {
  constructor(host, options) {
    super(host, options);
    this.most = options.most;
    this.gates = options.gates.map((value, i) =>
      slider(
        `Gate of number ${i + 1}`,
        { min: 0, max: 1, step: 0.005, value },
        (z) => `z = ${z.toFixed(3).replace(/0$/, "")}`,
      ),
    );
    this.words = slider(
      "Words read",
      { min: 1, max: options.most, step: 1, value: options.words },
      (n) => String(n),
    );
    this.candidate = slider("Candidate n", { min: -1, max: 1, step: 0.1, value: 0 }, (n) =>
      n.toFixed(1).replace("-", "−"),
    );
    this.svg = draw("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, class: "lv-curves", role: "img" });
    this.told = make("table", { class: "lv-counts" });
    this.show(
      make("div", { class: "lv-row" }, ...this.gates.map(({ whole }) => whole)),
      make("div", { class: "lv-row" }, this.words.whole, this.candidate.whole),
      make(
        "p",
        { class: "lv-head" },
        "Across: words read. Up: the three numbers, which began as 1. Drag the line, or move a slider",
      ),
      this.svg,
      this.told,
    );
    for (const { input } of [...this.gates, this.words, this.candidate])
      input.addEventListener("input", () => this.paint(true));
    this.svg.addEventListener("pointerdown", (event) => {
      this.svg.setPointerCapture(event.pointerId);
      this.drag(event);
    });
    this.svg.addEventListener("pointermove", (event) => {
      if (this.svg.hasPointerCapture(event.pointerId)) this.drag(event);
    });
    this.paint();
  }

  // The word under the pointer.
  drag(event) {
    const box = this.svg.getBoundingClientRect(),
      x = ((event.clientX - box.left) / box.width) * WIDE;
    this.words.input.value = Math.round(((x - LEFT) / (WIDE - LEFT - RIGHT)) * this.most);
    this.words.tell();
    this.paint(true);
  }

  paint(touched = false) {
    if (touched) this.used();
    const gates = this.gates.map(({ input }) => Number(input.value)),
      words = Number(this.words.input.value),
      candidate = Number(this.candidate.input.value);
    const x = (n) => LEFT + (n / this.most) * (WIDE - LEFT - RIGHT);
    const lowest = Math.min(0, candidate),
      y = (h) => TOP + ((1 - h) / (1 - lowest)) * (HIGH - TOP - BOTTOM);
    const ticks = [...new Set([0, 0.5, 1, lowest])].flatMap((h) => [
      draw("line", {
        x1: LEFT,
        x2: WIDE - RIGHT,
        y1: y(h),
        y2: y(h),
        class: h ? "lv-grid" : "lv-axis",
      }),
      draw("text", { x: LEFT - 8, y: y(h) + 5, "text-anchor": "end" }, String(h).replace("-", "−")),
    ]);
    const below = [0, 0.25, 0.5, 0.75, 1].map((part) =>
      draw(
        "text",
        {
          x: x(part * this.most),
          y: HIGH - BOTTOM + 26,
          "text-anchor": part === 1 ? "end" : "middle",
        },
        String(part * this.most),
      ),
    );
    const states = gates.map((gate) => kept(gate, candidate, this.most));
    const lines = states.map((all, i) =>
      draw("polyline", {
        class: KINDS[i],
        points: all.map((h, n) => `${x(n).toFixed(1)},${y(h).toFixed(1)}`).join(" "),
      }),
    );
    const dots = states.map((all, i) =>
      draw("circle", { class: KINDS[i], cx: x(words), cy: y(all[words]), r: 7 }),
    );
    this.svg.replaceChildren(
      ...ticks,
      ...below,
      ...lines,
      draw("line", { x1: x(words), x2: x(words), y1: TOP, y2: y(lowest), class: "lv-here" }),
      ...dots,
    );
    const now = states.map((all) => signed(all[words]));
    const half = gates.map((gate) => (gate === 1 ? "never" : halfLife(gate).toFixed(1)));
    this.told.replaceChildren(
      ...columns(
        KINDS.map((kind, i) => [`number ${i + 1}`, kind]),
        [
          [`after ${words} ${words === 1 ? "word" : "words"}`, ...now],
          ["half-way after … words", ...half],
        ],
      ),
    );
    this.svg.setAttribute(
      "aria-label",
      `Three numbers of a state over the words read. After ${words}: ${now.join(", ")}.`,
    );
  }
}
