// tests/web/test_page.mjs - the page in headless Chromium, as a user has it: photos by the real input or dropped, a separation whose
// files are those of the command line bit for bit, slider, views, strength, exchange, cancel, hostile files.
// usage: node test_page.mjs ESRA BUILD_FOLDER PHOTO_FOLDER
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {choose, download, inState, launch, looked, open, root, serve} from './page.mjs';

const [esra, build, folder] = process.argv.slice(2).map(word => path.resolve(word));
const web = path.join(build, 'web'), photos = [1, 2, 3].map(n => path.join(folder, `p${n}.png`));
const scratch = mkdtempSync(path.join(tmpdir(), 'esra-page-'));
const shots = path.join(build, 'shots');
const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
mkdirSync(shots, {recursive: true});

const same = (file, other) => assert.ok(readFileSync(file).equals(readFileSync(other)), `${file} differs from ${other}`);
const src = (page, id) => page.$eval(id, image => image.src);
const text = (page, id) => page.$eval(id, element => element.textContent);

// The layer has been drawn anew: its picture is another one, and whole.
async function redrawn(page, id, before) {
  await page.waitForFunction((id, before) => {
    const image = document.querySelector(id);
    return image.src !== before && image.complete && document.getElementById('answer').getAttribute('aria-busy') !== 'true';
  }, {timeout: 120000}, id, before);
}

function commandLine(folder, ...words) {
  execFileSync(esra, ['separate', ...photos, '-o', path.join(scratch, folder), '-q', ...words]);
  return path.join(scratch, folder);
}

// Serious findings of axe-core; the page's policy keeps its script out, the browser's protocol does not.
async function accessible(page, state) {
  await page.evaluate(readFileSync(axe, 'utf8'));
  const {violations} = await page.evaluate(() => window.axe.run());
  const grave = violations.filter(({impact}) => ['serious', 'critical'].includes(impact));
  assert.deepEqual(grave.map(({id, nodes}) => [id, nodes.map(node => node.html)]), [], `axe-core, ${state}`);
}

async function shoot(page, name) {
  await page.screenshot({path: path.join(shots, `${name}.png`), fullPage: true});
}

async function separate(page) {
  await page.click('#separate');
  await inState(page, 'working');
  assert.equal(await inState(page, 'done', 'failed'), 'done', await text(page, '#reason'));
}

// The whole way, with every control; the files are the command line's.
async function wholeWay(page, downloads) {
  await accessible(page, 'empty');
  await choose(page, photos);
  await looked(page, photos.length);
  await inState(page, 'ready');
  await accessible(page, 'ready');
  await separate(page);
  await redrawn(page, '#transmitted', '');
  await accessible(page, 'done');
  const expected = commandLine('png');
  same(await download(page, downloads, '#save-transmitted', 'transmitted.png'), path.join(expected, 'transmitted.png'));
  same(await download(page, downloads, '#save-reflected', 'reflected-2.png'), path.join(expected, 'reflected-2.png'));
  same(await download(page, downloads, '#save-confidence', 'confidence.png'), path.join(expected, 'confidence.png'));
  const shown = await page.$eval('#transmitted', async image => [...new Uint8Array(await (await fetch(image.src)).arrayBuffer())]);
  assert.ok(Buffer.from(shown).equals(readFileSync(path.join(expected, 'transmitted.png'))), 'the picture shown');
  const told = JSON.parse(readFileSync(await download(page, downloads, '#save-result', 'result.json')));
  const wanted = JSON.parse(readFileSync(path.join(expected, 'result.json')));
  for (const facts of [told, wanted]) for (const key of ['seconds', 'threads', 'memory']) delete facts[key];
  wanted.photos.forEach(photo => { photo.file = path.basename(photo.file); });
  assert.deepEqual(told, wanted);
  assert.match(readFileSync(await download(page, downloads, '#save-report', 'report.html'), 'utf8'), /<\/html>/);
}

// By keyboard: the slider, then the strength; what is saved is what --strength writes.
async function byKeyboard(page, downloads) {
  await page.focus('#divide');
  for (let n = 0; n < 5; n++) await page.keyboard.press('ArrowRight');
  assert.equal(await page.$eval('#stage', stage => stage.style.getPropertyValue('--at')), '55%');
  const before = await src(page, '#transmitted');
  await page.focus('#strength');
  for (let n = 0; n < 4; n++) await page.keyboard.press('PageDown');
  const strength = Number(await page.$eval('#strength', range => range.value)) / 100;
  assert.ok(strength < 1);
  await redrawn(page, '#transmitted', before);
  await page.select('#format', '2');
  same(await download(page, downloads, '#save-transmitted', 'transmitted.jpg'),
       path.join(commandLine('jpg', '--format', 'jpg', '--strength', String(strength)), 'transmitted.jpg'));
}

