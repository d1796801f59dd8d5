// The attention viewer. Before it stands a <div> with the data (data-attention), the style (in a <template>) and a picture.
// It gives the div a shadow: a tree that hides the picture, out of reach of the page's rules.
// Two directions: "from" a query (its row: whom does it attend to?), "to" a key (its column: who attends to it?).
(() => {
  "use strict";

  const OTHER = { from: "to", to: "from" };
  const FLAT = { ArrowLeft: -1, ArrowRight: 1 };
  const STEEP = { ArrowUp: -1, ArrowDown: 1 };
  const VERB = { from: "attends to", to: "is attended to by" };

  // One byte a weight: thirds of a percent up to one half, whole percents (Python's quantise()).
  const decode = (text) => Float32Array.from(atob(text), (c) => {
    const code = c.charCodeAt(0);
    return code <= 150 ? code / 300 : (code - 100) / 100;
  });

  const percent = (weight) => Math.round(100 * weight);
  const percentText = (weight) => `${percent(weight)}\u00a0%`;

  // How much colour a weight gets. The root lifts small ones.
  const shade = (weight) => Math.sqrt(weight);

  // An element in one line: make("p", {class: "says"}, "text", child).
  function make(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }

  // <bdi>: a Hebrew token must not turn the text around it.
  const bold = (text) => make("b", {}, make("bdi", {}, text));

  // The chosen button of a switch.
  function press(group, chosen) {
    for (const button of group.children) button.setAttribute("aria-pressed", button.dataset.value === chosen);
  }

  const inkOf = (canvas) => getComputedStyle(canvas).color.match(/[\d.]+/g);

  // One pixel a weight; CSS stretches it. In the element's text colour, more or less transparent.
  function draw(canvas, weights, columns, [red, green, blue] = inkOf(canvas)) {
    canvas.width = columns;
    canvas.height = weights.length / columns;
    const image = new ImageData(canvas.width, canvas.height);
    weights.forEach((weight, i) => image.data.set([red, green, blue, 255 * shade(weight)], 4 * i));
    canvas.getContext("2d").putImageData(image, 0, 0);
  }

  class Viewer {
    constructor(host) {
      const data = JSON.parse(host.dataset.attention);
      this.data = data;
      this.cross = data.keys !== null;
      this.tokens = { from: data.queries, to: data.keys ?? data.queries };
      this.size = data.queries.length * this.tokens.to.length;
      this.weights = decode(data.weights);
      // What the reader has chosen...
      Object.assign(this, { layer: data.layer, head: data.head, view: data.view, direction: "from" });
      this.pin = { from: data.token, to: this.cross ? 0 : data.token };
      // ... and what the pointer is on: a token {side, index}, a cell {q, k}, or nothing.
      this.hover = this.cell = null;
      this.build(host);
    }

    // ---- what there is to show

    weightsOf(layer, head) {
      const start = (layer * this.data.heads + head) * this.size;
      return this.weights.subarray(start, start + this.size);
    }

    weight(q, k) {
      return this.weightsOf(this.layer, this.head)[q * this.tokens.to.length + k];
    }

    // The token whose weights are shown.
    active() {
      if (this.cell) return { side: this.direction, index: this.direction === "from" ? this.cell.q : this.cell.k };
      return this.hover ?? { side: this.direction, index: this.pin[this.direction] };
    }

    // Its row of the matrix, or its column.
    shares({ side, index }) {
      return this.tokens[OTHER[side]].map((_, other) => (side === "from" ? this.weight(index, other) : this.weight(other, index)));
    }

    headLabel(layer, head) {
      const which = this.data.layers > 1 ? `layer ${layer}, head ${head}` : `head ${head}`;
      const name = this.data.names[`${layer},${head}`];
      return name ? `${which}: ${name}` : which;
    }

    // ---- building

    build(host) {
      const shadow = host.attachShadow({ mode: "open" });
      shadow.append(host.querySelector("style").cloneNode(true), host.querySelector("template").content.cloneNode(true));
      this.root = make("div", { class: "viewer figure-card", role: "group", "aria-label": this.data.title || "Attention viewer" });
      shadow.append(this.root, make("slot")); // lets the picture through, for print
      this.which = make("p", { class: "which" });
      this.stage = make("div", { class: "stage" });
      this.says = make("p", { class: "says", "aria-live": "polite" });
      this.sum = make("p", { class: "sum" });
      const title = make("p", { class: "title" }, this.data.title);
      const answer = make("div", { class: "answer" }, this.says, this.sum);
      this.root.append(title, this.which, this.switches(), this.stage, answer, this.picker(), this.hint());
      this.listen();
      this.show(this.view);
    }

    switches() {
      this.viewSwitch = this.switch("View", { sentence: "Sentence", matrix: "Matrix" }, (view) => this.show(view));
      this.directionSwitch = this.switch("Direction", VERB, (side) => this.choose(side, this.pin[side]));
      return make("div", { class: "bar" }, this.directionSwitch, this.viewSwitch);
    }

    switch(label, choices, act) {
      const group = make("div", { class: "switch", role: "group", "aria-label": label });
      for (const [value, text] of Object.entries(choices)) {
        const button = make("button", { "data-value": value }, text);
        button.addEventListener("click", () => act(value));
        group.append(button);
      }
      return group;
    }

    show(view) {
      this.view = view;
      this.cell = this.hover = null;
      this.buttons = { from: [], to: [] };
      this.stage.replaceChildren(view === "matrix" ? this.matrix() : this.sentence());
      this.drawAll();
      this.paint();
    }

    // All tokens of one side, one of them chosen: radio buttons.
    group(side, className, name, makeChild) {
      const group = make("div", { class: className, role: "radiogroup", "aria-label": name });
      this.buttons[side] = this.tokens[side].map((text, index) => {
        const button = makeChild(text);
        button.setAttribute("role", "radio");
        button.at = { side, index };
        group.append(button);
        return button;
      });
      return group;
    }

    sentence() {
      const token = (text) =>
        make("button", { class: "token" }, make("span", { class: "word", dir: "auto" }, text), make("span", { class: "share" }));
      if (!this.cross) {
        const group = this.group("from", "tokens", "Tokens", token);
        this.buttons.to = this.buttons.from; // one sentence plays both parts
        return group;
      }
      return make(
        "div", {},
        make("p", { class: "side" }, "queries"), this.group("from", "tokens", "Queries", token),
        make("p", { class: "side" }, "keys"), this.group("to", "tokens", "Keys", token),
      );
    }

    matrix() {
      const columns = this.tokens.to.length;
      const label = (className) => (text) => make("button", { class: `label ${className}`, dir: "auto", title: text }, text);
      const rows = this.group("from", "rows", "Queries, one a row", label("row"));
      const tops = this.group("to", "columns", "Keys, one a column", label("column"));
      this.canvas = make("canvas", { "aria-hidden": "true" });
      this.rings = { line: make("div", { class: "ring" }), cell: make("div", { class: "ring across" }) };
      this.plane = make("div", { class: "plane" }, this.canvas, this.rings.line, this.rings.cell);
      this.plane.style.aspectRatio = `${columns} / ${this.tokens.from.length}`;
      const matrix = make("div", { class: "matrix" }, make("span"), tops, rows, this.plane);
      matrix.style.setProperty("--n", columns);
      return make("div", { class: "scroll" }, matrix);
    }

    picker() {
      const { layers, heads } = this.data;
      this.thumbs = [];
      if (layers * heads === 1) return "";
      const grid = make("div", { class: "heads", role: "radiogroup", "aria-label": "Heads" });
      grid.style.gridTemplateColumns = `auto repeat(${heads}, minmax(24px, ${layers > 1 ? 46 : 64}px))`;
      const rowLabel = (...text) => make("span", { class: "side" }, ...text);
      grid.append(rowLabel(make("i", {}, "head")), ...Array.from({ length: heads }, (_, head) => make("span", {}, head)));
      for (let layer = 0; layer < layers; layer++) {
        grid.append(layers > 1 ? rowLabel(make("i", {}, "layer "), layer) : rowLabel());
        for (let head = 0; head < heads; head++) grid.append(this.thumb(layer, head));
      }
      return make("div", { class: "pick scroll" }, grid);
    }

    thumb(layer, head) {
      const label = this.headLabel(layer, head);
      const named = `${layer},${head}` in this.data.names ? " named" : "";
      const button = make("button", { class: `head${named}`, role: "radio", "aria-label": label, title: label });
      button.append(make("canvas"));
      button.addEventListener("click", () => this.chooseHead(layer, head));
      this.thumbs.push(button);
      return button;
    }

    hint() {
      const heads = this.thumbs.length ? " Keys [ and ] change the head." : "";
      const dots = Object.keys(this.data.names).length ? " A dot: a named head." : "";
      return make("p", { class: "hint" }, `Point at a token; click to keep it; arrow keys move.${heads}${dots}`);
    }

    twoSided() {
      return this.cross || this.view === "matrix";
    }

    // ---- listening

    listen() {
      this.root.addEventListener("keydown", (event) => this.key(event));
      const on = (type, act) => this.stage.addEventListener(type, (event) => act.call(this, event));
      on("pointerover", this.point);
      on("pointermove", this.pointCell);
      on("pointerdown", this.pointCell);
      on("pointerleave", this.leave);
      on("click", this.click);
      // A new theme is a new text colour, with a transition of 1 ms, whose end tells us.
      this.root.addEventListener("transitionend", (event) => event.target === this.root && this.drawAll());
    }

    place(event) {
      return event.target.closest(".token, .label")?.at;
    }

    // In one sentence a token is query and key: the switch says which.
    sideOf(at) {
      return this.twoSided() ? at.side : this.direction;
    }

    point(event) {
      const at = this.place(event);
      if (!at) return;
      this.cell = null;
      this.hover = { side: this.sideOf(at), index: at.index };
      this.paint();
    }

    pointCell(event) {
      if (!event.target.closest(".plane")) return;
      const box = this.plane.getBoundingClientRect();
      const within = (part, n) => Math.min(n - 1, Math.floor(Math.max(0, part) * n));
      this.hover = null;
      this.cell = {
        q: within((event.clientY - box.top) / box.height, this.tokens.from.length),
        k: within((event.clientX - box.left) / box.width, this.tokens.to.length),
      };
      this.paint();
    }

    // A lifted finger "leaves": what it touched stays.
    leave(event) {
      if (event.pointerType === "touch") return;
      this.hover = this.cell = null;
      this.paint();
    }

    click(event) {
      const at = this.place(event);
      if (at) this.choose(this.sideOf(at), at.index);
      else if (event.target.closest(".plane")) this.choose(this.direction, this.active().index, true);
    }

    choose(side, index, keepCell = false) {
      this.direction = side;
      this.pin[side] = index;
      if (!this.cross) this.pin[OTHER[side]] = index;
      this.hover = null;
      if (!keepCell) this.cell = null;
      this.paint();
    }

    chooseHead(layer, head) {
      Object.assign(this, { layer, head, cell: null });
      this.drawMatrix();
      this.paint();
    }

    key(event) {
      if (event.metaKey || (event.ctrlKey && !event.altKey)) return; // both: AltGr, which may type [
      const at = this.place(event);
      const handled = this.keyForHead(event) || (at && this.keyForToken(event, at));
      if (!handled) return;
      event.preventDefault();
      event.stopPropagation(); // arrow keys turn sites' pages, and leave Jupyter's cell
    }

    keyForHead(event) {
      const { layers, heads } = this.data;
      const onThumbs = event.target.closest(".head");
      const steps = { "[": -1, "]": 1, ...(onThumbs && { ...FLAT, ArrowUp: -heads, ArrowDown: heads }) };
      const step = steps[event.key];
      if (!step || layers * heads === 1) return false;
      const next = (this.layer * heads + this.head + step + layers * heads) % (layers * heads);
      this.chooseHead(Math.floor(next / heads), next % heads);
      if (onThumbs) this.thumbs[next].focus();
      return true;
    }

    keyForToken(event, at) {
      const n = this.tokens[at.side].length;
      // In the matrix, a row's name moves up and down; left and right go through its cells. A column's, the other way round.
      const [along, across] = this.view !== "matrix" ? [{ ...FLAT, ...STEEP }, {}] : at.side === "from" ? [STEEP, FLAT] : [FLAT, STEEP];
      if (event.key in across) return this.stepCell(at, across[event.key]);
      const next = { Home: 0, End: n - 1 }[event.key] ?? at.index + (along[event.key] ?? NaN);
      if (Number.isNaN(next)) return false;
      const index = (next + n) % n;
      this.choose(this.sideOf(at), index);
      this.buttons[at.side][index].focus();
      return true;
    }

    stepCell(at, step) {
      const n = this.tokens[OTHER[at.side]].length;
      const before = this.cell ? (at.side === "from" ? this.cell.k : this.cell.q) : step > 0 ? -1 : n;
      const other = (before + step + n) % n;
      this.choose(at.side, at.index);
      this.cell = at.side === "from" ? { q: at.index, k: other } : { q: other, k: at.index };
      this.paint();
      return true;
    }

    // ---- painting

    drawAll() {
      const inks = this.thumbs.map((thumb) => inkOf(thumb.firstChild)); // asked before one is drawn
      this.thumbs.forEach((thumb, i) => draw(thumb.firstChild, this.weightsOf(0, i), this.tokens.to.length, inks[i]));
      this.drawMatrix();
    }

    drawMatrix() {
      if (this.view === "matrix") draw(this.canvas, this.weightsOf(this.layer, this.head), this.tokens.to.length);
    }

    paint() {
      const active = this.active();
      const shares = this.shares(active);
      press(this.viewSwitch, this.view);
      press(this.directionSwitch, active.side);
      this.paintTokens(active, shares);
      if (this.view === "matrix") this.paintRings(active);
      this.paintHead();
      this.say(active, shares);
    }

    paintTokens(active, shares) {
      const highest = Math.max(...shares);
      const lit = this.cell ? { from: this.cell.q, to: this.cell.k } : { [active.side]: active.index };
      for (const side of this.twoSided() ? ["from", "to"] : [active.side]) {
        this.buttons[side].forEach((button, index) => {
          const share = !this.cross || side !== active.side ? shares[index] : 0;
          button.classList.toggle("active", side === active.side && index === active.index);
          button.classList.toggle("lit", lit[side] === index);
          button.classList.toggle("top", share > 0 && share === highest);
          button.setAttribute("aria-checked", side === this.direction && index === this.pin[side]);
          button.tabIndex = index === this.pin[side] ? 0 : -1;
          if (this.view === "matrix") return;
          button.firstChild.style.setProperty("--shade", shade(share).toFixed(3));
          button.lastChild.textContent = percent(share) ? percentText(share) : "";
        });
      }
    }

    paintRings(active) {
      const [rows, columns] = [this.tokens.from.length, this.tokens.to.length];
      const part = (n, of) => `${(100 * n) / of}%`;
      const frame = (ring, top, left, height, width) => Object.assign(ring.style, {
        top: part(top, rows), height: part(height, rows), left: part(left, columns), width: part(width, columns),
      });
      if (active.side === "from") frame(this.rings.line, active.index, 0, 1, columns);
      else frame(this.rings.line, 0, active.index, rows, 1);
      this.rings.cell.hidden = !this.cell;
      if (this.cell) frame(this.rings.cell, this.cell.q, this.cell.k, 1, 1);
    }

    paintHead() {
      const current = this.layer * this.data.heads + this.head;
      this.thumbs.forEach((thumb, i) => {
        thumb.setAttribute("aria-checked", i === current);
        thumb.tabIndex = i === current ? 0 : -1;
      });
      const label = this.headLabel(this.layer, this.head);
      this.which.textContent = this.thumbs.length ? label[0].toUpperCase() + label.slice(1) : (this.data.names["0,0"] ?? "");
    }

    // The answer in words, for screen readers too.
    say({ side, index }, shares) {
      const others = this.tokens[OTHER[side]];
      if (this.cell) {
        const { q, k } = this.cell;
        this.says.replaceChildren(bold(this.tokens.from[q]), " → ", bold(this.tokens.to[k]), ` ${percentText(this.weight(q, k))}`);
      } else {
        const top = shares.map((share, other) => ({ share, other })).sort((a, b) => b.share - a.share).slice(0, 3);
        const named = top.filter(({ share }) => percent(share) > 0);
        const list = named.flatMap(({ share, other }, i) => [i ? " · " : " ", bold(others[other]), `\u00a0${percentText(share)}`]);
        this.says.replaceChildren(bold(this.tokens[side][index]), ` ${VERB[side]}`, ...(list.length ? list : [" nothing"]));
      }
      this.sum.textContent = this.sumText(side, shares);
    }

    sumText(side, shares) {
      const sum = shares.reduce((a, b) => a + b, 0);
      if (side === "to") return `These ${shares.length} weights add up to ≈ ${sum.toFixed(1)}. Each row adds up to 1; a column need not.`;
      return sum > 0.5 ? `The ${shares.length} weights of its row add up to 1.` : "Every weight of its row is 0: it may attend to nothing.";
    }
  }

  // Built when it comes near the screen, for heads take time; a script that runs again finds it done.
  const start = (host, near) => near && !host.shadowRoot && new Viewer(host);
  const watch = new IntersectionObserver((all) => all.forEach((seen) => start(seen.target, seen.isIntersecting)), { rootMargin: "100%" });
  for (const host of document.querySelectorAll('.attention-viewer[data-viewer="WIDGET_ID"][data-attention]')) {
    if (!start(host, host.getBoundingClientRect().top < innerHeight)) watch.observe(host);
  }
})();
