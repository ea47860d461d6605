import type {Layers, PictureOptions, RunOptions} from './index.js';

/** A path, a file's bytes, or these with a name. */
export type NodePhoto = string | Uint8Array | {name: string; bytes: Uint8Array};

export interface NodeLayers extends Layers<Buffer> {
  /** What each photo reflects. */
  reflections: Buffer[];
  /** result.json. */
  json: Buffer;
  /** report.html, where it was asked for. */
  report: Buffer | null;
}

/** Separates the photos in a worker thread. */
export function separate(photos: Iterable<NodePhoto>,
                         options?: Omit<RunOptions, 'worker'> & PictureOptions & {report?: boolean}): Promise<NodeLayers>;
