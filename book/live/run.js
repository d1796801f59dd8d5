// One sentence's way through a translator, as the film of it needs it: tokens, weights, a few numbers of every vector, and what else
// might have been written. It comes from what the page computed (ofTrace), or was stored when the site was built (stored: at_work.py).
import { shares } from "./choosing.js";

export const NUMBERS = 12; // of a vector

const sides = {
  tokens(stack) {
    return stack === "encoder" ? this.source : this.read;
  },
};

export function ofTrace(trace) {
  const words = (tokens) => tokens.map(({ token }) => token.replace(/^␣(?=.)/u, "")),
    { n_heads: heads, n_layers: layers } = trace.config;
  const rows = (stack, level) =>
    level === 0
      ? trace.entering(stack)
      : trace.seen[`${stack}.blocks.${level - 1}.around_feed_forward`];
  const candidates = trace.written.map((_, step) => {
    const all = shares(trace.seen[""][step]);
    return trace.candidates[step]
      .slice(0, 3)
      .map(({ id, token }) => ({ token: token.replace(/^␣(?=.)/u, ""), share: all[id] }));
  });
  return {
    ...sides,
    heads,
    layers,
    d: trace.d,
    candidates,
    text: trace.text,
    source: words(trace.source),
    read: words(trace.read),
    written: words(trace.written),
    vectors: (stack, level) => rows(stack, level).map((vector) => [...vector.slice(0, NUMBERS)]),
    weights: (stack, block, attention, head) =>
      trace.weights(stack, block, attention, head).map((row) => [...row]),
  };
}

// Stored, the weights are thousandths, and the vectors hundredths.
export function stored({
  text,
  source,
  read,
  written,
  heads,
  layers,
  d,
  weights,
  vectors,
  candidates,
}) {
  return {
    ...sides,
    heads,
    layers,
    d,
    text,
    source,
    read,
    written,
    candidates: candidates.map((three) => three.map(([token, share]) => ({ token, share }))),
    vectors: (stack, level) =>
      vectors[stack][level].map((vector) => vector.map((value) => value / 100)),
    weights: (stack, block, attention, head) =>
      weights[stack][attention][block][head].map((row) => row.map((value) => value / 1000)),
  };
}
