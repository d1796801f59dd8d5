// Mix the layers yourself (chapter 15b): MiniLM's seven states with weights of the reader's, and whether the mixed vectors of ambiguous
// words find their meaning. A cosine of two mixes needs only the inner products of the states' vectors, which are fetched once.
import { Figure, choice, columns, draw, make, megabytes, slider, whole } from "./figure.js";
import { bytesOf } from "./machine.js";

const EVEN = 1e-6; // cosines that differ by less are equal, as in the library
const ROW = 32, // pixels, of an occurrence
  BETWEEN = 90; // of the drawing between the two meanings

// The tables of inner products (mixing.py: `products`): for each word all pairs of a state and an occurrence, as a full square.
export function readTables(buffer, words, size) {
  const numbers = new DataView(buffer),
    tables = [];
  let at = 0;
  for (let word = 0; word < words; word++) {
    const table = new Float64Array(size * size);
    for (let a = 0; a < size; a++)
      for (let b = 0; b <= a; b++, at += 4)
        table[a * size + b] = table[b * size + a] = numbers.getFloat32(at, true);
    tables.push(table);
  }
  return tables;
}

// The cosine of every two of n mixed vectors: Σ w_k w_l (x_ki · x_lj), divided by both lengths. `unit`: each x first gets length 1.
export function mixedCosines(table, n, weights, unit = false) {
  const size = n * weights.length,
    times = Float64Array.from({ length: size }, (_, a) => {
      const weight = weights[Math.floor(a / n)];
      return unit ? weight / Math.sqrt(table[a * size + a]) : weight;
    });
  const used = [...weights.keys()].filter((k) => weights[k]);
  const product = (i, j) => {
    let sum = 0;
    for (const k of used)
      for (const l of used) {
        const [a, b] = [k * n + i, l * n + j];
        sum += times[a] * times[b] * table[a * size + b];
      }
    return sum;
  };
  const lengths = Array.from({ length: n }, (_, i) => Math.sqrt(product(i, i)));
  return lengths.map((long, i) => lengths.map((other, j) => product(i, j) / (long * other)));
}

// Of each occurrence: the nearest others, several where they are equally near, and its largest cosine with its own meaning and with the
// other one. One at the same place of its sentence is no neighbour (chapter 15).
export function neighbours(cosines, found) {
  return cosines.map((row, i) => {
    const may = [...row.keys()].filter((j) => found[j].place !== found[i].place),
      most = (some) => Math.max(-2, ...some.map((j) => row[j]));
    const largest = most(may);
    return {
      near: may.filter((j) => row[j] >= largest - EVEN),
      own: most(may.filter((j) => found[j].sense === found[i].sense)),
      other: most(may.filter((j) => found[j].sense !== found[i].sense)),
    };
  });
}

// How much of an occurrence's neighbours has its meaning: 1 or 0, or a share of those that are equally near.
export const rightShare = (found, i, { near }) =>
  near.filter((j) => found[j].sense === found[i].sense).length / near.length;
export const rightOf = (found, all) =>
  all.reduce((sum, one, i) => sum + rightShare(found, i, one), 0);

const count = (x) => (Math.abs(x - Math.round(x)) < 1e-6 ? String(Math.round(x)) : x.toFixed(1));
const two = (x) => x.toFixed(2).replace("-", "−");

// The shares of a mix, in words.
function named(weights) {
  const sum = weights.reduce((all, weight) => all + weight, 0),
    inside = [...weights.keys()].filter((k) => weights[k]);
  return inside.length === 1
    ? `state ${inside[0]} alone`
    : inside.map((k) => `${two(weights[k] / sum)} of state ${k}`).join(", ");
}

const same = (some, others) => some.every((weight, k) => weight === others[k]);

