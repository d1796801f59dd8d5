// The search of the page "Ask the book": cosines of vectors, the words of the site's search, or both. The vectors of the sections and of the
// examples were computed when the site was built, and come in a file of their own once a reader begins; the answer to one example stands in
// the page when it comes, written as `result` writes the others. The vector of a reader's own question is computed here, by MiniLM in a worker.
(() => {
  const told = JSON.parse(document.getElementById("ask-data").textContent);
  const { examples, model } = told;
  const [FROM, WORDS] = [5, 2]; // of `both`, as in ask_orders.py
  const dot = (a, b) => a.reduce((sum, number, i) => sum + number * b[i], 0);
  const cosine = (a, b) => dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));

  const box = document.querySelector(".ask");
  const [words, count, found, ways] = ["#ask-words", "#ask-count", ".ask-found", ".ask-ways"].map(
    (one) => box.querySelector(one),
  );
  const way = () => ways?.querySelector(":checked").value ?? "meaning";
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
  const run = (src) =>
    new Promise((onload, onerror) =>
      document.head.append(element("script", { src, onload, onerror })),
    );
  async function fetchSections() {
    try {
      await run(told.sections);
      if (!window.CourseSearch?.index) for (const one of told.words) await run(one); // the bar above may have them
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
    const place = new Map(sections.map(([address], j) => [address, j]));
    for (let j = sections.length - 1; j >= 0; j--) place.set(sections[j][0].split("#")[0], j); // of a page its first one
    const example = (i) => ({ text: examples[i], vector: vector(i) });
    return { all: sections, place, example, section: (j) => vector(examples.length + j) };
  }

  // The sections that the search by words finds, the best first.
  function byWords(text, { place }) {
    if (!told.words.length) return [];
    const { index, rank } = CourseSearch;
    const places = rank(index, text, index.sections.length).map(({ section }) => {
      const [page, anchor] = index.sections[section];
      return place.get(`../${index.pages[page][0]}${anchor && `#${anchor}`}`);
    });
    return [...new Set(places)].filter((j) => j !== undefined);
  }

  // One order of two: the sum of 1 / (a constant + place), with the place by words twice.
  function both(meaning, words) {
    const sums = new Map();
    for (const [order, worth] of [
      [meaning, 1],
      [words, WORDS],
    ])
      order.forEach((j, i) => sums.set(j, (sums.get(j) ?? 0) + worth / (FROM + i + 1)));
    return [...sums.keys()].sort((a, b) => sums.get(b) - sums.get(a));
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

  // The sections found for a question, or those like number `like`, below a heading. Returns their cosines, and the best of all.
  function show(heading, { text, vector }, held, like = -1) {
    const scores = held.all.map((_, j) => (j === like ? -2 : cosine(vector, held.section(j))));
    const meaning = scores.map((_, j) => j).sort((a, b) => scores[b] - scores[a]);
    const words = like < 0 ? byWords(text, held) : [];
    const orders = { meaning, words, both: both(meaning, words) };
    const first = orders[like < 0 ? way() : "meaning"].slice(0, SHOWN);
    found.querySelector("h2").textContent = heading;
    found
      .querySelector("ol")
      .replaceChildren(
        ...first.map((j) => result(held.all[j], j, scores[j], words.indexOf(j) + 1)),
      );
    found.hidden = false;
    if (ways) ways.hidden = like >= 0;
    return [first.map((j) => scores[j]), scores[meaning[0]]];
  }

  // The sections found for a question.
  let answered = (held) => held.example(told.first); // the question whose answer stands there
  function answer(asked, held) {
    answered = () => asked;
    const { text } = asked;
    const heading = text.length > 160 ? `${text.slice(0, 160).trimEnd()} …` : text;
    const [shown, best] = show(heading, asked, held);
    const n = shown.length,
      far = shown.filter((score) => score < NEAR).length;
    const near =
      best < NEAR
        ? `, but none is near: the best cosine is ${number(best)}`
        : far
          ? `; ${far} of them ${far > 1 ? "are" : "is"} not near in meaning (cosine below ${NEAR})`
          : "";
    const address = `../search.html?q=${encodeURIComponent(text)}`;
    count.replaceChildren(
      way() !== "words"
        ? `The ${n} sections nearest to your question are shown below${near}. `
        : n
          ? `The ${n} sections that share most with your question's words are shown below. `
          : "No section has your question's words. ",
      element("a", { href: address }, "Search all pages for its words"),
    );
    tell(examples.indexOf(text));
  }

  // The sections nearest to one of them.
  function like(j, held) {
    const title = held.all[j][2];
    show(`Sections like “${title}”`, { vector: held.section(j) }, held, j);
    tell(-1);
    count.textContent = `The ${SHOWN} sections nearest to “${title}” are shown below`;
  }

  // The same question, in another order.
  function reorder() {
    if (found.hidden) return;
    inTurn(async (_, still) => {
      const held = await sections();
      if (still()) answer(answered(held), held);
    });
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
      answer({ text, vector }, held);
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
      answer(held.example(i), held);
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
      if (state?.asked) return answer({ text: state.text, vector: state.asked }, held);
      answer(held.example(i), held);
    });
  }

  function result([address, chapter, title, text, ...html], j, score, byWords) {
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
      ...(byWords ? [element("span", {}, `words: no. ${byWords}`)] : []),
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
  ways?.addEventListener("change", reorder);
  found.addEventListener("click", (event) => {
    const one = event.target.closest(".ask-more");
    if (one) more(Number(one.dataset.section));
  });
  addEventListener("popstate", (event) => restore(event.state));
  if (history.state || named() >= 0) restore(history.state);
  else tell(told.first); // it stands there already
})();
