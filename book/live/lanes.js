// A model at work, drawn: a lane for each token, the vectors of one below the other as they climb, and between them attention's
// lines, as thick as its weights. The drawing has moments; what a moment brings appears with it and stays, paler.
import { draw } from "./figure.js";

const LANE = 17.6,
  GAP = 34,
  EDGE = 8,
  LEAN = 10; // the narrowest lane, between the stacks, at both ends; more where words lean out
const STEP = 64,
  STRIP = 24; // from one level to the next, a vector's height
const RAILS = 28; // where the lines from the encoder lie side by side
const LETTER = 6.9,
  UPRIGHT = 26, // the width of a letter, the height of words that fit
  SLANT = 58; // degrees, of those that do not
const LEAST = 0.02,
  LEAST_OF_MANY = 0.06,
  MANY = 30; // a smaller weight is not drawn
const MOST = 11; // letters of a word that are shown
const TOLD = 0.1; // a smaller one is not written

const mean = (tables) =>
  tables[0].map((row, i) =>
    row.map((_, j) => tables.reduce((sum, table) => sum + table[i][j], 0) / tables.length),
  );

export class Lanes {
  // `head`: a number, or null for the mean of all; `pressed` is told a vector that was pressed: {stack, level, at}.
  constructor(run, head, room, pressed) {
    Object.assign(this, { run, head, pressed });
    const { source, read, written } = run,
      n = source.length + read.length;
    const lane = (edges) => Math.max(LANE, Math.min(64, (room - GAP - edges) / n));
    this.lane = lane(2 * EDGE);
    this.slanted = [source, read, written].some((words) =>
      words.some(
        (word, i) =>
          (LETTER * ([...word].length + [...(words[i + 1] ?? word)].length)) / 2 + 5 > this.lane,
      ),
    );
    this.left = EDGE + (this.slanted ? LEAN : 0);
    this.lane = lane(this.left + EDGE);
    this.words = this.high([...source, ...read]);
    this.least = n > MANY ? LEAST_OF_MANY : LEAST;
    this.top = Math.max(this.high(written) + 12, RAILS) + 18;
    this.bottom = this.top + run.layers * STEP + STRIP;
    this.width = Math.round(this.left + EDGE + GAP + n * this.lane);
    this.height = this.bottom + this.words + 32;
    this.moments = [
      ...Array.from({ length: run.layers + 1 }, (_, level) => ({ stack: "encoder", level })),
      ...read.flatMap((_, at) => [
        ...Array.from({ length: run.layers + 1 }, (_, level) => ({ stack: "decoder", level, at })),
        { stack: "output", level: run.layers, at },
      ]),
    ];
    this.tables = new Map();
    this.svg = draw("svg", {
      class: "lv-lanes",
      width: this.width,
      height: this.height,
      viewBox: `0 0 ${this.width} ${this.height}`,
      role: "group",
      "aria-label":
        "The model at work, read from below; each vector can be pressed, the arrow keys lead from one to the next",
    });
    this.asked = draw("g", { class: "lv-asked" });
    this.groups = this.moments.map((moment) => this.group(moment));
    this.begins = this.moments.findIndex(({ stack }) => stack === "output");
    this.hint = draw(
      "text",
      { class: "lv-hint", x: this.x("decoder", 0) - this.lane / 2, y: (this.top - 12) / 2 + 5 },
      "it writes here",
    );
    this.svg.append(...this.ground(), this.hint, ...this.groups, this.asked);
    this.svg.addEventListener("keydown", (event) => this.steer(event));
  }

  // The room that words take above or below the lanes.
  high(words) {
    if (!this.slanted) return UPRIGHT;
    const longest = Math.max(...words.map((word) => Math.min([...word].length, MOST)));
    return Math.round(8 + LETTER * longest * Math.sin((SLANT / 180) * Math.PI));
  }

  x(stack, at) {
    return (
      this.left +
      (at + 0.5) * this.lane +
      (stack === "encoder" ? 0 : GAP + this.run.source.length * this.lane)
    );
  }

  y(level) {
    return this.bottom - STRIP / 2 - level * STEP;
  }

  // The drawing of a vector.
  node({ stack, level, at }) {
    return this.svg.querySelector(`[data-at="${stack}-${level}-${at}"]`);
  }

