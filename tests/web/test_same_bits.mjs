// tests/web/test_same_bits.mjs - the npm package in node writes what the command line writes, bit for bit: pictures, and
// result.json but for time, threads and memory. Layers flat and with depth, 8 and 16 bits, PNG, JPEG and TIFF, RGB and CMYK, with
// EXIF and profiles, one thread and more.
// usage: node test_same_bits.mjs ESRA BUILD_FOLDER PHOTO_FOLDER
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';

const [esra, build, photos] = process.argv.slice(2).map(word => path.resolve(word));
const {separate} = await import(pathToFileURL(path.join(build, 'npm/node.js')));
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
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

// Four photos of two layers with depth and occlusions.
function deepScene() {
  const folder = path.join(scratch, 'scene');
  const words = ['-t', 'examples/scene/photo-1.jpg', '-r', 'doc/pictures/layers.jpg'].map(word => word.replace(/^[de]/, `${root}/$&`));
  assert.ok(commandLine(['synth', '--depth', ...words, '-o', folder, '--size', '160x120', '-n', '4']));
  return [1, 2, 3, 4].map(n => path.join(folder, `photo-${n}.png`));
}

const exact = named('e');
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
  if (files === exact) { // the profile and the time it was taken are in what is written
    assert.ok(answer.transmitted.includes('iCCP') && answer.transmitted.includes('2024:05:17'), title);
    assert.equal(answer.transmitted[24], 16, 'bits of a sample');
  }
  console.log(`${title}: the same bits`);
}

try {
  await compare('flat', named('p'), {motion: 'homography'}, ['--motion', 'homography'], {threads: 1});
  await compare('auto', named('p'), {}, [], {threads: 3});
  await compare('wide', named('w'), {lambda: .01}, ['--lambda', '0.01']);
  await compare('weak', named('p'), {reference: 1}, ['-r', '1', '--strength', '0.7', '--format', 'jpg'],
                {strength: .7, format: 'jpg', threads: 2});
  await compare('exif', exact, {motion: 'homography'}, ['--motion', 'homography']);
  await compare('inks', [1, 2].map(n => path.join(photos, `inks${n}.jpg`)), {}, ['--format', 'tif'], {format: 'tif'});
  assert.ok(shown > 0, 'nothing was separated at all');
  const deep = deepScene(), before = shown;
  await compare('deep', deep, {motion: 'depth'}, ['--motion', 'depth'], {threads: 2});
  await compare('draft', deep, {effort: 'draft'}, ['--effort', 'draft'], {threads: 1});
  assert.equal(shown, before + 2, 'the scene with depth was not separated');
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
