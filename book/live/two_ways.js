// What the figures of the two translators share: a direction, and for each a model, its language, and sentences to begin with.
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
    this.direction.select.addEventListener("change", () => this.prepare());
  }

  get chosen() {
    return Number(this.direction.select.value);
  }

  get machine() {
    return this.machines[this.chosen];
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
    if (!this.text.value.trim() || ours.includes(this.text.value)) this.text.value = examples[0];
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
