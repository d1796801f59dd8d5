// A map of sentences (chapter 17): MiniLM's vectors along their first two principal components, the reader's own sentences among
// them, and of each the nearest one in all dimensions, which is often another than the nearest on the map.
import { Figure, draw, make, megabytes, percent, plural } from "./figure.js";
import { cut } from "./nearness.js";
import { signed as shown } from "./walk.js";
import { dot } from "./trace.js";

const OWN = 8; // sentences of the reader's
const SIZE = 5.5,
  MARGIN = 22,
  LETTER = 7.2,
  LINE = 15; // pixels: half a mark, the border, a letter of a label and its height
const HIGHEST = 470,
  REACH = { mouse: 16, touch: 30, pen: 24 }; // pixels: of the map; from a pointer to the mark it means
// Marks of size 1, one for each topic: a colour alone would not tell them apart for everybody.
const corners = (...points) => `M${points.map((point) => point.join(" ")).join("L")}Z`;
const star = Array.from({ length: 10 }, (_, i) =>
  [Math.sin((i * Math.PI) / 5), -Math.cos((i * Math.PI) / 5)].map((x) => x * (i % 2 ? 0.5 : 1.25)),
);
const turned = (points) => points.map(([x, y]) => [(x - y) * Math.SQRT1_2, (x + y) * Math.SQRT1_2]);
const plus = [
  [-0.4, -1.15],
  [0.4, -1.15],
  [0.4, -0.4],
  [1.15, -0.4],
  [1.15, 0.4],
  [0.4, 0.4],
  [0.4, 1.15],
  [-0.4, 1.15],
  [-0.4, 0.4],
  [-1.15, 0.4],
  [-1.15, -0.4],
  [-0.4, -0.4],
];
const MARKS = [
  "M-1 0A1 1 0 0 0 1 0A1 1 0 0 0 -1 0Z",
  corners([-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]),
  corners([0, -1.15], [1.1, 0.85], [-1.1, 0.85]),
  corners([0, 1.15], [1.1, -0.85], [-1.1, -0.85]),
  corners([0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]),
  corners(...plus),
  corners(...turned(plus)),
  corners(...star),
];
const mark = (topic, size) =>
  draw("path", { d: MARKS[topic % MARKS.length], transform: `scale(${size})` });
const apart = ([x, y], [u, v]) => Math.hypot(x - u, y - v);
const quoted = ({ text }) => `“${cut(text)}”`;
const overlap = (a, b) =>
  Math.max(0, Math.min(a.right, b.right) - Math.max(a.left, b.left)) *
  Math.max(0, Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));

// The nearest of the others by a measure that is small for what is near: its number, or -1 where there is none.
export function nearest(i, n, far) {
  let best = -1;
  for (let j = 0; j < n; j++) if (j !== i && (best < 0 || far(j) < far(best))) best = j;
  return best;
}

// Where along the map's width a place is, and how far down: one scale for both axes, or near would mean two things.
export function fitted(places, width, highest) {
  const [left, up] = [0, 1].map((axis) => Math.min(...places.map((at) => at[axis])));
  const [right, down] = [0, 1].map((axis) => Math.max(...places.map((at) => at[axis])));
  const scale = Math.min(
    (width - 2 * MARGIN) / (right - left),
    (highest - 2 * MARGIN) / (down - up),
  );
  const shift = (width - scale * (right - left)) / 2;
  return {
    height: scale * (down - up) + 2 * MARGIN,
    place: ([x, y]) => [shift + scale * (x - left), MARGIN + scale * (down - y)],
  };
}

// A place for a label near `at` that covers no other label and as few marks as can be.
export function free(at, text, taken, places, width, height) {
  const wide = text.length * LETTER + 10;
  let best,
    least = Infinity;
  for (let away = 0; away <= 90; away += 15) {
    for (let turn = 0; turn < (away ? 12 : 1); turn++) {
      const x = at[0] + 1.4 * away * Math.cos((turn * Math.PI) / 6),
        y = at[1] + away * Math.sin((turn * Math.PI) / 6);
      const box = {
        left: x - wide / 2,
        right: x + wide / 2,
        top: y - LINE / 2,
        bottom: y + LINE / 2,
      };
      if (box.left < 2 || box.right > width - 2 || box.top < 2 || box.bottom > height - 2) continue;
      if (taken.some((other) => overlap(box, other))) continue;
      const covered = places.filter(
        ([u, v]) =>
          u > box.left - SIZE &&
          u < box.right + SIZE &&
          v > box.top - SIZE &&
          v < box.bottom + SIZE,
      ).length;
      const cost = 16 * covered + away;
      if (cost < least) [best, least] = [{ ...box, x, y }, cost];
    }
  }
  if (best) taken.push(best);
  return best;
}

