// A long page is laid out a little at a time. While it comes, what lies below its beginning is not
// (course.css, html[data-laying]): a browser passes it over as long as it is far from the screen, so that the page can
// be read and scrolled at once. When the page stands, the rest follows from above, in short turns between what the
// reader does; then nothing is passed over any more. Nor for one who follows a link within the page: what stands above
// the place that it leads to must not grow afterwards.
(() => {
  const { dataset } = document.documentElement;
  if (!("laying" in dataset)) return;
  const PARTS = ".bd-article section section > :not(section, h2, h3, h4, h5, h6, script, style)";
  const TURN = 5; // milliseconds
  const idle = window.requestIdleCallback ?? ((turn) => setTimeout(turn, 50));
  let waiting = [];

  function lay() {
    const begun = performance.now();
    while (waiting.length && performance.now() - begun < TURN) {
      const one = waiting.shift();
      one.style.contentVisibility = "visible";
      void one.offsetHeight; // laid out in this turn, which then knows how long it took
    }
    if (waiting.length) idle(lay);
    else delete dataset.laying;
  }
  addEventListener("load", () => {
    waiting = "laying" in dataset ? [...document.querySelectorAll(PARTS)] : []; // the other scripts have put in what they put in
    idle(lay);
  });
  addEventListener(
    "click",
    ({ target }) => {
      if (!target.closest?.('a[href*="#"]')) return;
      waiting = [];
      delete dataset.laying;
    },
    true,
  );
})();
