// The two models that write: a left-to-right language model (chapter 10) and the Transformer (chapter 6), from the files that come
// with the library.
import { DecoderBlock, EncoderBlock, Stack, emptyCache } from "./layers.js";
import { linear } from "./tensors.js";

// The sinusoids of position `at` (chapter 4).
export function sinusoids(at, d) {
  return Float32Array.from({ length: d }, (_, c) => {
    const angle = at * 10000 ** (-(c - (c % 2)) / d);
    return c % 2 ? Math.cos(angle) : Math.sin(angle);
  });
}

const row = ({ shape: [, width], data }, i) => data.subarray(i * width, (i + 1) * width);

class Model {
  constructor({ config, tensors }) {
    this.config = config;
    this.tensors = tensors;
  }

  // Tokens as vectors, `before` positions behind the first.
  embed(ids, before = 0) {
    const { d_model: d, learned_positions: learned, vocab_size: size, max_len: room } = this.config;
    const unknown = ids.find((id) => !(id >= 0 && id < size));
    if (unknown !== undefined) throw new Error(`the vocabulary has ids 0 … ${size - 1}, not ${unknown}`);
    if (before + ids.length > room) throw new Error(`${before + ids.length} tokens are too many: there are ${room} positions`);
    const scale = learned ? 1 : Math.sqrt(d), words = this.tensors["embedding.weight"];
    return ids.map((id, i) => {
      const position = learned ? row(this.tensors["positions.positions"], before + i) : sinusoids(before + i, d);
      return row(words, id).map((value, c) => value * scale + position[c]);
    });
  }

  // How well each token of the vocabulary would come next.
  scores(x) {
    return linear(x, this.tensors["embedding.weight"], this.tensors.output_bias);
  }
}

export class LanguageModel extends Model {
  constructor(file) {
    super(file);
    this.stack = new Stack(this, "stack", EncoderBlock);
  }

  start() {
    return { length: 0, caches: this.stack.blocks.map(emptyCache) };
  }

  // Read tokens behind those that `state` holds; the scores of each one's successor.
  read(ids, state = this.start()) {
    const x = this.stack.apply(this.embed(ids, state.length), state.caches);
    state.length += ids.length;
    return this.scores(x);
  }
}

export class Transformer extends Model {
  constructor(file) {
    super(file);
    this.encoder = new Stack(this, "encoder", EncoderBlock);
    this.decoder = new Stack(this, "decoder", DecoderBlock);
  }

  // The encoder reads the whole source; every decoder block makes its keys and values of it, once.
  start(source) {
    const memory = this.encoder.apply(this.embed(source));
    const { blocks } = this.decoder;
    return { length: 0, caches: blocks.map(emptyCache), sources: blocks.map((block) => block.crossAttention.keysValues(memory)) };
  }

  // One more target token: the scores of its successor, and where it looked: attention[layer][head][j], j a source token.
  step(id, state) {
    const attention = [];
    const looks = this.decoder.blocks.map((_, layer) => (weights) => { attention[layer] = weights.map(([only]) => only); });
    const x = this.decoder.apply(this.embed([id], state.length), state.caches, state.sources, looks);
    state.length += 1;
    return { scores: this.scores(x)[0], attention };
  }
}
