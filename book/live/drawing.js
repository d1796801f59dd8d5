// What is drawn with a finger or a mouse, as the library's `data.strokes` has it: a digit as the data set of handwritten
// digits would hold it, and strokes of a soft brush on a picture of clothes. A stroke is a list of points [x, y].
const SIDE = 32,
  BLOCK = 4,
  RADIUS = 2.4; // pixels of the fine picture, of a block, half a pen's width
const BRUSH = 1.3,
  EDGE = 1.2; // of the brush, in pixels: half its width, and how wide it fades

// Strokes as 8 × 8 greys between 0 and 1, row by row: the share of black in each block.
export function digitImage(strokes) {
  const points = strokes.flat();
  if (!points.length) throw new Error("a drawing needs at least one point");
  const [left, top] = [0, 1].map((axis) => Math.min(...points.map((point) => point[axis])));
  const [right, bottom] = [0, 1].map((axis) => Math.max(...points.map((point) => point[axis])));
  const scale = (SIDE - 2 * RADIUS) / Math.max(right - left, bottom - top, 1e-9);
  const middle = [(left + right) / 2, (top + bottom) / 2];
  const fit = (point) => point.map((at, axis) => (at - middle[axis]) * scale + SIDE / 2);
  const lines = segments(strokes.map((stroke) => stroke.map(fit)));
  const blocks = SIDE / BLOCK,
    image = new Float32Array(blocks ** 2);
  for (let row = 0; row < SIDE; row++) {
    for (let column = 0; column < SIDE; column++) {
      const black = lines.some((line) => distance([column + 0.5, row + 0.5], line) <= RADIUS);
      if (black)
        image[Math.floor(row / BLOCK) * blocks + Math.floor(column / BLOCK)] += 1 / BLOCK ** 2;
    }
  }
  return image;
}

// A square picture with one stroke, its points in pixels: `grey` along it, less and less towards the brush's edge.
// Grey 0 rubs out.
export function brushed(image, stroke, grey) {
  const lines = segments([stroke]),
    side = Math.sqrt(image.length);
  return image.map((before, i) => {
    const middle = [(i % side) + 0.5, Math.floor(i / side) + 0.5];
    const far = Math.min(...lines.map((line) => distance(middle, line)));
    return before + (grey - before) * Math.min(1, Math.max(0, (BRUSH + EDGE / 2 - far) / EDGE));
  });
}

// A square picture moved by whole pixels: what leaves is lost, and what comes in is 0.
export function moved(image, right, down) {
  const side = Math.sqrt(image.length),
    inside = (at) => at >= 0 && at < side;
  return image.map((_, i) => {
    const x = (i % side) - right,
      y = Math.floor(i / side) - down;
    return inside(x) && inside(y) ? image[y * side + x] : 0;
  });
}

// What strokes consist of: from one point to the next; a stroke of one point is a segment, too.
function segments(strokes) {
  return strokes.flatMap((stroke) => {
    const ends = stroke.length === 1 ? stroke : stroke.slice(1);
    return ends.map((end, i) => [stroke[i], end]);
  });
}

// From a point to the nearest one of a segment.
function distance([x, y], [[fromX, fromY], [toX, toY]]) {
  const alongX = toX - fromX,
    alongY = toY - fromY;
  const share =
    ((x - fromX) * alongX + (y - fromY) * alongY) / Math.max(alongX ** 2 + alongY ** 2, 1e-12);
  const kept = Math.min(1, Math.max(0, share));
  return Math.hypot(x - fromX - kept * alongX, y - fromY - kept * alongY);
}
