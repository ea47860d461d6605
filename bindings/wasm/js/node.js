// bindings/wasm/js/node.js - the package esra for node: photos are paths, Buffers or {name, bytes}; pictures are Buffers.
import {Worker} from 'node:worker_threads';
import {readFile} from 'node:fs/promises';
import {availableParallelism, cpus} from 'node:os';
import path from 'node:path';

async function load(photo, n) {
  if (typeof photo === 'string') return {name: path.basename(photo), bytes: await readFile(photo)};
  if (ArrayBuffer.isView(photo)) return {name: `photo-${n + 1}`, bytes: photo};
  return photo;
}

function work(data, onProgress, signal) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./lib/node.cjs', import.meta.url), {workerData: data});
    const end = (settle, value) => {
      signal?.removeEventListener('abort', stop);
      worker.terminate();
      settle(value);
    };
    const stop = () => end(reject, Object.assign(new Error('stopped'), {name: 'AbortError'}));
    worker.on('message', ({progress, value, error}) => {
      if (progress) onProgress?.(progress);
      else if (error !== undefined) end(reject, new Error(error));
      else end(resolve, value);
    });
    worker.on('error', error => end(reject, error));
    signal?.addEventListener('abort', stop);
    if (signal?.aborted) stop();
  });
}

export async function separate(photos, {options = {}, size, threads, signal, onProgress, format = 'png', depth = 0,
                                        quality = 95, strength = 1, exchanged = false, report = false} = {}) {
  const loaded = await Promise.all([...photos].map(load));
  const answer = await work({
    photos: loaded, options, size, threads: threads || Math.min(availableParallelism?.() ?? cpus().length, 16),
    wanted: {format, depth, quality, strength, exchanged, report},
  }, onProgress, signal);
  const buffer = bytes => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const result = JSON.parse(buffer(answer.json).toString());
  return {
    transmitted: buffer(answer.transmitted),
    reflected: buffer(answer.reflected),
    reflections: answer.all.map(buffer),
    confidence: buffer(answer.confidence),
    json: buffer(answer.json),
    report: answer.report && buffer(answer.report),
    result,
    warnings: result.warnings,
    separated: result.method !== 'none',
  };
}
