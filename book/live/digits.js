// A digit or a garment that the reader draws, as a ViT sees it (chapter 11): 8 × 8 or 28 × 28 greys in 16 patches, what
// it takes them for, and how much of each patch reached the class token, by attention rollout; and how alike the
// positions are that it learned.
import { Figure, bar, choice, draw, make, megabytes, percent } from "./figure.js";
import { signed as shown } from "./walk.js";
import { DigitSheet, GarmentSheet, paintGreys } from "./sheets.js";

const ACROSS = 4; // patches in a row
const FIRST = 5; // the patch whose position is compared at first
const HEAD = { class: "lv-head" },
  BUTTON = { type: "button" };
const SHEETS = { digit: DigitSheet, garment: GarmentSheet };

// The greys of an example, which are bytes, in base64.
const greys = ({ image }, { shades }) =>
  Float32Array.from(atob(image), (byte) => byte.charCodeAt(0) / shades);

// The i-th square of `size`, of which `across` make a row.
const square = (i, across, size = 1) => ({
  x: (i % across) * size,
  y: Math.floor(i / across) * size,
  width: size,
  height: size,
});

export class Digits extends Figure {
  constructor(host, options) {
    super(host, options);
    this.kinds = options.kinds.map((kind, i) => ({
      ...kind,
      machine: this.machines[i],
      patch: kind.side / ACROSS,
    }));
    for (const kind of this.kinds) this.equip(kind);
    this.which = choice(
      "What you draw",
      this.kinds.map(({ name }, i) => [i, name]),
    );
    this.which.select.addEventListener("change", () =>
      this.choose(this.kinds[this.which.select.value]),
    );
    this.seen = draw("svg", { class: "lv-seen", role: "img", "aria-label": "What the model sees" });
    this.seen.addEventListener("click", (event) => this.compare(this.patch(event)));
    this.clear = make("button", BUTTON, "Clear");
    this.clear.addEventListener("click", () => this.empty());
    this.reach = make("input", { type: "checkbox", id: "lv-reach", autocomplete: "off" });
    this.reach.addEventListener("change", () => this.paint());
    this.places = Array.from({ length: ACROSS ** 2 }, (_, i) => {
      const button = make("button", BUTTON);
      button.addEventListener("click", () => this.compare(i));
      return button;
    });
    this.verdict = make("p", { class: "lv-about", "aria-live": "polite" });
    this.others = make("ol", { class: "lv-candidates lv-plainlist lv-classes" });
    this.arrange();
    this.start = () => this.take(greys(this.kind.examples[0], this.kind));
    this.choose(this.kinds[0]);
  }

  // A kind of picture gets its sheet, to which a pen listens, and its pictures to begin with.
  equip(kind) {
    kind.sheet = new SHEETS[kind.kind](kind, () => this.look(kind.sheet.image));
    const { field } = kind.sheet,
      at = (event) => this.at(event, field, kind.sheet.across);
    field.addEventListener("pointerdown", (event) => this.begin(event, at(event)));
    field.addEventListener("pointermove", (event) => {
      if (this.pen === event.pointerId) kind.sheet.move(at(event));
    });
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"])
      field.addEventListener(end, (event) => this.end(event));
    kind.buttons = kind.examples.map((example) => {
      const button = make(
        "button",
        BUTTON,
        ...(kind.pictured ? [this.picture(example, kind)] : []),
        example.name,
      );
      button.addEventListener("click", () => this.take(greys(example, kind)));
      return button;
    });
    if (kind.pictured) kind.sheet.lend(greys(kind.examples[0], kind));
  }

  picture(example, kind) {
    const { side } = kind;
    const canvas = make("canvas", {
      width: side,
      height: side,
      class: "lv-greys",
      "aria-hidden": "true",
    });
    paintGreys(canvas, greys(example, kind));
    return canvas;
  }

  arrange() {
    this.heads = { draw: make("p", HEAD), seen: make("p", HEAD) };
    this.place = make("div", {}); // of the field
    this.tools = make("div", { class: "lv-row lv-tools" });
    this.examples = make("div", { class: "lv-examples" });
    this.source = make("p", HEAD);
    this.show(
      this.which.whole,
      make(
        "div",
        { class: "lv-drawing" },
        make("div", {}, this.heads.draw, this.place),
        make("div", {}, this.heads.seen, this.seen),
        make("div", { class: "lv-told" }, this.verdict, this.others),
      ),
      this.tools,
      make(
        "div",
        { class: "lv-row" },
        this.clear,
        make(
          "label",
          { class: "lv-check" },
          this.reach,
          " how much of each patch reached the class token",
        ),
      ),
      this.examples,
      this.source,
      make(
        "p",
        { class: "lv-head lv-side" },
        "Positions: press a patch, and see how alike its learned vector is to the others’ (cosine)",
      ),
      make(
        "div",
        { class: "lv-positions", role: "group", "aria-label": "Positions of the patches" },
        ...this.places,
      ),
      this.status,
    );
  }

  // Another kind of picture: what was drawn of the other is kept on its sheet.
  choose(kind) {
    const { sheet } = (this.kind = kind),
      { loaded, bytes } = (this.machine = kind.machine);
    this.pen = undefined; // its end would go to a field that has left the page
    this.stop();
    this.lay(sheet.image);
    this.forget();
    this.dress(kind);
    const when = "are fetched when you first draw; what you draw stays here.";
    this.say(loaded ? "" : `${megabytes(bytes)} ${when}`);
    if (loaded && sheet.image.some((grey) => grey > 0)) this.look(sheet.image);
  }

