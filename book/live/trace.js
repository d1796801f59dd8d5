// What a translator computed for one sentence, as the figure "One sentence, all the way down" asks for it: the numbers that the
// model noted (recording.js), and those from which they were made.
import { SUBLAYERS } from "./places.js";
import { sinusoids } from "./models.js";
import { row } from "./tensors.js";

export class Trace {
  // `source`, `target`: tokens {id, token}; the target begins with <s>, which the decoder reads and does not write.
  constructor(found) {
    Object.assign(this, found);
    this.read = this.target.slice(0, -1);
    this.written = this.target.slice(1);
    this.d = this.config.d_model;
    this.dHead = this.d / this.config.n_heads;
  }

  // The tokens on one side: what the encoder, or the decoder, reads.
  tokens(stack) {
    return stack === "encoder" || stack === "source" ? this.source : this.read;
  }

  // The tokens that are looked at.
  keys(attention, stack) {
    return attention === "cross_attention" ? this.source : this.tokens(stack);
  }

  // The vectors that enter a stack: token times √d, plus position.
  entering(stack) {
    const n = this.source.length;
    return stack === "encoder" ? this.seen.positions.slice(0, n) : this.seen.positions.slice(n);
  }

  // One token's: its row of the matrix, the row times √d, the sinusoids, their sum.
  embedding(side, i) {
    const { id } = this.tokens(side)[i],
      word = row(this.tensors["embedding.weight"], id);
    const scaled = word.map((value) => value * Math.sqrt(this.d));
    return {
      id,
      word,
      scaled,
      position: sinusoids(i, this.d),
      sum: this.entering(side === "source" ? "encoder" : "decoder")[i],
    };
  }

  // The vectors before a sublayer, behind its LayerNorm, what it says, and their sum.
  sublayer(stack, block, name) {
    const names = SUBLAYERS[stack],
      at = names.indexOf(name),
      here = `${stack}.blocks.${block}`;
    const before =
      at > 0
        ? `${here}.around_${names[at - 1]}`
        : `${stack}.blocks.${block - 1}.around_${names.at(-1)}`;
    return {
      x: this.seen[before] ?? this.entering(stack),
      normed: this.seen[`${here}.around_${name}.norm`],
      says: this.seen[`${here}.${name}.${name === "feed_forward" ? "W_2" : "W_O"}`],
      sum: this.seen[`${here}.around_${name}`],
    };
  }

  // A LayerNorm: what comes in, what goes out, γ and β. `place` as in places.js.
  norm(place) {
    const [stack, block, name] = place,
      i = place.at(-1);
    const weights = (prefix) => ({
      gamma: this.tensors[`${prefix}.weight`].data,
      beta: this.tensors[`${prefix}.bias`].data,
    });
    if (block === "norm") {
      const last = `${stack}.blocks.${this.config.n_layers - 1}.around_feed_forward`;
      return {
        x: this.seen[last][i],
        y: this.seen[`${stack}.norm`][i],
        ...weights(`${stack}.norm`),
      };
    }
    const { x, normed } = this.sublayer(stack, block, name);
    return { x: x[i], y: normed[i], ...weights(`${stack}.blocks.${block}.around_${name}.norm`) };
  }

  // One head's part of the rows that a matrix made: "W_Q", "W_K" or "W_V".
  head(stack, block, attention, matrix, head) {
    const rows = this.seen[`${stack}.blocks.${block}.${attention}.${matrix}`];
    return rows.map((vector) => vector.subarray(head * this.dHead, (head + 1) * this.dHead));
  }

  // One query in one head: q; of each key that it may see k, v, the score q · k, z (the score / √d_k) and its share.
  looking(stack, block, attention, head, i) {
    const [Q, K, V] = ["W_Q", "W_K", "W_V"].map((matrix) =>
        this.head(stack, block, attention, matrix, head),
      ),
      shares = this.weights(stack, block, attention, head)[i];
    const scores = Array.from(shares, (_, j) => dot(Q[i], K[j]));
    return {
      q: Q[i],
      k: K.slice(0, shares.length),
      v: V.slice(0, shares.length),
      scores,
      z: scores.map((x) => x / Math.sqrt(this.dHead)),
      shares,
    };
  }

  // Of each query, the shares of the keys.
  weights(stack, block, attention, head) {
    return this.seen[`${stack}.blocks.${block}.${attention}.weights`][head];
  }

  // The heads' outputs side by side, for query i: what W_O mixes.
  outputs(stack, block, attention, i) {
    const all = new Float32Array(this.d);
    for (let head = 0; head < this.config.n_heads; head++)
      all.set(this.output(stack, block, attention, head, i), head * this.dHead);
    return all;
  }

  // One head's output for query i: the values, each times its share.
  output(stack, block, attention, head, i) {
    const V = this.head(stack, block, attention, "W_V", head),
      shares = this.weights(stack, block, attention, head)[i];
    return Float32Array.from({ length: this.dHead }, (_, c) =>
      shares.reduce((sum, share, j) => sum + share * V[j][c], 0),
    );
  }

  // Number c that a layer gives for x: the factors, the bias, and their sum.
  sum(x, layer, c) {
    const weights = row(this.tensors[`${layer}.weight`], c),
      bias = this.tensors[`${layer}.bias`]?.data[c];
    return { a: x, b: weights, bias, total: dot(x, weights) + (bias ?? 0) };
  }
}

export const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
