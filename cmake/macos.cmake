# Compiles the library for macOS on another system, by zig's C compiler, which has the headers; nothing can be run.
#     cmake -B build-macos --toolchain cmake/macos.cmake -DESRA_ZIG=.../zig -DESRA_MACHINE=aarch64 -DESRA_TOOLS=OFF
# ESRA_MACHINE is aarch64 or x86_64. tests/systems.sh tries both.
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_PROCESSOR ${ESRA_MACHINE})
set(CMAKE_C_COMPILER ${ESRA_ZIG} cc)
set(CMAKE_C_COMPILER_TARGET ${ESRA_MACHINE}-macos)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ESRA_ZIG ESRA_MACHINE)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE NEVER)