  // Where something as wide as `wide` can stand above it.
  above({ stack, level, at }, wide = 110) {
    return {
      x: Math.max(wide / 2, Math.min(this.width - wide / 2, this.x(stack, at))),
      y: this.y(level) - STRIP / 2 - 5,
    };
  }

  // The weights of a block: a row for each query.
  table(stack, block, attention) {
    const name = `${stack} ${block} ${attention}`;
    if (!this.tables.has(name)) {
      const of = (head) => this.run.weights(stack, block, attention, head);
      this.tables.set(
        name,
        this.head === null
          ? mean(Array.from({ length: this.run.heads }, (_, head) => of(head)))
          : of(this.head),
      );
    }
    return this.tables.get(name);
  }

  // What stands there from the start: both stacks.
  ground() {
    const { top, bottom, run } = this;
    return ["encoder", "decoder"].flatMap((stack) => {
      const tokens = run.tokens(stack),
        left = this.x(stack, 0) - this.lane / 2,
        wide = tokens.length * this.lane;
      return [
        draw("rect", {
          class: `lv-frame lv-${stack}`,
          x: left - 3,
          y: top - 12,
          width: wide + 6,
          height: bottom - top + 24,
          rx: 9,
        }),
        draw(
          "text",
          { class: `lv-stack lv-${stack}`, x: left, y: this.height - 6, "text-anchor": "start" },
          `${stack} (${stack === "encoder" ? "reads" : "writes"})`,
        ),
      ];
    });
  }

  group({ stack, level, at }) {
    if (stack === "output") {
      const x = this.x("decoder", at);
      return draw(
        "g",
        { class: "lv-then lv-output" },
        draw("path", { class: "lv-out", d: `M${x} ${this.top - 2}v-16`, pathLength: 1 }),
        this.word(this.run.written[at], x, this.top - 24, true),
      );
    }
    const all = stack === "encoder" ? this.run.source.map((_, i) => i) : [at];
    const carried = level
      ? all.map((i) =>
          draw("path", {
            class: "lv-lane",
            d: `M${this.x(stack, i)} ${this.y(level - 1) - STRIP / 2}V${this.y(level) + STRIP / 2}`,
          }),
        )
      : [];
    return draw(
      "g",
      { class: "lv-then" },
      ...carried,
      draw(
        "g",
        { class: "lv-lines" },
        ...(level ? all.flatMap((i) => this.lines({ stack, level, at: i })) : []),
      ),
      ...(level
        ? []
        : all.map((i) =>
            this.word(this.run.tokens(stack)[i], this.x(stack, i), this.bottom + 26, false),
          )),
      ...all.map((i) => this.vector({ stack, level, at: i })),
    );
  }

  word(word, x, y, above) {
    const short = [...word].length > MOST ? `${[...word].slice(0, MOST - 1).join("")}…` : word;
    if (!this.slanted)
      return draw("text", { class: "lv-word", x, y, "text-anchor": "middle" }, short);
    return draw(
      "text",
      {
        class: "lv-word",
        x: above ? x + 3 : x + 5,
        y: above ? y : y - 3,
        "text-anchor": above ? "start" : "end",
        transform: `rotate(${-SLANT} ${x} ${y})`,
      },
      short,
    );
  }

  // A vector's first numbers as bars, on the scale of its level; what is far above the others is cut.
  vector({ stack, level, at }) {
    const wide = Math.min(this.lane - 5, 40),
      x = this.x(stack, at) - wide / 2,
      y = this.y(level),
      rows = this.run.vectors(stack, level);
    const most = STRIP / 2 - 1,
      size = Math.sqrt(
        rows.flat().reduce((sum, value) => sum + value * value, 0) / rows.flat().length,
      ),
      step = (wide - 2) / rows[at].length;
    const high = (value) => Math.max(-most, Math.min(most, (value / (2 * size)) * most));
    const bars = rows[at]
      .map(
        (value, i) => `M${(x + 1 + (i + 0.5) * step).toFixed(1)} ${y}v${(-high(value)).toFixed(1)}`,
      )
      .join("");
    const node = draw(
      "g",
      {
        class: `lv-vector lv-${stack}`,
        role: "button",
        tabindex: stack === "encoder" && level === 0 && at === 0 ? 0 : -1,
        "data-at": [stack, level, at].join("-"),
        "aria-label": `${this.run.tokens(stack)[at]}, ${level ? `behind ${stack} block ${level - 1}` : `before the ${stack}`}`,
      },
      draw("rect", { x, y: y - STRIP / 2, width: wide, height: STRIP, rx: 4 }),
      draw("path", { d: bars, "stroke-width": Math.max(1, step - 0.8) }),
    );
    node.addEventListener("click", () => this.pressed({ stack, level, at }));
    return node;
  }

