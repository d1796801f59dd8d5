// Light or dark before anything is painted: ?theme=, or what the book was last set to, or the system.
(() => {
  const asked = new URLSearchParams(location.search);
  let kept = null;
  try {
    kept = localStorage.getItem("theme");
  } catch {
    /* no storage here */
  }
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const theme = [asked.get("theme"), kept].find((it) => it === "light" || it === "dark") ?? system;
  document.documentElement.dataset.theme = asked.has("print-pdf") ? "light" : theme;
})();
