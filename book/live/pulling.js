// Sentences as points on a circle, pulled together and apart by the contrastive loss (chapter 17): u must find its own v among all.
import { Figure, choice, draw, make, percent, slider } from "./figure.js";
import { Walk, signed } from "./walk.js";

const SIDE = 400,
  RADIUS = 140,
  STEPS = 150,
  DEGREE = Math.PI / 180;

// All cosines of the u with the v, which are given by their angles.
export const cosines = ({ u, v }) => u.map((a) => v.map((b) => Math.cos(a - b)));

// For each u the shares that a softmax gives to the v, at a temperature.
export function shares(places, temperature) {
  return cosines(places).map((row) => {
    const top = Math.max(...row),
      parts = row.map((value) => Math.exp((value - top) / temperature));
    const sum = parts.reduce((a, b) => a + b, 0);
    return parts.map((part) => part / sum);
  });
}

// The mean of -log of what each u gives to its own v; from the scores, so that a share of almost 0 has a finite loss.
export function loss(places, temperature) {
  const table = cosines(places),
    top = (row) => Math.max(...row);
  const each = table.map(
    (row, i) =>
      Math.log(row.reduce((sum, value) => sum + Math.exp((value - top(row)) / temperature), 0)) +
      (top(row) - row[i]) / temperature,
  );
  return each.reduce((a, b) => a + b, 0) / each.length;
}

// How the loss changes with each angle, in radians.
export function gradient(places, temperature) {
  const given = shares(places, temperature),
    { u, v } = places,
    n = u.length;
  const slope = { u: u.map(() => 0), v: v.map(() => 0) };
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      const part = ((given[i][j] - (i === j ? 1 : 0)) / temperature / n) * Math.sin(u[i] - v[j]);
      slope.u[i] -= part;
      slope.v[j] += part;
    }
  }
  return slope;
}

// One step of gradient descent; and all of them, the start first.
export function step(places, temperature, rate) {
  const slope = gradient(places, temperature);
  const moved = (name) => places[name].map((angle, i) => angle - rate * slope[name][i]);
  return { u: moved("u"), v: moved("v") };
}
export function run(places, temperature, rate, n = STEPS) {
  const all = [places];
  for (let i = 0; i < n; i++) all.push(step(all[i], temperature, rate));
  return all;
}

// Mean cosine of partners, and of all others.
export function means(places) {
  const table = cosines(places),
    n = table.length,
    own = table.reduce((sum, row, i) => sum + row[i], 0);
  const all = table.flat().reduce((a, b) => a + b, 0);
  return { own: own / n, others: (all - own) / (n * n - n) };
}

