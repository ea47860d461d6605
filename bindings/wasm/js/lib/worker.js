// bindings/wasm/js/lib/worker.js - the engine in a worker of a browser. Messages are {id, call, values}; answers {id, value} or
// {id, error}, and {progress} while a separation runs. It hears nothing while it works: to stop it, end it.
'use strict';
importScripts('engine.js');

let ready = null;

// Threads where the page is isolated from others (COOP and COEP), otherwise none.
async function begin({threads}) {
  const shared = self.crossOriginIsolated && threads > 1;
  const script = shared ? 'esra-threads.js' : 'esra.js';
  importScripts(script);
  const engine = await Engine.create(self.esra, {
    threads: shared ? threads : 1,
    locate: file => new URL(file, self.location.href).href,
    script: new URL(script, self.location.href).href,
  });
  engine.onProgress = (stage, seconds, remaining, iterations, gap) => {
    postMessage({progress: {stage, seconds, remaining, iterations, gap}});
    return 0;
  };
  return engine;
}

async function load(photos) {
  return Promise.all(photos.map(async ({name, file}) => ({name, bytes: new Uint8Array(await file.arrayBuffer())})));
}

const calls = {
  async begin(options) {
    ready = begin(options);
    const engine = await ready;
    return {threads: engine.threads, mostBytes: engine.mostBytes, tables: engine.tables()};
  },
  async plan(...values) {
    return (await ready).plan(...values);
  },
  async look({name, file}, side) {
    const engine = await ready;
    return engine.look(name, new Uint8Array(await file.arrayBuffer()), side);
  },
  async open(photos, options, size) {
    return (await ready).open(await load(photos), options, size);
  },
  async separate() {
    const engine = await ready;
    engine.separate();
    return engine.give();
  },
  async take(pieces) {
    (await ready).take(pieces);
  },
  async picture(...values) {
    return (await ready).picture(...values);
  },
  async result(...values) {
    return (await ready).result(...values);
  },
  async report(...values) {
    return (await ready).report(...values);
  },
};

// What holds much memory is handed over, not copied.
function buffers(value) {
  const all = Array.isArray(value) ? value : value && value.thumbnail ? [value.thumbnail] : [value];
  return all.filter(one => one instanceof Uint8Array).map(one => one.buffer);
}

let queue = Promise.resolve();
self.onmessage = ({data: {id, call, values}}) => {
  queue = queue.then(async () => {
    try {
      const value = await calls[call](...values);
      postMessage({id, value}, buffers(value));
    } catch (error) {
      postMessage({id, error: error.message});
    }
  });
};
