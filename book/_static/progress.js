// What one has read: a mark beside each chapter in the list of pages and on the welcome page's cards, and there the way on. A section is
// read when it has stood where one reads for some seconds and its end has been seen; a chapter when all its sections are, or when its
// reader says so at its foot. It stays in her browser, and the welcome page forgets it at a press.
(() => {
  const KEPT = "course-read", // a list of "05_encoder 3/7", the one that was read last at its end
    CHAPTER = /\/notebooks\/(\d\d[bc]?_\w+)\.html$/;
  const SECONDS = 5,
    LINE = 40; // per cent of the screen's height: where one reads
  const ASIDE = ["exercises", "references"]; // they need not be read
  const nameOf = (address) => CHAPTER.exec(new URL(address, location.href).pathname)?.[1];

  // The chapters in the order of the book, as the list of pages has them.
  const links = new Map();
  for (const link of document.querySelectorAll(".bd-docs-nav a[href]")) {
    const name = nameOf(link.href);
    if (name) links.set(name, link);
  }
  const titles = new Map([...links].map(([name, link]) => [name, link.textContent.trim()]));

  // {name: {n, of}} of what was begun, the latest last.
  function known() {
    const found = new Map();
    for (const line of courseKept.list(KEPT)) {
      const [, name, n, of] = /^(\w+) (\d+)\/(\d+)$/.exec(line) ?? [];
      if (links.has(name)) found.set(name, { n: Number(n), of: Number(of) });
    }
    return found;
  }
  const whole = ({ n, of }) => n >= of;
  const said = (one) => (whole(one) ? "read" : `${one.n} of ${one.of} sections read`);

  function note(name, ids, of) {
    const others = courseKept.list(KEPT).filter((line) => !line.startsWith(`${name} `));
    courseKept.setList(`${KEPT}:${name}`, ids);
    courseKept.setList(KEPT, ids.length ? [...others, `${name} ${ids.length}/${of}`] : others);
    show();
  }

  function show() {
    const read = known();
    for (const mark of document.querySelectorAll(".read-mark, .card-read")) mark.remove();
    for (const [name, one] of read) {
      const mark = courseElement("span", {
        class: whole(one) ? "read-mark read-whole" : "read-mark",
        role: "img",
        "aria-label": said(one),
        title: said(one),
        style: `--share: ${(100 * one.n) / one.of}%`,
      });
      links.get(name).append(mark);
    }
    for (const card of document.querySelectorAll("ul.chapter-cards a")) {
      const one = read.get(nameOf(card.href));
      if (one)
        card.append(
          courseElement(
            "span",
            { class: "card-read" },
            said(one).replace(/^./, (a) => a.toUpperCase()),
          ),
        );
    }
    welcome?.(read);
    chapter?.();
  }

  // The welcome page: the way on, and how far one is.
  function onWelcome(start) {
    const first = start.querySelector("a"),
      on = courseElement("a", { class: "start-first go-on" });
    const line = courseElement("p", { class: "read-so-far", role: "status" }),
      forget = courseElement("button", { type: "button" }, "Forget it");
    forget.addEventListener("click", () => {
      for (const name of links.keys()) courseKept.set(`${KEPT}:${name}`, null);
      courseKept.set(KEPT, null);
      show();
      line.textContent = "Forgotten: this browser keeps nothing of what you have read.";
      first.focus();
    });
    const called = (name) => {
      const number = /^\d+[bc]?(?=\.)/.exec(titles.get(name))?.[0];
      return number ? `chapter ${number}` : `“${titles.get(name)}”`;
    };
    start.after(line);

    return (read) => {
      const names = [...links.keys()],
        last = [...read.keys()].at(-1),
        open = (name) => !read.has(name) || !whole(read.get(name));
      const next = last && [last, ...names.slice(names.indexOf(last) + 1), ...names].find(open);
      on.remove();
      first.classList.toggle("start-first", !next);
      line.textContent = "";
      if (next) {
        on.href = links.get(next).href;
        on.textContent = `Go on with ${called(next)}`;
        start.prepend(on);
      }
      if (!last) return;
      const n = [...read.values()].filter(whole).length,
        begun = read.get(last);
      const parts = n ? [`${n} of ${names.length} pages`] : [];
      if (!whole(begun)) parts.push(`${begun.n} of ${begun.of} sections of ${called(last)}`);
      line.append(`Read so far: ${parts.join(" and ")}. Kept in this browser. `, forget);
    };
  }

  // A chapter: which of its sections stand where one reads, counted in seconds.
  function onChapter(name) {
    const sections = [...document.querySelectorAll(".bd-article > section > section[id]")].filter(
      ({ id, classList }) => !ASIDE.includes(id) && !classList.contains("end-card"),
    );
    const ids = sections.map(({ id }) => id),
      seconds = new Map(sections.map((section) => [section, 0])),
      here = new Set();
    const read = () => courseKept.list(`${KEPT}:${name}`).filter((id) => ids.includes(id));
    // The chapter may have other sections than when they were counted. Its place among the others stays.
    const counted = read().length ? [`${name} ${read().length}/${ids.length}`] : [];
    const recount = (line) => (line.startsWith(`${name} `) ? counted : line);
    courseKept.setList(KEPT, courseKept.list(KEPT).flatMap(recount));
    const observer = new IntersectionObserver(
      (changes) => {
        for (const { target, isIntersecting } of changes)
          here[isIntersecting ? "add" : "delete"](target);
      },
      { rootMargin: `-${LINE}% 0px -${99 - LINE}% 0px` },
    );
    for (const section of sections) observer.observe(section);
    setInterval(() => {
      if (document.hidden) return;
      for (const section of here) seconds.set(section, seconds.get(section) + 1);
      const before = read();
      const more = sections.filter(
        (section) =>
          seconds.get(section) >= SECONDS &&
          !before.includes(section.id) &&
          section.getBoundingClientRect().bottom <= innerHeight,
      );
      if (more.length) note(name, [...before, ...more.map(({ id }) => id)], ids.length);
    }, 1000);

    const box = courseElement("input", { type: "checkbox" });
    box.addEventListener("change", () => {
      for (const section of sections) seconds.set(section, 0);
      note(name, box.checked ? ids : [], ids.length);
    });
    document
      .querySelector(".end-card")
      ?.append(
        courseElement(
          "p",
          { class: "read-by-hand" },
          courseElement("label", {}, box, " I have read this chapter"),
        ),
      );
    let noted = read();
    return () => {
      const now = read();
      // what was forgotten meanwhile has to be read again
      for (const section of sections)
        if (noted.includes(section.id) && !now.includes(section.id)) seconds.set(section, 0);
      noted = now;
      box.checked = now.length === ids.length;
    };
  }

  const start = document.querySelector(".start"),
    name = nameOf(location.href);
  const welcome = start ? onWelcome(start) : null,
    chapter = links.has(name) ? onChapter(name) : null;
  show();
  addEventListener("storage", ({ key }) => (key === null || key.startsWith(KEPT)) && show());
  addEventListener("pageshow", ({ persisted }) => persisted && show());
})();