export class Pulling extends Figure {
  constructor(host, options) {
    super(host, options);
    this.options = options;
    this.temperature = slider(
      "Temperature",
      { min: 0.05, max: 1, step: 0.05, value: options.temperature },
      (t) => t.toFixed(2),
    );
    this.rate = slider("Step size", { min: 0.01, max: 0.2, step: 0.01, value: options.rate }, (r) =>
      r.toFixed(2),
    );
    const points = options.pairs.flatMap((_, i) => [
      [`u${i}`, `u${i + 1}`],
      [`v${i}`, `v${i + 1}`],
    ]);
    this.moved = choice("Move by hand", points);
    this.angle = slider(
      "Angle",
      { min: -180, max: 180, step: 1, value: 0 },
      (degrees) => `${signed(degrees, 0)}°`,
    );
    this.anew = make("button", { type: "button" }, "New places");
    this.walk = new Walk(() => this.paint(), 120);
    this.svg = draw("svg", {
      viewBox: `0 0 ${SIDE} ${SIDE}`,
      class: "lv-plane lv-circle",
      role: "img",
    });
    // Around each point there is room for a finger. It stays in the page as long as the finger does; what is seen is drawn anew.
    this.grips = [...options.pairs, ...options.pairs].map(() =>
      draw("circle", { r: 30, class: "lv-grip" }),
    );
    this.drawn = draw("g", {});
    this.svg.append(this.drawn, ...this.grips);
    this.told = make("table", { class: "lv-counts lv-told" });
    this.table = make("table", {
      class: "lv-cosines lv-few",
      "aria-label": "Cosine of each u with each v",
    });
    this.list = make(
      "ol",
      { class: "lv-pairs" },
      ...options.pairs.map(([one, other], i) =>
        make("li", {}, make("b", {}, `u${i + 1} `), one, make("b", {}, ` v${i + 1} `), other),
      ),
    );
    this.show(
      make("div", { class: "lv-row" }, this.temperature.whole, this.rate.whole),
      this.walk.whole,
      make("div", { class: "lv-beside" }, this.svg, make("div", {}, this.told, this.table)),
      make("div", { class: "lv-row" }, this.moved.whole, this.angle.whole, this.anew),
      this.list,
    );
    for (const { input } of [this.temperature, this.rate])
      input.addEventListener("input", () => this.begin(this.start, this.walk.step));
    this.moved.select.addEventListener("change", () => this.paint());
    this.angle.input.addEventListener("input", () => {
      this.turning = true; // its own 180 is no -180
      this.place(this.moved.select.value, Number(this.angle.input.value) * DEGREE);
      this.turning = false;
    });
    this.anew.addEventListener("click", () => this.begin(this.somewhere(), 0));
    this.svg.addEventListener("pointerdown", (event) => this.grab(event));
    this.svg.addEventListener("pointermove", (event) => {
      if (this.svg.hasPointerCapture(event.pointerId))
        this.place(this.moved.select.value, this.under(event));
    });
    // A finger that holds a point does not scroll the page; pan-y alone would take an upright movement away.
    this.held = false;
    this.svg.addEventListener("lostpointercapture", () => {
      this.held = false;
    });
    this.svg.addEventListener(
      "touchstart",
      (event) => {
        if (this.held) event.preventDefault();
      },
      { passive: false },
    );
    const places = ([u, v]) => ({
      u: u.map((degrees) => degrees * DEGREE),
      v: v.map((degrees) => degrees * DEGREE),
    });
    this.begin(places(options.angles), 0);
  }

  somewhere() {
    const angles = () => this.options.pairs.map(() => (Math.random() * 360 - 180) * DEGREE);
    return { u: angles(), v: angles() };
  }

  // From these places, with the present temperature and step size.
  begin(places, at) {
    this.start = places;
    this.all = run(places, Number(this.temperature.input.value), Number(this.rate.input.value));
    this.walk.begin(STEPS, at);
  }

  get now() {
    return this.all[this.walk.step];
  }

  // A point that the reader moves: it goes on from there.
  place(point, angle) {
    const { u, v } = this.now,
      places = { u: [...u], v: [...v] };
    places[point[0]][Number(point.slice(1))] = angle;
    this.used();
    this.begin(places, 0);
  }

  // The angle under the pointer, and how far from the middle it is.
  under(event, far = false) {
    const box = this.svg.getBoundingClientRect(),
      scale = SIDE / box.width;
    const x = (event.clientX - box.left) * scale - SIDE / 2,
      y = SIDE / 2 - (event.clientY - box.top) * scale;
    return far ? Math.hypot(x, y) : Math.atan2(y, x);
  }

  // The nearest point, if the pointer is on the ring.
  grab(event) {
    if (Math.abs(this.under(event, true) - RADIUS) > 40) return;
    const angle = this.under(event),
      { u, v } = this.now;
    const away = (place) => Math.abs(Math.atan2(Math.sin(place - angle), Math.cos(place - angle)));
    const all = [
      ...u.map((place, i) => [`u${i}`, away(place)]),
      ...v.map((place, i) => [`v${i}`, away(place)]),
    ];
    const [point, far] = all.sort((a, b) => a[1] - b[1])[0];
    if (far > 0.35) return;
    event.preventDefault();
    this.svg.setPointerCapture(event.pointerId);
    this.held = true;
    this.moved.select.value = point;
    this.place(point, angle);
  }

