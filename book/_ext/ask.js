// The search of the page "Ask the book": cosines of vectors. Those of the sections and of the examples were computed when the site was
// built, and come in a file of their own once a reader begins; the answer to one example stands in the page when it comes, written as `result`
// writes the others. The vector of a reader's own question is computed here, by MiniLM in a worker.
(() => {
  const told = JSON.parse(document.getElementById("ask-data").textContent);
  const { examples, model } = told;
  const dot = (a, b) => a.reduce((sum, number, i) => sum + number * b[i], 0);
  const cosine = (a, b) => dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));

  const box = document.querySelector(".ask");
  const [words, count, found] = ["#ask-words", "#ask-count", ".ask-found"].map((one) =>
    box.querySelector(one),
  );
  const buttons = [...box.querySelectorAll(".ask-examples button")];
  const NEAR = 0.23; // a best cosine below this is said to be none: every question of the test has a section above it
  const SHOWN = 5; // results of a question

  const element = (name, attributes, ...children) => {
    const made = Object.assign(document.createElement(name), attributes);
    made.append(...children);
    return made;
  };
  // A text; as HTML where its letters have something below or above them.
  const printed = (name, text, html) =>
    Object.assign(document.createElement(name), html ? { innerHTML: html } : { textContent: text });
  const slug = (text) =>
    text
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, "");
  const number = (value) => value.toFixed(2).replace("-", "−");

  // What questions are compared with, fetched once: the sections, and a function that gives the vector of an example or a section.
  let fetched;
  const sections = () => (fetched ??= fetchSections());
  async function fetchSections() {
    try {
      await new Promise((onload, onerror) =>
        document.head.append(element("script", { src: told.sections, onload, onerror })),
      );
    } catch {
      fetched = undefined; // the next question tries again
      throw new Error(
        "the sections could not be fetched: there is no connection. Try again when you are online.",
      );
    }
    const { sections, vectors } = AskedSections;
    const bytes = Int8Array.from(atob(vectors), (character) => character.charCodeAt(0));
    const width = bytes.length / (examples.length + sections.length);
    const vector = (i) => bytes.subarray(i * width, (i + 1) * width);
    return { all: sections, example: vector, section: (j) => vector(examples.length + j) };
  }

  // Which of the buttons is the one whose answer is shown.
  function tell(shown) {
    buttons.forEach((button, i) => (button.ariaPressed = String(i === shown)));
  }

  // The answer that stood there was to another question, and goes.
  function clear(said = "") {
    turn = undefined;
    found.hidden = true;
    tell(-1);
    count.textContent = said;
  }

  function typed() {
    const full = words.value.length >= words.maxLength;
    const most = words.maxLength.toLocaleString("en-US");
    clear(full ? `The field takes ${most} characters; what is longer is cut.` : "");
  }

  // Do what may have to wait for a file, unless something else is asked meanwhile; what goes wrong is said.
  let turn;
  async function inTurn(work) {
    const mine = (turn = {});
    const still = () => turn === mine;
    const say = (what) => still() && (count.textContent = what);
    try {
      await work(say, still);
    } catch (error) {
      say(`That did not work: ${error.message}`);
    }
  }

  // The sections nearest to a vector, below a heading; number `not` is left out. Returns the best cosine.
  function show(heading, asked, { all, section }, not = -1) {
    const nearest = all
      .map((one, j) => ({ one, j, score: j === not ? -2 : cosine(asked, section(j)) }))
      .sort((a, b) => b.score - a.score)
      .slice(0, SHOWN);
    found.querySelector("h2").textContent = heading;
    found.querySelector("ol").replaceChildren(...nearest.map(result));
    found.hidden = false;
    return nearest[0].score;
  }

  // The sections nearest to a question.
  function answer(text, asked, held) {
    const best = show(text.length > 160 ? `${text.slice(0, 160).trimEnd()} …` : text, asked, held);
    const address = `../search.html?q=${encodeURIComponent(text)}`;
    count.replaceChildren(
      `The ${SHOWN} sections nearest to your question are shown below${best < NEAR ? `, but none is near: the best cosine is ${number(best)}` : ""}. `,
      element("a", { href: address }, "Search all pages for its words"),
    );
    tell(examples.indexOf(text));
  }

  // The sections nearest to one of them.
  function like(j, held) {
    const title = held.all[j][2];
    show(`Sections like “${title}”`, held.section(j), held, j);
    tell(-1);
    count.textContent = `The ${SHOWN} sections nearest to “${title}” are shown below`;
  }

  const bare = () => location.href.split("#")[0];
  const script = () =>
    import(model.script).catch(() => {
      throw new Error(
        "its script could not be fetched: there is no connection. Try again when you are online.",
      );
    });

  // A question of the reader's own.
  let machine;
  function ask() {
    const text = words.value.trim();
    const known = examples.findIndex((example) => example.toLowerCase() === text.toLowerCase());
    if (known >= 0) return pick(known);
    clear();
    if (!text) return (count.textContent = "Type a question first.");
    inTurn(async (say, still) => {
      const megabytes = (model.bytes / 1e6).toFixed(0);
      say(machine?.loaded ? "" : `Fetching MiniLM, ${megabytes} MB …`);
      const held = await sections();
      machine ??= new (await script()).Machine(model);
      await machine.load((share) =>
        say(`Fetching MiniLM: ${Math.round(100 * share)} % of ${megabytes} MB`),
      );
      const { vector } = await machine.ask("embed", { text }).promise;
      if (!still()) return;
      box.querySelector(".ask-cost").textContent = "MiniLM is here; what you type stays here, too.";
      history.pushState({ text, asked: [...vector] }, "", bare());
      answer(text, vector, held);
      found.scrollIntoView({ block: "nearest" });
    });
  }

  // An example: as if it had been typed, but its vector is here.
  function pick(i) {
    words.value = examples[i];
    inTurn(async (_, still) => {
      const held = await sections();
      if (!still()) return;
      history.pushState({ example: i }, "", `#${slug(examples[i])}`);
      answer(examples[i], held.example(i), held);
      found.scrollIntoView({ block: "nearest" });
    });
  }

  // A section as the question.
  function more(j) {
    inTurn(async (_, still) => {
      const held = await sections();
      if (!still()) return;
      history.pushState({ like: j }, "", bare());
      like(j, held);
      found.scrollIntoView({ block: "nearest" });
      const heading = found.querySelector("h2");
      heading.tabIndex = -1; // the button that was pressed is gone: go on from the new results
      heading.focus();
    });
  }

  // What this entry of the browser's history showed: so Back leads to the answer before, from another page as well.
  const named = () => examples.findIndex((example) => slug(example) === location.hash.slice(1));
  function restore(state) {
    if (!state && location.hash && named() < 0) return; // a place on this page
    inTurn(async (_, still) => {
      const held = await sections();
      if (!still()) return;
      if (state?.like !== undefined) return like(state.like, held);
      const i = state?.example ?? (named() < 0 ? told.first : named());
      words.value = state?.text ?? (state || named() >= 0 ? examples[i] : "");
      if (state?.asked) return answer(state.text, state.asked, held);
      answer(examples[i], held.example(i), held);
    });
  }

  function result({ one: [address, chapter, title, text, ...html], j, score }) {
    const bar = element("span", { className: "ask-bar", ariaHidden: "true" }, element("i"));
    bar.firstChild.style.width = `${Math.max(0, Math.round(100 * score))}%`;
    const more = element("button", { type: "button", className: "ask-more" }, "More like this");
    more.ariaLabel = `More like this: ${title}`;
    more.dataset.section = j;
    const where = element(
      "p",
      { className: "ask-where" },
      element("span", {}, chapter),
      bar,
      element("span", {}, `cosine ${number(score)}`),
      more,
    );
    return element(
      "li",
      {},
      element("p", {}, Object.assign(printed("a", title, html[0]), { href: address })),
      where,
      printed("p", text, html[1]),
    );
  }

  words.addEventListener("focus", () => sections().catch(() => {}), { once: true });
  words.addEventListener("input", typed);
  words.addEventListener("keydown", (event) => {
    if (event.key === "Enter") ask();
  });
  box.querySelector(".ask-go").addEventListener("click", ask);
  buttons.forEach((button, i) => button.addEventListener("click", () => pick(i)));
  found.addEventListener("click", (event) => {
    const one = event.target.closest(".ask-more");
    if (one) more(Number(one.dataset.section));
  });
  addEventListener("popstate", (event) => restore(event.state));
  if (history.state || named() >= 0) restore(history.state);
  else tell(told.first); // it stands there already
})();
