// A date written with a cache and without one (chapter 9b): what each step computes anew, what is kept, and that the scores are the
// same; and what a cache that loses something makes of it.
import { beyondPlace, showBeyond } from "./beyond.js";
import { largest } from "./choosing.js";
import { beyondDays } from "./days.js";
import { Figure, make, megabytes, plural, whole } from "./figure.js";
import { seen, unreadable } from "./letters.js";
import { Walk, signed } from "./walk.js";

const LENGTH = 11; // letters of an answer, with its end token
const FIRST = 6; // the step that is shown first
const PAUSE = 1100; // milliseconds a step
const SHOWN = 3; // letters whose scores are listed
const SIDES = ["without", "with"];
const NAMES = { without: "Without a cache", with: "With a cache" };
const ALOUD = {
  new: "query, key and value computed",
  again: "query, key and value computed again",
  kept: "key and value kept",
  lost: "key and value lost",
  none: "",
};

const sum = (steps, what) => steps.reduce((all, step) => all + step[what], 0);
// A difference: of a tiny one its power of ten.
const moved = (x) => (x && x < 0.005 ? x.toExponential(0).replace("-", "−") : x && signed(x));

// One side of a position: the letter that is read, what is computed of it, the letter that is written behind it.
function half(side, at, lose) {
  const chip = (name) =>
    make("b", { class: `lv-${name}`, "aria-hidden": "true" }, name.toUpperCase());
  const [reads, writes] = [make("td", { class: "lv-reads" }), make("td", { class: "lv-writes" })],
    aloud = make("span", { class: "lv-aloud" });
  const button =
    side === "with" &&
    make(
      "button",
      { type: "button" },
      make("span", { class: "lv-aloud" }, `Lose the key and the value at place ${at}`),
      chip("k"),
      chip("v"),
    );
  if (button) button.addEventListener("click", () => lose(at));
  const computes = make(
    "td",
    { class: "lv-computes" },
    aloud,
    chip("q"),
    ...(button ? [button] : [chip("k"), chip("v")]),
  );
  return { reads, aloud, button, computes, writes };
}

export class Remembering extends Figure {
  constructor(host, options) {
    super(host, options);
    [this.alphabet, this.room, this.years] = [options.alphabet, options.room, options.years];
    [this.machine] = this.machines;
    this.faults = { noPlaces: false, lost: [] };
    const date = this.asks("Your date", "Let it write", () => this.read());
    this.text.rows = 1;
    this.text.value = options.text;
    this.walk = new Walk((step) => this.paint(step), PAUSE);
    this.rows = Array.from({ length: LENGTH }, (_, at) => this.row(at));
    this.about = make("p", { class: "lv-about" });
    this.beyond = beyondPlace();
    this.counts = make("table", { class: "lv-spent" });
    this.scores = make("table", { class: "lv-spent" });
    this.compared = make("p", { class: "lv-about" });
    this.noPlaces = make("input", { type: "checkbox", autocomplete: "off" });
    this.mend = make("button", { type: "button" }, "Mend the cache");
    this.show(
      date,
      make(
        "div",
        { class: "lv-examples" },
        ...this.offers(options.examples, (example) => {
          this.text.value = example;
          this.read();
        }),
      ),
      make("div", { class: "lv-begins" }, this.go, this.status),
      this.beyond,
      this.walk.whole,
      make(
        "div",
        { class: "lv-twice" },
        make("div", {}, this.table(), this.breaks()),
        make("div", {}, this.about, this.counts, this.scores, this.compared),
      ),
    );
    this.text.addEventListener("input", () => this.later());
    for (const button of [this.walk.play, this.walk.next, this.walk.again])
      button.addEventListener("click", () => this.hush());
    this.say(
      `${megabytes(this.machine.bytes)} are fetched when you first let it write; what you type stays here.`,
    );
  }

  row(at) {
    const sides = Object.fromEntries(
      SIDES.map((side) => [side, half(side, at, (place) => this.lose(place))]),
    );
    const cells = SIDES.flatMap((side) =>
      ["reads", "computes", "writes"].map((part) => sides[side][part]),
    );
    return { ...sides, whole: make("tr", {}, make("th", { scope: "row" }, String(at)), ...cells) };
  }