  paint() {
    if (this.walk.step > 0) this.used();
    const { now } = this,
      temperature = Number(this.temperature.input.value),
      slope = gradient(now, temperature);
    const at = (angle, radius = RADIUS) => [
      SIDE / 2 + radius * Math.cos(angle),
      SIDE / 2 - radius * Math.sin(angle),
    ];
    const line = ([x1, y1], [x2, y2], kind, tip) =>
      draw("line", { x1, y1, x2, y2, class: kind, "marker-end": tip ? "url(#lv-tip-pull)" : null });
    const shapes = ["u", "v"].flatMap((name) =>
      now[name].map((angle, i) => {
        const [x, y] = at(angle),
          [tx, ty] = at(angle, RADIUS + (name === "u" ? 24 : 44));
        // the arrow: where the gradient sends it, on the ring, and how strongly
        const pull = -slope[name][i] * 0.12,
          pulled = Math.abs(pull) > 0.01,
          turn = Math.sign(pull) * (0.11 + Math.min(0.5, Math.abs(pull)));
        return draw(
          "g",
          { class: `lv-point lv-${name}` },
          ...(pulled ? [line([x, y], at(angle + turn), "lv-pull", true)] : []),
          draw("circle", { cx: x, cy: y, r: 8 }),
          draw("text", { x: tx, y: ty + 5, "text-anchor": "middle" }, `${name}${i + 1}`),
        );
      }),
    );
    const pairs = now.u.map((angle, i) => line(at(angle), at(now.v[i]), "lv-partner"));
    [...now.u, ...now.v].forEach((angle, i) => {
      [this.grips[i].cx.baseVal.value, this.grips[i].cy.baseVal.value] = at(angle);
    });
    this.drawn.replaceChildren(
      draw(
        "defs",
        {},
        draw(
          "marker",
          {
            id: "lv-tip-pull",
            viewBox: "0 0 8 8",
            refX: 7,
            refY: 4,
            markerWidth: 10,
            markerHeight: 10,
            markerUnits: "userSpaceOnUse",
            orient: "auto",
          },
          draw("path", { d: "M0 0L8 4L0 8z" }),
        ),
      ),
      draw("circle", { cx: SIDE / 2, cy: SIDE / 2, r: RADIUS, class: "lv-ring" }),
      ...pairs,
      ...shapes,
    );
    const point = this.moved.select.value,
      degrees = Math.round(now[point[0]][Number(point.slice(1))] / DEGREE);
    if (!this.turning) this.angle.input.value = ((((degrees + 180) % 360) + 360) % 360) - 180;
    this.angle.tell();
    this.tell(now, temperature);
  }

  tell(now, temperature) {
    const { own, others } = means(now),
      value = loss(now, temperature),
      given = shares(now, temperature);
    const row = (name, number) =>
      make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, number));
    this.told.replaceChildren(
      make(
        "tbody",
        {},
        row("loss", value.toFixed(3)),
        row("mean cosine of partners", signed(own)),
        row("mean cosine of others", signed(others)),
      ),
    );
    const head = make(
      "tr",
      {},
      make("td", {}),
      ...now.v.map((_, j) => make("th", { scope: "col" }, `v${j + 1}`)),
    );
    this.table.replaceChildren(
      make("caption", {}, "Cosines; shaded by the softmax of a row"),
      make("thead", {}, head),
      make(
        "tbody",
        {},
        ...cosines(now).map((cells, i) =>
          make(
            "tr",
            {},
            make("th", { scope: "row" }, `u${i + 1}`),
            ...cells.map((cell, j) =>
              make(
                "td",
                {
                  class: i === j ? "lv-own" : null,
                  style: `--share: ${given[i][j].toFixed(4)}`,
                  title: percent(given[i][j]),
                },
                signed(cell),
              ),
            ),
          ),
        ),
      ),
    );
    this.svg.setAttribute(
      "aria-label",
      `Four pairs on a circle. Loss ${value.toFixed(3)}; mean cosine of partners ${signed(own)}, of others ${signed(others)}.`,
    );
  }
}
