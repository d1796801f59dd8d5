// More and more of a sentence hidden (chapter 13c): at a rate of masking what the model reads, its first guess for each hole, and how many
// it tells. What is hidden at a rate stays hidden at every higher one. Draws are counted, and held-out sentences stand beside them.
import { holes } from "./dice.js";
import {
  Figure,
  columns,
  draw,
  make,
  megabytes,
  percent,
  plural,
  slider,
  whole,
} from "./figure.js";

const MOST = 300; // characters of a sentence
const WIDE = 640,
  HIGH = 270,
  LEFT = 80,
  RIGHT = 18,
  TOP = 14,
  BOTTOM = 42;
const MARKED = [0, 15, 40, 75, 100]; // rates below the curves: BERT's is 15
const PAUSE = 120; // milliseconds that a slider rests before the model is asked
const SPLITS = {
  always_mask: { masked: 1, random: 0 },
  "80_10_10": { masked: 0.8, random: 0.1 },
};

// Numbers from 0 to 1 that a whole number decides (mulberry32).
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

// The dice of draw number `seed` for n pieces, three for each: so a longer text begins with the same ones.
export function dice(seed, n, [first, behind]) {
  const chance = seeded(seed),
    thrown = { choice: [], fate: [], others: [] };
  for (let i = 0; i < n; i++) {
    thrown.choice.push(chance());
    thrown.fate.push(chance());
    thrown.others.push(first + Math.floor(chance() * (behind - first)));
  }
  return thrown;
}

