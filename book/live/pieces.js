// A text in pieces (chapter 7b): BERT's word pieces and a translator's byte pairs, and how a word was merged from its bytes.
import { Figure, make, plural } from "./figure.js";
import { textOf } from "./machine.js";
import { BPE, WordPiece } from "./tokens.js";

const READ = {
  pieces: (text) => new WordPiece(text),
  pairs: (text) => new BPE(JSON.parse(text)),
};
const OF_A_PART = {
  pieces: (part) => new WordPiece(part),
  pairs: (part) => new BPE(part),
};

export class Pieces extends Figure {
  constructor(host, options) {
    super(host, { ...options, models: [] });
    this.vocabularies = options.vocabularies;
    const sentence = this.asks("Your text", "Cut it", () => this.cut());
    this.text.value = options.examples[0];
    const examples = make(
      "div",
      { class: "lv-examples" },
      ...this.offers(options.examples, (example) => {
        this.text.value = example;
        this.cut();
      }),
    );
    this.rows = make("div", {});
    this.steps = make("ol", { class: "lv-merges" });
    this.about = make("p", { class: "lv-about", "aria-live": "polite" });
    this.found = make("div", { hidden: "" }, this.rows, this.about, this.steps);
    this.show(
      sentence,
      examples,
      make("div", { class: "lv-row" }, this.go),
      this.status,
      this.found,
    );
    this.say(
      `Two vocabularies, ${(options.bytes / 1e6).toFixed(1)} MB, are fetched when you first press the button; what you type stays here.`,
    );
    this.text.addEventListener("input", () => {
      if (this.ready) this.cut();
      else this.found.hidden = true; // it was about another text
    });
  }

  // The example in pieces, by the parts of the vocabularies that it needs; and the merges of its longest token.
  start() {
    this.lay(
      this.vocabularies.map(({ kind, name }, i) => ({
        name,
        tokens: OF_A_PART[kind](this.answers[i]),
      })),
    );
    const tokens = [...this.rows.querySelectorAll("button")];
    tokens.reduce((a, b) => (b.textContent.length > a.textContent.length ? b : a)).click();
  }

  async load() {
    this.loading ??= Promise.all(
      this.vocabularies.map(async ({ kind, path, name }) => ({
        name,
        tokens: READ[kind](await textOf(path)),
      })),
    ).then(
      (all) => {
        this.ready = all;
      },
      (error) => {
        this.loading = undefined;
        throw error;
      },
    );
    return this.loading;
  }

  async cut() {
    const text = this.text.value;
    if (!text.trim()) {
      this.found.hidden = true;
      this.say("Type a text first.", true);
      return;
    }
    try {
      if (!this.ready) this.say("Fetching the vocabularies …");
      await this.load();
    } catch (error) {
      this.say(`That did not work: ${error.message}`, true);
      return;
    }
    this.used();
    this.say("");
    this.lay(this.ready);
  }

  // The text as it stands there, in the pieces of each vocabulary.
  lay(vocabularies) {
    const text = this.text.value;
    this.found.hidden = false;
    this.rows.replaceChildren(
      ...vocabularies.map(({ name, tokens }) => this.row(name, tokens, text)),
    );
    this.about.textContent = "";
    this.steps.replaceChildren();
  }

  row(name, tokens, text) {
    const ids = tokens.encode(text);
    const list = make(
      "ol",
      { class: "lv-tokens", "aria-label": name },
      ...ids.map((id) => {
        const shown = tokens.shown(id);
        if (!(tokens instanceof BPE) || tokens.specials.has(shown))
          return make("li", { title: `id ${id}` }, shown);
        const button = make("button", { type: "button", title: `id ${id}` }, shown);
        button.addEventListener("click", () => this.merges(tokens, id, button));
        return make("li", {}, button);
      }),
    );
    const letters = Array.from(text).length;
    const say = `${name}: ${plural(ids.length, "token")} for ${plural(letters, "character")}${ids.length ? `, ${(letters / ids.length).toFixed(1)} a token` : ""}`;
    return make("div", {}, make("p", { class: "lv-head" }, say), list);
  }

  // How a token came about: its bytes, and every merge that made it.
  merges(tokens, id, button) {
    this.rows
      .querySelectorAll("[aria-pressed]")
      .forEach((other) => other.setAttribute("aria-pressed", "false"));
    button.setAttribute("aria-pressed", "true");
    const steps = tokens.mergeSteps(tokens.tokens[id]);
    const n = steps.length - 1;
    this.about.textContent = n
      ? `“${tokens.shown(id)}”, id ${id}, is made by ${n} merge${n > 1 ? "s" : ""}, below in the order in which they are applied. A low number was learned early.`
      : `“${tokens.shown(id)}”, id ${id}, is a single byte: nothing was merged.`;
    this.steps.replaceChildren(
      ...steps.map(({ symbols, rank }) =>
        make(
          "li",
          {},
          make("small", {}, rank === undefined ? "bytes" : `merge ${rank + 1}`),
          " ",
          ...symbols.map((symbol) => make("code", {}, tokens.visible(symbol))),
        ),
      ),
    );
  }
}
