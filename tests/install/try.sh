#!/bin/sh
# Installs into a folder of its own and builds a ten-line program against that, once with pkg-config and once with CMake.
# usage: try.sh BUILD_FOLDER COMPILER
set -e
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$1" --prefix "$work/prefix" >/dev/null

pc=$(find "$work/prefix" -name esra.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
if command -v pkg-config >/dev/null; then
    flags=$(pkg-config --cflags --libs esra)
    # shellcheck disable=SC2086
    "$2" -std=c11 -o "$work/by-pkg-config" "$here/ten_lines.c" $flags
    LD_LIBRARY_PATH=$(dirname "$(dirname "$pc")") "$work/by-pkg-config"
    echo "pkg-config: built and ran"
fi

cmake -S "$here" -B "$work/by-cmake" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_C_COMPILER="$2" >/dev/null
cmake --build "$work/by-cmake" >/dev/null
"$work/by-cmake/ten_lines"
"$work/by-cmake/ten_lines_static"
echo "CMake: built and ran, shared and static"

cmake -S "$here/subproject" -B "$work/inside" -DCMAKE_C_COMPILER="$2" -DESRA_SOURCE="$here/../.." >/dev/null
cmake --build "$work/inside" >/dev/null
"$work/inside/ten_lines"
echo "as part of another project: built and ran"

soname=$(find "$work/prefix" -name 'libesra.so.*' -type l)
[ -n "$soname" ] || { echo "the soname's link is missing"; exit 1; }
if [ -x "$work/prefix/bin/esra" ]; then
    "$work/prefix/bin/esra" --version
    for file in man/man1/esra.1 bash-completion/completions/esra zsh/site-functions/_esra \
                fish/vendor_completions.d/esra.fish; do
        [ -s "$work/prefix/share/$file" ] || { echo "share/$file is missing"; exit 1; }
    done
fi