  // From where a vector took, in the block below it.
  lines({ stack, level, at }) {
    const to = this.x(stack, at),
      down = this.y(level - 1) - STRIP / 2,
      up = this.y(level) + STRIP / 2;
    const line = (share, kind, d) =>
      share < this.least
        ? []
        : [
            draw("path", {
              class: `lv-line lv-${kind}`,
              d,
              pathLength: 1,
              style: `--share: ${share.toFixed(3)}`,
            }),
          ];
    const named = stack === "encoder" ? this.strongest(level - 1) : {};
    const self = this.table(stack, level - 1, "self_attention")[at].flatMap((share, j) => {
      const from = this.x(stack, j),
        bend = (down - up) * 0.55;
      return line(
        share,
        named.query === at && named.key === j ? `${stack} lv-named` : stack,
        `M${from} ${down}C${from} ${down - bend} ${to} ${up + bend} ${to} ${up}`,
      );
    });
    if (stack === "encoder") return self;
    return [
      ...self,
      ...this.table(stack, level - 1, "cross_attention")[at].flatMap((share, j) =>
        line(share, "memory", this.rail(j, to, up)),
      ),
    ];
  }

  // The way from the top of the encoder to a decoder's vector: over the encoder, down between the stacks, and to the right; the
  // source's tokens have rails side by side, and no two of them cross.
  rail(j, to, up) {
    const n = this.run.source.length,
      apart = RAILS / Math.max(n, 7),
      r = 7,
      from = this.x("encoder", j),
      memory = this.y(this.run.layers) - STRIP / 2;
    const high = memory - 14 - RAILS + apart * j,
      down = this.x("decoder", 0) - this.lane / 2 - 7 - apart * j,
      along = up + 5 + apart * j * 0.6;
    return `M${from} ${memory}V${high + r}Q${from} ${high} ${from + r} ${high}H${down - r}Q${down} ${high} ${down} ${high + r}V${along - r}Q${down} ${along} ${down + r} ${along}H${to - 4}Q${to} ${along} ${to} ${along - 4}V${up}`;
  }

  // Between which x a moment happens.
  where({ stack, at }) {
    return stack === "encoder"
      ? [0, Math.min(this.width, this.x("encoder", this.run.source.length - 1))]
      : [this.x("decoder", at) - this.lane, this.x("decoder", at) + this.lane];
  }

  // A word that was written goes down to where it is read.
  falls({ stack, level, at }, group) {
    if (
      stack !== "decoder" ||
      level ||
      !at ||
      this.slanted ||
      matchMedia("(prefers-reduced-motion: reduce)").matches
    )
      return;
    const from = `translate(${this.x(stack, at - 1) - this.x(stack, at)}px, ${this.top - 24 - this.bottom - 26}px)`;
    group.querySelector(".lv-word").animate([{ transform: from }, { transform: "none" }], {
      duration: 450,
      easing: "ease-in-out",
    });
  }

  paint(step) {
    this.falls(this.moments[step], this.groups[step]);
    this.svg.classList.remove("lv-asks");
    this.hint.classList.toggle("lv-then", step >= this.begins);
    this.asked.replaceChildren();
    this.groups.forEach((group, i) => {
      group.classList.toggle("lv-then", i > step);
      group.classList.toggle("lv-now", i === step);
    });
    for (const node of this.svg.querySelectorAll("[aria-pressed]"))
      node.removeAttribute("aria-pressed");
    this.svg.classList.toggle("lv-ends", step === this.moments.length - 1);
    if (step === this.moments.length - 1) this.asked.replaceChildren(...this.alignment());
  }

