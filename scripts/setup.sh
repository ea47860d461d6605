#!/bin/sh
# Installs what esra is built and tested with: by apt on Debian and Ubuntu; elsewhere says what is missing.
# usage: setup.sh              install what is missing
#        setup.sh --fuzz       also what 'make fuzz' needs
#        setup.sh --coverage   also what 'make coverage' needs
#        setup.sh --deb        also what 'make deb' needs
#        setup.sh --web        also what 'make web' and the tests of the page need
#        setup.sh --all        also what 'make test-all' needs
#        setup.sh --list       print the packages of a plain run
set -e
cd "$(dirname "$0")/.."

packages='gcc libc6-dev make cmake pkg-config libpopt-dev libjansson-dev libpng-dev libjpeg-dev libtiff-dev liblcms2-dev
libseccomp-dev zlib1g-dev python3 python3-dev python3-numpy'
# tests/format.sh, tests/python and tests/fleet skip where a distribution has another, or none.
optional='clang-format-14 mypy python3-pil python3-yaml'
tools='cc cmake pkg-config python3'

case "$1" in
--list)
    echo "$packages"
    exit 0
    ;;
--fuzz)
    packages="$packages clang libclang-rt-dev"
    tools="$tools clang"
    ;;
--coverage)
    packages="$packages gcovr"
    tools="$tools gcovr"
    ;;
--deb)
    packages="$packages dpkg-dev debhelper dh-python fakeroot lintian git xz-utils libheif-dev libraw-dev"
    tools="$tools dpkg-buildpackage"
    ;;
--web)
    packages="$packages emscripten terser dpkg-dev chromium"
    command -v npm >/dev/null || packages="$packages npm"
    tools="$tools emcc node npm"
    ;;
--all)
    packages="$packages clang libclang-rt-dev valgrind gcc-mingw-w64-x86-64-posix"
    tools="$tools clang valgrind"
    ;;
esac

if ! command -v dpkg-query >/dev/null; then
    missing=
    for tool in $tools; do
        command -v $tool >/dev/null || missing="$missing $tool"
    done
    for library in popt jansson libpng libjpeg libtiff-4 lcms2 zlib; do
        pkg-config --exists $library 2>/dev/null || missing="$missing $library"
    done
    python3 -c 'import numpy' 2>/dev/null || missing="$missing numpy"
    [ -z "$missing" ] && exit 0
    echo "setup.sh: this is not Debian or Ubuntu; please install, with headers:$missing" >&2
    exit 1
fi

# What drives the browser in the tests of the page comes from npm.
web=
[ "$1" = --web ] && web=yes
finish() {
    [ -z "$web" ] || [ -e tests/web/node_modules/.package-lock.json ] ||
        npm ci --silent --no-audit --no-fund --prefix tests/web || echo "setup.sh: without npm the tests of the page are skipped"
    exit 0
}

installed() {
    dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed'
}

missing=
for package in $packages; do
    installed "$package" || missing="$missing $package"
done
# Where nothing else is missing, only what apt already knows of.
wanted=
for package in $optional; do
    installed "$package" || { [ -z "$missing" ] && ! apt-cache show "$package" >/dev/null 2>&1; } || wanted="$wanted $package"
done
[ -z "$missing$wanted" ] && finish

sudo=
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
        [ -z "$missing" ] && finish
        echo "setup.sh: please install, as root:$missing" >&2
        exit 1
    fi
    sudo=sudo
fi
echo "installing:$missing$wanted"
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -qq
for package in $wanted; do
    ! apt-cache show "$package" >/dev/null 2>&1 || missing="$missing $package"
done
[ -z "$missing" ] && finish
# shellcheck disable=SC2086
$sudo apt-get install -y -qq --no-install-recommends $missing
finish
