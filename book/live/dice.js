// Holes by chance (chapter 13): which tokens are chosen, what becomes of them, and the shares over many throws.
import { Figure, bar, make, percent, plural } from "./figure.js";
import { textOf } from "./machine.js";
import { WordPiece } from "./tokens.js";

const SAID = { masked: "becomes [MASK]", random: "becomes another token", kept: "stays as it is" };
export const NEVER = ["[PAD]", "[CLS]", "[SEP]"];

// For each of n tokens: two numbers between 0 and 1, and a token that may take its place, from `words`: [first, behind the last].
export function throwDice(n, words, chance = Math.random) {
  const numbers = () => Array.from({ length: n }, () => chance());
  const [choice, fate] = [numbers(), numbers()];
  return {
    choice,
    fate,
    others: numbers().map((x) => words[0] + Math.floor(x * (words[1] - words[0]))),
  };
}

// The library's `mask_tokens` on dice that are thrown: [{id, kind}], what the model reads, and a kind where a token was chosen.
export function holes(ids, special, { choice, fate, others }, maskId, rates) {
  return ids.map((id, i) => {
    if (special[i] || choice[i] >= rates.chosen) return { id, kind: null };
    if (fate[i] < rates.masked) return { id: maskId, kind: "masked" };
    if (fate[i] < rates.masked + rates.random) return { id: others[i], kind: "random" };
    return { id, kind: "kept" };
  });
}

export class Dice extends Figure {
  constructor(host, options) {
    super(host, options);
    this.options = options;
    const sentence = this.asks("Your sentence", "Throw the dice", () => this.throw(1), 400);
    this.text.value = options.sentence;
    this.many = make("button", { type: "button" }, "Throw 1,000 times");
    this.forget = make("button", { type: "button" }, "Forget the tally");
    this.tokens = make("ol", { class: "lv-dice", "aria-label": "What the model reads" });
    this.about = make("p", { class: "lv-about", "aria-live": "polite" });
    this.shares = make("table", { class: "lv-counts lv-shares" });
    this.found = make("div", { hidden: "" }, this.tokens, this.about, this.shares);
    this.show(
      sentence,
      make("div", { class: "lv-row" }, this.go, this.many, this.forget),
      this.status,
      this.found,
    );
    this.many.addEventListener("click", () => this.throw(1000));
    this.forget.addEventListener("click", () => {
      this.empty();
      this.count();
    });
    this.text.addEventListener("input", () => {
      this.empty();
      this.found.hidden = true;
    }); // it was about another sentence
    this.empty();
    this.say(
      `BERT's vocabulary, ${(options.bytes / 1e6).toFixed(1)} MB, is fetched when you first throw; what you type stays here.`,
    );
  }

  get shownFirst() {
    return "a throw of three words, picked because each of the three things happens to one";
  }

  empty() {
    this.tally = { throws: 0, tokens: 0, masked: 0, random: 0, kept: 0 };
  }

  // The word pieces, fetched once.
  pieces() {
    this.loading ??= textOf(this.options.vocabulary).then(
      (text) => (this.ready = new WordPiece(text)),
      (error) => {
        this.loading = undefined;
        throw error;
      },
    );
    return this.loading;
  }

  async throw(times) {
    const text = this.text.value;
    if (!text.trim()) {
      this.say("Type a sentence first.", true);
      return;
    }
    let pieces;
    try {
      if (!this.ready) this.say("Fetching the vocabulary …");
      pieces = await this.pieces();
    } catch (error) {
      this.say(`That did not work: ${error.message}`, true);
      return;
    }
    this.say("");
    if (text !== this.text.value) return; // typed on meanwhile
    this.used();
    if (this.picked) this.empty(); // a throw that was picked would bend the shares
    this.picked = false;
    this.lay(pieces, times, (n) => throwDice(n, this.options.words));
  }

  // One throw for the example that stands there: it needs a part of the vocabulary only.
  start() {
    const [{ pieces, dice }] = this.answers;
    this.picked = true;
    this.lay(new WordPiece(pieces), 1, () => dice);
  }

