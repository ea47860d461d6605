// web/app.js - the page: photos chosen, separated, shown. The state stands in document.body.dataset.state: empty, ready,
// working, done, failed. All computing is the package's (esra/index.js), in workers.
import {run, Session} from './esra/index.js';
import {texts} from './texts.js';
import {addPhotos, photos, orderPhotos, problemsOf, usable} from './photos.js';
import {draftFor, forecast, Memory, sizesFor} from './sizes.js';
import {showAnswer, forgetAnswer} from './answer.js';
import {beginBar, moveBar, endBar} from './bar.js';

const $ = id => document.getElementById(id);
const state = {threads: 1, tables: null, reference: null, stop: null, moreOpen: false, memory: new Memory()};

// ---- Words ----

function fillTexts() {
  document.title = texts.pageTitle;
  for (const element of document.querySelectorAll('[data-text]')) element.textContent = texts[element.dataset.text];
  for (const element of document.querySelectorAll('[data-label]'))
    element.setAttribute('aria-label', texts[element.dataset.label]);
  for (const element of document.querySelectorAll('[data-alt]')) element.alt = texts[element.dataset.alt];
  for (const [title, words] of texts.advice) {
    const item = make('li'), head = make('h3'), body = make('p');
    head.textContent = title;
    body.textContent = words;
    item.append(head, body);
    $('advice').append(item);
  }
}

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

function say(words) {
  $('say').textContent = words;
}

function enter(name) {
  document.body.dataset.state = name;
  $('separate').disabled = name === 'working' || !ready();
}

// ---- Photos ----

function ready() {
  return usable().length >= 2 && !problemsOf(usable()).some(problem => problem.stops);
}

// Where nothing is said, the middle one, as the command line has it.
function reference() {
  const good = usable();
  return good.includes(state.reference) ? state.reference : good[Math.ceil(good.length / 2) - 1];
}

function card(photo) {
  const item = make('li', {className: 'photo'});
  const words = make('div', {className: 'words'}, make('span', {className: 'name', textContent: photo.name, title: photo.name}));
  item.append(make('img', {className: 'thumb', alt: '', src: photo.url || 'icon.svg'}), words);
  if (photo.error) {
    item.classList.add('bad');
    words.append(make('span', {className: 'reason', textContent: photo.error}));
  } else if (photo.facts) {
    const {width, height, depth, profile} = photo.facts;
    words.append(make('span', {className: 'small', textContent: `${width} × ${height}, ${texts.bits(depth, profile)}`}));
    if (photo.byBrowser) words.append(make('span', {className: 'small', textContent: texts.byBrowser}));
    const radio = make('input', {type: 'radio', name: 'reference', checked: photo === reference()});
    radio.setAttribute('aria-label', texts.referenceOf(photo.name));
    radio.onchange = () => { state.reference = photo; list(); };
    item.append(make('label', {className: 'pick'}, radio, texts.reference));
    item.classList.toggle('reference', photo === reference());
  } else words.append(make('span', {className: 'small', textContent: texts.looking}));
  const remove = make('button', {type: 'button', className: 'quiet remove', textContent: '×'});
  remove.setAttribute('aria-label', texts.remove(photo.name));
  remove.onclick = () => { drop(photo); $('photos').focus(); };
  item.append(remove);
  return item;
}

function drop(photo) {
  photos.splice(photos.indexOf(photo), 1);
  if (photo.url) URL.revokeObjectURL(photo.url);
  refresh();
}

function list() {
  $('list').replaceChildren(...photos.map(card));
}

// Draws everything that hangs on the photos.
function refresh() {
  document.body.toggleAttribute('data-photos', photos.length > 0);
  document.querySelector('.drop-words').textContent = photos.length ? texts.dropMore : texts.drop;
  list();
  const words = [...new Set(problemsOf(usable(), state.tables).map(problem => problem.words))];
  offerSizes(words);
  $('notes').replaceChildren(...words.map(text => make('li', {textContent: text})));
  enter(photos.length === 0 || !ready() ? 'empty' : 'ready');
}

async function choose(files) {
  if (!files.length) return;
  if (['done', 'failed'].includes(document.body.dataset.state)) startAgain();
  await addPhotos(files, state, refresh);
  orderPhotos();
  refresh();
  say($('notes').textContent || `${usable().length} ${texts.photosTitle}`);
}

function startAgain() {
  forget();
  for (const photo of photos.splice(0)) if (photo.url) URL.revokeObjectURL(photo.url);
  state.reference = null;
  refresh();
}

// ---- Options ----

// Sizes that fit this browser's memory by the library's plan; the chosen one stays chosen where it can.
function offerSizes(words) {
  const good = usable();
  $('options').replaceChildren();
  $('forecast').textContent = '';
  if (!ready()) return;
  const {sizes, tooLarge} = sizesFor(good, state);
  if (tooLarge) words.push(texts.tooLarge(tooLarge, sizes.length ? sizes[0].words : ''));
  if (!sizes.length) return;
  choice('size', texts.sizeLabel, sizes.map((size, n) => [n, size.label]), 0);
  state.sizes = sizes;
  const more = make('details', {className: 'more', open: state.moreOpen, ontoggle: () => { state.moreOpen = more.open; }},
                    make('summary', {textContent: texts.more}));
  for (const row of [...state.tables.photos, ...state.tables.settings])
    if (texts.options[row.name] && row.type === 'choice')
      choice(row.name, texts.options[row.name], row.names.split('|').map(word => [word, word]),
             row.names.split('|')[row.default], row.help, more);
  $('options').append(more);
  $('options').onchange = tellForecast;
  tellForecast();
}

