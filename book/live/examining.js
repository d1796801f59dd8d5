// Two systems and one test (chapter 13b): how often luck puts the worse one ahead, and how often a sign test notices the better one.
import { Figure, choice, columns, draw, make, percent, slider, whole } from "./figure.js";

const WIDE = 640,
  HIGH = 280,
  SIDE = 18,
  MIDDLE = 160, // the axis: above it all test sets, below it those that were drawn
  TALL = 140;
const RARE = 1e-12; // what is rarer than this is left out
const STEPS = [0.5, 1, 2, 5, 10, 20]; // points between two marks of the axis
const KINDS = ["first", "level", "second"];

function lnFactorials(most) {
  const all = [0];
  for (let n = 1; n <= most; n++) all.push(all[n - 1] + Math.log(n));
  return all;
}

// How likely each number of heads is, 0 to n, in n tosses of a coin that shows heads with probability p.
export function heads(n, p, ln = lnFactorials(n)) {
  if (p <= 0 || p >= 1)
    return Array.from({ length: n + 1 }, (_, k) => Number(k === (p <= 0 ? 0 : n)));
  const [yes, no] = [Math.log(p), Math.log(1 - p)];
  return Array.from({ length: n + 1 }, (_, k) =>
    Math.exp(ln[n] - ln[k] - ln[n - k] + k * yes + (n - k) * no),
  );
}

// How often fair coins would divide so many disagreements at least as unevenly: the chapter's sign_test.
export function signTest(onlyFirst, onlySecond) {
  const more = Math.max(onlyFirst, onlySecond);
  const tail = heads(onlyFirst + onlySecond, 0.5).slice(more);
  return Math.min(1, 2 * tail.reduce((sum, share) => sum + share, 0));
}

// Of n disagreements: how many one system must win for p < 0.05; n + 1 where all n are too few.
export function fewest(n, ln = lnFactorials(n)) {
  const fair = heads(n, 0.5, ln);
  let least = n + 1,
    tail = 0;
  while (least > 0 && 2 * (tail + fair[least - 1]) < 0.05) tail += fair[--least];
  return least;
}

// On how many of all sentences only the first system is right, only the second, both. They differ on the share `differ`.
export function shares(first, second, differ) {
  const only = (differ + first - second) / 2;
  return { first: only, second: differ - only, both: first - only };
}

// The least and the largest share of sentences on which two systems with such accuracies can differ.
export const possible = (first, second) => [
  Math.abs(first - second),
  Math.min(first + second, 2 - first - second),
];

// Over all test sets of n sentences: how likely each lead of the first system is, who is ahead, and whom the sign test calls better.
export function outcomes(n, first, second, differ) {
  const ln = lnFactorials(n),
    only = shares(first, second, differ).first;
  const found = { first: 0, level: 0, second: 0, noticed: { first: 0, second: 0 } };
  const leads = new Map();
  heads(n, differ, ln).forEach((likely, apart) => {
    if (likely < RARE) return;
    const enough = fewest(apart, ln);
    heads(apart, differ ? only / differ : 0.5, ln).forEach((share, wins) => {
      const chance = likely * share,
        lead = 2 * wins - apart;
      leads.set(lead, (leads.get(lead) ?? 0) + chance);
      found[KINDS[1 - Math.sign(lead)]] += chance;
      if (wins >= enough) found.noticed.first += chance;
      if (apart - wins >= enough) found.noticed.second += chance;
    });
  });
  return { ...found, leads };
}

// One test set of n sentences: how many each system has right, and where only one has.
export function examine(n, first, second, differ, chance = Math.random) {
  const of = shares(first, second, differ),
    got = { both: 0, onlyFirst: 0, onlySecond: 0 };
  for (let i = 0; i < n; i++) {
    const x = chance();
    if (x < of.first) got.onlyFirst++;
    else if (x < differ) got.onlySecond++;
    else if (x < differ + of.both) got.both++;
  }
  const { both, onlyFirst, onlySecond } = got;
  const lead = onlyFirst - onlySecond,
    p = signTest(onlyFirst, onlySecond);
  return { ...got, first: both + onlyFirst, second: both + onlySecond, lead, p };
}

export class Examining extends Figure {
  constructor(host, options) {
    super(host, options);
    const accuracy = (label, value) =>
      slider(label, { min: 0.5, max: 0.99, step: 0.01, value }, (p) => p.toFixed(2));
    this.first = accuracy("True accuracy of the first", options.first);
    this.second = accuracy("True accuracy of the second", options.second);
    this.differ = slider(
      "Sentences on which they differ",
      { min: 0, max: 1, step: 0.01, value: options.differ },
      (share) => `${Math.round(100 * share)} %`,
    );
    this.size = choice(
      "Test set",
      options.sizes.map((n) => [n, `${whole(n)} sentences`]),
    );
    this.size.select.value = options.size;
    const button = (text, press) => {
      const one = make("button", { type: "button" }, text);
      one.addEventListener("click", press);
      return one;
    };
    this.svg = draw("svg", {
      viewBox: `0 0 ${WIDE} ${HIGH}`,
      class: "lv-curves lv-leads",
      role: "img",
    });
    this.told = make("table", { class: "lv-counts" });
    this.about = make("p", { class: "lv-about" });
    this.latest = make("p", { class: "lv-about", "aria-live": "polite" });
    this.show(
      make("div", { class: "lv-row" }, this.first.whole, this.second.whole),
      make("div", { class: "lv-row" }, this.differ.whole, this.size.whole),
      make(
        "div",
        { class: "lv-row" },
        button("Draw one test set", () => this.ask(1)),
        button("Draw 100", () => this.ask(100)),
        button("Forget them", () => this.empty()),
      ),
      make(
        "p",
        { class: "lv-head" },
        "Across: by how many points the first is ahead. Upwards: how often, over all test sets. Downwards: over those that were drawn",
      ),
      this.svg,
      this.told,
      this.about,
      this.latest,
    );
    for (const { input } of [this.first, this.second])
      input.addEventListener("input", () => this.hold());
    for (const input of [this.first.input, this.second.input, this.differ.input, this.size.select])
      input.addEventListener("input", () => this.empty(true));
    this.hold();
    this.empty();
  }

