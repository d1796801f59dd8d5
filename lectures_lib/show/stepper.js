// The stepper. Before this script stands a <div> with the frames (attribute data-frames: a list of {label, html}), the style and
// one frame to be read without scripts. The script gives the div a shadow: a tree of its own that hides that frame and that no rule
// of the page reaches. All frames lie on top of each other in it, so the largest reserves the room and nothing jumps.
(() => {
  "use strict";
  const MOST = 12; // frames on paper

  // An element in one line: make("p", {class: "st-title"}, "text", child).
  function make(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }

  function build(host) {
    const { title, alt, start, frames } = JSON.parse(host.dataset.frames);
    const last = frames.length - 1;
    let shown = start;

    const back = make("button", { type: "button", "aria-label": "Previous step" }, "◀");
    const next = make("button", { type: "button", "aria-label": "Next step" }, "▶");
    const slider = make("input", { type: "range", min: 0, max: last, step: 1, value: start, "aria-label": "Step" });
    const place = make("span", { "aria-hidden": "true" });
    const says = make("p", { role: "status" });
    const room = frames.map(({ label }) => make("span", { class: "st-off", "aria-hidden": "true" }, label));
    // On paper stand all frames, of many the first, the middle one and the last, each below its number and label.
    const prints = (i) => frames.length <= MOST || [0, Math.floor(last / 2), last].includes(i);
    const stage = frames.map(({ label, html }, i) => {
      const frame = make("div", { class: prints(i) ? "st-frame" : "st-frame st-left-out", "data-label": `${i + 1} / ${last + 1}: ${label}` });
      frame.innerHTML = html; // Python escaped what is text in it
      return frame;
    });

    function show(index) {
      shown = Math.min(last, Math.max(0, index));
      stage.forEach((frame, i) => {
        frame.classList.toggle("st-off", i !== shown);
        // A frame too wide for the page scrolls, and must then be reachable by keyboard.
        frame.toggleAttribute("tabindex", false);
        if (i === shown && frame.scrollWidth > frame.clientWidth + 1) frame.setAttribute("tabindex", "0");
      });
      slider.value = shown;
      slider.setAttribute("aria-valuetext", `${shown + 1} of ${last + 1}: ${frames[shown].label}`);
      place.textContent = `${shown + 1} / ${last + 1}`;
      says.textContent = frames[shown].label;
      back.setAttribute("aria-disabled", shown === 0); // not `disabled`: the focus would be lost
      next.setAttribute("aria-disabled", shown === last);
    }

    const box = make("div", { class: "st-box figure-card", role: "group", "aria-label": title, "aria-describedby": "about" },
      make("p", { class: "st-title" }, title),
      make("p", { id: "about", class: "st-hidden" }, alt),
      make("div", { class: "st-bar" }, back, slider, next, place),
      make("div", { class: "st-pile st-says" }, says, ...room),
      make("div", { class: "st-pile" }, ...stage));

    back.addEventListener("click", () => show(shown - 1));
    next.addEventListener("click", () => show(shown + 1));
    slider.addEventListener("input", () => show(Number(slider.value)));
    box.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: shown - 1, ArrowRight: shown + 1, Home: 0, End: last }[event.key];
      const scrolls = event.target.classList.contains("st-frame");
      if (step === undefined || scrolls || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      show(step);
    });

    host.attachShadow({ mode: "open" }).append(host.querySelector("style").cloneNode(true), box, make("slot"));
    show(start);
  }

  // Built at once on the first screen, where a reader would see it change; elsewhere when it comes near, so that the page need not wait.
  // The same stepper may stand on a page twice, and a notebook may run this script again: each div is taken over once.
  const start = (host) => { if (!host.shadowRoot) build(host); };
  const watch = new IntersectionObserver((all) => {
    for (const { target, isIntersecting } of all) if (isIntersecting) start(target);
  }, { rootMargin: "100%" });
  const hosts = document.querySelectorAll('.stepper[data-stepper="WIDGET_ID"][data-frames]');
  for (const host of hosts) {
    if (host.getBoundingClientRect().top < innerHeight) start(host); else watch.observe(host);
  }
  addEventListener("beforeprint", () => hosts.forEach(start));
})();
