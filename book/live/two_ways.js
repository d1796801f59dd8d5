// What the figures of the translators share: a choice among them, and for each a model, its language, and sentences to begin with.
import { beyondPlace, beyondSource, beyondSure, showBeyond } from "./beyond.js";
import { Figure, choice, make, megabytes } from "./figure.js";

export class TwoWays extends Figure {
  constructor(host, options) {
    super(host, options);
    this.models = options.models;
    this.direction = choice(
      "Direction",
      options.models.map(({ name }, i) => [i, name]),
    );
    this.examples = make("div", { class: "lv-examples" });
    this.beyond = beyondPlace();
    this.direction.select.addEventListener("change", () => this.prepare());
  }

  get chosen() {
    return Number(this.direction.select.value);
  }

  get machine() {
    return this.machines[this.chosen];
  }

  // What the reader has typed, as the model can read it: one that knows words in small letters only has `small`.
  get typed() {
    const text = this.text.value.trim();
    return this.models[this.chosen].small ? text.toLowerCase() : text;
  }

  // What of a text that was read lies beyond the model's training: beside what the model makes of it.
  reads({ source, words, strange }) {
    const { range } = this.models[this.chosen];
    this.tellBeyond(range ? beyondSource(range, ofSource(range, source, words, strange)) : []);
  }

  // The same of what it wrote, from the shares of its tokens.
  writes(shares) {
    const { range } = this.models[this.chosen];
    if (range) this.tellBeyond([...this.told, ...beyondSure(range, shares)]);
  }

  // Both, of a text that was read and translated as a whole.
  translated({ read, sure }) {
    this.reads(read);
    this.writes(sure);
  }

  tellBeyond(told) {
    this.told = told;
    showBeyond(this.beyond, told);
  }

  // Another direction; what the reader has typed stays. A figure has `verb`, what its button does, and `start`, which does it.
  prepare() {
    const { examples, language } = this.models[this.chosen];
    this.forget();
    if (!this.machine.loaded)
      this.say(
        `${megabytes(this.machine.bytes)} are fetched when you first ${this.verb}; what you type stays here.`,
      );
    this.text.lang = language;
    const ours = this.models.flatMap((model) => model.examples);
    if (
      !this.text.value.trim() ||
      (ours.includes(this.text.value) && !examples.includes(this.text.value))
    )
      this.text.value = examples[0];
    this.examples.replaceChildren(
      ...this.offers(
        examples,
        (example) => {
          this.text.value = example;
          this.start();
        },
        language,
      ),
    );
  }
}

// A source as `beyondSource` is told it. Of a list of number words all that it met is listed: `reads`.
function ofSource({ reads }, source, words, strange) {
  const own = source.slice(0, -1);
  if (!reads) return { tokens: own.length, words, strange };
  const all = [...new Set(own)].filter((word) => word !== ",");
  return {
    tokens: own.length,
    words: all.length,
    strange: all.filter((word) => !reads.includes(word)),
    numbers: own
      .join(" ")
      .split(",")
      .filter((number) => number.trim()).length,
  };
}
