#!/bin/sh
# Runs test_SUITE.mjs on three tiny photos; 77, with a word, where something that it needs is not there.
# usage: run.sh SUITE ESRA BUILD_FOLDER PYTHON
suite=$1 esra=$2 build=$3 python=$4
here=$(cd "$(dirname "$0")" && pwd)
skip() {
    echo "skipped: $1"
    exit 77
}
[ -e "$build/web/index.html" ] || skip "the page has not been built ('make web')"
command -v node >/dev/null || skip "there is no node"
if [ "$suite" = page ]; then
    [ -e "$here/node_modules/puppeteer-core" ] || skip "there is no puppeteer-core (scripts/setup.sh --web)"
    [ -x "${CHROMIUM:-/usr/bin/chromium}" ] || skip "there is no Chromium"
fi
photos=$(mktemp -d)
trap 'rm -rf "$photos"' EXIT
"$python" -B "$here/photos.py" "$photos" || exit 1
node "$here/test_$suite.mjs" "$esra" "$build" "$photos"
