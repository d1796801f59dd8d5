// What the readers of dates can read (chapter 6): letters of an alphabet that begins with padding, begin and end.
const SPECIAL = 3;

export const seen = (letter) => (letter === " " ? "␣" : letter);

// What is said of a text with a letter that the alphabet has not, or not for texts; of another nothing.
export function strange(text, alphabet, the = "The") {
  const letter = Array.from(text).find((one) => alphabet.indexOf(one) < SPECIAL);
  return letter === undefined
    ? ""
    : `${the} model's alphabet has no “${letter}”. It knows a to z, 0 to 9, space, comma and hyphen.`;
}

// Why a text cannot be read, in words; of one that can, nothing.
export function unreadable(text, { alphabet, room }) {
  if (!text) return "Type a date first.";
  if (text.length > room)
    return `Your text has ${text.length.toLocaleString("en-US")} characters; the model has places for ${room}.`;
  return strange(text, alphabet);
}
