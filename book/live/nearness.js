// How near sentences are to each other by meaning (chapter 17): the cosine of every pair.
import { Figure, make, megabytes } from "./figure.js";
import { cosine, mean } from "./tensors.js";
import { signed as shown } from "./walk.js";

const SENTENCES = 8;
const LONGEST = 70; // characters of a sentence that is shown
const letters = new Intl.Segmenter(); // as a reader counts them: an emoji of several signs is one
export function cut(line) {
  const all = Array.from(letters.segment(line), ({ segment }) => segment);
  return all.length > LONGEST ? `${all.slice(0, LONGEST).join("")}…` : line;
}

export class Nearness extends Figure {
  constructor(host, options) {
    super(host, options);
    [this.machine] = this.machines;
    const sentences = this.asks(`Your sentences, one a line, ${SENTENCES} at most`, "Compare", () =>
      this.compare(),
    );
    this.text.rows = 6;
    this.starts(this.text, () => this.compare(), true);
    this.text.value = options.examples.join("\n");
    this.table = make("table", { class: "lv-cosines" });
    this.about = make("p", { class: "lv-about", "aria-live": "polite" });
    this.found = make(
      "div",
      { hidden: "" },
      this.about,
      make(
        "div",
        { class: "lv-scroll", tabindex: 0, role: "group", "aria-label": "Table of cosines" },
        this.table,
      ),
    );
    this.show(sentences, make("div", { class: "lv-row" }, this.go), this.status, this.found);
    this.text.addEventListener("input", () => this.forget());
    this.say(
      `${megabytes(this.machine.bytes)} are fetched when you first compare; what you type stays here.`,
    );
    this.vectors = new Map(); // of sentences that were read
    this.strange = new Set(); // those among them with something that MiniLM has no piece for
    this.long = new Set(); // those that were not read to their end
  }

  // The example's vectors came with the page, rounded: they are not kept.
  async start() {
    await this.compare();
    this.vectors.clear();
  }

  async compare() {
    const lines = this.text.value
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean);
    if (lines.length < 2 || lines.length > SENTENCES) {
      this.forget();
      this.say(
        lines.length < 2
          ? "Type two sentences at least, each in a line of its own."
          : `${lines.length} sentences are too many: ${SENTENCES} can be compared.`,
        true,
      );
      return;
    }
    for (const text of lines) {
      if (this.vectors.has(text)) continue;
      const read = await this.run(this.machine, "embed", { text }, () => {});
      if (!read) return;
      this.vectors.set(text, read.vector);
      if (read.tokens.includes("[UNK]")) this.strange.add(text);
      if (read.read < read.pieces) this.long.add(text);
    }
    this.paint(lines);
  }

  paint(lines) {
    const vectors = lines.map((line) => this.vectors.get(line));
    const cosines = vectors.map((one) => vectors.map((other) => cosine(one, other)));
    const pairs = lines
      .flatMap((_, i) => lines.slice(i + 1).map((_, k) => [i, i + 1 + k]))
      .sort(([i, j], [k, l]) => cosines[k][l] - cosines[i][j]);
    const [[i, j]] = pairs,
      [k, l] = pairs.at(-1);
    this.about.textContent =
      `Nearest: ${i + 1} and ${j + 1}, ${shown(cosines[i][j])}.` +
      (pairs.length > 1 ? ` Farthest apart: ${k + 1} and ${l + 1}, ${shown(cosines[k][l])}.` : "");
    const numbers = (some) =>
      lines.flatMap((line, n) => (some.has(line) ? [n + 1] : [])).join(", ");
    if (numbers(this.long))
      this.about.textContent += ` (Too long to be read to the end: ${numbers(this.long)}.)`;
    if (numbers(this.strange))
      this.about.textContent += ` (In ${numbers(this.strange)} stands something that MiniLM has no piece for: all such things are one [UNK] to it.)`;
    const cell = (value, same) =>
      make(
        "td",
        same ? { class: "lv-same" } : { style: `--share: ${Math.max(0, value).toFixed(4)}` },
        shown(value),
      );
    this.table.replaceChildren(
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          make("td", {}),
          ...lines.map((_, column) => make("th", { scope: "col" }, String(column + 1))),
        ),
      ),
      make(
        "tbody",
        {},
        ...lines.map((line, r) =>
          make(
            "tr",
            {},
            make("th", { scope: "row", dir: "auto" }, `${r + 1}. ${cut(line)}`),
            ...cosines[r].map((value, c) => cell(value, r === c)),
          ),
        ),
      ),
    );
    this.found.hidden = false;
  }
}
