// web/photos.js - the photos that were chosen: read by the library as they come, put in order, and looked at together.
import {Session} from './esra/index.js';
import {texts} from './texts.js';

// {name, blob, facts, url, error, byBrowser}: facts once it was read, an error where it could not be.
export const photos = [];

const THUMBNAIL = 480; // px

export function usable() {
  return photos.filter(photo => photo.facts && !photo.error);
}

// Reads the files one after the other in a worker of their own, which then gives its memory back.
export async function addPhotos(files, state, refresh) {
  const added = [...files].map(file => ({name: file.name, blob: file}));
  photos.push(...added);
  refresh();
  await state.tablesReady;
  let session = new Session({threads: 1});
  for (const photo of added) {
    if (!photos.includes(photo)) continue;
    try {
      await read(photo, session);
    } catch (error) {
      photo.error = error.message;
      if (session.ended) session = new Session({threads: 1});
    }
    refresh();
  }
  state.plans = await plansFor(photos.length, session, state.threads);
  session.end();
}

// What 0, 1, 2 ... photos take: bytes at the least, and bytes and seconds of a megapixel more. Both go with the pixels.
async function plansFor(most, session, threads) {
  const plans = [];
  for (let count = 2; count <= most; count++) {
    const [one, four] = [await session.ask('plan', count, 1000, 1000, 3, threads),
                         await session.ask('plan', count, 2000, 2000, 3, threads)];
    const bytes = (four.bytes - one.bytes) / 3;
    plans[count] = {fixed: one.bytes - bytes, bytes, seconds: four.core_seconds / 4};
  }
  return plans;
}

async function read(photo, session) {
  let seen;
  try {
    seen = await session.ask('look', {name: photo.name, file: photo.blob}, THUMBNAIL);
  } catch (error) {
    const blob = await decodedByBrowser(photo.blob);
    if (!blob) throw error;
    seen = await session.ask('look', {name: photo.name, file: blob}, THUMBNAIL);
    photo.blob = blob;
    photo.byBrowser = true;
  }
  const {thumbnail, ...facts} = seen;
  photo.facts = facts;
  photo.url = URL.createObjectURL(new Blob([thumbnail], {type: 'image/jpeg'}));
}

// HEIC and AVIF begin with a box "ftyp": where this browser has a decoder for them, a PNG of 8 bits in sRGB.
async function decodedByBrowser(blob) {
  const head = new Uint8Array(await blob.slice(0, 12).arrayBuffer());
  if (String.fromCharCode(...head.slice(4, 8)) !== 'ftyp') return null;
  try {
    const bitmap = await createImageBitmap(blob);
    const canvas = Object.assign(document.createElement('canvas'), {width: bitmap.width, height: bitmap.height});
    canvas.getContext('2d').drawImage(bitmap, 0, 0);
    return await new Promise(resolve => canvas.toBlob(resolve, 'image/png'));
  } catch (error) {
    return null;
  }
}

// As they were taken, by EXIF; those that do not say, by name.
export function orderPhotos() {
  const taken = photo => (photo.facts && photo.facts.taken) || '';
  const byName = new Intl.Collator('en', {numeric: true}).compare;
  const told = photos.every(photo => taken(photo));
  photos.sort((a, b) => (told && (taken(a) < taken(b) ? -1 : taken(a) > taken(b) ? 1 : 0)) || byName(a.name, b.name));
}

const sizeOf = ({facts}) => `${facts.width} × ${facts.height}`;

// {words, stops}: what is wrong with them together, found before any work.
export function problemsOf(good, tables) {
  const found = [], sizes = [...new Set(good.map(sizeOf))];
  if (good.length === 1) found.push({words: texts.onePhoto, stops: true});
  if (sizes.length > 1) found.push({words: texts.sizesDiffer(sizes.join(', ')), stops: true});
  if (tables && twice(good)) {
    const warning = tables.warnings.find(({id}) => id === 'same-photo');
    found.push({words: `${warning.text} ${warning.advice}`, stops: false});
  }
  return found;
}

function twice(good) {
  const seen = new Set(good.map(photo => `${photo.blob.size} ${photo.facts.digest}`));
  return seen.size < good.length;
}