export class SentenceMap extends Figure {
  constructor(host, options) {
    super(host, options);
    [this.machine] = this.machines;
    Object.assign(this, {
      given: options.points,
      topics: options.topics,
      own: [],
      chosen: null,
      faint: null,
    });
    const sentence = this.asks("A sentence of your own", "Put it on the map", () => this.put());
    [this.text.value] = options.examples;
    const examples = make(
      "div",
      { class: "lv-examples" },
      ...this.offers(options.examples, (example) => {
        this.text.value = example;
        this.put();
      }),
    );
    this.svg = draw("svg", {
      class: "lv-map",
      role: "group",
      "aria-label": `Map of ${this.given.length} sentences; the arrow keys go from one to the next and from topic to topic`,
    });
    this.told = make("p", { class: "lv-about lv-neighbours", "aria-live": "polite" });
    this.keys = this.topics.map((topic, i) => {
      const button = make(
        "button",
        { type: "button", "aria-pressed": "false", "data-topic": i },
        draw(
          "svg",
          { viewBox: "-8 -8 16 16", width: 16, height: 16, "aria-hidden": "true" },
          mark(i, SIZE),
        ),
        topic,
      );
      button.addEventListener("click", () => this.only(this.faint === i ? null : i));
      return button;
    });
    this.list = make("ol", { class: "lv-typed", "aria-label": "Your sentences" });
    const same = this.given.filter(({ near, beside }) => near[0] === beside[0]).length;
    const honest =
      `${this.given.length} sentences of eight topics, along the two directions in which their vectors of ${options.width} numbers differ most. ` +
      `These two keep ${percent(options.kept).replace(" ", "\u00a0")} of the variance; the rest cannot be seen here. For ${same} of the ${this.given.length} the nearest on the map is the nearest in all ${options.width}.`;
    this.width = options.width;
    this.show(
      make("p", { class: "lv-head" }, honest),
      this.svg,
      make(
        "div",
        { class: "lv-topics", role: "group", "aria-label": "Show one topic" },
        ...this.keys,
      ),
      this.told,
      sentence,
      examples,
      make("div", { class: "lv-row" }, this.go),
      this.status,
      this.list,
    );
    this.svg.addEventListener("pointermove", (event) => {
      if (event.pointerType === "mouse") this.meant(event);
    });
    this.svg.addEventListener("click", (event) => this.meant(event));
    this.svg.addEventListener("keydown", (event) => this.steer(event));
    this.say(
      `${megabytes(this.machine.bytes)} are fetched when you first put a sentence on the map; what you type stays here.`,
    );
    new ResizeObserver(() => {
      if (this.svg.clientWidth && this.svg.clientWidth !== this.drawn) this.paint();
    }).observe(this.svg);
    this.paint();
    this.choose(0, false);
  }

  get all() {
    return [...this.given, ...this.own];
  }

  // The cosine of two sentences: the reader's are compared here, of the others the neighbours' are known.
  cosine(i, j) {
    const n = this.given.length,
      [one, other] = [this.all[i], this.all[j]];
    if (i >= n) return j >= n ? dot(one.vector, other.vector) : one.cosines[j];
    if (j >= n) return other.cosines[i];
    return [one.near, one.beside].find(([to]) => to === j)?.[1];
  }

  // The nearest in all dimensions: of two sentences of the map it is stored.
  near(i) {
    const n = this.given.length;
    const known =
      i < n ? [this.given[i].near[0], ...this.own.map((_, k) => n + k)] : [...this.all.keys()];
    return known[nearest(known.indexOf(i), known.length, (k) => -this.cosine(i, known[k]))];
  }

  // The nearest on the map: of two of its sentences that is stored, too.
  beside(i) {
    const { all } = this,
      n = this.given.length;
    const known =
      i < n ? [i, this.given[i].beside[0], ...this.own.map((_, k) => n + k)] : [...all.keys()];
    return known[
      nearest(known.indexOf(i), known.length, (k) => apart(all[i].at, all[known[k]].at))
    ];
  }

