// web/sizes.js - how large photos may be here, by the library's plan, and how long they will take.
import {texts} from './texts.js';

// Megapixels that are offered besides the photos' own.
const STEPS = [8, 4, 2, 1, .5];
// Longer than this nobody waits without having chosen to: a smaller size is then the first offered.
const PATIENCE_S = 300;
// WebAssembly against the machine that the library's plan speaks of (doc/notes/web.md has the measurement).
const SLOWER = 1.8;
// The heap grows to more than the plan: blocks are rounded, and what is freed is not always what is wanted next.
const HEADROOM = .8;

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

export function forecast(size, {threads}) {
  return 2 + SLOWER * size.coreSeconds / Math.pow(threads, .85);
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
