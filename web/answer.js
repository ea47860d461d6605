// web/answer.js - the answer: a slider between photo and scene, strength, exchange, warnings, and files to save.
import {texts} from './texts.js';

const $ = id => document.getElementById(id);
// Above this a JPEG is shown: a PNG takes seconds. Files to save are always as they are asked for.
const EXACT_PX = 2e6;

let shown = null; // {separation, photos, view, urls, turn}

export async function showAnswer(separation, photos, note = '') {
  forgetAnswer();
  shown = {separation, photos, view: {strength: 1, exchanged: false}, urls: new Map(), turn: 0};
  tellVerdict(note);
  fillChoices();
  $('stage').style.setProperty('--ratio', separation.facts.width / separation.facts.height);
  view('compare');
  $('divide').value = 50;
  $('strength').value = 100;
  $('strength').disabled = $('exchange').disabled = !separation.separated;
  divide();
  tellStrength();
  await Promise.all([draw('photo', 'before'), draw('photo', 'mix'), draw('confidence'), drawLayers()]);
}

// Ends the worker that holds the layers, and frees the pictures.
export function forgetAnswer() {
  if (!shown) return;
  shown.separation.end();
  for (const url of shown.urls.values()) URL.revokeObjectURL(url);
  for (const image of $('answer').querySelectorAll('img')) image.removeAttribute('src');
  $('exchange').setAttribute('aria-pressed', 'false');
  shown = null;
}

// ---- Words ----

function tellVerdict(note) {
  const {info, separated, warnings} = shown.separation;
  const gap = info.solve && info.solve.gap;
  $('verdict').textContent = note || (separated
    ? texts.separated(texts.seconds(info.seconds.total), gap ? texts.certified((100 * gap).toFixed(1)) : '')
    : texts.notSeparated);
  $('warnings').replaceChildren(...warnings.map(({text, advice}) => {
    const item = document.createElement('li');
    const advised = Object.assign(document.createElement('span'), {className: 'advised', textContent: advice});
    item.append(text, advised);
    return item;
  }));
}

function fillChoices() {
  const {photos, separation} = shown;
  $('which').replaceChildren(...photos.map((photo, n) => Object.assign(document.createElement('option'),
    {value: n + 1, textContent: photo.name, selected: n + 1 === separation.facts.reference})));
}

// ---- Pictures ----

function large() {
  const {width, height} = shown.separation.facts;
  return width * height > EXACT_PX;
}

// Puts a picture of the separation into the img of that id.
async function draw(kind, id = kind, of) {
  const mine = shown;
  const blob = await mine.separation.picture(kind, {...mine.view, of, ...(large() ? {format: 'jpg', depth: 8} : {})});
  if (mine !== shown) return;
  const url = URL.createObjectURL(blob), image = $(id), old = mine.urls.get(id);
  mine.urls.set(id, url);
  image.src = url;
  for (const small of $('strip').querySelectorAll(`[data-of=${id}]`)) small.src = url;
  await image.decode().catch(() => {});
  if (old) URL.revokeObjectURL(old);
}

// Both layers as strength and exchange want them; of many wishes in a row only the last is drawn.
async function drawLayers(only = ['transmitted', 'reflected']) {
  const mine = shown, turn = ++mine.turn;
  $('answer').setAttribute('aria-busy', 'true');
  for (const kind of only) {
    if (mine.turn !== turn || mine !== shown) return;
    await draw(kind, kind, kind === 'reflected' ? Number($('which').value) : undefined);
  }
  if (mine.turn !== turn || mine !== shown) return;
  $('mix').style.opacity = 0;
  $('answer').setAttribute('aria-busy', 'false');
}

// ---- Looking ----

// One of texts.view: large on the stage.
function view(name) {
  $('stage').dataset.view = $('answer').dataset.view = name;
  document.getElementById(`view-${name}`).checked = true;
  $('divide').disabled = name !== 'compare';
}

// A small picture for each view; that of the comparison is made of two.
function fillStrip() {
  for (const [name, words] of Object.entries(texts.view)) {
    const radio = make('input', {type: 'radio', name: 'view', id: `view-${name}`, onchange: () => view(name)});
    const pictures = (name === 'compare' ? ['before', 'transmitted'] : [name]).map(of => {
      const picture = make('img', {alt: ''});
      picture.dataset.of = of;
      return picture;
    });
    $('strip').append(make('label', {className: 'frame'}, radio, make('span', {className: 'small-picture'}, ...pictures),
                           make('span', {textContent: words})));
  }
}

function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

function divide() {
  $('stage').style.setProperty('--at', $('divide').value + '%');
  $('divide').setAttribute('aria-valuetext', `${$('divide').value} %`);
}

function tellStrength() {
  $('strength-said').textContent = `${$('strength').value} %`;
}

// At once the photo shines through; what the library makes of it follows when the hand rests.
let resting = 0;
function weaken() {
  tellStrength();
  const wanted = $('strength').value / 100;
  $('mix').style.opacity = Math.max(0, 1 - wanted / (shown.view.strength || 1));
  clearTimeout(resting);
  resting = setTimeout(() => {
    if (!shown) return;
    shown.view.strength = wanted;
    drawLayers(['transmitted']).catch(complain);
  }, 150);
}

async function exchange() {
  shown.view.exchanged = !shown.view.exchanged;
  $('exchange').setAttribute('aria-pressed', String(shown.view.exchanged));
  $('say').textContent = shown.view.exchanged ? texts.exchanged : texts.exchangedBack;
  await drawLayers();
}

// ---- Files ----

function offer(blob, name) {
  const url = URL.createObjectURL(blob);
  const link = Object.assign(document.createElement('a'), {href: url, download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}

// [format, depth] that is chosen.
function format() {
  return texts.formatsToSave[$('format').value];
}

async function savePicture(kind, stem, of) {
  const [word, depth] = format();
  offer(await shown.separation.picture(kind, {...shown.view, of, format: word, depth}), `${stem}.${word}`);
}

const files = [
  ['save-transmitted', texts.saveTransmitted, () => savePicture('transmitted', 'transmitted')],
  ['save-reflected', texts.saveReflected, () => savePicture('reflected', `reflected-${$('which').value}`, Number($('which').value))],
  ['save-confidence', texts.saveConfidence, () => savePicture('confidence', 'confidence')],
  ['save-report', texts.saveReport, async () => offer(await shown.separation.report({...shown.view, format: format()[0]}), 'report.html')],
  ['save-result', texts.saveResult, async () => offer(await shown.separation.result({...shown.view, format: format()[0]}), 'result.json')],
];

function complain(error) {
  if (error.name === 'AbortError') return;
  const item = Object.assign(document.createElement('li'), {textContent: error.message});
  $('warnings').prepend(item);
  $('say').textContent = error.message;
}

for (const [id, text, save] of files) {
  const button = Object.assign(document.createElement('button'), {type: 'button', id, className: id === 'save-transmitted' ? 'button primary' : 'button', textContent: text});
  button.onclick = () => save().catch(complain);
  $('files').append(button);
}
$('format').replaceChildren(...texts.formatsToSave.map(([, , words], n) =>
  Object.assign(document.createElement('option'), {value: n, textContent: words})));
fillStrip();
$('divide').oninput = divide;
$('strength').oninput = weaken;
$('exchange').onclick = () => exchange().catch(complain);
$('which').onchange = () => { view('reflected'); drawLayers(['reflected']).catch(complain); };