// The slider by mouse and by finger; every picture large on the stage, by its small one and by the arrows.
async function looking(page) {
  const {x, y, width, height} = await (await page.$('#stage')).boundingBox();
  const at = async share => {
    const said = parseFloat(await page.$eval('#stage', stage => stage.style.getPropertyValue('--at')));
    assert.ok(Math.abs(said - 100 * share) < 6, `${said} % for ${share}`);
  };
  await page.mouse.move(x + .3 * width, y + .5 * height);
  await page.mouse.down();
  await at(.3);
  await page.mouse.move(x + .75 * width, y + .5 * height, {steps: 5});
  await page.mouse.up();
  await at(.75);
  await page.touchscreen.tap(x + .25 * width, y + .5 * height);
  await at(.25);
  const large = () => page.$$eval('#stage img', all => all.filter(image => image.checkVisibility()).map(image => image.id));
  for (const name of ['reflected', 'confidence']) {
    await page.click(`label:has(#view-${name})`);
    assert.equal((await large()).at(-1), name);
  }
  await page.keyboard.press('ArrowRight');
  assert.equal(await page.$eval('#stage', stage => stage.dataset.view), 'compare');
  assert.ok(!(await large()).includes('reflected'));
}

// Nothing of what was done stays in the browser.
async function keptNothing(page) {
  assert.deepEqual(await page.evaluate(async () => [localStorage.length, sessionStorage.length, document.cookie,
    (await indexedDB.databases()).length, (await caches.keys()).length]), [0, 0, '', 0, 0]);
}

// The layers called by each other's name, and back again to the same bytes.
async function exchanged(page, downloads) {
  await page.focus('#strength');
  let before = await src(page, '#transmitted');
  await page.keyboard.press('End');
  await redrawn(page, '#transmitted', before);
  await page.select('#format', '1');
  const found = readFileSync(await download(page, downloads, '#save-transmitted', 'transmitted.png'));
  assert.equal(found[24], 16, 'bits of a sample');
  before = await src(page, '#reflected');
  await page.click('#exchange');
  await redrawn(page, '#reflected', before);
  const other = readFileSync(await download(page, downloads, '#save-transmitted', 'transmitted.png'));
  assert.ok(!other.equals(found));
  assert.ok(JSON.parse(readFileSync(await download(page, downloads, '#save-result', 'result.json'))).exchanged);
  before = await src(page, '#reflected');
  await page.click('#exchange');
  await redrawn(page, '#reflected', before);
  assert.ok(readFileSync(await download(page, downloads, '#save-transmitted', 'transmitted.png')).equals(found));
}

// Their memory has been given back. The browser tells of an end a little after it.
async function withoutWorkers(page) {
  for (let tries = 0; tries < 50 && page.workers().length > 0; tries++)
    await new Promise(resolve => setTimeout(resolve, 100));
  assert.deepEqual(page.workers().map(worker => worker.url()), []);
}

// Cancel ends the work, here on the bundled example, at once, and all of its workers; the page starts again.
async function cancelled(page) {
  await page.click('#again');
  await inState(page, 'empty');
  await withoutWorkers(page);
  await page.click('#example');
  await looked(page, 5);
  await page.click('#separate');
  await inState(page, 'working');
  await page.waitForFunction(() => /^About \d+ s left/.test(document.getElementById('left').textContent));
  await page.waitForSelector('#stages .past'); // all threads have been started
  const before = await page.$eval('#bar', bar => bar.value);
  await page.waitForFunction(value => document.getElementById('bar').value > value, {timeout: 60000}, before);
  const began = Date.now();
  await page.click('#cancel');
  await inState(page, 'ready');
  assert.ok(Date.now() - began < 5000, 'cancel takes its time');
  await withoutWorkers(page);
}

