// On a chapter's card: how many of its questions this reader has answered (quiz.js keeps it in her browser). How many there are, the
// card says; one without questions says nothing.
for (const card of document.querySelectorAll("ul.chapter-cards a[data-questions]")) {
  const n = courseKept.list(`course-quiz:${new URL(card.href).pathname.split("/").pop()}`).length;
  if (n) {
    card.append(
      " ",
      courseElement(
        "span",
        { class: "card-answered" },
        `Answered: ${n} of ${card.dataset.questions} questions`,
      ),
    );
  }
}
