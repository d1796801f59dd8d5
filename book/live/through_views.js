// What is to be seen at each kind of place (places.js); a view is told the place, the trace, and `at` (through_vectors.js).
import { attention, head, key, product, query } from "./through_attention.js";
import { block } from "./through_drawings.js";
import { add, embedding, feedForward, mix, norm, output, score, unit } from "./through_vectors.js";

export const VIEWS = {
  block,
  embedding,
  norm,
  add,
  attention,
  head,
  query,
  key,
  product,
  mix,
  feed_forward: feedForward,
  unit,
  output,
  score,
};
