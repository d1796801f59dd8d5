// Places in a Transformer, from the whole of it down to one product. A place is a list of names and numbers, all counted from 0:
//   []                                             the whole
//   [side, i]                                      the vector of token i where it enters; side: "source" or "target"
//   [stack, block]                                 one block; stack: "encoder" or "decoder"
//   [stack, block, attention]                      its heads; attention: "self_attention" or "cross_attention"
//   [stack, block, attention, head(, query(, key(, number)))]  number: which of a query's numbers, and of a key's
//   [stack, block, attention, "mix", i]            the heads' outputs of token i, mixed by W_O
//   [stack, block, "feed_forward", i(, unit)]
//   [stack, block, sublayer, "norm" | "add", i]    the LayerNorm before a sublayer, the sum behind it
//   [stack, "norm", i]                             the LayerNorm behind the last block
//   ["output", step(, candidate)]                  the scores of the next token, and one of them
const STEPS = ["norm", "add", "mix"];
export const SUBLAYERS = {
  encoder: ["self_attention", "feed_forward"],
  decoder: ["self_attention", "cross_attention", "feed_forward"],
};
const SAID = {
  self_attention: "self-attention",
  cross_attention: "cross-attention",
  feed_forward: "feed-forward",
};
export const said = (sublayer) => SAID[sublayer];
const isStack = (word) => Object.hasOwn(SUBLAYERS, word);

// What is to be seen there: the name of its view; undefined where there is no such kind of place.
export function kind(place) {
  const [first, second, third, fourth] = place,
    n = place.length;
  if (n === 0) return "whole";
  if (first === "source" || first === "target") return n === 2 ? "embedding" : undefined;
  if (first === "output") return { 2: "output", 3: "score" }[n];
  if (!isStack(first)) return undefined;
  if (second === "norm") return n === 3 ? "norm" : undefined;
  if (n === 2) return "block";
  if (!SUBLAYERS[first].includes(third)) return undefined;
  if (n === 5 && STEPS.includes(fourth))
    return fourth === "mix" && third === "feed_forward" ? undefined : fourth;
  if (STEPS.includes(fourth)) return undefined;
  if (third === "feed_forward") return { 4: "feed_forward", 5: "unit" }[n];
  return { 3: "attention", 4: "head", 5: "query", 6: "key", 7: "product" }[n];
}

// One step out; of the whole, the whole.
export function outer(place) {
  if (["norm", "add"].includes(kind(place))) return place[1] === "norm" ? [] : place.slice(0, 2);
  let out = place.slice(0, -1);
  while (!kind(out)) out = out.slice(0, -1);
  return out;
}

// From the whole to this place, one after the other.
export const way = (place) => (place.length ? [...way(outer(place)), place] : [place]);

// How many neighbours it has, itself among them; `at`: which of its numbers counts them.
export function row(place, trace) {
  const at = place.findLastIndex((part) => typeof part === "number");
  return at < 0 ? { at, n: 0 } : { at, n: count(place, at, trace) };
}

function count(place, at, { config, source, read, candidates }) {
  const [first, , third] = place,
    tokens = first === "encoder" || first === "source" ? source : read;
  if (first === "output") return at === 1 ? read.length : candidates[place[1]].length;
  if (!isStack(first) || STEPS.includes(place[at - 1])) return tokens.length;
  if (at === 1) return config.n_layers;
  if (third === "feed_forward") return at === 3 ? tokens.length : config.d_ff;
  if (at === 3) return config.n_heads;
  if (at === 4) return tokens.length;
  if (at === 6) return config.d_model / config.n_heads;
  return first === "decoder" && third === "self_attention" ? place[4] + 1 : source.length; // the decoder sees its past alone
}

// The neighbour `step` further, or null where there is none.
export function beside(place, step, trace) {
  const { at, n } = row(place, trace),
    next = place[at] + step;
  if (!(next >= 0 && next < n)) return null;
  return valid(place.with(at, next), trace) ? place.with(at, next) : null;
}

// Is there such a place, in a model that has read this?
export function valid(place, trace) {
  return (
    place.length === 0 ||
    (kind(place) !== undefined &&
      place.every((part, at) =>
        typeof part === "string"
          ? isWord(place, at)
          : Number.isInteger(part) && part >= 0 && part < count(place, at, trace),
      ))
  );
}

// Is it a word that stands where a place has one, and not a number?
function isWord(place, at) {
  if (at === 0) return true; // `kind` knows it
  if (!isStack(place[0])) return false;
  return [["norm"], SUBLAYERS[place[0]], STEPS][at - 1]?.includes(place[at]) ?? false;
}

// The place itself, or the nearest around it that there is.
export function nearest(place, trace) {
  while (place.length && !valid(place, trace)) place = place.slice(0, -1);
  return place;
}

// As the end of the page's address, and back.
export const address = (place) => (place.length ? `#at-${place.join("-")}` : "");
export const fromAddress = (hash) =>
  hash.startsWith("#at-")
    ? hash
        .slice(4)
        .split("-")
        .map((part) => (/^\d+$/.test(part) ? Number(part) : part))
    : [];

// What the place is called, the last step of the way there.
export function name(place, trace) {
  const [first, second] = place,
    last = place.at(-1),
    what = kind(place);
  const tokens = first === "encoder" || first === "source" ? trace?.source : trace?.read,
    word = (i) => `“${tokens?.[i]?.token ?? i}”`;
  switch (what) {
    case "whole":
      return "Transformer";
    case "embedding":
      return `embedding of ${word(last)}`;
    case "block":
      return `${first} block ${second}`;
    case "attention":
      return said(last);
    case "head":
      return `head ${last}`;
    case "query":
      return word(last);
    case "key":
      return `key “${(place[2] === "cross_attention" ? trace.source : tokens)[last].token}”`;
    case "product":
      return `product ${last}`;
    case "mix":
      return `W_O, ${word(last)}`;
    case "feed_forward":
      return `feed-forward, ${word(last)}`;
    case "unit":
      return `unit ${last}`;
    case "norm":
      return second === "norm"
        ? `last LayerNorm of the ${first}, ${word(last)}`
        : `LayerNorm before ${said(place[2])}, ${word(last)}`;
    case "add":
      return `sum behind ${said(place[2])}, ${word(last)}`;
    case "output":
      return `output behind ${word(last)}`;
    default:
      return `score of “${trace.candidates[second][last].token}”`;
  }
}
