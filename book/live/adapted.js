// MiniLM with a small difference learned for one task (chapter 14): a sentence judged, two compared, names found, a question answered.
import { Figure, bar, field, make, megabytes, percent } from "./figure.js";
import { signed } from "./walk.js";

const UNCASED = "MiniLM reads no capitals: what it found is shown as it read it, in lower case.";

// Words as one reads them: pieces joined, no space before a full stop or a comma.
export const joined = (pieces) =>
  pieces
    .join(" ")
    .replace(/ ##/g, "")
    .replace(/ ([.,:;!?%)’'])/g, "$1")
    .replace(/([(’']) /g, "$1");

class Adapted extends Figure {
  constructor(host, options, label, button) {
    super(host, options);
    [this.machine] = this.machines;
    const text = this.asks(label, button, () => this.ask());
    const examples = make(
      "div",
      { class: "lv-examples" },
      ...this.offers(
        options.examples.map((one) => this.name(one)),
        (chosen) => {
          this.take(options.examples.find((one) => this.name(one) === chosen));
          this.ask();
        },
      ),
    );
    this.found = make("div", { hidden: "", "aria-live": "polite" });
    this.show(
      ...this.fields(text),
      examples,
      make("div", { class: "lv-row" }, this.go),
      this.status,
      this.found,
    );
    this.take(options.examples[0]);
    this.host.addEventListener("input", () => this.forget());
    this.say(
      `${megabytes(this.machine.bytes)} are fetched when you first ask; what you type stays here.`,
    );
  }

  start() {
    return this.ask();
  }

  fields(text) {
    return [text];
  }

  name(example) {
    return example;
  }

  take(example) {
    this.text.value = example;
    this.forget();
  }

  async asked(task, request) {
    if (Object.values(request).some((text) => !text)) {
      this.forget();
      this.say("Type something first.", true);
      return null;
    }
    const answer = await this.run(this.machine, task, request, () => {});
    if (!answer) return null;
    this.found.hidden = false;
    if (answer.read < answer.pieces)
      this.say(
        `The text is too long: the first ${answer.read} of its ${answer.pieces} pieces were read.`,
      );
    return answer;
  }
}

export class Sentiment extends Adapted {
  constructor(host, options) {
    super(host, options, "A sentence about a film, or about anything", "Praise or complaint?");
  }

  async ask() {
    const answer = await this.asked("judge", { text: this.text.value.trim() });
    if (!answer) return;
    const { shares } = answer;
    const row = (name, share) =>
      make(
        "li",
        {},
        make("span", {}, name),
        bar(share, "plain"),
        make("small", {}, percent(share)),
      );
    this.found.replaceChildren(
      make(
        "ol",
        { class: "lv-candidates lv-plainlist" },
        row("praise", shares[1]),
        row("complaint", shares[0]),
      ),
    );
  }
}

const MOST_ALIKE = 5; // the scores that the pairs were given end there
const within = (share) => Math.min(1, Math.max(0, share));

export class Alike extends Adapted {
  constructor(host, options) {
    super(host, options, "Second sentence", "How alike?");
  }

  // The first sentence stands above the second.
  fields(second) {
    this.first = this.bounded(
      make("textarea", { rows: 2, maxlength: 1500, dir: "auto", spellcheck: "false" }),
    );
    this.starts(this.first, () => this.ask());
    return [field("First sentence", this.first), second];
  }

  name([first, second]) {
    return `${first} / ${second}`;
  }

  take([first, second]) {
    this.first.value = first;
    super.take(second);
  }

  async ask() {
    const found = await this.asked("alike", {
      first: this.first.value.trim(),
      second: this.text.value.trim(),
    });
    if (!found) return;
    const row = (name, share, said) =>
      make("li", {}, make("span", {}, name), bar(within(share), "plain"), make("small", {}, said));
    const score = found.score.toFixed(1).replace("-", "−");
    this.found.replaceChildren(
      make(
        "ol",
        { class: "lv-candidates lv-plainlist" },
        row("score", found.score / MOST_ALIKE, `${score} of 5`),
        row("cosine", found.cosine, signed(found.cosine)),
      ),
      make(
        "p",
        { class: "lv-about" },
        "The score is what was learned from STS-B's pairs; the cosine is that of MiniLM's two vectors as they were before.",
      ),
    );
  }
}

export class Names extends Adapted {
  constructor(host, options) {
    super(host, options, "A message", "Find the names");
  }

  async ask() {
    const answer = await this.asked("tag", { text: this.text.value.trim() });
    if (!answer) return;
    const { words } = answer;
    const shown = words.map(({ word, label, share }) =>
      label === "O"
        ? make("span", {}, word)
        : make("mark", { class: "lv-name", title: percent(share) }, word, make("small", {}, label)),
    );
    const kind = (at) => words[at]?.label.slice(2);
    // an I- that goes on with no name of its kind begins one, as seqeval counts
    const n = words.filter(
      ({ label }, at) => label.startsWith("B-") || (label !== "O" && kind(at) !== kind(at - 1)),
    ).length;
    this.found.replaceChildren(
      make(
        "p",
        { class: "lv-about" },
        `${n || "No"} name${n === 1 ? "" : "s"} found. B- begins a name, I- goes on with it. ${UNCASED}`,
      ),
      make("p", { class: "lv-words" }, ...shown.flatMap((node) => [node, " "])),
    );
  }
}

export class Answers extends Adapted {
  constructor(host, options) {
    super(host, options, "Your question", "Answer");
  }

  // The text that is asked about stands above the question.
  fields(question) {
    this.context = this.bounded(
      make("textarea", { rows: 5, maxlength: 1500, dir: "auto", spellcheck: "false" }),
    );
    this.starts(this.context, () => this.ask(), true);
    return [field("A text, of about 130 words at the most", this.context), question];
  }

  name({ question }) {
    return question;
  }

  take({ text, question }) {
    this.context.value = text;
    super.take(question);
  }

  async ask() {
    const found = await this.asked("answer", {
      question: this.text.value.trim(),
      text: this.context.value.trim(),
    });
    if (!found) return;
    if (!found.read) {
      this.forget();
      this.say("In the text there is nothing that MiniLM reads.", true);
      return;
    }
    const { context: pieces, from, to, longQuestion } = found;
    if (longQuestion) this.say("The question is too long: its first 64 pieces were read.");
    const part = (...range) => joined(pieces.slice(...range)).replace(/^##/, "");
    // between two pieces, as `joined` has it
    const space = (at) =>
      at > 0 && pieces[at] && joined([pieces[at - 1], pieces[at]]).includes(" ") ? " " : "";
    this.found.replaceChildren(
      make("p", { class: "lv-answer" }, part(from, to + 1)),
      make("p", { class: "lv-head" }, UNCASED),
      make(
        "p",
        { class: "lv-words" },
        part(0, from) + space(from),
        make("mark", {}, part(from, to + 1)),
        space(to + 1) + part(to + 1),
      ),
    );
  }
}
