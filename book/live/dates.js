// A date, letter by letter (chapter 6): in training the decoder reads the right answer, all of it at once, and the causal mask hides
// from each position what stands behind it; when it writes, it reads its own letters, one pass after the other.
import { largest } from "./choosing.js";
import { beyondDays, iso } from "./days.js";
import { beyondPlace, showBeyond } from "./beyond.js";
import { Figure, bar, choice, field, make, megabytes, percent } from "./figure.js";
import { seen, strange, unreadable } from "./letters.js";
import { Walk } from "./walk.js";

const LENGTH = 11; // letters of an answer, with its end token
const END = 2; // in the alphabet: behind padding and begin
const PAUSE = 800; // milliseconds a step
const OFFERED = 4; // letters in place of the one that was written
const SPOILERS = "0123456789-";
export const loss = (share) => -Math.log(share);
const shown = (number) => (Number.isFinite(number) ? number.toFixed(2) : "> 87"); // single precision has no smaller share
const listed = (letters) => [...letters].map(seen).join("");

// A row of the triangle: what is read, the letters that the model says, a bar and a number or two.
function row(side, n, { cells, said, share, before, numbers }) {
  const letters = cells.map(([letter, kind]) =>
    make(
      "i",
      { class: `lv-${kind}`, "data-letter": letter && seen(letter) },
      kind === "hidden" || !letter ? "" : seen(letter),
    ),
  );
  const track = make(
    "span",
    { class: "lv-track" },
    bar(share, "share"),
    ...(before === undefined
      ? []
      : [make("i", { class: "lv-before", style: `--share: ${before.toFixed(4)}` })]),
  );
  const shows = [
    make("span", { class: "lv-nth" }, side === "writing" ? String(n) : ""),
    make("span", { class: "lv-cells" }, ...letters),
    ...said.map(([letter, kind]) => make("b", { class: kind }, seen(letter))),
    track,
    ...numbers.map((number) => make("small", {}, number)),
  ];
  for (const part of shows) part.setAttribute("aria-hidden", "true"); // it is said in words
  return make(
    "li",
    {},
    make(
      "button",
      { type: "button", tabindex: "-1" },
      make("span", { class: "lv-aloud" }),
      ...shows,
    ),
  );
}

export class Dates extends Figure {
  constructor(host, options) {
    super(host, options);
    [this.alphabet, this.room, this.years] = [options.alphabet, options.room, options.years];
    const date = this.asks("Your date", "Let it read", () => this.read());
    this.text.rows = 1;
    this.answer = this.bounded(
      make("input", { type: "text", maxlength: LENGTH - 1, spellcheck: "false", dir: "auto" }),
    );
    this.trained = choice(
      "The model after",
      options.models.map(({ name }, i) => [i, name]),
    );
    this.walk = new Walk((step) => this.paint(step), PAUSE);
    this.source = make("p", { class: "lv-source", dir: "auto" });
    this.beyond = beyondPlace();
    this.sides = Object.fromEntries(["training", "writing"].map((name) => [name, this.side(name)]));
    const examples = make(
      "div",
      { class: "lv-examples" },
      ...this.offers(options.examples, (example) => {
        this.text.value = example;
        this.answer.value = iso(example);
        this.read();
      }),
    );
    this.show(
      make(
        "div",
        { class: "lv-asked" },
        date,
        field("The right answer", this.answer),
        this.trained.whole,
      ),
      examples,
      make("div", { class: "lv-start" }, this.go, this.status),
      this.source,
      this.beyond,
      this.walk.whole,
      make(
        "div",
        { class: "lv-both" },
        ...["rows", "foot"].flatMap((part) => Object.values(this.sides).map((side) => side[part])),
      ),
    );
    this.text.addEventListener("input", () => {
      this.answer.value = iso(this.asked);
      this.later();
    });
    this.answer.addEventListener("input", () => this.later());
    this.starts(this.answer, () => this.read());
    this.trained.select.addEventListener("change", () => this.read());
    for (const button of [this.walk.play, this.walk.next, this.walk.again])
      button.addEventListener("click", () => this.hush());
    this.text.value = options.run.text;
    this.answer.value = options.run.answer;
    this.take({ ...options.run, of: options.models[0].name, forced: "" }, options.first);
    this.say(
      `${megabytes(this.machines[0].bytes)} are fetched when you first let it read; what you type stays here.`,
    );
  }

