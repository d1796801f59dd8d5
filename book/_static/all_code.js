// A chapter folds away what only draws a picture or sets something up. Who reads for the code opens all of it at once, here and on the
// chapters that follow, and folds it again with the same button; the choice stays in her browser. Solutions of exercises stay shut.
(() => {
  const KEPT = "course-all-code";
  const folds = [...document.querySelectorAll(".bd-article details.hide")].filter((fold) => !fold.closest("#exercises"));
  const place = document.querySelector(".chapter-frame .d-print-none");
  if (!folds.length || !place) return;
  const button = courseElement("button", { type: "button", class: "all-code" });

  function show(all) {
    for (const fold of folds) fold.open = all;
    button.textContent = all ? "Fold the code again" : "Show all code";
    button.dataset.all = all;
  }
  button.addEventListener("click", () => {
    const all = button.dataset.all !== "true";
    courseKept.set(KEPT, all ? "yes" : null);
    show(all);
  });
  show(courseKept.get(KEPT) === "yes");
  place.append(" · ", button);
})();
