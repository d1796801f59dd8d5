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

  // Change what stands on the page; the first of these elements that is on the screen stays where it is.
  function inPlace(elements, change) {
    const top = (element) => element.getBoundingClientRect().top;
    const still = elements.find((element) => top(element) >= 0 && top(element) < innerHeight),
      before = still && top(still);
    change();
    if (still) scrollBy({ top: top(still) - before, behavior: "instant" });
  }

  // An offer as a reader may type it: without quotation marks, small or large.
  const bare = (text) =>
    text
      .toLowerCase()
      .replace(/[“”"‘’']/g, "")
      .trim();

  class Guess {
    constructor(answer, asked) {
      this.answer = answer;
      this.asked = asked;
      this.outputs = outputs(answer);
      this.key = `course-guess:${location.pathname.split("/").pop()}:${asked.textContent.slice(9, 60)}`;
      this.field = courseElement("input", {
        maxlength: 120,
        autocomplete: "off",
        "aria-label": "Your guess",
      });
      this.offers = JSON.parse(asked.dataset.offers ?? "[]"); // book/_ext/guess.py reads them off the question
      this.right = asked.dataset.right ?? "";
      const offers = this.offers.map((offer) => {
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
      this.says = courseElement("span", { role: "status" });
      this.form = courseElement("form", { class: "guess" }, this.says, this.field, show);
      if (offers.length)
        this.form.prepend(courseElement("span", { class: "guess-offers" }, ...offers));
      this.form.addEventListener("submit", (event) => {
        event.preventDefault();
        this.made(this.field.value.trim());
        if (!this.outputs.length) this.answer.open = true;
        this.goOn(this.outputs[0] ?? this.answer.querySelector("summary"));
      });
      answer.before(this.form);
      answer.addEventListener("toggle", () => {
        if (answer.open) this.made(this.field.value.trim(), answer);
      });
      const before = courseKept.get(this.key);
      if (before !== null) this.made(before);
    }
    // The keyboard's place is gone with the button that was pressed: it is at what there is to read now.
    goOn(next) {
      if (!next.matches("summary")) next.tabIndex = -1;
      next.focus({ preventScroll: true });
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
        cover.addEventListener("click", () => {
          this.made(this.field.value.trim(), output);
          this.goOn(output);
        });
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
    // What this reader's guess is of what is offered; her own words may be one of the offers.
    get offer() {
      const words = bare(this.guess ?? "");
      return words && this.offers.find((offer) => bare(offer) === words);
    }
    // Whether the guess is what comes out; null where nobody can say.
    get verdict() {
      return this.right && this.offer ? this.offer === this.right : null;
    }
    // `near`: what was opened, if it was not the question's own form.
    made(guess, near = this.form) {
      if (this.done) return;
      this.done = true;
      this.guess = guess;
      courseKept.set(this.key, guess);
      inPlace([this.asked, near], () => {
        this.uncover();
        this.form.replaceChildren(this.says);
        this.form.hidden = !guess;
        if (guess) this.says.append(...this.told());
      });
      count();
    }
    told() {
      const words = (text) => courseElement("b", {}, text),
        yours = ["Your guess: ", words(this.guess)];
      if (!this.right) return yours;
      if (this.verdict) return [...yours, ". That is what comes out."];
      return [...yours, ". What comes out: ", words(this.right), "."];
    }
  }

  const score = courseElement("p", { class: "guess-score" }),
    guesses = [];
  // The card at the chapter's foot says how many guesses came out; nothing before there is one.
  function count() {
    const verdicts = guesses.map(({ verdict }) => verdict).filter((one) => one !== null),
      right = verdicts.filter(Boolean).length;
    score.textContent = `Predicted: ${right} of ${verdicts.length} right.`;
    score.hidden = !verdicts.length;
  }
  for (const answer of article.querySelectorAll("details:not([class])")) {
    const asked = question(answer);
    if (asked) guesses.push(new Guess(answer, asked));
  }
  if (!guesses.length) return;
  article.querySelector(".end-card ul")?.after(score);
  count();
  const all = courseElement("button", { type: "button", class: "guess-all" }),
    choice = courseElement("p", { class: "guess-choice" }, all);
  // Who only reads finds the way back at the chapter's end; nothing else reminds of guesses.
  const tell = () => {
    const plain = courseKept.get(PLAIN),
      [{ answer }] = guesses;
    all.textContent = plain
      ? "Hide what comes out until I have guessed"
      : "I only read: show it all, here and in every chapter";
    const end = article.querySelector(".end-card");
    if (plain && end) end.before(choice);
    else answer.after(choice);
    for (const guess of guesses) guess.begin(Boolean(plain));
  };
  all.addEventListener("click", () => {
    courseKept.set(PLAIN, courseKept.get(PLAIN) ? null : "yes");
    tell();
  });
  tell();
})();
