// The whole model at work on one sentence: all tokens of the source climb the encoder together, then the translation climbs the
// decoder word by word. The lines are attention's own weights. A translation that was made while the site was built plays first;
// the reader's own sentence plays as soon as the model has read it. A vector that is pressed can be looked into (inside.js).
import { choice, make, percent } from "./figure.js";
import { Lanes } from "./lanes.js";
import { Levels } from "./levels.js";
import { more } from "./machine.js";
import { NUMBERS, ofTrace, stored } from "./run.js";
import { Trace } from "./trace.js";
import { TwoWays } from "./two_ways.js";
import { Walk } from "./walk.js";
import { animate, close, middle } from "./zooming.js";

const PAUSE = 520; // milliseconds a step, of a film that plays
const MOST = 40; // tokens on one side: more cannot be told apart
const NEAR = 6; // how far the film comes near when a vector opens
const same = (one, other) =>
  String(Object.values(one ?? {})) === String(Object.values(other ?? {})); // vectors

export class AtWork extends TwoWays {
  constructor(host, options) {
    super(host, options);
    this.sees = make("div", {
      class: "lv-scene",
      role: "region",
      "aria-label": "The model",
      tabindex: "0",
    });
    this.stage = make("div", { class: "lv-stage" }, this.sees);
    this.into = make("button", { type: "button", class: "lv-into", hidden: "" }, "Look inside");
    this.into.addEventListener("click", () => this.enter());
    this.found = make("p", { class: "lv-about lv-moment" });
    this.walk = new Walk((step) => this.paint(step), PAUSE);
    this.heads = choice("Attention of", []);
    const sentence = this.asks("Your own sentence", "Translate", () => this.translate());
    const legend = make(
      "p",
      { class: "lv-head" },
      `Read it from below. A box is a vector, ${NUMBERS} of its ${options.run.d} numbers; it is carried on straight up, and a coloured line is what attention adds, the thicker the more; `,
      make("span", { class: "lv-is-key" }, "lines of this colour"),
      " lead from what was read to what is written. Press a box to see its lines alone, and to look inside: there is the arithmetic.",
    );
    this.show(
      legend,
      this.walk.whole,
      this.found,
      this.beyond,
      this.stage,
      make("div", { class: "lv-row" }, this.heads.whole),
      sentence,
      this.examples,
      make("div", { class: "lv-row" }, this.direction.whole, this.go),
      this.status,
    );
    this.heads.select.addEventListener("change", () => this.begin(this.walk.step));
    this.walk.play.addEventListener("click", () => this.hush());
    this.prepare();
    this.levels = new Levels(
      () => this.opened,
      (level) => this.back(level),
    );
    this.take(stored(options.run), { machine: this.machine, text: this.text.value });
    this.walk.begin(this.lanes.moments.length - 1, 0);
    this.width = this.sees.clientWidth;
    new ResizeObserver(() => {
      if (this.inside || this.sees.clientWidth === this.width) return;
      this.width = this.sees.clientWidth;
      this.begin(this.walk.step);
    }).observe(this.sees);
    this.playWhenSeen();
  }

  get verb() {
    return "translate or look inside";
  }

  start() {
    return this.translate();
  }

  // Another sentence is being chosen: the film of the one before stays until there is a new one.
  forget() {
    this.stop();
    if (this.machine.loaded) this.say("");
  }

  // A run, and the heads that it has; of which machine and text it is, and its trace, if there is one by now.
  take(run, of) {
    this.leave();
    this.current = run;
    this.of = of;
    this.heads.select.replaceChildren(
      ...[
        ["", "all heads (their mean)"],
        ...Array.from({ length: run.heads }, (_, h) => [h, `head ${h}`]),
      ].map(([value, text]) => make("option", { value }, text)),
    );
    this.lanes = this.drawn();
  }

  drawn() {
    const { value } = this.heads.select,
      lanes = new Lanes(
        this.current,
        value === "" ? null : Number(value),
        this.sees.clientWidth,
        (node) => this.ask(node),
      );
    this.sees.replaceChildren(make("div", { class: "lv-floor" }, lanes.svg, this.into));
    return lanes;
  }

