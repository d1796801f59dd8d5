// Makes the index of the search: sections come in as JSON, the script with the index goes out.
// In: {pages: [[address, title, weight]], concepts: [[names, [section, …]]],
//      sections: [{page, anchor, title, shown, lead, text, code, weight}]}; shown, the title, and lead are HTML
const { words, LEVELS } = require("./rank.js");
const told = JSON.parse(require("fs").readFileSync(0, "utf8"));
const hits = new Map(); // term → [[section, level]]
const CODE = 0.34; // of a word in the text: a name in code says less of what a section is about

const kept = (word) =>
  word.length > 1 && word.length < 25 && !/^\d{4,}$|^0\d|\d\p{L}+\d/u.test(word);
const sections = told.sections.map((section, place) => {
  const counts = new Map();
  const add = (text, worth) => {
    for (const word of words(text))
      if (kept(word)) counts.set(word, (counts.get(word) || 0) + worth);
  };
  add(section.title, 1);
  add(section.text, 1);
  add(section.strong, 2); // terms in bold are being introduced
  add(section.code, CODE);
  let length = 0;
  for (const [word, count] of counts) {
    const level = LEVELS.findLastIndex((least) => least <= Math.max(1, Math.round(count)));
    length += LEVELS[level];
    if (!hits.has(word)) hits.set(word, []);
    hits.get(word).push([place, level]);
  }
  const { page, anchor, title, lead, weight, shown } = section;
  return [page, anchor, title, lead, length, weight, ...(shown ? [shown] : [])];
});
const terms = [...hits.keys()].sort();
const packed = terms.map((term) => {
  let before = -1;
  return hits.get(term).map(([place, level]) => {
    const step = place - before;
    before = place;
    return (step << 2) | level;
  });
});
const index = { pages: told.pages, concepts: told.concepts, sections, terms, hits: packed };
process.stdout.write(`CourseSearch.index = ${JSON.stringify(index)};\n`);
