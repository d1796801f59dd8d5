// What the models are stacked from: attention, feed-forward, residuals, blocks (chapters 2 to 6), in the order of the library's
// `blocks`, whose names the weights have. Every position that was read leaves its keys and values in a cache (chapter 9).
import { ACTIVATIONS, add, layer, layerNorm, softmax } from "./tensors.js";

// softmax(Q Kᵀ / √d_k) V in every head. Query i stands `before` positions behind the first key's and, where the attention is
// causal, sees the keys up to its own. Returns {outputs, weights}: weights[head][i][j].
export function attention(Q, K, V, nHeads, { causal = false, before = 0 } = {}) {
  const d = Q[0].length / nHeads,
    dV = V[0].length / nHeads;
  const outputs = Q.map(() => new Float32Array(V[0].length)),
    weights = [];
  for (let head = 0; head < nHeads; head++) {
    const from = head * d,
      fromV = head * dV;
    weights.push(
      Q.map((q, i) => {
        const seen = causal ? before + i + 1 : K.length;
        const scores = new Float32Array(seen);
        for (let j = 0; j < seen; j++) {
          let dot = 0;
          for (let c = from; c < from + d; c++) dot += q[c] * K[j][c];
          scores[j] = dot / Math.sqrt(d);
        }
        const shares = softmax(scores),
          output = outputs[i];
        for (let j = 0; j < seen; j++)
          for (let c = fromV; c < fromV + dV; c++) output[c] += shares[j] * V[j][c];
        return shares;
      }),
    );
  }
  return { outputs, weights };
}

// All parts of a model share one object: the tensors by name, and its sizes; and whoever looks on (recording.js).
class Part {
  constructor(model, name) {
    this.model = model;
    this.name = name;
  }

  linear(x, matrix) {
    return this.note(matrix, layer(this.model.tensors, `${this.name}.${matrix}`, x));
  }

  note(what, rows) {
    this.model.seen?.(`${this.name}${what && "."}${what}`, rows);
    return rows;
  }
}

export class MultiHeadAttention extends Part {
  keysValues(context) {
    return { K: this.linear(context, "W_K"), V: this.linear(context, "W_V") };
  }

  attend(query, { K, V }, options) {
    const { outputs, weights } = attention(
      this.linear(query, "W_Q"),
      K,
      V,
      this.model.config.n_heads,
      options,
    );
    this.note("weights", weights);
    return { outputs: this.linear(outputs, "W_O"), weights };
  }

  // Self-attention of the positions x that follow those in the cache, which grows by them.
  attendToPast(x, cache) {
    const before = cache.K.length,
      { K, V } = this.keysValues(x);
    cache.K.push(...K);
    cache.V.push(...V);
    return this.attend(x, cache, { causal: true, before });
  }
}

class FeedForward extends Part {
  apply(x) {
    const activation = ACTIVATIONS[this.model.config.activation];
    return this.linear(
      this.linear(x, "W_1").map((row) => row.map(activation)),
      "W_2",
    );
  }
}

// A way around a sublayer: x + sublayer(LayerNorm(x)), or LayerNorm(x + sublayer(x)).
class Residual extends Part {
  norm(x) {
    const { tensors, config } = this.model;
    return this.note(
      "norm",
      layerNorm(
        x,
        tensors[`${this.name}.norm.weight`],
        tensors[`${this.name}.norm.bias`],
        config.eps,
      ),
    );
  }

  apply(x, sublayer) {
    return this.note(
      "",
      this.model.config.pre_norm ? add(x, sublayer(this.norm(x))) : this.norm(add(x, sublayer(x))),
    );
  }
}

export const emptyCache = () => ({ K: [], V: [] });

const nobody = () => {};

// A block of an encoder; with a cache, of a left-to-right language model. `look` is called with the weights of self-attention.
export class EncoderBlock {
  constructor(model, name) {
    this.selfAttention = new MultiHeadAttention(model, `${name}.self_attention`);
    this.feedForward = new FeedForward(model, `${name}.feed_forward`);
    this.aroundSelfAttention = new Residual(model, `${name}.around_self_attention`);
    this.aroundFeedForward = new Residual(model, `${name}.around_feed_forward`);
  }

  apply(x, cache, look = nobody) {
    const { selfAttention } = this;
    x = this.aroundSelfAttention.apply(x, (y) => {
      const { outputs, weights } = cache
        ? selfAttention.attendToPast(y, cache)
        : selfAttention.attend(y, selfAttention.keysValues(y));
      look(weights);
      return outputs;
    });
    return this.aroundFeedForward.apply(x, (y) => this.feedForward.apply(y));
  }
}

export class DecoderBlock extends EncoderBlock {
  constructor(model, name) {
    super(model, name);
    this.crossAttention = new MultiHeadAttention(model, `${name}.cross_attention`);
    this.aroundCrossAttention = new Residual(model, `${name}.around_cross_attention`);
  }

  // `source`: the keys and values of the memory. `look` is called with the weights of the cross-attention.
  apply(x, cache, source, look = nobody) {
    x = this.aroundSelfAttention.apply(x, (y) => this.selfAttention.attendToPast(y, cache).outputs);
    x = this.aroundCrossAttention.apply(x, (y) => {
      const { outputs, weights } = this.crossAttention.attend(y, source);
      look(weights);
      return outputs;
    });
    return this.aroundFeedForward.apply(x, (y) => this.feedForward.apply(y));
  }
}

// N blocks, and the LayerNorm behind the last where the model has one.
export class Stack {
  constructor(model, name, Block) {
    this.model = model;
    this.name = name;
    this.blocks = Array.from(
      { length: model.config.n_layers },
      (_, i) => new Block(model, `${name}.blocks.${i}`),
    );
  }

  // The vectors before the first block and behind each.
  states(x) {
    return this.blocks.reduce((states, block) => [...states, block.apply(states.at(-1))], [x]);
  }

  apply(x, ...perBlock) {
    const { tensors, config } = this.model,
      weight = tensors[`${this.name}.norm.weight`];
    this.blocks.forEach((block, i) => {
      x = block.apply(x, ...perBlock.map((part) => part[i]));
    });
    if (!weight) return x;
    const normed = layerNorm(x, weight, tensors[`${this.name}.norm.bias`], config.eps);
    this.model.seen?.(`${this.name}.norm`, normed);
    return normed;
  }
}
