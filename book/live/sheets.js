// What the reader draws on (digits.js), one class for each kind of picture. A sheet has a `field` that is `across`
// points wide, an `image` of side × side greys, and `tools` of its own; it is told where a pen goes, and `changed`
// hears of what a tool did.
import { brushed, digitImage, moved } from "./drawing.js";
import { choice, draw, make } from "./figure.js";

class Sheet {
  empty() {
    this.put(new Float32Array(this.side ** 2));
  }
}

// Strokes on an empty field: a digit. Of a picture that is put on it there are no strokes.
export class DigitSheet extends Sheet {
  constructor({ side }) {
    super();
    this.side = side;
    this.across = 200;
    this.tools = [];
    const viewBox = `0 0 ${this.across} ${this.across}`;
    this.field = draw("svg", {
      viewBox,
      class: "lv-canvas",
      role: "img",
      "aria-label": "Field to draw a digit in",
    });
    this.empty();
  }

  put(image) {
    this.image = image;
    this.strokes = [];
    this.field.replaceChildren();
  }

  begin(point) {
    this.strokes.push([point]);
    this.line = draw("polyline", {});
    this.field.append(this.line);
    this.trace();
  }

  move(point) {
    this.strokes.at(-1).push(point);
    this.trace();
  }

  trace() {
    const stroke = this.strokes.at(-1),
      points = stroke.length === 1 ? [...stroke, stroke[0]] : stroke;
    const written = points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`);
    this.line.setAttribute("points", written.join(" "));
  }

  end() {
    this.image = digitImage(this.strokes);
  }
}

const BRUSHES = [
  [0.9, "strong"],
  [0.6, "medium"],
  [0.3, "faint"],
  [0, "rubs out"],
]; // greys
const WAYS = [
  ["←", "left", -1, 0],
  ["→", "right", 1, 0],
  ["↑", "up", 0, -1],
  ["↓", "down", 0, 1],
];

// A picture in greys that a soft brush changes: a garment. It can be moved, and lose a patch, without a pen.
export class GarmentSheet extends Sheet {
  constructor({ side }, changed) {
    super();
    this.side = this.across = side;
    this.changed = changed;
    this.canvas = make("canvas", { width: side, height: side, class: "lv-greys" });
    const named = { role: "img", "aria-label": "Field to draw a garment in" };
    this.field = make("div", { class: "lv-canvas lv-ground", ...named }, this.canvas);
    this.brush = choice("Brush", BRUSHES);
    this.rub = make("button", { type: "button" });
    this.rub.addEventListener("click", () => this.change(this.without(...this.pressed)));
    this.tools = [this.brush.whole, this.ways(), this.rub];
    this.press();
    this.empty();
  }

  get grey() {
    return Number(this.brush.select.value);
  }

  ways() {
    const buttons = WAYS.map(([arrow, name, right, down]) => {
      const button = make("button", { type: "button", "aria-label": `move it ${name}` }, arrow);
      button.addEventListener("click", () => this.change(moved(this.image, right, down)));
      return button;
    });
    return make(
      "div",
      { class: "lv-ways", role: "group", "aria-label": "Move the picture by a pixel" },
      ...buttons,
    );
  }

  put(image) {
    this.image = image;
    paintGreys(this.canvas, image);
  }

  change(image) {
    this.first = false;
    this.put(image);
    this.changed();
  }

  // A picture to begin with: nobody has chosen it, so who draws gets an empty field.
  lend(image) {
    this.put(image);
    this.first = true;
  }

  begin(point) {
    if (this.first && this.grey > 0) this.empty();
    this.first = false;
    this.before = this.image;
    this.stroke = [];
    this.move(point);
  }

  move(point) {
    const last = this.stroke.at(-1);
    if (last && Math.hypot(point[0] - last[0], point[1] - last[1]) < 0.3) return; // of a pixel
    this.stroke.push(point);
    this.put(brushed(this.before, this.stroke, this.grey));
  }

  end() {}

  // A patch was pressed, the i-th, whose upper left pixel is at (left, top), `size` wide: it can be rubbed out.
  press(i, left, top, size) {
    this.pressed = [left, top, size];
    this.rub.disabled = i === undefined;
    this.rub.textContent =
      i === undefined ? "Rub out a patch (press one first)" : `Rub out patch ${i + 1}`;
  }

  without(left, top, size) {
    const within = (at, from) => at >= from && at < from + size;
    const inside = (i) => within(i % this.side, left) && within(Math.floor(i / this.side), top);
    return this.image.map((grey, i) => (inside(i) ? 0 : grey));
  }
}

// Greys on a canvas of as many pixels: black of that opacity (white in the dark theme, by the style sheet).
export function paintGreys(canvas, image) {
  const context = canvas.getContext("2d");
  const pixels = context.createImageData(canvas.width, canvas.height);
  image.forEach((grey, i) => {
    pixels.data[4 * i + 3] = Math.round(255 * grey);
  });
  context.putImageData(pixels, 0, 0);
}
