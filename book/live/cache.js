// The same text written twice (chapter 9b): without a cache, when every step computes all letters again, and with one, when it
// computes the newest letter alone and finds the keys and values of the others where they were kept.
import { largest } from "./choosing.js";
import { record } from "./recording.js";

class WithoutCache {
  constructor(model, memory) {
    this.model = model;
    this.memory = memory;
  }

  // The scores of the next letter. All that the decoder computes for it is forgotten.
  step(letters) {
    return this.model.read(letters, this.model.behind(this.memory)).at(-1);
  }

  get kept() {
    return 0;
  }
}

class WithCache {
  // `faults`: is every letter put at place 0 (`noPlaces`), and of which positions are key and value lost (`lost`)?
  constructor(model, memory, { noPlaces = false, lost = [] } = {}) {
    Object.assign(this, { model, memory, noPlaces, lost });
  }

  // The same scores. The query of the newest letter is used here, and is not kept.
  step(letters) {
    this.state ??= this.model.behind(this.memory); // the source's keys and values, once
    const { scores } = this.model.step(letters.at(-1), this.state);
    this.forget(letters.length - 1);
    return scores;
  }

  forget(position) {
    if (this.noPlaces) this.state.length = 0;
    if (!this.lost.includes(position)) return;
    for (const { K, V } of this.state.caches) {
      K.pop();
      V.pop();
    }
  }

  // How many numbers of the letters so far are in the cache.
  get kept() {
    return this.state.caches
      .flatMap(({ K, V }) => [...K, ...V])
      .reduce((sum, vector) => sum + vector.length, 0);
  }
}

// The multiplications in what was recorded of a decoder: each number of a matrix with each row; and in attention, for each key that a
// query meets, as many for the score as the key has numbers, and as many for the mean of the values.
function multiplications({ tensors, config }, seen) {
  const dHead = config.d_model / config.n_heads;
  return Object.entries(seen).reduce((sum, [name, rows]) => {
    if (name.endsWith(".weights"))
      return rows.flat().reduce((met, keys) => met + 2 * dHead * keys.length, sum);
    const { shape = [] } = tensors[`${name}.weight`] ?? {};
    return shape.length === 2 ? sum + rows.length * shape[0] * shape[1] : sum;
  }, 0);
}

// The likeliest letter at each step, until the end token: what was computed for it, and what is kept behind it.
function write(writer, { begin, end, most }) {
  const letters = [begin],
    steps = [];
  while (steps.length < most && letters.at(-1) !== end) {
    const { result: scores, seen } = record(writer.model, () => writer.step(letters));
    letters.push(largest(scores, 1)[0]);
    steps.push({
      id: letters.at(-1),
      scores,
      positions: seen["decoder.blocks.0.self_attention.W_K"].length,
      multiplications: multiplications(writer.model, seen),
      kept: writer.kept,
    });
  }
  return steps;
}

// {without, with: the steps of each, differences}: the largest difference of a score in each step for which both had read the same.
export function writeTwice(model, source, { faults, ...marks }) {
  const memory = model.encode(source),
    without = write(new WithoutCache(model, memory), marks),
    withCache = write(new WithCache(model, memory, faults), marks);
  const parted = without.findIndex(({ id }, i) => id !== withCache[i]?.id);
  const differences = without
    .slice(0, parted < 0 ? without.length : parted + 1)
    .map(({ scores }, i) =>
      scores.reduce((most, one, k) => Math.max(most, Math.abs(one - withCache[i].scores[k])), 0),
    );
  return { without, with: withCache, differences };
}
