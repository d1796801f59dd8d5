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

  function forget(box) {
    box.removeAttribute("tabindex");
    if (box.dataset.scrolls !== undefined) for (const name of ["role", "aria-label", "data-scrolls"]) box.removeAttribute(name);
  }

  function tell(box) {
    box.tabIndex = 0;
    if (box.hasAttribute("aria-label")) return; // a drawing's box, which has its title
    box.dataset.scrolls = "";
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", named(box));
  }

  // All are measured before the first is changed: else the page would be laid out again for each of a hundred boxes.
  function mark(boxes) {
    const wide = boxes.map((box) => box.scrollWidth > box.clientWidth + 1);
    boxes.forEach((box, i) => (wide[i] ? tell : forget)(box));
  }

  const boxes = [...document.querySelectorAll(`.bd-article :is(${BOXES})`)];
  const sizes = new ResizeObserver((changed) => mark(changed.map(({ target }) => target)));
  for (const box of boxes) sizes.observe(box);
  document.fonts.ready.then(() => mark(boxes)); // the formulas' letters come late
})();
