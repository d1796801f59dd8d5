// A model at work in a worker: `ask` sends it a task and gives back what it promised. Nothing of a model is fetched before the
// first task, what another model of the page has fetched is not fetched again, and a worker that cannot be started says so in a reader's words.
const files = new Map(); // of the models that this page has fetched or is fetching: several figures share one

// A file as a blob, fetched once a page; `heard` is told the bytes that have come. After a failure the next call tries again.
function file(address, heard) {
  if (!files.has(address)) {
    const one = { n: 0, hear: new Set() };
    one.blob = fetched(address, (n) => {
      one.n = n;
      for (const hear of one.hear) hear(n);
    });
    one.blob.catch(() => files.delete(address));
    files.set(address, one);
  }
  const { n, hear, blob } = files.get(address);
  hear.add(heard);
  heard(n);
  return blob;
}

async function fetched(address, heard) {
  const response = await fetch(address);
  if (!response.ok)
    throw new Error(`${new URL(address).pathname} could not be fetched (${response.status})`);
  const parts = [];
  let n = 0;
  for (const reader = response.body.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) return new Blob(parts);
    parts.push(value);
    heard((n += value.length));
  }
}

export class Machine {
  constructor({ kind, weights, vocabulary, learned, bytes }) {
    const whole = (address) => address && new URL(address, import.meta.url).href;
    this.model = {
      kind,
      weights: whole(weights),
      vocabulary: whole(vocabulary),
      learned: whole(learned),
    };
    this.bytes = bytes;
    this.waiting = new Map();
    this.loaded = false;
    this.n = 0;
  }

  // Fetch the model, once; `heard` is told the share that has come. After a failure the next call tries again.
  load(heard) {
    this.heard = heard;
    this.loading ??= this.begin().then(
      () => {
        this.loaded = true;
      },
      (error) => {
        this.worker?.terminate();
        this.loading = undefined;
        throw error;
      },
    );
    return this.loading;
  }

  // Has the page the largest of its files, for another figure?
  get here() {
    return files.has(this.model.weights);
  }

  async begin() {
    this.broken = undefined;
    this.worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    this.worker.onmessage = ({ data }) => this.hear(data);
    this.worker.onerror = (event) => {
      event.preventDefault();
      const why =
        "The model cannot run in this browser: it needs workers made of modules (browsers since 2023 have them).";
      this.broken = new Error(event.message ? `${why} (${event.message})` : why);
      for (const { reject } of this.waiting.values()) reject(this.broken);
      this.waiting.clear();
    };
    const { kind, ...addresses } = this.model,
      quietly = () => {};
    const loud = (bytes) => this.heard?.(Math.min(1, bytes / this.bytes));
    const names = Object.keys(addresses).filter((name) => addresses[name]);
    const blobs = await Promise.all(
      names.map((name) => file(addresses[name], name === "weights" ? loud : quietly)),
    );
    if (this.broken) throw this.broken; // the worker did not start, while files came
    return this.ask("load", {
      kind,
      ...Object.fromEntries(names.map((name, i) => [name, blobs[i]])),
    }).promise;
  }

  hear({ id, part, result, error }) {
    const asked = this.waiting.get(id);
    if (!asked) return;
    if (part !== undefined) asked.tell(part);
    else {
      this.waiting.delete(id);
      if (error === undefined) asked.resolve(result);
      else asked.reject(new Error(error));
    }
  }

  // {promise, cancel}; `tell` hears the parts of the answer as they come. What was cancelled promises null.
  ask(task, request, tell = () => {}) {
    const id = ++this.n;
    const promise = new Promise((resolve, reject) =>
      this.waiting.set(id, { resolve, reject, tell }),
    );
    this.worker.postMessage({ id, task, ...request });
    const cancel = () => {
      const asked = this.waiting.get(id);
      if (!asked) return; // it is done
      this.waiting.delete(id);
      this.worker.postMessage({ task: "cancel", which: id });
      asked.resolve(null);
    };
    return { promise, cancel };
  }
}
