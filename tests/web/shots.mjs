// tests/web/shots.mjs - pictures of the page with the bundled example separated, at the width of a phone and of a desk: to be
// looked at, and for README.md. usage: node shots.mjs BUILD_FOLDER OUTPUT_FOLDER
import {mkdirSync} from 'node:fs';
import path from 'node:path';
import {inState, launch, looked, open, serve} from './page.mjs';

const [build, output] = process.argv.slice(2).map(word => path.resolve(word));
mkdirSync(output, {recursive: true});
const browser = await launch(), server = await serve(path.join(build, 'web'), false);
try {
  const {page, close} = await open(browser, server.address, {width: 1400, height: 900});
  const shoot = name => page.screenshot({path: path.join(output, `${name}.png`), fullPage: true});
  const both = async name => {
    for (const [width, height] of [[1400, 900], [390, 844]]) {
      await page.setViewport({width, height});
      await shoot(`${name}-${width}`);
    }
    await page.setViewport({width: 1400, height: 900});
  };
  await both('empty');
  await page.click('#example');
  await looked(page, 5);
  await both('ready');
  await page.click('#separate');
  await inState(page, 'working');
  await new Promise(resolve => setTimeout(resolve, 5000));
  await both('working');
  await inState(page, 'done');
  await new Promise(resolve => setTimeout(resolve, 1000));
  await both('done');
  await page.screenshot({path: path.join(output, 'page.jpg'), type: 'jpeg', quality: 85});
  await page.emulateMediaFeatures([{name: 'prefers-color-scheme', value: 'dark'}]);
  await new Promise(resolve => setTimeout(resolve, 500)); // colours fade over
  await both('dark');
  await close();
} finally {
  await browser.close();
  server.end();
}