  // The same run, drawn anew: another head, or another width. A vector that was asked still is.
  begin(step) {
    const { asked } = this,
      held = this.lanes?.svg.contains(document.activeElement);
    this.lanes = this.drawn();
    this.paint(step);
    if (asked) this.ask(asked);
    if (asked && held) this.lanes.node(asked).focus({ preventScroll: true });
  }

  // The first film begins by itself, once, where it is seen; not for those who asked for less motion.
  playWhenSeen() {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const watch = new IntersectionObserver(
      ([{ isIntersecting }]) => {
        if (!isIntersecting) return;
        watch.disconnect();
        if (this.walk.step === 0 && !this.walk.playing) this.walk.run();
      },
      { threshold: 0.6 },
    );
    watch.observe(this.sees);
    this.host.addEventListener("pointerdown", () => watch.disconnect(), { once: true });
    this.host.addEventListener("keydown", () => watch.disconnect(), { once: true });
  }

  // While it plays, nothing is read aloud but its end.
  hush() {
    this.found.setAttribute(
      "aria-live",
      this.walk.playing && this.walk.step < this.walk.last ? "off" : "polite",
    );
  }

  paint(step) {
    if (!this.lanes) return;
    this.leave();
    this.offer(undefined);
    this.lanes.paint(step);
    const moment = this.lanes.moments[step];
    this.hush();
    this.found.replaceChildren(...this.says(moment));
    this.keepInView(this.lanes.where(moment));
  }

  // A long sentence is wider than the page: what happens now stays in sight.
  keepInView([left, right]) {
    const { scrollLeft, clientWidth } = this.sees;
    if (left < scrollLeft || right > scrollLeft + clientWidth)
      this.sees.scrollLeft = left - clientWidth / 3;
  }

  // What is seen now, in words and numbers.
  says({ stack, level, at }) {
    const { current: run } = this;
    if (stack === "encoder") {
      if (level === 0)
        return [
          `Every token becomes a vector of ${run.d} numbers (${NUMBERS} are drawn): a row of a table, and its position.`,
        ];
      const { query, key, share } = this.lanes.strongest(level - 1);
      return [
        `Encoder, ${this.block(level)}: all tokens at once, each takes from all. The strongest line between two: “${run.source[query]}” takes ${share.toFixed(2)} from “${run.source[key]}”.`,
        ...(level === run.layers ? [` All of the decoder can look at the top row.`] : []),
      ];
    }
    const read = run.read[at];
    if (stack === "output") {
      const [first, ...others] = run.candidates[at];
      const last = at === run.read.length - 1,
        chip = ({ token, share }) => [make("code", {}, token), ` ${percent(share)}`];
      return [
        `After “${read}” it writes the likeliest of all tokens: `,
        ...chip(first),
        "; then come ",
        ...others.flatMap((one, i) => [i ? ", " : "", ...chip(one)]),
        ...(last
          ? [
              ". The lines left: where the last block looked most. The translation: ",
              make("b", { dir: "auto" }, run.text),
            ]
          : ["; the others share the rest."]),
      ];
    }
    if (level === 0)
      return [
        at === 0
          ? `The decoder begins: it reads ${read}, which stands in front of every translation.`
          : `What it has just written, “${read}”, it reads now.`,
      ];
    return [`Decoder, ${this.block(level)}: ${this.lanes.told({ stack, level, at })}.`];
  }

  // A block's name: they are counted from 0.
  block(level) {
    return `block ${level - 1} (of 0 to ${this.current.layers - 1})`;
  }

  // A vector that the reader points at: from where it took.
  ask(node) {
    this.walk.halt();
    this.hush();
    const asked = this.lanes.ask(node);
    if (!asked) return this.paint(this.walk.step);
    this.offer(asked);
    const { stack, level, at } = asked;
    this.found.textContent =
      level === 0
        ? `“${this.current.tokens(stack)[at]}” as it comes in: its row of the table, and its position. Point at one further up.`
        : `${stack === "encoder" ? "Encoder" : "Decoder"}, ${this.block(level)}: ${this.lanes.told(asked)}.`;
  }

  // At the vector that is asked stands a button that leads inside.
  offer(asked) {
    if (this.opening) {
      this.stop();
      this.say("");
    }
    this.opening = false;
    this.asked = asked;
    this.into.hidden = !asked;
    if (!asked) return;
    const { x, y } = this.lanes.above(asked);
    this.into.style.left = `${x}px`;
    this.into.style.top = `${y}px`;
    this.into.setAttribute(
      "aria-label",
      `Look inside ${this.lanes.node(asked).getAttribute("aria-label")}`,
    );
  }

