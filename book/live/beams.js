// Beam search as a tree that grows and is pruned (chapter 9): a column for each step, a box for each hypothesis that was kept.
import { draw, make, slider } from "./figure.js";
import { lengthPenalty } from "./beam.js";
import { TwoWays } from "./two_ways.js";
import { signed } from "./walk.js";
import { still } from "./zooming.js";

const COLUMN = 104,
  ROW = 40,
  BOX = { width: 88, height: 28 },
  ROOT = 20,
  LETTERS = 11;

const score = (value) => signed(value);
const cut = (token) =>
  Array.from(token).length > LETTERS
    ? `${Array.from(token)
        .slice(0, LETTERS - 1)
        .join("")}…`
    : token;

export class Beams extends TwoWays {
  constructor(host, options) {
    super(host, options);
    const sentence = this.asks("Your sentence or list", "Search", () => this.search(), 300);
    this.width = slider("Beam width", { min: 1, max: 6, step: 1, value: 3 }, String);
    this.alpha = slider("Length penalty α", { min: 0, max: 2, step: 0.1, value: 0.6 }, (x) =>
      x.toFixed(1),
    );
    this.at = slider("Step", { min: 1, max: 1, step: 1, value: 1 }, String);
    this.play = make("button", { type: "button" }, "Watch it grow");
    this.tree = make("div", {
      class: "lv-tree",
      tabindex: 0,
      role: "group",
      "aria-label": "The tree of hypotheses",
    });
    this.about = make("p", { class: "lv-about", "aria-live": "polite" });
    this.finished = make("table", { class: "lv-finished" });
    this.found = make(
      "div",
      { hidden: "" },
      make("div", { class: "lv-row" }, this.at.whole, this.play),
      this.tree,
      this.about,
      make(
        "div",
        {
          class: "lv-scroll",
          tabindex: 0,
          role: "group",
          "aria-label": "Table of finished sentences",
        },
        this.finished,
      ),
    );
    this.show(
      this.direction.whole,
      sentence,
      this.examples,
      make("div", { class: "lv-row" }, this.width.whole, this.alpha.whole),
      make("div", { class: "lv-row" }, this.go),
      this.status,
      this.found,
    );
    this.at.input.addEventListener("input", () => {
      this.halt();
      this.paint();
    });
    this.play.addEventListener("click", () => (this.playing ? this.halt() : this.grow()));
    for (const { input } of [this.width, this.alpha])
      input.addEventListener("change", () => {
        if (!this.found.hidden || this.turn) this.search();
      });
    this.text.addEventListener("input", () => this.forget());
    this.prepare();
  }

  get verb() {
    return "search";
  }

  start() {
    return this.search();
  }

  forget() {
    this.halt();
    super.forget();
  }

  async search() {
    const text = this.typed;
    this.halt();
    if (!text) {
      this.forget();
      this.say("Type a sentence first.", true);
      return;
    }
    const request = {
      text,
      width: Number(this.width.input.value),
      alpha: Number(this.alpha.input.value),
    };
    const steps = await this.run(this.machine, "beam", request, () => {});
    if (!steps) return;
    this.steps = steps;
    this.searched = request;
    this.found.hidden = false;
    this.at.input.max = steps.length; // before the value, which it bounds
    this.at.input.value = steps.length;
    this.at.input.dispatchEvent(new Event("input")); // it tells its value, and paints
  }

  // One step more every half second, until the end or another press.
  grow() {
    const now = () => Number(this.at.input.value),
      last = this.steps.length;
    const show = (step) => {
      this.at.input.value = step;
      this.at.tell();
      this.paint();
      if (step === last) this.halt(); // before it paints, so that the end is heard
    };
    const first = now() === last ? 1 : now() + 1;
    if (first < last) {
      this.play.textContent = "Pause";
      this.playing = setInterval(() => document.hidden || show(now() + 1), still() ? 900 : 500);
    }
    show(first);
  }

  halt() {
    clearInterval(this.playing);
    this.playing = undefined;
    this.play.textContent = "Watch it grow";
  }

