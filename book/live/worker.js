// Models run here, beside the page, so that it can be read and scrolled meanwhile. The page sends {id, task, …}; the answers are
// {id, part} while a task is at work, and at its end {id, result} or {id, error}. A task that is no longer wanted is cancelled.
import { beam } from "./beam.js";
import { writeTwice } from "./cache.js";
import { draw, largest, logShare, shares } from "./choosing.js";
import { unmet, wordsOf } from "./met.js";
import {
  Adapted,
  Bert,
  LanguageModel,
  BertWithMap,
  BertWithProbes,
  Transformer,
  ViT,
  rollout,
  span,
} from "./models.js";
import { record } from "./recording.js";
import { cosine, mean, readSafetensors } from "./tensors.js";
import { BPE, WordPiece, Words } from "./tokens.js";

const PAD = 0,
  BEGIN = 1,
  END = 2; // the first three tokens of a translator
const LONGER = 50; // a translation has at most so many tokens more than its source
const LOOKED_THROUGH = 64; // tokens of a sentence, and of its translation, of which every number is kept
const KINDS = {
  translator: (file, met) => Object.assign(new Transformer(file), { met: met?.tensors.words.data }),
  "language model": (file) => new LanguageModel(file),
  "masked words": (file) => new Bert(file, "bert."),
  sentences: (file) => new Bert(file),
  "sentence map": (file, learned) => new BertWithMap(file, learned),
  probes: (file, learned) => new BertWithProbes(file, learned),
  images: (file) => new ViT(file),
  adapted: (file, learned) => new Adapted(file, learned),
};
const LONGEST = 256; // tokens that the model of sentences was made for
const HOLES_READ = 128; // tokens, [CLS] and [SEP] counted, of the longest text that the model of holes was trained on
const ASKED = 64,
  QUESTION_AND_TEXT = 192; // tokens of a question; of a question and its text: so long were those it was trained on
const cancelled = new Set();
let model, tokens;

// What cuts the model's texts: a BERT's file is a list of lines, the others' says what it is.
function reading(vocabulary) {
  if (model instanceof Bert) return new WordPiece(vocabulary);
  const kept = JSON.parse(vocabulary);
  return kept.kind === "words" ? new Words(kept) : new BPE(kept);
}

// The special tokens: a text has none.
const named = () => [...tokens.specials].map((name) => tokens.ids.get(name));
// [CLS] text [SEP], as long as the model can read.
function framed(text) {
  const [begin, end] = ["[CLS]", "[SEP]"].map((name) => tokens.ids.get(name));
  return [begin, ...tokens.encode(text).slice(0, LONGEST - 2), end];
}
// [CLS] text [SEP] second [SEP]; `segments` tells the two apart. Without a second text the same as `framed`.
function paired(text, second) {
  const first = framed(text),
    room = Math.max(0, LONGEST - first.length - 1);
  const rest = second ? [...tokens.encode(second).slice(0, room), first.at(-1)] : [];
  return { ids: [...first, ...rest], segments: [...first.map(() => 0), ...rest.map(() => 1)] };
}
// How many pieces of one or two texts were left out of `ids`.
function left(ids, text, second) {
  const whole = [text, second].reduce((sum, one) => sum + tokens.encode(one).length, 0);
  return whole - (ids.length - (second ? 3 : 2));
}
// Two texts' pieces, as many as fit beside [CLS] and two [SEP]; what is too long loses the end of its longer text.
function shortened(first, second) {
  const texts = [first, second].map((text) => tokens.encode(text));
  let over = texts[0].length + texts[1].length - (LONGEST - 3);
  for (; over > 0; over--) texts[Number(texts[0].length <= texts[1].length)].pop();
  return texts;
}
// How many of a text's pieces were read, of how many.
function room(text) {
  const pieces = tokens.encode(text).length;
  return { read: Math.min(pieces, LONGEST - 2), pieces };
}
// What a translator reads of a text; of its words, each once, how many there are and which it never met, if that is known.
function asRead(text, source) {
  const read = { source: source.map((id) => tokens.shown(id)) };
  return model.met
    ? { ...read, words: new Set(wordsOf(text)).size, strange: unmet(text, model.met) }
    : read;
}
const pause = () => new Promise((resolve) => setTimeout(resolve));

