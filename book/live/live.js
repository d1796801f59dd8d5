// What a reader sees of the models in a page: before this script stands a <div class="live"> that says what there is, with an
// example; the script puts a field for the reader's own words in its place.
import { Figure, bar, choice, field, make, megabytes, percent, slider } from "./figure.js";
import { TwoWays } from "./two_ways.js";

// A sentence, its translation token by token; each token shows where the model looked and what else it might have said.
class Translator extends TwoWays {
  constructor(host, options) {
    super(host, options);
    const sentence = this.asks("Your sentence or list", "Translate", () => this.translate());
    this.layer = choice("Attention of", []);
    this.translation = make("p", { class: "lv-translation", dir: "auto", "aria-live": "polite" });
    this.source = make("ol", { class: "lv-tokens", "aria-label": "Tokens of the source" });
    this.target = make("ol", { class: "lv-tokens", "aria-label": "Tokens of the translation" });
    this.others = make("ol", { class: "lv-candidates" });
    this.about = make("p", { class: "lv-about" });
    this.found = make(
      "div",
      { class: "lv-found", hidden: "" },
      this.translation,
      this.beyond,
      make("p", { class: "lv-head" }, "What was read"),
      this.source,
      make("p", { class: "lv-head" }, "What was written"),
      this.target,
      this.layer.whole,
      this.about,
      this.others,
    );
    this.show(
      this.direction.whole,
      sentence,
      this.examples,
      make("div", { class: "lv-row" }, this.go),
      this.status,
      this.found,
    );
    this.layer.select.addEventListener("change", () => this.look(this.at));
    this.text.addEventListener("input", () => this.forget());
    this.prepare();
  }

  get verb() {
    return "translate";
  }

  prepare() {
    super.prepare();
    const { layers } = this.models[this.chosen];
    this.layer.select.replaceChildren(
      make("option", { value: "" }, "all layers"),
      ...Array.from({ length: layers }, (_, layer) =>
        make("option", { value: layer }, `layer ${layer}`),
      ),
    );
  }

  start() {
    return this.translate();
  }

  async translate(forced = []) {
    const choosing = this.others.contains(document.activeElement);
    const text = this.typed;
    if (!text) {
      this.stop();
      this.found.hidden = true;
      this.say("Type a sentence first.", true);
      return;
    }
    const result = await this.run(this.machine, "translate", { text, forced }, (part) => {
      if (part.source) this.begins(part, forced);
      else this.wrote(part);
    });
    if (result) {
      this.say(result.ended ? "" : "Cut off here: the model did not end its sentence.");
      // of words that the reader put in it need not be sure
      if (!forced.length) this.writes(this.steps.map(({ share }) => share));
      this.look(Math.max(0, Math.min(forced.length - 1, this.steps.length - 1)));
      // the button that was pressed is gone; who has gone on elsewhere stays there
      if (choosing && document.activeElement === document.body)
        this.others.querySelector("[aria-pressed=true]")?.focus();
    }
  }

  // What was found before goes when there is something new: not while the model is fetched, which may fail.
  begins(read, forced) {
    this.reads(read);
    this.steps = [];
    this.forced = forced;
    this.found.hidden = false;
    this.translation.textContent = "";
    for (const list of [this.target, this.others]) list.replaceChildren();
    this.about.textContent = "";
    this.source.replaceChildren(...read.source.map((token) => make("li", {}, token)));
  }

  wrote(step) {
    const at = this.steps.push(step) - 1;
    this.translation.textContent = step.text;
    const button = make("button", { type: "button" }, step.token);
    if (at === this.forced.length - 1) button.classList.add("lv-forced");
    button.addEventListener("click", () => this.look(at));
    this.target.append(make("li", {}, button));
  }

  // Show of one token of the translation where the model looked, and what else it might have said.
  look(at) {
    const step = this.steps?.[at];
    if (!step) return;
    this.at = at;
    [...this.target.children].forEach((item, i) =>
      item.firstChild.setAttribute("aria-pressed", i === at),
    );
    const { value } = this.layer.select;
    const maps = (value === "" ? step.attention : [step.attention[value]]).flat();
    [...this.source.children].forEach((item, j) => {
      const share = maps.reduce((sum, weights) => sum + weights[j], 0) / maps.length;
      item.style.setProperty("--share", share.toFixed(4));
      item.title = percent(share);
    });
    this.about.textContent =
      `For “${step.token}” the model looked at the source as shaded above (mean of ${maps.length} heads). ` +
      "What it thought of writing here; choose another, and it goes on from there:";
    this.others.replaceChildren(
      ...step.candidates.map(({ id, token, share }) => {
        const button = make(
          "button",
          { type: "button", "aria-pressed": id === step.id },
          make("span", {}, token),
          bar(share, "plain"),
          make("small", {}, percent(share)),
        );
        button.addEventListener("click", () =>
          this.translate([...this.steps.slice(0, at).map((before) => before.id), id]),
        );
        return make("li", {}, button);
      }),
    );
  }
}