export class Mixing extends Figure {
  constructor(host, options) {
    super(host, { ...options, models: [] });
    this.options = options;
    [this.model] = options.models;
    const names = Object.keys(options.presets),
      n = options.presets[names[0]].length;
    this.states = Array.from({ length: n }, (_, k) => {
      const name = k === 0 ? "State 0, input" : k === n - 1 ? `State ${k}, last` : `State ${k}`;
      return slider(
        name,
        { min: 0, max: options.full, step: 1, value: options.presets[names[0]][k] },
        () => "",
      );
    });
    const alone = (k) => this.states.map((_, l) => (k === l ? options.full : 0));
    this.presets = [
      ...names.map((name) => [name, options.presets[name]]),
      ...this.states.map((_, k) => [`Only ${k}`, alone(k)]),
    ].map(([name, weights]) => {
      const button = make("button", { type: "button" }, name);
      button.addEventListener("click", () => this.take(weights));
      return { button, weights };
    });
    const row = (some) =>
      make("div", { class: "lv-examples" }, ...some.map(({ button }) => button));
    this.unit = make("input", { type: "checkbox", autocomplete: "off" });
    this.told = make("table", { class: "lv-counts lv-rights" });
    this.tried = make("p", { class: "lv-head" });
    this.which = choice(
      "Word",
      options.words.map(({ word }, i) => [i, word]),
    );
    this.which.select.value = options.words.findIndex(({ word }) => word === options.word);
    this.occurrences = make("div", { class: "lv-occurrences" });
    this.about = make("p", { class: "lv-about" });
    this.found = make(
      "div",
      {},
      this.told,
      this.tried,
      make("div", { class: "lv-row" }, this.which.whole),
      make(
        "p",
        { class: "lv-head" },
        "A line leads from each occurrence to its nearest neighbour. One that crosses over has found the wrong meaning. Press one to read it",
      ),
      this.occurrences,
      this.about,
    );
    this.show(
      row(this.presets.slice(names.length)),
      row(this.presets.slice(0, names.length)),
      make(
        "div",
        { class: "lv-board" },
        make("p", { class: "lv-head" }, "The weight of each state; at the right its share"),
        ...this.states.map(({ whole }) => whole),
      ),
      make(
        "label",
        { class: "lv-check" },
        this.unit,
        "bring each vector to length 1 before the mix",
      ),
      this.status,
      this.found,
    );
    for (const { input } of this.states) input.addEventListener("input", () => this.mix());
    this.unit.addEventListener("change", () => this.mix());
    this.which.select.addEventListener("change", () => {
      this.used();
      this.at = 0;
      this.paint();
    });
    this.at = 0;
    this.mixes = new Map();
    this.said = `To mix, the page fetches a table of inner products once, ${megabytes(this.model.bytes)}.`;
    this.result(options.first);
    this.say(`Shown: all states alike. ${this.said}`);
  }

  get weights() {
    return this.states.map(({ input }) => Number(input.value));
  }

  get sum() {
    return this.weights.reduce((sum, weight) => sum + weight, 0);
  }

  take(weights) {
    this.states.forEach(({ input }, k) => {
      input.value = weights[k];
    });
    return this.mix();
  }

  // The tables, fetched once; after a failure the next mix tries again.
  tables() {
    const { words, presets } = this.options,
      size = words[0].found.length * Object.values(presets)[0].length;
    this.loading ??= bytesOf(this.model.weights).then(
      (buffer) => (this.ready = readTables(buffer, words.length, size)),
      (error) => {
        this.loading = undefined;
        throw error;
      },
    );
    return this.loading;
  }

  async mix() {
    this.used();
    this.shares();
    if (!this.sum) {
      this.found.hidden = true;
      this.say("All weights are 0: there is nothing to mix. Give one state a weight.", true);
      return;
    }
    if (!this.ready) {
      this.say("Fetching the table of inner products …");
      try {
        await this.tables();
      } catch (error) {
        this.found.hidden = true; // it was about another mix
        this.say(`That did not work: ${error.message}`, true);
        return;
      }
      if (!this.sum) return; // moved meanwhile
    }
    const { words } = this.options;
    this.result(
      words.map(({ found }, w) =>
        neighbours(
          mixedCosines(this.ready[w], found.length, this.weights, this.unit.checked),
          found,
        ),
      ),
    );
  }

  // Neighbours of the occurrences of all words.
  result(all) {
    const { words } = this.options,
      rights = words.map(({ found }, w) => rightOf(found, all[w]));
    const right = rights.reduce((sum, x) => sum + x, 0),
      mix = [this.weights, this.unit.checked];
    this.all = all;
    this.now = { name: this.named(...mix), rights: [...rights, right] };
    this.mixes.set(String(mix), this.now);
    this.found.hidden = false;
    const asked = words.reduce((sum, { found }) => sum + found.length, 0);
    this.say(`${count(right)} of ${asked} nearest neighbours have the right meaning.`);
    this.shares();
    this.count();
    this.paint();
  }

  shares() {
    const { weights, sum } = this;
    this.states.forEach(({ input, whole: line }, k) => {
      const share = two(sum ? weights[k] / sum : 0);
      line.querySelector(".lv-value").textContent = share;
      input.setAttribute("aria-valuetext", `weight ${weights[k]}, share ${share}`);
    });
    for (const { button, weights: own } of this.presets)
      button.setAttribute("aria-pressed", same(own, weights));
  }

  named(weights, unit) {
    const [preset] = Object.keys(this.options.presets).filter((name) =>
      same(weights, this.options.presets[name]),
    );
    const name = preset?.toLowerCase() ?? named(weights);
    return unit ? `${name}; each vector of length 1` : name;
  }

