// One sentence through the whole Transformer: a drawing of it whose parts open, from the blocks down to single products. Where one is
// (places.js) stands in the page's address, in a line of steps, and in `view`; what is seen there is drawn by the views.
import { make, megabytes } from "./figure.js";
import { carried } from "./levels.js";
import { address, beside, fromAddress, kind, name, nearest, outer, way } from "./places.js";
import { whole } from "./through_drawings.js";
import { VIEWS } from "./through_views.js";
import { Trace } from "./trace.js";
import { TwoWays } from "./two_ways.js";
import { close, crumbs, grow } from "./zooming.js";

export class Through extends TwoWays {
  constructor(host, options) {
    super(host, options);
    this.drawing = host.querySelector(".lv-still svg");
    const sentence = this.asks("Your sentence", "Translate, and look inside", () =>
      this.translate(),
    );
    this.found = make("p", {
      class: "lv-translation",
      dir: "auto",
      "aria-live": "polite",
      hidden: "",
    });
    this.steps = make("nav", { class: "lv-steps", "aria-label": "Where you are" });
    this.view = make("div", { class: "lv-view", role: "group", tabindex: "-1" });
    this.inside = make("div", { class: "lv-inside" }, this.steps, this.view);
    this.c = 0; // the number of a vector that is looked at, from place to place
    this.place = [];
    this.wanted = fromAddress(location.hash);
    this.show(
      this.direction.whole,
      sentence,
      this.examples,
      make("div", { class: "lv-row" }, this.go),
      this.status,
      this.found,
      this.beyond,
      make(
        "p",
        { class: "lv-head lv-how" },
        "Click a part, tap it or press Enter to go in; Escape goes out; ← and → lead to the neighbour: block, head or token.",
      ),
      this.inside,
    );
    this.text.addEventListener("input", () => this.forget());
    this.inside.addEventListener("keydown", (event) => this.press(event));
    window.addEventListener("popstate", () => {
      if (!location.hash || location.hash.startsWith("#at-"))
        this.to(fromAddress(location.hash), { push: false });
    });
    document.addEventListener("click", (event) => this.follow(event));
    this.prepare();
    if (kind(this.wanted) && this.wanted.length)
      this.say(
        `The address leads inside: translate a sentence, and it opens there. (${megabytes(this.machine.bytes)} are fetched.)`,
      );
  }

  get verb() {
    return "translate";
  }

  start() {
    return this.translate();
  }

  // Another sentence: the drawing stays, without words.
  forget() {
    super.forget();
    this.tellBeyond([]);
    this.trace = undefined;
    if (this.place.length)
      history.replaceState(history.state, "", location.pathname + location.search);
    this.place = [];
    this.paint();
  }

  async translate(place = this.place.length ? this.place : this.wanted, node) {
    const text = this.typed;
    if (!text) {
      this.forget();
      this.say("Type a sentence first.", true);
      return;
    }
    const found = await this.run(this.machine, "through", { text }, () => {});
    if (!found) return;
    this.trace = new Trace(found);
    this.found.hidden = false;
    this.found.textContent = found.text;
    this.translated(found);
    if (!found.ended) this.say("Cut off here: the model did not end its sentence.");
    this.wanted = [];
    this.place = [];
    this.to(place, { node });
  }

  // Go to a place, from the part of the drawing, or the button, that leads there. Before a sentence was read, read it first.
  to(place, { node, push = true } = {}) {
    if (!this.trace) {
      if (push && place.length) this.translate(place, node);
      return;
    }
    const next = nearest(place, this.trace),
      before = this.place,
      there = node?.isConnected && node.getBoundingClientRect();
    if (String(next) === String(before) && String(next) === String(place) && !push) return;
    const held = this.inside.contains(document.activeElement),
      again = this.again();
    this.place = next;
    if (push && address(next) !== location.hash && String(next) !== String(before))
      history.pushState(carried(), "", address(next) || location.pathname + location.search);
    this.paint();
    if (held || node) (again?.() ?? this.from(before)).focus({ preventScroll: true });
    if (this.inside.getBoundingClientRect().top < 0) this.inside.scrollIntoView({ block: "start" });
    if (there && next.length > before.length) grow(this.view, there);
    else if (next.length < before.length)
      close(this.view, (this.leads(before) ?? this.view).getBoundingClientRect());
  }