// A text that the model goes on with, and what it thinks comes next.
class Writer extends Figure {
  constructor(host, options) {
    super(host, options);
    [this.machine] = this.machines;
    this.text = this.bounded(
      make("textarea", {
        rows: 9,
        maxlength: 20_000,
        dir: "auto",
        spellcheck: "false",
        class: "lv-play",
      }),
    );
    this.text.value = options.begin;
    this.temperature = slider("Temperature", { min: 0.1, max: 2, step: 0.1, value: 0.8 }, (x) =>
      x.toFixed(1),
    );
    this.topK = slider("Top-k", { min: 1, max: 50, step: 1, value: 50 }, (k) =>
      k === 50 ? "all" : String(k),
    );
    this.topP = slider("Top-p", { min: 0.05, max: 1, step: 0.05, value: 1 }, (p) =>
      p === 1 ? "all" : p.toFixed(2),
    );
    this.go = make("button", { type: "button", class: "lv-go" }, "Write on");
    this.halt = make("button", { type: "button" }, "Stop");
    this.next = make("ol", { class: "lv-candidates lv-letters" });
    this.about = make("p", { class: "lv-about" });
    this.show(
      field("Your beginning", this.text),
      make("div", { class: "lv-row" }, this.temperature.whole, this.topK.whole, this.topP.whole),
      make("div", { class: "lv-row" }, this.go, this.halt),
      this.status,
      this.about,
      this.next,
    );
    this.note = `${megabytes(this.machine.bytes)} are fetched when it first writes; what you type stays here.`;
    this.say(this.note);
    this.go.addEventListener("click", () => this.write());
    this.starts(this.text, () => this.write(), true);
    this.halt.disabled = true;
    this.halt.addEventListener("click", () => {
      this.stop();
      this.halt.disabled = true;
      this.say("Stopped.");
      this.forecast();
    });
    // a knob that is turned while it writes: it goes on from where it is, with the new setting
    for (const { input } of [this.temperature, this.topK, this.topP]) {
      input.addEventListener("input", () => (this.writes ? this.write() : this.forecast()));
    }
    this.text.addEventListener("input", () => {
      this.stop();
      this.halt.disabled = true;
      if (this.machine.loaded) this.say(""); // it was about another text
      this.forecast();
    });
  }

  get writes() {
    return !this.halt.disabled;
  }

  get options() {
    const k = Number(this.topK.input.value);
    return {
      temperature: Number(this.temperature.input.value),
      topK: k === 50 ? 1e9 : k,
      topP: Number(this.topP.input.value),
    };
  }

  async write() {
    const begin = this.text.value;
    if (!begin) {
      this.say("Type at least one letter to begin with.", true);
      return;
    }
    clearTimeout(this.later);
    this.forget();
    this.halt.disabled = false;
    const mine = (this.writing = {});
    const result = await this.run(
      this.machine,
      "write",
      { text: begin, n: 300, options: this.options },
      ({ text }) => {
        this.text.value = begin + text;
        this.text.scrollTop = this.text.scrollHeight;
      },
    );
    if (this.writing === mine) this.halt.disabled = true;
    if (result) {
      this.say("Write on, change the text, or change how it draws.");
      this.forecast();
    }
  }

  // What comes next, of a model that is there already; asked once the reader pauses.
  forecast() {
    clearTimeout(this.later);
    if (this.machine.loaded) this.later = setTimeout(() => this.start(), 150);
    else {
      this.forget();
      this.say(this.note);
    }
  }

  forget() {
    this.next.replaceChildren();
    this.about.textContent = "";
  }

  async start() {
    if (!this.text.value) return this.forget();
    const found = await this.run(
      this.machine,
      "next",
      { text: this.text.value, options: this.options },
      () => {},
      true,
    );
    if (found) this.showNext(found);
  }

