// The worker of the live figures, outside a browser (first_answers.py). The standard input says what to ask of which model, a list of
// {kind, files, ask}; the standard output gets the answers, for each question {parts, result}. Numbers have six places, or as many as a question says.
const fs = require("node:fs"),
  path = require("node:path"),
  { pathToFileURL } = require("node:url");

let heard;
globalThis.onmessage = null; // where a worker listens
globalThis.postMessage = ({ part, result, error }) => {
  if (part !== undefined) heard.parts.push(part);
  else Object.assign(heard, { result, error });
};

async function ask(task, request) {
  heard = { parts: [] };
  await onmessage({ data: { task, ...request } });
  if (heard.error !== undefined) throw new Error(`${task}: ${heard.error}`);
  return heard;
}

const rounded = (value, places) =>
  JSON.parse(
    JSON.stringify(value, (_, one) =>
      ArrayBuffer.isView(one)
        ? [...one]
        : typeof one === "number"
          ? Number(one.toFixed(places))
          : one,
    ),
  );

(async () => {
  await import(pathToFileURL(path.join(__dirname, "..", "live", "worker.js")));
  const all = [];
  let loaded;
  for (const { kind, files, ask: question } of JSON.parse(fs.readFileSync(0, "utf8"))) {
    const model = JSON.stringify({ kind, files });
    if (model !== loaded) {
      const blobs = Object.entries(files).map(([name, file]) => [
        name,
        new Blob([fs.readFileSync(file)]),
      ]);
      await ask("load", { kind, ...Object.fromEntries(blobs) });
      loaded = model;
    }
    const { task, places = 6, ...request } = question;
    all.push(rounded(await ask(task, request), places));
  }
  process.stdout.write(JSON.stringify(all));
})();
