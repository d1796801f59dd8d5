// The attention lab. Before this script stands a <div> with the numbers (attribute data-numbers), the style, and tables to be read
// without scripts. The script gives the div a shadow: a tree of its own, with boxes for Q, K and V, and computes attention anew
// whenever one of them changes. softmax(Q Kᵀ / √d_k) V, in the order of the chapter. Where the words X and their matrices are given,
// they have boxes, too, and Q = X W_Q, K = X W_K, V = X W_V follow from them until the reader types others.
(() => {
  "use strict";

  function make(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }

  const LARGEST = 1e6;
  const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
  const product = (A, B) => A.map((row) => B[0].map((_, c) => dot(row, B.map((line) => line[c]))));
  const copy = (matrix) => matrix.map((row) => [...row]);
  const shown = (x) => (Math.abs(x) < 0.005 ? "0.00" : x.toFixed(2).replace("-", "−"));
  const isNumber = (x) => Number.isFinite(x) && Math.abs(x) <= LARGEST;

  // Scores, weights and outputs; a score that may not be seen is null.
  function attention({ Q, K, V }, scale, causal) {
    const factor = scale ? 1 / Math.sqrt(Q[0].length) : 1;
    const scores = Q.map((q, i) => K.map((k, j) => (causal && j > i ? null : dot(q, k) * factor)));
    const weights = scores.map((row) => {
      const top = Math.max(...row.filter((s) => s !== null)); // softmax is the same without it, and cannot overflow with it
      const parts = row.map((s) => (s === null ? 0 : Math.exp(s - top)));
      const sum = parts.reduce((a, b) => a + b, 0);
      return parts.map((part) => part / sum);
    });
    return { scores, weights, output: product(weights, V) };
  }

  function build(host) {
    const start = JSON.parse(host.dataset.numbers);
    const { tokens, asked, told, features, title } = start;
    const n = tokens.length;
    const numbered = (names, c) => (names[c] === String(c + 1) ? `number ${c + 1}` : names[c]);
    // For each matrix with boxes: its caption, its rows and columns, its colour, and what one of its boxes is called.
    const vectors = (name, caption, columns) => ({
      caption: [caption], rows: tokens, columns, part: name, called: (r, c) => `${name} of ${tokens[r]}, ${numbered(columns, c)}`,
    });
    const maker = (letter, part, columns) => ({
      caption: ["W", make("sup", {}, letter)], rows: features, columns, part,
      called: (r, c) => `W ${letter} from ${numbered(features, r)} to ${numbered(columns, c)}`,
    });
    const kinds = { Q: vectors("query", "Queries", asked), K: vectors("key", "Keys", asked), V: vectors("value", "Values", told) };
    const from = features ? { Q: "W_Q", K: "W_K", V: "W_V" } : {};
    if (features) {
      kinds.X = { caption: ["Words X"], rows: tokens, columns: features, part: "", called: (r, c) => `${tokens[r]}, ${numbered(features, c)}` };
      for (const [matrix, columns] of [["Q", asked], ["K", asked], ["V", told]]) kinds[from[matrix]] = maker(matrix, kinds[matrix].part, columns);
    }
    const now = Object.fromEntries(Object.keys(kinds).map((matrix) => [matrix, copy(start[matrix])]));
    const boxes = [], lines = [], origins = {};
    let chosen = null; // the box that was last used

    function table(caption, rows, columns, cells, part) {
      const top = make("tr", {}, make("td"), ...columns.map((name) => make("th", { scope: "col" }, name)));
      const body = cells.map((row, i) => make("tr", {}, make("th", { scope: "row" }, rows[i]), ...row));
      const style = part ? `--part: var(--c-${part}); --ground: var(--c-${part}-soft)` : "";
      return make("div", { class: "al-part", style },
        make("table", {}, make("caption", {}, ...caption), make("thead", {}, top), make("tbody", {}, ...body)));
    }

    function inputs(matrix) {
      const { caption, rows, columns, part, called } = kinds[matrix];
      const cells = now[matrix].map((row, r) => row.map((_, c) => {
        const box = make("input", { type: "number", step: "0.1", "aria-label": called(r, c) });
        box.addEventListener("input", () => {
          box.defaultValue = box.value; // from where the arrows count their steps
          now[matrix][r][c] = box.value.trim() === "" ? NaN : Number(box.value);
          follow(matrix);
          compute();
        });
        box.addEventListener("focus", () => choose(box));
        boxes.push({ box, matrix, r, c });
        return make("td", {}, box);
      }));
      origins[matrix] = make("span", { class: "al-origin" });
      const made = table([...caption, ...(from[matrix] ? [origins[matrix]] : [])], rows, columns, cells, part);
      [...made.querySelectorAll("tbody tr")].forEach((row, r) => {
        const says = make("p", { id: `al-${matrix}-${r}` });
        lines.push({ matrix, r, row, says, below: make("tr", { class: "al-need" }, make("td"), make("td", { colspan: columns.length }, says)) });
      });
      return made;
    }

    // What is wrong is said in a line of its own, right below the box in which it was typed.
    function tellBelow() {
      const isWrong = ({ box }) => box.getAttribute("aria-invalid") === "true";
      const needs = ({ box }) => (box.value ? `${box.value} is too far from zero: a million at most.` : "A number is needed here.");
      for (const { matrix, r, row, says, below } of lines) {
        const here = boxes.filter((one) => one.matrix === matrix && one.r === r), wrong = here.filter(isWrong);
        says.textContent = [...new Set(wrong.map(needs))].join(" ");
        for (const { box } of here) box.removeAttribute("aria-describedby");
        for (const { box } of wrong) box.setAttribute("aria-describedby", says.id);
        if (wrong.length) row.after(below);
        else below.remove();
      }
    }

    // Queries, keys or values are computed where the words or their matrix change, and stay as they are where the reader has typed them.
    function follow(changed) {
      for (const [matrix, maker] of Object.entries(from)) {
        if (changed === "X" || changed === maker) {
          if (![...now.X, ...now[maker]].flat().every(isNumber)) continue;
          now[matrix] = product(now.X, now[maker]);
          write(matrix);
          tellOrigin(matrix, maker);
        } else if (changed === matrix) origins[matrix].textContent = ", typed";
      }
    }
    function tellOrigin(matrix, maker) {
      origins[matrix].replaceChildren(" = X W", make("sup", {}, maker.slice(2)));
    }
    function write(matrix) {
      for (const { box, matrix: its, r, c } of boxes) {
        if (its === matrix) box.value = box.defaultValue = String(Number(now[matrix][r][c].toFixed(4)));
      }
    }

    // Under a finger a box has no arrows: two buttons step the one that was touched last.
    function choose(box) {
      chosen?.classList.remove("al-chosen");
      chosen = box;
      chosen.classList.add("al-chosen");
      for (const button of steps) button.disabled = false;
    }
    const steps = [["stepDown", "− 0.1", "0.1 less"], ["stepUp", "+ 0.1", "0.1 more"]].map(([step, sign, says]) => {
      const button = make("button", { type: "button", class: "al-step", "aria-label": `${says} in the box touched last`, disabled: "" }, sign);
      button.addEventListener("click", () => {
        chosen[step]();
        chosen.dispatchEvent(new Event("input"));
      });
      return button;
    });

    const grid = (columns) => tokens.map(() => Array.from({ length: columns }, () => make("td", { class: "al-cell" })));
    const cells = { scores: grid(n), weights: grid(n), output: grid(start.V[0].length) };
    const scale = make("input", { type: "checkbox" });
    const causal = make("input", { type: "checkbox" });
    const says = make("p", { class: "al-says", role: "status" });
    const back = make("button", { type: "button" }, "Start again");
    // Each matrix stands above what it makes.
    const words = features ? [make("div", { class: "al-row" }, inputs("X"))] : [];
    const given = make("div", { class: features ? "al-row al-columns" : "al-row" }, ...[...Object.values(from), "Q", "K", "V"].map(inputs));
    const found = make("div", { class: "al-row" },
      table(["Scores"], tokens, tokens, cells.scores), table(["Weights"], tokens, tokens, cells.weights),
      table(["Output"], tokens, told, cells.output, "value"));

    function compute() {
      const bad = [];
      for (const { box, matrix, r, c } of boxes) {
        const wrong = !isNumber(now[matrix][r][c]);
        box.setAttribute("aria-invalid", wrong);
        if (wrong) bad.push(kinds[matrix].called(r, c));
      }
      tellBelow();
      found.classList.toggle("al-stale", bad.length > 0);
      if (bad.length) {
        const which = bad.length === 1 ? `One box needs a number: “${bad[0]}”` : `${bad.length} boxes need a number, the first is “${bad[0]}”`;
        says.textContent = `${which} (up to a million either way). The tables show what was there before.`;
        return;
      }
      const { scores, weights, output } = attention(now, scale.checked, causal.checked);
      let widest = [0, 0];
      for (let i = 0; i < n; i++) {
        for (let j = 0; j < n; j++) {
          const hidden = scores[i][j] === null;
          cells.scores[i][j].textContent = hidden ? "−∞" : shown(scores[i][j]);
          cells.scores[i][j].classList.toggle("al-hidden-cell", hidden);
          cells.weights[i][j].textContent = weights[i][j].toFixed(2);
          cells.weights[i][j].classList.toggle("al-hidden-cell", hidden);
          cells.weights[i][j].classList.toggle("al-weight", !hidden);
          cells.weights[i][j].style.setProperty("--share", weights[i][j].toFixed(3));
          if (weights[i][j] > weights[widest[0]][widest[1]]) widest = [i, j];
        }
        output[i].forEach((x, c) => { cells.output[i][c].textContent = shown(x); });
      }
      const [i, j] = widest;
      says.textContent = `The largest weight: “${tokens[i]}” gives ${(100 * weights[i][j]).toFixed(0)} % of its attention to ${i === j ? "itself" : `“${tokens[j]}”`}.`;
    }

    function reset() {
      scale.checked = start.scale;
      causal.checked = start.causal;
      for (const matrix of Object.keys(kinds)) {
        now[matrix] = copy(start[matrix]);
        write(matrix);
      }
      for (const [matrix, maker] of Object.entries(from)) tellOrigin(matrix, maker);
      compute();
    }

    for (const box of [scale, causal]) box.addEventListener("change", compute);
    back.addEventListener("click", reset);
    const bar = make("div", { class: "al-bar" },
      make("label", {}, scale, make("span", {}, "divide by √d", make("sub", {}, "k"))), make("label", {}, causal, "hide the future"), ...steps, back);
    const box = make("div", { class: "al-box figure-card", role: "group", "aria-label": title }, make("p", { class: "al-title" }, title), ...words, given, bar, found, says);
    host.attachShadow({ mode: "open" }).append(host.querySelector("style").cloneNode(true), box, make("slot"));
    reset();
  }

  // The same lab may stand on a page twice, and a notebook may run this script again: each div is taken over once.
  for (const host of document.querySelectorAll('.attention-lab[data-lab="WIDGET_ID"]')) {
    if (!host.shadowRoot && host.dataset.numbers) build(host);
  }
})();
