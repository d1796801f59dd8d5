Reveal.initialize({
  width: 1280,
  height: 720,
  margin: 0.02,
  center: false,
  hash: true,
  slideNumber: "c/t",
  transition: "none",
  controlsTutorial: false,
  pdfMaxPagesPerSlide: 1,
  plugins: [RevealNotes],
  pdfSeparateFragments: false,
  scrollActivationWidth: null,
  defaultTiming: 240, // with it the speaker view shows a pace, from the minutes of each slide
}).then(() => {
  Reveal.addKeyBinding({ keyCode: 84, key: "T", description: "Light or dark" }, () => {
    const page = document.documentElement;
    page.dataset.theme = page.dataset.theme === "dark" ? "light" : "dark";
  });
});

// A live figure is fetched when its button is pressed. From then on the keys pressed in it are its own, and Escape, where the figure has
// no use for it, gives them back to the slides.
for (const host of document.querySelectorAll(".live[data-waits]")) {
  const button = host.querySelector(".run button"),
    status = host.querySelector("[role=status]");
  button.addEventListener("click", async () => {
    status.textContent = "Fetching …";
    button.disabled = true;
    try {
      const { begin } = await import("../../live/live.js");
      await begin(host);
      const box = host.querySelector(".lv-box:not(.lv-still)");
      for (let zoom = 1.3; zoom > 0.85; zoom -= 0.1) {
        // as large as it fits; what is longer scrolls
        box.style.zoom = zoom;
        if (host.scrollHeight <= host.clientHeight) break;
      }
      box.querySelector("textarea, input, select, button")?.focus({ preventScroll: true });
    } catch (error) {
      button.disabled = false;
      status.textContent =
        location.protocol === "file:"
          ? "It is only there when the deck is opened on the site."
          : `That did not work: ${error.message}`;
    }
  });
  keepKeys(host, () => host.matches(".lv-on"));
}

// So it is with what stands on a slide as in its chapter, a dial.
for (const host of document.querySelectorAll(".widget")) keepKeys(host, () => true);

function keepKeys(host, awake) {
  host.addEventListener("keydown", (event) => {
    if (!awake()) return;
    event.stopPropagation();
    if (event.key === "Escape" && !event.defaultPrevented) document.activeElement.blur();
  });
}
