// tests/web/test_same_bits.mjs - the npm package in node writes what the command line writes, bit for bit: pictures, and
// result.json but for time, threads and memory. Layers flat and with depth, 8 and 16 bits, PNG and JPEG, one thread and more.
// usage: node test_same_bits.mjs ESRA BUILD_FOLDER PHOTO_FOLDER
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

const [esra, build, photos] = process.argv.slice(2).map(word => path.resolve(word));
const {separate} = await import(pathToFileURL(path.join(build, 'npm/node.js')));
const scratch = mkdtempSync(path.join(tmpdir(), 'esra-bits-'));
const named = letter => [1, 2, 3].map(n => path.join(photos, `${letter}${n}.png`));

function facts(json) {
  const {seconds, threads, memory, ...rest} = JSON.parse(json);
  assert.ok(seconds && threads !== undefined && memory);
  rest.photos.forEach(photo => { photo.file = path.basename(photo.file); });
  return rest;
}

// Exit code 11: the layers could not be told apart, and the photo comes back.
function commandLine(words) {
  const {status} = spawnSync(esra, words);
  assert.ok(status === 0 || status === 11, `esra ${words.join(' ')}: exit code ${status}`);
  return status === 0;
}

let shown = 0;
async function compare(title, files, options, words, wanted = {}) {
  const format = wanted.format || 'png', folder = path.join(scratch, title);
  const separated = commandLine(['separate', ...files, '-o', folder, '-q', ...words]);
  const answer = await separate(files, {options, ...wanted});
  const pictures = {transmitted: answer.transmitted, confidence: answer.confidence};
  answer.reflections.forEach((picture, n) => { pictures[`reflected-${n + 1}`] = picture; });
  for (const [name, bytes] of Object.entries(pictures))
    assert.ok(readFileSync(path.join(folder, `${name}.${format}`)).equals(bytes), `${title}: ${name} differs`);
  assert.deepEqual(facts(answer.json), facts(readFileSync(path.join(folder, 'result.json'))), title);
  assert.equal(answer.separated, separated, title);
  shown += separated;
  console.log(`${title}: the same bits`);
}

try {
  await compare('flat', named('p'), {motion: 'homography'}, ['--motion', 'homography'], {threads: 1});
  await compare('auto', named('p'), {}, [], {threads: 3});
  await compare('wide', named('w'), {lambda: .01}, ['--lambda', '0.01']);
  await compare('weak', named('p'), {reference: 1}, ['-r', '1', '--strength', '0.7', '--format', 'jpg'],
                {strength: .7, format: 'jpg', threads: 2});
  assert.ok(shown > 0, 'nothing was separated at all');
  const small = await separate(named('p'), {size: {width: 63, height: 48}, options: {motion: 'homography'}, report: true});
  assert.deepEqual([small.result.width, small.result.height], [63, 48]);
  assert.match(small.report.toString(), /<\/html>/);
  await assert.rejects(separate([named('p')[0]]), /two photos are needed/);
  await assert.rejects(separate([Buffer.from('x'), Buffer.from('y')]), /photo-1 is no photo/);
  await assert.rejects(separate(named('p'), {options: {lambda: -1}}), /lambda is a number from 0/);
  await assert.rejects(separate(named('p'), {signal: AbortSignal.timeout(300)}), {name: 'AbortError'});
} finally {
  rmSync(scratch, {recursive: true});
}
