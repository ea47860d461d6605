// bindings/wasm/js/lib/node.cjs - the engine in a worker thread of node; messages as worker.js has them.
'use strict';
const {parentPort, workerData} = require('node:worker_threads');
const {readFileSync} = require('node:fs');
const path = require('node:path');
const {Engine} = require('./engine.js');

async function run({photos, options, size, threads, wanted}) {
  const stem = threads > 1 ? 'esra-threads' : 'esra', script = path.join(__dirname, stem + '.js');
  const engine = await Engine.create(require(script), {
    threads, script, wasm: readFileSync(path.join(__dirname, stem + '.wasm')), locate: file => path.join(__dirname, file),
  });
  engine.onProgress = (stage, seconds, remaining, iterations, gap) => {
    parentPort.postMessage({progress: {stage, seconds, remaining, iterations, gap}});
    return 0;
  };
  const facts = engine.open(photos, options, size);
  engine.separate();
  const view = {strength: wanted.strength, exchanged: wanted.exchanged};
  const picture = (kind, i) => engine.picture(kind, i, view, wanted.format, wanted.depth, wanted.quality);
  return {
    transmitted: picture('transmitted', 0),
    reflected: picture('reflected', facts.reference - 1),
    all: photos.map((_, i) => picture('reflected', i)),
    confidence: picture('confidence', 0),
    json: engine.result(view, wanted.format),
    report: wanted.report ? engine.report(view, wanted.format) : null,
  };
}

run(workerData).then(value => parentPort.postMessage({value}), error => parentPort.postMessage({error: error.message}));
