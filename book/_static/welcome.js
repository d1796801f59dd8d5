// The welcome page's picture answers: a pressed word asks, a slider chooses the head, a list the sentence. The picture that the page
// brings along (book/figures/welcome.py) is drawn again with other numbers, those of welcome.json, fetched when one first touches it. A
// sentence of the reader's own is read by MiniLM here, in a worker, once she presses the button: then the model is fetched.
(() => {
  "use strict";
  const figure = document.querySelector(".picture.welcome");
  if (!figure) return;
  const FONT = 23,
    NUMBER = 14,
    LINE = 205; // as in welcome.py
  const LETTER = 12.2,
    SPACE = 14,
    NARROWEST = 40,
    LEFT = 8; // a word's place, as there
  const SHORTEST = 440,
    WIDEST = 1800, // a line of words; nobody looks along a longer one
    ROOMY = 700, // up to here a telephone shows all of a line, as small as that may be
    SMALLEST = 0.5; // a line of many words gets no smaller than this: it is moved sideways
  const HIGHEST = 204; // an arc, so that it ends below the picture's upper edge
  const HEADS = 12; // a layer
  const VERBS = ["are", "is", "were", "was", "have", "has", "do", "does"]; // they ask first, if a sentence has one
  const file = new URL("welcome.json", document.currentScript.src);
  const [list, slider, where, said] = [
    "select",
    "[type=range]",
    ".welcome-head",
    ".welcome-said",
  ].map((what) => figure.querySelector(what));
  const own = figure.querySelector(".welcome-own"),
    [field, status] = ["input", "output"].map((what) => own.querySelector(what)),
    model = JSON.parse(figure.dataset.model);
  const size = `${(model.bytes / 1e6).toFixed(0)} MB`;
  let sentences = null,
    now = null,
    machine = null,
    turn = null;
  for (const control of [list, slider]) control.shown = control.value;
  const CUT = `The field takes ${field.maxLength} characters; what is longer is cut.`,
    full = () => field.value.length >= field.maxLength;

  offer(figure.querySelectorAll("svg text:not(.muted)"));

  // Each word becomes a button.
  function offer(words) {
    figure.querySelector("svg").setAttribute("role", "group");
    words.forEach((word, i) => {
      word.setAttribute("role", "button");
      word.setAttribute("tabindex", "0");
      word.setAttribute("aria-pressed", String(word.classList.contains("asks")));
      word.addEventListener("click", () =>
        change(() => {
          now.asks = i;
        }, i),
      );
      word.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        change(() => {
          now.asks = i;
        }, i);
      });
    });
  }

  slider.addEventListener("input", () =>
    change(() => {
      now.layer = Math.floor(slider.value / HEADS);
      now.head = slider.value % HEADS;
    }),
  );
  list.addEventListener("change", () => {
    if (turn) status.textContent = ""; // what is being read would come too late
    turn = null;
    change(() => {
      now = { ...sentences[list.selectedIndex] };
    });
  });
  own.addEventListener("submit", (event) => {
    event.preventDefault();
    read(field.value.trim());
  });
  field.addEventListener("input", () => {
    if (full()) status.textContent = CUT;
  });
  status.textContent = `Fetches a model, ${size}, once. What you type stays here.`;

  // Whether the numbers are here, fetched once; if they cannot be had, the controls tell again what the picture shows.
  function ready() {
    ready.promise ??= fetch(file)
      .then((answer) => {
        if (!answer.ok) throw new Error(answer.status);
        return answer.json();
      })
      .then((found) => {
        sentences = found;
        now = { ...found[0] };
        return true;
      })
      .catch(() => {
        ready.promise = undefined;
        for (const control of [list, slider]) control.value = control.shown;
        said.textContent = "The other numbers could not be fetched. Try again.";
        return false;
      });
    return ready.promise;
  }

  const script = () =>
    import(new URL("../live/machine.js", file)).catch(() => {
      throw new Error(
        "its script could not be fetched: there is no connection. Try again when you are online.",
      );
    });

  // A sentence of the reader's own. Only the last one that was asked for is shown.
  async function read(text) {
    const mine = (turn = {}),
      cut = full() ? ` ${CUT}` : "",
      say = (what) => {
        if (turn === mine) status.textContent = what;
      };
    if (!text) {
      say("Type a sentence first.");
      return;
    }
    say(machine?.loaded ? "Reading …" : `Fetching the model, ${size} …`);
    try {
      machine ??= new (await script()).Machine(model);
      await machine.load((share) =>
        say(`Fetching the model: ${Math.round(100 * share)} % of ${size}`),
      );
      say("Reading …");
      const found = await machine.ask("look", { text }).promise;
      if (turn !== mine || !(await ready()) || turn !== mine) return;
      if (found.tokens.length < 4) say("It takes two words, so that one can look at the other.");
      else
        say(
          take(text, found)
            ? `The model is here. What you type stays here.${cut}`
            : "That is too long for one line. Take fewer words.",
        );
    } catch (error) {
      say(`That did not work: ${error.message}`);
    }
  }

  // What MiniLM has read, without the marks around it, becomes one of the list's sentences, if it is not too long. Its verb asks, if it is
  // one of those above, or else its last word: of one that is read in pieces the first.
  function take(text, { tokens, attention }) {
    const words = tokens.slice(1, -1),
      widths = words.map((word) => Math.max(LETTER * word.length, NARROWEST));
    const begins = widths.map(
      (_, i) => LEFT + SPACE * i + widths.slice(0, i).reduce((sum, width) => sum + width, 0),
    );
    const width = Math.round(begins.at(-1) + widths.at(-1) + SPACE);
    if (width > WIDEST) return false;
    const shares = attention.map((heads) =>
      heads.map((rows) =>
        rows
          .slice(1, -1)
          .map((row) => Array.from(row.slice(1, -1), (share) => Math.round(100 * share))),
      ),
    );
    const { layer, head } = now;
    const verb = VERBS.map((word) => words.indexOf(word)).find((i) => i >= 0);
    now = {
      words,
      asks: verb ?? lastWord(words),
      layer,
      head,
      centres: begins.map((begin, i) => Math.round(begin + widths[i] / 2)),
      width,
      shares,
    };
    let at = [...list.options].findIndex((option) => option.text === text);
    if (at < 0) {
      at = list.options.length;
      list.add(new Option(text));
    }
    sentences[at] = { ...now };
    list.selectedIndex = at;
    draw();
    return true;
  }

  function lastWord(words) {
    let at = words.findLastIndex((word) => /[\p{L}\p{N}]/u.test(word));
    while (at > 0 && words[at].startsWith("##")) at -= 1;
    return at < 0 ? words.length - 1 : at;
  }

  async function change(how, focused = null) {
    if (!(await ready())) return;
    how();
    draw();
    if (focused !== null) figure.querySelectorAll("svg text:not(.muted)")[focused].focus();
  }

  function draw() {
    const { words, centres, width, asks, layer, head, shares } = now,
      row = shares[layer][head][asks];
    const made = (tag, attributes, text = "") => {
      const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
      element.textContent = text;
      return element;
    };
    const svg = figure.querySelector("svg"),
      top = LINE - 26;
    const best = [...words.keys()]
      .filter((i) => i !== asks)
      .reduce((most, i) => (row[i] > row[most] ? i : most));
    const far = (i) => Math.abs(centres[i] - centres[asks]),
      strongest = Math.max(...row, 1), // nothing is, where all are 0
      drawn = [...words.keys()].filter((i) => i !== asks && row[i]).sort((i, j) => row[i] - row[j]); // the strongest lies on top
    const steep = Math.min(0.62, HIGHEST / Math.max(...drawn.map(far)));
    const arcs = drawn.map((i) => {
      const height = Math.round(28 + far(i) * steep);
      return made("path", {
        class: "arc",
        "stroke-width": (1.2 + 0.09 * row[i]).toFixed(2),
        opacity: (0.25 + 0.0075 * row[i]).toFixed(4),
        d: `M${centres[asks]} ${top}C${centres[asks]} ${top - height} ${centres[i]} ${top - height} ${centres[i]} ${top}`,
      });
    });
    const letters = words.map((word, i) =>
      made(
        "text",
        {
          ...(i === asks ? { class: "asks" } : row[i] === strongest && { class: "most" }),
          x: centres[i],
          y: LINE,
          "font-size": FONT,
          "text-anchor": "middle",
        },
        word,
      ),
    );
    const numbers = [...words.keys()]
      .filter((i) => row[i])
      .map((i) =>
        made(
          "text",
          {
            class: row[i] === strongest ? "muted most" : "muted",
            x: centres[i],
            y: LINE + 28,
            "font-size": NUMBER,
            "text-anchor": "middle",
          },
          (row[i] / 100).toFixed(2),
        ),
      );
    const rest = 100 - row.reduce((sum, share) => sum + share, 0);
    const title = made(
      "title",
      { id: "welcome-title" },
      `Arcs from "${words[asks]}" to other words; the thickest, ${(row[best] / 100).toFixed(2)}, to "${words[best]}".`,
    );
    const room = Math.max(width, SHORTEST); // a short line stands in the middle, and does not become huge
    svg.setAttribute("viewBox", `${(width - room) / 2} 0 ${room} ${LINE + 38}`);
    svg.style.minWidth = room > ROOMY ? `${Math.round(SMALLEST * room)}px` : "";
    svg.replaceChildren(title, ...arcs, ...letters, ...numbers);
    offer(letters);
    keepInSight(letters[asks]);
    slider.value = layer * HEADS + head;
    where.textContent = `layer ${layer}, head ${head}`;
    said.textContent =
      rest > Math.max(...row)
        ? `“${words[asks]}” gives ${(rest / 100).toFixed(2)} to the two marks around the sentence.`
        : row[best] > row[asks]
          ? `“${words[asks]}” takes most from “${words[best]}”: ${(row[best] / 100).toFixed(2)}.`
          : `“${words[asks]}” takes most from itself: ${(row[asks] / 100).toFixed(2)}.`;
    const pieces = words.some((word) => word.startsWith("##"))
      ? " It reads a rare word in pieces; ## marks one that goes on."
      : "";
    figure.querySelector("figcaption").textContent =
      `How much of each word flows into “${words[asks]}”, measured in one head of MiniLM, a small trained BERT: layer ${layer}, head ${head} (counted from 0).${pieces}`;
  }

  // Of a line that is wider than its place: what asks.
  function keepInSight(word) {
    const place = figure.querySelector(".welcome-line"),
      { left, width } = word.getBoundingClientRect();
    place.scrollLeft +=
      left + width / 2 - place.getBoundingClientRect().left - place.clientWidth / 2;
  }
})();
