// What the course's scripts share; a page loads it before them.

// A new element, in one line: courseElement("p", { class: "says" }, "text", child).
const courseElement = (tag, attributes = {}, ...inside) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...inside);
  return made;
};

// What the course's pages keep in the reader's own browser, each under a name that begins with "course-". Nothing is sent anywhere.
// Where a browser keeps nothing, the pages work all the same, for this visit.
const courseKept = {
  here: new Map(), // what the browser would not take
  get(name) {
    if (this.here.has(name)) return this.here.get(name);
    try {
      return localStorage.getItem(name);
    } catch {
      return null;
    }
  },
  set(name, value) {
    try {
      if (value === null) localStorage.removeItem(name);
      else localStorage.setItem(name, value);
      this.here.delete(name);
    } catch {
      this.here.set(name, value);
    }
  },
  // A list of texts; an empty one is not kept. What is no list of texts (an older page's, another program's) counts as an empty one.
  list(name) {
    try {
      const found = JSON.parse(this.get(name));
      return Array.isArray(found) ? found.filter((one) => typeof one === "string") : [];
    } catch {
      return [];
    }
  },
  setList(name, texts) {
    this.set(name, texts.length ? JSON.stringify(texts) : null);
  },
};