  async put() {
    const text = this.text.value.trim();
    if (!text) {
      this.stop();
      this.say("Type a sentence first.", true);
      return;
    }
    const there = this.own.findIndex((one) => one.text === text);
    if (there >= 0) {
      this.say(`That is your sentence ${there + 1}.`);
      this.choose(this.given.length + there);
      return;
    }
    if (this.own.length >= OWN) {
      this.say(`There is room for ${OWN} sentences of your own: remove one first.`, true);
      return;
    }
    if (this.turn) {
      this.say("One sentence at a time: the one before is on its way to the map.", true);
      return;
    }
    const found = await this.run(this.machine, "place", { text }, () => {});
    if (!found) return;
    this.own.push({ text, ...found });
    this.faint = null;
    if (this.text.value.trim() === text) this.text.value = "";
    this.paint();
    this.choose(this.all.length - 1);
  }

  remove(k) {
    this.own.splice(k, 1);
    this.paint();
    this.choose(0, false);
    (this.list.querySelectorAll("button")[Math.min(k, this.own.length - 1)] ?? this.text).focus(); // the button that was pressed is gone
  }

  // One topic, or all.
  only(topic) {
    this.faint = topic;
    this.keys.forEach((key, i) => key.setAttribute("aria-pressed", i === topic));
    this.marks.forEach((one, i) =>
      one.classList.toggle(
        "lv-faint",
        topic !== null && i < this.given.length && this.all[i].topic !== this.topics[topic],
      ),
    );
  }

  // The sentence that a pointer means.
  meant(event) {
    const box = this.svg.getBoundingClientRect(),
      at = [event.clientX - box.left, event.clientY - box.top];
    const i = nearest(-1, this.places.length, (j) => apart(at, this.places[j]));
    if (i !== this.chosen && apart(at, this.places[i]) <= (REACH[event.pointerType] ?? REACH.pen))
      this.choose(i);
  }