  // At the end: from where each written word took most, in the last block.
  alignment() {
    const { layers, read } = this.run,
      table = this.table("decoder", layers - 1, "cross_attention"),
      up = this.y(layers) + STRIP / 2;
    return read.map((_, at) => {
      const row = [...table[at]],
        share = Math.max(...row),
        j = row.indexOf(share);
      return draw("path", {
        class: "lv-line lv-memory",
        d: this.rail(j, this.x("decoder", at), up),
        pathLength: 1,
        style: `--share: ${share.toFixed(3)}`,
      });
    });
  }

  // Show one vector's lines alone; asked again, all as before (then nothing is given back).
  ask(asked) {
    const node = this.node(asked),
      again = node.getAttribute("aria-pressed");
    for (const other of this.svg.querySelectorAll("[aria-pressed]"))
      other.removeAttribute("aria-pressed");
    this.asked.replaceChildren();
    if (again) return null;
    node.setAttribute("aria-pressed", "true");
    this.svg.classList.add("lv-asks");
    if (asked.level) this.asked.append(...this.lines(asked), ...this.shares(asked));
    return asked;
  }

  // The larger weights of a vector that is asked, written where it took from.
  shares({ stack, level, at }) {
    const written = (attention, from, below) =>
      [...this.table(stack, level - 1, attention)[at]].flatMap((share, j) =>
        share < TOLD
          ? []
          : [
              draw(
                "text",
                {
                  class: "lv-number",
                  x: this.x(from, j),
                  y: this.y(below) + 5,
                  "text-anchor": "middle",
                },
                share.toFixed(2).replace(/^0/, ""),
              ),
            ],
      );
    return [
      ...written("self_attention", stack, level - 1),
      ...(stack === "decoder" ? written("cross_attention", "encoder", this.run.layers) : []),
    ];
  }

  // In words: from where a vector took most.
  told({ stack, level, at }) {
    const { run } = this,
      word = `“${run.tokens(stack)[at]}”`,
      best = (attention, words) => {
        const row = [...this.table(stack, level - 1, attention)[at]],
          j = row.indexOf(Math.max(...row));
        return `from “${words[j]}” (${row[j].toFixed(2)})`;
      };
    return stack === "encoder"
      ? `${word} takes most ${best("self_attention", run.source)}`
      : `after ${word}, on the way to the next word, it takes most ${best("self_attention", run.read)} among the words read so far, and ${best("cross_attention", run.source)} in the source`;
  }

  // The largest weight that a token of the source gives another one.
  strongest(block) {
    const found = this.table("encoder", block, "self_attention")
      .flatMap((row, query) => [...row].map((share, key) => ({ query, key, share })))
      .filter(({ query, key }) => query !== key);
    return found.reduce((most, one) => (one.share > most.share ? one : most), {
      query: 0,
      key: 0,
      share: 0,
    });
  }

  // The arrow keys lead from vector to vector, Enter and the space bar press.
  steer(event) {
    const node = event.target.closest("[data-at]");
    if (!node) return;
    const [stack, level, at] = node.dataset.at.split("-"),
      { run } = this;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.pressed({ stack, level: Number(level), at: Number(at) });
      return;
    }
    const [across, up] = {
      ArrowLeft: [-1, 0],
      ArrowRight: [1, 0],
      ArrowUp: [0, 1],
      ArrowDown: [0, -1],
    }[event.key] ?? [0, 0];
    if (!across && !up) return;
    event.preventDefault();
    const n = run.source.length,
      column = Math.min(
        n + run.read.length - 1,
        Math.max(0, Number(at) + (stack === "decoder" ? n : 0) + across),
      );
    const next = [
      column < n ? "encoder" : "decoder",
      Math.min(run.layers, Math.max(0, Number(level) + up)),
      column < n ? column : column - n,
    ];
    this.hold(this.svg.querySelector(`[data-at="${next.join("-")}"]`));
  }

  // The focus goes to a vector, and comes back to it.
  hold(node) {
    this.svg.querySelector('[tabindex="0"]').setAttribute("tabindex", "-1");
    node.setAttribute("tabindex", "0");
    node.focus();
  }
}
