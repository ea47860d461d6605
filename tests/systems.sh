#!/bin/sh
# Compiles the library for systems that are not at hand, in -Werror: for Windows by mingw-w64 (apt's
# gcc-mingw-w64-x86-64-posix), where a few of its tests then run in Wine if that is installed; for macOS by zig ($ZIG, or
# in the PATH, or where scripts/manylinux.sh puts it). Skips what there is no compiler for.
# usage: systems.sh FOLDER      which is made; what was compiled stays there for the next time
set -e
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
tried=

# compile SYSTEM TARGETS [words for CMake]
compile() {
    system=$1
    targets=$2
    shift 2
    {
        cmake -S "$source" -B "$folder/$system" -DCMAKE_BUILD_TYPE=Release -DESRA_TOOLS=OFF -DESRA_EXAMPLES=OFF -DESRA_BENCH=OFF \
            -DESRA_BINDINGS=OFF -DESRA_INSTALL=OFF "$@" &&
            # shellcheck disable=SC2086
            cmake --build "$folder/$system" -j "$(nproc)" --target $targets
    } >"$folder/$system.log" 2>&1 || {
        tail -n 40 "$folder/$system.log"
        exit 1
    }
    echo "$system: compiled"
    tried=$tried$system
}

# Threads, memory, known optima, and the same bits with any number of threads.
run_windows_tests() {
    for wine in wine64 wine; do
        command -v $wine >/dev/null && break
    done
    command -v "$wine" >/dev/null || { echo "windows: not run, there is no Wine"; return; }
    export WINEPREFIX="$folder/wine" WINEDEBUG=-all
    for test in base_context base_memory solve_golden solve_joint; do
        "$wine" "$folder/windows/tests/test_$test.exe" >"$folder/$test.log" 2>&1 || {
            tail -n 20 "$folder/$test.log"
            exit 1
        }
        echo "windows: $test: $(tail -n 1 "$folder/$test.log" | tr -d '\r')"
    done
}

if command -v x86_64-w64-mingw32-gcc >/dev/null; then
    compile windows "esra test_base_context test_base_memory test_solve_golden test_solve_joint" \
        --toolchain "$source/cmake/windows.cmake"
    run_windows_tests
else
    echo "windows: there is no x86_64-w64-mingw32-gcc"
fi

zig=${ZIG:-$(command -v zig || echo "$source/build-manylinux/node_modules/.bin/zig")}
if [ -e "$zig" ]; then
    export ZIG_GLOBAL_CACHE_DIR="$folder/zig" ZIG_LOCAL_CACHE_DIR="$folder/zig"
    # Linked where zig has all of the compiler's own library: for x86_64 it lacks what tells the processor's features.
    compile macos-aarch64 esra --toolchain "$source/cmake/macos.cmake" -DESRA_ZIG="$zig" -DESRA_MACHINE=aarch64 -DESRA_TESTS=OFF
    compile macos-x86_64 esra_static --toolchain "$source/cmake/macos.cmake" -DESRA_ZIG="$zig" -DESRA_MACHINE=x86_64 -DESRA_TESTS=OFF
else
    echo "macos: there is no zig"
fi
[ -n "$tried" ] || { echo "skipped: there is no compiler for other systems"; exit 77; }
