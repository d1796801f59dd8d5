// A sentence as BERT reads it: a chosen token, and how much of its attention each other one gets, in a layer and a head. All heads
// stand in a grid, each filled as far as what it gives to the one token that it gives most. Of one head a share is computed before the
// reader's eyes: the products of query and key, their sum, the division, softmax.
import { Figure, bar, choice, field, make, megabytes, percent } from "./figure.js";
import { more } from "./machine.js";

const MEAN = "";
const strongest = (row) => row.reduce((best, share, j) => (share > row[best] ? j : best), 0);

export class Reader extends Figure {
  constructor(host, options) {
    super(host, options);
    [this.machine] = this.machines;
    this.first = options.first;
    const sentence = this.asks("Your sentence", "Read it", () => this.read(), 400);
    this.text.value = options.examples[0];
    this.second = this.bounded(
      make("textarea", { rows: 1, maxlength: 400, dir: "auto", spellcheck: "false" }),
    );
    this.starts(this.second, () => this.read());
    const numbers = (n, what) => Array.from({ length: n }, (_, i) => [i, `${what} ${i}`]);
    this.layer = choice("Layer", numbers(options.layers, "layer"));
    this.head = choice("Head", [[MEAN, "mean of all"], ...numbers(options.heads, "head")]);
    this.layer.select.value = this.first.layer;
    this.head.select.value = this.first.head;
    this.tokens = make("ol", { class: "lv-tokens lv-looking", "aria-label": "Tokens" });
    this.about = make("p", { class: "lv-about" });
    this.most = make("ol", { class: "lv-candidates lv-plainlist" });
    const examples = make(
      "div",
      { class: "lv-examples" },
      ...this.offers(options.examples, (example) => {
        this.text.value = example;
        this.second.value = "";
        this.read();
      }),
    );
    this.about_all = make("p", { class: "lv-head" });
    this.why = make("div", { class: "lv-why" });
    this.found = make(
      "div",
      { hidden: "" },
      make("p", { class: "lv-head" }, "Choose a token, to see where it looks"),
      this.tokens,
      make("div", { class: "lv-row" }, this.layer.whole, this.head.whole),
      this.about,
      this.most,
      this.why,
      this.about_all,
      this.grid(options),
    );
    this.show(
      sentence,
      field("A second text, if you like: BERT then reads a pair", this.second),
      examples,
      make("div", { class: "lv-row" }, this.go),
      this.status,
      this.found,
    );
    this.say(
      `${megabytes(this.machine.bytes)} are fetched when you first read; what you type stays here.`,
    );
    for (const { select } of [this.layer, this.head])
      select.addEventListener("change", () => this.look(this.at));
    for (const text of [this.text, this.second]) {
      text.addEventListener("input", () => {
        this.stop();
        this.found.hidden = true; // it was about another sentence
        if (this.machine.loaded) this.say("");
      });
    }
  }

