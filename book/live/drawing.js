// A digit drawn with a finger or a mouse, as the data set of handwritten digits would hold it: the library's `digit_image`.
const SIDE = 32, BLOCK = 4, RADIUS = 2.4; // pixels of the fine picture, of a block, half a pen's width

// Strokes, each a list of points [x, y], as 8 × 8 greys between 0 and 1, row by row: the share of black in each block.
export function digitImage(strokes) {
  const points = strokes.flat();
  if (!points.length) throw new Error("a drawing needs at least one point");
  const [left, top] = [0, 1].map((axis) => Math.min(...points.map((point) => point[axis])));
  const [right, bottom] = [0, 1].map((axis) => Math.max(...points.map((point) => point[axis])));
  const scale = (SIDE - 2 * RADIUS) / Math.max(right - left, bottom - top, 1e-9);
  const fit = ([x, y]) => [(x - (left + right) / 2) * scale + SIDE / 2, (y - (top + bottom) / 2) * scale + SIDE / 2];
  const segments = strokes.flatMap((stroke) => {
    const fitted = stroke.map(fit);
    return fitted.length === 1 ? [[fitted[0], fitted[0]]] : fitted.slice(1).map((end, i) => [fitted[i], end]);
  });
  const blocks = SIDE / BLOCK, image = new Float32Array(blocks ** 2);
  for (let row = 0; row < SIDE; row++) {
    for (let column = 0; column < SIDE; column++) {
      const black = segments.some((segment) => distance([column + 0.5, row + 0.5], segment) <= RADIUS);
      if (black) image[Math.floor(row / BLOCK) * blocks + Math.floor(column / BLOCK)] += 1 / BLOCK ** 2;
    }
  }
  return image;
}

// From a point to the nearest one of a segment.
function distance([x, y], [[fromX, fromY], [toX, toY]]) {
  const alongX = toX - fromX, alongY = toY - fromY;
  const share = ((x - fromX) * alongX + (y - fromY) * alongY) / Math.max(alongX ** 2 + alongY ** 2, 1e-12);
  const kept = Math.min(1, Math.max(0, share));
  return Math.hypot(x - fromX - kept * alongX, y - fromY - kept * alongY);
}
