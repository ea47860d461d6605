/** A photo of the scene: PNG, JPEG, TIFF or NPY. */
export type Photo = Blob | BufferSource;

export interface Warning {
  id: string;
  /** What is the matter, in a sentence. */
  text: string;
  /** What to do about it. */
  advice: string;
}

/** What result.json says; doc/result.md of esra has its fields. */
export interface Result {
  schema: string;
  version: string;
  method: 'none' | 'voting' | 'joint' | 'given';
  motion: string;
  reference: number;
  width: number;
  height: number;
  warnings: Warning[];
  [field: string]: unknown;
}

export interface Progress {
  stage: 'align' | 'separate' | 'solve' | 'return';
  /** Since it began. */
  seconds: number;
  /** About how many more it takes, by the library's plan and the pace so far; 0 where that is not known. */
  remaining: number;
  iterations: number;
  gap: number;
}

export interface RunOptions {
  /** Options of the library by their names: reference (from 1), motion, light, lambda, gap ... */
  options?: Record<string, number | string | boolean>;
  /** Makes the photos smaller first. */
  size?: {width: number; height: number};
  /** One for each processor where the page is cross-origin isolated; otherwise there is one. */
  threads?: number;
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
  /** Where worker.js lies, if a bundler has put it elsewhere. */
  worker?: URL | string;
}

export interface PictureOptions {
  /** The photo, from 1, that a reflected layer is of; the reference where it is not said. */
  of?: number;
  /** How much of the reflection to remove, 0 to 1. */
  strength?: number;
  /** Call each layer by the other's name. */
  exchanged?: boolean;
  format?: 'png' | 'jpg' | 'tif' | 'npy';
  /** Bits of a sample; 0 is the photo's own. */
  depth?: 0 | 8 | 16 | 32;
  /** Of JPEG, 1 to 100. */
  quality?: number;
}

export type View = Pick<PictureOptions, 'strength' | 'exchanged' | 'format'>;

export class Separation {
  readonly info: Result;
  readonly warnings: Warning[];
  /** False: the layers could not be told apart, and the photo comes back. */
  readonly separated: boolean;
  picture(kind: 'transmitted' | 'reflected' | 'confidence' | 'photo', options?: PictureOptions): Promise<Blob>;
  /** result.json and report.html, as they would lie beside pictures of that format. */
  result(view?: View): Promise<Blob>;
  report(view?: View): Promise<Blob>;
  /** Gives back its memory. */
  end(): void;
}

export interface Layers<Picture> {
  /** The scene behind the glass, as the reference photo shows it. */
  transmitted: Picture;
  /** What the reference photo reflects, twice as bright. */
  reflected: Picture;
  confidence: Picture;
  result: Result;
  warnings: Warning[];
  separated: boolean;
}

/** Separates the photos in workers of this page. */
export function separate(photos: Iterable<Photo>,
                         options?: RunOptions & {format?: PictureOptions['format']; strength?: number}): Promise<Layers<Blob>>;

/** The same, with pictures made when they are asked for; end() it. */
export function run(photos: Iterable<Photo>, options?: RunOptions): Promise<Separation>;

/** One worker with the library inside. */
export class Session {
  constructor(options?: {threads?: number; onProgress?: (progress: Progress) => void; worker?: URL | string});
  ask(call: string, ...values: unknown[]): Promise<any>;
  end(): void;
}
