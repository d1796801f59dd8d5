// A sentence read by probes (chapter 16b): what a linear probe of each state takes each word's tag to be and, below it, what a probe of the
// same size says that was to learn labels drawn at random. A second sentence shows a word in another context.
import { Figure, field, make, megabytes, plural } from "./figure.js";

const MOST = 300; // characters of a sentence
const KINDS = ["tag", "control"];
const whole = (share) => String(Math.round(100 * share));
const listed = (some) =>
  some.length > 1 ? `${some.slice(0, -1).join(", ")} and ${some.at(-1)}` : String(some[0]);
// State numbers in words, of the states 0 … last.
const inStates = (some, last) =>
  some.length > 1 && some.at(-1) === last && last - some[0] + 1 === some.length
    ? `from state ${some[0]} on`
    : `in ${some.length > 1 ? "states" : "state"} ${listed(some)}`;
const quoted = (words) => listed(words.map((word) => `“${word}”`));

// Words that stand there more than once, each with the states in which its tags differ.
export function parted(sentences) {
  const found = new Map();
  for (const { words, tag } of sentences)
    words.forEach(({ word }, i) =>
      found.set(word, [...(found.get(word) ?? []), tag.map((state) => state[i][0])]),
    );
  return [...found]
    .filter(([, all]) => all.length > 1)
    .map(([word, all]) => ({
      word,
      states: [...all[0].keys()].filter(
        (state) => new Set(all.map((labels) => labels[state])).size > 1,
      ),
    }));
}

export class Probes extends Figure {
  constructor(host, options) {
    super(host, options);
    [this.machine] = this.machines;
    Object.assign(this, {
      labels: options.tags,
      right: options.right,
      asked: options.asked,
    });
    const first = this.asks("Your sentence", "Read it", () => this.ask(), MOST);
    this.second = this.bounded(
      make("textarea", { rows: 2, maxlength: MOST, dir: "auto", spellcheck: "false" }),
    );
    this.starts(this.second, () => this.ask());
    const names = options.examples.map((texts) => texts.join(" / "));
    const examples = make(
      "div",
      { class: "lv-examples" },
      ...this.offers(names, (chosen) => {
        this.take(options.examples[names.indexOf(chosen)]);
        this.ask();
      }),
    );
    this.beside = make("input", { type: "checkbox", checked: "", autocomplete: "off" });
    this.beside.addEventListener("change", () => this.compare());
    this.about = make("p", { class: "lv-about", "aria-live": "polite" });
    this.table = make("table", { class: "lv-probes" });
    this.found = make(
      "div",
      { hidden: "" },
      this.about,
      make(
        "label",
        { class: "lv-check" },
        this.beside,
        "below each word, in grey, the control: a probe that learned labels drawn at random",
      ),
      make(
        "div",
        { class: "lv-scroll", tabindex: 0, role: "group", "aria-label": "What the probes read" },
        this.table,
      ),
    );
    this.show(
      first,
      field("A second one, if you like, with the same word in another place", this.second),
      examples,
      make("div", { class: "lv-row" }, this.go),
      this.status,
      this.found,
    );
    for (const text of [this.text, this.second])
      text.addEventListener("input", () => this.forget());
    this.take(options.examples[0]);
    this.say(
      `${megabytes(this.machine.bytes)} are fetched when you first read; what you type stays here.`,
    );
  }

  take([one, other = ""]) {
    [this.text.value, this.second.value] = [one, other];
    this.forget();
  }

  start() {
    return this.ask();
  }

  async ask() {
    const texts = [this.text, this.second].map((text) => text.value.trim()).filter(Boolean);
    if (!texts.length) {
      this.forget();
      this.say("Type a sentence first.", true);
      return;
    }
    const sentences = [];
    for (const text of texts) {
      const read = await this.run(this.machine, "probe", { text }, () => {});
      if (!read) return;
      sentences.push(read);
    }
    if (sentences.every(({ words }) => !words.length)) {
      this.forget();
      this.say("In it there is nothing that BERT reads.", true);
      return;
    }
    this.sentences = sentences;
    this.found.hidden = false;
    this.paint();
  }

