// What every live figure has: fields, buttons, drawings, a status line, and a model that is fetched when it is first needed.
import { Machine } from "./machine.js";

export const MOST = 2000; // characters
export const whole = (number) => number.toLocaleString("en-US");
export const plural = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
const WORKING = "Computing …";

function put(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes))
    if (value !== null) node.setAttribute(name, value);
  node.append(...children);
  return node;
}
// An element of the page, or of a drawing (SVG): make("p", { class: "lv-about" }, "text", child).
export const make = (tag, attributes = {}, ...children) =>
  put(document.createElement(tag), attributes, children);
export const draw = (tag, attributes = {}, ...children) =>
  put(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

export const percent = (share) =>
  share > 0 && share < 0.0005 ? "< 0.1 %" : `${(100 * share).toFixed(1)} %`;
export const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
let numbered = 0;

export function field(label, input) {
  input.id = `live-${++numbered}`;
  input.setAttribute("autocomplete", "off"); // a browser that comes back must not fill in what the page does not know of
  return make("div", { class: "lv-field" }, make("label", { for: input.id }, label), input);
}

export function choice(label, options) {
  const select = make(
    "select",
    {},
    ...options.map(([value, text]) => make("option", { value }, text)),
  );
  return { select, whole: field(label, select) };
}

export function slider(label, { min, max, step, value }, shown) {
  const input = make("input", { type: "range", min, max, step, value });
  const says = make("span", { class: "lv-value", "aria-hidden": "true" });
  const tell = () => {
    says.textContent = shown(Number(input.value));
    input.setAttribute("aria-valuetext", says.textContent);
  };
  input.addEventListener("input", tell);
  tell();
  const whole = field(label, input);
  whole.append(says);
  return { input, whole, tell };
}

// The head and the body of a table whose first column names its rows. heads: [text, kind] of the other columns; rows: [name, ...values].
export const columns = (heads, rows) => [
  make(
    "thead",
    {},
    make(
      "tr",
      {},
      make("td"),
      ...heads.map(([text, kind = null]) =>
        text ? make("th", { scope: "col", class: kind }, text) : make("td"),
      ),
    ),
  ),
  make(
    "tbody",
    {},
    ...rows.map(([name, ...values]) =>
      make(
        "tr",
        {},
        make("th", { scope: "row" }, name),
        ...values.map((value) => make("td", {}, value)),
      ),
    ),
  ),
];

export const bar = (share, kind) =>
  make("i", { class: `lv-bar lv-${kind}`, style: `--share: ${share.toFixed(4)}` });

// What every live figure has: a status line, and a model that is fetched when it is first needed.
export class Figure {
  constructor(host, { title, models }) {
    this.host = host;
    this.machines = models.map((model) => new Machine(model));
    this.status = make("p", { class: "lv-status", role: "status" });
    this.title = make("p", { class: "lv-title" }, title);
  }

  // In place of the example, which stays for paper.
  show(...parts) {
    const still = this.host.querySelector(".lv-still");
    this.host.classList.add("lv-on");
    this.host.replaceChildren(
      ...(still ? [still] : []),
      make(
        "div",
        { class: "lv-box figure-card", role: "group", "aria-label": this.title.textContent },
        this.title,
        ...parts,
      ),
    );
  }

  // It shows something of the reader's: paper shall show that.
  used() {
    this.host.classList.add("lv-used");
  }

  say(text, wrong = false) {
    this.status.textContent = text || this.wasCut;
    this.status.classList.toggle("lv-wrong", wrong);
  }

  // A field that takes so many characters. That what was typed or pasted is longer is said where there is nothing else to say, until the text
  // is another.
  bounded(input) {
    input.addEventListener("beforeinput", ({ data, dataTransfer }) => {
      const { value, selectionStart, selectionEnd, maxLength } = input,
        more = data ?? dataTransfer?.getData("text/plain") ?? "";
      if (value.length - (selectionEnd - selectionStart) + more.length <= maxLength) return;
      setTimeout(() => {
        this.cutOff = { input, text: input.value };
        this.say("");
      }); // when what the input brings about has been said
    });
    return input;
  }

  get wasCut() {
    const { input, text } = this.cutOff ?? {};
    return input && input.value === text
      ? `The field takes ${whole(input.maxLength)} characters; what is longer is cut.`
      : "";
  }

  // The field for a sentence and the button that starts; so does Enter. Returns the field with its label.
  asks(label, button, start, most = MOST) {
    this.text = this.bounded(
      make("textarea", { rows: 2, maxlength: most, dir: "auto", spellcheck: "false" }),
    );
    this.go = make("button", { type: "button", class: "lv-go" }, button);
    this.go.addEventListener("click", () => start());
    this.starts(this.text, start);
    return field(label, this.text);
  }

  // Enter starts. Where a text has several `lines`, it begins one, and Ctrl + Enter starts. (An Enter that ends a composition does not.)
  starts(text, start, lines = false) {
    text.setAttribute("enterkeyhint", lines ? "enter" : "go");
    if (lines) this.go.title = "Ctrl + Enter in the field does the same";
    text.onkeydown = (event) => {
      const other = lines ? !event.ctrlKey && !event.metaKey : event.shiftKey;
      if (event.key !== "Enter" || event.isComposing || event.keyCode === 229 || other) return;
      event.preventDefault();
      if (!event.repeat) start(); // once as long as it is held
    };
  }

  // Another text: what was found for the one before goes.
  forget() {
    this.stop();
    this.found.hidden = true;
    if (this.machine.loaded) this.say("");
  }

  // Sentences to begin with; `take` is told the one that is chosen.
  offers(examples, take, lang = null) {
    return examples.map((example) => {
      const button = make("button", { type: "button", lang }, example);
      button.addEventListener("click", () => take(example));
      return button;
    });
  }

  // What stands there at first.
  get shownFirst() {
    return "what it makes of the example";
  }

  // Show what the model answers to the example. It was asked while the site was built (first_answers.py): no model is fetched. A screen
  // reader, which has not come to the figure yet, is told nothing.
  async rehearse(answers) {
    if (!answers.length) return;
    const said = this.status.textContent,
      loud = this.host.querySelectorAll("[aria-live], [role=status]");
    const before = [...loud].map((one) => one.getAttribute("aria-live"));
    for (const one of loud) one.setAttribute("aria-live", "off");
    this.answers = [...answers];
    try {
      await this.start();
    } finally {
      this.answers = undefined;
      setTimeout(() =>
        loud.forEach((one, i) =>
          before[i] ? one.setAttribute("aria-live", before[i]) : one.removeAttribute("aria-live"),
        ),
      );
    }
    const shown = `Shown: ${this.shownFirst}. ${said}`;
    this.say(shown);
    this.host.addEventListener("input", ({ target }) => {
      if (target.matches("textarea, input[type=text]") && this.status.textContent === shown)
        this.say(said);
    });
  }

  // Does the status line tell of a download? It goes on telling when nobody waits for an answer any more.
  get fetching() {
    return /^(Fetching|Starting) the model/.test(this.status.textContent);
  }

  // Run a task on a model; only the latest one counts. `quiet`: of a task that the reader did not ask for nothing is said.
  async run(machine, task, request, tell, quiet = false) {
    if (this.answers) {
      const { parts, result } = this.answers.shift();
      parts.forEach(tell);
      return result;
    }
    this.stop();
    const turn = (this.turn = {});
    const current = () => this.turn === turn;
    try {
      if (!machine.loaded)
        this.say(
          machine.here
            ? "Starting the model …"
            : `Fetching the model, ${megabytes(machine.bytes)} …`,
        );
      else if (!quiet) this.say("");
      await machine.load((share) => {
        if (current() || this.fetching)
          this.say(
            `Fetching the model: ${Math.round(100 * share)} % of ${megabytes(machine.bytes)}`,
          );
      });
      if (!current()) {
        if (!this.turn && this.fetching) this.say("The model is here.");
        return null;
      }
      if (!quiet) this.say(WORKING);
      this.running = machine.ask(task, request, (part) => {
        if (current()) tell(part);
      });
      const result = await this.running.promise;
      if (!current()) return null;
      this.used();
      if (this.status.textContent === WORKING) this.say("");
      return result;
    } catch (error) {
      if (current() || this.fetching) this.say(`That did not work: ${error.message}`, true);
      return null;
    } finally {
      if (current()) this.turn = undefined;
    }
  }

  stop() {
    this.turn = undefined;
    this.running?.cancel();
    this.running = undefined;
  }
}
