// The search as one types: in the dialog of every page, and on the pages that show all results.
// layout.html fetches this, rank.js and the index when the reader begins to type, not before.
(() => {
  "use strict";
  const root = new URL("../../", document.currentScript.src); // of the site
  const MOST = { dialog: 8, page: 25 };

  const element = (tag, attributes = {}, ...inside) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...inside);
    return made;
  };
  // What the index has as HTML: letters with what stands below and above them.
  function printed(name, html) {
    const made = element("span", { class: name });
    made.innerHTML = html;
    return made;
  }
  const found = (query, most) => CourseSearch.rank(CourseSearch.index, query, most);
  function count({ length: n, instead = [] }, most) {
    const read = instead.map(([typed, taken]) => ` “${typed}” was read as “${taken}”.`).join("");
    return (
      (n === 0
        ? "Nothing found."
        : n === most
          ? `The best ${n} results.`
          : `${n} result${n > 1 ? "s" : ""}.`) + read
    );
  }

  // One result as a link: the section, the page it is on, how it begins.
  function link({ section }, attributes) {
    const index = CourseSearch.index,
      [page, anchor, title, lead, , , shown] = index.sections[section];
    const [address, name] = index.pages[page];
    const made = element(
      "a",
      { ...attributes, href: new URL(address, root) + (anchor && `#${anchor}`) },
      shown ? printed("found-title", shown) : element("span", { class: "found-title" }, title),
    );
    if (anchor) made.append(element("span", { class: "found-page" }, name));
    if (lead) made.append(printed("found-lead", lead));
    return made;
  }

  // The dialog: a field with a list below it, of which one entry is chosen.
  function inDialog(dialog, input) {
    const list = element("div", {
      id: "found-list",
      role: "listbox",
      "aria-label": "Sections found",
    });
    const status = element("p", { role: "status", class: "found-status" });
    const all = element("a", { class: "found-all" }, "All results");
    dialog.append(list, element("div", { class: "found-foot" }, status, all));
    for (const [name, value] of Object.entries({
      role: "combobox",
      "aria-autocomplete": "list",
      "aria-controls": list.id,
      "aria-expanded": "false",
    }))
      input.setAttribute(name, value);
    let chosen = 0;

    const choose = (place) => {
      const options = [...list.children];
      chosen = (place + options.length) % options.length;
      options.forEach((option, i) => option.setAttribute("aria-selected", String(i === chosen)));
      input.setAttribute("aria-activedescendant", options[chosen].id);
      options[chosen].scrollIntoView({ block: "nearest" });
    };
    const show = () => {
      const results = found(input.value, MOST.dialog);
      list.replaceChildren(
        ...results.map((result, i) =>
          link(result, { id: `found-${i}`, role: "option", tabindex: "-1" }),
        ),
      );
      input.setAttribute("aria-expanded", String(results.length > 0));
      status.textContent = input.value.trim() ? count(results, MOST.dialog) : "";
      // a question in other words than the book's: its meaning may be found
      all.textContent = results.length ? "All results" : "Ask the book instead";
      all.href = new URL(
        results.length ? `search.html?q=${encodeURIComponent(input.value)}` : "book/ask.html",
        root,
      );
      all.hidden = !input.value.trim();
      if (results.length) choose(0);
      else input.removeAttribute("aria-activedescendant");
    };
    input.addEventListener("input", show);
    input.addEventListener("keydown", (event) => {
      if (event.isComposing || !list.children.length) return;
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step) choose(chosen + step);
      else if (event.key === "Enter") list.children[chosen].click();
      else return;
      event.preventDefault();
    });
    // a section of this very page: nothing is loaded, and the dialog would stay before it
    list.addEventListener("click", () => dialog.close());
    show();
  }

  // A page of results: a list of links below the field, and an address that says what was asked.
  function onPage(place, input) {
    const status = element("p", { role: "status", class: "found-status" });
    const list = element("ol", { class: "found-list" });
    place.replaceChildren(status, list);
    const show = () => {
      const results = found(input.value, MOST.page);
      list.replaceChildren(...results.map((result) => element("li", {}, link(result, {}))));
      status.textContent = input.value.trim() ? count(results, MOST.page) : "";
    };
    const links = () => [...list.querySelectorAll("a")];
    input.addEventListener("input", () => {
      show();
      if (place.dataset.address !== undefined)
        history.replaceState(null, "", `?q=${encodeURIComponent(input.value)}`);
    });
    input.form.addEventListener("submit", (event) => {
      event.preventDefault();
      show();
    });
    place.parentElement.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const stops = [input, ...links()],
        now = stops.indexOf(document.activeElement);
      if (!step || now < 0 || !stops[now + step]) return;
      event.preventDefault();
      stops[now + step].focus();
    });
    show();
  }

  document.head.append(
    element("link", { rel: "stylesheet", href: new URL("_static/search/search.css", root) }),
  );
  for (const input of document.querySelectorAll(".bd-search input")) {
    const dialog = input.closest("dialog"),
      place = document.getElementById("search-results");
    if (dialog) inDialog(dialog, input);
    else if (place) onPage(place, input);
  }
})();
