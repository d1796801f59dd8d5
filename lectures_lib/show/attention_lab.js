// The attention lab. Before this script stands a <div> with the numbers (attribute data-numbers), the style, and tables to be read
// without scripts. The script gives the div a shadow: a tree of its own, with boxes for Q, K and V, and computes attention anew
// whenever one of them changes. softmax(Q Kᵀ / √d_k) V, in the order of the chapter.
(() => {
  "use strict";

  function make(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }

  const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
  const shown = (x) => (Math.abs(x) < 0.005 ? "0.00" : x.toFixed(2).replace("-", "−"));

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
    const output = weights.map((row) => V[0].map((_, c) => row.reduce((sum, w, j) => sum + w * V[j][c], 0)));
    return { scores, weights, output };
  }

  function build(host) {
    const start = JSON.parse(host.dataset.numbers);
    const { tokens, asked, told, title } = start;
    const n = tokens.length;
    const now = { Q: start.Q.map((row) => [...row]), K: start.K.map((row) => [...row]), V: start.V.map((row) => [...row]) };
    const names = { Q: "query", K: "key", V: "value" };
    const boxes = [];

    function table(caption, head, cells, part) {
      const top = make("tr", {}, make("td"), ...head.map((name) => make("th", { scope: "col" }, name)));
      const body = cells.map((row, i) => make("tr", {}, make("th", { scope: "row" }, tokens[i]), ...row));
      const style = part ? `--part: var(--c-${part}); --ground: var(--c-${part}-soft)` : "";
      return make("div", { class: "al-part", style },
        make("table", {}, make("caption", {}, caption), make("thead", {}, top), make("tbody", {}, ...body)));
    }

    function inputs(matrix) {
      const columns = matrix === "V" ? told : asked;
      const numbered = (c) => (columns[c] === String(c + 1) ? `number ${c + 1}` : columns[c]);
      const cells = now[matrix].map((row, r) => row.map((value, c) => {
        const box = make("input", { type: "number", step: "0.5", value, "aria-label": `${names[matrix]} of ${tokens[r]}, ${numbered(c)}` });
        box.addEventListener("input", () => {
          now[matrix][r][c] = box.value.trim() === "" ? NaN : Number(box.value);
          compute();
        });
        boxes.push({ box, matrix, r, c });
        return make("td", {}, box);
      }));
      const what = { Q: "Queries", K: "Keys", V: "Values" };
      return table(what[matrix], columns, cells, names[matrix]);
    }

    const grid = (columns) => tokens.map(() => Array.from({ length: columns }, () => make("td", { class: "al-cell" })));
    const cells = { scores: grid(n), weights: grid(n), output: grid(start.V[0].length) };
    const scale = make("input", { type: "checkbox" });
    const causal = make("input", { type: "checkbox" });
    const says = make("p", { class: "al-says", role: "status" });
    const back = make("button", { type: "button" }, "Start again");
    const given = make("div", { class: "al-row" }, inputs("Q"), inputs("K"), inputs("V"));
    const found = make("div", { class: "al-row" },
      table("Scores", tokens, cells.scores), table("Weights", tokens, cells.weights),
      table("Output", told, cells.output, "value"));

    function compute() {
      let bad = 0;
      for (const { box, matrix, r, c } of boxes) {
        const wrong = !Number.isFinite(now[matrix][r][c]) || Math.abs(now[matrix][r][c]) > 1e6;
        box.setAttribute("aria-invalid", wrong);
        bad += wrong;
      }
      found.classList.toggle("al-stale", bad > 0);
      if (bad) {
        says.textContent = `${bad === 1 ? "One box needs" : `${bad} boxes need`} a number (up to a million either way); the tables show what was there before.`;
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
      for (const { box, matrix, r, c } of boxes) {
        now[matrix][r][c] = start[matrix][r][c];
        box.value = start[matrix][r][c];
      }
      compute();
    }

    for (const box of [scale, causal]) box.addEventListener("change", compute);
    back.addEventListener("click", reset);
    const bar = make("div", { class: "al-bar" },
      make("label", {}, scale, make("span", {}, "divide by √d", make("sub", {}, "k"))), make("label", {}, causal, "hide the future"), back);
    const box = make("div", { class: "al-box", role: "group", "aria-label": title }, make("p", { class: "al-title" }, title), given, bar, found, says);
    host.attachShadow({ mode: "open" }).append(host.querySelector("style").cloneNode(true), box, make("slot"));
    reset();
  }

  // The same lab may stand on a page twice, and a notebook may run this script again: each div is taken over once.
  for (const host of document.querySelectorAll('.attention-lab[data-lab="WIDGET_ID"]')) {
    if (!host.shadowRoot && host.dataset.numbers) build(host);
  }
})();