  get values() {
    return [this.first, this.second, this.differ].map(({ input }) => Number(input.value));
  }

  get n() {
    return Number(this.size.select.value);
  }

  // Two systems differ at least on as many sentences as one has more right.
  hold() {
    const [first, second] = this.values,
      [least, most] = possible(first, second);
    this.differ.input.min = least.toFixed(2);
    this.differ.input.max = most.toFixed(2);
    this.differ.tell();
  }

  // Other systems, another test: what was drawn was of these.
  empty(touched = false) {
    if (touched) this.used();
    this.drawn = { tests: 0, first: 0, level: 0, second: 0, noticed: { first: 0, second: 0 } };
    this.drawn.leads = new Map();
    this.latest.textContent = "";
    this.expected = outcomes(this.n, ...this.values);
    this.paint();
  }

  ask(times) {
    this.used();
    const { drawn } = this;
    let one;
    for (let i = 0; i < times; i++) {
      one = examine(this.n, ...this.values);
      const { lead, p } = one,
        kind = KINDS[1 - Math.sign(lead)];
      drawn.tests++;
      drawn[kind]++;
      drawn.leads.set(lead, (drawn.leads.get(lead) ?? 0) + 1);
      if (p < 0.05) drawn.noticed[kind]++;
    }
    const { first, second, onlyFirst, onlySecond, p } = one;
    this.latest.textContent = `The last one: ${whole(first)} and ${whole(second)} of ${whole(this.n)} right. Only the first was right on ${onlyFirst}, only the second on ${onlySecond}: p = ${p < 0.001 ? "less than 0.001" : p.toFixed(3)}.`;
    this.paint();
  }

  paint() {
    const { n, expected, drawn } = this;
    const seen = [...expected.leads].filter(([, share]) => share > 1e-4).map(([lead]) => lead);
    const end = Math.max(...seen.map(Math.abs), 1),
      apart = (WIDE - 2 * SIDE) / (2 * end + 1);
    const x = (lead) => WIDE / 2 + lead * apart;
    const highest = Math.max(...expected.leads.values());
    const bars = (leads, of, up) =>
      [...leads]
        .filter(([lead]) => Math.abs(lead) <= end)
        .map(([lead, share]) => {
          const height = up
            ? (share * TALL) / highest
            : Math.min(0.65 * TALL, (0.45 * TALL * share) / of / highest); // one alone would reach far down
          return draw("rect", {
            x: (x(lead) - apart / 2).toFixed(2),
            width: Math.max(0.5, apart - Math.min(1.5, apart / 5)).toFixed(2),
            y: (up ? MIDDLE - height : MIDDLE).toFixed(2),
            height: height.toFixed(2),
            class: `lv-${KINDS[1 - Math.sign(lead)]}${up ? "" : " lv-drawn"}`,
          });
        });
    const points = (100 * end) / n,
      step = STEPS.find((size) => points / size <= 4) ?? STEPS.at(-1);
    const marks = [];
    for (let at = -Math.floor(points / step); at <= points / step; at++)
      marks.push(
        draw(
          "text",
          { x: x((at * step * n) / 100).toFixed(1), y: HIGH - 6, "text-anchor": "middle" },
          `${at > 0 ? "+" : ""}${String(at * step).replace("-", "−")}`,
        ),
      );
    this.svg.replaceChildren(
      ...bars(expected.leads, 1, true),
      ...bars(drawn.leads, drawn.tests, false),
      draw("line", { x1: SIDE, x2: WIDE - SIDE, y1: MIDDLE, y2: MIDDLE, class: "lv-axis" }),
      ...marks,
    );
    this.tell();
  }

  tell() {
    const { n, expected, drawn } = this,
      [first, second] = this.values;
    const row = (name, of) => [name, percent(of(expected)), drawn.tests ? String(of(drawn)) : ""];
    this.told.replaceChildren(
      ...columns(
        [["of all"], [drawn.tests ? `of ${whole(drawn.tests)} drawn` : "drawn"]],
        [
          row("the first is ahead", (of) => of.first),
          row("level", (of) => of.level),
          row("the second is ahead", (of) => of.second),
          row("p < 0.05, for the first", (of) => of.noticed.first),
          row("p < 0.05, for the second", (of) => of.noticed.second),
        ],
      ),
    );
    const around = (p) => `${p.toFixed(2)} ± ${(2 * Math.sqrt((p * (1 - p)) / n)).toFixed(3)}`;
    const better =
      first === second
        ? "Neither is better: every lead is luck"
        : `The ${first > second ? "first" : "second"} is better`;
    this.about.textContent = `${better}. Two standard errors: ${around(first)} and ${around(second)}.`;
    this.svg.setAttribute(
      "aria-label",
      `Leads of the first system over all test sets of ${whole(n)} sentences: ahead in ${percent(expected.first)}, level in ${percent(expected.level)}, behind in ${percent(expected.second)}.`,
    );
  }
}
