// Looking on while a model computes: what each part gave, under the names of the library's recorder (`blocks.recording`).

// What `work` gives back, and what the parts gave meanwhile: a row for each position; of attention's weights, a table for each head.
// A part that ran several times has the rows of all its runs, in their order ("positions": those of the source, then of the target).
export function record(model, work) {
  const seen = {};
  model.seen = (name, rows) => {
    const heads = name.endsWith(".weights");
    seen[name] ??= heads ? rows.map(() => []) : [];
    if (heads) rows.forEach((table, head) => seen[name][head].push(...table));
    else seen[name].push(...rows);
  };
  try {
    return { result: work(), seen };
  } finally {
    model.seen = undefined;
  }
}