export class Hiding extends Figure {
  constructor(host, options) {
    super(host, options);
    this.options = options;
    [this.machine] = this.machines;
    const sentence = this.asks("Your sentence", "Fill the holes", () => this.fill(), MOST);
    this.text.value = options.examples[0];
    const button = (text, press) => {
      const one = make("button", { type: "button" }, text);
      one.addEventListener("click", press);
      return one;
    };
    const [least, most] = [options.rates[0], options.rates.at(-1)];
    this.rate = slider(
      "Rate of masking",
      { min: least, max: most, step: least, value: options.first },
      (rate) => `${rate} %`,
    );
    this.rate.whole.classList.add("lv-rate");
    this.again = button("Other holes", () => this.other());
    this.film = button("All rates", () => (this.filming ? this.halt() : this.all()));
    this.split = make("input", { type: "checkbox", autocomplete: "off" });
    this.tokens = make("ol", {
      class: "lv-hidden",
      dir: "auto",
      "aria-label": "What the model reads, and its guesses",
    });
    this.about = make("p", { class: "lv-about", "aria-live": "polite" });
    this.found = make("div", { hidden: "" }, this.tokens, this.about);
    this.svg = draw("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, class: "lv-rates", role: "img" });
    this.told = make("table", { class: "lv-told" });
    this.show(
      sentence,
      make(
        "div",
        { class: "lv-examples" },
        ...this.offers(options.examples, (example) => {
          if (this.text.value !== example) {
            this.text.value = example;
            this.forget();
            this.empty();
          }
          this.fill();
        }),
      ),
      this.rate.whole,
      make("div", { class: "lv-row" }, this.go, this.again, this.film),
      make("label", { class: "lv-check" }, this.split, " 80/10/10 in place of always [MASK]"),
      this.status,
      this.found,
      make(
        "p",
        { class: "lv-head lv-side" },
        "Across: pieces chosen, of 100. Up: how many of the hidden ones are guessed right. Line and dots: your text. Dashes: held-out sentences; band: the middle half of these",
      ),
      this.svg,
      this.told,
    );
    this.rate.input.addEventListener("input", () => this.turned());
    this.split.addEventListener("input", () => this.turned());
    this.text.addEventListener("input", () => {
      this.forget();
      this.empty();
    });
    this.svg.addEventListener("pointerdown", (event) => {
      this.svg.setPointerCapture(event.pointerId);
      this.drag(event);
    });
    this.svg.addEventListener("pointermove", (event) => {
      if (this.svg.hasPointerCapture(event.pointerId)) this.drag(event);
    });
    this.empty();
    this.say(
      `${megabytes(this.machine.bytes)} are fetched when you first fill holes; what you type stays here.`,
    );
  }

  get shownFirst() {
    return `what it makes of the example. It is stored at ${this.options.stored.join(", ").replace(/, (?=\d+$)/, " and ")} %`;
  }

  // What is shown: a draw, a rate in per cent and a split, and the name under which its answer is kept.
  get now() {
    const rate = Number(this.rate.input.value),
      split = this.split.checked ? "80_10_10" : "always_mask";
    return { draw: this.draw, rate, split, key: `${this.draw} ${split} ${rate}` };
  }

  // Another text: what was tried and found was of the one before.
  empty() {
    this.halt();
    this.read = null;
    this.draw = 1;
    this.answered = new Map();
    this.tally = new Map();
    this.found.hidden = true;
    this.plot();
  }

  halt() {
    if (!this.filming) return;
    this.filmed(null);
    this.stop();
    this.say("");
  }

  // A film begins or ends. While it runs, a screen reader is told the status alone.
  filmed(film) {
    this.filming = film;
    this.film.textContent = film ? "Stop" : "All rates";
    this.about.setAttribute("aria-live", film ? "off" : "polite");
  }

  // The pieces of the text, and which of them can be hidden: those that the model has a name for.
  begin(text, { ids, tokens, left }) {
    if (this.read?.text === text) return;
    const { never, words } = this.options;
    const special = ids.map((id) => never.includes(id));
    this.empty();
    this.read = { text, ids, tokens, left, special, n: special.filter((one) => !one).length };
    this.dice = dice(this.draw, ids.length, words);
  }

  // What the model reads now: [{id, kind}].
  get holes() {
    const { rate, split } = this.now,
      { ids, special } = this.read;
    return holes(ids, special, this.dice, this.options.mask, {
      chosen: rate / 100,
      ...SPLITS[split],
    });
  }

  // The example at the rates that were asked while the page was built, BERT's last.
  async start() {
    for (const rate of [...this.options.stored].reverse()) {
      this.set(rate);
      await this.fill();
    }
  }

  set(rate) {
    this.rate.input.value = rate;
    this.rate.tell();
  }

  drag(event) {
    const box = this.svg.getBoundingClientRect(),
      at = ((event.clientX - box.left) / box.width) * WIDE;
    const rate = (100 * (at - LEFT)) / (WIDE - LEFT - RIGHT),
      before = this.now.rate;
    this.set(rate);
    if (this.now.rate !== before) this.turned();
  }

  // Another rate, or the other split: the holes at once, the guesses when the slider rests and the model is here.
  turned() {
    this.used();
    this.halt();
    clearTimeout(this.later);
    this.paint();
    if (this.read?.n && this.machine.loaded && !this.answered.has(this.now.key))
      this.later = setTimeout(() => this.fill(), PAUSE);
  }

  other() {
    this.halt();
    if (this.read) {
      this.draw += 1;
      this.dice = dice(this.draw, this.read.ids.length, this.options.words);
      this.paint();
    }
    return this.fill();
  }

  // The holes of this draw at all rates, from the lowest; then the dial stands where it stood.
  async all() {
    clearTimeout(this.later);
    const mine = {},
      before = this.now.rate;
    this.filmed(mine);
    for (const rate of this.options.rates) {
      this.set(rate);
      this.paint();
      if (this.machine.loaded) this.say(`Computing at ${rate} % …`);
      const filled = await this.fill(true);
      if (this.filming !== mine) return;
      if (!filled) break;
    }
    this.filmed(null);
    this.set(before);
    this.paint();
    if (/^Computing/.test(this.status.textContent)) this.say(this.leftOut);
  }

  get leftOut() {
    return this.read?.left
      ? `The text is long: its last ${plural(this.read.left, "piece")} were left out.`
      : "";
  }

  // Guesses for the holes of now; whether they are there.
  async fill(quiet = false) {
    clearTimeout(this.later);
    if (!quiet) this.halt();
    const text = this.text.value.trim();
    if (!text) {
      this.forget();
      this.empty();
      this.say("Type a sentence first.", true);
      return false;
    }
    if (this.read?.text !== text || (!this.machine.loaded && !this.answers)) {
      const cut = await this.run(this.machine, "cut", { text }, () => {}, quiet);
      if (!cut) return false;
      const filming = this.filming;
      this.filming = null; // the film is of this text
      this.begin(text, cut);
      this.filming = filming;
    }
    this.found.hidden = false;
    this.paint();
    if (!this.read.n) {
      this.say("There is no piece here that the model knows: nothing can be hidden.", true);
      return false;
    }
    const { key, rate, split } = this.now;
    if (!this.answered.has(key)) {
      const read = this.holes,
        at = [...read.keys()].filter((i) => read[i].kind);
      const request = { ids: read.map(({ id }) => id), at };
      const guesses = at.length
        ? await this.run(this.machine, "guess", request, () => {}, quiet)
        : [];
      if (!guesses) return false;
      this.answered.set(key, new Map(at.map((i, k) => [i, guesses[k]])));
      this.count(`${split} ${rate}`, read, this.answered.get(key));
    }
    this.paint();
    if (!quiet && !this.status.textContent) this.say(this.leftOut);
    return true;
  }

  // Only what is hidden counts: a piece that stands there can be read off.
  right(read, guesses) {
    const hidden = [...guesses.keys()].filter((i) => read[i].kind === "masked");
    const right = hidden.filter((i) => guesses.get(i).id === this.read.ids[i]);
    return { holes: hidden.length, right: right.length };
  }

  count(which, read, guesses) {
    const { holes, right } = this.right(read, guesses),
      before = this.tally.get(which) ?? { draws: 0, holes: 0, right: 0 };
    this.tally.set(which, {
      draws: before.draws + 1,
      holes: before.holes + holes,
      right: before.right + right,
    });
  }

  paint() {
    this.plot();
    if (!this.read) return;
    const read = this.holes,
      guesses = this.answered.get(this.now.key),
      { ids, tokens } = this.read;
    this.tokens.replaceChildren(
      ...tokens
        .map((was, i) => piece(was, ids[i], read[i].kind, guesses?.get(i), this.read.special[i]))
        .slice(1, -1),
    );
    this.about.textContent = this.sentence(read, guesses);
  }

  sentence(read, guesses) {
    const { n } = this.read,
      { rate } = this.now;
    if (!n) return ""; // the status says it
    const of = (kind) => read.filter((one) => one.kind === kind).length;
    const [masked, random, kept] = ["masked", "random", "kept"].map(of);
    const beside = [
      random ? `${random} exchanged (dotted)` : "",
      kept ? `${kept} left as ${kept === 1 ? "it was" : "they were"} (grey)` : "",
    ];
    const others = beside.filter(Boolean).join(" and ");
    const hidden = `At ${rate} %, ${masked} of ${plural(n, "piece")} ${masked === 1 ? "is" : "are"} hidden${others && `; ${others}`}.`;
    if (!masked) return `${hidden} A higher rate, or other holes?`;
    if (!guesses) return `${hidden} Press “Fill the holes” for the guesses.`;
    const { right } = this.right(read, guesses);
    return `${hidden} Guessed right: ${right} of ${masked}.`;
  }

  // The curves, and the numbers at this rate.
  plot() {
    const { rate, split } = this.now,
      { rates, others, sentences } = this.options,
      measured = others[split];
    const x = (at) => LEFT + (at / 100) * (WIDE - LEFT - RIGHT),
      y = (share) => TOP + (1 - share) * (HIGH - TOP - BOTTOM);
    const point = (at, share) => `${x(at).toFixed(1)},${y(share).toFixed(1)}`;
    const lines = [0, 0.25, 0.5, 0.75, 1].flatMap((share) => [
      draw("line", {
        x1: LEFT,
        x2: WIDE - RIGHT,
        y1: y(share),
        y2: y(share),
        class: share ? "lv-grid" : "lv-axis",
      }),
      draw(
        "text",
        { x: LEFT - 8, y: y(share) + 5, "text-anchor": "end" },
        `${Math.round(100 * share)} %`,
      ),
    ]);
    const below = MARKED.map((at) =>
      draw(
        "text",
        {
          x: x(at),
          y: HIGH - BOTTOM + 28,
          "text-anchor": at === 100 ? "end" : "middle",
        },
        String(at),
      ),
    );
    const band = [
      ...rates.map((at, i) => point(at, measured.lower[i])),
      ...[...rates.keys()].reverse().map((i) => point(rates[i], measured.upper[i])),
    ];
    const tried = rates
      .map((at) => [at, this.tally.get(`${split} ${at}`)])
      .filter(([, one]) => one?.holes);
    this.svg.replaceChildren(
      draw("polygon", { points: band.join(" "), class: "lv-half" }),
      ...lines,
      ...below,
      draw("line", { x1: x(rate), x2: x(rate), y1: TOP, y2: y(0), class: "lv-here" }),
      draw("polyline", {
        points: rates.map((at, i) => point(at, measured.right[i])).join(" "),
        class: "lv-others",
      }),
      draw("polyline", {
        points: tried.map(([at, one]) => point(at, one.right / one.holes)).join(" "),
        class: "lv-yours",
      }),
      ...tried.map(([at, one]) =>
        draw("circle", {
          cx: x(at),
          cy: y(one.right / one.holes),
          r: at === rate ? 8 : 5,
          class: "lv-yours",
        }),
      ),
    );
    const i = rates.indexOf(rate),
      yours = this.tally.get(`${split} ${rate}`),
      share = yours?.holes ? percent(yours.right / yours.holes) : "–";
    const hidden = rate * SPLITS[split].masked,
      wrong = rate * SPLITS[split].random;
    const round = (number) => String(Number(number.toFixed(1)));
    this.told.replaceChildren(
      make(
        "caption",
        {},
        `${rate} exercises in 100 pieces; ${round(100 - hidden)} are left to read${wrong ? `, ${round(wrong)} of them wrong` : ""}`,
      ),
      ...columns(
        [["holes"], ["guessed right"]],
        [
          [
            yours ? `your text, ${plural(yours.draws, "draw")}` : "your text",
            yours ? whole(yours.holes) : "–",
            share,
          ],
          [
            `${sentences} held-out sentences`,
            whole(measured.holes[i]),
            `${(100 * measured.right[i]).toFixed(1)} ± ${(200 * measured.error[i]).toFixed(1)} %`,
          ],
          [
            "the middle half of these",
            "",
            `${Math.round(100 * measured.lower[i])} to ${Math.round(100 * measured.upper[i])} %`,
          ],
        ],
      ),
    );
    const said = tried.map(([at, one]) => `${Math.round((100 * one.right) / one.holes)} at ${at}`);
    this.svg.setAttribute(
      "aria-label",
      `Hidden pieces that are guessed right, in per cent, over the rate. Held-out sentences: ${Math.round(100 * measured.right[0])} at ${rates[0]}, ${Math.round(100 * measured.right.at(-1))} at ${rates.at(-1)}. ${said.length ? `Your text: ${said.join(", ")}.` : "Your text: not tried yet."}`,
    );
  }
}

const NAMED = { masked: "hidden", random: "exchanged", kept: "left as it was" };

// A piece as the model reads it; of one that was chosen the guess, and what stood there if that is another.
function piece(was, id, kind, guess, special) {
  if (!kind) return make("li", { "data-kind": special ? "never" : "none" }, was);
  if (!guess)
    return make("li", { "data-kind": kind }, make("b", {}, kind === "masked" ? "[MASK]" : "…"));
  const right = guess.id === id,
    says = `${right ? "✓" : "✗"} ${percent(guess.share)}`;
  const reads = kind === "masked" ? [] : [make("span", {}, guess.reads)];
  return make(
    "li",
    {
      "data-kind": kind,
      "data-right": right,
      title: `${was}: ${NAMED[kind]}. The model says ${guess.token}, with ${percent(guess.share)}.`,
    },
    ...reads,
    make("b", {}, guess.token),
    make("small", {}, says),
    ...(right ? [] : [make("small", { class: "lv-was" }, `was: ${was}`)]),
  );
}
