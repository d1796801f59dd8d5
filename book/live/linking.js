// A tree out of a table (chapter 16c): what a masked word's vector feels of each other word, and the best tree of such a table by
// Eisner's algorithm, beside the treebank's and one that the reader draws.
import { Figure, choice, columns, draw, make, slider } from "./figure.js";

const LETTER = 8.6, // pixels, of a word
  GAP = 26,
  HIGH = 22, // of an arc, for each word that it spans
  LINE = 30; // of the words

// The means of a table's rows, without the diagonal: how strong a word is with all others.
export const strengths = (scores) =>
  scores.map((row, i) => row.reduce((sum, x, j) => sum + (i === j ? 0 : x), 0) / (row.length - 1));

// The table less a share of both words' strengths; a link in `wanted` stands above all others.
export function changed(scores, share, wanted = []) {
  const own = strengths(scores),
    table = scores.map((row, i) =>
      row.map((x, j) => (i === j ? 0 : x - share * (own[i] + own[j]))),
    );
  const top = 1000;
  for (const [i, j] of wanted) table[i][j] = table[j][i] = top;
  return table;
}

// The links of the tree without crossings that has the largest sum (the library's `eisner`, of a symmetric table): for the words i to j
// `bridged` holds the best tree in which i and j are linked, `whole` the best of all.
export function eisner(scores) {
  const n = scores.length,
    key = (i, j) => i * n + j,
    whole = new Map(),
    bridged = new Map();
  for (let i = 0; i < n; i++) whole.set(key(i, i), { score: 0, links: [] });
  const best = (pairs) =>
    pairs
      .map(([a, b]) => ({ score: a.score + b.score, links: [...a.links, ...b.links] }))
      .reduce((first, next) => (next.score > first.score ? next : first));
  const between = (from, to) => Array.from({ length: to - from }, (_, k) => from + k);
  for (let length = 1; length < n; length++)
    for (let i = 0; i + length < n; i++) {
      const j = i + length;
      const { score, links } = best(
        between(i, j).map((k) => [whole.get(key(i, k)), whole.get(key(k + 1, j))]),
      );
      bridged.set(key(i, j), { score: score + scores[i][j], links: [...links, [i, j]] });
      whole.set(
        key(i, j),
        best(between(i + 1, j + 1).map((k) => [bridged.get(key(i, k)), whole.get(key(k, j))])),
      );
    }
  return whole.get(key(0, n - 1)).links.sort(([a, b], [c, d]) => a - c || b - d);
}

export const same =
  ([a, b]) =>
  ([c, d]) =>
    a === c && b === d;
export const shared = (some, others) => some.filter((link) => others.some(same(link))).length;
const ordered = (i, j) => (i < j ? [i, j] : [j, i]);

export class Linking extends Figure {
  constructor(host, options) {
    super(host, { ...options, models: [] });
    this.sentences = options.sentences;
    this.which = choice(
      "Sentence",
      options.sentences.map(({ words }, i) => [i, `${words.join(" ")}.`]),
    );
    this.share = slider(
      "Share of the words’ own strength that is taken off",
      { min: 0, max: 1, step: 0.1, value: 0 },
      (x) => x.toFixed(1),
    );
    this.show_gold = make("button", { type: "button", "aria-pressed": "false" }, "The treebank’s");
    this.clear = make("button", { type: "button" }, "Clear mine");
    this.svg = draw("svg", {
      class: "lv-links",
      role: "group",
      "aria-label": "The words; press two, to link them",
    });
    this.table = make("table", { class: "lv-impacts" });
    this.told = make("table", { class: "lv-counts" });
    this.about = make("p", { class: "lv-about", "aria-live": "polite" });
    const scrolls = (what, ...children) =>
      make(
        "div",
        { class: "lv-scroll", tabindex: 0, role: "group", "aria-label": what },
        ...children,
      );
    this.show(
      this.which.whole,
      make(
        "p",
        { class: "lv-head" },
        "Above: your links. Press two words to link them, and again to part them. Below: the best tree of the table",
      ),
      scrolls("Words and links", this.svg),
      make("div", { class: "lv-row" }, this.show_gold, this.clear),
      this.about,
      this.told,
      make(
        "p",
        { class: "lv-head" },
        "The table, both directions added. Press a number, and its link must be in the tree",
      ),
      scrolls("Table of impacts", this.table),
      make("div", { class: "lv-row" }, this.share.whole),
    );
    this.which.select.addEventListener("change", () => this.begin());
    this.share.input.addEventListener("input", () => this.paint(true));
    this.show_gold.addEventListener("click", () => {
      this.gold = !this.gold;
      this.paint(true);
    });
    this.clear.addEventListener("click", () => {
      this.mine = [];
      this.first = null;
      this.paint(true);
    });
    this.begin();
  }

  begin() {
    this.sentence = this.sentences[this.which.select.value];
    Object.assign(this, { mine: [], wanted: [], first: null, gold: false });
    this.paint();
  }

  // A word is pressed: the first of two, or the second.
  press(i) {
    if (this.first === null) this.first = i;
    else {
      if (this.first !== i) this.mine = toggled(this.mine, ordered(this.first, i));
      this.first = null;
    }
    this.paint(true);
    this.svg.querySelector(`[data-word="${i}"]`).focus();
  }

  want(link) {
    this.wanted = toggled(this.wanted, link);
    this.paint(true);
    this.table.querySelector(`[data-link="${link}"]`).focus(); // the button that was pressed is gone
  }

