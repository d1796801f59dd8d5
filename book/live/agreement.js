// Two words for one hole (chapter 10b): which of them two models find likelier, one that reads only what stands before the hole and
// one that reads both sides. What was asked stays, so that sentences can be compared.
import { Figure, field, make, megabytes } from "./figure.js";
import { signed } from "./walk.js";

const LONGEST = 300, // characters of a sentence
  WORD = 40; // of a word
const STAY = 6; // sentences
const FULL = 8; // nats: a lead of so much, or more, fills its half of the line
const HOLE = /_+|\[mask\]/gi;
const READERS = ["only the left", "both sides"];

const MILLION = 1e6;
function times(lead) {
  const ratio = Math.exp(Math.abs(lead));
  const said = Number(Math.min(ratio, MILLION).toPrecision(2)).toLocaleString("en-US");
  return ratio > MILLION ? `over ${said}` : said;
}

export class Agreement extends Figure {
  constructor(host, options) {
    super(host, options);
    this.examples = options.examples;
    const sentence = this.asks(
      "Your sentence, with ___ where a word is missing",
      "Which word?",
      () => this.ask(),
      LONGEST,
    );
    this.words = ["", ""].map(() =>
      this.bounded(
        make("input", { type: "text", maxlength: WORD, dir: "auto", spellcheck: "false" }),
      ),
    );
    for (const word of this.words) this.starts(word, () => this.ask());
    const names = options.examples.map(({ text }) => text);
    this.about = make("p", { class: "lv-about", "aria-live": "polite" });
    this.list = make("ol", { class: "lv-pairs", "aria-label": "Sentences that were asked" });
    this.show(
      sentence,
      make(
        "div",
        { class: "lv-row" },
        field("One word", this.words[0]),
        field("Or this one", this.words[1]),
      ),
      make(
        "div",
        { class: "lv-examples" },
        ...this.offers(names, (chosen) => {
          this.take(options.examples[names.indexOf(chosen)]);
          this.ask();
        }),
      ),
      make("div", { class: "lv-row" }, this.go),
      this.status,
      this.about,
      make(
        "p",
        { class: "lv-head" },
        `To the left: the first word is likelier; to the right: the second. A line ends at ${FULL} nats.`,
      ),
      this.list,
    );
    this.asked = [];
    const bytes = this.machines.reduce((sum, machine) => sum + machine.bytes, 0);
    this.note = `${megabytes(bytes)} are fetched when you first ask; what you type stays here.`;
    this.take(options.examples[0]);
    this.host.addEventListener("input", () => this.forget());
  }

  take({ text, words }) {
    this.text.value = text;
    this.words.forEach((word, i) => (word.value = words[i]));
    this.forget();
  }

  forget() {
    this.stop();
    this.drop();
    this.about.textContent = "";
    if (!this.fetching) this.say(this.machines.every((machine) => machine.loaded) ? "" : this.note);
  }

  // What was being asked and is asked no more: the line of the first model alone would look like an answer.
  drop() {
    this.asked = this.asked.filter((one) => one !== this.asking);
    this.asking = null;
    this.draw();
  }

  draw() {
    this.list.replaceChildren(...this.asked.map(drawn));
  }

  // All examples, the one that is in the field last.
  async start() {
    for (const example of [...this.examples].reverse()) {
      this.take(example);
      await this.ask();
    }
  }

  // What cannot be asked, in words.
  lacks(holes, words) {
    if (!holes) return "There is no hole yet: type ___ where the word is missing.";
    if (holes > 1) return `There are ${holes} holes: leave one.`;
    if (words.some((word) => !word)) return "Type two words first.";
    return words[0] === words[1] ? "Type two words that differ." : "";
  }

  async ask() {
    const text = this.text.value.trim(),
      words = this.words.map((word) => word.value.trim());
    const lacks = this.lacks((text.match(HOLE) ?? []).length, words);
    if (lacks) {
      this.forget();
      this.say(lacks, true);
      return;
    }
    this.drop();
    const [left, right] = text.split(HOLE),
      one = (this.asking = { left, right, words, answers: [] });
    const tasks = [
      ["behind", left.trim()],
      ["inHole", `${left}[MASK]${right}`],
    ];
    for (const [i, [task, read]] of tasks.entries()) {
      const answer = await this.run(this.machines[i], task, { text: read, words }, () => {});
      if (!answer) break;
      one.answers.push(answer);
      this.keep(one);
    }
    if (this.asking === one) this.asking = null;
  }

  // On top; the same question is not kept twice.
  keep(one) {
    const question = ({ left, right, words }) => JSON.stringify([left, right, words]);
    const others = this.asked.filter((other) => question(other) !== question(one));
    this.asked = [one, ...others].slice(0, STAY);
    this.draw();
    this.about.textContent = one.answers
      .map((answer, i) => `Reading ${READERS[i]}: ${answer.map(told).join(", ")}.`)
      .join(" ");

    function told({ pieces, log }, w) {
      const word = one.words[w];
      if (log === null)
        return !pieces.length || pieces.includes("[UNK]")
          ? `BERT has no piece for “${word}”`
          : `“${word}” is ${pieces.length} pieces to BERT (${pieces.join(" ")}), and a hole takes one`;
      const sum = pieces.length > 1 ? `, the sum over ${pieces.length} pieces` : "";
      return `log\u00a0P(${word})\u00a0=\u00a0${signed(log)}${sum}`;
    }
  }
}

// A sentence, and by how much each reader prefers which word: the line goes to the left for the first, to the right for the second.
function drawn({ left, right, words, answers }) {
  const row = (answer, i) => {
    const known = answer.every(({ log }) => log !== null);
    const lead = known ? answer[0].log - answer[1].log : 0;
    const [more, less] = lead > 0 ? words : [...words].reverse();
    const said = `“${more}” is ${times(lead)} times as likely as “${less}” (${Math.abs(lead).toFixed(1)}\u00a0nats)`;
    const alike = times(lead) === "1"; // to two digits
    const share = Math.min(1, Math.abs(lead) / FULL).toFixed(4);
    const bar = make("i", { class: "lv-bar lv-drawn", style: `--share: ${share}` });
    return make(
      "li",
      {},
      make("span", {}, READERS[i]),
      make("small", {}, !known ? "not one piece" : alike ? "both about alike" : said),
      make("b", { class: lead > 0 ? "lv-first" : null }, ...(lead ? [bar] : [])),
    );
  };
  return make(
    "li",
    {},
    make("p", { dir: "auto" }, left, make("mark", {}, words.join(" / ")), right),
    make("ol", { class: "lv-candidates lv-plainlist" }, ...answers.map(row)),
  );
}
