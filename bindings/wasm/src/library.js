// bindings/wasm/src/library.js - what Emscripten's threads would call in order to draw from another thread. Nothing is drawn
// here, and WebGL's part of the script is not needed.
mergeInto(LibraryManager.library, {
  emscripten_webgl_create_context: function () { return 0; },
  emscripten_webgl_create_context__deps: [],
  emscripten_webgl_do_create_context: function () { return 0; },
  emscripten_webgl_do_create_context__deps: [],
  emscripten_set_canvas_element_size: function () { return -1; },
  emscripten_set_canvas_element_size__deps: [],
});
