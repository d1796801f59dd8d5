// Predict, then see: what the cells after a question printed waits until the reader has guessed, opened the answer, or asked for it.
// Guesses stay in the browser. Without this script, and on paper, everything stands open.
(() => {
  const PLAIN = "course-guess-plain"; // set: this reader wants to see everything at once
  const article = document.querySelector(".bd-article");

  // The first paragraph of the question whose folded answer this is.
  function question(answer) {
    let before = answer.previousElementSibling;
    while (before && !/^(H\d|DETAILS|DIV)$/.test(before.tagName)) {
      if (
        before.matches("p") &&
        before.firstElementChild?.matches("strong") &&
        before.textContent.startsWith("Predict.")
      )
        return before;
      before = before.previousElementSibling;
    }
    return null;
  }
  // What the cells right after the answer show, and the paragraph that says what came out.
  function outputs(answer) {
    const found = [];
    let next = answer.nextElementSibling;
    for (; next?.matches(".cell, .lead-code"); next = next.nextElementSibling)
      found.push(...next.querySelectorAll(":scope > .cell_output"));
    if (found.length && next?.matches("p") && !next.textContent.startsWith("Predict."))
      found.push(next);
    return found;
  }

  // What the question offers ("…: about half, nearly all, or none?"), if it offers it once and in few words without formulas.
  function choices(asked) {
    const copy = asked.cloneNode(true);
    for (const formula of copy.querySelectorAll(".katex")) formula.replaceWith("\0");
    const offers = (copy.textContent.replace(/\s+/g, " ").match(/[^?]*\?/g) ?? [])
      .map((sentence) => sentence.match(/:\s*([^:]+?)\?$/)?.[1])
      .filter((offer) => offer && /\bor\b/.test(offer))
      .map((offer) => offer.split(/,\s*or\s+|,\s+|\s+or\s+/).map((one) => one.trim()));
    if (offers.length !== 1) return [];
    // an enumeration inside an offer, or a sentence after it, is cut at the wrong places
    const [offer] = offers,
      odd = /\0|\. |^(which|who|and|say|is|does|will)\b|^\d+ and \d+ as /;
    return offer.length > 1 &&
      offer.length < 6 &&
      offer.every((one) => one && one.length <= 48 && !odd.test(one))
      ? offer
      : [];
  }

  class Guess {
    constructor(answer, asked) {
      this.answer = answer;
      this.outputs = outputs(answer);
      this.key = `course-guess:${location.pathname.split("/").pop()}:${asked.textContent.slice(9, 60)}`;
      this.field = courseElement("input", {
        maxlength: 120,
        autocomplete: "off",
        "aria-label": "Your guess",
      });
      const offers = choices(asked).map((offer) => {
        const button = courseElement("button", { type: "button", class: "guess-offer" }, offer);
        button.addEventListener("click", () => {
          this.field.value = offer;
          this.form.requestSubmit();
        });
        return button;
      });
      this.field.placeholder = offers.length ? "or in your own words" : "Your guess";
      const show = courseElement(
        "button",
        {},
        this.outputs.length ? "Show what comes out" : "Show the answer",
      );
      this.form = courseElement("form", { class: "guess" }, this.field, show);
      if (offers.length)
        this.form.prepend(courseElement("span", { class: "guess-offers" }, ...offers));
      this.form.addEventListener("submit", (event) => {
        event.preventDefault();
        this.made(this.field.value.trim());
        if (!this.outputs.length) this.answer.open = true;
        const next = this.outputs[0] ?? this.answer.querySelector("summary");
        if (this.outputs.length) next.tabIndex = -1;
        next.focus({ preventScroll: true });
      });
      answer.before(this.form);
      answer.addEventListener("toggle", () => {
        if (answer.open) this.made(this.field.value.trim());
      });
      const before = courseKept.get(this.key);
      if (before !== null) this.made(before);
    }
    // Ask, or with `plain` show everything.
    begin(plain) {
      if (this.done) return;
      this.form.hidden = plain;
      if (plain) this.uncover();
      else this.cover();
    }
    cover() {
      for (const output of this.outputs) {
        if (output.matches(".guess-waits")) continue;
        const cover = courseElement(
          "button",
          { type: "button", class: "guess-cover" },
          output.matches("p") ? "Then what it means" : "Guess first, or show it",
        );
        cover.addEventListener("click", () => this.made(this.field.value.trim()));
        output.classList.add("guess-waits");
        output.append(cover);
      }
    }
    uncover() {
      for (const output of this.outputs) {
        output.classList.remove("guess-waits");
        output.querySelector(".guess-cover")?.remove();
      }
    }
    made(guess) {
      if (this.done) return;
      this.done = true;
      courseKept.set(this.key, guess);
      this.uncover();
      this.form.replaceChildren(
        guess ? courseElement("span", {}, "Your guess: ", courseElement("b", {}, guess)) : "",
      );
      this.form.hidden = !guess;
    }
  }

  const guesses = [...article.querySelectorAll("details:not([class])")].flatMap((answer) => {
    const asked = question(answer);
    return asked ? [new Guess(answer, asked)] : [];
  });
  if (!guesses.length) return;
  const all = courseElement("button", { type: "button", class: "guess-all" }),
    choice = courseElement("p", { class: "guess-choice" }, all);
  // Who only reads finds the way back behind the first answer; nothing else reminds of guesses.
  const tell = () => {
    const plain = courseKept.get(PLAIN),
      [{ answer }] = guesses;
    all.textContent = plain
      ? "Hide what comes out until I have guessed"
      : "I only read: show it all, here and in every chapter";
    if (plain) answer.append(choice);
    else answer.after(choice);
    for (const guess of guesses) guess.begin(Boolean(plain));
  };
  all.addEventListener("click", () => {
    courseKept.set(PLAIN, courseKept.get(PLAIN) ? null : "yes");
    tell();
  });
  tell();
})();
