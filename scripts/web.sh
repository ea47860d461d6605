#!/bin/sh
# Puts the page and the npm package together out of what the wasm preset has built.
# usage: web.sh MODULE_FOLDER WEB_FOLDER PACKAGE_FOLDER
set -e
cd "$(dirname "$0")/.."
module=$1 web=$2 package=$3
files='esra.js esra.wasm esra-threads.js esra-threads.wasm esra-threads.worker.js'

# The package: the modules and what calls them.
rm -rf "$package" "$web"
mkdir -p "$package" "$web/esra" "$web/example"
cp -r bindings/wasm/js/. bindings/wasm/README.md LICENSE "$package"
for file in $files; do install -m 644 "$module/$file" "$package/lib"; done
# Names within Emscripten's scripts are a quarter of their size. Debian's terser finds its parts here, whoever's node it runs in.
if command -v terser >/dev/null; then
    for file in esra.js esra-threads.js; do
        NODE_PATH=/usr/share/nodejs terser "$module/$file" --compress --mangle --output "$package/lib/$file"
    done
fi
cp build-wasm-libraries/licences.txt "$package/LICENCES.txt"
version=$(sed -n 's/^#define ESRA_VERSION_\(MAJOR\|MINOR\|PATCH\) \([0-9]*\).*/\2/p' include/esra/version.h | paste -sd.)
sed "s/\"version\": \"[^\"]*\"/\"version\": \"$version\"/" bindings/wasm/package.json >"$package/package.json"

# The page: static files, and of the package what a browser needs.
cp web/*.html web/*.css web/*.js web/*.svg "$web"
cp doc/pictures/layers.jpg "$web"
cp examples/scene/photo-*.jpg "$web/example"
cp -r "$package/index.js" "$package/lib" "$web/esra"
rm "$web/esra/lib/node.cjs" "$web/esra/lib/package.json"
{
    echo 'esra'
    echo
    cat LICENSE
    echo
    cat "$package/LICENCES.txt"
} >"$web/licences.txt"
cp web/_headers "$web"
size=$(gzip -9 -c "$web/esra/lib/esra-threads.wasm" "$web/esra/lib/esra-threads.js" | wc -c)
echo "the page is $web (the module $((size / 1024)) KiB gzipped), the npm package $package"
