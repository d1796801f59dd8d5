// What the mechanisms in motion share: steps that a reader walks through, and numbers with their sign.
import { make, slider } from "./figure.js";

export const signed = (x, digits = 2) =>
  Number(x.toFixed(digits)) === 0 ? (0).toFixed(digits) : x.toFixed(digits).replace("-", "−");

// A slider from 0 to `last`, a button for one step and one that plays and pauses. `paint(step)` is called at every change.
export class Walk {
  constructor(paint, pause = 900) {
    this.paint = paint;
    // milliseconds; who asked for less motion gets single steps
    this.pause = matchMedia("(prefers-reduced-motion: reduce)").matches
      ? Math.max(900, pause)
      : pause;
    this.at = slider(
      "Step",
      { min: 0, max: 0, step: 1, value: 0 },
      (step) => `${step} of ${this.last ?? 0}`,
    );
    this.next = make("button", { type: "button" }, "One step");
    this.play = make("button", { type: "button" }, "Play");
    this.again = make("button", { type: "button" }, "From the start");
    this.whole = make("div", { class: "lv-row" }, this.at.whole, this.next, this.play, this.again);
    this.at.input.addEventListener("input", () => {
      this.halt();
      this.paint(this.step);
    });
    this.next.addEventListener("click", () => {
      this.halt();
      this.go(this.step + 1);
    });
    this.play.addEventListener("click", () => (this.playing ? this.halt() : this.run()));
    this.again.addEventListener("click", () => {
      this.halt();
      this.go(0);
    });
  }

  get step() {
    return Number(this.at.input.value);
  }

  // Another number of steps, and where it stands.
  begin(last, step = 0) {
    this.halt();
    this.last = last;
    this.at.input.max = last; // before the value, which it bounds
    this.go(step);
  }

  go(step) {
    this.at.input.value = Math.min(step, this.last);
    this.at.tell();
    this.next.setAttribute("aria-disabled", this.step === this.last); // not `disabled`: the focus would be lost
    this.paint(this.step);
  }

  // One step more every now and then, from the start if it stood at the end, until the end or another press.
  run() {
    this.play.textContent = "Pause";
    this.go(this.step === this.last ? 0 : this.step + 1);
    this.playing = setInterval(() => {
      if (document.hidden) return; // nobody sees it
      if (this.step + 1 >= this.last) this.halt(); // first: the end is not hushed
      this.go(this.step + 1);
    }, this.pause);
  }

  halt() {
    clearInterval(this.playing);
    this.playing = undefined;
    this.play.textContent = "Play";
  }
}
