// One word in two sentences, layer by layer (chapter 15): how far their vectors part.
import { Figure, bar, field, make, megabytes } from "./figure.js";
import { cosine } from "./tensors.js";
import { signed } from "./walk.js";

const MOST = 300; // characters of a sentence

export class Senses extends Figure {
  constructor(host, options) {
    super(host, options);
    [this.machine] = this.machines;
    const first = this.asks("First sentence", "Compare", () => this.compare(), MOST);
    this.texts = [
      this.text,
      this.bounded(
        make("textarea", { rows: 2, maxlength: MOST, dir: "auto", spellcheck: "false" }),
      ),
    ];
    this.starts(this.texts[1], () => this.compare());
    const second = field("Second sentence", this.texts[1]);
    const examples = make(
      "div",
      { class: "lv-examples" },
      ...options.examples.map(([one, other, word]) => {
        const button = make("button", { type: "button" }, `${word}: ${one} / ${other}`);
        button.addEventListener("click", () => {
          this.write(one, other);
          this.compare(word);
        });
        return button;
      }),
    );
    this.tokens = ["first", "second"].map((which) =>
      make("ol", { class: "lv-tokens", "aria-label": `Tokens of the ${which} sentence` }),
    );
    this.about = make("p", { class: "lv-about", "aria-live": "polite" });
    this.layers = make("ol", { class: "lv-candidates lv-plainlist" });
    this.found = make(
      "div",
      { hidden: "" },
      make("p", { class: "lv-head" }, "Choose a token in each sentence"),
      ...this.tokens,
      this.about,
      this.layers,
    );
    this.show(
      first,
      second,
      examples,
      make("div", { class: "lv-row" }, this.go),
      this.status,
      this.found,
    );
    for (const text of this.texts) text.addEventListener("input", () => this.forget());
    [[this.one, this.other, this.word]] = [options.examples[0]];
    this.write(this.one, this.other);
    this.say(
      `${megabytes(this.machine.bytes)} are fetched when you first compare; what you type stays here.`,
    );
  }

  write(one, other) {
    [this.texts[0].value, this.texts[1].value] = [one, other];
    this.forget();
  }

  start() {
    return this.compare();
  }

  // Read both; begin with these tokens, with `word` in each, or with a token that both have.
  async compare(word = null, at = null) {
    const texts = this.texts.map((text) => text.value.trim());
    if (texts.some((text) => !text)) {
      this.forget();
      this.say("Type two sentences first.", true);
      return;
    }
    const read = [];
    for (const text of texts) {
      const found = await this.run(this.machine, "states", { text }, () => {});
      if (!found) return;
      read.push(found);
    }
    const long = read.findIndex(({ read: n, pieces }) => n < pieces);
    if (long >= 0)
      this.say(`Text ${long + 1} is too long: its first ${read[long].read} pieces were read.`);
    const held = this.tokens.findIndex((list) => list.contains(document.activeElement));
    this.read = read;
    this.found.hidden = false;
    this.tokens.forEach((list, which) =>
      list.replaceChildren(
        ...read[which].tokens.map((token, i) => {
          const button = make("button", { type: "button" }, token);
          button.addEventListener("click", () => this.choose(which, i));
          return make("li", {}, button);
        }),
      ),
    );
    const [one, other] = read.map(({ tokens }) => tokens);
    const inside = one.slice(1, -1),
      id = (token) => read[0].ids[one.indexOf(token)];
    // of the tokens that both have, the rarest: the vocabulary begins with the frequent ones
    const common =
      inside.includes(word) && other.includes(word)
        ? word
        : (inside.filter((token) => other.includes(token)).sort((a, b) => id(b) - id(a))[0] ??
          inside[0]);
    this.at = at ?? [Math.max(1, one.indexOf(common)), Math.max(1, other.indexOf(common))];
    this.paint();
    if (held >= 0) this.tokens[held].children[this.at[held]].firstChild.focus(); // the button that was pressed is gone
  }

  choose(which, i) {
    this.at[which] = i;
    const here = this.read.every(({ states: [input] }, k) => input[this.at[k]]); // of the page's example only one word
    if (here) this.paint();
    else this.compare(null, this.at);
  }

  paint() {
    this.tokens.forEach((list, which) =>
      [...list.children].forEach((item, i) =>
        item.firstChild.setAttribute("aria-pressed", i === this.at[which]),
      ),
    );
    const [one, other] = this.read.map(({ tokens }, which) => tokens[this.at[which]]);
    const cosines = this.read[0].states.map((state, layer) =>
      cosine(state[this.at[0]], this.read[1].states[layer][this.at[1]]),
    );
    this.about.textContent = `Cosine of “${one}” in the first sentence and “${other}” in the second:`;
    this.layers.replaceChildren(
      ...cosines.map((value, layer) =>
        make(
          "li",
          {},
          make("span", {}, layer ? `after layer ${layer - 1}` : "input"),
          bar(Math.max(0, value), "plain"),
          make("small", {}, signed(value)),
        ),
      ),
    );
  }
}