const tasks = {
  // The files are blobs, which the page has fetched.
  async load({ kind, weights, vocabulary, learned }) {
    const [numbers, vocabularyText, beside] = await Promise.all([
      weights.arrayBuffer(),
      vocabulary?.text(),
      learned?.arrayBuffer(),
    ]);
    model = KINDS[kind](readSafetensors(numbers), beside && readSafetensors(beside));
    if (!vocabularyText) return model.config;
    tokens = reading(vocabularyText);
    return model.config;
  },

  // The source's tokens, then one target token after the other: the likeliest, or the one that the reader chose.
  async translate({ text, forced }, tell, wanted) {
    const source = [...tokens.encode(text), END];
    tell(asRead(text, source));
    const longest = Math.min(source.length + LONGER, model.config.max_len);
    const state = model.start(source),
      target = [];
    for (let last = BEGIN; last !== END && target.length < longest;) {
      await pause();
      if (!wanted()) return null;
      const { scores, attention } = model.step(last, state);
      const plain = shares(scores),
        allowed = shares(scores, { never: [PAD, BEGIN] });
      last = forced[target.length] ?? largest(allowed, 1)[0];
      target.push(last);
      const candidates = largest(allowed, 8).map((id) => ({
        id,
        token: tokens.shown(id),
        share: plain[id],
      }));
      tell({
        id: last,
        token: tokens.shown(last),
        share: plain[last],
        candidates,
        attention,
        text: tokens.decode(target),
      });
    }
    return { text: tokens.decode(target), ended: target.at(-1) === END };
  },

  // A source as training sees it, every letter of `given` read at once behind the begin token; and what the model writes, its own
  // letters or the reader's (`forced`) read one after the other. Of each position the shares of all letters; all are ids.
  async date({ source, target, given, forced, most }) {
    const taught = (read) =>
      read && model.read([BEGIN, ...read], model.start(source)).map((scores) => shares(scores));
    const state = model.start(source),
      written = [],
      rows = [];
    while (written.length < most && written.at(-1) !== END) {
      rows.push(shares(model.step(written.at(-1) ?? BEGIN, state).scores));
      written.push(forced[rows.length - 1] ?? largest(rows.at(-1), 1)[0]);
    }
    return { taught: taught(target?.slice(0, -1)), spoilt: taught(given), written, rows };
  },

  // What the model writes of a source with a cache and without one, and what each step cost; `faults` of the cache. All are ids.
  async remember({ source, most, faults }) {
    return writeTwice(model, source, { begin: BEGIN, end: END, most, faults });
  },

  // A sentence and its translation with all that the model computed on the way, by the names of its parts, and its weights.
  async through({ text }) {
    const source = [...tokens.encode(text), END];
    if (source.length > LOOKED_THROUGH) {
      throw new Error(
        `your text has ${source.length - 1} tokens; here every one is shown with all its numbers, and ${LOOKED_THROUGH - 1} are the most. Take a sentence of it.`,
      );
    }
    const sure = []; // the share of each token when it was written
    const { result: target, seen } = record(model, () => {
      const state = model.start(source),
        written = [BEGIN];
      while (written.at(-1) !== END && written.length <= LOOKED_THROUGH) {
        const { scores } = model.step(written.at(-1), state);
        written.push(largest(shares(scores, { never: [PAD, BEGIN] }), 1)[0]);
        sure.push(shares(scores)[written.at(-1)]);
      }
      return written;
    });
    const named = (id) => ({ id, token: tokens.shown(id) });
    const candidates = seen[""].map((scores) => largest(scores, 10).map(named));
    return {
      source: source.map(named),
      target: target.map(named),
      text: tokens.decode(target),
      ended: target.at(-1) === END,
      read: asRead(text, source),
      sure,
      candidates,
      seen,
      tensors: model.tensors,
      config: model.config,
    };
  },

  // The same with several hypotheses at a time: what lived, ended, lost and was finished after each step.
  async beam({ text, width, alpha }, tell, wanted) {
    const source = [...tokens.encode(text), END],
      told = [];
    tell(asRead(text, source));
    const longest = Math.min(source.length + LONGER, model.config.max_len);
    for (const step of beam(model, source, {
      width,
      alpha,
      begin: BEGIN,
      end: END,
      never: [PAD, BEGIN],
      longest,
    })) {
      await pause();
      if (!wanted()) return null;
      const shown = (one) => ({
        ...one,
        token: tokens.shown(one.tokens.at(-1)),
        text: tokens.decode(one.tokens),
      });
      told.push({
        ...step,
        live: step.live.map(shown),
        ended: step.ended.map(shown),
        lost: step.lost.map(shown),
        finished: step.finished.map(shown),
      });
      tell(told.at(-1));
    }
    return told;
  },

  // The likeliest pieces for every [MASK] of a text.
  async fill({ text }) {
    const [begin, end, hole] = ["[CLS]", "[SEP]", "[MASK]"].map((name) => tokens.ids.get(name));
    const ids = [begin, ...tokens.encode(text), end];
    const at = [...ids.keys()].filter((i) => ids[i] === hole);
    if (!at.length) throw new Error("there is no [MASK] in the text");
    const holes = model.fill(ids, at).map((scores) => {
      const row = shares(scores);
      return largest(row, 8).map((id) => ({ token: tokens.shown(id), share: row[id] }));
    });
    return { tokens: ids.map((id) => tokens.shown(id)), holes };
  },

  // A text's pieces, framed, as many as the model of holes was trained on at once; how many were left out.
  async cut({ text }) {
    const ids = framed(text),
      read = ids.length > HOLES_READ ? [...ids.slice(0, HOLES_READ - 1), ids.at(-1)] : ids;
    return {
      ids: read,
      tokens: read.map((id) => tokens.shown(id)),
      left: tokens.encode(text).length + 2 - read.length,
    };
  },

  // The likeliest word piece at each of these positions, all at once: {id, token, share}, and what the model `reads` there.
  async guess({ ids, at }) {
    return model.fill(ids, at).map((scores, k) => {
      const row = shares(scores);
      let id = 0;
      for (let i = 1; i < row.length; i++) if (row[i] > row[id]) id = i;
      return { id, token: tokens.shown(id), share: row[id], reads: tokens.shown(ids[at[k]]) };
    });
  },

  // The logarithm of each word's probability behind a text, at the beginning of a line (chapter 10b): a sum over its tokens.
  async behind({ text, words }) {
    const before = text ? `\n ${text}` : "\n",
      known = tokens.encode(before).length;
    return words.map((word) => {
      const ids = tokens.encode(`${before} ${word}`),
        scores = model.read(ids.slice(0, -1)),
        own = [...ids.keys()].slice(known);
      return {
        pieces: own.map((i) => tokens.shown(ids[i])),
        log: own.reduce((sum, i) => sum + logShare(scores[i - 1], ids[i]), 0),
      };
    });
  },

  // The same of each word in a text's [MASK]; of one that is not one piece, none.
  async inHole({ text, words }) {
    const [begin, end] = ["[CLS]", "[SEP]"].map((name) => tokens.ids.get(name));
    const ids = [begin, ...tokens.encode(text), end]; // all of it, or the hole might be cut off
    const [scores] = model.fill(ids, [ids.indexOf(tokens.ids.get("[MASK]"))]);
    return words.map((word) => {
      const own = tokens.encode(word),
        pieces = own.map((id) => tokens.shown(id));
      const one = own.length === 1 && pieces[0] !== "[UNK]";
      return { pieces, log: one ? logShare(scores, own[0]) : null };
    });
  },

  // Where every token of a text looks, or of two: attention[layer][head][i][j].
  async look({ text, second = "" }) {
    const { ids, segments } = paired(text, second),
      attention = [];
    model.read(
      ids,
      Array.from({ length: model.config.n_layers }, (_, layer) => (weights) => {
        attention[layer] = weights;
      }),
      segments,
    );
    return {
      tokens: ids.map((id) => tokens.shown(id)),
      segments,
      attention,
      left: left(ids, text, second),
    };
  },

  // The query of token i and the key of each token, in one head of one layer.
  async compare({ text, second = "", layer, head, i }) {
    const { ids, segments } = paired(text, second),
      d = model.config.d_model / model.config.n_heads;
    const { seen } = record(model, () => model.read(ids, [], segments));
    const part = (matrix) =>
      seen[`encoder.blocks.${layer}.self_attention.${matrix}`].map((row) =>
        row.slice(head * d, (head + 1) * d),
      );
    return { query: part("W_Q")[i], keys: part("W_K") };
  },

  // The shares of a text's classes, and how much of the text was read.
  async judge({ text }) {
    return { shares: shares(model.classify(framed(text))), ...room(text) };
  },

  // How much two texts mean the same, from 0 to 5, as the adapted model has learned it; and the cosine of the two vectors that MiniLM makes
  // of them without what was learned.
  async alike({ first, second }) {
    const [begin, end] = ["[CLS]", "[SEP]"].map((name) => tokens.ids.get(name));
    const [one, other] = shortened(first, second);
    const ids = [begin, ...one, end, ...other, end],
      segments = ids.map((_, i) => Number(i > one.length + 1));
    const vectors = [one, other].map((own) => mean(model.plain.read([begin, ...own, end])));
    const pieces = tokens.encode(first).length + tokens.encode(second).length;
    return {
      score: model.classify(ids, segments)[0],
      cosine: cosine(...vectors),
      read: one.length + other.length,
      pieces,
    };
  },

  // A label for each word, from its first piece: {word, label, share}.
  async tag({ text }) {
    const ids = framed(text),
      words = [];
    model
      .label(ids)
      .slice(1, -1)
      .forEach((scores, i) => {
        const piece = tokens.shown(ids[i + 1]);
        if (piece.startsWith("##")) {
          words.at(-1).word += piece.slice(2);
          return;
        }
        const row = shares(scores),
          [best] = largest(row, 1);
        words.push({ word: piece, label: model.names[best], share: row[best] });
      });
    return { words, ...room(text) };
  },

  // Where in a text the answer to a question stands: the text's pieces, and the first and last of the answer among them.
  async answer({ question, text }) {
    const [begin, end] = ["[CLS]", "[SEP]"].map((name) => tokens.ids.get(name));
    const asked = [begin, ...tokens.encode(question).slice(0, ASKED), end];
    const whole = tokens.encode(text),
      context = whole.slice(0, QUESTION_AND_TEXT - asked.length - 1);
    const ids = [...asked, ...context, end],
      segments = ids.map((_, i) => Number(i >= asked.length));
    const [from, to] = span(model.label(ids, segments), asked.length, ids.length - 2).map(
      (at) => at - asked.length,
    );
    return {
      context: context.map((id) => tokens.shown(id)),
      from,
      to,
      read: context.length,
      pieces: whole.length,
      longQuestion: tokens.encode(question).length > ASKED,
    };
  },

  // The classes' shares of a grey image, and how much of each patch reached the class token.
  async classify({ image }) {
    const attention = [];
    const scores = model.classify(
      image,
      Array.from({ length: model.config.n_layers }, (_, layer) => (weights) => {
        attention[layer] = weights;
      }),
    );
    return { shares: shares(scores), reached: rollout(attention).slice(1) };
  },

  // The vectors of a text's tokens at the input and behind each layer: states[layer][i]; of `only` these tokens, if that is given.
  async states({ text, only }) {
    const ids = framed(text),
      shown = ids.map((id) => tokens.shown(id));
    const states = model
      .states(ids)
      .map((state) => state.map((row, i) => (!only || only.includes(shown[i]) ? row : null)));
    return { ids, tokens: shown, states, ...room(text) };
  },

  // A text's words, each with its drawn label if the probes have met it; and what the probes of each state take for its tag and for
  // its drawn label: tag[state][word] and control[state][word], each [label, share].
  async probe({ text }) {
    const ids = framed(text),
      words = [],
      places = [];
    ids.slice(1, -1).forEach((id, i) => {
      const piece = tokens.shown(id);
      if (piece.startsWith("##")) {
        words.push(words.pop() + piece.slice(2));
        places.at(-1).push(i + 1);
      } else {
        words.push(piece);
        places.push([i + 1]);
      }
    });
    const best = (rows) =>
      rows.map((scores) => {
        const row = shares(scores),
          [label] = largest(row, 1);
        return [label, row[label]];
      });
    const { tag, control } = model.probe(ids, places);
    return {
      words: words.map((word) => ({ word, drawn: model.drawn.get(word) ?? null })),
      tag: tag.map(best),
      control: control.map(best),
      ...room(text),
    };
  },

  // A text as one vector: the mean of its tokens' (chapter 17).
  async embed({ text }) {
    const ids = framed(text);
    return {
      tokens: ids.map((id) => tokens.shown(id)),
      vector: mean(model.read(ids)),
      ...room(text),
    };
  },

  // A text on the map of sentences: its vector, its place and its cosine with each sentence there; whether it has something that
  // there is no piece for, and how much of it was read.
  async place({ text }) {
    const ids = framed(text);
    return { ...model.place(ids), unknown: ids.includes(tokens.ids.get("[UNK]")), ...room(text) };
  },

  // What may come behind a text, before and after temperature, top-k and top-p.
  async next({ text, options }) {
    const { max_len: room } = model.config;
    const scores = model.read(tokens.encode(text).slice(-room)).at(-1);
    const plain = shares(scores),
      drawn = shares(scores, { ...options, never: named() });
    return largest(plain, 12).map((id) => ({
      token: tokens.shown(id),
      text: tokens.decode([id]),
      plain: plain[id],
      drawn: drawn[id],
    }));
  },

  // Text behind a text, token by token. When the positions are used up, the model goes on behind the last half of them.
  async write({ text, n, options }, tell, wanted) {
    const { max_len: room } = model.config,
      ids = tokens.encode(text),
      written = [];
    let state = model.start(),
      unread = ids.slice(-room + 1);
    for (let i = 0; i < n; i++) {
      await pause();
      if (!wanted()) return null;
      if (state.length + unread.length > room) {
        state = model.start();
        unread = [...ids, ...written].slice(-room / 2);
      }
      const scores = model.read(unread, state).at(-1);
      const id = draw(shares(scores, { ...options, never: named() }));
      written.push(id);
      unread = [id];
      tell({ text: tokens.decode(written) });
    }
    return { text: tokens.decode(written) };
  },
};

const pending = new Set();

onmessage = async ({ data: { id, task, ...request } }) => {
  if (task === "cancel") {
    if (pending.has(request.which)) cancelled.add(request.which);
    return;
  }
  pending.add(id);
  try {
    await pause(); // what has been cancelled meanwhile is not computed
    if (cancelled.has(id)) return;
    const result = await tasks[task](
      request,
      (part) => postMessage({ id, part }),
      () => !cancelled.has(id),
    );
    postMessage({ id, result });
  } catch (error) {
    postMessage({ id, error: error.message });
  } finally {
    pending.delete(id);
    cancelled.delete(id);
  }
};
