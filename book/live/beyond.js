// What lies beyond what a translator has learned from (chapters 1 and 8b): words that it never met, a text longer than any of its training, a translation
// of which it is less sure than of nearly all that it was tested on. It is told beside the translation; none of it is an error.
import { make, percent, whole } from "./figure.js";

const NAMED = 5, // unmet words that are named
  LETTERS = 20; // of each of them

// Where it is told: empty at first, and read aloud when it is not.
export const beyondPlace = () =>
  make("p", { class: "lv-beyond", role: "note", "aria-live": "polite", hidden: "" });

// Sentences in their place beside what the model makes of a text, or nothing there.
export function showBeyond(place, told) {
  place.hidden = !told.length;
  place.replaceChildren(
    ...(told.length ? [make("b", {}, "Beyond what it learned: "), told.join(" ")] : []),
  );
}

const shortened = (word) => {
  const letters = Array.from(word);
  return letters.length > LETTERS ? `${letters.slice(0, LETTERS).join("")}…` : word;
};

// A source in sentences. range: what the model learned from (figures_of_writing.py); tokens: how many the source has; of its `words`, each once, it never
// met `strange`.
export function beyondSource(range, { tokens, words, strange, numbers }) {
  const told = [];
  if (strange.length) {
    const named = strange.slice(0, NAMED).map((word) => `“${shortened(word)}”`);
    const rest = strange.length - named.length;
    const all = `${named.join(", ")}${rest ? ` and ${whole(rest)} more` : ""}`;
    const of = `in the ${range.of} that it learned from: ${all}.`;
    told.push(
      words === 1
        ? `Its only word or sign never stood ${of}`
        : `Of ${whole(words)} ${range.reads ? "words" : "words and signs"}, each counted once, ${whole(strange.length)} never stood ${of}`,
    );
  }
  if (range.numbers && numbers > range.numbers)
    told.push(
      `The list has ${whole(numbers)} numbers; those that it learned from had ${range.numbers} at most.`,
    );
  else if (tokens > range.longest)
    told.push(
      `The text has ${whole(tokens)} tokens; the longest that it learned from had ${range.longest}.`,
    );
  return told;
}

// A translation in sentences, from the shares that its tokens had when they were written.
export function beyondSure({ rare, heldOut }, shares) {
  const mean = Math.exp(shares.reduce((sum, share) => sum + Math.log(share), 0) / shares.length);
  const [here, there] = [mean, rare].map((share) => Math.floor(1000 * share) / 1000); // as they are shown
  return here < there
    ? [
        `It is less sure than usual: ${percent(here)} a token (geometric mean); of ${heldOut}, 95 in 100 get more than ${percent(there)}.`,
      ]
    : [];
}
