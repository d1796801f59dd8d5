// What the figures that one goes into share: the line of steps that led there, and a view that grows out of the part that was pressed.
import { make } from "./figure.js";

const ZOOM = 320; // milliseconds
export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// The steps by their names, the last one where one is; `go(i)` leads back to one.
export function crumbs(names, go) {
  return make(
    "ol",
    {},
    ...names.map((name, i) => {
      const button = make(
        "button",
        { type: "button", "aria-current": i === names.length - 1 ? "location" : null },
        name,
      );
      button.addEventListener("click", () => go(i));
      return make("li", {}, button);
    }),
  );
}

// The view grows out of a rectangle of the window, …
export function grow(view, there) {
  const here = view.getBoundingClientRect(),
    scale = Math.max(0.1, there.width / here.width);
  animate(
    view,
    [
      {
        transform: `translate(${there.left - here.left}px, ${there.top - here.top}px) scale(${scale})`,
        opacity: 0.1,
      },
      { transform: "none", opacity: 1 },
    ],
    "0 0",
  );
}

// … and closes around it on the way out.
export function close(view, there, scale = 2.2) {
  animate(
    view,
    [
      { transform: `scale(${scale})`, opacity: 0.1 },
      { transform: "none", opacity: 1 },
    ],
    middle(view, there),
  );
}

// Where a rectangle's middle lies in the view.
export function middle(view, there) {
  const here = view.getBoundingClientRect();
  return `${there.left + there.width / 2 - here.left}px ${there.top + there.height / 2 - here.top}px`;
}

// Nothing moves for those who asked for less motion (then nothing is given back).
export function animate(view, frames, transformOrigin, duration = ZOOM) {
  if (still()) return undefined;
  view.style.transformOrigin = transformOrigin;
  return view.animate(frames, { duration, easing: "cubic-bezier(0.2, 0.7, 0.3, 1)" });
}