  compare() {
    this.table.classList.toggle("lv-alone", !this.beside.checked);
  }

  // In words: what changes with the context, how much the control's probe has learned by heart, and what was not read.
  summary() {
    const all = this.sentences.flatMap(({ words, tag, control }) =>
      words.map(({ word, drawn }, i) => ({
        word,
        drawn,
        tags: tag.map((state) => state[i][0]),
        guesses: control.map((state) => state[i][0]),
      })),
    );
    const changed = [
      ...new Set(all.filter(({ tags }) => new Set(tags).size > 1).map(({ word }) => word)),
    ];
    const apart = parted(this.sentences).filter(({ states }) => states.length);
    const met = all.filter(({ drawn }) => drawn !== null),
      last = this.right.tag.length - 1,
      known = (state) => met.filter(({ drawn, guesses }) => guesses[state] === drawn).length;
    return [
      ...apart.map(
        ({ word, states }) =>
          `“${word}” stands there more than once, with different tags ${inStates(states, last)}.`,
      ),
      changed.length
        ? `On the way up the tag of ${quoted(changed)} changes.`
        : "No tag changes on the way up.",
      met.length
        ? `Of the ${plural(met.length, "word")} that the control's probes met in training, they have ${known(0)} right in state 0 and ${known(last)} in the last.`
        : "The control's probes met none of these words in training.",
      ...this.sentences
        .filter(({ read, pieces }) => read < pieces)
        .map(({ read, pieces }) => `Of ${plural(pieces, "piece")} the first ${read} were read.`),
    ].join(" ");
  }

  paint() {
    this.about.textContent = this.summary();
    const states = [...this.right.tag.keys()];
    const named = (name, cells, attributes = {}) =>
      make("tr", attributes, make("th", { scope: "row", dir: "auto" }, name), ...cells);
    const cell = ([label, share], hit) =>
      make(
        "td",
        { style: `--share: ${share.toFixed(3)}`, class: hit ? "lv-hit" : null },
        this.labels[label],
        make("small", {}, hit ? `✓ ${whole(share)}` : whole(share)),
      );
    const rows = ({ words, ...read }) =>
      words.flatMap(({ word, drawn }, i) => [
        named(
          word,
          read.tag.map((state) => cell(state[i], false)),
        ),
        named(
          drawn === null ? "never met" : `drawn: ${this.labels[drawn]}`,
          read.control.map((state) => cell(state[i], state[i][0] === drawn)),
          { class: "lv-control" },
        ),
      ]);
    const measured = (name, value, attributes) =>
      named(
        name,
        states.map((state) => make("td", {}, value(state))),
        attributes,
      );
    const [real, control] = KINDS.map((kind) => this.right[kind]);
    this.table.replaceChildren(
      make("caption", {}, "The likeliest label in each state, and its share in %."),
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          make("th", { scope: "col" }, "state"),
          ...states.map((state) => make("th", { scope: "col" }, String(state))),
        ),
      ),
      ...this.sentences.map((sentence) => make("tbody", {}, ...rows(sentence))),
      make(
        "tfoot",
        {},
        make(
          "tr",
          {},
          make(
            "th",
            { scope: "colgroup", colspan: states.length + 1 },
            `Of the ${this.asked} words in sentences that no probe learned from, in %:`,
          ),
        ),
        measured("tags right", (state) => whole(real[state])),
        measured("control right", (state) => whole(control[state]), { class: "lv-control" }),
        // of the numbers above it, as they are shown
        measured("selectivity", (state) => String(whole(real[state]) - whole(control[state])), {
          class: "lv-control",
        }),
      ),
    );
    this.compare();
  }
}
