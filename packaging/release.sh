#!/bin/sh
# What a release consists of: the source, made twice to see that its bits are the same, the Debian packages, the Python
# wheel, and checksums. The source is unpacked where there is nothing else of esra, built, and tested; the wheel comes from
# that build, and where zig is at hand another, for old C libraries (scripts/manylinux.sh).
# usage: release.sh FOLDER_OF_PACKAGES FOLDER      CHECK='-R REGEX' tests a part: words for ctest
set -e
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$2"
first=$("$here/dist.sh" "$2")
again=$("$here/dist.sh" "$2/again")
cmp "$first" "$again"
rm -r "$2/again"
cmp "$first" "$1"/esra_*.orig.tar.xz || { echo "release.sh: the packages in $1 are of another source; make deb" >&2; exit 1; }
cp "$1"/*.deb "$2"
cd "$2"
folder=$PWD

alone=$(mktemp -d)
trap 'rm -rf "$alone"' EXIT
tar -C "$alone" -xf "$first"
cd "$alone"/esra-*
quietly() {
    "$@" >"$alone/log" 2>&1 || { tail -n 60 "$alone/log"; echo "release.sh: failed in the unpacked source: $*" >&2; exit 1; }
}
quietly make
# shellcheck disable=SC2086
quietly ctest --test-dir build -j "${JOBS:-2}" --output-on-failure $CHECK
grep 'tests passed' "$alone/log"
quietly "${PYTHON:-python3}" bindings/python/backend.py build/python "$folder"
zig=${ZIG:-$(command -v zig || echo "$here/../build-manylinux/node_modules/.bin/zig")}
if [ -e "$zig" ]; then
    ZIG=$zig quietly scripts/manylinux.sh "$folder"
else
    echo "release.sh: there is no zig, and so no wheel for old C libraries"
fi

cd "$folder"
sha256sum ./* >SHA256SUMS
cat SHA256SUMS
