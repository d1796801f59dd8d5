// The drawings that one goes into: the whole Transformer, which comes with the page (through.py), and a block with its sublayers.
import { draw, make } from "./figure.js";
import { SUBLAYERS, said } from "./places.js";

const WIDE = 360;

// Parts of a drawing that carry a place become buttons.
export function open(svg, { go }) {
  svg.setAttribute("role", "group");
  for (const node of svg.querySelectorAll("[data-place]")) {
    node.setAttribute("role", "button");
    node.setAttribute("tabindex", "0");
    const start = () =>
      go(
        node.dataset.place.split("-").map((part) => (/^\d+$/.test(part) ? Number(part) : part)),
        node,
      );
    node.addEventListener("click", start);
    node.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      start();
    });
  }
  return svg;
}

// Tokens as two lines of the drawing, as far as they fit.
function lines(tokens, most = 22) {
  const found = [""];
  for (const { token } of tokens) {
    const word = token.replace(/^␣(?=.)/u, ""),
      letters = [...`${found.at(-1)} ${word}`].length;
    if (letters <= most) found[found.length - 1] = `${found.at(-1)} ${word}`.trim();
    else found.push([...word].slice(0, most).join(""));
  }
  return found.length > 2 ? [found[0], `${[...found[1]].slice(0, most - 2).join("")} …`] : found;
}

// The whole: the page's own drawing; of a sentence that was read, its words and the vectors' number.
export function whole(drawing, trace, at) {
  const svg = open(drawing.cloneNode(true), at),
    words = (name, tokens) => {
      const text = svg.querySelector(`[data-says="${name}"]`),
        x = text.getAttribute("x"),
        found = lines(tokens);
      text.replaceChildren(
        ...found.map((line, i) =>
          draw("tspan", { x, dy: i ? 16 : name === "next" ? -16 * (found.length - 1) : 0 }, line),
        ),
      );
    };
  if (trace) {
    words("source", trace.source);
    words("target", trace.read);
    words("next", trace.written);
  }
  return [svg];
}

// A block, read from below: the way around it, and beside it LayerNorm and sublayer, whose sum goes on.
export function block(place, trace, at) {
  const [stack, number] = place,
    names = SUBLAYERS[stack],
    step = 176,
    high = names.length * step + 84,
    x = 96,
    right = 232;
  const bottom = high - 40,
    svg = draw("svg", {
      viewBox: `0 0 ${WIDE} ${high}`,
      class: "lv-whole",
      "aria-label": `The sublayers of ${stack} block ${number}`,
    });
  const text = (x, y, words, kind = "", anchor = "middle") =>
    draw("text", { x, y, "text-anchor": anchor, class: kind }, words);
  const line = (d, kind = "lv-way") => draw("path", { d, class: kind });
  const box = (to, label, y, h, kind, note, of) =>
    draw(
      "g",
      {
        "data-place": to.join("-"),
        class: kind,
        "aria-label": [label, note, of].filter(Boolean).join(" "),
      },
      draw("rect", { x: right - 78, y, width: 172, height: h, rx: 7 }),
      text(right + 8, y + h / 2 + (note ? -3 : 5), label, "lv-name"),
      ...(note ? [" ", text(right + 8, y + h / 2 + 14, note, "lv-note")] : []),
    );
  const notes = {
    self_attention: `${trace.config.n_heads} heads${stack === "decoder" ? ", masked" : ""}`,
    cross_attention: `${trace.config.n_heads} heads; K, V: encoder`,
    feed_forward: `${trace.config.d_ff} units`,
  };
  svg.append(
    line(`M${x} ${bottom + 8}V40`, "lv-way lv-main"),
    draw("path", { d: `M${x} 26l-7 16h14z`, class: "lv-tip" }),
    text(x + 18, 36, "goes on", "lv-note", "start"),
    text(x + 18, bottom + 10, "comes in", "lv-note", "start"),
  );
  names.forEach((name, k) => {
    const low = bottom - 12 - k * step,
      sum = low - 148;
    svg.append(
      line(`M${x} ${low}H${right + 8}V${low - 24}`),
      line(`M${right + 8} ${low - 56}V${low - 70}`),
      line(`M${right + 8} ${low - 122}V${sum}H${x + 20}`),
      draw("path", { d: `M${x + 14} ${sum}l13 -6v12z`, class: "lv-tip" }),
      box(
        [...place, name, "norm", 0],
        "LayerNorm",
        low - 56,
        32,
        "lv-part lv-plainpart",
        "",
        `before ${said(name)}`,
      ),
      box(
        name === "feed_forward" ? [...place, name, 0] : [...place, name],
        said(name),
        low - 122,
        52,
        `lv-part lv-${stack}`,
        notes[name],
      ),
      ...(name === "cross_attention"
        ? [
            line(`M${WIDE} ${low - 96}H${right + 108}`, "lv-memory"),
            draw("path", { d: `M${right + 96} ${low - 96}l13 -6v12z`, class: "lv-keytip" }),
          ]
        : []),
      draw(
        "g",
        {
          "data-place": [...place, name, "add", 0].join("-"),
          class: "lv-part lv-plainpart",
          "aria-label": `+ behind ${said(name)}`,
        },
        draw("circle", { cx: x, cy: sum, r: 14 }),
        text(x, sum + 6, "+", "lv-plus"),
      ),
    );
  });
  return [
    make(
      "p",
      { class: "lv-about" },
      `Read it from below: ${trace.tokens(stack).length} vectors of ${trace.d} numbers, one for each token, go straight up; each sublayer adds something to them. (Pre-norm: LayerNorm stands before the sublayer, not behind the sum.)`,
    ),
    open(svg, at),
  ];
}