  showNext(found) {
    const choosing = this.next.contains(document.activeElement);
    this.about.textContent =
      "What may come next: grey, the model's own share; blue, the share it is drawn with. Choose one to write it:";
    this.next.replaceChildren(
      ...found.map(({ token, text, plain, drawn }) => {
        const button = make(
          "button",
          { type: "button" },
          make("span", {}, token),
          make("b", {}, bar(plain, "plain"), bar(drawn, "drawn")),
          make("small", {}, `${percent(plain)} → ${percent(drawn)}`),
        );
        button.addEventListener("click", () => {
          this.text.value += text;
          this.text.scrollTop = this.text.scrollHeight;
          this.text.dispatchEvent(new Event("input", { bubbles: true }));
          if (!this.machine.loaded) this.text.focus(); // the button that was pressed is gone
        });
        return make("li", {}, button);
      }),
    );
    if (choosing) this.next.querySelector("button")?.focus(); // the button that was pressed is gone
  }
}

const HOLE = "[MASK]";

// A sentence with holes: a word that is clicked on becomes one, and what may stand there can be put in.
class Filler extends Figure {
  constructor(host, options) {
    super(host, options);
    [this.machine] = this.machines;
    const sentence = this.asks(
      `Your sentence, with ${HOLE} where a word is to be guessed`,
      "Fill the holes",
      () => this.fill(),
    );
    this.text.value = options.examples[0];
    this.words = make("p", { class: "lv-words", dir: "auto" });
    this.others = make("ol", { class: "lv-candidates" });
    this.about = make("p", { class: "lv-about" });
    this.pieces = make("p", { class: "lv-head" });
    const examples = make(
      "div",
      { class: "lv-examples" },
      ...this.offers(options.examples, (example) => this.write(example)),
    );
    this.show(
      sentence,
      examples,
      make("div", { class: "lv-row" }, this.go),
      this.status,
      make(
        "p",
        { class: "lv-head" },
        "Choose a word to hide it, or a hole to see what may stand there",
      ),
      this.words,
      this.pieces,
      this.about,
      this.others,
    );
    this.say(
      `${megabytes(this.machine.bytes)} are fetched when you first fill a hole; what you type stays here.`,
    );
    this.text.addEventListener("input", () => this.changed());
    this.changed();
  }

