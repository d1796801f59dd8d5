// Beam search (chapter 9): the `width` likeliest hypotheses side by side. The library's `n_best`, for one sentence.
import { softmax } from "./tensors.js";

// What a sum of n log probabilities is divided by, so that short sentences do not win by being short.
export const lengthPenalty = (n, alpha) => ((5 + n) / 6) ** alpha;

// A state of which two hypotheses can go on, each by itself.
const copied = (state) => ({
  ...state,
  caches: state.caches.map(({ K, V }) => ({ K: [...K], V: [...V] })),
});
const best = (hypotheses, n) => hypotheses.sort((a, b) => b.score - a.score).slice(0, n);
const LOST = 3; // candidates of a step that are told though they were not kept

// Yields, after each step, {live, ended, lost, of, finished, done, cut}; cut: it had to stop there. A hypothesis is {tokens, score, parent}: `score` of a live
// one, of one that has just ended and of one that lost is its log probability, of a finished one that over the length penalty; `parent` is its place among
// the live of the step before. `lost` are the best of the step's candidates that were not kept; `of`: from how many continuations of how many.
export function* beam(model, source, { width, alpha, begin, end, never = [], longest }) {
  let live = [{ tokens: [], score: 0, state: model.start(source) }],
    finished = [];
  for (let n = 1; n <= longest; n++) {
    const grown = live.flatMap(({ tokens, score, state }, parent) => {
      const going = n > 1 ? copied(state) : state;
      const shares = softmax(model.step(tokens.at(-1) ?? begin, going).scores);
      for (const id of never) shares[id] = 0;
      // each hypothesis has one continuation that ends, so of its own `width + 1` at most are kept
      const likeliest = Array.from(shares.keys())
        .sort((a, b) => shares[b] - shares[a])
        .slice(0, width + 1 + LOST);
      return likeliest.map((id) => ({
        tokens: [...tokens, id],
        score: score + Math.log(shares[id]),
        parent,
        state: going,
      }));
    });
    const begun = live.length,
      candidates = best(grown, 2 * width);
    const ends = ({ tokens }) => tokens.at(-1) === end;
    const ended = candidates.slice(0, width).filter(ends),
      penalty = lengthPenalty(n, alpha);
    finished = best(
      [...finished, ...ended.map((one) => ({ ...one, score: one.score / penalty }))],
      width,
    );
    live = candidates.filter((one) => !ends(one)).slice(0, width);
    const kept = new Set([...live, ...ended]);
    const lost = grown.filter((one) => !kept.has(one) && one.score > -Infinity).slice(0, LOST);
    // done when the best that lives would not be among the finished
    const decided = finished.length === width && live[0].score / penalty <= finished.at(-1).score,
      done = decided || n === longest;
    if (n === longest)
      finished = best(
        [...finished, ...live.map((one) => ({ ...one, score: one.score / penalty }))],
        width,
      );
    yield {
      live: live.map(bare),
      ended: ended.map(bare),
      lost: lost.map(bare),
      of: { begun, each: model.config.vocab_size - never.length },
      finished: finished.map(bare),
      done,
      cut: done && !decided,
    };
    if (done) return;
  }
}

const bare = ({ tokens, score, parent }) => ({ tokens, score, parent });
