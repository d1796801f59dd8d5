// A sentence as BERT reads it: a chosen token, and how much of its attention each other one gets, in a layer and a head. All heads
// stand in a grid, each filled as far as what it gives to the one token that it gives most.
import { Figure, bar, choice, make, megabytes, percent } from "./figure.js";

const MEAN = "";
const strongest = (row) => row.reduce((best, share, j) => (share > row[best] ? j : best), 0);

export class Reader extends Figure {
  constructor(host, options) {
    super(host, options);
    [this.machine] = this.machines;
    this.first = options.first;
    const sentence = this.asks("Your sentence", "Read it", () => this.read(), 400);
    this.text.value = options.examples[0];
    const numbers = (n, what) => Array.from({ length: n }, (_, i) => [i, `${what} ${i}`]);
    this.layer = choice("Layer", numbers(options.layers, "layer"));
    this.head = choice("Head", [[MEAN, "mean of all"], ...numbers(options.heads, "head")]);
    this.layer.select.value = this.first.layer;
    this.head.select.value = this.first.head;
    this.tokens = make("ol", { class: "lv-tokens lv-looking", "aria-label": "Tokens" });
    this.about = make("p", { class: "lv-about" });
    this.most = make("ol", { class: "lv-candidates lv-plainlist" });
    const examples = make("div", { class: "lv-examples" }, ...this.offers(options.examples, (example) => {
      this.text.value = example;
      this.read();
    }));
    this.about_all = make("p", { class: "lv-head" });
    this.found = make("div", { hidden: "" }, make("p", { class: "lv-head" }, "Choose a token, to see where it looks"), this.tokens,
      make("div", { class: "lv-row" }, this.layer.whole, this.head.whole), this.about, this.most, this.about_all, this.grid(options));
    this.show(sentence, examples, make("div", { class: "lv-row" }, this.go), this.status, this.found);
    this.say(`${megabytes(this.machine.bytes)} are fetched when you first read; what you type stays here.`);
    for (const { select } of [this.layer, this.head]) select.addEventListener("change", () => this.look(this.at));
    this.text.addEventListener("input", () => {
      this.stop();
      this.found.hidden = true; // it was about another sentence
      if (this.machine.loaded) this.say("");
    });
  }

  // A row for each layer, a button for each head.
  grid({ layers, heads }) {
    this.buttons = [];
    const row = (_, layer) => make("div", { class: "lv-heads-row" }, make("span", { "aria-hidden": "true" }, String(layer)),
      ...Array.from({ length: heads }, (_, head) => {
        const button = make("button", { type: "button" });
        button.addEventListener("click", () => {
          this.layer.select.value = layer;
          this.head.select.value = head;
          this.look(this.at);
        });
        this.buttons.push({ button, layer, head });
        return button;
      }));
    return make("div", { class: "lv-heads", role: "group", "aria-label": `All ${layers * heads} heads` }, ...Array.from({ length: layers }, row));
  }

  async read() {
    const text = this.text.value.trim();
    if (!text) {
      this.stop();
      this.found.hidden = true;
      this.say("Type a sentence first.", true);
      return;
    }
    const found = await this.run(this.machine, "look", { text }, () => {});
    if (!found) return;
    this.seen = found;
    this.found.hidden = false;
    this.tokens.replaceChildren(...found.tokens.map((token, i) => {
      const button = make("button", { type: "button" }, token);
      button.addEventListener("click", () => this.look(i));
      return make("li", {}, button);
    }));
    // Where there is something to see, if the sentence has one of these words.
    const at = this.first.tokens.map((token) => found.tokens.indexOf(token)).find((place) => place >= 0);
    this.look(at ?? Math.min(1, found.tokens.length - 2));
  }

  // Shade every token by the share of the chosen one's attention that it gets, and every head by how much it gives to one token.
  look(at) {
    const { tokens, attention } = this.seen;
    this.at = at;
    const heads = attention[this.layer.select.value], { value } = this.head.select;
    const maps = value === MEAN ? heads : [heads[value]];
    const row = tokens.map((_, j) => maps.reduce((sum, map) => sum + map[at][j], 0) / maps.length);
    [...this.tokens.children].forEach((item, j) => {
      item.firstChild.setAttribute("aria-pressed", j === at);
      item.firstChild.style.setProperty("--share", row[j].toFixed(4));
      item.firstChild.title = percent(row[j]);
    });
    this.about.textContent = `“${tokens[at]}” (position ${at}) looks most at:`;
    const most = [...row.keys()].sort((a, b) => row[b] - row[a]).slice(0, 5);
    this.most.replaceChildren(...most.map((j) =>
      make("li", {}, make("span", {}, `${tokens[j]} (${j})`), bar(row[j], "plain"), make("small", {}, percent(row[j])))));
    this.about_all.textContent = `All ${this.buttons.length} heads, a row for each layer: the fuller, the more of “${tokens[at]}” goes to one token. Choose one.`;
    for (const { button, layer, head } of this.buttons) {
      const looks = attention[layer][head][at], j = strongest(looks);
      button.style.setProperty("--share", looks[j].toFixed(4));
      button.title = `layer ${layer}, head ${head}: ${percent(looks[j])} to “${tokens[j]}”`;
      button.setAttribute("aria-label", button.title);
      button.setAttribute("aria-pressed", value !== MEAN && Number(value) === head && Number(this.layer.select.value) === layer);
    }
  }
}
