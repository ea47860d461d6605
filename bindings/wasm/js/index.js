// bindings/wasm/js/index.js - the package esra for browsers: photos of a scene behind glass in, its two layers out. All of
// it happens in workers of this page; nothing is sent anywhere.

const WORKER = new URL('./lib/worker.js', import.meta.url);

// One worker with the library inside. While it computes it hears nothing; end() stops it at once, or
// when it has begun, and gives back its memory.
export class Session {
  constructor({threads, onProgress, worker} = {}) {
    this.worker = new Worker(worker || WORKER);
    this.waiting = new Map();
    this.next = 1;
    this.onProgress = onProgress || (() => {});
    this.worker.onmessage = ({data}) => this.hear(data);
    this.worker.onerror = event => {
      event.preventDefault();
      this.begun = true;
      this.fail(new Error(event.message || 'the worker could not be started'));
    };
    this.ready = this.ask('begin', {threads: threads || defaultThreads()});
    this.ready.catch(() => {}); // told to whoever asks
  }

  ask(call, ...values) {
    if (this.ended) return Promise.reject(this.ended);
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, {resolve, reject});
      this.worker.postMessage({id, call, values});
    });
  }

  hear({id, value, error, progress}) {
    this.begun = true;
    if (this.ended) {
      this.worker.terminate();
      return;
    }
    if (progress) {
      this.onProgress(progress);
      return;
    }
    const {resolve, reject} = this.waiting.get(id);
    this.waiting.delete(id);
    if (error === undefined) resolve(value);
    else reject(new Error(error));
  }

  fail(error) {
    this.ended = error;
    for (const {reject} of this.waiting.values()) reject(error);
    this.waiting.clear();
    if (this.begun) this.worker.terminate(); // else when it has: threads that cannot load complain in the console
  }

  end() {
    this.fail(stopped());
  }
}

function defaultThreads() {
  return Math.max(1, Math.min(navigator.hardwareConcurrency || 1, 16));
}

function stopped() {
  return Object.assign(new Error('stopped'), {name: 'AbortError'});
}

// A photo is a File, a Blob or bytes; its name is told in messages.
function named(photos) {
  return [...photos].map((photo, n) => {
    const file = photo instanceof Blob ? photo : new Blob([photo]);
    return {name: photo.name || `photo-${n + 1}`, file};
  });
}

// A finished separation. Its pictures are made when they are asked for, at any strength, exchanged or not.
export class Separation {
  constructor(session, facts, result) {
    this.session = session;
    this.facts = facts;
    this.info = result;
  }

  get warnings() { return this.info.warnings; }
  get separated() { return this.info.method !== 'none'; }

  // kind: 'transmitted', 'reflected', 'confidence' or 'photo'; of: the photo, from 1, that a reflected layer is of.
  async picture(kind, {of, strength = 1, exchanged = false, format = 'png', depth = 0, quality = 95} = {}) {
    const i = (of || this.facts.reference) - 1;
    const bytes = await this.session.ask('picture', kind, i, {strength, exchanged}, format, depth, quality);
    return new Blob([bytes], {type: TYPES[format] || 'application/octet-stream'});
  }

  async result({strength = 1, exchanged = false, format = 'png'} = {}) {
    return new Blob([await this.session.ask('result', {strength, exchanged}, format)], {type: 'application/json'});
  }

  async report({strength = 1, exchanged = false, format = 'png'} = {}) {
    return new Blob([await this.session.ask('report', {strength, exchanged}, format)], {type: 'text/html'});
  }

  // Gives back its memory.
  end() {
    this.session.end();
  }
}

const TYPES = {png: 'image/png', jpg: 'image/jpeg', tif: 'image/tiff'};

// Separates in a worker that ends when it is done; the answer lives on in a small one. `size` {width, height} makes the
// photos smaller first.
export async function run(photos, {options = {}, size, threads, signal, onProgress, worker} = {}) {
  const files = named(photos);
  const solving = new Session({threads, onProgress, worker});
  const stop = () => solving.end();
  if (signal) {
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop);
  }
  try {
    const facts = await solving.ask('open', files, options, size);
    const pieces = await solving.ask('separate');
    solving.end();
    const keeping = new Session({threads: 1, worker});
    await keeping.ask('open', files, options, size);
    await keeping.ask('take', pieces);
    const result = JSON.parse(new TextDecoder().decode(await keeping.ask('result', {strength: 1, exchanged: false}, 'png')));
    return new Separation(keeping, facts, result);
  } finally {
    solving.end();
    if (signal) signal.removeEventListener('abort', stop);
  }
}

// The short way: const {transmitted, reflected} = await separate(files). Both are Blobs, PNG unless `format` says
// otherwise; what the reference photo reflects is drawn twice as bright.
export async function separate(photos, {format = 'png', strength = 1, ...rest} = {}) {
  const separation = await run(photos, rest);
  try {
    return {
      transmitted: await separation.picture('transmitted', {format, strength}),
      reflected: await separation.picture('reflected', {format, strength}),
      confidence: await separation.picture('confidence', {format}),
      result: separation.info,
      warnings: separation.warnings,
      separated: separation.separated,
    };
  } finally {
    separation.end();
  }
}
