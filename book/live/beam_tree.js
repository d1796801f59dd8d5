// The tree of a beam search: a column for each step, a box for each hypothesis that was kept, joined to the one that it goes on with; below
// those of the last step that is drawn, struck through, the best of the candidates that were not kept.
import { draw } from "./figure.js";
import { signed } from "./walk.js";

const COLUMN = 104,
  ROW = 40,
  BOX = { width: 88, height: 28 },
  ROOT = 20,
  EDGE = 4,
  LETTERS = 11,
  CLOSER = 32, // rows of candidates that were not kept
  HEAD = 18; // above the candidates that were not kept, for a word on them

export const score = (value) => signed(value);
const cut = (token) => {
  const letters = Array.from(token);
  return letters.length > LETTERS ? `${letters.slice(0, LETTERS - 1).join("")}…` : token;
};
const texts = (hypotheses) => hypotheses.map(({ text }) => text).join("; ");
const named = ({ tokens }) => tokens.join();

const x = (n) => ROOT + COLUMN * n + (COLUMN - BOX.width), // of a step's boxes
  y = (place) => EDGE + ROW * place; // of a box that was kept
const taken = ({ live, ended }) => live.length + ended.length;
const needs = (step) =>
  ROW * taken(step) + (step.lost.length ? HEAD + CLOSER * step.lost.length : 0);

// How many steps fit into so many pixels.
export const stepsSeen = (width) => Math.max(1, Math.floor((width - ROOT - EDGE) / COLUMN));

// The tree after the first `last` of all steps. It is as high as it will be at most, so that what is below it stays where it is while it grows;
// or, `cut`, as high as what is drawn.
export function drawTree(all, last, cut) {
  const steps = all.slice(0, last),
    now = all[last - 1];
  const width = ROOT + COLUMN * last + EDGE,
    height = EDGE + Math.max(...(cut ? steps : all).map(needs));
  const parts = boxes(all, last).map(([n, one, top, kind]) => hypothesis(n, one, top, kind));
  const lost = now.lost.length ? `; not kept, among others: ${texts(now.lost)}` : "";
  return draw(
    "svg",
    {
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": `After step ${last}: ${texts(now.live) || "nothing lives on"}${lost}`,
    },
    ...parts.map(({ branch }) => branch),
    ...parts.map(({ node }) => node),
    ...(now.lost.length ? [notKept(last - 1, below(now))] : []),
  );
}

// [step, hypothesis, height, kind] of every box.
function boxes(all, last) {
  const kept = alive(all, last),
    best = new Set(all[last - 1].finished.map(named));
  const found = all
    .slice(0, last)
    .flatMap(({ live, ended }, n) => [
      ...live.map((one, i) => [n, one, y(i), kept[n].has(i) ? "live" : "pruned"]),
      ...ended.map((one, i) => [
        n,
        one,
        y(live.length + i),
        best.has(named(one)) ? "ended" : "pruned",
      ]),
    ]);
  const now = all[last - 1];
  return [...found, ...now.lost.map((one, i) => [last - 1, one, below(now) + CLOSER * i, "lost"])];
}

// Where the first that was not kept stands.
const below = (step) => y(taken(step)) + HEAD;

// What has a descendant at the last step that is drawn, or ended and is among the best: all else was pruned.
function alive(all, last) {
  const steps = all.slice(0, last),
    kept = steps.map(() => new Set());
  const follow = (n, place) => {
    for (; n >= 0 && !kept[n].has(place); n--) {
      kept[n].add(place);
      place = all[n].live[place].parent;
    }
  };
  all[last - 1].live.forEach((_, place) => follow(last - 1, place));
  const best = new Set(all[last - 1].finished.map(named));
  steps.forEach(({ ended }, n) => {
    for (const one of ended) if (best.has(named(one))) follow(n - 1, one.parent);
  });
  return kept;
}

// A box and the line that leads to it.
function hypothesis(n, one, top, kind) {
  const middle = BOX.height / 2,
    [x1, y1] = n ? [x(n - 1) + BOX.width, y(one.parent) + middle] : [ROOT - 6, y(0) + middle],
    [x2, y2] = [x(n), top + middle],
    bend = (x1 + x2) / 2;
  const title = `${one.text || one.token}: ${score(one.score)}`;
  return {
    branch: draw("path", {
      d: `M${x1} ${y1}C${bend} ${y1} ${bend} ${y2} ${x2} ${y2}`,
      class: `lv-branch lv-${kind}`,
    }),
    node: draw(
      "g",
      { class: `lv-node lv-${kind}`, transform: `translate(${x2} ${top})` },
      draw("title", {}, kind === "lost" ? `${title}, not kept` : title),
      draw("rect", { width: BOX.width, height: BOX.height, rx: 6 }),
      draw("text", { x: BOX.width / 2, y: 12, class: "lv-token" }, cut(one.token)),
      draw("text", { x: BOX.width / 2, y: 24, class: "lv-small" }, score(one.score)),
    ),
  };
}

const notKept = (n, top) =>
  draw("text", { x: x(n) + BOX.width / 2, y: top - 6, class: "lv-not-kept" }, "not kept:");
