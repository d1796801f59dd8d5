// Sorts the table that stands before this script by the column whose button was pressed, and hides what is right if asked to.
// Without scripts the table is whole, in the order in which it was made.
(() => {
  "use strict";
  // The same table may stand on a page twice.
  for (const root of document.querySelectorAll('[data-errors="WIDGET_ID"]:not([data-ready])')) {
    root.dataset.ready = "";
    start(root);
  }

  function start(root) {
    const body = root.querySelector("tbody");
    const heads = [...root.querySelectorAll("thead th")];

    // What a cell is sorted by: its number, if it has one, else its text.
    function key(row, column) {
      const { dataset, textContent } = row.cells[column];
      return dataset.value === undefined ? textContent : Number(dataset.value);
    }

    // Numbers, then texts, then NaN, which is neither more nor less than anything: in this order whichever way one sorts.
    const kind = (k) => (typeof k === "string" ? 1 : Number.isNaN(k) ? 2 : 0);

    function sort(column, upwards) {
      const sign = upwards ? 1 : -1;
      const more = (a, b) => (typeof a === "string" ? a.localeCompare(b) : a === b || Number.isNaN(a) ? 0 : a - b);
      const compare = (a, b) => kind(a) - kind(b) || sign * more(a, b);
      const rows = [...body.rows].sort((a, b) => compare(key(a, column), key(b, column)));
      body.append(...rows);
      heads.forEach((head, i) => {
        head.setAttribute("aria-sort", i !== column ? "none" : upwards ? "ascending" : "descending");
        head.querySelector("span").textContent = i !== column ? "↕" : upwards ? "▲" : "▼";
      });
    }

    heads.forEach((head, column) => {
      head.querySelector("button").addEventListener("click", () => sort(column, head.getAttribute("aria-sort") !== "ascending"));
    });
    const only = root.querySelector("input");
    const show = () => root.classList.toggle("et-only", only.checked);
    only.addEventListener("change", show);
    show(); // a browser may remember the box from the last visit
  }
})();
