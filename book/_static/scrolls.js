// What is wider than its box scrolls there. As long as it does, the box can be reached by keyboard, whose arrows then move it, and a
// screen reader is told what it is. It is a group, not a region: a page of twenty wide formulas has no twenty landmarks.
(() => {
  const BOXES = ".plot-scroll, figure.drawing .scroll, .formula-scroll, .pst-scrollable-table-container";
  const LONGEST = 90; // letters of a name

  const short = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST).replace(/\s\S*$/, "")} …` : text);
  const words = (element) => element?.textContent.trim().replace(/\s+/g, " ").replace(/\s*#$/, "");

  // "Table: What a page trains"
  function named(box) {
    if (box.matches(".formula-scroll")) return "Formula";
    const table = box.querySelector(":scope > table");
    const said = table ? table.caption ?? box.closest("section")?.querySelector("h1, h2, h3, h4") : box.closest("figure")?.querySelector("figcaption");
    return [table ? "Table" : "Figure", ...(said ? [short(words(said))] : [])].join(": ");
  }

  function mark(box) {
    if (box.scrollWidth <= box.clientWidth + 1) {
      box.removeAttribute("tabindex");
      if (box.dataset.scrolls !== undefined) for (const name of ["role", "aria-label", "data-scrolls"]) box.removeAttribute(name);
      return;
    }
    box.tabIndex = 0;
    if (box.hasAttribute("aria-label")) return; // a drawing's box, which has its title
    box.dataset.scrolls = "";
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", named(box));
  }

  const boxes = document.querySelectorAll(`.bd-article :is(${BOXES})`);
  const sizes = new ResizeObserver((changed) => { for (const { target } of changed) mark(target); });
  for (const box of boxes) sizes.observe(box);
  document.fonts.ready.then(() => boxes.forEach(mark)); // the formulas' letters come late
})();
