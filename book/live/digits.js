// A digit that the reader draws, as a ViT sees it (chapter 11): 8 × 8 greys in 16 patches, what it takes them for, and how much of
// each patch reached the class token, by attention rollout; and how alike the positions are that it learned for its patches.
import { digitImage } from "./drawing.js";
import { Figure, bar, draw, make, megabytes, percent } from "./figure.js";
import { shown } from "./nearness.js";

const SIDE = 8, PATCH = 2, BOX = 200; // pixels of the image, of a patch; points across the field

export class Digits extends Figure {
  constructor(host, options) {
    super(host, options);
    [this.machine] = this.machines;
    this.strokes = [];
    this.field = draw("svg", { viewBox: `0 0 ${BOX} ${BOX}`, class: "lv-canvas", role: "img", "aria-label": "Field to draw a digit in" });
    this.seen = draw("svg", { viewBox: `0 0 ${SIDE} ${SIDE}`, class: "lv-seen", role: "img", "aria-label": "What the model sees" });
    this.clear = make("button", { type: "button" }, "Clear");
    this.clear.addEventListener("click", () => this.empty());
    this.reach = make("input", { type: "checkbox", id: "lv-reach" });
    this.reach.addEventListener("change", () => this.paint());
    this.places = Array.from({ length: (SIDE / PATCH) ** 2 }, (_, i) => {
      const button = make("button", { type: "button", "aria-label": `patch ${i + 1}`, "aria-pressed": "false" });
      button.addEventListener("click", () => this.compare(i));
      return button;
    });
    this.verdict = make("p", { class: "lv-about", "aria-live": "polite" });
    this.others = make("ol", { class: "lv-candidates lv-plainlist lv-classes" });
    const examples = make("div", { class: "lv-examples" }, ...options.examples.map(({ digit, image }) => {
      const button = make("button", { type: "button" }, `a test image: ${digit}`);
      button.addEventListener("click", () => this.take(image));
      return button;
    }));
    this.start = () => this.take(options.examples[0].image);
    this.show(
      make("div", { class: "lv-drawing" },
        make("div", {}, make("p", { class: "lv-head" }, "Draw a digit here"), this.field),
        make("div", {}, make("p", { class: "lv-head" }, `What the model sees: 8 × 8 greys, 16 patches`), this.seen),
        make("div", { class: "lv-told" }, this.verdict, this.others)),
      make("div", { class: "lv-row" }, this.clear, make("label", { class: "lv-check" }, this.reach, " how much of each patch reached the class token")),
      examples,
      make("p", { class: "lv-head lv-side" }, "Positions: press a patch, and see how alike its learned vector is to the others’ (cosine)"),
      make("div", { class: "lv-positions", role: "group", "aria-label": "Positions of the patches" }, ...this.places), this.status);
    this.field.addEventListener("pointerdown", (event) => this.begin(event));
    this.field.addEventListener("pointermove", (event) => this.move(event));
    for (const end of ["pointerup", "pointercancel"]) this.field.addEventListener(end, () => this.end());
    this.seen.addEventListener("click", (event) => this.compare(this.patch(event)));
    this.empty();
    this.say(`${megabytes(this.machine.bytes)} are fetched when you first draw or press a patch; what you draw stays here.`);
  }

  empty() {
    this.stop();
    this.strokes = [];
    this.image = new Float32Array(SIDE * SIDE);
    this.reached = null;
    this.field.replaceChildren();
    this.others.replaceChildren();
    this.verdict.textContent = "";
    this.say("");
    this.paint();
  }

  // One of the test images, in sixteenths.
  take(image) {
    this.empty();
    return this.look(Float32Array.from(image, (grey) => grey / 16));
  }

  // The point of the field that an event is at.
  at(event) {
    const box = this.field.getBoundingClientRect();
    return [((event.clientX - box.left) / box.width) * BOX, ((event.clientY - box.top) / box.height) * BOX];
  }

  begin(event) {
    event.preventDefault();
    if (!this.strokes.length) { // the verdict on what stood there before
      this.verdict.textContent = "";
      this.others.replaceChildren();
    }
    this.field.setPointerCapture(event.pointerId);
    this.strokes.push([this.at(event)]);
    this.line = draw("polyline", {});
    this.field.append(this.line);
    this.trace();
  }

  move(event) {
    if (!this.line) return;
    this.strokes.at(-1).push(this.at(event));
    this.trace();
  }

  trace() {
    const stroke = this.strokes.at(-1), points = stroke.length === 1 ? [...stroke, stroke[0]] : stroke;
    this.line.setAttribute("points", points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" "));
  }

  end() {
    if (!this.line) return;
    this.line = null;
    this.look(digitImage(this.strokes));
  }

  async look(image) {
    this.image = image;
    this.reached = null;
    this.paint();
    const found = await this.run(this.machine, "classify", { image }, () => {});
    if (!found || image !== this.image) return;
    this.reached = found.reached;
    this.paint();
    const order = [...found.shares.keys()].sort((a, b) => found.shares[b] - found.shares[a]);
    this.verdict.textContent = `It says: ${order[0]}`;
    this.others.replaceChildren(...[...found.shares].map((share, digit) =>
      make("li", {}, make("span", {}, String(digit)), bar(share, digit === order[0] ? "drawn" : "plain"), make("small", {}, percent(share)))));
  }

  // The patch of what the model sees that an event is at.
  patch(event) {
    const box = this.seen.getBoundingClientRect(), across = SIDE / PATCH;
    const [column, row] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height].map((at) => Math.min(across - 1, Math.max(0, Math.floor(at * across))));
    return row * across + column;
  }

  // How alike the position of one patch is to every other's.
  async compare(i) {
    const unread = this.turn && !this.reached && this.strokes.length ? this.image : null; // its reading ends here
    this.alike ??= await this.run(this.machine, "places", {}, () => {});
    if (unread && unread === this.image) this.look(unread);
    if (!this.alike) return;
    this.places.forEach((button, j) => {
      const value = this.alike[i][j];
      button.textContent = shown(value);
      button.setAttribute("aria-label", `patch ${j + 1}: ${shown(value)}`);
      button.setAttribute("aria-pressed", i === j);
      button.classList.toggle("lv-less", value < 0);
      button.style.setProperty("--share", Math.abs(value).toFixed(4));
    });
  }

  // The greys, the borders of the patches and, if asked for, each patch's part in the class token.
  paint() {
    const squares = [...this.image].map((grey, i) =>
      draw("rect", { x: i % SIDE, y: Math.floor(i / SIDE), width: 1, height: 1, "fill-opacity": grey.toFixed(3) }));
    const across = SIDE / PATCH, most = this.reached ? Math.max(...this.reached) : 1;
    const frames = Array.from({ length: across ** 2 }, (_, i) => {
      const frame = draw("rect", { x: (i % across) * PATCH, y: Math.floor(i / across) * PATCH, width: PATCH, height: PATCH, class: "lv-patch" });
      if (this.reached && this.reach.checked) frame.style.fillOpacity = (0.75 * this.reached[i] / most).toFixed(3);
      const title = draw("title", {});
      title.textContent = `patch ${i + 1}${this.reached ? `: ${percent(this.reached[i])} of what reached the class token` : ""}`;
      frame.append(title);
      return frame;
    });
    this.seen.replaceChildren(...squares, ...frames);
  }
}
