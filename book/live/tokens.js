// Text as tokens and back (chapters 7 and 7b): what the library's `BPE` and `WordPiece` do, from the files that they read, and its lists of words
// (chapters 1 and 8). Of a vocabulary of pieces a part will do, {id: token}, if it has all that a text becomes.

const idsOf = (tokens) => new Map(Object.entries(tokens).map(([id, token]) => [token, Number(id)]));

// Special tokens are found by their names: of <s> and <s>2, the one that covers more.
function findsAny(names) {
  const longestFirst = [...names].sort((a, b) => b.length - a.length);
  return new RegExp(
    `(${longestFirst.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`,
    "u",
  );
}

// Each byte's visible character, as in GPT-2: its own where that can be seen, else the next unused one from U+0100 on.
const visible = (byte) =>
  (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
const CHARACTERS = (() => {
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) =>
    String.fromCodePoint(visible(byte) ? byte : next++),
  );
})();
const BYTES = new Map(CHARACTERS.map((character, byte) => [character, byte]));

// GPT-2's cut of a text into words.
const WORD =
  /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;

export class BPE {
  constructor({ tokens, merges, specials }) {
    this.tokens = tokens;
    this.specials = new Set(specials);
    this.ids = idsOf(tokens);
    // the earlier a pair was learned, the earlier it is merged
    this.ranks = new Map(
      Object.entries(merges).map(([rank, line]) => [
        line.slice(0, line.lastIndexOf(" ")),
        Number(rank),
      ]),
    );
    this.names = findsAny(specials);
  }

  // A word's bytes, then the merges, the one learned first again and again.
  merge(word) {
    return this.merged(
      Array.from(new TextEncoder().encode(word), (byte) => CHARACTERS[byte]),
      () => {},
    );
  }

  // The same for a token of the vocabulary, with all that lies between: [{symbols, rank}], the bytes first.
  mergeSteps(token) {
    const steps = [{ symbols: Array.from(token) }];
    this.merged(steps[0].symbols, (symbols, rank) => steps.push({ symbols, rank }));
    return steps;
  }

  merged(symbols, tell) {
    for (;;) {
      let best = Infinity,
        left,
        right;
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
      tell(symbols, best);
    }
  }

  // The ids of a text; the name of a special token in it becomes that token.
  encode(text) {
    const tokens = text
      .split(this.names)
      .flatMap((piece) =>
        this.specials.has(piece)
          ? [piece]
          : (piece.match(WORD) ?? []).flatMap((word) => this.merge(word)),
      );
    return tokens.map((token) => this.ids.get(token));
  }

  // The bytes of some ids; special tokens have none.
  bytes(ids) {
    return ids.flatMap((id) =>
      this.specials.has(this.tokens[id]) ? [] : Array.from(this.tokens[id], (c) => BYTES.get(c)),
    );
  }

  decode(ids) {
    return new TextDecoder().decode(Uint8Array.from(this.bytes(ids)));
  }

  // A token as a reader would see it: its text, with the space before it as ␣.
  shown(id) {
    const token = this.tokens[id];
    return this.specials.has(token) ? token : this.visible(token);
  }

  visible(token) {
    const bytes = Uint8Array.from(token, (c) => BYTES.get(c));
    try {
      return new TextDecoder("utf-8", { fatal: true })
        .decode(bytes)
        .replace(/ /g, "␣")
        .replace(/\n/g, "⏎")
        .replace(/\t/g, "⇥");
    } catch {
      return token; // a part of a character
    }
  }
}

// What BERT does before: a character becomes nothing, a space, or its small form without accents; a sign and a Chinese character
// stand between spaces.
const CHINESE =
  /[\u{4E00}-\u{9FFF}\u{3400}-\u{4DBF}\u{20000}-\u{2A6DF}\u{2A700}-\u{2B73F}\u{2B740}-\u{2B81F}\u{2B820}-\u{2CEAF}\u{F900}-\u{FAFF}\u{2F800}-\u{2FA1F}]/u;
