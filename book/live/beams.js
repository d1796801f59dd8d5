// Beam search as a tree that grows and is pruned (chapter 9): a column for each step, a box for each hypothesis that was kept; below those of the step in
// view, struck through, the best of the candidates that were not.
import { draw, make, slider, whole } from "./figure.js";
import { lengthPenalty } from "./beam.js";
import { TwoWays } from "./two_ways.js";
import { signed } from "./walk.js";
import { still } from "./zooming.js";

const COLUMN = 104,
  ROW = 40,
  BOX = { width: 88, height: 28 },
  ROOT = 20,
  LETTERS = 11,
  CLOSER = 32, // rows of candidates that were not kept
  HEAD = 18; // above the candidates that were not kept, for a word on them

const score = (value) => signed(value);
const cut = (token) =>
  Array.from(token).length > LETTERS
    ? `${Array.from(token)
        .slice(0, LETTERS - 1)
        .join("")}…`
    : token;

const texts = (hypotheses) => hypotheses.map(({ text }) => text).join("; ");

// How many of a step's candidates were kept, in words.
function choosing({ live, ended, lost, of: { begun, each } }) {
  const ends = ended.length ? ` to go on, and ${ended.length} that ended` : "";
  const others = lost.length ? "; struck through are the best of the others" : "";
  return `Kept ${live.length} of ${whole(begun * each)} candidates (${begun} alive before × ${whole(each)} tokens)${ends}${others}.`;
}

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
      this.beyond,
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
      this.opened = false;
      this.halt();
      this.paint();
      this.follow();
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
    let read;
    const steps = await this.run(this.machine, "beam", request, (part) => {
      if (part.source) read = part;
    });
    if (!steps) return;
    if (read) this.reads(read);
    this.steps = steps;
    this.searched = request;
    this.found.hidden = false;
    this.at.input.max = steps.length; // before the value, which it bounds
    this.at.input.value = Math.min(steps.length, this.room());
    this.at.tell();
    this.opened = true; // the tree is cut, and yet the table says what came of the search
    this.paint();
    this.tree.scrollLeft = 0;
  }

  // How many steps of a tree can be seen without scrolling, or all where it has no place yet. With more than that the tree would open
  // at its root, and what its last step did not keep would stand far to the right of an empty strip.
  room() {
    const wide = this.tree.clientWidth;
    return wide ? Math.max(1, Math.floor((wide - ROOT - 4) / COLUMN)) : Infinity;
  }

  // One step more every half second, until the end or another press.
  grow() {
    const now = () => Number(this.at.input.value),
      last = this.steps.length;
    const show = (step) => {
      this.at.input.value = step;
      this.at.tell();
      this.paint();
      this.follow();
      if (step === last) this.halt(); // before it paints, so that the end is heard
    };
    const first = this.opened || now() === last ? 1 : now() + 1;
    this.opened = false;
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

  // The step in view, which is the last that is drawn, into sight.
  follow() {
    this.tree.scrollLeft = this.tree.scrollWidth;
  }

  paint() {
    const last = Number(this.at.input.value),
      steps = this.steps.slice(0, last),
      kept = this.alive(last);
    const taken = ({ live, ended }) => live.length + ended.length,
      { lost } = steps.at(-1),
      below = 4 + ROW * taken(steps.at(-1)) + HEAD; // where the first that was not kept stands
    // of all steps, so that what is below the tree stays where it is while it grows; at first of those that are shown
    const needs = (step) =>
      ROW * taken(step) + (step.lost.length ? HEAD + CLOSER * step.lost.length : 0);
    const width = ROOT + COLUMN * last + 4,
      height = 4 + Math.max(...(this.opened ? steps : this.steps).map(needs));
    const x = (n) => ROOT + COLUMN * n + (COLUMN - BOX.width),
      y = (place) => 4 + ROW * place;
    const from = (n, parent) =>
      n ? [x(n - 1) + BOX.width, y(parent) + BOX.height / 2] : [ROOT - 6, y(0) + BOX.height / 2];
    const lines = [],
      boxes = [];
    const put = (n, one, top, kind) => {
      const [x1, y1] = from(n, one.parent),
        x2 = x(n),
        y2 = top + BOX.height / 2,
        bend = (x1 + x2) / 2;
      lines.push(
        draw("path", {
          d: `M${x1} ${y1}C${bend} ${y1} ${bend} ${y2} ${x2} ${y2}`,
          class: `lv-branch lv-${kind}`,
        }),
      );
      const title = `${one.text || one.token}: ${score(one.score)}`;
      boxes.push(
        draw(
          "g",
          { class: `lv-node lv-${kind}`, transform: `translate(${x2} ${top})` },
          draw("title", {}, kind === "lost" ? `${title}, not kept` : title),
          draw("rect", { width: BOX.width, height: BOX.height, rx: 6 }),
          draw("text", { x: BOX.width / 2, y: 12, class: "lv-token" }, cut(one.token)),
          draw("text", { x: BOX.width / 2, y: 24, class: "lv-small" }, score(one.score)),
        ),
      );
    };
    steps.forEach(({ live, ended, finished }, n) => {
      const among = new Set(this.steps[last - 1].finished.map(({ tokens }) => tokens.join()));
      [
        ...live.map((one, place) => [one, place, kept[n].has(place) ? "live" : "pruned"]),
        ...ended.map((one, i) => [
          one,
          live.length + i,
          among.has(one.tokens.join()) ? "ended" : "pruned",
        ]),
      ].forEach(([one, place, kind]) => put(n, one, y(place), kind));
    });
    lost.forEach((one, i) => put(last - 1, one, below + CLOSER * i, "lost"));
    if (lost.length)
      boxes.push(
        draw(
          "text",
          { x: x(last - 1) + BOX.width / 2, y: below - 6, class: "lv-not-kept" },
          "not kept:",
        ),
      );
    const picture = draw(
      "svg",
      {
        width,
        height,
        viewBox: `0 0 ${width} ${height}`,
        role: "img",
        "aria-label": `After step ${last}: ${texts(steps.at(-1).live) || "nothing lives on"}${
          lost.length ? `; not kept, among others: ${texts(lost)}` : ""
        }`,
      },
      ...lines,
      ...boxes,
    );
    this.tree.replaceChildren(picture);
    const { live, done, cut: short } = steps.at(-1),
      { finished } = (this.opened ? this.steps : steps).at(-1);
    const said =
      done && last === this.steps.length
        ? `${short ? `Cut off after ${last} steps` : `Done after ${last} steps: as they stand, no living one scores better than the worst finished one`}. The sum is that of the log probabilities, as in the boxes; the penalty grows with the number of tokens.`
        : `After step ${last}${this.opened ? ` of ${this.steps.length}` : ""}: ${live.length} alive, ${steps.at(-1).finished.length} finished. Boxes show the last token and the sum of log probabilities so far; what has no descendant is pale.`;
    this.about.textContent = `${said} ${choosing(steps.at(-1))}`;
    this.finished.replaceChildren(
      make(
        "caption",
        {},
        finished.length
          ? `Finished${steps.length < this.steps.length && this.opened ? ` after step ${this.steps.length}` : ""}, best first`
          : "Nothing has finished yet",
      ),
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