  // Into the vector that is asked: the code for it is fetched now, and the model, if it has not come yet.
  async enter(path) {
    const { asked, of } = this,
      code = more("./inside.js").catch((error) => error);
    this.opening = true;
    this.stage.after(this.status);
    if (!of.trace) {
      const found = await this.run(of.machine, "through", { text: of.text }, () => {});
      if (found) of.trace = new Trace(found);
    }
    const { Inside, ready, message } = await code;
    await ready;
    if (!this.opening || this.asked !== asked || !of.trace) return; // the reader did something else meanwhile, or it failed
    this.opening = false;
    if (!Inside) {
      this.say(`That did not work: ${message}`, true);
      return;
    }
    this.say("");
    this.open(
      new Inside(
        of.trace,
        (left) => this.out(left),
        () => this.levels.follow(),
      ),
      asked,
      path,
    );
  }

  // What is open, for the browser's history: the way in, from which vector, and of which translation.
  get opened() {
    const { inside, of, machines } = this;
    return (
      inside && {
        path: inside.path,
        asked: inside.asked,
        text: of.text,
        direction: machines.indexOf(of.machine),
      }
    );
  }

  // Back and Forward: out to a level, out to the film, or in again, as long as it is the same translation; whether it can.
  back(level) {
    const { inside, of } = this,
      isIt = level.text === of.text && this.machines[level.direction] === of.machine;
    if (!level.path) {
      if (inside) this.out(inside.asked);
      return true;
    }
    if (!of.trace || !isIt) return false;
    if (inside) inside.to(level.path, level.asked);
    else {
      if (!same(level.asked, this.asked)) this.ask(level.asked);
      this.enter(level.path);
    }
    return true;
  }

  // The film comes near and goes, while the inside grows out of the vector.
  open(inside, asked, path) {
    const { sees } = this,
      there = this.lanes.node(asked).querySelector("rect").getBoundingClientRect();
    this.leave();
    this.inside = inside;
    this.stage.append(inside.whole);
    const nears = animate(
      sees,
      [
        { opacity: 1, transform: "none" },
        { opacity: 0, transform: `scale(${NEAR})` },
      ],
      middle(sees, there),
      420,
    );
    const away = () => {
      if (this.inside) sees.hidden = true;
    };
    sees.inert = true;
    if (nears) nears.finished.then(away, away);
    else away();
    inside.begin(asked, there, path);
  }

  // Out again, to the vector where one has come to.
  out(asked) {
    const before = this.asked;
    this.leave();
    if (!same(asked, before)) this.ask(asked);
    const node = this.lanes.node(asked);
    this.keepInView(this.lanes.where(asked));
    this.lanes.hold(node);
    close(this.sees, node.getBoundingClientRect(), NEAR);
  }

  // The film stands there again.
  leave() {
    if (!this.inside) return;
    this.inside.whole.remove();
    this.inside = undefined;
    this.levels.follow();
    for (const one of this.sees.getAnimations()) one.cancel();
    this.sees.hidden = this.sees.inert = false;
    if (this.sees.clientWidth !== this.width) {
      this.width = this.sees.clientWidth;
      this.begin(this.walk.step);
    }
  }

  async translate() {
    const text = this.typed;
    if (!text) {
      this.stop();
      this.say("Type a sentence first.", true);
      return;
    }
    this.walk.halt();
    this.opening = false;
    this.go.closest(".lv-row").after(this.status);
    const { machine } = this,
      found = await this.run(machine, "through", { text }, () => {});
    if (!found) return;
    if (Math.max(found.source.length, found.target.length - 1) > MOST) {
      this.say(
        `With their end tokens these are ${found.source.length} tokens and ${found.target.length - 1} of the translation; ${MOST} are the most that can be told apart here. Take a part of it.`,
        true,
      );
      return;
    }
    if (!found.ended) this.say("Cut off here: the model did not end its sentence.");
    this.translated(found);
    const trace = new Trace(found);
    this.take(ofTrace(trace), { machine, text, trace });
    this.walk.begin(this.lanes.moments.length - 1, 0);
    this.walk.run();
  }
}