function clean(character) {
  if (/[\t\n\r\p{Z}]/u.test(character)) return " ";
  if (/[\uFFFD\p{Cc}\p{Cf}\p{Co}]/u.test(character)) return "";
  const small = character
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "")
    .toLowerCase();
  if (CHINESE.test(character)) return ` ${small} `;
  return small.replace(/[\p{P}$+<=>^`|~]/gu, " $& ");
}

const lines = (text) =>
  text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => line.replace(/\r$/, ""));

export class WordPiece {
  // `pieces`: one a line, as in BERT's vocab.txt, or a part of them.
  constructor(pieces) {
    this.tokens = typeof pieces === "string" ? lines(pieces) : pieces;
    this.ids = idsOf(this.tokens);
    this.specials = new Set(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]);
    this.names = findsAny(this.specials);
  }

  // The longest piece that fits, then the longest that fits the rest.
  spell(word) {
    const characters = Array.from(word),
      pieces = [];
    if (characters.length > 100) return ["[UNK]"];
    for (let start = 0; start < characters.length;) {
      let end = characters.length,
        piece;
      for (; end > start; end--) {
        piece = (start ? "##" : "") + characters.slice(start, end).join("");
        if (this.ids.has(piece)) break;
      }
      if (end === start) return ["[UNK]"];
      pieces.push(piece);
      start = end;
    }
    return pieces;
  }

  encode(text) {
    const tokens = text.split(this.names).flatMap((piece) =>
      this.specials.has(piece)
        ? [piece]
        : Array.from(piece, clean)
            .join("")
            .split(" ")
            .filter((word) => word)
            .flatMap((word) => this.spell(word)),
    );
    return tokens.map((token) => this.ids.get(token));
  }

  shown(id) {
    return this.tokens[id];
  }
}

// How many letters must be put in, left out or changed to make one word of another.
function apart(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++)
      next.push(Math.min(row[j + 1] + 1, next[j] + 1, row[j] + Number(a[i] !== b[j])));
    row = next;
  }
  return row.at(-1);
}

const NEAR = 5, // known words that are offered in place of an unknown one
  LONGEST_NAMED = 30; // letters of it that are shown

// A list of words, and the rule that cuts number words: the library's `WordVocabulary` behind its `number_tokens`. A word that is not on
// the list would be read as <unk>, whatever it means: here it is refused.
export class Words {
  constructor({ words, parts, specials }) {
    this.tokens = [...specials, ...words];
    this.specials = new Set(specials);
    this.ids = idsOf(this.tokens);
    this.parts = new RegExp(parts.join("|"), "gu");
  }

  // A comma is a word; a German number that consists of known parts is cut into them.
  cut(text) {
    return (text.match(/[\p{L}\p{N}_]+|,/gu) ?? []).flatMap((word) => {
      const parts = word.match(this.parts) ?? [];
      return parts.join("") === word ? parts : [word];
    });
  }

  encode(text) {
    const words = this.cut(text),
      unknown = words.find((word) => !this.ids.has(word));
    if (!words.length) throw new Error("there is no word in your text");
    if (unknown !== undefined) throw new Error(this.refusal(unknown));
    return words.map((word) => this.ids.get(word));
  }

  refusal(word) {
    const letters = Array.from(word),
      named = letters.slice(0, LONGEST_NAMED).join(""),
      known = this.tokens.filter((one) => !this.specials.has(one) && one !== ",");
    const near = known
      .map((one) => [apart(Array.from(named), Array.from(one)), one])
      .sort(([a], [b]) => a - b)
      .slice(0, NEAR)
      .map(([, one]) => one);
    const rest = letters.length > LONGEST_NAMED ? "…" : "";
    return `the model does not know the word “${named}${rest}”. It knows ${this.tokens.length - this.specials.size} words, among them ${near.join(", ")}.`;
  }

  // The words up to the end token, with blanks between them.
  decode(ids) {
    const end = ids.findIndex((id) => this.tokens[id] === "</s>"),
      words = ids.slice(0, end < 0 ? ids.length : end).map((id) => this.tokens[id]);
    return words.filter((word) => word !== "<pad>" && word !== "<s>").join(" ");
  }

  shown(id) {
    return this.tokens[id];
  }
}
