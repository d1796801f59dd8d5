// What is larger than its box scrolls there. As long as it does, the box can be reached by keyboard, whose arrows then move it, and a
// screen reader is told what it is, unless it is code or text, which is read as such. It is a group, not a region: a page of twenty wide
// formulas has no twenty landmarks.
//
// A box is measured by an observer, when the browser has laid it out anyway: to ask for a width earlier would make it lay out the whole
// page, and for one in a closed fold that fold as well. The theme's own script does so, which is why lean.py takes it out.
(() => {
  const article = document.querySelector(".bd-article");
  if (!article) return;
  const TOLD =
    ".plot-scroll, figure.drawing .scroll, .formula-scroll, .pst-scrollable-table-container";
  const TEXT = "pre, .cell_output > .output, .jp-RenderedHTMLCommon";
  const LONGEST = 90; // letters of a name

  const short = (text) =>
    text.length > LONGEST ? `${text.slice(0, LONGEST).replace(/\s\S*$/, "")} …` : text;
  const words = (element) => element?.textContent.trim().replace(/\s+/g, " ").replace(/\s*#$/, "");

  // "Table: What a page trains"
  function named(box) {
    if (box.matches(".formula-scroll")) return "Formula";
    const table = box.querySelector(":scope > table");
    const said = table
      ? (table.caption ?? box.closest("section")?.querySelector("h1, h2, h3, h4"))
      : box.closest("figure")?.querySelector("figcaption");
    return [table ? "Table" : "Figure", ...(said ? [short(words(said))] : [])].join(": ");
  }

  function mark(box, scrolls) {
    if (!scrolls) {
      if (box.tabIndex === 0) box.removeAttribute("tabindex"); // -1 is another script's
      if (box.dataset.scrolls !== undefined)
        for (const name of ["role", "aria-label", "data-scrolls"]) box.removeAttribute(name);
      return;
    }
    box.tabIndex = 0;
    if (!box.matches(TOLD) || box.hasAttribute("aria-label")) return; // a drawing's box has its title
    box.dataset.scrolls = "";
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", named(box));
  }

  // All are measured before one is changed: each change would lay the page out again for the next.
  function markAll(boxes) {
    const scrolls = boxes.map(
      (box) =>
        box.scrollWidth > box.clientWidth + 1 ||
        (!box.matches(TOLD) && box.scrollHeight > box.clientHeight + 1),
    );
    boxes.forEach((box, i) => mark(box, scrolls[i]));
  }

  const sizes = new ResizeObserver((changed) => markAll(changed.map(({ target }) => target)));
  const find = (within) => within.querySelectorAll(`:is(${TOLD}, ${TEXT})`);
  for (const box of find(article)) sizes.observe(box);
  // What a live figure writes later.
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes)
      for (const added of addedNodes)
        if (added.querySelectorAll)
          for (const box of find(added.parentNode ?? added)) sizes.observe(box);
  }).observe(article, { subtree: true, childList: true });
  // The formulas' letters come late, and change what is in a box but not its size. (What is not laid out yet, laying.js, is left to
  // the observer.)
  const again = () =>
    requestAnimationFrame(() =>
      setTimeout(() => {
        markAll(
          [...document.querySelectorAll(`.bd-article :is(${TOLD})`)].filter((box) =>
            box.checkVisibility({ contentVisibilityAuto: true }),
          ),
        );
      }),
    );
  document.fonts.ready.then(again);
  document.fonts.addEventListener("loadingdone", again);
})();