  paint(touched = false) {
    if (touched) this.used();
    const { words, impacts, gold } = this.sentence,
      share = Number(this.share.input.value);
    this.scores = changed(impacts, share, this.wanted);
    this.tree = eisner(this.scores);
    this.show_gold.setAttribute("aria-pressed", this.gold);
    this.picture(words, gold);
    this.numbers(words, changed(impacts, share));
    this.tell(words, gold);
  }

  picture(words, gold) {
    const at = [];
    let x = GAP;
    for (const word of words) {
      const wide = LETTER * Math.max(2, word.length);
      at.push(x + wide / 2);
      x += wide + GAP;
    }
    const above = 14 + HIGH * widest([...this.mine, ...(this.gold ? gold : [])]),
      below = 14 + HIGH * widest(this.tree);
    const arc =
      (kind, up) =>
      ([i, j]) => {
        const y = up ? above : above + LINE,
          rise = HIGH * (j - i) * (up ? -1 : 1);
        const d = `M${at[i] + 4} ${y}C${at[i] + 4} ${y + rise} ${at[j] - 4} ${y + rise} ${at[j] - 4} ${y}`;
        return draw("path", { d, class: `lv-link lv-${kind([i, j])}` });
      };
    const right = (link) => (this.gold && gold.some(same(link)) ? "right" : "made");
    const word = (text, i) => {
      const node = draw(
        "g",
        {
          role: "button",
          tabindex: 0,
          "data-word": i,
          "aria-pressed": this.first === i,
          "aria-label": `${text}, ${linked(i, this.mine, words)}`,
        },
        draw("rect", {
          x: at[i] - (LETTER * text.length) / 2 - 8,
          y: above + 2,
          width: LETTER * text.length + 16,
          height: LINE - 4,
          rx: 6,
        }),
        draw("text", { x: at[i], y: above + LINE / 2 + 5, "text-anchor": "middle" }, text),
      );
      node.addEventListener("click", () => this.press(i));
      node.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        this.press(i);
      });
      return node;
    };
    const high = above + LINE + below;
    for (const [name, value] of [
      ["viewBox", `0 0 ${x} ${high}`],
      ["width", x],
      ["height", high],
    ])
      this.svg.setAttribute(name, value);
    this.svg.replaceChildren(
      ...(this.gold ? gold.map(arc(() => "gold", true)) : []),
      ...this.mine.map(arc(right, true)),
      ...this.tree.map(arc(right, false)),
      ...words.map(word),
    );
  }

  // The lower half of the table: a button for each pair.
  numbers(words, table) {
    const all = table.flatMap((row, i) => row.slice(0, i)),
      [low, high] = [Math.min(...all), Math.max(...all)];
    const cell = (i, j) => {
      if (j >= i) return make("td", {});
      const link = [j, i],
        pressed = this.wanted.some(same(link));
      const button = make(
        "button",
        {
          type: "button",
          "data-link": link,
          "aria-pressed": pressed,
          "aria-label": `${words[j]} and ${words[i]}: ${table[i][j].toFixed(1)}`,
          class: this.tree.some(same(link)) ? "lv-in" : null,
          style: `--share: ${((table[i][j] - low) / (high - low || 1)).toFixed(4)}`,
        },
        table[i][j].toFixed(1).replace("-", "−"),
      );
      button.addEventListener("click", () => this.want(link));
      return make("td", {}, button);
    };
    this.table.replaceChildren(
      make(
        "tbody",
        {},
        ...words
          .slice(1)
          .map((word, k) =>
            make(
              "tr",
              {},
              make("th", { scope: "row" }, word),
              ...words.slice(0, -1).map((_, j) => cell(k + 1, j)),
            ),
          ),
      ),
      make(
        "tfoot",
        {},
        make(
          "tr",
          {},
          make("td", {}),
          ...words.slice(0, -1).map((word) => make("th", { scope: "col" }, word)),
        ),
      ),
    );
  }

  tell(words, gold) {
    const n = gold.length,
      chain = words.slice(1).map((_, i) => [i, i + 1]);
    const rows = [
      ["yours", this.mine],
      ["the table’s", this.tree],
      ["every word linked to the next", chain],
    ].map(([name, links]) => [name, String(links.length), hidden(this, shared(links, gold))]);
    this.told.replaceChildren(
      ...columns(
        [["links"], [`right, of ${n}`]],
        [
          ...rows,
          [
            "random numbers, on average",
            String(n),
            hidden(this, this.sentence.by_chance.toFixed(1)),
          ],
        ],
      ),
    );
    this.about.textContent =
      this.first === null
        ? this.gold
          ? "Dashed: the treebank’s links. A link that it has too is green."
          : "How many of the table’s links are right? Say it, and draw your own, before you ask the treebank."
        : `${words[this.first]}, and …`;
  }
}

const toggled = (links, link) =>
  links.some(same(link)) ? links.filter((one) => !same(link)(one)) : [...links, link];
const widest = (links) => Math.max(1, ...links.map(([i, j]) => 0.75 * (j - i)));
const hidden = ({ gold }, count) => (gold ? String(count) : "?");
const linked = (i, links, words) => {
  const others = links.flatMap(([a, b]) => (a === i ? [words[b]] : b === i ? [words[a]] : []));
  return others.length ? `linked to ${others.join(", ")}` : "not linked";
};
