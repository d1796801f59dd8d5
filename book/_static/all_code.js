// A chapter folds away what only draws a picture or sets something up. Who reads for the code opens all of it at once, here and on the
// chapters that follow, and folds it again with the same button; the choice stays in her browser. Solutions of exercises stay shut.
(() => {
  const KEPT = "course-all-code",
    button = document.querySelector(".all-code");
  const folds = [...document.querySelectorAll(".bd-article details.hide")].filter(
    (fold) => !fold.closest("#exercises"),
  );
  let all = courseKept.get(KEPT) === "yes";

  function show() {
    for (const fold of folds) fold.open = all;
    button.textContent = all ? "Fold the code again" : "Show all code";
  }
  button.addEventListener("click", () => {
    all = !all;
    courseKept.set(KEPT, all ? "yes" : null);
    show();
  });
  if (all) show();
})();
