// A picture that follows a slider. Before this script stands a <div> with the numbers (attribute data-numbers), the style, and a
// table to be read without scripts. The script gives the div a shadow: a tree of its own, with the slider and an SVG.
(() => {
  "use strict";

  const make = (tag, attributes = {}, ...children) => put(document.createElement(tag), attributes, children);
  const draw = (tag, attributes = {}, ...children) => put(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
  function put(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }

  // The shares of the scores at one value; as the library's softmax.
  function softmax({ scores, by }, value) {
    const changed = scores.map((score) => (by === "factor" ? score * value : score / value));
    const top = Math.max(...changed), parts = changed.map((score) => Math.exp(score - top));
    const sum = parts.reduce((a, b) => a + b, 0);
    return parts.map((part) => part / sum);
  }

  // {svg, paint}: bars, and how to draw them at a value. A temperature is chosen on a scale of ratios.
  function bars(start) {
    const { names } = start, heated = start.by === "temperature", wide = 640 / names.length, high = 180, top = 20;
    const shapes = names.map((name, i) => ({
      bar: draw("rect", { x: (i + 0.15) * wide, width: 0.7 * wide, rx: 2 }),
      number: draw("text", { x: (i + 0.5) * wide }),
      name: draw("text", { x: (i + 0.5) * wide, y: top + high + 18, class: "dl-quiet" }, name),
    }));
    const svg = draw("svg", { viewBox: `0 0 640 ${top + high + 26}`, role: "img" },
      draw("line", { x1: 0, x2: 640, y1: top + high, y2: top + high, class: "dl-base" }), ...shapes.flatMap((shape) => Object.values(shape)));
    return {
      svg,
      paint(value) {
        const shares = softmax(start, value);
        shares.forEach((share, i) => {
          const height = Math.max(1, share * high);
          put(shapes[i].bar, { y: top + high - height, height }, []);
          put(shapes[i].number, { y: top + high - height - 5 }, []).replaceChildren(share.toFixed(2));
        });
        const largest = `Largest share ${Math.max(...shares).toFixed(3)}`;
        if (!heated) return `${largest}, smallest ${Math.min(...shares).toFixed(3)}.`;
        const entropy = -shares.reduce((sum, p) => sum + (p > 0 ? p * Math.log(p) : 0), 0);
        return `${largest}; entropy ${entropy.toFixed(2)} of ${Math.log(shares.length).toFixed(2)} nats.`;
      },
    };
  }

  // {svg, paint}: clocks, and how to set them to a position, which need not be whole while they run.
  function clocks({ frequencies }) {
    const n = frequencies.length, radius = Math.min(70, 300 / n), wide = 640 / n, y = radius + 6;
    const hands = frequencies.map((_, i) => draw("line", { x1: (i + 0.5) * wide, y1: y }));
    const svg = draw("svg", { viewBox: `0 0 640 ${2 * radius + 52}`, role: "img", class: "dl-clocks" }, ...frequencies.flatMap((omega, i) => {
      const x = (i + 0.5) * wide;
      return [draw("circle", { cx: x, cy: y, r: radius }), hands[i],
        draw("text", { x, y: 2 * radius + 28 }, n > 4 ? `${2 * i}, ${2 * i + 1}` : `dimensions ${2 * i}, ${2 * i + 1}`),
        draw("text", { x, y: 2 * radius + 46, class: "dl-quiet" }, `ω = ${Number(omega.toPrecision(3))}`)];
    }));
    return {
      svg,
      paint(position) {
        const vector = frequencies.flatMap((omega, i) => {
          const [sine, cosine] = [Math.sin(position * omega), Math.cos(position * omega)];
          put(hands[i], { x2: (i + 0.5) * wide + 0.92 * radius * sine, y2: y - 0.92 * radius * cosine }, []);
          return [sine, cosine];
        });
        return `PE = (${vector.map((x) => x.toFixed(2).replace("-", "−")).join(", ")})`;
      },
    };
  }

  function build(host) {
    const start = JSON.parse(host.dataset.numbers), { title, most } = start;
    const runs = start.kind === "clocks", heated = start.by === "temperature";
    const picture = runs ? clocks(start) : bars(start);
    // The slider of a temperature moves by equal ratios: between 0.1 and 1 lies as much as between 1 and 10. Its 200 steps are counted
    // from where it begins, so that one can come back there.
    const steps = (end) => Math.round((200 * Math.abs(Math.log(end / start.start))) / Math.log(most / start.least));
    const [low, high] = heated ? [-steps(start.least), steps(most)] : [runs ? 0 : start.least, most];
    const towards = (end, part) => start.start * (end / start.start) ** part;
    const fromSlider = (place) => (!heated ? place : place < 0 ? towards(start.least, place / low) : towards(most, place / (high || 1)));
    const slider = make("input", { type: "range", min: low, max: high, step: runs || heated ? 1 : 0.1, value: heated ? 0 : start.start });
    const number = make("output"), says = make("p", { class: "dl-says" });
    const name = runs ? "position" : heated ? "temperature" : "scores multiplied by";
    const bar = make("div", { class: "dl-bar" }, make("label", {}, name, slider, number));

    function paint(value) {
      const shown = runs ? String(Math.floor(value)) : value.toFixed(2);
      number.textContent = shown;
      slider.setAttribute("aria-valuetext", shown);
      says.textContent = picture.paint(value);
      picture.svg.setAttribute("aria-label", `${name} ${shown}. ${says.textContent}`);
    }

    slider.addEventListener("input", () => { halt(); paint(fromSlider(Number(slider.value))); });
    let stop;
    const halt = () => { stop?.(); stop = undefined; if (runs) play.textContent = "Run"; };
    const play = make("button", { type: "button" }, "Run");
    if (runs) {
      bar.append(play);
      play.addEventListener("click", () => {
        if (stop) { halt(); return; }
        play.textContent = "Pause";
        let position = Number(slider.value) >= most ? 0 : Number(slider.value), before, frame;
        const go = (far) => {
          position = Math.min(most, position + far);
          slider.value = Math.floor(position);
          paint(position);
          if (position >= most) halt();
        };
        if (matchMedia("(prefers-reduced-motion: reduce)").matches) { // single steps
          const steps = setInterval(() => go(1), 900);
          stop = () => clearInterval(steps);
          return;
        }
        const draws = (now) => {
          frame = requestAnimationFrame(draws);
          go(before === undefined ? 0 : Math.min(100, now - before) * 0.002); // two positions a second; none while the page is hidden
          before = now;
        };
        frame = requestAnimationFrame(draws);
        stop = () => cancelAnimationFrame(frame);
      });
    }
    const box = make("div", { class: "dl-box figure-card", role: "group", "aria-label": title }, make("p", { class: "dl-title" }, title), bar, picture.svg, says);
    host.attachShadow({ mode: "open" }).append(host.querySelector("style").cloneNode(true), box, make("slot"));
    paint(start.start);
  }

  // The same dial may stand on a page twice, and a notebook may run this script again: each div is taken over once.
  for (const host of document.querySelectorAll('.dial[data-dial="WIDGET_ID"]')) {
    if (!host.shadowRoot && host.dataset.numbers) build(host);
  }
})();
