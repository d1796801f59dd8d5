// The levels of a figure that one goes into, in the browser's history: each deeper one is an entry of it, so that Back leads out, as
// Escape does, and Forward in again; a neighbour takes its entry's place. The figure moves by itself, and the history follows; the
// address stays. A page has one such figure.
//
// What an entry keeps is a level, {path, …, n}: so many entries on end are levels, this one the last of them. An entry that keeps none
// was made by the page, for one of its sections: what was open stays so.
const write = (how, level) => history[how]({ ...history.state, level }, "");

// The state of an entry that another figure makes: what is open stays open, but on the way back that entry lies between.
export const carried = () => ({ ...history.state, level: { ...history.state?.level, n: 0 } });

export class Levels {
  // `shown()`: what is open, {path, …}, or undefined; `show(level)`: the reader has gone to an entry that keeps this; whether it can be
  // shown. What cannot, of another sentence or from before the page was loaded again, is passed over.
  constructor(shown, show) {
    this.shown = shown;
    addEventListener("popstate", ({ state }) => {
      if (this.going) {
        this.going = false;
        this.follow(true);
      } else if (state?.level && !show(state.level)) this.follow();
    });
  }

  // `there`: it has gone back, and adds no entry.
  follow(there = false) {
    if (this.going) return; // it follows once it has got there
    const kept = history.state?.level ?? { ...this.was, n: 0 },
      now = this.shown(),
      length = (level) => level?.path?.length ?? 0;
    const deeper = length(now) - length(kept);
    this.was = now;
    if (deeper > 0 && !there) {
      write("replaceState", kept);
      write("pushState", { ...now, n: kept.n + 1 });
    } else if (deeper < 0 && kept.n) {
      this.going = true;
      history.go(-Math.min(kept.n, -deeper));
    } else write("replaceState", { ...now, n: kept.n });
  }
}
