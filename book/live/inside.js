// Inside one vector of the film (at_work.js): how it came about, from its block down to a single product. It takes the film's place;
// the way there is a line of steps, Escape and "Back" lead out again.
import { make } from "./figure.js";
import { looks } from "./inside_head.js";
import { token } from "./inside_token.js";
import { kind, name } from "./places.js";
import { VIEWS } from "./through_views.js";
import { Trace } from "./trace.js";
import { close, crumbs, grow } from "./zooming.js";

const WIDEST = 620; // of a drawing

// The style sheets that only this needs.
const sheets = ["through.css", "inside.css"].map(
  (file) =>
    new Promise((done) => {
      const link = make("link", { rel: "stylesheet", href: new URL(file, import.meta.url).href });
      link.onload = link.onerror = done; // without them it is ugly, and all there
      document.head.append(link);
    }),
);
export const ready = Promise.all(sheets);

// What is seen at a place: in one head of one token more than in the other figure; and the token's way through a block.
const what = (place) => (place[2] === "token" ? "token" : kind(place));
const SEEN = { ...VIEWS, token, query: looks };

// The words as in the film: without the sign of the space before them.
const bare = (tokens) =>
  tokens.map((one) => ({ ...one, token: one.token.replace(/^␣(?=.)/u, "") }));

export class Inside {
  // `left({stack, level, at})`: called when the reader has gone out, with the vector where the way began; `moved()`: when she has
  // gone somewhere else within.
  constructor(trace, left, moved) {
    this.trace = new Trace({ ...trace, source: bare(trace.source), target: bare(trace.target) });
    this.left = left;
    this.moved = moved;
    this.c = 0; // the number of a vector that is looked at, from place to place
    this.steps = make("nav", { class: "lv-steps", "aria-label": "Where you are in the film" });
    this.view = make("div", { class: "lv-view", role: "group", tabindex: "-1" });
    this.note = make("p", { class: "lv-head" });
    this.whole = make("div", {}, this.steps, this.view, this.note);
    this.whole.addEventListener("keydown", (event) => {
      if (
        event.key !== "Escape" ||
        event.altKey ||
        event.ctrlKey ||
        event.metaKey ||
        event.shiftKey
      )
        return;
      event.preventDefault();
      this.out();
    });
    this.wide = 0;
    new ResizeObserver(() => {
      if (!this.path || !this.whole.isConnected || this.room === this.wide) return;
      const { place } = document.activeElement?.dataset ?? {},
        held = this.view.contains(document.activeElement);
      this.paint();
      if (held) this.part(place).focus({ preventScroll: true });
    }).observe(this.whole);
  }

  // Begin at a vector of the film, which stands at a rectangle of the window; or deeper, at the end of a way from there.
  begin(asked, there, path) {
    const { stack, level, at } = asked;
    this.asked = asked;
    this.whole.className = `lv-inside lv-within lv-${stack}`;
    this.path = path
      ? [...path]
      : [
          level === 0
            ? [stack === "encoder" ? "source" : "target", at]
            : [stack, level - 1, "token", at],
        ];
    this.come(there, this.whole);
    this.moved();
  }

  // To the end of another way: out, if it is a part of this one.
  to(path, asked) {
    if (String(path) === String(this.path)) return; // an entry of another figure's
    if (path.length < this.path.length && String(path) === String(this.path.slice(0, path.length)))
      this.out(path.length);
    else this.begin(asked, undefined, path);
  }

  // Further in; a neighbour takes the place of the one that is seen.
  go(place, node) {
    const there = node?.isConnected ? node.getBoundingClientRect() : undefined;
    if (place[0] === "film") {
      const [, stack, level, at] = place,
        { stack: from, level: before } = this.asked;
      if (stack === from && level === before) this.out();
      else this.begin({ stack, level, at }, there);
      return;
    }
    const beside = what(place) === what(this.path.at(-1));
    if (beside) this.path.pop();
    this.path.push(place);
    if (beside) {
      this.paint();
      (this.view.querySelector("[aria-pressed=true]") ?? this.view).focus({ preventScroll: true });
    } else this.come(there);
    this.moved();
  }

  // What is new grows out of a rectangle: the view, or all of it.
  come(there, grows = this.view) {
    this.paint();
    this.view.focus({ preventScroll: true });
    this.whole.scrollIntoView({
      block: this.whole.getBoundingClientRect().top < 0 ? "start" : "nearest",
    });
    if (there) grow(grows, there);
  }

  // Out to a step of the way: 0 is the film.
  out(to = this.path.length - 1) {
    if (to === 0) {
      this.left(this.asked);
      return;
    }
    const from = this.path[to];
    this.path.length = to;
    this.paint();
    const part = this.part(from.join("-"));
    part.focus();
    close(this.view, part.getBoundingClientRect());
    this.moved();
  }

  // The part of the view that leads to a place, or else the view.
  part(place) {
    return this.view.querySelector(`[data-place="${place}"]`) ?? this.view;
  }

  get room() {
    return Math.min(WIDEST, Math.max(270, this.view.clientWidth - 8));
  }

  paint() {
    const { trace } = this,
      place = this.path.at(-1),
      names = this.path.map((one) => this.named(one));
    this.wide = this.room;
    this.view.setAttribute("aria-label", `Inside: ${names.join(", ")}`);
    this.view.dataset.place = place.join("-");
    const at = {
      c: this.c,
      room: this.wide,
      alone: true,
      choose: (c) => {
        this.c = c;
        at.c = c;
      },
      go: (to, node) => this.go(to, node),
    };
    this.view.replaceChildren(...SEEN[what(place)](place, trace, at));
    const back = make("button", { type: "button" }, "Back");
    back.addEventListener("click", () => this.out());
    this.steps.replaceChildren(
      crumbs(["film", ...names], (i) => {
        if (i < this.path.length) this.out(i);
      }),
      make("div", { class: "lv-turns" }, back),
    );
    this.note.textContent = `Escape and “Back” lead out again. Blocks, heads and numbers are counted from 0.${this.view.textContent.includes("␣") ? " The sign ␣ stands for the space in front of a word." : ""}`;
  }

  // A step of the way, by its name.
  named(place) {
    const { trace } = this,
      [stack, block, sublayer] = place,
      last = place.at(-1),
      word = () => `“${trace.tokens(stack)[last].token}”`;
    switch (what(place)) {
      case "token":
        return `${stack} block ${block}, ${word()}`;
      case "embedding":
        return `${word()} comes in`;
      case "query":
        return `${sublayer === "cross_attention" ? "cross-attention, " : ""}head ${place[3]}`;
      case "key":
        return `score with “${trace.keys(sublayer, stack)[last].token}”`;
      case "product":
        return `product ${last}`;
      case "mix":
        return "W_O";
      case "feed_forward":
        return "feed-forward";
      case "norm":
        return "LayerNorm";
      case "add":
        return "sum";
      case "output":
        return "output";
      default:
        return name(place, trace);
    }
  }
}