  // Left and right from sentence to sentence, up and down from topic to topic; the reader's own come last.
  steer(event) {
    const { all } = this,
      n = all.length,
      i = this.chosen ?? 0,
      first = [...all.keys()].filter((j) => j === 0 || all[j].topic !== all[j - 1].topic);
    const here = first.findLastIndex((j) => j <= i);
    const to = {
      ArrowRight: (i + 1) % n,
      ArrowLeft: (i + n - 1) % n,
      ArrowDown: first[(here + 1) % first.length],
      ArrowUp: first[(here + first.length - 1) % first.length],
      Home: 0,
      End: n - 1,
    }[event.key];
    if (to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    this.choose(to);
    this.marks[to].focus();
  }

  // The sentence that is told about; `aloud`: a reader has asked for it.
  choose(i, aloud = true) {
    this.chosen = i;
    this.marks.forEach((one, j) => one.setAttribute("tabindex", j === i ? 0 : -1));
    this.lines();
    this.told.setAttribute("aria-live", aloud ? "polite" : "off");
    this.told.replaceChildren(
      make("b", { dir: "auto" }, cut(this.all[i].text)),
      ` ${this.all[i].topic ? `(${this.all[i].topic})` : "(yours)"} ${this.neighbours(i)}`,
    );
  }

  neighbours(i) {
    const { all } = this,
      near = this.near(i),
      beside = this.beside(i),
      { unknown, read, pieces } = all[i];
    return (
      `Nearest in ${this.width} dimensions: ${quoted(all[near])}, cosine ${shown(this.cosine(i, near))}. ` +
      (near === beside
        ? "It is the nearest on the map, too."
        : `Nearest on the map is another: ${quoted(all[beside])}, cosine ${shown(this.cosine(i, beside))}.`) +
      (unknown
        ? " (In it stands something that MiniLM has no piece for: all such things are one [UNK] to it.)"
        : "") +
      (read < pieces ? ` (Of its ${plural(pieces, "piece")} the first ${read} were read.)` : "")
    );
  }

  paint() {
    const { all } = this,
      n = this.given.length,
      focused = this.svg.contains(document.activeElement);
    this.drawn = this.svg.clientWidth;
    const width = this.drawn || 640,
      { height, place } = fitted(
        all.map(({ at }) => at),
        width,
        HIGHEST,
      );
    this.places = all.map(({ at }) => place(at));
    this.taken = this.places
      .slice(n)
      .map(([x, y]) => ({ left: x - 10, right: x + 10, top: y - 10, bottom: y + 10 }));
    const labels = this.topics.map((topic, i) => {
      const some = this.places.slice(0, n).filter((_, j) => this.given[j].topic === topic);
      const middle = [0, 1].map(
        (axis) => some.reduce((sum, at) => sum + at[axis], 0) / some.length,
      );
      const box = free(middle, topic, this.taken, this.places, width, height);
      return box
        ? draw(
            "text",
            {
              x: box.x.toFixed(1),
              y: box.y.toFixed(1),
              class: "lv-topic",
              "data-topic": i,
              "aria-hidden": "true",
            },
            topic,
          )
        : "";
    });
    this.marks = all.map(({ text, topic }, i) => {
      const [x, y] = this.places[i],
        own = i >= n,
        which = this.topics.indexOf(topic);
      const said = own ? `your sentence ${i - n + 1}: ${text}` : `${topic}: ${text}`;
      return draw(
        "g",
        {
          class: `lv-place${own ? " lv-mine" : ""}`,
          transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`,
          role: "button",
          "aria-label": said,
          tabindex: -1,
          ...(own ? {} : { "data-topic": which }),
        },
        ...(own
          ? [draw("circle", { r: 9 }), draw("text", {}, String(i - n + 1))]
          : [mark(which, SIZE)]),
      );
    });
    this.marks.forEach((one, i) => {
      one.addEventListener("focus", () => {
        if (this.chosen !== i) this.choose(i);
      });
    });
    this.under = draw("g", { "aria-hidden": "true" });
    this.over = draw("g", { "aria-hidden": "true" });
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height.toFixed(1)}`);
    this.svg.style.height = `${height.toFixed(1)}px`;
    this.svg.replaceChildren(
      this.under,
      ...this.marks.slice(0, n),
      ...labels,
      ...this.marks.slice(n),
      this.over,
    );
    this.list.replaceChildren(
      ...this.own.map(({ text }, k) => {
        const away = make(
          "button",
          { type: "button", "aria-label": `Remove sentence ${k + 1}` },
          "Remove",
        );
        away.addEventListener("click", () => this.remove(k));
        return make(
          "li",
          {},
          make("p", {}, make("b", { dir: "auto" }, cut(text)), ` ${this.neighbours(n + k)}`),
          away,
        );
      }),
    );
    this.only(this.faint);
    if (this.chosen !== null && this.chosen < all.length) this.choose(this.chosen, false);
    if (focused) this.marks[this.chosen]?.focus();
  }

  // From each of the reader's sentences, and from the chosen one, to its nearest in all dimensions, with the cosine; from the chosen
  // one, dashed, also to the nearest on the map.
  lines() {
    const n = this.given.length,
      taken = [...this.taken],
      { width } = this.svg.viewBox.baseVal,
      { height } = this.svg.viewBox.baseVal;
    const from = [...new Set([...this.own.map((_, k) => n + k), this.chosen])];
    const line = (i, j, kind) => {
      const [[x1, y1], [x2, y2]] = [this.places[i], this.places[j]];
      return draw("line", { x1, y1, x2, y2, class: `lv-to ${kind}` });
    };
    const drawn = [],
      labels = [];
    for (const i of from) {
      const near = this.near(i),
        beside = this.beside(i),
        [a, b] = [this.places[i], this.places[near]];
      drawn.push(line(i, near, i === this.chosen ? "lv-chosen" : ""));
      if (i === this.chosen && beside !== near) drawn.push(line(i, beside, "lv-flat"));
      const text = shown(this.cosine(i, near)),
        box = free([(a[0] + b[0]) / 2, (a[1] + b[1]) / 2], text, taken, [], width, height);
      if (box)
        labels.push(
          draw("text", { x: box.x.toFixed(1), y: box.y.toFixed(1), class: "lv-cosine" }, text),
        );
    }
    const [x, y] = this.places[this.chosen];
    this.under.replaceChildren(...drawn);
    this.over.replaceChildren(draw("circle", { cx: x, cy: y, r: 12, class: "lv-here" }), ...labels);
  }
}