  // What has a descendant at the step that is shown, or ended and is among the best: all else was pruned.
  alive(last) {
    const kept = this.steps.slice(0, last).map(() => new Set());
    const follow = (n, place) => {
      for (; n >= 0 && !kept[n].has(place); n--) {
        kept[n].add(place);
        place = this.steps[n].live[place].parent;
      }
    };
    this.steps[last - 1].live.forEach((_, place) => follow(last - 1, place));
    const best = new Set(this.steps[last - 1].finished.map(({ tokens }) => tokens.join()));
    this.steps.slice(0, last).forEach(({ ended }, n) => {
      for (const one of ended) if (best.has(one.tokens.join())) follow(n - 1, one.parent);
    });
    return kept;
  }

  paint() {
    const last = Number(this.at.input.value),
      steps = this.steps.slice(0, last),
      kept = this.alive(last);
    const rows = Math.max(...steps.map(({ live, ended }) => live.length + ended.length));
    const width = ROOT + COLUMN * last + 4,
      height = ROW * rows + 4;
    const x = (n) => ROOT + COLUMN * n + (COLUMN - BOX.width),
      y = (place) => 4 + ROW * place;
    const from = (n, parent) =>
      n ? [x(n - 1) + BOX.width, y(parent) + BOX.height / 2] : [ROOT - 6, y(0) + BOX.height / 2];
    const lines = [],
      boxes = [];
    steps.forEach(({ live, ended, finished }, n) => {
      const among = new Set(this.steps[last - 1].finished.map(({ tokens }) => tokens.join()));
      [
        ...live.map((one, place) => [one, place, kept[n].has(place) ? "live" : "pruned"]),
        ...ended.map((one, i) => [
          one,
          live.length + i,
          among.has(one.tokens.join()) ? "ended" : "pruned",
        ]),
      ].forEach(([one, place, kind]) => {
        const [x1, y1] = from(n, one.parent),
          x2 = x(n),
          y2 = y(place) + BOX.height / 2,
          bend = (x1 + x2) / 2;
        lines.push(
          draw("path", {
            d: `M${x1} ${y1}C${bend} ${y1} ${bend} ${y2} ${x2} ${y2}`,
            class: `lv-branch lv-${kind}`,
          }),
        );
        const box = draw(
          "g",
          { class: `lv-node lv-${kind}`, transform: `translate(${x2} ${y(place)})` },
          draw("title", {}, `${one.text || one.token}: ${score(one.score)}`),
          draw("rect", { width: BOX.width, height: BOX.height, rx: 6 }),
          draw("text", { x: BOX.width / 2, y: 12 }, cut(one.token)),
          draw("text", { x: BOX.width / 2, y: 24, class: "lv-small" }, score(one.score)),
        );
        boxes.push(box);
      });
    });
    const picture = draw(
      "svg",
      {
        width,
        height,
        viewBox: `0 0 ${width} ${height}`,
        role: "img",
        "aria-label": `After step ${last}: ${
          steps
            .at(-1)
            .live.map(({ text }) => text)
            .join("; ") || "nothing lives on"
        }`,
      },
      ...lines,
      ...boxes,
    );
    this.tree.replaceChildren(picture);
    this.tree.scrollLeft = this.tree.scrollWidth;
    const { live, finished, done, cut: short } = steps.at(-1);
    this.about.textContent =
      done && last === this.steps.length
        ? `${short ? `Cut off after ${last} steps` : `Done after ${last} steps: as they stand, no living one scores better than the worst finished one`}. The sum is that of the log probabilities, as in the boxes; the penalty grows with the number of tokens.`
        : `After step ${last}: ${live.length} alive, ${finished.length} finished. Boxes show the last token and the sum of log probabilities so far; what has no descendant is pale.`;
    this.finished.replaceChildren(
      make("caption", {}, finished.length ? "Finished, best first" : "Nothing has finished yet"),
      ...(finished.length
        ? [
            make(
              "thead",
              {},
              make(
                "tr",
                {},
                ...["sentence", "tokens", "sum", "÷ penalty", "= score"].map((head) =>
                  make("th", { scope: "col" }, head),
                ),
              ),
            ),
          ]
        : []),
      make(
        "tbody",
        {},
        ...finished.map(({ text, tokens, score: total }) => {
          const penalty = lengthPenalty(tokens.length, this.searched.alpha);
          return make(
            "tr",
            {},
            ...[
              text,
              String(tokens.length),
              score(total * penalty),
              score(penalty),
              score(total),
            ].map((said) => make("td", {}, said)),
          );
        }),
      ),
    );
  }
}
