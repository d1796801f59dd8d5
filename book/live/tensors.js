// Numbers in a page: a vector is a Float32Array, a matrix an array of vectors, one for each position. Nothing here is fast by
// cleverness; the course's small models do not need it.

// The numbers of a file that `stored` wrote (safetensors): {config, tensors: {name: {shape, data, scale}}}. Halves become single
// precision; a matrix in 8 bits stays as it is, with a scale for each row.
export function readSafetensors(buffer) {
  const length = Number(new DataView(buffer).getBigUint64(0, true));
  const { __metadata__: about, ...entries } = JSON.parse(
    new TextDecoder().decode(new Uint8Array(buffer, 8, length)),
  );
  const tensors = {};
  for (const [
    name,
    {
      dtype,
      shape,
      data_offsets: [start, end],
    },
  ] of Object.entries(entries)) {
    if (8 + length + end > buffer.byteLength)
      throw new Error(
        `the file ends after ${buffer.byteLength} bytes, and ${name} needs ${8 + length + end}`,
      );
    const bytes = buffer.slice(8 + length + start, 8 + length + end);
    if (dtype === "F16") tensors[name] = { shape, data: halves(new Uint16Array(bytes)) };
    else if (dtype === "I8") tensors[name] = { shape, data: new Int8Array(bytes) };
    else throw new Error(`${name} is ${dtype}: numbers of 16 or 8 bits (F16, I8) are expected`);
  }
  for (const name of Object.keys(tensors).filter((name) => name.endsWith(".8bit"))) {
    const plain = name.slice(0, -".8bit".length);
    tensors[plain] = { ...tensors[name], scale: tensors[`${plain}.scale`].data };
  }
  return { config: JSON.parse(about.config ?? about.adapted), tensors };
}

// Row i of a matrix.
export function row({ shape: [, width], data, scale }, i) {
  const numbers = data.subarray(i * width, (i + 1) * width);
  return scale ? Float32Array.from(numbers, (number) => number * scale[i]) : numbers;
}

// A number in half precision: a sign, five bits of exponent, ten bits of fraction.
export function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1,
    exponent = (bits >> 10) & 31,
    fraction = bits & 1023;
  if (exponent === 0) return sign * 2 ** -24 * fraction;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * 2 ** (exponent - 15) * (1 + fraction / 1024);
}

// A loop: several times as fast as Float32Array.from(bits, half).
function halves(bits) {
  const numbers = new Float32Array(bits.length);
  for (let i = 0; i < bits.length; i++) numbers[i] = half(bits[i]);
  return numbers;
}

// The cosine of the angle between two vectors.
export function cosine(a, b) {
  let dot = 0,
    aa = 0,
    bb = 0;
  for (let c = 0; c < a.length; c++) {
    dot += a[c] * b[c];
    aa += a[c] * a[c];
    bb += b[c] * b[c];
  }
  return dot / Math.sqrt(aa * bb);
}

// The mean of several vectors.
export const mean = (rows) =>
  rows[0].map((_, c) => rows.reduce((sum, row) => sum + row[c], 0) / rows.length);

export const add = (x, y) => x.map((row, i) => row.map((value, c) => value + y[i][c]));

// x Wᵀ + b, for every row of x. Four sums go on side by side: one alone would wait for each addition to end before the next.
export function linear(x, { shape: [nOut, nIn], data, scale }, bias) {
  return x.map((row) => {
    const out = new Float32Array(nOut);
    const put = (o, sum) => {
      const whole = scale ? sum * scale[o] : sum;
      out[o] = bias ? whole + bias.data[o] : whole;
    };
    let o = 0;
    for (; o + 4 <= nOut; o += 4) {
      let sum0 = 0,
        sum1 = 0,
        sum2 = 0,
        sum3 = 0;
      for (let i = 0, at = o * nIn; i < nIn; i++, at++) {
        sum0 += row[i] * data[at];
        sum1 += row[i] * data[at + nIn];
        sum2 += row[i] * data[at + 2 * nIn];
        sum3 += row[i] * data[at + 3 * nIn];
      }
      put(o, sum0);
      put(o + 1, sum1);
      put(o + 2, sum2);
      put(o + 3, sum3);
    }
    for (; o < nOut; o++) {
      let sum = 0;
      for (let i = 0, at = o * nIn; i < nIn; i++, at++) sum += row[i] * data[at];
      put(o, sum);
    }
    return out;
  });
}

// A layer by its name and, where one was learned, the product of two thin matrices beside it: W x + b + 2 B A x (chapter 14; the
// library's `tasks.low_rank`, whose α is 2 r).
export function layer(tensors, name, x) {
  const y = linear(x, tensors[`${name}.weight`], tensors[`${name}.bias`]),
    A = tensors[`${name}.A`];
  return A
    ? add(
        y,
        linear(linear(x, A), tensors[`${name}.B`]).map((row) => row.map((value) => 2 * value)),
      )
    : y;
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
  let largest = -Infinity,
    sum = 0;
  for (const value of row) if (value > largest) largest = value;
  const shares = row.map((value) => Math.exp(value - largest));
  for (const share of shares) sum += share;
  return shares.map((share) => share / sum);
}

// The area under the bell curve e^(−x²), up to 2·10⁻⁷ (Abramowitz and Stegun 1964, 7.1.26).
function erf(x) {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const tail =
    t *
    (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  return Math.sign(x) * (1 - tail * Math.exp(-x * x));
}

export const ACTIVATIONS = {
  relu: (x) => Math.max(0, x),
  gelu: (x) => 0.5 * x * (1 + erf(x / Math.SQRT2)),
  gelu_tanh: (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
};