// A grey TIFF whose pixels are said to stand past 2 GiB.
function farTiff() {
  const tags = [[256, 8], [257, 8], [258, 8], [259, 1], [262, 1], [273, 0x90000000], [277, 1], [278, 8], [279, 64]];
  const file = Buffer.alloc(10 + 12 * tags.length + 4);
  file.write('II*\0\x08');
  file.writeUInt16LE(tags.length, 8);
  tags.forEach(([tag, value], n) => {
    file.writeUInt16LE(tag, 10 + 12 * n);
    file.writeUInt16LE(4, 12 + 12 * n);
    file.writeUInt32LE(1, 14 + 12 * n);
    file.writeUInt32LE(value, 18 + 12 * n);
  });
  return file;
}

// What is wrong is said at once, in words; names are text.
async function hostile(page) {
  await page.click('#clear');
  const files = readdirSync(path.join(root, 'tests/fuzz/corpus'), {recursive: true, withFileTypes: true})
    .filter(entry => entry.isFile() && /png|jpeg|tiff|npy|photo/.test(entry.path ?? entry.parentPath))
    .map(entry => path.join(entry.parentPath ?? entry.path, entry.name)).slice(0, 60);
  const half = path.join(scratch, 'half.png'), markup = path.join(scratch, '<img src=x onerror=alert(1)>.png');
  const whole = readFileSync(photos[0]);
  writeFileSync(half, whole.subarray(0, whole.length / 2));
  writeFileSync(markup, whole);
  const empty = path.join(scratch, 'empty.jpg'), bomb = path.join(scratch, 'bomb.npy');
  writeFileSync(empty, '');
  const claim = "{'descr': '<f4', 'fortran_order': False, 'shape': (100000, 100000, 3), }".padEnd(117) + '\n';
  writeFileSync(bomb, Buffer.concat([Buffer.from([0x93, ...Buffer.from('NUMPY'), 1, 0, claim.length, 0]), Buffer.from(claim)]));
  const far = path.join(scratch, 'far.tif');
  writeFileSync(far, farTiff());
  await choose(page, [...files, half, markup, empty, bomb, far]);
  await looked(page, files.length + 5);
  const reasons = await page.$$eval('#list .reason', all => all.map(element => element.textContent));
  assert.ok(reasons.some(words => /half\.png is (truncated|damaged)/.test(words)), reasons.join('\n'));
  assert.ok(reasons.some(words => /empty\.jpg is empty/.test(words)));
  assert.ok(reasons.some(words => /bomb\.npy claims/.test(words)), reasons.join('\n'));
  assert.ok(reasons.some(words => /far\.tif is damaged/.test(words)), reasons.join('\n'));
  assert.ok(!reasons.some(words => /broke off|undefined/.test(words)), reasons.join('\n'));
  assert.ok((await page.$$eval('#list .name', all => all.map(element => element.textContent)))
    .includes('<img src=x onerror=alert(1)>.png'));
  assert.equal(await page.$('#list img[onerror]'), null);
  await page.click('#clear');
}

// What the library cannot read, this browser may: AVIF it can, HEIC it cannot, and then the library's own words stand.
async function byBrowser(page) {
  await choose(page, ['photo.avif', 'photo.heic'].map(name => path.join(root, 'tests/web', name)));
  await looked(page, 2);
  const [avif, heic] = await page.$$eval('#list .photo', all => all.map(card => card.textContent));
  assert.match(avif, /photo\.avif64 × 48, 8 bit.*Read by this browser/);
  assert.match(heic, /photo\.heic is .*HEIC/);
  assert.equal(await page.$eval('#list .photo img', image => image.naturalWidth), 64);
  await page.click('#clear');
}

// Of large photos a small answer comes first; who cancels then keeps it, and can start again.
async function drafted(page) {
  await choose(page, [1, 2].map(n => path.join(folder, `large${n}.png`)));
  await looked(page, 2);
  await inState(page, 'ready');
  await page.click('#separate');
  await page.waitForFunction(() => document.body.dataset.draft !== undefined, {timeout: 300000});
  assert.equal(await page.$eval('body', body => body.dataset.state), 'working');
  assert.match(await text(page, '#verdict'), /draft at 387 × 387/);
  assert.equal(await page.$eval('#transmitted', image => image.naturalWidth), 387);
  await page.click('#cancel');
  await inState(page, 'ready');
  assert.match(await text(page, '#verdict'), /This is a draft/);
  await separate(page);
  await redrawn(page, '#transmitted', '');
  assert.equal(await page.$eval('#transmitted', image => image.naturalWidth), 1000);
  assert.doesNotMatch(await text(page, '#verdict'), /draft/);
  await page.click('#again');
  await inState(page, 'empty');
}

