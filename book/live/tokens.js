// Text as byte pairs and back (chapter 7): what the library's `BPE` does, from the file that it saved.

// Each byte's visible character, as in GPT-2: its own where that can be seen, else the next unused one from U+0100 on.
const visible = (byte) => (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
const CHARACTERS = (() => {
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(visible(byte) ? byte : next++));
})();
const BYTES = new Map(CHARACTERS.map((character, byte) => [character, byte]));

// GPT-2's cut of a text into words.
const WORD = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;

export class BPE {
  constructor({ tokens, merges, specials }) {
    this.tokens = tokens;
    this.specials = new Set(specials);
    this.ids = new Map(tokens.map((token, id) => [token, id]));
    // the earlier a pair was learned, the earlier it is merged
    this.ranks = new Map(merges.map((line, rank) => [line.slice(0, line.lastIndexOf(" ")), rank]));
    this.names = specials.length ? new RegExp(`(${specials.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "u") : null;
  }

  // A word's bytes, then the merges, the one learned first again and again.
  merge(word) {
    let symbols = Array.from(new TextEncoder().encode(word), (byte) => CHARACTERS[byte]);
    for (;;) {
      let best = Infinity, left, right;
      for (let i = 0; i + 1 < symbols.length; i++) {
        const rank = this.ranks.get(`${symbols[i]} ${symbols[i + 1]}`) ?? Infinity;
        if (rank < best) [best, left, right] = [rank, symbols[i], symbols[i + 1]];
      }
      if (best === Infinity) return symbols;
      const merged = [];
      for (let i = 0; i < symbols.length; i++) {
        const both = symbols[i] === left && symbols[i + 1] === right;
        merged.push(both ? left + right : symbols[i]);
        if (both) i += 1;
      }
      symbols = merged;
    }
  }

  // The ids of a text; the name of a special token in it becomes that token.
  encode(text) {
    const pieces = this.names ? text.split(this.names) : [text];
    const tokens = pieces.flatMap((piece) =>
      this.specials.has(piece) ? [piece] : (piece.match(WORD) ?? []).flatMap((word) => this.merge(word)));
    return tokens.map((token) => this.ids.get(token));
  }

  // The bytes of some ids; special tokens have none.
  bytes(ids) {
    return ids.flatMap((id) => (this.specials.has(this.tokens[id]) ? [] : Array.from(this.tokens[id], (c) => BYTES.get(c))));
  }

  decode(ids) {
    return new TextDecoder().decode(Uint8Array.from(this.bytes(ids)));
  }

  // A token as a reader would see it: its text, with the space before it as ␣.
  shown(id) {
    const token = this.tokens[id];
    if (this.specials.has(token)) return token;
    const bytes = Uint8Array.from(token, (c) => BYTES.get(c));
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(bytes).replace(/ /g, "␣").replace(/\n/g, "⏎").replace(/\t/g, "⇥");
    } catch {
      return token; // a part of a character
    }
  }
}
