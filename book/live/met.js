// Which words a translator met in its training (lectures_lib/stored/met_words.py, chapter 8b): for each, three bits of a row are set.
const HASHES = 3;

// Runs of letters, digits and accents, in small letters; every other sign by itself.
export const wordsOf = (text) =>
  text.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}]*|[\p{P}\p{S}]/gu) ?? [];

// The numbers of a word's bits, of so many.
export function bitsOf(word, bits) {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(word)) hash = Math.imul(hash ^ byte, 0x01000193);
  return Array.from({ length: HASHES }, (_, i) => {
    let mixed = (hash + Math.imul(i, 0x9e3779b9)) | 0;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return ((mixed ^ (mixed >>> 16)) >>> 0) % bits;
  });
}

// A text's words of which not all bits are set, each once.
export const unmet = (text, bytes) =>
  [...new Set(wordsOf(text))].filter(
    (word) => !bitsOf(word, 8 * bytes.length).every((bit) => (bytes[bit >> 3] >> (bit & 7)) & 1),
  );
