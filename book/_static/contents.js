// The two lists beside a page, its own Contents and the list of all pages, keep up with the reader: the section that is read is
// marked, and what is marked stands in view in its list's scroll box, in a telephone's drawer too.
//
// The theme marks a heading that comes into the upper third of the screen: not the section that one lands in the middle of, nor the
// one above that one scrolls back to, nor those at the end, which never get that high. lean.py takes that out. Here a heading counts
// as long as it is anywhere above the reading line, and the last of them is the section that is read; observers tell when one
// crosses the line, so nothing is measured while the page scrolls.
(() => {
  const contents = document.querySelector("#pst-page-toc-nav"),
    pages = document.querySelector(".bd-docs-nav");
  const end = document.querySelector(".bd-footer-article");
  const LINE = 0.3,
    ALL = 1e6; // where one reads, as a share of the screen's height; pixels, more than any page is long
  const MARGIN = 40; // between what is marked and its box's edge

  function bringIntoView(link) {
    const { top, bottom, height } = link.getBoundingClientRect();
    if (!height) return; // in a part that is closed
    let box = link.parentElement;
    while (
      box &&
      !(box.scrollHeight > box.clientHeight && /auto|scroll/.test(getComputedStyle(box).overflowY))
    )
      box = box.parentElement;
    if (!box || box === document.documentElement) return;
    const its = box.getBoundingClientRect(),
      begins = its.top + (parseFloat(getComputedStyle(box).scrollPaddingTop) || 0); // below what stays there
    if (top < begins + MARGIN) box.scrollTop += top - begins - MARGIN;
    else if (bottom > its.bottom - MARGIN) box.scrollTop += bottom - its.bottom + MARGIN;
  }

  // A list that is laid out anew, beside the page, or that comes in sight in its drawer shows its mark.
  const show = (list) =>
    [...list.querySelectorAll("a[aria-current], .current > a")].slice(-1).forEach(bringIntoView);
  // (By its width: a part that the reader opens makes it higher.)
  const wide = new Map();
  const sizes = new ResizeObserver((changes) => {
    for (const {
      target,
      contentRect: { width },
    } of changes) {
      if (wide.get(target) === width) continue;
      wide.set(target, width);
      show(target);
    }
  });
  const drawers = new MutationObserver(([{ target }]) => {
    if (target.open) target.querySelectorAll("nav").forEach(show);
  });
  for (const drawer of document.querySelectorAll("dialog[id^=pst-]"))
    drawers.observe(drawer, { attributeFilter: ["open"] });
  // After the theme, which puts the list of pages where it stood on the page before.
  addEventListener("DOMContentLoaded", () => {
    for (const list of [contents, pages]) if (list) sizes.observe(list);
  });
  if (!contents) return;

  const links = new Map(); // of headings
  for (const link of contents.querySelectorAll("a")) {
    const section = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (section) links.set(section.querySelector("h1, h2, h3, h4, h5, h6") ?? section, link);
  }

  const passed = new Set(),
    visible = new Set(); // headings above the line; on the screen
  let chosen, marked; // by a press or the address; of the list

  // Where the page cannot scroll on, the last sections never get up to the line: there it is the one that was chosen, or the last.
  function read() {
    const last = (headings) => [...links.keys()].findLast((heading) => headings.has(heading));
    if (!visible.has(end) || scrollY === 0) return last(passed);
    return visible.has(chosen) ? chosen : (last(visible) ?? last(passed));
  }

  function mark() {
    const link = links.get(read());
    if (link === marked) return;
    marked?.removeAttribute("aria-current");
    for (const one of contents.querySelectorAll(".active")) one.classList.remove("active");
    marked = link;
    if (!link) return;
    link.setAttribute("aria-current", "true");
    link.classList.add("active");
    for (let entry = link.parentElement; contents.contains(entry); entry = entry.parentElement)
      if (entry.matches(".toc-entry")) entry.classList.add("active");
    bringIntoView(link);
  }

  function observe(headings, rootMargin) {
    return new IntersectionObserver(
      (changes) => {
        for (const { target, isIntersecting } of changes) {
          headings[isIntersecting ? "add" : "delete"](target);
          if (!isIntersecting && headings === visible && target === chosen) chosen = undefined;
        }
        mark();
      },
      { rootMargin },
    );
  }
  const watching = [
    observe(passed, `${ALL}px 0px ${100 * (LINE - 1)}% 0px`),
    observe(visible, "0px"),
  ];
  for (const heading of links.keys()) for (const observer of watching) observer.observe(heading);
  if (end) watching[1].observe(end);

  const choose = (hash) => {
    const found = hash && [...links].find(([, link]) => link.hash === hash);
    if (!found) return;
    [chosen] = found;
    mark();
  };
  choose(location.hash);
  addEventListener("hashchange", () => choose(location.hash));
  contents.addEventListener("click", ({ target }) => choose(target.closest("a")?.hash)); // also of the address that one is at
})();
