// The search of the page "Ask the book": cosines of vectors. Those of the sections and of the prepared questions were computed when
// the site was built, and the answer to one of these stands in the page when it comes, written as `result` writes the others; the vector of
// a reader's own question is computed here, by MiniLM in a worker.
(() => {
  const { sections, questions, vectors, first, model } = JSON.parse(
    document.getElementById("ask-data").textContent,
  );
  const bytes = Int8Array.from(atob(vectors), (character) => character.charCodeAt(0));
  const width = bytes.length / (questions.length + sections.length);
  const vector = (i) => bytes.subarray(i * width, (i + 1) * width);
  const dot = (a, b) => a.reduce((sum, number, i) => sum + number * b[i], 0);
  const cosine = (a, b) => dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));

  const box = document.querySelector(".ask");
  box.querySelector(".ask-without").remove(); // at the end of the box: nothing that one reads moves
  const [words, count, matches, prepared, found] = [
    "#ask-words",
    "#ask-count",
    ".ask-matches",
    ".ask-prepared ul",
    ".ask-found",
  ].map((one) => box.querySelector(one));
  const NEAR = 0.23; // a best cosine below this is said to be none: every prepared question has a section above it
  const SHOWN = 5; // results of a question, and sections below the questions
  let picked = -1; // a question's number, or the number of questions plus a section's

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

  function choice(i) {
    const at = i - questions.length;
    const button = element(
      "button",
      { type: "button", onclick: () => pick(i) },
      at < 0 ? questions[i] : printed("span", sections[at][2], sections[at][4]),
    );
    if (at >= 0) button.append(" ", element("small", {}, `section of ${sections[at][1]}`));
    button.ariaPressed = String(i === picked);
    button.dataset.i = i;
    return element("li", {}, button);
  }

  // What has the words that are typed. The answer that stood there was to another question, and goes.
  function list() {
    turn = undefined;
    picked = -1;
    found.hidden = true;
    tell();
    const typed = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const has = (text) => typed.every((word) => text.toLowerCase().includes(word));
    const right = [...questions.keys()].filter((i) => has(questions[i]));
    const also = [...sections.keys()].filter((i) => has(sections[i].slice(1, 4).join(" ")));
    matches.replaceChildren(
      ...(typed.length ? [...right, ...also.map((j) => questions.length + j)] : [])
        .slice(0, 4 * SHOWN)
        .map(choice),
    );
    matches.hidden = !matches.children.length;
    if (!typed.length) {
      count.textContent = "";
      return;
    }
    const many = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
    const full = words.value.length >= words.maxLength;
    count.textContent = matches.hidden
      ? "No prepared question and no section's beginning has these words; “Ask” looks for what is near. "
      : `${many(right.length, "question")} and ${many(also.length, "section")} with these words`;
    if (matches.hidden) count.append(search("Search all pages for them", words.value));
    if (full)
      count.append(
        `. The field takes ${words.maxLength.toLocaleString("en-US")} characters; what is longer is cut.`,
      );
  }

  // Which of the buttons is the one whose answer is shown.
  function tell() {
    for (const button of box.querySelectorAll(".ask-choices button"))
      button.ariaPressed = String(Number(button.dataset.i) === picked);
  }

  // The sections nearest to a vector, below a heading; number `not` is left out.
  function show(heading, asked, not = -1) {
    const nearest = sections
      .map((section, j) => ({
        section,
        j,
        score: j === not ? -2 : cosine(asked, vector(questions.length + j)),
      }))
      .sort((a, b) => b.score - a.score)
      .slice(0, SHOWN);
    found.querySelector("h2").textContent = heading;
    found.querySelector("ol").replaceChildren(...nearest.map(result));
    found.hidden = false;
  }

  const search = (label, text) =>
    element("a", { href: `../search.html?q=${encodeURIComponent(text)}` }, label);

  const script = () =>
    import(model.script).catch(() => {
      throw new Error(
        "its script could not be fetched: there is no connection. Try again when you are online.",
      );
    });

  // A question of the reader's own.
  let machine, turn;
  async function ask() {
    const text = words.value.trim();
    const known = questions.findIndex((question) => question.toLowerCase() === text.toLowerCase());
    const mine = (turn = {});
    const say = (what) => {
      if (turn === mine) count.textContent = what;
    };
    if (known >= 0) return pick(known);
    found.hidden = true;
    picked = -1;
    tell();
    if (!text) return say("Type a question first.");
    const megabytes = (model.bytes / 1e6).toFixed(0);
    try {
      say(machine?.loaded ? "" : `Fetching MiniLM, ${megabytes} MB …`);
      machine ??= new (await script()).Machine(model);
      await machine.load((share) =>
        say(`Fetching MiniLM: ${Math.round(100 * share)} % of ${megabytes} MB`),
      );
      const { vector: asked } = await machine.ask("embed", { text }).promise;
      if (turn !== mine) return;
      box.querySelector(".ask-cost").textContent = "MiniLM is here; what you type stays here, too.";
      history.pushState({ text, asked: [...asked] }, "", bare());
      answer(text, asked);
      found.scrollIntoView({ block: "nearest" });
    } catch (error) {
      say(`That did not work: ${error.message}`);
    }
  }

  const bare = () => location.href.split("#")[0];

  // The sections nearest to a question of the reader's own.
  function answer(text, asked) {
    const best = Math.max(...sections.map((_, j) => cosine(asked, vector(questions.length + j))));
    matches.hidden = true;
    show(text.length > 160 ? `${text.slice(0, 160).trimEnd()} …` : text, asked);
    count.replaceChildren(
      `The ${SHOWN} sections nearest to your question are shown below${best < NEAR ? `, but none is near: the best cosine is ${number(best)}` : ""}. `,
      search("Search all pages for its words", text),
    );
  }

  // Those nearest to a question that was prepared, or to a section.
  function lay(i) {
    picked = i;
    const at = i - questions.length;
    const title = at < 0 ? questions[i] : sections[at][2];
    show(at < 0 ? title : `Sections like “${title}”`, vector(i), at);
    tell();
    count.textContent = `The ${SHOWN} sections nearest to “${title}” are shown below`;
  }

  function pick(i) {
    turn = undefined;
    lay(i);
    history.pushState({ picked: i }, "", i < questions.length ? `#${slug(questions[i])}` : bare());
    found.scrollIntoView({ block: "nearest" });
  }

  // What this entry of the browser's history showed: so Back leads to the answer before, from another page as well.
  function restore(state) {
    if (!state && location.hash && asked() < 0) return; // a place on this page
    turn = undefined;
    picked = -1;
    tell();
    if (!state?.asked) return lay(state?.picked ?? (asked() < 0 ? first : asked()));
    words.value = state.text;
    answer(state.text, state.asked);
  }

  function result({ section: [address, chapter, title, text, ...html], j, score }) {
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

  function pickAndShow(i) {
    pick(i);
    const heading = found.querySelector("h2");
    heading.tabIndex = -1; // the button that was pressed is gone: go on from the new results
    heading.focus();
  }

  box.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const buttons = [...(event.target.closest(".ask-choices")?.querySelectorAll("button") ?? [])];
    const next = step && buttons[buttons.indexOf(document.activeElement) + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
  words.addEventListener("input", list);
  words.addEventListener("keydown", (event) => {
    if (event.key === "Enter") ask();
  });
  box.querySelector(".ask-go").addEventListener("click", ask);
  found.addEventListener("click", (event) => {
    const more = event.target.closest(".ask-more");
    if (more) pickAndShow(questions.length + Number(more.dataset.section));
  });
  const asked = () => questions.findIndex((question) => slug(question) === location.hash.slice(1));
  addEventListener("popstate", (event) => restore(event.state));
  prepared.replaceChildren(...[...questions.keys()].map(choice));
  if (history.state || asked() >= 0) restore(history.state);
  else {
    picked = first; // it stands there already
    tell();
  }
})();
