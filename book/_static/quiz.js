// A chapter's three questions: the first choice that a reader opens is her answer. It is marked, and the next time it stands open
// again; the others she may open to compare. Answers stay in her browser. Without this script a choice unfolds, and nothing is kept.
(() => {
  const KEPT = `course-quiz:${location.pathname.split("/").pop()}`;
  const quiz = document.querySelector(".end-card .quiz");
  const questions = [...quiz.children].map((question) => ({
    choices: [...question.querySelectorAll("details.choice")],
    chosen: null,
  }));
  const text = (choice) => choice.querySelector("summary > span").textContent;
  const says = courseElement("span", { role: "status" }),
    again = courseElement("button", { type: "button" }, "Begin again");
  const line = courseElement("p", { class: "quiz-says" }, says, " ", again);

  function choose(question, choice) {
    question.chosen = choice;
    choice
      .querySelector("summary")
      .append(courseElement("i", { class: "quiz-mine" }, "your answer"));
  }
  function tell() {
    const chosen = questions.flatMap(({ chosen }) => chosen ?? []),
      right = chosen.filter((choice) => choice.matches(".right"));
    says.textContent = `Answered: ${chosen.length} of ${questions.length}, ${right.length} of them rightly at once. Kept in this browser.`;
    line.hidden = !chosen.length;
    return chosen;
  }

  const before = courseKept.list(KEPT);
  for (const question of questions) {
    const answer = question.choices.find((choice) => before.includes(text(choice))); // a choice that is worded anew is none yet
    if (answer) {
      choose(question, answer);
      answer.open = true;
    }
    for (const choice of question.choices) {
      choice.querySelector("summary").addEventListener("click", () => {
        if (question.chosen) return;
        choose(question, choice);
        courseKept.setList(KEPT, tell().map(text));
      });
    }
  }
  again.addEventListener("click", () => {
    courseKept.setList(KEPT, []);
    for (const question of questions) {
      question.chosen = null;
      for (const choice of question.choices) choice.open = false;
    }
    for (const mark of quiz.querySelectorAll(".quiz-mine")) mark.remove();
    tell();
    quiz.querySelector("summary").focus();
  });
  quiz.after(line);
  tell();
})();
