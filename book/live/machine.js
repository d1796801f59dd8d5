// A model at work in a worker: `ask` sends it a task and gives back what it promised. Nothing of a model is fetched before the
// first task, and a worker that cannot be started says so in a reader's words.
export class Machine {
  constructor({ kind, weights, vocabulary, learned, bytes }) {
    const whole = (address) => address && new URL(address, import.meta.url).href;
    this.model = { kind, weights: whole(weights), vocabulary: whole(vocabulary), learned: whole(learned) };
    this.bytes = bytes;
    this.waiting = new Map();
    this.loaded = false;
    this.n = 0;
  }

  // Fetch the model, once; `heard` is told the share that has come. After a failure the next call tries again.
  load(heard) {
    this.heard = heard;
    this.loading ??= this.begin().then(() => { this.loaded = true; }, (error) => {
      this.worker?.terminate();
      this.loading = undefined;
      throw error;
    });
    return this.loading;
  }

  begin() {
    this.worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    this.worker.onmessage = ({ data }) => this.hear(data);
    this.worker.onerror = (event) => {
      event.preventDefault();
      const why = "The model cannot run in this browser: it needs workers made of modules (browsers since 2023 have them).";
      for (const { reject } of this.waiting.values()) reject(new Error(event.message ? `${why} (${event.message})` : why));
      this.waiting.clear();
    };
    return this.ask("load", this.model, ({ bytes }) => this.heard(Math.min(1, bytes / this.bytes))).promise;
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
    const promise = new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject, tell }));
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
