// Beam search as a tree that grows and is pruned (chapter 9): a column for each step, a box for each hypothesis that was kept; below those of the step in
// view, struck through, the best of the candidates that were not.
import { drawTree, score, stepsSeen } from "./beam_tree.js";
import { make, slider, whole } from "./figure.js";
import { lengthPenalty } from "./beam.js";
import { TwoWays } from "./two_ways.js";
import { still } from "./zooming.js";

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
    return wide ? stepsSeen(wide) : Infinity;
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

  // The step in view, which is the last that is drawn, into sight.
  follow() {
    this.tree.scrollLeft = this.tree.scrollWidth;
  }

  paint() {
    const last = Number(this.at.input.value);
    this.tree.replaceChildren(drawTree(this.steps, last, this.opened));
    this.about.textContent = `${this.stands(last)} ${choosing(this.steps[last - 1])}`;
    this.list(last);
  }

  // Where the search stands after so many steps.
  stands(last) {
    const { live, done, cut, finished } = this.steps[last - 1],
      all = this.steps.length;
    if (done && last === all) {
      const end = cut
        ? `Cut off after ${last} steps`
        : `Done after ${last} steps: as they stand, no living one scores better than the worst finished one`;
      return `${end}. The sum is that of the log probabilities, as in the boxes; the penalty grows with the number of tokens.`;
    }
    return `After step ${last}${this.opened ? ` of ${all}` : ""}: ${live.length} alive, ${finished.length} finished. Boxes show the last token and the sum of log probabilities so far; what has no descendant is pale.`;
  }

  // What has finished after so many steps, as a table; as long as the tree is cut, what came of the whole search.
  list(last) {
    const all = this.steps.length,
      { finished } = this.steps[(this.opened ? all : last) - 1];
    const row = (cells, name, options = {}) =>
      make("tr", {}, ...cells.map((cell) => make(name, options, cell)));
    const heads = row(["sentence", "tokens", "sum", "÷ penalty", "= score"], "th", {
      scope: "col",
    });
    const caption = finished.length
      ? `Finished${last < all && this.opened ? ` after step ${all}` : ""}, best first`
      : "Nothing has finished yet";
    const rows = finished.map(({ text, tokens, score: total }) => {
      const penalty = lengthPenalty(tokens.length, this.searched.alpha);
      const numbers = [total * penalty, penalty, total].map(score);
      return row([text, String(tokens.length), ...numbers], "td");
    });
    this.finished.replaceChildren(
      make("caption", {}, caption),
      ...(finished.length ? [make("thead", {}, heads)] : []),
      make("tbody", {}, ...rows),
    );
  }
}