async function mistakes(page) {
  await choose(page, [photos[0]]);
  await looked(page, 1);
  assert.match(await text(page, '#notes'), /Two photos are needed/);
  assert.ok(await page.$eval('#separate', button => button.disabled));
  const copy = path.join(scratch, 'copy.png'), other = path.join(root, 'examples/scene/photo-1.jpg');
  writeFileSync(copy, readFileSync(photos[0]));
  await choose(page, [copy]);
  await looked(page, 2);
  assert.match(await text(page, '#notes'), /same picture/);
  await choose(page, [other]);
  await looked(page, 3);
  assert.match(await text(page, '#notes'), /differ in size/);
  await page.click('#clear');
  await inState(page, 'empty');
}

// Photos stand in the order in which they were taken, whatever their names and however they come.
async function inOrder(page) {
  await choose(page, [2, 3, 1].map(n => path.join(folder, `t${n}.png`)));
  await looked(page, 3);
  assert.deepEqual(await page.$$eval('#list .name', all => all.map(element => element.textContent)),
                   ['t3.png', 't2.png', 't1.png']);
  await page.click('#clear');
}

// Photos dragged onto the page by the browser's own drag; another reference, picked by a click, is the one taken.
async function dropped(page, downloads) {
  const session = await page.createCDPSession();
  for (const type of ['dragEnter', 'dragOver', 'drop'])
    await session.send('Input.dispatchDragEvent', {type, x: 300, y: 300, data: {items: [], files: photos, dragOperationsMask: 1}});
  await session.detach();
  await looked(page, photos.length);
  await inState(page, 'ready');
  await page.click('#list .photo:first-child .pick input');
  assert.deepEqual(await page.$$eval('#list .photo', all => all.map(card => card.matches('.reference'))), [true, false, false]);
  await separate(page);
  await redrawn(page, '#transmitted', '');
  await page.select('#format', '0');
  same(await download(page, downloads, '#save-transmitted', 'transmitted.png'),
       path.join(commandLine('first', '--reference', '1'), 'transmitted.png'));
  await page.click('#again');
  await inState(page, 'empty');
}

// On a machine with little memory a size that fits is offered before any work.
async function tooLarge(browser, address) {
  const page = await browser.newPage();
  await page.evaluateOnNewDocument(() => Object.defineProperty(navigator, 'deviceMemory', {get: () => .7}));
  await page.goto(address);
  await page.waitForFunction(() => document.getElementById('version').textContent);
  await choose(page, [1, 2].map(n => path.join(folder, `large${n}.png`)));
  await looked(page, 2);
  assert.match(await text(page, '#notes'), /At 1000 × 1000 these photos need more memory than this browser gives/);
  assert.match(await page.$eval('#options select', select => select.selectedOptions[0].textContent), /^707 × 707/);
  await page.close();
}

// After all that it still works; here without threads, where the page is not isolated.
async function bare(browser) {
  const server = await serve(web, true);
  const {page, errors, downloads, close} = await open(browser, server.address, {width: 390, height: 844});
  try {
    assert.equal(await page.evaluate(() => crossOriginIsolated), false);
    await choose(page, photos);
    await looked(page, photos.length);
    await shoot(page, 'ready-390');
    await separate(page);
    await redrawn(page, '#transmitted', '');
    await shoot(page, 'done-390');
    same(await download(page, downloads, '#save-transmitted', 'transmitted.png'), path.join(scratch, 'png/transmitted.png'));
    assert.deepEqual(errors, []);
  } finally {
    await close();
    server.end();
  }
}

const browser = await launch(), server = await serve(web, false);
try {
  const {page, requests, errors, downloads, close} = await open(browser, server.address);
  assert.equal(await page.evaluate(() => crossOriginIsolated), true);
  await shoot(page, 'empty-1400');
  const steps = {wholeWay, byKeyboard, looking, exchanged, cancelled, hostile, byBrowser, mistakes, inOrder, drafted, dropped, keptNothing};
  for (const [name, step] of Object.entries(steps)) {
    await step(page, downloads);
    if (name === 'wholeWay') await shoot(page, 'done-1400');
    console.log(`${name}: passed`);
  }
  assert.deepEqual(requests.filter(request => !request.startsWith(`GET ${server.address}`) && !/^GET blob:/.test(request)), []);
  assert.deepEqual(errors, []);
  await close();
  await tooLarge(browser, server.address);
  console.log('tooLarge: passed');
  await bare(browser);
  console.log('bare: passed');
} finally {
  await browser.close();
  server.end();
  rmSync(scratch, {recursive: true});
}
