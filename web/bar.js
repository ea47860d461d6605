// web/bar.js - how far a separation is and how long it goes on, as the library reckons by its plan and its pace so far. The bar
// never goes back nor ends before the work does.
import {texts} from './texts.js';

const $ = id => document.getElementById(id);
const STAGES = ['read', 'align', 'separate', 'solve', 'return'];

let clock = null;

// forecast: seconds, as this page expects them before anything is known.
export function beginBar(forecast) {
  endBar();
  clock = {began: performance.now(), forecast, expected: forecast, stage: 'read', reached: 0, timer: setInterval(draw, 500)};
  $('stages').replaceChildren(...STAGES.map(stage => Object.assign(document.createElement('li'),
    {textContent: texts.stages[stage]})));
  draw();
}

// The library starts from the pace of a program, not of a page: the further it is, the more its word counts.
export function moveBar({stage, remaining}) {
  if (!clock) return;
  const elapsed = seconds(), share = elapsed / (elapsed + remaining);
  if (remaining > 0) clock.expected = elapsed + share * remaining + (1 - share) * Math.max(clock.forecast - elapsed, remaining);
  if (stage === clock.stage) return;
  clock.stage = stage;
  $('say').textContent = texts.stages[stage];
  draw();
}

export function endBar() {
  if (clock) clearInterval(clock.timer);
  clock = null;
}

function seconds() {
  return (performance.now() - clock.began) / 1000;
}

function draw() {
  const elapsed = seconds(), share = elapsed / clock.expected, left = clock.expected - elapsed;
  // Past nine tenths of what is expected the bar creeps on towards its end.
  clock.reached = Math.max(clock.reached, share < .9 ? share : 1 - .1 * Math.exp((.9 - share) / .4));
  $('bar').value = Math.round(1000 * clock.reached);
  $('left').textContent = left > 0 ? texts.left(texts.seconds(left)) : texts.longer;
  [...$('stages').children].forEach((item, n) => {
    item.classList.toggle('past', n < STAGES.indexOf(clock.stage));
    if (n === STAGES.indexOf(clock.stage)) item.setAttribute('aria-current', 'step');
    else item.removeAttribute('aria-current');
  });
}
