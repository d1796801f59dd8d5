// Finds sections: the same few functions cut words when the index is made (build.js, in Node) and
// when a reader types (live.js, in the page). Nothing here touches a page.
var CourseSearch = (() => {
  "use strict";
  const STOP = new Set(
    (
      "a about all an and are as at be but by can could did do does for from get " +
      "give had has have how i if in into is it its me mean meaning my not of on one or our should so " +
      "that the their them then there they this to use used using was we were what when where which " +
      "who why will with work works would you your explain explained vs versus difference between " +
      // and of a question in German
      "der die das den dem des ein eine einer eines einen und oder ist sind wie warum wozu wofur welche " +
      "welcher welches wird werden kann mit von bei beim im fur zum zur zwischen unterschied " +
      "funktioniert bedeutet heisst macht man ich wer wo nicht auf aus"
    ).split(" "),
  );
  // What counts: a title that is the question; a concept's home; a title that shares words; text.
  const TITLE = 500,
    HOME = 400,
    BEGUN = 150,
    INSIDE = 220,
    SHARED = 90,
    TEXT = 4,
    LATER = 60, // of two that are compared
    APART = 0.9, // words of a name that stand apart
    WIDE = 0.5; // a chapter that is named beside other words
  const LONGEST = 6; // words of a name
  const LEVELS = [1, 2, 4, 8]; // how often a word stands in a section, as the index keeps it

  // Letters and digits in small letters, without accents.
  const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

  // What one writes for short, in a question and in code, and forms that no rule leads back to their verb.
  const SHORT = new Map(
    Object.entries({
      ...{ attn: "attention", concat: "concatenate", cos: "cosine", dim: "dimension" },
      ...{ dims: "dimension", emb: "embedding", max: "maximum", min: "minimum" },
      ...{ param: "parameter", params: "parameter", seq: "sequence" },
      ...{ sim: "similarity", tie: "tied", vocab: "vocabulary" },
      ...{ frozen: "freeze", froze: "freeze", written: "write", wrote: "write", learnt: "learn" },
      ...{ chosen: "choose", chose: "choose", drawn: "draw", drew: "draw", built: "build" },
    }),
  );

  // What masks, masked and masking share, and tied and tying; normalisation and normalization are one word.
  function stem(written) {
    const word = SHORT.get(written) ?? written;
    if (word.length < 4) return word;
    let w = word
      .replace(/(?:ies|ied|ying)$/, "y")
      .replace(/(x|ch|sh|ss)es$/, "$1")
      .replace(/([^siu])s$/, "$1");
    w = w.replace(/is(e|ed|er|ing|ation)$/, "iz$1").replace(/ization$/, "iz");
    const cut = /^(.*[aeiouy].*)(?:ing|(?<=.{4})ed)$/.exec(w);
    if (cut && cut[1].length >= 3) w = cut[1].replace(/([bdgmnprt])\1$/, "$1");
    return w.replace(/(.{4})ion(?:al)?$/, "$1").replace(/(.{3})e$/, "$1");
  }

  // BERT's sign for a hole is not the word in its brackets.
  const signs = (text) => text.replace(/\[mask\]/gi, " masktoken ");

  // The words of a text, each with what it was cut from; LayerNorm is also layer and norm, and ##ing begins with a
  // sign that has a meaning.
  function cut(text) {
    const found = [];
    for (const [token] of signs(text)
      .normalize("NFKD")
      .replace(/\p{M}/gu, "")
      .matchAll(/[\p{L}\p{N}]+|##/gu)) {
      found.push(token.toLowerCase());
      const parts = token.split(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})/u);
      if (parts.length > 1) found.push(...parts.map((part) => part.toLowerCase()));
    }
    return found;
  }
  const words = (text) => cut(text).map(stem);

  // The one way to write a comparison: "A vs B" for "A or B", "difference between A and B".
  const compared = (text) =>
    plain(text)
      .replace(/^.*\bdifferences? (?:between|of) (?:the |an? )?(.+?) and (?:the |an? )?/, "$1 vs ")
      .replace(/ (?:or|versus|vs\.?|compared (?:to|with)) /, " vs ");

  // A name as one word: "KV cache", "kv-cache" and "KVCache" are the same.
  const key = (name) =>
    stem(
      compared(signs(name))
        .trim()
        .replace(/^(the|an?) /, "")
        .replace(/[^\p{L}\p{N}]/gu, ""),
    );

  // What the reader asks for: the words that carry it, and whether the last one may go on.
  function asked(query) {
    const all = cut(query),
      carrying = all.filter((word) => !STOP.has(word));
    const kept = carrying.length ? carrying : all;
    const open = kept.length > 0 && /[\p{L}\p{N}]$/u.test(query) && all.at(-1) === kept.at(-1);
    const versus = compared(query).includes(" vs ");
    return { raw: kept, words: kept.map(stem), open, versus };
  }

  // Does a typed beginning fit a word's stem? "attentio" has gone past the stem "attent".
  function begins(raw, stemmed) {
    if (stemmed.startsWith(raw)) return true;
    const rest = raw.slice(stemmed.length);
    return (
      stemmed.length > 3 &&
      raw.startsWith(stemmed) &&
      ["ing", "ion", "ation", "ed", "es", "e"].some((end) => end.startsWith(rest))
    );
  }

  // How many letters are wrong, missing, too many or in the place of their neighbour: the rows of a table, of which
  // two are kept. `begun`: the other word may go on; then also how far it was read.
  function apart(word, other, begun) {
    let before = [],
      row = Array.from({ length: other.length + 1 }, (_, j) => j);
    for (let i = 1; i <= word.length; i++) {
      const next = [i];
      for (let j = 1; j <= other.length; j++) {
        next[j] = Math.min(
          row[j] + 1,
          next[j - 1] + 1,
          row[j - 1] + (word[i - 1] !== other[j - 1]),
        );
        if (word[i - 1] === other[j - 2] && word[i - 2] === other[j - 1])
          next[j] = Math.min(next[j], before[j - 2] + 1);
      }
      [before, row] = [row, next];
    }
    const least = begun ? Math.min(...row.slice(word.length - 1)) : row[other.length];
    return { wrong: least, to: begun ? row.lastIndexOf(least) : other.length };
  }

  // A word that stands nowhere is taken for the nearest one of a title or a concept's name, if one letter is wrong, or
  // two of nine. Changes `q`; returns what was taken for what.
  function forgive(index, q) {
    const instead = [];
    q.raw.forEach((raw, place) => {
      const last = q.open && place === q.raw.length - 1,
        most = raw.length > 8 ? 2 : 1;
      if (raw.length < 4 || index.places.has(q.words[place])) return;
      if (index.spelled.has(raw)) return;
      if (
        last &&
        (index.terms.some((term) => begins(raw, term)) ||
          [...index.spelled].some((word) => word.startsWith(raw)))
      )
        return;
      let best = { wrong: most + 1 };
      for (const begun of last && raw.length > 4 ? [false, true] : [false])
        for (const word of index.spelled) {
          if (
            word[0] !== raw[0] ||
            word.length < raw.length - most ||
            (!begun && word.length > raw.length + most)
          )
            continue;
          const { wrong, to } = apart(raw, word, begun);
          if (wrong < best.wrong) best = { wrong, word, taken: word.slice(0, to) };
        }
      if (!best.word) return;
      instead.push([raw, best.word]);
      [q.raw[place], q.words[place]] = [best.taken, stem(best.taken)];
    });
    return instead;
  }

  // The words that carry a name, each once; where a word is made of several, these alone.
  function carried(name) {
    const parts = name.replace(/(?<=[\p{Ll}\p{N}])(?=\p{Lu}\p{Ll})/gu, " ");
    const all = cut(parts),
      carrying = all.filter((word) => !STOP.has(word));
    return [...new Set((carrying.length > 1 ? carrying : all).map(stem))]; // I-BERT is not any BERT
  }

  // Made once from the index, when it has arrived.
  function open(index) {
    index.titles = index.sections.map((section) => words(section[2]));
    index.keys = index.sections.map((section) => key(section[2]));
    index.weights = index.sections.map((section) => index.pages[section[0]][2] * section[5]);
    index.mean = index.sections.reduce((sum, s) => sum + s[4], 0) / index.sections.length;
    index.places = new Map(index.terms.map((term, i) => [term, i]));
    index.spread = index.terms.map((_, i) =>
      Math.log(1 + index.sections.length / index.hits[i].length),
    );
    const names = [
      ...index.concepts.flatMap(([names]) => names),
      ...index.sections.map((section) => section[2]),
    ];
    index.names = index.concepts.map(([names]) =>
      names.map((name) => ({ key: key(name), words: carried(name) })),
    );
    index.spelled = new Set(names.flatMap(cut).filter((word) => word.length > 3));
    index.opened = true;
  }

  // Adds what the text says: BM25 over the words, less where some of them are missing.
  function readText(index, q, score) {
    const sums = new Map();
    q.words.forEach((word, place) => {
      const best = new Map(),
        last = q.open && place === q.words.length - 1;
      const terms = index.places.has(word) ? [[index.places.get(word), 1]] : [];
      if (last && q.raw.at(-1).length > 1)
        index.terms.forEach((term, i) => {
          if (term !== word && begins(q.raw.at(-1), term)) terms.push([i, 0.5]);
        });
      for (const [i, share] of terms.slice(0, 40)) {
        let section = -1;
        for (const packed of index.hits[i]) {
          section += packed >> 2;
          const tf = LEVELS[packed & 3],
            length = index.sections[section][4] / index.mean;
          const gain = (share * index.spread[i] * (2.2 * tf)) / (tf + 1.2 * (0.4 + 0.6 * length));
          best.set(section, Math.max(gain, best.get(section) || 0));
        }
      }
      for (const [section, gain] of best) {
        const sum = sums.get(section) || { gain: 0, found: 0 };
        sums.set(section, { gain: sum.gain + gain, found: sum.found + 1 });
      }
    });
    for (const [section, { gain, found }] of sums)
      score(section, TEXT * gain * (found / q.words.length) ** 2 * index.weights[section]);
  }

  // What each word of the question is worth, as a share of all: rare words more than common ones.
  function worths(index, q) {
    const worth = q.words.map((word) => index.spread[index.places.get(word)] || 3);
    const all = worth.reduce((a, b) => a + b, 0);
    return worth.map((one) => one / all);
  }

  // Adds what titles say.
  function readTitles(index, q, whole, score) {
    const worth = worths(index, q);
    index.titles.forEach((title, section) => {
      if (index.keys[section] === whole) return score(section, TITLE * index.weights[section]);
      let covered = 0,
        count = 0;
      q.words.forEach((word, place) => {
        const last = q.open && place === q.words.length - 1;
        if (title.includes(word) || (last && title.some((t) => begins(q.raw.at(-1), t)))) {
          covered += worth[place];
          count += 1;
        }
      });
      if (count)
        score(
          section,
          SHARED *
            covered ** 2 *
            (0.6 + 0.4 * Math.min(1, count / title.length)) *
            index.weights[section],
        );
    });
  }

  // What share of the question each run of its words is, by the run's key: "multi head" is multihead.
  function runs(q, worth) {
    const found = new Map();
    q.raw.forEach((_, start) => {
      let share = 0;
      for (let end = start; end < Math.min(q.raw.length, start + LONGEST); end++) {
        share += worth[end];
        const one = key(q.raw.slice(start, end + 1).join(" "));
        found.set(one, Math.max(share, found.get(one) || 0));
      }
    });
    return found;
  }

  // Adds what concepts say: asked by name, begun, or named within a longer question, there in any order.
  function readConcepts(index, q, whole, score) {
    const isName = index.names.some((names) => names.some((name) => name.key === whole));
    const joined = q.versus || isName ? whole : key(q.raw.join(" ")), // I-BERT is not BERT
      worth = worths(index, q),
      run = runs(q, worth);
    const share = (name) => {
      const places = name.words.map((word) => q.words.indexOf(word));
      const all = places.length && !places.includes(-1);
      const apart = all ? places.reduce((sum, place) => sum + worth[place], 0) : 0;
      return Math.max(run.get(name.key) || 0, APART * apart);
    };
    const named = [];
    index.concepts.forEach(([, homes], i) => {
      let asked = 0,
        inside = 0;
      for (const name of index.names[i]) {
        if (name.key === whole || name.key === joined) asked = HOME;
        else if (q.open && joined.length > 1 && name.key.startsWith(joined))
          asked = Math.max(asked, BEGUN * (0.5 + (0.5 * joined.length) / name.key.length));
        else inside = Math.max(inside, INSIDE * share(name) ** 2);
      }
      homes.forEach((home, i) => {
        // a chapter's name beside other words says where to look for them
        const wide = index.sections[home][1] ? 1 : WIDE;
        score(home, Math.max(asked, wide * inside) * 0.7 ** i);
      });
      if (asked || inside) named.push(homes[0]);
    });
    // of two things that are compared, the difference is told where the second one comes
    if (q.versus && named.length > 1) score(Math.max(...named), LATER);
  }

  // The best sections for what was typed, best first: [{section, score}], and `instead`, the words that were misspelt.
  function rank(index, query, limit = 20) {
    if (!index.opened) open(index);
    const q = asked(query),
      instead = forgive(index, q),
      scores = new Map();
    const whole = key(instead.length ? q.raw.join(" ") : query.trim());
    if (!q.words.length) return [];
    const score = (section, more) => more && scores.set(section, (scores.get(section) || 0) + more);
    readText(index, q, score);
    readTitles(index, q, whole, score);
    readConcepts(index, q, whole, score);
    const best = [...scores]
      .map(([section, sum]) => ({ section, score: sum }))
      .sort((a, b) => b.score - a.score || a.section - b.section)
      .slice(0, limit);
    return Object.assign(best, { instead });
  }

  return { words, key, stem, rank, LEVELS, index: null };
})();
if (typeof module !== "undefined") module.exports = CourseSearch;
