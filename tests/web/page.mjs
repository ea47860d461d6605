// tests/web/page.mjs - a browser with the page in it, and a server that serves it: what the tests of the page share.
import {spawn} from 'node:child_process';
import {mkdtemp, readdir, rm, stat} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import puppeteer from 'puppeteer-core';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

// Serves the folder; bare: without the headers that isolate the page.
export async function serve(folder, bare) {
  const words = [path.join(root, 'scripts/serve.py'), folder, '--port', '0', ...(bare ? ['--bare'] : [])];
  const server = spawn('python3', words, {stdio: ['ignore', 'pipe', 'inherit']});
  const address = await new Promise((resolve, reject) => {
    server.stdout.once('data', text => resolve(String(text).trim()));
    server.once('exit', code => reject(new Error(`serve.py ended with ${code}`)));
  });
  return {address, end: () => server.kill()};
}

export async function launch() {
  return puppeteer.launch({
    executablePath: process.env.CHROMIUM || '/usr/bin/chromium', headless: true, protocolTimeout: 900000,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
}

// The page, with a list of all that it asked for and of every error; downloads go to a folder of their own.
export async function open(browser, address, {width = 1400, height = 900} = {}) {
  const page = await browser.newPage();
  await page.setViewport({width, height});
  const requests = [], errors = [], downloads = await mkdtemp(path.join(tmpdir(), 'esra-web-'));
  page.on('request', request => requests.push(`${request.method()} ${request.url()}`));
  page.on('pageerror', error => errors.push(error.message));
  page.on('console', message => message.type() === 'error' && errors.push(message.text()));
  const session = await page.createCDPSession();
  await session.send('Browser.setDownloadBehavior', {behavior: 'allow', downloadPath: downloads, eventsEnabled: true});
  await page.goto(address);
  await page.waitForFunction(() => document.getElementById('version').textContent);
  return {page, requests, errors, downloads, close: async () => {
    await page.close();
    await rm(downloads, {recursive: true});
  }};
}

export async function choose(page, files) {
  const input = await page.$('#photos');
  await input.uploadFile(...files);
}

export async function inState(page, ...states) {
  await page.waitForFunction(wanted => wanted.includes(document.body.dataset.state), {timeout: 900000}, states);
  return page.evaluate(() => document.body.dataset.state);
}

// Waits until all photos have been read.
export async function looked(page, count) {
  await page.waitForFunction(wanted => {
    const cards = [...document.querySelectorAll('#list .photo')];
    return cards.length === wanted && cards.every(card => card.querySelector('input') || card.matches('.bad'));
  }, {timeout: 120000}, count);
  await page.waitForFunction(() => document.getElementById('say').textContent);
}

// Clicks, and waits for the file of that name to be whole.
export async function download(page, folder, button, name) {
  const file = path.join(folder, name);
  await rm(file, {force: true});
  await page.click(button);
  for (let tries = 0; tries < 600; tries++) {
    const there = await stat(file).catch(() => null);
    const partial = (await readdir(folder)).some(other => other.endsWith('.crdownload'));
    if (there && there.size > 0 && !partial) return file;
    await new Promise(resolve => setTimeout(resolve, 100));
  }
  throw new Error(`${name} did not come`);
}
