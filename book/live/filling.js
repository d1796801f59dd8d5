// A text that grows (chapter 9b): which keys and values a step computes, without a cache and with one, and how many it is in all.
import { Figure, columns, field, make, plural, whole } from "./figure.js";
import { Walk } from "./walk.js";

export const MOST_WORDS = 24;

// How many positions of one self-attention get a key and a value in step number `step`, counted from 1, and in all steps so far.
export const inStep = (step, cache) => (cache && step ? 1 : step);
export const soFar = (step, cache) => (cache ? step : (step * (step + 1)) / 2);

// What one decoder block of width d does while n words are written: multiply-adds, as the chapter counts them.
export function multiplyAdds(n, { d = 512, nSource = 24, cache = true } = {}) {
  let total = 2 * d ** 2 * nSource * (cache ? 1 : n); // keys and values of the memory
  for (let step = 1; step <= n; step++)
    total += inStep(step, cache) * (14 * d ** 2 + 2 * d * nSource + 2 * d * step);
  return total;
}

const KINDS = { new: "new", again: "again", kept: "kept", none: "" };

export class Filling extends Figure {
  constructor(host, options) {
    super(host, options);
    this.text = this.bounded(
      make("input", {
        type: "text",
        maxlength: 300,
        dir: "auto",
        spellcheck: "false",
        class: "lv-line",
      }),
    );
    this.text.value = options.words.join(" ");
    this.walk = new Walk((step) => this.paint(step));
    this.sides = [false, true].map((cache) => {
      const list = make("ol", {
        class: "lv-columns",
        "aria-label": cache ? "Keys and values with a cache" : "Keys and values without a cache",
      });
      const now = make("span", {});
      return {
        cache,
        list,
        now,
        whole: make(
          "div",
          {},
          make(
            "p",
            { class: "lv-side" },
            make("b", {}, cache ? "With a cache" : "Without a cache"),
            now,
          ),
          list,
        ),
      };
    });
    this.sum = make("p", { class: "lv-about", "aria-live": "polite" });
    this.counts = make("table", { class: "lv-counts" });
    this.show(
      field("The words that are written", this.text),
      this.walk.whole,
      make("div", { class: "lv-sides" }, ...this.sides.map((side) => side.whole)),
      this.counts,
      this.sum,
      this.status,
    );
    this.text.addEventListener("input", () => this.read());
    this.read();
  }

  read() {
    const words = this.text.value.split(/\s+/u).filter(Boolean);
    this.words = words.slice(0, MOST_WORDS);
    this.leftOut = words.length - this.words.length;
    this.say(words.length ? "" : "Type a word or more.", !words.length);
    for (const side of this.sides)
      side.list.replaceChildren(...this.words.map((word) => column(word)));
    this.walk.begin(this.words.length, Math.min(this.walk.step, this.words.length));
  }

  get wasCut() {
    const more = this.leftOut
      ? `The first ${MOST_WORDS} words are written; ${this.leftOut} are left out.`
      : "";
    return [super.wasCut, more].filter(Boolean).join(" ");
  }

  paint(step) {
    if (step > 0) this.used();
    for (const { cache, list, now } of this.sides) {
      [...list.children].forEach((item, i) => {
        const kind = i >= step ? "none" : i === step - 1 ? "new" : cache ? "kept" : "again";
        item.dataset.kind = kind;
        item.lastChild.textContent = KINDS[kind];
        item.classList.toggle("lv-odd", step % 2 === 1); // what is computed flashes anew in each step
      });
      const n = inStep(step, cache);
      now.textContent = step ? `: ${plural(n, "column")} in this step` : ": nothing is written yet";
    }
    this.count(step);
  }

  count(step) {
    const row = (name, [without, withIt]) => [
      name,
      whole(without),
      whole(withIt),
      withIt ? `${(without / withIt).toFixed(1)} ×` : "–",
    ];
    const millions = [false, true].map((cache) =>
      step ? Math.round(multiplyAdds(step, { cache }) / 1e6) : 0,
    );
    this.counts.replaceChildren(
      make("caption", {}, "So far, in one decoder block"),
      ...columns(
        [["without"], ["with"], [""]],
        [
          row("keys computed, and as many values", [soFar(step, false), soFar(step, true)]),
          row("million multiply–adds, width 512", millions),
        ],
      ),
    );
    this.sum.textContent =
      step > 1
        ? `Without: ${step > 6 ? `1 + 2 + … + ${step}` : Array.from({ length: step }, (_, i) => i + 1).join(" + ")} = ` +
          `${step} · ${step + 1} / 2 = ${whole(soFar(step, false))}. With: ${step}, one for each word.`
        : "";
  }
}

// A word with its key and its value, and a word that says what happens to them.
function column(word) {
  return make(
    "li",
    {},
    make("span", { class: "lv-word" }, word),
    make("b", { class: "lv-k" }, "K"),
    make("b", { class: "lv-v" }, "V"),
    make("small", {}),
  );
}
