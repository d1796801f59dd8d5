// The welcome page's picture answers: a pressed word asks, a slider chooses the head, a list the sentence. The picture that the page
// brings along (book/figures/welcome.py) is drawn again with other numbers, those of welcome.json, fetched when one first touches it.
(() => {
  "use strict";
  const figure = document.querySelector(".picture.welcome");
  if (!figure) return;
  const FONT = 23, LINE = 205; // as in welcome.py
  const HEADS = 12; // a layer
  const file = new URL("welcome.json", document.currentScript.src);
  const [list, slider, where, said] = ["select", "input", ".welcome-head", ".welcome-said"].map((what) => figure.querySelector(what));
  let sentences = null, now = null;
  for (const control of [list, slider]) control.shown = control.value;

  offer(figure.querySelectorAll("svg text:not(.muted)"));

  // Each word becomes a button.
  function offer(words) {
    figure.querySelector("svg").setAttribute("role", "group");
    words.forEach((word, i) => {
      word.setAttribute("role", "button");
      word.setAttribute("tabindex", "0");
      word.setAttribute("aria-pressed", String(word.classList.contains("asks")));
      word.addEventListener("click", () => change(() => { now.asks = i; }, i));
      word.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        change(() => { now.asks = i; }, i);
      });
    });
  }

  slider.addEventListener("input", () => change(() => {
    now.layer = Math.floor(slider.value / HEADS);
    now.head = slider.value % HEADS;
  }));
  list.addEventListener("change", () => change(() => { now = { ...sentences[list.selectedIndex] }; }));

  // Whether the numbers are here, fetched once; if they cannot be had, the controls tell again what the picture shows.
  function ready() {
    ready.promise ??= fetch(file).then((answer) => {
      if (!answer.ok) throw new Error(answer.status);
      return answer.json();
    }).then((found) => {
      sentences = found;
      now = { ...found[0] };
      return true;
    }).catch(() => {
      ready.promise = undefined;
      for (const control of [list, slider]) control.value = control.shown;
      said.textContent = "The other numbers could not be fetched. Try again.";
      return false;
    });
    return ready.promise;
  }

  async function change(how, focused = null) {
    if (!await ready()) return;
    how();
    draw();
    if (focused !== null) figure.querySelectorAll("svg text:not(.muted)")[focused].focus();
  }

  function draw() {
    const { words, centres, width, asks, layer, head, shares } = now, row = shares[layer][head][asks];
    const made = (tag, attributes, text = "") => {
      const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
      element.textContent = text;
      return element;
    };
    const svg = figure.querySelector("svg"), top = LINE - 26;
    const best = [...words.keys()].filter((i) => i !== asks).reduce((most, i) => (row[i] > row[most] ? i : most));
    const arcs = words.map((_, i) => {
      if (i === asks || !row[i]) return "";
      const height = Math.round(28 + Math.abs(centres[i] - centres[asks]) * 0.62);
      return made("path", {
        class: "arc", "stroke-width": 1 + 0.15 * row[i], opacity: 0.45 + 0.005 * row[i],
        d: `M${centres[asks]} ${top}C${centres[asks]} ${top - height} ${centres[i]} ${top - height} ${centres[i]} ${top}`,
      });
    });
    const letters = words.map((word, i) => made("text", { ...(i === asks && { class: "asks" }), x: centres[i], y: LINE, "font-size": FONT, "text-anchor": "middle" }, word));
    const numbers = words.map((_, i) => made("text", { class: "muted", x: centres[i], y: LINE + 28, "font-size": 18, "text-anchor": "middle" }, row[i] ? (row[i] / 100).toFixed(2) : "0"));
    const rest = 100 - row.reduce((sum, share) => sum + share, 0);
    const title = made("title", { id: "welcome-title" }, `Arcs from "${words[asks]}" to other words; the thickest, ${(row[best] / 100).toFixed(2)}, to "${words[best]}".`);
    svg.setAttribute("viewBox", `0 0 ${width} ${LINE + 46}`);
    svg.replaceChildren(title, ...arcs.filter(Boolean), ...letters, ...numbers);
    offer(letters);
    slider.value = layer * HEADS + head;
    where.textContent = `layer ${layer}, head ${head}`;
    said.textContent = rest > Math.max(...row)
      ? `“${words[asks]}” gives ${(rest / 100).toFixed(2)} to the two marks around the sentence.`
      : row[best] > row[asks] ? `“${words[asks]}” takes most from “${words[best]}”: ${(row[best] / 100).toFixed(2)}.`
        : `“${words[asks]}” takes most from itself: ${(row[asks] / 100).toFixed(2)}.`;
    figure.querySelector("figcaption").textContent =
      `How much of each word flows into “${words[asks]}”, measured in one head of a small trained model: MiniLM, layer ${layer}, head ${head} (counted from 0).`;
  }
})();
