// Asks the index while the site is built, as live.js does in a page.
// In: {index: the script that build.js made, queries}; out: for each query the addresses found, the best first.
const vm = require("vm");
const told = JSON.parse(require("fs").readFileSync(0, "utf8"));
const CourseSearch = require("./rank.js");
vm.runInNewContext(told.index, { CourseSearch });
const { index } = CourseSearch;
const address = ({ section }) => {
  const [page, anchor] = index.sections[section];
  return index.pages[page][0] + (anchor && `#${anchor}`);
};
const found = (query) => CourseSearch.rank(index, query, index.sections.length).map(address);
process.stdout.write(JSON.stringify(told.queries.map(found)));
