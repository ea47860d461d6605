# Builds the library for 64-bit Windows on another system: Debian's gcc-mingw-w64-x86-64-posix. Not every test is for
# Windows (some fork); tests/systems.sh runs a few in Wine.
#     cmake -B build-windows --toolchain cmake/windows.cmake -DESRA_TOOLS=OFF && cmake --build build-windows --target esra
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR AMD64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc)
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