  lay(pieces, times, thrown) {
    const text = this.text.value;
    const [cls, sep, mask] = ["[CLS]", "[SEP]", "[MASK]"].map((name) => pieces.ids.get(name));
    const never = new Set(NEVER.map((name) => pieces.ids.get(name)));
    const ids = [cls, ...pieces.encode(text), sep],
      special = ids.map((id) => never.has(id));
    let dice, read;
    for (let i = 0; i < times; i++) {
      dice = thrown(ids.length);
      read = holes(ids, special, dice, mask, this.options.rates);
      this.tally.throws += 1;
      this.tally.tokens += special.filter((one) => !one).length;
      for (const { kind } of read) if (kind) this.tally[kind] += 1;
    }
    this.found.hidden = false;
    this.tokens.replaceChildren(
      ...read.map((one, i) => token(one, pieces, ids[i], special[i], dice, i)),
    );
    this.tell(
      read,
      ids.map((id) => pieces.shown(id)),
      times,
    );
    this.count();
  }

  tell(read, names, times) {
    const asked = [...read.keys()].filter((i) => read[i].kind);
    const terms = asked.map((i) => `log p(${names[i]} at ${i})`);
    const dice = times > 1 ? "The last throw: the" : "The";
    this.about.textContent = asked.length
      ? `${dice} loss is asked at ${plural(asked.length, "place")} of ${names.length}: ${terms.length > 1 ? `−(${terms.join(" + ")}) / ${terms.length}` : `−${terms[0]}`}. Nowhere else.`
      : `${dice} dice chose nothing. There is nothing to predict, and the loss is 0.`;
  }

  count() {
    const { throws, tokens, ...kinds } = this.tally,
      { rates } = this.options,
      chosen = kinds.masked + kinds.random + kinds.kept;
    const row = (name, n, of, expected, kind) =>
      make(
        "tr",
        { "data-kind": kind },
        make("th", { scope: "row" }, name),
        make("td", {}, n.toLocaleString("en-US")),
        make("td", {}, of ? percent(n / of) : "–"),
        make("td", {}, `${Math.round(100 * expected)} %`),
        make("td", { class: "lv-wide", "aria-hidden": "true" }, bar(of ? n / of : 0, kind)),
      );
    this.shares.replaceChildren(
      make(
        "caption",
        {},
        `Tally of ${plural(throws, "throw").replace(/^\d+/, (n) => Number(n).toLocaleString("en-US"))}, ${tokens.toLocaleString("en-US")} tokens without special ones`,
      ),
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          make("td", {}),
          ...["number", "share", "rule"].map((name) => make("th", { scope: "col" }, name)),
          make("td", {}),
        ),
      ),
      make(
        "tbody",
        {},
        row("chosen, of all", chosen, tokens, rates.chosen, "chosen"),
        row("[MASK], of the chosen", kinds.masked, chosen, rates.masked, "masked"),
        row("another token", kinds.random, chosen, rates.random, "random"),
        row("as it was", kinds.kept, chosen, 1 - rates.masked - rates.random, "kept"),
      ),
    );
  }
}

// Rounded down: one that is below a limit is never shown as that limit.
const thrown = (die) => (Math.floor(100 * die) / 100).toFixed(2);

// A token as the model reads it; below it what it was, and its dice.
function token({ id, kind }, pieces, was, special, { choice, fate }, i) {
  const name = pieces.shown(was),
    parts = [make("b", {}, pieces.shown(id))];
  if (special) parts.push(make("small", {}, "never"));
  else
    parts.push(
      make("small", {}, kind ? `${thrown(choice[i])}, ${thrown(fate[i])}` : thrown(choice[i])),
    );
  if (kind) parts.push(make("small", { class: "lv-fate" }, kind === "kept" ? "kept" : name));
  const said = kind
    ? `${name}: ${SAID[kind]}; the loss asks for ${name}`
    : special
      ? `${name}: special, never chosen`
      : `${name}: not chosen`;
  return make("li", { "data-kind": kind ?? (special ? "special" : "none"), title: said }, ...parts);
}
