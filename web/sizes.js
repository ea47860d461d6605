// web/sizes.js - how large photos may be here, by the library's plan, and how long they will take.
import {texts} from './texts.js';

// Megapixels that are offered besides the photos' own.
const STEPS = [8, 4, 2, 1, .5];
// Longer than this nobody waits without having chosen to: a smaller size is then the first offered.
const PATIENCE_S = 300;
// WebAssembly against the machine that the library's plan speaks of (doc/notes/web.md has the measurement).
const SLOWER = 1.8;
// What an effort takes, of the usual one's time: measured in the same way. The best tries depth in any case.
const EFFORTS = {draft: .6, best: 2};
// Photos of twice as many megapixels and more are first separated at this size: some ten seconds of one processor.
const DRAFT = .15;
// The heap grows to 1.3 times the plan (doc/notes/web.md): blocks are rounded, and what is freed is not always what is wanted
// next.
const HEADROOM = .75;

// What this browser will give: 4 GiB at most, and no more than half of a small machine.
export class Memory {
  constructor() {
    this.most = 4294967296;
  }

  get allowed() {
    const machine = (navigator.deviceMemory || (navigator.maxTouchPoints > 1 ? 4 : 8)) * 2 ** 30;
    return HEADROOM * Math.min(this.most, machine / 2);
  }
}

const tell = ({width, height}) => `${width} × ${height}`;

function scaled(facts, megapixels) {
  const share = Math.sqrt(megapixels * 1e6 / (facts.width * facts.height));
  return {width: Math.round(facts.width * share), height: Math.round(facts.height * share)};
}

function planned(size, plan) {
  const megapixels = size.width * size.height / 1e6;
  return {bytes: plan.fixed + megapixels * plan.bytes, coreSeconds: megapixels * plan.seconds};
}

export function forecast(size, {threads}, effort) {
  return 2 + SLOWER * (EFFORTS[effort] || 1) * size.coreSeconds / Math.pow(threads, .85);
}

// The size of a first, small answer; null where the whole one is there as soon.
export function draftFor(size, good, state) {
  if (size.width * size.height < 2e6 * DRAFT) return null;
  const small = scaled(good[0].facts, DRAFT);
  return {...small, ...planned(small, state.plans[good.length]), smaller: true, words: tell(small)};
}

// The sizes that fit, the one to begin with first; and, where the photos' own does not fit, what that is.
export function sizesFor(good, state) {
  const facts = good[0].facts, plan = state.plans && state.plans[good.length];
  if (!plan) return {sizes: [], tooLarge: ''};
  const own = {width: facts.width, height: facts.height};
  const all = [own, ...STEPS.filter(step => step * 1.05e6 < own.width * own.height).map(step => scaled(facts, step))]
    .map((size, n) => ({...size, ...planned(size, plan), smaller: n > 0, words: tell(size)}));
  const sizes = all.filter(size => size.bytes <= state.memory.allowed);
  for (const size of sizes)
    size.label = size.smaller ? texts.sizeSmall(size.words, (size.width * size.height / 1e6).toFixed(1))
      : texts.sizeFull(size.words);
  const patient = sizes.findIndex(size => forecast(size, state) <= PATIENCE_S);
  if (patient > 0) sizes.unshift(...sizes.splice(patient, 1));
  return {sizes, tooLarge: all[0].bytes > state.memory.allowed ? all[0].words : ''};
}
