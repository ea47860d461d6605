# Builds for WebAssembly with threads and SIMD128, by Debian's and Ubuntu's emscripten (3.1.6 is the oldest that is tried),
# and runs the tests in node:
#     scripts/setup.sh --web && cmake --preset wasm && cmake --build --preset wasm && ctest --preset wasm -L core
# The libraries of the codecs are built from the distribution's sources into ESRA_WASM_LIBRARIES (scripts/wasm-libraries.sh).
set(ESRA_WASM_LIBRARIES ${CMAKE_CURRENT_LIST_DIR}/../build-wasm-libraries CACHE PATH "zlib, libpng and others for WebAssembly")
# For compiling alone: of the same objects come modules with threads and without.
add_compile_options(-pthread -msimd128)
set(EMSCRIPTEN_SYSTEM_PROCESSOR wasm32)
include(/usr/share/emscripten/cmake/Modules/Platform/Emscripten.cmake)
# Its output calls node's own fetch() with the path of a file, which from node 18 on fails.
set(CMAKE_CROSSCOMPILING_EMULATOR node --no-experimental-fetch)
set(ENV{PKG_CONFIG_LIBDIR} ${ESRA_WASM_LIBRARIES}/lib/pkgconfig)
list(APPEND CMAKE_FIND_ROOT_PATH ${ESRA_WASM_LIBRARIES})
