// bindings/wasm/js/lib/engine.js - the WebAssembly module as an object, in a worker of a browser or of node. A classic script:
// Emscripten's threads cannot be started from ES modules by the oldest release that is supported. Photos live in the
// module's own file system, in memory; failures are Errors with the library's words.
(function (root) {
  'use strict';

  const PAGE = 65536, INITIAL = 64 << 20;
  // 4 GiB is all that 32-bit addresses reach. Where shared memory is reserved whole, as on phones, less must do.
  const MOST_PAGES = [65536, 49152, 32768, 16384, 8192];
  const PICTURES = {transmitted: 0, reflected: 1, confidence: 2, photo: 3};

  function makeMemory(shared) {
    for (const maximum of MOST_PAGES) {
      try {
        return {memory: new WebAssembly.Memory({initial: INITIAL / PAGE, maximum, shared}), most: maximum * PAGE};
      } catch (error) {
        if (maximum === MOST_PAGES[MOST_PAGES.length - 1]) throw error;
      }
    }
  }

  class Engine {
    // load: the script's esra(); options: threads (1: none besides the worker's own), locate(file), wasm (its bytes),
    // script (for threads).
    static async create(load, options) {
      const {memory, most} = makeMemory(options.threads > 1);
      const engine = new Engine();
      engine.memory = memory;
      engine.mostBytes = most;
      engine.threads = options.threads;
      engine.onProgress = () => 0;
      engine.module = await load({
        wasmMemory: memory,
        wasmBinary: options.wasm,
        threads: options.threads - 1,
        locateFile: options.locate,
        mainScriptUrlOrBlob: options.script,
        onProgress: (...words) => engine.onProgress(...words),
        print() {},
        printErr() {},
      });
      return engine;
    }

    // Calls the module; strings and numbers in, an object out.
    call(name, ...values) {
      const types = values.map(value => typeof value === 'string' ? 'string' : 'number');
      let answer;
      try {
        answer = JSON.parse(this.module.ccall('module_' + name, 'string', types, values));
      } catch (error) {
        // A trap: memory at its end in a place that could not say so, or a fault of the module's own.
        throw new Error(/memory/i.test(error.message) ? 'out of memory' : `the module broke off (${error.message})`);
      }
      if (answer.error !== undefined) throw new Error(answer.error);
      return answer;
    }

    // The file that the last call has made.
    bytes() {
      return this.view(this.module._module_bytes(), this.module._module_size()).slice();
    }

    // Addresses past 2 GiB come as negative numbers.
    view(at, size) {
      return new Uint8Array(this.memory.buffer, at >>> 0, size >>> 0);
    }

    // Writes a photo; its path there has its name in it, and is another than that of others of the same name.
    put(folder, name, bytes) {
      const fs = this.module.FS, plain = name.replace(/[/\0]/g, '_') || 'photo';
      try { fs.mkdir(folder); } catch (error) { /* it is there */ }
      const path = folder + '/' + (plain === '.' || plain === '..' ? '_' + plain : plain);
      fs.writeFile(path, bytes);
      return path;
    }

    remove(path) {
      this.module.FS.unlink(path);
    }

    tables() {
      return this.call('tables');
    }

    plan(photos, width, height, channels, threads) {
      return this.call('plan', photos, width, height, channels, threads);
    }

    // Decodes the photo whole: what it is, and a small JPEG of it.
    look(name, bytes, side) {
      const path = this.put('/look', name, bytes);
      try {
        // Messages name the file as its owner does.
        this.module.FS.chdir('/look');
        const facts = this.call('look', path.slice('/look/'.length), side);
        return {...facts, digest: digestOf(bytes), thumbnail: this.bytes()};
      } finally {
        this.remove(path);
      }
    }

    // photos: {name, bytes}; size {width, height}: make them as small first.
    open(photos, options, size) {
      const fs = this.module.FS;
      fs.mkdir('/photos');
      fs.chdir('/photos');
      const taken = new Set();
      const paths = photos.map(({name, bytes}, n) => {
        const folder = taken.has(name) ? `/photos/${n + 1}` : '/photos';
        taken.add(name);
        const path = this.put(folder, name, bytes);
        if (size) {
          this.call('shrink', path, path + '.small', size.width, size.height);
          fs.unlink(path);
          fs.rename(path + '.small', path);
        }
        return './' + path.slice('/photos/'.length);
      });
      return this.call('open', JSON.stringify(paths.map(plainName)), JSON.stringify({threads: this.threads, ...options}));
    }

    separate() {
      return this.call('separate');
    }

    // What a finished job holds, to be taken over by another engine that has opened the same photos.
    give() {
      const pieces = [];
      for (let n = 0; n < this.module._module_pieces(); n++)
        pieces.push(this.view(this.module._module_piece(n), this.module._module_piece_size(n)).slice());
      return pieces;
    }

    take(pieces) {
      const separation = this.module._malloc(pieces[0].length);
      this.view(separation, pieces[0].length).set(pieces[0]);
      for (let n = 1; n < pieces.length; n++)
        this.view(this.module._module_piece(n), pieces[n].length).set(pieces[n]);
      this.module._module_carry(separation);
      this.module._free(separation);
    }

    // kind: transmitted, reflected (of photo i, from 0), confidence, photo. view: {strength, exchanged}.
    picture(kind, i, view, format, depth, quality) {
      this.call('picture', PICTURES[kind], i, view.strength, view.exchanged ? 1 : 0, format, depth, quality);
      return this.bytes();
    }

    // Both are told of pictures of that format.
    result(view, format) {
      this.call('result', view.strength, view.exchanged ? 1 : 0, format);
      return this.bytes();
    }

    report(view, format) {
      this.call('report', view.strength, view.exchanged ? 1 : 0, format);
      return this.bytes();
    }
  }

  // "./name" would be told in messages and in result.json; only names that mean something else to the library keep it.
  function plainName(path) {
    const name = path.slice(2);
    return name === '-' || name.startsWith('@') ? path : name;
  }

  // FNV-1a: whether two files are the same, among a dozen.
  function digestOf(bytes) {
    let hash = 2166136261;
    for (let n = 0; n < bytes.length; n++) hash = Math.imul(hash ^ bytes[n], 16777619);
    return hash >>> 0;
  }

  root.Engine = Engine;
})(typeof module === 'object' && module.exports ? module.exports : self);