  table() {
    const column = (name) => make("th", { scope: "col" }, name);
    return make(
      "table",
      { class: "lv-recall" },
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          make("td", {}),
          ...SIDES.map((side) => make("th", { scope: "colgroup", colspan: 3 }, NAMES[side])),
        ),
        make(
          "tr",
          {},
          column("place"),
          ...SIDES.flatMap(() => ["reads", "vectors", "writes"].map((name) => column(name))),
        ),
      ),
      make("tbody", {}, ...this.rows.map((row) => row.whole)),
    );
  }

  // What the reader can break, and the button that makes all of it good.
  breaks() {
    this.noPlaces.addEventListener("change", () =>
      this.spoil({ ...this.faults, noPlaces: this.noPlaces.checked }),
    );
    this.mend.addEventListener("click", () => this.spoil({ noPlaces: false, lost: [] }));
    return make(
      "div",
      { class: "lv-breaks" },
      make("p", { class: "lv-head" }, "Break the cache: press a key and value, and they are lost."),
      make(
        "label",
        { class: "lv-check" },
        this.noPlaces,
        "The cache forgets the places: every letter gets place 0.",
      ),
      this.mend,
    );
  }

  start() {
    return this.read();
  }

  get asked() {
    return this.text.value.trim().toLowerCase();
  }

  lose(at) {
    const { lost } = this.faults;
    this.spoil({
      ...this.faults,
      lost: lost.includes(at) ? lost.filter((one) => one !== at) : [...lost, at],
    });
  }

  // The text that is shown, with another cache.
  spoil(faults) {
    this.faults = faults;
    this.noPlaces.checked = faults.noPlaces;
    this.rows.forEach(({ with: { button } }, at) =>
      button.setAttribute("aria-pressed", faults.lost.includes(at)),
    );
    this.walk.halt();
    this.hush();
    this.read(this.now?.text);
  }

  // While it plays, nothing is read aloud.
  hush() {
    if (this.answers) return; // the example is not read aloud
    this.about.setAttribute("aria-live", this.walk.playing ? "off" : "polite");
  }

  // What the reader types is read at once, when the model is there already.
  later() {
    clearTimeout(this.waiting);
    if (this.machine.loaded) this.waiting = setTimeout(() => this.read(), 200);
  }

  async read(text = this.asked) {
    clearTimeout(this.waiting);
    const why = unreadable(text, this);
    if (why) {
      this.stop();
      this.say(why, true);
      return;
    }
    const { faults } = this,
      source = Array.from(text, (letter) => this.alphabet.indexOf(letter));
    const found = await this.run(
      this.machine,
      "remember",
      { source, most: LENGTH, faults },
      () => {},
    );
    if (!found) return;
    const last = Math.max(...SIDES.map((side) => found[side].length)),
      step = this.now ? this.walk.step : FIRST;
    this.now = { text, faults, ...found };
    showBeyond(this.beyond, beyondDays(text, this.years));
    this.walk.begin(last, Math.min(step, last));
    this.hush();
  }

  // What a side has written up to a step.
  written(side, step) {
    return this.now[side].slice(0, step).map(({ id }) => this.alphabet[id]);
  }

  paint(step) {
    if (!this.now) return;
    this.hush();
    if (this.walk.playing) this.used();
    for (const side of SIDES) {
      const letters = this.written(side, step);
      this.rows.forEach((row, at) => {
        const { reads, aloud, button, computes, writes } = row[side],
          there = at < letters.length;
        const kind = this.kind(side, at, step);
        computes.dataset.kind = kind;
        computes.classList.toggle("lv-odd", step % 2 === 1); // what is computed flashes anew in each step
        aloud.textContent = ALOUD[kind];
        reads.textContent = there ? (at ? seen(letters[at - 1]) : ">") : "";
        writes.textContent = there ? seen(letters[at]) : "";
        writes.classList.toggle("lv-wrong", there && this.off(side, at));
        reads.classList.toggle("lv-wrong", there && at > 0 && this.off(side, at - 1));
        if (button) {
          button.disabled = !there;
          button.setAttribute("aria-pressed", this.faults.lost.includes(at));
        }
      });
    }
    this.tell(step);
    this.count(step);
    this.compare(step);
  }

  // What a step makes of a position: its vectors are "new", or computed "again", or "kept" from an earlier step, or "lost".
  kind(side, at, step) {
    if (at >= step || step > this.now[side].length) return "none";
    if (at === step - 1) return "new";
    if (side === "without") return "again";
    return this.now.faults.lost.includes(at) ? "lost" : "kept";
  }

  // Has a broken cache written here what would not have been written without one?
  off(side, at) {
    return side === "with" && this.now.with[at].id !== this.now.without[at]?.id;
  }

  tell(step) {
    const { faults, without } = this.now,
      cached = this.now.with;
    if (!step) {
      this.about.textContent =
        "Nothing is written yet. The first step will read the begin token, at place 0.";
      return;
    }
    const gone = faults.lost.filter((at) => at < step - 1).length,
      again = step > 1 ? `, ${step - 1} of them not for the first time` : "";
    const said = [
      step <= without.length
        ? `Step ${step}. Without a cache ${plural(step, "position")} ${step > 1 ? "are" : "is"} computed${again}.`
        : `Step ${step}. Without a cache all is written.`,
      step <= cached.length
        ? ` With it, one: its query meets ${plural(step - gone, "key")}` +
          `${gone ? ` (${gone} lost)` : ""} and is thrown away, its key and value are kept.`
        : " With it all is written.",
    ];
    this.about.textContent = said.join("");
  }

  count(step) {
    const [without, cached] = SIDES.map((side) => this.now[side].slice(0, step));
    const row = (name, values, ratio = "") =>
      make(
        "tr",
        {},
        make("th", { scope: "row" }, name),
        ...values.map((value) => make("td", {}, value)),
        make("td", {}, ratio),
      );
    const counted = (name, what) => {
      const [all, few] = [without, cached].map((steps) => sum(steps, what));
      return row(name, [whole(all), whole(few)], few ? `${(all / few).toFixed(1)} ×` : "");
    };
    const texts = SIDES.map((side) => this.written(side, step).map(seen).join(""));
    this.counts.replaceChildren(
      make("caption", {}, "So far"),
      heads(["", ...SIDES, ""]),
      make(
        "tbody",
        {},
        row("written", texts),
        counted("positions computed", "positions"),
        counted("multiplications", "multiplications"),
        row(
          "numbers kept of the letters written",
          [without, cached].map((steps) => whole(steps.at(-1)?.kept ?? 0)),
        ),
      ),
    );
  }

  // The scores of the letter that this step chooses.
  compare(step) {
    const { differences } = this.now,
      both = SIDES.map((side) => this.now[side][step - 1]);
    this.scores.hidden = !both.every(Boolean);
    this.compared.textContent = "";
    if (this.scores.hidden) return;
    const [without, cached] = both,
      letters = [...new Set([...largest(without.scores, SHOWN), cached.id])];
    this.scores.replaceChildren(
      make("caption", {}, "Scores of the next letter, the highest"),
      heads(["", ...SIDES]),
      make(
        "tbody",
        {},
        ...letters.map((id) =>
          make(
            "tr",
            {},
            make("th", { scope: "row" }, make("code", {}, seen(this.alphabet[id]))),
            ...both.map(({ id: chosen, scores }) =>
              make("td", {}, make(chosen === id ? "b" : "span", {}, signed(scores[id]))),
            ),
          ),
        ),
      ),
    );
    this.compared.textContent =
      step <= differences.length
        ? `Of all ${this.alphabet.length} scores the largest difference in this step: ${moved(differences[step - 1])}; ` +
          `in the ${plural(step, "step")} so far: ${moved(Math.max(...differences.slice(0, step)))}.`
        : `In step ${differences.length} they wrote different letters; since then they read different texts.`;
  }
}

const heads = (names) =>
  make(
    "thead",
    {},
    make(
      "tr",
      {},
      ...names.map((name) => (name ? make("th", { scope: "col" }, name) : make("td", {}))),
    ),
  );
