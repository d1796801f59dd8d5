// The exam's questions, to be worked through: those about one part or chapter, solutions shown and hidden together, and a tick at
// what the reader knew, which stays in her browser. Without this script all questions stand there, each solution behind its own fold.
(() => {
  const KEPT = "course-exam";
  const counted = (n, one) => `${n} ${one}${n === 1 ? "" : "s"}`;
  const sum = (list) => list.reduce((total, { points }) => total + points, 0);

  const parts = JSON.parse(document.getElementById("exam-parts").textContent); // [["Attention", [["1", "1. The bottleneck"], …]], …]
  const chapters = [...document.querySelectorAll(".bd-article > section > section[id^=chapter]")];
  const questions = chapters.flatMap((chapter) =>
    [...chapter.querySelectorAll(":scope > section")].map((section) => ({
      section,
      chapter: chapter.id.match(/\d+/)[0], // "chapter-4", or "chapters-7-and-7b"
      points: Number(section.querySelector("p > em").textContent.match(/^\d+/)[0]),
      solution: section.querySelector("details"),
      box: courseElement("input", { type: "checkbox" }),
    })),
  );
  // The chapters that an address or the list asks for: "3", "The Transformer"; anything else asks for all.
  const wanted = (about) => {
    const part = parts.find(([name]) => name === about);
    if (part) return part[1].map(([number]) => number);
    return parts.some(([, of]) => of.some(([number]) => number === about)) ? [about] : null;
  };

  const about = courseElement(
    "select",
    {},
    courseElement("option", { value: "" }, "all chapters"),
    ...parts.map(([name, of]) =>
      courseElement(
        "optgroup",
        { label: name },
        courseElement("option", { value: name }, `${name}: all of it`),
        ...of.map(([number, title]) => courseElement("option", { value: number }, title)),
      ),
    ),
  );
  const open = courseElement("input", { type: "checkbox" });
  const show = courseElement("button", { type: "button" }, "Show all solutions");
  const hide = courseElement("button", { type: "button" }, "Hide all solutions");
  const says = courseElement("span", { role: "status" }),
    forget = courseElement("button", { type: "button" }, "Untick all");
  const bar = courseElement(
    "div",
    { class: "exam-bar", role: "group", "aria-label": "Questions and solutions" },
    courseElement("label", {}, "About ", about),
    courseElement("label", {}, open, " only what I have not ticked"),
    show,
    hide,
    courseElement("p", {}, says, " Ticks stay in this browser. ", forget),
  );

  function tell() {
    const shown = questions.filter(({ section }) => !section.hidden),
      ticked = questions.filter(({ box }) => box.checked);
    const here = shown.length
      ? `Here: ${counted(shown.length, "question")}, ${counted(sum(shown), "point")}.`
      : "Nothing is left here: all is ticked.";
    says.textContent = `${here} Ticked in all: ${ticked.length} of ${questions.length}, ${sum(ticked)} of ${counted(sum(questions), "point")}.`;
    forget.hidden = !ticked.length;
  }
  // The page's Contents lead to what is shown, and to nothing else.
  const contents = [...document.querySelectorAll("#pst-page-toc-nav .toc-entry")].flatMap(
    (entry) => {
      const to = decodeURIComponent(entry.querySelector("a").hash.slice(1)),
        section = document.getElementById(to)?.closest("section");
      return section ? [[entry, section]] : [];
    },
  );
  // The address asks for what is chosen, at this place of the page.
  function address(hash) {
    const to = new URL(location.href);
    to.hash = hash;
    if (about.value) to.searchParams.set("about", about.value);
    else to.searchParams.delete("about");
    history.replaceState(history.state, "", to);
  }
  // What is ticked now stays until the next choice: nothing vanishes under the pointer.
  function choose() {
    const these = wanted(about.value);
    for (const { section, chapter, box } of questions)
      section.hidden = Boolean(these && !these.includes(chapter)) || (open.checked && box.checked);
    for (const chapter of chapters)
      chapter.hidden = !chapter.querySelector(":scope > section:not([hidden])");
    for (const [entry, section] of contents) entry.hidden = section.hidden;
    tell();
  }
  function keep({ section, box }) {
    const others = courseKept.list(KEPT).filter((id) => id !== section.id); // another tab may have ticked, too
    courseKept.setList(KEPT, box.checked ? [...others, section.id] : others);
    tell();
  }
  // A link to a question or a chapter shows it, whatever was chosen.
  function follow() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target?.closest("[hidden]")) return;
    about.value = "";
    open.checked = false;
    choose();
    address(location.hash);
    target.scrollIntoView();
  }

  const before = courseKept.list(KEPT);
  for (const question of questions) {
    question.box.checked = before.includes(question.section.id);
    question.box.addEventListener("change", () => keep(question));
    question.section.append(
      courseElement("label", { class: "exam-knew" }, question.box, " I knew this"),
    );
  }
  about.addEventListener("change", () => {
    choose();
    address("");
  });
  open.addEventListener("change", choose);
  for (const [button, unfolded] of [
    [show, true],
    [hide, false],
  ]) {
    button.addEventListener("click", () => {
      for (const { section, solution } of questions) if (!section.hidden) solution.open = unfolded;
    });
  }
  forget.addEventListener("click", () => {
    if (!confirm("Untick all questions?")) return;
    for (const { box } of questions) box.checked = false;
    courseKept.setList(KEPT, []);
    choose();
    about.focus(); // the button is gone
  });
  addEventListener("hashchange", follow);
  chapters[0].before(bar);
  const asked = new URLSearchParams(location.search).get("about") ?? "";
  about.value = wanted(asked) ? asked : "";
  choose();
  follow();
})();
