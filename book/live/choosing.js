// Which token comes next (chapter 9): the shares after temperature, top-k and top-p, and a draw.
import { softmax } from "./tensors.js";

// The distribution that is drawn from. Scores of tokens in `never` are left out first.
export function shares(scores, { temperature = 1, topK = Infinity, topP = 1, never = [] } = {}) {
  if (!(temperature > 0)) throw new Error(`the temperature must be above 0, got ${temperature}`);
  let logits = scores.map((score) => score / temperature);
  for (const id of never) logits[id] = -Infinity;
  if (topK < logits.length) {
    const smallestKept = Float32Array.from(logits).sort().at(-topK);
    logits = logits.map((logit) => (logit < smallestKept ? -Infinity : logit));
  }
  const kept = softmax(logits);
  if (topP >= 1) return kept;
  let before = 0;
  for (const id of largest(kept, kept.length)) {
    const share = kept[id];
    if (before >= topP) logits[id] = -Infinity;
    before += share;
  }
  return softmax(logits);
}

// The logarithm of one token's share; also a share of almost 0 has one.
export function logShare(scores, id) {
  const top = scores.reduce((most, score) => Math.max(most, score), -Infinity);
  return scores[id] - top - Math.log(scores.reduce((sum, score) => sum + Math.exp(score - top), 0));
}

// The ids of the k largest numbers, the largest first.
export function largest(row, k) {
  return Array.from(row.keys())
    .sort((a, b) => row[b] - row[a] || a - b)
    .slice(0, k);
}

// One id, drawn; `random` gives a number from 0 to 1.
export function draw(row, random = Math.random) {
  let left = random();
  const ids = largest(row, row.length);
  return ids.find((id) => (left -= row[id]) < 0) ?? ids[0];
}