  // A row for each layer, a button for each head.
  grid({ layers, heads }) {
    this.buttons = [];
    const row = (_, layer) =>
      make(
        "div",
        { class: "lv-heads-row" },
        make("span", { "aria-hidden": "true" }, String(layer)),
        ...Array.from({ length: heads }, (_, head) => {
          const button = make("button", { type: "button" });
          button.addEventListener("click", () => {
            this.layer.select.value = layer;
            this.head.select.value = head;
            this.look(this.at);
          });
          this.buttons.push({ button, layer, head });
          return button;
        }),
      );
    const whole = make(
      "div",
      { class: "lv-heads", role: "group", "aria-label": `All ${layers * heads} heads` },
      ...Array.from({ length: layers }, row),
    );
    whole.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: heads, ArrowUp: -heads }[event.key];
      const at = this.buttons.findIndex(({ button }) => button === event.target);
      if (!step || at < 0) return;
      event.preventDefault();
      const next = this.buttons[at + step]?.button ?? event.target;
      this.reach(next);
      next.focus();
    });
    return whole;
  }

  // Of the heads the Tab key comes to one, the arrow keys to the others.
  reach(one) {
    for (const { button } of this.buttons) button.tabIndex = button === one ? 0 : -1;
  }

  start() {
    return this.read();
  }

  async read() {
    const text = this.text.value.trim();
    if (!text) {
      this.stop();
      this.found.hidden = true;
      this.say("Type a sentence first.", true);
      return;
    }
    const texts = { text, second: this.second.value.trim() };
    const found = await this.run(this.machine, "look", texts, () => {});
    if (!found) return;
    if (found.left > 0)
      this.say(`Too long to be read whole: the last ${found.left} pieces were left out.`);
    this.texts = texts;
    this.seen = found;
    this.found.hidden = false;
    this.tokens.replaceChildren(
      ...found.tokens.map((token, i) => {
        const button = make("button", { type: "button" }, token);
        button.addEventListener("click", () => this.look(i));
        return make("li", {}, button);
      }),
    );
    // Where there is something to see, if the sentence has one of these words.
    const at = this.first.tokens
      .map((token) => found.tokens.indexOf(token))
      .find((place) => place >= 0);
    this.look(at ?? Math.min(1, found.tokens.length - 2));
  }

  // Shade every token by the share of the chosen one's attention that it gets, and every head by how much it gives to one token.
  look(at) {
    const { tokens, attention } = this.seen;
    this.at = at;
    const heads = attention[this.layer.select.value],
      { value } = this.head.select;
    const maps = value === MEAN ? heads : [heads[value]];
    const row = tokens.map((_, j) => maps.reduce((sum, map) => sum + map[at][j], 0) / maps.length);
    [...this.tokens.children].forEach((item, j) => {
      item.firstChild.setAttribute("aria-pressed", j === at);
      item.firstChild.style.setProperty("--share", row[j].toFixed(4));
      item.firstChild.title = percent(row[j]);
    });
    this.about.textContent = `“${tokens[at]}” (position ${at}) looks most at:`;
    const most = [...row.keys()].sort((a, b) => row[b] - row[a]).slice(0, 5);
    this.most.replaceChildren(
      ...most.map((j) => {
        const parts = [
          make("span", {}, `${tokens[j]} (${j})`),
          bar(row[j], "plain"),
          make("small", {}, percent(row[j])),
        ];
        if (value === MEAN) return make("li", {}, ...parts);
        const button = make(
          "button",
          { type: "button", "aria-pressed": "false", title: "How does this share come about?" },
          ...parts,
        );
        button.addEventListener("click", () => this.explain(j, button));
        return make("li", {}, button);
      }),
    );
    this.most.classList.toggle("lv-plainlist", value === MEAN);
    this.why.replaceChildren(
      make(
        "p",
        { class: "lv-about" },
        value === MEAN
          ? "A mean of twelve heads. Choose one of them, to see how a share comes about."
          : "Choose one of these, to see how its share comes about.",
      ),
    );
    this.about_all.textContent = `All ${this.buttons.length} heads, a row for each layer: the stronger its blue, the more of “${tokens[at]}” goes to one token. Choose one.`;
    for (const { button, layer, head } of this.buttons) {
      const looks = attention[layer][head][at],
        j = strongest(looks);
      button.style.setProperty("--share", looks[j].toFixed(4));
      button.title = `layer ${layer}, head ${head}: ${percent(looks[j])} to “${tokens[j]}”`;
      button.setAttribute("aria-label", button.title);
      button.setAttribute(
        "aria-pressed",
        value !== MEAN && Number(value) === head && Number(this.layer.select.value) === layer,
      );
    }
    const pressed = ({ button }) => button.getAttribute("aria-pressed") === "true";
    this.reach((this.buttons.find(pressed) ?? this.buttons[0]).button);
  }

  // How one share comes about: the products of the query and that key, their sum, the division, softmax over all keys.
  async explain(j, button) {
    const [layer, head, i] = [this.layer, this.head]
        .map(({ select }) => Number(select.value))
        .concat(this.at),
      { tokens } = this.seen;
    const code = Promise.all([more("./numbers.js"), more("./trace.js")]).catch((error) => error),
      found = await this.run(this.machine, "compare", { ...this.texts, layer, head, i }, () => {}),
      scripts = await code;
    if (scripts instanceof Error) return this.say(`That did not work: ${scripts.message}`, true);
    const [{ num, part, formula, sums }, { dot }] = scripts;
    if (!found || !button.isConnected) return;
    for (const other of this.most.querySelectorAll("button"))
      other.setAttribute("aria-pressed", other === button);
    this.say("Computed below.");
    const { query, keys } = found,
      root = Math.sqrt(query.length),
      scores = keys.map((key) => dot(query, key) / root);
    const total = scores.reduce((sum, score) => sum + Math.exp(score), 0),
      own = Math.exp(scores[j]);
    this.why.replaceChildren(
      make(
        "p",
        { class: "lv-about" },
        `Layer ${layer}, head ${head}: the query of “${tokens[i]}” and the key of “${tokens[j]}”, ${query.length} numbers each, product by product:`,
      ),
      sums({ a: query, b: keys[j] }, ["query", "key"], "query · key", "The largest products"),
      formula("Divided by √", String(query.length), ` = ${num(root)}: `, part(scores[j], "score")),
      formula(
        "Softmax: e to the power of it is ",
        num(own),
        `; of all ${keys.length} tokens together `,
        num(total),
        `. The share: ${percent(own / total)}`,
      ),
    );
  }
}