function choice(name, label, entries, chosen, help = '', where = $('options')) {
  const select = make('select', {name, title: help});
  select.append(...entries.map(([value, text]) => make('option', {value, textContent: text, selected: value === chosen})));
  where.append(make('label', {}, label, select));
}

function tellForecast() {
  const {size: {value}, effort} = $('options').elements;
  $('forecast').textContent = texts.forecast(texts.seconds(forecast(state.sizes[value], state, effort && effort.value)),
                                             state.threads);
}

// What the form says, for the library; what stays at its default is left out.
function chosenOptions() {
  const values = {reference: usable().indexOf(reference()) + 1};
  for (const row of [...state.tables.photos, ...state.tables.settings]) {
    const select = $('options').elements[row.name];
    if (select && select.value !== row.names.split('|')[row.default]) values[row.name] = select.value;
  }
  return values;
}

// ---- The separation ----

async function once(files, options, size, title, signal) {
  $('work-title').textContent = title;
  beginBar(forecast(size, state, options.effort));
  try {
    return await run(files, {options, size: size.smaller && {width: size.width, height: size.height},
                             threads: state.threads, signal, onProgress: moveBar});
  } finally {
    endBar();
  }
}

// A small answer to look at while the whole one is computed.
async function draft(files, good, options, size, signal) {
  const small = options.effort === 'draft' ? null : draftFor(size, good, state);
  if (!small) return;
  const separation = await once(files, {...options, effort: 'draft'}, small, texts.draftTitle, signal);
  await showAnswer(separation, good, texts.drafted(small.words));
  document.body.dataset.draft = '';
  say($('verdict').textContent);
}

async function separate() {
  const good = usable(), options = chosenOptions();
  const size = state.sizes[$('options').elements.size.value];
  const files = good.map(photo => Object.assign(photo.blob.slice(), {name: photo.name}));
  const controller = new AbortController();
  forget();
  state.stop = () => controller.abort();
  $('subject').src = reference().url;
  enter('working');
  say(texts.workTitle);
  $('cancel').focus();
  try {
    await draft(files, good, options, size, controller.signal);
    const separation = await once(files, options, size, texts.workTitle, controller.signal);
    await showAnswer(separation, good);
    delete document.body.dataset.draft;
    enter('done');
    $('answer-title').focus();
    say($('verdict').textContent);
  } catch (error) {
    if (error.name === 'AbortError') cancelled();
    else fail(error.message);
  } finally {
    state.stop = null;
  }
}

// A draft that is there stays to be looked at.
function cancelled() {
  if (document.body.dataset.draft === undefined) forgetAnswer();
  else $('verdict').textContent = texts.draftKept;
  enter('ready');
  say(texts.cancelled);
  $('separate').focus();
}

function forget() {
  forgetAnswer();
  delete document.body.dataset.draft;
}

function fail(words) {
  forget();
  $('reason').textContent = words;
  enter('failed');
}

async function example() {
  const names = [1, 2, 3, 4, 5].map(n => `photo-${n}.jpg`);
  const files = await Promise.all(names.map(async name =>
    new File([await (await fetch('example/' + name)).blob()], name, {type: 'image/jpeg'})));
  await choose(files);
}

// ---- Start ----

function listen() {
  $('photos').onchange = async () => {
    const files = [...$('photos').files];
    $('photos').value = '';
    await choose(files);
  };
  $('photos').accept = 'image/*,.tif,.tiff,.npy,.heic,.heif,.avif';
  $('example').onclick = () => example().catch(error => fail(error.message));
  $('clear').onclick = $('again').onclick = () => { startAgain(); $('photos').focus(); };
  $('separate').onclick = separate;
  $('cancel').onclick = () => state.stop && state.stop();
  $('theme').onclick = () => {
    const dark = matchMedia('(prefers-color-scheme: dark)').matches;
    const now = document.documentElement.dataset.theme || (dark ? 'dark' : 'light');
    document.documentElement.dataset.theme = now === 'dark' ? 'light' : 'dark';
  };
  let inside = 0;
  const over = on => $('drop').classList.toggle('over', on);
  addEventListener('dragenter', () => over(++inside > 0));
  addEventListener('dragleave', () => over(--inside > 0));
  addEventListener('dragover', event => event.preventDefault());
  addEventListener('drop', event => {
    event.preventDefault();
    over((inside = 0) > 0);
    if (document.body.dataset.state !== 'working') choose([...event.dataTransfer.files]);
  });
}

fillTexts();
listen();
// The tables, once; a worker that only answers what it knows.
state.tablesReady = (async () => {
  const session = new Session({threads: 1});
  const {tables, mostBytes} = await session.ready;
  state.tables = tables;
  state.memory.most = mostBytes;
  state.threads = self.crossOriginIsolated ? Math.max(1, Math.min(navigator.hardwareConcurrency || 1, 16)) : 1;
  $('version').textContent = texts.version(tables.version);
  session.end();
})();
state.tablesReady.catch(error => fail(error.message));