  count() {
    const { words } = this.options,
      mixes = [...this.mixes.values()],
      total = ({ rights }) => rights.at(-1);
    const best = mixes.reduce((first, next) => (total(next) > total(first) + EVEN ? next : first));
    const by_chance = words.map(({ found }) => found.length / 2);
    this.told.replaceChildren(
      make("caption", {}, `Right neighbours, of ${words[0].found.length} for each word`),
      ...columns(
        [...words.map(({ word }) => [word]), ["all"]],
        [
          ["this mix", ...this.now.rights.map(count)],
          ["your best", ...best.rights.map(count)],
          ["a coin", ...[...by_chance, by_chance.reduce((sum, x) => sum + x, 0)].map(count)],
        ],
      ),
    );
    this.tried.textContent =
      mixes.length === 1
        ? "Your best will stand here too, when you have tried more than one mix."
        : `Your best of ${whole(mixes.length)} mixes: ${best.name}.`;
  }

  paint() {
    const w = Number(this.which.select.value),
      { word, senses, found } = this.options.words[w],
      all = this.all[w];
    const held = this.occurrences.contains(document.activeElement);
    const sides = senses.map((_, side) => [...found.keys()].filter((i) => found[i].sense === side));
    const high = ROW * Math.max(...sides.map((side) => side.length));
    const at = (i) => ROW * (sides[found[i].sense].indexOf(i) + 0.5);
    const chosen = all[this.at];
    const button = (i) => {
      const share = rightShare(found, i, all[i]),
        kind = share === 1 ? "right" : share ? "even" : "wrong";
      const one = make(
        "button",
        {
          type: "button",
          "data-at": i,
          "data-kind": kind,
          "aria-pressed": i === this.at,
          class: chosen.near.includes(i) ? "lv-near" : null,
          "aria-label": `${found[i].text} ${KINDS[kind]}`,
        },
        ...around(found[i], word),
      );
      one.addEventListener("click", () => {
        this.used();
        this.at = i;
        this.paint();
      });
      return make("li", {}, one);
    };
    const line = (i) =>
      all[i].near.map((j) => {
        const [from, to] = [found[i].sense, found[j].sense].map((side) => side * BETWEEN),
          bend = from === to ? Math.abs(from - 0.42 * BETWEEN) : BETWEEN / 2;
        return draw("path", {
          d: `M${from} ${at(i)}C${bend} ${at(i)} ${bend} ${at(j)} ${to} ${at(j)}`,
          class: [from === to ? "lv-home" : "lv-over", i === this.at ? "lv-chosen" : ""].join(" "),
        });
      });
    const order = [...found.keys()].sort((i, j) => (i === this.at) - (j === this.at)); // the chosen one on top
    const list = (side) =>
      make(
        "div",
        {},
        make("p", { class: "lv-head" }, senses[side]),
        make("ol", { "aria-label": `${word}: ${senses[side]}` }, ...sides[side].map(button)),
      );
    this.occurrences.replaceChildren(
      list(0),
      draw(
        "svg",
        {
          viewBox: `0 0 ${BETWEEN} ${high}`,
          height: high,
          preserveAspectRatio: "none",
          "aria-hidden": "true",
        },
        ...order.flatMap(line),
      ),
      list(1),
    );
    if (held) this.occurrences.querySelector(`[data-at="${this.at}"]`).focus(); // the button that was pressed is gone
    this.tell(this.options.words[w], chosen);
  }

  tell({ senses, found }, { near, own, other }) {
    const here = found[this.at],
      share = rightShare(found, this.at, { near });
    const meaning = ({ sense }) => senses[sense];
    const parts = [
      make("q", {}, here.text),
      ` (${meaning(here)}). `,
      near.length > 1 ? `Equally near are ${near.length}, the first of them ` : "Nearest: ",
      make("q", {}, found[near[0]].text),
      ` (${meaning(found[near[0]])}), cosine ${Math.max(own, other).toFixed(3)}. `,
    ];
    if (near.length > 1)
      parts.push(`Of the ${near.length}, ${count(share * near.length)} have its meaning.`);
    else
      parts.push(
        share
          ? `The nearest with the other meaning: ${other.toFixed(3)}.`
          : `The nearest with its own meaning: ${own.toFixed(3)}.`,
      );
    this.about.replaceChildren(...parts);
  }
}

const KINDS = {
  right: "– finds its meaning",
  wrong: "– finds the other meaning",
  even: "– several are equally near, not all with its meaning",
};

// The word with what stands beside it.
function around({ text, index }, word) {
  const before = text.slice(0, index).split(" ").slice(-3).join(" "),
    after = text.slice(index + word.length);
  return [make("span", {}, before), make("b", {}, word), make("span", {}, after)];
}