  // A link of the page's text that leads inside; it is about the first sentence.
  async follow(event) {
    const link = event.target.closest('a[href^="#at-"]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const place = fromAddress(link.getAttribute("href")),
      { examples } = this.models[0];
    if (!this.trace || this.chosen || this.text.value !== examples[0]) {
      this.direction.select.value = "0";
      this.prepare();
      this.text.value = examples[0];
      await this.translate(place);
    } else this.to(place);
    this.inside.scrollIntoView({ block: "start" });
  }

  paint() {
    const { place, trace } = this,
      at = {
        c: this.c,
        choose: (c) => {
          this.c = c;
        },
        go: (to, node) => this.to(to, { node }),
      };
    this.view.setAttribute("aria-label", name(place, trace));
    this.view.dataset.place = place.join("-");
    this.view.replaceChildren(
      ...(place.length ? VIEWS[kind(place)](place, trace, at) : whole(this.drawing, trace, at)),
    );
    const steps = way(place);
    const [back, on] = [-1, 1].map((step) => {
      const there = trace && beside(place, step, trace),
        button = make(
          "button",
          {
            type: "button",
            class: "lv-beside-button",
            "aria-disabled": there ? null : "true",
            "aria-label": step < 0 ? "The neighbour before" : "The next neighbour",
          },
          step < 0 ? "←" : "→",
        );
      button.addEventListener("click", () => {
        if (there) this.to(there, { node: button });
      });
      return button;
    });
    const out = make(
      "button",
      { type: "button", class: "lv-out", "aria-disabled": place.length ? null : "true" },
      "Out",
    );
    out.addEventListener("click", () => this.to(outer(this.place)));
    this.steps.replaceChildren(
      crumbs(
        steps.map((step) => name(step, trace)),
        (i) => this.to(steps[i]),
      ),
      make("div", { class: "lv-turns" }, back, on, out),
    );
  }

  // What holds the focus will be gone. How to find the same button again: of the neighbours', or the pressed one of a row of tokens.
  again() {
    const { activeElement: now } = document,
      { steps, view } = this,
      turns = [...steps.querySelectorAll(".lv-turns button")].indexOf(now);
    if (turns >= 0) return () => steps.querySelectorAll(".lv-turns button")[turns];
    return now?.matches("[aria-pressed]") && view.contains(now)
      ? () => view.querySelector("[aria-pressed=true]")
      : undefined;
  }

  // Where the focus goes: on the way out, to the part that one comes from; else to the view.
  from(before) {
    return (this.place.length < before.length && this.leads(before)) || this.view;
  }

  // The part of the view that leads to a place: the one whose address has most in common with its, and of several the shortest.
  leads(place) {
    const common = ({ dataset }) => {
      const parts = dataset.place.split("-"),
        differs = parts.findIndex((part, i) => part !== String(place[i]));
      return differs < 0 ? parts.length : differs;
    };
    const far = (part) => 100 * common(part) - part.dataset.place.split("-").length;
    const [best] = [...this.view.querySelectorAll("[data-place]")].sort(
      (one, other) => far(other) - far(one),
    );
    return best && common(best) > this.place.length ? best : undefined;
  }

  press(event) {
    const { key, target } = event;
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (key === "Escape") {
      if (!this.place.length) return;
      event.preventDefault();
      this.to(outer(this.place));
    } else if (["ArrowLeft", "ArrowRight"].includes(key) && target.tagName !== "INPUT") {
      event.preventDefault();
      const step = key === "ArrowLeft" ? -1 : 1;
      if (!this.place.length) this.walk(step);
      else if (this.trace) {
        const there = beside(this.place, step, this.trace);
        if (there) this.to(there);
      }
    }
  }

  // In the whole, which has no neighbour, the arrows go from part to part.
  walk(step) {
    const parts = [...this.view.querySelectorAll("[data-place]")],
      at = parts.indexOf(document.activeElement);
    parts[at < 0 ? 0 : Math.min(parts.length - 1, Math.max(0, at + step))].focus();
  }
}
