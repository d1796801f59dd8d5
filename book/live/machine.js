// A model at work in a worker: `ask` sends it a task and gives back what it promised. Nothing of a model is fetched before the
// first task, what another model of the page has fetched is not fetched again, and a worker that cannot be started says so in a reader's words.
const files = new Map(); // of the models that this page has fetched or is fetching: several figures share one
const damaged = new Set(); // addresses of files that came otherwise than they should: a copy that the browser has kept is no help
const SCRIPT = new URL("worker.js", import.meta.url);
const NO_WORKERS =
  "The model cannot run in this browser: it needs workers made of modules (browsers since 2023 have them).";

// A file as a blob, fetched once a page; `heard` is told the bytes that have come. After a failure the next call tries again.
function file(address, heard = () => {}) {
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

// What a file holds, as text or as bytes, for a figure that needs no worker; its path as seen from here.
const blobOf = (path) => file(new URL(path, import.meta.url).href);
export const textOf = async (path) => (await blobOf(path)).text();
export const bytesOf = async (path) => (await blobOf(path)).arrayBuffer();

// A further script, when it is needed.
export const more = (path) =>
  import(path).catch(() => {
    throw new Error(lost(new URL(path, import.meta.url).pathname));
  });

const lost = (name) =>
  `${name} could not be fetched: there is no connection. Try again when you are online.`;

// The address of a model's file has its digest behind the ?, and how many bytes it has (live_models.py).
async function fetched(address, heard = () => {}) {
  const { pathname: name, search } = new URL(address),
    size = Number(search.split("-")[1]);
  let response;
  try {
    response = await fetch(address, { cache: damaged.has(address) ? "reload" : "default" });
  } catch {
    throw new Error(lost(name));
  }
  if (!response.ok) throw new Error(`${name} could not be fetched (${response.status})`);
  const parts = [];
  let n = 0;
  try {
    for (const reader = response.body.getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) break;
      parts.push(value);
      heard((n += value.length));
    }
  } catch {
    throw new Error(`${name} came only in part: the connection broke. Try again.`);
  }
  if (size && n !== size) {
    damaged.add(address);
    throw new Error(
      response.headers.get("Content-Type")?.startsWith("text/html")
        ? `${name} could not be fetched: a web page came in its place. Does your network ask you to log in?`
        : `${name} came damaged: ${n.toLocaleString("en-US")} bytes in place of ${size.toLocaleString("en-US")}. Try again, or load this page anew.`,
    );
  }
  return new Blob(parts);
}

function started() {
  try {
    return new Worker(SCRIPT, { type: "module" });
  } catch ({ message }) {
    throw new Error(`${NO_WORKERS} (${message})`);
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
        this.loading = this.heard = undefined; // another file may still be coming: how far it is would hide what went wrong
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
    const worker = (this.worker = started());
    worker.onmessage = ({ data }) => this.hear(data);
    worker.onerror = (event) => {
      event.preventDefault();
      this.fail(worker, event.message);
    };
    const { kind, ...addresses } = this.model,
      quietly = () => {};
    const loud = (bytes) => this.heard?.(Math.min(1, bytes / this.bytes));
    const names = Object.keys(addresses).filter((name) => addresses[name]);
    const blobs = await Promise.all(
      names.map((name) => file(addresses[name], name === "weights" ? loud : quietly)),
    );
    if (this.broken) throw this.broken; // the worker did not start, while files came
    try {
      return await this.ask("load", {
        kind,
        ...Object.fromEntries(names.map((name, i) => [name, blobs[i]])),
      }).promise;
    } catch (error) {
      if (this.broken) throw error;
      throw this.unreadable(
        names.map((name) => addresses[name]),
        error,
      );
    }
  }

  // The worker has not started. Either its script did not come, or the browser has no such workers.
  async fail(worker, said) {
    const why =
      !said &&
      (await fetched(SCRIPT).then(
        () => undefined,
        (error) => error,
      ));
    if (worker !== this.worker) return; // she has tried again meanwhile
    this.broken = why || new Error(said ? `${NO_WORKERS} (${said})` : NO_WORKERS);
    for (const { reject } of this.waiting.values()) reject(this.broken);
    this.waiting.clear();
  }

  // All has come, and the worker cannot make a model of it: the next call fetches it anew.
  unreadable(addresses, { message }) {
    for (const address of addresses) {
      files.delete(address);
      damaged.add(address);
    }
    const names = addresses.map((address) => new URL(address).pathname);
    return new Error(
      `The model cannot be read: of ${names.join(" and ")} something came damaged (${message}). Try again, or load this page anew.`,
    );
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
