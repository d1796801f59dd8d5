// The models: a left-to-right language model (chapter 10), the Transformer (chapter 6), BERT (chapter 12) and ViT (chapter 11), from
// the files that come with the library.
import { DecoderBlock, EncoderBlock, Stack, emptyCache } from "./layers.js";
import { ACTIVATIONS, layer, layerNorm, linear, mean, row } from "./tensors.js";

// The sinusoids of position `at` (chapter 4).
export function sinusoids(at, d) {
  return Float32Array.from({ length: d }, (_, c) => {
    const angle = at * 10000 ** (-(c - (c % 2)) / d);
    return c % 2 ? Math.cos(angle) : Math.sin(angle);
  });
}

class Model {
  constructor({ config, tensors }) {
    this.config = config;
    this.tensors = tensors;
  }

  // Refuse what has no vector.
  check(ids, before = 0) {
    const { vocab_size: size, max_len: room } = this.config;
    const at = ids.findIndex((id) => !(id >= 0 && id < size));
    if (at >= 0) throw new Error(`the vocabulary has ids 0 … ${size - 1}, not ${ids[at]}`);
    if (before + ids.length > room)
      throw new Error(`${before + ids.length} tokens are too many: there are ${room} positions`);
  }

  // Tokens as vectors, `before` positions behind the first.
  embed(ids, before = 0) {
    this.check(ids, before);
    const { d_model: d, learned_positions: learned } = this.config;
    const scale = learned ? 1 : Math.sqrt(d),
      words = this.tensors["embedding.weight"];
    const x = ids.map((id, i) => {
      const position = learned
        ? row(this.tensors["positions.positions"], before + i)
        : sinusoids(before + i, d);
      return row(words, id).map((value, c) => value * scale + position[c]);
    });
    this.seen?.("positions", x);
    return x;
  }

  // How well each token of the vocabulary would come next.
  scores(x) {
    const scores = linear(x, this.tensors["embedding.weight"], this.tensors.output_bias);
    this.seen?.("", scores);
    return scores;
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
    return this.behind(this.encode(source));
  }

  encode(source) {
    return this.encoder.apply(this.embed(source));
  }

  behind(memory) {
    const { blocks } = this.decoder;
    return {
      length: 0,
      caches: blocks.map(emptyCache),
      sources: blocks.map((block) => block.crossAttention.keysValues(memory)),
    };
  }

  // Target tokens behind those that `state` holds, all at once under the causal mask: the scores of each one's successor.
  read(ids, state) {
    const x = this.decoder.apply(this.embed(ids, state.length), state.caches, state.sources);
    state.length += ids.length;
    return this.scores(x);
  }

  // One more target token: the scores of its successor, and where it looked: attention[layer][head][j], j a source token.
  step(id, state) {
    const attention = [];
    const looks = this.decoder.blocks.map((_, layer) => (weights) => {
      attention[layer] = weights.map(([only]) => only);
    });
    const x = this.decoder.apply(
      this.embed([id], state.length),
      state.caches,
      state.sources,
      looks,
    );
    state.length += 1;
    return { scores: this.scores(x)[0], attention };
  }
}

// BERT's body and, where the file has it, the head that fills holes (chapters 12 and 13). `prefix`: what its tensors' names begin with.
export class Bert extends Model {
  constructor(file, prefix = "") {
    super(file);
    this.embeddings = `${prefix}embeddings`;
    this.encoder = new Stack(this, `${prefix}encoder`, EncoderBlock);
  }

  // One text as vectors. `looks`: what is told the weights of each layer, [head][i][j]; `segments`: 1 for the tokens of a second text.
  read(ids, looks = [], segments = []) {
    return this.encoder.apply(this.embedded(ids, segments), [], looks);
  }

  // The text's vectors at the input and behind each layer: [state][i].
  states(ids) {
    return this.encoder.states(this.embedded(ids));
  }

  embedded(ids, inSegments = []) {
    this.check(ids);
    const [words, positions, segments] = [
      "tokens.weight",
      "positions.weight",
      "segments.weight",
    ].map((name) => this.tensors[`${this.embeddings}.${name}`]);
    const x = ids.map((id, i) => {
      const position = row(positions, i),
        segment = row(segments, inSegments[i] ?? 0);
      return row(words, id).map((value, c) => value + position[c] + segment[c]);
    });
    return this.norm(x, `${this.embeddings}.norm`);
  }

  // The scores of every word piece at these positions.
  fill(ids, at) {
    const hidden = this.read(ids),
      { tensors } = this;
    const asked = linear(
      at.map((i) => hidden[i]),
      tensors["masked_words.dense.weight"],
      tensors["masked_words.dense.bias"],
    );
    const x = this.norm(
      asked.map((vector) => vector.map(ACTIVATIONS[this.config.activation])),
      "masked_words.norm",
    );
    return linear(x, tensors[`${this.embeddings}.tokens.weight`], tensors["masked_words.bias"]);
  }

  norm(x, name) {
    return layerNorm(
      x,
      this.tensors[`${name}.weight`],
      this.tensors[`${name}.bias`],
      this.config.eps,
    );
  }
}

