// Buttons that show the claims of one verdict only. They are made here, so that a page without scripts has none that do nothing.
// An address may ask for a verdict (?verdict=slip), and a choice is kept in it.
(() => {
  const cards = [...document.querySelectorAll(".claim")];
  const sections = [...document.querySelectorAll("section.claims")];
  const counts = new Map([
    ["all", cards.length],
    ["holds", 0],
    ["rounded", 0],
    ["loose wording", 0],
    ["slip", 0],
  ]);
  for (const { dataset } of cards) counts.set(dataset.verdict, counts.get(dataset.verdict) + 1);
  const bar = document.createElement("div");
  bar.className = "claim-filter";
  bar.setAttribute("role", "group");
  bar.setAttribute("aria-label", "Show claims by verdict");
  const show = (verdict) => {
    for (const card of cards) card.hidden = verdict !== "all" && card.dataset.verdict !== verdict;
    for (const section of sections) section.hidden = !section.querySelector(".claim:not([hidden])");
    for (const button of bar.children)
      button.setAttribute("aria-pressed", button.dataset.verdict === verdict);
  };
  const choose = (verdict) => {
    show(verdict);
    const to = new URL(location.href);
    to.hash = "";
    if (verdict === "all") to.searchParams.delete("verdict");
    else to.searchParams.set("verdict", verdict);
    history.replaceState(null, "", to);
  };
  for (const [verdict, count] of counts) {
    if (count === 0) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.verdict = verdict;
    button.textContent = `${verdict} (${count})`;
    button.addEventListener("click", () => choose(verdict));
    bar.append(button);
  }
  sections[0].before(bar);
  const asked = new URLSearchParams(location.search).get("verdict");
  // A link to one claim shows it, whatever else was asked or chosen.
  const one = () => location.hash.startsWith("#claim-");
  show(counts.get(asked) && !one() ? asked : "all");
  addEventListener("hashchange", () => one() && show("all"));
})();
