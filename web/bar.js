// web/bar.js - how far a separation is. The library says in which stage it is, not how much is left: the time is that of
// its plan, corrected as stages pass, and the bar never goes back nor ends before the work does.
import {texts} from './texts.js';

const $ = id => document.getElementById(id);
const STAGES = ['read', 'align', 'separate', 'solve', 'return'];
// Where the stages begin, of the whole: aligning and telling apart take turns, by homographies, then by depth (the example,
// and scenes of 160 px). Of larger photos the first turn is of halved ones, and says little.
const TURNS = [0, .2, .4, .63, .8], LAST = {solve: .93, return: .98};

let clock = null;

// small: the photos are worked on at their own size from the first.
export function beginBar(expected, small) {
  endBar();
  const began = performance.now();
  clock = {began, expected: Math.max(expected, 1), small, stage: 'read', turn: -1, reached: 0, timer: setInterval(draw, 500)};
  $('stages').replaceChildren(...STAGES.map(stage => Object.assign(document.createElement('li'),
    {textContent: texts.stages[stage]})));
  draw();
}

export function moveBar({stage}) {
  if (!clock || stage === clock.stage) return;
  clock.stage = stage;
  clock.turn++;
  const begins = LAST[stage] || (clock.small && TURNS[clock.turn]);
  if (begins) clock.expected = seconds() / begins;
  clock.reached = Math.max(clock.reached, begins || 0);
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
  const elapsed = seconds(), share = elapsed / clock.expected;
  // Past nine tenths of the forecast the bar creeps on towards its end.
  clock.reached = Math.max(clock.reached, share < .9 ? share : 1 - .1 * Math.exp((.9 - share) / .4));
  $('bar').value = Math.round(1000 * clock.reached);
  const left = clock.expected - elapsed;
  $('left').textContent = left > 0 ? texts.left(texts.seconds(left)) : texts.longer;
  [...$('stages').children].forEach((item, n) => {
    item.classList.toggle('past', n < STAGES.indexOf(clock.stage));
    if (n === STAGES.indexOf(clock.stage)) item.setAttribute('aria-current', 'step');
    else item.removeAttribute('aria-current');
  });
}
