Reveal.initialize({
  width: 1280, height: 720, margin: 0.02, center: false, hash: true, slideNumber: "c/t",
  transition: "none", controlsTutorial: false, pdfMaxPagesPerSlide: 1, plugins: [RevealNotes],
  pdfSeparateFragments: false, scrollActivationWidth: null,
  defaultTiming: 240, // with it the speaker view shows a pace, from the minutes of each slide
}).then(() => {
  Reveal.addKeyBinding({ keyCode: 84, key: "T", description: "Light or dark" }, () => {
    const page = document.documentElement;
    page.dataset.theme = page.dataset.theme === "dark" ? "light" : "dark";
  });
});
