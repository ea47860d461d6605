#!/bin/sh
# Builds zlib, libpng, libjpeg-turbo, libtiff, lcms2 and jansson for WebAssembly out of the distribution's own source
# packages, which apt fetches and verifies, into build-wasm-libraries. Done once; a change here or in cmake/wasm-libraries
# does it again. Fails, with a word, where apt or emscripten is not there.
set -e
cd "$(dirname "$0")/.."
here=$PWD
to=$here/build-wasm-libraries
recipe=$(cat scripts/wasm-libraries.sh cmake/wasm-libraries/CMakeLists.txt cmake/wasm.cmake | cksum)
[ "$(cat "$to/recipe" 2>/dev/null)" = "$recipe" ] && exit 0
for tool in emcc apt-get dpkg-source cmake; do
    command -v $tool >/dev/null || { echo "wasm-libraries.sh: $tool is missing; scripts/setup.sh --web installs it" >&2; exit 1; }
done
export NODE_PATH=/usr/share/nodejs
jobs=${JOBS:-$(nproc)}

# ---- Sources ----

# The system's own sources of packages, as sources of their source; kept here, where nobody need be root.
apt=$to/apt
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/parts" "$to/source"
cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null | sed -n 's/^deb /deb-src /p' >"$apt/sources.list"
for file in /etc/apt/sources.list.d/*.sources; do
    [ ! -e "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" >"$apt/parts/${file##*/}"
done
fetch() {
    apt-get -qq -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts="$apt/parts" \
        -o Dir::State::lists="$apt/lists" -o Dir::Cache="$apt/cache" -o APT::Sandbox::User= "$@"
}
echo "fetching the sources of the codecs' libraries"
fetch update 2>/dev/null || true # of repositories without sources; what is missing is found out below
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
cd "$to/source"
for package in zlib libpng1.6 libjpeg-turbo tiff lcms2 jansson; do
    set -- "$package"-[0-9]*
    [ -d "$1" ] && continue
    # A mirror may not have the newest security update yet: then the one before.
    fetch source "$package" >/dev/null 2>&1 || fetch source "$package/$codename" >/dev/null
done

# ---- Builds ----

# build FOLDER [OPTIONS...]: CMake's whole dance for WebAssembly, small rather than fast, with the prefix $to.
build() {
    folder=$1
    shift
    work=$to/work/$(basename "$folder")
    cmake -S "$folder" -B "$work" -DCMAKE_TOOLCHAIN_FILE="$here/cmake/wasm.cmake" -DCMAKE_BUILD_TYPE=MinSizeRel -DCMAKE_C_FLAGS_MINSIZEREL="-Oz -DNDEBUG" \
        -DCMAKE_INSTALL_PREFIX="$to" -DBUILD_SHARED_LIBS=OFF -Wno-dev "$@" >"$work.log" 2>&1 &&
        cmake --build "$work" -j "$jobs" >>"$work.log" 2>&1 && cmake --install "$work" >>"$work.log" 2>&1 ||
        { cat "$work.log" >&2; exit 1; }
}
mkdir -p "$to/work"
echo "building them for WebAssembly"
build "$here/cmake/wasm-libraries" -DSOURCES="$to/source"
# Of libjpeg what src/io and libtiff use: one way of transforming blocks, at full size, and pictures in their own colours.
sed -i -E 's/^#define ((DCT_(IFAST|FLOAT)|INPUT_SMOOTHING|IDCT_SCALING|UPSAMPLE_MERGING|QUANT_[12]PASS|BLOCK_SMOOTHING)_SUPPORTED)/#undef \1/' \
    "$to"/source/libjpeg-turbo-*/jmorecfg.h
# One loop over a block's coefficients for sixty-three copies of its body.
sed -i '/^ *kloop(1);/,/^ *kloop(55);/c\    for (int z = 1; z < DCTSIZE2; z++) kloop(jpeg_natural_order[z])' "$to"/source/libjpeg-turbo-*/jchuff.c
# Sizes are told, because CMake looks for them in the program that it links, and finds JavaScript there.
build "$to"/source/libjpeg-turbo-* -DENABLE_SHARED=OFF -DWITH_TURBOJPEG=OFF -DWITH_SIMD=OFF -DWITH_ARITH_ENC=OFF -DWITH_ARITH_DEC=OFF \
    -DCMAKE_C_FLAGS="-w -DNO_GETENV -DNO_PUTENV" \
    -DCMAKE_EXECUTABLE_SUFFIX=.js -DHAVE_SIZE_T=TRUE -DSIZE_T=4 -DHAVE_UNSIGNED_LONG=TRUE -DUNSIGNED_LONG=4
# The compressions that photos come in; a photo in another one is refused with a word.
# Files of LZW as it was before 1990 are no photos.
sed -i '/^#define LZW_COMPAT/d' "$to"/source/tiff-*/libtiff/tif_lzw.c
build "$to"/source/tiff-* -DHAVE_SIZEOF_SIZE_T=TRUE -DSIZEOF_SIZE_T=4 -DCMAKE_C_FLAGS=-w \
    -Dtiff-tools=OFF -Dtiff-tests=OFF -Dtiff-contrib=OFF -Dtiff-docs=OFF -Dcxx=OFF -Djbig=OFF -Dlerc=OFF -Dlzma=OFF \
    -Dzstd=OFF -Dwebp=OFF -Dlibdeflate=OFF -Dold-jpeg=OFF -Dmdi=OFF -Dthunder=OFF -Dnext=OFF -Dlogluv=OFF -Dpixarlog=OFF -Dccitt=OFF \
    -DZLIB_LIBRARY="$to/lib/libz.a" -DZLIB_INCLUDE_DIR="$to/include" -DJPEG_LIBRARY="$to/lib/libjpeg.a" \
    -DJPEG_INCLUDE_DIR="$to/include"

# What their licences ask to be passed on.
for package in zlib libpng libjpeg-turbo tiff lcms2 jansson; do
    printf '==== %s ====\n\n' "$package"
    cat "$to"/source/"$package"*/debian/copyright
    echo
done >"$to/licences.txt"
echo "$recipe" >"$to/recipe"
