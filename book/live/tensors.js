// Numbers in a page: a vector is a Float32Array, a matrix an array of vectors, one for each position. Nothing here is fast by
// cleverness; the course's small models do not need it.

// The numbers of a file that `stored` wrote (safetensors, in half precision), as single precision:
// {config, tensors: {name: {shape, data}}}.
export function readSafetensors(buffer) {
  const length = Number(new DataView(buffer).getBigUint64(0, true));
  const { __metadata__: about, ...entries } = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  const tensors = {};
  for (const [name, { dtype, shape, data_offsets: [start, end] }] of Object.entries(entries)) {
    if (dtype !== "F16") throw new Error(`${name} is ${dtype}: half precision (F16) is expected`);
    const bits = new Uint16Array(buffer.slice(8 + length + start, 8 + length + end));
    tensors[name] = { shape, data: Float32Array.from(bits, half) };
  }
  return { config: JSON.parse(about.config), tensors };
}

// A number in half precision: a sign, five bits of exponent, ten bits of fraction.
export function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, fraction = bits & 1023;
  if (exponent === 0) return sign * 2 ** -24 * fraction;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * 2 ** (exponent - 15) * (1 + fraction / 1024);
}

export const add = (x, y) => x.map((row, i) => row.map((value, c) => value + y[i][c]));

// x Wᵀ + b, for every row of x.
export function linear(x, { shape: [nOut, nIn], data }, bias) {
  return x.map((row) => {
    const out = new Float32Array(nOut);
    for (let o = 0; o < nOut; o++) {
      let sum = 0;
      for (let i = 0, at = o * nIn; i < nIn; i++, at++) sum += row[i] * data[at];
      out[o] = bias ? sum + bias.data[o] : sum;
    }
    return out;
  });
}

// Every row with mean 0 and variance 1, then scaled and shifted as learned.
export function layerNorm(x, weight, bias, eps = 1e-5) {
  return x.map((row) => {
    const mean = row.reduce((a, b) => a + b, 0) / row.length;
    const variance = row.reduce((sum, value) => sum + (value - mean) ** 2, 0) / row.length;
    const scale = 1 / Math.sqrt(variance + eps);
    return row.map((value, i) => (value - mean) * scale * weight.data[i] + bias.data[i]);
  });
}

// exp, divided by the sum; without the largest number it is the same and cannot overflow.
export function softmax(row) {
  let largest = -Infinity, sum = 0;
  for (const value of row) if (value > largest) largest = value;
  const shares = row.map((value) => Math.exp(value - largest));
  for (const share of shares) sum += share;
  return shares.map((share) => share / sum);
}

export const ACTIVATIONS = {
  relu: (x) => Math.max(0, x),
  gelu_tanh: (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
};