// BERT's body and a map of sentences: their vectors, of length 1, the mean of these, and two axes (chapter 17).
export class BertWithMap extends Bert {
  constructor(file, { tensors }) {
    super(file);
    this.map = tensors;
  }

  // A text's vector, of length 1, its place along the axes, and its cosines with the map's sentences.
  place(ids) {
    const whole = mean(this.read(ids)),
      length = Math.hypot(...whole),
      vector = whole.map((value) => value / length);
    const [at] = linear([vector.map((value, c) => value - this.map.mean.data[c])], this.map.axes);
    return { vector, at: [...at], cosines: [...linear([vector], this.map.vectors)[0]] };
  }
}

// BERT's body and linear probes of its words, two for each state: one for their tags, one for labels drawn at random (chapter 16b).
export class BertWithProbes extends Bert {
  constructor(file, { config, tensors }) {
    super(file);
    this.probes = tensors;
    this.drawn = new Map(Object.entries(config.drawn)); // of each word that the probes have met, its drawn label
  }

  // The scores of each word's labels, [state][word]. `places`: where each word's pieces stand; its vector is the mean of theirs.
  probe(ids, places) {
    const words = this.states(ids).map((state) =>
      places.map((own) => mean(own.map((i) => state[i]))),
    );
    const scores = (task) =>
      words.map((x, state) =>
        linear(x, this.probes[`${task}.${state}.weight`], this.probes[`${task}.${state}.bias`]),
      );
    return { tag: scores("tag"), control: scores("control") };
  }
}

// BERT's body, the differences of low rank that were learned beside its layers, and a head (chapter 14): `learned`, a file of its own.
export class Adapted extends Bert {
  constructor({ config, tensors }, learned) {
    const beside = Object.entries(learned.tensors).map(([name, tensor]) => [
      name.replace(/^bert\./, ""),
      tensor,
    ]);
    super({ config, tensors: { ...tensors, ...Object.fromEntries(beside) } });
    this.names = learned.config.names;
    this.plain = new Bert({ config, tensors }); // the body as it was published
  }

  // The scores of a text's classes, or of a pair's: the head stands on the pooled vector of [CLS].
  classify(ids, segments) {
    const pooled = layer(this.tensors, "pooler", [this.read(ids, [], segments)[0]]);
    return layer(
      this.tensors,
      "head",
      pooled.map((vector) => vector.map(Math.tanh)),
    )[0];
  }

  // The scores of each token's labels; or of each token as the first and as the last of an answer.
  label(ids, segments) {
    return layer(this.tensors, "head", this.read(ids, [], segments));
  }
}

// The likeliest answer [from, to] among the tokens `first` … `last`, `most` tokens long at the most: the highest start + end.
export function span(scores, first, last, most = 30) {
  let best = [first, first],
    highest = -Infinity;
  for (let i = first; i <= last; i++) {
    for (let j = i; j <= Math.min(last, i + most - 1); j++) {
      const sum = scores[i][0] + scores[j][1];
      if (sum > highest) [best, highest] = [[i, j], sum];
    }
  }
  return best;
}

// An image's patches, row by row, each as one vector; the image is square, of greys, row by row (chapter 11).
export function patches(image, side, size) {
  const found = [];
  for (let top = 0; top < side; top += size) {
    for (let left = 0; left < side; left += size) {
      found.push(
        Float32Array.from(
          { length: size * size },
          (_, i) => image[(top + Math.floor(i / size)) * side + left + (i % size)],
        ),
      );
    }
  }
  return found;
}

// How much of each position reaches the first through all layers: the product of (A + I) / 2, A the mean of a layer's heads.
// `attention`: [layer][head][i][j]. The first row of the library's `rollout`.
export function rollout(attention) {
  const n = attention[0][0].length;
  let first = Float32Array.from({ length: n }, (_, i) => Number(i === 0));
  for (const heads of [...attention].reverse()) {
    first = first.map((kept, j) => {
      let looked = 0;
      for (const head of heads) for (let i = 0; i < n; i++) looked += first[i] * head[i][j];
      return (kept + looked / heads.length) / 2;
    });
  }
  return first;
}

export class ViT extends Model {
  constructor({ config, tensors }) {
    super({ config: { ...config, pre_norm: true }, tensors });
    this.encoder = new Stack(this, "encoder", EncoderBlock);
  }

  // The scores of the classes of one grey image. `looks` as in BERT.
  classify(image, looks = []) {
    const { image_size: side, patch_size: size } = this.config,
      { tensors } = this;
    if (image.length !== side * side)
      throw new Error(`an image has ${side} × ${side} pixels, not ${image.length}`);
    const cut = linear(
      patches(image, side, size),
      tensors["patch_embedding.weight"],
      tensors["patch_embedding.bias"],
    );
    const x = [tensors.class_token.data, ...cut].map((vector, i) => {
      const position = row(tensors.positions, i);
      return vector.map((value, c) => value + position[c]);
    });
    const [first] = this.encoder.apply(x, [], looks);
    return linear([first], tensors["head.weight"], tensors["head.bias"])[0];
  }
}