  // One of the two: a head, a list of rows, and what is told of the chosen one.
  side(name) {
    const list = make("ol", {
      class: "lv-triangle",
      "aria-label": name === "training" ? "Training, all at once" : "Writing, one after the other",
    });
    const head = make(
      "p",
      { class: "lv-side" },
      make("b", {}, name === "training" ? "Training: all at once" : "Writing: one after the other"),
    );
    const pass = make("p", { class: "lv-pass" }),
      about = make("p", { class: "lv-about" }),
      choose = make("div", { class: "lv-choose" });
    const names =
      name === "training" ? ["says", "right", "share", "loss", ""] : ["writes", "share", "", ""];
    const columns = make(
      "p",
      { class: "lv-columns", "aria-hidden": "true" },
      make("span", {}),
      make("span", {}, "reads"),
      ...names.map((one) => make("span", {}, one)),
    );
    const all = make("span", { class: "lv-all", "aria-hidden": "true" }, "pass 1");
    list.addEventListener("click", ({ target }) => {
      const at = [...list.children].indexOf(target.closest("li"));
      if (at >= 0) this.choose(at + 1);
    });
    list.addEventListener("keydown", (event) => {
      const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!move) return;
      event.preventDefault();
      this.choose(Math.min(list.children.length, Math.max(1, this.walk.step + move)));
      list.querySelector('[tabindex="0"]')?.focus();
    });
    const rows = make(
      "div",
      { class: `lv-half lv-${name}` },
      head,
      pass,
      columns,
      make("div", { class: "lv-passes" }, ...(name === "training" ? [all] : []), list),
    );
    return {
      list,
      pass,
      about,
      choose,
      rows,
      foot: make("div", { class: `lv-foot lv-${name}` }, about, choose),
    };
  }

  get asked() {
    return this.text.value.trim().toLowerCase();
  }

  ids(text) {
    return Array.from(text, (letter) => this.alphabet.indexOf(letter));
  }

  letter(id) {
    return this.alphabet[id];
  }

  likeliest(shares) {
    return this.letter(largest(shares, 1)[0]);
  }

  choose(step) {
    this.walk.halt();
    this.hush();
    this.walk.go(step);
  }

  // While it plays, nothing is read aloud.
  hush() {
    if (this.answers) return; // the example is not read aloud
    this.sides.writing.pass.setAttribute("aria-live", this.walk.playing ? "off" : "polite");
  }

  // What the reader types is read at once, of a model that is there already.
  later() {
    clearTimeout(this.waiting);
    if (this.machines[this.trained.select.value].loaded)
      this.waiting = setTimeout(() => this.read(), 200);
  }

  // Why this cannot be read, in words.
  refuses(text, answer) {
    return unreadable(text, this) || strange(answer, this.alphabet, "The right answer: the");
  }

  // What stands in the fields, or another way through what is shown. `spoil`: [place, letter], what is given there in training in place
  // of the right one; `forced`: how the writing begins.
  async read({
    spoil,
    forced = "",
    text = this.asked,
    answer = this.answer.value.trim().toLowerCase(),
  } = {}) {
    if (!spoil && !forced) clearTimeout(this.waiting);
    const why = this.refuses(text, answer);
    if (why) {
      this.stop();
      this.say(why, true);
      return;
    }
    const step = this.walk.step || 1,
      target = answer && this.ids(`${answer}.`);
    const given = spoil && this.ids(Array.from(answer).with(...spoil));
    const {
      value,
      selectedOptions: [{ text: of }],
    } = this.trained.select;
    const found = await this.run(
      this.machines[value],
      "date",
      {
        source: this.ids(text),
        target: target || null,
        given,
        forced: this.ids(forced),
        most: LENGTH,
      },
      () => {},
    );
    if (!found) return;
    const written = found.written.map((id) => this.letter(id)).join("");
    this.take({ text, answer, of, ...found, written, spoil, forced }, step);
    if (!answer)
      this.say(
        "Of this text the page cannot tell what is right. For training, type the right answer.",
      );
  }

  // What is shown from now on.
  take(now, step) {
    this.now = now;
    const held = Object.values(this.sides).find(({ choose }) =>
      choose.contains(document.activeElement),
    );
    const { text, answer, of, taught, written } = this.now,
      whole = `${answer}.`;
    this.source.replaceChildren(
      `The encoder, trained for ${of}, has read `,
      make("code", {}, text),
    );
    showBeyond(this.beyond, beyondDays(text, this.years));
    this.sides.training.list.replaceChildren(
      ...(taught ? [...whole].map((_, i) => this.taughtRow(i, whole)) : []),
    );
    this.sides.writing.list.replaceChildren(...[...written].map((_, i) => this.writtenRow(i)));
    this.sides.training.rows.classList.toggle("lv-none", !taught);
    const last = Math.max(taught ? whole.length : 0, written.length);
    this.walk.begin(last, Math.min(step, last));
    this.hush();
    held?.choose.querySelector("[aria-pressed=true]")?.focus(); // the button that was pressed is gone
  }

  // The letters that training gives: the right ones, but for a spoilt one.
  get given() {
    const { answer, spoil } = this.now;
    return spoil
      ? Array.from(answer)
          .with(...spoil)
          .join("")
      : answer;
  }

  taughtRow(i, whole) {
    const { taught, spoilt, spoil } = this.now,
      shares = (spoilt ?? taught)[i],
      right = whole[i],
      says = this.likeliest(shares);
    const at = this.alphabet.indexOf(right),
      share = shares[at],
      before = taught[i][at];
    const cells = Array.from(`>${this.given}`, (letter, j) => [
      letter,
      j > i ? "hidden" : spoil && j === spoil[0] + 1 ? "spoilt" : "given",
    ]);
    const blind = spoil && i <= spoil[0],
      moved = loss(share) - loss(before);
    const sign = !spoil ? "" : blind ? "=" : Math.abs(moved) < 0.005 ? "≈" : moved > 0 ? "↑" : "↓";
    return row("training", i + 1, {
      cells,
      said: [
        [says, says === right ? "lv-says" : "lv-says lv-wrong"],
        [right, "lv-right"],
      ],
      share,
      before: spoil && before,
      numbers: [shown(loss(share)), sign],
    });
  }

  // What was written there: the model's own choice or the reader's, and as far as one knows, wrong.
  writtenRow(i) {
    const { written, rows, forced, answer } = this.now,
      letter = written[i];
    const chosen = (j) => j < forced.length && written[j] !== this.likeliest(rows[j]),
      wrong = (j) => answer && written[j] !== `${answer}.`[j];
    const kind = (j) => (chosen(j) ? "spoilt" : wrong(j) ? "slip" : "own");
    const cells = Array.from({ length: LENGTH }, (_, j) =>
      j > i ? ["", "none"] : j ? [written[j - 1], kind(j - 1)] : [">", "given"],
    );
    const says = ["lv-says", ...(chosen(i) ? ["lv-forced"] : wrong(i) ? ["lv-wrong"] : [])].join(
      " ",
    );
    return row("writing", i + 1, {
      cells,
      said: [[letter, says]],
      share: rows[i][this.alphabet.indexOf(letter)],
      numbers: [percent(rows[i][this.alphabet.indexOf(letter)]), ""],
    });
  }

  paint(step) {
    if (!this.now) return;
    this.hush();
    if (this.walk.playing) this.used();
    const { training, writing } = this.sides,
      { taught, written } = this.now;
    for (const [name, { list, pass }] of Object.entries(this.sides)) {
      const n = list.children.length,
        computed = name === "training" ? (step ? n : 0) : Math.min(step, n);
      pass.textContent =
        name === "training"
          ? taught
            ? `${step ? 1 : 0} of 1 pass${step ? `: ${n} letters, mean loss ${shown(this.meanLoss)}` : ""}`
            : "no right answer, no training"
          : `${computed} of ${n} passes${computed ? `: ${computed} letter${computed > 1 ? "s" : ""}` : ""}`;
      [...list.children].forEach(({ firstChild: button }, i) => {
        button.setAttribute("aria-pressed", i === step - 1);
        button.tabIndex = i === Math.max(0, Math.min(n, step) - 1) ? 0 : -1;
        button.parentElement.className =
          i >= computed
            ? "lv-then"
            : name === "training"
              ? step === 1
                ? "lv-new"
                : ""
              : i === step - 1
                ? "lv-new"
                : "";
        button.firstChild.textContent =
          i < computed ? this.told(name, i) : `Row ${i + 1}, not computed yet`;
      });
    }
    training.rows.classList.toggle("lv-passed", step > 0);
    this.tellTraining(step, training);
    this.tellWriting(step, writing, written);
  }

  get meanLoss() {
    const { taught, spoilt, answer } = this.now,
      whole = `${answer}.`;
    return (
      [...whole].reduce(
        (sum, letter, i) => sum + loss((spoilt ?? taught)[i][this.alphabet.indexOf(letter)]),
        0,
      ) / whole.length
    );
  }

  // A row in words.
  told(name, i) {
    const { taught, spoilt, answer, written, rows } = this.now,
      training = name === "training";
    const read = [...`>${training ? this.given : written}`.slice(0, i + 1)].map(seen).join(" "),
      letter = training ? `${answer}.`[i] : written[i];
    const share = (training ? (spoilt ?? taught) : rows)[i][this.alphabet.indexOf(letter)];
    return training
      ? `Row ${i + 1}: after ${read} right is ${seen(letter)}, share ${percent(share)}, loss ${shown(loss(share))}`
      : `Pass ${i + 1}: after ${read} it writes ${seen(letter)}, share ${percent(share)}`;
  }

  tellTraining(step, { about, choose }) {
    const { taught, answer, spoil, spoilt } = this.now,
      i = step - 1,
      n = answer.length + 1;
    choose.replaceChildren();
    if (!taught)
      about.textContent = "In training somebody has to say what is right. Type it above.";
    else if (!step)
      about.textContent =
        "The right answer is there from the first letter to the last, and is read in one pass.";
    else if (i >= n) about.textContent = "Here the answer has ended.";
    else {
      const { given } = this,
        hidden = given.slice(i),
        letter = `${answer}.`[i],
        share = (spoilt ?? taught)[i][this.alphabet.indexOf(letter)];
      about.replaceChildren(
        `Row ${step} reads `,
        make("code", {}, listed(`>${given.slice(0, i)}`)),
        ...(hidden
          ? ["; the mask hides ", make("code", {}, listed(hidden))]
          : ["; nothing is left to hide"]),
        `. Right is `,
        make("code", {}, seen(letter)),
        `, with ${percent(share)}: loss −ln ${share.toFixed(3)} = ${shown(loss(share))}. `,
        ...this.spoiltWords(spoil, n),
      );
      if (i > 0) this.offerSpoilers(choose, i - 1);
      else
        choose.append(
          make(
            "p",
            { class: "lv-head" },
            "Choose a lower row, and you can spoil the letter that it was given last.",
          ),
        );
    }
  }

  spoiltWords(spoil, n) {
    if (!spoil) return [];
    const { taught, spoilt, answer } = this.now,
      [at] = spoil,
      rows = (from, to) => (from === to ? `Row ${from} ` : `Rows ${from} to ${to} `);
    const same = taught
      .slice(0, at + 1)
      .every((shares, i) => shares.every((share, j) => share === spoilt[i][j]));
    const moved = Array.from({ length: n - at - 1 }, (_, i) => [
      `${answer}.`[at + 1 + i],
      at + 1 + i,
    ]).map(([letter, i]) =>
      [spoilt, taught].map((all) => loss(all[i][this.alphabet.indexOf(letter)])),
    );
    const [after, before] = [0, 1].map(
      (k) => moved.reduce((sum, pair) => sum + pair[k], 0) / moved.length,
    );
    return [
      make(
        "b",
        {},
        `${rows(1, at + 1)}cannot see what you spoilt: ${same ? "every number is the same as before" : "but their numbers moved"}. `,
      ),
      `${rows(at + 2, n)}can: the mean loss there went from ${shown(before)} to ${shown(after)} (the mark in a bar: the share before).`,
    ];
  }

  offerSpoilers(choose, at) {
    const { answer } = this.now,
      now = this.given[at],
      right = answer[at],
      letters = SPOILERS.includes(right) ? SPOILERS : right + SPOILERS;
    choose.append(
      make(
        "p",
        { class: "lv-head" },
        now === right
          ? `Spoil the letter that this row was given last, ${seen(right)}:`
          : `Right would be ${seen(right)}; given is:`,
      ),
      make(
        "div",
        { class: "lv-chips" },
        ...[...letters].map((letter) => {
          const button = make(
            "button",
            {
              type: "button",
              "aria-pressed": letter === now,
              class: letter === right ? "lv-good" : null,
              "aria-label": `give ${seen(letter)}${letter === right ? ", which is right" : ""}`,
            },
            seen(letter),
          );
          button.addEventListener("click", () =>
            this.read({ ...this.now, spoil: letter === right ? undefined : [at, letter] }),
          );
          return button;
        }),
      ),
    );
  }

  tellWriting(step, { about, choose }) {
    const { written, rows, answer, forced } = this.now,
      i = step - 1,
      n = written.length;
    choose.replaceChildren();
    if (!step) {
      about.textContent = "Nothing is written yet. The first pass will read the begin token alone.";
      return;
    }
    if (i >= n) {
      about.textContent = "Here it has ended.";
      return;
    }
    const ended = written.endsWith("."),
      result =
        step === n
          ? [
              " Written: ",
              make("b", {}, listed(written)),
              ...(answer
                ? [written === `${answer}.` ? ", which is right." : `; right is ${answer}.`]
                : ["."]),
              ...(ended ? [] : [` It was stopped after ${n} letters.`]),
            ]
          : [];
    about.replaceChildren(
      `Pass ${step} reads `,
      make("code", {}, listed(`>${written.slice(0, i)}`)),
      ", which is all there is. What it writes now, pass ",
      String(step + 1),
      " will read.",
      ...result,
    );
    if (step === n)
      about.replaceChildren(
        `Pass ${step} reads `,
        make("code", {}, listed(`>${written.slice(0, i)}`)),
        ".",
        ...result,
      );
    choose.append(
      make("p", { class: "lv-head" }, "Choose another letter, and it goes on from there:"),
      make(
        "ol",
        { class: "lv-candidates lv-letters" },
        ...largest(rows[i], OFFERED + 2)
          .filter((id) => id >= END)
          .slice(0, OFFERED)
          .map((id) => {
            const letter = this.letter(id),
              share = rows[i][id];
            const button = make(
              "button",
              { type: "button", "aria-pressed": letter === written[i] },
              make("span", {}, seen(letter)),
              bar(share, "plain"),
              make("small", {}, percent(share)),
            );
            button.addEventListener("click", () =>
              this.read({
                ...this.now,
                forced:
                  letter === this.likeliest(rows[i]) && i >= forced.length
                    ? forced
                    : written.slice(0, i) + letter,
              }),
            );
            return make("li", {}, button);
          }),
      ),
    );
  }
}
