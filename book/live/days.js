// What the readers of dates learned from (chapter 6): days of some years, in two spellings.
const MONTHS = [
  "january",
  "february",
  "march",
  "april",
  "may",
  "june",
  "july",
  "august",
  "september",
  "october",
  "november",
  "december",
];

const SPELLED =
  /^(?<day>\d{1,2}) (?<month>[a-z]+) (?<year>\d{4})$|^(?<month2>[a-z]+) (?<day2>\d{1,2}), (?<year2>\d{4})$/;

// What is right for a date in one of the two spellings that the model was trained on; of another text nothing.
export function iso(text) {
  const found = SPELLED.exec(text)?.groups;
  if (!found) return "";
  const [year, month, day] = [
    found.year ?? found.year2,
    1 + MONTHS.indexOf(found.month ?? found.month2),
    Number(found.day ?? found.day2),
  ];
  const two = (number) => String(number).padStart(2, "0"),
    said = `${year}-${two(month)}-${two(day)}`;
  const date = new Date(`${said}T00:00Z`);
  return month && !Number.isNaN(date.getTime()) && date.getUTCDate() === day ? said : "";
}

// What of a text lies beyond the days of these years in these spellings, which are all that the readers learned from; of another text nothing.
export function beyondDays(text, [first, last]) {
  const right = iso(text),
    year = Number(right.slice(0, 4));
  const found = SPELLED.exec(text)?.groups,
    spelled = found && MONTHS.includes(found.month ?? found.month2) && !/(^| )0/.test(text);
  if (!spelled)
    return [
      "In training there were two spellings, “20 july 1969” and “july 20, 1969”, and this is neither. It writes a date all the same.",
    ];
  if (!right)
    return ["There is no such day, and in training there was none. It writes a date all the same."];
  return year < first || year > last ? [`In training the years were ${first} to ${last}.`] : [];
}