  // What stands in the figure for a kind of picture.
  dress({ name, side, sheet, buttons, source, pictured }) {
    this.heads.draw.textContent = `Draw ${name.toLowerCase()} here${pictured ? ", or choose one to change" : ""}`;
    this.heads.seen.textContent = `What the model sees: ${side} × ${side} greys, 16 patches`;
    this.seen.setAttribute("viewBox", `0 0 ${side} ${side}`);
    this.seen.style.setProperty("--line", `${side / 160}px`); // as wide on the screen, whatever the side
    this.place.replaceChildren(sheet.field);
    this.tools.replaceChildren(...sheet.tools);
    this.examples.replaceChildren(...buttons);
    this.source.textContent = source ?? "";
    this.others.classList.toggle("lv-named", Boolean(pictured));
    sheet.press?.();
    this.tellPlaces(FIRST, this.kind.alike[FIRST]);
  }

  empty() {
    this.stop();
    this.kind.sheet.empty();
    this.forget();
    this.say("");
    this.lay(this.kind.sheet.image);
  }

  // A picture of the data set.
  take(image) {
    this.kind.sheet.first = false; // it was chosen, to be changed
    this.kind.sheet.put(image);
    return this.look(image);
  }

  // The point of a field, `across` wide, that an event is at.
  at(event, field, across) {
    const { left, top, width, height } = field.getBoundingClientRect();
    return [((event.clientX - left) / width) * across, ((event.clientY - top) / height) * across];
  }

  // One finger or one button at a time draws.
  begin(event, point) {
    if (event.button || this.pen !== undefined) return;
    event.preventDefault();
    const { sheet } = this.kind;
    if (sheet.strokes?.length === 0 || sheet.first) this.forget(); // the verdict on what stood there before
    sheet.field.setPointerCapture(event.pointerId);
    sheet.begin(point);
    this.pen = event.pointerId;
  }

  end({ pointerId }) {
    if (this.pen !== pointerId) return;
    this.pen = undefined;
    this.kind.sheet.end();
    this.look(this.kind.sheet.image);
  }

  forget() {
    this.verdict.textContent = "";
    this.others.replaceChildren();
  }

  // An image to be seen that nothing is known of yet.
  lay(image) {
    this.image = image;
    this.reached = null;
    this.paint();
  }

  async look(image) {
    if (!this.machine.loaded) this.forget();
    this.lay(image);
    const found = await this.run(this.machine, "classify", { image }, () => {});
    if (!found || image !== this.image) return;
    this.reached = found.reached;
    this.paint();
    this.tell([...found.shares]);
  }

  // What the model says: the likeliest class, and each one's share.
  tell(shares) {
    const { classes } = this.kind,
      best = shares.indexOf(Math.max(...shares));
    this.verdict.textContent = `It says: ${classes[best]}`;
    this.others.replaceChildren(
      ...shares.map((share, i) => {
        const kind = i === best ? "drawn" : "plain";
        return make(
          "li",
          {},
          make("span", {}, classes[i]),
          bar(share, kind),
          make("small", {}, percent(share)),
        );
      }),
    );
  }

  // The patch of what the model sees that an event is at.
  patch(event) {
    const whole = (at) => Math.min(ACROSS - 1, Math.max(0, Math.floor(at)));
    const [column, row] = this.at(event, this.seen, ACROSS).map(whole);
    return row * ACROSS + column;
  }

  // How alike the position of one patch is to every other's.
  compare(i) {
    const { patch, sheet, alike } = this.kind;
    sheet.press?.(i, (i % ACROSS) * patch, Math.floor(i / ACROSS) * patch, patch);
    this.tellPlaces(i, alike[i]);
  }

  tellPlaces(i, values) {
    for (const [j, button] of this.places.entries()) {
      button.textContent = shown(values[j]);
      button.setAttribute("aria-label", `patch ${j + 1}: ${shown(values[j])}`);
      button.setAttribute("aria-pressed", i === j);
      button.classList.toggle("lv-less", values[j] < 0);
      button.style.setProperty("--share", Math.abs(values[j]).toFixed(4));
    }
  }

  // The greys, the borders of the patches and, if asked for, each patch's part in the class token.
  paint() {
    const { side, patch } = this.kind;
    const squares = [...this.image].map((grey, i) =>
      draw("rect", { ...square(i, side), "fill-opacity": grey.toFixed(3) }),
    );
    const frames = this.places.map((_, i) =>
      this.frame(i, draw("rect", { ...square(i, ACROSS, patch), class: "lv-patch" })),
    );
    this.seen.replaceChildren(...squares, ...frames);
  }

  frame(i, rect) {
    const title = draw("title", {}),
      share = this.reached?.[i],
      most = this.reached && Math.max(...this.reached);
    const told = this.reached ? `: ${percent(share)} of what reached the class token` : "";
    title.textContent = `patch ${i + 1}${told}`;
    if (this.reached && this.reach.checked)
      rect.style.fillOpacity = ((0.75 * share) / most).toFixed(3);
    rect.append(title);
    return rect;
  }
}
