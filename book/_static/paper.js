// On paper nothing can be unfolded. While a page is printed, what it folds away stands at its end, under a number that the folded
// place names; code that is still folded is left out (the notebook has it). Without this script all of it is printed where it stands.
(() => {
  const article = document.querySelector(".bd-article");
  const root = document.documentElement;
  const ANSWERS = "details:not([class])",
    SOLUTIONS = "#exercises .tag_hide-cell > details",
    QUIZ = ".end-card .quiz";
  let end, folded;

  const element = (tag, name, ...inside) => {
    const made = document.createElement(tag);
    if (name) made.className = name;
    made.append(...inside);
    return made;
  };
  // Copies of nodes; an id stands once on a page.
  const copies = (nodes) =>
    nodes.map((node) => {
      const copy = node.cloneNode(true);
      if (copy.querySelectorAll)
        for (const one of copy.querySelectorAll("[id]:not(svg [id])")) one.removeAttribute("id");
      return copy;
    });
  const behind = (details) => [...details.childNodes].filter((node) => node.nodeName !== "SUMMARY");

  // "3 · The loss" and what is folded there; the place says where it went.
  function answer(details, number) {
    const summary = details.querySelector("summary"),
      place = details.closest("section")?.querySelector("h1, h2, h3");
    const what = details.matches(SOLUTIONS) ? "Solution" : summary.textContent.trim();
    folded.push([summary, details]);
    summary.dataset.paper = `${what}${/[.?!]$/.test(what) ? " At" : ": at"} the end, no. ${number}`;
    const name = place ? ` · ${place.firstChild.textContent.trim()}` : "";
    return element(
      "div",
      "paper-answer",
      element("p", "paper-number", element("b", "", number), name),
      ...copies(behind(details)),
    );
  }

  // A question's choices: A No. …, B Yes. …
  function choices(question, number) {
    const reasons = [...question.querySelectorAll("details.choice")].map((choice) =>
      element(
        "p",
        "",
        element("b", "", choice.querySelector("b").textContent),
        " ",
        ...copies([...choice.querySelector(":scope > p").childNodes]),
      ),
    );
    return element(
      "div",
      "paper-answer",
      element("p", "paper-number", element("b", "", `Question ${number}`)),
      ...reasons,
    );
  }

  // What is gathered at the end: "Hints" where there is nothing else.
  function heading(questions) {
    const hints = folded.filter(([summary]) =>
      summary.textContent.trim().startsWith("Hint"),
    ).length;
    if (!hints) return "Answers";
    return hints === folded.length && !questions ? "Hints" : "Answers and hints";
  }

  addEventListener("beforeprint", () => {
    end?.remove(); // a print that was begun twice
    folded = [];
    const answers = [...article.querySelectorAll(`${ANSWERS}, ${SOLUTIONS}`)]
      .filter((one) => !one.closest("section[hidden]"))
      .map((one, i) => answer(one, i + 1));
    const quiz = [...article.querySelectorAll(`${QUIZ} > li`)].map((one, i) => choices(one, i + 1));
    if (!answers.length && !quiz.length) return;
    end = element(
      "section",
      "paper-end",
      element("h2", "", heading(quiz.length)),
      ...answers,
      ...quiz,
    );
    article.append(end);
    root.dataset.paper = "";
  });
  addEventListener("afterprint", () => {
    end?.remove();
    delete root.dataset.paper;
    for (const [summary] of folded ?? []) delete summary.dataset.paper;
  });
})();
