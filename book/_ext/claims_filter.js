// Buttons that show the claims of one verdict only. They are made here, so that a page without scripts has none that do nothing.
(() => {
  const cards = [...document.querySelectorAll(".claim")];
  const sections = [...document.querySelectorAll("section.claims")];
  const counts = new Map([["all", cards.length], ["holds", 0], ["rounded", 0], ["loose wording", 0], ["slip", 0]]);
  for (const { dataset } of cards) counts.set(dataset.verdict, counts.get(dataset.verdict) + 1);
  const bar = document.createElement("div");
  bar.className = "claim-filter";
  bar.setAttribute("role", "group");
  bar.setAttribute("aria-label", "Show claims by verdict");
  const show = (verdict) => {
    for (const card of cards) card.hidden = verdict !== "all" && card.dataset.verdict !== verdict;
    for (const section of sections) section.hidden = !section.querySelector(".claim:not([hidden])");
    for (const button of bar.children) button.setAttribute("aria-pressed", button.dataset.verdict === verdict);
  };
  for (const [verdict, count] of counts) {
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.verdict = verdict;
    button.textContent = `${verdict} (${count})`;
    button.addEventListener("click", () => show(verdict));
    bar.append(button);
  }
  sections[0].before(bar);
  show("all");
  // A link to one claim shows it, whatever was chosen before.
  addEventListener("hashchange", () => show("all"));
})();