  // The sentence as words that can be hidden; what was found for another sentence goes.
  changed() {
    this.stop();
    if (this.machine.loaded) this.say("");
    for (const part of [this.pieces, this.about, this.others]) part.replaceChildren();
    let holes = 0;
    this.words.replaceChildren(
      ...this.text.value
        .split(/(\[MASK\]|[\p{L}\p{N}\p{M}]+(?:['’-][\p{L}\p{N}\p{M}]+)*)/u)
        .map((part, i, parts) => {
          if (i % 2 === 0) return part;
          const button = make("button", { type: "button" }, part);
          if (part === HOLE) {
            const which = holes++;
            button.classList.add("lv-hole");
            button.addEventListener("click", () =>
              this.found ? this.look(which) : this.fill(which),
            );
          } else
            button.addEventListener("click", () =>
              this.write(
                [...parts.slice(0, i), HOLE, ...parts.slice(i + 1)].join(""),
                parts.slice(0, i).filter((p) => p === HOLE).length,
              ),
            );
          return button;
        }),
    );
    this.found = undefined;
  }

  start() {
    return this.fill();
  }

  write(text, which = 0) {
    const choosing = this.words.contains(document.activeElement);
    this.text.value = text;
    this.changed();
    if (choosing) this.words.querySelectorAll(".lv-hole")[which]?.focus(); // the button that was pressed is gone
    this.fill(which);
  }

  async fill(which = 0) {
    const text = this.text.value.replaceAll(/\[mask\]/gi, HOLE);
    if (text !== this.text.value) {
      this.text.value = text;
      this.changed();
    }
    if (!text.includes(HOLE)) {
      this.say(`There is no hole yet: choose a word below, or type ${HOLE}.`, true);
      return;
    }
    const found = await this.run(this.machine, "fill", { text }, () => {});
    if (!found) return;
    this.found = found;
    this.pieces.textContent = `Read as ${found.tokens.join(" ")}`;
    this.look(which);
  }

  look(which) {
    [...this.words.querySelectorAll(".lv-hole")].forEach((button, i) =>
      button.setAttribute("aria-pressed", i === which),
    );
    const n = this.found.holes.length;
    this.about.textContent = `What may stand in ${n > 1 ? `hole ${which + 1} of ${n}, guessed each by itself` : "the hole"}. Choose one to put it in:`;
    this.others.replaceChildren(
      ...this.found.holes[which].map(({ token, share }) => {
        const button = make(
          "button",
          { type: "button" },
          make("span", {}, token),
          bar(share, "plain"),
          make("small", {}, percent(share)),
        );
        button.addEventListener("click", () => {
          let at = -1;
          const goesOn = token.startsWith("##"); // the word before the hole
          this.text.value = this.text.value.replaceAll(/( ?)\[MASK\]/g, (hole, space) =>
            ++at !== which ? hole : goesOn ? token.slice(2) : space + token,
          );
          this.text.dispatchEvent(new Event("input", { bubbles: true }));
          // the button that was pressed is gone
          (this.words.querySelectorAll(".lv-hole")[Math.min(which, n - 2)] ?? this.text).focus();
          if (n > 1) this.fill(Math.min(which, n - 2));
        });
        return make("li", {}, button);
      }),
    );
  }
}

// Each figure's class; those that stand in a file of their own are fetched where a page has them.
const FIGURES = {
  translator: async () => Translator,
  writer: async () => Writer,
  filler: async () => Filler,
  agreement: async () => (await import("./agreement.js")).Agreement,
  hiding: async () => (await import("./hiding.js")).Hiding,
  reader: async () => (await import("./looking.js")).Reader,
  digits: async () => (await import("./digits.js")).Digits,
  dates: async () => (await import("./dates.js")).Dates,
  remembering: async () => (await import("./remembering.js")).Remembering,
  beams: async () => (await import("./beams.js")).Beams,
  at_work: async () => (await import("./at_work.js")).AtWork,
  through: async () => (await import("./through.js")).Through,
  pieces: async () => (await import("./pieces.js")).Pieces,
  senses: async () => (await import("./senses.js")).Senses,
  nearness: async () => (await import("./nearness.js")).Nearness,
  probes: async () => (await import("./probes.js")).Probes,
  sentence_map: async () => (await import("./sentence_map.js")).SentenceMap,
  sentiment: async () => (await import("./adapted.js")).Sentiment,
  similarity: async () => (await import("./adapted.js")).Alike,
  entities: async () => (await import("./adapted.js")).Names,
  answers: async () => (await import("./adapted.js")).Answers,
  stream: async () => (await import("./stream.js")).Stream,
  smoothing: async () => (await import("./smoothing.js")).Smoothing,
  examining: async () => (await import("./examining.js")).Examining,
  gate: async () => (await import("./gate.js")).Gate,
  dice: async () => (await import("./dice.js")).Dice,
  mixing: async () => (await import("./mixing.js")).Mixing,
  linking: async () => (await import("./linking.js")).Linking,
  pulling: async () => (await import("./pulling.js")).Pulling,
  filling: async () => (await import("./filling.js")).Filling,
};
// What a figure's model answers to its first example; long answers are a file. Without them the figure begins all the same.
async function answers({ answers: told }) {
  if (told.startsWith("[")) return JSON.parse(told);
  try {
    return await (await fetch(new URL(told, import.meta.url))).json();
  } catch {
    return [];
  }
}

export async function begin(host) {
  const options = JSON.parse(host.dataset.live);
  const [Kind, first] = await Promise.all([FIGURES[options.figure](), answers(host.dataset)]);
  const figure = new Kind(host, options);
  await figure.rehearse(first);
  return figure;
}

// One that is on the screen or near it begins at once; the others, from above, each in a turn of its own when the browser has nothing
// else to do. (One on a slide waits for a press.)
const waiting = new Set(document.querySelectorAll(".live[data-live]:not([data-waits])"));
const start = (host) => waiting.delete(host) && begin(host);
const near = new IntersectionObserver(
  (seen) => {
    for (const { target, isIntersecting } of seen) if (isIntersecting) start(target);
  },
  { rootMargin: "100%" },
);
if (location.hash) for (const host of waiting) start(host); // who comes to a place further down must find it where it stays
for (const host of waiting) near.observe(host);
const idle = window.requestIdleCallback ?? ((turn) => setTimeout(turn, 50));
const next = async () => {
  const [host] = waiting;
  if (!host) return near.disconnect();
  try {
    await start(host);
  } finally {
    idle(next);
  }
};
if (document.readyState === "complete") idle(next);
else addEventListener("load", () => idle(next));
